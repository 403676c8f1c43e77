"""Every format of the registry passes the shipped suite of hostile files; rooms add samples that are special to one."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from examples import examples
from hostile import GLUE, WORDS, Hostile, HostileSamples

import sheetarray as sa
from sheetarray.formats.inside import INSIDE
from sheetarray.testing.hostile import ARRAYS, UNITS, Content

TEXT = ("csv", "tsv", "txt")
READ_CUT = (*TEXT, "zarr")  # by Zarr's specification a chunk that is not there holds fill values
PIECES = tuple(word.encode() for word in [*WORDS, *GLUE])


def suite(name: str) -> type[Hostile]:
    """The suite for a format that can be written."""
    row = INSIDE[name]
    special = {"suffix": row.suffixes[0], "format": name, "reads_cut": name in READ_CUT}
    if name in (*TEXT, "json"):
        special["words"] = PIECES
    if name == "zarr":  # each is a folder of many files
        special["tries"] = examples(60)
    if name in ("arrow", "parquet"):
        special["samples"] = columns
    is_alias = name in TEXT[1:]  # read by the module that reads .csv, to which floods, bombs and bytes are the same
    if is_alias:
        special |= {"tries": examples(50), "test_floods_and_nesting_take_no_memory": None}
    return type(f"TestHostile{name.title().replace('-', '')}", (HostileSamples if is_alias else Hostile,), special)


def columns(self: Hostile, place: Path) -> Mapping[str, Content]:
    """Files of one array each: columns of one length."""
    arrays = {name: array.ravel() for name, array in ARRAYS.items() if name not in ("c", "g")}
    return {name: self._written(place, {name: array}) for name, array in arrays.items()}


for each in INSIDE.values():
    if each.suffixes and each.instead is None:
        globals()[f"TestHostile{each.name.title().replace('-', '')}"] = suite(each.name)


class TestDialects(HostileSamples):
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

    def test_floods_and_nesting_take_no_memory(self, place: Path) -> None:
        """Floods amid a text; a flood alone is no other one for .csv."""
        samples = list(self.samples(place).values())
        for number, unit in enumerate(UNITS):
            content = samples[number % len(samples)]
            assert isinstance(content, bytes)
            middle = len(content) // 2
            self._survives(place, content[:middle] + unit * (100_000 // len(unit)) + content[middle:])

    test_bytes_of_anything_are_read_or_refused = Hostile.test_bytes_of_anything_are_read_or_refused  # they begin alike


@pytest.mark.skipif("ods" not in INSIDE, reason="the adapter was deleted")
class TestOldWorkbooks(Hostile):
    """Workbooks that are only read, of an array of two elements, and of cells of every kind beside it."""

    suffix, format = ".ods", "ods"
    tries = examples(80)  # each takes a process

    def samples(self, place: Path) -> Mapping[str, Content]:
        from foreign_books import book_of_everything, document, table_cell, table_row, words

        rows = [table_row(table_cell(cell)) for cell in ("t", *map(_as_cell, words("float64", 2)), 0.5, -7.0)]
        return {
            "ods": document({"arrays": "".join(rows)}),
            "xls": book_of_everything("xls"),
            "xlsb": book_of_everything("xlsb"),
        }


def _as_cell(word: str | int) -> str | float:
    return word if isinstance(word, str) else float(word)
