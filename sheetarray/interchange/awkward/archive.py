"""`.awkd` files opened: a zip archive, not compressed, of schemas (`events.json`) and blobs (`events-1.raw`).

An archive may claim to hold anything: names and sizes are looked at when it is opened, before memory is taken.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import NotFoundError, locating
from ...files import Readable
from .members import Members
from .read_array import check_options, read_array, with_budget

SUFFIX = ".awkd"
RAW, SCHEMA = ".raw", ".json"


def load(file: Readable, *, schemasuffix: str = SCHEMA, **options: Any) -> Any:
    """Open an `.awkd` file.

    Args:
        file: a path (`.awkd` is added if the file exists only with it), or a file opened for bytes.
        schemasuffix: at the end of the schemas' names.
        **options: as for `deserialize`, such as `functions` or `whitelist`.

    Returns:
        The array, if the file holds only one without a name; else `ArchiveArrays`, a mapping that reads an array when
        it is asked for it, and closes the file at the end of a `with` block.

    Raises:
        FormatError: no such archive, or one with members that no archive should have.
        OSError: no such file, or it cannot be read.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from sheetarray.interchange.awkward import save
        >>> file = io.BytesIO()
        >>> save(file, np.array([1.5, 2.5]))
        >>> load(file).to_list()
        [1.5, 2.5]
    """
    check_options(options)
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
    """The arrays of an `.awkd` file, each read when it is asked for.

    An array that cannot be read is an error when it is asked for, not before. With `plain`, what was written as an
    array of NumPy is given as one; else every array is an `ak.Array`.

    Attributes:
        source: the file's name, for messages.
    """

    def __init__(self, file: Readable, *, schemasuffix: str = SCHEMA, plain: bool = False, **options: Any) -> None:
        name = os.fspath(file) if isinstance(file, (str, os.PathLike)) else getattr(file, "name", None)
        self.source = name if isinstance(name, str) else None
        with locating(source=self.source):
            self._members = Members(file)
        self._plain = plain
        self._suffix, self._options = schemasuffix, with_budget(options, self._members.stored)
        self._names = {
            member.removesuffix(schemasuffix): member for member in self._members if member.endswith(schemasuffix)
        }

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise NotFoundError(f"no array {name!r}; there is {', '.join(map(repr, self._names)) or 'none'}")
        return read_array(self._members, name, self._suffix, self._options, source=self.source, plain=self._plain)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<arrays of {self.source or 'an archive'}: {', '.join(map(repr, self._names))}>"

    def __enter__(self) -> ArchiveArrays:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def member(self, name: str) -> str:
        """Return the member of the archive that holds an array's schema."""
        return self._names[name]

    def close(self) -> None:
        """Close the file, unless the caller opened it."""
        self._members.close()
