"""Headers that promise more than there is: no memory is taken, no other error comes, and the cell is named."""

from __future__ import annotations

import io
import re
import warnings

import numpy as np
import pytest
from examples import PART, cross
from hostile import FORMATS, header, put, survive

import sheetarray as sa

BIG = (
    "1000000000000000000",
    "9223372036854775807",
    "9223372036854775808",
    "99999999999999999999",
    "1" * 5000,
    "1e18",
    "-5",
)


@pytest.mark.parametrize("field", ["shape", "strides", "offset", "length", "capacity"])
@pytest.mark.parametrize(("dtype", "big"), cross(("float64", "string", "generic", "complex128"), BIG, "float64"))
def test_huge_numbers_in_a_header_take_no_memory(field: str, big: str, dtype: str) -> None:
    cells = header(dtype=dtype, **{field: [big]})
    for kind in FORMATS if field == "shape" else ("csv", "json"):
        survive(put([*cells, "1"], kind), kind)
        if field == "strides":
            continue  # a dimension of size 1 never takes its stride: NumPy decides whether it can hold it
        with pytest.raises(sa.FormatError) as caught:
            sa.read(io.BytesIO(put([*cells, "1"], kind)), format=kind)
        assert caught.value.location


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


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_errors_in_header_or_data_always_have_a_location(version: str) -> None:
    base = [str(cell) for cell in sa.to_linear(np.array([[1, 2], [3, 4]], dtype="int16"))]
    base[1] = version
    for kind in FORMATS if version == "1.0.0" or PART == 1 else ("csv",):
        for at in range(1, len(base)):
            others = ["", "x", "-1", "2.5", "data", "shape", "1.0.0", "99999", "NaN"]
            if PART > 1 and (version, kind) != ("1.0.0", "csv"):  # one parser reads all headers
                step = 9 if kind == "tsv" else 3
                others = others[at % step :: step]
            for other in others:
                cells = [*base[:at], other, *base[at + 1 :]]
                _located(cells, kind)
            _located([*base[:at], *base[at + 1 :]], kind)
            _located([*base[:at], base[at], *base[at:]], kind)


def _located(cells: list[str], format: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        try:
            sa.read(io.BytesIO(put(cells, format)), format=format)
        except sa.FormatError as error:
            place = error.location or ""
            nowhere = "no array of the exchange format" in str(error)
        else:
            return  # still an array, if another one
    assert nowhere or re.search(r"[A-Z]+\d+$|\[\d+\]$", place), f"{place!r} for {cells}"
