"""Blocks of numbers alone, short blocks, and what is kept between two passes: as the rules for any XML have it."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

import sheetarray as sa
from sheetarray.columns import column_letters
from sheetarray.files import Source
from sheetarray.sheets.excel import sheet_runs
from sheetarray.sheets.excel.reader import blocks, kept, ooxml, worksheet
from sheetarray.sheets.excel.reader.formulas import FormulaCells
from sheetarray.sheets.excel.reader.raw import RawCells
from sheetarray.sheets.excel.reader.regular import regular_rows
from sheetarray.sheets.excel.reader.short import LONGEST, short_rows
from sheetarray.sheets.excel.reader.worksheet import parse_block, try_regular
from sheetarray.sheets.excel.workbook import Workbook

PAD = b" " * 64
VALUES = ["1", "-0.5", "1e-05", "2.2250738585072014E-308", "17", "0.1"]


def rows(count: int = 6, width: int = 3, *, first: int = 9, tag: str = "", cell: str = "", start: int = 0) -> list[str]:
    """Rows of numbers, the first of them row 9, so that the digits of row numbers grow."""
    made = []
    for row in range(first, first + count):
        cells = "".join(
            f'<c r="{column_letters(start + place)}{row}"{cell}><v>{VALUES[(row + place) % len(VALUES)]}</v></c>'
            for place in range(width)
        )
        made.append(f'<row r="{row}"{tag}>{cells}</row>')
    return made


def regular(text: str, *, numeric: bool = True) -> RawCells | None:
    result = regular_rows(text.encode() + PAD, numeric=numeric)
    return None if result is None else result.cells()


def by_the_rules(text: str, monkeypatch: pytest.MonkeyPatch, *, numeric: bool) -> RawCells:
    """The same cells, neither by the short way nor by that for regular blocks."""
    with monkeypatch.context() as patch, ThreadPoolExecutor(1) as thread:
        patch.setattr(worksheet, "LONGEST", -1)
        return parse_block(text.encode() + PAD, after=0, numeric=numeric, name="sheet1.xml", thread=thread)


def same(one: RawCells, other: RawCells) -> bool:
    arrays = ("rows", "columns", "types", "styles", "pending")
    alike = all((getattr(one, name) == getattr(other, name)).all() for name in arrays)
    return alike and one.values.equals(other.values) and one.after == other.after


@pytest.mark.parametrize("numeric", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"width": 1},
        {"width": 30},
        {"start": 24, "width": 4},
        {"start": 700, "width": 4},
        {"first": 1},
        {"start": 16_383, "width": 1},
        {"first": 98, "count": 905},
        {"count": 1},
        {"count": 2, "width": 300},
        {"first": 1_048_571},
        {"tag": ' spans="1:3"'},
        {"tag": ' spans="1:3" ht="15.75" x14ac:dyDescent="0.25"'},
        {"cell": ' s="3"'},
        {"cell": ' s="123456"'},
        {"cell": ' t="n"'},
        {"cell": ' s="4" t="n"', "count": 4},
        {"cell": ' s="12345" t="n"'},
        {"cell": ' t="n" s="1"'},
    ],
)
def test_regular_blocks_give_what_the_rules_give(
    options: dict[str, Any], numeric: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(rows(**options))
    cells = regular(text, numeric=numeric)
    assert cells is not None
    assert same(cells, by_the_rules(text, monkeypatch, numeric=numeric))
    assert cells.width == options.get("width", 3)


def mixed_rows(*cells: tuple[str, str], count: int = 6) -> str:
    """Rows of cells, each with what stands between its reference and its value, and what follows the value."""
    made = []
    for row in range(9, 9 + count):
        forms = [
            f'<c r="{column_letters(place)}{row}"{tail}{(row + place) % 2}{ends}'
            for place, (tail, ends) in enumerate(cells)
        ]
        made.append(f'<row r="{row}">{"".join(forms)}</row>')
    return "".join(made)


NUMBER, TRUTH, STRING = (">", "<v>"), (' t="b">', "<v>"), (' s="2" t="s">', "<v>")
INLINE_TEXT = ' t="inlineStr"><is><t>', "</t></is></c>"
KEPT_TEXT = ' t="inlineStr"><is><t xml:space="preserve"> a ', " </t></is></c>"


def number(tail: tuple[str, str]) -> tuple[str, str]:
    return "".join(tail), "</v></c>"


@pytest.mark.parametrize("numeric", [True, False])
@pytest.mark.parametrize(
    "cells",
    [
        [number(TRUTH)],
        [number(STRING)],
        [number(NUMBER), number(TRUTH), number(STRING), number(NUMBER)],
        [number(STRING)] * 30,
    ],
)
def test_rows_of_truth_values_and_shared_strings_are_regular(
    cells: list[tuple[str, str]], numeric: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = mixed_rows(*cells)
    made = regular(text, numeric=numeric)
    assert made is not None
    assert same(made, by_the_rules(text, monkeypatch, numeric=numeric))


@pytest.mark.parametrize(
    "cells",
    [
        [INLINE_TEXT],
        [KEPT_TEXT],
        [number(NUMBER), INLINE_TEXT, number(TRUTH), KEPT_TEXT, INLINE_TEXT, number(STRING)],
        [(INLINE_TEXT[0] + " a &lt;&#233; b_x000D__x005F_x0041_ ", INLINE_TEXT[1]), number(NUMBER)],
        [(KEPT_TEXT[0] + "&amp;&#10;", KEPT_TEXT[1]), INLINE_TEXT],
        [(INLINE_TEXT[0] + "&#10; ", INLINE_TEXT[1]), KEPT_TEXT],
        [number((' t="b" s="1">', "<v>")), (' s="12345" t="inlineStr"><is><t>é😀', "</t></is></c>")],
    ],
)
def test_rows_of_inline_strings_are_regular(cells: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    text = mixed_rows(*cells)
    made = regular(text, numeric=False)
    assert made is not None
    assert same(made, by_the_rules(text, monkeypatch, numeric=False))


OTHER_INLINE_STRINGS = [
    ("</t></is></c><c", "</t></iS></c><c"),
    ("</t></is></c><c", "</t></is> </c><c"),
    ("</t></is></c></row><row", "</t><is></c></row><row"),
    ("<is><t>1", '<is><t>"1'),
    ("<is><t>1", "<is><t>]]>"),
    ("<is><t>1", "<is><t>"),  # an empty text: other rules say what it is
    ("<is><t>1", "<is><u>1"),
    ('t="inlineStr"><is><t>1', 't="inlineStr"><v>1'),
    ('t="inlineStr"', 't="inlineStR"'),
    ('t="inlineStr"', 't="n" t="inlineStr"'),
    ("</t></is></c></row>", "</t></is></c><!----></row>"),
]


def test_inline_strings_of_another_form_make_a_block_irregular() -> None:
    text = mixed_rows(number(NUMBER), INLINE_TEXT, INLINE_TEXT)
    assert regular(text, numeric=False) is not None
    wrong = []
    for (old, new), at in product(OTHER_INLINE_STRINGS, [1, 3, 5]):
        pieces = text.split(old)
        place = min(at, len(pieces) - 1)
        assert place
        if regular(old.join(pieces[:place]) + new + old.join(pieces[place:]), numeric=False) is not None:
            wrong.append((old, new, at))
    assert wrong == []


@pytest.mark.parametrize("numeric", [True, False])
@pytest.mark.parametrize("row", [9, 11, 14])
def test_a_value_that_is_empty_does_not_give_its_place_to_the_next_one(row: int, numeric: bool) -> None:
    text = mixed_rows(*[number(NUMBER)] * 3)
    for value in "01":
        text = text.replace(f'<c r="B{row}"><v>{value}</v>', f'<c r="B{row}"><v></v>')
    assert regular(text, numeric=numeric) is None


def test_a_first_row_of_two_types_for_a_cell_is_none_to_compare_with() -> None:
    for tail in (' t="n" t="s"><v>', ' t="s" t="n"><v>', ' t="s"><is><t>', ' t="inlineStr"><v>'):
        ends = "</t></is></c>" if "<t>" in tail else "</v></c>"
        assert regular(mixed_rows((tail, ends)), numeric=False) is None


GOOD = "".join(rows())


DIFFERENCES = [
    ('<row r="11"', '<row r="12"'),  # a row that is left out, or comes twice
    ('<c r="B12"', '<c r="C12"'),
    ('<c r="B12"', '<c r="B11"'),
    ('<c r="B12"', '<c r="1B2"'),
    ('<c r="B12"', '<c r="b12"'),
    ('<c r="B12">', '<c r="B12" t="s">'),
    ('<c r="B12">', '<c r="B12" t="inlineStr">'),
    ('<c r="B12">', '<d r="B12">'),
    ('<c r="B12"><v>', '<c r="B12"><w>'),
    ('<c r="B12"><v>', '<c r="B12"><v>x'),
    ('<c r="B12"><v>', '<c r="B12"><v>1</v><v>'),
    ('<c r="B12"><v>', '<c r="B12"><v>1><v'),
    ('<c r="B12"><v>', '<c r="B12"><v>1>'),
    ('<c r="B12">', '<c r="B12"/><c r="B12">'),
    ('</v></c><c r="B12"', '</v></d><c r="B12"'),
    ('</v></c><c r="B12"', '</w></c><c r="B12"'),
    ('</v></c><c r="B12"', '</v>5</c><c r="B12"'),
    ('</v></c><c r="B12"', '</v></c> <c r="B12"'),
    ('</v></c></row><row r="12">', '</v></c></row> <row r="12">'),
    ('</v></c></row><row r="12">', '</v></c></rows><row r="12">'),
    ('</v></c></row><row r="12">', '</w></c></row><row r="12">'),
    ('<row r="12">', '<row r="12" hidden="1">'),
    ('<row r="12">', '<row s="12">'),
    ('<row r="12"><c', '<row r="12">7<c'),
    ('<row r="14">', '<row r="14"/>'),
]


def test_a_block_that_differs_anywhere_is_not_regular() -> None:
    assert all(old in GOOD for old, _ in DIFFERENCES)
    assert [(old, new) for old, new in DIFFERENCES if regular(GOOD.replace(old, new, 1)) is not None] == []


OTHER_BLOCKS = [
    "".join(rows(1)).replace("</row>", '<c r="A9"><v>1</v></c>' * 16_384 + "</row>"),  # more cells than columns
    "".join(rows(6, first=1_048_572)),  # beyond the last row
    "".join(rows(start=16_382)),  # and column
    GOOD.removesuffix("</row>"),
    GOOD + "x",
    GOOD + "<row/>",
    "".join(rows(cell=' s="1234567"')),
    "".join(rows(tag=f' x="{"y" * 300}"')),
    GOOD.replace("<v>", "<v>&#49;"),
    GOOD.replace("</v></c></row>", "</v></c><c/></row>"),
    "",
]


def test_other_blocks_are_not_regular() -> None:
    assert [text[:200] for text in OTHER_BLOCKS if regular(text) is not None] == []


def test_two_values_and_none_do_not_make_up_for_each_other() -> None:
    harmed = GOOD.replace('<c r="A12"><v>', '<c r="A12"><v>8</v><v>').replace(
        '<c r="B12"><v>-0.5</v>', '<c r="B12">', 1
    )
    assert regular(harmed) is None
    harmed = GOOD.replace('<c r="B12"><v>-0.5<', '<c r="B12"><v><')
    assert harmed != GOOD
    assert regular(harmed) is None


def test_any_byte_changed_gives_the_same_or_no_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    text = bytearray(GOOD.encode())
    regulars = 0
    for place in range(len(text)):
        harmed = bytearray(text)
        harmed[place] = int(rng.choice(list(b'<>"/ 019.vcerow')))
        cells = regular(harmed.decode())
        if cells is not None:
            regulars += 1
            assert same(cells, by_the_rules(harmed.decode(), monkeypatch, numeric=True)), harmed
    assert regulars > 30  # another digit of a value


# Short blocks --------------------------------------------------------------------------------------------------

SHORT = (
    '<row r="2" spans="1:9"><c r="A2" t="inlineStr"><is><t>version</t></is></c><c r="B2"><v>1.50</v></c>'
    '<c r="C2" t="b"><v>1</v></c><c r="D2" s="7"/><c r="E2" s="2"></c><c r="F2" t="s"><v>0</v></c>'
    '<c r="G2" t="str"><v></v></c><c r="H2" t="inlineStr"><is><t xml:space="preserve"> a </t></is></c>'
    '<c r="XFD2" t="e"><v>#N/A</v></c></row><row r="4"/><row r="7"></row>'
)


@pytest.mark.parametrize("text", [SHORT, SHORT + GOOD, GOOD])
def test_short_blocks_give_what_the_rules_give(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = short_rows(text.encode() + PAD)
    assert cells is not None
    assert same(cells, by_the_rules(text, monkeypatch, numeric=False))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"version"', '"x"'),
        ("version<", "ver&#115;ion<"),
        ("version<", "_x0041_<"),
        ("version<", " version<"),
        ('r="B2"', 'r="B3"'),
        ('r="B2"', 'r="b2"'),
        ('<c r="B2">', "<c>"),
        ('t="b"', 't="q"'),
        ("XFD2", "XFE2"),
        ('<row r="7">', '<row r="1048577">'),
        ('<row r="7"></row>', '<row r="7">'),
        ('<row r="4"/>', "</row>"),
        ("<v>1.50</v>", "<v>1.50</v><v/>"),
        ("<v>1.50</v>", "<f>1+1</f><v>2</v>"),
        ('t="str"', 't="inlineStr"'),
    ],
)
def test_short_blocks_of_other_forms_are_none_of_its_business(old: str, new: str) -> None:
    text = SHORT.replace('t="inlineStr"><is><t>version', 't="inlineStr"><is><t>version', 1)
    if old == '"version"':
        text, old, new = text + "<x/>", "<x/>", "<y/>"
    assert old in text
    assert short_rows(text.replace(old, new, 1).encode() + PAD) is None


# Passes --------------------------------------------------------------------------------------------------------


@pytest.fixture
def inflations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The worksheets that are inflated, each time that one is."""
    parts: list[str] = []

    def counted(package: Any, name: str) -> Any:
        parts.append(name)
        return blocks.inflate_blocks(package, name)

    monkeypatch.setattr(kept, "inflate_blocks", counted)
    return parts


def book(**arrays: np.ndarray[Any, Any]) -> io.BytesIO:
    file = io.BytesIO()
    sa.write(file, arrays, format="xlsx")
    file.seek(0)
    return file


def doubles(count: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(7).standard_normal(count)


@pytest.mark.parametrize("count", [5, 2_000, 60_000])
def test_a_workbook_is_inflated_once(count: int, inflations: list[str]) -> None:
    arrays = {"x": doubles(count), "y": np.arange(count), "z": doubles(count // 2)}
    file = book(**arrays)
    for name, array in sa.read(file, format="xlsx").items():
        assert array.tobytes() == arrays[name].tobytes()
    assert inflations == ["xl/worksheets/sheet1.xml"]
    inflations.clear()
    file.seek(0)
    assert list(sa.check(file, format="xlsx")) == []
    assert len(inflations) <= 2  # the second time for composites, which are asked for by themselves


def test_a_table_is_inflated_once(inflations: list[str]) -> None:
    from xlsxwriter import Workbook

    values = doubles(40_000).reshape(-1, 4)
    values[7, 1], values[9_000, 2] = -0.0, 2.0**60
    file = io.BytesIO()
    with Workbook(file, {"in_memory": True}) as workbook:
        sheet = workbook.add_worksheet()
        sheet.write_row(0, 0, ["a", "b", "c", "d"])
        for number, row in enumerate(values.tolist(), 1):
            sheet.write_row(number, 0, row)
        sheet.write(9_999, 3, "text")
    file.seek(0)
    columns = sa.read_columns(file, format="xlsx")
    assert inflations == ["xl/worksheets/sheet1.xml"]
    assert np.signbit(columns["b"][7])
    assert columns["a"].dtype == columns["b"].dtype == columns["c"].dtype == float
    assert np.allclose(columns["a"], values[:, 0], rtol=1e-15)
    assert columns["d"].dtype.kind in "UT"
    assert columns["d"][9_998] == "text"
    assert float(columns["d"][0]) == pytest.approx(values[0, 3], rel=1e-15)


@pytest.mark.parametrize(("room", "passes"), [("bytes", 3), ("numbers", 3)])
def test_what_does_not_fit_is_inflated_again(
    room: str, passes: int, inflations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    array = doubles(60_000)
    file = book(x=array)
    monkeypatch.setattr(ooxml, "Room", lambda: kept.Room(**{room: 100}))
    assert sa.read(file, format="xlsx")["x"].tobytes() == array.tobytes()
    assert len(inflations) == passes


def test_a_damaged_part_is_refused_though_all_of_it_was_read_already() -> None:
    content = bytearray(book(x=doubles(60_000)).getvalue())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        place = archive.getinfo("xl/worksheets/sheet1.xml").header_offset + 300_000
    content[place : place + 8] = bytes(8)
    for function in (sa.read, partial(sa.scan, thorough=True)):
        with pytest.raises(sa.FormatError, match=r"damaged|checksum|XML|breaks off|ends|inflates to more"):
            function(io.BytesIO(content), format="xlsx")


def test_room_is_given_back() -> None:
    room = kept.Room(bytes=10, numbers=10)
    some = [kept.RowBlock(b"x" * 4, None), kept.RowBlock(b"x" * 6, None)]
    assert all(map(room.take, some))
    assert not room.take(kept.RowBlock(b"x", None))
    room.reclaim([*some, kept.RowBlock(b"x", None)])
    assert room == kept.Room(bytes=10, numbers=10)


def test_blocks_at_the_bound_are_short_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(block: bytes) -> RawCells | None:
        calls.append(len(block))
        return short_rows(block)

    monkeypatch.setattr(worksheet, "short_rows", counted)
    with ThreadPoolExecutor(1) as thread:
        for length in (LONGEST - 1, LONGEST, LONGEST + 1):
            block = (GOOD + " " * (length - len(GOOD))).encode()
            assert len(parse_block(block, after=0, numeric=False, name="", thread=thread)) == 18
    assert calls == [LONGEST - 1, LONGEST]


@pytest.mark.parametrize("numeric", [False, True])
def test_blocks_of_numbers_beyond_a_bound_are_regular(numeric: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def noted(block: bytes, **options: Any) -> Any:
        taken.append(len(block))
        return regular_rows(block, **options)

    monkeypatch.setattr(worksheet, "regular_rows", noted)
    bound = worksheet._SHORTEST_REGULAR
    for length in (bound - 1, bound, bound + 1):
        rows_ = try_regular((GOOD + " " * (length - len(GOOD))).encode(), numeric=numeric)
        assert rows_ is None or len(rows_.cells()) == 18
    assert taken == ([bound - 1, bound, bound + 1] if numeric else [bound + 1])


def test_a_short_part_at_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    content = book(x=doubles(10)).getvalue()
    size = zipfile.ZipFile(io.BytesIO(content)).getinfo("xl/worksheets/sheet1.xml").file_size
    for bound, is_short in ((size - 1, False), (size, True), (size + 1, True)):
        monkeypatch.setattr(kept, "SHORT", bound)
        package = ooxml.Package(Source(io.BytesIO(content)).whole())
        assert kept.SheetBlocks(package, "xl/worksheets/sheet1.xml", kept.Room()).is_short is is_short


@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize(("row", "is_known"), [(1_048_575, True), (1_048_576, True), (1_048_577, False)])
def test_no_row_of_a_short_block_lies_beyond_the_last_one(row: int, is_known: bool, place: str) -> None:
    far = b'<row r="%d"><c r="A%d"><v>1</v></c></row>' % (row, row)
    near = b'<row r="1"><c r="A1"><v>1</v></c></row>'
    assert (short_rows(far + near if place == "first" else near + far) is not None) is is_known


@pytest.mark.parametrize("room", ["enough", "too little"])
def test_headers_of_many_arrays_are_taken_apart_once(room: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[bytes] = []

    def noted(block: bytes, **options: Any) -> RawCells:
        taken.append(block)
        return parse_block(block, **options)

    monkeypatch.setattr(ooxml, "parse_block", noted)
    monkeypatch.setattr(kept, "SHORT", 0)
    if room == "too little":
        monkeypatch.setattr(kept.Room, "take_cells", lambda self, count: False)
    arrays = {f"a{index}": doubles(10) for index in range(700)}  # three batches of headers
    file = book(**arrays)
    assert list(sa.scan(file, format="xlsx", thorough=True)) == list(arrays)
    assert max(Counter(taken).values()) == {"enough": 1, "too little": 2}[room]  # for words, and for three batches
    file.seek(0)
    read = sa.read(file, format="xlsx")
    assert all(read[name].tobytes() == array.tobytes() for name, array in arrays.items())


def test_rows_that_are_asked_for_again_are_kept_up_to_a_number_of_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    with Source(book(a=doubles(5))) as source, Workbook(source) as opened:
        sheet = opened.sheet("arrays")
        cells = sheet.cells_of_rows([(0, 20)])
        assert sheet.cells_of_rows([(5, 20), (0, 6)]) is cells
        assert sheet.cells_of_rows([(0, 19)]) is not cells
        for most, is_kept in ((len(cells) - 1, False), (len(cells), True), (len(cells) + 1, True)):
            monkeypatch.setattr(sheet_runs, "MOST_CELLS", most)
            sheet.formulas = FormulaCells()  # whoever asks for formulas has them noted
            again = sheet.cells_of_rows([(0, 20)])
            assert again is not cells
            assert (sheet.cells_of_rows([(0, 20)]) is again) == is_kept


def test_room_for_cells_has_a_bound() -> None:
    room = kept.Room()
    assert room.take_cells(kept.MOST_CELLS - 1)
    assert not room.take_cells(2)
    assert room.take_cells(1)
    assert not room.take_cells(1)
    assert room.take_cells(0)


# Blocks in threads -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize("count", [0, 1, blocks._THREADS - 1, blocks._THREADS, blocks._THREADS + 1, 9])
def test_what_stands_before_an_error_is_yielded_first(count: int, ahead: bool) -> None:
    def items() -> Iterator[int]:
        yield from range(count)
        raise sa.FormatError("the part breaks off")

    yielded: list[tuple[int, int]] = []
    with pytest.raises(sa.FormatError, match="breaks off"):
        yielded.extend(blocks.map_ahead(lambda item: item * item, items(), ahead=ahead))
    wanted = [(item, item * item) for item in range(count)]
    assert list(blocks.map_ahead(lambda item: item * item, iter(range(count)), ahead=ahead)) == wanted

    def refuse(item: int) -> int:
        if item == 2:
            raise sa.FormatError("the third")
        return item

    taken: list[int] = []
    with pytest.raises(sa.FormatError, match="the third" if count > 2 else "breaks off"):
        taken.extend(item for item, _ in blocks.map_ahead(refuse, items(), ahead=ahead))
    assert taken == list(range(min(count, 2)))
