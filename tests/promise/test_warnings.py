"""Warnings point at the caller's line, whichever door of the package they come through."""

from __future__ import annotations

import functools
import io
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run_command

import sheetarray as sa
from sheetarray.formats import FORMATS

OLDER = sa.to_linear(np.array([7], "int8"))[2:]  # a list without a version
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
    "loads": lambda: pytest.importorskip("sheetarray.interchange.sciserialize").loads(TIME),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_warning_points_at_the_line_that_called(door):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        DOORS[door]()
    assert [warning.filename for warning in caught] == [__file__] * len(caught)
    assert caught or door == "check"  # which says it as a finding
    assert {warning.lineno for warning in caught} <= {DOORS[door].__code__.co_firstlineno}


def test_a_function_of_the_standard_library_in_between_is_passed_over():
    read_list = functools.singledispatch(sa.from_linear)
    with pytest.warns(sa.SheetArrayWarning) as caught:
        read_list(OLDER)
    assert {warning.filename for warning in caught} == {__file__}


def test_the_default_filter_says_it_once_for_each_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            sa.from_linear(OLDER)
    assert len(caught) == 1


def test_no_other_place_counts_frames():
    package = Path(sa.__file__).parent
    calls = [path.name for path in package.rglob("*.py") if re.search(r"warnings\.warn\(|stacklevel", path.read_text())]
    assert calls == [], "sheetarray.errors.warn_caller finds the caller's line"


# What a format changes though it holds it --------------------------------------------------------------------------

TURNED = np.asfortranarray([[1, 2, 3], [4, 5, 6]])
NO_ORDER = ("avro", "awkd", "msgpack", "ra", "json")
FORMAT_OF = {"msgpack": "sciserialize", "json": "sciserialize-json"}


def changes(target: Any, arrays: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sa.write(target, arrays, **options)
    assert {warning.filename for warning in caught} <= {__file__}
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("suffix", NO_ORDER)
def test_the_arrays_are_named_whose_order_a_format_does_not_keep(suffix, tmp_path):
    target, name = tmp_path / f"f.{suffix}", FORMAT_OF.get(suffix, suffix)
    flat = {"c": np.ones((2, 3)), "v": np.arange(3), "row": TURNED[:1], "none": TURNED[:0]}
    assert changes(target, {"f": TURNED, **flat} if suffix != "ra" else {"f": TURNED}, format=name) == [
        f"{FORMATS[name].title} keeps no column-major order: 'f' will be read as row-major, with the same values"
    ]
    assert sa.read(target, format=name)["f"].tolist() == TURNED.tolist()
    assert changes(target, flat if suffix != "ra" else {"f": TURNED.copy("C")}, format=name) == []


def test_six_arrays_are_five_names_and_a_number():
    (said,) = changes(io.BytesIO(), dict.fromkeys("abcdef", TURNED), format="avro")
    assert "'a', 'b', 'c', 'd', 'e' and 1 more will be read" in said
    (said,) = changes(io.BytesIO(), dict.fromkeys("abcde", TURNED), format="avro")
    assert "'a', 'b', 'c', 'd', 'e' will be read" in said


@pytest.mark.parametrize("suffix", ["csv", "npz", "xlsx", "npy"])
def test_nothing_is_said_where_the_order_is_kept(suffix, tmp_path):
    assert changes(tmp_path / f"f.{suffix}", {"f": TURNED}) == []
    assert sa.read(tmp_path / f"f.{suffix}")["f"].flags.f_contiguous


@pytest.mark.parametrize("suffix", ["npy", "ra"])
def test_a_name_is_named_that_a_format_does_not_keep(suffix, tmp_path):
    assert changes(tmp_path / f"run.{suffix}", {"t": np.arange(3)})[0].endswith("'t' will be read as 'run'")
    assert list(sa.read(tmp_path / f"run.{suffix}")) == ["run"]
    assert changes(tmp_path / f"t.{suffix}", {"t": np.arange(3)}) == []
    assert changes(tmp_path / f"x.{suffix}", np.arange(3)) == []
    assert changes(io.BytesIO(), {"t": np.arange(3)}, format=suffix) == []  # what becomes of it, only the caller knows
    if suffix == "ra":
        assert changes(tmp_path / "folder.ra", {"t": np.arange(3), "u": np.arange(3)}) == []
        assert changes(tmp_path / "folder.ra", {"t": np.arange(3)}) == []  # a file of its name in the folder


def test_convert_says_it_too_and_in_one_line_of_the_command_line(tmp_path):
    sa.write(tmp_path / "a.csv", {"f": TURNED, "g": TURNED})
    with pytest.warns(sa.SheetArrayWarning, match="'f', 'g' will be read as row-major") as caught:
        sa.convert(tmp_path / "a.csv", tmp_path / "b.avro")
    assert [warning.filename for warning in caught] == [__file__]
    result = run_command("convert", tmp_path / "a.csv", tmp_path / "b.avro")
    assert result.exit_code == 0
    assert [line for line in result.stderr.splitlines() if line.startswith("warning:")] == [
        "warning: Avro, YEP-113 keeps no column-major order: 'f', 'g' will be read as row-major, with the same values"
    ]
