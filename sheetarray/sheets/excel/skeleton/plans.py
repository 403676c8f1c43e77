"""Plans of sheets, made before any row is written, and the parts of a package that sheets and views become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ....columns import ElementRun, quote_title


@dataclass(frozen=True)
class SheetPlan:
    """A sheet that is to be written."""

    title: str  # of the sheet
    widths: Sequence[float]  # the width of each column, in characters
    rows: int  # the number of its rows
    # the elements of arrays, by columns. An array in parts comes more than once, in this sheet or in others
    arrays: Sequence[ElementRun] = ()
    names: bool = True  # whether row 1 holds the names of arrays, and stays in sight when people scroll
    # the number of rows between the names and the elements that hold nothing but headers, and are collapsed; 0 for a
    # sheet with rows that hold headers of some arrays and elements of others
    headers: int = 0
    printed: Sequence[str] = ()  # the absolute ranges that are printed; empty for the whole sheet
    hidden: frozenset[int] = frozenset()  # the columns that are collapsed, counted from 0
    # whether no menu shows the sheet; the number of rows of such a sheet is not known in advance
    very_hidden: bool = False
    is_view: bool = False  # whether it is a view, whose whole content `views` makes
    has_chart: bool = False  # whether it is a view with a chart
    # the names of the columns of an Excel Table, which is the whole sheet; empty for any other sheet
    table: Sequence[str] = ()
    note: Mapping[str, Any] = field(default_factory=dict)  # what the record keeps of the table besides
    # the title of the sheet whose arrays it goes on with, or guards; its own, where it does neither. "" stands for the
    # first sheet of the write
    of: str = ""
    # the texts of notes on cells of the first row, by their columns, counted from 0
    notes: Mapping[int, str] = field(default_factory=dict)

    @property
    def print_area(self) -> str:
        """The ranges that are printed, as the reference of the sheet's defined name for them."""
        return ",".join(f"{quote_title(self.title)}!{cells}" for cells in self.printed)


class PartBeside(NamedTuple):
    """A part to which a sheet refers: how it does so, the name of the part, and its content."""

    kind: str
    name: str
    content: bytes


@dataclass(frozen=True)
class SheetPart:
    """A sheet as a part of a package, without its rows."""

    title: str  # of the sheet, as the workbook spells it
    name: str  # of the part
    head: bytes  # the XML before the rows
    tail: bytes  # the XML after the rows
    # the parts that hold its Excel Table and the notes of its cells, in the order of their ids
    beside: Sequence[PartBeside] = ()


@dataclass(frozen=True)
class ViewPart:
    """The names of the parts of a view in a package, and what the workbook asks of them."""

    title: str  # of the sheet, as the workbook spells it
    name: str  # of the part
    drawing: str = ""  # the name of the part that holds its drawing; empty for a view without a chart
    chart: str = ""  # the name of the part that holds the chart; empty for a view without a chart
    selected: bool = False  # whether the workbook opens with this sheet in front
