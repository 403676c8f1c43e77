"""Options that several commands share, KEY=VALUE pairs that become options of formats, and hints that name them."""

from __future__ import annotations

from .format_options import (
    MOST_LINES,
    NA_VALUE,
    FormatOptions,
    all_option,
    json_option,
    print_left_out,
    reading_options,
    writing_options,
)
from .hints import hint_at_option, to_cli_options
from .storage import add_storage_option, storage_options
from .usage import FILE, UsageProblem

__all__ = [
    "FILE",
    "MOST_LINES",
    "NA_VALUE",
    "FormatOptions",
    "UsageProblem",
    "add_storage_option",
    "all_option",
    "hint_at_option",
    "json_option",
    "print_left_out",
    "reading_options",
    "storage_options",
    "to_cli_options",
    "writing_options",
]
