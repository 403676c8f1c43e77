"""The rows below the headers of a text as `write_csv` writes it: parsed by the engine, and decoded column by column."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...cells import TextLook, buffer_from_text, buffer_from_texts, buffer_from_typed, engine_dtype
from ...dtypes import Array, Buffer, DType
from ...elements import Missing
from ...elements.scalars import INFINITY
from ...files import BytesLike, release_pages
from .bulk import ParsedColumns, has_lone_returns, parse_numbers, parse_unquoted
from .records import Records
from .written_zone import UNUSED, UnusualError, WrittenZone, check_usual

if TYPE_CHECKING:
    import polars as pl

_OF_INFINITY = INFINITY.encode()[-1:]  # the letter y: of all that the engine takes for numbers only Infinity has it
_COUNTED = 2**22  # bytes that are counted before their pages leave memory
_COUNTED_AT_ONCE = 2**16  # bytes that are counted at once: they stay in the processor's cache
_SAMPLED = 1000  # cells that are decoded first, of a column that the engine could only take for text


class WrittenBody:
    """The columns below the headers of a text."""

    def __init__(self, zone: WrittenZone, look: TextLook) -> None:
        self._zone, self._look = zone, look
        self._infinite = 0  # floats that the engine has read as infinite since the last `check_infinities`

    def parse(
        self, content: BytesLike, start: int, text: Any, lines: int, wanted: Iterable[int], *, quotes: bool = False
    ) -> ParsedColumns:
        """Return columns of rows, parsed by the engine; rows that are not all numbers have no quotes.

        `content`: bytes that end with the rows. `start`: the position in them at which the rows begin. `text`: the
        same text for the engine, or its file. `lines`: the number of lines that the engine is to skip. `quotes`:
        whether there may be quotes; they are known to be sound then.

        Raises:
            UnusualError: the rows are to be read cell by cell.
        """
        from concurrent.futures import ThreadPoolExecutor

        zone = self._zone
        check_usual(content[start : start + len(codecs.BOM_UTF8)] != codecs.BOM_UTF8)  # the engine drops it
        dtypes = {column: engine_dtype(zone.header(column).dtype) for column in range(zone.width)}
        options: dict[str, Any] = {"delimiter": zone.mark.decode() or UNUSED, "skip_lines": lines, "wanted": wanted}
        numbers = parse_numbers(text, dtypes, **options) if zone.width == 1 else None
        if numbers is not None:  # in a column of numbers the engine refuses lone returns, except as the last byte
            check_usual(content[-1:] != b"\r")
            return numbers
        with ThreadPoolExecutor(1) as pool:  # the engine leaves some time of the cores for a look at the line ends
            lone = pool.submit(has_lone_returns, np.frombuffer(content, np.uint8), start)
            is_quoted = quotes and content.find(b'"', start) >= 0
            columns = (
                self._parse_quoted(text, wanted) if is_quoted else self._parse(content, start, text, dtypes, options)
            )
            check_usual(is_quoted or not lone.result())
        return columns

    def _parse(
        self, content: BytesLike, start: int, text: Any, dtypes: dict[int, Any], options: dict[str, Any]
    ) -> ParsedColumns:
        """Return columns of rows whose line ends are those that the engine knows."""
        import polars as pl

        columns = parse_numbers(text, dtypes, **options) if self._zone.width > 1 else None
        if columns is None:
            check_usual(content.find(b'"', start) < 0)
            if any(dtype == pl.String for dtype in dtypes.values()) or pl.Boolean in dtypes.values():
                columns = parse_unquoted(text, dtypes, **options)
            columns = columns or parse_unquoted(text, dict.fromkeys(dtypes, pl.String), **options)
        if columns is None:
            raise UnusualError
        return columns

    def _parse_quoted(self, text: bytes, wanted: Iterable[int]) -> ParsedColumns:
        """Return columns of rows with quotes, as text."""
        columns = Records(text, 0, self._zone.mark.decode()).read_texts(self._zone.width)
        if columns is None:
            raise UnusualError
        return {column: columns[column] for column in wanted}

    def decode(self, cells: pl.Series, dtype: DType, missing: Missing) -> Buffer:
        """Return the elements in a column of the body: parsed already, or still text.

        Raises:
            UnusualError: a cell is wrong.
        """
        if str(cells.dtype) != "String":
            elements = buffer_from_typed(cells, dtype, missing=missing, note_infinities=self._note_infinities)
            if elements is None:
                raise UnusualError
            return elements
        if len(cells) > _SAMPLED:  # millions of wrong cells, or of decimal commas, are not read one by one for nothing
            check_usual(not buffer_from_text(cells[:_SAMPLED], dtype, self._look, missing=missing)[1])
        elements, problems = buffer_from_text(cells, dtype, self._look, missing=missing)
        check_usual(not problems)
        return elements

    def decode_beside(self, column: int, missing: Missing) -> Buffer:
        """Return the elements of a column that stand beside longer headers, above the body.

        Raises:
            UnusualError: a cell is wrong, or there are more cells than elements.
        """
        header, cells = self._zone.header(column), self._zone.cells_below(column)
        check_usual(len(cells) <= header.capacity)
        if not cells:
            return np.zeros(0, header.dtype.numpy)
        elements, problems = buffer_from_texts(cells, header.dtype, self._look, missing=missing)
        is_text = header.dtype.kind == "string"
        check_usual(not problems and (self._zone.mark == b"," or is_text or "," not in "".join(cells)))
        return elements

    def decode_column(self, column: int, cells: pl.Series, missing: Missing) -> Array:
        """Return the whole buffer of a column, of which the engine has parsed the cells in the body.

        Raises:
            UnusualError: a cell is wrong, or there are fewer cells than elements, or others below them.
        """
        header = self._zone.header(column)
        beside = self.decode_beside(column, missing)
        count = header.capacity - len(beside)
        check_usual(count <= len(cells))
        if count < len(cells):
            check_usual(cells[count:].null_count() == len(cells) - count)
            cells = cells[:count]
        elements = self.decode(cells, header.dtype, missing)
        return np.concatenate([beside, elements]) if len(beside) else elements

    def check_infinities(self, content: BytesLike, start: int, columns: Collection[int]) -> None:
        """Refuse rows in which the engine has read a numeral such as 1e999 as infinity, and not only the word.

        `content`: bytes that end with the rows. `start`: the position in them at which the rows begin. `columns`: the
        columns whose infinite floats have been counted; the word may also stand in others.
        """
        infinite, self._infinite = self._infinite, 0
        if infinite:
            check_usual(len(columns) == self._zone.width and infinite == count_byte(content, _OF_INFINITY, start))

    def _note_infinities(self, count: int) -> None:
        self._infinite += count


def count_byte(content: BytesLike, byte: bytes, start: int) -> int:
    """Return the number of times that a byte occurs from a position on; pages that were read leave memory."""
    units, count = np.frombuffer(content, np.uint8), 0
    marks = np.empty(_COUNTED_AT_ONCE, np.bool_)
    for first in range(start, len(units), _COUNTED):
        end = min(first + _COUNTED, len(units))
        for position in range(first, end, _COUNTED_AT_ONCE):
            some = units[position : min(position + _COUNTED_AT_ONCE, end)]
            count += int(np.count_nonzero(np.equal(some, byte[0], out=marks[: len(some)])))
        release_pages(content, first, end)
    return count
