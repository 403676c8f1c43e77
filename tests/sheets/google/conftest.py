"""A spreadsheet for each test, and its client."""

from __future__ import annotations

import pytest
from spreadsheets import Book

from sheetarray.testing.sheets_server import SheetsServer


@pytest.fixture
def book(sheets_server: SheetsServer) -> Book:
    return Book(sheets_server)
