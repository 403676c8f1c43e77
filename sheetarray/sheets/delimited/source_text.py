"""The text of a delimited file: its bytes in UTF-8, its records, and the input for the columnar engine."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ...columns import Words, Zone
from ...elements import Cell
from ...errors import FormatError
from ...files import BytesLike, Source, refuse_empty, release_pages
from .blocks import BLOCK, FEED, UnsoundError
from .encodings import canonical_encoding, find_encoding
from .records import Records
from .search import Units
from .sound import make_sound
from .word_cells import WordCells
from .zones import read_zones

_BYTES_A_CELL = 12  # about so many bytes of the file are looked at for each cell that is asked for
_ZIP = b"PK\3\4"
Result = TypeVar("Result")


class SourceText:
    """The text of a delimited file, taken into memory only where more than its first cells are needed.

    Args:
        source: the file.
        encoding: None is the byte order mark's, else strict UTF-8.

    Attributes:
        source: the file.
        of_source: the encoding of the file, and the length of its byte order mark in bytes.
        content: the text in UTF-8; empty until it is asked for.
        start: the length of a byte order mark at the beginning of the content, in bytes.
        delimiter: the text between cells.
        is_changed: whether the content differs from the bytes of the file.
        stand_in: the character that replaces quotes which are only characters; "" if none is replaced.
        records: its records; None until they are asked for.
        report: is called with the kind of work, "words" or "quotes", and the share of the text, from 0 to 1, for which
            it has been done; None for no call.

    Raises:
        FormatError: the file is no text.
    """

    def __init__(self, source: Source, encoding: str | None) -> None:
        refuse_empty(source.prefix(4))
        if source.prefix(4) == _ZIP:
            raise FormatError("a zip package, not text", hint="a workbook? then rename it, or name format='xlsx'")
        self.source = source
        self._encoding, self.start = find_encoding(source.prefix(4))
        if encoding is not None:
            self._encoding = canonical_encoding(encoding)
            self.start = 0 if find_encoding(source.prefix(4))[0] != self._encoding else self.start
        self.of_source = self._encoding, self.start
        self.content: BytesLike | bytearray = b""
        self.delimiter = ","
        self.is_changed = False
        self.stand_in = ""
        self.records: Records | None = None
        self.report: Callable[[str, float], None] | None = None
        self._words: Words | None = None

    def decode_cells(self, cells: int) -> tuple[str, bool]:
        """Return the beginning of the text, about `cells` cells of it, and whether that is the whole text.

        Raises:
            FormatError: it is not of its encoding.
        """
        encoding, mark = self.of_source
        count = cells * _BYTES_A_CELL * (2 if encoding.startswith("utf-16") else 1)
        raw = self.source.prefix(count)
        ended = len(raw) < count
        decoder = codecs.getincrementaldecoder(encoding)("strict")
        try:
            return decoder.decode(raw[mark:], final=ended), ended
        except UnicodeDecodeError as error:
            raise self._decoding_error(raw[mark:], error) from error

    def _decoding_error(self, raw: bytes, error: UnicodeDecodeError) -> FormatError:
        line = raw.count(b"\n", 0, error.start) + 1
        return FormatError(
            f"no text in {self._encoding}: byte {raw[error.start]:#04x}",
            location=f"line {line}",
            hint="name the encoding, for example encoding='cp1252'",
        )

    def take(self) -> None:
        """Make `content` the whole text in UTF-8; a plain file is mapped, not read."""
        if len(self.content):
            return
        raw = self.source.whole()
        if self._encoding == "utf-8":
            self.content = raw
            return
        try:
            text = codecs.decode(bytes(raw)[self.start :], self._encoding)
        except UnicodeDecodeError as error:
            raise self._decoding_error(bytes(raw)[self.start :], error) from error
        self.content, self.start, self.is_changed = text.encode("utf-8", "surrogatepass"), 0, True
        self._encoding = "utf-8"

    @property
    def units(self) -> Units:
        """Return the bytes of the content."""
        return np.frombuffer(self.content, np.uint8)

    def with_records(self, work: Callable[[Records], Result]) -> Result:
        """Return the result of a function on the text's records; a text that readers take differently is made sound.

        Raises:
            FormatError: the text is not of its encoding.
        """
        self.take()
        self.records = self.records or Records(self.units, self.start, self.delimiter)
        try:
            try:
                return work(self.records)
            except UnsoundError:
                self.content, self.stand_in = make_sound(self.units, self.start, self.delimiter)
                self.is_changed, self._words = True, None
                self.records = Records(self.units, self.start, self.delimiter)
                return work(self.records)
        except UnicodeDecodeError:
            whole = bytes(self.content)[self.start :]
            try:
                whole.decode("utf-8")
            except UnicodeDecodeError as error:
                raise self._decoding_error(whole, error) from error
            raise

    def check_sound(self) -> None:
        """Look at the whole text, and make it sound if it is not."""

        def check(records: Records) -> None:
            records.blocks.report = self._reporting("quotes")
            records.blocks.check_sound()

        self.with_records(check)

    def _reporting(self, work: str) -> Callable[[float], None]:
        """Return the function that a kind of work calls with the share that is done; that part then leaves memory."""

        def note(share: float) -> None:
            release_pages(self.content, 0, int(share * len(self.content)))
            if self.report is not None:
                self.report(work, share)

        return note

    def words(self) -> Words:
        """Return the words of headers, wherever in the text they are."""
        if self._words is None:
            self._words = self.with_records(lambda records: WordCells(records.blocks).find(self._reporting("words")))
        return self._words

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return a few cells here and there."""
        return [self.put_quotes_back(cells) for cells in self.with_records(lambda records: read_zones(records, zones))]

    def put_quotes_back(self, cells: list[Any]) -> list[Any]:
        """Return the same cells, in which the stand-in is replaced by quotes again."""
        if not self.stand_in:
            return cells
        return [cell.replace(self.stand_in, '"') if cell else cell for cell in cells]

    def find_body(self, row: int) -> tuple[int | None, int]:
        """Return the first byte of a row, and the number of line feeds before it; None if the text has ended."""
        offset = self.with_records(lambda records: records.position_of(row))
        if offset is None:
            return None, 0
        units = self.units
        return offset, sum(
            int(np.count_nonzero(units[first : min(first + BLOCK, offset)] == FEED))
            for first in range(0, offset, BLOCK)
        )

    def engine_source(self, offset: int, lines: int) -> tuple[Any, int]:
        """Return the engine's input, the file itself if its text lies there, and the number of line feeds to skip.

        The engine removes a byte order mark at the beginning of the text, and also one after the lines that it skips.
        So if the rows begin with a character U+FEFF of their own, the engine gets them alone, after one more U+FEFF.

        Args:
            offset: the position at which the rows begin that it is to parse.
            lines: the number of line feeds before them.
        """
        if bytes(self.content[offset : offset + len(codecs.BOM_UTF8)]) == codecs.BOM_UTF8:
            return codecs.BOM_UTF8 + bytes(self.content[offset:]), 0
        path = self.source.path
        return path if not self.is_changed and path is not None else bytes(self.content), lines
