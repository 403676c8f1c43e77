"""Parquet and Arrow files: arrays as the columns of one table, or as a table with coordinates, by polars."""

from __future__ import annotations

from .adapter import (
    check_arrow,
    check_parquet,
    keeps_arrow,
    keeps_parquet,
    read_arrow,
    read_columns_arrow,
    read_columns_parquet,
    read_parquet,
    scan_arrow,
    scan_parquet,
    write_arrow,
    write_parquet,
    write_table_arrow,
    write_table_parquet,
)

__all__ = [
    "check_arrow",
    "check_parquet",
    "keeps_arrow",
    "keeps_parquet",
    "read_arrow",
    "read_columns_arrow",
    "read_columns_parquet",
    "read_parquet",
    "scan_arrow",
    "scan_parquet",
    "write_arrow",
    "write_parquet",
    "write_table_arrow",
    "write_table_parquet",
]
