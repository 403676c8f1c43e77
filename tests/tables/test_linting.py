"""`check` of an ordinary table: what is odd in its cells, with the place of each; nothing for a clean table."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest
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


ODD = [
    *({"B14": "12,5", "B20": "n/a", "B31": "?"}, {"B5": "#DIV/0!"}, {"C9": "soon"}, {"D9": "yes"}, {"A9": "3"}),
    *({"E9": "K-0003"}, {"E9": "1.2E+11"}, {"D1": ""}, {"C1": "id"}),
]


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


@pytest.mark.parametrize("cells", ODD, ids="-".join)
def test_ods_and_google_sheets_have_the_findings_of_a_workbook(
    cells: dict[str, str], tmp_path: Path, sheets_server: Any
) -> None:
    expected = list_findings(to_workbook(make_rows(60, **cells)))
    assert len(expected) == 1
    compared = 3 if cells == {"B5": "#DIV/0!"} else None  # which may be a text there
    for source, options in save_twice(make_rows(60, **cells), tmp_path, sheets_server):
        found, known = (
            [(str(cell).split("!")[-1], *rest)[:compared] for cell, *rest in rows]
            for rows in (list_findings(source, **options), expected)
        )
        assert found == known


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
