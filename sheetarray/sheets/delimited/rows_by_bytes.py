"""Some elements of an array in a large text of unquoted numbers: no other rows are parsed, and memory does not grow.

To know where a row of a text begins, the line feeds above it have to be counted. Their count is kept as long as the
file is unchanged, so that reading one part after the other counts, and transfers, each byte once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from ...columns import Block, SheetArrays, find_anchors
from ...columns.blocks.parts import ColumnPart
from ...columns.blocks.reading import decode_block
from ...columns.pieced_arrays import NotInPiecesError
from ...dtypes import Buffer, DType
from ...elements import unescape_formula
from ...errors import locating
from ...files import FileSlices, Readable, RemoteFile, Source, file_version, release_pages
from .records import Records
from .remote_heads import iter_heads
from .sheet import CsvSheet

_PIECE = 2**22  # bytes of text that are read at once
_MOST_FILES = 256  # of which the beginnings of rows are kept

_Starts = list[tuple[int, int]]  # rows, and where each begins in the text

_lock = threading.Lock()
_starts_of_files: OrderedDict[Any, _Starts] = OrderedDict()


def read_elements_csv(source: Readable, name: str, start: int, stop: int) -> Buffer | None:
    """Return some elements of an array's buffer; None if the whole text has to be read to get them.

    That is so for a small text, for one that people have changed, and for one with quotes below its headers.

    Args:
        start: the first of the elements, counted from 0.
        stop: the one after the last of them.
    """
    with Source(source) as opened, locating(source=opened.name):
        sheet = next(iter_heads(opened, None, "escape"), None)
        if sheet is None or name not in (infos := SheetArrays([sheet]).scan_all()) or not infos[name].data:
            return None
        state = source.state if isinstance(source, RemoteFile) else file_version(source)
        key = None if state is None else (opened.name, repr(state))
        with _lock:
            starts = list(_starts_of_files.get(key, ())) if key else []
        try:
            return _Rows(sheet, opened.ranges(), starts).elements(name, start, stop)
        except NotInPiecesError:
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


class _Rows:
    """The rows of a text without quotes below its first names.

    `head`: the sheet of its first rows. `content`: the whole text. `starts`: the rows of which the beginnings are
    known, in their order; others are added to them.
    """

    def __init__(self, head: CsvSheet, content: FileSlices, starts: _Starts) -> None:
        self._head, self._content, self._starts = head, content, starts
        self._anchors = {unescape_formula(anchor.name): anchor for anchor in find_anchors(head)}
        kinds = {anchor.header.dtype.kind for anchor in self._anchors.values() if anchor.header}
        if kinds & {"string", "generic"}:
            raise NotInPiecesError
        if not starts:
            first = min(anchor.row + anchor.start for anchor in self._anchors.values())
            starts.append((first, head.records.places_of([first])[0]))

    def elements(self, name: str, start: int, stop: int) -> Buffer:
        """Return some elements of an array."""
        anchor = self._anchors[name]
        header, (column, top) = anchor.header, anchor.data_cell
        if header is None or header.dtype.kind not in ("float", "int", "bool"):
            raise NotInPiecesError
        part = ColumnPart(name, anchor, header.capacity, None, done=start)
        row, buffers = top + start, [np.zeros(0, header.dtype.numpy)]
        at = self._find_row(row)
        while row < top + stop:
            text, count = self._take_rows(at, top + stop - row)
            cells = self._parse(text, count, column, header.dtype)
            buffers.append(decode_block(self._head, part, Block(0, ((), cells), count), "error", typed=False))
            part.done += count
            row, at = row + count, at + len(text)
            self._note_start(row, at)
        while stop == header.capacity and at < len(self._content):
            text, count = self._take_rows(at, _PIECE)
            if len(self._parse(text, count, column, None)):
                raise NotInPiecesError
            at += len(text)
        return np.concatenate(buffers)

    def _parse(self, text: bytes, count: int, column: int, dtype: DType | None) -> Any:
        """Return the cells of a column in some rows; those that are not blank if no dtype is given."""
        records = Records(text, 0, self._head.delimiter)
        if records.count != count or records.width > 1 + max(anchor.column for anchor in self._anchors.values()):
            raise NotInPiecesError
        return self._head.read_column(records, column, dtype)

    def _find_row(self, row: int) -> int:
        """Return the first byte of a row."""
        row_at, at = next(start for start in reversed(self._starts) if start[0] <= row)
        while row_at < row:
            text, count = self._take_rows(at, row - row_at)
            release_pages(self._content, at, at + len(text))
            row_at, at = row_at + count, at + len(text)
            self._note_start(row_at, at)
        return at

    def _take_rows(self, at: int, most: int) -> tuple[bytes, int]:
        """Return the text of the rows from a position on, and their number: at most `most`, and at most a piece."""
        size = _PIECE
        while True:
            text = bytes(self._content[at : at + size])
            ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
            if at + len(text) >= len(self._content) and (not len(ends) or ends[-1] < len(text)) and text:
                ends = np.append(ends, len(text))  # the last row ends with the text
            if len(ends) or not text:
                break
            size *= 4
        count = min(len(ends), most)
        text = text[: ends[count - 1]] if count else b""
        if not count or b'"' in text or text.count(b"\r") != text.count(b"\r\n"):
            raise NotInPiecesError
        return text, count

    def _note_start(self, row: int, at: int) -> None:
        """Keep the beginning of a row, if it is at least a piece further down than the last one that is kept."""
        if at - self._starts[-1][1] >= _PIECE // 2:
            self._starts.append((row, at))
