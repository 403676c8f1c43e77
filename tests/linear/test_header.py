"""The header's grammar: keys in any order, what is forgiven, what is refused and where."""

from __future__ import annotations

import io
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hostile import FORMATS, header, put, survive

import sheetarray as sa
from sheetarray import from_linear, to_linear
from sheetarray.errors import Finding
from sheetarray.formats.contract import parse_header

CELLS = to_linear(np.array([[1, 2], [3, 4]], dtype="int16"))
FIELDS = {
    "shape": [2, 2],
    "strides": [2, 1],
    "offset": [0],
    "order": ["row-major"],
    "dtype": ["int16"],
    "length": [4],
    "capacity": [4],
}


def cells(*order: str, version: tuple[Any, ...] = ("version", "1.0.0"), **fields: Any) -> list[Any]:
    given = {**FIELDS, **fields}
    keys = order or tuple(given)
    return [*version, "ndarray", *itertools.chain.from_iterable([key, *given[key]] for key in keys), "data", 1, 2, 3, 4]


def header_cells(
    dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, capacity: int
) -> list[str | int]:
    """The cells of a header, down to `data`."""
    sizes = ["shape", *shape, "strides", *strides, "offset", offset, "order", "row-major", "dtype", dtype]
    return ["version", "1.0.0", "ndarray", *sizes, "length", math.prod(shape), "capacity", capacity, "data"]


def test_keys_stand_in_any_order() -> None:
    for order in (tuple(reversed(FIELDS)), *itertools.islice(itertools.permutations(FIELDS), 0, 5040, 97)):
        assert from_linear(cells(*order)).tolist() == [[1, 2], [3, 4]], order


# Versions ----------------------------------------------------------------------------------------------------


def test_parse_header_says_where_the_data_begin() -> None:
    header, start = parse_header(CELLS)
    assert start == CELLS.index("data") + 1
    assert header.to_cells() == CELLS[:start]


# dtypes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "strides", "capacity", "remark"),
    [
        ((4,), (1,), 4, None),
        ((4,), (-1,), 4, None),
        ((4,), (0,), 4, "strides 0 reach data 0 to 0 of 4"),
        ((2, 3), (1, 1), 6, "strides 1, 1 reach data 0 to 3 of 6"),
        ((2, 3), (1, 2), 6, None),
        ((4,), (0,), 1, None),  # a view that repeats its element, as it was written
        ((4,), (0,), 5, None),
        ((1,), (0,), 1, None),
        ((0, 3), (0, 0), 0, None),
    ],
)
def test_strides_that_repeat_elements_where_each_cell_might_be_one(
    shape: tuple[int, ...], strides: tuple[int, ...], capacity: int, remark: str | None
) -> None:
    offset = 3 if strides == (-1,) else 0
    cells = header_cells("int8", shape, strides, offset, capacity)
    findings: list[Finding] = []
    parse_header(cells, note=findings.append)
    assert [finding.message.partition(": ")[0] for finding in findings] == ([remark] if remark else [])
    if remark:
        assert findings[0].location == f"cells[{5 + len(shape)}]"
        assert "without gaps has" in findings[0].hint


@pytest.mark.parametrize("value", [True, "1", 1.0, 2, None, np.ones(2)])
def test_a_header_with_another_cell_is_parsed_anew(value: Any) -> None:
    cells = header_cells("int8", (1,), (1,), 0, 1)
    other: list[Any] = [*cells]
    other[cells.index("shape") + 1] = value
    alone = outcome_of(other, after=header_cells("bool", (), (0,), 0, 1))
    assert outcome_of(other, after=cells) == alone
    with pytest.raises(sa.FormatError):
        parse_header(cells[:-1])


def outcome_of(cells: list[Any], after: list[Any]) -> str:
    """The header, or the error, of cells that are read after others."""
    parse_header(after)
    try:
        return repr(parse_header(cells))
    except sa.FormatError as error:
        return repr(error)


def test_what_is_remarked_upon_is_remarked_upon_each_time() -> None:
    cells = header_cells("int8", (1,), (1,), 0, 1)[2:]
    for _ in range(2):
        findings: list[Finding] = []
        parse_header(cells, note=findings.append)
        assert len(findings) == 1
    with pytest.raises(sa.FormatError):
        parse_header(cells, strict=True)


# Headers that promise more than there is ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "string", "generic", "bool", "datetime64[s]"])
@pytest.mark.parametrize("size", ["10000000", "1000000000000", "4000000000000000000"])
def test_a_consistent_header_of_a_huge_array_takes_no_memory(dtype: str, size: str) -> None:
    cells = header(dtype=dtype, shape=[size], length=[size], capacity=[size])
    for kind in FORMATS:
        survive(put([*cells, "1"], kind), kind)
        with pytest.raises(sa.FormatError):
            sa.read(io.BytesIO(put([*cells, "1"], kind)), format=kind)


@pytest.mark.parametrize("dtype", ["float64", "string", "generic"])
def test_a_huge_view_on_one_element_is_a_view(dtype: str) -> None:
    cells = header(dtype=dtype, shape=["1000000000000"], strides=["0"], length=["1000000000000"], capacity=["1"])
    for kind in FORMATS:
        content = put([*cells, "1"], kind)
        survive(content, kind)
        (array,) = sa.read(io.BytesIO(content), format=kind).values()
        assert array.shape == (10**12,)
        assert array.strides == (0,)


def test_an_empty_array_of_a_huge_shape() -> None:
    cells = header(shape=["1000000000000", "0", "1000000000000"], strides=["1"] * 3, length=["0"], capacity=["0"])
    for kind in FORMATS:
        survive(put(cells, kind), kind)


@pytest.mark.parametrize("dimensions", [64, 65, 66, 100, 1000, 30_000])
def test_very_many_dimensions(dimensions: int) -> None:
    cells = header(shape=["1"] * dimensions, strides=["1"] * dimensions)
    for kind in FORMATS:
        content = put([*cells, "5"], kind)
        survive(content, kind)
        if dimensions <= 64:
            (array,) = sa.read(io.BytesIO(content), format=kind).values()
            assert array.shape == (1,) * dimensions
        else:
            with pytest.raises(sa.FormatError) as caught:
                sa.read(io.BytesIO(content), format=kind)
            assert caught.value.location
