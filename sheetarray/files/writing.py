"""Targets of bytes: a path or a URL, which is replaced whole or not at all, or a file that the caller opened."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from ..errors import system_error, warn_if_forked
from .beside import create_beside, is_beside
from .compressed import Sink, compressing
from .in_place import begin_writing, take_name
from .places import COMPRESSIONS, PathLike, RemoteFile, locate, name_part
from .unnamed import give_name, open_unnamed, set_mode
from .uploads import uploading

Writable = PathLike | IO[bytes] | IO[str]
FLUSH_EVERY = 0.03  # seconds from one flush to the disk to the next, while a file is written
_FEW_CELLS = 2**12  # fewer are written before a thread that flushes has begun
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)  # a disk, a quota, the largest file
_SYNC = getattr(os, "fdatasync", os.fsync)


@contextmanager
def replacing(target: Writable, *, binary: bool = False, cells: int = _FEW_CELLS) -> Iterator[Sink]:
    """Write to `target`; a path is replaced when the block ends well, and left as it was when it does not.

    For a plain path it yields the file itself (an `io.BufferedWriter`), so that an engine may write to its descriptor.

    `binary`: whether the bytes are no text, so that a file that was opened for text is refused. `cells`: how many cells
    will be written, about; few go to the disk at the end, without a thread before that.

    Raises:
        OSError: of the system, as it is; no temporary file is left.
        TypeError: the file takes no bytes.
    """
    if binary and isinstance(target, io.TextIOBase):
        raise TypeError("a file opened for text: open it with mode 'wb'")
    warn_if_forked()
    target = locate(target)
    suffix = os.path.splitext(name_part(target))[1].lower() if isinstance(target, (str, os.PathLike)) else ""
    if isinstance(target, RemoteFile):
        with uploading(target, suffix) as file, compressing(file, suffix) as sink:
            yield sink
        return
    if not isinstance(target, (str, os.PathLike)):
        yield _to_sink(target)
        return
    old = os.stat(target) if os.path.exists(target) else None
    if old is None or stat.S_ISREG(old.st_mode):
        with _replacing_file(target, old, suffix, cells) as sink:
            yield sink
        return
    if stat.S_ISDIR(old.st_mode):
        raise system_error(errno.EISDIR, target)
    with open(target, "wb") as special:  # a pipe or a device: nothing there to keep, perhaps no real path either
        yield special


@contextmanager
def _replacing_file(target: PathLike, old: os.stat_result | None, suffix: str, cells: int) -> Iterator[Sink]:
    """Write to a file of this machine, which takes the target's name when the block ends well.

    `old`: the state of the file that is there; None if none is. `suffix`: of the target, which says how to compress.
    """
    path = Path(os.path.realpath(target))
    if not path.parent.is_dir():
        raise system_error(errno.ENOENT, target)
    if old is not None and not os.access(path, os.W_OK):
        is_read_only = os.name == "posix" and bool(os.statvfs(path).f_flag & os.ST_RDONLY)
        raise system_error(errno.EROFS if is_read_only else errno.EACCES, target)
    beginning = begin_writing(path)
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode)
    temporary: Path | None = None
    try:
        with _naming_what_is_beside(target, path), ExitStack() as lock:
            unnamed = open_unnamed(path.parent, mode)
            if unnamed is None:
                temporary, descriptor = create_beside(path, mode)
            with unnamed or open(descriptor, "wb") as file:
                set_mode(file, None if old is None else mode)
                flushing = nullcontext() if cells < _FEW_CELLS else _FlushingFile(file.fileno())
                with flushing, compressing(file, suffix) if suffix in COMPRESSIONS else nullcontext(file) as sink:
                    yield sink
                file.flush()
                os.fsync(file.fileno())
                if unnamed is not None:
                    temporary, descriptor = give_name(unnamed, path)
                    lock.callback(os.close, descriptor)
                elif os.name == "posix":  # Windows renames no open file
                    lock.callback(os.close, os.dup(descriptor))
            assert temporary is not None
            if beginning is None:
                temporary.replace(path)
            else:
                take_name(temporary, path, beginning)
    except BaseException:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _naming_what_is_beside(target: PathLike, path: Path) -> Iterator[None]:
    """Make an error of the system name the target, and not the file beside it, which the caller does not know.

    The system names no file when the disk is full.
    """
    try:
        yield
    except OSError as error:
        is_full = error.filename is None and error.errno in _FULL
        if not is_full and not is_beside(error.filename, path):
            raise
        raise type(error)(error.errno, error.strerror, os.fspath(target)) from None


@contextmanager
def numbering_errors() -> Iterator[None]:
    """Give an error of the system its number, which an engine leaves in the text only."""
    try:
        yield
    except OSError as error:
        number = re.search(r"\(os error (\d+)\)$", str(error)) if error.errno is None else None
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from None


@contextmanager
def naming_target(target: PathLike, temporary: Path) -> Iterator[None]:
    """Make an error of the system name the target, and not the temporary file, which the caller does not know."""
    try:
        yield
    except OSError as error:
        name = error.filename
        if not isinstance(name, (str, os.PathLike)) or os.fspath(name) != os.fspath(temporary):
            raise
        raise type(error)(error.errno, error.strerror, os.fspath(target)) from None


class _FlushingFile:
    """A file whose bytes go to the disk in a thread while the caller makes more, so that little is left at the end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._ended = threading.Event()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._flush, name="sheetarray-flush", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        if error is None and self._error is not None:
            raise self._error  # the system reports a failed write only once

    def _flush(self) -> None:
        try:
            while not self._ended.wait(FLUSH_EVERY):
                _SYNC(self._descriptor)
        except OSError as error:
            self._error = error


def _to_sink(file: IO[bytes] | IO[str]) -> Sink:
    if not hasattr(file, "write"):
        opens = '; with path.open("wb") as file: sheetarray.write(file, arrays, format="csv")'
        hint = opens if hasattr(file, "open") else ""
        raise TypeError(f"expected a path or an open file, not {type(file).__module__}.{type(file).__name__}{hint}")
    if getattr(file, "closed", False):
        raise ValueError(f"{getattr(file, 'name', 'the target')}: the file is closed: open it again, or give its path")
    return _CallerSink(file)


class _CallerSink:
    """A file that the caller opened, for bytes or for text (then they are UTF-8)."""

    def __init__(self, file: IO[Any]) -> None:
        self._file = file
        self._takes_text = isinstance(file, io.TextIOBase)

    def write(self, chunk: bytes | memoryview, /) -> None:
        if self._takes_text:
            self._file.write(bytes(chunk).decode("utf-8"))
        elif not isinstance(self._file, io.RawIOBase):
            self._file.write(chunk)
        else:
            self._write_all(memoryview(chunk).cast("B"))

    def _write_all(self, rest: memoryview) -> None:
        """Write all bytes to an unbuffered file, whose `write` may take only some and returns their number."""
        while rest:
            count = self._file.write(rest)
            if count is None:
                raise BlockingIOError(
                    errno.EAGAIN, "the open file accepts no more bytes now: open it for blocking writes"
                )
            rest = rest[count:]
