"""Custom document properties, in which a workbook keeps a record of the arrays that were written into it.

The record is a JSON object, which is compressed (zlib), made text (base64), and cut into properties of at most
255 characters, as many as Excel takes: `sheetarray 1`, `sheetarray 2` and so on. Spreadsheet programs keep such
properties when they save a file again, but each escapes quotes, underscores and line ends in its own way, so the
text has none of these. Records of older versions are the JSON itself; they are read too, also where SheetJS wrote
`_x0022_` for quotes. Source: ECMA-376 part 1, 22.3 (custom properties); OpenDocument 1.3 part 3, 4.3.3
(`meta:user-defined`).

    {"sheets": {"arrays": {...}, ...}, ...}    what is known of each sheet that this package wrote, by its title
    {"version": 2, ...}                        of the record, without checksums and guards; 1 where it is missing
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ....errors import NEWER, FormatError, LimitError
from ....files import fast_zlib
from .markup import Markup, children_named, local_name, parse_tree
from .package import Package

if TYPE_CHECKING:
    pass
from .relations import DECLARED, Relations

PREFIX = "sheetarray "
PROPERTIES = "docProps/custom.xml"
CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.custom-properties+xml"
_LONGEST = 255  # characters of a property
_MOST = 2**24  # characters of the JSON of a record
MOST_BYTES = 2**26  # of the part; a record may take twice its characters there
_FMTID = "{D5CDD505-2E9C-101B-9397-08002B2CF9AE}"  # the format of custom properties, the same in all workbooks
_VERSION = 1  # of records
_OURS = re.compile(PREFIX + "[1-9][0-9]{0,5}")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")  # the JSON of records never has an underscore before an x
_SPACE = "http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"
_VALUE_SPACE = "http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"
_TEXTS = ("lpwstr", "lpstr", "bstr")  # elements that hold text, and neither a number nor a date nor a boolean
_META = "urn:oasis:names:tc:opendocument:xmlns:meta:1.0"


def pack(record: Mapping[str, Any]) -> dict[str, str]:
    """Return a record as the properties that hold it.

    Raises:
        LimitError: the JSON of the record takes more than 16 Mi characters.

    Example:
        >>> list(pack({"sheets": {}})), unpack(pack({"sheets": {}}))
        (['sheetarray 1'], {'sheets': {}})
    """
    text = json.dumps(record, separators=(",", ":"))
    if len(text) > _MOST:
        raise LimitError(
            f"the record of the arrays takes {len(text)} characters, and a workbook "
            f"holds {_MOST}: write them to several workbooks"
        )
    packed = base64.b64encode(fast_zlib.compress(text.encode())).decode()
    return {
        f"{PREFIX}{number}": packed[start : start + _LONGEST]
        for number, start in enumerate(range(0, len(packed), _LONGEST), 1)
    }


def unpack(properties: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the record that properties hold; None if they hold no record.

    `properties`: the texts of custom properties, also of others than those of a record, by their names.

    Raises:
        FormatError: one of the properties that hold the record is missing or was edited, or a newer version of this
            package has made it.

    Example:
        >>> unpack({"sheetarray 1": '{"sheets"', "Client": "ann", "sheetarray 2": ':{}}'})
        {'sheets': {}}
    """
    last = sum(1 for name in properties if _OURS.fullmatch(name))
    ours = [f"{PREFIX}{number}" for number in range(1, last + 1)]
    if (absent := next((name for name in ours if name not in properties), None)) is not None:
        raise FormatError(f"the document property {absent} is missing", location="custom properties")
    if not ours:
        return None
    text = "".join([properties[name] for name in ours])
    try:
        record: Any = json.loads(_unpack(text), parse_constant=_refuse) if len(text) <= 2 * _MOST else None
    except (ValueError, RecursionError, zlib.error):
        record = None
    sheets = record.get("sheets", {}) if isinstance(record, dict) else None
    if (
        not isinstance(record, dict)
        or not isinstance(sheets, dict)
        or not all(isinstance(sheet, dict) for sheet in sheets.values())
    ):
        raise FormatError(
            f"the document properties {PREFIX}1 to {last} are not a record of arrays", location="custom properties"
        )
    version = record.get("version", _VERSION)
    if isinstance(version, int) and version > _VERSION:
        reason = f"the record of the workbook is of version {version!s:.20}; this reader knows version {_VERSION}"
        raise FormatError(reason, location="custom properties", hint=NEWER)
    return record


def _unpack(text: str) -> str:
    """Return the JSON of a record, given the texts of its properties joined together."""
    if text.startswith(("{", "_x007B_", "_x007b_")):
        return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    inflater = zlib.decompressobj()
    content = inflater.decompress(base64.b64decode("".join(text.split()), validate=True), _MOST)
    if not inflater.eof:
        raise ValueError("too long, or cut short")
    return content.decode()


def read_record(package: Package) -> dict[str, Any] | None:
    """Return the record of a workbook (.xlsx, .xlsm, .xlsb or .ods); None if it has no record.

    Raises:
        FormatError: the properties, or the record in them, are damaged.
    """
    return unpack(read_properties(package))


def read_sound_record(package: Package) -> dict[str, Any]:
    """Return the record of a workbook, with its "sheets"; none of them where it was edited, or there is no record.

    Raises:
        FormatError: a newer version of this package has made it.
    """
    try:
        record = read_record(package) or {}
    except FormatError as error:
        if error.hint == NEWER:
            raise
        record = {}
    return {**record, "sheets": record.get("sheets", {})}


def read_properties(package: Package) -> dict[str, str]:
    """Return all custom document properties of a workbook that are text.

    Raises:
        FormatError: the part that holds them is damaged.
    """
    is_ods = "_rels/.rels" not in package
    part = "meta.xml" if is_ods else Relations(package, "").present_target("custom-properties")
    if part is None or part not in package:
        return {}
    root = parse_tree(package.read(part, limit=MOST_BYTES), location=part)
    if is_ods:
        entries = [entry for within in root for entry in within if entry.tag == f"{{{_META}}}user-defined"]
        return {entry.get(f"{{{_META}}}name", ""): entry.text or "" for entry in entries}
    properties = [entry for entry in children_named(root, "property") if len(entry) == 1]
    return {one.get("name", ""): one[0].text or "" for one in properties if local_name(one[0]) in _TEXTS}


def _refuse(word: str) -> Any:
    """Refuse `NaN` and `Infinity`, which Python's JSON would take."""
    raise ValueError(word)


def merge_properties(content: bytes | None, record: Mapping[str, Any], *, location: str) -> bytes:
    """Return the part of the custom properties with a record in place of an older one; all others stay as they are.

    `content`: of the part; None to make a new one.

    Raises:
        FormatError: the part is damaged.
        LimitError: the record is too long.
    """
    if content is None:
        made = _record_properties(record, 2, "", "vt:", "")
        return f'{DECLARED}<Properties xmlns="{_SPACE}" xmlns:vt="{_VALUE_SPACE}">{made}</Properties>'.encode()
    part = Markup(content, location=location, limit=MOST_BYTES)
    if part.root.name != "Properties" or part.root.space != _SPACE:
        raise FormatError(f"the part holds {part.root.name!r:.40}, no properties", location=location)
    pids = [1]
    for entry in part.root.children_named("property"):
        if _OURS.fullmatch(entry.get("name")):
            part.remove(entry)
        elif re.fullmatch("[0-9]{1,9}", entry.get("pid")):
            pids.append(int(entry.get("pid")))
    known = [prefix for prefix, space in part.root.scope.items() if space == _VALUE_SPACE and prefix]
    prefix, declared = (known[0], "") if known else ("vt:", f' xmlns:vt="{_VALUE_SPACE}"')
    part.append(part.root, _record_properties(record, max(pids) + 1, part.root.prefix, prefix, declared))
    return part.to_bytes()


def _record_properties(record: Mapping[str, Any], pid: int, prefix: str, value_prefix: str, declared: str) -> str:
    """Return the XML of the properties that hold a record.

    `pid`: of the first of them. `prefix` and `value_prefix`: of the names of properties and of their values.
    `declared`: attributes of each value that declare its prefix.
    """
    return "".join(
        [
            f'<{prefix}property fmtid="{_FMTID}" pid="{number}" name="{name}">'
            f"<{value_prefix}lpwstr{declared}>{value}</{value_prefix}lpwstr></{prefix}property>"
            for number, (name, value) in enumerate(pack(record).items(), pid)
        ]
    )
