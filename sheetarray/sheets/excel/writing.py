"""Makes the rows of sheets: cells of one dtype and style are made together, and one loop puts them in rows (`row_xml`).

The header zone is a block like any other, whose columns begin with names and headers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

from ...columns import Layout, LayoutColumn, column_letters
from ...elements import Cell
from ..cells_together import ColumnSpan, make_cells_together
from ..workbooks import EXACT_INTEGER
from .cell_xml import xml_text
from .row_xml import (
    ColumnSegment,
    Group,
    Layer,
    cells_xml,
    format_number,
    format_rows,
    format_text,
    value_layers,
    with_formula,
)
from .styles.cell_styles import CellStyles

_CELLS_A_BLOCK = 2**15  # the XML of a block stays in the cache of a processor while it is made, copied and deflated
_ROWS_A_BLOCK = 64  # at least, however many columns there are

_HIDDEN = ' hidden="1" outlineLevel="1"'
_AFTER_HIDDEN = ' collapsed="1"'  # the row after those that are hidden, beside which a click shows them
_BOLD_TEXT = ' t="inlineStr"><is><r><rPr><b/></rPr><t xml:space="preserve">{}</t></r></is></c>'


@dataclass(frozen=True)
class RowWriter:
    """Makes the XML of the rows of one sheet."""

    layout: Layout  # which part of which array stands in which column
    as_text: bool  # whether every element is written as text
    styles: CellStyles  # of the workbook; if it has no bold one, names are written as bold rich text
    # the style of the numbers or booleans in each column, None for the usual one; dates without a style are text
    value_styles: Sequence[int | None]
    # for arrays whose elements stand in a view for editing, by their names: the formulas of the elements that do, None
    # for all others
    links: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    filtered: bool = False  # whether the names have buttons for filters at their right

    def iter_chunks(self) -> Iterator[tuple[bytes, int]]:
        """Yield pieces of XML in their order, each with the number of the layout's cells that are written with it."""
        layout, after, hides = self.layout, self.layout.zone_height, self.layout.hides_headers
        yield self._rows_xml(0, after, ["", *[_HIDDEN] * (after - 1)] if hides else []), layout.count_cells_above(after)
        if hides and layout.height == after:
            yield f'<row r="{after + 1}"{_AFTER_HIDDEN}/>'.encode(), layout.cell_count
        for row, count in layout.body_spans(_CELLS_A_BLOCK, fewest=_ROWS_A_BLOCK):
            collapsed = [_AFTER_HIDDEN] if hides and row == after else []
            yield self._rows_xml(row, count, collapsed), layout.count_cells_above(row + count)

    def _rows_xml(self, row: int, count: int, attributes: Sequence[str]) -> bytes:
        """Return some rows: the header zone, which begins at row 0, or rows below it."""
        layout = self.layout
        groups: list[Group] = []
        segments: list[list[ColumnSegment]] = [[] for _ in layout.pieces]  # of each column
        if not row:
            groups.append(self._add_above(segments))

        def add(cells: Group, spans: Sequence[ColumnSpan]) -> None:
            start = 0
            for place, piece, _, first, size in spans:
                above = layout.named + piece.above + first - row
                segments[place].append(ColumnSegment(column_letters(place), len(groups), start, above, size))
                start += size
            groups.append(cells)

        spans = [
            ColumnSpan(place, piece, self.value_styles[place], *layout.elements_in_rows(piece, row, count))
            for place, piece in enumerate(layout.pieces)
        ]
        plain = [span for span in spans if span.piece.name not in self.links] if self.links else spans
        for cells, style, spans_of_group in make_cells_together(plain, as_text=self.as_text):
            add(value_layers(cells, style), spans_of_group)
        for span in spans if self.links else ():
            if span.size and span.piece.name in self.links:
                add(_as_they_are(self._linked_cells(span)), [span])
        return format_rows(row + 1, count, [*chain.from_iterable(segments)], groups, attributes=attributes)

    def _add_above(self, segments: Sequence[list[ColumnSegment]]) -> Group:
        """Return the names and headers of all columns, and add where they stand to the segments of each."""
        above: list[str | None] = []
        for place, piece in enumerate(self.layout.pieces):
            start = len(above)
            above += [self._name(place, piece)] if self.layout.named else []
            above += [None] * piece.blanks
            above += _header_xml(tuple(piece.header))
            segments[place].append(ColumnSegment(column_letters(place), 0, start, 0, len(above) - start))
        return _as_they_are(above)

    def _linked_cells(self, span: ColumnSpan) -> list[str | None]:
        """Return the XML after the references of cells whose elements stand in a view for editing."""
        _, piece, style, first, size = span
        cells = piece.to_typed(first, size, exact=EXACT_INTEGER, as_text=self.as_text, serials=style is not None)
        formulas = self.links[piece.name][piece.start + first : piece.start + first + size]
        pairs = zip(cells_xml(cells, style), formulas, strict=True)
        return [cell if formula is None else with_formula(cell, formula) for cell, formula in pairs]

    def _name(self, place: int, piece: LayoutColumn) -> str:
        """Return the XML after the reference of the cell with the name of a column."""
        style = self.styles.bold
        stands_right = piece.dtype.kind in ("float", "int", "timedelta", "bool") or self.value_styles[place] is not None
        if stands_right and not self.as_text:  # as programs align the elements
            style = (self.styles.bold_filtered if self.filtered else self.styles.bold_right) or style
        if style is None:
            return _BOLD_TEXT.format(xml_text(piece.name))
        return f' s="{style}" t="inlineStr"><is><t xml:space="preserve">{xml_text(piece.name)}</t></is></c>'


def _as_they_are(cells: list[str | None]) -> Group:
    """Return a group of cells whose XML after their references is made; None is a blank."""
    return [Layer("", "v", cells, "")]


@lru_cache(maxsize=64)  # very many arrays have few headers
def _header_xml(header: tuple[Cell, ...]) -> list[str]:
    """Return the XML after the reference of each cell of a header."""
    return list(map(_header_cell_xml, header))


@lru_cache(maxsize=256)  # the headers of very many arrays are the same few words
def _header_cell_xml(cell: Cell) -> str:
    return format_text(cell) if isinstance(cell, str) else format_number(cell)
