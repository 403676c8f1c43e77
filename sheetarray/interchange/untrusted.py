"""What formats do with the bytes and the packages of others: damage becomes a FormatError, and a package that is not
installed is named.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ..dtypes import Array
from ..errors import FormatError, MissingDependencyError, SheetArrayError, is_panic
from ..values import to_objects

_OF_CONTENT = (None, 0, errno.EINVAL, errno.EFAULT, errno.EFBIG)
"""Numbers of errors that content makes, such as a seek to where no file reaches; all others are the system's."""


@contextmanager
def damage_as_format_error(what: str, location: str | None = None) -> Iterator[None]:
    """Raise whatever a library says of bad content as a `FormatError`; errors of ours and of the system pass through.

    `what`: is wrong, for the message, such as "not a Parquet file, or damaged".
    """
    try:
        yield
    except SheetArrayError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        if isinstance(error, OSError) and error.errno not in _OF_CONTENT:
            raise
        raise FormatError(f"{what} ({str(error) or type(error).__name__:.200})", location=location) from error


def parse_values(texts: Iterable[str | None]) -> Array:
    """Return the values of a generic array, each from its JSON text; None stays None."""
    try:
        values = [None if text is None else json.loads(text) for text in texts]
    except (ValueError, TypeError, RecursionError) as error:
        raise FormatError(f"a value that is not JSON: {error!s:.80}") from error
    if not {*map(type, values)} <= {type(None), bool, int, float, str}:
        raise FormatError("a value that no generic array holds")
    return to_objects(values)


def load_package(name: str, sentence: str, install: str) -> Any:
    """Return a module of a package that not everybody has; where it is absent, the sentence says what needs it."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise MissingDependencyError(f"{sentence}: pip install {install}", name=package) from error
