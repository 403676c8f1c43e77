"""Labels never vanish in silence: whatever becomes of the cells of `dataset.json`, they come back or something is said.

Every container of cells is written anew from the same cells: one was blanked, cut, typed over, moved or renamed.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import xarray as xr
from examples import examples
from foreign_books import document, table_cell, table_row
from round_trips import grid
from services import ENDPOINT, Book

import sheetarray as sa

NAME = "dataset.json"

Grid = list[list[str]]


def labelled(attributes: int) -> xr.Dataset:
    """A Dataset whose description takes one cell, or several where there are many attributes."""
    return xr.Dataset(
        {"t": (("time", "lat"), np.arange(6.0).reshape(3, 2), {"units": "K"})},
        coords={"time": np.arange(3), "lat": [47.5, 48.0], "label": ("time", ["a", "b", "c"])},
        attrs={f"a{number}": "x" * 900 for number in range(attributes)} | {"title": "a grid"},
    )


DATASETS = [labelled(0), labelled(70)]
GRIDS = [grid(dataset) for dataset in DATASETS]


# Containers --------------------------------------------------------------------------------------------------


def write_text(rows: Grid, folder: Path, suffix: str = "csv") -> Path:
    path = folder / f"t.{suffix}"
    mark = "\t" if suffix == "tsv" else ","
    cells = (mark.join('"' + cell.replace('"', '""') + '"' if cell else "" for cell in row) for row in rows)
    path.write_text("".join(f"{line}\n" for line in cells), encoding="utf-8", newline="")
    return path


def write_turned(rows: Grid, folder: Path) -> Path:
    return write_text([list(row) for row in zip(*rows, strict=True)], folder)


def write_workbook(rows: Grid, folder: Path) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append([cell or None for cell in row])  # type: ignore[union-attr]  (a worksheet)
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def write_document(rows: Grid, folder: Path) -> Path:
    path = folder / "t.ods"
    path.write_bytes(
        document({"arrays": "".join(table_row(*(table_cell(cell or None) for cell in row)) for row in rows)})
    )
    return path


def write_json(rows: Grid, folder: Path) -> Path:
    lists = {}
    for number, column in enumerate(zip(*rows, strict=True)):
        end = max((row for row, cell in enumerate(column) if cell), default=0)
        lists[column[0] or f"column {number}"] = [cell or None for cell in column[1 : end + 1]]
    path = folder / "t.json"
    path.write_text(json.dumps(lists), encoding="utf-8")
    return path


def write_spreadsheet(rows: Grid, folder: Path, server: Any) -> str:
    book = Book(server)
    book.put("Sheet1", "A1", rows, raw=True)
    return f"gsheets://{book.key}/Sheet1"


CONTAINERS: dict[str, Callable[[Grid, Path], Any]] = {
    "csv": write_text,
    "tsv": lambda rows, folder: write_text(rows, folder, "tsv"),
    "rows": write_turned,
    "xlsx": write_workbook,
    "ods": write_document,
    "json": write_json,
}


# Damage ------------------------------------------------------------------------------------------------------


def damage(rows: Grid, column: int, source: random.Random) -> str:
    """Do to a column of cells what people and programs do, and return what it was."""
    height = max(row for row in range(len(rows)) if rows[row][column]) + 1
    at = source.randrange(height)
    text = rows[at][column]
    kind = source.choice(["blank", "cut", "type", "delete", "insert", "swap", "rename", "part", "move"])
    cells = [row[column] for row in rows]
    if kind == "blank":
        cells[at] = ""
    elif kind == "cut":
        cells[at] = text[: source.randrange(len(text) + 1)]
    elif kind == "type":
        cells[at] = source.choice(
            ["x", "7", "TRUE", "2026-07-01", "{}", '{"a": 1}', "generic", "float64", " ", "version"]
        )
    elif kind == "delete":
        cells[at:] = [*cells[at + 1 :], ""]
    elif kind == "insert":
        cells[at:] = [source.choice(["", "x", text]), *cells[at:-1]]
    elif kind == "swap":
        at, other = (source.randrange(1, height) for _ in range(2))
        cells[at], cells[other] = cells[other], cells[at]
    elif kind == "rename":
        at, cells[0] = 0, source.choice(["notes", "", "dataset", "Dataset.json", "x", "dataset.json.json"])
    elif kind == "part":  # lost from the middle of a text
        first, last = sorted(source.randrange(len(text) + 1) for _ in range(2))
        cells[at] = text[:first] + text[last:]
        with suppress(ValueError):
            json.loads("".join(cells[cells.index("data") + 1 :]))
            cells[at] = ""  # what remains is whole, as if somebody had edited an attribute
    else:
        first = len(rows[0]) - 1 if column == 0 else source.randrange(column)
        for row in rows:
            row.insert(first, row.pop(column))
        return f"moved to column {first}"
    for row, cell in zip(rows, cells, strict=True):
        row[column] = cell
    return f"{kind} {at} {text[:40]!r}"


# What must be so ---------------------------------------------------------------------------------------------


@contextmanager
def silent() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def open_whole(path: Any) -> xr.Dataset:
    return xr.open_dataset(path, engine="sheetarray").load()


def dims(infos: Any) -> dict[str, Any]:
    return {name: info.dims for name, info in infos.items()}


def assert_said(path: Any, expected: xr.Dataset, what: str) -> bool:
    """Assert that labels come back by every door, or that it says something; return whether they do by all."""
    plain = {str(name): tuple(variable.dims) for name, variable in expected.variables.items()}
    part = expected[["t"]]
    verbs: dict[str, tuple[Callable[[], Any], Callable[[Any], bool]]] = {
        "read_dataset": (lambda: sa.read_dataset(path), expected.identical),
        "read_dataset by name": (lambda: sa.read_dataset(path, ["t"]), part.identical),
        "open_dataset": (lambda: open_whole(path), expected.identical),
        "scan": (lambda: dims(sa.scan(path)), lambda found: bool(found == plain)),
        "read": (lambda: set(sa.read(path)), lambda names: bool(names == set(plain))),
        "read_frame": (lambda: sa.read_frame(path, ["label"]), lambda frame: bool(frame.index.name == "time")),
    }
    intact = True
    for verb, (call, is_right) in verbs.items():
        with silent() as caught:
            try:
                right = is_right(call())
            except sa.SheetArrayError:
                intact = False
                continue
        assert right or caught, f"{verb}: nothing is said of {what}"
        intact = intact and right and not caught
    assert intact or list(sa.check(path)), f"check finds nothing: {what}"
    return intact


@pytest.mark.parametrize("container", [*CONTAINERS, "google"])
def test_labels_come_back_or_something_is_said(container, server, tmp_path, monkeypatch):
    monkeypatch.setenv(ENDPOINT, server.url)
    write = CONTAINERS.get(container, partial(write_spreadsheet, server=server))
    for dataset, rows in zip(DATASETS, GRIDS, strict=True):
        assert assert_said(write(rows, tmp_path), dataset, "nothing"), "intact cells give labels, without a warning"
    source = random.Random(container)
    outcomes = set()
    for _ in range(examples(16 if container == "google" else 40)):
        number = int(source.random() < 0.3)
        rows = [list(row) for row in GRIDS[number]]
        what = damage(rows, rows[0].index(NAME), source)
        outcomes.add(assert_said(write(rows, tmp_path), DATASETS[number], what))
    assert False in outcomes


@pytest.mark.parametrize("absent", ["time", "lat", "label"])
def test_a_coordinate_that_is_gone_is_named(absent, tmp_path):
    column = GRIDS[0][0].index(absent)
    path = write_text([[*row[:column], "", *row[column + 1 :]] for row in GRIDS[0]], tmp_path)
    for read in (sa.read_dataset, lambda path: sa.read_dataset(path, ["t"]), open_whole):
        with pytest.warns(sa.SheetArrayWarning, match=f"not in the file: '{absent}'"):
            read(path)
    assert absent in [finding.array for finding in sa.check(path)]
