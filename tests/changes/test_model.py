"""A model in plain Python of rows and elements, held against diff, check and accept over random edits.

A table of some arrays is written, and its rows are edited, sorted, inserted, deleted and appended; cells become blank
or `n/a`; a program saves the file again. The model knows which row is which, and what each cell holds.
"""

from __future__ import annotations

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
from programs import resave

import sheetarray as sa

pytestmark = [needing("xlsx", "csv"), pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")]
WORDS = {"blank": None, "n/a": "n/a", "error": "#DIV/0!"}
ROW_FINDING = re.compile(r"rows? ([\d, ]+|\d+ to \d+) (appended|inserted|deleted) in ")


@dataclass
class Model:
    """The rows of a table: for each the row that it was, and its elements by array; what cannot be read is a word."""

    names: list[str]
    sources: list[int]
    rows: list[dict[str, Any]]
    edited: set[tuple[str, int]] = field(default_factory=set)  # the array, and the place in `rows` of a row

    @property
    def unreadable(self) -> set[tuple[str, int]]:
        return {(name, place) for place, row in enumerate(self.rows) for name in self.names if row[name] in (*WORDS,)}


def make_table(seed: int, count: int) -> dict[str, np.ndarray[Any, Any]]:
    generator = np.random.default_rng(seed)
    table = {
        "t": generator.normal(size=count),
        "n": generator.permutation(10 * count)[:count],
        "s": np.array([f"a{number}" for number in generator.permutation(count)]),
        "u": generator.normal(size=count) * 1e6,
    }
    return {name: table[name] for name in list(table)[: 1 + seed % 4]}


def change(table: dict[str, np.ndarray[Any, Any]], seed: int) -> Model:
    """Return the model of a table that people have changed."""
    choose = random.Random(seed)
    names = list(table)
    count = len(table[names[0]])
    rows: list[dict[str, Any]] = [{name: table[name][row].item() for name in names} for row in range(count)]
    tagged = list(enumerate(rows))
    deletes, inserts, sorts = (choose.random() < share for share in (0.4, 0.4, 0.3))
    if deletes:
        del tagged[choose.randrange(len(tagged))]
    if inserts and not (deletes and len(names) == 1):  # of single elements one was edited
        gap = next((place for place, (source, _) in enumerate(tagged) if source != place), len(tagged))
        first = choose.choice([len(tagged), choose.randrange(len(tagged))])
        if not (deletes and first == gap):  # there the row was typed over
            tagged.insert(first, (-1, {"t": 7.25, "n": -5, "s": "new", "u": -3.5}))
    if sorts and len(names) > 1:
        tagged.sort(key=lambda pair: pair[1]["t"])
    model = Model(names, [source for source, _ in tagged], [row for _, row in tagged])
    if (len(names) == 1 and model.sources != [*range(count)]) or (len(names) == 2 and sorts):
        return model  # nobody can tell whether a row was edited, or deleted and another one added
    places = choose.sample(range(len(tagged)), 4)
    for place in places[: choose.randrange(3)]:
        name = choose.choice(names)
        if model.sources[place] >= 0:
            value = model.rows[place][name]
            model.rows[place][name] = f"{value}x" if name == "s" else value + 1
            model.edited.add((name, place))
    for place in places[2 : 2 + choose.randrange(3)]:
        name = choose.choice([name for name in names if name != "s"])
        if model.sources[place] >= 0:
            is_last = place == len(model.rows) - 1  # where a blank is no cell
            model.rows[place][name] = choose.choice([*WORDS][is_last:])
    return model


def put_model(path: Path, model: Model, *, digits: int | None) -> None:
    """Put the cells of a model into a file in the place of those that were written."""
    columns = get_columns(path)
    for name, column in zip(model.names, columns, strict=False):
        first = column.index("data") + 1
        cells = [WORDS.get(row[name], row[name]) if isinstance(row[name], str) else row[name] for row in model.rows]
        if digits is not None:
            cells = [float(f"{cell:.{digits}g}") if isinstance(cell, float) else cell for cell in cells]
        column[first:] = cells
    put_columns(path, columns)


def list_rows(messages: list[str], verb: str) -> set[int]:
    rows: set[int] = set()
    for match in filter(None, map(ROW_FINDING.match, messages)):
        if (match[2] == "deleted") == (verb == "deleted"):
            numbers = list(map(int, re.findall(r"\d+", match[1])))
            rows |= {*range(numbers[0], numbers[1] + 1)} if " to " in match[1] else {*numbers}
    return rows


def check_trial(folder: Path, seed: int, program: str) -> None:
    count = 12 + seed % 9
    table = make_table(seed, count)
    model = change(table, seed)
    path = folder / "t.xlsx"
    sa.write(path, table, guard=True)
    put_model(path, model, digits=15 if program == "%.15g" else None)
    if program == "LibreOffice":
        path = resave(path, "xlsx", folder / "again")
    added = {place for place, source in enumerate(model.sources) if source < 0}
    deleted = {*range(count)} - {*model.sources}
    errors = [finding for finding in sa.check(path) if finding.severity == "error"]
    messages = [finding.message for finding in errors]
    assert list_rows(messages, "deleted") == deleted, messages
    assert list_rows(messages, "added") == added, messages
    known = [source for source in model.sources if source >= 0]
    assert any("sorted by" in message or "moved" in message or "another order" in message for message in messages) == (
        known != sorted(known)
    ), messages
    named = {(finding.array, finding.index[0]) for finding in errors if finding.index and " -> " in finding.message}
    wrong = {(one.array, one.index[0]) for one in errors if one.index and " -> " not in one.message}
    assert named == model.edited - model.unreadable, messages
    assert wrong == model.unreadable, messages
    changes = sa.diff(table, path, resize=True)
    assert {(one.array, one.index[0]) for one in changes.edited} == model.edited - model.unreadable
    assert {(one.array, one.index[0]) for one in changes.unreadable} == model.unreadable
    assert all(({*rows.added}, {*rows.deleted}) == (added, deleted) for rows in changes.rows)
    accepted = shutil.copy(path, folder / "accepted.xlsx")
    sa.accept(accepted)
    left = [finding for finding in sa.check(accepted) if finding.severity == "error"]
    assert {(finding.array, finding.index[0]) for finding in left if finding.index} == model.unreadable, left
    assert len(left) == len(model.unreadable), left


@pytest.mark.parametrize("first", range(0, examples(1600), 25))
def test_random_edits_are_told_as_the_model_has_them(tmp_path, first):
    """With EXAMPLES by more trials."""
    for seed in range(first, first + 25):
        folder = tmp_path / str(seed)
        folder.mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sa.SheetArrayWarning)
            check_trial(folder, seed, ["openpyxl", "%.15g"][seed % 2])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_edits_are_told_after_libreoffice(tmp_path, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        check_trial(tmp_path, seed, "LibreOffice")
