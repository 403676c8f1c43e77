"""pandas -> ndarrays: a DataFrame's columns and index, Series, Index, and the arrays under them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from ..dtypes import Array, Mask
from ..errors import DTypeError, LimitError
from .arrow import arrow_array
from .everyday import to_objects
from .extensions import extension_array, level_values, refuse_objects, warn_of_sequences
from .kinds import LISTS, RaggedError, is_of, name_of, name_of_column, warn_of_column
from .nulls import texts_or_objects, to_floats


# pandas -> ndarrays: a DataFrame's columns and index, Series, Index, and the arrays under them.
def frame_columns(frame: Any) -> list[tuple[str, Any]]:
    """Return the columns of a DataFrame, its index before them unless it only counts rows from 0.

    Raises:
        DTypeError: a label that is no name.
        LimitError: two columns of one name.
    """
    try:
        names = [name_of(label) for label in frame.columns]
    except DTypeError as error:
        raise DTypeError(f"{error}: df.columns = df.columns.map(str) makes text of all") from error
    hint = "df.columns = [f'{name}_{number}' for number, name in enumerate(df.columns)] gives each its own"
    _refuse_twice(names, hint)
    columns = [(name, frame.iloc[:, number]) for number, name in enumerate(names)]
    levels = index_columns(frame.index, taken=list(frame.columns))
    hint = "df.index.names = [f'index_{number}' for number in range(df.index.nlevels)] renames the index"
    _refuse_twice([name for name, _ in levels] + names, hint)
    return [*levels, *columns]


def _refuse_twice(names: list[str], hint: str) -> None:
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise LimitError(f"two arrays would have the name {twice!r}: {hint}")


def index_columns(index: Any, *, taken: list[Any], always: bool = False) -> list[tuple[str, Any]]:
    """Return the levels of an index by their names; an empty list if the index only counts rows from 0.

    `taken`: labels of columns, which a level without a name keeps away from. `always`: take one too that only counts.
    """
    counts = is_of(index, "pandas", "RangeIndex") and (index.start, index.step) == (0, 1) and index.name is None
    if counts and not always:
        return []
    levels = []
    for level, label in enumerate(index.names):
        plain = "index" if index.nlevels == 1 and "index" not in taken else f"level_{level}"
        name = plain if label is None else name_of(label)
        levels.append((name, level_values(index, level)))
    return levels


def column_array(column: Any) -> Array:
    """Return the array of a Series, an Index, or an array of pandas."""
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
        if str(dtype).startswith(("fixed_size_list<", "extension<arrow.fixed_shape_tensor")):
            raise RaggedError(LISTS)  # each stays a value of its row
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
    warn_of_sequences(column, values.tolist())
    array = texts_or_objects(values.tolist())
    refuse_objects(column, array)
    return array


def missing_objects(column: Any) -> Mask:
    """Return a mask of the objects of a column that are missing; the NaN of a Decimal is a value."""
    try:
        missing = np.array(column.isna())
    except InvalidOperation as error:
        raise DTypeError("a signalling NaN of Decimal: column.map(str) makes text of all") from error
    for index in np.flatnonzero(missing).tolist():
        missing[index] = not isinstance(column[index] if not hasattr(column, "iloc") else column.iloc[index], Decimal)
    return missing


def _warn_of_nan(column: Any, values: Array, missing: Mask) -> None:
    """Say that a NaN or a NaT in a column of objects becomes None: beside text it is pandas' own sign of a blank, but
    what was handed over is not what comes back.
    """
    if column.dtype != object:
        return  # a dtype that has a null of its own
    changed = [value for value in values[missing].tolist() if value is not None]
    if not changed:
        return
    names = {"<NA>": "pd.NA", "NaT": "NaT"}
    kinds = " and ".join(sorted({names.get(repr(value), "NaN") for value in changed}))
    numbers = any(isinstance(value, (int, float, np.number)) for value in values[~missing].tolist())
    hint = (
        "astype(float) keeps NaN" if numbers else "column.where(column.notna(), None) writes None without this warning"
    )
    warn_of_column(f"{kinds} in a column of objects is written as None ({hint})")


def _categories(column: Any) -> Array:
    """Return the values of a categorical column, None where it has none."""
    array = getattr(column, "array", column)
    labels, is_column = array.dtype.categories, is_of(column, "pandas", "Series")
    categories = column_array(labels.to_series(name=column.name) if is_column else labels)
    codes = np.asarray(array.codes)
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
