"""Ten copies that people edit, blank, sort, cut and save again are merged as a plain model of their rows says."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from addresses import cell_address
from examples import ANEW

import sheetarray as sa

TRIALS = 300 if ANEW else 30
COPIES = 10
NAMES = ("id", "t", "n", "s")


class Deleted:
    """What a conflict gives for an element whose row somebody has deleted."""

    def __repr__(self) -> str:
        return "deleted"


@dataclass
class Person:
    """What one person does: rows with their number in the base, or None, and single cells that are emptied."""

    rows: list[tuple[int | None, dict[str, Any]]]
    edits: dict[tuple[int, str], Any] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)
    cells: dict[tuple[int, str], str] = field(default_factory=dict)  # typed into the row of the base: "" or "n/a"
    is_sorted: bool = False
    rounds: bool = False
    renames: bool = False


def draw_row(rng: np.random.Generator, number: int) -> dict[str, Any]:
    return {"id": number, "t": float(rng.normal()), "n": int(rng.integers(10**6)), "s": f"s{rng.integers(10**6)}"}


def draw_short_row(rng: np.random.Generator, number: int) -> dict[str, Any]:
    """Return a row of which no program rounds anything."""
    row = draw_row(rng, number)
    return {**row, "t": round(row["t"], 6)}


def draw_person(rng: np.random.Generator, base: list[dict[str, Any]], fresh: int, suffix: str) -> Person:
    person = Person([(number, dict(row)) for number, row in enumerate(base)])
    for step in range(int(rng.integers(0, 7))):
        what = str(rng.choice(["edit", "edit", "blank", "n/a", "delete", "append", "insert"]))
        at = int(rng.integers(len(person.rows)))
        row, values = person.rows[at]
        name = str(rng.choice(NAMES[1:]))
        if what == "edit" and row is not None and (row, name) not in person.cells:
            values[name] = person.edits[row, name] = draw_short_row(rng, 0)[name]
        elif what in ("blank", "n/a") and suffix != "json" and row is not None and name != "s":
            person.cells[row, name] = "" if what == "blank" else "n/a"
            person.edits.pop((row, name), None)
            if what == "blank" and name == "t":
                person.edits[row, name] = np.nan
        elif what == "delete" and row is not None and len(person.rows) > len(base) - 3:
            person.rows.pop(at)
            person.deleted.add(row)
        elif what in ("append", "insert"):
            place = at if what == "insert" else len(person.rows)
            person.rows.insert(place, (None, draw_short_row(rng, fresh + step)))
    person.edits = {key: value for key, value in person.edits.items() if key[0] not in person.deleted}
    person.cells = {key: text for key, text in person.cells.items() if key[0] not in person.deleted}
    if rng.random() < 0.2 and not any(row is None for row, _ in person.rows):
        person.is_sorted = True
        person.rows.sort(key=lambda pair: (str(pair[1]["s"]), pair[1]["id"]))
    person.rounds = bool(rng.random() < 0.3)
    return person


def save(path: Path, rows: list[dict[str, Any]], *, labelled: bool, rounds: bool = False) -> None:
    kinds = {"id": np.int64, "t": np.float64, "n": np.int64, "s": np.str_}
    arrays = {name: np.array([row[name] for row in rows], kind) for name, kind in kinds.items()}
    if rounds:
        arrays["t"] = np.array([float(f"{value:.15g}") for value in arrays["t"].tolist()])
    sa.write(path, pd.DataFrame(arrays).set_index("id") if labelled else arrays)


def type_cells(path: Path, cells: dict[tuple[int, str], str]) -> None:
    """Type texts into the cells of elements, given by their row in the file."""
    infos = sa.scan(path)
    places = [(infos[name].data[0].row + row, infos[name].data[0].column, text) for (row, name), text in cells.items()]
    if path.suffix == ".xlsx":
        book = openpyxl.load_workbook(path)
        for row, column, text in places:
            book.worksheets[0][cell_address(row, column)].value = text or None
        book.save(path)
    else:
        lines = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
        for row, column, text in places:
            lines[row][column] = text
        path.write_text("\n".join(",".join(line) for line in lines) + "\n", encoding="utf-8")


def merge_plainly(base: list[dict[str, Any]], people: list[Person]) -> tuple[list[dict[str, Any]], Any]:
    """Return the merged rows, and the values of each conflict by row of the base and array."""
    conflicts: dict[tuple[int, str], dict[int, Any]] = {}
    rows, numbers = [], []
    for number, row in enumerate(base):
        merged, stays = dict(row), False
        deleters = [which for which, person in enumerate(people) if number in person.deleted]
        for name in NAMES:
            said = {
                which: person.edits[number, name]
                for which, person in enumerate(people)
                if (number, name) in person.edits and repr(person.edits[number, name]) != repr(row[name])
            }
            if said and (deleters or len({repr(value) for value in said.values()}) > 1):
                conflicts[number, name] = dict.fromkeys(deleters, Deleted()) | said
                stays = True
            elif said:
                merged[name] = next(iter(said.values()))
        if not deleters or stays:
            rows.append(merged)
            numbers.append(number)
    slots: list[list[dict[str, Any]]] = [[] for _ in range(len(rows) + 1)]
    for person in people:
        end = max((place for place, (row, _) in enumerate(person.rows) if row is not None), default=-1)
        last = -1
        for place, (row, values) in enumerate(person.rows):
            last = last if row is None else row
            if row is None:
                slots[bisect_right(numbers, last if place < end else len(base) - 1)].append(values)
    return [*slots[0], *(one for row, slot in zip(rows, slots[1:], strict=True) for one in (row, *slot))], conflicts


@pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")
@pytest.mark.parametrize("seed", range(TRIALS))
def test_copies_are_merged_as_the_model_says(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labelled, count = bool(seed % 2), int(rng.integers(8, 20))
    base = [draw_row(rng, 10 * number + 3) for number in range(count)]
    suffix = str(rng.choice(["csv", "xlsx", "json"]))
    save(tmp_path / f"base.{suffix}", base, labelled=labelled)
    people, files = [], []
    for number in range(COPIES):
        theirs = str(rng.choice(["csv", "xlsx", "json"]))
        person = draw_person(rng, base, 10**5 + 100 * number, theirs)
        people.append(person)
        files.append(tmp_path / f"copy{number}.{theirs}")
        save(files[-1], [row for _, row in person.rows], labelled=labelled, rounds=person.rounds)
        where = {row: place for place, (row, _) in enumerate(person.rows) if row is not None}
        if person.cells:
            type_cells(files[-1], {(where[row], name): text for (row, name), text in person.cells.items()})
    target = tmp_path / f"merged.{suffix}"
    merged = sa.merge(tmp_path / f"base.{suffix}", *files, target=target)
    rows, conflicts = merge_plainly(base, people)
    read = sa.read(target)
    for name in NAMES:
        wanted = [row[name] for row in rows]
        assert list(map(repr, read[name].tolist())) == list(map(repr, wanted)), (name, suffix)
    named = {
        (one.index[0], one.array): {files.index(Path(file)): value for file, value in one.values.items()}
        for one in merged.conflicts
        if one.index is not None
    }
    assert repr(named.keys() ^ conflicts.keys()) == "set()"
    assert {key: repr(sorted(said.items(), key=lambda item: item[0])) for key, said in named.items()} == {
        key: repr(sorted(said.items(), key=lambda item: item[0])) for key, said in conflicts.items()
    }
    unread = sum(text == "n/a" or name == "n" for person in people for (_, name), text in person.cells.items())
    assert len(merged.unreadable) == unread
    assert list(sa.check(target)) == []
