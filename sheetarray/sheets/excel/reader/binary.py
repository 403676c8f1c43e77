"""What the two binary kinds of workbooks have in common: packed numbers, words, and runs of cells made of many records.

These two kinds are read here and not by a library, since what libraries read loses something: with calamine
(python-calamine, fastexcel) error cells, empty text and blanks are one and the same, a date has lost its serial number,
and two cells far apart take memory for all between them. `docs/architecture.md` has the whole list, and the tests
hold it against both packages.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ....columns import cell_address
from ....dtypes import Mask, Positions
from ....errors import FormatError
from .cells import LARGE, LONG, LONGEST_EXACT, NUMBER, ROUNDED, TEXT, CellRun, Kinds
from .formats import Formats
from .order import OrderCheck
from .serials import Doubles
from .shared_texts import SharedTexts, missing_text_error

if TYPE_CHECKING:
    import polars as pl

RecordBytes = np.ndarray[tuple[int], np.dtype[np.uint8]]
Wanted = Literal["text", "numbers", "table"]

_ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}
# Cells refer to words by numbers: 0 and 1 are the booleans, 2 is the empty text, 256 errors by their codes follow, then
# the shared strings of the workbook
EMPTY, FIRST_ERROR = 2, 3
FIRST_SHARED = FIRST_ERROR + 256
_KNOWN_WORDS = ["0", "1", "", *(_ERRORS.get(code, f"of the code {code}") for code in range(256))]
_NO_WORD, _NO_VALUE = -1, -2  # instead of the number of a word
SHORT_FORMULA = 4  # bytes of a formula that refers to nothing, as TRUE() does
_CELLS_LOOKED_AT = 20_000  # among which the second row begins: no row has more cells


@contextmanager
def checking_complete(location: str) -> Iterator[None]:
    """Raise a FormatError with a location where something reads beyond the end of a record."""
    try:
        yield
    except (struct.error, IndexError) as error:
        raise FormatError("a record is shorter than its kind", location=location) from error


def check_sizes(kinds: Positions, sizes: Positions, least: Positions) -> None:
    """Refuse records that are shorter than their kind; called within `checking_complete`, which says where.

    Args:
        kinds: of the records.
        sizes: the bytes of each.
        least: the bytes that a record has at least, by its kind.

    Raises:
        IndexError: a record is shorter.
    """
    if (sizes < least[kinds]).any():
        raise IndexError


def read_fields(data: RecordBytes, offsets: Positions, dtype: str) -> Any:
    """Return the numbers of a dtype that begin at some bytes; an IndexError where one would go beyond the data."""
    if not len(offsets):
        return np.zeros(0, dtype)
    count = len(data) - np.dtype(dtype).itemsize + 1
    return np.ndarray((count,), dtype, buffer=data, strides=(1,))[offsets]


def unpack_numbers(words: np.ndarray[Any, np.dtype[np.uint32]]) -> Doubles:
    """Return the numbers in RK words: 30 bits of a double or of an integer, perhaps of hundredths (MS-XLS 2.5.217)."""
    integers = (words.view(np.int32) >> 2).astype(np.float64)
    doubles = ((words & np.uint32(0xFFFFFFFC)).astype(np.uint64) << np.uint64(32)).view(np.float64)
    values = np.where(words & 2 != 0, integers, doubles)
    with np.errstate(invalid="ignore"):  # NaN that signals
        return np.where(words & 1 != 0, values / 100, values)


def decode_utf16(raw: bytes) -> str:
    """Return UTF-16 as text; half of a surrogate pair, which is no character, is replaced."""
    return raw.decode("utf-16-le", "replace")


def decode_spans(data: bytes, starts: Positions, sizes: Positions, codec: str) -> list[str]:
    """Return the texts in some spans of bytes: from each start, as many bytes as its size says."""
    ends = (starts + sizes).tolist()
    return [data[start:end].decode(codec, "replace") for start, end in zip(starts.tolist(), ends, strict=True)]


class WordTable(SharedTexts):
    """The texts to which cells refer by number: those that every workbook has, and then its shared strings."""

    def __init__(self, strings: pl.Series | Sequence[str]) -> None:
        import polars as pl

        self._count = len(strings)
        shared = strings if isinstance(strings, pl.Series) else pl.Series(strings, dtype=pl.String)
        super().__init__(pl.concat([pl.Series(_KNOWN_WORDS, dtype=pl.String), shared]))

    def check(self, numbers: Positions, rows: Positions, columns: Positions) -> None:
        """Refuse cells whose shared strings are not in the table.

        Raises:
            FormatError: with the address of the first one.
        """
        wrong = np.flatnonzero(numbers >= self._count)
        if len(wrong):
            place = int(wrong[0])
            location = cell_address(int(rows[place]), int(columns[place]))
            raise missing_text_error(numbers[place], self._count, location)


@dataclass
class RawBatch:
    """The cells of some records, before their words are looked up in the `WordTable`.

    Attributes:
        rows, columns, styles: of each cell.
        numbers: the value of each cell that is a number; anything for other cells.
        words: the number of each cell's word; -1 where its value is a number or a text of its own, -2 where it has no
            value.
        kinds: of each cell: NUMBER, TEXT, BOOLEAN or FAULT.
        formulas: a mask of the cells that are results of formulas.
        places, texts: the indices of the cells whose text stands in the record itself, and those texts.
    """

    rows: Positions
    columns: Positions
    styles: Positions
    numbers: Doubles
    words: Positions
    kinds: Kinds
    formulas: Mask
    places: list[Positions] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @classmethod
    def from_addresses(cls, rows: Any, columns: Any, styles: Any) -> RawBatch:
        """Return cells at some addresses; those that get no value by a `put_` method will be left out."""
        row, column, style = (np.asarray(numbers).astype(np.int64) for numbers in (rows, columns, styles))
        words, kinds = np.full(len(row), _NO_VALUE, np.int64), np.full(len(row), NUMBER, np.uint8)
        return cls(row, column, style, np.zeros(len(row)), words, kinds, np.zeros(len(row), np.bool_))

    def put_numbers(self, places: Positions, numbers: Doubles) -> None:
        """Give some cells, by their indices, numbers as values."""
        self.numbers[places], self.words[places] = numbers, _NO_WORD

    def put_words(self, places: Positions, kind: int, words: Any) -> None:
        """Give some cells, by their indices, a kind, and as values the words of some numbers."""
        self.kinds[places], self.words[places] = kind, words

    def put_texts(self, places: Positions, texts: list[str]) -> None:
        """Give some cells, by their indices, texts of their own as values."""
        self.kinds[places], self.words[places] = TEXT, _NO_WORD
        self.places.append(places)
        self.texts += texts


class BatchReader:
    """A converter of the batches of one sheet into runs of cells.

    Args:
        formats: which styles show a number as a date or a duration.
        words: the texts to which cells refer by number.
        rows: the number of rows that a sheet can have.
        columns: the number of its columns.
        wanted: how values are given: "text"; "numbers", as Float64; "table", as Float64 where all cells of a batch are
            numbers that a double holds for certain (`are_plain_doubles`), otherwise as text.
    """

    def __init__(self, formats: Formats, words: WordTable, *, rows: int, columns: int, wanted: Wanted) -> None:
        self._formats, self._words, self._wanted = formats, words, wanted
        self._max_rows, self._max_columns = rows, columns
        self._order = OrderCheck()

    def runs_of(self, batch: RawBatch) -> Iterator[CellRun]:
        """Yield the cells of a batch that have a value as one run, or nothing.

        Raises:
            FormatError: a cell lies beyond the rows and columns of a sheet, or comes twice.
        """
        kept = np.flatnonzero(batch.words != _NO_VALUE)
        if not len(kept):
            return
        rows, columns = batch.rows[kept], batch.columns[kept]
        beyond = np.flatnonzero((rows >= self._max_rows) | (columns >= self._max_columns))
        if len(beyond):
            raise FormatError(
                f"a cell beyond the {self._max_rows} rows and {self._max_columns} columns that a sheet has",
                location=cell_address(int(rows[beyond[0]]), int(columns[beyond[0]])),
            )
        kinds = self._formats.kinds_as_shown(batch.kinds[kept], batch.styles[kept])
        kinds[(kinds == NUMBER) & ~_are_exact(batch.numbers[kept])] = LARGE
        numeric = self._wanted == "numbers" or (self._wanted == "table" and _are_plain(kinds, batch.numbers[kept]))
        values, long = self._values(batch, kept, numeric=numeric)
        kinds[long & (kinds == TEXT)] = LONG
        width = row_width(rows, columns)
        self._order.check(rows, columns, width)
        formulas = batch.formulas[kept]
        yield CellRun(rows, columns, kinds, values, width, formulas if formulas.any() else None)

    def _values(self, batch: RawBatch, kept: Positions, *, numeric: bool) -> tuple[pl.Series, Mask]:
        """Return the values of the cells of `kept`, and a mask of the texts that are longer than a double has digits.

        The mask is all False unless `numeric`.
        """
        import polars as pl

        is_number = batch.words == _NO_WORD
        for places in batch.places:
            is_number[places] = False
        numbers, words = np.flatnonzero(is_number), np.flatnonzero(batch.words >= 0)
        texts = self._words.look_up(batch.words[words])
        if batch.texts:
            texts = pl.concat([texts, pl.Series(batch.texts, dtype=pl.String)])
        long = np.zeros(len(kept), np.bool_)
        if numeric:
            long[len(numbers) :] = (texts.str.len_bytes() > LONGEST_EXACT).to_numpy()
            texts = texts.cast(pl.Float64, strict=False)
        values = texts
        if len(numbers):
            of_numbers = batch.numbers[numbers]
            values = pl.concat([pl.Series(of_numbers) if numeric else format_numbers(of_numbers), texts])
        order = np.concatenate([numbers, words, *batch.places])
        if (np.diff(order) < 0).any():
            ranks = np.argsort(order)
            values, long = values.gather(ranks), long[ranks]
        return values, long


def _are_plain(kinds: Kinds, numbers: Doubles) -> bool:
    """Return whether all cells are numbers that doubles hold for certain."""
    return bool((kinds == NUMBER).all()) and are_plain_doubles(numbers)


def are_plain_doubles(numbers: Doubles) -> bool:
    """Return whether doubles tell all that was written: none is so large that it may have been rounded, none is -0."""
    return bool(_are_exact(numbers).all()) and not bool(np.signbit(numbers[numbers == 0]).any())


def _are_exact(numbers: Doubles) -> Mask:
    """Return a mask of the doubles that are so small that none stands for several integers."""
    with np.errstate(invalid="ignore"):  # NaN that signals
        return np.abs(numbers) < ROUNDED


def format_numbers(numbers: Doubles) -> pl.Series:
    """Return the numerals that read back to some doubles; integers without a point, where each double is one integer.

    Example:
        >>> format_numbers(np.array([1.0, -0.0, 0.1, 2.0**53])).to_list()
        ['1', '-0.0', '0.1', '9007199254740992.0']
    """
    import polars as pl

    exact = _are_exact(numbers)
    with np.errstate(invalid="ignore"):
        whole = exact & (numbers == np.trunc(numbers)) & ~((numbers == 0) & np.signbit(numbers))
    if whole.all():
        return pl.Series(numbers.astype(np.int64)).cast(pl.String)
    texts = pl.Series(numbers).cast(pl.String)
    places = np.flatnonzero(whole)
    if len(places):
        texts = texts.scatter(places, pl.Series(numbers[places].astype(np.int64)).cast(pl.String))
    large = np.flatnonzero(~exact)
    return texts.scatter(large, list(map(repr, numbers[large].tolist()))) if len(large) else texts


def row_width(rows: Positions, columns: Positions) -> int:
    """Return the number of cells in each row, if all rows have cells in the same columns; otherwise 0."""
    changes = np.flatnonzero(np.diff(rows[:_CELLS_LOOKED_AT]))
    width = int(changes[0]) + 1 if len(changes) else len(rows)
    if len(rows) % width:
        return 0
    firsts, across = rows[::width], columns[:width]
    if not (np.diff(firsts) > 0).all() or not (np.diff(across) > 0).all():
        return 0
    alike = (rows.reshape(-1, width) == firsts[:, None]).all() and (columns.reshape(-1, width) == across).all()
    return width if alike else 0
