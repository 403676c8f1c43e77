"""Arrays <-> the columns of a sheet, for every container that has cells.

`grid` knows addresses; `words` and `anchors` find arrays in what people made of a sheet; `layout` says which cells an
array takes when it is written; `reading` turns the cells of a sheet back into arrays. A container says how many rows
it has, and moves the cells.
"""

from __future__ import annotations

from .accepting import (
    ElementEdits,
    HeaderEdit,
    ResizedArray,
    check_accept_target,
    find_element_edits,
    find_header_edits,
    find_name_cells,
)
from .anchors import MOST_BROKEN, anchors_of_grid, find_anchors
from .beginnings import may_make_anchors
from .blocks.mapping import are_mapped
from .column import ArrayColumn
from .grid import cell_address, column_letters, quote_title
from .layout import ElementRun, Layout, LayoutColumn
from .parts import MOST_ADDRESSES, ReportError
from .placing import SheetRoom, can_align, lay_out_sheets
from .reading import ElementRestorer, JudgeArray, SheetArrays
from .refusals import MOST_ARRAYS, MOST_DESCRIPTIONS, too_many_arrays, too_many_descriptions
from .row_edits import UNEVEN_HINT, RowChange, describe_uneven_rows
from .sheet import (
    ArrayInfo,
    Block,
    ColumnCells,
    DataCells,
    Request,
    Sheet,
    Texts,
    Zone,
    cells_of_zone,
    reporting_cells,
)
from .side_by_side import find_side_by_side
from .unreadable import errors_of_problems, keep_errors, keep_unreadable, keeping_unreadable, keeps_none
from .words import DESCRIPTION, Anchor, Words

__all__ = [
    "DESCRIPTION",
    "MOST_ADDRESSES",
    "MOST_ARRAYS",
    "MOST_BROKEN",
    "MOST_DESCRIPTIONS",
    "UNEVEN_HINT",
    "Anchor",
    "ArrayColumn",
    "ArrayInfo",
    "Block",
    "ColumnCells",
    "DataCells",
    "ElementEdits",
    "ElementRestorer",
    "ElementRun",
    "HeaderEdit",
    "JudgeArray",
    "Layout",
    "LayoutColumn",
    "ReportError",
    "Request",
    "ResizedArray",
    "RowChange",
    "Sheet",
    "SheetArrays",
    "SheetRoom",
    "Texts",
    "Words",
    "Zone",
    "anchors_of_grid",
    "are_mapped",
    "can_align",
    "cell_address",
    "cells_of_zone",
    "check_accept_target",
    "column_letters",
    "describe_uneven_rows",
    "errors_of_problems",
    "find_anchors",
    "find_element_edits",
    "find_header_edits",
    "find_name_cells",
    "find_side_by_side",
    "keep_errors",
    "keep_unreadable",
    "keeping_unreadable",
    "keeps_none",
    "lay_out_sheets",
    "may_make_anchors",
    "quote_title",
    "reporting_cells",
    "too_many_arrays",
    "too_many_descriptions",
]
