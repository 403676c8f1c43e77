"""Ordinary tables out: plain columns that `read_columns` brings back, or a warning that names the column."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from examples import examples
from hypothesis import given, settings

import sheetarray as sa

PLAIN = {
    "when": np.array(["2024-05-06", "2024-05-07", "1900-03-01"], "M8[D]"),
    "station": np.array(["007", "Zürich", 'a, "b"']),
    "t": np.array([0.1, 1 / 3, -0.0]),
    "id": np.array([2**53 + 1, 2**63 - 1, -5]),
    "wet": np.array([True, False, True]),
}


def same(array: np.ndarray[Any, Any], column: np.ndarray[Any, Any]) -> bool:
    """Return whether a column holds the values of an array, of the same kind."""
    family = {"u": "i", "T": "U"}
    kinds = [family.get(some.dtype.kind, some.dtype.kind) for some in (array, column)]
    if kinds[0] != kinds[1] or len(array) != len(column):
        return False
    if array.dtype.kind in "fM":
        again = column.astype(array.dtype)
        signs = np.signbit(array) == np.signbit(again) if array.dtype.kind == "f" else True
        missing = np.isnan if array.dtype.kind == "f" else np.isnat
        return bool((((array == again) & signs) | (missing(array) & missing(again))).all())
    return bool(array.tolist() == column.tolist())


@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt", "csv.gz", "xlsx", "xlsm"])
def test_plain_columns_come_back_without_a_warning(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{suffix}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.write_table(path, PLAIN)
        columns = sa.read_columns(path)
    assert list(columns) == list(PLAIN)
    for name, array in PLAIN.items():
        assert same(array, columns[name]), name


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_frames_are_tables(make: Any, suffix: str, tmp_path: Path) -> None:
    columns = {"x": [1.5, 2.5], "s": ["a", "b"]}
    sa.write_table(tmp_path / f"t.{suffix}", make(columns))
    read = sa.read_columns(tmp_path / f"t.{suffix}")
    assert {name: column.tolist() for name, column in read.items()} == columns


@pytest.mark.parametrize("count", [3, 2000])
@pytest.mark.parametrize("how", [{}, {"dtype": "string"}, {"dtype": {"=a": "string", "'": "string"}}])
def test_text_that_a_spreadsheet_would_evaluate_comes_back(count: int, how: dict[str, Any], tmp_path: Path) -> None:
    path, edited = tmp_path / "t.csv", tmp_path / "edited.csv"
    columns = {"=a": np.array(["=1+1", "x", "'=y"] * count), "'": np.array(["it's", "@", "'q'"] * count)}
    sa.write_table(path, columns)
    assert_columns(sa.read_columns(path, **how), columns)
    assert path.read_text(encoding="utf-8").startswith("'=a,''\n'=1+1,it's\n")
    kept = sa.read_columns(path, formulas="keep")
    assert list(kept) == ["'=a", "''"]
    assert kept["'=a"][:3].tolist() == ["'=1+1", "x", "''=y"]
    sa.append(path, {"=a": ["+3"], "'": ["'-4"]})
    appended = {"=a": np.append(columns["=a"], "+3"), "'": np.append(columns["'"], "'-4")}
    assert_columns(sa.read_columns(path, **how), appended)
    changed = appended["=a"].copy()
    changed[1] = "'=z"
    sa.write_table(edited, {**appended, "=a": changed})
    sa.merge(path, edited, target=path)
    assert path.read_bytes() == edited.read_bytes()


def test_a_merge_spells_text_as_the_column_has_it(tmp_path: Path) -> None:
    base, edited = tmp_path / "base.csv", tmp_path / "edited.csv"
    base.write_text("phone,note\n+41 1,a\n+41 2,b\n+41 3,c\n", encoding="utf-8")
    edited.write_text("phone,note\n+41 1,a\n+41 9,=b\n''=7,c\n", encoding="utf-8")
    sa.merge(base, edited, target=base)
    assert base.read_text(encoding="utf-8") == "phone,note\n+41 1,a\n+41 9,'=b\n''=7,c\n"
    assert sa.read_columns(base)["phone"].tolist() == ["+41 1", "+41 9", "'=7"]


def assert_columns(one: Mapping[str, np.ndarray[Any, Any]], other: Mapping[str, np.ndarray[Any, Any]]) -> None:
    assert {name: column.tolist() for name, column in one.items()} == {
        name: column.tolist() for name, column in other.items()
    }


# Any table -------------------------------------------------------------------------------------------------------

DTYPES = st.sampled_from(
    [
        *("f8", "f4", "f2", "i8", "u8", "i1", "?", "U3", "M8[D]", "M8[h]", "M8[s]", "M8[ms]", "M8[us]", "M8[ns]"),
        *("m8[s]", "c16"),
    ]
)
NAMES = st.lists(st.text("ab1. ,;\"'=é", min_size=1, max_size=4).filter(str.strip), min_size=1, max_size=4, unique=True)
DIALECTS: list[dict[str, Any]] = [
    {"format": "csv"},
    {"format": "csv", "delimiter": ";", "decimal": ","},
    {"format": "csv", "delimiter": "\t", "bom": True},
    {"format": "csv", "delimiter": "|", "formulas": "keep"},
    {"format": "tsv"},
    {"format": "xlsx"},
    {"format": "xlsx", "dates": "text"},
]


@st.composite
def tables(draw: st.DrawFn) -> dict[str, np.ndarray[Any, Any]]:
    rows = draw(st.integers(0, 5))
    return {name: draw(DTYPES.flatmap(lambda dtype: npst.arrays(dtype, rows))) for name in draw(NAMES)}


@settings(max_examples=examples(150), deadline=None)
@given(tables(), st.sampled_from(DIALECTS))
def test_any_table_comes_back_or_its_columns_are_named(
    table: dict[str, np.ndarray[Any, Any]], dialect: dict[str, Any]
) -> None:
    file = io.BytesIO()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            sa.write_table(file, table, **dialect)
        except (sa.DTypeError, sa.LimitError):
            return  # text that is not Unicode, or a moment that has no text
    named = [str(warning.message) for warning in caught]
    file.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        try:
            columns = sa.read_columns(file, format=dialect["format"])
        except sa.SheetArrayError:
            columns = {}
    for name, array in table.items():
        is_named = any(f"{name!r:.80}" in re.split(" do(?:es)? not come| cannot be", message)[0] for message in named)
        assert is_named != (name in columns and same(array, columns[name])), (name, named, columns)
