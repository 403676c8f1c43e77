"""Makes the rows of sheets: cells of one dtype and style are made together, and one loop puts them in rows (`row_xml`).

The header zone is a block like any other, whose columns begin with names and headers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

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


class RowWriter:
    """Makes the XML of the rows of one sheet.

    `layout`: which part of which array stands in which column. `styles`: the styles of the workbook; if it has no bold
    one, names are written as bold rich text. `value_styles`: the style of the numbers or booleans in each column, None
    for the usual one. Dates without a style are text. `links`: for arrays whose elements stand in a view for editing,
    by their names: the formulas of the elements that do, None for all others. `filtered`:
    whether the names have buttons for filters at their right.
    """

    def __init__(
        self,
        layout: Layout,
        *,
        as_text: bool,
        styles: CellStyles,
        value_styles: Sequence[int | None],
        links: Mapping[str, Sequence[str | None]] | None = None,
        filtered: bool = False,
    ) -> None:
        self.filtered = filtered
        self.layout, self.as_text, self.cell_styles = layout, as_text, styles
        self._letters = list(map(column_letters, range(len(layout.pieces))))
        self._links = links or {}
        self._styles = value_styles

    def iter_chunks(self) -> Iterator[tuple[bytes, int]]:
        """Yield pieces of XML in their order, each with the number of the layout's cells that are written with it."""
        after = self.layout.zone_height
        yield self._zone_xml(), self.layout.count_cells_above(min(after, self.layout.height))
        if self.layout.hides_headers and self.layout.height <= after:
            yield f'<row r="{after + 1}"{_AFTER_HIDDEN}/>'.encode(), self.layout.cell_count
        for row, count in self.layout.body_spans(_CELLS_A_BLOCK, fewest=_ROWS_A_BLOCK):
            collapsed = [_AFTER_HIDDEN] if self.layout.hides_headers and row == after else []
            yield self._block_xml(row, count, collapsed), self.layout.count_cells_above(row + count)

    def _zone_xml(self) -> bytes:
        """Return the rows of the header zone: names, headers, and the first elements of columns with short headers."""
        layout, height = self.layout, min(self.layout.zone_height, self.layout.height)
        groups, elements = self._make_groups(
            [
                ColumnSpan(place, piece, self._styles[place], 0, layout.count_zone_elements(piece))
                for place, piece in enumerate(layout.pieces)
            ],
            row=0,
        )
        above: list[str | None] = []
        segments = []
        for place, piece in enumerate(layout.pieces):
            start = len(above)
            above += [self._name(place, piece)] if layout.named else []
            above += [None] * piece.blanks
            above += _header_xml(tuple(piece.header))
            segments.append(ColumnSegment(self._letters[place], len(groups), start, 0, len(above) - start))
            if place in elements:
                segments.append(elements[place])
        hidden = ["", *[_HIDDEN] * (height - 1)] if layout.hides_headers else []
        return format_rows(1, height, segments, [*groups, _as_they_are(above)], attributes=hidden)

    def _block_xml(self, row: int, count: int, attributes: Sequence[str]) -> bytes:
        """Return some rows below the header zone."""
        groups, segments = self._make_groups(
            [
                ColumnSpan(place, piece, self._styles[place], *self.layout.elements_in_rows(piece, row, count))
                for place, piece in enumerate(self.layout.pieces)
            ],
            row=row,
        )
        return format_rows(
            row + 1, count, [segments[place] for place in sorted(segments)], groups, attributes=attributes
        )

    def _make_groups(self, spans: Sequence[ColumnSpan], *, row: int) -> tuple[list[Group], dict[int, ColumnSegment]]:
        """Return the cells of some elements in groups, and where each column stands in them, by its index.

        `row`: the first of the rows that are made, from 0.
        """
        groups: list[Group] = []
        segments: dict[int, ColumnSegment] = {}
        plain = [span for span in spans if span.piece.name not in self._links] if self._links else spans
        for cells, style, spans_of_group in make_cells_together(plain, as_text=self.as_text):
            start = 0
            for span in spans_of_group:
                segments[span.place] = self._segment(span, len(groups), start, row)
                start += span.size
            groups.append(value_layers(cells, style))
        for span in spans if self._links else ():
            if span.size and span.piece.name in self._links:
                segments[span.place] = self._segment(span, len(groups), 0, row)
                groups.append(_as_they_are(self._linked_cells(span)))
        return groups, segments

    def _segment(self, span: ColumnSpan, group: int, start: int, row: int) -> ColumnSegment:
        above = self.layout.named + span.piece.above + span.first - row
        return ColumnSegment(self._letters[span.place], group, start, above, span.size)

    def _linked_cells(self, span: ColumnSpan) -> list[str | None]:
        """Return the XML after the references of cells whose elements stand in a view for editing."""
        _, piece, style, first, size = span
        cells = piece.to_typed(first, size, exact=EXACT_INTEGER, as_text=self.as_text, serials=style is not None)
        formulas = self._links[piece.name][piece.start + first : piece.start + first + size]
        pairs = zip(cells_xml(cells, style), formulas, strict=True)
        return [cell if formula is None else with_formula(cell, formula) for cell, formula in pairs]

    def _name(self, place: int, piece: LayoutColumn) -> str:
        """Return the XML after the reference of the cell with the name of a column."""
        style = self.cell_styles.bold
        stands_right = piece.dtype.kind in ("float", "int", "timedelta", "bool") or self._styles[place] is not None
        if stands_right and not self.as_text:  # as programs align the elements
            style = (self.cell_styles.bold_filtered if self.filtered else self.cell_styles.bold_right) or style
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
