"""`CONSTRUCTORS`: the functions that a schema may name by default, and the layouts that they make.

Names are those of version 0.15, `awkward0`: what writers of the protocol have put into files since version 0.5. Not
here is what reads other files (`_ParquetFile`, `_LazyTree`), what executes (`topython`), and what no writer calls.
Source: https://github.com/scikit-hep/awkward-0.x/blob/master/awkward0/array.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from ...dtypes import Array
from ...errors import FormatError
from .blobs import AwkwardLayout, StoredBlob, parse_dtype, read_blob_elements
from .builder import (
    Builder,
    byte_jagged_array,
    byte_jagged_array_from_counts,
    byte_jagged_array_from_offsets,
    describe_plain_value,
    jagged_array,
    jagged_array_from_counts,
    jagged_array_from_folding,
    jagged_array_from_iter,
    jagged_array_from_jagged,
    jagged_array_from_local_index,
    jagged_array_from_offsets,
    jagged_array_from_parents,
    jagged_array_from_regular,
    jagged_array_from_uniques,
    string_array,
    string_array_from_counts,
    string_array_from_iter,
    string_array_from_jagged,
    string_array_from_numpy,
    string_array_from_offsets,
    string_array_from_parents,
    string_array_from_uniques,
    to_bytes_array,
)
from .functions import NamedFunction, Spec, call_function
from .layouts import field_name, packed_size

# MaskedArray, BitMaskedArray and IndexedMaskedArray -------------------------------------------------------------------


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


# IndexedArray, ByteIndexedArray and SparseArray -----------------------------------------------------------------------

_NUMBERS = "biufc"
_EXACT = 2**53  # integers up to it are floats too


def indexed_array(build: Builder, index: Any, content: Any) -> AwkwardLayout:
    """`IndexedArray(index, content)`; an index of more dimensions gives lists of one size."""
    inner = build.to_layout(content, "content")
    numbers = build.to_integers(index, "index", inner.length)
    layout = build.simplifying_class("IndexedArray", build.to_index(numbers.reshape(-1)), inner)
    return build.check_measured(build.to_regular(layout, numbers.shape))


def byte_indexed_array(build: Builder, index: Any, content: Any, dtype: Any) -> AwkwardLayout:
    """`ByteIndexedArray(index, content, dtype)`, of version 0.5: the index is where elements begin, in bytes."""
    if not isinstance(dtype, np.dtype) or not dtype.itemsize:
        raise FormatError(f"dtype is {describe_plain_value(dtype)}, not a dtype of some bytes")
    data = to_bytes_array(build, content)
    starts = build.to_integers(index, "index", max(len(data) - dtype.itemsize + 1, 0))
    build.budget.take(starts.size * dtype.itemsize * 9, "an index of bytes")
    places = starts.reshape(-1, 1) + np.arange(dtype.itemsize)
    array = read_blob_elements(StoredBlob("content", data[places]), dtype, starts.size, build.budget)
    return build.to_layout(array.reshape(starts.shape + array.shape[1:]), "content")


def sparse_array(build: Builder, length: Any, index: Any, content: Any, default: Any = None) -> AwkwardLayout:
    """`SparseArray(length, index, content, default)`: what the index does not name is the default, or 0.

    awkward 2 has no sparse arrays: they become dense, and their length is paid for like any other.
    """
    size = build.to_integer(length, "length")
    if size < 0:
        raise FormatError(f"the length is {size}, below 0")
    numbers = build.to_integers(index, "index", size, dimensions=1)
    if (numbers[1:] < numbers[:-1]).any():
        raise FormatError("the index must not decrease")
    first = np.ones(len(numbers), bool)
    first[1:] = numbers[1:] != numbers[:-1]  # of elements that are there twice, the first counts
    inner = build.to_array(content, "content")
    if len(numbers) > len(inner):
        raise FormatError(f"the index has {len(numbers)} elements, but the content has only {len(inner)}")
    return build.to_layout(_to_dense(build, size, numbers[first], inner[: len(numbers)][first], default), "content")


def _to_dense(build: Builder, size: int, index: Array, content: Array, default: Any) -> Array:
    if content.dtype.kind not in _NUMBERS:
        raise FormatError(f"a SparseArray of the dtype {content.dtype}: it must hold numbers")
    filling = np.asarray(False if default is None else default)
    if filling.dtype.kind not in _NUMBERS or filling.shape not in ((), content.shape[1:]):
        raise FormatError(f"the default is {describe_plain_value(default)}, not a number of 64 bits")
    dtypes = (content.dtype, np.result_type(content.dtype, filling.dtype))
    fitting = [dtype for dtype in dtypes if _holds_values(content, dtype) and _holds_values(filling, dtype)]
    if not fitting:
        raise FormatError(f"the default {default!r:.60} for a content of {content.dtype}, which no dtype holds both")
    build.budget.take(size * max(math.prod(content.shape[1:]), 1) * fitting[0].itemsize, "a sparse array")
    dense = np.empty((size, *content.shape[1:]), fitting[0])
    dense[...] = filling
    dense[index] = content
    return dense


def _holds_values(array: Array, dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype has all the values of an array of numbers."""
    kind: str = array.dtype.kind
    if dtype == array.dtype or not array.size or kind == "b":
        return True
    if kind in "iu":
        most = 2 ** (np.finfo(dtype).nmant + 1) if dtype.kind in "fc" else 0
        limits = np.iinfo(dtype) if dtype.kind in "iu" else None
        lowest, highest = (-most, most) if limits is None else (limits.min, limits.max)
        return bool(lowest <= int(array.min()) and int(array.max()) <= highest)
    if kind == "c" and dtype.kind != "c":
        return False
    if dtype.kind in "iu" and not bool((np.abs(array) <= _EXACT).all()):
        return False
    with np.errstate(all="ignore"):
        return bool(np.array_equal(array.astype(dtype), array, equal_nan=True))


# UnionArray, ChunkedArray and AppendableArray -------------------------------------------------------------------------

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
    """Return a union; awkward merges what is similar, as integers and floats, and may where that changes no value."""
    plain: AwkwardLayout = build.ak.contents.UnionArray(tags, index, variants)
    build.check_measured(plain)
    build.budget.take(2 * plain.nbytes, "a union")
    buffers = build.ak.to_buffers(plain)[2]
    numbers = [np.asarray(buffer) for name, buffer in buffers.items() if name.endswith("data")]
    times = {array.dtype for array in numbers if array.dtype.kind in "mM"}
    wide = [array for array in numbers if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size]
    if len(times) > 1 or any(int(array.max()) > _EXACT or int(array.min()) < -_EXACT for array in wide):
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


# Table ----------------------------------------------------------------------------------------------------------------


def table_from_pairs(build: Builder, pairs: Any, rowstart: Any = 0) -> AwkwardLayout:
    """`Table.frompairs(pairs, rowstart)`, as long as its shortest column; the first row's number is not kept."""
    build.to_integer(rowstart, "rowstart")
    columns: dict[str, AwkwardLayout] = {}
    for pair in build.to_sequence(pairs, "pairs"):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise FormatError(f"pairs has {describe_plain_value(pair)}, not a name and a column")
        name = field_name(pair[0])
        if name in columns:
            raise FormatError(f"two columns are named {name!r:.80}")
        columns[name] = build.to_layout(pair[1], f"the column {name!r:.80}")
    length = min((column.length for column in columns.values()), default=0)
    return build.check_measured(build.ak.contents.RecordArray(list(columns.values()), list(columns), length=length))


def table(build: Builder, columns1: Any = None, *columns2: Any, **columns3: Any) -> AwkwardLayout:
    """`Table(columns1, *columns2, **columns3)`: a dict of columns, or columns that are numbered; and others by name."""
    first = {} if columns1 is None else columns1
    if not isinstance(first, dict):
        first, columns2 = {str(number): column for number, column in enumerate((first, *columns2))}, ()
    if columns2:
        raise FormatError("a dict of columns, and more columns without names")
    return table_from_pairs(build, [*first.items(), *columns3.items()])


def table_named(build: Builder, rowname: Any, columns1: Any = None, *columns2: Any, **columns3: Any) -> AwkwardLayout:
    """`Table.named(rowname, columns1, *columns2, **columns3)`: a table whose rows have a name, which is not kept."""
    if not isinstance(rowname, str):
        raise FormatError(f"rowname is {describe_plain_value(rowname)}, not text")
    return table(build, columns1, *columns2, **columns3)


def table_from_rec(build: Builder, recarray: Any) -> AwkwardLayout:
    """`Table.fromrec(recarray)`: the fields of a structured array."""
    array = build.to_array(recarray, "recarray")
    if array.dtype.names is None:
        raise FormatError(f"recarray has the dtype {array.dtype}, without fields")
    return build.to_layout(array, "recarray")


def table_from_view(build: Builder, view: Any, base: Any) -> AwkwardLayout:
    """`Table.fromview(view, base)`: a slice (start, step, length) or an index of the columns, also of a view's."""
    table = build.to_layout(base, "base")
    if view is None:
        return table
    if table.is_indexed and not table.is_option:
        table = table.content
    if not table.is_record:
        raise FormatError(f"base is {describe_plain_value(base)}, not a table")
    if not isinstance(view, tuple):
        index = build.to_integers(view, "view", table.length, dimensions=1)
        return build.check_measured(build.ak.contents.IndexedArray(build.to_index(index), table))
    if len(view) != 3:
        raise FormatError(f"a view of {len(view)} numbers; a slice has a start, a step and a length")
    start, step, length = (build.to_integer(number, "view") for number in view)
    last = start + step * (length - 1)
    if length < 0 or (length and not (0 <= start < table.length and 0 <= last < table.length)):
        raise FormatError(f"the view {view!r:.80} leaves the table of {table.length} rows")
    if not length or step == 1:
        return build.check_measured(table[start if length else 0 : start + length if length else 0])
    build.budget.take(8 * length, "a view")
    index = start + step * np.arange(length, dtype=np.int64)
    return build.check_measured(build.ak.contents.IndexedArray(build.to_index(index), table))


# ObjectArray and VirtualArray -----------------------------------------------------------------------------------------
# awkward 2 has no arrays of Python objects. A function of the caller's takes the whole content of an ObjectArray, an
# `ak.Array`, and gives an array as long, for example `lambda content: ak.with_name(content, "Point")`. One for a
# VirtualArray gives its array, at once.


def object_array(build: Builder, content: Any, generator: Any, args: Any = (), kwargs: Any = None) -> AwkwardLayout:
    """`ObjectArray(content, generator, args, kwargs)`."""
    inner = build.to_layout(content, "content")
    layout = _generate(build, generator, (inner, *build.to_sequence(args, "args")), kwargs)
    if layout.length != inner.length:
        raise FormatError(f"{generator.name} gave an array of {layout.length} elements for {inner.length}")
    return layout


def virtual_array(
    build: Builder,
    generator: Any,
    args: Any = (),
    kwargs: Any = None,
    cache: Any = None,
    persistentkey: Any = None,
    type: Any = None,  # noqa: ARG001  (what the array says itself)
    nbytes: Any = None,  # noqa: ARG001  (the protocol's arguments)
    persistvirtual: Any = True,  # noqa: ARG001  (the same)
) -> AwkwardLayout:
    """`VirtualArray(generator, args, kwargs, cache=, persistentkey=, type=)`.

    An array that has a key is taken from the caller's cache, or put there.
    """
    keyed = cache is not None and isinstance(persistentkey, str)
    if keyed and persistentkey in cache:
        return build.to_layout(cache[persistentkey], "an array from the cache")
    arguments = args if isinstance(args, (list, tuple)) else (args,)
    layout = _generate(build, generator, tuple(arguments), kwargs)
    if keyed:
        cache[persistentkey] = build.ak.Array(layout)
    return layout


def json2type(build: Builder, obj: Any, whitelist: Any = None) -> Any:  # noqa: ARG001  (the same)
    """`awkward0.persist.json2type(obj)`: the type that a VirtualArray will have, which its array says itself."""
    return obj


def _generate(build: Builder, generator: Any, args: tuple[Any, ...], kwargs: Any) -> AwkwardLayout:
    if not isinstance(generator, NamedFunction):
        raise FormatError(f"the generator is {describe_plain_value(generator)}, not a function")
    keywords = {} if kwargs is None else kwargs
    if not isinstance(keywords, dict):
        raise FormatError(f"kwargs is {describe_plain_value(keywords)}, not a dict")
    value = call_function(build, generator, args, keywords)
    if isinstance(value, (np.ndarray, build.ak.Array, build.ak.contents.Content)):
        return build.to_layout(value, f"what {generator.name} gave")
    raise FormatError(f"{generator.name} gave {describe_plain_value(value)}, not an array")


# Vectors of uproot_methods --------------------------------------------------------------------------------------------
# Sources: https://github.com/scikit-hep/uproot3-methods, classes, which awkward0's own whitelist allows; and
# https://vector.readthedocs.io, whose names of records and fields these are: after `vector.register_awkward()` an array
# has `pt`, `eta`, `mass` and so on, whatever its coordinates are.

_VECTORS = {
    "TLorentzVector TLorentzVectorArray": "Momentum4D x y z t",
    "TLorentzVector TLorentzVectorArray from_cartesian": "Momentum4D x y z t",
    "TLorentzVector TLorentzVectorArray from_cylindrical": "Momentum4D rho phi z t",
    "TLorentzVector TLorentzVectorArray from_xyzm": "Momentum4D x y z mass",
    "TLorentzVector TLorentzVectorArray from_ptetaphi": "Momentum4D pt eta phi energy",
    "TLorentzVector TLorentzVectorArray from_ptetaphie": "Momentum4D pt eta phi energy",
    "TLorentzVector TLorentzVectorArray from_ptetaphim": "Momentum4D pt eta phi mass",
    "TLorentzVector PtEtaPhiMassLorentzVectorArray": "Momentum4D pt eta phi mass",
    "TVector3 TVector3Array": "Vector3D x y z",
    "TVector3 TVector3Array from_cartesian": "Vector3D x y z",
    "TVector3 TVector3Array from_cylindrical": "Vector3D rho phi z",
    "TVector2 TVector2Array": "Vector2D x y",
    "TVector2 TVector2Array from_cartesian": "Vector2D x y",
    "TVector2 TVector2Array from_polar": "Vector2D rho phi",
}


def _vectors(name: str, *fields: str) -> Callable[..., AwkwardLayout]:
    def vectors(build: Builder, *components: Any) -> AwkwardLayout:
        if len(components) != len(fields):
            raise FormatError(f"{len(components)} components, where {', '.join(fields)} are expected")
        layouts = [build.to_layout(value, field) for field, value in zip(fields, components, strict=True)]
        if len({layout.length for layout in layouts}) > 1 or len({layout.purelist_depth for layout in layouts}) > 1:
            raise FormatError("the components differ in length or in how deep their lists go")
        for layout in layouts:
            build.budget.take(packed_size(layout), "components, put side by side")
        try:
            vector = build.ak.zip(dict(zip(fields, layouts, strict=True)), with_name=name, highlevel=False)
        except Exception as error:  # awkward has errors of many classes for what it cannot put side by side
            raise FormatError("components whose lists have different lengths, or are not lists of numbers") from error
        return build.check_measured(vector)

    return vectors


# The table of names ---------------------------------------------------------------------------------------------------


def frombuffer(build: Builder, buffer: Any, dtype: Any = "float64", count: Any = None, offset: Any = 0) -> Array:
    """`numpy.frombuffer(buffer, dtype, count, offset)`; the buffer has exactly the bytes of so many elements."""
    if isinstance(buffer, (bytes, bytearray, memoryview, np.ndarray)):
        buffer = StoredBlob("buffer", buffer)
    if not isinstance(buffer, StoredBlob):
        raise FormatError(f"the buffer is {describe_plain_value(buffer)}, not a blob")
    if not isinstance(dtype, np.dtype):
        dtype = parse_dtype(dtype)
    number = None if count is None else build.to_integer(count, "count")
    first = build.to_integer(offset, "offset")
    if first < 0 or (number is not None and number < 0):
        raise FormatError(f"the count is {number} and the offset {first}; neither can be below 0")
    return read_blob_elements(buffer, dtype, number, build.budget, first)


def _decompress(packed: str) -> Callable[[Builder, Any], StoredBlob]:
    def decompress(build: Builder, data: Any) -> StoredBlob:  # noqa: ARG001  (as every constructor)
        if isinstance(data, (bytes, bytearray, memoryview)):
            data = StoredBlob("data", data)
        if not isinstance(data, StoredBlob):
            raise FormatError(f"what is compressed is {describe_plain_value(data)}, not a blob")
        return data.with_packing(packed)

    return decompress


CONSTRUCTORS: dict[Spec, Callable[..., Any]] = {
    ("awkward0", "AppendableArray"): appendable_array,
    ("awkward0", "BitMaskedArray"): bit_masked_array,
    ("awkward0", "BitMaskedArray", "fromboolmask"): bit_masked_array_from_bool_mask,
    ("awkward0", "BitMaskedArray", "fromcontent"): bit_masked_array_from_content,
    ("awkward0", "ByteIndexedArray"): byte_indexed_array,
    ("awkward0", "ByteJaggedArray"): byte_jagged_array,
    ("awkward0", "ByteJaggedArray", "fromcounts"): byte_jagged_array_from_counts,
    ("awkward0", "ByteJaggedArray", "fromoffsets"): byte_jagged_array_from_offsets,
    ("awkward0", "ChunkedArray"): chunked_array,
    ("awkward0", "IndexedArray"): indexed_array,
    ("awkward0", "IndexedMaskedArray"): indexed_masked_array,
    ("awkward0", "IndexedMaskedArray", "fromcontent"): indexed_masked_array_from_content,
    ("awkward0", "JaggedArray"): jagged_array,
    ("awkward0", "JaggedArray", "fromcounts"): jagged_array_from_counts,
    ("awkward0", "JaggedArray", "fromfolding"): jagged_array_from_folding,
    ("awkward0", "JaggedArray", "fromiter"): jagged_array_from_iter,
    ("awkward0", "JaggedArray", "fromjagged"): jagged_array_from_jagged,
    ("awkward0", "JaggedArray", "fromlocalindex"): jagged_array_from_local_index,
    ("awkward0", "JaggedArray", "fromoffsets"): jagged_array_from_offsets,
    ("awkward0", "JaggedArray", "fromparents"): jagged_array_from_parents,
    ("awkward0", "JaggedArray", "fromregular"): jagged_array_from_regular,
    ("awkward0", "JaggedArray", "fromuniques"): jagged_array_from_uniques,
    ("awkward0", "MaskedArray"): masked_array,
    ("awkward0", "MaskedArray", "fromcontent"): masked_array_from_content,
    ("awkward0", "ObjectArray"): object_array,
    ("awkward0", "SparseArray"): sparse_array,
    ("awkward0", "StringArray"): string_array,
    ("awkward0", "StringArray", "fromcounts"): string_array_from_counts,
    ("awkward0", "StringArray", "fromiter"): string_array_from_iter,
    ("awkward0", "StringArray", "fromjagged"): string_array_from_jagged,
    ("awkward0", "StringArray", "fromnumpy"): string_array_from_numpy,
    ("awkward0", "StringArray", "fromoffsets"): string_array_from_offsets,
    ("awkward0", "StringArray", "fromparents"): string_array_from_parents,
    ("awkward0", "StringArray", "fromuniques"): string_array_from_uniques,
    ("awkward0", "Table"): table,
    ("awkward0", "Table", "frompairs"): table_from_pairs,
    ("awkward0", "Table", "fromrec"): table_from_rec,
    ("awkward0", "Table", "fromview"): table_from_view,
    ("awkward0", "Table", "named"): table_named,
    ("awkward0", "UnionArray"): union_array,
    ("awkward0", "UnionArray", "fromtags"): union_array_from_tags,
    ("awkward0", "VirtualArray"): virtual_array,
    ("awkward0", "numpy", "frombuffer"): frombuffer,
    ("awkward0.persist", "json2type"): json2type,
    ("awkward0.util", "frombuffer"): frombuffer,
    ("backports.lzma", "decompress"): _decompress("lzma"),
    ("lz4.block", "decompress"): _decompress("LZ4"),
    ("lzma", "decompress"): _decompress("lzma"),
    ("numpy", "frombuffer"): frombuffer,
    ("zlib", "decompress"): _decompress("zlib"),
    **{
        (f"uproot3_methods.classes.{module}", *names): _vectors(*record.split())
        for module, *names, record in ((*spec.split(), record) for spec, record in _VECTORS.items())
    },
}
WHITELIST: tuple[Spec, ...] = tuple(sorted(CONSTRUCTORS))
"""The names of functions that a schema may call unless the caller says otherwise."""
