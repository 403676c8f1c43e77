"""Elements as text for messages and as JSON, counts with their nouns, and names of arrays in a row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..columns import MOST_NAMED
from ..elements import label_text
from ..errors import escape_controls
from ..linear.array import to_linear


def count_noun(count: int, noun: str) -> str:
    """Return a count and its noun.

    Example:
        >>> count_noun(1, "array"), count_noun(2000, "cell")
        ('1 array', '2,000 cells')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def join_names(names: Sequence[str]) -> str:
    """Return the first of many names of arrays, and the number of others.

    Example:
        >>> join_names(["t", "u", "v", "w", "x", "y"])
        't, u, v, w, x and 1 more array'
    """
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {count_noun(more, 'more array')}" if more > 0 else "")


def format_value(value: Any) -> str:
    """Return an element as a message shows it: the shortest text that reads back as it; text in quotes."""
    if isinstance(value, str):
        return escape_controls(repr(str(value)))
    return escape_controls(label_text(value) if isinstance(value, np.generic) else repr(value))


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
