"""What `write` takes -> names and arrays: a mapping, one array, a pandas DataFrame or an xarray Dataset.

Neither pandas nor xarray is imported here: their objects are known by what they are, not by their packages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Literal, TypeVar

import numpy as np

from .elements import element_problem, fixed_width
from .errors import DTypeError, LimitError, NotFoundError
from .linear import LinearArray

ALONE = "array"  # the name of an array that came without one

_Anything = TypeVar("_Anything")


def linear_arrays(
    arrays: Any, *, base: bool = False, exact: int | None = None, stored_as: Literal["cells", "bytes"] = "cells"
) -> dict[str, LinearArray]:
    """Every array by its name, ready to be written.

    Args:
        arrays: a mapping of names to arrays, one array (then named "array"), a pandas DataFrame (one array a
            column; an index with a name, or that is no plain counter, comes first) or an xarray object.
        exact: the largest integer of a generic array that the container keeps; None for any.
        base: write whole base buffers, with the views' strides and offsets.

    Raises:
        DTypeError: names the array that no dtype of the format holds.
        LimitError: two arrays have one name, or there is none.

    Example:
        >>> [a.shape for a in linear_arrays({"x": np.zeros((2, 3)), "y": 1.5}).values()]
        [(2, 3), ()]
    """
    found: dict[str, LinearArray] = {}
    for name, value in named_values(arrays).items():
        try:
            found[name] = value if isinstance(value, LinearArray) else LinearArray.from_numpy(value, base)
        except DTypeError as error:
            raise DTypeError(f"{name}: {error}") from error
        array = found[name]
        checked = stored_as == "cells" or array.kind.kind == "generic"
        if checked and (problem := element_problem(array.buffer, array.kind, exact)):
            raise DTypeError(f"{array.header.named_element(name, problem[0])} {problem[1]}")
    return found


def plain_arrays(arrays: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Every array by its name, its elements side by side and in native byte order, for formats that store bytes.

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
    found = {}
    for name, value in named_values(arrays).items():
        opaque = isinstance(value, np.ndarray) and value.dtype.kind == "V" and value.dtype.names is None
        if opaque and value.dtype.itemsize and not isinstance(value, np.ma.MaskedArray):
            found[name] = value if value.flags.forc else value.copy()
            continue
        try:
            linear = value if isinstance(value, LinearArray) else LinearArray.from_numpy(value)
        except DTypeError as error:
            raise DTypeError(f"{name}: {error}") from error
        if linear.kind.kind == "generic":
            raise DTypeError(f"{name}: Python objects, which only a pickle could hold: write it to .csv or .json")
        try:
            array = fixed_width(linear.to_numpy()) if linear.buffer.dtype.kind == "T" else linear.to_numpy()
        except DTypeError as error:
            raise DTypeError(f"{name}: {error}") from error
        found[name] = LinearArray.from_numpy(array).to_numpy()
    return found


def stem(source: str | None) -> str:
    """A name for the only array of a file: the file's own, without suffixes."""
    return PurePath(source).name.partition(".")[0] or ALONE if source else ALONE


def chosen(there: Mapping[str, _Anything], names: Sequence[str] | None) -> dict[str, _Anything]:
    """What bears the names asked for, or everything where names is None.

    Raises:
        NotFoundError: nothing has one of the names; says what there is.
    """
    if names is None:
        return dict(there)
    wanted = [names] if isinstance(names, str) else list(dict.fromkeys(names))
    for name in wanted:
        if name not in there:
            raise NotFoundError(f"no array {name!r}; there is {', '.join(map(repr, there))}")
    return {name: there[name] for name in wanted}


def named_values(arrays: Any) -> dict[str, Any]:
    """What `write` takes, by name and as it is: each value a `LinearArray`, or what `np.asanyarray` takes.

    Raises:
        LimitError: two arrays have one name, or there is none.
    """
    found: dict[str, Any] = {}
    for key, value in _pairs(arrays):
        name = str(key)
        if name in found:
            raise LimitError(f"two arrays would have the name {name!r}")
        found[name] = value
    if not found:
        raise LimitError("no array to write")
    return found


def _pairs(arrays: Any) -> list[tuple[Any, Any]]:
    package = type(arrays).__module__.partition(".")[0]
    if package == "pandas" and hasattr(arrays, "columns"):
        return _frame_columns(arrays)
    if package == "pandas" and hasattr(arrays, "to_frame"):
        return _frame_columns(arrays.to_frame(name=ALONE if arrays.name is None else arrays.name))
    if package == "xarray" and hasattr(arrays, "data_vars"):
        return [(name, variable.to_numpy()) for name, variable in arrays.variables.items()]
    if package == "xarray":
        return [(getattr(arrays, "name", None) or ALONE, arrays.to_numpy())]
    if package == "polars" and hasattr(arrays, "columns"):
        return [(name, arrays[name].to_numpy()) for name in arrays.columns]
    if isinstance(arrays, Mapping):
        return [(key, _values(value)) for key, value in arrays.items()]
    return [(ALONE, arrays)]


def _values(value: Any) -> Any:
    package = type(value).__module__.partition(".")[0]
    if package == "xarray":
        return value.to_numpy()
    return _column_values(value) if package == "pandas" and hasattr(value, "to_numpy") else value


def _frame_columns(frame: Any) -> list[tuple[Any, Any]]:
    index = frame.index
    plain = type(index).__name__ == "RangeIndex" and index.name is None
    if not plain:
        frame = frame.reset_index()
    return [(name, _column_values(frame.iloc[:, place])) for place, name in enumerate(frame.columns)]


def _column_values(column: Any) -> np.ndarray[Any, Any]:
    """A pandas column as an ndarray; what is missing in text, integers or booleans becomes None (generic)."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return np.asarray(column)
    if getattr(dtype, "tz", None) is not None:
        raise DTypeError("times with a time zone: store them as UTC, column.dt.tz_convert('UTC').dt.tz_localize(None)")
    kind = getattr(dtype, "kind", "O")
    missing = np.asarray(column.isna())
    if not missing.any() and kind in "iufbmM":
        return np.asarray(column.to_numpy(dtype=getattr(dtype, "numpy_dtype", None)))
    if kind == "f":
        return np.asarray(column.to_numpy(dtype=dtype.numpy_dtype, na_value=np.nan))
    values = np.empty(len(column), dtype=object)
    values[:] = column.astype(object).tolist()
    values[missing] = None
    if all(isinstance(value, str) for value in values):
        return values.astype(np.str_) if len(values) else np.empty(0, dtype="<U1")
    return values
