"""Columns of one kind, and JSON, like for like: peers flush and rename what they write, and end with ndarrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .contenders import SHEETARRAY, Arrays, Contender, stored
from .wide import POLARS_NUMPY, replace_file

_EUROPEAN = np.array(["Ångström", "naïve", "Straße", "žluťoučký", "façade", "日本語", "smørrebrød", "ελληνικά"])


def _write_orjson(path: Path, arrays: Arrays) -> None:
    import orjson

    text = orjson.dumps(dict(arrays), option=orjson.OPT_SERIALIZE_NUMPY)
    replace_file(path, lambda file: file.write(text))


def _read_orjson(path: Path) -> Arrays:
    import orjson

    return {name: np.array(cells) for name, cells in orjson.loads(path.read_bytes()).items()}


def _read_texts(path: Path) -> Arrays:
    import polars

    return {name: column.to_numpy().astype("U") for name, column in polars.read_csv(path).to_dict().items()}


def make_one(kind: str) -> Callable[[int], Arrays]:
    """Return what makes a column of a kind: number of rows -> the array by its name."""

    def make(rows: int) -> Arrays:
        return {"x0": _KINDS[kind](np.random.default_rng(20240229), rows)}

    return make


_KINDS: dict[str, Callable[[Any, int], Any]] = {
    "int64": lambda rng, rows: rng.integers(-(2**53), 2**53, rows),
    "bool": lambda rng, rows: rng.integers(0, 2, rows).astype(bool),
    "dates": lambda rng, rows: rng.integers(0, 4_000_000_000, rows).astype("datetime64[s]").astype("datetime64[ms]"),
    "ascii": lambda rng, rows: np.char.add("sample ", rng.integers(0, 100_000, rows).astype("<U6")),
    "unicode": lambda rng, rows: np.char.add(
        _EUROPEAN[rng.integers(0, 8, rows)], rng.integers(0, 99, rows).astype("<U2")
    ),
    "infinities": lambda rng, rows: np.where(rng.random(rows) < 0.001, np.inf, rng.standard_normal(rows)),
}

KIND = (SHEETARRAY, POLARS_NUMPY)
TEXT = (SHEETARRAY, replace(POLARS_NUMPY, read=_read_texts))
JSON = (stored(".json"), Contender("orjson", _write_orjson, _read_orjson, suffix=".json"))
