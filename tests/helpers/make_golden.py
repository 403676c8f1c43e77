"""Write golden files of this version: `python tests/helpers/make_golden.py` adds those that tests/golden does not have.

A release adds its files once, and nobody writes them again. All numbers come from literals, quotients and the files
arrays.npz and many.npz, so they are the same on every machine.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import sheetarray as sa

GOLDEN = Path(__file__).parents[1] / "golden"
HELD = {  # of the arrays, by formats that do not hold all
    ".avro": ["temperature", "count", "ok", "z"],
    ".msgpack": ["temperature", "count", "ok", "z"],
    ".parquet": ["count", "station"],
    ".arrow": ["count", "station"],
    ".feather": ["count", "station"],
    ".npy": ["temperature"],
    ".ra": ["temperature"],
}
ALL = (".csv", ".tsv", ".txt", ".csv.gz", ".json", ".json.gz", ".npz", ".nc", ".awkd", *HELD)


def make_lean() -> dict[str, np.ndarray]:
    """Return so many arrays that a workbook keeps one checksum for several of them."""
    return {f"a{number:04}": np.array([number / 3, number]) for number in range(1001)}


def make_dataset() -> xr.Dataset:
    """Return a Dataset with labels and attributes."""
    days = np.array(["2026-11-27", "2026-11-28"], "M8[ns]")
    t = ("time", "lat"), np.array([[1 / 3, 2.5], [np.nan, -0.0]]), {"units": "K"}
    return xr.Dataset({"t": t}, {"time": days, "lat": [47.5, 48.0]}, {"title": "run", "step": (1, 2.5)})


def make_frame() -> pd.DataFrame:
    """Return a frame with an index."""
    return pd.DataFrame({"id": ["007", "=1+1"], "level": [1 / 3, 2.0]}, index=pd.Index([3, 5], name="site"))


def write_all(folder: Path, version: str) -> None:
    """Write all files of a version that a folder does not have."""

    def name(suffix: str) -> Path | None:
        path = folder / f"{version}{suffix}"
        return None if path.exists() else path

    with np.load(GOLDEN / "arrays.npz") as kept, np.load(GOLDEN / "many.npz") as kept_too:
        arrays, many = dict(kept), dict(kept_too)
    for suffix in ALL:
        if path := name(suffix):
            sa.write(path, {key: arrays[key] for key in HELD.get(suffix, arrays)})
    books = {
        "plain": (arrays, {"guard": False}),
        "guard": (arrays, {"guard": True}),
        "many": (many, {"guard": False}),
        "lean": (make_lean(), {"guard": False}),
        "views": (arrays, {"views": True, "guard": False}),
        "editable": (arrays, {"views": {"temperature": sa.View(editable=True)}, "guard": False}),
    }
    for kind, (content, options) in books.items():
        if path := name(f"-{kind}.xlsx"):
            sa.write_excel(path, content, **options)
    for suffix in (".csv", ".json", ".xlsx", ".nc"):
        if path := name(f"-labels{suffix}"):
            sa.write(path, make_dataset())
    for kind, table in (("frame", make_frame()), ("dataset", make_dataset())):
        if path := name(f"-{kind}-table.xlsx"):
            sa.write_table(path, table)
    if path := name("-frame.xlsx"):
        sa.write(path, make_frame())


if __name__ == "__main__":
    write_all(GOLDEN, sa.__version__)
