"""Arrays with their labels -> the variables of a dataset."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...dtypes import Array
from ...elements import is_unicode, text_array, to_scalar
from ...errors import (
    DTypeError,
    LimitError,
)
from ...labels import NAME as DESCRIPTION
from ...labels import (
    DatasetLabels,
    describe_arrays,
    name_dimensions,
    refuse_description,
)
from ...linear.header import name_element
from ...linear.named import check_unicode, linear_arrays, refuse_lists, values_by_name
from ...values import to_objects
from .conventions import (
    DTYPE,
    FILES,
    LONGEST_FOLDER,
    MEANING,
    NETCDF_MARKS,
    RESERVED,
    SINCE,
    ZARR_MARKS,
)
from .from_datasets import labels_of, load_library


def to_dataset(arrays: Any, *, separators: str) -> tuple[Any, int]:
    """Return the dataset of some arrays, and the number of their elements."""
    xr = load_library("xarray")
    described = describe_arrays(arrays)
    by_name, labels = (values_by_name(arrays), None) if described is None else described
    refuse_lists(arrays, by_name)
    linear = linear_arrays(by_name)
    plain = {name: array.to_numpy() for name, array in linear.items()}
    if deep := [name for name, array in plain.items() if array.ndim > 32]:
        raise LimitError(f"{deep[0]!r:.80} has {plain[deep[0]].ndim} dimensions, but a variable has at most 32")
    if labels is None and DESCRIPTION in plain:
        refuse_description(plain[DESCRIPTION])
    dims = name_dimensions(plain, labels or DatasetLabels())
    _check_names(plain, dims, separators)
    if labels is not None and DESCRIPTION in plain:
        raise LimitError(f"two arrays would have the name {DESCRIPTION!r}: rename the variable")
    variables = {}
    for name, array in plain.items():
        if separators == NETCDF_MARKS and array.dtype.kind in "UTO":
            _refuse_nul(name, array)
        said = labels.find(name) if labels is not None else None
        native = _native_attrs(said.attrs) if said is not None else {}
        stored, attrs = _to_stored(array, linear[name].dtype)
        if not {*native} & MEANING - {"units"} and not ("units" in native and "units" in attrs):
            attrs = native | attrs
        variables[name] = xr.Variable(dims[name], stored, attrs, {"_FillValue": None})
    coords = [name for name in (labels.coords if labels is not None else ()) if name in variables]
    attrs = _native_attrs(labels.attrs) if labels is not None else {}
    dataset = xr.Dataset(variables, attrs=attrs).set_coords(coords)
    if labels is not None and labels_of(dataset) != labels:
        text = "".join(labels.to_pieces(2**24).tolist())
        dataset[DESCRIPTION] = xr.Variable((), np.array(text), {}, {"_FillValue": None})
    return dataset, sum(array.size for array in plain.values())


def _check_names(arrays: Iterable[str], dims: Mapping[str, Sequence[str]], marks: str) -> None:
    """Refuse names of arrays and dimensions that a file cannot have; `marks`: that no name may have."""
    names = [*arrays, *(dim for own in dims.values() for dim in own)]
    check_unicode(names)
    for name in names:
        if not name or name in (".", "..") or any(mark in name for mark in marks) or name.startswith("__"):
            raise LimitError(f"a variable cannot have the name {name!r:.80}: rename it")
    for name in arrays if marks == ZARR_MARKS else ():
        if name in FILES or len(name.encode()) > LONGEST_FOLDER:
            raise LimitError(
                f"an array is a folder in .zarr, and no folder there can be called {name!r:.80}: rename it"
            )


def _refuse_nul(name: str, array: Array) -> None:
    """Refuse text with NUL in it, at which HDF5 would cut it."""
    for index, text in enumerate(array.ravel().tolist()):
        if isinstance(text, str) and "\0" in text:
            raise DTypeError(
                f"{name_element(name, [*map(int, np.unravel_index(index, array.shape))])} has NUL in it, at which "
                "HDF5 cuts text: write .zarr"
            )


def _native_attrs(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Return those attributes that a file holds as they are: text and numbers."""
    return {
        name: value
        for name, value in attrs.items()
        if name not in RESERVED and "/" not in name and _is_native(name) and _is_native(value)
    }


def _is_native(value: Any) -> bool:
    if type(value) is str:
        return 0 < len(value) <= 10_000 and "\0" not in value and is_unicode(value)
    return type(value) is float or (type(value) is int and -(2**63) <= value < 2**63)


def _to_stored(array: Array, dtype: str) -> tuple[Any, dict[str, Any]]:
    """Return what stands in the file for an array, and the attributes that say what it means."""
    kind = array.dtype.kind
    if kind == "b":
        return array.astype(np.int8), {DTYPE: dtype, "dtype": "bool"}
    if kind in "mM":
        unit, step = np.datetime_data(array.dtype)
        attrs = {DTYPE: dtype}
        if unit in SINCE and step == 1:
            attrs["units"] = f"{SINCE[unit]} since 1970-01-01" if kind == "M" else SINCE[unit]
            attrs |= {"calendar": "proleptic_gregorian"} if kind == "M" else {"dtype": dtype}
        counts = np.array(array, order="C").view(np.int64)
        return counts, attrs | ({"_FillValue": np.int64(np.iinfo(np.int64).min)} if np.isnat(array).any() else {})
    if kind == "O":
        values = array.ravel().tolist()
        texts = [json.dumps(to_scalar(value)) for value in values]
        if any(isinstance(value, str) for value in values) and all(
            value is None or isinstance(value, str) for value in values
        ):
            texts = ["" if text is None else f"={text}" if text[:1] in ("", "=") else text for text in values]
            return to_objects(texts).reshape(array.shape), {DTYPE: "text or nothing"}
        return text_array(texts).reshape(array.shape), {DTYPE: dtype}
    if kind == "T":
        return array.astype(object), {DTYPE: dtype}
    return array, {DTYPE: dtype} if array.dtype == np.float16 else {}
