"""Every way to write the XML of a sheet gives the cells that an independent parser sees."""

from __future__ import annotations

import io
import random
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from addresses import cell_address
from foreign_books import (
    MAIN,
    book,
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
from limits import set_limits

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
    container = opened(content)._container
    doubles = [
        (place, value)
        for run in opened(content)._container.cells("arrays", numeric=True)
        for *place, value in zip(run.rows.tolist(), run.columns.tolist(), run.values.to_list(), strict=True)
    ]
    kinds = {c.NUMBER: "n", c.TEXT: "str", c.BOOLEAN: "b"}
    result = {}
    for run in container.cells("arrays", numeric=False):
        for row, column, kind, value in zip(
            run.rows.tolist(), run.columns.tolist(), run.kinds.tolist(), run.values.to_list(), strict=True
        ):
            assert (row, column) not in result
            result[row, column] = kinds[kind], value
    assert len(doubles) == len(result)
    for (row, column), double in doubles:
        kind, value = result[row, column]
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


@pytest.mark.parametrize("rows", [50, 1_000, 20_000])
def test_something_odd_far_down_a_sheet(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks before it have been read by then."""
    set_limits(monkeypatch, first_block=2**13, block=2**18)
    kinds = ("<!-- <row r='1'><c r='A1'> -->", "<?pi <row r='1'> ?>", f'<f:row xmlns:f="{FOREIGN}" r="1"/>')
    for odd in kinds[: 1 if rows > 10**4 else 3]:  # blocks as long as they get are no other for the other kinds
        lines = [f'<row r="{index}"><c r="A{index}"><v>{index}</v></c></row>' for index in range(1, rows + 1)]
        lines.insert(rows * 2 // 3, odd)
        lines[-2] = lines[-2].replace(f"<v>{rows - 1}</v>", f"<v><![CDATA[{rows - 1}]]></v>")
        result = read_cells(worksheet("".join(lines)))
        assert result == {(index - 1, 0): ("n", str(index)) for index in range(1, rows + 1)}


@pytest.mark.parametrize("shift", range(40))
def test_something_odd_across_the_end_of_a_block(shift: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, first_block=2**11)
    line = '<row r="{0}"><c r="A{0}"><v>{0}</v></c></row>'
    head = worksheet("@").index("@")
    odd = "<!-- <row > -->" if shift % 2 else "<![CDATA[ ]]>"
    for mark in (odd, '<row r="9999" xmlns:k="urn:k"/>', "</sheetData>"):
        rows, index = "", 1
        while len(rows) + head < 2**11 - 60 - len(mark):
            rows, index = rows + line.format(index), index + 1
        gap = 2**11 - head - len(rows) - shift
        if mark == "</sheetData>":
            sheet = worksheet(rows + " " * gap)
        else:
            sheet = worksheet(rows + " " * gap + mark + line.format(10_000))
        expected = {(row - 1, 0): ("n", str(row)) for row in range(1, index)}
        if mark != "</sheetData>":
            expected[9999, 0] = ("n", "10000")
        assert read_cells(sheet) == expected


def test_text_that_looks_like_cells_is_text() -> None:
    inner = '1</v></c></row><row r="1"><c r="B1"><v>2'
    cells = columns([text("t"), *header("string", 1), f' t="str"><v><![CDATA[{inner}]]></v></c>'])
    assert sa.read(io.BytesIO(book(cells)), format="xlsx")["t"].tolist() == [inner]


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
END = len(listed("float64", [number(1.5)]))


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
    with pytest.raises(sa.FormatError, match=rf"\b{place}\b.*twice"):
        sa.read(io.BytesIO(content), format="xlsx")
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


def test_cells_out_of_order_are_read() -> None:
    rows = [f'<row r="{n}"><c r="C{n}"><v>{n}</v></c><c r="B{n}"><v>-{n}</v></c></row>' for n in range(2, 9)]
    content = book(
        '<row r="1"><c r="C1" t="str"><v>c</v></c><c r="B1" t="str"><v>b</v></c></row>' + "".join(rows[::-1])
    )
    result = sa.read_columns(io.BytesIO(content), format="xlsx")
    assert result["c"].tolist() == list(range(2, 9))
    assert result["b"].tolist() == [-n for n in range(2, 9)]


def test_rows_and_cells_without_references_follow_each_other() -> None:
    cells = [text("a"), *header("float64", 3000), *[number(index / 7) for index in range(3000)]]
    rows = "".join(f'<row><c{cell}<c t="str"><v>x{index}</v></c><c s="0"/></row>' for index, cell in enumerate(cells))
    for made in (rows, rows.replace("<row>", "<row/><row>", 1), "<!-- -->" + rows):
        result = sa.read(io.BytesIO(book(made)), format="xlsx")
        assert np.array_equal(result["a"], np.arange(3000) / 7)


def test_a_cell_of_a_table_that_comes_twice_is_an_error() -> None:
    rows = "".join(f'<row r="{n}"><c r="B{n}"><v>1</v></c></row>' for n in (*range(1, 30_000), 150))
    with pytest.raises(sa.FormatError, match=r"\bB150\b.*twice"):
        sa.read_columns(io.BytesIO(book(rows)), format="xlsx")
