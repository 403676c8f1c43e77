"""A table of a sheet -> one array for each column: finds the rows of names and of data, then reads the columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import islice
from typing import Any

from ..changes.formulas import Formula
from ..columns import DataCells, anchors_of_grid, cell_address, keeping_unreadable
from ..columns.unreadable import keeping_now
from ..dtypes import Array
from ..elements import Cell
from ..errors import Finding, FormatError
from .cells import Table, TableSheet, crop_table
from .column_reading import ColumnReader
from .dialect import Dialect
from .doubtful.cells import lint_table
from .doubtful.rows import doubt_cut_integers, doubt_repeated_names, doubt_rows
from .doubts import list_findings
from .names import name_columns, select_names
from .options import TableOptions
from .rows import EmptySheetError, TableRows, select_rows

_BLANKS_ALWAYS, _BLANKS_TIMES = 2**23, 32  # blanks that a table may have, and how many more for each other cell


class TableColumns(dict[str, Array]):
    """The columns of a table by name, with what was assumed of it.

    Attributes:
        title: of its sheet; None where the container has only one.
        name_row: the last row of the sheet that holds names, counted from 0; -1 if none does.
        dialect: what was assumed; None if the container says it all.
        findings: what is doubtful.
        runs: the first row of each run of rows of data that stand one below the other in the sheet: its number among
            the rows of data, and in the sheet.
        unreadable: the errors of cells that cannot be read, by column, where several sheets are read at once and a
            context keeps these errors.
        cells_outside: what stands in the sheet above, below and beside the table, by row and column counted from 0.
        list_formulas: returns the formulas of the sheet by row and column, counted from 0; None where the format tells
            them.
    """

    def __init__(
        self,
        columns: Mapping[str, Array],
        dialect: Dialect | None = None,
        findings: Sequence[Finding] = (),
        places: Mapping[str, int] | None = None,
        runs: Sequence[tuple[int, int]] = (),
        title: str | None = None,
        name_row: int = -1,
    ) -> None:
        super().__init__(columns)
        self.dialect, self.findings, self.runs = dialect, list(findings), list(runs)
        self._places, self.title = dict(places or {}), title
        self.name_row = name_row
        self.unreadable: Mapping[str, Array] = {}
        self.cells_outside: Mapping[tuple[int, int], Cell] = {}
        self.list_formulas: Callable[[], Mapping[tuple[int, int], Formula]] | None = None

    def take_places(self, other: TableColumns) -> None:
        """Take the places of the cells, the title and the row of names from another table."""
        self._places, self.runs, self.title, self.name_row = other._places, other.runs, other.title, other.name_row

    def column_of(self, name: str) -> int:
        """Return the column of the sheet, counted from 0, in which a column of the table stands."""
        return self._places[name]

    def place_columns(self, names: Sequence[str]) -> dict[str, int]:
        """Return the column of the sheet, counted from 0, for each of some columns; new ones go to the right.

        Raises:
            FormatError: a new column in a table without names.
        """
        fresh = [name for name in names if name not in self._places]
        if fresh and self.name_row < 0:
            raise FormatError("a table without names takes no new column", hint="name a target with another suffix")
        right = max(self._places.values(), default=-1) + 1
        return {**self._places, **{name: right + number for number, name in enumerate(fresh)}}

    def list_rows(self) -> list[int]:
        """Return the row of the sheet, counted from 0, in which each row of data stands."""
        count = len(next(iter(self.values()), ()))
        ends = [*(first for first, _ in self.runs[1:]), count]
        spans = [range(row, row + end - first) for (first, row), end in zip(self.runs, ends, strict=False)]
        return [row for span in spans for row in span]

    def data_cells(self, name: str) -> list[DataCells]:
        """Return the ranges of the cells of a column, from the top down."""
        column = self._places[name]
        return [DataCells(self.title, row, column, "columns", first) for first, row in self.runs]


def read_table(
    sheet: TableSheet,
    columns: Sequence[str] | None = None,
    options: TableOptions | None = None,
    *,
    least_rows: int = 0,
) -> TableColumns:
    """Return the columns of a table as arrays, by name.

    `columns`: names (or letters) of the columns that are wanted; None for all. `options`: what the caller says of the
    table; None for nothing. `least_rows`: of data, which count although the last of them are blank.

    Raises:
        FormatError: there is no table, a cell does not fit the dtype, or a column does not fill its shape.
        NotFoundError: no such column, or no such range.
    """
    options = options or TableOptions()
    if options.range is None and options.table is None:
        refuse_arrays(sheet)
        table = whole = sheet.table()
    else:
        area, whole = options.area, sheet.table()
        assert area is not None
        table = crop_table(whole, area)
        if isinstance(options.skip_rows, int):
            options = replace(options, skip_rows=area.top + options.skip_rows)
    rows = select_rows(table, options, least_rows)
    doubts = [*table.doubts, *rows.heading.doubts]
    names = name_columns(table, rows, doubts)
    if isinstance(options.dtype, Mapping) or isinstance(options.shape, Mapping):
        options = _name_options(options, names)
    selected = names if columns is None else {name: names[name] for name in select_names(names, columns)}
    if table.held is not None:
        _refuse_blanks(table, table.held, rows, len(selected))
    doubts += doubt_rows(table, rows, names, selected, options)
    reader = ColumnReader(table, rows, options, doubts, sheet.title)
    arrays = reader.read(selected)
    doubts += doubt_repeated_names(table, rows, selected, arrays)
    doubts += doubt_cut_integers(table, rows, selected, arrays, "f" if options.dtype is None else "fiu")
    dialect = Dialect(
        table.marks,
        table.encoding,
        reader.marks.point,
        reader.marks.thousands,
        table.row_of(rows.names[0] if rows.names else int(rows.data[0])) if rows.names or len(rows.data) else 0,
        tuple(table.row_of(row) + 1 for row in rows.names),
        len(names),
        len(rows.data),
    )
    titles = {number: name for name, number in selected.items()}
    findings = list_findings(doubts, sheet.title, titles, rows.index_of) if doubts else []
    if options.is_checked:
        lint_table(table, rows, selected, arrays, doubts, findings, sheet.title)
    name_row = rows.name_row if rows.names else -1
    read = TableColumns(arrays, dialect, findings, selected, rows.find_runs(), sheet.title, name_row)
    if not table.is_full or len(rows.names) + len(rows.data) < table.height:
        read.cells_outside = rows.list_outside(whole)
    return read


def _name_options(options: TableOptions, names: Mapping[str, int]) -> TableOptions:
    """Return options with the names of columns instead of their letters."""
    by_name: dict[str, Any] = {
        option: {select_names(names, name)[0]: value for name, value in given.items()}
        for option, given in (("dtype", options.dtype), ("shape", options.shape))
        if isinstance(given, Mapping)
    }
    return replace(options, **by_name)


def read_tables(
    readers: Mapping[str, Callable[[], dict[str, Array]]], options: TableOptions | None
) -> dict[str, dict[str, Array]]:
    """Return the columns of several sheets by their titles; a blank sheet has none.

    Where tables are looked for, a sheet that is no table is a finding of the first one that is.

    `readers`: returns the columns of each sheet, by its title. `options`: of the tables, as for `read_table`.
    """
    most = (options or TableOptions()).most_sheets
    tables, errors = {}, dict[str, FormatError]()
    for title, read in islice(readers.items(), most):
        nothing: AbstractContextManager[dict[str, Array]] = nullcontext({})
        keeping = keeping_now()
        with nothing if keeping is None else keeping_unreadable(keeping) as unreadable:
            try:
                columns = read()
            except EmptySheetError:
                columns = TableColumns({})
            except FormatError as error:
                if most is None or error.element:  # a cell stops the reading, not the sheet
                    raise
                columns = TableColumns({})
                errors[title] = error
        if isinstance(columns, TableColumns):
            columns.unreadable = unreadable
        tables[title] = columns
    filled = [columns for columns in tables.values() if isinstance(columns, TableColumns) and columns]
    if errors and not filled:
        raise next(iter(errors.values()))
    for title, cause in errors.items():
        reason = f"the sheet is not read as a table: {cause.reason}"
        filled[0].findings.append(Finding("warning", cause.location or title, reason, cause.hint or ""))
    if most is not None and len(readers) > most and filled:
        reason = f"only the first {most:,} of {len(readers):,} sheets are looked at as tables"
        filled[0].findings.append(Finding("warning", None, reason, "sheet= chooses another"))
    return tables


def refuse_arrays(sheet: TableSheet) -> None:
    """Refuse a sheet in which arrays of the exchange format stand.

    Raises:
        FormatError: there is one.
    """
    grid = sheet.first_rows()
    for anchor in anchors_of_grid(grid) if grid else ():
        is_version = anchor.aliases == () and _is_version(grid, *anchor.cell(1))
        if anchor.header is None and not is_version:
            continue  # only words that a header has as well
        raise FormatError(
            f"an array of the exchange format, {anchor.name!r}, not an ordinary table",
            location=cell_address(anchor.row, anchor.column),
            hint="read it with sheetarray.read, or list all arrays with sheetarray info",
        )


def _is_version(grid: Sequence[Sequence[Cell]], row: int, column: int) -> bool:
    """Return whether a cell holds a version, even a damaged one."""
    cells = grid[row] if row < len(grid) else ()
    return column < len(cells) and any(sign.isdigit() for sign in str(cells[column]))


def _refuse_blanks(table: Table, held: int, rows: TableRows, count: int) -> None:
    """Refuse a table that is next to nothing but blanks, since cells stand alone far above or below it."""
    if len(rows.data) * count > _BLANKS_ALWAYS + _BLANKS_TIMES * held:
        raise FormatError(
            f"{held:,} cells, so far apart that the table has {len(rows.data):,} rows of {count:,} columns",
            location=cell_address(rows.name_row, min(table.columns)),
            hint="skip_rows= and skip_footer= skip what stands above or below a table",
        )
