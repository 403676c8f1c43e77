"""The buffer of a flat list: views on it, what of it is written, and blanks in it or after it."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import sheetarray as sa
from sheetarray import LinearArray, from_linear, to_linear
from sheetarray.testing.cases import assert_same

EXAMPLE = to_linear(np.array([[1.0, 2.0], [3.0, 4.0]]))


# Buffers -----------------------------------------------------------------------------------------------------


def test_without_base_nothing_leaves_that_was_not_selected() -> None:
    secret = np.array([1.0, 666.0, 2.0, 666.0])
    assert 666.0 not in to_linear(secret[::2])
    assert to_linear(secret[::2])[-2:] == [1.0, 2.0]
    columns = np.asfortranarray(np.arange(12.0).reshape(3, 4))[:, 1:3]
    assert sorted(to_linear(columns)[-6:]) == sorted(columns.ravel().tolist())


@pytest.mark.parametrize(
    "base",
    [
        np.arange(24.0),
        np.arange(24.0).reshape(4, 6),
        np.asfortranarray(np.arange(24.0).reshape(4, 6)),
        np.arange(24.0)[::-1],
    ],
)
def test_with_base_the_whole_buffer_and_the_views_strides_are_written(base: Any) -> None:
    view = base[1::2]
    linear = LinearArray.from_numpy(view, base=True)
    assert linear.capacity == 24
    assert linear.strides == tuple(stride // 8 for stride in view.strides)
    assert np.shares_memory(linear.buffer, view)
    assert_same(from_linear(to_linear(view, base=True)), view, layout=False)


@pytest.mark.parametrize("dtype", [">f2", ">f8", ">i4", ">c16", ">M8[D]", ">U4"])
def test_with_base_byte_order_changes_nothing_in_0_d_arrays_too(dtype: str) -> None:
    for array in (np.array("2020" if dtype[1] in "MU" else 1.5).astype(dtype), np.zeros(3, dtype=dtype)[1:]):
        assert to_linear(array, base=True)[-1] == to_linear(array)[-1]


def test_to_numpy_is_a_view_on_the_buffer() -> None:
    buffer = np.arange(6.0)
    for strides, offset, expected in [
        ((3, 1), 0, [[0, 1], [3, 4]]),
        ((-3, 1), 3, [[3, 4], [0, 1]]),
        ((0, -1), 5, [[5, 4], [5, 4]]),
        ((2, 2), 1, [[1, 3], [3, 5]]),
    ]:
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
    [
        (np.zeros((2, 3)), "row-major"),
        (np.zeros((2, 3), order="F"), "column-major"),
        (np.zeros(3), "row-major"),
        (np.zeros((1, 3), order="F"), "row-major"),
        (np.zeros((2, 3, 4)).transpose(1, 0, 2), "row-major"),
        (np.zeros((2, 3), order="F")[::2], "row-major"),
        (np.array(1), "row-major"),
        (np.zeros((0, 3), order="F"), "row-major"),
    ],
)
def test_order_is_column_major_only_where_f_and_not_c_contiguous(array: Any, order: str) -> None:
    assert LinearArray.from_numpy(array).order == order


def test_linear_array_attributes() -> None:
    linear = LinearArray.from_numpy(np.zeros((2, 3), dtype=">i2"))
    assert (linear.dtype, linear.shape, linear.strides, linear.offset, linear.order) == (
        "int16",
        (2, 3),
        (3, 1),
        0,
        "row-major",
    )
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
    for shape, strides, offset in [
        ((5,), (1,), 0),
        ((2,), (-1,), 0),
        ((2, 2), (2,), 0),
        ((2,), (1,), -1),
        ((), (), 4),
        ((2,), (4,), 0),
    ]:
        with pytest.raises(sa.FormatError):
            LinearArray("float64", shape, strides, offset, "row-major", buffer)
    with pytest.raises(sa.DTypeError):
        LinearArray("float32", (4,), (1,), 0, "row-major", buffer)


# Padding, blanks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", [None, "", "   "])
def test_a_blank_within_capacity_is_an_error_or_nan(blank: Any) -> None:
    for array in (
        np.zeros(3),
        np.zeros(3, dtype="float16"),
        np.zeros(3, dtype="complex64"),
        np.zeros(3, dtype="complex128"),
    ):
        cells = to_linear(array)
        cells[-2] = blank
        with pytest.raises(sa.FormatError) as caught:
            from_linear(cells)
        assert (caught.value.location, caught.value.element) == ("cells[19]", "array[1]")
        result = from_linear(cells, missing="nan")
        assert np.isnan(result).tolist() == [False, True, False]
    for dtype in ("int8", "bool", "M8[D]", "m8[s]"):
        cells = to_linear(np.zeros(3, dtype=dtype))
        cells[-2] = blank
        with pytest.raises(sa.FormatError, match=r"cells\[19\]"):
            from_linear(cells, missing="nan")


@pytest.mark.parametrize(("missing", "fine"), [(1_048_576, True), (1_048_577, False)])
def test_up_to_1048576_blanks_may_be_trimmed(missing: int, fine: bool) -> None:
    n = str(missing + 1)
    header = f"version 1.0.0 ndarray shape {n} strides 1 offset 0 order row-major dtype string length {n} capacity {n}"
    cells = [*header.split(), "data", "a"]
    if fine:
        with pytest.warns(sa.SheetArrayWarning, match="cells are missing below"):
            array = from_linear(cells)
        assert array.shape == (missing + 1,)
    else:
        with pytest.raises(sa.FormatError):
            from_linear(cells)


def test_data_cells_are_trimmed_of_white_space_except_text() -> None:
    for array, text in [
        (np.array([5]), " 5\t"),
        (np.array([5.0]), "\n5 "),
        (np.array([5 + 1j]), " 5+1i "),
        (np.array([True]), " TRUE "),
        (np.array(["2020-01-01"], dtype="M8[D]"), " 2020-01-01 "),
        (np.array([3], dtype="m8[s]"), " 3 "),
        (np.array([" x "]), " x "),
    ]:
        assert_same(from_linear([*to_linear(array)[:-1], text]), array)


@pytest.mark.parametrize("bad", ["version", 5, None, b"version", {"version": 1}, iter([1])])
def test_what_is_no_list_is_refused(bad: Any) -> None:
    with pytest.raises((sa.FormatError, TypeError)):
        from_linear(bad)
