"""`.awkd` files for `read`, `write`, `scan` and `check`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ... import dtypes
from ...columns import ArrayInfo
from ...errors import Finding, FormatError, LimitError, noting, while_few
from ...files import Readable, Writable
from ...formats.contract import EVERYTHING, Keeps, Progress
from ...linear.header import Order
from ...linear.named import default_name, select, values_by_name
from ...linear.resizing import contiguous_strides
from .archives.reading import RAW, SCHEMA, ArchiveArrays
from .archives.writing import write_archive
from .budget import check_steps
from .compression import COMPRESSION
from .constructors.by_name import WHITELIST
from .package import awkward_module
from .writing import plan

keeps_awkd = Keeps(EVERYTHING - {"generic"}, order=False, nested=True)


def write_awkd(
    target: Writable,
    arrays: Any,
    *,
    compression: Any = COMPRESSION,
    pack: bool = True,
    progress: Progress | None = None,
) -> None:
    """Write awkward arrays, and NumPy arrays of at least one dimension, as an `.awkd` file.

    `compression`: as for `serialize`. `pack`: leave out elements that an array no longer uses, such as those of a
    larger array that you sliced.
    """
    by_name = values_by_name(arrays, split=False)
    if "" in by_name:
        raise LimitError("the name '' is that of an archive's only array, which is read by the file's name: rename it")
    plans = [
        plan(value, name, suffix=RAW, schemasuffix=SCHEMA, compression=compression, pack=pack)
        for name, value in by_name.items()
    ]
    check_steps(planned.schema for planned in plans)
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
    """Return the arrays of an `.awkd` file by name. An array without a name takes the name of the file.

    Each array is an `ak.Array`, or a NumPy array if it was written from one. Plain numbers that awkward0 wrote are
    NumPy arrays, too. The options are those of `deserialize`; `max_bytes` is for all arrays together.
    """
    options = {"functions": functions, "whitelist": whitelist, "errors": errors, "max_bytes": max_bytes}
    with ArchiveArrays(source, plain=True, together=True, **options) as arrays:
        return {name: arrays[stored] for name, stored in select(_names(arrays), names).items()}


def _names(arrays: ArchiveArrays) -> dict[str, str]:
    """Return the names of arrays in the archive, by the names under which they are read."""
    names = {name or default_name(arrays.source): name for name in sorted(arrays, key=bool, reverse=True)}
    if not names:
        raise FormatError(f"no array here (no member that ends in {SCHEMA})", source=arrays.source)
    return names if len(names) == len(arrays) else {name: name for name in arrays}


def scan_awkd(source: Readable) -> dict[str, ArrayInfo]:
    """Return an `ArrayInfo` for each array. The arrays are read for this.

    For an array of numbers, it has the shape and the dtype. For any other array, the shape is the number of entries,
    and the dtype is awkward's name for the type of an entry. `cells` is the number of elements in the buffers.
    `location` is the member that holds the schema.
    """
    with ArchiveArrays(source, plain=True, together=True) as arrays:
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
    """Yield a finding for each array that cannot be read, or one for the file. An intact file has none."""
    findings: list[Finding] = []
    with noting(findings), ArchiveArrays(source, plain=True, together=True) as arrays:
        for name, stored in while_few(_names(arrays).items(), findings):
            with noting(findings, array=name):
                arrays[stored]
            if not arrays.may_go_on():
                break
    yield from findings
