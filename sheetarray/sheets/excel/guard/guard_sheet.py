"""The sheet of a guard as XML, and what is read from it; `guard_texts` says what stands in its cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count, pairwise

from ....columns import Request, Sheet, Zone
from ....dtypes import from_name
from ....errors import NEWER, Finding, FormatError
from ...guard_texts import FIRST_TEXT, MARK, VERSION, may_be_guard
from ...snapshot import SnapshotHeader, parse_snapshot_header
from ..append import worksheet_xml
from ..cell_xml import xml_text
from ..package.relations import DECLARED, MAIN
from ..reader.formulas import FormulaCells
from ..skeleton.plans import SheetPlan
from ..workbook_part import BookSheet, WorkbookPart
from ..worksheet import ExcelSheet

_HINT = "this guard is ignored; write the arrays again to get a new guard"
_MOST_FINDINGS = 20
# The first bytes of a guard that no program has saved again: elements without text before the rows, then the mark
AS_WRITTEN = re.compile(
    (
        f'{re.escape(DECLARED)}<worksheet xmlns="{re.escape(MAIN)}">(?:<(?!sheetData|[!?])[^<>]*>)*<sheetData>'
        f'<row r="1"><c r="A1" t="inlineStr"><is><t>{re.escape(FIRST_TEXT)}</t></is></c></row>'
    ).encode()
)
_MARK_MAY_BE = 4  # rows and columns, from the first on, in which the mark is looked for after people have moved it


def is_guard(sheet: Sheet) -> bool:
    """Return whether a sheet holds snapshots, of whatever version."""
    if not may_be_guard(sheet.title or ""):
        return False
    try:
        ((cell,),) = ([*cells, None][:1] for cells in sheet.zones([Zone(0, 0, 1, "columns")]))
    except FormatError:
        return False
    return isinstance(cell, str) and cell.startswith(MARK)


def find_lost_mark(sheet: ExcelSheet, *, is_titled: bool, is_recorded: bool) -> Finding | None:
    """Return the finding about a sheet that was a guard's, and is not known as one any more; None for any other sheet.

    `is_titled`: whether its title is that of the guard of another sheet. `is_recorded`: whether the workbook remembers
    that the sheet is a guard's.
    """
    sheet.formulas = formulas = FormulaCells()
    try:
        columns = sheet.zones([Zone(0, column, _MARK_MAY_BE, "columns") for column in range(_MARK_MAY_BE)])
    except FormatError:
        columns = []
    texts = [cell for cells in columns for cell in cells if isinstance(cell, str)]
    is_known = is_recorded or (is_titled and bool(formulas))
    if not is_known and not any(text.startswith((MARK, '{"name": ')) for text in texts):
        return None
    what = "holds formulas now" if formulas else "has lost its first cell, which identifies it"
    reason = f"the guard {what}, so it is not used"
    blank = not any(cells[0] is not None for cells in columns[:1])
    hint = f'make the sheet visible and type "{MARK} {VERSION}" into A1' if blank and texts else _HINT
    return Finding("warning", f"{sheet.title}!A1", reason, hint)


def iter_rows(snapshots: Sequence[Sequence[str]]) -> Iterator[bytes]:
    """Yield the rows of the sheet, as XML: the mark, then every snapshot's header and its texts.

    The texts are base64, in which there is nothing to escape; to look for it took most of the time of a guard.
    """
    numbers = count(1)
    yield _row_xml(next(numbers), FIRST_TEXT)
    for header, *texts in snapshots:
        yield b"".join([_row_xml(next(numbers), text) for text in (xml_text(header), *texts)])


def make_part(book: WorkbookPart, sheet: BookSheet, snapshots: Sequence[Sequence[str]]) -> bytes:
    """Return the content of the part of a guard that is there, with other snapshots."""
    plan = SheetPlan(sheet.title, (), 0, names=False, very_hidden=True)
    head, tail = worksheet_xml(book, plan, sheet)
    return b"".join([head, *iter_rows(snapshots), tail])


def _row_xml(number: int, text: str) -> bytes:
    return f'<row r="{number}"><c r="A{number}" t="inlineStr"><is><t>{text}</t></is></c></row>'.encode()


def read_guard(sheet: ExcelSheet, findings: list[Finding]) -> Iterator[tuple[SnapshotHeader, Sequence[str]]]:
    """Yield the header and the texts of each snapshot; damaged ones are noted as findings, and passed over.

    `findings`: to which those about damage are appended.
    """
    title = sheet.title or ""

    def note(reason: str, hint: str = _HINT) -> None:
        if len(findings) < _MOST_FINDINGS:
            findings.append(Finding("warning", f"{title}!A1", reason, hint))

    sheet.formulas = formulas = FormulaCells()
    try:
        texts = read_texts(sheet)
    except FormatError as error:
        note(f"the guard cannot be read: {error.reason}")
        return
    if formulas:
        note("the guard holds formulas, so it cannot be used")
        return
    if not texts or texts[0] != FIRST_TEXT:
        version = texts[0].removeprefix(MARK).strip() if texts else ""
        is_newer = version.isascii() and version.isdecimal() and len(version) < 9 and int(version) > VERSION
        reason = f"the guard is of version {version}; this reader knows version {VERSION}"
        note(reason if is_newer else "the guard is of another version", NEWER if is_newer else _HINT)
        return
    starts = [place for place, text in enumerate(texts) if text.startswith("{")]
    if any(texts[1 : starts[0] if starts else len(texts)]):
        note("the guard has texts that belong to no array: one of its headers is missing")
    for start, end in pairwise([*starts, len(texts)]):
        try:
            snapshot = parse_snapshot_header(texts[start])
        except FormatError as error:
            note(f"the guard is damaged: {error.reason}")
            continue
        own = texts[start + 1 : end]
        yield snapshot, own if all(own) else [text for text in own if text]


def read_texts(sheet: ExcelSheet) -> list[str]:
    """Return the texts of column A, empty for a blank."""
    (block,) = sheet.blocks([Request(0, 0, from_name("string"))], typed=False)
    cells = block.cells[1]
    return ["" if cell is None else str(cell) for cell in cells]
