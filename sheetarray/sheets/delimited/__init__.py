"""Delimited text, CSV and its kin: the functions of the adapter."""

from __future__ import annotations

from ...formats.contract import Keeps
from .accepting import accept_csv, list_other_cells_csv, revise_csv
from .appending import append_table_csv
from .reading import check_csv, iter_elements_csv, read_columns_csv, read_csv, scan_csv
from .rows_by_bytes import read_elements_csv
from .table_revising import revise_table_csv
from .writing import write_csv, write_table_csv

__all__ = [
    "accept_csv",
    "append_table_csv",
    "check_csv",
    "iter_elements_csv",
    "keeps_csv",
    "list_other_cells_csv",
    "read_columns_csv",
    "read_csv",
    "read_elements_csv",
    "revise_csv",
    "revise_table_csv",
    "scan_csv",
    "write_csv",
    "write_table_csv",
]

keeps_csv = Keeps(buffers=True, nested=True, labels=True)
