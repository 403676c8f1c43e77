"""What a finding names, in every format: the array and the index of the element, for programs as well as for people."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
import openpyxl
import pytest
from round_trips import grid, put

import sheetarray as sa

ARRAYS = {"t": np.array([[1.5, 2.5], [3.5, 4.5]]), "i": np.arange(3, dtype="int8"), "s": np.array(["a", "b"])}
START = 21  # the row of the first element of `t`, counted from 0


def findings(rows: list[list[Any]]) -> list[tuple[str | None, tuple[int, ...] | None]]:
    return [(finding.array, finding.index) for finding in sa.check(put(rows), format="csv")]


def changed(row: int, column: int, cell: str, *, orient: Any = "columns") -> list[list[Any]]:
    rows = [list(cells) for cells in grid(ARRAYS, orient=orient)]
    rows[row][column] = cell
    return rows


def workbook(**cells: Any) -> io.BytesIO:
    """A workbook of ours, changed in another program."""
    file = io.BytesIO()
    sa.write(file, ARRAYS, format="xlsx")
    book = openpyxl.load_workbook(file)
    for address, value in cells.items():
        book["arrays"][address] = value
    other = io.BytesIO()
    book.save(other)
    other.seek(0)
    return other


@pytest.mark.parametrize("orient", ["columns", "rows"])
@pytest.mark.parametrize("element", range(4))
def test_the_element_that_cannot_be_read_is_named_by_its_index(orient, element):
    place = (START + element, 0) if orient == "columns" else (0, START + element)
    for cell in ("x", ""):
        assert findings(changed(*place, cell, orient=orient)) == [("t", divmod(element, 2))]


def test_an_error_has_them_too():
    with pytest.raises(sa.FormatError) as caught:
        sa.read(put(changed(START + 2, 0, "x")), format="csv")
    assert (caught.value.array, caught.value.index) == ("t", (1, 0))
    scalar = grid({"x": np.array(1.5)})
    scalar[-1] = ["no number"]
    assert findings(scalar) == [("x", ())]


@pytest.mark.parametrize("row", range(1, 19))
def test_a_damaged_header_is_that_of_its_array(row):
    for array, index in findings(changed(row, 1, "?")):
        assert (array, index) == ("i", None)


def test_what_cannot_be_known_is_none():
    rows = changed(0, 1, "t")
    assert findings(rows) == [("t", None)]
    (finding,) = sa.check(io.StringIO("a,b\n1,2,3\n4,5\n"), format="csv")  # a doubt about an ordinary table
    assert (finding.array, finding.index) == (None, None)


def test_elements_beyond_the_first_twenty_are_the_arrays():
    rows = grid({"x": np.arange(30.0)})
    for row in rows[-25:]:
        row[0] = "no"
    seen = findings(rows)
    assert seen == [*(("x", (5 + number,)) for number in range(20)), ("x", None)]


def test_a_flat_list_of_json():
    file = io.StringIO()
    sa.write(file, ARRAYS, format="json")
    for old, new, array, index in (
        ("2.5", '"m"', "t", (0, 1)),
        ('"shape",3', '"shape",4', "i", None),
        ('["version","1.0.0","ndarray","shape",3', '["x","1.0.0","ndarray","shape",3', "i", None),
    ):
        assert old in file.getvalue()
        text = io.StringIO(file.getvalue().replace(old, new))
        assert {(f.array, f.index) for f in sa.check(text, format="json")} == {(array, index)}


def test_a_workbook_that_was_edited():
    seen = list(sa.check(workbook(A24=9.5), format="xlsx"))
    assert [(finding.array, finding.index) for finding in seen] == [("t", (1, 0))]
    seen = list(sa.check(workbook(B23="=1+1"), format="xlsx"))
    assert ("i", (1,)) in [(finding.array, finding.index) for finding in seen]
    seen = list(sa.check(workbook(A1="u"), format="xlsx"))
    assert {finding.array for finding in seen} == {"u"}
    seen = list(sa.check(workbook(**{f"A{row}": None for row in range(1, 30)}), format="xlsx"))
    assert [(finding.array, finding.index) for finding in seen] == [("t", None)]
    seen = list(sa.check(workbook(A22=1.25, A23=9.0, A24=7.0, A25=8.0), format="xlsx"))
    assert {finding.array for finding in seen} == {"t"}


def test_a_spreadsheet_of_google(server):
    key = server.create()
    sa.write_gsheet(key, ARRAYS, client=server.client())
    server.client().open_by_key(key).worksheet("arrays").update([["x"]], "A23", raw=True)
    seen = list(sa.check(f"gsheets://{key}/arrays", client=server.client()))
    assert [(finding.array, finding.index) for finding in seen] == [("t", (0, 1))]


@pytest.mark.parametrize("format", ["avro", "sciserialize", "npz", "awkd", "ra", "npy"])
def test_the_other_formats_name_the_array(format):
    """Each byte of the elements of `i`, or of the lone array, changed or cut off."""
    lone = format in ("ra", "npy")
    arrays: Any = ARRAYS["t"] > 2 if format == "npy" else ARRAYS["t"] if lone else {"t": ARRAYS["t"], "i": ARRAYS["i"]}
    file = io.BytesIO()
    sa.write(file, arrays, format=format)
    content = file.getvalue()
    if format == "npy":
        content = content[:-1] + b"\x07"
    elif lone:
        content = content[:-3]
    elif format in ("npz", "awkd"):
        at = content.rindex(b"\0\1\2")
        content = content[:at] + b"\7" + content[at + 1 :]
    elif format == "avro":
        content = content.replace(b"|i1", b"|i9")
    else:
        content = content.replace(b"int8", b"intx")
    seen = {finding.array for finding in sa.check(io.BytesIO(content), format=format)}
    assert seen == ({"array"} if lone else {"i"})


def test_the_columns_of_an_awkward_array_are_those_of_its_name():
    awkward = pytest.importorskip("awkward")
    rows = grid({"events": awkward.Array([[1, 2], [], [3]]), "t": ARRAYS["t"]})
    column = next(number for number, name in enumerate(rows[0]) if name.startswith("events-"))
    dtype = next(number for number, row in enumerate(rows) if row[column] == "dtype") + 1
    rows[dtype][column] = "float64"
    assert findings(rows) == [("events", None)]
    rows[dtype][column] = "string"
    assert [array for array, _ in findings(rows)] == ["events"]


def test_a_package_that_is_none_has_no_array():
    for kind in ("npz", "awkd", "xlsx"):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("x.txt", "x")
        assert {finding.array for finding in sa.check(file, format=kind)} == {None}
