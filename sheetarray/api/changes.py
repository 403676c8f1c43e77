"""`Changes`: what became of arrays, as `diff` finds it; as text, in a notebook and as JSON."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..changes.compare import Comparison, DifferingElement
from ..changes.conflicts import Remark
from ..changes.wording import count_noun
from ..errors import FormatError, escape_controls
from ..linear.header import name_element
from ..linear.json_lists import to_json_cells
from .changes_lines import list_lines, summarise
from .differences import Differences

MOST_LISTED = 100_000  # edited elements of an array
_MOST_LINES = 20  # of a repr, below its first line


@dataclass(frozen=True, slots=True)
class EditedElement:
    """An element that is another one now.

    Attributes:
        array: the name of its array.
        index: its index now.
        labels: its labels, by dimension or by the levels of an index; empty if it has none.
        before, after: its values.
        index_before: its index before; another one where rows were added, deleted or moved.
        cell_before, cell_after: the addresses of its cells; None where there is no sheet.
    """

    array: str
    index: tuple[int, ...]
    labels: dict[str, str]
    before: Any
    after: Any
    index_before: tuple[int, ...]
    cell_before: str | None = None
    cell_after: str | None = None


@dataclass(frozen=True, slots=True)
class UnreadableCell:
    """A cell that cannot be read, such as a blank or `n/a`.

    Attributes:
        array: the name of its array.
        index: the index of its element.
        side: "before" or "after": the source in which it stands.
        cell: its address.
        text: what is wrong with it; it names what the cell holds.
    """

    array: str
    index: tuple[int, ...]
    side: Literal["before", "after"]
    cell: str | None
    text: str


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """Rows that were added, deleted or moved, alike in all arrays that share them.

    Attributes:
        arrays: the names of the arrays.
        axis: along which their rows lie.
        added: the numbers of the added rows, as they stand now.
        deleted: the numbers of the deleted rows, as they stood before.
        moved: the numbers, as they stand now, of the rows that are in another order than before.
        sorted_by: the array by which the rows are sorted now; None if by none.
    """

    arrays: list[str]
    axis: int
    added: list[int]
    deleted: list[int]
    moved: list[int]
    sorted_by: str | None = None


@dataclass(frozen=True, slots=True)
class RoundedElements:
    """The elements of an array that a program only rounded.

    Attributes:
        count: how many there are.
        relative: the largest relative change.
    """

    count: int
    relative: float


@dataclass(frozen=True, slots=True)
class ChangedArray:
    """An array that changed as a whole.

    Attributes:
        name: its name now; of a deleted one its name before.
        what: "added", "deleted", "renamed", "reshaped", "dtype", "order" or "other", which is another kind of elements.
        before, after: its names, shapes, dtypes or orders; None where it was added or deleted.
    """

    name: str
    what: Literal["added", "deleted", "renamed", "reshaped", "dtype", "order", "other"]
    before: Any = None
    after: Any = None


class Changes:
    """The result of `diff`: what became of arrays. It is true if anything changed; rounding is a change, too.

    Attributes:
        rows: the rows that were added, deleted or moved, for each group of arrays that share rows.
        edited: the elements that are others now, array by array, the largest changes first; at most 100,000 an array.
        rounded: by array, how many elements a program only rounded, and the largest relative change; these are no
            edits.
        recalculated: by column of a table, how many formulas are the same and have another result; these are no edits.
        unreadable: the cells that cannot be read, such as a blank or `n/a`.
        arrays: the arrays that were added, deleted, renamed or reshaped, or have another dtype or order.
        explanations: by array, the one change of all its elements, such as a factor.
        labels: sentences on dimensions, attributes and indexes that differ.
        remarks: the cells beside the arrays, or around a table, that hold another text now.

    Example:
        >>> import numpy as np
        >>> from sheetarray import diff
        >>> changes = diff({"t": np.array([1.0, 2.0, 3.0])}, {"t": np.array([1.0, 2.5, 3.0])})
        >>> changes
        1 element changed in t
        t: 1 of 3 elements differs (33 %), by at most 0.5 (relative 0.2)
          t[1]: 2.0 -> 2.5
        >>> [(edit.array, edit.index, float(edit.before), float(edit.after)) for edit in changes.edited]
        [('t', (1,), 2.0, 2.5)]
    """

    def __init__(self, differences: Differences) -> None:
        self._differences = differences

    def __bool__(self) -> bool:
        differences = self._differences
        keeps_labels = all(
            side.labels is not None for side in differences.sides
        )  # a format that keeps none is no difference
        names = differences.added or differences.deleted or differences.renamed
        return bool(
            names
            or differences.title_texts
            or differences.remarks
            or differences.sorted_rows
            or (differences.label_texts and keeps_labels)
            or not all(comparison.same and not comparison.recalculated for comparison in differences.comparisons)
        )

    @cached_property
    def rows(self) -> list[ChangedRows]:
        """The rows that were added, deleted or moved, for each group of arrays that share rows."""
        sorted_by = {name: table for table in self._differences.sorted_rows for name in table.names}
        groups: dict[Any, list[str]] = {}
        alignments = {}
        for comparison in self._differences.comparisons:
            for aligned in comparison.row_maps:
                order = aligned.pairs[1].tobytes()
                key = (aligned.axis, tuple(aligned.deleted), tuple(aligned.added), order)
                groups.setdefault(key, []).append(comparison.name)
                alignments[key] = aligned
        changed = []
        for key, names in groups.items():
            aligned = alignments[key]
            now = aligned.pairs[1]
            moved = np.sort(now[np.argsort(np.argsort(now)) != np.arange(len(now))]).tolist()
            table = sorted_by.get(names[0])
            by = table.by if table is not None else None
            changed.append(ChangedRows(names, aligned.axis, aligned.added, aligned.deleted, moved, by))
        return changed

    @cached_property
    def edited(self) -> list[EditedElement]:
        """The elements that are others now, the largest changes of each array first."""
        return [
            self._edit(comparison.name, element)
            for comparison in self._differences.comparisons
            for element in comparison.first
        ]

    @cached_property
    def rounded(self) -> dict[str, RoundedElements]:
        """How many elements a program only rounded, by array."""
        return {
            comparison.name: RoundedElements(comparison.noise, comparison.noise_relative)
            for comparison in self._differences.comparisons
            if comparison.noise
        }

    @property
    def recalculated(self) -> dict[str, int]:
        """The number of formulas, by column, that are the same and have another result."""
        return {entry.name: entry.recalculated for entry in self._differences.comparisons if entry.recalculated}

    @cached_property
    def unreadable(self) -> list[UnreadableCell]:
        """The cells that cannot be read."""
        return [
            UnreadableCell(comparison.name, index, side, value.location, value.reason)
            for comparison in self._differences.comparisons
            for element in comparison.unreadable
            for side, index, value in _list_sides(element)
            if isinstance(value, FormatError)
        ]

    @cached_property
    def arrays(self) -> list[ChangedArray]:
        """The arrays that changed as a whole."""
        differences = self._differences
        changed = [ChangedArray(name, "added") for name in differences.added]
        changed += [ChangedArray(name, "deleted") for name in differences.deleted]
        changed += [ChangedArray(name, "renamed", before, name) for before, name in differences.renamed.items()]
        for comparison in differences.comparisons:
            if comparison.is_reshaped:
                changed.append(ChangedArray(comparison.name, "reshaped", *comparison.shapes))
            if comparison.dtypes[0] != comparison.dtypes[1]:
                changed.append(ChangedArray(comparison.name, "dtype", *comparison.dtypes))
            elif not comparison.compared:
                changed.append(ChangedArray(comparison.name, "other"))
            if comparison.orders[0] != comparison.orders[1] and comparison.shapes[0] == comparison.shapes[1]:
                changed.append(ChangedArray(comparison.name, "order", *comparison.orders))
        return changed

    @cached_property
    def explanations(self) -> dict[str, str]:
        """The change that all elements of an array have undergone alike, such as a factor, by array."""
        return {
            comparison.name: comparison.explanation
            for comparison in self._differences.comparisons
            if comparison.explanation is not None
        }

    @property
    def labels(self) -> list[str]:
        """Sentences on labels that differ."""
        return self._differences.label_texts

    @property
    def remarks(self) -> list[Remark]:
        """The cells beside the arrays, or around a table, that hold another text now."""
        return self._differences.remarks

    def __repr__(self) -> str:
        return "\n".join(self._list_texts())

    def _repr_html_(self) -> str:
        first, *rest = map(html.escape, self._list_texts())
        lines = "\n".join(rest)
        return f"<p>{first}</p>" + (f'<pre dir="auto">{lines}</pre>' if rest else "")

    def _list_texts(self) -> list[str]:
        """Return a summary, then at most 20 lines; what might steer a terminal is escaped."""
        count = count_noun(len(self._differences.comparisons), "array")
        if not self and not self.labels:
            return [f"no differences ({count})"]
        lines = [line.to_text() for line in list_lines(self._differences, everything=False, most=_MOST_LINES)[0]]
        if (left := len(lines) - _MOST_LINES) > 0:
            lines[_MOST_LINES - 1 :] = [f"and {left + 1:,} more lines"]
        tables = [table.to_text() for table in self._differences.sorted_rows]
        summary = "; ".join(filter(None, [*tables, summarise(self._differences)])) or f"no differences ({count})"
        return [escape_controls(text) for text in (summary, *lines)]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it; `sheetarray diff --json` prints it."""
        differences = self._differences
        first, second = differences.sides
        return {
            "a": first.label,
            "b": second.label,
            "only_in_a": differences.deleted,
            "only_in_b": differences.added,
            "renamed": differences.renamed,
            "arrays": [self._comparison_to_json(comparison) for comparison in differences.comparisons],
            "same": not self,
            "labels": differences.label_texts,
            "titles": differences.title_texts,
            "remarks": [{"cell": remark.cell, "text": remark.text} for remark in differences.remarks],
            "sorted": [
                {"by": table.by, "arrays": list(table.names), "rows": table.order.tolist()}
                for table in differences.sorted_rows
            ],
        }

    def _edit(self, name: str, element: DifferingElement) -> EditedElement:
        labels = self._differences.label(name, element)
        cells = self._differences.find_cells(name, element)
        return EditedElement(name, element.index, labels, element.a, element.b, element.index_in_a, *cells)

    def _comparison_to_json(self, one: Comparison) -> dict[str, Any]:
        aligned = one.row_maps[0] if one.row_maps else None
        return {
            "name": one.name,
            "same": one.same,
            "dtype": list(one.dtypes),
            "order": list(one.orders),
            "shape": [list(shape) for shape in one.shapes],
            "compared": one.compared and one.shapes[0] == one.shapes[1],
            "elements": one.elements,
            "axis": aligned and aligned.axis,
            "rows_deleted": aligned.deleted if aligned else [],
            "rows_inserted": aligned.added if aligned else [],
            "differing": one.differing,
            "recalculated": one.recalculated,
            "noise": one.noise,
            "noise_relative": one.noise_relative,
            "listed": len(one.first),
            "signs_of_zero": one.signs,
            "unreadable": [self._element_to_json(one.name, cell) for cell in one.unreadable[:MOST_LISTED]],
            "explanation": one.explanation,
            "largest_absolute": _to_finite(one.absolute),
            "largest_relative": _to_finite(one.relative),
            "first": [self._element_to_json(one.name, element) for element in one.first],
        }

    def _element_to_json(self, name: str, element: DifferingElement) -> dict[str, Any]:
        values = {
            side: {"location": value.location, "problem": value.reason}
            if isinstance(value, FormatError)
            else to_json_cells(np.asarray(value))
            for side, value in (("a", element.a), ("b", element.b))
        }
        where = {"index": list(element.index), "index_in_a": list(element.index_in_a)}
        labels = {"labels": self._differences.label(name, element)}
        cells = dict(zip(("cell_in_a", "cell_in_b"), self._differences.find_cells(name, element), strict=True))
        return {"element": name_element(name, element.index), **where, **labels, **cells, **values}


def _list_sides(element: DifferingElement) -> Sequence[tuple[Literal["before", "after"], tuple[int, ...], Any]]:
    return ("before", element.index_in_a, element.a), ("after", element.index, element.b)


def _to_finite(value: float | None) -> int | float | str | None:
    return value if value is None or math.isfinite(value) else "Infinity"
