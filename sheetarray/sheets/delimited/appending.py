"""Rows at the end of an ordinary table in delimited text: in place, written as the rows above them are."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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
    with locating(source=name_part(target)):
        if is_plain:
            content = Path(target).read_bytes()
        else:
            with Source(target) as opened:
                content = bytes(opened.whole())
        if b"ndarray" in content[:_HEAD].lower() or b"ndarray" in content[-_TAIL:].lower():
            return None
        rows = _TableRows(content)
        added = rows.format(columns)
        lengths = dict.fromkeys(columns, rows.count + len(next(iter(columns.values()), ())))
    if is_plain:
        _write_at(target, rows.end, len(content), added)
    else:
        with replacing(target) as sink:
            sink.write(content[: rows.end] + added)
    return lengths


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

    def __init__(self, content: bytes) -> None:
        head = content[:_HEAD]
        if len(content) > _HEAD:
            head = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1] or head
        top = read_columns_csv(io.BytesIO(head))
        assert isinstance(top, TableColumns)
        assert top.dialect is not None
        self._columns, self._dialect = top, top.dialect
        marks = top.dialect.marks
        if marks is None or marks.delimiter in ("", "whitespace") or len(marks.quotechar) > 1 or marks.escapechar:
            raise LimitError("rows can be appended to tables with a delimiter and plain quotes: write the table anew")
        if not top.dialect.names:
            raise LimitError("rows can be appended to tables with a row of names")
        self._delimiter, self._quote = marks.delimiter or ",", marks.quotechar
        self._encoding = _plain_encoding(top.dialect, content)
        self._mark = _count_mark(content)
        first = head[self._mark :].decode(self._encoding, "ignore")
        at = min((place for place in map(first.find, "\r\n") if place >= 0), default=-1)
        self._line_end = "\n" if at < 0 else first[at : at + 2] if first[at : at + 2] == "\r\n" else first[at]
        self.end, self._last = self._find_end(content)
        self._is_ended = content[: self.end].endswith(self._line_end.encode(self._encoding))
        self.count = self._count_rows(content)

    def _find_end(self, content: bytes) -> tuple[int, list[str]]:
        """Return where the last complete row ends, and its cells."""
        line_end = self._line_end.encode(self._encoding)
        end = len(content)
        while end > self._mark and content[max(end - 2 * len(line_end), 0) : end] == 2 * line_end:
            end -= len(line_end)  # blank rows at the end
        is_ended = content[:end].endswith(line_end)
        begin = content.rfind(line_end, max(end - _TAIL, 0), end - len(line_end) if is_ended else end)
        begin = begin + len(line_end) if begin >= 0 else self._mark
        text = content[begin:end].decode(self._encoding).removesuffix(self._line_end)
        cells = text.split(self._delimiter)
        width = len(self._columns)
        if self._quote and self._quote in text:
            import csv

            cells = next(csv.reader([text], delimiter=self._delimiter[:1], quotechar=self._quote), [])
        if len(cells) == width or (self._quote and text.count(self._quote) % 2 and is_ended):
            return end, text.split(self._delimiter)
        if not is_ended and len(cells) < width:  # somebody was killed while it was written
            return begin, self._find_end(content[:begin])[1]
        raise LimitError(f"the last row has {len(cells)} cells, and the table {width} columns: move what is below it")

    def _count_rows(self, content: bytes) -> int:
        line_end, above = self._line_end.encode(self._encoding), self._dialect.above + len(self._dialect.names)
        if (self._quote and content.find(self._quote.encode(self._encoding)) >= 0) or self._dialect.rows < len(
            next(iter(self._columns.values()), ())
        ):
            columns = read_columns_csv(io.BytesIO(content[: self.end]))
            return len(next(iter(columns.values())))
        lines = _count_bytes(content, line_end[0]) if len(line_end) < 3 else content.count(line_end, 0, self.end)
        return lines + (not content[: self.end].endswith(line_end)) - above

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
        rows = "".join(self._delimiter.join(row) + self._line_end for row in zip(*texts, strict=True))
        return encode_text(("" if self._is_ended or not rows else self._line_end) + rows, self._encoding)

    def _format_column(self, array: Array, sample: str, *, quotes: bool) -> list[str]:
        decimal: Any = self._dialect.decimal
        dtype = dtypes.from_numpy(array.dtype)
        look = TextLook(decimal)
        cells = texts_of_cells(buffer_to_text(np.ascontiguousarray(array), dtype, look), look)
        texts = [text or "" for text in cells]
        if array.dtype.kind in "fcmM":
            blank = np.isnat(array) if array.dtype.kind in "mM" else np.isnan(array)
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


def _count_bytes(content: bytes, byte: int) -> int:
    """Return how often a byte occurs: a few times faster than `bytes.count` where it occurs often."""
    numbers = np.frombuffer(content, np.uint8)
    return sum(
        int(np.count_nonzero(numbers[start : start + _BLOCK] == byte)) for start in range(0, len(numbers), _BLOCK)
    )


def _plain_encoding(dialect: Dialect, content: bytes) -> str:
    """Return the encoding of a text without its mark, so that it can be written in the middle."""
    encoding = (dialect.encoding or "utf-8").lower().replace("_", "-")
    if encoding in ("utf-16", "utf16"):
        return "utf-16-be" if content.startswith(b"\xfe\xff") else "utf-16-le"
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _count_mark(content: bytes) -> int:
    marks: Sequence[bytes] = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
    return next((len(mark) for mark in marks if content.startswith(mark)), 0)
