"""Nested data <-> plain scalars, bytes, lists and dicts.

Source: https://github.com/SciSerialize/Definition, `encode_types` and `decode_types`. Keys are written in the order of
its examples, and read in any; a dict of a type that is not known stays a dict; nothing in it chooses what is imported
or called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

from ...errors import DTypeError, FormatError, LimitError
from ...files import repeated_key
from .array_dicts import decode_base64, encode_array, parse_array_dict
from .frames import decode_frame, encode_frame, is_frame
from .times import decode_datetime, decode_timedelta, encode_datetime, encode_timedelta
from .words import BASE64, DEEPEST, OLD_BASE64, OLD_TYPE, RESERVED, TYPE, base64_text, path_inside, type_name


def encode_types(value: Any, *, extensions: bool = False) -> Any:
    """Return nested data in plain Python types: None, bool, int, float, str, bytes, lists and dicts.

    Tuples become lists. NumPy scalars become plain numbers, but a complex one becomes an array without dimensions.

    Args:
        value: plain Python types, datetime, timedelta, ndarrays of bool, int, float or complex, and pandas DataFrames
            of one such dtype, in lists and dicts up to 100 deep.
        extensions: also encode types that readers in other languages may not know: arrays of text, objects, datetime64
            and timedelta64, masked arrays, sets, DataFrames of several dtypes.

    Raises:
        DTypeError: the format cannot hold a value. The message has the path to the value.
        LimitError: lists and dicts are more than 100 deep.

    Example:
        >>> encode_types({"t": np.array([1, 2], dtype="uint8")})
        {'t': {'shape': [2], 'dtype': 'uint8', 'bytes': b'\\x01\\x02', '__type__': 'ndarray'}}
    """
    return _freeze(encode_views(value, extensions=extensions))


def encode_views(value: Any, *, extensions: bool = False) -> Any:
    """Return the same as `encode_types`, with memoryviews for bytes if that saves a copy."""
    return _Encoder(extensions).encode(value, "", 0)


class _Encoder:
    def __init__(self, extensions: bool) -> None:
        self._extensions = extensions
        self._refusal: DTypeError | None = None  # the error that has the path to the value already

    def _refuse(self, path: str, reason: str) -> DTypeError:
        self._refusal = DTypeError(f"{path}: {reason}" if path else reason)
        return self._refusal

    def encode(self, value: Any, path: str, depth: int) -> Any:
        if value is None or isinstance(value, (bool, bytes, bytearray)):
            return bytes(value) if isinstance(value, (bytes, bytearray)) else value
        if isinstance(value, (int, float)):
            return int(value) if isinstance(value, int) else float(value)
        if isinstance(value, str):
            return self._text(value, path)
        if depth >= DEEPEST:
            raise LimitError(f"{path[:80]}: nested more than {DEEPEST} deep")
        if isinstance(value, dict):
            return self._dict(value, path, depth)
        if isinstance(value, (list, tuple)):
            return self._list(value, path, depth)
        try:
            return self._encode_typed(value, path, depth)
        except DTypeError as error:
            if error is self._refusal:
                raise
            raise self._refuse(path, str(error)) from error

    def _text(self, value: str, path: str) -> str:
        try:
            _ = value.isascii() or value.encode()
        except UnicodeEncodeError as error:
            raise self._refuse(path, f"text that is not valid Unicode ({error.reason})") from error
        return str(value)

    def _list(self, values: Iterable[Any], path: str, depth: int) -> list[Any]:
        return [self.encode(value, path_inside(path, index), depth + 1) for index, value in enumerate(values)]

    def _dict(self, value: dict[Any, Any], path: str, depth: int) -> dict[str, Any]:
        for key in value:
            if not isinstance(key, str):
                raise self._refuse(path, f"the keys of a dict are text, not {type(key).__name__}")
            if key in (TYPE, OLD_TYPE) or (len(value) == 1 and key in (BASE64, OLD_BASE64)):
                raise self._refuse(path, f"the key {key!r} has a meaning of its own: rename it")
        return {self._text(k, path): self.encode(v, path_inside(path, k), depth + 1) for k, v in value.items()}

    def _encode_typed(self, value: Any, path: str, depth: int) -> Any:
        def encode_inner(values: Any) -> Any:
            return self.encode(values, path, depth + 1)

        if isinstance(value, datetime):
            return encode_datetime(value)
        if isinstance(value, timedelta):
            return encode_timedelta(value)
        if isinstance(value, np.ma.MaskedArray):
            return self._encode_masked(value, encode_inner)
        if isinstance(value, np.generic) and value.dtype.kind in "biuf" and value.dtype.itemsize <= 8:
            return value.item()
        if isinstance(value, (np.ndarray, np.generic, complex)):
            return encode_array(np.asarray(value), extensions=self._extensions, nested=encode_inner)
        if is_frame(value):
            return encode_frame(value, extensions=self._extensions, nested=encode_inner)
        if isinstance(value, (set, frozenset)):
            self._extension("sets", "make it a list")
            return {TYPE: "unique_set", "set": encode_inner(list(value))}
        advice = "make it a datetime" if isinstance(value, date) else "make it an ndarray, a list or a dict"
        raise DTypeError(f"SciSerialize holds no {type(value).__name__}: {advice}")

    def _encode_masked(self, value: Any, encode_inner: Any) -> dict[str, Any]:
        self._extension("masked arrays", "fill it first, for example a.filled(np.nan)")
        form = encode_array(np.ma.getdata(value), extensions=True, nested=encode_inner)
        mask = np.ma.getmaskarray(value)
        form[TYPE] = "maskedarray"
        return {**form, "mask_bytes": mask.tobytes(), "fill_value": encode_inner(value.fill_value)}

    def _extension(self, what: str, instead: str) -> None:
        if not self._extensions:
            raise DTypeError(f"{what} are not a part of SciSerialize: {instead}, or extensions=True writes them")


def _freeze(value: Any) -> Any:
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, dict):
        return {key: _freeze(item) for key, item in value.items()}
    return [_freeze(item) for item in value] if isinstance(value, list) else value


def check_array_name(name: str) -> None:
    """Refuse a name of an array that a file of named arrays cannot carry."""
    if name in RESERVED:
        raise LimitError(f"an array cannot have the name {name!r}, which has a meaning of its own in SciSerialize")


_SCALARS = (type(None), bool, int, float, str)
_PLAIN = frozenset(_SCALARS)


class DuplicateKey(dict[str, Any]):
    """A dict whose JSON object had a key twice; the error is raised later, when the path to the dict is known."""

    key: str


def reject_duplicate_keys(pairs: Any) -> dict[str, Any]:
    """Return the dict of an object's keys and values; `decode_types` refuses one whose key stands twice."""
    mapping = dict(pairs)
    if len(mapping) == len(pairs):
        return mapping
    doubled = DuplicateKey(mapping)
    doubled.key = repeated_key(pairs) or ""
    return doubled


def decode_types(value: Any) -> Any:
    """Return nested data in which plain dicts have become datetimes, timedeltas, ndarrays and DataFrames again.

    Args:
        value: the result of `encode_types`, or of a reader of JSON or MessagePack.

    Raises:
        FormatError: a value is wrong; `.location` is the path to it, such as `x.shape[1]`.

    Example:
        >>> decode_types({"__type__": "ndarray", "dtype": "int8", "shape": [1, 2], "bytes": b"\\x01\\x02"})
        array([[1, 2]], dtype=int8)
    """
    return decode_at(value, "")


def decode_at(value: Any, path: str, depth: int = 0) -> Any:
    """Return the nested data that stand at a path, as `decode_types` does for the whole."""
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if depth >= DEEPEST:
        raise FormatError(f"nested more than {DEEPEST} deep", location=path[:80] or None)
    if isinstance(value, list):
        if _PLAIN.issuperset(map(type, value)):
            return list(value)
        return [decode_at(item, path_inside(path, index), depth + 1) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return _dict(value, path, depth)
    raise FormatError(f"a {type(value).__name__}, which SciSerialize does not have", location=path or None)


def check_map_keys(value: dict[Any, Any], path: str) -> None:
    """Refuse keys that are no text, or stand twice."""
    if isinstance(value, DuplicateKey):
        raise FormatError(f"the key {value.key!r:.80} stands twice", location=path or None)
    for key in value:
        if not isinstance(key, str):
            raise FormatError(f"a key that is not text, but {type(key).__name__}", location=path or None)


def _dict(value: dict[Any, Any], path: str, depth: int) -> Any:
    check_map_keys(value, path)

    def decode(inner: Any, location: str) -> Any:
        return decode_at(inner, location, depth + 1)

    kind = type_name(value)
    if kind == "pypickle":
        raise FormatError("a pickle, which could run anything: never read", location=path or None)
    if kind in _TYPES:
        return _TYPES[kind](value, path, decode)
    if (text := base64_text(value)) is not None:
        return decode_base64(text, path)
    return {key: decode(item, path_inside(path, key)) for key, item in value.items()}


_Decode = Callable[[Any, str], Any]


def _ndarray(value: dict[str, Any], path: str, decode: _Decode) -> np.ndarray[Any, Any]:
    return parse_array_dict(value, path).array(decode)


def _decode_masked(value: dict[str, Any], path: str, decode: _Decode) -> Any:
    data = parse_array_dict(value, path).array(decode)
    location = path_inside(path, "mask_bytes")
    mask = decode(value.get("mask_bytes"), location)
    if not isinstance(mask, bytes) or mask.strip(b"\0\1") or (len(mask) != data.size and mask != b"\0"):
        raise FormatError(f"expected {data.size} bytes of 0 or 1", location=location)
    bits = np.frombuffer(mask, bool).reshape(data.shape) if len(mask) == data.size else False
    location = path_inside(path, "fill_value")
    fill = decode(value.get("fill_value"), location)
    if isinstance(fill, (list, dict, set)) or np.ndim(fill):
        raise FormatError(f"expected a fill value of {data.dtype}, found {type(fill).__name__}", location=location)
    try:
        return np.ma.MaskedArray(data, mask=bits, fill_value=fill)
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"no fill value of {data.dtype}", location=location) from error


def _set(value: dict[str, Any], path: str, decode: _Decode) -> set[Any]:
    location = path_inside(path, "set")
    items = value.get("set")
    if not isinstance(items, list):
        raise FormatError(f"expected a list, found {type(items).__name__}", location=location)
    try:
        return set(decode(items, location))
    except TypeError as error:
        raise FormatError("a set with an item that cannot be in a set", location=location) from error


_TYPES: dict[str | None, Callable[[dict[str, Any], str, _Decode], Any]] = {
    "datetime": lambda value, path, _: decode_datetime(value, path),
    "timedelta": lambda value, path, _: decode_timedelta(value, path),
    "ndarray": _ndarray,
    "dataframe": decode_frame,
    "maskedarray": _decode_masked,
    "unique_set": _set,
}
