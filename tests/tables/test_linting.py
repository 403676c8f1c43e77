"""`check` of an ordinary table: what is odd in its cells, with the place of each; nothing for a clean table."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest
from command_line import run_command
from saved_tables import save_ods

import sheetarray as sa

Row = tuple[str | None, str | None, tuple[int, ...] | None, str]


def list_findings(source: Any, **options: Any) -> list[Row]:
    """Return location, array, index and message of each finding."""
    if isinstance(source, str) and not source.startswith("gsheets://"):
        source, options = io.BytesIO(source.encode()), {"format": "csv", **options}
    findings = list(sa.check(source, **options))
    assert all(finding.severity == "warning" for finding in findings)
    return [(finding.location, finding.array, finding.index, finding.message) for finding in findings]


def make_rows(count: int, **cells: str) -> list[list[str]]:
    """Return a clean table of text cells with some of its cells typed over, by their addresses."""
    rows = [["id", "price", "day", "sold", "code"]]
    rows += [
        [str(n), f"{n * 1.25:.2f}", f"2024-{n % 12 + 1:02}-{n % 28 + 1:02}", ("true", "false")[n % 2], f"K-{n:04}"]
        for n in range(1, count + 1)
    ]
    for address, text in cells.items():
        rows[int(address[1:]) - 1]["ABCDE".index(address[0])] = text
    return rows


def to_csv(rows: list[list[str]], delimiter: str = ",") -> str:
    """Return rows as text, quoted where that is needed."""
    return "".join(delimiter.join(f'"{c}"' if delimiter in c else c for c in row) + "\n" for row in rows)


def value_of(text: str) -> Any:
    """Return what a program would put into a cell for a text."""
    for kind in (int, float, pd.Timestamp if text[:2] == "20" else int):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)


def to_workbook(rows: list[list[str]]) -> openpyxl.Workbook:
    """Return a workbook with the rows, whose numbers are numbers."""
    book = openpyxl.Workbook()
    book.active.title = "sales"
    for row in rows:
        book.active.append([value_of(text) for text in row])
    return book


ODD: list[tuple[dict[str, str], list[Row]]] = [
    (
        {"B14": "12,5", "B20": "n/a", "B31": "?"},
        [("B14", "price", (12,), "3 of 60 cells of \"price\" are text: B14 '12,5', B20 'n/a', B31 '?'")],
    ),
    ({"B5": "#DIV/0!"}, [("B5", "price", (3,), "1 of 60 cells of \"price\" is an error: B5 '#DIV/0!'")]),
    ({"C9": "soon"}, [("C9", "day", (7,), "1 of 60 cells of \"day\" is text: C9 'soon'")]),
    ({"D9": "yes"}, [("D9", "sold", (7,), "1 of 60 cells of \"sold\" is text: D9 'yes'")]),
    ({"A9": "3"}, [("A9", "id", (7,), '3 of "id" is in A4, too: is a row there twice?')]),
    ({"E9": "K-0003"}, [("E9", "code", (7,), "'K-0003' of \"code\" is in E4, too: is a row there twice?")]),
    (
        {"E9": "1.2E+11"},
        [
            (
                *("E9", "code", (7,)),
                "1 of 60 cells of \"code\" has an exponent: digits and leading zeros are lost: E9 '1.2E+11'",
            )
        ],
    ),
    ({"D1": ""}, [("D1", "D", None, "column D has no name, and is read as 'D'")]),
    ({"C1": "id"}, [("C1", "id_2", None, "'id' is the name of another column, too, so this one is read as 'id_2'")]),
]


@pytest.mark.parametrize(
    ("cells", "expected"), ODD, ids=lambda value: "-".join(value) if isinstance(value, dict) else ""
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_finding_names_the_cells_that_differ_from_their_column(
    cells: dict[str, str], expected: list[Row], delimiter: str
) -> None:
    assert list_findings(to_csv(make_rows(60, **cells), delimiter)) == expected


def in_file(tmp_path: Path, rows: list[list[str]]) -> Any:
    to_workbook(rows).save(tmp_path / "t.xlsx")
    return tmp_path / "t.xlsx"


@pytest.mark.parametrize("give", [in_file, lambda _, rows: to_workbook(rows)], ids=["xlsx", "openpyxl"])
@pytest.mark.parametrize(
    ("cells", "expected"), ODD, ids=lambda value: "-".join(value) if isinstance(value, dict) else ""
)
def test_a_workbook_has_the_same_findings(
    give: Callable[[Path, list[list[str]]], Any], cells: dict[str, str], expected: list[Row], tmp_path: Path
) -> None:
    found = list_findings(give(tmp_path, make_rows(60, **cells)))
    if cells == {"B5": "#DIV/0!"}:  # an error cell is no text there
        expected = [("B5", "price", (3,), "an error cell, #DIV/0!, read as a missing value")]
    if "E9" in cells and expected[0][-1].startswith("1 of"):  # a program has made a number of it
        expected = [("E9", "code", (7,), "1 of 60 cells of \"code\" is a number among codes: E9 '120000000000'")]
    assert found == [(f"sales!{cell}", *rest) for cell, *rest in expected]


def to_cells(rows: list[list[str]], day: Callable[[Any], Any]) -> list[list[Any]]:
    """Return the rows with cells of their kinds; `day` makes one of a moment."""
    cells = [[value_of(text) for text in row] for row in rows]
    return [
        [day(cell) if isinstance(cell, pd.Timestamp) else "" if cell is None else cell for cell in row] for row in cells
    ]


def save_twice(rows: list[list[str]], folder: Path, server: Any) -> list[tuple[Any, dict[str, Any]]]:
    """Save rows as .ods and to a worksheet of Google, and return how each is read."""
    save_ods(to_cells(rows, lambda day: day.to_datetime64().astype("M8[D]")), folder / "t.ods")
    client, key = server.client(), server.create()
    client.open_by_key(key).sheet1.update(to_cells(rows, lambda day: str(day.date())))
    return [(folder / "t.ods", {}), (f"gsheets://{key}", {"client": client})]


@pytest.mark.parametrize(
    ("cells", "expected"), ODD, ids=lambda value: "-".join(value) if isinstance(value, dict) else ""
)
def test_ods_and_google_sheets_have_the_same_findings(
    cells: dict[str, str], expected: list[Row], tmp_path: Path, sheets_server: Any
) -> None:
    if "E9" in cells and expected[0][-1].startswith("1 of"):
        expected = [("E9", "code", (7,), "1 of 60 cells of \"code\" is a number among codes: E9 '120000000000'")]
    for source, options in save_twice(make_rows(60, **cells), tmp_path, sheets_server):
        found = [(str(cell).split("!")[-1], *rest) for cell, *rest in list_findings(source, **options)]
        if cells == {"B5": "#DIV/0!"}:  # which may be a text there
            assert [row[:3] for row in found] == [row[:3] for row in expected]
        else:
            assert found == expected


def test_a_number_typed_as_text_among_numbers_is_told_in_a_workbook(tmp_path: Path) -> None:
    book = to_workbook(make_rows(20))
    book.active["B7"] = "12"
    book.save(tmp_path / "t.xlsx")
    message = "1 of 20 cells of \"price\" is a number typed as text: B7 '12'"
    assert list_findings(tmp_path / "t.xlsx") == [("sales!B7", "price", (5,), message)]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            ["01/02/2024", "13/02/2024", "03/04/2024", "02/28/2024"],
            "are in two orders: A3 '13/02/2024' has the day first",
        ),
        (["2024-02-01", "2024-02-30", "2024-03-01", "2024-03-02"], "is a date that no calendar has: A3 '2024-02-30'"),
        (["00123", "00456", "789", "00001", "00321"], "has fewer digits than the others: are leading zeros lost?: A4"),
        (["01/02/2024", "13/02/2024", "03/04/2024", "28/02/2024"], None),
        (["0123", "456", "12", "0001", "0321"], None),  # many lengths: no zeros are lost
        (["Bern", "5", "Ulm", "Rom", "Oslo"], None),
        (["5", "2", '"2,5,8"', "6", "7"], None),  # several codes in one cell
        (["5", "2", '"2,5"', "6.5", "7"], "others a comma"),
        (["x", "1", "2", "y"], None),
        (["1", "2", "x"], None),  # three cells tell no kind
        (["1", "2", "3", "x"], "1 of 4 cells"),
        (["1", "2", "x", "y", "3", "4", "5", "6"], None),  # these are no few
        (["1", "2", "NA", "-", "3", "4"], "2 of 6 cells"),  # words for what is missing may be more
    ],
    ids=lambda value: ",".join(value) if isinstance(value, list) else "",
)
def test_a_column(cells: list[str], said: str | None) -> None:
    text = "a,v\n" + "".join(f"{cell},{row}.5\n" for row, cell in enumerate(cells))
    messages = [row[-1] for row in list_findings(text)]
    assert messages == [] if said is None else len(messages) == 1 and said in messages[0]


@pytest.mark.parametrize(("strangers", "is_told"), [(9, True), (10, True), (11, False)])
def test_one_cell_in_ten_may_be_of_another_kind(strangers: int, is_told: bool) -> None:
    cells = {f"B{row + 2}": f"word {row}" for row in range(strangers)}
    assert bool(list_findings(to_csv(make_rows(100, **cells)))) == is_told


@pytest.mark.parametrize(("again", "is_told"), [(1, True), (2, True), (3, False)])
def test_one_key_in_fifty_may_come_again(again: int, is_told: bool) -> None:
    cells = {f"A{row + 50}": str(row + 1) for row in range(again)}
    assert bool(list_findings(to_csv(make_rows(100, **cells)))) == is_told


def test_rows_that_are_told_already_are_no_finding_of_each_column() -> None:
    below = to_csv([*make_rows(20), ["Total", "", "", "", ""]])
    assert [row[0] for row in list_findings(below)] == ["A22"]
    again = to_csv([*make_rows(20), *make_rows(20)])
    assert [row[0] for row in list_findings(again)] == ["A22"]


@pytest.mark.parametrize("columns", [999, 1000, 1001])
def test_findings_end_at_a_thousand(columns: int) -> None:
    lines = [",".join("x" if row == 5 else str(row * n) for n in range(columns)) for row in range(12)]
    text = ",".join(f"c{n}" for n in range(columns)) + "\n" + "\n".join(lines) + "\n"
    found = list(sa.check(io.BytesIO(text.encode()), format="csv"))
    assert len(found) == columns
    assert ("at least 1,000" in found[-1].message) == (columns > 1000)


def test_the_command_ends_with_1_if_there_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text(to_csv(make_rows(20, B5="n/a")))
    (tmp_path / "clean.csv").write_text(to_csv(make_rows(20)))
    odd = run_command("check", "--json", str(tmp_path / "odd.csv"))
    assert odd.exit_code == 1
    assert [(f["location"], f["array"], f["index"]) for f in json.loads(odd.stdout)[0]["findings"]] == [
        ("B5", "price", [3])
    ]
    assert run_command("check", str(tmp_path / "clean.csv")).exit_code == 0


def test_read_refuses_a_table_as_before() -> None:
    with pytest.raises(sa.FormatError, match="read_columns"):
        sa.read(io.BytesIO(to_csv(make_rows(5)).encode()), format="csv")


# Clean tables of many kinds ------------------------------------------------------------------------------------------

CLEAN = {
    "kinds": make_rows(60),
    "blanks": make_rows(60, B4="", C8="", D9="", E11=""),
    "words": [
        ["city", "land"],
        *([c, d] for c, d in zip(["Bern", "Ulm", "Rom", "Oslo", "Wien"] * 4, "CDINA" * 4, strict=True)),
    ],
    "titles": [
        ["title", "n"],
        *([t, str(i)] for i, t in enumerate(["300", "9", "Alien", "Heat", "Brazil", "Vertigo"])),
    ],
    "phones": [["phone"], *([f"+4930{n:07}"] for n in range(20))],
    "codes": [["zip", "n"], *([f"{n * 977 % 99999:05}", str(n)] for n in range(50))],
    "money": [["item", "cost"], *([f"i{n}", f"${n}.50"] for n in range(20))],
    "years": [["year", "n"], *([str(1990 + n), str(n * n)] for n in range(20))],
    "measured twice": [["day", "t"], *([f"2024-01-{n // 2 + 1:02}", f"{n}.5"] for n in range(40))],
    "chances": [["x", "y"], *([str(n * n % 101), str(n * 7 % 13)] for n in range(100))],
    "times": [["at", "n"], *([f"{n % 24:02}:{n % 60:02}", str(n)] for n in range(30))],
    "one row": [["a", "b"], ["1", "x"]],
}


@pytest.mark.parametrize("kind", CLEAN)
@pytest.mark.parametrize("container", ["csv", "tsv", "xlsx"])
def test_a_clean_table_has_no_finding(kind: str, container: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{container}"
    if container == "xlsx":
        to_workbook(CLEAN[kind]).save(path)
    else:
        path.write_text(to_csv(CLEAN[kind], "\t" if container == "tsv" else ","))
    assert list_findings(path) == []


@pytest.mark.parametrize("kind", CLEAN)
def test_clean_tables_of_ods_and_google_sheets_have_none(kind: str, tmp_path: Path, sheets_server: Any) -> None:
    for source, options in save_twice(CLEAN[kind], tmp_path, sheets_server):
        assert list_findings(source, **options) == []


def test_the_tables_of_vega_datasets_are_clean(tmp_path: Path) -> None:
    package = pytest.importorskip("vega_datasets")
    folder = Path(package.__file__).parent / "_data"
    paths = sorted([*folder.glob("*.csv"), *folder.glob("*.tsv")])
    assert len(paths) > 5
    assert [(path.name, found) for path in paths if (found := list_findings(path))] == []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frames = {name: getattr(package.local_data, name)() for name in ("cars", "barley", "ohlc", "burtin")}
    for name, frame in frames.items():
        frame.to_excel(tmp_path / f"{name}.xlsx", index=False)
        assert list_findings(tmp_path / f"{name}.xlsx") == [], name


def test_what_write_table_and_others_write_is_clean(tmp_path: Path) -> None:
    columns = {"n": np.arange(30), "x": np.arange(30) / 7, "s": np.array([f"w{n}" for n in range(30)])}
    sa.write_table(tmp_path / "ours.csv", columns)
    pl.DataFrame(columns).write_csv(tmp_path / "polars.csv")
    pd.DataFrame(columns).to_csv(tmp_path / "pandas.csv")
    for path in tmp_path.iterdir():
        assert list_findings(path) == [], path.name


@pytest.mark.parametrize("count", [4095, 4096, 4097, 9000])
@pytest.mark.parametrize(
    ("usual", "odd"),
    [("2024-05-01", "soon"), ("12.5", "n.n."), ("true", "perhaps"), ("00123", "1.2E+05"), ("Zürich, Bern", None)],
)
def test_an_odd_cell_is_told_in_columns_of_any_length(usual: str, odd: str | None, count: int, tmp_path: Path) -> None:
    cells = [usual] * count
    if odd is not None:
        cells[7] = odd
    path = tmp_path / "long.csv"
    path.write_text("day;place\n" + "".join(f"{cell};x\n" for cell in cells))
    findings = list(sa.check(path))
    assert [finding.location for finding in findings] == ([] if odd is None else ["A9"])


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a,b\n1,2\n3,4\n\nSource: x\n", {"skip_footer": 2}),
        ("Monthly report\n\na,b\n1,2\n3,4\n", {"skip_rows": 2}),
        ("year,2019,2020\ncity,,\nRome,1,2\nOslo,3,4\n", {"skip_rows": [1]}),
        ("a,b\n1,2\nn/a,4\n" + "5,6\n" * 20, {"na_values": ["n/a"]}),
        ("a;b\n1.234;x\n5.678;y\n", {"decimal": "."}),
    ],
)
def test_check_and_scan_take_the_option_that_a_hint_names(text: str, options: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert len(list(sa.check(path))) == 1
    assert list(sa.check(path, **options)) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        columns = sa.read_columns(path, **options)
    infos = sa.scan(path, **options) if "decimal" not in options else sa.scan(path)
    assert [info.shape for info in infos.values()] == [column.shape for column in columns.values()]


@pytest.mark.parametrize("verb", [sa.check, sa.scan])
def test_options_of_a_table_are_refused_where_arrays_are(verb: Any, tmp_path: Path) -> None:
    sa.write(tmp_path / "t.csv", {"t": np.arange(3)})
    with pytest.raises(TypeError, match="has no option 'skip_footer'"):
        verb(tmp_path / "t.csv", skip_footer=1)
    (tmp_path / "u.csv").write_text("a,b\n1,2\n")
    with pytest.raises(TypeError, match="has no option 'skip_foter'"):
        verb(tmp_path / "u.csv", skip_foter=1)


def test_the_command_names_the_option_that_it_takes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4\n\nSource: x\n")
    assert "--read skip_footer=1 leaves out what is below" in run_command("check", str(path)).output
    for verb in ("check", "info"):
        assert run_command(verb, str(path), "--read", "skip_footer=1").exit_code == 0


@pytest.mark.parametrize(
    ("right", "column"), [([["x"], [5], [7], [8]], None), ([["x"], [5], [7]], "C"), ([[None], [5], [7]], None)]
)
def test_a_table_beside_another_one_is_told(right: list[list[Any]], column: str | None) -> None:
    book = openpyxl.Workbook()
    for place, row in enumerate([["a"], [1], [2], [3]]):
        book.active.append([*row, None, *(right[place] if place < len(right) else [])])
    findings = [finding for finding in sa.check(book) if "second table" in finding.message]
    assert [f"column {column}" in finding.message for finding in findings] == [True] * (column is not None)
