"""What is to be known of a sheet before its rows are written, and where sheets and views go in a package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...columns import quote_title


@dataclass(frozen=True)
class SheetPlan:
    """A sheet that is to be written.

    Attributes:
        title: of the sheet.
        widths: of its columns, in characters; one for each column.
        rows: how many it has.
        arrays: the name of an array and an absolute range, `$A$20:$A$1019`, for each column with elements of it. An
            array in parts comes more than once, in this sheet or in others.
        names: whether row 1 holds the names, and stays in view.
        headers: how many rows of headers stand between names and elements, and are hidden until somebody asks for them;
            0 where rows hold headers and elements side by side.
        printed: the absolute ranges that are printed; empty for the whole sheet.
        hidden: the columns that are hidden until somebody asks for them.
        very_hidden: whether no menu shows the sheet; how many rows it has is not known before.
        is_view: whether it is a view, of which `views` makes everything.
        has_chart: whether a chart is in it.
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
        """The cells that its name for the printed ranges refers to."""
        return ",".join(f"{quote_title(self.title)}!{cells}" for cells in self.printed)


@dataclass(frozen=True)
class SheetPart:
    """A sheet without its rows.

    Attributes:
        title: of the sheet, as the workbook spells it.
        name: of the part.
        head: what comes before the rows.
        tail: what comes after them.
    """

    title: str
    name: str
    head: bytes
    tail: bytes


@dataclass(frozen=True)
class ViewPart:
    """The place of a view in a package.

    Attributes:
        title: of the sheet, as the workbook spells it.
        name: of the part.
        drawing: the name of the part of its drawing; empty if it has no drawing.
        chart: the name of the part of the chart in that.
        selected: whether it is the sheet in sight.
        strict: whether the workbook is strict OOXML.
    """

    title: str
    name: str
    drawing: str = ""
    chart: str = ""
    selected: bool = False
    strict: bool = False
