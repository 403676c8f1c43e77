"""Arrays, tables and edits as people have them: by hypothesis, or all of them drawn by one seed."""

from __future__ import annotations

import csv
import datetime
import io
import math
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import openpyxl
from addresses import column_letters
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sheetarray as sa
from sheetarray.testing.cases import CASES, TIMES, Array

# Hypothesis strategies of arrays: any dtype, bits, text, shape and layout.

NUMBERS = [
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "bool",
    *(f"{s}int{b}" for s in ("", "u") for b in (8, 16, 32, 64)),
]
UNITS = ["Y", "M", "D", "h", "s", "ms", "us", "ns", "as", "7s"]

# Text that a reader of CSV may stumble over. NumPy drops NULs at the end of its strings, so there are none.
CHARACTERS = st.one_of(
    st.sampled_from("\",;\t|\n\r'=+-@ .:0123456789eENaTRUdata\ufeff\x85\u2028\xa0"),
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"),
)
TEXTS = st.one_of(
    st.text(CHARACTERS, max_size=12),
    st.sampled_from(
        [
            *("", "version", "1.0.0", "ndarray", "data", "shape", "TRUE", "NaN", "007", "1,5", "1.5", "-0", "=1+1"),
            *("'", "''", '""', "\r\n", " "),
        ]
    ),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1000, 1000),
)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


@st.composite
def numbers(draw: Any, shapes: Any = SHAPES) -> Any:
    """Any bits whatever, under any dtype of numbers or times."""
    dtype = np.dtype(draw(st.sampled_from([*NUMBERS, *(f"{kind}8[{unit}]" for kind in "Mm" for unit in UNITS)])))
    shape = draw(shapes)
    count = int(np.prod(shape))
    if dtype.kind == "b":
        return np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), dtype=bool).reshape(shape)
    if dtype.kind == "M":  # years that NumPy itself prints and reads
        low, high = (
            np.array(["-0400", "2400"], dtype="M8[Y]").astype(dtype).view(np.int64)
            if dtype != "M8[as]"
            else (-(10**18), 10**18)
        )
        near = st.one_of(st.integers(min(low, high), max(low, high)), st.just(np.iinfo(np.int64).min))
        return np.array(draw(st.lists(near, min_size=count, max_size=count)), dtype=np.int64).view(dtype).reshape(shape)
    content = draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize))
    return np.frombuffer(content, dtype=dtype).reshape(shape)


@st.composite
def arrays(draw: Any, texts: Any = TEXTS) -> Any:
    """Any array of any dtype, in any layout of memory."""
    kind = draw(st.sampled_from(["number", "number", "string", "generic"]))
    if kind == "number":
        array = draw(numbers())
    else:
        shape = draw(SHAPES)
        count = int(np.prod(shape))
        values = draw(st.lists(texts if kind == "string" else texts | SCALARS, min_size=count, max_size=count))
        array = np.empty(count, dtype=object)
        array[:] = values
        array = (array.astype(np.str_) if kind == "string" else array).reshape(shape)
    return draw(layouts(array))


@st.composite
def layouts(draw: Any, array: Any) -> Any:
    if array.ndim and draw(st.booleans()):
        array = array.transpose(draw(st.permutations(range(array.ndim))))
    if draw(st.booleans()):
        array = np.asfortranarray(array)
    if array.ndim and draw(st.booleans()):
        step = st.sampled_from(
            [slice(None), slice(None, None, -1), slice(1, None), slice(None, None, 2), slice(None, None, -2)]
        )
        array = array[tuple(draw(step) for _ in range(array.ndim))]
    if draw(st.booleans()):
        array = np.broadcast_to(array, (2, *array.shape))
    if array.dtype.kind not in "bO" and draw(st.booleans()):
        array = array.astype(array.dtype.newbyteorder(">"))
    return array


# Random mixtures as people have them: arrays of many dtypes and lengths in one file, and tables of mixed columns.
#
# One seed makes one mixture, so that whatever fails can be had again by its seed.

Random = np.random.Generator
Column = list[Any]

_LONGEST = 2000
_MOST_ARRAYS = 300


# Arrays --------------------------------------------------------------------------------------------------------


def random_arrays(seed: int, dtypes: Collection[str], *, most_cells: int) -> dict[str, Array]:
    """Return 1 to 300 arrays of 0 to 2,000 elements by name.

    Args:
        seed: of the mixture; another one gives another.
        dtypes: those that may be drawn, with "datetime64" and "timedelta64" for every unit.
        most_cells: the number of elements in all, as far as one array of each length has room in it.
    """
    random = np.random.default_rng(seed)
    kinds = sorted(dtypes)
    if random.random() < 0.6:  # a few kinds beside each other, or all
        kinds = random.choice(kinds, min(len(kinds), int(random.integers(1, 5))), replace=False).tolist()
    count = _draw_size(random, _MOST_ARRAYS)
    arrays: dict[str, Array] = {}
    for number, length in enumerate(_draw_lengths(random, count, most_cells)):
        name = _draw_name(random, number)
        if arrays and random.random() < 0.1:
            arrays[name] = arrays[_choose(random, list(arrays))]
            continue
        arrays[name] = _draw_layout(random, _draw_elements(random, _choose(random, kinds), length))
    return arrays


def random_elements(seed: int, dtype: str, length: int) -> Array:
    """Return a 1-D array of a dtype; its elements are all different, few that are repeated, or one."""
    return _draw_elements(np.random.default_rng(seed), dtype, length)


def _choose(random: Random, some: Sequence[Any]) -> Any:
    """Return one of some things; `Generator.choice` takes ten times as long."""
    return some[int(random.integers(len(some)))]


def _draw_size(random: Random, most: int) -> int:
    """Return a number from 1 to `most`: small ones, middling ones and large ones are equally likely."""
    return min(most, math.ceil(most ** random.random()))


def _draw_lengths(random: Random, count: int, most_cells: int) -> Iterator[int]:
    """Yield the number of elements of each array."""
    longest = max(1, min(_LONGEST, most_cells // count))
    usual = _draw_size(random, longest)
    mode = random.choice(["equal", "few", "any"])
    lengths = [usual, _draw_size(random, longest), max(usual - 1, 0)]
    for _ in range(count):
        if random.random() < 0.02:
            yield int(random.integers(0, 2))
        elif mode == "equal":
            yield usual
        elif mode == "few":
            yield int(random.choice(lengths))
        else:
            yield _draw_size(random, longest)


def _draw_name(random: Random, number: int) -> str:
    return f"{_choose(random, ['v', 'x y', 'ü', 'run-'])}{number}"


def _draw_elements(random: Random, dtype: str, length: int) -> Array:
    """Return a 1-D array of a dtype; its elements are all different, few that are repeated, or one."""
    pool = int(random.choice([length, min(length, 3), min(length, 1)], p=[0.6, 0.3, 0.1]))
    elements = _draw_different(random, dtype, pool)
    if pool < length:
        elements = elements[random.integers(0, pool, length)]
    return elements


def _draw_different(random: Random, dtype: str, length: int) -> Array:
    """Return elements of a dtype: half of the time those that formats easily lose or change, else plain numbers."""
    case = CASES[_choose(random, [name for name in CASES if name.partition("[")[0] == f"dtype {dtype}"])]
    if dtype in ("string", "generic", "bool") or random.random() < 0.5:
        return case[random.integers(0, len(case), length)]
    return (
        (np.arange(length) * _choose(random, [1, 0.1, 1e-3, 7.25]))
        .astype("i8" if dtype in TIMES else dtype)
        .astype(case.dtype)
    )


def _draw_layout(random: Random, flat: Array) -> Array:
    """Return some elements as they are, or as an array without axes, with two, with three, or in another layout."""
    mode = random.choice(["flat", "0-d", "2-d", "F", "3-d", "reversed", "swapped"], p=[0.6, 0.05, *[0.07] * 5])
    length = len(flat)
    if mode == "0-d" and length:
        return flat[:1].reshape(())
    if mode == "reversed":
        return flat[::-1]
    if mode == "swapped" and flat.dtype.kind not in "bO":
        return flat.astype(flat.dtype.newbyteorder(">"))
    if mode in ("2-d", "F") and length % 2 == 0:
        wide = flat.reshape(-1, 2)
        return np.asfortranarray(wide) if mode == "F" else wide
    if mode == "3-d" and length % 6 == 0:
        return flat.reshape(2, 3, -1)
    return flat


# Tables --------------------------------------------------------------------------------------------------------

SEVERAL = "several"
KINDS = ("float", "integer", "text", "boolean", "date", "moment")


def random_table(
    seed: int, *, most_cells: int, size: tuple[int, int] | None = None, several: bool = False
) -> dict[str, Column]:
    """Return the columns of an ordinary table by name: values of one kind in each, and None for blanks.

    All numbers have at most 15 digits, which every writer keeps.

    Args:
        seed: of the table; another one gives another.
        most_cells: the number of cells, at least one row of each column.
        size: the numbers of rows and columns; None to draw 1 x 1 to 1,000 x 20, or 20 x 300.
        several: let some columns have values of several kinds.
    """
    random = np.random.default_rng(seed)
    if size is None:
        columns = _draw_size(random, 300 if random.random() < 0.3 else 20)
        size = _draw_size(random, max(1, min(1000, most_cells // columns))), columns
    rows, columns = size
    kinds = KINDS if random.random() < 0.7 else [_choose(random, KINDS), _choose(random, KINDS)]
    blanks = random.random() < 0.5
    mixed = random.choice([0.0, 0.1, 1.0]) if several else 0.0
    table: dict[str, Column] = {}
    values: Column = []
    for number in range(columns):
        if table and random.random() < 0.1:
            values = list(values)  # as the column before
        else:
            kind = SEVERAL if random.random() < mixed else _choose(random, kinds)
            values = _draw_column(random, kind, rows, blanks=blanks)
        if not number:
            values[-1] = next(value for value in values if value is not None)  # rows without any cell are no rows
        table[f"{_choose(random, ['v', 'x y', 'ü', 'n'])}{number}"] = values
    return table


def _draw_column(random: Random, kind: str, rows: int, *, blanks: bool) -> Column:
    pool = rows if random.random() < 0.7 else min(rows, 3)
    values = _draw_values(random, kind, pool)
    column = [values[index] for index in (range(rows) if pool == rows else random.integers(0, pool, rows))]
    if blanks and random.random() < 0.4:
        share = _choose(random, [0.02, 0.3, 0.9])
        blank = (random.random(rows) < share).tolist()
        column = [None if gone else value for value, gone in zip(column, blank, strict=True)]
    if None in column:
        column[int(random.integers(0, rows))] = values[0]
    return column


def _draw_values(random: Random, kind: str, count: int) -> Column:
    if kind == SEVERAL:
        columns = [_draw_values(random, one, count) for one in KINDS]
        chosen = random.integers(0, len(KINDS), count).tolist()
        return [columns[which][index] for index, which in enumerate(chosen)]
    if kind == "float":
        digits = _choose(random, [1, 3, 12])
        return [value + 0.0 for value in np.round(random.normal(size=count) * 100, digits).tolist()]
    if kind == "integer":
        most = _choose(random, [2, 1000, 10**14])
        return random.integers(-most, most, count).tolist()  # type: ignore[no-any-return]
    if kind == "boolean":
        return (random.random(count) < 0.5).tolist()  # type: ignore[no-any-return]
    if kind == "text":
        words = ["red", "green", "x", "a, b", 'say "no"', "two\nlines", "ü", "漢字", "<&>", "n°1", "😀", "y" * 40]
        if random.random() < 0.3:
            return [f"sample {number:03d}" for number in range(count)]
        return [words[index] for index in random.integers(0, len(words), count).tolist()]
    days = random.integers(0, 40_000, count).tolist()
    first = datetime.date(1930, 1, 1)
    if kind == "date":
        return [first + datetime.timedelta(days=day) for day in days]
    seconds = random.integers(0, 86_400, count).tolist()
    start = datetime.datetime(1930, 1, 1)
    return [start + datetime.timedelta(days=day, seconds=second) for day, second in zip(days, seconds, strict=True)]


# Sheets of arrays as people change them: edits that the contract calls harmless, on any kind of sheet.
#
# An edit knows four things that every spreadsheet program does: insert rows at the top, insert a column, move a
# column, and type into a cell. `Edited` keeps account of which array stands where, so that a test knows what must
# come back.

NOTES = ["note", "version", "ndarray", "data", "shape", "1.0.0", "7", "2,5", "-1.5", "a, b; c\td", 'say "x"', "TRUE"]
BEGINNINGS = ("version", "ndarray", "shape")  # two of them side by side are the broken beginning of an array
TABLE = [["country", "2019", "2020"], ["Å", "1.5", "2"], ["B", "-3", ""], ["C", "0.25", "1e3"]]
EDITS = ["above", "column", "column", "table", "formulas", "move", "stack", "notes"]


class Sheet(Protocol):
    """What can be done to a sheet; rows and columns count from 0, and arrays run down its columns."""

    def insert_rows(self, count: int) -> None:
        """Insert rows at the top."""

    def insert_column(self, at: int) -> None:
        """Insert a column."""

    def move_column(self, source: int, target: int) -> None:
        """Take a column out, and insert it where it then has another index."""

    def put(self, row: int, column: int, cell: Any) -> None:
        """Type into a cell; text that begins with = is a formula where there are any."""


class Rows:
    """Rows of cells as a sheet."""

    def __init__(self, rows: Sequence[Sequence[Any]], blank: Any = "", make: Callable[[Any], Any] = str) -> None:
        width = max(map(len, rows))
        self.rows = [[*row, *[blank] * (width - len(row))] for row in rows]
        self._blank, self._make = blank, make

    def insert_rows(self, count: int) -> None:
        self.rows[:0] = [[self._blank] * len(self.rows[0]) for _ in range(count)]

    def insert_column(self, at: int) -> None:
        for row in self.rows:
            row.insert(at, self._blank)

    def move_column(self, source: int, target: int) -> None:
        for row in self.rows:
            row.insert(target, row.pop(source))

    def put(self, row: int, column: int, cell: Any) -> None:
        while len(self.rows) <= row:
            self.rows.append([self._blank] * len(self.rows[0]))
        while len(self.rows[0]) <= column:
            self.insert_column(len(self.rows[0]))
        self.rows[row][column] = self._make(cell)


@dataclass
class Edited:
    """A sheet, and what must be read from it.

    Attributes:
        sheet: what is edited.
        owners: for each column the names of the arrays that run down it.
        ends: for each column how many rows of it are in use.
        named: whether names stand above the arrays.
        arrays: by name.
        top: the row in which the names stand, or the arrays begin.
        notable: what may still be typed; not two words that would be the beginning of an array.
        log: what was done.
    """

    sheet: Sheet
    owners: list[list[str]]
    ends: list[int]
    arrays: dict[str, Any]
    named: bool = True
    top: int = 0
    notable: list[str] = field(default_factory=lambda: list(NOTES))
    log: list[str] = field(default_factory=list)

    def expected(self, *, lying: bool = False) -> dict[str, Any]:
        """The arrays by the names under which they are to be read."""
        if self.named:
            return self.arrays
        return {
            str(column + 1) if lying else column_letters(column): self.arrays[names[0]]
            for column, names in enumerate(self.owners)
            if names
        }

    def insert(self, at: int, cells: dict[int, Any]) -> None:
        self.sheet.insert_column(at)
        self.owners.insert(at, [])
        self.ends.insert(at, max(cells, default=-1) + 1)
        for row, cell in cells.items():
            self.sheet.put(row, at, cell)

    def remark(self, draw: Any) -> str:
        """A note, or nothing."""
        cell: str = draw(st.sampled_from(["", *self.notable]))
        if cell in BEGINNINGS:
            self.notable = [other for other in self.notable if other not in BEGINNINGS]
        return cell

    # Edits ---------------------------------------------------------------------------------------------------

    def above(self, draw: Any) -> None:
        """Rows above everything, with notes.

        Above arrays without names no note stands right above one, and no two stand in one row: a note would be the
        name, and so would two above blanks, which is how names stand above headers of unlike heights.
        """
        count = draw(st.integers(1, 4))
        self.sheet.insert_rows(count)
        self.ends = [end + count for end in self.ends]
        self.top += count
        free = list(range(count if self.named else count - 1))
        for column, names in enumerate(self.owners):
            if free and (cell := self.remark(draw)):
                row = draw(st.sampled_from(free))
                self.sheet.put(row, column, cell)
                if names and not self.named:
                    free.remove(row)

    def column(self, draw: Any) -> None:
        """A column to the left, between or to the right, with a few notes in it, no two of them adjacent."""
        rows = draw(st.lists(st.integers(0, max(self.ends) // 2), max_size=4, unique=True))
        cells = {2 * row: self.remark(draw) for row in rows}
        self.insert(draw(st.integers(0, len(self.ends))), cells)

    def table(self, draw: Any) -> None:
        """An ordinary table beside the arrays or among them, at any height."""
        at, row = draw(st.integers(0, len(self.ends))), draw(st.integers(0, max(self.ends) + 2))
        for column in range(len(TABLE[0])):
            self.insert(at + column, {row + index: cells[column] for index, cells in enumerate(TABLE) if cells[column]})

    def formulas(self, draw: Any) -> None:
        """A column of formulas to the right of an array."""
        at = draw(st.integers(1, len(self.ends)))
        first, last = self.top, self.ends[at - 1] - 1
        rows = range(first, last + 1, draw(st.integers(1, 3)))
        self.insert(at, {row: f"={column_letters(at - 1)}{row + 1}*2" for row in rows})

    def move(self, draw: Any) -> None:
        """A column taken elsewhere."""
        source, target = draw(st.integers(0, len(self.ends) - 1)), draw(st.integers(0, len(self.ends) - 1))
        self.sheet.move_column(source, target)
        self.owners.insert(target, self.owners.pop(source))
        self.ends.insert(target, self.ends.pop(source))

    def stack(self, draw: Any) -> None:
        """One more array below another."""
        name = f"stacked {len(self.arrays)}"
        column, gap = draw(st.integers(0, len(self.ends) - 1)), draw(st.integers(0, 2))
        if not self.named or name in self.arrays:
            return
        array = draw(st.sampled_from([[5, -2], [[1, 2], [3, 4]], ["p", "data", "q"]]))
        cells = [name, *sa.to_linear(array)]
        for row, cell in enumerate(cells, self.ends[column] + (gap if self.owners[column] else gap + 1)):
            self.sheet.put(row, column, cell)
            self.ends[column] = row + 1
        self.owners[column].append(name)
        self.arrays[name] = sa.from_linear(cells[1:])

    def notes(self, draw: Any) -> None:
        """Notes below everything, in columns that no array runs down."""
        for column, names in enumerate(self.owners):
            if not names and (cell := self.remark(draw)):
                self.ends[column] += 2
                self.sheet.put(self.ends[column] - 1, column, cell)

    def edit(self, draw: Any, edits: Sequence[str] = EDITS, most: int = 5) -> None:
        """Any edits, one after another."""
        for edit in draw(st.lists(st.sampled_from(edits), max_size=most)):
            self.log.append(edit)
            getattr(self, edit)(draw)


# Rows that people add to sheets of arrays, or delete from them, alike in all columns: in CSV and through openpyxl.

NEW = {"f": 9.5, "i": 7, "u": 7, "b": True, "U": "new"}


@dataclass(frozen=True)
class Edit:
    """Rows of every array that are added or deleted.

    Attributes:
        kind: "insert" or "delete".
        first: the first of them.
        count: how many.
    """

    kind: Literal["insert", "delete"]
    first: int
    count: int

    def of_cells(self, cells: list[Any], row: int, new: Any) -> list[Any]:
        """The data cells of a column after the edit."""
        start, end = self.first * row, (self.first + self.count) * row
        if self.kind == "delete":
            return cells[:start] + cells[end:]
        return cells[:start] + [new] * (end - start) + cells[start:]

    def of_array(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """What the cells say after the edit."""
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        axis = array.ndim - 1 if order == "F" else 0
        if self.kind == "delete":
            edited = np.delete(array, np.s_[self.first : self.first + self.count], axis)
        else:
            edited = np.insert(array, [self.first] * self.count, NEW[array.dtype.kind], axis)
        return np.asarray(edited, order=order)


def written(path: Path, arrays: dict[str, Any]) -> Path:
    """A file of arrays."""
    sa.write(path, arrays)
    return path


def take_columns(rows: list[list[Any]], blank: Any) -> list[list[Any]]:
    """The columns of rows, without the blanks below them."""
    width = max(map(len, rows))
    columns = [list(column) for column in zip(*([*row, *[blank] * (width - len(row))] for row in rows), strict=True)]
    for column in columns:
        while column and column[-1] == blank:
            column.pop()
    return columns


@contextmanager
def edited_sheet(path: Path, title: str = "arrays") -> Iterator[Any]:
    """Give a sheet of a workbook to whoever edits it through openpyxl, and save the workbook."""
    book = openpyxl.load_workbook(path, keep_vba=path.suffix == ".xlsm")
    yield book[title]
    book.save(path)


def edit_cells(path: Path, edits: dict[str, Any], title: str = "arrays", target: Path | None = None) -> Path:
    """Type into cells by their addresses through openpyxl, which drops the values of formulas; perhaps in a copy."""
    path = path if target is None else shutil.copy(path, target)
    with edited_sheet(path, title) as sheet:
        for address, value in edits.items():
            sheet[address] = value
    return path


def get_columns(path: Path) -> list[list[Any]]:
    """The cells of a CSV file, or of a workbook's arrays, column by column."""
    if path.suffix == ".csv":
        return take_columns(list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))), "")
    sheet = openpyxl.load_workbook(path)["arrays"]
    return take_columns([[cell.value for cell in row] for row in sheet.iter_rows()], None)


def put_columns(path: Path, columns: list[list[Any]]) -> None:
    """Put other cells into such a file, whose cells keep their looks."""
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(zip_longest(*columns, fillvalue=""))
        return
    with edited_sheet(path) as sheet:
        rows = list(zip_longest(*columns))
        for number in range(max(sheet.max_row, len(rows))):
            for place in range(len(columns)):
                sheet.cell(number + 1, place + 1).value = rows[number][place] if number < len(rows) else None


def edit_rows(path: Path, arrays: dict[str, np.ndarray[Any, Any]], edit: Edit) -> None:
    """Edit the rows of all arrays of a file as it was written, names on top."""
    columns = get_columns(path)
    for column, array in zip(columns, arrays.values(), strict=True):
        slow = array.shape[-1 if array.ndim > 1 and not array.flags.c_contiguous else 0]
        begin, new = column.index("data") + 1, NEW[array.dtype.kind]
        new = str(new) if path.suffix == ".csv" else new
        column[begin:] = edit.of_cells(column[begin:], array.size // slow, new)
    put_columns(path, columns)
