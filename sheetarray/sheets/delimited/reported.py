"""A large text that stands as it was written: checked piece by piece, and so read where somebody asks how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...cells import buffer_from_texts
from ...dtypes import Array, Buffer
from ...elements import Missing, check_missing
from ...files import BytesLike, release_pages
from ...header import Header
from ...resizing import contiguous_strides
from .blocks import Blocks, UnsoundError
from .bulk import ParsedColumns, parse_texts
from .written import UnusualError, WrittenText, check_usual

if TYPE_CHECKING:
    import polars as pl

PIECE = 2**24  # bytes of text that are parsed at once
_OF_ONE_SIZE = frozenset({"float", "int", "complex", "bool", "datetime", "timedelta"})


class ReportingText(WrittenText):
    """Such a text; it says after each piece how far it is.

    Attributes:
        report: is called with the share of the text that has been read; None for nobody.
    """

    report: Callable[[float], None] | None = None

    def _parse(self, headers: dict[int, Header], missing: Missing) -> dict[int, Array]:
        import polars as pl

        size = len(self._content) - self._body
        if self.report is None or size <= PIECE:
            return super()._parse(headers, missing)
        # each cell takes a byte at least, so that what headers claim takes no memory that is not needed
        check_usual(sum(header.capacity for header in headers.values()) <= size + len(self._content))
        texts = {place: list[pl.Series]() for place in headers if headers[place].dtype.kind not in _OF_ONE_SIZE}
        sized = {place: header for place, header in headers.items() if place not in texts}
        buffers = {place: np.empty(header.capacity, header.dtype.numpy) for place, header in sized.items()}
        filled = {place: self._fill_above(place, header, buffers[place], missing) for place, header in sized.items()}
        above = {place: len(self._above[self._ends[place] :]) for place in texts}
        for place, elements in self._pieces(headers, filled | above, missing, texts=texts):
            buffers[place][filled[place] : filled[place] + len(elements)] = elements
            filled[place] += len(elements)
        for place, bodies in texts.items():  # the width of a text is that of the longest of all
            body = pl.concat(bodies) if bodies else pl.Series(dtype=pl.String)
            buffers[place] = self._from_engine(place, headers[place], body, missing)
        return {place: buffers[place] for place in headers}

    def _pieces(
        self,
        headers: dict[int, Header],
        filled: dict[int, int],
        missing: Missing,
        *,
        size: int | None = None,
        texts: Mapping[int, list[pl.Series]] | None = None,
    ) -> Iterator[tuple[int, Buffer]]:
        """Yield columns and their next elements; all other cells of them are blank.

        Args:
            headers: of the columns.
            filled: how many elements of each stand above the body.
            missing: as for `read_csv`.
            size: of a piece, in bytes; None for the usual.
            texts: where the cells of some columns go instead, before they are elements; by column.
        """
        start, whole, size = self._body, len(self._content) - self._body, PIECE if size is None else size
        while start < len(self._content):
            end = self._end_of_piece(start, size)
            text = bytes(self._content[start:end])
            decoded: list[tuple[int, Buffer]] = []
            for place, body in self._parse_cells(text, 0, text, 0, headers).items():
                count = min(headers[place].capacity - filled[place], len(body))
                check_usual(body[count:].null_count() == len(body) - count)
                if count and place in (texts or {}):
                    (texts or {})[place].append(body[:count])
                elif count:
                    decoded.append((place, self._decode_body(body[:count], headers[place].dtype, missing)))
                filled[place] += count
            self._check_infinities(text, 0, headers)
            yield from decoded
            release_pages(self._content, start, end)
            start = end
            if self.report is not None:
                self.report((start - self._body) / whole)
        check_usual(all(filled[place] == header.capacity for place, header in headers.items()))

    def _end_of_piece(self, start: int, size: int) -> int:
        """Return the end of the row in which a piece of some size ends.

        Raises:
            UnusualError: readers would differ on where rows end.
        """
        end = start + size
        while True:
            end = self._content.find(b"\n", end) + 1 or len(self._content)
            if self._content.find(b'"', start, end) < 0:
                return end
            blocks = Blocks(np.frombuffer(self._content, np.uint8)[start:end], 0, self._mark.decode())
            try:
                last = blocks.block(blocks.count)
            except UnsoundError:
                raise UnusualError from None
            if not last.quoted:
                return end
            if last.start:
                return start + last.start
            check_usual(end < len(self._content))  # a quote that is never closed
            end += size

    def _parse_lines(
        self, content: BytesLike, start: int, text: Any, dtypes: dict[int, Any], options: dict[str, Any]
    ) -> ParsedColumns:
        """Return columns of rows; those of a piece may have quotes, whose places `_end_of_piece` has looked at."""
        if not isinstance(text, bytes) or content is not text or b'"' not in text:
            return super()._parse_lines(content, start, text, dtypes, options)
        columns = parse_texts(text, self._count, delimiter=options["delimiter"])
        if columns is None:
            raise UnusualError
        return {place: columns[place] for place in options["wanted"]}

    def verify(self, missing: Missing) -> None:
        """Read all arrays, and keep none of a large text.

        Raises:
            UnusualError: a broken header, or a cell that is wrong.
        """
        if len(self._content) - self._body <= PIECE:
            self.read(None, missing)
            return
        check_missing(missing)
        headers = {place: self._header(place) for place in self._places.values()}
        self._search_unless_decoded(headers, quotes=True)
        if any(header.strides != contiguous_strides(header.shape, header.order) for header in headers.values()):
            self.read(None, missing)  # which knows whether there is such a view
            return
        filled = {place: len(self._elements_above(place, header, missing)) for place, header in headers.items()}
        for _ in self._pieces(headers, filled, missing):
            pass

    def _fill_above(self, place: int, header: Header, buffer: Array, missing: Missing) -> int:
        """Put the elements beside longer headers into a buffer; return how many they are."""
        elements = self._elements_above(place, header, missing)
        buffer[: len(elements)] = elements
        return len(elements)

    def _elements_above(self, place: int, header: Header, missing: Missing) -> Buffer:
        """Return the elements beside longer headers."""
        above = [row[place] for row in self._above[self._ends[place] :]]
        check_usual(len(above) <= header.capacity)
        elements, problems = buffer_from_texts(above, header.dtype, self._look, missing=missing)
        check_usual(not problems and (self._mark == b"," or header.dtype.kind == "string" or "," not in "".join(above)))
        return elements
