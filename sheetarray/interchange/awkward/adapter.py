"""`.awkd` files for `read`, `write`, `scan` and `check`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ... import dtypes
from ...adapters import EVERYTHING, Keeps, Progress
from ...arrays import default_name, select, values_by_name
from ...columns import ArrayInfo
from ...errors import Finding, FormatError, LimitError, noting
from ...files import Readable, Writable
from ...header import Order, contiguous_strides
from .archives import RAW, SCHEMA, ArchiveArrays, write_archive
from .blobs import awkward_module
from .constructors import WHITELIST
from .writing import COMPRESSION, plan

keeps_awkd = Keeps(EVERYTHING - {"generic"}, order=False)


def write_awkd(
    target: Writable,
    arrays: Any,
    *,
    compression: Any = COMPRESSION,
    pack: bool = True,
    progress: Progress | None = None,
) -> None:
    """Write awkward arrays, and NumPy arrays of at least one dimension, as an `.awkd` file.

    Args:
        target: a path, or a file opened for bytes. A file is replaced whole or not at all.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        compression: as for `serialize`.
        pack: leave out data that an array no longer uses, such as what it was sliced from.
        progress: a function, called with the number of elements written and the total.

    Raises:
        DTypeError: names the array that the protocol does not hold.
        LimitError: a name that no archive should have; before anything is written.
        MissingDependencyError: awkward is not installed.
        OSError: the file cannot be written; the old one stays.

    Example:
        >>> import io
        >>> import awkward as ak
        >>> file = io.BytesIO()
        >>> write_awkd(file, {"events": ak.Array([[1, 2], []])})
        >>> read_awkd(file)["events"].to_list()
        [[1, 2], []]
    """
    by_name = values_by_name(arrays, split=False)
    if "" in by_name:
        raise LimitError("the name '' is that of an archive's only array, which is read by the file's name: rename it")
    plans = [
        plan(value, name, suffix=RAW, schemasuffix=SCHEMA, compression=compression, pack=pack)
        for name, value in by_name.items()
    ]
    write_archive(target, plans, progress=progress)


def read_awkd(
    source: Readable,
    names: Sequence[str] | None = None,
    *,
    functions: Mapping[tuple[str, ...], Callable[..., Any]] | None = None,
    whitelist: Any = WHITELIST,
    errors: Literal["strict", "replace"] = "strict",
    max_bytes: int | None = None,
) -> dict[str, Any]:
    """Read the awkward arrays of an `.awkd` file.

    Args:
        source: a path or an open file.
        names: only these arrays are read; None for all. One without a name has the file's stem for a name.
        functions: as for `deserialize`, like `whitelist`, `errors` and `max_bytes`.

    Returns:
        An array by each name, in the order of the archive: an `ak.Array`, or a NumPy array where it was written as one,
        or by awkward0, which has nothing else for numbers.

    Raises:
        FormatError: with `.location`, the name of the schema and what is wrong in it.
        MissingDependencyError: awkward is not installed.
        NotFoundError: an array in `names` does not exist.
        OSError: the file does not exist, or cannot be read.

    Example:
        >>> import io
        >>> import awkward as ak
        >>> file = io.BytesIO()
        >>> write_awkd(file, {"events": ak.Array([[1, 2], []])})
        >>> read_awkd(file, ["events"])["events"].to_list()
        [[1, 2], []]
    """
    options = {"functions": functions, "whitelist": whitelist, "errors": errors, "max_bytes": max_bytes}
    with ArchiveArrays(source, plain=True, **options) as arrays:
        return {name: arrays[stored] for name, stored in select(_names(arrays), names).items()}


def _names(arrays: ArchiveArrays) -> dict[str, str]:
    """Return the names of arrays in the archive, by the names under which they are read."""
    names = {name or default_name(arrays.source): name for name in sorted(arrays, key=bool, reverse=True)}
    if not names:
        raise FormatError(f"no array here (no member that ends in {SCHEMA})", source=arrays.source)
    return names if len(names) == len(arrays) else {name: name for name in arrays}


def scan_awkd(source: Readable) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays; this reads the arrays.

    An array of numbers has its own shape and dtype. Any other has the number of entries as its shape, and the type of
    an entry, in awkward's words, as its dtype. Cells are the elements of its buffers in memory. The location is the
    member with the schema.

    Args:
        source: a path or an open file.

    Raises:
        FormatError: no such archive, or a broken array.
        OSError: the file does not exist, or cannot be read.
    """
    with ArchiveArrays(source, plain=True) as arrays:
        return {name: _info(arrays[stored], arrays.member(stored)) for name, stored in _names(arrays).items()}


def _info(array: Any, location: str) -> ArrayInfo:
    order: Order = "row-major"
    numbers = array if isinstance(array, np.ndarray) else array.layout.data if array.layout.is_numpy else None
    if numbers is None:
        shape, dtype = (len(array),), str(array.type.content)
        cells = sum(np.size(buffer) for buffer in awkward_module().to_buffers(array)[2].values())
    else:
        dtype = "bytes" if numbers.dtype.kind == "S" else dtypes.from_numpy(numbers.dtype).name
        shape, cells = numbers.shape, numbers.size
    return ArrayInfo(shape, dtype, order, contiguous_strides(shape, order), location, cells=cells, capacity=cells)


def check_awkd(source: Readable) -> Iterator[Finding]:
    """Yield every finding: at most one for each array, and one for the archive; nothing for an intact one.

    Args:
        source: a path or an open file.
    """
    findings: list[Finding] = []
    with noting(findings), ArchiveArrays(source, plain=True) as arrays:
        for name, stored in _names(arrays).items():
            with noting(findings, array=name):
                arrays[stored]
    yield from findings
