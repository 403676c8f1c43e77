"""Custom document properties, in which a workbook keeps a record of the arrays that were written into it.

The record is a JSON object, which is compressed (zlib), made text (base64), and cut into properties of at most 255
characters, as many as Excel takes: `sheetarray 1`, `sheetarray 2` and so on. Spreadsheet programs keep such properties
when they save a file again, but each escapes quotes, underscores and line ends in its own way, so the text has none of
these. Records of older versions are the JSON itself; they are read too, also where SheetJS wrote `_x0022_` for quotes.
Source: ECMA-376 part 1, 22.3 (custom properties); OpenDocument 1.3 part 3, 4.3.3 (`meta:user-defined`).

    {"sheets": {"arrays": {...}, ...}, ...}    what is known of each sheet that this package wrote, by its title
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from ....errors import FormatError, LimitError
from ....files import fast_zlib
from .markup import Element, Markup, escape_text, quote_attribute
from .parts import Package
from .relations import STRICT, Relations

PREFIX = "sheetarray "
CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.custom-properties+xml"
_LONGEST = 255  # characters of a property
_MOST = 2**24  # characters of the JSON of a record
MOST_BYTES = 2**26  # of the part; a record may take twice its characters there
_FMTID = "{D5CDD505-2E9C-101B-9397-08002B2CF9AE}"  # the format of custom properties, the same in all workbooks
_OURS = re.compile(PREFIX + "[1-9][0-9]{0,5}")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")  # the JSON of records never has an underscore before an x
_SPACE = "http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"
_STRICT_SPACE = STRICT + "officeDocument/customProperties"
_EMPTY = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<Properties xmlns="{}" xmlns:vt="{}"></Properties>'
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
            f"what is to be remembered of the arrays takes {len(text)} characters, of which a workbook "
            f"holds {_MOST}: write them to several workbooks"
        )
    packed = base64.b64encode(fast_zlib.compress(text.encode())).decode()
    return {
        f"{PREFIX}{number}": packed[start : start + _LONGEST]
        for number, start in enumerate(range(0, len(packed), _LONGEST), 1)
    }


def unpack(properties: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the record that properties hold; None if they hold no record.

    Args:
        properties: the texts of custom properties, also of others than those of a record, by their names.

    Raises:
        FormatError: one of the properties that hold the record is missing or was edited.

    Example:
        >>> unpack({"sheetarray 1": '{"sheets"', "Client": "ann", "sheetarray 2": ':{}}'})
        {'sheets': {}}
    """
    ours = {name for name in properties if _OURS.fullmatch(name)}
    if not ours:
        return None
    pieces = list(_join_properties(properties))
    if len(pieces) != len(ours):
        raise FormatError(f"the document property {PREFIX}{len(pieces) + 1} is missing", location="custom properties")
    text = "".join(pieces)
    try:
        record = json.loads(_unpack(text), parse_constant=_refuse) if len(text) <= 2 * _MOST else None
    except (ValueError, RecursionError, zlib.error):
        record = None
    if not isinstance(record, dict) or not _is_plain_record(record.get("sheets", {})):
        raise FormatError(
            f"the document properties {PREFIX}1 to {len(pieces)} are no record of arrays", location="custom properties"
        )
    return record


def _unpack(text: str) -> str:
    """Return the JSON of a record, given the texts of its properties joined together.

    Raises:
        ValueError: the text is too long, cut off, or not base64.
        zlib.error: what the base64 stands for is not compressed by zlib.
    """
    if text.startswith(("{", "_x007B_", "_x007b_")):
        return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    inflater = zlib.decompressobj()
    content = inflater.decompress(base64.b64decode("".join(text.split()), validate=True), _MOST)
    if not inflater.eof:
        raise ValueError("too long, or cut off")
    return content.decode()


def read_record(package: Package) -> dict[str, Any] | None:
    """Return the record of a workbook (.xlsx, .xlsm, .xlsb or .ods); None if it has no record.

    Raises:
        FormatError: the properties, or the record in them, are damaged.
    """
    return unpack(read_properties(package))


def read_properties(package: Package) -> dict[str, str]:
    """Return all custom document properties of a workbook that are text.

    Raises:
        FormatError: the part that holds them is damaged.
    """
    if "_rels/.rels" not in package:
        return _read_ods_properties(package) if "meta.xml" in package else {}
    part = Relations(package, "").present_target("custom-properties")
    if part is None:
        return {}
    root = Markup(package.read(part, limit=MOST_BYTES), location=part, limit=MOST_BYTES).root
    return {entry.get("name"): entry.children[0].text for entry in root.children_named("property") if _is_text(entry)}


def _read_ods_properties(package: Package) -> dict[str, str]:
    """Return the custom properties of an OpenDocument file."""
    root = Markup(package.read("meta.xml", limit=MOST_BYTES), location="meta.xml", limit=MOST_BYTES).root
    entries = [entry for part in root.children for entry in part.children if entry.name == "user-defined"]
    space = frozenset([_META])
    return {entry.get_in(space, "name"): entry.text for entry in entries if entry.space == _META}


def _join_properties(properties: Mapping[str, str]) -> Iterator[str]:
    """Yield the texts of the properties of a record, in the order of their numbers, up to the first that is missing."""
    for index in count(1):
        piece = properties.get(f"{PREFIX}{index}")
        if piece is None:
            return
        yield piece


def _is_plain_record(sheets: object) -> bool:
    """Return whether a decoded JSON value is an object of objects, as the sheets of a record are."""
    return isinstance(sheets, dict) and all(isinstance(sheet, dict) for sheet in sheets.values())


def _is_text(entry: Element) -> bool:
    """Return whether the value of a property is text, and not a number, a date or a boolean."""
    return len(entry.children) == 1 and entry.children[0].name in ("lpwstr", "lpstr", "bstr")


def _refuse(word: str) -> Any:
    """Refuse `NaN` and `Infinity`, which Python's JSON would take."""
    raise ValueError(word)


# Writing -----------------------------------------------------------------------------------------------------


def add_sheets(record: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a record to which entries of some sheets are added.

    Example:
        >>> add_sheets({"sheets": {"a": {"x": 1}}}, {"a": {"of": "a"}})
        {'sheets': {'a': {'x': 1, 'of': 'a'}}}
    """
    sheets = record.get("sheets", {})
    return {
        **record,
        "sheets": {**sheets, **{title: {**sheets.get(title, {}), **more} for title, more in known.items()}},
    }


def merge_properties(content: bytes | None, record: Mapping[str, Any], *, location: str, strict: bool = False) -> bytes:
    """Return the part of the custom properties with a record in place of an older one; all others stay as they are.

    Args:
        content: of the part; None to make a new one.
        record: the new record.
        location: the part's name, for messages.
        strict: whether a new part is to use the namespaces of strict OOXML.

    Raises:
        FormatError: the part is damaged.
        LimitError: the record is too long.
    """
    if content is None:
        space = _STRICT_SPACE if strict else _SPACE
        content = _EMPTY.format(space, _value_space(space)).encode()
    part = Markup(content, location=location, limit=MOST_BYTES)
    if part.root.name != "Properties" or part.root.space not in (_SPACE, _STRICT_SPACE):
        raise FormatError(f"the part holds {part.root.name!r:.40}, no properties", location=location)
    pids = [1]
    for entry in part.root.children_named("property"):
        if _OURS.fullmatch(entry.get("name")):
            part.remove(entry)
        elif re.fullmatch("[0-9]{1,9}", entry.get("pid")):
            pids.append(int(entry.get("pid")))
    first = max(pids) + 1
    values = _value_space(part.root.space)
    known = [prefix for scope in part.root.scope for prefix, space in scope.items() if space == values and prefix]
    prefix, declared = (known[0], "") if known else ("vt:", f' xmlns:vt="{values}"')
    made = [
        f'<{part.root.prefix}property fmtid="{_FMTID}" pid="{pid}" name={quote_attribute(name)}>'
        f"<{prefix}lpwstr{declared}>{escape_text(value)}</{prefix}lpwstr></{part.root.prefix}property>"
        for pid, (name, value) in enumerate(pack(record).items(), first)
    ]
    part.append(part.root, "".join(made))
    return part.to_bytes()


def _value_space(space: str) -> str:
    """Return the namespace of the values of properties, given that of the properties."""
    return f"{space.rpartition('/')[0]}/docPropsVTypes"
