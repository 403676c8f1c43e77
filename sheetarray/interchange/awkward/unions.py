"""UnionArray, ChunkedArray and AppendableArray -> unions, and arrays one after the other.

Sources: https://github.com/scikit-hep/awkward-0.x/blob/master/awkward0/array/union.py and chunked.py. awkward 2 merges
the parts of a union that have similar types, and integers with floats among them; here they are merged only where no
value changes. The boundaries of chunks are lost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import FormatError
from .builder import Builder, describe_value
from .packages import AwkwardLayout

_MOST_VARIANTS = 128  # tags are of 8 bits
_EXACT = 2**53  # integers up to it are floats too


def union_array(build: Builder, tags: Any, index: Any, contents: Any) -> AwkwardLayout:
    """`UnionArray(tags, index, contents)`."""
    variants = _variants(build, contents)
    which = build.to_integers(tags, "tags", len(variants))
    where = build.to_integers(index, "index")
    if len(where) < len(which) or where.shape[1:] != which.shape[1:]:
        raise FormatError(f"tags of the shape {which.shape} and an index of the shape {where.shape}")
    flat = union(build, which.reshape(-1), where[: len(which)].reshape(-1), variants)
    return build.check_measured(build.to_regular(flat, which.shape))


def union_array_from_tags(build: Builder, tags: Any, contents: Any) -> AwkwardLayout:
    """`UnionArray.fromtags(tags, contents)`: the elements of each content follow each other."""
    variants = _variants(build, contents)
    which = build.to_integers(tags, "tags", len(variants))
    flat = which.reshape(-1)
    build.budget.take(flat.nbytes + len(variants) * len(flat), "an index")
    where = np.zeros(len(flat), np.int64)
    for tag in range(len(variants)):
        here = flat == tag
        where[here] = np.arange(np.count_nonzero(here))
    return build.check_measured(build.to_regular(union(build, flat, where, variants), which.shape))


def _variants(build: Builder, contents: Any) -> list[AwkwardLayout]:
    variants = [build.to_layout(content, "a content") for content in build.to_sequence(contents, "contents")]
    if not 0 < len(variants) <= _MOST_VARIANTS:
        raise FormatError(f"a union of {len(variants)} contents; awkward 2 has unions of 1 to {_MOST_VARIANTS}")
    return variants


def union(build: Builder, tags: Array, index: Array, contents: Sequence[AwkwardLayout]) -> AwkwardLayout:
    """Return the layout of a union.

    Args:
        build: checks and pays.
        tags: which content each element is in.
        index: the index of each element in its content.
        contents: of any kind; unions and indices in them are resolved.

    Raises:
        FormatError: an index beyond its content, or more than 128 kinds of elements.
    """
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
    return _merge(build, build.ak.index.Index8(which.astype(np.int8)), build.to_index(where), variants)


def _merge(build: Builder, tags: Any, index: Any, variants: list[AwkwardLayout]) -> AwkwardLayout:
    """Return a union, with similar contents merged where that changes no value."""
    plain: AwkwardLayout = build.ak.contents.UnionArray(tags, index, variants)
    size = build.measure(plain).size
    build.budget.take(2 * size, "a union")
    leaves = _leaves(plain)
    times = {leaf.dtype for leaf in leaves if leaf.dtype.kind in "mM"}
    wide = [leaf for leaf in leaves if leaf.dtype.kind in "iu" and leaf.dtype.itemsize == 8 and leaf.size]
    if len(times) > 1 or any(int(leaf.max()) > _EXACT or int(leaf.min()) < -_EXACT for leaf in wide):
        return plain
    union: AwkwardLayout = build.ak.contents.UnionArray.simplified(tags, index, variants)
    return union


def _leaves(layout: AwkwardLayout) -> list[Array]:
    """Return the numbers in a layout."""
    if layout.is_numpy:
        return [np.asarray(layout.data)]
    inner = layout.contents if layout.is_record or layout.is_union else [layout.content]
    return [] if layout.is_unknown else [leaf for content in inner for leaf in _leaves(content)]


# Chunks --------------------------------------------------------------------------------------------------------------


def chunked_array(build: Builder, chunks: Any, chunksizes: Any = ()) -> AwkwardLayout:
    """`ChunkedArray(chunks, chunksizes)`."""
    layouts = [build.to_layout(chunk, "a chunk") for chunk in build.to_sequence(chunks, "chunks")]
    sizes = build.to_sequence(chunksizes, "chunksizes")
    if len(sizes) > len(layouts):
        raise FormatError(f"{len(sizes)} chunksizes for {len(layouts)} chunks")
    for index, (size, layout) in enumerate(zip(sizes, layouts, strict=False)):
        if build.to_integer(size, "chunksizes") != layout.length:
            raise FormatError(f"chunk {index} has {layout.length} elements; chunksizes has {size}")
    filled = [layout for layout in layouts if layout.length] or layouts[:1]
    return build.check_measured(_concatenate_as_union(build, filled)) if filled else build.ak.contents.EmptyArray()


def _concatenate_as_union(build: Builder, layouts: list[AwkwardLayout]) -> AwkwardLayout:
    build.budget.take(sum(build.measure(layout).size for layout in layouts), "chunks, one after the other")
    types: list[Any] = []
    kinds = np.empty(len(layouts), np.int64)
    for index, layout in enumerate(layouts):
        kind = layout.form.type
        if kind not in types:
            types.append(kind)
        if len(types) > _MOST_VARIANTS:
            raise FormatError(f"chunks of more than {_MOST_VARIANTS} types")
        kinds[index] = types.index(kind)
    joined = [
        _concatenate(build, [layouts[index] for index in np.flatnonzero(kinds == tag)]) for tag in range(len(types))
    ]
    if len(joined) == 1:
        return joined[0]
    tags = np.repeat(kinds, [layout.length for layout in layouts])
    build.budget.take(2 * tags.nbytes, "chunks of several types")
    where = np.zeros(len(tags), np.int64)
    for tag in range(len(types)):
        here = tags == tag
        where[here] = np.arange(np.count_nonzero(here))
    return union(build, tags, where, joined)


def _concatenate(build: Builder, layouts: list[AwkwardLayout]) -> AwkwardLayout:
    if len(layouts) == 1:
        return layouts[0]
    joined: AwkwardLayout = build.ak.concatenate(layouts, axis=0, highlevel=False)
    return joined


def appendable_array(build: Builder, chunkshape: Any, dtype: Any, chunks: Any = ()) -> AwkwardLayout:
    """`AppendableArray(chunkshape, dtype, chunks)`: chunks of one dtype, of which the last may be shorter."""
    shape = chunkshape if isinstance(chunkshape, (list, tuple)) else [chunkshape]
    if not shape or any(build.to_integer(size, "chunkshape") <= 0 for size in shape):
        raise FormatError(f"the chunkshape {chunkshape!r:.80}; it has numbers above 0")
    if not isinstance(dtype, np.dtype) or dtype.subdtype is not None:
        raise FormatError(f"dtype is {describe_value(dtype)}, not a dtype of elements")
    native = dtype.newbyteorder("=")
    arrays = [build.to_array(chunk, "a chunk") for chunk in build.to_sequence(chunks, "chunks")]
    for array in arrays:
        if array.dtype != native or array.shape[1:] != tuple(shape[1:]):
            raise FormatError(
                f"a chunk of the dtype {array.dtype} and the shape {array.shape}, where dtype is {dtype} "
                f"and chunkshape {chunkshape!r:.80}"
            )
    build.budget.take(sum(array.nbytes for array in arrays), "chunks, one after the other")
    if not arrays:
        build.budget.take(8 * math.prod(shape[1:]), "a chunkshape")
        arrays = [np.empty((0, *shape[1:]), native)]
    return build.to_layout(np.concatenate(arrays), "chunks")
