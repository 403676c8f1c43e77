"""Cells of workbooks: what stands in them comes out, to the last bit, or is refused at its address."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pytest
from examples import cross
from excel_packages import parts
from foreign_books import (
    FIRST,
    book,
    boolean,
    columns,
    dated,
    listed,
    number,
    read,
    shared,
    styles,
    text,
)

import sheetarray as sa
from sheetarray.testing.cases import assert_same, objects


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
    assert_same(
        one("float64", text("NaN"), number(1.5), text("-Infinity"), text("1e3")), np.array([np.nan, 1.5, -np.inf, 1000])
    )
    assert_same(one("float64", text("NaN"), number(1.5), text(" 2 ")), np.array([np.nan, 1.5, 2]))
    assert_same(one("complex128", text("1+2i"), number(3)), np.array([1 + 2j, 3]))
    assert_same(one("int8", text("5"), number("2.0"), number("1E+02")), np.array([5, 2, 100], np.int8))
    assert_same(one("bool", boolean(True), number(0), text("TRUE")), np.array([True, False, True]))


@pytest.mark.parametrize(
    ("dtype", "cell"),
    [
        ("uint8", number(300)),
        ("uint8", number(-1)),
        ("int32", number(2.5)),
        ("float16", number(70000)),
        ("float64", boolean(True)),
        ("int32", boolean(True)),
        ("bool", number(2)),
        ("float64", text("abc")),
        ("int64", number("1e19")),
        ("datetime64[D]", number(60)),
        ("timedelta64[s]", number(1.5)),
    ],
)
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
    plain = [chr(code) for code in range(0x20, 0x3002) if code < 0x800 or not code % 16 or chr(code).isspace()]
    plain += [chr(code) for code in (0xFFFD, 0xE000, 0x1F600, 0x10FFFF)] + [
        "\t",
        "\n",
        "a\nb",
        "&<>\"'",
        "]]>",
        " a ",
        "_",
    ]
    escaped = {
        "_x000D_": "\r",
        "_x0001_": "\x01",
        "_xFFFE_": "\ufffe",
        "_xFFFF_": "\uffff",
        "_x005F_x0041_": "_x0041_",
        "_x0041__x0042_": "AB",
        "_xD83D__xDE00_": "\U0001f600",
        "_xD83D_": "_xD83D_",
        "_x41_": "_x41_",
        "_X0041_": "_X0041_",
        "_x00e9_": "é",
        "__x005F_x0041_": "__x0041_",
        "_x005F_": "_",
        "_x12345_ _x_ x0041_ _x004_": "_x12345_ _x_ x0041_ _x004_",
    }
    written = plain + list(escaped)
    wanted = plain + list(escaped.values())
    kept = 'xml:space="preserve"'
    items = [f"<t {kept}>{_xml(value)}</t>" for value in written]
    forms = {
        "inline": [f' t="inlineStr"><is>{item}</is></c>' for item in items],
        "shared": [f' t="s"><v>{index}</v></c>' for index in range(len(items))],
        "result": [f' t="str"><v {kept}>{_xml(value)}</v></c>' for value in written],
        "formula": [f' t="str"><f>A1</f><v>{_xml(value)}</v></c>' for value in written],
        "rich": [f' t="inlineStr"><is><r><t {kept}>{_xml(value)}</t></r></is></c>' for value in written],
    }
    content = book(
        columns(*(listed("string", data, name=name) for name, data in forms.items())), strings=shared(*items)
    )
    for name, result in read(content).items():
        assert result.tolist() == wanted, name


def _xml(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def test_white_space_is_kept_where_xml_keeps_it() -> None:
    bare, kept = "<t> a  b\n</t>", '<t xml:space="preserve"> a  b\n</t>'
    cells = [f' t="inlineStr"><is>{item}</is></c>' for item in (bare, kept, "<t/>", "<t></t>", "<t>  </t>")]
    cells += [f' t="s"><v>{index}</v></c>' for index in range(3)]
    content = book(columns(listed("string", cells)), strings=shared(bare, kept, "<t/>"))
    assert read(content)["t"].tolist() == ["a  b", " a  b\n", "", "", "", "a  b", " a  b\n", ""]


def test_rich_text_and_how_it_is_pronounced() -> None:
    rich = "<r><rPr><b/><sz val='11'/></rPr><t>bo</t></r><r><t xml:space='preserve'>ld </t></r><r><t>x</t></r>"
    spoken = "<t>漢字</t><rPh sb='0' eb='2'><t>かんじ</t></rPh><phoneticPr fontId='1'/>"
    data = "<![CDATA[a<b]]>"
    items = (rich, spoken, f"<t>{data}</t>", "", "<t>plain</t>", "<t>a</t><phoneticPr fontId='1'/>")
    cells = [f' t="s"><v>{index}</v></c>' for index in range(len(items))]
    cells += [f' t="inlineStr"><is>{item}</is></c>' for item in items]
    result = read(book(columns(listed("string", cells)), strings=shared(*items)))["t"].tolist()
    assert result == ["bold x", "漢字", "a<b", "", "plain", "a"] * 2


def test_numbers_and_booleans_in_an_array_of_strings_are_their_shortest_text() -> None:
    cells = [number("1E+05"), number("2.50"), number(7), boolean(True), text("007"), number("0.30000000000000004")]
    assert one("string", *cells).tolist() == ["100000", "2.5", "7", "TRUE", "007", "0.30000000000000004"]


def test_generic_elements_are_what_their_cells_are() -> None:
    cells = [
        *(number(2), number(2.5), number("1E+300"), number("1E+05"), boolean(False), text("x"), text("'2")),
        *(text("2.0"), text("'"), None, number("12345678901234567"), text("TRUE"), number("-0.5e-7")),
    ]
    content = book(columns([*listed("generic", [""] * len(cells))[: FIRST - 1], *cells]))
    assert_same(
        read(content)["t"],
        objects(2, 2.5, 1e300, 100000, False, "x", "2", 2.0, "", None, 12345678901234567, True, -0.5e-7),
    )


# Dates, errors, formulas -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "serials"),
    [
        ("", (1.0, 59.0, 61.0, 43831.5, 2958465.0)),
        ('<workbookPr date1904="1"/>', (-1461.0 + 1462, 0.0, 1.0, 42369.5, 2957003.0)),
    ],
)
def test_date_cells_are_dates_of_their_system(settings: str, serials: tuple[float, ...]) -> None:
    wanted = {
        "": [
            "1900-01-01T00:00:00.000",
            "1900-02-28T00:00:00.000",
            "1900-03-01T00:00:00.000",
            "2020-01-01T12:00:00.000",
            "9999-12-31T00:00:00.000",
        ],
    }.get(
        settings,
        [
            "1904-01-02T00:00:00.000",
            "1904-01-01T00:00:00.000",
            "1904-01-02T00:00:00.000",
            "2020-01-01T12:00:00.000",
            "9999-12-31T00:00:00.000",
        ],
    )
    for unit in ("ms", "us"):
        cells = columns(listed(f"datetime64[{unit}]", dated(*serials)))
        file = book(cells, formats=styles("yyyy\\-mm\\-dd"), settings=settings)
        assert read(file)["t"].tolist() == np.array(wanted, f"M8[{unit}]").tolist()


def test_iso_date_cells_are_dates_as_well() -> None:
    cells = [text("2020-02-01"), ' t="d"><v>2020-02-29T12:00:00</v></c>']
    wanted = ["2020-02-01", "2020-02-29T12:00:00"]
    assert one("datetime64[s]", *cells).tolist() == np.array(wanted, "M8[s]").tolist()
    assert one("datetime64[us]", *cells).tolist() == np.array(wanted, "M8[us]").tolist()


@pytest.mark.parametrize("serial", [0.25, 60.0, -1.0, 2958466.0, 1e300])
def test_a_date_that_there_is_not_is_refused(serial: float) -> None:
    error = refusal("datetime64[s]", *dated(1.0, serial), formats=styles(14))
    assert error.location == f"arrays!A{FIRST + 1}"
    assert "a date that does not exist" in error.reason


@pytest.mark.parametrize("dtype", ["float64", "int32", "complex128", "bool", "timedelta64[D]"])
def test_a_date_where_a_number_should_be_is_refused(dtype: str) -> None:
    error = refusal(dtype, number(1), *dated(43831.0), formats=styles(22))
    assert (error.reason, error.location) == ("a date", f"arrays!A{FIRST + 1}")
    assert "format the cell" in (error.hint or "")


def test_a_date_finer_than_its_dtype_is_refused() -> None:
    assert "2020-01-01T12:00:00" in refusal("datetime64[D]", *dated(43831.5), formats=styles(14)).reason


def test_dates_among_text_are_their_iso_text_and_times_their_hours() -> None:
    content = book(
        columns(listed("string", [*dated(43831.0, 0.5), text("x"), ' s="2"><v>1.5</v></c>', ' s="2"><v>-0.5</v></c>'])),
        formats=styles("d.m.yy h:mm", "[h]:mm"),
    )
    with pytest.warns(sa.SheetArrayWarning, match="date cell"):
        assert read(content)["t"].tolist() == ["2020-01-01", "12:00:00", "x", "36:00:00", "-12:00:00"]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("General", "f"),
        ("0.00E+00", "f"),
        ('0" days"', "f"),
        ("0\\d", "f"),
        ("[Red]0.0", "f"),
        ("#,##0_);[Red](#,##0)", "f"),
        ('"y"0;yyyy', "f"),
        ("_d0", "f"),
        ("[$-409]General", "f"),
        ("@", "f"),
        ("yyyy-mm-dd", "M"),
        ("h:mm AM/PM", "M"),
        ("[$-407]d. mmm", "M"),
        ("[$-F400]h:mm:ss\\ AM/PM", "M"),
        ("ss.000", "M"),
        ("[h]:mm:ss", "U"),  # hours, as text
        ("[mm]", "U"),  # hours, as text
        ("[SS].0", "U"),  # hours, as text
    ],
)
def test_format_codes(code: str, kind: str) -> None:
    content = book(columns([text("t"), *dated(43831.5, 43832.25)]), formats=styles(code))
    assert sa.read_columns(io.BytesIO(content), format="xlsx")["t"].dtype.kind == kind


DTYPES = ["float64", "int8", "bool", "string", "generic", "complex64", "datetime64[s]"]
WITHOUT_VALUES = {  # cells, and why they are refused
    ' t="e"><v>#DIV/0!</v></c>': "an error, #DIV/0!",
    ' t="e"><f>1/0</f><v>#SPILL!</v></c>': "an error, #SPILL!",
    "><f>1+1</f></c>": "a formula without a value",
    "><f>1+1</f><v></v></c>": "a formula without a value",
    "><f>1+1</f><v/></c>": "a formula without a value",
    '><f t="shared" si="0"/></c>': "a formula without a value",
}


@pytest.mark.parametrize(("dtype", "cell"), cross(DTYPES, list(WITHOUT_VALUES), "float64", "><f>1+1</f></c>"))
def test_errors_and_formulas_without_a_value_are_refused_under_every_dtype(dtype: str, cell: str) -> None:
    reason = WITHOUT_VALUES[cell]
    hint = "save it" if "formula" in reason else ""
    good = {"datetime64[s]": text("2020-01-01"), "bool": boolean(True)}.get(dtype, number(1))
    error = refusal(dtype, good, cell, good)
    assert (error.reason, error.location) == (reason, f"arrays!A{FIRST + 1}")
    assert hint in (error.hint or "")
    cells = book(columns(listed(dtype, [good, cell])))
    if dtype in ("float64", "complex64") and "an error" in reason:
        with pytest.warns(sa.SheetArrayWarning, match=f"1 cell holds a word for a missing value.*{reason}"):
            assert np.isnan(*[array[1] for array in read(cells, missing="nan").values()])
        return
    with pytest.raises(sa.FormatError, match=r"without a value|an error"):  # neither is a blank
        read(cells, missing="nan")


def test_formulas_with_values_are_their_values() -> None:
    cells = [
        "><f>0.5+1</f><v>1.5</v></c>",
        '><f t="shared" ref="A1:A2" si="0">A1&gt;B1</f><v>2</v></c>',
        '><f t="shared" si="0"/><v>3</v></c>',
        "><f>A1>B1</f><v>4</v></c>",
    ]
    assert_same(one("float64", *cells), np.array([1.5, 2, 3, 4]))
    assert_same(one("bool", ' t="b"><f>TRUE()</f><v>1</v></c>', boolean(False)), np.array([True, False]))


@pytest.mark.parametrize("value", ["", "<v></v>", "<v/>", "<v />"])
@pytest.mark.parametrize("odd", ["", "<!-- odd -->"], ids=["rules", "parser"])
def test_truth_values_whose_formulas_have_lost_their_values_are_followed(value: str, odd: str) -> None:
    cells = [f"><f>{word}()</f>{value}{odd}</c>" for word in ("TRUE", "FALSE", "TRUE")]
    truths = np.array([True, False, True, False])
    assert_same(one("bool", *cells, boolean(False)), truths)
    error = refusal("bool", "><f>ISTRUE()</f><v/></c>", *cells)
    assert "without a value" in error.reason


def test_a_blank_cell_is_the_last_of_a_sheet_with_formulas() -> None:
    cells = [*listed("bool", [' t="b"><f>TRUE()</f><v>1</v></c>', boolean(False)]), ' s="0"/>']  # as LibreOffice saves
    (array,) = read(book(columns(cells))).values()
    assert_same(array, np.array([True, False]))


def test_check_goes_on_after_a_cell_that_cannot_be_read() -> None:
    bad = ' t="e"><v>#N/A</v></c>'
    content = book(
        columns(
            listed("float64", [bad, number(1), bad], name="a"),
            listed("int8", [number(300)], name="b"),
            listed("string", ["><f>A1&amp;B1</f></c>"], name="c"),
            listed("float64", [number(1)], name="d"),
        )
    )
    findings = [(finding.location or "", finding.severity) for finding in sa.check(io.BytesIO(content), format="xlsx")]
    places = [f"A{FIRST}", f"A{FIRST + 2}", f"B{FIRST}", f"C{FIRST}"]
    assert sorted(findings) == [("", "warning"), *((f"arrays!{place}", "error") for place in places)]
    assert_same(read(content, names=["d"])["d"], np.array([1.0]))


@pytest.mark.parametrize("count", [1, 99, 100, 101])
def test_few_texts_are_escaped_as_many_are(count: int) -> None:
    pieces = ["", " a", "b  c", "<&>", "_x000D_", "d\re", "f\n", "\x1f", "\ufffe", "Zürich", "\u3000", "\x85"]
    texts = np.array([pieces[place % len(pieces)] for place in range(1000)])
    few, many = io.BytesIO(), io.BytesIO()
    sa.write(few, {"t": texts[:count]}, format="xlsx", guard=False)
    sa.write(many, {"t": texts}, format="xlsx", guard=False)
    assert sa.read(io.BytesIO(few.getvalue()), "t").tolist() == texts[:count].tolist()
    cells = [
        re.findall(b"(?s)<is>(.*?)</is>", parts(file.getvalue())["xl/worksheets/sheet1.xml"]) for file in (few, many)
    ]
    below = [each[each.index(b"<t>data</t>") :] for each in cells]
    assert below[0] == below[1][: len(below[0])]
    assert len(below[0]) == 1 + sum(text != "" for text in texts[:count].tolist())
