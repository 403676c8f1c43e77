"""The arrays of a large file, to be written elsewhere: they go piece by piece into files, and are mapped."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any

from .. import api, dtypes
from ..columns import ArrayInfo
from ..errors import DTypeError, NotFoundError
from ..labels import LabelledArrays, reading_labels
from ..registry import format_of
from ..spool import Spool
from .blocks import iter_blocks, lies_in_rows

LARGE_FILE = 2**26  # bytes
LONG_ARRAY = 2**20  # elements; of shorter ones alone the file is read at once
MOST_ARRAYS = 8  # of numbers, for each of which the file is read once
_BLOCK = 2**20  # elements
_KINDS = frozenset({"float", "int", "complex", "bool", "datetime", "timedelta"})


def read_in_pieces(
    source: Any,
    names: Sequence[str] | None,
    spool: Spool,
    *,
    format: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> LabelledArrays | None:
    """Return the arrays of a large file with their labels, as `read_labelled` does, those of numbers mapped.

    Memory does not grow with the file then. None where nothing is won, and `read_labelled` is to be called: the file
    is small, or no path, its format is read at once only, or it holds no long array, or more than a few.

    Args:
        source: the file.
        names: only these arrays; None for all.
        spool: keeps arrays until it is closed.
        format: instead of the suffix.
        progress: is called with the elements that have been read, and all of them.

    Raises:
        FormatError: as `read`.
    """
    if not isinstance(source, (str, os.PathLike)) or not os.path.isfile(source):
        return None
    if os.path.getsize(source) < LARGE_FILE or not _comes_in_pieces(source, format):
        return None
    with reading_labels() as description:
        infos = api.scan(source, format=format)
    wanted = list(infos) if names is None else list(dict.fromkeys([names] if isinstance(names, str) else names))
    if not infos.keys() >= {*wanted}:
        return None
    numbers = [name for name in wanted if _comes_in_rows(infos[name])]
    if len(numbers) > MOST_ARRAYS or all(math.prod(infos[name].shape) < LONG_ARRAY for name in numbers):
        return None
    rest = [name for name in wanted if name not in numbers]
    others = api.read_labelled(source, rest, format=format) if rest else LabelledArrays({}, description.get())
    total, done = sum(math.prod(infos[name].shape) for name in numbers), 0
    for name in numbers:
        rows = max(1, _BLOCK // math.prod(infos[name].shape[1:]))
        for block in iter_blocks(source, name, rows=rows, format=format):
            spool.append({name: block})
            done += block.size
            if progress is not None:
                progress(done, total)
    arrays = {**others, **spool.join()}
    spool.release()
    return LabelledArrays({name: arrays[name] for name in wanted}, others.labels)


def _comes_in_pieces(source: Any, format: str | None) -> bool:
    try:
        format_of(source, format).function("iter_elements")
    except NotFoundError:
        return False
    return True


def _comes_in_rows(info: ArrayInfo) -> bool:
    try:
        kind = dtypes.from_name(info.dtype).kind
    except DTypeError:
        return False  # an awkward array
    return kind in _KINDS and bool(info.shape) and lies_in_rows(info)
