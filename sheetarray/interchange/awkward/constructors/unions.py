"""UnionArray, ChunkedArray and AppendableArray -> unions, and arrays put one after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dtypes import Array
from ....errors import FormatError
from ..builder import (
    Builder,
    describe_plain_value,
)
from ..package import AwkwardLayout
from .indexed import EXACT

_MOST_VARIANTS = 128  # tags are of 8 bits


def union_array(build: Builder, tags: Any, index: Any, contents: Any) -> AwkwardLayout:
    """`UnionArray(tags, index, contents)`."""
    variants = _to_variants(build, contents)
    which = build.to_integers(tags, "tags", len(variants))
    where = build.to_integers(index, "index")
    if len(where) < len(which) or where.shape[1:] != which.shape[1:]:
        raise FormatError(f"the tags have the shape {which.shape}, but the index has {where.shape}")
    flat = _unite(build, which.reshape(-1), where[: len(which)].reshape(-1), variants)
    return build.check_measured(build.to_regular(flat, which.shape))


def union_array_from_tags(build: Builder, tags: Any, contents: Any) -> AwkwardLayout:
    """`UnionArray.fromtags(tags, contents)`: the elements of each content follow each other."""
    variants = _to_variants(build, contents)
    which = build.to_integers(tags, "tags", len(variants))
    flat = which.reshape(-1)
    build.budget.take(flat.nbytes + len(variants) * len(flat), "an index")
    united = _unite(build, flat, _count_within(flat, len(variants)), variants)
    return build.check_measured(build.to_regular(united, which.shape))


def _to_variants(build: Builder, contents: Any) -> list[AwkwardLayout]:
    variants = [build.to_layout(content, "a content") for content in build.to_sequence(contents, "contents")]
    if not 0 < len(variants) <= _MOST_VARIANTS:
        raise FormatError(f"a union of {len(variants)} contents; awkward 2 has unions of 1 to {_MOST_VARIANTS}")
    return variants


def _count_within(tags: Array, count: int) -> Array:
    """Return for each element how many before it have the same tag."""
    places = np.zeros(len(tags), np.int64)
    for tag in range(count):
        here = tags == tag
        places[here] = np.arange(np.count_nonzero(here))
    return places


def _unite(build: Builder, tags: Array, index: Array, contents: Sequence[AwkwardLayout]) -> AwkwardLayout:
    """Return the layout of a union of contents of any kind; unions and indices in them are resolved."""
    build.budget.take(len(contents) * len(tags) + 16 * len(tags), "a union")
    which, where = np.zeros(len(tags), np.int64), np.zeros(len(tags), np.int64)
    variants: list[AwkwardLayout] = []
    for tag, content in enumerate(contents):
        here = tags == tag
        places = index[here]
        if len(places) and int(places.max()) >= content.length:
            raise FormatError(f"index {places.max()} with tag {tag}, whose content has {content.length} elements")
        if content.is_indexed and not content.is_option and content.parameter("__array__") != "categorical":
            places, content = np.asarray(content.index)[places], content.content
        which[here], where[here] = len(variants), places
        if content.is_union:
            which[here] += np.asarray(content.tags)[places]
            where[here] = np.asarray(content.index)[places]
            variants += content.contents
        else:
            variants.append(content)
    if len(variants) > _MOST_VARIANTS:
        raise FormatError(f"a union of {len(variants)} contents; awkward 2 has at most {_MOST_VARIANTS}")
    if len(variants) == 1:
        return build.simplifying_class("IndexedArray", build.to_index(where), variants[0])
    if any(variant.is_option for variant in variants):
        unmasked = build.ak.contents.UnmaskedArray
        variants = [variant if variant.is_option else unmasked(variant) for variant in variants]
    return _merge_similar(build, build.ak.index.Index8(which.astype(np.int8)), build.to_index(where), variants)


def _merge_similar(build: Builder, tags: Any, index: Any, variants: list[AwkwardLayout]) -> AwkwardLayout:
    """Return a union. awkward may merge similar contents, such as integers and floats, if no value changes."""
    plain: AwkwardLayout = build.ak.contents.UnionArray(tags, index, variants)
    build.check_measured(plain)
    build.budget.take(2 * plain.nbytes, "a union")
    buffers = build.ak.to_buffers(plain)[2]
    numbers = [np.asarray(buffer) for name, buffer in buffers.items() if name.endswith("data")]
    times = {array.dtype for array in numbers if array.dtype.kind in "mM"}
    wide = [array for array in numbers if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size]
    if len(times) > 1 or any(int(array.max()) > EXACT or int(array.min()) < -EXACT for array in wide):
        return plain
    union: AwkwardLayout = build.ak.contents.UnionArray.simplified(tags, index, variants)
    return union


def chunked_array(build: Builder, chunks: Any, chunksizes: Any = ()) -> AwkwardLayout:
    """`ChunkedArray(chunks, chunksizes)`; where chunks began is lost."""
    layouts = [build.to_layout(chunk, "a chunk") for chunk in build.to_sequence(chunks, "chunks")]
    sizes = build.to_sequence(chunksizes, "chunksizes")
    if len(sizes) > len(layouts):
        raise FormatError(f"{len(sizes)} chunksizes for {len(layouts)} chunks")
    for number, (size, layout) in enumerate(zip(sizes, layouts, strict=False)):
        if build.to_integer(size, "chunksizes") != layout.length:
            raise FormatError(f"chunk {number} has {layout.length} elements; chunksizes has {size}")
    filled = [layout for layout in layouts if layout.length] or layouts[:1]
    return build.check_measured(_concatenate(build, filled)) if filled else build.ak.contents.EmptyArray()


def _concatenate(build: Builder, layouts: list[AwkwardLayout]) -> AwkwardLayout:
    """Return layouts one after the other: those of one type together, and a union of the types."""
    build.budget.take(sum(build.check_measured(layout).nbytes for layout in layouts), "chunks, one after the other")
    groups: list[tuple[Any, list[AwkwardLayout]]] = []  # not a dict: types have no hash
    kinds = np.empty(len(layouts), np.int64)
    for number, layout in enumerate(layouts):
        kind = layout.form.type
        kinds[number] = next((index for index, (other, _) in enumerate(groups) if other == kind), len(groups))
        if kinds[number] == len(groups):
            groups.append((kind, []))
        if len(groups) > _MOST_VARIANTS:
            raise FormatError(f"the chunks have more than {_MOST_VARIANTS} types")
        groups[kinds[number]][1].append(layout)
    joined = [
        group[0] if len(group) == 1 else build.ak.concatenate(group, axis=0, highlevel=False) for _, group in groups
    ]
    if len(joined) == 1:
        return joined[0]
    tags = np.repeat(kinds, [layout.length for layout in layouts])
    build.budget.take(2 * tags.nbytes, "chunks of several types")
    return _unite(build, tags, _count_within(tags, len(groups)), joined)


def appendable_array(build: Builder, chunkshape: Any, dtype: Any, chunks: Any = ()) -> AwkwardLayout:
    """`AppendableArray(chunkshape, dtype, chunks)`: chunks of one dtype; the last may be shorter."""
    shape = chunkshape if isinstance(chunkshape, (list, tuple)) else [chunkshape]
    if not shape or any(build.to_integer(size, "chunkshape") <= 0 for size in shape):
        raise FormatError(f"the chunkshape {chunkshape!r:.80}; it has numbers above 0")
    if not isinstance(dtype, np.dtype) or dtype.subdtype is not None:
        raise FormatError(f"dtype is {describe_plain_value(dtype)}, not a dtype of elements")
    native = dtype.newbyteorder("=")
    arrays = [build.to_array(chunk, "a chunk") for chunk in build.to_sequence(chunks, "chunks")]
    for array in arrays:
        if array.dtype != native or array.shape[1:] != tuple(shape[1:]):
            raise FormatError(
                f"a chunk has the dtype {array.dtype} and the shape {array.shape}, but dtype is {dtype} "
                f"and chunkshape {chunkshape!r:.80}"
            )
    build.budget.take(sum(array.nbytes for array in arrays), "chunks, one after the other")
    if not arrays:
        build.budget.take(8 * math.prod(shape[1:]), "a chunkshape")
        arrays = [np.empty((0, *shape[1:]), native)]
    return build.to_layout(np.concatenate(arrays), "chunks")
