"""The packages that the extra `awkward` brings, and lz4, loaded when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...errors import MissingDependencyError

AwkwardLayout = Any  # one of ak.contents, which has no types to check against


def awkward_module() -> Any:
    """Return the package awkward.

    Raises:
        MissingDependencyError: it is not installed.
    """
    return _module("awkward", "Awkward arrays need awkward", "'sheetarray[awkward]'")


def h5py_module() -> Any:
    """Return the package h5py.

    Raises:
        MissingDependencyError: it is not installed.
    """
    return _module("h5py", "HDF5 files need h5py", "'sheetarray[awkward]'")


def lz4_module(blob: str) -> Any:
    """Return the module lz4.block, which few files need.

    Args:
        blob: the name of what is compressed by it.

    Raises:
        MissingDependencyError: it is not installed.
    """
    return _module("lz4.block", f"the blob {blob!r:.80} is compressed by LZ4", "lz4")


def _module(name: str, sentence: str, install: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise MissingDependencyError(f"{sentence}: pip install {install}", name=package) from error
