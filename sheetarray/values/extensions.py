"""pandas' times with a zone, periods and intervals <-> arrays; the name of the dtype, in the labels, makes them again.

datetime64[us, Europe/Berlin]    datetime64[us], the instants in UTC
period[M]                        datetime64[D], where each period begins; of hours and less, in their own unit
interval[float64, right]         text, as (0.5, 1.5]
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import numpy as np

from ..dtypes import Array
from ..elements import SCALARS, describe_object, suggest_instead, to_scalar
from .everyday import texts_or_none
from .kinds import ElementError, is_of, name_of_column, warn_of_column
from .zones import check_zone, find_zone

EXTENSIONS = re.compile(
    r"datetime64\[(?P<unit>s|ms|us|ns), (?P<zone>[^\]]{1,100})\]"
    r"|period\[(?P<freq>\d{0,4}(?P<base>[A-Za-z]{1,5})(-[A-Z]{3})?)\]"
    r"|interval\[(?P<ends>\w{1,12}|(datetime|timedelta)64\[[^\]]{1,110}\]), (?P<closed>left|right|both|neither)\]"
)
"""The names of the dtypes that are made again here."""

_UNITS = {"h": "h", "min": "m", "s": "s", "ms": "ms", "us": "us", "ns": "ns"}  # of pandas and of NumPy
_IN_UTC = "convert it, column.dt.tz_convert('UTC'), or an index, index.tz_convert('UTC')"


def extension_array(column: Any) -> Array:
    """Convert a pandas column of one of the dtypes in `EXTENSIONS` to a NumPy array.

    Raises:
        DTypeError: times of a zone without a name.
    """
    pd = import_module("pandas")

    match type(column.dtype).__name__:
        case "DatetimeTZDtype":
            check_zone(column.dtype.tz, _IN_UTC)
            return _view(pd.DatetimeIndex(column).asi8, f"M8[{column.dtype.unit}]")
        case "PeriodDtype":
            parts = EXTENSIONS.fullmatch(str(column.dtype))
            unit = _UNITS.get(parts["base"] if parts else "")
            periods = pd.PeriodIndex(column)
            return _view((periods if unit else periods.asfreq("D", "start")).asi8, f"M8[{unit or 'D'}]")
    missing = np.asarray(column.isna()).tolist()
    return texts_or_none([None if blank else str(value) for value, blank in zip(list(column), missing, strict=True)])


def _view(counts: Any, dtype: str) -> Array:
    return np.array(counts, dtype=np.int64).view(dtype)


def restore_extension(array: Array, dtype: str) -> Any:
    """Convert an array back to the pandas column that it came from.

    Raises:
        ValueError: an element that the dtype does not hold, or a zone that is not known.
    """
    parts = EXTENSIONS.fullmatch(dtype)
    assert parts is not None
    if parts["zone"]:
        return _to_zone(_moments(array), parts["unit"], parts["zone"]).array
    if parts["freq"]:
        return _restore_periods(_moments(array), parts["freq"], _UNITS.get(parts["base"]))
    return _restore_intervals(array, parts["ends"], parts["closed"])


def _moments(array: Array) -> Array:
    if array.dtype.kind != "M":
        raise ValueError(f"{array.dtype} are not times")
    return array


def _to_zone(moments: Any, unit: str, zone: str) -> Any:
    pd = import_module("pandas")

    find_zone(zone)  # pandas takes names of files, too; its zones of a name are of pytz before pandas 3
    return pd.DatetimeIndex(moments).as_unit(unit).tz_localize("UTC").tz_convert(zone)


def _restore_periods(moments: Array, freq: str, unit: str | None) -> Any:
    pd = import_module("pandas")

    counts = moments.astype(f"M8[{unit or 'D'}]").view(np.int64)
    if unit:
        return pd.PeriodIndex.from_ordinals(counts, freq=freq).array
    return pd.PeriodIndex.from_ordinals(counts, freq="D").asfreq(freq).array


def _restore_intervals(array: Array, ends: str, closed: str) -> Any:
    pd = import_module("pandas")

    brackets = "[" if closed in ("left", "both") else "(", "]" if closed in ("right", "both") else ")"
    pairs: list[list[str] | None] = []
    for text in array.tolist():
        if text is None or text == "":
            pairs.append(None)
            continue
        pair = text[1:-1].split(", ") if isinstance(text, str) and (text[:1], text[-1:]) == brackets else []
        if len(pair) != 2:
            raise ValueError(f"{text!r:.60} is not an interval such as {brackets[0]}0, 1{brackets[1]}")
        pairs.append(pair)
    left, right = (_restore_ends([None if pair is None else pair[side] for pair in pairs], ends) for side in (0, 1))
    return pd.arrays.IntervalArray.from_arrays(left, right, closed=closed)


def _restore_ends(texts: list[str | None], dtype: str) -> Any:
    pd = import_module("pandas")

    if zoned := EXTENSIONS.fullmatch(dtype):
        return _to_zone(
            pd.to_datetime(texts, utc=True, format="ISO8601").tz_localize(None), zoned["unit"], zoned["zone"]
        )
    numpy_dtype = np.dtype(dtype)
    if numpy_dtype.kind == "M":
        return pd.to_datetime(texts, format="ISO8601").as_unit(np.datetime_data(numpy_dtype)[0])
    if numpy_dtype.kind == "m":
        return pd.to_timedelta(texts).as_unit(np.datetime_data(numpy_dtype)[0])
    if numpy_dtype.kind == "f":
        return np.array([np.nan if text is None else float(text) for text in texts], dtype=numpy_dtype)
    if numpy_dtype.kind not in "iu":
        raise ValueError(f"no intervals of {dtype}")
    return np.array([int(text or "") for text in texts], dtype=numpy_dtype)


def level_values(index: Any, level: int) -> Any:
    """Return the values of a level of an index; integers and booleans beside blanks as they are, not as floats."""
    values = index.get_level_values(level)
    if not is_of(index, "pandas", "MultiIndex") or not is_whole(str(index.levels[level].dtype)) or not values.hasnans:
        return values
    import pandas as pd

    labels = [*index.levels[level].tolist(), None]
    return pd.Index([labels[code] for code in index.codes[level].tolist()], dtype=object, name=values.name)


def is_whole(dtype: str) -> bool:
    """Return whether a dtype of that name is one of NumPy's integers or booleans, which have no missing values."""
    return re.fullmatch("bool|u?int(8|16|32|64)", dtype) is not None


def warn_of_sequences(column: Any, values: list[Any]) -> None:
    """Say that tuples and arrays in a column of objects become lists, which are all that `read_frame` gives back."""
    level, is_cell = values, True
    while level:
        kinds = [kind for kind in set(map(type, level)) if issubclass(kind, (tuple, np.ndarray))]
        if kinds:
            arrays = all(value is None or isinstance(value, np.ndarray) for value in level)
            to_list = "lambda array: array.tolist()" if arrays else "list"
            is_mapped = is_cell and all(isinstance(value, (list, tuple, np.ndarray, type(None))) for value in values)
            hint = f": {_map_line(column, to_list, values)} makes lists without this warning" if is_mapped else ""
            names = " and ".join(sorted({"tuples" if issubclass(kind, tuple) else "arrays" for kind in kinds}))
            warn_of_column(f"{names} in a column of objects are written as lists{hint}")
            return
        level, is_cell = [item for value in level if isinstance(value, list) for item in value], False


def refuse_objects(column: Any, array: Array) -> None:
    """Refuse a column with an object that no cell holds.

    Raises:
        DTypeError: names the row of the first of its kind, and the line that makes text of all.
    """
    values = array.tolist() if array.dtype.kind == "O" else []
    strange = [
        kind for kind, value in {type(v): v for v in values}.items() if not isinstance(to_scalar(value), SCALARS)
    ]
    if not strange:
        return
    row = next(row for row, value in enumerate(values) if type(value) is strange[0])
    are_bytes = all(isinstance(value, (bytes, type(None))) for value in values) and not is_of(column, "pandas", "Index")
    line = _map_line(column, "bytes.hex" if are_bytes else "str", values)
    what = f"{name_of_column() or 'array'}[{row}] is {describe_object(values[row])}"
    raise ElementError(f"{what}: {line} makes text of all; or {suggest_instead(values[row])}")


def _map_line(column: Any, function: str, values: list[Any]) -> str:
    """Return the line that applies a function to the values of a column, or to the labels of an index."""
    if is_of(column, "pandas", "Index"):
        return f"df.index = df.index.map({function})"
    ignore = ", na_action='ignore'" if any(value is None for value in values) else ""
    name = getattr(column, "name", None)
    place = "column" if name is None else f"df[{to_scalar(name)!r}]"
    return f"{place} = {place}.map({function}{ignore})"
