"""The content of a page: arrays by file, their labels and where they stand, and the findings of `check`.

Everything is gathered in a *manifest*, which is JSON, and in *blobs*, the bytes of the elements. An *entry* of the
manifest is one array, or one table of an awkward array; the columns of such a table are entries that are not listed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..api import MergedFiles, describe_value
from ..columns import ArrayInfo
from ..dtypes import Array
from ..errors import DTypeError, Finding, LimitError
from ..header import name_element
from ..labels import DatasetLabels
from ..labels.description import LATITUDE, is_coordinate
from .differences import subtract_arrays
from .encoding import encode_elements
from .tidy import make_tidy

MOST_ELEMENTS, MOST_ARRAYS = 4_000_000, 20_000
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
        self.elements = 0

    @property
    def listed(self) -> list[PageEntry]:
        """The entries that stand in the list of arrays."""
        return [entry for entry in self.manifest["entries"] if entry["listed"]]

    def add_file(
        self,
        title: str,
        arrays: Mapping[str, Any],
        *,
        labels: DatasetLabels | None = None,
        infos: Mapping[str, ArrayInfo] | None = None,
        findings: Iterable[Finding] = (),
        unread: Mapping[str, str] | None = None,
    ) -> None:
        """Add the arrays of a file, or those that a program has.

        `title`: what the file is called. `arrays`: by name; awkward ones too. `infos`: of the arrays, by name, from
        which a page knows their cells. `findings`: of `check`. `unread`: the error of each array that cannot be read,
        by name.

        Raises:
            DTypeError: names an array that cannot be shown.
            LimitError: more elements than a page holds.
        """
        check_count(len(self.manifest["entries"]) + len(arrays))
        self.manifest["files"].append(title)
        numbers: dict[str, int] = {}
        for name, array in arrays.items():
            try:
                if isinstance(array, np.ndarray):
                    self._count(array.size)
                    numbers[name] = self._add_array(name, array, (infos or {}).get(name))
                else:
                    self._add_awkward(name, array)
            except DTypeError as error:
                raise DTypeError(f"{name}: {error}") from error
        if labels is not None:
            self._add_labels(numbers, labels)
        for name, reason in (unread or {}).items():
            self._add_entry(name, "unread", note=reason)
        self._add_findings(findings, numbers)

    def add_merge(self, merged: MergedFiles) -> None:
        """Add what several people have changed in copies of a file: the merged arrays, and the conflicts to choose."""
        first = len(self.manifest["entries"])
        check_elements(sum(int(np.size(array)) for array in merged.arrays.values() if isinstance(array, np.ndarray)))
        self.add_file("merged", merged.arrays, labels=merged.arrays.labels)
        numbers = {entry["name"]: first + place for place, entry in enumerate(self.manifest["entries"][first:])}
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
            more = {"entry": numbers.get(conflict.array), "at": conflict.merged, "chosen": conflict.chosen}
            listed.append({"place": place, "title": title, "where": where, "options": options, **more})
        shown = [conflict for conflict in listed if conflict["entry"] is not None and conflict["at"] is not None]
        if shown:
            self.manifest["opening"] = {"entry": shown[0]["entry"], "index": shown[0]["at"]}
        files = [merged.base, *(changes.file for changes in merged.changes)]
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
        entries, firsts = self.manifest["entries"], dict[tuple[str, tuple[int, ...]], int]()
        pairs = []
        for number, array in self.arrays.items() if len(self.manifest["files"]) == 2 else ():
            key = entries[number]["name"], array.shape
            if entries[number]["listed"] and entries[number]["file"] == 0:
                firsts[key] = number
            elif entries[number]["listed"] and key in firsts:
                pairs.append((firsts[key], self.arrays[firsts[key]], array))
        return pairs

    def _add_entry(self, name: str, kind: str, *, listed: bool = True, **more: Any) -> int:
        entries: list[PageEntry] = self.manifest["entries"]
        entries.append(
            {"name": name, "file": len(self.manifest["files"]) - 1, "kind": kind, "listed": listed, "shape": [], **more}
        )
        return len(entries) - 1

    def _add_array(self, name: str, array: Array, info: ArrayInfo | None, *, listed: bool = True) -> int:
        first, encoded = len(self.blobs), encode_elements(array)
        self.blobs += encoded.buffers
        number = self._add_entry(
            name,
            encoded.kind,
            listed=listed,
            layout=encoded.layout,
            shape=list(array.shape),
            dtype=array.dtype.str if array.dtype.kind == "V" else dtypes.from_numpy(array.dtype).name,
            location=info.location if info else "",
            cells=_describe_cells(info, array.shape) if info else None,
            blobs=list(range(first, len(self.blobs))),
        )
        self.arrays[number] = array
        return number

    def _count(self, elements: int) -> None:
        self.elements += elements
        check_elements(self.elements)

    def _add_awkward(self, name: str, array: Any) -> None:
        """Add an awkward array as tidy tables: the columns are entries of their own, which are not listed."""
        for table in make_tidy(array, lambda cells: check_elements(self.elements + cells)):
            columns = table.to_columns()
            self._count(sum(values.size for values in columns.values()))
            numbers = [self._add_array(column, values, None, listed=False) for column, values in columns.items()]
            self._add_entry(
                f"{name}{table.title}",
                "table",
                columns=numbers,
                shape=[len(table.indices), len(columns)],
                dtype="nested list" if table.lists else "awkward",
                note=f"{array.type!s:.2000}",
            )

    def _add_labels(self, numbers: Mapping[str, int], labels: DatasetLabels) -> None:
        """Give each array the names of its dimensions, the arrays that label them, and its attributes."""
        entries = self.manifest["entries"]
        for name, number in numbers.items():
            variable = labels.find(name)
            if variable is None or len(variable.dims) != len(entries[number]["shape"]):
                continue
            entries[number]["dims"] = list(variable.dims)
            entries[number]["attrs"] = [
                [str(key), f"{value!s:.{_LONGEST_ATTRIBUTE}}"] for key, value in variable.attrs.items()
            ]
            entries[number]["labels"] = [
                [
                    numbers[level]
                    for level in labels.frame.index.get(dim, (dim,))
                    if level in numbers and level != name and entries[numbers[level]]["shape"] == [size]
                ]
                for dim, size in zip(variable.dims, entries[number]["shape"], strict=True)
            ]
        norths: dict[str, str] = {}
        for name, number in numbers.items():
            variable = labels.find(name)
            if variable is None or len(variable.dims) != 1 or number not in self.arrays:
                continue
            if north := find_north(self.arrays[number], name, variable.attrs):
                norths[variable.dims[0]] = north
        for number in numbers.values():
            if norths.keys() & set(entries[number].get("dims", ())):
                entries[number]["north"] = [norths.get(dim, "") for dim in entries[number]["dims"]]

    def _add_findings(self, findings: Iterable[Finding], numbers: Mapping[str, int]) -> None:
        """List the findings of a file. `numbers`: of the entries of its arrays, by name."""
        listed = self.manifest["findings"]
        most = len(listed) + MOST_FINDINGS
        for finding in findings:
            if len(listed) >= most:
                self.manifest["unlisted"] += 1
                continue
            number = None if finding.array is None else numbers.get(finding.array)
            shape = [] if number is None else self.manifest["entries"][number]["shape"]
            inside = finding.index is not None and len(finding.index) == len(shape)
            inside = inside and all(0 <= index < size for index, size in zip(finding.index or (), shape, strict=True))
            listed.append(
                {
                    "file": len(self.manifest["files"]) - 1,
                    "severity": finding.severity,
                    "location": finding.location or "",
                    "message": finding.message,
                    "hint": finding.hint,
                    "entry": number,
                    "index": list(finding.index or ()) if inside else None,
                }
            )


def find_north(values: Array, name: str, attrs: Mapping[Any, Any]) -> str:
    """Return the end of a coordinate that lies in the north, `first` or `last`; "" where it is no latitude.

    Example:
        >>> find_north(np.array([-45.0, 0.0, 45.0]), "y", {"units": "degrees_north"})
        'last'
    """
    is_axis = values.ndim == 1 and len(values) > 1 and values.dtype.kind in "iuf"
    if not (is_axis and is_coordinate(name, attrs, LATITUDE)):
        return ""
    if (values[1:] > values[:-1]).all():
        return "last"
    return "first" if (values[1:] < values[:-1]).all() else ""


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


def count_elements(infos: Mapping[str, ArrayInfo], names: Iterable[str]) -> int:
    """Return the number of elements in some arrays, by their headers."""
    return sum(math.prod(infos[name].shape) for name in names if name in infos)


def check_count(arrays: int) -> None:
    """Raise a `LimitError` for more arrays than a page lists."""
    if arrays > MOST_ARRAYS:
        raise LimitError(f"{arrays:,} arrays, and a page lists {MOST_ARRAYS:,}: name fewer (names=)")


def check_elements(count: int) -> None:
    """Raise a `LimitError` for more elements than a page holds."""
    if count > MOST_ELEMENTS:
        raise LimitError(f"{count:,} elements, and a page holds {MOST_ELEMENTS:,}: name fewer arrays (names=)")
