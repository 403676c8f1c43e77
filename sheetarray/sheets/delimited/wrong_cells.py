"""Finds the wrong cells in a piece of a text as `write_csv` writes it, and decodes all others."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...cells import TextLook, buffer_from_text
from ...columns.words import NONE, code_of
from ...dtypes import Buffer
from ...elements import Missing, Problem
from ...errors import FormatError
from ...files import BytesLike
from ...header import Header
from .dialect import DELIMITERS, find_decimal
from .records import Records, end_of_records
from .written_zone import WrittenZone, check_usual

Note = Callable[[int, Problem], None]
_TELLING = 2**20  # bytes in which the decimal mark is looked for
_SAMPLED = 1000  # cells of each column in these bytes that are looked at


@dataclass
class Piece:
    """A piece of a text.

    Attributes:
        counts: the number of elements of each column in it.
        elements: columns with their elements, for those that are asked for.
    """

    counts: dict[int, int] = field(default_factory=dict)
    elements: list[tuple[int, Buffer]] = field(default_factory=list)


class WrongCells:
    """The search for cells that their dtypes cannot mean.

    Args:
        content: the text.
        zone: its headers.
        look: of its cells.
    """

    def __init__(self, content: BytesLike, zone: WrittenZone, look: TextLook) -> None:
        self._content, self._zone, self._look = content, zone, look

    def is_decimal_sure(self, headers: Mapping[int, Header]) -> bool:
        """Return whether the decimal mark is known to be a point: the first elements of floats show it, or the
        delimiter is a comma.
        """
        zone = self._zone
        try:
            end = end_of_records(self._content, zone.end, _TELLING, zone.mark.decode())
        except FormatError:
            return False
        text = bytes(self._content[zone.end : end])
        columns = Records(text, 0, zone.mark.decode()).read_texts(zone.width)
        cells: list[Any] = []
        for number in [number for number, header in headers.items() if header.dtype.kind in ("float", "complex")]:
            cells += zone.cells_below(number)
            cells += [cell for column in (columns or [])[number : number + 1] for cell in column[:_SAMPLED]]
        mark = find_decimal(cells)
        return columns is not None and (mark == "." or (mark is None and zone.mark == b","))

    def decode(
        self, text: bytes, headers: Mapping[int, Header], filled: Mapping[int, int], missing: Missing, note: Note
    ) -> Piece:
        """Return the next elements of each column, and note the cells that are wrong; their elements are arbitrary.

        Args:
            text: the piece.
            headers: of the columns.
            filled: the number of elements of each that come before the piece.
            missing: as for `read_csv`.
            note: is called with the column and the problem of each cell that is wrong.

        Raises:
            UnusualError: something else than single cells is wrong: rows, or the number of cells.
        """
        zone = self._zone
        check_usual(text[:3] != codecs.BOM_UTF8)
        columns = Records(text, 0, zone.mark.decode()).read_texts(zone.width)
        check_usual(columns is not None)
        piece = Piece()
        for number, header in headers.items():
            cells = (columns or [])[number]
            count = piece.counts[number] = min(header.capacity - filled[number], len(cells))
            check_usual(not (cells[count:].str.strip_chars() != "").any())
            elements, problems = buffer_from_text(cells[:count], header.dtype, self._look, missing=missing)
            for problem in problems:
                check_usual(header.dtype.kind != "complex" and not problem.rest)  # complex elements may take two cells
                cell = cells[problem.index]
                is_last = filled[number] + problem.index == header.capacity - 1  # if it is blank, a row was deleted
                check_usual(cell.strip() != "" if cell is not None else not is_last)
                check_usual(zone.mark or not any(mark in (cell or "") for mark in DELIMITERS))
                check_usual(code_of(cell or "") == NONE)  # no array begins there
                note(number, replace(problem, index=filled[number] + problem.index))
            if count:
                piece.elements.append((number, elements))
        return piece
