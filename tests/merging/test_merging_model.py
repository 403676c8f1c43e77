"""Merged arrays are what a plain model says, in which every row has a number, whatever people change in copies."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from merge_model import Trial, draw_trial, merge_plainly

from sheetarray.merging import MergedArrays, merge_arrays


def assert_same(merged: MergedArrays, trial: Trial, rows: list[list[Any]]) -> None:
    for name, array in trial.arrays(rows).items():
        assert merged.arrays[name].dtype.kind == array.dtype.kind
        assert merged.arrays[name].tolist() == array.tolist(), name


def assert_conflicts(merged: MergedArrays, conflicts: dict[tuple[int, int], dict[str, Any]]) -> None:
    named = {(one.index[0], int(one.array[1:])): one.values for one in merged.conflicts if one.index is not None}
    assert len(merged.conflicts) == len(named)  # each once
    assert named.keys() == conflicts.keys()
    for key, values in conflicts.items():
        assert list(named[key]) == list(values)
        assert all(named[key][file] == value for file, value in values.items())


ROWS = {(f"c{number}", 0): "rows" for number in range(5)}
LABELLED = {"groups": ROWS, "labels": {"rows": ["c0"]}}


@given(st.integers(0, 2**32), st.booleans())
def test_merged_tables_are_what_the_model_says(seed: int, labelled: bool) -> None:
    trial = draw_trial(seed, inserts=labelled)
    rows, conflicts = merge_plainly(trial)
    merged = trial.merge(**(LABELLED if labelled else {}))
    assert_same(merged, trial, rows)
    assert_conflicts(merged, conflicts)
    assert merged.conflicts.unresolved == len(conflicts)


@given(st.integers(0, 2**32))
def test_a_preferred_file_wins_each_conflict_in_which_it_has_a_say(seed: int) -> None:
    trial = draw_trial(seed)
    rows, conflicts = merge_plainly(trial, 0)
    merged = trial.merge(prefer=["f0"], **LABELLED)
    assert_same(merged, trial, rows)
    assert_conflicts(merged, conflicts)
    assert merged.conflicts.unresolved == sum("f0" not in values for values in conflicts.values())
    choices = {one.place: "f0" for one in trial.merge(**LABELLED).conflicts if "f0" in one.values}
    assert_same(trial.merge(choices=choices, **LABELLED), trial, rows)


@given(st.integers(0, 2**32))
def test_a_table_that_was_sorted_is_merged_row_by_row(seed: int) -> None:
    trial = draw_trial(seed)
    copy = trial.copies[0]
    if any(row is None for row, _ in copy.rows):
        return
    rows, conflicts = merge_plainly(trial)
    copy.rows = [copy.rows[number] for number in np.random.default_rng(seed).permutation(len(copy.rows))]
    merged = trial.merge(**LABELLED)
    assert_same(merged, trial, rows)
    assert_conflicts(merged, conflicts)


@given(st.integers(0, 2**32), st.booleans())
def test_an_array_is_merged_along_its_other_axis_as_along_its_rows(seed: int, column_major: bool) -> None:
    trial = draw_trial(seed, kinds=["float64"])

    def stack(rows: list[list[Any]], across: bool) -> dict[str, np.ndarray[Any, Any]]:
        arrays = trial.arrays(rows)
        table = np.stack([array for name, array in arrays.items() if name != "c0"], axis=1).reshape(len(rows), -1)
        shown = np.stack([table, -table]).swapaxes(0, 1).swapaxes(0, 2) if across else table  # columns x signs x rows
        return {"t": np.asfortranarray(shown) if column_major else np.ascontiguousarray(shown), "c0": arrays["c0"]}

    made = []
    for across in (False, True):
        copies = [(f"f{n}", stack([row for _, row in copy.rows], across)) for n, copy in enumerate(trial.copies)]
        groups = {("t", 2 if across else 0): "rows", ("c0", 0): "rows"}
        base = ("base", stack(trial.base, across))
        made.append(merge_arrays(base, copies, groups=groups, labels={"rows": ["c0"]}))
    straight, across = made
    assert across.arrays["c0"].tolist() == straight.arrays["c0"].tolist()
    assert across.arrays["t"][:, 0].T.tolist() == straight.arrays["t"].tolist()
    assert across.arrays["t"][:, 1].T.tolist() == (-straight.arrays["t"]).tolist()
    assert across.arrays["t"].flags.f_contiguous or not column_major
    wanted = {one.index: one.values for one in straight.conflicts if one.array == "t" and one.index is not None}
    named = {one.index: one.values for one in across.conflicts if one.array == "t" and one.index is not None}
    assert len(across.conflicts) == len(straight.conflicts) + len(wanted)
    assert {(row, column): values for (column, sign, row), values in named.items() if not sign} == wanted
