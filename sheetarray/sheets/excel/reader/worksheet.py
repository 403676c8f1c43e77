"""The rows of a worksheet: read block by block, and kept for the next pass over them if there is room for all of them.

A reader of arrays goes over the cells of a sheet three times: for the words of headers, for the headers, and for the
elements. The XML is read once, unless it is large.

Source: ECMA-376 part 1, 18.3.1.73 (row), 18.3.1.4 (c).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....columns import cell_address
from ....columns.grid import column_number
from ....errors import FormatError
from ....loops import scan
from ...workbooks import MOST_COLUMNS, MOST_ROWS
from ...xml_texts import without_escapes
from ..package.package import Package
from .cell_order import OrderCheck
from .cells import ALL_ROWS, BOOLEAN, LONGEST_TEXT, NUMBER, TEXT, CellRun
from .parsing import part_blocks
from .plain_rows import scan_numbers
from .raw_cells import (
    TYPES,
    ParsedCell,
    cells_of_loop,
    cells_of_parser,
    position_error,
    too_many_cells_error,
)
from .xml_elements import PartParser, StringItem

SHORT = 2**19  # bytes of a part for which no second thread is started
_MOST_BYTES = 2**28  # of all that is kept of a workbook, if it is numbers alone
MOST_IN_ROWS = 2_000_000  # elements of one worksheet that the XML parser reads beside the loop
SHORT_FORMULA = 200  # bytes of a formula whose text is kept
_REFERENCE = re.compile("([A-Za-z]{1,3})([0-9]{1,7})")
_ROW = re.compile("[0-9]{1,7}")
_TAGS = ("sheetData", "row", "c", "v", "f", "is", "t", "r")


@dataclass
class Room:
    """The room that is left in a workbook.

    Attributes:
        cells: of its worksheets that may still be read; text counts as two.
        left: bytes of numbers alone that may still be kept, of which other cells take four.
    """

    cells: int
    left: int = _MOST_BYTES


@dataclass(frozen=True)
class NumberRows:
    """Rows of numbers alone, all with cells in the same columns, in less memory than a run.

    Attributes:
        first: the first cell of each row, and the cells of the first row, of which all others have kinds and styles.
        rows: of the first cell of each row.
    """

    first: CellRun
    rows: Any
    numbers: Any

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def cost(self) -> int:
        """The room that the cells take where they are kept."""
        return 8 * len(self.numbers)

    def widen(self) -> CellRun:
        """Return the cells."""
        width, count = len(self.first), len(self.rows)
        first = self.first
        columns, kinds = np.tile(first.columns, count), np.tile(first.kinds, count)
        styles = None if first.styles is None else np.tile(first.styles, count)
        return CellRun(np.repeat(self.rows, width), columns, kinds, self.numbers, None, width, styles=styles)


class SheetRows:
    """The rows of one worksheet.

    `room`: that is left in the workbook for cells that are kept.

    Attributes:
        is_short: whether the part has at most `SHORT` bytes.
    """

    def __init__(self, package: Package, part: str, room: Room) -> None:
        self._package, self._part, self._room = package, part, room
        self._kept: list[CellRun | NumberRows] | None = None
        self._counted = 0  # the weight of the cells in the pass that read most of them
        self.is_short = package.member(part).size <= SHORT if part in package else True

    def blocks(self, *, spans: Sequence[tuple[int, int]] = ALL_ROWS, numbers_alone: bool = False) -> Generator[CellRun]:
        """Yield the cells, block by block, and keep them if there is room for all of them.

        `spans`: of rows whose numbers may be asked for as texts; other rows of numbers alone may have no texts.
        """
        short = [block for block in self._kept or () if isinstance(block, NumberRows)]
        if self._kept is not None and not any(
            first <= block.rows[-1] and block.rows[0] < end for block in short for first, end in spans
        ):
            for block in self._kept:
                yield block.widen() if isinstance(block, NumberRows) else block
            return
        self._room.left += sum([block.cost for block in self._kept or ()])
        self._kept = None
        order, rows, taken, weight = OrderCheck(), _Rows(self._part), 0, 0
        read: list[CellRun | NumberRows] | None = []
        try:
            blocks = part_blocks(self._package, self._part, SHORT)
            for block in rows.read(blocks, self._part, most=MOST_IN_ROWS):
                if not len(block):
                    continue
                order.check(block)
                weight += block.weigh()
                self.count_cells(weight)
                if read is not None:
                    read.append((_numbers_of(block) if numbers_alone and not self.is_short else None) or block)
                    cost = read[-1].cost
                    taken += cost
                    self._room.left -= cost
                    if self._room.left < 0:
                        self._room.left += taken
                        read, taken = None, 0
                yield block
            if rows.space is None:
                raise FormatError("the part has no sheetData", location=self._part)
            self._kept, taken = read, 0
        finally:
            self._room.left += taken  # of a sheet that was read in part

    def count_cells(self, weight: int) -> None:
        """Count the cells that a pass over the worksheet has read so far; those of an earlier pass count once.

        `weight`: of these cells (`CellRun.weigh`).

        Raises:
            FormatError: the worksheets have more cells than there is room for.
        """
        self._room.cells -= max(0, weight - self._counted)
        self._counted = max(weight, self._counted)
        if self._room.cells < 0:
            raise too_many_cells_error(self._part)


def _numbers_of(block: CellRun) -> NumberRows | None:
    """Return a block as numbers; None if it has anything but regular rows of numbers."""
    width = block.width
    if not width or block.formulas is not None or not _is_alike(block.kinds, width):
        return None
    if not np.isin(block.kinds[:width], (NUMBER, BOOLEAN)).all() or not _is_alike(block.styles, width):
        return None
    if not block.mark_plain().all():
        return None
    row = replace(block, values=None).gather(np.arange(width))
    return NumberRows(row, block.rows[::width].copy(), block.numbers)


def _is_alike(items: Any, width: int) -> bool:
    return bool((items[width:] == items[:-width]).all())


class _Rows(PartParser[CellRun]):
    """Takes the rows of a worksheet from the XML parser. `begin` and `end` are called for each tag."""

    tag = "row"

    def __init__(self, part: str) -> None:
        super().__init__()
        self._part = part
        self.row, self._column, self._in_row = -1, -1, 0
        self._cell: dict[str, str] = {}
        self._value: list[str] | None = None
        self._formula: list[str] | None = None
        self._string = StringItem()
        self._cells: list[ParsedCell] = []
        self._formulas: list[tuple[int, str]] = []  # the index of a cell, and its formula if it is short and its own
        self._whole = 0, 0  # cells and formulas of whole rows

    def are_between(self) -> bool:
        return len(self.open) == 2 and self.space is not None

    def scan(self, text: bytes, start: int, prefix: bytes, prefixes: bytes) -> tuple[CellRun, int]:
        """Return the cells of whole rows by the compiled loop, and the byte after the last row."""
        end, after, cells, texts, formulas, _ = scan.scan_rows(text, start, prefix, prefixes, self.row + 1, MOST_ROWS)
        self.row = after - 1
        return cells_of_loop(cells, texts, formulas, end - start, has_escapes=True), end

    def scan_plainly(self, text: bytes, start: int, prefix: bytes, _: bytes) -> tuple[CellRun | None, int]:
        """Return the same without the loop, of rows of plain numbers; None if none stands here."""
        cells_read, end = (None, start) if prefix else scan_numbers(text, start)
        self.row = self.row if cells_read is None else int(cells_read.rows[-1])
        return cells_read, end

    def begin(self, name: str, attributes: dict[str, str]) -> bool:
        depth = len(self.open)
        if depth == 1:
            space, _, local = name.rpartition(" ")
            self._names = dict(zip(map(f"{space} {{}}".format if space else str, _TAGS), _TAGS, strict=True))
        local = self._names.get(name, "")
        if depth <= 2:
            if local == "sheetData" and self.space is not None:
                raise FormatError(
                    "a second sheetData follows the first, which Excel refuses too",
                    location=self._part,
                    hint="move its cells into the first one: a part has no more than one",
                )
            if local == "sheetData":
                self.space = name[: -len(local)].strip()
            return depth == 1 or local == "sheetData"
        if depth == 3:
            if local == "row":
                self._begin_row(attributes)
            return local == "row"
        if depth == 4:
            if local == "c":
                self._begin_cell(attributes)
            return local == "c"
        if depth == 5:
            return self._begin_within(local, attributes)
        if self._value is not None and self._names.get(self.open[4]) == "v":
            raise FormatError(
                "the value of a cell contains an XML element", location=cell_address(self.row, self._column)
            )
        return self._string.begin(self._names.get(self.open[-2], ""), local, attributes)

    def _begin_row(self, attributes: dict[str, str]) -> None:
        number = attributes.get("r")
        if number is not None and (not _ROW.fullmatch(number) or int(number) == 0):
            raise FormatError(f"a row cannot have the number {number!r:.40}")
        self.row = self.row + 1 if number is None else int(number) - 1
        if self.row >= MOST_ROWS:
            raise FormatError(f"a row beyond the {MOST_ROWS} that a sheet has", location=cell_address(self.row, 0))
        self._column, self._in_row = -1, 0

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        self._column += 1
        self._in_row += 1
        reference = attributes.get("r")
        if reference is not None:
            match = _REFERENCE.fullmatch(reference)
            if not match or int(match[2]) != self.row + 1:
                raise FormatError(f"a cell in row {self.row + 1} has the wrong reference {reference!r:.40}")
            self._column = column_number(match[1])
        if self._column >= MOST_COLUMNS:
            raise position_error(self.row, self._column)
        if self._in_row > MOST_COLUMNS:
            raise FormatError(
                f"a row has more than {MOST_COLUMNS} cells", location=cell_address(self.row, self._column)
            )
        if attributes.get("t", "") not in TYPES:
            type_ = attributes["t"]
            raise FormatError(
                f"a cell has the unknown type {type_!r:.40}", location=cell_address(self.row, self._column)
            )
        self._cell, self._value, self._formula, self._length = attributes, None, None, 0
        self._is_own = False

    def _begin_within(self, local: str, attributes: dict[str, str]) -> bool:
        if local == "v":
            if self._value is not None:
                raise FormatError("a cell with two values", location=cell_address(self.row, self._column))
            self._value = []
        elif local == "f":
            self._formula, self._is_own = [], attributes.keys() <= {"aca"}
        elif local == "is":
            self._string = StringItem()
        return local in ("v", "f", "is")

    def characters(self, text: str) -> None:
        if len(self.open) < 5:
            return
        local = self._names[self.open[4]]
        if local == "f":
            if self._formula is not None and len(self._formula) <= SHORT_FORMULA:  # the pieces: each has a character
                self._formula.append(text[: SHORT_FORMULA + 1])
        elif local == "is":
            self._string.characters(self._names.get(self.open[-1], ""), text)
        elif self._value is not None:
            self._length += len(text)
            if self._length > LONGEST_TEXT:
                raise FormatError(f"a cell has more than {LONGEST_TEXT} characters")
            self._value.append(text)

    def end(self, name: str) -> None:
        depth = len(self.open)
        if depth == 3:
            self._end_cell()
        elif depth == 2:
            self._whole = len(self._cells), len(self._formulas)
        elif depth > 3 and self._names[self.open[4] if depth > 4 else name] == "is":
            self._string.end(self._names[name])
            if depth == 4:
                self._value = [self._string.text()]

    def _end_cell(self) -> None:
        type_ = self._cell.get("t", "")
        kind, value = TYPES[type_], None if self._value is None else "".join(self._value)
        if value and type_ == "str":
            value = without_escapes(value)
        if not value and kind != TEXT:  # which may be empty
            value = None
        if value is None and self._formula is None:
            return
        written = self._cell.get("s", "0")
        style = int(written) if written != "0" and _ROW.fullmatch(written) else 0
        if self._formula is not None:
            formula = "".join(self._formula)
            short = self._is_own and len(formula.encode()) <= SHORT_FORMULA
            self._formulas.append((len(self._cells), formula if short else ""))
        self._cells.append((self.row, self._column, kind, style, value))

    def take(self) -> CellRun | None:
        of_cells, of_formulas = self._whole
        cells, self._cells = self._cells[:of_cells], self._cells[of_cells:]
        formulas, self._formulas = self._formulas[:of_formulas], self._formulas[of_formulas:]
        self._whole = 0, 0
        self._formulas = [(index - len(cells), formula) for index, formula in self._formulas]
        return cells_of_parser(cells, formulas) if cells else None
