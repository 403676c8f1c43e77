"""Any object -> one ndarray, or the columns of a table by name, by the rules for the package that it is of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import Array
from ..elements import describe_object
from ..errors import DTypeError
from .arrow import arrow_array, stream_columns, table_columns
from .datasets import dataset_columns, variable_array
from .frames import column_array, frame_columns, index_columns
from .kinds import is_of, name_of, naming
from .plain import list_array, other_array, scalar_array
from .series import frame_columns as polars_columns
from .series import series_array

NamedColumns = list[tuple[str, Array]]

DEFAULT_NAME = "array"  # the name of an array that came without one

_TABLE = "has columns of its own: write it by itself, or an entry for each column"
_TABLES = {
    "pandas": ("DataFrame", "MultiIndex"),
    "polars": ("DataFrame",),
    "pyarrow": ("Table", "RecordBatch"),
    "xarray": ("Dataset",),
}
_NOT_TABLES = {
    ("polars", "LazyFrame"): "a LazyFrame holds no values yet: .collect() it first",
    ("polars", "Expr"): "an expression holds no values: select it first, df.select(expression)",
    ("xarray", "DataTree"): "a tree has children of their own: write a node at a time, tree['name'].to_dataset()",
    ("pyarrow", "Scalar"): "a scalar of Arrow: write value.as_py()",
    ("pyarrow", "Dataset"): "a Dataset holds no values yet: .to_table() it first",
    ("pyarrow", "Scanner"): "a Scanner holds no values yet: .to_table() it first",
}


def split_columns(value: Any) -> NamedColumns | None:
    """Return the columns of a table of pandas, polars, Arrow or xarray, or its one array, by name; None for anything
    else.

    Raises:
        DTypeError: names the column that no array of the format holds, and says what to do.
    """
    _check_holds_values(value)
    if is_of(value, "pandas", "DataFrame"):
        return frame_columns(value)
    if is_of(value, "pandas", "Series"):
        name = _own_name(value)
        with naming(name):
            return [*index_columns(value.index, taken=[value.name]), (name, column_array(value))]
    if is_of(value, "pandas", "MultiIndex"):
        return index_columns(value, taken=[], always=True)
    if is_of(value, "polars", "DataFrame"):
        return polars_columns(value)
    if is_of(value, "xarray", "Dataset"):
        return dataset_columns(value)
    if is_of(value, "pyarrow", "Table", "RecordBatch"):
        return table_columns(value)
    if is_of(value, "pandas", "Index") or is_of(value, "polars", "Series") or is_of(value, "xarray", "DataArray"):
        name = _own_name(value)
        with naming(name):
            return [(name, as_array(value))]
    if _is_stream(value):
        columns = stream_columns(value, DEFAULT_NAME)
        return columns if isinstance(columns, list) else [(DEFAULT_NAME, columns)]
    return None


def as_array(value: Any) -> Array:
    """Return the array that a value is: nothing in it rounded, dropped or made another kind.

    Args:
        value: an ndarray, a scalar, a list of lists of equal lengths, a column of pandas, polars, Arrow or xarray, or
            any other object that NumPy takes.

    Raises:
        DTypeError: it is none of them; says what to do.

    Example:
        >>> as_array([2**63, -1])
        array([9223372036854775808, -1], dtype=object)
    """
    if isinstance(value, np.ndarray):
        return value
    if value is None or isinstance(value, (bool, int, float, complex, str, np.generic)):
        return scalar_array(value)
    if isinstance(value, (list, tuple)):
        return list_array(value)
    _check_holds_values(value)
    if is_of(value, "awkward"):
        return _rectangular(value)
    if is_of(value, "pandas", "Series", "Index", "ExtensionArray") and not is_of(value, "pandas", "MultiIndex"):
        return column_array(value)
    if is_of(value, "polars", "Series"):
        return series_array(value)
    if is_of(value, "pyarrow", "Array", "ChunkedArray"):
        return arrow_array(value)
    if is_of(value, "xarray", "DataArray", "Variable"):
        return variable_array(value)
    if any(is_of(value, package, *classes) for package, classes in _TABLES.items()):
        raise DTypeError(f"{describe_object(value)} {_TABLE}")
    if _is_stream(value):
        content = stream_columns(value, "")
        if isinstance(content, list):
            raise DTypeError(f"{describe_object(value)} {_TABLE}")
        return content
    return other_array(value)


def _check_holds_values(value: Any) -> None:
    for (package, kind), reason in _NOT_TABLES.items():
        if is_of(value, package, kind):
            raise DTypeError(reason)


def _own_name(value: Any) -> str:
    """Return the name that a column has by itself, or the one for arrays without one."""
    return DEFAULT_NAME if value.name is None or value.name == "" else name_of(value.name)


def _is_stream(value: Any) -> bool:
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def _rectangular(value: Any) -> Array:
    try:
        return np.asanyarray(value)
    except (ValueError, TypeError) as error:
        raise DTypeError(
            "an awkward array that is not rectangular: a format that has cells takes it, or one of awkward arrays"
        ) from error
