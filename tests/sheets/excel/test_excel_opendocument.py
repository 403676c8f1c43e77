"""Rows of .ods by the compiled loop: every cell is what the parser alone makes of it, or the rows go to the parser."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest
from foreign_books import cells_of, document, opened, table_cell, table_row, words
from limits import set_limits
from round_trips import without_loops

import sheetarray as sa
from sheetarray import loops
from sheetarray.formats.contract import Source
from sheetarray.sheets.excel.reader.xml_elements import PartParser
from sheetarray.sheets.excel.workbook import Workbook


def cell(kind: str, value: str, text: str, more: str = "") -> str:
    """A cell as LibreOffice writes it."""
    name = {"string": "", "boolean": "office:boolean-value", "date": "office:date-value"}.get(kind, "office:value")
    given = f' {name}="{value}"' if name else ""
    return (
        f'<table:table-cell{more} office:value-type="{kind}"{given} calcext:value-type="{kind}">'
        f"<text:p>{text}</text:p></table:table-cell>"
    )


def row(*cells: str, more: str = "") -> str:
    return f'<table:table-row table:style-name="ro1"{more}>{"".join(cells)}</table:table-row>'


BLANKS = '<table:table-cell table:number-columns-repeated="3"/>'
PLAIN = [
    row(cell("float", "1.5", "1,5"), cell("string", "", "a  b"), cell("boolean", "true", "TRUE")),
    row(BLANKS, cell("date", "2026-07-01", "01.07.26"), cell("percentage", "0.5", "50%", ' table:style-name="ce7"')),
    row(cell("string", "", "&lt;&amp;&gt; é漢"), cell("float", "-2e-9", "0", ' table:formula="of:=[.A1]*2"')),
    row(cell("float", "7", "7", ' table:number-columns-repeated="4"'), BLANKS, cell("string", "", "")),
    row(cell("currency", "3.25", "3,25 €", ' table:style-name="x" office:currency="EUR"'), table_cell(None)),
    row(BLANKS, more=' table:number-rows-repeated="9"'),
    row(cell("float", "8", "8"), cell("string", "", "again"), more=' table:number-rows-repeated="5"'),
]
ODD = {
    "two paragraphs": row(cell("string", "", "a</text:p><text:p>b")),
    "spaces": row(cell("string", "", 'a<text:s text:c="3"/>b<text:tab/>')),
    "a comment": row("<!-- x -->", cell("float", "1", "1")),
    "an annotation": row(
        '<table:table-cell office:value-type="float" office:value="1"><office:annotation><text:p>note</text:p>'
        "</office:annotation><text:p>1</text:p></table:table-cell>"
    ),
    "merged cells": row(cell("float", "1", "1"), "<table:covered-table-cell/>", cell("float", "2", "2")),
    "an error": row(
        '<table:table-cell table:formula="of:=1/0" office:value-type="string" office:string-value="" '
        'calcext:value-type="error"><text:p>#DIV/0!</text:p></table:table-cell>'
    ),
    "an error of another program": row(cell("float", "0", "#DIV/0!", ' table:formula="of:=1/0"')),
    "a truth value": row(cell("float", "1", "TRUE", ' table:formula="of:=TRUE()"')),
    "an array formula": row(
        cell(
            "float",
            "1",
            "1",
            ' table:formula="of:=[.A1:.B2]" table:number-matrix-columns-spanned="2" '
            'table:number-matrix-rows-spanned="2"',
        )
    ),
    "a time": row(
        '<table:table-cell office:value-type="time" office:time-value="PT26H03M04S"><text:p>26</text:p>'
        "</table:table-cell>"
    ),
    "a line end": row(cell("string", "", "a\n b")),
    "a reference to a character": row(cell("string", "", "a&#9;b")),
    "a value of the text": row(
        '<table:table-cell office:value-type="string" office:string-value="other"><text:p>x</text:p></table:table-cell>'
    ),
    "no type": row("<table:table-cell><text:p>bare</text:p></table:table-cell>"),
    "a greater sign": row(cell("string", "", "a > b")),
    "a quote": row(cell("string", "", 'say "x"')),
    "single quotes": row("<table:table-cell office:value-type='float' office:value='4'/>"),
    "no row": row(),
    "a closed row": "<table:table-row/>",
    "rows in a group": f"<table:table-row-group>{PLAIN[0]}{PLAIN[2]}</table:table-row-group>",
    "many columns": row(cell("float", "1", "1", ' table:number-columns-repeated="16384"')),
    "too many columns": row(cell("float", "1", "1", ' table:number-columns-repeated="16385"')),
    "rows beyond the last": row(cell("float", "1", "1"), more=' table:number-rows-repeated="1048570"'),
    "an entity": row(cell("string", "", "&unknown;")),
    "a tag that is not closed": row("<table:table-cell><text:p>x</table:table-cell>"),
    "an attribute twice": row('<table:table-cell office:value="1" office:value="2" office:value-type="float"/>'),
    "an unknown prefix": row('<table:table-cell odd:value="1" office:value-type="float"/>'),
    "no character": row(cell("string", "", "a\uffffb")),
    "a control character": row(cell("string", "", "a\x01b")),
    "an entity beside a value": row(cell("float", "1", "&unknown;")),
    "an ampersand beside a value": row(cell("currency", "3.25", "3,&5 €")),
}


def told(content: bytes, which: int = 0) -> Any:
    """All cells of a table, row by row, or the refusal."""
    try:
        with Source(io.BytesIO(content)) as source, Workbook(source) as workbook:
            return cells_of(workbook._container.cells(workbook.titles[which]))
    except sa.FormatError as error:
        return str(error)


needs_loop = pytest.mark.skipif(not loops.COMPILED, reason="the compiled loops were not built, or are switched off")


def by_the_parser(content: bytes, which: int = 0) -> Any:
    with without_loops():
        return told(content, which)


def rows_for_the_parser(rows: str) -> int:
    """Read rows by the loop and by the parser, which is to give the same; return how many the loop leaves to it."""
    content = document({"a": rows})
    expected = by_the_parser(content)
    parse, odd = PartParser.feed, []

    def note(parser: Any, text: bytes, *args: Any, **how: Any) -> Any:
        odd.append(text.count(b"<table:table-row"))
        return parse(parser, text, *args, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PartParser, "feed", note)
        assert told(content) == expected
    return sum(odd)


@needs_loop
def test_plain_rows_are_read_by_the_loop() -> None:
    assert rows_for_the_parser("".join(PLAIN) * 40) == 0
    assert len(told(document({"a": "".join(PLAIN) * 40}))) == 40 * 23
    short = [odd for name, odd in ODD.items() if name != "rows beyond the last"]  # a million rows, if they all fit
    assert sum(rows_for_the_parser(PLAIN[0] + odd) > 0 for odd in short) > 16


@needs_loop
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_text_beyond_the_longest_is_left_to_the_parser(more: int) -> None:
    rows = row(cell("string", "", "x" * (2**20 + more))) + row(cell("string", "", "é&amp;")) * 2
    if more <= 0:
        assert rows_for_the_parser(rows) == 0
    else:
        assert "more than" in told(document({"a": rows}))


@pytest.mark.parametrize("value", ["1&amp;", "1\tb", "", "x", "9007199254740992", "-0", "1e999", "nan", "1>2"])
def test_a_value_that_is_no_plain_number(value: str) -> None:
    one = row(cell("float", "1.5", "1"))
    rows = one * 3 + row(cell("float", value, "1")) + one * 3
    rows_for_the_parser(rows)
    texts = told(document({"a": rows}))
    with opened(document({"a": rows})) as sheet:
        numbers = cells_of(sheet._container.cells("a", "inexact"))
    assert {place: (kind, str(found).removesuffix(".0")) for place, (kind, found, _) in numbers.items()} == {
        place: (kind, str(value).removesuffix(".0")) for place, (kind, value, _) in texts.items()
    }


MOST_TIMES = {"many columns": 2}  # of which one row has more cells than all others


@pytest.mark.parametrize("times", [1, 8])
def test_odd_rows_among_plain_ones(times: int) -> None:
    wrong = []
    for name, odd in ODD.items():
        content = document({"a": ("".join(PLAIN[:3]) + odd + "".join(PLAIN)) * min(times, MOST_TIMES.get(name, times))})
        if told(content) != by_the_parser(content):
            wrong.append(name)
    assert wrong == []


def test_pieces_that_are_read_ahead_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    odds = {name: odd for name, odd in ODD.items() if not isinstance(told(document({"a": odd * 2})), str)}
    assert len(odds) > 9
    wide = odds.pop("many columns")
    rows, plain = "".join("".join(PLAIN) + odd for odd in odds.values()), "".join(PLAIN) * 5
    other = "<x:y xmlns:x='urn:x' xmlns:table='urn:other'/>"
    content = document({"a": rows, "b": plain + other + plain, "c": wide + plain})
    expected = [by_the_parser(content, which) for which in range(3)]
    assert not any(isinstance(cells, str) for cells in expected), expected
    set_limits(monkeypatch, short_opendocument=0)
    for size in (700, 3000):
        set_limits(monkeypatch, first_block=size, block=size, opendocument_kept=size)  # a document too long to keep
        assert [told(content, which) for which in range(3)] == expected


# References ------------------------------------------------------------------------------------------------------


PENDING = "<table:table-cell table:formula={}/>"
CACHED = '<table:table-cell table:formula={} office:value-type="float" office:value="-1"/>'
GRID = "".join(row(*(table_cell(float(10 * line + place)) for place in range(3))) for line in range(3))


def linked(*formulas: str, title: str = "t view", form: str = PENDING) -> dict[str, Any]:
    """What is read of an array whose cells are formulas, beside a sheet to which they may lead."""
    header = [table_row(table_cell(word)) for word in ("t", *words("float64", len(formulas)))]
    cells = [row(form.format(quoteattr(formula))) for formula in formulas]
    content = document({title: GRID, "arrays": "".join([*header, *cells])})
    return sa.read(io.BytesIO(content), format="ods")


@pytest.mark.parametrize("title", ["t view", "Ann's & co"])
def test_a_formula_without_a_value_that_repeats_a_cell_is_followed(title: str) -> None:
    quoted = "'{}'".format(title.replace("'", "''"))
    read = linked(f"of:=[{quoted}.B2]", f"of:=[${quoted}.$C$3]", f"of:=[{quoted.upper()}.a1]", title=title)
    assert read["t"].tolist() == [11, 22, 0]
    assert linked("of:=[plain.B2]", "of:=[$plain.C$1]", title="plain")["t"].tolist() == [11, 2]
    by_sheetjs = linked(f"of:={quoted}![.B2]", f"of:={quoted}![.$C$3]", f"of:={quoted}![.A1]", title=title)
    assert by_sheetjs["t"].tolist() == [11, 22, 0]


def test_of_formulas_with_a_value_those_that_lead_into_a_view_are_followed() -> None:
    assert linked("of:=['t view'.B2]", form=CACHED)["t"].tolist() == [11]
    assert linked("of:=[other.B2]", form=CACHED, title="other")["t"].tolist() == [-1]


@pytest.mark.parametrize(
    "formula",
    [
        *("of:=['t view'.B2]*2", "of:=['t view'.B2:.B3]", "of:=['gone'.B2]"),
        *("of:=['file:///other.ods'#$'t view'.B2]", "of:=[.A21]", "of:='t view'![.B2]+1", "of:='t view'![.B2:.B3]"),
        "of:=['t view'.B2097152]",
    ],
)
def test_a_formula_without_a_value_that_does_more_is_an_error_with_its_address(formula: str) -> None:
    with pytest.raises(sa.FormatError, match="a formula without a value") as caught:
        linked("of:=['t view'.A1]", formula)
    assert caught.value.location == "arrays!A21"


def test_no_more_references_are_followed_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    links = ["of:=['t view'.B2]"] * 3
    for limit in (3, 4):
        set_limits(monkeypatch, references=limit)
        assert linked(*links)["t"].tolist() == [11] * 3
    set_limits(monkeypatch, references=2)
    with pytest.raises(sa.FormatError, match="a formula without a value"):
        linked(*links)


# Elements that the parser gets -------------------------------------------------------------------------------------


@needs_loop
@pytest.mark.parametrize("odd", ["an annotation", "two paragraphs", "spaces"])
def test_as_many_elements_are_parsed_as_the_limit(odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = document({"a": ODD[odd] * 200 + "".join(PLAIN) * 2000})
    elements = 200 * (ODD[odd].count("<") - ODD[odd].count("</"))
    set_limits(monkeypatch, opendocument_parsed=elements + 2000)  # plain rows count for next to nothing
    assert not isinstance(told(content), str)
    set_limits(monkeypatch, opendocument_parsed=elements - 1)
    assert "very many elements of unusual XML" in told(content)


@pytest.mark.parametrize("before", [8189, 8190, 8191, 8192, 8193])
@pytest.mark.parametrize("white", ["\n ", " \n", "\n\t", "  ", "\n<!-- x -->\n", "\n<![CDATA[ ]]>"])
def test_white_space_counts_the_same_wherever_the_parser_cuts_it(before: int, white: str, tmp_path: Path) -> None:
    """The parser hands over some 8,192 characters at once."""
    text = "x" * before + white + "b"
    cells = ["t", f"a</text:p><text:p>{text}", "c"]
    path = tmp_path / "t.ods"
    path.write_bytes(document({"s": "".join(row(cell("string", "", text)) for text in cells)}))
    between = "  " if white == "  " else " "  # a line end makes a space of all white space around it
    expected = "a\n" + "x" * before + between + "b"
    assert sa.read_columns(path)["t"].tolist() == [expected, "c"]
