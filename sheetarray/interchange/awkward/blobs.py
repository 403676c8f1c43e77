"""Blobs: the named buffers that a schema reads; their dtypes, and the limits on what a file may take.

A file chooses every length in it: each is compared with the limits, in Python's integers, before memory is taken. A
compressed blob is inflated only to the length that its count and dtype need, and an error where it has another. The
decompressors that awkward0 allows are zlib, lzma, backports.lzma (the same format) and lz4.block, each of which takes
one argument; compression within compression is refused, as a few bytes of it could keep any reader busy.

A dtype is the text of a NumPy dtype (`int64`, `>f8`, `<U3`, `datetime64[ns]`), a list of a dtype and a shape, or a list
of fields, each a list of a name, a dtype and perhaps a shape. A dtype without a byte order is little-endian: awkward0
writes its machine's own without a mark. Objects are refused, as they would be pointers.
"""

from __future__ import annotations

import lzma
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import FormatError, LimitError, NotFoundError
from ...files import fast_zlib
from ...linear.json_text import count_values
from ..untrusted import DICTIONARY, FedStream, damage_as_format_error, load_package

# Limits of a file, and the memory that it may take --------------------------------------------------------------------

MOST_SCHEMA_BYTES = 2**24  # of a schema's JSON
MOST_SCHEMA_PARTS = 500_000  # values in schemas: JSON objects, lists, and what is in them
DEEPEST_JSON = 400  # JSON objects and lists within each other
DEEPEST_EXPRESSION = 200  # expressions within each other, references followed
DEEPEST_ARRAY = 64  # arrays within each other
MOST_ARRAYS = 100_000  # arrays within one; an array that is referred to counts each time

MOST_STEPS = 40_000  # schemas, calls and blobs that are read, of all arrays together; each takes some 80 microseconds

BYTES_ALWAYS = 2**28  # bytes of memory that arrays may take, however small the file is
BYTES_TIMES = 64  # arrays may also take so many times the bytes of the blobs that were read
_SMALL, _ROOM = 2**25, 3 * 2**28  # bytes of a file, and of what its arrays may take; larger files may have more
BYTES_UNCOUNTED = 2**24  # bytes to which a blob may always inflate if the schema does not say its length


def room_of_file(size: int) -> int:
    """Return the bytes that the arrays of a file of `size` bytes may take together: below 1 GiB for 32 MB."""
    return max(BYTES_ALWAYS, min(BYTES_TIMES * size, _ROOM)) + BYTES_TIMES * max(0, size - _SMALL)


class Budget:
    """What the arrays that are read together may take: memory, which grows with their blobs, and steps.

    Views on a blob count as well: what is looked through costs time.
    """

    def __init__(self, most: int | None = None) -> None:
        if most is not None and (isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 0):
            raise TypeError(f"max_bytes is a number of bytes, not {most!r}")
        self._most = most
        self._blobs: dict[str, int] = {}
        self._stored = 0
        self._taken = 0
        self._steps = 0
        self._values = 0

    @property
    def limit(self) -> int:
        """The number of bytes that may be taken in all."""
        return max(BYTES_ALWAYS, BYTES_TIMES * self._stored) if self._most is None else self._most

    @property
    def remaining(self) -> int:
        """The number of bytes that may still be taken."""
        return self.limit - self._taken

    @property
    def has_steps(self) -> bool:
        """Whether there may be more schemas, calls and blobs, and values in schemas."""
        return self._steps <= MOST_STEPS and self._values <= MOST_SCHEMA_PARTS

    def limit_uncounted(self, size: int) -> int:
        """Return the largest size, in bytes, of a compressed blob's content whose length the schema does not say."""
        most = self.remaining if self._most is not None else max(BYTES_UNCOUNTED, BYTES_TIMES * size)
        return min(self.remaining, most)

    def note_stored(self, name: str, size: int) -> None:
        """Note the size of a blob that was read. From the second time on it is memory that is taken."""
        if name in self._blobs:
            self.take(size, f"the blob {name!r:.80}, read again,")
            return
        self._blobs[name] = size
        self._stored += size

    def take(self, size: int, what: str) -> None:
        """Take bytes from what may still be spent."""
        if size > self.remaining:
            raise FormatError(
                f"{what} of {size} bytes: more than the {self.limit} bytes that the arrays of this file may take",
                hint="max_bytes= allows more",
            )
        self._taken += size

    def step(self) -> None:
        """Count a schema, a call or a blob."""
        self._steps += 1
        self._refuse_too_many()

    def note_schema(self, schema: bytes) -> None:
        """Count the values of a schema."""
        self._values += count_values(schema)
        self._refuse_too_many()

    def _refuse_too_many(self) -> None:
        if not self.has_steps:
            raise FormatError(
                f"awkward arrays of more than {MOST_STEPS:,} schemas, calls and blobs, or {MOST_SCHEMA_PARTS:,} values "
                "in schemas, the most that are read together"
            )


def check_steps(schemas: Iterable[bytes]) -> None:
    """Refuse to write arrays that take more steps, or more values in schemas, than are read together."""
    steps = values = 0
    for schema in schemas:
        steps += 1 + schema.count(b'"call":') + schema.count(b'"read":')
        values += count_values(schema)
    if steps > MOST_STEPS or values > MOST_SCHEMA_PARTS:
        raise LimitError(
            f"arrays of {steps:,} schemas, calls and blobs, and {values:,} values in schemas, but at most "
            f"{MOST_STEPS:,} and {MOST_SCHEMA_PARTS:,} can be read together: write several files"
        )


# Packages that not everybody has --------------------------------------------------------------------------------------

AwkwardLayout = Any  # one of ak.contents, which has no types to check against


def awkward_module() -> Any:
    """Return the package awkward."""
    return load_package("awkward", "Awkward arrays need awkward", "'sheetarray[awkward]'")


# Blobs that are read --------------------------------------------------------------------------------------------------

_DRIVE = re.compile(r"[A-Za-z]:/")
_STEP = 2**20  # bytes
_LZ4_SIZE = 4  # bytes before the data, which say how long it gets


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """A buffer as it was stored."""

    name: str  # in the container
    content: bytes | bytearray | memoryview | Array  # an array, where the container keeps dtype and shape
    packed: str | None = None  # the name of its compression, such as "zlib"

    def with_packing(self, packed: str) -> StoredBlob:
        """Return the same, to be inflated."""
        if self.packed is not None:
            raise FormatError(f"the blob {self.name!r:.80} is compressed twice, which cannot be read")
        return replace(self, packed=packed)

    def inflate(self, size: int | None, budget: Budget) -> memoryview:
        """Return its bytes, of which there have to be so many, unless `size` is None."""
        if isinstance(self.content, np.ndarray):
            stored = np.ascontiguousarray(self.content).reshape(-1).view(np.uint8).data
        else:
            stored = memoryview(self.content).cast("B")
        if self.packed is None:
            self._check(len(stored), size)
            return stored
        if size is not None:
            budget.take(size, f"the blob {self.name!r:.80}")
            content = self._inflate(stored, size)
            self._check(len(content), size)
        else:
            content = self._inflate(stored, budget.limit_uncounted(len(stored)))
            budget.take(len(content), f"the blob {self.name!r:.80}")
        return memoryview(content)

    def _check(self, size_inflated: int, size: int | None) -> None:
        if size is not None and size_inflated != size:
            raise FormatError(
                f"the blob {self.name!r:.80} has {size_inflated} bytes; its count and dtype need {size}",
                hint="awkward0 wrote records with padding between their fields wrongly"
                if size_inflated > size
                else None,
            )

    def _inflate(self, stored: memoryview, most: int) -> bytes | bytearray:
        """Return the inflated bytes, where there are no more than `most`."""
        if self.packed == "LZ4":
            lz4 = load_package("lz4.block", f"the blob {self.name!r:.80} is compressed by LZ4", "lz4")
            if int.from_bytes(stored[:_LZ4_SIZE], "little") > most:
                raise self._too_long(most)
            with damage_as_format_error(f"the blob {self.name!r:.80} is damaged LZ4 data"):
                return bytes(lz4.decompress(stored))
        inflater = lzma.LZMADecompressor(memlimit=DICTIONARY) if self.packed == "lzma" else None
        stream = FedStream(stored, inflater or fast_zlib.decompressor(fast_zlib.ZLIB))
        content = bytearray()
        with damage_as_format_error(f"the blob {self.name!r:.80} is damaged {self.packed} data"):
            while len(content) <= most and (chunk := stream.read(min(_STEP, most + 1 - len(content)))):
                content += chunk
        if len(content) > most:
            raise self._too_long(most)
        if not stream.is_complete:
            reason = "it is cut off, or followed by other bytes"
            raise FormatError(f"the blob {self.name!r:.80} is damaged {self.packed} data ({reason})")
        return content

    def _too_long(self, most: int) -> FormatError:
        return FormatError(f"the blob {self.name!r:.80} inflates to more than the {most} bytes that it may have")


def read_blob(storage: Mapping[str, Any], name: str, budget: Budget) -> StoredBlob:
    """Return the blob of a name."""
    check_member_name(name)
    try:
        content = storage[name]
    except (KeyError, NotFoundError) as error:
        raise FormatError(f"there is no blob named {name!r:.200}") from error
    if isinstance(content, np.ma.MaskedArray) or not isinstance(content, (bytes, bytearray, memoryview, np.ndarray)):
        raise FormatError(f"the blob {name!r:.80} is a {type(content).__name__}, neither bytes nor an array")
    if isinstance(content, np.ndarray) and content.dtype.hasobject and content.dtype.kind != "T":
        raise FormatError(f"the blob {name!r:.80} is an array of Python objects")
    budget.note_stored(name, content.nbytes if isinstance(content, np.ndarray) else len(memoryview(content).cast("B")))
    return StoredBlob(name, content)


def check_member_name(name: str) -> None:
    """Refuse a name that could lead out of a container: absolute, with `..`, a backslash or a NUL."""
    steps = name.split("/")
    if name.startswith("/") or ".." in steps or "\\" in name or "\0" in name or _DRIVE.match(name):
        raise FormatError(f"the blob's name {name!r:.200} leads out of the container")


# dtypes as the schema writes them, and the elements of a blob ---------------------------------------------------------

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
