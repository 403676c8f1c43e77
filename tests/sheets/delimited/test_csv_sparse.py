"""Tables whose rows are of very uneven lengths: blanks are filled in, or the table is refused if it is all blanks."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from children import measured, run_limited
from examples import PART
from limits import set_limits

import sheetarray as sa


@pytest.mark.filterwarnings("ignore:.*has fewer cells than the others:sheetarray.SheetArrayWarning")
def test_comments_and_passed_rows_of_a_ragged_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("#x\na,b,c\n1\n\n,2\n#y,,7\n3,,4\nfoot\n")
    for few_rows in (0, 10):
        set_limits(monkeypatch, few_rows=few_rows)
        arrays = sa.read_columns(path, comment="#", skip_footer=1)
        assert {name: array.tolist()[-1] for name, array in arrays.items()}["c"] == 4
        np.testing.assert_array_equal(arrays["a"], [1, np.nan, 3])
        np.testing.assert_array_equal(arrays["b"], [np.nan, 2, np.nan])


@pytest.mark.filterwarnings("ignore:.*has fewer cells than the others:sheetarray.SheetArrayWarning")
def test_a_table_that_is_nearly_all_blank_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("1\n" * 1200 + ",".join("1" * 200))
    set_limits(monkeypatch, csv_table_cells=1201 * 200 - 1)
    with pytest.raises(sa.FormatError, match=r"1,201 rows of 200 columns, most of their cells blank .*delimiter="):
        sa.read_columns(path)
    assert len(sa.read_columns(path, header=False, delimiter=";")) == 1  # as the hint says
    set_limits(monkeypatch, csv_table_cells=1201 * 200)
    assert sa.read_columns(path, header=False)["GR"].shape == (1201,)


@measured
@pytest.mark.parametrize("text", ["a triangle of commas", "blank lines between two values"])
def test_tables_of_blanks_take_little_memory(tmp_path: Path, text: str) -> None:
    path, size = tmp_path / "blanks.csv", 32_000_000 // PART
    if text == "a triangle of commas":
        path.write_bytes(b"".join(b"," * count + b"1\n" for count in range(math.isqrt(2 * size))))
    else:
        path.write_bytes(b"1\n" + b"\n" * size + b"2\n")
    code = """
        import sys
        import sheetarray as sa
        try:
            arrays = sa.read_columns(sys.argv[1], header=False)
        except sa.FormatError as error:
            assert "most of their cells blank" in str(error)
    """
    run_limited(code, path, part=PART)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("text", ["1", "a,b"])
def test_a_text_of_very_many_blank_lines_is_refused(
    text: str, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(f"{text}{end}{end * 2000}{text}{end}".encode())
    set_limits(monkeypatch, csv_blank_lines=2000)
    assert sa.read_columns(path, header=False)
    set_limits(monkeypatch, csv_blank_lines=1999)
    with pytest.raises(sa.FormatError, match=r"more than 1,999 blank lines .*delete those"):
        sa.read_columns(path, header=False)
