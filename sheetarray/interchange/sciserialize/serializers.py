"""Nested data <-> JSON text, and <-> MessagePack bytes.

Sources: https://github.com/SciSerialize/Definition and https://github.com/msgpack/msgpack/blob/master/spec.md. JSON is
as Python's own module writes it: `, ` and `: ` between, other characters than ASCII escaped, with the words NaN,
Infinity and -Infinity; integers keep all their digits. MessagePack needs the package msgpack.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from ...errors import FormatError, LimitError
from ...files import BytesLike, check_structure
from ...linear.json_text import faults_as_format_errors
from ..untrusted import load_package
from . import words
from .msgpack_bounds import LARGE_HEAD, look_through
from .nested import decode_types, encode_views, reject_duplicate_keys
from .words import BASE64, count_plain_values

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
    if values > words.MOST_VALUES:
        raise LimitError(
            f"{values:,} values in lists and dicts, but at most {words.MOST_VALUES:,} can be read again: put them into "
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
        check_structure(text, words.MOST_VALUES, words.MOST_VALUES)
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
    views = [data[span.start + LARGE_HEAD : span.stop] for span in large]
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
