"""Tables of very uneven rows are read as all others are, without memory for their blanks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from children import measured, run_limited
from examples import PART, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import set_limits

import sheetarray as sa

CELLS = st.sampled_from(["", "", "", "1", "2.5", "a", " ", "é", '"x,y"', '"p""q"', '"two\nlines"', "007"])
LINES = st.lists(st.lists(CELLS, min_size=1, max_size=9), min_size=1, max_size=12)


def describe(arrays: dict[str, np.ndarray]) -> list[tuple[str, str, list[str]]]:
    return [(name, str(array.dtype), list(map(str, array.tolist()))) for name, array in arrays.items()]


def read(path: Path, block: int, *, sparse: bool = False) -> list[tuple[str, str, list[str]]]:
    with pytest.MonkeyPatch.context() as patch:
        set_limits(patch, few_rows=0 if sparse else 10**6)
        if sparse:
            set_limits(patch, csv_dense_cells=0, csv_least_share=0)
        set_limits(patch, csv_block=block, csv_at_once=block)
        return describe(sa.read_columns(path, delimiter=",", header=1))


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=examples(150), deadline=None)
@given(
    lines=LINES,
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    block=st.sampled_from([7, 64, 2**20]),
)
def test_sparse_tables_are_what_others_are(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]], end: str, last: bool, block: int
) -> None:
    text = end.join(["name,other", *map(",".join, lines)]) + (end if last else "")
    path = tmp_path_factory.getbasetemp() / "sparse.csv"
    path.write_bytes(text.encode())
    assert read(path, block, sparse=True) == read(path, 2**20)


@pytest.mark.filterwarnings("ignore")
def test_comments_and_passed_rows_of_a_sparse_table(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("#x\na,b,c\n1\n\n,2\n#y,,7\n3,,4\nfoot\n")
    with pytest.MonkeyPatch.context() as patch:
        set_limits(patch, few_rows=0, csv_least_share=0, csv_dense_cells=0)
        arrays = sa.read_columns(path, comment="#", skip_footer=1)
    assert {name: array.tolist()[-1] for name, array in arrays.items()}["c"] == 4
    np.testing.assert_array_equal(arrays["a"], [1, np.nan, 3])
    np.testing.assert_array_equal(arrays["b"], [np.nan, 2, np.nan])


def test_a_table_that_is_nearly_all_blank_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("1\n" * 1200 + ",".join("1" * 200))
    set_limits(monkeypatch, csv_dense_cells=2**16, csv_table_cells=1201 * 200 - 1)
    with pytest.raises(sa.FormatError, match=r"1,201 rows of 200 columns, most of their cells blank .*delimiter="):
        sa.read_columns(path)
    assert len(sa.read_columns(path, header=False, delimiter=";")) == 1  # as the hint says
    set_limits(monkeypatch, csv_table_cells=1201 * 200)
    assert sa.read_columns(path, header=False)["GR"].shape == (1201,)


@measured
@pytest.mark.slow
def test_a_triangle_of_commas_takes_seconds(tmp_path: Path) -> None:
    path, width = tmp_path / "triangle.csv", 7000 // min(PART, 4)
    path.write_bytes(b"".join(b"," * count + b"1\n" for count in range(width)))
    code = """
        import sys
        import sheetarray as sa
        arrays = sa.read_columns(sys.argv[1], header=False)
        print(len(arrays), arrays["A"][0], arrays["B"][1])
    """
    assert run_limited(code, path, part=PART).output == f"{width} 1.0 1.0\n"
