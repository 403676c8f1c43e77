"""The sources and targets of commands: a path, a URL, or a pipe, with its format."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, cast

import click

from .. import api
from ..errors import FormatError, NotFoundError, locating, warn_caller
from ..files import RemoteFile, is_url, locate
from ..registry import FORMATS, Format, format_of, place_problem
from .arguments import storage_options
from .program import UsageProblem

PIPE = "-"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A FILE of the command line.

    Attributes:
        text: as it was given.
        row: the registry's row of its format.
        label: the name that messages use.
        place: a path, a `RemoteFile` with its storage options, or the URL of a service.
        pipe: standard input, if it is read; else None.
    """

    text: str
    row: Format
    label: str
    place: Any
    pipe: ReplayableStream | None = None

    @property
    def size(self) -> int | None:
        """The number of bytes of the file; None for a pipe, a URL or a folder."""
        if self.pipe is not None or not isinstance(self.place, str) or not os.path.isfile(self.place):
            return None
        return os.stat(self.place).st_size

    def source(self) -> Any:
        """Return the source for `api.read`; a pipe is set back to its beginning."""
        if self.pipe is None:
            return self.place
        self.pipe.seek(0)
        return cast("IO[bytes]", self.pipe)

    def call(self, verb: str, *arguments: Any, **options: Any) -> Any:
        """`api.read`, `scan` or `check` of this place; errors name it.

        Raises:
            SheetArrayError: as the verb.
            OSError: the system refuses.
        """
        with locating(source=self.label):
            result = getattr(api, verb)(self.source(), *arguments, format=self.row.name, **options)
            return list(result) if verb == "check" else result

    def read_changed(self, names: Sequence[str] | None, **options: Any) -> dict[str, Any]:
        """`api.read` of this place; rows that people have added or deleted count as they stand, with a warning.

        Raises:
            SheetArrayError: what `api.read` raises.
        """
        try:
            arrays: dict[str, Any] = self.call("read", names, **options)
        except FormatError as error:
            if not may_be_resized(error, options):
                raise
            arrays = self.call("read", names, **options, resize=True)
            rows = "rows were added or deleted, and count as they stand; the headers say otherwise"
            warn_caller(f"{self.label}: {rows} (sheetarray adopt makes them true)")
        return arrays


def may_be_resized(error: FormatError, options: Mapping[str, Any]) -> bool:
    """Return whether a source that could not be read with some options may be read with `resize=True`."""
    return "resize" not in options and "resize=True" in (error.hint or "")


def source_endpoint(text: str, format: str | None, *, always: bool = True) -> Endpoint:
    """Return a place to read.

    Args:
        text: a path, a URL or "-".
        format: what --from says.
        always: whether --from counts although the suffix is known.

    Raises:
        UsageProblem: nothing says which format.
    """
    if text == PIPE:
        if format is None:
            raise UsageProblem("a pipe has no suffix: --from has to say its format", f"--from {_names('--from')}")
        return Endpoint(text, FORMATS[format], "stdin", text, ReplayableStream(sys.stdin.buffer))
    counts = always or not _has_known_suffix(text)
    row = _find_format(text, format if counts else None, "--from")
    place = place_of(text, row)
    return Endpoint(text, row, _label_of(text, place), place, _open_device(place))


def target_endpoint(text: str, format: str | None) -> Endpoint:
    """Return a place to write.

    Raises:
        UsageProblem: nothing says which format.
    """
    if text == PIPE:
        if format is None:
            raise UsageProblem("a pipe has no suffix: --to has to say its format", f"--to {_names('--to')}")
        return Endpoint(text, FORMATS[format], "stdout", text)
    row = _find_format(text, format, "--to")
    place = place_of(text, row)
    return Endpoint(text, row, _label_of(text, place), place)


def place_of(text: str, row: Format | None = None) -> Any:
    """Return the place that a FILE means: a path, a remote file with its storage options, or the URL of a service."""
    if row is not None and text.startswith(row.prefixes or "\0"):
        return text
    return locate(text, storage_options() if is_url(text) and not text.startswith("file:") else None)


def _label_of(text: str, place: Any) -> str:
    return os.fspath(place) if isinstance(place, RemoteFile) else text


def _open_device(text: Any) -> ReplayableStream | None:
    """Return a named pipe or a device, such as the shell's `<(zcat run.csv.gz)`: like standard input it is
    read once.
    """
    if (
        not isinstance(text, str)
        or not os.path.exists(text)
        or stat.S_ISREG(mode := os.stat(text).st_mode)
        or stat.S_ISDIR(mode)
    ):
        return None
    stream = open(text, "rb")  # noqa: SIM115  (closed with the command)
    click.get_current_context().call_on_close(stream.close)
    return ReplayableStream(stream)


def source_endpoints(texts: Sequence[str], format: str | None) -> list[Endpoint]:
    """Return the places to read; --from counts for the pipe and for suffixes that no format has.

    Raises:
        UsageProblem: the pipe is named twice.
    """
    if texts.count(PIPE) > 1:
        raise UsageProblem("standard input can be read only once")
    return [source_endpoint(text, format, always=False) for text in texts]


def _find_format(text: str, format: str | None, option: str) -> Format:
    if format is not None:
        return FORMATS[format]
    try:
        return format_of(text)
    except NotFoundError:
        message = place_problem(text, list(FORMATS.values()))
    raise UsageProblem(
        message, "" if os.path.isdir(text) else f"{option} names the format whatever the suffix: {_names(option)}"
    )


def _has_known_suffix(text: str) -> bool:
    try:
        format_of(text)
    except NotFoundError:
        return False
    return True


def _names(option: str) -> str:
    """Return the names that an option takes; those of formats that are only read are no names for a target."""
    return ", ".join(name for name, row in FORMATS.items() if option == "--from" or row.instead is None)


class ReplayableStream(io.RawIOBase):
    """A stream that can be read again: its bytes are kept once they are read, and only as many as needed are read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._kept, self._at = stream, bytearray(), 0
        self._ended = False

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: what has been read is kept."""
        return True

    def readinto(self, target: Any) -> int:
        """Fill the buffer `target` with the next bytes, and return their number; 0 at the end."""
        self._read_until(self._at + len(target))
        chunk = self._kept[self._at : self._at + len(target)]
        target[: len(chunk)] = chunk
        self._at += len(chunk)
        return len(chunk)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a byte; from the end only after reading all."""
        if whence == os.SEEK_END:
            self._read_until(None)
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at}.get(whence, len(self._kept))
        self._at = max(0, start + offset)
        return self._at

    def _read_until(self, count: int | None) -> None:
        while not self._ended and (count is None or len(self._kept) < count):
            chunk = self._stream.read(2**20 if count is None else max(count - len(self._kept), 2**16))
            self._ended = not chunk
            self._kept += chunk
