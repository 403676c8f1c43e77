"""Objects of gspread go through the same doors as a URL, and need no client beside them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from services import Book

import sheetarray as sa
from sheetarray.testing.cases import assert_same

ARRAYS = {"t": np.array([[0.1, np.nan]]), "n": np.array([1, 2**60])}


def test_a_spreadsheet_and_a_worksheet_are_targets_and_sources(book: Book) -> None:
    spreadsheet = book.opened
    sa.write(spreadsheet, ARRAYS)
    for source in (spreadsheet, spreadsheet.worksheet("arrays")):
        for name, array in sa.read(source).items():
            assert_same(array, ARRAYS[name])
        assert list(sa.scan(source)) == ["t", "n"]
        assert list(sa.check(source)) == []
    own = spreadsheet.add_worksheet("own", 10, 3)
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    sa.write_table(own, frame)
    assert sa.read_columns(own)["a"].tolist() == [1, 2]
