"""Arrays as nested lists, with elements as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .array import to_linear


def to_json_cells(array: Any) -> Any:
    """Return an array as nested lists, with each element as the exchange format writes it (NaN as "NaN")."""
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
