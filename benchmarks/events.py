"""Lists of uneven lengths: `.awkd` beside Parquet, both of what the awkward package holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .contenders import Arrays, Contender, replace_file


def make_events(elements: int) -> Arrays:
    """Return the elements of lists, and how many each list has, three on an average."""
    rng = np.random.default_rng(20240229)
    counts = rng.poisson(3, elements // 3)
    return {"counts": counts, "content": rng.standard_normal(int(counts.sum()))}


def _join(arrays: Arrays) -> Any:
    import awkward

    return awkward.unflatten(arrays["content"], arrays["counts"])


def _split(lists: Any) -> Arrays:
    import awkward

    counts = awkward.to_numpy(awkward.num(lists)).astype(np.int64)
    return {"counts": counts, "content": awkward.to_numpy(awkward.flatten(lists))}


def _write_awkd(path: Path, arrays: Arrays) -> None:
    import sheetarray

    sheetarray.write(path, {"events": _join(arrays)})


def _read_awkd(path: Path) -> Arrays:
    import sheetarray

    return _split(sheetarray.read(path)["events"])


def _write_parquet(path: Path, arrays: Arrays) -> None:
    import awkward
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({"events": awkward.to_arrow(_join(arrays), extensionarray=False)})
    replace_file(path, lambda file: pyarrow.parquet.write_table(table, file, compression="zstd"))


def _read_parquet(path: Path) -> Arrays:
    import awkward

    return _split(awkward.from_parquet(path)["events"])


AWKD = Contender("sheetarray .awkd", _write_awkd, _read_awkd, suffix=".awkd", ours=True)
PARQUET = Contender("Parquet with zstd", _write_parquet, _read_parquet, suffix=".parquet")
EVENTS = (AWKD, PARQUET)
