"""`.awkd` files written: schemas and blobs as members of a zip archive, which is not compressed.

Adding to an archive copies the members that it has as they are, and replaces the file only when everything is there.
Saves that add to one file at the same time wait for each other.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import IO, Any, Literal, cast

from ...adapters import Progress, ignore_progress
from ...errors import LimitError, locating
from ...file_array import write_elements
from ...files import Sink, Writable, is_url, replacing
from ..zip_members import name_problem
from .archive import RAW, SCHEMA, SUFFIX
from .compression import COMPRESSION, Compression
from .members import Members, MemberStream, new_member, size_of
from .writing import StoragePlan, check_free, plan

Mode = Literal["a", "w", "x"]

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
        mode: "a" adds to a file that is there, and waits while others add to it; "w" replaces it; "x" refuses it.
        delimiter: as for `serialize`, like `suffix`, `schemasuffix`, `compression`, `whitelist` and `pack`.

    Raises:
        DTypeError: an array that the protocol does not hold.
        FormatError: mode "a", and the file is no such archive.
        LimitError: a name that is there already, or that no archive should have.
        OSError: the system refuses; the old file is whole.

    Example:
        >>> import numpy as np
        >>> from sheetarray.interchange.awkward import load
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
            value,
            f"{name or ''}{key}",
            delimiter=delimiter,
            suffix=suffix,
            schemasuffix=schemasuffix,
            compression=compression,
            whitelist=whitelist,
            pack=pack,
        )
        for key, value in arrays.items()
    ]
    if not plans:
        raise LimitError("no array to write")
    if not isinstance(file, (str, os.PathLike)):
        _save_in_file(cast("IO[bytes]", file), plans, mode)
        return
    if is_url(file):
        if mode != "w":
            raise LimitError("an archive under a URL is replaced as a whole: mode='w'")
        write_archive(file, plans)
        return
    path = os.fspath(file) if os.fspath(file).endswith(SUFFIX) else os.fspath(file) + SUFFIX
    if mode == "w":
        write_archive(path, plans)
    elif mode == "x":
        if os.path.lexists(path) or not _make(path, plans):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    else:
        while not (_append if _has_content(path) else _make)(path, plans):
            pass  # another save came first: its arrays are there now, and stay


def _has_content(path: str) -> bool:
    return os.path.isfile(path) and os.stat(path).st_size > 0


def _make(path: str, plans: Sequence[StoragePlan]) -> bool:
    """Write the archive; False where another has appeared in the meantime, which stays."""
    check_members(plans, ())
    try:
        with replacing(path, binary=True) as sink:
            _write(sink, plans)
            if _has_content(path):
                raise _OvertakenError
    except _OvertakenError:
        return False
    return True


def _append(path: str, plans: Sequence[StoragePlan]) -> bool:
    """Add to the archive, one save at a time; False where another has replaced it in the meantime."""
    with open(path, "rb") as old, locating(source=path):
        with contextlib.suppress(OSError):  # a file system without locks
            _lock(old)
        if not (os.path.exists(path) and os.path.samestat(os.fstat(old.fileno()), os.stat(path))):
            return False
        with Members(old) as members:
            check_members(plans, members)
            with replacing(path, binary=True) as sink:
                for chunk in _chunks(old, members.end):
                    sink.write(chunk)
                with members.copy_into(cast("IO[bytes]", sink)) as archive:
                    _write_members(archive, plans)
    return True


def _lock(file: IO[bytes]) -> None:
    """Lock a file until it is closed, once nobody else has; where the system has such locks."""
    with contextlib.suppress(ImportError):
        fcntl = import_module("fcntl")
        fcntl.flock(file, fcntl.LOCK_EX)


class _OvertakenError(Exception):
    """Another has written the file first."""


def _save_in_file(file: IO[bytes], plans: Sequence[StoragePlan], mode: Mode) -> None:
    if mode != "a" or not size_of(file):
        write_archive(file, plans)
        return
    with Members(file) as members:
        check_members(plans, members)
        tail = io.BytesIO()
        with members.copy_into(cast("IO[bytes]", MemberStream(tail, members.end))) as archive:
            _write_members(archive, plans)
        file.seek(members.end)
        file.write(tail.getbuffer())
        file.truncate()


def write_archive(target: Writable, plans: Sequence[StoragePlan], *, progress: Progress | None = None) -> None:
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
        _write(sink, plans, progress)


def _write(sink: Sink, plans: Sequence[StoragePlan], progress: Progress | None = None) -> None:
    file = sink if isinstance(sink, io.BufferedWriter) else MemberStream(sink)
    with zipfile.ZipFile(cast("IO[bytes]", file), "w") as archive:
        _write_members(archive, plans, progress)


def check_members(plans: Sequence[StoragePlan], taken: Sequence[str] | Members) -> None:
    """Refuse names that an archive has already, or should not have.

    Raises:
        LimitError: names it.
    """
    for planned in plans:
        for name in planned.names:
            if problem := name_problem(name):
                raise LimitError(f"the name {name!r:.80} {problem}, and each blob is a file of the archive: rename it")
    check_free(plans, taken)


def _write_members(archive: zipfile.ZipFile, plans: Sequence[StoragePlan], progress: Progress | None = None) -> None:
    total, done, report = sum(planned.elements for planned in plans), 0, progress or ignore_progress
    report(0, total)
    for planned in plans:
        for blob in planned.blobs:
            compressed = blob.content() if blob.rule is not None else None
            size = blob.array.nbytes if compressed is None else len(compressed)
            with new_member(archive, planned.prefix + blob.key, size) as member:
                if compressed is not None:
                    member.write(compressed)
                else:
                    for _ in write_elements(blob.array, cast("Sink", member)):
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
