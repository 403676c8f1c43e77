"""`xarray.open_dataset(path, engine="sheetarray")`: headers and indexes at once, other arrays when they are asked for.

xarray loads this module for its entry point alone; `read_dataset` is the same at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from .. import api, dtypes
from ..columns import ArrayInfo
from ..dtypes import Array
from ..errors import FormatError, SheetArrayError
from ..files import file_version, is_url
from ..labelled import read_dataset, scan_options
from ..labels import DatasetLabels, build_dataset, is_numpy_dtype, name_dimensions, reading_labels
from ..registry import format_of, locate_place


class SheetArrayBackend(BackendEntrypoint):
    """The engine `sheetarray` of xarray."""

    description = "Arrays in spreadsheets, CSV, JSON and Google Sheets (sheetarray)"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "format", "storage_options")

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        format: str | None = None,
        storage_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> xr.Dataset:
        """Open the arrays of a file as a Dataset; indexes are read, other arrays when they are asked for.

        Args:
            filename_or_obj: a path, a URL, or an open file (then with `format`), which is read at once.
            drop_variables: names of arrays to leave out.
            format: instead of the suffix.
            storage_options: for the file system of a URL.
            **options: of the format, as for `sheetarray.read`.

        Raises:
            FormatError: as `read_dataset`.
        """
        dropped = {drop_variables} if isinstance(drop_variables, str) else {*(drop_variables or ())}
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return read_dataset(filename_or_obj, format=format, storage_options=storage_options, **options).drop_vars(
                dropped, errors="ignore"
            )
        path = locate_place(filename_or_obj, storage_options, format)
        file = ArrayReader(path, format, options, _version_of(path))
        with reading_labels() as description:
            infos = api.scan(path, format=format, **scan_options(path, format, options))
        labels = description.get() or DatasetLabels()
        infos = {name: info for name, info in infos.items() if name not in dropped}
        dims = name_dimensions(infos, labels)
        at_once = [name for name in infos if _is_read_at_once(name, dims[name], labels)]
        arrays: dict[str, Any] = {
            name: indexing.LazilyIndexedArray(LazyArray(file, name, info.shape, _dtype_of(info, name, labels)))
            for name, info in infos.items()
        }
        return build_dataset(arrays | (file.read(at_once) if at_once else {}), labels, dims)

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Return whether a path has a suffix, or is a URL, of one of the formats."""
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        try:
            format_of(filename_or_obj)
        except (SheetArrayError, TypeError):
            return False
        return True


@dataclass(frozen=True)
class ArrayReader:
    """A file of arrays that is read again for each of them, so long as it is the same.

    Attributes:
        path: a path, or a URL.
        format: instead of the suffix.
        options: for reading.
        state: of the file when it was opened; None for what is no file.
    """

    path: str | os.PathLike[str]
    format: str | None
    options: Mapping[str, Any] = field(default_factory=dict)
    state: tuple[Any, ...] | None = None

    def read(self, names: list[str]) -> dict[str, Array]:
        """Read arrays by name.

        Raises:
            FormatError: as `sheetarray.read`, or the file is another one than when it was opened.
        """
        if _version_of(self.path) != self.state:
            raise FormatError(
                "the file has changed since it was opened", source=os.fspath(self.path), hint="open it again"
            )
        return api.read(self.path, names, format=self.format, **self.options)


class LazyArray(BackendArray):
    """An array of a file, read when elements of it are asked for."""

    def __init__(self, file: ArrayReader, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.file, self.name, self.shape, self.dtype = file, name, shape, dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read_part)

    def _read_part(self, key: tuple[Any, ...]) -> Array:
        array = self.file.read([self.name])[self.name]
        if array.shape != self.shape:
            raise FormatError(f"has the shape {array.shape} now, not {self.shape}", array=self.name)
        return np.asarray(array[key], dtype=self.dtype)


def _version_of(path: str | os.PathLike[str]) -> tuple[Any, ...] | None:
    """Return what changes with a file; None for a service, and for a `RemoteFile`, which sees to it itself."""
    return None if is_url(path) else file_version(path)


def _is_read_at_once(name: str, dims: tuple[str, ...], labels: DatasetLabels) -> bool:
    """Return whether an array is an index, or has a dtype that only pandas knows."""
    if dims == (name,) or any(name in levels for levels in labels.frame.index.values()):
        return True
    description = labels.find(name)
    return description is not None and len(dims) == 1 and not is_numpy_dtype(description.dtype)


def _dtype_of(info: ArrayInfo, name: str, labels: DatasetLabels) -> np.dtype[Any]:
    """Return the dtype of an array before it is read; of text, whose length nobody knows yet, it is that of objects."""
    if info.dtype in ("string", "generic") or (labels.find(name) is not None and labels.get(name).dtype == "object"):
        return np.dtype(object)
    return np.dtype(dtypes.from_name(info.dtype).numpy)
