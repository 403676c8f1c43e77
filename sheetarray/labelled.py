"""read_dataset, read_frame: arrays with their labels, as xarray and pandas have them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import api
from .arrays import select
from .columns import ArrayInfo
from .errors import FormatError, NotFoundError, warn_caller
from .labels import DatasetLabels, build_dataset, build_frame, check_lengths, index_levels, reading_labels
from .registry import format_of, locate_place

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def read_dataset(
    source: api.SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> xr.Dataset:
    """Read arrays as an xarray Dataset, with the dimensions, coordinates and attributes that they were written with.

    Args:
        source: a path, a URL, an open file, a workbook of openpyxl, or an object of gspread.
        names: only these variables, and the coordinates along their dimensions; None for all.
        format: instead of the suffix.
        storage_options: for the file system of a URL.
        **options: of the format, as for `read`.

    Returns:
        The Dataset. Arrays without labels have dimensions of their own: `a_0` and `a_1` for an array `a`.

    Raises:
        FormatError: as `read`; or the labels are damaged, or contradict the arrays.
        NotFoundError: no such variable.
        MissingDependencyError: xarray is not installed.

    Warns:
        SheetArrayWarning: an array that the labels describe is not there.

    Example:
        >>> import io
        >>> file = io.StringIO()
        >>> api.write(file, {"t": np.zeros((2, 3))}, format="csv")
        >>> dict(read_dataset(io.StringIO(file.getvalue()), format="csv").sizes)
        {'t_0': 2, 't_1': 3}
    """
    arrays, labels = read_with_labels(locate_place(source, storage_options, format), names, format, options)
    return build_dataset(arrays, labels)


def read_frame(
    source: api.SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Read the arrays of one dimension as a pandas DataFrame, with the index and the dtypes that were written.

    Args:
        source: a path, a URL, an open file, a workbook of openpyxl, or an object of gspread.
        names: only these columns, and their index; None for all.
        format: instead of the suffix.
        storage_options: for the file system of a URL.
        **options: of the format, as for `read`.

    Raises:
        FormatError: as `read`; or the arrays have several lengths; or the labels are damaged, or contradict the arrays.
        NotFoundError: no such array.

    Warns:
        SheetArrayWarning: arrays of other dimensions are left out, or a described column is not there.

    Example:
        >>> import io
        >>> file = io.StringIO()
        >>> api.write(file, {"n": [1, 2], "t": [0.5, 1.5]}, format="csv")
        >>> read_frame(io.StringIO(file.getvalue()), format="csv")
           n    t
        0  1  0.5
        1  2  1.5
    """
    arrays, labels = read_with_labels(locate_place(source, storage_options, format), names, format, options)
    flat = {name: array for name, array in arrays.items() if isinstance(array, np.ndarray) and array.ndim == 1}
    wanted = list_names(names) or ()
    if others := [name for name in arrays if name not in flat]:
        if any(name in others for name in wanted) or not flat:
            shapes = ", ".join(
                f"{name!r:.60} has {getattr(arrays[name], 'ndim', 'other')} dimensions" for name in others
            )
            raise FormatError(f"a frame holds arrays of one dimension: {shapes:.400}", hint="read_dataset takes them")
        if names is None:
            warn_caller(f"left out of the frame, for they have not one dimension: {', '.join(map(repr, others)):.400}")
    if wanted:
        levels = index_levels(labels, list(wanted)) if labels else ()
        flat = {name: array for name, array in flat.items() if name in {*wanted, *levels}}
    check_lengths(flat, labels)
    return build_frame(flat, labels)


def read_with_labels(
    source: api.SourceOrTarget, names: Sequence[str] | None, format: str | None, options: Mapping[str, Any]
) -> tuple[dict[str, Any], DatasetLabels | None]:
    """Return the arrays that are asked for by name, with their coordinates, and the labels of all of them."""
    wanted = list_names(names)
    if wanted is None or not isinstance(source, (str, os.PathLike)):  # a pipe is read once
        with reading_labels() as description:
            arrays: dict[str, Any] = api.read(source, format=format, **options)
        labels = description.get()
        wanted = None if wanted is None else add_coordinates(wanted, labels, arrays)
        arrays = select(arrays, wanted)
    else:
        infos, labels = scan_with_labels(source, format, options)
        wanted = add_coordinates(wanted, labels, infos)
        arrays = dict(api.read(source, wanted, format=format, **options))
    if labels is not None and names is None:
        warn_of_absent(labels.variables, labels, arrays)
    return arrays, labels


def warn_of_absent(names: Iterable[str], labels: DatasetLabels, available: Mapping[str, Any]) -> None:
    """Warn of those of some described arrays that are not in the file."""
    if absent := [name for name in names if labels.has_array(name) and name not in available]:
        warn_caller(f"described by the labels, and not in the file: {', '.join(map(repr, absent)):.400}")


def scan_with_labels(
    source: api.SourceOrTarget, format: str | None, options: Mapping[str, Any]
) -> tuple[dict[str, ArrayInfo], DatasetLabels | None]:
    """Return the infos of all arrays by name, and their labels; None for the labels if the source has none.

    `options`: for reading; those that `scan` does not have are passed over.

    Raises:
        FormatError: as `scan`; or the labels are damaged.
    """
    with reading_labels() as description:
        infos = api.scan(source, format=format, **scan_options(source, format, options))
    return infos, description.get()


def list_names(names: Sequence[str] | None) -> list[str] | None:
    """Return names as a list without doubles; one text is one name, and None stays.

    Raises:
        TypeError: they are no texts.
    """
    if names is not None and not isinstance(names, Iterable):
        raise TypeError(f"names are a list of texts, or one text, not {names!r:.80}")
    return names if names is None else [names] if isinstance(names, str) else list(dict.fromkeys(names))


def add_coordinates(wanted: list[str], labels: DatasetLabels | None, available: Mapping[str, Any]) -> list[str]:
    """Return the names of arrays to read for some variables: their own, and the coordinates along their dimensions.

    Raises:
        NotFoundError: no such variable.

    Warns:
        SheetArrayWarning: one of the coordinates is not there.
    """
    labels = labels or DatasetLabels()
    names = [level for name in wanted for level in labels.frame.index.get(name, (name,))]
    for name in names:
        if name not in available:
            known = ", ".join(map(repr, available))
            raise NotFoundError(f"no array {name!r}; there is {known}")
    described = [name for name in names if labels.find(name) is not None]
    dims = {dim for name in described for dim in labels.get(name).dims}
    coordinates = [name for name, variable in labels.coords.items() if described and {*variable.dims} <= dims]
    warn_of_absent(coordinates, labels, available)
    with_coordinates = {*names, *coordinates}
    return [name for name in available if name in with_coordinates]


def scan_options(source: Any, format: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the options for `read` that `scan` has too."""
    known = format_of(source, format, reading=True).options("scan")
    return {name: value for name, value in options.items() if name in known}
