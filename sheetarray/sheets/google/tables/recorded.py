"""Recorded tables in worksheets: where they stand, the rows that append adds, and what accept makes true of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from ....changes.compare import Comparison
from ....columns import ArrayInfo, LayoutColumn, SheetRoom, cell_address, keeping_unreadable
from ....dtypes import Array, from_name
from ....elements import Cell
from ....errors import DTypeError, LimitError, SheetArrayWarning, warn_caller
from ....labels import takes_recorded_tables
from ....linear.array import LinearArray
from ....tables import SearchOptions, Table, TableColumns, TableOptions, lay_out_table
from ...accepted import AcceptedArrays, compare_infos
from ...recorded_tables import (
    RecordedTable,
    accept_columns,
    leave_unreadable,
    open_recorded,
    read_as_ordinary,
    read_recorded,
    renew_note,
)
from ...table_areas import RecordedPlace, find_recorded, names_of_columns
from ..named_ranges import PlacedColumn
from ..requests import Answer
from ..standing import StandingSheet
from ..state.records import TableRecord, pack_notes
from ..state.spreadsheet import MOST_CHARACTERS, State
from ..worksheet import GoogleSheet
from .records import put_record


def find_places_of_tables(sheets: Sequence[GoogleSheet]) -> list[RecordedPlace]:
    """Return the recorded tables that stand in some worksheets, whose cells are then fetched as a whole.

    Warns:
        SheetArrayWarning: a record is gone or damaged, so that its table is an ordinary one.
    """
    notes: dict[str, object] = {}
    by_title = {sheet.title or "": sheet for sheet in sheets}
    for title, sheet in by_title.items() if takes_recorded_tables() else ():
        if not sheet.record.text and sheet.record.exists:
            warn_caller(f"the hidden sheet with the record of {title!r:.60} is gone: it is read as any other sheet")
        if own := sheet.record.read():
            notes[title] = own
            sheet.fetch_whole()
            if not sheet.is_proven:  # the record is of the state
                sheet.check_unchanged()
    if not notes:
        return []

    def open_cells(title: str, place_dates: Callable[[], Collection[int]]) -> _RecordedCells:
        return _RecordedCells(by_title[title], place_dates)

    return find_recorded(notes, by_title, [*by_title], dict, open_cells)


def read_ordinary(view: GoogleSheet, columns: Sequence[str] | None, options: TableOptions) -> TableColumns:
    """Return the columns of a worksheet as those of an ordinary table.

    A verb that takes tables where there are no arrays leaves out what people put below and beside a recorded one.
    Where there are several, and each is read by itself, that one is meant which has the columns.
    """
    find_places = cache(partial(_find_quietly, view))
    if isinstance(options, SearchOptions) and options.range is None:
        places = find_places()
        if options.is_split and columns is not None:
            places = [place for place in places if {*columns} <= {*place.place_names().values()}]
        if len(places) == 1:
            return _read_place(view, places[0], columns, options)
    table = read_as_ordinary(view, columns, options, find_places)
    table.list_formulas = view.list_formulas
    return table


def list_readers(
    view: GoogleSheet, columns: Sequence[str] | None, options: TableOptions
) -> dict[str, Callable[[], TableColumns]]:
    """Return what reads the table of a worksheet, by its title; of several recorded ones each, by its first cell."""
    title = view.title or ""
    places = _find_quietly(view) if options.is_split else []
    if len(places) < 2:
        return {title: partial(read_ordinary, view, columns, options)}
    areas = [area for place in places if (area := place.options.area) is not None]

    def read_part(number: int) -> TableColumns:
        table = _read_place(view, places[number], columns, options)
        outside = table.cells_outside if number == 0 else {}  # of them the first table tells
        table.cells_outside = {
            (row, column): cell
            for (row, column), cell in outside.items()
            if not any(area.top <= row < area.bottom and area.left <= column < area.right for area in areas)
        }
        return table

    return {
        f"{title}!{cell_address(area.top, area.left)}": partial(read_part, number) for number, area in enumerate(areas)
    }


def _find_quietly(view: GoogleSheet) -> list[RecordedPlace]:
    """Return the recorded tables of a worksheet, without a warning of one that has lost its columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SheetArrayWarning)
        return find_places_of_tables([view])


def _read_place(
    view: GoogleSheet, place: RecordedPlace, columns: Sequence[str] | None, options: TableOptions
) -> TableColumns:
    """Return the columns of a recorded table as those of an ordinary one."""
    options = replace(options, range=place.options.range, header=1)
    table = read_as_ordinary(
        _RecordedCells(view, place.place_dates, shows_others=True), columns, options, lambda: [place]
    )
    table.list_formulas = view.list_formulas
    return table


@dataclass
class _RecordedCells:
    """The cells of a worksheet, in which the columns of dates are known: nothing has to be fetched for them."""

    sheet: GoogleSheet
    place_dates: Callable[[], Collection[int]]
    shows_others: bool = False  # whether dates in other columns are told by what people see, which is fetched

    @property
    def title(self) -> str | None:
        """The title of the worksheet."""
        return self.sheet.title

    @title.setter
    def title(self, title: str | None) -> None:
        self.sheet.title = title

    def first_rows(self) -> Sequence[Sequence[Cell]]:
        """Return the first rows."""
        return self.sheet.first_rows()

    def table(self) -> Table:
        """Return all cells."""
        dates = self.place_dates()
        return self.sheet.table(dates) if self.shows_others else self.sheet.fetched_table(dates)


@dataclass(frozen=True)
class AppendedRows:
    """Rows below a recorded table.

    Attributes:
        columns: the new elements, with the cells that they take.
        note: what the record says of the table afterwards.
    """

    columns: Sequence[PlacedColumn]
    note: Mapping[str, Any]


def find_places_on(content: StandingSheet) -> list[RecordedPlace]:
    """Return the recorded tables of a worksheet that is looked at before a write."""
    content.view.title, content.view.is_proven = content.sheet.title, True  # a write proves it
    return find_places_of_tables([content.view])


def list_standing_notes(content: StandingSheet, new: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the notes of the tables that stand in a worksheet before another one is put beside them.

    Raises:
        LimitError: one of them has all columns of the new one, or the new one all of its: nobody could tell them apart.
    """
    content.view.title, content.view.is_proven = content.sheet.title, True  # a write proves it
    trees = [place.tree for place in _find_quietly(content.view)]
    content.view.title = None
    names, names_beside = names_of_columns(new), [names_of_columns(tree) for tree in trees]
    if any(names <= other or other <= names for other in names_beside):
        raise LimitError("a table with these columns stands there already: write to another worksheet")
    return trees


def has_table_of(record: TableRecord, names: Collection[str]) -> int:
    """Return whether a worksheet has a table with columns of some names: 2 if it has, 1 if a hidden sheet tells."""
    if record.gid is not None and not record.text:
        return 1
    return 2 * any({*names} <= {*note.get("dtypes", ())} for note in record.read())


def find_place_of_columns(places: Sequence[RecordedPlace], names: Collection[str]) -> RecordedPlace | None:
    """Return the recorded table that has columns of some names; None if there is none."""
    return next((place for place in places if {*names} <= {*place.note.dtypes}), None)


def renew_record(record: TableRecord, notes: Sequence[tuple[RecordedPlace, Mapping[str, Any]]]) -> str:
    """Return the text of a record in which some tables have other notes."""
    trees = record.read()
    for place, note in notes:
        trees[trees.index(dict(place.tree))] = dict(note)
    return pack_notes(trees)


def append_to_table(
    place: RecordedPlace, fit: Callable[[Mapping[str, ArrayInfo]], Mapping[str, Array]]
) -> AppendedRows:
    """Return rows that go below a table.

    `fit`: returns the rows as they fit the columns of which it gets the infos.

    Raises:
        DTypeError: a column does not hold the rows.
        FormatError: the table has other rows than its record says, or the labels of a new row already; or a label
            cannot be read.
        LimitError: rows of another length, or for some columns only.
    """
    (table,) = open_recorded([place])
    for errors in table.unreadable_labels.values():
        raise next(error for error in errors.tolist() if error is not None)
    table.check_rows()
    area = place.options.area
    assert area is not None
    infos = {
        name: ArrayInfo((table.rows,), dtype, "row-major", (1,), f"{place.title}!A1", table.rows)
        for name, dtype in table.note.dtypes.items()
    }
    rows = {name: np.asarray(array) for name, array in fit(infos).items()}
    for name in table.note.texts:
        if not all(value is None or isinstance(value, str) for value in rows[name].tolist()):
            raise DTypeError(f"{name}: the column holds text, and a new row does not")
    grown = {name: np.concatenate([table.columns[name], rows[name]]) for name in rows}
    left = {name: column for name, column in table.columns.items() if name not in rows}
    count = len(next(iter(rows.values()), ()))
    blank = {name: np.concatenate([column, _blanks(column, count)]) for name, column in left.items()}
    order = {name: {**grown, **blank}[name] for name in table.columns}
    note = renew_note(replace(table, columns=TableColumns(order)))
    places = table.columns.place_columns([*rows])
    below = (table.columns.list_rows() or [table.columns.name_row])[-1] + 1
    pieces = _lay_out(table, rows)
    columns = [PlacedColumn(index, piece, below, places[piece.name], False) for index, piece in enumerate(pieces)]
    return AppendedRows(columns, note)


def _blanks(column: Array, count: int) -> Array:
    """Return missing values for a column that people have added."""
    return np.full(count, np.nan) if column.dtype.kind in "iuf" else np.full(count, None, object)


def _lay_out(table: RecordedTable, rows: Mapping[str, Array]) -> list[LayoutColumn]:
    """Return new elements as the columns of the table hold them."""
    linear = {name: LinearArray.from_numpy(array) for name, array in rows.items()}
    layout = lay_out_table(linear, SheetRoom(None, None, MOST_CHARACTERS), serials=True)
    pieces = []
    for piece in layout.pieces:
        array = linear[piece.name]
        if table.note.dtypes[piece.name] == "generic" and piece.name not in table.note.texts:
            piece = LayoutColumn(piece.name, [], from_name("generic"), array.to_numpy())  # marks tell "1" from 1
        pieces.append(piece)
    return pieces


def accept_tables(
    sheets: Sequence[GoogleSheet], places: Sequence[RecordedPlace], state: State, accepted: AcceptedArrays
) -> tuple[AcceptedArrays, dict[int, list[Answer]]]:
    """Return the accepted arrays with those of recorded tables, and by worksheet the requests that renew its record.

    Raises:
        FormatError: the cells of a table are not those of its arrays any more.
    """
    tables, unreadable_labels = leave_unreadable(open_recorded(places))
    with keeping_unreadable() as unreadable:
        arrays, labels = read_recorded(tables, resize=True)
    renewed: dict[str, list[tuple[RecordedPlace, Mapping[str, Any]]]] = {}
    before: dict[str, ArrayInfo] = {}
    now: dict[str, ArrayInfo] = {}
    for table in tables:
        infos = table.describe()
        now |= infos
        for name, info in infos.items():
            variable = table.note.labels.find(name)
            shape = (table.note.rows or table.rows,) if variable is None else variable.shape
            before[name] = replace(info, shape=tuple(shape)) if name in table.note.names else info
        if table.has_other_rows or table.has_other_columns or table.list_other_shapes():
            place = next(place for place in places if place.note is table.note)
            renewed.setdefault(table.title, []).append((place, renew_note(table)))
    comparisons: dict[str, Comparison] = {
        name: compare_infos(name, before[name], info, unreadable.get(name)) for name, info in now.items()
    }
    whole = replace(
        accept_columns(accepted, tables),
        infos=({**accepted.infos[0], **before}, {**accepted.infos[1], **now}),
        arrays={**accepted.arrays, **arrays},
        unreadable={**accepted.unreadable, **unreadable, **unreadable_labels},
        comparisons={**accepted.comparisons, **comparisons},
        labels=accepted.labels or labels,
    )
    requests: dict[int, list[Answer]] = {}
    for view in sheets:
        if (notes := renewed.get(view.title or "")) and (sheet := state.by_title(view.title or "")) is not None:
            requests[sheet.gid] = put_record(view.record, sheet.gid, renew_record(view.record, notes))
    return whole, requests
