"""The dtypes that only pandas has: their columns are written as plain arrays, and restored on reading."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import numpy as np

from ..dtypes import Array
from ..errors import FormatError, quote_names, warn_caller
from ..values import (
    EXTENSIONS,
    OBJECTS,
    as_array,
    note_of,
    restore_extension,
    restore_objects,
)
from .description import Categories

MASKED = re.compile(r"U?Int(8|16|32|64)|Float(32|64)|boolean")
_TEXT = re.compile(r"str|string(\[python\])?")
_ARROW = re.compile(r"[a-z0-9_]{1,20}(\[[a-z]{1,3}(, tz=[A-Za-z0-9_+\-/:]{1,100})?\]|\(\d{1,2}, \d{1,2}\))?\[pyarrow\]")
_LISTS = re.compile(r"(large_|fixed_size_)?list<(?:item|element): ([a-z0-9_]{1,20})>(?:\[(\d{1,6})\])?\[pyarrow\]")
_DICTIONARY = re.compile(r"dictionary<values=([a-z0-9_]{1,20}), indices=(u?int\d{1,2}), ordered=([01])>\[pyarrow\]")

_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d+))?")
_DECIMALS = ("decimal32", "decimal64", "decimal128", "decimal256")


def name_dtype(dtype: Any) -> str:
    """Return the name of a dtype of pandas, from which `restore_column` makes it again where it can.

    Example:
        >>> import pandas as pd
        >>> name_dtype(pd.StringDtype("python")), name_dtype(pd.Int64Dtype())
        ('string[python]', 'Int64')
    """
    name = str(dtype)
    return "string[python]" if name == "string" and getattr(dtype, "storage", None) == "python" else name


def restore_column(name: str, array: Array, dtype: str, categories: Categories | None = None) -> Any:
    """Return an array as the column that it was written from.

    `dtype`: of the column, as `name_dtype` calls it; under one that is not made here the array stays as it is.
    `categories`: of a categorical column.

    Raises:
        FormatError: an element that the dtype does not hold.

    Example:
        >>> restore_column("n", np.array([1, None], dtype=object), "Int64")
        <IntegerArray>
        [1, <NA>]
        Length: 2, dtype: Int64
    """
    if dtype == "object":
        return array.astype(object)
    try:
        if dtype == "category":
            return array if categories is None else _restore_categories(name, array, categories)
        if OBJECTS.fullmatch(dtype):
            return restore_objects(array, dtype)
        if EXTENSIONS.fullmatch(dtype):
            return restore_extension(array, dtype)
        if pandas_dtype := _find_dtype(dtype, array.dtype.kind):
            import pandas as pd

            if dtype.endswith("[pyarrow]") and (stored := _to_arrow(array, pandas_dtype)) is not None:
                return pd.arrays.ArrowExtensionArray(stored)
            return pd.array(array.astype(object) if array.dtype.kind == "T" else array, dtype=pandas_dtype)
    except (ValueError, TypeError, OverflowError, NotImplementedError) as error:
        reason = error.reason if isinstance(error, FormatError) else str(error)
        raise FormatError(f"{name!r:.80} is not a column of {dtype} any more: {reason:.200}", array=name) from error
    return array


def _find_dtype(name: str, kind: str) -> Any | None:
    """Return the pandas dtype of a name that takes elements of a kind; None if the array stays as it is."""
    if _TEXT.fullmatch(name):
        return name if kind in "UTO" else None
    if MASKED.fullmatch(name):
        return name if kind in ("fO" if name.startswith("F") else "biuO") else None
    if not any(pattern.fullmatch(name) for pattern in (_ARROW, _LISTS, _DICTIONARY)):
        return None
    import pandas as pd

    try:
        pa = import_module("pyarrow")
        if match := _LISTS.fullmatch(name):
            size, item = int(match[3] or -1), pa.type_for_alias(match[2])
            dtype = pa.large_list(item) if match[1] == "large_" else pa.list_(item, size)
            return pd.ArrowDtype(dtype) if kind == "O" else None
        if match := _DICTIONARY.fullmatch(name):
            values, indices = map(pa.type_for_alias, match.groups()[:2])
            return pd.ArrowDtype(pa.dictionary(indices, values, match[3] == "1"))
        if name == "string[pyarrow]":  # pandas' own name of another dtype
            return pd.ArrowDtype(pa.string())
        if "(" in name:
            kind, precision, scale = re.split(r"[(,]", name.partition(")")[0])
            return pd.ArrowDtype(getattr(pa, kind)(int(precision), int(scale))) if kind in _DECIMALS else None
        return pd.ArrowDtype.construct_from_string(name)
    except (ImportError, TypeError, ValueError, NotImplementedError):
        return None


def _to_arrow(array: Array, dtype: Any) -> Any | None:
    """Return times with a zone, decimals, times of day and dictionaries as an array of Arrow; None for other dtypes."""
    pa = import_module("pyarrow")
    arrow_type = dtype.pyarrow_dtype if hasattr(dtype, "pyarrow_dtype") else pa.null()
    if pa.types.is_dictionary(arrow_type):
        return pa.array(array, from_pandas=True).cast(arrow_type.value_type).dictionary_encode().cast(arrow_type)
    if pa.types.is_timestamp(arrow_type) and arrow_type.tz is not None:
        return pa.array(array).cast(pa.timestamp(arrow_type.unit, "UTC")).cast(arrow_type)
    if pa.types.is_decimal(arrow_type):
        return pa.array(restore_objects(array, f"decimal({arrow_type.scale})").tolist(), arrow_type)
    if pa.types.is_time(arrow_type):
        width = pa.int32() if arrow_type.bit_width == 32 else pa.int64()
        counts = [None if text is None else _count_time(text, arrow_type.unit) for text in array.tolist()]
        return pa.array(counts, width).cast(arrow_type)
    return None


def _count_time(text: str, unit: str) -> int:
    """Return the number of units since midnight of a time such as 12:30:00.250."""
    clock = _CLOCK.fullmatch(text)
    if clock is None:
        raise ValueError(f"{text!r:.60} is not a time such as 12:30:00")
    hours, minutes, seconds = map(int, clock.groups()[:3])
    fraction, digits = clock[4] or "", {"s": 0, "ms": 3, "us": 6, "ns": 9}[unit]
    if fraction[digits:].strip("0"):
        raise ValueError(f"{text!r:.60} has more digits than {unit}")
    count: int = (hours * 3600 + minutes * 60 + seconds) * 10**digits
    return count + int(fraction[:digits].ljust(digits, "0") or 0)


def describe_categories(dtype: Any) -> Categories:
    """Return the categories of a categorical dtype."""
    values = dtype.categories
    note = note_of(values)
    kind = note.kind if note is not None else ""
    return Categories(as_array(values), bool(dtype.ordered), kind)


def _restore_categories(name: str, array: Array, categories: Categories) -> Any:
    import pandas as pd

    stored = categories.values
    missing = np.asarray(pd.isna(array))
    added = array[(pd.Index(stored).get_indexer(pd.Index(array)) < 0) & ~missing]
    if len(added):  # people type new ones
        added = added[np.sort(np.unique(added.astype(str), return_index=True)[1])]
        warn_caller(f"{name!r:.80} has new categories: {quote_names(added.astype(str).tolist())}")
        stored = np.concatenate([stored.astype(object), added.astype(object)]).astype(np.result_type(stored, added))
    index = pd.Index(stored)
    codes = index.get_indexer(pd.Index(array))
    if categories.dtype:
        values = restore_column(name, stored, categories.dtype)
        index = pd.Index(values, dtype=object) if OBJECTS.fullmatch(categories.dtype) else pd.Index(values)
    ordered = categories.ordered
    return pd.Categorical.from_codes(np.where(missing, -1, codes).tolist(), categories=index, ordered=ordered)


def is_numpy_dtype(name: str) -> bool:
    """Return whether a dtype of that name is one of NumPy."""
    try:
        np.dtype(name)
    except (TypeError, ValueError):
        return False
    return True
