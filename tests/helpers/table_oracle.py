"""What a column of a table means, worked out with Decimal, cell by cell and slowly: an oracle for `read_columns`."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

_PLAIN = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WORDS = {"nan", "inf", "infinity"}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d{1,9})?)?", re.ASCII)


def is_number(text: str) -> bool:
    word = text.removeprefix("+") if text.startswith("+") else text.removeprefix("-")
    return bool(_PLAIN.fullmatch(text)) or word.lower() in _WORDS


def is_integer(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+", text, re.ASCII) is not None and text != "-0"


def gives_back(text: str) -> bool:
    """Whether the double, printed with as many digits as the numeral has, is the numeral."""
    if text.lstrip("+-").lower() in _WORDS:
        return True
    exact, value = Decimal(text), float(text)
    digits = re.split("[eE]", text)[0].lstrip("+-").replace(".", "").lstrip("0")
    if not digits:
        return True
    if abs(value) == float("inf"):
        return False
    # The shortest text of 2**-24 ends in 063, and %.15e prints 062: halfway between them, both are what programs print.
    return exact == Decimal(f"{value:.{len(digits) - 1}e}") or (len(digits) <= 17 and exact == Decimal(repr(value)))


def comma_can_part_thousands(text: str) -> bool:
    return re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+", text, re.ASCII) is not None


def may_have_decimal_comma(text: str) -> bool:
    plain = text.count(",") < 2 and "." not in text and not text.endswith(",") and ",e" not in text.lower()
    return plain and is_number(text.replace(",", "."))


def meaning(cells: list[str]) -> tuple[str, list[Any]]:
    """The name of the dtype that a column has, and its values: None for a missing one."""
    texts = [cell.strip() for cell in cells]
    filled = [text for text in texts if text]
    missing = len(filled) < len(texts)
    if not filled:
        return "float64", [None] * len(cells)
    if any(re.fullmatch(r"\+\d{7,}", text, re.ASCII) for text in filled):
        return _text(cells)
    if all(map(is_number, filled)):
        return _numbers(texts, filled, missing) or _text(cells)
    points = [text.replace(",", ".") for text in texts]
    known = any("," in text and not comma_can_part_thousands(text) for text in filled)
    if known and all(map(may_have_decimal_comma, filled)):
        return _numbers(points, [text for text in points if text], missing) or _text(cells)
    if all(text.lower() in ("true", "false") for text in filled):
        values = [text.lower() == "true" if text else None for text in texts]
        return "object" if missing else "bool", values
    if all(map(_MOMENT.fullmatch, filled)):
        return _moments(texts, filled) or _text(cells)
    return _text(cells)


def _text(cells: list[str]) -> tuple[str, list[Any]]:
    return "str", [cell if cell.strip() else "" for cell in cells]


def _numbers(texts: list[str], filled: list[str], missing: bool) -> tuple[str, list[Any]] | None:
    if all(map(is_integer, filled)):
        low, high = min(map(int, filled)), max(map(int, filled))
        values: list[Any] = [int(text) if text else None for text in texts]
        if low < -(2**63) or high >= 2**64 or (low < 0 and high >= 2**63):
            return None
        if missing:
            exact = max(-low, high) <= 2**53
            return "float64" if exact else "object", [float(v) if exact and v is not None else v for v in values]
        return "int64" if high < 2**63 else "uint64", values
    if not all(map(gives_back, filled)):
        return None
    if all(re.fullmatch(r"[+-]?\d+", text, re.ASCII) for text in filled) and any(len(text) > 16 for text in filled):
        return None  # integers beside -0, which no integer is: one as long as an id stays text, however round
    return "float64", [float(text) if text else None for text in texts]


def _moments(texts: list[str], filled: list[str]) -> tuple[str, list[Any]] | None:
    digits = max((len(text.partition(".")[2]) for text in filled), default=0)
    unit = "D" if all(len(text) == 10 for text in filled) else ("s", "ms", "us", "ns")[-(-digits // 3)]
    for text in filled:
        try:
            if int(text[:4]) > 0:
                datetime.fromisoformat(text[:19]) if len(text) > 10 else date.fromisoformat(text)
        except ValueError:
            return None
        if unit == "ns" and not 1678 <= int(text[:4]) <= 2261:
            return None
    return f"datetime64[{unit}]", [text.replace(" ", "T") if text else None for text in texts]


def holds(array: np.ndarray[Any, Any], cells: list[str]) -> None:
    """Assert that an array is what a column of cells means."""
    dtype, values = meaning(cells)
    assert (array.dtype.kind in "UT") == (dtype == "str"), (array.dtype, cells[:50])
    assert array.shape == (len(cells),)
    if dtype != "str":
        assert array.dtype == dtype, (array.dtype, dtype, cells[:50])
    if dtype == "float64":
        expected = np.array([np.nan if value is None else value for value in values])
        same = (array.view(np.int64) == expected.view(np.int64)) | (np.isnan(array) & np.isnan(expected))
        assert same.all(), (cells, array)
    elif dtype.startswith("datetime64"):
        expected = np.array(["NaT" if value is None else value for value in values], dtype=dtype)
        assert array.tolist() == expected.tolist()
        assert (array.view(np.int64) == expected.view(np.int64)).all()
    else:
        assert array.tolist() == values
        assert [type(value) for value in array.tolist()] == [type(value) for value in values]
