"""A record that developer metadata have no room for stands in a hidden sheet of Google Sheets, which is never data."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from limits import get_limit, set_limits
from recorded import GRID, assert_same, write_quietly
from services import TableBook, at_each_request, meanwhile

import sheetarray as sa
from sheets_emulator import Fault, SheetsServer

ROW = {"site": ["Genf"], "day": GRID["day"].values[1:2], "t": [7.5], "height": [4.0]}


@pytest.fixture
def book(server: SheetsServer) -> TableBook:
    return TableBook(server)


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every record is too long for developer metadata."""
    set_limits(monkeypatch, google_record=0)


def metadata_of(book: TableBook, title: str = "table") -> list[str]:
    entries = book.resource(title).get("developerMetadata", [])
    return [entry.get("metadataValue", "") for entry in entries if entry["metadataKey"] == "sheetarray_table"]


@pytest.mark.parametrize(("more", "sheets"), [(-1, 1), (0, 0), (1, 0)])
def test_the_longest_record_of_metadata_is_told_from_a_longer_one(
    book: TableBook, monkeypatch: pytest.MonkeyPatch, more: int, sheets: int
) -> None:
    url = book.write(GRID)
    (text,) = metadata_of(book)
    set_limits(monkeypatch, google_record=len(text) + more)
    book.write(GRID, if_sheet_exists="replace")
    assert len(book.sheets("sheetarray record")) == sheets
    xr.testing.assert_identical(sa.read_dataset(url, client=book.client), GRID)


def test_a_record_of_very_many_names_takes_several_cells(book: TableBook) -> None:
    rng = np.random.default_rng(1)
    table = {rng.bytes(40).hex(): np.arange(2, dtype=np.uint8) for _ in range(1500)}
    url, count = book.counted(lambda: book.write(table, verify=False))
    assert count == 2
    (title,) = book.sheets("sheetarray record")
    assert book.size(title)[0] > 1
    assert get_limit("google_record") == 25_000
    arrays, count = book.counted(lambda: sa.read(url, client=book.client))
    assert count == 2
    assert_same(arrays, table)
    assert sa.scan(url, client=book.client)[next(iter(table))].dtype == "uint8"


@pytest.mark.usefixtures("hidden")
def test_each_verb_takes_a_table_with_a_hidden_record(book: TableBook, tmp_path: Path) -> None:
    url, count = book.counted(lambda: book.write(GRID, verify=False))
    assert count == 2
    for verb in (sa.read_dataset, sa.scan):
        _, count = book.counted(lambda verb=verb: verb(book.url, client=book.client))  # type: ignore[misc]
        assert count == 2
    assert list(sa.check(book.url, client=book.client)) == []
    _, count = book.counted(lambda: sa.append(book.url, ROW, client=book.client))
    assert count == 3
    write_quietly(tmp_path / "base.xlsx", GRID)
    assert "Genf" in repr(sa.diff(tmp_path / "base.xlsx", url, client=book.client))
    merged = sa.merge(tmp_path / "base.xlsx", book.url, target=tmp_path / "merged.xlsx", client=book.client)
    assert not merged.conflicts
    assert sa.read(tmp_path / "merged.xlsx", "t")[3, 1] == 7.5
    book.table.add_rows(1)
    book.table.update([["Sion", 43832, 1.5, 2.5]], "A15", raw=True)
    assert "14 rows of data, but 13 were written" in book.check()[0].message
    assert book.accept()
    assert book.check() == []
    assert sa.read(url, "t", client=book.client).shape == (5, 4)
    assert [*sa.read_columns(book.url, sheet=None, client=book.client)] == ["Sheet1", "table"]
    assert len(book.sheets("sheetarray record")) == 1


@pytest.mark.usefixtures("hidden")
def test_a_record_goes_with_its_table(book: TableBook, monkeypatch: pytest.MonkeyPatch) -> None:
    book.write(GRID)
    (first,) = book.sheets("sheetarray record")
    book.write({"x": np.array([0.5])}, if_sheet_exists="replace")
    (second,) = book.sheets("sheetarray record")
    assert first != second
    book.opened.del_worksheet(book.table)
    assert [*sa.read_columns(book.url, sheet=None, client=book.client)] == ["Sheet1"]
    book.write({"y": np.array([0.5])}, sheet="other")  # which removes what people have left
    (third,) = book.sheets("sheetarray record")
    assert third != second
    set_limits(monkeypatch, google_record=25_000)
    book.write({"z": np.array([0.5])}, sheet="other", if_sheet_exists="replace")
    assert book.sheets("sheetarray record") == []
    assert sa.read(book.url, client=book.client)["z"].tolist() == [0.5]


@pytest.mark.usefixtures("hidden")
def test_a_sheet_that_people_duplicate_keeps_its_record(book: TableBook) -> None:
    book.write(GRID)
    book.opened.duplicate_sheet(book.table.id, new_sheet_name="copy")
    with pytest.raises(sa.FormatError, match="in the sheets 'copy' and 'table'"):
        sa.read(book.url, client=book.client)
    book.write({"x": np.array([0.5])}, if_sheet_exists="replace")
    xr.testing.assert_identical(sa.read_dataset(f"{book.url}/copy", client=book.client), GRID)
    sa.append(f"{book.url}/copy", ROW, client=book.client)
    assert sa.read(book.url, client=book.client)["t"].shape == (4, 4)
    assert len(book.sheets("sheetarray record")) == 2


@pytest.mark.usefixtures("hidden")
def test_a_hidden_sheet_is_no_data_and_is_missed_where_it_is_gone(book: TableBook) -> None:
    url = book.write({"a": np.arange(3), "b": np.arange(3)})
    (title,) = book.sheets("sheetarray record")
    for call in (sa.read, sa.read_columns, sa.scan):
        with pytest.raises(sa.NotFoundError, match="holds the record of a table, and no data"):
            call(f"{book.url}/{title}", client=book.client)
    with pytest.raises(sa.NotFoundError, match="holds the record"):
        sa.write_gsheet(book.url, {"t": np.arange(2)}, sheet=title, client=book.client)
    assert sa.read_columns(book.url, sheet=1, client=book.client)["a"].tolist() == [0, 1, 2]
    with pytest.raises(sa.NotFoundError, match="2"):
        sa.read_columns(book.url, sheet=2, client=book.client)
    book.sheet(title).update([["?"]], "A1", raw=True)
    with pytest.warns(sa.SheetArrayWarning, match="damaged"), pytest.raises(sa.FormatError, match="no array"):
        sa.read(url, client=book.client)
    book.opened.del_worksheet(book.sheet(title))
    with pytest.warns(sa.SheetArrayWarning, match="the hidden sheet with the record of 'table' is gone"):  # noqa: SIM117
        with pytest.raises(sa.FormatError, match="no array"):
            sa.read(url, client=book.client)
    assert sa.read_columns(url, client=book.client)["a"].tolist() == [0, 1, 2]


@pytest.mark.usefixtures("hidden")
@pytest.mark.parametrize("batch", [9_900_000, 0])
def test_a_reader_sees_the_old_table_or_the_new_one(
    book: TableBook, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    tables = [{"a": np.arange(3.0)}, {"a": np.array(["x", "y"])}]
    url = book.write(tables[0])
    set_limits(monkeypatch, google_batch=batch)
    seen: list[Any] = []
    with at_each_request(book.server, lambda: seen.append(sa.read(url, client=book.client)["a"].tolist())):
        book.write(tables[1], if_sheet_exists="replace")
    assert {str(values) for values in seen} <= {str(table["a"].tolist()) for table in tables}
    assert len(book.sheets("sheetarray")) == 1

    def is_of_cells(record: Any) -> bool:
        return "values:batchGet" in record.path

    with meanwhile(book.server, is_of_cells, lambda: book.write(tables[0], if_sheet_exists="replace", verify=False)):
        assert sa.read(url, client=book.client)["a"].tolist() == [0.0, 1.0, 2.0]


@pytest.mark.usefixtures("hidden", "pauses")
@pytest.mark.fault("The service changes a cell of a table with a hidden record.", "The old table and record come back.")
def test_a_write_that_is_taken_back_brings_the_old_record_back(book: TableBook) -> None:
    url = book.write(GRID)
    book.change_requests(lambda _, body: body.replace(b'"stringValue":"odd"', b'"stringValue":"even"'))
    with pytest.raises(sa.DTypeError, match="keeps 'odd' as 'even'"):
        sa.append(url, {**ROW, "site": ["odd"]}, client=book.client)
    xr.testing.assert_identical(sa.read_dataset(url, client=book.client), GRID)
    assert len(book.sheets("sheetarray record")) == 1


@pytest.mark.usefixtures("hidden", "pauses")
@pytest.mark.fault("The service fails while a table with a hidden record is written.", "Both are whole or absent.")
@pytest.mark.parametrize("status", [503, "reset-after", "empty"])
def test_a_table_and_its_record_are_written_together(book: TableBook, status: Any) -> None:
    url = book.write({"x": np.array([0.5])})
    book.server.faults.append(Fault(status=status, method="POST"))
    book.write(GRID, if_sheet_exists="replace")
    xr.testing.assert_identical(sa.read_dataset(url, client=book.client), GRID)
    book.server.faults.append(Fault(status=403, method="POST"))
    with pytest.raises(sa.RemoteError):
        book.write({"x": np.array([0.5])}, if_sheet_exists="replace")
    xr.testing.assert_identical(sa.read_dataset(url, client=book.client), GRID)
    assert len(book.sheets("sheetarray record")) == 1


@pytest.mark.usefixtures("hidden")
def test_of_two_writers_at_once_nobody_loses_a_table_or_a_row(book: TableBook) -> None:
    url = book.write({"who": np.arange(1), "v": np.array([0.1 + 0.2])}, verify=False)

    def add(number: int) -> None:
        client = book.server.client()
        sa.append(url, {"who": np.array([number]), "v": np.array([number / 7])}, client=client)
        write_quietly(book.url, {f"t{number}": np.array([number])}, sheet=f"s{number}", client=client, verify=False)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    arrays = sa.read(book.url, client=book.client)
    assert sorted(arrays["who"].tolist()) == list(range(5))
    assert sorted(arrays["v"].tolist()) == sorted([0.1 + 0.2, *(number / 7 for number in range(1, 5))])
    assert [arrays[f"t{number}"].tolist() for number in range(1, 5)] == [[number] for number in range(1, 5)]
    assert len(book.sheets("sheetarray record")) == 5
