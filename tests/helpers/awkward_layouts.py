"""Awkward arrays of every layout class and random ones, archives of them, and schemas made by hand."""

from __future__ import annotations

import io
import json
import zipfile
from functools import cache
from typing import Any

import awkward as ak
import numpy as np
import pytest
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray.interchange.awkward import deserialize, save

# Awkward arrays of every layout class, and random ones: what has to come back from the protocol.

contents = ak.contents
DTYPES = ("bool", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16", "M8[ms]", "m8[25s]")
CATEGORICAL = {"__array__": "categorical"}
PARAMETERS = [{"__doc__": "text"}, {"units": "mm"}, {"deep": {"a": [1, None, 2.5, True, "ü", {}]}}, {"__list__": "L"}]
WORDS = ["", "a", "one", "漢字", "ü", "😀", "=1+1", "1", '"', "x" * 40, "\0", "a\0"]
NAMES = ["x", "y", "counts", "content", "0", "7", "a-b", "ü", "two words", "=1", " x", "X", "entry"]


def index(values: Any, dtype: str = "int64") -> Any:
    """An awkward index of that dtype."""
    return ak.index.Index(np.asarray(values, dtype=dtype))


def strings(*words: str) -> Any:
    """The layout of an array of strings."""
    return ak.Array(list(words)).layout if words else ak.Array(["a"]).layout[:0]


def noted(layout: Any, **parameters: Any) -> Any:
    """The same layout with more parameters."""
    return layout.copy(parameters={**layout.parameters, **parameters})


@cache
def every_class() -> dict[str, Any]:
    """An array for each layout class, and for each way in which one can be cut, viewed or empty (shared)."""
    ragged = ak.Array([[1.5, 2.5], [], [3.5]]).layout
    table = ak.Array([{"x": 1, "y": [1.5]}, {"x": 2, "y": []}, {"x": 3, "y": [2.5, 3.5]}]).layout
    numbers = contents.NumpyArray(np.arange(12))
    result: dict[str, Any] = {
        "numbers": numbers,
        "a slice with a step": contents.NumpyArray(np.arange(12)[10:2:-3]),
        "n-d numbers": contents.NumpyArray(np.arange(12.0).reshape(3, 2, 2)),
        "Fortran order": ak.from_numpy(np.asfortranarray(np.arange(6).reshape(3, 2)), highlevel=False),
        "n-d without elements": contents.NumpyArray(np.zeros((0, 3))),
        "empty rows": contents.NumpyArray(np.zeros((3, 0))),
        "empty rows of rows": contents.NumpyArray(np.zeros((2, 0, 3))),
        "no type": contents.EmptyArray(),
        "lists": ragged,
        "lists from the middle": ragged[1:],
        "no lists": ragged[:0],
        "offsets that begin late": contents.ListOffsetArray(index([2, 4, 4, 9], "int32"), numbers),
        "lists of lists": ak.Array([[[1], [2, 3]], [], [[]]]).layout,
        "lists of nothing": ak.Array([[], []]).layout,
        "picked lists": ragged[np.array([2, 0, 2])],
        "starts and stops": contents.ListArray(index([5, 1, 99, 0], "uint32"), index([7, 4, 99, 2], "uint32"), numbers),
        "starts and stops of nothing": contents.ListArray(index([3, 3]), index([3, 3, 7]), numbers[:0]),
        "fixed lists of numbers": contents.RegularArray(numbers, 5),
        "fixed lists of lists": contents.RegularArray(ragged, 1),
        "fixed lists of no size": contents.RegularArray(ragged, 0, 3),
        "fixed lists of fixed lists": contents.RegularArray(contents.RegularArray(numbers, 2), 3),
        "fixed lists of strings": contents.RegularArray(strings("a", "b", "cc", "d", "e"), 2),
        "records": table,
        "records, cut": table[1:],
        "no records": table[:0],
        "records longer than the table": contents.RecordArray([numbers, ragged], ["n", "l"], 2),
        "records of records": ak.Array([{"a": {"b": 1, "c": "x"}}]).layout,
        "lists of records": ak.Array([[{"x": 1, "y": [1.5]}, {"x": 2, "y": []}], []]).layout,
        "tuples": ak.Array([(1, 2.5), (3, 4.5)]).layout,
        "named records": ak.Array([{"x": 1.5}], with_name="Point").layout,
        "no records without fields": contents.RecordArray([], [], 0),
        "strings": strings("one", "", "drei €"),
        "strings from the middle": strings("one", "", "drei €")[1:],
        "no strings": strings("a")[:0],
        "empty strings": strings("", ""),
        "picked strings": strings("one", "", "drei €")[np.array([2, 0, 2, 1])],
        "lists of strings": ak.Array([["a", "b"], [], ["c"]]).layout,
        "strings of one size": ak.to_regular(ak.Array(["ab", "cd"]), axis=1).layout,
        "bytes": ak.Array([b"a", b"", b"\xff\x00"]).layout,
        "an index": contents.IndexedArray(index([2, 0, 0], "int32"), ragged),
        "an index of nothing": contents.IndexedArray(index([]), ragged),
        "an index over records": contents.IndexedArray(index([2, 0]), table),
        "a table seen through a mask": ak.Array(table)[np.array([True, False, True])].layout,
        "a missing number": ak.Array([1, None, 3]).layout,
        "a missing list": ak.Array([[1], None, [2, 3]]).layout,
        "a missing record": ak.Array([{"x": 1}, None]).layout,
        "a missing string": ak.Array(["a", None]).layout,
        "all missing": ak.Array([None, None]).layout,
        "far below zero": contents.IndexedOptionArray(index([-7, 1, -1]), numbers),
        "a mask of bytes": contents.ByteMaskedArray(index([1, 0, 1], "int8"), ragged, True),
        "a shorter mask of bytes": contents.ByteMaskedArray(index([1, 0], "int8"), ragged, False),
        "no mask": contents.UnmaskedArray(ragged),
        "no mask of nothing": contents.UnmaskedArray(ragged[:0]),
        "a union": ak.Array([1, "two", [3], {"x": 1}, 2.5]).layout,
        "a union with missing": ak.Array([1, "two", None]).layout,
        "a union, sequential": ak.Array([1.5, [2], 3.5]).layout,
        "a union, picked": ak.Array([1.5, [2], 3.5, [4, 5]])[np.array([3, 0])].layout,
        "one layout twice": contents.RecordArray([ragged, ragged, numbers], ["a", "b", "c"], 3),
    }
    plain_classes = dict(result)
    two = contents.RegularArray(noted(numbers, units="s"), 2, parameters={"units": "m"})
    word = noted(strings("b", "a"), lang="la")
    result |= {
        "categories": contents.IndexedArray(index([1, 0, 1]), strings("a", "b"), parameters=CATEGORICAL),
        "categories of numbers": contents.IndexedArray(index([1, 0, 1]), numbers, parameters=CATEGORICAL),
        "categories of lists": contents.IndexedArray(index([2, 0]), ragged, parameters={**CATEGORICAL, "units": "mm"}),
        "categories and missing": contents.IndexedOptionArray(
            index([1, -1]), strings("a", "b"), parameters=CATEGORICAL
        ),
        "lists of categories": contents.ListOffsetArray(
            index([0, 1, 3]), contents.IndexedArray(index([1, 0, 1]), strings("a", "b"), parameters=CATEGORICAL)
        ),
        "a union with categories": contents.UnionArray(
            index([0, 1, 0], "int8"),
            index([0, 0, 1]),
            [numbers, contents.IndexedArray(index([1, 0]), strings("a", "b"), parameters=CATEGORICAL)],
        ),
        "a named tuple": contents.RecordArray([numbers, word[:2]], None, 2, parameters={"__record__": "Pair"}),
        "a tuple in a tuple": contents.RecordArray([contents.RecordArray([numbers, numbers], None), numbers], None),
        "records named tuple": contents.RecordArray([numbers], ["0"], parameters={"__record__": "tuple"}),
        "a record with 0 and 1 for fields": contents.RecordArray([numbers, numbers], ["0", "1"]),
        "a list with a name": noted(ragged, __list__="Hits"),
        "units and nested parameters": noted(numbers, units="mm", more={"a": [1, None, 2.5, True, "ü"], "b": {}}),
        "parameters of a block": contents.RegularArray(two, 3, parameters={"__doc__": "deep"}),
        "parameters of n-d numbers": contents.NumpyArray(np.zeros((2, 3)), parameters={"__doc__": "flat"}),
        "parameters of strings": noted(strings("a", ""), __doc__="words"),
        "parameters of characters": contents.ListOffsetArray(
            index([0, 1]), noted(strings("a").content, lang="de"), parameters={"__array__": "string"}
        ),
        "fixed lists of records": contents.RegularArray(table, 1, parameters={"__list__": "L"}),
        "fixed lists of records of no size": contents.RegularArray(table, 0, 2),
        "no fixed lists": contents.RegularArray(ragged, 3)[:0],
        "fixed lists of picked records": contents.RegularArray(contents.IndexedArray(index([2, 0]), table), 2),
        "bytes of one size": ak.to_regular(ak.Array([b"ab", b"\0d"]), axis=1).layout,
        "a union without elements": ak.Array([1, "two", [3]]).layout[:0],
        "lists of no union": contents.ListOffsetArray(index([0, 0]), ak.Array([1, "two"]).layout[:0]),
        "a union with a parameter": noted(ak.Array([1, "two"]).layout, __doc__="either"),
        "a union of records by name": contents.UnionArray(
            index([0, 1], "int8"), index([0, 0]), [noted(table, __record__="A"), noted(table, __record__="B")]
        ),
        "no type in records": contents.RecordArray([contents.EmptyArray(), ragged], ["none", "l"], 0),
        "one noted layout twice": contents.RecordArray([two, two], ["a", "b"], 3),
    }
    for name in ("an index over records", "a mask of bytes", "a missing number", "no mask", "a missing string"):
        result[f"{name}, noted"] = noted(plain_classes[name], __doc__=name)
    for valid_when in (True, False):
        for lowest_first in (True, False):
            name = f"a mask of bits, {'valid' if valid_when else 'masked'}, {'lsb' if lowest_first else 'msb'}"
            bits = index([0b10110, 0b1], "uint8")
            result[name] = contents.BitMaskedArray(bits, numbers, valid_when, 9, lowest_first)
    return {name: ak.Array(layout) for name, layout in result.items()} | {
        f"numbers, {dtype}": ak.Array(np.array([1, 0, 3]).astype(dtype)) for dtype in DTYPES
    }


# Random ones -------------------------------------------------------------------------------------------------


@st.composite
def arrays(draw: st.DrawFn, depth: int = 4) -> ak.Array:
    """An awkward array of any type, in any layout, its contents cut and longer than they need to be."""
    return ak.Array(draw(layouts(depth, draw(st.integers(0, 6)))))


@st.composite
def layouts(draw: st.DrawFn, depth: int, length: int, plain: bool = False) -> Any:
    """A layout; with `plain` none that options, indices and unions may not hold."""
    leaves = ["numbers", "numbers", "strings", "bytes", "block"]
    nodes = ["offsets", "ends", "regular", "record", "tuple"]
    above = [] if plain else ["index", "categories", "option", "bytemask", "bitmask", "unmasked", "union"]
    kind = draw(st.sampled_from(leaves if depth <= 0 else leaves + 2 * nodes + above))
    result = draw(globals()[f"_{kind}"](depth - 1, length))
    return noted(result, **draw(st.sampled_from(PARAMETERS))) if draw(st.integers(0, 3)) == 0 else result


def _cut(draw: st.DrawFn, depth: int, length: int, plain: bool = False) -> Any:
    """A layout of some length, that may be a part of a longer one."""
    before, after = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    return draw(layouts(depth, before + length + after, plain))[before : before + length]


@st.composite
def _numbers(draw: st.DrawFn, depth: int, length: int) -> Any:
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    whole = draw(st.lists(st.integers(0, 1 if dtype.kind == "b" else 100), min_size=length, max_size=length))
    values = np.array(whole, dtype="i8").astype(dtype)
    if draw(st.booleans()):
        values = np.repeat(values, 2)[::2]
    return contents.NumpyArray(values)


@st.composite
def _block(draw: st.DrawFn, depth: int, length: int) -> Any:
    shape = (length, *draw(st.lists(st.integers(0, 3), min_size=1, max_size=2)))
    return contents.NumpyArray(np.arange(np.prod(shape), dtype="f8").reshape(shape))


@st.composite
def _strings(draw: st.DrawFn, depth: int, length: int) -> Any:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=length + 1, max_size=length + 1))
    return strings(*words)[1:]


@st.composite
def _bytes(draw: st.DrawFn, depth: int, length: int) -> Any:
    return ak.Array([b"x", *draw(st.lists(st.binary(max_size=4), min_size=length, max_size=length))]).layout[1:]


@st.composite
def _offsets(draw: st.DrawFn, depth: int, length: int) -> Any:
    counts = draw(st.lists(st.integers(0, 3), min_size=length, max_size=length))
    start = draw(st.integers(0, 2))
    offsets = start + np.concatenate([[0], np.cumsum(np.array(counts, dtype="i8"))])
    dtype = draw(st.sampled_from(["int32", "uint32", "int64"]))
    inner = draw(layouts(depth, int(offsets[-1]) + draw(st.integers(0, 2))))
    return contents.ListOffsetArray(index(offsets, dtype), inner)


@st.composite
def _ends(draw: st.DrawFn, depth: int, length: int) -> Any:
    size = draw(st.integers(0, 6))
    pairs = st.tuples(st.integers(0, size), st.integers(0, size)).map(sorted)
    ends = np.array(draw(st.lists(pairs, min_size=length, max_size=length)), dtype="i8").reshape(-1, 2)
    return contents.ListArray(index(ends[:, 0]), index(ends[:, 1]), draw(layouts(depth, size)))


@st.composite
def _regular(draw: st.DrawFn, depth: int, length: int) -> Any:
    size = draw(st.integers(0, 3))
    return contents.RegularArray(_cut(draw, depth, size * length), size, length)


@st.composite
def _record(draw: st.DrawFn, depth: int, length: int) -> Any:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    fields = [_cut(draw, depth, length + draw(st.integers(0, 1))) for _ in names]
    parameters = draw(st.sampled_from([None, {"__record__": "Point"}]))
    return contents.RecordArray(fields, names, length, parameters=parameters)


@st.composite
def _tuple(draw: st.DrawFn, depth: int, length: int) -> Any:
    fields = [_cut(draw, depth, length) for _ in range(draw(st.integers(1, 3)))]
    parameters = draw(st.sampled_from([None, {"__record__": "Pair"}]))
    return contents.RecordArray(fields, None, length, parameters=parameters)


def _plain_content(draw: st.DrawFn, depth: int, length: int) -> Any:
    return draw(layouts(depth, length, plain=True))


@st.composite
def _index(draw: st.DrawFn, depth: int, length: int) -> Any:
    size = draw(st.integers(1, 5))
    places = draw(st.lists(st.integers(0, size - 1), min_size=length, max_size=length))
    return contents.IndexedArray(index(places), _plain_content(draw, depth, size))


@st.composite
def _categories(draw: st.DrawFn, depth: int, length: int) -> Any:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, unique=True))
    missing = draw(st.booleans())
    places = st.integers(-1 if missing else 0, len(words) - 1)
    numbers = index(draw(st.lists(places, min_size=length, max_size=length)))
    kind = contents.IndexedOptionArray if missing else contents.IndexedArray
    return kind(numbers, strings(*words), parameters=CATEGORICAL)


@st.composite
def _option(draw: st.DrawFn, depth: int, length: int) -> Any:
    size = draw(st.integers(0, 5))
    places = draw(st.lists(st.integers(-2, size - 1), min_size=length, max_size=length))
    return contents.IndexedOptionArray(index(places), _plain_content(draw, depth, size))


@st.composite
def _bytemask(draw: st.DrawFn, depth: int, length: int) -> Any:
    mask = draw(st.lists(st.integers(0, 1), min_size=length, max_size=length))
    inner = _plain_content(draw, depth, length + draw(st.integers(0, 2)))
    return contents.ByteMaskedArray(index(mask, "int8"), inner, draw(st.booleans()))


@st.composite
def _bitmask(draw: st.DrawFn, depth: int, length: int) -> Any:
    size = -(-length // 8) + draw(st.integers(0, 1))
    bits = draw(st.lists(st.integers(0, 255), min_size=size, max_size=size))
    inner = _plain_content(draw, depth, length + draw(st.integers(0, 2)))
    return contents.BitMaskedArray(index(bits, "uint8"), inner, draw(st.booleans()), length, draw(st.booleans()))


@st.composite
def _unmasked(draw: st.DrawFn, depth: int, length: int) -> Any:
    return contents.UnmaskedArray(_plain_content(draw, depth, length))


@st.composite
def _union(draw: st.DrawFn, depth: int, length: int) -> Any:
    sizes = draw(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)))
    members = [
        contents.NumpyArray(np.arange(sizes[0])),
        strings(*["ab", "", "c"][: sizes[1]]),
        draw(_offsets(min(depth, 0), sizes[2])),
    ]
    tags = draw(st.lists(st.integers(0, 2), min_size=length, max_size=length))
    places = [draw(st.integers(0, sizes[tag] - 1)) for tag in tags]
    return contents.UnionArray(index(tags, "int8"), index(places), members)


# What has to come back ---------------------------------------------------------------------------------------


def plain(array: ak.Array) -> Any:
    """The elements as nested lists, with NaN and NaT such that they equal themselves."""
    return _plain(ak.to_list(array))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return (type(value).__name__, str(value))


def kept_form(array: ak.Array) -> Any:
    """The form of an array as the protocol keeps it: packed, with all parameters, offsets and indices of 64 bits."""
    return _widened(ak.to_packed(ak.to_layout(array), highlevel=False).form.to_dict(verbose=True))


def _widened(form: Any) -> Any:
    if isinstance(form, list):
        return list(map(_widened, form))
    if not isinstance(form, dict):
        return form
    wide = {key: "i64" for key in ("offsets", "starts", "stops", "index") if key in form}
    return {key: _widened(value) if key.startswith("content") else value for key, value in form.items()} | wide


def assert_kept(result: Any, array: Any) -> None:
    """Values, type and all parameters are what they were."""
    assert plain(result) == plain(array)
    assert kept_form(result) == kept_form(array)
    types = [ak.to_layout(part).form.type for part in (result, array)]
    assert types[0].is_equal_to(types[1], all_parameters=True), f"{types[0]}\n{types[1]}"
    assert result.attrs == {key: value for key, value in array.attrs.items() if not key.startswith("@")}


# Archives of awkward arrays: what is in one, and one with members added or replaced.

CASES = every_class()
LISTS, STRINGS = CASES["lists"], CASES["strings"]


def members(path: Any) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert len(set(archive.namelist())) == len(archive.namelist())
        assert all(member.compress_type == zipfile.ZIP_STORED for member in archive.infolist())
        return {name: archive.read(name) for name in archive.namelist()}


def archive(**changes: Any) -> bytes:
    """An archive with arrays, and members that are added or replaced."""
    file = io.BytesIO()
    save(file, {"t": LISTS, "u": STRINGS})
    content = members(file) | changes.pop("replaced", {})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", changes.pop("method", zipfile.ZIP_STORED)) as new:
        for name, data in content.items():
            new.writestr(name, data)
    return file.getvalue()


# Schemas of the awkward0 protocol, made by hand: each test says what is in them.

Json = Any


def call(name: str, *args: Json, **more: Json) -> Json:
    """A call of one of awkward0's own functions, such as `JaggedArray.fromcounts`."""
    return {"call": ["awkward0", *name.split(".")], "args": list(args), **more}


def buffer(read: Json, dtype: Json, count: Json, **more: Json) -> Json:
    """An array from a blob, which is a name or an expression."""
    blob = {"read": read} if isinstance(read, str) else read
    return call("numpy.frombuffer", blob, {"dtype": dtype}, {"json": count}, **more)


class Blobs(dict[str, Any]):
    """A container that is filled by writing its schema: `array` stores an ndarray, and gives its expression."""

    def array(self, values: Any, dtype: Any = None, **more: Json) -> Json:
        array = np.ascontiguousarray(values, dtype)
        name = str(len(self))
        self[name] = array.tobytes()
        text: Json = array.dtype.str if array.dtype.kind in "SU" else str(array.dtype)
        if array.dtype.names:
            text = [[field, array.dtype[field].str] for field in array.dtype.names]
        return buffer(name, [text, list(array.shape[1:])] if array.ndim > 1 else text, len(array), **more)

    def read(self, expression: Json, **options: Any) -> ak.Array:
        """The array that an expression makes of these blobs."""
        return deserialize({**self, "": document(expression)}, **options)


def built(blobs: Blobs, part: Any) -> Json:
    """The expression of a tuple, a call of what it begins with; of a list or ndarray, a blob; JSON stays as it is."""
    if isinstance(part, tuple):
        return call(part[0], *(built(blobs, argument) for argument in part[1:]))
    if isinstance(part, (list, np.ndarray)):
        return blobs.array(part)
    if isinstance(part, dict) and "list" in part:
        return {"list": [built(blobs, item) for item in part["list"]]}
    if isinstance(part, dict) and "pairs" in part:
        return {"pairs": [[name, built(blobs, item)] for name, item in part["pairs"]]}
    return part


def values_of(text: str) -> list[Any]:
    """The JSON values of a text, one after the other."""
    decoder, values, rest = json.JSONDecoder(), [], text.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        values.append(value)
        rest = rest[end:].lstrip()
    return values


def document(expression: Json, **more: Json) -> bytes:
    """The whole schema of an expression."""
    return json.dumps({"awkward0": "0.15.5", "schema": expression, **more}).encode()


def refused(blobs: Blobs, expression: Json, match: str | None, location: str = "schema", **options: Any) -> None:
    """Reading is refused, with this reason, at this place."""
    with pytest.raises(sa.FormatError, match=match) as caught:
        blobs.read(expression, **options)
    assert caught.value.location == location
    assert len(caught.value.reason) > 10


INTS, FLOATS = np.arange(4), np.array([1.5, 2.5, 3.5, 4.5])


def table(blobs: Blobs, **more: Any) -> Any:
    """The expression of a table with the columns x, of integers, and y, of floats."""
    return call("Table.frompairs", {"pairs": [["x", blobs.array(INTS)], ["y", blobs.array(FLOATS)]]}, **more)


ROWS = [{"x": x, "y": y} for x, y in zip(INTS.tolist(), FLOATS.tolist(), strict=True)]
