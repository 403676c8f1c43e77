r"""The real Google Sheets: only where there are credentials, and a spreadsheet that may be written to.

    GOOGLE_APPLICATION_CREDENTIALS=key.json SHEETARRAY_LIVE_SPREADSHEET=KEY \
        pytest tests/sheets/google/test_google_live.py

It makes a worksheet of its own, and removes it.
"""

from __future__ import annotations

import os
import secrets

import gspread
import numpy as np
import pytest

import sheetarray as sa
from sheetarray import read_gsheet, write_gsheet
from sheetarray.testing.cases import CASES, assert_same

KEY = os.environ.get("SHEETARRAY_LIVE_SPREADSHEET", "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not KEY or "GOOGLE_APPLICATION_CREDENTIALS" not in os.environ,
        reason="needs GOOGLE_APPLICATION_CREDENTIALS, and SHEETARRAY_LIVE_SPREADSHEET with the key of a spreadsheet",
    ),
]


def test_the_real_service_keeps_every_bit_and_refuses_what_is_gone() -> None:
    title = f"sheetarray test {secrets.token_hex(4)}"
    client = gspread.service_account(os.environ["GOOGLE_APPLICATION_CREDENTIALS"])
    place = f"gsheets://{KEY}/{title}"
    random = np.random.default_rng(0)
    bits = random.integers(0, 2**64, 5000, dtype=np.uint64).view(np.float64)
    arrays = {f"{index} {case}": array for index, (case, array) in enumerate(CASES.items())} | {"bits": bits}
    book = client.open_by_key(KEY)
    try:
        for _ in range(2):  # a worksheet that is made, and one that is there
            write_gsheet(place, arrays)
            result = read_gsheet(place)
            for name, array in arrays.items():
                assert_same(result[name], array)
            assert list(sa.check(place, format="gsheet")) == []
        sheet = book.worksheet(title)
        named = next(n for n in book.list_named_ranges() if n["name"] == f"sheetarray_{sheet.id}")
        write_gsheet(place, {"bits": bits[:10]})
        gone = {"updateNamedRange": {"namedRange": named, "fields": "range"}}
        with pytest.raises(gspread.exceptions.APIError, match="400"):
            client.http_client.batch_update(KEY, {"requests": [gone]})
    finally:
        for sheet in book.worksheets():
            if sheet.title == title:
                book.del_worksheet(sheet)
