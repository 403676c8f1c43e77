"""What `progress` is told: the cells in all are those that are asked for, of composites too."""

from __future__ import annotations

import io
from typing import Any

import awkward as ak
import numpy as np
import pytest

import sheetarray as sa
from sheetarray.columns import SheetArrays
from sheetarray.formats import find_composite

ARRAYS = {"ev": ak.Array([[1, 2], [], [3]]), "t": np.arange(5.0), "x.json": np.array(["text"])}
ASKED = [None, ["ev"], ["t"], ["ev", "t"], "ev", ["x.json"]]


def cells_of(infos: dict[str, Any], names: Any) -> int:
    wanted = infos if names is None else [names] if isinstance(names, str) else names
    return sum(infos[name].cells for name in wanted)


@pytest.mark.parametrize("names", ASKED)
@pytest.mark.parametrize("format", ["csv", "xlsx"])
def test_the_total_is_what_is_asked_for(format, names):
    file = io.BytesIO()
    sa.write(file, ARRAYS, format=format)
    infos = sa.scan(io.BytesIO(file.getvalue()), format=format)
    calls: list[tuple[int, int]] = []
    sa.read(io.BytesIO(file.getvalue()), names, format=format, progress=lambda *call: calls.append(call))
    assert {total for _, total in calls} == {cells_of(infos, names)}
    assert calls[-1][0] == calls[-1][1] > 0


@pytest.mark.parametrize("names", ASKED)
def test_the_total_of_google(server, names):
    key = server.create()
    sa.write_gsheet(key, ARRAYS, client=server.client())
    infos = sa.scan(f"gsheets://{key}", client=server.client())
    calls: list[tuple[int, int]] = []
    sa.read_gsheet(key, names, client=server.client(), progress=lambda *call: calls.append(call))
    assert {total for _, total in calls} == {cells_of(infos, names)}
    assert calls[-1][0] == calls[-1][1] > 0


@pytest.mark.parametrize("length", [10_000, 10_001])
def test_a_long_text_array_with_the_name_of_a_description_is_not_read_by_scan(monkeypatch, length):
    file = io.BytesIO()
    sa.write(file, {"x.json": np.array(["a, b"] * length), "t": np.arange(5.0)}, format="csv")  # quotes
    reads: list[object] = []
    read = SheetArrays.read
    monkeypatch.setattr(SheetArrays, "read", lambda *given: reads.append(given) or read(*given))
    assert sa.scan(io.BytesIO(file.getvalue()), format="csv")["x.json"].shape == (length,)
    assert len(reads) == (length <= 10_000 and find_composite() is not None)  # none where awkward is deleted
