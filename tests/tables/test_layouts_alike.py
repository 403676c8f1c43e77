"""One property over layouts: for each kind of value, each verb gives the same for a table as for arrays."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xarray as xr
import xlsxwriter
from command_line import run_command
from programs import FILTERS, open_office
from recorded import KINDS, assert_same, edit, write_quietly
from services import TableBook

import sheetarray as sa
from sheets_emulator import SheetsServer

LAYOUTS = ("arrays", "table")
UNITS = {"Y": "years", "M": "months", "W": "weeks", "D": "days", "h": "hours", "m": "minutes"}
UNITS |= {"s": "s", "ms": "ms", "us": "us", "ns": "ns"}
DATES = np.array(["2020-01-01", "1850-05-05", "NaT", "2020-12-31", "2020-02-29", "1950-03-01"], "M8[D]")
PLAIN: dict[str, Any] = {
    **KINDS,
    **{f"dates in {word}": DATES.astype(f"M8[{unit}]") for unit, word in UNITS.items()},
    **{f"durations in {word}": np.arange(6).astype(f"m8[{unit}]") for unit, word in UNITS.items()},
    "looks": np.array(["007", "1e5", "1,5", "0x1F", "2020-01-01", "-0"]),
    "formulas": np.array(["=1+1", "'=1", "+2", "-3", "@x", "'"]),
    "beyond 2^53": np.array([2**53 + 1, -(2**53) - 1, 2**62 + 1, 1, 2, 3]),
}
LABELLED = xr.Dataset(
    {name: (("x", "y"), np.asfortranarray(values.reshape(2, 3)), {"units": "K"}) for name, values in KINDS.items()}
    | {"along y": ("y", np.arange(3.0))},
    {"x": [2.5, 1.5], "y": np.array(["q", "1", "b"])},
    {"title": "T"},
)
CONTENTS = {"plain": PLAIN, "labelled": LABELLED}
ROUNDED = ("float64", "zeros")  # XlsxWriter puts numbers of 17 digits and -0.0 into a table as 16 digits and 0


def list_edits(content: Any, without: tuple[str, ...] = ()) -> dict[str, tuple[int, int]]:
    """The places of two elements of each kind that differ, and that every cell can hold."""
    edits = {}
    for name, values in PLAIN.items():
        if name in content and name not in without:
            texts = [repr(value) for value in values.tolist()]
            held = [place for place, text in enumerate(texts) if text not in ("''", "None", "nan", "nanj")]
            edits[name] = next((a, b) for a in held for b in reversed(held) if texts[a] != texts[b])
    return edits


def row_of(name: str, place: int, content: Any, layout: str, column: list[Any]) -> int:
    """The row, counted from 1, of an element by its place in row-major order; `column`: all cells of its column."""
    if layout == "table":
        return 2 + place
    i, j = divmod(place, 3)  # the arrays of the Dataset are column-major
    return column.index("data") + 2 + (i + 2 * j if content is LABELLED else place)


def copy_elements(content: Any, layout: str, edits: dict[str, tuple[int, int]]) -> Callable[[Any], None]:
    """Do by hand what makes one element another: copy its cell."""

    def copy(book: Any) -> None:
        sheet = book[layout]
        columns = {str(cells[0].value): cells for cells in sheet.iter_cols()}
        for name, places in edits.items():
            texts = [cell.value for cell in columns[name]]
            source, goal = (columns[name][row_of(name, at, content, layout, texts) - 1] for at in places)
            goal.value, goal.number_format, goal.data_type = source.value, source.number_format, source.data_type

    return copy


def save(maker: str, path: Path, content: Any, layout: str, change: Callable[[Any], None] | None = None) -> Path:
    """Write a workbook by one of the ways there are, change its cells, and return its path."""
    written = path.with_suffix(".xlsx")
    target: Any = {"openpyxl": openpyxl.Workbook, "xlsxwriter": lambda: xlsxwriter.Workbook(str(written))}.get(maker)
    target = written if target is None else target()
    options = {} if target is written else {"guard": True}
    (write_quietly if layout == "table" else sa.write)(target, content, **options)
    if target is not written:
        target.save(written) if maker == "openpyxl" else target.close()
    if change is not None:
        edit(written, change)
    if not maker.startswith("office"):
        return written
    saved = path.with_suffix(f".saved.{maker.split()[1]}")
    open_office().work_on(written, ["save", str(saved), *FILTERS[maker.split()[1]]])
    return saved


def without_cells(text: str) -> list[str]:
    """The lines of a text, without what only one layout has in its addresses, and in the names of files."""
    return re.sub(r"cell \w+!\w+|(arrays|table)-", "cell", text).splitlines()


def describe(infos: Any, content: Any) -> dict[str, Any]:
    return {
        name: (info.shape, info.dtype, info.order, info.dims if content is LABELLED else None)
        for name, info in infos.items()
    }


def take_all_verbs(maker: str, content: Any, layout: str, folder: Path) -> dict[str, Any]:
    """What each verb gives for one layout, by names."""
    edits = list_edits(content, ROUNDED if maker == "xlsxwriter" else ())
    base, edited = (
        save(maker, folder / f"{layout}-{name}", content, layout, change)
        for name, change in (("base", None), ("edited", copy_elements(content, layout, edits)))
    )
    third = shutil.copy(base, base.with_stem(f"{layout}-third"))
    made = folder / f"{layout}-made.xlsx"
    results: dict[str, Any] = {
        "read": sa.read(base),
        "check of the base": [*map(str, sa.check(base))] if base.suffix == ".xlsx" else [],
    }
    results["scan"] = describe(sa.scan(base), content)
    findings = [finding for finding in sa.check(edited) if finding.array is not None]  # not of the dates of .ods
    results["check"] = [(finding.array, finding.index, finding.message) for finding in findings]
    results["diff"] = without_cells(repr(sa.diff(base, edited)))
    results["edited"] = sa.read(edited)
    if maker == "sheetarray":  # what these verbs do is nothing that a maker could change
        results |= take_other_verbs(base, edited, folder / f"{layout}.json")
    if content is LABELLED:
        xr.testing.assert_identical(sa.read_dataset(base), content)
        with xr.open_dataset(base, engine="sheetarray") as opened:
            xr.testing.assert_identical(opened.load(), content)
    sa.restore(edited, made)
    results["restored"] = sa.read(made)
    assert not sa.merge(base, edited, third, target=made).conflicts
    results["merged"] = sa.read(made)
    results["check of the merge"] = [*sa.check(made)]
    assert sa.accept(edited, made)
    results["accepted"] = sa.read(made)
    results["check of what was accepted"] = [*sa.check(made)]
    if content is PLAIN and base.suffix == ".xlsx":
        assert sa.append(base, content) == dict.fromkeys(content, 12)
        results["appended"] = sa.read(base)
        assert_same(results["appended"], {name: np.concatenate([values, values]) for name, values in content.items()})
        results["check after append"] = [*sa.check(base)]
    return results


def take_other_verbs(base: Path, edited: Path, converted: Path) -> dict[str, Any]:
    sa.convert(base, converted)
    results: dict[str, Any] = {"converted": sa.read(converted)}
    results["blocks"] = {
        name: np.concatenate([*sa.iter_blocks(base, name, rows=1)]) for name in list(sa.scan(base))[:9]
    }
    info, diff, check = (
        run_command(*command) for command in (("info", base, "--json"), ("diff", base, edited), ("check", edited))
    )
    results["exit status"] = [info.exit_code, diff.exit_code, check.exit_code]
    results["diff in a shell"] = without_cells(diff.stdout)
    keys = ("name", "shape", "dtype", "order")
    results["info"] = [{key: entry[key] for key in keys} for entry in json.loads(info.output)["arrays"]]
    assert sa.page(base)
    return results


@pytest.mark.filterwarnings("ignore:.*a date cell, read as its ISO text")  # those of .ods
@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("maker", ["sheetarray", "openpyxl", "xlsxwriter", "office xlsx", "office ods"])
def test_every_verb_gives_the_same_for_a_table_and_for_arrays(maker: str, content: str, tmp_path: Path) -> None:
    arrays, table = (take_all_verbs(maker, CONTENTS[content], layout, tmp_path) for layout in LAYOUTS)
    assert_alike(table, arrays)
    for results in (arrays, table):
        assert not any(found for name, found in results.items() if name.startswith("check "))
        assert_same(results["restored"], results["read"])
        assert_same(results["merged"], results["edited"])
        assert_same(results["accepted"], results["edited"])
    assert {array for array, _, _ in table["check"]} == {*list_edits(CONTENTS[content])} - (
        {*ROUNDED} if maker == "xlsxwriter" else set()
    )


def assert_alike(table: dict[str, Any], arrays: dict[str, Any]) -> None:
    assert [*table] == [*arrays]
    for name, result in table.items():
        if isinstance(result, dict) and all(isinstance(value, np.ndarray) for value in result.values()):
            assert_same(result, arrays[name])
        else:
            assert result == arrays[name], name


def test_frames_with_kinds_of_pandas_are_the_same_in_both_layouts(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "category": pd.Categorical(["b", None, "a"], ["b", "a", "c"], ordered=True),
            "decimal": np.array([Decimal("0.10"), Decimal(2), None]),
            "nullable": pd.array([1, None, 2**62 + 1], "Int64"),
            "truth": pd.array([True, None, False], "boolean"),
            "text": pd.array(["=1", None, "007"], "string"),
            "when": pd.to_datetime(["2020-01-01", None, "2020-01-03"]).tz_localize("Europe/Zurich"),
            "lasts": pd.to_timedelta([1, None, 3], unit="h"),
        },
        index=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["site", "day"]),
    )
    read = []
    for layout in LAYOUTS:
        path, target = tmp_path / f"{layout}.xlsx", tmp_path / f"{layout}-accepted.xlsx"
        (write_quietly if layout == "table" else sa.write)(path, frame)
        assert [*sa.check(path)] == []
        read += [sa.read_frame(path)]
        sa.merge(path, save("sheetarray", tmp_path / f"{layout}-copy", frame, layout), target=target)
        read += [sa.read_frame(target)]
    for other in read[1:]:
        pd.testing.assert_frame_equal(other, read[0])


@pytest.mark.parametrize("content", CONTENTS)
def test_every_verb_gives_the_same_in_google_sheets(content: str, server: SheetsServer, tmp_path: Path) -> None:
    arrays, table = (
        take_all_verbs_in_google(CONTENTS[content], layout, server, tmp_path / f"{layout}.json") for layout in LAYOUTS
    )
    assert_alike(table, arrays)
    assert_same(table["merged"], table["edited"])
    assert {array for array, _, _ in table["unreadable"]} >= {"float64", "int64", "bool"}


def take_all_verbs_in_google(content: Any, layout: str, server: SheetsServer, converted: Path) -> dict[str, Any]:
    base, edited, third = books = [TableBook(server) for _ in range(3)]
    how: dict[str, Any] = {"client": base.client}
    for book in books:
        book.write(content) if layout == "table" else sa.write(book.url, content, **how)
    results: dict[str, Any] = {"read": sa.read(base.url, **how)}
    results["scan"] = describe(sa.scan(base.url, **how), content)
    assert base.check() == []
    if content is LABELLED:
        xr.testing.assert_identical(sa.read_dataset(base.url, **how), content)
    sheet = edited.sheet(layout)
    shown = sheet.get_all_values()
    rows = sheet.get(value_render_option="UNFORMATTED_VALUE")
    cells: dict[str, tuple[Any, str]] = {}
    for name, places in list_edits(content).items():
        column = shown[0].index(name)
        source, goal = (row_of(name, at, content, layout, [row[column] for row in shown]) for at in places)
        cells[name] = rows[source - 1][column], f"R{goal}C{column + 1}"
    sheet.batch_update([{"range": goal, "values": [[value]]} for value, goal in cells.values()], raw=True)
    assert edited.check() == []
    results["edited"] = sa.read(edited.url, **how)
    results["diff"] = without_cells(repr(sa.diff(base.url, edited.url, **how)))
    sa.convert(edited.url, converted, **how)
    results["converted"] = sa.read(converted)
    assert not edited.accept()
    assert not sa.merge(base.url, edited.url, third.url, target=base.url, **how).conflicts
    results["merged"] = sa.read(base.url, **how)
    if content is PLAIN:
        assert sa.append(third.url, content, **how) == dict.fromkeys(content, 12)
        assert third.check() == []
        results["appended"] = sa.read(third.url, **how)
        assert_same(results["appended"], {name: np.concatenate([values, values]) for name, values in content.items()})
    sheet.batch_update([{"range": goal, "values": [["?"]]} for _, goal in cells.values()], raw=True)
    results["unreadable"] = [(finding.array, finding.index, finding.message) for finding in edited.check()]
    assert sa.page(third.url, **how)
    return results


def test_values_of_several_kinds_below_a_recorded_column(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    values = KINDS["mixed"].tolist()
    write_quietly(path, {"v": KINDS["mixed"], "k": np.arange(6)})
    more = ["2", 2, None, "", 1.0, 2**60, "'q", "TRUE", True, 0.1 + 0.2, "nan"]
    sa.append(path, {"v": np.array(more, object), "k": np.arange(11)})
    assert list(sa.check(path)) == []
    assert_same(sa.read(path), {"v": np.array(values + more, object), "k": np.append(np.arange(6), np.arange(11))})


def test_text_and_none_below_a_recorded_column_of_text(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_quietly(path, {"v": np.array(["a", None, "1"], object), "k": np.arange(3)})
    sa.append(path, {"v": [None, "007"], "k": [3, 4]})
    sa.append(path, {"v": [None], "k": [5]})
    assert sa.read(path)["v"].tolist() == ["a", None, "1", None, "007", None]
    before = path.read_bytes()
    with pytest.raises(sa.DTypeError, match="v: the column holds text, and a new row does not"):
        sa.append(path, {"v": [1, "x"], "k": [6, 7]})
    assert path.read_bytes() == before
