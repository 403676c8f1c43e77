"""read_dataset, read_frame: arrays with their labels, as xarray and pandas have them."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import api
from ..columns import ArrayInfo
from ..errors import NO_ARRAY, FormatError, NotFoundError, quote_names, warn_caller
from ..formats import find_format, known_options, locate_place, rewinding
from ..labels import (
    DatasetLabels,
    TableNote,
    VariableLabels,
    build_dataset,
    build_frame,
    check_lengths,
    index_levels,
    reading_labels,
    stack_labels,
)
from ..linear.named import list_names, select
from ..values import is_of
from .shown import ArrayInfos

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def read_dataset(
    source: api.SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    table: str | None = None,
    dims: Sequence[str] | None = None,
    columns: str | None = None,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> xr.Dataset:
    """Read arrays as an xarray Dataset, with the dimensions, coordinates and attributes that they were written with.

    Args:
        source: a path, a URL, an open file, a workbook of openpyxl, or an object of gspread.
        names: the variables to read, with the coordinates along their dimensions; None reads all.
        table: the name of an Excel Table, such as `write_table` makes.
        dims: the columns of an ordinary table that hold the labels of dimensions. Each combination of labels must have
            one row; rows may be in any order. Without `table`, the whole sheet or file is the table. None takes the
            labels that `write_table` stored in the workbook. Without them, the only dimension is the number of the row.
        columns: the dimension whose labels are the names of the other columns of an ordinary table.
        format: the name of a format; None chooses it by the suffix.
        storage_options: options of the file system of a URL.
        **options: options of the format, as for `read`; for an ordinary table, as for `read_columns`.

    Returns:
        The Dataset. `["name"]` of it is a DataArray, such as the one that you wrote. Arrays without labels have
            dimensions of their own: `a_0` and `a_1` for an array `a`.

    Raises:
        FormatError: as `read`; or the labels are damaged, or contradict the arrays.
        NotFoundError: a variable does not exist.
        MissingDependencyError: xarray is not installed.

    Warns:
        SheetArrayWarning: an array that the labels describe is missing.

    Example:
        >>> import io
        >>> file = io.StringIO()
        >>> from sheetarray import write
        >>> write(file, {"t": np.zeros((2, 3))}, format="csv")
        >>> dict(read_dataset(io.StringIO(file.getvalue()), format="csv").sizes)
        {'t_0': 2, 't_1': 3}
    """
    source = locate_place(source, storage_options, format, options.get("client"))
    if table is None and dims is None and columns is None:
        with _naming_table(hint='read_columns(.., as_="dataset") reads an ordinary table'):
            return build_dataset(*read_with_labels(source, names, format, options))
    cells, note = read_table_with_note(source, table, format, options)
    arrays, labels = stack_labels(cells, list_names(dims), columns, note, _read_texts)
    selected = list_names(names)
    return build_dataset(select(arrays, selected and add_coordinates(selected, labels, arrays)), labels)


def read_frame(
    source: api.SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    table: str | None = None,
    dims: Sequence[str] | None = None,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Read the arrays of one dimension as a pandas DataFrame, with the index and the dtypes that were written.

    Args:
        source: a path, a URL, an open file, a workbook of openpyxl, or an object of gspread.
        names: the columns to read, with their index; None reads all.
        table: the name of an Excel Table, such as `write_table` makes.
        dims: the columns of an ordinary table that become the index. None takes the index that `write_table` stored in
            the workbook.
        format: the name of a format; None chooses it by the suffix.
        storage_options: options of the file system of a URL.
        **options: options of the format, as for `read`; for an ordinary table, as for `read_columns`.

    Raises:
        FormatError: as `read`; or the arrays have different lengths; or the labels are damaged, or contradict the
            arrays.
        NotFoundError: an array does not exist.

    Warns:
        SheetArrayWarning: arrays of other dimensions are left out, or a column that the labels describe is missing.

    Example:
        >>> import io
        >>> file = io.StringIO()
        >>> from sheetarray import write
        >>> write(file, {"n": [1, 2], "t": [0.5, 1.5]}, format="csv")
        >>> read_frame(io.StringIO(file.getvalue()), format="csv")
           n    t
        0  1  0.5
        1  2  1.5
    """
    source = locate_place(source, storage_options, format, options.get("client"))
    arrays: dict[str, Any]
    labels: DatasetLabels | None
    if table is not None or dims is not None:
        cells, note = read_table_with_note(source, table, format, options)
        arrays, labels = label_rows(cells, list_names(dims), note)
    else:
        with _naming_table(hint='read_columns(.., as_="pandas") reads an ordinary table'):
            arrays, labels = read_with_labels(source, names, format, options)
    arrays = _with_lists(arrays)
    flat = {name: array for name, array in arrays.items() if isinstance(array, np.ndarray) and array.ndim == 1}
    selected = list_names(names) or ()
    if omitted := [name for name in arrays if name not in flat]:
        if any(name in omitted for name in selected) or not flat:
            shapes = ", ".join(
                f"{name!r:.60} has {getattr(arrays[name], 'ndim', 'other')} dimensions" for name in omitted
            )
            raise FormatError(f"a frame holds arrays of one dimension: {shapes:.400}", hint="read_dataset takes them")
        if names is None:
            shown = ", ".join(map(repr, omitted))
            warn_caller(f"left out of the frame, because they do not have one dimension: {shown:.400}")
    if selected:
        levels = index_levels(labels, list(selected)) if labels else ()
        flat = {name: array for name, array in flat.items() if name in {*selected, *levels}}
    check_lengths(flat, labels)
    return build_frame(flat, labels)


@contextmanager
def _naming_table(*, hint: str) -> Iterator[None]:
    """Give the error of a source without arrays the hint that leads to its table."""
    try:
        yield
    except FormatError as error:
        if error.reason == NO_ARRAY:
            error.hint = hint
        raise


def _with_lists(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return arrays, awkward ones that are as long as the others as columns of lists, None where one is missing."""
    lengths = {len(array) for array in arrays.values() if isinstance(array, np.ndarray) and array.ndim == 1}
    columns = dict(arrays)
    for name, array in arrays.items():
        if is_of(array, "awkward") and (not lengths or lengths == {len(array)}):
            columns[name] = np.empty(len(array), dtype=object)
            for place, item in enumerate(array.to_list()):
                columns[name][place] = item
    return columns


def read_table_with_note(
    source: api.SourceOrTarget,
    table: str | None,
    format: str | None,
    options: Mapping[str, Any],
) -> tuple[dict[str, Any], TableNote | None]:
    """Return the columns of an ordinary table, and what its workbook keeps of it, with the dtypes that this names."""
    row = find_format("read_columns", source, format, {})
    described = {}
    with suppress(NotFoundError):  # a format that keeps nothing
        describe = row.function("describe_table")
        with rewinding(source):
            described = describe(source, **known_options(source, format, {**options, "table": table}, "describe_table"))
    note = TableNote.from_json(described)
    options = {name: value for name, value in options.items() if name != "sheet" or value is not None}
    given = {"dtype": note.dtypes if note else None, **options}
    columns: dict[str, Any] = api.read_columns(source, table=table, format=row.name, **given)
    return columns, note


def label_rows(
    columns: dict[str, Any], dims: Sequence[str] | None, note: TableNote | None
) -> tuple[dict[str, Any], DatasetLabels]:
    """Return the columns of a table, the index first, and labels that make a frame of them."""
    levels = list(note.axes.values()) if dims is None and note is not None else list(dims or ())
    if note is not None and dims is None and not note.axes:
        return columns, note.labels
    if absent := [name for name in levels if name not in columns]:
        raise NotFoundError(f"no column {quote_names(absent, 20)}; there is {quote_names(list(columns), 20)}")
    ordered = {name: columns[name] for name in [*levels, *columns]}
    dim = levels[0] if len(levels) == 1 else "index"
    while len(levels) != 1 and dim in columns:
        dim += "_"
    labels = DatasetLabels()
    for name, array in ordered.items():
        described = note.labels.find(name) if note is not None else None
        dtype = described.dtype if described is not None else str(array.dtype)
        variable = VariableLabels((dim,), dtype, array.shape)
        (labels.coords if name in levels else labels.data_vars)[name] = variable
    if len(levels) > 1:
        labels.frame.index[dim] = tuple(levels)
    if note is not None:
        labels.frame.categories = note.labels.frame.categories
    return ordered, labels


def _read_texts(texts: list[str]) -> np.ndarray[Any, Any]:
    """Return the names of columns as the array that a column of them would be read as."""
    file = io.StringIO(newline="")
    csv.writer(file).writerows([["label"], *([text] for text in texts)])
    file.seek(0)
    return api.read_columns(file, format="csv", delimiter=",", header=1, decimal=".")["label"]


def read_with_labels(
    source: api.SourceOrTarget, names: Sequence[str] | None, format: str | None, options: Mapping[str, Any]
) -> tuple[dict[str, Any], DatasetLabels | None]:
    """Return the arrays that are asked for by name, with their coordinates, and the labels of all of them."""
    selected = list_names(names)
    if selected is None or not isinstance(source, (str, os.PathLike)):  # a pipe is read once
        with reading_labels() as description:
            arrays: dict[str, Any] = api.read(source, format=format, **options)
        labels = description.get()
        selected = None if selected is None else add_coordinates(selected, labels, arrays)
        arrays = select(arrays, selected)
    else:
        infos, labels = scan_with_labels(source, format, options)
        if (
            isinstance(infos, ArrayInfos) and infos.dialect is not None
        ):  # a table, whose record may know other arrays than it has columns
            arrays, labels = read_with_labels(source, None, format, options)
            return select(arrays, add_coordinates(selected, labels, arrays)), labels
        selected = add_coordinates(selected, labels, infos)
        arrays = dict(api.read(source, selected, format=format, **options))
    if labels is not None and names is None:
        warn_of_absent(labels.variables, labels, arrays)
    return arrays, labels


def warn_of_absent(names: Iterable[str], labels: DatasetLabels, available: Mapping[str, Any]) -> None:
    """Warn of those of some described arrays that are not in the file."""
    if absent := [name for name in names if labels.has_array(name) and name not in available]:
        warn_caller(f"the labels describe arrays that are not in the file: {', '.join(map(repr, absent)):.400}")


def scan_with_labels(
    source: api.SourceOrTarget, format: str | None, options: Mapping[str, Any]
) -> tuple[dict[str, ArrayInfo], DatasetLabels | None]:
    """Return the infos of all arrays by name, and their labels; None for the labels if the source has none.

    `options`: for reading; those that `scan` does not have are passed over.
    """
    with reading_labels() as description:
        infos = api.scan(source, format=format, **known_options(source, format, options, "scan"))
    return infos, description.get()


def add_coordinates(wanted: list[str], labels: DatasetLabels | None, available: Mapping[str, Any]) -> list[str]:
    """Return the names of arrays to read for some variables: their own, and the coordinates along their dimensions.

    Warns:
        SheetArrayWarning: one of the coordinates is not there.
    """
    labels = labels or DatasetLabels()
    names = list(select(available, [level for name in wanted for level in labels.frame.index.get(name, (name,))]))
    described = [name for name in names if labels.find(name) is not None]
    dims = {dim for name in described for dim in labels.get(name).dims}
    coordinates = [name for name, variable in labels.coords.items() if described and {*variable.dims} <= dims]
    warn_of_absent(coordinates, labels, available)
    with_coordinates = {*names, *coordinates}
    return [name for name in available if name in with_coordinates]
