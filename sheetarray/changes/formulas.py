"""Formulas of ordinary tables: an element whose cell is a formula is that formula, and its result follows.

So a formula that nobody touched is no edit, whatever its result is now, and one that somebody changed, or typed a value
over, is one.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..dtypes import Array, Mask, Positions, find_missing_value


class Formula:
    """The formula of a cell. Two are equal if they say the same of the cells around them, as after filling down, or if
    nobody changed a letter, as in rows that a program moved without their formulas.

    Attributes:
        cell: the row and the column of its cell, counted from 0.
        relative: the formula with references that count from its cell. Some classes spell it out when it is asked for.
        result: its value; None where nobody knows it.
        has_followers: whether other cells only say that they share it.

    Example:
        >>> Formula("=B2*C2", (1, 3), "R[0]C[-2]*R[0]C[-1]") == Formula("=B5*C5", (4, 3), "R[0]C[-2]*R[0]C[-1]")
        True
    """

    __slots__ = "_relative", "_text", "cell", "has_followers", "result"

    def __init__(
        self,
        text: str | Callable[[], str],
        cell: tuple[int, int],
        relative: str | None,
        result: Any = None,
        *,
        has_followers: bool = False,
    ) -> None:
        self._text, self.cell, self._relative, self.result = text, cell, relative, result
        self.has_followers = has_followers

    @property
    def relative(self) -> str:
        """The formula with references that count from its cell."""
        return self._relative or ""

    @property
    def text(self) -> str:
        """The formula as a spreadsheet shows it in its cell, such as `=B2*C2`. It is spelled out anew each time."""
        return self._text if isinstance(self._text, str) else self._text()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Formula):
            return False
        return self is other or self._text == other._text or self.relative == other.relative or self.text == other.text

    def says_the_same(self, other: Formula | None) -> bool:
        """Return whether a formula of this sheet says the same of the cells around it."""
        if other is None:
            return False
        return (self.cell == other.cell and self._text == other._text) or self.relative == other.relative

    def __hash__(self) -> int:
        return hash(Formula)

    def __repr__(self) -> str:
        return self.text

    def with_result(self, result: Any) -> Formula:
        """Return the formula with another result."""
        return type(self)(self._text, self.cell, self._relative, result, has_followers=self.has_followers)

    def with_text(self, text: str) -> Formula:
        """Return the formula with another text that is shown."""
        return type(self)(text, self.cell, self.relative, self.result)

    def fill(self, cell: tuple[int, int]) -> Formula:
        """Return the formula as it says the same of the cells around another cell."""
        return type(self)(self._text, cell, self.relative, self.result)

    def move(self, moves: MovesOfSheets, cell: tuple[int, int], grows: Grows) -> Formula | None:  # noqa: ARG002  (subclasses use them)
        """Return the formula as it reads in a cell after rows or columns have moved; None if nobody knows.

        `moves`: of each sheet. `grows`: which rows that were added beside a range the range takes in.
        """
        return None


Grows = tuple[bool, bool]  # whether ranges take in the rows that were added right above, and right below them
_GROWTHS: tuple[Grows, ...] = ((False, False), (False, True), (True, False), (True, True))
_ROW_OF_REFERENCE = re.compile(r"(?<=R)(?:\[-?[0-9]++\]|[0-9]++)(?=C)")
_OTHER_ROW = re.compile(r"(?<=R)\[-?[1-9]")
_MOST_MOVED = 2**20  # characters of formulas that are looked at for what rows have made of them


class SheetMoves:
    """Where the cells of a sheet stand in another file, in which the sheet may have another title.

    Attributes:
        title: the title that the sheet has there.
    """

    def __init__(self, title: str) -> None:
        self.title = title

    def find_rows(self, first: int, last: int, grows: Grows) -> tuple[int, int] | None:  # noqa: ARG002  (subclasses use it)
        """Return the first and the last row of a range in the other file; None if all of its rows were deleted."""
        return first, last

    def find_columns(self, first: int, last: int) -> tuple[int, int] | None:
        """Return the first and the last column of a range in the other file; None if all of them were deleted."""
        return first, last


class RowMoves(SheetMoves):
    """The places of the rows of a sheet after rows of its table were added, deleted or moved.

    Example:
        >>> moves = RowMoves([1, 2, 3], [1, 2, 3, 4], np.array([0, -1, 1, 2]), "Sales")
        >>> moves.find(2), moves.find_rows(1, 3, (False, False)), moves.find(7)
        (3, (1, 4), 8)
    """

    def __init__(
        self, before: Sequence[int], now: Sequence[int], sources: Positions, title: str, *, below: bool = True
    ) -> None:
        """Note the moves: `before` and `now` are the rows of the sheet in which the rows of data stand.

        `sources`: for each row of data now the one that it was; -1 for an added one. `below`: whether the rows below
        the table move with its last row.
        """
        super().__init__(title)
        self._before = [*before]
        places = np.full(len(before), -1, np.int64)
        rows = np.asarray(now, np.int64)
        stays = sources >= 0
        places[sources[stays]] = rows[stays]
        self._places: list[int] = places.tolist()
        self._left: list[int] = np.flatnonzero(places >= 0).tolist()
        self._rows_left = places[places >= 0]
        self._is_ascending = bool((np.diff(self._rows_left) > 0).all())
        added = sorted(rows[~stays].tolist())
        self._tops, self._bottoms = dict[int, int](), dict[int, int]()  # of the added rows that stand together
        for row in added:
            self._tops[row] = self._tops.get(row - 1, row)
        for row in reversed(added):
            self._bottoms[row] = self._bottoms.get(row + 1, row)
        self._above = int(min(now) - min(before)) if len(now) and len(before) else 0
        self._below = int(max(now) - max(before)) if len(now) and len(before) and below else 0
        self._ranges: dict[tuple[int, int], tuple[int, int, bool] | None] = {}  # that were asked for

    @property
    def is_none(self) -> bool:
        """Whether all rows stand where they stood."""
        return not self._tops and not self._above and self._places == self._before

    def find(self, row: int) -> int | None:
        """Return where a row of the sheet stands now; None if it was deleted."""
        index = bisect_left(self._before, row)
        if index < len(self._before) and self._before[index] == row:
            return self._places[index] if self._places[index] >= 0 else None
        return row + (self._above if index < len(self._before) else self._below)

    def find_rows(self, first: int, last: int, grows: Grows) -> tuple[int, int] | None:
        """Return the first and the last row of a range now; None if all of its rows were deleted."""
        if (first, last) not in self._ranges:
            self._ranges[first, last] = self._find_range(first, last)
        if (ends := self._ranges[first, last]) is None:
            return None
        top, bottom, may_grow = ends
        return (
            self._tops.get(top - 1, top) if grows[0] and may_grow else top,
            self._bottoms.get(bottom + 1, bottom) if grows[1] and may_grow else bottom,
        )

    def _find_range(self, first: int, last: int) -> tuple[int, int, bool] | None:
        """Return a range now without added rows beside it, and whether it has rows of data.

        It is None if all of its rows were deleted.
        """
        start, end = bisect_left(self._before, first), bisect_right(self._before, last)
        begin, stop = bisect_left(self._left, start), bisect_left(self._left, end)
        ends = [self.find(first), self.find(last)]
        if begin == stop:
            return None if ends[0] is None or ends[1] is None else (ends[0], ends[1], False)
        places = self._rows_left[[begin, stop - 1]] if self._is_ascending else self._rows_left[begin:stop]
        top = int(places.min()) if self._before[start] == first or ends[0] is None else ends[0]
        bottom = int(places.max()) if self._before[end - 1] == last or ends[1] is None else ends[1]
        return top, bottom, True


class ColumnMoves(SheetMoves):
    """Where the columns of a sheet stand in another file, given a number, or None if it is gone, for some of them.

    Example:
        >>> moves = ColumnMoves({0: 0, 1: 2, 2: None, 3: 3}, "Sales")
        >>> moves.find_columns(1, 2), moves.find_columns(2, 2), moves.find_columns(7, 7)
        ((2, 2), None, (7, 7))
    """

    def __init__(self, columns: Mapping[int, int | None], title: str) -> None:
        super().__init__(title)
        self._columns, self._before = columns, sorted(columns)

    @property
    def is_none(self) -> bool:
        """Whether all columns stand where they stood."""
        return all(before == now for before, now in self._columns.items())

    def find_columns(self, first: int, last: int) -> tuple[int, int] | None:
        """Return the first and the last column of a range there; None if all of its columns were deleted."""
        inside = self._before[bisect_left(self._before, first) : bisect_right(self._before, last)]
        left = [now for column in inside if (now := self._columns[column]) is not None]
        ends = [end for end in (self._find(first), self._find(last)) if end is not None]
        if len(ends) < 2:  # an end was deleted: the nearest column that is left takes its place
            ends += left
        return (min(ends), max(ends)) if ends else None

    def _find(self, column: int) -> int | None:
        """Return where a column stands there; one that is not named moves with the nearest to the left that is."""
        if column in self._columns:
            return self._columns[column]
        at = bisect_left(self._before, column)
        for nearest in [*reversed(self._before[:at]), *self._before[at:]]:
            if (now := self._columns[nearest]) is not None:
                return max(column + now - nearest, 0)
        return column


MovesOfSheets = Callable[[str | None], SheetMoves | None]  # by the title of a sheet; None is that of the formula


def index_moves(moves: Mapping[str, SheetMoves], own: str) -> MovesOfSheets:
    """Return a function that finds the moves of a sheet by its title; `own`: the sheet of the formulas."""
    by_title = {title.casefold(): of_sheet for title, of_sheet in moves.items()}
    return lambda title: by_title.get((own if title is None else title).casefold())


def follow_columns(
    before: Array | None,
    now: Array,
    columns: tuple[int, int],
    moves: tuple[MovesOfSheets, MovesOfSheets],
    *,
    keeps_text: bool = False,
) -> Array:
    """Return a column of a copy in which formulas name columns by the places that these have in the base.

    A formula that differs from one of the base only since columns were inserted, deleted or moved is that one.

    `before`: the column in the base; None where the base lacks it. `columns`: the number of the column in the base and
    in the copy. `moves`: from the base to the copy, and back. `keeps_text`: formulas are still shown as the copy has
    them.
    """
    formulas = [] if before is None else [element for element in before.tolist() if isinstance(element, Formula)]
    ours = {formula.relative: formula for formula in formulas}
    texts = {formula.text for formula in formulas}
    followed: dict[str, Formula] = {}
    for formula in ours.values():
        if (moved := formula.move(moves[0], (formula.cell[0], columns[1]), (False, False))) is not None:
            followed[moved.relative] = formula
    result = now.copy()
    for row, formula in enumerate(now.tolist()):
        if not isinstance(formula, Formula):
            continue
        cell = formula.cell[0], columns[0]
        if formula.relative in followed:
            result[row] = followed[formula.relative].fill(cell).with_result(formula.result)
        elif formula.text not in texts and (moved := formula.move(moves[1], cell, (False, False))) is not None:
            result[row] = moved.with_text(formula.text) if keeps_text else moved
    return result


def follow_rows(
    before: Array, now: Array, sources: Positions, moves: MovesOfSheets
) -> dict[int, tuple[Formula, Grows]]:
    """Return the old formulas, by new rows, of those that only followed rows, and which ends of their ranges grew.

    Such a formula names other rows since rows were added, deleted or moved.

    `before`: the column as it was. `sources`: for each of its rows now the one that it was.
    """
    followed: dict[int, tuple[Formula, Grows]] = {}
    growth_of: dict[tuple[str, str], Grows | None] = {}  # of formulas that name their own row and fixed ones alone
    left = _MOST_MOVED
    for row, source in enumerate(sources.tolist()):
        a, b = (before[source] if source >= 0 else None), now[row]
        if not isinstance(a, Formula) or not isinstance(b, Formula) or a.relative == b.relative:
            continue
        pair = a.relative, b.relative
        if pair not in growth_of:
            left -= len(a.relative) + len(b.relative)
            if left < 0:
                break
            growths = (grows for grows in _GROWTHS if a != b and a.move(moves, b.cell, grows) == b)
            growth = next(growths, None)
            if not _OTHER_ROW.search(a.relative):
                growth_of[pair] = growth
        else:
            growth = growth_of[pair]
        if growth is not None:
            followed[row] = a.with_result(b.result), growth
    return followed


def put_elements(column: Array, elements: Mapping[int, Any]) -> Array:
    """Return a column of objects in which some elements, by their rows, are replaced."""
    column = column.copy()
    column[[*elements]] = [*elements.values()]
    return column


class FormulaText(str):
    """The text of a formula, which messages show without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def show_formula(value: Any) -> Any:
    """Return the text of a formula; any other value as it is."""
    return FormulaText(value.text) if isinstance(value, Formula) else value


def put_formulas(column: Array, formulas: Array, errors: Array | None = None) -> Array:
    """Return the column with each result of a formula replaced by the `Formula` itself; other elements stay.

    `formulas`: the formula of each element; None where its cell has none. `errors`: the error of each result that
    cannot be read.
    """
    elements = np.empty(len(column), object)
    elements[:] = list(column) if column.dtype.kind in "mM" else column.tolist()
    for row in np.flatnonzero(mark_objects(formulas)).tolist():
        result = None if errors is not None and errors[row] is not None else column[row]
        elements[row] = formulas[row].with_result(None if result is None or result != result else result)
    return elements


def mark_objects(objects: Array) -> Mask:
    """Return a mask of the elements that are not None."""
    return np.fromiter((element is not None for element in objects.tolist()), np.bool_, len(objects))


def find_formulas(column: Any) -> Array | None:
    """Return the formulas of a column, with None for other elements; return None for a column without formulas."""
    if not isinstance(column, np.ndarray) or column.dtype.kind != "O" or column.ndim != 1:
        return None
    formulas = np.array([element if isinstance(element, Formula) else None for element in column.tolist()], object)
    return formulas if mark_objects(formulas).any() else None


def loosen_formulas(column: Array) -> Array:
    """Return the column with formulas that do not tell rows apart, so that those which only followed rows are equal."""
    formulas = find_formulas(column)
    if formulas is None:
        return column
    loose, said = column.copy(), dict[str, Formula]()
    for row in np.flatnonzero(mark_objects(formulas)).tolist():
        relative = formulas[row].relative
        if relative not in said:
            said[relative] = Formula(text := _ROW_OF_REFERENCE.sub("", relative), formulas[row].cell, text)
        loose[row] = said[relative]
    return loose


def take_results(column: Array, dtype: np.dtype[Any]) -> Array:
    """Return the column with each `Formula` replaced by its result, in a dtype; the reverse of `put_formulas`.

    A result that nobody knows is missing; where the dtype has no missing value, the column holds objects.
    """
    values = [element.result if isinstance(element, Formula) else element for element in column.tolist()]
    if dtype.kind not in "OUT" and any(value is None for value in values):
        missing = find_missing_value(dtype)
        if missing is None:
            dtype = np.dtype(object)
        else:
            values = [missing if value is None else value for value in values]
    if dtype.kind == "O":
        results = np.empty(len(values), object)
        results[:] = values
        return results
    if dtype.kind in "UT":
        return np.array(["" if value is None else str(value) for value in values], None if values else dtype)
    return np.array(values, dtype)


def hide_formulas(column: Array | None, errors: Array | None) -> Array | None:
    """Return the errors of a column with its formulas among them: elements whose values are not compared."""
    formulas = find_formulas(column)
    if formulas is None or errors is None:
        return errors if formulas is None else formulas
    return np.where(mark_objects(errors), errors, formulas)
