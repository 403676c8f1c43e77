"""MaskedArray, BitMaskedArray and IndexedMaskedArray -> arrays with missing elements.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/awkward0/array/masked.py.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ...errors import FormatError
from .builder import Builder
from .packages import AwkwardLayout


def masked_array(build: Builder, mask: Any, content: Any, maskedwhen: Any = True) -> AwkwardLayout:
    """`MaskedArray(mask, content, maskedwhen)`; the content may be longer than the mask."""
    inner = build.to_layout(content, "content")
    valid = not build.to_flag(maskedwhen, "maskedwhen")
    flags = build.to_array(mask, "mask")
    if flags.ndim != 1 or flags.dtype.kind not in "biuf":
        raise FormatError(f"a mask of the dtype {flags.dtype} and {flags.ndim} dimensions; bools are expected")
    if len(flags) > inner.length:
        raise FormatError(f"a mask of {len(flags)} elements for a content of {inner.length}")
    build.budget.take(len(flags), "a mask")
    bytewise = build.ak.index.Index8((flags != 0).view(np.int8))
    return build.check_measured(build.simplifying_class("ByteMaskedArray", bytewise, inner, valid))


def bit_masked_array(
    build: Builder,
    mask: Any,
    content: Any,
    maskedwhen: Any = True,
    lsborder: Any = False,
) -> AwkwardLayout:
    """`BitMaskedArray(mask, content, maskedwhen, lsborder)`, as long as its content."""
    inner = build.to_layout(content, "content")
    valid = not build.to_flag(maskedwhen, "maskedwhen")
    lowest_first = build.to_flag(lsborder, "lsborder")
    array = build.to_array(mask, "mask")
    if array.ndim != 1 or array.dtype.kind not in "biu":
        raise FormatError(f"a mask of the dtype {array.dtype} and {array.ndim} dimensions; bytes are expected")
    bits = np.ascontiguousarray(array).view(np.uint8)
    needed = -(-inner.length // 8)
    if len(bits) < needed:
        raise FormatError(f"a mask of {len(bits)} bytes for a content of {inner.length} elements")
    packed = build.ak.index.IndexU8(bits[:needed])
    return build.check_measured(
        build.simplifying_class("BitMaskedArray", packed, inner, valid, inner.length, lowest_first)
    )


def indexed_masked_array(build: Builder, mask: Any, content: Any, maskedwhen: Any = -1) -> AwkwardLayout:
    """`IndexedMaskedArray(mask, content, maskedwhen)`: an index, and the number in it that means missing."""
    inner = build.to_layout(content, "content")
    missing = build.to_integer(maskedwhen, "maskedwhen")
    array = build.to_array(mask, "mask")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise FormatError(f"a mask of the dtype {array.dtype} and {array.ndim} dimensions; integers are expected")
    build.budget.take(9 * len(array), "a mask")
    absent = array == missing
    index = build.to_integers(np.where(absent, 0, array), "mask", max(inner.length, int(absent.all())), dimensions=1)
    index[absent] = -1
    return build.check_measured(build.simplifying_class("IndexedOptionArray", build.to_index(index), inner))


def masked_array_from_content(build: Builder, content: Any, maskedwhen: Any = True) -> AwkwardLayout:
    """`MaskedArray.fromcontent(content, maskedwhen)`: nothing is missing."""
    inner = build.to_layout(content, "content")
    build.to_flag(maskedwhen, "maskedwhen")
    build.budget.take(inner.length, "a mask")
    return masked_array(build, np.zeros(inner.length, np.bool_), inner, True)


def bit_masked_array_from_bools(
    build: Builder, mask: Any, content: Any, maskedwhen: Any = True, lsborder: Any = False
) -> AwkwardLayout:
    """`BitMaskedArray.fromboolmask(mask, content, maskedwhen, lsborder)`."""
    flags = build.to_array(mask, "mask")
    if flags.ndim != 1 or flags.dtype.kind not in "biu":
        raise FormatError(f"a mask of the dtype {flags.dtype} and {flags.ndim} dimensions; bools are expected")
    order: Literal["little", "big"] = "little" if build.to_flag(lsborder, "lsborder") else "big"
    build.budget.take(2 * len(flags), "a mask")
    return bit_masked_array(build, np.packbits(flags != 0, bitorder=order), content, maskedwhen, lsborder)


def indexed_masked_array_from_content(build: Builder, content: Any, maskedwhen: Any = -1) -> AwkwardLayout:
    """`IndexedMaskedArray.fromcontent(content, maskedwhen)`: each element has its own place."""
    inner = build.to_layout(content, "content")
    build.budget.take(8 * inner.length, "a mask")
    return indexed_masked_array(build, np.arange(inner.length, dtype=np.int64), inner, maskedwhen)
