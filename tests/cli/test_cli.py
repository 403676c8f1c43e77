"""The command line in-process: every command, its text, its JSON and its exit status."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from click.testing import Result
from command_line import run_command

import sheetarray as sa
from sheetarray.formats import FORMATS
from sheetarray.loops import describe

COMMANDS = ["info", "show", "convert", "export", "check", "accept", "restore", "diff", "table", "page"]


def run(*args: object, stdin: bytes | None = None, color: bool = False) -> Result:
    result = run_command(*args, input=stdin, color=color)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


def arrays() -> dict[str, np.ndarray]:
    t = np.arange(60, dtype="float64").reshape(3, 4, 5) / 8
    t[1, 2, 3] = np.nan
    return {
        "t": t,
        "f": np.asfortranarray(np.arange(6, dtype="int16").reshape(2, 3)),
        "zero": np.array(2.5),
        "flags": np.array([True, False, True]),
        "words": np.array(["a", "banana", "=1+1"]),
        "days": np.array(["2020-01-01", "NaT"], "M8[D]"),
        "z": np.array([[3 + 4j, 1j]]),
        "mixed": np.array([1, None, "x"], dtype=object),
        "big": np.array([2**63 - 1, -(2**63)]),
        "none": np.zeros((0, 3)),
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    sa.write(tmp_path / "run.csv", arrays())
    return tmp_path / "run.csv"


@pytest.fixture
def one(tmp_path: Path) -> Path:
    sa.write(tmp_path / "one.csv", {"x": np.arange(6.0).reshape(2, 3)})
    return tmp_path / "one.csv"


def test_restore_and_accept_report_as_json(tmp_path):
    book = tmp_path / "run.xlsx"
    sa.write(book, {"x": np.arange(3.0)}, guard=True)
    answer = json.loads(run("restore", book, tmp_path / "out.xlsx", "--json").stdout)
    assert answer == {"file": str(book), "target": str(tmp_path / "out.xlsx"), "arrays": ["x"], "edits_kept": False}
    assert json.loads(run("accept", book, "--json").stdout)["changes"]["same"]


# Help ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Examples:" in result.stdout
    assert "--json" in result.stdout
    assert "--from" in result.stdout


def test_the_main_help_lists_commands_formats_and_statuses():
    text = run("--help").stdout
    assert all(f"  {command} " in text for command in COMMANDS)
    assert all(suffix in text for row in FORMATS.values() for suffix in row.suffixes)
    assert "Exit status" in text
    assert (run().exit_code, run().stdout) == (2, "")


def test_version():
    assert run("--version").stdout == f"sheetarray {sa.__version__} ({describe()})\n"


# info ------------------------------------------------------------------------------------------------------------


def test_info_as_json(path):
    answer = json.loads(run("info", path, "--json").stdout)
    assert answer["bytes"] == path.stat().st_size
    assert answer["format"] == "csv"
    assert answer["arrays"][0] == {
        "name": "t",
        "dtype": "float64",
        "shape": [3, 4, 5],
        "order": "row-major",
        "strides": [20, 5, 1],
        "offset": 0,
        "capacity": 60,
        "cells": 82,
        "location": "A2",
        "parts": 1,
    }


def test_info_and_check_take_several_files_and_patterns(path, one, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.csv").write_text("t\nversion\n1.0.0\nndarray\nshape\n")
    (tmp_path / "a[1].csv").write_bytes(one.read_bytes())
    shown = run("info", "run.csv", "one.csv")
    assert shown.exit_code == 0
    assert [line.split(":")[0] for line in shown.stdout.splitlines() if "comma-separated" in line] == [
        "run.csv",
        "one.csv",
    ]
    reports = json.loads(run("info", "*.csv", "--json").stdout)
    assert [report["file"] for report in reports] == ["a[1].csv", "broken.csv", "one.csv", "run.csv"]
    assert [report.get("ok") for report in reports] == [None, False, None, None]
    assert run("info", "*.csv").exit_code == 2  # as one of them is broken, and the others are shown
    assert json.loads(run("info", "a[1].csv", "--json").stdout)["bytes"] == one.stat().st_size  # a file, no pattern
    checked = run("check", "?n?.csv", "run.csv")
    assert (checked.exit_code, checked.stdout) == (0, "one.csv: ok (1 array)\nrun.csv: ok (10 arrays)\n")
    assert run("check", "*.csv").exit_code == 1
    for command in ("info", "check"):
        missed = run(command, "one.csv", "x*.csv")
        assert missed.exit_code == 2
        assert missed.stdout.startswith("one.csv: ")
        assert missed.stderr == "error: x*.csv: no file matches\n"


def test_info_and_check_take_patterns_of_urls(one):
    for name in ("a", "b"):
        sa.write(f"memory://cli/{name}.csv", sa.read(one))
    assert [report["file"] for report in json.loads(run("info", "memory://cli/*.csv", "--json").stdout)] == [
        "memory://cli/a.csv",
        "memory://cli/b.csv",
    ]
    assert run("check", "memory://cli/?.csv").stdout.count(": ok (1 array)\n") == 2
    assert "no file matches" in run("check", "memory://cli/*.json").stderr


def test_info_shows_parts_where_there_are_any(tmp_path):
    sa.write(tmp_path / "p.csv", {"x": np.arange(100)}, max_rows=50)
    result = run("info", tmp_path / "p.csv")
    assert "parts" in result.stdout
    assert json.loads(run("info", tmp_path / "p.csv", "--json").stdout)["arrays"][0]["parts"] > 1


# show ------------------------------------------------------------------------------------------------------------


def test_colours_change_no_heading(path):
    for name in arrays():
        plain, coloured = (run("show", path, name, color=color) for color in (False, True))
        assert (coloured.exit_code, coloured.stderr) == (0, "")
        assert coloured.stdout.splitlines()[0] == plain.stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("[:, :, 3]", "[:, :, 3]"),
        (":,:,3", "[:, :, 3]"),
        ("-1", "[-1, :, :]"),
        ("..., -2", "[:, :, -2]"),
        ("0, ...", "[0, :, :]"),
        ("1:3, ::2, 0", "[1:3, ::2, 0]"),
        ("[ : , ::-1 , 4 ]", "[:, ::-1, 4]"),
        ("2,1,0", "[2, 1, 0]"),
        ("0:99,0", "[0:99, 0, :]"),
        ("2:,", "[2:, :, :]"),
        ("...", ""),
        ("[]", ""),
    ],
)
def test_slices_mean_what_numpy_means(path, text, expression):
    answer = json.loads(run("show", path, "t", "--slice", text, "--json").stdout)
    assert answer["slice"] == expression
    expected = eval(f"a{expression}" if expression else "a", {"a": arrays()["t"]})
    np.testing.assert_array_equal(np.array(answer["values"], dtype="float64"), expected)


def test_a_large_array_is_elided_and_pictured_small(tmp_path):
    values = np.add.outer(np.arange(300.0), np.arange(500.0))
    values[:150, :250] = np.nan
    sa.write(tmp_path / "x.csv", {"x": values})
    lines = run("show", tmp_path / "x.csv").stdout.splitlines()
    assert sum("…" in line for line in lines) == 13
    assert len(lines) < 50
    assert max(map(len, lines)) < 120
    assert any(line.startswith("    0 ????") for line in lines)
    assert any(line.endswith("@@") for line in lines)
    assert len(run("show", tmp_path / "x.csv", "--rows", 4, "--no-picture").stdout.splitlines()) == 10


def test_show_json_has_the_cells_of_the_exchange_format(path):
    assert json.loads(run("show", path, "z", "--json").stdout)["values"] == [["3+4i", "0+1i"]]
    assert json.loads(run("show", path, "zero", "--json").stdout)["values"] == 2.5
    assert json.loads(run("show", path, "none", "--json").stdout)["values"] == []
    assert json.loads(run("show", path, "days", "--json").stdout)["values"] == ["2020-01-01", "NaT"]
    assert json.loads(run("show", path, "big", "--json").stdout)["values"] == [str(2**63 - 1), str(-(2**63))]
    answer = json.loads(run("show", path, "t", "--json").stdout)
    assert answer["shape"] == [3, 4, 5]
    assert answer["values"][1][2][3] == "NaN"
    assert answer["statistics"]["nan"] == 1


@pytest.mark.parametrize(
    "values",
    [
        np.full((3, 3), np.nan),
        np.array([[np.inf, -np.inf, np.nan, 1.0]]),
        np.full((4, 4), 7.0),
        np.array([[1.7e308, -1.7e308]]),
        np.array([[5e-324, 0.0]]),
        np.full((50, 50), 65504, dtype="float16"),
        np.arange(3_000.0).reshape(1000, 3),
        np.arange(3_000.0).reshape(3, 1000),
        np.array([[2**64 - 1, 0]], dtype="uint64"),
        np.array([np.nan, np.inf, 1.0]),
        np.array([[np.nan + 1j, 2.0]]),
        np.array([1, 2], dtype="m8[s]"),
        np.array([["日本語", "\x1b[2J"]]),
    ],
    ids=lambda a: f"{a.dtype}{a.shape}",
)
@pytest.mark.filterwarnings("error")
def test_show_survives_what_is_unusual(tmp_path, values):
    sa.write(tmp_path / "x.json", {"x": values})
    for color in (False, True):
        result = run("show", tmp_path / "x.json", "x", color=color)
        assert result.exit_code == 0
        assert "\x1b[2J" not in result.stdout
    assert json.loads(run("show", tmp_path / "x.json", "--json").stdout)["name"] == "x"


# convert ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["out.json", "out.tsv", "out.csv.gz"])
def test_convert_keeps_everything(path, tmp_path, target):
    result = run("convert", path, tmp_path / target)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "10 arrays, 82 elements" in result.stderr
    assert run("diff", path, tmp_path / target).exit_code == 0
    answer = json.loads(run("convert", path, tmp_path / target, "--name", "words", "--name", "z", "--json").stdout)
    assert answer["arrays"][0] == {"name": "words", "dtype": "string", "shape": [3]}
    assert answer["bytes"] == (tmp_path / target).stat().st_size
    assert list(sa.read(tmp_path / target)) == ["words", "z"]


def test_convert_options_of_the_formats(path, tmp_path):
    out = tmp_path / "out.csv"
    options = ["--write", "delimiter=;", "--write", "bom=true", "--write", "decimal=,"]
    assert run("convert", path, out, "--name", "t", *options).exit_code == 0
    assert out.read_bytes().startswith(b"\xef\xbb\xbft\r\n")
    assert b"0,125" in out.read_bytes()
    back = tmp_path / "back.json"
    assert run("convert", out, back, "--read", "decimal=,", "--read", "delimiter=;").exit_code == 0
    np.testing.assert_array_equal(sa.read(back)["t"], arrays()["t"])


@pytest.mark.parametrize("given", ["t=0.00", "0.00", '{"t": "0.00"}', "t=0.00;-0.00", "0.00;-0.00"])
def test_number_formats_are_chosen_on_the_command_line(tmp_path, given):
    sa.write(tmp_path / "a.csv", {"t": np.array([1.5, 2.25])})
    result = run("convert", tmp_path / "a.csv", tmp_path / "a.xlsx", "--write", f"formats={given}")
    assert result.exit_code == 0, result.output
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx")["arrays"]
    wanted = "0.00;-0.00" if ";" in given else "0.00"
    assert sheet.cell(sheet.max_row, 1).number_format == wanted
    for wrong in ("3", "{", '{"t": 3}', "=0.0", '["t"]'):
        refused = run("convert", tmp_path / "a.csv", tmp_path / "b.xlsx", "--write", f"formats={wrong}")
        assert refused.exit_code == 2
        assert "formats" in refused.stderr
        assert len(refused.stderr.splitlines()) <= 2
    assert not (tmp_path / "b.xlsx").exists()


# check -----------------------------------------------------------------------------------------------------------


def test_check_names_the_cell_and_the_element(path, one, tmp_path):
    intact = run("check", path, one)
    assert (intact.exit_code, intact.stdout) == (0, f"{path}: ok (10 arrays)\n{one}: ok (1 array)\n")
    told = [{"file": str(one), "ok": True, "arrays": 1, "findings": []}]
    assert json.loads(run("check", one, "--json").stdout) == told
    text = path.read_text(encoding="utf-8").replace("0.125,", "oops,", 1)
    path.write_text(text, encoding="utf-8")
    result = run("check", path)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == f"{path}: 1 error in 1 array"
    assert "t[0, 0, 1]" in result.stdout
    answer = json.loads(run("check", path, "--json").stdout)
    assert answer[0]["ok"] is False
    assert answer[0]["findings"][0]["severity"] == "error"
    (tmp_path / "old.json").write_text(json.dumps({"x": sa.to_linear(np.arange(3))[2:]}))
    warned = run("check", tmp_path / "old.json")
    assert (warned.exit_code, "1 warning" in warned.stdout) == (1, True)


@pytest.mark.parametrize("count", [2, 3, 19, 20, 21, 23])
@pytest.mark.parametrize("alike", [True, False])
def test_check_prints_findings_that_are_alike_once(tmp_path, count, alike):
    """Alike are equal values in many cells; where there would be more than twenty lines, other values too."""
    sa.write(tmp_path / "run.csv", {"t": np.arange(12) / 7, "u": np.arange(12) / 3})
    rows = [line.split(",") for line in (tmp_path / "run.csv").read_text().splitlines()]
    for place in range(count):
        rows[-1 - place // 2][place % 2] = "oops" if alike else f"oops {place}"
    (tmp_path / "run.csv").write_text("\n".join(map(",".join, rows)) + "\n")
    summary, *lines = run("check", tmp_path / "run.csv").stdout.splitlines()
    assert summary == f"{tmp_path / 'run.csv'}: {count} errors in 2 arrays"
    folded = count > 20 or (alike and count >= 3)
    assert len(lines) == (3 if folded else count)
    if folded:
        first = 12 - (count + 1) // 2
        assert lines[0].endswith(f"t[{first}]: expected a number, found 'oops{'' if alike else f' {count - 1}'}'")
        second = [f"t[{first + 1}]"] if first == 10 else [f"t[{first + 1}] to t[11]"]
        others = [f"u[{12 - count // 2}] to u[11]"] if count > 3 else ["u[11]"]
        assert lines[1:] == [
            f"           and {count - 1} more like it: {', '.join(second + others)}",
            "--all shows each finding",
        ]
    whole = run("check", tmp_path / "run.csv", "--all").stdout.splitlines()
    assert (whole[0], len(whole)) == (summary, 1 + count)
    (told,) = json.loads(run("check", tmp_path / "run.csv", "--json").stdout)
    assert len(told["findings"]) == count


@pytest.mark.parametrize("count", [19, 20, 21, 23])
def test_check_sums_up_and_prints_twenty_findings(tmp_path, count):
    lists = {f"t{number}": sa.to_linear(np.zeros(number)) for number in range(count)}
    for number, cells in enumerate(lists.values()):
        cells[cells.index("length") + 1] = number + 1
    (tmp_path / "run.json").write_text(json.dumps(lists))
    summary, *lines = run("check", tmp_path / "run.json").stdout.splitlines()
    assert summary == f"{tmp_path / 'run.json'}: {count} errors in {count} arrays"
    more = f"and {count - 20} more finding{'' if count == 21 else 's'} (--all shows them)"
    assert sum(line.startswith("  error") for line in lines) == min(count, 20)
    assert lines[-1:] == ([more] if count > 20 else lines[-1:])
    whole = run("check", tmp_path / "run.json", "--all").stdout.splitlines()
    assert sum(line.startswith("  error") for line in whole) == count


# Pipes and errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["info", "show", "check"])
def test_pipes(one, command):
    result = run(command, "-", "--from", "csv", stdin=one.read_bytes())
    assert result.exit_code == 0
    assert result.stdout
    packed = run(command, "-", "--from", "csv", stdin=gzip.compress(one.read_bytes()))
    assert packed.stdout == result.stdout
    damaged = run("info", "-", "--from", "csv", stdin=b"t\nversion\n1.0.0\nndarray\nshape\n")
    assert (damaged.exit_code, damaged.stderr[:14]) == (2, "error: stdin, ")
