"""Binary workbooks of Office Open XML (.xlsb): a container.

Source: MS-XLSB 2.1.4 (records), 2.4 (each of them), 2.5.* (the structures in them).
"""

from __future__ import annotations

import struct
from collections.abc import Generator
from functools import cached_property

from ....columns import cell_address
from ....errors import FormatError
from ..package.parts import Package
from ..package.relations import Relations
from .binary import SHORT_FORMULA, RunCollector, checking_complete, decode_utf16, unpack_number
from .blocks import inflate_blocks, run_ahead
from .cells import MOST_COLUMNS, MOST_ROWS, CellRun
from .formats import Formats
from .titles import Titles

_ROW, _END_OF_CELLS = 0, 146
_BLANK, _PACKED, _ERROR, _BOOLEAN, _REAL, _STRING, _SHARED = range(1, 8)
_STRING_RESULT, _NUMBER_RESULT, _BOOLEAN_RESULT, _ERROR_RESULT, _RICH = 8, 9, 10, 11, 62
_ITEM, _FORMAT, _STYLE, _BEGIN_STYLES, _END_STYLES = 19, 44, 47, 617, 618
_SETTINGS, _SHEET = 153, 156
_LONGEST = 2**24  # bytes of a record
_MOST_OTHERS = 4_000_000  # records of a sheet that are none of cells with a value

_U16, _U32, _F64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<d")
_CELL = struct.Struct("<2I")  # column, style in the lower 24 bits
_NO_TEXT = 0xFFFFFFFF


class XlsbBook:
    """A binary workbook in a zip package; `cells.WorkbookReader` says what each method is for.

    Raises:
        FormatError: no workbook, or a damaged one.
    """

    max_rows = MOST_ROWS

    def __init__(self, package: Package, part: str) -> None:
        self._package = package
        self._relations = Relations(package, part)
        self.from_1904 = False
        targets = {relation.id: relation for relation in self._relations.entries}
        titles = Titles(part)
        with checking_complete(part):
            for kind, record in _records(package, part):
                if kind == _SETTINGS:
                    self.from_1904 = bool(record[0] & 1)
                elif kind == _SHEET:
                    id_, after = _record_text(record, 8)
                    title, _ = _record_text(record, after)
                    if not id_:
                        continue  # as in .xlsx
                    relation = targets.get(id_)
                    if relation is None or relation.target is None:
                        raise FormatError(f"the sheet {title!r:.80} refers to no part of the package", location=part)
                    if relation.kind == "worksheet":
                        titles.add(title, relation.target)
        self._parts = titles.places
        self.titles = list(self._parts)

    def close(self) -> None:
        """Nothing is held: the package's bytes are the caller's."""

    @cached_property
    def _strings(self) -> list[str]:
        part = self._relations.present_target("sharedStrings")
        records = _records(self._package, part) if part is not None else ()
        return [_record_text(record, 1)[0] for kind, record in records if kind == _ITEM]

    @cached_property
    def _formats(self) -> Formats:
        codes: dict[int, str] = {}
        used: list[int] = []
        part = self._relations.present_target("styles")
        among_styles = False
        with checking_complete(part or ""):
            for kind, record in _records(self._package, part) if part is not None else ():
                if kind == _FORMAT:
                    codes[_U16.unpack_from(record)[0]] = _record_text(record, 2)[0]
                elif kind in (_BEGIN_STYLES, _END_STYLES):
                    among_styles = kind == _BEGIN_STYLES
                elif kind == _STYLE and among_styles:
                    used.append(_U16.unpack_from(record, 2)[0])
        return Formats(used, codes)

    def cells(self, title: str, *, numeric: bool) -> Generator[CellRun]:  # noqa: ARG002  (text serves for both)
        """Yield the cells of a worksheet."""
        part = self._parts[title]
        collector = RunCollector(self._formats, rows=MOST_ROWS, columns=MOST_COLUMNS)
        row = across = others = 0
        with checking_complete(part):
            for kind, record in _records(self._package, part):
                if kind == _ROW:
                    row, across = _U32.unpack_from(record)[0], 0
                    yield from collector.take_run(last=False)
                elif kind in _KNOWN:
                    across += 1
                    if across > MOST_COLUMNS:
                        raise FormatError(f"a row of more than {MOST_COLUMNS} cells", location=cell_address(row, 0))
                    self._cell(collector, row, kind, record)
                elif kind == _END_OF_CELLS:
                    break
                else:
                    others += 1
                    if others > _MOST_OTHERS:
                        raise FormatError(f"more than {_MOST_OTHERS} records that hold no cells", location=part)
        yield from collector.take_run(last=True)

    def _cell(self, collector: RunCollector, row: int, kind: int, record: bytes) -> None:
        column, style = _CELL.unpack_from(record)
        style &= 0xFFFFFF
        if kind == _PACKED:
            collector.add_number(row, column, style, unpack_number(_U32.unpack_from(record, 8)[0]))
        elif kind in (_REAL, _NUMBER_RESULT):
            collector.add_number(row, column, style, _F64.unpack_from(record, 8)[0])
        elif kind == _SHARED:
            number = _U32.unpack_from(record, 8)[0]
            if number >= len(self._strings):
                raise FormatError(
                    f"a cell refers to string {number} of a table of {len(self._strings)}",
                    location=cell_address(row, column),
                )
            collector.add_text(row, column, self._strings[number])
        elif kind in (_STRING, _STRING_RESULT):
            collector.add_text(row, column, _record_text(record, 8)[0])
        elif kind == _RICH:
            collector.add_text(row, column, _record_text(record, 9)[0])
        elif kind in (_BOOLEAN, _BOOLEAN_RESULT):
            collector.add_boolean(row, column, record[8])
        else:
            collector.add_error(row, column, record[8])
        if kind in _RESULTS and (kind != _BOOLEAN_RESULT or not _is_constant(record)):
            collector.mark_formula()


_RESULTS = frozenset((_STRING_RESULT, _NUMBER_RESULT, _BOOLEAN_RESULT, _ERROR_RESULT))
_KNOWN = frozenset((*range(_PACKED, _ERROR_RESULT + 1), _RICH))


def _is_constant(record: bytes) -> bool:
    """Return whether the formula of a truth value is as short as TRUE() and FALSE(), shorter than any reference."""
    return len(record) < 15 or _U32.unpack_from(record, 11)[0] <= SHORT_FORMULA


def _records(package: Package, part: str) -> Generator[tuple[int, bytes]]:
    """Yield the records of a part: their types, and what is in them.

    Raises:
        FormatError: it breaks off within one, or one is longer than any.
    """
    waiting = b""
    for block in run_ahead(inflate_blocks(package, part)):
        waiting += block
        at = 0
        while (header := _record_header(waiting, at)) is not None:
            kind, start, size = header
            if size > _LONGEST:
                raise FormatError(f"a record of {size} bytes", location=part)
            if start + size > len(waiting):
                break
            yield kind, waiting[start : start + size]
            at = start + size
        waiting = waiting[at:]
    if waiting:
        raise FormatError("the part breaks off within a record", location=part)


def _record_header(content: bytes, at: int) -> tuple[int, int, int] | None:
    """Type, start and size of the record at an offset; None where its header is not complete."""
    if at + 6 > len(content) and at + 2 > len(content):
        return None
    kind = content[at]
    at += 1
    if kind & 0x80:
        if at >= len(content):
            return None
        kind = kind & 0x7F | (content[at] & 0x7F) << 7
        at += 1
    size = 0
    for shift in (0, 7, 14, 21):
        if at >= len(content):
            return None
        unit = content[at]
        at += 1
        size |= (unit & 0x7F) << shift
        if not unit & 0x80:
            break
    return kind, at, size


def _record_text(record: bytes, at: int) -> tuple[str, int]:
    """Return the text at an offset of a record, and the offset after it.

    Raises:
        FormatError: it is longer than the record.
    """
    if at + 4 > len(record):
        raise FormatError("a record breaks off before its text")
    count = _U32.unpack_from(record, at)[0]
    if count == _NO_TEXT:
        return "", at + 4
    end = at + 4 + 2 * count
    if end > len(record):
        raise FormatError(f"a text of {count} characters in a record of {len(record)} bytes")
    return decode_utf16(record[at + 4 : end]), end
