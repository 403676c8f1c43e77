"""Frames and arrays of one name in several sheets of a workbook are compared, merged and accepted sheet by sheet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from command_line import run_command

import sheetarray as sa

NORTH = pd.DataFrame({"day": ["a", "b", "c"], "sold": [1, 2, 3], "price": [0.5, 1.5, 2.5]}).set_index("day")
FRAMES = {"north": NORTH, "south": NORTH + 10}
OTHER = pd.DataFrame({"y": [10, 20, 30]}, index=pd.Index(["p", "q", "r"], name="k"))


def type_cells(source: Path, target: Path, cells: dict[tuple[str, Any], Any]) -> None:
    """Type values into the cells that hold others, and below tables, by sheet."""
    book = openpyxl.load_workbook(source)
    for (title, what), value in cells.items():
        if isinstance(value, list):
            book[title].append(value)
        elif isinstance(what, str):
            book[title][what] = value
        else:
            (cell,) = [cell for row in book[title].iter_rows(min_row=19) for cell in row if cell.value == what]
            cell.value = value
    book.save(target)


def write_frames(path: Path, frames: dict[str, pd.DataFrame]) -> Path:
    for number, (title, frame) in enumerate(frames.items()):
        sa.write(path, frame, sheet=title, mode="a" if number else "w")
    return path


@pytest.mark.parametrize("frames", [FRAMES, {"north": NORTH, "south": OTHER}], ids=["alike", "others"])
def test_frames_on_several_sheets_are_merged_each_with_its_labels(tmp_path: Path, frames: Any) -> None:
    base = write_frames(tmp_path / "base.xlsx", frames)
    south = frames["south"].columns[0]
    type_cells(base, tmp_path / "ann.xlsx", {("north", 3): 77})
    type_cells(base, tmp_path / "ben.xlsx", {("south", int(frames["south"].iloc[1, 0])): 88})
    target = tmp_path / "m.xlsx"
    merged = sa.merge(base, tmp_path / "ann.xlsx", tmp_path / "ben.xlsx", target=target)
    assert not merged.conflicts
    pd.testing.assert_frame_equal(sa.read_frame(target, sheet="north"), NORTH.assign(sold=[1, 2, 77]))
    wanted = frames["south"].copy()
    wanted.iloc[1, 0] = 88
    pd.testing.assert_frame_equal(sa.read_frame(target, sheet="south"), wanted)
    assert list(sa.check(target)) == []
    alike = frames is FRAMES
    sold, theirs = ("north!sold", "south!sold") if alike else ("sold", south)
    assert [file.elements for file in merged.files] == [{sold: 1}, {theirs: 1}]
    assert merged.arrays[sold].tolist() == [1, 2, 77]
    assert {one.array for one in merged.changes.edited} == {sold, theirs}


def test_conflicts_on_several_sheets_are_chosen_by_the_names_that_they_are_told_with(tmp_path: Path) -> None:
    base = write_frames(tmp_path / "base.xlsx", FRAMES)
    type_cells(base, tmp_path / "ann.xlsx", {("north", 3): 77, ("south", 13): 5})
    type_cells(base, tmp_path / "ben.xlsx", {("north", 3): 78, ("south", 13): 6, ("south", None): ["z", 7, 7.5]})
    files = [base, tmp_path / "ann.xlsx", tmp_path / "ben.xlsx"]
    conflicts = sa.merge(*files).conflicts
    assert [(one.array, one.index, one.labels) for one in conflicts] == [
        ("north!sold", (2,), {"day": "c"}),
        ("south!sold", (2,), {"day": "c"}),
    ]
    choices = [
        {"array": one.array, "index": list(one.index or ()), "of": one.place.file, "choose": str(file)}
        for one, file in zip(conflicts, files[1:], strict=True)
    ]
    merged = sa.merge(*files, choices=choices, target=tmp_path / "m.xlsx")
    assert merged.unresolved == 0
    assert sa.read(tmp_path / "m.xlsx", "sold", sheet="north").tolist() == [1, 2, 77]
    assert sa.read(tmp_path / "m.xlsx", "sold", sheet="south").tolist() == [11, 12, 6, 7]
    assert list(sa.check(tmp_path / "m.xlsx")) == []


def test_one_sheet_is_merged_and_the_others_stay(tmp_path: Path) -> None:
    base = write_frames(tmp_path / "base.xlsx", FRAMES)
    type_cells(base, tmp_path / "ann.xlsx", {("north", 3): 77, ("south", 13): 5})
    files, target = [base, tmp_path / "ann.xlsx"], tmp_path / "m.xlsx"
    assert run_command("merge", *files, "-o", target, "--read", "sheet=south").exit_code == 0
    pd.testing.assert_frame_equal(sa.read_frame(target, sheet="north"), NORTH)
    assert sa.read(target, "sold", sheet="south").tolist() == [11, 12, 5]
    assert list(sa.check(target)) == []


def test_targets_and_copies_without_sheets_are_refused(tmp_path: Path) -> None:
    base = write_frames(tmp_path / "base.xlsx", FRAMES)
    with pytest.raises(sa.LimitError, match="sheet='north'"):
        sa.merge(base, type_and_return(base, tmp_path / "ann.xlsx"), target=tmp_path / "m.csv")
    assert not (tmp_path / "m.csv").exists()
    sa.write(tmp_path / "ben.csv", {"sold": np.arange(3)})
    with pytest.raises(sa.FormatError, match="has no sheets"):
        sa.merge(base, tmp_path / "ben.csv")


def type_and_return(base: Path, copy: Path) -> Path:
    type_cells(base, copy, {("north", 3): 77})
    return copy


def test_a_sheet_that_only_a_copy_has_or_lacks_is_told(tmp_path: Path) -> None:
    base = write_frames(tmp_path / "base.xlsx", FRAMES)
    copy = write_frames(tmp_path / "ann.xlsx", {"north": NORTH, "south": NORTH + 10, "west": NORTH})
    with pytest.warns(sa.SheetArrayWarning, match="no sheet 'west'"):
        sa.merge(base, copy)
    book = openpyxl.load_workbook(base)
    del book["south"]
    book.save(tmp_path / "ben.xlsx")
    with pytest.warns(sa.SheetArrayWarning, match="there is no sheet 'south'"):
        merged = sa.merge(base, tmp_path / "ben.xlsx", target=tmp_path / "m.xlsx")
    assert merged.files[0].absent == ["south!day", "south!sold", "south!price"]
    pd.testing.assert_frame_equal(sa.read_frame(tmp_path / "m.xlsx", sheet="south"), NORTH + 10)


def test_arrays_of_a_sheet_with_another_title_are_merged(tmp_path: Path) -> None:
    base = write_frames(tmp_path / "base.xlsx", FRAMES)
    ann = write_frames(tmp_path / "ann.xlsx", {"south": NORTH + 10, "north": NORTH.assign(sold=[9, 2, 3])})
    ben = write_frames(tmp_path / "ben.xlsx", {"People": (NORTH + 10).assign(sold=[11, 12, 99]), "north": NORTH})
    with pytest.warns(sa.SheetArrayWarning, match="is called"):
        merged = sa.merge(base, ann, ben, target=tmp_path / "m.xlsx")
    assert not merged.conflicts
    assert merged.arrays["north!sold"].tolist() == [9, 2, 3]
    assert sa.read(tmp_path / "m.xlsx", "sold", sheet="south").tolist() == [11, 12, 99]


@pytest.mark.parametrize("title", ["south", "People"])
def test_diff_compares_each_sheet_by_its_labels(tmp_path: Path, title: str) -> None:
    before = write_frames(tmp_path / "a.xlsx", FRAMES)
    south = FRAMES["south"].assign(sold=[11, 99, 13]).iloc[[2, 0, 1]]
    after = write_frames(tmp_path / "b.xlsx", {"north": NORTH, title: south})
    changes = sa.diff(before, after)
    (edit,) = changes.edited
    assert (edit.array, edit.labels, edit.cell_before, edit.cell_after) == (
        "south!sold",
        {"day": "b"},
        "south!B21",
        f"{title}!B22",
    )
    assert [(rows.arrays, rows.moved) for rows in changes.rows] == [
        (["south!day", "south!sold", "south!price"], [0, 1, 2])
    ]
    assert ("the sheet 'south' is called 'People' now" in repr(changes)) == (title == "People")
    assert changes.labels == []
    assert [change.array for change in sa.diff(before, after, "sold", key="day").edited] == ["south!sold"]
    assert not sa.diff(before, before)
    assert "south!sold[2] (b) (was [1]), cell" in run_command("diff", before, after).output


def test_diff_tells_a_sheet_that_one_file_lacks(tmp_path: Path) -> None:
    both = write_frames(tmp_path / "a.xlsx", FRAMES)
    north = write_frames(tmp_path / "b.xlsx", {"north": NORTH})
    gone = [(name, "deleted") for name in ("south!day", "south!sold", "south!price")]
    assert [(change.name, change.what) for change in sa.diff(both, north).arrays] == gone
    assert not sa.diff(both, north).edited
    assert [change.what for change in sa.diff(north, both).arrays] == ["added"] * 3
    with pytest.raises(sa.FormatError, match=r"has no such sheets.*sheet='north'"):
        sa.diff(both, {"sold": np.arange(3)})
    assert not sa.diff(both, both, sheet="north")


def test_rows_are_appended_to_the_only_sheet_that_has_all_arrays(tmp_path: Path) -> None:
    path = write_frames(tmp_path / "t.xlsx", {"north": NORTH, "south": OTHER})
    row = pd.DataFrame({"sold": [4], "price": [3.5]}, index=pd.Index(["d"], name="day"))
    assert sa.append(path, row) == {"day": 4, "sold": 4, "price": 4}
    assert sa.append(path, {"k": ["s"], "y": [40]}) == {"k": 4, "y": 4}
    pd.testing.assert_frame_equal(sa.read_frame(path, sheet="north"), pd.concat([NORTH, row]))
    assert sa.read(path, "y", sheet="south").tolist() == [10, 20, 30, 40]
    path = write_frames(path, FRAMES)
    with pytest.raises(
        sa.FormatError, match=r"several sheets have all of these arrays: .*sheet='north' or sheet='south'"
    ):
        sa.append(path, row)
    assert sa.append(path, {f"south!{name}": column for name, column in row.reset_index().items()})["south!sold"] == 4
    assert sa.read(path, "sold", sheet="south").tolist() == [11, 12, 13, 4]
    with pytest.raises(sa.FormatError, match=r"no sheet has all of these arrays: .*sheet='north'"):
        sa.append(path, {"north!sold": [1], "south!price": [1.5]})
    assert list(sa.check(path)) == []


@pytest.mark.parametrize("guard", [True, False])
def test_accept_takes_the_arrays_of_each_sheet(tmp_path: Path, guard: bool) -> None:
    path = tmp_path / "t.xlsx"
    for number in range(3):
        sa.write(path, {"t": np.arange(4) + number}, sheet=f"year {number}", mode="a" if number else "w", guard=guard)
    type_cells(path, path, {("year 1", 3): 77, ("year 2", None): [9.0]})
    changes = sa.accept(path)
    assert list(sa.check(path)) == []
    assert [sa.read(path, "t", sheet=number).tolist() for number in range(3)] == [
        [0, 1, 2, 3],
        [1, 2, 77, 4],
        [2, 3, 4, 5, 9],
    ]
    if guard:
        assert [(one.array, one.index) for one in changes.edited] == [("year 1!t", (2,))]
        assert [(rows.arrays, rows.added) for rows in changes.rows] == [(["year 2!t"], [4])]
    names = openpyxl.load_workbook(path).defined_names
    assert max(name.attr_text for name in names.values()).endswith("$24")


@pytest.mark.parametrize("suffix", ["xlsx", "csv"])
def test_what_people_type_beside_arrays_is_told(tmp_path: Path, suffix: str) -> None:
    base, ann = tmp_path / f"base.{suffix}", tmp_path / f"ann.{suffix}"
    sa.write(base, {"t": np.arange(4), "u": np.arange(4)})
    sa.write(ann, {"t": np.arange(4), "u": np.arange(4)})
    if suffix == "xlsx":
        type_cells(base, ann, {("arrays", "D3"): "please check", ("arrays", "A20"): 7})
    else:
        lines = ann.read_text().splitlines()
        lines[2] += ",please check"
        ann.write_text("\n".join(lines) + "\n")
    merged = sa.merge(base, ann)
    (remark,) = merged.files[0].remarks
    assert remark.text == "please check"
    assert remark.cell.endswith("3")
    assert f"{remark.cell} is beside the arrays, and not merged: please check" in repr(merged)
    assert "not merged: please check" in run_command("merge", base, ann).output
    assert merged.to_json()["files"][0]["remarks"] == [{"cell": remark.cell, "text": "please check"}]
    assert sa.merge(ann, base).files[0].remarks[0].text == ""


@pytest.mark.parametrize("quoted", ["", '"', "both"])
@pytest.mark.parametrize("row", [2, 1199, 1200])
def test_remarks_in_the_first_rows_of_a_long_text_are_told(tmp_path: Path, row: int, quoted: str) -> None:
    base, ann = tmp_path / "base.csv", tmp_path / "ann.csv"
    values = np.random.default_rng(0).normal(size=(30_000, 2))
    sa.write(base, {"t": values[:, 0], "u": values[:, 1]})
    lines = base.read_text().splitlines()
    lines[5] += ',"a, b"' if quoted == "both" else ",a b"
    base.write_text("\n".join(lines) + "\n")
    assert base.stat().st_size > 2**20
    lines[row] += ',"please check"' if quoted else ",please check"
    ann.write_text("\n".join(lines) + "\n")
    told = [remark.text for remark in sa.merge(base, ann).files[0].remarks]
    assert told == (["please check"] if row < 1200 else [])


def test_ordinary_sheets_are_told_once(tmp_path: Path) -> None:
    base, ann, ben = (tmp_path / f"{name}.xlsx" for name in ("base", "ann", "ben"))
    sa.write(base, {"t": np.arange(4)})
    book = openpyxl.load_workbook(base)
    for row in range(5):
        book.create_sheet("mine")["A1"] = "notes"
        book["mine"].append([row, row])
    book.save(base)
    type_cells(base, ann, {("mine", "A9"): 1, ("mine", "B9"): 2})
    type_cells(base, ben, {})
    merged = sa.merge(base, ann, ben)
    assert [[one.cell for one in file.remarks] for file in merged.files] == [["mine"], []]


def test_changes_of_a_merge_are_those_of_the_base(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.csv" for name in ("base", "ann", "ben")]
    rows = [np.arange(6) * 1.5, np.array([0, 9.25, 3, 4.5, 7.5, 8.5]), np.arange(6) * 1.5]
    for path, values in zip(paths, rows, strict=True):
        sa.write(path, {"n": np.arange(len(values)), "t": values})
    sa.write(paths[1], {"n": np.array([0, 1, 2, 3, 5, 6]), "t": rows[1]})
    merged = sa.merge(*paths)
    (changed,) = merged.changes.rows
    assert (changed.arrays, changed.added, changed.deleted) == (["n", "t"], [5], [4])
    assert [(one.array, one.index) for one in merged.changes.edited] == [("t", (1,))]
    assert bool(merged.changes)
    assert not sa.merge(paths[0], paths[2]).changes


def test_blanks_of_the_base_are_what_missing_says(tmp_path: Path) -> None:
    for suffix in ("csv", "xlsx"):
        base, ann = tmp_path / f"base.{suffix}", tmp_path / f"ann.{suffix}"
        for path, values in ((base, [1.5, 2.5, 3.5, 4.5]), (ann, [1.5, 2.5, 9.5, 4.5])):
            sa.write(path, {"t": np.array(values)}, **({"guard": False} if suffix == "xlsx" else {}))
            if suffix == "csv":
                path.write_text(path.read_text().replace("\n2.5\n", "\n\n"))
            else:
                type_cells(path, path, {("arrays", 2.5): None})
        target = tmp_path / f"m.{suffix}"
        with pytest.raises(sa.FormatError, match="blank"):
            sa.read(base)
        sa.merge(base, ann, missing="nan", target=target)
        assert repr(sa.read(target, "t", missing="nan").tolist()) == "[1.5, nan, 9.5, 4.5]"


@pytest.mark.parametrize(("text", "remarks"), [("as of May", []), ("as of June", ["notes"])])
def test_a_sheet_without_arrays_is_another_than_in_the_base_only_if_its_texts_are(
    tmp_path: Path, text: str, remarks: list[str]
) -> None:
    base, ann = tmp_path / "base.xlsx", tmp_path / "ann.xlsx"
    book = openpyxl.Workbook()
    book.active.title, book.active["A1"] = "notes", "as of May"
    book.save(base)
    sa.write(base, {"t": np.arange(20_000.0)}, mode="a")  # so many that the record of words is asked
    book = openpyxl.load_workbook(base)
    book["notes"]["A1"], book["notes"].column_dimensions["A"].width = text, 30
    book.save(ann)
    assert [remark.cell for remark in sa.merge(base, ann).files[0].remarks] == remarks
