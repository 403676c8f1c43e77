"""Views: sheets that show one slice of an array by formulas, computed by LibreOffice and held against NumPy."""

from __future__ import annotations

import re
import shutil
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import xarray as xr
import xlsxwriter
from examples import STRIDE
from excel_packages import edit_part, lose_record, sheets_looked_into
from limits import set_limits
from mixtures import edited_sheet
from programs import resave, resave_all, schema_errors

import sheetarray as sa

RNG = np.random.default_rng(14)
Choices = list[tuple[tuple[object, ...], Any]]  # and what the view then shows


def make_dataset() -> xr.Dataset:
    """Temperatures by month, place and height; one is missing."""
    values = RNG.normal(15, 8, (4, 3, 5)).round(3)
    values[1, 2, 3] = np.nan
    return xr.Dataset(
        {"temperature": (("month", "place", "height"), values, {"units": "degC"})},
        {
            "month": np.array(["2026-01-01", "2026-02-01", "2026-03-01", "2026-04-01"], "M8[D]").astype("M8[s]"),
            "place": ["Basel", "Bern", "007"],
            "height": [0.5, 1.0, 2.0, 4.0, 10.0],
        },
    )


# Looking at a view ---------------------------------------------------------------------------------------------


@dataclass
class SeenView:
    """What a view shows: its choosers by their captions, labels and grid."""

    choosers: dict[str, Any]
    across: list[Any]
    down: list[Any]
    grid: list[list[Any]]


def look_at(path: Path, title: str | None = None) -> SeenView:
    """Return what the first view of a workbook shows, as its cells hold it."""
    book = openpyxl.load_workbook(path, data_only=True, read_only=True)  # no other sheet is parsed
    rows = list(map(list, (book[title] if title else book.worksheets[0]).iter_rows(values_only=True)))
    book.close()
    corner = next(place for place, row in enumerate(rows) if "\\" in str(row[0]))
    width = next(place for place in range(len(rows[corner]), 0, -1) if rows[corner][place - 1] is not None)
    return SeenView(
        {row[0].rstrip(":"): row[1] for row in rows[1:corner] if str(row[0]).endswith(":")},
        rows[corner][1:width],
        [row[0] for row in rows[corner + 1 :]],
        [row[1:width] for row in rows[corner + 1 :]],
    )


def choose(path: Path, target: Path, *choices: object) -> Path:
    """Write a workbook with other values in the choosers of its first view, from the top, and no value of a formula."""
    shutil.copy(path, target)

    def put(text: str) -> str:
        text = re.sub(r"</f><v>[^<]*</v>", "</f>", text)
        for row, choice in enumerate(choices, 2):
            text_cell = f't="inlineStr"><is><t>{choice}</t></is></c>'
            cell = text_cell if isinstance(choice, str) else f"><v>{choice}</v></c>"
            text, count = re.subn(rf'(<c r="B{row}"(?: s="\d+")?)[^>]*>.*?</c>', rf"\1 {cell}", text)
            assert count == 1
        return text

    return edit_part(target, "xl/worksheets/sheet1.xml", put)


# Computed by LibreOffice ---------------------------------------------------------------------------------------


def list_cases() -> dict[str, tuple[Any, Any, Choices]]:
    """What is written, its views, and what the view has to show for some choices."""
    dataset = make_dataset()
    values = dataset.temperature.values
    buffer = RNG.normal(size=60)
    strided = sa.LinearArray("float64", (3, 4, 5), (-20, 0, 2), 41, "row-major", buffer)
    six = np.arange(3 * 2 * 2 * 2 * 3 * 4).reshape(3, 2, 2, 2, 3, 4)
    text = np.array([["", "007", "a<b"], ["=1+1", "x", "  y"]])
    when = np.array([["2026-01-01", "2026-05-04"], ["1999-12-31", "NaT"]], "M8[D]")
    large = np.arange(2 * 70 * 50, dtype="int32").reshape(2, 70, 50)
    whole = RNG.integers(0, 99, (2, 4, 11))  # in several columns
    return {
        "dates": (dataset, True, [((46023 + d,), values[k]) for k, d in enumerate((0, 31, 59, 90))]),
        "texts": (
            dataset,
            {"temperature": sa.View(rows="month", columns=2, colors="slice")},
            [((name,), values[:, k]) for k, name in enumerate(("Basel", "Bern", "007"))],
        ),
        "objects": (  # as pandas hands over text
            dataset.assign_coords(place=np.array(["Basel", "Bern", "Genf"], object)),
            {"temperature": sa.View(rows="month", columns=2)},
            [((name,), values[:, k]) for k, name in enumerate(("Basel", "Bern", "Genf"))],
        ),
        "column-major": ({"t/1": np.asfortranarray(values)}, True, [((k,), values[k]) for k in range(4)]),
        "strides": ({"A1": strided}, True, [((k,), strided.to_numpy()[k]) for k in range(3)]),
        "six": ({"six": six}, True, [((2, 1, 0, 1), six[2, 1, 0, 1]), ((0, 0, 1, 0), six[0, 0, 1, 0])]),
        "two": (
            {"two": np.array([[True, False], [False, False], [True, True]])},
            True,
            [((), [[1, 0], [0, 0], [1, 1]])],
        ),
        "text": ({"text": text}, True, [((), text)]),
        "when": ({"when": when}, True, [((), when)]),
        "window": (
            {"large": large},
            True,
            [((1, "array", 3, 3, 25, 2), large[1, 3::2, 25::2]), ((0, "slice", 69, 69, 49, 1), large[0, 69:, 49:])],
        ),
        "parts": ({"p": whole, "u": np.arange(3)}, ["p"], [((k,), whole[k]) for k in range(2)]),
    }


def write_cases(folder: Path, *, together: bool = False) -> dict[str, tuple[Path, Choices]]:
    """Workbooks with a view, or one with all of them, and what the view has to show for some choices."""
    written = {}
    for name, (arrays, views, choices) in list_cases().items():
        path = folder / f"{'all' if together else name}.xlsx"
        with pytest.MonkeyPatch.context() as patch:
            if name == "window":
                set_limits(patch, view_formulas=3000)
            if name == "parts":
                set_limits(patch, worksheet_rows=40)
            sa.write(path, arrays, views=views, **({"sheet": name, "mode": "a"} if together else {}))
        assert name == "strides" or together or not list(sa.check(path))
        written[name] = (path, [(choice, np.asarray(wanted)) for choice, wanted in choices])
    return written


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Choices]]:
    """Workbooks with a view each, which no test changes."""
    return write_cases(tmp_path_factory.mktemp("cases"))


def is_grid(seen: list[list[Any]], wanted: np.ndarray[Any, Any]) -> bool:
    """Whether a grid shows the elements of an array; a window may go on with blanks."""
    for row, elements in zip(seen, wanted.tolist(), strict=False):
        for cell, element in zip(row, elements, strict=False):
            if isinstance(element, str) or element is None or hasattr(element, "year"):
                cell = str(cell or "").partition(" ")[0] if element is None or hasattr(element, "year") else cell or ""
                element = "NaT" if element is None else str(element)
            elif element != element:
                element = "NaN"
            if cell != element and not (isinstance(cell, (int, float)) and cell == pytest.approx(element, rel=1e-14)):
                return False
    rest = [cell for row in seen[len(wanted) :] for cell in row]
    rest += [cell for row in seen for cell in row[wanted.shape[1] :]]
    return set(rest) <= {None, ""}


def test_each_choice_shows_its_slice_in_libreoffice(cases: dict[str, Any], tmp_path: Path) -> None:
    variants, wanted = [], []
    for name, (path, choices) in cases.items():
        some = choices if STRIDE == 1 else [choices[0], *choices[1:][-1:]]
        for place, (choice, elements) in enumerate(some):
            variants.append(choose(path, tmp_path / f"{name}_{place}.xlsx", *choice))
            wanted.append(elements)
    for path, elements in zip(resave_all(variants, "xlsx", tmp_path / "saved"), wanted, strict=True):
        assert is_grid(look_at(path).grid, elements), path.stem


def test_a_wrong_choice_shows_no_other_slice(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, {"t": np.arange(24.0).reshape(4, 2, 3)}, views=True)
    variants = [choose(path, tmp_path / f"{place}.xlsx", value) for place, value in enumerate((-1, 4, 0.5, "x", 3))]
    *wrong, right = resave_all(variants, "xlsx", tmp_path / "saved")
    for variant in wrong:
        assert {type(cell) for row in look_at(variant).grid for cell in row} == {str}  # #N/A, #VALUE!
    assert look_at(right).grid == [[18, 19, 20], [21, 22, 23]]


def title_of_chart(path: Path) -> tuple[str, str]:
    """The chart of the first view, and the cell that names its line."""
    with zipfile.ZipFile(path) as package:
        chart = package.read("xl/charts/chart1.xml").decode()
    cell = re.search(r"<c:ser>.*?<c:tx><c:strRef><c:f>'[^']+'!([^<]+)</c:f>", chart, re.DOTALL)
    assert cell is not None
    assert '<c:legendPos val="t"/>' in chart
    return chart, cell[1].replace("$", "")


HOURS = np.array(["2026-01-01T09:05", "2026-11-12T23:00"], "M8[m]")


@pytest.mark.parametrize(
    ("dims", "labels", "choices", "titles"),
    [
        (["city"], {"city": ["Zürich", 'a "b"']}, ('a "b"',), ["t (degC) at Zürich", 't (degC) at a "b"']),
        (["lat"], {"lat": [47.5, -8.25]}, (-8.25,), ["t (degC) at lat 47.5", "t (degC) at lat -8.25"]),
        (["n"], {}, (1,), ["t (degC) at n 0", "t (degC) at n 1"]),
        (["when"], {"when": HOURS}, (1,), ["t (degC) at 2026-01-01 09:05", "t (degC) at 2026-11-12 23:00"]),
        (["code"], {"code": ["007", "007"]}, (1,), ["t (degC) at 007", "t (degC) at 007"]),  # alike: indices are chosen
        (
            ["day", "level", "city"],
            {"day": np.array(["2026-01-31", "2026-10-09"], "M8[D]"), "level": [500, 850], "city": ["Bern", "Ulm"]},
            (46304, 850, "Ulm"),
            ["t (degC) at Bern, 2026-01-31, level 500", "t (degC) at Ulm, 2026-10-09, level 850"],
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_chart_says_what_is_chosen(
    dims: list[str], labels: dict[str, Any], choices: tuple[Any, ...], titles: list[str], tmp_path: Path
) -> None:
    values = RNG.normal(size=(*[2] * len(dims), 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # xarray of what it makes of days
        array = xr.DataArray(values, labels, [*dims, "hour"], "t", {"units": "degC"})
    path = tmp_path / "t.xlsx"
    sa.write(path, array, views={"t": sa.View(rows=dims[-1], columns="hour")})
    chart, address = title_of_chart(path)
    assert f"<c:v>{titles[0]}</c:v>" in chart.replace("&quot;", '"')
    rows = [*choices[:-1], "array", choices[-1]]
    computed = resave_all([choose(path, tmp_path / "b.xlsx", *rows)], "xlsx", tmp_path / "saved")
    shown = [openpyxl.load_workbook(file, data_only=True).worksheets[0][address].value for file in (path, *computed)]
    assert shown == titles


def test_an_edit_of_the_column_shows_in_the_grid(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, {"t": np.arange(6.0).reshape(2, 3)}, views=True)
    with edited_sheet(path) as sheet:
        sheet.cell(sheet.max_row, 1).value = 50.25
    assert sa.read(path)["t"].tolist() == [[0, 1, 2], [3, 4, 50.25]]
    assert look_at(resave(path, "xlsx", tmp_path / "saved")).grid == [[0, 1, 2], [3, 4, 50.25]]


# As written ----------------------------------------------------------------------------------------------------


def test_the_values_of_the_first_slice_are_there_without_computing(cases: dict[str, Any]) -> None:
    for name, (path, choices) in cases.items():
        seen = look_at(path)
        first = {"six": None, "window": None}.get(name, choices[0][1])
        assert first is None or is_grid(seen.grid, first), name
    seen = look_at(cases["texts"][0])
    assert seen.across == [0.5, 1, 2, 4, 10]
    assert [str(day)[:10] for day in seen.down] == ["2026-01-01", "2026-02-01", "2026-03-01", "2026-04-01"]
    assert {key: str(value)[:10] for key, value in seen.choosers.items()} == {
        "place": "Basel",
        "colours over": "slice",
        "chart of month": "2026-01-01",
    }
    book = openpyxl.load_workbook(cases["texts"][0])
    view = book["temperature view"]
    assert book.sheetnames == ["temperature view", "arrays", "arrays guard"]
    assert view["A1"].value == "temperature (degC)"
    rules = {str(rule.sqref): rule.formula1 for rule in view.data_validations.dataValidation}
    assert rules == {"B2": "place", "B3": '"array,slice"', "B4": "$A$17:$A$20"}
    assert view.freeze_panes == "B17"
    assert len(view._charts) == 1


NAMES = ["a/b", "x" * 40, "'q'", "T view", "History", "_x0041_", "ndarray", "a\nb", "😀" * 20]
NAMES += [f"{name}2" for name in NAMES]


def test_a_workbook_with_views_of_any_name_and_a_guard_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "all.xlsx"
    sa.write(path, make_dataset(), views=True, guard=True)
    written = write_cases(tmp_path, together=True)
    sa.write(path, {name: np.eye(2) for name in NAMES}, views=True, guard=True, mode="a", sheet="t view")
    titles = openpyxl.load_workbook(path).sheetnames
    assert (
        len(titles) == len(set(map(str.casefold, titles))) == 3 + 3 * len(written) + len(NAMES) + 2
    )  # each has a guard
    assert titles[0] == "temperature view"
    assert not schema_errors(path)
    for sheet, names in (("arrays", ["temperature", "month", "place", "height"]), ("t view", NAMES)):
        assert list(sa.scan(path, sheet=sheet)) == names
        assert not list(sa.check(path, sheet=sheet))


def test_a_blank_label_is_looked_up_as_a_blank(tmp_path: Path) -> None:
    dataset = xr.Dataset({"t": (("x", "y"), np.eye(2))}, {"x": ["", "b"]})
    sa.write(tmp_path / "t.xlsx", dataset, views=True)
    assert look_at(resave(tmp_path / "t.xlsx", "xlsx", tmp_path / "saved")).down[1:] == ["b"]
    view = openpyxl.load_workbook(tmp_path / "t.xlsx").worksheets[0]
    assert view["A17"].value == '=INDEX(x,1+$D17)&""'


def test_labels_that_would_not_come_back_from_a_choice_are_indices(tmp_path: Path) -> None:
    sets: list[tuple[Any, bool]] = [
        (["a", "b", "c"], True),
        (["a", "A", "c"], False),  # MATCH tells no case
        (["a*", "b", "c"], False),
        (["", "b", "c"], False),
        (["x" * 255, "b", "c"], True),
        (["x" * 256, "b", "c"], False),
        ([1, 2, 2], False),
        ([0.1, 0.2, 0.3], True),
        ([1 / 3, 0.2, 0.3], False),
        ([np.nan, 0.2, 0.3], False),
        ([10**10 - 1, 1, 2], False),
        ([10**9 - 1, 1, 2], True),
        (np.array(["2026-01-01T03", "2026-01-02", "2026-01-03"], "M8[h]"), True),
        (np.array(["2026-01-01T01", "2026-01-02", "2026-01-03"], "M8[h]"), False),
    ]
    arrays = {
        f"t{place}": ((f"labels_{place}", "y", "z"), np.arange(12.0).reshape(3, 2, 2)) for place in range(len(sets))
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # xarray's, of dates
        dataset = xr.Dataset(arrays, {f"labels_{place}": labels for place, (labels, _) in enumerate(sets)})
        sa.write(tmp_path / "t.xlsx", dataset, views=list(arrays))
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    for place, (labels, by_label) in enumerate(sets):
        view = book[f"t{place} view"]
        rule = view.data_validations.dataValidation[0].formula1
        assert rule == (f"labels_{place}" if by_label else '"0,1,2"'), labels
        assert bool(view["C2"].value) == (not by_label)


# Limits --------------------------------------------------------------------------------------------------------


def formulas_in(path: Path) -> int:
    with zipfile.ZipFile(path) as book:
        return book.read("xl/worksheets/sheet1.xml").count(b"<f>")


def test_the_limit_of_formulas_is_nearly_met(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, view_formulas=800, view_window=10)
    counts = []
    for height in range(30, 42):
        sa.write(tmp_path / "t.xlsx", {"t": np.zeros((height, 20))}, views=True)
        counts.append(formulas_in(tmp_path / "t.xlsx"))
    assert 800 - 2 * 22 - 20 < max(counts) <= 800
    assert counts[: counts.index(max(counts)) + 1] == sorted(counts)[-1 - counts.index(max(counts)) :]  # then a window


def test_what_no_view_can_show_is_refused_or_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, arrays = tmp_path / "t.xlsx", {"t": np.zeros((2, 3)), "line": np.zeros(3), "empty": np.zeros((0, 3))}
    for views, error in [
        (["line"], ValueError),
        (["empty"], ValueError),
        (["none"], sa.NotFoundError),
        ({"t": sa.View(rows="x")}, ValueError),
        ({"t": sa.View(rows=2)}, ValueError),
        ({"t": sa.View(rows=0, columns=-2)}, ValueError),
        (7, TypeError),
    ]:
        with pytest.raises(error):
            sa.write(path, arrays, views=views)
        assert not path.exists()
    with pytest.raises(ValueError, match="colors"):
        sa.View(colors="row")
    sa.write(path, arrays, views=True)
    assert openpyxl.load_workbook(path).sheetnames == ["t view", "arrays", "arrays guard"]
    with pytest.warns(sa.SheetArrayWarning, match="words of headers"):
        sa.write(path, {"t": np.array([["version", "1.0.0"], ["ndarray", "x"]])}, views=True)

    set_limits(monkeypatch, worksheet_rows=40, worksheet_columns=2)
    with pytest.warns(sa.SheetArrayWarning, match="continues in other sheets"):
        sa.write(path, {"t": np.zeros((5, 10))}, views=True)
    assert openpyxl.load_workbook(path).sheetnames == ["arrays", "arrays (2)", "arrays guard"]


def test_views_of_all_arrays_are_no_more_than_people_look_through(tmp_path: Path) -> None:
    arrays = {f"t{place}": np.zeros((2, 2)) for place in range(101)}
    with pytest.warns(sa.SheetArrayWarning, match="the first 100"):
        sa.write(tmp_path / "t.xlsx", arrays, views=True)
    with zipfile.ZipFile(tmp_path / "t.xlsx") as book:
        assert sum(name.startswith("xl/worksheets/sheet") for name in book.namelist()) == 102  # and the guard
    assert len(sa.scan(tmp_path / "t.xlsx")) == 101


# Never taken for an array --------------------------------------------------------------------------------------


def write_hostile(path: Path) -> Path:
    """A view whose labels are the words of a header."""
    words = [
        *("version", "1.0.0", "ndarray", "shape", "strides", "offset", "order", "dtype", "length", "capacity"),
        "data",
    ]
    dataset = xr.Dataset({"version": (("ndarray", "shape"), np.eye(11))}, {"ndarray": words, "shape": words})
    sa.write(path, dataset, views=True)
    return path


@pytest.fixture(scope="module")
def with_views(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Workbooks with a view, which no test changes; the first is hostile."""
    folder = tmp_path_factory.mktemp("views")
    sa.write(folder / "plain.xlsx", make_dataset(), views=True)
    return [write_hostile(folder / "hostile.xlsx"), folder / "plain.xlsx"]


@pytest.mark.parametrize("saved_by", ["nobody", "openpyxl", "libreoffice", "ods", "lost record"])
def test_a_view_is_never_taken_for_an_array(with_views: list[Path], tmp_path: Path, saved_by: str) -> None:
    for written in with_views:
        path, names = shutil.copy(written, tmp_path / written.name), set(sa.read(written))
        if saved_by == "openpyxl":
            openpyxl.load_workbook(path).save(path)
        elif saved_by in ("libreoffice", "ods"):
            path = resave(path, "xlsx" if saved_by == "libreoffice" else "ods", tmp_path / "saved")
        elif saved_by == "lost record":
            lose_record(path)
        assert set(sa.read(path)) == set(sa.scan(path)) == names
        assert {finding.severity for finding in sa.check(path)} <= {"warning"}
        if saved_by != "lost record":
            with pytest.raises(sa.FormatError, match="arrays"):
                sa.read_columns(path)


def test_a_view_as_written_is_not_looked_at_and_a_changed_one_is(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    sa.write(path, {"t": np.eye(3)}, views=True, guard=False)
    with sheets_looked_into() as noted:
        for look in (sa.scan, sa.read, lambda path: list(sa.check(path))):
            look(path)
    assert set(noted) == {"sheet2.xml"}
    with edited_sheet(path, "t view") as view:
        for row, cell in enumerate(sa.to_linear(np.arange(3.0)), 1):
            view.cell(row, 30).value = cell
    assert set(sa.scan(path)) == {"t", "AD"}  # an array that somebody puts there is not absent in silence


# Into workbooks that are there ---------------------------------------------------------------------------------


def test_a_sheet_that_is_added_or_replaced_brings_its_view(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as made:
        made.add_worksheet("Sheet").write("A1", "mine")
    sa.write(path, make_dataset(), mode="a", views=True)
    sa.write(path, {"temperature": np.eye(2), "u": np.eye(4)}, mode="a", sheet="more", views=["temperature"])
    sa.write(path, {"v": np.eye(3)}, mode="a", sheet="other", views=True)
    titles = ["Sheet", "temperature view", "arrays", "arrays guard", "temperature view (2)", "more", "more guard"]
    titles += ["v view", "other", "other guard"]
    assert openpyxl.load_workbook(path).sheetnames == titles
    sa.write(path, {"temperature": np.full((2, 2), 7)}, mode="a", views=True, sheet="more", if_sheet_exists="replace")
    assert openpyxl.load_workbook(path).sheetnames == titles
    assert look_at(path, "temperature view (2)").grid == [[7, 7], [7, 7]]
    sa.write(path, {"line": np.arange(3)}, mode="a", sheet="other", if_sheet_exists="replace")
    assert openpyxl.load_workbook(path)["v view"]["A1"].value is None  # as continued sheets: emptied
    assert set(sa.scan(path, sheet="other")) == {"line"}
    assert not schema_errors(path)
    with zipfile.ZipFile(path) as package:
        assert sum("chart" in name for name in package.namelist()) == 2


def test_no_cell_of_a_narrow_view_is_written_twice(tmp_path: Path) -> None:
    array, equal = np.arange(6.0).reshape(2, 3, 1), np.array([1.0, 1.0])  # labels that no cell can name are shown in C
    dataset = xr.Dataset({"t": (("a", "b", "c"), array)}, {"a": equal})
    sa.write_excel(tmp_path / "a.xlsx", dataset, views=True)
    text = zipfile.ZipFile(tmp_path / "a.xlsx").read("xl/worksheets/sheet1.xml").decode()
    addresses = re.findall(r'<c r="([A-Z]+[0-9]+)"', text)
    assert len(addresses) == len(set(addresses)) > 20
    assert openpyxl.load_workbook(tmp_path / "a.xlsx").worksheets[0].column_dimensions["D"].hidden


@pytest.mark.parametrize("dims", [("time", "lat", "lon"), ("lat", "lon", "time"), ("x", "y", "time"), ("lon", "lat")])
def test_a_map_is_shown_first_with_latitude_down(dims: tuple[str, ...], tmp_path: Path) -> None:
    sizes = {"time": 2, "lat": 3, "lon": 4, "x": 4, "y": 3}
    array = xr.DataArray(RNG.normal(size=[sizes[dim] for dim in dims]), dims=dims, name="t")
    if "x" in dims:
        labels = {"x": ("x", np.arange(4.0), {"units": "degrees_east"})}
        array = array.assign_coords(labels | {"y": ("y", np.arange(3.0), {"standard_name": "latitude"})})
    path = tmp_path / "map.xlsx"
    sa.write(path, array, views=True)
    down, across = ("y", "x") if "x" in dims else ("lat", "lon")
    assert f"{down} \\ {across}" in [cell.value for cell in openpyxl.load_workbook(path).worksheets[0]["A"]]
    first = array.isel(time=0) if "time" in dims else array
    north_up = slice(None, None, -1 if "x" in dims else None)  # where labels say which end that is
    assert is_grid(look_at(path).grid, first.transpose(down, across).to_numpy()[north_up])
    sa.write(path, array, views={"t": sa.View(rows=dims[0], columns=dims[-1])})
    assert f"{dims[0]} \\ {dims[-1]}" in [cell.value for cell in openpyxl.load_workbook(path).worksheets[0]["A"]]


@pytest.mark.parametrize("width", [1, 2, 7, 8, 16, 17, 300])
def test_the_chart_is_printed_whole(width: int, tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    sa.write(path, {"t": RNG.normal(size=(3, width))}, views=True)
    sheet = openpyxl.load_workbook(path).worksheets[0]
    _, _, last, bottom = openpyxl.utils.range_boundaries(sheet.print_area.partition("!")[2])
    (chart,) = sheet._charts
    assert chart.anchor.to.col < last
    assert chart.anchor.to.row < bottom
    assert chart.anchor.to.col - chart.anchor._from.col >= 2
