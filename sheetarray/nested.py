"""Awkward arrays in containers of columns: one column for each blob, and one for the schema that joins them again.

The containers know nothing of it. What is no rectangular array is spread over columns before writing, and put together
after reading; `interchange.awkward.columns` has the form. Awkward itself is imported only where there is such an array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from .arrays import chosen, named_values
from .errors import MissingDependencyError, NotFoundError

Arrays = dict[str, Any]


def spread(arrays: Any, *, limit: int) -> Any:
    """What `write` takes, awkward arrays in it replaced by their columns.

    Args:
        arrays: as for `write`.
        limit: characters that a cell of the container holds.

    Raises:
        DTypeError: an awkward array that the protocol has no form for.
        LimitError: a column of one would have the name of another array.
    """
    alone = _is_nested(arrays)
    if not alone and not (isinstance(arrays, Mapping) and any(map(_is_nested, arrays.values()))):
        return arrays
    return _columns().spread(named_values(arrays), limit=limit)


def gathered(
    read: Callable[[Sequence[str] | None], Arrays], names: Sequence[str] | None, *, again: bool = True
) -> Arrays:
    """Arrays as `read` gives them, columns of awkward arrays put together.

    Args:
        read: names -> arrays of the container; None for all.
        names: what is wanted: arrays, or awkward arrays.
        again: whether `read` may be called more than once.

    Raises:
        FormatError: columns that do not fit together.
        NotFoundError: no array of a name.
    """
    if names is None:
        return _joined(read(None))
    wanted = [names] if isinstance(names, str) else list(dict.fromkeys(names))
    if not again:
        return chosen(_joined(read(None)), wanted)
    try:
        return read(wanted)
    except NotFoundError as error:
        missing = error
    nested = {name: f"{name}.json" for name in wanted}
    schemas = _there(read, list(nested.values()))
    kept = {name: schema for name, schema in nested.items() if schema in schemas}
    if not kept:
        raise missing
    needed = {name: _columns().blobs_of(schemas[schema]) for name, schema in kept.items()}
    plain = [name for name in wanted if name not in kept]
    found = read(list(dict.fromkeys([*plain, *(blob for blobs in needed.values() for blob in blobs)])))
    found |= schemas
    return {name: _columns().from_columns(found, name) if name in kept else found[name] for name in wanted}


def _there(read: Callable[[Sequence[str] | None], Arrays], names: list[str]) -> Arrays:
    """Those of some arrays that there are, and that are schemas."""
    found: Arrays = {}
    for name in names:
        try:
            found |= read([name])
        except NotFoundError:
            continue
    return {name: array for name, array in found.items() if _may_be_schema(name, array)}


def _joined(found: Arrays) -> Arrays:
    if not any(_may_be_schema(name, array) for name, array in found.items()):
        return found
    joined: Arrays = _columns().gather(found)
    return joined


def _may_be_schema(name: str, array: Any) -> bool:
    """Whether a column looks like a schema, told without importing Awkward."""
    return (
        name.endswith(".json")
        and array.dtype.kind == "U"
        and array.ndim == 1
        and array.size > 0
        and array[0].startswith(('{"awkward0"', '{"awkward"'))
    )


def _is_nested(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "awkward"


def _columns() -> Any:
    try:
        return import_module(".interchange.awkward.columns", __package__)
    except ImportError as error:
        raise MissingDependencyError(
            f"an awkward array needs {error.name}: pip install 'sheetarray[awkward]'", name=error.name
        ) from error
