"""Which adapter a suffix or a URL means; nothing is imported before it is needed.

`FORMATS` holds a row for each format: those of this package, those that `register_format` has added, and those that
installed packages give under the entry point group `sheetarray.formats`. A row names a module and the stem of its
functions: `read_csv`, `write_csv`, `scan_csv`, `check_csv`, `read_columns_csv` for the stem `csv`; a format that lacks
a verb leaves the function out. docs/adapters.md says how to write one.
"""

from __future__ import annotations

from .lookup import (
    FORMATS,
    composites,
    find_format,
    format_of,
    is_place,
    known_options,
    locate_place,
    locate_places,
    read_head,
    register_format,
    rewinding,
)
from .refusals import nearest, place_problem
from .row import Composite, Format

__all__ = [
    "FORMATS",
    "Composite",
    "Format",
    "composites",
    "find_format",
    "format_of",
    "is_place",
    "known_options",
    "locate_place",
    "locate_places",
    "nearest",
    "place_problem",
    "read_head",
    "register_format",
    "rewinding",
]
