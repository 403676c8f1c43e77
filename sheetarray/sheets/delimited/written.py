"""A text that stands as `write_csv` writes it: one array a column from the first cell on, and no quotes.

If nothing else is in the text, its arrays need no search, and thousands of columns are read as fast as one. Any
difference (quotes, words of headers elsewhere, a cell that its dtype cannot mean) raises `UnusualError`: then
`CsvSheet` reads the text, which knows all cases and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ...cells import FormulaMode, TextLook, buffer_from_texts
from ...columns import ArrayInfo
from ...columns.words import LONGEST_WORD
from ...dtypes import Array
from ...elements import Missing, check_missing
from ...elements.scalars import DecimalMark
from ...files import BytesLike, Source, release_pages
from ...header import Header
from ...linear import view_of
from .encodings import find_encoding
from .search import find_words, may_be_cells
from .written_body import WrittenBody, count_byte
from .written_zone import UnusualError, WrittenZone, check_usual

Text = TypeVar("Text", bound="WrittenText")

_MOST_ROWS, _MOST_CELLS = 2000, 2**20  # of a body that is split in plain Python; for a larger one the engine is faster
_FEW_OF = 8  # if fewer than one in so many columns is wanted, only these are cut out of the lines
_SEARCHED = 2**24  # bytes that are searched at once
_BODY_IN_MEMORY = 2**24  # bytes; a larger body is given to the engine as a file, if it is one


def find_written(
    kind: type[Text],
    source: Source,
    delimiter: str | None,
    decimal: DecimalMark | None,
    encoding: str | None,
    formulas: FormulaMode,
) -> Text | None:
    """Return the text of a source as an object of the class `kind`; None unless it stands as `write_csv` writes it.

    All arguments but the first are those of `read_csv`.
    """
    if encoding is not None or decimal not in (None, ".") or formulas not in ("escape", "keep"):
        return None
    return find_text(kind, source, delimiter, formulas)


def find_text(kind: type[Text], source: Source, delimiter: str | None, formulas: FormulaMode) -> Text | None:
    """Return the text of a source as an object of the class `kind`; None unless it stands as `write_csv` writes it."""
    head = source.prefix(4096)
    name, start = find_encoding(head)
    if name != "utf-8":
        return None
    if head.find(b"version", start) < 0 and head.find(b"\n", start) >= 0:
        return None
    try:
        return kind(source.path, source.whole(), start, delimiter, formulas)
    except UnusualError:
        return None


class WrittenText:
    """The arrays of a text that stands as `write_csv` writes it.

    `path`: of the file that holds the text and nothing else; None for any other text. `start`: where it begins, after
    a byte order mark. `delimiter`: between cells; None finds it.

    Raises:
        UnusualError: it is no such text.
    """

    def __init__(
        self, path: Path | None, content: BytesLike, start: int, delimiter: str | None, formulas: FormulaMode
    ) -> None:
        self._path, self._content, self._look = path, content, TextLook(formulas=formulas)
        self._zone = WrittenZone(content, start, delimiter, formulas)
        self._body = WrittenBody(self._zone, self._look)
        self._is_searched = False

    @property
    def size(self) -> int:
        """The number of bytes of the text."""
        return len(self._content)

    def search_body(self, *, quotes: bool = False) -> None:
        """Refuse a body in which more arrays may begin; pages that have been searched leave memory.

        `quotes`: as for `may_be_cells`: whether all quotes in the body are known to be sound.

        Raises:
            UnusualError: a cell may be a word of a header.
        """
        if self._is_searched:
            return
        units = np.frombuffer(self._content, np.uint8)
        for first in range(self._zone.end, len(units), _SEARCHED):
            end = min(first + _SEARCHED, len(units))
            for positions, codes in find_words(units[: end + LONGEST_WORD], first):
                check_usual(not may_be_cells(units, positions, codes, quotes=quotes))
            release_pages(self._content, first, end)
        self._is_searched = True

    def _search_unless_decoded(self, headers: dict[int, Header], *, quotes: bool = False) -> None:
        """Refuse a body in which more arrays may begin; it need not be searched if all of its cells will be decoded as
        numbers, dates or booleans, which no word of headers is.
        """
        kinds = {header.dtype.kind for header in headers.values()}
        if len(headers) < self._zone.width or kinds & {"string", "generic"}:
            self.search_body(quotes=quotes)

    def scan(self) -> dict[str, ArrayInfo]:
        """Return the infos of all arrays.

        Raises:
            UnusualError: one of them is broken, or a quote below may never be closed.
        """
        self.search_body()
        zone = self._zone
        zone.wants_many = True
        infos = {name: zone.describe(name) for name in zone.columns}
        quotes = count_byte(self._content, b'"', zone.end)
        textual = any(zone.header(column).dtype.kind in ("string", "generic") for column in range(zone.width))
        check_usual(quotes % 2 == 0 if textual else quotes == 0)
        return infos

    def read(self, names: Sequence[str] | None, missing: Missing) -> dict[str, Array]:
        """Return arrays by name; all of them if names is None.

        Raises:
            UnusualError: no such array, a broken header, or a cell that is wrong.
        """
        check_missing(missing)
        zone = self._zone
        if names is None:
            columns = zone.columns
        else:
            check_usual(all(name in zone.columns for name in names))
            columns = {name: zone.columns[name] for name in names}
        zone.wants_many = len(columns) * _FEW_OF > zone.width
        headers = {column: zone.header(column) for column in columns.values()}
        self._search_unless_decoded(headers)
        bodies = self._split_body(headers)
        buffers = self._parse(headers, missing) if bodies is None else self._decode_texts(bodies, headers, missing)
        return {name: view_of(headers[column], buffers[column]) for name, column in columns.items()}

    # A large body, by the engine -----------------------------------------------------------------------------

    def _parse(self, headers: dict[int, Header], missing: Missing) -> dict[int, Array]:
        """Return the buffers of columns, by the engine."""
        path, start = self._path, self._zone.end
        text, lines = (bytes(self._content[start:]), 0) if path is None else (path, self._zone.lines)
        cells = self._body.parse(self._content, start, text, lines, headers)
        buffers = {column: self._body.decode_column(column, cells[column], missing) for column in headers}
        self._body.check_infinities(self._content, start, headers)
        return buffers

    # A small body, in plain Python ---------------------------------------------------------------------------

    def _split_body(self, headers: dict[int, Header]) -> Sequence[Sequence[str]] | None:
        """Return the cells below the zone, for each column that is wanted; None if there are many.

        `headers`: of these columns. The longest array among them says how many rows there are, with those of the zone.
        """
        zone = self._zone
        capacity = max((header.capacity for header in headers.values()), default=0)
        size, rows_at_least = len(self._content) - zone.end, capacity - zone.height
        if size > _BODY_IN_MEMORY or rows_at_least > _MOST_ROWS or rows_at_least * zone.width > _MOST_CELLS:
            return None
        raw = self._content[zone.end :]
        count = raw.count(b"\n") + 1
        if count > _MOST_ROWS or count * zone.width > _MOST_CELLS:
            return None
        check_usual(b'"' not in raw)
        lines = _split_lines(raw)
        if zone.width == 1:
            return [lines]
        mark = zone.mark.decode()
        if not zone.wants_many:
            check_usual(all(line.count(mark) == zone.width - 1 for line in lines))
            return _SomeColumns(lines, mark, zone.width, headers)
        rows = [line.split(mark) for line in lines]
        check_usual(all(len(row) == zone.width for row in rows))
        return list(zip(*rows, strict=True)) if rows else [()] * zone.width

    def _decode_texts(
        self, bodies: Sequence[Sequence[str]], headers: dict[int, Header], missing: Missing
    ) -> dict[int, Array]:
        """Return the buffers of columns, those of one dtype decoded at once."""
        dtypes: dict[str, list[int]] = {}
        for column, header in headers.items():
            dtypes.setdefault(header.dtype.name, []).append(column)
        buffers: dict[int, Array] = {}
        for dtype, some in dtypes.items():
            for together in [[column] for column in some] if dtype == "string" else [some]:  # each has its own width
                cells = {column: bodies[column] for column in together}
                buffers |= self._decode_alike(cells, headers, missing)
        return buffers

    def _decode_alike(
        self, bodies: dict[int, Sequence[str]], headers: dict[int, Header], missing: Missing
    ) -> dict[int, Array]:
        """Return the buffers of columns of one dtype, all of their cells decoded at once."""
        dtype = next(headers[column].dtype for column in bodies)
        cells: list[str] = []
        for column, body in bodies.items():
            capacity = headers[column].capacity
            beside = self._zone.cells_below(column)
            whole = [*beside, *body] if beside else body
            check_usual(len(whole) >= capacity)
            if len(whole) > capacity:
                check_usual(not "".join(whole[capacity:]).strip())
                whole = whole[:capacity]
            cells += whole
        if dtype.kind in ("float", "complex") and self._zone.mark != b",":
            check_usual("," not in "".join(cells))
        buffer, problems = buffer_from_texts(cells, dtype, self._look, missing=missing)
        check_usual(not problems)
        if len(bodies) == 1:
            return dict.fromkeys(bodies, buffer)
        buffers, start = {}, 0
        for column in bodies:
            end = start + headers[column].capacity
            buffers[column] = buffer[start:end].copy()
            start = end
        return buffers


def _split_lines(raw: bytes) -> list[str]:
    """Return the lines of some rows without quotes."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise UnusualError from None
    lines = text.split("\n")
    if "\r" in text:
        check_usual(lines[-1][-1:] != "\r")  # no line feed follows it
        lines = [line.removesuffix("\r") for line in lines]
        check_usual(not any("\r" in line for line in lines))
    if not lines[-1]:
        lines.pop()
    return lines


class _SomeColumns(Sequence[Sequence[str]]):
    """A few columns of some lines. Lines are split from the side that is nearer, no further than to the last column.

    `lines`: all with the same number of cells. `count`: the number of cells in each line.
    """

    def __init__(self, lines: list[str], mark: str, count: int, columns: Iterable[int]) -> None:
        first, last = min(columns, default=0), max(columns, default=0)
        self._count = count
        if last < count - first:
            self._rows, self._shift = [line.split(mark, last + 1) for line in lines], 0
        else:
            self._rows, self._shift = [line.rsplit(mark, count - first) for line in lines], first - 1

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, column: Any) -> Any:
        return [row[column - self._shift] for row in self._rows]
