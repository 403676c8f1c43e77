"""Worksheets by the compiled loop, by the plain way, by openpyxl and by calamine: the same cells, or the same error."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import python_calamine
from examples import ANEW, examples
from excel_packages import parts, zipped
from foreign_books import MAIN, book, cells_of, rows_of, shared, styles
from hypothesis import example, given
from hypothesis import strategies as st
from mixtures import random_table
from round_trips import without_loops
from table_writers import WRITERS
from text_ways import KINDS, assert_parts_agree, try_text
from xml_grammar import OPEN

from sheetarray import loops
from sheetarray.errors import FormatError
from sheetarray.formats.contract import Source
from sheetarray.sheets.excel.reader import cells as c
from sheetarray.sheets.excel.workbook import Workbook

pytestmark = pytest.mark.skipif(not loops.COMPILED, reason="the compiled loops were not built, or are switched off")

Place = tuple[int, int]
SAMPLES = sorted(Path(__file__).parents[3].glob("sample_sheets/**/*.xlsx"))
FOREIGN = sorted((Path(__file__).parents[4] / "shared/foreign-workbooks").glob("*.xls[xm]"))


def ways_of(container: Any, title: str) -> dict[str, Callable[[], Iterator[c.CellRun]]]:
    """Return the ways in which a sheet is asked for its cells."""
    return {
        "text": lambda: container.cells(title),
        "numbers": lambda: container.cells(title, "others"),
        "table": lambda: container.cells(title, "inexact"),
        "words": lambda: words_in(container, title),
    }


def words_in(container: Any, title: str) -> Iterator[c.CellRun]:
    """Yield the cells that may hold words of headers."""
    for block in container.blocks(title, spans=()):
        if len(places := np.flatnonzero(container.mark_words(block))):
            yield container.look_up(block, places)


def told(runs: Iterator[c.CellRun]) -> Any:
    """Return kinds, values and formulas by place; or the error."""
    try:
        return cells_of(runs)
    except FormatError as error:
        return str(error)


def all_cells(content: bytes) -> Any:
    """Return all cells of a workbook in each way, or the errors."""
    try:
        with Source(io.BytesIO(content)) as source, Workbook(source) as opened:
            container: Any = opened._container
            found = {
                (title, way): told(read()) for title in opened.titles for way, read in ways_of(container, title).items()
            }
            references = [list(container.references(title)) for title in opened.titles]
            return found, references
    except FormatError as error:
        return str(error)


def assert_ways_agree(content: bytes) -> Any:
    """Assert that the compiled loop and the plain way see the same, and return what they see."""
    compiled = all_cells(content)
    with without_loops():
        plain = all_cells(content)
    assert compiled == plain
    return compiled


# Forms of cells ----------------------------------------------------------------------------------------------

FORMS = [
    "><v>{n}</v></c>",
    ' s="1"><v>{n}</v></c>',
    ' s="0" t="n"><v>{n}.25</v></c>',
    ' t="n" s="1"><v>{n}</v></c>',
    ' t="inlineStr"><is><t>t{n}</t></is></c>',
    ' t="inlineStr"><is><t xml:space="preserve"> {n} &amp; _x000D_</t></is></c>',
    ' t="b"><v>1</v></c>',
    ' t="str"><f>A1</f><v>r{n}</v></c>',
    "><f>1</f><v>{n}</v></c>",
    '><f si="1"/><v>{n}</v></c>',
    "><f>1</f></c>",
    ' t="e"><v>#N/A</v></c>',
    ' s="1"/>',
    "></c>",
    "><v/></c>",
    ' t="s"><v>{n}</v></c>',
    ' t="s"><v> 1</v></c>',
    ' t="str"><v></v></c>',
    ' t="str"><v/></c>',
    ' t="inlineStr"><is><r><t>ri</t></r><r><rPr><b/></rPr><t> ch</t></r></is></c>',
    ' t="inlineStr"><is><t>a</t><rPh sb="0" eb="1"><t>b</t></rPh><phoneticPr fontId="1"/></is></c>',
    ' t="inlineStr"><is/></c>',
    ' s="{n}7" t="n" ><v>{n}</v></c>',
    ' s="12345678"><v>{n}</v></c>',
    ' s=""><v>{n}</v></c>',
    ' t="inlineStr"><v>old</v></c>',
    ' cm="1"><v>{n}</v></c>',
    ' t="d"><v>2020-01-{n:02}</v></c>',
    "><v> {n} </v></c>",
    ' s="3" ><v>{n}e-3</v></c>',
    "><v>1e999</v></c>",
    "><v>+{n}</v></c>",
    "><v>.5</v></c>",
    "><v>inf</v></c>",
    "><v>-0</v></c>",
    "><v>9007199254740993</v></c>",
    "><v>4.9e-324</v></c>",
    "><!-- c --><v>{n}</v></c>",
    "><v><![CDATA[{n}]]></v></c>",
    ' t="str"><v>a&#x41;\r\n_x0041__xD83D__xDE00__xD800_ é😀</v></c>',
    ' t="inlineStr"><is><t> &#32;{n}</t></is></c>',
    ' t="inlineStr"><is><t>>{n}</t></is></c>',
    '><f t="array" ref="A1:B9">1</f><v>2</v></c>',
    "><f>TRUE()</f></c>",
    "><f>FALSE()</f><v>0</v></c>",
    ' t="b"><f aca="1">TRUE()</f><v>1</v></c>',
    "><f>'a &amp; b'!$C$3</f><v>5</v></c>",
    ' x:odd="1" xmlns:x="urn:x"><v>{n}</v></c>',
    ' mc:odd="1"><v>{n}</v></c>',
    ' t="z"><v>{n}</v></c>',
    "><v>{n}</v><v>2</v></c>",
    "><v>&nbsp;</v></c>",
    ' t="str"><v>]]></v></c>',
    ' t="str"><v>a\x01</v></c>',
    ' r2="1" r2="2"><v>1</v></c>',
    "><v><b>1</b></v></c>",
    '><extLst><ext uri="x"/></extLst><v>{n}</v></c>',
]
STRINGS = shared(*(f"<t>{text}</t>" for text in ("version", " b ", "12", "a &lt;&amp;_x000D_é😀", "x" * 20)))


def worksheet_of(rows: str) -> bytes:
    return book(rows, strings=STRINGS, formats=styles("yyyy-mm-dd", "[h]:mm"))


@given(
    st.lists(st.lists(st.integers(0, len(FORMS) + 8), min_size=1, max_size=9), min_size=1, max_size=12),
    st.integers(0, 30),
)
@example([[0, 1, 2]] * 5, 1)
def test_cells_of_every_form(lines: list[list[int]], first: int) -> None:
    cells = {
        (first * 1111 + 1 + row, column * (1 + first % 3)): FORMS[form].format(n=row + column)
        for row, line in enumerate(lines)
        for column, form in enumerate(line)
        if form < len(FORMS)
    }
    assert_ways_agree(worksheet_of(rows_of(cells)))


def test_one_cell_of_a_form_among_plain_ones() -> None:
    plain = {(row, column): f"><v>{row}</v></c>" for row, column in product(range(1, 30), range(3))}
    for form in FORMS:
        assert_ways_agree(worksheet_of(rows_of({**plain, (20, 1): form.format(n=3)})))


# Damage ------------------------------------------------------------------------------------------------------

UNITS = b'0123456789<>/="vcrts A.-+eE\x01\n&;!?[]_x'


def damage(drawn: random.Random, text: bytes) -> bytes:
    """Return a text in which a byte was changed, taken out or put in, or some stand twice."""
    units, place, kind = bytearray(text), drawn.randrange(len(text)), drawn.randrange(5)
    if kind == 0:
        units[place] = drawn.choice(UNITS)
    elif kind == 1:
        del units[place]
    elif kind == 2:
        units.insert(place, drawn.choice(UNITS))
    elif kind == 3:
        units[place:place] = units[(start := drawn.randrange(len(text))) : start + drawn.randint(1, 30)]
    else:
        units[place:place] = drawn.choice(
            [b"<!-- -->", b"<![CDATA[1]]>", b"<?a?>", b"&#65;", b"\xff", b"\xc3\xa9", b"</row>"]
        )
    return bytes(units)


@pytest.mark.parametrize("part", ["sheet1.xml", "sharedStrings.xml"])
def test_a_damaged_part_gives_the_same_cells_or_the_same_error(part: str) -> None:
    drawn = random.Random(20261123)
    refused = 0
    for _ in range(examples(400)):  # the grammar below has as many, changed by tokens
        cells = {
            (row, column): drawn.choice(FORMS[:50]).format(n=row)
            for row, column in product(range(1, drawn.randint(2, 8)), range(drawn.randint(1, 4)))
        }

        def change(name: str, text: bytes) -> bytes:
            for _ in range(drawn.choice((1, 1, 2, 3)) if name.endswith(part) else 0):
                text = damage(drawn, text)
            return text

        content = worksheet_of(rows_of(cells))
        refused += isinstance(
            assert_ways_agree(zipped({name: change(name, text) for name, text in parts(content).items()})), str
        )
    assert refused < examples(400)


SHEET = f'<worksheet xmlns="{MAIN}" xmlns:a="urn:1" xmlns:b="urn:1"><sheetData>%s</sheetData>%s</worksheet>'
TABLE = (
    "<office:document-content "
    + " ".join(f'xmlns:{name}="{OPEN}{name}:1.0"' for name in ("office", "table", "text"))
    + '><office:body><office:spreadsheet><table:table table:name="s">%s</table:table></office:spreadsheet>'
    "</office:body></office:document-content>"
)
NOT_WELL_FORMED = [
    *(("strings", f'<sst xmlns="{MAIN}">{items}</sst>') for items in ("<si/<si>", "<si/<si/>", "<si><t/</t></si>")),
    ("strings", f'<sst xmlns="{MAIN}"><si ="1"/></sst>'),
    ("strings", f'<sst xmlns="{MAIN}"><si xmlns:q="urn:q"/>{"<si><t>a</t></si>" * 2000}<si q:a="1"/></sst>'),
    ("worksheet", SHEET % ('<row ="2"/>', "")),
    ("worksheet", SHEET % ('<row r="1"><c r="A1"><v/</c></row>', "")),
    ("worksheet", SHEET % ('<row r="1"><c r="A1" ="n"><v>1</v></c></row>', "")),
    ("worksheet", SHEET % ('<row r="1"><c><f/<v>1</v></c></row>', "")),
    ("worksheet", SHEET % ('<row r="1"><c t="inlineStr"><is/</c></row>', "")),
    ("worksheet", SHEET % ('<row r="1" a:x="1" b:x="2"/>', "")),
    ("worksheet", SHEET.replace("<sheetData>", '<x xmlns:q="urn:q"/><sheetData>') % ('<row r="1" q:x="1"/>', "")),
    ("content", TABLE % '<table:table-row ="1"/>'),
    ("content", TABLE % "<table:table-row><table:table-cell/</table:table-row>"),
    (
        "content",
        TABLE % '<table:table-row><table:table-cell ="1"><text:p>a</text:p></table:table-cell></table:table-row>',
    ),
]


@pytest.mark.parametrize(("kind", "text"), NOT_WELL_FORMED, ids=lambda part: part if len(part) < 20 else None)
def test_xml_that_is_not_well_formed_is_refused(kind: str, text: str) -> None:
    for seed in range(8):
        assert "not well-formed" in assert_parts_agree(kind, text.encode(), random.Random(seed))


def test_rows_beside_the_data_of_a_sheet_are_no_cells() -> None:
    rows = "".join(f'<row r="{row}"><c r="A{row}"><v>1</v></c></row>' for row in range(1, 501))
    text = SHEET % (rows, '<x><row r="501"><c r="A501"><v>2</v></c></row></x>')
    for seed in range(8):
        assert len(assert_parts_agree("worksheet", text.encode(), random.Random(seed))) == 500
    content = zipped({**parts(worksheet_of("")), "xl/worksheets/sheet1.xml": text.encode()})
    found, _ = assert_ways_agree(content)
    assert len(found["arrays", "text"]) == 500


def test_a_formula_in_many_pieces_is_cut_as_a_whole_one_is() -> None:
    formula = "<![CDATA[x]]>" * 201
    text = SHEET % (f'<row r="1"><c r="A1"><f>{formula}</f><v>1</v></c></row>', "")
    (cell,) = assert_parts_agree("worksheet", text.encode(), random.Random(1))
    assert cell[-1] == ""


@pytest.mark.parametrize("kind", KINDS)
def test_texts_of_a_grammar_with_changes_of_tokens(kind: str) -> None:
    dice = random.Random() if ANEW else random.Random(20261128)
    read = [try_text(dice, kind) for _ in range(examples(800))]
    assert 0 < sum(was_read for _, was_read in read) < len(read)


# Workbooks of other programs ---------------------------------------------------------------------------------


def values_of(found: Any) -> dict[Place, Any]:
    """Return the numbers, texts and truth values among cells."""
    readers = {c.NUMBER: float, c.TEXT: str, c.BOOLEAN: lambda text: text == "1"}
    return {
        place: readers[kind](value)
        for place, (kind, value, _) in found.items()
        if kind in readers and value not in ("", None)
    }


def plain_values(rows: Any) -> dict[Place, Any]:
    cells = {(row, column): cell for row, line in enumerate(rows) for column, cell in enumerate(line)}
    numbers = {place: float(cell) for place, cell in cells.items() if type(cell) in (int, float)}
    return numbers | {place: cell for place, cell in cells.items() if type(cell) in (str, bool) and cell != ""}


def assert_all_agree(content: bytes) -> None:
    """Assert that four readers see the same numbers, texts and truth values on the first sheet."""
    found = assert_ways_agree(content)
    assert not isinstance(found, str)
    title = next(iter(found[0]))[0]
    ours = values_of(found[0][title, "text"])
    sheet = openpyxl.load_workbook(io.BytesIO(content), data_only=True).worksheets[0]
    by_openpyxl = plain_values(sheet.iter_rows(values_only=True))
    assert {place: ours.get(place) for place in by_openpyxl if not str(by_openpyxl[place]).startswith("#")} == {
        place: value for place, value in by_openpyxl.items() if not str(value).startswith("#")
    }
    loaded = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_index(0)
    by_calamine = plain_values(loaded.to_python(skip_empty_area=False))
    for place, value in ours.items():
        if not isinstance(value, str) or not value.startswith("#"):
            assert by_calamine.get(place) == value, place


@pytest.mark.parametrize("writer", [name for name, (suffix, _) in WRITERS.items() if suffix == ".xlsx"])
def test_tables_of_every_program(writer: str, tmp_path: Path) -> None:
    """With EXAMPLES=8, 3,000 workbooks."""
    drawn = random.Random() if ANEW else random.Random(29)
    for number in range(examples(48)):
        size = drawn.choice([None, (1, 1), (drawn.randint(1, 300), drawn.randint(1, 5)), (drawn.randint(1, 5), 60)])
        table = random_table(seed := drawn.getrandbits(32), most_cells=400, size=size)
        WRITERS[writer][1](path := tmp_path / f"{number}.xlsx", table)
        try:
            assert_all_agree(path.read_bytes())
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, size {size}") from error


@pytest.mark.parametrize("path", [*SAMPLES, *FOREIGN], ids=lambda path: path.name)
def test_workbooks_that_people_have_kept(path: Path) -> None:
    assert_ways_agree(path.read_bytes())
