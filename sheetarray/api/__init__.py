"""read, write, scan, check, accept, restore, merge, read_columns, write_table, iter_blocks: the verbs.

Each finds the adapter by suffix or URL and hands over; options go to the adapter as they are, and a name that it
does not know is an error. A path may be a URL of a file, with `storage_options` for its file system.
"""

from __future__ import annotations

from .accepting import accept, convert_one, restore
from .arrays import check, check_readable, check_writable, read, read_labelled, scan, write, write_releasing
from .blocks import iter_blocks
from .conflicts_json import describe_value
from .merged import Merged
from .merging import merge
from .opened import open_arrays, open_side
from .ordinary import refuse_unknown
from .shown import format_shape, shorten
from .tables import read_columns, write_table
from .targets import SourceOrTarget, folder_beside

__all__ = [
    "Merged",
    "SourceOrTarget",
    "accept",
    "check",
    "check_readable",
    "check_writable",
    "convert_one",
    "describe_value",
    "folder_beside",
    "format_shape",
    "iter_blocks",
    "merge",
    "open_arrays",
    "open_side",
    "read",
    "read_columns",
    "read_labelled",
    "refuse_unknown",
    "restore",
    "scan",
    "shorten",
    "write",
    "write_releasing",
    "write_table",
]
