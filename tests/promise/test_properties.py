"""Whatever the array, its layout, its text or its bits: it comes back exactly, under every option."""

from __future__ import annotations

import io
import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import limited
from examples import ANEW, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from mixtures import TEXTS, arrays, random_arrays, random_elements, random_table
from services import ENDPOINT, Spreadsheet
from table_writers import OF_SEVERAL_KINDS, WRITERS, assert_column

import sheetarray as sa
from sheetarray.formats import FORMATS
from sheetarray.testing.cases import assert_same, objects

# Characters that readers of text, of XML or of Unicode treat in a way of their own, and words that mean something.
NASTY = (
    "\ufeff\ufffe\uffff\ufffd\x00\x01\x07\x08\x0b\x0c\x1a\x1c\x1d\x1e\x1f\x7f\x85\xa0\u2028\u2029\u200b\u3000"
    " \t\r\n\"'`,;|:=+-@#\\_ab1.5x0041<>&]\U0001f600\U0010ffff\u0301"
)
WORDS = [
    *("version", "data", "sep=;", "NaN", "007", "1e5", "_x0041_", "_x005F_x0041_", "__x0041__", "]]>", "&amp;", "<is>"),
    *("x" * 300, "\ufeffversion", "\u3000", " a  b ", "2020-01-01", " Ndarray ", "1.0.0", "shape"),
]
ANY_TEXT = st.one_of(
    TEXTS, st.text(st.sampled_from(NASTY), max_size=6).map(lambda x: x.rstrip("\0")), st.sampled_from(WORDS)
)
NAMES = ANY_TEXT.filter(str.strip)


@st.composite
def long_arrays(draw: Any) -> Any:
    """Any array; some have more rows than are looked at one by one."""
    array = draw(arrays(ANY_TEXT))
    return np.tile(array, 40) if array.ndim == 1 and draw(st.integers(0, 4)) == 0 else array


MAPPINGS = st.dictionaries(NAMES, long_arrays(), min_size=1, max_size=4)
LETTERED = st.lists(long_arrays(), min_size=1, max_size=3).map(lambda several: dict(zip("ABC", several, strict=False)))
CHINESE = "gb18030"  # which has no mark
DIALECTS = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "orient": st.sampled_from(["columns", "rows"]),
            "bom": st.booleans(),
            "encoding": st.sampled_from(
                ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030"]
            ),
            "max_rows": st.integers(30, 400),
        },
    ),
    st.fixed_dictionaries(
        {"delimiter": st.sampled_from(";\t|"), "decimal": st.sampled_from(".,")},
        optional={"orient": st.sampled_from(["columns", "rows"])},
    ),
)


@settings(max_examples=examples(400))
@pytest.mark.filterwarnings("ignore:.* belong to several elements:sheetarray.SheetArrayWarning")  # of broadcast views
@given(arrays(), st.booleans(), st.sampled_from(["text", "interleaved"]))
def test_flat_lists(array, base, complex):
    cells = sa.to_linear(array, base=base, complex=complex)
    result = sa.from_linear(json.loads(json.dumps(cells, allow_nan=False)))
    assert_same(result, array, layout=not base)


# Text is also read with the dialect named; without names the columns have letters.
CONTAINERS: dict[str, tuple[int, Any]] = {
    "json": (150, st.tuples(MAPPINGS, st.just({}), st.just([]))),
    "xlsx": (
        220,
        st.tuples(MAPPINGS, st.fixed_dictionaries({"cells": st.sampled_from(["numeric", "text"])}), st.just([])),
    ),
    "csv": (700, st.tuples(MAPPINGS, DIALECTS, st.sampled_from([[], ["delimiter", "decimal", "encoding"]]))),
    "csv without names": (100, st.tuples(LETTERED, st.just({"names": False}), st.just([]))),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_back_what_was_written(container):
    count, drawn = CONTAINERS[container]

    @settings(max_examples=examples(count))
    @given(drawn)
    def hold_any(given_):
        mapping, options, named = given_
        encoding = options.get("encoding", "")
        if not named and encoding[-2:] in ("le", "be"):
            options = {**options, "bom": True}
        reading = {key: options[key] for key in options if key in named or options[key] == CHINESE}
        _there_and_back(mapping, container.partition(" ")[0], options, reading)

    hold_any()


MARK = "\ufeff"


@pytest.mark.parametrize(
    ("mapping", "options"),
    [
        ({f"{MARK}x": np.array([f"{MARK}x", "y"])}, {}),
        ({MARK: np.array([MARK, MARK])}, {}),
        ({f"{MARK}{MARK}": objects(f"{MARK}{MARK}", None)}, {"orient": "rows"}),
        ({"\0\n": np.arange(3.0)}, {"encoding": "utf-16"}),
        ({"a": np.arange(3.0), "a\n\n\n": np.array(["b"])}, {"delimiter": "\t"}),
        ({f"={MARK}": np.array([f"a{MARK}b", f' {MARK}"'] * 400), "b": np.arange(3.0)}, {"bom": True}),
    ],
)
def test_texts_that_were_lost_once(mapping, options):
    _there_and_back(mapping, "csv", options, {})
    _there_and_back(mapping, "json", {}, {})
    _there_and_back(mapping, "xlsx", {}, {})


def _there_and_back(mapping: dict[str, Any], format: str, writing: dict[str, Any], reading: dict[str, Any]):
    file = io.BytesIO()
    try:
        sa.write(file, mapping, format=format, **writing)
    except sa.LimitError:
        assert "max_rows" in writing  # a header that does not fit
        return
    file.seek(0)
    result = sa.read(file, format=format, **reading)
    assert list(result) == list(mapping)
    for name, array in mapping.items():
        assert_same(result[name], array)
    assert list(sa.check(io.BytesIO(file.getvalue()), format=format, **reading)) == []


def test_every_float16_comes_back():
    _there_and_back({"x": np.arange(2**16, dtype=np.uint16).view(np.float16)}, "csv", {}, {})


# Ordinary data in random shapes -------------------------------------------------------------------------------
#
# Long columns of one dtype and narrow tables are what other tests have; here are mixed kinds beside each other, of all
# lengths, with blanks here and there, as people have them. Each case is a seed: the same ones in every run, and others,
# many more, with EXAMPLES=1.

_CELLS = 20_000  # at most, in a file
_ORIENTED = ("csv", "tsv", "txt")
_SEVERAL = [
    name
    for name, row in FORMATS.items()
    if (row.suffixes or row.prefixes) and not row.instead and row.keeps.several and not row.keeps.table
]


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


def hold(name: str, place: Any, arrays: dict[str, Any], **options: Any):
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
    "name",
    [name for name in _SEVERAL if (FORMATS[name].suffixes and not FORMATS[name].keeps.table) or name == "gsheet"],
)
def test_many_arrays_come_back(name, server, tmp_path, monkeypatch):
    row, remote = FORMATS[name], name == "gsheet"
    monkeypatch.setenv(ENDPOINT, server.url)
    for seed in seeds(16):
        arrays = fit(name, random_arrays(seed, row.keeps.dtypes, most_cells=_CELLS // 8 if remote else _CELLS))
        place = Spreadsheet.new(server, tmp_path) if remote else tmp_path / f"{seed}{row.suffixes[0]}"
        if row.folders == "write":
            place.mkdir()
        options = {"orient": "rows"} if name in _ORIENTED and seed % 3 == 2 else {}
        try:
            hold(name, place, arrays, **options)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error


@pytest.mark.parametrize("writer", WRITERS)
def test_tables_of_every_program_come_back(writer, tmp_path):
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
def test_large_and_wide_tables_of_programs_come_back(writer, size, tmp_path):
    hold_table(next(seeds(8)), tmp_path, writer, size)


def hold_table(seed: int, folder: Path, writer: str, size: tuple[int, int] | None):
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


def test_a_table_as_wide_as_a_sheet_is_read_in_seconds(tmp_path):
    path = tmp_path / "wide.xlsx"
    table = random_table(4, most_cells=1, size=(4, 16_384), several=True)
    WRITERS["openpyxl write-only"][1](path, table)
    with limited(seconds=_SECONDS):
        columns = sa.read_columns(path)
    for name in list(table)[:: 16_384 // 100]:
        assert_column(columns[name], table[name])


def test_thousands_of_arrays_of_many_dtypes_are_written_in_seconds(tmp_path):
    keeps = FORMATS["xlsx"].keeps
    assert keeps is not None
    dtypes = sorted(keeps.dtypes)
    arrays = {f"v{seed}": random_elements(seed, dtypes[seed % len(dtypes)], seed % 40) for seed in range(4000)}
    with limited(seconds=1.5):  # it takes 0.4; one query of the engine for each array took 1.5 to 5
        sa.write(tmp_path / "many.xlsx", arrays)
    some = list(arrays)[::400]
    for name, array in sa.read(tmp_path / "many.xlsx", some).items():
        assert_same(array, arrays[name])
