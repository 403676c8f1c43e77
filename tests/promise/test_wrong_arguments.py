"""A wrong value of an option is a ValueError, not an error about the room in a target."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
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


UNKNOWN: dict[str, Any] = {
    "read": lambda path, given: sa.read(path, **given),
    "write": lambda path, given: sa.write(path, FLAT, **given),
    "scan": lambda path, given: sa.scan(path, **given),
    "check": lambda path, given: list(sa.check(path, **given)),
    "diff": lambda path, given: sa.diff(path, FLAT, **given),
    "merge": lambda path, given: sa.merge(path, path.with_stem("again"), **given),
    "accept": lambda path, given: sa.accept(path, **given),
    "append": lambda path, given: sa.append(path, FLAT, **given),
    "convert": lambda path, given: sa.convert(path, path.with_suffix(".json"), reading=given),
    "read_dataset": lambda path, given: sa.read_dataset(path, **given),
    "open_many": lambda path, given: sa.open_many([path], **given),
    "iter_blocks": lambda path, given: list(sa.iter_blocks(path, "t", rows=1, **given)),
    "page": lambda path, given: sa.page(path, **given),
    "page of a table": lambda path, given: sa.page(path.with_stem("table"), **given),
    "read_columns": lambda path, given: sa.read_columns(path.with_stem("table"), **given),
    "read_csv": lambda path, given: sa.read_csv(path, **given),
    "write_csv": lambda path, given: sa.write_csv(path, FLAT, **given),
}


@pytest.mark.parametrize("verb", UNKNOWN)
def test_an_option_that_does_not_exist_is_refused_and_those_that_do_are_named(verb: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for name in ("t.csv", "again.csv"):
        sa.write(tmp_path / name, FLAT)
    (tmp_path / "table.csv").write_bytes(CSV)
    before = path.read_bytes()
    with pytest.raises(TypeError, match=r"has no option 'unknown'.*; it has .*delimiter, "):
        UNKNOWN[verb](path, {"unknown": 1})
    with pytest.raises(TypeError, match=r"has no option 'delimeter'.*; did you mean delimiter\?"):
        UNKNOWN[verb](path, {"delimeter": ";"})
    with pytest.raises(TypeError, match=r"has no option 'worksheet'.*; it "):
        UNKNOWN[verb](path, {"worksheet": "x"})
    assert path.read_bytes() == before


def test_functions_without_options_of_formats_name_their_own(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"convert has no option 'worksheet'; it has .*reading=\{'sheet': \.\.\}"):
        sa.convert(tmp_path / "t.csv", tmp_path / "t.json", worksheet="x")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"to_linear has no option 'bas'; did you mean base\?"):
        sa.to_linear(np.arange(3), bas=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="page has no option 'unknown' for arrays; it has names, format"):
        sa.page(FLAT, unknown=1)


@pytest.mark.parametrize("command", ["info", "show", "check", "accept", "convert", "diff", "merge", "append", "page"])
def test_the_command_line_names_the_option_that_may_be_meant(command: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    sa.write(path, FLAT)
    before = path.read_bytes()
    more = {"convert": [tmp_path / "t.json"], "append": [path], "diff": [path], "merge": [path]}.get(command, [])
    for given, said in (
        (["--read", "delimeter=;"], "did you mean delimiter?"),
        (["--delimeter", ";"], "--read delimiter=.."),
        (["--read", "unknown=1"], "it has "),
    ):
        result = run_command(command, path, *more, *given)
        assert result.exit_code == 2
        assert said in result.output
    assert path.read_bytes() == before


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_show_takes_a_column_of_an_ordinary_table_as_scan_does(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    names = ["price"]
    sa.write_table(path, {"id": [1, 2], "price": [2.5, 3.5]}, **({"guard": False} if suffix == ".xlsx" else {}))
    if suffix == ".xlsx":
        book = openpyxl.Workbook()
        for title in ("north", "south"):
            book.create_sheet(title).append(["id", "price"])
            book[title].append([1, 2.5])
        del book["Sheet"]
        book.save(path)
        names = [*sa.scan(path)]
        assert len(names) == 4
    for name in names:
        result = run_command("show", path, name, "--no-picture")
        assert result.exit_code == 0, result.output
    assert "2.5" in result.output
