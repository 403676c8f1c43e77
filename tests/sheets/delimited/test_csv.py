"""CSV and TSV pass the shared suite under each of their options."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from addresses import column_letters
from examples import cross

import sheetarray as sa
from sheetarray.testing.conformance import Conformance


class TestCsv(Conformance):
    suffix, format = ".csv", "csv"


# An option and another, or a compression, that do not meet in one place stand together.
SEMICOLON = {"delimiter": ";", "decimal": ","}
OPTIONS: dict[str, dict[str, Any]] = {
    "TxtAndBom": {"suffix": ".txt", "format": "txt", "writing": {"bom": True}},
    "Rows": {"writing": {"orient": "rows"}},
    "RowsOfTsvAndDecimalComma": {"suffix": ".tsv", "format": "tsv", "writing": {"orient": "rows", "decimal": ","}},
    "SemicolonAndDecimalComma": {"writing": SEMICOLON},
    "Said": {"suffix": ".csv.gz", "writing": SEMICOLON, "reading": SEMICOLON, "scanning": {"delimiter": ";"}},
    "Utf16": {"text": False, "writing": {"encoding": "utf-16"}},
    "TsvAndZstandard": {"suffix": ".tsv.zst", "format": "tsv"},
    "RowsInUtf16": {
        "suffix": ".csv.gz",
        "text": False,
        "writing": SEMICOLON | {"orient": "rows", "encoding": "utf-16"},
    },
}
for option, special in OPTIONS.items():
    of_csv = {"every_case": False, "suffix": ".csv", "format": "csv"}
    globals()[f"Test{option}"] = type(f"Test{option}", (Conformance,), of_csv | special)


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
    lacks = dict.fromkeys(["dtype string", "dtype generic", "generic blanks", "formula"], sa.DTypeError)


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


# A column beside which something else begins, below lines that have no delimiter ---------------------------------


def write_column(array: np.ndarray) -> list[str]:
    """Return the lines of a text of one array, `a`."""
    file = io.StringIO()
    sa.write(file, {"a": array}, format="csv")
    return file.getvalue().splitlines()


def make_uneven(beside: dict[str, np.ndarray], row: int, mark: str) -> str:
    """Return a text of one array, with others beside it from a row on; blanks at the ends of lines are left out."""
    right = io.StringIO()
    sa.write(right, beside, format="csv", delimiter=mark)
    lines = write_column(np.arange(200) / 4)
    for index, line in enumerate(right.getvalue().splitlines(), row):
        lines[index] += mark + line
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("mark", "row"), cross(",;\t|:^~", ["1", "2", "3", "5", "6", "8", "15", "23", "24", "25", "120"], ",")
)
def test_an_array_beside_a_column_is_seen_wherever_it_begins(row: str, mark: str) -> None:
    text = make_uneven({"k": np.arange(9) / 2, "n": np.arange(4)}, int(row), mark)
    for made in (text, text.replace(f"{mark}version", f'{mark}"version"')):
        arrays = sa.read(io.StringIO(made), format="csv")
        assert {name: array.tolist() for name, array in arrays.items()} == {
            "a": (np.arange(200) / 4).tolist(),
            "k": (np.arange(9) / 2).tolist(),
            "n": [0, 1, 2, 3],
        }
        assert list(sa.scan(io.StringIO(made), format="csv")) == list(arrays)
        assert list(sa.check(io.StringIO(made), format="csv")) == []


@pytest.mark.parametrize("shift", [-8, -7, -6, -1, 0, 1])
def test_an_array_far_down_is_found_wherever_its_words_stand(shift: int) -> None:
    size = 2**21 + shift - len("t,\nVersion,\n1.0.0,\n")  # so that `NDArray` begins beside a multiple of 2**20
    above = "1,2\n" * (size // 4 - 2)
    above += f"1,{'2' * (size - len(above) - 3)}\n"
    words = [*map(str, sa.to_linear(np.array([1.5, 2.5])))]
    words[0], words[2] = "Version", "NDArray"
    text = above + "t,\n" + "".join(f"{word},\n" for word in words)
    assert text.index("NDArray") == 2**21 + shift
    assert sa.read_csv(io.BytesIO(text.encode()))["t"].tolist() == [1.5, 2.5]
