"""merge, accept, restore, convert_one: files made of other files, or true again to what people have changed."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..changes.conflicts import Conflict, FileChanges, UnreadableElement
from ..changes.merge import merge_arrays
from ..changes.merged_groups import row_axis
from ..changes.rows import check_key
from ..errors import FormatError, NotFoundError, check_kinds, escape_controls, quote_names
from ..files import conceal_secrets, is_url
from ..formats import format_of, locate_place, locate_places
from ..labels import NAME, DatasetLabels, LabelledArrays, VariableLabels
from ..labels.places import list_levels
from ..linear.header import name_element
from .accepting import changing_source, check_suffixes, is_one_place, refuse_unwritable
from .arrays import check_writable, write
from .choices import find_name, read_choices
from .conflicts_json import changes_to_json, conflict_to_json, describe_element, describe_value
from .merge_sources import MergeSource, choose_names, fill_absent_columns, unify_tables
from .merged_tables import drop_unaligned, write_merged_table
from .shown import ListedRows, format_html, format_table
from .targets import SourceOrTarget

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
    def unreadable(self) -> list[UnreadableElement]:
        """The elements whose cells cannot be read, of all files. The base's values stand there."""
        return [entry for file in self.changes for entry in file.unreadable]

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
        if self.unreadable:
            files += f"; {_count(len(self.unreadable), 'cell')} that cannot be read"
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
            "conflicts": [conflict_to_json(conflict) for conflict in self.conflicts],
            "files": [changes_to_json(changes) for changes in self.changes],
            "arrays": {name: describe_element(array) for name, array in self.arrays.items()},
        }


def _list_changes(changes: FileChanges) -> Iterator[tuple[str, str]]:
    """Yield the name of an array and what became of it, for each kind of change in a file, the largest first."""
    for entry in changes.unreadable:
        where = f", cell {entry.cell}" if entry.cell else ""
        yield entry.array, f"{name_element(entry.array, entry.index)} cannot be read{where}: {entry.text}"
    counts = [
        (changes.elements, "element", "changed"),
        (changes.added, "row", "added"),
        (changes.deleted, "row", "deleted"),
    ]
    for by_name, noun, verb in counts:
        for name, count in sorted(by_name.items(), key=lambda item: -item[1]):
            yield name, f"{_count(count, noun)} {verb}"
    for name, now in changes.renamed.items():
        yield name, f"renamed to {now}"
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
    key: str | Sequence[str] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    client: Any = None,
    **options: Any,
) -> Merged:
    """Merge what several people changed in copies of one file.

    - If one person changed an element, or several people made the same change, the new value is taken.
    - If a program only rounded an element, the base's value stays.
    - If people changed an element differently, you get a conflict. The base's value stays, unless `prefer` or `choices`
      names another file.
    - Added rows follow each other, in the order of the files. Rows with the same label become one row.
    - A blank cell is a change where the dtype has a missing value, such as NaN. Other cells that cannot be read are
      listed in `unreadable`, and the base's values stay.
    - An array with another name is the same array if its elements or its place tell so.
    - Files without arrays are ordinary tables; their columns are merged. The base decides the dtypes.
    - Rows run along the first axis. If the copies differ in the length of another axis, rows run along that axis.

    Args:
        base: the file that you sent.
        *returned: the files that came back, in any formats that `read` takes.
        target: where the merged arrays go; it may be the base. None writes nothing. A target in the format of the base
            is a copy of the base with other values. A target in another format is written anew.
        prefer: one of the files, or several. A conflict takes the value of the first of them that has one.
        choices: the file `choices.json` that you saved on the page of a merge, or its content: a list of objects, each
            with `array`, `index`, `of` (the file in whose array the index counts) and `choose` (the file whose value
            stands).
        key: the array, or the arrays, whose values tell which rows belong together. None goes by labels, or content.
        storage_options: options of the file systems of URLs.
        client: a gspread client, for Google Sheets.
        **options: options of the formats, as for `read`, such as `sheet` or `missing`; each file takes those that its
            format has.

    Returns:
        The merged arrays, the conflicts, and what each person changed.

    Raises:
        FormatError: one of the files, or `choices`, cannot be read, or two rows have the same `key`. Nothing was
            written.
        NotFoundError: `prefer` or `choices` names another file, or a file lacks the `key`.
        ValueError: you pass a file twice, or the target is one of those that came back.
        TypeError: no file has an option.
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
    check_kinds(str | Sequence | None, "the name of an array, or a list of names", key=key)
    keys = [key] if isinstance(key, str) else list(key or ())
    files = [MergeSource(place, storage_options, client, options) for place in (base, *returned)]
    for option in options:
        if not any(file.has_option(option) for file in files):
            titles = dict.fromkeys(file.row.title for file in files)
            raise TypeError(f"merge has no option {option!r:.80} for {' and '.join(titles)}")
    names = [file.name for file in files]
    if twice := [name for number, name in enumerate(names) if name in names[:number]]:
        raise ValueError(f"named twice: {quote_names([conceal_secrets(name) for name in twice])}")
    for file in files[1:] if target is not None else ():
        if is_one_place(file.place, locate_place(target, storage_options if is_url(target) else None, None, client)):
            name = conceal_secrets(file.name)
            raise ValueError(f"the target is {name!r:.300}, which came back from somebody: choose another file")
    write_merged = None if target is None else _open_target(files[0], target, storage_options, client)
    check_kinds(Iterable | os.PathLike, "one of the files, or a list of them", prefer=prefer)
    favourites = [prefer] if isinstance(prefer, (str, os.PathLike)) else list(prefer)
    for favourite in favourites:
        check_kinds(str | os.PathLike, "one of the files, or a list of them", prefer=favourite)
    preferred = [find_name(os.fspath(file), names) for file in favourites]
    chosen = read_choices(choices, names)
    with changing_source(files[0].place, target, storage_options):
        for file in files:
            file.read()
        is_table = unify_tables(files)
        files[0].refuse_unreadable()
        for file in files[1:]:
            if files[0].arrays.labels is not None:  # they hold, also where somebody has deleted their description
                file.arrays.pop(NAME, None)
            file.find_renamed(files[0])
        if is_table:
            fill_absent_columns(files)
        groups, labels = _find_key_groups(files, keys) if keys else _find_groups(files[0])
        merged = merge_arrays(
            (names[0], files[0].arrays),
            [(file.name, file.arrays) for file in files[1:]],
            groups=groups,
            labels=labels,
            is_key=bool(keys),
            unreadable=[file.unreadable for file in files[1:]],
            prefer=preferred,
            choices=chosen,
        )
        merged.conflicts.complete = _completing({file.name: file for file in files})
        for file, changes in zip(files[1:], merged.changes, strict=True):
            changes.absent += file.absent
            changes.renamed, changes.unreadable = file.renamed, file.unreadable_elements
        new_names = choose_names(files)
        if is_table:
            drop_unaligned(merged, files)
        arrays = {new_names.get(name, name): array for name, array in merged.arrays.items()}
        labelled = LabelledArrays(arrays, _merge_labels([file.arrays for file in files], arrays))
        url = None
        if write_merged is not None and not is_table:
            url = write_merged(labelled, new_names)
        elif target is not None and is_table:
            url = write_merged_table(files[0], target, merged, new_names, storage_options, client)
        return Merged(labelled, merged.conflicts, merged.changes, names[0], url)


def _find_key_groups(
    files: Sequence[MergeSource], keys: Sequence[str]
) -> tuple[dict[tuple[str, int], Hashable], dict[Hashable, Sequence[str]]]:
    """Return the arrays of as many rows as the key as one group, which the key labels, and all others by themselves."""
    for file in files:
        file.keys = keys
        for name in keys:
            if name not in file.arrays or name in file.absent:
                raise NotFoundError(f"{file.name}: no array {name!r}, which is to tell the rows that belong together")
            if getattr(file.arrays[name], "ndim", 0) != 1:
                raise FormatError(f"{name}: the key needs an array of one dimension", source=file.name)
        columns = {name: file.arrays[name] for name in keys}
        check_key(columns, file.name, file.find_row_cell)
    groups: dict[tuple[str, int], Hashable] = {}
    count = len(files[0].arrays[keys[0]])
    for name, array in files[0].arrays.items():
        if isinstance(array, np.ndarray) and array.ndim:
            axis = row_axis(array)
            groups[name, axis] = "key" if array.shape[axis] == count else ("alone", name)
    return groups, {"key": list(keys)}


def _find_groups(base: MergeSource) -> tuple[dict[tuple[str, int], Hashable], dict[Hashable, Sequence[str]]]:
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
            levels = [level for level in list_levels(said, dim) if getattr(base.arrays.get(level), "ndim", 0) == 1]
            labels["dim", dim] = [level for level in levels if isinstance(base.arrays.get(level), np.ndarray)]
        if not dims:
            info, axis = base.infos.get(name), row_axis(array)
            title = info.data[0].title if info is not None and info.data else None
            groups[name, axis] = "rows", title, array.shape[axis]
    return groups, labels


def _completing(files: Mapping[str, MergeSource]) -> Callable[[Conflict], Conflict]:
    """Return a function that puts the labels of an element, and the addresses of its cells, into a conflict."""

    def complete(conflict: Conflict) -> Conflict:
        place = conflict.place
        cells = {name: files[name].address(at.array, at.index) for name, at in conflict.places.items()}
        labels = files[place.file].label(place.array, place.index)
        return replace(
            conflict, labels=labels, cells={name: address for name, address in cells.items() if address is not None}
        )

    return complete


def _merge_labels(files: Sequence[LabelledArrays], arrays: Mapping[str, Any]) -> DatasetLabels | None:
    """Return the labels of the base, with those of new arrays, and the shapes that arrays have now."""
    labels = files[0].labels
    if labels is None:
        return None
    data_vars = dict(labels.data_vars)
    for file in files[1:]:
        theirs = file.labels.data_vars if file.labels is not None else {}
        for name, variable in theirs.items():
            if name not in files[0] and name in arrays and {*variable.dims} <= {*labels.sizes()}:
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
    base: MergeSource, target: SourceOrTarget, storage_options: Mapping[str, Any] | None, client: Any
) -> Callable[[LabelledArrays, Mapping[str, str]], Any]:
    """Return a function that writes the merged arrays: into the base's cells, where the format is the base's.

    It also takes the new names of arrays, by those of the base.
    """
    _, place = locate_places([(base.given, None), (target, None)], storage_options, client)
    row = format_of(place)
    check_suffixes(row, base.row, base.place, place)
    options = {"client": client} if client is not None and "client" in row.options("write") else {}
    refuse_unwritable(row)
    check_writable(place, None, options)
    if row.name == base.row.name:
        with suppress(NotFoundError):
            revise = row.function("revise")
            return lambda arrays, renamed: revise(base.place, place, arrays, renamed=renamed)
    return lambda arrays, _: write(place, arrays, **options)
