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
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from adapters_deleted import WITHOUT_TABLES
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


def test_a_table_is_names_and_cells_and_nothing_else(tmp_path: Path) -> None:
    sa.write_table(tmp_path / "t.csv", PLAIN)
    lines = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["when,station,t,id,wet", "2024-05-06,007,0.1,9007199254740993,TRUE"]
    sa.write_table(tmp_path / "t.xlsx", PLAIN)
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").worksheets[0]
    rows = list(sheet.iter_rows())
    assert (sheet.title, sheet.freeze_panes, len(rows)) == ("table", "A2", 4)
    assert [cell.value for cell in rows[0]] == list(PLAIN)
    assert [cell.data_type for cell in rows[1]] == ["d", "s", "n", "s", "b"]
    assert not any(dimension.hidden for dimension in sheet.row_dimensions.values())
    with pytest.raises(sa.FormatError):
        sa.read(tmp_path / "t.csv")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_frames_are_tables(make: Any, suffix: str, tmp_path: Path) -> None:
    columns = {"x": [1.5, 2.5], "s": ["a", "b"]}
    sa.write_table(tmp_path / f"t.{suffix}", make(columns))
    read = sa.read_columns(tmp_path / f"t.{suffix}")
    assert {name: column.tolist() for name, column in read.items()} == columns


def test_the_index_of_a_frame_comes_first_unless_it_only_counts(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.5, 2.5]}, index=pd.Index(["a", "b"], name="key"))
    sa.write_table(tmp_path / "t.csv", frame)
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").split() == ["key,x", "a,1.5", "b,2.5"]
    sa.write_table(tmp_path / "t.csv", frame.reset_index(drop=True))
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").split() == ["x", "1.5", "2.5"]


@pytest.mark.parametrize(
    ("column", "change"),
    [
        (np.array(["1", "2"]), "not text"),
        (np.array(["", "a"]), None),
        (np.array(["=1+1", "a"]), None),
        (np.array([1 + 2j, 3]), "not complex128"),
        (np.array([1, 2], "m8[s]"), "not timedelta64"),
        (np.array([None, 1], object), "not object"),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_a_column_that_comes_back_as_something_else_is_named(
    column: np.ndarray[Any, Any], change: str | None, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"t.{suffix}"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sa.write_table(path, {"fine": np.array([1.5, 2.5]), "the column": column})
    messages = [str(warning.message) for warning in caught]
    assert all(message.startswith("'the column'") for message in messages)
    assert bool(messages) != same(column, sa.read_columns(path)["the column"])
    if change is not None and not (suffix == "xlsx" and change == "not text"):  # text of a workbook stays text
        assert change in messages[0]
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.write_table(path, {"fine": np.array([1.5, 2.5]), "the column": column}, verify=False)


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


def test_names_that_read_as_values_are_told() -> None:
    with pytest.warns(sa.SheetArrayWarning, match="'2019'.* no column of its name"):
        sa.write_table(io.BytesIO(), {"2019": np.array([1, 2])}, format="csv")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"a": np.zeros((2, 2))}, "2 dimensions"),
        ({"a": np.array(1.5)}, "0 dimensions"),
        ({"a": np.zeros(2), "b": np.zeros(3)}, "'b' has 3 rows"),
        ({}, "no array to write"),
        ({" ": np.zeros(2)}, "blank"),
        ({"a": np.zeros(2, "c32")}, "a:"),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_what_is_no_table_is_refused_before_anything_is_written(
    table: dict[str, Any], message: str, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(b"old")
    with pytest.raises((sa.DTypeError, sa.LimitError), match=re.escape(message)):
        sa.write_table(path, table)
    assert path.read_bytes() == b"old"


def test_a_format_without_tables_says_so(tmp_path: Path) -> None:
    with pytest.raises(sa.NotFoundError, match="write_table"):
        sa.write_table(tmp_path / f"t{WITHOUT_TABLES}", PLAIN)
    with pytest.raises(TypeError, match="orient"):
        sa.write_table(tmp_path / "t.csv", PLAIN, orient="rows")


def test_a_table_is_added_to_a_workbook(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, {"a": np.arange(3)})
    sa.write_table(path, PLAIN, mode="a")
    assert list(sa.read(path)) == ["a", *PLAIN]
    assert list(sa.check(path)) == []
    assert list(sa.read_columns(path, sheet="table")) == list(PLAIN)
    with pytest.raises(sa.LimitError):
        sa.write_table(path, PLAIN, mode="a")
    sa.write_table(path, {"x": np.array([1.5])}, mode="a", if_sheet_exists="replace")
    assert list(sa.read_columns(path, sheet="table")) == ["x"]


def test_open_files_are_written_and_verified() -> None:
    text, data = io.StringIO(), io.BytesIO()
    with pytest.warns(sa.SheetArrayWarning, match="'s'"):
        sa.write_table(text, {"s": np.array(["1"])}, format="csv")
    assert text.getvalue().split() == ["s", "1"]
    sa.write_table(data, {"x": np.array([1.5])}, format="xlsx")
    assert sa.read_columns(io.BytesIO(data.getvalue()), format="xlsx")["x"].tolist() == [1.5]


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


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_text_with_nulls_has_no_marks(tmp_path: Path, suffix: str) -> None:
    texts = np.array(["007", None, "", "TRUE", "x"], object)
    lost = "it is text, not text with nulls, and a null, the first in row 3, came back as ''"
    with pytest.warns(sa.SheetArrayWarning, match=re.escape(lost)):
        sa.write_table(tmp_path / f"t.{suffix}", {"a": texts, "b": np.arange(5)})
    assert sa.read_columns(tmp_path / f"t.{suffix}")["a"].tolist() == ["007", "", "", "TRUE", "x"]
    if suffix == "csv":
        assert (tmp_path / "t.csv").read_bytes() == b'a,b\r\n007,0\r\n,1\r\n"",2\r\nTRUE,3\r\nx,4\r\n'


@pytest.mark.parametrize("count", [1, 2, 99, 100, 101, 1100])
def test_columns_that_change_alike_are_named_together(count: int) -> None:
    with pytest.warns(sa.SheetArrayWarning) as caught:
        sa.write_table(io.BytesIO(), {f"c{n}": np.array(["1", "2"]) for n in range(count)}, format="csv")
    message = str(caught[0].message)
    assert len(caught) == 1
    assert message.endswith(
        "as it was: it is int64, not text" if count == 1 else "as they were: each is int64, not text"
    )
    assert message.count("'c") == min(count, 100)
    assert (f" and {count - 100:,} more do not" in message) == (count > 100)


def test_warnings_count_one_row_as_one(tmp_path: Path) -> None:
    with pytest.warns(sa.SheetArrayWarning, match="it has 1 row, not 2"):
        sa.write_table(tmp_path / "t.csv", {"a": np.array([1, None], object)})


def test_blank_rows_at_the_end_are_lost_by_name() -> None:
    with pytest.warns(sa.SheetArrayWarning, match="'a' .* it has 1 row, not 3: blanks at the end are not rows"):
        sa.write_table(io.BytesIO(), {"a": np.array(["x", "", None], object)}, format="csv")


@pytest.mark.parametrize(
    ("moments", "text", "unit"),
    [
        (np.array(["2024-02-29", "NaT"], "M8[ns]"), "2024-02-29", "D"),
        (np.array(["2024-02-29T06:30", "NaT"], "M8[us]"), "2024-02-29T06:30:00", "s"),
        (np.array(["2024-02-29T06:30:00.5", "NaT"], "M8[ns]"), "2024-02-29T06:30:00.500", "ms"),
        (np.array(["2024-02-29T06:30:00.000001", "NaT"], "M8[ns]"), "2024-02-29T06:30:00.000001", "us"),
        (np.array(["2024-02-29T06:30:00.000000001", "NaT"], "M8[ns]"), "2024-02-29T06:30:00.000000001", "ns"),
        (np.array(["2024-02-29T06", "NaT"], "M8[h]"), "2024-02-29T06:00:00", "s"),
    ],
)
def test_dates_of_a_table_are_written_as_other_programs_have_them(
    moments: np.ndarray[Any, Any], text: str, unit: str
) -> None:
    file, book = io.StringIO(), io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.write_table(file, {"day": moments, "x": np.arange(2)}, format="csv")
        sa.write_table(book, {"day": moments, "x": np.arange(2)}, format="xlsx")
    assert file.getvalue().splitlines()[1] == f"{text},0"
    is_date = openpyxl.load_workbook(book).worksheets[0]["A2"].is_date
    assert is_date == (unit in ("D", "s", "ms"))
