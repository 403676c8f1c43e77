"""A text that stands as `write_csv` writes it: one array a column from the first cell on, and no quotes.

Where nothing else is in the text, its arrays need no search, and thousands of columns are read as fast as one. What
looks otherwise in the least (quotes, words of headers elsewhere, a cell that its dtype cannot mean) raises
`UnusualError`: `CsvSheet` then reads the text cell by cell, and says what is wrong.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...cells import (
    FormulaMode,
    TextLook,
    buffer_from_text,
    buffer_from_texts,
    buffer_from_typed,
    engine_dtype,
)
from ...columns import ArrayInfo, DataCells, cell_address
from ...columns.words import LONGEST_WORD, NONE, code_of
from ...dtypes import Array, Buffer, DType
from ...elements import Missing, check_missing, unescape_formula
from ...elements.spelling import INFINITY, DecimalMark
from ...errors import Finding, FormatError
from ...files import BytesLike, Source, release_pages
from ...header import MAX_HEADER_CELLS, Header, parse_header
from ...linear import view_of
from .blocks import Blocks, UnsoundError, has_lone_returns
from .bulk import ParsedColumns, parse_numbers, parse_unquoted
from .dialect import DELIMITERS
from .encodings import find_encoding
from .search import find_words, has_words, may_be_cells
from .splitting import cells_of_record

if TYPE_CHECKING:
    import polars as pl

Text = TypeVar("Text", bound="WrittenText")

_VERSION, _NUMBER, _NDARRAY, _DATA = b"version", b"1.0.0", b"ndarray", b"data"
_OF_INFINITY = INFINITY.encode()[-1:]  # y, which no other number has that the engine takes for one
_MOST_ROWS, _MOST_CELLS = 2000, 2**20  # of a body that is split in plain Python; beyond, the engine is faster
_FEW_OF = 8  # columns, of which one is wanted: the others are not put together
_SEARCHED = 2**24  # bytes that are searched at once
_COUNTED = 2**22  # bytes that are counted before they leave the memory
_COUNTED_AT_ONCE = 2**16  # which stay in the processor's cache
_UNUSED = "\x1f"  # the engine wants a delimiter, where there is but one column
_SAMPLED = 1000  # cells of a column that the engine could not take for elements, which are looked at first
_BODY_IN_MEMORY = 2**24  # bytes
_LONGEST_ROW = 2**16  # bytes of a row beside the headers that goes on in other lines


class UnusualError(Exception):
    """The text is to be read cell by cell."""


def find_written(
    kind: type[Text],
    source: Source,
    delimiter: str | None,
    decimal: DecimalMark | None,
    encoding: str | None,
    formulas: FormulaMode,
) -> Text | None:
    """Return the text of a source as one of a class, if it stands as `write_csv` writes it.

    All arguments but the first are those of `read_csv`.
    """
    if encoding is not None or decimal not in (None, ".") or formulas not in ("escape", "keep"):
        return None
    return find_text(kind, source, delimiter, formulas)


def find_text(kind: type[Text], source: Source, delimiter: str | None, formulas: FormulaMode) -> Text | None:
    """Return the text of a source as one of a class, if it stands as `write_csv` writes it."""
    head = source.prefix(4096)
    name, start = find_encoding(head)
    if name != "utf-8":
        return None
    if head.find(_VERSION, start) < 0 and head.find(b"\n", start) >= 0:
        return None
    try:
        return kind(source, source.whole(), start, delimiter, formulas)
    except UnusualError:
        return None


class WrittenText:
    """The arrays of such a text.

    Args:
        source: of the text.
        content: the text.
        start: where it begins, after a byte order mark.
        delimiter: between cells; None finds it.
        formulas: as for `read_csv`.

    Raises:
        UnusualError: it is no such text.
    """

    def __init__(
        self, source: Source, content: BytesLike, start: int, delimiter: str | None, formulas: FormulaMode
    ) -> None:
        self._source, self._content, self._look = source, content, TextLook(formulas=formulas)
        self._at = start
        self._lines = 0  # that have been taken
        self._infinite = 0  # floats that the engine has read as infinite since it was last looked at
        first, second, third, fourth = (self._line() for _ in range(4))
        check_usual(second.startswith(_VERSION))
        self._mark = second[len(_VERSION) : len(_VERSION) + 1]
        self._count = (len(second) + 1) // (len(_VERSION) + 1)
        for line, word in ((second, _VERSION), (third, _NUMBER), (fourth, _NDARRAY)):
            check_usual(line == self._mark.join(repeat(word, self._count)))
        text = self._mark.decode("ascii", "replace")
        check_usual(text in DELIMITERS if self._count > 1 else delimiter is None)
        check_usual(delimiter in (None, text))
        check_usual(b'"' not in first)
        names = self._cells(first)
        check_usual(not has_words(first, 0) or all(code_of(name) == NONE for name in names))
        if formulas == "escape" and b"'" in first:
            names = list(map(unescape_formula, names))
        check_usual(all(map(str.strip, names)))
        self._places = dict(zip(names, range(self._count), strict=True))
        check_usual(len(self._places) == self._count)
        self._wants_many = True
        self._headers: dict[tuple[str, ...], tuple[Header, int]] = {}
        self._above, self._ends = self._zone()
        self._body, self._is_searched = self._at, False

    def search_body(self, *, quotes: bool = False) -> None:
        """Refuse a body in which more arrays may begin; what has been searched leaves the memory.

        Args:
            quotes: whether quotes are looked at in all rows that have any, as `may_be_cells` wants it.

        Raises:
            UnusualError: a cell may be a word of a header.
        """
        if self._is_searched:
            return
        units = np.frombuffer(self._content, np.uint8)
        for first in range(self._body, len(units), _SEARCHED):
            end = min(first + _SEARCHED, len(units))
            for places, codes in find_words(units[: end + LONGEST_WORD], first):
                check_usual(not may_be_cells(units, places, codes, quotes=quotes))
            release_pages(self._content, first, end)
        self._is_searched = True

    def _search_unless_decoded(self, headers: dict[int, Header], *, quotes: bool = False) -> None:
        """Refuse such a body, unless all of its cells are about to be decoded as elements that no word is."""
        kinds = {header.dtype.kind for header in headers.values()}
        if len(headers) < self._count or kinds & {"string", "generic"}:
            self.search_body(quotes=quotes)

    # The zone of headers -------------------------------------------------------------------------------------

    def _line(self) -> bytes:
        """Take the next line."""
        end = self._content.find(b"\n", self._at)
        check_usual(end >= 0)
        line = self._content[self._at : end]
        self._at, self._lines = end + 1, self._lines + 1
        if line[-1:] == b"\r":
            line = line[:-1]
        check_usual(b"\r" not in line)
        return line

    def _cells(self, line: bytes) -> list[str]:
        """Split a line into as many cells as there are columns; of headers that are alike all are the same."""
        first = line.partition(self._mark)[0] if self._count > 1 else line
        is_even = self._count > 1 and line == self._mark.join(repeat(first, self._count))
        try:
            text = first.decode("utf-8") if is_even else line.decode("utf-8")
        except UnicodeDecodeError:
            raise UnusualError from None
        if is_even:
            return [text] * self._count
        cells = text.split(self._mark.decode()) if self._count > 1 else [text]
        check_usual(len(cells) == self._count)
        return cells

    def _quoted_cells(self, start: int) -> list[str]:
        """Split a row whose first line has been taken, and which may go on in others."""
        quotes = bytes(self._content[start : self._at]).count(b'"')
        while quotes % 2:
            check_usual(self._at - start < _LONGEST_ROW)
            quotes += self._line().count(b'"')
        row = bytes(self._content[start : self._at])
        blocks = Blocks(np.frombuffer(row, np.uint8), 0, self._mark.decode())
        try:
            blocks.check_sound()
            cells = cells_of_record(row.decode("utf-8"), self._mark.decode() or _UNUSED, self._count + 1)
        except (UnicodeDecodeError, UnsoundError):
            raise UnusualError from None
        check_usual(len(cells) == self._count)
        return cells

    def _zone(self) -> tuple[list[list[str]], list[int]]:
        """Return the rows down to the last key `data`, and how many cells of each column are a header's."""
        rows = [[word.decode()] * self._count for word in (_VERSION, _NUMBER, _NDARRAY)]
        ends = [0] * self._count
        last = self._mark.join(repeat(_DATA, self._count))
        while not all(ends):
            check_usual(len(rows) < MAX_HEADER_CELLS)
            start = self._at
            line = self._line()
            row = self._cells(line) if b'"' not in line else self._quoted_cells(start)
            rows.append(row)
            if line == last:
                check_usual(not any(ends))
                return rows, [len(rows)] * self._count
            for place, cell in enumerate(row) if "data" in row else ():
                if cell == "data":
                    check_usual(not ends[place])
                    ends[place] = len(rows)
        for place, end in enumerate(ends):
            check_usual(all(code_of(row[place]) == NONE for row in rows[end:]))
        return rows, ends

    @cached_property
    def _columns(self) -> list[tuple[str, ...]]:
        """The cells of that zone, of all columns."""
        return list(zip(*self._above, strict=True))

    def _header(self, place: int) -> Header:
        """Return the header of a column."""
        end = self._ends[place]
        cells = self._columns[place][:end] if self._wants_many else tuple(row[place] for row in self._above[:end])
        known = self._headers.get(cells)
        if known is None:
            try:
                known = parse_header(cells, note=_refuse)
            except FormatError:
                raise UnusualError from None
            check_usual(known[0].part is None and known[1] == len(cells))
            self._headers[cells] = known
        return known[0]

    def scan(self) -> dict[str, ArrayInfo]:
        """Return the infos of all arrays.

        Raises:
            UnusualError: one of them is broken, or a quote below may never be closed.
        """
        self.search_body()
        infos = {}
        self._wants_many = True
        for name, place in self._places.items():
            header = self._header(place)
            data = self._find_data_cells(place)
            infos[name] = ArrayInfo.from_header(header, cell_address(1, place), self._ends[place], data=data)
        quotes = _count(self._content, b'"', self._body)
        textual = any(self._header(place).dtype.kind in ("string", "generic") for place in range(self._count))
        check_usual(quotes % 2 == 0 if textual else quotes == 0)
        return infos

    def _find_data_cells(self, place: int) -> tuple[DataCells, ...]:
        """Return the ranges of a column's data cells; none for complex numbers that may take two cells each."""
        end, header = self._ends[place], self._header(place)
        if header.dtype.kind == "complex" and header.capacity:
            line = bytes(self._content[self._body : self._content.find(b"\n", self._body)])
            cells = (
                line.decode("utf-8", "replace").split(self._mark.decode())
                if self._count > 1
                else [line.decode("utf-8", "replace")]
            )
            first = self._above[end] if end < len(self._above) else [] if b'"' in line else cells
            if place >= len(first) or not first[place].strip().endswith(("i", "j")):
                return ()
        return (DataCells(None, end + 1, place, "columns"),)

    # The data ------------------------------------------------------------------------------------------------

    def read(self, names: Sequence[str] | None, missing: Missing) -> dict[str, Array]:
        """Return arrays by name; of all names where names is None.

        Raises:
            UnusualError: no such array, a broken header, or a cell that is wrong.
        """
        check_missing(missing)
        if names is None:
            places = self._places
        else:
            check_usual(all(name in self._places for name in names))
            places = {name: self._places[name] for name in names}
        self._wants_many = len(places) * _FEW_OF > self._count
        headers = {place: self._header(place) for place in places.values()}
        self._search_unless_decoded(headers)
        kinds: dict[str, list[int]] = {}
        for place, header in headers.items():
            kinds.setdefault(header.dtype.name, []).append(place)
        buffers: dict[int, Array] = {}
        bodies = self._bodies(headers)
        if bodies is None:
            buffers = self._parse(headers, missing)
        else:
            for kind, some in kinds.items():
                for together in [[place] for place in some] if kind == "string" else [some]:  # each has its own width
                    buffers |= self._decode({place: bodies[place] for place in together}, headers, missing)
        return {name: view_of(headers[place], buffers[place]) for name, place in places.items()}

    def _bodies(self, headers: dict[int, Header]) -> Sequence[Sequence[str]] | None:
        """Return the cells below the zone, of each column that is wanted; None where they are many.

        Args:
            headers: of those columns. There are as many rows as the longest of them says, the zone's among them.
        """
        capacity = max((header.capacity for header in headers.values()), default=0)
        size, rows_at_least = len(self._content) - self._body, capacity - len(self._above)
        if size > _BODY_IN_MEMORY or rows_at_least > _MOST_ROWS or rows_at_least * self._count > _MOST_CELLS:
            return None
        raw = self._content[self._body :]
        count = raw.count(b"\n") + 1
        if count > _MOST_ROWS or count * self._count > _MOST_CELLS:
            return None
        check_usual(b'"' not in raw)
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise UnusualError from None
        lines = text.split("\n")
        if "\r" in text:
            check_usual(lines[-1][-1:] != "\r")  # which no line feed follows
            lines = [line.removesuffix("\r") for line in lines]
            check_usual(not any("\r" in line for line in lines))
        if not lines[-1]:
            lines.pop()
        if self._count == 1:
            return [lines]
        mark = self._mark.decode()
        if not self._wants_many:
            check_usual(all(line.count(mark) == self._count - 1 for line in lines))
            return _Picked(lines, mark, self._count, headers)
        rows = [line.split(mark) for line in lines]
        check_usual(all(len(row) == self._count for row in rows))
        return list(zip(*rows, strict=True)) if rows else [()] * self._count

    def _decode(
        self, columns: dict[int, Sequence[str]], headers: dict[int, Header], missing: Missing
    ) -> dict[int, Array]:
        """Return the buffers of columns of one dtype, all of their cells decoded at once."""
        dtype = next(headers[place].dtype for place in columns)
        cells: list[str] = []
        for place, body in columns.items():
            capacity = headers[place].capacity
            above = [row[place] for row in self._above[self._ends[place] :]]
            column = [*above, *body] if above else body
            check_usual(len(column) >= capacity)
            if len(column) > capacity:
                check_usual(not "".join(column[capacity:]).strip())
                column = column[:capacity]
            cells += column
        if dtype.kind in ("float", "complex") and self._mark != b",":
            check_usual("," not in "".join(cells))
        buffer, problems = buffer_from_texts(cells, dtype, self._look, missing=missing)
        check_usual(not problems)
        if len(columns) == 1:
            return dict.fromkeys(columns, buffer)
        buffers, start = {}, 0
        for place in columns:
            end = start + headers[place].capacity
            buffers[place] = buffer[start:end].copy()
            start = end
        return buffers

    def _parse(self, headers: dict[int, Header], missing: Missing) -> dict[int, Array]:
        """Return the buffers of columns, by the engine."""
        path = self._source.path
        text, lines = (bytes(self._content[self._body :]), 0) if path is None else (path, self._lines)
        bodies = self._parse_cells(self._content, self._body, text, lines, headers)
        buffers = {place: self._from_engine(place, headers[place], bodies[place], missing) for place in headers}
        self._check_infinities(self._content, self._body, headers)
        return buffers

    def _parse_cells(
        self, content: BytesLike, start: int, text: Any, lines: int, wanted: Iterable[int]
    ) -> ParsedColumns:
        """Return columns of rows, parsed by the engine; rows that are not all numbers have no quotes.

        Args:
            content: bytes to which the rows belong.
            start: where in them they begin; they go on to the end.
            text: the same for the engine, or the file.
            lines: how many the engine is to skip.
            wanted: the columns.

        Raises:
            UnusualError: the rows are to be read cell by cell.
        """
        from concurrent.futures import ThreadPoolExecutor

        check_usual(content[start : start + len(codecs.BOM_UTF8)] != codecs.BOM_UTF8)  # the engine drops it
        dtypes = {place: engine_dtype(self._header(place).dtype) for place in range(self._count)}
        options: dict[str, Any] = {"delimiter": self._mark.decode() or _UNUSED, "skip_lines": lines, "wanted": wanted}
        numbers = parse_numbers(text, dtypes, **options) if self._count == 1 else None
        if numbers is not None:  # in a single column of numbers the engine takes no lone return, but for the last byte
            check_usual(content[-1:] != b"\r")
            return numbers
        with ThreadPoolExecutor(1) as pool:  # the engine leaves some time of the cores for a look at the line ends
            lone = pool.submit(has_lone_returns, np.frombuffer(content, np.uint8), start)
            bodies = self._parse_lines(content, start, text, dtypes, options)
            check_usual(not lone.result())
        return bodies

    def _parse_lines(
        self, content: BytesLike, start: int, text: Any, dtypes: dict[int, Any], options: dict[str, Any]
    ) -> ParsedColumns:
        """Return columns of rows whose line ends are those that the engine knows; as `_parse_cells`."""
        import polars as pl

        bodies = parse_numbers(text, dtypes, **options) if self._count > 1 else None
        if bodies is None:
            check_usual(content.find(b'"', start) < 0)
            if any(dtype == pl.String for dtype in dtypes.values()) or pl.Boolean in dtypes.values():
                bodies = parse_unquoted(text, dtypes, **options)
            bodies = bodies or parse_unquoted(text, dict.fromkeys(dtypes, pl.String), **options)
        if bodies is None:
            raise UnusualError
        return bodies

    def _check_infinities(self, content: BytesLike, start: int, columns: Collection[int]) -> None:
        """Refuse rows in which the engine has read an infinity that is not the word: it reads 1e999 as one as well.

        Args:
            content: bytes to which the rows belong.
            start: where in them they begin; they go on to the end.
            columns: those whose floats have been looked at; the word may stand in any.
        """
        infinite, self._infinite = self._infinite, 0
        if infinite:
            check_usual(len(columns) == self._count and infinite == _count(content, _OF_INFINITY, start))

    def _note_infinities(self, count: int) -> None:
        self._infinite += count

    def _from_engine(self, place: int, header: Header, body: pl.Series, missing: Missing) -> Array:
        """Return the buffer of a column that the engine has parsed."""
        above = [row[place] for row in self._above[self._ends[place] :]]
        count = header.capacity - len(above)
        check_usual(0 <= count <= len(body))
        if count < len(body):
            check_usual(body[count:].null_count() == len(body) - count)
            body = body[:count]
        buffer = self._decode_body(body, header.dtype, missing)
        if not above:
            return buffer
        head, problems = buffer_from_texts(above, header.dtype, self._look, missing=missing)
        check_usual(not problems and (self._mark == b"," or header.dtype.kind == "string" or "," not in "".join(above)))
        return np.concatenate([head, buffer])

    def _decode_body(self, body: pl.Series, dtype: DType, missing: Missing) -> Buffer:
        """Return the elements in a column of the body: parsed already, or still text."""
        if str(body.dtype) != "String":
            parsed = buffer_from_typed(body, dtype, missing=missing, note_infinities=self._note_infinities)
            if parsed is None:
                raise UnusualError
            return parsed
        if len(body) > _SAMPLED:  # millions of wrong cells, or of decimal commas, are not read one by one for nothing
            check_usual(not buffer_from_text(body[:_SAMPLED], dtype, self._look, missing=missing)[1])
        buffer, problems = buffer_from_text(body, dtype, self._look, missing=missing)
        check_usual(not problems)
        return buffer


class _Picked(Sequence[Sequence[str]]):
    """A few columns of lines, which are split from the nearer side, and no further than to the farthest of them.

    Args:
        lines: all of as many cells.
        mark: between them.
        count: of the cells in each.
        places: of the columns.
    """

    def __init__(self, lines: list[str], mark: str, count: int, places: Iterable[int]) -> None:
        first, last = min(places, default=0), max(places, default=0)
        self._count = count
        if last < count - first:
            self._rows, self._shift = [line.split(mark, last + 1) for line in lines], 0
        else:
            self._rows, self._shift = [line.rsplit(mark, count - first) for line in lines], first - 1

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        return [row[place - self._shift] for row in self._rows]


def _count(content: BytesLike, unit: bytes, start: int) -> int:
    """Return the number of times that a byte occurs from a place on; pages that were read leave the memory."""
    units, count = np.frombuffer(content, np.uint8), 0
    marks = np.empty(_COUNTED_AT_ONCE, np.bool_)
    for first in range(start, len(units), _COUNTED):
        end = min(first + _COUNTED, len(units))
        for place in range(first, end, _COUNTED_AT_ONCE):
            some = units[place : min(place + _COUNTED_AT_ONCE, end)]
            count += int(np.count_nonzero(np.equal(some, unit[0], out=marks[: len(some)])))
        release_pages(content, first, end)
    return count


def _refuse(_: Finding) -> None:
    raise UnusualError


def check_usual(holds: object) -> None:
    """Go on only where the text is as it is written."""
    if not holds:
        raise UnusualError
