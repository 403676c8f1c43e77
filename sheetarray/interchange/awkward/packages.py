"""The packages that the extra `awkward` brings, loaded when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...errors import MissingDependencyError


def awkward_module() -> Any:
    """The package awkward.

    Raises:
        MissingDependencyError: it is not installed.
    """
    return _module("awkward", "Awkward arrays need awkward")


def h5py_module() -> Any:
    """The package h5py.

    Raises:
        MissingDependencyError: it is not installed.
    """
    return _module("h5py", "HDF5 files need h5py")


def _module(name: str, sentence: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(f"{sentence}: pip install 'sheetarray[awkward]'", name=name) from error
