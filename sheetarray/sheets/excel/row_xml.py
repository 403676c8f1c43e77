"""Rows of a worksheet as XML, made of segments of columns: by a compiled loop, or cell by cell in Python.

A group holds the cells of many columns, one after the other, as layers: its numbers, its texts, its booleans. The
first layer that has a value for a cell writes it; a cell without any value is blank.

Source: ECMA-376 part 1, 18.3.1.4 (c), 18.3.1.73 (row), 18.18.11 (ST_CellType).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ... import loops
from ...elements import TypedCells
from .cell_xml import is_spaced, mark_spaced, xml_text, xml_texts

if TYPE_CHECKING:
    import polars as pl

_BEFORE, _AFTER = "><v>", "</v></c>"
_TEXT, _SPACED_TEXT, _AFTER_TEXT = (
    ' t="inlineStr"><is><t>',
    ' t="inlineStr"><is><t xml:space="preserve">',
    "</t></is></c>",
)


class Layer(NamedTuple):
    """The values of some cells, in one form."""

    before: str  # the XML between a cell's reference and its value
    # `d` for float64, `i` for int64, `v` for a list of texts as they are. None, NaN and infinities are no values
    kind: Literal["d", "i", "v"]
    values: Any  # an array or a list
    after: str  # the XML after a value


class ColumnSegment(NamedTuple):
    """Some cells of a group that stand one under another in a column."""

    letters: str  # of the column
    group: int  # the index of the group
    start: int  # the index in the group of the first of the cells
    above: int  # the number of rows above the first of the cells
    size: int  # the number of the cells


Group = list[Layer]


def format_rows(
    first: int, count: int, segments: list[ColumnSegment], groups: list[Group], *, attributes: Sequence[str] = ()
) -> bytes:
    """Return the XML of some rows.

    `first`: the number of the first row, from 1. `count`: the number of rows. `attributes`: of each of the first rows,
    after its number.

    Example:
        >>> numbers = Layer("><v>", "d", np.array([1.0, 2.5]), "</v></c>")
        >>> format_rows(7, 1, [ColumnSegment("B", 0, 1, 0, 1)], [[numbers]])
        b'<row r="7"><c r="B7"><v>2.5</v></c></row>'
    """
    if loops.COMPILED:
        layers = [
            (f'<c r="{letters}', above, f'"{before}', kind, values[start : start + size], after)
            for letters, group, start, above, size in segments
            for before, kind, values, after in groups[group]
        ]
        rows_xml: bytes = loops.scan.format_rows(first, count, list(attributes), layers)
        return rows_xml
    return _format_rows_plainly(first, count, segments, groups, attributes)


def _format_rows_plainly(
    first: int, count: int, segments: list[ColumnSegment], groups: list[Group], attributes: Sequence[str]
) -> bytes:
    cells = [_format_cells(layers) for layers in groups]
    numbers = list(map(str, range(first, first + count)))
    columns: list[list[str]] = []
    for letters, group, start, above, length in segments:
        size = max(min(length, count - above), 0)
        numbered = zip(numbers[above : above + size], cells[group][start : start + size], strict=True)
        column = [f'<c r="{letters}{number}"{cell}' if cell is not None else "" for number, cell in numbered]
        columns.append([*[""] * min(above, count), *column, *[""] * (count - above - size)])
    rows = map("".join, zip(*columns, strict=True)) if columns else repeat("", count)
    more = chain(attributes[:count], repeat("", max(count - len(attributes), 0)))
    marked = zip(numbers, more, rows, strict=True)
    return "".join([f'<row r="{number}"{mark}>{row}</row>' for number, mark, row in marked]).encode()


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
        if series.dtype.is_float():
            series = series if series.dtype == pl.Float64 else _to_doubles(series)
            doubles = (series.fill_null(math.nan) if series.null_count() else series).to_numpy()
            layers.append(Layer(styled + before, "d", np.ascontiguousarray(doubles), _AFTER))
            continue
        if series.dtype == pl.Boolean:
            series = series.cast(pl.Int64)
        if series.dtype == pl.String or series.null_count():
            layers.append(Layer(styled + before, "v", series.cast(pl.String).to_list(), _AFTER))
        else:
            integers = np.ascontiguousarray(series.cast(pl.Int64).to_numpy())
            layers.append(Layer(styled + before, "i", integers, _AFTER))
    if cells.texts is not None:
        escaped, spaced = xml_texts(cells.texts), mark_spaced(cells.texts)
        if spaced.any():
            spaced_texts = pl.select(pl.when(spaced).then(escaped)).to_series()
            layers.append(Layer(_SPACED_TEXT, "v", spaced_texts.to_list(), _AFTER_TEXT))
        layers.append(Layer(_TEXT, "v", escaped.to_list(), _AFTER_TEXT))
    return layers


def _to_doubles(series: pl.Series) -> pl.Series:
    """Return doubles of the same shortest text as floats of fewer bits, but of all digits of an integer, which are
    exact.
    """
    import polars as pl

    series = series.cast(pl.Float32)
    shortest = series.cast(pl.String).cast(pl.Float64)
    is_long = (series.abs() >= 2.0**24) & (series.abs() < 1e16)
    return series.cast(pl.Float64).zip_with(is_long, shortest)


def format_text(text: str) -> str:
    """Return the XML after the reference of a cell that holds a text.

    Example:
        >>> format_text("a "), format_text("1 < 2")
        (' t="inlineStr"><is><t xml:space="preserve">a </t></is></c>', ' t="inlineStr"><is><t>1 &lt; 2</t></is></c>')
    """
    return f"{_SPACED_TEXT if is_spaced(text) else _TEXT}{xml_text(text)}{_AFTER_TEXT}"


def format_number(value: float | int) -> str:
    """Return the XML after the reference of a cell that holds a number."""
    return f"{_BEFORE}{value!r}{_AFTER}"


def cells_xml(cells: TypedCells, style: int | None = None) -> list[str | None]:
    """Return the XML after the reference of each of some cells; None for a blank.

    `style`: the number of the style of numbers and booleans; None for the usual one.
    """
    return _format_cells(value_layers(cells, style))


def with_formula(cell: str | None, formula: str) -> str:
    """Return the XML after the reference of a formula's cell, given the XML of a cell with its value.

    `formula`: in which the special characters of XML are escaped already.

    Example:
        >>> with_formula(format_number(1.5), "A1+1"), with_formula(format_text("a"), "A1")
        ('><f>A1+1</f><v>1.5</v></c>', ' t="str"><f>A1</f><v>a</v></c>')
    """
    if cell is not None and not cell.endswith(_AFTER_TEXT):
        return cell.replace("<v>", f"<f>{formula}</f><v>", 1)
    text = "" if cell is None else cell.removesuffix(_AFTER_TEXT).partition("<t")[2].partition(">")[2]
    return f' t="str"><f>{formula}</f><v>{text}</v></c>'


def _format_cells(layers: Group) -> list[str | None]:
    """Return the XML after the reference of each cell of a group; None for a blank."""
    size = max((len(layer.values) for layer in layers), default=0)
    cells: list[str | None] = [None] * size
    for layer in reversed(layers):
        before, after, texts = layer.before, layer.after, _texts_of(layer)
        formatted = [None if text is None else f"{before}{text}{after}" for text in texts]
        cells = formatted if len(formatted) == size and None not in formatted else _put_over(cells, formatted)
    return cells


def _put_over(cells: list[str | None], made: list[str | None]) -> list[str | None]:
    """Return some cells, replaced by those that were made, where there are any."""
    return [*(old if new is None else new for old, new in zip(cells, made, strict=False)), *cells[len(made) :]]


def _texts_of(layer: Layer) -> list[str | None]:
    """Return the texts of the values of a layer: the engine's where they are Python's, which no others have."""
    if layer.kind == "v":
        return list(layer.values)
    if layer.kind == "i":
        return list(map(str, layer.values.tolist()))
    import polars as pl

    texts: list[str | None] = pl.Series(layer.values).cast(pl.String).to_list()
    size = np.abs(layer.values)
    for index in np.flatnonzero(~((size >= 1e-4) & (size < 1e15))).tolist():
        texts[index] = repr(float(layer.values[index])) if np.isfinite(size[index]) else None
    return texts
