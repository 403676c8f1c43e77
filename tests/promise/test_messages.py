"""What a stranger is told: what is wrong, where, and what to do, in a line or two."""

from __future__ import annotations

import errno
import inspect
import io
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


@pytest.mark.parametrize(
    ("suffix", "meant"),
    [
        (".cvs", ".csv"),
        (".CVS", ".csv"),
        (".xslx", ".xlsx"),
        (".jsn", ".json"),
        (".xlx", ".xls"),
        (".tsvv", ".tsv"),
        (".cvs.gz", ".csv"),
        (".nyp", ".npy"),
        (".avr", ".avro"),
        (".dat", None),
        (".md", None),
        (".sav", None),
        (".orc", None),
    ],
)
def test_the_nearest_suffix_is_suggested(suffix, meant):
    if meant and meant.removeprefix(".") in DELETED:
        pytest.skip("its adapter was deleted")
    for call in (sa.read, sa.scan, lambda path: sa.write(path, ARRAY)):
        with pytest.raises(sa.NotFoundError) as caught:
            call(f"run{suffix}")
        assert ("did you mean" in str(caught.value)) is (meant is not None)
        assert f"did you mean {meant}?" in str(caught.value) or (meant is None and ".xlsx" in str(caught.value))
    said = run("info", f"run{suffix}")
    assert said.exit_code == 2
    assert ("did you mean" in said.stderr) is (meant is not None)


@pytest.mark.parametrize(
    ("name", "meant"),
    [(".csv", "csv"), ("CSV", "csv"), ("excel", "xlsx"), ("xls", "ods"), ("xslx", "xlsx"), ("msgpack", "sciserialize")],
)
def test_a_format_of_another_name_is_suggested(name, meant):
    if meant in DELETED:
        pytest.skip("its adapter was deleted")
    with pytest.raises(sa.NotFoundError, match=f"did you mean '{meant}'"):
        sa.read("x.csv", format=name)
    with pytest.raises(sa.NotFoundError, match=f"there is .*{meant}"):
        sa.read("x.csv", format="orc")
    with pytest.raises(TypeError, match="not 3"):
        sa.read("x.csv", format=3)  # type: ignore[arg-type]


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


@pytest.mark.parametrize("place", ["run", "https://example.org/run?name=run.csv", "s3://bucket/run"])
def test_a_place_without_a_suffix_is_told_to_name_the_format(place):
    with pytest.raises(sa.NotFoundError, match="it has no suffix that shows the format"):
        sa.read(place)
    assert "name the format with --from" in run("info", place).stderr


@pytest.mark.skipif("gsheet" in DELETED, reason="its adapter was deleted")
def test_a_short_key_of_google_is_named():
    with pytest.raises(sa.NotFoundError, match="'abc' is not a key of Google Sheets"):
        sa.read("https://docs.google.com/spreadsheets/d/abc/edit")
    with pytest.raises(sa.NotFoundError, match="neither a URL"):
        sa.read("https://docs.google.com/spreadsheets/")


# What is no source -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (None, "not None"),
        (3, "not an int"),
        ({"t": ARRAY}, "not a dict; write takes the target first"),
        (["a.csv"], "not a list; one call for each file"),
        (ARRAY, "not an ndarray"),
        (b"x", r"not bytes; io\.BytesIO"),
    ],
)
def test_what_is_no_source_is_named(source, said):
    for call in (sa.read, sa.scan, sa.check, sa.read_columns, lambda source: sa.write(source, "x.csv")):
        with pytest.raises(TypeError, match=f"expected a path, a URL or an open file, {said}"):
            call(source)


def test_text_is_no_path():
    with pytest.raises(sa.NotFoundError, match=r"'version' \.\.: this is text, not a path; io\.StringIO"):
        sa.read("version\n1.0.0\nndarray\n")


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

    from sheetarray.sheets.google.appending import append_gsheet

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
        (append_gsheet, {"target": key, "arrays": arrays, "client": gspread_client}),
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


def test_a_closed_file_is_called_closed(table):
    with open(table) as file:
        pass
    writers = (lambda file: sa.write(file, ARRAY), lambda file: sa.write_csv(file, ARRAY))
    for call in (sa.read, sa.scan, sa.read_csv, *writers):
        with pytest.raises(ValueError, match=r"t\.csv: the file is closed"):
            call(file)


@pytest.mark.parametrize("name", ["npz", "npy", "xlsx", "avro", "ra"])
def test_a_file_opened_for_text_is_refused_where_bytes_are_meant(name, tmp_path):
    path = tmp_path / f"t.{name}"
    sa.write(path, {"t": ARRAY})
    with open(path, encoding="latin-1") as file, pytest.raises(TypeError, match="with mode 'rb'"):
        sa.read(file)
    with open(path, "w") as file, pytest.raises(TypeError, match="with mode 'wb'"):
        sa.write(file, {"t": ARRAY})
    path.write_bytes(b"\xff\xfe\xfd" * 9)
    with open(path, encoding="utf-8") as file, pytest.raises(sa.FormatError, match=r"opened as utf-8 text.*'rb'"):
        sa.read(file, format="csv")


@pytest.mark.parametrize(
    "suffix", ["csv", "tsv.gz", "xlsx", "ods", "npy", "npz", "ra", "avro", "json", "msgpack", "awkd"]
)
def test_an_empty_file_is_called_empty(suffix, tmp_path):
    path = tmp_path / f"e.{suffix}"
    path.touch()
    with pytest.raises(sa.FormatError, match=rf"e.{suffix}(, byte 0)?: the file is empty: 0 bytes$"):
        sa.read(path)
    assert [finding.message for finding in sa.check(path)] == ["the file is empty: 0 bytes"]


@pytest.mark.parametrize(
    ("value", "kind"),
    [("{}", "an object"), ('"x"', "a string"), ("1.5", "a number"), ("true", "a boolean"), ("null", "null")],
)
def test_values_of_json_are_called_as_json_calls_them(value, kind):
    with pytest.raises(sa.FormatError, match=f"expected a flat list, found {kind}"):
        sa.read_json(io.StringIO('{"a": [], "t": ' + value + "}"), ["t"])


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


@pytest.mark.parametrize(
    ("command", "option"), [("info t.csv --read", "--from"), ("convert t.csv x.json --write", "--to")]
)
def test_a_format_that_is_given_as_an_option_is_named_by_its_own(command, option, table, monkeypatch):
    monkeypatch.chdir(table.parent)
    assert f"hint: name the format with {option}" in run(*command.split(), "format=csv").stderr


REFUSED = [
    *("info missing.csv", "info .", "info t.cvs", "info t", "info -", "info empty.csv", "info t.csv --from npz"),
    *("info t.csv --from xslx", "info t.csv --jsn", "infoo t.csv", "info t.csv --read delimiter"),
    *("info t.csv --read x=1", "info", "info . --from csv", "info https://example.org/x.csv", "foo", "--nonsense"),
    *("show t.csv u", "show t.csv t --slice [9]", "show t.csv t --slice x", "show t.csv t u", "table missing.csv"),
    *("convert t.csv", "convert t.csv t.foo", "convert t.csv t.ods", "convert t.csv -", "convert t.csv no/x.csv"),
    *("convert t.csv .", "convert t.csv x.json u", "convert t.csv x.xlsx --write foo=1", "convert - x.json"),
    *("convert t.csv x.xlsx --write foo", "convert t.csv - --to csv --json", "check", "check - - --from csv"),
    *("diff t.csv", "diff t.csv missing.csv", "diff t.csv t.csv --rtol -1", "diff - -", "diff t.csv t.csv u"),
    *("diff t.csv t.csv --rtol x", "diff - - --from csv", "diff t.csv t.csv --atol nan"),
]


@pytest.mark.parametrize("command", REFUSED)
def test_every_refusal_is_a_line_or_two(command, table, monkeypatch):
    monkeypatch.chdir(table.parent)
    Path("empty.csv").touch()
    said = run(*command.split())
    assert (said.exit_code, said.stdout) == (2, "")
    lines = said.stderr.splitlines()
    assert 1 <= len(lines) <= 2
    assert lines[0].startswith("error: ")
    assert all(line.startswith("hint: ") for line in lines[1:])


@pytest.mark.fault("The disk is full, for each format.", "One line names the file and the reason.")
def test_a_full_disk_is_named(table):
    if not os.path.exists("/dev/full"):
        pytest.skip("the system has no /dev/full")
    assert run("convert", table, "/dev/full", "--to", "csv").stderr.startswith("error: /dev/full: ")


@pytest.mark.parametrize("kind", ["csv", "json", "npy", "npz", "avro", "sciserialize", "ra", "xlsx"])
def test_an_open_file_at_its_end_is_told_so(kind):
    file = io.BytesIO()
    sa.write(file, {"array": np.arange(3.0)}, format=kind)
    file.seek(0, io.SEEK_END)
    with pytest.raises(sa.FormatError, match=r"is at its end \(file\.seek\(0\)"):
        sa.read(file, format=kind)
    assert "file.seek(0)" in next(iter(sa.check(file, format=kind))).hint
    with pytest.raises(sa.FormatError) as caught:
        sa.read(io.BytesIO(), format=kind)
    assert "seek" not in str(caught.value)


def test_a_text_file_at_its_end_is_told_so():
    file = io.StringIO("a,b\n1,2\n")
    assert len(sa.read_columns(file, format="csv")) == 2
    with pytest.raises(sa.FormatError, match="is at its end"):
        sa.read_columns(file, format="csv")


def test_a_suffix_that_is_not_compressed_is_not_suggested_for_itself():
    with pytest.raises(sa.NotFoundError, match=r"\.xlsx is never compressed; take memory://a/b\.xlsx"):
        sa.write("memory://a/b.xlsx.gz", {"a": np.arange(3)})
    with pytest.raises(sa.NotFoundError, match=r"\.xlsx is never compressed.*; take b\.xlsx"):
        sa.write("b.xlsx.gz", np.arange(2))
    with pytest.raises(sa.NotFoundError, match=r"did you mean \.csv\?"):
        sa.write("b.cvs.gz", np.arange(2))


@pytest.mark.parametrize(("text", "message"), [("", "empty"), ("\n", "empty"), ('[{"x": 1}]', "found an object in it")])
def test_scan_of_json_says_what_is_there(text, message):
    with pytest.raises(sa.FormatError, match=message):
        sa.scan(io.StringIO(text), format="json")


@pytest.mark.parametrize("name", [float("nan"), np.float64("nan"), np.datetime64("NaT", "D")])
def test_a_missing_label_is_no_name(name):
    with pytest.raises(sa.DTypeError, match="not the name of an array"):
        sa.write(io.BytesIO(), {name: np.arange(2)}, format="csv")  # type: ignore[dict-item]


def test_na_values_are_no_mapping():
    with pytest.raises(ValueError, match="not a mapping"):
        sa.read_columns(io.StringIO("a\n1\n"), format="csv", na_values={"a": "1"})
