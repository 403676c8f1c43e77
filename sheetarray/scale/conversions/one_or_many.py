"""`convert`: one file to another, or each of many files to one of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import api
from ...files import is_pattern
from ...formats import is_place, is_service_url
from .templates import is_template

if TYPE_CHECKING:
    from .many import Conversions


def convert(
    source: Any,
    target: api.SourceOrTarget,
    names: str | Sequence[str] | None = None,
    *,
    from_format: str | None = None,
    to_format: str | None = None,
    reading: Mapping[str, Any] | None = None,
    writing: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    client: Any = None,
    workers: int | None = None,
    scheduler: Any = None,
    manifest: str | os.PathLike[str] | None = None,
    progress: Callable[[Conversions], None] | None = None,
) -> Any:
    """Read arrays from one place and write them to another, with their labels; or convert many files.

    `convert` first writes the numbers of a large CSV, workbook or JSON file to a temporary file beside the target. So
    memory does not grow with the file.

    If the source is a pattern or a list, or the target a template, each source is converted to a file of its own. A
    file that fails is skipped and reported. With a manifest, you can stop or kill the conversion at any time. The same
    call then converts the files that are not done, that failed, or that changed since then. A complete target on this
    machine is not written again.

    Args:
        source: as for `read`; or a path or a URL with wildcards; or a list of paths and URLs.
        target: as for `write`. For many sources, the template of each target: `{name}` is the file name of a source,
            `{stem}` the same without suffixes, `{index}` its number, counted from 0 (`{index:05}` with zeros).
        names: the arrays to convert; None converts all.
        from_format: the name of the source's format; None chooses it by the suffix.
        to_format: the name of the target's format; None chooses it by the suffix.
        reading: options for `read`.
        writing: options for `write`.
        storage_options: options of the file systems of URLs; `reading` and `writing` may have their own.
        client: a gspread client, for Google Sheets; `reading` and `writing` may have their own.
        workers: for many sources, the number of processes, which share the processors; 1 is this process.
        scheduler: for many sources, the address of a dask.distributed scheduler. Its workers convert the files, instead
            of processes on this machine.
        manifest: for many sources, an SQLite file that keeps the ETag, target, state and error of each source.
        progress: for many sources, a function, called after each file with the counts so far.

    Returns:
        The URL of the sheet, if the target is in Google Sheets; otherwise None. For many sources, an object with
            `.total`, `.done`, `.already` (done before) and `.failed` (source, target and error of each).

    Raises:
        FormatError: as `read`; or the manifest is a file of another kind.
        DTypeError: as `write`.
        LimitError: as `write`; or the manifest belongs to other conversions, or is in use.
        FileNotFoundError: no file matches, or the folder of a target does not exist. Nothing was converted.
        MissingDependencyError: you name a scheduler, and dask.distributed is not installed.
        NotFoundError: the format does not exist.
        RemoteError: the scheduler does not answer.
        TypeError: a format does not have one of the options, or an option is for many sources and there is one.
            Nothing was converted.
        ValueError: the template cannot be filled, two sources have one target, or a target is a source. Nothing was
            converted.

    Warns:
        SheetArrayWarning: as `write`; for many sources, each warning once.

    Example:
        >>> import pathlib, tempfile
        >>> from sheetarray import read, write
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for day in range(3):
        ...     write(folder / f"{day}.csv", {"t": [day]})
        >>> convert(folder / "2.csv", folder / "two.json")
        >>> read(folder / "two.json")
        {'t': array([2])}
        >>> convert(folder / "*.csv", folder / "day-{stem}.json").done
        3
    """
    both: dict[str, Any] = {"from_format": from_format, "to_format": to_format, "reading": reading, "writing": writing}
    of_many: dict[str, Any] = {"workers": workers, "scheduler": scheduler, "manifest": manifest, "progress": progress}
    if is_conversion_of_many(source, target):
        from .many import convert_many  # which needs processes and a database

        if client is not None:
            raise TypeError("client= is for one spreadsheet of Google Sheets, and many files are converted")
        if not isinstance(target, (str, os.PathLike)):
            raise TypeError(f"target is a template for many files, 'out/{{stem}}.csv', not {target!r:.80}")
        return convert_many(source, target, names, storage_options=storage_options, **both, **of_many)
    for option, value in of_many.items():
        if value is not None:
            raise TypeError(
                f"{option}= is for many files: a pattern or a list of sources, and a template, 'out/{{stem}}.csv'"
            )
    return api.convert_one(source, target, names, storage_options=storage_options, client=client, **both)


def is_conversion_of_many(source: Any, target: Any) -> bool:
    """Return whether a conversion is one of many files: the source is a list or a pattern, or the target is a template.

    Example:
        >>> is_conversion_of_many("*.csv", "{stem}.json"), is_conversion_of_many("run.csv", "run.json")
        (True, False)
    """
    if isinstance(target, (str, os.PathLike)) and is_template(os.fspath(target)):
        return True
    if isinstance(source, (str, os.PathLike)):
        return is_pattern(source) and not is_service_url(os.fspath(source))
    is_other = isinstance(source, (bytes, bytearray, memoryview, Mapping, np.ndarray)) or is_place(source)
    return isinstance(source, Iterable) and not is_other
