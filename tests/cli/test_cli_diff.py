"""`diff`: what counts as a difference; tests/transcripts/diff.txt shows how it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from command_line import run_command, run_diff
from programs import resave
from services import ENDPOINT

import sheetarray as sa
from sheets_emulator import SheetsServer


def test_tolerances_are_those_of_isclose():
    rng = np.random.default_rng(5)
    a = rng.normal(size=1000)
    b = a * (1 + rng.normal(size=1000) * 1e-3)
    for rtol, atol in ((1e-3, 0), (0, 1e-3), (1e-4, 1e-4)):
        expected = np.count_nonzero(~np.isclose(a, b, rtol=rtol, atol=atol))
        assert len(sa.diff({"x": a}, {"x": b}, rtol=rtol, atol=atol).edited) == expected


# `diff` and `accept` go on where a cell is blank, n/a or an error ----------------------------------------------


def run(*arguments: object) -> Any:
    return run_diff(*arguments)


def place_with_cells(kind: str, folder: Path, values: Any, cells: dict[int, str | None], server: SheetsServer) -> str:
    """Write arrays to a file of a kind, or a spreadsheet, in which a few data cells of t hold something else."""
    path = folder / f"b.{kind}"
    if kind in ("xlsx", "ods"):
        sa.write(path.with_suffix(".xlsx"), values)
        book, info = openpyxl.load_workbook(path.with_suffix(".xlsx")), sa.scan(path.with_suffix(".xlsx"))["t"].data[0]
        for index, cell in cells.items():
            book["arrays"][info.address(index).partition("!")[2]].value = "=1/0" if cell == "#DIV/0!" else cell
        (folder / "edited").mkdir()
        book.save(folder / "edited" / "b.xlsx")
        return str(resave(folder / "edited" / "b.xlsx", kind, folder))
    if kind == "google":
        place = f"gsheets://{server.create()}/arrays"
        sa.write(place, values, client=server.client())
        info = sa.scan(place, client=server.client())["t"].data[0]
        sheet = server.client().open_by_key(place.split("/")[2]).worksheet("arrays")
        for index, cell in cells.items():
            sheet.update([["" if cell is None else cell]], info.address(index).partition("!")[2])
        return place
    sa.write(path, values)
    text = path.read_text()
    for index, cell in cells.items():
        said = json.dumps(cell) if kind == "json" else cell or ""
        text = text.replace(repr(values["t"].ravel().tolist()[index]), said)
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "xlsx", "ods", "google"])
def test_every_container_of_cells_goes_on(
    tmp_path: Path, kind: str, server: SheetsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENDPOINT, server.url)
    values = np.arange(1, 13).reshape(4, 3) / 7
    cells = {1: "n/a", 5: None, 7: "#DIV/0!"}
    place = place_with_cells(kind, tmp_path, {"t": values, "u": np.arange(3)}, cells, server)
    other = values.copy()
    other[3, 2] = 99.5
    sa.write(tmp_path / "a.npz", {"t": other, "u": np.arange(3)})
    result = run(tmp_path / "a.npz", place)
    assert result.exit_code == 1, result.output
    assert "3 cells cannot be read" in " ".join(result.output.split())
    assert "t[3, 2]: 99.5" in result.output
    assert [result.output.count(element) for element in ("t[0, 1]: ", "t[1, 2]: ", "t[2, 1]: ")] == [1, 1, 1]
    (found,) = json.loads(run_command("check", place, "--json").output)
    assert [finding["index"] for finding in found["findings"] if finding["severity"] == "error"] == [
        [0, 1],
        [1, 2],
        [2, 1],
    ]
    if kind == "ods":
        assert run_command("accept", place, "-o", tmp_path / "accepted.csv").exit_code == 2
        return
    accepted = run_command("accept", place)
    assert accepted.exit_code == 1, accepted.output
    assert "3 cells cannot be read, and stay as they are" in " ".join(accepted.output.split())
    assert run(tmp_path / "a.npz", place).output == result.output
