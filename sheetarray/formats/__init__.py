"""The table of formats: finds the adapter for a suffix, a URL or a name, and imports it when it is needed.

`FORMATS` has a row for each format: those of this package, those that you add with `register_format`, and those of
installed packages that declare them (`outside`). A row names a module and the stem of its
functions. For the stem `csv` these are `read_csv`, `write_csv`, `scan_csv`, `check_csv` and others. A format may lack
some of them. docs/adapters.md shows how to write a format of your own.
"""

from __future__ import annotations

from .lookup import (
    FORMATS,
    find_composite,
    find_format,
    format_of,
    is_place,
    is_service,
    is_service_url,
    known_options,
    list_rows,
    locate_place,
    locate_places,
    read_head,
    register_format,
    rewinding,
)
from .refusals import place_problem
from .row import Format

__all__ = [
    "FORMATS",
    "Format",
    "find_composite",
    "find_format",
    "format_of",
    "is_place",
    "is_service",
    "is_service_url",
    "known_options",
    "list_rows",
    "locate_place",
    "locate_places",
    "place_problem",
    "read_head",
    "register_format",
    "rewinding",
]
