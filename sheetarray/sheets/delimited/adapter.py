"""CSV, TSV and any other delimited text: names in row 1, one array a column, short columns padded with blanks.

Written as RFC 4180 has it: UTF-8, CRLF, quotes where a cell needs them. The exchange format is that of
https://github.com/stdlib-js/stdlib/issues/1140, whose cells `columns` lays out and finds again; what this module
knows is bytes: encoding, delimiter, quotes, and how to have them written and parsed in bulk.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...adapters import CELL_CHARACTERS, Keeps, Progress, ignore_progress
from ...arrays import linear_arrays
from ...cells import FormulaMode, TextLook
from ...columns import ArrayInfo, Layout, lay_out
from ...columns.grid import Orient
from ...columns.layout import format_name
from ...composite import (
    check_composites,
    check_sheets,
    count_cells,
    count_named,
    read_composites,
    read_sheets,
    scan_composites,
    scan_sheets,
    spread,
)
from ...elements import Cell, Missing
from ...elements.spelling import DecimalMark
from ...errors import DTypeError, Finding, FormatError, LimitError, locating
from ...files import Readable, Sink, Source, Writable, replacing
from ...header import Order
from ...linear import LinearArray
from ...tables import DTypes, Rows, Shapes, TableOptions, Values, lay_out_table, read_table
from .dialect import canonical_encoding, check_marks
from .grids import iter_grids
from .head import scan_head
from .sheet import CsvSheet
from .table import CsvTable
from .written import UnusualError, WrittenText, find_written

if TYPE_CHECKING:
    import polars as pl


keeps_csv = Keeps(buffers=True, nested=True, labels=True)

_LINE_END = "\r\n"
_MARKS = (
    "\ufeff",
    "\0",
)  # as a file's first characters they would be taken for a byte order mark, or for a part of one
_SPECIAL = (*_MARKS, '"', "\r", "\n")  # what makes a cell need quotes, beside the delimiter


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
    layout: Literal["columns", "grid"] = "columns",
    progress: Progress | None = None,
) -> None:
    """Write arrays as delimited text, one column each.

    Args:
        target: a path, replaced as a whole (`.gz` and `.zst` compress), or an open file.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        delimiter: one character between cells.
        decimal: the decimal mark of floats and complex numbers.
        encoding: of the text; its byte order mark is written where `bom` asks for it, and always for UTF-16 and UTF-32.
        bom: begin with a byte order mark (Excel takes a CSV for UTF-8 only then).
        names: whether row 1 (column A for orient="rows") holds the names.
        orient: "rows" writes one array a row.
        formulas: "escape" puts an apostrophe before text that a spreadsheet would evaluate; "keep" leaves it.
        max_rows: rows that the reading program has (Excel: 1,048,576); longer arrays go on in the next column.
        layout: "grid" writes tables for people, slice by slice with their labels, which nothing reads again.
        progress: called with the cells written and the cells in all.

    Raises:
        DTypeError: an array that no dtype of the format holds, or text that the encoding lacks.
        LimitError: a name or a delimiter that cannot be, or options that no grid has, before anything is written.

    Example:
        >>> file = io.StringIO()
        >>> write_csv(file, {"t": np.array([[1.5, 2.5]])})
        >>> file.getvalue().split()[:6]
        ['t', 'version', '1.0.0', 'ndarray', 'shape', '1']
    """
    check_marks(delimiter, decimal)
    if orient not in ("columns", "rows") or formulas not in ("escape", "keep"):
        raise LimitError('orient is "columns" or "rows", formulas is "escape" or "keep"')
    linear = linear_arrays(spread(arrays, limit=CELL_CHARACTERS))
    look, report = TextLook(decimal, formulas), progress or ignore_progress
    if layout not in ("columns", "grid"):
        raise LimitError(f'layout is "columns" or "grid", not {layout!r:.80}')
    if layout == "grid" and (not names or orient != "columns" or max_rows is not None):
        raise LimitError('layout="grid" takes no names=, orient= and max_rows=: it is for people to read')
    made = lay_out(linear, names=names, max_rows=max_rows if orient == "columns" else None)
    encoder = _make_encoder(encoding, bom)
    with replacing(target) as sink:
        out = _TextWriter(sink, encoder, delimiter, look)
        if layout == "grid":
            _write_grids(linear, look, out, report)
            return
        report(0, made.cell_count)
        for done in (_write_columns if orient == "columns" else _write_rows)(made, look, out):
            report(done, made.cell_count)


def _write_grids(arrays: Mapping[str, LinearArray], look: TextLook, out: _TextWriter, report: Progress) -> None:
    done, total = 0, sum(array.length for array in arrays.values())
    report(0, total)
    for cells, count in iter_grids(arrays, look):
        if isinstance(cells, list):
            out.write_row(cells)
        else:
            out.write_frame(cells)
        done += count
        report(done, total)
    report(total, total)


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
    """Write the columns of a table as delimited text, one row of names above them; see `sheetarray.write_table`.

    Raises:
        DTypeError: an array that is no column, or that no text holds.
        LimitError: columns of different lengths, or a delimiter that cannot be, before anything is written.
    """
    check_marks(delimiter, decimal)
    if formulas not in ("escape", "keep"):
        raise LimitError('formulas is "escape" or "keep"')
    layout, look, report = lay_out_table(table), TextLook(decimal, formulas), progress or ignore_progress
    with replacing(target) as sink:
        out = _TextWriter(sink, _make_encoder(encoding, bom), delimiter, look)
        report(0, layout.cell_count)
        for done in _write_columns(layout, look, out):
            report(done, layout.cell_count)


class _TextWriter:
    """Rows of text on their way into a sink."""

    def __init__(self, sink: Sink, encoder: codecs.IncrementalEncoder | None, delimiter: str, look: TextLook) -> None:
        self.sink, self.encoder, self.delimiter, self.look = sink, encoder, delimiter, look

    def write_row(self, cells: Sequence[Cell], *, end: str = _LINE_END) -> None:
        """Write one row."""
        line = self.delimiter.join(["" if cell is None else str(cell) for cell in cells])
        if line.count(self.delimiter) != len(cells) - 1 or any(mark in line for mark in _SPECIAL):
            line = self.delimiter.join(map(self.quote, cells))
        self.write_raw(line + end)

    def quote(self, cell: Cell) -> str:
        """Return a cell, in quotes where RFC 4180 wants them, and where it begins as a byte order mark does."""
        text = "" if cell is None else str(cell)
        if text.startswith(_MARKS) or any(mark in text for mark in (self.delimiter, '"', "\r", "\n")):
            return '"' + text.replace('"', '""') + '"'
        return text

    def write_raw(self, text: str) -> None:
        """Write text that needs no quotes."""
        try:
            self.sink.write(text.encode() if self.encoder is None else self.encoder.encode(text))
        except UnicodeEncodeError as error:
            lacking = error.object[error.start : error.end]
            raise DTypeError(f"{error.encoding} has no {lacking!r:.20}: write with encoding='utf-8'") from error

    def write_frame(self, frame: pl.DataFrame, *, end: str = _LINE_END, cut: int = 0) -> None:
        """Write the rows of a frame, less `cut` characters at the end; straight to a plain file's descriptor."""
        options: dict[str, Any] = {
            "include_header": False,
            "separator": self.delimiter,
            "line_terminator": end,
            "decimal_comma": self.look.decimal == ",",
        }
        if self.encoder is None and not cut and isinstance(self.sink, io.BufferedWriter):
            self.sink.flush()
            frame.write_csv(self.sink, **options)
            return
        text = io.BytesIO()
        frame.write_csv(text, **options)
        if self.encoder is None:
            self.sink.write(text.getvalue()[: -cut or None])
        else:
            self.write_raw(text.getvalue().decode()[: -cut or None])


def _write_columns(layout: Layout, look: TextLook, out: _TextWriter) -> Iterator[int]:
    row = 0
    for cells in layout.zone_rows(look):
        out.write_row(cells)
        row += 1
    yield layout.count_cells_above(row)
    for block in layout.body_blocks(look):
        out.write_frame(block)
        row += block.height
        yield layout.count_cells_above(row)


def _write_rows(layout: Layout, look: TextLook, out: _TextWriter) -> Iterator[int]:
    import polars as pl

    longest = max((piece.height for piece in layout.pieces), default=0)
    done = 0
    for piece in layout.pieces:
        out.write_row([*([format_name(piece.name, look)] if layout.named else ()), *piece.header], end="")
        if len(piece.buffer):
            out.write_raw(out.delimiter)
            out.write_frame(pl.DataFrame({"": piece.to_text(0, len(piece.buffer), look)}), end=out.delimiter, cut=1)
        out.write_raw(out.delimiter * (longest - piece.height) + _LINE_END)
        done += layout.named + piece.height
        yield done


def _make_encoder(encoding: str, bom: bool) -> codecs.IncrementalEncoder | None:
    """None for plain UTF-8, which the engine writes by itself."""
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
    """An encoder of a named byte order that begins with the mark all the same."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.inner, self.mark = codecs.getincrementalencoder(name)(), "\ufeff"

    def encode(self, text: str, final: bool = False) -> bytes:
        mark, self.mark = self.mark, ""
        return self.inner.encode(mark + text, final)


# Reading -----------------------------------------------------------------------------------------------------


def read_csv(
    source: Readable,
    names: Sequence[str] | None = None,
    *,
    delimiter: str | None = None,
    decimal: DecimalMark | None = None,
    encoding: str | None = None,
    strict: bool = False,
    missing: Missing = "error",
    formulas: FormulaMode = "escape",
    resize: bool = False,
    progress: Progress | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays of a delimited text, wherever in it they stand, as columns or as rows.

    Args:
        source: a path or an open file; gzip and Zstandard are recognised.
        names: only these arrays are decoded; None for all.
        delimiter: between cells; None finds it from the format itself.
        decimal: the decimal mark; None finds it likewise.
        encoding: None is the byte order mark's, else strict UTF-8.
        strict: refuse lists without a version.
        missing: "nan" reads blanks in float and complex arrays as NaN.
        formulas: "escape" takes away the apostrophe that `write_csv` put before text; "keep" leaves it.
        resize: where people have added or deleted rows, the axis that varies slowest takes its length from the cells
            that stand there.
        progress: called with the cells read and the cells in all.

    Returns:
        Arrays by name, in the order written; writeable, strides and offset as the header has them.

    Raises:
        FormatError: with `.location`, such as C17, of the first cell that is wrong.
        NotFoundError: no array of a name asked for.

    Example:
        >>> text = "t\\nversion\\n1.0.0\\nndarray\\nshape\\n2\\nstrides\\n1\\noffset\\n0\\norder\\nrow-major\\n"
        >>> read_csv(io.StringIO(text + "dtype\\nint8\\nlength\\n2\\ncapacity\\n2\\ndata\\n1\\n2\\n"))
        {'t': array([1, 2], dtype=int8)}
    """
    with Source(source) as opened, locating(source=opened.name):
        written = None if resize else find_written(opened, delimiter, decimal, encoding, formulas)
        if written is not None:
            with suppress(UnusualError):
                read = partial(written.read, missing=missing)
                arrays = read_composites(read, written.scan, names)
                total = count_named(read, written.scan, names) if progress else 0
                (progress or ignore_progress)(0, total)
                (progress or ignore_progress)(total, total)
                return arrays
        sheet = CsvSheet(opened, delimiter, decimal, encoding, formulas)
        total = count_cells([sheet], names, strict=strict) if progress else 0
        (progress or ignore_progress)(0, total)
        try:
            arrays = read_sheets([sheet], names, strict=strict, missing=missing, resize=resize)
        except FormatError as error:
            if not sheet.try_other_decimal():
                raise
            try:
                arrays = read_sheets([sheet], names, strict=strict, missing=missing, resize=resize)
            except FormatError:
                raise error from None
        (progress or ignore_progress)(total, total)
        return arrays


def scan_csv(
    source: Readable,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    strict: bool = False,
    formulas: FormulaMode = "escape",
    resize: bool = False,
) -> dict[str, ArrayInfo]:
    """Return what the headers say, reading no further than they go (arrays in rows: to the end).

    Arrays that begin below others are searched for; not where the text is remote, and stands as it was written.
    With `resize` shapes are those that `read_csv` gives with it, and all is read.

    Raises:
        FormatError: no array, or a broken header.
    """
    with Source(source) as opened, locating(source=opened.name):
        if not resize and (infos := scan_head(opened, delimiter, encoding, formulas, _scan_written)) is not None:
            return infos
        written = None if resize else find_written(opened, delimiter, None, encoding, formulas)
        if written is not None:
            with suppress(UnusualError):
                return _scan_written(written)
        sheet = CsvSheet(opened, delimiter, None if resize else ".", encoding, formulas)
        return scan_sheets([sheet], strict=strict, resize=resize)


def _scan_written(written: WrittenText) -> dict[str, ArrayInfo]:
    return scan_composites(lambda columns: written.read(columns, "nan"), written.scan)


def check_csv(
    source: Readable,
    *,
    delimiter: str | None = None,
    decimal: DecimalMark | None = None,
    encoding: str | None = None,
    missing: Missing = "error",
    formulas: FormulaMode = "escape",
) -> Iterator[Finding]:
    """Yield every finding in a delimited text; nothing for an intact one."""
    try:
        with Source(source) as opened:
            if (written := find_written(opened, delimiter, decimal, encoding, formulas)) is not None:
                with suppress(UnusualError):
                    written.read(None, missing)
                    yield from check_composites(lambda columns: written.read(columns, missing), written.scan)
                    return
            sheet = CsvSheet(opened, delimiter, decimal, encoding, formulas)
            findings = list(check_sheets([sheet], missing=missing))
            if findings and sheet.try_other_decimal():
                others = list(check_sheets([sheet], missing=missing))
                findings = others if len(others) < len(findings) else findings
    except FormatError as error:
        findings = [Finding.from_error(error)]
    yield from findings


def read_columns_csv(
    source: Readable,
    columns: Sequence[str] | None = None,
    *,
    dtype: DTypes = None,
    shape: Shapes = None,
    order: Order = "row-major",
    missing: Missing = "nan",
    delimiter: str | None = None,
    decimal: DecimalMark | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    header: bool | int | None = None,
    skip_rows: Rows = 0,
    skip_footer: int = 0,
    comment: str | None = None,
    na_values: Values = (),
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the columns of an ordinary table; see `sheetarray.read_columns`."""
    options = TableOptions(
        dtype=dtype,
        shape=shape,
        order=order,
        missing=missing,
        header=header,
        skip_rows=skip_rows,
        skip_footer=skip_footer,
        comment=comment,
        na_values=na_values,
        decimal=decimal,
        thousands=thousands,
    )
    with Source(source) as opened, locating(source=opened.name):
        skipped = options.skipped_above or options.skipped_rows
        sheet = CsvTable(opened, delimiter, decimal, encoding, skip_rows=skipped, comment=comment)
        return read_table(sheet, columns, options)
