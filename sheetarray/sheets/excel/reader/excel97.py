"""Workbooks of Excel 5 to 2003 (.xls): a container.

Source: MS-XLS 2.1.4 (records), 2.4 (each of them), 2.5.293 and 2.5.294 (text); before Excel 97 text is in a code page.
"""

from __future__ import annotations

import codecs
import struct
from collections.abc import Iterator
from functools import cached_property

from ....errors import FormatError
from . import records97 as r
from .binary import BatchReader, Wanted, WordTable, checking_complete, decode_utf16
from .cells import CellRun, encrypted_error
from .cells97 import SheetDecoder
from .formats import Formats
from .record_book import RecordBook
from .strings97 import WIDE, read_strings
from .titles import Titles

_VERSIONS = {0x0500: 16_384, 0x0600: 65_536}  # the number of rows of a sheet, by the version of the workbook
_COLUMNS = 256
_EXCEL_97 = 0x0600
_WORKSHEET = 0
_CODE_PAGES = {1200: "utf-16-le", 10000: "mac-roman", 32768: "mac-roman", 32769: "cp1252"}

_U16 = struct.Struct("<H")


class Excel97Book(RecordBook):
    """A workbook of Excel 5 to 2003; `cells.WorkbookReader` says what each method is for.

    Args:
        stream: the bytes of the stream `Workbook` or `Book` in the compound file.

    Raises:
        FormatError: the workbook is of another version, encrypted or damaged.
    """

    def __init__(self, stream: bytes) -> None:
        super().__init__()
        self._stream = stream
        self.from_1904 = False
        self._code_page = "cp1252"
        self._segments: list[bytes] = []
        self._listed = Titles()
        codes: dict[int, str] = {}
        used: list[int] = []
        kind, record, _ = next(r.iter_records(stream, 0), (0, b"", []))
        self._version = _U16.unpack_from(record)[0] if kind in r.BEGINS and len(record) >= 2 else 0
        if self._version not in _VERSIONS:
            raise FormatError("a workbook of a version before Excel 5, or a damaged one", hint="save it as .xlsx first")
        self.max_rows = _VERSIONS[self._version]
        with checking_complete("Workbook"):
            for kind, record, continued in r.iter_records(stream, 0):
                if kind == r.END:
                    break
                if kind == r.ENCRYPTED:
                    raise encrypted_error()
                if kind == r.CODE_PAGE:
                    self._code_page = _codec(_U16.unpack_from(record)[0])
                elif kind == r.DATE_MODE:
                    self.from_1904 = _U16.unpack_from(record)[0] == 1
                elif kind == r.SHEET:
                    self._note_sheet(record)
                elif kind == r.STRINGS:
                    self._segments = [record[8:], *continued]
                elif kind == r.FORMAT:
                    padded = record + bytes(512)  # some programs write fewer characters of a format than they count
                    codes[_U16.unpack_from(record)[0]] = self._text(padded, 2, short=self._version != _EXCEL_97)
                elif kind == r.STYLE:
                    used.append(_U16.unpack_from(record, 2)[0])
        self._formats = Formats(used, codes)
        self.titles = list(self._listed.places)

    def _note_sheet(self, record: bytes) -> None:
        """Note the title of a sheet, and the byte of the stream where it begins, if it is a worksheet."""
        start, _, kind = struct.unpack_from("<I2B", record)
        if kind != _WORKSHEET:
            return
        self._listed.add(self._text(record, 6, short=True), str(start))

    def _text(self, record: bytes, at: int, *, short: bool) -> str:
        """Return the text that stands in a record, after the number of its characters.

        Args:
            record: the bytes of the record.
            at: the byte at which that number stands.
            short: whether the number has one byte; otherwise it has two.

        Raises:
            FormatError: the text is longer than the record.
        """
        count = record[at] if short else _U16.unpack_from(record, at)[0]
        at += 1 if short else 2
        wide = False
        if self._version == _EXCEL_97 and count:
            wide = bool(record[at] & WIDE)
            at += 1
        raw = record[at : at + count * (2 if wide else 1)]
        if len(raw) < count * (2 if wide else 1):
            raise FormatError(f"a text of {count} characters in a record of {len(record)} bytes")
        if self._version == _EXCEL_97:
            return decode_utf16(raw) if wide else raw.decode("latin-1")
        return raw.decode(self._code_page, "replace")

    @cached_property
    def _words(self) -> WordTable:
        with checking_complete("Workbook"):
            return WordTable(read_strings(self._segments))

    def _read_sheet(self, title: str, wanted: Wanted) -> Iterator[CellRun]:
        code_page = None if self._version == _EXCEL_97 else self._code_page
        with checking_complete(f"sheet {title}"):
            reader = BatchReader(self._formats, self._words, rows=self.max_rows, columns=_COLUMNS, wanted=wanted)
            for batch in SheetDecoder(self._stream, self._words, code_page).batches(int(self._listed.places[title])):
                yield from reader.runs_of(batch)


def _codec(number: int) -> str:
    """Return the name of Python's codec for a code page; that of Western Windows if Python has no such codec."""
    name = _CODE_PAGES.get(number, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"
