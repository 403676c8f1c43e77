"""Reads arrays block by block: one pass over each sheet, for all columns that are asked for.

Where an array goes on in other columns, elements that come too early are kept in a file without a name. Sheets with a
wrong cell, or a wrong number of cells, are to be read as a whole, since reading says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...dtypes import Buffer
from ...elements import Missing, NamedMissing
from ...errors import FormatError
from ...linear.buffers import iter_rest
from ...linear.data_cells import may_be_blank
from ..column import ArrayColumn
from ..pieced_arrays import NotInPiecesError
from ..sheet import Block, Sheet
from .parts import ColumnPart, find_parts

ReadWhole = Callable[[Sequence[str]], dict[str, np.ndarray[Any, Any]]]  # reads arrays by their names


def iter_elements(
    sheets: Sequence[Sheet], names: Sequence[str], missing: Missing, read_whole: ReadWhole
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with the next elements of its buffer, again and again.

    `read_whole`: reads arrays at once, if a cell is wrong, or arrays lie in rows; it raises the right error.
    """

    def iterate() -> Iterator[tuple[str, Buffer]]:
        yield from iter_arrays(sheets, find_parts(sheets, names), missing)

    return iter_or_read(iterate(), names, read_whole)


def iter_or_read(
    pieces: Iterator[tuple[str, Buffer]], names: Sequence[str], read_whole: ReadWhole
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with its next elements; what cannot be read in blocks is read at once."""
    done = dict.fromkeys(names, 0)
    try:
        for name, elements in pieces:
            done[name] += len(elements)
            yield name, elements
        return
    except (NotInPiecesError, FormatError):
        pass
    yield from iter_rest(read_whole(list(done)), done)


class _NeedsTextError(Exception):
    """A column of numbers holds text, so that the sheet has to be read as text."""


def iter_arrays(
    sheets: Sequence[Sheet], arrays: Mapping[str, Sequence[ColumnPart]], missing: Missing
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with its next elements.

    Raises:
        FormatError: a sheet is damaged.
        NotInPiecesError: the arrays have to be read at once.
    """
    if isinstance(missing, NamedMissing):
        raise NotInPiecesError  # a warning counts the cells of each array
    turns = dict.fromkeys(arrays, 0)
    for sheet in sheets:
        parts = [part for group in arrays.values() for part in group if part.anchor.title == sheet.title]
        for part, elements in _iter_sheet(sheet, parts, missing):
            if part is arrays[part.name][turns[part.name]]:
                yield part.name, elements
            else:
                part.keep(elements)
        for part in parts:
            part.is_complete = True
        for name, group in arrays.items():
            while turns[name] < len(group) and group[turns[name]].is_complete:
                yield from ((name, elements) for elements in group[turns[name]].take())
                turns[name] += 1


def _iter_sheet(sheet: Sheet, parts: Sequence[ColumnPart], missing: Missing) -> Iterator[tuple[ColumnPart, Buffer]]:
    """Yield parts, each with its next elements, until all of them are complete."""
    if not parts:
        return
    try:
        yield from _pass_over(sheet, parts, missing, typed=True)
    except _NeedsTextError:
        yield from _pass_over(sheet, parts, missing, typed=False)
    for part in parts:
        left = part.count - part.done
        if left and not may_be_blank(part.header, missing):
            raise NotInPiecesError
        if left:
            import polars as pl

            rest = Block(0, ([], pl.Series([], dtype=pl.String)), left)
            yield part, decode_block(sheet, part, rest, missing, typed=False)


def _pass_over(
    sheet: Sheet, parts: Sequence[ColumnPart], missing: Missing, *, typed: bool
) -> Iterator[tuple[ColumnPart, Buffer]]:
    """Yield parts, each with its next elements, up to the last cell of the sheet.

    Raises:
        FormatError: the sheet is damaged.
        _NeedsTextError: the cells have to be looked at as text, from the next elements on.
        NotInPiecesError: a cell is wrong, there are more than there should be, or rows come in another order.
    """
    counts = [part.count - part.done for part in parts]
    for block in sheet.blocks([part.request for part in parts], counts, typed=typed):
        part = parts[block.place]
        elements = decode_block(sheet, part, block, missing, typed=typed)
        part.done += len(elements)
        yield part, elements


def decode_block(sheet: Sheet, part: ColumnPart, block: Block, missing: Missing, *, typed: bool) -> Buffer:
    """Return the elements in some cells of a part, decoded in bulk if possible, otherwise one by one."""
    anchor, cells = part.next_elements(block.count), block.cells
    is_complex = part.header.dtype.kind == "complex"
    if is_complex and not part.done and not str(next(iter(cells[1]), "")).strip().endswith(("i", "j")):
        raise NotInPiecesError  # it may have two cells for each element
    column = ArrayColumn([anchor], [cells], sheet)
    elements = column.decode_typed(missing)
    if elements is not None:
        return elements
    if column.came_typed and block.as_text is None:
        raise _NeedsTextError if typed else NotInPiecesError
    if column.came_typed and block.as_text is not None:
        column = ArrayColumn([anchor], [block.as_text()], sheet)
    decoded = column.decode_checked(missing)
    if decoded.problems or decoded.count_error or decoded.cells_per_element > 1:
        raise NotInPiecesError
    return decoded.buffer
