"""Ordinary tables as other programs save them: text with the marks of a suffix, or a workbook (.xlsx, .ods)."""

from __future__ import annotations

import csv
import random
import zipfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl

NAMES = ["id", "price", "count", "name", "day"]
Rows = dict[int, list[Any]]  # the cells of each row but its id, by its id


def make_row(rng: random.Random) -> list[Any]:
    """The cells of a row but its id, of numbers that 15 digits hold."""
    day = np.datetime64("2024-01-01") + np.timedelta64(rng.randrange(300), "D")
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
    if path.suffix == ".ods":
        save_ods([NAMES, *([key, *row] for key, row in table.items())], path)
        return path
    delimiter, decimal = {".tsv": ("\t", "."), ".csv": (",", "."), ".txt": (";", ",")}[path.suffix]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(NAMES)
        for key, (price, *rest) in table.items():
            writer.writerow([key, str(price).replace(".", decimal), *rest])
    return path


def save_ods(rows: Sequence[Sequence[Any]], path: Path) -> None:
    """Save rows of cells as the smallest OpenDocument spreadsheet that LibreOffice opens."""
    spaces = "".join(
        f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{prefix}:1.0"'
        for prefix in ("office", "table", "text")
    )
    xml_rows = "".join(f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows)
    body = f'<office:spreadsheet><table:table table:name="Sheet">{xml_rows}</table:table></office:spreadsheet>'
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("mimetype", kind)
        package.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
            '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
            "</manifest:manifest>",
        )
        package.writestr(
            "content.xml",
            f'<office:document-content{spaces} office:version="1.2"><office:body>{body}</office:body>'
            "</office:document-content>",
        )


def _ods_cell(value: Any) -> str:
    if value is None or value == "":
        return "<table:table-cell/>"
    if isinstance(value, bool):
        return f'<table:table-cell office:value-type="boolean" office:boolean-value="{str(value).lower()}"/>'
    if isinstance(value, np.datetime64):
        return f'<table:table-cell office:value-type="date" office:date-value="{value}"/>'
    if isinstance(value, int | float):
        return f'<table:table-cell office:value-type="float" office:value="{value!r}"/>'
    return f'<table:table-cell office:value-type="string"><text:p>{escape(str(value))}</text:p></table:table-cell>'
