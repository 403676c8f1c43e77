"""Rows at the end of an ordinary table in delimited text: in place, written as the rows above them are."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import numpy as np

from ... import dtypes
from ...dtypes import Array
from ...elements import TextLook, buffer_to_text, texts_of_cells
from ...errors import DTypeError, FormatError, LimitError, locating
from ...files import RemoteFile, Source, is_url, name_part, replacing
from ...tables.appended import fit_new_rows
from ...tables.dialect import Dialect
from ...tables.reading import TableColumns
from .encodings import encode_text
from .reading import read_columns_csv

_HEAD, _TAIL = 2**14, 2**16  # bytes that tell the dialect, and those in which the last row is looked at
_BLOCK = 2**18  # bytes that are counted at once
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # how gzip and Zstandard begin
_BOOLS = {"true": ("false", "true"), "false": ("false", "true"), "True": ("False", "True"), "False": ("False", "True")}


def append_table_csv(target: Any, columns: Mapping[str, Any]) -> dict[str, int] | None:
    """Append rows to an ordinary table, and return the number of rows of each column; None if the file holds arrays.

    A plain file grows in place, and an append that fails is cut back at once. After a process was killed the last row
    may be incomplete: it is cut off first.

    `target`: a path or a URL. `columns`: the new elements, by the names of all columns of the table.

    Raises:
        DTypeError: a column does not hold the new elements exactly.
        LimitError: columns are missing, unknown, or of different lengths; or something else stands below the table.
    """
    is_plain = not isinstance(target, RemoteFile) and not is_url(target) and not _is_compressed(target)
    with locating(source=name_part(target)), _opened(target, is_plain=is_plain) as file:
        text = _Text(file)
        if b"ndarray" in text.piece(0, _HEAD).lower() or b"ndarray" in text.piece(text.size - _TAIL, text.size).lower():
            return None
        rows = _TableRows(text)
        added = rows.format(columns)
        lengths = dict.fromkeys(columns, rows.count + len(next(iter(columns.values()), ())))
        above = b"" if is_plain else text.piece(0, rows.end)
    if is_plain:
        _write_at(target, rows.end, text.size, added)
    else:
        with replacing(target) as sink:
            sink.write(above + added)
    return lengths


@contextmanager
def _opened(target: Any, *, is_plain: bool) -> Iterator[BinaryIO]:
    """Open a text, inflated if it is compressed."""
    if is_plain:
        with open(target, "rb", buffering=0) as file:
            yield cast("BinaryIO", file)
    else:
        with Source(target) as opened:
            yield io.BytesIO(opened.whole())


class _Text:
    """The bytes of a text, few of them in memory.

    `size`: how many there are.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = file.seek(0, os.SEEK_END)

    def piece(self, start: int, end: int) -> bytes:
        """Return the bytes from one place to another, as far as there are any."""
        self._file.seek(max(start, 0))
        pieces, left = [], min(end, self.size) - max(start, 0)
        while left > 0 and (read := self._file.read(left)):
            pieces.append(read)
            left -= len(read)
        return b"".join(pieces)

    def count(self, mark: bytes, end: int, unless: bytes = b"") -> int | None:
        """Return how often a byte occurs before a place; None if there is one of `unless`.

        One block of memory takes all bytes: so they are counted while the processor has them at hand.
        """
        block, number, at = bytearray(_BLOCK), 0, 0
        view, numbers = memoryview(block), np.frombuffer(block, np.uint8)
        self._file.seek(0)
        while at < end and (read := self._file.readinto(view[: end - at])):  # type: ignore[attr-defined]
            if unless and block.find(unless, 0, read) >= 0:
                return None
            number += int(np.count_nonzero(numbers[:read] == mark[0]))
            at += read
        return number


def _is_compressed(target: str | os.PathLike[str]) -> bool:
    with open(target, "rb") as file:
        return file.read(4).startswith(_COMPRESSED) or name_part(target).lower().endswith((".gz", ".zst"))


def _write_at(target: str | os.PathLike[str], end: int, size: int, added: bytes) -> None:
    """Write bytes where the last complete row of a file ends; if that fails, the file is as it was."""
    with open(target, "r+b", buffering=0) as file:
        if file.seek(0, os.SEEK_END) != size:
            raise FormatError("the file has changed since it was read", source=os.fspath(target), hint="append again")
        file.seek(end)
        left = file.read()
        try:
            file.seek(end)
            file.truncate()
            view = memoryview(added)
            while len(view):
                view = view[file.write(view) :]
            os.fsync(file.fileno())
        except BaseException:
            file.truncate(end)
            file.seek(end)
            file.write(left)
            raise


class _TableRows:
    """The rows of a table in delimited text: how they are written, and where the last one ends.

    Attributes:
        count: the number of rows of data.
        end: the number of bytes up to the end of the last complete row.
    """

    _encoding: str
    _line_end: str

    def __init__(self, text: _Text) -> None:
        wide = _wide_encoding(text.piece(0, _HEAD))
        if wide:  # a line end may lie across two characters there
            content = text.piece(0, text.size).decode(wide, "ignore")
            text = _Text(io.BytesIO(content.encode("utf-8", "surrogatepass")))
        self._text = text
        head = text.piece(0, _HEAD)
        if text.size > _HEAD:
            head = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1] or head
        self._detect(head)
        self.end, self._last = self._find_end(text.size)
        if self.end < len(head):  # what was cut tells nothing of the marks
            self._detect(head[: self.end])
        line_end = self._line_end.encode(self._encoding)
        self._is_ended = text.piece(self.end - len(line_end), self.end) == line_end
        self.count = self._count_rows()
        if wide:
            self._encoding = wide
            self.end = len(text.piece(0, self.end).decode("utf-8", "surrogatepass").encode(wide, "surrogatepass"))

    def _detect(self, head: bytes) -> None:
        """Find how the table is written, in its first rows."""
        columns = read_columns_csv(io.BytesIO(head))
        assert isinstance(columns, TableColumns)
        assert columns.dialect is not None
        self._columns, self._dialect = columns, columns.dialect
        marks = columns.dialect.marks
        if marks is None or marks.delimiter in ("", "whitespace") or len(marks.quotechar) > 1 or marks.escapechar:
            raise LimitError("rows can be appended to tables with a delimiter and plain quotes: write the table anew")
        if not columns.dialect.names:
            raise LimitError("rows can be appended to tables with a row of names")
        self._delimiter, self._quote = marks.delimiter or ",", marks.quotechar
        self._encoding = _plain_encoding(columns.dialect)
        self._mark = _count_mark(head)
        first = head[self._mark :].decode(self._encoding, "ignore")
        at = min((place for place in map(first.find, "\r\n") if place >= 0), default=-1)
        self._line_end = "\n" if at < 0 else first[at : at + 2] if first[at : at + 2] == "\r\n" else first[at]

    def _find_end(self, end: int) -> tuple[int, list[str]]:
        """Return where the last complete row before a place ends, and its cells."""
        line_end = self._line_end.encode(self._encoding)
        size, start, row = _TAIL, end, b""
        while start > self._mark and line_end not in row.rstrip(line_end):  # a row may be long
            start = max(end - size, self._mark)
            size, row = size * 4, self._text.piece(start, end)
        while row.endswith(2 * line_end):  # blank rows at the end
            row, end = row.removesuffix(line_end), end - len(line_end)
        is_ended = row.endswith(line_end)
        begin = row.rfind(line_end, 0, len(row) - len(line_end) if is_ended else len(row))
        row = row[begin + len(line_end) :] if begin >= 0 else row
        text = row.decode(self._encoding).removesuffix(self._line_end)
        cells = text.split(self._delimiter)
        width = len(self._columns)
        if self._quote and self._quote in text:
            import csv

            cells = next(csv.reader([text], delimiter=self._delimiter[:1], quotechar=self._quote), [])
        is_last_line = bool(self._quote) and text.count(self._quote) % 2 == 1  # of a cell of several
        is_cut = not is_ended and (len(cells) < width or self._ends_in_quotes(text))
        if not is_cut and (len(cells) == width or (is_last_line and is_ended)):
            return end, text.split(self._delimiter)
        if is_cut:  # somebody was killed while it was written
            return end - len(row), self._find_end(end - len(row))[1]
        raise LimitError(f"the last row has {len(cells)} cells, and the table {width} columns: move what is below it")

    def _ends_in_quotes(self, text: str) -> bool:
        """Return whether the last cell of a row has a quote before it and none behind it."""
        quote, at = self._quote, 0
        while quote and at >= 0:
            if text.startswith(quote, at):
                at = text.find(quote, at + 1)
                while at >= 0 and text.startswith(quote * 2, at):
                    at = text.find(quote, at + 2)
                if at < 0:
                    return True
            at = text.find(self._delimiter, at)
            at += len(self._delimiter) if at >= 0 else 0
        return False

    def _count_rows(self) -> int:
        line_end, above = self._line_end.encode(self._encoding), self._dialect.above + len(self._dialect.names)
        lines = None
        if self._dialect.rows >= len(next(iter(self._columns.values()), ())):
            lines = self._text.count(line_end[:1], self.end, self._quote.encode(self._encoding)[:1])
        if lines is None:
            columns = read_columns_csv(io.BytesIO(self._text.piece(0, self.end)))
            return len(next(iter(columns.values())))
        return lines + (not self._is_ended) - above

    def format(self, columns: Mapping[str, Any]) -> bytes:
        """Return new rows as the table has them, with what ends the row above them."""
        arrays = fit_new_rows(columns, self._columns)
        quotes = bool(self._quote) and all(
            cell.startswith(self._quote) and cell.endswith(self._quote) and len(cell) > 1 for cell in self._last
        )
        texts = [
            self._format_column(array, sample, quotes=quotes)
            for array, sample in zip(arrays.values(), [*self._last, *[""] * len(arrays)], strict=False)
        ]
        kinds = [array.dtype.kind for array in arrays.values()]
        spelled = next((number for number, kind in enumerate(kinds) if kind in "fmM"), None)
        if spelled is not None:
            null = self._quote_cell("NaN" if kinds[spelled] == "f" else "NaT", always=quotes)
            for index, row in enumerate(zip(*texts, strict=True)):
                if not any(cell.strip(self._quote) for cell in row):  # a row of blanks alone is no row
                    texts[spelled][index] = null
        rows = "".join(self._delimiter.join(row) + self._line_end for row in zip(*texts, strict=True))
        return encode_text(("" if self._is_ended or not rows else self._line_end) + rows, self._encoding)

    def _format_column(self, array: Array, sample: str, *, quotes: bool) -> list[str]:
        decimal: Any = self._dialect.decimal
        dtype = dtypes.from_numpy(array.dtype)
        look = TextLook(decimal)
        cells = texts_of_cells(buffer_to_text(np.ascontiguousarray(array), dtype, look), look)
        texts = [text or "" for text in cells]
        if array.dtype.kind in "fmM":  # of a complex number a blank would not tell the other part
            blank = np.isnan(array) if array.dtype.kind == "f" else np.isnat(array)
            texts = ["" if is_blank else text for text, is_blank in zip(texts, blank.tolist(), strict=True)]
        elif array.dtype.kind == "b" and sample.strip(self._quote) in _BOOLS:
            words = _BOOLS[sample.strip(self._quote)]
            texts = [words[value] for value in array.tolist()]
        return [self._quote_cell(text, always=quotes) for text in texts]

    def _quote_cell(self, text: str, *, always: bool) -> str:
        quote = self._quote
        marks = (self._delimiter, quote, "\r", "\n") if quote else (self._delimiter, "\r", "\n")
        if not always and not any(mark in text for mark in marks):
            return text
        if not quote:
            raise DTypeError(f"the text {text!r:.60} holds a mark of the table, which has no quotes")
        return quote + text.replace(quote, quote * 2) + quote


def _wide_encoding(head: bytes) -> str:
    """Return the UTF-16 of a text, which has a mark or NULs; empty for another encoding."""
    if not head.startswith((b"\xff\xfe", b"\xfe\xff")) and b"\0" not in head[:64]:
        return ""
    return "utf-16-be" if head.startswith((b"\xfe\xff", b"\0")) else "utf-16-le"


def _plain_encoding(dialect: Dialect) -> str:
    """Return the encoding of a text without its mark, so that it can be written in the middle."""
    encoding = (dialect.encoding or "utf-8").lower().replace("_", "-")
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _count_mark(head: bytes) -> int:
    return 3 if head.startswith(b"\xef\xbb\xbf") else 0
