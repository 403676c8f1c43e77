"""The codec: one ndarray, one flat list, as the specification's example has it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import sheetarray as sa
from sheetarray import from_linear, to_linear
from sheetarray.testing.cases import CASES, assert_same, objects

EXAMPLE = json.loads(
    '["version", "1.0.0", "ndarray", "shape", 2, 2, "strides", 2, 1, "offset", 0, "order", "row-major", '
    '"dtype", "float64", "length", 4, "capacity", 4, "data", 1, 2, 3, 4]'
)


def test_the_specifications_example_comes_out_cell_for_cell() -> None:
    assert to_linear(np.array([[1.0, 2.0], [3.0, 4.0]])) == EXAMPLE


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


def test_a_0_d_array_has_no_shape_and_the_one_stride_0() -> None:
    header = "version 1.0.0 ndarray shape strides 0 offset 0 order row-major dtype int8 length 1 capacity 1 data 5"
    assert list(map(str, to_linear(np.array(5, dtype="int8")))) == header.split()


def test_numbers_are_python_scalars_and_lossy_ones_text() -> None:
    def data(array: Any, **options: Any) -> list[Any]:
        return to_linear(np.array(array), **options)[to_linear(np.array(array)).index("data") + 1 :]

    assert data([np.nan, np.inf, -np.inf]) == ["NaN", "Infinity", "-Infinity"]
    assert data([2**53 - 1, 2**53, 2**53 + 1]) == [2**53 - 1, "9007199254740992", "9007199254740993"]
    assert data([1 - 2**53, -(2**53), -(2**53) - 1]) == [1 - 2**53, "-9007199254740992", "-9007199254740993"]
    assert data(np.array([2**53 - 1, 2**53], dtype="uint64")) == [2**53 - 1, "9007199254740992"]
    assert data(np.array([2**53 - 1, 2**53], dtype="m8[s]")) == [2**53 - 1, "9007199254740992"]
    assert data(np.array([2**64 - 1], dtype="uint64")) == ["18446744073709551615"]
    assert data([3 + 4j, 1.5 - 2.25j, 0j]) == ["3+4i", "1.5-2.25i", "0+0i"]
    assert data([3 + 4j], complex="interleaved") == [3.0, 4.0]
    assert data([True, False]) == [True, False]
    assert data(np.array(["2020-02-29", "NaT"], dtype="M8[D]")) == ["2020-02-29", "NaT"]


def test_signs_of_zero_and_words_survive_in_both_parts_of_text() -> None:
    parts = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0]
    array = np.array([complex(re, im) for re in parts for im in parts])
    texts = to_linear(array)[-36:]
    assert all(isinstance(text, str) and " " not in text and text.endswith("i") for text in texts)
    assert texts[1] == "0-0i"
    assert_same(from_linear(to_linear(array)), array)


@pytest.mark.parametrize(
    ("dtype", "cell", "value"),
    [
        ("complex128", "3+4j", 3 + 4j),
        ("complex128", "(3-4j)", 3 - 4j),
        ("complex128", "3", 3 + 0j),
        ("complex128", "4i", 4j),
        ("complex128", "-i", complex(0, -1)),
        ("complex128", "i", 1j),
        ("complex128", "1 + 2i", 1 + 2j),
        ("complex128", 2.5, 2.5 + 0j),
        ("complex128", " 1e5-1E-5i ", 1e5 - 1e-5j),
        ("complex128", "+1+i", 1 + 1j),
        ("complex128", "5J", 5j),
        ("complex128", "1-i", 1 - 1j),
        ("complex128", 7, 7 + 0j),
        ("float64", "inf", np.inf),
        ("float64", "+Infinity", np.inf),
        ("float64", "-inf", -np.inf),
        ("float64", "nan", np.nan),
        ("float64", "NAN", np.nan),
        ("float64", "+inf", np.inf),
        ("float64", {"type": "float64", "value": "NaN"}, np.nan),
        ("float64", {"type": "float64", "value": "-Infinity"}, -np.inf),
        ("float64", {"type": "float64", "value": "+Infinity"}, np.inf),
        ("float64", " 1E+05 ", 1e5),
        ("float64", "1.", 1.0),
        ("float64", ".5", 0.5),
        ("float64", 7, 7.0),
        ("float64", "-0", -0.0),
        ("int32", 2.0, 2),
        ("int32", "2", 2),
        ("int32", "2.0", 2),
        ("int32", "1E+05", 100_000),
        ("int32", " 7 ", 7),
        ("uint8", "+5", 5),
        ("int64", "9223372036854775807", 2**63 - 1),
        ("uint64", "18446744073709551615", 2**64 - 1),
        ("int64", "1e3", 1000),
        ("int8", "-128.000", -128),
        ("uint8", "-0", 0),
        ("int64", "9.223372036854775807E+18", 2**63 - 1),
        *(("bool", cell, True) for cell in (True, "TRUE", "true", " True ", 1, 1.0, "1")),
        *(("bool", cell, False) for cell in (False, "FALSE", "false", 0, 0.0, "0", -0.0)),
    ],
)
def test_the_dtype_wins_over_the_look_of_a_cell(dtype: str, cell: Any, value: Any) -> None:
    cells = to_linear(np.array([0], dtype=dtype))
    assert_same(from_linear([*cells[:-1], cell]), np.array([value], dtype=dtype))


@pytest.mark.parametrize(
    ("dtype", "cell"),
    [
        *(("complex128", cell) for cell in ["3+4", "3 4i", "i3", "3+4k", "1+2i3", "++1i", "(1+2i", "1,5+2i", "", "x"]),
        *(("float64", cell) for cell in ["1_000", "0x10", "\u0661", "1,5", "1e", "--1", "infinit", "1 2"]),
        *(("float64", cell) for cell in [True, [1], {"value": "1"}, "1e999", 10**400]),
        ("uint8", 300),
        ("uint8", 2.5),
        ("uint8", -1),
        ("uint8", "256"),
        ("int8", 128),
        ("int64", 2**63),
        ("uint64", "18446744073709551616"),
        ("int32", "2,5"),
        ("int32", True),
        ("int32", "NaN"),
        ("int32", "1e400"),
        ("int32", "1e-1"),
        ("float16", 70000),
        ("float16", "70000"),
        ("float32", 1e39),
        ("float32", "-1e39"),
        ("complex64", "1e39+0i"),
        ("complex64", 1e39),
        ("complex64", "0-1e39i"),
        ("bool", 2),
        *(("bool", cell) for cell in ("yes", "1.0", -1, 0.5, "T", "01")),
        ("datetime64[D]", "2020-13-01"),
        ("datetime64[D]", "2020-01-01T12:00"),
        ("datetime64[D]", 5),
        ("datetime64[ns]", "1000-01-01"),
        ("timedelta64[s]", 1.5),
        ("timedelta64[s]", "9223372036854775808"),
    ],
)
def test_what_the_dtype_does_not_hold_is_an_error_with_its_cell_never_a_wrap(dtype: str, cell: Any) -> None:
    cells = to_linear(np.zeros(2, dtype=dtype))
    with pytest.raises(sa.FormatError) as caught:
        from_linear([*cells[:-1], cell])
    assert caught.value.location == f"cells[{len(cells) - 1}]"
    assert caught.value.element == "array[1]"


def test_uint8c_and_the_other_aliases_are_read() -> None:
    for alias, name in {
        "uint8c": "uint8",
        "binary": "uint8",
        "number": "float64",
        "complex": "complex128",
        "boolean": "bool",
    }.items():
        cells = to_linear(np.array([1], dtype=name))
        cells[cells.index(name)] = alias
        assert from_linear(cells).dtype == np.dtype(name)
    cells = to_linear(objects("1"))
    cells[cells.index("generic")] = "any"
    assert from_linear(cells).tolist() == ["1"]


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
