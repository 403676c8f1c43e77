"""A Dataset in a table that is sorted, edited and extended in LibreOffice: check names it, and accept takes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from programs import FILTERS, open_office
from recorded import GRID, write_quietly

import sheetarray as sa


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_a_table_that_was_sorted_edited_and_extended_is_the_dataset(suffix: str, tmp_path: Path) -> None:
    path, saved = tmp_path / "t.xlsx", tmp_path / f"saved.{suffix}"
    write_quietly(path, GRID)
    office = open_office()
    steps = [["sort", "table", "A1:D13", 1], ["values", "table", "A1:D13"]]
    rows = office.work_on(path, *steps)[1]
    assert rows[0] == ["site", "day", "t", "height"]
    assert [row[1] for row in rows[1:]] == sorted(row[1] for row in rows[1:])
    office.work_on(
        path,
        steps[0],
        ["set", "table", "C3", 99.5],
        ["set", "table", "C6", -1],
        ["insert", "table", 8],
        ["set", "table", "A8", "Genf"],
        ["set", "table", "B8", rows[3][1]],
        ["set", "table", "C8", 7.5],
        ["set", "table", "D8", 4],
        ["save", str(saved), *FILTERS[suffix]],
    )
    edited = {(rows[place][0], rows[place][1]): value for place, value in ((2, 99.5), (5, -1.0))}
    told = "\n".join(finding.message for finding in sa.check(saved))
    assert "Genf" in told
    assert "-> 99.5" in told
    assert "-> -1" in told
    target = tmp_path / "accepted.xlsx"
    assert sa.accept(saved, target)
    assert list(sa.check(target)) == []
    grid = sa.read_dataset(target)
    assert {*grid["site"].values.tolist()} == {*GRID["site"].values.tolist(), "Genf"}
    old = grid.sel(site=GRID["site"])
    expected = GRID.copy(deep=True)
    serials = sorted({row[1] for row in rows[1:]})
    for (site, serial), value in edited.items():
        expected["t"].loc[{"site": site}].values[serials.index(serial)] = value
    xr.testing.assert_identical(old, expected)
    day = serials.index(rows[3][1])
    assert grid["t"].sel(site="Genf").values[day] == 7.5
    assert np.isnan(np.delete(grid["t"].sel(site="Genf").values, day)).all()
