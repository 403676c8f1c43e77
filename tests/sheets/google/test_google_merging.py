"""Copies that come back as Google Sheets, workbooks and text are merged into a Google Sheet, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from killed_writer import killed_at, merge_when_told
from merge_model import draw_trial, merge_plainly
from programs import resave
from services import dump

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
    return server.client()


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
    (conflict,) = sa.merge(*places, target=target, client=client).conflicts
    assert (conflict.array, conflict.index, conflict.base) == ("t", (1, 1), float(grid()["t"][1, 1]))
    assert conflict.values == {places[1]: 99.5, places[2]: -1.5}
    assert conflict.labels == {"time": "2026-03-02", "x": "2"}
    assert conflict.cells[places[1]] == conflict.cells[places[2]] == "arrays!A26"
    xr.testing.assert_identical(sa.read_dataset(target, **options), merged_grid())
    assert list(sa.check(target, **options)) == []


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


@pytest.mark.fault(
    "A fault that lasts, from any request of a merge on.", "The target is the old one, or the merged one."
)
@pytest.mark.parametrize(
    ("way", "kind"),
    [("at once", 503), ("staged", 403), ("at once", "reset-after"), ("staged", "reset-after")],
    indirect=["way"],
)
def test_a_merge_that_fails_at_any_request_leaves_the_target_as_it_was(
    server: SheetsServer, client: Any, places: list[str], way: str, kind: Any, pauses: list[float]
) -> None:
    key = places[0].removeprefix("gsheets://")
    outcomes = []
    for index in range(100):
        server.faults.append(Fault(kind, after=index, times=None))
        try:
            sa.merge(*places, target=places[0], client=client)
        except sa.RemoteError:
            server.faults.clear()
            found = sa.read_dataset(places[0], client=client)
            outcomes.append(found.identical(merged_grid()))
            assert outcomes[-1] or found.identical(grid())
            sa.write_gsheet(places[0], grid(), client=client)
        else:
            break
    server.faults.clear()
    assert outcomes[0] is False
    xr.testing.assert_identical(sa.read_dataset(places[0], client=client), merged_grid())
    assert [title for title in dump(server, key)["sheets"] if title.startswith("sheetarray")] == []


@pytest.mark.fault(
    "A merge into Google Sheets is killed at any request.", "The target is the old one, or the merged one."
)
@pytest.mark.slow
@pytest.mark.parametrize("odd", [False, True])  # text that goes over a stage
def test_a_merge_that_is_killed_leaves_the_target_as_it_was_or_merged(
    processes: Any, server: SheetsServer, client: Any, tmp_path: Path, odd: bool
) -> None:
    base, ann, ben = (grid() for _ in range(3))
    ann["t"][0, 0], ben["s"] = 7.0, ben["s"].astype("<U2")
    ben["s"][3] = "x\x7f" if odd else "x"
    wanted = base.copy(deep=True)
    wanted["t"][0, 0], wanted["s"] = 7.0, ben["s"]
    sa.write(tmp_path / "ben.xlsx", ben)
    copy = f"gsheets://{server.create()}"
    sa.write_gsheet(copy, ann, client=client)
    outcomes = []
    for index in range(100):
        target = f"gsheets://{server.create()}"
        sa.write_gsheet(target, base, client=client)
        reached = killed_at(processes, server, index, merge_when_told, [target, copy, str(tmp_path / "ben.xlsx")])
        found = sa.read_dataset(target, client=client)
        outcomes.append(found.identical(wanted))
        assert outcomes[-1] or found.identical(base)
        if not reached:
            break
    assert outcomes == [False] * (len(outcomes) - 1) + [True]
    assert len(outcomes) >= (4 if odd else 2)


PLACES = ["xlsx", "csv", "json", "ods", "google"]


def save(server: SheetsServer, client: Any, folder: Path, place: str, table: pd.DataFrame) -> str:
    """Put a table into a place, and return what it is read from."""
    folder.mkdir()
    if place == "google":
        url = f"gsheets://{server.create()}"
        sa.write_gsheet(url, table, client=client)
        return url
    path = folder / f"table.{'xlsx' if place == 'ods' else place}"
    sa.write(path, table)
    return str(resave(path, "ods", folder / "ods") if place == "ods" else path)


def _short(values: list[Any]) -> list[Any]:
    """Return numbers with no more digits than LibreOffice keeps."""
    return [round(value, 6) if isinstance(value, float) else value for value in values]


@settings(max_examples=examples(48))
@given(
    seed=st.integers(0, 2**20),
    base=st.sampled_from(["xlsx", "csv", "json", "google"]),
    copies=st.lists(st.sampled_from(PLACES), min_size=2, max_size=4),
    target=st.sampled_from([None, "xlsx", "csv", "json", "google"]),
)
@example(seed=1, base="google", copies=["google", "ods", "xlsx", "csv", "json"], target=None)
@example(seed=2, base="xlsx", copies=["google", "google", "ods"], target="google")
def test_copies_in_all_places_are_merged_as_the_model_says(
    server: SheetsServer,
    client: Any,
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    base: str,
    copies: list[str],
    target: str | None,
) -> None:
    """`target`: None is the base."""
    trial = draw_trial(seed, kinds=["float64", "int64", "<U8"], copies=len(copies))
    trial.base = [_short(values) for values in trial.base]
    for copy in trial.copies:
        copy.rows = [(row, _short(values)) for row, values in copy.rows]
        copy.edits = dict(zip(copy.edits, _short([*copy.edits.values()]), strict=True))
    folder = tmp_path_factory.mktemp("merging")
    tables = [trial.base, *([values for _, values in copy.rows] for copy in trial.copies)]
    files = [
        save(server, client, folder / str(number), place, pd.DataFrame(trial.arrays(rows)).set_index("c0"))
        for number, (place, rows) in enumerate(zip([base, *copies], tables, strict=True))
    ]
    new = f"gsheets://{server.create()}" if target == "google" else str(folder / f"merged.{target}")
    goal = files[0] if target is None else new
    places = [base, *copies, target]
    options = {"client": client} if "google" in places else {}
    merged = sa.merge(*files, target=goal, **options)
    rows, conflicts = merge_plainly(trial)
    options = {"client": client} if goal.startswith("gsheets") else {}
    read = sa.read(goal, **options)
    for name, array in trial.arrays(rows).items():
        assert read[name].tolist() == array.tolist(), (name, files)
    found = {(one.index[0], int(one.array[1:])): [*one.values] for one in merged.conflicts if one.index is not None}
    assert found == {key: [files[1 + int(file[1:])] for file in values] for key, values in conflicts.items()}
    assert [*sa.check(goal, **options)] == []
