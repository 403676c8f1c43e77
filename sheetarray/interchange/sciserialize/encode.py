"""Nested data -> plain scalars, bytes, lists and dicts.

Source: https://github.com/SciSerialize/Definition, `encode_types`. Keys stand in the order of its examples.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

from ...errors import DTypeError, LimitError
from .array_dicts import encode_array
from .frames import encode_frame, is_frame
from .keys import BASE64, DEEPEST, OLD_BASE64, OLD_TYPE, RESERVED, TYPE, path_inside
from .times import encode_datetime, encode_timedelta


def encode_types(value: Any, *, extensions: bool = False) -> Any:
    """Return nested data as None, bool, int, float, str, bytes, lists and dicts.

    Args:
        value: those, tuples (which become lists), NumPy scalars (which become plain numbers; a complex one a 0-d
            array), datetime, timedelta, ndarrays of bool, int, float and complex, DataFrames of one such dtype.
        extensions: write too what readers in other languages may not know: arrays of text, objects, datetime64 and
            timedelta64, masked arrays, sets, DataFrames of several dtypes.

    Raises:
        DTypeError: a value that the format does not hold; names the path to it.
        LimitError: lists and dicts more than 100 deep.

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
            raise self._refuse(path, f"text that is no valid Unicode ({error.reason})") from error
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
        instead = "make it a datetime" if isinstance(value, date) else "make it an ndarray, a list or a dict"
        raise DTypeError(f"SciSerialize holds no {type(value).__name__}: {instead}")

    def _encode_masked(self, value: Any, encode_inner: Any) -> dict[str, Any]:
        self._extension("masked arrays", "fill it first, for example a.filled(np.nan)")
        form = encode_array(np.ma.getdata(value), extensions=True, nested=encode_inner)
        mask = np.ma.getmaskarray(value)
        form[TYPE] = "maskedarray"
        return {**form, "mask_bytes": mask.tobytes(), "fill_value": encode_inner(value.fill_value)}

    def _extension(self, what: str, instead: str) -> None:
        if not self._extensions:
            raise DTypeError(f"{what} are no part of SciSerialize: {instead}, or extensions=True writes them")


def _freeze(value: Any) -> Any:
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, dict):
        return {key: _freeze(item) for key, item in value.items()}
    return [_freeze(item) for item in value] if isinstance(value, list) else value


def check_name(name: str) -> None:
    """Refuse a name of an array that a file of named arrays cannot carry.

    Raises:
        LimitError: it is one of the format's own words.
    """
    if name in RESERVED:
        raise LimitError(f"an array cannot have the name {name!r}, which has a meaning of its own in SciSerialize")
