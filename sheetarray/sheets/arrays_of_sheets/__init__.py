"""Takes awkward arrays and labels apart into columns before a write, and puts them together after a read.

A composite is one value that no single column holds: an awkward array. Its adapter offers `spread`, `gather`,
`is_schema`, `described_columns` and `described_length` in the module that its row in the registry names. That module
is imported only when there is such a value, or text that may describe one. Labels are the other kind: one column that
describes all others, and leaves them as they are. Every container of columns goes through the functions here, so that
`sa.write` and `write_csv`, `read`, `scan` and `check` all show the same arrays.
"""

from __future__ import annotations

from .gathering import (
    check_composites,
    count_named,
    find_fixed_columns,
    is_for_programs,
    read_composites,
    scan_composites,
)
from .sheets import check_sheets, open_sheets, read_resized_arrays, scan_sheets
from .spreading import spread, spread_rows

__all__ = [
    "check_composites",
    "check_sheets",
    "count_named",
    "find_fixed_columns",
    "is_for_programs",
    "open_sheets",
    "read_composites",
    "read_resized_arrays",
    "scan_composites",
    "scan_sheets",
    "spread",
    "spread_rows",
]
