"""CSV, TSV and any other delimited text: names in row 1, one array a column, short columns padded with blanks.

The text follows RFC 4180: UTF-8, CRLF, quotes where a cell needs them. The exchange format is that of
https://github.com/stdlib-js/stdlib/issues/1140, whose cells `columns` lays out and finds again; this package only knows
bytes: the encoding, the delimiter, quotes, and how many cells are written and parsed at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from ...adapters import CELL_CHARACTERS, Progress, ignore_progress
from ...arrays import linear_arrays
from ...cells import FormulaMode, TextLook
from ...columns import lay_out
from ...columns.grid import Orient
from ...composite import (
    spread,
)
from ...elements import generic_from_text, unescape_formula
from ...elements.scalars import DecimalMark
from ...errors import DTypeError, LimitError
from ...files import Writable, locate, replacing
from ...linear import LinearArray
from ...tables import lay_out_table
from .dialect import check_marks
from .grids import iter_grids
from .text_writer import TextWriter, make_encoder, write_columns, write_rows

_LOSES_APOSTROPHE = (
    "would lose its apostrophe when it is read without formulas='keep': write with formulas='escape', which every text "
    "comes back from"
)


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
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Write arrays as delimited text, one column each.

    Args:
        target: a path, replaced as a whole (`.gz` and `.zst` compress), or an open file.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        delimiter: one character between cells.
        decimal: the decimal mark of floats and complex numbers.
        encoding: of the text; its byte order mark is written if `bom` asks for it, and always for UTF-16 and UTF-32.
        bom: begin with a byte order mark (Excel takes a CSV for UTF-8 only then).
        names: whether row 1 (column A for orient="rows") holds the names.
        orient: "rows" writes one array a row.
        formulas: "escape" puts an apostrophe before text that a spreadsheet would evaluate; "keep" leaves it, and
            refuses text that would come back changed unless it is read with "keep", too.
        max_rows: rows that the reading program has (Excel: 1,048,576); longer arrays go on in the next column.
        layout: "grid" writes tables for people, slice by slice with their labels, which nothing reads again.
        progress: called with the cells written and the cells in all.
        storage_options: for the file system of a URL, such as `anon`, or `key` and `secret`.

    Raises:
        DTypeError: an array that no dtype of the format holds, text that the encoding lacks, or text such as `'=1` with
            formulas="keep".
        LimitError: a blank name, a delimiter that cells may hold, or options that no grid has; before anything is
            written.

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
    if orient not in ("columns", "rows") or formulas not in ("escape", "keep"):
        raise LimitError('orient is "columns" or "rows", formulas is "escape" or "keep"')
    linear = linear_arrays(spread(arrays, limit=CELL_CHARACTERS))
    look, report = TextLook(decimal, formulas), progress or ignore_progress
    if layout not in ("columns", "grid"):
        raise LimitError(f'layout is "columns" or "grid", not {layout!r:.80}')
    if layout == "grid" and (not names or orient != "columns" or max_rows is not None):
        raise LimitError('layout="grid" takes no names=, orient= and max_rows=: it is for people to read')
    if layout == "columns" and formulas == "keep":
        _check_apostrophes(linear, names)
    made = lay_out(linear, names=names, max_rows=max_rows if orient == "columns" else None)
    encoder = make_encoder(encoding, bom)
    with replacing(target) as sink:
        out = TextWriter(sink, encoder, delimiter, look)
        if layout == "grid":
            _write_grids(linear, look, out, report)
            return
        report(0, made.cell_count)
        for done in (write_columns if orient == "columns" else write_rows)(made, look, out):
            report(done, made.cell_count)


def _check_apostrophes(arrays: Mapping[str, LinearArray], names: bool) -> None:
    """Refuse names and text from which `read_csv` would take an apostrophe that nobody has put there.

    Raises:
        DTypeError: an element is such a text.
        LimitError: a name is.
    """
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


def _write_grids(arrays: Mapping[str, LinearArray], look: TextLook, out: TextWriter, report: Progress) -> None:
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

    Args:
        target: a path, replaced as a whole (`.gz` and `.zst` compress), or an open file.
        table: a mapping of names to 1-D arrays of one length, a DataFrame of pandas or polars, or an Arrow table.
        delimiter: as for `write_csv`.
        decimal: as for `write_csv`.
        encoding: as for `write_csv`.
        bom: as for `write_csv`.
        formulas: as for `write_csv`.
        progress: called with the cells written and the cells in all.

    Raises:
        DTypeError: an array that is no column, or that no text holds.
        LimitError: columns of different lengths, or a delimiter that cells may hold; before anything is written.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file = io.StringIO()
        >>> write_table_csv(file, {"id": np.array(["007"]), "t": np.array([1.5])})
        >>> file.getvalue().split()
        ['id,t', '007,1.5']
    """
    check_marks(delimiter, decimal)
    if formulas not in ("escape", "keep"):
        raise LimitError('formulas is "escape" or "keep"')
    layout, look, report = lay_out_table(table), TextLook(decimal, formulas), progress or ignore_progress
    with replacing(target) as sink:
        out = TextWriter(sink, make_encoder(encoding, bom), delimiter, look)
        report(0, layout.cell_count)
        for done in write_columns(layout, look, out):
            report(done, layout.cell_count)
