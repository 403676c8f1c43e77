"""The records of a delimited text and their fields: the one rule by which every text is split.

RFC 4180, read tolerantly: a field that begins with a quote ends with the next quote that is not doubled, and what
stands between that and the delimiter or line end belongs to it, too. A quote anywhere else is a character. A line ends
with LF, CR or CRLF. The compiled loop does this on whole blocks of bytes (`_scan.cpp`); `plain_records` does the same
in Python, and lists the few cells of headers.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise, starmap
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import loops
from ...columns import Words, Zone
from ...columns.words import WORDS
from ...dtypes import Positions
from ...elements import Cell
from ...errors import FormatError
from ...files import BytesLike, release_pages
from .joined_texts import JoinedTexts
from .plain_records import (
    BLOCK,
    FIRST_LISTED,
    MOST_LISTED,
    WINDOW,
    RecordBlock,
    Run,
    Scanned,
    decode_text,
    scan_plainly,
)

if TYPE_CHECKING:
    import polars as pl

UNCLOSED = "a quote opens a cell here, and is never closed"
"""The reason of the error for a quote that is never closed."""

_AT_ONCE = 2**22  # bytes of the rest of a text that is not cut into blocks
_BYTES_A_RUN = 2**9  # of a block, at least, so that the pieces of very many columns are few
_FAST = 2**18  # bytes that stay in the caches of a processor
_FIRST = 2**16  # bytes of the first block; most headers stand in it
_GAP = 8  # records between two of them that are listed, too
_LONG = 2**10  # cells of a record that is kept: a thousand candidates for headers may stand in one
_WORDS = list(WORDS)
_IN_EVERY_HEADER = b"d", b"D", b"p", b"P"  # `ndarray`, or four keys of a damaged header, have one of these letters
ENDLESS = 2**40  # a row that no text has


class Records:
    """The records of a text, indexed block by block and only as far as asked.

    `content`: the text in UTF-8. `start`: where it begins, after a byte order mark. `delimiter`: between cells; ""
    where each line is one cell. `report`: is called with the kind of work, "words" or "columns", and the share of the
    text, from 0 to 1, that has been indexed, or from which columns have been read. `find_words`: whether words of
    headers are looked for.
    """

    title: str | None = None  # a text has one sheet

    def __init__(
        self,
        content: BytesLike | bytearray,
        start: int,
        delimiter: str,
        report: Callable[[str, float], None] | None = None,
        *,
        find_words: bool = True,
    ) -> None:
        self.content, self.start, self.delimiter = content, start, delimiter
        self._mark = ord(delimiter) if delimiter else -1
        self._rows, self._places = [0], [start]  # of one record in every few kilobytes, and the end of those indexed
        self._width = 0
        self._words_below = _WORDS if find_words else []  # that are looked for in what is not indexed
        self._long: tuple[int, int, list[list[str]]] = -1, 0, []  # the last long record: its row, cells asked for
        self._kept: dict[int, RecordBlock] = {}  # by their places: those listed last, or a record of many megabytes
        self._kept_after = -1  # the place of the index from which they were listed
        self._found: list[Positions] = []
        self._blank: list[Positions] = []
        self._report = report

    # The index -----------------------------------------------------------------------------------------------

    @property
    def is_ended(self) -> bool:
        """Whether the whole text is indexed."""
        return self._places[-1] >= len(self.content)

    def _scan(self, place: int, size: int, row: int, runs: Sequence[Run], words: list[str]) -> Scanned:
        """Go over whole records from a place on until `size` bytes are behind it."""
        scan = loops.scan.read_delimited if loops.COMPILED else scan_plainly
        scanned: Scanned = scan(self.content, place, self._mark, size, row, words, list(runs))
        if np.frombuffer(self.content, np.int8, scanned[0] - place, place).min(initial=0) < 0:  # it is not ASCII
            self._decode(bytes(self.content[place : scanned[0]]))
        return scanned

    def _decode(self, block: bytes) -> None:
        """Make sure that a block is UTF-8."""
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            decode_text(bytes(self.content[self.start :]), "utf-8")
            raise

    def _keep(self, scanned: Scanned, first: int) -> list[Any]:
        """Keep the index of the next block, and return its pieces of runs; `first` is its first record's number."""
        row, place = self._rows[-1], self._places[-1]
        end, width, opened, marks, words, blank, pieces = scanned
        if opened >= 0:
            hint = "the text is cut off, or a quote is missing; inside a cell, a quote is written as two quotes"
            line = bytes(self.content[self.start : opened]).count(b"\n") + 1
            raise FormatError(UNCLOSED, location=f"line {line}", hint=hint)
        self._found.append(np.frombuffer(words, np.int64).reshape(-1, 3) + np.array([row - first, 0, 0], np.int64))
        self._blank.append(np.frombuffer(blank, np.int64) + (row - first))
        self._width = max(self._width, width)
        begins = np.frombuffer(marks, np.int64).reshape(-1, 2)
        self._rows += (begins[:, 0] + (row - first)).tolist()
        self._places += begins[:, 1].tolist()
        release_pages(self.content, place, end)
        if self._report is not None:
            self._report("words", end / len(self.content))
        return pieces

    def index_more(self, runs: Sequence[Run] = ()) -> list[list[Any]]:
        """Index some more of the text, and return the pieces of runs of cells in each of its blocks."""
        row, place = self._rows[-1], self._places[-1]
        are_endless = row > 0 and all(first <= row and end >= ENDLESS for _, first, end, _ in runs)
        spans = self._cut_unquoted(place) if are_endless else []
        if len(spans) > 1:  # their numbers of rows are not known yet
            below = [(column, 0, end, kind) for column, _, end, kind in runs]
            scan = partial(self._scan, row=0, runs=below, words=self._words_below)
            return [self._keep(scanned, 0) for scanned in _map_in_threads(scan, spans)]
        rest = len(self.content) - place
        least = _BYTES_A_RUN * len(runs)
        size = rest if runs and rest <= max(_AT_ONCE, least) else max(BLOCK, least) if row else _FIRST
        return [self._keep(self._scan(place, size, row, runs, self._words_below), row)]

    def _cut_unquoted(self, place: int) -> list[tuple[int, int]]:
        """Return the places and sizes of blocks of whole records from one on, down to the next quote."""
        stop = min(place + WINDOW, len(self.content))  # the search takes pages into memory, which leave it with blocks
        quote = self.content.find(b'"', place, stop)
        end = stop if quote < 0 else quote
        end = self.content.rfind(b"\n", place, end) + 1 if end < len(self.content) else end
        places = [place]
        while places[-1] + BLOCK < end:
            places.append(self.content.find(b"\n", places[-1] + BLOCK, end) + 1 or end)
        places += [end] if places[-1] < end else []
        return [(first, after - first) for first, after in pairwise(places)]

    def index(self, until: int = ENDLESS) -> None:
        """Index the text down to a record at least, or the whole text.

        Raises:
            FormatError: a quote is never closed, or the text is not UTF-8.
        """
        while self._rows[-1] <= until and not self.is_ended:
            self.index_more()

    def may_have_headers_below(self) -> bool:
        """Return whether a header, even a damaged one, may stand below the records that are indexed, by bytes alone.

        If none does, no words are looked for there any more.
        """
        for first in range(self._places[-1], len(self.content), _FAST):
            end = min(first + _FAST, len(self.content))
            if any(self.content.find(letter, first, end) >= 0 for letter in _IN_EVERY_HEADER):
                return True
            if end % WINDOW < _FAST:
                release_pages(self.content, max(end - WINDOW, 0), end)
        self._words_below = []
        return False

    @property
    def count_indexed(self) -> int:
        """The number of records that are indexed."""
        return self._rows[-1]

    @property
    def count(self) -> int:
        """The number of records."""
        self.index()
        return self._rows[-1]

    def estimate_count(self, size: int | None = None) -> int:
        """Return about how many records there are in the text, or in so many bytes, by those that are indexed."""
        self.index(0)
        indexed = max(self._places[-1] - self.start, 1)
        return self._rows[-1] * (len(self.content) - self.start if size is None else size) // indexed

    @property
    def width(self) -> int:
        """The number of cells in the widest record."""
        self.index()
        return self._width

    def words(self) -> Words:
        """Return every cell that holds a word of a header, and nothing else."""
        self.index()
        return self.indexed_words()

    def indexed_words(self) -> Words:
        """Return the words in the records that are indexed."""
        words = np.concatenate([np.zeros((0, 3), np.int64), *self._found])
        return Words.from_positions(words[:, 0], words[:, 1], words[:, 2])

    def list_blank_lines(self) -> Positions:
        """Return the records that have one cell, which is blank."""
        self.index()
        return np.concatenate([np.zeros(0, np.int64), *self._blank])

    # A few cells ---------------------------------------------------------------------------------------------

    def _list_from(self, row: int, count: int, most: int = -1) -> tuple[list[list[str]], int]:
        """Return some records as texts, cut after `most` cells, and the place after them; the first need no index."""
        if row:
            self.index(row)
        after = bisect_right(self._rows, row) - 1
        skipped, place, size = row - self._rows[after], self._places[after], FIRST_LISTED
        if place != self._kept_after:
            self._kept, self._kept_after = {}, place
        records: list[list[str]] = []
        while skipped + count > 0 and place < len(self.content):
            block = self._kept.get(place)
            if block is None:
                block = RecordBlock(self.content, place, self._mark, size)
                if len(block.ends) == 1 and int(block.ends[0]) - place > BLOCK:  # a very long one is kept alone
                    self._kept.clear()
                self._kept[place] = block
            taken = min(skipped + count, len(block.ends))
            records += block.rows(min(skipped, taken), taken, most)
            place, size = int(block.ends[taken - 1]), min(4 * size, BLOCK)
            skipped, count = max(skipped - taken, 0), count - max(taken - skipped, 0)
        return records, place

    def record(self, row: int) -> list[str]:
        """Return one record; an empty one below the text."""
        records, _ = self._list_from(row, 1)
        return records[0] if records else []

    def rows(self, row: int, count: int) -> list[list[str]]:
        """Return some records from one on."""
        return self._list_from(row, count)[0]

    def places_of(self, rows: Sequence[int]) -> list[int]:
        """Return the places at which some records begin."""
        return [self._list_from(row, 0)[1] for row in rows]

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of each zone. Cells after the end of the text are left out; missing cells of short rows are
        None.
        """
        results: list[list[Cell]] = [[]] * len(zones)
        spans = [
            (zone.row, zone.row + (zone.count if zone.orient == "columns" else 1), index, zone)
            for index, zone in enumerate(zones)
        ]
        spans.sort(key=itemgetter(0))
        at = 0
        while at < len(spans):
            first, end, most, after = spans[at][0], spans[at][1], 0, at
            while after < len(spans) and spans[after][0] <= end + _GAP and (after == at or end - first <= MOST_LISTED):
                _, bottom, _, zone = spans[after]
                width = zone.column + (zone.count if zone.orient == "rows" else 1)
                most, end, after = max(most, width), max(end, bottom), after + 1
            if end - first > 1 or most < _LONG:
                records, _ = self._list_from(first, end - first, most)
            else:
                records = self._list_long(first, most)
            for top, bottom, index, zone in spans[at:after]:
                rows_of_zone, column = records[top - first : bottom - first], zone.column
                if zone.orient == "rows":
                    results[index] = [*rows_of_zone[0][column : column + zone.count]] if rows_of_zone else []
                elif column == 0:  # every record has a first cell
                    results[index] = [cells[0] for cells in rows_of_zone]
                else:
                    results[index] = [cells[column] if column < len(cells) else None for cells in rows_of_zone]
            at = after
        return results

    def _list_long(self, row: int, most: int) -> list[list[str]]:
        """Return a long record alone, cut; next, a few more cells of it may be asked for."""
        if self._long[0] != row or self._long[1] < most:
            self._long = row, 2 * most, self._list_from(row, 1, 2 * most)[0]
        return self._long[2]

    # Columns -------------------------------------------------------------------------------------------------

    def read(self, runs: Sequence[Run]) -> list[Any]:
        """Return runs of cells of columns; what is not indexed yet is indexed in the same pass.

        Of each it returns what `_join` makes of its pieces; None for what is to be looked at as text.
        """
        results: list[Any] = [None] * len(runs)
        waiting = sorted(range(len(runs)), key=lambda index: runs[index][:2])
        while waiting:
            layer: list[int] = []
            later: list[int] = []
            for index in waiting:  # runs of one column that overlap are read one after the other
                column, first, _, _ = runs[index]
                overlaps = layer and runs[layer[-1]][0] == column and runs[layer[-1]][2] > first
                (later if overlaps else layer).append(index)
            layer_runs = [runs[index] for index in layer]
            for index, cells in zip(layer, _join_pieces(layer_runs, self._read_pieces(layer_runs)), strict=True):
                results[index] = cells
            waiting = later
        return results

    def _read_pieces(self, runs: Sequence[Run]) -> list[list[Any]]:
        """Return the pieces of runs that do not overlap, in each block from the first to the last."""
        runs = [(*run[:3], "t") if run[3] == "x" else run for run in runs]
        _, firsts, ends, _ = zip(*runs, strict=True)
        top, stop = min(firsts), max(ends)
        block = bisect_right(self._rows, top) - 1
        if not self.is_ended:  # what has been indexed below is gone over again, so that short columns come in one piece
            del self._rows[block + 1 :], self._places[block + 1 :]
            self._blank = [rows[rows < self._rows[block]] for rows in self._blank]
        last = min(bisect_left(self._rows, stop), len(self._rows) - 1)
        spans = []
        at_once = max(_AT_ONCE, _BYTES_A_RUN * len(runs))
        is_long = self._places[last] - self._places[block] > at_once
        size = max(BLOCK, _BYTES_A_RUN * len(runs)) if is_long else at_once
        while block < last:
            after = min(bisect_left(self._places, self._places[block] + size, block + 1), last)
            spans.append((self._places[block], self._places[after] - self._places[block], self._rows[block]))
            block = after
        scan = partial(self._scan, runs=runs, words=[])
        pieces = []
        blocks = starmap(scan, spans) if len(spans) < 2 else _map_in_threads(scan, spans)
        for (place, size, _), scanned in zip(spans, blocks, strict=True):
            pieces.append(scanned[-1])
            release_pages(self.content, place, place + size)
            if self._report is not None:
                self._report("columns", (place + size) / len(self.content))
        while self._rows[-1] < stop and not self.is_ended:
            pieces += self.index_more(runs)
        return pieces


MOMENTS = {"y": "D", "0": "s", "3": "ms", "6": "us", "9": "ns"}
"""The units of the kinds of runs that hold moments."""

BLANK = -(2**63) + 1
"""A blank cell among moments, as the loop returns it."""

FRACTION, POINT, OTHER_POINT = 1, 2, 4
"""The bits of what numbers of a column show, as the loop returns them."""


_NUMBERS = {"d": np.float64, "f": np.float32, "i": np.int64, "u": np.uint64, "b": np.bool_}
_BITS = {"d": np.float64, "f": np.float64, "i": np.int64, "u": np.uint64, "b": np.int64}  # as a loop returns them
for _kinds in (_NUMBERS, _BITS):
    _kinds |= {"D": _kinds["d"], "F": _kinds["f"]}  # with a decimal comma


def _map_in_threads(scan: Callable[..., Scanned], spans: Sequence[tuple[int, ...]]) -> Iterator[Scanned]:
    """Call a loop for several spans of a text, and yield the results; the compiled one in parallel, as it can."""
    if not loops.COMPILED:
        yield from starmap(scan, spans)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(os.cpu_count() or 1, len(spans))) as pool:
        yield from pool.map(lambda span: scan(*span), spans)


def _join_pieces(runs: Sequence[Run], pieces: Sequence[Sequence[Any]]) -> list[Any]:
    """Return runs of cells by their pieces in each block; very many columns are short, and have one piece."""
    results = []
    for index, (_, _, _, kind) in enumerate(runs):
        if len(pieces) > 1 or kind not in _NUMBERS:
            results.append(_join(kind, [block_pieces[index] for block_pieces in pieces]))
        else:
            piece = pieces[0][index] if pieces else (b"", 0)
            results.append(None if piece is None else np.frombuffer(piece[0], _BITS[kind]).astype(_NUMBERS[kind]))
    return results


def _join(kind: str, pieces: Sequence[Any]) -> Any:
    """Return the pieces of a run as one; None if a cell is not of its kind.

    It is a Series of its texts, down to the end of the text at most; for "x" `JoinedTexts`; for "s" rows and texts; an
    array of its numbers without the blanks below them; for "n" numbers, NaN for blanks (int64 if all are whole, and
    none is blank), the count of blanks, and what numbers show; the same for moments, `BLANK` for blanks.
    """
    if dtype := _NUMBERS.get(kind):
        if any(piece is None for piece in pieces):
            return None
        arrays: list[Any] = [np.frombuffer(numbers, _BITS[kind]) for numbers, _ in pieces]
        if any(piece[1] and len(after) for piece, after in zip(pieces, arrays[1:], strict=False)):
            return None  # a blank with numbers below it
        return np.concatenate(arrays, dtype=dtype, casting="unsafe")
    if kind == "n" or kind in MOMENTS:
        if any(piece is None for piece in pieces):
            return None
        blanks, shown = sum(piece[1] for piece in pieces), 0
        for piece in pieces:
            shown |= piece[2]
        dtype = np.float64 if kind == "n" else np.int64
        values = [np.zeros(0, dtype), *(np.frombuffer(p[0], dtype) for p in pieces)]
        are_whole = kind == "n" and not blanks and not shown & FRACTION
        return np.concatenate(values, dtype=np.int64 if are_whole else dtype, casting="unsafe"), blanks, shown
    if kind == "x":
        return JoinedTexts(pieces)
    if kind == "s":
        rows = [np.frombuffer(rows, np.int64) for rows, _ in pieces]
        texts = [text for _, texts in pieces for text in _to_series(texts)]
        return np.concatenate([np.zeros(0, np.int64), *rows]), texts
    import polars as pl

    series = [_to_series(piece) for piece in pieces]
    cells = pl.concat(series) if len(series) > 1 else series[0] if series else _to_series([])
    return cells.set(cells == "", None) if (cells == "").any() else cells


def _to_series(texts: Any) -> pl.Series:
    import polars as pl

    return pl.Series(texts, dtype=pl.String) if isinstance(texts, list) else loops.texts_to_series(texts)
