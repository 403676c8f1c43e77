"""What a formula comes to: arithmetic, text, references to cells and names, and a handful of functions.

The rest of the service's functions is out of reach; a formula that uses one has the value that it has there where
nobody knows the function: #NAME?.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from .errors import ApiError
from .functions import FUNCTIONS, Arguments, FormulaError, Operand, Scalar, fail, number, single_value, text
from .grid import Formula, GridCell
from .spreadsheet import ServedSheet, Spreadsheet

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?) (?![A-Za-z0-9_.:!])
      | (?P<text>"(?:[^"]|"")*")
      | (?P<call>[A-Za-z][A-Za-z0-9_.]*) \s* \(
      | (?P<name>(?:(?:'(?:[^']|'')+'|[A-Za-z_][\w.]*)!)? \$?[A-Za-z0-9_$]+ (?::\$?[A-Za-z0-9$]+)?)
      | (?P<mark><=|>=|<>|[-+*/^&%(),;=<>])
    )""",
    re.VERBOSE,
)
_DEPTH = 40  # of parentheses

CellKey = tuple[int, int, int]  # the id of a sheet, a row, a column


class _PendingError(Exception):
    """Formulas that must be worked out before this one."""

    def __init__(self, places: list[CellKey]) -> None:
        super().__init__(places)
        self.places = places


class Evaluator:
    """Works out formulas, each once; good for as long as no cell changes.

    Example:
        >>> from .grid import SheetGrid
        >>> sheet = ServedSheet(0, "S", SheetGrid(2, 2))
        >>> Evaluator(Spreadsheet("key", "title", sheets=[sheet])).value(sheet, 0, 0, Formula("=1+2"))
        3.0
    """

    def __init__(self, spreadsheet: Spreadsheet) -> None:
        self.spreadsheet = spreadsheet
        self.known: dict[CellKey, Scalar | FormulaError] = {}

    def value(self, sheet: ServedSheet, row: int, column: int, cell: GridCell) -> Scalar:
        """Return what a cell comes to; an error is the text that stands in the cell."""
        if not isinstance(cell, Formula):
            return cell
        place = (sheet.id, row, column)
        if place not in self.known:
            self._work_out(place, cell)
        result = self.known[place]
        return str(result) if isinstance(result, FormulaError) else result

    def _work_out(self, place: CellKey, cell: Formula) -> None:
        """Without recursion from cell to cell, so that a column of running totals may be of any length."""
        waiting: list[tuple[CellKey, Formula]] = [(place, cell)]
        begun: set[CellKey] = set()
        while waiting:
            place, cell = waiting[-1]
            if place in self.known:
                waiting.pop()
                begun.discard(place)
                continue
            begun.add(place)
            sheet = self.spreadsheet.sheet(place[0])
            try:
                self.known[place] = self._result(sheet, cell)
            except _PendingError as pending:
                if begun.intersection(pending.places):
                    self.known[place] = FormulaError("#REF!")  # it refers to itself
                    continue
                for other in pending.places:
                    formula = self.spreadsheet.sheet(other[0]).grid.cell(*other[1:])
                    assert isinstance(formula, Formula)
                    waiting.append((other, formula))

    def _result(self, sheet: ServedSheet, cell: Formula) -> Scalar | FormulaError:
        try:
            result = single_value(_FormulaReader(cell.text[1:], self, sheet).all())
        except FormulaError as error:
            return error
        except ZeroDivisionError:
            return FormulaError("#DIV/0!")
        except (OverflowError, ValueError):
            return FormulaError("#NUM!")
        if isinstance(result, float) and not math.isfinite(result):
            return FormulaError("#NUM!")
        return 0.0 if result is None else result


class _FormulaReader:
    """Reads a formula from left to right, by precedence."""

    def __init__(self, text: str, evaluator: Evaluator, sheet: ServedSheet) -> None:
        self.evaluator = evaluator
        self.sheet = sheet
        self.nested = 0
        self.tokens: list[tuple[str, str]] = []
        at = 0
        text = text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup is None:
                raise FormulaError("#ERROR!")
            self.tokens.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()
        self.tokens.reverse()

    def all(self) -> Operand:
        result = self.comparison()
        if self.tokens:
            raise FormulaError("#ERROR!")
        return result

    def take(self, *marks: str) -> str | None:
        if self.tokens and self.tokens[-1][0] == "mark" and self.tokens[-1][1] in marks:
            return self.tokens.pop()[1]
        return None

    def comparison(self) -> Operand:
        left = self.joined()
        while mark := self.take("=", "<>", "<", ">", "<=", ">="):
            right = self.joined()
            if mark in ("=", "<>"):
                left = (single_value(left) == single_value(right)) == (mark == "=")
            else:
                a, b = number(left), number(right)
                left = {"<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}[mark]
        return left

    def joined(self) -> Operand:
        left = self.sum()
        while self.take("&"):
            left = text(left) + text(self.sum())
        return left

    def sum(self) -> Operand:
        left = self.product()
        while mark := self.take("+", "-"):
            right = number(self.product())
            left = number(left) + (right if mark == "+" else -right)
        return left

    def product(self) -> Operand:
        left = self.power()
        while mark := self.take("*", "/"):
            right = number(self.power())
            left = number(left) * right if mark == "*" else number(left) / right
        return left

    def power(self) -> Operand:
        left = self.signed()
        while self.take("^"):
            raised = number(left) ** number(self.signed())
            left = raised if isinstance(raised, float) else fail("#NUM!")
        return left

    def signed(self) -> Operand:
        sign = 1.0
        signs = 0
        while mark := self.take("-", "+"):
            sign *= -1.0 if mark == "-" else 1.0
            signs += 1
        result = self.atom()
        while self.take("%"):
            result = number(result) / 100
        return sign * number(result) if signs else result

    def atom(self) -> Operand:
        if self.take("("):
            return self.nest(self.closed)
        if not self.tokens or self.tokens[-1][0] == "mark":
            raise FormulaError("#ERROR!")
        kind, token = self.tokens.pop()
        if kind == "number":
            return float(token)
        if kind == "text":
            return token[1:-1].replace('""', '"')
        if kind == "name":
            return token.upper() == "TRUE" if token.upper() in ("TRUE", "FALSE") else self.cells(token)
        return self.nest(lambda: self.call(token.upper()))

    def nest(self, read: Callable[[], Operand]) -> Operand:
        self.nested += 1
        if self.nested > _DEPTH:
            raise FormulaError("#ERROR!")
        result = read()
        self.nested -= 1
        return result

    def closed(self) -> Operand:
        result = self.comparison()
        if not self.take(")"):
            raise FormulaError("#ERROR!")
        return result

    def call(self, function: str) -> Scalar:
        arguments: Arguments = []
        if not self.take(")"):
            arguments.append(self.comparison())
            while self.take(",", ";"):
                arguments.append(self.comparison())
            if not self.take(")"):
                raise FormulaError("#ERROR!")
        if function not in FUNCTIONS:
            raise FormulaError("#NAME?")
        least, most, work = FUNCTIONS[function]
        if not least <= len(arguments) <= most:
            raise FormulaError("#N/A")
        return work(arguments)

    def cells(self, reference: str) -> list[Scalar]:
        spreadsheet, known = self.evaluator.spreadsheet, self.evaluator.known
        try:
            sheet, span = spreadsheet.resolve(reference)
            sheet = sheet if "!" in reference or spreadsheet.range_named(reference) else self.sheet
            area = sheet.area(span)
        except ApiError:
            raise FormulaError("#REF!" if ":" in reference or reference[-1:].isdigit() else "#NAME?") from None
        values: list[Scalar] = []
        pending: list[CellKey] = []
        for column, cells in enumerate(sheet.grid.block(area), area.left):
            for row, cell in enumerate(cells, area.top):
                result: Scalar | FormulaError
                if not isinstance(cell, Formula):
                    result = cell
                elif (place := (sheet.id, row, column)) in known:
                    result = known[place]
                else:
                    pending.append(place)
                    continue
                if isinstance(result, FormulaError):
                    raise result
                values.append(result)
        if pending:
            raise _PendingError(pending)
        return values or [None]
