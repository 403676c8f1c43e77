"""The columns of text of a large table: arrays without a detour, if their first cells say that they are text."""

from __future__ import annotations

from collections.abc import Sequence

from ...dtypes import Mask, Positions
from ...elements import Cell
from ...tables import TableColumn, TextColumn, holds_text
from .joined_texts import JoinedTexts

_SAMPLE = 100  # cells that may say that a column is text


class JoinedColumn:
    """A column of text of a large table; see `tables.RawColumn`. `is_open`: whether its dtype is to be found."""

    def __init__(self, texts: JoinedTexts, *, is_open: bool) -> None:
        self._texts, self._is_open = texts, is_open

    def cells(self, rows: Sequence[int]) -> list[Cell]:
        """Return the cells in a few rows."""
        texts, count = self._texts, len(self._texts)
        return [(texts.text(row) or None) if row < count else None for row in rows]

    def mark_filled(self) -> Mask:
        """Return a mask of the rows that hold something."""
        white = self._texts.find_white()
        if white is None or len(white):
            return self._column.mark_filled()
        return self._texts.filled

    def has_blanks(self) -> bool:
        """Return whether a cell is blank."""
        return not self._texts.filled.all()

    def begins(self, mark: str) -> Positions:
        """Return the rows in which text begins with a mark."""
        return self._column.begins(mark)

    def take(self, rows: range | Positions) -> TableColumn:
        """Return the cells of some rows; as an array, if one of the first can be nothing but text."""
        if not isinstance(rows, range):
            return self._column.take(rows)
        texts = self._texts.slice(rows.start, rows.stop)
        column = TableColumn(lambda: texts.series)
        head = [texts.text(index) for index in range(min(_SAMPLE, len(texts)))]
        if self._is_open and holds_text(head):
            white = texts.find_white()
            column.typed = texts.to_array() if white is not None and not len(white) else None
        return column

    @property
    def _column(self) -> TextColumn:
        return TextColumn(self._texts.series)
