"""Records and fields: the compiled loop, the plain way and Python's csv module split every text alike."""

from __future__ import annotations

import csv
import io
import warnings
from typing import Any

import numpy as np
import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray import loops
from sheetarray.columns import Zone
from sheetarray.columns.words import WORDS
from sheetarray.linear.parsing import normalize_key
from sheetarray.sheets.delimited import plain_records, records
from sheetarray.sheets.delimited.records import Records

PIECES = [
    *('"', '""', ",", ";", "\n", "\r\n", "\r", "a", " ", "1.5", "-2", "é", "\u00a0", "version", "Data", "NaN"),
    "1e999",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
compiled = pytest.mark.skipif(not loops.COMPILED, reason="there is no compiled loop to compare with")


def describe(text: str, delimiter: str, kinds: str, spans: list[Any]) -> Any:
    """Return everything that records tell of a text; an error's text."""
    try:
        made = Records(text.encode(), 0, delimiter)
        made.index()
        words = made.words()
        runs = [
            (column, first, first + count, kind) for kind, (column, first, count) in zip(kinds, spans, strict=False)
        ]
        cells = []
        for run, read in zip(runs, made.read(runs), strict=True):
            if run[3] in "ts":
                cells.append((read[0].tolist(), read[1]) if run[3] == "s" else read.to_list())
        zones = [Zone(row, column, count, "rows" if count % 2 else "columns") for column, row, count in spans]
        return (
            [words.rows.tolist(), words.columns.tolist(), words.codes.tolist()],
            [made.count, made.width, made.list_blank_lines().tolist()],
            made.rows(0, made.count),
            made.places_of(range(made.count)),
            made.zones(zones),
            cells,
        )
    except sa.FormatError as error:
        return str(error)


@compiled
@settings(max_examples=examples(600), deadline=None)
@given(
    text=TEXTS,
    delimiter=st.sampled_from([",", ";", ""]),
    kinds=st.text("tsdfDFiubn", max_size=6),
    spans=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(0, 6)), min_size=6, max_size=6),
    block=st.sampled_from([1, 5, 2**20]),
)
def test_the_loop_and_the_plain_way_agree(text: str, delimiter: str, kinds: str, spans: list[Any], block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("BLOCK", "MOST_LISTED", "FIRST_LISTED", "_FIRST", "_AT_ONCE"):
            patch.setattr(records, name, block)
        for name in ("BLOCK", "FIRST_LISTED"):
            patch.setattr(plain_records, name, block)
        whole = describe(text, delimiter, kinds, spans)
        patch.setattr(loops, "COMPILED", False)
        assert describe(text, delimiter, kinds, spans) == whole


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.lists(st.text(st.sampled_from('a"\n\r,; é'), max_size=5), min_size=1, max_size=5), max_size=6))
def test_what_another_program_writes_is_split_as_it_was(rows: list[list[str]]) -> None:
    file = io.StringIO(newline="")
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    made = Records(file.getvalue().encode(), 0, ",")
    assert made.rows(0, len(rows)) == rows
    assert (made.count, made.width) == (len(rows), max(map(len, rows), default=0))


AROUND = ["", " ", "\t", "\n", "\u00a0", "\x85", ",", ";", '""', "x", " \n", "\u00a0 ", "\u2003"]


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize("quoted", [True, False])
def test_a_cell_is_a_word_where_it_is_one_when_it_is_trimmed(quoted: bool, delimiter: str) -> None:
    quote = '"' if quoted else ""
    cells = [
        f"{quote}{before}{word}{after}{quote}"
        for word in ("version", "Data")
        for before in AROUND
        for after in AROUND
        if quoted or not {delimiter, "\n", '""'} & {*before, *after, before, after}
    ]
    text = "\n".join(delimiter.join(["a", cell, "b"]) for cell in cells) + "\n"
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    wanted = {(row, 1, key) for row, (_, cell, _) in enumerate(rows) if (key := normalize_key(cell)) in WORDS}
    assert len(wanted) > 20
    made = Records(text.encode(), 0, delimiter)
    made.index()
    words = made.words()
    found = zip(words.rows.tolist(), words.columns.tolist(), words.codes.tolist(), strict=True)
    assert {(row, column, WORDS[code]) for row, column, code in found} == wanted


NUMERALS = [
    *("0", "-0", "1.5", "-2.25e-3", "1E+5", "5e-324", "1.7976931348623157e308", "NaN", "-Infinity"),
    "123456789012345678",
]
SMALL = ["0", "-0", "1.5", "-2.25e-3", "1E+5", "1e-45", "3.4028235e38", "NaN", "Infinity", "0.1"]
ODD = [
    *("", "+1", ".5", "1.", " 1", "1 ", "0x1p3", "inf", "nan", "infinity", "+Infinity", "-NaN", "1e999", "1e-999"),
    *("1_0", "1,5", "--1", "1e", "٣"),
]


@compiled
@pytest.mark.parametrize("kind", "dfiu")
def test_numbers_are_those_of_python_and_what_is_odd_is_left_to_it(kind: str) -> None:
    whole = {"i": ["0", "-5", str(2**63 - 1), str(-(2**63))], "u": ["0", "7", str(2**64 - 1)], "f": SMALL}.get(
        kind, NUMERALS
    )
    beyond = {
        "i": [str(2**63), str(-(2**63) - 1), "1.0"],
        "u": ["-1", str(2**64), "1.0"],
        "f": ["1e39"],
        "d": ["1e-999"],
    }.get(kind, [])
    (cells,) = Records("\n".join([*whole, "", ""]).encode(), 0, "").read([(0, 0, 99, kind)])
    number = {"d": np.float64, "f": np.float32}.get(kind, int)
    expected = [float(number(one)) if kind in "df" else int(one) for one in whole]
    assert repr(cells.tolist()) == repr(expected)  # without the last line, which has no cell
    for odd in [*ODD, *beyond]:
        text = "\n".join([whole[0], odd, whole[0], ""])
        assert Records(text.encode(), 0, "").read([(0, 0, 3, kind)]) == [None], odd


@compiled
def test_booleans_are_the_two_words_in_any_case_of_letters() -> None:
    (cells,) = Records(b"TRUE\nfalse\nTrue\n", 0, "").read([(0, 0, 9, "b")])
    assert cells.tolist() == [True, False, True]
    for odd in ("1", "T", "TRUE ", "TRUEE"):
        assert Records(f"TRUE\n{odd}\n".encode(), 0, "").read([(0, 0, 9, "b")]) == [None], odd


@pytest.mark.parametrize(
    "raw",
    [b"\xff", b"a,\xc3\x28\n", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"x" * 40 + b"\x80"],
)
@pytest.mark.parametrize("before", [b"", b"ok,\xc3\xa9\n" * 9])
def test_what_is_no_utf8_is_an_error(raw: bytes, before: bytes) -> None:
    text = b"t\r\n" + before + raw
    with pytest.raises(sa.FormatError, match="not text in utf-8"):
        sa.read(io.BytesIO(text), format="csv")
    if any(sign in text for sign in b"\x81\x8d\x8f\x90\x9d"):
        with pytest.raises(sa.FormatError, match="not text in utf-8"):
            sa.read_columns(io.BytesIO(text), format="csv")
        return
    with warnings.catch_warnings(record=True) as caught:  # valid in cp1252
        warnings.simplefilter("always")
        sa.read_columns(io.BytesIO(text), format="csv")
    assert "not UTF-8, read as cp1252" in str(caught[0].message)


@pytest.mark.parametrize("raw", ["\u07ff", "\u0800", "\ud7ff", "\ue000", "\U00010000", "\U0010ffff"])
def test_every_character_is_read(raw: str) -> None:
    text = np.array([raw, f"a{raw}", "x" * 9 + raw])
    file = io.BytesIO()
    sa.write_csv(file, {"t": text})
    foreign = file.getvalue().replace(b"\r\n", b"\n").replace(b"version", b'"version"', 1)
    assert sa.read_csv(io.BytesIO(foreign))["t"].tolist() == text.tolist()


@compiled
@pytest.mark.parametrize(
    ("text", "number", "shown"),
    [
        ("0", 0, 0),
        ("-12", -12, 0),
        ("-0", -0.0, 1),
        ("9007199254740991", 9007199254740991, 0),
        ("1.5", 1.5, 7),
        ("-0.0", -0.0, 7),
        ("1.234", 1.234, 3),
        ("0.234", 0.234, 7),
        ("1234.567", 1234.567, 7),
        ("1e5", 1e5, 5),
        ("0.30000000000000004", 0.30000000000000004, 7),
        ("1.000000000000000056e-01", 0.1, 7),
        ("5.960464477539063e-08", 2.0**-24, 7),
    ],
)
def test_numbers_of_which_doubles_keep_all_digits_tell_what_they_show(text: str, number: float, shown: int) -> None:
    for spelled in (text, f'"{text}"'):
        ((numbers, blanks, bits),) = Records(f"{spelled}\n".encode(), 0, "").read([(0, 0, 9, "n")])
        assert (repr(numbers.tolist()), blanks, bits) == (repr([number]), 0, shown)


@compiled
@pytest.mark.parametrize(
    "text",
    [
        *("007", "-01.5", "+5", "1.", ".5", "1,5", "nan", "inf", "0x1", "1 ", "1e", "1e5x", "--1", "-", "1.5.2"),
        *("9007199254740992", "12345678901234567890", "0.1000000000000000001", "0.12345678901234567", "1e999"),
        *("1e-999", "3.125090000000000000e-02", "1.00000000000000000000"),
    ],
)
def test_a_number_that_would_lose_something_leaves_its_column_text(text: str) -> None:
    assert Records(f"1\n{text}\n2\n".encode(), 0, "").read([(0, 0, 9, "n")]) == [None]
    ((numbers, blanks, _),) = Records(b"1,\n,2\n", 0, ",").read([(0, 0, 9, "n")])
    assert (repr(numbers.tolist()), blanks) == ("[1.0, nan]", 1)


@pytest.mark.parametrize("length", [1, 2**12 - 1, 2**12, 2**12 + 1])
def test_lines_beside_quotes_are_split_alike_however_long_they_are(length: int) -> None:
    text = f'"a",""\n{"x" * length},y\r\n\n"b\n",{"z" * length}\n'
    rows = [cells for cells, _ in plain_records.split_records(text, ",")]
    assert rows == [["a", ""], ["x" * length, "y"], [""], ["b\n", "z" * length]]
