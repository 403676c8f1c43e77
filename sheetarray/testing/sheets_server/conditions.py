"""Whether a cell meets a BooleanCondition, as conditional formats have them."""

from __future__ import annotations

import re
from collections.abc import Callable

from . import entered
from .errors import Json
from .formulas import Evaluator, FormulaError, Scalar
from .formulas.operands import COMPARISONS, compare
from .formulas.references import translate
from .spreadsheet import ServedSheet

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_URL = re.compile(r"(https?://|www\.)\S+", re.IGNORECASE)
# What `compare` must return for the value of a cell and that of the condition
_ORDERS: dict[str, Callable[[int], bool]] = {
    "GREATER": COMPARISONS[">"],
    "GREATER_THAN_EQ": COMPARISONS[">="],
    "LESS": COMPARISONS["<"],
    "LESS_THAN_EQ": COMPARISONS["<="],
    "EQ": COMPARISONS["="],
    "NOT_EQ": COMPARISONS["<>"],
    "AFTER": COMPARISONS[">"],
    "ON_OR_AFTER": COMPARISONS[">="],
    "BEFORE": COMPARISONS["<"],
    "ON_OR_BEFORE": COMPARISONS["<="],
}
_TEXTS: dict[str, Callable[[str, str], bool]] = {
    "CONTAINS": lambda text, part: part in text,
    "NOT_CONTAINS": lambda text, part: part not in text,
    "STARTS_WITH": str.startswith,
    "ENDS_WITH": str.endswith,
    "EQ": lambda text, part: text == part,
    "NOT_EQ": lambda text, part: text != part,
}


class Condition:
    """A BooleanCondition on a range.

    A formula of the condition is written for the first cell of the range; for any other cell it is taken as a copy of
    it to that cell would be.

    Attributes:
        kind: its type, such as NUMBER_GREATER.
        evaluator: works its formulas out.
    """

    def __init__(self, evaluator: Evaluator, sheet: ServedSheet, condition: Json, top: int, left: int) -> None:
        self.evaluator = evaluator
        self.kind = str(condition.get("type"))
        self._sheet, self._top, self._left = sheet, top, left
        self._texts = [str(value.get("userEnteredValue", "")) for value in condition.get("values") or []]

    def is_met(self, row: int, column: int, value: Scalar | FormulaError, shown: str) -> bool:
        """Return whether a cell meets the condition.

        Args:
            row: of the cell.
            column: of the cell.
            value: what it comes to.
            shown: the text that it shows.
        """
        if self.kind == "BLANK":
            return value is None or value == ""
        if self.kind == "NOT_BLANK":
            return value is not None and value != ""
        if self.kind == "CUSTOM_FORMULA":
            met = self._operand(0, row, column)
            return met is True or (type(met) is float and met != 0)
        if isinstance(value, FormulaError):
            return False
        group, _, test = self.kind.partition("_")
        if group == "TEXT":
            return self._meets_text(test, shown, row, column)
        if group in ("NUMBER", "DATE"):
            return type(value) is float and self._meets_number(test, value, row, column)
        return False

    def _meets_text(self, test: str, shown: str, row: int, column: int) -> bool:
        if test in ("IS_EMAIL", "IS_URL"):
            return bool((_EMAIL if test == "IS_EMAIL" else _URL).fullmatch(shown))
        part = self._operand(0, row, column) if self._texts and self._texts[0].startswith("=") else self._texts[:1]
        wanted = str(part[0] if isinstance(part, list) and part else "" if isinstance(part, list) else part)
        return test in _TEXTS and _TEXTS[test](shown.casefold(), wanted.casefold())

    def _meets_number(self, test: str, value: float, row: int, column: int) -> bool:
        first = self._operand(0, row, column)
        if test == "IS_VALID":
            return True
        if test in ("BETWEEN", "NOT_BETWEEN"):
            second = self._operand(1, row, column)
            if type(first) is not float or type(second) is not float:
                return False
            return (min(first, second) <= value <= max(first, second)) == (test == "BETWEEN")
        return type(first) is float and test in _ORDERS and _ORDERS[test](compare(value, first))

    def _operand(self, index: int, row: int, column: int) -> Scalar | FormulaError:
        """Return the value of the condition that has an index, for one cell; None where it has none."""
        if index >= len(self._texts):
            return None
        text = self._texts[index]
        if text.startswith("="):
            formula = translate(text, row - self._top, column - self._left)
            return self.evaluator.calculate(self._sheet, row, column, formula)
        cell = entered.cell_from_entry(text)[0]
        return cell if isinstance(cell, (bool, float, str)) else None
