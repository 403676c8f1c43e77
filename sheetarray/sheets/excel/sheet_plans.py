"""Plans of sheets, made before any row is written, and the parts of a package that sheets and views become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...columns import quote_title


@dataclass(frozen=True)
class SheetPlan:
    """A sheet that is to be written.

    Attributes:
        title: of the sheet.
        widths: the width of each column, in characters.
        rows: the number of its rows.
        arrays: the name of an array and an absolute range, `$A$20:$A$1019`, for each column with elements of it. An
            array in parts comes more than once, in this sheet or in others.
        names: whether row 1 holds the names of arrays, and stays in sight when people scroll.
        headers: the number of rows between the names and the elements that hold nothing but headers, and are collapsed;
            0 for a sheet with rows that hold headers of some arrays and elements of others.
        printed: the absolute ranges that are printed; empty for the whole sheet.
        hidden: the columns that are collapsed, counted from 0.
        very_hidden: whether no menu shows the sheet; the number of rows of such a sheet is not known in advance.
        is_view: whether it is a view, whose whole content `views` makes.
        has_chart: whether it is a view with a chart.
    """

    title: str
    widths: Sequence[float]
    rows: int
    arrays: Sequence[tuple[str, str]] = ()
    names: bool = True
    headers: int = 0
    printed: Sequence[str] = ()
    hidden: frozenset[int] = frozenset()
    very_hidden: bool = False
    is_view: bool = False
    has_chart: bool = False

    @property
    def print_area(self) -> str:
        """The ranges that are printed, as the reference of the sheet's defined name for them."""
        return ",".join(f"{quote_title(self.title)}!{cells}" for cells in self.printed)


@dataclass(frozen=True)
class SheetPart:
    """A sheet as a part of a package, without its rows.

    Attributes:
        title: of the sheet, as the workbook spells it.
        name: of the part.
        head: the XML before the rows.
        tail: the XML after the rows.
    """

    title: str
    name: str
    head: bytes
    tail: bytes


@dataclass(frozen=True)
class ViewPart:
    """The names of the parts of a view in a package, and what the workbook asks of them.

    Attributes:
        title: of the sheet, as the workbook spells it.
        name: of the part.
        drawing: the name of the part that holds its drawing; empty for a view without a chart.
        chart: the name of the part that holds the chart; empty for a view without a chart.
        selected: whether the workbook opens with this sheet in front.
        strict: whether the workbook is strict OOXML.
    """

    title: str
    name: str
    drawing: str = ""
    chart: str = ""
    selected: bool = False
    strict: bool = False
