"""A piece of a text as `write_csv` writes it, in which cells are wrong: which they are, and all other elements."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...cells import TextLook, buffer_from_text
from ...columns.words import NONE, code_of
from ...dtypes import Buffer
from ...elements import Missing, Problem
from ...files import BytesLike
from ...header import Header
from .blocks import UnsoundError, end_of_rows, has_lone_returns
from .bulk import parse_texts
from .dialect import DELIMITERS, find_decimal
from .written_zone import UNUSED, WrittenZone, check_usual

Note = Callable[[int, Problem], None]
_TELLING = 2**20  # bytes in which the decimal mark is looked for
_SAMPLED = 1000  # cells of a column among them


@dataclass
class Piece:
    """A piece of a text: how many elements of each column are in it, and those that are asked for."""

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
        """Return whether the decimal mark is a point, as the first elements tell that could have another."""
        zone = self._zone
        try:
            end = end_of_rows(self._content, zone.end, _TELLING, zone.mark.decode())
        except UnsoundError:
            return False
        text = bytes(self._content[zone.end : end])
        columns = parse_texts(text, zone.width, delimiter=zone.mark.decode() or UNUSED)
        cells: list[Any] = []
        for place in [place for place, header in headers.items() if header.dtype.kind in ("float", "complex")]:
            cells += zone.cells_below(place)
            cells += [cell for column in (columns or [])[place : place + 1] for cell in column[:_SAMPLED]]
        mark = find_decimal(cells)
        return columns is not None and (mark == "." or (mark is None and zone.mark == b","))

    def decode(
        self, text: bytes, headers: Mapping[int, Header], filled: Mapping[int, int], missing: Missing, note: Note
    ) -> Piece:
        """Return the next elements of each column, and note the cells that are wrong, whose elements are any.

        Args:
            text: the piece.
            headers: of the columns.
            filled: how many elements of each come before.
            missing: as for `read_csv`.
            note: is told the column of each cell that is wrong, and what is.

        Raises:
            UnusualError: more is wrong than cells: rows, or the number of cells.
        """
        zone = self._zone
        check_usual(text[:3] != codecs.BOM_UTF8 and not has_lone_returns(np.frombuffer(text, np.uint8), 0))
        columns = parse_texts(text, zone.width, delimiter=zone.mark.decode() or UNUSED)
        check_usual(columns is not None)
        piece = Piece()
        for place, header in headers.items():
            cells = (columns or [])[place]
            count = piece.counts[place] = min(header.capacity - filled[place], len(cells))
            check_usual(not (cells[count:].str.strip_chars() != "").any())
            elements, problems = buffer_from_text(cells[:count], header.dtype, self._look, missing=missing)
            for problem in problems:
                check_usual(header.dtype.kind != "complex" and not problem.rest)  # which may have two cells each
                cell = cells[problem.index]
                is_last = filled[place] + problem.index == header.capacity - 1  # blank, it is a row less
                check_usual(cell.strip() != "" if cell is not None else not is_last)
                check_usual(zone.mark or not any(mark in (cell or "") for mark in DELIMITERS))
                check_usual(code_of(cell or "") == NONE)  # no array begins there
                note(place, replace(problem, index=filled[place] + problem.index))
            if count:
                piece.elements.append((place, elements))
        return piece
