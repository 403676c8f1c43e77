"""The dtypes and the values of long columns, by the columnar engine: one query for all columns of a kind.

The first cells of a column suggest a kind; then all of its cells are parsed as that kind, and if one of them is not of
it as the next: integers, floats, floats with a decimal comma, text. The engine converts whole columns and prints its
doubles again; numerals that look different then (`1.50`, `+2.5`, twenty digits) are looked at one by one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cells import TextLook, buffer_from_text, cast_dates, longest_text, to_byte_rows
from ..dtypes import Array, from_name
from ..elements import DAY
from .numerals import (
    COMMA_NUMBER,
    EXACT,
    GROUPED,
    INTEGER,
    LONGEST,
    NUMBER,
    PHONE,
    WHITE,
    NumeralMarks,
    has_too_many_digits,
    keeps_number,
)
from .short import BOOLEANS, MOMENT, Inferred, dates_of, unit_of_digits

if TYPE_CHECKING:
    import polars as pl


# Whether a whole column of numerals is integers, keeps its digits as doubles, or is dates.

_PRINTED = re.compile(r"[+-]?[0-9]+\.([0-9]+)(?:([eE])[+-][0-9]{2,3})?")
_CELLS_A_PRINT = 2**16


def engine_double() -> Any:
    """Return the engine's dtype of doubles, which is imported when it is needed."""
    import polars as pl

    return pl.Float64


def are_long_integers(texts: pl.Series) -> bool:
    """Return whether a column holds nothing but integers, one of which has so many digits that it may be an id.

    Such a column stays text even if doubles hold its integers exactly, as they hold 10^22.
    """
    first = texts.drop_nulls().head(1)
    if not len(first) or not first[0].lstrip("+-").isdigit():
        return False
    return bool((texts.str.len_bytes() > 16).any()) and bool(texts.str.contains("^[+-]?[0-9]+$").all())


def find_lost_numeral(texts: pl.Series, values: pl.Series) -> int | None:
    """Return the index of the first numeral that would lose digits as a double; None if none would."""
    numerals, doubles = texts.to_list(), values.to_list()
    for start in range(0, len(numerals), _CELLS_A_PRINT):
        some, numbers = numerals[start : start + _CELLS_A_PRINT], doubles[start : start + _CELLS_A_PRINT]
        if _are_printed_alike(some, numbers):
            continue
        for index, (text, number) in enumerate(zip(some, numbers, strict=True)):
            if not keeps_number(text, number):
                return start + index
    return None


def _are_printed_alike(texts: list[str], values: list[float]) -> bool:
    """Return whether numerals look like doubles printed with one fixed number of digits after the point."""
    match = _PRINTED.fullmatch(texts[0])
    if match is None:
        return False
    plus = "+" if texts[0].startswith("+") else ""
    form = f"%{plus}.{len(match[1])}{match[2] or 'f'}\n"
    return form * len(texts) % tuple(values) == "\n".join(texts) + "\n"


def parse_dates(column: pl.Series) -> Array | None:
    """Return a column of dates or moments as datetime64; None if it holds anything else."""
    held = column.drop_nulls()
    if held.str.contains(f"^(?:{DAY}|NaT)$").all():
        if (held == "NaT").all():
            return None
        unit = "D"
    elif held.str.contains(f"^(?:{DAY}|{MOMENT}|NaT)$").all():
        unit = unit_of_digits(longest_text(held.str.extract(r"\.([0-9]+)$")))
    else:
        return None
    if unit != "ns" and len(held) == len(column) and (dates := _parse_even_dates(column, unit)) is not None:
        return dates
    return dates_of(column.fill_null("NaT").to_list(), unit)


def _parse_even_dates(column: pl.Series, unit: str) -> Array | None:
    """Return dates that are all written with as many characters, of their bytes; None where they are not, or one of
    them does not exist.
    """
    lengths = column.str.len_bytes()
    width = int(lengths[0])
    if lengths.min() != lengths.max():
        return None
    return cast_dates(to_byte_rows(column, width), np.dtype(f"datetime64[{unit}]"))


# The dtypes and the values of long columns, by the columnar engine: one query for all columns of a kind.
#
# The first cells of a column suggest a kind; then all of its cells are parsed as that kind, and if one of them is
# not of it as the next: integers, floats, floats with a decimal comma, text. The engine converts whole columns and
# prints its doubles again; numerals that look different then (`1.50`, `+2.5`, twenty digits) are looked at one by
# one.

_SAMPLE = 100  # cells that say what a column may be
_NUMBER, _COMMA_NUMBER = re.compile(NUMBER), re.compile(COMMA_NUMBER)
_MOMENT = re.compile(rf"{DAY}|{MOMENT}|NaT")
_SHORT_NUMBER = r"^(?:-?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,2})?)$"
_SHORT_DIGITS = 15  # characters: a numeral no longer than this has no more digits than any double keeps

LongColumns = Mapping[int, "pl.Series"]


def infer_long(columns: LongColumns, marks: NumeralMarks) -> dict[int, Inferred]:
    """Return the dtypes that keep every cell of columns of text, and their values.

    `columns`: text, all of one length; null, "" and white space are blanks.

    Example:
        >>> import polars as pl
        >>> infer_long({0: pl.Series(["1", "2"]), 1: pl.Series(["01", None])}, NumeralMarks())[1].values
        array(['01', ''], dtype='<U2')
    """
    return _Long(columns, marks).infer()


class _Long:
    """Columns of texts whose dtypes are being inferred together, and what is known of each so far.

    `columns`: by any key.
    """

    def __init__(self, columns: LongColumns, marks: NumeralMarks) -> None:
        self.given, self.marks = columns, marks
        self.columns = dict(columns)  # without white space, where it stood in the way
        self.stripped: set[int] = set()
        self.values: dict[int, Array] = {}
        self.long: dict[int, int] = {}
        self.kinds = {key: self._kind(key) for key in columns}

    def infer(self) -> dict[int, Inferred]:
        """Return the values of each column, by its key, under the dtype that suits all its cells."""
        for kind, follow in (
            ("stripped", self._strip),
            ("blank", self._blanks),
            ("marked", self._with_point),
            ("integers", self._integers),
            ("floats", self._floats),
            ("commas", self._commas),
            ("floats", self._floats),
            ("booleans", self._booleans),
            ("moments", self._moments),
        ):
            keys = [key for key, known in self.kinds.items() if known == kind]
            if keys:
                follow(keys)
        self._texts([key for key in self.given if key not in self.values])
        return {key: Inferred(self.values[key], self.long.get(key)) for key in self.given}

    def _kind(self, key: int) -> str:
        """Return the kind that the first cells of a column suggest."""
        column = self.columns[key]
        texts = [text for text in column.head(_SAMPLE).to_list() if text]
        if not texts:
            texts = column.filter(column != "").head(_SAMPLE).to_list()
        texts = [text for text in (text.strip(WHITE) for text in texts) if text]
        if not texts:
            return "blank" if key in self.stripped else "stripped"
        if not self.marks.is_plain and all(map(re.compile(self.marks.number).fullmatch, texts)):
            return "marked"
        if self.marks.is_plain and all(map(_NUMBER.fullmatch, texts)):
            return "integers" if all(re.fullmatch(INTEGER, text) for text in texts) else "floats"
        if self.marks.decimal is None and self.marks.is_plain and all(map(_COMMA_NUMBER.fullmatch, texts)):
            return "commas"
        if all(text.lower() in BOOLEANS for text in texts):
            return "booleans"
        return "moments" if all(map(_MOMENT.fullmatch, texts)) else "text"

    def _frame(self, keys: list[int]) -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame({str(key): self.columns[key] for key in keys})

    def _strip(self, keys: list[int]) -> None:
        """Take white space away, and suggest a kind for each of the columns anew."""
        import polars as pl

        fresh = [key for key in keys if key not in self.stripped]
        if not fresh:
            return
        texts = pl.all().str.strip_chars(WHITE)
        frame = self._frame(fresh).select(pl.when(texts != "").then(texts))
        for key in fresh:
            self.columns[key] = frame[str(key)]
            self.stripped.add(key)
            self.kinds[key] = self._kind(key)

    def _blanks(self, keys: list[int]) -> None:
        for key in keys:
            self.values[key] = np.full(len(self.columns[key]), np.nan)

    def _cast(self, keys: list[int], name: str) -> dict[int, pl.Series]:
        """Return the columns whose cells are all blank or numbers of a dtype of the engine, once white space around
        them is taken away.
        """
        import polars as pl

        made: dict[int, pl.Series] = {}
        for again in (False, True):
            frame = self._frame(keys).select(pl.all().cast(getattr(pl, name), strict=False))
            made |= {k: frame[str(k)] for k in keys if frame[str(k)].null_count() == self.columns[k].null_count()}
            keys = [key for key in keys if key not in made and key not in self.stripped]
            if again or not keys:
                break
            kinds = {key: self.kinds[key] for key in keys}
            self._strip(keys)
            self.kinds |= kinds
        return made

    # Numbers -------------------------------------------------------------------------------------------------

    def _with_point(self, keys: list[int]) -> None:
        """Write numbers that have the marks given by the caller with a decimal point and no other mark."""
        import polars as pl

        self._strip(keys)
        sound = self._frame(keys).select(pl.all().str.contains(f"^(?:{self.marks.number})$").all())
        keys = self._keep_sound(keys, [key for key in keys if sound[str(key)][0]], "text")
        text = pl.all()
        for mark in self.marks.group:
            text = text.str.replace_all(mark, "", literal=True)
        frame = self._frame(keys).select(text.str.replace(self.marks.point, ".", literal=True))
        for key in keys:
            self.columns[key] = frame[str(key)]
            self.kinds[key] = "integers"

    def _keep_sound(self, keys: list[int], sound: list[int], otherwise: str) -> list[int]:
        """Return the columns that could be read as a kind, and note which kind is tried next for the others."""
        for key in set(keys).difference(sound):
            self.kinds[key] = otherwise
        return sound

    def _integers(self, keys: list[int]) -> None:
        """Make int64 or uint64; beside blanks float64, or Python's integers where doubles are not exact."""
        import polars as pl

        made = self._cast(keys, "Int64")
        rest = [key for key in keys if key not in made]
        if rest:
            made |= self._cast(rest, "UInt64")
        frame = pl.DataFrame({str(key): self.columns[key] for key in made})
        printed = pl.DataFrame({str(key): column for key, column in made.items()}).select(pl.all().cast(pl.String))
        for key, integers in made.items():
            other = frame[str(key)].filter(frame[str(key)] != printed[str(key)])
            if len(other) and not other.str.contains(f"^(?:{INTEGER})$").all():
                continue
            self._keep_integers(key, integers)
        for key in self._keep_sound(keys, [key for key in keys if key in self.values], "floats"):
            self.kinds[key] = "known"

    def _keep_integers(self, key: int, integers: pl.Series) -> None:
        if not integers.null_count():
            self.values[key] = integers.to_numpy(writable=True)
            return
        lowest, highest = int(integers.min()), int(integers.max())  # type: ignore[arg-type]  # some are not null
        if lowest >= -EXACT and highest <= EXACT:
            self.values[key] = integers.cast(engine_double()).to_numpy(writable=True)
            return
        out = np.empty(len(integers), dtype=object)
        out[:] = integers.to_list()
        self.values[key] = out

    def _floats(self, keys: list[int]) -> None:
        """Make float64, where a double keeps each numeral."""
        import polars as pl

        made = self._cast(keys, "Float64")
        frame = pl.DataFrame({str(key): self.columns[key] for key in made})
        printed = pl.DataFrame({str(key): column for key, column in made.items()}).select(pl.all().cast(pl.String))
        for key, doubles in made.items():
            other = (frame[str(key)] != printed[str(key)]).arg_true()
            if self._keeps_all(key, other, frame[str(key)], doubles):
                self.values[key] = doubles.fill_null(float("nan")).to_numpy(writable=True)
        plain = self.marks.decimal is None and self.marks.is_plain
        for key in self._keep_sound(keys, [key for key in keys if key in self.values], "commas" if plain else "text"):
            self.kinds[key] = "known"
        for key in made.keys() - self.values.keys():
            self.kinds[key] = "text"

    def _keeps_all(self, key: int, indices: pl.Series, texts: pl.Series, doubles: pl.Series) -> bool:
        """Return whether doubles keep all numerals of a column; those at `indices` must be looked at singly."""
        if not len(indices):
            return not are_long_integers(texts)
        odd, values = texts.gather(indices), doubles.gather(indices)
        easy = odd.str.contains(_SHORT_NUMBER) & (odd.str.len_bytes() <= _SHORT_DIGITS) & (odd != "-0")
        if not easy.all():
            indices, odd, values = indices.filter(~easy), odd.filter(~easy), values.filter(~easy)
            if not odd.str.contains(f"^(?:{NUMBER})$").all() or odd.str.contains(f"^{PHONE}$").any():
                return False
            if odd.str.len_bytes().max() > LONGEST:  # type: ignore[operator]  # there is one
                return False
            if (index := find_lost_numeral(odd, values)) is not None:
                if has_too_many_digits(odd[index]):
                    self.long[key] = int(indices[index])
                return False
        return not are_long_integers(texts)

    def _commas(self, keys: list[int]) -> None:
        """Replace decimal commas by points in columns of such numbers, which are then parsed as floats."""
        import polars as pl

        self._strip(keys)
        frame = self._frame(keys)
        comma = pl.all().str.contains(",", literal=True)
        sound = frame.select(pl.all().str.contains(f"^(?:{COMMA_NUMBER})$").all())
        certain = frame.select((comma & ~pl.all().str.contains(f"^(?:{GROUPED})$")).any())
        sure = [key for key in keys if sound[str(key)][0] and certain[str(key)][0]]
        changed = self._frame(sure).select(pl.all().str.replace(",", ".", literal=True))
        for key in self._keep_sound(keys, sure, "text"):
            self.columns[key] = changed[str(key)]
            self.kinds[key] = "floats"

    # All others ----------------------------------------------------------------------------------------------

    def _booleans(self, keys: list[int]) -> None:
        """Make booleans of words, which come in a few spellings; beside blanks Python's own."""
        import polars as pl

        for key in keys:
            words = self.columns[key]
            meant = {word: BOOLEANS.get(word.strip(WHITE).lower()) for word in words.drop_nulls().unique().to_list()}
            blanks = [word for word in meant if not word.strip(WHITE)]
            if all(value is not None or word in blanks for word, value in meant.items()):
                true = words.is_in(pl.Series([word for word, value in meant.items() if value], dtype=pl.String))
                out: Array = true.fill_null(value=False).to_numpy(writable=True)
                if words.null_count() or blanks:
                    absent = words.is_null() | words.is_in(pl.Series(blanks, dtype=pl.String))
                    out = out.astype(object)
                    out[absent.fill_null(value=True).to_numpy()] = None
                self.values[key] = out
            self.kinds[key] = "known" if key in self.values else "text"

    def _moments(self, keys: list[int]) -> None:
        self._strip(keys)
        for key in keys:
            dates = parse_dates(self.columns[key])
            self.kinds[key] = "text" if dates is None else "known"
            if dates is not None:
                self.values[key] = dates

    def _texts(self, keys: list[int]) -> None:
        """Make text of the cells as they stand; a cell of white space is a blank."""
        import polars as pl

        frame = pl.DataFrame({str(key): self.given[key] for key in keys})
        frame = frame.select(pl.when(pl.all().str.strip_chars(WHITE) != "").then(pl.all()).otherwise(pl.lit("")))
        for key in keys:
            texts = frame[str(key)]
            self.values[key], _ = buffer_from_text(texts, from_name("string"), TextLook(formulas="keep"))
