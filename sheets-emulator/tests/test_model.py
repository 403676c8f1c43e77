"""The Google Sheets emulator beside a model that is a plain table, under every mixture of requests."""

from __future__ import annotations

from typing import Any

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from sheets_asking import Sheets, ask

from sheets_emulator import SheetsServer
from sheets_emulator.grid import Layer
from sheets_emulator.ranges import GridArea, Span, column_letters, column_number, format_range, split
from sheets_emulator.references import cells_span

Table = list[list[Any]]  # rows of equal length, None for a blank

CELLS = st.one_of(
    st.none(),
    st.just(""),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=3),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number or 0.0),
    st.integers(-(2**53), 2**53),
)
BLOCKS = st.lists(st.lists(CELLS, max_size=4), max_size=4)
PLACES = st.tuples(st.integers(0, 6), st.integers(0, 5))
AREAS = st.tuples(st.integers(0, 6), st.integers(1, 4), st.integers(0, 5), st.integers(1, 4))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), PLACES, BLOCKS, st.sampled_from(["ROWS", "COLUMNS"])),
        st.tuples(st.just("clear"), AREAS),
        st.tuples(st.just("insert"), st.sampled_from(["ROWS", "COLUMNS"]), st.integers(0, 7), st.integers(1, 2)),
        st.tuples(st.just("delete"), st.sampled_from(["ROWS", "COLUMNS"]), st.integers(0, 7), st.integers(1, 2)),
        st.tuples(st.just("resize"), st.integers(1, 8), st.integers(1, 7)),
        st.tuples(st.just("copy"), AREAS, PLACES),
    ),
    max_size=8,
)


class Model:
    """What a sheet is, said as simply as can be; a method answers whether the service must refuse."""

    def __init__(self, rows: int, columns: int) -> None:
        self.table: Table = [[None] * columns for _ in range(rows)]

    @property
    def size(self) -> tuple[int, int]:
        return len(self.table), len(self.table[0])

    def put(self, place: tuple[int, int], block: Table, dimension: str) -> bool:
        cells = {(down, right): cell for down, line in enumerate(block) for right, cell in enumerate(line)}
        height, width = len(block), max(map(len, block), default=0)
        if dimension == "COLUMNS":
            cells = {(down, right): cell for (right, down), cell in cells.items()}
            height, width = width, height
        rows, columns = self.size
        if place[0] >= rows or place[1] >= columns:
            return True
        if width == 0 or height == 0:  # nothing to write, however many empty lines
            height = width = 0
        if place[0] + height > rows or place[1] + width > columns:
            return True
        for (down, right), cell in cells.items():
            if cell is not None:
                self.table[place[0] + down][place[1] + right] = None if cell == "" else cell
        return False

    def clear(self, area: tuple[int, int, int, int]) -> bool:
        top, height, left, width = area
        if top >= self.size[0] or left >= self.size[1]:
            return True
        for line in self.table[top : top + height]:
            line[left : left + width] = [None] * len(line[left : left + width])
        return False

    def insert(self, dimension: str, at: int, count: int) -> bool:
        if at >= self.size[dimension == "COLUMNS"]:
            return True
        if dimension == "ROWS":
            self.table[at:at] = [[None] * self.size[1] for _ in range(count)]
        else:
            for line in self.table:
                line[at:at] = [None] * count
        return False

    def delete(self, dimension: str, at: int, count: int) -> bool:
        size = self.size[dimension == "COLUMNS"]
        if at + count > size or count == size:
            return True
        if dimension == "ROWS":
            del self.table[at : at + count]
        else:
            for line in self.table:
                del line[at : at + count]
        return False

    def resize(self, rows: int, columns: int) -> bool:
        wide = [(line + [None] * columns)[:columns] for line in self.table]
        self.table = (wide + [[None] * columns for _ in range(rows)])[:rows]
        return False

    def copy(self, area: tuple[int, int, int, int], place: tuple[int, int]) -> bool:
        top, height, left, width = area
        rows, columns = self.size
        if top >= rows or left >= columns or place[0] >= rows or place[1] >= columns:
            return True
        block = [line[left : left + width] for line in self.table[top : top + height]]
        if place[0] + len(block) > rows or place[1] + len(block[0]) > columns:
            return True
        for down, line in enumerate(block):
            self.table[place[0] + down][place[1] : place[1] + len(line)] = line
        return False

    def values(self) -> Table:
        lines = [["" if cell is None else cell for cell in line] for line in self.table]
        return trimmed([trimmed(line, "") for line in lines], [])


def trimmed(items: list[Any], blank: Any) -> list[Any]:
    while items and isinstance(items[-1], type(blank)) and items[-1] == blank:
        items.pop()
    return items


def asked(sheets: Sheets, step: tuple[Any, ...]) -> int:
    """The status with which a step is answered."""
    kind, *given = step
    if kind == "put":
        place, block, dimension = given
        text = f"S!{column_letters(place[1])}{place[0] + 1}"
        return sheets.put_raw(text, {"values": block, "majorDimension": dimension}, valueInputOption="RAW")[0]
    if kind == "clear":
        top, height, left, width = given[0]
        text = format_range("S", GridArea(top, top + height, left, left + width))
        return ask(sheets.server, "POST", f"/{sheets.key}/values/{text}:clear")[0]
    request: dict[str, Any]
    if kind in ("insert", "delete"):
        dimension, at, count = given
        span = {"sheetId": 0, "dimension": dimension, "startIndex": at, "endIndex": at + count}
        request = {f"{kind}Dimension": {"range": span}}
    elif kind == "resize":
        grid = {"rowCount": given[0], "columnCount": given[1]}
        request = {"updateSheetProperties": {"properties": {"gridProperties": grid}, "fields": "gridProperties"}}
    else:
        (top, height, left, width), (down, right) = given
        source = Span(top, top + height, left, left + width).json(0)
        request = {"copyPaste": {"source": source, "destination": Span(down, down + 1, right, right + 1).json(0)}}
    return ask(sheets.server, "POST", f"/{sheets.key}:batchUpdate", {"requests": [request]})[0]


def exact(table: Table) -> Table:
    """Numbers as doubles, and booleans that are no numbers."""
    return [[repr(cell) if isinstance(cell, (bool, str)) else float(cell) for cell in line] for line in table]


@settings(max_examples=examples(150), deadline=None)
@given(steps=STEPS)
def test_the_emulator_does_what_a_plain_table_does(server: SheetsServer, steps: list[tuple[Any, ...]]) -> None:
    sheets, model = Sheets(server, ("S", 6, 5)), Model(6, 5)
    for step in steps:
        refused = getattr(model, step[0])(*step[1:])
        assert asked(sheets, step) == (400 if refused else 200), step
        answer = sheets.get("S", valueRenderOption="UNFORMATTED_VALUE")
        assert answer["range"] == format_range("S", GridArea(0, model.size[0], 0, model.size[1]))
        assert exact(answer.get("values", [])) == exact(model.values())


@given(
    puts=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.sampled_from([None, "a", "b"])), max_size=12),
    moves=st.lists(st.tuples(st.booleans(), st.integers(0, 25), st.integers(1, 5)), max_size=4),
)
def test_a_layer_is_lists_of_contents(
    puts: list[tuple[int, int, str | None]], moves: list[tuple[bool, int, int]]
) -> None:
    layer: Layer[str] = Layer()
    plain: list[str | None] = [None] * 60
    for start, stop, value in puts:
        contents = [value] * max(0, stop - start)
        layer.write(1, start, contents)
        plain[start : start + len(contents)] = contents
    for inserts, at, count in moves:
        if inserts:
            layer.insert_rows(at, count)
            plain[at:at] = [None] * count
        else:
            layer.delete_rows(at, at + count)
            del plain[at : at + count]
    assert [layer.at(row, 1) for row in range(40)] == plain[:40]
    part = layer.column(1, 3, 30)
    assert part + [None] * (27 - len(part)) == plain[3:30]
    assert not part or part[-1] is not None


@given(st.text(max_size=8), st.integers(0, 999), st.integers(1, 50), st.integers(0, 18_000), st.integers(1, 200))
def test_a_range_that_is_written_is_read_again(title: str, top: int, height: int, left: int, width: int) -> None:
    area = GridArea(top, top + height, left, left + width)
    result, cells, _ = split(format_range(title, area))
    assert result == title
    assert cells is not None
    assert cells_span(cells) == Span(*area)


@given(st.integers(0, 18_277))
def test_columns_have_their_letters(column: int) -> None:
    assert column_number(column_letters(column)) == column
