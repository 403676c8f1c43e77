"""File systems of URLs, which are fsspec's, and their errors as ours: with the URL, and without any secret."""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from ..errors import (
    FormatError,
    MissingDependencyError,
    NotFoundError,
    RemoteError,
    SheetArrayError,
    system_error,
)
from .places import STORAGE_HINT, RemoteFile

_CREDENTIALS = (
    "pass credentials in storage_options, or in the environment variables of the service; public data need only anon"
)
_UNKNOWN_OPTION = re.compile(r"unexpected keyword argument '(\w+)'")
_REFERENCES = re.compile(r"(?:^|::)reference:", re.IGNORECASE)  # links of a chain in which a file names others
_DENIED, _ABSENT = (401, 403), (404, 410)
_FTP_DENIED = "530 "
_READ_ONLY = ("http", "https", "zip", "tar", "libarchive", "git", "github", "data")


def open_storage(place: RemoteFile) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it.

    Raises:
        MissingDependencyError: it needs a package that is not installed.
        NotFoundError: no file system has such URLs.
        RemoteError: it does not take the options.
    """
    if place.url.startswith("data:"):
        raise NotFoundError(
            "a data: URL holds its file itself: decode it, and read io.BytesIO(content), with format= and its name"
        )
    if _REFERENCES.search(place.url):
        raise NotFoundError(
            f"{place}: a file of references would choose which files and servers are read; read the files themselves"
        )
    try:
        import fsspec.core  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingDependencyError(f"{place} needs {error.name}: {STORAGE_HINT}", name=error.name) from error
    try:
        with translating(place):
            system, path = fsspec.core.url_to_fs(place.url, **place.options)
    except ImportError as error:
        if isinstance(error, MissingDependencyError):
            raise
        raise MissingDependencyError(
            f"{place}: {place.conceal(str(error))}; {STORAGE_HINT} has S3 and https", name=error.name
        ) from error
    except ValueError as error:
        if "Protocol not known" not in str(error):
            raise
        schemes = "s3:// gs:// https:// memory:// zip:// file:// and the others of fsspec"
        raise NotFoundError(f"{place}: no file system has URLs with this beginning; there are {schemes}") from error
    return system, path


def is_object_store(system: Any) -> bool:
    """Return whether an upload to a file system appears whole, or not at all."""
    return bool({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oci", "oss"} & _protocols(system))


def is_s3(system: Any) -> bool:
    """Return whether a file system is S3's."""
    return bool({"s3", "s3a"} & _protocols(system))


def refuse_read_only(place: RemoteFile, system: Any) -> None:
    """Refuse a URL that can only be read."""
    if _protocols(system) & set(_READ_ONLY):
        raise NotFoundError(
            f"{place}: files under such a URL can only be read; write to a path, or to a URL such as s3://"
        )


def _protocols(system: Any) -> set[str]:
    protocol = system.protocol
    return {protocol} if isinstance(protocol, str) else set(protocol)


@contextmanager
def translating(place: RemoteFile) -> Iterator[None]:
    """Make errors of a file system ours.

    Raises:
        FileNotFoundError: no such file, with the URL.
        PermissionError: the file system does not let us.
        IsADirectoryError: a folder.
        FormatError: the file was changed while it was read.
        NotFoundError: the file system is only read.
        RemoteError: any other error: the file system cannot be reached, or refuses.
    """
    try:
        yield
    except (SheetArrayError, ImportError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, ValueError) and "Protocol not known" in str(error):
            raise
        shows_secrets = any(place.conceal(text) != text for text in map(str, _chain(error)))
        raise translate_error(place, error) from (None if shows_secrets else error)


def changed_file_error(place: RemoteFile) -> FormatError:
    """Return the error for a file that changed between two reads."""
    return FormatError("the file was changed while it was read", source=os.fspath(place), hint="read it again")


def translate_error(place: RemoteFile, error: Exception) -> Exception:
    """Return the error of ours that stands for one of a file system; `translating` lists them."""
    name = os.fspath(place)
    statuses = [status for link in _chain(error) if (status := _status_of(link)) is not None]
    cause = list(_chain(error))[-1] if _is_unanswered(error) else error
    message = place.conceal(f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__)
    if statuses and isinstance(error, FileNotFoundError):  # as the file system of the web calls every refusal
        message = f"the server answers {_say_status(statuses[0])}"
    if isinstance(cause, TypeError) and (option := _UNKNOWN_OPTION.search(str(cause))):
        message = f"the file system of this URL has no storage option {option[1]!r}"
    if type(error).__name__ == "FileExpired":
        return changed_file_error(place)
    denied = isinstance(error, PermissionError) or type(error).__name__ == "PermissionDenied"  # as sshfs says it
    if denied or str(error).startswith(_FTP_DENIED) or any(status in _DENIED for status in statuses):
        return system_error(errno.EACCES, name)
    if isinstance(error, FileNotFoundError) and (not statuses or statuses[0] in _ABSENT) and not _is_unanswered(error):
        return system_error(errno.ENOENT, place)
    if isinstance(error, KeyError) and name.startswith("zip:"):  # what Python's zipfile says of a member
        return system_error(errno.ENOENT, place)
    if name.startswith("zip:") and _is_damage(error):
        return FormatError(f"a damaged zip archive, or one that is not read ({error!s:.200})", source=name)
    if isinstance(error, IsADirectoryError):
        return system_error(errno.EISDIR, name)
    if isinstance(error, (NotImplementedError, io.UnsupportedOperation)):
        return NotFoundError(f"{name}: the file system of this URL cannot do that ({message})")
    if "Credentials" in type(error).__name__:
        return RemoteError(f"{name}: {message}", hint=_CREDENTIALS)
    return RemoteError(f"{name}: {message}", status=statuses[0] if statuses else None)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what caused it."""
    while error is not None:
        yield error
        error = error.__cause__


def _is_damage(error: Exception) -> bool:
    """Return whether an error of Python's zipfile means that the archive is damaged, encrypted, or packed in an unknown
    way.
    """
    import zipfile
    import zlib

    return isinstance(error, (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError))


def _status_of(error: BaseException) -> int | None:
    status = getattr(error, "status", None)
    return status if isinstance(status, int) else None


def _say_status(status: int) -> str:
    try:
        return f"{status}, {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _is_unanswered(error: BaseException) -> bool:
    """Return whether no answer came at all, which the file system of the web reports as a missing file."""
    return any(isinstance(link, (OSError, TypeError, ValueError)) and link is not error for link in _chain(error))
