"""Formulas worked out: operators, references, named ranges and the functions of `FUNCTIONS`.

A formula is parsed to a node: a function that works it out in a scope, the cell in which it stands. Formulas that
refer to each other in a circle are errors, and so is any other function (`#NAME?`). Where a formula comes to several
cells, as `=A1:A3` does, the cell in its own row or column counts; results do not fill other cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from . import entered
from .errors import ApiError
from .formats import format_plain, to_moment
from .grid import Formula, GridCell
from .ranges import GridArea, Span
from .references import CellReference, Token, parse_reference, tokenize
from .spreadsheet import ServedSheet, Spreadsheet

_DEPTH = 40  # parentheses within each other that a formula may have
_ANY = 255  # the most arguments that a function may have

Scalar = bool | float | str | None
CellKey = tuple[int, int, int]  # the id of a sheet, a row, a column


class FormulaError(Exception):
    """An error such as #DIV/0!, with its reason: raised while a formula is worked out, then a value of cells."""

    def __init__(self, shown: str, reason: str = "") -> None:
        super().__init__(shown)
        self.reason = reason


class PendingError(Exception):
    """Raised if a formula reads cells whose formulas have not been worked out yet: its places."""

    def __init__(self, places: list[CellKey]) -> None:
        super().__init__(places)
        self.places = places


def _fail(error: str, reason: str = "") -> NoReturn:
    raise FormulaError(error, reason)


@dataclass(frozen=True)
class CellBlock:
    """Cells that a formula refers to; they are read only when they are needed."""

    scope: FormulaScope  # the scope of the formula that refers to them
    sheet: ServedSheet  # on which they are
    area: GridArea  # the cells

    def value(self, row: int, column: int) -> Scalar:
        """Return the value of a row and a column, counted from its first cell; an error is raised."""
        row, column = self.area.top + row, self.area.left + column
        cell = self.sheet.grid.cell(row, column)
        if not isinstance(cell, Formula):
            return cell
        place, known = (self.sheet.id, row, column), self.scope.evaluator.known
        if place not in known:
            raise PendingError([place])
        value = known[place]
        return _fail(str(value), value.reason) if isinstance(value, FormulaError) else value

    def columns(self) -> list[list[Scalar | FormulaError]]:
        """Return the values by column, without trailing blanks; errors are among them, and not raised."""
        known, pending = self.scope.evaluator.known, []
        columns: list[list[Scalar | FormulaError]] = []
        for column, cells in enumerate(self.sheet.grid.block(self.area), self.area.left):
            columns.append([])
            for row, cell in enumerate(cells, self.area.top):
                place = (self.sheet.id, row, column)
                if not isinstance(cell, Formula):
                    columns[-1].append(cell)
                elif place in known:
                    columns[-1].append(known[place])
                else:
                    pending.append(place)
        if pending:
            raise PendingError(pending)
        return columns

    def single(self) -> Scalar:
        """Return the value in the row or column of the formula, which a function of single values takes it for."""
        area, scope = self.area, self.scope
        if area.width == 1 and area.height == 1:
            return self.value(0, 0)
        if area.width == 1 and area.top <= scope.row < area.bottom:
            return self.value(scope.row - area.top, 0)
        if area.height == 1 and area.left <= scope.column < area.right:
            return self.value(0, scope.column - area.left)
        _fail("#VALUE!", "An array value could not be found.")


Operand = Scalar | CellBlock
Value = Scalar | FormulaError
Later = Callable[[], Operand]  # works an argument out when it is called


@dataclass(frozen=True)
class FormulaScope:
    """The cell in which a formula is worked out."""

    evaluator: Evaluator  # has the results of other formulas
    sheet: ServedSheet  # of the cell
    row: int  # of the cell
    column: int  # of the cell

    def cells(self, reference: CellReference) -> CellBlock:
        """Return the cells of a reference."""
        if reference.title is None:
            return self._block(self.sheet, reference.span)
        sheet = self.evaluator.spreadsheet.sheet_titled(reference.title)
        if sheet is None:
            _fail("#REF!", f"Unresolved sheet name '{reference.title}'.")
        return self._block(sheet, reference.span)

    def named_range(self, name: str) -> CellBlock:
        """Return the cells of a named range."""
        held = self.evaluator.spreadsheet.range_named(name)
        if held is None:
            _fail("#NAME?", f"Unknown range name: '{name.upper()}'.")
        if held.span is None:
            _fail("#REF!", "Reference does not exist.")
        return self._block(self.evaluator.spreadsheet.sheet(held.sheet), held.span)

    def _block(self, sheet: ServedSheet, span: Span) -> CellBlock:
        try:
            return CellBlock(self, sheet, sheet.area(span))
        except ApiError:
            _fail("#REF!", "Reference does not exist.")


class Evaluator:
    """Works out the formulas of a spreadsheet, each once; valid until a cell changes."""

    def __init__(self, spreadsheet: Spreadsheet) -> None:
        self.spreadsheet = spreadsheet
        self.known: dict[CellKey, Value] = {}  # the results so far
        # For a column or row, the index of the first cell with each value, for MATCH
        self.positions: dict[tuple[int, GridArea], dict[object, int]] = {}

    def value(self, sheet: ServedSheet, row: int, column: int, cell: GridCell) -> Scalar:
        """Return the value of a cell; of a formula, its result; of an error, its text such as `#REF!`."""
        if not isinstance(cell, Formula):
            return cell
        result = self.result(sheet, row, column, cell)
        return str(result) if isinstance(result, FormulaError) else result

    def result(self, sheet: ServedSheet, row: int, column: int, cell: Formula) -> Value:
        """Return the result of a formula, which may be an error.

        The formulas that it needs are worked out before it, in a loop and not in calls within calls: a column of
        running totals may be long.
        """
        first = (sheet.id, row, column)
        waiting: list[tuple[CellKey, Formula]] = [] if first in self.known else [(first, cell)]
        begun: set[CellKey] = set()
        while waiting:
            place, formula = waiting[-1]
            if place in self.known:
                waiting.pop()
                begun.discard(place)
                continue
            begun.add(place)
            try:
                self.known[place] = self._work_out(place, formula)
            except PendingError as pending:
                if begun.intersection(pending.places):
                    self.known[place] = FormulaError("#REF!", "Circular dependency detected.")
                    continue
                for other in pending.places:
                    held = self.spreadsheet.sheet(other[0]).grid.cell(*other[1:])
                    assert isinstance(held, Formula)
                    waiting.append((other, held))
        return self.known[first]

    def _work_out(self, place: CellKey, cell: Formula) -> Value:
        scope = FormulaScope(self, self.spreadsheet.sheet(place[0]), place[1], place[2])
        try:
            value = _single(_parse(cell.text)(scope))
        except FormulaError as error:
            return error
        except (OverflowError, ValueError):
            value = math.inf
        if isinstance(value, float) and not math.isfinite(value):
            return FormulaError("#NUM!", "The result is no number that a cell can hold.")
        return 0.0 if value is None else value


def evaluator_of(spreadsheet: Spreadsheet) -> Evaluator:
    """Return the evaluator that is kept until the next request that writes, for those that only read."""
    if not isinstance(spreadsheet.evaluator, Evaluator):
        spreadsheet.evaluator = Evaluator(spreadsheet)
    return spreadsheet.evaluator


def _single(operand: Operand) -> Scalar:
    return operand.single() if isinstance(operand, CellBlock) else operand


def _number(operand: Operand) -> float:
    """Return an operand as a number; a blank is 0, a text is read as if it was typed."""
    value = _single(operand)
    if not isinstance(value, str):
        return float(value or 0.0)
    cell = entered.cell_from_entry(value)[0]
    if type(cell) is float:
        return cell
    _fail("#VALUE!", f"'{value}' is a text and cannot be coerced to a number.")


def _text(operand: Operand) -> str:
    value = _single(operand)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return format_plain(value) if isinstance(value, float) else value or ""


def _truth(operand: Operand) -> bool:
    """Return an operand as a boolean; any number but 0 is true."""
    value = _single(operand)
    if isinstance(value, str):
        if value.upper() not in ("TRUE", "FALSE", ""):
            _fail("#VALUE!", f"'{value}' is a text and cannot be coerced to a boolean.")
        return value.upper() == "TRUE"
    return bool(value)


def _block(operand: Operand, function: str) -> CellBlock:
    return operand if isinstance(operand, CellBlock) else _fail("#N/A", f"Argument must be a range: {function}.")


def sort_key(value: Scalar) -> tuple[int, bool | float | str]:
    """Return the key by which values are ordered: numbers, then text whatever its case, then booleans."""
    if isinstance(value, bool):
        return 2, value
    return (1, value.casefold()) if isinstance(value, str) else (0, value or 0.0)


def _compare(left: Operand, right: Operand) -> int:
    """Return -1, 0 or 1 for left < right, =, >; a blank is taken as "", FALSE or 0, as suits the other."""
    one, other = _single(left), _single(right)
    if one is None or other is None:
        held = other if one is None else one
        blank: Scalar = "" if isinstance(held, str) else False if isinstance(held, bool) else 0.0
        one, other = blank if one is None else one, blank if other is None else other
    a, b = sort_key(one), sort_key(other)
    return (a > b) - (a < b)


def _numbers(given: list[Later]) -> list[float]:
    """Return the numbers in ranges, and single arguments converted to numbers; errors are raised."""
    numbers: list[float] = []
    for later in given:
        operand = later()
        if not isinstance(operand, CellBlock):
            numbers.append(_number(operand))
            continue
        for value in (value for column in operand.columns() for value in column):
            if isinstance(value, FormulaError):
                raise value
            numbers += [value] if type(value) is float else []
    return numbers


def _integer(later: Later) -> int:
    """Return an argument as an integer, its fraction cut off."""
    value = _number(later())
    return int(value) if math.isfinite(value) else _fail("#NUM!")


def _if(_: FormulaScope, given: list[Later]) -> Operand:
    if _truth(given[0]()):
        return given[1]()
    return given[2]() if len(given) > 2 else False


def _and(_: FormulaScope, given: list[Later]) -> Operand:
    truths: list[bool] = []
    for operand in (later() for later in given):
        if not isinstance(operand, CellBlock) or operand.area.height * operand.area.width == 1:
            truths.append(_truth(operand))
            continue
        values = [value for column in operand.columns() for value in column]
        truths += [bool(value) for value in values if isinstance(value, (bool, float))]
    return all(truths)


def _is_number(_: FormulaScope, given: list[Later]) -> Operand:
    try:
        return type(_single(given[0]())) is float
    except FormulaError:
        return False


def _modulo(_: FormulaScope, given: list[Later]) -> Operand:
    value, by = _number(given[0]()), _number(given[1]())
    if not by:
        _fail("#DIV/0!", "Function MOD parameter 2 cannot be zero.")
    return value - by * math.floor(value / by)


def _index(_: FormulaScope, given: list[Later]) -> Operand:
    block = _block(given[0](), "INDEX")
    area = block.area
    row = _integer(given[1]) if len(given) > 1 else 0
    column = _integer(given[2]) if len(given) > 2 else 0
    if len(given) == 2 and area.height == 1 and area.width > 1:
        row, column = 0, row
    for place, (value, size) in enumerate(((row, area.height), (column, area.width)), 2):
        if not 0 <= value <= size:
            valid = f"Valid values are between 0 and {size} inclusive."
            _fail("#NUM!", f"Function INDEX parameter {place} value is {value}. {valid}")
    top, bottom = (area.top + row - 1, area.top + row) if row else (area.top, area.bottom)
    left, right = (area.left + column - 1, area.left + column) if column else (area.left, area.right)
    return CellBlock(block.scope, block.sheet, GridArea(top, bottom, left, right))


def _match(scope: FormulaScope, given: list[Later]) -> Operand:
    """Return the place of a value in a single column or row; only exact matches are known, as 0 asks for."""
    key, block = _single(given[0]()), _block(given[1](), "MATCH")
    if block.area.width > 1 and block.area.height > 1:
        _fail("#N/A", "MATCH range must be a single row or a single column.")
    if len(given) < 3 or _number(given[2]()) != 0:
        _fail("#VALUE!", "The emulator knows exact matches of MATCH only.")
    held, where = scope.evaluator.positions, (block.sheet.id, block.area)
    if where not in held:
        columns = block.columns()
        line = columns[0] if block.area.width == 1 else [column[0] if column else None for column in columns]
        held[where] = {}
        for index, value in enumerate(line):
            if value is not None and not isinstance(value, FormulaError):
                held[where].setdefault(sort_key(value), index)
    index = held[where].get(sort_key(key), -1)
    return index + 1.0 if index >= 0 else _fail("#N/A", f"Did not find value '{_text(key)}' in MATCH evaluation.")


def _part_of_moment(name: str) -> Callable[[FormulaScope, list[Later]], Operand]:
    """Return the function that gives the year, the month and so on of a serial date."""

    def work(_: FormulaScope, given: list[Later]) -> Operand:
        moment = to_moment(_number(given[0]()))
        if moment is None:
            _fail("#NUM!", f"Function {name.upper()} parameter 1 is no date.")
        return float(getattr(moment, name))

    return work


# By name: the least and the most arguments, and the work
FUNCTIONS: dict[str, tuple[int, int, Callable[[FormulaScope, list[Later]], Operand]]] = {
    "AND": (1, _ANY, _and),
    **{name.upper(): (1, 1, _part_of_moment(name)) for name in ("year", "month", "day", "hour", "minute", "second")},
    "COLUMN": (0, 1, lambda scope, given: 1.0 + (_block(given[0](), "COLUMN").area.left if given else scope.column)),
    "IF": (2, 3, _if),
    "INDEX": (1, 3, _index),
    "INT": (1, 1, lambda _, given: float(math.floor(_number(given[0]())))),
    "ISNUMBER": (1, 1, _is_number),
    "MATCH": (2, 3, _match),
    "MAX": (1, _ANY, lambda _, given: max(_numbers(given), default=0.0)),
    "MIN": (1, _ANY, lambda _, given: min(_numbers(given), default=0.0)),
    "MOD": (2, 2, _modulo),
    "NA": (0, 0, lambda *_: _fail("#N/A")),
    "ROW": (0, 1, lambda scope, given: 1.0 + (_block(given[0](), "ROW").area.top if given else scope.row)),
    "SUM": (1, _ANY, lambda _, given: math.fsum(_numbers(given))),
}


Node = Callable[[FormulaScope], Operand]
Work = Callable[[Operand, Operand], Operand]


def _divide(left: Operand, right: Operand) -> Operand:
    by = _number(right)
    return _number(left) / by if by else _fail("#DIV/0!", "Function DIVIDE parameter 2 cannot be zero.")


def _power(left: Operand, right: Operand) -> Operand:
    base, exponent = _number(left), _number(right)
    if not base and exponent < 0:
        _fail("#DIV/0!", "Function POWER parameter 1 cannot be zero where parameter 2 is negative.")
    raised = base**exponent
    return raised if isinstance(raised, float) else _fail("#NUM!")


# The operators by precedence, those that bind least first
_OPERATORS: list[dict[str, Work]] = [
    {
        "=": lambda left, right: _compare(left, right) == 0,
        "<>": lambda left, right: _compare(left, right) != 0,
        "<": lambda left, right: _compare(left, right) < 0,
        "<=": lambda left, right: _compare(left, right) <= 0,
        ">": lambda left, right: _compare(left, right) > 0,
        ">=": lambda left, right: _compare(left, right) >= 0,
    },
    {"&": lambda left, right: _text(left) + _text(right)},
    {
        "+": lambda left, right: _number(left) + _number(right),
        "-": lambda left, right: _number(left) - _number(right),
    },
    {"*": lambda left, right: _number(left) * _number(right), "/": _divide},
    {"^": _power},
]


@lru_cache(maxsize=16_384)
def _parse(formula: str) -> Node:
    """Return the node of a formula; that of a text that is no formula fails with #ERROR!."""
    tokens = tokenize(formula)
    try:
        return _Reader(tokens).read_all() if tokens is not None else _failing("#ERROR!", "Formula parse error.")
    except FormulaError as error:
        return _failing(str(error), error.reason)


def _failing(error: str, reason: str = "") -> Node:
    return lambda _: _fail(error, reason)


class _Reader:
    """Reads the tokens of a formula from left to right."""

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self.tokens = list(reversed(tokens))
        self.nested = 0

    def read_all(self) -> Node:
        node = self.read_operators(0)
        self.expect(not self.tokens)
        return node

    def expect(self, holds: object) -> None:
        if not holds:
            _fail("#ERROR!", "Formula parse error.")

    def sees(self, *marks: str) -> bool:
        return bool(self.tokens) and self.tokens[-1].kind == "mark" and self.tokens[-1].text in marks

    def take(self, *marks: str) -> str | None:
        return self.tokens.pop().text if self.sees(*marks) else None

    def read_operators(self, level: int) -> Node:
        """Read operands between operators of one precedence, which are applied from left to right."""
        if level == len(_OPERATORS):
            return self.read_signed()
        works = _OPERATORS[level]
        first, rest = self.read_operators(level + 1), []
        while mark := self.take(*works):
            rest.append((works[mark], self.read_operators(level + 1)))

        def work_out(scope: FormulaScope) -> Operand:
            result = first(scope)
            for work, node in rest:
                result = work(result, node(scope))
            return result

        return work_out if rest else first

    def read_signed(self) -> Node:
        factor, changed = 1.0, False
        while mark := self.take("-", "+"):
            factor, changed = -factor if mark == "-" else factor, True
        node = self.read_atom()
        while self.take("%"):
            factor, changed = factor / 100, True
        return (lambda scope: _number(node(scope)) * factor) if changed else node

    def read_atom(self) -> Node:
        if self.take("("):
            node = self.nest(lambda: self.read_operators(0))
            self.expect(self.take(")"))
            return node
        self.expect(self.tokens and self.tokens[-1].kind != "mark")
        kind, token, _, _ = self.tokens.pop()
        if kind == "call":
            return self.nest(lambda: self.read_call(token.upper()))
        if kind == "error":
            return _failing(token)
        if kind == "name" and token.upper() not in ("TRUE", "FALSE"):
            reference = parse_reference(token)
            if reference is not None:
                return lambda scope: scope.cells(reference)
            return lambda scope: scope.named_range(token)
        constant: Scalar = token.upper() == "TRUE"
        if kind == "number":
            constant = float(token)
        elif kind == "text":
            constant = token[1:-1].replace('""', '"')
        return lambda _: constant

    def nest(self, read: Callable[[], Node]) -> Node:
        self.nested += 1
        self.expect(self.nested <= _DEPTH)
        node = read()
        self.nested -= 1
        return node

    def read_call(self, function: str) -> Node:
        arguments: list[Node] = []
        if not self.take(")"):
            arguments.append(self.read_argument())
            while self.take(",", ";"):
                arguments.append(self.read_argument())
            self.expect(self.take(")"))
        if function not in FUNCTIONS:
            return _failing("#NAME?", f"Unknown function: '{function}'.")
        least, most, work = FUNCTIONS[function]
        if not least <= len(arguments) <= most:
            count = f"{least}" if least == most else f"between {least} and {most}"
            wanted = f"Expected {count} arguments, but got {len(arguments)}."
            return _failing("#N/A", f"Wrong number of arguments to {function}. {wanted}")
        return lambda scope: work(scope, [_postpone(node, scope) for node in arguments])

    def read_argument(self) -> Node:
        return (lambda _: None) if self.sees(",", ";", ")") else self.read_operators(0)


def _postpone(node: Node, scope: FormulaScope) -> Later:
    return lambda: node(scope)
