"""The cells that a write sends, as JSON in requests of bounded size, and what the service makes of them.

A double is a number, and so is an integer up to 2^53; -0.0 is text, since the service does not document what it keeps.
A request fills a fixed range of the stage: some columns as a whole, or a run of rows of one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...columns import Layout, LayoutColumn
from ...elements import EXACT_IN_JSON, Cell, TypedCells
from ...errors import DTypeError
from .address import Rect
from .requests import dump_json, pack

MOST_BYTES = 2_000_000  # of a request that puts values
MOST_DIRECT_BYTES = 9_900_000  # of a batch that holds the cells itself: 131,072 doubles; the service refuses 10 MiB
_CELL_OVERHEAD = 51  # bytes of a cell in such a batch, besides its value
_DOUBTFUL = re.compile(rb"\\u00|\\[rbf]|\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]")
_OPENING, _CLOSING = b'{"majorDimension":"COLUMNS","values":[', b"]}"
_BLOCK = 2048  # cells


@dataclass(frozen=True, slots=True)
class Chunk:
    """The values of one request."""

    rect: Rect  # the cells of the stage that it fills
    columns: list[list[bytes]]  # the JSON of the cells of each column, without brackets, in blocks
    cells: int  # the number of cells

    @property
    def body(self) -> bytes:
        """The request's body."""
        columns = [b"[" + b",".join(blocks) + b"]" for blocks in self.columns]
        return _OPENING + b",".join(columns) + _CLOSING


def fit_one_batch(chunks: list[Chunk], beside: int = 0) -> bool:
    """Return whether one batch of changes can carry all cells, and some characters besides.

    Text that the service may change, such as control characters, does not count as fit: a stage shows what is kept.
    """
    blocks = [block for chunk in chunks for column in chunk.columns for block in column]
    size = batch_size(sum(map(len, blocks)), sum(chunk.cells for chunk in chunks))
    return size + beside <= MOST_DIRECT_BYTES and not any(map(_DOUBTFUL.search, blocks))


def batch_size(size: int, cells: int) -> int:
    """Return the bytes that cells take in a batch of changes, given the bytes of their JSON and their number."""
    return size + _CELL_OVERHEAD * cells


def make_chunks(layout: Layout) -> list[Chunk]:
    """Return all cells of a layout as requests; a DTypeError for an element that no cell holds."""
    room = MOST_BYTES - len(_OPENING) - len(_CLOSING)
    chunks = []
    for group in pack(_cut_columns(layout, room), room):
        if len(group) > 1:
            first, heights = group[0][0], [sum(cells for cells, _ in runs[0]) for _, runs in group]
            rect = Rect(0, first, max(heights), first + len(group))
            chunks.append(Chunk(rect, [[block for _, block in runs[0]] for _, runs in group], sum(heights)))
            continue
        ((column, runs),) = group
        top = 0
        for run in runs:
            count = sum(cells for cells, _ in run)
            chunks.append(Chunk(Rect(top, column, top + count, column + 1), [[block for _, block in run]], count))
            top += count
    return chunks


_Runs = list[list[tuple[int, bytes]]]  # the blocks of a column, with their numbers of cells, in runs that fit a request


def _cut_columns(layout: Layout, room: int) -> Iterator[tuple[tuple[int, _Runs], int]]:
    """Yield each column with its runs, and its size: of a column of several runs, more than a request has room for."""
    for column, piece in enumerate(layout.pieces):
        sized = (((cells, block), len(block) + 1) for cells, block in _blocks(piece, named=layout.named))
        runs = list(pack(sized, room - 2))
        yield (column, runs), room + 1 if len(runs) > 1 else sum(len(block) + 1 for _, block in runs[0]) + 2


def _blocks(piece: LayoutColumn, *, named: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the JSON of the cells of a column, a few at a time; none longer than a request."""
    head = piece.cells_above(named=named)
    yield len(head), cells_to_json(head, piece.name)
    for start in range(0, len(piece.buffer), _BLOCK):
        cells = to_cells(piece, start, min(_BLOCK, len(piece.buffer) - start))
        yield from _halve(cells, piece.name)


def _halve(cells: list[Cell], name: str) -> Iterator[tuple[int, bytes]]:
    block = cells_to_json(cells, name)
    if len(block) <= MOST_BYTES // 8 or len(cells) == 1:
        yield len(cells), block
        return
    for half in (cells[: len(cells) // 2], cells[len(cells) // 2 :]):
        yield from _halve(half, name)


def cells_to_json(cells: Sequence[Cell], name: str) -> bytes:
    """Return the JSON of cells, without brackets; a DTypeError for text that is not valid Unicode."""
    try:
        return dump_json(cells)[1:-1]
    except UnicodeEncodeError as error:
        raise DTypeError(f"{name}: text that is not valid Unicode: {error.reason}") from error


def to_cells(piece: LayoutColumn, first: int, count: int) -> list[Cell]:
    """Return some elements of a column as cells: numbers, text, booleans; "" is a blank."""
    typed = piece.to_typed(first, count, exact=EXACT_IN_JSON)
    cells: list[Cell] = [""] * count
    for kind in (_numbers(typed), typed.texts, typed.booleans):
        if kind is not None:
            cells = [was if cell is None else cell for was, cell in zip(cells, kind, strict=True)]
    return cells


def _numbers(typed: TypedCells) -> list[Cell] | None:
    if typed.numbers is None:
        return None
    cells: list[Cell] = typed.numbers.to_list()
    if typed.numbers.dtype.is_numeric():
        return ["-0" if cell == 0 and math.copysign(1.0, cell) < 0 else cell for cell in cells]
    return [None if numeral is None else json.loads(numeral) for numeral in cells]


def find_difference(sent: Sequence[Cell], cells_back: Sequence[Cell]) -> int | None:
    """Return the index of the first cell that did not come back as it was sent; None if all did.

    Numbers are compared as doubles, and a blank may be missing at the end.

    Example:
        >>> find_difference([1.0, "2", True, ""], [1, "2", True]), find_difference([1, 1.5], [True, 1.5])
        (None, 0)
    """
    padded = [*cells_back, *[""] * (len(sent) - len(cells_back))] if len(cells_back) < len(sent) else cells_back
    if padded == sent and bool not in set(map(type, padded)) | set(map(type, sent)):
        return None
    pairs = enumerate(zip(sent, padded, strict=False))
    wrong = (index for index, (sent_cell, kept_cell) in pairs if not _is_same_cell(sent_cell, kept_cell))
    return next(wrong, len(sent) if any(cell != "" for cell in cells_back[len(sent) :]) else None)


def _is_same_cell(one: Cell, other: Cell) -> bool:
    if isinstance(one, (str, bool)) or isinstance(other, (str, bool)):
        return type(one) is type(other) and bool(one == other)
    try:
        return float(one) == float(other)  # 1.5784440745455337e+20 may come back as 157844407454553370000
    except (TypeError, OverflowError):
        return False
