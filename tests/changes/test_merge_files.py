"""Files that come back from several people are merged: in any formats, into the base's own file, or not at all."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xarray as xr
from addresses import cell_address
from click.testing import Result
from command_line import run_command
from examples import ANEW
from merge_model import Copy, Trial, draw_trial, merge_plainly
from programs import open_office, resave_by_node, schema_errors

import sheetarray as sa


def run(*arguments: object) -> Result:
    return run_command("merge", *arguments)


def dataset() -> xr.Dataset:
    values = np.random.default_rng(1).normal(size=(5, 3))
    return xr.Dataset(
        {"t": (("time", "x"), values), "s": ("time", np.array(["a", "b", "c", "d", "e"])), "n": ("x", [1, 2, 2**60])},
        coords={"time": np.arange("2026-03-01", "2026-03-06", dtype="M8[D]"), "x": [1, 2, 3]},
    )


def with_day(given: xr.Dataset, day: str, value: float) -> xr.Dataset:
    """Return a dataset with one more day."""
    more = given.isel(time=[0]).copy(deep=True)
    more["t"][:] = value
    more = more.assign_coords(time=np.array([day], "M8[D]"))
    return xr.concat([given, more], "time", data_vars="minimal")


@pytest.mark.filterwarnings("ignore:.*dataset.json is read as an ordinary array")
@pytest.mark.parametrize("guard", [True, False])
def test_the_first_row_that_somebody_deletes_takes_no_labels_along(tmp_path: Path, guard: bool) -> None:
    """The hidden description of labels stands in this row."""
    frame = pd.DataFrame({"n": [5, 3, 4, 1]}, index=pd.Index([*"vwxy"], name="key"))
    sa.write(tmp_path / "base.xlsx", frame, guard=guard)
    sa.write(tmp_path / "ben.xlsx", pd.concat([frame, pd.DataFrame({"n": [9]}, index=pd.Index(["z"], name="key"))]))
    book = openpyxl.load_workbook(tmp_path / "base.xlsx")
    book["arrays"].delete_rows(20)
    book.save(tmp_path / "ann.xlsx")
    names = ("base.xlsx", "ann.xlsx", "ben.xlsx")
    merged = sa.merge(*(tmp_path / name for name in names), target=tmp_path / "merged.xlsx")
    assert not merged.conflicts
    wanted = pd.DataFrame({"n": [3, 4, 1, 9]}, index=pd.Index([*"wxyz"], name="key"))
    pd.testing.assert_frame_equal(sa.read_frame(tmp_path / "merged.xlsx"), wanted)
    assert list(sa.check(tmp_path / "merged.xlsx")) == []


@pytest.mark.parametrize("suffix", ["xlsx", "csv", "json"])
@pytest.mark.parametrize("target", ["xlsx", "csv", "json"])
def test_copies_of_any_formats_are_merged_into_any(tmp_path: Path, suffix: str, target: str) -> None:
    base, ann, ben, carl = (dataset() for _ in range(4))
    ann["t"][1, 1], ann["t"][0, 0], ann["s"][4] = 99.5, 7.0, "x"
    ben["t"][1, 1], ben["t"][0, 0] = -1.5, 7.0
    sa.write(tmp_path / f"base.{suffix}", base)
    sa.write(tmp_path / "ann.xlsx", with_day(ann, "2026-03-06", 6.0))
    sa.write(tmp_path / "ben.csv", with_day(ben, "2026-03-07", 7.0), delimiter=";", decimal=",")
    sa.write(tmp_path / "carl.json", carl.isel(time=[0, 1, 3, 4]))
    names = [tmp_path / name for name in (f"base.{suffix}", "ann.xlsx", "ben.csv", "carl.json")]
    merged = sa.merge(*names, target=tmp_path / f"merged.{target}")
    wanted = base.copy(deep=True)
    wanted["t"][0, 0], wanted["s"][4] = 7.0, "x"
    wanted = with_day(with_day(wanted.isel(time=[0, 1, 3, 4]), "2026-03-06", 6.0), "2026-03-07", 7.0)
    xr.testing.assert_identical(sa.read_dataset(tmp_path / f"merged.{target}"), wanted)
    assert list(sa.check(tmp_path / f"merged.{target}")) == []
    (conflict,) = merged.conflicts
    assert (conflict.array, conflict.index, conflict.base) == ("t", (1, 1), base["t"].values[1, 1])
    assert conflict.values == {str(names[1]): 99.5, str(names[2]): -1.5}
    assert conflict.labels == {"time": "2026-03-02", "x": "2"}
    assert conflict.cells[str(names[1])] == "arrays!A26"
    assert conflict.cells[str(names[2])] == "A26"
    assert sa.read_dataset(names[0]).identical(base)


def test_each_conflict_and_each_file_is_told(tmp_path: Path) -> None:
    for name, values in {"base": [1.0, 2.0, 3.0], "ann": [9.0, 2.0, 4.0], "ben": [8.0, 2.0, 4.0]}.items():
        sa.write(tmp_path / f"{name}.csv", {"t": np.array(values)})
    files = [tmp_path / f"{name}.csv" for name in ("base", "ann", "ben")]
    result = run(*files, "-o", tmp_path / "merged.csv")
    assert result.exit_code == 1
    assert "2 elements changed in t" in result.output
    assert "1 conflict" in result.output
    assert result.output.count("t[0]") == 1
    assert f"{files[1]}: 9.0, cell A20" in result.output
    assert sa.read(tmp_path / "merged.csv")["t"].tolist() == [1, 2, 4]
    preferred = run(*files, "-o", tmp_path / "merged.csv", "--prefer", "ben.csv")
    assert preferred.exit_code == 0
    assert sa.read(tmp_path / "merged.csv")["t"].tolist() == [8, 2, 4]
    told = json.loads(run(*files, "--json").output)
    assert told["unresolved"] == 1
    assert told["conflicts"][0]["values"] == {str(files[1]): 9.0, str(files[2]): 8.0}
    assert told["target"] is None


def test_choices_are_taken_one_by_one(tmp_path: Path) -> None:
    for name, values in {"base": [1, 2, 3], "ann": [9, 2, 4], "ben": [8, 2, 5]}.items():
        sa.write(tmp_path / f"{name}.csv", {"t": np.array(values)})
    files = [tmp_path / f"{name}.csv" for name in ("base", "ann", "ben")]
    choices = [
        {"array": "t", "index": [0], "of": "base.csv", "choose": "ann.csv"},
        {"array": "t", "index": [2], "of": str(files[0]), "choose": "base.csv"},
    ]
    (tmp_path / "choices.json").write_text(json.dumps({"choices": choices}))
    result = run(*files, "-o", tmp_path / "merged.csv", "--choices", tmp_path / "choices.json")
    assert result.exit_code == 0, result.output
    assert sa.read(tmp_path / "merged.csv")["t"].tolist() == [9, 2, 3]
    assert sa.merge(*files, choices=choices[:1]).unresolved == 1


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "3",
        '{"choices": 3}',
        '[{"array": "t"}]',
        '[{"array": "t", "of": "base.csv", "choose": "ann.csv", "index": [1.5]}]',
    ],
)
def test_choices_that_are_none_are_refused(tmp_path: Path, content: str) -> None:
    for name in ("base", "ann"):
        sa.write(tmp_path / f"{name}.csv", {"t": np.array([1, 2])})
    (tmp_path / "choices.json").write_text(content)
    files = [tmp_path / "base.csv", tmp_path / "ann.csv"]
    result = run(*files, "-o", tmp_path / "merged.csv", "--choices", tmp_path / "choices.json")
    assert result.exit_code == 2
    assert "choices.json" in result.output
    assert not (tmp_path / "merged.csv").exists()


def test_nothing_is_written_where_a_file_cannot_be_opened(tmp_path: Path) -> None:
    sa.write(tmp_path / "base.csv", {"t": np.array([1.5, 2.5])})
    (tmp_path / "ann.csv").write_text((tmp_path / "base.csv").read_text().replace("2.5", "n/a"))
    result = run(tmp_path / "base.csv", tmp_path / "ann.csv", "-o", tmp_path / "merged.csv")
    assert result.exit_code == 1
    assert "A21, t[1] cannot be read" in result.output
    assert sa.read(tmp_path / "merged.csv")["t"].tolist() == [1.5, 2.5]
    (tmp_path / "merged.csv").unlink()
    (tmp_path / "ann.csv").write_text((tmp_path / "base.csv").read_text().replace("capacity", "capacities"))
    assert run(tmp_path / "base.csv", tmp_path / "ann.csv", "-o", tmp_path / "merged.csv").exit_code == 2
    assert not (tmp_path / "merged.csv").exists()
    assert run(tmp_path / "base.csv", tmp_path / "absent.csv", "-o", tmp_path / "merged.csv").exit_code == 2
    assert run(tmp_path / "base.csv", tmp_path / "base.csv").exit_code == 2
    assert run(tmp_path / "base.csv").exit_code == 2
    sa.write(tmp_path / "ben.csv", {"t": np.array([1.5, 2.5])})
    assert run(tmp_path / "base.csv", tmp_path / "ben.csv", "--prefer", "carl.csv").exit_code == 2
    assert run(tmp_path / "base.csv", tmp_path / "ben.csv", "-o", tmp_path / "merged.ods").exit_code == 2


def test_the_target_is_the_workbook_that_was_sent(tmp_path: Path) -> None:
    base = tmp_path / "base.xlsx"
    sa.write(base, dataset(), guard=True, views=True)
    book = openpyxl.load_workbook(base)
    book.create_sheet("notes")["B2"] = "=SUM(arrays!A1:A99)"
    sheet = book["arrays"]
    sheet["H30"], sheet["H31"] = "mine", 12.5
    book.save(base)
    sa.accept(base)
    ann, ben = dataset(), dataset()
    ann["t"][1, 1] = 0.1 + 0.2
    ben["s"] = ben["s"].astype("<U9")
    ben["s"][0] = "<&>"
    sa.write(tmp_path / "ann.xlsx", with_day(ann, "2026-03-09", 4.0))
    sa.write(tmp_path / "ben.xlsx", ben.assign(extra=("x", [1.5, 2.5, 3.5])))
    sa.merge(base, tmp_path / "ann.xlsx", tmp_path / "ben.xlsx", target=tmp_path / "merged.xlsx")
    read = sa.read_dataset(tmp_path / "merged.xlsx")
    assert read["t"].values[1, 1] == 0.1 + 0.2
    assert read["s"].values[0] == "<&>"
    assert read.sizes == {"time": 6, "x": 3}
    assert read["extra"].dims == ("x",)
    assert list(sa.check(tmp_path / "merged.xlsx")) == []
    after = openpyxl.load_workbook(tmp_path / "merged.xlsx")
    assert after["notes"]["B2"].value == "=SUM(arrays!A1:A99)"
    assert (after["arrays"]["H30"].value, after["arrays"]["H31"].value) == ("mine", 12.5)
    assert after["arrays"].column_dimensions["A"].width == sheet.column_dimensions["A"].width
    assert after.defined_names["t"].attr_text.replace("'", "") == "arrays!$A$22:$A$39"
    shown = openpyxl.load_workbook(tmp_path / "merged.xlsx", data_only=True)["t view"]
    assert 0.1 + 0.2 in [cell.value for row in shown.iter_rows() for cell in row]
    with zipfile.ZipFile(base) as one, zipfile.ZipFile(tmp_path / "merged.xlsx") as other:
        styles = next(name for name in one.namelist() if name.endswith("styles.xml"))
        assert one.read(styles) == other.read(styles)


def test_notes_beside_arrays_of_a_text_stay(tmp_path: Path) -> None:
    sa.write(tmp_path / "base.csv", {"t": np.array([1.5, 2.5]), "s": np.array(["a", "b"])})
    lines = (tmp_path / "base.csv").read_text().splitlines()
    lines = [f'{line},"a ""note"", {number}"' for number, line in enumerate(lines)]
    (tmp_path / "base.csv").write_text("\n".join(lines))
    sa.write(
        tmp_path / "ann.csv", {"t": np.array([1.5, 7.5, 3.0]), "s": np.array(["a", "b", "=x,\n"]), "m": np.arange(2)}
    )
    sa.merge(tmp_path / "base.csv", tmp_path / "ann.csv", target=tmp_path / "merged.csv")
    read = sa.read(tmp_path / "merged.csv")
    assert read["t"].tolist() == [1.5, 7.5, 3]
    assert read["s"].tolist() == ["a", "b", "=x,\n"]
    assert read["m"].tolist() == [0, 1]
    text = (tmp_path / "merged.csv").read_text()
    assert text.count('"a ""note""') == len(lines)
    assert text.startswith("t,s,") == lines[0].startswith("t,s,")


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_a_row_needs_room(tmp_path: Path, suffix: str) -> None:
    cells = [cell for name in "tu" for cell in [name, *sa.to_linear(np.array([1.5, 2.5]))]]
    if suffix == "csv":
        (tmp_path / "base.csv").write_text("\n".join(map(str, cells)))
    else:
        book = openpyxl.Workbook()
        for row, cell in enumerate(cells, 1):
            book.worksheets[0].cell(row, 1, cell)
        book.save(tmp_path / "base.xlsx")
    before = (tmp_path / f"base.{suffix}").read_bytes()
    sa.write(tmp_path / "ann.csv", {"t": np.array([1.5, 2.5, 3.5]), "u": np.array([1.5, 2.5])})
    result = run(tmp_path / f"base.{suffix}", tmp_path / "ann.csv", "-o", tmp_path / f"base.{suffix}")
    assert result.exit_code == 2
    assert "A22" in result.output
    assert (tmp_path / f"base.{suffix}").read_bytes() == before


def test_elements_of_a_view_for_editing_are_merged_in_it(tmp_path: Path) -> None:
    base, values = tmp_path / "base.xlsx", np.arange(12.0).reshape(2, 3, 2)
    sa.write(base, {"t": values}, views={"t": sa.View(editable=True)})
    changed = values.copy()
    changed[1, 2, 0] = 77.5
    sa.write(tmp_path / "ann.json", {"t": changed})
    sa.merge(base, tmp_path / "ann.json", target=tmp_path / "merged.xlsx")
    assert sa.read(tmp_path / "merged.xlsx")["t"].tolist() == changed.tolist()
    book = openpyxl.load_workbook(tmp_path / "merged.xlsx")
    assert 77.5 in [cell.value for row in book["t view"].iter_rows() for cell in row]
    column = [cell.value for (cell,) in book["arrays"].iter_rows(max_col=1)]
    assert sum(isinstance(value, str) and value.startswith("=") for value in column) == values.size


def test_whole_arrays(tmp_path: Path) -> None:
    sa.write(tmp_path / "base.csv", {"t": np.arange(6), "u": np.arange(3)})
    sa.write(tmp_path / "ann.csv", {"t": np.arange(6).reshape(2, 3)})
    sa.write(tmp_path / "ben.csv", {"t": np.arange(6), "u": np.arange(3), "new": np.array(1.5)})
    merged = sa.merge(*(tmp_path / f"{name}.csv" for name in ("base", "ann", "ben")), target=tmp_path / "m.csv")
    assert merged.arrays["t"].shape == (2, 3)
    assert merged.files[0].absent == ["u"]
    read = sa.read(tmp_path / "m.csv")
    assert {name: array.tolist() for name, array in read.items()} == {
        name: array.tolist() for name, array in merged.arrays.items()
    }
    sa.write(tmp_path / "carl.csv", {"t": np.arange(5.5), "u": np.arange(3), "new": np.array(2.5)})
    merged = sa.merge(*(tmp_path / f"{name}.csv" for name in ("base", "ann", "ben", "carl")))
    assert [(conflict.array, conflict.index) for conflict in merged.conflicts] == [("t", None), ("new", None)]
    assert merged.arrays["t"].shape == (6,)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("suffix", ["xlsx", "csv", "json"])
def test_columns_that_people_insert_or_delete_are_merged_by_their_labels(
    tmp_path: Path, suffix: str, order: Literal["C", "F"]
) -> None:
    base = dataset().drop_vars("n")
    ann, ben, carl = (base.copy(deep=True) for _ in range(3))
    wide = base["t"].values
    inserted = np.insert(wide, 2, 50 + np.arange(5), axis=1)
    ann = xr.Dataset({"t": (("time", "x"), inserted), "s": base["s"]}, coords={"time": base["time"], "x": [1, 2, 9, 3]})
    ben["t"][4, 2], carl["t"][4, 2], carl["t"][0, 0] = 77.5, 78.5, 79.5
    names = [tmp_path / f"base.{suffix}", *(tmp_path / f"{name}.json" for name in ("ann", "ben", "carl", "dora"))]
    for path, one in zip(names, (base, ann, ben, carl, base.isel(x=[0, 2])), strict=True):
        sa.write(path, one.assign(t=(("time", "x"), np.array(one["t"].values, order=order))))
    merged = sa.merge(*names, target=tmp_path / f"merged.{suffix}")
    read = sa.read_dataset(tmp_path / f"merged.{suffix}")
    wanted = np.delete(inserted, 1, axis=1)
    wanted[0, 0] = 79.5
    assert read["t"].values.tolist() == wanted.tolist()
    assert read["x"].values.tolist() == [1, 9, 3]
    (conflict,) = merged.conflicts
    assert (conflict.index, conflict.merged, conflict.labels["x"]) == ((4, 2), (4, 2), "3")
    assert list(conflict.values.values()) == [77.5, 78.5]
    assert list(sa.check(tmp_path / f"merged.{suffix}")) == []


# Merged arrays are what a plain model says, in which every row has a number, whatever people change in copies ---


# Copies of a workbook that foreign programs edit are merged as a plain model says, element by element ---------

TRIALS = 300 if ANEW else 4
COPIES, EDITS = 10, 10
PROGRAMS = ["openpyxl", "sheetjs", "exceljs", "office xlsx", "office ods", "json", "csv"]


def draw_table(seed: int) -> Trial:
    """Return a trial of numbers and texts that every program keeps, but for one column that some round."""
    trial = draw_trial(seed, kinds=["float64", "int64", "<U8"], copies=COPIES, edits=EDITS)
    rng = np.random.default_rng(seed)
    exact = [float(value) for value in rng.normal(size=len(trial.base))]
    for copy in trial.copies:
        copy.rows = [(row, [*_short(values), 0.5 if row is None else exact[row]]) for row, values in copy.rows]
        copy.edits = {key: _short([value])[0] for key, value in copy.edits.items()}
        copy.rows = [(row, _restored(trial, copy, row, values)) for row, values in copy.rows]
    trial.base = [[*values, exact[row]] for row, values in enumerate(trial.base)]
    trial.kinds.append("float64")
    return trial


def _short(values: list[Any]) -> list[Any]:
    return [round(value, 6) if isinstance(value, float) else value for value in values]


def _restored(trial: Trial, copy: Copy, row: int | None, values: list[Any]) -> list[Any]:
    """Return a row whose elements that nobody edited have all of their digits."""
    if row is None:
        return values
    kept = trial.base[row]
    edited = [(row, column) in copy.edits for column in range(len(kept))]
    return [*(new if is_new else old for new, old, is_new in zip(values, kept, edited, strict=False)), values[-1]]


def save_copy(base: Path, trial: Trial, copy: Copy, program: str, number: int) -> Path:
    """Have a program make a copy of the workbook with other rows, and save it."""
    suffix = {"office ods": "ods", "json": "json", "csv": "csv"}.get(program, "xlsx")
    path = base.parent / f"copy{number}" / f"base.{suffix}"
    path.parent.mkdir()
    rows = [values for _, values in copy.rows]
    if program in ("json", "csv"):
        sa.write(path, to_frame(trial, rows))
        return path
    edits: dict[str, Any] = {}
    for column, name in enumerate(trial.arrays(trial.base)):
        data = sa.scan(base)[name].data[0]
        for row in range(max(len(rows), len(trial.base))):
            old = trial.base[row][column] if row < len(trial.base) else None
            new = rows[row][column] if row < len(rows) else None
            if old != new:
                edits[cell_address(data.row + row, data.column)] = new
    if program == "openpyxl":
        book = openpyxl.load_workbook(base)
        for address, value in edits.items():
            book.worksheets[0][address].value = value
        book.save(path)
    elif program.startswith("office"):
        open_office().edit(base, {("arrays", address): value for address, value in edits.items()}, suffix, path.parent)
    else:
        resave_by_node(program, base, path, edits)
    return path


def to_frame(trial: Trial, rows: list[list[Any]]) -> pd.DataFrame:
    return pd.DataFrame(trial.arrays(rows)).set_index("c0")


@pytest.mark.parametrize("seed", range(TRIALS))
def test_edits_by_programs_are_merged_as_the_model_says(tmp_path: Path, seed: int) -> None:
    trial = draw_table(seed)
    base = tmp_path / "base.xlsx"
    guard = bool(seed % 2)
    sa.write(base, to_frame(trial, trial.base), guard=guard)
    rng = np.random.default_rng(seed)
    files = [
        save_copy(base, trial, copy, str(rng.choice(PROGRAMS)), number) for number, copy in enumerate(trial.copies)
    ]
    suffix = str(rng.choice(["xlsx", "csv", "json"]))
    merged = sa.merge(base, *files, target=tmp_path / f"merged.{suffix}")
    rows, conflicts = merge_plainly(trial)
    read = sa.read(tmp_path / f"merged.{suffix}")
    for name, array in trial.arrays(rows).items():
        assert read[name].tolist() == array.tolist(), (name, files)
    found = {(one.index[0], int(one.array[1:])): [*one.values] for one in merged.conflicts if one.index is not None}
    assert len(found) == len(merged.conflicts) == len(conflicts)
    assert found == {key: [str(files[int(file[1:])]) for file in values] for key, values in conflicts.items()}
    assert [*sa.check(tmp_path / f"merged.{suffix}")] == []


def test_a_merged_workbook_is_one_by_its_schema(tmp_path: Path) -> None:
    trial = draw_table(3)
    base = tmp_path / "base.xlsx"
    sa.write(base, to_frame(trial, trial.base), guard=True)
    shutil.copy(base, tmp_path / "again.xlsx")
    files = [save_copy(base, trial, copy, "openpyxl", number) for number, copy in enumerate(trial.copies)]
    sa.write(tmp_path / "new.json", {"new": np.array([["a", "b"]])})
    sa.merge(base, *files, tmp_path / "new.json", target=base)
    assert schema_errors(base) == schema_errors(tmp_path / "again.xlsx")
