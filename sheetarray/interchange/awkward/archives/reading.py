"""`load`: the arrays of an `.awkd` file, which is a zip archive of schemas (`events.json`) and blobs (`events-1.raw`).

An archive may claim to hold anything: names and sizes are looked at when it is opened,
before memory is taken.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from ....errors import NotFoundError, escape_controls, locating
from ....files import Readable
from ..reading import AwkwardReader, ReadOptions
from .members import Members

SUFFIX = ".awkd"
RAW, SCHEMA = ".raw", ".json"


def load(file: Readable, *, schemasuffix: str = SCHEMA, **options: Any) -> Any:
    """Return the arrays of an `.awkd` file as a mapping, or its only array if it has no name.

    Args:
        file: a path, with or without `.awkd`, or a file opened for bytes.
        schemasuffix: the end of the names of schemas.
        **options: as for `deserialize`, such as `functions` or `whitelist`.

    Returns:
        The array, if the file holds one array without a name. Otherwise an `ArchiveArrays`, a mapping that reads an
        array when you use it. In a `with` block, the mapping closes the file at the end.

    Raises:
        FormatError: the file is not an `.awkd` file, or has members with unsafe names.
        OSError: the file does not exist, or cannot be read.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from sheetarray.interchange.awkward import save
        >>> file = io.BytesIO()
        >>> save(file, np.array([1.5, 2.5]))
        >>> load(file).to_list()
        [1.5, 2.5]
    """
    arrays = ArchiveArrays(_resolve_path(file), schemasuffix=schemasuffix, **options)
    if list(arrays) != [""]:
        return arrays
    with arrays:
        return arrays[""]


def _resolve_path(file: Readable) -> Readable:
    """Return the path as `save` has it: with the suffix, if a file exists only with it."""
    if isinstance(file, (str, os.PathLike)) and not os.path.exists(file):
        saved = os.fspath(file) + SUFFIX
        return saved if os.path.exists(saved) else file
    return file


class ArchiveArrays(Mapping[str, Any]):
    """A mapping of the arrays of an `.awkd` file. It reads an array when you use it.

    If an array is broken, you get the error when you use that array. With `plain`, arrays that were written from NumPy
    come back as NumPy arrays. Without it, every array is an `ak.Array`. With `together`, the limits of memory and
    steps are for all arrays that you use, not for each.

    Attributes:
        source: the file's name, for messages.
    """

    def __init__(
        self,
        file: Readable,
        *,
        schemasuffix: str = SCHEMA,
        plain: bool = False,
        together: bool = False,
        **options: Any,
    ) -> None:
        self._reader = AwkwardReader(ReadOptions(**options))
        name = os.fspath(file) if isinstance(file, (str, os.PathLike)) else getattr(file, "name", None)
        self.source = name if isinstance(name, str) else None
        with locating(source=self.source):
            self._members = Members(file)
        self._plain = plain
        self._suffix = schemasuffix
        self._budget = self._reader.budget(self._members.stored) if together else None
        self._names = {
            member.removesuffix(schemasuffix): member for member in self._members if member.endswith(schemasuffix)
        }

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise NotFoundError(f"no array {name!r}; there is {', '.join(map(repr, self._names)) or 'none'}")
        blobs, source, plain = self._members, self.source, self._plain
        budget = self._budget or self._reader.budget(blobs.stored)
        return self._reader.read_named(blobs, name, self._suffix, budget, source=source, plain=plain)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return escape_controls(f"<arrays of {self.source or 'an archive'}: {', '.join(map(repr, self._names))}>")

    def __enter__(self) -> ArchiveArrays:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def member(self, name: str) -> str:
        """Return the member of the archive that holds an array's schema."""
        return self._names[name]

    def may_go_on(self) -> bool:
        """Return whether the limit of steps leaves some for more arrays."""
        return self._budget is None or self._budget.has_steps

    def close(self) -> None:
        """Close the file, unless the caller opened it."""
        self._members.close()
