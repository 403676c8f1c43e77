"""Cells as they come out of a workbook: runs of them, what a cell can be, and cells as XML says them."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ....columns import Request, cell_address
from ....columns.words import CODES, NONE, WordCodes, Words, code_of
from ....dtypes import Mask, Positions
from ....elements import Cell
from ....elements.serials import serials_to_dates
from ....errors import FormatError
from ....loops import Doubles, texts_to_series
from ...workbooks import MOST_COLUMNS, MOST_ROWS, without_escapes
from ..package.parts import Package
from ..package.relations import Relation

if TYPE_CHECKING:
    import polars as pl


Kinds = np.ndarray[tuple[int], np.dtype[np.uint8]]
ALL_ROWS = ((0, 2**31),)  # as spans

NUMBER = 1  # the value is a numeral
TEXT = 2
BOOLEAN = 3  # the value is 1 or 0
SERIAL = 4  # a number that the cell's format shows as a date: days, as the workbook counts them
MOMENT = 5  # a date in ISO 8601
DURATION = 6  # a number that the cell's format shows as hours or minutes
FAULT = 7  # an error; the value is its name
PENDING = 8  # a formula that has not been calculated
LARGE = 9  # a number stored as a double of 2^53 or more: which of several integers was meant is unknown
LONG = 10  # text of more than `LONGEST_EXACT` characters, of which only the Float64 is at hand
LONGEST_EXACT = 15  # characters: different numerals of no more characters are different doubles
ROUNDED = 2.0**53  # from here on a double may stand for several integers, this one among them

_CELLS_LOOKED_AT = 20_000  # among which the second row begins: no row has more cells
LONGEST_TEXT = 2**20  # characters of a cell that are read; Excel and LibreOffice keep 32,767


def encrypted_error() -> FormatError:
    """Return the error for a workbook that cannot be read without its password."""
    return FormatError("the workbook is encrypted with a password", hint="save it without one first")


def missing_text_error(number: object, count: int, location: str) -> FormatError:
    """Return the error for a cell that refers to a shared text that the workbook lacks: it has `count` of them."""
    return FormatError(f"a cell refers to string {number} of a table of {count}", location=location)


def are_exact_doubles(numbers: Doubles) -> Mask:
    """Return a mask of the doubles that are so small that none stands for several integers."""
    with np.errstate(invalid="ignore"):  # NaN that signals
        return np.abs(numbers) < ROUNDED


def mark_plain_doubles(numbers: Doubles) -> Mask:
    """Return a mask of the doubles that tell all that was written: not -0, nor so large that it may be rounded."""
    mask = are_exact_doubles(numbers)
    zeros = np.flatnonzero(numbers == 0)
    mask[zeros[np.signbit(numbers[zeros])]] = False
    return mask


def row_width(rows: Positions, columns: Positions) -> int:
    """Return the number of cells in each row, if all rows have cells in the same columns; otherwise 0."""
    some = rows[:_CELLS_LOOKED_AT]
    changes = np.flatnonzero(some[1:] != some[:-1])
    width = int(changes[0]) + 1 if len(changes) else len(rows)
    if len(rows) % width:
        return 0
    firsts, across = rows[::width], columns[:width]
    if not (firsts[1:] > firsts[:-1]).all() or not (across[1:] > across[:-1]).all():
        return 0
    alike = width == 1 or (rows.reshape(-1, width) == firsts[:, None]).all()
    alike = alike and (columns.reshape(-1, width) == across).all()
    return width if alike else 0


@dataclass(frozen=True)
class CellRun:
    """Some cells of a sheet, in any order, none of them blank; the arrays run in parallel.

    Attributes:
        rows: of each cell, from 0.
        columns: of each cell, from 0.
        kinds: of each cell, one of the constants of this module.
        values: of each cell: text; or, where only numbers are wanted, Float64 with a null for text that is no numeral.
        width: the number of cells in each row, if they come row by row and all rows have cells in the same columns;
            otherwise 0.
        formulas: a mask of the cells that are formulas, whose results the values are; None if no cell is a formula. Of
            an array formula, only the first cell is marked.
    """

    rows: Positions
    columns: Positions
    kinds: Kinds
    values: pl.Series
    width: int = 0
    formulas: Mask | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def after(self) -> int:
        """The number of the row below the lowest cell."""
        return int(self.rows.max()) + 1

    def texts(self) -> list[pl.Series]:
        """Return the values of the cells that hold text in a list of one Series, or an empty list."""
        mask = self.kinds == TEXT
        return [self.values.filter(_series(mask))] if mask.any() else []

    def first(self, count: int) -> CellRun:
        """Return the first cells, at most `count`."""
        if len(self) <= count:
            return self
        formulas = None if self.formulas is None else self.formulas[:count]
        values = self.values[:count]
        return CellRun(self.rows[:count], self.columns[:count], self.kinds[:count], values, 0, formulas)

    def select(self, mask: np.ndarray[Any, np.dtype[np.bool_]]) -> CellRun:
        """Return the cells under a mask."""
        if mask.all():
            return self
        formulas = None if self.formulas is None else self.formulas[mask]
        values = self.values.filter(_series(mask))
        return CellRun(self.rows[mask], self.columns[mask], self.kinds[mask], values, 0, formulas)


def _series(values: Any) -> pl.Series:
    import polars as pl

    return pl.Series(values)


class WorkbookReader(ABC):
    """An open workbook of any kind, whose sheets can be read cell by cell.

    Attributes:
        titles: of its worksheets, in the order of their tabs.
        max_rows: the number of rows that a sheet of this kind of workbook can have.
        from_1904: whether serial dates count from 1904-01-01, not from 1900.
        package: the zip package that the workbook is; None for an .xls.
        words: those of headers, by the title of the sheet and the number of first rows that were searched.
    """

    titles: list[str]
    words: dict[tuple[str, int | None], Words]
    package: Package | None = None
    max_rows = MOST_ROWS
    from_1904 = False

    @abstractmethod
    def cells(self, title: str, *, numeric: bool, first: int = 0) -> Generator[CellRun]:
        """Yield the cells of a sheet, run by run, from its first rows on.

        `numeric`: True if only columns of numbers are wanted, so that values may be Float64. `first`: the first row
        that is wanted; cells above it may come, too.
        """

    def cells_of_table(self, title: str) -> Generator[CellRun]:
        """Yield the cells of a sheet for an ordinary table.

        Numbers that a double holds for certain (`mark_plain_doubles`) may come as Float64. All other values come as
        text, so that each numeral keeps the digits that were written.
        """
        return self.cells(title, numeric=False)

    def cells_of_rows(self, title: str, spans: Sequence[tuple[int, int]]) -> Generator[CellRun]:  # noqa: ARG002  (of all)
        """Yield the cells of some rows as text, and perhaps those of others.

        `spans`: the first row of each span and the row below its last; ascending, without overlap.
        """
        return self.cells(title, numeric=False)

    def cells_with(self, title: str, texts: Sequence[str]) -> Generator[CellRun]:  # noqa: ARG002  (all come)
        """Yield the cells that may hold one of some texts, in any case and between spaces, and perhaps others."""
        return self.cells(title, numeric=False)


# Cells as worksheet XML says them, before their shared strings, styles and types are looked up.

PLAIN, SHARED, RESULT, INLINE, LOGICAL, ERROR, ISO, ELAPSED = range(8)
FORMULA, WAITING, NUMERAL = 8, 16, 32  # what the compiled loop adds to types: `RawCells` has a mask of each
CELL = np.dtype(
    [  # as the compiled loop makes it
        ("number", np.float64),
        ("row", np.uint32),
        ("style", np.uint32),  # of .ods, how often the cell stands in its row
        ("column", np.uint16),
        ("type", np.uint8),
    ],
    align=True,
)
_NUMERAL = r"^-?[0-9]+(?:\.[0-9]+)?(?:\.?[eE][-+]?[0-9]+)?$"
_NOT_ZERO = "^-?[0.]*[1-9]"
TYPES = {"": PLAIN, "n": PLAIN, "s": SHARED, "str": RESULT, "inlineStr": INLINE, "b": LOGICAL, "e": ERROR, "d": ISO}
TEXTS = (RESULT, INLINE)  # the value is the text itself, and may be empty
_TRUTHS = ("TRUE()", "FALSE()", "of:=TRUE()", "of:=FALSE()")
NUMERALS = (PLAIN, SHARED, LOGICAL)  # the value is a numeral


_ESCAPE = re.compile(b"_x")  # with which the escape of a character begins


class LoopTexts:
    """Texts that the compiled loop has made.

    `escaped`: a mask of those in which `_xHHHH_` stands for a character, if it is there. `most_bytes`: that they take
    at most. `places`: the indices of those that count, among all that were made; None for all.
    """

    def __init__(
        self, texts: tuple[Any, Any, Any], escaped: Mask, most_bytes: int, places: Positions | None = None
    ) -> None:
        self._texts, self._escaped, self.most_bytes, self._places = texts, escaped, most_bytes, places

    @cached_property
    def series(self) -> pl.Series:
        """The texts as a Series."""
        series = texts_to_series(self._texts, self._places)
        return unescape(series, self._escaped) if self._escaped.any() else series

    def take(self, places: Positions) -> pl.Series:
        """Return some of the texts, by their indices, as a Series."""
        if "series" in vars(self) or 2 * len(places) > len(self._escaped):
            return self.series[places]  # of all texts, which stays for whoever asks next
        return self.select(places).series

    def select(self, places: Positions) -> LoopTexts:
        """Return some of the texts, by their indices; they become a Series later, or never."""
        among_all = places if self._places is None else self._places[places]
        return LoopTexts(self._texts, self._escaped[places], self.most_bytes, among_all)


def unescape(texts: pl.Series, escaped: Mask | bool = True) -> pl.Series:
    """Return texts without their escapes of characters `_xHHHH_`."""
    places = np.flatnonzero(texts.str.contains("_x", literal=True).to_numpy() & escaped)
    if not len(places):
        return texts
    return texts.scatter(places, _series(list(map(without_escapes, texts.gather(places).to_list()))))


@dataclass(frozen=True)
class RawCells:
    """Some cells of a worksheet: those that have a value or a formula.

    Attributes:
        rows, columns: of each cell, from 0.
        types: of each cell, one of the constants of this module.
        styles: of each cell, the index of its style; 0 where the XML names no style.
        pending: a mask of the cells that have a formula and no value.
        numbers: the number of each cell under `numeral`; anything for other cells.
        numeral: a mask of the cells of `NUMERALS` whose number is known.
        values: of each cell as it is written; None if only the numbers were kept. The loop's become a Series only for
            whoever asks for texts.
        width: the number of cells in each row, if all rows have cells in the same columns; otherwise 0.
        formulas: a mask of the cells that are formulas; None if no cell is a formula.
        sources: of each cell under `formulas` the formula, "" where that is not short and its own.
    """

    rows: Positions
    columns: Positions
    types: Kinds
    styles: Positions
    pending: Mask
    numbers: Doubles
    numeral: Mask
    values: pl.Series | LoopTexts | None
    width: int = 0
    formulas: Mask | None = None
    sources: pl.Series | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self, places: Positions) -> pl.Series:
        """Return the values of some cells, by their indices, as they are written; null for a formula without one."""
        import polars as pl

        assert self.values is not None, "whoever wants texts does not take cells whose numbers alone were kept"
        texts = self.values.take(places) if isinstance(self.values, LoopTexts) else self.values[places]
        if isinstance(self.values, pl.Series) or not (blank := self.pending[places]).any():
            return texts
        return texts.scatter(np.flatnonzero(blank), pl.Series([None], dtype=pl.String))

    def find_formulas(self) -> Iterator[tuple[int, str]]:
        """Yield the index of each cell with a short formula of its own, and the formula."""
        if self.formulas is not None and self.sources is not None:
            known = zip(np.flatnonzero(self.formulas).tolist(), self.sources.to_list(), strict=True)
            yield from ((index, source) for index, source in known if source)

    def select(self, places: Positions) -> RawCells:
        """Return some cells, by their indices, of a block without formulas."""
        rows, columns = self.rows[places], self.columns[places]
        marks = self.types[places], self.styles[places], self.pending[places]
        numbers = self.numbers[places], self.numeral[places]
        values = self.values
        if values is not None:
            values = values.select(places) if isinstance(values, LoopTexts) else values[places]
        return RawCells(rows, columns, *marks, *numbers, values, row_width(rows, columns) if len(rows) else 0)

    def take(self, places: Positions, rows: Positions, columns: Positions) -> RawCells:
        """Return some cells, by their indices, put into other rows and columns; each may be taken several times."""
        formulas = sources = None
        if self.formulas is not None and self.sources is not None:
            import polars as pl

            formulas = self.formulas[places]
            index = (np.cumsum(self.formulas) - 1)[places[formulas]]
            is_repeated = (np.bincount(index, minlength=len(self.sources)) > 1)[index]
            sources = self.sources.gather(index).zip_with(pl.Series(~is_repeated), pl.Series([""]))
        return RawCells(
            rows,
            columns,
            self.types[places],
            np.zeros(len(places), np.int64),
            self.pending[places],
            self.numbers[places],
            self.numeral[places],
            self.texts(places),
            row_width(rows, columns),
            formulas,
            sources,
        )

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the cells take, about."""
        arrays = (self.rows, self.columns, self.types, self.styles, self.pending, self.numbers, self.numeral)
        values = 32 * len(self) + self.values.most_bytes if isinstance(self.values, LoopTexts) else 32 * len(self)
        return sum([array.nbytes for array in arrays]) + values


def position_error(row: int, column: int) -> FormatError:
    """Return the error to raise for a cell beyond the last row or column that a sheet can have."""
    return FormatError(
        f"a cell beyond the {MOST_ROWS} rows and {MOST_COLUMNS} columns that a sheet has",
        location=cell_address(row, column),
    )


def cells_of_loop(
    cells: bytes, texts: tuple[Any, Any, Any], formulas: tuple[Any, Any, Any], size: int, *, has_escapes: bool
) -> RawCells:
    """Return cells that the compiled loop has made of XML.

    `texts`: of each cell. `formulas`: of each that is marked as a formula. `size`: of the XML in bytes. `has_escapes`:
    whether `_xHHHH_` stands for a character in text.
    """
    made = np.frombuffer(cells, CELL)
    rows, columns = made["row"].astype(np.int64), made["column"].astype(np.int64)
    marks = made["type"].copy()  # bytes one after another take a tenth of the time of bytes that are far apart
    is_formula, types = marks & FORMULA != 0, marks & np.uint8(FORMULA - 1)
    has_formulas = bool(is_formula.any())
    escaped = ((types == RESULT) | (types == INLINE)) & has_escapes
    if escaped.any() and _ESCAPE.search(texts[2]) is None:  # once a block, not for each look at some of its cells
        escaped[:] = False
    return settle_constants(
        RawCells(
            rows,
            columns,
            types,
            made["style"].astype(np.int64),
            marks & WAITING != 0,
            made["number"].copy(),
            marks & NUMERAL != 0,
            LoopTexts(texts, escaped, size),
            row_width(rows, columns) if len(rows) else 0,
            is_formula if has_formulas else None,
            sources=texts_to_series(formulas) if has_formulas else None,
        )
    )


def cells_of_parser(
    cells: Sequence[tuple[int, int, int, int, str | None]], formulas: Sequence[tuple[int, str]]
) -> RawCells:
    """Return cells that the XML parser has read: row, column, type, style and value of each.

    `formulas`: the index of each cell that is a formula, and its text where that is short and its own.
    """
    import polars as pl

    rows, columns, types, styles, texts = zip(*cells, strict=True)
    values = pl.Series(texts, dtype=pl.String)
    numbers = values.cast(pl.Float64, strict=False).fill_null(math.inf)
    is_numeral = values.str.contains(_NUMERAL) & numbers.is_finite()
    is_numeral &= (numbers != 0) | ~values.str.contains(_NOT_ZERO)
    kinds = np.array(types, dtype=np.uint8)
    places = np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)
    marks = np.zeros(len(cells), np.bool_)
    marks[[index for index, _ in formulas]] = True
    return settle_constants(
        RawCells(
            *places,
            kinds,
            np.array(styles, dtype=np.int64),
            values.is_null().to_numpy(),
            numbers.to_numpy(),
            is_numeral.fill_null(value=False).to_numpy() & np.isin(kinds, NUMERALS),
            values,
            row_width(*places),
            marks if formulas else None,
            pl.Series([source for _, source in formulas], dtype=pl.String),
        )
    )


def settle_constants(cells: RawCells) -> RawCells:
    """Return cells in which the formulas TRUE() and FALSE() are what they give: programs write booleans so.

    openpyxl drops the values of formulas; LibreOffice gives booleans of an .xlsx the value 1 or 0 in .ods.
    """
    import polars as pl

    if cells.formulas is None or cells.sources is None or not (known := cells.sources.is_in(list(_TRUTHS))).any():
        return cells
    places = np.flatnonzero(cells.formulas)[known.to_numpy()]
    sources = cells.sources.filter(known)
    truths, is_open = sources.str.contains("TRUE", literal=True).to_numpy(), sources.str.starts_with("of").to_numpy()
    types, numbers = cells.types[places], cells.numbers[places]
    is_one = (types == LOGICAL) | ((types == PLAIN) & cells.numeral[places] & ((numbers == 0) | (numbers == 1)))
    is_made = cells.pending[places] | is_open
    made, truths = places[is_made], truths[is_made]
    formulas, pending, numeral = cells.formulas.copy(), cells.pending.copy(), cells.numeral.copy()
    types, numbers = cells.types.copy(), cells.numbers.copy()
    formulas[places[is_one | is_made]] = False
    pending[made], numeral[made], types[made], numbers[made] = False, True, LOGICAL, truths
    values = cells.texts(np.arange(len(cells)))
    return replace(
        cells,
        types=types,
        pending=pending,
        numbers=numbers,
        numeral=numeral,
        values=values.scatter(made, pl.Series(np.where(truths, "1", "0"))),
        formulas=formulas if formulas.any() else None,
        sources=cells.sources.filter(pl.Series(formulas[cells.formulas])),
    )


# Refuses a sheet in which a cell stands twice: no program writes that, and programs differ in which one they read.

_MOST_KEPT = 2**20  # cells whose places are kept: a sheet of more cells has them in order


class OrderCheck:
    """Compares the places of the cells of a sheet as they are read; most sheets have their cells in order."""

    def __init__(self) -> None:
        self._last = -1
        self._kept: list[tuple[Positions, Positions]] = []  # rows and columns
        self._sorted: Positions = np.zeros(0, np.int64)  # places of cells that were kept earlier
        self._count = 0

    def check(self, cells: RawCells) -> None:
        """Compare the next cells of the sheet with all cells before them.

        Raises:
            FormatError: a cell stands twice in the sheet, or cells are in another order in a sheet of very many.
        """
        rows, columns = cells.rows, cells.columns
        last = int(rows[-1]) * MOST_COLUMNS + int(columns[-1])
        if int(rows[0]) * MOST_COLUMNS + int(columns[0]) <= self._last or not (
            cells.width or (np.diff(rows * MOST_COLUMNS + columns) > 0).all()
        ):
            if self._count + len(cells) > _MOST_KEPT:
                reason = f"the cells of this sheet are not in order, and it has more than {_MOST_KEPT:,}"
                place = cell_address(int(rows[0]), int(columns[0]))
                raise FormatError(reason, location=place, hint="save the workbook again in a spreadsheet program")
            places = [rows * MOST_COLUMNS + columns for rows, columns in [*self._kept, (rows, columns)]]
            self._sorted, self._kept = np.sort(np.concatenate([self._sorted, *places]), kind="stable"), []  # a merge
            twice = self._sorted[1:][np.diff(self._sorted) == 0]
            if len(twice):
                place = cell_address(*divmod(int(twice[0]), MOST_COLUMNS))
                raise FormatError("the cell occurs twice in the sheet", location=place)
            last = int(self._sorted[-1])
        elif self._count < _MOST_KEPT:
            self._kept.append((rows, columns))
        self._count += len(cells)
        self._last = max(self._last, last)


# The titles of the sheets that a workbook lists, and where each sheet is.

MOST_SHEETS = 10_000  # that a workbook may have
MOST_TABLES = 2_500  # sheets of an .ods or an old workbook, each of which takes 3 ms


class Titles:
    """The titles of the worksheets of a workbook, and where each is.

    `part`: the part of the package that lists them, for messages; None if the workbook is no package.

    Attributes:
        places: where each worksheet is, by its title, in the order listed: the name of its part, or its first byte.
    """

    def __init__(self, part: str | None = None) -> None:
        self._part = part
        self.places: dict[str, str] = {}
        self._seen: set[str] = set()
        self._used: set[str] = set()

    def add(self, title: str, place: str) -> None:
        """Add a sheet; another one of its title, compared without case, or of its place, is refused."""
        if title.casefold() in self._seen:
            raise FormatError(f"two sheets have the title {title!r:.80}", location=self._part)
        if place in self._used:
            raise FormatError(f"the sheet {title!r:.80} refers to the part of another sheet", location=self._part)
        if len(self.places) >= MOST_SHEETS:
            raise FormatError(f"more than {MOST_SHEETS} sheets", location=self._part)
        self._seen.add(title.casefold())
        self._used.add(place)
        self.places[title] = place

    def add_related(self, title: str, id_: str | None, relations: Mapping[str, Relation]) -> None:
        """Add a sheet that the list names by the id of a relation, if it is a worksheet.

        `id_`: of the relation to the sheet's part; none for a module of macros that was kept from Excel 95.
        """
        relation = relations.get(id_) if id_ else None
        if id_ and (relation is None or relation.target is None):
            raise FormatError(f"the sheet {title!r:.80} refers to no part of the package", location=self._part)
        if relation is not None and relation.target is not None and relation.kind == "worksheet":
            self.add(title, relation.target)


# The cells of some rows of a sheet, sorted by their positions, so that any of them can be looked up.

ROW = 2**31  # the position of a cell is its row times this, plus its column


class SomeRuns:
    """The cells of some rows: added run by run, sorted by row and column once, then looked up."""

    def __init__(self) -> None:
        self._cell_runs: list[CellRun] = []

    def __len__(self) -> int:
        """Return the number of cells; only after `sort`."""
        return len(self._positions)

    def add(self, run: CellRun) -> None:
        """Add the cells of a run; only before `sort`."""
        if len(run):
            self._cell_runs.append(run)

    def sort(self) -> SomeRuns:
        """Sort the cells by row and column, and return this object."""
        import polars as pl

        positions, kinds = [np.zeros(0, np.int64)], [np.zeros(0, np.uint8)]
        values: list[pl.Series] = []
        for run in self._cell_runs:
            positions.append(run.rows * ROW + run.columns)
            kinds.append(run.kinds)
            values.append(run.values)
        unsorted = np.concatenate(positions)
        order = np.argsort(unsorted, kind="stable")
        self._positions: Positions = unsorted[order]
        self._kinds: Kinds = np.concatenate(kinds)[order]
        self._values = pl.concat(values or [pl.Series([], dtype=pl.String)])[order]
        self._cell_runs = []
        return self

    def cells(self) -> CellRun:
        """Return all cells as one run."""
        rows, columns = np.divmod(self._positions, ROW)
        return CellRun(rows, columns, self._kinds, self._values)

    def at(self, positions: Positions) -> tuple[Positions, CellRun]:
        """Return the indices of those positions at which a cell stands, and those cells."""
        index = np.searchsorted(self._positions, positions)
        known = np.minimum(index, max(len(self._positions) - 1, 0))
        match = np.flatnonzero(self._positions[known] == positions) if len(self._positions) else index[:0]
        selected = known[match]
        rows, columns = np.divmod(self._positions[selected], ROW)
        return match, CellRun(rows, columns, self._kinds[selected], self._values[selected])

    def between(self, request: Request) -> tuple[Positions, Kinds, pl.Series]:
        """Return the requested cells of a row: how far from the first requested one each stands, and what it is."""
        first = request.row * ROW + request.column
        end = request.row * ROW + (ROW if request.stop is None else request.stop)
        low, high = np.searchsorted(self._positions, [first, end]).tolist()
        return self._positions[low:high] - first, self._kinds[low:high], self._values[low:high]


# Cells as Python scalars, and those among them that hold a word of a header.

_FEW = 2**11  # cells of which plain Python is faster than the engine
_LONGEST_NUMBER = 1000  # characters
_DIGITS = re.compile("-?[0-9]{1,20}")
_DAY_ZERO = "1899-12-30"  # the date that stands for the number 0, where cells hold dates as such
_DAY = re.compile("([0-9]{4,5}-[0-9]{2}-[0-9]{2})(?:T00:00:00(?:[.,]0{1,9})?)?")


def words_of(run: CellRun) -> tuple[Positions, WordCodes]:
    """Return the indices of the cells that hold words of headers, and the codes of these words."""
    if len(run) <= _FEW:
        kinds, values = run.kinds.tolist(), run.values.to_list()
        codes = np.array(
            [  # most words are written as they are in `WORDS`
                (code_of(value) if (code := CODES.get(value)) is None else code) if kind == TEXT else NONE
                for kind, value in zip(kinds, values, strict=True)
            ],
            np.uint8,
        )
    else:
        import polars as pl

        texts = run.values.str.strip_chars().str.to_lowercase()
        coded = texts.replace_strict(CODES, default=NONE, return_dtype=pl.UInt8).fill_null(NONE).to_numpy()
        codes = np.where(run.kinds == TEXT, coded, NONE).astype(np.uint8)
    which = np.flatnonzero(codes != NONE)
    return which, codes[which]


def codes_of_words(texts: list[pl.Series]) -> list[int]:
    """Return the codes of the words of headers among some texts; a word that stands several times may come once."""
    import polars as pl

    some = pl.concat(texts) if texts else pl.Series([], dtype=pl.String)
    if len(some) > _FEW:
        some = some.unique()  # most texts of tables come again and again
    kinds, places = np.full(len(some), TEXT, np.uint8), np.arange(len(some))
    return words_of(CellRun(places, places, kinds, some))[1].tolist()


def scalars(run: CellRun, *, from_1904: bool) -> list[Cell]:
    """Return cells as Python scalars: numbers, text and booleans; dates as ISO text, errors as their names.

    A number that a format shows as a date, and that is not a date, such as a time of day, stays a number.
    """
    numeric = run.values.dtype.is_numeric()
    if numeric and ((run.kinds == NUMBER) | (run.kinds == LARGE)).all():
        return [int(value) if value.is_integer() and abs(value) <= 2.0**53 else value for value in run.values.to_list()]
    texts: list[Any] = (run.values.cast(str).str.strip_suffix(".0") if numeric else run.values).to_list()
    serials = np.flatnonzero(run.kinds == SERIAL)
    if len(serials):
        numbers = [_parse_number(texts[index]) for index in serials.tolist()]
        counts = [math.nan if isinstance(number, str) else number for number in numbers]  # a damaged cell may hold text
        dates = serials_to_dates(np.array(counts, float), from_1904=from_1904)
        for index, date, number in zip(serials.tolist(), dates, numbers, strict=True):
            texts[index] = number if date is None else date  # a time of day is no blank
    others = np.flatnonzero((run.kinds != TEXT) & (run.kinds != SERIAL))
    values: dict[tuple[int, str], Cell] = {}  # headers of very many arrays say the same
    for index, kind in zip(others.tolist(), run.kinds[others].tolist(), strict=True):
        cell = kind, texts[index]
        if cell not in values:
            values[cell] = scalar_of(*cell)
        texts[index] = values[cell]
    return texts


def scalar_of(kind: int, text: str) -> Cell:
    """Return a cell that is not a date as a Python scalar."""
    if kind in (NUMBER, LARGE):
        return _parse_number(text)
    if kind == BOOLEAN:
        return text.strip() in ("1", "true")
    return None if kind == PENDING else text


def number_shown(kind: int, text: str) -> int | float | None:
    """Return the number that a cell's format shows as a date or as a duration; None if it is unknown."""
    if kind in (SERIAL, DURATION):
        number = _parse_number(text)
        return number if isinstance(number, int | float) else None
    match = _DAY.fullmatch(text) if kind == MOMENT else None
    if match is None:
        return None
    try:
        day = np.datetime64(match[1] if len(match[1]) == len(_DAY_ZERO) else f"+{match[1]}", "D")
        return int((day - np.datetime64(_DAY_ZERO, "D")).astype(np.int64))
    except ValueError:
        return None  # no calendar has such a day


def _parse_number(text: str) -> Cell:
    if _DIGITS.fullmatch(text):
        return int(text)
    try:
        value = float(text[:_LONGEST_NUMBER])
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) <= 2.0**53 else value
