"""Reads the arrays of a file one at a time, so long as the file is unchanged; says what is known before reading."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import api, dtypes
from ..api.datasets import scan_with_labels
from ..columns import ArrayInfo
from ..dtypes import Array
from ..errors import FormatError, NotFoundError, system_error
from ..files import file_version, is_url
from ..formats import format_of
from ..labels import DatasetLabels, is_numpy_dtype


@dataclass(frozen=True, slots=True)
class ArrayReader:
    """A file of arrays that is opened again for each read, so long as it is unchanged."""

    path: str | os.PathLike[str]  # an absolute path, since a cluster's workers are started in other folders; or a URL
    format: str | None  # the name of a format; None chooses it by the suffix
    options: Mapping[str, Any] = field(default_factory=dict)  # for reading
    state: tuple[Any, ...] | None = None  # the version of the file when it was opened; None for a service

    def check_unchanged(self) -> None:
        """Refuse a file that has been saved again.

        Raises:
            FileNotFoundError: it is gone.
            FormatError: it is another one than when it was opened.
        """
        version = version_of(self.path)
        if version is None and self.state is not None:
            raise system_error(errno.ENOENT, self.path)
        if version != self.state:
            raise FormatError(
                "the file has changed since it was opened", source=os.fspath(self.path), hint="open it again"
            )

    def read(self, names: list[str] | None) -> dict[str, Array]:
        """Read arrays by name; all of them for None.

        Raises:
            FileNotFoundError: the file is gone.
            FormatError: as `sheetarray.read`, or the file is another one than when it was opened.
        """
        self.check_unchanged()
        return api.read(self.path, names, format=self.format, **self.options)

    def element_reader(self) -> Callable[..., Array | None] | None:
        """Return the adapter's function that reads some elements alone; None without one, or with options."""
        try:
            return None if self.options else format_of(self.path, self.format).function("read_elements")
        except NotFoundError:
            return None

    def read_rows(self, name: str, shape: tuple[int, ...], start: int, stop: int) -> Array | None:
        """Read rows that lie one after the other in the file; None if the whole array has to be read.

        Raises:
            FileNotFoundError: the file is gone.
            FormatError: it is another one than when it was opened.
        """
        self.check_unchanged()
        read_elements = self.element_reader()
        if read_elements is None:
            return None
        beside = math.prod(shape[1:])
        elements = read_elements(self.path, name, start * beside, stop * beside)
        return None if elements is None else elements.reshape(-1, *shape[1:])


def scan_arrays(
    path: str | os.PathLike[str], format: str | None, options: Mapping[str, Any]
) -> tuple[Mapping[str, ArrayInfo], DatasetLabels]:
    """Return the infos of the arrays of a file, and their labels.

    Raises:
        FormatError: as `sheetarray.scan`, or the file has an ordinary table and no arrays.
    """
    infos, labels = scan_with_labels(path, format, options)
    if getattr(infos, "dialect", None) is not None:
        api.read(path, format=format, **options)  # refuses an ordinary table, which `scan` takes
    return infos, labels or DatasetLabels()


def from_root(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return the absolute path, which means the same file in every process; a URL as it is."""
    return path if is_url(path) else os.path.abspath(path)


def version_of(path: str | os.PathLike[str]) -> tuple[Any, ...] | None:
    """Return a value that changes with a file; None for a service, and for a `RemoteFile`, which checks it itself."""
    return None if is_url(path) else file_version(path)


def is_read_at_once(name: str, dims: tuple[str, ...], labels: DatasetLabels) -> bool:
    """Return whether an array is an index, or has a dtype that only pandas knows."""
    if dims == (name,) or any(name in levels for levels in labels.frame.index.values()):
        return True
    description = labels.find(name)
    return description is not None and len(dims) == 1 and not is_numpy_dtype(description.dtype)


def dtype_before_reading(info: ArrayInfo, name: str, labels: DatasetLabels) -> np.dtype[Any]:
    """Return the dtype of an array before it is read; for text, whose length is not known yet, it is `object`."""
    if info.dtype in ("string", "generic") or (labels.find(name) is not None and labels.get(name).dtype == "object"):
        return np.dtype(object)
    return np.dtype(dtypes.from_name(info.dtype).numpy)
