"""The objects of a generic array: which are scalars that a cell holds, and what to do with all others.

A scalar is None, a bool, an int, a finite float or a text. What else people put into arrays of objects (dates, bytes,
decimals, lists) is refused in words that say what it is and what to write instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SCALARS = (type(None), bool, int, float, str)
_PLAIN = frozenset(SCALARS)

_MISSING = "use None for a missing value"
_LISTS = "make one array of equal lists, np.array(value), or an awkward.Array of lists of different lengths"
_MOMENTS = "make a datetime64 array, np.array(values, 'datetime64[us]')"
_DURATIONS = "make a timedelta64 array, np.array(values, 'timedelta64[us]')"
_TEXT = "make text of it, str(value)"

_INSTEAD = {
    "bytes": "decode it to text, value.decode('utf-8'), or make an array of it, np.frombuffer(value, 'uint8')",
    "bytearray": "make an array of it, np.frombuffer(value, 'uint8')",
    "memoryview": "make an array of it, np.frombuffer(value, 'uint8')",
    "Decimal": "str(value) keeps every digit, float(value) is rounded",
    "Fraction": "str(value) keeps it as text, float(value) is rounded",
    "Timestamp": "make a datetime64 array, pd.to_datetime(values).to_numpy()",
    "Timedelta": "make a timedelta64 array, pd.to_timedelta(values).to_numpy()",
    "NaTType": _MISSING,
    "NAType": _MISSING,
    "MaskedConstant": _MISSING,
    "Period": "make a datetime64 array, pd.PeriodIndex(values).to_timestamp().to_numpy(), or text, str(value)",
    "Interval": "write one array of .left and one of .right, or text, str(value)",
    "datetime": f"{_MOMENTS}; times with a zone first in UTC, without it",
    "date": "make a datetime64 array, np.array(values, 'datetime64[D]')",
    "time": "make text of it, value.isoformat()",
    "timedelta": _DURATIONS,
    "datetime64": "make one array of all of them, np.array(values, 'datetime64[us]')",
    "timedelta64": "make one array of all of them, np.array(values, 'timedelta64[us]')",
    "complex": "make a complex array, np.array(values, 'complex128')",
    "complexfloating": "make a complex array, np.array(values, 'complex128')",
    "longdouble": "float(value) is rounded, str(value) keeps every digit",
    "dict": "write one array for each key",
    "Mapping": "write one array for each key",
    "set": "make a list of it, sorted(value)",
    "frozenset": "make a list of it, sorted(value)",
    "list": _LISTS,
    "tuple": _LISTS,
    "ndarray": _LISTS,
    "range": "make a list of it, list(value)",
    "generator": "make a list of it, list(value)",
    "Iterator": "make a list of it, list(value)",
    "PurePath": _TEXT,
    "UUID": _TEXT,
    "Enum": "write its value, member.value",
}
"""By the name of a class or of one of its bases, so that no package is imported to know its objects."""


def to_scalar(value: Any) -> Any:
    """Return the scalar that an object is, NumPy's scalars and subclasses of Python's unwrapped; any other object as it
    is.

    Example:
        >>> [to_scalar(value) for value in (np.int8(3), np.float32(0.5), np.str_("a"))]
        [3, 0.5, 'a']
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, np.generic):
        is_exact = value.dtype.kind in "biuU" or (value.dtype.kind == "f" and value.dtype.itemsize <= 8)
        return value.item() if is_exact else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    return str.__str__(value) if isinstance(value, str) else value


def describe_object(value: Any) -> str:
    """Return a noun with its article that says what kind of object a value is: `a Decimal`, `an ndarray`.

    Example:
        >>> describe_object(b"x"), describe_object(None), describe_object([1])
        ('bytes', 'None', 'a list')
    """
    if value is None:
        return "None"
    name = type(value).__name__
    if name in ("bytes", "NAType", "NaTType"):
        return {"NAType": "NA", "NaTType": "NaT"}.get(name, name)
    return f"{'an' if name == 'ndarray' or (name[:1] in 'AEIOaeiou') else 'a'} {name}"


def suggest_instead(value: Any) -> str:
    """Return advice on what to write in place of an object that no cell can hold."""
    if type(value).__module__.partition(".")[0] == "cftime":
        return "convert the calendar, dataset.convert_calendar('standard', use_cftime=False), or make text, str(value)"
    for base in type(value).__mro__:
        if base.__name__ in _INSTEAD:
            return _INSTEAD[base.__name__]
    if hasattr(value, "__next__"):
        return _INSTEAD["Iterator"]
    return "make numbers or text of it"
