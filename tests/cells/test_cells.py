"""Text in bulk and cell by cell agree, and what is written in bulk looks as the contract says."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheetarray import DTypeError, dtypes, elements
from sheetarray.cells import TextLook, buffer_from_text, buffer_from_typed, buffer_to_text
from sheetarray.cells.engine import _MANY
from sheetarray.elements import generic_from_text, generic_to_text
from sheetarray.testing.cases import CASES, assert_same, objects

MARKS = (".", ",")

TOKENS = [
    "0",
    "-0",
    "1",
    "-1",
    "+1",
    "01",
    "007",
    "1.0",
    "1.",
    ".5",
    "-.5",
    "1e5",
    "1E+05",
    "1e-5",
    "1e400",
    "-1e400",
    "1e-400",
    "1,5",
    "-1,5E+05",
    "1.234,5",
    "1,234.5",
    "NaN",
    "nan",
    "-nan",
    "Inf",
    "inf",
    "-inf",
    "+Infinity",
    "INFINITY",
    "infinit",
    "TRUE",
    "true",
    "False",
    "1_0",
    "0x1",
    "\u0661",
    "",
    " ",
    "  7 ",
    "\t7\n",
    "127",
    "128",
    "-128",
    "-129",
    "255",
    "256",
    "65535",
    "65536",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1" * 30,
    "1" * 400,
    "1" * 401,
    "70000",
    "65504",
    "65519.9",
    "65520",
    "3.4028235e38",
    "3.4028236e38",
    "1e39",
    "3+4i",
    "3-4j",
    "(3+4i)",
    "i",
    "-i",
    "4i",
    "3",
    "NaN+NaNi",
    "-0-0i",
    "Infinity-Infinityi",
    "1 + 2i",
    "1e5+1e5i",
    "1,5+2,5i",
    "3+4",
    "nan-infi",
    "1e400+0i",
    "+1+1i",
    "1.+2.i",
    ".5+.5i",
    "2020-01-01",
    "2020-02-30",
    "2020-01-01T10:20:30",
    "2020-01-01 10:20:30",
    "NaT",
    "x",
    "'1",
    "=1+1",
    "None",
    "1.00000005960464477539062500000000000000001",
    "2.5",
    "1e0",
    "0.00000000000000000001",
    "4503599627370497.49999999999",
    "9007199254740991.9999999999999",
    "100.000000000000000000001",
    "1.5e1",
    "\u00a05",
    "5\u00a0",
    "5\u2003",
    "\x1f5",
    "9.5367431640625e-07",
    "1e-46",
    "7e-46",
    "1.40129846432481707e-45",
]

KINDS = [
    "float16",
    "float32",
    "float64",
    "int8",
    "int64",
    "uint8",
    "uint64",
    "bool",
    "complex64",
    "complex128",
    "datetime64[D]",
    "datetime64[s]",
    "timedelta64[s]",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("mark", "missing"), [*zip(MARKS, ["error", "nan"], strict=True)])
def test_bulk_and_single_decoding_agree_on_every_token(kind: str, mark: Any, missing: Any) -> None:
    dtype = dtypes.from_name(kind)
    for token in TOKENS:
        bulk, bulk_problems = buffer_from_text(pl.Series([token]), dtype, TextLook(mark), missing=missing)
        single, problems = elements.decode([token], dtype, missing=missing, decimal=mark)
        assert [p.index for p in bulk_problems] == [p.index for p in problems], token
        if not problems:
            assert_same(bulk, single)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("missing", ["error", "nan"])
def test_bulk_decoding_of_many_tokens_is_that_of_each(kind: str, mark: Any, missing: Any) -> None:
    dtype = dtypes.from_name(kind)
    bulk, problems = buffer_from_text(pl.Series(TOKENS), dtype, TextLook(mark), missing=missing)
    bad = {problem.index for problem in problems}
    assert len(bad) == len(problems)
    for index, token in enumerate(TOKENS):
        single, wrong = elements.decode([token], dtype, missing=missing, decimal=mark)
        assert (index in bad) == bool(wrong), token
        if not wrong:
            assert_same(bulk[index : index + 1], single)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("mark", MARKS)
def test_text_in_bulk_comes_back(case: str, mark: Any) -> None:
    array = np.atleast_1d(CASES[case]).ravel()
    array = array.astype(array.dtype.newbyteorder("="))
    dtype = dtypes.from_numpy(array.dtype)
    look = TextLook(mark)
    texts = buffer_to_text(array, dtype, look).cast(pl.String)
    if mark == "," and dtype.kind == "float":
        texts = texts.str.replace(".", ",", literal=True)
    buffer, problems = buffer_from_text(texts, dtype, look)
    assert problems == []
    assert_same(buffer, array)


def _texts(array: Any, **look: Any) -> list[str | None]:
    return (
        buffer_to_text(np.array(array), dtypes.from_numpy(np.array(array).dtype), TextLook(**look))
        .cast(pl.String)
        .to_list()
    )


def test_looks_in_text() -> None:
    assert _texts([True, False]) == ["TRUE", "FALSE"]
    assert _texts([np.nan, np.inf, -np.inf, 1.5]) == ["NaN", "Infinity", "-Infinity", "1.5"]
    assert _texts([3 + 4j, -1.5 - 2j, complex("-0-0j")]) == ["3+4i", "-1.5-2i", "-0-0i"]
    assert _texts([1.5 - 2j], decimal=",") == ["1,5-2i"]
    assert _texts(["=1+1", "+x", "-x", "@x", "'x", "\tx", "\rx", "x", ""]) == [
        "'=1+1",
        "'+x",
        "'-x",
        "'@x",
        "''x",
        "'\tx",
        "'\rx",
        "x",
        "",
    ]
    assert _texts(["=1+1", "'x"], formulas="keep") == ["=1+1", "'x"]
    assert _texts(np.array(["2020-01-01", "NaT"], "M8[D]")) == ["2020-01-01", "NaT"]
    assert _texts(objects(None, True, 1, 0.5, "1", "=x", "")) == [None, "TRUE", "1", "0.5", "'1", "'=x", "'"]


def test_numbers_are_never_touched_by_escapes() -> None:
    assert _texts([-np.inf, -1.0])[0] == "-Infinity"
    assert _texts([-1 - 2j]) == ["-1-2i"]
    assert _texts([-5]) == ["-5"]


@pytest.mark.parametrize("byte", [2, 255])
def test_booleans_of_other_bytes_are_still_true(byte: int) -> None:
    array = np.array([0, byte, 1], dtype=np.uint8).view(bool)
    assert _texts(array) == ["FALSE", "TRUE", "TRUE"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_nan_of_any_bits_is_nan(dtype: str) -> None:
    width = np.dtype(dtype).itemsize // (2 if dtype.startswith("complex") else 1)
    ones = {2: 0x7D01, 4: 0x7FA00001, 8: 0x7FF4000000000001}[width]  # signalling, as an integer
    array = np.array([ones] * 4, dtype=f"u{width}").view(dtype)
    assert all("NaN" in text for text in _texts(array) if text is not None)


def test_a_typed_column_is_given_up_at_the_slightest_doubt() -> None:
    dtype = dtypes.from_name("float64")
    assert buffer_from_typed(pl.Series([1.0, None]), dtype) is None
    assert buffer_from_typed(pl.Series([1.0, float("inf")]), dtype) is None
    assert buffer_from_typed(pl.Series(["1.0"]), dtype) is None
    result = buffer_from_typed(pl.Series([1.0, float("nan")]), dtype)
    assert result is not None
    assert result.flags.writeable


@pytest.mark.parametrize("missing", ["error", "nan"])
def test_nulls_are_blanks_of_each_dtype(missing: Any) -> None:
    for kind in KINDS:
        _, problems = buffer_from_text(
            pl.Series([None], dtype=pl.String), dtypes.from_name(kind), TextLook(), missing=missing
        )
        filled = missing == "nan" and kind.startswith(("float", "complex"))
        assert len(problems) == (not filled), kind
    nulls = pl.Series([None, "a"], dtype=pl.String)
    assert buffer_from_text(nulls, dtypes.from_name("string"), TextLook())[0].tolist() == ["", "a"]
    assert buffer_from_text(nulls, dtypes.from_name("generic"), TextLook())[0].tolist() == [None, "a"]


# Many rows are shared out among the cores ------------------------------------------------------------------------


@pytest.mark.parametrize("count", [_MANY - 1, _MANY, _MANY + 1])
def test_cells_of_many_rows_keep_their_order(count: int) -> None:
    waves = np.arange(2.0 * count).view(np.complex128) * (0.1 - 1e-17j)
    waves[[0, -1, count // 2]] = [complex(np.inf, -0.0), complex(np.nan, -np.inf), 3]
    dates = (np.arange(count) * 86_399_999).astype("datetime64[ms]")
    dates[5] = "NaT"
    for array, dtype in ((waves, "complex128"), (dates, "datetime64[ms]")):
        entry = dtypes.from_name(dtype)
        texts = buffer_to_text(array, entry, TextLook())
        few = [buffer_to_text(array[index : index + 1], entry, TextLook())[0] for index in range(0, count, count // 50)]
        assert texts.gather_every(count // 50).to_list() == few
        values, problems = buffer_from_text(texts, entry, TextLook())
        assert values.tobytes() == array.tobytes()
        assert not problems


@given(st.text("-+.,019eE'tTrRuUfFaAlLsS =", max_size=6))
def test_text_is_never_taken_for_another_kind_whatever_it_begins_with(text: str) -> None:
    for formulas in ("escape", "typed"):
        cell = generic_to_text(text, formulas=formulas)
        assert generic_from_text(cell, formulas=formulas) == text


@pytest.mark.parametrize("distinct", [1, 4, 5, 9, 10])
def test_generic_elements_are_alike_however_often_they_occur(distinct: int) -> None:
    cells = [["1", "1.0", "TRUE", "'1", "x", "'TRUE", "", "-0.0", "'x", "2"][index % distinct] for index in range(10)]
    buffer, problems = buffer_from_text(pl.Series(cells), dtypes.from_name("generic"), TextLook())
    assert [(type(cell), repr(cell)) for cell in buffer] == [
        (type(cell), repr(cell)) for cell in (generic_from_text(text, formulas="escape") for text in cells)
    ]
    assert not problems


@pytest.mark.parametrize("element", [np.inf, 10**300, -(10**300), "\ud800", [1], np.nan])
def test_what_no_generic_cell_holds_is_named_among_pythons_scalars(element: object) -> None:
    buffer = np.empty(5, dtype=object)
    buffer[:] = [1, 2.5, "a", element, None]
    with pytest.raises(DTypeError, match="generic element 3"):
        buffer_to_text(buffer, dtypes.from_name("generic"), TextLook())
    buffer[3] = 10**300 - 1
    assert buffer_to_text(buffer, dtypes.from_name("generic"), TextLook())[3] == "9" * 300
