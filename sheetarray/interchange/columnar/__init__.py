"""Parquet and Arrow files: arrays as the columns of one table, or as a table with coordinates, by polars."""

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
