"""An array of a text that stands as it was written, piece by piece: memory does not grow with the text."""

from __future__ import annotations

import io
from collections.abc import Iterator

from ...cells import buffer_from_texts
from ...dtypes import Buffer
from ...errors import locating
from ...files import Readable, Source, release_pages
from ...header import Header
from .reading import read_csv
from .written import UnusualError, WrittenText, check_usual, find_text

_PIECE = 2**22  # bytes of text that are parsed at once


def iter_elements_csv(source: Readable, name: str) -> Iterator[Buffer]:
    """Yield the elements of an array's buffer, some at a time, in their order.

    A text that people have changed, or with quotes below its headers, is read whole.

    Args:
        source: a path, or an open file.
        name: the array's.

    Raises:
        FormatError: as `read_csv`, when the first cell that is wrong is reached.
        NotFoundError: no such array.

    Example:
        >>> import numpy as np
        >>> from .writing import write_csv
        >>> file = io.BytesIO()
        >>> write_csv(file, {"t": np.arange(3)})
        >>> [elements.tolist() for elements in iter_elements_csv(io.BytesIO(file.getvalue()), "t")]
        [[0, 1, 2]]
    """
    done = 0
    with Source(source) as opened, locating(source=opened.name):
        written = find_text(TextInPieces, opened, None, "escape")
        if written is not None:
            try:
                for elements in written.elements(name):
                    yield elements
                    done += len(elements)
                return
            except UnusualError:
                pass
        array = read_csv(opened.path or io.BytesIO(bytes(opened.whole())), [name])[name]
    yield array.ravel()[done:]


class TextInPieces(WrittenText):
    """Such a text; what has been parsed leaves the memory."""

    def elements(self, name: str) -> Iterator[Buffer]:
        """Yield the elements of an array's buffer, a piece of the text at a time.

        Raises:
            UnusualError: no such array, a broken header, or a piece that is to be read cell by cell.
        """
        check_usual(name in self._places)
        place = self._places[name]
        self._wants_many = False
        header = self._header(place)
        above = [row[place] for row in self._above[self._ends[place] :]]
        check_usual(len(above) <= header.capacity)
        if above:
            head, problems = buffer_from_texts(above, header.dtype, self._look)
            check_usual(not problems and (self._mark == b"," or "," not in "".join(above)))
            yield head
        left = header.capacity - len(above)
        for buffer in self._body_in_pieces(place, header, left):
            yield buffer
            left -= len(buffer)
        check_usual(left == 0)

    def _body_in_pieces(self, place: int, header: Header, left: int) -> Iterator[Buffer]:
        """Yield the elements below the zone of headers; all other cells of the column are blank."""
        start = self._body
        while start < len(self._content):
            end = self._content.find(b"\n", start + _PIECE) + 1 or len(self._content)
            text = bytes(self._content[start:end])
            body = self._parse_cells(text, 0, text, 0, [place])[place]
            count = min(left, len(body))
            check_usual(body[count:].null_count() == len(body) - count)
            if count:
                yield self._decode_body(body[:count], header.dtype, "error")
            left -= count
            release_pages(self._content, start, end)
            start = end
