"""What became of the arrays of recorded tables since they were written, as `check` says it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..changes.compare import Comparison, compare_with_written
from ..changes.findings import describe_changes
from ..changes.row_groups import GroupedRows, LabelGroup, map_rows
from ..columns.unreadable import join_rows
from ..dtypes import Array
from ..errors import Finding, FormatError, may_be_table
from ..labels import DatasetLabels
from ..labels.places import find_labels, list_levels
from .recorded_tables import RecordedTable, open_recorded
from .table_areas import RecordedPlace, WrittenColumns

_HINT = "sa.accept takes the change, and read_columns reads the table as it is"

_TOTALS_HINT = "delete its word to read it as data; formulas such as =SUM(B2:B9) follow the rows"


def _check_tables(
    places: Sequence[RecordedPlace],
    snapshots: WrittenColumns | None,
    judge: Callable[[RecordedTable], Iterator[Finding]] | None,
) -> Iterator[Finding]:
    """Yield a finding for each change of a recorded table, and for each of its cells that cannot be read."""
    for place in places:
        try:
            (table,) = open_recorded([place], snapshots)
            yield from _check_table(table, judge or _find_contradictions)
            if totals := place.address_of_totals:
                yield Finding(
                    "warning", totals, "this row holds totals of the rows above, and is left out", _TOTALS_HINT
                )
        except FormatError as error:
            yield replace(Finding.from_error(error), hint=error.hint or _HINT)


def check_with_tables(
    places: Sequence[RecordedPlace],
    findings: Iterable[Finding],
    snapshots: WrittenColumns | None = None,
    judge: Callable[[RecordedTable], Iterator[Finding]] | None = None,
) -> Iterator[Finding]:
    """Yield findings about the arrays of a container, and then about those of its recorded tables; each on its own.

    `findings`: about other arrays, or that there are none. `judge`: yields what is known of a table that has no
    snapshot; None for what contradicts its record.
    """
    for finding in findings:
        if not places or not may_be_table(finding.message):
            yield finding
    yield from _check_tables(places, snapshots, judge)


def _check_table(table: RecordedTable, judge: Callable[[RecordedTable], Iterator[Finding]]) -> Iterator[Finding]:
    yield from _find_other_columns(table)
    if table.unreadable_labels:
        yield from join_rows(table.errors)
        return
    if table.words is not None:
        yield table.words
    elements = table.unreadable_elements  # names the errors by their elements
    yield from join_rows(table.errors)
    table.check_columns()
    if not table.written:
        yield from judge(table)
        return
    comparisons, grouped, pairs = compare_table(table, elements)
    yield from describe_changes(comparisons, grouped, pairs, _TablePlaces(table))


def _find_other_columns(table: RecordedTable) -> Iterator[Finding]:
    """Yield what became of the columns of a table: those that were renamed or deleted."""
    note = table.note
    for name, before in note.old_names.items():
        if name in note.places and note.old_coords_beside:
            continue  # it is named after a label, which is an element
        array, _ = note.places.get(name, (name, 0))
        message = f"the column {name!r:.80} was written under the name {before!r:.80}, and renamed since"
        yield Finding("warning", table.name_cell(name), message, _HINT, array=array)
    for name in note.gone:
        if name not in note.dtypes:
            message = f"the column {name!r:.80} is gone, and its array with it"
            yield Finding("error", table.title, message, _HINT, array=name)


def _find_contradictions(table: RecordedTable) -> Iterator[Finding]:
    """Yield what contradicts the record of a table: other rows, or other labels."""
    try:
        table.check_rows()
        table.check_labels()
    except FormatError as error:
        yield Finding.from_error(error)


def compare_table(
    table: RecordedTable, unreadable: Mapping[str, Array]
) -> tuple[list[Comparison], GroupedRows, dict[str, tuple[Array, Array]]]:
    """Return what became of the arrays of a table that has a snapshot, which row is which, and the arrays.

    `unreadable`: the errors of its elements, by array.
    """
    (arrays, labels), before = table.stacked, table.stacked_as_written
    pairs = {name: (before[name], arrays[name]) for name in arrays if name in before}
    variables = {name: labels.find(name) for name in pairs}
    places = {name: variable.dims[:1] if variable is not None else () for name, variable in variables.items()}
    groups, tables = _list_groups(labels, pairs), {*places.values()}
    grouped = map_rows(pairs, groups, unreadable=unreadable, places=places, tables=tables)
    return compare_with_written(pairs, grouped, unreadable), grouped, pairs


def _list_groups(labels: DatasetLabels, pairs: Mapping[str, tuple[Array, Array]]) -> list[LabelGroup]:
    """Return the arrays whose rows are identified by labels, by dimension."""
    axes: dict[str, dict[str, int]] = {}
    for name in pairs:
        variable = labels.find(name)
        for axis, dim in enumerate(variable.dims if variable is not None else ()):
            axes.setdefault(dim, {})[name] = axis
    groups = []
    for dim, own in axes.items():
        levels = [*list_levels(labels, dim)]
        if all(level in pairs and pairs[level][0].ndim == pairs[level][1].ndim == 1 for level in levels):
            groups.append(LabelGroup(levels, own))
    return groups


class _TablePlaces:
    """Where elements and rows of the arrays of a table stand, and how people call them."""

    def __init__(self, table: RecordedTable) -> None:
        self._table = table
        self._arrays, self._labels = table.stacked

    def find_cell(self, name: str, index: Sequence[int]) -> str | None:
        """Return the address of the first cell of an element."""
        return self._table.find_cell(name, index)

    def name_element(self, name: str, index: Sequence[int]) -> str:
        """Return an element as messages call it, such as `t[2, 0]`."""
        return f"{name}[{', '.join(map(str, index))}]" if index else name

    def find_index(self, name: str, index: Sequence[int]) -> tuple[int, ...] | None:
        """Return the index of an element in its array."""
        return tuple(index) if name in self._arrays else None

    def find_labels(self, name: str, index: Sequence[int]) -> Sequence[str]:
        """Return the labels of an element."""
        return [f"{text:.40}" for text in find_labels(self._labels, self._arrays, name, index).values()]

    def find_row(self, names: Sequence[str], row: int) -> int | None:
        """Return the row of the sheet in which a row of arrays stands; None unless it is one row for all of them."""
        rows = self._table.columns.list_rows() if self._table.places.are_counted else []
        return rows[row] + 1 if row < len(rows) and all(self._arrays[name].ndim == 1 for name in names) else None

    def has_other_header(self, name: str) -> bool:
        """Return whether reading the array takes `resize=True`."""
        return name in self._arrays and self._table.has_other_rows
