"""Clients of Google Sheets that several tests of the emulator drive."""

from __future__ import annotations

import warnings
from types import ModuleType

import pytest
from google_clients import service

from sheetarray.testing.sheets_server import SheetsServer


@pytest.fixture
def ezsheets(shared_sheets_server: SheetsServer, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """EZSheets, signed in to the emulator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ezsheets
    monkeypatch.setattr(ezsheets, "SHEETS_SERVICE", service(shared_sheets_server, "sheets", "v4"))
    monkeypatch.setattr(ezsheets, "DRIVE_SERVICE", service(shared_sheets_server, "drive", "v3"))
    monkeypatch.setattr(ezsheets, "IS_INITIALIZED", True)
    monkeypatch.setattr(ezsheets, "IGNORE_QUOTA", True)
    return ezsheets
