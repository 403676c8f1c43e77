"""The texts of a workbook to which cells refer by number, and how often they may refer to long ones."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from ....errors import FormatError

if TYPE_CHECKING:
    import polars as pl

_SHORT = 128  # bytes of a text that every cell of a sheet may refer to
_REPEATED_ALWAYS, _REPEATED_TIMES = 2**27, 8  # bytes beyond `_SHORT` that may be looked up: in all, and more for each


def missing_text_error(number: object, count: int, location: str) -> FormatError:
    """Return the error for a cell that refers to a shared text that the workbook lacks: it has `count` of them."""
    return FormatError(f"a cell refers to string {number} of a table of {count}", location=location)


class SharedTexts:
    """Texts to which cells refer by number.

    A reference takes a few bytes of a file, compressed even less, but in an array of strings each cell takes the memory
    of its whole text. So the bytes of long texts that are looked up are counted, and limited.

    Attributes:
        texts: a String Series; the number of a text is its index.
    """

    def __init__(self, texts: pl.Series) -> None:
        self.texts = texts
        self._repeated = 0  # bytes of long texts that were looked up

    def look_up(self, numbers: Any) -> pl.Series:
        """Return the texts of some numbers.

        Raises:
            FormatError: cells refer so often to long texts that these would take far more memory than the file.
        """
        lengths = self._long_lengths
        if lengths is not None:
            self._repeated += int(lengths[numbers].sum())
            if self._repeated > _REPEATED_ALWAYS + _REPEATED_TIMES * int(lengths.sum()):
                reason = f"cells refer again and again to long shared strings, of {self._repeated:,} bytes so far"
                raise FormatError(reason, hint="let a few cells hold the long texts, and the others short ones")
        found: pl.Series = self.texts[numbers]
        return found

    @cached_property
    def _long_lengths(self) -> pl.Series | None:
        """The bytes of each text beyond `_SHORT`; None if no text has more."""
        import polars as pl

        lengths = self.texts.str.len_bytes().cast(pl.Int64) - _SHORT
        return lengths.clip(lower_bound=0) if (lengths > 0).any() else None
