"""Warnings point at the caller's line, whichever door of the package they come through."""

from __future__ import annotations

import functools
import io
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sheetarray as sa
from sheetarray.interchange import sciserialize

OLDER = ["ndarray", "shape", 1, "strides", 1, "offset", 0, "order", "row-major", "dtype", "int8", "length", 1,
         "capacity", 1, "data", 7]  # fmt: skip
CSV = "x\n" + "".join(f"{cell}\n" for cell in ["version", "1.3.0", "ndarray", "note", "hi", *OLDER[1:]])
JSON = '{"x": [' + ", ".join(f'"{c}"' if isinstance(c, str) else str(c) for c in OLDER) + "]}"
TIME = '{"__type__": "datetime", "isostr": "2015-02-18T21:40:23.123456789Z"}'

DOORS: dict[str, Callable[[], Any]] = {
    "read": lambda: sa.read(io.StringIO(CSV), format="csv"),
    "read_csv": lambda: sa.read_csv(io.StringIO(CSV)),
    "scan": lambda: sa.scan(io.StringIO(CSV), format="csv"),
    "check": lambda: [*sa.check(io.StringIO(CSV), format="csv")],
    "convert": lambda: sa.convert(io.StringIO(CSV), io.BytesIO(), from_format="csv", to_format="npz"),
    "read_json": lambda: sa.read_json(io.StringIO(JSON)),
    "from_linear": lambda: sa.from_linear(OLDER),
    "loads": lambda: sciserialize.loads(TIME),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_warning_points_at_the_line_that_called(door: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        DOORS[door]()
    assert [warning.filename for warning in caught] == [__file__] * len(caught)
    assert caught or door == "check"  # which says it as a finding
    assert {warning.lineno for warning in caught} <= {DOORS[door].__code__.co_firstlineno}


def test_a_function_of_the_standard_library_in_between_is_passed_over() -> None:
    read_list = functools.singledispatch(sa.from_linear)
    with pytest.warns(sa.SheetArrayWarning) as caught:
        read_list(OLDER)
    assert {warning.filename for warning in caught} == {__file__}


def test_the_default_filter_says_it_once_for_each_line() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            sa.from_linear(OLDER)
    assert len(caught) == 1


def test_no_other_place_counts_frames() -> None:
    package = Path(sa.__file__).parent
    calls = [path.name for path in package.rglob("*.py") if re.search(r"warnings\.warn\(|stacklevel", path.read_text())]
    assert calls == [], "sheetarray.errors.warn_caller finds the caller's line"
