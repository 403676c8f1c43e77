"""One value at a time and whole columns at once follow the same rules: each is held against the other.

`scalars` reads and writes single values, `to_cells` and `from_cells` whole columns through the engine; whatever the
dtype, the option or the text, both give the same elements, the same cells, and complain about the same cells.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from limits import set_limits

from sheetarray import DTypeError, FormatError, dtypes, elements
from sheetarray.elements import (
    TextLook,
    buffer_from_text,
    buffer_from_texts,
    buffer_from_typed,
    buffer_to_text,
    buffer_to_typed,
    engine_dtype,
    spelling,
)
from sheetarray.elements.serials import serials_to_dates
from sheetarray.linear.header import check_size
from sheetarray.testing.cases import assert_same

NUMERIC = [name for name, dtype in dtypes.DTYPES.items() if dtype.kind in ("float", "complex", "int", "bool")]
TIMES = [f"datetime64[{unit}]" for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "7s")] + [
    "timedelta64[s]",
    "timedelta64[ns]",
]
NAMES = [*NUMERIC, *TIMES, "string", "generic"]
LOOKS = [TextLook(decimal, formulas) for decimal in (".", ",") for formulas in ("escape", "keep", "typed")]  # type: ignore[arg-type]  # both are literals

WORDS = [
    *("0", "-0", "1", "+1", "01", "1.0", "1.", ".5", "-.5", "1e5", "1E+05", "1,5", "-1,5E+05", "1.234,5", "1_0"),
    *("0x1", "NaN", "nan", "-nan", "Inf", "-infinity", "Infinity", "TRUE", "true", "False", "false", "127", "128"),
    *("-129", "255", "65536", "1e9999999999999999999", "0e-9999999999999999999", "9007199254740993"),
    *("9223372036854775808", "18446744073709551615", "65520", "3.4028236e38", "1e400", "1e-400", "3+4i", "3-4j"),
    *("(3+4i)", "i", "-i", "NaN+NaNi", "-0-0i", "1,5+2,5i", "3+4", "1e5+1e5i", "1e400+0i", "1+-2i", "2020-01-01"),
    *("2020-02-30", "2020-01-01T10:20:30", "2020-01-01T24:00:00", "2020-01-01T29:00:00", "2020-01-01T10:20:60"),
    *("2020-01-01T10:20:30.123456789", "20200101", "-0044-03-15", "2020", "NaT", "nat", "NAT", "'1", "'=x", "''"),
    *("'", "=1", "@x", "-x", "x'", "-1", "007", "1e-5", "-1e400", "1,234.5", "inf", "-inf", "+Infinity", "INFINITY"),
    *("infinit", "-128", "256", "65535", "9223372036854775807", "-9223372036854775808", "18446744073709551616"),
    *("111111111111111111111111111111", "70000", "65504", "65519.9", "3.4028235e38", "1e39", "4i", "3"),
    *("Infinity-Infinityi", "nan-infi", "+1+1i", "1.+2.i", ".5+.5i", "x", "=1+1", "None"),
    *("1.00000005960464477539062500000000000000001", "2.5", "1e0", "0.00000000000000000001"),
    *("4503599627370497.49999999999", "9007199254740991.9999999999999", "100.000000000000000000001", "1.5e1"),
    *("9.5367431640625e-07", "1e-46", "7e-46", "1.40129846432481707e-45"),
]
WORDS += [
    *("", " ", "1 + 2i", "2020-01-01 10:20:30", " NaT ", "\tx", "\rx", "'\tx", "\u0661", "  7 ", "\t7\n", "\xa05"),
    *("5\xa0", "5\u2003", "\x1f5"),
]
WORDS += ["1" * 30, "1" * 400, "1" * 401]
GLUE = " \t\n\v\f\r\x1c\x1f\x85\xa0\u2003\u2028\u200b\ufeff\u0661\uff11\u0130\u212a'\"+-.,eEijNaTn0123456789=@:_()x"
SPECKS = st.text(st.sampled_from(GLUE), max_size=2)
TEXTS = st.one_of(
    st.sampled_from(WORDS),
    st.tuples(SPECKS, st.sampled_from(WORDS), SPECKS).map("".join),
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=3).map("".join),
    st.text(st.sampled_from(GLUE), max_size=10),
    st.integers(-(2**66), 2**66).map(str),
    st.floats().map(repr),
    st.floats(width=32).map(repr),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
)
COLUMNS = st.lists(st.one_of(TEXTS, st.none()), max_size=8)
SCALARS = st.one_of(
    st.none(), st.booleans(), TEXTS, st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False)
)


def as_objects(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@st.composite
def buffers(draw: Any) -> tuple[Any, Any]:
    """A buffer of any elements of any dtype, every bit pattern among them, with its dtype."""
    dtype = dtypes.from_name(draw(st.sampled_from(NAMES)))
    if dtype.kind == "string":
        texts = draw(st.lists(TEXTS, max_size=8))
        return np.array(texts, dtype=np.str_ if texts else "<U1"), dtype
    if dtype.kind == "generic":
        return as_objects(draw(st.lists(SCALARS, max_size=8))), dtype
    if dtype.kind == "bool":
        return np.array(draw(st.lists(st.booleans(), max_size=8)), dtype=bool), dtype
    size = dtype.numpy.itemsize
    count = draw(st.integers(0, 6))
    if dtype.kind in ("datetime", "timedelta") and draw(st.booleans()):
        counts = draw(st.lists(st.integers(-(10**6), 10**6), min_size=count, max_size=count))
        return np.array(counts, dtype=np.int64).view(dtype.numpy), dtype
    content = draw(st.binary(min_size=count * size, max_size=count * size))
    return np.frombuffer(content, dtype=dtype.numpy).copy(), dtype


# Decoding ----------------------------------------------------------------------------------------------------


def scalar_decode(texts: list[str | None], dtype: Any, look: TextLook, missing: Any) -> Any:
    """What `elements` makes of a column of text; text and generic elements have rules of their own for one cell."""
    if dtype.kind == "string" and look.formulas == "escape":
        texts = [None if text is None else elements.unescape_formula(text) for text in texts]
    if dtype.kind == "generic":
        return as_objects([elements.generic_from_text(text, formulas=look.formulas) for text in texts]), []
    decimal = look.decimal if dtype.kind in ("float", "complex", "int") else "."
    return elements.decode(texts, dtype, missing=missing, decimal=decimal)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("look", LOOKS[::3])
def test_every_word_means_alone_what_it_means_in_a_column(name: str, look: TextLook) -> None:
    dtype = dtypes.from_name(name)
    column, problems = buffer_from_text(pl.Series(WORDS), dtype, look, missing="nan")
    bad = {problem.index for problem in problems}
    for index, word in enumerate(WORDS):
        single, wrong = scalar_decode([word], dtype, look, "nan")
        assert (index in bad) == bool(wrong), word
        if not wrong and dtype.kind == "string":
            assert column[index] == single[0]
        elif not wrong:
            assert_same(column[index : index + 1], single)


@settings(deadline=None, max_examples=examples(1500))
@given(COLUMNS, st.sampled_from(NAMES), st.sampled_from(LOOKS), st.sampled_from(["error", "nan"]))
@example(["2020-01-01T24:00:00", "2020-01-01T10:20:30"], "datetime64[s]", LOOKS[0], "error")
@example(["1.5", "\x1f1.5", "\ufeff1"], "float64", LOOKS[0], "nan")
def test_columns_of_text_decode_as_their_cells_do(
    texts: list[str | None], name: str, look: TextLook, missing: Any
) -> None:
    dtype = dtypes.from_name(name)
    bulk, bulk_problems = buffer_from_text(pl.Series(texts, dtype=pl.String), dtype, look, missing=missing)
    single, problems = scalar_decode(texts, dtype, look, missing)
    assert bulk_problems == problems
    good = [index for index in range(len(texts)) if index not in {problem.index for problem in problems}]
    for few in (1, 2**15):  # numbers by the engine, or cell by cell
        with pytest.MonkeyPatch.context() as patch:
            set_limits(patch, few_cells=few)
            listed, listed_problems = buffer_from_texts(texts, dtype, look, missing=missing)
        assert listed_problems == problems
        for buffer in (bulk, listed):
            if dtype.kind == "string":
                assert buffer.tolist() == single.tolist()
            else:
                assert_same(buffer[good], single[good])


@settings(deadline=None, max_examples=examples(500))
@given(COLUMNS, st.sampled_from(NAMES), st.sampled_from(["error", "nan"]))
def test_columns_that_the_engine_has_parsed_are_what_their_cells_say(
    texts: list[str | None], name: str, missing: Any
) -> None:
    dtype = dtypes.from_name(name)
    file = "".join(f"{text}\n" for text in texts if text and not set(text) & set('\r\n"'))
    kept = [text for text in texts if text and not set(text) & set('\r\n"')]
    try:
        column = pl.read_csv(
            file.encode(), has_header=False, schema={"x": engine_dtype(dtype)}, separator="\x01", raise_if_empty=False
        )["x"]
    except pl.exceptions.PolarsError:
        return  # it is looked at as text
    if len(column) != len(kept) or (bulk := buffer_from_typed(column, dtype, missing=missing)) is None:
        return
    single, problems = elements.decode(kept, dtype, missing=missing)
    assert problems == []
    assert_same(bulk, single)


# Encoding ----------------------------------------------------------------------------------------------------


def text_of(cell: Any, dtype: Any, look: TextLook) -> str | None:
    """The text of a cell that `elements` made."""
    if dtype.kind == "generic":
        return elements.generic_to_text(cell, formulas=look.formulas, decimal=look.decimal)
    if dtype.kind == "string":
        return elements.escape_formula(cell) if look.formulas == "escape" else cell
    if isinstance(cell, bool):
        return elements.format_bool(cell)
    text = cell if isinstance(cell, str) else repr(cell)
    return text.replace(".", look.decimal) if dtype.kind == "complex" else text


@settings(deadline=None, max_examples=examples(1000))
@given(buffers(), st.sampled_from(LOOKS))
def test_the_text_of_a_column_is_that_of_its_elements(given_buffer: tuple[Any, Any], look: TextLook) -> None:
    buffer, dtype = given_buffer
    try:
        cells = elements.encode(buffer, dtype, exact=2**64 if dtype.kind != "generic" else 10**299)
        expected = [text_of(cell, dtype, look) for cell in cells]
    except (DTypeError, ValueError):
        with pytest.raises(DTypeError):
            buffer_to_text(buffer, dtype, look)
        return
    column = buffer_to_text(buffer, dtype, look)
    if dtype.kind != "float":
        assert column.cast(pl.String).to_list() == expected
        return
    texts = column.cast(pl.String).to_list()  # exponents are the engine's; they mean the same number
    point = [text.replace(",", ".") for text in texts]
    assert_same(elements.decode(point, dtype)[0], elements.decode(cells, dtype)[0])
    words = [str(text) for text in expected]
    assert [re.sub("[0-9.e]", "", text) for text in point if "nf" in text] == [
        re.sub("[0-9.e]", "", text) for text in words if "nf" in text
    ]


@settings(deadline=None, max_examples=examples(1000))
@given(buffers(), st.sampled_from([2**32, 10**15, 2**53]))
def test_typed_cells_of_a_column_are_those_of_its_elements(given_buffer: tuple[Any, Any], exact: int) -> None:
    buffer, dtype = given_buffer
    try:
        cells = elements.encode(buffer, dtype, exact=10**299 if dtype.kind == "generic" else exact)
    except DTypeError:
        with pytest.raises(DTypeError):
            buffer_to_typed(buffer, dtype, exact=exact)
        return
    typed = buffer_to_typed(buffer, dtype, exact=exact)
    if dtype.kind == "generic":
        cells = [elements.generic_to_typed(cell, exact) for cell in cells]
    assert len(typed) == len(cells)
    for index, cell in enumerate(cells):
        number, text, boolean = (
            None if kind is None else kind[index] for kind in (typed.numbers, typed.texts, typed.booleans)
        )
        assert [number, text, boolean].count(None) == 3 - (cell not in (None, "")), cell
        if isinstance(cell, bool):
            assert boolean is cell
        elif isinstance(cell, str) and dtype.kind == "datetime":
            assert cell.startswith(text or "not text")
            assert cell.removeprefix(text).strip("T0:.") == ""  # they stand without zeros that say nothing
        elif isinstance(cell, str):
            assert (text or "") == cell
        elif cell is not None:
            assert float(number) == float(cell)


@settings(deadline=None, max_examples=examples(400))
@given(buffers())
@example((np.array(["=1", "'x", "2", ""]), dtypes.from_name("string")))
def test_typed_cells_that_are_all_text_are_the_text_of_each_element(given_buffer: tuple[Any, Any]) -> None:
    buffer, dtype = given_buffer
    try:
        cells = elements.encode(buffer, dtype, exact=2**64 if dtype.kind != "generic" else 10**299)
        expected = [text_of(cell, dtype, TextLook(".", "typed")) or "" for cell in cells]
    except (DTypeError, ValueError):
        with pytest.raises(DTypeError):
            buffer_to_typed(buffer, dtype, exact=2**53, as_text=True)
        return
    typed = buffer_to_typed(buffer, dtype, exact=2**53, as_text=True)
    assert typed.numbers is None
    assert typed.booleans is None
    texts = [] if typed.texts is None else [text or "" for text in typed.texts.to_list()]
    if dtype.kind == "float":  # exponents are the engine's; they mean the same number
        texts, expected = elements.decode(texts, dtype)[0].tolist(), elements.decode(expected, dtype)[0].tolist()
    assert repr(texts) == repr(expected)


@settings(deadline=None, max_examples=examples(400))
@given(buffers().filter(lambda pair: pair[1].kind == "datetime"))
def test_serial_dates_of_a_column_are_the_moments_of_its_elements(given_buffer: tuple[Any, Any]) -> None:
    buffer, dtype = given_buffer
    try:
        elements.encode(buffer, dtype)
    except DTypeError:
        return
    typed = buffer_to_typed(buffer, dtype, exact=2**53, serials=True)
    cells = [] if typed.texts is None else typed.texts.to_list()
    if typed.numbers is not None:
        dates = serials_to_dates(typed.numbers.cast(pl.Float64).to_numpy(), from_1904=False)
        cells = dates if typed.texts is None else [date or text for date, text in zip(dates, cells, strict=True)]
    decoded, problems = elements.decode(cells, dtype)
    assert problems == []
    assert_same(decoded, buffer)


@settings(deadline=None, max_examples=examples(600))
@given(buffers(), st.sampled_from(["text", "interleaved"]))
def test_cells_of_elements_decode_in_bulk(given_buffer: tuple[Any, Any], look: Any) -> None:
    buffer, dtype = given_buffer
    if dtype.kind == "generic":
        return  # its cells say by their type what they are
    try:
        cells = elements.encode(buffer, dtype, complex=look)
    except DTypeError:
        return
    if dtype.kind == "complex" and look == "interleaved":
        dtype = dtypes.from_numpy(np.empty(0, dtype.numpy).real.dtype)
        buffer = np.ascontiguousarray(buffer).view(dtype.numpy)
    texts = [None if cell is None else cell if isinstance(cell, str) else repr(cell) for cell in cells]
    bulk, problems = buffer_from_text(pl.Series(texts, dtype=pl.String), dtype, TextLook(".", "keep"))
    assert problems == []
    if dtype.kind == "string":
        assert bulk.tolist() == buffer.tolist()
    else:
        assert_same(bulk, elements.decode(cells, dtype)[0])


# The shared rules --------------------------------------------------------------------------------------------


def test_the_pattern_of_evaluated_text_is_that_of_its_marks() -> None:
    characters = [*map(chr, range(0x250)), "\u2212", "\uff1d"]
    marked = pl.Series(characters).str.contains(f"^{spelling.EVALUATED_PATTERN}$").to_list()
    assert marked == [character in spelling.EVALUATED for character in characters]


def test_no_nan_shows_its_sign() -> None:
    values = np.array([0.0, -0.0, 1.0, -1.0, np.nan, -np.nan, -np.inf])
    assert spelling.shows_minus(values).tolist() == [False, True, False, True, False, False, True]


@pytest.mark.parametrize(("rows", "refused"), [(2**59 - 1, False), (2**59, True), (2**59 + 1, True)])
def test_beyond_any_memory_is_one_limit_for_all(rows: int, refused: bool) -> None:
    for shape in ((rows,), (0, rows), (rows, 0, 1)):
        if refused:
            with pytest.raises(FormatError, match="needs more memory"):
                check_size(shape, 8)
        else:
            check_size(shape, 8)
