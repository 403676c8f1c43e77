"""merge, accept, restore, convert_one: files made of other files, or true again to what people have changed."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..changes.merge import DELETED, Conflict, FileChanges, Place, merge_arrays, row_axis
from ..columns import ArrayInfo, keeping_unreadable
from ..elements import label_text, to_scalar
from ..errors import FormatError, NotFoundError, check_kinds, escape_controls, locating, quote_names, warn_caller
from ..files import RemoteFile, changing, conceal_secrets, is_url, name_part
from ..formats import Format, format_of, locate_place, locate_places
from ..labels import NAME, DatasetLabels, LabelledArrays, VariableLabels, check_fit
from ..linear.array import to_linear
from ..linear.header import name_element
from .arrays import (
    ListedRows,
    SourceOrTarget,
    check_writable,
    folder_beside,
    format_html,
    format_table,
    is_path,
    read_labelled,
    scan,
    write,
    write_releasing,
)
from .large import hinting_at_reading, open_arrays

_MOST_ROWS = 17  # of the table of a merge, which has 20 lines with its first two and its last


@dataclass(frozen=True, slots=True, repr=False)
class Merged:
    """The result of `merge`.

    Attributes:
        arrays: the merged arrays by name, with the labels of the base.
        conflicts: elements that several people have changed differently, each once.
        changes: what each person has changed, file by file.
        base: the name of the base.
        url: the URL of the sheet, if the target is in Google Sheets in another format than the base; otherwise None.

    Example:
        >>> import tempfile, pathlib
        >>> import numpy as np
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, values in {"base": [1, 2, 3], "ann": [1, 5, 3], "ben": [1, 2, 3, 4]}.items():
        ...     write(folder / f"{name}.csv", {"t": np.array(values)})
        >>> merged = merge(folder / "base.csv", folder / "ann.csv", folder / "ben.csv")
        >>> merged.arrays, len(merged.conflicts)
        ({'t': array([1, 5, 3, 4])}, 0)
        >>> merged
        1 array of base.csv, merged from 2 files; 0 conflicts
        file     array  change
        ann.csv  t      1 element changed
        ben.csv  t      1 row added
    """

    arrays: LabelledArrays
    conflicts: Sequence[Conflict]
    changes: list[FileChanges]
    base: str
    url: str | None = None

    @property
    def unresolved(self) -> int:
        """The number of conflicts in which the base's value stands because nobody has chosen."""
        return int(self.conflicts.unresolved)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        rows, more = self._list_rows()
        return "\n".join([self._summarise(), *([format_table(rows, more=more)] if len(rows) > 1 else [])])

    def _repr_html_(self) -> str:
        rows, more = self._list_rows()
        return f"<p>{html.escape(self._summarise())}</p>{format_html(rows, more=more) if len(rows) > 1 else ''}"

    def _summarise(self) -> str:
        """Return the merge in one line."""
        count = len(self.conflicts)
        chosen = f", {count - self.unresolved:,} of them chosen" if count > self.unresolved else ""
        whole = f"{_count(len(self.arrays), 'array')} of {self._shorten(self.base)}"
        files = f"merged from {_count(len(self.changes), 'file')}; {_count(count, 'conflict')}{chosen}"
        return escape_controls(f"{whole}, {files}")

    def _list_rows(self) -> tuple[ListedRows, int]:
        """Return the titles of a table and its first rows, conflicts before changes, and how many more there are."""
        rows = [*map(self._describe_conflict, self.conflicts[:_MOST_ROWS])]
        changed = [(self._shorten(file.file), *change) for file in self.changes for change in _list_changes(file)]
        rows += changed[: _MOST_ROWS - len(rows)]
        return [("file", "array", "change"), *rows], len(self.conflicts) + len(changed) - len(rows)

    def _shorten(self, file: str) -> str:
        """Return the name of a file without its folder, if no other file is called so."""
        names = [os.path.basename(name) for name in (self.base, *(changes.file for changes in self.changes))]
        name = os.path.basename(file)
        return name if names.count(name) == 1 else file

    def _describe_conflict(self, conflict: Conflict) -> tuple[str, str, str]:
        values = {self.base: conflict.base} if conflict.place.file == self.base else {}
        said = [f"{self._shorten(file)} {describe_value(value)}" for file, value in (values | conflict.values).items()]
        labels = ", ".join(f"{level} {label}" for level, label in conflict.labels.items())
        element = name_element(conflict.array, conflict.index)
        return "", f"{element} ({labels})" if labels else element, f"conflict: {', '.join(said)}"

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON has it: conflicts with values, addresses and labels, and what each file changes."""
        return {
            "base": self.base,
            "unresolved": self.unresolved,
            "conflicts": [_conflict_to_json(conflict) for conflict in self.conflicts],
            "files": [_changes_to_json(changes) for changes in self.changes],
            "arrays": {name: _describe(array) for name, array in self.arrays.items()},
        }


def _list_changes(changes: FileChanges) -> Iterator[tuple[str, str]]:
    """Yield the name of an array and what became of it, for each kind of change in a file, the largest first."""
    counts = [
        (changes.elements, "element", "changed"),
        (changes.added, "row", "added"),
        (changes.deleted, "row", "deleted"),
    ]
    for by_name, noun, verb in counts:
        for name, count in sorted(by_name.items(), key=lambda item: -item[1]):
            yield name, f"{_count(count, noun)} {verb}"
    lists = [(changes.moved, "rows in another order"), (changes.new, "new"), (changes.absent, "missing")]
    for names, what in [*lists, (changes.other, "another shape or dtype")]:
        for name in names:
            yield name, what


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def merge(
    base: SourceOrTarget,
    *returned: SourceOrTarget,
    target: SourceOrTarget | None = None,
    prefer: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    choices: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    client: Any = None,
) -> Merged:
    """Merge what several people changed in copies of one file.

    - If one person changed an element, or several people made the same change, the new value is taken.
    - If a program only rounded an element, the base's value stays.
    - If people changed an element differently, you get a conflict. The base's value stays, unless `prefer` or `choices`
      names another file.
    - Added rows follow each other, in the order of the files. Rows with the same label become one row.
    - Rows run along the first axis. If the copies differ in the length of another axis, rows run along that axis.

    Args:
        base: the file that you sent.
        *returned: the files that came back, in any formats that `read` takes.
        target: where the merged arrays go; it may be the base. None writes nothing. A target in the format of the base
            is a copy of the base with other values. A target in another format is written anew.
        prefer: one of the files, or several. A conflict takes the value of the first of them that has one.
        choices: the file `choices.json` that you saved on the page of a merge, or its content.
        storage_options: options of the file systems of URLs.
        client: a gspread client, for Google Sheets.

    Returns:
        The merged arrays, the conflicts, and what each person changed.

    Raises:
        FormatError: one of the files, or `choices`, cannot be read. Nothing was written.
        NotFoundError: `prefer` or `choices` names another file.
        ValueError: you pass a file twice.
        LimitError: the base is signed or shared, or cells of your own are in the way of added rows. Nothing was
            written.

    Example:
        >>> import tempfile, pathlib
        >>> import numpy as np
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, values in {"base": [1, 2, 3], "ann": [1, 5, 3], "ben": [1, 7, 3]}.items():
        ...     write(folder / f"{name}.csv", {"t": np.array(values)})
        >>> merged = merge(folder / "base.csv", folder / "ann.csv", folder / "ben.csv", target=folder / "merged.csv")
        >>> [(conflict.array, conflict.index, conflict.base) for conflict in merged.conflicts]
        [('t', (1,), 2)]
    """
    if not returned:
        raise TypeError("merge needs the file that you sent, and the files that came back")
    files = [_File(place, storage_options, client) for place in (base, *returned)]
    names = [one.name for one in files]
    if twice := [name for number, name in enumerate(names) if name in names[:number]]:
        raise ValueError(f"named twice: {quote_names([conceal_secrets(name) for name in twice])}")
    write_merged = None if target is None else _open_target(files[0], target, storage_options, client)
    check_kinds(Iterable | os.PathLike, "one of the files, or a list of them", prefer=prefer)
    favourites = [prefer] if isinstance(prefer, (str, os.PathLike)) else list(prefer)
    for favourite in favourites:
        check_kinds(str | os.PathLike, "one of the files, or a list of them", prefer=favourite)
    preferred = [_find_name(os.fspath(one), names) for one in favourites]
    chosen = _read_choices(choices, names)
    with _changing_source(files[0].place, target, storage_options):
        for one in files:
            one.read()
        if files[0].arrays.labels is not None:  # they hold, also where somebody has deleted their description
            for one in files[1:]:
                one.arrays.pop(NAME, None)
        groups, labels = _find_groups(files[0])
        merged = merge_arrays(
            (names[0], files[0].arrays),
            [(one.name, one.arrays) for one in files[1:]],
            groups=groups,
            labels=labels,
            prefer=preferred,
            choices=chosen,
        )
        merged.conflicts.complete = _completing({one.name: one for one in files})
        arrays = LabelledArrays(merged.arrays, _merge_labels(files, merged.arrays))
        url = None if write_merged is None else write_merged(arrays)
        return Merged(arrays, merged.conflicts, merged.changes, names[0], url)


class _File:
    """One of the files of a merge.

    Attributes:
        name: by which conflicts call it.
        arrays: its arrays, with their labels.
        infos: where they stand.
    """

    def __init__(self, place: SourceOrTarget, storage_options: Mapping[str, Any] | None, client: Any) -> None:
        if not isinstance(place, (str, os.PathLike)):
            raise TypeError("merge takes paths and URLs: conflicts are told by the names of files")
        self.given = place
        self.place = locate_place(place, storage_options, None, client)
        self.name = os.fspath(self.place if isinstance(self.place, RemoteFile) else place)
        self.row = format_of(self.place, None, reading=True)
        self._client = client
        self.arrays = LabelledArrays({}, None)
        self.infos: dict[str, ArrayInfo] = {}

    def options(self, verb: str) -> dict[str, Any]:
        """Return the options of a verb: rows that people have added or deleted count as they stand."""
        known = self.row.options(verb)
        options = {"resize": True} if "resize" in known else {}
        return options | ({"client": self._client} if self._client is not None and "client" in known else {})

    def read(self) -> None:
        """Read the arrays, their labels and where they stand."""
        with locating(source=self.name):
            self.arrays = read_labelled(self.place, **self.options("read"))
            self.infos = dict(scan(self.place, **self.options("scan")))

    def address(self, name: str, index: tuple[int, ...] | None) -> str | None:
        """Return the address of the cell that holds an element; None where nobody knows."""
        info = self.infos.get(name)
        if info is None or not info.data or index is None:
            return info.location if info is not None and index is None else None
        at = info.offset + sum(step * stride for step, stride in zip(index, info.strides, strict=True))
        run = next((run for run in reversed(info.data) if run.first <= at), info.data[0])
        return run.address(at)

    def label(self, name: str, index: tuple[int, ...] | None) -> dict[str, str]:
        """Return the labels of an element, by dimension or by the levels of its index."""
        said = self.arrays.labels.find(name) if self.arrays.labels is not None else None
        if said is None or index is None or len(said.dims) != len(index):
            return {}
        found: dict[str, str] = {}
        for dim, place in zip(said.dims, index, strict=True):
            for level in _levels(self.arrays.labels, dim):
                array = self.arrays.get(level)
                if isinstance(array, np.ndarray) and array.ndim == 1 and place < len(array) and level != name:
                    found[level] = label_text(array[place] if array.dtype.kind in "mM" else to_scalar(array[place]))
        return found


def _levels(labels: DatasetLabels | None, dim: str) -> Sequence[str]:
    """Return the names of the arrays that label a dimension."""
    if labels is None:
        return ()
    return labels.frame.index.get(dim) or (dim,)


def _find_groups(base: _File) -> tuple[dict[tuple[str, int], Hashable], dict[Hashable, Sequence[str]]]:
    """Return the group of arrays to which the rows of each array along an axis belong, and the arrays that label them.

    Where nothing names dimensions, the arrays of as many rows in one sheet belong together, along the axis of rows.
    """
    groups: dict[tuple[str, int], Hashable] = {}
    labels: dict[Hashable, Sequence[str]] = {}
    said = base.arrays.labels
    for name, array in base.arrays.items():
        if not isinstance(array, np.ndarray) or not array.ndim:
            continue
        variable = said.find(name) if said is not None else None
        dims = list(variable.dims) if variable is not None and len(variable.dims) == array.ndim else []
        if said is not None and array.ndim == 1:
            dims = [dim for dim in said.frame.index if name in said.frame.index[dim]][:1] or dims
        for axis, dim in enumerate(dims):
            groups[name, axis] = "dim", dim
            levels = [level for level in _levels(said, dim) if getattr(base.arrays.get(level), "ndim", 0) == 1]
            labels["dim", dim] = [level for level in levels if isinstance(base.arrays.get(level), np.ndarray)]
        if not dims:
            info, axis = base.infos.get(name), row_axis(array)
            title = info.data[0].title if info is not None and info.data else None
            groups[name, axis] = "rows", title, array.shape[axis]
    return groups, labels


def _completing(files: Mapping[str, _File]) -> Callable[[Conflict], Conflict]:
    """Return a function that puts the labels of an element, and the addresses of its cells, into a conflict."""

    def complete(conflict: Conflict) -> Conflict:
        place = conflict.place
        cells = {name: files[name].address(at.array, at.index) for name, at in conflict.places.items()}
        labels = files[place.file].label(place.array, place.index)
        return replace(
            conflict, labels=labels, cells={name: address for name, address in cells.items() if address is not None}
        )

    return complete


def _merge_labels(files: Sequence[_File], arrays: Mapping[str, Any]) -> DatasetLabels | None:
    """Return the labels of the base, with those of new arrays, and the shapes that arrays have now."""
    labels = files[0].arrays.labels
    if labels is None:
        return None
    data_vars = dict(labels.data_vars)
    for one in files[1:]:
        others = one.arrays.labels.data_vars if one.arrays.labels is not None else {}
        for name, variable in others.items():
            if name not in files[0].arrays and name in arrays and {*variable.dims} <= {*labels.sizes()}:
                data_vars.setdefault(name, variable)

    def resized(variables: Mapping[str, VariableLabels]) -> dict[str, VariableLabels]:
        return {
            name: replace(variable, shape=np.shape(arrays[name]))
            if isinstance(arrays.get(name), np.ndarray)
            else variable
            for name, variable in variables.items()
        }

    return replace(labels, coords=resized(labels.coords), data_vars=resized(data_vars))


def _open_target(
    base: _File, target: SourceOrTarget, storage_options: Mapping[str, Any] | None, client: Any
) -> Callable[[LabelledArrays], Any]:
    """Return a function that writes the merged arrays: into the base's cells, where the format is the base's."""
    _, place = locate_places([(base.given, None), (target, None)], storage_options, client)
    row = format_of(place)
    _check_suffixes(row, base.row, base.place, place)
    options = {"client": client} if client is not None and "client" in row.options("write") else {}
    _refuse_unwritable(row)
    check_writable(place, None, options)
    if row.name == base.row.name:
        with suppress(NotFoundError):
            return partial(row.function("revise"), base.place, place)
    return partial(write, place, **options)


# Choices -------------------------------------------------------------------------------------------------------------


def _find_name(name: str, names: Sequence[str]) -> str:
    """Return the file that is meant by its name, or by the end of its path."""
    if name in names:
        return name
    ends = [known for known in names if os.path.basename(known) == name]
    if len(ends) != 1:
        raise NotFoundError(f"{name!r} is not one of the files: {quote_names(names)}")
    return ends[0]


def _read_choices(
    choices: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | None, names: Sequence[str]
) -> dict[Place, str]:
    """Return the file whose value stands, by the place of each conflict."""
    if choices is None:
        return {}
    source = None
    listed: Any = choices
    if isinstance(choices, (str, os.PathLike)):
        source = os.fspath(choices)
        try:
            with open(choices, encoding="utf-8") as file:
                listed = json.load(file)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"not a file of choices, because it is not JSON: {error!s:.80}", source=source) from error
        listed = listed.get("choices") if isinstance(listed, dict) else listed
    hint = "the page of a merge saves them (sheetarray page --merge)"
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise FormatError("the file has no list of choices", source=source, hint=hint)
    found: dict[Place, str] = {}
    for number, entry in enumerate(listed):
        where = f"choice {number + 1}"
        if not isinstance(entry, Mapping) or not all(isinstance(entry.get(key), str) for key in _CHOICE_KEYS):
            raise FormatError(
                f"a choice has {', '.join(_CHOICE_KEYS)} and index", location=where, source=source, hint=hint
            )
        index = entry.get("index")
        if index is not None:
            if not isinstance(index, Sequence) or not all(type(step) is int for step in index):
                raise FormatError(
                    "an index must be a list of integers, or null", location=where, source=source, hint=hint
                )
            index = tuple(index)
        place = Place(_find_name(entry["of"], names), entry["array"], index)
        found[place] = _find_name(entry["choose"], names)
    return found


_CHOICE_KEYS = ("array", "of", "choose")


# JSON ----------------------------------------------------------------------------------------------------------------


def _conflict_to_json(conflict: Conflict) -> dict[str, Any]:
    """Return a conflict as JSON has it; `of` is the file in which the index is that of the element."""
    return {
        "array": conflict.array,
        "index": None if conflict.index is None else list(conflict.index),
        "of": conflict.place.file,
        "labels": conflict.labels,
        "base": _value_to_json(conflict.base),
        "values": {file: _value_to_json(value) for file, value in conflict.values.items()},
        "cells": conflict.cells,
        "chosen": conflict.chosen,
    }


def describe_value(value: Any) -> str:
    """Return the value that a file has in a conflict, as a message shows it."""
    if value is DELETED:
        return "row deleted"
    if isinstance(value, np.ndarray):
        return f"{_describe(value)['dtype']} {' x '.join(map(str, value.shape)) or 'one value'}"
    if value is not None and hasattr(value, "type"):
        return str(value.type)
    return repr(value) if isinstance(value, str) else str(value)


def _value_to_json(value: Any) -> Any:
    """Return an element as its cell, `{"deleted": true}` for a deleted one, an array as its dtype and shape."""
    if value is None:
        return None
    if value is DELETED:
        return {"deleted": True}
    if isinstance(value, np.ndarray) or hasattr(value, "layout"):
        return _describe(value)
    return to_linear(np.asarray(value, object if isinstance(value, (bool, int, float, str)) else None))[-1]


def _describe(array: Any) -> dict[str, Any]:
    if isinstance(array, np.ndarray):
        return {"dtype": array.dtype.name if array.dtype.kind not in "UT" else "string", "shape": list(array.shape)}
    return {"type": str(array.type)}


def _changes_to_json(changes: FileChanges) -> dict[str, Any]:
    return {
        "file": changes.file,
        "elements": changes.elements,
        "rows_added": changes.added,
        "rows_deleted": changes.deleted,
        "rows_sorted": changes.moved,
        "new": changes.new,
        "absent": changes.absent,
        "other": changes.other,
    }


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
    opened = open_arrays(source, names, format=from_format, folder=folder, **reading)
    with hinting_at_reading(source, from_format), opened as (arrays, release):
        return write_releasing(target, arrays, release, to_format, writing)


def _hand_client(client: Any, sides: Sequence[tuple[str, SourceOrTarget, str | None, dict[str, Any]]]) -> None:
    """Put a client among the options of each side that takes one, and has none of its own."""
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
) -> dict[str, ArrayInfo]:
    """Accept the rows that people added or deleted. The headers are corrected, and everything else stays.

    In a workbook, defined names and checksums are corrected too. After that, `check` accepts the elements that
    people edited.

    Args:
        source: a path, a URL, or an open file (then with `format` and a target).
        target: where the result goes. None replaces the source whole. A target in another format is written anew.
        format: the name of the source's format; None chooses it by the suffix.
        storage_options: options of the file systems of URLs.
        **options: options of the format, as for `read`.

    Returns:
        An `ArrayInfo` for each array whose length changed, by name.

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
        >>> accept(path)["t"].shape, read(path)["t"].tolist()
        ((3,), [1.5, 2.5, 3.5])
    """
    if target is None:
        source = locate_place(source, storage_options, format, options.get("client"))
    else:
        source, target = locate_places([(source, format), (target, None)], storage_options, options.get("client"))
    row = format_of(source, format, reading=True)
    goal = row if target is None else format_of(target)
    if goal.name == row.name:
        _refuse_unwritable(row)
    _check_suffixes(goal, row, source, target)
    reading = {**options, "resize": True}
    accept_in_place = row.function("accept") if goal.name == row.name else None
    with _changing_source(source, target):
        with keeping_unreadable("missing") as unreadable:
            arrays = read_labelled(source, format=format, **reading)
        errors = [error for array in unreadable.values() for error in array.ravel().tolist() if error is not None]
        if errors and accept_in_place is None:  # a cell that is written anew has to hold a value
            raise errors[0]
        if arrays.labels is not None:
            check_fit(arrays.labels, arrays)
        if accept_in_place is not None:
            with keeping_unreadable("missing"):
                infos: dict[str, ArrayInfo] = accept_in_place(source, target, **options)
            _warn_of_unreadable(errors)
            return infos
        assert target is not None
        before = scan(source, format=format)
        written = write(target, arrays) or target
        return {
            name: info for name, info in scan(written).items() if name in before and info.shape != before[name].shape
        }


@contextmanager
def _changing_source(
    source: SourceOrTarget, target: SourceOrTarget | None, storage_options: Mapping[str, Any] | None = None
) -> Iterator[None]:
    """Hold a source while a verb changes it in place: where the target is None, or the same file.

    `storage_options`: of the target, if it is not located yet.
    """
    if target is not None and not isinstance(target, RemoteFile):
        target = locate_place(target, storage_options if is_url(target) else None, None)
    places = [place.url if isinstance(place, RemoteFile) else place for place in (source, target)]
    if target is None or places[0] == places[1] or _is_one_file(*places):
        with changing(source):
            yield
    else:
        yield


def _is_one_file(first: object, second: object) -> bool:
    """Return whether two paths lead to one file."""
    return is_path(first) and is_path(second) and os.path.realpath(first) == os.path.realpath(second)


def _warn_of_unreadable(errors: Sequence[FormatError]) -> None:
    """Warn of cells that cannot be read, which a file keeps when it is accepted."""
    if len(errors) == 1:
        warn_caller(f"1 cell cannot be read, and stays as it is: {errors[0]}")
    elif errors:
        warn_caller(f"{len(errors):,} cells cannot be read, and stay as they are; the first: {errors[0]}")


def _refuse_unwritable(row: Format) -> None:
    """Refuse a target of a format that is only read."""
    if row.instead is not None:
        raise NotFoundError(
            f"{row.title}: sheetarray can only read this format; name a new {row.instead} file as the target"
        )


def _check_suffixes(goal: Format, row: Format, source: object, target: object) -> None:
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
) -> list[str]:
    """Write the arrays of a workbook as they were before people edited them, from the guard in it.

    Args:
        source: a path, a URL, or an open file (then with `format`): a workbook written with `guard=True`, which any
            program may have saved since.
        target: an .xlsx file, which may be the source. It is replaced whole or not at all.
        keep_edits: keep edited elements, and added or deleted rows. All other elements are exact.
        format: the name of the source's format; None chooses it by the suffix.
        storage_options: options of the file systems of URLs.

    Returns:
        The names of the arrays.

    Raises:
        FormatError: the workbook has no guard, or a damaged one.
        ValueError: the target is not a workbook.
        NotFoundError: the format has no guards.

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
    restoring = format_of(source, format, reading=True).function("restore")
    with _changing_source(source, target):
        names: list[str] = restoring(source, target, keep_edits=keep_edits)
    return names
