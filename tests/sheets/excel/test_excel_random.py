"""Whatever the arrays, their names, text and layouts: a workbook gives them back, and `check` has nothing to say.

The same for nested arrays, in every container that has cells.
"""

from __future__ import annotations

import io
from typing import Any

import awkward as ak
import numpy as np
from awkward.contents import (
    ByteMaskedArray,
    Content,
    IndexedArray,
    IndexedOptionArray,
    ListArray,
    ListOffsetArray,
    NumpyArray,
    RecordArray,
    RegularArray,
    UnionArray,
)
from awkward.index import Index8, Index64
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from mixtures import SHAPES, layouts, numbers

import sheetarray as sa
from sheetarray.testing.cases import assert_same

# Text that the XML of a workbook may lose. NumPy drops NULs at the end of its strings, so there are none.
CHARACTERS = st.one_of(
    st.sampled_from("\x00\x01\x08\x0b\x1f\x7f\x85\ufffe\uffff\ufeff_x0041 <>&'\"]=+-@\r\n\t\u2028\U0001f600\U0010ffff"),
    st.characters(exclude_categories=["Cs"]),
)
SPECIAL = ["_x0041_", "_x005F_x0041_", "__x0041__", "]]>", "&amp;", "<is>", "007", "1e5", "NaN", "TRUE", "=1+1", "'"]
SPECIAL += ["data", "version", "1.0.0", "ndarray", " ", "\u3000", " a  b ", "2020-01-01"]
TEXTS = st.one_of(st.text(CHARACTERS, max_size=12), st.sampled_from(SPECIAL)).map(lambda text: text.rstrip("\0"))
SCALARS = st.one_of(
    st.none(), st.booleans(), TEXTS, st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False)
)
NAMES = TEXTS.filter(lambda text: text.strip() and text.strip().casefold() not in ("version", "ndarray"))


@st.composite
def arrays(draw: Any) -> Any:
    """Any array of any dtype, in any layout of memory."""
    kind = draw(st.sampled_from(["number", "string", "generic"]))
    if kind == "number":
        return draw(layouts(draw(numbers())))
    shape = draw(SHAPES)
    count = int(np.prod(shape))
    array = np.empty(count, dtype=object)
    array[:] = draw(st.lists(TEXTS if kind == "string" else SCALARS, min_size=count, max_size=count))
    return draw(layouts((array.astype(np.str_) if kind == "string" else array).reshape(shape)))


@settings(max_examples=examples(120), derandomize=True, deadline=None)
@given(st.dictionaries(NAMES, arrays(), min_size=1, max_size=4), st.sampled_from(["numeric", "text"]))
def test_workbooks(mapping: dict[str, Any], cells: str) -> None:
    file = io.BytesIO()
    sa.write(file, mapping, format="xlsx", cells=cells)
    file.seek(0)
    result = sa.read(file, format="xlsx")
    assert list(result) == list(mapping)
    for name, array in mapping.items():
        assert_same(result[name], array)
    file.seek(0)
    assert [str(finding) for finding in sa.check(file, format="xlsx")] == []


# Nested arrays -------------------------------------------------------------------------------------------------

FIELDS = st.one_of(
    st.sampled_from(["x", "y", "a-b", "a", "", "counts", "content", "0", "json", "..", "/", "a/../b", "\\"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)
LEAVES = [
    (st.integers(-(2**63), 2**63 - 1), "i8"),
    (st.floats(), "f8"),
    (st.booleans(), "?"),
    (st.complex_numbers(), "c16"),
    (st.integers(-(10**12), 10**12), "M8[ms]"),
]


@st.composite
def leaves(draw: Any, count: int) -> Content:
    values, dtype = draw(st.sampled_from([*LEAVES, (st.text(CHARACTERS, max_size=4), "")]))
    result = draw(st.lists(values, min_size=count, max_size=count))
    if not dtype:
        return ak.to_layout(ak.Array([*result, ""])[:-1])
    return NumpyArray(np.array(result, "i8").view(dtype) if dtype[0] == "M" else np.array(result, dtype))


def _index(draw: Any, count: int, low: int, high: int) -> Index64:
    return Index64(np.array([draw(st.integers(low, high)) for _ in range(count)], "i8"))


@st.composite
def nested(draw: Any, count: int, depth: int) -> Content:
    """A layout of so many elements, of any class and at most so deep."""
    kinds = ["leaf", "offsets", "starts", "record", "tuple", "option", "index", "mask", "regular", "union"]
    match draw(st.sampled_from(kinds if depth else kinds[:1])):
        case "offsets":
            counts = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
            offsets = np.concatenate([[0], np.cumsum(counts)]).astype("i8") + draw(st.integers(0, 2))
            beyond = draw(st.integers(0, 2))
            return ListOffsetArray(Index64(offsets), draw(nested(int(offsets[-1]) + beyond, depth - 1)))
        case "starts":
            length = draw(st.integers(0, 5))
            starts = _index(draw, count, 0, length)
            stops = [draw(st.integers(start, length)) for start in starts.data.tolist()]
            return ListArray(starts, Index64(np.array(stops, "i8")), draw(nested(length, depth - 1)))
        case "record":
            fields = draw(st.lists(FIELDS, min_size=1, max_size=3, unique=True))
            return RecordArray([draw(nested(count, depth - 1)) for _ in fields], fields)
        case "tuple":
            return RecordArray([draw(nested(count, depth - 1)) for _ in range(draw(st.integers(1, 2)))], None)
        case "option":
            return IndexedOptionArray.simplified(_index(draw, count, -1, 2), draw(nested(3, depth - 1)))
        case "index":
            return IndexedArray.simplified(_index(draw, count, 0, 2), draw(nested(3, depth - 1)))
        case "mask":
            mask = Index8(_index(draw, count, 0, 1).data.astype("i1"))
            return ByteMaskedArray.simplified(mask, draw(nested(count, depth - 1)), draw(st.booleans()))
        case "regular":
            size = draw(st.integers(1, 3))
            return RegularArray(draw(nested(count * size, depth - 1)), size)
        case "union":
            tags = _index(draw, count, 0, 1).data.astype("i1")
            index = np.where(tags, np.cumsum(tags), np.cumsum(1 - tags)) - 1
            lengths = (count - int(tags.sum()), int(tags.sum()))
            contents = [draw(nested(length, depth - 1)) for length in lengths]
            return UnionArray.simplified(Index8(tags), Index64(index.astype("i8")), contents)
    return draw(leaves(count))


def to_texts(value: Any) -> Any:
    """Values that compare as they look: NaN with NaN, -0.0 not with 0.0, True not with 1."""
    if isinstance(value, dict):
        return {key: to_texts(part) for key, part in value.items()}
    return [to_texts(part) for part in value] if isinstance(value, (list, tuple)) else repr(value)


@settings(max_examples=examples(120), derandomize=True, deadline=None)
@given(
    st.integers(0, 4).flatmap(lambda count: nested(count, 3)),
    st.sampled_from(["e", "run 1", "a-b", "=x", "é", "x.json", "1", "_x0041_"]),
    st.sampled_from(["xlsx", "csv", "json"]),
)
def test_nested_arrays(layout: Content, name: str, format: str) -> None:
    array, file = ak.Array(layout), io.BytesIO()
    sa.write(file, {name: array, "plain": np.arange(2)}, format=format)
    file.seek(0)
    result = sa.read(file, format=format)
    assert list(result) == [name, "plain"]
    assert to_texts(result[name].to_list()) == to_texts(array.to_list())
    file.seek(0)
    assert to_texts(sa.read(file, [name], format=format)[name].to_list()) == to_texts(array.to_list())
    file.seek(0)
    assert [str(finding) for finding in sa.check(file, format=format)] == []
