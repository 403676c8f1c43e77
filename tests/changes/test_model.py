"""A model in plain Python of rows and elements, held against diff, check, accept and restore over random edits.

Some arrays are written, and their rows are edited, sorted, inserted, deleted and appended; cells become blank or `n/a`;
a program saves the file again. The model knows which row is which, and what each cell holds.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adapters_deleted import needing
from examples import examples
from mixtures import get_columns, put_columns
from programs import resave_all

import sheetarray as sa

pytestmark = [needing("xlsx", "csv", "json"), pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")]
WORDS = {"blank": None, "n/a": "n/a", "error": "#DIV/0!"}
ROW_FINDING = re.compile(r"rows? ([\d, ]+|\d+ to \d+) (appended|inserted|deleted) in ")
NEW = {"t": 7.25, "n": -5, "s": "new", "u": -3.5, "g": 0.125, "f": 4.75}
Table = dict[str, np.ndarray[Any, Any]]
Element = tuple[str, tuple[int, ...]]


@dataclass
class Model:
    """The rows of a table: for each the row that it was, and its cells by array; what cannot be read is a word."""

    table: Table
    sources: list[int]
    rows: list[dict[str, list[Any]]]
    edited: set[Element] = field(default_factory=set)

    def name_element(self, name: str, row: int, cell: int) -> Element:
        array = self.table[name]
        if array.ndim == 1:
            return name, (row,)
        return name, (row, cell) if array.flags.c_contiguous else (cell, row)

    @property
    def unreadable(self) -> set[Element]:
        return {
            self.name_element(name, place, number)
            for place, row in enumerate(self.rows)
            for name, cells in row.items()
            for number, cell in enumerate(cells)
            if cell in (*WORDS,)
        }

    @property
    def added(self) -> set[int]:
        return {place for place, source in enumerate(self.sources) if source < 0}

    @property
    def deleted(self) -> set[int]:
        return {*range(count_rows(self.table))} - {*self.sources}

    @property
    def is_moved(self) -> bool:
        known = [source for source in self.sources if source >= 0]
        return known != sorted(known)

    def last_values(self) -> dict[str, list[Any]]:
        """What each cell was last that could be read, as one list an array; None where nobody knows."""
        originals = {name: take_rows(array) for name, array in self.table.items()}
        lists: dict[str, list[Any]] = {name: [] for name in self.table}
        for source, row in zip(self.sources, self.rows, strict=True):
            for name, cells in row.items():
                was = originals[name][source] if source >= 0 else [None] * len(cells)
                lists[name] += [old if cell in (*WORDS,) else cell for cell, old in zip(cells, was, strict=True)]
        return lists


def take_rows(array: np.ndarray[Any, Any]) -> list[list[Any]]:
    rows = array.reshape(-1, 1) if array.ndim == 1 else array if array.flags.c_contiguous else array.T
    return [list(row) for row in rows.tolist()]


def count_rows(table: Table) -> int:
    return len(take_rows(next(iter(table.values()))))


def make_table(seed: int, count: int) -> Table:
    generator = np.random.default_rng(seed)
    table = {
        "t": generator.normal(size=count),
        "n": generator.permutation(10 * count)[:count],
        "s": np.array([f"a{number}" for number in generator.permutation(count)]),
        "u": generator.normal(size=count) * 1e6,
    }
    if seed % 5 == 4:  # arrays of two dimensions beside one of one
        grids = {"g": generator.normal(size=(count, 3)), "f": np.asfortranarray(generator.normal(size=(2, count)))}
        return {"n": table["n"]} | grids
    return {name: table[name] for name in list(table)[: 1 + seed % 5]}


def edit_value(value: Any) -> Any:
    """Return another value, of few digits, which every program keeps."""
    return (
        f"{value}x" if isinstance(value, str) else float(f"{value + 1:.9g}") if isinstance(value, float) else value + 1
    )


def change(table: Table, seed: int) -> Model:
    """Return the model of a table that people have changed."""
    choose = random.Random(seed)
    names = list(table)
    rows_of = {name: take_rows(array) for name, array in table.items()}
    tagged = [(row, {name: list(rows_of[name][row]) for name in names}) for row in range(count_rows(table))]
    deletes, inserts, sorts = (choose.random() < share for share in (0.4, 0.4, 0.3))
    if deletes:
        del tagged[choose.randrange(len(tagged))]
    if inserts and not (deletes and len(names) == 1):  # of single elements one was edited
        gap = next((place for place, (source, _) in enumerate(tagged) if source != place), len(tagged))
        first = choose.choice([len(tagged), choose.randrange(len(tagged))])
        if not (deletes and first == gap):  # there the row was typed over
            tagged.insert(first, (-1, {name: [NEW[name]] * len(rows_of[name][0]) for name in names}))
    if sorts and len(names) > 1:
        tagged.sort(key=lambda pair: pair[1][names[0]])
    model = Model(table, [source for source, _ in tagged], [row for _, row in tagged])
    if (len(names) == 1 and model.sources != [*range(len(rows_of[names[0]]))]) or (len(names) == 2 and sorts):
        return model  # nobody can tell whether a row was edited, or deleted and another one added
    places = choose.sample(range(len(tagged)), 4)
    for place in places[: choose.randrange(3)]:
        name = choose.choice(names)
        if model.sources[place] >= 0:
            number = choose.randrange(len(model.rows[place][name]))
            value = model.rows[place][name][number]
            model.rows[place][name][number] = edit_value(value)
            model.edited.add(model.name_element(name, place, number))
    for place in places[2 : 2 + choose.randrange(3)]:
        name = choose.choice([name for name in names if name != "s"])
        if model.sources[place] >= 0:
            is_last = place == len(model.rows) - 1  # where a blank is no cell
            number = choose.randrange(len(model.rows[place][name]))
            model.rows[place][name][number] = choose.choice([*WORDS][is_last:])
    return model


def put_model(path: Path, model: Model, *, digits: int | None) -> None:
    """Put the cells of a model into a file in the place of those that were written."""
    lists = json.loads(path.read_text()) if path.suffix == ".json" else None
    columns = get_columns(path) if lists is None else list(lists.values())
    for name, column in zip(model.table, columns, strict=False):
        first = column.index("data") + 1
        cells = [cell for row in model.rows for cell in row[name]]
        cells = [WORDS.get(cell, cell) if isinstance(cell, str) else cell for cell in cells]
        if digits is not None:
            cells = [float(f"{cell:.{digits}g}") if isinstance(cell, float) else cell for cell in cells]
        column[first:] = cells
    if lists is None:
        put_columns(path, columns)
    else:
        path.write_text(json.dumps(lists))


def list_rows(messages: list[str], verb: str) -> set[int]:
    rows: set[int] = set()
    for match in filter(None, map(ROW_FINDING.match, messages)):
        if (match[2] == "deleted") == (verb == "deleted"):
            numbers = list(map(int, re.findall(r"\d+", match[1])))
            rows |= {*range(numbers[0], numbers[1] + 1)} if " to " in match[1] else {*numbers}
    return rows


def check_changes(changes: sa.Changes, model: Model) -> None:
    assert {(one.array, one.index) for one in changes.edited} == model.edited - model.unreadable
    assert {(one.array, one.index) for one in changes.unreadable} == model.unreadable
    assert all(({*rows.added}, {*rows.deleted}) == (model.added, model.deleted) for rows in changes.rows)
    assert bool(changes.rows) == bool(model.added or model.deleted or model.is_moved)


def check_guarded(path: Path, model: Model) -> None:
    """Hold check, diff, accept and restore of a workbook with a snapshot against the model."""
    errors = [finding for finding in sa.check(path) if finding.severity == "error"]
    messages = [finding.message for finding in errors]
    assert list_rows(messages, "deleted") == model.deleted, messages
    assert list_rows(messages, "added") == model.added, messages
    sorts = ("sorted by", "moved", "another order")
    assert any(word in message for message in messages for word in sorts) == model.is_moved, messages
    named = {(finding.array, finding.index) for finding in errors if finding.index and " -> " in finding.message}
    wrong = {(one.array, one.index) for one in errors if one.index and " -> " not in one.message}
    assert named == model.edited - model.unreadable, messages
    assert wrong == model.unreadable, messages
    check_changes(sa.diff(model.table, path, resize=True), model)
    if path.suffix != ".xlsx":  # which is only read
        return
    accepted = Path(shutil.copy(path, path.with_name("accepted.xlsx")))
    check_changes(sa.accept(accepted), model)
    left = [finding for finding in sa.check(accepted) if finding.severity == "error"]
    assert {(finding.array, finding.index) for finding in left if finding.index} == model.unreadable, left
    assert len(left) == len(model.unreadable), left
    last, restored = model.last_values(), path.with_name("restored.xlsx")
    sa.restore(accepted, restored)
    arrays = sa.read(restored)
    if not model.unreadable:
        arrays |= sa.read(accepted)
    for name, cells in last.items():
        kept = [cell for row in take_rows(arrays[name]) for cell in row]
        assert [a for a, b in zip(kept, cells, strict=True) if b is not None] == [b for b in cells if b is not None]


def check_plain(path: Path, model: Model) -> None:
    """Hold check, diff and accept of a file that keeps nothing of what was written against the model."""
    wrong = {(one.array, one.index) for one in sa.check(path) if one.index}
    if not model.added and not model.deleted:
        assert wrong == model.unreadable
    check_changes(sa.diff(model.table, path, resize=True), model)
    changes = sa.accept(path)
    assert {(one.array, one.index) for one in changes.unreadable} == model.unreadable
    check_changes(sa.diff(model.table, path), model)
    assert {(one.array, one.index) for one in sa.check(path)} == model.unreadable


def make_trial(folder: Path, seed: int, suffix: str, *, digits: int | None) -> tuple[Path, Model]:
    folder.mkdir(exist_ok=True)
    table = make_table(seed, 12 + seed % 9)
    model = change(table, seed)
    path = folder / f"t{seed}.{suffix}"
    sa.write(path, table, **({"guard": True} if suffix == "xlsx" else {}))
    put_model(path, model, digits=digits)
    return path, model


def run_trials(folder: Path, seeds: range) -> None:
    """Every tenth trial is of a CSV file, another of JSON; all others are of workbooks."""
    for seed in seeds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sa.SheetArrayWarning)
            suffix = {3: "csv", 7: "json"}.get(seed // 2 % 10, "xlsx")
            path, model = make_trial(folder / str(seed), seed, suffix, digits=[None, 15][seed % 2])
            (check_guarded if suffix == "xlsx" else check_plain)(path, model)


@pytest.mark.parametrize("first", range(0, examples(800), 25))
def test_random_edits_are_told_as_the_model_has_them(tmp_path, first):
    run_trials(tmp_path, range(first, first + 25))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_random_edits_are_told_after_libreoffice(tmp_path, suffix):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        trials = [make_trial(tmp_path, seed, "xlsx", digits=None) for seed in range(examples(20))]
        saved = resave_all([path for path, _ in trials], suffix, tmp_path / "again")
        for path, (_, model) in zip(saved, trials, strict=True):
            check_guarded(path, model)


@pytest.mark.parametrize("seed", [3813, 500719, 703507])
def test_trials_that_failed_once(tmp_path, seed):
    """A deleted row stood where an edited one stands now, and both were told as edits of each other.

    Blanks of two arrays of other widths in one row of the sheet were told as one blank row. Below sorted rows, a row
    that replaced a deleted one was told as edits.
    """
    run_trials(tmp_path, range(seed, seed + 1))
