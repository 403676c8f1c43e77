"""Rows that people have added or deleted: which arrays of a sheet have other lengths now, and whether they agree.

Arrays belong together that stand in one sheet, run the same way, and have the same number of rows. Where all of them
have become longer or shorter alike, that is one edit of the sheet; where only some have, something is wrong with those.
Cells of text may be blank, so that an array of text does not tell by itself where it ends: the others do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from ..elements import Missing
from ..errors import Finding, quote_names
from ..header import Header, NoteFinding, count_rows, resize_header
from ..linear import may_be_blank
from .column import ArrayColumn

MOST_SHAPES = 20  # arrays whose new shapes a finding names
_MOST_LABELS = 2**16  # elements of an array that is read for the label of a row
UNEVEN_HINT = "resize=True reads each as it stands; a total, or a note, typed below a column is an element of it then"
_HINT = "resize=True reads them as they stand, sheetarray adopt makes the headers true to them"


@dataclass(frozen=True, slots=True)
class RowChange:
    """The rows of one array that were added or deleted, as far as the fingerprint that a container keeps tells.

    Attributes:
        kind: "inserted" where rows were added, at the end too.
        firsts: ranges of rows, in their order: with any of them as the first row that was added or deleted, all other
            elements are as they were written; None where the fingerprint does not tell.
        rest_is_exact: whether all other elements are those that were written, to the last bit.
    """

    kind: Literal["inserted", "deleted"]
    firsts: tuple[range, ...] | None = None
    rest_is_exact: bool = False


@dataclass(frozen=True, slots=True)
class RowEdit:
    """Rows added to, or deleted from, arrays of one sheet alike.

    Attributes:
        columns: the arrays by name; their headers are the new ones.
        before: the number of rows that each had.
        after: the number of rows that each has now.
    """

    columns: dict[str, ArrayColumn]
    before: int
    after: int

    def to_finding(self, changes: Mapping[str, RowChange]) -> Finding:
        """Return the finding by which `check` tells of the edit.

        `changes`: what fingerprints tell of single arrays, by name; empty in a container that keeps none.
        """
        count, arrays = abs(self.after - self.before), len(self.columns)
        first = self._find_first(changes)
        where = f"in {arrays} array{'' if arrays == 1 else 's'}"
        last = None if first is None else first + count - 1
        name, column = next(iter(self.columns.items()))
        rows = count_rows(column.header)
        row = min(self.before, self.after) if first is None else first
        location = column.group[0].data_address(row * (rows[1] if rows else 1))
        place = "" if first is None else self._describe_place(first, count)
        if first is None:
            what = "added" if self.after > self.before else "deleted"
            message = (
                f"{count} row{'' if count == 1 else 's'} {what} {where}, {self.before} before and {self.after} now"
            )
        elif self.after < self.before:
            message = f"row {first} deleted {where}" if count == 1 else f"rows {first} to {last} deleted {where}"
        elif first == self.before:
            message = f"row {first} appended {where}" if count == 1 else ""
            message = message or f"{count} rows appended, {first} to {last}, {where}"
        else:
            message = f"row {first} inserted {where}" if count == 1 else f"rows {first} to {last} inserted {where}"
        only = name if arrays == 1 else None
        message = f"{message}{place}: {self._format_shapes()}{_format_doubts(self.columns, changes)}"
        if all(name in changes and changes[name].rest_is_exact for name in self.columns):
            message += "; the rest exact"
        return Finding("error", location, message, _HINT, array=only)

    def _find_first(self, changes: Mapping[str, RowChange]) -> int | None:
        """Return the first row that was added or deleted; None unless the arrays of which it is known agree on one."""
        firsts = [change.firsts for name in self.columns if (change := changes.get(name)) and change.firsts]
        if not firsts:
            return None
        common = firsts[0]
        for others in firsts[1:]:
            both = [range(max(a.start, b.start), min(a.stop, b.stop)) for a in common for b in others]
            common = tuple(rows for rows in both if rows)
        if self.after > self.before and any(self.before in rows for rows in common):
            return self.before
        return min((rows.start for rows in common), default=None)

    def _describe_place(self, first: int, count: int) -> str:
        """Return the rows as people see them, such as ` (row 28 of the sheet, 2026-03-01)`, with dates or texts.

        It is "" unless each array takes the same row, or rows, of the sheet.
        """
        places = set()
        for column in self.columns.values():
            rows, anchor = count_rows(column.header), column.group[0]
            cells = column.written.dtype.kind != "complex" and anchor.orient == "columns" and rows == (self.after, 1)
            places.add(anchor.data_cell[1] if cells else -1)
        if len(places) > 1 or -1 in places:
            return ""
        start = places.pop() + first + 1
        where = f"row {start}" if count == 1 else f"rows {start} to {start + count - 1}"
        label = self._find_label(first, count) if self.after > self.before else ""
        return f" ({where} of the sheet{label and ', '}{label})"

    def _find_label(self, first: int, count: int) -> str:
        """Return the dates, or else the texts, of some rows, the first and the last; "" where no array has any."""
        kinds = ("datetime", "string")
        known = [column for column in self.columns.values() if column.header.dtype.kind in kinds]
        known = [column for column in known if column.header.capacity <= _MOST_LABELS]
        for column in sorted(known, key=lambda column: kinds.index(column.header.dtype.kind)):
            buffer = column.decode_typed("nan")
            if buffer is None:
                decoded = column.decode_checked("nan")
                buffer = None if decoded.problems else decoded.buffer
            if buffer is not None and len(buffer) >= first + count:
                labels = dict.fromkeys(f"{buffer[row]!s:.40}" for row in (first, first + count - 1))
                return " to ".join(labels) if all(labels) else ""
        return ""

    def _format_shapes(self) -> str:
        shapes = [f"{name!r:.60} is {_format_shape(column.header)}" for name, column in self.columns.items()]
        more = len(shapes) - MOST_SHAPES
        return ", ".join(shapes[:MOST_SHAPES]) + (f" and {more} more" if more > 0 else "")


def _format_doubts(names: Iterable[str], changes: Mapping[str, RowChange]) -> str:
    """Return the end of a message, which lists the arrays whose other elements may have been edited; "" if there are
    none.
    """
    doubtful = [f"{name!r:.60}" for name in names if name in changes and not changes[name].firsts]
    if not doubtful:
        return ""
    more = len(doubtful) - MOST_SHAPES
    listed = ", ".join(doubtful[:MOST_SHAPES]) + (f" and {more} more" if more > 0 else "")
    return f"; whether elements were edited besides cannot be told of {listed}"


def _format_shape(header: Header) -> str:
    return " x ".join(map(str, header.shape))


@dataclass(slots=True)  # nobody changes one; a frozen one takes three times as long to make
class _Extent:
    """The number of rows of an array, by its header and by its cells.

    Attributes:
        rows: the number of rows, by the header.
        row: the number of elements of each row.
        elements: the number of elements in its column, up to the last cell that is not blank; None where the last
            element has only one of its two cells, or where the cells far below are something else.
        is_sure: whether a blank is no element, so that the cells tell where the array ends.
    """

    rows: int
    row: int
    elements: int | None
    is_sure: bool

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
    headers: dict[int, tuple[tuple[int, int] | None, bool]] = {}  # by id: very many arrays may share one
    extents: dict[tuple[int, int, int | None, bool], _Extent] = {}  # and have as many cells
    for name, column in columns.items():
        known = headers.get(id(column.written))
        if known is None:
            known = headers[id(column.written)] = count_rows(column.written), not may_be_blank(column.written, missing)
        rows, is_sure = known
        if rows is not None and len(column.group) == 1:
            anchor, elements = column.group[0], column.count_elements()
            if is_sure and column.is_mostly_blank_below():
                elements = None
            key = *rows, elements, is_sure
            extent = extents.get(key)
            if extent is None:
                extent = extents[key] = _Extent(*key)
            groups.setdefault((anchor.title, anchor.orient, rows[0]), {})[name] = extent
    yield from groups.values()


def resize_columns(
    columns: Mapping[str, ArrayColumn], missing: Missing, fixed: Collection[str], note: NoteFinding
) -> None:
    """Give columns headers with the lengths that their cells have, each by itself.

    `columns`: by the name of the array; of its sheet all arrays with as many rows. `fixed`: arrays that keep their
    lengths, since others depend on them. `note`: is called with a finding where arrays of one length have several now.
    """
    for extents in _measure({name: column for name, column in columns.items() if name not in fixed}, missing):
        common = _find_common_rows(extents.values())
        for name, extent in extents.items():
            rows = common if common is not None and extent.fits(common) and not extent.is_sure else None
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


def _find_common_rows(extents: Iterable[_Extent]) -> int | None:
    """Return the number of rows that arrays of one sheet now have in common; None if their cells disagree."""
    extents = list({id(extent): extent for extent in extents}.values())
    sure = {extent.least if extent.is_whole else None for extent in extents if extent.is_sure}
    if sure:
        return next(iter(sure)) if len(sure) == 1 else None
    least = max((extent.least or 0 for extent in extents), default=0)
    return least if extents and least > extents[0].rows else None


def find_row_edits(columns: Mapping[str, ArrayColumn], missing: Missing, fixed: Collection[str]) -> list[RowEdit]:
    """Return the edits in which all arrays that belong together became longer or shorter, and give these new headers.

    `columns`: all arrays of some sheets by name. `fixed`: arrays that keep their lengths, since others depend on them.
    """
    edits = []
    for extents in _measure({name: column for name, column in columns.items() if name not in fixed}, missing):
        rows, before = _find_common_rows(extents.values()), next(iter(extents.values())).rows
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
