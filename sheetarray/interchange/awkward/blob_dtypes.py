"""dtypes as a schema writes them, and the elements of a blob.

A dtype is the text of a NumPy dtype (`int64`, `>f8`, `<U3`, `datetime64[ns]`), a list of a dtype and a shape, or a list
of fields, each a list of a name, a dtype and perhaps a shape. A dtype without a byte order is little-endian: awkward0
writes the byte order of its machine without a mark. Objects are refused, as they would be pointers.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import FormatError
from .blobs import StoredBlob
from .budget import Budget

_DEEPEST = 32  # fields and shapes within each other
_MOST_DIMENSIONS = 63  # of an element: NumPy has 64 for an array
_MOST_ELEMENT = 2**31 - 1  # bytes, as NumPy has it
_LAST_CHARACTER = 0x10FFFF
_TYPESTR = re.compile(
    r"bool|u?int(?:8|16|32|64)|float(?:16|32|64)|complex(?:64|128)|(?:datetime64|timedelta64)\[\w{1,20}\]"
    r"|[<>|=]?(?:b1|[iu][1248]|f[248]|c8|c16|[SU][1-9]\d{0,8}|[mM]8\[\w{1,20}\])",
    re.ASCII,
)


def parse_dtype(tree: Any, depth: int = 0) -> np.dtype[Any]:
    """Return the dtype that a schema writes.

    Example:
        >>> parse_dtype([["x", ">i2"], ["y", ["float32", [3]]]])
        dtype([('x', '>i2'), ('y', '<f4', (3,))])
    """
    if depth > _DEEPEST:
        raise FormatError(f"a dtype nested more than {_DEEPEST} deep")
    if isinstance(tree, str):
        return _parse_typestr(tree)
    if isinstance(tree, list) and len(tree) == 2 and _is_shape(tree[1]):
        return _with_shape(parse_dtype(tree[0], depth + 1), tree[1])
    if isinstance(tree, list) and tree and all(isinstance(field, list) for field in tree):
        return _record(tree, depth)
    raise FormatError(f"{tree!r:.80} is not a dtype")


def _parse_typestr(text: str) -> np.dtype[Any]:
    if _TYPESTR.fullmatch(text):
        try:
            dtype = np.dtype(text)
        except (TypeError, ValueError, OverflowError) as error:
            raise FormatError(f"{text!r:.80} is not a dtype") from error
        return dtype.newbyteorder("<") if text[0] not in "<>|" else dtype
    hint = None
    if text.lstrip("<>|=") in ("O", "O4", "O8", "object"):
        hint = "an array of Python objects was stored as their addresses; the objects are lost"
    elif text.lstrip("<>|=") in ("float96", "float128", "complex192", "complex256", "f16", "c32"):
        hint = "extended precision differs from one machine to the next"
    raise FormatError(f"the dtype {text!r:.80}, which is not read", hint=hint)


def _is_shape(tree: Any) -> bool:
    sizes = tree if isinstance(tree, list) else [tree]
    return all(isinstance(size, int) and not isinstance(size, bool) for size in sizes)


def _with_shape(base: np.dtype[Any], tree: Any) -> np.dtype[Any]:
    shape = tuple(tree) if isinstance(tree, list) else (tree,)
    inner = base.subdtype[1] if base.subdtype is not None else ()
    if not all(0 <= size <= _MOST_ELEMENT for size in shape) or len(shape) + len(inner) > _MOST_DIMENSIONS:
        raise FormatError(f"a dtype cannot have the shape {shape!r:.80}")
    if math.prod(max(size, 1) for size in shape) * max(base.itemsize, 1) > _MOST_ELEMENT:
        raise FormatError(f"a dtype has more than {_MOST_ELEMENT} bytes")
    return np.dtype((base, shape))


def _record(fields: list[Any], depth: int) -> np.dtype[Any]:
    fields_by_name: dict[str, np.dtype[Any]] = {}
    for field in fields:
        if not (2 <= len(field) <= 3 and isinstance(field[0], str) and field[0]):
            raise FormatError(f"the field {field!r:.80} of a dtype: a field has a name, a dtype and perhaps a shape")
        dtype = parse_dtype(field[1], depth + 1)
        if len(field) == 3:
            if not _is_shape(field[2]):
                raise FormatError(f"a field cannot have the shape {field[2]!r:.80}")
            dtype = _with_shape(dtype, field[2])
        if field[0] in fields_by_name:
            raise FormatError(f"a dtype has two fields named {field[0]!r:.80}")
        fields_by_name[field[0]] = dtype
    if sum(dtype.itemsize for dtype in fields_by_name.values()) > _MOST_ELEMENT:
        raise FormatError(f"a dtype has more than {_MOST_ELEMENT} bytes")
    return np.dtype(list(fields_by_name.items()))


def read_blob_elements(
    blob: StoredBlob, dtype: np.dtype[Any], count: int | None, budget: Budget, offset: int = 0
) -> Array:
    """Return the elements of a blob, in the byte order of this machine."""
    size = dtype.itemsize
    values_per_element = math.prod(max(extent, 1) for extent in dtype.shape)
    if count is None:
        data = blob.inflate(None, budget)
        if size == 0 or offset > len(data) or (len(data) - offset) % size:
            raise FormatError(
                f"the blob {blob.name!r:.80} of {len(data)} bytes does not hold a whole number of {dtype}"
            )
        count = (len(data) - offset) // size
        if blob.packed is None:
            budget.take(count * size, f"the blob {blob.name!r:.80}")
    else:
        if blob.packed is None or not size:
            budget.take(count * (size or 8 * values_per_element), f"{count} elements of the blob {blob.name!r:.80}")
        data = blob.inflate(offset + count * size, budget)
    if not count or not size:
        return np.zeros((count, *dtype.shape), dtype.base.newbyteorder("="))
    array: Array = np.frombuffer(data, dtype, count, offset)
    _check_elements(array, blob)
    return to_native_array(array, budget)


def to_native_array(array: Array, budget: Budget) -> Array:
    """Return the same array in this machine's byte order: itself, or a copy."""
    dtype = array.dtype.newbyteorder("=")
    if dtype == array.dtype and array.flags.aligned:
        return array
    budget.take(array.nbytes, "an array in another byte order")
    return array.astype(dtype)


def _check_elements(array: Array, blob: StoredBlob) -> None:
    """Refuse what NumPy would trip over later: a bool that is neither 0 nor 1, a character beyond Unicode."""
    if array.dtype.names is not None:
        for name in array.dtype.names:
            _check_elements(array[name], blob)
    elif array.dtype.kind == "b":
        if array.size and int(array.view(np.uint8).max()) > 1:
            raise FormatError(f"the blob {blob.name!r:.80} has bools that are neither 0 nor 1")
    elif array.dtype.kind == "U":
        parts = np.ascontiguousarray(array).view(array.dtype.str[0] + "u4")
        if parts.size and (int(parts.max()) > _LAST_CHARACTER or bool(((parts >= 0xD800) & (parts < 0xE000)).any())):
            raise FormatError(f"the blob {blob.name!r:.80} has characters that Unicode does not have")
