"""Arrays that reach more than they are made of: their size is known before anything is copied, and bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
from awkward_layouts import Blobs, call, contents, index, strings
from hostile import bounded_memory

import sheetarray as sa
from sheetarray.interchange.awkward import save, serialize

MANY = 30_000
ZEROS = contents.NumpyArray(np.zeros(MANY, "i8"))
ALL = contents.ListArray(index(np.zeros(MANY)), index(np.full(MANY, MANY)), ZEROS)


def nested_pairs(depth: int) -> Any:
    """Records of the same records twice, and so on."""
    layout: Any = ZEROS
    for _ in range(depth):
        layout = contents.RecordArray([layout, layout], ["a", "b"])
    return layout


LARGE = {
    "overlapping lists": ALL,
    "an index of long lists": contents.IndexedArray(index(np.zeros(MANY)), contents.RegularArray(ZEROS, MANY)),
    "an index of options": contents.IndexedOptionArray(index(np.zeros(MANY)), contents.RegularArray(ZEROS, MANY)),
    "a union": contents.UnionArray(
        index(np.zeros(MANY), "int8"), index(np.zeros(MANY)), [contents.RegularArray(ZEROS, MANY), strings("a")]
    ),
    "fixed lists of overlapping ones": contents.RegularArray(ALL, 2),
    "overlapping lists in records": contents.RecordArray([ALL, ZEROS], ["x", "y"]),
    "overlapping strings": contents.ListArray(
        index(np.zeros(MANY)),
        index(np.full(MANY, MANY)),
        contents.NumpyArray(np.full(MANY, 97, np.uint8), parameters={"__array__": "char"}),
        parameters={"__array__": "string"},
    ),
    "one array in many places": nested_pairs(11),
}


@pytest.mark.parametrize("case", LARGE)
@pytest.mark.parametrize("suffix", ["csv", "json", "xlsx", "awkd"])
def test_what_would_be_out_of_proportion_is_refused_with_its_size(tmp_path: Path, case: str, suffix: str) -> None:
    with bounded_memory(), pytest.raises(sa.LimitError, match=r"^t: .* would become \d{9,}; .*pack=False"):
        sa.write(tmp_path / f"t.{suffix}", {"t": ak.Array(LARGE[case])})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("case", sorted(LARGE.keys() - {"overlapping strings", "one array in many places"}))
def test_a_small_file_of_it_is_refused_by_whatever_reads_it(tmp_path: Path, case: str) -> None:
    path = tmp_path / "t.awkd"
    save(path, ak.Array(LARGE[case]), "t")
    assert path.stat().st_size < 100_000
    for verb in (
        lambda: sa.read(path),
        lambda: sa.scan(path),
        lambda: sa.convert(path, tmp_path / "t.csv"),
        lambda: sa.convert(path, tmp_path / "t.npz"),
    ):
        with bounded_memory(), pytest.raises(sa.FormatError, match=r"packed they would take \d{9,} bytes"):
            verb()
    assert [finding.hint for finding in sa.check(path)] == ["max_bytes= allows more"]
    assert len(sa.read(path, max_bytes=10**12)["t"]) == len(LARGE[case])


def test_overlapping_strings_are_never_written_as_they_are() -> None:
    with bounded_memory(), pytest.raises(sa.LimitError, match=r"would become \d{9,}"):
        serialize(LARGE["overlapping strings"], {}, pack=False)


def _data(layout: Any) -> int:
    """The bytes of the numbers in a packed layout; categories are whole wherever they stand."""
    if layout.is_numpy:
        return int(layout.data.nbytes)
    if layout.is_unknown or layout.parameter("__array__") == "categorical":
        return 0
    if layout.is_record or layout.is_union:
        return sum(map(_data, layout.contents))
    return _data(layout.content)


def test_categories_count_once_however_often_they_are_named() -> None:
    words = strings("x" * 10_000, "y" * 10_000)
    array = contents.IndexedArray(index(np.arange(100_000) % 2), words, parameters={"__array__": "categorical"})
    blobs: dict[str, Any] = {}
    serialize(array, blobs, pack=True)
    assert sum(map(len, blobs.values())) < 10**6


def test_an_index_that_repeats_is_paid_for_when_it_is_read() -> None:
    blobs = Blobs()
    rows = call("JaggedArray.fromcounts", blobs.array([1000, 0]), blobs.array(np.arange(1000)))
    whole = call("IndexedArray", blobs.array(np.zeros(1000, "i8")), rows)
    assert len(blobs.read(whole, max_bytes=8_100_000)) == 1000
    with pytest.raises(sa.FormatError, match="packed they would take 8008000 bytes, more than the 8000000"):
        blobs.read(whole, max_bytes=8_000_000)


def test_one_array_in_many_places_is_paid_for_in_each() -> None:
    blobs = Blobs()
    whole: Any = blobs.array(np.zeros(MANY, "i8"), id=0)
    for ident in range(1, 12):
        pairs = [["a", whole], ["b", {"ref": ident - 1}]]
        whole = call("Table.frompairs", {"pairs": pairs}, {"json": 0}, id=ident)
    with bounded_memory(), pytest.raises(sa.FormatError, match=f"packed they would take {8 * MANY * 2**11} bytes"):
        blobs.read(whole)
    assert len(blobs.read(whole, max_bytes=10**10)) == MANY
