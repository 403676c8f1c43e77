"""The text of a delimited file: its bytes in UTF-8, and its records."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from ...errors import FormatError
from ...files import BytesLike, Source, refuse_empty
from .encodings import canonical_encoding, find_encoding
from .records import Records

_BYTES_A_CELL = 12  # about so many bytes of the file are looked at for each cell that is asked for
_ZIP = b"PK\3\4"


class SourceText:
    """The text of a delimited file, taken into memory only where more than its first cells are needed.

    `encoding`: None is the byte order mark's, else strict UTF-8.

    Attributes:
        source: the file.
        of_source: the encoding of the file, and the length of its byte order mark in bytes.
        content: the text in UTF-8; empty until it is asked for.
        start: the length of a byte order mark at the beginning of the content, in bytes.
        delimiter: the text between cells; "" where each line is one cell.
        report: is called with the kind of work, "words" or "columns", and the share of the text, from 0 to 1, for which
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
        self.report: Callable[[str, float], None] | None = None
        self._records: Records | None = None

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
        self.content, self.start = text.encode("utf-8", "surrogatepass"), 0
        self._encoding = "utf-8"

    @contextmanager
    def records(self) -> Iterator[Records]:
        """Return the text's records.

        Raises:
            FormatError: the text is not of its encoding.
        """
        self.take()
        if self._records is None or self._records.delimiter != self.delimiter:
            self._records = Records(self.content, self.start, self.delimiter)
            if self.report is not None:
                self._records.report = partial(self.report, "words")
                self._records.report_read = partial(self.report, "columns")
        try:
            yield self._records
        except UnicodeDecodeError:
            whole = bytes(self.content)[self.start :]
            try:
                whole.decode("utf-8")
            except UnicodeDecodeError as error:
                raise self._decoding_error(whole, error) from error
            raise
