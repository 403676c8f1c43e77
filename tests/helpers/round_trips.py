"""What is handed over, written, changed as people change it, and read again."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sheetarray as sa
from sheetarray.testing.cases import assert_same


class OneWay(io.BytesIO):
    """Bytes that come once, as from a pipe."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: int) -> int:
        raise io.UnsupportedOperation("seek")


# Sheets as rows of cells, to be changed as people change them.

ARRAYS = {
    "t": np.array([[1.5, -0.0], [np.nan, 2.0]]),
    "i": np.array([1, 2, 3], dtype="int8"),
    "s": np.array(["a", "", "007"]),
}


def grid(arrays: dict[str, Any], **options: Any) -> list[list[str]]:
    """The cells of a written file."""
    file = io.StringIO()
    sa.write_csv(file, arrays, **options)
    return [
        list(row)
        for row in csv.reader(io.StringIO(file.getvalue(), newline=""), delimiter=options.get("delimiter", ","))
    ]


def put(rows: list[list[Any]]) -> io.StringIO:
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    file.seek(0)
    return file


def read(rows: list[list[Any]], **options: Any) -> dict[str, Any]:
    return sa.read_csv(put(rows), **options)


def same(result: dict[str, Any], expected: dict[str, Any] = ARRAYS) -> None:
    assert list(result) == list(expected)
    for name, array in expected.items():
        assert_same(result[name], array)


def intact(rows: list[list[Any]]) -> None:
    assert list(sa.check(put(rows), format="csv")) == []


# What becomes of an object that is handed to `write`: it comes back exactly, or is refused by name with advice.

SUFFIXES = ("csv", "json", "xlsx")


@dataclass(frozen=True)
class Refused:
    """An error, before anything is written.

    Attributes:
        name: with which its message begins: of the column, or the element.
        advice: a piece of the message that says what to do.
        error: its class.
    """

    name: str
    advice: str
    error: type[sa.SheetArrayError] = sa.DTypeError


def check_handed(value: Any, expected: Any, suffix: str, folder: Path) -> None:
    """Write an object, and hold what is read against what has to be: arrays by name, or `Refused`."""
    path = folder / f"t.{suffix}"
    path.unlink(missing_ok=True)
    if suffix == "json" and isinstance(expected, dict):
        expected = next((Refused(name, "2^53") for name, array in expected.items() if _is_beyond(array)), expected)
    if isinstance(expected, Refused):
        with pytest.raises(expected.error) as caught:
            sa.write(path, value)
        assert str(caught.value).startswith(expected.name), str(caught.value)
        assert expected.advice in str(caught.value), str(caught.value)
        assert os.listdir(folder) == []
        return
    sa.write(path, value)
    arrays = sa.read(path)
    assert list(arrays) == list(expected)
    for name, array in expected.items():
        assert_same(arrays[name], array)
    assert list(sa.check(path)) == []


def _is_beyond(array: Any) -> bool:
    array = np.asarray(array)
    return array.dtype == object and any(isinstance(x, int) and abs(x) > 2**53 for x in array.ravel().tolist())


def moments(unit: str, *texts: str) -> Any:
    return np.array(texts, dtype=f"M8[{unit}]")


def spans(unit: str, *counts: int | str) -> Any:
    return np.array(counts, dtype=f"m8[{unit}]")


# Switches the compiled loops off, as `SHEETARRAY_PLAIN=1` does for a process.


@contextmanager
def without_loops() -> Iterator[None]:
    """Let every module of the package that is imported by now take the plain way."""
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == "sheetarray" and getattr(module, "COMPILED", False):
                patch.setattr(module, "COMPILED", False)
        yield
