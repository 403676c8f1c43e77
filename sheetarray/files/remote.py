"""Remote files, read in ranges of bytes: only what is asked for, in few requests, and from one version of the file.

Ranges that were read are kept in a temporary file, which is sparse and has no name; so memory does not grow with the
file, and no byte is requested twice. A server without ranges sends the file from its beginning, as far as it is needed.
"""

from __future__ import annotations

import errno
import glob
import io
import mmap
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime
from http import HTTPStatus
from typing import Any

from ..errors import (
    FormatError,
    MissingDependencyError,
    NotFoundError,
    RemoteError,
    SheetArrayError,
    check_kinds,
    system_error,
)
from .places import STORAGE_HINT, PathLike, RemoteFile, is_url, locate, takes_options

# File systems of URLs, which are fsspec's, and their errors as ours: with the URL, and without any secret.

_CREDENTIALS = (
    "pass credentials in storage_options, or in the environment variables of the service; public data need only anon"
)
_UNKNOWN_OPTION = re.compile(r"unexpected keyword argument '(\w+)'")
_DENIED, _ABSENT = (401, 403), (404, 410)
_FTP_DENIED = "530 "
_READ_ONLY = ("http", "https", "zip", "tar", "libarchive", "git", "github", "data", "reference")


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
        known = "s3:// gs:// https:// memory:// zip:// file:// and the others of fsspec"
        raise NotFoundError(f"{place}: no file system has URLs with this beginning; there are {known}") from error
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


# The bytes of one remote file.

HEAD = 4096  # bytes of the first request: headers need no more, as a rule
_AT_ONCE = 2**20  # a file that is no larger is read in one more request
_LEAST, _MOST = 2**16, 2**24  # bytes of a block; the second, of any request, too
_BLOCKS = 64  # of which a file has as many, where they are neither too small nor too large for that
_ENDLESS = 2**62
_THREADS = 128  # that wait for the answers of services
_STATE = (
    *("size", "ETag", "etag", "mtime", "modified", "LastModified", "last_modified", "Last-Modified", "updated"),
    *("created", "generation", "md5Hash", "Content-MD5", "VersionId", "sha", "CRC"),
)


def read_state(place: RemoteFile) -> dict[str, Any] | None:
    """Return the size, times and checksums that tell one version of a file from another; None if no file exists."""
    system, path = open_storage(place)
    try:
        with translating(place):
            system.invalidate_cache(path)
            return state_of(system.info(path))
    except FileNotFoundError:
        return None


def state_of(info: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of a file system's description that tell one version of a file from another."""
    known = {key: info[key] for key in _STATE if info.get(key) is not None}
    return {key: value.timestamp() if isinstance(value, datetime) else value for key, value in known.items()}


def _is_same(state: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two states agree in all entries that both have: a listing has fewer of them than an answer."""
    return all(state[key] == other[key] for key in state.keys() & other.keys())


class RangedBytes:
    """The bytes of a remote file; a slice is read when it is used.

    Attributes:
        size: of the file; None where the server does not say.

    Raises:
        FileNotFoundError: no such file.
        FormatError: it is another version than an earlier read through the same `RemoteFile` has seen.
    """

    def __init__(self, place: RemoteFile) -> None:
        self._place = place
        self._system, self._path = open_storage(place)
        self._file: Any = None
        self._streams = False  # whether the file only comes from its beginning on
        self._spool = tempfile.SpooledTemporaryFile(_AT_ONCE)  # noqa: SIM115  (closed by close)
        self._begun = len(place.head)  # bytes from the beginning on that are in the spool
        self._blocks: set[int] = set()  # the numbers of those that are there as well
        self._requests = 0
        self.size: int | None = None
        try:
            self._spool.write(place.head)
            if not place.head:
                self._open()
            elif place.state is not None:
                self.size = place.state.get("size")
            elif len(place.head) < HEAD:
                self.size = len(place.head)
        except BaseException:
            self.close(verify=False)
            raise

    def close(self, *, verify: bool = True) -> None:
        """Close the file.

        Raises:
            FormatError: the file was changed meanwhile, so that the bytes read may be of two versions.
        """
        file, self._file = self._file, None
        if file is not None:
            with suppress(Exception):  # the bytes have been read, so an error in closing does no harm
                file.close()
        self._spool.close()
        if verify and self._requests > 1 and self._place.state is not None:
            state = read_state(self._place)
            if state is None or not _is_same(state, self._place.state):
                raise changed_file_error(self._place)

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes of a range, as far as there are any."""
        end = end if self.size is None else min(end, self.size)
        if start >= end:
            return b""
        self._fetch(start, end)
        self._spool.seek(start)
        return self._spool.read(end - start)

    def map(self, *, writable: bool = False) -> bytes | mmap.mmap:
        """Return all bytes; those of a large file are mapped from the temporary file."""
        if self.whole_size() < _AT_ONCE and not writable:
            return self.read(0, self.whole_size())
        self._fetch(0, self.whole_size())
        if not self.whole_size():
            return b""
        self._spool.rollover()
        self._spool.flush()
        access = mmap.ACCESS_COPY if writable else mmap.ACCESS_READ
        return mmap.mmap(self._spool.fileno(), self.whole_size(), access=access)

    def whole_size(self) -> int:
        """Return the number of bytes of the file; if the server does not say it, the file is read to its end."""
        if self.size is None:
            self._fetch(0, _ENDLESS)
        assert self.size is not None
        return self.size

    def __len__(self) -> int:
        return self.whole_size()

    def __getitem__(self, key: slice) -> bytes:
        start, stop, step = key.indices(self.whole_size())
        return self.read(start, stop)[::step]

    # Requests ------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        with translating(self._place):
            self._system.invalidate_cache(self._path)
            info = None
            if self._is_web:  # whose files ask for their size once more, unless they are told
                info = self._system.info(self._path)
                self._streams = not info.get("size") or info.get("partial") is False
                self._file = self._open_web(info)
            else:
                self._file = self._system.open(self._path, "rb", cache_type="none")
                info = getattr(self._file, "details", None)
                info = info if isinstance(info, dict) else self._system.info(self._path)
                self._streams = info.get("size") is None
        if info.get("type") == "directory":
            raise system_error(errno.EISDIR, self._place)
        state = state_of(info)
        if not _is_same(state, self._place.state or {}):
            raise changed_file_error(self._place)
        self._place.state = {**state, **(self._place.state or {})}
        self.size = info.get("size")
        if self._streams:
            self._begun = 0  # a stream begins anew

    @property
    def _is_web(self) -> bool:
        return hasattr(self._system, "encode_url")

    def _open_web(self, info: dict[str, Any]) -> Any:
        how: dict[str, Any] = {"block_size": 0} if self._streams else {"cache_type": "none"}
        kind = {"headers": {**self._system.kwargs.get("headers", {}), "Accept-Encoding": "identity"}}
        return self._system.open(self._path, "rb", size=info.get("size") or 1, **how, **kind)

    def _fetch(self, start: int, end: int) -> None:
        """Request the blocks of a range that are not in the spool; of a stream, all up to the end of the range."""
        if end <= self._begun:
            return
        if self._file is None:
            self._open()
        if not self._streams:
            assert self.size is not None
            if not self._begun and end <= HEAD:
                if self._request(0, min(HEAD, self.size)):
                    return
            elif self._request_blocks(start, min(end, self.size), self._block_size(self.size)):
                return
            self._reopen_as_stream()
        self._stream(end)

    def _block_size(self, size: int) -> int:
        return size if size <= _AT_ONCE else min(max(_LEAST, size // _BLOCKS), _MOST)

    def _request_blocks(self, start: int, end: int, width: int) -> bool:
        """Read the missing blocks of a range, those side by side in one request; False if the server has no ranges."""
        assert self.size is not None
        numbers = [at for at in range(start // width, -(-end // width)) if at not in self._blocks]
        while numbers:
            count = 1
            while count < len(numbers) and numbers[count] == numbers[0] + count and (count + 1) * width <= _MOST:
                count += 1
            first, last = numbers[0] * width, min((numbers[0] + count) * width, self.size)
            if not self._request(max(first, self._begun), last):
                return False
            self._blocks.update(numbers[:count])
            numbers = numbers[count:]
        return True

    def _request(self, start: int, end: int) -> bool:
        """Read a range into the spool; False if the server has no ranges."""
        self._requests += 1
        try:
            with translating(self._place):
                chunk = self._read_range(start, end)
        except _NoRangesError:
            return False
        self._keep(start, chunk[: end - start])
        if len(chunk) < end - start:
            raise changed_file_error(self._place)
        return True

    def _read_range(self, start: int, end: int) -> bytes:
        try:
            self._file.seek(start)
            pieces = [self._file.read(end - start)]
        except ValueError as error:
            if not self._is_web:
                raise
            raise _NoRangesError(str(error)) from error
        count = len(pieces[0])
        while count < end - start and pieces[-1]:
            pieces.append(self._file.read(end - start - count))
            count += len(pieces[-1])
        return b"".join(pieces)

    def _reopen_as_stream(self) -> None:
        with translating(self._place):
            with suppress(Exception):
                self._file.close()
            self._streams, self._begun = True, 0
            self._file = self._open_web({"size": self.size})

    def _stream(self, end: int) -> None:
        """Read from the position of the stream up to a byte, or to the end of the stream if that comes first."""
        self._requests += 1
        while self._begun < end:
            with translating(self._place):
                chunk = self._file.read(min(end - self._begun, _AT_ONCE))
            if not chunk:
                if self.size is not None and self._begun < min(end, self.size):
                    raise changed_file_error(self._place)
                self.size = self._begun
                return
            self._keep(self._begun, chunk)

    def _keep(self, start: int, chunk: bytes) -> None:
        self._spool.seek(start)
        self._spool.write(chunk)
        if start == self._begun:
            self._begun += len(chunk)
        if start == 0 and len(self._place.head) < HEAD:
            self._place.head = chunk[:HEAD]


class _NoRangesError(FormatError):
    """A server gives a file from its beginning only; never shown."""


# A remote file as an open one.


class RemoteStream(io.RawIOBase):
    """A remote file as an open one: it is read from any position, and in larger requests the longer it is read on."""

    def __init__(self, content: RangedBytes) -> None:
        self._content, self._at = content, 0

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: it can be read from any position."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a byte."""
        if whence == os.SEEK_END:
            offset += self._content.whole_size()
        self._at = max(0, offset + (self._at if whence == os.SEEK_CUR else 0))
        return self._at

    def tell(self) -> int:
        """Return the position of the next byte."""
        return self._at

    def readinto(self, target: Any) -> int:
        """Fill the buffer `target` with the next bytes, and return their number; 0 at the end."""
        chunk = self._content.read(self._at, self._at + len(target))
        target[: len(chunk)] = chunk
        self._at += len(chunk)
        return len(chunk)


# Many files at once: lists them, and asks for the states and the first bytes of remote ones, many at the same time.


def find_places(
    sources: PathLike | Iterable[PathLike], storage_options: Mapping[str, Any] | None = None
) -> list[PathLike]:
    """Return the files that a pattern or a list names: paths of this machine, and remote files.

    `sources`: a path or a URL with wildcards, whose files come in the order of their names; or a list of paths and
    URLs, which stays as it is.

    Raises:
        FileNotFoundError: no file matches, or the list is empty.
        TypeError: neither a text nor a list.
        ValueError: storage options for a text that is no URL.
    """
    if not isinstance(sources, (str, os.PathLike)):
        if not isinstance(sources, Iterable) or isinstance(sources, (bytes, Mapping)):
            raise TypeError(f"sources is a text with wildcards or a list of paths, not {type(sources).__name__}")
        places: list[PathLike] = []
        for source in sources:
            check_kinds(str | os.PathLike, "a list of paths and URLs", sources=source)
            places.append(locate(source, storage_options if takes_options(source) else None))
        if not places:
            raise FileNotFoundError(errno.ENOENT, "the list of files is empty")
        return places
    place = locate(sources, storage_options)
    if isinstance(place, RemoteFile):
        places = list(find_files(place.url, storage_options)) if is_pattern(place.url) else [place]
    elif is_pattern(place):
        places = sorted(path for path in glob.iglob(os.fspath(place), recursive=True) if os.path.isfile(path))
    else:
        places = [place]
    if not places:
        raise FileNotFoundError(errno.ENOENT, "no file matches", os.fspath(place))
    return places


def is_pattern(place: PathLike) -> bool:
    """Return whether a path or a URL has wildcards, and is no file itself.

    Example:
        >>> is_pattern("runs/*.csv"), is_pattern("https://host/run.csv?part=1"), is_pattern("run.csv")
        (True, False, False)
    """
    text = os.fspath(place)
    marks = "*" if text.lower().startswith(("http://", "https://")) else "*?["
    return any(mark in text for mark in marks) and (is_url(place) or not os.path.exists(place))


def find_files(pattern: str, storage_options: Mapping[str, Any] | None = None) -> list[RemoteFile]:
    """Return the files that a URL with wildcards names, in the order of their URLs.

    Each has its size and its ETag, or its time of change, from the listing: reading it is an error if the file was
    changed since then.

    `pattern`: such as `s3://bucket/2024/*.csv`.
    """
    place = RemoteFile(pattern, storage_options)
    system, path = open_storage(place)
    with translating(place):
        system.invalidate_cache()
        infos = system.glob(path, detail=True)
    first, link, rest = pattern.partition("::")
    start = first.removesuffix(path) if first.endswith(path) else None  # with the host, where file systems have any
    files = []
    for name in sorted(infos):
        if infos[name].get("type") == "directory":
            continue
        url = system.unstrip_protocol(name) if start is None else start + name
        file = RemoteFile(url + link + rest, storage_options)
        state = state_of(infos[name])
        brief: dict[str, Any] = {key: state[key] for key in ("size", "ETag") if key in state}
        file.state = brief if "ETag" in brief else state  # a listing may round times in another way than an answer
        files.append(file)
    return files


def read_states(files: Sequence[RemoteFile]) -> list[Exception | None]:
    """Ask for the states of those remote files that have none yet, many at once.

    `files`: the files, whose attribute `state` is set.

    It returns for each file the error that opening it would raise; None if there is no error.
    """

    def ask(file: RemoteFile) -> Exception | None:
        try:
            file.state = file.state or read_state(file)
        except Exception as error:  # of this file alone
            return error
        return None if file.state is not None else system_error(errno.ENOENT, file)

    with ThreadPoolExecutor(_THREADS, "sheetarray-states") as threads:
        return list(threads.map(ask, files))


def read_heads(files: Sequence[RemoteFile], size: int = HEAD) -> list[Exception | None]:
    """Read the first bytes of many files, so that `scan` of each asks for no more, as a rule.

    `files`: the files, whose attribute `head` is set. `size`: of a head, in bytes.

    It returns for each file the error that opening it would raise; None if there is no error.
    """
    problems: list[Exception | None] = [None] * len(files)
    groups: dict[int, tuple[Any, list[int], list[str]]] = {}  # by file system: indices of files, and paths in it
    for index, file in enumerate(files):
        try:
            system, path = open_storage(file)
        except Exception as error:  # of this file alone
            problems[index] = error
            continue
        _, indices, paths = groups.setdefault(id(system), (system, [], []))
        indices.append(index)
        paths.append(path)
    for system, indices, paths in groups.values():
        heads = system.cat_ranges(paths, [0] * len(paths), [size] * len(paths), on_error="return")
        for index, head in zip(indices, heads, strict=True):
            if isinstance(head, Exception):
                is_empty = (files[index].state or {}).get("size") == 0  # a range of nothing is refused
                problems[index] = None if is_empty else translate_error(files[index], head)
            else:
                files[index].head = bytes(head[:size])
    return problems
