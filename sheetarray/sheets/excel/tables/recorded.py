"""Tables whose record says which arrays they are: `read` and `read_dataset` take them as the arrays that were written.

The record of a sheet keeps a `TableNote` of its table: dtypes, labels, dimensions, and which column holds which part of
which array. A guard keeps the columns as they were written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ....changes.evidence import KeptElements
from ....changes.rounding import mark_kept
from ....changes.row_groups import LabelGroup, map_rows
from ....columns import ArrayInfo, DataCells, Sheet, SheetArrays, Zone, keeping_unreadable
from ....columns.grid import Area
from ....columns.unreadable import keep_elements, keeps_all
from ....dtypes import Positions, from_numpy
from ....elements import generic_from_text
from ....errors import NO_ARRAY, FormatError, locating, warn_caller
from ....labels import DatasetLabels, ElementRows, TableNote, give_labels, stack_labels, takes_recorded_tables
from ....linear.array import LinearArray
from ....tables import NamedTable, TableColumns, TableOptions, read_table
from ..guard.snapshots import Snapshots, open_snapshots
from ..workbook import Workbook
from ..worksheet import ExcelSheet
from .cells import ExcelTable

_FIRST_BELOW, _MORE_BELOW = 64, 32  # rows below a table that are looked at first, and how many times more then
MOST_RECORDED = 1000  # tables of a workbook that are read together; each takes some milliseconds
ArraysByName = dict[str, np.ndarray[Any, Any]]


@dataclass
class RecordedTable:
    """A table of a workbook, whose columns hold arrays.

    Attributes:
        title: of its sheet.
        written_title: the title that the sheet had when it was written.
        note: what its record says.
        columns: as they are; numbers that a program rounded have their exact bits where a guard tells them.
        unreadable: of columns that have cells which cannot be read, the errors; None for all other cells.
        written: the columns as they were; none without a guard.
        sources: for each column and each of its rows, the row that it was; -1 for a row that was added.
    """

    title: str
    written_title: str
    note: TableNote
    columns: TableColumns
    unreadable: ArraysByName
    written: ArraysByName = field(default_factory=dict)
    sources: dict[str, Positions] = field(default_factory=dict)

    @cached_property
    def stacked(self) -> tuple[ArraysByName, DatasetLabels]:
        """The arrays and their labels.

        Raises:
            FormatError: the cells of the table are not those of its arrays any more.
        """
        try:
            arrays, labels = stack_labels(self.columns, None, None, self.note, np.array, self.written)
        except FormatError as error:
            error.location = error.location or f"sheet {self.title}"
            raise
        return self.note.as_written(arrays), labels

    @cached_property
    def stacked_as_written(self) -> ArraysByName:
        """The arrays as they were, from the guard."""
        return self.note.as_written(stack_labels(self.written, None, None, self.note, np.array)[0])

    @cached_property
    def errors(self) -> list[FormatError]:
        """The errors of all cells that cannot be read; each knows its array."""
        errors = []
        for name, column in self.unreadable.items():
            for error in column.tolist():
                if error is not None:
                    error.array = self.note.places.get(name, (name, 0))[0]
                    errors.append(error)
        return errors

    @cached_property
    def unreadable_elements(self) -> ArraysByName:
        """By array the errors of the elements whose cells cannot be read; None for all other elements.

        Raises:
            FormatError: the cell of a label cannot be read, so that nobody knows which elements stand in its row.
        """
        axes = {*self.note.axes.values()}
        for name in axes & self.unreadable.keys():
            raise next(error for error in self.unreadable[name].tolist() if error is not None)
        if not self.unreadable:
            return {}
        nothing = np.full(self.rows, None, object)
        columns = {
            name: column if name in axes else self.unreadable.get(name, nothing)
            for name, column in self.columns.items()
        }
        stacked, _ = stack_labels(columns, None, None, self.note, np.array, self.written, may_differ=True)
        arrays = {error.array for error in self.errors}
        elements = {name: errors for name, errors in stacked.items() if name in arrays}
        for name, errors in elements.items():
            for index in np.argwhere(errors.astype(np.bool_)).tolist():
                errors[tuple(index)].element = f"{name}[{', '.join(map(str, index))}]"
                errors[tuple(index)].index = tuple(index)
        return elements

    @property
    def rows(self) -> int:
        """The number of rows of data."""
        return len(next(iter(self.columns.values()), ()))

    @property
    def has_other_rows(self) -> bool:
        """Whether rows were added or deleted."""
        return self.note.rows is not None and self.rows != self.note.rows

    def check_rows(self) -> None:
        """Refuse a table to which rows were added, or from which they were deleted.

        Raises:
            FormatError: it has others than were written.
        """
        if self.has_other_rows:
            raise self._refuse(f"{self.rows:,} rows of data, but {self.note.rows:,} were written")

    def check_labels(self) -> None:
        """Refuse a table that has other labels than were written, so that its arrays have other shapes.

        Raises:
            FormatError: it has.
        """
        if len(self.note.axes) + bool(self.note.beside) < 2:
            return
        arrays, labels = self.stacked
        for name, variable in self.note.labels.variables.items():
            if labels.has_array(name) and name in arrays and variable.shape != arrays[name].shape:
                what = f"has the shape {arrays[name].shape} now, and had {variable.shape}"
                raise self._refuse(f"other labels than were written: {name!r:.80} {what}")

    def _refuse(self, what: str) -> FormatError:
        hint = "resize=True reads the rows that are there; sa.accept takes the change"
        return FormatError(f"the table has {what}", location=f"sheet {self.title}", hint=hint)

    @cached_property
    def places(self) -> ElementRows:
        """The row in which each element stands."""
        return ElementRows(self.columns, self.note, self.written)

    def find_cell(self, name: str, index: Sequence[int]) -> str | None:
        """Return the address of the first cell of an element."""
        place = self.places.find(name, index)
        if place is None or place[0] not in self.columns:
            return None
        runs = self.columns.data_cells(place[0])
        run = next((run for run in reversed(runs) if run.first <= place[1]), None)
        return None if run is None else run.address(place[1])

    def describe(self) -> dict[str, ArrayInfo]:
        """Return the infos of the arrays; `data` is known where each row is an element."""
        arrays, labels = self.stacked
        infos = {}
        for name, array in arrays.items():
            linear, variable = LinearArray.from_numpy(array), labels.find(name)
            data: tuple[DataCells, ...] = ()
            if name in self.columns and self.places.are_counted:
                data = tuple(self.columns.data_cells(name))
            first = self.find_cell(name, [0] * array.ndim) if array.size else None
            spread = sum(meant[0] == name for meant in self.note.places.values())
            infos[name] = ArrayInfo(
                array.shape,
                linear.dtype,
                linear.order,
                linear.strides,
                first or self.title,
                self.rows * max(spread, 1),
                linear.offset,
                linear.capacity,
                max(spread, 1),
                None if variable is None else tuple(variable.dims),
                data,
            )
        return infos


def find_recorded(book: Workbook, sheets: Sequence[Sheet]) -> dict[str, tuple[str, TableNote]]:
    """Return, by the titles of sheets, the notes of their tables, and the titles that they were written with.

    A sheet that was renamed is found by its Excel Table.
    """
    if not takes_recorded_tables():
        return {}
    recorded = {title: more.get("table") for title, more in book.record.get("sheets", {}).items()}
    recorded = {title: tree for title, tree in recorded.items() if isinstance(tree, dict)}
    return _find_in_sheets(book, sheets, recorded) if recorded else {}


def _find_in_sheets(
    book: Workbook, sheets: Sequence[Sheet], recorded: Mapping[str, dict[str, Any]]
) -> dict[str, tuple[str, TableNote]]:
    titles = {(sheet.title or "").casefold(): sheet.title or "" for sheet in sheets}
    if min(len(recorded), len(titles)) > MOST_RECORDED:
        warn_caller(f"more than {MOST_RECORDED:,} recorded tables are read as ordinary ones; sheet= reads one of them")
        return {}
    every = {title.casefold() for title in book.titles}
    tables: dict[str, str] = {}
    if book.own is not None and any(title.casefold() not in every for title in recorded):
        tables = {name.casefold(): table.title.casefold() for name, table in book.own.tables().items()}
    notes = {}
    for written, tree in recorded.items():
        name = str(tree.get("name", ""))
        folded = written.casefold() if written.casefold() in every else tables.get(name.casefold(), "")
        if folded not in titles or _holds_arrays(book, titles[folded]):
            continue
        if (note := TableNote.from_json(tree)) is not None:
            notes[titles[folded]] = written, replace(note, table=name)
    return notes


def _holds_arrays(book: Workbook, title: str) -> bool:
    """Return whether texts of a table are an array of the exchange format."""
    try:
        SheetArrays([book.sheet(title)])
    except FormatError as error:
        return error.reason != NO_ARRAY
    return True


def open_recorded(
    book: Workbook, notes: Mapping[str, tuple[str, TableNote]], snapshots: Snapshots | None
) -> list[RecordedTable]:
    """Return the tables of some notes, with the errors of the cells that are not of the dtype of their column.

    `snapshots`: of the workbook; None to take the cells as they are.

    Raises:
        FormatError: the cells are no table any more.
    """
    named = {} if book.own is None or not notes else book.own.tables()
    tables = []
    for title, (written_title, note) in notes.items():
        with locating(sheet=title), keeping_unreadable() as unreadable:
            columns = _read_columns(book, title, note, named)
            errors = dict(unreadable)
            unreadable.clear()  # a context around the call gets those of arrays
        table = RecordedTable(title, written_title, note, columns, errors)
        written = {} if snapshots is None else snapshots.read_columns(written_title)
        if {*note.dtypes} <= {*written}:
            table.written, table.sources = written, _restore(columns, written, note)
        tables.append(table)
    return tables


def scan_tables(book: Workbook, sheets: Sequence[Sheet]) -> dict[str, ArrayInfo]:
    """Return the infos of the arrays of all recorded tables; the caller who asks for labels gets theirs."""
    if not (notes := find_recorded(book, sheets)):
        return {}
    tables = open_recorded(book, notes, open_snapshots(book))
    with keeping_unreadable() as unreadable:
        _, labels = read_recorded(tables, resize=True)
        unreadable.clear()
    if labels is not None:
        give_labels(labels)
    return {name: info for table in tables for name, info in table.describe().items()}


def read_recorded(
    tables: Sequence[RecordedTable], *, resize: bool, names: Sequence[str] | None = None
) -> tuple[ArraysByName, DatasetLabels | None]:
    """Return the arrays of recorded tables, and the labels of all of them; None if they have none.

    `names`: of the arrays whose cells have to be readable; None for all.

    Raises:
        FormatError: a cell cannot be read, and no context around the call keeps such cells; or the cells of a table
            are not those of its arrays any more; or two tables have arrays of one name.
    """
    arrays: ArraysByName = {}
    places: dict[str, str] = {}
    labels: DatasetLabels | None = None
    for table in tables:
        for name, errors in table.unreadable_elements.items():
            keep_elements(name, errors)
        wrong = [error for error in table.errors if names is None or error.array in names]
        if wrong and not keeps_all():
            raise wrong[0]
        if not resize:
            table.check_rows()
        stacked, own = table.stacked
        if not resize:
            table.check_labels()
        for name, array in stacked.items():
            if name in places:
                raise FormatError(
                    f"two arrays have the name {name!r:.80}, in the sheets {places[name]!r} and {table.title!r}",
                    hint="sheet= reads one of the sheets",
                )
            arrays[name], places[name] = array, table.title
        if table.note.is_labelled and labels is None:
            labels = own
        elif table.note.is_labelled and labels is not None:
            labels.coords |= own.coords
            labels.data_vars |= own.data_vars
    return arrays, labels


def _read_columns(book: Workbook, title: str, note: TableNote, tables: Mapping[str, NamedTable]) -> TableColumns:
    """Return the columns of a table, in the dtypes that were written.

    `tables`: the Excel Tables of the workbook, by their names.
    """
    there = next((table for name, table in tables.items() if name.casefold() == note.table.casefold()), None)
    dtypes = note.dtypes | dict.fromkeys(note.texts, "string")
    options = TableOptions(dtype=dtypes, header=1)
    sheet = book.sheet(title)
    if there is not None and there.title.casefold() == title.casefold():
        _, options = TableOptions(dtype=dtypes, table=note.table).locate(title, dict, lambda: tables)
        if not there.total_rows and isinstance(options.range, Area):
            options = replace(options, range=_extend(sheet, options.range))
    columns = read_table(ExcelTable(sheet, is_foreign=False), None, options)
    for name in columns:
        if name in note.texts:
            columns[name] = np.array([text or None for text in columns[name].tolist()], object)
        elif note.dtypes.get(name) == "generic":
            columns[name] = np.array([*map(_without_mark, columns[name].tolist()), None], object)[:-1]
    return columns


def _extend(sheet: ExcelSheet, area: Area) -> Area:
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


def _restore(
    columns: TableColumns, written: Mapping[str, np.ndarray[Any, Any]], note: TableNote
) -> dict[str, Positions]:
    """Give numbers that a program rounded their exact bits again, and return which row is which, by column."""
    pairs = {
        name: (written[name], column)
        for name, column in columns.items()
        if name in written and written[name].dtype.kind == column.dtype.kind
    }
    if all(_is_kept(*pair) for pair in pairs.values()):  # all rows stand where they stood
        columns.update({name: before.astype(now.dtype) for name, (before, now) in pairs.items()})
        return {name: np.arange(len(now)) for name, (_, now) in pairs.items()}
    axes = [name for name in note.axes.values() if name in pairs]
    groups = [LabelGroup(axes, dict.fromkeys(pairs, 0))] if axes and len(axes) == len(note.axes) else []
    grouped, sources_of = map_rows(pairs, groups), dict[str, Positions]()
    for name, (before, now) in pairs.items():
        maps = grouped.maps.get(name, [])
        if not maps and len(before) != len(now):
            continue
        sources = sources_of[name] = maps[0].sources if maps else np.arange(len(now))
        is_there = sources >= 0
        mask = np.zeros(len(now), np.bool_)
        aligned = np.array(now)
        if before.dtype != now.dtype and now.dtype.kind in "UT":
            continue
        aligned[is_there] = before[sources[is_there]]
        mask[is_there] = mark_kept(before[sources[is_there]], now[is_there], from_numpy(now.dtype))
        columns[name] = KeptElements(aligned, mask).restore(now)
    return sources_of


def _is_kept(before: np.ndarray[Any, Any], now: np.ndarray[Any, Any]) -> bool:
    """Return whether a column is as it was, or only rounded."""
    if len(before) != len(now) or (before.dtype != now.dtype and now.dtype.kind not in "UT"):
        return False
    return bool(mark_kept(before, now, from_numpy(now.dtype)).all())


def _without_mark(value: Any) -> Any:
    """Return a value of a generic column, without the apostrophe that tells a text such as "1" from a number."""
    is_marked = isinstance(value, str) and value.startswith("'")
    return generic_from_text(value, formulas="escape") if is_marked else value
