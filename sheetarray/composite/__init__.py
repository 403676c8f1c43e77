"""Composites, which are spread over several columns: taken apart before cells are written, put together after reading.

A composite is one value that no single column holds, such as an awkward array. The adapter that knows its form offers
a module of four functions (`CompositeModule`), and its row in the registry names that module. Labels are the other
kind: one column that describes all others, and leaves them as they are (`LabelsModule`). Every container of columns
goes through the functions here, so that `sa.write` and `write_csv`, `read`, `scan` and `check` all show the same
arrays. The modules are imported only when there is such a value, or text that may describe one.
"""

from __future__ import annotations

from .columns import (
    check_composites,
    count_named,
    find_fixed_columns,
    is_for_programs,
    read_composites,
    scan_composites,
)
from .sheets import check_sheets, count_cells, read_resized_arrays, read_sheets, scan_sheets
from .writing import spread, spread_rows

__all__ = [
    "check_composites",
    "check_sheets",
    "count_cells",
    "count_named",
    "find_fixed_columns",
    "is_for_programs",
    "read_composites",
    "read_resized_arrays",
    "read_sheets",
    "scan_composites",
    "scan_sheets",
    "spread",
    "spread_rows",
]
