"""Python's values and NumPy's scalars -> ndarrays, without the silent conversions of `np.array`.

`np.array` makes floats of `[2**63, -1]` (rounded), text of `[1, "a"]`, numbers of `[True, 2]`, and seconds of
`[np.timedelta64(1, "s"), 5]`. Lists of one kind become arrays of it, all others arrays of objects, which
`elements` looks through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import Array
from ..elements import check_texts, describe_object, text_array
from ..errors import DTypeError
from .everyday import to_plain
from .kinds import RaggedError, is_of

_PACKAGES = ("pandas", "polars", "pyarrow", "xarray")
_KINDS: dict[str, tuple[type, ...]] = {  # in this order: a timedelta64 is an integer to NumPy, a bool one to Python
    "datetime64": (np.datetime64,),
    "timedelta64": (np.timedelta64,),
    "bool": (bool, np.bool_),
    "int": (int, np.integer),
    "float": (float, np.floating),
    "complex": (complex, np.complexfloating),
    "text": (str,),
}


def scalar_array(value: Any) -> Array:
    """Return a scalar of Python or NumPy as a 0-d array."""
    if isinstance(value, str):
        return text_array(check_texts([str.__str__(value)])).reshape(())
    return np.asarray(value)


def list_array(value: list[Any] | tuple[Any, ...]) -> Array:
    """Return the array of a list, or of lists of lists of equal lengths.

    Raises:
        DTypeError: lists of different lengths, bytes, a list of tables, or moments of units that no unit has room for.
    """
    types = set(map(type, value))
    if types == {float}:
        return np.array(value, dtype=np.float64)
    for item in {type(item): item for item in value}.values() if types - {int, bool, str, list, tuple} else ():
        if hasattr(item, "__array__") and any(is_of(item, package) for package in _PACKAGES):
            raise DTypeError(f"a list with {describe_object(item)} in it: give a mapping of names to arrays")
        if isinstance(item, np.ma.MaskedArray):
            raise DTypeError("a list of masked arrays: make one of them, np.ma.stack(value)")
    if _is_of_one_dtype(value):
        return to_ndarray(value)  # however large the arrays are: nothing is converted
    leaves = take_leaves(value)
    flat = leaves.ravel().tolist()
    kinds = {_kind(kind) for kind in set(map(type, flat))}
    if kinds == {"text"}:
        return text_array(check_texts([str.__str__(text) for text in flat])).reshape(leaves.shape)
    if "other" in kinds:
        plain = to_plain(flat)
        return leaves if plain is None else plain.reshape(leaves.shape)
    if not kinds <= {"int", "float", "complex"} and len(kinds) != 1:
        return leaves
    if (
        kinds == {"int"}
        and all(0 <= int(number) < 2**64 for number in flat)
        and any(number >= 2**63 for number in flat)
    ):
        return np.array([int(number) for number in flat], dtype=np.uint64).reshape(leaves.shape)
    array = to_ndarray(value)
    return array if array.shape == leaves.shape and _is_exact(array, flat, kinds) else leaves


def _is_of_one_dtype(items: list[Any] | tuple[Any, ...]) -> bool:
    """Return whether all items are ndarrays of one dtype."""
    dtypes = {item.dtype if isinstance(item, np.ndarray) else None for item in items}
    return len(dtypes) == 1 and dtypes.isdisjoint({None, np.dtype(object)})


def take_leaves(value: Any) -> Array:
    """Return the array of the same shape that holds the objects themselves."""
    try:
        leaves = np.array(value, dtype=object)
    except (ValueError, TypeError) as error:
        raise RaggedError(f"no array: {error}") from error
    for item in {type(leaf): leaf for leaf in leaves.ravel().tolist()}.values():
        if isinstance(item, (list, tuple, np.ndarray)):
            raise RaggedError("lists of different lengths, or of different depths: an awkward.Array takes them")
    return leaves


def to_ndarray(value: Any) -> Array:
    """Convert a value as `numpy.asarray` does; refuse a value that NumPy cannot convert."""
    try:
        return np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise DTypeError(f"no array: {error}") from error


def _kind(kind: type) -> str:
    for name, bases in _KINDS.items():
        if issubclass(kind, bases):
            return name
    return "other"


def _is_exact(array: Array, flat: list[Any], kinds: set[str]) -> bool:
    """Return whether an array that NumPy made of a list still holds the values of the list."""
    if array.dtype.kind == "O":
        return False  # the objects themselves are there already
    if kinds == {"int"}:
        return array.dtype.kind in "iu"
    if "int" in kinds:
        numbers = array.ravel().tolist()
        pairs = zip(numbers, flat, strict=True)
        return all(number == int(value) for number, value in pairs if isinstance(value, (int, np.integer)))
    if kinds <= {"datetime64", "timedelta64"}:
        _check_units(array, flat)
    return True


def _check_units(array: Array, flat: list[Any]) -> None:
    """Refuse moments of different units if one of them overflowed in the finest unit."""
    if len({value.dtype for value in flat}) == 1:
        return
    for index, (moment, value) in enumerate(zip(array.ravel(), flat, strict=True)):
        same = np.isnat(value) if np.isnat(moment) else moment.astype(value.dtype) == value
        if not same:
            raise DTypeError(
                f"element {index} ({value}) is beyond the range of {array.dtype}, the finest unit here: "
                "write one array for each unit"
            )
