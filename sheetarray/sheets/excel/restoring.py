"""Writes the arrays of a workbook again from its guard: as they were written, or with edits and all else exact.

They go into the cells of a copy of the workbook, which keeps everything else. Where it has views or recorded tables,
where arrays do not stand in their sheets any more, and for the kinds of workbooks that are only read, a new workbook
holds the arrays, their tables and views, and nothing else.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...columns import keeping_unreadable
from ...elements import Missing, MissingOption, NaValues, missing_of
from ...errors import NO_ARRAY, Finding, FormatError, LimitError, locating, quote_names, warn_caller
from ...files import OvertakenError, Readable, Source, Writable, name_part, replacing
from ...linear.array import LinearArray
from ...linear.parsing import warn_of_finding
from ..arrays_of_sheets import read_resized_arrays
from ..content import SheetContent, WriteOptions, lay_out_arrays, lay_out_columns
from ..recorded_tables import RecordedTable, open_recorded, renew_note
from ..sheet_choice import SheetChoice, find_title
from ..snapshot import SnapshotHeader
from ..table_areas import take_named
from ..views.description import View, can_be_shown
from ..views.plans import check_views
from .accepting.exact import read_writes
from .guard.snapshots import Snapshots
from .revising import Revision, revise_sheets_excel
from .sheet_writes import sheet_room, write
from .skeleton.template import CONTENT_TYPES, suffix_of
from .tables.recorded import find_tables
from .workbook import Workbook

_NO_GUARD, _NO_SNAPSHOT = "the workbook has no guard", "the guard has no snapshot of the sheet"


def restore_excel(
    source: Readable,
    target: Writable,
    *,
    keep_edits: bool = False,
    sheet: SheetChoice = None,
    missing: MissingOption = "error",
    na_values: NaValues = (),
) -> list[str]:
    """Write the arrays of a workbook again from its guard, to the sheets where they were. All else in it stays.

    Args:
        source: a path or an open file: .xlsx, .xlsm, .xlsb, .xls, .ods.
        target: a path (.xlsx, .xlsm, .xltx, .xltm), or an open file. A file is replaced whole or not at all.
        keep_edits: whether elements that people have edited, and rows that they have added or deleted, stay; all other
            elements are exact.
        sheet: restore only what stood in this sheet, and in those that were written together with it. A workbook that
            has to be written anew holds nothing else then.
        missing: as for `read_excel`, with `keep_edits`.

    Returns:
        The names of the arrays.

    Raises:
        FormatError: the workbook has no guard, or a damaged one; with `keep_edits` also as `read_excel`.
        ValueError: a target that is not a workbook; nothing is written.
        LimitError: with `sheet`, the source would have to be written anew.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from .adapter import write_excel
        >>> file, restored = io.BytesIO(), io.BytesIO()
        >>> write_excel(file, {"t": np.array([0.1 + 0.2])}, guard=True)
        >>> restore_excel(io.BytesIO(file.getvalue()), restored)
        ['t']
    """
    as_missing = missing_of(missing, na_values)
    if isinstance(target, (str, os.PathLike)) and not name_part(target).lower().endswith((*CONTENT_TYPES,)):
        raise ValueError(f"restore writes a workbook: name a target that ends in {' or '.join(CONTENT_TYPES)}")
    with Source(source) as opened, locating(source=opened.name), Workbook(opened, reads_numbers=True) as book:
        chosen = None if sheet is None else _choose_titles(book, sheet)
        sheets = [plain for plain in book.plain_sheets() if chosen is None or plain.title in chosen]
        asked, places = book.views.asked, take_named(find_tables(book, sheets), as_missing)
        is_kind = book.own is not None and book.own.types.type_of(book.own.part) == CONTENT_TYPES[suffix_of(target)]
        tables = [table for table in open_recorded(places, Snapshots(book)) if table.written]
        if not keep_edits:
            tables = [_take_written(table, Snapshots(book)) for table in tables]
        contents = [_lay_out_table(table, keep_edits=keep_edits) for table in tables]
        try:
            groups = _restore_arrays(book, chosen, as_missing, keep_edits=keep_edits)
        except FormatError as error:
            if not contents or not error.reason.startswith((NO_ARRAY, _NO_GUARD, _NO_SNAPSHOT)):
                raise
            groups = {}
        revisions = _plan_revisions(book, groups) if is_kind and not contents and not asked else None
        if revisions is not None and not isinstance(source, (str, os.PathLike)):
            source = io.BytesIO(bytes(opened.whole()))  # an open file has been read to its end
    names = [name for _, arrays in groups.values() for name in arrays]
    if revisions is not None and _revise(source, target, revisions, None if chosen is None else chosen[0]):
        return names
    if chosen is not None and _is_one_file(source, target):
        reason = f"the workbook has to be written anew, and would hold nothing but the sheet {chosen[0]!r:.60}"
        raise LimitError(f"{reason}: name another target")
    with tempfile.TemporaryDirectory(prefix="sheetarray-") as folder:
        path = Path(folder, f"restored{suffix_of(target)}")
        for of_arrays, options in _plan_writes(groups, asked):
            write(path, of_arrays, options)
        if contents:
            write(path, contents, WriteOptions(guard=True, mode="a"))
        with replacing(target, binary=True) as sink, path.open("rb") as file:
            shutil.copyfileobj(file, sink)
    return names + [name for table in tables for name in table.stacked_as_written]


def _plan_revisions(
    book: Workbook, groups: Mapping[str, tuple[SnapshotHeader, dict[str, LinearArray]]]
) -> list[Revision] | None:
    """Return what to put into the cells of each sheet; None if an array does not stand in its sheet any more."""
    revisions: list[Revision] = []
    snapshots = Snapshots(book)
    for title, (_, arrays) in groups.items():
        if not any(title.casefold() == present_title.casefold() for present_title in book.titles):
            return None
        try:
            with keeping_unreadable():
                present = read_resized_arrays([book.sheet(find_title(title, book.titles))])
        except FormatError:
            return None  # its headers are damaged
        renamed = {}
        for name, array in present.items():
            if name not in arrays and (own := snapshots.find(name, array.column, array.buffer)) is not None:
                renamed[name] = own.evidence.name
        if {renamed.get(name, name) for name in present} != {*arrays}:
            return None
        revisions.append((title, arrays, renamed))
    return revisions


def _choose_titles(book: Workbook, sheet: str | int) -> list[str]:
    """Return the title of the sheet that was chosen, which people may have deleted; then those written with it."""
    sheets, snapshots = book.plain_sheets(), Snapshots(book)
    gone = [snapshot.said.sheet for snapshot in snapshots.of_arrays]
    title = find_title(sheet, list(dict.fromkeys([*(plain.title or "" for plain in sheets), *gone])))
    _, together = book.checksums.choose_write(sheets, title)
    return list(dict.fromkeys([title, *(plain.title or "" for plain in together)]))


def _revise(source: Readable, target: Writable, revisions: Sequence[Revision], only: str | None) -> bool:
    """Put arrays into the cells of a copy of the workbook, and return whether that was possible."""
    try:
        revise_sheets_excel(source, target, revisions, whole=True, only=only)
    except OvertakenError:
        raise
    except (FormatError, LimitError) as error:
        warn_caller(f"the workbook is written anew, and without what else is in it: {error}")
        return False
    return True


def _is_one_file(source: object, target: object) -> bool:
    """Return whether the target is the source."""
    if isinstance(source, (str, os.PathLike)) and isinstance(target, (str, os.PathLike)):
        return os.path.realpath(source) == os.path.realpath(target)
    return source is target


def _take_written(table: RecordedTable, snapshots: Snapshots) -> RecordedTable:
    """Return a table with the columns that it had, where people have renamed or deleted some of them."""
    note = table.note.original
    if note is None:
        return table
    return replace(table, note=note, written=snapshots.read_columns(table.written_title, [*note.dtypes]))


def _lay_out_table(table: RecordedTable, *, keep_edits: bool) -> SheetContent:
    """Return a table as it was written, or with the edits of people."""
    columns = table.columns if keep_edits else {name: table.written[name] for name in table.note.dtypes}
    tree = renew_note(table) if keep_edits else table.note.to_json()
    content = lay_out_columns(dict(columns), sheet_room(), title=table.title, serials=True)
    texts = {key: content.description[key] for key in ("texts",) if key in content.description}
    return replace(content, description={**tree, **texts})


def _plan_writes(
    groups: Mapping[str, tuple[SnapshotHeader, dict[str, LinearArray]]], asked: Mapping[str, View]
) -> list[tuple[list[SheetContent], WriteOptions]]:
    """Return the sheets of each write: those of successive groups that were written alike go together.

    Views are of the arrays of the first sheet of a write.
    """
    writes: list[tuple[list[SheetContent], WriteOptions]] = []
    for snapshot, arrays in groups.values():
        cells = "text" if snapshot.cells == "text" else "numeric"
        options = WriteOptions(cells, "real" if snapshot.dates == "real" else "text", guard=True, mode="a")
        content = lay_out_arrays(arrays, sheet_room(), title=snapshot.sheet, serials=options.serials)
        content = replace(content, views=select_renewed_views(asked, arrays))
        if writes and writes[-1][1] == options and not content.views:
            writes[-1][0].append(content)
        else:
            writes.append(([content], options))
    return writes


def select_renewed_views(asked: Mapping[str, View], arrays: Mapping[str, LinearArray]) -> dict[str, View]:
    """Return the views that arrays had; the usual one where the record names dimensions that an array does not have."""
    views: dict[str, View] = {}
    for name, view in asked.items():
        if name in arrays and can_be_shown(arrays[name]):
            try:
                check_views({name: view}, arrays)
                views[name] = view
            except ValueError:
                views[name] = View()
    return views


def _restore_arrays(
    book: Workbook, chosen: Sequence[str] | None, missing: Missing, *, keep_edits: bool
) -> dict[str, tuple[SnapshotHeader, dict[str, LinearArray]]]:
    """Return, by the titles of sheets, the header of a snapshot, which says how it was written, and its arrays.

    `chosen`: the titles of the sheets whose arrays are restored; None for all. `missing`: what a blank means, with
    `keep_edits`.
    """
    writes = read_writes(book, missing, None if chosen is None else chosen[0]) if keep_edits else []
    snapshots = writes[0].snapshots if writes else Snapshots(book)
    groups: dict[str, tuple[SnapshotHeader, dict[str, LinearArray]]] = {}
    for snapshot in snapshots.of_arrays:
        said = snapshot.said
        if chosen is not None and said.sheet not in chosen:
            continue
        buffer = snapshot.elements()
        _, arrays = groups.setdefault(said.sheet, (said, {}))
        if buffer is not None:
            arrays[said.name] = LinearArray.from_header(said.header, buffer)
    for finding in [*snapshots.findings, *book.find_lost_guards()]:
        raise FormatError(finding.message, location=finding.location, hint=finding.hint if not groups else None)
    if not groups:
        if chosen is not None and snapshots.sheets:
            raise FormatError(f"{_NO_SNAPSHOT} {chosen[0]!r:.60}")
        raise FormatError(_NO_GUARD, hint="write it with guard=True; copies of the file may have one")
    for edits in writes:
        edits.compare()
        edited = {name: array.linear for name, array in edits.find_exact({}).items()}
        for name, errors in edits.accepted.unreadable.items():
            if name not in edited:  # nobody knows what stood there
                raise next(error for error in errors.ravel().tolist() if error is not None)
        today = {old: name for name, old in snapshots.search.old_names.items() if old not in edited}
        own = [title for title in groups if edits.writes is None or title in edits.writes] or [*groups][:1]
        for title in own:
            said, arrays = groups[title]
            names = [today.get(name, name) for name in arrays]
            pairs = zip(names, arrays.values(), strict=True)
            groups[title] = said, {name: edited.pop(name, array) for name, array in pairs}
        groups[own[0]][1].update(edited)
    if writes:
        return groups
    written = {evidence.name for evidence in snapshots.of_arrays}
    if written < snapshots.names_present:  # where one of them is gone, another may be that one, renamed
        lost = quote_names(sorted(snapshots.names_present - written))
        reason = f"restored without {lost}, of which the guard has no snapshot"
        warn_of_finding(Finding("warning", None, reason, "keep_edits=True keeps them as they are"))
    return groups
