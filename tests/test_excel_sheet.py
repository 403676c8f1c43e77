"""Workbooks as sheets of cells: what stands in them comes out, to the last bit, at the right address."""

from __future__ import annotations

import io
import math
import random
import struct
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import xlsxwriter
from cases import assert_same, objects
from foreign_books import (
    FIRST,
    begin,
    binary_book,
    binary_cell,
    book,
    boolean,
    columns,
    document,
    excel97_book,
    excel97_record,
    excel97_text,
    grid,
    listed,
    number,
    opened,
    parts,
    read,
    rows_of,
    shared,
    styles,
    table_cell,
    table_row,
    text,
    wide,
    worksheet,
    zipped,
)  # fmt: skip
from hypothesis import given
from hypothesis import strategies as st
from programs import resave

import sheetarray as sa
from sheetarray import dtypes
from sheetarray.columns import Request, a1
from sheetarray.sheets.excel.reader import events
from sheetarray.sheets.excel.reader import worksheet as regular
from sheetarray.sheets.excel.reader.blocks import _PAD
from sheetarray.sheets.excel.reader.formats import kind_of_format
from sheetarray.sheets.excel.reader.serials import elapsed, moments
from sheetarray.sheets.excel.reader.texts import without_escapes

FLOAT = dtypes.named("float64")


def one(dtype: str, *data: str, **options: Any) -> np.ndarray[Any, Any]:
    """The array whose data cells those are."""
    return read(book(columns(listed(dtype, data))), **options)["t"]


def refusal(dtype: str, *data: str, **options: Any) -> sa.FormatError:
    """The error that reading such an array raises."""
    with pytest.raises(sa.FormatError) as caught:
        read(book(columns(listed(dtype, data)), **options))
    return caught.value


# Numbers -----------------------------------------------------------------------------------------------------


def random_doubles(count: int) -> np.ndarray[Any, Any]:
    bits = np.random.default_rng(7).integers(0, 2**64, 2 * count, dtype=np.uint64)
    doubles = bits.view(np.float64)
    return doubles[np.isfinite(doubles)][:count]


def test_every_bit_of_a_double_comes_out_however_it_is_written() -> None:
    extremes = [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1 + 0.2, 2.0**53, 1e300]
    wanted = np.concatenate([random_doubles(5000), extremes])
    for form in (repr, "{:.17e}".format, "{:.17G}".format, "{:+.20E}".format):
        assert_same(one("float64", *(number(form(float(value))) for value in wanted)), wanted)


def test_float32_is_rounded_once() -> None:
    close = "1.00000005960464477540"  # beyond the middle of two floats by less than a double can tell
    data = [number(close), number("0.1"), number("1.000000059604644775390625")]
    assert_same(one("float32", *data), np.array([1 + 2**-23, 0.1, 1.0], np.float32))


@pytest.mark.parametrize("numeral", ["1E400", "-1e309", "9" * 400])
def test_a_number_beyond_a_double_is_an_error_not_an_infinity(numeral: str) -> None:
    error = refusal("float64", number(1), number(numeral))
    assert error.location == f"arrays!A{FIRST + 1}"
    assert "beyond the range of float64" in error.reason


@pytest.mark.parametrize("wrong", ["INF", "-INF", "NaN", "1,5", "0x10", "1_0", "٣"])
def test_a_number_cell_that_holds_no_numeral_is_refused(wrong: str) -> None:
    assert refusal("float64", number(1), number(wrong)).location == f"arrays!A{FIRST + 1}"
    assert refusal("int8", number(wrong)).location == f"arrays!A{FIRST}"


def test_text_means_what_the_dtype_says() -> None:
    assert_same(one("float64", text("NaN"), number(1.5), text("-Infinity"), text("1e3")),
                np.array([np.nan, 1.5, -np.inf, 1000]))  # fmt: skip
    assert_same(one("float64", text("NaN"), number(1.5), text(" 2 ")), np.array([np.nan, 1.5, 2]))
    assert_same(one("complex128", text("1+2i"), number(3)), np.array([1 + 2j, 3]))
    assert_same(one("int8", text("5"), number("2.0"), number("1E+02")), np.array([5, 2, 100], np.int8))
    assert_same(one("bool", boolean(True), number(0), text("TRUE")), np.array([True, False, True]))


def test_integers_are_exact_beyond_what_a_double_holds() -> None:
    wanted = [2**63 - 1, -(2**63), 2**53 + 1, 0, 10**18 + 1]
    assert_same(one("int64", *map(number, wanted)), np.array(wanted))
    assert_same(one("int64", *(text(str(value)) for value in wanted)), np.array(wanted))
    assert_same(one("int64", number(1), *(text(str(value)) for value in wanted)), np.array([1, *wanted]))
    assert_same(one("uint64", number(2**64 - 1), number(0)), np.array([2**64 - 1, 0], np.uint64))


@pytest.mark.parametrize(("dtype", "cell"), [
    ("uint8", number(300)), ("uint8", number(-1)), ("int32", number(2.5)), ("float16", number(70000)),
    ("float64", boolean(True)), ("int32", boolean(True)), ("bool", number(2)), ("float64", text("abc")),
    ("int64", number("1e19")), ("datetime64[D]", number(43831)), ("timedelta64[s]", number(1.5)),
])  # fmt: skip
def test_a_value_that_the_dtype_cannot_mean_is_an_error_at_its_address(dtype: str, cell: str) -> None:
    good = {"bool": boolean(True), "datetime64[D]": text("2020-01-01")}.get(dtype, number(1))
    error = refusal(dtype, good, cell, good)
    assert error.location == f"arrays!A{FIRST + 1}"
    assert "t[1]" in str(error)


def test_blanks_are_nan_where_that_is_asked_for() -> None:
    blank = [None, ' s="0"/>', "></c>", "><v></v></c>", "><v/></c>", ' t="s"><v></v></c>']
    content = book(columns([*listed("float64", [""] * (len(blank) + 1))[: FIRST - 1], *blank, number(2)]))
    assert_same(read(content, missing="nan")["t"], np.array([np.nan] * len(blank) + [2]))
    with pytest.raises(sa.FormatError, match="blank") as caught:
        read(content)
    assert caught.value.location == f"arrays!A{FIRST}"


# Text --------------------------------------------------------------------------------------------------------


def test_every_character_comes_out_of_every_kind_of_text_cell() -> None:
    plain = [chr(code) for code in range(0x20, 0x3000) if not 0xD800 <= code < 0xE000]
    plain += [chr(code) for code in (0xFFFD, 0xE000, 0x1F600, 0x10FFFF)] + [
        "\t",
        "\n",
        "a\nb",
        "&<>\"'",
        "]]>",
        " a ",
        "_",
    ]
    escaped = {"_x000D_": "\r", "_x0001_": "\x01", "_xFFFE_": "\ufffe", "_xFFFF_": "\uffff", "_x005F_x0041_": "_x0041_",
               "_x0041__x0042_": "AB", "_xD83D__xDE00_": "\U0001f600", "_xD83D_": "_xD83D_", "_x41_": "_x41_",
               "_X0041_": "_X0041_", "_x00e9_": "é", "__x005F_x0041_": "__x0041_"}  # fmt: skip
    written = plain + list(escaped)
    wanted = plain + list(escaped.values())
    kept = 'xml:space="preserve"'
    items = [f"<t {kept}>{_xml(value)}</t>" for value in written]
    forms = {
        "inline": [f' t="inlineStr"><is>{item}</is></c>' for item in items],
        "shared": [f' t="s"><v>{nth}</v></c>' for nth in range(len(items))],
        "result": [f' t="str"><v {kept}>{_xml(value)}</v></c>' for value in written],
        "formula": [f' t="str"><f>A1</f><v>{_xml(value)}</v></c>' for value in written],
        "rich": [f' t="inlineStr"><is><r><t {kept}>{_xml(value)}</t></r></is></c>' for value in written],
    }
    content = book(
        columns(*(listed("string", data, name=name) for name, data in forms.items())), strings=shared(*items)
    )
    for name, found in read(content).items():
        assert found.tolist() == wanted, name


def _xml(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def test_white_space_is_kept_where_xml_keeps_it() -> None:
    bare, kept = "<t> a  b\n</t>", '<t xml:space="preserve"> a  b\n</t>'
    cells = [f' t="inlineStr"><is>{item}</is></c>' for item in (bare, kept, "<t/>", "<t></t>", "<t>  </t>")]
    cells += [f' t="s"><v>{nth}</v></c>' for nth in range(3)]
    content = book(columns(listed("string", cells)), strings=shared(bare, kept, "<t/>"))
    assert read(content)["t"].tolist() == ["a  b", " a  b\n", "", "", "", "a  b", " a  b\n", ""]


def test_rich_text_and_how_it_is_pronounced() -> None:
    rich = "<r><rPr><b/><sz val='11'/></rPr><t>bo</t></r><r><t xml:space='preserve'>ld </t></r><r><t>x</t></r>"
    spoken = "<t>漢字</t><rPh sb='0' eb='2'><t>かんじ</t></rPh><phoneticPr fontId='1'/>"
    data = "<![CDATA[a<b]]>"
    items = (rich, spoken, f"<t>{data}</t>", "", "<t>plain</t>", "<t>a</t><phoneticPr fontId='1'/>")
    cells = [f' t="s"><v>{nth}</v></c>' for nth in range(len(items))]
    cells += [f' t="inlineStr"><is>{item}</is></c>' for item in items]
    found = read(book(columns(listed("string", cells)), strings=shared(*items)))["t"].tolist()
    assert found == ["bold x", "漢字", "a<b", "", "plain", "a"] * 2


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=20), min_size=1, max_size=9))
def test_any_text_comes_back_from_our_own_workbooks(texts: list[str]) -> None:
    array = np.array(texts)
    file = io.BytesIO()
    sa.write(file, {"t": array}, format="xlsx")
    assert_same(read(file.getvalue())["t"], array)


def test_escapes_that_are_none_stay_as_they_are() -> None:
    assert without_escapes("_x005F_") == "_"
    assert without_escapes("_x12345_ _x_ x0041_ _x004_") == "_x12345_ _x_ x0041_ _x004_"


def test_numbers_and_booleans_in_an_array_of_strings_are_their_shortest_text() -> None:
    cells = [number("1E+05"), number("2.50"), number(7), boolean(True), text("007"), number("0.30000000000000004")]
    assert one("string", *cells).tolist() == ["100000", "2.5", "7", "TRUE", "007", "0.30000000000000004"]


def test_generic_elements_are_what_their_cells_are() -> None:
    cells = [number(2), number(2.5), number("1E+300"), number("1E+05"), boolean(False), text("x"), text("'2"),
             text("2.0"), text("'"), None, number("12345678901234567"), text("TRUE"), number("-0.5e-7")]  # fmt: skip
    content = book(columns([*listed("generic", [""] * len(cells))[: FIRST - 1], *cells]))
    assert_same(
        read(content)["t"],
        objects(2, 2.5, 1e300, 100000, False, "x", "2", 2.0, "", None, 12345678901234567, True, -0.5e-7),
    )


# Dates, errors, formulas -------------------------------------------------------------------------------------


def dated(*serials: float) -> list[str]:
    return [f' s="1"><v>{serial!r}</v></c>' for serial in serials]


@pytest.mark.parametrize(("settings", "serials"), [
    ("", (1.0, 59.0, 61.0, 43831.5, 2958465.0)),
    ('<workbookPr date1904="1"/>', (-1461.0 + 1462, 0.0, 1.0, 42369.5, 2957003.0)),
])  # fmt: skip
def test_date_cells_are_dates_of_their_system_and_a_warning_says_so(settings: str, serials: tuple[float, ...]) -> None:
    wanted = {
        "": ["1900-01-01T00:00:00.000", "1900-02-28T00:00:00.000", "1900-03-01T00:00:00.000", "2020-01-01T12:00:00.000",
             "9999-12-31T00:00:00.000"],
    }.get(settings, ["1904-01-02T00:00:00.000", "1904-01-01T00:00:00.000", "1904-01-02T00:00:00.000",
                     "2020-01-01T12:00:00.000", "9999-12-31T00:00:00.000"])  # fmt: skip
    content = book(
        columns(listed("datetime64[ms]", dated(*serials))), formats=styles("yyyy\\-mm\\-dd"), settings=settings
    )
    with pytest.warns(sa.SheetArrayWarning, match=f"arrays!A{FIRST}.*date cell.*4 more"):
        found = read(content)["t"]
    assert found.tolist() == np.array(wanted, "M8[ms]").tolist()


def test_iso_date_cells_are_dates_as_well() -> None:
    cells = [text("2020-02-01"), ' t="d"><v>2020-02-29T12:00:00</v></c>']
    with pytest.warns(sa.SheetArrayWarning, match="date cell"):
        assert (
            one("datetime64[s]", *cells).tolist() == np.array(["2020-02-01", "2020-02-29T12:00:00"], "M8[s]").tolist()
        )


@pytest.mark.parametrize("serial", [0.25, 60.0, -1.0, 2958466.0])
def test_a_date_that_there_is_not_is_refused(serial: float) -> None:
    error = refusal("datetime64[s]", *dated(1.0, serial), formats=styles(14))
    assert error.location == f"arrays!A{FIRST + 1}"
    assert "a date that there is not" in error.reason


@pytest.mark.parametrize("dtype", ["float64", "int32", "complex128", "bool", "timedelta64[D]"])
def test_a_date_where_a_number_should_be_is_refused(dtype: str) -> None:
    error = refusal(dtype, number(1), *dated(43831.0), formats=styles(22))
    assert (error.reason, error.location) == ("a date", f"arrays!A{FIRST + 1}")
    assert "format the cell" in (error.hint or "")


def test_a_date_finer_than_its_dtype_is_refused() -> None:
    assert "2020-01-01T12:00:00" in refusal("datetime64[D]", *dated(43831.5), formats=styles(14)).reason


def test_dates_among_text_are_their_iso_text_and_times_their_hours() -> None:
    content = book(columns(listed("string", [*dated(43831.0, 0.5), text("x"), ' s="2"><v>1.5</v></c>'])),
                   formats=styles("d.m.yy h:mm", "[h]:mm"))  # fmt: skip
    with pytest.warns(sa.SheetArrayWarning, match="date cell"):
        assert read(content)["t"].tolist() == ["2020-01-01", "12:00:00", "x", "36:00:00"]


@pytest.mark.parametrize(("code", "kind"), [
    ("General", 1), ("0.00E+00", 1), ('0" days"', 1), ("0\\d", 1), ("[Red]0.0", 1), ("#,##0_);[Red](#,##0)", 1),
    ('"y"0;yyyy', 1), ("_d0", 1), ("[$-409]General", 1), ("@", 1), ("yyyy-mm-dd", 4), ("h:mm AM/PM", 4), ("[$-407]d. mmm", 4),
    ("ss.000", 4), ("[h]:mm:ss", 6), ("[mm]", 6), ("[SS].0", 6),
])  # fmt: skip
def test_format_codes(code: str, kind: int) -> None:
    assert kind_of_format(code) == kind


def test_serials() -> None:
    assert moments(np.array([25569.0 + 1 / 86_400_000]), from_1904=False) == ["1970-01-01T00:00:00.001"]
    assert moments(np.array([np.nan, np.inf, 1e300]), from_1904=True) == [None, None, None]
    assert elapsed(-0.5) == "-12:00:00"
    assert elapsed(float("nan")) is None


@pytest.mark.parametrize(("cell", "reason", "hint"), [
    (' t="e"><v>#DIV/0!</v></c>', "an error, #DIV/0!", ""),
    (' t="e"><f>1/0</f><v>#SPILL!</v></c>', "an error, #SPILL!", ""),
    ("><f>1+1</f></c>", "a formula without a value", "save it"),
    ("><f>1+1</f><v></v></c>", "a formula without a value", "save it"),
    ("><f>1+1</f><v/></c>", "a formula without a value", "save it"),
    ('><f t="shared" si="0"/></c>', "a formula without a value", "save it"),
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float64", "int8", "bool", "string", "generic", "complex64", "datetime64[s]"])
def test_errors_and_formulas_without_a_value_are_refused_under_every_dtype(
    dtype: str, cell: str, reason: str, hint: str
) -> None:
    good = {"datetime64[s]": text("2020-01-01"), "bool": boolean(True)}.get(dtype, number(1))
    error = refusal(dtype, good, cell, good)
    assert (error.reason, error.location) == (reason, f"arrays!A{FIRST + 1}")
    assert hint in (error.hint or "")
    with pytest.raises(sa.FormatError, match=r"without a value|an error"):  # neither is a blank
        read(book(columns(listed(dtype, [good, cell]))), missing="nan")


def test_formulas_with_values_are_their_values() -> None:
    cells = ["><f>0.5+1</f><v>1.5</v></c>", '><f t="shared" ref="A1:A2" si="0">A1&gt;B1</f><v>2</v></c>',
             '><f t="shared" si="0"/><v>3</v></c>', "><f>A1>B1</f><v>4</v></c>"]  # fmt: skip
    assert_same(one("float64", *cells), np.array([1.5, 2, 3, 4]))
    assert_same(one("bool", ' t="b"><f>TRUE()</f><v>1</v></c>', boolean(False)), np.array([True, False]))


def test_check_goes_on_after_a_cell_that_cannot_be_read() -> None:
    bad = ' t="e"><v>#N/A</v></c>'
    content = book(
        columns(
            listed("float64", [bad, number(1), bad], name="a"),
            listed("int8", [number(300)], name="b"),
            listed("string", ["><f>A1</f></c>"], name="c"),
            listed("float64", [number(1)], name="d"),
        )
    )
    found = [(finding.location, finding.severity) for finding in sa.check(io.BytesIO(content), format="xlsx")]
    places = [f"A{FIRST}", f"A{FIRST + 2}", f"B{FIRST}", f"C{FIRST}"]
    assert sorted(found) == [(f"arrays!{place}", "error") for place in places]
    assert_same(read(content, names=["d"])["d"], np.array([1.0]))


# Where cells stand -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("row", "column"), [(1, 0), (5, 3), (900, 0), (3, 30), (1, 16383)])
def test_arrays_are_found_wherever_they_stand(row: int, column: int) -> None:
    content = book(columns(listed("float64", [number(1.5), number("x")]), row=row, column=column))
    with pytest.raises(sa.FormatError) as caught:
        read(content)
    assert caught.value.location == f"arrays!{a1(row + FIRST - 1, column)}"
    content = book(columns(listed("int8", [number(1), number(2)]), row=row, column=column))
    assert_same(read(content)["t"], np.array([1, 2], np.int8))
    assert sa.scan(io.BytesIO(content), format="xlsx")["t"].location == f"arrays!{a1(row, column)}"


def test_arrays_in_rows() -> None:
    first = listed("float64", [number(1.5), text("NaN"), number(3)], name="a")
    second = listed("generic", [number(1), text("x"), boolean(True), number("1E+300")], name="b")
    cells = {(row, column): cell for row, line in ((2, first), (5, second)) for column, cell in enumerate(line)}
    found = read(book(cells))
    assert_same(found["a"], np.array([1.5, np.nan, 3]))
    assert_same(found["b"], objects(1, "x", True, 1e300))
    cells[5, FIRST] = ' t="e"><v>#REF!</v></c>'
    with pytest.raises(sa.FormatError, match="#REF!") as caught:
        read(book(cells))
    assert caught.value.location == f"arrays!{a1(4, FIRST)}"


def test_columns_of_different_lengths_and_wide_sheets() -> None:
    arrays = {f"a{nth}": np.arange(nth % 7 + 1, dtype=np.float64) + nth for nth in range(800)}
    content = book(
        columns(*(listed("float64", list(map(number, data.tolist())), name=name) for name, data in arrays.items()))
    )
    found = read(content)
    for name, array in arrays.items():
        assert_same(found[name], array)


def test_rows_and_cells_in_any_order() -> None:
    cells = columns(
        listed("int64", list(map(number, range(50))), name="a"), listed("int64", list(map(number, range(50))), name="b")
    )
    rows = rows_of(cells).split("</row>")[:-1]
    random.Random(3).shuffle(rows)
    found = read(book("</row>".join(rows) + "</row>"))
    assert_same(found["a"], np.arange(50))
    assert_same(found["b"], np.arange(50))


def test_a_cell_that_comes_twice_is_refused() -> None:
    cells = columns(listed("int64", [number(1), number(2)]))
    again = f'<row r="{FIRST}"><c r="A{FIRST}"{number(9)}</row>'
    with pytest.raises(sa.FormatError, match="twice") as caught:
        read(book(rows_of(cells) + again))
    assert caught.value.location == f"arrays!A{FIRST}"


@pytest.mark.parametrize("rows", [
    '<row r="1048577"><c r="A1048577"><v>1</v></c></row>', '<row r="1"><c r="XFE1"><v>1</v></c></row>',
    '<row r="1"><c r="A2"><v>1</v></c></row>', '<row r="0"><c r="A0"><v>1</v></c></row>',
    '<row r="9999999999"><c r="A9999999999"><v>1</v></c></row>', '<row r="1"><c r="1A"><v>1</v></c></row>',
    '<row r="1"><c r="AAAA1"><v>1</v></c></row>', '<row r="1"><c r="A1" t="z"><v>1</v></c></row>',
    '<row r="1"><c r="A1" t="s"><v>1</v></c></row>', '<row r="1"><c r="A1" t="s"><v>x</v></c></row>',
    '<row r="1"><c r="A1"><v>1</c></row>', '<row r="1"><c r="A1"><v>&nbsp;</v></c></row>', '<row r="1"><c r="A1">',
    '<row r="1"><c r="A1" t="str"><v>&nope;</v></c></row>', '<row r="1"><c r="A1" t="inlineStr"><is><t>&#0;</t></is></c></row>',
])  # fmt: skip
def test_references_types_and_xml_that_are_wrong_are_refused(rows: str) -> None:
    with pytest.raises(sa.FormatError):
        opened(book(rows)).head(1000)


def test_rows_and_cells_without_references_follow_one_another() -> None:
    rows = "".join(f"<row><c{cell}<c{number(7)}</row>" for cell in listed("float64", [number(1), number(2)]))
    assert_same(read(book(rows))["t"], np.array([1.0, 2]))
    assert grid(
        book(
            '<row><c><v>1</v></c></row><row r="5"><c r="C5"><v>2</v></c><c><v>3</v></c></row><row><c><v>4</v></c></row>'
        )
    ) == [
        [1],
        [],
        [],
        [],
        [None, None, 2, 3],
        [4],
    ]


def test_pretty_printed_and_prefixed_xml() -> None:
    cells = columns(
        listed("float64", list(map(number, range(40)))),
        listed("string", [text(f" {n}\n ") for n in range(40)], name="s"),
    )
    for rows in (
        rows_of(cells, gap="\n    "),
        rows_of(cells, gap="\r\n"),
        rows_of(cells).replace(' r="', " r='").replace('"', "'"),
    ):
        found = read(book(rows))
        assert_same(found["t"], np.arange(40.0))
        assert found["s"].tolist() == [f" {n}\n " for n in range(40)]
    sheet = worksheet(rows_of(cells))
    for tag in ("worksheet", "sheetData", "row", "c", "v", "is", "t"):
        sheet = (
            sheet.replace(f"<{tag} ", f"<x:{tag} ")
            .replace(f"<{tag}>", f"<x:{tag}>")
            .replace(f"</{tag}>", f"</x:{tag}>")
        )
    found = read(zipped(parts({"arrays": sheet.replace("xmlns=", "xmlns:x=")})))
    assert_same(found["t"], np.arange(40.0))
    assert found["s"].tolist() == [f" {n}\n " for n in range(40)]


def test_a_sheet_in_utf_16() -> None:
    sheet = worksheet(rows_of(columns(listed("string", [text("äß漢😀")])))).replace("UTF-8", "UTF-16")
    assert read(zipped({**parts({"arrays": ""}), "xl/worksheets/sheet1.xml": sheet.encode("utf-16")}))[
        "t"
    ].tolist() == ["äß漢😀"]


def test_comments_and_foreign_elements_are_passed_over() -> None:
    cells = rows_of(
        columns(listed("float64", [number(1), "><v>2</v><extLst><ext uri='x'><y><v>9</v></y></ext></extLst></c>"]))
    )
    assert_same(read(book(cells.replace("</row>", "<!-- > --></row>")))["t"], np.array([1.0, 2]))
    assert_same(read(book(cells))["t"], np.array([1.0, 2]))


FORMS = [
    "><v>{n}</v></c>", ' s="1"><v>{n}</v></c>', ' s="0" t="n"><v>{n}.25</v></c>', ' t="n" s="1"><v>{n}</v></c>', ' t="b"><v>1</v></c>',
    ' t="inlineStr"><is><t>t{n}</t></is></c>', ' t="inlineStr"><is><t xml:space="preserve"> {n} &amp; _x000D_</t></is></c>',
    ' t="str"><f>A1</f><v>r{n}</v></c>', "><f>1</f><v>{n}</v></c>", '><f si="1"/><v>{n}</v></c>', "><f>1</f></c>",
    ' t="e"><v>#N/A</v></c>', ' s="1"/>', "></c>", "><v/></c>", ' t="s"><v>{n}</v></c>', ' t="str"><v></v></c>', ' t="str"><v/></c>',
    ' t="inlineStr"><is><r><t>ri</t></r><r><t> ch</t></r></is></c>', ' t="inlineStr"><is/></c>', ' t="inlineStr"><v>old</v></c>',
    ' cm="1"><v>{n}</v></c>', ' t="d"><v>2020-01-{n:02}</v></c>', "><v> {n} </v></c>", ' s="3" ><v>{n}e-3</v></c>', "><v>1e999</v></c>",
    ' t="inlineStr"><is><t> &#32;{n}</t></is></c>', ' t="inlineStr"><is><t>>{n}</t></is></c>', "><!-- c --><v>{n}</v></c>",
]  # fmt: skip


@given(
    st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=9), min_size=1, max_size=12),
    st.booleans(),
    st.integers(0, 30),
)
def test_the_vectorised_rules_agree_with_an_xml_parser(lines: list[list[int]], alike: bool, first: int) -> None:
    lines = [lines[0]] * 5 if alike else lines
    cells = {
        (first * 1111 + 1 + row, column * (1 + first % 3)): FORMS[form].format(n=row + column)
        for row, line in enumerate(lines)
        for column, form in enumerate(line)
        if form < len(FORMS)
    }
    block = rows_of(cells).encode()
    for numeric in (False, True):
        with ThreadPoolExecutor(1) as thread:
            found = regular.cells_of(block + _PAD, after=0, numeric=numeric, name="x", thread=thread)
        wanted = events.rows_of(block, after=0, numeric=numeric, name="x")
        assert len(found) == len(wanted)
        for cell, expected in zip(_told(found), _told(wanted), strict=True):
            assert cell == expected or (numeric and cell == (*expected[:-1], None))  # then its text is asked for


def _told(raw: Any) -> list[tuple[Any, ...]]:
    """Each cell, in the order of the sheet; a number's text as the number that it is, where only numbers are wanted."""
    values = [None if isinstance(value, float) and math.isnan(value) else value for value in raw.values.to_list()]
    known = zip(
        raw.rows.tolist(),
        raw.columns.tolist(),
        raw.types.tolist(),
        raw.styles.tolist(),
        raw.pending.tolist(),
        values,
        strict=True,
    )
    return sorted((*rest, None if pending else value) for *rest, pending, value in known)


# Workbooks ---------------------------------------------------------------------------------------------------


def test_titles_come_in_the_order_of_the_tabs_without_charts(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "x.xlsx") as made:
        for title in ("b & <c>", "a", "Übersicht"):
            made.add_worksheet(title).write(0, 0, title)
        chart = made.add_chart({"type": "line"})
        chart.add_series({"values": "=a!$A$1:$A$2"})
        made.add_chartsheet("chart").set_chart(chart)
        made.get_worksheet_by_name("a").hide()
        made.get_worksheet_by_name("Übersicht").very_hidden()
    from sheetarray.files import Source
    from sheetarray.sheets.excel.sheet import Workbook

    with Source(tmp_path / "x.xlsx") as source, Workbook(source) as found:
        assert found.titles == ["b & <c>", "a", "Übersicht"]
        assert [found.sheet(title).head(10)[0] for title in found.titles] == [[[title]] for title in found.titles]
        with pytest.raises(sa.NotFoundError, match="'b & <c>', 'a', 'Übersicht'"):
            found.sheet("c")


def test_hidden_and_filtered_rows_and_hidden_columns_are_read(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = made.active
    for row, value in enumerate(
        [
            "t",
            "version",
            "1.0.0",
            "ndarray",
            "shape",
            3,
            "strides",
            1,
            "offset",
            0,
            "order",
            "row-major",
            "dtype",
            "float64",
            "length",
            3,
            "capacity",
            3,
            "data",
            0.1,
            0.2,
            0.3,
        ],
        1,
    ):
        sheet.cell(row, 2, value)
    sheet.row_dimensions[21].hidden = True
    sheet.column_dimensions["B"].hidden = True
    sheet.auto_filter.ref = "B19:B22"
    sheet.sheet_state = "hidden"
    made.create_sheet("other")
    made.save(tmp_path / "x.xlsx")
    assert_same(sa.read(tmp_path / "x.xlsx")["t"], np.array([0.1, 0.2, 0.3]))


def test_merged_cells_hold_what_their_first_one_holds(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    made.active["B2"] = "x"
    made.active.merge_cells("B2:D4")
    made.save(tmp_path / "x.xlsx")
    assert grid((tmp_path / "x.xlsx").read_bytes(), "Sheet")[1] == [None, "x"]


def test_what_other_libraries_write_comes_out(tmp_path: Path) -> None:
    values: list[list[Any]] = [["a", 1, 2.5, True, None, "ä\n 😀"], [None, -0.5, 1e-300, False, "x" * 32767, "=1+1"]]
    made = openpyxl.Workbook()
    for line in values:
        made.active.append(line)
    made.active["F2"].data_type = "s"
    made.save(tmp_path / "openpyxl.xlsx")
    with xlsxwriter.Workbook(tmp_path / "xlsxwriter.xlsx", {"strings_to_formulas": False}) as other:
        sheet = other.add_worksheet("Sheet")
        for row, line in enumerate(values):
            for column, value in enumerate(line):
                sheet.write(row, column, value)
    for name in ("openpyxl.xlsx", "xlsxwriter.xlsx"):
        assert grid((tmp_path / name).read_bytes(), "Sheet") == values


def mixed() -> dict[str, np.ndarray[Any, Any]]:
    return {
        "f": np.array([[1.5, np.nan, -np.inf], [0.25, 1e-300, 7]]),
        "i": np.array([1, 2**60, -5]),
        "b": np.array([True, False]),
        "s": np.array(["", "a\tb", "b\nc", " spaces  within ", "_x000D_ & <", "007", "TRUE", "😀"]),
        "c": np.array([1 + 2j, complex(-0.0, np.inf)]),
        "d": np.array(["2020-01-01T12:30:00", "NaT"], "M8[s]"),
        "g": objects(1, 1.5, "x", None, True, "12", 2.0),
    }


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["xlsx", "ods", "xls"])
def test_workbooks_that_libreoffice_has_saved_again_are_read(tmp_path: Path, suffix: str) -> None:
    sa.write(tmp_path / "x.xlsx", mixed())
    saved = resave(tmp_path / "x.xlsx", suffix, tmp_path / "again")
    found = sa.read(saved, format="xlsx")
    for name, array in mixed().items():
        assert_same(found[name], array)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["xlsx", "ods", "xls"])
def test_errors_formulas_and_dates_of_libreoffice(tmp_path: Path, suffix: str) -> None:
    cells = columns(
        [
            "><f>1/0</f></c>",
            "><f>1+1</f></c>",
            ' t="str"><f>"a"&amp;"b"</f></c>',
            "><f>1=1</f></c>",
            ' s="1"><v>43831.5</v></c>',
            ' s="2"><v>1.5</v></c>',
            "><f>NA()</f></c>",
            number(0.1),
            text("x"),
            text("two\nlines"),
            text("a\ttab"),
        ]
    )
    (tmp_path / "x.xlsx").write_bytes(book(cells, formats=styles("yyyy-mm-dd hh:mm:ss", "[h]:mm:ss")))
    saved = resave(tmp_path / "x.xlsx", suffix, tmp_path / "again").read_bytes()
    found = [row[0] for row in grid(saved)]
    assert found[:5] == ["#DIV/0!", 2, "ab", True, "2020-01-01T12:00:00"]
    assert found[6:] == ["#N/A", 0.1, "x", "two\nlines", "a\ttab"]
    ((_, texts),) = opened(saved).columns([Request(0, 0, dtypes.named("string"))], typed=False)
    texts = ["TRUE" if place == 3 and cell == "1" else cell for place, cell in enumerate(texts)]  # as .ods has it
    assert [cell if isinstance(cell, str) else cell.reason for cell in texts] == [
        "an error, #DIV/0!", "2", "ab", "TRUE", "2020-01-01T12:00:00", "36:00:00", "an error, #N/A", "0.1", "x",
        "two\nlines", "a\ttab",
    ]  # fmt: skip


# The other kinds of workbooks --------------------------------------------------------------------------------


def test_a_binary_workbook() -> None:
    def packed(value: float, *, hundredths: bool = False) -> bytes:
        if isinstance(value, int):
            return struct.pack("<i", value << 2 | 2 | hundredths)
        return struct.pack("<I", struct.unpack("<Q", struct.pack("<d", value))[0] >> 32 | hundredths)

    double = struct.Struct("<d").pack
    rows = {
        0: [binary_cell(7, 0, struct.pack("<I", 1)), binary_cell(6, 2, wide("in place")), binary_cell(1, 3, b"")],
        4: [
            binary_cell(5, 0, double(0.1)),
            binary_cell(2, 1, packed(-7)),
            binary_cell(2, 2, packed(1.5)),
            binary_cell(2, 3, packed(12345, hundredths=True)),
            binary_cell(4, 4, b"\1"),
            binary_cell(3, 5, b"\x07"),
        ],
        9: [
            binary_cell(8, 0, wide("text") + bytes(8)),
            binary_cell(9, 1, double(-0.0) + bytes(8)),
            binary_cell(10, 2, b"\0" + bytes(8)),
            binary_cell(11, 3, b"\x2a" + bytes(8)),
            binary_cell(5, 4, double(43831), 1),
            binary_cell(62, 5, b"\1" + wide("rich") + bytes(8)),
            binary_cell(5, 6, double(1e300)),
        ],
    }
    found = grid(binary_book(rows, strings=["a", "shared 😀"], dates=True))
    assert found[0] == ["shared 😀", None, "in place"]
    assert found[4] == [0.1, -7, 1.5, 123.45, True, "#DIV/0!"]
    assert found[9] == ["text", 0, False, "#N/A", "2020-01-01", "rich", 1e300]
    assert found[1:4] == [[], [], []]
    ((_, zeros),) = opened(binary_book(rows, strings="ab")).columns([Request(1, 9, FLOAT)], typed=True)
    assert math.copysign(1, zeros[0]) == -1


def test_a_workbook_of_excel_97() -> None:
    def packed(value: float) -> bytes:
        return struct.pack("<I", struct.unpack("<Q", struct.pack("<d", value))[0] >> 32)

    def place(row: int, column: int) -> bytes:
        return struct.pack("<3H", row, column, 0)

    result = struct.Struct("<BxB3xH").pack
    long = "漢" * 9000
    raw = excel97_text(long)
    cells: dict[tuple[int, int], Any] = {
        (0, 0): "text",
        (0, 1): "漢 text",
        (2, 1): 0.1,
        (2, 2): -0.0,
        (2, 3): True,
        (3, 0): excel97_record(0x0205, place(3, 0) + b"\x07\1"),
        (3, 1): excel97_record(
            0x00BD,
            struct.pack("<2H", 3, 1)
            + struct.pack("<HI", 0, -9 << 2 & 0xFFFFFFFF | 2)
            + bytes(2)
            + packed(1.5)
            + struct.pack("<H", 2),
        ),
        (4, 0): excel97_record(0x027E, place(4, 0) + struct.pack("<I", 12345 << 2 | 3)),
        (5, 0): excel97_record(0x00FD, place(5, 0) + struct.pack("<I", 1)),
        (6, 0): excel97_record(0x0006, place(6, 0) + struct.pack("<d", 2.5) + bytes(8)),
        (6, 1): excel97_record(0x0006, place(6, 1) + result(1, 1, 0xFFFF) + bytes(8)),
        (6, 2): excel97_record(0x0006, place(6, 2) + result(2, 0x2A, 0xFFFF) + bytes(8)),
        (6, 3): excel97_record(0x0006, place(6, 3) + result(3, 0, 0xFFFF) + bytes(8)),
        (6, 4): excel97_record(0x0006, place(6, 4) + result(0, 0, 0xFFFF) + bytes(8))
        + excel97_record(0x0207, raw[:8003])
        + excel97_record(0x3C, b"\1" + raw[8003:]),
        (7, 0): begin(32) + excel97_record(0x0203, place(9, 9) + bytes(8)) + excel97_record(0x0A),  # a chart
        (7, 1): excel97_record(0x0203, struct.pack("<3H", 7, 1, 1) + struct.pack("<d", 43831.0)),
    }
    table = (
        struct.pack("<2I", 2, 2)
        + excel97_text("a")[:2]
        + b"\x0c"
        + struct.pack("<HI", 1, 3)
        + b"a"
        + bytes(7)
        + struct.pack("<H", 5)
        + b"\0sha"
    )
    formats = excel97_record(0xE0, bytes(20)) + excel97_record(0xE0, struct.pack("<2H", 0, 164) + bytes(16))
    formats += excel97_record(0x041E, struct.pack("<H", 164) + excel97_text("yyyy"))
    found = grid(
        excel97_book(
            cells,
            globals_=formats + excel97_record(0xFC, table) + excel97_record(0x3C, b"\1" + "漢d".encode("utf-16-le")),
        )
    )
    assert found == [
        ["text", "漢 text"],
        [],
        [None, 0.1, 0, True],
        ["#DIV/0!", -9, 1.5],
        [123.45],
        ["sha漢d"],
        [2.5, True, "#N/A", "", long],
        [None, "2020-01-01"],
    ]
    assert opened(excel97_book({})).max_rows == 65_536


def test_repeated_rows_and_columns_of_an_open_document() -> None:
    rows = [
        table_row(table_cell(None, repeated=3), repeated=2),
        table_row(table_cell(None), table_cell("a", repeated=2), table_cell(1.5)),
        table_row(table_cell(True), table_cell(None, repeated=1000), repeated=3),
        table_row(table_cell(None), repeated=1_048_000),
    ]
    assert grid(document({"arrays": "".join(rows)})) == [[], [], [None, "a", "a", 1.5], [True], [True], [True]]


def test_arrays_of_one_value_in_an_open_document() -> None:
    def word(value: Any) -> str:
        return table_row(table_cell(value), table_cell(value))

    words = [
        "version",
        "1.0.0",
        "ndarray",
        "shape",
        100_000.0,
        "strides",
        1.0,
        "offset",
        0.0,
        "order",
        "row-major",
        "dtype",
        "float64",
        "length",
        100_000.0,
        "capacity",
        100_000.0,
        "data",
    ]
    rows = (
        table_row(table_cell("a"), table_cell("b"))
        + "".join(map(word, words))
        + table_row(table_cell(0.1, repeated=2), repeated=100_000)
    )
    found = sa.read(io.BytesIO(document({"arrays": rows})), format="xlsx")
    for name in ("a", "b"):
        assert_same(found[name], np.full(100_000, 0.1))


def test_text_of_an_open_document() -> None:
    def paragraphs(inner: str, more: str = "") -> str:
        return f'<table:table-cell office:value-type="string"{more}>{inner}</table:table-cell>'

    cells = [
        paragraphs("<text:p>a<text:s text:c='3'/>b<text:tab/>c<text:line-break/>d</text:p><text:p>e</text:p><text:p/>"),
        paragraphs("<text:p>\n  a\n  <text:span>b<text:span>c</text:span></text:span></text:p>\n"),
        paragraphs("<office:annotation><text:p>remark</text:p></office:annotation><text:p>said</text:p>"),
        paragraphs("<text:p>shown</text:p>", ' office:string-value="meant"'),
        paragraphs(""),
        '<table:table-cell table:formula="of:=1/0" office:value-type="string" calcext:value-type="error"><text:p>#DIV/0!</text:p></table:table-cell>',
        '<table:table-cell table:formula="of:=[.A1]"/>',
        '<table:table-cell office:value-type="date" office:date-value="2020-02-29T12:00:00"/>',
        '<table:table-cell office:value-type="time" office:time-value="PT36H30M15S"/>',
        '<table:table-cell office:value-type="percentage" office:value="0.5"><text:p>50%</text:p></table:table-cell>',
    ]
    content = document({"arrays": "".join(map(table_row, cells)), "'file:///x.ods'#$other": table_row(table_cell(1.0))})
    ((_, found),) = opened(content).columns([Request(0, 0, dtypes.named("string"))], typed=False)
    assert [cell if isinstance(cell, str) else cell.reason for cell in found] == [
        "a   b\tc\nd\ne\n",
        " a bc",
        "said",
        "meant",
        "",
        "an error, #DIV/0!",
        "a formula without a value",
        "2020-02-29T12:00:00",
        "36:30:15",
        "0.5",
    ]


def test_tables_in_groups_and_of_several_titles() -> None:
    grouped = f"<table:table-header-rows>{table_row(table_cell('h'))}</table:table-header-rows><table:table-row-group>{table_row(table_cell(1.0))}</table:table-row-group>"
    content = document({"one & two": grouped, "<empty>": ""})
    assert grid(content, "one & two") == [["h"], [1]]
    assert grid(content, "<empty>") == []


# As little as is needed --------------------------------------------------------------------------------------


def large() -> bytes:
    data = [number(value) for value in np.random.default_rng(0).standard_normal(60_000).tolist()]
    return book(columns(listed("float64", data)))


def test_headers_are_found_without_reading_on() -> None:
    content = bytearray(large())
    start = content.index(b"xl/worksheets/sheet1.xml") + 300_000
    content[start : start + 1000] = bytes(1000)  # damaged, but far below the headers
    assert sa.scan(io.BytesIO(content), format="xlsx")["t"].shape == (60_000,)
    with pytest.raises(sa.FormatError, match=r"damaged|checksum|XML|breaks off"):
        read(bytes(content))


def test_only_numbers_are_asked_for_as_numbers_and_text_serves_for_the_rest() -> None:
    content = book(
        columns(
            listed("float64", [number(1), text("NaN")]),
            listed("float64", [number(1), text("x")], name="u"),
            listed("bool", [boolean(True), boolean(False)], name="b"),
            listed("string", [number(1), text("x")], name="s"),
        )
    )
    sheet = opened(content)
    kinds = [FLOAT, FLOAT, dtypes.named("bool"), dtypes.named("string")]
    requests = [Request(nth, FIRST - 1, kind) for nth, kind in enumerate(kinds)]
    found = [rest for _, rest in sheet.columns(requests[:3], typed=True)]
    assert str(found[0].dtype) == "Float64"
    assert found[1] == []  # of text among numbers, only its place is known
    assert found[2].to_list() == [True, False]
    found = [rest for _, rest in sheet.columns(requests, typed=True)]
    assert [str(rest.dtype) for rest in found] == ["Float64", "String", "Boolean", "String"]
    found = [rest for _, rest in sheet.columns(requests, typed=False)]
    assert [rest.to_list() for rest in found] == [["1", "NaN"], ["1", "x"], ["TRUE", "FALSE"], ["1", "x"]]
    assert sheet.columns([], typed=True) == []
    assert [rest.to_list() for _, rest in sheet.columns([requests[0], requests[0]], typed=False)] == [["1", "NaN"]] * 2


def test_ordinary_tables() -> None:
    cells = columns(
        [text("id"), text("007"), text("008")],
        [text("x"), number(1.5), None],
        [text("when"), *dated(43831.0, 43832.0)],
        [text("ok"), boolean(True), boolean(False)],
        [text("n"), number(1), number(2)],
    )
    found = sa.read_columns(io.BytesIO(book(cells, formats=styles(14))), format="xlsx")
    assert found["id"].tolist() == ["007", "008"]
    assert_same(found["x"], np.array([1.5, np.nan]))
    assert found["n"].tolist() == [1, 2]
    assert found["ok"].tolist() == [True, False]
    assert [str(value)[:10] for value in found["when"]] == ["2020-01-01", "2020-01-02"]
    cells[2, 1] = ' t="e"><v>#N/A</v></c>'
    with pytest.raises(sa.FormatError, match="#N/A") as caught:
        sa.read_columns(io.BytesIO(book(cells, formats=styles(14))), format="xlsx")
    assert caught.value.location == "arrays!B2"


def test_a_sheet_without_cells() -> None:
    for rows in ("", '<row r="1"/>', '<row r="5"><c r="A5" s="1"/></row>', "\n"):
        assert opened(book(rows)).head(100)[1]
        with pytest.raises(sa.FormatError, match="no array"):
            read(book(rows))
    empty = zipped(parts({"arrays": worksheet("").replace("<sheetData></sheetData>", "<sheetData/>")}))
    assert grid(empty) == []


def test_no_warning_where_nothing_is_wrong() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read(large())) == 1
