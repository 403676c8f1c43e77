"""Formulas in the place of elements that were written as values: `check` names them, in each kind of workbook."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from addresses import cell_address
from examples import cross
from excel_packages import parts, with_parts
from foreign_books import document
from programs import resave

import sheetarray as sa

SHEET = "xl/worksheets/sheet1.xml"
NUMBERS = np.random.default_rng(3).standard_normal(60)
ARRAYS: dict[str, Any] = {
    "t": NUMBERS,
    "s": np.array([f"x{k}" for k in range(60)]),
    "b": NUMBERS > 0,
    "c": NUMBERS + 1j,
    "g": NUMBERS.reshape(6, 10),
}


@cache
def written() -> bytes:
    file = io.BytesIO()
    sa.write_excel(file, ARRAYS)
    return file.getvalue()


def changed(content: bytes, change: Callable[[str], str]) -> bytes:
    return with_parts(content, {SHEET: change(parts(content)[SHEET].decode()).encode()})


def formula(column: str, first: int, last: int, tag: str = "<f>B5*1</f>") -> Callable[[str], str]:
    """A change of a sheet's XML: a formula before the value of each cell of a column, between two rows."""

    def put(cell: re.Match[str]) -> str:
        if not first <= int(cell[2]) <= last:
            return cell[0]
        text = re.fullmatch(r"<is><t[^>]*>(.*)</t></is>", cell[4])
        kind, value = (' t="str"', f"<v>{text[1]}</v>") if text else (cell[3], cell[4])
        return f'<c r="{column}{cell[2]}"{kind}>{tag}{value}</c>'

    return lambda xml: re.sub(rf'<c r="({column})([0-9]+)"([^>]*)>(.*?)</c>', put, xml)


def said(content: bytes) -> list[tuple[str, str | None, str]]:
    return [
        (finding.severity, finding.location, finding.message)
        for finding in sa.check(io.BytesIO(content), format="xlsx")
    ]


COLUMNS = {"t": "A", "s": "B", "b": "C", "g": "E"}
FORMS = ["<f>B5*1</f>", '<f t="shared" si="0"/>', '<f aca="false">B5*1</f>', "<f>B5*1</f> "]


@pytest.mark.parametrize(("name", "form"), cross(COLUMNS, FORMS, "t"))
def test_formulas_with_the_values_that_were_written_are_told(name: str, form: str) -> None:
    """The last form has white space between its tags, which only the XML parser understands."""
    array, column, start = ARRAYS[name], COLUMNS[name], 22
    first, last = (f"{name}[{', '.join(map(str, np.unravel_index(k, array.shape)))}]" for k in (0, 59))
    whole = changed(written(), formula(column, start, start + 59, form))
    message = f"all 60 cells are formulas now, from {first} ({column}{start}) to {last} ({column}{start + 59})"
    assert said(whole) == [("warning", name, message)]
    one = changed(written(), formula(column, start, start, form))
    message = f"{first} ({column}{start}) is a formula now"
    assert said(one) == [("warning", f"arrays!{column}{start}", message)]
    message = "a cell of the header is a formula now, whose value may change"  # and no element is
    above = said(changed(written(), formula(column, start - 1, start - 1, form)))
    assert above == [("warning", f"arrays!{column}{start - 1}", message)]
    for content in (whole, one):
        assert np.array_equal(sa.read_excel(io.BytesIO(content))[name], array)


def test_a_formula_with_another_value_is_an_edit_as_well() -> None:
    def change(xml: str) -> str:
        return re.sub('<c r="A33"(?: s="[0-9]+")?><v>[^<]*</v>', '<c r="A33"><f>B5*1</f><v>3</v>', xml)

    formulas, edit = said(changed(written(), change))
    assert edit == ("error", "arrays!A33", f"t[11] (x11): {NUMBERS[11]:.6g} -> 3.0")
    assert formulas == ("warning", "arrays!A33", "t[11] (A33) is a formula now")


def test_formulas_without_a_value_are_errors_and_no_more_is_said_of_them() -> None:
    content = changed(
        written(), lambda xml: re.sub('<c r="A33"(?: s="[0-9]+")?><v>[^<]*</v>', '<c r="A33"><f>B5*1</f>', xml)
    )
    assert said(content) == [("error", "arrays!A33", "t[11]: a formula without a value")]
    others = changed(content, formula("A", 40, 41))
    assert ("warning", "t", "2 of 60 cells are formulas now, from t[18] (A40) to t[19] (A41)") in said(others)


def test_formulas_that_are_errors_are_counted_too() -> None:
    cell = '<c r="A33" t="e"><f>1/0</f><v>#DIV/0!</v>'
    content = changed(written(), lambda xml: re.sub('<c r="A33"(?: s="[0-9]+")?><v>[^<]*</v>', cell, xml))
    assert said(content) == [
        ("warning", "arrays!A33", "t[11] (A33) is a formula now"),
        ("error", "arrays!A33", "t[11]: an error, #DIV/0!"),
    ]


def test_the_real_parts_of_complex_numbers_and_what_lies_in_rows() -> None:
    file = io.BytesIO()
    sa.write_excel(file, {"t": NUMBERS})
    xml = parts(file.getvalue())[SHEET].decode()
    cells = re.findall('<c r="A([0-9]+)"([^>]*)>(.*?)</c>', xml)
    row = "".join(f'<c r="{cell_address(4, int(place))}"{kind}>{inner}</c>' for place, kind, inner in cells)
    lying = re.sub("<sheetData>.*</sheetData>", f'<sheetData><row r="5">{row}</row></sheetData>', xml)
    begins, ends = cell_address(4, 22), cell_address(4, 24)
    lying = re.sub(f'(<c r="(?:{begins}|{ends})"[^>]*>)', r"\1<f>1*1</f>", lying)
    content = with_parts(file.getvalue(), {SHEET: lying.encode()})
    assert said(content) == [("warning", "t", f"2 of 60 cells are formulas now, from t[2] ({begins}) to t[4] ({ends})")]


# Array formulas and truth values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tag",
    [
        '<f t="array" ref="A33:A40">B5*1</f>',
        '<f t="dataTable" ref="A33:A40" dt2D="1"/>',
        '<f t="shared" ref="A33:A40">B5*1</f>',
        '<f t="array" ref="A1:XFE2">B5*1</f>',
    ],
)
def test_a_formula_of_several_cells_is_one_where_it_stands(tag: str) -> None:
    (found,) = said(changed(written(), formula("A", 33, 33, tag)))
    assert found == ("warning", "arrays!A33", "t[11] (A33) is a formula now")


@pytest.mark.parametrize("form", ["<f>{}()</f>", '<f aca="false">{}()</f>', "<f>{}()</f> "])
def test_truth_values_that_libreoffice_writes_as_formulas_are_none(form: str) -> None:
    content = written()
    for word in ("TRUE", "FALSE"):
        content = changed(content, formula("C", 22, 30, form.format(word)))
        assert not said(content)
        content = written()
    assert said(changed(content, formula("A", 22, 30, form.format("TRUE"))))
    assert said(changed(content, formula("C", 22, 30, form.format("XTRUE"))))


# Other kinds ---------------------------------------------------------------------------------------------------

LIST = [
    *("version", "1.0.0", "ndarray", "shape", 3, "strides", 1, "offset", 0, "order", "row-major", "dtype", "float64"),
    *("length", 3, "capacity", 3, "data", 1.5, 2.5, 3.5),
]


def ods_cell(value: str | float, more: str = "") -> str:
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string"{more}><text:p>{value}</text:p></table:table-cell>'
    return f'<table:table-cell office:value-type="float" office:value="{value}"{more}/>'


def ods(*more: str) -> bytes:
    cells = [ods_cell(value) for value in LIST[:-3]]
    cells += [ods_cell(value, extra) for value, extra in zip(LIST[-3:], more, strict=True)]
    return document({"arrays": "".join(f"<table:table-row>{cell}</table:table-row>" for cell in cells)})


MESSAGE = "2 of 3 cells are formulas now, from {}[1] (A20) to {}[2] (A21)"


def formulas_in(content: bytes) -> list[tuple[str, str | None, str]]:
    return [finding for finding in said(content) if "formula" in finding[2]]


def test_formulas_of_an_open_document() -> None:
    mark = ' table:formula="of:=[.B5]*1"'
    assert formulas_in(ods("", mark, mark)) == [("warning", "A", MESSAGE.format("A", "A"))]
    assert not formulas_in(ods("", "", ""))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_formulas_that_libreoffice_saves(suffix: str, tmp_path: Path) -> None:
    content = changed(written(), formula("A", 40, 49, "<f>A39*1</f>"))
    content = changed(content, formula("B", 30, 30, '<f>"x"&amp;"10"</f>'))
    content = changed(content, formula("C", 50, 50, "<f>A39&gt;0</f>"))
    content = changed(content, formula("E", 30, 30, '<f t="array" ref="E30:E33">A22:A25</f>'))
    (tmp_path / "x.xlsx").write_bytes(content)
    saved = resave(tmp_path / "x.xlsx", suffix, tmp_path / "again")
    findings = [finding.message.partition(";")[0] for finding in sa.check(saved, format="xlsx")]
    findings = [message for message in findings if "formula" in message]
    assert findings == [
        "10 of 60 cells are formulas now, from t[18] (A40) to t[27] (A49)",
        "s[8] (B30) is a formula now",
        "b[28] (C50) is a formula now",
        "g[0, 8] (E30) is a formula now",
    ]


@pytest.mark.parametrize(
    ("rows", "place", "words"),
    [
        ((6, 6), "arrays!A6", "a cell of the header is a formula"),
        ((1, 1), "arrays!A1", "the name is a formula"),
        ((1, 5), "arrays!A1", "the name and 2 more of its header"),
    ],
)
def test_formulas_in_a_header_are_named(rows: tuple[int, int], place: str, words: str) -> None:
    content = changed(written(), formula("A", *rows, tag="<f>1*1</f>"))
    (finding,) = sa.check(io.BytesIO(content), format="xlsx")
    assert (finding.severity, finding.array, finding.index, finding.location) == ("warning", "t", None, place)
    assert words in finding.message
    assert list(sa.read(io.BytesIO(content), format="xlsx")) == list(ARRAYS)
