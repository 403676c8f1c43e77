"""Where a recorded table stands in a sheet: found by the names of its columns, beside whatever else stands there.

A column that people have renamed is found by its place between the others, and by what stands in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Protocol

import numpy as np

from ..columns import Sheet, Zone, find_anchors, keeping_unreadable
from ..columns.grid import Area, cell_address, column_letters
from ..elements import Missing, NamedMissing, takes_blanks
from ..errors import FormatError, quote_names, warn_caller
from ..labels import TableNote, takes_recorded_tables
from ..tables import (
    WHITE,
    NamedTable,
    RecordedOptions,
    Table,
    TableOptions,
    TableSheet,
    find_word,
    fits_totals,
    list_cells,
    read_table,
)

MOST_RECORDED = 1000  # tables of a workbook that are read together; each takes some milliseconds
ArraysByName = dict[str, np.ndarray[Any, Any]]
OpenCells = Callable[[str, Callable[[], Collection[int]]], TableSheet]
"""Returns all cells of a sheet, given its title, and what returns the columns whose numbers are dates."""

_FIRST_BELOW, _MORE_BELOW = 64, 32  # rows below a table that are looked at first, and how many times more then
_MOST_COMPARED, _MOST_PAIRS = 10_000, 64  # cells of a column that is compared; columns, each with each
_MOST_ROWS_ABOVE = 1000  # of a sheet, among which the names of columns are looked for


def names_of_columns(tree: object) -> frozenset[str]:
    """Return the column names in the record of a table, without white space around them."""
    dtypes = tree.get("dtypes") if isinstance(tree, dict) else None
    return frozenset(str(name).strip(WHITE) for name in dtypes) if isinstance(dtypes, dict) else frozenset()


def find_area(table: Table, note: TableNote, ends: Collection[str] = ()) -> tuple[Area | None, int]:
    """Find a table by the names of its columns; return its range and the number of its rows.

    The area is None where no row holds half of the names. It ends above the first blank row, but not before there
    are as many rows as were written. Of the rows, blank ones at the end do not count.

    `ends`: the names of what stands beside the table. Columns of these names are none that people have added to it.
    """
    numbers = sorted(table.columns)
    names = {name.strip(WHITE) for name in note.dtypes}
    rows = range(min(table.height, _MOST_ROWS_ABOVE))
    texts = [[str(cell).strip(WHITE) for cell in row] for row in list_cells(table, numbers, rows)]
    columns_of_rows = [_find_names(row, names) for row in texts]
    top = max(range(len(columns_of_rows)), key=lambda row: len(columns_of_rows[row]), default=0)
    if not columns_of_rows or 2 * len(columns_of_rows[top]) < max(len(names), 1):  # a damaged record has no names
        return None, 0
    titled = {number: text for number, text in zip(numbers, texts[top], strict=True) if text not in ("", "None")}
    first, right = numbers[columns_of_rows[top][0]], numbers[columns_of_rows[top][-1]] + 1
    left = first
    while left - 1 in titled and titled[left - 1] not in ends:  # columns that people have added
        left -= 1
    if left - 1 in titled:  # to the table on the left
        left = first
    while right in titled and titled[right] not in ends:
        right += 1
    filled = np.zeros(table.height, np.bool_)
    for number in numbers:
        if left <= number < right:
            held = table.columns[number].mark_filled()[: table.height]
            filled[: len(held)] |= held
    blank = ~filled[top + 1 :]
    blank[: note.rows or 0] = False
    bottom = top + 1 + (int(np.argmax(blank)) if blank.any() else len(blank))
    row = table.row_of(top)
    last = np.flatnonzero(filled[top:bottom])[-1]
    return Area(row, left, row + max(bottom - top, 1 + (note.rows or 0)), right), int(last)


def _find_names(row: Sequence[str], names: Collection[str]) -> list[int]:
    """Return the places in a row of cells where the names of a table's columns stand; of several runs of names, the
    longest.

    Example:
        >>> _find_names(["day", "t", "", "day", "u", "v"], {"day", "u", "v"})
        [3, 4, 5]
    """
    places = [place for place, text in enumerate(row) if text in names]
    last: dict[str, int] = {}
    first, best = 0, (0, 0)  # of the run, and the ends of the longest one
    for number, place in enumerate(places):
        first = max(first, last.get(row[place], -1) + 1)
        last[row[place]] = number
        best = max(best, (first, number + 1), key=lambda ends: ends[1] - ends[0])
    return places[slice(*best)]


def extend_area(sheet: Sheet, area: Area) -> Area:
    """Return the range of a table with the rows below it that fill at least half of its columns.

    Not every program makes the range larger where somebody types below it.
    """
    bottom, columns, count = area.bottom, range(area.left, area.right), _FIRST_BELOW
    while True:
        filled = np.zeros(count, np.int64)
        for cells in sheet.zones([Zone(bottom, column, count, "columns") for column in columns]):
            filled[: len(cells)] += [cell is not None and cell != "" for cell in cells]
        is_row = filled * 2 >= len(columns)
        if not is_row.all():
            return area._replace(bottom=bottom + int(np.argmin(is_row)))
        bottom, count = bottom + count, count * _MORE_BELOW  # the sheet is searched a few times at most


@dataclass(frozen=True)
class RecordedPlace:
    """Where a table stands that has a record.

    Attributes:
        title: of its sheet.
        written_title: the title that the sheet had when it was written.
        note: what its record says.
        sheet: its sheet.
        open_cells: opens the cells of the sheet.
        named: the Excel Table that it is; None where there is none.
        tree: the note as its record has it.
        neighbours: the columns of the other tables of its sheet.
        na_values: what the caller calls missing values.
        takes_words: whether words such as `n/a` are missing values in columns of floats and complex numbers.
        find_totals: returns the row of totals that somebody typed below it; None without one.
    """

    title: str
    written_title: str
    note: TableNote
    sheet: Sheet
    open_cells: OpenCells
    named: NamedTable | None = None
    tree: Mapping[str, Any] = field(default_factory=dict)
    neighbours: frozenset[str] = frozenset()
    na_values: Sequence[str | float] = ()
    takes_words: bool = False
    find_totals: Callable[[], int | None] = lambda: None

    @cached_property
    def options(self) -> TableOptions:
        """How its cells are read: under the dtypes that were written, in the cells that hold it now."""
        dtypes = self.note.dtypes | dict.fromkeys(self.note.texts, "string")
        dtypes = {name: dtype for name, dtype in dtypes.items() if name not in self.note.gone}
        na_values = [*self.na_values, *([self.note.na_rep] if self.note.na_rep else [])]
        if self.named is not None:
            options: TableOptions = RecordedOptions(dtype=dtypes, table=self.note.table, na_values=na_values)
            named = self.named
            _, options = options.locate(self.title, dict, lambda: {self.note.table: named})
            area = options.range
            if not named.total_rows and isinstance(area, Area):
                longer = extend_area(self.sheet, area)
                total = self.find_totals() if longer.bottom > area.bottom else None
                longer = self._leave_out_totals(longer) if total is None else longer._replace(bottom=total)
                options = replace(options, range=longer)
            return options
        area = self._found[0]
        area = None if area is None else self._leave_out_totals(area)
        return RecordedOptions(dtype=dtypes, header=1, range=area, na_values=na_values)

    def _leave_out_totals(self, area: Area) -> Area:
        """Return the range of a table without a last row of totals, which somebody typed as values.

        A word in it says so, and one of its numbers is the sum or the mean of those above; others may have been edited
        since. A table that was written with such a row has it as data.
        """
        note, last = self.note, area.bottom - 1
        if note.ends_in_totals or note.rows is None or last - area.top <= note.rows:
            return area
        names, cells = self.sheet.zones(
            [Zone(row, area.left, area.right - area.left, "rows") for row in (area.top, last)]
        )
        if not (word := find_word(cells)):
            return area
        dtypes = {name.strip(WHITE): dtype for name, dtype in note.dtypes.items()}
        numbers = [
            (column, cell)
            for column, (name, cell) in enumerate(zip(names, cells, strict=False), area.left)
            if cell is not None and dtypes.get(str(name).strip(WHITE), "").startswith(("int", "uint", "float"))
        ]
        zones = [Zone(area.top + 1, column, last - area.top - 1, "columns") for column, _ in numbers]
        columns = self.sheet.zones(zones) if zones else []
        fits = [fits_totals(word, cell, above) for (_, cell), above in zip(numbers, columns, strict=True)]
        return area._replace(bottom=last) if any(fits) else area

    @property
    def address_of_totals(self) -> str:
        """The address of a row of totals that somebody typed as values below it; "" if there is none."""
        area = self.options.area
        if area is None or (self.named is not None and self.named.total_rows):
            return ""
        whole = area._replace(bottom=area.bottom + 1)
        is_left_out = self._leave_out_totals(whole) == area
        return f"{self.title}!{cell_address(area.bottom, area.left)}" if is_left_out else ""

    @cached_property
    def _found(self) -> tuple[Area | None, int]:
        """The cells of a table that is no Excel Table, and its rows down to the last that holds anything."""
        ends = {*self.neighbours}
        if anchors := find_anchors(self.sheet):
            ends |= {str(anchor.name).strip(WHITE) for anchor in anchors} - {*self.note.dtypes}
        return find_area(self.open_cells(self.title, list).table(), self.note, ends)

    @property
    def least_rows(self) -> int:
        """How many rows count although the last of them are blank; 0 where that is not known.

        Only rows of text can be blank. An Excel Table says where it ends; elsewhere the rows are as they were written.
        """
        area, note = self.options.area, self.note
        if area is None or any(dtype != "string" and name not in note.texts for name, dtype in note.dtypes.items()):
            return 0
        if self.named is not None:
            return area.bottom - area.top - 1
        written = note.rows or 0
        return written if note.blank_rows and self._found[1] + note.blank_rows == written else 0

    @property
    def has_arrays_inside(self) -> bool:
        """Whether an array of the exchange format stands in its cells: then they are texts of that array."""
        anchors = find_anchors(self.sheet)
        area = self.options.area if anchors else None
        return area is not None and any(
            area.top <= anchor.row < area.bottom and area.left <= anchor.column < area.right for anchor in anchors
        )

    def place_names(self) -> dict[int, str]:
        """Return the texts in the row of names, by their columns."""
        area = self.options.area
        if area is None:
            return {}
        (cells,) = self.sheet.zones([Zone(area.top, area.left, area.right - area.left, "rows")])
        return {column: str(cell).strip(WHITE) for column, cell in enumerate(cells, area.left) if cell is not None}

    def may_hold(self, names: Set[str]) -> bool:
        """Return whether columns that the record does not know may have some of these names.

        They are texts in the row of names, the second of which gets a number, and letters where there is no text. Below
        a row without any text, the next one holds the names.
        """
        texts, area = self.place_names(), self.options.area
        letters = {column_letters(column) for column in range(area.left, area.right)} if area is not None else set()
        numbered = {name.rpartition("_")[0] for name in names}
        return not texts or not (letters | {*texts.values()}).isdisjoint(names | numbered)

    def open_table(self) -> TableSheet:
        """Return all cells of its sheet; numbers in its columns of dates are dates."""
        return self.open_cells(self.title, self.place_dates)

    def place_dates(self) -> list[int]:
        """Return its columns of dates."""
        dates = {name.strip(WHITE) for name, dtype in self.note.dtypes.items() if dtype.startswith("datetime64")}
        return [column for column, name in self.place_names().items() if name in dates]


def take_named(places: Sequence[RecordedPlace], missing: Missing) -> Sequence[RecordedPlace]:
    """Return the places of tables, in which what the caller names is a missing value."""
    values = missing.values if isinstance(missing, NamedMissing) else ()
    if not values and not takes_blanks(missing):
        return places
    return [replace(place, na_values=values, takes_words=takes_blanks(missing)) for place in places]


class WrittenColumns(Protocol):
    """The snapshots of tables."""

    def read_columns(self, title: str, names: Collection[str] | None = None) -> ArraysByName:
        """Return the columns of a recorded table as they were written; none without a snapshot that can be used.

        `title`: of its sheet when it was written. `names`: of the columns; None for all.
        """


def find_recorded(
    notes: Mapping[str, object],
    sheets: Mapping[str, Sheet],
    titles: Collection[str],
    named: Callable[[], Mapping[str, NamedTable]],
    open_cells: OpenCells,
    open_snapshots: Callable[[], WrittenColumns | None] = lambda: None,
) -> list[RecordedPlace]:
    """Return the tables that stand in some sheets and have a record.

    A sheet that was renamed is found by its Excel Table, and a column that was renamed by its place and its cells.

    Args:
        notes: what the record says of a table, or a list of what it says of several, by the titles that sheets had.
        sheets: those that may hold tables, by their titles.
        titles: of all sheets.
        named: returns the Excel Tables by their names.
        open_cells: opens the cells of a sheet.
        open_snapshots: returns the columns as they were written; None if there are none.
    """
    listed = {title: said if isinstance(said, list) else [said] for title, said in notes.items()}
    recorded = [(title, tree) for title, trees in listed.items() for tree in trees if isinstance(tree, dict)]
    if not recorded or not takes_recorded_tables():
        return []
    if min(len(recorded), len(sheets)) > MOST_RECORDED:
        warn_caller(f"more than {MOST_RECORDED:,} recorded tables are read as ordinary ones; sheet= reads one of them")
        return []
    chosen, every = {title.casefold(): title for title in sheets}, {title.casefold() for title in titles}
    tables = {name.casefold(): table for name, table in named().items()}
    places = []
    for written, tree in recorded:
        name = str(tree.get("name", ""))
        table = tables.get(name.casefold())
        folded = written.casefold()
        if folded not in every:
            folded = "" if table is None else table.title.casefold()
        if folded not in chosen or (note := TableNote.from_json(tree)) is None:
            continue
        title, note = chosen[folded], replace(note, table=name)
        is_there = table is not None and table.title.casefold() == folded
        own = table if is_there else None
        beside = [names_of_columns(other) for other in listed[written] if other is not tree]
        place = RecordedPlace(title, written, note, sheets[title], open_cells, own, tree, frozenset().union(*beside))
        if place.options.area is None:
            names = quote_names(list(note.dtypes), 20)
            warn_caller(f"{title!r:.60} has no columns {names} any more, and is read as any other sheet")
        elif not place.has_arrays_inside:
            places.append(_find_columns(place, open_snapshots))
    return places


def _find_columns(place: RecordedPlace, open_snapshots: Callable[[], WrittenColumns | None]) -> RecordedPlace:
    """Return a table with the names that its columns have now, and without the arrays whose columns are gone."""
    present, recorded = place.place_names(), {name.strip(WHITE): name for name in place.note.dtypes}
    if not present and place.named is not None:  # openpyxl inserts rows above an Excel Table, whose range stays
        moved = replace(place, named=None)
        if moved.options.area is not None:
            return _find_columns(moved, open_snapshots)
    texts = [text for _, text in sorted(present.items()) if text]
    counts = Counter(texts)
    gone = [text for text in recorded if text not in counts]
    if not gone:
        return place
    note = place.note
    taken = {*note.labels.variables, *note.axes, *note.names, *note.coords_beside, note.beside, *recorded}
    come = [text for text, count in counts.items() if text not in taken and count == 1]
    snapshots = open_snapshots() if come else None
    names = [recorded[text] for text in gone]
    written = {} if snapshots is None else snapshots.read_columns(place.written_title, names)
    beside = [
        (recorded[before], now)
        for befores, nows in _pair_runs([*recorded], texts, {*gone}, {*come})
        for before, now in (zip(befores, nows, strict=True) if len(befores) == len(nows) else ())
    ]
    renamed = dict(_select_alike(place, beside, written))
    names = [name for name in names if name in written and name not in renamed]
    left = [now for now in come if now not in {*renamed.values()}] if names else []
    if len(names) * len(left) <= _MOST_PAIRS:  # columns that were moved as well
        alike = [pair for name in names for now in left for pair in _select_alike(place, [(name, now)], written)]
        befores, nows = Counter(name for name, _ in alike), Counter(now for _, now in alike)
        renamed |= {name: now for name, now in alike if befores[name] == nows[now] == 1}
    note = note.rename_columns({name: renamed[name] for name in note.dtypes if name in renamed})
    note = note.leave_out([recorded[text] for text in gone if recorded[text] not in renamed])
    note.original = place.note
    if len(note.gone) == len(recorded) and (area := place.options.area) is not None:
        names_row = f"{cell_address(area.top, area.left)}:{cell_address(area.top, area.right - 1)}"
        columns = f"has none of its columns {quote_names(list(note.gone), 20)} any more"
        warn_caller(f"{place.title!r:.60} {columns}: their names stood in {names_row}")
    return replace(place, note=note)


def _pair_runs(
    recorded: Sequence[str], present: Sequence[str], gone: Collection[str], come: Collection[str]
) -> Iterable[tuple[list[str], list[str]]]:
    """Yield the names that are gone between two neighbours, and those that have come between the same two.

    Example:
        >>> [*_pair_runs(["a", "b", "c"], ["a", "x", "c"], {"b"}, {"x"})]
        [(['b'], ['x'])]
    """
    runs = []
    for names, run_names in ((recorded, gone), (present, come)):
        stretches = [(is_other, list(run)) for is_other, run in groupby(names, run_names.__contains__)]
        ends = [("", ""), *((run[0], run[-1]) for _, run in stretches), ("", "")]
        runs.append(
            {
                (ends[number][1], ends[number + 2][0]): run
                for number, (is_other, run) in enumerate(stretches)
                if is_other
            }
        )
    return [(run, runs[1][ends]) for ends, run in runs[0].items() if ends in runs[1]]


def _select_alike(
    place: RecordedPlace, pairs: Sequence[tuple[str, str]], written: Mapping[str, np.ndarray[Any, Any]]
) -> list[tuple[str, str]]:
    """Return the pairs of columns in which the second may be the first under another name.

    The elements as they were, where these are known, decide: half of them have to be there.

    `pairs`: the name that was written, and one that stands there; no column of these stands in two pairs. `written`:
    the elements of columns as they were.
    """
    note = place.note
    dtypes = {now: "string" if name in note.texts else note.dtypes[name] for name, now in pairs}
    renamed = replace(place, note=replace(note, dtypes=note.dtypes | dtypes))
    options = replace(renamed.options, dtype=dtypes)
    area = options.area
    if not pairs or area is None:
        return []
    try:
        with keeping_unreadable() as unreadable:
            columns = read_table(renamed.open_table(), [*dtypes], options, least_rows=renamed.least_rows)
            errors = dict(unreadable)
            unreadable.clear()  # a context around the call gets those of arrays
    except FormatError:
        return []
    top = columns.name_row + 1
    height = min(area.bottom - top, _MOST_COMPARED)
    shown = place.sheet.zones([Zone(top, columns.column_of(now), height, "columns") for _, now in pairs])
    alike = []
    for (name, now), cells in zip(pairs, shown, strict=True):
        column = columns[now]
        elements = column[~errors[now].astype(np.bool_)].tolist() if now in errors else column.tolist()
        filled = [cell for cell in cells if cell is not None and cell != ""]
        if name in written:
            before = {*map(_spell_roughly, written[name].tolist())}
            is_alike = 2 * sum(_spell_roughly(element) in before for element in elements) >= len(column)
        elif dtypes[now] == "string":
            is_alike = 2 * sum(isinstance(cell, str) for cell in filled) > len(filled)
        else:
            is_alike = bool(filled) and 2 * len(elements) >= len(column)
        if is_alike:
            alike.append((name, now))
    return alike


def _spell_roughly(element: Any) -> str:
    """Return an element as a text that rounding does not change."""
    return f"{element:.9g}" if isinstance(element, (float, complex)) else str(element)
