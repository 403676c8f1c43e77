"""CSV and TSV pass the shared suite under each of their options."""

from __future__ import annotations

from typing import Any

import numpy as np

import sheetarray as sa
from sheetarray.columns import column_letters
from sheetarray.testing.conformance import Conformance


class TestCsv(Conformance):
    suffix, format = ".csv", "csv"


class TestTsv(Conformance):
    every_case = False
    suffix, format = ".tsv", "tsv"


class TestTxt(Conformance):
    every_case = False
    suffix, format = ".txt", "txt"


class TestUpperCaseSuffix(Conformance):
    every_case = False
    suffix, format = ".CSV", "csv"


class TestRows(Conformance):
    suffix, format = ".csv", "csv"
    writing = {"orient": "rows"}  # noqa: RUF012


class TestRowsOfTsv(Conformance):
    every_case = False
    suffix, format = ".tsv", "tsv"
    writing = {"orient": "rows"}  # noqa: RUF012


class TestSemicolonAndDecimalComma(Conformance):
    every_case = False
    suffix, format = ".csv", "csv"
    writing = {"delimiter": ";", "decimal": ","}  # noqa: RUF012


class TestSemicolonAndDecimalCommaSaid(Conformance):
    every_case = False
    suffix, format = ".csv", "csv"
    writing = reading = {"delimiter": ";", "decimal": ","}  # noqa: RUF012
    scanning = {"delimiter": ";"}  # noqa: RUF012


class TestTabAndDecimalComma(Conformance):
    every_case = False
    suffix, format = ".tsv", "tsv"
    writing = {"decimal": ","}  # noqa: RUF012


class TestBom(Conformance):
    every_case = False
    suffix, format = ".csv", "csv"
    writing = {"bom": True}  # noqa: RUF012


class TestUtf16(Conformance):
    every_case = False
    suffix, format, text = ".csv", "csv", False
    writing = {"encoding": "utf-16"}  # noqa: RUF012


class TestGzip(Conformance):
    every_case = False
    suffix, format = ".csv.gz", "csv"


class TestZstandard(Conformance):
    every_case = False
    suffix, format = ".tsv.zst", "tsv"


class TestRowsInUtf16AndGzip(Conformance):
    every_case = False
    suffix, format, text = ".csv.gz", "csv", False
    writing = {"orient": "rows", "encoding": "utf-16", "delimiter": ";", "decimal": ","}  # noqa: RUF012


class TestNameless(Conformance):
    every_case = False
    suffix, format = ".csv", "csv"
    writing = {"names": False}  # noqa: RUF012

    def name(self, index: int, name: str) -> str:
        return column_letters(index)


class TestFormulasKept(Conformance):
    every_case = False
    suffix, format = ".csv", "csv"
    writing = reading = scanning = {"formulas": "keep"}  # noqa: RUF012
    lacks = {"dtype generic": sa.DTypeError, "generic blanks": sa.DTypeError}  # noqa: RUF012


class TestParts(Conformance):
    """Every array that is long goes on in the next columns."""

    every_case = False
    suffix, format = ".csv", "csv"
    writing = {"max_rows": 2000}  # noqa: RUF012

    def cells(self, array: Any) -> int:
        return len(sa.to_linear(array))


class TestShortParts(Conformance):
    """Even the shortest arrays go on in the next columns."""

    every_case = False
    suffix, format = ".csv", "csv"
    writing = {"max_rows": 160}  # noqa: RUF012

    def cells(self, array: Any) -> int:
        linear = sa.LinearArray.from_numpy(array)
        header = len(linear.header.to_cells())
        if 1 + header + linear.capacity <= 160:
            return header + linear.capacity
        parts = -(-linear.capacity // (160 - 1 - header - 3))
        return parts * (header + 3) + linear.capacity

    def test_a_long_array_of_each_bulk_path(self, place: Any) -> None:
        arrays = {"f": np.random.default_rng(1).normal(size=1000), "t": np.array([f"{n:05d}" for n in range(900)])}
        self._write_and_read(place, arrays)
        assert {info.parts for info in self.scan(place).values()} == {8, 7}
