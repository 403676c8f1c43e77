"""Files that earlier versions wrote: what was in them comes back, their records are understood, newer ones are refused.

Nobody writes these files again: a release adds files of its own, by tests/helpers/make_golden.py.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from adapters_deleted import needing
from make_golden import GOLDEN, HELD, make_dataset, make_frame, make_lean

import sheetarray as sa

FILES = sorted(
    path.name for path in GOLDEN.iterdir() if not re.search(r"^(arrays|many)\.|-(labels|frame|table)\.", path.name)
)
BOOKS = [name for name in FILES if name.endswith(".xlsx")]


def written(name: str) -> dict[str, np.ndarray]:
    """The arrays that a file was written from."""
    if "lean" in name:
        return make_lean()
    with np.load(GOLDEN / ("many.npz" if "many" in name else "arrays.npz")) as arrays:
        held = {key: arrays[key] for key in HELD.get(Path(name).suffix, arrays)}
    if len(held) == 1:  # a format without names
        return dict.fromkeys(sa.scan(GOLDEN / name), held["temperature"])
    return held


def same(arrays: dict[str, np.ndarray], others: dict[str, np.ndarray]) -> bool:
    return list(arrays) == list(others) and all(
        array.dtype == others[name].dtype and array.tobytes() == others[name].tobytes()
        for name, array in arrays.items()
    )


@needing("npz")
@pytest.mark.parametrize("name", FILES)
def test_what_an_earlier_version_wrote_comes_back_and_nothing_is_found_wrong(name):
    assert same(written(name), sa.read(GOLDEN / name))
    assert [str(finding) for finding in sa.check(GOLDEN / name)] == []
    assert list(sa.scan(GOLDEN / name)) == list(written(name))


@pytest.mark.parametrize("name", BOOKS)
def test_their_records_tell_an_edit(tmp_path, name):
    book = openpyxl.load_workbook(GOLDEN / name)
    edited = "a17" if "many" in name else "a0017" if "lean" in name else "temperature"
    named = next(defined for key, defined in book.defined_names.items() if key.strip("_") == edited)
    column = named.attr_text.replace("$", "").partition("!")
    cells = [cell for row in book[column[0].strip("'")][column[2]] for cell in row]
    if isinstance(cells[1].value, str):  # a formula into a view for editing
        title, _, place = cells[1].value.removeprefix("=").partition("!")
        cells[1] = book[title.strip("'")][place]
    cells[1].value = 77.5
    book.save(tmp_path / name)
    findings = [finding for finding in sa.check(tmp_path / name) if finding.array == edited]
    assert any("edited" in finding.message or "-> 77.5" in finding.message for finding in findings), findings


@needing("csv", "json")
@pytest.mark.parametrize("name", ["2026-11-21.csv", "2026-11-21.json"])
def test_a_newer_major_version_is_refused_by_its_name(tmp_path, name):
    text = (GOLDEN / name).read_text(encoding="utf-8")
    (tmp_path / name).write_text(text.replace("1.0.0", "2.0.0"), encoding="utf-8")
    with pytest.raises(sa.FormatError, match=r"2\.0\.0.*a newer sheetarray reads it"):
        sa.read(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "version", "newer", "told"),
    [
        (
            "1.0.0-plain.xlsx",
            '"v": 4',
            '"v": 6',
            "the checksums are of version 6; this reader knows versions up to 5",
        ),
        (
            "1.0.0-lean.xlsx",
            '"v": 2',
            '"v": 4',
            "the checksums are of version 4; this reader knows versions up to 3",
        ),
        (
            "1.0.0-views.xlsx",
            '{"sheets"',
            '{"version": 2, "sheets"',
            "the record of the workbook is of version 2; this reader knows version 1",
        ),
        ("1.0.0-guard.xlsx", "guard 1", "guard 2", "the guard is of version 2; this reader knows version 1"),
    ],
)
@pytest.mark.filterwarnings("ignore:arrays guard")
def test_newer_records_are_refused_by_their_version(tmp_path, name, version, newer, told):
    book = openpyxl.load_workbook(GOLDEN / name)
    if "guard" in name:
        book["arrays guard"]["A1"] = str(book["arrays guard"]["A1"].value).replace(version, newer)
    else:
        _change_record(book, version, newer)
    book.save(tmp_path / name)
    assert list(sa.read(tmp_path / name)) == list(written(name))
    (finding,) = [finding for finding in sa.check(tmp_path / name) if "of version" in finding.message]
    assert (finding.severity, finding.message) == ("warning", told)
    assert finding.hint == "a newer sheetarray reads it: pip install --upgrade sheetarray"


def test_no_sheet_is_added_to_a_workbook_with_a_newer_record(tmp_path):
    book, path = openpyxl.load_workbook(GOLDEN / "1.0.0-views.xlsx"), tmp_path / "t.xlsx"
    _change_record(book, '{"sheets"', '{"version": 2, "sheets"')
    book.save(path)
    before = path.read_bytes()
    for change in (lambda: sa.write(path, {"t": np.arange(3)}, mode="a", sheet="more"), lambda: sa.accept(path)):
        with pytest.raises(sa.FormatError, match=r"of version 2.*a newer sheetarray"):
            change()
    assert path.read_bytes() == before


def _change_record(book: Any, old: str, new: str):
    """Replace a text in the JSON of the record, which the document properties hold."""
    names = [name for name in book.custom_doc_props.names if name.startswith("sheetarray ")]
    packed = "".join(book.custom_doc_props[name].value for name in names)
    text = json.dumps(json.loads(zlib.decompress(base64.b64decode(packed))))
    assert old in text
    for name in names:
        book.custom_doc_props[name].value = "\t"  # white space does not count
    book.custom_doc_props[names[0]].value = base64.b64encode(zlib.compress(text.replace(old, new).encode())).decode()


@pytest.mark.parametrize("suffix", [".csv", ".json", ".xlsx", ".nc"])
@pytest.mark.parametrize("version", ["1.0.0", "2.0.0"])
def test_labels_that_an_earlier_version_wrote_come_back(version, suffix):
    xr = pytest.importorskip("xarray")
    xr.testing.assert_identical(sa.read_dataset(GOLDEN / f"{version}-labels{suffix}"), make_dataset())


@needing("parquet")
def test_an_array_of_two_dimensions_in_parquet_is_read_as_the_columns_of_its_table():
    path, days = GOLDEN / "1.0.0-labels.parquet", np.array(["2026-11-27", "2026-11-28"], "M8[ns]")
    with pytest.warns(sa.SheetArrayWarning, match="an earlier version wrote shapes, dtypes or labels"):
        columns = sa.read(path)
    t = np.array([1 / 3, 2.5, np.nan, -0.0])
    assert same(columns, {"t": t, "time": days.repeat(2), "lat": np.array([47.5, 48.0, 47.5, 48.0])})
    assert [finding.severity for finding in sa.check(path)] == ["warning"]


@pytest.mark.parametrize("version", ["1.0.0", "2.0.0"])
def test_a_frame_that_an_earlier_version_wrote_comes_back(version):
    pd = pytest.importorskip("pandas")
    pd.testing.assert_frame_equal(sa.read_frame(GOLDEN / f"{version}-frame.xlsx"), make_frame())


@pytest.mark.parametrize("name", ["1.0.0-table.xlsx", "2.0.0-frame-table.xlsx"])
def test_a_table_that_an_earlier_version_wrote_is_read_as_columns(name):
    columns = sa.read_columns(GOLDEN / name)
    assert {name: column.tolist() for name, column in columns.items()} == make_frame().reset_index().to_dict("list")


def test_a_table_that_version_2_put_into_a_workbook_is_the_arrays_that_were_written():
    xr, pd = pytest.importorskip("xarray"), pytest.importorskip("pandas")
    pd.testing.assert_frame_equal(sa.read_frame(GOLDEN / "2.0.0-frame-table.xlsx"), make_frame())
    xr.testing.assert_identical(sa.read_dataset(GOLDEN / "2.0.0-dataset-table.xlsx"), make_dataset())
    for table in ("frame", "dataset"):
        assert [str(finding) for finding in sa.check(GOLDEN / f"2.0.0-{table}-table.xlsx")] == []
