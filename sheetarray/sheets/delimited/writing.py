"""Arrays and tables to CSV, TSV and any other delimited text: names in row 1, one array a column.

The exchange format is that of https://github.com/stdlib-js/stdlib/issues/1140, whose cells `columns` lays out and finds
again; `text_writer` puts them in lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...columns import SheetRoom, lay_out_sheets
from ...columns.grid import Orient
from ...elements import FormulaMode, TextLook, generic_from_text, unescape_formula
from ...elements.spelling import DecimalMark
from ...errors import DTypeError, LimitError, check_kinds, parse_count
from ...files import Writable, locate, replacing
from ...formats.contract import CELL_CHARACTERS, Progress, ignore_progress
from ...linear.array import LinearArray
from ..content import SheetContent, lay_out_columns, take_arrays
from .dialect import check_marks
from .encodings import make_encoder
from .text_writer import TextWriter, write_as_columns, write_as_rows

_LOSES_APOSTROPHE = (
    "would lose its apostrophe when somebody reads it without formulas='keep': write with formulas='escape', which "
    "keeps every text"
)


@dataclass(frozen=True)
class TextOptions:
    """How cells are written as text, as a caller asks for it.

    Raises:
        ValueError: cells may contain the delimiter, such as a decimal comma; or an option has none of its values.
    """

    delimiter: str = ","
    decimal: DecimalMark = "."
    encoding: str = "utf-8"
    bom: bool = False
    formulas: FormulaMode = "escape"
    orient: Orient = "columns"
    report: Progress = ignore_progress  # called with the cells written and the cells in all

    def __post_init__(self) -> None:
        check_marks(self.delimiter, self.decimal)
        if self.orient not in ("columns", "rows") or self.formulas not in ("escape", "keep"):
            raise ValueError('orient is "columns" or "rows", formulas is "escape" or "keep"')


def write(target: Writable, content: SheetContent, options: TextOptions) -> None:
    """Write the cells of a sheet as delimited text; a DTypeError for a character that the encoding lacks."""
    (layout,) = content.layouts
    encoder, look = make_encoder(options.encoding, options.bom), TextLook(options.decimal, options.formulas)
    write_layout = write_as_columns if options.orient == "columns" else write_as_rows
    count = layout.cell_count
    with replacing(target, cells=count) as sink:
        options.report(0, count)
        for done in write_layout(layout, look, TextWriter(sink, encoder, options.delimiter, look)):
            options.report(done, count)


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
    options = TextOptions(delimiter, decimal, encoding, bom, formulas, orient, progress or ignore_progress)
    check_kinds(bool, "True or False", names=names)
    max_rows = None if max_rows is None else parse_count("row", max_rows=max_rows)
    linear = take_arrays(arrays, CELL_CHARACTERS)
    if formulas == "keep":
        _check_apostrophes(linear, names)
    (layout,) = lay_out_sheets(linear, SheetRoom(max_rows if orient == "columns" else None), names=names)
    write(target, SheetContent("", [layout], arrays=linear), options)


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
    na_rep: str = "",
    progress: Progress | None = None,
) -> None:
    """Write the columns of a table as delimited text, under a row of names; see `sheetarray.write_table`.

    Arguments are those of `sheetarray.write_table` and `write_csv`.

    Raises:
        DTypeError: an array is not 1-D, or text cannot hold it.
        LimitError: columns have different lengths. Nothing was written.
        ValueError: cells may contain the delimiter, or `na_rep` may be read as a value.
    """
    report = progress or ignore_progress
    options = TextOptions(delimiter, decimal, encoding, bom, formulas, report=report)
    if delimiter in str(na_rep):
        raise ValueError(f"na_rep={na_rep!r:.60} holds the delimiter {delimiter!r}")
    write(target, lay_out_columns(table, SheetRoom(), na_rep=na_rep), options)
