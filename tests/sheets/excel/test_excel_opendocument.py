"""Rows of .ods in bulk: every cell is what the parser alone makes of it, or the rows go to the parser."""

from __future__ import annotations

import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from children import SECONDS, measured, run_limited
from examples import PART, examples
from foreign_books import document, table_cell, table_row, words, zipped

import sheetarray as sa
from sheetarray.files import Source
from sheetarray.sheets.excel.reader import blocks, opendocument, opendocument_table
from sheetarray.sheets.excel.reader.kept_runs import KeptRuns
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
    "many columns": row(
        cell("float", "1", "1", ' table:number-columns-repeated="16384"'),
    ),
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


def cells_of(content: bytes, which: int = 0) -> Any:
    """All cells of a table, row by row, or the refusal."""
    cells: dict[tuple[int, int], Any] = {}
    areas: set[Any] = set()
    try:
        with Source(io.BytesIO(content)) as source, Workbook(source) as workbook:
            for run in workbook._container.cells(workbook.titles[which], numeric=False):
                assert not run.width or len(run) % run.width == 0
                formulas = np.zeros(len(run), bool) if run.formulas is None else run.formulas
                places = zip(run.rows.tolist(), run.columns.tolist(), strict=True)
                cells.update(zip(places, zip(run.kinds, run.values, formulas, strict=True), strict=True))
                areas.update(run.areas)
    except sa.FormatError as error:
        return str(error)
    return cells, areas


def by_the_parser(content: bytes, monkeypatch: pytest.MonkeyPatch, which: int = 0) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(opendocument_table, "read_plain_rows", lambda _, **__: None)
        return cells_of(content, which)


def test_plain_rows_are_read_in_bulk(monkeypatch: pytest.MonkeyPatch) -> None:
    content = document({"a": "".join(PLAIN) * 40})
    expected = by_the_parser(content, monkeypatch)
    read = opendocument_table.read_plain_rows
    sizes = []

    def note(text: bytes, **how: Any) -> Any:
        rows = read(text, **how)
        sizes.append((len(text), rows and (rows.size, rows.odd)))
        return rows

    monkeypatch.setattr(opendocument_table, "read_plain_rows", note)
    assert cells_of(content) == expected
    assert all(rows == (size, []) for size, rows in sizes)
    assert len(expected[0]) == 40 * 23


TRUTH = row(
    *(cell("float", number, "", f' table:formula="of:={name}()"') for name, number in [("TRUE", "1"), ("FALSE", "0")])
)
FORMULAS = row(cell("float", "2", "2", ' table:formula="of:=[.A1]+1"'), cell("float", "3", "3"))


def rows_for_the_parser(rows: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Read rows in bulk and by the parser, which is to give the same; return how many the parser gets of the former."""
    content = document({"a": rows})
    expected = by_the_parser(content, monkeypatch)
    read, odd = opendocument_table.read_plain_rows, []

    def note(text: bytes, **how: Any) -> Any:
        plain = read(text, **how)
        odd.append(text.count(b"<table:table-row") if plain is None else len(plain.odd))
        return plain

    with monkeypatch.context() as patch:
        patch.setattr(opendocument_table, "read_plain_rows", note)
        assert cells_of(content) == expected
    return sum(odd)


def test_truth_values_of_libreoffice_are_read_in_bulk(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rows_for_the_parser((TRUTH + FORMULAS) * 20, monkeypatch) == 0
    assert rows_for_the_parser((FORMULAS + TRUTH) * 20, monkeypatch) == 0


@pytest.mark.parametrize("count", [63, 64, 65, 256])
def test_as_many_forms_of_tags_as_are_compared_and_more(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    styles = (f' table:style-name="ce{place}"' for place in range(count))
    rows = "".join(row(cell("float", "1.5", "1,5", style), cell("boolean", "true", "x", style)) for style in styles)
    assert rows_for_the_parser(rows, monkeypatch) == 0


def test_a_name_of_any_length_in_a_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {}
    for length in (*range(40), 48, 63, 64, 65, 120, 1000, 1100):
        name = f' table:style-name="é{"x" * length}"'
        other = f' table:style-name="é{"x" * length}y"'
        rows = row(cell("float", "1", "1", name), cell("float", "2", "2", other), cell("string", "", "t", name)) * 5
        ends = f'<table:table-cell office:value-type="float" office:value="{{}}"{name}/>'
        rows += (row(ends.format(1.25)) + row(ends.format("6"))) * 5
        counts[length] = rows_for_the_parser(rows, monkeypatch)
    assert {length: count for length, count in counts.items() if count} == {}


def test_a_text_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (row(cell("string", "", "x" * length), cell("float", str(length), "1")) for length in range(1, 70))
    assert rows_for_the_parser(row(cell("string", "", "é&amp;")).join(rows), monkeypatch) == 0


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_text_beyond_the_longest_is_left_to_the_parser(more: int) -> None:
    rows = row(cell("string", "", "x" * (2**20 + more))) + row(cell("string", "", "é&amp;")) * 2
    plain = opendocument_table.read_plain_rows(rows.encode(), numeric=False)
    assert plain is not None
    assert [line for line, _, _ in plain.odd] == [0] * (more > 0)


@pytest.mark.parametrize("value", ["1&amp;", "1\tb", "", "x", "9007199254740992", "-0", "1e999", "nan", "1>2"])
def test_a_value_that_is_no_plain_number(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = row(cell("float", "1.5", "1"))
    rows = one * 3 + row(cell("float", value, "1")) + one * 3
    rows_for_the_parser(rows, monkeypatch)
    with Source(io.BytesIO(document({"a": rows}))) as source, Workbook(source) as workbook:
        (text,) = workbook._container.cells(workbook.titles[0], numeric=False)
        (table,) = workbook._container.cells_of_table(workbook.titles[0])
    assert table.values.to_list() == text.values.to_list()


@pytest.mark.parametrize("white", [" ", "\t", "\n", "\r", "\n  "])
def test_titles_are_looked_for_where_they_can_stand(white: str) -> None:
    cells = row(cell("float", "1.5", "1,5"), cell("boolean", "true", "TRUE"), cell("string", "", "a b")) * 9
    assert not opendocument.may_hold_tables(cells.encode()), "no tag of it ends in table"
    content = document({"a": cells, "b": PLAIN[0]})
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["content.xml"] = members["content.xml"].replace(b"<table:table ", b"<table:table" + white.encode())
    with Source(io.BytesIO(zipped(members))) as source, Workbook(source) as workbook:
        assert workbook.titles == ["a", "b"]


def test_numbers_of_a_table_are_doubles() -> None:
    rows = row(*(cell("float", value, "") for value in ("0.1", "9007199254740991", "-1e-300", "12"))) * 3
    with Source(io.BytesIO(document({"a": rows}))) as source, Workbook(source) as workbook:
        (table,) = workbook._container.cells_of_table(workbook.titles[0])
    assert table.values.to_list() == [0.1, 2.0**53 - 1, -1e-300, 12.0] * 3


def test_the_content_is_kept_while_it_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    content = document({"a": "".join(PLAIN), "b": "".join(PLAIN)})
    expected, times = sa.read_columns(io.BytesIO(content), format="ods", sheet="b", header=None), []
    inflate = opendocument.inflate_blocks
    monkeypatch.setattr(opendocument, "inflate_blocks", lambda *of: times.append(of) or inflate(*of))
    for limit, inflated in ((opendocument._MOST_KEPT, 1), (100, 2)):
        monkeypatch.setattr(opendocument, "_MOST_KEPT", limit)
        times.clear()
        again = sa.read_columns(io.BytesIO(content), format="ods", sheet="b", header=None)
        assert len(times) == inflated
        np.testing.assert_equal(again, expected)


MOST_TIMES = {"many columns": 2}  # of which one row has more cells than all others


@pytest.mark.parametrize("times", [1, 8])
def test_odd_rows_among_plain_ones(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = []
    for name, odd in ODD.items():
        content = document({"a": ("".join(PLAIN[:3]) + odd + "".join(PLAIN)) * min(times, MOST_TIMES.get(name, times))})
        if cells_of(content) != by_the_parser(content, monkeypatch):
            wrong.append(name)
    assert wrong == []


def test_other_prefixes_go_to_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    content = document({"a": "".join(PLAIN) + "<x:y xmlns:x='urn:x' xmlns:table='urn:other'/>" + "".join(PLAIN)})
    assert cells_of(content) == by_the_parser(content, monkeypatch)


def test_pieces_that_are_read_ahead_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    odds = {name: odd for name, odd in ODD.items() if not isinstance(cells_of(document({"a": odd * 2})), str)}
    assert len(odds) > 9
    wide = odds.pop("many columns")
    rows, plain = "".join("".join(PLAIN) + odd for odd in odds.values()), "".join(PLAIN) * 5
    other = "<x:y xmlns:x='urn:x' xmlns:table='urn:other'/>"
    content = document({"a": rows, "b": plain + other + plain, "c": wide + plain})
    expected = [by_the_parser(content, monkeypatch, which) for which in range(3)]
    assert not any(isinstance(cells, str) for cells in expected), expected
    monkeypatch.setattr(opendocument, "SHORT", 0)
    for size in (700, 3000):
        monkeypatch.setattr(blocks, "_FIRST_BLOCK", size)
        monkeypatch.setattr(blocks, "_BLOCK", size)
        assert [cells_of(content, which) for which in range(3)] == expected


def test_any_byte_changed_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    changes, forms = 0, [*PLAIN, *list(ODD.values())[:16]]
    for seed in range(examples(160)):
        source = random.Random(seed)
        rows = "".join(source.choice(forms) for _ in range(20)).encode()
        for _ in range(6):
            place = source.randrange(len(rows))
            changed = bytearray(rows)
            changed[place] = source.choice(b"<>/\"'= &;atx0\x00\t\xef\xc3")
            try:
                text = changed.decode()
            except UnicodeDecodeError:
                continue
            content = document({"a": text})
            one, other = cells_of(content), by_the_parser(content, monkeypatch)
            assert one == other or (isinstance(one, str) and isinstance(other, str)), (seed, text)
            changes += 1
    assert changes > examples(500)


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
        "of:=['t view'.B2]*2",
        "of:=['t view'.B2:.B3]",
        "of:=['gone'.B2]",
        "of:=['file:///other.ods'#$'t view'.B2]",
        "of:=[.A21]",
        "of:='t view'![.B2]+1",
        "of:='t view'![.B2:.B3]",
        "of:=['t view'.B2097152]",
    ],
)
def test_a_formula_without_a_value_that_does_more_is_an_error_with_its_address(formula: str) -> None:
    with pytest.raises(sa.FormatError, match="a formula without a value") as caught:
        linked("of:=['t view'.A1]", formula)
    assert caught.value.location == "arrays!A21"


def test_no_more_references_are_followed_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    formulas = ["of:=['t view'.B2]"] * 3
    for limit in (3, 4):
        monkeypatch.setattr(opendocument, "MOST_REFERENCES", limit)
        assert linked(*formulas)["t"].tolist() == [11] * 3
    monkeypatch.setattr(opendocument, "MOST_REFERENCES", 2)
    with pytest.raises(sa.FormatError, match="a formula without a value"):
        linked(*formulas)


# Elements that the parser gets -------------------------------------------------------------------------------------


def outcome_of(content: bytes, *titles: str) -> list[str]:
    """What comes of reading some tables of one workbook in turn."""
    outcomes = []
    with Source(io.BytesIO(content)) as source, Workbook(source) as workbook:
        for title in titles:
            workbook._container._kept = KeptRuns()
            try:
                list(workbook._container.cells(title, numeric=True))
                outcomes.append("read")
            except sa.FormatError as error:
                outcomes.append(f"{error.location}: {error.hint}"[:21])
    return outcomes


@pytest.mark.parametrize("odd", ["an annotation", "two paragraphs", "spaces"])
@pytest.mark.parametrize(("more", "outcome"), [(-1, "content.xml: save the"), (0, "read"), (1, "read")])
def test_as_many_elements_are_parsed_as_the_limit(
    odd: str, more: int, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ODD[odd] * 10
    monkeypatch.setattr(opendocument, "_MOST_PARSED", rows.count("<") - rows.count("</") + more)
    assert outcome_of(document({"a": rows}), "a", "a") == [outcome] * 2
    plain = "".join(PLAIN) * 90
    assert outcome_of(document({"a": rows + plain}), "a") == [outcome], "plain rows count for nothing"


def test_tables_share_the_elements_that_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ODD["an annotation"] * 40
    content = document({"a": rows, "b": rows})
    elements = rows.count("<") - rows.count("</")
    monkeypatch.setattr(blocks, "_FIRST_BLOCK", 700)
    monkeypatch.setattr(blocks, "_BLOCK", 700)
    monkeypatch.setattr(opendocument, "_MOST_PARSED", elements * 3 // 2)
    assert outcome_of(content, "a", "a", "b") == ["read", "read", "content.xml: save the"]
    assert outcome_of(content, "b", "b") == ["read", "read"]
    monkeypatch.setattr(opendocument, "_MOST_PARSED", elements * 2 + 20)
    assert outcome_of(content, "a", "b", "a") == ["read"] * 3


@pytest.mark.parametrize("title", ["b", "Ann's & co", "1"])
def test_elements_before_a_table_go_by_unseen(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, odd = "".join(PLAIN) * 10, ODD["spaces"] * 10
    content = document({"a": rows + odd, title: rows, "c": odd})
    expected = by_the_parser(content, monkeypatch, 1), by_the_parser(content, monkeypatch, 2)
    with monkeypatch.context() as patch:
        patch.setattr(opendocument_table, "may_pass_by", lambda *_: False)
        assert (cells_of(content, 1), cells_of(content, 2)) == expected
        patch.setattr(opendocument, "_MOST_AROUND", 150)
        assert outcome_of(content, "c") == ["content.xml: save the"]
    monkeypatch.setattr(blocks, "_FIRST_BLOCK", 2000)
    monkeypatch.setattr(blocks, "_BLOCK", 2000)
    monkeypatch.setattr(opendocument, "_MOST_AROUND", 600)
    assert (cells_of(content, 1), cells_of(content, 2)) == expected


def test_what_goes_by_unseen_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    forms = [*PLAIN, *list(ODD.values())[:16]]
    monkeypatch.setattr(blocks, "_FIRST_BLOCK", 900)
    monkeypatch.setattr(blocks, "_BLOCK", 900)
    for seed in range(examples(120)):
        source = random.Random(seed)
        rows = ["".join(source.choices(forms, k=20)) for _ in range(3)]
        damaged = bytearray(rows[0].encode())
        damaged[source.randrange(len(damaged))] = source.choice(b"<>/\"'! x")
        content = document({"a": damaged.decode("utf-8", "replace"), "b": rows[1], "c": rows[2]})
        one = cells_of(content, 2)
        with monkeypatch.context() as patch:
            patch.setattr(opendocument_table, "may_pass_by", lambda *_: False)
            assert one == cells_of(content, 2), seed


_READ = """
import json, sys, warnings
import sheetarray as sa
warnings.simplefilter("ignore")
print(json.dumps([len(column) for column in sa.read_columns(sys.argv[1]).values()]))
"""


@pytest.mark.slow
@measured
def test_three_million_cells_are_read_within_bounds(tmp_path: Path) -> None:
    path = tmp_path / "long.ods"
    numbers = [cell("float", repr(index / 7), "0") for index in range(7)]
    count = 400_000 // PART
    rows = (row(*numbers, cell("string", "", f"row {index}")) for index in range(count))
    path.write_bytes(document({"a": table_row(*(table_cell(f"c{index}") for index in range(8))) + "".join(rows)}))
    lengths = json.loads(run_limited(_READ, path, seconds=SECONDS, part=PART).output)
    assert lengths == [count] * 8
