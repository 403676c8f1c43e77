"""Plain scalars, bytes, lists and dicts -> nested data.

Source: https://github.com/SciSerialize/Definition, `decode_types`. Keys may stand in any order; a dict of a type that
is not known stays a dict; nothing in it chooses what is imported or called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import FormatError
from ...files import repeated_key
from .array_dicts import decode_base64, parse_array_dict
from .frames import decode_frame
from .keys import DEEPEST, base64_text, path_inside, type_name
from .times import decode_datetime, decode_timedelta

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
    """Return nested data with datetime, timedelta, ndarray, DataFrame (and masked arrays, sets) made of plain dicts.

    Args:
        value: what `encode_types` gives, or a JSON or MessagePack reader.

    Raises:
        FormatError: `.location` is the path to the value, such as `x.shape[1]`.

    Example:
        >>> decode_types({"__type__": "ndarray", "dtype": "int8", "shape": [1, 2], "bytes": b"\\x01\\x02"})
        array([[1, 2]], dtype=int8)
    """
    return decode_at(value, "")


def decode_at(value: Any, path: str, depth: int = 0) -> Any:
    """Return the nested data that stand at a path, as `decode_types` does for the whole.

    Raises:
        FormatError: as `decode_types`; also where dicts and lists are more than 100 deep.
    """
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


def check_keys(value: dict[Any, Any], path: str) -> None:
    """Refuse keys that are no text, or stand twice.

    Raises:
        FormatError: names the key.
    """
    if isinstance(value, DuplicateKey):
        raise FormatError(f"the key {value.key!r:.80} stands twice", location=path or None)
    for key in value:
        if not isinstance(key, str):
            raise FormatError(f"a key that is no text, but {type(key).__name__}", location=path or None)


def _dict(value: dict[Any, Any], path: str, depth: int) -> Any:
    check_keys(value, path)

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
        raise FormatError("a set of what cannot be in one", location=location) from error


_TYPES: dict[str | None, Callable[[dict[str, Any], str, _Decode], Any]] = {
    "datetime": lambda value, path, _: decode_datetime(value, path),
    "timedelta": lambda value, path, _: decode_timedelta(value, path),
    "ndarray": _ndarray,
    "dataframe": decode_frame,
    "maskedarray": _decode_masked,
    "unique_set": _set,
}
