"""The record of a workbook that was accepted, with the checksums of what stands in it now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....columns import (
    ResizedArray,
)
from ..checksums.record import Checksums, Written, make_checksums, read_many


def true_record(
    record: Mapping[str, Any],
    arrays: Sequence[tuple[str, ResizedArray]],
    titles: Sequence[str],
    unreadable: Sequence[tuple[str, ResizedArray]],
) -> dict[str, Any]:
    """Return the record of the arrays that stand in a workbook now, and of the names made for its sheets.

    `arrays`: with their names; several writes may have arrays of one name. `unreadable`: arrays whose elements are
    not known, since cells of theirs cannot be read; they keep their checksums.
    """
    old = {title: sheet for title, sheet in record["sheets"].items() if title in titles}
    sheets: dict[str, dict[str, Any]] = {
        title: {key: value for key, value in sheet.items() if key not in ("arrays", "many")}
        for title, sheet in old.items()
    }
    written: dict[str, dict[str, Written]] = {}
    for name, array in arrays:
        header, title = array.column.header, array.column.group[0].title or ""
        group = str(sheets.get(title, {}).get("of", title))
        place = group if group in titles else title
        sheets.setdefault(place, {"names": [], "of": title})
        written.setdefault(place, {})[name] = Written(array.buffer, header.dtype, header)
    for place, written_arrays in written.items():
        sheets[place] |= make_checksums(written_arrays, of=len(arrays))
    for name, array in unreadable:
        title = array.column.group[0].title or ""
        for place in (title, str(old.get(title, {}).get("of", title))):
            stored = _find_checksums(old.get(place, {}), name)
            if stored is not None and stored.count == len(array.buffer):
                sheets[place]["arrays"] = {**sheets[place].get("arrays", {}), name: stored.to_json()}
                break
    return {**record, "sheets": sheets}


def _find_checksums(sheet: Mapping[str, Any], name: str) -> Checksums | None:
    """Return the checksums of an array in the record of a sheet."""
    arrays = sheet.get("arrays")
    if isinstance(arrays, Mapping) and name in arrays:
        return Checksums.from_json(arrays[name])
    return read_many(sheet["many"]).get(name) if "many" in sheet else None
