"""The lists of a JSON text whose items need not all be in memory: headers first, then items, piece by piece."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from ...columns import ArrayInfo
from ...columns.blocks.mapping import map_large
from ...columns.pieced_arrays import NotInPiecesError
from ...dtypes import Buffer
from ...elements import Missing, NamedMissing, is_blank
from ...errors import Finding
from ...files import Source
from ...linear.buffers import view_of
from ...linear.data_cells import decode_data
from ...linear.header import Header, NoteFinding
from ...linear.named import default_name, select
from ...linear.parsing import warn_of_finding
from .parsing import parse_text, text_to_utf8
from .text import cut_items, find_lists

_PIECE = 2**20  # bytes of text that are parsed at once
_MOST_BLANKS = 4096  # bytes of white space after the last list
_COMMA_AHEAD = re.compile(rb"[ \t\r\n]*+,")


class SoundLists:
    """The lists of a text that is JSON around their data cells.

    `note`: is called with each finding about a header.

    Attributes:
        has_mapped: whether elements were mapped from a file as they were read.

    Raises:
        FormatError: it is not, or a header is broken.
        NotInPiecesError: so much text follows the last list that it can only be wrong.
    """

    def __init__(self, source: Source, missing: Missing, note: NoteFinding = warn_of_finding) -> None:
        if isinstance(missing, NamedMissing):
            raise NotInPiecesError  # a warning counts the cells of each array
        self._text, self._missing = text_to_utf8(source.whole()), missing
        self._lists = find_lists(self._text, default_name(source.name), note=note)
        self.has_mapped = False
        start, pieces = 0, []
        for json_list in self._lists.values():
            pieces.append(bytes(self._text[start : json_list.at]))
            start = json_list.end
        if len(self._text) - start > _MOST_BLANKS:
            raise NotInPiecesError
        parse_text(b"".join([*pieces, bytes(self._text[start:])]))

    def scan(self) -> dict[str, ArrayInfo]:
        """Return the infos of the arrays."""
        return {name: json_list.info for name, json_list in self._lists.items()}

    def read(self, names: Sequence[str] | None) -> dict[str, Any]:
        """Return arrays by name; all of them for None.

        Raises:
            NotInPiecesError: cells are to be looked at one by one.
            NotFoundError: no such array.
        """
        headers = {name: json_list.header for name, json_list in select(self._lists, names).items()}
        mapped = map_large(headers, self._iterate_all)
        self.has_mapped |= bool(mapped)
        arrays = {}
        for name, header in headers.items():
            buffer = mapped[name] if name in mapped else self._join(name)
            arrays[name] = view_of(header, buffer)
        return arrays

    def _join(self, name: str) -> Buffer:
        pieces = list(self.iterate(name, len(self._text)))  # one: the width of text is that of all
        return np.concatenate(pieces or [np.zeros(0, self._lists[name].header.dtype.numpy)])

    def _iterate_all(self, names: Collection[str]) -> Iterator[tuple[str, Buffer]]:
        for name in names:
            yield from ((name, elements) for elements in self.iterate(name))

    def iterate(self, name: str, size: int | None = None) -> Iterator[Buffer]:
        """Yield the elements of an array, a piece of so many bytes of text at a time.

        Raises:
            NotInPiecesError: there is no such list, or cells are to be looked at one by one.
        """
        json_list = self._lists.get(name)
        if json_list is None or json_list.header.part is not None or json_list.start != len(json_list.spans):
            raise NotInPiecesError
        text, header, left = self._text, json_list.header, json_list.header.capacity
        comma = _COMMA_AHEAD.match(text, json_list.at, json_list.end)
        if comma is None and text[json_list.at : json_list.end].strip():
            raise NotInPiecesError
        for piece in cut_items(text, comma.end() if comma else json_list.end, json_list.end, size or _PIECE):
            cells = parse_text(b"[%b]" % piece)
            if not cells or (header.dtype.kind == "complex" and not all(isinstance(cell, str) for cell in cells)):
                raise NotInPiecesError
            count = min(left, len(cells))
            if not all(map(is_blank, cells[count:])):
                raise NotInPiecesError
            if count:
                part_header = Header(header.dtype, (count,), (1,), 0, "row-major", count)
                buffer, problems = decode_data(cells[:count], part_header, missing=self._missing)
                if problems:
                    raise NotInPiecesError
                yield buffer
            left -= count
        if left:
            raise NotInPiecesError


def refuse_finding(_: Finding) -> None:
    """Have the text parsed at once, which raises the error or finding."""
    raise NotInPiecesError
