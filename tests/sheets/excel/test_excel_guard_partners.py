"""Which snapshot belongs to which array: foreign ones are refused, renamed and sorted arrays are found."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from mixtures import edited_sheet
from programs import resave, resave_by_node

import sheetarray as sa
from sheetarray.errors import FormatError, SheetArrayWarning
from sheetarray.testing.cases import assert_same

Array = np.ndarray[Any, Any]
Edit = Callable[[Any, Any], None]
ROWS = 12


def make_arrays(seed: int = 1) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {
        "t": rng.normal(size=ROWS),
        "u": rng.normal(size=ROWS) * 1e-7,
        "grid": rng.normal(size=(4, 3)),
        "same": np.repeat(rng.normal(size=3), 4),
        "text": np.array([f"x{number % 5}" for number in range(ROWS)]),
        "whole": np.arange(ROWS) % 4,
    }


def write(path: Path, arrays: dict[str, Array], **options: Any) -> Path:
    sa.write(path, arrays, guard=True, **options)
    return path


def edit(path: Path, change: Edit, program: str = "openpyxl") -> Path:
    """Change a workbook with openpyxl, which rounds to 16 digits, unless another program is to round alone."""
    book = openpyxl.load_workbook(path)
    change(book, book["arrays"])
    for cell in (cell for row in book["arrays"].iter_rows() for cell in row if program != "openpyxl"):
        if isinstance(cell.value, float):
            cell.value = repr(cell.value)
            cell.data_type = "n"
    target = path.with_name("edited.xlsx")
    book.save(target)
    return target


def first_row(sheet: Any) -> int:
    return next(row for row in range(1, 99) if sheet.cell(row, 1).value == "data") + 1


def lose_record(book: Any, _: Any) -> None:
    for name in [prop.name for prop in book.custom_doc_props.props]:
        del book.custom_doc_props[name]


def both(*edits: Edit) -> Edit:
    def change(book: Any, sheet: Any) -> None:
        for one in edits:
            one(book, sheet)

    return change


def rename(**names: str) -> Edit:
    def change(_: Any, sheet: Any) -> None:
        for cell in sheet[1]:
            cell.value = names.get(cell.value, cell.value)

    return change


def sort_by(column: int) -> Edit:
    def change(_: Any, sheet: Any) -> None:
        first = first_row(sheet)
        columns = [place for place in range(1, sheet.max_column + 1) if sheet.cell(first + ROWS - 1, place).value]
        rows = [[sheet.cell(row, place).value for place in columns] for row in range(first, first + ROWS)]
        for number, values in enumerate(sorted(rows, key=lambda row: row[columns.index(column + 1)])):
            for place, value in zip(columns, values, strict=True):
                sheet.cell(first + number, place, value)

    return change


def copy_guard(other: Path, column: int = 1) -> Edit:
    """Put the cells of another workbook's guard over those of this one's."""

    def change(book: Any, _: Any) -> None:
        guard = book["arrays guard"]
        for (cell,) in openpyxl.load_workbook(other)["arrays guard"].iter_rows(max_col=1):
            guard.cell(cell.row, column, cell.value)

    return change


def messages(path: Path, **options: Any) -> list[str]:
    return [finding.message for finding in sa.check(path, **options)]


def read_quietly(path: Path) -> tuple[dict[str, Array], list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return sa.read(path), [str(one.message) for one in caught]


def as_it_is(path: Path, _: Path) -> Path:
    return path


PROGRAMS = {
    "openpyxl": as_it_is,
    "LibreOffice, xlsx": lambda path, folder: resave(path, "xlsx", folder / "out"),
    "LibreOffice, ods": lambda path, folder: resave(path, "ods", folder / "out"),
}


# Foreign guards ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_foreign_guard_is_reported_not_used_and_not_restored(program: str, tmp_path: Path) -> None:
    arrays = make_arrays()
    path = write(tmp_path / "a.xlsx", arrays)
    other = write(tmp_path / "b.xlsx", {name: array[::-1].copy() for name, array in make_arrays(2).items()})
    mixed = PROGRAMS[program](edit(path, copy_guard(other), program), tmp_path)
    found = [finding for finding in sa.check(mixed) if "guard" in finding.message]
    assert [(finding.severity, finding.location) for finding in found] == [("warning", "arrays guard")]
    assert "another file" in found[0].message
    assert "'t', 'u'" in found[0].message
    if not program.endswith("ods"):  # whose 20 decimals checksums do not tell from an edit
        assert not any("edited" in message for message in messages(mixed))
    actual, warned = read_quietly(mixed)
    assert any("another file" in text for text in warned)
    for name, array in sa.read(mixed, guard=False).items():
        assert_same(actual[name], array)
    for keep_edits in (False, True):
        with pytest.raises(FormatError, match="another file"):
            sa.restore(mixed, tmp_path / "out.xlsx", keep_edits=keep_edits)
    assert not (tmp_path / "out.xlsx").exists()


def test_the_guard_of_an_older_version_of_the_file_is_foreign(tmp_path: Path) -> None:
    arrays = make_arrays()
    old = write(tmp_path / "old.xlsx", arrays)
    arrays["t"] = arrays["t"].copy()
    arrays["t"][3] = np.nextafter(arrays["t"][3], 2)  # to 15 digits nothing has changed
    mixed = edit(write(tmp_path / "new.xlsx", arrays), copy_guard(old))
    found = [finding for finding in sa.check(mixed) if "guard" in finding.message]
    assert [finding.array for finding in found] == ["t"]  # all others are as they were
    actual, warned = read_quietly(mixed)
    assert len(warned) == 1
    assert_same(actual["u"], arrays["u"])
    with pytest.raises(FormatError, match="another file"):
        sa.restore(mixed, tmp_path / "out.xlsx")


@pytest.mark.parametrize("names", [{}, {"t": "v"}])
def test_arrays_that_the_file_never_had_are_foreign(names: dict[str, str], tmp_path: Path) -> None:
    arrays = make_arrays()
    path = write(tmp_path / "a.xlsx", {"x": arrays["u"]})
    other = write(tmp_path / "b.xlsx", {names.get(name, name): array for name, array in arrays.items()}, sheet="more")
    book = openpyxl.load_workbook(path)
    for (cell,) in openpyxl.load_workbook(other)["more guard"].iter_rows(max_col=1):
        book["arrays guard"].cell(cell.row, 1, cell.value)
    book.save(tmp_path / "c.xlsx")
    assert "another file" in " ".join(messages(tmp_path / "c.xlsx"))
    with pytest.raises(FormatError, match="another file"):
        sa.restore(tmp_path / "c.xlsx", tmp_path / "out.xlsx")


def test_a_layout_that_was_edited_in_the_guard_is_foreign(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", {"grid": make_arrays()["grid"]})

    def transpose(book: Any, _: Any) -> None:
        cell = book["arrays guard"]["A2"]
        cell.value = cell.value.replace("[4, 3]", "[3, 4]").replace("[3, 1]", "[4, 1]")

    assert "another file" in " ".join(messages(edit(path, transpose)))


@pytest.mark.parametrize("program", PROGRAMS)
def test_without_a_record_the_guard_is_believed(program: str, tmp_path: Path) -> None:
    arrays = make_arrays()
    saved = PROGRAMS[program](edit(write(tmp_path / "a.xlsx", arrays), lose_record, program), tmp_path)
    actual, warned = read_quietly(saved)
    assert warned == []
    for name, array in arrays.items():
        assert_same(actual[name], array)
    assert messages(saved) == []
    assert sa.restore(saved, tmp_path / "restored.xlsx") == list(arrays)


def test_sheetjs_loses_the_record_and_keeps_the_guard(tmp_path: Path) -> None:
    arrays = make_arrays()
    saved = resave_by_node("sheetjs", write(tmp_path / "a.xlsx", arrays), tmp_path / "b.xlsx")
    for name, array in sa.read(saved).items():
        assert_same(array, arrays[name])
    sa.write(saved, {"x": np.arange(3)}, mode="a", sheet="more")  # which has a record of its own
    for name, array in arrays.items():
        assert_same(sa.read(saved)[name], array)


def test_a_record_that_was_edited_is_said(tmp_path: Path) -> None:
    arrays = make_arrays()
    path = write(tmp_path / "a.xlsx", arrays)
    other = write(tmp_path / "b.xlsx", {name: array[::-1].copy() for name, array in arrays.items()})

    def swap(book: Any, _: Any) -> None:
        lose_record(book, None)
        for prop in openpyxl.load_workbook(other).custom_doc_props.props:
            book.custom_doc_props.append(prop)

    assert "another file" in " ".join(messages(edit(path, swap)))

    def damage(book: Any, _: Any) -> None:
        book.custom_doc_props["sheetarray 1"].value = "AAAA"

    damaged = edit(path, damage)
    assert "not a record" in " ".join(messages(damaged))
    assert_same(read_quietly(damaged)[0]["t"], arrays["t"])


def test_of_two_guards_the_true_one_is_used(tmp_path: Path) -> None:
    arrays = make_arrays()
    path = write(tmp_path / "a.xlsx", arrays)
    other = write(tmp_path / "b.xlsx", make_arrays(2))

    def add(book: Any, _: Any) -> None:
        sheet = book.create_sheet("other guard")
        for (cell,) in openpyxl.load_workbook(other)["arrays guard"].iter_rows(max_col=1):
            sheet.cell(cell.row, 1, cell.value)

    mixed = edit(path, add)
    actual, warned = read_quietly(mixed)
    assert "another file" in warned[0]
    for name, array in arrays.items():
        assert_same(actual[name], array)


def test_accept_makes_a_foreign_guard_true(tmp_path: Path) -> None:
    mixed = edit(write(tmp_path / "a.xlsx", make_arrays()), copy_guard(write(tmp_path / "b.xlsx", make_arrays(2))))
    before = sa.read(mixed, guard=False)
    with pytest.warns(SheetArrayWarning, match="another file"):
        sa.accept(mixed)
    assert messages(mixed) == []
    for name, array in sa.read(mixed).items():
        assert_same(array, before[name])
    assert sa.restore(mixed, tmp_path / "out.xlsx") == list(before)


# Guards that are no longer known as such -------------------------------------------------------------------------


def _clear(book: Any, _: Any) -> None:
    book["arrays guard"]["A1"] = None


def _delete_first_row(book: Any, _: Any) -> None:
    book["arrays guard"].delete_rows(1)


def _insert_column(book: Any, _: Any) -> None:
    book["arrays guard"].insert_cols(1)


def _make_formulas(book: Any, _: Any) -> None:
    guard = book["arrays guard"]
    for row in range(1, guard.max_row + 1):
        guard.cell(row, 1, f"='arrays'!A{row}")


def _make_one_formula(book: Any, _: Any) -> None:
    text = book["arrays guard"]["A3"].value
    book["arrays guard"]["A3"] = f'="{text[:200]}"&"{text[200:]}"'


LOST = {
    "cleared": (_clear, "lost its first cell"),
    "first row deleted": (_delete_first_row, "lost its first cell"),
    "moved to the right": (_insert_column, "lost its first cell"),
    "formulas": (_make_formulas, "holds formulas now"),
    "one formula": (_make_one_formula, "formula"),
}


@pytest.mark.parametrize("has_record", [True, False])
@pytest.mark.parametrize("case", LOST)
def test_a_guard_that_is_known_no_more_is_reported(case: str, has_record: bool, tmp_path: Path) -> None:
    change, said = LOST[case]
    path = write(tmp_path / "a.xlsx", {"t": make_arrays()["t"]})
    path = edit(path, change if has_record else both(change, lose_record))
    found = [finding for finding in sa.check(path) if "guard" in finding.message]
    assert [finding.severity for finding in found] == ["warning"]
    assert said in found[0].message
    assert [text for text in read_quietly(path)[1] if said in text]
    with pytest.raises(FormatError):
        sa.restore(path, tmp_path / "out.xlsx")


def test_a_mark_that_is_typed_again_makes_the_guard_useful(tmp_path: Path) -> None:
    arrays = {"t": make_arrays()["t"]}
    path = edit(write(tmp_path / "a.xlsx", arrays), _clear)
    (finding,) = (finding for finding in sa.check(path) if "guard" in finding.message)
    text = finding.hint.split('"')[1]
    path = edit(path, lambda book, _: book["arrays guard"].cell(1, 1, text))
    assert_same(sa.read(path)["t"], arrays["t"])


def test_a_guard_that_was_deleted_or_renamed_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", make_arrays())

    def delete(book: Any, _: Any) -> None:
        del book["arrays guard"]

    def retitle(book: Any, _: Any) -> None:
        book["arrays guard"].title = "Sheet2"

    for change in (delete, retitle):
        assert "the sheet 'arrays guard' was deleted or renamed" in " ".join(messages(edit(path, change)))
    assert messages(path) == []


# Renamed and sorted ----------------------------------------------------------------------------------------------

EDITS: dict[str, tuple[Edit, dict[str, str]]] = {
    "renamed": (rename(t="temperature"), {"t": "temperature"}),
    "all renamed": (rename(t="a", u="b", grid="c", same="d", text="e"), {"t": "a", "u": "b", "grid": "c", "same": "d"}),
    "exchanged": (rename(t="u", u="t"), {"t": "u", "u": "t"}),
    "sorted": (sort_by(0), {}),
    "sorted by text": (sort_by(4), {}),
    "renamed and sorted": (both(rename(u="v", grid="g"), sort_by(1)), {"u": "v", "grid": "g"}),
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("case", EDITS)
def test_every_double_is_exact_after_people_renamed_and_sorted(case: str, program: str, tmp_path: Path) -> None:
    arrays, (change, names) = make_arrays(), EDITS[case]
    saved = PROGRAMS[program](edit(write(tmp_path / "a.xlsx", arrays), change, program), tmp_path)
    for name, actual in product(("t", "u", "grid", "same"), (sa.read(saved), sa.read(saved, resize=True))):
        today = actual[names.get(name, name)]
        assert today.shape == arrays[name].shape
        if "sorted" in case:
            assert sorted(today.ravel().tolist()) == sorted(arrays[name].ravel().tolist())
        else:
            assert_same(today, arrays[name])


def test_what_was_renamed_is_said_with_and_without_a_record(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", make_arrays())
    for change in (rename(t="temperature"), both(rename(t="temperature"), lose_record)):
        (finding,) = sa.check(edit(path, change))
        assert (finding.severity, finding.array) == ("warning", "temperature")
        assert "was written under the name 't', and renamed since" in finding.message
    assert all("exchanged with" in message for message in messages(edit(path, rename(t="u", u="t"))))


def test_an_array_that_was_renamed_and_edited_is_found(tmp_path: Path) -> None:
    arrays = make_arrays()
    path = write(tmp_path / "a.xlsx", arrays)

    def change(_: Any, sheet: Any) -> None:
        rename(t="temperature")(_, sheet)
        sheet.cell(first_row(sheet) + 2, 1, 7.5)

    edited = edit(path, change)
    wanted = arrays["t"].copy()
    wanted[2] = 7.5
    assert_same(sa.read(edited)["temperature"], wanted)
    assert any(message.startswith("temperature[2] (x2): ") for message in messages(edited))


def test_what_cannot_be_found_is_said(tmp_path: Path) -> None:
    arrays = make_arrays()
    path = write(tmp_path / "a.xlsx", arrays)

    def change(_: Any, sheet: Any) -> None:
        rename(t="temperature")(_, sheet)
        for place in range(ROWS):
            sheet.cell(first_row(sheet) + place, 1, place + 0.5)

    edited = edit(path, change)
    found = [
        finding for finding in sa.check(edited) if "no snapshot of the guard fits 'temperature'" in finding.message
    ]
    assert [(finding.severity, finding.array) for finding in found] == [("warning", "temperature")]
    actual, (warned,) = read_quietly(edited)
    assert "no snapshot of the guard fits 'temperature'" in warned
    assert_same(actual["temperature"], np.arange(ROWS) + 0.5)
    assert_same(actual["u"], arrays["u"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(sa.read(edited, ["u"])["u"], arrays["u"])


def test_two_snapshots_that_fit_alike_are_not_guessed_between(tmp_path: Path) -> None:
    exact = np.array([0.1 + 0.2, 0.7 + 0.1, 1 / 3])
    rounded = np.array([float(f"{number:.15g}") for number in exact.tolist()])
    path = write(tmp_path / "a.xlsx", {"exact": exact, "rounded": rounded})

    def change(_: Any, sheet: Any) -> None:
        rename(exact="a", rounded="b")(_, sheet)
        for place, number in enumerate(rounded.tolist()):
            sheet.cell(first_row(sheet) + place, 1, number)

    actual, (warned,) = read_quietly(edit(path, change))
    assert "no snapshot of the guard fits 'a', 'b'" in warned
    assert_same(actual["b"], rounded)


def test_arrays_without_a_snapshot_are_no_news(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", {"t": make_arrays()["t"]})
    sa.write(path, {"u": make_arrays()["u"]}, mode="a", sheet="more")
    assert read_quietly(path)[1] == messages(path) == []


def test_accept_and_restore_follow_a_renamed_array(tmp_path: Path) -> None:
    arrays = make_arrays()
    edited = edit(write(tmp_path / "a.xlsx", arrays, views=True), rename(t="temperature", grid="g"))
    assert sa.restore(edited, tmp_path / "old.xlsx") == list(arrays)
    sa.restore(edited, tmp_path / "kept.xlsx", keep_edits=True)
    sa.accept(edited)
    for path in (edited, tmp_path / "kept.xlsx"):
        actual = sa.read(path)
        assert list(actual) == ["temperature", "u", "g", "same", "text", "whole"]
        assert_same(actual["temperature"], arrays["t"])
        assert_same(actual["g"], arrays["grid"])
        assert [message for message in messages(path) if "guard" in message or "renamed" in message] == []


def test_a_renamed_array_with_another_row_is_known_by_its_guard(tmp_path):
    path = tmp_path / "t.xlsx"
    arrays = {"t": np.linspace(0, 1, 12), "day": np.datetime64("2026-03-01") + np.arange(12)}
    sa.write(path, arrays, guard=True)
    with edited_sheet(path) as sheet:
        sheet["A1"] = "temp"
        sheet.append([7.25, sheet.cell(sheet.max_row, 2).value])
    renamed, appended = sa.check(path)
    assert renamed.message == "was written under the name 't', and renamed since"
    assert appended.message.startswith("row 12 appended in 2 arrays (row 32 of the sheet, 2026-03-12)")
    assert sa.read(path, resize=True)["temp"].tolist() == [*arrays["t"].tolist(), 7.25]


@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize("count", [1, 2])
def test_rows_that_came_and_went_are_named_as_people_see_them(guard, count, tmp_path):
    path = tmp_path / "t.xlsx"
    arrays = {"t": np.linspace(0, 1, 30), "day": np.datetime64("2026-03-01") + np.arange(30), "n": np.arange(30)}
    sa.write(path, arrays, guard=guard)
    with edited_sheet(path) as sheet:
        sheet.delete_rows(25, count)
        for row in range(count):
            sheet.append([7.25 + row, sheet.cell(20, 2).value, 99 + row])
    found = [finding.message.partition(":")[0] for finding in sa.check(path)]
    if guard:
        gone = "row 5 deleted in 3 arrays (row 25" if count == 1 else "rows 5 to 6 deleted in 3 arrays (rows 25 to 26"
        come = (
            "row 29 appended in 3 arrays (row 49" if count == 1 else "rows 28 to 29 appended in 3 arrays (rows 48 to 49"
        )
        assert [message.partition(" of")[0] for message in found] == [gone, come]
    else:
        assert found == ["t", "day", "n"]
