"""The record of the arrays of a workbook, as texts of custom document properties.

It is a JSON object, compressed (zlib), made text (base64), and cut into properties of at most 255 characters, as many
as Excel takes: `sheetarray 1`, `sheetarray 2` and so on. Spreadsheet programs keep such properties when they save a
file again, but each escapes quotes, underscores and line ends in its own way, so the text has none of these. Records of
older versions are the JSON itself; they are read too, also where SheetJS wrote `_x0022_` for quotes.

    {"sheets": {title: {"arrays": {...}, ...}}, ...}    what is known of each sheet that this package wrote
    {"version": 2, ...}             of the record, without checksums and guards; 1 where it is missing
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Collection, Mapping
from typing import Any

from ..errors import NEWER, FormatError, LimitError
from ..files import fast_zlib

PREFIX = "sheetarray "
_LONGEST = 255  # characters of a property
MOST = 2**24  # characters of the JSON of a record
_VERSION = 1  # of records
OURS = re.compile(PREFIX + "[1-9][0-9]{0,5}")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")  # the JSON of records never has an underscore before an x


def pack(record: Mapping[str, Any]) -> dict[str, str]:
    """Return a record as the properties that hold it.

    Raises:
        LimitError: the JSON of the record takes more than 16 Mi characters.

    Example:
        >>> list(pack({"sheets": {}})), unpack(pack({"sheets": {}}))
        (['sheetarray 1'], {'sheets': {}})
    """
    text = json.dumps(record, separators=(",", ":"))
    if len(text) > MOST:
        raise LimitError(
            f"the record of the arrays takes {len(text)} characters, and a workbook "
            f"holds {MOST}: write them to several workbooks"
        )
    packed = pack_text(text)
    return {
        f"{PREFIX}{number}": packed[start : start + _LONGEST]
        for number, start in enumerate(range(0, len(packed), _LONGEST), 1)
    }


def unpack(properties: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the record that properties hold; None if they hold no record.

    `properties`: the texts of all custom properties, by their names. A FormatError says that one of those that hold the
    record is missing or was edited, or that a newer version of this package has made it.

    Example:
        >>> unpack({"sheetarray 1": '{"sheets"', "Client": "ann", "sheetarray 2": ':{}}'})
        {'sheets': {}}
    """
    last = sum(1 for name in properties if OURS.fullmatch(name))
    ours = [f"{PREFIX}{number}" for number in range(1, last + 1)]
    if (absent := next((name for name in ours if name not in properties), None)) is not None:
        raise FormatError(f"the document property {absent} is missing", location="custom properties")
    if not ours:
        return None
    text = "".join([properties[name] for name in ours])
    text = text if len(text) <= 2 * MOST else ""
    is_json = text.startswith(("{", "_x007B_", "_x007b_"))
    try:
        text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if is_json else unpack_text(text)
        record: Any = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError, zlib.error):
        record = None
    sheets = record.get("sheets", {}) if isinstance(record, dict) else None
    if not isinstance(sheets, dict) or not all(isinstance(sheet, dict) for sheet in sheets.values()):
        reason = f"the document properties {PREFIX}1 to {last} are not a record of arrays"
        raise FormatError(reason, location="custom properties")
    version = record.get("version", _VERSION)
    if isinstance(version, int) and version > _VERSION:
        reason = f"the record of the workbook is of version {version!s:.20}; this reader knows version {_VERSION}"
        raise FormatError(reason, location="custom properties", hint=NEWER)
    return dict(record)


def pack_text(text: str) -> str:
    """Return a text compressed, in letters and digits that every program keeps."""
    return base64.b64encode(fast_zlib.compress(text.encode())).decode()


def unpack_text(text: str) -> str:
    """Return the text that `pack_text` has packed; a ValueError or zlib.error if it is damaged."""
    inflater = zlib.decompressobj()
    content = inflater.decompress(base64.b64decode("".join(text.split()), validate=True), MOST)
    if not inflater.eof:
        raise ValueError("too long, or cut short")
    return content.decode()


def _refuse(word: str) -> Any:
    """Refuse `NaN` and `Infinity`, which Python's JSON would take."""
    raise ValueError(word)


def forget_arrays(record: Mapping[str, Any], names: Mapping[str, Collection[str]], standing: Collection[str]) -> bool:
    """Empty what a record says of arrays that are written anew, and return whether it said anything.

    `names`: of the arrays, by the title of their sheet. `standing`: the titles of the sheets that the workbook has; the
    record of another sheet would be taken for that of an array of the same name.
    """
    said = False
    written = {name for own in names.values() for name in own}
    for title, sheet in record["sheets"].items():
        own = names.get(title, ()) if title in standing else written
        arrays = sheet.get("arrays") if isinstance(sheet.get("arrays"), dict) else {}
        rewritten = {name: dict[str, Any]() for name in own if name in arrays or "many" in sheet}
        if rewritten:
            sheet["arrays"] = arrays | rewritten
            said = True
    return said
