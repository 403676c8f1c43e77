"""The record of a workbook that was accepted, with the checksums of what stands in it now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....columns import (
    ResizedArray,
)
from ..checksums.record import Written, make_checksums


def true_record(record: Mapping[str, Any], arrays: Mapping[str, ResizedArray], titles: Sequence[str]) -> dict[str, Any]:
    """Return the record of the arrays that stand in a workbook now, and of the names made for its sheets."""
    old = {title: sheet for title, sheet in record["sheets"].items() if title in titles}
    sheets: dict[str, dict[str, Any]] = {
        title: {key: value for key, value in sheet.items() if key not in ("arrays", "many")}
        for title, sheet in old.items()
    }
    written: dict[str, dict[str, Written]] = {}
    for name, array in arrays.items():
        header, title = array.column.header, array.column.group[0].title or ""
        group = str(sheets.get(title, {}).get("of", title))
        place = group if group in titles else title
        sheets.setdefault(place, {"names": [], "of": title})
        written.setdefault(place, {})[name] = Written(array.buffer, header.dtype, header)
    for place, some in written.items():
        sheets[place] |= make_checksums(some, of=len(arrays))
    return {**record, "sheets": sheets}
