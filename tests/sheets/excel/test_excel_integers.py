"""What `check` says of integers beyond 2^53 that a program kept as doubles: that they were rounded, not edited."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import openpyxl
import pytest

import sheetarray as sa

LARGE = np.array([2**53 + 1, 2**60 + 12345, 7, -(2**62) - 3, 5, 6, 8, 2**61 + 1])
ROUNDINGS: dict[str, Callable[[int], int]] = {
    "double": lambda number: int(float(number)),
    "15 digits": lambda number: int(float(f"{number:.15g}")),
    "%.16g": lambda number: int(float(f"{float(number):.16g}")),
    "shortest": lambda number: int(f"{float(number):.17g}") if abs(number) < 10**17 else shortest(number),
}


def shortest(number: int) -> int:
    """The integer that the shortest text of its double says, as a program prints it."""
    digits, _, exponent = f"{float(number)!r}".replace(".", "").partition("e")
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("-")
    return sign * int(digits.ljust(int(exponent or 0) + 1, "0")) if exponent else int(float(number))


def resaved(array: Any, change: Callable[[int, int], int]) -> io.BytesIO:
    """A workbook with the array, of which each element that stands as text was changed, given its index."""
    file = io.BytesIO()
    sa.write_excel(file, {"i": array})
    book = openpyxl.load_workbook(file)
    start = 1 + len(sa.to_linear(array)) - array.size
    for row in range(start, start + array.size):
        cell = book["arrays"].cell(row + 1, 1)
        cell.value = str(change(row - start, int(cell.value)))
    saved = io.BytesIO()
    book.save(saved)
    saved.seek(0)
    return saved


def rounded(how: str, *, edits: dict[int, int] | None = None, most: int = 2**64) -> Callable[[int, int], int]:
    def change(index: int, number: int) -> int:
        if edits and index in edits:
            return edits[index]
        return ROUNDINGS[how](number) if index < most and abs(number) > 2**53 else number

    return change


@pytest.mark.parametrize("how", ROUNDINGS)
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_integers_that_became_doubles_are_said_to_be_rounded(how: str, dtype: str) -> None:
    array = LARGE if dtype == "int64" else np.abs(LARGE).astype(dtype)
    (finding,) = sa.check(resaved(array, rounded(how)), format="xlsx")
    assert finding.severity == "warning"
    assert "keeps integers as doubles" in finding.message
    assert "from i[0] to i[7]" in finding.message
    assert finding.array == "i"


def test_one_that_was_rounded_is_named() -> None:
    (finding,) = sa.check(resaved(LARGE, rounded("double", most=1)), format="xlsx")
    assert "i[0] (A20), beyond 2^53, was rounded" in finding.message


def test_an_edited_one_is_still_an_error() -> None:
    for edit in (2**60 + 777_777, 2**59, 12):
        findings = list(sa.check(resaved(LARGE, rounded("double", edits={1: edit})), format="xlsx"))
        assert [finding.index for finding in findings if finding.severity == "error"] == [(1,)]
        assert [finding.severity for finding in findings] == ["warning", "error"]
    assert list(sa.check(resaved(LARGE, rounded("double", most=0)), format="xlsx")) == []


@pytest.mark.parametrize(("number", "severity"), [(2**53 - 1, "error"), (2**53 + 1, "warning"), (2**53 + 2, "error")])
def test_what_a_double_holds_was_not_rounded(number: int, severity: str) -> None:
    """Around the bound: another double in the place of one that is exact, or too far away, is an edit."""
    array = np.array([number, 1, 2])
    (finding,) = sa.check(resaved(array, lambda index, cell: cell if index else 2**53), format="xlsx")
    assert finding.severity == severity


def test_many_in_a_stretch_are_rounded_together() -> None:
    array = np.arange(2000) + 2**60
    (finding,) = sa.check(resaved(array, rounded("double")), format="xlsx")
    assert finding.severity == "warning"
    assert "could not be told" in finding.message
    findings = list(sa.check(resaved(array, lambda _, number: number + 3), format="xlsx"))
    assert {finding.severity for finding in findings} == {"error"}
