"""Reads some rows of an array in a spreadsheet, and fetches no cells but theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...columns import Anchor, ArrayColumn, ColumnCells, find_anchors
from ...data import error_for_problem
from ...dtypes import Array, Buffer
from ...elements import Missing
from ...errors import LimitError, NotFoundError
from ...header import Header
from ...resizing import contiguous_strides
from .batches import CELLS_A_REQUEST
from .retries import ChangedError
from .sheet import GoogleSheet


def find_array(sheets: Sequence[GoogleSheet], name: str) -> tuple[GoogleSheet, Anchor]:
    """Return the worksheet of an array, and its anchor.

    Raises:
        FormatError: the header of the array is broken.
        NotFoundError: there is no array of this name.
    """
    anchors = [(sheet, anchor) for sheet in sheets for anchor in find_anchors(sheet)]
    for sheet, anchor in anchors:
        if anchor.name == name:
            if anchor.error is not None:
                raise anchor.error
            return sheet, anchor
    names = ", ".join(dict.fromkeys(repr(anchor.name) for _, anchor in anchors))
    raise NotFoundError(f"no array {name!r}; there is {names or 'none'}")


def lies_in_rows(anchor: Anchor) -> bool:
    """Return whether the cells below a header are the array's rows, one after the other, a cell for each element."""
    header = anchor.header
    if header is None or header.part or header.offset or anchor.orient == "rows" or not header.capacity:
        return False
    plain = header.order == "row-major" and header.strides == contiguous_strides(header.shape, "row-major")
    return plain and header.capacity == header.length and header.dtype.kind != "complex"


def fetch_elements(sheet: GoogleSheet, anchor: Anchor, start: int, stop: int, missing: Missing) -> Buffer:
    """Return some elements of an array that lies in rows.

    Args:
        sheet: the worksheet.
        anchor: of the array.
        start, stop: the number of the first element, and of the one after the last.
        missing: as for `read_gsheet`.

    Raises:
        FormatError: a cell that its dtype cannot mean, with its address.
    """
    header = anchor.header
    assert header is not None
    header_of_some = Header(header.dtype, (stop - start,), (1,), 0, "row-major", stop - start)
    anchor_of_some = replace(anchor, header=header_of_some, start=anchor.start + start)
    column, row = anchor_of_some.data_cell
    cells: ColumnCells = ([], sheet.fetch_cells(row, row + stop - start, column, header.dtype))
    decoded = ArrayColumn([anchor_of_some], [cells], sheet).decode_checked(missing)
    for problem in decoded.problems[:1]:
        moved = replace(problem, index=problem.index + start)
        raise error_for_problem(moved, header, anchor.name, anchor.data_address, cells_each=1)
    if decoded.count_error:
        raise decoded.count_error
    return decoded.buffer


def read_slices(
    sheets: Sequence[GoogleSheet], slices: Mapping[str, slice], missing: Missing, whole: Mapping[str, Array]
) -> dict[str, Array]:
    """Return slices of arrays along their first axis, by name; of arrays that lie in rows only their cells are fetched.

    Args:
        sheets: the worksheets in which the arrays may stand.
        slices: of the first axis of each array, by name.
        missing: as for `read_gsheet`.
        whole: arrays that have been read already, since they do not lie in rows.

    Raises:
        ChangedError: somebody has written between two requests.
        LimitError: an array without dimensions, which has no first axis.
    """
    sliced: dict[str, Array] = {name: whole[name][rows] for name, rows in slices.items() if name in whole}
    generations: dict[int, Any] = {}  # of the sheets that take more requests, before the first of these
    for name, rows in slices.items():
        if name in whole:
            continue
        sheet, anchor = find_array(sheets, name)
        if not sheet.is_whole:
            generations.setdefault(id(sheet), (sheet, sheet.generation()))
        header = anchor.header
        assert header is not None
        if not header.shape:
            raise LimitError(f"slices: {name!r} has no dimensions, and so no rows: names= reads its element")
        indices = range(header.shape[0])[rows]
        elements_per_row = header.length // header.shape[0]
        first, last = (min(indices), max(indices) + 1) if indices else (0, 0)  # rows; the last one is not fetched
        pieces = [
            fetch_elements(sheet, anchor, start, min(start + CELLS_A_REQUEST, last * elements_per_row), missing)
            for start in range(first * elements_per_row, last * elements_per_row, CELLS_A_REQUEST)
        ]
        elements = np.concatenate(pieces) if pieces else np.empty(0, header.dtype.numpy)
        block = elements.reshape(last - first, *header.shape[1:])
        sliced[name] = block[:: indices.step] if indices.step > 0 else block[::-1][:: -indices.step]
    for sheet, generation in generations.values():
        if sheet.generation() != generation:
            raise ChangedError
    return {name: sliced[name] for name in slices}


def is_cut(sheets: Sequence[GoogleSheet], name: str) -> bool:
    """Return whether rows of an array can be fetched alone: it stands in one column, and lies in rows."""
    anchors = [anchor for sheet in sheets for anchor in find_anchors(sheet) if anchor.name == name]
    return len(anchors) == 1 and lies_in_rows(anchors[0])


def check_slices(slices: Mapping[str, slice]) -> None:
    """Refuse anything but slices of one axis by names.

    Raises:
        LimitError: it is something else, or the step of a slice is 0.
    """
    if not isinstance(slices, Mapping):
        raise LimitError(f"slices= maps names to slices of the first axis, {{'t': slice(0, 10)}}, not {slices!r:.80}")
    for name, rows in slices.items():
        bounds = (rows.start, rows.stop, rows.step) if isinstance(rows, slice) else ("",)
        if not all(bound is None or hasattr(bound, "__index__") for bound in bounds) or bounds[-1] == 0:
            raise LimitError(f"slices: {name!r} has {rows!r:.80}, and it takes a slice of the first axis, slice(0, 10)")
