"""One ndarray <-> one bare Avro datum of YEP-113's record, as yaq sends it: shape, typestr, data, version.

Source: https://yeps.yaq.fyi/113/ (version 3 of NumPy's array interface: https://numpy.org/doc/stable/reference/
arrays.interface.html). Stored are booleans, integers, floats and complex numbers (typestr kinds `b i u f c`) in C
order and in their own byte order; the datum ends with the version, 3. No schema and no names travel with it.

Values are taken from memory, or from a block that is
inflated as far as it is asked for. Every size is a Python int that is compared with what there is before anything is
taken. A compressed block does not say how large its content is, so every codec gives a stream that inflates a few bytes
at a time; only Snappy has its size in front, which is compared with the most that so many bytes can stand for.
"""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ... import dtypes
from ...errors import DTypeError, FormatError, LimitError, MissingDependencyError, locating
from ...file_array import FileArray, copy_elements
from ...files import fast_zlib
from ...header import MAX_DIMENSIONS
from ...values import as_array
from ..untrusted import DICTIONARY, FedStream

# Codecs of an object container ----------------------------------------------------------------------------------------

_SNAPPY_TIMES = 22  # three bytes stand for 64 at most
_CHECKSUM = 4  # bytes of CRC-32 after a Snappy block


class BlockStream(Protocol):
    """The content of a block."""

    def read(self, most: int, /) -> bytes:
        """Return some more bytes, at most `most`; none at the end.

        Raises:
            FormatError: the block is damaged.
        """


class _ZstandardStream:
    """A stream out of Zstandard frames."""

    def __init__(self, data: memoryview) -> None:
        zstandard = fast_zlib.load_zstandard()

        decompressor = zstandard.ZstdDecompressor(max_window_size=DICTIONARY)
        self._reader = decompressor.stream_reader(data, read_across_frames=True)
        self._error = zstandard.ZstdError

    def read(self, most: int, /) -> bytes:
        try:
            return bytes(self._reader.read(most))
        except self._error as error:
            raise FormatError(f"damaged zstandard data ({error})") from error


class _SnappyStream:
    """The content of one Snappy block, which is small: it is decompressed at once, and compared with its checksum."""

    def __init__(self, data: memoryview) -> None:
        packed, checksum = data[:-_CHECKSUM], bytes(data[-_CHECKSUM:])
        size, shift = 0, 0
        for byte in packed[:5]:
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        if size > _SNAPPY_TIMES * len(packed):
            raise FormatError(f"damaged snappy data ({len(packed)} bytes cannot stand for {size})")
        try:
            self._content = memoryview(_snappy_decompress()(bytes(packed)))
        except MissingDependencyError:
            raise
        except Exception as error:  # each of the libraries has errors of its own
            raise FormatError(f"damaged snappy data ({error})") from error
        if zlib.crc32(self._content) != int.from_bytes(checksum, "big"):
            raise FormatError("damaged snappy data (its checksum is another one)")
        self._position = 0

    def read(self, most: int, /) -> bytes:
        content = bytes(self._content[self._position : self._position + most])
        self._position += len(content)
        return content


def _snappy_decompress() -> Callable[[bytes], Any]:
    try:
        from cramjam import snappy
    except ImportError as error:
        raise MissingDependencyError(
            "Snappy blocks of Avro files are read by cramjam: pip install 'sheetarray[avro]'"
        ) from error
    decompress: Callable[[bytes], Any] = snappy.decompress_raw
    return decompress


CODECS: dict[str, Callable[[memoryview], BlockStream]] = {
    "deflate": lambda data: FedStream(data, fast_zlib.decompressor(fast_zlib.RAW), "deflate"),
    "bzip2": lambda data: FedStream(data, bz2.BZ2Decompressor(), "bzip2"),
    "xz": lambda data: FedStream(data, lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=DICTIONARY), "xz"),
    "zstandard": _ZstandardStream,
    "snappy": _SnappyStream,
}
"""The functions that open the content of a block, by the codec's name in the metadata; "null" needs none."""


# Values ---------------------------------------------------------------------------------------------------------------

INT = range(-(2**31), 2**31)  # Avro's int; long is twice as wide
_MOST_BYTES = 10  # of a long
_LEAST = 4096  # bytes that are inflated at once


def encode_varint(number: int) -> bytes:
    """Return an int or a long: zigzag, seven bits a byte, the lowest first.

    Example:
        >>> encode_varint(-3).hex(), encode_varint(64).hex()
        ('05', '8001')
    """
    rest = number << 1 if number >= 0 else (-number << 1) - 1
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


class Wire:
    """Encoded bytes, taken one value after the other.

    Attributes:
        at: the offset of the next byte, from the beginning of `data`.
        end: the offset where they end.
    """

    def __init__(self, data: memoryview, at: int = 0, end: int | None = None) -> None:
        self._data = data
        self.at = at
        self.end = len(data) if end is None else end

    def location(self) -> str:
        """Return the next byte, as a location."""
        return f"byte {self.at}"

    @property
    def inflated(self) -> int:
        """The bytes that were inflated so far; none where the bytes lie in memory."""
        return 0

    def max_left(self) -> int:
        """Return the largest number of bytes that can be left."""
        return self.end - self.at

    def read(self, count: int, what: str) -> memoryview | bytearray:
        """Return the next bytes: a view where they lie in memory, else a buffer of their own."""
        if not 0 <= count <= self.max_left():
            raise FormatError(f"{what} of {count} bytes, but {self.max_left()} are left", location=self.location())
        self.at += count
        return self._data[self.at - count : self.at]

    def skip(self, count: int, what: str) -> None:
        """Pass over bytes."""
        self.read(count, what)

    def is_at_end(self) -> bool:
        """Return whether nothing is left."""
        return self.at == self.end

    def read_long(self, what: str, within: range | None = None) -> int:
        """Return an int or a long."""
        location, number = self.location(), 0
        for index in range(_MOST_BYTES):
            byte = self.read(1, what)[0]
            number |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                break
        else:
            raise FormatError(f"{what} is an integer of more than {_MOST_BYTES} bytes", location=location)
        if number >= 2**64:
            raise FormatError(f"{what} is an integer of more than 64 bits", location=location)
        value = number >> 1 if number & 1 == 0 else -(number >> 1) - 1
        if within is not None and value not in within:
            raise FormatError(f"{what} is {value}; it lies in {within[0]} to {within[-1]}", location=location)
        return value

    def read_text(self, what: str, most: int) -> str:
        """Return a string of at most `most` bytes."""
        location = self.location()
        count = self.read_long(f"the length of {what}", range(most + 1))
        try:
            return bytes(self.read(count, what)).decode("utf-8")
        except UnicodeDecodeError as error:
            raise FormatError(f"{what} is not UTF-8", location=location) from error

    def read_blocks(self, what: str, read_item: Callable[[], None], most: int) -> None:
        """Read an array or a map: blocks of items, each with its count, the last with none.

        A negative count is followed by the bytes that the block takes.
        """
        read = 0
        while True:
            location = self.location()
            count = self.read_long(f"the number of items of {what}")
            if count == 0:
                return
            size = self.read_long(f"the size of a block of {what}") if count < 0 else None
            start = self.at
            read += abs(count)
            if read > most:
                raise FormatError(f"{what} with {read} items; at most {most} are possible", location=location)
            for _ in range(abs(count)):
                read_item()
            if size is not None and self.at - start != size:
                raise FormatError(f"a block of {what} says {size} bytes and takes {self.at - start}", location=location)


class PackedWire(Wire):
    """The bytes of a compressed block, taken one value after the other: inflated as far as asked, never further.

    Locations count the inflated bytes, `byte 50 of the block at byte 200`.
    """

    def __init__(self, data: memoryview, block: int, codec: str, most: int) -> None:
        super().__init__(data, 0, most)
        self._block = block
        self._inflated = 0
        self._waiting = bytearray()
        with locating(location=self.location()):
            self._stream = CODECS[codec](data)

    @property
    def inflated(self) -> int:
        """The bytes that were inflated so far, taken or not."""
        return self._inflated

    def location(self) -> str:
        """Return the next byte, as a location."""
        return f"byte {self.at} of the block at byte {self._block}"

    def read(self, count: int, what: str) -> memoryview | bytearray:
        """Return the next bytes, in a buffer of their own."""
        if not 0 <= count <= self.max_left():
            raise FormatError(
                f"{what} of {count} bytes, of which {self.max_left()} are read at once",
                location=self.location(),
                hint="if that is meant, read fewer arrays at a time with names=",
            )
        taken, self._waiting = self._waiting, bytearray()
        while len(taken) < count:
            more = self._inflate(count - len(taken))
            if not more:
                raise FormatError(f"{what} of {count} bytes, but {len(taken)} are left", location=self.location())
            taken += more
        if len(taken) > count:
            self._waiting = taken[count:]
            del taken[count:]
        self.at += count
        return taken

    def skip(self, count: int, what: str) -> None:
        """Inflate bytes, and forget them."""
        while count > 2**20:
            self.read(2**20, what)
            count -= 2**20
        self.read(count, what)

    def is_at_end(self) -> bool:
        """Return whether nothing is left."""
        if not self._waiting:
            self._waiting = bytearray(self._inflate(1))
        return not self._waiting

    def _inflate(self, most: int) -> bytes:
        """Return some more bytes, at most so many (a few at least, to spare calls); none at the end."""
        with locating(location=self.location()):
            more = self._stream.read(max(most, _LEAST))
        self._inflated += len(more)
        return more


# YEP-113 ------------------------------------------------------------------------------------------------------------

SCHEMA: dict[str, Any] = {
    "name": "ndarray",
    "type": "record",
    "logicalType": "ndarray",
    "fields": [
        {"name": "shape", "type": {"items": "int", "type": "array"}},
        {"name": "typestr", "type": "string"},
        {"name": "data", "type": "bytes"},
        {"name": "version", "type": "int"},
    ],
}

_VERSION = 3
_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16)}
_TYPESTR = re.compile(r"([<>|])([biufc])([1-9]\d?)", re.ASCII)
_DIMENSION = range(2**31)
_INSTEAD = {
    "string": "store its bytes, np.char.encode(a, 'utf-8').view('u1'), or write CSV or JSON",
    "generic": "cast it to a dtype of numbers, or write CSV or JSON",
    "datetime": "store the counts, a.view('int64'), and name the unit elsewhere",
    "timedelta": "store the counts, a.view('int64'), and name the unit elsewhere",
}


def pack(array: Any) -> bytes:
    """Return the datum of an array.

    Args:
        array: an ndarray of any shape and strides, or what `np.asanyarray` makes one of; 0-d has the shape [].

    Raises:
        DTypeError: it is neither bool, int, float nor complex, is wider than 16 bytes, or is masked.
        LimitError: a dimension of more than 2^31 - 1 elements (Avro's int).

    Example:
        >>> pack(np.array([[1.5]])).hex(" ", 1)
        '04 02 02 00 06 3c 66 38 10 00 00 00 00 00 00 f8 3f 06'
    """
    head, data, tail = encode_parts(array)
    return b"".join((head, data, tail))


def unpack(data: bytes | bytearray | memoryview) -> np.ndarray[Any, Any]:
    """Return the array of a datum, in its own byte order; a copy that can be written to.

    Args:
        data: one datum, the whole of it.

    Raises:
        FormatError: malformed, cut off, of another type or length than it says, or followed by something;
            `.location` is the byte.

    Example:
        >>> unpack(pack(np.arange(3, dtype=">i2")))
        array([0, 1, 2], dtype='>i2')
    """
    wire = Wire(memoryview(data).cast("B"))
    array = read_array(wire)
    if not wire.is_at_end():
        raise FormatError(f"{wire.max_left()} bytes after the end of the array", location=wire.location())
    return array


def encode_parts(array: Any) -> tuple[bytes, memoryview, bytes]:
    """Return the three parts of a datum: the bytes before the elements, the elements, and the bytes after them.

    Elements are copied only if they are not in C order.
    """
    contiguous = as_array(array)
    typestr = check_holdable(contiguous)
    dims = b"".join(map(encode_varint, contiguous.shape))
    shape = encode_varint(contiguous.ndim) + dims + encode_varint(0) if contiguous.ndim else encode_varint(0)
    name = typestr.encode()
    head = shape + encode_varint(len(name)) + name + encode_varint(contiguous.nbytes)
    return head, np.asarray(contiguous, order="C").reshape(-1).view(np.uint8).data, encode_varint(_VERSION)


def check_holdable(array: np.ndarray[Any, Any]) -> str:
    """Return the typestr of an array that a datum can hold."""
    if isinstance(array, np.ma.MaskedArray):
        raise DTypeError("a masked array: fill it first, for example a.filled(np.nan)")
    dtype = array.dtype
    kind = dtypes.from_numpy(dtype).kind
    if dtype.itemsize not in _SIZES.get(dtype.kind, ()):
        raise DTypeError(f"YEP-113 has no dtype for {kind} arrays: {_INSTEAD[kind]}")
    for axis, size in enumerate(array.shape):
        if size not in INT:
            raise LimitError(f"dimension {axis} has {size} elements, more than Avro's int, {INT[-1]}: reshape it")
    return str(dtype.str)


# Reading -----------------------------------------------------------------------------------------------------


def read_head(wire: Wire) -> FileArray:
    """Read up to the first element."""
    shape: list[int] = []
    location = wire.location()
    wire.read_blocks("shape", lambda: shape.append(wire.read_long(f"shape[{len(shape)}]", _DIMENSION)), MAX_DIMENSIONS)
    dtype = _parse_typestr(wire)
    start = wire.location()
    size = wire.read_long("the length of data")
    with locating(location=location):
        stored = FileArray(dtype, tuple(shape), "row-major", wire.at)
    if size != stored.byte_count:
        raise FormatError(
            f"data has {size} bytes; the shape {stored.shape} of {dtype.str} needs {stored.byte_count}", location=start
        )
    return stored


def read_array(wire: Wire) -> np.ndarray[Any, Any]:
    """Read one datum, and no byte more."""
    stored = read_head(wire)
    location = wire.location()
    data = wire.read(stored.byte_count, "data")
    read_version(wire)
    if not stored.byte_count:
        return np.empty(stored.shape, stored.dtype)
    if stored.dtype.kind == "b" and np.max(bits := np.frombuffer(data, np.uint8)) > 1:
        index = int(np.argmax(bits > 1))
        raise FormatError(f"element {index} is the byte {bits[index]}; a boolean is 0 or 1", location=location)
    array: np.ndarray[Any, Any] = np.frombuffer(data, stored.dtype).reshape(stored.shape)
    return array if isinstance(data, bytearray) else copy_elements(array)


def skip_array(wire: Wire) -> FileArray:
    """Pass over one datum."""
    stored = read_head(wire)
    wire.skip(stored.byte_count, "data")
    read_version(wire)
    return stored


def read_version(wire: Wire) -> None:
    """Read the version; a newer one is accepted, as the specification asks."""
    location = wire.location()
    if (version := wire.read_long("version", INT)) < _VERSION:
        raise FormatError(f"version {version} of the array interface; {_VERSION} or newer is known", location=location)


def _parse_typestr(wire: Wire) -> np.dtype[Any]:
    location = wire.location()
    text = wire.read_text("typestr", 16)
    match = _TYPESTR.fullmatch(text)
    if match is None or int(match[3]) not in _SIZES[match[2]] or (match[1] == "|" and match[3] != "1"):
        raise FormatError(
            f"typestr {text!r} is not one of YEP-113",
            location=location,
            hint="a byte order < or > (| for single bytes), then b1, i1 to i8, u1 to u8, f2 to f8, c8 or c16",
        )
    return np.dtype(text)
