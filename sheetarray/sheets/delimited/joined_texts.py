"""A column of texts as the compiled loop gives them, one after the other in UTF-8: an array of them, or a Series."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import loops
from ...dtypes import Array, Mask, Positions
from ...elements import buffer_from_joined

if TYPE_CHECKING:
    import polars as pl

_MOST_LOOKED_AT = 1000  # texts that are looked at one by one, since they begin like white space
_APOSTROPHE = ord("'")
_IS_WHITE = np.zeros(256, np.bool_)  # whether white space may begin with a byte
_IS_WHITE[[*range(ord(" ") + 1), 0xC2, 0xE1, 0xE2, 0xE3]] = True


class JoinedTexts:
    """Texts, one after the other.

    `pieces`: what keeps the texts of each piece alive, where each one ends, and all of them, as a loop returns them.
    """

    def __init__(self, pieces: Sequence[tuple[Any, Any, Any]]) -> None:
        self._pieces = pieces
        if len(pieces) == 1:
            self.ends, self.joined = np.frombuffer(pieces[0][1], np.int64), pieces[0][2]
            return
        sizes = np.cumsum([0, *(len(joined) for _, _, joined in pieces)])
        ends = [np.frombuffer(ends, np.int64)[1:] + size for (_, ends, _), size in zip(pieces, sizes, strict=False)]
        self.ends, self.joined = (
            np.concatenate([np.zeros(1, np.int64), *ends]),
            b"".join([piece[2] for piece in pieces]),
        )

    def __len__(self) -> int:
        return len(self.ends) - 1

    def slice(self, first: int, end: int) -> JoinedTexts:
        """Return some of the texts."""
        if first == 0 and end >= len(self):
            return self
        part = JoinedTexts.__new__(JoinedTexts)
        part._pieces, part.ends, part.joined = self._pieces, self.ends[first : end + 1], self.joined
        return part

    def text(self, index: int) -> str:
        """Return one text."""
        return str(self.joined[int(self.ends[index]) : int(self.ends[index + 1])], "utf-8")

    @cached_property
    def filled(self) -> Mask:
        """A mask of the texts that are not empty."""
        filled: Mask = self.ends[1:] > self.ends[:-1]
        return filled

    @cached_property
    def series(self) -> pl.Series:
        """The texts as a Series, null for empty ones."""
        texts = loops.texts_to_series((None, self.ends, self.joined))
        return texts if self.filled.all() else texts.set(texts == "", None)

    def find_white(self) -> Positions | None:
        """Return the indices of texts that are white space alone; None if too many texts begin like that."""
        held = np.flatnonzero(self.filled)
        begins = np.frombuffer(self.joined, np.uint8)[self.ends[held]]
        unsure = held[_IS_WHITE[begins]]
        if len(unsure) > _MOST_LOOKED_AT:
            return None
        return np.array([index for index in unsure.tolist() if not self.text(index).strip()], np.int64)

    def to_array(self) -> Array | None:
        """Return the texts as `<U`; None where that has to be looked at closer."""
        return buffer_from_joined(self.ends, self.joined)

    def to_elements(self, *, escaped: bool, is_endless: bool) -> Array | pl.Series:
        """Return texts of the exchange format as an array, if its last element is no blank; otherwise as a Series.

        `escaped`: whether an apostrophe stands before those that a spreadsheet would evaluate. `is_endless`: whether
        blanks may stand below the elements.
        """
        held = np.flatnonzero(self.filled)
        end = int(held[-1]) + 1 if len(held) else 0
        begins = np.frombuffer(self.joined, np.uint8)[self.ends[held]] if escaped else held[:0]
        if (
            not end
            or (end < len(self) and not is_endless)
            or not self.text(end - 1).strip()
            or (begins == _APOSTROPHE).any()
        ):
            return self.series
        array = self.slice(0, end).to_array()
        return self.series if array is None else array
