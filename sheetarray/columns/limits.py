"""What no sheet can carry: names that would not come back, and texts that are too long for a cell."""

from __future__ import annotations

from collections.abc import Mapping

from ..arrays import check_unicode
from ..errors import LimitError
from ..linear import LinearArray


def check_names(names: Mapping[str, object]) -> None:
    """Refuse names that would not come back from a sheet.

    Raises:
        LimitError: a blank one, or one that is no Unicode.
    """
    check_unicode(names)
    for name in names:
        if not name.strip():
            raise LimitError(f"the name {name!r} is blank: a sheet could not tell it from no name")


def check_texts(arrays: Mapping[str, LinearArray], most: int) -> None:
    """Refuse names and texts that are too long for a cell.

    Raises:
        LimitError: one is longer than `most` UTF-16 units.
    """
    for name, array in arrays.items():
        if _utf16_length(name) > most:
            raise LimitError(f"the name {name[:40]!r}... is too long: a cell holds {most:,} characters")
        if array.buffer.dtype.kind == "U" and 2 * (array.buffer.dtype.itemsize // 4) <= most:
            continue
        if array.dtype_entry.kind not in ("string", "generic"):
            continue
        for index, text in enumerate(array.buffer.tolist()):
            if isinstance(text, str) and 2 * len(text) >= most and (length := _utf16_length(text)) > most:
                element = array.header.describe_element(name, index)
                raise LimitError(f"{element} has {length:,} characters, and a cell holds {most:,}")


def _utf16_length(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)
