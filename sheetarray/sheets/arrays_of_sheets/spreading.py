"""Takes composites apart into columns, before cells are written."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ...errors import (
    DTypeError,
    FormatError,
    LimitError,
    MissingDependencyError,
)
from ...formats import find_composite
from ...labels import NAME as LABELS
from ...labels import holds_labelled, refuse_description
from ...labels import spread_labels as spread_labels
from ...linear.array import LinearArray
from ...linear.named import are_plain_arrays, note_values, values_by_name
from .gathering import PACKAGE, SUFFIX, load_composites, without_description


def spread(arrays: Any, *, limit: int) -> Any:
    """Return the argument of `write` with each composite replaced by its columns; anything else as it is.

    `arrays`: as for `write`. `limit`: how many characters a cell of the container holds.

    Raises:
        DTypeError: a composite that no columns hold.
        LimitError: a column of one would have the name of another array; or an array would be read as a description.
    """
    if are_plain_arrays(arrays) and not any(name == LABELS or name.endswith(SUFFIX) for name in arrays):
        return arrays
    return _spread_labelled(arrays, limit)


def _spread_labelled(given: Any, limit: int) -> Any:
    """Return what may have labels or composites, or be taken for a description, as arrays of columns."""
    arrays = given
    if _may_have_labels(given):
        arrays = spread_labels(given, limit=limit)
    if arrays is given:
        arrays = values_by_name(given)
        if LABELS in arrays:
            refuse_description(arrays[LABELS])
    has_lookalike = any(isinstance(key, str) and key.endswith(SUFFIX) and _is_lookalike(arrays, key) for key in arrays)
    if _has_composites(arrays):
        arrays = load_composites().spread_awkward(values_by_name(arrays), limit=limit)
    if has_lookalike:
        _check_readable(arrays)
    return arrays


def _may_have_labels(arrays: Any) -> bool:
    return type(arrays) is not dict or bool(note_values(arrays)) or holds_labelled(arrays)


def _is_lookalike(arrays: Mapping[str, Any], name: str) -> bool:
    """Return whether `read` would take an array for a description, because of its name and its elements."""
    module = None if _is_composite(arrays[name]) else load_composites()
    return module is not None and bool(module.is_schema(name, _plain(arrays, name)))


def _plain(arrays: Mapping[str, Any], name: str) -> Any:
    value = values_by_name({name: arrays[name]})[name]
    return value.to_numpy() if isinstance(value, LinearArray) else value


def _check_readable(arrays: Mapping[str, Any]) -> None:
    """Refuse an array that looks like the description of a composite whose columns cannot be put together."""
    plain = {key: _plain(arrays, key) for key in arrays}
    with suppress(MissingDependencyError):
        try:
            load_composites().gather(plain, note=lambda _: None)
        except FormatError as error:
            raise LimitError(
                f"'{error.array:.80}{SUFFIX}' would be read as the description of an {PACKAGE} array, and refused "
                f"({error.reason:.200}): rename it"
            ) from error


def spread_rows(arrays: Any, *, limit: int) -> Any:
    """Return rows that are appended to arrays as `spread` returns arrays, but without labels: the arrays keep theirs.

    Raises:
        DTypeError: there is a composite among the arrays; its columns have other lengths than its rows.
    """
    if _has_composites(arrays):
        raise DTypeError(f"rows cannot be appended to {PACKAGE} arrays: read, concatenate and write them")
    by_name = spread(arrays, limit=limit)
    return without_description(by_name) if _may_have_labels(arrays) else by_name


def _has_composites(arrays: Any) -> bool:
    values = [arrays, *arrays.values()] if isinstance(arrays, Mapping) else [arrays]
    return any(map(_is_composite, values)) and find_composite() is not None


def _is_composite(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == PACKAGE
