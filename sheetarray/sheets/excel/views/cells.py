"""Cells of a view as XML: texts, numbers, and formulas.

The cell of a formula also holds the value that the formula has when the workbook is written, so that programs which
compute no formulas show it (ECMA-376 part 1, 18.3.1.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....cells import TypedCells, buffer_to_typed
from ....dtypes import Buffer, DType
from ....elements import Cell
from ...workbooks import EXACT_INTEGER
from ..cell_xml import split_kinds, xml_text, xml_texts

if TYPE_CHECKING:
    import polars as pl

NOT_AVAILABLE = "#N/A"
# The ends of the cells of formulas, after the address and the style: for numbers, texts and booleans
_VALUES = ("><f>{}</f><v>{}</v></c>", ' t="str"><f>{}</f><v>{}</v></c>', ' t="b"><f>{}</f><v>{}</v></c>')


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


def formulas_xml(columns: pl.Series, rows: pl.Series, formulas: pl.Series, cells: TypedCells, style: int | None) -> Any:
    """Return the XML of many cells of formulas, as a String Series with one text for each cell.

    `rows`: the number of each cell's row, as text. `formulas`: the formula of each cell, in which the special
    characters of XML are escaped already. `style`: of numbers and booleans; None for the default style.
    """
    import polars as pl

    frame = pl.DataFrame({"column": columns, "row": rows, "formula": formulas})
    styled = f' s="{style}"' if style is not None else ""
    texts = None if cells.texts is None else xml_texts(cells.texts)
    truths = None if cells.booleans is None else cells.booleans.cast(pl.UInt8)
    forms = []
    for name, values, form, before in zip(
        ("number", "text", "truth"), (cells.numbers, texts, truths), _VALUES, (styled, "", styled), strict=True
    ):
        if values is not None:
            frame = frame.with_columns(values.alias(name))
            forms.append(pl.format(f'<c r="{{}}{{}}"{before}{form}', "column", "row", "formula", name))
    blank = pl.format('<c r="{}{}" t="str"><f>{}</f><v></v></c>', "column", "row", "formula")
    return frame.select(pl.coalesce(*forms, blank).alias("cell")).to_series()


def values_xml(columns: pl.Series, rows: pl.Series, cells: TypedCells, style: int | None) -> pl.Series:
    """Return the XML of many cells that hold values; the text is empty for a blank.

    `rows`: the number of each cell's row, as text. `style`: of numbers and booleans; None for the default style.
    """
    import polars as pl

    kinds = split_kinds(cells, style)
    named = {str(number): values for number, (_, values) in enumerate(kinds)}
    forms = [
        pl.format(f'<c r="{{}}{{}}"{form}', "column", "row", str(number)) for number, (form, _) in enumerate(kinds)
    ]
    return pl.DataFrame({"column": columns, "row": rows, **named}).select(pl.coalesce(*forms).fill_null("")).to_series()


def linked_xml(letter: str, rows: pl.Series, formulas: pl.Series, cells: TypedCells, style: int | None) -> pl.Series:
    """Return the XML of many cells, some of which are formulas; the text is empty for a blank that is no formula.

    `letter`: the letters of the column in which all cells are; empty where `rows` holds whole addresses. `rows`: the
    number of each cell's row, as text, or its address. `formulas`: the formula of each cell, with the special
    characters of XML escaped; null for a cell that holds nothing but its value. `cells`: the values, also those of the
    formulas. `style`: of numbers and booleans; None for the default style.
    """
    import polars as pl

    columns = pl.repeat(letter, len(rows), dtype=pl.String, eager=True)
    linked = formulas_xml(columns, rows, formulas.fill_null(""), cells, style)
    plain = values_xml(columns, rows, cells, style)
    return pl.select(pl.when(formulas.is_null()).then(plain).otherwise(linked)).to_series()
