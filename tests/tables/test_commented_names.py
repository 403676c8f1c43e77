"""Names in a comment above numbers, as `numpy.savetxt` writes them, are the names of the columns."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sheetarray as sa


def read(raw: bytes, **options: Any) -> tuple[dict[str, Any], list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        columns = sa.read_columns(io.BytesIO(raw), format="csv", **options)
    return columns, [str(each.message) for each in caught if each.category is sa.SheetArrayWarning]


@pytest.mark.parametrize("delimiter", [" ", ",", ";", "\t", "|", ", ", "  "])
@pytest.mark.parametrize("header", ["x y z", "{0}x{1}y{1}z", "x, y, z", "a title\nx y z"])
@pytest.mark.parametrize("form", ["%.18e", "%g", "%d", "%10.3f"])
def test_savetxt_with_names(delimiter: str, header: str, form: str) -> None:
    values = np.arange(12.0).reshape(4, 3)
    file = io.BytesIO()
    np.savetxt(file, values, delimiter=delimiter, header=header.format("", delimiter), fmt=form)
    columns, told = read(file.getvalue())
    assert list(columns) == ["x", "y", "z"]
    assert np.array_equal(np.column_stack(list(columns.values())), values)
    assert any("begins with '#', and is read as names" in message for message in told)


def test_names_of_one_column() -> None:
    assert {name: column.tolist() for name, column in read(b"# x\n1.5\n2.5\n")[0].items()} == {"x": [1.5, 2.5]}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (b"#,name,n\n1,2,3\n", ["#", "name", "n"]),
        (b"#CHROM,POS\n1,2\n3,4\n", ["#CHROM", "POS"]),  # no blank: the sign is part of the name
        (b"# of items,price\n1,2\n3,4\n", ["# of items", "price"]),
        (b"# a title of it all\nx,y\n1,2\n3,4\n", ["x", "y"]),
        (b"# two words\n1,2,3\n3,4,5\n", ["A", "B", "C"]),
        (b"# x y\n1,2,3\n3,4,5\n", ["A", "B", "C"]),
        (b"# x x\n1,2\n3,4\n", ["A", "B"]),
        (b"# 1 2\n1,2\n3,4\n", ["A", "B"]),
    ],
)
def test_what_is_no_row_of_names_stays(text: bytes, names: list[str]) -> None:
    assert list(read(text)[0]) == names


def test_options_say_otherwise() -> None:
    text = b"# x y\n1,2\n3,4\n"
    assert list(read(text)[0]) == ["x", "y"]
    columns, told = read(text, comment="#")
    assert list(columns) == ["A", "B"]
    assert told == []
    assert list(read(text, skip_rows=1)[0]) == ["A", "B"]


@pytest.mark.parametrize("text", [b"# x y\n1 2\n3 4\n", b"# by Ann\n# x y\n1,2\n3,4\n", b"# x\n1.5\n2.5\n"])
def test_the_call_that_scan_states_reads_the_same_without_a_warning(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    columns, told = read(text)
    assert told
    dialect = sa.scan(path).dialect
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = eval(dialect.call, {"sa": sa, "path": path})
    assert {name: column.tolist() for name, column in again.items()} == {
        name: column.tolist() for name, column in columns.items()
    }


def test_names_above_the_rows_that_are_skipped_are_no_names() -> None:
    text = b"# x y\n1,2\n3,4\n5,6\n"
    assert list(read(text, header=1)[0]) == ["x", "y"]
    assert list(read(text, header=True, skip_rows=1)[0]) == ["1", "2"]
    assert list(read(text, header=False)[0])[:1] == ["A"]
