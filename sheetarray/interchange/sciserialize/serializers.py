"""Nested data <-> JSON text, and <-> MessagePack bytes.

Source: https://github.com/SciSerialize/Definition. JSON is as Python's own module writes it: `, ` and `: ` between,
other characters than ASCII escaped, with the words NaN, Infinity and -Infinity; integers keep all their digits.
MessagePack needs the package msgpack.
"""

from __future__ import annotations

import base64
import json
from types import ModuleType
from typing import Any

from ...errors import FormatError, LimitError, MissingDependencyError
from ...files import BytesLike, check_structure
from .decode import check_keys, decode_types, reject_duplicate_keys
from .encode import encode_views
from .keys import BASE64, MOST_VALUES, count_values, path_inside
from .skeleton import MessageSkeleton

MOST_BYTES = 2**32 - 1  # of one binary value in MessagePack


def dumps(value: Any, *, extensions: bool = False) -> str:
    """Return nested data as JSON text.

    Args:
        value: as for `encode_types`.
        extensions: as for `encode_types`.

    Raises:
        DTypeError: a value that the format does not hold; names the path to it.
        LimitError: lists and dicts more than 100 deep, or 3,000,000 values in them.

    Example:
        >>> import datetime
        >>> dumps(datetime.timedelta(0, 11, 626512))
        '{"microsec": 626512, "seconds": 11, "__type__": "timedelta", "days": 0}'
    """
    return dump_plain(encode_views(value, extensions=extensions))


def dump_plain(plain: Any) -> str:
    """Return the plain data that `encode_types` gives as JSON text.

    Raises:
        LimitError: an integer of more digits than Python prints, or more values than are read again.
    """
    check_count(count_values(plain))
    try:
        return json.dumps(plain, default=_as_base64)
    except ValueError as error:  # an integer of more digits than Python prints
        raise LimitError(f"no JSON holds it ({error})") from error


def check_count(values: int) -> None:
    """Refuse to write more values than are read again.

    Raises:
        LimitError: there are more.
    """
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
    """Return a JSON text as plain scalars, lists and dicts.

    Raises:
        FormatError: no JSON.
    """
    try:
        if not isinstance(text, str):
            text = str(memoryview(text), json.detect_encoding(text[:4]), "surrogatepass")
        check_structure(text, MOST_VALUES, MOST_VALUES)
        return json.loads(text, object_pairs_hook=reject_duplicate_keys)
    except json.JSONDecodeError as error:
        raise FormatError(f"no JSON: {error.msg}", location=f"line {error.lineno}, column {error.colno}") from error
    except UnicodeDecodeError as error:
        raise FormatError(
            f"no JSON: byte {error.start} is no {error.encoding}", location=f"byte {error.start}"
        ) from error
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError("an integer of more digits than any number has") from error
    except RecursionError as error:
        raise FormatError("nested too deeply") from error


def packb(value: Any, *, extensions: bool = False) -> bytes:
    """Return nested data as bytes of MessagePack.

    Args:
        value: as for `encode_types`.
        extensions: as for `encode_types`.

    Raises:
        DTypeError: a value that the format does not hold; names the path to it.
        LimitError: an integer of more than 64 bits, 4 GiB in one array, lists and dicts more than 100 deep, or
            3,000,000 values in them.
        MissingDependencyError: msgpack is not installed.

    Example:
        >>> packb([True, None, 1.5]).hex(" ", 1)
        '93 c3 c0 cb 3f f8 00 00 00 00 00 00'
    """
    return pack_plain(encode_views(value, extensions=extensions))


def pack_plain(plain: Any) -> bytes:
    """Return the plain data that `encode_types` gives as bytes of MessagePack.

    Raises:
        LimitError: as `packb`.
        MissingDependencyError: msgpack is not installed.
    """
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
    """Return bytes of MessagePack as plain scalars, lists and dicts; binary values are views on them.

    Raises:
        FormatError: no MessagePack.
        MissingDependencyError: msgpack is not installed.
    """
    tree = _Tree(data)
    end = tree.skeleton.find_end(0)
    if end != len(data):
        raise FormatError(f"{len(data) - end} bytes after the end of the value", location=f"byte {end}")
    return tree.value(0, "")[0]


class _Tree:
    """Builds what a skeleton has looked through: maps here, what is in them by msgpack."""

    def __init__(self, data: memoryview) -> None:
        self.skeleton = MessageSkeleton(data)
        self._data = data
        self._msgpack = msgpack_module()

    def value(self, at: int, path: str) -> tuple[Any, int]:
        """Return the value that begins at a byte, and the byte after it."""
        size = self.skeleton.map_size(at)
        if size is not None:
            return self._map(*size, path)
        end = self.skeleton.find_end(at)
        binary = self.skeleton.binary(at, end)
        return (self._plain(at, end) if binary is None else binary), end

    def _map(self, count: int, at: int, path: str) -> tuple[dict[str, Any], int]:
        pairs = []
        for _ in range(count):
            key, end = self._key(at)
            value, at = self.value(end, path_inside(path, key))
            pairs.append((key, value))
        mapping = reject_duplicate_keys(pairs)
        check_keys(mapping, path)
        return mapping, at

    def _key(self, at: int) -> tuple[str, int]:
        """Return the key that begins at a byte, and the byte after it."""
        text = self.skeleton.text(at)
        if text is None:
            other = self._plain(at, self.skeleton.find_end(at))
            raise FormatError(f"a key that is no text, but {type(other).__name__}", location=f"byte {at}")
        try:
            return str(self._data[text[0] : text[1]], "utf-8"), text[1]
        except UnicodeDecodeError as error:
            raise FormatError("text that is no UTF-8", location=f"byte {at}") from error

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
            raise FormatError("text that is no UTF-8", location=f"byte {at}") from error
        except (ValueError, TypeError, OverflowError) as error:  # msgpack's own errors are ValueErrors
            raise FormatError(f"no MessagePack ({type(error).__name__})", location=f"byte {at}") from error


def _refuse(code: int, data: bytes) -> Any:  # noqa: ARG001  (as msgpack calls it)
    raise FormatError(f"an extension type of MessagePack, {code}, which SciSerialize does not have")


def msgpack_module() -> ModuleType:
    """Return the package msgpack.

    Raises:
        MissingDependencyError: it is not installed.
    """
    try:
        import msgpack  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingDependencyError(
            "SciSerialize as MessagePack needs msgpack: pip install 'sheetarray[sciserialize]'"
        ) from error
    module: ModuleType = msgpack
    return module
