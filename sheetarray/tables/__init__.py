"""Ordinary tables: one ndarray for each column, no header of the exchange format needed.

A container gives all its cells as a `Table` (`cells`). A text is cut into cells by the marks that explain it best
(`hypotheses`, by the `kinds` of cells). `heading` finds the rows of names and of data; `rows`, `names` and
`column_reading` read them under the dtypes of the caller (`options`, `given`), or those that lose nothing (`inferring`,
by the rules of `numerals`). What was assumed is a `Dialect`, what speaks against it are `doubts`. `writing` is the way
back, of arrays of several dimensions too.
"""

from __future__ import annotations

from .cells import (
    ROWS_OF_ANCHOR,
    SHORT,
    TOP,
    TOP_ROWS,
    RawColumn,
    ScalarColumn,
    Table,
    TableColumn,
    TableSheet,
    TextColumn,
    mark_blanks,
)
from .dialect import Dialect
from .doubtful.totals import ends_in_totals, find_word, fits_totals, sums_up
from .doubts import Doubt, warn_of
from .given import cast_column, given_dtypes, is_same_column, list_new_texts
from .heading import list_cells
from .hypotheses import (
    COMMON,
    SPACED,
    WHITESPACE,
    Choice,
    Marks,
    Sample,
    cut_row,
    cut_rows,
    delimiter_pattern,
    find_marks,
    sample_field_pattern,
    stands_between_values,
    unquote,
)
from .inferring import holds_text
from .kinds import TYPED, kind_of
from .labelled import LabelledTable, notes_of_columns, repeat
from .numerals import EXACT, WHITE, MarksLook
from .options import (
    AppendOptions,
    CheckedOptions,
    DTypeLike,
    DTypes,
    NamedTable,
    RecordedOptions,
    Rows,
    SearchOptions,
    Shape,
    Shapes,
    SplitOptions,
    TableOptions,
)
from .reading import TableColumns, read_table, read_tables, refuse_arrays
from .writing import coarsen, count_blank_rows, find_changed_columns, lay_out_table

__all__ = [
    "COMMON",
    "EXACT",
    "ROWS_OF_ANCHOR",
    "SHORT",
    "SPACED",
    "TOP",
    "TOP_ROWS",
    "TYPED",
    "WHITE",
    "WHITESPACE",
    "AppendOptions",
    "CheckedOptions",
    "Choice",
    "DTypeLike",
    "DTypes",
    "Dialect",
    "Doubt",
    "LabelledTable",
    "Marks",
    "MarksLook",
    "NamedTable",
    "RawColumn",
    "RecordedOptions",
    "Rows",
    "Sample",
    "ScalarColumn",
    "SearchOptions",
    "Shape",
    "Shapes",
    "SplitOptions",
    "Table",
    "TableColumn",
    "TableColumns",
    "TableOptions",
    "TableSheet",
    "TextColumn",
    "cast_column",
    "coarsen",
    "count_blank_rows",
    "cut_row",
    "cut_rows",
    "delimiter_pattern",
    "ends_in_totals",
    "find_changed_columns",
    "find_marks",
    "find_word",
    "fits_totals",
    "given_dtypes",
    "holds_text",
    "is_same_column",
    "kind_of",
    "lay_out_table",
    "list_cells",
    "list_new_texts",
    "mark_blanks",
    "notes_of_columns",
    "read_table",
    "read_tables",
    "refuse_arrays",
    "repeat",
    "sample_field_pattern",
    "stands_between_values",
    "sums_up",
    "unquote",
    "warn_of",
]
