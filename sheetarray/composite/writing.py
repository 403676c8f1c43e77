"""Takes composites apart into columns, before cells are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..arrays import values_by_name
from ..errors import DTypeError
from ..registry import LABELLING, Composite, composites
from .modules import (
    load_labels,
    load_module,
)


def spread(arrays: Any, *, limit: int) -> Any:
    """Return the argument of `write` with each composite replaced by its columns; anything else as it is.

    Args:
        arrays: as for `write`.
        limit: how many characters a cell of the container holds.

    Raises:
        DTypeError: a composite that no columns hold.
        LimitError: a column of one would have the name of another array.
    """
    if LABELLING is not None and type(arrays) is not dict:
        arrays = load_labels(LABELLING).spread(arrays, limit=limit)
    for composite in _composites_among(arrays):
        arrays = load_module(composite).spread(values_by_name(arrays), limit=limit)
    return arrays


def spread_rows(arrays: Any, *, limit: int) -> Any:
    """Return rows that are appended to arrays as `spread` returns arrays, but without labels: the arrays keep theirs.

    Raises:
        DTypeError: there is a composite among the arrays; its columns have other lengths than its rows.
    """
    for composite in _composites_among(arrays):
        raise DTypeError(f"no rows are appended to arrays of {composite.package}: read, concatenate and write them")
    by_name = spread(arrays, limit=limit)
    if LABELLING is None or by_name is arrays:
        return by_name
    return {name: array for name, array in by_name.items() if name != LABELLING.name}


def _composites_among(arrays: Any) -> list[Composite]:
    values = [arrays, *arrays.values()] if isinstance(arrays, Mapping) else [arrays]
    return [composite for composite in composites() if any(_is_of(composite, value) for value in values)]


def _is_of(composite: Composite, value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == composite.package
