"""The codec: one ndarray, one flat list, as the specification's example has it."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from cases import CASES, assert_same, objects

import sheetarray as sa
from sheetarray import LinearArray, from_linear, to_linear

EXAMPLE = [
    "version", "1.0.0", "ndarray", "shape", 2, 2, "strides", 2, 1, "offset", 0, "order", "row-major", "dtype", "float64",
    "length", 4, "capacity", 4, "data", 1, 2, 3, 4,
]  # fmt: skip


def test_the_specifications_example_comes_out_cell_for_cell() -> None:
    assert to_linear(np.array([[1.0, 2.0], [3.0, 4.0]])) == EXAMPLE


def test_the_specifications_example_is_read() -> None:
    assert_same(from_linear(EXAMPLE), np.array([[1.0, 2.0], [3.0, 4.0]]))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("complex", ["text", "interleaved"])
def test_every_array_comes_back_through_json(case: str, complex: Any) -> None:
    cells = to_linear(CASES[case], complex=complex)
    assert all(cell is None or type(cell) in (str, int, float, bool) for cell in cells)
    again = json.loads(json.dumps(cells, allow_nan=False))
    assert_same(from_linear(again), CASES[case])


@pytest.mark.parametrize("case", CASES)
def test_cells_may_all_be_text_except_in_generic_arrays(case: str) -> None:
    if CASES[case].dtype.kind == "O":
        pytest.skip("text is text there")
    assert_same(from_linear([str(cell) for cell in to_linear(CASES[case])]), CASES[case])


@pytest.mark.parametrize("case", CASES)
def test_one_cell_per_element_always(case: str) -> None:
    cells = to_linear(CASES[case])
    assert len(cells) - cells.index("data", 12) - 1 == CASES[case].size


def test_a_0_d_array_has_no_shape_and_the_one_stride_0() -> None:
    assert to_linear(np.array(5, dtype="int8")) == [
        "version", "1.0.0", "ndarray", "shape", "strides", 0, "offset", 0, "order", "row-major", "dtype", "int8",
        "length", 1, "capacity", 1, "data", 5,
    ]  # fmt: skip


def test_numbers_are_python_scalars_and_lossy_ones_text() -> None:
    def data(array: Any, **options: Any) -> list[Any]:
        return to_linear(np.array(array), **options)[to_linear(np.array(array)).index("data") + 1 :]

    assert data([np.nan, np.inf, -np.inf]) == ["NaN", "Infinity", "-Infinity"]
    assert data([2**53, 2**53 + 1, -(2**53) - 1]) == [2**53, "9007199254740993", "-9007199254740993"]
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
    ("text", "value"),
    [("3+4j", 3 + 4j), ("(3-4j)", 3 - 4j), ("3", 3 + 0j), ("4i", 4j), ("-i", -1j), ("i", 1j), ("1 + 2i", 1 + 2j), (2.5, 2.5 + 0j),
     (" 1e5-1E-5i ", 1e5 - 1e-5j), ("+1+i", 1 + 1j), ("5J", 5j), ("1-i", 1 - 1j), (7, 7 + 0j)],
)  # fmt: skip
def test_other_looks_of_complex_numbers_are_read(text: Any, value: complex) -> None:
    cells = to_linear(np.array([0j]))
    assert from_linear([*cells[:-1], text]).tolist() == [value]


@pytest.mark.parametrize("text", ["3+4", "3 4i", "i3", "3+4k", "1+2i3", "++1i", "(1+2i", "1,5+2i", "", "x"])
def test_what_is_no_complex_number_is_refused_with_its_cell(text: str) -> None:
    cells = to_linear(np.array([0j, 1j]))
    with pytest.raises(sa.FormatError) as caught:
        from_linear([*cells[:-1], text])
    assert caught.value.location == f"cells[{len(cells) - 1}]"


@pytest.mark.parametrize(
    ("text", "value"),
    [("inf", np.inf), ("+Infinity", np.inf), ("-inf", -np.inf), ("nan", np.nan), ("NAN", np.nan), ("+inf", np.inf),
     ({"type": "float64", "value": "NaN"}, np.nan), ({"type": "float64", "value": "-Infinity"}, -np.inf),
     ({"type": "float64", "value": "+Infinity"}, np.inf), (" 1E+05 ", 1e5), ("1.", 1.0), (".5", 0.5), (7, 7.0), ("-0", -0.0)],
)  # fmt: skip
def test_other_looks_of_floats_are_read(text: Any, value: float) -> None:
    cells = to_linear(np.array([0.0]))
    assert_same(from_linear([*cells[:-1], text]), np.array([value]))


@pytest.mark.parametrize("text", ["1_000", "0x10", "١", "1,5", "1e", "--1", "infinit", "1 2", True, [1], {"value": "1"}, "1e999", 10**400])
def test_what_is_no_float_is_refused(text: Any) -> None:
    cells = to_linear(np.array([0.0]))
    with pytest.raises(sa.FormatError, match=r"cells\[18\]"):
        from_linear([*cells[:-1], text])


@pytest.mark.parametrize(
    ("dtype", "cell", "value"),
    [("int32", 2.0, 2), ("int32", "2", 2), ("int32", "2.0", 2), ("int32", "1E+05", 100_000), ("int32", " 7 ", 7), ("uint8", "+5", 5),
     ("int64", "9223372036854775807", 2**63 - 1), ("uint64", "18446744073709551615", 2**64 - 1), ("int64", "1e3", 1000), ("int8", "-128.000", -128),
     ("uint8", "-0", 0), ("int64", "9.223372036854775807E+18", 2**63 - 1)],
)  # fmt: skip
def test_the_dtype_wins_over_the_look_of_an_integer(dtype: str, cell: Any, value: int) -> None:
    cells = to_linear(np.array([0], dtype=dtype))
    assert_same(from_linear([*cells[:-1], cell]), np.array([value], dtype=dtype))


@pytest.mark.parametrize(
    ("dtype", "cell"),
    [("uint8", 300), ("uint8", 2.5), ("uint8", -1), ("uint8", "256"), ("int8", 128), ("int64", 2**63), ("uint64", "18446744073709551616"), ("int32", "2,5"),
     ("int32", True), ("int32", "NaN"), ("int32", "1e400"), ("int32", "1e-1"), ("float16", 70000), ("float16", "70000"), ("float32", 1e39), ("float32", "-1e39"),
     ("complex64", "1e39+0i"), ("complex64", 1e39), ("complex64", "0-1e39i"), ("bool", 2), ("bool", "yes"), ("bool", "1.0"), ("datetime64[D]", "2020-13-01"),
     ("datetime64[D]", "2020-01-01T12:00"), ("datetime64[D]", 5), ("datetime64[ns]", "1000-01-01"), ("timedelta64[s]", 1.5), ("timedelta64[s]", "9223372036854775808")],
)  # fmt: skip
def test_a_value_beyond_the_dtype_is_an_error_with_its_cell_never_a_wrap(dtype: str, cell: Any) -> None:
    cells = to_linear(np.zeros(2, dtype=dtype))
    with pytest.raises(sa.FormatError) as caught:
        from_linear([*cells[:-1], cell])
    assert caught.value.location == f"cells[{len(cells) - 1}]"
    assert caught.value.element == "array[1]"


def test_uint8c_and_the_other_aliases_are_read() -> None:
    for alias, name in {"uint8c": "uint8", "binary": "uint8", "number": "float64", "complex": "complex128", "boolean": "bool"}.items():
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


# Buffers -----------------------------------------------------------------------------------------------------


def test_without_base_nothing_leaves_that_was_not_selected() -> None:
    secret = np.array([1.0, 666.0, 2.0, 666.0])
    assert 666.0 not in to_linear(secret[::2])
    assert to_linear(secret[::2])[-2:] == [1.0, 2.0]
    columns = np.asfortranarray(np.arange(12.0).reshape(3, 4))[:, 1:3]
    assert sorted(to_linear(columns)[-6:]) == sorted(columns.ravel().tolist())


@pytest.mark.parametrize("base", [np.arange(24.0), np.arange(24.0).reshape(4, 6), np.asfortranarray(np.arange(24.0).reshape(4, 6)), np.arange(24.0)[::-1]])
def test_with_base_the_whole_buffer_and_the_views_strides_are_written(base: Any) -> None:
    view = base[1::2]
    linear = LinearArray.from_numpy(view, base=True)
    assert linear.capacity == 24
    assert linear.strides == tuple(stride // 8 for stride in view.strides)
    assert np.shares_memory(linear.buffer, view)
    assert_same(from_linear(to_linear(view, base=True)), view, layout=False)


def test_to_numpy_is_a_view_on_the_buffer() -> None:
    buffer = np.arange(6.0)
    for strides, offset, expected in [((3, 1), 0, [[0, 1], [3, 4]]), ((-3, 1), 3, [[3, 4], [0, 1]]), ((0, -1), 5, [[5, 4], [5, 4]]), ((2, 2), 1, [[1, 3], [3, 5]])]:
        view = LinearArray("float64", (2, 2), strides, offset, "row-major", buffer).to_numpy()
        assert np.shares_memory(view, buffer)
        assert view.tolist() == expected
    view[0, 0] = 9
    assert buffer[1] == 9


def test_order_is_kept_and_never_verified() -> None:
    cells = EXAMPLE.copy()
    cells[cells.index("row-major")] = "Column-Major "
    assert LinearArray.from_cells(cells).order == "column-major"
    assert from_linear(cells).tolist() == [[1, 2], [3, 4]]
    assert LinearArray.from_cells(LinearArray.from_cells(cells).to_cells()).order == "column-major"


@pytest.mark.parametrize(
    ("array", "order"),
    [(np.zeros((2, 3)), "row-major"), (np.zeros((2, 3), order="F"), "column-major"), (np.zeros(3), "row-major"), (np.zeros((1, 3), order="F"), "row-major"),
     (np.zeros((2, 3, 4)).transpose(1, 0, 2), "row-major"), (np.zeros((2, 3), order="F")[::2], "row-major"), (np.array(1), "row-major"), (np.zeros((0, 3), order="F"), "row-major")],
)  # fmt: skip
def test_order_is_column_major_only_where_f_and_not_c_contiguous(array: Any, order: str) -> None:
    assert LinearArray.from_numpy(array).order == order


def test_linear_array_attributes() -> None:
    linear = LinearArray.from_numpy(np.zeros((2, 3), dtype=">i2"))
    assert (linear.dtype, linear.shape, linear.strides, linear.offset, linear.order) == ("int16", (2, 3), (3, 1), 0, "row-major")
    assert (linear.length, linear.capacity, linear.ndim) == (6, 6, 2)
    assert linear.buffer.dtype.isnative
    with pytest.raises(AttributeError):
        linear.dtype = "int8"  # type: ignore[misc]


@pytest.mark.parametrize("dtype", [">f2", ">f8", ">i4", ">u8", ">c8", ">c16", ">M8[D]", ">m8[s]", ">U4"])
@pytest.mark.parametrize("format", ["csv", "json"])
def test_a_big_endian_buffer_means_the_same(dtype: str, format: str) -> None:
    buffer = np.array(["2020", "2021"] if dtype[1] in "MU" else [1, 2], dtype=dtype)
    native = buffer.astype(buffer.dtype.newbyteorder("="))
    linear = LinearArray(LinearArray.from_numpy(native).dtype, (2,), (1,), 0, "row-major", buffer)
    assert (linear.to_numpy() == native).all()
    assert linear.to_cells() == to_linear(native)
    file = io.BytesIO()
    sa.write(file, {"x": linear}, format=format)
    file.seek(0)
    assert_same(sa.read(file, format=format)["x"], native)


def test_linear_array_refuses_what_cannot_be() -> None:
    buffer = np.arange(4.0)
    for shape, strides, offset in [((5,), (1,), 0), ((2,), (-1,), 0), ((2, 2), (2,), 0), ((2,), (1,), -1), ((), (), 4), ((2,), (4,), 0)]:
        with pytest.raises(sa.FormatError):
            LinearArray("float64", shape, strides, offset, "row-major", buffer)
    with pytest.raises(sa.DTypeError):
        LinearArray("float32", (4,), (1,), 0, "row-major", buffer)


# Padding, blanks ---------------------------------------------------------------------------------------------


def test_extra_blank_cells_are_padding_and_extra_others_an_error() -> None:
    assert from_linear([*EXAMPLE, None, "", "  ", None]).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(sa.FormatError) as caught:
        from_linear([*EXAMPLE, None, 5])
    assert caught.value.location in ("cells[24]", "cells[25]")
    with pytest.raises(sa.FormatError) as caught:
        from_linear(EXAMPLE[:-1])
    assert caught.value.location == "cells[23]"


@pytest.mark.parametrize("blank", [None, "", "   "])
def test_a_blank_within_capacity_is_an_error_or_nan(blank: Any) -> None:
    for array in (np.zeros(3), np.zeros(3, dtype="float16"), np.zeros(3, dtype="complex64"), np.zeros(3, dtype="complex128")):
        cells = to_linear(array)
        cells[-2] = blank
        with pytest.raises(sa.FormatError) as caught:
            from_linear(cells)
        assert (caught.value.location, caught.value.element) == ("cells[19]", "array[1]")
        found = from_linear(cells, missing="nan")
        assert np.isnan(found).tolist() == [False, True, False]
    for dtype in ("int8", "bool", "M8[D]", "m8[s]"):
        cells = to_linear(np.zeros(3, dtype=dtype))
        cells[-2] = blank
        with pytest.raises(sa.FormatError, match=r"cells\[19\]"):
            from_linear(cells, missing="nan")


def test_trimmed_blanks_come_back_in_string_and_generic_arrays() -> None:
    assert from_linear(to_linear(np.array(["a", "", ""]))[:-2]).tolist() == ["a", "", ""]
    assert from_linear(to_linear(objects(1, None, None))[:-2]).tolist() == [1, None, None]
    assert from_linear(to_linear(np.array(["", ""]))[:-2]).tolist() == ["", ""]


@pytest.mark.parametrize(("missing", "fine"), [(1_048_576, True), (1_048_577, False)])
def test_up_to_1048576_blanks_may_be_trimmed(missing: int, fine: bool) -> None:
    count = str(missing + 1)
    cells = ["version", "1.0.0", "ndarray", "shape", count, "strides", "1", "offset", "0", "order", "row-major", "dtype", "string",
             "length", count, "capacity", count, "data", "a"]  # fmt: skip
    if fine:
        assert from_linear(cells).shape == (missing + 1,)
    else:
        with pytest.raises(sa.FormatError):
            from_linear(cells)


def test_data_cells_are_trimmed_of_white_space_except_text() -> None:
    for array, text in [(np.array([5]), " 5\t"), (np.array([5.0]), "\n5 "), (np.array([5 + 1j]), " 5+1i "), (np.array([True]), " TRUE "),
                        (np.array(["2020-01-01"], dtype="M8[D]"), " 2020-01-01 "), (np.array([3], dtype="m8[s]"), " 3 "), (np.array([" x "]), " x ")]:  # fmt: skip
        assert_same(from_linear([*to_linear(array)[:-1], text]), array)


@pytest.mark.parametrize("bad", ["version", 5, None, b"version", {"version": 1}, iter([1])])
def test_what_is_no_list_is_refused(bad: Any) -> None:
    with pytest.raises((sa.FormatError, TypeError)):
        from_linear(bad)
