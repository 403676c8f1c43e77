"""Tables whose record says which arrays they are: `read` and `read_dataset` take them as the arrays that were written.

The record keeps a `TableNote` of each table: dtypes, labels, dimensions, and which column holds which part of which
array. Workbooks, in files and in memory, have a place for it, and so have Google Sheets. Where a guard keeps the
columns as they were written, numbers that a program rounded get their bits again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..changes.evidence import KeptElements
from ..changes.rounding import mark_kept
from ..changes.row_groups import LabelGroup, map_rows
from ..columns import ArrayInfo, DataCells, keeping_unreadable
from ..columns.grid import cell_address
from ..columns.unreadable import keep_elements, keeps_all
from ..dtypes import Positions, from_numpy
from ..elements import is_missing_word
from ..errors import NO_ARRAY, Finding, FormatError, SheetArrayWarning, locating
from ..labels import DatasetLabels, ElementRows, TableNote, give_labels, stack_labels, wants_labels
from ..labels.datasets import fit_labels
from ..linear.array import LinearArray
from ..linear.data_cells import TakenWords
from ..linear.named import linear_arrays, select
from ..linear.parsing import warn_of_finding
from ..tables import SearchOptions, TableColumns, TableOptions, TableSheet, count_blank_rows, ends_in_totals, read_table
from .accepted import AcceptedArrays
from .table_areas import ArraysByName, RecordedPlace, WrittenColumns


@dataclass
class RecordedTable:
    """A table whose columns hold arrays.

    Attributes:
        title: of its sheet.
        written_title: the title that the sheet had when it was written.
        note: what its record says.
        columns: as they are; numbers that a program rounded have their exact bits where a guard tells them.
        unreadable: of columns that have cells which cannot be read, the errors; None for all other cells.
        written: the columns as they were; none without a guard.
        sources: for each column and each of its rows, the row that it was; -1 for a row that was added.
        names: of the arrays whose columns were read; None for all.
        words: counts the words that were read as missing values; None if there are none.
    """

    title: str
    written_title: str
    note: TableNote
    columns: TableColumns
    unreadable: ArraysByName
    written: ArraysByName = field(default_factory=dict)
    sources: dict[str, Positions] = field(default_factory=dict)
    names: Sequence[str] | None = None
    words: Finding | None = None

    @cached_property
    def stacked(self) -> tuple[ArraysByName, DatasetLabels]:
        """The arrays and their labels.

        Raises:
            FormatError: the cells of the table are not those of its arrays any more.
        """
        try:
            arrays, labels = stack_labels(self.columns, None, None, self.note, np.array, self.written, names=self.names)
        except FormatError as error:
            error.location = error.location or f"sheet {self.title}"
            raise
        return self.note.as_written(arrays), labels

    @cached_property
    def stacked_as_written(self) -> ArraysByName:
        """The arrays as they were, from the guard; none without one."""
        if not self.written:
            return {}
        note = replace(self.note, coords_beside=self.note.coords_beside | self.note.old_coords_beside)
        return note.as_written(stack_labels(self.written, None, None, note, np.array)[0])

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

    @property
    def unreadable_labels(self) -> ArraysByName:
        """The errors of labels that cannot be read, by column: nobody knows which elements stand in their rows."""
        return {name: errors for name, errors in self.unreadable.items() if name in self.note.axes.values()}

    @cached_property
    def unreadable_elements(self) -> ArraysByName:
        """For each array, the errors of its unreadable elements; None for all other elements.

        Raises:
            FormatError: the cell of a label cannot be read, so that nobody knows which elements stand in its row.
        """
        axes = {*self.note.axes.values()}
        for errors in self.unreadable_labels.values():
            raise next(error for error in errors.tolist() if error is not None)
        if not self.unreadable:
            return {}
        nothing = np.full(self.rows, None, object)
        columns = {
            name: column if name in axes else self.unreadable.get(name, nothing)
            for name, column in self.columns.items()
        }
        stacked, _ = stack_labels(
            columns, None, None, self.note, np.array, self.written, may_differ=True, names=self.names
        )
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

    @property
    def has_other_columns(self) -> bool:
        """Whether columns were renamed, added or deleted."""
        return bool(self.note.old_names or self.note.gone) or {*self.columns} != {*self.note.dtypes}

    def check_columns(self) -> None:
        """Refuse a table without a column that its other arrays need.

        Raises:
            FormatError: there is none.
        """
        _ = self.stacked

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
        for name, before, now in self.list_other_shapes():
            what = f"has the shape {now} now, and had {before}"
            raise self._refuse(f"other labels than were written: {name!r:.80} {what}")

    def list_other_shapes(self) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
        """Return the arrays that have another shape for other labels, with the one that they had and the one now."""
        if len(self.note.axes) + bool(self.note.beside) < 2:
            return []
        arrays, labels = self.stacked
        before = {name: variable.shape for name, variable in self.note.labels.variables.items() if name in arrays}
        return [
            (name, tuple(shape), arrays[name].shape)
            for name, shape in before.items()
            if labels.has_array(name) and tuple(shape) != arrays[name].shape
        ]

    def _refuse(self, what: str) -> FormatError:
        hint = "resize=True reads the rows that are there; sa.accept takes the change"
        return FormatError(f"the table has {what}", location=f"sheet {self.title}", hint=hint)

    @cached_property
    def places(self) -> ElementRows:
        """The row in which each element stands."""
        return ElementRows(self.columns, self.note, self.written)

    def name_cell(self, name: str) -> str:
        """Return the address of the cell that holds the name of a column."""
        return f"{self.title}!" + cell_address(self.columns.name_row, self.columns.column_of(name))

    def find_cell(self, name: str, index: Sequence[int]) -> str | None:
        """Return the address of the first cell of an array's element."""
        if name == self.note.beside in self.note.coords_beside:
            label = next((column for column, (_, at) in self.note.places.items() if at == index[0]), None)
            return None if label is None else self.name_cell(label)
        place = self.places.find(name, index)
        if place is None or place[0] not in self.columns:
            return None
        runs = self.columns.data_cells(place[0])
        run = next((run for run in reversed(runs) if run.first <= place[1]), None)
        return None if run is None else run.address(place[1])

    def _drop_values(self) -> RecordedTable:
        """Return a table that knows where its elements stand and nothing else, which takes little memory."""
        columns = TableColumns(dict.fromkeys(self.columns, np.zeros(0)))
        columns.take_places(self.columns)
        table = RecordedTable(self.title, self.written_title, self.note, columns, {})
        table.places = self.places
        return table

    def describe(self) -> dict[str, ArrayInfo]:
        """Return the infos of the arrays. `data` says where the elements stand, if each row is one element."""
        arrays, labels = self.stacked
        cells = self._drop_values() if wants_labels() and not self.places.are_counted else None
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
                None if cells is None or data else partial(cells.find_cell, name),
            )
        return infos


def open_recorded(
    places: Sequence[RecordedPlace], snapshots: WrittenColumns | None = None, names: Sequence[str] | None = None
) -> list[RecordedTable]:
    """Return the tables of some places, with the errors of the cells that are not of the dtype of their column.

    `snapshots`: of the container; None to take the cells as they are. `names`: of the arrays that are wanted, whose
    columns alone are read; None for all.

    Raises:
        FormatError: the cells are no table any more.
    """
    tables = []
    unknown = {*(names or ())} - {name for place in places for name in place.note.names}
    for place in places:
        own = names
        if names is not None:
            own = None if unknown and place.may_hold(unknown) else [name for name in names if name in place.note.names]
        if own != []:
            tables.append(_open_place(place, snapshots, own))
    return tables


def _open_place(place: RecordedPlace, snapshots: WrittenColumns | None, names: Sequence[str] | None) -> RecordedTable:
    """Return a table, or the columns of some of its arrays."""
    note = place.note
    needed_columns = None if names is None else [name for name in note.list_columns(names) if name not in note.gone]
    with locating(sheet=place.title), keeping_unreadable() as unreadable:
        columns = read_table(place.open_table(), needed_columns or None, place.options, least_rows=place.least_rows)
        errors = dict(unreadable)
        unreadable.clear()  # a context around the call gets those of arrays
    _take_dtypes(columns, note)
    only = names if needed_columns else None
    words = _take_words(columns, note, errors) if place.takes_words else None
    table = RecordedTable(place.title, place.written_title, note, columns, errors, names=only, words=words)
    needed = ({*note.dtypes} if not needed_columns else {*needed_columns} & {*note.dtypes}) - {*note.gone}
    old_names = {note.old_names.get(name, name): name for name in needed}
    stored = {} if snapshots is None else snapshots.read_columns(place.written_title, [*old_names])
    written = {old_names[name]: column for name, column in stored.items()}
    if written and needed <= {*written}:
        if needed_columns and not all(_is_kept(written[name], columns[name]) for name in needed):
            return _open_place(place, snapshots, None)  # all columns together tell which row is which
        table.written, table.sources = written, _restore(columns, written, note)
    return table


def _take_words(columns: TableColumns, note: TableNote, errors: ArraysByName) -> Finding | None:
    """Put NaN in the place of words for it, remove their errors, and return the finding that counts them."""
    words = TakenWords()
    for name, column in list(errors.items()):
        if not note.dtypes.get(name, "").startswith(("float", "complex")):
            continue
        errors[name] = left = column.copy()
        taken: list[int] = []
        for index in np.flatnonzero(column.astype(np.bool_)).tolist():
            word = column[index].reason.rpartition("found ")[2]
            if is_missing_word(word.strip("'")):
                left[index] = None
                taken.append(index)
                words.take_cell(note.places.get(name, (name, 0))[0], "f", index, str(column[index].location), word)
        columns[name] = columns[name].copy()
        columns[name][taken] = np.nan
        if not left.astype(np.bool_).any():
            del errors[name]
    return words.to_finding() if words.counts else None


def leave_out_below(options: TableOptions, find_places: Callable[[], Sequence[RecordedPlace]]) -> TableOptions:
    """Return options with the range of a recorded table for a verb that takes tables where there are no arrays.

    So it leaves out what people put below and beside the table. All other options stay as they are.

    `find_places`: returns the recorded tables of the sheet.
    """
    has_own = options.range is not None or options.skip_rows or options.skip_footer or options.nrows is not None
    if not isinstance(options, SearchOptions) or has_own:
        return options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # of a table that has lost its columns
        places = find_places()
    return replace(options, range=places[0].options.range, header=1) if len(places) == 1 else options


def read_as_ordinary(
    cells: TableSheet,
    columns: Sequence[str] | None,
    options: TableOptions,
    find_places: Callable[[], Sequence[RecordedPlace]],
) -> TableColumns:
    """Return the columns of a sheet as those of an ordinary table.

    If the sheet has a record, it says that the first row holds the names, numbers or not, and how many rows of text
    there are.

    `columns`, `options`: as for `read_table`. `find_places`: returns the recorded tables of the sheet.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)  # of a table that has lost its columns
        places = find_places()
    place = next((place for place in places if options.range in (None, place.options.range)), None)
    if place is None:
        return read_table(cells, columns, options)
    area = place.options.area
    says_names = options.header is None and options.range is None and not options.skip_rows
    if says_names and area is not None and area.top == 0:
        options = replace(options, header=1)
    return read_table(cells, columns, options, least_rows=place.least_rows)


def _take_dtypes(columns: TableColumns, note: TableNote) -> None:
    """Give columns of text and None, which are read as text, their own values."""
    for name in columns:
        if name in note.texts:
            columns[name] = np.array([text or None for text in columns[name].tolist()], object)


def read_with_tables(
    places: Sequence[RecordedPlace],
    read_arrays: Callable[[Sequence[str] | None], ArraysByName],
    names: Sequence[str] | None,
    *,
    resize: bool,
    snapshots: WrittenColumns | None = None,
) -> ArraysByName:
    """Return the arrays of a container, and those of its recorded tables, by name; the caller who asks gets labels.

    `places`: of the tables. `read_arrays`: returns the other arrays of some names. `names`: that are wanted; None for
    all. `resize`: read other rows than were written.

    Raises:
        FormatError: as `read_recorded`, or of `read_arrays`; or two arrays have one name.
        NotFoundError: nothing has one of the names.
    """
    if not places:
        return read_arrays(names)
    recorded, labels = read_recorded(open_recorded(places, snapshots, names), resize=resize, names=names)
    if labels is not None:
        give_labels(labels)
    left = None if names is None else [name for name in names if name not in recorded]
    arrays: ArraysByName = {}
    try:
        if left != []:
            arrays = read_arrays(left)
    except FormatError as error:
        if error.reason != NO_ARRAY:
            raise
    return _select_arrays(arrays, recorded, places, names)


def scan_with_tables(
    places: Sequence[RecordedPlace],
    scan_arrays: Callable[[], dict[str, ArrayInfo]],
    snapshots: WrittenColumns | None = None,
) -> dict[str, ArrayInfo]:
    """Return the infos of the arrays of a container, and of those of its recorded tables; see `read_with_tables`."""
    if not places:
        return scan_arrays()
    tables = open_recorded(places, snapshots)
    with keeping_unreadable() as unreadable:
        _, labels = read_recorded(tables, resize=True)
        unreadable.clear()
    if labels is not None:
        give_labels(labels)
    recorded = {name: info for table in tables for name, info in table.describe().items()}
    try:
        arrays = scan_arrays()
    except FormatError as error:
        if error.reason != NO_ARRAY:
            raise
        return recorded
    _refuse_clash(arrays, recorded)
    return {**arrays, **recorded}


def _select_arrays(
    arrays: ArraysByName, recorded: ArraysByName, places: Sequence[RecordedPlace], names: Sequence[str] | None
) -> ArraysByName:
    """Return arrays, and those of recorded tables, that a caller wants by names; None for all.

    Raises:
        FormatError: two of them have one name.
        NotFoundError: nothing has one of the names.
    """
    _refuse_clash(arrays, recorded)
    both = {**arrays, **recorded}
    if names is not None:
        select(dict.fromkeys([*both, *(name for place in places for name in place.note.names)]), names)
    return select(both, names)


def _refuse_clash(arrays: Collection[str], tables: Collection[str]) -> None:
    """Refuse an array that has the name of an array in a recorded table.

    Raises:
        FormatError: there are such arrays.
    """
    if both := [name for name in tables if name in arrays]:
        reason = f"two arrays have the name {both[0]!r:.80}, one of them in a table"
        raise FormatError(reason, hint="sheet= reads one of the sheets")


def leave_unreadable(tables: Sequence[RecordedTable]) -> tuple[list[RecordedTable], ArraysByName]:
    """Return the tables whose labels can all be read, and the errors of the labels of the others."""
    left: ArraysByName = {}
    for table in tables:
        left |= table.unreadable_labels
    return [table for table in tables if not table.unreadable_labels], left


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
        if table.words is not None:
            warn_of_finding(table.words)
        if not resize:
            table.check_rows()
        stacked, own = table.stacked
        if not resize:
            table.check_labels()
        for name, array in stacked.items():
            if name in places:
                raise _refuse_twice(name, places[name], table.title)
            arrays[name], places[name] = array, table.title
        if table.note.is_labelled and labels is None:
            labels = own
        elif table.note.is_labelled and labels is not None:
            labels.coords |= own.coords
            labels.data_vars |= own.data_vars
    return arrays, labels


def _refuse_twice(name: str, title: str, other: str) -> FormatError:
    """Return the error that refuses two arrays of one name, in tables of the sheets of two titles."""
    if title == other:
        reason = f"two arrays have the name {name!r:.80}, in two tables of the sheet {title!r}"
        return FormatError(reason, hint="names= reads the others")
    reason = f"two arrays have the name {name!r:.80}, in the sheets {title!r} and {other!r}"
    return FormatError(reason, hint="sheet= reads one of the sheets")


def accept_columns(accepted: AcceptedArrays, tables: Sequence[RecordedTable]) -> AcceptedArrays:
    """Return what was accepted, with the columns of tables that were renamed, added or deleted."""
    renamed, added, deleted = dict(accepted.renamed), [*accepted.added], [*accepted.deleted]
    for table in tables:
        note = table.note
        renamed |= {before: now for now, before in note.old_names.items() if now not in note.places}
        added += [name for name in table.columns if name not in note.dtypes]
        deleted += note.gone
    return replace(accepted, renamed=renamed, added=added, deleted=deleted)


def renew_note(table: RecordedTable) -> dict[str, Any]:
    """Return the note of a table as it is now, as JSON."""
    arrays, labels = table.stacked
    columns = linear_arrays(table.columns)
    fresh = [name for name in columns if name not in table.note.dtypes]
    note = replace(
        table.note,
        labels=fit_labels(labels, arrays) if table.note.is_labelled else table.note.labels,
        dtypes={name: array.dtype for name, array in columns.items()},
        names=[*table.note.names, *fresh],
        rows=table.rows,
        blank_rows=count_blank_rows(table.columns),
        ends_in_totals=ends_in_totals(table.columns),
    )
    return note.to_json()


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
