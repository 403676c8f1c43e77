"""Tells which package an object is of by the names of its classes, so that none is imported; names of columns."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..errors import DTypeError, warn_caller

LISTS = "lists in a column are kept where all items are numbers, text or booleans: column.map(str) makes text of others"


class RaggedError(DTypeError):
    """Lists that are not all of one length: no ndarray, but perhaps an awkward array."""


class ElementError(DTypeError):
    """Raised for an element that no cell can hold. Its message begins with the address, so `naming` adds none."""


def is_of(value: Any, package: str, *classes: str) -> bool:
    """Return whether an object is an instance of a class of a package, or of one derived from it.

    `package`: such as "pandas". `*classes`: names of classes; none for any class of the package.
    """
    for base in type(value).__mro__:
        if base.__module__.partition(".")[0] == package and (not classes or base.__name__ in classes):
            return True
    return False


def name_of(key: Any) -> str:
    """Return the name that a key of a mapping, or the label of a column, stands for: text; numbers and dates as text;
    the parts of a tuple with a space between them.

    Raises:
        DTypeError: it is none of them.

    Example:
        >>> name_of(2019), name_of(("price", "mean")), name_of(("city", ""))
        ('2019', 'price mean', 'city')
    """
    if isinstance(key, str):
        return str.__str__(key)
    if key == key and isinstance(key, (bool, int, float, complex, np.generic, datetime.date, datetime.timedelta)):
        return str(key)
    if isinstance(key, tuple) and (parts := [name for part in key if (name := name_of(part))]):
        return " ".join(parts)
    raise DTypeError(f"{key!r:.60}: not the name of an array: names are text")


def name_of_variable(label: Any) -> str:
    """Return the name that the label of a variable or a dimension of xarray stands for, which may be None."""
    return "None" if label is None else name_of(label)


_name: ContextVar[str] = ContextVar("_name", default="")


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Put the name of a column, unless it is "", before a `DTypeError` that passes through, and before warnings."""
    token = _name.set(name)
    try:
        yield
    except DTypeError as error:
        if not name or isinstance(error, ElementError):
            raise
        raise DTypeError(f"{name}: {error}") from error
    finally:
        _name.reset(token)


def name_of_column() -> str:
    """Return the name of the column that is being taken, for a line of advice."""
    return _name.get()


def warn_of_column(message: str) -> None:
    """Issue a warning that begins with the name of the column that is being taken."""
    name = _name.get()
    warn_caller(f"{name}: {message}" if name else message)
