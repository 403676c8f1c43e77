"""`.nc` and `.zarr`: arrays as the variables of a dataset, by xarray, with h5netcdf or zarr.

Dimensions, coordinates and attributes are those of the file, as every program for NetCDF and Zarr knows them. What
these have no dtype for bears the attribute `sheetarray_dtype`, the dtype of the array: booleans are int8, dates count
since 1970 by the CF conventions (in years, months or steps of several units they are bare counts), objects are JSON.
What attributes cannot say (an index of several levels, categories, attributes that are dictionaries) stands in one more
variable of text, `dataset.json`, as in a sheet.

Files of others are read by xarray's rules for CF: scaled numbers, missing values, times.
"""

from __future__ import annotations

import io
import json
import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ... import dtypes
from ...adapters import Keeps, Progress, ignore_progress
from ...arrays import linear_arrays, select, values_by_name
from ...columns import ArrayInfo
from ...dtypes import Array
from ...elements import text_array
from ...errors import DTypeError, Finding, FormatError, LimitError, MissingDependencyError, locating, noting
from ...files import Readable, Source, Writable, is_url, max_inflated_size, refuse_empty, replacing, replacing_folder
from ...header import contiguous_strides, warn_of_finding
from ...labels import NAME as DESCRIPTION
from ...labels import (
    DatasetLabels,
    VariableLabels,
    describe_arrays,
    give_labels,
    name_dimensions,
    parse_labels,
)
from ...values import as_array

keeps_netcdf = Keeps(order=False, labels=True)
keeps_zarr = Keeps(order=False, labels=True)

_DTYPE = "sheetarray_dtype"
_NAMES = "sheetarray_names"  # of the arrays of a Zarr folder, in the order written
_SINCE = {"D": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds"}
_SINCE["ns"] = "nanoseconds"
_CODED = {
    "_FillValue",
    "missing_value",
    "scale_factor",
    "add_offset",
    "units",
    "dtype",
}  # attributes that change values
_MEANING = _CODED | {"calendar", "coordinates", _DTYPE}
_STORE = {".zgroup", ".zmetadata", "zarr.json"}  # files that a Zarr folder has


# Arrays to a dataset -------------------------------------------------------------------------------------------------


def _to_dataset(arrays: Any, *, separators: str) -> tuple[Any, int]:
    """Return the dataset of some arrays, and the number of their elements.

    Raises:
        DTypeError: an awkward array.
        LimitError: a name that no file of the format has.
    """
    xr = _import("xarray")
    described = describe_arrays(arrays)
    by_name, labels = (values_by_name(arrays), None) if described is None else described
    linear = linear_arrays(by_name)
    plain = {name: array.to_numpy() for name, array in linear.items()}
    if deep := [name for name, array in plain.items() if array.ndim > 32]:
        raise LimitError(f"{deep[0]!r:.80} has {plain[deep[0]].ndim} dimensions, and a variable at most 32")
    dims = name_dimensions(plain, labels or DatasetLabels())
    for name in [*plain, *(dim for own in dims.values() for dim in own)]:
        if not name or name in (".", "..") or any(mark in name for mark in separators) or name.startswith("__"):
            raise LimitError(f"the name {name!r:.80} is none for a variable of a file: rename it")
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
    kept = {name: value for name, value in attrs.items() if type(value) in (str, int, float) and value != ""}
    return {name: value for name, value in kept.items() if "/" not in name and name and not _is_large(value)}


def _is_large(value: Any) -> bool:
    return (isinstance(value, str) and (len(value) > 10_000 or "\0" in value)) or (
        isinstance(value, int) and not -(2**63) <= value < 2**63
    )


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
        counts = (
            np.array(array).view(np.int64) if array.flags.c_contiguous else np.ascontiguousarray(array).view(np.int64)
        )
        counts = counts.reshape(array.shape)
        return counts, attrs | ({"_FillValue": np.int64(np.iinfo(np.int64).min)} if np.isnat(array).any() else {})
    if kind == "O":
        values = array.ravel().tolist()
        texts = [json.dumps(value) for value in values]
        if all(value is None or isinstance(value, str) for value in values):
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
        dtype = variable.attrs.get(_DTYPE) or str(variable.dtype)
        dtype = {"generic": "object", "text or nothing": "str"}.get(str(dtype), dtype)
        marked = _DTYPE in variable.attrs
        hidden = {_DTYPE, "dtype", "calendar", "_FillValue"} | ({"units"} if dtype[-1:] == "]" else set())
        hidden = hidden if marked else set()
        attrs = {key: _plain(value) for key, value in variable.attrs.items() if key not in hidden}
        said = VariableLabels(tuple(map(str, variable.dims)), str(dtype), tuple(variable.shape), attrs)
        (labels.coords if name in dataset.coords else labels.data_vars)[str(name)] = said
    return labels


def _plain(value: Any) -> Any:
    """Return an attribute as Python's own number, list or text."""
    if isinstance(value, np.ndarray):
        return value.item() if value.size == 1 and value.dtype.kind in "iufU" else value
    return value.item() if isinstance(value, np.generic) else value


def _decode(name: str, variable: Any) -> Array:
    """Return the array of a variable.

    Raises:
        FormatError: it is not what its attributes say.
        DTypeError: no array holds it.
    """
    dtype = variable.attrs.get(_DTYPE)
    if dtype is None:
        variable = _import("xarray").conventions.decode_cf_variable(name, variable)
        values = np.asarray(variable.to_numpy())
    else:
        values = np.asarray(variable.to_numpy())
    if values.dtype.kind == "U" and np.ascontiguousarray(values).reshape(-1).view(np.uint32).max(initial=0) > 0x10FFFF:
        raise FormatError("characters beyond Unicode")
    if values.dtype.kind == "O" and all(isinstance(value, str) for value in values.ravel().tolist()):
        values = text_array(values.ravel().tolist()).reshape(values.shape)
    values = np.array(values) if dtype is None else _restore(values, str(dtype))
    return as_array(values)


def _restore(values: Array, dtype: str) -> Array:
    if dtype == "text or nothing" and values.dtype.kind == "U":
        texts = [None if text == "" else text.removeprefix("=") for text in values.ravel().tolist()]
        return _to_objects(texts).reshape(values.shape)
    entry = dtypes.from_name(dtype)
    if entry.kind == "generic" and values.dtype.kind == "U":
        try:
            items = [json.loads(text) for text in values.ravel().tolist()]
        except (ValueError, RecursionError) as error:
            raise FormatError(f"a value that is not JSON: {error!s:.80}") from error
        if not {*map(type, items)} <= {type(None), bool, int, float, str}:
            raise FormatError("a value that no generic array holds")
        return _to_objects(items).reshape(values.shape)
    wanted = entry.numpy
    if wanted.kind in "mM" and values.dtype == np.int64:
        return np.array(values).view(wanted)
    if wanted.kind == "b" and values.dtype.kind in "biu" and np.isin(values, (0, 1)).all():
        return values.astype(bool)
    if (wanted.kind == "f" and values.dtype.kind == "f") or (entry.kind == "string" and values.dtype.kind == "U"):
        return values.astype(wanted) if wanted.kind == "f" else np.array(values)
    raise FormatError(f"holds {values.dtype}, and was written as {dtype}")


def _to_objects(values: list[Any]) -> Array:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


# Files ---------------------------------------------------------------------------------------------------------------


@contextmanager
def _damage_as_format_error(what: str, location: str = "") -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is wrong is said as an error, or not at all
            yield
    except (FormatError, MissingDependencyError, PermissionError):
        raise
    except DTypeError as error:
        raise FormatError(str(error), location=location or None, hint="names= chooses other variables") from error
    except (OSError, ValueError, TypeError, KeyError, IndexError, RuntimeError, OverflowError, AttributeError) as error:
        raise FormatError(f"no {what}, or a damaged one: {error!s:.200}", location=location or None) from error
    except (ArithmeticError, NotImplementedError, MemoryError, AssertionError, SystemError) as error:
        raise FormatError(f"no {what}, or a damaged one: {error!r:.200}", location=location or None) from error


@contextmanager
def _open_netcdf(source: Readable) -> Iterator[Any]:
    """Open a file as a dataset whose variables are as they stand in it."""
    xr = _import("xarray")
    h5py = _import("h5py")
    _import("h5netcdf")
    with Source(source) as opened, locating(source=opened.name):
        refuse_empty(opened.prefix(1), "byte 0")
        if opened.prefix(3) == b"CDF":
            raise FormatError(
                "a file of NetCDF-3, and those of NetCDF-4 are read here",
                hint="xarray.open_dataset(path, engine='scipy') reads it, and sheetarray.write takes the Dataset",
            )
        content = b"" if opened.path is not None else bytes(opened.own())
        size = len(content) if opened.path is None else os.path.getsize(opened.path)

        def open_again() -> Any:  # a file of this machine is read no further than is asked for
            return opened.path or io.BytesIO(content)

        with _damage_as_format_error("NetCDF-4 file"):
            with h5py.File(open_again(), "r") as file:
                _check_objects(h5py, file, max_inflated_size(size))
            dataset = xr.open_dataset(open_again(), engine="h5netcdf", decode_cf=False, cache=False)
            _check_dims(dataset)
        with dataset:
            yield dataset


def _check_objects(h5py: Any, file: Any, most: int) -> None:
    """Refuse links to other files, and arrays larger than any use of the file's bytes."""
    total = 0
    for name in file:
        if not isinstance(file.get(name, getlink=True), h5py.HardLink):
            raise FormatError(f"{name!r:.80} is a link, and links are not followed")
        item = file[name]
        if isinstance(item, h5py.Dataset):
            if item.external or item.is_virtual:
                raise FormatError(f"{name!r:.80} lies in another file, and no other file is read")
            total += math.prod(item.shape or ()) * max(item.dtype.itemsize, 1)
    if total > most:
        raise FormatError(f"arrays of {total:,} bytes: more than is read at once of this file")


@contextmanager
def _open_zarr(source: Readable) -> Iterator[Any]:
    """Open a folder as a dataset whose variables are as they stand in it."""
    xr = _import("xarray")
    _import("zarr")
    if not isinstance(source, (str, os.PathLike)):
        raise FormatError("a Zarr store is a folder, and this is an open file", hint="give the path of the folder")
    if is_url(source):
        raise FormatError(
            "a Zarr store under a URL, and folders of this machine are read here",
            source=os.fspath(source),
            hint="xarray.open_zarr(url) reads it, and sheetarray.write takes the Dataset",
        )
    path = Path(source)
    with locating(source=str(path)):
        if not path.exists():
            raise FileNotFoundError(2, os.strerror(2), str(path))
        if not path.is_dir() or not _STORE & set(os.listdir(path)):
            raise FormatError("no Zarr folder: it has neither .zgroup nor zarr.json")
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        with _damage_as_format_error("Zarr folder"):
            _check_blosc(path)
            dataset = xr.open_dataset(path, engine="zarr", decode_cf=False, chunks=None, cache=False)
            _check_dims(dataset)
            total = sum(variable.nbytes for variable in dataset.variables.values())
            if total > max_inflated_size(size):
                raise FormatError(f"arrays of {total:,} bytes in {size:,}: more than is read at once")
        with dataset:
            yield dataset


def _check_dims(dataset: Any) -> None:
    for name, variable in dataset.variables.items():
        if len({*variable.dims}) < len(variable.dims):
            raise FormatError("a dimension stands twice", location=f"variable {name!r:.80}", array=str(name))


def _check_blosc(path: Path) -> None:
    """Refuse chunks that Blosc would read beyond their end: their headers say other sizes than they have."""
    for folder in {file.parent for pattern in (".zarray", "zarr.json") for file in path.rglob(pattern)}:
        told = [folder / name for name in (".zarray", "zarr.json") if (folder / name).exists()]
        if not any(
            "blosc" in file.read_text(encoding="utf-8", errors="replace")
            for file in [*told, path / ".zmetadata"]
            if file.exists()
        ):
            continue
        for chunk in folder.rglob("*"):
            if chunk.is_file() and not chunk.name.startswith(".") and chunk.name != "zarr.json":
                with open(chunk, "rb") as file:
                    head = file.read(16)
                if len(head) < 16 or int.from_bytes(head[12:16], "little") != chunk.stat().st_size:
                    raise FormatError("a chunk that is cut short, or damaged", location=str(chunk.relative_to(path)))


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        extra = "zarr" if name == "zarr" else "netcdf"
        raise MissingDependencyError(
            f"{name} is not installed: pip install 'sheetarray[{extra}]'", name=name
        ) from error


def _take_labels(dataset: Any, note: Any = warn_of_finding) -> DatasetLabels | None:
    """Give the labels of a dataset to whoever asks for them: those in `dataset.json`, else those of the file."""

    def locate(error: FormatError) -> None:
        error.location = f"variable {DESCRIPTION}"

    if DESCRIPTION in dataset.variables:
        with _damage_as_format_error("description"):
            text = np.asarray(dataset.variables[DESCRIPTION].to_numpy()).reshape(-1).astype(str)
        return parse_labels(text, note, locate)
    with _damage_as_format_error("dataset"):
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


def _read(dataset: Any, names: Sequence[str] | None) -> dict[str, Array]:
    wanted = select(dict.fromkeys(_names_of(dataset)), names)
    _take_labels(dataset)
    return {name: _read_variable(dataset, name) for name in wanted}


def _read_variable(dataset: Any, name: str) -> Array:
    with locating(array=name), _damage_as_format_error("variable", f"variable {name!r:.80}"):
        array = _decode(name, dataset.variables[name])
        return array if array.flags.writeable else array.copy()


def _scan(dataset: Any) -> dict[str, ArrayInfo]:
    labels = _take_labels(dataset)
    infos = {}
    for name in _names_of(dataset):
        variable = dataset.variables[name]
        with _damage_as_format_error("variable", f"variable {name!r:.80}"):
            dtype = str(variable.attrs.get(_DTYPE) or _dtype_name(name, variable))
            dtype = "generic" if dtype == "text or nothing" else dtypes.from_name(dtype).name
        shape, own = tuple(variable.shape), labels.find(name) if labels is not None else None
        strides = contiguous_strides(shape, "row-major")
        dims = own.dims if own is not None and len(own.dims) == len(shape) else None
        where, size = f"variable {name!r:.80}", math.prod(shape)
        infos[name] = ArrayInfo(shape, dtype, "row-major", strides, where, size, capacity=size, dims=dims)
    return infos


def _dtype_name(name: str, variable: Any) -> str:
    """Return the name of the dtype of the array that a variable without a mark is."""
    dtype = variable.dtype
    if _CODED & {*variable.attrs} or dtype.kind in "SO":
        dtype = _decode(name, variable).dtype
    return dtypes.from_numpy(dtype.newbyteorder("=")).name


def _check(dataset: Any, findings: list[Finding]) -> None:
    _take_labels(dataset, findings.append)
    for name in _names_of(dataset):
        with noting(findings, array=name):
            _read_variable(dataset, name)


def read_netcdf(source: Readable, names: Sequence[str] | None = None) -> dict[str, Array]:
    """Read the variables of a NetCDF-4 file as arrays.

    Args:
        source: a path or an open file.
        names: only these variables are read; None for all.

    Raises:
        FormatError: no such file, a damaged one, or a variable that no array holds; names it.
        NotFoundError: no variable of a name asked for.
        MissingDependencyError: xarray or h5netcdf is not installed.
    """
    with _open_netcdf(source) as dataset:
        return _read(dataset, names)


def scan_netcdf(source: Readable) -> dict[str, ArrayInfo]:
    """Return the infos of all variables; the location is the variable.

    Args:
        source: a path or an open file.

    Raises:
        FormatError: no such file, or a damaged one; names the column or variable.
        NotFoundError: nothing of a name asked for.
    """
    with _open_netcdf(source) as dataset:
        return _scan(dataset)


def check_netcdf(source: Readable) -> Iterator[Finding]:
    """Yield every finding: at most one for each variable; nothing for an intact file.

    Args:
        source: a path or an open file.

    Raises:
        OSError: no such file, or it cannot be read; never for its content.
    """
    findings: list[Finding] = []
    with noting(findings), _open_netcdf(source) as dataset:
        _check(dataset, findings)
    yield from findings


def write_netcdf(target: Writable, arrays: Any, *, progress: Progress | None = None) -> None:
    """Write arrays as a NetCDF-4 file: a Dataset as it is, other arrays with dimensions of their own.

    Args:
        target: a path, replaced as a whole, or a file opened for bytes.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        progress: called with the elements written and the elements in all.

    Raises:
        DTypeError: names the array that no variable holds.
        LimitError: a name that no variable has.
        MissingDependencyError: xarray or h5netcdf is not installed.
        OSError: the system refuses; the old file is whole.
    """
    _import("h5netcdf")
    dataset, total = _to_dataset(arrays, separators="/\0")
    report = progress or ignore_progress
    report(0, total)
    content = dataset.to_netcdf(None, engine="h5netcdf")
    with replacing(target, binary=True) as sink:
        sink.write(content)
    report(total, total)


def read_zarr(source: Readable, names: Sequence[str] | None = None) -> dict[str, Array]:
    """Read the variables of a Zarr folder as arrays, as `read_netcdf` does.

    Args:
        source: a path or an open file.
        names: only these arrays are read; None for all.

    Raises:
        FormatError: no such file, or a damaged one; names the column or variable.
        NotFoundError: nothing of a name asked for.
    """
    with _open_zarr(source) as dataset:
        return _read(dataset, names)


def scan_zarr(source: Readable) -> dict[str, ArrayInfo]:
    """Return the infos of all variables; the location is the variable.

    Args:
        source: a path or an open file.

    Raises:
        FormatError: no such file, or a damaged one; names the column or variable.
        NotFoundError: nothing of a name asked for.
    """
    with _open_zarr(source) as dataset:
        return _scan(dataset)


def check_zarr(source: Readable) -> Iterator[Finding]:
    """Yield every finding: at most one for each variable; nothing for an intact folder.

    Args:
        source: a path or an open file.

    Raises:
        OSError: no such file, or it cannot be read; never for its content.
    """
    findings: list[Finding] = []
    with noting(findings), _open_zarr(source) as dataset:
        _check(dataset, findings)
    yield from findings


def write_zarr(target: Writable, arrays: Any, *, progress: Progress | None = None) -> None:
    """Write arrays as a Zarr folder (version 2 of the format), which replaces one that is there as a whole.

    Args:
        target: a path.
        arrays: as for `write_netcdf`.
        progress: called with the elements written and the elements in all.

    Raises:
        DTypeError: names the array that no variable holds.
        LimitError: a name that no variable has; or a folder of other things is there.
        MissingDependencyError: xarray or zarr is not installed.
        OSError: the system refuses; the old folder is whole.
    """
    _import("zarr")
    if not isinstance(target, (str, os.PathLike)):
        raise LimitError("a Zarr store is a folder, and this is an open file: give a path")
    if is_url(target):
        raise LimitError(
            f"{os.fspath(target):.200}: a Zarr store under a URL: sheetarray.read_dataset(path).to_zarr(url) writes one"
        )
    path = Path(target)
    if path.exists() and not (path.is_dir() and (_STORE & set(os.listdir(path)) or not os.listdir(path))):
        raise LimitError(f"{path.name} is there, and is not a Zarr folder: move it away")
    dataset, total = _to_dataset(arrays, separators="/\\\0")
    report = progress or ignore_progress
    report(0, total)
    with replacing_folder(target) as folder:
        dataset.attrs[_NAMES] = json.dumps(_names_of(dataset))
        checked = _import("numcodecs").Zstd(level=3, checksum=True)  # what is cut short is found out
        packed = {"compressors": (checked,), "_FillValue": None}
        encoding = dict.fromkeys(dataset.variables, packed)
        dataset.to_zarr(folder, zarr_format=2, consolidated=True, encoding=encoding)
    report(total, total)
