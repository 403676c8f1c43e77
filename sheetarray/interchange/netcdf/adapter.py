"""`.nc` and `.zarr`: arrays as the variables of a dataset, by xarray, with h5netcdf or zarr.

Dimensions, coordinates and attributes are those of the file, as every program for NetCDF and Zarr knows them. What
these have no dtype for bears the attribute `sheetarray_dtype`, the dtype of the array: booleans are int8, dates count
since 1970 by the CF conventions (in years, months or steps of several units they are bare counts), objects are JSON.
What attributes cannot say (an index of several levels, categories, attributes that are dictionaries) stands in one more
variable of text, `dataset.json`, as in a sheet.

Files of others are read by xarray's rules for CF: scaled numbers, missing values, times. `group=` reads a group of a
file; without it a file with arrays in groups is an error that names them, since a dataset has none.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ... import dtypes
from ...columns import ArrayInfo
from ...dtypes import Array
from ...errors import (
    DTypeError,
    Finding,
    FormatError,
    LimitError,
    NotFoundError,
    locating,
    noting,
    quote_names,
    system_error,
    while_few,
)
from ...files import (
    Readable,
    ReadFolder,
    Source,
    Writable,
    is_url,
    name_part,
    refuse_empty,
    replacing,
    replacing_folder,
    room_of,
)
from ...formats.contract import Keeps, Progress, ignore_progress
from ...labels import NAME as DESCRIPTION
from ...labels import (
    DatasetLabels,
    give_labels,
    parse_label_column,
)
from ...linear.header import NoteFinding
from ...linear.named import select
from ...linear.parsing import warn_of_finding
from ...linear.resizing import contiguous_strides
from ..untrusted import damage_as_format_error
from .conventions import (
    CODED,
    DTYPE,
    NAMES,
    NETCDF_MARKS,
    STORE,
    ZARR_MARKS,
)
from .from_datasets import decode_variable, labels_of, load_library, variable_names
from .to_datasets import to_dataset

Form = Literal["netcdf", "zarr"]

keeps_netcdf = Keeps(order=False, labels=True)
_AS_IT_IS: dict[str, Any] = {"decode_cf": False, "cache": False, "create_default_indexes": False}  # nothing is read yet
_ONLY_A_DIMENSION = b"This is a netCDF dimension but not a netCDF variable"


@contextmanager
def _by_library(what: str) -> Iterator[None]:
    """Turn errors of xarray and its libraries about bad content into errors of sheetarray, and hide their warnings."""
    with damage_as_format_error(f"not a {what}, or damaged"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:  # within a Zarr folder
            raise ValueError(str(error)) from error


@dataclass(slots=True)
class _Opened:
    """An open file or folder."""

    groups: list[str]  # the paths of the groups that have variables; "" is the root
    most: int  # bytes that reading it may take
    load: Callable[[str], Any]  # returns the dataset of a group, whose variables are as they stand in the file

    def find(self, group: str | None) -> str:
        """Return the path of a group that the caller names.

        Raises:
            NotFoundError: there is no such group.
        """
        path = (group or "").strip("/")
        if path not in self.groups and (path or self.groups):
            there = quote_names([name or "/" for name in self.groups], 20)
            raise NotFoundError(f"no group {path!r:.80} with arrays; there is {there}")
        return path

    def list(self, group: str | None) -> list[str]:
        """Return the paths of the groups to read: the one that the caller names, or all."""
        return (self.groups or [""]) if group is None else [self.find(group)]

    def refuse_groups(self, group: str | None) -> None:
        """Refuse a file with several groups if the caller names none: `read` would leave out the others."""
        if group is None and (groups := [name for name in self.groups if name]):
            beside = ", and in the root (group='/')" if "" in self.groups else ""
            raise FormatError(
                f"has arrays in the groups {quote_names(groups, 20)}{beside}, which are not read together",
                hint=f"group={groups[0]!r:.80} reads one of them",
            )


@contextmanager
def _open(source: Readable) -> Iterator[_Opened]:
    """Open a file or a folder."""
    xr = load_library("xarray")
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
    is_folder = name_part(name).endswith(".zarr") or (not is_url(name) and os.path.isdir(name))
    what = "Zarr folder" if is_folder else "NetCDF-4 file"
    with contextlib.ExitStack() as opened:
        if is_folder:
            opened.enter_context(locating(source=name))
            store = opened.enter_context(_open_folder(name))
            groups, size = [_parent(array) for array in store.arrays], store.size

            def load(group: str) -> Any:
                return xr.open_dataset(store, engine="zarr", group=group, consolidated=False, chunks=None, **_AS_IT_IS)

        else:
            file = opened.enter_context(Source(source))
            opened.enter_context(locating(source=file.name))
            with _by_library(what):
                content, groups = _check_netcdf(file)
            size = os.path.getsize(content) if isinstance(content, Path) else content.getbuffer().nbytes

            def load(group: str) -> Any:
                again = content if isinstance(content, Path) else io.BytesIO(content.getbuffer())
                return xr.open_dataset(again, engine="h5netcdf", group=group or None, **_AS_IT_IS)

        def load_checked(group: str) -> Any:
            with _by_library(what):
                dataset = opened.enter_context(load(group))
            if is_folder and (absent := store.names_in(group) - {*map(str, dataset.variables)}):
                raise FormatError(f"damaged: the arrays {quote_names(sorted(absent), 20)} are not found in their group")
            for name, variable in dataset.variables.items():
                if is_folder and f"{group}/{name}".strip("/") in store.unnamed:  # not written by xarray's rules for CF
                    variable.attrs.pop("_FillValue", None)
                if len({*variable.dims}) < len(variable.dims):
                    raise FormatError("a dimension occurs twice", location=f"variable {name!r:.80}", array=str(name))
            return dataset

        yield _Opened(sorted({*groups}), room_of(size), load_checked)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _check_netcdf(source: Source) -> tuple[Path | io.BytesIO, list[str]]:
    """Return the path or the content of a file that has no links, and the groups of its variables."""
    h5py = load_library("h5py")
    load_library("h5netcdf")
    refuse_empty(source.prefix(1), "byte 0")
    if source.prefix(3) == b"CDF":
        raise FormatError(
            "a file of NetCDF-3; only NetCDF-4 can be read",
            hint="xarray.open_dataset(path, engine='scipy') reads it, and sheetarray.write takes the Dataset",
        )
    content: Path | io.BytesIO = source.path if source.path is not None else io.BytesIO(bytes(source.own()))
    groups: list[str] = []

    def look(name: str, link: Any) -> FormatError | None:
        if not isinstance(link, h5py.HardLink):
            return FormatError(f"{name!r:.80} is a link, and links are not followed")
        item = file[name]
        if isinstance(item, h5py.Dataset):
            if item.external or item.is_virtual:
                return FormatError(f"{name!r:.80} lies in another file, which is not read")
            if not np.bytes_(item.attrs.get("NAME", b"")).startswith(_ONLY_A_DIMENSION):
                groups.append(_parent(name))
        return None

    with h5py.File(content, "r") as file:
        if (problem := file.visititems_links(look)) is not None:
            raise problem
    return content, groups


def _check_sizes(variables: Iterable[Any], most: int) -> None:
    """Refuse to read variables that together are larger than the bytes of the file could hold."""
    total = 0
    for variable in variables:
        chunk = variable.encoding.get("chunksizes") or variable.encoding.get("chunks") or ()
        decoded = 8 if CODED & {*variable.attrs} and DTYPE not in variable.attrs else 0
        total += max(variable.size, math.prod(chunk)) * (max(variable.dtype.itemsize, 1) + decoded)
    if total > most:
        reason = f"arrays of {total:,} bytes: more than is read at once of this file"
        raise FormatError(reason, hint="names= reads some of them")


@contextmanager
def _open_folder(name: str) -> Iterator[Any]:
    """Open a Zarr folder as a store that zarr reads."""
    load_library("zarr")
    from .zarr_folder import ZarrFolder

    if is_url(name):
        raise FormatError(
            "a Zarr store under a URL; only folders on this machine can be read",
            hint="xarray.open_zarr(url) reads it, and sheetarray.write takes the Dataset",
        )
    if not os.path.exists(name):
        raise system_error(errno.ENOENT, name)
    if not os.path.isdir(name):
        raise FormatError("not a Zarr folder: it has neither .zgroup nor zarr.json")
    with ReadFolder(name) as folder:
        yield ZarrFolder(folder)


def _take_labels(dataset: Any, most: int, note: NoteFinding = warn_of_finding) -> tuple[DatasetLabels, list[str]]:
    """Return the labels of a dataset and the names of its arrays. A caller who asks for labels gets them, too.

    They are those in `dataset.json`, else those of the file. `most`: the bytes that may be read.
    """

    def locate(error: FormatError) -> None:
        error.location = f"variable {DESCRIPTION}"

    names = variable_names(dataset)
    if DESCRIPTION in dataset.variables:
        _check_sizes([dataset.variables[DESCRIPTION]], most)
        text = _read_variable(dataset, DESCRIPTION)
        if (described := parse_label_column(text, note, locate)) is not None:
            return described, [name for name in names if name != DESCRIPTION]
    times = [variable for variable in dataset.variables.values() if "since" in str(variable.attrs.get("units"))]
    _check_sizes(times, most)  # the first and the last of them are looked at
    with _by_library("dataset"):
        labels = labels_of(_decode_coordinates(dataset))
    give_labels(labels)
    return labels, names


def _decode_coordinates(dataset: Any) -> Any:
    """Return a dataset in which every variable that an attribute `coordinates` names is a coordinate."""
    named = set(str(dataset.attrs.get("coordinates", "")).split())
    for variable in dataset.variables.values():
        named |= set(str(variable.attrs.get("coordinates", "")).split())
    marked = dataset.set_coords([name for name in named if name in dataset.variables])
    for variable in marked.variables.values():
        variable.attrs.pop("coordinates", None)
    marked.attrs.pop("coordinates", None)
    return marked


def _read_variable(dataset: Any, name: str) -> Array:
    with _naming_variable(name):
        array = decode_variable(name, dataset.variables[name])
        return array if array.flags.writeable else array.copy()


@contextmanager
def _naming_variable(name: str) -> Iterator[None]:
    """Add the name of the variable to an error of reading it."""
    location = f"variable {name!r:.80}"
    with locating(array=name, location=location), _by_library("variable"):
        try:
            yield
        except DTypeError as error:
            raise FormatError(str(error), hint="names= reads other variables") from error


def _dtype_name(dataset: Any, name: str, most: int) -> str:
    """Return the name of the dtype that a variable is read as; only a variable of objects is read to find it."""
    variable = dataset.variables[name]
    if variable.dtype.kind == "O":
        _check_sizes([variable], most)
    dtype = load_library("xarray").conventions.decode_cf_variable(name, variable).dtype
    if dtype.kind == "O":
        dtype = decode_variable(name, variable).dtype
    return "string" if dtype.kind in "ST" else dtypes.from_numpy(dtype.newbyteorder("=")).name


def read_netcdf(source: Readable, names: Sequence[str] | None = None, *, group: str | None = None) -> dict[str, Array]:
    """Return the variables of a NetCDF-4 file or a Zarr folder as arrays.

    `group`: the path of a group, such as "forecast/surface"; "/" is the root. None reads the root of a file that has no
    other groups with arrays, and the arrays that `names` calls "group/variable", as `scan` does.
    """
    with _open(source) as opened:
        if names is None:
            opened.refuse_groups(group)
        places: dict[str, tuple[Any, str]] = {}
        for path in opened.list(group) if names is not None else [opened.find(group)]:
            dataset = opened.load(path)
            prefix = f"{path}/" if path and group is None else ""
            own = variable_names(dataset) if prefix else _take_labels(dataset, opened.most)[1]
            places |= {f"{prefix}{name}": (dataset, name) for name in own}
        selected = select(places, names)
        _check_sizes([dataset.variables[name] for dataset, name in selected.values()], opened.most)
        return {name: _read_variable(*place) for name, place in selected.items()}


def scan_netcdf(source: Readable, *, group: str | None = None) -> dict[str, ArrayInfo]:
    """Return an `ArrayInfo` for each variable. `location` is the variable.

    `group`: as for `read_netcdf`. None lists the variables of all groups, as "group/variable".
    """
    infos: dict[str, ArrayInfo] = {}
    with _open(source) as opened:
        for path in opened.list(group):
            dataset = opened.load(path)
            labels, names = _take_labels(dataset, opened.most)
            prefix = f"{path}/" if path and group is None else ""
            infos |= {f"{prefix}{name}": _info_of(dataset, name, labels, opened.most) for name in names}
    return infos


def _info_of(dataset: Any, name: str, labels: DatasetLabels, most: int) -> ArrayInfo:
    variable = dataset.variables[name]
    with _naming_variable(name):
        dtype = str(variable.attrs.get(DTYPE) or _dtype_name(dataset, name, most))
        dtype = "generic" if dtype == "text or nothing" else dtypes.from_name(dtype).name
    shape, own = tuple(variable.shape), labels.find(name)
    strides, size = contiguous_strides(shape, "row-major"), math.prod(shape)
    dims = own.dims if own is not None and len(own.dims) == len(shape) else None
    return ArrayInfo(shape, dtype, "row-major", strides, f"variable {name!r:.80}", size, capacity=size, dims=dims)


def check_netcdf(source: Readable, *, group: str | None = None) -> Iterator[Finding]:
    """Yield a finding for each variable that cannot be read, and one if `read` needs the name of a group.

    An intact file or folder without groups has none. `group`: as for `scan_netcdf`.
    """
    findings: list[Finding] = []
    with noting(findings), _open(source) as opened:
        try:
            opened.refuse_groups(group)
        except FormatError as error:
            findings.append(replace(Finding.from_error(error), severity="warning"))
        for path in opened.list(group):
            start, prefix = len(findings), f"{path}/" if path and group is None else ""
            with noting(findings):
                dataset = opened.load(path)
                _, names = _take_labels(dataset, opened.most, findings.append)
                _check_sizes([dataset.variables[name] for name in names], opened.most)
                for name in while_few(names, findings):
                    with noting(findings, array=name):
                        _read_variable(dataset, name)
            findings[start:] = [
                replace(finding, array=finding.array and f"{prefix}{finding.array}") for finding in findings[start:]
            ]
    yield from findings


def write_netcdf(target: Writable, arrays: Any, *, form: Form = "netcdf", progress: Progress | None = None) -> None:
    """Write arrays as a NetCDF-4 file or a Zarr folder.

    A Dataset is written as it is. Other arrays get dimensions of their own.

    `form`: "netcdf" writes a NetCDF-4 file, and "zarr" writes a folder in version 2 of Zarr.
    """
    if form not in ("netcdf", "zarr"):
        raise LimitError(f"form is 'netcdf' or 'zarr', not {form!r:.80}")
    load_library("h5netcdf" if form == "netcdf" else "zarr")
    if form == "zarr":
        _check_replaceable(target)
    dataset, total = to_dataset(arrays, separators=NETCDF_MARKS if form == "netcdf" else ZARR_MARKS)
    report = progress or ignore_progress
    report(0, total)
    if form == "netcdf":
        # a view of a file in memory, which no error may keep open: Python 3.12 would free the file before its view
        with memoryview(dataset.to_netcdf(None, engine="h5netcdf")) as content, replacing(target, binary=True) as sink:
            sink.write(content)
    else:
        dataset.attrs[NAMES] = json.dumps(variable_names(dataset))
        checked = load_library("numcodecs").Zstd(level=3, checksum=True)  # what is cut short is found out
        encoding = {name: {"compressors": (checked,), "_FillValue": None} for name in dataset.variables}
        from .zarr_written import WrittenFolder

        with replacing_folder(target) as folder:  # type: ignore[arg-type]
            store = WrittenFolder(folder)
            with store.filled():
                dataset.to_zarr(store, zarr_format=2, consolidated=True, encoding=encoding)
    report(total, total)


def _check_replaceable(target: Writable) -> None:
    """Refuse to replace a folder, unless it is a Zarr folder or empty."""
    if not isinstance(target, (str, os.PathLike)):
        raise LimitError("a Zarr store is a folder, and this is an open file: give a path")
    if is_url(target):
        raise LimitError(
            f"{os.fspath(target):.200}: a Zarr store under a URL: sheetarray.read_dataset(path).to_zarr(url) writes one"
        )
    path = Path(target)
    if path.exists() and not (path.is_dir() and (STORE & set(os.listdir(path)) or not os.listdir(path))):
        raise LimitError(f"{path.name} exists, and is not a Zarr folder: move it away")
