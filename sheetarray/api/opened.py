"""The arrays of a place while somebody writes or compares them; those of a large file are mapped, not in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from ..columns import keeping_unreadable
from ..columns.blocks.mapping import MappedArrays
from ..errors import FormatError, warn_caller
from ..files import RemoteFile, file_version, is_url
from ..formats import is_service, rewinding
from ..labels import LabelledArrays
from .arrays import read_labelled
from .targets import SourceOrTarget, is_path


@contextmanager
def open_arrays(
    source: SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    folder: str | None = None,
    unreadable: dict[str, Any] | None = None,
    **options: Any,
) -> Iterator[tuple[LabelledArrays, Callable[[], None]]]:
    """Yield arrays with their labels, and a function that lets those of a large file, which are mapped, leave memory.

    Text, and arrays whose elements do not lie side by side, are read into memory.

    `folder`: for a file of the elements; None for the system's temporary folder. `unreadable`: takes the errors of
    single cells, as `keeping_unreadable` yields them, and rows that people have added or deleted count as they stand;
    None raises them. `**options`: for `read`.

    Raises:
        FormatError: as `read`; or the file has changed meanwhile.
        NotFoundError: no such array.
    """
    with MappedArrays(folder) as mapped:
        with nullcontext() if is_service(source, format) else mapped.mapping():
            check_unchanged = watch_file(source)
            try:
                with rewinding(source) if unreadable is not None else nullcontext():
                    arrays = read_labelled(source, names, format=format, **options)
                if mapped.exist:  # which took a while
                    check_unchanged()
            except FormatError:
                if unreadable is None:
                    raise
                arrays = _read_changed(source, names, format, options, unreadable)
        yield arrays, mapped.release


def _read_changed(
    source: SourceOrTarget,
    names: Sequence[str] | None,
    format: str | None,
    options: dict[str, Any],
    unreadable: dict[str, Any],
) -> LabelledArrays:
    """Return arrays with the rows that are there, and warn if they are others than headers say.

    `unreadable`: gets the errors of cells that cannot be read.
    """
    with keeping_unreadable() as errors:
        try:
            with rewinding(source):
                arrays = read_labelled(source, names, format=format, **options)
        except FormatError as error:
            if "resize" in options or "resize=True" not in (error.hint or ""):
                raise
            arrays = read_labelled(source, names, format=format, resize=True, **options)
            place = f"{error.source}: " if error.source else ""
            warn_caller(f"{place}rows were added or deleted, and count as they stand (accept takes them)")
    unreadable.update(errors)
    return arrays


def watch_file(source: SourceOrTarget) -> Callable[[], None]:
    """Return a function that refuses a file of this machine which was saved again; a `RemoteFile` does so itself."""
    if not is_path(source) or isinstance(source, RemoteFile) or is_url(source):
        return lambda: None
    path, version = source, file_version(source)

    def check_unchanged() -> None:
        if file_version(path) != version:
            raise FormatError(
                "the file has changed since its first rows were read", source=os.fspath(path), hint="read it again"
            )

    return check_unchanged
