"""`save`: arrays added to an `.awkd` file, or written into a new one, as a whole or not at all.

The members that an archive has are copied as they are, and the file is replaced only when everything is there. Saves
that add to one file at the same time wait for each other.
"""

from __future__ import annotations

import errno
import io
import os
import zipfile
from collections.abc import Mapping, Sequence
from typing import IO, Any, Literal, cast

from ....errors import LimitError, locating, system_error
from ....files import Sink, Writable, changing, fast_zlib, is_url, replacing
from ....formats.contract import Progress, ignore_progress
from ...zip_members import file_name_problem, open_file_size, zip_stream
from ..compression import COMPRESSION, Compression
from ..writing import StoragePlan, check_member_names, plan
from .members import ZIP64, Members
from .reading import RAW, SCHEMA, SUFFIX

Mode = Literal["a", "w", "x"]

_BLOCK = 2**24  # bytes


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
    """Save one array or several in an `.awkd` file. If saving fails, the file stays as it was.

    Args:
        file: a path, or a file opened for bytes. The suffix `.awkd` is added to a path without it. For mode "a", an
            open file must be readable and seekable.
        array: as for `serialize`, or a mapping of names to arrays.
        name: the name of the array. For a mapping, its names begin with this text. None stores a single array without
            a name.
        mode: what to do if the file exists: "a" adds to it; "w" replaces it; "x" refuses. Processes that save to one
            file wait for each other, for a minute at most.
        delimiter: as for `serialize`, like `suffix`, `schemasuffix`, `compression`, `whitelist` and `pack`.

    Raises:
        DTypeError: the protocol cannot hold an array.
        FormatError: with mode "a", the file is not an `.awkd` file.
        LimitError: the file already has this name, or the name is unsafe in an archive. Or another program saved the
            file meanwhile; then it stays as that program left it.
        OSError: the file cannot be written. The old file stays.

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
        plan(value, f"{name or ''}{key}", delimiter, suffix, schemasuffix, compression, whitelist, pack=pack)
        for key, value in arrays.items()
    ]
    if not plans:
        raise LimitError("no array to write")
    if not isinstance(file, (str, os.PathLike)):
        _save_in_file(cast("IO[bytes]", file), plans, mode)
        return
    if is_url(file):
        if mode != "w":
            raise ValueError("an archive under a URL can only be replaced whole: pass mode='w'")
        write_archive(file, plans)
        return
    path = os.fspath(file) if os.fspath(file).endswith(SUFFIX) else os.fspath(file) + SUFFIX
    with changing(path):
        if mode == "x" and os.path.lexists(path):
            raise system_error(errno.EEXIST, path)
        if mode == "a" and os.path.isfile(path) and os.stat(path).st_size > 0:
            _append(path, plans)
            return
        try:
            write_archive(path, plans)
        except LimitError:
            if mode == "x" and os.path.lexists(path):  # another program has made it meanwhile
                raise system_error(errno.EEXIST, path) from None
            raise


def _append(path: str, plans: Sequence[StoragePlan]) -> None:
    """Add to an archive, whose members are copied as they are."""
    with open(path, "rb") as old, locating(source=path), Members(old) as members:
        check_members(plans, members)
        with replacing(path, binary=True) as sink:
            old.seek(0)
            for start in range(0, members.end, _BLOCK):
                sink.write(old.read(min(_BLOCK, members.end - start)))
            with members.copy_into(cast("IO[bytes]", sink)) as archive:
                _write_members(archive, plans)


def _save_in_file(file: IO[bytes], plans: Sequence[StoragePlan], mode: Mode) -> None:
    if mode != "a" or not open_file_size(file):
        write_archive(file, plans)
        return
    with Members(file) as members:
        check_members(plans, members)
        tail = io.BytesIO()
        with members.copy_into(zip_stream(tail, members.end)) as archive:
            _write_members(archive, plans)
        file.seek(members.end)
        file.write(tail.getbuffer())
        file.truncate()


def write_archive(target: Writable, plans: Sequence[StoragePlan], *, progress: Progress | None = None) -> None:
    """Write an archive of its own."""
    check_members(plans, ())
    with replacing(target, binary=True) as sink:
        _write(sink, plans, progress)


def _write(sink: Sink, plans: Sequence[StoragePlan], progress: Progress | None = None) -> None:
    with zipfile.ZipFile(zip_stream(sink), "w") as archive:
        _write_members(archive, plans, progress)


def check_members(plans: Sequence[StoragePlan], taken: Sequence[str] | Members) -> None:
    """Refuse names of members that the archive has already, or that cannot be file names."""
    for planned in plans:
        for name in planned.names:
            if problem := file_name_problem(name):
                raise LimitError(
                    f"the name {name!r:.80} {problem}: rename it, because each blob becomes a file of this name"
                )
    check_member_names(plans, taken)


def _add_member(archive: zipfile.ZipFile, name: str, content: bytes | memoryview) -> None:
    """Write a member that is not compressed.

    zipfile would sum it up with Python's zlib, which takes longer than deflating it does with the fast one.
    """
    assert archive.fp is not None
    member = zipfile.ZipInfo(name)
    member.file_size = member.compress_size = len(content)
    member.CRC = fast_zlib.crc32()(content, 0)
    member.header_offset = archive.fp.tell()
    member.external_attr = 0o600 << 16  # as zipfile has it: the owner may read and write it
    archive.fp.write(member.FileHeader(zip64=len(content) >= ZIP64))
    for start in range(0, len(content), _BLOCK):
        archive.fp.write(content[start : start + _BLOCK])
    archive.filelist.append(member)
    archive.NameToInfo[name] = member
    archive.start_dir = archive.fp.tell()


def _write_members(archive: zipfile.ZipFile, plans: Sequence[StoragePlan], progress: Progress | None = None) -> None:
    total, done, report = sum(planned.elements for planned in plans), 0, progress or ignore_progress
    report(0, total)
    for planned in plans:
        for blob in planned.blobs:
            _add_member(archive, planned.prefix + blob.key, blob.content())
            report(done := done + blob.array.size, total)
        _add_member(archive, planned.name, planned.schema)
    report(total, total)
