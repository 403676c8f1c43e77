"""The exception tree, what a finding of `check` is, and a warning in processes that were forked.

    SheetArrayError
    ├── FormatError           (ValueError)    a file that does not hold what it says: names the cell
    ├── DTypeError            (TypeError)     an array that the target cannot hold, or an object that is no target
    ├── LimitError            (ValueError)    too much for the target; raised before anything is written
    ├── NotFoundError         (KeyError)      no array, sheet or format of that name: names what there is
    ├── MissingDependencyError (ImportError)  an extra is not installed: names it
    └── RemoteError           (OSError)       a service that cannot be reached, or refuses: network, permission, quota

    SheetArrayWarning         (UserWarning)   read all the same, but worth a look

An `OSError` of the system (no such file, disk full, permission denied) passes through as it is.
"""

from __future__ import annotations

import operator
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Literal, TypeVar

NEWER = "a newer sheetarray reads it: pip install --upgrade sheetarray"  # a hint


def escape_controls(text: str) -> str:
    r"""Return a text with control characters, bidirectional marks and the like written out as escapes.

    A text from a file could otherwise steer a terminal, or turn around what stands beside it.

    Example:
        >>> print(escape_controls("a\x1b[2J\u202eb"))
        a\x1b[2J\u202eb
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class SheetArrayError(Exception):
    """The base class of every error that sheetarray raises on purpose."""

    def __str__(self) -> str:
        return escape_controls(super().__str__())


class FormatError(SheetArrayError, ValueError):
    """The content of a file is wrong: malformed, edited, cut short or hostile.

    Attributes:
        reason: what is wrong, in one sentence, without the location.
        location: the address of the cell (`C17`; in a workbook `arrays!C17`), or the index in a list (`cells[17]`);
            None if the error is not about one cell.
        element: the element in that cell, such as `temperature[0, 3]`, or None.
        source: the file or URL.
        hint: what to do about it.
        array: the name of the array; None if the error is not about one array, or its name is unknown.
        index: the index of the element in that array; None if the error is not about one element.

    Example:
        >>> str(FormatError("expected float64, found 'abc'", location="C17", source="run.csv"))
        "run.csv, cell C17: expected float64, found 'abc'"
    """

    def __init__(
        self,
        reason: str,
        *,
        location: str | None = None,
        element: str | None = None,
        source: str | None = None,
        hint: str | None = None,
        array: str | None = None,
        index: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.location = location
        self.element = element
        self.source = source
        self.hint = hint
        self.array = array
        self.index = index

    def __str__(self) -> str:
        parts = [self.source] if self.source else []
        if self.location:
            parts.append(_describe_location(self.location))
        where = ", ".join(parts)
        if self.element:
            where = f"{where} ({self.element})" if where else self.element
        text = f"{where}: {self.reason}" if where else self.reason
        return escape_controls(f"{text} ({self.hint})" if self.hint else text)


class DTypeError(SheetArrayError, TypeError):
    """The target cannot hold an array or an element. Or you passed an object that is neither a source nor a target."""


class LimitError(SheetArrayError, ValueError):
    """The target has no room: too many rows, cells, characters or arrays, or a name that it cannot hold."""


class NotFoundError(SheetArrayError, KeyError):
    """No array, sheet or format has this name; the message lists those that exist."""

    def __str__(self) -> str:
        return escape_controls(str(self.args[0])) if self.args else ""  # KeyError alone would show the repr


class MissingDependencyError(SheetArrayError, ImportError):
    """A package is not installed; the message has the command that installs it."""


class RemoteError(SheetArrayError, OSError):
    """A service cannot be reached, refuses access, has no such document, or is busy.

    No message contains a token or the content of a credentials file.

    Attributes:
        reason: what happened, in one sentence.
        hint: what to do about it.
        status: the HTTP status of the last answer; None if no answer came.

    Example:
        >>> str(RemoteError("no permission to read it", hint="share it with me@example.org", status=403))
        'no permission to read it (share it with me@example.org)'
    """

    def __init__(self, reason: str, *, hint: str | None = None, status: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint
        self.status = status

    def __str__(self) -> str:
        return escape_controls(f"{self.reason} ({self.hint})" if self.hint else self.reason)


def system_error(number: int, path: str | os.PathLike[str]) -> OSError:
    """Return the OSError for an error number: a FileNotFoundError for `errno.ENOENT`, and so on."""
    return OSError(number, os.strerror(number), os.fspath(path))


class OtherContentError(FormatError):
    """The error of a file that is of another kind than its name says, such as a page of HTML, and holds no table."""


NO_ARRAY = "no array of the exchange format here (no cells version, 1.0.0, ndarray)"
"""The reason of a `FormatError` about sheets without arrays, which may be ordinary tables."""
NOT_UTF8 = "not text in utf-8"
"""How the reason begins for which a text in another encoding is refused."""


def may_be_table(reason: str) -> bool:
    """Return whether a source that holds no array, or is not UTF-8, may hold an ordinary table."""
    return reason == NO_ARRAY or reason.startswith(NOT_UTF8)


SAME_NAME = "two arrays have the name"
"""How the reason of a `FormatError` begins about two arrays of one name."""


def has_same_names(reason: str) -> bool:
    """Return whether a source was refused because two of its arrays have one name."""
    return reason.startswith(SAME_NAME)


class SheetArrayWarning(UserWarning):
    """Something was lost or left out, or was accepted that a strict reader would refuse."""


def is_panic(error: BaseException) -> bool:
    """Return whether an exception is a panic of a Rust library, which is not an `Exception` and has no public class."""
    return type(error).__module__ == "pyo3_runtime"


def quote_names(names: Sequence[str], most: int = 5) -> str:
    """Return the first of many names for a message, each in quotes and cut to 80 characters, and the number of others.

    Example:
        >>> quote_names(["a", "b", "c"], 2)
        "'a', 'b' and 1 more"
    """
    more = len(names) - most
    return ", ".join(f"{name!r:.80}" for name in names[:most]) + (f" and {more:,} more" if more > 0 else "")


def check_kinds(kinds: Any, takes: str, **arguments: object) -> None:
    """Refuse arguments of wrong types, with a TypeError that says what they take. `kinds` is as for `isinstance`.

    Example:
        >>> check_kinds(str, "the title of a sheet", sheet=0)
        Traceback (most recent call last):
        TypeError: sheet is the title of a sheet, not 0
    """
    for name, value in arguments.items():
        if not isinstance(value, kinds):
            raise TypeError(f"{name} is {takes}, not {value!r:.80}")


def parse_count(noun: str, **argument: Any) -> int:
    """Return an argument as a count of at least one.

    Raises:
        TypeError: it is no number of things.
        ValueError: it is less than 1.
    """
    ((name, value),) = argument.items()
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is a number of {noun}s, not {value!r:.80}") from None
    if count < 1:
        raise ValueError(f"{name} is one {noun} at least, not {count}")
    return count


def warn_caller(message: str) -> None:
    """Issue a `SheetArrayWarning` that points at the caller's line, outside of this package.

    `warnings.warn` can pass over all frames of a package only from Python 3.12 on, so the caller's frame is found here.
    """
    frame = _callers_frame()
    names = frame.f_globals
    warnings.warn_explicit(
        escape_controls(message),
        SheetArrayWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=str(names.get("__name__", "<string>")),
        registry=names.setdefault("__warningregistry__", {}),
    )


def _callers_frame() -> FrameType:
    """Return the innermost frame that is neither of this package nor of the standard library.

    In a thread that runs nothing but one of our functions there is no such frame: then it is the innermost one of the
    standard library.
    """
    outside: FrameType | None = None
    frame = current = sys._getframe(1)
    while (caller := current.f_back) is not None:
        current = caller
        if current.f_code.co_filename.startswith(_PACKAGE):
            outside = None  # the standard library calls us back: its caller is ours
        elif str(current.f_globals.get("__name__")).partition(".")[0] not in sys.stdlib_module_names:
            return current
        else:
            outside = outside or current
    return outside or frame


_PACKAGE = __file__.removesuffix("errors.py")


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem that `check` found in a file.

    Attributes:
        severity: "error" if `read` would refuse the file, or values are not those that were written; otherwise
            "warning".
        location: the address of a cell, the title of a sheet, or the name of an array; None for the whole file.
        message: what is wrong; it names the element, if the finding is about one.
        hint: what to do about it; may be empty.
        array: the name of the array; None if the finding is not about one array, or its name is unknown.
        index: the index of the element in that array; None if the finding is not about one element.

    Example:
        >>> str(Finding("warning", "arrays!C17", "t[0, 3] was edited", "restore gives the old value", array="t"))
        'warning: sheet arrays, cell C17: t[0, 3] was edited (restore gives the old value)'
    """

    severity: Literal["error", "warning"]
    location: str | None
    message: str
    hint: str = ""
    array: str | None = field(default=None, kw_only=True)
    index: tuple[int, ...] | None = field(default=None, kw_only=True)

    @classmethod
    def from_error(cls, error: FormatError) -> Finding:
        """Make a finding with the message, location and hint of an error."""
        message = f"{error.element}: {error.reason}" if error.element else error.reason
        return cls("error", error.location, message, error.hint or "", array=error.array, index=error.index)

    def __str__(self) -> str:
        where = f"{_describe_location(self.location)}: " if self.location else ""
        hint = f" ({self.hint})" if self.hint else ""
        return escape_controls(f"{self.severity}: {where}{self.message}{hint}")


@contextmanager
def locating(
    *, source: str | None = None, sheet: str | None = None, location: str | None = None, array: str | None = None
) -> Iterator[None]:
    """Add the file, the sheet, the cell or the array's name to a `FormatError` that passes through without it."""
    try:
        yield
    except FormatError as error:
        error.array = array if error.array is None else error.array
        error.location = error.location or location
        if sheet and error.location and "!" not in error.location:
            error.location = f"{sheet}!{error.location}"
        if source and not error.source:
            error.source = source
        raise


@contextmanager
def naming_sheet(title: str) -> Iterator[None]:
    """Put the title of the sheet that is written before a `DTypeError` or a `LimitError` that passes through."""
    with naming_array(f"sheet {title!r:.80}"):
        yield


@contextmanager
def naming_array(name: str) -> Iterator[None]:
    """Put the name of an array, unless it is "", before a `DTypeError` or a `LimitError` that passes through."""
    try:
        yield
    except (DTypeError, LimitError) as error:
        if not name:
            raise
        raise type(error)(f"{name}: {error}") from error


@contextmanager
def noting(findings: list[Finding], *, array: str | None = None) -> Iterator[None]:
    """Append a finding if a `FormatError` ends the block; the finding names the array, if given."""
    try:
        with locating(array=array):
            yield
    except FormatError as error:
        findings.append(Finding.from_error(error))


MOST_NOTED = 1_000  # findings about one file; what comes then is not looked at


_Item = TypeVar("_Item")


def while_few(items: Iterable[_Item], findings: list[Finding]) -> Iterator[_Item]:
    """Yield items until there are 1,000 findings. A last finding then says that the rest was not checked."""
    for item in items:
        if len(findings) >= MOST_NOTED:
            reason = f"there are at least {MOST_NOTED:,} findings, and the rest was not looked at"
            findings.append(Finding("error", None, reason))
            return
        yield item


def _describe_location(location: str) -> str:
    sheet, mark, cell = location.rpartition("!")
    kind = "cell " if re.fullmatch(r"[A-Z]{1,3}[0-9]{1,7}", cell) else ""
    return f"sheet {sheet}, {kind}{cell}" if mark else f"{kind}{cell}"


_ENGINE = "polars"
_WORKER = re.compile(rf"{_ENGINE}-[0-9]+")  # as its threads are called, once it has been used
_forked_with_engine = _has_threads = False


def warn_if_forked() -> None:
    """Warn once if this process was forked after polars had started its threads: the next call may hang.

    A process that was forked off one with these threads does not have them, and the engine waits for them forever.
    `import sheetarray` imports this module, so that it knows of every fork from then on.
    """
    global _forked_with_engine
    if _forked_with_engine:
        _forked_with_engine = False
        warn_caller(
            "this process was forked after polars started threads, which are missing here: reading and writing "
            "may hang. Start processes with multiprocessing.get_context('spawn') or 'forkserver'"
        )


def _note_threads() -> None:
    """Record whether the process that is about to fork has threads of polars."""
    global _has_threads
    _has_threads = _ENGINE in sys.modules and any(map(_WORKER.fullmatch, _thread_names()))


def _thread_names() -> list[str]:
    """Return the names of this process's threads; the name of a polars thread if the system has no list."""
    try:
        return [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
    except OSError:
        return [f"{_ENGINE}-0"]


def _note_fork() -> None:
    global _forked_with_engine
    _forked_with_engine = _has_threads


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_note_threads, after_in_child=_note_fork)
