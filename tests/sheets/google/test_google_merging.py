"""Copies that come back as Google Sheets, workbooks and text are merged into a Google Sheet, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from command_line import run_command
from services import ENDPOINT, dump

import sheetarray as sa
from sheets_emulator import Fault, SheetsServer


def grid() -> xr.Dataset:
    values = np.random.default_rng(2).normal(size=(4, 3))
    return xr.Dataset(
        {"t": (("time", "x"), values), "s": ("time", np.array(["a", "b", "", "d"])), "n": ("x", [1, 2, 2**60])},
        coords={"time": np.arange("2026-03-01", "2026-03-05", dtype="M8[D]"), "x": [1, 2, 3]},
    )


@pytest.fixture
def client(server: SheetsServer) -> Any:
    yield server.client()
    server.requests.clear()
    server.faults.clear()


@pytest.fixture
def places(server: SheetsServer, client: Any, tmp_path: Path) -> list[str]:
    """The base and a copy in Google Sheets, and copies as a workbook and as text."""
    base, ann, ben, carl = (grid() for _ in range(4))
    ann["t"][1, 1], ann["t"][0, 0] = 99.5, 7.0
    ben["t"][1, 1], ben["s"][3] = -1.5, "x"
    carl["t"][0, 0] = 7.0
    places = [f"gsheets://{server.create()}" for _ in range(2)]
    for place, held in zip(places, (base, ann), strict=True):
        sa.write_gsheet(place, held, client=client)
    for name, held in (("ben.xlsx", ben), ("carl.csv", carl)):
        sa.write(tmp_path / name, held)
        places.append(str(tmp_path / name))
    return places


def merged_grid() -> xr.Dataset:
    wanted = grid()
    wanted["t"][0, 0], wanted["s"][3] = 7.0, "x"
    return wanted


@pytest.mark.parametrize("where", ["the base", "a spreadsheet", "a workbook"])
def test_copies_of_both_kinds_are_merged_into_either(
    server: SheetsServer, client: Any, places: list[str], tmp_path: Path, where: str
) -> None:
    made = f"gsheets://{server.create()}" if where == "a spreadsheet" else str(tmp_path / "merged.xlsx")
    target = places[0] if where == "the base" else made
    options = {"client": client} if target.startswith("gsheets") else {}
    merged = sa.merge(*places, target=target, client=client)
    (conflict,) = merged.conflicts
    assert (conflict.array, conflict.index, conflict.base) == ("t", (1, 1), float(grid()["t"][1, 1]))
    assert conflict.values == {places[1]: 99.5, places[2]: -1.5}
    assert conflict.labels == {"time": "2026-03-02", "x": "2"}
    assert conflict.cells[places[1]] == conflict.cells[places[2]] == "arrays!A26"
    xr.testing.assert_identical(sa.read_dataset(target, **options), merged_grid())
    assert list(sa.check(target, **options)) == []
    if where != "the base":
        xr.testing.assert_identical(sa.read_dataset(places[0], client=client), grid())


def test_a_row_that_a_person_adds_in_the_browser_is_merged(client: Any, places: list[str]) -> None:
    sheet = client.open_by_key(places[1].removeprefix("gsheets://")).worksheet("arrays")
    sheet.add_rows(3)
    for name, cells in {"t": [[1.5], [2.5], [3.5]], "s": [["new"]], "time": [["2026-03-09"]]}.items():
        column = sheet.row_values(1).index(name) + 1
        below = {"t": 12, "s": 4, "time": 4}[name]
        start = sheet.col_values(column).index("data") + 2 + below
        sheet.update(cells, f"R{start}C{column}", value_input_option="USER_ENTERED")
    merged = sa.merge(*places, target=places[0], prefer=places[2], client=client)
    assert merged.unresolved == 0
    wanted = sa.read_dataset(places[0], client=client)
    assert wanted["time"].values[-1] == np.datetime64("2026-03-09")
    assert wanted["t"].values[-1].tolist() == [1.5, 2.5, 3.5]
    assert wanted["s"].values.tolist() == ["a", "b", "", "x", "new"]
    assert wanted["t"].values[1, 1] == -1.5


def test_a_merge_that_google_refuses_leaves_the_base_as_it_was(
    server: SheetsServer, client: Any, places: list[str]
) -> None:
    key = places[0].removeprefix("gsheets://")
    before = dump(server, key)
    server.faults.append(Fault(403, method="POST", times=None))
    with pytest.raises(sa.RemoteError, match="permission"):
        sa.merge(*places, target=places[0], client=client)
    server.faults.clear()
    assert dump(server, key) == before


def test_the_command_merges_spreadsheets_by_their_urls(
    server: SheetsServer, client: Any, places: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENDPOINT, server.url)
    result = run_command("merge", *places, "-o", places[0])
    assert result.exit_code == 1, result.output
    assert f"{places[1]}: 99.5, cell arrays!A26" in result.output
    xr.testing.assert_identical(sa.read_dataset(places[0], client=client), merged_grid())
