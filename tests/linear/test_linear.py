"""The codec: one ndarray, one flat list, as the specification's example has it."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sheetarray as sa
from sheetarray import from_linear, to_linear
from sheetarray.testing.cases import CASES, assert_same

EXAMPLE = json.loads(
    '["version", "1.0.0", "ndarray", "shape", 2, 2, "strides", 2, 1, "offset", 0, "order", "row-major", '
    '"dtype", "float64", "length", 4, "capacity", 4, "data", 1, 2, 3, 4]'
)


def test_the_specifications_example_is_read() -> None:
    assert_same(from_linear(EXAMPLE), np.array([[1.0, 2.0], [3.0, 4.0]]))


@pytest.mark.parametrize("case", CASES)
def test_every_array_comes_back_through_json_and_as_text(case: str) -> None:
    array = CASES[case]
    for look in ("interleaved", "text"):
        cells = to_linear(array, complex=look)  # type: ignore[arg-type]  # both are literals
        assert all(cell is None or type(cell) in (str, int, float, bool) for cell in cells)
        assert_same(from_linear(json.loads(json.dumps(cells, allow_nan=False))), array)
    assert len(cells) - cells.index("data", 12) - 1 == array.size
    if array.dtype.kind != "O":  # text is text there
        assert_same(from_linear(list(map(str, cells))), array)


def test_signs_of_zero_and_words_survive_in_both_parts_of_text() -> None:
    parts = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0]
    array = np.array([complex(re, im) for re in parts for im in parts])
    texts = to_linear(array)[-36:]
    assert all(isinstance(text, str) and " " not in text and text.endswith("i") for text in texts)
    assert texts[1] == "0-0i"
    assert_same(from_linear(to_linear(array)), array)


def test_rounding_of_text_under_narrow_floats_happens_once() -> None:
    # halfway between two float32 in double precision, but the numeral lies above
    text = "1.00000005960464477539062500000000000000001"
    cells = to_linear(np.array([0], dtype="float32"))
    assert from_linear([*cells[:-1], text])[0] == np.float32(1.0000001192092896)
    assert from_linear([*cells[:-1], "1.000000059604644775390625"])[0] == np.float32(1)


def test_an_array_of_cells_is_a_list_of_cells() -> None:
    cells = np.array(sa.to_linear(np.array([1.5, 2.5])), dtype=object)
    assert sa.from_linear(cells).tolist() == [1.5, 2.5]


def test_text_of_variable_width_becomes_text_of_fixed_width() -> None:
    array = np.array([["a", "bb"], ["", "ü"]], dtype=np.dtypes.StringDType())
    assert sa.from_linear(sa.to_linear(array)).tolist() == array.tolist()
    missing = np.array(["a", None], dtype=np.dtypes.StringDType(na_object=None))
    assert sa.from_linear(sa.to_linear(missing)).tolist() == ["a", None]  # as generic: text has no missing element
