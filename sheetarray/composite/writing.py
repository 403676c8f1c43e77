"""Takes composites apart into columns, before cells are written."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..arrays import values_by_name
from ..errors import DTypeError, FormatError, LimitError, MissingDependencyError
from ..linear import LinearArray
from ..registry import LABELLING, Composite, composites
from .modules import ignore_finding, load_labels, load_module


def spread(arrays: Any, *, limit: int) -> Any:
    """Return the argument of `write` with each composite replaced by its columns; anything else as it is.

    Args:
        arrays: as for `write`.
        limit: how many characters a cell of the container holds.

    Raises:
        DTypeError: a composite that no columns hold.
        LimitError: a column of one would have the name of another array; or an array would be read as a description.
    """
    given = arrays
    if LABELLING is not None and type(arrays) is not dict:
        arrays = load_labels(LABELLING).spread(given, limit=limit)
    if arrays is given:
        arrays = given if isinstance(given, Mapping) else values_by_name(given)
        if LABELLING is not None and LABELLING.name in arrays:
            load_labels(LABELLING).refuse_description(arrays[LABELLING.name])
    unchecked = [composite for composite in composites() if _has_lookalike(arrays, composite)]
    for composite in _composites_among(arrays):
        arrays = load_module(composite).spread(values_by_name(arrays), limit=limit)
    for composite in unchecked:
        _check_readable(arrays, composite)
    return arrays


def _has_lookalike(arrays: Mapping[Any, Any], composite: Composite) -> bool:
    """Return whether reading takes one of the arrays for a description, by its name and what stands in it."""
    suffix = composite.suffix
    named = [key for key in arrays if isinstance(key, str) and key.endswith(suffix)]
    plain = [key for key in named if not _is_of(composite, arrays[key])]
    return any(load_module(composite).is_schema(key, _plain(arrays, key)) for key in plain)


def _plain(arrays: Mapping[str, Any], name: str) -> Any:
    value = values_by_name({name: arrays[name]})[name]
    return value.to_numpy() if isinstance(value, LinearArray) else value


def _check_readable(arrays: Mapping[str, Any], composite: Composite) -> None:
    """Refuse an array that looks like the description of a composite whose columns cannot be put together.

    Raises:
        LimitError: reading would refuse the arrays.
    """
    plain = {key: _plain(arrays, key) for key in arrays}
    with suppress(MissingDependencyError):
        try:
            load_module(composite).gather(plain, note=ignore_finding)
        except FormatError as error:
            raise LimitError(
                f"'{error.array:.80}{composite.suffix}' would be read as the description of an {composite.package} "
                f"array, and refused ({error.reason:.200}): rename it"
            ) from error


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
