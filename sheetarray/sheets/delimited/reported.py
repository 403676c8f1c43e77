"""A large text that stands as it was written: checked piece by piece, and so read where somebody asks how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...dtypes import Array, Buffer
from ...elements import Missing, check_missing
from ...files import release_pages
from ...header import Header
from ...resizing import contiguous_strides
from .blocks import Blocks, UnsoundError
from .written import WrittenText
from .written_zone import UnusualError, check_usual

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

        size = len(self._content) - self._zone.end
        if self.report is None or size <= PIECE:
            return super()._parse(headers, missing)
        # each cell takes a byte at least, so that what headers claim takes no memory that is not needed
        check_usual(sum(header.capacity for header in headers.values()) <= size + len(self._content))
        texts = {column: list[pl.Series]() for column in headers if headers[column].dtype.kind not in _OF_ONE_SIZE}
        sized = {column: header for column, header in headers.items() if column not in texts}
        buffers = {column: np.empty(header.capacity, header.dtype.numpy) for column, header in sized.items()}
        filled = {column: self._fill_beside(column, buffers[column], missing) for column in sized}
        beside = {column: len(self._zone.cells_below(column)) for column in texts}
        for column, elements in self._pieces(headers, filled | beside, missing, texts=texts):
            buffers[column][filled[column] : filled[column] + len(elements)] = elements
            filled[column] += len(elements)
        for column, pieces in texts.items():  # the width of a text is that of the longest of all
            cells = pl.concat(pieces) if pieces else pl.Series(dtype=pl.String)
            buffers[column] = self._body.decode_column(column, cells, missing)
        return {column: buffers[column] for column in headers}

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
            filled: how many elements of each stand above the body, beside longer headers.
            missing: as for `read_csv`.
            size: of a piece, in bytes; None for the usual.
            texts: where the cells of some columns go instead, before they are elements; by column.
        """
        start, size = self._zone.end, PIECE if size is None else size
        whole = len(self._content) - start
        while start < len(self._content):
            end = self._end_of_piece(start, size)
            text = bytes(self._content[start:end])
            decoded: list[tuple[int, Buffer]] = []
            for column, cells in self._body.parse(text, 0, text, 0, headers, quotes=True).items():
                count = min(headers[column].capacity - filled[column], len(cells))
                check_usual(cells[count:].null_count() == len(cells) - count)
                if count and column in (texts or {}):
                    (texts or {})[column].append(cells[:count])
                elif count:
                    decoded.append((column, self._body.decode(cells[:count], headers[column].dtype, missing)))
                filled[column] += count
            self._body.check_infinities(text, 0, headers)
            yield from decoded
            release_pages(self._content, start, end)
            start = end
            if self.report is not None:
                self.report((start - self._zone.end) / whole)
        check_usual(all(filled[column] == header.capacity for column, header in headers.items()))

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
            blocks = Blocks(np.frombuffer(self._content, np.uint8)[start:end], 0, self._zone.mark.decode())
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

    def verify(self, missing: Missing) -> None:
        """Read all arrays, and keep none of a large text.

        Raises:
            UnusualError: a broken header, or a cell that is wrong.
        """
        if len(self._content) - self._zone.end <= PIECE:
            self.read(None, missing)
            return
        check_missing(missing)
        headers = {column: self._zone.header(column) for column in self._zone.columns.values()}
        self._search_unless_decoded(headers, quotes=True)
        if any(header.strides != contiguous_strides(header.shape, header.order) for header in headers.values()):
            self.read(None, missing)  # which knows whether there is such a view
            return
        filled = {column: len(self._body.decode_beside(column, missing)) for column in headers}
        for _ in self._pieces(headers, filled, missing):
            pass

    def _fill_beside(self, column: int, buffer: Array, missing: Missing) -> int:
        """Put the elements beside longer headers into a buffer; return how many they are."""
        elements = self._body.decode_beside(column, missing)
        buffer[: len(elements)] = elements
        return len(elements)
