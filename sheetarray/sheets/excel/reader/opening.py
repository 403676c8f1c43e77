"""Opens a workbook for reading by its first bytes: a zip archive, or a compound file of an older Excel."""

from __future__ import annotations

import codecs
import struct
from dataclasses import dataclass

import numpy as np

from ....errors import FormatError
from ....files import BytesLike, Source, refuse_empty
from ..package.parts import Package, has_directory
from ..package.relations import TYPES, ContentTypes, Relations
from .book import OoxmlBook
from .cells import WorkbookReader, encrypted_error
from .legacy import Excel97Book, XlsbBook
from .opendocument import CONTENT, MANIFEST, OdsBook

# Compound files (OLE2), which hold .xls workbooks and encrypted ones: a small file system of sectors.
#
# Source: MS-CFB. No chain of sectors is followed further than there are sectors, whatever the tables say.

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_HEADER = struct.Struct("<8s16x5H6x9I")
_HEADER_BYTES = 512
_LAST = 0xFFFFFFFA  # from here on, numbers stand for no sector but for the end of a chain and the like
_ENTRY = struct.Struct("<64sHB49xIQ")
_STREAM, _ROOT = 2, 5
_MINI = 6  # the sectors of short streams have 2**6 bytes

SectorNumbers = np.ndarray[tuple[int], np.dtype[np.uint32]]


@dataclass(frozen=True, slots=True)
class _StreamEntry:
    """An entry of the directory: the kind of a stream, the number of its first sector, and its size in bytes."""

    kind: int
    start: int
    size: int


class Compound:
    """A compound file.

    `content`: the bytes of the whole file.

    Raises:
        FormatError: the content is no compound file, or a damaged one.
    """

    def __init__(self, content: BytesLike) -> None:
        if len(content) < _HEADER_BYTES or content[: len(MAGIC)] != MAGIC:
            raise FormatError("no compound file, or one that is cut off")
        self._content = content
        fields = _HEADER.unpack(content[: _HEADER.size])
        _, _, major, _, self._shift, mini, _, _, first, _, self._short, mini_first, _, more, _ = fields
        if (major, self._shift) not in ((3, 9), (4, 12)) or mini != _MINI:
            raise FormatError(f"a compound file of version {major} with sectors of 2^{self._shift} bytes")
        self._count = len(content) >> self._shift  # of its sectors, or one too many
        self._table = self._read_table(more)
        self._entries = self._read_directory(first)
        self._root = next(
            (entry for entry in self._entries.values() if entry.kind == _ROOT), _StreamEntry(_ROOT, _LAST, 0)
        )
        self._mini_first = mini_first

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.casefold() in self._entries

    def read(self, name: str) -> bytes:
        """Return all bytes of a stream, by its name in any case.

        Raises:
            FormatError: the file has no such stream, or not all of its sectors.
        """
        entry = self._entries.get(name.casefold())
        if entry is None or entry.kind != _STREAM:
            raise FormatError(f"the file has no stream {name!r:.80}")
        if entry.size >= self._short:
            return _cut_stream(self._chain(entry.start), entry.size, name)
        table = np.frombuffer(self._chain(self._mini_first), dtype="<u4")
        stream = self._chain(self._root.start)
        numbers = _follow_chain(entry.start, table, len(table))
        pieces = [stream[number << _MINI : (number + 1) << _MINI] for number in numbers]
        return _cut_stream(b"".join(pieces), entry.size, name)

    def _sector(self, number: int) -> bytes:
        start = (number + 1) << self._shift
        sector = self._content[start : start + (1 << self._shift)]
        if not sector:
            raise FormatError(f"the file is cut off before its sector {number}")
        return sector

    def _chain(self, first: int) -> bytes:
        """Return the bytes of a chain of sectors, joined."""
        return b"".join(map(self._sector, _follow_chain(first, self._table, self._count)))

    def _read_table(self, more: int) -> SectorNumbers:
        """Return, for each sector, the number of the sector that follows it."""
        named = np.frombuffer(self._content[76:_HEADER_BYTES], dtype="<u4")
        tables = [named]
        for _ in range(self._count):
            if more >= _LAST:
                break
            numbers = np.frombuffer(self._sector(more), dtype="<u4")
            tables.append(numbers[:-1])
            more = int(numbers[-1])
        sectors = np.concatenate(tables)
        sectors = sectors[sectors < _LAST]
        if len(sectors) > self._count:
            raise FormatError("the file's table of sectors is longer than the file")
        table = b"".join(map(self._sector, sectors.tolist()))
        return np.frombuffer(table[: len(table) // 4 * 4], dtype="<u4")

    def _read_directory(self, first: int) -> dict[str, _StreamEntry]:
        content = self._chain(first)
        entries: dict[str, _StreamEntry] = {}
        for raw, length, kind, start, size in _ENTRY.iter_unpack(content[: len(content) // _ENTRY.size * _ENTRY.size]):
            name = raw[: max(0, min(length, 64) - 2)].decode("utf-16-le", "replace").casefold()
            if kind in (_STREAM, _ROOT) and name not in entries:
                entries[name] = _StreamEntry(kind, start, size if self._shift > 9 else size & 0xFFFFFFFF)
        return entries


def _follow_chain(first: int, table: SectorNumbers, most: int) -> list[int]:
    """Return the numbers of the sectors in a chain.

    `first`: the number of the first sector. `table`: for each sector, the number of the sector that follows it.
    `most`: sectors that a chain can have; one with more goes round in a circle.

    Raises:
        FormatError: the chain leads beyond the table, or round in a circle.
    """
    numbers: list[int] = []
    while first < _LAST:
        if first >= len(table) or len(numbers) > most:
            raise FormatError("a chain of sectors in the file is broken")
        numbers.append(first)
        first = int(table[first])
    return numbers


def _cut_stream(content: bytes, size: int, name: str) -> bytes:
    if len(content) < size:
        raise FormatError(f"the stream {name!r} breaks off: {len(content)} of {size} bytes")
    return content[:size]


# Finds out which kind of workbook a file is, and opens it.

_ZIP = b"PK"
_BEFORE_EXCEL_5 = (b"\t\0\4\0", b"\t\2\6\0", b"\t\4\6\0")  # records that begin a file of Excel 2, 3 or 4
_BINARY = "application/vnd.ms-excel.sheet.binary"


def open_workbook(source: Source) -> WorkbookReader:
    """Return the workbook in a source.

    Raises:
        FormatError: the source is not a workbook, or one that is damaged, encrypted or hostile.
    """
    start = source.prefix(len(MAGIC))
    refuse_empty(start)
    if start == MAGIC:
        return _open_compound(Compound(source.whole()))
    if start.startswith(_BEFORE_EXCEL_5):
        raise FormatError("a workbook of a version before Excel 5", hint="save it as .xlsx first")
    if not start.startswith(_ZIP) and not has_directory(source.ranges()):
        markup = start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<")
        raise FormatError(
            "no workbook: neither a zip package (.xlsx, .xlsm, .xlsb, .ods) nor a compound file (.xls)",
            hint="if a spreadsheet program opens this HTML or XML, save it as .xlsx there"
            if markup
            else "text is read as .csv",
        )
    package = Package(source.ranges())
    if CONTENT in package and ("mimetype" in package or MANIFEST in package):
        return OdsBook(package)
    part = Relations(package, "").present_target("officeDocument")
    if part is None or TYPES not in package:
        raise FormatError("a zip package that holds no workbook")
    if ContentTypes(package).type_of(part).startswith(_BINARY):
        return XlsbBook(package, part)
    return OoxmlBook(package, part)


def _open_compound(file: Compound) -> WorkbookReader:
    if "EncryptedPackage" in file:
        raise encrypted_error()
    for name in ("Workbook", "Book"):
        if name in file:
            return Excel97Book(file.read(name))
    raise FormatError("a compound file that holds no workbook")
