"""The XML of the parts of a sheet: what stands around its rows, its Excel Table, and notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from ....columns import column_letters
from ...defined_names import ArrayArea, make_defined_names
from ...xml_texts import quote_attribute, with_escapes
from ..package.relations import DECLARED, MAIN, RELATIONS
from .plans import SheetPlan

MAKER = "sheetarray"
OFFICE = "application/vnd.openxmlformats-officedocument."
_MOST_ON_A_PAGE = 12  # columns that are printed side by side on one page


def worksheet_frame(plan: SheetPlan, *, selected: bool, code_name: str = "") -> tuple[bytes, bytes]:
    """Return the XML before the rows of a sheet, and the XML after them."""
    last = f"{column_letters(max(len(plan.widths), 1) - 1)}{max(plan.rows, 1)}"
    below = f"A{plan.headers + 2}"
    frozen = (  # ySplit is the number of rows of the upper pane, without hidden ones
        f'<pane ySplit="1" topLeftCell="{below}" activePane="bottomLeft" state="frozen"/>'
        f'<selection pane="bottomLeft" activeCell="{below}" sqref="{below}"/>'
        if plan.names
        else ""
    )
    outline = ' outlineLevelRow="1"' if plan.headers else ""
    outline += ' outlineLevelCol="1"' if plan.hidden else ""
    fits = len(plan.widths) <= _MOST_ON_A_PAGE
    properties = f"<sheetPr codeName={quote_attribute(code_name)}" if code_name else "<sheetPr"
    properties += '><pageSetUpPr fitToPage="1"/></sheetPr>' if fits else "/>"
    in_view = ' tabSelected="1"' if selected else ""
    head = (
        f'{DECLARED}<worksheet xmlns="{MAIN}">'
        + (properties if fits or code_name else "")
        + ("" if plan.very_hidden else f'<dimension ref="{last if last == "A1" else f"A1:{last}"}"/>')
        + f'<sheetViews><sheetView{in_view} workbookViewId="0">{frozen}'
        f'</sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"{outline}/>'
        + (f"<cols>{_columns_xml(plan)}</cols>" if plan.widths else "")
        + "<sheetData>"
    )
    page = (
        '<printOptions gridLines="1"/>'
        '<pageMargins left="0.5" right="0.5" top="0.75" bottom="0.75" header="0.3" footer="0.3"/>'
        + ('<pageSetup orientation="landscape" fitToHeight="0"/>' if fits else "")
        + (f'<legacyDrawing xmlns:r="{RELATIONS}" r:id="rId{1 + bool(plan.table)}"/>' if plan.notes else "")
        + (f'<tableParts count="1"><tablePart xmlns:r="{RELATIONS}" r:id="rId1"/></tableParts>' if plan.table else "")
    )
    return head.encode(), f"</sheetData>{page}</worksheet>".encode()


def _columns_xml(plan: SheetPlan) -> str:
    """Return the XML of the columns: one element for neighbours that look alike."""
    hidden = plan.hidden
    looks = [(width, place in hidden, place - 1 in hidden) for place, width in enumerate(plan.widths)]
    columns, end = "", 0
    for (width, hides, after), run in groupby(looks):
        first, end = end + 1, end + len(list(run))
        outline = ' outlineLevel="1"' if hides else ' collapsed="1"' if after else ""
        hiding = ' hidden="1"' if hides else ""
        columns += f'<col min="{first}" max="{end}" width="{width:g}"{hiding} customWidth="1"{outline}/>'
    return columns


def table_part(plan: SheetPlan, name: str, number: int) -> bytes:
    """Return the XML of the Excel Table of a sheet: its name, its columns, and the filter of its first row.

    `number`: of the table, another one than that of each other table of the workbook.
    """
    cells = f"A1:{column_letters(len(plan.table) - 1)}{plan.rows}"
    columns = "".join(
        f'<tableColumn id="{place}" name={quote_attribute(_in_one_line(column))}/>'
        for place, column in enumerate(plan.table, 1)
    )
    return (
        f'{DECLARED}<table xmlns="{MAIN}" id="{number}" name={quote_attribute(name)} '
        f'displayName={quote_attribute(name)} ref="{cells}" totalsRowShown="0"><autoFilter ref="{cells}"/>'
        f'<tableColumns count="{len(plan.table)}">{columns}</tableColumns>'
        '<tableStyleInfo name="TableStyleMedium2" showFirstColumn="0" showLastColumn="0" showRowStripes="1" '
        'showColumnStripes="0"/></table>'
    ).encode()


def _in_one_line(name: str) -> str:
    """Return a column's name in one line, as the columns of Excel Tables have it: line feeds and tabs are escaped."""
    return with_escapes(name).replace("\n", "_x000a_").replace("\t", "_x0009_")


def name_tables(sheets: Sequence[SheetPlan], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return a name for the Excel Table of each sheet that has one, by the sheet's title. The name is the title, if it
    is free.
    """
    areas = [ArrayArea(plan.title, plan.title) for plan in sheets if plan.table]
    return {area.title: name for area, name in make_defined_names(areas, taken).items()}
