"""Workbooks of Excel 5 to 2003 (.xls): a container.

Source: MS-XLS 2.1.4 (records), 2.4 (each of them), 2.5.293 and 2.5.294 (text); before Excel 97 text is in a code page.
"""

from __future__ import annotations

import codecs
import struct
from collections.abc import Generator, Iterator

from ....columns import cell_address
from ....errors import FormatError
from .binary import SHORT_FORMULA, RunCollector, checking_complete, decode_utf16, unpack_number
from .cells import CellRun
from .formats import Formats
from .titles import Titles

_BOF = (0x0809, 0x0409, 0x0209, 0x0009)
_EOF, _CONTINUE, _ENCRYPTED, _CODE_PAGE, _DATE_MODE = 0x000A, 0x003C, 0x002F, 0x0042, 0x0022
_SHEET, _FORMAT, _STYLE, _STRINGS = 0x0085, 0x041E, 0x00E0, 0x00FC
_NUMBER, _PACKED, _PACKED_ROW, _SHARED, _LABEL, _RICH_LABEL = 0x0203, 0x027E, 0x00BD, 0x00FD, 0x0204, 0x00D6
_BOOLEAN_OR_ERROR, _FORMULA, _RESULT, _SHARED_FORMULA = 0x0205, 0x0006, 0x0207, 0x04BC
_SHARE = struct.Struct("<B2H")  # that a formula is the one of a cell
_VERSIONS = {0x0500: 16_384, 0x0600: 65_536}  # and how many rows a sheet has
_COLUMNS = 256
_EXCEL_97 = 0x0600
_WORKSHEET = 0
_WIDE, _EXTENDED, _RICH = 0x01, 0x04, 0x08  # flags of a text
_CODE_PAGES = {1200: "utf-16-le", 10000: "mac-roman", 32768: "mac-roman", 32769: "cp1252"}
_RECORDS_A_RUN = 2**12

_U16, _U32, _F64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<d")
_CELL = struct.Struct("<3H")  # row, column, style
_HEADER = struct.Struct("<2H")


class Excel97Book:
    """A workbook stream; `cells.WorkbookReader` says what each method is for.

    Args:
        stream: of the compound file.

    Raises:
        FormatError: of another version, encrypted or damaged.
    """

    def __init__(self, stream: bytes) -> None:
        self._stream = stream
        self.from_1904 = False
        self._code_page = "cp1252"
        self._strings: list[str] = []
        self._listed = Titles()
        codes: dict[int, str] = {}
        used: list[int] = []
        kind, record, _ = next(_records(stream, 0), (0, b"", []))
        self._version = _U16.unpack_from(record)[0] if kind in _BOF and len(record) >= 2 else 0
        if self._version not in _VERSIONS:
            raise FormatError("a workbook of a version before Excel 5, or a damaged one", hint="save it as .xlsx first")
        self.max_rows = _VERSIONS[self._version]
        with checking_complete("Workbook"):
            for kind, record, continued in _records(stream, 0):
                if kind == _EOF:
                    break
                if kind == _ENCRYPTED:
                    raise FormatError("the workbook is encrypted with a password", hint="save it without one first")
                if kind == _CODE_PAGE:
                    self._code_page = _codec(_U16.unpack_from(record)[0])
                elif kind == _DATE_MODE:
                    self.from_1904 = _U16.unpack_from(record)[0] == 1
                elif kind == _SHEET:
                    self._note_sheet(record)
                elif kind == _STRINGS:
                    self._strings = list(_Strings([record[8:], *continued]).all())
                elif kind == _FORMAT:
                    cut = record + bytes(512)  # some programs write less of a format than they say
                    codes[_U16.unpack_from(record)[0]] = self._text(cut, 2, short=self._version != _EXCEL_97)
                elif kind == _STYLE:
                    used.append(_U16.unpack_from(record, 2)[0])
        self._formats = Formats(used, codes)
        self.titles = list(self._listed.places)

    def close(self) -> None:
        """Nothing is held but the stream."""

    def _note_sheet(self, record: bytes) -> None:
        start, _, kind = struct.unpack_from("<I2B", record)
        if kind != _WORKSHEET:
            return
        self._listed.add(self._text(record, 6, short=True), str(start))

    def _text(self, record: bytes, at: int, *, short: bool = False) -> str:
        """Return the text at an offset of a record, whose count of characters is a byte or two.

        Raises:
            FormatError: it is longer than the record.
        """
        count = record[at] if short else _U16.unpack_from(record, at)[0]
        at += 1 if short else 2
        wide = False
        if self._version == _EXCEL_97 and count:
            wide = bool(record[at] & _WIDE)
            at += 1
        raw = record[at : at + count * (2 if wide else 1)]
        if len(raw) < count * (2 if wide else 1):
            raise FormatError(f"a text of {count} characters in a record of {len(record)} bytes")
        if self._version == _EXCEL_97:
            return decode_utf16(raw) if wide else raw.decode("latin-1")
        return raw.decode(self._code_page, "replace")

    def _result(self, record: bytes, continued: list[bytes]) -> str:
        """Return the text of a formula, which may go on in other records."""
        if not continued or self._version != _EXCEL_97:
            return self._text(record, 0)
        wide = bool(record[2] & _WIDE)
        return _Strings([record[3:], *continued]).characters(_U16.unpack_from(record)[0], wide=wide)

    # Cells ---------------------------------------------------------------------------------------------------

    def cells(self, title: str, *, numeric: bool) -> Generator[CellRun]:  # noqa: ARG002  (text serves for both)
        """Yield the cells of a worksheet."""
        collector = RunCollector(self._formats, rows=self.max_rows, columns=_COLUMNS)
        depth, result, constants = 0, (0, 0), set[tuple[int, int]]()
        with checking_complete(f"sheet {title}"):
            for index, (kind, record, continued) in enumerate(_records(self._stream, int(self._listed.places[title]))):
                if kind in _BOF:
                    depth += 1
                elif kind == _EOF:
                    depth -= 1
                if depth == 0:
                    break
                if depth > 1:
                    continue  # a chart within the sheet
                if kind == _FORMULA:
                    result = self._formula(collector, record, constants)
                elif kind == _SHARED_FORMULA and len(record) >= 10 and _U16.unpack_from(record, 8)[0] <= SHORT_FORMULA:
                    constants.add(result)
                    collector.unmark_formula()
                elif kind == _RESULT:
                    collector.add_text(*result, self._result(record, continued))
                    collector.mark_formula()
                elif kind in _CELLS:
                    self._cell(collector, kind, record)
                if index % _RECORDS_A_RUN == 0:
                    yield from collector.take_run(last=False)
        if depth:
            raise FormatError(f"the sheet {title!r:.80} breaks off")
        yield from collector.take_run(last=True)

    def _cell(self, collector: RunCollector, kind: int, record: bytes) -> None:
        row, column, style = _CELL.unpack_from(record)
        if kind == _NUMBER:
            collector.add_number(row, column, style, _F64.unpack_from(record, 6)[0])
        elif kind == _PACKED:
            collector.add_number(row, column, style, unpack_number(_U32.unpack_from(record, 6)[0]))
        elif kind == _PACKED_ROW:
            for at in range(4, len(record) - 7, 6):
                style, word = struct.unpack_from("<HI", record, at)
                collector.add_number(row, column, style, unpack_number(word))
                column += 1
        elif kind == _SHARED:
            number = _U32.unpack_from(record, 6)[0]
            if number >= len(self._strings):
                raise FormatError(
                    f"a cell refers to string {number} of a table of {len(self._strings)}",
                    location=cell_address(row, column),
                )
            collector.add_text(row, column, self._strings[number])
        elif kind == _BOOLEAN_OR_ERROR:
            (collector.add_error if record[7] else collector.add_boolean)(row, column, record[6])
        else:
            collector.add_text(row, column, self._text(record, 6))

    def _formula(self, collector: RunCollector, record: bytes, constants: set[tuple[int, int]]) -> tuple[int, int]:
        """Return the value of a formula; where it is text, that follows in a record of its own."""
        row, column, style = _CELL.unpack_from(record)
        kind, value, marked = struct.unpack_from("<BxB3xH", record, 6)
        if marked != 0xFFFF:
            collector.add_number(row, column, style, _F64.unpack_from(record, 6)[0])
        elif kind == 1:
            collector.add_boolean(row, column, value)
        elif kind == 2:
            collector.add_error(row, column, value)
        elif kind == 3:
            collector.add_text(row, column, "")
        if marked != 0xFFFF or kind in (2, 3) or (kind == 1 and not _is_constant(record, constants)):
            collector.mark_formula()
        return row, column


_CELLS = frozenset((_NUMBER, _PACKED, _PACKED_ROW, _SHARED, _LABEL, _RICH_LABEL, _BOOLEAN_OR_ERROR))


def _is_constant(record: bytes, constants: set[tuple[int, int]]) -> bool:
    """Return whether the formula of a truth value is as short as TRUE() and FALSE(), shorter than any reference.

    Args:
        record: of the formula.
        constants: the cells whose formulas are so, and shared.
    """
    size = _U16.unpack_from(record, 20)[0] if len(record) >= 22 else 0
    if size == _SHARE.size and record[22:23] == b"\1" and len(record) >= 22 + size:
        return _SHARE.unpack_from(record, 22)[1:] in constants
    return bool(size <= SHORT_FORMULA)


def _codec(number: int) -> str:
    name = _CODE_PAGES.get(number, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"


def _records(stream: bytes, at: int) -> Iterator[tuple[int, bytes, list[bytes]]]:
    """Yield the records from an offset on: the type, what is in it, and what is in those that continue it.

    Raises:
        FormatError: the stream breaks off within one.
    """
    end = len(stream)
    while at + 4 <= end:
        kind, size = _HEADER.unpack_from(stream, at)
        start, at = at + 4, at + 4 + size
        if at > end:
            raise FormatError(f"the workbook breaks off within a record at byte {start}")
        continued: list[bytes] = []
        while at + 4 <= end and stream[at : at + 2] == b"\x3c\0":
            more = at + 4 + _U16.unpack_from(stream, at + 2)[0]
            if more > end:
                raise FormatError(f"the workbook breaks off within a record at byte {at}")
            continued.append(stream[at + 4 : more])
            at = more
        yield kind, stream[start : start + size], continued


class _Strings:
    """Text that goes on over several records; each says anew whether its characters have one byte or two."""

    def __init__(self, segments: list[bytes]) -> None:
        self._segments, self._index, self._at = segments, 0, 0

    def all(self) -> Iterator[str]:
        """Yield each string.

        Raises:
            FormatError: the table breaks off.
        """
        while self._more():
            count, flags = struct.unpack("<HB", self._bytes(3))
            runs = _U16.unpack(self._bytes(2))[0] if flags & _RICH else 0
            extended = _U32.unpack(self._bytes(4))[0] if flags & _EXTENDED else 0
            yield self.characters(count, wide=bool(flags & _WIDE))
            self._bytes(4 * runs)
            self._bytes(extended)

    def _more(self) -> bool:
        while self._index < len(self._segments) and self._at >= len(self._segments[self._index]):
            self._index, self._at = self._index + 1, 0
        return self._index < len(self._segments)

    def _bytes(self, count: int) -> bytes:
        pieces = []
        while count:
            if not self._more():
                raise FormatError("the table of strings breaks off")
            piece = self._segments[self._index][self._at : self._at + count]
            self._at += len(piece)
            count -= len(piece)
            pieces.append(piece)
        return b"".join(pieces)

    def characters(self, count: int, *, wide: bool) -> str:
        """Text from here on.

        Args:
            count: its characters.
            wide: whether they have two bytes each, until another record says otherwise.

        Raises:
            FormatError: it breaks off.
        """
        pieces = []
        while count:
            if self._at >= len(self._segments[self._index]):
                if not self._more():
                    raise FormatError("the table of strings breaks off")
                wide = bool(self._bytes(1)[0] & _WIDE)
            segment = self._segments[self._index]
            size = min(count * (2 if wide else 1), len(segment) - self._at)
            piece = segment[self._at : self._at + size]
            self._at += size
            count -= size // 2 if wide else size
            if wide and size < 2 and count:
                raise FormatError("the table of strings breaks off within a character")
            pieces.append(piece if wide else piece.decode("latin-1").encode("utf-16-le"))
        return decode_utf16(b"".join(pieces))
