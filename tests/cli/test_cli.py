"""The command line in-process: every command, its text, its JSON and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from command_line import run_command

import sheetarray as sa
from sheetarray.formats import FORMATS

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


# show ------------------------------------------------------------------------------------------------------------


def test_colours_change_no_heading(path):
    for name in arrays():
        plain, coloured = (run("show", path, name, color=color) for color in (False, True))
        assert (coloured.exit_code, coloured.stderr) == (0, "")
        assert coloured.stdout.splitlines()[0] == plain.stdout.splitlines()[0]


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
