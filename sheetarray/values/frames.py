"""pandas -> ndarrays: a DataFrame's columns and index, Series, Index, and the arrays under them.

Missing text, integers and booleans become None in a generic array; a categorical column is that of its values.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from ..dtypes import Array, Mask
from ..errors import DTypeError, LimitError
from .arrow import arrow_array
from .extensions import extension_array
from .kinds import is_of, name_of, name_of_column, warn_of_column
from .nulls import texts_or_objects, to_floats, to_objects


def frame_columns(frame: Any) -> list[tuple[str, Any]]:
    """Return the columns of a DataFrame, its index before them unless it only counts rows from 0.

    Raises:
        DTypeError: a label that is no name.
        LimitError: two columns of one name.
    """
    names = [name_of(label) for label in frame.columns]
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        hint = "df.columns = [f'{name}_{number}' for number, name in enumerate(df.columns)] gives each its own"
        raise LimitError(f"two arrays would have the name {twice!r}: {hint}")
    columns = [(name, frame.iloc[:, number]) for number, name in enumerate(names)]
    return [*index_columns(frame.index, taken=list(frame.columns)), *columns]


def index_columns(index: Any, *, taken: list[Any], always: bool = False) -> list[tuple[str, Any]]:
    """Return the levels of an index by their names; none if it only counts rows from 0.

    `taken`: labels of columns, which a level without a name keeps away from. `always`: take one too that only counts.

    Raises:
        DTypeError: a label that is no name.
    """
    counts = is_of(index, "pandas", "RangeIndex") and (index.start, index.step) == (0, 1) and index.name is None
    if counts and not always:
        return []
    levels = []
    for level, label in enumerate(index.names):
        plain = "index" if index.nlevels == 1 and "index" not in taken else f"level_{level}"
        name = plain if label is None else name_of(label)
        levels.append((name, index.get_level_values(level)))
    return levels


def column_array(column: Any) -> Array:
    """Return the array of a Series, an Index, or an array of pandas.

    Raises:
        DTypeError: no array of the format holds it.
    """
    dtype = column.dtype
    kind = type(dtype).__name__
    if isinstance(dtype, np.dtype) or kind == "NumpyEADtype":
        return np.asarray(column) if dtype.kind != "O" else _objects(column)
    if kind in ("DatetimeTZDtype", "PeriodDtype", "IntervalDtype"):
        return extension_array(column)
    if kind == "ArrowDtype":
        if str(dtype).startswith("struct<"):
            name = name_of_column()
            raise DTypeError(f"fields in a column: df.drop(columns={name!r}).join(df[{name!r}].struct.explode())")
        return arrow_array(getattr(column, "array", column).__arrow_array__())
    if kind == "CategoricalDtype":
        return _categories(column)
    if kind == "SparseDtype":
        dense = np.asarray(column)
        return dense if dense.dtype.kind != "O" else _objects(column)
    if getattr(dtype, "kind", "O") in "iufb" and hasattr(dtype, "numpy_dtype"):
        return _nullable_values(column, dtype)
    return _objects(column)


def _nullable_values(column: Any, dtype: Any) -> Array:
    """Return the array of nullable numbers or booleans."""
    missing = np.asarray(column.isna())
    if dtype.kind == "f":
        return to_floats(np.asarray(column.to_numpy(dtype=dtype.numpy_dtype, na_value=np.nan)), missing)
    if not missing.any():
        return np.asarray(column.to_numpy(dtype=dtype.numpy_dtype))
    return _objects(column)


def _objects(column: Any) -> Array:
    values = to_objects(list(column.astype(object)))
    if any(isinstance(value, dict) for value in values.tolist()):
        name = name_of_column()
        raise DTypeError(
            f"dictionaries in a column: df.drop(columns={name!r}).join(pd.json_normalize(df[{name!r}].tolist())"
            f".set_index(df.index).add_prefix({name + '.'!r}))"
        )
    missing = missing_objects(column)
    _warn_of_nan(column, values, missing)
    values[missing] = None
    return texts_or_objects(values.tolist())


def missing_objects(column: Any) -> Mask:
    """Return a mask of the objects of a column that are missing; the NaN of a Decimal is a value."""
    missing = np.array(column.isna())
    for index in np.flatnonzero(missing).tolist():
        missing[index] = not isinstance(column[index] if not hasattr(column, "iloc") else column.iloc[index], Decimal)
    return missing


def _warn_of_nan(column: Any, values: Array, missing: Mask) -> None:
    """Say that a NaN or a NaT in a column of objects becomes None: beside text it is pandas' own sign of a blank, but
    what was handed over is not what comes back.
    """
    if column.dtype != object:
        return  # a dtype that has a null of its own
    changed = [value for value in values[missing].tolist() if value is not None and repr(value) != "<NA>"]
    if not changed:
        return
    kinds = " and ".join(sorted({"NaN" if isinstance(value, float) else "NaT" for value in changed}))
    numbers = any(isinstance(value, (int, float, np.number)) for value in values[~missing].tolist())
    hint = "astype(float) keeps NaN" if numbers else "where(column.notna(), None) says so beforehand"
    warn_of_column(f"{kinds} in a column of objects is written as None ({hint})")


def _categories(column: Any) -> Array:
    """Return the values of a categorical column, None where it has none."""
    array = getattr(column, "array", column)
    categories, codes = column_array(array.dtype.categories), np.asarray(array.codes)
    if categories.dtype.kind in "UT":
        texts = [*categories.tolist(), None]
        return texts_or_objects([texts[code] for code in codes.tolist()])
    if not (codes < 0).any():
        return categories[codes] if len(categories) else np.empty(0, dtype=categories.dtype)
    if categories.dtype.kind in "fmM":
        missing = np.array("NaT" if categories.dtype.kind != "f" else np.nan, dtype=categories.dtype)
        return np.asarray(np.concatenate([categories, missing.reshape(1)])[codes])
    values = [*categories.tolist(), None]
    return to_objects([values[code] for code in codes.tolist()])
