"""A large text that stands as it was written, read piece by piece where somebody wants to know how far it is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...cells import buffer_from_texts
from ...dtypes import Array
from ...elements import Missing
from ...files import release_pages
from ...header import Header
from .written import WrittenText, check_usual

PIECE = 2**24  # bytes of text that are parsed at once
_NUMBERS = frozenset({"float", "int", "complex", "bool"})


class ReportingText(WrittenText):
    """Such a text; it says after each piece how far it is.

    Attributes:
        report: is called with the share of the text that has been read, if that is of numbers; None for nobody.
    """

    report: Callable[[float], None] | None = None

    def _parse(self, headers: dict[int, Header], missing: Missing) -> dict[int, Array]:
        size = len(self._content) - self._body
        numbers = all(header.dtype.kind in _NUMBERS for header in headers.values())
        if self.report is None or size <= PIECE or not numbers:
            return super()._parse(headers, missing)
        # each cell takes a byte at least, so that what headers claim takes no memory that is not needed
        check_usual(sum(header.capacity for header in headers.values()) <= size + len(self._content))
        buffers = {place: np.empty(header.capacity, header.dtype.numpy) for place, header in headers.items()}
        filled = {place: self._fill_above(place, header, buffers[place], missing) for place, header in headers.items()}
        start = self._body
        while start < len(self._content):
            end = self._content.find(b"\n", start + PIECE) + 1 or len(self._content)
            text = bytes(self._content[start:end])
            for place, body in self._parse_cells(text, 0, text, 0, headers).items():
                first = filled[place]
                count = min(headers[place].capacity - first, len(body))
                check_usual(body[count:].null_count() == len(body) - count)
                if count:
                    elements = self._decode_body(body[:count], headers[place].dtype, missing)
                    buffers[place][first : first + count] = elements
                filled[place] += count
            release_pages(self._content, start, end)
            start = end
            self.report((start - self._body) / size)
        check_usual(all(filled[place] == header.capacity for place, header in headers.items()))
        return buffers

    def _fill_above(self, place: int, header: Header, buffer: Array, missing: Missing) -> int:
        """Put the elements beside longer headers into a buffer; return how many they are."""
        above = [row[place] for row in self._above[self._ends[place] :]]
        check_usual(len(above) <= header.capacity)
        if above:
            head, problems = buffer_from_texts(above, header.dtype, self._look, missing=missing)
            check_usual(not problems and (self._mark == b"," or "," not in "".join(above)))
            buffer[: len(above)] = head
        return len(above)
