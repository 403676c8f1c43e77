"""Attributes as JSON and back, with their types.

Text, booleans, None, integers, finite floats, lists, and dictionaries with names for keys stand as they are.
Anything else is an object with one key, which says what it is:

    {"float": "NaN"}                        a float that is no number, or infinite
    {"complex": [1.0, {"float": "Infinity"}]}                real and imaginary part
    {"scalar": ["version", "1.0.0", ...]}   a scalar of NumPy, as the flat list of the exchange format
    {"ndarray": ["version", "1.0.0", ...]}  an array, likewise
    {"datetime": "2026-07-01T12:00:00+02:00"}                also "date"; of Python
    {"timedelta": [1, 30, 0]}               days, seconds and microseconds; of Python
    {"tuple": [1, 2]}
    {"text": ["a long ", "text"]}           a text longer than a cell, in pieces
    {"list": [[1, 2], [3]]}                 a long list, in pieces
    {"dict": {"float": 1.5}}                a dictionary that only looks like one of these, or a `frame`
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..elements import describe_object
from ..errors import DTypeError, FormatError
from ..linear.array import from_linear, to_linear
from ..linear.parsing import parse_header

DEEPEST_VALUE = 32  # lists and dictionaries within each other
LONGEST_TEXT = 2_500  # characters of a piece of text; each takes up to twelve in JSON
LONGEST_LIST = 256  # values of a piece of a list
_MOST_BITS = 4_096  # of an integer; Python reads no more than 4,300 digits

_INSTEAD = "text, numbers, booleans, dates, and lists, dictionaries or arrays of them are kept: make it one, or drop it"


def attribute_to_json(value: Any, path: str, depth: int = 0) -> Any:
    """Return the JSON form of an attribute's value.

    `path`: what messages call it, such as `t.attrs['units']`. `depth`: in how many lists and dictionaries it lies.

    Raises:
        DTypeError: it would not come back as it is; names it.

    Example:
        >>> attribute_to_json((1, float("nan")), "attrs['x']")
        {'tuple': [1, {'float': 'NaN'}]}
    """
    if depth > DEEPEST_VALUE:
        raise DTypeError(f"{path:.200}: lists and dictionaries are nested more than {DEEPEST_VALUE} deep")
    kind = type(value)
    if value is None or kind is bool:
        return value
    if isinstance(value, np.generic):
        return {"scalar": _cells(np.asarray(value), path)}
    if kind is np.ndarray:
        return {"ndarray": _cells(value, path)}
    writer = _WRITERS.get(kind)
    if writer is None:
        raise DTypeError(f"{path}: {describe_object(value)} as an attribute: {_INSTEAD}")
    return writer(value, path, depth)


def write_attrs(attrs: Mapping[Any, Any], path: str, depth: int = 0) -> dict[str, Any]:
    """Return attributes as JSON. A value that would not come back is an error that names its path."""
    for key in attrs:
        if type(key) is not str:
            raise DTypeError(f"{path}: {key!r:.60} as the name of an attribute: names are text")
    return {key: attribute_to_json(value, f"{path}[{key!r:.60}]", depth) for key, value in attrs.items()}


def _cells(array: Any, path: str) -> Any:
    if array.dtype.kind == "O" and any(isinstance(item, (list, tuple, dict)) for item in array.ravel().tolist()):
        raise DTypeError(f"{path}: an array of lists as an attribute: {_INSTEAD}")
    try:
        return _in_pieces(to_linear(array))
    except DTypeError as error:
        raise DTypeError(f"{path}: {error}") from error


def _in_pieces(items: list[Any]) -> Any:
    """Return a list, or an object of its pieces if it is long: a cell ends where a list begins."""
    if len(items) <= LONGEST_LIST:
        return items
    return {"list": [items[start : start + LONGEST_LIST] for start in range(0, len(items), LONGEST_LIST)]}


def _write_text(value: str, _path: str, _depth: int) -> Any:
    if len(value) <= LONGEST_TEXT:
        return value
    return {"text": [value[start : start + LONGEST_TEXT] for start in range(0, len(value), LONGEST_TEXT)]}


def _write_int(value: int, path: str, _depth: int) -> Any:
    if value.bit_length() > _MOST_BITS:
        raise DTypeError(f"{path}: an integer of {value.bit_length()} bits as an attribute; at most {_MOST_BITS}")
    return value


def _write_float(value: float, _path: str, _depth: int) -> Any:
    if math.isfinite(value):
        return value
    return {"float": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}


def _write_complex(value: complex, path: str, depth: int) -> Any:
    return {"complex": [_write_float(part, path, depth) for part in (value.real, value.imag)]}


def _write_list(value: list[Any], path: str, depth: int) -> Any:
    return _in_pieces([attribute_to_json(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)])


def _write_tuple(value: tuple[Any, ...], path: str, depth: int) -> Any:
    return {"tuple": _write_list(list(value), path, depth)}


def _write_dict(value: dict[Any, Any], path: str, depth: int) -> Any:
    items = write_attrs(value, path, depth + 1)
    return {"dict": items} if len(items) == 1 and next(iter(items)) in {*_READERS, "frame"} else items


def _write_datetime(value: dt.datetime, path: str, _depth: int) -> Any:
    if not isinstance(value.tzinfo, (dt.timezone, type(None))):
        raise DTypeError(f"{path}: a datetime with the zone {value.tzinfo}: .astimezone(datetime.timezone.utc) first")
    return {"datetime": value.isoformat()}


_WRITERS: dict[type, Callable[[Any, str, int], Any]] = {
    str: _write_text,
    int: _write_int,
    float: _write_float,
    complex: _write_complex,
    list: _write_list,
    tuple: _write_tuple,
    dict: _write_dict,
    dt.datetime: _write_datetime,
    dt.date: lambda value, _path, _depth: {"date": value.isoformat()},
    dt.timedelta: lambda value, _path, _depth: {"timedelta": [value.days, value.seconds, value.microseconds]},
}


def from_json(value: Any, path: str) -> Any:
    """Return the value of an attribute, given its JSON form.

    `value`: as `json.loads` gives it.

    Raises:
        FormatError: it says nothing that `attribute_to_json` writes; names it.

    Example:
        >>> from_json({"tuple": [1, {"float": "NaN"}]}, "attrs['x']")
        (1, nan)
    """
    if isinstance(value, list):
        return [from_json(item, path) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        kind, content = next(iter(value.items()))
        if kind in _READERS:
            try:
                return _READERS[kind](content, path)
            except (ValueError, TypeError, OverflowError) as error:
                reason = error.reason if isinstance(error, FormatError) else str(error)
                raise FormatError(f"{path}: no {kind}: {reason:.200}") from error
    return read_items_by_name(value, path)


def read_items_by_name(items: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the values of the attributes in an object, by their names."""
    return {key: from_json(item, f"{path}[{key!r:.60}]") for key, item in items.items()}


def _expect(value: Any, kind: type, what: str) -> Any:
    if type(value) is not kind:
        raise ValueError(f"expected {what}")
    return value


def _read_items(content: Any) -> list[Any]:
    """Return the items of a list, or of its pieces."""
    if isinstance(content, dict) and list(content) == ["list"]:
        return [item for piece in _expect(content["list"], list, "a list") for item in _expect(piece, list, "a list")]
    items: list[Any] = _expect(content, list, "a list")
    return items


def _read_text(content: Any, _path: str) -> str:
    return "".join(_expect(piece, str, "text") for piece in _expect(content, list, "a list of text"))


def _read_float(content: Any, _path: str) -> float:
    if content not in ("NaN", "Infinity", "-Infinity"):
        raise ValueError("expected NaN, Infinity or -Infinity")
    return float(content)


def _read_complex(content: Any, path: str) -> complex:
    real, imaginary = (_expect(from_json(part, path), float, "two floats") for part in content)
    return complex(real, imaginary)


def _read_array(content: Any, _path: str) -> np.ndarray[Any, Any]:
    cells = _read_items(content)
    header, start = parse_header(cells)
    if len(cells) - start < header.capacity or header.length > header.capacity:
        raise ValueError("fewer cells than elements")  # neither trimmed nor repeated: memory is what the text takes
    return from_linear(cells)


def _read_scalar(content: Any, path: str) -> Any:
    array = _read_array(content, path)
    if array.ndim or array.dtype.kind == "O":
        raise ValueError("an array of dimensions, or of objects")
    return array[()] if array.dtype.kind != "U" else np.str_(array[()])


def _read_timedelta(content: Any, _path: str) -> dt.timedelta:
    days, seconds, microseconds = (_expect(part, int, "three integers") for part in content)
    return dt.timedelta(days, seconds, microseconds)


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "text": _read_text,
    "float": _read_float,
    "complex": _read_complex,
    "scalar": _read_scalar,
    "ndarray": _read_array,
    "datetime": lambda content, _path: dt.datetime.fromisoformat(_expect(content, str, "text")),
    "date": lambda content, _path: dt.date.fromisoformat(_expect(content, str, "text")),
    "timedelta": _read_timedelta,
    "tuple": lambda content, path: tuple(from_json(item, path) for item in _read_items(content)),
    "list": lambda content, path: [from_json(item, path) for item in _read_items({"list": content})],
    "dict": lambda content, path: read_items_by_name(_expect(content, dict, "an object"), path),
}
