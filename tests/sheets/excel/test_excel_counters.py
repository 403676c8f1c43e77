"""What a workbook can repeat for a few bytes is counted: sheets and shared strings."""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign_books import document, parts, shared, worksheet, zipped
from limits import get_limit, set_limits

import sheetarray as sa


def make_ods(count: int) -> bytes:
    return document({f"s{number}": "" for number in range(count)})


def make_xlsx(count: int, strings: int = 0) -> bytes:
    """Sheets of a text and a number; the text stands behind so many blank shared strings."""
    rows = f'<row r="1"><c r="A1" t="s"><v>{strings}</v></c></row><row r="2"><c r="A2"><v>1</v></c></row>'
    sheets = {f"s{number}": worksheet(rows) for number in range(count)}
    return zipped(parts(sheets, strings=shared(*[""] * strings, "<t>text</t>")))


@pytest.mark.parametrize("count", [29, 30, 31])
@pytest.mark.parametrize(
    ("suffix", "limit", "most"), [("ods", "opendocument_sheets", 2_500), ("xlsx", "sheets", 10_000)]
)
def test_more_sheets_than_can_be_read_in_time_are_refused(
    suffix: str, limit: str, most: int, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert get_limit(limit) == most
    set_limits(monkeypatch, **{limit: 30})
    path = tmp_path / f"t.{suffix}"
    path.write_bytes((make_ods if suffix == "ods" else make_xlsx)(count))
    with pytest.raises(sa.FormatError, match="more than 30 sheets" if count > 30 else "no array"):
        sa.read(path)
    assert count <= 30 or [finding.severity for finding in sa.check(path)] == ["error"]


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
