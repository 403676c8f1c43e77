"""The guard: an exact snapshot in a very hidden sheet, told from edits to the bit, and never taken for an array."""

from __future__ import annotations

import base64
import json
import zipfile
import zlib
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from command_line import run_command
from exact_powers import powers_of_ten, powers_of_two
from examples import examples
from excel_packages import edit_part
from limits import get_limit, set_limits
from mixtures import edit_cells

import sheetarray as sa
from sheetarray import LinearArray
from sheetarray.changes.rounding import mark_kept
from sheetarray.dtypes import from_name
from sheetarray.errors import FormatError, LimitError, NotFoundError, SheetArrayWarning
from sheetarray.sheets.guard_texts import guard_title
from sheetarray.sheets.snapshot import decode_snapshot, encode_snapshot, parse_snapshot_header
from sheetarray.testing.cases import assert_same, dtype_cases, shape_cases

_UP = {digits: Context(prec=digits, rounding=ROUND_HALF_UP) for digits in (15, 16, 17)}
RULES = {
    **{f"half up, {n}": lambda x, n=n: float(_UP[n].plus(Decimal(repr(x)))) for n in (15, 16, 17)},
    **{f"half even, {n}": lambda x, n=n: float(f"%.{n}g" % x) for n in (15, 16, 17)},
}


def _texts(array: Any, name: str = "t") -> list[str]:
    return encode_snapshot(name, LinearArray.from_numpy(array), sheet="arrays", cells="numeric", dates="real")


def _decode(texts: list[str]) -> Any:
    return decode_snapshot(parse_snapshot_header(texts[0]), texts[1:])


# Snapshots ---------------------------------------------------------------------------------------------------


def test_a_snapshot_keeps_bits_that_no_cell_holds() -> None:
    array = np.array([0x7FF8000000000001, 0xFFF0000000000123], np.uint64).view(np.float64)
    assert (_decode(_texts(array)).view(np.uint64) == array.view(np.uint64)).all()


def test_hostile_snapshots_are_refused_before_memory_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    most = get_limit("guard_bytes") // 64
    set_limits(monkeypatch, guard_bytes=most)
    texts = _texts(np.arange(10.0))
    says = json.loads(texts[0])

    def change(**fields: Any) -> list[str]:
        return [json.dumps({**says, **fields}), *texts[1:]]

    huge = {"length": 10**12, "shape": [10**12]}
    bomb = base64.b64encode(zlib.compress(bytes(most + 1), 9)).decode()
    for damaged in (
        change(**huge),
        change(**huge, dtype="string"),
        change(**huge, dtype="generic"),
        change(length=9, shape=[9]),
        change(length=11),
        change(crc=1),
        change(crc="1"),
        change(texts=2),
        change(texts=-1),
        change(dtype="float63"),
        change(shape=[11]),
        change(shape=[-1]),
        change(shape="10"),
        change(shape=[1] * 1000, strides=[1] * 1000),
        change(order="none"),
        change(name=None),
        ["{" * 100_000, *texts[1:]],
        ["[]", *texts[1:]],
        [texts[0]],
        [texts[0], texts[1][:-4]],
        [texts[0], texts[1][4:]],
        [texts[0], "é" + texts[1][1:]],
        [texts[0], texts[1], "AAAA"],
    ):
        with pytest.raises(FormatError):
            _decode(damaged)
    for dtype in ("string", "generic", "float64"):
        with pytest.raises(FormatError, match="holds more than the"):
            _decode([json.dumps({**says, "dtype": dtype}), bomb])


# Rounding and edits --------------------------------------------------------------------------------------------


def _doubles(rng: np.random.Generator, count: int) -> Any:
    bits = rng.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    parts = [
        rng.standard_normal(count) * powers_of_ten(rng.integers(-12, 12, count)),
        np.round(rng.standard_normal(count) * 1000, 3) * 1.1,
        bits[np.isfinite(bits)],
        rng.integers(10**15, 10**16, count) / powers_of_ten(rng.integers(0, 20, count)),
        powers_of_two(rng.integers(-1000, 1000, count // 10)),
    ]
    return np.concatenate(parts)


@pytest.mark.parametrize("rule", RULES)
def test_edits_of_every_size_are_told_from_rounding(rule: str) -> None:
    rng = np.random.default_rng(list(RULES).index(rule))
    numbers = _doubles(rng, examples(8000))
    rounded = np.array([RULES[rule](number) for number in numbers.tolist()])
    assert all(_kept(numbers, rounded))
    units = np.where(rng.random(len(numbers)) < 0.6, 1, 10 ** rng.integers(0, 14, len(numbers)))
    units *= rng.choice([-1, 1], len(numbers))
    edited = []
    for number, unit in zip(rounded.tolist(), units.tolist(), strict=True):
        decimal = Decimal(repr(number))
        edited.append(float(decimal + unit * Decimal(10) ** (decimal.adjusted() - 14)))
    cells = np.array(edited)
    ways = [*RULES.values(), lambda x: RULES["half up, 15"](float(f"{x:.16g}"))]
    wanted = [cell in {way(x) for way in ways} for x, cell in zip(numbers.tolist(), edited, strict=True)]
    assert _kept(numbers, cells) == wanted
    assert sum(wanted) < len(wanted) // 20  # where both roundings are a unit apart, which no one can tell


def test_zeros_nan_and_infinities() -> None:
    written = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, np.nan, 5e-324])
    cells = np.array([-0.0, 0.0, -np.nan, np.inf, np.inf, np.nan, 1.0, 0.0])
    assert _kept(written, cells) == [True, True, True, True, False, False, False, True]


def test_twenty_decimals_count_where_no_element_has_more() -> None:
    written = np.array([-1.324358995628145e-08, 7.165876558738361e-07, 1.5])
    cells = np.array([-1.324358995628e-08, 7.1658765587384e-07, 1.5])
    assert _kept(written, cells) == [True, True, True]
    edited = np.array([-1.324358995629e-08, 7.1658765587384e-07, 1.5])
    assert _kept(written, edited) == [False, True, True]
    finer = np.array([-1.324358995628e-08, 7.165876558738361e-07, 1.5])
    assert _kept(written, finer) == [False, True, True]


def _kept(written: Any, cells: Any) -> list[bool]:
    array = np.asarray(written)
    dtype = {"U": "string", "O": "generic"}.get(array.dtype.kind, str(array.dtype))
    marks: list[bool] = mark_kept(array, np.asarray(cells), from_name(dtype)).tolist()
    return marks


def test_each_kind_of_dtype_has_its_rules() -> None:
    assert _kept(np.array([0.1, -0.0], "f4"), np.array([0.2, 0.0], "f4")) == [False, True]
    assert _kept(np.array([0.1 + 0.2 + 1j]), np.array([0.3 + 1j])) == [True]
    assert _kept(np.array([0.1 + 0.2 + 1j]), np.array([0.3 + 1.1j])) == [False]
    assert _kept(np.array([True, False]), np.array([True, True])) == [True, False]
    large = 2**53 + 1
    assert _kept(np.array([large, large, large, 5]), np.array([2**53, 9007199254740990, 2**53 + 3, 6])) == [
        True,
        True,
        False,
        False,
    ]
    objects = np.array([1.0, 2**70, 0.1 + 0.2, None, "a", True], object)
    assert _kept(objects, np.array([1, 2**70, 0.3, None, "a", True], object)) == [True] * 6
    assert _kept(objects, np.array([2, 2**69, 0.31, 0, "b", 1], object)) == [False] * 6


def test_dates_are_rounded_all_or_not_at_all() -> None:
    written = np.array([1_234_567, 7_654_321, 5_000_000], "datetime64[us]")
    rounded = np.array([1_235_000, 7_654_000, 5_000_000], "datetime64[us]")
    assert _kept(written, rounded) == [True, True, True]
    rounded[1] = np.datetime64(7_655_000, "us")
    assert _kept(written, rounded) == [True, False, True]
    rounded[1] = np.datetime64(7_654_322, "us")
    assert _kept(written, rounded) == [False, False, True]


def test_text_counts_as_kept_where_a_program_changed_all_alike() -> None:
    assert _kept(["a\r\nb", "c\r\nd"], ["a\nb", "c\nd"]) == [True, True]
    assert _kept(["a\r\nb", "c\r\nd"], ["a\nb", "c\r\nd"]) == [False, True]
    assert _kept(["a ", "  b", "c"], ["a", "b", "d"]) == [True, True, False]
    assert _kept(["a  b", " "], ["a b", ""]) == [True, True]
    assert _kept(["a\x01\r\nb"], ["a_x0001__x000d_\nb"]) == [True]
    assert _kept(["_x0041_", "b_x00e9_", "c"], ["A", "bé", "_x0042_"]) == [False, False, False]
    assert _kept(["_x0041_", "b_x00e9_", "c"], ["A", "bé", "d"]) == [True, True, False]
    assert _kept(["a b"], ["ab"]) == [False]


# Workbooks -----------------------------------------------------------------------------------------------------


@pytest.fixture
def guarded(tmp_path: Path) -> tuple[Path, Any]:
    array = np.random.default_rng(7).standard_normal((40, 5))
    path = tmp_path / "run.xlsx"
    sa.write(path, {"t": array, "n": np.arange(200)}, guard=True)
    return path, array


def test_the_sheet_is_very_hidden_and_of_texts(guarded: tuple[Path, Any]) -> None:
    book = openpyxl.load_workbook(guarded[0])
    assert [(sheet.title, sheet.sheet_state) for sheet in book] == [
        ("arrays", "visible"),
        ("arrays guard", "veryHidden"),
    ]
    column = [cell.value for cell in book["arrays guard"]["A"]]
    assert column[0] == "sheetarray guard 1"
    says = json.loads(column[1])
    assert (says["name"], says["dtype"], says["length"], says["shape"]) == ("t", "float64", 200, [40, 5])
    assert book["arrays guard"].max_column == 1
    sa.write(guarded[0], {"t": np.random.default_rng(1).random(20_000)}, guard=True)
    lengths = [len(cell.value) for cell in openpyxl.load_workbook(guarded[0])["arrays guard"]["A"]]
    assert 30_000 < max(lengths) <= 32_767  # which a cell of Excel holds


def test_no_verb_takes_the_guard_for_anything_else(guarded: tuple[Path, Any]) -> None:
    path, array = guarded
    assert list(sa.scan(path)) == list(sa.read(path)) == ["t", "n"]
    assert list(sa.check(path)) == []
    assert_same(sa.read(path)["t"], array)
    book = openpyxl.load_workbook(path)
    del book["arrays"]
    for row in (["a", "b"], [1, 2]):
        (book["table"] if "table" in book else book.create_sheet("table")).append(row)
    book.save(path)
    assert sa.read_columns(path)["b"].tolist() == [2]


def test_rounded_elements_come_back_and_edits_stay(guarded: tuple[Path, Any], tmp_path: Path) -> None:
    path, array = guarded
    header = sa.scan(path)["t"].cells - 200
    address = f"A{header + 2 + 7}"  # under the name and the header
    edited = edit_cells(path, {address: 0.125}, target=tmp_path / "edited.xlsx")
    assert (sa.read(edited, guard=False)["t"] != array).sum() > 20
    wanted = array.copy()
    wanted[1, 2] = 0.125
    assert_same(sa.read(edited)["t"], wanted)
    (finding,) = sa.check(edited)
    assert (finding.array, finding.index, finding.severity) == ("t", (1, 2), "error")
    assert finding.location == f"arrays!{address}"
    assert finding.message == f"t[1, 2]: {array[1, 2]:.6g} -> 0.125"
    edits = {f"A{header + 2 + place}": 9.5 for place in (0, 8, 199)}
    findings = list(sa.check(edit_cells(path, edits, target=tmp_path / "edited.xlsx")))
    assert [(finding.array, finding.index) for finding in findings] == [("t", (0, 0)), ("t", (1, 3)), ("t", (39, 4))]
    assert [finding.message.partition(":")[0] for finding in findings] == ["t[0, 0]", "t[1, 3]", "t[39, 4]"]


def test_append_adds_replaces_and_takes_away_guards(guarded: tuple[Path, Any]) -> None:
    path, array = guarded
    sa.write(path, {"u": array + 1}, mode="a", sheet="more", guard=True)
    assert openpyxl.load_workbook(path).sheetnames == ["arrays", "arrays guard", "more", "more guard"]
    sa.write(path, {"u": array + 2}, mode="a", sheet="more", if_sheet_exists="replace", guard=True)
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["arrays", "arrays guard", "more", "more guard"]
    assert [sheet.sheet_state for sheet in book] == ["visible", "veryHidden"] * 2
    assert list(sa.check(path)) == []
    assert_same(sa.read(path, ["u"])["u"], array + 2)
    sa.write(path, {"u": array + 3}, mode="a", sheet="more", if_sheet_exists="replace", guard=False)
    assert openpyxl.load_workbook(path)["more guard"]["A1"].value is None
    assert list(sa.check(path)) == []
    assert_same(sa.read(path, ["u"])["u"], array + 3)


@pytest.mark.parametrize(("length", "longest"), [(25, 31), (26, 31), (31, 31)])
def test_titles_of_guards_are_no_longer_than_excel_takes(length: int, longest: int, tmp_path: Path) -> None:
    title = "x" * length
    assert len(guard_title(title)) == longest
    sa.write(tmp_path / "a.xlsx", {"t": np.arange(3)}, sheet=title, guard=True)
    sa.write(tmp_path / "a.xlsx", {"u": np.arange(3)}, sheet="y" + title[1:], guard=True, mode="a")
    assert list(sa.scan(tmp_path / "a.xlsx")) == ["t", "u"]
    with pytest.raises(LimitError):
        sa.write(tmp_path / "a.xlsx", {"u": np.arange(3)}, sheet="y" + title[1:], guard=True, mode="a")


def test_a_sheet_of_people_with_such_a_title_is_read(tmp_path: Path) -> None:
    sa.write(tmp_path / "a.xlsx", {"t": np.arange(3)}, sheet="life guard")
    assert list(sa.read(tmp_path / "a.xlsx")) == ["t"]


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ({"A1": "sheetarray guard 2"}, "of version 2; this reader knows version 1"),
        ({"A1": "sheetarray guard two"}, "another version"),
        ({"A3": "AAAA"}, "cannot be used"),
        ({"A3": None}, "0 of 1 texts"),
        ({"A2": "{}"}, "damaged"),
        ({"A2": "what"}, "belong to no array"),
    ],
)
def test_a_damaged_guard_is_one_warning_and_passed_over(
    guarded: tuple[Path, Any], edits: dict[str, Any], message: str
) -> None:
    path, array = guarded
    edit_cells(path, edits, "arrays guard")
    findings = [finding for finding in sa.check(path) if "guard" in finding.message]
    assert len(findings) == 1
    assert message in findings[0].message
    assert findings[0].severity == "warning"
    with pytest.warns(SheetArrayWarning, match=message):
        assert np.allclose(sa.read(path)["t"], array)
    assert np.allclose(sa.read(path, guard=False)["t"], array)


def test_a_guard_is_read_for_an_array_that_is_not_as_it_was_written(tmp_path: Path) -> None:
    path, array = tmp_path / "a.xlsx", np.array([0.1 + 0.2, 1 / 3])
    sa.write(path, {"t": array, "n": np.array(["a", "b"])}, guard=True)
    edit_part(path, "xl/worksheets/sheet2.xml", lambda text: text.replace('"texts": 1', '"texts": 2'))
    assert (sa.read(path)["t"] == array).all()  # warnings are errors
    assert any("cannot be used" in str(finding) for finding in sa.check(path))
    edit_part(path, "xl/worksheets/sheet1.xml", lambda text: text.replace("0.30000000000000004", "0.3"))
    with pytest.warns(SheetArrayWarning, match="cannot be used"):
        assert sa.read(path)["t"][0] == 0.3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<sheetData>", "<!-- <sheetData> --><sheetData>"),
        ('<row r="1">', '<row r="1" spans="1:1">'),
        ("<sheetData>", "<sheetData >"),
        ("utf-8", "UTF-8"),
    ],
)
def test_a_guard_is_known_by_its_first_cell_however_it_is_written(old: str, new: str, tmp_path: Path) -> None:
    path, array = tmp_path / "a.xlsx", np.array([0.1 + 0.2, 1 / 3])
    sa.write(path, {"t": array}, guard=True)
    edit_part(path, "xl/worksheets/sheet2.xml", lambda text: text.replace(old, new, 1))
    edit_part(path, "xl/worksheets/sheet1.xml", lambda text: text.replace("0.30000000000000004", "0.3"))
    assert (sa.read(path)["t"] == array).all()
    assert [*sa.scan(path)] == ["t"]


_MARKED = '<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>sheetarray guard 1</t></is></c></row>'


@pytest.mark.parametrize("mark", [f"<!-- {_MARKED} --><sheetData>", _MARKED.replace("A1", "B1")])
def test_a_sheet_whose_first_cell_is_another_is_no_guard(mark: str, tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    sa.write(path, {"t": np.arange(3)}, guard=True)
    edit_part(path, "xl/worksheets/sheet2.xml", lambda text: text.replace(_MARKED, mark))
    with pytest.warns(SheetArrayWarning, match="has lost its first cell"):
        assert sa.read(path)["t"].tolist() == [0, 1, 2]


def test_a_workbook_without_arrays_says_so(tmp_path: Path) -> None:
    sa.write(tmp_path / "a.xlsx", {"t": np.arange(3)}, guard=True)
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    del book["arrays"]
    book["arrays guard"].sheet_state = "visible"
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(FormatError, match="no array"):
        sa.read(tmp_path / "a.xlsx")


# Restored ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"cells": "text"}, {"dates": "text", "sheet": "run 1"}])
def test_restore_gives_the_file_as_it_was_written(options: dict[str, Any], tmp_path: Path) -> None:
    arrays = {**shape_cases(), "day": np.array(["2026-01-05"], "M8[D]"), "text": dtype_cases()["string"]}
    path, saved = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    sa.write(path, arrays, guard=True, **options)
    openpyxl.load_workbook(path).save(saved)
    assert sa.restore(saved, tmp_path / "c.xlsx") == list(arrays)
    before, restored = (sa.read(file, guard=False) for file in (path, tmp_path / "c.xlsx"))
    assert [*restored] == [*before]
    for name, array in before.items():
        assert_same(restored[name], array)
    assert list(sa.check(tmp_path / "c.xlsx")) == []


@pytest.mark.parametrize("keep_edits", [False, True])
def test_restore_keeps_everything_else_in_the_workbook(tmp_path: Path, keep_edits: bool) -> None:
    path, edited = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    sa.write(path, {"t": np.arange(6) / 7, "n": np.arange(6)}, guard=True)
    row = sa.scan(path)["t"].data[0].row + 1
    book = openpyxl.load_workbook(path)
    chart = openpyxl.chart.LineChart()
    chart.add_data(openpyxl.chart.Reference(book["arrays"], min_col=1, min_row=row, max_row=row + 5))
    book["arrays"].add_chart(chart, "H2")
    book["arrays"]["D1"] = "mine"
    book.create_sheet("notes")["A1"] = "=SUM(t)"
    book["arrays"].cell(row, 1).font = openpyxl.styles.Font(bold=True)
    for at, value in ((1, 99.5), (2, "n/a"), (3, "=1+2")):
        book["arrays"].cell(row + at, 1).value = value
    book["arrays"].cell(row + 6, 1).value, book["arrays"].cell(row + 6, 2).value = 8.5, 8
    book.save(edited)
    if keep_edits:  # what stood in the place of the formula, nobody has computed
        book["arrays"].cell(row + 3, 1).value = 3.5
        book.save(edited)
    out = tmp_path / "out.xlsx"
    sa.restore(edited, out, keep_edits=keep_edits)
    kept = [0, 99.5, 2 / 7, 3.5, 4 / 7, 5 / 7, 8.5]
    assert sa.read(out, "t", guard=False).tolist() == (kept if keep_edits else [n / 7 for n in range(6)])
    assert list(sa.check(out)) == []
    with zipfile.ZipFile(out) as package:
        assert any(name.startswith("xl/charts/") for name in package.namelist())
    book = openpyxl.load_workbook(out)
    assert (book["arrays"]["D1"].value, book["notes"]["A1"].value) == ("mine", "=SUM(t)")
    assert book["arrays"].cell(row, 1).font.bold
    sa.restore(edited, edited, keep_edits=keep_edits)
    assert sa.read(edited)["t"].tolist() == sa.read(out)["t"].tolist()


def test_restore_gives_a_renamed_array_its_name(tmp_path: Path) -> None:
    path, edited = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    sa.write(path, {"temp": np.arange(6) / 7, "n": np.arange(6)}, guard=True)
    edit_cells(path, {"A1": "temperature"}, target=edited)
    sa.restore(edited, tmp_path / "c.xlsx")
    assert list(sa.read(tmp_path / "c.xlsx")) == ["temp", "n"]
    assert list(sa.check(tmp_path / "c.xlsx")) == []


def test_what_cannot_be_restored_is_said(guarded: tuple[Path, Any], tmp_path: Path) -> None:
    path, _ = guarded
    sa.write(tmp_path / "plain.xlsx", {"t": np.arange(3)}, guard=False)
    sa.write(tmp_path / "plain.csv", {"t": np.arange(3)})
    with pytest.raises(FormatError, match="no guard"):
        sa.restore(tmp_path / "plain.xlsx", tmp_path / "out.xlsx")
    with pytest.raises(NotFoundError):
        sa.restore(tmp_path / "plain.csv", tmp_path / "out.xlsx")
    with pytest.raises(ValueError, match="writes a workbook"):
        sa.restore(path, tmp_path / "out.csv")
    edit_cells(path, {"A3": "AAAA"}, "arrays guard")
    with pytest.raises(FormatError, match="cannot be used"):
        sa.restore(path, tmp_path / "out.xlsx")
    assert not (tmp_path / "out.xlsx").exists()


def test_restore_at_the_command_line(guarded: tuple[Path, Any], tmp_path: Path) -> None:

    path, array = guarded
    done = run_command("restore", path, tmp_path / "out.xlsx", "--keep-edits")
    assert done.exit_code == 0, done.output
    assert "2 arrays restored, edits kept" in done.output
    assert_same(sa.read(tmp_path / "out.xlsx")["t"], array)
    assert run_command("restore", path, "-").exit_code == 2


FRAMES = {"North": pd.DataFrame({"a": [1.5, 2.5]}), "South": pd.DataFrame({"b": [3.5, 4.5]})}


def test_several_sheets_of_one_write_have_one_guard(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, FRAMES)
    assert openpyxl.load_workbook(path).sheetnames == ["North", "South", "North guard"]
    sa.write(path, {"c": np.arange(3)}, sheet="West", mode="a")
    assert openpyxl.load_workbook(path).sheetnames == ["North", "South", "North guard", "West", "West guard"]
    book = openpyxl.load_workbook(path)
    for title in ("North", "South"):
        book[title]["A21"] = 99
    book.save(path)
    assert [finding.message for finding in sa.check(path)] == ["a[1]: 2.5 -> 99.0", "b[1]: 4.5 -> 99.0"]
    assert sa.restore(path, tmp_path / "restored.xlsx") == ["a", "b", "c"]
    assert openpyxl.load_workbook(tmp_path / "restored.xlsx").sheetnames == [
        "North",
        "South",
        "North guard",
        "West",
        "West guard",
    ]
    assert len(sa.accept(path).edited) == 2
    assert list(sa.check(path)) == []
    assert openpyxl.load_workbook(path).sheetnames == ["North", "South", "North guard", "West", "West guard"]


@pytest.mark.parametrize("guard", ["auto", False])
@pytest.mark.parametrize(("title", "name", "other"), [("North", "a", "b"), ("South", "b", "a")])
def test_a_sheet_that_is_replaced_leaves_the_snapshots_of_others(
    tmp_path: Path, guard: Any, title: str, name: str, other: str
) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, FRAMES)
    sa.write(path, {name: np.array([7.25, 8.5])}, sheet=title, mode="a", if_sheet_exists="replace", guard=guard)
    assert list(sa.check(path)) == []
    book = openpyxl.load_workbook(path)
    for sheet in ("North", "South"):
        book[sheet]["A21"] = 99
    book.save(tmp_path / "edited.xlsx")
    messages = {finding.array: finding.message for finding in sa.check(tmp_path / "edited.xlsx")}
    assert messages[other].startswith(f"{other}[1]: ")
    assert messages[name].startswith(f"{name}[1]: 8.5 -> 99.0") == (guard == "auto")
    if guard is False:
        with pytest.warns(sa.SheetArrayWarning, match=f"restored without '{name}'"):
            assert sa.restore(path, tmp_path / "restored.xlsx") == [other]
