"""The records of a delimited text and their fields: the one rule by which every text is split.

RFC 4180, read tolerantly: a field that begins with a quote ends with the next quote that is not doubled, and what
stands between that and the delimiter or line end belongs to it, too. A quote anywhere else is a character. A line ends
with LF, CR or CRLF. The compiled loops do this on whole blocks of bytes (`_scan.cpp`); the plain way is one regular
expression.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import loops
from ...columns import Words, Zone
from ...columns.words import NONE, WORDS, code_of
from ...dtypes import Positions
from ...elements import Cell
from ...errors import FormatError
from ...files import BytesLike, release_pages

if TYPE_CHECKING:
    import polars as pl

_scan: Any = getattr(loops, "scan", None)  # the compiled loops; unused where there are none
_BLOCK = 2**20  # bytes of records that are gone over at once
_WINDOW = 2**24  # bytes that are searched for quotes at once
_AT_ONCE = 2**22  # of a text, or of its rest, that is not cut into blocks
_FIRST = 2**16  # of the first block; most headers stand in it
_NEAR = 2**12  # bytes between the records whose places are kept
_MOST_LISTED = 2**12  # records that are listed at once
_FEW_LISTED = 2**8  # of a text, as a rule only the first are looked at
_LONG = 2**10  # cells of a record that is kept
_WORDS = "\n".join(WORDS).encode()
_ANY_WORD = re.compile("|".join(WORDS).encode())
_SPACES = " \t\n\r\x0b\f"
_MAX = 2**62

Run = tuple[int, int, int, str]  # a column, its first row, the row after the last, and the kind of its cells
_Scanned = tuple[int, int, int, int, int, list[Any]]  # what a loop returns for a block


class Records:
    """The records of a text, indexed block by block and only as far as asked.

    `content`: the text in UTF-8. `start`: where it begins, after a byte order mark. `delimiter`: between cells; ""
    where each line is one cell.

    Attributes:
        report, report_read: are called with the share of the text, from 0 to 1, that has been indexed, or from which
            columns have been read; None for no call.
    """

    def __init__(self, content: BytesLike | bytearray, start: int, delimiter: str) -> None:
        self.content, self.start, self.delimiter = content, start, delimiter
        self._mark = ord(delimiter) if delimiter else -1
        self._rows, self._places = [0], [start]  # of one record in every few kilobytes, and the end of those indexed
        self._width = 0
        self._long: tuple[int, int, list[list[str]]] = -1, 0, []  # the last long record: its row, cells asked for
        self._found: list[Positions] = []
        self._blank: list[Positions] = []
        self.report: Callable[[float], None] | None = None
        self.report_read: Callable[[float], None] | None = None

    # The index -----------------------------------------------------------------------------------------------

    @property
    def _ended(self) -> bool:
        return self._places[-1] >= len(self.content)

    def _scan(self, place: int, size: int, row: int, runs: Sequence[Run], words: bytes, comma: bool) -> _Scanned:
        """Go over whole records from a place on until `size` bytes are behind it."""
        scan = _scan.read_delimited if loops.COMPILED else _read_plainly
        wanted, kinds = np.array([run[:3] for run in runs], np.int64).tobytes(), "".join(run[3] for run in runs)
        scanned: _Scanned = scan(self.content, place, self._mark, size, row, words, wanted, kinds.encode(), comma)
        return scanned

    def _index_block(self) -> None:
        """Index one more block."""
        self._keep(self._scan(self._places[-1], _BLOCK if self._rows[-1] else _FIRST, 0, [], _WORDS, False), 0)

    def _keep(self, scanned: _Scanned, first: int) -> list[Any]:
        """Keep the index of the next block, and return its runs of cells.

        Args:
            scanned: what the loop has returned.
            first: the number that it has given the first record.

        Raises:
            FormatError: a quote is never closed.
            UnicodeDecodeError: the block is no UTF-8.
        """
        row, place = self._rows[-1], self._places[-1]
        end, _, invalid, width, opened, (begins, found, doubtful, blank, *pieces) = scanned
        if invalid < end:
            bytes(self.content[place:end]).decode("utf-8")
        if opened >= 0:
            line = bytes(self.content[self.start : opened]).count(b"\n") + 1
            raise FormatError(
                "a quote opens a cell here, and is never closed",
                location=f"line {line}",
                hint="the text is cut off, or a quote is missing; one that is a character of its cell is written as "
                "two within quotes",
            )
        words = np.frombuffer(found, np.int64).reshape(-1, 3)
        more = [
            [one, column, code]
            for one, column, begin, after in np.frombuffer(doubtful, np.int64).reshape(-1, 4).tolist()
            if (code := code_of(_read_field(bytes(self.content[begin:after]), self._mark))) != NONE
        ]
        if more:
            words = np.concatenate([words, np.array(more, np.int64)])
        if len(words):
            self._found.append(words + np.array([row - first, 0, 0], np.int64))
        self._blank.append(np.frombuffer(blank, np.int64) + (row - first))
        self._width = max(self._width, width)
        marks = np.frombuffer(begins, np.int64).reshape(-1, 2)
        self._rows += (marks[:, 0] + (row - first)).tolist()
        self._places += marks[:, 1].tolist()
        release_pages(self.content, place, end)
        if self.report is not None:
            self.report(end / len(self.content))
        return pieces

    def _index_rest(self, runs: Sequence[Run], comma: bool) -> list[list[Any]]:
        """Index the rest of the text, and return the pieces of runs of cells that go down to its end."""
        top = max((run[1] for run in runs), default=0)
        pieces: list[list[Any]] = []
        while not self._ended:
            row, place = self._rows[-1], self._places[-1]
            rest = len(self.content) - place
            spans = self._cut_unquoted(place) if row >= top and rest > _BLOCK else []
            if spans:
                below = [(run[0], 0, _MAX, run[3]) for run in runs]
                scan = partial(self._scan, row=0, runs=below, words=_WORDS, comma=comma)
                pieces += [self._keep(scanned, 0) for scanned in _map_spans(scan, spans)]
            else:
                size = rest if rest <= _AT_ONCE else _FIRST if row < top else _BLOCK
                pieces.append(self._keep(self._scan(place, size, row, runs, _WORDS, comma), row))
        return pieces

    def _cut_unquoted(self, place: int) -> list[tuple[int, int]]:
        """Return the places and sizes of blocks of whole records from one on, down to the next quote; none for few."""
        stop = min(
            place + _WINDOW, len(self.content)
        )  # pages that the search takes into memory leave it with the blocks
        quote = self.content.find(b'"', place, stop)
        end = stop if quote < 0 else quote
        end = self.content.rfind(b"\n", place, end) + 1 if end < len(self.content) else end
        places = [place]
        while places[-1] + _BLOCK < end:
            places.append(self.content.find(b"\n", places[-1] + _BLOCK, end) + 1 or end)
        places += [end] if places[-1] < end else []
        return [(first, after - first) for first, after in pairwise(places)] if len(places) > 2 else []

    def index(self) -> None:
        """Index the whole text.

        Raises:
            FormatError: a quote is never closed.
            UnicodeDecodeError: the text is no UTF-8.
        """
        self._index_rest([], False)

    def index_until(self, row: int) -> bool:
        """Index the text down to a record at least, and return whether there are more below."""
        self._find_block(row)
        return not self._ended

    @property
    def count_indexed(self) -> int:
        """The number of records that are indexed."""
        return self._rows[-1]

    @property
    def count(self) -> int:
        """The number of records."""
        self.index()
        return self._rows[-1]

    @property
    def width(self) -> int:
        """The number of cells in the widest record."""
        self.index()
        return self._width

    def words(self) -> Words:
        """Return every cell that holds a word of a header, and nothing else, in the records that are indexed."""
        words = np.concatenate(self._found) if self._found else np.zeros((0, 3), np.int64)
        return Words.from_positions(words[:, 0], words[:, 1], words[:, 2])

    def blank_lines(self) -> Positions:
        """Return the records that have one cell, which is blank."""
        self.index()
        return np.concatenate(self._blank) if self._blank else np.zeros(0, np.int64)

    def _find_block(self, row: int) -> tuple[int, int]:
        """Return the first record, and the place, of the block in which a record stands, or at which the text ends."""
        while self._rows[-1] <= row and not self._ended:
            self._index_block()
        block = bisect_right(self._rows, row) - 1
        return self._rows[block], self._places[block]

    # A few cells ---------------------------------------------------------------------------------------------

    def list_from(self, place: int, skipped: int, count: int, most: int) -> tuple[list[list[str]], int]:
        """Return the first cells of some records as texts, and the place after them."""
        read = _scan.list_delimited if loops.COMPILED else _list_plainly
        listed: tuple[list[list[str]], int] = read(self.content, place, self._mark, skipped, count, most)
        return listed

    def rows_from(self, row: int, most: int = _MAX) -> Iterator[list[str]]:
        """Yield the first cells of every record from one on."""
        first, place = self._find_block(row)
        skipped = row - first
        while place < len(self.content):
            records, place = self.list_from(place, skipped, _MOST_LISTED, most)
            yield from records
            skipped = 0

    def records_of(self, rows: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
        """Yield some records in ascending order, each with its number; they end with the text."""
        at, place = 0, self.start
        for row in rows:
            block, begin = self._find_block(row)
            if block > at or row < at:
                at, place = block, begin
            records, place = self.list_from(place, row - at, 1, _MAX)
            at = row + 1
            if not records:
                return
            yield row, records[0]

    def places_of(self, rows: Sequence[int]) -> list[int]:
        """Return the places at which some records begin."""
        blocks = [(row, *self._find_block(row)) for row in rows]
        return [self.list_from(place, row - first, 0, 0)[1] for row, first, place in blocks]

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of each zone; cells beyond the end of the text are left out, those of shorter rows None."""
        results: list[list[Cell]] = [[] for _ in zones]
        spans = [
            (zone.row, zone.row + (zone.count if zone.orient == "columns" else 1), index, zone)
            for index, zone in enumerate(zones)
        ]
        spans.sort(key=itemgetter(0))
        last = spans[-1][0] if spans else -1
        self._find_block(last)
        at = 0
        while at < len(spans):
            first, end, _, zone = spans[at]
            most, after = 0, at
            while after < len(spans) and (after == at or (spans[after][0] < end and end - first <= _MOST_LISTED)):
                _, bottom, _, zone = spans[after]
                width = zone.column + (zone.count if zone.orient == "rows" else 1)
                most, end, after = max(most, width), max(end, bottom), after + 1
            block = bisect_right(self._rows, first) - 1
            place, skipped = self._places[block], first - self._rows[block]
            if end - first > 1 or most < _LONG:
                records, _ = self.list_from(place, skipped, end - first, most)
            else:
                if self._long[0] != first or self._long[1] < most:  # next, a few more cells of it may be asked for
                    self._long = first, 2 * most, self.list_from(place, skipped, 1, 2 * most)[0]
                records = self._long[2]
            for top, bottom, index, zone in spans[at:after]:
                some, column = records[top - first : bottom - first], zone.column
                if zone.orient == "rows":
                    results[index] = [*some[0][column : column + zone.count]] if some else []
                elif column == 0:  # every record has a first cell
                    results[index] = [cells[0] for cells in some]
                else:
                    results[index] = [cells[column] if column < len(cells) else None for cells in some]
            at = after
        return results

    # Columns -------------------------------------------------------------------------------------------------

    def read(self, runs: Sequence[Run], *, comma: bool = False) -> list[Any]:
        """Return runs of cells of columns.

        `runs`: `kind` is t for text; s for the texts that are not blank, with their rows; d, f, i, u for doubles,
        floats, integers and unsigned ones. `comma`: whether the decimal mark of numbers is a comma.

        Returns:
            For each run a Series of its cells, down to the end of the text at most; for "s" rows and texts. None for
            numbers that are to be looked at as text.
        """
        self.index()
        results: list[Any] = [None] * len(runs)
        waiting = sorted(range(len(runs)), key=lambda index: runs[index][:2])
        while waiting:
            layer: list[int] = []
            later: list[int] = []
            for index in waiting:  # runs of one column that overlap are read one after the other
                column, first, _, _ = runs[index]
                overlaps = layer and runs[layer[-1]][0] == column and runs[layer[-1]][2] > first
                (later if overlaps else layer).append(index)
            for index, cells in zip(layer, self._read_layer([runs[index] for index in layer], comma), strict=True):
                results[index] = cells
            waiting = later
        return results

    def _read_layer(self, runs: Sequence[Run], comma: bool) -> list[Any]:
        stop = min(max(end for _, _, end, _ in runs), self.count)
        block = bisect_right(self._rows, min(first for _, first, _, _ in runs)) - 1
        last = bisect_left(self._rows, stop)
        spans = []
        while block < last:
            after = min(bisect_left(self._places, self._places[block] + _BLOCK, block + 1), last)
            spans.append((self._places[block], self._places[after] - self._places[block], self._rows[block]))
            block = after
        pieces = []
        for (place, size, _), scanned in zip(
            spans, _map_spans(partial(self._scan, runs=runs, words=b"", comma=comma), spans), strict=True
        ):
            pieces.append(scanned[-1][_INDEXES:])
            release_pages(self.content, place, place + size)
            if self.report_read is not None:
                self.report_read((place + size) / len(self.content))
        return _join_pieces(runs, pieces)

    def read_ahead(self, runs: Sequence[Run], *, comma: bool = False) -> list[Any]:
        """Index the rest of the text, and return runs of cells that go down to its end, in one pass.

        Args:
            runs: as for `read`, one for a column, in the order of their columns; they end with the text.
            comma: as for `read`.
        """
        block = bisect_right(self._rows, min((first for _, first, _, _ in runs), default=_MAX)) - 1
        row = self._rows[block]
        self._rows, self._places = self._rows[: block + 1], self._places[: block + 1]  # the rest is indexed again
        self._found = [words[words[:, 0] < row] for words in self._found]
        self._blank = [rows[rows < row] for rows in self._blank]
        return _join_pieces(runs, self._index_rest(runs, comma))


def split_records(text: str, delimiter: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the records of a text, each with whether the text ends with it.

    A quote that is never closed runs to the end of the text.
    """
    content, place = text.encode("utf-8", "surrogatepass"), 0
    records = Records(content, 0, delimiter)
    while place < len(content):
        listed, place = records.list_from(place, 0, _FEW_LISTED, _MAX)
        last = len(listed) - 1
        yield from ((cells, place == len(content) and index == last) for index, cells in enumerate(listed))


def end_of_records(content: BytesLike, start: int, size: int, delimiter: str) -> int:
    """Return the end of the record in which a piece of a text ends.

    `content`: the text in UTF-8. `start`: the position at which the piece begins, and a record with it. `size`: of the
    piece, in bytes. `delimiter`: between cells; "" where each line is one cell.

    Raises:
        FormatError: a quote is never closed.
    """
    read = _scan.read_delimited if loops.COMPILED else _read_plainly
    end, _, _, _, opened, _ = read(
        content, start, ord(delimiter) if delimiter else -1, size, 0, _WORDS, b"", b"", False
    )
    if opened >= 0:
        raise FormatError("a quote opens a cell here, and is never closed")
    return int(end)


_INDEXES = 4  # what a loop returns before the pieces of runs
_NUMBERS = {"d": np.float64, "f": np.float32, "i": np.int64, "u": np.uint64, "b": np.bool_}


def _map_spans(scan: Callable[..., _Scanned], spans: Sequence[tuple[int, ...]]) -> Iterator[_Scanned]:
    """Yield what a loop returns for spans of a text, several of them at once: the loops run without Python's lock."""
    if len(spans) < 2 or not loops.COMPILED:
        yield from (scan(*span) for span in spans)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(os.cpu_count() or 1, len(spans))) as pool:
        yield from pool.map(lambda span: scan(*span), spans)


def _join_pieces(runs: Sequence[Run], pieces: Sequence[Sequence[Any]]) -> list[Any]:
    """Return runs of cells by their pieces in each block."""
    if len(pieces) == 1:  # very many columns are short
        kinds = [_NUMBERS.get(run[3]) for run in runs]
        return [
            None if piece is None else _join(run[3], [piece]) if kind is None else np.frombuffer(piece[0], kind).copy()
            for run, kind, piece in zip(runs, kinds, pieces[0], strict=True)
        ]
    return [_join(run[3], [some[index] for some in pieces]) for index, run in enumerate(runs)]


def _join(kind: str, pieces: Sequence[Any]) -> Any:
    """Return the pieces of a run as one."""
    if kind in _NUMBERS:
        if any(piece is None for piece in pieces):
            return None
        arrays: list[Any] = [np.frombuffer(buffer, _NUMBERS[kind]) for buffer, _ in pieces]
        if any(piece[1] and len(after) for piece, after in zip(pieces, arrays[1:], strict=False)):
            return None  # a blank with numbers below it
        return arrays[0].copy() if len(arrays) == 1 else np.concatenate([np.zeros(0, _NUMBERS[kind]), *arrays])
    if kind == "s":
        rows = [np.frombuffer(rows, np.int64) for rows, _ in pieces]
        return np.concatenate([np.zeros(0, np.int64), *rows]), [
            text for _, texts in pieces for text in _to_series(texts)
        ]
    import polars as pl

    series = [_to_series(piece) for piece in pieces]
    return pl.concat(series) if len(series) > 1 else series[0] if series else _to_series([])


def _to_series(texts: Any) -> pl.Series:
    import polars as pl

    return pl.Series(texts, dtype=pl.String) if isinstance(texts, list) else loops.to_series(texts)


# The plain way -------------------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def field_pattern(delimiter: str) -> re.Pattern[str]:
    """Return the pattern of a field; its groups are the quoted text, its end, text after that, text of a field without
    quotes, and the delimiter or line end.
    """
    mark = re.escape(delimiter)
    plain = rf"[^{mark}\r\n]*+"
    body = r'[^"]*+(?:""[^"]*+)*+'  # possessive: nothing to go back to, and no memory for it
    stop = rf"{mark}|\r\n|\n|\r|\Z" if delimiter else r"\r\n|\n|\r|\Z"
    return re.compile(rf'(?:"({body})("|\Z)({plain})|({plain}))({stop})')


@lru_cache(maxsize=16)
def _byte_pattern(mark: int) -> re.Pattern[bytes]:
    return re.compile(field_pattern(chr(mark) if mark >= 0 else "").pattern.encode())


def _iter_records(content: Any, place: int, mark: int) -> Iterator[tuple[list[tuple[bytes, int, bool]], int]]:
    """Yield records, each with the place after it: the text of each field, where it begins, and whether it is open."""
    match, end, size = _byte_pattern(mark).match, place, len(content)
    delimiter = bytes([mark]) if mark >= 0 else None
    while end < size:
        fields = []
        while True:
            found = match(content, end)
            assert found is not None  # an empty field matches anywhere
            quoted, closed, rest, plain, stop = found.groups()
            text = plain if quoted is None else quoted.replace(b'""', b'"') + rest
            fields.append((text, end, closed == b""))
            end = found.end()
            if stop != delimiter:
                break
        yield fields, end


def _read_field(text: bytes, mark: int) -> str:
    """Return the text of the field with which some bytes begin."""
    fields, _ = next(_iter_records(text, 0, mark))
    return fields[0][0].decode("utf-8")


def _list_plainly(
    content: Any, place: int, mark: int, skipped: int, count: int, most: int
) -> tuple[list[list[str]], int]:
    listed, end = [], place
    for number, (fields, after) in enumerate(_iter_records(content, place, mark)):
        if number >= skipped + count:
            break
        end = after
        if number >= skipped:
            listed.append([text.decode("utf-8") for text, _, _ in fields[:most]])
    return listed, end


def _read_plainly(
    content: Any, place: int, mark: int, most: int, row: int, words: bytes, wanted: bytes, kinds: bytes, _: bool
) -> _Scanned:
    """Return runs of text; numbers are none, so that each of their cells is looked at as text."""
    lines = _read_lines(content, place, mark, most, row, words, wanted, kinds)
    return _read_fields(content, place, mark, most, row, words, wanted, kinds) if lines is None else lines


def _read_lines(
    content: Any, place: int, mark: int, most: int, row: int, words: bytes, wanted: bytes, kinds: bytes
) -> _Scanned | None:
    """Return what `_read_fields` returns for a block without quotes and words, whose lines are its records; else None.

    A million numbers would take three seconds by one match for each field.
    """
    block = bytes(content[place : content.find(b"\n", max(place, place + most - 1)) + 1 or len(content)])
    if b'"' in block or block.count(b"\r") != block.count(b"\r\n") or (words and _ANY_WORD.search(block.lower())):
        return None
    runs = list(zip(np.frombuffer(wanted, np.int64).reshape(-1, 3).tolist(), kinds.decode(), strict=True))
    count = _MAX if words else max(0, max((end for (_, _, end), _ in runs), default=0) - row)
    lines = block.decode("utf-8").replace("\r\n", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    del lines[count:]
    ends = place + np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1
    ends = np.append(ends, len(content))[: len(lines)]
    end, delimiter = int(ends[-1]) if len(ends) else place, chr(mark) if mark >= 0 else "\n"
    cells = [line.split(delimiter) for line in lines] if mark >= 0 and {"t", "s"} & {*kinds.decode()} else []
    marks: list[int] = []
    index, marked = 0, place
    while words and (index := int(np.searchsorted(ends, marked + _NEAR))) < len(ends):
        marked = int(ends[index])
        marks += [row + index + 1, marked]
    if words and end > marked:
        marks += [row + len(lines), end]
    pieces: list[Any] = []
    for (column, first, stop), kind in runs:
        span = range(max(first - row, 0), min(max(stop - row, 0), len(lines)))
        some = lines[span.start : span.stop] if mark < 0 and column == 0 else [""] * len(span) if mark < 0 else []
        some = some or [cells[at][column] if column < len(cells[at]) else "" for at in span if cells]
        held = [at for at, text in zip(span, some, strict=True) if text] if kind == "s" else []
        found = (np.array(held, np.int64) + row, [text for text in some if text])
        pieces.append([text or None for text in some] if kind == "t" else found if kind == "s" else None)
    blank, width = [], 0
    if words:
        bare = [at for at, line in enumerate(lines) if line < "!" and not line.strip(_SPACES) and delimiter not in line]
        blank, width = [row + at for at in bare], max(map(str.count, lines, repeat(delimiter)), default=-1) + 1
    arrays = [np.array(some, np.int64) for some in (marks, [], [], blank)]
    return end, row + len(lines), end, width, -1, [*arrays, *pieces]


def _read_fields(
    content: Any, place: int, mark: int, most: int, row: int, words: bytes, wanted: bytes, kinds: bytes
) -> _Scanned:
    """Return the index of a block, and its runs, of a match for each field."""
    runs = list(zip(np.frombuffer(wanted, np.int64).reshape(-1, 3).tolist(), kinds.decode(), strict=True))
    results: list[Any] = [[] if kind == "t" else ([], []) if kind == "s" else None for _, kind in runs]
    by_row = [(number, run, kind) for number, (run, kind) in enumerate(runs) if kind in "ts"]
    last = _MAX if words else max((end for (_, _, end), _ in runs), default=0)
    found: list[int] = []
    blank: list[int] = []
    marks: list[int] = []
    width, marked, end, opened = 0, place, place, -1
    for fields, after in _iter_records(content, place, mark) if row < last else ():
        for column, (text, begin, is_open) in enumerate(fields) if words else ():
            opened = begin if is_open else opened
            if (code := code_of(text.decode("utf-8"))) != NONE:
                found += [row, column, code]
        for number, (column, first, stop), kind in by_row:
            if first <= row < stop:
                cell = fields[column][0].decode("utf-8") if column < len(fields) else ""
                if kind == "t":
                    results[number].append(cell or None)
                elif cell:
                    results[number][0].append(row)
                    results[number][1].append(cell)
        if words and len(fields) == 1 and not fields[0][0].strip():
            blank.append(row)
        width, row, end = max(width, len(fields)), row + 1, after
        if end >= marked + _NEAR:
            marked = end
            marks += [row, end]
        if end - place >= most or row >= last:
            break
    if end > marked:
        marks += [row, end]
    pairs = zip(results, kinds.decode(), strict=True)
    pieces = [(np.array(some[0], np.int64), some[1]) if kind == "s" else some for some, kind in pairs]
    return end, row, end, width, opened, [*(np.array(some, np.int64) for some in (marks, found, [], blank)), *pieces]
