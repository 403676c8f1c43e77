"""Rows of a worksheet as XML, made of segments of columns: by a compiled loop, or cell by cell in Python.

A group holds the cells of many columns, one after the other, as layers: its numbers, its texts, its booleans. The first
layer that has a value for a cell writes it; a cell without any value is blank.

Source: ECMA-376 part 1, 18.3.1.4 (c), 18.3.1.73 (row), 18.18.11 (ST_CellType).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import islice, zip_longest
from typing import Any, Literal, NamedTuple

import numpy as np

from ... import loops
from ...cells import TypedCells
from .xml_text import xml_text

_BEFORE, _AFTER = "><v>", "</v></c>"
_SPACED = re.compile(
    "^ | $|  |[\t-\r\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
)  # white space that programs might change, in the text of a cell


class Layer(NamedTuple):
    """The values of some cells, in one form.

    Attributes:
        before: the XML between a cell's reference and its value; not for kind `t`.
        kind: `d` for float64, `f` for float32, `i` for int64, `v` for a list of texts as they are, `t` for one of texts
            that are escaped, as inline strings. None, NaN and infinities are no values.
        values: an array or a list.
        present: a mask of the cells that have a value, of uint8; None if all have one, or if values are a list.
        after: the XML after a value; not for kind `t`.
    """

    before: str
    kind: Literal["d", "f", "i", "v", "t"]
    values: Any
    present: Any
    after: str


class ColumnSegment(NamedTuple):
    """Some cells of a group that stand one under another in a column.

    Attributes:
        letters: of the column.
        group: the index of the group.
        start: the index in the group of the first of the cells.
        above: the number of rows above the first of the cells.
        size: the number of the cells.
    """

    letters: str
    group: int
    start: int
    above: int
    size: int


Group = list[Layer]


def format_rows(
    first: int, count: int, segments: list[ColumnSegment], groups: list[Group], *, attributes: Sequence[str] = ()
) -> bytes:
    """Return the XML of some rows.

    `first`: the number of the first row, from 1. `count`: the number of rows. `attributes`: of each of the first rows,
    after its number.

    Example:
        >>> numbers = Layer("><v>", "d", np.array([1.0, 2.5]), None, "</v></c>")
        >>> format_rows(7, 1, [ColumnSegment("B", 0, 1, 0, 1)], [[numbers]])
        b'<row r="7"><c r="B7"><v>2.5</v></c></row>'
    """
    if loops.COMPILED:
        made: bytes = loops.scan.format_rows(first, count, list(attributes), segments, groups)
        return made
    cells = [_format_cells(layers) for layers in groups]
    rows: list[list[str]] = [[] for _ in range(count)]
    for letters, group, start, above, length in segments:
        some = islice(cells[group], start, start + max(min(length, count - above), 0))
        for row, cell in enumerate(some, above):
            if cell is not None:
                rows[row].append(f'<c r="{letters}{first + row}"{cell}')
    numbered = zip_longest(range(first, first + count), rows, attributes[:count], fillvalue="")
    return "".join(f'<row r="{number}"{more}>{"".join(row)}</row>' for number, row, more in numbered).encode()


def value_layers(cells: TypedCells, style: int | None) -> Group:
    """Return the layers of some cells.

    `style`: the number of the style of numbers and booleans; None for the usual one.
    """
    import polars as pl

    styled = "" if style is None else f' s="{style}"'
    layers: Group = []
    for before, series in ((_BEFORE, cells.numbers), (f' t="b"{_BEFORE}', cells.booleans)):
        if series is None:
            continue
        if series.dtype == pl.String:
            layers.append(Layer(styled + before, "v", series.to_list(), None, _AFTER))
            continue
        present = series.is_not_null().to_numpy().astype(np.uint8) if series.null_count() else None
        kind: Literal["d", "f", "i"] = "i"
        if series.dtype.is_float():
            kind = "d" if series.dtype == pl.Float64 else "f"
        dtype = {"d": pl.Float64, "f": pl.Float32, "i": pl.Int64}[kind]
        values = series.cast(dtype).fill_null(0) if present is not None else series.cast(dtype)
        layers.append(Layer(styled + before, kind, np.ascontiguousarray(values.to_numpy()), present, _AFTER))
    if cells.texts is not None:
        layers.append(Layer("", "t", cells.texts.to_list(), None, ""))
    return layers


# Cell by cell --------------------------------------------------------------------------------------------------


def format_text(text: str) -> str:
    """Return the XML after the reference of a cell that holds a text.

    Example:
        >>> format_text("a "), format_text("1 < 2")
        (' t="inlineStr"><is><t xml:space="preserve">a </t></is></c>', ' t="inlineStr"><is><t>1 &lt; 2</t></is></c>')
    """
    space = ' xml:space="preserve"' if _SPACED.search(text) else ""
    return f' t="inlineStr"><is><t{space}>{xml_text(text)}</t></is></c>'


def format_number(value: float | int) -> str:
    """Return the XML after the reference of a cell that holds a number."""
    return f"{_BEFORE}{value!r}{_AFTER}"


def _format_cells(layers: Group) -> list[str | None]:
    """Return the XML after the reference of each cell of a group; None for a blank."""
    size = max((len(layer.values) for layer in layers), default=0)
    cells: list[str | None] = [None] * size
    for layer in reversed(layers):
        present = None if layer.present is None else layer.present.tolist()
        for index, text in enumerate(_texts_of(layer)):
            if text is not None and (present is None or present[index]):
                cells[index] = text if layer.kind == "t" else f"{layer.before}{text}{layer.after}"
    return cells


def _texts_of(layer: Layer) -> list[str | None]:
    """Return the texts of the values of a layer; for texts that are escaped, the whole XML after the reference."""
    if layer.kind == "v":
        return list(layer.values)
    if layer.kind == "t":
        return [None if text is None else format_text(text) for text in layer.values]
    if layer.kind == "f":
        return [_format_single(number) if np.isfinite(number) else None for number in layer.values]
    return [repr(number) if math.isfinite(number) else None for number in layer.values.tolist()]


def _format_single(number: np.float32) -> str:
    """Return the shortest text of a float32, in the form that `repr` gives to a float."""
    if number == 0:
        return repr(float(number))
    mantissa, _, power = np.format_float_scientific(abs(number), unique=True, trim="-").partition("e")
    digits, exponent = mantissa.replace(".", ""), int(power)
    sign = "-" if number < 0 else ""
    if not -4 <= exponent < 16:
        return f"{sign}{mantissa}e{exponent:+03d}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    return f"{sign}{whole}.{digits[exponent + 1 :] or '0'}"
