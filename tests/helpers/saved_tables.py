"""Ordinary tables as other programs save them: text with the marks of a suffix, or a workbook of openpyxl."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl

NAMES = ["id", "price", "count", "name", "day"]
Rows = dict[int, list[Any]]  # the cells of each row but its id, by its id


def make_row(rng: random.Random) -> list[Any]:
    """The cells of a row but its id, of numbers that 15 digits hold."""
    day = np.datetime64("2024-01-01") + rng.randrange(300)
    return [rng.randrange(1, 10**6) / 10**4 + 0.0, rng.randrange(10**6), f"name {rng.randrange(10**6)}", day]


def save_table(table: Rows, path: Path) -> Path:
    """Save rows, and return the path."""
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        book.active.append(NAMES)
        for key, row in table.items():
            book.active.append([key, *row[:3], row[3].item()])
        book.save(path)
        return path
    delimiter, decimal = {".tsv": ("\t", "."), ".csv": (",", "."), ".txt": (";", ",")}[path.suffix]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(NAMES)
        for key, (price, *rest) in table.items():
            writer.writerow([key, str(price).replace(".", decimal), *rest])
    return path
