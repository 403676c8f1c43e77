"""Ordinary tables: one ndarray for each column, no header of the exchange format needed.

A container gives all its cells as a `Table` (`cells`). `reading` says which rows hold names and data, and reads the
columns under the dtypes of the caller (`options`), or those that lose nothing (`inferring`, by the rules of
`numerals`). `writing` is the way back, of arrays of several dimensions too.
"""

from __future__ import annotations

from .cells import SHORT, RawColumn, ScalarColumn, Table, TableColumn, TableSheet, TextColumn
from .numerals import EXACT, WHITE, reads_as_value
from .options import DTypeLike, DTypes, NamedTable, Rows, Shape, Shapes, TableOptions, Values
from .reading import cast_column, read_table
from .writing import LabelledTable, coarsen, find_changes, lay_out_table, notes_of_columns, repeat

__all__ = [
    "EXACT",
    "SHORT",
    "WHITE",
    "DTypeLike",
    "DTypes",
    "LabelledTable",
    "NamedTable",
    "RawColumn",
    "Rows",
    "ScalarColumn",
    "Shape",
    "Shapes",
    "Table",
    "TableColumn",
    "TableOptions",
    "TableSheet",
    "TextColumn",
    "Values",
    "cast_column",
    "coarsen",
    "find_changes",
    "lay_out_table",
    "notes_of_columns",
    "read_table",
    "reads_as_value",
    "repeat",
]
