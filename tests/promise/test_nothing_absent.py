"""No array is absent in silence: wherever it stands, whatever it is called, and whatever happened to its header."""

from __future__ import annotations

import io
import re
import warnings
from itertools import zip_longest
from typing import Any

import numpy as np
import openpyxl
import pytest
from examples import STRIDE, cross, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trips import grid, put, same

import sheetarray as sa
from sheetarray.testing.cases import assert_same

ARRAYS = {"a": np.array([[1.5, 2.5], [3.5, 4.5]]), "b": np.arange(7, dtype="int32"), "c": np.array(["x", "data", ""])}


def book(rows: list[list[Any]]) -> io.BytesIO:
    """The rows as a workbook, numerals as numbers."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for number, cells in enumerate(rows, 1):
        for column, cell in enumerate(cells, 1):
            if cell not in (None, ""):
                try:
                    value = float(cell) if cell not in ("NaN", "Infinity") else cell
                except (TypeError, ValueError):
                    value = cell
                sheet.cell(number, column, value)
    file = io.BytesIO()
    workbook.save(file)
    file.seek(0)
    return file


def everything(rows: list[list[Any]], container: str) -> tuple[dict[str, Any] | None, list[sa.Finding]]:
    """What `read` gives, None for a FormatError, which names a cell; and what `check` finds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        file = put(rows) if container == "csv" else book(rows)
        try:
            arrays = sa.read(file, format=container)
        except sa.FormatError as error:
            nowhere = error.reason.startswith("no array of the exchange format")
            assert nowhere or re.search(r"[A-Z]+\d+$", str(error.location))  # noqa: PT017  (no error is right too)
            arrays = None
        file.seek(0)
        findings = list(sa.check(file, format=container))
        return arrays, [finding for finding in findings if "no record" not in finding.message]


def pad(rows: list[list[Any]]) -> list[list[Any]]:
    width = max(map(len, rows))
    return [[*row, *[""] * (width - len(row))] for row in rows]


# Any number, anywhere ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("orient", ["columns", "rows"])
@pytest.mark.parametrize("count", [1200, 1201])
def test_as_many_arrays_as_were_written_come_back(orient, count):
    arrays = {f"a{number}": np.array([number]) for number in range(count)}
    file = io.BytesIO()
    sa.write_csv(file, arrays, orient=orient)
    assert {name: array.tolist() for name, array in sa.read(io.BytesIO(file.getvalue()), format="csv").items()} == {
        name: array.tolist() for name, array in arrays.items()
    }
    assert list(sa.scan(io.BytesIO(file.getvalue()), format="csv")) == list(arrays)
    assert list(sa.check(io.BytesIO(file.getvalue()), format="csv")) == []


@pytest.mark.parametrize(
    ("container", "above"),
    [
        *(("csv", above) for above in (1023, 1024, 1175, 1190, 1199, 1200, 1201, 1400)),
        *(("xlsx", above) for above in (1023, 1024, 1199, 1200, 1201)),
    ],
)
def test_an_array_far_down_beside_a_longer_one_is_found(container, above):
    long, deep = grid({"long": np.arange(2000)}), [[""]] * above + grid({"deep": np.arange(3.0)})
    rows = [[*one, *other] for one, other in zip_longest(long, deep, fillvalue=[""])]
    for sheet, expected in (
        (rows, {"long": np.arange(2000), "deep": np.arange(3.0)}),
        ([[""]] * above + grid(ARRAYS), ARRAYS),
    ):
        arrays, findings = everything(sheet, container)
        assert arrays is not None
        same(arrays, expected)
        assert findings == []


@pytest.mark.parametrize("container", ["csv", "xlsx"])
def test_arrays_stacked_in_columns_and_far_to_the_right(container):
    others = {name.upper(): array for name, array in ARRAYS.items()}
    right = [[""] * 300 + row for row in grid({"z": np.arange(2)})]
    rows = [*pad(grid(ARRAYS)), [""], [], *(["", *row] for row in pad(grid(others))), [""], *right]
    arrays, findings = everything(rows, container)
    assert arrays is not None
    assert findings == []
    expected = ARRAYS | others | {"z": np.arange(2)}
    same(dict(sorted(arrays.items())), dict(sorted(expected.items())))


# Damaged headers ---------------------------------------------------------------------------------------------


def damaged(rows: list[list[Any]], row: int, column: int, how: Any, orient: str) -> list[list[Any]]:
    rows = [list(cells) for cells in rows]
    if how == "insert":  # the cell again: columns are as long as before
        if orient == "rows":
            rows[row].insert(column, rows[row][column])
        else:
            for lower in range(len(rows) - 1, row, -1):
                rows[lower][column] = rows[lower - 1][column]
    elif how != "delete":
        rows[row][column] = how
    elif orient == "rows":
        del rows[row][column]
        rows[row].append("")
    else:
        for lower in range(row, len(rows) - 1):
            rows[lower][column] = rows[lower + 1][column]
        rows[-1][column] = ""
    return rows


WAYS = ["x", "7", "", "-1", "2.5", "data", "1.0.0", "99999", "delete", "insert"]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize(("container", "orient"), [("csv", "columns"), ("csv", "rows"), ("xlsx", "columns")])
def test_any_damaged_header_cell_is_an_error_or_changes_nothing(container, orient, how):
    arrays = {"long": np.arange(40.0), "second": np.array([[1, 2]], dtype="int8"), "third": np.array(["p", "q"])}
    rows = pad(grid(arrays, orient=orient))
    places = [
        (index, column) if orient == "columns" else (column, index)
        for column, array in enumerate(arrays.values())
        for index in range(1, 1 + len(sa.to_linear(array)) - array.size)
    ]
    step = min(STRIDE, 4 if container == "csv" else 8)  # each cell in a quarter of the ways, or in an eighth
    for row, column in places[WAYS.index(how) % step :: step]:
        read_back, findings = everything(damaged(rows, row, column, how, orient), container)
        if read_back is None:
            assert any(finding.severity == "error" for finding in findings), (row, column)
        else:
            assert len(read_back) == len(arrays), (row, column)
            same(dict(sorted(read_back.items())), dict(sorted({**arrays}.items())))


@pytest.mark.parametrize("container", ["csv", "xlsx"])
@pytest.mark.parametrize("cells", [(3,), (1, 3), (1, 2, 3), (3, 10), (3, 5)])
def test_an_overwritten_beginning_is_told_unless_other_names_are_asked_for(container, cells):
    rows = pad(grid(ARRAYS))
    for cell in cells:
        rows[cell][1] = "?"
    read_back, findings = everything(rows, container)
    assert read_back is None
    assert [finding.severity for finding in findings if (finding.location or "").rpartition("!")[2][0] == "B"]
    file = put(rows) if container == "csv" else book(rows)
    same(sa.read(file, ["a"], format=container), {"a": ARRAYS["a"]})
    file.seek(0)
    with pytest.raises((sa.FormatError, sa.NotFoundError)):
        sa.read(file, ["b"], format=container)


def test_very_many_broken_anchors_are_told_within_bounds():
    text = "version\nx\nndarray\n" * 20_000
    findings = list(sa.check(io.StringIO(text), format="csv"))
    assert 1000 <= len(findings) <= 1001
    assert "not checked" in findings[-1].message


# Delimiters --------------------------------------------------------------------------------------------------


def comes_back(arrays: dict[str, Any], **options: Any) -> bool:
    """Whether arrays are the same again, or the delimiter was refused."""
    file = io.BytesIO()
    try:
        sa.write_csv(file, arrays, **options)
    except ValueError:
        return True
    read_back = sa.read_csv(io.BytesIO(file.getvalue()))
    names = list(read_back) == list(arrays) or not options["names"]
    facts = [[(one.dtype, one.shape, one.tolist()) for one in some.values()] for some in (read_back, arrays)]
    return names and facts[0] == facts[1]


def test_a_delimiter_is_refused_or_found_again():
    """Each with every orientation, and, but for the usual two, with every other set of arrays and names."""
    for code, orient in cross([*map(chr, range(1, 127))], ["columns", "rows"], *",;"):
        text = np.array([f"a{code}b", "c d", code])
        sets: list[dict[str, Any]] = [
            {"x y": np.array([1.5, -2.5]), f"n{code}m": text},
            {"one name": text},
            {"one": np.array([0.25, 2])},
            {f"s{code}": np.arange(3), "t": np.array([True, False])},
        ]
        for turn, arrays in enumerate(sets, ord(code)):
            for names in (True, False) if code in ",;" else (turn % 2 == 0,):
                how = {"delimiter": code, "orient": orient, "names": names, "decimal": "," if code == "." else "."}
                assert comes_back(arrays, **how), (how, arrays)


# One splitter ------------------------------------------------------------------------------------------------

PIECES = ["\r", "\n", "\r\n", '"', '""', ",", "a", "version", 'x"y', '"q"', "5", " ", "\u00a0"]


def test_a_lone_return_above_arrays_in_rows_shifts_nothing():
    arrays = {"a": np.arange(3), "b": np.arange(3) + 10}
    file = io.BytesIO()
    sa.write_csv(file, arrays, orient="rows")
    for before in (b"note\rmore\r\n", b"note\r", b'"no\rte",\r\n', b'5" pipe\r\n', b"\r\r\n\n"):
        same(sa.read(io.BytesIO(before + file.getvalue()), format="csv"), arrays)


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.sampled_from(["columns", "rows"]),
    st.sampled_from(["\r\n", "\n", "\r"]),
)
def test_head_and_body_split_alike(above, below, orient, end):
    arrays = {"a": np.array([1.5, 2.5]), "b": np.array(['t"', "u\nv", "w"])}
    file = io.StringIO(newline="")
    sa.write_csv(file, arrays, orient=orient)
    written = file.getvalue() if end == "\r\n" else file.getvalue().replace("\r\n", end)
    content = (above + end + written + below).encode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SheetArrayWarning)
        findings = list(sa.check(io.BytesIO(content), format="csv"))
        try:
            read_back = sa.read(io.BytesIO(content), format="csv")
        except sa.FormatError:
            assert findings
            return
    assert len(read_back) == 2
    assert_same(read_back["a"], arrays["a"])
    assert_same(read_back["b"], arrays["b"])
