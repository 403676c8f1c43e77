"""`check` says of a table whose rows were sorted that they were, in one finding, with a guard and without."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

import sheetarray as sa

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(5)


def make_table(count: int, *, is_sorted: bool = False) -> dict[str, Array]:
    """Return five arrays; `t` rises as written if `is_sorted`, so that people sort by `x`."""
    days = np.datetime64("2026-03-01") + np.arange(count)
    return {
        "t": days if is_sorted else RNG.permutation(days),
        "x": RNG.permutation(np.arange(count) / 8),
        "pairs": RNG.normal(size=(count, 2)).round(6),
        "kind": RNG.integers(0, 4, count),
        "unit": np.full(count, "hPa"),
    }


def save_rows(path: Path, rows: Mapping[str, Array]) -> None:
    """Type elements into the columns of arrays, as somebody who sorts cells does."""
    book = openpyxl.load_workbook(path)
    sheet = book["arrays"]
    for column in range(1, sheet.max_column + 1):
        first = next(row for row in range(1, 40) if sheet.cell(row, column).value == "data") + 1
        array = rows.get(str(sheet.cell(1, column).value))
        values = [] if array is None else array.ravel().tolist()
        for place, value in enumerate(values):
            sheet.cell(first + place, column).value = value
        for row in range(first + len(values), sheet.max_row + 1 if values else 0):
            sheet.cell(row, column).value = None
    book.save(path)


def take(table: Mapping[str, Array], order: Array, *names: str) -> dict[str, Array]:
    return {name: table[name][order] for name in names or table}


@pytest.mark.parametrize("guard", [False, True])
@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize(
    "rising", [["apple", "Bär", "cod", "Dill", "Élan", "fig", ""], [-3.0, 0.5, 1.5, 2.5, 7.0, 9.0, math.nan]]
)
def test_a_sort_is_found_as_programs_sort(tmp_path: Path, guard: bool, step: int, rising: list[Any]) -> None:
    """Blanks and NaN stand last in either direction, and text is sorted without its case."""
    table = make_table(21) | {"who": RNG.permutation(np.array(rising * 3))}
    sa.write(tmp_path / "a.xlsx", table, guard=guard)
    ranks = {value: rank for rank, value in enumerate(rising[:-1][::step])}
    order = np.argsort([ranks.get(value, 99) for value in table["who"].tolist()], kind="stable")
    rows = take(table, order)
    save_rows(tmp_path / "a.xlsx", rows | {"who": np.array(["NaN" if x != x else x for x in rows["who"]], object)})
    (finding,) = sa.check(tmp_path / "a.xlsx")
    assert finding.message == "rows sorted by who (21 rows, 6 arrays)"


@pytest.mark.parametrize("guard", [False, True])
@pytest.mark.parametrize(("count", "is_sorted"), [(2, False), (12, False), (900, True)])
def test_a_sorted_table_is_one_finding(tmp_path: Path, guard: bool, count: int, is_sorted: bool) -> None:
    table = make_table(count, is_sorted=is_sorted)
    table["x"] = np.sort(table["x"])[::-1] if count == 2 else table["x"]
    table["t"] = np.sort(table["t"])[::-1] if count == 2 else table["t"]
    by = "x" if is_sorted else "t"
    sa.write(tmp_path / "a.xlsx", table, guard=guard)
    save_rows(tmp_path / "a.xlsx", take(table, np.argsort(table[by])))
    (finding,) = sa.check(tmp_path / "a.xlsx")
    assert finding.message == f"rows sorted by {by} ({count} rows, 5 arrays)"
    assert (finding.severity, finding.array) == ("error", None)
    assert finding.location is not None
    assert finding.location.startswith("arrays!A")
    sa.accept(tmp_path / "a.xlsx")
    assert not list(sa.check(tmp_path / "a.xlsx"))


@pytest.mark.parametrize("guard", [False, True])
def test_an_edit_besides_is_named_where_it_stands_now(tmp_path: Path, guard: bool) -> None:
    table = make_table(12)
    rows = take(table, np.argsort(table["t"]))
    sa.write(tmp_path / "a.xlsx", table, guard=guard)
    rows["x"][7] = 99.5
    save_rows(tmp_path / "a.xlsx", rows)
    order, edit = sa.check(tmp_path / "a.xlsx")
    assert order.message == "rows sorted by t (12 rows, 5 arrays)"
    assert "x[7]" in edit.message
    assert (edit.array, edit.index) == ("x", (7,))
    assert str(edit.location).startswith("arrays!B")


@pytest.mark.parametrize("guard", [False, True])
@pytest.mark.parametrize("count", [12, 900])
def test_columns_that_were_sorted_one_by_one_are_no_sorted_table(tmp_path: Path, guard: bool, count: int) -> None:
    table = make_table(count)
    sa.write(tmp_path / "a.xlsx", table, guard=guard)
    save_rows(tmp_path / "a.xlsx", {name: np.sort(table[name]) for name in ("t", "x", "kind")})
    findings = list(sa.check(tmp_path / "a.xlsx"))
    assert not [finding for finding in findings if finding.message.startswith("rows sorted")]
    assert {finding.array for finding in findings} == {"t", "x", "kind"}


CHANGES: dict[str, tuple[int, tuple[bool, ...], Any, str]] = {
    "some arrays alone": (
        12,
        (False, True),
        lambda table: take(table, np.argsort(table["t"]), "t", "x", "unit"),
        "rows sorted by t (12 rows, 3 arrays); 'pairs', 'kind' have as many rows, and did not move",
    ),
    "a long table": (
        900,
        (False,),
        lambda table: take(table, np.argsort(table["t"])),
        "rows sorted by t (900 rows, 5 arrays); only a guard can tell whether each row stayed together",
    ),
    "no order": (
        12,
        (False, True),
        lambda table: take(table, np.roll(np.arange(12), 5)),
        "rows in another order (12 rows, 5 arrays)",
    ),
    "one array": (12, (False, True), lambda table: {"t": np.sort(table["t"])}, ""),  # told of as any other
}


@pytest.mark.parametrize("name", CHANGES)
def test_other_orders_are_one_finding_too(tmp_path: Path, name: str) -> None:
    count, guards, change, message = CHANGES[name]
    for guard in guards:
        table = make_table(count)
        sa.write(tmp_path / "a.xlsx", table, guard=guard)
        save_rows(tmp_path / "a.xlsx", change(table))
        (finding,) = sa.check(tmp_path / "a.xlsx")
        assert finding.message == message or (not message and (finding.location, finding.array) == ("t", "t"))


def make_rows(count: int) -> dict[str, Array]:
    """Return a table of five arrays of one element a row, all of which tell rows apart."""
    days = np.datetime64("2026-03-01") + np.arange(count)
    return {
        "t": RNG.permutation(np.arange(count) / 8 + 1),
        "x": RNG.permutation(np.arange(count) / 3 - 2),
        "n": RNG.permutation(np.arange(count) * 7),
        "day": days,
        "s": np.array([f"text {number}" for number in range(count)]),
    }


def sort(rows: dict[str, Array]) -> dict[str, Array]:
    return take(rows, np.argsort(rows["t"]))


def append(rows: dict[str, Array], first: float = 100.0) -> dict[str, Array]:
    more = [first + np.arange(2), [0.25, 0.75], [5, 6], np.array(["2027-01-01", "2027-01-02"], "M8[D]"), ["a", "b"]]
    return {name: np.concatenate([array, new]) for (name, array), new in zip(rows.items(), more, strict=True)}


def delete(rows: dict[str, Array]) -> dict[str, Array]:
    return {name: np.delete(array, 4) for name, array in rows.items()}


def edit(rows: dict[str, Array]) -> dict[str, Array]:
    return rows | {"x": np.where(np.arange(len(rows["x"])) == 6, 99.5, rows["x"])}


def multiply(rows: dict[str, Array]) -> dict[str, Array]:
    return rows | {"x": rows["x"] * 1000}


SORTED = "rows sorted by t (12 rows, 5 arrays)"
APPENDED, DELETED = "2 rows appended, 12 to 13, in 5 arrays", "row 4 deleted in 5 arrays"
FACTOR = "every number was multiplied by 1000"
TWO_EDITS: dict[str, tuple[tuple[Any, ...], tuple[str, ...]]] = {
    "sorted, appended": ((sort, append), (SORTED, APPENDED)),
    "appended, sorted": ((lambda rows: append(rows, 1.01), sort), (SORTED, "rows 1, 10 added in 5 arrays")),
    "sorted, deleted": ((delete, sort), ("rows sorted by t (11 rows, 5 arrays)", DELETED)),
    "sorted, edited": ((sort, edit), (SORTED, "1 element edited (x[6]), the rest exact")),
    "sorted, appended, edited": ((sort, append, edit), (SORTED, "1 element edited (x[6]), the rest exact", APPENDED)),
    "appended, edited": ((append, edit), ("1 element edited (x[6]), the rest exact", APPENDED)),
    "appended, deleted": ((append, delete), ("2 rows added (11, 12), row 4 deleted", "1 row added in 5 arrays")),
    "sorted, multiplied": ((sort, multiply), (SORTED, FACTOR)),
    "appended, multiplied": ((append, multiply), (FACTOR, APPENDED)),
}


@pytest.mark.parametrize("name", TWO_EDITS)
def test_each_of_several_edits_is_one_finding_with_a_guard(tmp_path: Path, name: str) -> None:
    edits, messages = TWO_EDITS[name]
    rows = make_rows(12)
    sa.write(tmp_path / "a.xlsx", rows, guard=True)
    for change in edits:
        rows = change(rows)
    save_rows(tmp_path / "a.xlsx", rows)
    found = [finding.message for finding in sa.check(tmp_path / "a.xlsx")]
    assert len(found) == len(messages), found
    for message, wanted in zip(found, messages, strict=True):
        assert message.startswith(wanted), found
    assert sa.read(tmp_path / "a.xlsx", ["t"], resize=True)["t"].tolist() == rows["t"].tolist()
