"""Elements as text: grids of values with their indices, elided in the middle, JSON cells, and statistics."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import Array
from ..errors import DTypeError
from ..linear import LinearArray, to_linear
from .console import escape_controls
from .slices import cover_with_blocks

if TYPE_CHECKING:
    from rich.text import Text


DIGITS = 6  # behind the decimal mark, at most, of values in a grid
_LONGEST_TEXT = 32
_PIPED_COLUMNS = 12
_A_LINE = (20, 10, 8, 5, 4, 2, 1)  # values of a 1-D array in a line
_NUMBERS = "biufc"


# One element, for messages and for JSON --------------------------------------------------------------------------


def format_value(value: Any) -> str:
    """Return an element as a message shows it: the shortest text that reads back as it; text in quotes."""
    if isinstance(value, str):
        return escape_controls(repr(str(value)))
    return escape_controls(str(value) if isinstance(value, np.generic) else repr(value))


def to_rectangular(array: Any) -> Any:
    """Return an awkward array whose type says that it is rectangular as an ndarray; any other array as it is."""
    if isinstance(array, np.ndarray) or "var" in str(array.type):
        return array
    try:
        return LinearArray.from_numpy(array).to_numpy()
    except (DTypeError, TypeError):  # records, unions, missing elements, bytes
        return array


def to_json_cells(array: Any) -> Any:
    """Return an array as nested lists of the cells that the exchange format has for them (NaN is "NaN")."""
    if not isinstance(array, np.ndarray):
        import awkward  # type: ignore[import-untyped]

        return _to_plain(awkward.transform(_times_as_cells, array).tolist())
    flat = to_linear(np.ascontiguousarray(array))[-array.size :] if array.size else []
    return _nest(flat, array.shape)


def _to_plain(value: Any) -> Any:
    """Return a value of an awkward array as JSON has it: complex numbers as in cells, bytes in hexadecimal."""
    if isinstance(value, dict):
        return {name: _to_plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    return value if value is None or isinstance(value, (bool, int, str)) else to_linear(np.asarray(value))[-1]


def _times_as_cells(layout: Any, **_: Any) -> Any:
    """Return dates and durations, which awkward gives as Python's or as bare integers, as cells."""
    if not layout.is_numpy or layout.data.dtype.kind not in "mM":
        return None
    import awkward

    cells = awkward.from_iter(to_json_cells(layout.data.reshape(-1)), highlevel=False)
    for size in reversed(layout.data.shape[1:]):
        cells = awkward.contents.RegularArray(cells, size)
    return cells


def _nest(flat: Sequence[Any], shape: Sequence[int]) -> Any:
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return list(flat)
    size = math.prod(shape[1:])
    return [_nest(flat[index * size : (index + 1) * size], shape[1:]) for index in range(shape[0])]


# Many elements, in a grid ----------------------------------------------------------------------------------------


def draw_grid(values: Array, *, width: int | None, rows: int, columns: int | None) -> list[Text]:
    """Return the lines of a table of a 1-D or 2-D array.

    Args:
        values: the array.
        width: columns of the terminal; None for any number.
        rows: lines of values, at most.
        columns: values in a line, at most; None for as many as the width takes.
    """
    return _lines_of_1d(values, width, rows, columns) if values.ndim == 1 else _table(values, width, rows, columns)


def _table(values: Array, width: int | None, rows: int, columns: int | None) -> list[Text]:
    down = elide_indices(values.shape[0], rows)
    label = max(len(str(values.shape[0] - 1)), 1)
    most = columns or (_PIPED_COLUMNS if width is None else max(2, width // 4))
    while True:
        across = elide_indices(values.shape[1], most)
        kept = values[np.ix_([i for i in down if i is not None], [j for j in across if j is not None])]
        texts = iter(format_elements(kept))
        body = [["" if j is None else next(texts) for j in across] for i in down if i is not None]
        head = ["" if j is None else str(j) for j in across]
        cell_width = max((_display_width(text) for line in [head, *body] for text in line), default=1)
        taken = label + sum(2 + (1 if j is None else cell_width) for j in across)
        if width is None or columns or taken <= width or most <= 2:
            break
        most = max(2, min(most - 1, (width - label - 3) // (cell_width + 2)))
    gaps = [index for index, j in enumerate(across) if j is None]
    labels = [str(i) for i in down if i is not None]
    return _draw_lines(head, labels, body, cell_width, gaps, gap_row=down.index(None) if None in down else None)


def _lines_of_1d(values: Array, width: int | None, rows: int, columns: int | None) -> list[Text]:
    label = len(str(max(len(values) - 1, 0)))
    for each_line in (columns,) if columns else _A_LINE if width is not None else _A_LINE[1:]:
        starts = elide_indices(-(-len(values) // each_line), rows)
        kept = [np.arange(n * each_line, min((n + 1) * each_line, len(values))) for n in starts if n is not None]
        texts = iter(format_elements(values[np.concatenate(kept)] if kept else values))
        body = [[next(texts) for _ in line] for line in kept]
        cell_width = max((_display_width(text) for line in body for text in line), default=1)
        cell_width = max(cell_width, len(f"+{each_line - 1}"))
        if width is None or label + each_line * (cell_width + 2) <= width:
            break
    head = [f"+{index}" for index in range(min(each_line, len(values)))] if len(values) > each_line else []
    gap_row = starts.index(None) if None in starts else None
    return _draw_lines(head, [str(line[0]) for line in kept], body, cell_width, [], gap_row)


def _draw_lines(
    head: list[str], labels: list[str], body: list[list[str]], cell_width: int, gaps: list[int], gap_row: int | None
) -> list[Text]:
    from rich.text import Text

    label = max(map(len, labels), default=1)
    lines = [Text(" " * label)] if head else []
    for index, text in enumerate(head):
        lines[0].append("  " + (" " if index in gaps else text.rjust(cell_width)), "dim")
    for index, (name, cells) in enumerate(zip(labels, body, strict=True)):
        if index == gap_row:
            lines.append(Text("…".rjust(label), "dim"))
        line = Text.assemble((name.rjust(label), "dim"))
        for place, text in enumerate(cells):
            if place in gaps:
                line.append("  …", "dim")
            else:
                missing = ("nan" in text or "NaT" in text) and not text.startswith(("'", '"'))
                style = "red" if missing else ""
                line.append("  " + " " * (cell_width - _display_width(text)) + text, style)
        lines.append(line)
    return lines


def elide_indices(count: int, most: int) -> list[int | None]:
    """Return the first and the last of `count` indices, and None for what is left out between them.

    Example:
        >>> elide_indices(9, 4)
        [0, 1, None, 7, 8]
    """
    if count <= max(most, 1):
        return list(range(count))
    before = -(-max(most, 2) // 2)
    return [*range(before), None, *range(count - max(most, 2) + before, count)]


def format_elements(values: Array) -> list[str]:
    """Return the elements, in row-major order, all in one notation."""
    flat = values.reshape(-1)
    if not flat.size:
        return []
    if flat.dtype.kind in "fc" and _spans_magnitudes(np.abs(flat)):
        return [f"{value:.{DIGITS}g}" for value in flat.tolist()]
    if flat.dtype.kind in _NUMBERS:
        joined = np.array2string(
            flat, separator="\n", precision=DIGITS, threshold=sys.maxsize, max_line_width=sys.maxsize
        )
        return joined[1:-1].split("\n")
    return [_shorten(str(value) if values.dtype.kind in "mM" else format_value(value)) for value in flat]


def _spans_magnitudes(sizes: Array) -> bool:
    """Return whether the numbers need different numbers of decimals."""
    sizes = sizes[np.isfinite(sizes) & (sizes != 0)]
    if not sizes.size:
        return False
    least, greatest = float(sizes.min()), float(sizes.max())
    return greatest >= 1e8 or least < 1e-4 or greatest > 1000 * least


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def _display_width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


# Statistics ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of the numbers of an array; of their magnitudes, if they are complex.

    Attributes:
        minimum: of the finite elements; None if no element is finite. An int for integers, else a float.
        mean: of the finite elements; of booleans the share that is true.
        maximum: of the finite elements.
        nan: the number of elements that are NaN.
        infinite: the number of infinite elements.
        count: the number of all elements.
    """

    minimum: float | None
    mean: float | None
    maximum: float | None
    nan: int
    infinite: int
    count: int


def has_numbers(values: Array) -> bool:
    """Return whether statistics and a picture of an array make sense."""
    return values.dtype.kind in _NUMBERS


def to_real(values: Array) -> Array:
    """Return numbers that can be put in order: magnitudes of complex ones, 0 and 1 for booleans."""
    if values.dtype.kind == "c":
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.abs(values))
    return values.astype(np.uint8) if values.dtype.kind == "b" else values


def compute_statistics(values: Array) -> Statistics:
    """Return minimum, mean and maximum, computed block by block; NaN and infinities are counted."""
    lows: list[Any] = []
    highs: list[Any] = []
    nan = infinite = used = 0
    total = 0.0
    for block in cover_with_blocks(values.shape):
        part = to_real(values[block]).reshape(-1)
        if part.dtype.kind == "f":
            finite = part[np.isfinite(part)]
            missing = int(np.isnan(part).sum())
            nan, infinite = nan + missing, infinite + part.size - finite.size - missing
            part = finite
        if part.size:
            lows.append(part.min().item())
            highs.append(part.max().item())
            used += part.size
            with np.errstate(over="ignore"):
                total += float(part.sum(dtype=np.float64))
    if not used:
        return Statistics(None, None, None, nan, infinite, values.size)
    return Statistics(min(lows), total / used, max(highs), nan, infinite, values.size)
