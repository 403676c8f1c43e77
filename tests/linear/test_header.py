"""The header's grammar: keys in any order, what is forgiven, what is refused and where."""

from __future__ import annotations

import io
import itertools
from typing import Any

import numpy as np
import pytest
from hostile import FORMATS, header, put, survive

import sheetarray as sa
from sheetarray import from_linear, to_linear
from sheetarray.dtypes import from_name
from sheetarray.errors import Finding
from sheetarray.formats.contract import parse_header
from sheetarray.linear.header import Header

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


def test_keys_stand_in_any_order() -> None:
    for order in (tuple(reversed(FIELDS)), *itertools.islice(itertools.permutations(FIELDS), 0, 5040, 97)):
        assert from_linear(cells(*order)).tolist() == [[1, 2], [3, 4]], order


@pytest.mark.parametrize("change", [str.upper, str.title, lambda key: f"  {key}\t", lambda key: f"\n{key.swapcase()} "])
def test_keys_order_and_dtype_are_trimmed_and_case_folded(change: Any) -> None:
    changed = [change(cell) if isinstance(cell, str) else cell for cell in CELLS]
    assert from_linear(changed).tolist() == [[1, 2], [3, 4]]


def test_a_key_counts_only_in_key_position() -> None:
    words = ["data", "shape", "version", "1.0.0", "ndarray", "data"]
    assert from_linear(to_linear(np.array(words))).tolist() == words


@pytest.mark.parametrize(
    ("changed", "reason", "hinted"),
    [
        ({"capacity": []}, "expected an integer after the key 'capacity', found 'data'", True),
        ({"capacity": ["four"]}, "expected an integer after the key 'capacity', found 'four'", False),
        ({"offset": [None]}, "expected an integer after the key 'offset', found a blank cell", False),
        ({"order": []}, "expected a key", True),
        ({"length": [4, 4]}, "more than one value after the key 'length'", False),
    ],
)
def test_a_key_in_the_place_of_a_value_is_hinted_at(changed: dict[str, Any], reason: str, hinted: bool) -> None:
    with pytest.raises(sa.FormatError, match=reason) as caught:
        from_linear(cells(**changed))
    assert (
        caught.value.hint == "found a key instead of a value: was a cell deleted, or were the rows sorted?"
    ) == hinted


@pytest.mark.parametrize("key", FIELDS)
def test_a_missing_key_is_named(key: str) -> None:
    with pytest.raises(sa.FormatError, match=key) as caught:
        from_linear(cells(*[other for other in FIELDS if other != key]))
    assert caught.value.location


@pytest.mark.parametrize("key", FIELDS)
def test_a_duplicate_key_is_an_error_where_it_stands_again(key: str) -> None:
    doubled = [*cells()[:-5], key, *FIELDS[key], *cells()[-5:]]
    with pytest.raises(sa.FormatError, match=key) as caught:
        from_linear(doubled)
    assert caught.value.location == f"cells[{len(cells()) - 5}]"


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"length": [5]}, "length"),
        ({"length": [3]}, "length"),
        ({"shape": [2, 3]}, None),
        ({"strides": [2, 2]}, None),
        ({"strides": [-2, 1]}, None),
        ({"offset": [1]}, None),
        ({"offset": [-1]}, "offset"),
        ({"capacity": [3]}, None),
        ({"capacity": [-4]}, "capacity"),
        ({"strides": [1]}, None),
        ({"strides": [2, 1, 1]}, None),
        ({"shape": [-2, -2]}, "shape"),
        ({"order": ["diagonal"]}, "order"),
        ({"dtype": ["int7"]}, "dtype"),
        ({"dtype": [None]}, "dtype"),
        ({"order": [1]}, "order"),
        ({"length": []}, "length"),
        ({"offset": [0, 0]}, "offset"),
        ({"shape": [2.5, 2]}, "shape"),
        ({"length": ["x"]}, "length"),
        ({"length": [True]}, "length"),
        ({"shape": [2, "2x"]}, "shape"),
        ({"strides": []}, None),
        ({"shape": []}, None),
    ],
)
def test_contradictions_are_refused_at_their_cell(fields: dict[str, Any], at: str | None) -> None:
    given = cells(**fields)
    with pytest.raises(sa.FormatError) as caught:
        from_linear(given)
    assert caught.value.location
    index = int(caught.value.location[6:-1])
    if at is not None:
        assert given.index(at) <= index <= given.index(at) + 2


def test_bounds_are_not_checked_for_empty_arrays() -> None:
    given = cells(shape=[0, 5], strides=[100, 100], offset=[7], length=[0], capacity=[0])[:-4]
    assert from_linear(given).shape == (0, 5)


def test_a_0_d_array_needs_its_offset_within_the_buffer() -> None:
    given = cells(shape=[], strides=[0], offset=[3], length=[1])
    assert from_linear(given).tolist() == 4
    with pytest.raises(sa.FormatError):
        from_linear(cells(shape=[], strides=[0], offset=[4], length=[1]))
    with pytest.raises(sa.FormatError):
        from_linear(cells(shape=[], strides=[1], offset=[0], length=[1]))


@pytest.mark.parametrize("number", ["2", "2.0", 2.0, " 2 ", "2.", "+2", "02"])
def test_header_integers_may_be_text_or_2_0(number: Any) -> None:
    given = cells(shape=[number, number], strides=[number, 1.0], length=["4.0"], capacity=["4"], offset=["0.0"])
    assert from_linear(given).tolist() == [[1, 2], [3, 4]]


# Versions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "version", ["1.0.0", "1.0.7", "1.1.0", "1.2.0", "1.99.3", " 1.0.0 ", "1.0.0-beta.1", "1.0.0+build"]
)
def test_any_version_1_is_read(version: str) -> None:
    assert from_linear(cells(version=("version", version))).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "version", ["2.0.0", "0.9.0", "10.0.0", "1.0", "1", "x", "", None, 1.0, "01.01.2000", "1.0.0.0"]
)
def test_another_version_is_refused_at_its_cell(version: Any) -> None:
    with pytest.raises(sa.FormatError) as caught:
        from_linear(cells(version=("version", version)))
    assert caught.value.location == "cells[1]"


def test_an_unknown_key_is_an_error_in_1_0() -> None:
    with pytest.raises(sa.FormatError, match="colour") as caught:
        from_linear(cells(colour=["red"]))
    assert caught.value.location == "cells[19]"
    with pytest.raises(sa.FormatError):
        from_linear(cells(part=[1, 1]))


@pytest.mark.parametrize("place", [0, 3, 7])
def test_an_unknown_key_is_skipped_with_a_warning_in_a_newer_minor(place: int) -> None:
    order = [*FIELDS]
    order.insert(place, "colour")
    with pytest.warns(sa.SheetArrayWarning, match="colour"):
        result = from_linear(cells(*order, version=("version", "1.2.0"), colour=["red", 5, "blue"]))
    assert result.tolist() == [[1, 2], [3, 4]]


def test_the_older_form_without_a_version_is_read_with_a_warning_or_refused_when_strict() -> None:
    older = cells(version=())
    with pytest.warns(sa.SheetArrayWarning, match="version"):
        assert from_linear(older).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(sa.FormatError, match="strict"):
        from_linear(older, strict=True)
    assert from_linear(CELLS, strict=True).tolist() == [[1, 2], [3, 4]]


def test_a_part_alone_is_no_array() -> None:
    with pytest.raises(sa.FormatError, match="part 1 of 2"):
        from_linear(cells(version=("version", "1.1.0"), part=[1, 2]))


@pytest.mark.parametrize("length", range(19))
def test_a_list_that_ends_within_the_header_is_refused_at_its_last_cell(length: int) -> None:
    with pytest.raises(sa.FormatError) as caught:
        from_linear(CELLS[:length])
    assert caught.value.location in ((f"cells[{length - 1}]", f"cells[{length}]") if length else (None,))


def test_parse_header_says_where_the_data_begin() -> None:
    header, start = parse_header(CELLS)
    assert start == CELLS.index("data") + 1
    assert header.to_cells() == CELLS[:start]


# dtypes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("", "float128", "int7", "complex32", "object", "str", "datetime64", "datetime64[]", "datetime64[x]"),
        *("datetime64[generic]", "datetime64[0s]", "datetime64[D][D]", "date", "f8", "<f8", "struct"),
        *("datetime64[99999999999s]", "timedelta64[-1s]", None, 5, ["int8"]),
    ],
)
def test_an_unknown_dtype_is_an_error_that_lists_the_known(name: Any) -> None:
    with pytest.raises(sa.FormatError):
        from_name(name)


def test_units_are_case_sensitive_where_letters_differ_only_so() -> None:
    assert from_name("datetime64[M]").numpy == np.dtype("M8[M]")
    assert from_name("datetime64[m]").numpy == np.dtype("M8[m]")
    assert from_name("DATETIME64[ns]").numpy == np.dtype("M8[ns]")


@pytest.mark.parametrize("dtype", ["g", "G", "V4", "S3", [("a", "i4")], "M8", "m8"])
def test_a_dtype_that_the_format_lacks_says_what_to_do_instead(dtype: Any) -> None:
    with pytest.raises(sa.DTypeError, match=r"a\[name\]|decode|astype"):
        to_linear(np.zeros(1, dtype=dtype))


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
    cells = Header(from_name("int8"), shape, strides, offset, "row-major", capacity).to_cells()
    findings: list[Finding] = []
    parse_header(cells, note=findings.append)
    assert [finding.message.partition(": ")[0] for finding in findings] == ([remark] if remark else [])
    if remark:
        assert findings[0].location == f"cells[{5 + len(shape)}]"
        assert "without gaps has" in findings[0].hint


@pytest.mark.parametrize("value", [True, "1", 1.0, 2, None, np.ones(2)])
def test_a_header_with_another_cell_is_parsed_anew(value: Any) -> None:
    cells = Header(from_name("int8"), (1,), (1,), 0, "row-major", 1).to_cells()
    other: list[Any] = [*cells]
    other[cells.index("shape") + 1] = value
    alone = outcome_of(other, after=Header(from_name("bool"), (), (), 0, "row-major", 1).to_cells())
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
    cells = Header(from_name("int8"), (1,), (1,), 0, "row-major", 1).to_cells()[2:]
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
