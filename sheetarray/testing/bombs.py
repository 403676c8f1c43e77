"""Files that are small, or cheap to write, and repeat something very often: sheets, strings, headers, members, arrays.

    from sheetarray.testing.bombs import BOMBS
    content = BOMBS["2 M rich strings"].make(1)

Each makes up to 32 MB, or so many times less. No reader may take more than 10 seconds or 1 GiB for one of them: what
a file can repeat is counted, and too much of it is an error. Prefixes, words and structure are right, so that readers
get to what is repeated.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_HEADER = [
    *("version", "1.0.0", "ndarray", "shape", "strides", "0", "offset", "0", "order", "row-major"),
    *("dtype", "int8", "length", "1", "capacity", "1", "data"),
]
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


@dataclass(frozen=True)
class Bomb:
    """A file that repeats something.

    Attributes:
        format: the name of its format.
        suffix: of its name.
        make: returns its content, for a number that says how many times less is repeated.
    """

    format: str
    suffix: str
    make: Callable[[int], bytes]


def _zipped(members: Mapping[str, str | bytes], *, stored: bool = False) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def _cell(text: str) -> str:
    return f'<c t="inlineStr"><is><t>{text}</t></is></c>'


def _workbook(rows: str = '<row r="1"><c r="A1"><v>1</v></c></row>', *, sheets: int = 1, strings: str = "") -> bytes:
    numbers, part = range(sheets), "application/vnd.openxmlformats-officedocument.spreadsheetml"
    types = "".join(
        f'<Override PartName="/xl/worksheets/s{n}.xml" ContentType="{part}.worksheet+xml"/>' for n in numbers
    )
    related = "".join(
        f'<Relationship Id="r{n}" Type="{_RELATIONS}/worksheet" Target="worksheets/s{n}.xml"/>' for n in numbers
    )
    listed = "".join(f'<sheet name="s{n}" sheetId="{n + 1}" r:id="r{n}"/>' for n in numbers)
    members = {f"xl/worksheets/s{n}.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}' for n in numbers}
    members = {name: f"{text}</sheetData></worksheet>" for name, text in members.items()}
    if strings:
        types += f'<Override PartName="/xl/sharedStrings.xml" ContentType="{part}.sharedStrings+xml"/>'
        related += f'<Relationship Id="strings" Type="{_RELATIONS}/sharedStrings" Target="sharedStrings.xml"/>'
        members["xl/sharedStrings.xml"] = f'<sst xmlns="{_MAIN}">{strings}</sst>'
    return _zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
            f'ContentType="{part}.sheet.main+xml"/>{types}</Types>',
            "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
            f'Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>{listed}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{related}</Relationships>',
            **members,
        }
    )


def _document(tables: str) -> bytes:
    spaces = " ".join(f'xmlns:{name}="{_OFFICE}:{name}:1.0"' for name in ("office", "table", "text"))
    content = f"<office:document-content {spaces}><office:body><office:spreadsheet>{tables}</office:spreadsheet>"
    return _zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": f"{content}</office:body></office:document-content>",
        }
    )


def _rows_of(words: list[str], columns: int, rows: int) -> str:
    texts = [f'<row r="{{}}">{_cell(word) * columns}</row>' for word in words]
    return "".join(texts[row % len(texts)].format(row + 1) for row in range(rows))


def _many_tables(part: int) -> bytes:
    cell = '<table:table-row><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell>'
    return _document(
        "".join(f'<table:table table:name="s{n}">{cell}</table:table-row></table:table>' for n in range(9_999 // part))
    )


def _names(count: int) -> list[str]:
    return [f"n{number}" for number in range(count)]


def _side_by_side(part: int) -> bytes:
    count = 270_000 // part
    rows = [",".join([word] * count) for word in [*_HEADER, "5"]]
    return "\n".join([",".join(_names(count)), *rows, ""]).encode()


def _lines(separator: str) -> Callable[[int], bytes]:
    text = separator.join([*_HEADER, "5"])
    return lambda part: "".join(f"{name}{separator}{text}\n" for name in _names(270_000 // part)).encode()


def _lists(part: int) -> bytes:
    text = json.dumps([*_HEADER, 5])
    return ("{" + ",".join(f'"{name}":{text}' for name in _names(190_000 // part)) + "}").encode()


def _objects(part: int) -> bytes:
    return ("{" + ",".join(f'"{name}":{{"__type__":"x"}}' for name in _names(1_100_000 // part)) + "}").encode()


_ONE = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'  # a cell that refers to a shared string
_RICH = "<si><r><t>a</t></r><r><t>b</t></r></si>"
BOMBS: dict[str, Bomb] = {
    "9,999 tables in .ods": Bomb("ods", ".ods", _many_tables),
    "9,999 sheets in .xlsx": Bomb("xlsx", ".xlsx", lambda part: _workbook(sheets=9_999 // part)),
    "50 M empty shared strings": Bomb(
        "xlsx", ".xlsx", lambda part: _workbook(_ONE, strings="<si/>" * (50_000_000 // part))
    ),
    "2 M rich strings": Bomb("xlsx", ".xlsx", lambda part: _workbook(_ONE, strings=_RICH * (2_000_000 // part))),
    "2 M words of broken headers": Bomb(
        "xlsx", ".xlsx", lambda part: _workbook(_rows_of(["version", "1.0.0", "ndarray", "x"], 16, 120_000 // part))
    ),
    "8 M cells that say version": Bomb(
        "xlsx", ".xlsx", lambda part: _workbook(_rows_of(["version"], 110, 73_000 // part))
    ),
    "270,000 arrays side by side in CSV": Bomb("csv", ".csv", _side_by_side),
    "270,000 arrays in one column of CSV": Bomb("csv", ".csv", _lines("\n")),
    "270,000 arrays in rows of CSV": Bomb("csv", ".csv", _lines(",")),
    "190,000 arrays in JSON": Bomb("json", ".json", _lists),
    "1.1 M objects of SciSerialize": Bomb("sciserialize-json", ".json", _objects),
    "200,000 members of .awkd": Bomb(
        "awkd", ".awkd", lambda part: _zipped({f"{name}.json": "{}" for name in _names(200_000 // part)}, stored=True)
    ),
}
"""The family, by what is repeated."""
