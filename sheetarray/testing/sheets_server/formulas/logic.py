"""Functions that decide: conditions, and what stands in for errors; those that decide look at what they need."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .mathematics import ANY, Function
from .operands import (
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
    from .evaluator import CellBlock, FormulaScope

Later = Callable[[], Operand]
_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#ERROR!")
LazyFunction = tuple[int, int, Callable[["FormulaScope", list[Later]], Operand]]


def _truths(arguments: Arguments) -> list[bool]:
    """Return the conditions: booleans and numbers of blocks, and the other arguments."""
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
    def work(_: FormulaScope, given: list[Later]) -> Operand:
        try:
            return single_value(given[0]())
        except FormulaError as error:
            if errors and str(error) not in errors:
                raise
        return given[1]() if len(given) > 1 else ""

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
    return float(_block(given[0]()).area.top + 1 if given else scope.row + 1)


def _column(scope: FormulaScope, given: list[Later]) -> Operand:
    return float(_block(given[0]()).area.left + 1 if given else scope.column + 1)


def _block(operand: Operand) -> CellBlock:
    from .evaluator import CellBlock

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


DECIDING: dict[str, LazyFunction] = {
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
    "ISNUMBER": (1, 1, _kind(lambda value: type(value) is float)),
    "ISTEXT": (1, 1, _kind(lambda value: isinstance(value, str))),
    "ROW": (0, 1, _row),
    "ERROR.TYPE": (1, 1, _error_type),
    "TYPE": (1, 1, _type),
    "SWITCH": (3, ANY, _switch),
}

LOGIC: dict[str, Function] = {
    "AND": (1, ANY, lambda given: all(_truths(given))),
    "EQ": (2, 2, lambda given: compare(single_value(given[0]), single_value(given[1])) == 0),
    "FALSE": (0, 0, lambda _: False),
    "N": (1, 1, lambda given: 0.0 if isinstance(single_value(given[0]), str) else number(given[0])),
    "NA": (0, 0, _not_available),
    "NOT": (1, 1, lambda given: not truth(given[0])),
    "OR": (1, ANY, lambda given: any(_truths(given))),
    "TRUE": (0, 0, lambda _: True),
    "XOR": (1, ANY, lambda given: sum(_truths(given)) % 2 == 1),
}
