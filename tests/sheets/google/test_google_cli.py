"""The command line on Google Sheets: the sample elevation grid there and back, in real processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from spreadsheets import ENDPOINT

from sheetarray.testing.sheets_server import SheetsServer

SAMPLES = Path(__file__).parents[3] / "sample_sheets"


def run(server: SheetsServer, *arguments: str, status: int = 0) -> str:
    command = [sys.executable, "-W", "error", "-m", "sheetarray", *arguments]
    environment = {ENDPOINT: server.url, "PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_the_elevation_grid_goes_there_and_comes_back_byte_for_byte(server: SheetsServer, tmp_path: Path) -> None:
    url = f"https://docs.google.com/spreadsheets/d/{server.create()}/edit"
    sample = SAMPLES / "elevation.csv"
    assert "15,525 elements (Google Sheets)" in run(server, "convert", str(sample), url, "--views")
    (result,) = json.loads(run(server, "info", "--json", url))["arrays"]
    assert (result["name"], result["dtype"], result["shape"]) == ("elevation", "int16", [115, 135])
    assert "ok (1 array)" in run(server, "check", url)
    assert "no differences" in run(server, "diff", str(sample), url)
    assert run(server, "show", url, "elevation", "--slice", "0,0").split()[-1] == "483"
    back = tmp_path / "elevation.csv"
    run(server, "convert", url, str(back))
    assert back.read_bytes() == sample.read_bytes()
    run(server, "convert", str(SAMPLES / "elnino.csv"), f"{url}#gid=0")
    assert "no differences" in run(server, "diff", str(SAMPLES / "elnino.csv"), f"{url}#gid=0")


def test_what_goes_wrong_is_said_in_a_line_or_two(server: SheetsServer) -> None:
    key = server.create()
    absent = run(server, "info", f"gsheets://1{'x' * 40}", status=2)
    assert "no spreadsheet" in absent
    assert "'Sheet1'" in run(server, "info", f"gsheets://{key}/nope", status=2)
    assert len(absent.splitlines()) <= 2
    server.forbid(key)
    assert "share it" in run(server, "info", f"gsheets://{key}", status=2)
