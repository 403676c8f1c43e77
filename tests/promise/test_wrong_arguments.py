"""A wrong value of an option is a ValueError, not an error about the room in a target."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run_command

import sheetarray as sa

CSV = b"a,b\n1,2\n"
FLAT = {"t": np.arange(4.0).reshape(2, 2)}

CALLS: dict[str, Any] = {
    "colors": lambda path: sa.View(colors="x"),  # type: ignore[arg-type]
    "header": lambda path: sa.read_columns(io.BytesIO(CSV), header=(0, 1)),
    "skip_rows": lambda path: sa.read_columns(io.BytesIO(CSV), skip_rows=-1),
    "decimal": lambda path: sa.read_columns(io.BytesIO(CSV), decimal=";"),
    "thousands": lambda path: sa.read_columns(io.BytesIO(CSV), thousands="ab"),
    "na_values": lambda path: sa.read_columns(io.BytesIO(CSV), na_values={"a": "x"}),
    "order": lambda path: sa.read_columns(io.BytesIO(CSV), order="F"),
    "missing": lambda path: sa.from_linear(["ndarray"], missing="x"),  # type: ignore[arg-type]
    "delimiter": lambda path: sa.write(path / "x.csv", FLAT, delimiter="ab"),
    "formulas": lambda path: sa.write(path / "x.csv", FLAT, formulas="x"),
    "orient": lambda path: sa.write(path / "x.csv", FLAT, orient="x"),
    "cells": lambda path: sa.write(path / "x.xlsx", FLAT, cells="x"),
    "dates": lambda path: sa.write(path / "x.xlsx", FLAT, dates="x"),
    "formats": lambda path: sa.write(path / "x.xlsx", FLAT, formats={"t": "x"}),
    "views of a row": lambda path: sa.write(path / "x.xlsx", {"t": np.arange(3)}, views=["t"]),
    "rows of a view": lambda path: sa.write(path / "x.xlsx", FLAT, views={"t": sa.View(rows="x")}),
    "mode of an open file": lambda path: sa.write_excel(io.BytesIO(), FLAT, mode="a"),
    "axes": lambda path: sa.write(path / "x.ra", np.arange(3), axes="x"),
    "bool_as": lambda path: sa.write(path / "x.ra", np.arange(3), bool_as="x"),
    "columns of a plain table": lambda path: sa.write_table(path / "x.csv", {"t": np.arange(3)}, columns="lat"),
}


@pytest.mark.parametrize("option", CALLS)
def test_a_wrong_value_is_a_value_error(option: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r".{20}") as caught:
        CALLS[option](tmp_path)
    assert not isinstance(caught.value, sa.SheetArrayError), "it says nothing of a file, nor of the room in one"
    assert not list(tmp_path.iterdir()), "nothing is written"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["convert", "t.csv", "t.xlsx", "--write", "dates=iso"], "dates is 'real' or 'text', not 'iso'"),
        (["convert", "t.csv", "u.csv", "--write", "delimiter=ab"], "the delimiter 'ab' cannot be told"),
        (["table", "plain.csv", "--read", "thousands=ab"], "thousands is one character"),
        (["merge", "t.csv", "t.csv", "t.csv"], "named twice"),
    ],
)
def test_the_command_line_says_it_in_a_line(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sa.write("t.csv", FLAT)
    Path("plain.csv").write_bytes(CSV)
    result = run_command(*arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_a_list_is_no_dimension(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"columns is the name of a dimension, not \['lat'\]"):
        sa.write_table(tmp_path / "x.csv", FLAT, columns=["lat"])  # type: ignore[arg-type]
