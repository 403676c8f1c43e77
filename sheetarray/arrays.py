"""What `write` takes -> names and arrays: a mapping, one array, a table of pandas, polars or Arrow, an xarray Dataset.

`values` turns each column into an array, or says why no array holds it; here they get their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Literal, TypeVar

import numpy as np

from .elements import describe_object, find_element_problem, is_unicode, to_fixed_width
from .errors import DTypeError, LimitError, NotFoundError
from .files import name_part
from .linear import LinearArray
from .values import DEFAULT_NAME, as_array, is_of, name_of, naming, split_columns

_Anything = TypeVar("_Anything")


def linear_arrays(
    arrays: Any, *, base: bool = False, exact: int | None = None, stored_as: Literal["cells", "bytes"] = "cells"
) -> dict[str, LinearArray]:
    """Return every array by its name, ready to be written.

    Args:
        arrays: a mapping of names to arrays, one array (then named "array"), a pandas or polars DataFrame (one array a
            column; an index with a name, or that is no plain counter, comes first), an Arrow table, or an xarray
            Dataset or DataArray.
        exact: the largest integer of a generic array that the container keeps; None for any.
        base: write whole base buffers, with the views' strides and offsets.
        stored_as: "cells" refuses elements that no cell holds; with "bytes" only those of generic arrays are looked at.

    Raises:
        DTypeError: names the array that no dtype of the format holds.
        LimitError: two arrays have one name, or there is none.

    Example:
        >>> [a.shape for a in linear_arrays({"x": np.zeros((2, 3)), "y": 1.5}).values()]
        [(2, 3), ()]
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
        if opaque and value.dtype.itemsize and not isinstance(value, np.ma.MaskedArray):
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
    """Refuse names with lone surrogates (halves of a character), for containers that store names.

    Raises:
        LimitError: there is such a name.
    """
    for name in names:
        if not is_unicode(name):
            raise LimitError(f"the name {name!r} is no valid Unicode, and no file can hold it: rename it")


def default_name(source: str | None) -> str:
    """Return the name for a file's only array: the file name without its suffixes, or `array`."""
    return PurePath(name_part(source)).name.partition(".")[0] or DEFAULT_NAME if source else DEFAULT_NAME


def select(available: Mapping[str, _Anything], names: Sequence[str] | None) -> dict[str, _Anything]:
    """Return the entries of `available` that are named in `names`, or all of them if `names` is None.

    Raises:
        NotFoundError: nothing has one of the names; the message lists the names that there are.
    """
    if names is None:
        return dict(available)
    wanted = [names] if isinstance(names, str) else list(dict.fromkeys(names))
    for name in wanted:
        if name not in available:
            raise NotFoundError(f"no array {name!r}; there is {', '.join(map(repr, available))}")
    return {name: available[name] for name in wanted}


def values_by_name(arrays: Any) -> dict[str, Any]:
    """Return the arrays given to `write`, by name: ndarrays, but `LinearArray`s and awkward arrays as they are.

    Raises:
        DTypeError: no array holds one of the values; names it, and says what to do.
        LimitError: two arrays have one name, or there is no array.
    """
    values: dict[str, Any] = {}
    for key, value in _named_pairs(arrays):
        name = name_of(key)
        if name in values:
            raise LimitError(f"two arrays would have the name {name!r}")
        values[name] = value
    if not values:
        raise LimitError("no array to write")
    return values


def hold_stream(arrays: Any) -> Any:
    """Return the argument of `write` with its Arrow streams read into memory, as each can be read only once.

    Tables of pandas, polars, pyarrow and xarray, which can be read again and may have labels, stay as they are.

    Raises:
        DTypeError: what no array holds; names it, and says what to do.
    """
    if isinstance(arrays, dict):
        streams = {key: _value(name_of(key), value) for key, value in arrays.items() if _is_read_once(value)}
        return {**arrays, **streams} if streams else arrays
    return values_by_name(arrays) if _is_read_once(arrays) else arrays


def _is_read_once(value: Any) -> bool:
    again = ("pandas", "polars", "xarray")  # are read as often as is needed
    if not hasattr(value, "__arrow_c_stream__") or any(is_of(value, package) for package in again):
        return False
    return not is_of(value, "pyarrow") or is_of(value, "pyarrow", "RecordBatchReader")


def _named_pairs(arrays: Any) -> list[tuple[Any, Any]]:
    if isinstance(arrays, (np.ndarray, LinearArray)) or is_of(arrays, "awkward"):
        return [(DEFAULT_NAME, arrays)]
    if arrays is None or isinstance(arrays, (str, bytes, PurePath)):
        kinds = "a mapping of names to arrays, one array, a DataFrame, an Arrow table, or an xarray Dataset"
        raise DTypeError(f"{describe_object(arrays)} is no array: write {kinds}")
    columns = None if isinstance(arrays, dict) else split_columns(arrays)
    if columns is not None:
        return list(columns)
    if isinstance(arrays, Mapping):
        return [(key, _value(name_of(key), value)) for key, value in arrays.items()]
    return [(DEFAULT_NAME, _value(DEFAULT_NAME, arrays))]


def _value(name: str, value: Any) -> Any:
    """Return a value as an ndarray, unless containers may take it as it is: an awkward array, or a `LinearArray`."""
    if isinstance(value, (np.ndarray, LinearArray)) or is_of(value, "awkward"):
        return value
    with naming(name):
        return as_array(value)
