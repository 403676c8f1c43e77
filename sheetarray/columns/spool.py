"""Arrays that come block by block: kept in files without a name until all are there, then written as always.

A target is so written whole or not at all, with checksums and labels, whatever its format; memory does not grow with
the arrays, as long as they are joined along their first or their last axis.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterable, Mapping
from typing import IO, Any

import numpy as np

from ..dtypes import Array, Buffer
from ..elements import blank_missing, is_mostly_padding, to_variable_width
from ..errors import DTypeError, LimitError, escape_controls
from ..files import release_pages
from ..linear.named import values_by_name
from ..values import is_of

# Keeps the blocks of one array one after the other in a file without a name, in the order in which it will be
# written.
#
# So the array can be mapped and written like any other without ever being in memory. The file vanishes with the
# process.

_TEXTS_AT_ONCE = 2**16


class SpooledArray:
    """An array whose blocks are kept in a file.

    `first`: a block whose dtype and shape the others have to fit; it is not kept yet. `axis`: along which blocks are
    joined; negative ones count from the last. `folder`: for the file; None for the system's temporary folder.

    Raises:
        ValueError: blocks have no such axis.

    Example:
        >>> t = SpooledArray("t", np.zeros((1, 2)), 0, None)
        >>> t.append(np.zeros((1, 2)))
        >>> t.append(np.ones((2, 2)))
        >>> t.join().shape
        (3, 2)
        >>> t.close()
    """

    def __init__(self, name: str, first: Array, axis: int, folder: str | os.PathLike[str] | None) -> None:
        if not -first.ndim <= axis < first.ndim:
            message = f"{name}: a block of {first.ndim} dimensions has no axis {axis} (append_axis=)"
            raise ValueError(escape_controls(message))
        self.name = name
        self._axis = axis % first.ndim
        self._dtype = first.dtype
        self._beside = self._shape_beside(first)
        self._count = 0  # along the axis
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._texts: list[tuple[int, int]] = []  # of text: elements, and characters of each, block by block
        self._objects: list[Array] = []
        self._maps: list[mmap.mmap] = []

    @property
    def _last(self) -> bool:
        """Whether the array is joined along its last axis, and so lies in column-major order."""
        return self._axis > 0 and self._axis == len(self._beside)

    def _shape_beside(self, block: Array) -> tuple[int, ...]:
        shape: tuple[int, ...] = block.shape
        return shape[: self._axis] + shape[self._axis + 1 :]

    def check(self, block: Array) -> None:
        """Refuse a block that does not fit to the first one.

        Raises:
            DTypeError: its dtype is another one.
            ValueError: its shape is.
        """
        if self._dtype.kind in "UT":
            fits = block.dtype.kind in "UT"
        else:
            fits = block.dtype.newbyteorder("=") == self._dtype.newbyteorder("=")
        if not fits:
            raise DTypeError(f"{self.name}: a block of {block.dtype}, and the first one was of {self._dtype}")
        if block.ndim != len(self._beside) + 1 or self._shape_beside(block) != self._beside:
            shape = (*self._beside[: self._axis], "any", *self._beside[self._axis :])
            expected = f"({', '.join(map(str, shape))})"
            message = f"{self.name}: a block of the shape {block.shape}, and {expected} is expected"
            raise ValueError(escape_controls(message))

    def append(self, block: Array) -> None:
        """Keep a block."""
        self._count += block.shape[self._axis]
        slowest = block.T if self._last else np.moveaxis(block, self._axis, 0)
        if block.dtype.kind == "O":
            self._objects.append(slowest.copy())
            return
        if block.dtype.kind == "T":
            slowest = blank_missing(slowest)
            if slowest.dtype.kind == "T":
                slowest = slowest.astype(f"<U{max(map(len, slowest.ravel().tolist()), default=1) or 1}")
        native = np.ascontiguousarray(slowest, dtype=slowest.dtype.newbyteorder("="))
        if native.dtype.kind == "U":
            self._texts.append((native.size, native.dtype.itemsize // 4))
        self._file = self._file or self._new_file()
        self._file.write(native.reshape(-1).view(np.uint8).data)

    def _new_file(self) -> IO[bytes]:
        return tempfile.TemporaryFile(dir=self._folder, prefix=".sheetarray-")

    def join(self) -> Array:
        """Return the array that the blocks make up."""
        if self._dtype.kind == "O":
            joined = np.concatenate(self._objects)
        elif self._dtype.kind in "UT":
            joined = self._join_texts()
        else:
            joined = self._map(self._dtype.newbyteorder("="))
        slowest = (self._count, *(self._beside[::-1] if self._last else self._beside))
        whole = joined.reshape(slowest)
        return whole.T if self._last else np.moveaxis(whole, 0, self._axis)

    def _map(self, dtype: np.dtype[Any]) -> Array:
        if self._file is None or not self._file.tell():
            return np.zeros(0, dtype)
        self._file.flush()
        mapped = np.memmap(self._file, dtype=dtype, mode="r")
        self._maps.append(mapped._mmap)  # type: ignore[attr-defined]  # documented in numpy.memmap, but for its type
        return mapped

    def _join_texts(self) -> Array:
        """Return the texts of all blocks, as wide as the longest needs, or of variable width."""
        width = max((characters for _, characters in self._texts), default=1)
        raw = self._map(np.dtype(np.uint8))
        if all(characters == width for _, characters in self._texts):
            return raw.view(f"<U{width}")
        count = sum(count for count, _ in self._texts)
        if is_mostly_padding(count, width, len(raw) // 4):
            return to_variable_width([text for block in self._blocks_of_text(raw) for text in block.tolist()])
        with self._new_file() as widened:
            for block in self._blocks_of_text(raw):
                widened.write(block.astype(f"<U{width}").view(np.uint8).data)
            widened.flush()
            mapped = np.memmap(widened, dtype=f"<U{width}", mode="r")
        self._maps.append(mapped._mmap)  # type: ignore[attr-defined]  # as above
        return mapped

    def _blocks_of_text(self, raw: Array) -> Iterable[Array]:
        start = 0
        for count, characters in self._texts:
            for first in range(0, count, _TEXTS_AT_ONCE):
                size = 4 * characters * min(_TEXTS_AT_ONCE, count - first)
                yield raw[start : start + size].view(f"<U{characters}")
                start += size

    def release(self) -> None:
        """Tell the system that what was mapped need not stay in memory."""
        for mapped in self._maps:
            release_pages(mapped, 0, len(mapped))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


# Arrays and Datasets that come block by block, until all of them are there.


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


# Arrays of known lengths that come piece by piece, behind each other in one file without a name.
#
# When all pieces are there they are mapped: what reads them needs no more memory than it looks at. However many
# arrays there are, it is one file, which vanishes with the process.

MOST_BYTES = 2**43
"""The largest size of all arrays together; for a header that claims more no file is made before its cells were read."""
_ALIGNMENT = 64  # bytes


class NotInPiecesError(Exception):
    """Says that a file has to be read as a whole: an ordinary read raises the right error, or does not need pieces."""


class PiecedArrays:
    """Arrays of known dtypes and lengths, whose elements come in pieces.

    `sizes`: the dtype and the number of elements of each array, by name. `folder`: for the file; None for the system's
    temporary folder.

    Example:
        >>> with PiecedArrays({"t": (np.dtype("int16"), 3)}) as arrays:
        ...     arrays.append("t", np.array([1, 2], "int16"))
        ...     arrays.append("t", np.array([3], "int16"))
        ...     arrays.join()["t"].tolist()
        [1, 2, 3]
    """

    def __init__(
        self, sizes: Mapping[str, tuple[np.dtype[Any], int]], folder: str | os.PathLike[str] | None = None
    ) -> None:
        self._sizes = dict(sizes)
        self._starts: dict[str, int] = {}
        end = 0
        for name, (dtype, count) in self._sizes.items():
            self._starts[name] = end
            end += -(-dtype.itemsize * count // _ALIGNMENT) * _ALIGNMENT
        self._end = end
        self._counts = dict.fromkeys(self._sizes, 0)
        self._file = tempfile.TemporaryFile(dir=folder, prefix=".sheetarray-")  # noqa: SIM115  (closed by __exit__)
        self._map: mmap.mmap | None = None

    def __enter__(self) -> PiecedArrays:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()  # the map is closed when the last array that is a view on it is deleted

    def append(self, name: str, elements: Buffer) -> None:
        """Keep the next elements of an array.

        Raises:
            ValueError: they are of another dtype, or more than the array has.
            OSError: the system refuses.
        """
        dtype, count = self._sizes[name]
        done = self._counts[name]
        if elements.dtype != dtype or done + len(elements) > count:
            raise ValueError(f"{name}: {len(elements)} elements of {elements.dtype} after {done} of {count} of {dtype}")
        self._file.seek(self._starts[name] + done * dtype.itemsize)
        self._file.write(np.ascontiguousarray(elements).view(np.uint8).data)
        self._counts[name] = done + len(elements)

    def join(self) -> dict[str, Buffer]:
        """Return the arrays, which are mapped and read-only.

        Raises:
            ValueError: elements are missing.
        """
        for name, (_, count) in self._sizes.items():
            if self._counts[name] != count:
                raise ValueError(f"{name}: {self._counts[name]} of {count} elements have come")
        if not self._end:
            return {name: np.zeros(0, dtype) for name, (dtype, _) in self._sizes.items()}
        self._file.truncate(self._end)  # up to the end of the last array's room
        self._file.flush()
        self._map = mmap.mmap(self._file.fileno(), self._end, access=mmap.ACCESS_READ)
        return {
            name: np.frombuffer(self._map, dtype, count, self._starts[name])
            for name, (dtype, count) in self._sizes.items()
        }

    def release(self) -> None:
        """Tell the system that what was mapped need not stay in memory."""
        if self._map is not None:
            release_pages(self._map, 0, len(self._map))
