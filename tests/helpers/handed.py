"""What becomes of an object that is handed to `write`: it comes back exactly, or is refused by name with advice."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import assert_same, objects

import sheetarray as sa

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


__all__ = ["SUFFIXES", "Refused", "check_handed", "moments", "objects", "spans"]
