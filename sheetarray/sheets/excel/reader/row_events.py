"""Rows of a worksheet, read by an XML parser: the plain way beside the compiled loop (`worksheet`).

Source: ECMA-376 part 1, 18.3.1.4 (c), 18.3.1.73 (row).
"""

from __future__ import annotations

import math
import re

import numpy as np

from ....columns import cell_address
from ....errors import FormatError
from ...workbooks import MOST_COLUMNS, MOST_ROWS, without_escapes
from .cells import FormulaArea, row_width
from .cutting import Scope
from .events import MarkupBudget, TextReader, parse_elements
from .formulas import CONSTANTS, find_area
from .raw import LOGICAL, NUMERALS, PLAIN, RESULT, TEXTS, TYPES, RawCells, position_error

MOST_IN_ROWS = 2_000_000  # elements of one worksheet that are read in this way
_REFERENCE = re.compile("([A-Za-z]{1,3})([0-9]{1,7})")
_ROW = re.compile("[0-9]{1,7}")
_NUMERAL = r"^-?[0-9]+(?:\.[0-9]+)?(?:\.?[eE][-+]?[0-9]+)?$"
_NOT_ZERO = "^-?[0.]*[1-9]"
_IN_ROW, _IN_CELL = 2, 3  # how many elements are open around a cell, and around its value
SHORT_FORMULA = 200  # bytes of a formula whose text is kept


def parse_rows(text: bytes, scope: Scope, *, after: int, name: str, budget: MarkupBudget) -> tuple[RawCells, int, bool]:
    """Return the cells of whole rows, the byte after the last of these, and whether the end of all rows stands there.

    `text`: from a row on; it may break off. `after`: the number of the row below those before, from 0, for a row that
    does not say its own. `budget`: the elements that may still be read of the part.

    Raises:
        FormatError: the text is no well-formed XML, has a reference or a type that cells do not have, or more elements
            than are left.
    """
    reader = _Rows(after)
    end, has_ended = parse_elements(text, scope, reader, tag="row", name=name, budget=budget)
    return reader.result(), end, has_ended


class _Rows(TextReader):
    """Collects the cells of rows.

    `begin` and `end` are called for each tag, so they compare as little as they can: the depth says what may come.
    """

    def __init__(self, after: int) -> None:
        super().__init__("sheetData")
        self.row, self.column = after - 1, -1
        self._whole = 0, 0, after  # cells, areas and the row below, of the whole rows
        self._in_row = 0  # cells so far of the row
        self._cell: dict[str, str] | None = None
        self._has_formula = self._has_value = False
        self._value: list[str] | None = None
        self._in_value = False
        self._cells: list[tuple[int, int, int, int, bool, str | None]] = []  # as `RawCells`: row, column, type, ...
        self._formulas: list[bool] = []
        self._texts_of_formulas: list[tuple[int, str]] = []
        self._formula: list[str] = []
        self._formula_length = 0
        self._in_formula = self._is_own = False
        self._areas: list[FormulaArea] = []

    def mark(self) -> None:
        self._whole = len(self._cells), len(self._areas), self.row + 1

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        depth = len(self.open)
        if depth == _IN_CELL and self._cell is not None and name == "v":
            if self._has_value:
                raise FormatError("a cell with two values", location=cell_address(self.row, self.column))
            self._value, self._has_value, self._in_value = [], True, True
            self.open.append(name)
        elif self._in_value:
            raise FormatError("an element within a value", location=cell_address(self.row, self.column))
        elif depth == _IN_ROW and name == "c" and self.open[-1] == "row":
            self._begin_cell(attributes)
            self.open.append(name)
        else:
            super().begin(name, attributes)
            if depth == 1 and name == "row":
                self._begin_row(attributes)
            elif depth == _IN_CELL and self._cell is not None and name == "f":
                self._has_formula = self._in_formula = True
                self._is_own = attributes.keys() <= {"aca"}
                self._areas += find_area(attributes.get("t"), attributes.get("ref"))
            elif depth == _IN_CELL and self._cell is not None and name == "is":
                self.take_text()

    def _begin_row(self, attributes: dict[str, str]) -> None:
        number = attributes.get("r")
        if number is not None and (not _ROW.fullmatch(number) or int(number) == 0):
            raise FormatError(f"a row of the number {number!r:.40}")
        self.row = self.row + 1 if number is None else int(number) - 1
        if self.row >= MOST_ROWS:
            raise FormatError(f"a row beyond the {MOST_ROWS} that a sheet has", location=cell_address(self.row, 0))
        self.column, self._in_row = -1, 0

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        self.column += 1
        self._in_row += 1
        reference = attributes.get("r")
        if reference is not None:
            match = _REFERENCE.fullmatch(reference)
            if not match or int(match[2]) != self.row + 1:
                raise FormatError(f"a cell of the reference {reference!r:.40} in row {self.row + 1}")
            self.column = -1
            for letter in match[1].upper():
                self.column = (self.column + 1) * 26 + ord(letter) - 65
        if self.column >= MOST_COLUMNS:
            raise position_error(self.row, self.column)
        if self._in_row > MOST_COLUMNS:
            raise FormatError(f"a row of more than {MOST_COLUMNS} cells", location=cell_address(self.row, self.column))
        if attributes.get("t", "") not in TYPES:
            raise FormatError(
                f"a cell of the type {attributes['t']!r:.40}", location=cell_address(self.row, self.column)
            )
        self._cell, self._value, self._has_formula, self._in_value = attributes, None, False, False
        self._has_value, self._in_formula, self._formula, self._formula_length = False, False, [], 0
        self._length = 0

    def characters(self, text: str) -> None:
        if self._in_formula:
            if self._formula_length <= SHORT_FORMULA:
                self._formula.append(text)
                self._formula_length += len(text)
        elif self._in_value and self._value is not None:
            self._value.append(self.check_length(text))
        elif self._text is not None:
            self._text.append(self.check_length(text))

    def end(self, name: str) -> None:
        depth = len(self.open)
        if depth == _IN_CELL + 1 and self._cell is not None:
            if name == "v":
                self._in_value = False
            elif name == "f":
                self._in_formula = False
            elif name == "is":
                self._value = [self.take_text()]
        elif depth == _IN_CELL and self._cell is not None:
            self._end_cell(self._cell)
        super().end(name)

    def _end_cell(self, cell: dict[str, str]) -> None:
        type_ = TYPES[cell.get("t", "")]
        value = None if self._value is None else "".join(self._value)
        if value and type_ == RESULT:
            value = without_escapes(value)
        if not value and type_ not in TEXTS:
            value = None
        if value is not None or self._has_formula:
            style = cell.get("s", "0")
            known = 0 if style == "0" or not _ROW.fullmatch(style) else int(style)
            self._cells.append((self.row, self.column, type_, known, value is None, value))
            truth = type_ == LOGICAL or (type_ == PLAIN and value in ("0", "1"))
            formula = "".join(self._formula)
            constant = formula in CONSTANTS and (truth or value is None)
            if constant and value is None:  # openpyxl drops the values of formulas
                value, type_ = str(int(formula == CONSTANTS[0])), LOGICAL
                self._cells[-1] = (self.row, self.column, type_, known, False, value)
            if formula and self._is_own and len(formula.encode()) <= SHORT_FORMULA:
                self._texts_of_formulas.append((len(self._cells) - 1, formula))
            self._formulas.append(self._has_formula and not constant)
        self._cell = None

    def result(self) -> RawCells:
        import polars as pl

        count, areas, after = self._whole
        cells = self._cells[:count]
        rows, columns, types, styles, pending, texts = zip(*cells, strict=True) if cells else ((),) * 6
        values = pl.Series(texts, dtype=pl.String)
        numbers = values.cast(pl.Float64, strict=False).fill_null(math.inf)
        is_numeral = values.str.contains(_NUMERAL) & numbers.is_finite()
        is_numeral &= (numbers != 0) | ~values.str.contains(_NOT_ZERO)
        kinds = np.array(types, dtype=np.uint8)
        formulas = self._formulas[:count]
        places = np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)
        return RawCells(
            *places,
            kinds,
            np.array(styles, dtype=np.int64),
            np.array(pending, dtype=np.bool_),
            numbers.to_numpy(),
            is_numeral.fill_null(value=False).to_numpy() & np.isin(kinds, NUMERALS),
            values,
            after,
            row_width(*places) if count else 0,
            formulas=np.array(formulas, dtype=np.bool_) if any(formulas) else None,
            areas=tuple(self._areas[:areas]),
            find_formulas=lambda: [(index, text) for index, text in self._texts_of_formulas if index < count],
        )
