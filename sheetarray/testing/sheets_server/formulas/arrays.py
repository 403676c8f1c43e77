"""Arrays that formulas work out: joining them, and applying functions of single values to each of their values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from .operands import BlockOperand, FormulaError, Operand, Scalar, Value, fail, is_block, single_value

_LARGEST = 10_000_000  # values of one array: no spreadsheet has more cells


@dataclass(frozen=True)
class ArrayBlock:
    """An array that a formula has worked out; see `operands.BlockOperand`.

    Attributes:
        lines: its columns, all of one length; a blank is None.
        height: the number of its rows.
    """

    lines: list[list[Value]]
    height: int

    @classmethod
    def of_rows(cls, rows: list[list[Value]]) -> ArrayBlock:
        """Return the array of some rows; blanks are added to those that are shorter than others."""
        width = max(map(len, rows), default=0)
        if not width:
            fail("#N/A", "The array has no values.")
        padded = [row + [None] * (width - len(row)) for row in rows]
        return cls([list(line) for line in zip(*padded, strict=True)], len(rows))

    @property
    def width(self) -> int:
        """The number of its columns."""
        return len(self.lines)

    def value(self, row: int, column: int) -> Scalar:
        """Return the value of a row and a column, counted from its first cell; an error is raised."""
        return check_value(self.lines[column][row])

    def columns(self) -> list[list[Value]]:
        """Return the values by column, without trailing blanks; errors are among them, and not raised."""
        columns = []
        for line in self.lines:
            end = len(line)
            while end and line[end - 1] is None:
                end -= 1
            columns.append(line[:end])
        return columns

    def part(self, top: int, bottom: int, left: int, right: int) -> ArrayBlock:
        """Return a part of it; rows and columns are counted from its first cell."""
        return ArrayBlock([line[top:bottom] for line in self.lines[left:right]], bottom - top)

    def single(self) -> Scalar:
        """Return the first value, which a function of single values takes it for."""
        return self.value(0, 0)


def check_value(value: Value) -> Scalar:
    """Return the value of a cell; if it is an error of a formula, that error is raised."""
    if isinstance(value, FormulaError):
        raise FormulaError(str(value), value.reason)
    return value


def padded_columns(operand: Operand) -> list[list[Value]]:
    """Return an operand as columns of one length, blanks as None."""
    if operand is None or isinstance(operand, (bool, float, str)):
        return [[operand]]
    check_size(operand.height, operand.width)
    return [column + [None] * (operand.height - len(column)) for column in operand.columns()]


def rows_of(operand: Operand) -> list[list[Value]]:
    """Return an operand as rows."""
    return [list(row) for row in zip(*padded_columns(operand), strict=True)]


def size_of(operand: Operand) -> tuple[int, int]:
    """Return the number of rows, and of columns, of an operand."""
    if operand is None or isinstance(operand, (bool, float, str)):
        return 1, 1
    return operand.height, operand.width


def check_size(height: int, width: int) -> None:
    """Refuse an array that no spreadsheet has room for."""
    if height * width > _LARGEST:
        fail("#NUM!", f"The array has more than {_LARGEST} values.")


def catch_errors(work: Callable[[], Operand | FormulaError]) -> Value:
    """Return the single value that `work` works out; an error is returned as well, not raised."""
    try:
        operand = work()
        if isinstance(operand, FormulaError):
            return operand
        result = single_value(operand)
    except FormulaError as error:
        return error
    except ZeroDivisionError:
        return FormulaError("#DIV/0!", "Evaluation caused a divide by zero error.")
    except (OverflowError, ValueError):
        return FormulaError("#NUM!", "The result is no number that a cell can hold.")
    if isinstance(result, float) and not math.isfinite(result):
        return FormulaError("#NUM!", "The result is no number that a cell can hold.")
    return result


def broadcast(work: Callable[[list[Operand]], Operand], operands: list[Operand], *, errors: bool = False) -> ArrayBlock:
    """Return the array of the results of a function for each value of its operands.

    An operand of one row or one column is repeated to the size of the others. Where a value is an error, so is the
    result, unless the function takes errors itself (`errors`).
    """
    sizes = [size_of(operand) for operand in operands]
    height, width = max(size[0] for size in sizes), max(size[1] for size in sizes)
    check_size(height, width)
    columns = [padded_columns(operand) for operand in operands]
    absent = FormulaError("#N/A", "Array arguments are of different size.")

    def at(index: int, row: int, column: int) -> Value:
        rows, wide = sizes[index]
        row, column = row if rows > 1 else 0, column if wide > 1 else 0
        return columns[index][column][row] if row < rows and column < wide else absent

    def work_out(row: int, column: int) -> Value:
        given = [at(index, row, column) for index in range(len(operands))]
        for value in given:
            if isinstance(value, FormulaError) and not errors:
                return value
        return catch_errors(
            lambda: work([ArrayBlock([[value]], 1) if isinstance(value, FormulaError) else value for value in given])
        )

    return ArrayBlock([[work_out(row, column) for row in range(height)] for column in range(width)], height)


def spreads(operand: Operand) -> bool:
    """Return whether a formula that comes to an operand fills several cells: an array does, and a range of INDEX."""
    return is_block(operand) and (isinstance(operand, ArrayBlock) or bool(getattr(operand, "spreads", False)))


def any_block(operands: list[Operand]) -> bool:
    """Return whether there is an array or a range among some operands."""
    return any(map(is_block, operands))


def join_columns(operands: list[Operand], *, fill: Value = None) -> list[list[Value]]:
    """Return the columns of all operands, of one length; `fill` stands below those that are shorter."""
    parts = [padded_columns(operand) for operand in operands]
    height = max(len(part[0]) for part in parts)
    return [column + [fill] * (height - len(column)) for part in parts for column in part]


def join_rows(operands: list[list[Operand]]) -> Operand:
    """Return the array that operands in braces make, row by row.

    Example:
        >>> join_rows([[1.0, 2.0], [3.0, 4.0]]).lines
        [[1.0, 3.0], [2.0, 4.0]]
    """
    bands: list[list[list[Value]]] = []
    for row in operands:
        if len({size_of(operand)[0] for operand in row}) > 1:
            fail("#VALUE!", "In ARRAY_LITERAL, an Array Literal was missing values for one or more rows.")
        bands.append(join_columns(row))
    if len({len(band) for band in bands}) > 1:
        fail("#VALUE!", "In ARRAY_LITERAL, an Array Literal was missing values for one or more rows.")
    lines = [[value for part in parts for value in part] for parts in zip(*bands, strict=True)]
    return ArrayBlock(lines, len(lines[0]))


def as_line(block: BlockOperand | Operand) -> list[Value]:
    """Return the values of a range or an array in one list, row by row."""
    return [value for row in rows_of(block) for value in row]
