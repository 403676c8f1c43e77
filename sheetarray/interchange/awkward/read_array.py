"""Reads an array from an open container: refuses unknown options, and adds the container and the schema to errors."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ...errors import FormatError
from .limits import BYTES_ALWAYS, BYTES_TIMES
from .reading import deserialize, read_value

_GIVEN = ("storage", "name", "delimiter", "suffix", "schemasuffix")  # by the container, not by its user


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse an option that `deserialize` does not have.

    Raises:
        TypeError: names it, and those that there are.
    """
    known = [name for name in inspect.signature(deserialize).parameters if name not in _GIVEN]
    for option in options:
        if option not in known:
            raise TypeError(f"no option {option!r} of reading; there are {', '.join(known)}")


def with_budget(options: Mapping[str, Any], stored: int) -> dict[str, Any]:
    """Return options with a limit of memory after the bytes that are stored, where the caller gave none.

    Args:
        options: as for `deserialize`, which would go by the size of the blobs; a container may have inflated those.
        stored: bytes in the container.
    """
    given = options.get("max_bytes")
    return {**options, "max_bytes": max(BYTES_ALWAYS, BYTES_TIMES * stored) if given is None else given}


def read_array(
    storage: Mapping[str, Any],
    name: str,
    schemasuffix: str,
    options: Mapping[str, Any],
    *,
    source: str | None = None,
    plain: bool = False,
) -> Any:
    """Return the array of a name.

    Args:
        storage: the container.
        name: of the array.
        schemasuffix: follows it, in the name of the schema.
        options: as for `deserialize`.
        source: of the container, for messages.
        plain: what was written as an array of NumPy is given as one.

    Raises:
        FormatError: with the source, and a location that begins with the schema's name.
    """
    schema = name + schemasuffix
    try:
        return (read_value if plain else deserialize)(storage, name, schemasuffix=schemasuffix, **options)
    except FormatError as error:
        error.source = error.source or source
        if error.location != schema:
            error.location = f"{schema}, {error.location}" if error.location else schema
        raise
