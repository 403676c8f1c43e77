"""Files that are small, or cheap to write, and repeat something very often: sheets, strings, headers, members, arrays.

    from sheetarray.testing.bombs import BOMBS
    content = BOMBS["2 M rich strings"].make(1)

Each makes up to 32 MB, or so many times less. No reader may take more than 10 seconds or 1 GiB for one of them: what
a file can repeat is counted, and too much of it is an error. Prefixes, words and structure are right, so that readers
get to what is repeated.
"""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
import zlib
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


_LIST = ["version", "1.0.0", "ndarray", "shape", "1", "strides", "1", *_HEADER[6:]]  # of an axis of length 1
_TEXT = [*_LIST[:-6], "string", *_LIST[-5:]]


def _quoted_rows(part: int) -> bytes:
    line = ",".join([*_TEXT, '"a""b"'])
    return "".join(f"{name},{line}\n" for name in _names(49_900 // part)).encode()


def _lookalikes(part: int) -> bytes:
    line = ",".join([*_TEXT, '"{""awkward0"":1}"'])
    return "".join(f"{name}.json,{line}\n" for name in _names(49_900 // part)).encode()


def _awkward_columns(part: int) -> bytes:
    text = '"{{""awkward0"":""0.15.5"",""prefix"":""{0}-"",""schema"":{{""read"":""x""}}}}"'
    schema, blob = ",".join([*_TEXT, text]), ",".join([*_LIST, "5"])
    names = _names(5_000 // part)
    return "".join(f"{name}.json,{schema.format(name)}\n{name}-x,{blob}\n" for name in names).encode()


def _schemas(part: int) -> bytes:
    arguments = [{"read": "x"}, {"dtype": "int8"}]
    expression = {"call": ["numpy", "frombuffer"], "args": arguments}
    schema = json.dumps({"awkward0": "0.15.5", "schema": expression})
    return _zipped({"x": b"12345678"} | {f"{name}.json": schema for name in _names(130_000 // part)}, stored=True)


def _one_blob(part: int) -> bytes:
    schema = json.dumps({"awkward0": "0.15.5", "schema": {"list": [{"read": "x"}] * (30_000 // part)}})
    return _zipped({"x": bytes(2**20), "t.json": schema}, stored=True)


def _npz(part: int) -> bytes:
    header = "{'descr': '|i1', 'fortran_order': False, 'shape': (1,), }".ljust(117) + "\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + b"\x05"
    return _zipped({f"{name}.npy": content for name in _names(50_000 // part)}, stored=True)


def _shared_member(part: int) -> bytes:
    """Return a ZIP file whose directory names the same bytes very often."""
    content, names = b"{}", [f"{number:06x}".encode() + b".json" for number in range(525_000 // part)]
    fields = (20, 0, 0, 0, 0, zlib.crc32(content), len(content), len(content), len(names[0]))
    file = io.BytesIO()
    file.write(struct.pack("<4s5H3L2H", b"PK\x03\x04", *fields, 0) + names[0] + content)
    start = file.tell()
    for name in names:
        file.write(struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, *fields, 0, 0, 0, 0, 0, 0) + name)
    end = file.tell()
    file.write(struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, len(names), len(names), end - start, start))
    file.write(struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1))
    file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 0))
    return file.getvalue()


def _of_cells(cell: str, count: int, *, width: int = 16_000) -> Bomb:
    """Return a workbook of equal cells, so many in all, in rows of `width`."""
    row = "<row>" + cell * width + "</row>"
    return Bomb("xlsx", ".xlsx", lambda part: _workbook(row * (count // width // part), strings="<si><t>a</t></si>"))


def _packed_lines(line: str, part: int, *, header: bool = False) -> bytes:
    """Return a CSV of 14.6 million equal lines in gzip: the elements of an array of text, or a table."""
    count = str(14_600_000 // part)
    above = [
        "t",
        *_HEADER[:4],
        count,
        "strides",
        "1",
        *_HEADER[6:11],
        "string",
        "length",
        count,
        "capacity",
        count,
        "data",
    ]
    return gzip.compress(("\n".join([*above, ""] if header else []) + line * int(count)).encode(), 9, mtime=0)


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
    "7.3 M cells that say version": Bomb(
        "xlsx", ".xlsx", lambda part: _workbook(_rows_of(["version"], 110, 66_000 // part))
    ),
    "9.4 M numbers in 16,000 columns": _of_cells("<c><v>0</v></c>", 9_400_000),
    "4.7 M large numbers in 16,000 columns": _of_cells("<c><v>1e99</v></c>", 4_700_000),
    "4.7 M numbers as text in 16,000 columns": _of_cells('<c t="str"><v>1</v></c>', 4_700_000),
    "4.7 M texts in 16,000 columns": _of_cells('<c t="str"><v>a</v></c>', 4_700_000),
    "4.7 M shared texts in 16,000 columns": _of_cells('<c t="s"><v>0</v></c>', 4_700_000),
    "7.3 M shared texts in 16 columns": _of_cells('<c t="s"><v>0</v></c>', 7_300_000, width=16),
    "780,000 formulas without values": _of_cells("<c><f/></c>", 780_000),
    "1.3 M errors": _of_cells('<c t="e"><v>#N/A</v></c>', 1_340_000),
    "14.6 M numbers in CSV of gzip": Bomb("csv", ".csv.gz", lambda part: _packed_lines("1\n", part)),
    "14.6 M codes in CSV of gzip": Bomb("csv", ".csv.gz", lambda part: _packed_lines("A1\n", part)),
    "an array of 14.6 M codes in CSV of gzip": Bomb(
        "csv", ".csv.gz", lambda part: _packed_lines("a\n", part, header=True)
    ),
    "130,000 long texts in CSV of gzip": Bomb(
        "csv", ".csv.gz", lambda part: gzip.compress(("a" * 1000 + "\n").encode() * (130_000 // part), 9, mtime=0)
    ),
    "270,000 arrays side by side in CSV": Bomb("csv", ".csv", _side_by_side),
    "270,000 arrays in one column of CSV": Bomb("csv", ".csv", _lines("\n")),
    "270,000 arrays in rows of CSV": Bomb("csv", ".csv", _lines(",")),
    "190,000 arrays in JSON": Bomb("json", ".json", _lists),
    "1.1 M objects of SciSerialize": Bomb("sciserialize-json", ".json", _objects),
    "50,000 arrays in quoted rows of CSV": Bomb("csv", ".csv", _quoted_rows),
    "50,000 texts in CSV that look like schemas": Bomb("csv", ".csv", _lookalikes),
    "5,000 awkward arrays in CSV": Bomb("csv", ".csv", _awkward_columns),
    "50,000 arrays in .npz": Bomb("npz", ".npz", _npz),
    "130,000 arrays in .awkd": Bomb("awkd", ".awkd", _schemas),
    "one blob of .awkd, read 30,000 times": Bomb("awkd", ".awkd", _one_blob),
    "525,000 members of .awkd, the same bytes": Bomb("awkd", ".awkd", _shared_member),
}
"""The family, by what is repeated."""
