"""A new workbook without the rows of its sheets: the parts that Excel needs, and nothing else.

Equal arrays make equal files: no time of writing is in them. Elements and attributes stand in the order of the schema
(ECMA-376 part 1, 18), which Excel insists on in some places and other programs in others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import LimitError
from .names import ArrayArea, build_references, check_title, make_defined_names
from .package.packing import PackageWriter
from .package.properties import add_sheets, merge_properties
from .package.relations import TYPES
from .package.styles import OWN_STYLES, VIEW_STYLES, CellStyles
from .sheet_plans import SheetPart, SheetPlan, ViewPart
from .workbook_parts import (
    OFFICE,
    PROPERTIES,
    SHEETS,
    application_properties,
    content_types,
    core_properties,
    root_relations,
    styles_part,
    workbook_part,
    workbook_relations,
    worksheet_frame,
)

_TYPE = f"{OFFICE}spreadsheetml.sheet.main+xml"
_MACRO_TYPE = "application/vnd.ms-excel.sheet.macroEnabled.main+xml"


@dataclass(frozen=True)
class WorkbookSkeleton:
    """A new workbook without the rows of its sheets, and without what is remembered of its arrays.

    Attributes:
        parts: content by name.
        sheets: in the order of the plans.
        styles: of its cells.
        known: what is remembered of each sheet already, by the plan's title.
        views: in the order of their plans.
        names: the defined names, by what they stand for.
    """

    parts: dict[str, bytes]
    sheets: list[SheetPart]
    styles: CellStyles
    known: dict[str, dict[str, Any]]
    views: list[ViewPart]
    names: Mapping[ArrayArea, str]

    @property
    def bold(self) -> int | None:
        """The style of a bold cell."""
        return self.styles.bold

    def write(self, writer: PackageWriter) -> None:
        """Put the parts.

        Raises:
            OSError: the sink refuses.
        """
        for name, content in self.parts.items():
            writer.write_part(name, content)

    def write_properties(self, writer: PackageWriter, record: Mapping[str, Any]) -> None:
        """Put the custom properties.

        Args:
            writer: of the package.
            record: what is known of the arrays; of each sheet by its title under "sheets".

        Raises:
            LimitError: the record is too long.
            OSError: the sink refuses.
        """
        writer.write_part(PROPERTIES, merge_properties(None, add_sheets(record, self.known), location=PROPERTIES))


def skeleton(sheets: Sequence[SheetPlan], *, for_macros: bool = False) -> WorkbookSkeleton:
    """Make a new workbook.

    Args:
        sheets: the plans.
        for_macros: whether it is to be an .xlsm: Excel opens none whose type is that of an .xlsx.

    Raises:
        LimitError: a title that no sheet can have, or that two have.

    Example:
        >>> made = skeleton([SheetPlan("arrays", [22.0], 20, [("t", "$A$18:$A$20")])])
        >>> [sheet.name for sheet in made.sheets], made.known
        (['xl/worksheets/sheet1.xml'], {'arrays': {'names': ['t'], 'of': 'arrays'}})
    """
    check_titles(sheets)
    refers = build_references((array, plan.title, cells) for plan in sheets for array, cells in plan.arrays)
    names = make_defined_names(refers)
    views = [
        ViewPart(plan.title, f"{SHEETS}{number}.xml", *_drawing_names(plan, number), selected=number == 1)
        for number, plan in enumerate(sheets, 1)
        if plan.is_view
    ]
    styles = VIEW_STYLES if views else OWN_STYLES
    parts = {
        TYPES: content_types(len(sheets), _MACRO_TYPE if for_macros else _TYPE, views),
        "_rels/.rels": root_relations(),
        "xl/workbook.xml": workbook_part(sheets, {names[area]: text for area, text in refers.items()}),
        "xl/_rels/workbook.xml.rels": workbook_relations(len(sheets)),
        "xl/styles.xml": styles_part(choosers=bool(views)),
        "docProps/core.xml": core_properties(),
        "docProps/app.xml": application_properties(),
    }
    made = [
        SheetPart(plan.title, f"{SHEETS}{number}.xml", *worksheet_frame(plan, selected=number == 1))
        for number, plan in enumerate(sheets, 1)
        if not plan.is_view
    ]
    contents = {name: text.encode() for name, text in parts.items()}
    return WorkbookSkeleton(contents, made, styles, remember_sheets(sheets, names), views, names)


def worksheet_parts(
    sheets: Sequence[SheetPlan], code_names: Sequence[str], selected: Sequence[bool]
) -> list[tuple[bytes, bytes]]:
    """Return the XML before and after the rows of sheets that go into another workbook.

    Args:
        sheets: the plans.
        code_names: what a macro project calls each of them; may be empty.
        selected: whether it is the one in view.
    """
    return [
        worksheet_frame(plan, selected=in_view, code_name=code_name)
        for plan, code_name, in_view in zip(sheets, code_names, selected, strict=True)
    ]


def check_titles(sheets: Sequence[SheetPlan]) -> None:
    """Refuse titles that the sheets of one workbook cannot have.

    Raises:
        LimitError: names the title.
    """
    seen: set[str] = set()
    for plan in sheets:
        check_title(plan.title)
        if plan.title.casefold() in seen:
            raise LimitError(f"two sheets would be titled {plan.title!r}; Excel compares titles without case")
        seen.add(plan.title.casefold())


def remember_sheets(sheets: Sequence[SheetPlan], names: Mapping[ArrayArea, str]) -> dict[str, dict[str, Any]]:
    """Return the record of each sheet: the defined names made for it, and the first sheet of the same write."""
    first = title_of_first(sheets)
    return {
        plan.title: {"names": [name for area, name in names.items() if area.title == plan.title], "of": first}
        for plan in sheets
    }


def title_of_first(sheets: Sequence[SheetPlan]) -> str:
    """Return the title of the first sheet that is no view, under which all of a write are remembered."""
    return next(plan.title for plan in sheets if not plan.is_view)


def _drawing_names(plan: SheetPlan, number: int) -> tuple[str, str]:
    return (f"xl/drawings/drawing{number}.xml", f"xl/charts/chart{number}.xml") if plan.has_chart else ("", "")
