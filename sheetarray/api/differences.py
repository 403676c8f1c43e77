"""All that was found in a comparison of two sources, and what is known of them beside their elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ..changes.compare import Comparison, DifferingElement
from ..changes.conflicts import Remark
from ..changes.sorted_rows import SortedRows
from ..columns import ArrayInfo
from ..dtypes import Array
from ..labels import DatasetLabels
from ..labels.places import find_cell, find_labels, label_at


class KeyLabels(NamedTuple):
    """The key by which the rows of an array belong together."""

    columns: Mapping[str, Array]  # the arrays of the key, by name
    axis: int  # of the array, along which they label rows


@dataclass
class SideFacts:
    """What is known of one source of a comparison, beside its elements."""

    label: str  # how messages call it
    scan: Callable[[], Mapping[str, ArrayInfo]]  # returns the infos of its arrays; none where there is no sheet
    labels: DatasetLabels | None  # None if it keeps none
    levels: dict[str, Any] = field(default_factory=dict)  # the arrays that label elements, by name
    keys: dict[str, KeyLabels] = field(default_factory=dict)  # by which rows belong together, by array
    # the names in their sheets of arrays that have the title before their name
    short_names: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def infos(self) -> Mapping[str, ArrayInfo]:
        """The infos of its arrays, by name; a source is scanned when somebody asks for them first."""
        return self.scan()

    def find_row_cell(self, name: str, row: int) -> str | None:
        """Return the address of the cell of an array of one dimension; None where nobody knows."""
        return find_cell(self.infos.get(name), (row,))

    def find_labels(self, name: str, index: Sequence[int]) -> dict[str, str]:
        """Return the labels of an element; without any those of its row by the key."""
        labels = find_labels(self.labels, self.levels, name, index)
        if not labels and (key := self.keys.get(name)) is not None:
            columns = {level: column for level, column in key.columns.items() if level != name}
            labels = {level: label_at(column, index[key.axis]) for level, column in columns.items()}
        return {self.short_names.get(level, level): label for level, label in labels.items()}


@dataclass(slots=True)
class Differences:
    """All that was found in a comparison; `Changes` shows it to people."""

    sides: tuple[SideFacts, SideFacts]
    comparisons: list[Comparison]
    sorted_rows: list[SortedRows]
    added: list[str]  # arrays that only the second source has
    deleted: list[str]  # arrays that only the first source has
    renamed: dict[str, str]  # the name now of arrays that have another one, by the name before
    label_texts: list[str]  # sentences on labels that differ
    title_texts: list[str] = field(default_factory=list)  # sentences on sheets with another title
    remarks: list[Remark] = field(default_factory=list)  # cells beside the arrays that hold another text now

    def label(self, name: str, element: DifferingElement) -> dict[str, str]:
        """Return the labels of an element as they are now; as they were, where the second source keeps none."""
        first, second = self.sides
        return second.find_labels(name, element.index) or first.find_labels(name, element.index_in_a)

    def find_cells(self, name: str, element: DifferingElement) -> tuple[str | None, str | None]:
        """Return the addresses of the cells of an element, before and after."""
        first, second = self.sides
        before = find_cell(first.infos.get(name), element.index_in_a)
        return before, find_cell(second.infos.get(name), element.index)
