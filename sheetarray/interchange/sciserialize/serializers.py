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
from ...linear.json_text import faults_as_format_errors
from ..untrusted import load_package
from .dicts import BASE64, DEEPEST, MOST_VALUES, count_plain_values
from .nested import decode_types, encode_views, reject_duplicate_keys

# Where values of MessagePack begin and end ----------------------------------------------------------------------------

# What the first byte of a value says: the number of values within it, the bytes before its content, and those of it.
_HEADS = {
    **dict.fromkeys((*range(0x80), 0xC0, 0xC2, 0xC3, *range(0xE0, 0x100)), (0, 1, 0)),  # small integers, None, booleans
    **{byte: (2 * (byte & 15), 1, 0) for byte in range(0x80, 0x90)},  # short maps
    **{byte: (byte & 15, 1, 0) for byte in range(0x90, 0xA0)},  # short lists
    **{byte: (0, 1, byte & 31) for byte in range(0xA0, 0xC0)},  # short texts
    **{byte: (0, size, 0) for byte, size in enumerate((5, 9, 2, 3, 5, 9, 2, 3, 5, 9), 0xCA)},  # floats, integers
}
# The bytes of the length or count that follows a first byte: of binary data, text, lists and maps.
_WIDTHS = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}
_LARGE, _LARGE_HEAD = 2**16, 5  # bytes of binary data from which on its head takes five, and it is not copied
_TEXTS = frozenset((*range(0xA0, 0xC0), 0xD9, 0xDA, 0xDB))
_MAPS = frozenset((*range(0x80, 0x90), 0xDE, 0xDF))


def look_through(data: memoryview) -> tuple[int, list[slice]]:
    """Return the byte after the first value, and where large binary values stand in it, with their heads."""
    at, size, large = 0, len(data), list[slice]()
    due, total = 1, 1  # values to come, and counted in all
    left, is_map = 1, False  # values to come in the innermost list or map, and which of the two it is
    around: list[tuple[int, bool]] = []  # the same of those around it
    while left or around:
        if not left:
            left, is_map = around.pop()
            continue
        if due > size - at:
            raise FormatError(f"cut off: {due} values are to come in {size - at} bytes", location=f"byte {at}")
        byte = data[at]
        inner, head, content = _HEADS.get(byte) or _read_head(data, at)
        if head + content > size - at:
            reason = f"cut off: {head + content} bytes needed, {size - at} left"
            raise FormatError(reason, location=f"byte {at}")
        if byte in _TEXTS:
            if content:
                _check_utf8(data[at + head : at + head + content], at)
        elif is_map and left % 2 == 0:
            raise FormatError("a key that is not text", location=f"byte {at}")
        elif content >= _LARGE:
            large.append(slice(at, at + head + content))
        at += head + content
        left -= 1
        due -= 1
        if inner:
            due += inner
            total += inner
            if total > MOST_VALUES and due <= size - at:
                reason = f"{total:,} values; at most {MOST_VALUES:,} are read, besides the elements of arrays"
                raise FormatError(reason, location=f"byte {at}")
            around.append((left, is_map))
            left, is_map = inner, byte in _MAPS
            if len(around) > DEEPEST:
                raise FormatError(f"nested more than {DEEPEST} deep", location=f"byte {at}")
    return at, large


def _read_head(data: memoryview, at: int) -> tuple[int, int, int]:
    """Return what `_HEADS` does for a value whose length or count follows its first byte."""
    byte = data[at]
    if byte not in _WIDTHS:
        raise FormatError(f"no value of SciSerialize begins with the byte {byte:#x}", location=f"byte {at}")
    head = 1 + _WIDTHS[byte]
    count = int.from_bytes(data[at + 1 : at + head], "big")
    if byte < 0xDC:
        return 0, head, count
    return count * (2 if byte in _MAPS else 1), head, 0


def _check_utf8(text: memoryview, at: int) -> None:
    try:
        str(text, "utf-8")
    except UnicodeDecodeError as error:
        raise FormatError("text that is not UTF-8", location=f"byte {at}") from error


# JSON and MessagePack of nested data ----------------------------------------------------------------------------------

MOST_BYTES = 2**32 - 1  # of one binary value in MessagePack


def dumps(value: Any, *, extensions: bool = False) -> str:
    """Return nested data as JSON text.

    Args:
        value: as for `encode_types`.
        extensions: as for `encode_types`.

    Raises:
        DTypeError: the format cannot hold a value. The message has the path to the value.
        LimitError: lists and dicts are more than 100 deep, or hold more than 3,000,000 values.

    Example:
        >>> import datetime
        >>> dumps(datetime.timedelta(0, 11, 626512))
        '{"microsec": 626512, "seconds": 11, "__type__": "timedelta", "days": 0}'
    """
    return dump_plain(encode_views(value, extensions=extensions))


def dump_plain(plain: Any) -> str:
    """Return the plain data that `encode_types` gives as JSON text."""
    check_value_count(count_plain_values(plain))
    try:
        return json.dumps(plain, default=_as_base64)
    except ValueError as error:  # an integer of more digits than Python prints
        raise LimitError(f"JSON cannot hold it ({error})") from error


def check_value_count(values: int) -> None:
    """Refuse to write more values than are read again."""
    if values > MOST_VALUES:
        raise LimitError(
            f"{values:,} values in lists and dicts, but at most {MOST_VALUES:,} can be read again: put them into "
            "arrays, whose elements do not count (those of arrays of objects do)"
        )


def _as_base64(data: Any) -> dict[str, str]:
    return {BASE64: base64.b64encode(data).decode("ascii")}


def loads(text: str | bytes | bytearray) -> Any:
    """Return the nested data of a JSON text.

    Args:
        text: JSON, as text or in UTF-8.

    Raises:
        FormatError: the text is not JSON, or a value is wrong. `.location` is the path to the value, such as
            `x.shape[1]`.

    Example:
        >>> loads('{"__type__": "datetime", "isostr": "2015-02-18T21:40:23Z"}')
        datetime.datetime(2015, 2, 18, 21, 40, 23, tzinfo=datetime.timezone.utc)
    """
    return decode_types(parse_packed_json(text))


def parse_packed_json(text: str | BytesLike | bytearray) -> Any:
    """Return a JSON text as plain scalars, lists and dicts."""
    with faults_as_format_errors():
        if not isinstance(text, str):
            text = str(memoryview(text), json.detect_encoding(text[:4]), "surrogatepass")
        check_structure(text, MOST_VALUES, MOST_VALUES)
        return json.loads(text, object_pairs_hook=reject_duplicate_keys)


def packb(value: Any, *, extensions: bool = False) -> bytes:
    """Return nested data as MessagePack bytes.

    Args:
        value: as for `encode_types`.
        extensions: as for `encode_types`.

    Raises:
        DTypeError: the format cannot hold a value. The message has the path to the value.
        LimitError: an integer has more than 64 bits, an array more than 4 GiB, or lists and dicts are more than 100
            deep or hold more than 3,000,000 values.
        MissingDependencyError: msgpack is not installed.

    Example:
        >>> packb([True, None, 1.5]).hex(" ", 1)
        '93 c3 c0 cb 3f f8 00 00 00 00 00 00'
    """
    return pack_plain(encode_views(value, extensions=extensions))


def pack_plain(plain: Any) -> bytes:
    """Return the plain data that `encode_types` gives as bytes of MessagePack."""
    check_value_count(count_plain_values(plain))
    try:
        content: bytes = msgpack_module().packb(plain, use_bin_type=True)
    except (OverflowError, ValueError) as error:
        raise LimitError(
            f"MessagePack cannot hold an integer of more than 64 bits, or a value of more than {MOST_BYTES} bytes: "
            "split the array, or write JSON"
        ) from error
    return content


def unpackb(data: bytes | bytearray | memoryview) -> Any:
    """Return the nested data that MessagePack bytes hold.

    Args:
        data: one value of MessagePack, and no other bytes.

    Raises:
        FormatError: the bytes are not MessagePack, or a value is wrong. `.location` is the byte, or the path to the
            value, such as `x.shape[1]`.
        MissingDependencyError: msgpack is not installed.

    Example:
        >>> unpackb(packb({"t": [1, 2.5]}))
        {'t': [1, 2.5]}
    """
    return decode_types(parse_msgpack(memoryview(data).cast("B")))


def parse_msgpack(data: memoryview) -> Any:
    """Return bytes of MessagePack as plain scalars, lists and dicts; large binary values are views on them."""
    unpack = msgpack_module().unpackb
    end, large = look_through(data)
    if end != len(data):
        raise FormatError(f"{len(data) - end} bytes after the end of the value", location=f"byte {end}")
    views = [data[span.start + _LARGE_HEAD : span.stop] for span in large]
    pieces: list[bytes | memoryview] = []
    start = 0
    for number, span in enumerate(large):  # msgpack gets a number of four bytes, of an extension type, in its place
        pieces += [data[start : span.start], b"\xd6\0" + number.to_bytes(4, "big")]
        start = span.stop
    return unpack(
        b"".join([*pieces, data[start:]]),
        object_pairs_hook=reject_duplicate_keys,
        ext_hook=lambda _, number: views[int.from_bytes(number, "big")],
    )


def msgpack_module() -> Any:
    """Return the package msgpack."""
    return load_package("msgpack", "SciSerialize as MessagePack needs msgpack", "'sheetarray[sciserialize]'")


# An array written into a file -----------------------------------------------------------------------------------------

_BASE64_BLOCK = 3 * 2**18  # bytes of which base64 is made at once


def write_msgpack_value(sink: Sink, plain: Any) -> None:
    """Write a value as MessagePack; the bytes of a large array are written as they lie, and not copied by a packer."""
    if not isinstance(plain, dict) or not any(map(_is_large, plain.values())):
        sink.write(pack_plain(plain))
        return
    sink.write(msgpack_module().Packer().pack_map_header(len(plain)))
    for key, value in plain.items():
        sink.write(pack_plain(key))
        if _is_large(value):
            sink.write(b"\xc6" + value.nbytes.to_bytes(4, "big"))
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
