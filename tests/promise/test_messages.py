"""What a stranger is told: what is wrong, where, and what to do, in a line or two."""

from __future__ import annotations

import errno
import inspect
import os
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adapters_deleted import DELETED
from click.testing import Result
from command_line import run_command

import sheetarray as sa
from sheetarray.formats import FORMATS
from sheetarray.formats.refusals import place_problem

ARRAY = np.arange(3.0)


@pytest.fixture
def table(tmp_path) -> Path:
    sa.write(tmp_path / "t.csv", {"t": ARRAY})
    return tmp_path / "t.csv"


def run(*arguments: object) -> Result:
    return run_command(*arguments)


# Which format ------------------------------------------------------------------------------------------------


def test_a_folder_is_called_one(tmp_path):
    for call in (sa.read, lambda path: sa.write(path, ARRAY)):
        with pytest.raises(sa.NotFoundError, match="this is a folder"):
            call(tmp_path)
    said = run("info", tmp_path)
    assert "this is a folder" in said.stderr
    assert "--from" not in said.stderr
    ends = sorted({".ra", ".awkd"} - {f".{name}" for name in DELETED})  # whatever rows the table has, and no other
    assert all(end in said.stderr for end in ends)
    plain = [replace(row, folders=None) for row in FORMATS.values()]
    assert place_problem(str(tmp_path), plain) == f"{tmp_path}: this is a folder; name a file in it"
    outside = [*plain, replace(plain[0], folders="read", suffixes=(".inks",))]
    assert place_problem(str(tmp_path), outside).endswith(" (folders of arrays end in .inks)")


# What is no source -------------------------------------------------------------------------------------------


@pytest.mark.skipif(bool({"csv", "json", "npz", "xlsx", "gsheet"} & set(DELETED)), reason="an adapter was deleted")
def test_an_argument_of_a_wrong_kind_is_refused_by_its_name(table, tmp_path, gspread_client):
    """By an error of ours, or one of Python's that has the name of the argument in it; some kinds are taken."""
    arrays, key = {"t": ARRAY}, gspread_client.create("x").id
    book, other = tmp_path / "book.xlsx", tmp_path / "other.csv"
    sa.write(book, {"t": np.ones((2, 3))}, guard=True)
    sa.write(other, {"t": ARRAY + 1})
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")

    def blocks(*args: Any, **options: Any) -> Any:
        return list(sa.iter_blocks(*args, **options))

    def write_with_writer(*args: Any, **options: Any):
        with sa.open_writer(*args, **options) as writer:
            writer.append(arrays)

    def write_view(**options: Any):
        sa.write(tmp_path / "view.xlsx", {"t": np.ones((2, 3))}, views={"t": sa.View(**options)})

    calls: list[tuple[Any, dict[str, Any]]] = [
        (sa.read, {"source": table, "names": None, "progress": None}),
        (sa.write, {"target": tmp_path / "a.csv", "arrays": arrays, "progress": None}),
        (sa.scan, {"source": table}),
        (sa.read_dataset, {"source": table}),
        (sa.read_frame, {"source": table}),
        (sa.read_columns, {"source": tmp_path / "table.csv"}),
        (sa.write_table, {"target": tmp_path / "b.csv", "table": arrays}),
        (sa.read_csv, {"source": table}),
        (sa.write_csv, {"target": tmp_path / "c.csv", "arrays": arrays}),
        (sa.read_excel, {"source": book}),
        (sa.write_excel, {"target": tmp_path / "c.xlsx", "arrays": arrays}),
        (sa.write_json, {"target": tmp_path / "c.json", "arrays": arrays}),
        (sa.convert, {"source": table, "target": tmp_path / "d.json"}),
        (sa.convert, {"source": [table], "target": tmp_path / "{stem}-2.csv"}),
        (sa.open_many, {"sources": [table]}),
        (blocks, {"source": table, "name": "t", "rows": 1}),
        (write_with_writer, {"target": tmp_path / "e.csv", "append_axis": 0}),
        (write_view, {"rows": None, "columns": None, "colors": "array", "editable": False}),
        (sa.accept, {"source": table, "target": tmp_path / "f.csv"}),
        (sa.restore, {"source": book, "target": tmp_path / "g.xlsx"}),
        (partial(sa.merge, table, other), {"target": tmp_path / "h.csv"}),
        (sa.to_linear, {"array": ARRAY}),
        (sa.from_linear, {"cells": sa.to_linear(ARRAY)}),
        (sa.write_gsheet, {"target": key, "arrays": arrays, "client": gspread_client}),
        (sa.append, {"target": f"gsheets://{key}", "arrays": arrays, "client": gspread_client}),
        (sa.read_gsheet, {"source": key, "client": gspread_client}),
    ]
    unnamed = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call, given in calls:
            known = inspect.signature(call).parameters.values()
            names = [entry.name for entry in known if entry.kind in (entry.KEYWORD_ONLY, entry.POSITIONAL_OR_KEYWORD)]
            call(**given)
            for name in dict.fromkeys([*given, *names]):
                if name in ("client", "timeout") or (name == "progress" and name not in given):
                    continue
                for wrong in (5, [1], {"a": 1}, None):
                    said = {"from_format": "format", "to_format": "format", "reading": "option", "writing": "option"}
                    try:
                        call(**{**given, name: wrong})
                    except (sa.SheetArrayError, OSError):
                        pass
                    except Exception as error:
                        if not any(word in str(error) for word in (name, said.get(name, name), "expected a ")):
                            unnamed.append((call, name, wrong, error))
    assert not unnamed, unnamed


# What the system says ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "name"), [("replace", "t.csv"), ("mkdir", "t.zarr")])
def test_an_error_names_the_target_and_not_the_temporary_file(step, name, tmp_path, monkeypatch):
    def refuse(path, *_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(f"pathlib.Path.{step}", lambda path, *rest, **more: refuse(path))
    with pytest.raises(PermissionError) as caught:
        sa.write(tmp_path / name, {"t": ARRAY, "u": ARRAY})
    monkeypatch.undo()
    assert caught.value.filename == str(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    assert ".tmp" not in str(caught.value)


# The command line's own words ----------------------------------------------------------------------------------


@pytest.mark.fault("The disk is full, for each format.", "One line names the file and the reason.")
def test_a_full_disk_is_named(table):
    if not os.path.exists("/dev/full"):
        pytest.skip("the system has no /dev/full")
    assert run("convert", table, "/dev/full", "--to", "csv").stderr.startswith("error: /dev/full: ")
