"""Copies of a workbook that foreign programs edit are merged as a plain model says, element by element."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from addresses import cell_address
from examples import ANEW
from merge_model import Copy, Trial, draw_trial, merge_plainly
from programs import open_office, resave_by_node, schema_errors

import sheetarray as sa

TRIALS = 300 if ANEW else 6
COPIES, EDITS = 10, 10
PROGRAMS = ["openpyxl", "sheetjs", "exceljs", "office xlsx", "office ods", "json", "csv"]


def draw_table(seed: int) -> Trial:
    """Return a trial of numbers and texts that every program keeps, but for one column that some round."""
    trial = draw_trial(seed, kinds=["float64", "int64", "<U8"], copies=COPIES, edits=EDITS)
    rng = np.random.default_rng(seed)
    exact = [float(value) for value in rng.normal(size=len(trial.base))]
    for copy in trial.copies:
        copy.rows = [(row, [*_short(values), 0.5 if row is None else exact[row]]) for row, values in copy.rows]
        copy.edits = {key: _short([value])[0] for key, value in copy.edits.items()}
        copy.rows = [(row, _restored(trial, copy, row, values)) for row, values in copy.rows]
    trial.base = [[*values, exact[row]] for row, values in enumerate(trial.base)]
    trial.kinds.append("float64")
    return trial


def _short(values: list[Any]) -> list[Any]:
    return [round(value, 6) if isinstance(value, float) else value for value in values]


def _restored(trial: Trial, copy: Copy, row: int | None, values: list[Any]) -> list[Any]:
    """Return a row whose elements that nobody edited have all of their digits."""
    if row is None:
        return values
    kept = trial.base[row]
    edited = [(row, column) in copy.edits for column in range(len(kept))]
    return [*(new if is_new else old for new, old, is_new in zip(values, kept, edited, strict=False)), values[-1]]


def save_copy(base: Path, trial: Trial, copy: Copy, program: str, number: int) -> Path:
    """Have a program make a copy of the workbook with other rows, and save it."""
    suffix = {"office ods": "ods", "json": "json", "csv": "csv"}.get(program, "xlsx")
    path = base.parent / f"copy{number}" / f"base.{suffix}"
    path.parent.mkdir()
    rows = [values for _, values in copy.rows]
    if program in ("json", "csv"):
        sa.write(path, to_frame(trial, rows))
        return path
    edits: dict[str, Any] = {}
    for column, name in enumerate(trial.arrays(trial.base)):
        data = sa.scan(base)[name].data[0]
        for row in range(max(len(rows), len(trial.base))):
            old = trial.base[row][column] if row < len(trial.base) else None
            new = rows[row][column] if row < len(rows) else None
            if old != new:
                edits[cell_address(data.row + row, data.column)] = new
    if program == "openpyxl":
        book = openpyxl.load_workbook(base)
        for address, value in edits.items():
            book.worksheets[0][address].value = value
        book.save(path)
    elif program.startswith("office"):
        open_office().edit(base, {("arrays", address): value for address, value in edits.items()}, suffix, path.parent)
    else:
        resave_by_node(program, base, path, edits)
    return path


def to_frame(trial: Trial, rows: list[list[Any]]) -> pd.DataFrame:
    return pd.DataFrame(trial.arrays(rows)).set_index("c0")


@pytest.mark.parametrize("seed", range(TRIALS))
def test_edits_by_programs_are_merged_as_the_model_says(tmp_path: Path, seed: int) -> None:
    trial = draw_table(seed)
    base = tmp_path / "base.xlsx"
    guard = bool(seed % 2)
    sa.write(base, to_frame(trial, trial.base), guard=guard)
    rng = np.random.default_rng(seed)
    files = [
        save_copy(base, trial, copy, str(rng.choice(PROGRAMS)), number) for number, copy in enumerate(trial.copies)
    ]
    suffix = str(rng.choice(["xlsx", "csv", "json"]))
    merged = sa.merge(base, *files, target=tmp_path / f"merged.{suffix}")
    rows, conflicts = merge_plainly(trial)
    read = sa.read(tmp_path / f"merged.{suffix}")
    for name, array in trial.arrays(rows).items():
        assert read[name].tolist() == array.tolist(), (name, files)
    found = {(one.index[0], int(one.array[1:])): [*one.values] for one in merged.conflicts if one.index is not None}
    assert len(found) == len(merged.conflicts) == len(conflicts)
    assert found == {key: [str(files[int(file[1:])]) for file in values] for key, values in conflicts.items()}
    assert [*sa.check(tmp_path / f"merged.{suffix}")] == []


def test_a_merged_workbook_is_one_by_its_schema(tmp_path: Path) -> None:
    trial = draw_table(3)
    base = tmp_path / "base.xlsx"
    sa.write(base, to_frame(trial, trial.base), guard=True)
    shutil.copy(base, tmp_path / "again.xlsx")
    files = [save_copy(base, trial, copy, "openpyxl", number) for number, copy in enumerate(trial.copies)]
    sa.write(tmp_path / "new.json", {"new": np.array([["a", "b"]])})
    sa.merge(base, *files, tmp_path / "new.json", target=base)
    assert schema_errors(base) == schema_errors(tmp_path / "again.xlsx")
