"""convert, accept and restore: files made of other files, or true again to what people have changed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from ..changes.compare import Comparison
from ..columns import ArrayInfo, keeping_unreadable
from ..errors import FormatError, NotFoundError, check_kinds, warn_caller
from ..files import RemoteFile, changing, is_url, name_part
from ..formats import Format, find_format, format_of, known_options, locate_place, locate_places, rewinding
from ..labels import LabelledArrays, check_fit
from ..sheets.accepted import AcceptedArrays
from .arrays import check_writable, read_labelled, scan, write, write_releasing
from .changes import Changes
from .differences import Differences, SideFacts
from .differing import diff_sides
from .opened import hold_arrays, open_arrays
from .targets import SourceOrTarget, folder_beside, is_path


# convert, accept and restore: files made of other files, or true again to what people have changed.
def convert_one(
    source: SourceOrTarget,
    target: SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    from_format: str | None = None,
    to_format: str | None = None,
    reading: Mapping[str, Any] | None = None,
    writing: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    client: Any = None,
) -> str | None:
    """Read arrays from one place and write them to another; see `sheetarray.convert`."""
    check_kinds(Mapping | None, "a mapping of option names to values", reading=reading, writing=writing)
    reading, writing = dict(reading or {}), dict(writing or {})
    sides = [(source, from_format, reading), (target, to_format, writing)]
    own = [options.pop("storage_options", None) for _, _, options in sides]
    source, target = (
        locate_place(place, stored, name, given.get("client")) if stored or given.get("client") is not None else place
        for (place, name, given), stored in zip(sides, own, strict=True)
    )
    source, target = locate_places([(source, from_format), (target, to_format)], storage_options, client)
    if client is not None:
        _hand_client(client, [("read", source, from_format, reading), ("write", target, to_format, writing)])
    check_writable(target, to_format, writing)  # what is wrong with it is said before anything is read
    folder = folder_beside(target)
    with _hinting_at_reading(source, from_format):
        arrays, release = open_arrays(source, names, format=from_format, folder=folder, **reading)
        return write_releasing(target, arrays, release, to_format, writing)


@contextmanager
def _hinting_at_reading(source: SourceOrTarget, name: str | None) -> Iterator[None]:
    """Change hints at options of `read` to the form that this function takes: `reading={'group': 'north'}`."""
    try:
        yield
    except FormatError as error:
        options = set(format_of(source, name, reading=True).options("read")) - {"names"}
        if options:
            value = rf"\b({'|'.join(sorted(options))})=('[^']*'|\"[^\"]*\"|True|False|\d+)"
            error.reason, error.hint = (
                re.sub(value, r"reading={'\1': \2}", text) for text in (error.reason, error.hint or "")
            )
        raise


def _hand_client(client: Any, sides: Sequence[tuple[str, SourceOrTarget, str | None, dict[str, Any]]]) -> None:
    """Add `client=` to the options of each source or target that takes it and has none yet."""
    takers = [
        options
        for verb, place, name, options in sides
        if "client" in format_of(place, name, reading=verb == "read").options(verb)
    ]
    if not takers:
        raise TypeError("client= is for Google Sheets, gsheets://..: neither the source nor the target is one")
    for options in takers:
        options.setdefault("client", client)


def accept(
    source: SourceOrTarget,
    target: SourceOrTarget | None = None,
    *,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Changes:
    """Accept what people changed: rows that they added or deleted, and elements that they edited.

    The headers are corrected, and everything else stays. In a workbook, defined names, checksums, views and the guard
    are corrected too. A cell that cannot be read stays as it is. The guard keeps its last good value.

    Args:
        source: a path, a URL, or an open file (then with `format` and a target).
        target: where the result goes. None replaces the source whole. A target in another format is written anew.
        format: the name of the source's format; None chooses it by the suffix.
        storage_options: options of the file systems of URLs.
        **options: options of the format, as for `read`: `sheet` of a workbook accepts what stands in this sheet, and in
            those that were written together with it. All others stay as they are.

    Returns:
        The changes that were accepted. In a workbook with a guard, these are all changes since the arrays were written.
            In any other file they are the new shapes, and the cells that cannot be read.

    Raises:
        FormatError: as `read` with `resize=True`, or labels contradict the new lengths. A wrong cell gives only a
            warning, unless the target has another format.
        LimitError: the workbook is signed or shared.
        NotFoundError: sheetarray can only read the source's format. Choose a target in another format.

    Example:
        >>> import tempfile, pathlib
        >>> import numpy as np
        >>> from sheetarray import read, write
        >>> path = pathlib.Path(tempfile.mkdtemp(), "t.csv")
        >>> write(path, {"t": np.array([1.5, 2.5])})
        >>> _ = path.write_text(path.read_text() + "3.5\\n")
        >>> accept(path)
        t of another shape, dtype or order
        t: shape 2 -> 3
        >>> read(path)["t"].tolist()
        [1.5, 2.5, 3.5]
    """
    if target is None:
        source = locate_place(source, storage_options, format, options.get("client"))
    else:
        source, target = locate_places([(source, format), (target, None)], storage_options, options.get("client"))
    row = format_of(source, format, reading=True)
    goal = row if target is None else format_of(target)
    if goal.name == row.name:
        refuse_unwritable(row)
    check_suffixes(goal, row, source, target)
    if goal.name == row.name:
        find_format("accept", source, format, {name: value for name, value in options.items() if name != "client"})
        with changing_source(source, target):
            accepted: AcceptedArrays = row.function("accept")(source, target, **options)
        return _take_accepted(accepted)
    with changing_source(source, target):
        return _write_accepted(row, source, target, format, options)


def _write_accepted(
    row: Format, source: SourceOrTarget, target: Any, format: str | None, options: Mapping[str, Any]
) -> Changes:
    """Write arrays as they are now to a target of another format than the source has."""
    with rewinding(source) if hasattr(source, "read") else nullcontext():
        infos = scan(source, format=format, **known_options(source, format, options, "scan"))
    with keeping_unreadable("missing") as unreadable:
        arrays = read_labelled(source, format=format, **{**options, "resize": True})
    errors = [error for array in unreadable.values() for error in array.ravel().tolist() if error is not None]
    if errors:  # a cell that is written anew has to hold a value
        raise errors[0]
    if arrays.labels is not None:
        check_fit(arrays.labels, arrays)
    written = _read_written(row, source)
    write(target, arrays)
    return _compare_with_written(written, infos, arrays)


def _take_accepted(accepted: AcceptedArrays) -> Changes:
    """Return the changes that were accepted, and warn of cells that cannot be read."""
    _warn_of_unreadable(
        [error for errors in accepted.unreadable.values() for error in errors.ravel().tolist() if error is not None]
    )
    infos_before, infos_now = accepted.infos
    before = SideFacts("as written", lambda: infos_before, accepted.labels)
    now = SideFacts("accepted", lambda: infos_now, accepted.labels)
    now.levels = dict(accepted.arrays)
    comparisons, renamed = [*accepted.comparisons.values()], accepted.renamed
    sorted_rows, added, deleted = accepted.sorted_rows, accepted.added, accepted.deleted
    return Changes(Differences((before, now), comparisons, sorted_rows, added, deleted, renamed, []))


def _read_written(row: Format, source: SourceOrTarget) -> dict[str, Any]:
    """Return the arrays of a source as they were written, as far as it keeps them besides its cells."""
    try:
        read_written = row.function("read_written")
    except NotFoundError:
        return {}
    arrays: dict[str, Any] = read_written(source)
    return arrays


def _compare_with_written(
    written: Mapping[str, Any],
    infos: Mapping[str, ArrayInfo],
    arrays: LabelledArrays,
) -> Changes:
    """Return what became of arrays.

    `written`: arrays as they were, as far as they are known. `infos`: what headers said. `arrays`: as they are now.
    """
    reshaped = [
        name
        for name, array in arrays.items()
        if name not in written and name in infos and isinstance(array, np.ndarray) and array.shape != infos[name].shape
    ]
    now = {name: array for name, array in arrays.items() if name not in reshaped}
    before = {name: written.get(name, array) for name, array in now.items()}
    sides = [
        hold_arrays(SideFacts(label, lambda: infos, arrays.labels), side)
        for label, side in (("as written", before), ("accepted", now))
    ]
    differences = diff_sides(sides)
    for name in reshaped:
        dtype = infos[name].dtype
        shapes = infos[name].shape, arrays[name].shape
        differences.comparisons.append(Comparison(name, (dtype, dtype), shapes))
    return Changes(differences)


@contextmanager
def changing_source(
    source: SourceOrTarget, target: SourceOrTarget | None, storage_options: Mapping[str, Any] | None = None
) -> Iterator[None]:
    """Hold a source while a verb changes it in place: where the target is None, or the same file.

    `storage_options`: of the target, if it is not located yet.
    """
    if target is not None and not isinstance(target, RemoteFile):
        target = locate_place(target, storage_options if is_url(target) else None, None)
    if target is None or is_one_place(source, target):
        with changing(source):
            yield
    else:
        yield


def is_one_place(first: object, second: object) -> bool:
    """Return whether two paths or URLs lead to one file."""
    first, second = (place.url if isinstance(place, RemoteFile) else place for place in (first, second))
    if not is_path(first) or not is_path(second):
        return first is second
    return first == second or os.path.realpath(first) == os.path.realpath(second)


def _warn_of_unreadable(errors: Sequence[FormatError]) -> None:
    """Warn of cells that cannot be read, which a file keeps when it is accepted."""
    if len(errors) == 1:
        warn_caller(f"1 cell cannot be read, and stays as it is: {errors[0]}")
    elif errors:
        warn_caller(f"{len(errors):,} cells cannot be read, and stay as they are; the first: {errors[0]}")


def refuse_unwritable(row: Format) -> None:
    """Refuse a target of a format that is only read."""
    if row.instead is not None:
        raise NotFoundError(
            f"{row.title}: sheetarray can only read this format; name a new {row.instead} file as the target"
        )


def check_suffixes(goal: Format, row: Format, source: object, target: object) -> None:
    """Refuse a target of the source's format that is another kind of file, such as .xlsm and .xlsx."""
    suffixes = [os.path.splitext(name_part(place))[1].lower() for place in (source, target) if is_path(place)]
    if goal.name == row.name and not row.compressible and len(set(suffixes)) > 1:
        raise ValueError(f"{suffixes[0]} and {suffixes[1]} are other kinds of files: keep the suffix")


def restore(
    source: SourceOrTarget,
    target: SourceOrTarget,
    *,
    keep_edits: bool = False,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> list[str]:
    """Write the arrays of a workbook as they were before people edited them, from the guard in it.

    The target is a copy of the workbook with these arrays: charts, styles and other sheets stay. Workbooks with views
    or recorded tables, and workbooks of another kind than the target, are written anew and hold nothing else.

    Args:
        source: a path, a URL, or an open file (then with `format`): a workbook written with `guard=True`, which any
            program may have saved since.
        target: an .xlsx file, which may be the source. It is replaced whole or not at all.
        keep_edits: keep edited elements, and added or deleted rows. All other elements are exact.
        format: the name of the source's format; None chooses it by the suffix.
        storage_options: options of the file systems of URLs.
        **options: options of the format, as for `read`: `sheet` restores what stood in this sheet, and in those that
            were written together with it; `missing` says what a blank means, with `keep_edits`.

    Returns:
        The names of the arrays.

    Raises:
        FormatError: the workbook has no guard, or a damaged one.
        ValueError: the target is not a workbook.
        NotFoundError: the format has no guards, or there is no such sheet.
        LimitError: with `sheet`, the source would have to be written anew.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from sheetarray import read, write
        >>> file, restored = io.BytesIO(), io.BytesIO()
        >>> write(file, {"t": np.array([0.1 + 0.2])}, format="xlsx", guard=True)
        >>> restore(io.BytesIO(file.getvalue()), restored, format="xlsx")
        ['t']
        >>> read(io.BytesIO(restored.getvalue()), "t", format="xlsx").tolist()
        [0.30000000000000004]
    """
    source, target = locate_places([(source, format), (target, None)], storage_options)
    restoring = find_format("restore", source, format, options).function("restore")
    with changing_source(source, target):
        names: list[str] = restoring(source, target, keep_edits=keep_edits, **options)
    return names
