"""Any object -> one ndarray, or the columns of a table by name, by the rules for the package that it is of.

Errors say what to do instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dtypes import Array
from ..elements import describe_object, suggest_instead
from ..errors import DTypeError
from .arrow import arrow_array, arrow_kind, stream_columns, table_columns
from .everyday import find_kind, to_plain
from .extensions import EXTENSIONS
from .from_pandas import column_array, frame_columns, index_columns, missing_objects
from .from_polars import series_array, series_kind
from .from_python import list_array, scalar_array, take_leaves, to_ndarray
from .from_xarray import variable_array
from .kinds import is_of, name_of, name_of_variable, naming
from .nulls import fill_masked, missing_texts_as_none


def other_array(value: Any) -> Array:
    """Return the array of an object of another package, or of one that holds nothing of an array.

    Raises:
        DTypeError: it is not an array; says what to do.
    """
    if is_of(value, "astropy") and hasattr(value, "unit"):
        raise DTypeError(f"{describe_object(value)}, whose unit no array has room for: write value.value")
    if is_of(value, "pint") and hasattr(value, "magnitude"):  # the unit stands in the labels
        return as_array(value.magnitude)
    if (plain := to_plain([value])) is not None:
        return plain.reshape(())
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__") or isinstance(value, memoryview):
        return to_ndarray(value)
    if isinstance(value, (bytes, bytearray)) or not _has_buffer(value):
        raise DTypeError(f"{describe_object(value)} is not an array: {suggest_instead(value)}")
    return to_ndarray(value)


def _has_buffer(value: Any) -> bool:
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


NamedColumns = list[tuple[str, Any]]

DEFAULT_NAME = "array"  # the name of an array that came without one

_TABLE = "has columns of its own: write it by itself, or an entry for each column"
_TABLES = {
    "pandas": ("DataFrame", "MultiIndex"),
    "polars": ("DataFrame", "LazyFrame"),
    "pyarrow": ("Table", "RecordBatch"),
    "xarray": ("Dataset",),
}
_NOT_TABLES = {
    ("polars", "Expr"): "an expression holds no values: select it first, df.select(expression)",
    ("xarray", "DataTree"): "a tree has several Datasets: to write a sheet of a workbook for each, pass "
    "{node.name or 'root': node.to_dataset() for node in tree.subtree if node.has_data}",
    ("pyarrow", "Scalar"): "a scalar of Arrow: write value.as_py()",
    ("pyarrow", "Dataset"): "a Dataset holds no values yet: .to_table() it first",
    ("pyarrow", "Scanner"): "a Scanner holds no values yet: .to_table() it first",
}


def split_columns(value: Any) -> NamedColumns | None:
    """Return the columns of a table by name, each as its package has it, for `as_array`; None for anything else.

    Tables are those of pandas, polars, Arrow and xarray, their single columns, lists of dictionaries, and arrays whose
    elements have fields.

    Raises:
        DTypeError: it holds no values, or a label is no name.
        LimitError: two columns of one name.
    """
    _check_holds_values(value)
    if is_of(value, "pandas", "DataFrame"):
        return frame_columns(value)
    if is_of(value, "pandas", "Series"):
        return [*index_columns(value.index, taken=[value.name]), (_own_name(value), value)]
    if is_of(value, "pandas", "MultiIndex"):
        return index_columns(value, taken=[], always=True)
    if is_of(value, "polars", "LazyFrame"):
        value = value.collect()
    if is_of(value, "polars", "DataFrame"):
        return [(series.name, series) for series in value.iter_columns()]
    if is_of(value, "xarray", "Dataset"):
        return [(name_of_variable(label), variable) for label, variable in value.variables.items()]
    if is_of(value, "pyarrow", "Table", "RecordBatch"):
        return table_columns(value)
    if is_of(value, "pandas", "Index") or is_of(value, "polars", "Series") or is_of(value, "xarray", "DataArray"):
        return [(_own_name(value), value)]
    if _is_stream(value):
        columns = stream_columns(value)
        return columns if isinstance(columns, list) else [(DEFAULT_NAME, columns)]
    if isinstance(value, np.ndarray) and value.dtype.names:
        return _fields(value, "")
    if isinstance(value, (list, tuple)) and value and all(isinstance(row, Mapping) for row in value):
        return _records(value)
    return None


def is_table(value: Any) -> bool:
    """Return whether a value has columns of its own, as a frame or a Dataset has."""
    return type(value) is not np.ndarray and any(is_of(value, package, *kinds) for package, kinds in _TABLES.items())


def split_fields(name: str, value: Any) -> NamedColumns:
    """Return an array whose elements have fields as one array a field; any other value as it is."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        return _fields(value, f"{name}.")
    return [(name, value)]


def _fields(array: Array, before: str) -> NamedColumns:
    return [column for field in array.dtype.names or () for column in split_fields(f"{before}{field}", array[field])]


def _records(rows: Sequence[Mapping[Any, Any]]) -> NamedColumns:
    """Return the columns of rows, None where a row has no such key."""
    keys = dict.fromkeys(key for row in rows for key in row)
    columns = [(name_of(key), [row.get(key) for row in rows]) for key in keys]
    for name, values in columns:
        with naming(name):
            nested = next((value for value in values if isinstance(value, Mapping)), None)
            if nested is not None:
                raise DTypeError("rows within rows: pandas.json_normalize(rows) makes columns of them")
    return columns


def is_plain_array(value: Any) -> bool:
    """Return whether a value is an ndarray of numbers, text or dates, which is taken as it is."""
    return type(value) is np.ndarray and value.dtype.kind not in "OTV"


def as_array(value: Any) -> Array:
    """Return the array that a value is: nothing in it rounded, dropped or made another kind.

    `value`: an ndarray, a scalar, a list of lists of equal lengths, a column of pandas, polars, Arrow or xarray, or
    any other object that NumPy takes.

    Raises:
        DTypeError: it is none of them; says what to do.

    Example:
        >>> as_array([2**63, -1])
        array([9223372036854775808, -1], dtype=object)
    """
    if isinstance(value, np.ndarray):
        return _check_elements(value)
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
    if is_table(value):
        raise DTypeError(f"{describe_object(value)} {_TABLE}")
    if _is_stream(value):
        content = stream_columns(value)
        if isinstance(content, list):
            raise DTypeError(f"{describe_object(value)} {_TABLE}")
        return as_array(content)
    return other_array(value)


def _check_elements(array: Array) -> Array:
    """Return an ndarray with what is masked as missing values, missing text as None, and objects of one everyday kind
    as their array.
    """
    if isinstance(array, np.ma.MaskedArray) and not array.dtype.names:
        array = fill_masked(array)
    kind = array.dtype.kind
    if kind == "T":
        return missing_texts_as_none(array)
    if kind == "O" and (plain := to_plain(array.ravel().tolist())) is not None:
        return plain.reshape(array.shape)
    return array


@dataclass(frozen=True, slots=True)
class Note:
    """What is lost of a value when it becomes an array."""

    kind: str = ""  # the name of the dtype from which the value is made again; "" for that of the array
    units: str = ""  # the unit of a quantity; "" if it has none

    @property
    def zone(self) -> str:
        """The zone of times; "" if the values are none, or have no zone."""
        match = _ZONED.search(self.kind)
        return match["zone"] if match else ""


_ZONED = re.compile(r"^(?:datetime\[|datetime64\[\w+, |timestamp\[\w+, tz=)(?P<zone>[^\]]+)\]")


def note_of(value: Any) -> Note | None:
    """Return what the array of a value does not say of it; None if it says everything.

    Raises:
        DTypeError: times of several zones, or of one without a name.

    Example:
        >>> from datetime import time
        >>> note_of([time(12, 30)]).kind, note_of([1.5, 2.5])
        ('time', None)
    """
    if is_of(value, "pint") and hasattr(value, "magnitude"):
        return Note(units=str(value.units))
    if is_of(value, "xarray", "DataArray", "Variable"):
        if is_of(value.data, "pint"):
            return note_of(value.data)
        if isinstance(value.data, np.ndarray) and value.dtype.kind == "O":
            objects = value.data.copy()
            objects[np.asarray(value.isnull().to_numpy())] = None
            return note_of(objects)
        return None
    kind = ""
    if isinstance(value, (np.ndarray, list, tuple)):
        kind = _kind_of_elements(value)
    elif is_of(value, "pandas", "Series", "Index", "ExtensionArray") and not is_of(value, "pandas", "MultiIndex"):
        kind = str(value.dtype)
        if kind == "object":
            blanks = zip(value, missing_objects(value), strict=True)
            kind = find_kind([None if blank else item for item, blank in blanks])
        elif not EXTENSIONS.fullmatch(kind) and not kind.startswith(("timestamp[", "decimal", "time32[", "time64[")):
            kind = ""
    elif is_of(value, "polars", "Series"):
        kind = series_kind(value)
    elif is_of(value, "pyarrow", "Array", "ChunkedArray"):
        kind = arrow_kind(value)
    return Note(kind) if kind else None


def _kind_of_elements(value: Any) -> str:
    """Return the kind of the objects in a list or an array, unless the dtype of its array says as much."""
    if isinstance(value, np.ndarray):
        return find_kind(value.ravel().tolist()) if value.dtype.kind == "O" else ""
    first: Any = value
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if isinstance(first, (int, float, str, complex, np.generic, list, tuple)):
        return ""
    try:
        kind = find_kind(take_leaves(value).ravel().tolist())
    except DTypeError:
        return ""  # `as_array` says what is wrong
    if kind.startswith("datetime["):
        return f"datetime64[us, {kind[9:-1]}]"
    return "" if kind in ("date", "datetime", "timedelta") else kind


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
        array: Array = np.asanyarray(value)
    except (ValueError, TypeError) as error:
        raise DTypeError(
            "an awkward array that is not rectangular: a format that has cells takes it, or one of awkward arrays"
        ) from error
    if array.dtype.names is not None:
        raise DTypeError(
            "an awkward array of records: a format that has cells takes it, or one of awkward arrays; or write one "
            "array per field (a[name] for each name in a.fields)"
        )
    return array
