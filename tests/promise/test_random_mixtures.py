"""Ordinary data in random shapes: many arrays of many dtypes in every format, and tables of every program.

Long columns of one dtype and narrow tables are what other tests have; here are mixed kinds beside each other, of all
lengths, with blanks here and there, as people have them. Each case is a seed: the same ones in every run, and others,
many more, with EXAMPLES=1.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import limited
from examples import ANEW, examples
from mixtures import random_arrays, random_elements, random_table
from services import ENDPOINT, Spreadsheet
from table_writers import OF_SEVERAL_KINDS, WRITERS, assert_column

import sheetarray as sa
from sheetarray.registry import FORMATS
from sheetarray.testing.cases import assert_same
from sheets_emulator import SheetsServer

_CELLS = 20_000  # at most, in a file
_ORIENTED = ("csv", "tsv", "txt")
_SEVERAL = [name for name, row in FORMATS.items() if row.instead is None and row.keeps and row.keeps.several]


def seeds(count: int) -> Iterator[int]:
    """Yield seeds: an eighth of so many, the same in every run, or as many as are asked for, drawn anew."""
    yield from ((secrets.randbits(32) for _ in range(examples(count))) if ANEW else range(examples(count)))


def fit(name: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return arrays without what a format does not take or does not change: no axes, or another byte order."""
    if name == "awkd":
        return {key: np.atleast_1d(array) for key, array in arrays.items()}
    if name == "avro":  # keeps the byte order
        return {key: array.astype(array.dtype.newbyteorder("=")) for key, array in arrays.items()}
    return arrays


def hold(name: str, place: Any, arrays: dict[str, Any], **options: Any) -> None:
    """Assert that arrays come back from a place, whole and by name, and that nothing is found wrong with them."""
    sa.write(place, arrays, **options)
    arrays_read = sa.read(place)
    assert list(arrays_read) == (
        sorted(arrays) if name == "ra" and Path(place).is_dir() else list(arrays)
    )  # sorted files
    keeps = FORMATS[name].keeps
    assert keeps is not None
    for key, array in arrays.items():
        assert_same(arrays_read[key], array, layout=keeps.order)
    assert [str(finding) for finding in sa.check(place)] == []
    infos = sa.scan(place)
    assert {key: (info.shape, info.dtype) for key, info in infos.items()} == {
        key: (array.shape, sa.LinearArray.from_numpy(array).dtype) for key, array in arrays.items()
    }
    chosen = list(arrays)[:: max(1, len(arrays) // 3)][::-1]
    some = sa.read(place, chosen)
    assert set(some) == set(chosen)
    for key in chosen:
        assert_same(some[key], arrays[key], layout=keeps.order)


@pytest.mark.filterwarnings("ignore:.*keeps no column-major order:sheetarray.SheetArrayWarning")
@pytest.mark.parametrize(
    "name", [name for name in _SEVERAL if FORMATS[name].suffixes and not FORMATS[name].keeps.table]
)
def test_many_arrays_come_back(name: str, tmp_path: Path) -> None:
    row = FORMATS[name]
    assert row.keeps is not None
    for seed in seeds(24):
        arrays = fit(name, random_arrays(seed, row.keeps.dtypes, most_cells=_CELLS))
        place = tmp_path / f"{seed}{row.suffixes[0]}"
        if row.folders == "write":
            place.mkdir()
        options = {"orient": "rows"} if name in _ORIENTED and seed % 3 == 2 else {}
        try:
            hold(name, place, arrays, **options)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error


def test_many_arrays_come_back_from_google(
    server: SheetsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENDPOINT, server.url)
    for seed in seeds(16):
        arrays = random_arrays(seed, FORMATS["csv"].keeps.dtypes, most_cells=_CELLS // 8)
        try:
            hold("csv", Spreadsheet.new(server, tmp_path), arrays)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error


@pytest.mark.parametrize("writer", WRITERS)
def test_tables_of_every_program_come_back(writer: str, tmp_path: Path) -> None:
    for seed in seeds(24):
        hold_table(seed, tmp_path, writer, None)


@pytest.mark.parametrize(
    ("writer", "size"),
    [
        (writer, size)
        for number, size in enumerate([(1, 1), (1000, 20), (20, 300), (2000, 20), (20, 2000)])
        for index, writer in enumerate(WRITERS)
        if ANEW or (number + index) % 6 == 0
    ],
)
def test_large_and_wide_tables_of_programs_come_back(writer: str, size: tuple[int, int], tmp_path: Path) -> None:
    hold_table(next(seeds(8)), tmp_path, writer, size)


def hold_table(seed: int, folder: Path, writer: str, size: tuple[int, int] | None) -> None:
    """Assert that a table comes back cell for cell as it was written."""
    suffix, write = WRITERS[writer]
    path = folder / f"{seed}{suffix}"
    table = random_table(seed, most_cells=6000, size=size, several=writer in OF_SEVERAL_KINDS)
    write(path, table)
    columns = sa.read_columns(path)
    try:
        assert list(columns) == list(table)
        for name, column in table.items():
            assert_column(columns[name], column)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}, {path.suffix}, {len(table)} columns: {name}") from error


# Wide sheets ---------------------------------------------------------------------------------------------------

_SECONDS = 5  # of CPU time, of which a wide sheet of mixed kinds takes one; a few queries a column took 8 to 50


def test_a_table_as_wide_as_a_sheet_is_read_in_seconds(tmp_path: Path) -> None:
    path = tmp_path / "wide.xlsx"
    table = random_table(4, most_cells=1, size=(4, 16_384), several=True)
    WRITERS["openpyxl write-only"][1](path, table)
    with limited(seconds=_SECONDS):
        columns = sa.read_columns(path)
    for name in list(table)[:: 16_384 // 100]:
        assert_column(columns[name], table[name])


def test_thousands_of_arrays_of_many_dtypes_are_written_in_seconds(tmp_path: Path) -> None:
    keeps = FORMATS["xlsx"].keeps
    assert keeps is not None
    dtypes = sorted(keeps.dtypes)
    arrays = {f"v{seed}": random_elements(seed, dtypes[seed % len(dtypes)], seed % 40) for seed in range(4000)}
    with limited(seconds=1.5):  # it takes 0.4; one query of the engine for each array took 1.5 to 5
        sa.write(tmp_path / "many.xlsx", arrays)
    some = list(arrays)[::400]
    for name, array in sa.read(tmp_path / "many.xlsx", some).items():
        assert_same(array, arrays[name])
