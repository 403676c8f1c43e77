"""Cells of a view as XML: texts, numbers, and formulas.

The cell of a formula also holds the value that the formula has when the workbook is written, so that programs which
compute no formulas show it (ECMA-376 part 1, 18.3.1.4).
"""

from __future__ import annotations

import numpy as np

from ....cells import TypedCells, buffer_to_typed
from ....dtypes import Buffer, DType
from ....elements import Cell
from ...workbooks import EXACT_INTEGER
from ..cell_xml import xml_text

NOT_AVAILABLE = "#N/A"


def to_typed(buffer: Buffer, dtype: DType, style: int | None, *, as_text: bool) -> TypedCells:
    """Return elements as cells, in the way in which the array's own column holds them.

    `style`: of the cells that are serial dates; None where dates are texts. `as_text`: whether every element is
    written as text.
    """
    contiguous = np.ascontiguousarray(buffer)
    return buffer_to_typed(contiguous, dtype, exact=EXACT_INTEGER, as_text=as_text, serials=style is not None)


def cell_xml(address: str, value: Cell, *, formula: str = "", style: int | None = None) -> str:
    """Return the XML of one cell; where it has a formula, `value` is the result of that.

    Example:
        >>> cell_xml("B2", 1.5, formula="A1+1", style=3)
        '<c r="B2" s="3"><f>A1+1</f><v>1.5</v></c>'
    """
    start = f'<c r="{address}"' + (f' s="{style}"' if style is not None else "")
    if not formula:
        if isinstance(value, str):
            return f'{start} t="inlineStr"><is><t xml:space="preserve">{xml_text(value)}</t></is></c>'
        return f"{start}/>" if value is None else f"{start}><v>{value!r}</v></c>"
    formula = f"<f>{xml_text(formula)}</f>"
    if value == NOT_AVAILABLE:
        return f'{start} t="e">{formula}<v>{value}</v></c>'
    if value is None or isinstance(value, str):
        return f'{start} t="str">{formula}<v>{xml_text(value or "")}</v></c>'
    return f"{start}>{formula}<v>{value!r}</v></c>"
