"""Traits of layouts: taken from what is written, and given back to what is read; and arrays of NumPy.

awkward0 has no lists of one size, no tuples, no parameters and no arrays without a type: what it has instead is read as
that, and then becomes what it was. Where it cannot have been that, the file is wrong. n-d arrays of numbers and times
are stored as they are; text becomes strings, and bytes bytestrings, in lists of one size, and the metadata say which
dtype they had.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import FormatError
from .blobs import AwkwardLayout
from .builder import Builder
from .layouts import CHARACTERS, TEXTS, WIDE, decode_utf8, field_name, text_lengths, to_block
from .schema import Traits, check_form, check_plain_json

# Traits of layouts ----------------------------------------------------------------------------------------------------

_CATEGORICAL = "categorical"


def traits_of(layout: AwkwardLayout) -> Traits:
    """Return the traits of a layout that awkward0 does not have."""
    is_text = layout.parameter("__array__") in TEXTS
    parameters = _own_traits(layout, drop=is_text)
    if layout.is_unknown or (layout.is_union and not layout.length):
        return Traits(empty=check_plain_json(layout.form.to_dict(verbose=False), "a form"))
    if is_text:
        size = layout.size if layout.is_regular else None
        return Traits(parameters, (_own_traits(layout.content, drop=True),), size)
    if layout.is_regular and to_block(layout) is not None:
        return Traits(parameters, tuple(_inner_traits(layout)))
    if layout.is_regular:
        return Traits(parameters, size=layout.size)
    if layout.is_numpy and 0 in layout.data.shape[1:]:
        return Traits(parameters, size=layout.data.shape[1])
    is_unmasked = type(layout).__name__ == "UnmaskedArray"
    return Traits(parameters, is_tuple=layout.is_record and layout.is_tuple, is_unmasked=is_unmasked)


def _own_traits(layout: AwkwardLayout, *, drop: bool) -> dict[str, Any]:
    """Return the parameters of a layout; with `drop` without what makes it text, which the expression says."""
    parameters = {
        name: value
        for name, value in layout.parameters.items()
        if value is not None and not (drop and name == "__array__")
    }
    for name, value in parameters.items():
        check_plain_json({name: value}, "the parameter")
    return parameters


def _inner_traits(layout: AwkwardLayout) -> list[dict[str, Any]]:
    """Return the parameters of what is in a block, from the outside in."""
    traits = []
    while layout.is_regular:
        layout = layout.content
        traits.append(_own_traits(layout, drop=False))
    return traits


def restore_traits(build: Builder, value: Any, traits: Traits) -> AwkwardLayout:
    """Return an array as it was before it was written, with the traits that awkward0 does not have."""
    layout = build.to_layout(value, "what the metadata speak of")
    try:
        layout_restored = _restore(build, layout, traits)
    except FormatError:
        raise
    except Exception as error:  # awkward's own checks, of what nobody but a hostile file would ask for
        reason = str(error).partition("\n")[0]
        raise FormatError(f"traits that this array cannot have ({reason:.200})") from error
    return build.check_measured(layout_restored)


def _restore(build: Builder, layout: AwkwardLayout, traits: Traits) -> AwkwardLayout:
    if traits.empty is not None:
        return _without_elements(build, layout, traits)
    text = layout.parameter("__array__") if layout.parameter("__array__") in TEXTS else None
    parameters = _check_restored(layout, traits.parameters, text)
    if traits.is_tuple:
        if not layout.is_record or layout.fields != [str(index) for index in range(len(layout.fields))]:
            raise FormatError("a tuple that is not a record of the fields 0, 1, ..")
        layout = build.ak.contents.RecordArray(layout.contents, None, length=layout.length)
    if traits.is_unmasked:
        if not layout.is_option or layout.is_indexed or np.asarray(layout.mask_as_bool(valid_when=False)).any():
            raise FormatError(
                "the description says that no element is missing; it has missing elements, or can have none"
            )
        layout = build.ak.contents.UnmaskedArray(layout.content[: layout.length])
    if traits.inner and text is not None:
        layout = _with_characters(build, layout, traits.inner)
    elif traits.inner:
        layout = _peel(build, layout, traits.inner)
    if traits.size is not None:
        layout = _with_size(build, layout, traits.size)
    return layout.copy(parameters=parameters)


def _check_restored(layout: AwkwardLayout, parameters: Mapping[str, Any], text: str | None) -> dict[str, Any]:
    """Return the parameters of a layout, where they do not turn it into something else."""
    kind = parameters.get("__array__")
    if text is not None:
        if kind is not None:
            raise FormatError(f"strings with another parameter __array__, {kind!r:.40}")
        return {**parameters, "__array__": text}
    if kind in TEXTS or kind in CHARACTERS.values() or (kind == _CATEGORICAL and not layout.is_indexed):
        raise FormatError(f"the parameter __array__ is {kind!r:.40}, which {type(layout).__name__} cannot have")
    if "__record__" in parameters:
        field_name(parameters["__record__"])
    return dict(parameters)


def _without_elements(build: Builder, layout: AwkwardLayout, traits: Traits) -> AwkwardLayout:
    if layout.length or traits != Traits(empty=traits.empty):
        raise FormatError(f"the array has {layout.length} elements, but should have none")
    check_form(traits.empty)
    form = build.ak.forms.from_dict(traits.empty)
    if not (form.is_unknown or form.is_union):
        raise FormatError("the form in the description must be unknown, or a union")
    return form.length_zero_array(highlevel=False)


def _with_characters(build: Builder, layout: AwkwardLayout, inner: tuple[Mapping[str, Any], ...]) -> AwkwardLayout:
    if len(inner) != 1 or "__array__" in inner[0]:
        raise FormatError("strings have the parameters of their characters, and no others within")
    parameters = {**layout.content.parameters, **inner[0]}
    content = build.ak.contents.NumpyArray(layout.content.data, parameters=parameters)
    return layout.copy(content=content)


def _peel(build: Builder, layout: AwkwardLayout, inner: tuple[Mapping[str, Any], ...]) -> AwkwardLayout:
    """Return lists of one size around numbers, made of an n-d block."""
    array: Array = np.asarray(layout.data) if layout.is_numpy else np.zeros(0)
    if not len(inner) < array.ndim or 0 in array.shape[1:]:
        raise FormatError(f"the description nests {len(inner)} lists, in an array of {array.ndim} dimensions")
    shape = array.shape
    peeled = build.ak.contents.NumpyArray(
        array.reshape(-1, *shape[len(inner) + 1 :]), parameters=_check_restored(layout, inner[-1], None)
    )
    for axis in range(len(inner), 0, -1):
        parameters = _check_restored(layout, inner[axis - 2], None) if axis > 1 else None
        length = math.prod(shape[:axis])
        peeled = build.ak.contents.RegularArray(peeled, shape[axis], length, parameters=parameters)
    return peeled


def _with_size(build: Builder, layout: AwkwardLayout, size: int) -> AwkwardLayout:
    """Return lists of one size."""
    if not layout.is_list or layout.is_regular:
        raise FormatError("the description has a size of lists, but the array has no lists")
    starts, stops = np.asarray(layout.starts), np.asarray(layout.stops)[: layout.length]
    if len(starts) and ((stops - starts) != size).any():
        raise FormatError(f"all lists must have the size {size}")
    content = layout.content[:0]
    if size and len(starts):
        if (starts[1:] != stops[:-1]).any():
            raise FormatError(f"lists of the size {size} must stand side by side")
        content = layout.content[int(starts[0]) : int(stops[-1])]
    return build.ak.contents.RegularArray(content, size, zeros_length=layout.length)


def name_record(build: Builder, layout: AwkwardLayout, name: str) -> AwkwardLayout:
    """Return the same records under a name, as older files have it; called "tuple", they have no field names."""
    if not layout.is_record:
        return layout
    is_tuple = name == "tuple" and layout.fields == [str(index) for index in range(len(layout.fields))]
    fields, named = (None, {}) if is_tuple else (layout.fields, {"__record__": field_name(name)})
    parameters = {**layout.parameters, **named}
    return build.ak.contents.RecordArray(layout.contents, fields, length=layout.length, parameters=parameters)


# Arrays of NumPy ------------------------------------------------------------------------------------------------------

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
