"""Custom document properties, in which a workbook keeps a record of the arrays that were written into it.

`sheets.record_texts` says how it looks. Source: ECMA-376 part 1, 22.3 (custom properties); OpenDocument 1.3 part 3,
4.3.3 (`meta:user-defined`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ....errors import FormatError
from ...record_texts import OURS, pack, unpack
from .markup import Markup, children_named, local_name, parse_tree
from .package import Package
from .relations import DECLARED, Relations

PROPERTIES = "docProps/custom.xml"
CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.custom-properties+xml"
MOST_BYTES = 2**26  # of the part; a record may take twice its characters there
_FMTID = "{D5CDD505-2E9C-101B-9397-08002B2CF9AE}"  # the format of custom properties, the same in all workbooks
_SPACE = "http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"
_VALUE_SPACE = "http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"
_TEXTS = ("lpwstr", "lpstr", "bstr")  # elements that hold text, and neither a number nor a date nor a boolean
_META = "urn:oasis:names:tc:opendocument:xmlns:meta:1.0"


def read_record(package: Package, relations: Relations | None = None) -> dict[str, Any] | None:
    """Return the record of a workbook (.xlsx, .xlsm, .xlsb or .ods); None without one, a FormatError if it is damaged.

    `relations`: the references of the package, where they are read already.
    """
    if "_rels/.rels" not in package:
        return unpack(_read_meta(package))
    part = (relations or Relations(package, "")).present_target("custom-properties")
    if part is None:
        return None
    root = parse_tree(package.read(part, limit=MOST_BYTES), location=part)
    entries = [entry for entry in children_named(root, "property") if len(entry) == 1]
    return unpack({entry.get("name", ""): entry[0].text or "" for entry in entries if local_name(entry[0]) in _TEXTS})


def _read_meta(package: Package) -> dict[str, str]:
    """Return the texts that the metadata of an OpenDocument file holds under names of their own."""
    if "meta.xml" not in package:
        return {}
    root = parse_tree(package.read("meta.xml", limit=MOST_BYTES), location="meta.xml")
    entries = [entry for within in root for entry in within if entry.tag == f"{{{_META}}}user-defined"]
    return {entry.get(f"{{{_META}}}name", ""): entry.text or "" for entry in entries}


def renew_properties(package: Package, part: str, record: Mapping[str, Any]) -> bytes:
    """Return the part of the custom properties with a record in place of an older one, or a new part.

    A damaged part is a FormatError, and a record that is too long a LimitError.
    """
    if part in package:
        return merge_properties(package.read(part, limit=MOST_BYTES), record, location=part)
    properties = _record_properties(record, 2, "", "vt:", "")
    return f'{DECLARED}<Properties xmlns="{_SPACE}" xmlns:vt="{_VALUE_SPACE}">{properties}</Properties>'.encode()


def merge_properties(content: bytes, record: Mapping[str, Any], *, location: str) -> bytes:
    """Return the content of custom properties with a record in place of an older one; all others stay as they are."""
    part = Markup(content, location=location, limit=MOST_BYTES)
    if part.root.name != "Properties" or part.root.space != _SPACE:
        raise FormatError(f"the part holds {part.root.name!r:.40}, no properties", location=location)
    pids = [1]
    for entry in part.root.children_named("property"):
        if OURS.fullmatch(entry.get("name")):
            part.remove(entry)
        elif re.fullmatch("[0-9]{1,9}", entry.get("pid")):
            pids.append(int(entry.get("pid")))
    prefixes = [prefix for prefix, space in part.root.scope.items() if space == _VALUE_SPACE and prefix]
    prefix, declared = (prefixes[0], "") if prefixes else ("vt:", f' xmlns:vt="{_VALUE_SPACE}"')
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
