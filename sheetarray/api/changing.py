"""convert, adopt and restore: files made of other files, or true again to what people have changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..columns import ArrayInfo, keeping_unreadable
from ..errors import FormatError, NotFoundError, warn_caller
from ..labels import check_fit
from ..registry import format_of, locate_place, locate_places
from .arrays import check_writable, read_labelled, scan, write, write_releasing
from .doors import SourceOrTarget, check_suffixes, folder_beside
from .large import read_in_pieces


def convert(
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
) -> None:
    """Read, then write; labels go along with the arrays.

    Numbers of a large CSV, workbook or JSON go by way of a file without a name beside the target, so that memory does
    not grow with them.

    Args:
        source: as for `read`.
        target: as for `write`.
        names: only these arrays; None for all.
        from_format: the source's, instead of its suffix.
        to_format: the target's, instead of its suffix.
        reading: options for `read`.
        writing: options for `write`.
        storage_options: for the file systems of URLs; `reading` and `writing` may have their own.
        client: of gspread, for Google Sheets; `reading` and `writing` may have their own.

    Raises:
        FormatError: as `read`.
        DTypeError: as `write`.
        LimitError: as `write`.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from sheetarray import read, write
        >>> text, lists = io.StringIO(), io.StringIO()
        >>> write(text, {"t": np.array([1, 2])}, format="csv")
        >>> _ = text.seek(0)
        >>> convert(text, lists, from_format="csv", to_format="json")
        >>> read(io.StringIO(lists.getvalue()), format="json")
        {'t': array([1, 2])}
    """
    reading, writing = dict(reading or {}), dict(writing or {})
    sides = [(source, from_format, reading), (target, to_format, writing)]
    own = [options.pop("storage_options", None) for _, _, options in sides]
    source, target = (
        locate_place(place, options, name) if options else place
        for (place, name, _), options in zip(sides, own, strict=True)
    )
    source, target = locate_places([(source, from_format), (target, to_format)], storage_options)
    if client is not None:
        _hand_client(client, [("read", source, from_format, reading), ("write", target, to_format, writing)])
    check_writable(target, to_format, writing)  # what is wrong with it is said before anything is read
    mapped = read_in_pieces(source, names, format=from_format, folder=folder_beside(target), **reading)
    if mapped is None:
        write(target, read_labelled(source, names, format=from_format, **reading), format=to_format, **writing)
        return
    with mapped:
        write_releasing(target, mapped.arrays, mapped.release, to_format, writing)


def _hand_client(client: Any, sides: Sequence[tuple[str, SourceOrTarget, str | None, dict[str, Any]]]) -> None:
    """Put a client among the options of each side that takes one, and has none of its own.

    Raises:
        TypeError: neither does.
    """
    takers = [
        options
        for verb, place, name, options in sides
        if "client" in format_of(place, name, reading=verb == "read").options(verb)
    ]
    if not takers:
        raise TypeError("client= is for Google Sheets, gsheets://..: neither the source nor the target is one")
    for options in takers:
        options.setdefault("client", client)


def adopt(
    source: SourceOrTarget,
    target: SourceOrTarget | None = None,
    *,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, ArrayInfo]:
    """Accept rows that people have added or deleted: headers become true to the cells, and everything else stays.

    In a workbook defined names and fingerprints become true too, so that `check` compares with what stands there now.

    Args:
        source: a path or a URL; or an open file (then with `format` and a target).
        target: where the adopted file goes; None replaces the source, as a whole. In another format it is written anew.
        format: of the source, instead of the suffix.
        storage_options: for the file systems of URLs.
        **options: of the format, as for `read`.

    Returns:
        What the headers say now of the arrays that had other lengths; empty where there were none.

    Raises:
        FormatError: as `read` with `resize=True`, or the labels of arrays contradict their lengths. Single cells of a
            sheet that cannot be read are a warning, unless the target is of another format.
        LimitError: the file may not be changed.
        NotFoundError: a format whose headers cannot be changed, and no target in another one.

    Example:
        >>> import tempfile, pathlib
        >>> import numpy as np
        >>> from sheetarray import read, write
        >>> path = pathlib.Path(tempfile.mkdtemp(), "t.csv")
        >>> write(path, {"t": np.array([1.5, 2.5])})
        >>> _ = path.write_text(path.read_text() + "3.5\\n")
        >>> adopt(path)["t"].shape, read(path)["t"].tolist()
        ((3,), [1.5, 2.5, 3.5])
    """
    if target is None:
        source = locate_place(source, storage_options, format)
    else:
        source, target = locate_places([(source, format), (target, None)], storage_options)
    row = format_of(source, format, reading=True)
    goal = row if target is None else format_of(target)
    if goal.name == row.name and row.instead is not None:
        raise NotFoundError(f"{row.title}: these are only read; name a new {row.instead} as the target")
    check_suffixes(goal, row, source, target)
    reading = {**options, "resize": True}
    adopt_in_place = row.adopt if goal.name == row.name else None
    with keeping_unreadable("missing") as unreadable:
        arrays = read_labelled(source, format=format, **reading)
    errors = [error for array in unreadable.values() for error in array.ravel().tolist() if error is not None]
    if errors and adopt_in_place is None:  # a cell that is written anew has to hold a value
        raise errors[0]
    if arrays.labels is not None:
        check_fit(arrays.labels, arrays)
    if adopt_in_place is not None:
        with keeping_unreadable("missing"):
            infos = adopt_in_place(source, target, **options)
        _warn_of_unreadable(errors)
        return infos
    assert target is not None
    before = scan(source, format=format)
    write(target, arrays)
    return {name: info for name, info in scan(target).items() if name in before and info.shape != before[name].shape}


def _warn_of_unreadable(errors: Sequence[FormatError]) -> None:
    """Warn of cells that cannot be read, which a file keeps when it is adopted."""
    if len(errors) == 1:
        warn_caller(f"1 cell cannot be read, and stays as it is: {errors[0]}")
    elif errors:
        warn_caller(f"{len(errors):,} cells cannot be read, and stay as they are; the first: {errors[0]}")


def restore(
    source: SourceOrTarget,
    target: SourceOrTarget,
    *,
    keep_edits: bool = False,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> list[str]:
    """Write the arrays of a workbook anew as they were written, from the guard that it was written with.

    Args:
        source: a path, a URL, or an open file (then with `format`): a workbook written with `guard=True`, whatever
            program has saved it since.
        target: an .xlsx, which may be the source; replaced as a whole.
        keep_edits: keep the elements that people have edited, and rows that they have added or deleted; all other
            elements are exact.
        format: of the source, instead of the suffix.
        storage_options: for the file systems of URLs.

    Returns:
        The names of the arrays.

    Raises:
        FormatError: no guard, or one that is damaged.
        LimitError: a target that is no workbook.
        NotFoundError: a format that has no guards.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from sheetarray import write
        >>> file, restored = io.BytesIO(), io.BytesIO()
        >>> write(file, {"t": np.array([0.1 + 0.2])}, format="xlsx", guard=True)
        >>> restore(io.BytesIO(file.getvalue()), restored, format="xlsx")
        ['t']
        >>> restored.getvalue() == file.getvalue()
        True
    """
    source, target = locate_places([(source, format), (target, None)], storage_options)
    return format_of(source, format, reading=True).restore(source, target, keep_edits=keep_edits)
