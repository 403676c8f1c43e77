"""Reads some elements of an array in a large text of unquoted numbers, and parses no other rows.

To know where a row of a text begins, the line feeds above it have to be counted. Their count is kept as long as the
file is unchanged, so that reading one part after the other counts, and transfers, each byte once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from ...dtypes import Buffer
from ...errors import locating
from ...files import BytesLike, RangedBytes, Readable, RemoteFile, Source, file_version, release_pages
from .head import WrittenHead, find_head
from .written_zone import UnusualError, check_usual

PIECE = 2**22  # bytes of text that are looked at at once
_MOST_FILES = 256  # files of which the beginnings of rows are kept

_Starts = list[tuple[int, int]]  # rows below the zone of headers, and where each begins in the text

_lock = threading.Lock()
_starts_of_files: OrderedDict[Any, _Starts] = OrderedDict()


def read_elements_csv(source: Readable, name: str, start: int, stop: int) -> Buffer | None:
    """Return some elements of an array's buffer; None if the whole text has to be read to get them.

    That is so for a small text, for one that people have changed, and for one with quotes below its headers.

    Args:
        source: a path, or an open file.
        name: the array's.
        start: the first of the elements, counted from 0.
        stop: the one after the last of them.

    Example:
        >>> import io
        >>> from .writing import write_csv
        >>> file = io.BytesIO()
        >>> write_csv(file, {"t": np.arange(2000)})
        >>> read_elements_csv(io.BytesIO(file.getvalue()), "t", 1200, 1203)
        array([1200, 1201, 1202])
    """
    with Source(source) as opened, locating(source=opened.name):
        head = find_head(_TextRows, opened, None, "escape", lambda rows: rows.check_head(name))
        if head is None:
            return None
        state = source.state if isinstance(source, RemoteFile) else file_version(source)
        key = None if state is None else (opened.name, repr(state))
        with _lock:
            starts = list(_starts_of_files.get(key, ())) if key else []
        try:
            return head.elements(opened.ranges(), name, start, stop, starts)
        except UnusualError:
            return None
        finally:
            _keep_starts(key, starts)


def _keep_starts(key: Any, starts: _Starts) -> None:
    with _lock:
        if key is None or len(starts) <= len(_starts_of_files.get(key, ())):
            return
        _starts_of_files[key] = starts
        _starts_of_files.move_to_end(key)
        while len(_starts_of_files) > _MOST_FILES:
            _starts_of_files.popitem(last=False)


class _TextRows(WrittenHead):
    """The head of a text, and functions for the rows below it that are given the whole text."""

    def check_head(self, name: str) -> _TextRows:
        """Return the head, if the array is one of numbers and no column beside it may hold text.

        Raises:
            UnusualError: it is not.
        """
        zone = self._zone
        check_usual(name in zone.columns)
        kinds = {zone.header(column).dtype.kind for column in range(zone.width)}
        check_usual(not kinds & {"string", "generic"})
        check_usual(zone.header(zone.columns[name]).dtype.kind in ("float", "int", "bool"))
        return self

    def elements(self, content: BytesLike | RangedBytes, name: str, start: int, stop: int, starts: _Starts) -> Buffer:
        """Return some elements of an array.

        `start`: the first of them. `stop`: the one after the last. `starts`: the rows whose beginnings are known, in
        their order; others are added to them.

        Raises:
            UnusualError: the text is to be read cell by cell.
        """
        column = self._zone.columns[name]
        header = self._zone.header(column)
        beside = self._body.decode_beside(column, "error")
        buffers = [beside[start:stop]] if start < len(beside) else []
        first, last = max(start - len(beside), 0), max(stop - len(beside), 0)
        if not starts:
            starts.append((0, self._zone.end))
        at = self._find_row(content, first, starts)
        while first < last:
            text, count = self._take_rows(content, at, last - first)
            check_usual(count > 0)
            cells = self._body.parse(text, 0, text, 0, [column])[column]
            check_usual(len(cells) == count)
            buffers.append(self._body.decode(cells, header.dtype, "error"))
            self._body.check_infinities(text, 0, [column])
            first, at = first + count, at + len(text)
            _note_start(starts, first, at)
        if stop == header.capacity:
            self._check_blank(content, at, column)
        return np.concatenate(buffers) if buffers else np.zeros(0, header.dtype.numpy)

    def _find_row(self, content: BytesLike | RangedBytes, row: int, starts: _Starts) -> int:
        """Return the first byte of a row."""
        known, at = next(start for start in reversed(starts) if start[0] <= row)
        while known < row:
            text, count = self._take_rows(content, at, row - known)
            check_usual(count > 0)
            check_usual(b'"' not in text and text.count(b"\r") == text.count(b"\r\n"))
            release_pages(content, at, at + len(text))
            known, at = known + count, at + len(text)
            _note_start(starts, known, at)
        return at

    def _take_rows(self, content: BytesLike | RangedBytes, at: int, most: int) -> tuple[bytes, int]:
        """Return the text of the rows from a position on, and their number: at most `most`, and at most a piece."""
        size = PIECE
        while True:
            text = bytes(content[at : at + size])
            ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
            if at + len(text) >= len(content) and (not len(ends) or ends[-1] < len(text)) and text:
                ends = np.append(ends, len(text))  # the last row ends with the text
            if len(ends) or not text:
                break
            size *= 4
        count = min(len(ends), most)
        return text[: ends[count - 1]] if count else b"", count

    def _check_blank(self, content: BytesLike | RangedBytes, at: int, column: int) -> None:
        """Refuse a cell of a column below its last element that is not blank."""
        while at < len(content):
            text, count = self._take_rows(content, at, PIECE)
            cells = self._body.parse(text, 0, text, 0, [column])[column]
            check_usual(cells.null_count() == len(cells) == count)
            at += len(text)


def _note_start(starts: _Starts, row: int, at: int) -> None:
    """Keep the beginning of a row, if it is at least a piece further down than the last row whose beginning is kept."""
    if at - starts[-1][1] >= PIECE // 2:
        starts.append((row, at))
