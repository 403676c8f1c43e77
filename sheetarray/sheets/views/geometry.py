"""Plans views: which dimension of an array runs down and which across, with which labels, and how much is in sight.

First the dimensions of an array in view, with the coordinates that label them, and whether a cell can name a label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...columns import ElementRun, Layout, LayoutColumn, ResizedArray, column_letters, quote_title
from ...columns.words import CODES, NONE, code_of
from ...elements import generic_to_typed, text_array
from ...elements.serials import serial_unit
from ...labels.description import DatasetLabels, VariableLabels
from ...linear.array import LinearArray

_LONGEST_MATCH = 255  # characters of a text that MATCH looks for
_WIDEST_NUMBER = 10**10  # shown with all its digits in a list of choices


@dataclass(frozen=True)
class Labels:
    """The coordinate of a dimension."""

    name: str  # of the coordinate, which is an array
    array: LinearArray  # the coordinate itself
    style: int | None  # the number of the cell style of its numbers; None for the usual one
    # whether the value of a cell is enough to know which label was chosen: no two labels are equal as spreadsheets
    # compare them, and none changes when it is typed
    can_be_chosen: bool


@dataclass(frozen=True)
class Axis:
    """A dimension of an array in view."""

    dim: str  # its name
    size: int  # the number of its indices
    stride: int  # in elements
    labels: Labels | None  # its coordinate; None if it has none, and its indices are shown
    is_turned: bool = False  # whether its last index comes first; stride and labels then lead back

    @property
    def first(self) -> int:
        """The index in the buffer, without the array's offset, of what comes first."""
        return (1 - self.size) * self.stride if self.is_turned else 0

    def turn(self) -> Axis:
        """Return the dimension from its last index to its first."""
        assert self.labels is not None  # nobody could tell its indices
        array = self.labels.array
        offset, strides = array.offset + (self.size - 1) * array.strides[0], (-array.strides[0],)
        turned = LinearArray(array.dtype, array.shape, strides, offset, array.order, array.buffer)
        return Axis(self.dim, self.size, -self.stride, replace(self.labels, array=turned), is_turned=True)

    @property
    def choosable(self) -> Labels | None:
        """The labels, if people can choose one of them in a cell; else None."""
        return self.labels if self.labels is not None and self.labels.can_be_chosen else None


@dataclass(frozen=True)
class ColumnBlock:
    """The columns that hold the elements of one array, side by side, for formulas that refer to them."""

    cells: str  # the absolute range of all of them, with the sheet
    columns: int  # the number of columns
    rows: int  # the number of elements in each; the last one may have fewer


@dataclass(frozen=True)
class ViewedColumns:
    """The columns of a workbook in which arrays stand."""

    by_name: dict[str, list[ElementRun]]  # the columns of each array, from left to right, by its name
    styles: dict[str, int | None]  # of the numbers in its first column
    as_text: bool  # whether elements are text, whatever they are

    @classmethod
    def of_layouts(
        cls,
        titles: Sequence[str],
        layouts: Sequence[Layout],
        formats: Sequence[Sequence[int | None]],
        *,
        as_text: bool,
    ) -> ViewedColumns:
        """Return the columns that a write fills.

        `formats`: the styles of the numbers in each column of each. `as_text`: whether all elements are text.
        """
        viewed = cls({}, {}, as_text)
        for title, layout, styles in zip(titles, layouts, formats, strict=False):
            for run in layout.runs(title):
                viewed.by_name.setdefault(run.name, []).append(run)
                viewed.styles.setdefault(run.name, styles[run.column])
        return viewed

    @classmethod
    def of_resized(
        cls, arrays: Mapping[str, ResizedArray], style_of: Callable[[LayoutColumn], int | None], *, as_text: bool
    ) -> ViewedColumns:
        """Return the columns of arrays that were read; arrays in rows have none, as no view looks into rows.

        `arrays`: by their names. `as_text`: whether all elements are text.
        """
        viewed = cls({}, {}, as_text)
        for name, array in arrays.items():
            columns = []
            for anchor, _, count in array.column.spans():
                column, row = anchor.data_cell
                if anchor.orient == "columns":
                    columns.append(ElementRun(name, anchor.title or "", column, row, count))
            viewed.by_name[name] = columns
            viewed.styles[name] = style_of(
                LayoutColumn(name, [], array.column.header.dtype, array.buffer, serials=True)
            )
        return viewed

    def block_of(self, name: str) -> ColumnBlock | None:
        """Return the columns of an array; None where it has no cells, or they are in several sheets or apart."""
        columns = self.by_name.get(name, [])
        if not columns or not all(column.size for column in columns):
            return None
        first = columns[0]
        for number, column in enumerate(columns):
            beside = (column.title, column.column, column.row) == (first.title, first.column + number, first.row)
            if not beside or (column.size != first.size and number < len(columns) - 1):
                return None
        ends = (first.column, first.row + 1), (columns[-1].column, first.row + first.size)
        cells = ":".join(f"${column_letters(column)}${row}" for column, row in ends)
        return ColumnBlock(f"{quote_title(first.title)}!{cells}", len(columns), first.size)


def has_header_words(texts: Sequence[Any]) -> bool:
    """Return whether some texts, beside each other, could be taken for the header of an array.

    Example:
        >>> has_header_words(["shape", "data"]), has_header_words([" NDArray"])
        (False, True)
    """
    codes = {code for text in texts if isinstance(text, str) and (code := code_of(text)) != NONE}
    return CODES["ndarray"] in codes or len(codes) > 2


def make_dims(name: str, array: LinearArray, variable: VariableLabels | None) -> Sequence[str]:
    """Return the names of the dimensions of an array."""
    if variable is not None and len(variable.dims) == array.ndim:
        return variable.dims
    return [f"{name}_{axis}" for axis in range(array.ndim)]


def make_axes(
    name: str,
    arrays: Mapping[str, LinearArray],
    variable: VariableLabels | None,
    described: DatasetLabels | None,
    columns: ViewedColumns,
    *,
    text_chooser: bool,
) -> Iterator[Axis]:
    """Yield the dimensions of an array, each with its labels.

    `arrays`: all arrays, by their names. `variable`: the labels of the array; None if it has none. `described`: the
    labels of all arrays; None if no array has labels. `columns`: in which the arrays stand. `text_chooser`: whether
    there is a style for cells in which whatever is typed stays text.
    """
    array = arrays[name]
    dims = make_dims(name, array, variable)
    for dim, size, stride in zip(dims, array.shape, array.strides, strict=True):
        coordinate = described.find(dim) if described is not None else None
        labels = None
        if coordinate is not None and coordinate.dims == (dim,) and dim in arrays and arrays[dim].shape == (size,):
            labels = _make_labels(dim, arrays[dim], columns, text_chooser=text_chooser)
        yield Axis(dim, size, stride, labels)


def _make_labels(name: str, array: LinearArray, columns: ViewedColumns, *, text_chooser: bool) -> Labels | None:
    array = _as_texts(array)
    kind = array.dtype_entry.kind
    block = columns.block_of(name)
    if block is None or block.columns > 1 or kind not in ("float", "int", "string", "datetime"):
        return None
    values = array.to_numpy()
    if kind == "string" and has_header_words(values.tolist()):
        return None
    style = columns.styles[name] if kind != "float" else None  # labels are shown as they are
    plain = array.strides == (1,) and array.offset == 0 and array.capacity == array.length
    plain = plain and (kind == "string" or not columns.as_text)
    return Labels(name, array, style, plain and _can_be_chosen(values, kind, style, text_chooser=text_chooser))


def _as_texts(array: LinearArray) -> LinearArray:
    """Return an array of objects, all of them texts that stand in cells as they are, as one of text; any other array as
    it is.
    """
    if array.dtype_entry.kind != "generic" or array.strides != (1,) or array.capacity != array.length:
        return array
    values = array.buffer.tolist()
    are_texts = all(isinstance(value, str) and generic_to_typed(value, 0) == value for value in values)
    return LinearArray.from_numpy(text_array(values)) if values and are_texts else array


def _can_be_chosen(values: np.ndarray[Any, Any], kind: str, style: int | None, *, text_chooser: bool) -> bool:
    """Return whether a cell with a drop-down list of labels can hold each label exactly, and no label occurs twice."""
    if kind == "datetime":
        if np.isnat(values).any() or len(np.unique(values)) < len(values):
            return False
        if style is None or serial_unit(values.dtype) is None:
            return text_chooser  # ISO text
        moments = values.astype("datetime64[ms]")
        return bool(
            (moments == values).all() and (moments.astype(np.int64) % 10_800_000 == 0).all()
        )  # eighths of a day, which a double holds
    if kind in ("float", "int"):
        numbers = values.astype(np.float64)
        fine = (np.abs(numbers) < _WIDEST_NUMBER).all() and len(np.unique(numbers)) == len(values)
        return bool(fine) and all(float(f"{number:.9g}") == number for number in numbers.tolist())
    texts = [str(text) for text in values.tolist()]
    return len({text.casefold() for text in texts}) == len(texts) and all(
        _stays_text(text, text_chooser=text_chooser) for text in texts
    )


def _stays_text(text: str, *, text_chooser: bool) -> bool:
    """Return whether MATCH, which knows wildcards, finds a text that is chosen from a list."""
    if not text.strip() or text != text.strip() or len(text) > _LONGEST_MATCH or set(text) & set("*?~\n\r\t"):
        return False
    if text.startswith("'"):
        return False
    return text_chooser or not (
        any(mark.isdigit() for mark in text) or text[0] in "=+-@" or text.casefold() in ("true", "false")
    )
