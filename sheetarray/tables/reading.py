"""A table of a sheet -> one array for each column: finds the rows of names and of data, then reads the columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import dtypes
from ..cells import TextLook, buffer_from_text
from ..columns import anchors_of_grid, cell_address, column_letters
from ..columns.column import count_filled_cells
from ..comparing import cast_exactly
from ..dtypes import Array, DType, Mask, Positions
from ..elements import Cell, Missing, Problem, Unreadable, decode, format_bool, is_blank, parse_string
from ..errors import DTypeError, FormatError, NotFoundError, check_kinds, quote_names, warn_caller
from ..linear import to_linear
from .cells import RawColumn, Table, TableColumn, TableSheet, crop_table
from .inferring import Inferred, infer
from .numerals import EXACT, WHITE, NumeralMarks, commas_are_decimal, is_lost, reads_as_value
from .options import DTypeLike, Shape, TableOptions

# A column under a dtype that the caller gives.

_NUMBERS = ("float", "complex", "int")


def parse_given_dtype(dtype: DTypeLike) -> DType:
    """Return the dtype that is meant: by a name of the format's, or by whatever NumPy takes for a dtype.

    Text is kept whole, however few characters `<U5` would hold.

    Raises:
        DTypeError: no dtype of the format is.

    Example:
        >>> [parse_given_dtype(dtype).name for dtype in ("string", "str", str, "<U5", "i4", "M8[s]")]
        ['string', 'string', 'string', 'string', 'int32', 'datetime64[s]']
    """
    try:
        return dtypes.from_name(dtype)
    except FormatError as error:
        try:
            known = np.dtype(dtype)
        except (TypeError, ValueError, SyntaxError):  # NumPy does not know it either
            raise DTypeError(str(error)) from None
    return dtypes.from_numpy(known)


def decode_given(
    texts: list[str | None], dtype: DType, marks: NumeralMarks, missing: Missing
) -> tuple[Array, list[Problem]]:
    """Return the values of a column under a dtype, and the cells that it cannot mean.

    `texts`: of the cells; None is a missing value. `missing`: "nan" makes missing values NaN and NaT; text has "" and
    generic columns None for them.
    """
    import polars as pl

    decimal = "."
    if dtype.kind in _NUMBERS:
        texts = _without_groups(texts, marks)
        decimal = marks.point
        if marks.is_plain and marks.decimal is None:
            held = [bare for text in texts if text and (bare := text.strip(WHITE))]
            decimal = "," if commas_are_decimal(held) else "."
    if dtype.kind == "datetime" and missing == "nan":
        texts = ["NaT" if text is None else text for text in texts]
    look = TextLook("," if decimal == "," else ".", "keep")
    if dtype.kind in ("string", "generic") or len(texts) > 1000:
        return buffer_from_text(pl.Series(texts, dtype=pl.String), dtype, look, missing=missing)
    return decode(texts, dtype, missing=missing, decimal=decimal)


def cast_column(values: Array, dtype: DTypeLike, missing: Missing) -> tuple[Array, list[Problem]]:
    """Return a column that has a dtype of its own under the one that is given, and the elements that it cannot mean.

    They are those of `decode_given`: no number wraps, or loses its decimals.

    Example:
        >>> values, problems = cast_column(np.array([2.0, 2.5]), "int8", "nan")
        >>> [(problem.index, problem.reason) for problem in problems]
        [(1, "expected an integer, found '2.5'")]
    """
    known = parse_given_dtype(dtype)
    if known.kind != "string" and (exact := cast_exactly(values, known.numpy)) is not None:
        return exact, []
    cells = to_linear(values)[-len(values) :] if len(values) else []
    texts = [None if cell is None else format_bool(cell) if isinstance(cell, bool) else str(cell) for cell in cells]
    return decode_given(texts, known, NumeralMarks(), missing)


def _without_groups(texts: list[str | None], marks: NumeralMarks) -> list[str | None]:
    """Return numbers without the marks between their thousands; other cells as they are."""
    if marks.thousands is None:
        return texts
    import re

    number = re.compile(marks.number)
    without = str.maketrans("", "", marks.group)
    return [
        text.translate(without) if text is not None and number.fullmatch(text.strip(WHITE)) else text for text in texts
    ]


# The names of a table's columns, and which of them a caller means.

_MOST_LISTED = 20  # names in a message


def name_columns(table: Table, rows: TableRows, notes: Notes) -> dict[str, int]:
    """Return the numbers of columns, counted from 0, by their names: the text in the rows of names, else the letter.

    A name that another column has already becomes `name_2`, or `name_3` if a further column is called `name_2`. Columns
    that have neither a name nor a cell are left out.
    """
    texts = {number: _name(table.columns[number], rows.names) for number in sorted(table.columns)}
    given = set(texts.values()) - {""}
    names: dict[str, int] = {}
    counts: dict[str, int] = {}  # by name, the last number that was appended to it: very many columns may share one
    for number, text in texts.items():
        if not text and not _holds_data(table.columns[number], rows):
            continue
        name = text or column_letters(number)
        if name in names or (not text and name in given):
            base, count = name, counts.get(name, 1) + 1
            while (name := f"{base}_{count}") in names or name in given:
                count += 1
            counts[base] = count
            address = cell_address(rows.name_row if rows.names else rows.row(0), number)
            notes.add("names", f"{base!r} is the name of another column, too, so this one is read as {name!r}", address)
        names[name] = number
    return names


def _name(column: RawColumn, rows: Sequence[int]) -> str:
    return " ".join(text for row in rows if (text := _text(column.cell(row))))


def _text(cell: Cell) -> str:
    if is_blank(cell) or isinstance(cell, Unreadable):
        return ""
    return format_bool(cell) if isinstance(cell, bool) else parse_string(cell).strip(WHITE)


def _holds_data(column: RawColumn, rows: TableRows) -> bool:
    if len(rows.data) and not is_blank(column.cell(int(rows.data[0]))):
        return True
    filled = column.mark_filled()
    data = rows.data
    if isinstance(data, range):
        return bool(filled[data.start : data.stop].any())
    return bool(filled[data[data < len(filled)]].any())


def select_names(names: Mapping[str, int], columns: Sequence[str] | None) -> list[str]:
    """Return the names that are meant, each once; a column's letter means it as well.

    Raises:
        NotFoundError: no such column; the message lists those that there are.
    """
    check_kinds(Collection | None, "a list of names, or one name", columns=columns)
    if columns is None:
        return list(names)
    by_letter = {column_letters(number): name for name, number in names.items()}
    selected = []
    for column in [columns] if isinstance(columns, str) else columns:
        name = column if column in names else by_letter.get(column)
        if name is None:
            raise NotFoundError(f"no column {column!r}; there is {quote_names(list(names), _MOST_LISTED)}")
        selected.append(name)
    return list(dict.fromkeys(selected))


# Remarks on what was accepted while a table was read: one warning of each kind, at the caller's line.


class Notes:
    """The remarks on a table, by kind.

    `title`: of the sheet, for addresses; None where there is only one.
    """

    def __init__(self, title: str | None = None) -> None:
        self._title = title
        self._kinds: dict[str, list[tuple[str, str]]] = {}

    def add(self, kind: str, message: str, address: str) -> None:
        """Note something that was accepted; the warning has the first message of each kind, and the count of others."""
        self._kinds.setdefault(kind, []).append((message, address))

    def warn(self) -> None:
        """Issue the warnings."""
        for notes in self._kinds.values():
            message, address = notes[0]
            location = address if self._title is None else f"{self._title}!{address}"
            more = f" (and {len(notes) - 1} more)" if len(notes) > 1 else ""
            warn_caller(f"{location}: {message}{more}")


_TOO_LONG = 'a number with more digits than a double holds: the column is text (dtype="float64" rounds it)'
_BLANKS_ALWAYS, _BLANKS_TIMES = 2**23, 32  # blanks that a table may have, and how many more for each other cell
_CELLS_AT_ONCE = 2**21  # cells of columns that are taken together
_HEAD = 20_000  # cells at the beginning of a sheet in which an array of the exchange format is looked for
_ROWS_OF_ANCHOR = 5  # a name, the three cells of an anchor, and a row that may be cut short
_WIDE_HEAD = 2**20  # cells that are looked at instead, if `_HEAD` cells make fewer rows than `_ROWS_OF_ANCHOR`


def read_table(
    sheet: TableSheet, columns: Sequence[str] | None = None, options: TableOptions | None = None
) -> dict[str, Array]:
    """Return the columns of a table as arrays, by name.

    `columns`: names (or letters) of the columns that are wanted; None for all. `options`: what the caller says of the
    table; None for nothing.

    Raises:
        FormatError: there is no table, a cell does not fit the dtype, or a column does not fill its shape.
        NotFoundError: no such column, or no such range.
    """
    options = options or TableOptions()
    area = options.area
    if area is None:
        _refuse_arrays(sheet)
        table = sheet.table()
    else:
        table = crop_table(sheet.table(), area)
        if isinstance(options.skip_rows, int):
            options = replace(options, skip_rows=area.top + options.skip_rows)
    rows = select_rows(table, options)
    notes = Notes(sheet.title)
    names = name_columns(table, rows, notes)
    by_name: dict[str, Any] = {
        option: {select_names(names, name)[0]: value for name, value in given.items()}
        for option, given in (("dtype", options.dtype), ("shape", options.shape))
        if isinstance(given, Mapping)
    }
    options = replace(options, **by_name)
    wanted = {name: names[name] for name in select_names(names, columns)}
    _refuse_blanks(table, rows, len(wanted))
    arrays = _TableReader(table, rows, options, notes).read(wanted)
    notes.warn()
    return arrays


def _refuse_arrays(sheet: TableSheet) -> None:
    """Refuse a sheet in which arrays of the exchange format stand."""
    grid, ended = sheet.head(_HEAD)
    if len(grid) < _ROWS_OF_ANCHOR and not ended:
        grid, _ = sheet.head(_WIDE_HEAD)
    for anchor in anchors_of_grid(grid):
        is_version = anchor.aliases == () and _is_version(grid, *anchor.cell(1))
        if anchor.header is None and not is_version:
            continue  # only words that a header has as well
        raise FormatError(
            f"an array of the exchange format, {anchor.name!r}, not an ordinary table",
            location=cell_address(anchor.row, anchor.column),
            hint="read it with sheetarray.read, or list all arrays with sheetarray info",
        )


def _is_version(grid: Sequence[Sequence[Cell]], row: int, column: int) -> bool:
    """Return whether a cell holds a version, even a damaged one."""
    cells = grid[row] if row < len(grid) else ()
    return column < len(cells) and any(sign.isdigit() for sign in str(cells[column]))


def _refuse_blanks(table: Table, rows: TableRows, count: int) -> None:
    """Refuse a table that is next to nothing but blanks, since cells stand alone far above or below it."""
    cells = len(rows.data) * count
    if table.held is not None and cells > _BLANKS_ALWAYS + _BLANKS_TIMES * table.held:
        raise FormatError(
            f"{table.held:,} cells, so far apart that the table has {len(rows.data):,} rows of {count:,} columns",
            location=cell_address(rows.name_row, min(table.columns)),
            hint="skip_rows= and skip_footer= skip what stands above or below a table",
        )


class _TableReader:
    """Turns the columns of a table into arrays."""

    def __init__(self, table: Table, rows: TableRows, options: TableOptions, notes: Notes) -> None:
        self.table, self.rows, self.options, self.notes = table, rows, options, notes

    def read(self, wanted: Mapping[str, int]) -> dict[str, Array]:
        """Return the arrays of the columns that are wanted, which are given as a mapping of names to numbers."""
        arrays: dict[str, Array] = {}
        errors: list[tuple[int, int, str]] = []
        names = list(wanted)
        count = max(1, _CELLS_AT_ONCE // max(len(self.rows.data), 1))
        for first in range(0, len(names), count):
            some = {name: wanted[name] for name in names[first : first + count]}
            arrays |= self._read_some(some, errors)
        self._note_errors(errors)
        return arrays

    def _read_some(self, wanted: Mapping[str, int], errors: list[tuple[int, int, str]]) -> dict[str, Array]:
        """Return the arrays of a few columns, and note their error cells: index, number of the column, text."""
        cells = {number: self._take(number, name) for name, number in wanted.items()}
        given = {
            number: dtype
            for name, number in wanted.items()
            if (dtype := _option_for(self.options.dtype, name)) is not None
        }
        inferred = self._infer({number: column for number, column in cells.items() if number not in given})
        arrays: dict[str, Array] = {}
        for name, number in wanted.items():
            column, shape = cells[number], _option_for(self.options.shape, name)
            values = inferred.get(number)
            array = self._decode_given(column, given[number], name, number) if values is None else values
            arrays[name] = array if shape is None else self._reshape(array, column, shape, name, number)
            errors += [(index, number, text) for index, text in column.errors.items()]
        return arrays

    def _take(self, number: int, name: str) -> TableColumn:
        """Return the cells of a column, in which every cell that means a missing value is blank."""
        column = self.table.columns[number].take(self.rows.data)
        for index, cell in column.unreadable.items():
            raise self._error(number, index, name, cell.reason, cell.hint)
        if self.options.missing_texts:
            column = _without_missing(column, self.options)
        if self.options.missing == "error":
            for index, error in column.errors.items():
                raise self._error(number, index, name, f"an error, {error}", "missing='nan' reads errors as NaN")
            blank = _first_blank(column)
            if blank is not None:
                raise self._error(number, blank, name, "a blank cell", "missing='nan' reads blanks as NaN")
        return column

    def _infer(self, columns: Mapping[int, TableColumn]) -> dict[int, Array]:
        """Return the arrays of columns whose dtype the caller has not given."""
        arrays: dict[int, Array] = {}
        for number, column in columns.items():
            if column.typed is not None:
                known = Inferred(column.typed)
            elif column.numbers is not None:
                known = self._numbers(column, column.numbers)
            else:
                known = infer(column.to_infer(), self.options.marks)
            if known.long is not None:
                self.notes.add("digits", _TOO_LONG, cell_address(self.rows.row(known.long), number))
            arrays[number] = known.values
        return arrays

    def _numbers(self, column: TableColumn, numbers: Array) -> Inferred:
        """Return the array of a column of number cells; of their texts, if an integer has more digits than a double."""
        if column.texts is not None:
            texts = column.as_list()
            known = infer(texts, NumeralMarks())
            if known.values.dtype.kind not in "UT" or any(map(is_lost, texts, numbers.tolist())):
                return known
        return Inferred(_number_array(numbers))

    def _decode_given(self, column: TableColumn, dtype: DTypeLike, name: str, number: int) -> Array:
        kind = parse_given_dtype(dtype)
        texts = column.as_list()
        if kind.kind != "string":
            texts = [None if is_blank(text) else text for text in texts]
        values, problems = decode_given(texts, kind, self.options.marks, self.options.missing)
        for problem in problems:
            error = column.errors.get(problem.index)
            reason = problem.reason if error is None else f"expected {kind.name}, found an error, {error}"
            raise self._error(number, problem.index, name, reason, problem.hint)
        return values

    def _reshape(self, values: Array, column: TableColumn, shape: Shape, name: str, number: int) -> Array:
        count = _filled_cells(column)
        try:
            return values[:count].reshape(shape, order="F" if self.options.order == "column-major" else "C")
        except (ValueError, TypeError):
            raise self._error(number, 0, name, f"{count} cells do not fill the shape {shape!r:.80}") from None

    def _note_errors(self, errors: list[tuple[int, int, str]]) -> None:
        """Warn of error cells, which are read as missing values."""
        if errors:
            index, number, text = min(errors)
            count = f"{len(errors)} error cells, read as missing values; the first is" if len(errors) > 1 else ""
            message = f"{count} {text}" if count else f"an error cell, {text}, read as a missing value"
            self.notes.add("errors", message, cell_address(self.rows.row(index), number))

    def _error(self, number: int, index: int, name: str, reason: str, hint: str = "") -> FormatError:
        location = cell_address(self.rows.row(index), number)
        return FormatError(reason, location=location, element=f"{name}[{index}]", hint=hint)


def _option_for(option: Any, name: str) -> Any:
    return option.get(name) if isinstance(option, Mapping) else option


def _number_array(values: Array) -> Array:
    """Return int64 where every cell is a whole number that a double keeps, else float64 with NaN for blanks."""
    with np.errstate(invalid="ignore"):
        whole = (values == np.rint(values)) & (np.abs(values) < EXACT) & ((values != 0) | ~np.signbit(values))
    if len(values) and whole.all():
        return values.astype(np.int64)
    return values if values.base is None else values.copy()  # a view would keep all columns in memory


def _without_missing(column: TableColumn, options: TableOptions) -> TableColumn:
    """Return a column in which the caller's own missing values are blanks."""
    texts, numbers = options.missing_texts, options.missing_numbers
    if column.numbers is not None:
        marks = [*numbers, *(float(text) for text in texts if _is_number(text))]
        numeric = np.where(np.isin(column.numbers, marks), np.nan, column.numbers)
        return TableColumn(None, numeric, column.errors, column.unreadable)
    cells = [
        None if text is not None and ((bare := text.strip(WHITE)) in texts or _equals(bare, numbers)) else text
        for text in column.as_list()
    ]
    return TableColumn(cells, None, column.errors, column.unreadable)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _equals(text: str, numbers: Sequence[float]) -> bool:
    return bool(numbers) and _is_number(text) and float(text) in numbers


def _first_blank(column: TableColumn) -> int | None:
    """Return the index of the first blank; None if no cell is blank."""
    if column.typed is not None:
        return None
    if column.numbers is not None:
        blanks = np.flatnonzero(np.isnan(column.numbers))
        return int(blanks[0]) if len(blanks) else None
    return next((index for index, text in enumerate(column.as_list()) if is_blank(text)), None)


def _filled_cells(column: TableColumn) -> int:
    """Return the number of cells up to the last that is not blank."""
    if column.numbers is not None:
        return int(np.flatnonzero(~np.isnan(column.numbers)).max(initial=-1)) + 1
    return count_filled_cells(column.as_list())


# Selects the rows of a sheet in which the names and the data of a table stand.


@dataclass(frozen=True)
class TableRows:
    """The rows of a table."""

    table: Table  # whose rows they are
    names: list[int]  # the rows that hold the names of columns
    data: range | Positions  # the rows that hold data, ascending

    def row(self, index: int) -> int:
        """Return the row in the sheet of a cell of a column, by its index."""
        return self.table.row_of(int(self.data[index])) if index < len(self.data) else self.name_row

    @property
    def name_row(self) -> int:
        """The last row of the sheet that holds names; the first row if none does."""
        return self.table.row_of(self.names[-1]) if self.names else 0


def select_rows(table: Table, options: TableOptions) -> TableRows:
    """Return the rows that hold the names and the data of a table.

    Rows without a cell count within the table, and neither above nor below it.

    Raises:
        FormatError: no row holds anything, or there are fewer than those of names.
    """
    rows = _take_rows(table, options)
    if not len(rows):
        raise _empty_table_error(table, options)
    if len(rows) < int(options.header or 0):
        raise FormatError(
            f"header={int(options.header or 0)}, but the table ends after row {table.row_of(int(rows[-1])) + 1}",
            hint=f"it has {len(rows)} {'row' if len(rows) == 1 else 'rows'}, including the rows of names",
        )
    if options.header is None:
        count = int(has_names([column.cell(int(rows[0])) for column in table.columns.values()]))
    else:
        count = int(options.header)
    return TableRows(table, [int(row) for row in rows[:count]], rows[count:])


def _empty_table_error(table: Table, options: TableOptions) -> FormatError:
    """Return an error that says that a table has no rows, and names the options that passed over all there were."""
    filled, _ = _filled_rows(table, None)
    if not filled.any():
        return FormatError("an empty table")
    given = [f"skip_rows={options.skip_rows!r:.40}"] if options.skipped_above or options.skipped_rows else []
    given += [f"skip_footer={options.skip_footer}"] if options.skip_footer else []
    given += [f"comment={options.comment!r}"] if options.comment is not None else []
    count = int(np.count_nonzero(filled))
    return FormatError(
        f"an empty table: {' and '.join(given) or 'its options'} skipped all of its rows",
        hint=f"{count} {'row holds' if count == 1 else 'rows hold'} something, down to row "
        f"{table.row_of(int(np.flatnonzero(filled)[-1])) + 1}",
    )


def has_names(cells: list[Cell]) -> bool:
    """Return whether a first row holds names: some cell of it reads neither as a number nor as a date or a boolean."""
    return any(isinstance(cell, str) and not is_blank(cell) and not reads_as_value(cell) for cell in cells)


def _take_rows(table: Table, options: TableOptions) -> range | Positions:
    """Return the rows from the first that holds something to the last, without those that are passed over."""
    above = max(table.first, table.index_of(options.skipped_above))
    counts = np.ones(table.height, dtype=bool)
    counts[:above] = False
    skipped = [(row, table.index_of(row)) for row in options.skipped_rows]
    counts[[index for row, index in skipped if index < table.height and table.row_of(index) == row]] = False
    filled, comments = _filled_rows(table, options.comment)
    counts[comments] = False
    held = np.flatnonzero(filled & counts)
    if options.skip_footer:
        held = held[: max(0, len(held) - options.skip_footer)]
    if not len(held):
        return range(0)
    first, end = int(held[0]), int(held[-1]) + 1
    return range(first, end) if counts[first:end].all() else first + np.flatnonzero(counts[first:end])


def _filled_rows(table: Table, comment: str | None) -> tuple[Mask, Mask]:
    """Return masks of the rows that hold something, and of those that begin with the mark of a comment."""
    filled, comments = np.zeros(table.height, dtype=bool), np.zeros(table.height, dtype=bool)
    for number in sorted(table.columns):
        column = table.columns[number]
        if comment is not None:
            rows = column.begins(comment)
            rows = rows[rows < table.height]
            comments[rows[~filled[rows]]] = True
        held = column.mark_filled()[: table.height]
        filled[: len(held)] |= held
        if comment is None and filled.all():
            break  # one full column says it of all
    filled[: table.first] = False
    if comment is not None and table.are_quoted is not None and comments.any():
        rows = np.flatnonzero(comments)
        comments[rows[table.are_quoted([table.row_of(int(row)) for row in rows], comment)]] = False
    return filled, comments
