"""Columns of one kind, and JSON: what the columns hold, and the peers that have a way of their own with them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .contenders import POLARS, POLARS_DATES, POLARS_DAYS, SHEETARRAY, Arrays, Contender, replace_file, stored

_EUROPEAN = np.array(["Ångström", "naïve", "Straße", "žluťoučký", "façade", "日本語", "smørrebrød", "ελληνικά"])
_MIXTURE = (None, True, False, 1.5, 7, "text", -2.25, "a longer text", 2**40, "")


def make_one(kind: str) -> Callable[[int], Arrays]:
    """Return what makes a column of a kind: number of rows -> the array by its name."""

    def make(rows: int) -> Arrays:
        return {"x0": _KINDS[kind](np.random.default_rng(20240229), rows)}

    return make


def _mix(rng: Any, rows: int) -> Any:
    elements = np.empty(rows, dtype=object)
    elements[:] = [_MIXTURE[place] for place in rng.integers(0, len(_MIXTURE), rows)]
    return elements


_KINDS: dict[str, Callable[[Any, int], Any]] = {
    "int64": lambda rng, rows: rng.integers(-(2**53), 2**53, rows),
    "bool": lambda rng, rows: rng.integers(0, 2, rows).astype(bool),
    "dates": lambda rng, rows: rng.integers(0, 4_000_000_000, rows).astype("datetime64[s]").astype("datetime64[ms]"),
    "days": lambda rng, rows: rng.integers(0, 20_000, rows).astype("datetime64[D]"),
    "ascii": lambda rng, rows: np.char.add("sample ", rng.integers(0, 100_000, rows).astype("<U6")),
    "unicode": lambda rng, rows: np.char.add(
        _EUROPEAN[rng.integers(0, 8, rows)], rng.integers(0, 99, rows).astype("<U2")
    ),
    "infinities": lambda rng, rows: np.where(rng.random(rows) < 0.001, np.inf, rng.standard_normal(rows)),
    "complex": lambda rng, rows: rng.standard_normal(2 * rows).view(np.complex128),
    "generic": _mix,
}


# Complex numbers as two columns of floats, which is what an engine without complex numbers has ------------------


def _write_parts(path: Path, arrays: Arrays) -> None:
    (array,) = arrays.values()
    POLARS.write(path, {"real": np.ascontiguousarray(array.real), "imag": np.ascontiguousarray(array.imag)})


def _read_parts(path: Path) -> Arrays:
    parts = POLARS.read(path)
    array = np.empty(len(parts["real"]), complex)
    array.real, array.imag = parts["real"], parts["imag"]
    return {"x0": array}


# Python objects: the csv module, which reads them all as text -----------------------------------------------------


def _write_module(path: Path, arrays: Arrays) -> None:
    (array,) = arrays.values()
    text = io.StringIO()
    csv.writer(text).writerows(zip(array.tolist(), strict=True))
    replace_file(path, lambda file: file.write(text.getvalue().encode()))


def _read_module(path: Path) -> Arrays:
    with path.open(newline="", encoding="utf-8") as file:
        cells = [row[0] if row else "" for row in csv.reader(file)]
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return {"x0": array}


# JSON -------------------------------------------------------------------------------------------------------------


def _write_orjson(path: Path, arrays: Arrays) -> None:
    import orjson

    text = orjson.dumps(dict(arrays), option=orjson.OPT_SERIALIZE_NUMPY)
    replace_file(path, lambda file: file.write(text))


def _read_orjson(path: Path) -> Arrays:
    import orjson

    return {name: np.array(cells) for name, cells in orjson.loads(path.read_bytes()).items()}


KIND = (SHEETARRAY, POLARS)
DATES, DAYS = (SHEETARRAY, POLARS_DATES), (SHEETARRAY, POLARS_DAYS)
COMPLEX = (SHEETARRAY, Contender("polars, two columns", _write_parts, _read_parts))
GENERIC = (SHEETARRAY, Contender("csv module", _write_module, _read_module))
JSON = (stored(".json"), Contender("orjson", _write_orjson, _read_orjson, suffix=".json"))
