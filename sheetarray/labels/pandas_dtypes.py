"""The dtypes that pandas has and NumPy has not: columns of them are written as plain arrays, and made again here."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import numpy as np

from ..dtypes import Array
from ..errors import FormatError

MASKED = re.compile(r"U?Int(8|16|32|64)|Float(32|64)|boolean")
_TEXT = re.compile(r"str|string(\[python\])?")
_ARROW = re.compile(r"[a-z0-9_]{1,20}(\[[a-z]{1,3}\])?\[pyarrow\]")


def name_dtype(dtype: Any) -> str:
    """Return the name of a dtype of pandas, from which `restore_column` makes it again where it can.

    Example:
        >>> import pandas as pd
        >>> name_dtype(pd.StringDtype("python")), name_dtype(pd.Int64Dtype())
        ('string[python]', 'Int64')
    """
    name = str(dtype)
    return "string[python]" if name == "string" and getattr(dtype, "storage", None) == "python" else name


def restore_column(name: str, array: Array, dtype: str, categories: tuple[Array, bool] | None = None) -> Any:
    """Return an array as the column that it was written from.

    Args:
        name: for messages.
        array: of one dimension.
        dtype: of the column, as `name_dtype` calls it; under one that is not made here the array stays as it is.
        categories: of a categorical column, and whether they are in order.

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
            return array if categories is None else _restore_categories(array, *categories)
        if wanted := _find_dtype(dtype, array.dtype.kind):
            import pandas as pd

            return pd.array(array.astype(object) if array.dtype.kind == "T" else array, dtype=wanted)
    except (ValueError, TypeError, OverflowError, NotImplementedError) as error:
        reason = error.reason if isinstance(error, FormatError) else str(error)
        raise FormatError(f"{name!r:.80} is no column of {dtype} any more: {reason:.200}", array=name) from error
    return array


def _find_dtype(name: str, kind: str) -> Any | None:
    """Return the dtype of pandas that has a name and takes elements of a kind; None if nothing is to be made."""
    if _TEXT.fullmatch(name):
        return name if kind in "UTO" else None
    if MASKED.fullmatch(name):
        return name if kind in ("fO" if name.startswith("F") else "biuO") else None
    if not _ARROW.fullmatch(name):
        return None
    import pandas as pd

    try:
        if name == "string[pyarrow]":  # pandas' own name of another dtype
            return pd.ArrowDtype(import_module("pyarrow").string())
        return pd.ArrowDtype.construct_from_string(name)
    except (ImportError, TypeError, NotImplementedError):
        return None


def _restore_categories(array: Array, categories: Array, ordered: bool) -> Any:
    import pandas as pd

    index = pd.Index(categories)
    codes = index.get_indexer(pd.Index(array))
    missing = np.asarray(pd.isna(array))
    if strange := np.flatnonzero((codes < 0) & ~missing)[:1].tolist():
        raise FormatError(f"{array[strange].tolist()[0]!r:.60} is none of its categories")
    return pd.Categorical.from_codes(np.where(missing, -1, codes).tolist(), categories=index, ordered=ordered)


def is_numpy_dtype(name: str) -> bool:
    """Return whether a dtype of that name is one of NumPy."""
    try:
        np.dtype(name)
    except (TypeError, ValueError):
        return False
    return True
