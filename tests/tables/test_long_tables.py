"""Long tables, and what stands only at their ends or in their middle, with the same results as in short ones."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import sheetarray as sa

ROWS = 3000


@pytest.mark.parametrize("word", ["ndarray", " NDARRAY ", "Ndarray"])
def test_an_array_is_no_table_however_its_words_are_written(word: str) -> None:
    text = f"t\nversion\n1.0.0\n{word}\nshape\n1\nstrides\n1\noffset\n0\norder\nrow-major\ndtype\nint8\n"
    text += "length\n1\ncapacity\n1\ndata\n7\n"
    with pytest.raises(sa.FormatError, match="an array of the exchange format"):
        sa.read_columns(io.StringIO(text), format="csv")


@pytest.mark.parametrize("wide", [1, 3, 9])
def test_a_row_that_is_wider_than_the_first_ones_is_not_lost(tmp_path: Path, wide: int) -> None:
    path = tmp_path / "table.csv"
    rows = ["1,2"] * 12_000  # beyond the cells that tell the width
    path.write_text("a,b\n" + "\n".join([*rows, "1,2" + ",3" * wide, "1,2"]) + "\n")
    columns = sa.read_columns(path)
    assert len(columns) == 2 + wide
    assert np.isnan(columns["C"]).sum() == len(rows) + 1
    assert columns["C"][-2] == 3


@pytest.mark.parametrize(
    ("texts", "dtype"),
    [
        (["2024-02-29"], "datetime64[D]"),
        (["2024-02-29", "NaT"], "datetime64[D]"),
        (["2024-02-29T12:30:15"], "datetime64[s]"),
        (["2024-02-29 12:30:15"], "datetime64[s]"),
        (["2024-02-29T12:30:15.250", "2024-02-29T12:30:15.5"], "datetime64[ms]"),
        (["2024-02-29T12:30:15.250123"], "datetime64[us]"),
        (["2024-02-29T12:30:15.250123456"], "datetime64[ns]"),
        (["2024-02-29", "2024-02-29T12:30:15"], "datetime64[s]"),
    ],
)
def test_dates_are_alike_however_many_there_are(texts: list[str], dtype: str) -> None:
    long = [*texts * ROWS, texts[0]]
    dates = sa.read_columns(io.StringIO("\n".join(["when", *long])), format="csv")["when"]
    assert dates.dtype == dtype
    assert dates.tobytes() == np.array(long, dtype).tobytes()


@pytest.mark.parametrize("text", ["2023-02-29", "2024-13-01", "2024-02-30"])
def test_a_date_that_does_not_exist_makes_its_column_text(text: str) -> None:
    table = "\n".join(["when", *["2024-02-29"] * ROWS, text])
    assert sa.read_columns(io.StringIO(table), format="csv")["when"].dtype.kind == "U"
