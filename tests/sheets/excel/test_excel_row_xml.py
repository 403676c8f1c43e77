"""Rows of a worksheet that are written by the compiled loop: the bytes are those of the plain way."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from exact_powers import powers_of_ten, powers_of_two
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from mixtures import TEXTS

import sheetarray as sa
from sheetarray import loops
from sheetarray.sheets.excel.row_xml import ColumnSegment, Layer, format_rows
from sheetarray.testing.cases import dtype_cases


def content(arrays: dict[str, Any], **options: Any) -> bytes:
    file = io.BytesIO()
    sa.write(file, arrays, format="xlsx", **options)
    return file.getvalue()


def mixed(step: int) -> dict[str, Any]:
    """Arrays of every dtype, or of one in so many, some alike and some shorter than others, in no order."""
    arrays: dict[str, Any] = {}
    for copy in range(3):
        for name, array in list(dtype_cases().items())[::step]:
            flat = np.asarray(array).reshape(-1)
            arrays[f"{name} {copy}"] = flat[: len(flat) - copy] if copy < 2 else flat
    arrays["not all finite"] = np.array([1.5, np.nan, -np.inf, -0.0])
    arrays["wide"] = np.array([2**62, 1, -(10**15), 10**15 - 1])
    arrays["large"] = np.array([10**11, 1, 2, 3])
    arrays["grid"] = np.arange(12.0).reshape(3, 4)
    return arrays


needs_loop = pytest.mark.skipif(not loops.COMPILED, reason="the compiled loops are not built, or switched off")


def in_both_ways(make: Callable[[], bytes]) -> bytes:
    """Return what the compiled loop makes, after asserting that the plain way makes the same bytes."""
    compiled = make()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "COMPILED", False)
        assert make() == compiled
    return compiled


@needs_loop
@pytest.mark.parametrize(
    "options", [{}, {"cells": "text"}, {"dates": "real"}, {"views": {"grid": sa.View(editable=True)}}]
)
def test_the_loop_and_the_plain_way_write_the_same_workbook(options: dict[str, Any]) -> None:
    arrays = mixed(3 if options else 1)
    back = sa.read(io.BytesIO(in_both_ways(lambda: content(arrays, **options))), format="xlsx")
    assert all(np.array_equal(back[name], array) for name, array in arrays.items() if array.dtype.kind in "iub")


@needs_loop
@settings(max_examples=examples(400))
@given(st.data())
def test_the_loop_writes_the_bytes_of_the_plain_way(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 12))
    texts = st.lists(st.none() | TEXTS, min_size=size, max_size=size)
    seed = data.draw(st.integers(0, 2**32))
    content = np.random.default_rng(seed).bytes(8 * size)
    layers = [
        Layer("><v>", "d", np.where(np.arange(size) % 2, np.nan, np.frombuffer(content, np.float64)), "</v></c>"),
        Layer(' t="b"><v>', "i", np.frombuffer(content, np.int64), "</v></c>"),
        Layer(' t="x">', "v", data.draw(texts), "</c>"),
    ]
    groups = [data.draw(st.lists(st.sampled_from(layers), min_size=1, max_size=3)) for _ in range(2)]
    segments = []
    for letters in ("A", "Z", "AA", "XFD"):
        start = data.draw(st.integers(0, size))
        cells = data.draw(st.integers(0, size - start))
        segments.append(
            ColumnSegment(letters, data.draw(st.integers(0, 1)), start, data.draw(st.integers(0, 3)), cells)
        )
    attributes = data.draw(st.lists(st.sampled_from(["", ' hidden="1"']), max_size=3))
    first, rows = data.draw(st.sampled_from([1, 9, 99_998])), data.draw(st.integers(0, 16))
    in_both_ways(lambda: format_rows(first, rows, segments, groups, attributes=attributes))


@needs_loop
def test_numbers_where_their_form_changes_are_the_same_in_both_ways() -> None:
    powers = [float(f"{digits}e{power}") for power in range(-8, 24) for digits in ("1", "1.5", "9.999999999999999")]
    edges = [0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 2.0**53, 2.0**63, 0.1 + 0.2]
    numbers = np.array([*powers, *np.nextafter(powers, 0.0), *edges])
    with np.errstate(over="ignore"):
        arrays = {dtype: np.concatenate([numbers, -numbers]).astype(dtype) for dtype in ("float64", "float32")}
    back = sa.read(io.BytesIO(in_both_ways(lambda: content(arrays))), format="xlsx")
    assert {name: array.tobytes() for name, array in back.items()} == {n: a.tobytes() for n, a in arrays.items()}


@needs_loop
def test_the_loop_writes_the_shortest_text_of_a_double_as_python_does() -> None:
    powers = np.array([*powers_of_two(np.arange(-1074, 1024)), *(float(f"1e{power}") for power in range(-323, 309))])
    random = np.random.default_rng(0)
    bits = random.integers(0, 2**64, 20_000, np.uint64).view(np.float64)
    short = np.round(random.standard_normal(5_000), 2) * powers_of_ten(random.integers(-9, 9, 5_000))
    edges = [near for below in (0.0, np.inf) for near in np.nextafter(powers, below)]
    numbers = np.concatenate([powers, edges, bits[np.isfinite(bits)], short, np.arange(9e15, 9e15 + 999)])
    numbers = np.concatenate([numbers, -numbers])
    made = format_rows(1, len(numbers), [ColumnSegment("A", 0, 0, 0, len(numbers))], [[Layer("|", "d", numbers, "|")]])
    assert made.decode().split("|")[1::2] == list(map(repr, numbers.tolist()))


def test_white_space_that_programs_change_is_marked() -> None:
    spaced = [
        *(" a", "a ", " ", "a  b", "a\tb", "a\nb", "a\rb", "\xa0", "a\u2003b", "\u3000a", "\x85", "\u2028", "\u1680")
    ]
    plain = ["a", "a b c", "é", "\u20a8", "\u200b", "\u206f", "\u3001", "\xa1", "_x0020_"]
    for texts in (spaced, plain):
        made = content({"t": np.array(texts)})
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            sheet = archive.read("xl/worksheets/sheet1.xml")
        starts = [start for start, _ in re.findall(rb"<t( [^>]*)?>([^<]*)", sheet)[-len(texts) :]]
        assert set(starts) == {b' xml:space="preserve"' if texts is spaced else b""}


@needs_loop
def test_the_loop_refuses_negative_numbers_of_rows_and_other_kinds() -> None:
    numbers = Layer("><v>", "d", np.zeros(3), "</v></c>")
    with pytest.raises(ValueError, match="negative"):
        format_rows(1, 2, [ColumnSegment("A", 0, 0, -1, 1)], [[numbers]])
    with pytest.raises(ValueError, match="negative"):
        format_rows(1, -1, [], [])
    with pytest.raises(ValueError, match="kind"):
        format_rows(1, 1, [ColumnSegment("A", 0, 0, 0, 1)], [[numbers._replace(kind="x")]])
    format_rows(1, 1, [ColumnSegment("A", 0, 0, 0, 1)], [[numbers._replace(after="x" * 64)]])
    with pytest.raises(ValueError, match="too long"):
        format_rows(1, 1, [ColumnSegment("A", 0, 0, 0, 1)], [[numbers._replace(after="x" * 65)]])
