"""What a workbook can repeat for a few bytes is counted: sheets and shared strings."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from limits import set_limits

import sheetarray as sa

NAMES = "http://schemas.openxmlformats.org"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


def make_ods(count: int) -> bytes:
    sheets = "".join(f'<table:table table:name="s{number}"/>' for number in range(count))
    spaces = " ".join(f'xmlns:{name}="{OFFICE}:{name}:1.0"' for name in ("office", "table", "text"))
    content = f"<office:document-content {spaces}><office:body><office:spreadsheet>{sheets}"
    content += "</office:spreadsheet></office:body></office:document-content>"
    return pack({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content})


def make_xlsx(count: int, strings: int = 0) -> bytes:
    numbers, main, kinds = (
        range(count),
        f"{NAMES}/spreadsheetml/2006/main",
        f"{NAMES}/officeDocument/2006/relationships",
    )
    content = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    sheets = "".join(f'<sheet name="s{number}" sheetId="{number + 1}" r:id="r{number}"/>' for number in numbers)
    links = "".join(
        f'<Relationship Id="r{number}" Type="{kinds}/worksheet" Target="worksheets/s{number}.xml"/>'
        for number in numbers
    )
    kept = f'<Relationship Id="strings" Type="{kinds}/sharedStrings" Target="strings.xml"/>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{NAMES}/package/2006/content-types"><Default Extension="xml" '
        f'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{content}.sheet.main+xml"/>'
        "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{NAMES}/package/2006/relationships"><Relationship Id="r" '
        f'Type="{kinds}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{kinds}"><sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{NAMES}/package/2006/relationships">{links}{kept}'
        "</Relationships>",
        "xl/strings.xml": f'<sst xmlns="{main}">{"<si/>" * strings}<si><t>text</t></si></sst>',
    }
    cell = f'<worksheet xmlns="{main}"><sheetData><row r="1"><c r="A1" t="s"><v>{strings}</v></c></row>'
    cell += '<row r="2"><c r="A2"><v>1</v></c></row></sheetData></worksheet>'
    return pack(parts | {f"xl/worksheets/s{number}.xml": cell for number in numbers})


def pack(parts: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(("suffix", "most"), [("ods", 2_500), ("xlsx", 10_000)])
def test_more_sheets_than_can_be_read_in_time_are_refused(tmp_path: Path, suffix: str, most: int) -> None:
    path = tmp_path / f"t.{suffix}"
    path.write_bytes((make_ods if suffix == "ods" else make_xlsx)(most + 1))
    with pytest.raises(sa.FormatError, match="sheets"):
        sa.read(path)
    assert [finding.severity for finding in sa.check(path)] == ["error"]


def test_as_many_sheets_as_the_limit_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, opendocument_sheets=3)
    path = tmp_path / "t.ods"
    for count in (2, 3, 4):
        path.write_bytes(make_ods(count))
        with pytest.raises(sa.FormatError, match="more than 3 sheets" if count > 3 else "no array"):
            sa.read(path)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_shared_strings_are_counted(tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, shared_strings=3)
    path = tmp_path / "t.xlsx"
    path.write_bytes(make_xlsx(1, count - 1))
    if count <= 3:
        assert sa.read_columns(path)["text"].tolist() == [1]
        return
    with pytest.raises(sa.FormatError, match="more than 3 shared strings"):
        sa.read_columns(path)
