"""Parquet and Arrow files: arrays of one length as the columns of a table, by polars."""

from __future__ import annotations

from .adapter import (
    check_columnar,
    keeps_columnar,
    read_columnar,
    read_columns_columnar,
    scan_columnar,
    write_columnar,
    write_table_columnar,
)

__all__ = [
    "check_columnar",
    "keeps_columnar",
    "read_columnar",
    "read_columns_columnar",
    "scan_columnar",
    "write_columnar",
    "write_table_columnar",
]
