"""Cells as lines of delimited text: quotes where a cell needs them, an encoding, a byte order mark.

The text follows RFC 4180: CRLF ends a line, and quotes stand where a cell needs them.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...columns import Layout
from ...columns.layout import format_name
from ...dtypes import DType
from ...elements import Cell, TextLook, texts_of_cells
from ...files import Sink, numbering_errors
from .encodings import error_of_encoding

if TYPE_CHECKING:
    import polars as pl

_LINE_END = "\r\n"
_MARKS = (
    "\ufeff",
    "\0",
)  # as a file's first characters they would be taken for a byte order mark, or for a part of one
_TEXTUAL = frozenset({"string", "generic"})  # kinds of elements whose cells may hold any character
_USUAL_DELIMITERS = frozenset(",;\t|")  # no cell of another kind has one; the decimal mark is never the delimiter
_FEW = 100  # cells of rows that Python writes
_SPECIAL = re.compile('[\ufeff\0"\r\n]')  # characters that make a cell need quotes, beside the delimiter


class TextWriter:
    """A writer of rows of cells into a sink."""

    def __init__(self, sink: Sink, encoder: codecs.IncrementalEncoder | None, delimiter: str, look: TextLook) -> None:
        self.sink, self.encoder, self.delimiter, self.look = sink, encoder, delimiter, look

    def write_rows(self, rows: Sequence[Sequence[Cell]], *, end: str = _LINE_END) -> None:
        """Write a few rows."""
        texts = [["" if cell is None else str(cell) for cell in cells] for cells in rows]
        lines = [*map(self.delimiter.join, texts)]
        text = "".join(lines)
        if text.count(self.delimiter) != sum(map(len, texts)) - len(texts) or _SPECIAL.search(text):
            lines = [self.delimiter.join(map(self.quote, cells)) for cells in texts]
        self.write_raw(end.join([*lines, ""]))

    def quote(self, text: str) -> str:
        """Return a cell, in quotes if RFC 4180 wants them, or if it begins like a byte order mark."""
        if text.startswith(_MARKS) or any(mark in text for mark in (self.delimiter, '"', "\r", "\n")):
            return '"' + text.replace('"', '""') + '"'
        return text

    def write_raw(self, text: str) -> None:
        """Write text as it is; the caller has to make sure that nothing in it needs quotes."""
        try:
            self.sink.write(text.encode() if self.encoder is None else self.encoder.encode(text))
        except UnicodeEncodeError as error:
            raise error_of_encoding(error) from error

    def write_frame(
        self, frame: pl.DataFrame, *, end: str = _LINE_END, cut: int = 0, kinds: Collection[str] = _TEXTUAL
    ) -> None:
        """Write the rows of a frame, less `cut` characters at the end; straight to a plain file's descriptor.

        `kinds`: of the elements; if none is text and the delimiter is a usual one, no cell can need quotes.
        """
        plain = self.delimiter in _USUAL_DELIMITERS and not _TEXTUAL & set(kinds)
        options: dict[str, Any] = {
            "quote_style": "never" if plain else "necessary",
            "include_header": False,
            "separator": self.delimiter,
            "line_terminator": end,
            "decimal_comma": self.look.decimal == ",",
        }
        if self.encoder is None and not cut and isinstance(self.sink, io.BufferedWriter):
            self.sink.flush()
            with numbering_errors():
                frame.write_csv(self.sink, **options)
            return
        text = io.BytesIO()
        frame.write_csv(text, **options)
        if self.encoder is None:
            self.sink.write(text.getvalue()[: -cut or None])
        else:
            self.write_raw(text.getvalue().decode()[: -cut or None])

    def write_cells(self, cells: pl.Series, dtype: DType) -> None:
        """Write cells of one row."""
        import polars as pl

        self.write_frame(pl.DataFrame({"": cells}), end=self.delimiter, cut=1, kinds={dtype.kind})


def write_as_columns(layout: Layout, look: TextLook, out: TextWriter) -> Iterator[int]:
    """Write arrays as columns; yield the number of cells that have been written, block by block."""
    rows = list(layout.zone_rows(look))
    row = len(rows)
    out.write_rows(rows)
    yield layout.count_cells_above(row)
    kinds = {piece.dtype.kind for piece in layout.pieces}
    for block in layout.body_blocks(look):
        if block.height * block.width <= _FEW and not _TEXTUAL & kinds:  # as the zone: the engine takes longer to begin
            columns = [texts_of_cells(cells, look) for cells in block.iter_columns()]
            out.write_rows([*zip(*columns, strict=True)])
        else:
            out.write_frame(block, kinds=kinds)
        row += len(block)
        yield layout.count_cells_above(row)


def write_as_rows(layout: Layout, look: TextLook, out: TextWriter) -> Iterator[int]:
    """Write arrays as rows; yield the number of cells that have been written, array by array."""
    longest = max((piece.height for piece in layout.pieces), default=0)
    done = 0
    for piece in layout.pieces:
        out.write_rows([[*([format_name(piece.name, look)] if layout.named else ()), *piece.header]], end="")
        if len(piece.buffer):
            out.write_raw(out.delimiter)
            out.write_cells(piece.to_text(0, len(piece.buffer), look), piece.dtype)
        out.write_raw(out.delimiter * (longest - piece.height) + _LINE_END)
        done += layout.named + piece.height
        yield done
