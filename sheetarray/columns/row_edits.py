"""Rows that people have added or deleted: which arrays of a sheet have other lengths now, and whether they agree.

Arrays belong together that stand in one sheet, run the same way, and have the same number of rows. Where all of them
have become longer or shorter alike, that is one edit of the sheet; where only some have, something is wrong with those.
Cells of text may be blank, so that an array of text does not tell by itself where it ends: the others do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..changes.wording import count_noun
from ..elements import Missing, label_text
from ..errors import Finding, quote_names
from ..linear.data_cells import may_be_blank
from ..linear.header import Header, NoteFinding
from ..linear.resizing import count_rows, resize_header
from .column import ArrayColumn

_MOST_LISTED = 20  # arrays whose new shapes a finding names, and rows
_MOST_LABELS = 2**16  # elements of an array that is read for the label of a row
UNEVEN_HINT = "resize=True reads each array with its own length; a total below a column then counts as an element"
_HINT = "resize=True reads them, sa.accept corrects the headers"


@dataclass(frozen=True, slots=True)
class RowChange:
    """What is known of the rows of one array that were added or deleted."""

    is_appended: bool = False  # whether the rows were added at the end
    is_exact: bool = False  # whether all other elements are those that were written, to the last bit
    is_told: bool = False  # whether other findings tell of the rows, since a snapshot shows them


_UNKNOWN = RowChange()


@dataclass(frozen=True, slots=True)
class RowEdit:
    """Rows added to, or deleted from, arrays of one sheet alike."""

    columns: dict[str, ArrayColumn]  # the arrays by name; their headers are the new ones
    before: int  # the number of rows that each had
    after: int  # the number of rows that each has now

    def to_finding(self, changes: Mapping[str, RowChange]) -> Finding | None:
        """Return the finding by which `check` tells of the edit; None if other findings tell of it.

        `changes`: what is known of the rows of single arrays, by name; empty in a container that keeps nothing of them.
        """
        columns = {name: column for name, column in self.columns.items() if not changes.get(name, _UNKNOWN).is_told}
        if not columns:
            return None
        count, arrays = abs(self.after - self.before), len(columns)
        name, column = next(iter(columns.items()))
        grown = [changes.get(name, _UNKNOWN) for name in columns]
        rows = count_rows(column.header)
        first = min(self.before, self.after)
        location = column.group[0].data_address(first * (rows[1] if rows else 1))
        where = f"in {count_noun(arrays, 'array')}"
        place = ""
        if all(change.is_appended for change in grown):
            place = self._describe_place(columns, first, count)
            what = f"row {first} appended" if count == 1 else f"{count} rows appended, {first} to {first + count - 1},"
        else:
            what = f"{count_noun(count, 'row')} {'added' if self.after > self.before else 'deleted'}"
            where += f", {self.before} before and {self.after} now"
        shapes = shorten_list(f"{name!r:.60} is {_format_shape(column.header)}" for name, column in columns.items())
        message = f"{what} {where}{place}: {shapes}{self._format_doubts(columns, changes, count)}"
        if all(change.is_exact for change in grown):
            message += "; the rest exact"
        return Finding("error", location, message, _HINT, array=name if arrays == 1 else None)

    def _describe_place(self, columns: Mapping[str, ArrayColumn], first: int, count: int) -> str:
        """Return rows at the end as people see them, such as ` (row 28 of the sheet, 2026-03-01)`.

        It is "" unless each array takes the same row, or rows, of the sheet.
        """
        places = set()
        for column in columns.values():
            rows, anchor = count_rows(column.header), column.group[0]
            cells = column.written.dtype.kind != "complex" and anchor.orient == "columns" and rows == (self.after, 1)
            places.add(anchor.data_cell[1] if cells else -1)
        if len(places) > 1 or -1 in places:
            return ""
        start = places.pop() + 1 + first
        where = f"row {start}" if count == 1 else f"rows {start} to {start + count - 1}"
        label = self._find_label(columns, first, count)
        return f" ({where} of the sheet{label and ', '}{label})"

    def _find_label(self, columns: Mapping[str, ArrayColumn], first: int, count: int) -> str:
        """Return the labels of the first and the last row: dates if there are some, else texts; "" without either."""
        kinds = ("datetime", "string")
        labelling = [column for column in columns.values() if column.header.dtype.kind in kinds]
        for column in sorted(labelling, key=lambda column: kinds.index(column.header.dtype.kind)):
            if column.header.capacity > _MOST_LABELS:
                continue
            buffer = column.decode_typed("nan")
            if buffer is None:
                decoded = column.decode_checked("nan")
                buffer = None if decoded.problems else decoded.buffer
            if buffer is not None and len(buffer) >= first + count:
                ends = buffer[[first, first + count - 1]]
                labels = dict.fromkeys(f"{label_text(label):.40}" for label in ends)
                if all(labels) and not (ends.dtype.kind == "M" and np.isnat(ends).any()):
                    return " to ".join(labels)
        return ""

    def _format_doubts(self, columns: Iterable[str], changes: Mapping[str, RowChange], count: int) -> str:
        """Return the end of a message that says what only a guard could tell; "" if everything is known."""
        grown = [changes[name] for name in columns if name in changes]
        if all(change.is_appended or change.is_exact for change in grown):
            return ""
        which = f"which row{'' if count == 1 else 's'}, and whether elements were edited too"
        return f"; only a guard can tell {which}: write(.., guard=True) keeps one"


def shorten_list(texts: Iterable[str]) -> str:
    """Return texts side by side, the first of very many."""
    listed = list(texts)
    more = len(listed) - _MOST_LISTED
    return ", ".join(listed[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


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


def _are_as_long_as_written(columns: Mapping[str, ArrayColumn]) -> bool:
    """Return whether each column holds as many elements as its header says, as most do: then nothing is to be found."""
    return all(
        len(column.group) > 1 or column.count_elements() == column.written.capacity for column in columns.values()
    )


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
    if _are_as_long_as_written(columns):
        return
    for extents in _measure({name: column for name, column in columns.items() if name not in fixed}, missing):
        common = (_find_padded_rows if pads else _find_common_rows)([*extents.values()])
        for name, extent in extents.items():
            rows = common if common is not None and extent.fits(common) and not extent.is_sure else None
            if pads and common is not None and (extent.least or 0) <= common and extent.elements is not None:
                rows = common
            if rows is None:
                alone = extent.is_whole and (extent.is_sure or (extent.least or 0) > extent.rows)
                rows = extent.least if alone else None
            if rows is not None and rows != extent.rows:
                columns[name].take_length(rows * extent.row)
        if (uneven := _find_uneven_edit(extents, columns)) is not None:
            note(uneven)


def _find_uneven_edit(extents: Mapping[str, _Extent], columns: Mapping[str, ArrayColumn]) -> Finding | None:
    """Return a finding if arrays of equal length grew or shrank differently; None if they did not."""
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
    """Return an array that now has another number of rows than the others, and a sentence on it; None if all agree.

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
    least += [extent.least for extent in extents if not extent.is_sure and extent.least is not None]
    grown = [rows for rows in least if rows > extents[0].rows]
    if 2 * len(grown) > len(least):
        return max(grown)
    return max(rows for rows in least if rows <= extents[0].rows)


def find_row_edits(columns: Mapping[str, ArrayColumn], missing: Missing, fixed: Collection[str]) -> list[RowEdit]:
    """Return the edits in which all arrays that belong together became longer or shorter, and give these new headers.

    `columns`: all arrays of some sheets by name. `fixed`: arrays that keep their lengths, since others depend on them.
    """
    edits: list[RowEdit] = []
    if _are_as_long_as_written(columns):
        return edits
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
