"""Remote files, read in ranges of bytes: only what is asked for, in few requests, and from one version of the file.

Ranges that were read are kept in a temporary file, which is sparse and has no name; so memory does not grow with the
file, and no byte is requested twice. A server without ranges sends the file from its beginning, as far as it is needed.

fsspec's own caches are not used (`cache_type="none"`). Those in memory forget blocks or grow with the file, and ask for
each block by itself. The one in a file maps it into memory, so a full disk would end the process, and it takes blocks
whose request has failed for read.
"""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from contextlib import suppress
from datetime import datetime
from typing import Any

from ..errors import (
    FormatError,
    system_error,
)
from .compressed import ValueCount, max_inflated_size, max_values
from .places import RemoteFile
from .storage import changed_file_error, open_storage, translating

HEAD = 4096  # bytes of the first request: headers need no more, as a rule
_AT_ONCE = 2**20  # a file that is no larger is read in one more request
_LEAST, _MOST = 2**16, 2**24  # bytes of a block; the second, of any request, too
_BLOCKS = 64  # of which a file has as many, where they are neither too small nor too large for that
_ENDLESS = 2**62
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
    entries = {key: info[key] for key in _STATE if info.get(key) is not None}
    return {key: value.timestamp() if isinstance(value, datetime) else value for key, value in entries.items()}


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
        self._packed: int | None = None  # the compressed bytes of a member of an archive, once it was opened
        self._is_text = False  # whether the content will be parsed as text
        self._values = ValueCount()  # in what was inflated as text
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

    def limit_text(self) -> None:
        """Refuse a member of an archive that inflates to more than text may."""
        self._is_text = True
        self._check_inflated()

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
                if info.get("compress_type"):  # a member of an archive: to go back is to inflate again
                    self._packed = info.get("compress_size")
                self._streams = info.get("size") is None or self._packed is not None
        if info.get("type") == "directory":
            raise system_error(errno.EISDIR, self._place)
        state = state_of(info)
        if not _is_same(state, self._place.state or {}):
            raise changed_file_error(self._place)
        self._place.state = {**state, **(self._place.state or {})}
        self.size = info.get("size")
        self._check_inflated()
        if self._streams:
            self._begun = 0  # a stream begins anew

    def _check_inflated(self) -> None:
        """Refuse a member of an archive that inflates to more than its compressed bytes may."""
        if self._packed is None or self.size is None:
            return
        limit = max_inflated_size(self._packed, text=self._is_text)
        if self.size > limit:
            reason = f"inflates to {self.size:,} bytes; at most {limit:,} are read"
            raise FormatError(reason, source=os.fspath(self._place))

    def _count_values(self, chunk: bytes) -> None:
        """Count the values in a text that is a member of an archive; refuse it if they are too many for its size."""
        if self._packed is None or not self._is_text:
            return
        self._values.add(chunk)
        if self._values.total > (limit := max_values(self._packed)):
            raise FormatError(f"inflates to more than {limit:,} values", source=os.fspath(self._place))

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
            self._count_values(chunk)
        if start == 0 and len(self._place.head) < HEAD:
            self._place.head = chunk[:HEAD]


class _NoRangesError(FormatError):
    """A server gives a file from its beginning only; never shown."""
