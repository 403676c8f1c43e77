"""Whatever `read` takes can be viewed: every format, Google Sheets, workbooks with views and several sheets."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import PageReader
from limits import get_limit, set_limits

import sheetarray as sa
from sheets_emulator import SheetsServer

ARRAYS = {"t": np.arange(6.0).reshape(2, 3) / 7, "n": np.array([1, 2], "i2")}


def elements_of(page: PageReader, name: str) -> np.ndarray[Any, Any]:
    entry = page.entry(name)
    return np.array(page.elements(entry)).reshape(entry["shape"])


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "json", "xlsx", "npz", "avro", "msgpack", "awkd"])
def test_every_format_can_be_viewed(tmp_path: Path, suffix: str) -> None:
    for package in {"msgpack": ["msgpack"], "awkd": ["awkward"]}.get(suffix, []):
        pytest.importorskip(package)
    path = tmp_path / f"run.{suffix}"
    sa.write(path, ARRAYS)
    page = PageReader(sa.page(path).html)
    for name, array in sa.read(path).items():
        assert np.array_equal(elements_of(page, name), array)
        assert page.entry(name)["location"] == sa.scan(path)[name].location
    assert [entry["name"] for entry in page.manifest["entries"]] == list(ARRAYS)
    assert page.manifest["findings"] == []


def test_one_name_may_be_a_text(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    sa.write(path, {"tn": np.arange(3.0), "t": np.arange(2.0), "n": np.array([0.25])})
    for text in (path.read_text(), path.read_text().replace("0.25", "x")):
        path.write_text(text)
        assert repr(sa.page(path, names="tn")) == "<Page of 1 array: tn>"
    with pytest.raises(sa.NotFoundError):
        sa.page(path, names="absent")


def test_a_spreadsheet_of_google_can_be_viewed(server: SheetsServer) -> None:
    key = server.create()
    sa.write_gsheet(key, ARRAYS, client=server.client())
    page = PageReader(sa.page(f"gsheets://{key}", client=server.client()).html)
    assert np.array_equal(elements_of(page, "t"), ARRAYS["t"])
    assert page.manifest["files"] == [f"gsheets://{key}"]
    (run,) = page.entry("t")["cells"]["runs"]
    info = sa.scan(f"gsheets://{key}", client=server.client())["t"]
    assert info.data[0].address(0).startswith("arrays!A")
    assert (run["title"], run["row"], run["column"]) == ("arrays", info.data[0].row, info.data[0].column)


def test_the_sheet_of_a_workbook_is_part_of_every_address(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "two.xlsx"
    sa.write(path, ARRAYS, sheet="first one")
    sa.write(path, {"other": np.arange(4.0) + 0.5}, sheet="second", mode="a")
    page = PageReader(sa.page(path).html)
    book = openpyxl.load_workbook(path)
    for name, array in sa.read(path).items():
        info = sa.scan(path)[name]
        for stored, value in enumerate(array.ravel()):
            sheet, _, cell = info.data[0].address(stored).rpartition("!")
            assert book[sheet][cell].value == value
        assert page.entry(name)["cells"]["runs"][0]["title"] == info.location.partition("!")[0]


def test_options_reach_reading_scanning_and_checking(tmp_path: Path) -> None:
    path = tmp_path / "two.xlsx"
    sa.write(path, ARRAYS, sheet="a")
    sa.write(path, ARRAYS, sheet="b", mode="a")
    with pytest.raises(sa.FormatError, match="two arrays"):
        sa.page(path)
    page = PageReader(sa.page(path, sheet="b").html)
    assert page.entry("t")["location"].startswith("b!")
    with pytest.raises(TypeError, match="no option"):
        sa.page(path, delimiter=";")


def test_a_list_of_too_many_arrays_is_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sa.write(tmp_path / "a.csv", ARRAYS)
    assert get_limit("page_arrays") == 20_000
    set_limits(monkeypatch, page_arrays=len(ARRAYS))
    sa.page(ARRAYS, names=list(ARRAYS))
    set_limits(monkeypatch, page_arrays=len(ARRAYS) - 1)
    cells = (tmp_path / "a.csv").read_text()
    (tmp_path / "a.csv").write_text(cells.replace("0.14285714285714285", "five"))
    for source in (ARRAYS, tmp_path / "a.csv"):
        with pytest.raises(sa.LimitError, match="2 arrays, and a page lists 1: name fewer"):
            sa.page(source)


def test_a_file_of_damaged_headers_is_gone_over_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sa.api, "check", None)
    monkeypatch.setattr(sa.api, "read", None)
    with pytest.raises(sa.FormatError, match="expected a key"):
        sa.page(io.StringIO("version\n1.0.0\nndarray\n" * 3), format="csv")
