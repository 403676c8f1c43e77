"""Makes a new workbook without the rows of its sheets: the parts that Excel needs, and nothing else.

Equal arrays make equal files, as no time of writing is noted. Elements and attributes of XML stand in the order of the
schema (ECMA-376 part 1, 18): Excel insists on it in some places, other programs in others.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import LimitError
from ...files import name_part
from .names import ArrayArea, build_references, check_title, make_defined_names
from .package.packing import PackageWriter
from .package.relations import OWN_STYLES, TYPES, VIEW_STYLES, CellStyles, add_sheets, merge_properties
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

CONTENT_TYPES = {  # of the workbook's own part, by the suffix: Excel does not open a file that has another's
    ".xlsx": f"{OFFICE}spreadsheetml.sheet.main+xml",
    ".xlsm": "application/vnd.ms-excel.sheet.macroEnabled.main+xml",
    ".xltx": f"{OFFICE}spreadsheetml.template.main+xml",
    ".xltm": "application/vnd.ms-excel.template.macroEnabled.main+xml",
}


@dataclass(frozen=True)
class WorkbookSkeleton:
    """A new workbook without the rows of its sheets, and without the record of its arrays.

    Attributes:
        parts: the content of each part, by its name.
        sheets: the sheets that are no views, in the order of their plans.
        styles: of its cells.
        known: what the record says of each sheet, by its title.
        views: the parts of the views, in the order of their plans.
        names: the defined names, by the cells that they stand for.
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
        """Write the parts into a package.

        Raises:
            OSError: the sink refuses.
        """
        for name, content in self.parts.items():
            writer.write_part(name, content)

    def write_properties(self, writer: PackageWriter, record: Mapping[str, Any]) -> None:
        """Write the custom properties, which hold the record, into a package.

        `record`: of the arrays; what `known` says of the sheets is added to it.

        Raises:
            LimitError: the record is too long.
            OSError: the sink refuses.
        """
        writer.write_part(PROPERTIES, merge_properties(None, add_sheets(record, self.known), location=PROPERTIES))


def suffix_of(target: object) -> str:
    """Return the suffix by which a target says which kind of workbook it is; that of a plain one for any other."""
    suffix = os.path.splitext(name_part(target))[1].lower() if isinstance(target, (str, os.PathLike)) else ""
    return suffix if suffix in CONTENT_TYPES else ".xlsx"


def skeleton(sheets: Sequence[SheetPlan], *, suffix: str = ".xlsx") -> WorkbookSkeleton:
    """Make a new workbook without rows.

    `suffix`: of the file, one of `CONTENT_TYPES`.

    Raises:
        LimitError: a title that no sheet can have, or that two of the sheets have.

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
        TYPES: content_types(len(sheets), CONTENT_TYPES[suffix], views),
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

    `code_names`: the name of each sheet in the macro project of the workbook; empty for none. `selected`: for each
    sheet, whether the workbook opens with it in front.
    """
    return [
        worksheet_frame(plan, selected=in_view, code_name=code_name)
        for plan, code_name, in_view in zip(sheets, code_names, selected, strict=True)
    ]


def check_titles(sheets: Sequence[SheetPlan]) -> None:
    """Refuse titles that the sheets of one workbook cannot have.

    Raises:
        LimitError: a title that no sheet can have, or that two of the sheets have.
    """
    seen: set[str] = set()
    for plan in sheets:
        check_title(plan.title)
        if plan.title.casefold() in seen:
            raise LimitError(f"two sheets would be titled {plan.title!r}; Excel compares titles without case")
        seen.add(plan.title.casefold())


def remember_sheets(sheets: Sequence[SheetPlan], names: Mapping[ArrayArea, str]) -> dict[str, dict[str, Any]]:
    """Return the record of each sheet: the defined names made for it, and the title of the write's first sheet."""
    first = title_of_first(sheets)
    return {
        plan.title: {"names": [name for area, name in names.items() if area.title == plan.title], "of": first}
        for plan in sheets
    }


def title_of_first(sheets: Sequence[SheetPlan]) -> str:
    """Return the title of the first sheet that is no view: the records of all sheets of a write name it."""
    return next(plan.title for plan in sheets if not plan.is_view)


def _drawing_names(plan: SheetPlan, number: int) -> tuple[str, str]:
    """Return the names of the parts of a sheet's drawing and chart; both empty for a sheet without a chart."""
    return (f"xl/drawings/drawing{number}.xml", f"xl/charts/chart{number}.xml") if plan.has_chart else ("", "")
