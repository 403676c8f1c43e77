"""`.awkd` files: a zip archive, not compressed, of schemas (`events.json`) and blobs (`events-1.raw`).

An archive may claim to hold anything: names and sizes are looked at when it is opened, before memory is taken. Adding
to one copies the members that it has as they are, and replaces the file only when everything is there.
"""

from __future__ import annotations

import errno
import io
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, Literal, cast

from ...adapters import Progress, silent
from ...errors import LimitError, NotFoundError, located
from ...files import Readable, Sink, Writable, replacing
from ...stored import put
from ..base import problem_of
from .compression import COMPRESSION, Compression
from .members import Members, Stream, new_member, size_of
from .opened import check_options, read_array, with_budget
from .writing import Plan, check_free, plan

Mode = Literal["a", "w", "x"]

SUFFIX = ".awkd"
RAW, SCHEMA = ".raw", ".json"

_BLOCK = 2**20  # bytes


def save(
    file: Writable,
    array: Any,
    name: str | None = None,
    mode: Mode = "a",
    *,
    delimiter: str | None = "-",
    suffix: str | None = RAW,
    schemasuffix: str | None = SCHEMA,
    compression: Compression = COMPRESSION,
    whitelist: Any = None,
    pack: bool = False,
) -> None:
    """Save an array, or several, in an `.awkd` file; a failed save leaves the file as it was.

    Args:
        file: a path, to which `.awkd` is added where it does not end in it, or a file opened for bytes (for mode "a"
            one that can be read and sought in).
        array: as for `serialize`, or a mapping of names to arrays.
        name: of the array in the file, or what the names of a mapping begin with; without one the file holds the array
            itself.
        mode: "a" adds to a file that is there; "w" replaces it; "x" refuses it.
        delimiter: as for `serialize`, like `suffix`, `schemasuffix`, `compression`, `whitelist` and `pack`.

    Raises:
        DTypeError: an array that the protocol does not hold.
        FormatError: mode "a", and the file is no such archive.
        LimitError: a name that is there already, or that no archive should have.
        OSError: the system refuses; the old file is whole.

    Example:
        >>> import numpy as np
        >>> file = io.BytesIO()
        >>> save(file, np.array([1.5]), "t")
        >>> save(file, np.array([2, 3]), "p")
        >>> list(load(file))
        ['t', 'p']
    """
    if mode not in ("a", "w", "x"):
        raise ValueError(f"mode is 'a', 'w' or 'x', not {mode!r}")
    arrays = array if isinstance(array, Mapping) else {"": array}
    plans = [
        plan(
            each, f"{name or ''}{key}", delimiter=delimiter, suffix=suffix, schemasuffix=schemasuffix,
            compression=compression, whitelist=whitelist, pack=pack,
        )
        for key, each in arrays.items()
    ]  # fmt: skip
    if not plans:
        raise LimitError("no array to write")
    if not isinstance(file, (str, os.PathLike)):
        _save_in_file(cast(IO[bytes], file), plans, mode)
        return
    path = os.fspath(file) if os.fspath(file).endswith(SUFFIX) else os.fspath(file) + SUFFIX
    if mode == "x" and os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    if mode != "a" or not os.path.exists(path) or not os.stat(path).st_size:
        write_archive(path, plans)
        return
    with open(path, "rb") as old, located(source=path), Members(old) as members:
        check_members(plans, members)
        with replacing(path, binary=True) as sink:
            for chunk in _chunks(old, members.end):
                sink.write(chunk)
            with members.added_to(cast(IO[bytes], sink)) as archive:
                _put(archive, plans)


def _save_in_file(file: IO[bytes], plans: Sequence[Plan], mode: Mode) -> None:
    if mode != "a" or not size_of(file):
        write_archive(file, plans)
        return
    with Members(file) as members:
        check_members(plans, members)
        tail = io.BytesIO()
        with members.added_to(cast(IO[bytes], Stream(tail, members.end))) as archive:
            _put(archive, plans)
        file.seek(members.end)
        file.write(tail.getbuffer())
        file.truncate()


def write_archive(target: Writable, plans: Sequence[Plan], *, progress: Progress | None = None) -> None:
    """Write an archive of its own.

    Args:
        target: a path, replaced as a whole, or a file opened for bytes.
        plans: of its arrays.
        progress: called with the elements written and the elements in all.

    Raises:
        LimitError: a name that no archive should have, or twice the same; before anything is written.
    """
    check_members(plans, ())
    with replacing(target, binary=True) as sink:
        file = sink if isinstance(sink, io.BufferedWriter) else Stream(sink)
        with zipfile.ZipFile(cast(IO[bytes], file), "w") as archive:
            _put(archive, plans, progress)


def check_members(plans: Sequence[Plan], taken: Sequence[str] | Members) -> None:
    """Refuse names that an archive has already, or should not have.

    Raises:
        LimitError: names it.
    """
    for planned in plans:
        for name in planned.names:
            if problem := problem_of(name):
                raise LimitError(f"the name {name!r:.80} {problem}, and each blob is a file of the archive: rename it")
    check_free(plans, taken)


def _put(archive: zipfile.ZipFile, plans: Sequence[Plan], progress: Progress | None = None) -> None:
    total, done, report = sum(planned.elements for planned in plans), 0, progress or silent
    report(0, total)
    for planned in plans:
        for blob in planned.blobs:
            compressed = blob.content() if blob.rule is not None else None
            size = blob.array.nbytes if compressed is None else len(compressed)
            with new_member(archive, planned.prefix + blob.key, size) as member:
                if compressed is not None:
                    member.write(compressed)
                else:
                    for _ in put(blob.array, cast(Sink, member)):
                        pass
            report(done := done + blob.array.size, total)
        with new_member(archive, planned.name, len(planned.schema)) as member:
            member.write(planned.schema)
    report(total, total)


def _chunks(file: IO[bytes], count: int) -> Iterator[bytes]:
    file.seek(0)
    while count and (chunk := file.read(min(count, _BLOCK))):
        count -= len(chunk)
        yield chunk


# Reading -----------------------------------------------------------------------------------------------------


def load(file: Readable, *, schemasuffix: str = SCHEMA, **options: Any) -> Any:
    """Open an `.awkd` file.

    Args:
        file: a path (`.awkd` is added where there is no such file without it), or a file opened for bytes.
        schemasuffix: at the end of the schemas' names.
        **options: as for `deserialize`, such as `functions` or `whitelist`.

    Returns:
        The array of a file that holds only one without a name; else an `Arrays`, a mapping that reads an array when
        it is asked for it, and closes the file at the end of a `with` block.

    Raises:
        FormatError: no such archive, or one with members that no archive should have.
        OSError: no such file, or it cannot be read.

    Example:
        >>> import numpy as np
        >>> file = io.BytesIO()
        >>> save(file, np.array([1.5, 2.5]))
        >>> load(file).to_list()
        [1.5, 2.5]
    """
    check_options(options)
    arrays = Arrays(_there(file), schemasuffix=schemasuffix, **options)
    if list(arrays) != [""]:
        return arrays
    with arrays:
        return arrays[""]


def _there(file: Readable) -> Readable:
    """The path as `save` has it, where there is no such file without the suffix."""
    if isinstance(file, (str, os.PathLike)) and not os.path.exists(file):
        saved = os.fspath(file) + SUFFIX
        return saved if os.path.exists(saved) else file
    return file


class Arrays(Mapping[str, Any]):
    """The arrays of an `.awkd` file, each read when it is asked for.

    An array that cannot be read is an error when it is asked for, not before.

    Attributes:
        source: the file's name, for messages.
    """

    def __init__(self, file: Readable, *, schemasuffix: str = SCHEMA, **options: Any) -> None:
        name = os.fspath(file) if isinstance(file, (str, os.PathLike)) else getattr(file, "name", None)
        self.source = name if isinstance(name, str) else None
        with located(source=self.source):
            self._members = Members(file)
        self._suffix, self._options = schemasuffix, with_budget(options, self._members.stored)
        self._names = {
            member.removesuffix(schemasuffix): member for member in self._members if member.endswith(schemasuffix)
        }

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise NotFoundError(f"no array {name!r}; there is {', '.join(map(repr, self._names)) or 'none'}")
        return read_array(self._members, name, self._suffix, self._options, source=self.source)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<arrays of {self.source or 'an archive'}: {', '.join(map(repr, self._names))}>"

    def __enter__(self) -> Arrays:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def member(self, name: str) -> str:
        """The member of the archive that holds an array's schema."""
        return self._names[name]

    def close(self) -> None:
        """Close the file, unless the caller opened it."""
        self._members.close()
