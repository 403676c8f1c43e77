"""Texts that are broken in one particular way, or made of the format's own words; the shipped suite has other bytes."""

from __future__ import annotations

import io
import random
import warnings
from typing import Any

import numpy as np
import pytest
from examples import cross, examples
from hostile import FORMATS, WORDS, put, survive

import sheetarray as sa

MARK = "\ufeff"
COLUMN = ["x", *map(str, sa.to_linear(np.array([1.5, 2.5])))]


def read(content: bytes, format: str = "csv", **options: Any) -> dict[str, Any]:
    return sa.read(io.BytesIO(content), format=format, **options)


def findings(content: bytes, format: str = "csv", **options: Any) -> list[sa.Finding]:
    return list(sa.check(io.BytesIO(content), format=format, **options))


# Line ends and marks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", [("\n", "\n"), ("\r\n", "\r\n"), ("\r", "\r"), ("\n", "\r\n")], ids=repr)
@pytest.mark.parametrize("last", [True, False])
def test_every_line_end_reads_the_same(ends, last):
    text = "".join(cell + ends[number % 2] for number, cell in enumerate(COLUMN))
    text = text if last else text.rstrip("\r\n")
    assert read(text.encode())["x"].tolist() == [1.5, 2.5]
    assert [one.message for one in findings(text.encode())] == ([] if last else ["the last row has no line end"])


def test_a_column_of_lone_returns_followed_by_line_feeds_is_not_misread():
    content = ("\r".join(COLUMN) + "\n7\n").encode()
    with pytest.raises(sa.FormatError):
        read(content)
    assert findings(content)


@pytest.mark.parametrize("rows", [3, 400])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_table_loses_its_marks_and_says_so(rows, encoding):
    text = f"{MARK}{MARK}a,b\n" + f"{MARK}1,{MARK}x\n" * rows
    content = text.encode("utf-8" if encoding == "utf-8" else "utf-16-le")
    with pytest.warns(sa.SheetArrayWarning, match="a byte order mark inside the text was left out"):
        columns = sa.read_columns(io.BytesIO(content), format="csv")
    assert list(columns) == ["a", "b"]
    assert columns["a"].tolist() == [1] * rows
    assert columns["b"].tolist() == ["x"] * rows


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_refused_and_readable_when_named(encoding):
    content = "\r\n".join(COLUMN).encode(encoding)
    survive(content, "csv")
    with pytest.raises(sa.FormatError):
        read(content)
    assert findings(content)
    assert read(content, encoding=encoding)["x"].tolist() == [1.5, 2.5]


@pytest.mark.parametrize("at", ["name", "data", "far"])
def test_invalid_utf_8_is_refused_with_its_line_and_a_hint(at):
    strings = [str(cell) for cell in sa.to_linear(np.array(["a"] * 40_000))]
    cells = {"name": ["x\udcff", *strings], "data": ["x", *strings[:-1], "\udcff"], "far": ["x", *strings, "\udcff"]}[
        at
    ]
    content = "\n".join(cells).encode("utf-8", "surrogateescape")
    survive(content, "csv")
    with pytest.raises(sa.FormatError) as caught:
        read(content)
    assert caught.value.location
    assert caught.value.location.startswith("line ")
    assert "encoding" in str(caught.value)
    line = {"name": 1, "data": len(cells), "far": len(cells)}[at]
    assert caught.value.location == f"line {line}"


@pytest.mark.parametrize("encoding", ["klingon", "base64", "rot13", "zlib", "hex", "bz2"])  # all but one are no text's
def test_an_encoding_that_text_has_not_is_refused_by_its_name(encoding):
    for call in (
        lambda: read(b"x", encoding=encoding),
        lambda: sa.write(io.BytesIO(), np.arange(2), format="csv", encoding=encoding),
    ):
        with pytest.raises(sa.NotFoundError, match=encoding):
            call()


# Quotes ------------------------------------------------------------------------------------------------------


def test_quotes_that_stand_otherwise_are_read_as_they_are():
    cells = ["x", *map(str, sa.to_linear(np.array(["a", "b", "c"])))][:-3]
    content = "\n".join([*cells, '5" pipe', '"q" rest', 'plain "x" y']).encode()
    assert read(content)["x"].tolist() == ['5" pipe', "q rest", 'plain "x" y']


def test_a_very_long_cell_is_read():
    long = "y" * 300_000
    array = np.array([long])
    file = io.BytesIO()
    sa.write(file, {"x": array}, format="csv")
    assert read(file.getvalue())["x"].tolist() == [long]


def test_one_long_text_does_not_pad_millions_of_elements():
    cells = ["x", *map(str, sa.to_linear(np.array(["a"] * 400_000)))]
    content = "\n".join([*cells[:-1], "y" * 20_000, ""]).encode()
    array = read(content)["x"]
    assert array.dtype == np.dtypes.StringDType()
    assert array[-1] == "y" * 20_000
    assert set(array[:-1].tolist()) == {"a"}
    assert findings(content) == []


def test_warnings_are_of_our_own_class():
    old = "\n".join(["x", *COLUMN[3:], ""]).encode()
    with pytest.warns(sa.SheetArrayWarning, match="A2"):
        assert read(old)["x"].tolist() == [1.5, 2.5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (finding,) = findings(old)
    assert (finding.severity, finding.location) == ("warning", "A2")


def test_a_workbook_under_another_name_is_told():
    file = io.BytesIO()
    sa.write(file, {"t": np.arange(3)}, format="xlsx")
    with pytest.raises(sa.FormatError, match="a zip package, not text") as caught:
        read(file.getvalue())
    assert "format='xlsx'" in str(caught.value.hint)
    assert read(file.getvalue(), format="xlsx")["t"].tolist() == [0, 1, 2]


# Words of the format -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("format", "seed"), cross(FORMATS, "012345"))
def test_headers_with_random_fields(format, seed):
    source = random.Random(int(seed))
    for _ in range(examples(120)):
        cells: list[Any] = ["version", source.choice(["1.0.0", "1.1.0", "1.9.0"]), "ndarray"]
        for key in source.sample(
            ["shape", "strides", "offset", "order", "dtype", "length", "capacity", "part", "new"], 8
        ):
            cells += [key, *[source.choice(WORDS) for _ in range(source.randint(0, 3))]]
        cells += ["data", *[source.choice(WORDS) for _ in range(source.randint(0, 5))]]
        survive(put(cells, format), format)
