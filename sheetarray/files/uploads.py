"""Writes under a URL: first to a temporary file of this machine, which is uploaded once it is whole.

An object store shows an upload when it is complete, and drops it otherwise. Any other file system gets it under
another name in the same folder, and then its own name.
"""

from __future__ import annotations

import errno
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from mimetypes import guess_type
from typing import IO, Any

from ..errors import system_error
from .in_place import begin_writing, check_unchanged, note_written
from .places import RemoteFile
from .storage import is_object_store, is_s3, open_storage, refuse_read_only, translating
from .unnamed import open_unnamed, path_of


@contextmanager
def uploading(place: RemoteFile, suffix: str) -> Iterator[IO[bytes]]:
    """Give a file to write to, which is uploaded when the context ends without an error; else the old file stays.

    `suffix`: of the name, from which an object store knows the kind of content.

    Raises:
        NotFoundError: the file system is only read.
        OSError: it refuses, or cannot be reached; or a folder stands there.
    """
    beginning = begin_writing(place)
    system, path = open_storage(place)
    refuse_read_only(place, system)
    unnamed = open_unnamed(tempfile.gettempdir()) if _opens_what_it_uploads(system) else None
    with tempfile.TemporaryDirectory(prefix="sheetarray-") if unnamed is None else nullcontext("") as folder:
        local = os.path.join(folder, f"whole{suffix}")
        with unnamed or open(local, "wb") as file:
            yield file
            file.flush()
            check_unchanged(place, beginning)
            with translating(place):
                _put_whole(system, local if unnamed is None else path_of(file), path, guess_type(local)[0])
    place.forget()
    note_written(place, beginning)


def _opens_what_it_uploads(system: Any) -> bool:
    """Return whether a file system is known to open what it uploads; sshfs copies the link to a file without a name."""
    from fsspec import AbstractFileSystem  # type: ignore[import-untyped]

    return is_object_store(system) or getattr(system.put_file, "__func__", None) is AbstractFileSystem.put_file


def _put_whole(system: Any, local: str, path: str, kind: str | None) -> None:
    if is_object_store(system):
        system.put_file(local, path, **({"ContentType": kind} if kind and is_s3(system) else {}))
        return
    folder, mark, _ = path.rpartition("/")
    temporary = f"{folder}{mark}.sheetarray-{secrets.token_hex(8)}.tmp"
    try:
        system.put_file(local, temporary)
        if system.isdir(path):  # `mv` would put the file into it
            raise system_error(errno.EISDIR, path)
        system.mv(temporary, path)
    except BaseException:
        with suppress(Exception):  # the first error is the one to be told
            system.rm_file(temporary)
        raise
