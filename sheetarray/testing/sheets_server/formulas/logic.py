"""Functions of conditions and errors, such as IF and IFERROR, which work out only the arguments that they need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from .arrays import ArrayBlock, broadcast, size_of, spreads
from .mathematics import ANY, Function
from .operands import (
    COMPARISONS,
    Arguments,
    FormulaError,
    Operand,
    Scalar,
    as_block,
    compare,
    fail,
    is_block,
    number,
    single_value,
    truth,
    values,
    whole,
)

if TYPE_CHECKING:
    from .blocks import CellBlock
    from .evaluator import FormulaScope

Later = Callable[[], Operand]  # works an argument out when it is called
_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#ERROR!")
LazyWork = Callable[["FormulaScope", list[Later]], Operand]
LazyFunction = tuple[int, int, LazyWork]


def _elementwise(lazy: LazyWork) -> LazyWork:
    """Return a function that is applied to each value of its arguments if it stands in an array formula."""

    def work(scope: FormulaScope, given: list[Later]) -> Operand:
        if not scope.array:
            return lazy(scope, given)
        operands = [_settle(later) for later in given]
        inner = replace(scope, array=False)
        if not any(size_of(operand) != (1, 1) for operand in operands):
            return lazy(inner, [partial(_same, operand) for operand in operands])
        return broadcast(lambda values: lazy(inner, [partial(_same, value) for value in values]), operands, errors=True)

    return work


def _same(operand: Operand) -> Operand:
    return operand


def _settle(later: Later) -> Operand:
    """Return an argument worked out; an error is not raised, but returned as an array of one value."""
    try:
        return later()
    except FormulaError as error:
        return ArrayBlock([[error]], 1)


def _truths(arguments: Arguments) -> list[bool]:
    """Return conditions as booleans: single arguments, and the booleans and numbers in ranges and arrays."""
    truths = []
    for argument in arguments:
        if not is_block(argument):
            truths.append(truth(argument))
            continue
        for value in values([argument]):
            if isinstance(value, FormulaError):
                raise value
            if isinstance(value, (bool, float)):
                truths.append(bool(value))
    return truths or fail("#VALUE!", "There is no condition.")


def _if(_: FormulaScope, given: list[Later]) -> Operand:
    if truth(given[0]()):
        return given[1]()
    return given[2]() if len(given) > 2 else False


def _ifs(_: FormulaScope, given: list[Later]) -> Operand:
    for condition, result in zip(given[::2], given[1::2], strict=False):
        if truth(condition()):
            return result()
    return fail("#N/A", "No match.")


def _instead(errors: tuple[str, ...]) -> Callable[[FormulaScope, list[Later]], Operand]:
    """Return IFERROR or IFNA, which replaces these errors by its second argument; no errors stand for all."""

    def work(_: FormulaScope, given: list[Later]) -> Operand:
        try:
            operand = given[0]()
            if not spreads(operand):
                return single_value(operand)
        except FormulaError as error:
            if errors and str(error) not in errors:
                raise
            return given[1]() if len(given) > 1 else ""
        instead: Operand = given[1]() if len(given) > 1 else ""

        def replace_errors(values: list[Operand]) -> Operand:
            try:
                return single_value(values[0])
            except FormulaError as error:
                if errors and str(error) not in errors:
                    raise
            return values[1]

        return broadcast(replace_errors, [operand, instead], errors=True)

    return work


def _is_error(errors: tuple[str, ...]) -> Callable[[FormulaScope, list[Later]], Operand]:
    def work(_: FormulaScope, given: list[Later]) -> Operand:
        try:
            single_value(given[0]())
        except FormulaError as error:
            return not errors or str(error) in errors
        return False

    return work


def _switch(_: FormulaScope, given: list[Later]) -> Operand:
    value = single_value(given[0]())
    cases = given[1:]
    for case, result in zip(cases[::2], cases[1::2], strict=False):
        if compare(value, single_value(case())) == 0:
            return result()
    return cases[-1]() if len(cases) % 2 else fail("#N/A", "No match.")


def _choose(_: FormulaScope, given: list[Later]) -> Operand:
    index = whole(given[0]())
    if not 1 <= index < len(given):
        fail("#NUM!", f"Function CHOOSE parameter 1 value is {index}. It should be between 1 and {len(given) - 1}.")
    return given[index]()


def _row(scope: FormulaScope, given: list[Later]) -> Operand:
    if not given:
        return float(scope.row + 1)
    area = _block(given[0]()).area
    if not scope.array or area.height == 1:
        return float(area.top + 1)
    return ArrayBlock([[float(row + 1) for row in range(area.top, area.bottom)]], area.height)


def _column(scope: FormulaScope, given: list[Later]) -> Operand:
    if not given:
        return float(scope.column + 1)
    area = _block(given[0]()).area
    if not scope.array or area.width == 1:
        return float(area.left + 1)
    return ArrayBlock([[float(column + 1)] for column in range(area.left, area.right)], 1)


def _block(operand: Operand) -> CellBlock:
    from .blocks import CellBlock

    block = as_block(operand, "ROW or COLUMN")
    assert isinstance(block, CellBlock)
    return block


def _kind(test: Callable[[Scalar], bool]) -> Callable[[FormulaScope, list[Later]], Operand]:
    def work(_: FormulaScope, given: list[Later]) -> Operand:
        try:
            return test(single_value(given[0]()))
        except FormulaError:
            return False

    return work


def _error_type(_: FormulaScope, given: list[Later]) -> Operand:
    try:
        single_value(given[0]())
    except FormulaError as error:
        return float(_ERRORS.index(str(error)) + 1)
    return fail("#N/A", "Function ERROR.TYPE parameter 1 is no error.")


def _type(_: FormulaScope, given: list[Later]) -> Operand:
    try:
        operand = given[0]()
        value = single_value(operand) if not is_block(operand) else as_block(operand, "TYPE").value(0, 0)
    except FormulaError:
        return 16.0
    return 4.0 if isinstance(value, bool) else 2.0 if isinstance(value, str) else 1.0


def _not_available(_: Arguments) -> Operand:
    fail("#N/A")


_DECIDING: dict[str, LazyFunction] = {
    "CHOOSE": (2, ANY, _choose),
    "COLUMN": (0, 1, _column),
    "IF": (2, 3, _if),
    "IFERROR": (1, 2, _instead(())),
    "IFNA": (2, 2, _instead(("#N/A",))),
    "IFS": (2, ANY, _ifs),
    "ISBLANK": (1, 1, _kind(lambda value: value is None)),
    "ISERR": (
        1,
        1,
        _is_error(tuple(error for error in _ERRORS if error != "#N/A")),
    ),
    "ISERROR": (1, 1, _is_error(())),
    "ISLOGICAL": (1, 1, _kind(lambda value: isinstance(value, bool))),
    "ISNA": (1, 1, _is_error(("#N/A",))),
    "ISNONTEXT": (1, 1, _kind(lambda value: not isinstance(value, str))),
    "ISNUMBER": (1, 1, _kind(lambda value: type(value) is float)),
    "ISTEXT": (1, 1, _kind(lambda value: isinstance(value, str))),
    "ROW": (0, 1, _row),
    "ERROR.TYPE": (1, 1, _error_type),
    "TYPE": (1, 1, _type),
    "SWITCH": (3, ANY, _switch),
}

DECIDING: dict[str, LazyFunction] = {
    name: (least, most, work if name in ("COLUMN", "ROW", "TYPE") else _elementwise(work))
    for name, (least, most, work) in _DECIDING.items()
}


def _comparing(decide: Callable[[int], bool]) -> Function:
    return 2, 2, lambda given: decide(compare(single_value(given[0]), single_value(given[1])))


def _between(arguments: Arguments) -> Operand:
    value, low, high = map(single_value, arguments[:3])
    ends = [truth(operand) for operand in arguments[3:]]
    with_low, with_high = [*ends, True, True][:2] if len(ends) < 2 else ends
    above, below = compare(value, low), compare(value, high)
    return (above > 0 or (with_low and above == 0)) and (below < 0 or (with_high and below == 0))


LOGIC: dict[str, Function] = {
    "GT": _comparing(COMPARISONS[">"]),
    "GTE": _comparing(COMPARISONS[">="]),
    "ISBETWEEN": (3, 5, _between),
    "LT": _comparing(COMPARISONS["<"]),
    "LTE": _comparing(COMPARISONS["<="]),
    "NE": _comparing(COMPARISONS["<>"]),
    "AND": (1, ANY, lambda given: all(_truths(given))),
    "EQ": _comparing(COMPARISONS["="]),
    "FALSE": (0, 0, lambda _: False),
    "N": (1, 1, lambda given: 0.0 if isinstance(single_value(given[0]), str) else number(given[0])),
    "NA": (0, 0, _not_available),
    "NOT": (1, 1, lambda given: not truth(given[0])),
    "OR": (1, ANY, lambda given: any(_truths(given))),
    "TRUE": (0, 0, lambda _: True),
    "XOR": (1, ANY, lambda given: sum(_truths(given)) % 2 == 1),
}
