"""Describes changes as findings: first the rows, then the elements with labels and their values before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..dtypes import Array
from ..elements import label_text
from ..errors import Finding
from .compare import Comparison, DifferingElement
from .row_groups import GroupedRows, describe_rows
from .rows import RowMap
from .wording import MOST_NAMED, count_noun, format_change

_MOST_ELEMENTS, _MOST_ROWS = 20, 20  # of an array, or of arrays that share rows, that are named
_MOST_GONE, _MOST_IN_ROW = 3, 4  # deleted rows whose values are shown, and elements of each
_MOST_MOVED = 5  # rows that are named, unless they are sorted
TAKE_OR_UNDO = "sa.accept takes the change, sa.restore gives back what was written"
TAKE_ROWS = f"resize=True reads them; {TAKE_OR_UNDO}"


class Places(Protocol):
    """Where elements and rows of arrays stand, and how people call them."""

    def find_cell(self, name: str, index: Sequence[int]) -> str | None:
        """Return the address of the cell of an element."""

    def name_element(self, name: str, index: Sequence[int]) -> str:
        """Return an element as messages call it, such as `t[2, 0]`."""

    def find_index(self, name: str, index: Sequence[int]) -> tuple[int, ...] | None:
        """Return the index of an element in its array; None where the array skips it."""

    def find_labels(self, name: str, index: Sequence[int]) -> Sequence[str]:
        """Return the labels of an element."""

    def find_row(self, names: Sequence[str], row: int) -> int | None:
        """Return the row of the sheet in which a row of arrays stands; None unless it is one row for all of them."""

    def has_other_header(self, name: str) -> bool:
        """Return whether the header of an array does not have the length that its cells have."""


@dataclass(frozen=True, slots=True)
class RowLabels:
    """The labels of rows that share arrays, before and now."""

    name: str | None  # of the array that has them; None if no array does
    before: Array
    now: Array

    def of(self, row: int, *, is_now: bool) -> str:
        """Return the label of a row; "" if it has no label."""
        labels = self.now if is_now else self.before
        return f"{label_text(labels[row]):.40}" if self.name is not None and row < len(labels) else ""


def find_row_labels(names: Sequence[str], pairs: Mapping[str, tuple[Any, Any]]) -> RowLabels:
    """Return the labels of the rows of some arrays: those of the first array of dates without NaT, or else of texts."""
    lone = [name for name in names if all(array.ndim == 1 for array in pairs[name])]
    for kinds in ("M", "UT"):
        for name in lone:
            if pairs[name][0].dtype.kind in kinds and not any(_has_nat(array) for array in pairs[name]):
                return RowLabels(name, *pairs[name])
    return RowLabels(None, np.empty(0), np.empty(0))


def _has_nat(array: Array) -> bool:
    return array.dtype.kind == "M" and bool(np.isnat(array).any())


def describe_changes(
    comparisons: Sequence[Comparison], grouped: GroupedRows, pairs: Mapping[str, tuple[Any, Any]], places: Places
) -> Iterator[Finding]:
    """Yield a finding for each change: rows that came, went or moved, once for all arrays, then each edited element.

    `comparisons`: of arrays as they were and as they are. `grouped`: which row is which. `pairs`: the arrays. `places`:
    where they stand.
    """
    groups: dict[Any, list[Comparison]] = {}
    for comparison in comparisons:
        for rows in comparison.row_maps[:1]:
            key = rows.count, len(rows.sources), tuple(rows.added), tuple(rows.deleted)
            groups.setdefault(key, []).append(comparison)
    for group in groups.values():
        yield from _describe_rows(group, pairs, places)
    for table in grouped.sorted_rows:
        yield _describe_order(table.names, table.by, table.to_text(), grouped.maps[table.names[0]][0], places)
    labels_of = _find_labels_by_length(comparisons, pairs)
    for comparison in comparisons:
        labels = labels_of.get(comparison.shapes[1][:1]) or find_row_labels([], pairs)
        yield from _describe_elements(comparison, labels, places)


def _find_labels_by_length(
    comparisons: Sequence[Comparison], pairs: Mapping[str, tuple[Any, Any]]
) -> dict[tuple[int, ...], RowLabels]:
    """Return the labels of the rows of arrays, by the number of their rows."""
    names: dict[tuple[int, ...], list[str]] = {}
    for comparison in comparisons:
        if len(comparison.shapes[1]) == 1:
            names.setdefault(comparison.shapes[1], []).append(comparison.name)
    return {shape: find_row_labels(of_shape, pairs) for shape, of_shape in names.items()}


def _describe_rows(
    group: Sequence[Comparison], pairs: Mapping[str, tuple[Any, Any]], places: Places
) -> Iterator[Finding]:
    """Yield a finding for the rows that were added to arrays, and one for those that were deleted."""
    names = [comparison.name for comparison in group]
    rows = group[0].row_maps[0]
    labels = find_row_labels(names, pairs)
    where = names[0] if len(names) == 1 else count_noun(len(names), "array")
    for numbers, verb in ((rows.deleted, "deleted"), (rows.added, _name_addition(rows))):
        if not numbers:
            continue
        is_now = verb != "deleted"
        said = _name_rows(numbers)
        in_sheet = [places.find_row(names, number) for number in numbers[:_MOST_ROWS]]
        numbers_known = [number for number in in_sheet if number is not None]
        beside = (
            [f"{_name_rows(numbers_known)} of the sheet"]
            if len(numbers_known) == len(in_sheet) and numbers_known
            else []
        )
        ends = dict.fromkeys(labels.of(number, is_now=is_now) for number in (numbers[0], numbers[-1]))
        beside += [" to ".join(ends)] if all(ends) else []
        place = f" ({', '.join(beside)})" if beside else ""
        gone = "" if is_now else _describe_gone(group, numbers, labels.name)
        hint = TAKE_ROWS if any(map(places.has_other_header, names)) else TAKE_OR_UNDO
        index = _first_index(group[0], numbers[0])
        array = names[0] if len(names) == 1 else None
        yield Finding(
            "error", places.find_cell(names[0], index), f"{said} {verb} in {where}{place}{gone}", hint, array=array
        )


def _name_addition(rows: RowMap) -> str:
    """Return the verb for rows that were added."""
    is_end = rows.added == list(range(len(rows.sources) - len(rows.added), len(rows.sources)))
    return "appended" if is_end else "inserted"


def _name_rows(numbers: Sequence[int]) -> str:
    """Return rows as people say them: `row 3`, `rows 3 to 5`, `rows 3, 7`."""
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return describe_rows(list(numbers))
    more = len(numbers) - _MOST_ROWS
    return f"rows {', '.join(map(str, numbers[:_MOST_ROWS]))}" + (f" and {more:,} more" if more > 0 else "")


def _first_index(comparison: Comparison, row: int) -> tuple[int, ...]:
    axis = comparison.row_maps[0].axis
    return tuple(row if place == axis else 0 for place in range(len(comparison.shapes[1])))


def _describe_gone(group: Sequence[Comparison], numbers: Sequence[int], labelled: str | None) -> str:
    """Return the values of the first deleted rows; those of the array that labels them are named already."""
    texts = []
    for number in numbers[:_MOST_GONE]:
        values = [
            f"{comparison.name:.60} {describe_row(comparison.rows_gone[0][number])}"
            for comparison in group
            if comparison.name != labelled and number in comparison.rows_gone[0]
        ]
        more = len(values) - MOST_NAMED
        values = values[:MOST_NAMED] + ([count_noun(more, "more array")] if more > 0 else [])
        if values:
            texts.append(f"{'it' if len(numbers) == 1 else f'row {number}'} was {', '.join(values)}")
    more = len(numbers) - _MOST_GONE
    texts += [f"and {count_noun(more, 'more row')}"] if texts and more > 0 else []
    return f": {'; '.join(texts)}" if texts else ""


def describe_row(elements: Array) -> str:
    """Return the text of the elements of a row; of a long row, only the first.

    Example:
        >>> describe_row(np.arange(6.0))
        '0.0 1.0 2.0 3.0 .. (6 elements)'
    """
    shown = elements[:_MOST_IN_ROW]
    texts = map(label_text, shown) if elements.dtype.kind in "mM" else map(repr, shown.tolist())
    more = f" .. ({len(elements):,} elements)" if len(elements) > _MOST_IN_ROW else ""
    return " ".join(f"{text:.60}" for text in texts) + more


def _describe_order(names: Sequence[str], by: str | None, text: str, rows: RowMap, places: Places) -> Finding:
    """Return the finding that rows stand in another order."""
    moved = np.flatnonzero(rows.moved).tolist()
    first = places.find_cell(names[0], [0] * (rows.axis + 1)) if rows.axis == 0 else None
    if by is None and len(moved) <= _MOST_MOVED:
        where = names[0] if len(names) == 1 else count_noun(len(names), "array")
        text = f"{_name_rows(moved)} moved in {where}"
        numbers_known = [number for number in (places.find_row(names, row) for row in moved) if number is not None]
        text += f" ({_name_rows(numbers_known)} of the sheet)" if len(numbers_known) == len(moved) else ""
    return Finding("error", first or names[0], text, TAKE_OR_UNDO, array=names[0] if len(names) == 1 else None)


def _describe_elements(comparison: Comparison, labels: RowLabels, places: Places) -> Iterator[Finding]:
    """Yield a finding for each edited element of an array, or one where a single change explains them all."""
    name = comparison.name
    if comparison.is_reshaped:
        what = f"{comparison.shapes[0]} before and {comparison.shapes[1]} now"
        hint = TAKE_ROWS if places.has_other_header(name) else TAKE_OR_UNDO
        text = comparison.explanation or "rows were added or deleted, and most elements are others"
        yield Finding("error", name, f"{text}: {what}", hint, array=name)
        return
    if comparison.explanation is not None:
        yield Finding("error", name, comparison.explanation, TAKE_OR_UNDO, array=name)
        return
    shown = sorted(comparison.first, key=lambda element: element.index)[:_MOST_ELEMENTS]
    for element in shown:
        yield _describe_element(name, element, labels, places)
    if (more := comparison.differing - comparison.noise - len(shown)) > 0:
        text = f"{count_noun(more, 'more element')} of {comparison.elements:,} edited"
        yield Finding("error", name, text, TAKE_OR_UNDO, array=name)


def _describe_element(name: str, element: DifferingElement, row_labels: RowLabels, places: Places) -> Finding:
    labels = places.find_labels(name, element.index)
    if not labels and element.index and row_labels.name not in (None, name):
        labels = [label] if (label := row_labels.of(element.index[0], is_now=True)) else []
    beside = f" ({', '.join(labels)})" if labels else ""
    message = f"{places.name_element(name, element.index)}{beside}: {format_change(element.a, element.b)}"
    cell, index = places.find_cell(name, element.index) or name, places.find_index(name, element.index)
    return Finding("error", cell, message, TAKE_OR_UNDO, array=name, index=index)
