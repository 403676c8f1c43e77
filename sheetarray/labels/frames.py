"""pandas DataFrames and Series as plain arrays with a description, and back."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import Array
from ..errors import DTypeError, FormatError, warn_caller
from ..linear.named import values_by_name
from ..values import (
    DEFAULT_NAME,
    OBJECTS,
    is_of,
    is_whole,
    level_values,
    naming,
    note_of,
)
from .description import DatasetLabels, VariableLabels
from .pandas_dtypes import describe_categories, is_numpy_dtype, name_dtype, restore_column

if TYPE_CHECKING:
    import pandas as pd


_FREQUENCY = re.compile(r"-?\d{0,4}[A-Za-z]{1,5}(-[A-Z]{3})?")
_INDEX = "index"
_COLUMNS = ""  # stands for the labels of the columns: no array has a blank name


def describe_frame(value: Any) -> tuple[dict[str, Array], DatasetLabels | None]:
    """Return the arrays of a DataFrame or a Series, its index first, and their labels.

    It returns the arrays by name, and the labels; None for these if the arrays alone say everything: rows are only
    counted, and all columns have dtypes of NumPy.

    Raises:
        DTypeError: names the column that no array holds.
        LimitError: two columns would have one name.
    """
    frame = value if is_of(value, "pandas", "DataFrame") else _to_frame(value)
    arrays = values_by_name(frame)
    levels = list(arrays)[: len(arrays) - frame.shape[1]]
    has_levels = is_of(frame.index, "pandas", "MultiIndex")
    dim = levels[0] if levels and not has_levels else free_name(_INDEX, arrays)
    labels = DatasetLabels(attrs=dict(frame.attrs))
    columns = _columns_of(frame, levels)
    for name, (label, column) in zip(arrays, columns, strict=True):
        note = note_of(column) if column.dtype == object else None
        dtype = name_dtype(column.dtype) if note is None else note.kind
        if has_levels and name in levels and dtype == "object":
            dtype = name_dtype(frame.index.levels[levels.index(name)].dtype)  # of integers beside blanks
        described = VariableLabels((dim,), dtype, (len(frame),))
        (labels.coords if name in levels else labels.data_vars)[name] = described
        if label != name:
            labels.frame.labels[name] = _to_scalar(label)
        _describe_column(name, column, labels)
    _describe_column(_COLUMNS, frame.columns, labels)
    if has_levels:
        for number, level in enumerate(levels):
            dates, used = frame.index.levels[number], len({*frame.index.codes[number].tolist()} - {-1})
            is_kept = used == len(dates) and dates.is_monotonic_increasing  # what no row has is lost, and the order
            _describe_frequency(level, dates if is_kept else None, labels)
        labels.frame.index[dim] = tuple(levels)
        labels.coords = {dim: VariableLabels((dim,), "object", (len(frame),)), **labels.coords}
    several = is_of(frame.columns, "pandas", "MultiIndex")
    if not len(frame.columns) and _COLUMNS not in labels.frame.ranges:  # no label says of what kind they are
        dtypes = [str(level.dtype) for level in (frame.columns.levels if several else [frame.columns])]
        labels.frame.labels[_COLUMNS] = tuple(dtypes) if several else dtypes[0]
    labels.frame.columns = _to_scalar(tuple(frame.columns.names) if several else frame.columns.name)
    kinds = (labels.frame.labels, labels.frame.categories, labels.frame.freqs, labels.frame.ranges)
    if levels or labels.attrs or any(kinds) or labels.frame.columns is not None:
        return arrays, labels
    for (name, array), (_, column) in zip(arrays.items(), columns, strict=True):
        is_noted = labels.data_vars[name].dtype != name_dtype(column.dtype)
        if is_noted or not _is_plain(array, column.dtype):
            return arrays, labels
    return arrays, None


def _describe_column(name: str, column: Any, labels: DatasetLabels) -> None:
    """Note what only pandas knows of a column, a level of an index, or the labels of the columns."""
    dates = column
    if str(column.dtype) == "category":
        with naming(name or "the labels of the columns"):
            labels.frame.categories[name] = describe_categories(column.dtype)
        dates = column.dtype.categories
    if is_of(column, "pandas", "RangeIndex"):
        labels.frame.ranges += (name,)
    _describe_frequency(name, dates, labels)


def _describe_frequency(name: str, dates: Any, labels: DatasetLabels) -> None:
    """Note the frequency of dates, or that they have none; periods have it in their dtype."""
    labels.frame.freqs.pop(name, None)
    if getattr(dates, "freqstr", None) is not None and not is_of(dates, "pandas", "PeriodIndex"):
        labels.frame.freqs[name] = dates.freqstr


def _to_frame(series: Any) -> Any:
    return series.to_frame(DEFAULT_NAME if series.name is None or series.name == "" else series.name)


def _columns_of(frame: Any, levels: list[str]) -> list[tuple[Any, Any]]:
    """Return the label and the values of each level of the index that is written, and of each column."""
    index = frame.index
    columns = [(index.names[number], level_values(index, number)) for number in range(len(levels))]
    return [*columns, *((label, frame.iloc[:, number]) for number, label in enumerate(frame.columns))]


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name that is free: with underscores behind it, if it is taken."""
    while name in taken:
        name += "_"
    return name


def _to_scalar(label: Any) -> Any:
    """Return a label with NumPy's date in the place of pandas' own; of a tuple, all its parts."""
    if type(label) is tuple:
        return tuple(map(_to_scalar, label))
    if is_of(label, "pandas", "Timestamp"):
        if label.tzinfo is not None:
            hint = "df.columns = df.columns.map(str) makes text of all"
            raise DTypeError(f"{label}: a time with a zone as the label of a column: {hint}")
        return label.to_datetime64()
    return label.to_timedelta64() if is_of(label, "pandas", "Timedelta") else label


def _is_plain(array: Any, dtype: Any) -> bool:
    """Return whether pandas, left to itself, makes a column of the same dtype of an array."""
    import pandas as pd

    if isinstance(dtype, np.dtype) and (dtype.kind != "O" or is_of(array, "awkward")):
        return True  # a column of lists is an awkward array
    if is_of(array, "awkward"):
        return False
    return bool(array.dtype.kind in "UTO" and pd.Series(array).dtype == dtype)


def build_frame(arrays: Mapping[str, Array], labels: DatasetLabels | None) -> pd.DataFrame:
    """Return arrays of one dimension and one length as a DataFrame, with the index that a description gives it.

    `labels`: of the arrays; None if the source has no description.

    Raises:
        FormatError: an element that the dtype of its column does not hold; `.array` is the name.
    """
    import pandas as pd

    labels = labels or DatasetLabels()
    columns: dict[str, Any] = {name: _restore(name, array, labels) for name, array in arrays.items()}
    levels = [name for name in index_levels(labels, list(arrays)) if name in columns]
    names = [name for name in columns if name not in levels]
    size = len(next(iter(arrays.values()), ()))
    frame = pd.DataFrame({number: columns[name] for number, name in enumerate(names)}, index=range(size))
    if levels:
        frame.index = _build_index(levels, columns, labels)
    headings = [labels.frame.labels.get(name, name) for name in names]
    frame.attrs.update(labels.attrs)
    if type(labels.frame.columns) is tuple:
        frame.columns = _build_levels(headings, labels.frame.columns, labels)
        return frame
    frame.columns = _build_level(_COLUMNS, _restore_headings(headings, labels), labels.frame.columns, labels)
    return frame


def _build_levels(headings: list[Any], names: tuple[Any, ...], labels: DatasetLabels) -> Any:
    """Return the labels of columns with several levels. Columns that people added get blanks at the lower levels."""
    import pandas as pd

    level_dtypes = labels.frame.labels.get(_COLUMNS)
    if not headings and type(level_dtypes) is tuple:
        return pd.MultiIndex.from_arrays([_no_labels(dtype) for dtype in level_dtypes], names=names)
    blank = ("",) * (len(names) - 1)
    tuples = [label if type(label) is tuple and len(label) == len(names) else (label, *blank) for label in headings]
    return pd.MultiIndex.from_tuples(tuples, names=names)


def index_levels(labels: DatasetLabels, names: list[str]) -> tuple[str, ...]:
    """Return the names of the levels of the index that some arrays of one dimension have; none if rows are counted."""
    for name in names:
        if labels.find(name) is not None and len(labels.get(name).dims) == 1:
            dim = labels.get(name).dims[0]
            return labels.frame.index.get(dim, (dim,) if dim in labels.coords else ())
    return ()


def _restore(name: str, array: Array, labels: DatasetLabels) -> Any:
    if labels.find(name) is None:
        return array
    import pandas as pd

    dtype = labels.get(name).dtype
    column = restore_column(name, array, dtype, labels.frame.categories.get(name))
    column = _date_categories(name, column, labels)
    is_object = dtype == "object" or OBJECTS.fullmatch(dtype) is not None
    if isinstance(column, np.ndarray) and not is_object and not is_numpy_dtype(dtype):
        warn_caller(f"{name!r:.80} was a column of {dtype:.80}, but is read as {array.dtype}")
    return pd.Index(column, dtype=object) if is_object else column  # as an ndarray it might become text


def _build_index(levels: list[str], columns: Mapping[str, Any], labels: DatasetLabels) -> Any:
    import pandas as pd

    names = [labels.frame.labels.get(level, level) for level in levels]
    if tuple(levels) in labels.frame.index.values():
        index: Any = pd.MultiIndex.from_arrays([columns[level] for level in levels], names=names)
        for number, level in enumerate(levels):
            dtype = labels.get(level).dtype
            if columns[level].dtype == object and is_whole(dtype):
                index = index.set_levels(index.levels[number].astype(dtype), level=number)
            if level in labels.frame.freqs:
                dates = _set_frequency(index.levels[number], labels.frame.freqs[level], level)
                index = index.set_levels(dates, level=number)
        return index
    return _build_level(levels[0], columns[levels[0]], names[0], labels)


def _restore_headings(headings: list[Any], labels: DatasetLabels) -> Any:
    """Return the labels of the columns with the dtype that they had."""
    categories = labels.frame.categories.get(_COLUMNS)
    if categories is not None:
        try:
            column = restore_column(_COLUMNS, np.array(headings, dtype=object), "category", categories)
            return _date_categories(_COLUMNS, column, labels)
        except FormatError:
            warn_caller("the labels of the columns are no longer those of the categories that they had")
    return headings or _no_labels(labels.frame.labels.get(_COLUMNS))


def _no_labels(dtype: Any) -> Any:
    """Return the labels of no columns, with the dtype that was kept of them if pandas makes it of its name."""
    import pandas as pd

    return pd.Index([], dtype=dtype if dtype == "str" or is_numpy_dtype(dtype) else object)


def _build_level(level: str, values: Any, name: Any, labels: DatasetLabels) -> Any:
    """Return an index of one level, or the labels of the columns, as a range or with its frequency if it was so."""
    import pandas as pd

    index = pd.Index(values, name=name, tupleize_cols=False)
    if is_of(index, "pandas", "PeriodIndex"):
        return index  # its frequency is in its dtype
    if level in labels.frame.ranges and (index.dtype.kind == "i" or not len(index)):
        step = int(index[1]) - int(index[0]) if len(index) > 1 else 1
        first = int(index[0]) if len(index) else 0
        counted = pd.RangeIndex(first, first + step * len(index), step or 1, name=name)
        if step and np.array_equal(counted, index):
            return counted
    is_dated = level in labels.frame.freqs and str(index.dtype) != "category"
    return _set_frequency(index, labels.frame.freqs[level], name) if is_dated else index


def _date_categories(name: str, column: Any, labels: DatasetLabels) -> Any:
    """Return a column whose categories have their frequency, if it has categories that had one."""
    if name not in labels.frame.freqs or str(column.dtype) != "category":
        return column
    import pandas as pd

    categories = _set_frequency(column.categories, labels.frame.freqs[name], name)
    return pd.Categorical.from_codes(column.codes, dtype=pd.CategoricalDtype(categories, column.ordered))


def _set_frequency(index: Any, freq: str, name: Any) -> Any:
    """Return an index of dates with its frequency, or without if its dates have another one now."""
    import pandas as pd

    kinds: Any = (pd.DatetimeIndex, pd.TimedeltaIndex)
    try:
        if not isinstance(index, kinds) or not _FREQUENCY.fullmatch(freq):
            raise ValueError("no frequency of dates")
        return type(index)(index, freq=freq)
    except (ValueError, TypeError, OverflowError, KeyError, AttributeError):
        warn_caller(f"the index {name!r:.80} no longer has the frequency {freq!r}")
        return index


def check_lengths(arrays: Mapping[str, Any], labels: DatasetLabels | None) -> None:
    """Check that arrays of one dimension make one frame.

    Raises:
        FormatError: they have several lengths, or lie along several dimensions.
    """
    lengths = {name: array.shape[0] for name, array in arrays.items()}
    if len({*lengths.values()}) > 1:
        examples: dict[int, str] = {}
        for name, length in lengths.items():
            examples.setdefault(length, name)
        text = ", ".join(f"{name!r:.60} has {length}" for length, name in list(examples.items())[:5])
        raise FormatError(f"arrays of different lengths do not fit into one frame: {text}", hint="names= chooses")
    described = [name for name in arrays if labels is not None and labels.find(name) is not None]
    dims = {labels.get(name).dims: name for name in described if labels and labels.get(name).dims != (f"{name}_0",)}
    if len(dims) > 1:
        text = ", ".join(f"{name!r:.60} lies along {dim[0]!r:.60}" for dim, name in list(dims.items())[:5])
        raise FormatError(f"arrays of several dimensions do not fit into one frame: {text}", hint="names= chooses")
