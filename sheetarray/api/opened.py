"""The arrays of a place while somebody writes or compares them; those of a large file are mapped, not in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ..columns import ArrayInfo, keeping_unreadable
from ..columns.beside import OtherCells, noting_other_cells
from ..columns.blocks.mapping import MappedArrays
from ..errors import FormatError, has_same_names, may_be_table, warn_caller
from ..files import RemoteFile, file_version, is_url
from ..formats import find_format, format_of, is_service, known_options, rewinding
from ..labels import DatasetLabels, LabelledArrays, reading_labels
from .arrays import read_labelled
from .differences import SideFacts
from .ordinary import OrdinaryTable, describe_columns, find_place, find_table, list_other_cells, warn_of_table
from .targets import SourceOrTarget, is_path, list_written_sheets

OpenedArrays = tuple[Mapping[str, Any], Callable[[], None]]  # and a function that lets mapped ones leave memory
OpenArrays = Callable[..., OpenedArrays]


@dataclass(frozen=True, slots=True)
class DiffSide:
    """One of the two sources of a comparison.

    Attributes:
        facts: what is known of it beside its elements.
        names: the names of its arrays.
        open: opens arrays by their names; takes `unreadable`, as `open_arrays` does.
        table: the ordinary table that it is; None for arrays.
        is_table: whether its arrays are the columns of one table, whose rows stay together.
        sheets: the sheets by their titles, if arrays of several sheets have one name.
        open_sheet: opens the arrays of a sheet, by its title, as one side; None where there are no sheets.
        names_of: for each sheet, by its title, how its arrays are called here, by the names that they have there.
        list_others: lists the cells that belong to no array, and the titles of sheets without arrays.
        format: the name of its format.
    """

    facts: SideFacts
    names: Sequence[str]
    open: OpenArrays
    table: OrdinaryTable | None = None
    is_table: bool = False
    sheets: Mapping[str, DiffSide] = field(default_factory=dict)
    open_sheet: Callable[[str], DiffSide] | None = None
    names_of: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    list_others: Callable[[], OtherCells] | None = None
    format: str | None = None


def open_arrays(
    source: SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    folder: str | None = None,
    unreadable: dict[str, Any] | None = None,
    noted: list[OtherCells] | None = None,
    **options: Any,
) -> tuple[LabelledArrays, Callable[[], None]]:
    """Return arrays with their labels, and a function that lets those of a large file, which are mapped, leave memory.

    Text, and arrays whose elements do not lie side by side, are read into memory. The file of mapped arrays has no
    name, and goes with the last of them.

    `folder`: for a file of the elements; None for the system's temporary folder. `unreadable`: takes the errors of
    single cells, as `keeping_unreadable` yields them, and rows that people have added or deleted count as they stand;
    None raises them. `noted`: takes the cells beside arrays, where reading meets them. `**options`: for `read`.

    Raises:
        FormatError: as `read`; or the file has changed meanwhile.
        NotFoundError: no such array.
    """
    noting = nullcontext() if noted is None else noting_other_cells(noted)
    with noting, MappedArrays(folder) as mapped, nullcontext() if is_service(source, format) else mapped.mapping():
        check_unchanged = watch_file(source)
        try:
            with rewinding(source) if unreadable is not None else nullcontext():
                arrays = read_labelled(source, names, format=format, **options)
            if mapped.exist:  # which took a while
                check_unchanged()
        except FormatError as error:
            if unreadable is None or may_be_table(error.reason) or has_same_names(error.reason):
                raise
            arrays = _read_changed(source, names, format, options, unreadable)
    return arrays, mapped.release


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


def hold_arrays(
    facts: SideFacts,
    arrays: Mapping[str, Any],
    errors: Mapping[str, Any] | None = None,
    release: Callable[[], None] = lambda: None,
) -> DiffSide:
    """Return arrays in memory as one side of a comparison.

    `errors`: of some arrays the errors of the cells that cannot be read; None for all other elements. `release`: lets
    mapped arrays leave memory.
    """

    def opened(names: Sequence[str], *, unreadable: dict[str, Any]) -> OpenedArrays:
        unreadable |= {name: errors[name] for name in names if name in errors} if errors else {}
        return arrays, release

    return DiffSide(facts, list(arrays), opened)


def open_side(
    source: Any, label: str, format: str | None, options: Mapping[str, Any], *, reads_all: bool = False
) -> DiffSide:
    """Return a source as one side of a comparison; one without arrays has the columns of its ordinary table.

    `source`: a path, an open file that can go back, or an object. `label`: how messages call it. `reads_all`: read all
    arrays now, and scan only if something differs; otherwise scan now, and read the arrays that are opened.

    Raises:
        FormatError: it holds neither.
    """
    place, noted = find_place(source), list[OtherCells]()
    how = known_options(source, format, options, "read")
    read = partial(open_arrays, source, format=format, noted=noted, **how)

    def scan() -> tuple[Mapping[str, ArrayInfo], DatasetLabels | None]:
        how = known_options(source, format, options, "scan")
        with rewinding(source), reading_labels() as description:
            infos = dict(find_format("scan", source, format, how).function("scan")(source, **how))
        return infos, description.labels

    def list_others() -> OtherCells:
        with rewinding(source):
            return noted[-1] if noted else list_other_cells(source, format, options)

    def open_sheet(title: str) -> DiffSide:
        return open_side(source, label, format, {**options, "sheet": title}, reads_all=reads_all)

    row = format_of(source, format, reading=True)
    try:
        if reads_all:
            errors: dict[str, Any] = {}
            arrays, release = read(unreadable=errors)
            side = hold_arrays(SideFacts(label, lambda: scan()[0], arrays.labels), arrays, errors, release)
        else:
            infos, labels = scan()
            side = DiffSide(SideFacts(label, lambda: infos, labels), list(infos), read)
        return replace(side, open_sheet=open_sheet, list_others=list_others, format=row.name)
    except FormatError as error:
        with rewinding(source):
            if may_be_table(error.reason) and (table := find_table(source, place, format, options, keeps_errors=True)):
                warn_of_table(table, label)
                return side_of_table(table, label)
            is_of_sheets = has_same_names(error.reason) and options.get("sheet") is None
            if is_of_sheets and (titles := list_written_sheets(source, row)):
                sheets = {title: open_sheet(title) for title in titles}
                return replace(join_sheets(label, sheets, {}), sheets=sheets)
        if not reads_all or may_be_table(error.reason) or has_same_names(error.reason):
            raise
    return open_side(source, label, format, options)  # an array that is not compared may be damaged


def join_sheets(
    label: str,
    sheets: Mapping[str, DiffSide],
    names_of: Mapping[str, Mapping[str, str]],
    labelled: Collection[str] = (),
) -> DiffSide:
    """Return the arrays of several sheets as one side.

    `names_of`: how the arrays of each sheet are called, by its title and their names there. `labelled`: the titles of
    the sheets whose labels count.
    """
    names: dict[str, None] = {}
    short: dict[str, str] = {}
    labels: dict[str, DatasetLabels] = {}
    for title, sheet in sheets.items():
        named = names_of.get(title, {})
        names |= dict.fromkeys(named.get(name, name) for name in sheet.names)
        short |= {now: name for name, now in named.items()}
        if sheet.facts.labels is not None and title in labelled:
            labels[title] = sheet.facts.labels.name_anew(title, named)

    def opened(names: Sequence[str], *, unreadable: dict[str, Any]) -> OpenedArrays:
        arrays, chosen = dict[str, Any](), {*names}
        releasing = []
        for title, sheet in sheets.items():
            named = names_of.get(title, {})
            errors: dict[str, Any] = {}
            asked = [name for name in sheet.names if named.get(name, name) in chosen]
            of_sheet, release = sheet.open(asked, unreadable=errors)
            arrays |= {named.get(name, name): of_sheet[name] for name in asked}
            unreadable |= {named.get(name, name): error for name, error in errors.items()}
            releasing.append(release)

        def release_all() -> None:
            for release in releasing:
                release()

        return arrays, release_all

    def scan() -> Mapping[str, ArrayInfo]:
        return {
            names_of.get(title, {}).get(name, name): info
            for title, sheet in sheets.items()
            for name, info in sheet.facts.infos.items()
        }

    facts = SideFacts(label, scan, DatasetLabels.join(labels) if labels else None, short_names=short)
    return DiffSide(facts, list(names), opened, names_of=names_of)


def side_of_table(table: OrdinaryTable, label: str) -> DiffSide:
    """Return the columns of a table as one side of a comparison."""
    facts = SideFacts(label, partial(describe_columns, table), None, short_names=table.list_short_names())
    side = hold_arrays(facts, table.columns, table.unreadable)
    return replace(side, table=table, is_table=True, names_of=table.list_names())
