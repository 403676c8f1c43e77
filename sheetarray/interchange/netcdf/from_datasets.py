"""The variables of a dataset -> arrays with their labels."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np

from ... import dtypes
from ...dtypes import Array
from ...elements import text_array
from ...errors import (
    FormatError,
)
from ...labels import (
    DatasetLabels,
    VariableLabels,
)
from ...values import as_array, to_objects
from ..untrusted import load_package, parse_values
from .conventions import (
    CODED,
    DTYPE,
    NAMES,
)


def labels_of(dataset: Any) -> DatasetLabels:
    """Return the labels that the file's own dimensions, coordinates and attributes are."""
    labels = DatasetLabels(attrs={name: _plain(value) for name, value in dataset.attrs.items() if name != NAMES})
    for name in variable_names(dataset):
        variable = dataset.variables[name]
        dtype = str(variable.attrs.get(DTYPE) or variable.dtype)
        dtype = {"generic": "object", "text or nothing": "str"}.get(dtype, dtype)
        hidden = set()
        if DTYPE in variable.attrs:
            hidden = {DTYPE, "dtype", "calendar", "_FillValue"} | ({"units"} if dtype[-1:] == "]" else set())
        elif CODED & {*variable.attrs}:  # of others: what decoding uses up says nothing of the values any more
            with contextlib.suppress(ValueError, TypeError, OverflowError, AttributeError):  # told when they are read
                decoded = _decode_cf(name, variable)
                hidden = {*variable.attrs} - {*decoded.attrs}
        attrs = {key: _plain(value) for key, value in variable.attrs.items() if key not in hidden}
        said = VariableLabels(tuple(map(str, variable.dims)), dtype, tuple(variable.shape), attrs)
        (labels.coords if name in dataset.coords else labels.data_vars)[str(name)] = said
    return labels


def _plain(value: Any) -> Any:
    """Return an attribute as Python's own number, list or text."""
    if isinstance(value, np.ndarray):
        return value.item() if value.size == 1 and value.dtype.kind in "iufU" else value
    return value.item() if isinstance(value, np.generic) else value


def _decode_cf(name: str, variable: Any) -> Any:
    """Return a variable decoded by the CF conventions; numbers of days are durations only if `dtype` says so.

    xarray does the same since 2026.2. Older versions make durations of all numbers with such units.
    """
    durations = None if "dtype" in variable.attrs else False
    return load_library("xarray").conventions.decode_cf_variable(name, variable, decode_timedelta=durations)


def decode_variable(name: str, variable: Any) -> Array:
    """Return the array of a variable."""
    dtype = variable.attrs.get(DTYPE)
    if dtype is None:
        variable = _decode_cf(name, variable)
    values = np.asarray(variable.to_numpy())
    if values.dtype.kind == "U" and np.ascontiguousarray(values).reshape(-1).view(np.uint32).max(initial=0) > 0x10FFFF:
        raise FormatError("characters beyond Unicode")
    texts = values.ravel().tolist() if values.dtype.kind in "OST" else []
    if texts and all(isinstance(text, bytes) for text in texts):  # characters, without an attribute for their encoding
        with contextlib.suppress(UnicodeDecodeError):
            texts = [text.decode() for text in texts]
    if values.dtype.kind in "OST" and all(isinstance(text, str) for text in texts):
        values = text_array(texts).reshape(values.shape)
    values = np.array(values) if dtype is None else _restore(values, str(dtype))
    return as_array(values)


def _restore(values: Array, dtype: str) -> Array:
    if dtype == "text or nothing" and values.dtype.kind in "UT":
        texts = [None if text == "" else text.removeprefix("=") for text in values.ravel().tolist()]
        return to_objects(texts).reshape(values.shape)
    entry = dtypes.from_name(dtype)
    if entry.kind == "generic" and values.dtype.kind == "U":
        return parse_values(values.ravel().tolist()).reshape(values.shape)
    numpy_dtype = entry.numpy
    if numpy_dtype.kind in "mM" and values.dtype == np.int64:
        return np.array(values).view(numpy_dtype)
    if numpy_dtype.kind == "b" and values.dtype.kind in "biu" and np.isin(values, (0, 1)).all():
        return values.astype(bool)
    if (numpy_dtype.kind == "f" and values.dtype.kind == "f") or (entry.kind == "string" and values.dtype.kind in "UT"):
        return values.astype(numpy_dtype) if numpy_dtype.kind == "f" else np.array(values)
    raise FormatError(f"holds {values.dtype}, but was written as {dtype}")


def load_library(name: str) -> Any:
    """Return a package that is imported only here; one that is not installed is an error that names the extra."""
    return load_package(name, f"{name} is not installed", f"'sheetarray[{'zarr' if name == 'zarr' else 'netcdf'}]'")


def variable_names(dataset: Any) -> list[str]:
    """Return the names of the arrays in the order written, where the file says it: a folder has none of its own."""
    listed = str(dataset.attrs.get(NAMES, ""))
    try:
        order = {str(name): place for place, name in enumerate(json.loads(listed))} if listed else {}
    except (ValueError, TypeError, RecursionError):
        order = {}
    names = [str(name) for name in dataset.variables]
    return sorted(names, key=lambda name: order.get(name, len(order)))
