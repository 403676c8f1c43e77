"""Arrays and Datasets that come block by block, until all of them are there; then they are written as always.

A target is so written whole or not at all, with checksums and labels, whatever its format; memory does not grow with
the arrays, as long as they are joined along their first or their last axis.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import DTypeError, LimitError, escape_controls
from ..linear.named import values_by_name
from ..values import is_of
from .spooled_array import SpooledArray


class Spool:
    """Blocks of arrays, which are joined along one axis.

    Blocks of a Dataset are joined along the dimension that is the axis of its data variables; variables without this
    dimension, and the attributes, are those of the first block.

    `append_axis`: along which blocks are joined; negative ones count from the last. `folder`: for the files; None for
    the system's temporary folder.

    Example:
        >>> with Spool(append_axis=0) as spool:
        ...     spool.append({"t": np.zeros((2, 3))})
        ...     spool.append({"t": np.ones((1, 3))})
        ...     spool.join()["t"].shape
        (3, 3)
    """

    def __init__(self, append_axis: int = 0, folder: str | os.PathLike[str] | None = None) -> None:
        if isinstance(append_axis, bool) or not isinstance(append_axis, int):
            raise TypeError(f"append_axis is an integer, not {append_axis!r:.80}")
        self._axis = append_axis
        self._folder = folder
        self._arrays: dict[str, SpooledArray] = {}
        self._first: Any = None  # the first block, if that is a Dataset
        self._dim: Any = None  # along which Datasets are joined
        self._is_broken = False

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        for array in self._arrays.values():
            array.close()
        self._arrays = {}

    def append(self, block: Any) -> None:
        """Add a block to each of some arrays; all of them are checked before the first is kept.

        `block`: arrays by name, as `write` takes them.
        """
        self._check_whole()
        if is_of(block, "xarray", "Dataset"):
            self._append_dataset(block)
            return
        if self._first is not None:
            raise ValueError("the first block was a Dataset, but this one is not")
        self._append({name: (value, self._axis) for name, value in values_by_name(block).items()})

    def _append(self, blocks: Mapping[str, tuple[Any, int]]) -> None:
        checked = []
        for name, (value, axis) in blocks.items():
            if not isinstance(value, np.ndarray):
                raise DTypeError(f"{name}: blocks are plain arrays, and this is of {type(value).__name__}")
            array = self._arrays.get(name) or SpooledArray(name, value, axis, self._folder)
            array.check(value)
            checked.append((array, value))
        try:
            for array, value in checked:
                self._arrays[array.name] = array
                array.append(value)
        except BaseException:  # such as a full disk: some of the arrays have the block, and others do not
            self._is_broken = True
            raise

    def _append_dataset(self, block: Any) -> None:
        if self._first is None and self._arrays:
            raise ValueError("the first block was no Dataset, but this one is")
        first = block if self._first is None else self._first
        dim = self._find_dimension(block) if self._first is None else self._dim
        joined = {name: variable for name, variable in block.variables.items() if dim in variable.dims}
        rest, first_rest = (dataset.drop_dims(dim, errors="ignore") for dataset in (block, first))
        dims, first_dims = ({name: v.dims for name, v in dataset.variables.items()} for dataset in (block, first))
        if dims != first_dims or not rest.identical(first_rest):
            raise ValueError(f"a block differs from the first one in more than what lies along {dim!r}")
        values = values_by_name({str(name): variable.values for name, variable in joined.items()})
        self._append({str(name): (values[str(name)], v.dims.index(dim)) for name, v in joined.items()})
        self._first, self._dim = first, dim

    def _find_dimension(self, block: Any) -> Any:
        """Return the dimension that is the axis of each data variable."""
        dims = set()
        for name, variable in block.data_vars.items():
            if not -variable.ndim <= self._axis < variable.ndim:
                message = f"{name}: {variable.ndim} dimensions, and no axis {self._axis} to be joined along"
                raise ValueError(escape_controls(message))
            dims.add(variable.dims[self._axis])
        if len(dims) != 1:
            names = ", ".join(sorted(map(str, dims))) or "none"
            raise ValueError(f"axis {self._axis} must be the same dimension of all data variables, but it is {names}")
        return dims.pop()

    def join(self) -> Any:
        """Return the arrays by name, mapped from their files, or the Dataset that they make up.

        Raises:
            LimitError: no block has come.
        """
        self._check_whole()
        if not self._arrays:
            raise LimitError("no block was appended: there is nothing to write")
        arrays = {name: array.join() for name, array in self._arrays.items()}
        if self._first is None:
            return arrays
        import xarray as xr

        variables = {
            name: xr.Variable(variable.dims, arrays.get(str(name), variable.values), variable.attrs, variable.encoding)
            for name, variable in self._first.variables.items()
        }
        coords = {name: variable for name, variable in variables.items() if name in self._first.coords}
        data = {name: variable for name, variable in variables.items() if name not in coords}
        return xr.Dataset(data, coords, self._first.attrs)

    def _check_whole(self) -> None:
        """Refuse to go on where a block was kept in part."""
        if self._is_broken:
            raise ValueError("a block was kept in part, because an append failed: begin again")

    def release(self) -> None:
        """Tell the system that what was mapped need not stay in memory."""
        for array in self._arrays.values():
            array.release()
