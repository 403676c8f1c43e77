"""The arrays of the shipped conformance suite, under the name by which the tests know them."""

from sheetarray.testing.cases import (
    CASES,
    GENERIC,
    TEXTS,
    TIMES,
    UNITS,
    Array,
    assert_same,
    dtype_cases,
    objects,
    plain,
    shape_cases,
    text_cases,
)

__all__ = [
    "CASES",
    "GENERIC",
    "TEXTS",
    "TIMES",
    "UNITS",
    "Array",
    "assert_same",
    "dtype_cases",
    "objects",
    "plain",
    "shape_cases",
    "text_cases",
]
