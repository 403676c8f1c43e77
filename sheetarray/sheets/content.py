"""The content of a write: what stands on a sheet, and on those on which it goes on, whichever container holds them.

A layout says which cell holds which element. How an adapter puts the cells there is said by `WriteOptions`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from ..columns import MOST_ARRAYS, ElementRun, Layout, SheetRoom, lay_out_sheets
from ..dtypes import Array, DType
from ..errors import LimitError, check_kinds, naming_sheet
from ..formats.contract import Progress, ignore_progress
from ..labels import TableNote, find_notes
from ..linear.array import LinearArray
from ..linear.named import linear_arrays
from ..tables import (
    LabelledTable,
    TableColumns,
    TableOptions,
    count_blank_rows,
    ends_in_totals,
    lay_out_table,
    notes_of_columns,
)
from .arrays_of_sheets import spread
from .chosen_formats import check_formats
from .views.description import View
from .workbooks import check_choices, sheet_titles

Formats: TypeAlias = str | Mapping[str, str] | None
"""What `formats=` takes: the code of all floats, or codes by the names of arrays."""
IfSheetExists: TypeAlias = Literal["error", "replace"]
"""What `if_sheet_exists=` takes."""


@dataclass(frozen=True)
class WriteOptions:
    """How sheets are written, as a caller asks for it; the same for all sheets of a write.

    Raises:
        ValueError: an option has none of its values.
    """

    cells: str = "numeric"  # "text" writes every element as text, "exact" a number as text where the writer rounds it
    dates: str = "real"  # "real" writes dates as numbers where that is exact, "text" writes all as text
    guard: bool | Literal["auto"] = False  # whether a hidden sheet keeps an exact copy of every array
    mode: str = "w"  # "a" adds sheets to the workbook that is there
    if_sheet_exists: str = "error"  # "replace" replaces a sheet that this package wrote
    report: Progress = ignore_progress  # called with the cells written and the cells in all

    def __post_init__(self) -> None:
        check_choices(dates=(self.dates, "real", "text"), guard=(self.guard, "auto", True, False))
        check_choices(mode=(self.mode, "w", "a"), if_sheet_exists=(self.if_sheet_exists, "error", "replace"))

    @property
    def as_text(self) -> bool:
        """Whether every element is written as text."""
        return self.cells == "text"

    @property
    def serials(self) -> bool:
        """Whether dates become the serial numbers that spreadsheets count."""
        return self.dates == "real" and not self.as_text

    @property
    def replaces(self) -> bool:
        """Whether a sheet of the same title is replaced."""
        return self.if_sheet_exists == "replace"


@dataclass(frozen=True)
class SheetContent:
    """What is written to a sheet, and to those on which it goes on."""

    title: str  # of the first sheet; empty where the target says which sheet is meant
    layouts: Sequence[Layout]  # one for each sheet; none for a container that holds lists, and no cells
    kind: Literal["arrays", "table"] = "arrays"  # whether headers stand above the elements, or names alone
    arrays: Mapping[str, LinearArray] = field(default_factory=dict)  # those of the layouts; none of a table
    notes: Mapping[str, str] = field(default_factory=dict)  # what people read beside names, by the names
    views: Mapping[str, View] = field(default_factory=dict)  # the views that are asked for, by the names of arrays
    formats: Mapping[str, str] = field(default_factory=dict)  # the codes of number formats, by the names of arrays
    corner: tuple[int, int] | None = None  # row and column of the first cell, if the caller chooses it
    description: Mapping[str, Any] = field(default_factory=dict)  # of a table: what its cells do not say of the arrays
    columns: Mapping[str, LinearArray] = field(default_factory=dict)  # those of a table

    @property
    def guarded(self) -> Mapping[str, LinearArray]:
        """The arrays, or the columns of a table, of which a guard keeps an exact copy."""
        return self.columns if self.kind == "table" else self.arrays

    @property
    def titles(self) -> list[str]:
        """The titles of its sheets."""
        return sheet_titles(self.title, len(self.layouts))

    @property
    def cell_count(self) -> int:
        """The number of cells that hold something."""
        return sum([layout.cell_count for layout in self.layouts])

    @property
    def dtypes(self) -> dict[str, DType]:
        """The dtypes of arrays or columns, by name."""
        return {piece.name: piece.dtype for layout in self.layouts for piece in layout.pieces}

    def runs(self) -> Iterator[ElementRun]:
        """Yield the cells that hold elements: a run of elements of one array for each column that has any."""
        for title, layout in zip(self.titles, self.layouts, strict=True):
            yield from layout.runs(title, self.corner or (0, 0))


@dataclass(frozen=True)
class TableRevision:
    """Other cells and rows of the ordinary table of a sheet."""

    columns: Mapping[str, Array]  # the new columns, by their names; those that the table lacks go to the right
    before: TableColumns  # as they were read
    renamed: Mapping[str, str] = field(default_factory=dict)  # the new names of columns
    options: TableOptions = field(default_factory=TableOptions)  # how they are read
    formulas: Mapping[str, Array] = field(default_factory=dict)  # of some columns; None where a cell holds a value


def take_arrays(arrays: Any, characters: int, *, exact: int | None = None) -> dict[str, LinearArray]:
    """Return what a caller gives to be written as arrays by name: labels and composites in columns of their own.

    `characters`: of the text in a cell. `exact`: see `linear_arrays`, whose errors it raises.
    """
    linear = linear_arrays(spread(arrays, limit=characters), exact=exact)
    if len(linear) > MOST_ARRAYS:
        most = f"at most {MOST_ARRAYS:,} can be read from a file"
        raise LimitError(f"{len(linear):,} arrays, but {most}: write several files")
    return linear


def lay_out_arrays(
    arrays: Mapping[str, LinearArray],
    room: SheetRoom,
    *,
    title: str = "",
    corner: tuple[int, int] | None = None,
    serials: bool = False,
    header_rows: int = 0,
) -> SheetContent:
    """Return arrays in the columns of as many sheets as they need, all data beginning in one row.

    `corner`: row and column of the first cell, if the caller chooses it. `serials`, `header_rows`: see
    `lay_out_sheets`, whose errors it raises.
    """
    room = room if corner is None else room.beyond(corner)
    layouts = lay_out_sheets(arrays, room, aligned=True, header_rows=header_rows, serials=serials)
    return SheetContent(title, layouts, arrays=arrays, notes=find_notes(arrays), corner=corner)


def lay_out_columns(
    table: Any,
    room: SheetRoom,
    *,
    title: str = "",
    corner: tuple[int, int] | None = None,
    serials: bool = False,
    na_rep: str = "",
) -> SheetContent:
    """Return an ordinary table, with a row of names above its columns; see `lay_out_arrays` and `lay_out_table`."""
    check_kinds(str, "a text", na_rep=na_rep)
    room = room if corner is None else room.beyond(corner)
    if isinstance(table, LabelledTable):
        table.check_rows(room.rows)
    arrays = linear_arrays(table)
    labels: Collection[str] = ()
    if isinstance(table, LabelledTable):
        description = table.describe()
        labels = dict(description.get("axes", {})).values()
    else:
        rows = max((array.length for array in arrays.values()), default=0)
        description = TableNote.of_plain({name: array.dtype for name, array in arrays.items()}, rows).to_json()
    layout = lay_out_table(arrays, room, serials=serials, na_rep=na_rep, labels=labels)
    if description:
        shown = {piece.name: piece.dtype.kind for piece in layout.pieces}
        texts = [name for name, array in arrays.items() if array.dtype == "generic" and shown[name] == "string"]
        description |= {"texts": texts} if texts else {}
        description |= {"na_rep": na_rep} if na_rep else {}
        blank_rows = count_blank_rows({name: array.buffer for name, array in arrays.items()})
        description |= {"blank_rows": blank_rows} if blank_rows else {}
        description |= {"ends_in_totals": True} if ends_in_totals({n: a.buffer for n, a in arrays.items()}) else {}
    notes = notes_of_columns(table)
    more: dict[str, Any] = {"description": description, "columns": arrays}
    return SheetContent(title, [layout], "table", notes=notes, corner=corner, **more)


def lay_out_each(tables: Mapping[str, Any], lay_out: Callable[[str, Any], SheetContent]) -> list[SheetContent]:
    """Return the content of a sheet for each table of a mapping; an error names the sheet."""
    contents = []
    for title, table in tables.items():
        with naming_sheet(title):
            contents.append(lay_out(title, table))
    return contents


def choose_formats_of(contents: Sequence[SheetContent], formats: Formats) -> list[SheetContent]:
    """Return contents with the number formats that a caller has chosen for their arrays or columns.

    Raises:
        NotFoundError: a name that none of them has.
        ValueError: a format that is not for numbers.
    """
    if formats is None:
        return list(contents)
    dtypes = [content.dtypes for content in contents]
    codes = check_formats(formats, {name: dtype for each in dtypes for name, dtype in each.items()})
    return [
        replace(content, formats={name: code for name, code in codes.items() if name in each})
        for content, each in zip(contents, dtypes, strict=True)
    ]
