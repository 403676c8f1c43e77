"""Every format of the registry passes the shipped suite of hostile files; rooms add samples that are special to one."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from examples import examples
from hostile import GLUE, WORDS, Hostile

import sheetarray as sa
from sheetarray.registry.inside import INSIDE
from sheetarray.testing.hostile import ARRAYS, Content

TEXT = ("csv", "tsv", "txt")
PIECES = tuple(word.encode() for word in [*WORDS, *GLUE])


def suite(name: str) -> type[Hostile]:
    """The suite for a format that can be written."""
    row = INSIDE[name]
    special = {"suffix": row.suffixes[0], "format": name, "reads_cut": name in TEXT}
    if name in (*TEXT, "json"):
        special["words"] = PIECES
    return type(f"TestHostile{name.title().replace('-', '')}", (Hostile,), special)


for each in INSIDE.values():
    if each.suffixes and each.instead is None:
        globals()[f"TestHostile{each.name.title().replace('-', '')}"] = suite(each.name)


class TestDialects(Hostile):
    """Delimited text as other options write it."""

    suffix, format, reads_cut, words = ".csv", "csv", True, PIECES
    tries = examples(80)
    options: tuple[dict[str, Any], ...] = (
        {"orient": "rows"},
        {"max_rows": 25, "delimiter": "\t"},
        {"delimiter": ";", "decimal": ","},
        {"encoding": "utf-16"},
        {"bom": True},
    )

    def samples(self, place: Path) -> Mapping[str, Content]:
        result = {}
        for options in self.options:
            file = io.BytesIO()
            sa.write(file, ARRAYS, format="csv", **options)
            result[repr(options)] = file.getvalue()
        return result


@pytest.mark.skipif("ods" not in INSIDE, reason="the adapter was deleted")
class TestOldWorkbooks(Hostile):
    """Workbooks that are only read, of an array of two elements and a table beside it."""

    suffix, format = ".ods", "ods"

    def samples(self, place: Path) -> Mapping[str, Content]:
        from foreign_books import binary_book, binary_cell, document, excel97_book, table_cell, table_row, wide, words

        cells = ["t", *words("float64", 2), 0.5, -7]
        binary = {
            row: [
                binary_cell(6, 0, wide(cell)) if isinstance(cell, str) else binary_cell(5, 0, struct.pack("<d", cell))
            ]
            for row, cell in enumerate(cells)
        }
        rows = [table_row(table_cell(cell if isinstance(cell, str) else float(cell))) for cell in cells]
        return {
            "ods": document({"arrays": "".join(rows)}),
            "xls": excel97_book({(row, 0): cell for row, cell in enumerate(cells)}),
            "xlsb": binary_book(binary, strings=["x"]),
        }
