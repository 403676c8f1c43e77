"""The call that `scan(..).dialect` shows reads a messy file as the file was read without options."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
import pytest

import sheetarray as sa

CORPUS = Path(__file__).parents[1] / "corpus"
FILES = sorted(
    path for path in CORPUS.glob("messy-*/table.csv") if "options" not in (path.parent / "expect.toml").read_text()
)


@pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")
@pytest.mark.parametrize("path", FILES, ids=[path.parent.name for path in FILES])
def test_the_call_reads_the_same_columns(path: Path) -> None:
    found = sa.read_columns(path)
    dialect = sa.scan(path).dialect
    assert dialect is not None
    stated = eval(dialect.call, {"sa": sa, "path": path})  # it is our own text
    assert list(stated) == list(found)
    for name, column in found.items():
        assert stated[name].dtype == column.dtype
        np.testing.assert_array_equal(stated[name], column)


@pytest.mark.parametrize("text", ["name,x\nM\xfcller,1\nAnn,2\n", "Stra\xdfe;n\nA;1,5\nB;2,5\n"])
def test_scan_and_check_take_a_table_that_is_not_utf8(text: str) -> None:
    content = text.encode("cp1252")
    infos = sa.scan(io.BytesIO(content), format="csv")
    assert len(infos) == 2
    assert infos.dialect is not None
    assert infos.dialect.encoding == "cp1252"
    (finding,) = sa.check(io.BytesIO(content), format="csv")
    assert finding.severity == "warning"
    assert "cp1252" in finding.message
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sa.read_columns(io.BytesIO(content), format="csv")
    assert [finding.message in str(each.message) for each in caught] == [True]
    with pytest.raises(sa.FormatError, match="not text in utf-8"):
        sa.read(io.BytesIO(content), format="csv")


def test_a_text_of_dos_is_not_cut_short() -> None:
    assert list(sa.check(io.BytesIO(b"a,b\r\n1,2\r\n\x1a"), format="csv")) == []
