"""MaskedArray, BitMaskedArray and IndexedMaskedArray -> arrays with missing elements."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ....dtypes import Array
from ....errors import FormatError
from ..builder import (
    Builder,
)
from ..package import AwkwardLayout


def masked_array(build: Builder, mask: Any, content: Any, maskedwhen: Any = True) -> AwkwardLayout:
    """`MaskedArray(mask, content, maskedwhen)`; the content may be longer than the mask."""
    inner = build.to_layout(content, "content")
    valid = not build.to_flag(maskedwhen, "maskedwhen")
    flags = _to_mask(build, mask, "biuf", "bools")
    if len(flags) > inner.length:
        raise FormatError(f"the mask has {len(flags)} elements, but the content has only {inner.length}")
    build.budget.take(len(flags), "a mask")
    bytewise = build.ak.index.Index8((flags != 0).view(np.int8))
    return build.check_measured(build.simplifying_class("ByteMaskedArray", bytewise, inner, valid))


def bit_masked_array(
    build: Builder, mask: Any, content: Any, maskedwhen: Any = True, lsborder: Any = False
) -> AwkwardLayout:
    """`BitMaskedArray(mask, content, maskedwhen, lsborder)`, as long as its content."""
    inner = build.to_layout(content, "content")
    valid = not build.to_flag(maskedwhen, "maskedwhen")
    lowest_first = build.to_flag(lsborder, "lsborder")
    bits = np.ascontiguousarray(_to_mask(build, mask, "biu", "bytes")).view(np.uint8)
    needed = -(-inner.length // 8)
    if len(bits) < needed:
        raise FormatError(f"a mask of {len(bits)} bytes is too short for a content of {inner.length} elements")
    packed = build.ak.index.IndexU8(bits[:needed])
    return build.check_measured(
        build.simplifying_class("BitMaskedArray", packed, inner, valid, inner.length, lowest_first)
    )


def indexed_masked_array(build: Builder, mask: Any, content: Any, maskedwhen: Any = -1) -> AwkwardLayout:
    """`IndexedMaskedArray(mask, content, maskedwhen)`: an index, and the number in it that means missing."""
    inner = build.to_layout(content, "content")
    missing = build.to_integer(maskedwhen, "maskedwhen")
    array = _to_mask(build, mask, "iu", "integers")
    build.budget.take(9 * len(array), "a mask")
    absent = array == missing
    index = build.to_integers(np.where(absent, 0, array), "mask", max(inner.length, int(absent.all())), dimensions=1)
    index[absent] = -1
    return build.check_measured(build.simplifying_class("IndexedOptionArray", build.to_index(index), inner))


def masked_array_from_content(build: Builder, content: Any, maskedwhen: Any = True) -> AwkwardLayout:
    """`MaskedArray.fromcontent(content, maskedwhen)`: nothing is missing."""
    inner = build.to_layout(content, "content")
    build.budget.take(inner.length, "a mask")
    return masked_array(build, np.full(inner.length, not build.to_flag(maskedwhen, "maskedwhen")), inner, maskedwhen)


def bit_masked_array_from_content(
    build: Builder, content: Any, maskedwhen: Any = True, lsborder: Any = False
) -> AwkwardLayout:
    """`BitMaskedArray.fromcontent(content, maskedwhen, lsborder)`.

    Nothing is missing if `maskedwhen` is true; otherwise awkward0 sets one bit of each byte, and so does this.
    """
    inner = build.to_layout(content, "content")
    build.budget.take(inner.length, "a mask")
    fill = int(not build.to_flag(maskedwhen, "maskedwhen"))
    return bit_masked_array(build, np.full(-(-inner.length // 8), fill, np.uint8), inner, maskedwhen, lsborder)


def bit_masked_array_from_bool_mask(
    build: Builder, mask: Any, content: Any, maskedwhen: Any = True, lsborder: Any = False
) -> AwkwardLayout:
    """`BitMaskedArray.fromboolmask(mask, content, maskedwhen, lsborder)`."""
    flags = _to_mask(build, mask, "biuf", "bools")
    build.budget.take(2 * len(flags), "a mask")
    order: Literal["little", "big"] = "little" if build.to_flag(lsborder, "lsborder") else "big"
    return bit_masked_array(build, np.packbits(flags != 0, bitorder=order), content, maskedwhen, lsborder)


def indexed_masked_array_from_content(build: Builder, content: Any, maskedwhen: Any = -1) -> AwkwardLayout:
    """`IndexedMaskedArray.fromcontent(content, maskedwhen)`: all but the element of the number that means missing."""
    inner = build.to_layout(content, "content")
    build.budget.take(8 * inner.length, "a mask")
    return indexed_masked_array(build, np.arange(inner.length), inner, maskedwhen)


def _to_mask(build: Builder, mask: Any, kinds: str, expected: str) -> Array:
    array = build.to_array(mask, "mask")
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise FormatError(
            f"the mask has the dtype {array.dtype} and {array.ndim} dimensions, not 1 dimension of {expected}"
        )
    return array
