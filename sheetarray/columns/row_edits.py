"""Rows that people have added or deleted: which arrays of a sheet have other lengths now, and whether they agree.

Arrays belong together that stand in one sheet, run the same way, and have the same number of rows. Where all of them
have become longer or shorter alike, that is one edit of the sheet; where only some have, something is wrong with those.
Cells of text may be blank, so that an array of text does not tell by itself where it ends: the others do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..dtypes import Array
from ..elements import Missing, label_text
from ..errors import Finding, quote_names
from ..linear.data_cells import may_be_blank
from ..linear.header import Header, NoteFinding
from ..linear.resizing import count_rows, resize_header
from .column import ArrayColumn

_MOST_LISTED = 20  # arrays whose new shapes a finding names, and rows
MOST_NAMED = 5  # arrays of which the values of one row are shown
_MOST_GONE, _MOST_IN_ROW = 3, 4  # deleted rows whose values are shown, and elements of each
_MOST_LABELS = 2**16  # elements of an array that is read for the label of a row
UNEVEN_HINT = "resize=True reads each array with its own length; a total below a column then counts as an element"
_HINT = "resize=True reads them, sheetarray accept corrects the headers"


@dataclass(frozen=True, slots=True)
class RowChange:
    """The rows of one array that were added or deleted, as far as checksums or a guard tell."""

    kind: Literal["inserted", "deleted"]  # "inserted" where rows were added, at the end too
    # the rows that may be the first one that was added or deleted, as ascending ranges: if rows are alike, each of them
    # explains the change. None if that is unknown
    firsts: tuple[range, ...] | None = None
    rest_is_exact: bool = False  # whether all other elements are those that were written, to the last bit
    rows: tuple[int, ...] = ()  # the number of each row that was added or deleted, where a guard tells them
    gone: Array | None = None  # the elements of these rows if they were deleted, as they were written; else None
    tells_edits: bool = False  # whether other findings name the elements that were edited besides
    is_moved: bool = False  # whether the other rows stand in another order now

    @classmethod
    def of_rows(cls, inserted: Sequence[int], deleted: Sequence[int], **known: Any) -> RowChange | None:
        """Return the change of which all rows are known, and what else is known of it; None if there are both."""
        if bool(inserted) == bool(deleted):
            return None
        rows = tuple(inserted or deleted)
        firsts = (range(rows[0], rows[0] + 1),) if rows[-1] - rows[0] < len(rows) else None
        return cls("inserted" if inserted else "deleted", firsts, rows=rows, **known)

    def find_gone(self, first: int | None) -> Array | None:
        """Return the elements of the deleted rows if the first of them was `first`.

        Where rows are alike, several runs of them may be the deleted one, each with the same rows in another order.
        """
        if self.gone is None or first is None:
            return self.gone
        if self.rows[-1] - self.rows[0] >= len(self.rows):
            return None
        return np.roll(self.gone, self.rows[0] - first, axis=0)


@dataclass(frozen=True, slots=True)
class RowEdit:
    """Rows added to, or deleted from, arrays of one sheet alike."""

    columns: dict[str, ArrayColumn]  # the arrays by name; their headers are the new ones
    before: int  # the number of rows that each had
    after: int  # the number of rows that each has now

    def to_finding(self, changes: Mapping[str, RowChange]) -> Finding:
        """Return the finding by which `check` tells of the edit.

        `changes`: what is known of the rows of single arrays, by name; empty in a container that keeps none.
        """
        count, arrays = abs(self.after - self.before), len(self.columns)
        first = find_first_row([changes[name] for name in self.columns if name in changes], self.before, self.after)
        where = f"in {arrays} array{'' if arrays == 1 else 's'}"
        name, column = next(iter(self.columns.items()))
        rows = count_rows(column.header)
        each = () if first is not None else self._find_rows(changes)
        row = first if first is not None else each[0] if each else min(self.before, self.after)
        if is_moved := self.after < self.before and any(change.is_moved for change in changes.values()):
            row = 0
        location = column.group[0].data_address(row * (rows[1] if rows else 1))
        place, labelled = " (counted as written)" if is_moved else "", None
        if not is_moved and (first is not None or each):
            place, labelled = self._describe_place((first,) if first is not None else each, count, changes)
        verb = "added" if self.after > self.before else "deleted"
        if first is not None and first == self.before:
            what = f"row {first} appended" if count == 1 else f"{count} rows appended, {first} to {first + count - 1},"
        elif first is not None:
            verb = "inserted" if verb == "added" else verb
            what = f"row {first} {verb}" if count == 1 else f"rows {first} to {first + count - 1} {verb}"
        elif each:
            what = f"rows {shorten_list(map(str, each))} {verb}"
        else:
            what = f"{count} row{'' if count == 1 else 's'} {verb}"
            where += f", {self.before} before and {self.after} now"
        gone = self._describe_gone(first, changes, labelled)
        doubts = _format_doubts(self.columns, changes, count, knows_rows=first is not None or bool(each))
        message = f"{what} {where}{place}: {self._format_shapes()}{gone}{doubts}"
        if all(name in changes and changes[name].rest_is_exact for name in self.columns):
            message += "; the rest exact"
        return Finding("error", location, message, _HINT, array=name if arrays == 1 else None)

    def _find_rows(self, changes: Mapping[str, RowChange]) -> tuple[int, ...]:
        """Return the rows that are not side by side, where a guard tells them and those of all arrays are the same."""
        first, *differing = {changes[name].rows if name in changes else () for name in self.columns}
        return () if differing else first

    def _describe_place(
        self, numbers: Sequence[int], count: int, changes: Mapping[str, RowChange]
    ) -> tuple[str, str | None]:
        """Return the rows as people see them, such as ` (row 28 of the sheet, 2026-03-01)`, with dates or texts.

        It is "" unless each array takes the same row, or rows, of the sheet. Beside it stands the array that labels
        deleted rows, where a guard tells of one.
        """
        places = set()
        for column in self.columns.values():
            rows, anchor = count_rows(column.header), column.group[0]
            cells = column.written.dtype.kind != "complex" and anchor.orient == "columns" and rows == (self.after, 1)
            places.add(anchor.data_cell[1] if cells else -1)
        if len(places) > 1 or -1 in places:
            return "", None
        first, top = numbers[0], places.pop() + 1
        if len(numbers) > 1:
            return f" (rows {shorten_list(str(top + number) for number in numbers)} of the sheet)", None
        start = top + first
        where = f"row {start}" if count == 1 else f"rows {start} to {start + count - 1}"
        name, label = None, ""
        if self.after > self.before:
            label = self._find_label(first, count)
        else:
            name, label = self._find_gone_label(first, changes)
            if name is None and (beside := self._find_label(max(first - 1, 0), 1)):
                label = f"{'after' if first else 'before'} {beside}"
        return f" ({where} of the sheet{label and ', '}{label})", name

    @property
    def _labels(self) -> list[str]:
        """The arrays that may label rows: of dates, or else of texts."""
        kinds = ("datetime", "string")
        names = [name for name, column in self.columns.items() if column.header.dtype.kind in kinds]
        return sorted(names, key=lambda name: kinds.index(self.columns[name].header.dtype.kind))

    def _find_label(self, first: int, count: int) -> str:
        """Return the label of some rows that stand in the sheet, of the first and the last; "" if they have none."""
        for column in (self.columns[name] for name in self._labels):
            if column.header.capacity > _MOST_LABELS:
                continue
            buffer = column.decode_typed("nan")
            if buffer is None:
                decoded = column.decode_checked("nan")
                buffer = None if decoded.problems else decoded.buffer
            if buffer is not None and len(buffer) >= first + count:
                return format_labels(buffer[[first, first + count - 1]])
        return ""

    def _find_gone_label(self, first: int, changes: Mapping[str, RowChange]) -> tuple[str | None, str]:
        """Return the array that labelled the deleted rows, and its label, by a guard; None and "" without one."""
        for name in self._labels:
            gone = changes[name].find_gone(first) if name in changes else None
            if gone is not None and (label := format_labels(gone[[0, -1]].ravel())):
                return name, label
        return None, ""

    def _describe_gone(self, first: int | None, changes: Mapping[str, RowChange], labelled: str | None) -> str:
        """Return the values of the first deleted rows, as a guard has them; those in `labelled` are named already."""
        count, gone = abs(self.after - self.before), {}
        numbers = self._find_rows(changes) if first is None else range(first, first + count)
        for name in self.columns:
            rows = changes[name].find_gone(first) if name in changes and numbers else None
            if rows is not None and name != labelled:
                gone[name] = rows
        texts = []
        for place, number in enumerate(numbers[:_MOST_GONE] if gone else ()):
            values = [f"{name:.60} {describe_row(rows[place])}" for name, rows in [*gone.items()][:MOST_NAMED]]
            more = len(gone) - MOST_NAMED
            values += [f"{more} more array{'' if more == 1 else 's'}"] if more > 0 else []
            texts.append(f"; {'it' if count == 1 else f'row {number}'} was {', '.join(values)}")
        more = count - _MOST_GONE
        return "".join(texts) + (f"; and {more} more row{'' if more == 1 else 's'}" if gone and more > 0 else "")

    def _format_shapes(self) -> str:
        return shorten_list(f"{name!r:.60} is {_format_shape(column.header)}" for name, column in self.columns.items())


def find_first_row(changes: Sequence[RowChange], before: int, after: int) -> int | None:
    """Return the first row that was added or deleted; None unless it is known of all arrays, and they agree on one.

    `changes`: of each array. `before` and `after`: the number of rows.
    """
    firsts = [change.firsts for change in changes]
    if not firsts or firsts[0] is None:
        return None
    common = firsts[0]
    for ranges in firsts[1:]:
        if ranges is None:
            return None
        both = [range(max(a.start, b.start), min(a.stop, b.stop)) for a in common for b in ranges]
        common = tuple(rows for rows in both if rows)
    if after > before and any(before in rows for rows in common):
        return before
    return min((rows.start for rows in common), default=None)


def _format_doubts(names: Iterable[str], changes: Mapping[str, RowChange], count: int, *, knows_rows: bool) -> str:
    """Return the end of a message, which lists the arrays whose other elements may have been edited; "" if there are
    none.
    """
    doubtful = [name for name in names if name in changes and not _tells_edits(changes[name])]
    if not doubtful:
        return ""
    if not knows_rows:
        which = f"which row{'' if count == 1 else 's'}, and whether elements were edited too"
        return f"; only a guard can tell {which}: write(.., guard=True) keeps one"
    return f"; elements of {shorten_list(f'{name!r:.60}' for name in doubtful)} may have been edited too"


def _tells_edits(change: RowChange) -> bool:
    return bool(change.firsts or change.rest_is_exact or change.tells_edits)


def shorten_list(texts: Iterable[str]) -> str:
    """Return texts side by side, the first of very many."""
    listed = list(texts)
    more = len(listed) - _MOST_LISTED
    return ", ".join(listed[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def describe_row(elements: Array) -> str:
    """Return the text of the elements of a row; of a long row, only the first.

    Example:
        >>> describe_row(np.arange(6.0))
        '0.0 1.0 2.0 3.0 .. (6 elements)'
    """
    shown = elements[:_MOST_IN_ROW]
    texts = map(label_text, shown) if elements.dtype.kind in "mM" else map(repr, shown.tolist())
    more = f" .. ({len(elements):,} elements)" if len(elements) > _MOST_IN_ROW else ""
    return " ".join(f"{text:.60}" for text in texts) + more


def format_labels(ends: Array) -> str:
    """Return the labels of the first and the last of some rows, or of the only one; "" where one is blank."""
    labels = dict.fromkeys(f"{label_text(label):.40}" for label in ends)
    return " to ".join(labels) if all(labels) else ""


def _format_shape(header: Header) -> str:
    return " x ".join(map(str, header.shape))


@dataclass(slots=True)  # nobody changes one; a frozen one takes three times as long to make
class _Extent:
    """The number of rows of an array, by its header and by its cells."""

    rows: int  # the number of rows, by the header
    row: int  # the number of elements of each row
    # the number of elements in its column, up to the last cell that is not blank; None where the last element has only
    # one of its two cells, or where the cells far below are something else
    elements: int | None
    is_sure: bool  # whether a blank is no element, so that the cells tell where the array ends

    @property
    def least(self) -> int | None:
        """The number of rows that the cells need."""
        return None if self.elements is None else -(-self.elements // self.row)

    @property
    def is_whole(self) -> bool:
        """Whether the cells fill all of these rows."""
        return self.elements is not None and self.elements % self.row == 0

    def fits(self, rows: int) -> bool:
        """Return whether the cells may be an array of so many rows."""
        if self.elements is None or (self.is_sure and not self.is_whole):
            return False
        return self.least == rows if self.is_sure else (self.least or 0) <= rows


def _measure(columns: Mapping[str, ArrayColumn], missing: Missing) -> Iterator[dict[str, _Extent]]:
    """Yield the arrays that belong together and may be resized, with what their cells say."""
    groups: dict[tuple[str | None, str, int], dict[str, _Extent]] = {}
    for name, column in columns.items():
        rows, is_sure = count_rows(column.written), not may_be_blank(column.written, missing)
        if rows is not None and len(column.group) == 1:
            anchor, elements = column.group[0], column.count_elements()
            if is_sure and column.is_mostly_blank_below():
                elements = None
            groups.setdefault((anchor.title, anchor.orient, rows[0]), {})[name] = _Extent(*rows, elements, is_sure)
    yield from groups.values()


def resize_columns(
    columns: Mapping[str, ArrayColumn],
    missing: Missing,
    fixed: Collection[str],
    note: NoteFinding,
    *,
    pads: bool = False,
) -> None:
    """Give columns headers with the lengths that their cells have, each by itself.

    `columns`: by the name of the array; of its sheet all arrays with as many rows. `fixed`: arrays that keep their
    lengths, since others depend on them. `note`: is called with a finding where arrays of one length have several now.
    `pads`: whether a column that ends before the others, or within a row, ends with blanks.
    """
    for extents in _measure({name: column for name, column in columns.items() if name not in fixed}, missing):
        common = (_find_padded_rows if pads else _find_common_rows)([*extents.values()])
        for name, extent in extents.items():
            rows = common if common is not None and extent.fits(common) and not extent.is_sure else None
            if pads and common is not None and (extent.least or 0) <= common and extent.elements is not None:
                rows = common
            if rows is None:
                alone = extent.is_whole and (extent.is_sure or (extent.least or 0) > extent.rows)
                rows = extent.least if alone else None
            if rows is not None:
                columns[name].take_length(rows * extent.row)
        if (uneven := _find_uneven_edit(extents, columns)) is not None:
            note(uneven)


def _find_uneven_edit(extents: Mapping[str, _Extent], columns: Mapping[str, ArrayColumn]) -> Finding | None:
    """Return a finding if arrays that had as many rows do not have as many now, or only one has cells in new rows."""
    before = next(iter(extents.values())).rows
    rows: dict[str, int] = {}
    for name, extent in extents.items():
        if extent.elements is None or (extent.is_sure and not extent.is_whole):
            continue  # reading raises an error
        counted = count_rows(columns[name].header)
        rows[name] = before if counted is None else counted[0]
    grown = [name for name, count in rows.items() if count > before and (extents[name].least or 0) > before]
    if len(grown) == 1:  # the others are longer only because theirs may be blanks
        rows = {name: count if name in grown else min(count, before) for name, count in rows.items()}
    uneven = describe_uneven_rows(before, rows)
    if uneven is None:
        return None
    name = uneven[0]
    location = columns[name].group[0].data_address(min(before, rows[name]) * extents[name].row)
    return Finding("warning", location, uneven[1], UNEVEN_HINT, array=name)


def describe_uneven_rows(before: int, rows: Mapping[str, int]) -> tuple[str, str] | None:
    """Return an array whose number of rows is not that of the others now, and what is to be said; None if all agree.

    `before`: how many rows each had. `rows`: how many each has now, by name.
    """
    by_count: dict[int, list[str]] = {}
    for name, count in sorted(rows.items(), key=lambda item: item[1]):
        by_count.setdefault(count, []).append(name)
    if len(by_count) < 2:
        return None
    rarest = min((names for count, names in by_count.items() if count != before), key=len)
    said = ", ".join(f"{count:,} in {quote_names(names)}" for count, names in by_count.items())
    return rarest[0], f"arrays that had {before:,} rows each have different numbers of rows now: {said}"


def _find_common_rows(extents: Sequence[_Extent]) -> int | None:
    """Return the number of rows that arrays of one sheet now have in common; None if their cells disagree."""
    sure = {extent.least if extent.is_whole else None for extent in extents if extent.is_sure}
    if sure:
        return next(iter(sure)) if len(sure) == 1 else None
    least = max((extent.least or 0 for extent in extents), default=0)
    return least if extents and least > extents[0].rows else None


def _find_padded_rows(extents: Sequence[_Extent]) -> int | None:
    """Return the number of rows of arrays of one sheet, of which some may end with blanks; None if none of them tells.

    More rows than before count if most arrays have them. In other cases something else may stand below the few that do.
    """
    least = [extent.least for extent in extents if extent.is_sure and extent.least is not None]
    if not least:
        return _find_common_rows(extents)
    grown = [rows for rows in least if rows > extents[0].rows]
    if 2 * len(grown) > len(least):
        return max(grown)
    return max(rows for rows in least if rows <= extents[0].rows)


def find_row_edits(columns: Mapping[str, ArrayColumn], missing: Missing, fixed: Collection[str]) -> list[RowEdit]:
    """Return the edits in which all arrays that belong together became longer or shorter, and give these new headers.

    `columns`: all arrays of some sheets by name. `fixed`: arrays that keep their lengths, since others depend on them.
    """
    edits = []
    for extents in _measure({name: column for name, column in columns.items() if name not in fixed}, missing):
        rows, before = _find_common_rows([*extents.values()]), next(iter(extents.values())).rows
        if rows is None or rows == before or not all(extent.fits(rows) for extent in extents.values()):
            continue
        if len(extents) == 1 and rows > before and not _holds_elements(columns[next(iter(extents))], missing):
            continue  # something else stands below the only array
        for name, extent in extents.items():
            columns[name].take_length(rows * extent.row)
        edits.append(RowEdit({name: columns[name] for name in extents}, before, rows))
    return edits


def _holds_elements(column: ArrayColumn, missing: Missing) -> bool:
    """Return whether the cells beyond the end that the header says are elements of the array."""
    elements, capacity = column.count_elements(), column.written.capacity
    resized = None if elements is None else resize_header(column.written, elements)
    if resized is None:
        return False
    column.header = resized
    try:
        if column.decode_typed(missing) is not None:
            return True
        decoded = column.decode_checked(missing)
    finally:
        column.header = column.written
    size = decoded.cells_per_element
    return not any(problem.rest or problem.index // size >= capacity for problem in decoded.problems)
