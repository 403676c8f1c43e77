"""Makes an array of each column: in the dtype that the caller gives, or in one that loses nothing.

The marks of numbers are decided for the whole file: a number in one column may prove the decimal comma of another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..changes.elements import cast_exactly
from ..columns import cell_address, keep_errors
from ..columns.column import count_filled_cells
from ..dtypes import Array, DType
from ..elements import MissingOption, is_blank, unescape_texts
from ..errors import FormatError
from .cells import Table, TableColumn
from .doubts import Doubt
from .given import NUMBERS, decode_given, parse_given_dtype
from .inferring import Inferred, are_numerals, infer
from .moments import are_held_dates, read_formatted
from .numerals import APART, EXACT, MarksLook, NumeralMarks, is_lost, look_at_marks
from .options import DTypeLike, Shape, TableOptions
from .rows import TableRows

_ROWS_OF_MARKS = 2**12  # in which another decimal mark is looked for, to name its cell
_CELLS_AT_ONCE = 2**21  # cells of columns that are taken together
_TOO_LONG = "a number with more digits than a double holds: the column is text"
_COMMAS = "every comma of column {!r} could part thousands: the column is text"
_GROUPS = "every point of column {!r} could part thousands: the column is text"
_APART = "every {!r} in column {!r} could part thousands: the column is text"
_MIXED = "some numbers of column {!r} have a decimal point, others a comma: the column is text"
_MIXED_HINT = "write all of them with one mark"
_NO_DATE = "{} has a format of dates and is none: it is read as {!r}, and the column is {}"
_POINTS = "every point of column {!r} could part thousands, and is read as the decimal mark"
_POINTS_HINT = "thousands='.' reads 1.234 as 1234, decimal='.' as it is"
_BOTH = "column {!r} has decimal points, other columns have decimal commas"


class ColumnReader:
    """Turns the columns of a table into arrays.

    `doubts`: takes what is doubtful. `title`: of the sheet, for errors that are kept; None where there is only one.

    Attributes:
        marks: of the numbers in the file; of the caller, or found while columns are read.
    """

    def __init__(
        self, table: Table, rows: TableRows, options: TableOptions, doubts: list[Doubt], title: str | None = None
    ) -> None:
        self.table, self.rows, self.options, self._doubts, self._title = table, rows, options, doubts, title
        self.marks = options.marks
        self._is_settled = options.decimal is not None or options.thousands is not None
        self._looks: dict[int, MarksLook] = {}

    def read(self, wanted: Mapping[str, int]) -> dict[str, Array]:
        """Return the arrays of the columns that are wanted, which are given as a mapping of names to numbers."""
        arrays: dict[str, Array] = {}
        errors: list[tuple[int, int, str]] = []
        names = list(wanted)
        count = max(1, _CELLS_AT_ONCE // max(len(self.rows.data), 1))
        for first in range(0, len(names), count):
            group = {name: wanted[name] for name in names[first : first + count]}
            arrays |= self._read_group(group, errors)
        if not self._is_settled and ({*self._looks.values()} - {None, "point"} or self.marks.decimal == ","):
            arrays |= self._settle_marks(wanted)
        if errors:
            self._note_errors(errors)
        return arrays

    def _read_group(self, wanted: Mapping[str, int], errors: list[tuple[int, int, str]]) -> dict[str, Array]:
        """Return the arrays of a few columns, and note their error cells: index, number of the column, text."""
        arrays: dict[str, Array] = {}
        for name, number in wanted.items():
            dtype, shape = _option_for(self.options.dtype, name), _option_for(self.options.shape, name)
            column = self._take(number, name, dtype)
            array = self._infer(column, number) if dtype is None else self._decode_given(column, dtype, name, number)
            arrays[name] = array if shape is None else self._reshape(array, column, shape, name, number)
            if not column.errors:
                continue
            of_cells = {
                index: self._error(number, index, name, f"an error, {text}") for index, text in column.errors.items()
            }
            if not self._keep(name, len(column), of_cells, are_missing=True):
                errors += [(index, number, text) for index, text in column.errors.items()]
        return arrays

    def _take(self, number: int, name: str, dtype: DTypeLike | None = None) -> TableColumn:
        """Return the cells of a column, in which every cell that means a missing value is blank; `dtype`: its own."""
        column = self.table.columns[number].take(self.rows.data)
        if column.unreadable:
            errors = {
                index: self._error(number, index, name, cell.reason, cell.hint)
                for index, cell in column.unreadable.items()
            }
            if not self._keep(name, len(column), errors):
                raise next(iter(errors.values()))
        if self.options.names_missing(dtype):
            column = _without_missing(column, self.options)
        if self.options.missing == "error":
            for index, error in column.errors.items():
                raise self._error(number, index, name, f"an error, {error}", "missing='nan' reads errors as NaN")
            blank = _first_blank(column)
            if blank is not None:
                raise self._error(number, blank, name, "a blank cell", "missing='nan' reads blanks as NaN")
        return column

    # A column whose dtype the caller has not given -------------------------------------------------------------

    def _infer(self, column: TableColumn, number: int) -> Array:
        if column.typed is not None:
            self._looks[number] = column.look
            return self._unescape(column.typed)
        if column.numbers is not None:
            inferred = self._numbers(column, column.numbers)
        else:
            inferred = self._infer_texts(column)
            self._looks[number] = inferred.look
        if column.not_dates:
            self._tell_no_dates(column, inferred.values, number)
        if inferred.long is not None:
            row = self.rows.row(inferred.long)
            self._doubts.append(Doubt("digits", _TOO_LONG, row, number, 'dtype="float64" rounds it'))
        return self._unescape(inferred.values)

    def _unescape(self, values: Array) -> Array:
        """Return texts without the apostrophe before what a spreadsheet would evaluate; other values as they are."""
        return unescape_texts(values) if self.table.formulas == "escape" and values.dtype.kind in "UT" else values

    def _tell_no_dates(self, column: TableColumn, values: Array, number: int) -> None:
        """Note a doubt about numbers whose cell format is a date, but that are no date."""
        not_dates = column.not_dates
        index = min(not_dates)
        what = "numbers" if values.dtype.kind in "iuf" else "text"
        more = f" ({len(not_dates) - 1:,} more are alike)" if len(not_dates) > 1 else ""
        message = _NO_DATE.format(f"{not_dates[index]:.15g}", column.as_list()[index], what) + more
        self._doubts.append(Doubt("dates", message, self.rows.row(index), number))

    def _infer_texts(self, column: TableColumn, marks: NumeralMarks | None = None) -> Inferred:
        texts = column.to_infer()
        if self.options.date_format is not None:
            listed = column.as_list()
            read = read_formatted(listed, self.options.date_format)
            if all(before != after or is_blank(before) for before, after in zip(listed, read, strict=True)):
                texts = read
        inferred = infer(texts, self.options.marks if marks is None else marks, nullable=self.options.nullable)
        if column.text_cells is not None and self._is_text(column, column.text_cells(), inferred.values):
            return infer(texts, self.options.marks, as_text=True)
        return inferred

    def _is_text(self, column: TableColumn, text_cells: Sequence[str], values: Array) -> bool:
        """Return whether a column stays text: all of its cells are typed as text, although they look like values."""
        kind = values.dtype.kind
        if kind not in "iufbM":
            return False
        if kind in "bM" and (not self.table.is_foreign or self.options.date_format is not None):
            return False
        texts, listed = [text for text in text_cells if text.strip()], column.as_list()
        if not texts or len(texts) < len(listed) - listed.count(None) - listed.count(""):
            return False
        return are_held_dates(values) if kind == "M" else kind == "b" or self.table.is_foreign or are_numerals(texts)

    def _numbers(self, column: TableColumn, numbers: Array) -> Inferred:
        """Return the array of a column of number cells; of their texts, if an integer has more digits than a double."""
        if column.texts is not None:
            texts = column.as_list()
            inferred = infer(texts, NumeralMarks())
            if inferred.values.dtype.kind not in "UT" or any(map(is_lost, texts, numbers.tolist())):
                return inferred
        return Inferred(_number_array(numbers))

    # The marks of numbers --------------------------------------------------------------------------------------

    def _settle_marks(self, wanted: Mapping[str, int]) -> dict[str, Array]:
        """Read columns again whose marks another column has decided; note what stays doubtful."""
        names = {number: name for name, number in wanted.items()}
        for number, look in self._looks.items():
            if look == "apart":
                self._tell_apart(number, names[number])
            elif look == "mixed":
                self._tell_mixed(number, names[number])
        unclear = [number for number, look in self._looks.items() if look in ("points", "groups", "commas")]
        if "both" in self._looks.values():
            self.marks = NumeralMarks(",", ".")
        elif "comma" in self._looks.values() or (unclear and self._is_comma_proven()):
            self.marks = NumeralMarks(",")
        arrays: dict[str, Array] = {}
        points = any(look == "point" for look in self._looks.values())
        for number in unclear:
            name, look = names[number], self._looks[number]
            if self.marks.decimal == "," and not points:
                if look != "commas":
                    self.marks = NumeralMarks(",", ".")
                column = self._take(number, name)
                array = self._infer_texts(column, NumeralMarks(",", None if look == "commas" else ".")).values
                shape = _option_for(self.options.shape, name)
                arrays[name] = array if shape is None else self._reshape(array, column, shape, name, number)
            elif look == "commas":
                hint = "decimal=',' or thousands=',' makes it numbers"
                self._doubts.append(Doubt("marks", _COMMAS.format(name), self.rows.row(0), number, hint))
            elif look == "groups":
                hint = "thousands='.' makes it numbers"
                self._doubts.append(Doubt("marks", _GROUPS.format(name), self.rows.row(0), number, hint))
            elif self.marks.decimal == "," or (not points and self._is_delimited_by_semicolons):
                self._doubts.append(Doubt("marks", _POINTS.format(name), self.rows.row(0), number, hint=_POINTS_HINT))
        if points and self.marks.decimal == ",":
            number = next(number for number, look in self._looks.items() if look == "point")
            hint = "decimal= decides it for all"
            self._doubts.append(Doubt("both marks", _BOTH.format(names[number]), self.rows.row(0), number, hint))
        return arrays

    def _tell_apart(self, number: int, name: str) -> None:
        """Note a column in which blanks or apostrophes could part thousands."""
        texts = [text for text in self._take(number, name).as_list() if text]
        mark = next(mark for mark in APART if any(mark in text for text in texts))
        has_commas = any("," in text for text in texts)
        hint = f"thousands={mark!r}{', decimal=' + repr(',') if has_commas else ''} makes it numbers"
        self._doubts.append(Doubt("marks", _APART.format(mark, name), self.rows.row(0), number, hint))

    def _tell_mixed(self, number: int, name: str) -> None:
        """Note the first number whose decimal mark is not that of the numbers above it, or the first one of all if that
        stands very far below.
        """
        rows = [int(row) for row in self.rows.data[:_ROWS_OF_MARKS]]
        cells = [str(cell) for cell in self.table.columns[number].cells(rows)]
        firsts = [next((place for place, cell in enumerate(cells) if mark in cell), 0) for mark in ",."]
        index = max(firsts)
        self._doubts.append(Doubt("mixed marks", _MIXED.format(name), self.rows.row(index), number, _MIXED_HINT))

    @property
    def _is_delimited_by_semicolons(self) -> bool:
        """Whether `;` delimits the text, as programs write CSV where the comma is the decimal mark."""
        return self.table.marks is not None and self.table.marks.delimiter == ";"

    def _is_comma_proven(self) -> bool:
        """Return whether a column that was not looked at so far proves the decimal comma."""
        for number, column in self.table.columns.items():
            if number not in self._looks:
                cells = column.take(self.rows.data)
                self._looks[number] = None
                if cells.typed is None and cells.numbers is None and look_at_marks(cells.as_list()) == "comma":
                    return True
        return False

    def _is_point_proven(self) -> bool:
        """Return whether a number of any column has a point that cannot part thousands."""
        for column in self.table.columns.values():
            cells = column.take(self.rows.data)
            look = cells.look if cells.typed is not None else None
            if look == "point" or (
                cells.typed is None and cells.numbers is None and look_at_marks(cells.as_list()) == "point"
            ):
                return True
        return False

    # A column under a dtype ------------------------------------------------------------------------------------

    def _decode_given(self, column: TableColumn, dtype: DTypeLike, name: str, number: int) -> Array:
        kind = parse_given_dtype(dtype)
        if (cast := _cast_numbers(column, kind, self.options.missing)) is not None:
            return cast
        texts = column.as_list()
        if kind.kind != "string":
            texts = [None if is_blank(text) else text for text in texts]
        marks = self.options.marks
        if kind.kind in NUMBERS and not self._is_settled:
            marks = self._find_marks(texts, name, number)
        options = self.options
        formulas = "typed" if name in options.marked else self.table.formulas
        values, problems = decode_given(texts, kind, marks, options.missing, options.date_format, formulas)
        errors: dict[int, FormatError] = {}
        for problem in problems:
            error = column.errors.get(problem.index)
            reason = problem.reason if error is None else f"expected {kind.name}, found an error, {error}"
            wrong = self._error(number, problem.index, name, reason, problem.hint)
            errors |= dict.fromkeys(range(problem.index, len(column) if problem.rest else problem.index + 1), wrong)
        if not self._keep(name, len(column), errors):
            for first in errors.values():
                raise first
        return values

    def _find_marks(self, texts: Sequence[str | None], name: str, number: int) -> NumeralMarks:
        """Return the marks of a column of numbers whose dtype is given."""
        look = look_at_marks(texts)
        if look == "comma":
            self._looks[number] = None
            self.marks = NumeralMarks(",")
            has_both = any(text is not None and "." in text for text in texts)
            return NumeralMarks(",", "." if has_both else None)
        if look in ("points", "commas") and self._is_comma_proven():
            return NumeralMarks(",", "." if look == "points" else None)
        if look == "points" and self._is_delimited_by_semicolons and not self._is_point_proven():
            self._doubts.append(Doubt("marks", _POINTS.format(name), self.rows.row(0), number, hint=_POINTS_HINT))
        return self.options.marks

    def _reshape(self, values: Array, column: TableColumn, shape: Shape, name: str, number: int) -> Array:
        count = _filled_cells(column)
        try:
            return values[:count].reshape(shape, order="F" if self.options.order == "column-major" else "C")
        except (ValueError, TypeError):
            raise self._error(number, 0, name, f"{count} cells do not fill the shape {shape!r:.80}") from None

    def _note_errors(self, errors: list[tuple[int, int, str]]) -> None:
        """Note error cells, which are read as missing values."""
        index, number, text = min(errors)
        count = f"{len(errors)} error cells, read as missing values; the first is" if len(errors) > 1 else ""
        message = f"{count} {text}" if count else f"an error cell, {text}, read as a missing value"
        self._doubts.append(Doubt("errors", message, self.rows.row(index), number))

    def _keep(self, name: str, count: int, errors: Mapping[int, FormatError], *, are_missing: bool = False) -> bool:
        """Keep the errors of cells, by index, if a caller asks for them; otherwise return False."""
        is_keeping = keep_errors(name, count, errors, are_missing=are_missing)
        for error in errors.values() if is_keeping and self._title is not None else ():
            error.location = f"{self._title}!{error.location}"
        return is_keeping

    def _error(self, number: int, index: int, name: str, reason: str, hint: str = "") -> FormatError:
        location = cell_address(self.rows.row(index), number)
        return FormatError(reason, location=location, element=f"{name}[{index}]", hint=hint)


def _option_for(option: Any, name: str) -> Any:
    return option.get(name) if option is not None and isinstance(option, Mapping) else option


def _cast_numbers(column: TableColumn, dtype: DType, missing: MissingOption) -> Array | None:
    """Return a column of numbers as float64 or whole numbers; None where cells have to be looked at one by one."""
    values = column.numbers
    if values is None or column.texts is not None or column.errors or column.unreadable or column.not_dates:
        return None
    if dtype.name == "float64" and (missing == "nan" or not np.isnan(values).any()):
        return values.copy()
    return cast_exactly(values, dtype.numpy) if dtype.kind == "int" and (np.abs(values) < EXACT).all() else None


def _number_array(values: Array) -> Array:
    """Return int64 where every cell is a whole number that a double keeps, else float64 with NaN for blanks."""
    if len(values) and float(values[0]).is_integer():  # as a rule, one cell says it of columns of fractions
        with np.errstate(invalid="ignore"):
            whole = (values == np.rint(values)) & (np.abs(values) < EXACT) & ((values != 0) | ~np.signbit(values))
        if whole.all():
            return values.astype(np.int64)
    return values if values.base is None else values.copy()  # a view would keep all columns in memory


def _without_missing(column: TableColumn, options: TableOptions) -> TableColumn:
    """Return a column in which the caller's own missing values are blanks."""
    named = options.named_missing
    if column.numbers is not None:
        numeric = np.where(named.find(column.numbers), np.nan, column.numbers)
        return TableColumn(None, numeric, column.errors, column.unreadable)
    cells = [None if text is not None and named.holds_text(text) else text for text in column.as_list()]
    return TableColumn(cells, None, column.errors, column.unreadable)


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
