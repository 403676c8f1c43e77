"""Every way to write the XML of a sheet gives the cells that an independent parser sees."""

from __future__ import annotations

import io
import random
import xml.etree.ElementTree as ET
from functools import partial
from typing import Any

import numpy as np
import pytest
from addresses import cell_address
from foreign_books import (
    MAIN,
    book,
    cells_of,
    columns,
    header,
    listed,
    number,
    opened,
    parts,
    read,
    rows_of,
    shared,
    text,
    worksheet,
    zipped,
)
from hypothesis import given
from hypothesis import strategies as st

import sheetarray as sa
from sheetarray.sheets.excel.reader import cells as c

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
        doubles, _ = cells_of(made._container.cells("arrays", numeric=True))
        cells, _ = cells_of(made._container.cells("arrays", numeric=False))
    kinds = {c.NUMBER: "n", c.TEXT: "str", c.BOOLEAN: "b"}
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


def test_shared_strings_may_be_odd() -> None:
    cells = columns([text("t"), *header("string", 4), *[f' t="s"><v>{index}</v></c>' for index in range(4)]])
    strings = shared(
        "<t><![CDATA[<si><t>x</t></si>]]></t>", "<!-- <si/> --><t>b</t>", "<t>c<?pi?></t>", "<r><t>d</t></r>"
    )
    for table in (
        strings,
        strings.replace("</sst>", "<extLst><ext><si><t>no</t></si></ext></extLst></sst>"),
        strings.replace("<si>", "<x:si>").replace("</si>", "</x:si>").replace("<sst ", f'<sst xmlns:x="{MAIN}" '),
    ):
        table = table.replace("[<x:si>", "[<si>").replace("</x:si>]", "</si>]")
        made = sa.read(io.BytesIO(book(cells, strings=table)), format="xlsx")["t"].tolist()
        assert made == ["<si><t>x</t></si>", "b", "c", "d"]


# A cell that comes twice -------------------------------------------------------------------------------------

ARRAY = rows_of(columns(listed("float64", [number(1.5)])))


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        (ARRAY + '<row r="40"><c r="B40"><v>1</v></c><c r="B40"><v>1</v></c></row>', "B40"),
        (ARRAY + '<row r="40"><c r="B40"><v>1</v></c></row><row r="40"><c r="B40"><v>2</v></c></row>', "B40"),
        (ARRAY + '<row r="40"><c r="C40"><v>1</v></c><c r="A40"><v>1</v></c><c r="C40"><v>3</v></c></row>', "C40"),
        (ARRAY + '<row r="1"><c r="A1"><v>1</v></c></row>', "A1"),
        (ARRAY + "".join(f'<row r="{n}"><c r="B{n}"><v>1</v></c></row>' for n in (*range(100, 30_000), 150)), "B150"),
        (ARRAY.replace('<c r="A2"', '<c r="A2" t="str"><v>version</v></c><c r="A2"'), "A2"),
    ],
)
def test_a_cell_that_comes_twice_is_an_error(rows: str, place: str) -> None:
    content = book(rows)
    for verb in (sa.read, partial(sa.read_columns, header=False)):
        with pytest.raises(sa.FormatError, match=rf"\b{place}\b.*twice"):
            verb(io.BytesIO(content), format="xlsx")
    assert any("twice" in finding.message for finding in sa.check(io.BytesIO(content), format="xlsx"))


SECOND = '<sheetData><row r="1"><c r="C1"><v>5</v></c></row></sheetData>'


@pytest.mark.parametrize(
    "sheet",
    [
        worksheet(ARRAY, after=SECOND),
        worksheet(ARRAY, after="<sheetData/>"),
        worksheet(ARRAY, after="<pageSetup/>" * 10_000 + SECOND),
        worksheet(ARRAY, after=" " * (2**16 - len(worksheet(ARRAY)) + 5) + SECOND),  # across the end of a block
        worksheet("<!-- -->" + ARRAY, after=SECOND),
        worksheet(
            ARRAY, after=SECOND.replace("<sheetData", "<x:sheetData").replace("</sheetData", "</x:sheetData")
        ).replace("<worksheet ", f'<worksheet xmlns:x="{MAIN}" '),
        worksheet(ARRAY).replace("<sheetData>", "<sheetData/><sheetData>"),
    ],
    ids=["cells", "empty", "far", "seam", "comment", "prefix", "first-empty"],
)
def test_a_second_sheet_data_is_an_error(sheet: str) -> None:
    content = zipped(parts({"arrays": sheet}))
    with pytest.raises(sa.FormatError, match=r"sheet1\.xml: a second sheetData"):
        read(content)
    assert any("a second sheetData" in finding.message for finding in sa.check(io.BytesIO(content), format="xlsx"))


@pytest.mark.parametrize("tag", ["sheetDataSet", "f:sheetData", "sheetData.x"])
def test_what_only_looks_like_a_second_sheet_data_is_passed_over(tag: str) -> None:
    sheet = worksheet(ARRAY, after=f'<{tag} xmlns:f="{FOREIGN}"/>')
    for made in (sheet, sheet.replace("<sheetData>", "<sheetData><!-- -->")):
        assert read(zipped(parts({"arrays": made})))["t"].tolist() == [1.5]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ("<v>1</v><v>2</v>", "a cell with two values"),
        ("<v></v><v>2</v>", "a cell with two values"),
        ("<v><x>9</x>1</v>", "an element within a value"),
        ("<v>1<x/></v>", "an element within a value"),
    ],
)
def test_a_cell_has_one_value_and_no_elements_in_it(values: str, reason: str) -> None:
    rows = rows_of(columns(listed("float64", [f">{values}</c>"])))
    with pytest.raises(sa.FormatError, match=rf"A20: {reason}"):
        read(book(rows))


def test_rows_and_cells_without_references_follow_each_other() -> None:
    cells = [text("a"), *header("float64", 3000), *[number(index / 7) for index in range(3000)]]
    rows = "".join(f'<row><c{cell}<c t="str"><v>x{index}</v></c><c s="0"/></row>' for index, cell in enumerate(cells))
    for made in (rows, rows.replace("<row>", "<row/><row>", 1), "<!-- -->" + rows):
        result = sa.read(io.BytesIO(book(made)), format="xlsx")
        assert np.array_equal(result["a"], np.arange(3000) / 7)
