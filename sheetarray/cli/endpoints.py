"""The sources and targets of commands: a path, a URL, or a pipe, with its format."""

from __future__ import annotations

import functools
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import api
from ..errors import NotFoundError
from ..files import RemoteFile, find_places, is_pattern, is_url, locate
from ..formats import FORMATS, Format, format_of, list_rows, place_problem
from .arguments import FormatOptions, UsageProblem, storage_options
from .console import format_size, print_line
from .program import EXPECTED, FAILED, FINE, explain_error, print_error
from .running import running

if TYPE_CHECKING:
    from ..api.opened import DiffSide

PIPE = "-"
STDOUT = (PIPE, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A FILE of the command line."""

    text: str  # as it was given
    row: Format  # the registry's row of its format
    place: Any  # a path, a `RemoteFile` with its storage options, or the URL of a service
    given: FormatOptions  # what the command line says of its format
    # returns all bytes of standard input or of a named pipe, if that is read; else None
    pipe: Callable[[], bytes] | None = None

    @property
    def label(self) -> str:
        """The name that messages use."""
        if self.text == PIPE:
            return "stdout" if self.pipe is None else "stdin"
        return os.fspath(self.place) if isinstance(self.place, RemoteFile) else self.text

    @property
    def size(self) -> int | None:
        """The number of bytes of the file; None for a pipe, a URL or a folder."""
        if self.pipe is not None or not isinstance(self.place, str) or not os.path.isfile(self.place):
            return None
        return os.stat(self.place).st_size

    def print_written(self, url: str | None, *counts: str) -> None:
        """Print on standard error what was written to this FILE, and on standard output the URL that it has."""
        if url is not None:
            print_line(url)
        size = [format_size(self.size)] if self.size is not None else []
        print_line(f"{self.label}: {', '.join([*counts, *size])} ({self.row.title})", err=True)

    def source(self) -> Any:
        """Return the source for `api.read`; of a pipe its bytes, which are kept."""
        return self.place if self.pipe is None else io.BytesIO(self.pipe())

    def options(self, verb: str) -> dict[str, Any]:
        """Return those of the given options that a verb has; others are for another verb of the same command."""
        return self.given.parse(self.row, verb, lenient=True)

    def call(self, verb: str, *arguments: Any, quiet: bool = False, **options: Any) -> Any:
        """`api.read`, `scan`, `check` or the like of this place; errors name it, and a terminal shows the progress."""
        own = "read" if verb in ("read_labelled", "open_arrays") else verb
        given = self.options(own) if own in ("read", "scan", "check") else {}
        with running(self, own, quiet=quiet) as progress:
            how: dict[str, Any] = {**given, **options, **progress}
            result = getattr(api, verb)(self.source(), *arguments, format=self.row.name, **how)
            return list(result) if verb == "check" else result

    def open_side(self, *, reads_all: bool = False) -> DiffSide:
        """Return the arrays, or the ordinary table, of this place as one side of a comparison, as `api.open_side`."""
        options = self.options("read")
        with suppress(NotFoundError):
            options = {**self.options("read_columns"), **options}
        with running(self, "read") as progress:
            how = {**options, **progress}
            return api.open_side(self.source(), self.label, self.row.name, how, reads_all=reads_all)

    def write(self, arrays: Any, *, verb: str = "write", release: Callable[[], None] | None = None) -> str | None:
        """Write arrays here, and return the URL of a sheet in a service.

        `release`: lets the pages of mapped arrays leave memory as they are written.
        """
        is_pipe = self.text == PIPE
        place: Any = sys.stdout.buffer if is_pipe else self.place
        with running(self, verb, quiet=is_pipe and sys.stdout.isatty()) as progress:
            how: dict[str, Any] = {**self.options(verb), **progress}
            try:
                if release is not None:
                    return api.write_releasing(place, arrays, release, self.row.name, how)
                url: str | None = getattr(api, verb)(place, arrays, format=self.row.name, **how)
                return url
            except OSError as error:
                if error.strerror and error.filename is None:  # the system does not say which file
                    error.filename = self.label
                raise


def source_endpoint(
    place: str | os.PathLike[str], reading: FormatOptions, verb: str | None = None, *, always: bool = True
) -> Endpoint:
    """Return a place to read.

    `place`: a path, a URL or "-"; or a remote file. `verb`: that has to have all options, if they are to be looked at
    now. `always`: whether --from counts although the suffix is known.

    Raises:
        UsageProblem: nothing says which format, or the format has no such option.
    """
    text = place.url if isinstance(place, RemoteFile) else os.fspath(place)
    pipe: Callable[[], bytes] | None
    if text == PIPE:
        pipe = functools.cache(sys.stdin.buffer.read)
        endpoint = Endpoint(text, _find_format_of_pipe(reading, "--from", pipe), text, reading, pipe)
    else:
        pipe = _open_device(text)
        try:
            row = _find_format(text, reading.format, "--from", always=always)
        except UsageProblem:
            if pipe is None:
                raise
            row = _find_format_of_pipe(reading, "--from", pipe)
        endpoint = Endpoint(text, row, place_of(text, row) if isinstance(place, str) else place, reading, pipe)
    if verb is not None:
        reading.parse(endpoint.row, verb)
    return endpoint


def target_endpoint(text: str, writing: FormatOptions, verb: str = "write") -> Endpoint:
    """Return a place to write; `-` and `/dev/stdout` are standard output.

    Raises:
        UsageProblem: nothing says which format, or the format has no such option.
    """
    if text in STDOUT:
        goal = Endpoint(PIPE, _find_format_of_pipe(writing, "--to"), PIPE, writing)
    else:
        row = _find_format(text, writing.format, "--to")
        goal = Endpoint(text, row, place_of(text, row), writing)
    writing.parse(goal.row, verb)
    return goal


def _find_format_of_pipe(given: FormatOptions, option: str, read: Callable[[], bytes] | None = None) -> Format:
    """Return the format of a pipe: `option`, --from or --to, names it, or the first bytes of one that is read show it.

    `read`: returns all bytes of the pipe; None for one that is written.
    """
    if given.format is None:
        with suppress(NotFoundError):
            if read is not None:
                return format_of(io.BytesIO(read()), reading=True)
        names = [row.name for row in _list_named(option) if row.suffixes]
        reason = "a pipe has no suffix" if read is None else "the first bytes of the pipe show no format that is known"
        raise UsageProblem(f"{reason}: name its format with {option}", f"{option} {', '.join(names)}")
    row = FORMATS[given.format]
    if not row.suffixes:
        raise UsageProblem(f"{row.title} cannot go through a pipe", "name a URL" if row.prefixes else "name a file")
    return row


def _find_format(text: str, format: str | None, option: str, *, always: bool = True) -> Format:
    """Return the format that the option names, or the suffix; the suffix first, unless the option counts `always`."""
    if format is not None and always:
        return FORMATS[format]
    try:
        if option == "--to":
            return format_of(text)
        return format_of(place_of(text, format_of(text) if is_url(text) else None), reading=True)
    except NotFoundError:
        if format is not None:
            return FORMATS[format]
        message = "; ".join([place_problem(text, list_rows()), *FORMATS.problems])
        names = ", ".join(row.name for row in _list_named(option))
        hint = "" if os.path.isdir(text) else f"name the format with {option}: {names}"
    raise UsageProblem(message, hint)


def _list_named(option: str) -> list[Format]:
    """Return the formats whose names an option takes; a format that is only read is none for a target."""
    return [row for row in list_rows() if option == "--from" or row.instead is None]


def place_of(text: str, row: Format | None = None) -> Any:
    """Return the place that a FILE means: a path, a remote file with its storage options, or the URL of a service."""
    if row is not None and text.startswith(row.prefixes or "\0"):
        return text
    return locate(text, storage_options() if is_url(text) and not text.startswith("file:") else None)


def _open_device(text: str) -> Callable[[], bytes] | None:
    """Return what reads a named pipe or a device, such as the shell's `<(zcat run.csv.gz)`, which is read once."""
    if not os.path.exists(text) or os.path.isfile(text) or os.path.isdir(text):
        return None
    return functools.cache(Path(text).read_bytes)


def merging_options(places: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the options of all places, for arrays and for ordinary tables; `merge` gives each file its own."""
    options: dict[str, Any] = {}
    for place in places:
        options |= place.options("read")
        with suppress(NotFoundError):  # the format has no ordinary tables
            options |= place.options("read_columns")
    return options


def source_endpoints(texts: Sequence[str], reading: FormatOptions, other_verb: str | None = None) -> list[Endpoint]:
    """Return the places to read, those of a pattern too; --from counts for the pipe and for suffixes without a format.

    `other_verb`: besides `read`, whose options may be given.

    Raises:
        UsageProblem: the pipe is named twice, nothing says which format, or no format has an option.
        OSError: no file matches a pattern.
    """
    places = []
    for _, place in find_sources(texts, reading):
        if isinstance(place, Exception):
            raise place
        places.append(place)
    reading.refuse_unknown([place.row for place in places], "read", other_verb)
    return places


def is_many(text: str) -> bool:
    """Return whether a FILE has wildcards, and so is all files that match."""
    return text != PIPE and is_pattern(text) and not any(text.startswith(row.prefixes or "\0") for row in list_rows())


def find_sources(texts: Sequence[str], reading: FormatOptions) -> list[tuple[str, Endpoint | Exception]]:
    """Return each FILE, and its place or the error that will be reported for it; a pattern is all files that match.

    Raises:
        UsageProblem: the pipe is named twice.
    """
    if texts.count(PIPE) > 1:
        raise UsageProblem("standard input can be read only once")
    sources: list[tuple[str, Endpoint | Exception]] = []
    for text in texts:
        try:
            places_found = find_places(text, storage_options() if is_url(text) else None) if is_many(text) else [text]
        except EXPECTED as error:
            sources.append((text, error))
            continue
        for given in places_found:
            try:
                sources.append((os.fspath(given), source_endpoint(given, reading, always=False)))
            except (OSError, UsageProblem) as error:
                sources.append((os.fspath(given), error))
    return sources


def report_each(
    texts: Sequence[str],
    reading: FormatOptions,
    verb: str,
    report: Callable[[Endpoint], tuple[int, dict[str, Any]]],
) -> tuple[int, list[dict[str, Any]]]:
    """Report on files one after the other; one that cannot be read is an error, and the others are read all the same.

    `verb`: that takes the options. `report`: called with each file; returns an exit status, and the report as JSON.

    It returns the greatest exit status, and all reports.
    """
    sources = find_sources(texts, reading)
    reading.refuse_unknown([place.row for _, place in sources if isinstance(place, Endpoint)], verb)
    status, reports = FINE, []
    for name, place in sources:
        try:
            if isinstance(place, Exception):
                raise place
            status_of_place, content = report(place)
        except (*EXPECTED, UsageProblem) as error:
            print_error(error)
            status_of_place = FAILED
            content = {"file": name, "ok": False, "error": "; ".join(filter(None, explain_error(error)))}
        status = max(status, status_of_place)
        reports.append(content)
    return status, reports
