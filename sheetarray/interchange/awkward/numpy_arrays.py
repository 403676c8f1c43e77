"""Arrays of NumPy: their dtype is noted when they are written, and they are read as ndarrays again.

n-d arrays of numbers and times are stored as they are. Text becomes strings, and bytes become bytestrings, in lists of
one size; the metadata say which dtype they had.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import FormatError
from .builder import Builder
from .package import AwkwardLayout
from .utf8_texts import TEXTS, WIDE, decode_utf8, text_lengths

NUMBERS = "biufcmM"
_TEXT = re.compile(r"<U[1-9]\d{0,8}|\|S[1-9]\d{0,8}|T", re.ASCII)


def ndarray_of(value: Any) -> str | None:
    """Return the dtype of a plain array of NumPy, as the metadata say it; None for any other value."""
    if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray) or value.dtype.names is not None:
        return None
    kind = value.dtype.kind
    if kind == "T":
        return "T"
    return value.dtype.newbyteorder("<").str if kind in "US" else value.dtype.name if kind in NUMBERS else None


def plain_array(build: Builder, layout: AwkwardLayout, dtype: str) -> Array:
    """Return the array of NumPy that a layout was."""
    shape: tuple[int, ...] = (layout.length,)
    while layout.is_regular and layout.parameter("__array__") not in TEXTS:
        shape, layout = (*shape, layout.size), layout.content
    if layout.is_numpy and layout.parameter("__array__") is None:
        array: Array = np.asarray(layout.data)
        if array.dtype.name == dtype:
            return array[: math.prod(shape)].reshape(shape + array.shape[1:])
    elif layout.is_list and _TEXT.fullmatch(dtype):
        is_bytes = layout.parameter("__array__") == "bytestring"
        if layout.parameter("__array__") in TEXTS and is_bytes == dtype.startswith("|S"):
            return _texts(build, layout, dtype).reshape(shape)
    raise FormatError(f"an array of the type {layout.form.type!s:.80}, which cannot have the dtype {dtype!r:.40}")


def _texts(build: Builder, layout: AwkwardLayout, dtype: str) -> Array:
    packed = layout.to_ListOffsetArray64(True)
    offsets = np.asarray(packed.offsets)
    content = np.asarray(packed.content.data)[: offsets[-1]]
    build.budget.take(8 * len(offsets), "an array of text")
    if dtype == "T":
        return decode_utf8(offsets, content, padded=False)
    lasts = offsets[1:][np.diff(offsets) > 0] - 1
    wide = np.dtype(dtype).newbyteorder("=")
    is_bytes = wide.kind == "S"
    lengths = np.diff(offsets) if is_bytes else text_lengths(offsets, content)
    if not content[lasts].all() or int(lengths.max(initial=0)) > wide.itemsize // (1 if is_bytes else WIDE):
        raise FormatError(f"a text does not fit into {dtype!r:.40}: it ends with NUL, or is too long")
    build.budget.take(wide.itemsize * len(lengths), "an array of text")
    if not is_bytes:
        return decode_utf8(offsets, content).astype(wide)
    block = np.zeros((len(lengths), wide.itemsize), np.uint8)
    block[np.arange(wide.itemsize) < lengths[:, None]] = content
    return block.view(wide).reshape(-1)
