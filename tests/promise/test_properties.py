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
from sheetarray.elements import escape_formula, unescape_formula
from sheetarray.testing.cases import assert_same

NAMES = TEXTS.filter(lambda text: text.strip() and text.strip().casefold() not in ("version", "ndarray"))
MAPPINGS = st.dictionaries(NAMES, arrays(), min_size=1, max_size=4)
DIALECTS = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "orient": st.sampled_from(["columns", "rows"]),
            "bom": st.booleans(),
            "encoding": st.sampled_from(["utf-8", "utf-16", "utf-16-le", "utf-32"]),
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


@settings(max_examples=examples(300))
@given(MAPPINGS, DIALECTS)
def test_csv_whose_dialect_is_found(mapping: dict[str, Any], options: dict[str, Any]) -> None:
    if options.get("encoding") == "utf-16-le":
        options = {**options, "bom": True}
    _there_and_back(mapping, "csv", options, {})


@settings(max_examples=examples(150))
@given(MAPPINGS, DIALECTS)
def test_csv_whose_dialect_is_said(mapping: dict[str, Any], options: dict[str, Any]) -> None:
    reading = {key: value for key, value in options.items() if key in ("delimiter", "decimal", "encoding")}
    _there_and_back(mapping, "csv", options, reading)


@settings(max_examples=examples(100))
@given(st.lists(arrays(), min_size=1, max_size=3))
def test_csv_without_names(result: list[Any]) -> None:
    mapping = dict(zip("ABC", result, strict=False))
    _there_and_back(mapping, "csv", {"names": False}, {})


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


@given(TEXTS)
def test_escape_is_undone(text: str) -> None:
    assert unescape_formula(escape_formula(text)) == text


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
