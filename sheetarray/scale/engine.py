"""`xarray.open_dataset(path, engine="sheetarray")`: headers and indexes at once, other arrays when they are asked for.

xarray loads this module for its entry point alone; `read_dataset` is the same at once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Container, Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from ..api.datasets import read_dataset, warn_of_absent
from ..columns.blocks.plain_arrays import lies_in_rows
from ..dtypes import Array
from ..errors import FormatError, SheetArrayError
from ..formats import find_format, format_of, locate_place, read_head
from ..labels import build_dataset, name_dimensions
from .reader import ArrayReader, dtype_before_reading, from_root, is_read_at_once, scan_arrays, version_of

_DECODERS = (
    "mask_and_scale",
    "decode_times",
    "decode_timedelta",
    "use_cftime",
    "concat_characters",
    "decode_coords",
)


class SheetArrayBackend(BackendEntrypoint):
    """The engine `sheetarray` of xarray."""

    description = "Arrays in spreadsheets, CSV, JSON and Google Sheets (sheetarray)"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", *_DECODERS, "format", "storage_options")

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
            format: the name of a format; None chooses it by the suffix.
            storage_options: options of the file system of a URL.
            **options: options of the format, as for `sheetarray.read`; and xarray's decoders `mask_and_scale`,
                `decode_times`, `decode_timedelta`, `use_cftime`, `concat_characters` and `decode_coords`, which work as
                for a NetCDF file. Without them, values stay as they are: a cell holds a number or a date itself.

        Raises:
            FormatError: as `read_dataset`.
            TypeError: the format has no such option.

        Warns:
            SheetArrayWarning: as `read_dataset`.
        """
        decoders = {name: options.pop(name) for name in _DECODERS if name in options}
        if "names" in options:
            raise TypeError("open_dataset has no option 'names'; drop_variables= leaves out arrays")
        dropped = {drop_variables} if isinstance(drop_variables, str) else {*(drop_variables or ())}
        if isinstance(filename_or_obj, (str, os.PathLike)):
            dataset = _open_lazily(filename_or_obj, dropped, format, storage_options, options)
        else:
            dataset = read_dataset(filename_or_obj, format=format, storage_options=storage_options, **options)
            dataset = dataset.drop_vars(dropped, errors="ignore")
        return _decode(dataset, decoders)

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Return whether a path has a suffix, or is a URL, of one of the formats; or an open file begins as they do.

        Any text may be a table: of an open file, only one with the word `ndarray` near its beginning is meant. NetCDF
        and Zarr are left to xarray's own engines.
        """
        is_path = isinstance(filename_or_obj, (str, os.PathLike))
        if not is_path and not hasattr(filename_or_obj, "read"):
            return False
        try:
            row = format_of(filename_or_obj, reading=not is_path)
            if row.name in ("netcdf", "zarr"):
                return False
            return is_path or not row.text or b"ndarray" in (read_head(filename_or_obj) or b"").replace(b"\0", b"")
        except (SheetArrayError, TypeError, OSError):
            return False


def _open_lazily(
    source: str | os.PathLike[str],
    dropped: Container[str],
    format: str | None,
    storage_options: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> xr.Dataset:
    """Return the Dataset of a file; only its indexes are read now."""
    path = from_root(locate_place(source, storage_options, format, options.get("client")))
    find_format("read", path, format, options)
    file = ArrayReader(path, format, options, version_of(path))
    infos, labels = scan_arrays(path, format, options)
    warn_of_absent((name for name in labels.variables if name not in dropped), labels, infos)
    infos = {name: info for name, info in infos.items() if name not in dropped}
    dims = name_dimensions(infos, labels)
    at_once = [name for name in infos if is_read_at_once(name, dims[name], labels)]
    arrays: dict[str, Any] = {
        name: indexing.LazilyIndexedArray(
            LazyArray(file, name, info.shape, dtype_before_reading(info, name, labels), in_rows=lies_in_rows(info))
        )
        for name, info in infos.items()
    }
    return build_dataset(arrays | (file.read(at_once) if at_once else {}), labels, dims)


def _decode(dataset: xr.Dataset, decoders: Mapping[str, Any]) -> xr.Dataset:
    """Return a Dataset that is decoded by xarray's rules for NetCDF, as far as the caller asks for it."""
    chosen = {name: value for name, value in decoders.items() if value is not None and value is not False}
    if not chosen:
        return dataset
    if "use_cftime" in chosen:
        chosen.setdefault("decode_times", True)
    off = dict.fromkeys([name for name in _DECODERS if name != "use_cftime"], False)
    undecoded = [name for name, variable in dataset.variables.items() if not isinstance(variable.dtype, np.dtype)]
    decoded = xr.decode_cf(dataset.drop_vars(undecoded), **{**off, **chosen})  # it knows no dtypes of pandas
    coords = {name: dataset[name] for name in undecoded if name in dataset.coords}
    return decoded.assign_coords(coords).assign({name: dataset[name] for name in undecoded if name not in coords})


class LazyArray(BackendArray):
    """An array of a file, read when elements of it are asked for."""

    def __init__(
        self, file: ArrayReader, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], *, in_rows: bool
    ) -> None:
        self.file, self.name, self.shape, self.dtype, self._in_rows = file, name, shape, dtype, in_rows

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read_part)

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        """Read elements in a thread, for `Dataset.load_async`."""
        return await asyncio.to_thread(self.__getitem__, key)

    def _read_part(self, key: tuple[Any, ...]) -> Array:
        if self._in_rows and key and isinstance(key[0], slice) and key[0].step in (None, 1):
            start, stop, _ = key[0].indices(self.shape[0])
            is_part = stop - start < self.shape[0]
            rows = self.file.read_rows(self.name, self.shape, start, max(start, stop)) if is_part else None
            if rows is not None:
                self.file.check_unchanged()
                return np.asarray(rows[(slice(None), *key[1:])], dtype=self.dtype)
        array = self.file.read([self.name])[self.name]
        if array.shape != self.shape:
            raise FormatError(f"has the shape {array.shape} now, but had {self.shape} before", array=self.name)
        return np.asarray(array[key], dtype=self.dtype)
