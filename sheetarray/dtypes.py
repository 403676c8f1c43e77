"""dtype names of the exchange format <-> NumPy dtypes: one table.

The names are stdlib's (https://github.com/stdlib-js/stdlib/issues/1140), with its aliases on reading, and
three extensions: `string` (NumPy `<U`), `datetime64[unit]` and `timedelta64[unit]`.
Everything else in the package asks a `DType` for its `kind`, never NumPy for a type code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .errors import DTypeError, FormatError

Array = np.ndarray[Any, np.dtype[Any]]  # of any shape and dtype
Buffer = np.ndarray[tuple[int], np.dtype[Any]]  # elements side by side, as one dimension
Mask = np.ndarray[Any, np.dtype[np.bool_]]  # true where something holds
Positions = np.ndarray[Any, np.dtype[np.int64]]  # indices of cells, rows or elements
Kind = Literal["float", "complex", "int", "bool", "generic", "string", "datetime", "timedelta"]


@dataclass(frozen=True, slots=True)
class DType:
    """A dtype of the format."""

    name: str  # as it stands in a header
    kind: Kind  # the family of dtypes whose elements look alike in cells
    numpy: np.dtype[Any]  # the NumPy dtype, in native byte order; `str_` without a width for `string`


_NUMERIC: dict[Kind, tuple[str, ...]] = {
    "float": ("float16", "float32", "float64"),
    "complex": ("complex64", "complex128"),
    "int": ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    "bool": ("bool",),
}


def _table() -> dict[str, DType]:
    numeric = {name: DType(name, kind, np.dtype(name)) for kind, names in _NUMERIC.items() for name in names}
    return numeric | {
        "generic": DType("generic", "generic", np.dtype(object)),
        "string": DType("string", "string", np.dtype(np.str_)),
    }


DTYPES = _table()
_BY_TYPE = {  # NumPy takes long to say a dtype's name
    (dtype.numpy.kind, dtype.numpy.itemsize): dtype for dtype in DTYPES.values() if dtype.numpy.kind in "fciub"
}

ALIASES = {
    "uint8c": "uint8",
    "binary": "uint8",
    "number": "float64",
    "complex": "complex128",
    "boolean": "bool",
    "any": "generic",
}

_UNIT = r"(?:[1-9]\d{0,9})?(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)"
_TIME = re.compile(rf"\s*(datetime64|timedelta64)\[({_UNIT})\]\s*", re.IGNORECASE)

_ALTERNATIVES = {
    "V": "write one array per field (a[name] for each name in a.dtype.names), or view opaque bytes as uint8",
    "S": "decode it first: np.char.decode(a, 'utf-8'), or view it as uint8",
    "g": "cast it first: a.astype('float64') (digits beyond 53 bits are lost)",
    "G": "cast it first: a.astype('complex128') (digits beyond 53 bits are lost)",
}


def from_name(name: object) -> DType:
    """Return the dtype of that name, as a header gives it; aliases are known, and the case of letters does not matter.

    Raises:
        FormatError: the format has no such dtype. It has no location, since only the caller knows the cell.

    Example:
        >>> from_name("Boolean").numpy
        dtype('bool')
    """
    if isinstance(name, str):
        key = name.strip().casefold()
        entry = DTYPES.get(ALIASES.get(key, key))
        if entry is not None:
            return entry
        if time := _TIME.fullmatch(name):
            return _time_dtype(time[1].casefold(), time[2])
    raise FormatError(
        f"unknown dtype {name!r:.80}",
        hint="known: " + " ".join(DTYPES) + " datetime64[unit] timedelta64[unit]",
    )


def from_numpy(dtype: np.dtype[Any]) -> DType:
    """Return the format's dtype for a NumPy dtype, whatever its byte order.

    Raises:
        DTypeError: structured, void, bytes, extended precision, or a datetime64 without a unit.

    Example:
        >>> from_numpy(np.dtype(">i4")).name
        'int32'
    """
    if (numeric := _BY_TYPE.get((dtype.kind, dtype.itemsize))) is not None and dtype.char not in "gG":
        return numeric
    if dtype.kind in "UT":
        return DTYPES["string"]
    if dtype.kind == "O":
        return DTYPES["generic"]
    if dtype.kind in "mM":
        unit, count = np.datetime_data(dtype)
        if unit == "generic":
            raise DTypeError(f"{dtype} has no unit: cast it first, for example a.astype('{dtype.name}[ns]')")
        return _time_dtype("datetime64" if dtype.kind == "M" else "timedelta64", f"{count if count != 1 else ''}{unit}")
    advice = _ALTERNATIVES.get(dtype.char, "") or _ALTERNATIVES.get(
        dtype.kind, "cast it to a dtype of the format first"
    )
    raise DTypeError(f"no dtype of the exchange format holds {dtype}: {advice}")


def _time_dtype(base: str, unit: str) -> DType:
    kind: Kind = "datetime" if base == "datetime64" else "timedelta"
    try:
        return DType(f"{base}[{unit}]", kind, np.dtype(f"{base}[{unit}]"))
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"unknown dtype {base}[{unit}]") from error


def find_missing_value(dtype: np.dtype[Any]) -> Any:
    """Return the missing value of a dtype; None if it has none. Objects have None, which is a blank, as a list."""
    match dtype.kind:
        case "f" | "c":
            return np.nan
        case "M" | "m":
            return np.array("NaT", dtype)
        case "U" | "T":
            return ""
        case "O":
            return [None]
        case _:
            return None
