"""Arrays that are read block by block: joined, the blocks are the array, or the error is that of `read`."""

from __future__ import annotations

import io
import itertools
import re
import zipfile
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import openpyxl
import pytest
from children import measured, run_limited
from hypothesis import given
from hypothesis import strategies as st
from limits import set_limits

import sheetarray as sa
from sheetarray.sheets.delimited import reading as csv_reading
from sheetarray.sheets.excel import reading as excel_pieces
from sheetarray.sheets.excel import sheet_writes
from sheetarray.sheets.excel.reader.ooxml import OoxmlCells
from sheetarray.sheets.json import adapter as json_pieces
from sheetarray.testing.cases import CASES


def joined(path: Any, name: str, rows: int, **options: Any) -> np.ndarray[Any, Any]:
    """The blocks of an array, put together again."""
    return np.concatenate(list(sa.iter_blocks(path, name, rows=rows, **options)))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".json", ".xlsx", ".npz"])
def test_blocks_are_the_array(tmp_path: Path, suffix: str) -> None:
    arrays = {
        "t": np.arange(42.0).reshape(7, 2, 3),
        "long": np.arange(100, dtype="int16"),
        "turned": np.asfortranarray(np.arange(14).reshape(7, 2)),
        "none": np.zeros((0, 3)),
        "flat": np.zeros((3, 0)),
    }
    path = tmp_path / f"x{suffix}"
    sa.write(path, arrays)
    for name, rows in itertools.product(arrays, (1, 2, 3, 7, 8)):
        array = arrays[name]
        blocks = list(sa.iter_blocks(path, name, rows=rows))
        assert [len(block) for block in blocks] == [len(array[at : at + rows]) for at in range(0, len(array), rows)]
        assert all(block.dtype == array.dtype and block.shape[1:] == array.shape[1:] for block in blocks)
        if blocks:
            assert np.concatenate(blocks).tolist() == array.tolist()


@pytest.mark.parametrize("suffix", [".csv", ".json", ".xlsx", ".awkd"])
def test_an_awkward_array_comes_in_awkward_blocks(tmp_path: Path, suffix: str) -> None:
    rows = [{"x": 1.5, "y": [1, 2]}, {"x": 2.5, "y": []}, {"x": -0.0, "y": [3]}]
    sa.write(tmp_path / f"e{suffix}", {"e": ak.Array(rows), "long": np.zeros(4)})
    blocks = list(sa.iter_blocks(tmp_path / f"e{suffix}", "e", rows=2))
    assert [block.tolist() for block in blocks] == [rows[:2], rows[2:]]
    assert all(isinstance(block, ak.Array) for block in blocks)


def test_every_kind_of_array_comes_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, csv_piece=30)
    for case, array in CASES.items():
        if not array.ndim or not len(array):
            continue
        file = io.BytesIO()
        sa.write_csv(file, {"x": array, "other": np.arange(30)})
        with io.BytesIO(b"  " + file.getvalue()) as content:
            content.seek(2)
            back = joined(content, "x", 2, format="csv")
        assert back.shape == array.shape, case
        assert repr(back.tolist()) == repr(sa.read_csv(io.BytesIO(file.getvalue()))["x"].tolist()), case


@pytest.mark.parametrize("suffix", ["xlsx", "json"])
def test_every_kind_of_array_comes_in_pieces_out_of_other_containers(
    suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, workbook_piece=7, json_piece=30, json_block=50)
    arrays = {name: array for name, array in CASES.items() if np.asarray(array).size and np.asarray(array).ndim}
    wide = {f"{name} 2": np.asarray(array)[:1] for name, array in arrays.items()}
    file = io.BytesIO()
    sa.write(file, {**arrays, **wide}, format=suffix, **({"guard": False} if suffix == "xlsx" else {}))
    expected = sa.read(io.BytesIO(file.getvalue()), format=suffix)
    for module, verb in ((excel_pieces, "read_book"), (json_pieces, "read_lists")):
        monkeypatch.setattr(module, verb, None)  # nothing of it is read at once
    iter_elements = {"xlsx": excel_pieces.iter_elements_excel, "json": json_pieces.iter_elements_json}[suffix]
    parts: dict[str, list[Any]] = {}
    for name, elements in iter_elements(io.BytesIO(file.getvalue()), list(expected)):
        parts.setdefault(name, []).append(elements)
    for name, array in expected.items():
        back = np.concatenate(parts[name]).reshape(array.shape, order="F" if array.flags.f_contiguous else "C")
        assert repr(back.tolist()) == repr(array.tolist())


def test_an_array_of_several_columns_comes_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((sheet_writes, "MAX_ROWS"), (OoxmlCells, "max_rows")):
        monkeypatch.setattr(module, name, 60)
    set_limits(monkeypatch, worksheet_columns=3, workbook_piece=20, kept_pieces=5)
    monkeypatch.setattr(excel_pieces, "read_book", None)
    blanks = np.array(["x"] * 50 + [""] * 60)
    arrays = {"n": np.arange(5), "long": np.arange(200.0).reshape(100, 2), "blanks": blanks}
    sa.write(tmp_path / "x.xlsx", arrays, guard=False)
    assert sa.scan(tmp_path / "x.xlsx")["long"].parts == 6
    for name, array in arrays.items():
        blocks = list(sa.iter_blocks(tmp_path / "x.xlsx", name, rows=7))
        assert [len(block) for block in blocks[:-1]] == [7] * (len(blocks) - 1)
        assert np.concatenate(blocks).tolist() == array.tolist()


def test_text_in_a_column_of_numbers_is_looked_at_from_there_on(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    values = np.arange(600) / 8
    sa.write(tmp_path / "x.xlsx", {"x": values, "y": np.arange(600)}, guard=False)
    book = openpyxl.load_workbook(tmp_path / "x.xlsx")
    book["arrays"]["A560"].value = str(book["arrays"]["A560"].value)
    book.save(tmp_path / "x.xlsx")
    with pytest.MonkeyPatch.context() as patch:
        set_limits(patch, workbook_piece=100)
        patch.setattr(excel_pieces, "read_book", None)
        assert joined(tmp_path / "x.xlsx", "x", 200).tolist() == values.tolist()
    for address, wrong in (("A560", "x"), ("A560", None), ("A800", 7), ("A30", "7 m")):
        book = openpyxl.load_workbook(tmp_path / "x.xlsx")
        book["arrays"][address].value = wrong
        book.save(tmp_path / "wrong.xlsx")
        with pytest.raises(sa.FormatError) as expected:
            sa.read(tmp_path / "wrong.xlsx", ["x"])
        with pytest.raises(sa.FormatError) as error:
            joined(tmp_path / "wrong.xlsx", "x", 10)
        assert str(error.value) == str(expected.value)
        assert error.value.location == expected.value.location


def test_a_text_that_says_it_is_a_number_is_the_error_of_read() -> None:
    file, edited = io.BytesIO(), io.BytesIO()
    sa.write_excel(file, {"s": np.array(["aaa", "b"]), "n": np.arange(2)})
    with zipfile.ZipFile(file) as book, zipfile.ZipFile(edited, "w") as copy:
        for name in book.namelist():
            content = book.read(name)
            if name.endswith("sheet1.xml"):
                content, count = re.subn(rb' t="inlineStr"><is><t>aaa</t></is>', b"><v>aaa</v>", content)
                assert count == 1, content
            copy.writestr(name, content)
    with pytest.raises(sa.FormatError, match="a number cell without a number, aaa") as expected:
        sa.read_excel(io.BytesIO(edited.getvalue()), ["s"])
    with pytest.raises(sa.FormatError) as error:
        list(excel_pieces.iter_elements_excel(io.BytesIO(edited.getvalue()), ["s"]))
    assert str(error.value) == str(expected.value)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"7.0", b'"x"'),
        (b"7.0", b"null"),
        (b"7.0", b"[7]"),
        (b"7.0,", b""),
        (b"7.0", b"7.0,7.5"),
        (b"7.0,", b"7.0,,"),
        (b"8.0]", b"8.0,]"),
        (b"8.0]\n}", b"8.0]\n}}"),
        (b'"data",', b'"data" '),
        (b"8.0]\n}", b"8.0]"),
    ],
)
def test_a_wrong_list_is_the_error_of_read(before: bytes, after: bytes) -> None:
    file = io.BytesIO()
    sa.write_json(file, {"x": np.arange(9.0)})
    assert file.getvalue().count(before) == 1
    content = file.getvalue().replace(before, after)
    with pytest.raises(sa.FormatError) as expected:
        sa.read_json(io.BytesIO(content))
    with pytest.raises(sa.FormatError) as error:
        list(json_pieces.iter_elements_json(io.BytesIO(content), ["x"]))
    assert str(error.value) == str(expected.value)


def test_brackets_commas_and_quotes_in_text_end_no_list(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = np.array(["]", '"', ',"', "\\", '\\"', "[", "\\\\", "é", "", '",'] * 5)
    monkeypatch.setattr(json_pieces, "read_lists", None)
    file = io.BytesIO()
    sa.write_json(file, {"s": texts, "n": np.arange(3)})
    for size in (1, 2, 3, 5, 8, 13, 64):
        set_limits(monkeypatch, json_piece=size, json_block=size)
        for name, array in (("s", texts), ("n", np.arange(3))):
            assert joined(io.BytesIO(file.getvalue()), name, 4, format="json").tolist() == array.tolist()


def test_a_buffer_longer_than_its_array_is_read_at_once() -> None:
    file = io.BytesIO()
    whole = np.arange(10.0)
    sa.write_csv(file, {"x": sa.LinearArray("float64", (5,), (1,), 0, "row-major", whole)})
    assert joined(io.BytesIO(file.getvalue()), "x", 2, format="csv").tolist() == whole[:5].tolist()


@pytest.mark.parametrize("size", [1, 40, 1000])
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_text_with_quotes_comes_in_pieces(size: int, delimiter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a,b", "c;d", 'q"uo"', "two\nlines", "", '"', "plain", "\n\n", "'=1", "long " * 30]
    arrays = {
        "x": np.arange(30.0).reshape(10, 3),
        "s": np.resize(texts, 30),
        "o": np.array([1, f"x{delimiter}y", None] * 10, object),
    }
    file = io.BytesIO()
    sa.write_csv(file, arrays, delimiter=delimiter)
    set_limits(monkeypatch, csv_piece=size)
    monkeypatch.delattr(csv_reading, "open_sheets")  # which would read the text whole
    for name, array in arrays.items():
        assert joined(io.BytesIO(file.getvalue()), name, 7, format="csv").tolist() == array.tolist()


@pytest.mark.parametrize("texts", [["update", "datum, or data1", 'say "data"'], ["version_2", "x"]])
def test_labels_and_words_within_text_are_no_other_arrays(
    texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    xarray = pytest.importorskip("xarray")
    variables = {"t": ("time", np.arange(50.0), {"unit": "K, or so"}), "s": ("time", np.resize(texts, 50))}
    dataset = xarray.Dataset(variables, coords={"time": np.arange(50)})
    sa.write(tmp_path / "x.csv", dataset)
    set_limits(monkeypatch, csv_piece=20)
    with monkeypatch.context() as patch:
        patch.delattr(csv_reading, "open_sheets")
        for name in ("t", "s"):
            assert joined(tmp_path / "x.csv", name, 9).tolist() == dataset[name].values.tolist()
    for cell in ("data", " Data", '"data"', '" data "'):  # which may begin another array
        text = (tmp_path / "x.csv").read_text().replace("version_2", cell).replace("update", cell)
        (tmp_path / "y.csv").write_text(text)
        whole = sa.read(tmp_path / "y.csv", ["s"])["s"]
        assert joined(tmp_path / "y.csv", "s", 9).tolist() == whole.tolist()


@pytest.mark.filterwarnings("ignore::sheetarray.SheetArrayWarning")  # remarks on the harm, from either way of reading
@given(st.data())
def test_a_harmed_text_gives_the_same_as_read_or_an_error(data: st.DataObject) -> None:
    file = io.BytesIO()
    values = np.arange(60.0).reshape(20, 3)
    values[3, 1], values[11, 2] = np.nan, -np.inf
    texts = data.draw(st.sampled_from([["1", "b"], ["a,b", "c"], ["", 'q"uo'], ["two\nlines", "'", '"']]))
    sa.write_csv(file, {"x": values, "n": np.arange(30), "s": np.resize(texts, 30)})
    content = file.getvalue()
    for _ in range(data.draw(st.integers(0, 2))):
        place = data.draw(st.integers(0, len(content)))
        piece = data.draw(
            st.sampled_from([b"", b'"', b"\n", b",", b"x", b"7", b"1e999", b"\r", b"data", b"\xff", b";"])
        )
        content = content[:place] + piece + content[place + data.draw(st.integers(0, 3)) :]
    results: list[str | None] = []
    for read in (
        lambda: sa.read(io.BytesIO(content), ["x"], format="csv")["x"],
        lambda: joined(io.BytesIO(content), "x", data.draw(st.integers(1, 9)), format="csv"),
    ):
        with pytest.MonkeyPatch.context() as patch:
            set_limits(patch, csv_piece=data.draw(st.integers(1, 200)))
            try:
                results.append(repr(read().tolist()))
            except sa.SheetArrayError:
                results.append(None)
    if results[0] is not None and results[1] is None:  # the header of another array is damaged
        with pytest.raises(sa.SheetArrayError):
            sa.scan(io.BytesIO(content), format="csv")
    else:
        assert results[0] == results[1]


_READ = """
import sys
import sheetarray as sa
import polars
print(sum(len(block) for block in sa.iter_blocks(sys.argv[1], "a", rows=1000)))
"""


@measured
def test_memory_does_not_grow_with_the_text(tmp_path: Path) -> None:
    array = np.random.default_rng(1).standard_normal((10_000, 50))
    peaks = []
    for times in (2, 12):
        with sa.open_writer(tmp_path / "x.csv") as writer:
            for _ in range(times):
                writer.append({"a": array})
        child = run_limited(_READ, tmp_path / "x.csv", seconds=30, mebibytes=400)
        assert child.output.strip() == str(10_000 * times)
        peaks.append(child.mebibytes)
    assert peaks[1] - peaks[0] < 30, peaks  # of 100 MB of text, and 40 MB of elements


@measured
def test_memory_does_not_grow_with_a_text_of_quotes(tmp_path: Path) -> None:
    block = {"a": np.random.default_rng(1).standard_normal(250_000), "s": np.resize(["a,b", "c"], 250_000)}
    peaks = []
    for times in (2, 8):
        with sa.open_writer(tmp_path / "x.csv") as writer:
            for _ in range(times):
                writer.append(block)
        child = run_limited(_READ, tmp_path / "x.csv", seconds=30, mebibytes=400)
        assert child.output.strip() == str(250_000 * times)
        peaks.append(child.mebibytes)
    assert peaks[1] - peaks[0] < 25, peaks  # of 34 MB of text, which took 100 MB when it was read whole


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("suffix", ["csv", "xlsx", "json"])
def test_the_damaged_header_of_another_array_does_not_concern_blocks(tmp_path: Path, suffix: str, opened: bool) -> None:
    path, array = tmp_path / f"x.{suffix}", np.arange(21.0).reshape(7, 3)
    sa.write(path, {"t": array, "other": np.arange(4)})
    damage_header(path)
    source: Any = io.BytesIO(path.read_bytes()) if opened else path
    assert sa.read(path, ["t"])["t"].tolist() == array.tolist()
    assert joined(source, "t", 2, **({"format": suffix} if opened else {})).tolist() == array.tolist()
    with pytest.raises(sa.FormatError):
        joined(path, "other", 2)


def damage_header(path: Path) -> None:
    """Overwrite the dtype of the second array."""
    if path.suffix == ".xlsx":
        book = openpyxl.load_workbook(path)
        sheet = book.worksheets[0]
        (cell,) = [cell for row in sheet.iter_rows() for cell in row if cell.value == "int64"]
        cell.value = "int65"
        book.save(path)
    else:
        path.write_text(path.read_text().replace("int64", "int65"))
