"""`CONSTRUCTORS`, the one table of functions that a schema may name by default, and of ours that stand for them.

Names are those of version 0.15, `awkward0`: what awkward0's own whitelist allows, as far as it makes an array out of
what the file holds. Not here is what reads other files (`_ParquetFile`, `_LazyTree`), what executes (`topython`), and
what takes Python's lists or no array (`fromiter`, `fromstr`, `fromlocalindex`, `invert`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import FormatError
from .blobs import StoredBlob
from .builder import Builder, describe_value
from .indexed import byte_indexed_array, indexed_array, sparse_array
from .items import parse_dtype, read_elements
from .lists import (
    byte_jagged_array,
    byte_jagged_array_from_counts,
    jagged_array,
    jagged_array_from_counts,
    jagged_array_from_folding,
    jagged_array_from_jagged,
    jagged_array_from_offsets,
    jagged_array_from_parents,
    jagged_array_from_regular,
    jagged_array_from_uniques,
)
from .objects import json2type, object_array, virtual_array
from .options import (
    bit_masked_array,
    bit_masked_array_from_bools,
    indexed_masked_array,
    indexed_masked_array_from_content,
    masked_array,
    masked_array_from_content,
)
from .strings import (
    string_array,
    string_array_from_counts,
    string_array_from_numpy,
    string_array_from_offsets,
    string_array_from_parents,
    string_array_from_uniques,
)
from .tables import named_table, table, table_from_pairs, table_from_rec, table_from_view
from .unions import appendable_array, chunked_array, union_array, union_array_from_tags
from .vectors import VECTORS


def frombuffer(build: Builder, buffer: Any, dtype: Any = "float64", count: Any = None, offset: Any = 0) -> Array:
    """`numpy.frombuffer(buffer, dtype, count, offset)`; the buffer has exactly the bytes of so many elements."""
    if isinstance(buffer, (bytes, bytearray, memoryview, np.ndarray)):
        buffer = StoredBlob("buffer", buffer)
    if not isinstance(buffer, StoredBlob):
        raise FormatError(f"the buffer is {describe_value(buffer)}, not a blob")
    if not isinstance(dtype, np.dtype):
        dtype = parse_dtype(dtype)
    number = None if count is None else build.to_integer(count, "count")
    first = build.to_integer(offset, "offset")
    if first < 0 or (number is not None and number < 0):
        raise FormatError(f"a count of {number} and an offset of {first}; both are numbers from 0 on")
    return read_elements(buffer, dtype, number, build.budget, first)


def _decompress(packed: str) -> Callable[[Builder, Any], StoredBlob]:
    def decompress(build: Builder, data: Any) -> StoredBlob:  # noqa: ARG001  (as every constructor)
        if isinstance(data, (bytes, bytearray, memoryview)):
            data = StoredBlob("data", data)
        if not isinstance(data, StoredBlob):
            raise FormatError(f"what is compressed is {describe_value(data)}, not a blob")
        return data.with_packing(packed)

    return decompress


_ARRAYS: dict[tuple[str, ...], Callable[..., Any]] = {
    ("AppendableArray",): appendable_array,
    ("BitMaskedArray",): bit_masked_array,
    ("BitMaskedArray", "fromboolmask"): bit_masked_array_from_bools,
    ("ByteIndexedArray",): byte_indexed_array,
    ("ByteJaggedArray",): byte_jagged_array,
    ("ByteJaggedArray", "fromcounts"): byte_jagged_array_from_counts,
    ("ChunkedArray",): chunked_array,
    ("IndexedArray",): indexed_array,
    ("IndexedMaskedArray",): indexed_masked_array,
    ("IndexedMaskedArray", "fromcontent"): indexed_masked_array_from_content,
    ("JaggedArray",): jagged_array,
    ("JaggedArray", "fromcounts"): jagged_array_from_counts,
    ("JaggedArray", "fromfolding"): jagged_array_from_folding,
    ("JaggedArray", "fromjagged"): jagged_array_from_jagged,
    ("JaggedArray", "fromoffsets"): jagged_array_from_offsets,
    ("JaggedArray", "fromparents"): jagged_array_from_parents,
    ("JaggedArray", "fromregular"): jagged_array_from_regular,
    ("JaggedArray", "fromuniques"): jagged_array_from_uniques,
    ("MaskedArray",): masked_array,
    ("MaskedArray", "fromcontent"): masked_array_from_content,
    ("ObjectArray",): object_array,
    ("SparseArray",): sparse_array,
    ("StringArray",): string_array,
    ("StringArray", "fromcounts"): string_array_from_counts,
    ("StringArray", "fromnumpy"): string_array_from_numpy,
    ("StringArray", "fromoffsets"): string_array_from_offsets,
    ("StringArray", "fromparents"): string_array_from_parents,
    ("StringArray", "fromuniques"): string_array_from_uniques,
    ("Table",): table,
    ("Table", "frompairs"): table_from_pairs,
    ("Table", "fromrec"): table_from_rec,
    ("Table", "fromview"): table_from_view,
    ("Table", "named"): named_table,
    ("UnionArray",): union_array,
    ("UnionArray", "fromtags"): union_array_from_tags,
    ("VirtualArray",): virtual_array,
}

CONSTRUCTORS: dict[tuple[str, ...], Callable[..., Any]] = {
    **{("awkward0", *names): function for names, function in _ARRAYS.items()},
    ("awkward0", "numpy", "frombuffer"): frombuffer,
    ("awkward0.persist", "json2type"): json2type,
    ("awkward0.util", "frombuffer"): frombuffer,
    ("backports.lzma", "decompress"): _decompress("lzma"),
    ("lz4.block", "decompress"): _decompress("LZ4"),
    ("lzma", "decompress"): _decompress("lzma"),
    ("numpy", "frombuffer"): frombuffer,
    ("zlib", "decompress"): _decompress("zlib"),
    **VECTORS,
}
