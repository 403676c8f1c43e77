"""Cells of workbooks: what stands in them comes out, to the last bit, or is refused at its address."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pytest
from excel_packages import parts
from foreign_books import book, columns, listed, number, read, shared

import sheetarray as sa
from sheetarray.testing.cases import assert_same


def one(dtype: str, *data: str, **options: Any) -> np.ndarray[Any, Any]:
    """The array whose data cells those are."""
    return read(book(columns(listed(dtype, data))), **options)["t"]


# Numbers -----------------------------------------------------------------------------------------------------


def random_doubles(count: int) -> np.ndarray[Any, Any]:
    bits = np.random.default_rng(7).integers(0, 2**64, 2 * count, dtype=np.uint64)
    doubles = bits.view(np.float64)
    return doubles[np.isfinite(doubles)][:count]


def test_every_bit_of_a_double_comes_out_however_it_is_written() -> None:
    extremes = [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1 + 0.2, 2.0**53, 1e300]
    wanted = np.concatenate([random_doubles(5000), extremes])
    for form in (repr, "{:.17e}".format, "{:.17G}".format, "{:+.20E}".format):
        assert_same(one("float64", *(number(form(float(value))) for value in wanted)), wanted)


# Text --------------------------------------------------------------------------------------------------------


def test_every_character_comes_out_of_every_kind_of_text_cell() -> None:
    plain = [chr(code) for code in range(0x20, 0x3002) if code < 0x800 or not code % 16 or chr(code).isspace()]
    plain += [chr(code) for code in (0xFFFD, 0xE000, 0x1F600, 0x10FFFF)] + [
        *("\t", "\n", "a\nb", "&<>\"'", "]]>", " a ", "_"),
    ]
    escaped = {
        "_x000D_": "\r",
        "_x0001_": "\x01",
        "_xFFFE_": "\ufffe",
        "_xFFFF_": "\uffff",
        "_x005F_x0041_": "_x0041_",
        "_x0041__x0042_": "AB",
        "_xD83D__xDE00_": "\U0001f600",
        "_xD83D_": "_xD83D_",
        "_x41_": "_x41_",
        "_X0041_": "_X0041_",
        "_x00e9_": "é",
        "__x005F_x0041_": "__x0041_",
        "_x005F_": "_",
        "_x12345_ _x_ x0041_ _x004_": "_x12345_ _x_ x0041_ _x004_",
    }
    written = plain + list(escaped)
    wanted = plain + list(escaped.values())
    kept = 'xml:space="preserve"'
    items = [f"<t {kept}>{_xml(value)}</t>" for value in written]
    forms = {
        "inline": [f' t="inlineStr"><is>{item}</is></c>' for item in items],
        "shared": [f' t="s"><v>{index}</v></c>' for index in range(len(items))],
        "result": [f' t="str"><v {kept}>{_xml(value)}</v></c>' for value in written],
        "formula": [f' t="str"><f>A1</f><v>{_xml(value)}</v></c>' for value in written],
        "rich": [f' t="inlineStr"><is><r><t {kept}>{_xml(value)}</t></r></is></c>' for value in written],
    }
    content = book(
        columns(*(listed("string", data, name=name) for name, data in forms.items())), strings=shared(*items)
    )
    for name, result in read(content).items():
        assert result.tolist() == wanted, name


def _xml(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# Dates, errors, formulas -------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 99, 100, 101])
def test_few_texts_are_escaped_as_many_are(count: int) -> None:
    pieces = ["", " a", "b  c", "<&>", "_x000D_", "d\re", "f\n", "\x1f", "\ufffe", "Zürich", "\u3000", "\x85"]
    texts = np.array([pieces[place % len(pieces)] for place in range(1000)])
    few, many = io.BytesIO(), io.BytesIO()
    sa.write(few, {"t": texts[:count]}, format="xlsx", guard=False)
    sa.write(many, {"t": texts}, format="xlsx", guard=False)
    assert sa.read(io.BytesIO(few.getvalue()), "t").tolist() == texts[:count].tolist()
    cells = [
        re.findall(b"(?s)<is>(.*?)</is>", parts(file.getvalue())["xl/worksheets/sheet1.xml"]) for file in (few, many)
    ]
    below = [each[each.index(b"<t>data</t>") :] for each in cells]
    assert below[0] == below[1][: len(below[0])]
    assert len(below[0]) == 1 + sum(text != "" for text in texts[:count].tolist())
