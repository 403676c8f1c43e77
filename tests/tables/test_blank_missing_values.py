"""Missing values are blank cells of a table, or a text that the caller chooses; arrays come back all the same."""

from __future__ import annotations

import numpy as np
import openpyxl
import pytest

import sheetarray as sa

NAN = float("nan")
TABLE = {
    "id": np.array([1, 2, 3]),
    "level": np.array([1.5, NAN, -0.0]),
    "narrow": np.array([NAN, 0.1, np.inf], "float32"),
    "day": np.array(["2026-01-01", "NaT", "2026-01-03"], "M8[D]"),
    "lasted": np.array([1, "NaT", 3], "m8[s]"),
    "word": np.array(["a", None, "b"], object),
}


def assert_same(arrays, expected) -> None:
    assert list(arrays) == list(expected)
    for name, array in expected.items():
        assert arrays[name].dtype == array.dtype
        if array.dtype == object:
            assert arrays[name].tolist() == array.tolist()
        else:
            assert arrays[name].tobytes() == array.tobytes(), name


def cells(path) -> list[tuple]:
    return list(openpyxl.load_workbook(path)["table"].values)[1:]


@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize("count", [1, 1500])
def test_missing_values_are_blank_in_a_workbook_and_come_back(tmp_path, guard: bool, count: int) -> None:
    table = {name: np.tile(array, count) for name, array in TABLE.items()}
    path = tmp_path / "a.xlsx"
    sa.write_table(path, table, guard=guard, verify=False)
    assert cells(path)[1] == (2, None, pytest.approx(0.1), None, None, None)
    assert_same(sa.read(path), table)
    assert list(sa.check(path)) == []


@pytest.mark.parametrize("na_rep", ["NaN", "-", "missing"])
@pytest.mark.parametrize("guard", [True, False])
def test_a_text_stands_for_missing_values(tmp_path, na_rep: str, guard: bool) -> None:
    path = tmp_path / "a.xlsx"
    sa.write_table(path, TABLE, na_rep=na_rep, guard=guard, verify=False)
    assert cells(path)[1][1] == na_rep
    assert cells(path)[1][3] == na_rep
    assert_same(sa.read(path), TABLE)
    assert list(sa.check(path)) == []
    sa.write_table(tmp_path / "a.csv", TABLE, na_rep=na_rep, verify=False)
    assert (tmp_path / "a.csv").read_text().splitlines()[2] == f"2,{na_rep},0.1,{na_rep},{na_rep},"


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize("blank", [None, ""])
def test_a_row_of_blank_texts_and_missing_values_is_not_lost(tmp_path, suffix: str, blank: str | None) -> None:
    table = {
        "word": np.array(["a", blank, blank], object),
        "a": [1.5, NAN, NAN],
        "day": np.array([1, "NaT", "NaT"], "M8[D]"),
    }
    path = tmp_path / f"a{suffix}"
    sa.write_table(path, table, verify=False)
    assert [len(column) for column in sa.read_columns(path).values()] == [3, 3, 3]
    assert np.isnan(sa.read_columns(path)["a"]).tolist() == [False, True, True]


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_row_of_nothing_but_missing_values_is_not_lost(tmp_path, suffix: str, count: int) -> None:
    table = {name: np.array([1.5, NAN, 2.5, *[NAN] * count]) for name in ("a", "b")}
    path = tmp_path / f"a{suffix}"
    sa.write_table(path, table)
    assert_same(sa.read_columns(path), table)
    alone = {"a": table["a"]}
    sa.write_table(path, alone)
    assert_same(sa.read_columns(path), alone)


def test_an_emptied_cell_is_told_from_a_missing_value(tmp_path) -> None:
    path = tmp_path / "a.xlsx"
    sa.write_table(path, TABLE, verify=False)
    book = openpyxl.load_workbook(path)
    book["table"]["B2"] = None
    book.save(path)
    (finding,) = sa.check(path)
    assert finding.array == "level"
    assert "1.5 -> nan" in finding.message
    assert np.isnan(sa.read(path)["level"]).tolist() == [True, True, False]


def test_labels_are_spelled_out(tmp_path) -> None:
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray(np.array([1.5, NAN, 2.5]), {"x": [0.0, NAN, 2.0]}, ("x",), name="t")
    path = tmp_path / "a.xlsx"
    sa.write_table(path, array)
    assert cells(path) == [(0, 1.5), ("NaN", None), (2, 2.5)]
    assert sa.read_dataset(path)["t"].identical(array)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("kind", ["float", "date"])
def test_an_appended_row_of_nothing_but_missing_values_is_not_lost(
    tmp_path, suffix: str, guard: bool, count: int, kind: str
) -> None:
    path, options = tmp_path / f"a{suffix}", {"guard": guard} if suffix == ".xlsx" else {}
    column = np.array([1.5, NAN]) if kind == "float" else np.array(["2024-01-01", "NaT"], "M8[D]")
    sa.write_table(path, {"word": ["x", "z"], "a": column}, **options)
    for more in (count, 1):
        sa.append(path, {"word": [""] * more, "a": column[[1] * more]})
    back = sa.read_columns(path)
    assert [len(back["word"]), len(back["a"])] == [3 + count] * 2
    assert np.isnan(back["a"]).tolist() == [False] + [True] * (2 + count)
    sa.append(path, {"word": ["w"], "a": column[:1]})
    assert sa.read_columns(path)["a"][-1] == column[0]
    if suffix == ".xlsx":
        assert len(sa.read(path)["a"]) == 4 + count
        assert list(sa.check(path)) == []
