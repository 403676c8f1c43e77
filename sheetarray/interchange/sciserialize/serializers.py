"""Nested data <-> JSON text, and <-> MessagePack bytes.

Sources: https://github.com/SciSerialize/Definition and https://github.com/msgpack/msgpack/blob/master/spec.md. JSON is
as Python's own module writes it: `, ` and `: ` between, other characters than ASCII escaped, with the words NaN,
Infinity and -Infinity; integers keep all their digits. MessagePack needs the package msgpack, which takes memory on the
word of a list's count: where values begin and end is found first, and each count compared with the bytes that are left.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from ...errors import FormatError, LimitError
from ...files import BytesLike, Sink, check_structure
from ...json_text import faults_as_format_errors
from ..untrusted import load_package
from .dicts import BASE64, DEEPEST, MOST_VALUES, count_values, path_inside
from .nested import check_keys, decode_types, encode_views, reject_duplicate_keys

# Where values of MessagePack begin and end ----------------------------------------------------------------------------

_HEADS = {  # of what begins with a length or a count: its bytes, more bytes beside the content, and values a member
    **dict.fromkeys((0xC4, 0xD9), (1, 0, 0)),  # binary data and text
    **dict.fromkeys((0xC5, 0xDA), (2, 0, 0)),
    **dict.fromkeys((0xC6, 0xDB), (4, 0, 0)),
    0xC7: (1, 1, 0),  # extension types
    0xC8: (2, 1, 0),
    0xC9: (4, 1, 0),
    0xDC: (2, 0, 1),  # lists
    0xDD: (4, 0, 1),
    0xDE: (2, 0, 2),  # maps
    0xDF: (4, 0, 2),
}
_LONG = 2**12  # bytes of a list or map whose end is remembered
_AHEAD = 64  # values of a list that are looked at together, where its next two have one size


def _sizes() -> bytes:
    """Return the number of bytes of the whole value for each first byte; 0 where they vary."""
    sizes = bytearray(256)
    for byte in (*range(0x80), 0x80, 0x90, 0xC0, 0xC2, 0xC3, *range(0xE0, 0x100)):  # an empty map and list too
        sizes[byte] = 1
    for byte in range(0xA0, 0xC0):  # short text
        sizes[byte] = 1 + (byte & 31)
    for byte, size in zip(range(0xCA, 0xD4), (5, 9, 2, 3, 5, 9, 2, 3, 5, 9), strict=True):
        sizes[byte] = size
    for byte, size in zip(range(0xD4, 0xD9), (3, 4, 6, 10, 18), strict=True):
        sizes[byte] = size
    return bytes(sizes)


_SIZES = _sizes()


class _Message:
    """A MessagePack text: maps are built here, and what is in them by msgpack, once its counts are known to be true."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._msgpack = msgpack_module()
        self._ends: dict[int, int] = {}  # of long lists and maps, by their first byte: they are asked for again

    def find_end(self, at: int) -> int:
        """Return the byte after the value that begins at `at`, all within it looked through."""
        if end := self._ends.get(at):
            return end
        due, total = 1, 1  # values to come, and counted in all
        starts, open_counts = [at], [1]  # of each list and map around: its first byte, and the values to come in it
        while open_counts:
            if not open_counts[-1]:
                open_counts.pop()
                if at - (start := starts.pop()) >= _LONG:
                    self._ends[start] = at
                continue
            if due > len(self._data) - at:
                raise FormatError(
                    f"cut off: {due} values are to come in {len(self._data) - at} bytes", location=f"byte {at}"
                )
            run, size = 1, _SIZES[self._data[at]]
            if size:
                run = self._count_alike(at, size, open_counts[-1])
                inner = 0
            else:
                inner, size = self._head(at)
            open_counts[-1] -= run
            due += inner - run
            start, at = at, self._after(at, run * size)
            if inner:
                total += inner
                if total > MOST_VALUES and due <= len(self._data) - at:
                    reason = f"{total:,} values; at most {MOST_VALUES:,} are read, besides the elements of arrays"
                    raise FormatError(reason, location=f"byte {at}")
                starts.append(start)
                open_counts.append(inner)
                if len(open_counts) > DEEPEST + 1:
                    raise FormatError(f"nested more than {DEEPEST} deep", location=f"byte {at}")
        return at

    def _count_alike(self, at: int, size: int, left: int) -> int:
        """Return the number of values of one size that follow each other, of those that are left in a list."""
        if left < 4 or at + size >= len(self._data) or _SIZES[self._data[at + size]] != size:
            return 1
        firsts = bytes(self._data[at : at + size * min(left, _AHEAD) : size]).translate(_SIZES)
        return len(firsts) - len(firsts.lstrip(bytes([size])))

    def _after(self, at: int, size: int) -> int:
        if size > len(self._data) - at:
            raise FormatError(f"cut off: {size} bytes needed, {len(self._data) - at} left", location=f"byte {at}")
        return at + size

    def _head(self, at: int) -> tuple[int, int]:
        """Return the number of values within a value of varying size, and the number of bytes before those."""
        byte = self._data[at]
        if 0x80 <= byte <= 0x9F:
            return (byte & 15) * (2 if byte < 0x90 else 1), 1
        width, more, each = _HEADS.get(byte, (0, 0, 0))
        if not width:
            raise FormatError(f"no value begins with the byte {byte:#x}", location=f"byte {at}")
        number = int.from_bytes(self._data[at + 1 : self._after(at, 1 + width)], "big")
        return (number * each, 1 + width) if each else (0, 1 + width + more + number)

    def value(self, at: int, path: str) -> tuple[Any, int]:
        """Return the value that begins at a byte, and the byte after it; binary values are views."""
        byte = self._data[at]
        if 0x80 <= byte <= 0x8F or byte in (0xDE, 0xDF):
            count, size = self._head(at)
            return self._map(count // 2, at + size, path)
        end = self.find_end(at)
        if byte in (0xC4, 0xC5, 0xC6):
            return self._data[at + 1 + _HEADS[byte][0] : end], end
        return self._plain(at, end), end

    def _map(self, count: int, at: int, path: str) -> tuple[dict[str, Any], int]:
        pairs = []
        for _ in range(count):
            end = self.find_end(at)
            key = self._plain(at, end)
            if not isinstance(key, str):
                raise FormatError(f"a key that is not text, but {type(key).__name__}", location=f"byte {at}")
            value, at = self.value(end, path_inside(path, key))
            pairs.append((key, value))
        mapping = reject_duplicate_keys(pairs)
        check_keys(mapping, path)
        return mapping, at

    def _plain(self, at: int, end: int) -> Any:
        try:
            return self._msgpack.unpackb(
                self._data[at:end],
                raw=False,
                strict_map_key=True,
                object_pairs_hook=reject_duplicate_keys,
                ext_hook=_refuse,
            )
        except FormatError as error:
            error.location = error.location or f"byte {at}"
            raise
        except UnicodeDecodeError as error:
            raise FormatError("text that is not UTF-8", location=f"byte {at}") from error
        except (ValueError, TypeError, OverflowError) as error:  # msgpack's own errors are ValueErrors
            raise FormatError(f"no MessagePack ({type(error).__name__})", location=f"byte {at}") from error


# JSON and MessagePack of nested data ----------------------------------------------------------------------------------

MOST_BYTES = 2**32 - 1  # of one binary value in MessagePack


def dumps(value: Any, *, extensions: bool = False) -> str:
    """Return nested data as JSON text.

    Args:
        value: as for `encode_types`.
        extensions: as for `encode_types`.

    Raises:
        DTypeError: the format cannot hold a value; the message has the path to it.
        LimitError: lists and dicts more than 100 deep, or 3,000,000 values in them.

    Example:
        >>> import datetime
        >>> dumps(datetime.timedelta(0, 11, 626512))
        '{"microsec": 626512, "seconds": 11, "__type__": "timedelta", "days": 0}'
    """
    return dump_plain(encode_views(value, extensions=extensions))


def dump_plain(plain: Any) -> str:
    """Return the plain data that `encode_types` gives as JSON text."""
    check_count(count_values(plain))
    try:
        return json.dumps(plain, default=_as_base64)
    except ValueError as error:  # an integer of more digits than Python prints
        raise LimitError(f"no JSON holds it ({error})") from error


def check_count(values: int) -> None:
    """Refuse to write more values than are read again."""
    if values > MOST_VALUES:
        raise LimitError(
            f"{values:,} values in lists and dicts, of which {MOST_VALUES:,} are read again: make them arrays, "
            "whose elements do not count (those of arrays of objects do)"
        )


def _as_base64(data: Any) -> dict[str, str]:
    return {BASE64: base64.b64encode(data).decode("ascii")}


def loads(text: str | bytes | bytearray) -> Any:
    """Return the nested data of a JSON text.

    Args:
        text: JSON, as text or in UTF-8.

    Raises:
        FormatError: no JSON, or no SciSerialize; `.location` is the path to the value, such as `x.shape[1]`.

    Example:
        >>> loads('{"__type__": "datetime", "isostr": "2015-02-18T21:40:23Z"}')
        datetime.datetime(2015, 2, 18, 21, 40, 23, tzinfo=datetime.timezone.utc)
    """
    return decode_types(parse_json(text))


def parse_json(text: str | BytesLike | bytearray) -> Any:
    """Return a JSON text as plain scalars, lists and dicts."""
    with faults_as_format_errors():
        if not isinstance(text, str):
            text = str(memoryview(text), json.detect_encoding(text[:4]), "surrogatepass")
        check_structure(text, MOST_VALUES, MOST_VALUES)
        return json.loads(text, object_pairs_hook=reject_duplicate_keys)


def packb(value: Any, *, extensions: bool = False) -> bytes:
    """Return nested data as bytes of MessagePack.

    Args:
        value: as for `encode_types`.
        extensions: as for `encode_types`.

    Raises:
        DTypeError: the format cannot hold a value; the message has the path to it.
        LimitError: an integer of more than 64 bits, 4 GiB in one array, lists and dicts more than 100 deep, or
            3,000,000 values in them.
        MissingDependencyError: msgpack is not installed.

    Example:
        >>> packb([True, None, 1.5]).hex(" ", 1)
        '93 c3 c0 cb 3f f8 00 00 00 00 00 00'
    """
    return pack_plain(encode_views(value, extensions=extensions))


def pack_plain(plain: Any) -> bytes:
    """Return the plain data that `encode_types` gives as bytes of MessagePack."""
    check_count(count_values(plain))
    try:
        content: bytes = msgpack_module().packb(plain, use_bin_type=True)
    except (OverflowError, ValueError) as error:
        raise LimitError(
            f"no MessagePack holds an integer of more than 64 bits, or a value of more than {MOST_BYTES} bytes: "
            "split the array, or write JSON"
        ) from error
    return content


def unpackb(data: bytes | bytearray | memoryview) -> Any:
    """Return the nested data of bytes of MessagePack.

    Args:
        data: one value of MessagePack, and nothing after it.

    Raises:
        FormatError: no MessagePack, or no SciSerialize; `.location` is the byte, or the path to the value, such as
            `x.shape[1]`.
        MissingDependencyError: msgpack is not installed.

    Example:
        >>> unpackb(packb({"t": [1, 2.5]}))
        {'t': [1, 2.5]}
    """
    return decode_types(parse_msgpack(memoryview(data).cast("B")))


def parse_msgpack(data: memoryview) -> Any:
    """Return bytes of MessagePack as plain scalars, lists and dicts; binary values are views on them."""
    message = _Message(data)
    end = message.find_end(0)
    if end != len(data):
        raise FormatError(f"{len(data) - end} bytes after the end of the value", location=f"byte {end}")
    return message.value(0, "")[0]


def _refuse(code: int, data: bytes) -> Any:  # noqa: ARG001  (as msgpack calls it)
    raise FormatError(f"an extension type of MessagePack, {code}, which SciSerialize does not have")


def msgpack_module() -> Any:
    """Return the package msgpack."""
    return load_package("msgpack", "SciSerialize as MessagePack needs msgpack", "'sheetarray[sciserialize]'")


# The value of one name written into a file ----------------------------------------------------------------------------

_BIN_32 = b"\xc6"  # begins binary data of MessagePack whose length takes four bytes
_LARGE = 2**16  # bytes; the lengths of binary data from here on take four bytes in MessagePack
_BASE64_BLOCK = 3 * 2**18  # bytes of which base64 is made at once


def encode_map_header(count: int) -> bytes:
    """Return the bytes before the members of a map in MessagePack."""
    if count < 16:
        return bytes([0x80 | count])
    return b"\xde" + count.to_bytes(2, "big") if count < 2**16 else b"\xdf" + count.to_bytes(4, "big")


def write_msgpack_value(sink: Sink, plain: Any) -> None:
    """Write a value as MessagePack; the bytes of a large array are written as they lie, and not copied by a packer."""
    if not isinstance(plain, dict) or not any(map(_is_large, plain.values())):
        sink.write(pack_plain(plain))
        return
    sink.write(encode_map_header(len(plain)))
    for key, value in plain.items():
        sink.write(pack_plain(key))
        if _is_large(value):
            sink.write(_BIN_32 + value.nbytes.to_bytes(4, "big"))
            sink.write(value)
        else:
            sink.write(pack_plain(value))


def _is_large(value: Any) -> bool:
    return isinstance(value, memoryview) and value.nbytes >= _LARGE


def write_json_value(sink: Sink, plain: dict[str, Any]) -> None:
    """Write the dict of an array as JSON; the base64 of its bytes is made and written block by block."""
    data = plain["bytes"]
    if not isinstance(data, memoryview):
        sink.write(dump_plain(plain).encode("ascii"))
        return
    before, after = dump_plain({**plain, "bytes": {BASE64: ""}}).encode("ascii").split(b'""', 1)
    sink.write(before + b'"')
    for start in range(0, len(data), _BASE64_BLOCK):
        sink.write(base64.b64encode(data[start : start + _BASE64_BLOCK]))
    sink.write(b'"' + after)
