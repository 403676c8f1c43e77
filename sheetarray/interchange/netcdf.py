"""`.nc` and `.zarr`: arrays as the variables of a dataset, by xarray, with h5netcdf or zarr.

Dimensions, coordinates and attributes are those of the file, as every program for NetCDF and Zarr knows them. What
these have no dtype for bears the attribute `sheetarray_dtype`, the dtype of the array: booleans are int8, dates count
since 1970 by the CF conventions (in years, months or steps of several units they are bare counts), objects are JSON.
What attributes cannot say (an index of several levels, categories, attributes that are dictionaries) stands in one more
variable of text, `dataset.json`, as in a sheet.

Files of others are read by xarray's rules for CF: scaled numbers, missing values, times.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .. import dtypes
from ..adapters import Keeps, Progress, ignore_progress
from ..arrays import linear_arrays, refuse_lists, select, values_by_name
from ..columns import ArrayInfo
from ..dtypes import Array
from ..elements import text_array, to_scalar
from ..errors import DTypeError, Finding, FormatError, LimitError, locating, noting, system_error
from ..files import (
    Readable,
    Source,
    Writable,
    is_url,
    max_inflated_size,
    name_part,
    refuse_empty,
    replacing,
    replacing_folder,
)
from ..header import contiguous_strides, warn_of_finding
from ..labels import NAME as DESCRIPTION
from ..labels import DatasetLabels, VariableLabels, describe_arrays, give_labels, name_dimensions, parse_labels
from ..values import as_array, to_objects
from .untrusted import damage_as_format_error, load_package, parse_values

__all__ = ["check_netcdf", "keeps_netcdf", "read_netcdf", "scan_netcdf", "write_netcdf"]

Form = Literal["netcdf", "zarr"]

keeps_netcdf = Keeps(order=False, labels=True)

_DTYPE = "sheetarray_dtype"
_NAMES = "sheetarray_names"  # of the arrays of a Zarr folder, in the order written
_SINCE = {"D": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds"}
_SINCE["ns"] = "nanoseconds"
# Attributes that change values.
_CODED = {"_FillValue", "missing_value", "scale_factor", "add_offset", "units", "dtype"}
_MEANING = _CODED | {"calendar", "coordinates", _DTYPE}
_AS_IT_IS: dict[str, Any] = {"decode_cf": False, "cache": False, "create_default_indexes": False}  # nothing is read yet
_STORE = {".zgroup", ".zmetadata", "zarr.json"}  # files that a Zarr folder has


# Arrays to a dataset -------------------------------------------------------------------------------------------------


def _to_dataset(arrays: Any, *, separators: str) -> tuple[Any, int]:
    """Return the dataset of some arrays, and the number of their elements."""
    xr = _import("xarray")
    described = describe_arrays(arrays)
    by_name, labels = (values_by_name(arrays), None) if described is None else described
    refuse_lists(arrays, by_name)
    linear = linear_arrays(by_name)
    plain = {name: array.to_numpy() for name, array in linear.items()}
    if deep := [name for name, array in plain.items() if array.ndim > 32]:
        raise LimitError(f"{deep[0]!r:.80} has {plain[deep[0]].ndim} dimensions, but a variable has at most 32")
    dims = name_dimensions(plain, labels or DatasetLabels())
    for name in [*plain, *(dim for own in dims.values() for dim in own)]:
        if not name or name in (".", "..") or any(mark in name for mark in separators) or name.startswith("__"):
            raise LimitError(f"a variable cannot have the name {name!r:.80}: rename it")
    if labels is not None and DESCRIPTION in plain:
        raise LimitError(f"two arrays would have the name {DESCRIPTION!r}: rename the variable")
    variables = {}
    for name, array in plain.items():
        said = labels.find(name) if labels is not None else None
        native = _native_attrs(said.attrs) if said is not None else {}
        stored, attrs = _to_stored(array, linear[name].dtype)
        if not {*native} & _MEANING - {"units"} and not ("units" in native and "units" in attrs):
            attrs = native | attrs
        variables[name] = xr.Variable(dims[name], stored, attrs, {"_FillValue": None})
    coords = [name for name in (labels.coords if labels is not None else ()) if name in variables]
    attrs = _native_attrs(labels.attrs) if labels is not None else {}
    dataset = xr.Dataset(variables, attrs=attrs).set_coords(coords)
    if labels is not None and _labels_of(dataset) != labels:
        text = "".join(labels.to_pieces(2**24).tolist())
        dataset[DESCRIPTION] = xr.Variable((), np.array(text), {}, {"_FillValue": None})
    return dataset, sum(array.size for array in plain.values())


def _native_attrs(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Return those attributes that a file holds as they are: text and numbers."""
    return {name: value for name, value in attrs.items() if name and "/" not in name and _is_native(value)}


def _is_native(value: Any) -> bool:
    if type(value) is str:
        return 0 < len(value) <= 10_000 and "\0" not in value
    return type(value) is float or (type(value) is int and -(2**63) <= value < 2**63)


def _to_stored(array: Array, dtype: str) -> tuple[Any, dict[str, Any]]:
    """Return what stands in the file for an array, and the attributes that say what it means."""
    kind = array.dtype.kind
    if kind == "b":
        return array.astype(np.int8), {_DTYPE: dtype, "dtype": "bool"}
    if kind in "mM":
        unit, step = np.datetime_data(array.dtype)
        attrs = {_DTYPE: dtype}
        if unit in _SINCE and step == 1:
            attrs["units"] = f"{_SINCE[unit]} since 1970-01-01" if kind == "M" else _SINCE[unit]
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
            return text_array(texts).reshape(array.shape), {_DTYPE: "text or nothing"}
        return text_array(texts).reshape(array.shape), {_DTYPE: dtype}
    if kind == "T":
        return array.astype(object), {_DTYPE: dtype}
    return array, {_DTYPE: dtype} if array.dtype == np.float16 else {}


# A dataset to arrays -------------------------------------------------------------------------------------------------


def _labels_of(dataset: Any) -> DatasetLabels:
    """Return the labels that the file's own dimensions, coordinates and attributes are."""
    labels = DatasetLabels(attrs={name: _plain(value) for name, value in dataset.attrs.items() if name != _NAMES})
    for name in _names_of(dataset):
        variable = dataset.variables[name]
        dtype = str(variable.attrs.get(_DTYPE) or variable.dtype)
        dtype = {"generic": "object", "text or nothing": "str"}.get(dtype, dtype)
        hidden = set()
        if _DTYPE in variable.attrs:
            hidden = {_DTYPE, "dtype", "calendar", "_FillValue"} | ({"units"} if dtype[-1:] == "]" else set())
        elif _CODED & {*variable.attrs}:  # of others: what decoding uses up says nothing of the values any more
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
    return _import("xarray").conventions.decode_cf_variable(name, variable, decode_timedelta=durations)


def _decode(name: str, variable: Any) -> Array:
    """Return the array of a variable."""
    dtype = variable.attrs.get(_DTYPE)
    if dtype is None:
        variable = _decode_cf(name, variable)
    values = np.asarray(variable.to_numpy())
    if values.dtype.kind == "U" and np.ascontiguousarray(values).reshape(-1).view(np.uint32).max(initial=0) > 0x10FFFF:
        raise FormatError("characters beyond Unicode")
    texts = values.ravel().tolist() if values.dtype.kind in "OS" else []
    if texts and all(isinstance(text, bytes) for text in texts):  # characters, without an attribute for their encoding
        with contextlib.suppress(UnicodeDecodeError):
            texts = [text.decode() for text in texts]
    if values.dtype.kind in "OS" and all(isinstance(text, str) for text in texts):
        values = text_array(texts).reshape(values.shape)
    values = np.array(values) if dtype is None else _restore(values, str(dtype))
    return as_array(values)


def _restore(values: Array, dtype: str) -> Array:
    if dtype == "text or nothing" and values.dtype.kind == "U":
        texts = [None if text == "" else text.removeprefix("=") for text in values.ravel().tolist()]
        return to_objects(texts).reshape(values.shape)
    entry = dtypes.from_name(dtype)
    if entry.kind == "generic" and values.dtype.kind == "U":
        return parse_values(values.ravel().tolist()).reshape(values.shape)
    wanted = entry.numpy
    if wanted.kind in "mM" and values.dtype == np.int64:
        return np.array(values).view(wanted)
    if wanted.kind == "b" and values.dtype.kind in "biu" and np.isin(values, (0, 1)).all():
        return values.astype(bool)
    if (wanted.kind == "f" and values.dtype.kind == "f") or (entry.kind == "string" and values.dtype.kind == "U"):
        return values.astype(wanted) if wanted.kind == "f" else np.array(values)
    raise FormatError(f"holds {values.dtype}, but was written as {dtype}")


# Files ---------------------------------------------------------------------------------------------------------------


@contextmanager
def _by_library(what: str) -> Iterator[None]:
    """Raise what xarray and its libraries say of bad content as an error of ours; their warnings go."""
    with damage_as_format_error(f"not a {what}, or damaged"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:  # within a Zarr folder
            raise ValueError(str(error)) from error


@contextmanager
def _open(source: Readable) -> Iterator[tuple[Any, int]]:
    """Open a file or a folder as a dataset whose variables are as they stand in it; and the bytes that may be read."""
    xr = _import("xarray")
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
    is_folder = name_part(name).endswith(".zarr") or (not is_url(name) and os.path.isdir(name))
    with contextlib.ExitStack() as opened:
        if is_folder:
            opened.enter_context(locating(source=name))
            if not is_url(name) and not os.path.exists(name):
                raise system_error(errno.ENOENT, name)
            with _by_library("Zarr folder"):
                dataset, most = _open_zarr(xr, name)
        else:
            file = opened.enter_context(Source(source))
            opened.enter_context(locating(source=file.name))
            with _by_library("NetCDF-4 file"):
                dataset, most = _open_netcdf(xr, file)
        opened.enter_context(dataset)
        for known, variable in dataset.variables.items():
            if len({*variable.dims}) < len(variable.dims):
                raise FormatError("a dimension occurs twice", location=f"variable {known!r:.80}", array=str(known))
        yield dataset, most


def _open_netcdf(xr: Any, source: Source) -> tuple[Any, int]:
    h5py = _import("h5py")
    _import("h5netcdf")
    refuse_empty(source.prefix(1), "byte 0")
    if source.prefix(3) == b"CDF":
        raise FormatError(
            "a file of NetCDF-3; only NetCDF-4 can be read",
            hint="xarray.open_dataset(path, engine='scipy') reads it, and sheetarray.write takes the Dataset",
        )
    content = b"" if source.path is not None else bytes(source.own())

    def open_again() -> Any:  # a file of this machine is read no further than is asked for
        return source.path or io.BytesIO(content)

    with h5py.File(open_again(), "r") as file:
        _check_objects(h5py, file)
    dataset = xr.open_dataset(open_again(), engine="h5netcdf", **_AS_IT_IS)
    return dataset, max_inflated_size(os.path.getsize(source.path) if source.path else len(content))


def _check_objects(h5py: Any, file: Any) -> None:
    """Refuse links to other files."""
    for name in file:
        if not isinstance(file.get(name, getlink=True), h5py.HardLink):
            raise FormatError(f"{name!r:.80} is a link, and links are not followed")
        item = file[name]
        if isinstance(item, h5py.Dataset) and (item.external or item.is_virtual):
            raise FormatError(f"{name!r:.80} lies in another file, which is not read")


def _check_sizes(dataset: Any, names: Iterable[str], most: int) -> None:
    """Refuse to read variables that are larger together than any use of the file's bytes."""
    total = 0
    for variable in map(dataset.variables.__getitem__, names):
        chunk = variable.encoding.get("chunksizes") or variable.encoding.get("chunks") or ()
        total += max(variable.size, math.prod(chunk)) * max(variable.dtype.itemsize, 1)
    if total > most:
        reason = f"arrays of {total:,} bytes: more than is read at once of this file"
        raise FormatError(reason, hint="names= reads some of them")


def _open_zarr(xr: Any, name: str) -> tuple[Any, int]:
    _import("zarr")
    if is_url(name):
        raise FormatError(
            "a Zarr store under a URL; only folders on this machine can be read",
            hint="xarray.open_zarr(url) reads it, and sheetarray.write takes the Dataset",
        )
    path = Path(name)
    if not path.is_dir() or not _STORE & set(os.listdir(path)):
        raise FormatError("not a Zarr folder: it has neither .zgroup nor zarr.json")
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    _check_blosc(path)
    return xr.open_dataset(path, engine="zarr", chunks=None, **_AS_IT_IS), max_inflated_size(size)


def _check_blosc(path: Path) -> None:
    """Refuse chunks that Blosc would read beyond their end: their headers say other sizes than they have."""
    for folder in {file.parent for pattern in (".zarray", "zarr.json") for file in path.rglob(pattern)}:
        name = folder.relative_to(path).as_posix()
        own = _read_json(folder / "zarr.json")
        told = [
            _read_json(folder / ".zarray"),
            {key: own[key] for key in own if key != "consolidated_metadata"},
            _item(_item(_read_json(path / ".zmetadata"), "metadata"), ".zarray" if name == "." else f"{name}/.zarray"),
            _item(_item(_item(_read_json(path / "zarr.json"), "consolidated_metadata"), "metadata"), name),
        ]
        if "blosc" not in json.dumps(told):
            continue
        for chunk in folder.rglob("*"):
            if chunk.is_file() and not chunk.name.startswith(".") and chunk.name != "zarr.json":
                with open(chunk, "rb") as file:
                    head = file.read(16)
                if len(head) < 16 or int.from_bytes(head[12:16], "little") != chunk.stat().st_size:
                    raise FormatError("a chunk that is cut short, or damaged", location=str(chunk.relative_to(path)))


def _read_json(file: Path) -> dict[str, Any]:
    """Return the object in a file of JSON; an empty one if there is none, or it is damaged, which the library tells."""
    try:
        tree = json.loads(file.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    return tree if isinstance(tree, dict) else {}


def _item(tree: Any, key: str) -> Any:
    return tree.get(key) if isinstance(tree, dict) else None


def _import(name: str) -> Any:
    return load_package(name, f"{name} is not installed", f"'sheetarray[{'zarr' if name == 'zarr' else 'netcdf'}]'")


def _take_labels(dataset: Any, most: int, note: Any = warn_of_finding) -> DatasetLabels | None:
    """Give the labels of a dataset to whoever asks for them: those in `dataset.json`, else those of the file.

    `most`: the bytes that may be read.
    """

    def locate(error: FormatError) -> None:
        error.location = f"variable {DESCRIPTION}"

    if DESCRIPTION in dataset.variables:
        _check_sizes(dataset, [DESCRIPTION], most)
        with _by_library("description"):
            text = np.asarray(dataset.variables[DESCRIPTION].to_numpy()).reshape(-1).astype(str)
        return parse_labels(text, note, locate)
    times = [name for name, known in dataset.variables.items() if "since" in str(known.attrs.get("units"))]
    _check_sizes(dataset, times, most)  # the first and the last of them are looked at
    with _by_library("dataset"):
        labels = _labels_of(_decode_coordinates(dataset))
    give_labels(labels)
    return labels


def _decode_coordinates(dataset: Any) -> Any:
    """Return a dataset in which the variables that attributes `coordinates` name are coordinates."""
    named = set(str(dataset.attrs.get("coordinates", "")).split())
    for variable in dataset.variables.values():
        named |= set(str(variable.attrs.get("coordinates", "")).split())
    marked = dataset.set_coords([name for name in named if name in dataset.variables])
    for variable in marked.variables.values():
        variable.attrs.pop("coordinates", None)
    marked.attrs.pop("coordinates", None)
    return marked


def _names_of(dataset: Any) -> list[str]:
    """Return the names of the arrays in the order written, where the file says it: a folder has none of its own."""
    listed = str(dataset.attrs.get(_NAMES, ""))
    try:
        order = {str(name): place for place, name in enumerate(json.loads(listed))} if listed else {}
    except (ValueError, TypeError, RecursionError):
        order = {}
    names = [str(name) for name in dataset.variables if name != DESCRIPTION]
    return sorted(names, key=lambda name: order.get(name, len(order)))


def _read_variable(dataset: Any, name: str) -> Array:
    with _naming_variable(name):
        array = _decode(name, dataset.variables[name])
        return array if array.flags.writeable else array.copy()


@contextmanager
def _naming_variable(name: str) -> Iterator[None]:
    """Give an error of reading the variable that it comes from."""
    location = f"variable {name!r:.80}"
    with locating(array=name, location=location), _by_library("variable"):
        try:
            yield
        except DTypeError as error:
            raise FormatError(str(error), hint="names= reads other variables") from error


def _dtype_name(dataset: Any, name: str, most: int) -> str:
    """Return the name of the dtype of the array that a variable without a mark is; objects alone are read for it."""
    variable = dataset.variables[name]
    if variable.dtype.kind == "O":
        _check_sizes(dataset, [name], most)
    dtype = _import("xarray").conventions.decode_cf_variable(name, variable).dtype
    if dtype.kind == "O":
        dtype = _decode(name, variable).dtype
    return "string" if dtype.kind == "S" else dtypes.from_numpy(dtype.newbyteorder("=")).name


def read_netcdf(source: Readable, names: Sequence[str] | None = None) -> dict[str, Array]:
    """Return the variables of a NetCDF-4 file or a Zarr folder as arrays."""
    with _open(source) as (dataset, most):
        wanted = select(dict.fromkeys(_names_of(dataset)), names)
        _check_sizes(dataset, wanted, most)
        _take_labels(dataset, most)
        return {name: _read_variable(dataset, name) for name in wanted}


def scan_netcdf(source: Readable) -> dict[str, ArrayInfo]:
    """Return an `ArrayInfo` for each variable. `location` is the variable."""
    infos = {}
    with _open(source) as (dataset, most):
        labels = _take_labels(dataset, most)
        for name in _names_of(dataset):
            variable = dataset.variables[name]
            with _naming_variable(name):
                dtype = str(variable.attrs.get(_DTYPE) or _dtype_name(dataset, name, most))
                dtype = "generic" if dtype == "text or nothing" else dtypes.from_name(dtype).name
            shape, own = tuple(variable.shape), labels.find(name) if labels is not None else None
            strides = contiguous_strides(shape, "row-major")
            dims = own.dims if own is not None and len(own.dims) == len(shape) else None
            where, size = f"variable {name!r:.80}", math.prod(shape)
            infos[name] = ArrayInfo(shape, dtype, "row-major", strides, where, size, capacity=size, dims=dims)
    return infos


def check_netcdf(source: Readable) -> Iterator[Finding]:
    """Yield a finding for each variable that cannot be read. An intact file or folder has none."""
    findings: list[Finding] = []
    with noting(findings), _open(source) as (dataset, most):
        _take_labels(dataset, most, findings.append)
        _check_sizes(dataset, _names_of(dataset), most)
        for name in _names_of(dataset):
            with noting(findings, array=name):
                _read_variable(dataset, name)
    yield from findings


def write_netcdf(target: Writable, arrays: Any, *, form: Form = "netcdf", progress: Progress | None = None) -> None:
    """Write arrays as a NetCDF-4 file or a Zarr folder.

    A Dataset is written as it is. Other arrays get dimensions of their own.

    `form`: "netcdf" writes a NetCDF-4 file, and "zarr" writes a folder in version 2 of Zarr.
    """
    if form not in ("netcdf", "zarr"):
        raise LimitError(f"form is 'netcdf' or 'zarr', not {form!r:.80}")
    _import("h5netcdf" if form == "netcdf" else "zarr")
    if form == "zarr":
        _check_replaceable(target)
    dataset, total = _to_dataset(arrays, separators="/\0" if form == "netcdf" else "/\\\0")
    report = progress or ignore_progress
    report(0, total)
    if form == "netcdf":
        content = dataset.to_netcdf(None, engine="h5netcdf")
        with replacing(target, binary=True) as sink:
            sink.write(content)
    else:
        dataset.attrs[_NAMES] = json.dumps(_names_of(dataset))
        checked = _import("numcodecs").Zstd(level=3, checksum=True)  # what is cut short is found out
        encoding = {name: {"compressors": (checked,), "_FillValue": None} for name in dataset.variables}
        with replacing_folder(target) as folder:  # type: ignore[arg-type]
            dataset.to_zarr(folder, zarr_format=2, consolidated=True, encoding=encoding)
    report(total, total)


def _check_replaceable(target: Writable) -> None:
    """Refuse to replace anything but a Zarr folder or an empty one."""
    if not isinstance(target, (str, os.PathLike)):
        raise LimitError("a Zarr store is a folder, and this is an open file: give a path")
    if is_url(target):
        raise LimitError(
            f"{os.fspath(target):.200}: a Zarr store under a URL: sheetarray.read_dataset(path).to_zarr(url) writes one"
        )
    path = Path(target)
    if path.exists() and not (path.is_dir() and (_STORE & set(os.listdir(path)) or not os.listdir(path))):
        raise LimitError(f"{path.name} exists, and is not a Zarr folder: move it away")
