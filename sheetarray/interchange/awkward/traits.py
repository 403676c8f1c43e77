"""Traits of layouts: noted when an array is written, and given back to the array that is read.

awkward0 has no lists of one size, no tuples, no parameters and no arrays without a type: what it has instead is read as
that, and then becomes what it was. Where it cannot have been that, the file is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import FormatError
from .builder import Builder
from .layouts import field_name, to_block
from .metadata import Traits, check_form, check_plain_json
from .package import AwkwardLayout
from .utf8_texts import CHARACTERS, TEXTS

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
    """Return the parameters of the contents of a block, from the outside in."""
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
