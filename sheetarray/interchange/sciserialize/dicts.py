"""The dicts that stand for times, arrays and DataFrames; words of the format, and paths to values in nested data.

Source: https://github.com/SciSerialize/Definition; what it leaves open is as its Python code has it. Elements are
row-major and little-endian, a bool takes one byte, complex numbers are two floats, arrays of objects are nested lists.
In JSON bytes are base64. Times are naive or have an offset from UTC; a time zone's name is not kept. Read are offsets
`Z +HH +HHMM +HH:MM` and fractions of up to nine digits, of which a datetime keeps six. Labels of DataFrames that are
times are datetimes, not text; names of the two indexes are not kept.
"""

from __future__ import annotations

import binascii
import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from ... import dtypes
from ...elements import to_fixed_width
from ...errors import DTypeError, Finding, FormatError, locating
from ...linear.header import check_dimensions
from ...linear.parsing import warn_of_finding
from ..file_array import FileArray, in_member

# Words of the format, and paths to values -----------------------------------------------------------------------------

TYPE, BASE64 = "__type__", "__base64__"
OLD_TYPE, OLD_BASE64 = "~#type", "~#base64"  # until December 2014; read only
RESERVED = frozenset((TYPE, BASE64, OLD_TYPE, OLD_BASE64))
DEEPEST = 100  # dicts and lists within each other
MOST_VALUES = 3_000_000  # of one text, keys too; the elements of an array are one, those of an object array each


def count_plain_values(plain: object) -> int:
    """Return the number of values in plain data: scalars, bytes, lists, dicts and the keys of those.

    Example:
        >>> count_plain_values({"a": [1, 2]})
        5
    """
    total, waiting = 1, [plain]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            total += 2 * len(value)
            waiting.extend(inner for inner in value.values() if isinstance(inner, (dict, list)))
        elif isinstance(value, list):
            total += len(value)
            waiting.extend(inner for inner in value if isinstance(inner, (dict, list)))
    return total


def path_inside(path: str, key: str | int) -> str:
    """Return the path to an item, such as `x.shape[1]`; "" is that of the whole.

    Example:
        >>> path_inside(path_inside("x", "shape"), 1)
        'x.shape[1]'
    """
    if isinstance(key, int):
        return f"{path}[{key}]"
    shown = key if len(key) <= 60 else f"{key[:57]}..."
    return f"{path}.{shown}" if path else shown


def type_name(value: object) -> str | None:
    """Return the type that a dict says it is; None for a plain one, and for everything else."""
    if not isinstance(value, dict):
        return None
    name = value.get(TYPE, value.get(OLD_TYPE))
    return name if isinstance(name, str) else None


def base64_text(value: object) -> str | None:
    """Return the text of a dict that stands for bytes; None for everything else."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    text = value.get(BASE64, value.get(OLD_BASE64))
    return text if isinstance(text, str) else None


# datetime and timedelta -----------------------------------------------------------------------------------------------

_ISO = re.compile(
    r"\d{4}-\d\d-\d\d[T ](?:[01]\d|2[0-3]):\d\d(?::\d\d(?:\.(\d{1,9}))?)?"
    r"(?:Z|[+-]\d\d(?::?[0-5]\d(?::[0-5]\d(?:\.\d{6})?)?)?)?",
    re.ASCII,
)
_MOST_MICROSECONDS = 10**22  # beyond any timedelta


def encode_datetime(value: datetime) -> dict[str, Any]:
    """Return the dict of a time.

    Example:
        >>> encode_datetime(datetime(2015, 2, 18, 21, 40, 23, 511717))
        {'isostr': '2015-02-18T21:40:23.511717', '__type__': 'datetime'}
    """
    text = value.isoformat()
    if _ISO.fullmatch(text) is None:
        raise DTypeError(f"{value!r} is not a time: store None instead")
    return {"isostr": text, TYPE: "datetime"}


def decode_datetime(form: Mapping[str, Any], path: str) -> datetime:
    """Return the time of a dict."""
    text, path = form.get("isostr"), path_inside(path, "isostr")
    match = _ISO.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise FormatError(
            f"expected a time such as 2015-02-18T21:40:23.511717+01:00, found {text!r:.60}", location=path
        )
    if (match[1] or "")[6:].strip("0"):
        warn_of_finding(
            Finding("warning", path, f"{match[0]} has more digits than the microseconds that a datetime keeps")
        )
    try:
        return datetime.fromisoformat(match[0])
    except ValueError as error:
        raise FormatError(f"no such time: {match[0]} ({error})", location=path) from error


def encode_timedelta(value: timedelta) -> dict[str, Any]:
    """Return the dict of a difference; only its days may be negative.

    Example:
        >>> encode_timedelta(timedelta(seconds=-1))
        {'microsec': 0, 'seconds': 86399, '__type__': 'timedelta', 'days': -1}
    """
    if getattr(value, "nanoseconds", 0):
        raise DTypeError(f"{value!r} has nanoseconds; a timedelta holds microseconds: round it first")
    return {"microsec": value.microseconds, "seconds": value.seconds, TYPE: "timedelta", "days": value.days}


def decode_timedelta(form: Mapping[str, Any], path: str) -> timedelta:
    """Return the difference of a dict."""
    days, seconds, micro = (_integer_field(form, key, path) for key in ("days", "seconds", "microsec"))
    try:
        return timedelta(days, seconds, micro)
    except OverflowError as error:
        raise FormatError(f"no such timedelta ({error})", location=path) from error


def _integer_field(form: Mapping[str, Any], key: str, path: str) -> int:
    value = form.get(key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # Matlab has no other numbers
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _MOST_MICROSECONDS:
        raise FormatError(f"expected an integer, found {type(value).__name__}", location=path_inside(path, key))
    return value


# ndarray --------------------------------------------------------------------------------------------------------------

_PLAIN = ("float", "complex", "int", "bool")  # kinds that every implementation knows
_NAMED = frozenset(name for name, dtype in dtypes.DTYPES.items() if dtype.kind in _PLAIN)
_CODED = re.compile(
    r"[<>|]?(?:b1|[iu][1248]|f[248]|c8|c16|U\d{1,9}|[Mm]8\[[^\]]{1,12}\])|(?:datetime64|timedelta64)\[[^\]]{1,12}\]",
    re.ASCII,
)
_OBJECT = ("object", "O", "|O")
_SURROGATES = (0xD800, 0xDFFF)


# Writing -----------------------------------------------------------------------------------------------------


def encode_array(array: np.ndarray[Any, Any], *, extensions: bool, nested: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the dict of an array; its bytes are a view where the elements lie as they have to, else a copy."""
    name = check_holdable(array, extensions=extensions)
    data: Any
    if array.dtype.kind == "O":
        data = nested(array.tolist())
    else:
        stored = array.dtype.newbyteorder("<") if array.dtype.itemsize else np.dtype("<U1")
        elements = np.asarray(array, stored, order="C").reshape(-1)
        data = elements.view(np.uint8).data if elements.nbytes else memoryview(b"")
    return {"shape": list(array.shape), "dtype": name, "bytes": data, TYPE: "ndarray"}


def check_holdable(array: np.ndarray[Any, Any], *, extensions: bool) -> str:
    """Return the dtype of an array that can be written, as the format calls it."""
    dtype = dtypes.from_numpy(array.dtype)
    if dtype.kind not in _PLAIN and not extensions:
        raise DTypeError(
            f"{dtype.name} arrays are not a part of SciSerialize: extensions=True writes them, for readers "
            "in Python; CSV and JSON hold them too"
        )
    if dtype.kind == "generic":
        return "object"
    if array.dtype.kind == "T":
        _ = to_fixed_width(array)  # says what is wrong with it
        raise DTypeError("a StringDType array: make it one of fixed width first, np.array(a.tolist())")
    if dtype.kind == "string":
        if (wrong := _find_surrogate(array)) is not None:
            raise DTypeError(f"element {wrong} has half a character (a lone surrogate): remove it")
        return f"<U{max(array.dtype.itemsize // 4, 1)}"
    return dtype.name


def _find_surrogate(array: np.ndarray[Any, Any]) -> int | None:
    """Return the place of the first text with half a character."""
    if not array.nbytes:
        return None
    units = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(-1).view(np.uint32)
    wrong = (units >= _SURROGATES[0]) & (units <= _SURROGATES[1])
    return int(np.argmax(wrong)) // (array.dtype.itemsize // 4) if wrong.any() else None


# Reading -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ArrayDict:
    """The dict of an array, looked through."""

    stored: FileArray  # dtype, shape and order; its bytes begin at 0
    data: Any  # bytes, a base64 text, or the lists of an object array
    path: str  # where the dict is

    def array(self, decode: Callable[[Any, str], Any]) -> np.ndarray[Any, Any]:
        """Return the array, in native byte order; a copy that can be written to."""
        location = path_inside(self.path, "bytes")
        if self.stored.dtype.kind == "O":
            return self._objects(decode, location)
        content = decode_base64(self.data, location) if isinstance(self.data, str) else self.data
        with in_member(location):
            array = self.stored.to_array(content)
        if array.dtype.kind == "U" and _find_surrogate(array) is not None:
            raise FormatError("half a character (a lone surrogate) in a text", location=location)
        return array.copy() if not array.flags.owndata or not array.flags.writeable else array

    def _objects(self, decode: Callable[[Any, str], Any], location: str) -> np.ndarray[Any, Any]:
        shape, count = self.stored.shape, self.stored.element_count
        items = [self.data]
        flat = (
            isinstance(self.data, list) and len(self.data) == count and not any(isinstance(x, list) for x in self.data)
        )
        for axis, size in enumerate(shape):
            if flat:
                items = self.data
                break
            for item in items:
                if not isinstance(item, list) or len(item) != size:
                    description = f"one of {len(item)}" if isinstance(item, list) else type(item).__name__
                    raise FormatError(
                        f"expected a list of {size} along axis {axis}, found {description}", location=location
                    )
            items = [inner for item in items for inner in item]
        decoded = [decode(item, f"{location}, element {index}") for index, item in enumerate(items)]
        return np.fromiter(decoded, dtype=object, count=count).reshape(shape)


def parse_array_dict(form: Mapping[str, Any], path: str) -> ArrayDict:
    """Look through the dict of an array, without decoding its bytes."""
    for key in ("shape", "dtype", "bytes"):
        if key not in form:
            raise FormatError(f"an array without {key!r}", location=path or None)
    shape, dtype = _shape(form["shape"], path_inside(path, "shape")), _dtype(form["dtype"], path_inside(path, "dtype"))
    with locating(location=path_inside(path, "shape")):
        stored = FileArray(dtype, shape, "row-major", 0)
    text = base64_text(form["bytes"])
    data = form["bytes"] if text is None else text
    location = path_inside(path, "bytes")
    if dtype.kind == "O":
        if shape and not isinstance(data, list):
            raise FormatError(f"expected nested lists of objects, found {type(data).__name__}", location=location)
        return ArrayDict(stored, data, path)
    if data is None or (data == [] and not stored.byte_count):
        data = b""  # what Matlab makes of an empty array
    if not isinstance(data, (bytes, bytearray, memoryview, str)) or (isinstance(data, str) and text is None):
        raise FormatError(f"expected bytes, found {type(data).__name__}", location=location)
    size_present = base64_size(data) if isinstance(data, str) else len(data)
    if size_present != stored.byte_count:
        raise FormatError(
            f"{size_present} bytes; the shape {shape} of {dtype} needs {stored.byte_count}", location=location
        )
    return ArrayDict(stored, data, path)


def base64_size(text: str) -> int:
    """Return the number of bytes that a well-formed base64 text stands for."""
    return len(text) // 4 * 3 - text[-2:].count("=")


def decode_base64(text: str, path: str) -> bytes:
    """Return the bytes of a base64 text: the standard alphabet, padded, without white space."""
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError as error:  # binascii.Error is one
        raise FormatError(f"malformed base64 ({error})", location=path) from error


def _shape(value: Any, path: str) -> tuple[int, ...]:
    sizes = value if isinstance(value, list) else [value]
    check_dimensions(len(sizes), path)
    shape = []
    for axis, size in enumerate(sizes):
        whole = int(size) if isinstance(size, float) and size.is_integer() else size
        if not isinstance(whole, int) or isinstance(whole, bool) or not 0 <= whole < 2**63:
            shown = f"{size!r:.40}" if isinstance(size, (int, float)) and abs(size) < 2**70 else type(size).__name__
            raise FormatError(f"expected the size of a dimension, found {shown}", location=path_inside(path, axis))
        shape.append(whole)
    return tuple(shape)


def _dtype(name: Any, path: str) -> np.dtype[Any]:
    if isinstance(name, str) and name in _OBJECT:
        return np.dtype(object)
    with locating(location=path), contextlib.suppress(TypeError):
        if isinstance(name, str) and (name in _NAMED or _CODED.fullmatch(name)):
            dtype = np.dtype(name)
            if dtype.kind in "mM":
                dtypes.from_name(dtypes.from_numpy(dtype).name)  # has such a unit
            if name[0] != "|" or dtype.itemsize == 1:
                return dtype if name[0] == ">" else dtype.newbyteorder("<")
    dtype_names = " ".join(sorted(_NAMED))
    raise FormatError(
        f"unknown dtype {name!r:.60}", location=path, hint=f"known: {dtype_names} object <U.. datetime64[..]"
    )


# pandas DataFrame -----------------------------------------------------------------------------------------------------

_LABELS = (type(None), bool, int, float, str, datetime, timedelta)


def is_frame(value: Any) -> bool:
    """Return whether a value is a pandas DataFrame; pandas is not imported for that."""
    return type(value).__module__.partition(".")[0] == "pandas" and type(value).__name__ == "DataFrame"


def encode_frame(frame: Any, *, extensions: bool, nested: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the dict of a DataFrame."""
    kinds = {str(dtype): isinstance(dtype, np.dtype) for dtype in frame.dtypes}
    if list(kinds.values()) == [True]:
        values = frame.to_numpy()
    elif not kinds:
        values = np.empty(frame.shape)
    elif extensions:
        values = frame.astype(object).to_numpy()
    else:
        raise DTypeError(
            f"a DataFrame of the dtypes {', '.join(sorted(kinds))}: convert it to one, for example "
            "df.astype('float64'), or write it with extensions=True as objects"
        )
    form = encode_array(values, extensions=extensions, nested=nested)
    form[TYPE] = "dataframe"
    return {**form, "columns": nested(_labels(frame.columns)), "rows": nested(_labels(frame.index))}


def _labels(index: Any) -> list[Any]:
    return [list(label) if isinstance(label, tuple) else label for label in index.tolist()]


def decode_frame(form: Mapping[str, Any], path: str, decode: Callable[[Any, str], Any]) -> Any:
    """Return the DataFrame of a dict; columns of objects get the dtype that all of their values have."""
    parsed = parse_array_dict(form, path)
    shape = parsed.stored.shape
    if len(shape) != 2:
        raise FormatError(f"a DataFrame has two dimensions, not {len(shape)}", location=path_inside(path, "shape"))
    rows = _index(form.get("rows"), shape[0], path_inside(path, "rows"), decode)
    columns = _index(form.get("columns"), shape[1], path_inside(path, "columns"), decode)
    import pandas as pd

    values = parsed.array(decode)
    try:
        if values.dtype.kind != "O":
            return pd.DataFrame(values, index=rows, columns=columns)
        frame = pd.DataFrame({index: _column(values[:, index], rows) for index in range(shape[1])}, index=rows)
        frame.columns = columns
        return frame
    except (ValueError, TypeError, OverflowError) as error:
        raise FormatError(f"no DataFrame ({error})", location=path or None) from error


def _column(values: np.ndarray[Any, Any], rows: Any) -> Any:
    """Return a column of objects, in the dtype that all of them have; what holds None stays as it is."""
    import pandas as pd

    column = pd.Series(values, index=rows, dtype=object)
    return column if any(value is None for value in values) else column.infer_objects()


def _index(labels: Any, count: int, path: str, decode: Callable[[Any, str], Any]) -> Any:
    import pandas as pd

    items = [] if labels is None else labels
    if not isinstance(items, list) or len(items) != count:
        description = len(items) if isinstance(items, list) else type(items).__name__
        raise FormatError(f"expected a list of {count} labels, found {description}", location=path)
    if all(type(label) is int for label in items) and items == list(range(count)):
        return pd.RangeIndex(count)
    decoded = [
        _label(decode(label, path_inside(path, index)), path_inside(path, index)) for index, label in enumerate(items)
    ]
    tuples = [label for label in decoded if isinstance(label, tuple)]
    try:
        if tuples and len(tuples) == count and len({len(label) for label in tuples}) == 1 and tuples[0]:
            return pd.MultiIndex.from_tuples(tuples)
        return pd.Index(decoded, tupleize_cols=False)
    except (ValueError, TypeError, OverflowError) as error:
        raise FormatError(f"pandas refuses the labels ({error})", location=path) from error


def _label(label: Any, path: str) -> Any:
    inner = label if isinstance(label, list) else [label]
    if not all(isinstance(part, _LABELS) for part in inner):
        raise FormatError("a label must be a text, a number or a time", location=path)
    return tuple(label) if isinstance(label, list) else label
