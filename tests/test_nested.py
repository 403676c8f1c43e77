"""Awkward arrays in containers of columns: workbooks, text, JSON and Google Sheets; and on the command line."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
from click.testing import CliRunner

import sheetarray as sa
from sheetarray.cli import main
from sheetarray.testing.sheets_server import SheetsServer

EVENTS = ak.Array(
    [
        {"run": 1, "hits": [{"x": 0.1, "label": "ü"}, {"x": np.nan, "label": ""}], "tags": ["=1+1", "007"]},
        {"run": 2**60, "hits": [], "tags": []},
        {"run": -3, "hits": [{"x": -0.0, "label": "a\nb"}], "tags": [None]},
    ]
)
PLACES = ["csv", "tsv", "json", "csv.gz", "xlsx", "google"]


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A path, or a URL of an emulator."""
    if request.param != "google":
        yield str(tmp_path / f"events.{request.param}")
        return
    with SheetsServer() as server:
        monkeypatch.setenv("SHEETARRAY_SHEETS_ENDPOINT", server.url)
        yield f"gsheets://{server.create()}/events"


def same(found: Any, expected: Any) -> bool:
    return bool(ak.array_equal(found, expected, equal_nan=True))


def test_a_nested_array_of_records_with_strings_comes_back(place: str) -> None:
    sa.write(place, {"events": EVENTS, "plain": np.arange(3)})
    found = sa.read(place)
    assert list(found) == ["events", "plain"]
    assert same(found["events"], EVENTS)
    assert np.signbit(found["events"][2].hits[0].x)
    assert found["plain"].tolist() == [0, 1, 2]
    assert list(sa.check(place)) == []


def test_one_is_chosen_by_its_name_and_so_is_a_column_of_it(place: str) -> None:
    sa.write(place, {"events": EVENTS, "plain": np.arange(3)})
    assert list(sa.read(place, ["events"])) == ["events"]
    assert same(sa.read(place, ["plain", "events"])["events"], EVENTS)
    assert sa.read(place, ["events-hits-counts"])["events-hits-counts"].tolist() == [2, 0, 1]
    with pytest.raises(sa.NotFoundError, match="'absent'"):
        sa.read(place, ["events", "absent"])


def test_an_awkward_array_alone(place: str) -> None:
    sa.write(place, EVENTS.tags)
    assert same(sa.read(place)["array"], EVENTS.tags)


def test_a_stream_is_read_once(tmp_path: Path) -> None:
    class Stream(io.RawIOBase):
        def __init__(self, content: bytes) -> None:
            self.content = io.BytesIO(content)

        def readable(self) -> bool:
            return True

        def readinto(self, target: Any) -> int:
            return self.content.readinto(target)

    file = io.BytesIO()
    sa.write(file, {"events": EVENTS, "plain": np.arange(3)}, format="csv")
    assert same(sa.read(Stream(file.getvalue()), ["events"], format="csv")["events"], EVENTS)  # type: ignore[arg-type]
    with pytest.raises(sa.NotFoundError, match="'events', 'plain'"):
        sa.read(Stream(file.getvalue()), ["absent"], format="csv")  # type: ignore[arg-type]


def test_a_column_of_two_arrays_is_refused_before_writing(tmp_path: Path) -> None:
    with pytest.raises(sa.LimitError, match="events-counts"):
        sa.write(tmp_path / "x.csv", {"events": ak.Array([[1], []]), "events-counts": np.arange(2)})
    assert not list(tmp_path.iterdir())


def test_what_is_no_rectangle_is_refused_by_formats_without_cells(tmp_path: Path) -> None:
    for suffix in ("npz", "avro", "ra"):
        with pytest.raises(sa.DTypeError, match="not rectangular"):
            sa.write(tmp_path / f"x.{suffix}", {"x": ak.Array([[1], []])})
    sa.write(tmp_path / "x.npz", {"x": ak.Array([[1, 2], [3, 4]])})
    assert sa.read(tmp_path / "x.npz")["x"].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("suffix", ["awkd", "xlsx"])
def test_the_command_line_knows_them(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"events.{suffix}"
    sa.write(path, {"events": EVENTS})

    def run(*arguments: Any, status: int = 0) -> str:
        done = CliRunner().invoke(main, list(map(str, arguments)))
        assert done.exit_code == status, (arguments, done.output, done.exception)
        return done.output

    assert "events" in run("info", path)
    assert "var * {x: float64, label: string}" in " ".join(run("show", path, "events").split())
    assert '"NaN"' in run("show", path, "events", "--json")
    run("check", path)
    run("convert", path, tmp_path / "other.csv")
    assert "no differences" in run("diff", path, tmp_path / "other.csv")
    sa.write(tmp_path / "less.csv", {"events": EVENTS[:2]})
    run("diff", path, tmp_path / "less.csv", status=1)
