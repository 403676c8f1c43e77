"""`CONSTRUCTORS`: the functions that a schema may name by default.

Names are those of version 0.15, `awkward0`: what writers of the protocol have put into files since version 0.5. Not
here is what reads other files (`_ParquetFile`, `_LazyTree`), what executes (`topython`), and what no writer calls.
Source: https://github.com/scikit-hep/awkward-0.x/blob/master/awkward0/array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....dtypes import Array
from ....errors import FormatError
from ..blob_dtypes import parse_dtype, read_blob_elements
from ..blobs import StoredBlob
from ..builder import Builder, describe_plain_value
from ..functions.whitelists import Spec
from .byte_lists import byte_jagged_array, byte_jagged_array_from_counts, byte_jagged_array_from_offsets
from .indexed import byte_indexed_array, indexed_array, sparse_array
from .lists import jagged_array, jagged_array_from_counts, jagged_array_from_offsets
from .lists_beside import (
    jagged_array_from_folding,
    jagged_array_from_iter,
    jagged_array_from_jagged,
    jagged_array_from_local_index,
    jagged_array_from_parents,
    jagged_array_from_regular,
    jagged_array_from_uniques,
)
from .masked import (
    bit_masked_array,
    bit_masked_array_from_bool_mask,
    bit_masked_array_from_content,
    indexed_masked_array,
    indexed_masked_array_from_content,
    masked_array,
    masked_array_from_content,
)
from .objects import json2type, object_array, virtual_array
from .strings import (
    string_array,
    string_array_from_counts,
    string_array_from_iter,
    string_array_from_jagged,
    string_array_from_numpy,
    string_array_from_offsets,
    string_array_from_parents,
    string_array_from_uniques,
)
from .tables import table, table_from_pairs, table_from_rec, table_from_view, table_named
from .unions import appendable_array, chunked_array, union_array, union_array_from_tags
from .vectors import VECTORS, vectors_constructor


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
        (f"uproot3_methods.classes.{module}", *names): vectors_constructor(*record.split())
        for module, *names, record in ((*spec.split(), record) for spec, record in VECTORS.items())
    },
}
WHITELIST: tuple[Spec, ...] = tuple(sorted(CONSTRUCTORS))
"""The names of functions that a schema may call unless the caller says otherwise."""
