"""Checks a large text that stands as it was written piece by piece, and so reads it if progress is to be reported.

A piece with wrong cells is looked at once more, cell by cell; no other piece has to be in memory for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...columns import errors_of_problems
from ...data import error_for_problem
from ...dtypes import Array, Buffer
from ...elements import MOST_EXPLAINED, Missing, Problem, check_missing
from ...errors import FormatError
from ...files import release_pages
from ...header import Header
from ...resizing import contiguous_strides
from .records import end_of_records
from .written import WrittenText
from .written_zone import UnusualError, check_usual
from .wrong_cells import Note, Piece, WrongCells

if TYPE_CHECKING:
    import polars as pl

PIECE = 2**24  # bytes of text that are parsed at once
_OF_ONE_SIZE = frozenset({"float", "int", "complex", "bool", "datetime", "timedelta"})


class ReportingText(WrittenText):
    """A text as `write_csv` writes it, which is read piece by piece.

    Attributes:
        report: is called after each piece with the share of the text, from 0 to 1, that has been read; None for no
            call.
    """

    report: Callable[[float], None] | None = None

    def _parse(self, headers: dict[int, Header], missing: Missing) -> dict[int, Array]:
        import polars as pl

        size = len(self._content) - self._zone.end
        if self.report is None or size <= PIECE:
            return super()._parse(headers, missing)
        # Each cell takes at least a byte, so that no buffer is larger than the text allows, whatever headers claim.
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
        note: Note | None = None,
    ) -> Iterator[tuple[int, Buffer]]:
        """Yield columns and their next elements; all other cells of them are blank.

        Args:
            headers: of the columns.
            filled: the number of elements of each that stand above the body, beside longer headers.
            missing: as for `read_csv`.
            size: of a piece, in bytes; None for the usual.
            texts: by column, lists to which the cells of some columns are added instead, before they become elements.
            note: is called with the column and the problem of each cell that is wrong; None refuses the text.

        Raises:
            UnusualError: the text is to be read cell by cell.
        """
        start, size = self._zone.end, PIECE if size is None else size
        whole = len(self._content) - start
        while start < len(self._content):
            try:
                end = end_of_records(self._content, start, size, self._zone.mark.decode())
            except FormatError:
                raise UnusualError from None
            text = bytes(self._content[start:end])
            try:
                piece = self._decode_piece(text, headers, filled, missing, texts or {})
            except UnusualError:
                wrong = WrongCells(self._content, self._zone, self._look)
                if note is None or not wrong.is_decimal_sure(headers):
                    raise
                piece = wrong.decode(text, headers, filled, missing, note)
            for column, count in piece.counts.items():
                filled[column] += count
            yield from piece.elements
            release_pages(self._content, start, end)
            start = end
            if self.report is not None:
                self.report((start - self._zone.end) / whole)
        check_usual(all(filled[column] == header.capacity for column, header in headers.items()))

    def _decode_piece(
        self,
        text: bytes,
        headers: dict[int, Header],
        filled: dict[int, int],
        missing: Missing,
        texts: Mapping[int, list[pl.Series]],
    ) -> Piece:
        """Return the next elements of each column; those of some go to `texts` instead.

        Raises:
            UnusualError: a cell is wrong, or to be looked at by itself.
        """
        piece = Piece()
        for column, cells in self._body.parse(text, 0, text, 0, headers, quotes=True).items():
            count = piece.counts[column] = min(headers[column].capacity - filled[column], len(cells))
            check_usual(cells[count:].null_count() == len(cells) - count)
            if count and column in texts:
                texts[column].append(cells[:count])
            elif count:
                elements = self._body.decode(cells[:count], headers[column].dtype, missing)
                piece.elements.append((column, elements))
        self._body.check_infinities(text, 0, headers)
        return piece

    def verify(self, missing: Missing) -> list[FormatError]:
        """Return the errors of the cells of all arrays; no element of a large text is kept.

        Raises:
            UnusualError: a broken header; more is wrong than cells, or very many are, or any of a small text.
        """
        if len(self._content) - self._zone.end <= PIECE:
            self.read(None, missing)
            return []
        check_missing(missing)
        headers = {column: self._zone.header(column) for column in self._zone.columns.values()}
        self._search_unless_decoded(headers, quotes=True)
        if any(header.strides != contiguous_strides(header.shape, header.order) for header in headers.values()):
            self.read(None, missing)  # reading knows whether NumPy has such a view
            return []
        problems: dict[int, list[Problem]] = {column: [] for column in headers}

        def note(column: int, problem: Problem) -> None:
            problems[column].append(problem)
            check_usual(len(problems[column]) <= MOST_EXPLAINED)

        filled = {column: len(self._body.decode_beside(column, missing)) for column in headers}
        for _ in self._pieces(headers, filled, missing, note=note):
            pass
        return [
            error
            for name, column in self._zone.columns.items()
            for error in errors_of_problems(problems[column], headers[column], name, self._zone.addresses_in(column))
        ]

    def _refuse_first(self, headers: Mapping[int, Header]) -> Note:
        """Return a function that raises the error for a cell that is wrong."""
        names = {column: name for name, column in self._zone.columns.items()}

        def refuse(column: int, problem: Problem) -> None:
            raise error_for_problem(problem, headers[column], names[column], self._zone.addresses_in(column))

        return refuse

    def _fill_beside(self, column: int, buffer: Array, missing: Missing) -> int:
        """Put the elements beside longer headers into a buffer; return their number."""
        elements = self._body.decode_beside(column, missing)
        buffer[: len(elements)] = elements
        return len(elements)
