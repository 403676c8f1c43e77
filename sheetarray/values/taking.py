"""Arrays of NumPy from what people hand over: sequences, series, frames, columns of datasets.

Errors say what to do instead.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from ..dtypes import Array, Mask
from ..elements import check_texts, describe_object, suggest_instead, text_array
from ..errors import DTypeError, LimitError
from .arrow import arrow_array, arrow_kind, stream_columns, table_columns
from .everyday import check_zone, find_kind, to_objects, to_plain
from .extensions import EXTENSIONS, extension_array, level_values, refuse_objects, warn_of_sequences
from .kinds import LISTS, RaggedError, is_of, name_of, name_of_column, name_of_variable, naming, warn_of_column
from .nulls import fill_masked, missing_texts_as_none, texts_or_objects, to_floats, to_times

# polars -> ndarrays: a DataFrame's columns, and Series of every dtype.
#
# Missing text, integers and booleans become None in a generic array; an `Array` column becomes an array of more
# dimensions. Times with a zone are those of UTC. Structs, lists and binary data are refused.

_UTC = ".dt.convert_time_zone('UTC')"
_REFUSED = {
    "Int128": ".cast(pl.Int64) where the numbers have room there, else .cast(pl.String)",
    "UInt128": ".cast(pl.UInt64) where the numbers have room there, else .cast(pl.String)",
    "Struct": "give each field a column, df.unnest({name!r})",
    "Map": "ak.from_arrow(df.to_arrow()) makes an awkward.Array",
    "Binary": ".bin.encode('hex') or .bin.encode('base64') makes text",
}


def series_array(series: Any) -> Array:
    """Return the array of a Series."""
    import polars as pl

    dtype, kind = series.dtype, type(series.dtype).__name__
    nulls = series.null_count()
    match kind:
        case "Int8" | "Int16" | "Int32" | "Int64" | "UInt8" | "UInt16" | "UInt32" | "UInt64" | "Boolean":
            return to_objects(series.to_list()) if nulls else _values(series)
        case "Float16" | "Float32" | "Float64":
            return to_floats(_values(series), _missing(series))
        case "String" | "Categorical" | "Enum":
            return texts_or_objects(series.cast(pl.String).to_list())
        case "Null" | "Object":
            return texts_or_objects(series.to_list())
        case "Date" | "Duration":
            unit = "D" if kind == "Date" else dtype.time_unit
            return _times(series, f"{'datetime' if kind == 'Date' else 'timedelta'}64[{unit}]")
        case "Datetime":  # counted in UTC, where there is a zone
            return _times(series, f"datetime64[{dtype.time_unit}]")
        case "Time":
            return texts_or_objects(series.dt.to_string("%H:%M:%S%.f").to_list())
        case "Decimal":
            return texts_or_objects(series.to_list())
        case "Array":
            return _stack(series)
        case "List":
            raise RaggedError(LISTS)
        case _:
            instead = _REFUSED.get(kind, "cast it to a dtype of numbers, dates or text first").format(name=series.name)
            raise DTypeError(f"no dtype of the exchange format holds polars' {kind}: {instead}")


def series_kind(series: Any) -> str:
    """Return the name of the dtype from which labels make the column again; "" where its array says it all."""
    dtype, kind = series.dtype, type(series.dtype).__name__
    if kind == "Datetime" and dtype.time_zone is not None:
        return f"datetime64[{dtype.time_unit}, {check_zone(dtype.time_zone, _UTC)}]"
    if kind == "Decimal":
        return f"decimal({dtype.scale})"
    if kind == "Time":
        return "" if (series.to_physical() % 1000 != 0).any() else "time"
    return find_kind(series.to_list()) if kind == "Object" else ""


def _values(series: Any) -> Array:
    return np.asarray(series.to_numpy())


def _missing(series: Any) -> Array:
    return np.asarray(series.is_null().to_numpy())


def _times(series: Any, dtype: str) -> Array:
    import polars as pl

    counts = series.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
    return to_times(counts, _missing(series), dtype)


def _stack(series: Any) -> Array:
    """Return the array of a column of arrays of one shape."""
    shape = (len(series), *series.dtype.shape)
    for _ in series.dtype.shape:
        if series.null_count():
            raise DTypeError("nulls in place of whole arrays: fill them first, with arrays of nulls")
        series = series.explode() if math.prod(shape) else series.clear().explode()
    return series_array(series).reshape(shape)


# xarray -> ndarrays: the variables of a Dataset, DataArrays and Variables. Coordinates are variables too.


def variable_array(variable: Any) -> Array:
    """Return the array of a DataArray or a Variable."""
    data = variable.data
    if is_of(data, "pandas", "ExtensionArray"):
        return column_array(data)
    if is_of(data, "pint"):
        data = np.asarray(data.magnitude)
    array = data if isinstance(data, np.ndarray) else np.asarray(variable.to_numpy())
    if array.dtype.kind == "T":
        return missing_texts_as_none(array)
    if array.dtype.kind == "O":  # xarray itself puts NaN in the place of None
        array = array.copy()
        array[np.asarray(variable.isnull().to_numpy())] = None
        plain = to_plain(array.ravel().tolist())
        return array if plain is None else plain.reshape(array.shape)
    return array


# Python's values and NumPy's scalars -> ndarrays, without the silent conversions of `np.array`.
#
# `np.array` makes floats of `[2**63, -1]` (rounded), text of `[1, "a"]`, numbers of `[True, 2]`, and seconds of
# `[np.timedelta64(1, "s"), 5]`. Lists of one kind become arrays of it, all others arrays of objects, which
# `elements` looks through.

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
    """Return the 0-d array of a scalar of Python or NumPy."""
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
        return _array(value)  # however large the arrays are: nothing is converted
    leaves = _leaves(value)
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
    array = _array(value)
    return array if array.shape == leaves.shape and _is_exact(array, flat, kinds) else leaves


def _is_of_one_dtype(items: list[Any] | tuple[Any, ...]) -> bool:
    """Return whether all items are ndarrays of one dtype."""
    dtypes = {item.dtype if isinstance(item, np.ndarray) else None for item in items}
    return len(dtypes) == 1 and dtypes.isdisjoint({None, np.dtype(object)})


def _leaves(value: Any) -> Array:
    """Return the array of the same shape that holds the objects themselves."""
    try:
        leaves = np.array(value, dtype=object)
    except (ValueError, TypeError) as error:
        raise RaggedError(f"no array: {error}") from error
    for item in {type(leaf): leaf for leaf in leaves.ravel().tolist()}.values():
        if isinstance(item, (list, tuple, np.ndarray)):
            raise RaggedError("lists of different lengths, or of different depths: an awkward.Array takes them")
    return leaves


def _array(value: Any) -> Array:
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
    """Refuse moments of different units, one of which overflowed when all got the finest unit."""
    if len({value.dtype for value in flat}) == 1:
        return
    for index, (moment, value) in enumerate(zip(array.ravel(), flat, strict=True)):
        same = np.isnat(value) if np.isnat(moment) else moment.astype(value.dtype) == value
        if not same:
            raise DTypeError(
                f"element {index} ({value}) is beyond the range of {array.dtype}, the finest unit here: "
                "write one array for each unit"
            )


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
        return _array(value)
    if isinstance(value, (bytes, bytearray)) or not _has_buffer(value):
        raise DTypeError(f"{describe_object(value)} is not an array: {suggest_instead(value)}")
    return _array(value)


def _has_buffer(value: Any) -> bool:
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


# Any object -> one ndarray, or the columns of a table by name, by the rules for the package that it is of.

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
        known = _ZONED.search(self.kind)
        return known["zone"] if known else ""


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
        kind = find_kind(_leaves(value).ravel().tolist())
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
