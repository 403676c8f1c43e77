"""What the Google Sheets emulator works out of what lies over cells: gradients, filters, parts of seconds."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from children import limited
from sheets_asking import Sheets, ask

from sheets_emulator import SheetsServer


@pytest.fixture
def sheets(server: SheetsServer) -> Sheets:
    return Sheets(server, ("S", 12, 6), ("T", 5, 3))


def write(sheets: Sheets, cells: list[list[Any]], place: str = "A1") -> None:
    sheets.put(place, cells, "USER_ENTERED")


def grid_data(sheets: Sheets, fields: str) -> Any:
    answer = sheets.done(*ask(sheets.server, "GET", f"/{sheets.key}", ranges="S", fields=f"sheets.data({fields})"))
    return answer["sheets"][0]["data"][0]


@pytest.mark.parametrize(
    ("pattern", "shown"),
    [
        ("yyyy-mm-dd hh:mm:ss.000", "2024-02-29 06:30:01.235"),
        ("yyyy-mm-dd hh:mm:ss", "2024-02-29 06:30:01"),
        ("ss.0", "01.2"),
        ("ss.00", "01.23"),
        ('ss".000"', "01.000"),
    ],
)
def test_parts_of_a_second_are_shown(sheets: Sheets, pattern: str, shown: str) -> None:
    moment = 45351 + (6 * 3600 + 30 * 60 + 1.2346) / 86_400
    number_format = {"numberFormat": {"type": "DATE_TIME", "pattern": pattern}}
    cell = {"userEnteredValue": {"numberValue": moment}, "userEnteredFormat": number_format}
    start = {"sheetId": 0, "rowIndex": 0, "columnIndex": 0}
    sheets.batch({"updateCells": {"rows": [{"values": [cell]}], "fields": "*", "start": start}})
    assert sheets.get("A1")["values"] == [[shown]]


def test_grid_data_without_a_mask_costs_no_more_than_its_cells(server: SheetsServer) -> None:
    """What lies over 25,000 cells is not looked for anew for each of them, which took four times as long."""
    sheets = Sheets(server, ("S", 5_000, 5))
    write(sheets, [[1.5] * 5] * 5_000)
    gc.collect()
    gc.freeze()  # what other tests have left is not looked at again and again
    with limited(seconds=2):  # a busy machine may double the time that work takes
        answer = sheets.done(*ask(server, "GET", f"/{sheets.key}", includeGridData="true"))
    (data,) = answer["sheets"][0]["data"]
    assert sum("effectiveFormat" in cell for row in data["rowData"] for cell in row["values"]) == 25_000
