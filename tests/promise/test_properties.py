"""Whatever the array, its layout, its text or its bits: it comes back exactly, under every option."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from mixtures import TEXTS, arrays

import sheetarray as sa
from sheetarray.testing.cases import assert_same, objects

# Characters that readers of text, of XML or of Unicode treat in a way of their own, and words that mean something.
NASTY = (
    "\ufeff\ufffe\uffff\ufffd\x00\x01\x07\x08\x0b\x0c\x1a\x1c\x1d\x1e\x1f\x7f\x85\xa0\u2028\u2029\u200b\u3000"
    " \t\r\n\"'`,;|:=+-@#\\_ab1.5x0041<>&]\U0001f600\U0010ffff\u0301"
)
WORDS = [
    *("version", "data", "sep=;", "NaN", "007", "1e5", "_x0041_", "_x005F_x0041_", "__x0041__", "]]>", "&amp;"),
    "<is>",
]
WORDS += ["x" * 300, "\ufeffversion", "\u3000", " a  b ", "2020-01-01"]
ANY_TEXT = st.one_of(
    TEXTS, st.text(st.sampled_from(NASTY), max_size=6).map(lambda x: x.rstrip("\0")), st.sampled_from(WORDS)
)
NAMES = ANY_TEXT.filter(lambda text: text.strip() and text.strip().casefold() not in ("version", "ndarray"))


@st.composite
def long_arrays(draw: Any) -> Any:
    """Any array; some have more rows than are looked at one by one."""
    array = draw(arrays(ANY_TEXT))
    return np.tile(array, 40) if array.ndim == 1 and draw(st.integers(0, 4)) == 0 else array


MAPPINGS = st.dictionaries(NAMES, long_arrays(), min_size=1, max_size=4)
CHINESE = "gb18030"  # which has no mark
DIALECTS = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "orient": st.sampled_from(["columns", "rows"]),
            "bom": st.booleans(),
            "encoding": st.sampled_from(
                ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030"]
            ),
            "max_rows": st.integers(30, 400),
        },
    ),
    st.fixed_dictionaries(
        {"delimiter": st.sampled_from(";\t|"), "decimal": st.sampled_from(".,")},
        optional={"orient": st.sampled_from(["columns", "rows"])},
    ),
)


@settings(max_examples=examples(400))
@pytest.mark.filterwarnings("ignore:.* elements are repeated:sheetarray.SheetArrayWarning")  # of broadcast views
@given(arrays(), st.booleans(), st.sampled_from(["text", "interleaved"]))
def test_flat_lists(array: Any, base: bool, complex: Any) -> None:
    cells = sa.to_linear(array, base=base, complex=complex)
    result = sa.from_linear(json.loads(json.dumps(cells, allow_nan=False)))
    assert_same(result, array, layout=not base)


@settings(max_examples=examples(150))
@given(MAPPINGS)
def test_json(mapping: dict[str, Any]) -> None:
    _there_and_back(mapping, "json", {}, {})


@settings(max_examples=examples(220))
@given(MAPPINGS, st.sampled_from(["numeric", "text"]))
def test_workbooks(mapping: dict[str, Any], cells: str) -> None:
    _there_and_back(mapping, "xlsx", {"cells": cells}, {})


@settings(max_examples=examples(500))
@given(MAPPINGS, DIALECTS)
def test_csv_whose_dialect_is_found(mapping: dict[str, Any], options: dict[str, Any]) -> None:
    if options.get("encoding", "")[-2:] in ("le", "be"):
        options = {**options, "bom": True}
    reading = {"encoding": CHINESE} if options.get("encoding") == CHINESE else {}
    _there_and_back(mapping, "csv", options, reading)


@settings(max_examples=examples(200))
@given(MAPPINGS, DIALECTS)
def test_csv_whose_dialect_is_said(mapping: dict[str, Any], options: dict[str, Any]) -> None:
    reading = {key: value for key, value in options.items() if key in ("delimiter", "decimal", "encoding")}
    _there_and_back(mapping, "csv", options, reading)


@settings(max_examples=examples(100))
@given(st.lists(long_arrays(), min_size=1, max_size=3))
def test_csv_without_names(result: list[Any]) -> None:
    _there_and_back(dict(zip("ABC", result, strict=False)), "csv", {"names": False}, {})


MARK = "\ufeff"


@pytest.mark.parametrize(
    ("mapping", "options"),
    [
        ({f"{MARK}x": np.array([f"{MARK}x", "y"])}, {}),
        ({MARK: np.array([MARK, MARK])}, {}),
        ({f"{MARK}{MARK}": objects(f"{MARK}{MARK}", None)}, {"orient": "rows"}),
        ({"\0\n": np.arange(3.0)}, {"encoding": "utf-16"}),
        ({"a": np.arange(3.0), "a\n\n\n": np.array(["b"])}, {"delimiter": "\t"}),
        ({f"={MARK}": np.array([f"a{MARK}b", f' {MARK}"'] * 400), "b": np.arange(3.0)}, {"bom": True}),
    ],
)
def test_texts_that_were_lost_once(mapping: dict[str, Any], options: dict[str, Any]) -> None:
    _there_and_back(mapping, "csv", options, {})
    _there_and_back(mapping, "json", {}, {})
    _there_and_back(mapping, "xlsx", {}, {})


def _there_and_back(mapping: dict[str, Any], format: str, writing: dict[str, Any], reading: dict[str, Any]) -> None:
    file = io.BytesIO()
    try:
        sa.write(file, mapping, format=format, **writing)
    except sa.LimitError:
        assert "max_rows" in writing  # a header that does not fit
        return
    file.seek(0)
    result = sa.read(file, format=format, **reading)
    assert list(result) == list(mapping)
    for name, array in mapping.items():
        assert_same(result[name], array)
    assert list(sa.check(io.BytesIO(file.getvalue()), format=format, **reading)) == []


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@settings(max_examples=examples(20))
@given(seed=st.integers(0, 2**32))
def test_random_bit_patterns_of_floats(dtype: str, seed: int) -> None:
    bits = np.random.default_rng(seed).integers(0, 256, 4096, dtype=np.uint8)
    array = bits.view(dtype)
    _there_and_back({"x": array}, "csv", {}, {})
    _there_and_back({"x": array}, "csv", {"delimiter": ";", "decimal": ","}, {})
    _there_and_back({"x": array}, "json", {}, {})


def test_every_float16_comes_back() -> None:
    _there_and_back({"x": np.arange(2**16, dtype=np.uint16).view(np.float16)}, "csv", {}, {})


@settings(max_examples=examples(150))
@given(
    st.lists(TEXTS, min_size=1, max_size=8), st.lists(st.floats(allow_nan=False) | st.none(), min_size=1, max_size=8)
)
def test_read_columns_keeps_text_and_floats(texts: list[str], floats: list[float | None]) -> None:
    import csv

    texts = [*texts, "end"]  # blank rows at the end are not rows
    height = max(len(texts), len(floats))
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(["name", "value"])
    writer.writerows(
        [
            texts[index] if index < len(texts) else "z",
            "" if index >= len(floats) or floats[index] is None else repr(floats[index]),
        ]
        for index in range(height)
    )
    file.seek(0)
    result = sa.read_columns(file, format="csv", dtype={"name": "string", "value": "float64"}, header=True)
    assert result["name"].tolist() == [*texts, *["z"] * (height - len(texts))]
    expected = [np.nan if value is None else value for value in floats] + [np.nan] * (height - len(floats))
    assert_same(result["value"], np.array(expected, dtype="float64"))
