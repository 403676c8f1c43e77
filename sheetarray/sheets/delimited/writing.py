"""Arrays to delimited text: the cells of a sheet as lines, quoted where need be."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...columns import Layout, check_array_count, lay_out
from ...columns.grid import Orient
from ...columns.layout import format_name
from ...dtypes import DType
from ...elements import Cell, FormulaMode, TextLook, generic_from_text, unescape_formula
from ...elements.spelling import DecimalMark
from ...errors import DTypeError, LimitError, check_kinds, parse_count
from ...files import Sink, Writable, locate, numbering_errors, replacing
from ...formats.contract import CELL_CHARACTERS, Progress, ignore_progress
from ...linear.array import LinearArray
from ...linear.named import linear_arrays
from ...renamed import refusing_old_options
from ...tables import lay_out_table
from ..arrays_of_sheets import spread
from .dialect import check_marks
from .encodings import canonical_encoding

if TYPE_CHECKING:
    import polars as pl


# Writes rows of cells as delimited text: quotes where a cell needs them, an encoding, a byte order mark.

_LINE_END = "\r\n"
_MARKS = (
    "\ufeff",
    "\0",
)  # as a file's first characters they would be taken for a byte order mark, or for a part of one
_TEXTUAL = frozenset({"string", "generic"})  # kinds of elements whose cells may hold any character
_USUAL_DELIMITERS = frozenset(",;\t|")  # no cell of another kind has one; the decimal mark is never the delimiter
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
            lacking = error.object[error.start : error.end]
            raise DTypeError(f"{error.encoding} has no {lacking!r:.20}: write with encoding='utf-8'") from error

    def write_frame(
        self, frame: pl.DataFrame, *, end: str = _LINE_END, cut: int = 0, kinds: Collection[str] = _TEXTUAL
    ) -> None:
        """Write the rows of a frame, less `cut` characters at the end; straight to a plain file's descriptor.

        `cut`: the number of characters at the end that are not written. `kinds`: of the elements; if none is text and
        the delimiter is a usual one, no cell can need quotes, and none is looked at.
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


def write_columns(layout: Layout, look: TextLook, out: TextWriter) -> Iterator[int]:
    """Write arrays as columns; yield the number of cells that have been written, block by block."""
    rows = list(layout.zone_rows(look))
    row = len(rows)
    out.write_rows(rows)
    yield layout.count_cells_above(row)
    kinds = {piece.dtype.kind for piece in layout.pieces}
    for block in layout.body_blocks(look):
        out.write_frame(block, kinds=kinds)
        row += len(block)
        yield layout.count_cells_above(row)


def write_rows(layout: Layout, look: TextLook, out: TextWriter) -> Iterator[int]:
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


def make_encoder(encoding: str, bom: bool) -> codecs.IncrementalEncoder | None:
    """Return an encoder; None for plain UTF-8, which the engine writes by itself."""
    name = canonical_encoding(encoding)
    if name == "utf-8" and not bom:
        return None
    if name in ("utf-8", "utf-8-sig"):
        return codecs.getincrementalencoder("utf-8-sig")()
    encoder = codecs.getincrementalencoder(name)()
    if bom and name.startswith(("utf-16-", "utf-32-")):
        return _ByteOrderMarkEncoder(name)
    return encoder


class _ByteOrderMarkEncoder(codecs.IncrementalEncoder):
    """An encoder of an encoding whose name has the byte order, so that Python writes no mark; this one does."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.inner, self.mark = codecs.getincrementalencoder(name)(), "\ufeff"

    def encode(self, text: str, final: bool = False) -> bytes:
        mark, self.mark = self.mark, ""
        return self.inner.encode(mark + text, final)


# CSV, TSV and any other delimited text: names in row 1, one array a column, short columns padded with blanks.
#
# The text follows RFC 4180: UTF-8, CRLF, quotes where a cell needs them. The exchange format is that of
# https://github.com/stdlib-js/stdlib/issues/1140, whose cells `columns` lays out and finds again; this package only
# knows bytes: the encoding, the delimiter, quotes, and how many cells are written and parsed at once.

_LOSES_APOSTROPHE = (
    "would lose its apostrophe when somebody reads it without formulas='keep': write with formulas='escape', which "
    "keeps every text"
)


@refusing_old_options
def write_csv(
    target: Writable,
    arrays: Any,
    *,
    delimiter: str = ",",
    decimal: DecimalMark = ".",
    encoding: str = "utf-8",
    bom: bool = False,
    names: bool = True,
    orient: Orient = "columns",
    formulas: FormulaMode = "escape",
    max_rows: int | None = None,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Write arrays as delimited text, one column each.

    Args:
        target: a path (`.gz` and `.zst` compress), or an open file. A file is replaced whole or not at all.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        delimiter: the character between cells.
        decimal: the decimal mark of floats and complex numbers.
        encoding: the encoding of the text. UTF-16 and UTF-32 always begin with a byte order mark.
        bom: begin with a byte order mark; Excel needs one to recognise UTF-8.
        names: write the names in row 1 (column A for orient="rows").
        orient: "columns" writes one array a column, "rows" one array a row.
        formulas: "escape" puts an apostrophe before text that a spreadsheet would evaluate. "keep" writes such text as
            it is, but refuses text such as `'=1`, from which `read_csv` would remove the apostrophe.
        max_rows: how many rows the reading program has (Excel: 1,048,576). Longer arrays continue in the next column.
        progress: a function, called with the number of cells written and the total.
        storage_options: options of the file system of a URL, such as `anon`, or `key` and `secret`.

    Raises:
        DTypeError: the format has no dtype for an array, the encoding lacks a character, or `formulas="keep"` refuses
            a text such as `'=1`.
        LimitError: a name is blank. Nothing was written.
        ValueError: cells may contain the delimiter, such as a decimal comma.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file = io.StringIO()
        >>> write_csv(file, {"t": np.array([[1.5, 2.5]])})
        >>> file.getvalue().split()[:6]
        ['t', 'version', '1.0.0', 'ndarray', 'shape', '1']
    """
    target = locate(target, storage_options)
    check_marks(delimiter, decimal)
    check_kinds(bool, "True or False", names=names)
    max_rows = None if max_rows is None else parse_count("row", max_rows=max_rows)
    if orient not in ("columns", "rows") or formulas not in ("escape", "keep"):
        raise ValueError('orient is "columns" or "rows", formulas is "escape" or "keep"')
    linear = linear_arrays(spread(arrays, limit=CELL_CHARACTERS))
    check_array_count(len(linear))
    look, report = TextLook(decimal, formulas), progress or ignore_progress
    if formulas == "keep":
        _check_apostrophes(linear, names)
    layout = lay_out(linear, names=names, max_rows=max_rows if orient == "columns" else None)
    encoder = make_encoder(encoding, bom)
    with replacing(target) as sink:
        out = TextWriter(sink, encoder, delimiter, look)
        report(0, layout.cell_count)
        for done in (write_columns if orient == "columns" else write_rows)(layout, look, out):
            report(done, layout.cell_count)


def _check_apostrophes(arrays: Mapping[str, LinearArray], names: bool) -> None:
    """Refuse names and text from which `read_csv` would take an apostrophe that nobody has put there."""
    for name, array in arrays.items():
        if names and unescape_formula(name) != name:
            raise LimitError(f"the name {name!r:.60} {_LOSES_APOSTROPHE}")
        kind = array.dtype_entry.kind
        if kind != "generic" and (kind != "string" or not np.strings.startswith(array.buffer, "'").any()):
            continue
        for index, text in enumerate(array.buffer.tolist()):
            if not isinstance(text, str) or text[:1] != "'":
                continue
            back = generic_from_text(text, formulas="escape") if kind == "generic" else unescape_formula(text)
            if back != text:
                element = array.header.describe_element(name, index)
                raise DTypeError(f"{element}: the text {text!r:.60} {_LOSES_APOSTROPHE}")


def write_table_csv(
    target: Writable,
    table: Any,
    *,
    delimiter: str = ",",
    decimal: DecimalMark = ".",
    encoding: str = "utf-8",
    bom: bool = False,
    formulas: FormulaMode = "escape",
    progress: Progress | None = None,
) -> None:
    """Write the columns of a table as delimited text, under a row of names; see `sheetarray.write_table`.

    Arguments are those of `sheetarray.write_table` and `write_csv`.

    Raises:
        DTypeError: an array is not 1-D, or text cannot hold it.
        LimitError: columns have different lengths. Nothing was written.
        ValueError: cells may contain the delimiter.
    """
    check_marks(delimiter, decimal)
    if formulas not in ("escape", "keep"):
        raise ValueError('formulas is "escape" or "keep"')
    layout, look, report = lay_out_table(table), TextLook(decimal, formulas), progress or ignore_progress
    with replacing(target) as sink:
        out = TextWriter(sink, make_encoder(encoding, bom), delimiter, look)
        report(0, layout.cell_count)
        for done in write_columns(layout, look, out):
            report(done, layout.cell_count)
