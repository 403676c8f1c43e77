"""What `write` takes -> names and arrays: a mapping, one array, a table of pandas, polars or Arrow, an xarray Dataset.

`values` turns each column into an array, or says why no array holds it; here they get their names.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import PurePath
from typing import Any, Literal, TypeVar

import numpy as np

from ..dtypes import Array
from ..elements import describe_object, find_element_problem, is_unicode, to_fixed_width
from ..errors import DTypeError, LimitError, NotFoundError, check_kinds
from ..files import stem_of
from ..values import (
    DEFAULT_NAME,
    Note,
    RaggedError,
    as_array,
    is_of,
    is_plain_array,
    is_table,
    name_of,
    naming,
    note_of,
    split_columns,
    split_fields,
)
from .array import LinearArray

_Anything = TypeVar("_Anything")


def linear_arrays(
    arrays: Any, *, base: bool = False, exact: int | None = None, stored_as: Literal["cells", "bytes"] = "cells"
) -> dict[str, LinearArray]:
    """Return every array by its name, ready to be written.

    `arrays`: as for `write`; an index of pandas that has a name, or is no plain counter, comes first. `exact`: the
    largest integer of a generic array that the container keeps; None for any. `base`: write whole base buffers, with
    the views' strides and offsets. `stored_as`: "cells" refuses elements that no cell holds; with "bytes" only those of
    generic arrays are looked at.

    Raises:
        DTypeError: names the array that no dtype of the format holds.
        LimitError: two arrays have one name, or there is none.
    """
    by_name: dict[str, LinearArray] = {}
    for name, value in values_by_name(arrays).items():
        try:
            by_name[name] = value if isinstance(value, LinearArray) else LinearArray.from_numpy(value, base)
        except DTypeError as error:
            raise DTypeError(f"{name}: {error}") from error
        array = by_name[name]
        checked = stored_as == "cells" or array.dtype_entry.kind == "generic"
        if checked and (problem := find_element_problem(array.buffer, array.dtype_entry, exact)):
            raise DTypeError(f"{array.header.describe_element(name, problem[0])} {problem[1]}")
    return by_name


def plain_arrays(arrays: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Return every array by its name, its elements side by side and in native byte order, for formats that store bytes.

    Besides the dtypes of the exchange format, except generic, elements may be opaque bytes (`V5`).

    Args:
        arrays: as for `linear_arrays`.

    Raises:
        DTypeError: names the array of any other dtype.
        LimitError: two arrays have one name, or there is none.

    Example:
        >>> plain_arrays(np.zeros(2, dtype=">i4"))
        {'array': array([0, 0], dtype=int32)}
    """
    by_name = {}
    for name, value in values_by_name(arrays).items():
        opaque = isinstance(value, np.ndarray) and value.dtype.kind == "V" and value.dtype.names is None
        if opaque and value.dtype.itemsize:
            by_name[name] = value if value.flags.forc else value.copy()
            continue
        try:
            linear = value if isinstance(value, LinearArray) else LinearArray.from_numpy(value)
        except DTypeError as error:
            raise DTypeError(f"{name}: {error}") from error
        if linear.dtype_entry.kind == "generic":
            raise DTypeError(f"{name}: Python objects, which only a pickle could hold: write it to .csv or .json")
        try:
            array = to_fixed_width(linear.to_numpy()) if linear.buffer.dtype.kind == "T" else linear.to_numpy()
        except DTypeError as error:
            raise DTypeError(f"{name}: {error}") from error
        by_name[name] = LinearArray.from_numpy(array).to_numpy()
    return by_name


def check_unicode(names: Iterable[str]) -> None:
    """Refuse names with lone surrogates (halves of a character), for containers that store names."""
    for name in names:
        if not is_unicode(name):
            raise LimitError(f"the name {name!r} is not valid Unicode, and no file can hold it: rename it")


def default_name(source: str | None) -> str:
    """Return the name for a file's only array: the file name without its suffix, or `array`."""
    return (source and stem_of(source)) or DEFAULT_NAME


def list_names(names: Sequence[str] | None) -> list[str] | None:
    """Return names as a list that has each once. One text is one name, and None stays None."""
    if names is None:
        return None
    takes = "a list of texts, or one text"
    check_kinds(Iterable, takes, names=names)
    listed = [names] if isinstance(names, str) else list(names)
    for name in listed:
        check_kinds(Hashable, takes, names=name)
    return list(dict.fromkeys(listed))


def pick_array(arrays: dict[str, Array], names: object) -> Array | dict[str, Array]:
    """Return the array that is meant by one name as text; or all arrays, if names are a list, or None."""
    return arrays[names] if isinstance(names, str) else arrays


def select(available: Mapping[str, _Anything], names: Sequence[str] | None) -> dict[str, _Anything]:
    """Return the entries of `available` that are named in `names`, or all of them if `names` is None.

    Raises:
        NotFoundError: nothing has one of the names; the message lists the names that there are.
    """
    if names is None:
        return dict(available)
    selected = list_names(names) or []
    for name in selected:
        if name not in available:
            raise NotFoundError(f"no array {name!r}; there is {', '.join(map(repr, available)) or 'none'}")
    return {name: available[name] for name in selected}


def values_by_name(arrays: Any, *, split: bool = True) -> dict[str, Any]:
    """Return the arrays given to `write`, by name: ndarrays, but `LinearArray`s and awkward arrays as they are.

    `arrays`: as for `linear_arrays`. `split`: whether an array whose elements have fields is one array a field.

    Raises:
        DTypeError: no array holds one of the values; names it, and says what to do.
        LimitError: two arrays have one name, or there is no array.
    """
    if are_plain_arrays(arrays):
        return dict(arrays)
    values: dict[str, Any] = {}
    for name, value in _named_values(arrays, split):
        if name in values:
            raise LimitError(f"two arrays would have the name {name!r}: rename one of them")
        values[name] = _value(name, value)
    if not values:
        raise LimitError("no array to write")
    return values


def refuse_lists(arrays: Any, by_name: Mapping[str, Any]) -> None:
    """Raise a DTypeError if a table has a column of lists: such files hold one element in each row.

    `arrays`: the argument of `write`. `by_name`: its arrays, as `values_by_name` gives them.
    """
    for name, value in by_name.items():
        if is_of(value, "awkward") and is_table(arrays):
            hint = f"df[{name!r}] = df[{name!r}].map(str) makes text of them, and workbooks, .csv and .json keep them"
            raise DTypeError(f"{name}: lists in a column: {hint}")


def hold_stream(arrays: Any) -> Any:
    """Return the argument of `write` with its Arrow streams read into memory, as each can be read only once.

    Tables of pandas, polars, pyarrow and xarray, which can be read again and may have labels, stay as they are; a
    LazyFrame of polars is collected once.
    """
    if isinstance(arrays, dict):
        streams = {key: _value(name_of(key), value) for key, value in arrays.items() if _is_read_once(value)}
        return {**arrays, **streams} if streams else arrays
    if is_of(arrays, "polars", "LazyFrame"):
        return arrays.collect()
    return values_by_name(arrays) if _is_read_once(arrays) else arrays


def _is_read_once(value: Any) -> bool:
    again = ("pandas", "polars", "xarray")  # are read as often as is needed
    if not hasattr(value, "__arrow_c_stream__") or any(is_of(value, package) for package in again):
        return False
    return not is_of(value, "pyarrow") or is_of(value, "pyarrow", "RecordBatchReader")


def note_values(arrays: Any) -> dict[str, Note]:
    """Return by name what the arrays do not hold of the values to be written, such as a time zone.

    Raises:
        DTypeError: times of several zones, or of one without a name; names the array.
    """
    notes: dict[str, Note] = {}
    for name, value in () if are_plain_arrays(arrays) else _named_values(arrays):
        if is_plain_array(value):
            continue
        with naming(name):
            if (note := note_of(value)) is not None:
                notes[name] = note
    return notes


def _named_values(arrays: Any, split: bool = True) -> list[tuple[str, Any]]:
    """Return values by name, as they were given."""
    whole = isinstance(arrays, np.ndarray) and not split
    if isinstance(arrays, LinearArray) or is_of(arrays, "awkward") or whole:
        return [(DEFAULT_NAME, arrays)]
    if arrays is None or isinstance(arrays, (str, bytes, PurePath)):
        kinds = "a mapping of names to arrays, one array, a DataFrame, an Arrow table, or an xarray Dataset"
        raise DTypeError(f"{describe_object(arrays)} is not an array: write {kinds}")
    columns = None if isinstance(arrays, dict) else split_columns(arrays)
    if columns is not None:
        return columns
    pairs = arrays.items() if isinstance(arrays, Mapping) else [(DEFAULT_NAME, arrays)]
    if not split:
        return [(name_of(key), value) for key, value in pairs]
    return [field for key, value in pairs for field in split_fields(name_of(key), value)]


def are_plain_arrays(arrays: Any) -> bool:
    """Return whether `write` was given a dictionary of names and plain arrays, which need no conversion."""
    return type(arrays) is dict and {*map(type, arrays)} == {str} and all(map(is_plain_array, arrays.values()))


def _value(name: str, value: Any) -> Any:
    """Return a value as an ndarray, unless containers may take it as it is: an awkward array, or a `LinearArray`."""
    if is_plain_array(value) or isinstance(value, LinearArray) or is_of(value, "awkward"):
        return value
    with naming(name):
        try:
            return as_array(value)
        except RaggedError as error:
            return _ragged(value, error)


def _ragged(value: Any, error: RaggedError) -> Any:
    """Return lists of different lengths as an awkward array."""
    try:
        ak = import_module("awkward")
    except ImportError:
        raise DTypeError(f"{error}: pip install 'sheetarray[awkward]'") from error
    lists = _as_lists(value)
    leaves = [leaf for leaf in _leaves_of(lists) if leaf is not None]
    kinds = {type(leaf) for leaf in leaves}
    is_one_kind = len(kinds) <= 1 and kinds <= {int, float, bool, str}
    if not is_one_kind and (kinds != {int, float} or any(type(leaf) is int and abs(leaf) > 2**53 for leaf in leaves)):
        raise error
    try:
        return ak.from_iter(lists)
    except (ValueError, TypeError, OverflowError) as reason:
        raise DTypeError(f"no array: {reason}") from reason


def _as_lists(value: Any) -> Any:
    """Return lists, and columns of lists, as lists of Python's own scalars."""
    for method in ("to_pylist", "to_list", "tolist"):  # of Arrow, pandas and polars, NumPy
        if hasattr(value, method):
            return _as_lists(getattr(value, method)())
    if isinstance(value, (list, tuple)):
        return [_as_lists(item) for item in value]
    return None if is_of(value, "pandas", "NAType") else value


def _leaves_of(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in _leaves_of(item)] if isinstance(value, list) else [value]
