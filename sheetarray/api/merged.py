"""`Merged`: what a merge came to, as `merge` returns it; as text, in a notebook and as JSON."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..changes.conflicts import Conflict, FileChanges, UnreadableElement
from ..errors import escape_controls
from ..labels import LabelledArrays
from ..linear.header import name_element
from .changes import Changes
from .conflicts_json import changes_to_json, conflict_to_json, describe_element, describe_value
from .shown import ListedRows, format_html, format_table

_MOST_ROWS = 17  # of the table of a merge, which has 20 lines with its first two and its last


@dataclass(frozen=True, repr=False)
class Merged:
    """The result of `merge`.

    Attributes:
        arrays: the merged arrays by name, with the labels of the base. If arrays of several sheets have one name, the
            title of the sheet stands before it, as in `north!t`.
        conflicts: elements that several people have changed differently, each once.
        files: what each person has changed, file by file.
        changes: what became of the arrays of the base, as `diff` says it.
        base: the name of the base.
        url: the URL of the sheet, if the target is in Google Sheets in another format than the base; otherwise None.

    Example:
        >>> import tempfile, pathlib
        >>> import numpy as np
        >>> from sheetarray import merge, write
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, values in {"base": [1, 2, 3], "ann": [1, 5, 3], "ben": [1, 2, 3, 4]}.items():
        ...     write(folder / f"{name}.csv", {"t": np.array(values)})
        >>> merged = merge(folder / "base.csv", folder / "ann.csv", folder / "ben.csv")
        >>> merged.arrays, len(merged.conflicts)
        ({'t': array([1, 5, 3, 4])}, 0)
        >>> merged.changes.rows[0].added
        [3]
        >>> merged
        1 array of base.csv, merged from 2 files; 0 conflicts
        file     array  change
        ann.csv  t      1 element changed
        ben.csv  t      1 row added
    """

    arrays: LabelledArrays
    conflicts: Sequence[Conflict]
    files: list[FileChanges]
    base: str
    url: str | None = None
    _compare: Callable[[], Changes] = field(repr=False, compare=False, kw_only=True)

    @cached_property
    def changes(self) -> Changes:
        """What became of the arrays of the base, as `diff` says it."""
        return self._compare()

    @property
    def unreadable(self) -> list[UnreadableElement]:
        """The elements whose cells cannot be read, of all files. The base's values stand there."""
        return [entry for file in self.files for entry in file.unreadable]

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
        files = f"merged from {_count(len(self.files), 'file')}; {_count(count, 'conflict')}{chosen}"
        if self.unreadable:
            files += f"; {_count(len(self.unreadable), 'cell')} that cannot be read"
        return escape_controls(f"{whole}, {files}")

    def _list_rows(self) -> tuple[ListedRows, int]:
        """Return the titles of a table and its first rows, conflicts before changes, and how many more there are."""
        rows = [*map(self._describe_conflict, self.conflicts[:_MOST_ROWS])]
        changed = [(self._shorten(file.file), *change) for file in self.files for change in _list_changes(file)]
        rows += changed[: _MOST_ROWS - len(rows)]
        return [("file", "array", "change"), *rows], len(self.conflicts) + len(changed) - len(rows)

    def _shorten(self, file: str) -> str:
        """Return the name of a file without its folder, if no other file is called so."""
        names = [os.path.basename(name) for name in (self.base, *(changes.file for changes in self.files))]
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
            "files": [changes_to_json(changes) for changes in self.files],
            "arrays": {name: describe_element(array) for name, array in self.arrays.items()},
        }


def _list_changes(changes: FileChanges) -> Iterator[tuple[str, str]]:
    """Yield the name of an array and what became of it, for each kind of change in a file, the largest first."""
    for entry in changes.unreadable:
        where = f", cell {entry.cell}" if entry.cell else ""
        yield entry.array, f"{name_element(entry.array, entry.index)} cannot be read{where}: {entry.text}"
    for remark in changes.remarks:
        yield "", f"{remark.cell} is beside the arrays, and not merged: {remark.text}"
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
