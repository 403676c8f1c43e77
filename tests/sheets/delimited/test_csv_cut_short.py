"""Texts that were cut short: blanks that a program may have left out are told from an intact file's."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import pytest

import sheetarray as sa

TEXTS = np.array([f"text {number}" for number in range(1000)])


def csv_of(arrays: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    sa.write_csv(file, arrays, **options)
    return file.getvalue()


def read_warned(text: bytes, **options: Any) -> tuple[dict[str, Any], list[str]]:
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        arrays = sa.read_csv(io.BytesIO(text), **options)
    return arrays, [str(warning.message) for warning in noted]


def rows_of(text: bytes, count: int) -> bytes:
    return b"".join(text.splitlines(keepends=True)[:count])


@pytest.mark.parametrize("kind", ["string", "generic"])
def test_missing_cells_of_text_are_named(kind: str) -> None:
    array = TEXTS if kind == "string" else TEXTS.astype(object)
    arrays, noted = read_warned(rows_of(csv_of({"t": array}), 498))
    (note,) = noted
    assert "t: 521 cells are missing below A498 and are read as blank" in note
    assert arrays["t"][478] == "text 478"
    assert not any(arrays["t"][479:])
    (finding,) = sa.check(io.BytesIO(rows_of(csv_of({"t": array}), 498)), format="csv")
    assert (finding.severity, finding.location, finding.array) == ("warning", "A498", "t")
    assert finding.message == "t: 521 cells are missing below A498 and are read as blank"


@pytest.mark.parametrize(
    ("lost", "said"), [(0, None), (1, "1 cell is missing below A1018 and is"), (2, "2 cells are missing below A1017")]
)
def test_trailing_blanks_are_missing_only_where_they_were_left_out(lost: int, said: str | None) -> None:
    array = np.array([*TEXTS[:990], *[""] * 10])
    text = csv_of({"t": array})
    arrays, noted = read_warned(rows_of(text, len(text.splitlines()) - lost))
    assert arrays["t"].tolist() == array.tolist()
    assert [said in note if said else note for note in noted] == ([True] if said else [])


def test_every_cell_may_be_missing() -> None:
    text = csv_of({"t": np.array(["", ""])})
    arrays, (note,) = read_warned(rows_of(text, len(text.splitlines()) - 2))
    assert arrays["t"].tolist() == ["", ""]
    assert "t: 2 cells are missing below A19 and are read as blank" in note


def test_missing_cells_of_a_row_stand_to_the_right() -> None:
    text = csv_of({"t": TEXTS, "u": np.array(["a", "", ""])}, orient="rows")
    first, second = text.splitlines()
    short = first[: first.index(b",text 700")] + b"\r\n" + second.rstrip(b',"') + b"\r\n"
    arrays, noted = read_warned(short)
    assert arrays["u"].tolist() == ["a", "", ""]
    assert ["300 cells are missing to the right of AAQ1" in noted[0], "u: 2 cells" in noted[1]] == [True, True]
    locations = [(finding.location, finding.array) for finding in sa.check(io.BytesIO(short), format="csv")]
    assert locations == [("AAQ1", "t"), ("T2", "u")]


def test_floats_read_with_blanks_as_nan_are_told_of_too() -> None:
    text = csv_of({"x": np.arange(5.0)})
    arrays, (note,) = read_warned(rows_of(text, 20), missing="nan")
    assert np.isnan(arrays["x"]).tolist() == [False, True, True, True, True]
    assert "x: 4 cells are missing below A20" in note


def test_intact_files_of_trailing_blanks_say_nothing() -> None:
    arrays = {"t": np.array(["a", "", ""]), "g": np.array([1, None, None], object), "u": np.array(["", "b"])}
    for options in ({}, {"orient": "rows"}, {"delimiter": ";"}, {"encoding": "utf-16"}, {"max_rows": 25}):
        for names in (["t"], ["g"], ["t", "g", "u"]):
            text = csv_of({name: arrays[name] for name in names}, **options)
            read, noted = read_warned(text)
            assert ([read[name].tolist() for name in names], noted) == ([arrays[name].tolist() for name in names], [])
            assert list(sa.check(io.BytesIO(text), format="csv")) == []


@pytest.mark.parametrize(
    "options", [{}, {"delimiter": ";"}, {"orient": "rows"}, {"encoding": "utf-16"}, {"encoding": "utf-32-le"}]
)
@pytest.mark.parametrize("array", [TEXTS, np.arange(1000) / 8, np.array(['say "a"', "two\r\nlines"] * 2)])
def test_the_last_cell_may_be_cut(options: dict[str, Any], array: Any) -> None:
    text = csv_of({"t": array}, **options)
    reading = {"encoding": options["encoding"]} if "encoding" in options else {}
    unit = len("\n".encode(options.get("encoding", "utf-8")).removeprefix(b"\xff\xfe").removeprefix(b"\xff\xfe\0\0"))
    for lost in (2, 3, 4):  # the line end, and characters before it
        findings = list(sa.check(io.BytesIO(text[: -lost * unit]), format="csv", **reading))
        assert findings, (lost, options)
        assert {"the last row has no line end", "a quote opens a cell here, and is never closed"} & {
            finding.message for finding in findings
        }
    assert list(sa.check(io.BytesIO(text), format="csv", **reading)) == []


def test_the_address_is_that_of_the_last_cell() -> None:
    text = csv_of({"n": np.arange(3), "t": np.array(["a", "b", "text"])})
    (finding,) = sa.check(io.BytesIO(text[:-3]), format="csv")
    assert (finding.severity, finding.location, finding.message) == ("warning", "B22", "the last row has no line end")


@pytest.mark.parametrize("quoted", [b'"never closed', b'"closed, ""and not'])
def test_a_text_that_ends_within_a_quoted_cell_is_an_error(quoted: bytes) -> None:
    text = csv_of({"t": np.array(["a", "b", "c"])}).replace(b"\r\nc\r\n", b"\r\n" + quoted)
    with pytest.raises(sa.FormatError, match="never closed"):
        sa.read_csv(io.BytesIO(text))
    (finding,) = sa.check(io.BytesIO(text), format="csv")
    assert (finding.severity, finding.location) == ("error", "line 22")


@pytest.mark.parametrize("rows", [1, 40, 4000])
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_quote_that_is_never_closed_takes_no_rows_of_a_table_with_it(rows: int, delimiter: str) -> None:
    lines = ["a,b", *["1,2"] * rows, '3,"4', *["5,6"] * rows]
    text = "\n".join(lines).replace(",", delimiter)
    with pytest.warns(sa.SheetArrayWarning, match=f"A{rows + 2}: a quote stands beside no delimiter"):
        columns = sa.read_columns(io.BytesIO(text.encode()), format="csv")
    assert columns["a"].tolist() == [1] * rows + [3] + [5] * rows
    assert columns["b"].tolist() == ["2"] * rows + ['"4'] + ["6"] * rows
    closed = text.replace('"4', '"4"')
    assert len(sa.read_columns(io.BytesIO(closed.encode()), format="csv")["a"]) == 2 * rows + 1
