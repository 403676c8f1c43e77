"""The options with which a caller describes an ordinary table."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeGuard, TypeVar, get_args

import numpy as np

from ..columns.grid import Area, parse_area
from ..elements import MissingOption, NamedMissing, NaValues, check_missing
from ..elements.spelling import DecimalMark
from ..errors import FormatError, NotFoundError, quote_names
from ..linear.header import Order
from .moments import check_date_format
from .numerals import WHITE, NumeralMarks

DTypeLike = str | np.dtype[Any] | type
Shape = tuple[int, ...] | int
Rows = int | Collection[int]

DTypes = DTypeLike | Mapping[str, DTypeLike] | None
Shapes = Shape | Mapping[str, Shape] | None


NamedCells = Mapping[tuple[str | None, str], str]
"""The references of defined names, by the title of the sheet that has the name for itself, if one has, and the name."""

_EXAMPLES = {"range": "A1:C5", "table": "Sales"}
_Known = TypeVar("_Known")


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table of a workbook that has a name."""

    title: str  # of its sheet
    reference: str  # its range, those of names and totals among its rows
    header_rows: int = 1  # how many rows at its top hold names
    total_rows: int = 0  # how many rows at its end hold totals


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """The options of a caller for a table; every attribute may be left out.

    Attributes:
        dtype: of every column, or by name; None infers it without loss.
        shape: of every column's array, or by name; one -1 is worked out.
        order: how the cells of a column fill its shape.
        missing: "nan" reads blanks as NaN, NaT, None or ""; "error" refuses them.
        header: the number of rows that hold the names, which are joined by a blank; True is 1, False is 0, and with
            None the first row tells.
        skip_rows: the number of rows above the table, or the rows that are passed over, counted from 0.
        skip_footer: the number of rows at the end that are passed over, blank ones among them.
        nrows: the number of rows of data that are read at most.
        date_format: how dates are written, as for `strptime`, or "dayfirst".
        comment: rows that begin with this text are passed over.
        na_values: texts or numbers that mean a missing value, besides blanks.
        decimal: the decimal mark; None finds it for the file.
        thousands: the mark between thousands in numbers; None for no such mark.
        range: the cells of the table, such as `A1:C5`; in a workbook the name of a range, too. None for all cells.
        table: the name of a table of Excel's, which says its range, its rows of names and its total row.
        nullable: integers with blanks among them stay integers, with None for the blanks.

    Raises:
        ValueError: a value that an option cannot have.
    """

    dtype: DTypes = None
    shape: Shapes = None
    order: Order = "row-major"
    missing: MissingOption = "nan"
    header: bool | int | None = None
    skip_rows: Rows = 0
    skip_footer: int = 0
    nrows: int | None = None
    date_format: str | None = None
    comment: str | None = None
    na_values: NaValues = ()
    decimal: DecimalMark | None = None
    thousands: str | None = None
    range: str | Area | None = None
    table: str | None = None
    nullable: bool = False
    is_checked: ClassVar[bool] = False  # whether what is odd in the cells is listed, too
    is_split: ClassVar[bool] = False  # whether each recorded table of a sheet that holds several is read by itself
    most_sheets: ClassVar[int | None] = None  # how many sheets are read where all are meant; None for all

    def __post_init__(self) -> None:
        check_missing(self.missing)
        if self.order not in get_args(Order):
            raise ValueError(f"order is 'row-major' or 'column-major', not {self.order!r}")
        if self.date_format is not None:
            check_date_format(self.date_format)
        for name in ("header", "skip_footer", "nrows"):
            value = getattr(self, name)
            if value is not None and _count(value) is None:
                raise ValueError(f"{name} is a number of rows, not {value!r}")
        if self.comment is not None and (not isinstance(self.comment, str) or not self.comment.strip(WHITE)):
            raise ValueError(f"comment is the text that rows begin with, such as '#', not {self.comment!r}")
        for name in ("range", "table"):
            if not isinstance(getattr(self, name), (str, Area, type(None))):
                raise ValueError(f"{name} is a text, such as {_EXAMPLES[name]!r}, not {getattr(self, name)!r:.80}")
        if self.range is not None and self.table is not None:
            raise ValueError("range= and table= both choose cells: pass only one of them")
        _ = self.marks, self.skipped_rows, self.skipped_above, self.named_missing

    @property
    def area(self) -> Area | None:
        """The cells of the table; None for all cells.

        Raises:
            NotFoundError: the range, or the table, has a name that nobody has looked up.
        """
        if isinstance(self.range, Area) or (self.range is None and self.table is None):
            return self.range if isinstance(self.range, Area) else None
        title, options = self.locate(None, dict, dict)
        if title is not None:
            raise NotFoundError(f"no sheet {title!r:.80}: a file of text has no sheets")
        return options.area

    def locate(
        self, sheet: str | None, names: Callable[[], NamedCells], tables: Callable[[], Mapping[str, NamedTable]]
    ) -> tuple[str | None, TableOptions]:
        """Return the title of the sheet, and the options with the range by rows and columns.

        `sheet`: the title that the caller gave. `names`: returns the references of defined names. `tables`: returns the
        tables that have names.

        Raises:
            FormatError: a defined name that is not one range of cells.
            ValueError: the range is in another sheet than the one that is asked for, or a name in several sheets.
            NotFoundError: no such range or table.
        """
        if isinstance(self.range, Area) or (self.range is None and self.table is None):
            return sheet, self
        header = self.header
        if self.table is not None:
            named_table = _look_up(self.table, tables(), "table")
            title, area = _parse_reference(self.table, named_table.reference)
            title = title or named_table.title
            area = area._replace(bottom=area.bottom - named_table.total_rows)
            header = named_table.header_rows if header is None else header
        else:
            text = str(self.range)
            title, area = parse_area(text) or _parse_reference(text, _look_up_cells(text, sheet, names()))
        if title is not None and sheet is not None and title.casefold() != sheet.casefold():
            raise ValueError(f"{self.range or self.table!r} is in the sheet {title!r:.80}, not in {sheet!r:.80}")
        return title if sheet is None else sheet, replace(self, range=area, table=None, header=header)

    @cached_property
    def marks(self) -> NumeralMarks:
        """The marks that numbers bear."""
        return NumeralMarks(self.decimal, self.thousands)

    @property
    def skipped_above(self) -> int:
        """The number of rows that are passed over above the table."""
        if _are_rows(self.skip_rows):
            return 0
        count = _count(self.skip_rows)
        if count is None:
            raise ValueError(f"skip_rows is a number of rows, or the rows themselves, not {self.skip_rows!r}")
        return count

    @property
    def skipped_rows(self) -> Collection[int]:
        """The rows that are passed over wherever they are, counted from 0."""
        if not _are_rows(self.skip_rows):
            return ()
        rows = self.skip_rows if isinstance(self.skip_rows, range) else [_count(row) for row in self.skip_rows]
        if any(row is None or row < 0 for row in rows):
            raise ValueError(f"skip_rows holds numbers of rows, counted from 0, not {self.skip_rows!r:.80}")
        return [row for row in rows if row is not None]

    @cached_property
    def named_missing(self) -> NamedMissing:
        """The texts and numbers that mean a missing value."""
        is_given = not isinstance(self.na_values, tuple) or self.na_values
        return NamedMissing.of(self.na_values) if is_given else NamedMissing(frozenset(), frozenset())

    @property
    def recorded(self) -> dict[str, DTypeLike]:
        """The dtypes that a record tells, by column."""
        return {}

    @cached_property
    def marked(self) -> frozenset[str]:
        """The columns in which an apostrophe tells the text "1" from 1."""
        return frozenset(name for name, dtype in self.recorded.items() if dtype == "generic")

    def names_missing(self, dtype: DTypeLike | None) -> bool:  # noqa: ARG002  (a subclass looks at it)
        """Return whether cells of a column that gets this dtype may be what the caller calls missing values."""
        return bool(self.named_missing.texts)


class RecordedOptions(TableOptions):
    """The options of a table whose record says its dtypes. As in arrays, integers have no missing value."""

    @property
    def recorded(self) -> dict[str, DTypeLike]:
        """The dtypes that the record tells."""
        return dict(self.dtype) if isinstance(self.dtype, Mapping) else {}

    def names_missing(self, dtype: DTypeLike | None) -> bool:
        """Return whether cells of a column of this dtype may be missing values."""
        return super().names_missing(dtype) and not str(dtype).startswith(("int", "uint", "bool"))


class SearchOptions(TableOptions):
    """The options of tables that are looked for in a source without arrays, in its first sheets."""

    most_sheets = 256

    @classmethod
    def of(cls, options: TableOptions) -> Self:
        """Return the options of a caller for tables that are looked for."""
        return cls(**{field.name: getattr(options, field.name) for field in fields(options)})


class AppendOptions(RecordedOptions, SearchOptions):
    """The options of a recorded table that gets new rows, whatever stands below it."""


class SplitOptions(SearchOptions):
    """The options of tables that are looked for, several of them in one sheet where a record tells them apart."""

    is_split = True


class CheckedOptions(SearchOptions):
    """The options of a table that is checked: what is odd in its cells is listed with what is doubtful."""

    is_checked = True


def _look_up(name: str, known: Mapping[str, _Known], what: str) -> _Known:
    """Return the value that has a name; names compare without case, as in Excel."""
    for other, value in known.items():
        if other.casefold() == name.casefold():
            return value
    there = (
        f"there is {quote_names(list(known), 20)}"
        if known
        else "names of cells are not known here; pass cells, such as range='A1:C5'"
    )
    raise NotFoundError(f"no {what} {name!r:.80}; {there}")


def _look_up_cells(name: str, sheet: str | None, known: NamedCells) -> str:
    """Return the reference of a defined name: that of the sheet that is asked for, else that of the workbook."""
    _look_up(name, {other: "" for _, other in known}, "range of cells")
    by_scope = {scope: text for (scope, other), text in known.items() if other.casefold() == name.casefold()}
    scopes: list[str | None] = [scope for scope in by_scope if scope and sheet and scope.casefold() == sheet.casefold()]
    scopes = scopes or [scope for scope in by_scope if scope is None] or list(by_scope)
    if len(scopes) > 1:
        titles = quote_names([str(scope) for scope in scopes])
        raise ValueError(f"{name!r:.80} is a name in several sheets, {titles}: sheet= says in which")
    return by_scope[scopes[0]]


def _parse_reference(name: str, reference: str) -> tuple[str | None, Area]:
    """Return the sheet and the cells that a defined name refers to."""
    parsed = parse_area(reference.removeprefix("="))
    if parsed is None:
        raise FormatError(f"{name!r:.80} refers to {reference!r:.80}, which is not one range of cells")
    return parsed


def _are_rows(value: Any) -> TypeGuard[Collection[int]]:
    return isinstance(value, Collection) and not isinstance(value, (str, bytes))


def _count(value: Any) -> int | None:
    """Return a value as a number of rows; None if it is anything else."""
    try:
        count = operator.index(value)
    except TypeError:
        return None
    return count if count >= 0 else None
