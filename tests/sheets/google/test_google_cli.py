"""The command line on Google Sheets: a grid of elevations there and back, and a sample table, in real processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run_command
from services import ENDPOINT

import sheetarray as sa
from sheets_emulator import SheetsServer

SAMPLES = Path(__file__).parents[3] / "sample_sheets"


def run(server: SheetsServer, *arguments: str, status: int = 0) -> str:
    command = [sys.executable, "-W", "error", "-m", "sheetarray", *arguments]
    environment = {ENDPOINT: server.url, "PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def run_here(*arguments: str, status: int = 0) -> str:
    """Run a command in this process, which need not start."""
    done = run_command(*arguments)
    assert done.exit_code == status, done.output
    return done.output


def test_a_grid_of_elevations_goes_there_and_comes_back_byte_for_byte(server: SheetsServer, tmp_path: Path) -> None:
    url = f"https://docs.google.com/spreadsheets/d/{server.create()}/edit"
    grid, back = tmp_path / "elevation.csv", tmp_path / "back.csv"
    sa.write(grid, {"elevation": sa.read(SAMPLES / "elevation.csv")["elevation"][-12:, -15:]})
    assert "180 elements (Google Sheets)" in run(server, "convert", str(grid), url, "--views")
    (result,) = json.loads(run(server, "info", "--json", url))["arrays"]
    assert (result["name"], result["dtype"], result["shape"]) == ("elevation", "int16", [12, 15])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ENDPOINT, server.url)
        assert "ok (1 array)" in run_here("check", url)
        assert "no differences" in run_here("diff", str(grid), url)
        assert run_here("show", url, "elevation", "--slice", "0,0").split()[-1] == "331"
        run_here("convert", url, str(back))
        assert back.read_bytes() == grid.read_bytes()
        run_here("convert", str(SAMPLES / "elnino.csv"), f"{url}#gid=0")
        assert "no differences" in run_here("diff", str(SAMPLES / "elnino.csv"), f"{url}#gid=0")


def test_what_goes_wrong_is_said_in_a_line_or_two(server: SheetsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    key = server.create()
    absent = run(server, "info", f"gsheets://1{'x' * 40}", status=2)
    assert "no spreadsheet" in absent
    monkeypatch.setenv(ENDPOINT, server.url)
    assert "'Sheet1'" in run_here("info", f"gsheets://{key}/nope", status=2)
    assert len(absent.splitlines()) <= 2
    server.forbid(key)
    assert "share it" in run_here("info", f"gsheets://{key}", status=2)
