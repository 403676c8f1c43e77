"""Makes the rows of a worksheet's XML from the cells of a layout, in blocks, by the columnar engine.

The rows of a block come from one format expression over its columns. Numbers go into it as they are, since the engine's
text of a double is the shortest that reads back. Cells of other kinds, and columns that mix kinds, are made column by
column before. The header zone is written cell by cell.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from ...cells import TypedCells
from ...columns import Layout, LayoutColumn, column_letters
from ...elements import Cell
from .alike import EXACT, group_alike, typed_together
from .appearance import stands_right
from .cell_forms import NUMBER, SPACED_TEXT, TEXT, split_kinds
from .package.styles import CellStyles
from .views.cells import linked_xml
from .xml_text import xml_text

if TYPE_CHECKING:
    import polars as pl

_CELLS_A_BLOCK = 2**16  # while one block is deflated, the next is made, which gains little with few large blocks
SHORT_BLOCK = 256  # rows of a block in which all columns of one kind are made together

_HIDDEN = ' hidden="1" outlineLevel="1"'
_AFTER_HIDDEN = ' collapsed="1"'  # the row after those that are hidden, beside which a click shows them
_BOLD_TEXT = ' t="inlineStr"><is><r><rPr><b/></rPr><t xml:space="preserve">{}</t></r></is></c>'


class RowWriter:
    """Makes the XML of the rows of one sheet.

    Args:
        layout: which part of which array stands in which column.
        as_text: write every element as text.
        styles: the styles of the workbook; if it has no bold one, names are written as bold rich text.
        value_styles: the style of the numbers or booleans in each column, None for the usual one. Dates without a style
            are text.
        links: for arrays whose elements stand in a view for editing, by their names: the formulas of the elements that
            do, null for all others.
    """

    def __init__(
        self,
        layout: Layout,
        *,
        as_text: bool,
        styles: CellStyles,
        value_styles: Sequence[int | None],
        links: Mapping[str, pl.Series] | None = None,
    ) -> None:
        self.layout, self.as_text, self.cell_styles = layout, as_text, styles
        self._letters = [column_letters(place) for place in range(len(layout.pieces))]
        self._links = links or {}
        self._styles = {id(piece): style for piece, style in zip(layout.pieces, value_styles, strict=True)}

    def iter_chunks(self) -> Iterator[tuple[bytes, int]]:
        """Yield pieces of XML in their order, each with the number of the layout's cells that are written with it."""
        yield self._zone_xml().encode(), self.layout.count_cells_above(min(self.layout.zone_height, self.layout.height))
        after = self.layout.zone_height
        collapsed = f'<row r="{after + 1}"{_AFTER_HIDDEN}'.encode() if self.layout.hides_headers else b""
        if collapsed and self.layout.height <= after:
            yield collapsed + b"/>", self.layout.cell_count
        for row, count in self.layout.body_spans(_CELLS_A_BLOCK):
            chunks = self._block_xml(row, count)
            before, done = self.layout.count_cells_above(row), self.layout.count_cells_above(row + count)
            if collapsed and row == after:
                yield collapsed, before
                chunks[0] = chunks[0][len(collapsed) - len(_AFTER_HIDDEN) :]
            yield from ((chunk, before) for chunk in chunks[:-1])
            yield chunks[-1], done

    # The header zone -----------------------------------------------------------------------------------------

    def _zone_xml(self) -> str:
        columns = [self._zone_column(piece) for piece in self.layout.pieces]
        rows = []
        for row in range(min(self.layout.zone_height, self.layout.height)):
            number = str(row + 1)
            cells = [
                f'<c r="{letter}{number}"{column[row]}'
                for letter, column in zip(self._letters, columns, strict=True)
                if row < len(column) and column[row]
            ]
            hidden = _HIDDEN if row and self.layout.hides_headers else ""
            rows.append(f'<row r="{number}"{hidden}>{"".join(cells)}</row>')
        return "".join(rows)

    def _zone_column(self, piece: LayoutColumn) -> list[str]:
        """Return the XML after the reference of each cell in a column of the header zone; empty for a blank."""
        head = [self._name(piece)] if self.layout.named else []
        room = self.layout.count_zone_elements(piece)
        first = self._first_cells(piece, room) if room else []
        return [*head, *[""] * piece.blanks, *_header_xml(tuple(piece.header)), *first]

    def _first_cells(self, piece: LayoutColumn, count: int) -> list[str]:
        if piece.name not in self._links:
            return _cell_xml_each(self._to_typed(piece, 0, count), self._styles[id(piece)])
        import polars as pl

        numbers = pl.repeat("", count, eager=True)
        start = len('<c r=""')
        return [cell[start:] for cell in self._linked_cells(piece, "", numbers, 0).to_list()]

    def _linked_cells(self, piece: LayoutColumn, letter: str, numbers: pl.Series, first: int) -> pl.Series:
        """Return the whole XML of cells whose elements stand in a view for editing; empty for a blank."""
        cells = self._to_typed(piece, first, len(numbers))
        formulas = self._links[piece.name][piece.start + first : piece.start + first + len(numbers)]
        return linked_xml(letter, numbers, formulas, cells, self._styles[id(piece)])

    def _name(self, piece: LayoutColumn) -> str:
        style = self.cell_styles.bold
        if stands_right(piece, self._styles[id(piece)], as_text=self.as_text):
            style = self.cell_styles.bold_right or style
        if style is None:
            return _BOLD_TEXT.format(xml_text(piece.name))
        return f' s="{style}"' + SPACED_TEXT.format(xml_text(piece.name))

    def _to_typed(self, piece: LayoutColumn, first: int, count: int) -> TypedCells:
        dates = self._styles[id(piece)] is not None  # without a style, dates are text
        return piece.to_typed(first, count, exact=EXACT, as_text=self.as_text, serials=dates)

    # The body ------------------------------------------------------------------------------------------------

    def _block_xml(self, row: int, count: int) -> list[bytes]:
        return [self._short_block_xml(row, count)] if count <= SHORT_BLOCK else self._long_block_xml(row, count)

    def _short_block_xml(self, row: int, count: int) -> bytes:
        """Return a block of few rows: cells of columns that are alike are made together, then all are put in order."""
        numbers = [str(row + 1 + index) for index in range(count)]
        pieces, width = self.layout.pieces, len(self.layout.pieces) + 2
        spans = [self.layout.elements_in_rows(piece, row, count) for piece in pieces]
        filled = [place for place, span in enumerate(spans) if span[1]]
        styles = [self._styles[id(piece)] for piece in pieces]
        groups, alone = group_alike(
            (place, pieces[place], styles[place], spans[place][1])
            for place in filled
            if pieces[place].name not in self._links
        )
        alone += [place for place in filled if pieces[place].name in self._links]
        rows = np.arange(count) * width
        cells, order = [f'<row r="{number}">' for number in numbers] + ["</row>"] * count, [rows, rows + width - 1]
        for places in groups:
            style, height = styles[places[0]], spans[places[0]][1]
            buffers = [pieces[place].buffer[spans[place][0] : sum(spans[place])] for place in places]
            typed = typed_together(buffers, pieces[places[0]], style, as_text=self.as_text)
            heads = [f'<c r="{self._letters[place]}' for place in places] * height
            down = [number for number in numbers[:height] for _ in places]
            cells += _cells_together(split_kinds(typed, style), heads, down)
            order.append((rows[:height, None] + (np.array(places) + 1)).reshape(-1))
        for place in alone:
            made = self._column_cells(place, numbers, spans[place])
            cells += made
            order.append(rows[: len(made)] + place + 1)
        in_order = np.argsort(np.concatenate(order), kind="stable").tolist()
        return "".join([cells[index] for index in in_order]).encode()

    def _column_cells(self, place: int, numbers: list[str], span: tuple[int, int]) -> list[str]:
        """Return the whole XML of the cells in a column; empty for a blank."""
        import polars as pl

        piece, (first, filled) = self.layout.pieces[place], span
        rows = pl.Series(numbers[:filled])
        if piece.name in self._links:
            return self._linked_cells(piece, self._letters[place], rows, first).to_list()
        kinds = split_kinds(self._to_typed(piece, first, filled), self._styles[id(piece)])
        return _mixed_cells(kinds, self._letters[place], rows).to_list()

    def _long_block_xml(self, row: int, count: int) -> list[bytes]:
        """Return a block of many rows, in pieces: one expression of the engine makes all rows."""
        import polars as pl

        numbers = pl.int_range(row + 1, row + count + 1, eager=True).cast(pl.String)
        columns: dict[str, pl.Series] = {"": numbers}
        template, arguments = ['<row r="{}">'], [""]
        for place, piece in enumerate(self.layout.pieces):
            first, filled = self.layout.elements_in_rows(piece, row, count)
            if not filled:
                continue
            name, letter = str(place), self._letters[place]
            if piece.name in self._links:
                linked = self._linked_cells(piece, letter, numbers[:filled], first)
                template.append("{}")
                columns[name] = linked.extend_constant("", count - filled)
                arguments.append(name)
                continue
            kinds = split_kinds(self._to_typed(piece, first, filled), self._styles[id(piece)])
            if len(kinds) == 1 and filled == count and not kinds[0][1].null_count():
                template.append(f'<c r="{letter}{{}}"{kinds[0][0]}')
                columns[name] = kinds[0][1]
                arguments += ["", name]
            else:
                template.append("{}")
                columns[name] = _mixed_cells(kinds, letter, numbers[:filled]).extend_constant("", count - filled)
                arguments.append(name)
        template.append("</row>")
        made = pl.DataFrame(columns).select(pl.format("".join(template), *arguments))
        how: dict[str, Any] = {"include_header": False, "quote_style": "never", "line_terminator": ""}
        text = _Chunks()
        made.write_csv(cast("IO[bytes]", text), batch_size=_CELLS_A_BLOCK, **how)
        return text.chunks


class _Chunks(io.RawIOBase):
    """A file that keeps the pieces that the engine writes; `io.BytesIO` would copy them once more."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, chunk: Any, /) -> int:
        self.chunks.append(bytes(chunk))  # bytes already: no copy
        return len(chunk)


def _mixed_cells(kinds: Sequence[tuple[str, pl.Series]], letter: str, numbers: pl.Series) -> pl.Series:
    """Return the whole XML of the cells in a column that may mix kinds; empty for a blank."""
    import polars as pl

    columns = {"": numbers, **{str(index): values for index, (_, values) in enumerate(kinds)}}
    made = [pl.format(f'<c r="{letter}{{}}"{form}', "", str(index)) for index, (form, _) in enumerate(kinds)]
    return pl.DataFrame(columns).select(pl.coalesce(made).fill_null("")).to_series()


def _cells_together(kinds: Sequence[tuple[str, pl.Series]], heads: list[str], rows: list[str]) -> list[str]:
    """Return the whole XML of cells of many columns; empty for a blank.

    Args:
        kinds: of the cells, as `split_kinds` returns them.
        heads: the XML of each cell up to the letters of its column.
        rows: the number of each cell's row.
    """
    import polars as pl

    columns: dict[str, Any] = {"head": heads, "row": rows}
    columns |= {str(index): values for index, (_, values) in enumerate(kinds)}
    made = [pl.format(f'{{}}{{}}"{form}', "head", "row", str(index)) for index, (form, _) in enumerate(kinds)]
    return pl.DataFrame(columns).select(pl.coalesce(made).fill_null("")).to_series().to_list()


def _cell_xml_each(cells: TypedCells, style: int | None) -> list[str]:
    """Return the XML after the reference of each of a few cells."""
    import polars as pl

    out = [""] * len(cells)
    for form, values in split_kinds(cells, style):
        for index, text in enumerate(values.cast(pl.String).to_list()):
            if text is not None:
                out[index] = form.format(text)
    return out


@lru_cache(maxsize=64)  # very many arrays have few headers
def _header_xml(header: tuple[Cell, ...]) -> list[str]:
    """Return the XML after the reference of each cell of a header."""
    return list(map(_header_cell_xml, header))


def _header_cell_xml(cell: Cell) -> str:
    """Return the XML that follows the reference in a header's cell."""
    return _word_xml(cell) if isinstance(cell, str) else NUMBER.format(cell)


@lru_cache(maxsize=256)  # the headers of very many arrays are the same few words
def _word_xml(word: str) -> str:
    return TEXT.format(xml_text(word))
