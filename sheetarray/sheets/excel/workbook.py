"""A new workbook: openpyxl makes all of it but the rows of its sheets.

Equal arrays make equal files: no time of writing is in them.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ...errors import LimitError
from .names import Area, check_title, defined_names, references
from .package.packing import PackageWriter
from .package.properties import merged, with_sheets
from .package.relations import TYPES

PROPERTIES = "docProps/custom.xml"
_SHEETS = "xl/worksheets/sheet"
_MAKER = "sheetarray"
_TYPE = b'"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"'
_MACRO_TYPE = b'"application/vnd.ms-excel.sheet.macroEnabled.main+xml"'
_BEGIN, _END = b"<sheetData>", b"</sheetData>"
_CALCULATION = 191029  # the engine of Excel 2019 and later: it does not compute everything anew on opening


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
    """

    title: str
    widths: Sequence[float]
    rows: int
    arrays: Sequence[tuple[str, str]] = ()
    names: bool = True


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
class Skeleton:
    """A new workbook without the rows of its sheets, and without what is remembered of its arrays.

    Attributes:
        parts: content by name.
        sheets: in the order of the plans.
        bold: the style of a bold cell.
        known: what is remembered of each sheet already, by the plan's title.
    """

    parts: dict[str, bytes]
    sheets: list[SheetPart]
    bold: int
    known: dict[str, dict[str, Any]]

    def write(self, writer: PackageWriter) -> None:
        """Put the parts.

        Raises:
            OSError: the sink refuses.
        """
        for name, content in self.parts.items():
            writer.add(name, content)

    def remember(self, writer: PackageWriter, record: Mapping[str, Any]) -> None:
        """Put the custom properties.

        Args:
            writer: of the package.
            record: what is known of the arrays; of each sheet by its title under "sheets".

        Raises:
            LimitError: the record is too long.
            OSError: the sink refuses.
        """
        writer.add(PROPERTIES, merged(None, with_sheets(record, self.known), location=PROPERTIES))


def skeleton(sheets: Sequence[SheetPlan], *, for_macros: bool = False) -> Skeleton:
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
    refers = references((array, plan.title, cells) for plan in sheets for array, cells in plan.arrays)
    names = defined_names(refers)
    parts, bold = _built(sheets, {names[area]: text for area, text in refers.items()})
    if for_macros:
        parts[TYPES] = parts[TYPES].replace(_TYPE, _MACRO_TYPE)
    made = []
    for nth, plan in enumerate(sheets, 1):
        name = f"{_SHEETS}{nth}.xml"
        made.append(SheetPart(plan.title, name, *_halves(parts.pop(name))))
    return Skeleton(parts, made, bold, remembered(sheets, names))


def worksheets(
    sheets: Sequence[SheetPlan], code_names: Sequence[str], selected: Sequence[bool]
) -> list[tuple[bytes, bytes]]:
    """What comes before and after the rows of sheets that go into another workbook.

    Args:
        sheets: the plans.
        code_names: what a macro project calls each of them; may be empty.
        selected: whether it is the one in view.
    """
    if not sheets:
        return []
    parts, _ = _built(sheets, {}, code_names, selected)
    return [_halves(parts[f"{_SHEETS}{nth}.xml"]) for nth in range(1, len(sheets) + 1)]


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


def remembered(sheets: Sequence[SheetPlan], names: Mapping[Area, str]) -> dict[str, dict[str, Any]]:
    """What is remembered of each sheet: the defined names made for it, and the first sheet of the same write."""
    return {
        plan.title: {"names": [name for area, name in names.items() if area.title == plan.title], "of": sheets[0].title}
        for plan in sheets
    }


def _built(
    sheets: Sequence[SheetPlan],
    names: Mapping[str, str],
    code_names: Sequence[str] | None = None,
    selected: Sequence[bool] | None = None,
) -> tuple[dict[str, bytes], int]:
    """All parts of a workbook, and the style of a bold cell."""
    import openpyxl  # type: ignore[import-untyped]
    from openpyxl.packaging.custom import StringProperty  # type: ignore[import-untyped]
    from openpyxl.workbook.defined_name import DefinedName  # type: ignore[import-untyped]
    from openpyxl.workbook.properties import CalcProperties  # type: ignore[import-untyped]

    book = openpyxl.Workbook()
    book.remove(book.active)
    bold = 0
    for nth, plan in enumerate(sheets):
        sheet = book.create_sheet(plan.title)
        bold = _fill(sheet, plan)
        sheet.sheet_properties.codeName = (code_names[nth] or None) if code_names else None
        sheet.sheet_view.tabSelected = selected[nth] if selected else not nth
    for name, refers in names.items():
        book.defined_names[name] = DefinedName(name, attr_text=refers)
    book.calculation = CalcProperties(calcId=_CALCULATION, fullCalcOnLoad=False)
    book.security = None  # protected in no way
    book.properties.creator = _MAKER
    book.custom_doc_props.append(StringProperty(name=_MAKER, value=""))  # declares the part, which comes later
    file = io.BytesIO()
    book.save(file)
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in sorted(archive.namelist(), key=_early)}
    del parts[PROPERTIES]
    return {**parts, **_untimed(book)}, bold


def _fill(sheet: Any, plan: SheetPlan) -> int:
    """Give a sheet its size, its widths and its frozen names; the style of a bold cell in it."""
    from openpyxl.styles import Font  # type: ignore[import-untyped]
    from openpyxl.utils import get_column_letter  # type: ignore[import-untyped]
    from openpyxl.worksheet.dimensions import ColumnDimension  # type: ignore[import-untyped]

    first = sheet.cell(1, 1)
    sheet.cell(max(plan.rows, 1), max(len(plan.widths), 1))  # the last cell of the sheet's dimension
    usual = first.font
    first.font = Font(usual.name, usual.sz, b=True, color=usual.color, family=usual.family, scheme=usual.scheme)
    for start, end, width in _runs(plan.widths):
        letter = get_column_letter(start)
        sheet.column_dimensions[letter] = ColumnDimension(sheet, letter, min=start, max=end, width=width)
    if plan.names:
        sheet.freeze_panes = "A2"
    return int(first.style_id)


def _runs(widths: Sequence[float]) -> Iterator[tuple[int, int, float]]:
    """Columns of one width that stand beside each other: the first, the last (from 1), and the width."""
    start = 1
    for width, run in groupby(widths):
        end = start + len(list(run))
        yield start, end - 1, width
        start = end


def _untimed(book: Any) -> dict[str, bytes]:
    """The document's properties, without the time."""
    from openpyxl.packaging.extended import ExtendedProperties  # type: ignore[import-untyped]
    from openpyxl.xml.functions import tostring  # type: ignore[import-untyped]

    core = book.properties.to_tree()
    for element in [element for element in core if element.tag.startswith("{http://purl.org/dc/terms/}")]:
        core.remove(element)
    application = ExtendedProperties()
    application.Application, application.AppVersion = _MAKER, None
    return {
        "docProps/core.xml": tostring(core),
        "docProps/app.xml": tostring(application.to_tree()),
    }


def _halves(worksheet: bytes) -> tuple[bytes, bytes]:
    """What comes before the rows of a worksheet, and what comes after them."""
    return worksheet[: worksheet.index(_BEGIN) + len(_BEGIN)], worksheet[worksheet.index(_END) :]


def _early(name: str) -> tuple[bool, bool, str]:
    """Readers look for the types of parts first, then for the relationships."""
    return name != TYPES, not name.startswith("_rels/"), name
