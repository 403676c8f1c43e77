"""Sheets of workbooks: cells are found where they stand, whoever wrote them, and no more is read than is needed."""

from __future__ import annotations

import io
import random
import xml.etree.ElementTree as ET
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import xlsxwriter
from addresses import cell_address
from foreign_books import (
    MAIN,
    book,
    cells_of,
    columns,
    grid,
    header,
    heads,
    listed,
    number,
    opened,
    parts,
    read,
    rows_of,
    text,
    words,
    worksheet,
    zipped,
)
from hypothesis import given
from hypothesis import strategies as st
from limits import set_limits
from round_trips import without_loops

import sheetarray as sa
from sheetarray.sheets.excel.reader import cells as cells_of_reader
from sheetarray.testing.cases import assert_same

# Where cells stand -------------------------------------------------------------------------------------------


def test_cells_in_another_order_are_refused_where_their_places_are_too_many_to_keep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = rows_of(cells := columns(listed("int64", list(map(number, range(50)))))).split("</row>")[:-1]
    ascending, content = book(cells), book("</row>".join([*rows[1:], rows[0]]) + "</row>")
    set_limits(monkeypatch, cell_places=len(cells))
    assert_same(read(content)["t"], np.arange(50))
    set_limits(monkeypatch, cell_places=len(cells) - 1)
    assert_same(read(ascending)["t"], np.arange(50))
    with pytest.raises(sa.FormatError, match="are not in order, and it has more than"):
        read(content)


# Workbooks ---------------------------------------------------------------------------------------------------


def test_titles_come_in_the_order_of_the_tabs_without_charts(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "x.xlsx") as made:
        for title in ("b & <c>", "a", "Übersicht"):
            made.add_worksheet(title).write(0, 0, title)
        chart = made.add_chart({"type": "line"})
        chart.add_series({"values": "=a!$A$1:$A$2"})
        made.add_chartsheet("chart").set_chart(chart)
        made.get_worksheet_by_name("a").hide()
        made.get_worksheet_by_name("Übersicht").very_hidden()
    content = (tmp_path / "x.xlsx").read_bytes()
    assert heads(content) == {title: [[title]] for title in ("b & <c>", "a", "Übersicht")}
    with pytest.raises(sa.NotFoundError, match="'b & <c>', 'a', 'Übersicht'"):
        read(content, sheet="c")


def test_modules_of_macros_are_passed_over_and_titles_are_told_without_escapes() -> None:
    made = parts({"a": worksheet(""), "Module1": worksheet(""), "_x005F_x0041_": worksheet("")})
    made["xl/workbook.xml"] = made["xl/workbook.xml"].replace('r:id="rId2"', 'r:id=""')
    assert list(heads(zipped(made))) == ["a", "_x0041_"]


def test_hidden_and_filtered_rows_and_hidden_columns_are_read(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = made.active
    for row, value in enumerate(["t", *words("float64", 3), 0.1, 0.2, 0.3], 1):
        sheet.cell(row, 2, value)
    sheet.row_dimensions[21].hidden = True
    sheet.column_dimensions["B"].hidden = True
    sheet.auto_filter.ref = "B19:B22"
    sheet.sheet_state = "hidden"
    made.create_sheet("other")
    made.save(tmp_path / "x.xlsx")
    assert_same(sa.read(tmp_path / "x.xlsx")["t"], np.array([0.1, 0.2, 0.3]))


def test_a_sheet_without_cells() -> None:
    for rows in ("", '<row r="1"/>', '<row r="5"><c r="A5" s="1"/></row>', "\n"):
        assert not any(grid(book(rows)))
        with pytest.raises(sa.FormatError, match="no array"):
            read(book(rows))
    empty = zipped(parts({"arrays": worksheet("").replace("<sheetData></sheetData>", "<sheetData/>")}))
    assert grid(empty) == []


# Every way to write the XML of a sheet gives the cells that an independent parser sees ------------------------

FOREIGN = "urn:another"


class Variation:
    """The XML of one sheet, written in ways that mean the same."""

    def __init__(self, source: random.Random, *, plain: float) -> None:
        self.source, self.plain = source, plain
        self.prefix = source.choice(["", "", "x:", "main.1:"])
        self.other = source.choice(["", "", "y:"]) if self.prefix else source.choice(["", "", "m:"])
        self.numbered = source.random() < 0.8
        self.markup = source.random() < 0.6  # comments, CDATA, processing instructions, other namespaces

    def odd(self) -> bool:
        """Whether to do something unusual here."""
        return self.source.random() > self.plain

    def name(self, local: str) -> str:
        return (self.other if self.other and self.odd() else self.prefix) + local

    def gap(self) -> str:
        """What may stand between elements."""
        if not self.odd():
            return ""
        if not self.markup:
            return self.source.choice([" ", "\n\t"])
        return self.source.choice(
            [
                " ",
                "\n\t",
                "<!-- <row r='9'><c r='A9'><v>7</v></c></row> -->",
                "<?pi </sheetData> <row > ?>",
                f'<f:v xmlns:f="{FOREIGN}"><v>66</v></f:v>',
                "<!---->",
                "\r\n",
            ]
        )

    def attributes(self, *pairs: tuple[str, str]) -> str:
        given = list(pairs)
        if self.odd():
            given.append(self.source.choice([("cm", "1"), ("z:r", "Z99"), ("note", ">"), ("note", "a > b")]))
        if self.odd():
            self.source.shuffle(given)
        texts = []
        for key, value in given:
            quote = "'" if self.odd() else '"'
            if self.odd() and value:
                value = f"&#{ord(value[0])};" + value[1:]
            texts.append(f"{self.gap_in_tag()}{key}={quote}{value}{quote}")
        return "".join(texts) + (" " if self.odd() else "")

    def gap_in_tag(self) -> str:
        return self.source.choice(["  ", "\n", "\t "]) if self.odd() else " "

    def element(self, local: str, attributes: str, content: str) -> str:
        name = self.name(local)
        more = f' xmlns:q="{FOREIGN}"' if self.markup and self.odd() else ""
        end = f"</{name}{' ' if self.odd() else ''}>"
        return f"<{name}{more}{attributes}>{content}{end}" if content or self.odd() else f"<{name}{more}{attributes}/>"

    def characters(self, value: str) -> str:
        """Text, in any way that means it."""
        out = ""
        for character in value:
            way = self.source.choice([1, 2, 3, 4] if self.markup else [0, 2]) if self.odd() else 0
            plain = character.replace("&", "&amp;").replace("<", "&lt;").replace("\r", "&#13;")
            if way == 1 and character != "\r":
                plain = f"<![CDATA[{character}]]>"
            elif way == 2:
                plain = f"&#x{ord(character):x};"
            elif way == 3:
                plain += "<!-- </v></c><c r='A1'> -->"
            elif way == 4:
                plain += "<?x y?>"
            out += plain
        if self.odd() and self.markup:
            out += "<![CDATA[]]>"
        return out

    def cell(self, row: int, column: int, value: float | str | bool) -> str:
        reference = [("r", cell_address(row, column))] if self.numbered else []
        if isinstance(value, bool):
            return self.element("c", self.attributes(*reference, ("t", "b")), self.value(str(int(value))))
        if isinstance(value, (int, float)):
            kind = [("t", "n")] if self.odd() else []
            return self.element("c", self.attributes(*reference, *kind), self.value(repr(value)))
        if self.source.random() < 0.5:
            return self.element("c", self.attributes(*reference, ("t", "str")), self.value(value))
        keep = self.attributes(("xml:space", "preserve"))
        item = self.element("t", keep, self.characters(value))
        if self.odd():
            item = self.element("r", "", self.gap() + item)
        content = self.gap() + self.element("is", "", item) + self.gap()
        return self.element("c", self.attributes(*reference, ("t", "inlineStr")), content)

    def value(self, text: str) -> str:
        return self.gap() + self.element("v", "", self.characters(text)) + self.gap()

    def sheet(self, grid: list[list[Any]]) -> str:
        rows = []
        for row, line in enumerate(grid):
            cells = [self.cell(row, column, value) for column, value in enumerate(line)]
            if self.numbered and self.odd():
                self.source.shuffle(cells)
            number = [("r", str(row + 1))] if self.numbered else []
            content = "".join(self.gap() + cell for cell in cells)
            rows.append(self.element("row", self.attributes(*number), content) + self.gap())
        if self.numbered and self.odd():
            self.source.shuffle(rows)
        name = f"{self.prefix}worksheet"
        spaces = f'xmlns{":" + self.prefix[:-1] if self.prefix else ""}="{MAIN}" xmlns:z="{FOREIGN}"'
        if self.other:
            spaces += f' xmlns:{self.other[:-1]}="{MAIN}"'
        inner = f"{self.prefix}sheetData"
        before = "<!-- <sheetData><row r='1'/></sheetData> -->" if self.markup and self.odd() else ""
        content = f"{before}<{inner}>{''.join(rows)}</{inner}>{self.gap()}"
        return f"<?xml version='1.0'?>{before}<{name} {spaces}>{content}</{name}>"


def seen(sheet: str) -> dict[tuple[int, int], tuple[str, str]]:
    """The cells of a sheet as ElementTree has them: type and text by row and column."""
    result: dict[tuple[int, int], tuple[str, str]] = {}
    after = 0
    main = f"{{{MAIN}}}"
    for row in ET.fromstring(sheet.encode()).findall(f"{main}sheetData/{main}row"):
        index = int(row.get("r", after + 1))
        after, across = index, 0
        for cell in row.findall(f"{main}c"):
            letters = (cell.get("r") or cell_address(index - 1, across)).rstrip("0123456789")
            column = 0
            for letter in letters:
                column = column * 26 + ord(letter) - 64
            across = column
            value = cell.find(f"{main}v")
            content = value.text or "" if value is not None else ""
            inline = cell.find(f"{main}is")
            if inline is not None:
                content = "".join(item.text or "" for item in inline.iter(f"{main}t"))
            result[index - 1, column - 1] = cell.get("t", "n"), content
    return result


def read_cells(sheet: str) -> dict[tuple[int, int], tuple[str, str]]:
    """The same as it is read here."""
    content = zipped(parts({"arrays": sheet}))
    with opened(content) as made:
        doubles = cells_of(made._container.cells("arrays", numeric=True))
        cells = cells_of(made._container.cells("arrays", numeric=False))
    kinds = {cells_of_reader.NUMBER: "n", cells_of_reader.TEXT: "str", cells_of_reader.BOOLEAN: "b"}
    result = {place: (kinds[kind], value) for place, (kind, value, _) in cells.items()}
    assert doubles.keys() == cells.keys()
    for place, (_, double, _) in doubles.items():
        kind, value = result[place]
        assert double is None or double == float(value), (kind, value, double)
        assert double is not None or kind != "n" or value.strip() != value or "&" in sheet or "CDATA" in sheet
    return result


VALUES = st.one_of(
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.text(st.sampled_from("ab <>&'\"]\r\n\té😀_x-!?"), max_size=8),
)


@given(
    st.lists(st.lists(VALUES, min_size=1, max_size=5), min_size=1, max_size=6),
    st.sampled_from([0.5, 0.9, 0.98, 1.0]),
    st.integers(0, 2**32),
)
def test_variations_of_a_sheet_mean_the_same(grid: list[list[Any]], plain: float, seed: int) -> None:
    sheet = Variation(random.Random(seed), plain=plain).sheet(grid)
    expected = {place: ("str" if kind == "inlineStr" else kind, value) for place, (kind, value) in seen(sheet).items()}
    assert len(expected) == sum(map(len, grid))
    assert read_cells(sheet) == expected


# A cell that comes twice -------------------------------------------------------------------------------------


def test_rows_and_cells_without_references_follow_each_other() -> None:
    cells = [text("a"), *header("float64", 3000), *[number(index / 7) for index in range(3000)]]
    rows = "".join(f'<row><c{cell}<c t="str"><v>x{index}</v></c><c s="0"/></row>' for index, cell in enumerate(cells))
    for made in (rows, rows.replace("<row>", "<row/><row>", 1), "<!-- -->" + rows):
        for way in (nullcontext, without_loops):
            with way():
                result = sa.read(io.BytesIO(book(made)), format="xlsx")
            assert np.array_equal(result["a"], np.arange(3000) / 7)
