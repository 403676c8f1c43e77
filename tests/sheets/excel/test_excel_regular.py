"""Rows that are alike: what is read by comparing bytes is what an XML parser reads, or is left to the parser."""

from __future__ import annotations

import random

import pytest
from examples import examples

from sheetarray.errors import FormatError
from sheetarray.sheets.excel.reader.raw import RawCells
from sheetarray.sheets.excel.reader.regular import ANY, VALUES, regular_rows
from sheetarray.sheets.excel.reader.row_events import parse_rows

PAD = b" " * 64
COLUMNS = (["A"], ["A", "B"], ["C", "AA", "AB"], ["A", "B", "Y", "Z", "AA", "ZZ", "AAA"])
FIRST_ROWS = (1, 5, 8, 9, 95, 99, 998, 9995, 99990, 999990, 1048560)
ATTRIBUTES = (b"", b' spans="1:3"', b' spans="1:16" x14ac:dyDescent="0.25"')
OF_CELLS = (b"", b' t="n"', b' s="1"', b' s="12" t="b"', b' t="s"')
UNITS = b'0123456789<>/="vcr A.-+eE\x01\n&'


def write_rows(numbers: list[int], columns: list[str], values: list[list[str]], tags: list[bytes], row: bytes) -> bytes:
    """Return rows as XML, with the same attributes of cells in each."""
    lines = []
    for number, texts in zip(numbers, values, strict=True):
        cells = []
        for column, text, tag in zip(columns, texts, tags, strict=True):
            inner = b"<is><t>%s</t></is>" if b"inlineStr" in tag else b"<v>%s</v>"
            cells.append(b'<c r="%s%d"%s>%s</c>' % (column.encode(), number, tag, inner % text.encode()))
        lines.append(b'<row r="%d"%s>%s</row>' % (number, row, b"".join(cells)))
    return b"".join(lines)


def random_value(drawn: random.Random, tag: bytes) -> str:
    if b"inlineStr" in tag:
        return drawn.choice(["a", "b=c", "hello &amp; x"])
    if b'"b"' in tag or b'"s"' in tag:
        return drawn.choice("01")
    return drawn.choice(["1", "-5", repr(drawn.random()), repr(drawn.gauss(0, 1) * 10.0 ** drawn.randint(-300, 300))])


def random_block(drawn: random.Random) -> bytes:
    columns, first = drawn.choice(COLUMNS), drawn.choice(FIRST_ROWS)
    tags = [drawn.choice(OF_CELLS) for _ in columns]
    if drawn.random() < 0.2:
        tags[drawn.randrange(len(tags))] = b' t="inlineStr"'
    numbers = list(range(first, first + drawn.randint(1, 14)))
    values = [[random_value(drawn, tag) for tag in tags] for _ in numbers]
    return write_rows(numbers, columns, values, tags, drawn.choice(ATTRIBUTES))


def damage(drawn: random.Random, block: bytes) -> bytes:
    """Return a block in which a byte was changed, taken out or put in, or some stand twice."""
    units, place, kind = bytearray(block), drawn.randrange(len(block)), drawn.randrange(4)
    if kind == 0:
        units[place] = drawn.choice(UNITS)
    elif kind == 1:
        del units[place]
    elif kind == 2:
        units.insert(place, drawn.choice(UNITS))
    else:
        units[place:place] = units[(start := drawn.randrange(len(block))) : start + drawn.randint(1, 30)]
    return bytes(units)


def contents(cells: RawCells, *, numeric: bool) -> list[tuple[object, ...]]:
    values = [float(value) for value in cells.values] if numeric else list(cells.values)
    places = cells.rows.tolist(), cells.columns.tolist(), cells.types.tolist(), cells.styles.tolist()
    return list(zip(*places, values, strict=True))


def compare_with_parser(block: bytes, *, numeric: bool) -> bool:
    """Hold a block against what the parser reads; return whether it is regular."""
    try:
        regular = regular_rows(block + PAD, numeric=numeric, types=VALUES if numeric else ANY)
    except FormatError:  # an entity that XML does not have
        with pytest.raises(FormatError):
            parse_rows(block + PAD, after=0, numeric=False, name="sheet1.xml")
        return False
    if regular is None:
        return False
    parsed = parse_rows(block + PAD, after=0, numeric=False, name="sheet1.xml")
    assert contents(regular.cells(), numeric=numeric) == contents(parsed, numeric=numeric), block
    return True


def test_a_damaged_block_is_what_the_parser_reads_or_none() -> None:
    drawn = random.Random(20261123)
    regular = 0
    for _ in range(examples(4000)):
        block = random_block(drawn)
        for _ in range(drawn.choice((0, 1, 1, 2))):
            block = damage(drawn, block)
        regular += compare_with_parser(block, numeric=drawn.random() < 0.6)
    assert regular > examples(400)


@pytest.mark.parametrize("columns", COLUMNS, ids=len)
def test_row_numbers_of_another_length_are_read_in_one_block(columns: list[str]) -> None:
    for last in (9, 99, 999, 9_999, 99_999, 999_999):
        numbers = list(range(max(last - 2, 1), last + 3))
        values = [[repr(number / 7) for _ in columns] for number in numbers]
        block = write_rows(numbers, columns, values, [b""] * len(columns), b"")
        assert compare_with_parser(block, numeric=True)
        for wrong in (last, last + 1):  # a row that says another number, and a cell that does
            for tag in (b'<row r="%d"', b'<c r="A%d"' if columns[0] == "A" else b'<c r="C%d"'):
                other = block.replace(tag % wrong, tag % (wrong + 10))
                assert other != block
                assert regular_rows(other + PAD, numeric=True) is None


@pytest.mark.parametrize("length", [1, 2, 21, 45, 46, 47, 60])
def test_numbers_of_any_length_are_read(length: int) -> None:
    values = [["1"], ["1" * length], ["-5"]]
    assert compare_with_parser(write_rows([7, 8, 9], ["B"], values, [b""], b""), numeric=True)


@pytest.mark.parametrize("inside", [b"<b/>", b"</v><v>", b"=", b"\x01", b"<!--2-->", b""])
def test_a_number_with_anything_else_in_it_is_left_to_the_parser(inside: bytes) -> None:
    block = write_rows([7, 8, 9], ["A", "B"], [["1", "2"], ["3", "44"], ["5", "6"]], [b"", b""], b"")
    middle = b"4" + inside + b"4" if inside else b""
    assert regular_rows(block.replace(b"44", middle) + PAD, numeric=True) is None


def test_rows_of_more_cells_than_are_compared_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sheetarray.sheets.excel.reader.row_comparison._COMPARED_AT_ONCE", 100)
    numbers = list(range(96, 104))
    values = [[repr(number / 3), str(number)] for number in numbers]
    assert compare_with_parser(write_rows(numbers, ["Z", "AA"], values, [b' s="3"', b""], b""), numeric=True)
