"""Tells which package an object is of by the names of its classes, so that none is imported; names of columns."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import DTypeError

_JOIN = "join its parts to one text, df.columns = ['.'.join(map(str, name)) for name in df.columns]"


def is_of(value: Any, package: str, *classes: str) -> bool:
    """Return whether an object is an instance of a class of a package, or of one derived from it.

    `package`: such as "pandas". `*classes`: names of classes; none for any class of the package.
    """
    for base in type(value).__mro__:
        if base.__module__.partition(".")[0] == package and (not classes or base.__name__ in classes):
            return True
    return False


def name_of(key: Any) -> str:
    """Return the name that a key of a mapping, or the label of a column, stands for: text; numbers and dates as text.

    Raises:
        DTypeError: it is neither.
    """
    if isinstance(key, str):
        return str.__str__(key)
    if key == key and isinstance(key, (bool, int, float, complex, np.generic, datetime.date, datetime.timedelta)):
        return str(key)
    hint = _JOIN if isinstance(key, tuple) else "names are text"
    raise DTypeError(f"{key!r:.60}: no name of an array: {hint}")


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Put the name of a column, unless it is "", before a `DTypeError` that passes through."""
    try:
        yield
    except DTypeError as error:
        if not name:
            raise
        raise DTypeError(f"{name}: {error}") from error
