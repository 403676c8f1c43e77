"""The content of a page: arrays by file, their labels and where they stand, and the findings of `check`.

Everything is gathered in a *manifest*, which is JSON, and in *blobs*, the bytes of the elements. An *entry* of the
manifest is one array, or one table of an awkward array; the columns of such a table are entries that are not listed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..api import Merged, describe_value
from ..columns import ArrayInfo
from ..dtypes import Array
from ..errors import DTypeError, LimitError, escape_controls
from ..labels.north import find_north
from ..linear.header import name_element
from .differences import subtract_arrays
from .encoding import encode_elements
from .excerpts import Excerpt, PageFile, to_slice

MOST_ARRAYS = 20_000
MOST_CONFLICTS = 5_000  # that a page lists
MOST_FINDINGS = 1_000  # that are listed; a page says how many more there are
_LONGEST_ATTRIBUTE = 200  # characters

PageEntry = dict[str, Any]


class Contents:
    """The content of a page, added file by file.

    Attributes:
        manifest: all but the elements: `files`, `entries`, `findings`, and with which element the page opens.
        blobs: bytes, by the numbers that entries name.
        arrays: those whose elements the page holds, by the number of their entry.
    """

    def __init__(self) -> None:
        self.manifest: dict[str, Any] = {"files": [], "entries": [], "findings": [], "unlisted": 0}
        self.blobs: list[bytes] = []
        self.arrays: dict[int, Array] = {}

    @property
    def listed(self) -> list[PageEntry]:
        """The entries that stand in the list of arrays."""
        return [entry for entry in self.manifest["entries"] if entry["listed"]]

    def add_file(self, file: PageFile) -> None:
        """Add the arrays of a file, or those that a program has.

        Raises:
            DTypeError: names an array that cannot be shown.
        """
        self.manifest["files"].append(escape_controls(file.title))
        numbers: dict[str, int] = {}
        for name, array in file.arrays.items():
            try:
                if isinstance(array, np.ndarray):
                    excerpt, dims = file.excerpts[name], file.dims_of(name)
                    numbers[name] = self._add_array(name, array, file.infos.get(name), excerpt=excerpt, dims=dims)
                else:
                    self._add_awkward(name, array, file)
            except DTypeError as error:
                raise DTypeError(f"{name}: {error}") from error
        self._add_labels(numbers, file)
        for name, reason in file.unread.items():
            self._add_entry(name, "unread", note=reason)
        self._add_findings(numbers, file)

    def add_conflicts(self, merged: Merged, file: PageFile) -> None:
        """Add the conflicts in copies of a file, to be chosen; `file`: the merged arrays, which were added before."""
        numbers = {entry["name"]: number for number, entry in enumerate(self.manifest["entries"]) if entry["listed"]}
        listed: list[dict[str, Any]] = []
        for conflict in merged.conflicts[:MOST_CONFLICTS]:
            place = {"array": conflict.array, "index": conflict.index, "of": conflict.place.file}
            values = {merged.base: conflict.base} if conflict.place.file == merged.base else {}
            options = [
                {"file": file, "text": describe_value(value), "cell": conflict.cells.get(file)}
                for file, value in (values | conflict.values).items()
            ]
            title = name_element(conflict.array, conflict.index)
            where = ", ".join(f"{level} {label}" for level, label in conflict.labels.items())
            excerpt = file.excerpts.get(conflict.array)
            at = None if excerpt is None or conflict.merged is None else excerpt.find(conflict.merged)
            more = {"entry": numbers.get(conflict.array), "at": at, "chosen": conflict.chosen}
            if at is None and conflict.merged is not None:
                more["unseen"] = True
            listed.append({"place": place, "title": title, "where": where, "options": options, **more})
        shown = [conflict for conflict in listed if conflict["entry"] is not None and conflict["at"] is not None]
        if shown:
            self.manifest["opening"] = {"entry": shown[0]["entry"], "index": shown[0]["at"]}
        files = [merged.base, *(changes.file for changes in merged.files)]
        self.manifest["merge"] = {
            "files": files,
            "conflicts": listed,
            "unlisted": len(merged.conflicts) - len(listed),
        }

    def add_differences(self) -> None:
        """Add the differences of two files: one for each pair of arrays that have the same name and shape.

        The page opens with the largest difference.
        """
        entries, largest = self.manifest["entries"], 0.0
        for number, before, now in self._find_pairs():
            away, entries[number]["noise"] = subtract_arrays(before, now)
            entries[number]["difference"] = self._add_array(entries[number]["name"], away, None, listed=False)
            sizes = np.abs(away).reshape(-1)
            sizes[np.isnan(sizes)] = np.nextafter(0, 1)  # where one of them is missing: the least difference
            if sizes.size and sizes.max() > largest:
                largest = float(sizes.max())
                index = np.unravel_index(int(sizes.argmax()), away.shape)
                self.manifest["opening"] = {"entry": number, "index": [int(position) for position in index]}

    def _find_pairs(self) -> list[tuple[int, Array, Array]]:
        """Return the arrays of two files that have one name and shape, with the number of the first one's entry."""
        entries, firsts = self.manifest["entries"], dict[tuple[Any, ...], int]()
        pairs = []
        for number, array in self.arrays.items() if len(self.manifest["files"]) == 2 else ():
            key = entries[number]["name"], array.shape, str(entries[number].get("excerpt"))
            if entries[number]["listed"] and entries[number]["file"] == 0:
                firsts[key] = number
            elif entries[number]["listed"] and key in firsts:
                pairs.append((firsts[key], self.arrays[firsts[key]], array))
        return pairs

    def _add_entry(self, name: str, kind: str, *, listed: bool = True, **more: object) -> int:
        entries: list[PageEntry] = self.manifest["entries"]
        entries.append(
            {"name": name, "file": len(self.manifest["files"]) - 1, "kind": kind, "listed": listed, "shape": [], **more}
        )
        return len(entries) - 1

    def _add_array(
        self,
        name: str,
        array: Array,
        info: ArrayInfo | None = None,
        *,
        excerpt: Excerpt | None = None,
        dims: Sequence[str] | None = None,
        listed: bool = True,
    ) -> int:
        shown = array if excerpt is None else excerpt.take(array)
        first, encoded = len(self.blobs), encode_elements(shown)
        self.blobs += encoded.buffers
        number = self._add_entry(
            name,
            encoded.kind,
            listed=listed,
            layout=encoded.layout,
            shape=list(shown.shape),
            dtype=shown.dtype.str if shown.dtype.kind == "V" else dtypes.from_numpy(shown.dtype).name,
            location=info.location if info else "",
            cells=_describe_cells(info, array.shape) if info else None,
            blobs=list(range(first, len(self.blobs))),
            **describe_excerpt(excerpt, dims),
        )
        self.arrays[number] = shown
        return number

    def _add_awkward(self, name: str, array: Any, file: PageFile) -> None:
        """Add an awkward array as tidy tables: the columns are entries of their own, which are not listed."""
        for table in file.tables[name]:
            columns = table.to_columns()
            numbers = [self._add_array(column, values, listed=False) for column, values in columns.items()]
            excerpt = file.excerpts[name]
            said = None if excerpt.is_whole else {"text": excerpt.describe(["its entries"], "entries")}
            self._add_entry(
                f"{name}{table.title}",
                "table",
                columns=numbers,
                shape=[len(table.indices), len(columns)],
                dtype="nested list" if table.lists else "awkward",
                note=f"{array.type!s:.2000}",
                excerpt=said,
            )

    def _add_labels(self, numbers: Mapping[str, int], file: PageFile) -> None:
        """Give each array the names of its dimensions, the arrays that label them, and its attributes.

        Of a dimension of which the page holds other indices than of its labels, it holds these labels once more.
        """
        if file.labels is None:
            return
        entries, copies = self.manifest["entries"], dict[tuple[str, range], int]()
        norths = self._find_norths(numbers, file)
        for name, number in numbers.items():
            variable = file.labels.find(name)
            if variable is None or file.dims_of(name) is None:
                continue
            entries[number]["dims"] = list(variable.dims)
            entries[number]["attrs"] = [
                [str(key), f"{value!s:.{_LONGEST_ATTRIBUTE}}"] for key, value in variable.attrs.items()
            ]
            entries[number]["labels"] = labels = []
            for axis, levels in zip(file.excerpts[name].taken, file.list_levels(name), strict=True):
                for level in levels:
                    if file.excerpts[level].taken != (axis,) and (level, axis) not in copies:
                        values = file.arrays[level][to_slice(axis)].copy()
                        copies[level, axis] = self._add_array(level, values, listed=False)
                labels.append([copies.get((level, axis), numbers[level]) for level in levels])
            if norths.keys() & {*variable.dims}:
                ends = [norths.get(dim, "") for dim in variable.dims]
                entries[number]["north"] = [
                    _OTHER_ENDS[end] if axis.step < 0 else end
                    for end, axis in zip(ends, file.excerpts[name].taken, strict=True)
                ]

    def _find_norths(self, numbers: Mapping[str, int], file: PageFile) -> dict[str, str]:
        """Return which end of each dimension that is a latitude lies in the north."""
        norths: dict[str, str] = {}
        for name in numbers:
            variable = file.labels.find(name) if file.labels is not None else None
            if variable is None or len(variable.dims) != 1:
                continue
            if north := find_north(file.arrays[name], name, variable.attrs):
                norths[variable.dims[0]] = north
        return norths

    def _add_findings(self, numbers: Mapping[str, int], file: PageFile) -> None:
        """List the findings of a file. `numbers`: of the entries of its arrays, by name."""
        listed = self.manifest["findings"]
        most = len(listed) + MOST_FINDINGS
        for finding in file.findings:
            if len(listed) >= most:
                self.manifest["unlisted"] += 1
                continue
            number = None if finding.array is None else numbers.get(finding.array)
            excerpt = None if number is None else file.excerpts[str(finding.array)]
            at = None if excerpt is None or finding.index is None else excerpt.find(finding.index)
            entry = {
                "file": len(self.manifest["files"]) - 1,
                "severity": finding.severity,
                "location": finding.location or "",
                "message": finding.message,
                "hint": finding.hint,
                "entry": number,
                "index": at,
            }
            if at is None and finding.index is not None and excerpt is not None and not excerpt.is_whole:
                entry["unseen"] = True
            listed.append(entry)


_OTHER_ENDS = {"first": "last", "last": "first", "": ""}


def describe_excerpt(excerpt: Excerpt | None, dims: Sequence[str] | None) -> dict[str, Any]:
    """Describe the excerpt of an array that the page holds only in part."""
    if excerpt is None or excerpt.is_whole:
        return {}
    steps = [[axis.start, axis.step] for axis in excerpt.taken]
    return {"excerpt": {"text": excerpt.describe(dims), "shape": list(excerpt.shape), "taken": steps}}


def _describe_cells(info: ArrayInfo, shape: Sequence[int]) -> dict[str, Any] | None:
    """Return the numbers from which a page computes the cell of each element; None if the headers do not say it."""
    if not info.data or tuple(info.shape) != tuple(shape):
        return None
    return {
        "strides": list(info.strides) if shape else [],
        "offset": info.offset,
        "runs": [
            {
                "title": run.title,
                "row": run.row,
                "column": run.column,
                "down": run.orient == "columns",
                "first": run.first,
            }
            for run in info.data
        ],
    }


def check_listed_arrays(arrays: int) -> None:
    """Raise a `LimitError` for more arrays than a page lists."""
    if arrays > MOST_ARRAYS:
        raise LimitError(f"{arrays:,} arrays, and a page lists {MOST_ARRAYS:,}: name fewer (names=)")
