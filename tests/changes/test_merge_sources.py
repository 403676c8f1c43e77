"""What a merge takes and refuses: cells that cannot be read, options, keys, other names, and targets that came back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from addresses import cell_address
from command_line import run_command

import sheetarray as sa


def test_blanks_are_missing_values_where_the_dtype_has_one(tmp_path: Path) -> None:
    base = {
        "d": np.array(["2026-01-01", "2026-01-02", "2026-01-03"], "M8[D]"),
        "c": np.array([1 + 2j, 3j, 4]),
        "f": np.arange(6.0).reshape(3, 2),
        "k": np.arange(3),
    }
    sa.write(tmp_path / "base.csv", base)
    sa.write(tmp_path / "ann.csv", base)
    lines = [line.split(",") for line in (tmp_path / "ann.csv").read_text().splitlines()]
    infos = sa.scan(tmp_path / "ann.csv")
    for name, at in (("d", 2), ("c", 2), ("f", 5)):
        lines[infos[name].data[0].row + at][infos[name].data[0].column] = ""
    (tmp_path / "ann.csv").write_text("\n".join(map(",".join, lines)) + "\n")
    merged = sa.merge(tmp_path / "base.csv", tmp_path / "ann.csv", target=tmp_path / "m.csv")
    read = sa.read(tmp_path / "m.csv")
    assert np.isnat(read["d"]).tolist() == [False, False, True]
    assert np.isnan(read["c"]).tolist() == [False, False, True]
    assert np.isnan(read["f"]).tolist() == [[False, False], [False, False], [False, True]]
    assert read["k"].tolist() == [0, 1, 2]
    assert merged.files[0].elements == {"d": 1, "c": 1, "f": 1}


def test_a_base_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    sa.write(tmp_path / "base.csv", {"n": np.arange(3)})
    sa.write(tmp_path / "ann.csv", {"n": np.arange(3)})
    text = (tmp_path / "base.csv").read_text()
    (tmp_path / "base.csv").write_text(text.replace("\n1\n2\n", "\nn/a\n?\n"))
    with pytest.raises(sa.FormatError, match="1 more cell") as raised:
        sa.merge(tmp_path / "base.csv", tmp_path / "ann.csv", target=tmp_path / "m.csv")
    assert raised.value.location == "A21"
    assert not (tmp_path / "m.csv").exists()


@pytest.mark.parametrize("how", ["same", "relative", "link"])
def test_a_target_that_came_back_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    for name in ("base", "ann", "ben"):
        sa.write(tmp_path / f"{name}.csv", {"n": np.arange(3)})
    before = (tmp_path / "ben.csv").read_bytes()
    target: Any = tmp_path / "ben.csv"
    if how == "relative":
        monkeypatch.chdir(tmp_path)
        target = "ben.csv"
    elif how == "link":
        target = tmp_path / "link.csv"
        target.symlink_to(tmp_path / "ben.csv")
    files = [tmp_path / f"{name}.csv" for name in ("base", "ann", "ben")]
    with pytest.raises(ValueError, match=r"ben\.csv.*came back"):
        sa.merge(*files, target=target)
    assert run_command("merge", *files, "-o", target).exit_code == 2
    assert (tmp_path / "ben.csv").read_bytes() == before
    sa.merge(*files, target=files[0])


def test_options_are_those_of_read(tmp_path: Path) -> None:
    for name, values in {"base": [1.5, 2.5], "ann": [1.5, 7.5]}.items():
        sa.write(tmp_path / f"{name}.csv", {"t": np.array(values)}, delimiter=";", decimal=",")
        book = tmp_path / f"{name}.xlsx"
        sa.write(book, {"t": np.array(values)}, sheet="one")
        sa.write(book, {"t": np.array([9.0])}, sheet="two", mode="a")
    csv = [tmp_path / "base.csv", tmp_path / "ann.csv"]
    assert sa.merge(*csv, delimiter=";", decimal=",").arrays["t"].tolist() == [1.5, 7.5]
    assert run_command("merge", *csv, "--read", "delimiter=;").exit_code == 0
    books = [tmp_path / "base.xlsx", tmp_path / "ann.xlsx"]
    assert sa.merge(*books, sheet="one").arrays["t"].tolist() == [1.5, 7.5]
    assert sa.merge(*books, sheet="two").arrays["t"].tolist() == [9.0]
    assert run_command("merge", *books, "--read", "sheet=one").exit_code == 0
    with pytest.raises(TypeError, match="'colour'"):
        sa.merge(*csv, colour=1)
    assert run_command("merge", *csv, "--read", "colour=1").exit_code == 2


def test_a_key_tells_which_rows_belong_together(tmp_path: Path) -> None:
    base = {"id": np.array([3, 1, 2]), "t": np.array([0.5, 0.5, 0.5])}
    ann = {"id": np.array([1, 2, 3, 9]), "t": np.array([7.5, 0.5, 0.5, 1.0])}
    ben = {"id": np.array([2, 3]), "t": np.array([0.5, 8.5])}
    files = [tmp_path / f"{name}.csv" for name in ("base", "ann", "ben")]
    for path, arrays in zip(files, (base, ann, ben), strict=True):
        sa.write(path, arrays)
    merged = sa.merge(*files, key="id", target=tmp_path / "m.csv")
    assert merged.arrays["id"].tolist() == [3, 1, 2, 9]  # somebody has changed what another deleted
    assert merged.arrays["t"].tolist() == [8.5, 0.5, 0.5, 1.0]
    assert [(one.array, one.index) for one in merged.conflicts] == [("t", (1,))]
    assert run_command("merge", *files, "--key", "id", "-o", tmp_path / "m.csv").exit_code == 1
    with pytest.raises(sa.NotFoundError, match="'day'"):
        sa.merge(*files, key="day")
    sa.write(files[2], {"id": np.array([2, 2]), "t": np.array([0.5, 8.5])})
    with pytest.raises(sa.FormatError, match="rows 0 and 1 have the same 'id'"):
        sa.merge(*files, key="id")
    assert sa.merge(*files, key=["id", "t"]).arrays["id"].tolist()[-2:] == [9, 2]


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
@pytest.mark.parametrize("guard", [True, False])
def test_another_name_is_one_where_elements_or_places_tell(tmp_path: Path, suffix: str, guard: bool) -> None:
    base, ann, ben = (tmp_path / f"{name}.{suffix}" for name in ("base", "ann", "ben"))
    arrays = {"temp": np.arange(8) + 0.25, "n": np.arange(8)}
    options = {"guard": guard} if suffix == "xlsx" else {}
    for path in (base, ann, ben):
        sa.write(path, arrays, **options)
    if suffix == "xlsx":
        book = openpyxl.load_workbook(ann)
        row = sa.scan(ann)["temp"].data[0].row
        book["arrays"]["A1"], book["arrays"][cell_address(row + 2, 0)] = "temperature", 77
        book.save(ann)
    else:
        ann.write_text(ann.read_text().replace("temp,", "temperature,").replace("2.25,", "77,"))
    sa.write(ben, {"temp": np.append(arrays["temp"], 9.5), "n": np.append(arrays["n"], 9)}, **options)
    target = tmp_path / f"m.{suffix}"
    merged = sa.merge(base, ann, ben, target=target)
    assert merged.files[0].renamed == {"temp": "temperature"}
    assert merged.files[0].elements == {"temp": 1}
    wanted = [0.25, 1.25, 77, *(arrays["temp"][3:].tolist()), 9.5]
    read = sa.read(target)
    assert list(read) == ["temperature", "n"]
    assert read["temperature"].tolist() == wanted
    assert list(sa.check(target)) == []
    assert "renamed to temperature" in repr(merged)


def test_arrays_of_other_elements_are_no_renamed_ones(tmp_path: Path) -> None:
    sa.write(tmp_path / "base.csv", {"a": np.arange(6.0), "n": np.arange(6)})
    sa.write(tmp_path / "ann.csv", {"b": np.arange(6.0) * 3 + 7, "n": np.arange(6)})
    merged = sa.merge(tmp_path / "base.csv", tmp_path / "ann.csv")
    assert list(merged.arrays) == ["a", "n", "b"]
    assert not merged.files[0].renamed


@pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")
def test_edits_below_another_name_are_merged_where_labels_keep_the_old_one(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": np.arange(6) + 0.5, "b": np.arange(6)}, index=pd.Index([*"uvwxyz"], name="id"))
    sa.write(tmp_path / "base.xlsx", frame)
    sa.write(tmp_path / "ann.xlsx", frame)
    book = openpyxl.load_workbook(tmp_path / "ann.xlsx")
    infos = sa.scan(tmp_path / "ann.xlsx")
    column = infos["a"].data[0].column
    book["arrays"][cell_address(0, column)] = "alpha"
    book["arrays"][cell_address(infos["a"].data[0].row + 1, column)] = 77.5
    book.save(tmp_path / "ann.xlsx")
    merged = sa.merge(tmp_path / "base.xlsx", tmp_path / "ann.xlsx", target=tmp_path / "m.xlsx")
    assert merged.files[0].renamed == {"a": "alpha"}
    pd.testing.assert_frame_equal(sa.read_frame(tmp_path / "m.xlsx"), frame.assign(a=[0.5, 77.5, 2.5, 3.5, 4.5, 5.5]))
