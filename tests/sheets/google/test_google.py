"""Google Sheets pass the shared suite, over HTTP through gspread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from limits import set_limits
from services import ENDPOINT, Spreadsheet

import sheetarray as sa
from sheetarray.testing.cases import assert_same
from sheetarray.testing.conformance import Conformance
from sheets_emulator import SheetsServer


class TestGoogle(Conformance):
    long = 10_000

    @pytest.fixture
    def place(self, server: SheetsServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:  # type: ignore[override]
        monkeypatch.setenv(ENDPOINT, server.url)
        server.requests.clear()
        return Spreadsheet.new(server, tmp_path)

    def test_a_long_array_of_each_bulk_path(self, place: Any) -> None:
        """A tenth as long as elsewhere: test_google_large.py reads longer ones."""
        random = np.random.default_rng(0)
        arrays = {
            "f": random.integers(0, 2**64, 3000, dtype=np.uint64, endpoint=False).view(np.float64),
            "i": random.integers(-(2**63), 2**63 - 1, 2000),
            "b": random.random(2500) < 0.5,
            "t": np.array([f"{n:05d}" for n in range(1000)]),
            "h": random.integers(0, 2**16, 2000, dtype=np.uint16).view(np.float16),
        }
        self._write_and_read(place, arrays)

    def test_writing_replaces(self, place: Any) -> None:
        """Arrays of the same names; others stay."""
        self.write(place, {"long": np.arange(self.long), "other": np.array("x")})
        self.write(place, {"long": np.arange(2)})
        result = self.read(place)
        assert list(result) == ["long", "other"]
        assert_same(result["long"], np.arange(2))

    def test_a_missing_file_is_the_systems_error(self, place: Any) -> None:
        """A missing spreadsheet is a RemoteError, which is an OSError; a missing worksheet says which there are."""
        for verb in (self.read, self.scan, self.check):
            with pytest.raises(sa.errors.RemoteError, match="no spreadsheet") as caught:
                verb("gsheets://1" + "x" * 43)
            assert isinstance(caught.value, OSError)
            with pytest.raises(sa.NotFoundError, match=r"'arrays'.*'Sheet1'"):
                verb(place)

    def test_a_missing_folder_is_the_systems_error(self, place: Any) -> None:
        with pytest.raises(sa.errors.RemoteError, match="no spreadsheet"):
            self.write("gsheets://1" + "x" * 43, {"x": np.arange(3)})


class TestGoogleIntoAWorksheet(TestGoogle):
    """Cells are put into a worksheet that is there, instead of one that is made for them."""

    every_case = False
    long = 1500  # of a worksheet that had 1000 rows

    @pytest.fixture
    def place(self, server: SheetsServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:  # type: ignore[override]
        monkeypatch.setenv(ENDPOINT, server.url)
        place = Spreadsheet.new(server, tmp_path, empty=True)
        server.requests.clear()
        yield place
        if any(record.writes for record in server.requests):
            self.look_at([record.received for record in server.requests])

    def look_at(self, bodies: list[bytes]) -> None:
        staged = any(b"copyPaste" in body for body in bodies)  # text that a service may tidy up
        assert staged != any(b"updateCells" in body for body in bodies)

    def test_a_missing_file_is_the_systems_error(self, place: Any) -> None:
        for verb in (self.read, self.scan):
            with pytest.raises(sa.FormatError, match=r"no array.*read_columns"):
                verb(place)
        assert [finding.severity for finding in self.check(place)] == ["error"]


class TestGoogleByAStage(TestGoogleIntoAWorksheet):
    """Nothing is small enough to be written at once: cells are copied from a stage."""

    @pytest.fixture(autouse=True)
    def nothing_small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        set_limits(monkeypatch, google_batch=0)

    def look_at(self, bodies: list[bytes]) -> None:
        assert any(b"copyPaste" in body for body in bodies)
