"""What a fingerprint says of an array after its cells changed, and the roundings that programs do."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np

from sheetarray import Finding, LinearArray
from sheetarray.sheets.excel.fingerprint.record import take_fingerprint
from sheetarray.sheets.excel.fingerprint.verdict import compare_with_fingerprint

WIDE = Context(prec=60, Emin=-9999, Emax=9999)


def rounded(number: float, digits: int = 15) -> float:
    """The double that a program leaves which keeps so many digits of the shortest text, half away from zero."""
    decimal = Decimal(repr(number))
    if not decimal.is_finite() or not decimal:
        return number
    unit = Decimal((0, (1,), decimal.adjusted() - digits + 1))
    return float(decimal.quantize(unit, ROUND_HALF_UP, WIDE))


Array = np.ndarray[Any, Any]
FIRST_ROW = 21


def make_fingerprint(buffer: Array, dtype: Any, **options: Any) -> dict[str, Any]:
    """The fingerprint of an array, ready to be stored."""
    return take_fingerprint(buffer, dtype, len(buffer), **options).to_json()


def cell(index: int) -> str:
    return f"arrays!B{index + FIRST_ROW}"


def remembered(array: Array, blocks: int = 64) -> tuple[Any, LinearArray]:
    """The fingerprint of an array, as a file would bring it back, and what a reader finds of the array."""
    linear = LinearArray.from_numpy(array)
    record = make_fingerprint(linear.buffer, linear.dtype_entry, blocks=blocks, header=linear.header)
    return json.loads(json.dumps(record)), linear


def findings(array: Array, change: Callable[[Array], Any], blocks: int = 64) -> list[Finding]:
    record, linear = remembered(array, blocks)
    return list(compare_with_fingerprint(record, linear.header, change(linear.buffer.copy()), "t", cell))


def at_15(buffer: Array) -> Array:
    return np.array([rounded(number) for number in buffer.tolist()])


def at_15_even(buffer: Array) -> Array:
    return np.array([float(f"{number:.15g}") for number in buffer.tolist()])


def at_16(buffer: Array) -> Array:
    return np.array([float(f"{number:.16g}") for number in buffer.tolist()])


def with_edits(*indices: int) -> Callable[[Array], Array]:
    def change(buffer: Array) -> Array:
        buffer[list(indices)] = buffer[list(indices)] * 3 + 1
        return buffer

    return change


def random_numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def said(result: list[Finding]) -> list[tuple[str, str | None, str]]:
    return [(finding.severity, finding.location, finding.message) for finding in result]
