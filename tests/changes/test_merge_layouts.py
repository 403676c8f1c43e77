"""A merge of tables with files of arrays: what sheetarray wrote in one layout takes the changes of the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xarray as xr
from recorded import write_arrays, write_quietly

import sheetarray as sa

CONTENTS: dict[str, Any] = {
    "tidy": xr.Dataset(
        {"t": (("x", "y"), np.arange(6.0).reshape(2, 3) / 4), "n": ("y", [1, 2, 3])},
        {"x": [1, 2], "y": ["a", "b", "c"]},
    ),
    "map": xr.Dataset({"t": (("lat", "lon"), np.arange(6.0).reshape(2, 3) / 4)}, {"lat": [1.5, 2.5], "lon": [5, 6, 7]}),
    "frame": pd.DataFrame({"t": [0.25, 0.5, 0.75], "s": ["x", "y", "z"]}),
}


def write(path: Path, content: Any, layout: str, columns: str | None = None) -> None:
    if layout == "table":
        write_quietly(path, content, columns=columns)
    else:
        write_arrays(path, content)


@pytest.mark.parametrize(("name", "columns"), [*((name, None) for name in CONTENTS), ("map", "lon")])
@pytest.mark.parametrize(("base", "other"), [("arrays", "table"), ("table", "arrays")])
def test_a_table_and_arrays_are_merged(base: str, other: str, name: str, columns: str | None, tmp_path: Path) -> None:
    content = CONTENTS[name]
    write(tmp_path / "base.xlsx", content, base, columns)
    edits = []
    for number, place in enumerate((0, -1)):
        values = np.array(content["t"].values)
        values.reshape(-1)[place] = 99.5 + number
        edited = content.assign(t=values if name == "frame" else (content["t"].dims, values))
        layout = (other, base)[number]
        write(tmp_path / f"copy{number}.xlsx", edited, layout, columns)
        edits.append(tmp_path / f"copy{number}.xlsx")
    target = tmp_path / "merged.xlsx"
    assert not sa.merge(tmp_path / "base.xlsx", *edits, target=target).conflicts
    expected = np.array(content["t"].values)
    expected.reshape(-1)[0], expected.reshape(-1)[-1] = 99.5, 100.5
    assert np.array_equal(sa.read(target, "t"), expected)
    if name == "frame":
        pd.testing.assert_frame_equal(sa.read_frame(target), content.assign(t=expected))
    else:
        xr.testing.assert_identical(sa.read_dataset(target), content.assign(t=(content["t"].dims, expected)))
    assert [finding for finding in sa.check(target) if finding.severity == "error"] == []


def test_arrays_of_other_names_are_no_copy_of_a_table(tmp_path: Path) -> None:
    write_quietly(tmp_path / "base.xlsx", CONTENTS["tidy"])
    sa.write(tmp_path / "other.xlsx", {"u": np.arange(3.0)})
    with pytest.raises(sa.FormatError, match="they are not merged"):
        sa.merge(tmp_path / "base.xlsx", tmp_path / "other.xlsx")


def test_arrays_and_a_table_are_named_as_what_they_are(tmp_path: Path) -> None:
    sa.write(tmp_path / "arrays.csv", {"u": np.arange(3.0)})
    (tmp_path / "table.csv").write_text("u,v\n1,2\n")
    for base, copy, reason in (
        ("arrays", "table", r"table\.csv: an ordinary table, and .*arrays\.csv holds arrays"),
        ("table", "arrays", r"arrays\.csv: arrays, and .*table\.csv holds an ordinary table"),
    ):
        with pytest.raises(sa.FormatError, match=reason):
            sa.merge(tmp_path / f"{base}.csv", tmp_path / f"{copy}.csv")


def test_a_blank_column_of_text_takes_text_that_somebody_typed(tmp_path: Path) -> None:
    base, copy, target = (tmp_path / f"{name}.xlsx" for name in ("base", "copy", "merged"))
    for path in (base, copy):
        write_quietly(path, {"n": np.arange(3.0), "note": np.array(["", "", ""])})
    book = openpyxl.load_workbook(copy)
    book["table"]["B3"] = "fair"
    book.save(copy)
    merged = sa.merge(base, copy, target=target)
    assert not merged.unreadable
    assert sa.read(target, "note").tolist() == ["", "fair", ""]
