"""`accept` makes headers true to the cells that people have made of a file, and keeps everything else of it."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xarray as xr
from command_line import run_command
from examples import examples
from excel_packages import parts, rich, with_parts
from hypothesis import given, settings
from hypothesis import strategies as st
from mixtures import Edit, edit_rows, edited_sheet, get_columns, put_columns, take_columns, written

import sheetarray as sa

ARRAYS = {
    "t": np.arange(60.0).reshape(20, 3) / 7,
    "n": np.arange(20),
    "s": np.array([f"a{row}" for row in range(20)]),
    "f": np.asfortranarray(np.arange(40).reshape(2, 20)),
    "other": np.arange(5),
}
GROWING = {name: array for name, array in ARRAYS.items() if name != "other"}


def edited(path: Path, edit: Edit) -> dict[str, np.ndarray[Any, Any]]:
    """Write the arrays, edit all but the last, and return what must come back."""
    written(path, GROWING)
    edit_rows(path, GROWING, edit)
    return {name: edit.of_array(array) for name, array in GROWING.items()}


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    kind = draw(st.sampled_from(["insert", "delete"]))
    first = draw(st.integers(0, 20 if kind == "insert" else 19))
    return Edit(kind, first, draw(st.integers(1, 3 if kind == "insert" else 20 - first)))


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
@settings(max_examples=examples(15), deadline=None)
@given(edit=edits())
def test_what_was_accepted_is_clean(tmp_path_factory, suffix, edit):
    path = tmp_path_factory.mktemp("accept") / f"t.{suffix}"
    expected = edited(path, edit)
    changes = sa.accept(path)
    if suffix == "csv":  # which keeps nothing of what was written
        assert {one.name: one.after for one in changes.arrays} == {name: a.shape for name, a in expected.items()}
    elif edit.kind == "insert" or edit.count < 20:
        rows = [*range(edit.first, edit.first + edit.count)]
        told = [(rows, []) if edit.kind == "insert" else ([], rows)]
        assert [(one.added, one.deleted) for one in changes.rows if one.axis == 0] == told
    assert {name: info.shape for name, info in sa.scan(path).items()} == {name: a.shape for name, a in expected.items()}
    assert list(sa.check(path)) == []
    result = sa.read(path)
    for name, array in expected.items():
        if array.dtype.kind == "f":
            np.testing.assert_allclose(result[name], array, rtol=1e-15)
        else:
            assert result[name].dtype.kind == array.dtype.kind  # the width of text is that of what is left
            np.testing.assert_array_equal(result[name], array)
            assert result[name].shape == array.shape
    assert not sa.accept(path)


def test_only_integers_of_headers_change_in_a_csv(tmp_path):
    text = (
        '\ufeff"my notes; kept";;"say ""x"""\r\n;t;"n"\n;version;"version"\n;1.0.0;1.0.0\r\n;ndarray;ndarray\n'
        ';shape;shape\n; 3 ;"3"\n;strides;strides\n;1;1\n;offset;offset\n;0;0\n;order;order\n;row-major;row-major\n'
        ";dtype;dtype\n;float64;int32\n;length;length\n;3;3\n;capacity;capacity\n;3;3.0\n;data;data\n"
        ";1,5;1\r\n;2,5;2\n;3,5;3\n;4,5;4\n"
    )
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    assert {one.name: one.after for one in sa.accept(path).arrays} == {"t": (4,), "n": (4,)}
    changed = text.replace(' 3 ;"3"', ' 4 ;"4"').replace(";3;3\n;cap", ";4;4\n;cap").replace(";3;3.0", ";4;4")
    assert path.read_bytes().decode() == changed
    assert list(sa.check(path)) == []
    assert sa.read(path)["t"].tolist() == [1.5, 2.5, 3.5, 4.5]


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "utf-8-sig"])
def test_other_encodings_and_compressions_are_kept(tmp_path, encoding):
    file = io.BytesIO()
    sa.write(file, {"é": np.arange(3)}, format="csv", encoding=encoding)
    options = {"encoding": "cp1252"} if encoding == "cp1252" else {}
    content = file.getvalue().decode(encoding) + "3\r\n"
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(content.encode(encoding)))
    assert [(one.name, one.after) for one in sa.accept(path, **options).arrays] == [("é", (4,))]
    raw = gzip.decompress(path.read_bytes())
    for key in ("shape", "length", "capacity"):
        content = content.replace(f"{key}\r\n3", f"{key}\r\n4")
    assert raw.decode(encoding) == content
    assert raw == raw.decode(encoding).encode(encoding)


def test_a_json_keeps_its_white_space(tmp_path):
    cells = sa.to_linear(np.arange(4.0).reshape(2, 2))
    text = json.dumps({"t": [*cells, 4, 5], "n": sa.to_linear(np.arange(4))}, indent=3).replace(": [", " :[ ")
    path = tmp_path / "t.json"
    path.write_text(text)
    assert [one.name for one in sa.accept(path).arrays] == ["t"]
    lines = [pair for pair in zip(text.split("\n"), path.read_text().split("\n"), strict=True) if len(set(pair)) > 1]
    assert [(old.strip(" ,"), new.strip(" ,")) for old, new in lines] == [("2", "3"), ("4", "6"), ("4", "6")]
    assert list(sa.check(path)) == []
    assert sa.read(path)["t"].shape == (3, 2)


def type_below(content: bytes, address_values: dict[str, Any]) -> bytes:
    """The workbook with more rows at the end of its sheet, as a spreadsheet program adds them."""
    names = [name for name, part in parts(content).items() if name.startswith("xl/worksheets/") and b"ndarray" in part]
    (name,) = names
    xml = parts(content)[name].decode()
    for address, value in address_values.items():
        row = "".join(filter(str.isdigit, address))
        cell = f'<c r="{address}"><v>{value}</v></c>'
        if f'<row r="{row}"' in xml:
            begin = xml.index(f'<row r="{row}"')
            end = xml.index("</row>", begin)
            xml = xml[:end] + cell + xml[end:]
        else:
            xml = xml.replace("</sheetData>", f'<row r="{row}">{cell}</row></sheetData>')
    return with_parts(content, {name: xml.encode()})


def test_chart_image_and_macros_keep_their_bytes(tmp_path):
    path = tmp_path / "t.xlsm"
    path.write_bytes(rich(macros=True))
    sa.write_excel(path, ARRAYS, mode="a", guard=False)
    ends = {name: info.data[0].row + info.capacity + 1 for name, info in sa.scan(path).items()}
    path.write_bytes(type_below(path.read_bytes(), {f"E{ends['other']}": 5}))
    typed = parts(path.read_bytes())
    sheet = next(name for name, part in typed.items() if name.startswith("xl/worksheets/") and b"ndarray" in part)
    assert [one.name for one in sa.accept(path).arrays] == ["other"]
    after = parts(path.read_bytes())
    assert list(after) == list(typed)
    assert {name for name, part in after.items() if part != typed[name]} == {
        sheet,
        "xl/workbook.xml",
        "docProps/custom.xml",
    }
    for kept in ("vbaProject", "chart", "media"):
        assert any(kept in name for name in after)
    assert list(sa.check(path)) == []
    names = dict(re.findall(r'<definedName name="(\w+)"[^>]*>([^<]*)<', after["xl/workbook.xml"].decode()))
    assert names["other"].replace("&apos;", "'") == f"'arrays'!$E${ends['other'] - 5}:$E${ends['other']}"
    assert names["n"].endswith(f":$B${ends['n'] - 1}")
    assert "Report" in names["total"]


def test_a_cell_keeps_its_style_and_loses_its_type(tmp_path):
    path = tmp_path / "t.xlsx"
    sheet = "xl/worksheets/sheet1.xml"

    def accepted(*edits: tuple[str, str]) -> str:
        """The sheet of three numbers and a fourth, edited and accepted; its shape stands in A6."""
        sa.write(path, {"n": np.arange(3)})
        content = type_below(path.read_bytes(), {"A23": 7})
        xml = re.sub('<c r="A6"[^>]*>.*?</c>', '<c r="A6" s="1"><v>3</v></c>', parts(content)[sheet].decode())
        for old, new in edits:
            assert old in xml
            xml = xml.replace(old, new)
        path.write_bytes(with_parts(content, {sheet: xml.encode()}))
        assert [(one.arrays, one.added) for one in sa.accept(path).rows] == [(["n"], [3])]
        return parts(path.read_bytes())[sheet].decode()

    shape = '<c r="A6" s="1"><v>3</v></c>'
    for other in (shape, "<c s='1' t='inlineStr' r='A6'><is><t>3</t></is></c>", '<c r="A6" t="str" s="1"><v>3</v></c>'):
        assert '<c r="A6" s="1"><v>4</v></c>' in accepted((shape, other))
    with pytest.raises(sa.FormatError, match="is a formula"):
        accepted((shape, '<c r="A6" s="1"><f>1+2</f><v>3</v></c>'))


def test_a_workbook_that_has_lost_its_record_gets_a_new_one(tmp_path):
    path = written(tmp_path / "t.xlsx", {"n": np.arange(4)})
    pd.read_excel(path, header=None, engine="openpyxl").to_excel(path, sheet_name="arrays", header=False, index=False)
    assert any("no record" in finding.message for finding in sa.check(path))
    sa.accept(path)
    assert list(sa.check(path)) == []


def test_what_cannot_be_read_is_not_accepted(tmp_path):
    path = tmp_path / "t.csv"
    edited(path, Edit("insert", 20, 1))
    content = path.read_text().replace("9.5", "9.5 m", 1)
    path.write_text(content)
    with pytest.raises(sa.FormatError, match="expected a number"):
        sa.accept(path)
    assert path.read_text() == content
    assert [child.name for child in tmp_path.iterdir()] == ["t.csv"]


def test_targets(tmp_path):
    path = tmp_path / "t.csv"
    expected = edited(path, Edit("delete", 3, 2))
    before = path.read_bytes()
    for name in ("out.csv", "out.xlsx"):
        changes = sa.accept(path, tmp_path / name)
        assert {one.name: one.after for one in changes.arrays}["n"] == (18,)
    assert path.read_bytes() == before
    for name in ("out.csv", "out.xlsx"):
        assert list(sa.check(tmp_path / name)) == []
        np.testing.assert_array_equal(sa.read(tmp_path / name)["f"], expected["f"], strict=True)
    with pytest.raises(ValueError, match="keep the suffix"):
        sa.accept(tmp_path / "out.xlsx", tmp_path / "out.xlsm")
    shutil.copy(tmp_path / "out.xlsx", tmp_path / "out.ods")
    with pytest.raises(sa.NotFoundError, match=r"name a new \.xlsx file as the target"):
        sa.accept(tmp_path / "out.ods")
    assert not sa.accept(tmp_path / "out.csv", tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    sa.write(tmp_path / "t.npz", {"n": np.arange(3)})
    with pytest.raises(sa.NotFoundError, match="no accept"):
        sa.accept(tmp_path / "t.npz")
    with pytest.raises(TypeError, match="in place"):
        sa.accept(io.BytesIO(before), format="csv")


def test_the_command(tmp_path):
    path = tmp_path / "t.csv"
    edited(path, Edit("insert", 20, 2))
    result = run_command("accept", path)
    assert result.exit_code == 0
    first, *shapes = result.output.splitlines()
    assert first.startswith(f"{path}: accepted: ")
    assert "  t: shape 20 x 3 -> 22 x 3" in shapes
    result = run_command("accept", path, "--json")
    said = json.loads(result.output)
    assert (said["file"], said["target"], said["changes"]["same"]) == (str(path), str(path), True)
    result = run_command("accept", "-", "--from", "csv", input=path.read_bytes())
    assert result.exit_code == 2


def test_google_sheets_in_one_batch(sheets_server):
    key, client = sheets_server.create(), sheets_server.client()
    sa.write_gsheet(key, {"t": np.arange(6.0).reshape(3, 2), "p": np.arange(3)}, client=client)
    sheet = client.open_by_key(key).worksheet("arrays")
    columns = take_columns(sheet.get_all_values(), "")
    sheet.add_rows(5)
    sheet.update([[6], [7]], f"A{len(columns[0]) + 1}")
    sheet.update([[3]], f"B{len(columns[1]) + 1}")
    changes = sa.accept(key, format="gsheet", client=client)
    assert {one.name: one.after for one in changes.arrays} == {"t": (4, 2), "p": (4,)}
    assert list(sa.check(key, format="gsheet", client=client)) == []
    result = sa.read_gsheet(key, client=client)
    assert result["t"].tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    names = {named["name"]: named["range"] for named in client.open_by_key(key).list_named_ranges()}
    assert names["p"]["endRowIndex"] == len(columns[1]) + 1
    assert not sa.accept(key, format="gsheet", client=client)
    sa.write_gsheet(key, {"p": np.arange(2)}, client=client)
    assert sa.read_gsheet(key, client=client)["p"].tolist() == [0, 1]


def test_labels_that_disagree_are_named(tmp_path):
    xr = pytest.importorskip("xarray")
    path = tmp_path / "t.csv"
    sa.write(path, xr.Dataset({"t": ("x", [1, 2])}, {"x": [0.5, 1.5]}))
    columns = get_columns(path)
    next(column for column in columns if column[0] == "t").append("3")
    put_columns(path, columns)
    uneven = pytest.warns(sa.SheetArrayWarning, match="2 in 'x', 3 in 't'")
    with uneven, pytest.raises(sa.FormatError, match=r"'x' has \d in '.', and \d in '.'"):
        sa.accept(path)


@pytest.mark.parametrize("guard", [True, False])
def test_a_workbook_in_which_nothing_has_changed_is_not_written_again(tmp_path, guard):
    path = tmp_path / "t.xlsx"
    sa.write(path, {"t": np.array([1.5, 2.5]), "s": np.array(["a", "b"])}, guard=guard)
    before = path.stat()
    assert not sa.accept(path)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    sa.accept(path, tmp_path / "copy.xlsx")
    assert sa.read(tmp_path / "copy.xlsx")["t"].tolist() == [1.5, 2.5]


def test_an_option_of_read_is_taken_where_the_target_has_another_format(tmp_path):
    sa.write(tmp_path / "t.csv", {"t": np.arange(3)})
    assert not sa.accept(tmp_path / "t.csv", tmp_path / "t.json", resize=True)
    assert sa.read(tmp_path / "t.json", "t").tolist() == [0, 1, 2]


def test_accept_says_what_check_says(tmp_path):
    path = tmp_path / "t.xlsx"
    sa.write(path, {"t": np.array([0.1 + 0.2, 2.5, 3.5]), "n": np.arange(3)}, guard=True)
    with edited_sheet(path) as sheet:
        sheet["A1"] = "renamed"
        sheet["A21"] = 9.5
        sheet["A20"] = 0.3
    changes = sa.accept(path)
    assert [(one.array, one.index, one.after) for one in changes.edited] == [("renamed", (1,), 9.5)]
    assert [(one.what, one.before, one.name) for one in changes.arrays] == [("renamed", "t", "renamed")]
    assert list(sa.check(path)) == []
    assert sa.read(path)["renamed"].tolist() == [0.1 + 0.2, 9.5, 3.5]


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_a_blank_last_cell_beside_an_inserted_row_is_listed_and_the_row_is_taken(tmp_path: Path, suffix: str) -> None:
    """Columns of one dimension have different lengths then: the shorter one ends with a blank."""
    path = tmp_path / f"sites.{suffix}"
    labels = {"key": [10, 20, 30, 40, 50]}
    sa.write(path, xr.Dataset({"a": ("key", np.arange(5) + 0.5), "b": ("key", np.arange(5) * 2.0)}, labels))
    if suffix == "csv":
        lines = path.read_text().splitlines()
        lines[-1] = lines[-1].replace(",8.0,", ",,")
        lines.insert(len(lines) - 3, "1.7,3.3,25,")
        path.write_text("\n".join(lines) + "\n")
    else:
        book = openpyxl.load_workbook(path)
        sheet = book.worksheets[0]
        last = sheet.max_row
        sheet.cell(last, 2).value = None
        sheet.insert_rows(last - 2)
        for column, value in enumerate((1.7, 3.3, 25), start=1):
            sheet.cell(last - 2, column).value = value
        book.save(path)
    with pytest.warns(sa.SheetArrayWarning, match="cannot be read"):
        changes = sa.accept(path)
    assert [(cell.array, cell.index) for cell in changes.unreadable] == [("b", (5,))]
    back = sa.read_dataset(path, missing="nan")
    assert back["key"].values.tolist() == [10, 20, 25, 30, 40, 50]
    np.testing.assert_array_equal(back["b"].values, [0.0, 2.0, 3.3, 4.0, 6.0, np.nan])
