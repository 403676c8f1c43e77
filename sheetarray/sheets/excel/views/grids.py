"""Cells of a view as XML: texts, numbers, and formulas.

The cell of a formula also holds the value that the formula has when the workbook is written, so that programs which
compute no formulas show it (ECMA-376 part 1, 18.3.1.4).
"""

from __future__ import annotations

from ....elements import Cell
from ..cell_xml import xml_text
from ..row_xml import format_number, format_text, with_formula

NOT_AVAILABLE = "#N/A"


def cell_xml(address: str, value: Cell, *, formula: str = "", style: int | None = None) -> str:
    """Return the XML of one cell; where it has a formula, `value` is the result of that.

    Example:
        >>> cell_xml("B2", 1.5, formula="A1+1", style=3)
        '<c r="B2" s="3"><f>A1+1</f><v>1.5</v></c>'
    """
    start = f'<c r="{address}"' + (f' s="{style}"' if style is not None else "")
    if formula and value == NOT_AVAILABLE:
        return f'{start} t="e"><f>{xml_text(formula)}</f><v>{value}</v></c>'
    cell = None if value is None else format_text(value) if isinstance(value, str) else format_number(value)
    return start + (with_formula(cell, xml_text(formula)) if formula else cell or "/>")
