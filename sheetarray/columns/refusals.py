"""Refuses what no sheet can hold: too many arrays, names that would not come back, texts too long for a cell."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import FormatError, LimitError
from ..linear.array import LinearArray
from ..linear.named import check_unicode

MOST_ARRAYS = 50_000  # of a file; each takes up to 150 microseconds to find and to read
MOST_DESCRIPTIONS = 5_000  # of awkward arrays in a file of columns; each takes some 700 microseconds


def too_many_arrays() -> FormatError:
    """Return the error for a file of more arrays than are read."""
    return FormatError(f"more than {MOST_ARRAYS:,} arrays, the most that are read")


def too_many_descriptions() -> FormatError:
    """Return the error that a file has more awkward arrays than are read."""
    return FormatError(f"more than {MOST_DESCRIPTIONS:,} awkward arrays, the most that are read together")


def check_names(names: Mapping[str, object]) -> None:
    """Refuse names that would not come back from a sheet."""
    check_unicode(names)
    for name in names:
        if not name.strip():
            raise LimitError(f"the name {name!r} is blank: in a sheet, it would look like no name")


def check_cell_texts(arrays: Mapping[str, LinearArray], most: int) -> None:
    """Refuse names and texts that are too long for a cell.

    Raises:
        LimitError: one is longer than `most` UTF-16 units.
    """
    for name, array in arrays.items():
        if 2 * len(name) > most and _utf16_length(name) > most:
            raise LimitError(f"the name {name[:40]!r}... is too long: a cell holds {most:,} characters")
        if array.buffer.dtype.kind == "U" and 2 * (array.buffer.dtype.itemsize // 4) <= most:
            continue
        if array.dtype_entry.kind not in ("string", "generic"):
            continue
        for index, text in enumerate(array.buffer.tolist()):
            if isinstance(text, str) and 2 * len(text) >= most and (length := _utf16_length(text)) > most:
                element = array.header.describe_element(name, index)
                raise LimitError(f"{element} has {length:,} characters, but a cell holds at most {most:,}")


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
