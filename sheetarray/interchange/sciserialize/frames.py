"""pandas DataFrames <-> the dicts that stand for them.

Labels that are times are datetimes, not text. Names of the two indexes are not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from ...errors import DTypeError, FormatError
from .array_dicts import encode_array, parse_array_dict
from .words import TYPE, path_inside

_LABELS = (type(None), bool, int, float, str, datetime, timedelta)


def is_frame(value: Any) -> bool:
    """Return whether a value is a pandas DataFrame; pandas is not imported for that."""
    return type(value).__module__.partition(".")[0] == "pandas" and type(value).__name__ == "DataFrame"


def encode_frame(frame: Any, *, extensions: bool, nested: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the dict of a DataFrame."""
    kinds = {str(dtype): isinstance(dtype, np.dtype) for dtype in frame.dtypes}
    if list(kinds.values()) == [True]:
        values = frame.to_numpy()
    elif not kinds:
        values = np.empty(frame.shape)
    elif extensions:
        values = frame.astype(object).to_numpy()
    else:
        raise DTypeError(
            f"a DataFrame of the dtypes {', '.join(sorted(kinds))}: convert it to one, for example "
            "df.astype('float64'), or write it with extensions=True as objects"
        )
    form = encode_array(values, extensions=extensions, nested=nested)
    form[TYPE] = "dataframe"
    return {**form, "columns": nested(_labels(frame.columns)), "rows": nested(_labels(frame.index))}


def _labels(index: Any) -> list[Any]:
    return [list(label) if isinstance(label, tuple) else label for label in index.tolist()]


def decode_frame(form: Mapping[str, Any], path: str, decode: Callable[[Any, str], Any]) -> Any:
    """Return the DataFrame of a dict; columns of objects get the dtype that all of their values have."""
    parsed = parse_array_dict(form, path)
    shape = parsed.stored.shape
    if len(shape) != 2:
        raise FormatError(f"a DataFrame has two dimensions, not {len(shape)}", location=path_inside(path, "shape"))
    rows = _index(form.get("rows"), shape[0], path_inside(path, "rows"), decode)
    columns = _index(form.get("columns"), shape[1], path_inside(path, "columns"), decode)
    import pandas as pd

    values = parsed.array(decode)
    try:
        if values.dtype.kind != "O":
            return pd.DataFrame(values, index=rows, columns=columns)
        frame = pd.DataFrame({index: _column(values[:, index], rows) for index in range(shape[1])}, index=rows)
        frame.columns = columns
        return frame
    except (ValueError, TypeError, OverflowError) as error:
        raise FormatError(f"no DataFrame ({error})", location=path or None) from error


def _column(values: np.ndarray[Any, Any], rows: Any) -> Any:
    """Return a column of objects, in the dtype that all of them have; what holds None stays as it is."""
    import pandas as pd

    column = pd.Series(values, index=rows, dtype=object)
    return column if any(value is None for value in values) else column.infer_objects()


def _index(labels: Any, count: int, path: str, decode: Callable[[Any, str], Any]) -> Any:
    import pandas as pd

    items = [] if labels is None else labels
    if not isinstance(items, list) or len(items) != count:
        description = len(items) if isinstance(items, list) else type(items).__name__
        raise FormatError(f"expected a list of {count} labels, found {description}", location=path)
    if all(type(label) is int for label in items) and items == list(range(count)):
        return pd.RangeIndex(count)
    decoded = [
        _label(decode(label, path_inside(path, index)), path_inside(path, index)) for index, label in enumerate(items)
    ]
    tuples = [label for label in decoded if isinstance(label, tuple)]
    try:
        if tuples and len(tuples) == count and len({len(label) for label in tuples}) == 1 and tuples[0]:
            return pd.MultiIndex.from_tuples(tuples)
        return pd.Index(decoded, tupleize_cols=False)
    except (ValueError, TypeError, OverflowError) as error:
        raise FormatError(f"pandas refuses the labels ({error})", location=path) from error


def _label(label: Any, path: str) -> Any:
    inner = label if isinstance(label, list) else [label]
    if not all(isinstance(part, _LABELS) for part in inner):
        raise FormatError("a label must be a text, a number or a time", location=path)
    return tuple(label) if isinstance(label, list) else label
