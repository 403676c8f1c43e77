"""Which cells count as missing values: blanks and common words by `missing=`, what a caller names by `na_values=`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..dtypes import Buffer, Mask
from .scalars import Cell

MissingOption = Literal["error", "nan"]
NaValues = str | float | Collection[str | float]


@dataclass(frozen=True, slots=True)
class NamedMissing:
    """The texts and numbers that a caller calls missing values.

    Attributes:
        texts: without white space around them.
        numbers: numbers, however cells write them.
        takes_blanks: whether blanks and common words are missing values, too.
    """

    texts: frozenset[str]
    numbers: frozenset[float]
    takes_blanks: bool = False

    @classmethod
    def of(cls, values: NaValues | None, *, takes_blanks: bool = False) -> NamedMissing:
        """Return what the option `na_values` names.

        Raises:
            ValueError: something in it is neither a text nor a number.

        Example:
            >>> named = NamedMissing.of(["k.A.", -999])
            >>> sorted(named.texts), sorted(named.numbers)
            (['-999', 'k.A.'], [-999.0])
        """
        given: Any = values
        if isinstance(given, Mapping):
            raise ValueError("na_values are texts or numbers for all columns, not a mapping of columns to them")
        if isinstance(given, (str, bytes)) or not isinstance(given, Collection):
            given = () if given is None else (given,)
        plain = [value.item() if isinstance(value, np.generic) else value for value in given]
        for value in plain:
            if not isinstance(value, (str, int, float)):
                raise ValueError(f"na_values are texts or numbers, not {value!r:.80}")
        numbers = {float(value) for value in plain if isinstance(value, (int, float)) and not isinstance(value, bool)}
        return cls(frozenset(str(value).strip() for value in plain), frozenset(numbers), takes_blanks)

    @property
    def values(self) -> list[str | float]:
        """All of them."""
        return [*self.texts, *self.numbers]

    def holds(self, cell: Cell) -> bool:
        """Return whether a cell holds one of the texts or numbers."""
        if isinstance(cell, str):
            return cell.strip() in self.texts
        return isinstance(cell, (int, float)) and not isinstance(cell, bool) and cell in self.numbers

    def holds_text(self, text: str) -> bool:
        """Return whether a text is one of the texts, or writes one of the numbers."""
        bare = text.strip()
        return bare in self.texts or (bool(self.numbers) and is_number(bare) and float(bare) in self.numbers)

    def find(self, buffer: Buffer) -> Mask:
        """Return a mask of the elements of a buffer that are one of the texts or numbers."""
        kind = buffer.dtype.kind
        if kind in "fc":
            numbers = [*self.numbers, *(float(text) for text in self.texts if is_number(text))]
            is_missing: Mask = np.isin(buffer, np.asarray(numbers, np.float64).astype(buffer.dtype))
            return is_missing
        if kind in "OTU":
            return np.fromiter(map(self.holds, buffer.tolist()), bool, len(buffer))
        return np.zeros(len(buffer), bool)


Missing = MissingOption | NamedMissing
"""The option `missing`, with the values that a caller names beside it."""


def missing_of(missing: MissingOption, na_values: NaValues | None) -> Missing:
    """Return the options `missing` and `na_values` as one.

    Raises:
        ValueError: a value that an option cannot have.
    """
    check_missing(missing)
    if na_values is None or (isinstance(na_values, tuple) and not na_values):
        return missing
    named = NamedMissing.of(na_values, takes_blanks=missing == "nan")
    return named if named.texts else missing


def check_missing(missing: object) -> None:
    """Refuse a value of the option `missing` that is neither "error" nor "nan"."""
    if not isinstance(missing, NamedMissing) and missing not in ("error", "nan"):
        raise ValueError(f'missing is "error" or "nan", not {missing!r}')


def takes_blanks(missing: Missing) -> bool:
    """Return whether blanks and common words are read as missing values."""
    return missing.takes_blanks if isinstance(missing, NamedMissing) else missing == "nan"


def leave_words(missing: Missing) -> Missing:
    """Return the option without the common words: only what the caller names is read as a missing value."""
    return replace(missing, takes_blanks=False) if isinstance(missing, NamedMissing) else "error"


def names_cell(missing: Missing, cell: Cell) -> bool:
    """Return whether a caller calls what a cell holds a missing value."""
    return isinstance(missing, NamedMissing) and missing.holds(cell)


def is_number(text: str) -> bool:
    """Return whether a text is a number for Python."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def put_missing(buffer: Buffer, places: Mask | Sequence[int]) -> None:
    """Put the missing value of its dtype into some places of a buffer: NaN, NaT, None or an empty text."""
    values = {"O": None, "U": "", "T": "", "m": "NaT", "M": "NaT"}
    buffer[places] = values.get(buffer.dtype.kind, np.nan)
