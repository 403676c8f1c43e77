"""Tables that are drawn, copies of them that people edit, and by a plain model what merging the copies comes to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sheetarray.changes.conflicts import DELETED
from sheetarray.changes.merge import AlignedFiles, MergedArrays

KINDS = ["float64", "int64", "<U8", "datetime64[D]", "bool", "object"]


def draw_value(rng: np.random.Generator, kind: str) -> Any:
    number = int(rng.integers(10**6))
    match kind:
        case "float64":
            return float(rng.normal())
        case "<U8":
            return f"v{number}"
        case "datetime64[D]":
            return np.datetime64("2026-01-01") + np.timedelta64(number, "D")
        case "bool":
            return bool(number % 2)
        case "object":
            return [number, f"o{number}", number / 7, None][number % 4]
        case _:
            return number


@dataclass
class Copy:
    """Rows of a table in one file: the number of each in the base, or None, and its values."""

    rows: list[tuple[int | None, list[Any]]]
    edits: dict[tuple[int, int], Any] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)


@dataclass
class Trial:
    """A table that was sent, and its copies."""

    kinds: list[str]
    base: list[list[Any]]
    copies: list[Copy]

    def arrays(self, rows: list[list[Any]]) -> dict[str, np.ndarray[Any, Any]]:
        arrays = {}
        for number, kind in enumerate(self.kinds):
            array = np.empty(len(rows), kind)
            array[:] = [row[number] for row in rows]
            arrays[f"c{number}"] = array
        return arrays

    def merge(self, prefer: Sequence[str] = (), choices: Any = None, **options: Any) -> MergedArrays:
        copies = [(f"f{n}", self.arrays([row for _, row in copy.rows])) for n, copy in enumerate(self.copies)]
        return AlignedFiles(("base", self.arrays(self.base)), copies, **options).merge(prefer=prefer, choices=choices)


def draw_trial(
    seed: int, *, inserts: bool = True, kinds: list[str] = KINDS, copies: int | None = None, edits: int | None = None
) -> Trial:
    """Return a table of 2 to 5 columns, the first of which tells its rows apart, and up to five copies of it.

    `copies` and `edits` say how many copies there are, and how often each is edited. Without `inserts` rows are
    appended, the last one is never deleted, half of each row stays, and no two rows have a value in common: then
    contents alone tell which row is which.
    """
    rng = np.random.default_rng(seed)
    kinds = ["int64", "float64", *rng.choice(kinds if inserts else kinds[:4], int(rng.integers(0, 4)))]
    count = int(rng.integers(6, 25))
    base = [[1000 * row + 7, *(draw_value(rng, kind) for kind in kinds[1:])] for row in range(count)]
    made: list[Copy] = []
    fresh = 10**6
    for _ in range(int(rng.integers(1, 6)) if copies is None else copies):
        copy = Copy([(row, list(values)) for row, values in enumerate(base)])
        for _ in range(int(rng.integers(0, 11)) if edits is None else edits):
            what = rng.choice(["edit", "edit", "edit", "delete", "append", "insert"][: 6 if inserts else 5])
            at = int(rng.integers(len(copy.rows)))
            if what == "delete" and not inserts and copy.rows[at][0] == count - 1:
                continue
            if what == "edit":
                column = int(rng.integers(1, len(kinds))) if inserts else 1
                row, values = copy.rows[at]
                value = draw_value(rng, kinds[column])
                if row is not None and not same(values[column], value):
                    values[column] = value
                    copy.edits[row, column] = value
            elif what == "delete" and len(copy.rows) > count // 2 and copy.rows[at][0] is not None:
                row, _ = copy.rows.pop(at)
                copy.deleted.add(row)
                copy.edits = {key: value for key, value in copy.edits.items() if key[0] != row}
            elif what in ("insert", "append"):
                fresh += 1
                values = [fresh, *(draw_value(rng, kind) for kind in kinds[1:])]
                copy.rows.insert(at if what == "insert" else len(copy.rows), (None, values))
        for (row, column), value in list(copy.edits.items()):
            if same(value, base[row][column]):
                del copy.edits[row, column]
        made.append(copy)
    return Trial(kinds, base, made)


def same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def merge_plainly(
    trial: Trial, chosen: int | None = None
) -> tuple[list[list[Any]], dict[tuple[int, int], dict[str, Any]]]:
    """Return the merged rows, and the values of each conflict by row and column of the base."""
    added: list[tuple[int, list[Any]]] = []  # the row of the base that each follows; the last one, at the end of a copy
    for copy in trial.copies:
        end = max((place for place, (row, _) in enumerate(copy.rows) if row is not None), default=-1)
        last = -1
        for place, (row, values) in enumerate(copy.rows):
            last = last if row is None else row
            if row is None:
                added.append((last if place < end else len(trial.base) - 1, values))
    rows, numbers, conflicts = [], [], {}
    for row, base in enumerate(trial.base):
        merged, stays = list(base), False
        deleters = [n for n, copy in enumerate(trial.copies) if row in copy.deleted]
        for column in range(len(base)):
            edits = {n: copy.edits[row, column] for n, copy in enumerate(trial.copies) if (row, column) in copy.edits}
            values = list(edits.values())
            if edits and (deleters or any(not same(values[0], value) for value in values)):
                said = dict.fromkeys(deleters, DELETED) | edits
                conflicts[row, column] = {f"f{n}": said[n] for n in sorted(said)}
                if chosen in edits:
                    merged[column] = edits[chosen]
                stays |= chosen not in deleters
            elif edits:
                merged[column] = values[0]
        if not deleters or stays:
            rows.append(merged)
            numbers.append(row)
    slots: list[list[list[Any]]] = [[] for _ in range(len(rows) + 1)]  # file after file between the rows that remain
    for follows, values in added:
        slots[bisect_right(numbers, follows)].append(values)
    return [*slots[0], *(row for pair in zip(rows, slots[1:], strict=True) for row in (pair[0], *pair[1]))], conflicts
