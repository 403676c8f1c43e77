"""Values taken apart into columns, before cells are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..arrays import values_by_name
from ..registry import LABELLING, Composite, composites
from .modules import (
    load_labels,
    load_module,
)


def spread(arrays: Any, *, limit: int) -> Any:
    """Return what `write` takes with each composite replaced by its columns; anything else as it is.

    Args:
        arrays: as for `write`.
        limit: how many characters a cell of the container holds.

    Raises:
        DTypeError: a composite that no columns hold.
        LimitError: a column of one would have the name of another array.
    """
    if LABELLING is not None and type(arrays) is not dict:
        arrays = load_labels(LABELLING).spread(arrays, limit=limit)
    for composite in composites():
        alone = _is_of(composite, arrays)
        if alone or (isinstance(arrays, Mapping) and any(_is_of(composite, value) for value in arrays.values())):
            arrays = load_module(composite).spread(values_by_name(arrays), limit=limit)
    return arrays


def _is_of(composite: Composite, value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == composite.package
