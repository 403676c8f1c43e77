"""Python's everyday objects <-> arrays: dates, times of day, Decimals, UUIDs, members of enumerations.

A column of one kind of them, None among them, becomes an array that cells hold and other programs know. The name of the
kind is the `dtype` in the labels; `restore_objects` makes the objects again:

    date                   datetime64[D]
    datetime               datetime64[us]
    datetime[ZONE]         datetime64[us], the instants in UTC
    timedelta              timedelta64[us]
    time                   text, as 12:30:00
    decimal                float64 where each number comes back from it, else text, which keeps every digit
    decimal(2)             the same, with that many digits after the point
    uuid                   text

Members of an enumeration become their values, with a warning: no file names the class to make them again.
"""

from __future__ import annotations

import datetime as dt
import enum
import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from ..dtypes import Array
from ..elements import check_texts, text_array, to_scalar
from ..errors import DTypeError
from .kinds import warn_of_column
from .zones import check_zone, find_zone


def find_kind(values: Sequence[Any]) -> str:
    """Return the kind of some objects of Python, None among them; "" if they are not all of one kind.

    Raises:
        DTypeError: times of several zones.

    Example:
        >>> find_kind([None, dt.date(2020, 1, 1)]), find_kind([Decimal("1.10")]), find_kind([1, "a"])
        ('date', 'decimal(2)', '')
    """
    types = set(map(type, values)) - {type(None)}
    name = _KINDS.get(_name_type(next(iter(types)))) if len(types) == 1 else None
    if name in ("datetime", "timedelta") and any(getattr(value, _FINER[name], 0) for value in values):
        return ""  # of pandas, finer than a microsecond
    if name == "datetime":
        zones = {_name_zone(value) for value in values if value is not None}
        if len(zones) > 1:
            raise DTypeError(
                "times of several zones: [t.astimezone(datetime.timezone.utc) for t in values] gives one, and with "
                "t.replace(tzinfo=..) those without a zone get theirs"
            )
        zone = zones.pop()
        return f"datetime[{zone}]" if zone else name
    if name == "time" and any(value is not None and value.tzinfo is not None for value in values):
        return ""
    if name == "decimal":
        exponents = {value.as_tuple().exponent for value in values if value is not None}
        digits = next(iter(exponents))
        return f"decimal({-digits})" if len(exponents) == 1 and isinstance(digits, int) and digits <= 0 else name
    return name or ""


_KINDS = {
    "datetime.date": "date",
    "datetime.datetime": "datetime",
    "pandas.Timestamp": "datetime",
    "datetime.timedelta": "timedelta",
    "pandas.Timedelta": "timedelta",
    "datetime.time": "time",
    "decimal.Decimal": "decimal",
    "uuid.UUID": "uuid",
}
_FINER = {"datetime": "nanosecond", "timedelta": "nanoseconds"}


def _name_type(kind: type) -> str:
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def _name_zone(value: dt.datetime) -> str:
    if value.tzinfo is None:
        return ""
    return check_zone(value.tzinfo, "[t.astimezone(datetime.timezone.utc) for t in values]")


def to_plain(values: Sequence[Any]) -> Array | None:
    """Convert objects of one everyday kind, and None, to an array; None if the objects are of no such kind.

    Raises:
        DTypeError: times of several zones.

    Warns:
        SheetArrayWarning: members of an enumeration, of which only the values are kept.

    Example:
        >>> to_plain([dt.date(2020, 2, 29), None])
        array(['2020-02-29',        'NaT'], dtype='datetime64[D]')
    """
    kind = find_kind(values)
    if kind in ("date", "datetime", "timedelta"):
        dtype = {"date": "M8[D]", "datetime": "M8[us]", "timedelta": "m8[us]"}[kind]
        return np.array(values, dtype=dtype)
    if kind.startswith("datetime["):
        utc = [None if value is None else value.astimezone(dt.UTC).replace(tzinfo=None) for value in values]
        return np.array(utc, dtype="M8[us]")
    if kind == "time":
        return texts_or_none([None if value is None else value.isoformat() for value in values])
    if kind == "uuid":
        return texts_or_none([None if value is None else str(value) for value in values])
    if kind:
        return _decimals(values, kind)
    return _members(values)


def texts_or_none(values: list[str | None]) -> Array:
    """Return the array of texts; of objects, if there is a None among them."""
    if None not in values:
        return text_array(check_texts(values))
    return to_objects(values)


def to_objects(values: Sequence[Any]) -> Array:
    """Return the 1-D array of exactly these objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _decimals(values: Sequence[Any], kind: str) -> Array:
    """Return floats if each number, with its digits, comes back from them, else text."""
    try:
        floats = np.array([np.nan if value is None else float(value) for value in values])
        again = restore_objects(floats, kind).tolist()
    except (ValueError, OverflowError, InvalidOperation):
        return texts_or_none([None if value is None else str(value) for value in values])
    pairs = zip(values, again, strict=True)
    if all(a is b is None or (a is not None and b is not None and a.as_tuple() == b.as_tuple()) for a, b in pairs):
        return floats
    return texts_or_none([None if value is None else str(value) for value in values])


def _members(values: Sequence[Any]) -> Array | None:
    """Return the values of the members of one enumeration, or their names where values are not all of one kind."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) != 1 or not issubclass(kind := kinds.pop(), enum.Enum) or issubclass(kind, (int, float, str)):
        return None  # members that are numbers or text are equal to their values
    members = [None if member is None else to_scalar(member.value) for member in values]
    types = {type(value) for value in members if value is not None}
    plain = len(types) == 1 and types <= {str, int, bool, float}
    if not plain:
        members = [None if member is None else member.name for member in values]
    again = f"{kind.__name__}(value)" if plain else f"{kind.__name__}[value]"
    what = "values" if plain else "names"
    warn_of_column(f"members of {kind.__name__} are written as their {what}: {again} gives a member back")
    if not plain or str in types:
        return texts_or_none(members)
    return to_objects(members) if None in members else np.array(members)


OBJECTS = re.compile(r"date|datetime(\[[^\]]{1,100}\])?|timedelta|time|decimal(\(\d{1,4}\))?|uuid")
"""The kinds that are made again."""


def restore_objects(array: Array, kind: str) -> Array:
    """Return the objects of a kind that an array was made of, None where one is missing.

    Example:
        >>> restore_objects(np.array([1.1, np.nan]), "decimal(2)")
        array([Decimal('1.10'), None], dtype=object)
    """
    restore = _restorer(kind)
    objects = [None if _is_missing(value) else restore(value) for value in _elements(array, kind)]
    return to_objects(objects).reshape(array.shape)


def _elements(array: Array, kind: str) -> list[Any]:
    if kind.startswith("date") or kind == "timedelta":
        if array.dtype.kind != ("m" if kind == "timedelta" else "M"):
            raise ValueError(f"{array.dtype} are no {kind}")
        array = array.astype(f"{array.dtype.kind}8[{'D' if kind == 'date' else 'us'}]").astype(object)
    elements: list[Any] = array.ravel().tolist()
    return elements


def _is_missing(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value)


def _restorer(kind: str) -> Callable[[Any], Any]:
    if kind in ("date", "datetime", "timedelta"):
        return lambda value: _expect(value, {"date": dt.date, "datetime": dt.datetime}.get(kind, dt.timedelta))
    if kind.startswith("datetime["):
        zone = find_zone(kind[9:-1])
        return lambda value: _expect(value, dt.datetime).replace(tzinfo=dt.UTC).astimezone(zone)
    if kind == "time":
        return dt.time.fromisoformat
    if kind == "uuid":
        from uuid import UUID

        return UUID
    places = kind[8:-1]
    return lambda value: _to_decimal(value, int(places) if places else None)


def _expect(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{value!r:.60} is beyond the years 1 to 9999")
    return value


def _to_decimal(value: Any, places: int | None) -> Decimal:
    try:
        number = Decimal(repr(value) if isinstance(value, float) else str(value))
        return (
            number if places is None or not isinstance(value, float) else number.quantize(Decimal((0, (1,), -places)))
        )
    except InvalidOperation as error:
        raise ValueError(f"{value!r:.60} is not a decimal of so many digits") from error
