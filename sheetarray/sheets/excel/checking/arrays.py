"""What `check` says of the arrays of a workbook: what became of them since they were written.

Their snapshots tell that, or their checksums alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property

from ....changes.evidence import Evidence
from ....changes.findings import TAKE_OR_UNDO, describe_changes
from ....columns import ArrayColumn, RowChange
from ....dtypes import Array, Buffer, Positions
from ....errors import Finding
from ....labels import NAME as LABELS
from ....labels import DatasetLabels, parse_label_column
from ....labels.places import find_labels
from ....linear.buffers import view_of
from ....linear.resizing import count_rows
from ..checksums.record import exact_checksum
from ..checksums.verdict import compare_with_checksums, describe_rounding, find_changed
from ..guard.snapshots import Snapshots
from ..guard.written import PresentArray, WrittenArrays, is_edited
from ..reader.formulas import FormulaCells
from ..workbook import Workbook
from ..worksheet import ExcelSheet
from .formulas import lint_formulas
from .views import ViewFindings

_RENAMED_HINT = "write the array again to store its checksums under the new name"
_MOST_NAMED = 5  # arrays without a record that are named


class CheckedArrays:
    """The arrays that stand in some sheets of a workbook, beside what they were when they were written.

    An array without a snapshot is judged by its checksums at once; those with one are compared at the end.

    Attributes:
        changes: the findings about arrays that are not as they were written, as far as they were yielded.
        views: the findings about the views of the workbook.
        unknown: the names of arrays that the record does not have.
    """

    def __init__(self, book: Workbook, sheets: Sequence[ExcelSheet], snapshots: Snapshots) -> None:
        self._book, self._checksums, self._snapshots = book, book.checksums, snapshots
        self._written = WrittenArrays(book, snapshots)
        self.changes: list[Finding] = []
        self.views = ViewFindings(book)
        self._array_labels: Array | None = None
        self._met: set[str] = set()  # the names of arrays that are here, or whose elements are
        self.unknown: list[str] = []
        self._others: dict[str, str] = {}  # names under which the elements of arrays were written
        self._formulas = {sheet.title or "": FormulaCells() for sheet in sheets}
        for sheet in sheets:
            sheet.formulas = self._formulas[sheet.title or ""]

    def judge(
        self, name: str, buffer: Buffer | None, column: ArrayColumn, unreadable: Positions
    ) -> Iterator[Finding | RowChange]:
        """Yield findings about an array that has checksums alone, and that its rows are told later if it has more.

        `unreadable`: the elements whose cells cannot be read, by their places in the buffer.
        """
        if buffer is not None:
            self._met.add(name)
            if name == LABELS and len(buffer) == column.header.capacity:
                self._array_labels = view_of(column.header, buffer)
            own = self._written.take(name, buffer, column, unreadable) if self._snapshots.sheets else None
            findings: Iterable[Finding | RowChange] = ()
            if own is not None:
                findings = self._tell_of(name, own.evidence, column)
            elif name in self._written.standing or len(unreadable):
                pass  # as it was written; or checksums cannot tell what the other elements were
            elif column.header != column.written:
                findings = self._compare_rows(name, buffer, column)
            else:
                findings = self._compare_with_checksums(name, buffer, column)
            for finding in findings:
                if isinstance(finding, Finding):
                    self.changes.append(finding := replace(finding, array=name))
                yield finding
        if self._book.views.editable or self._book.views.changed:
            yield from self.views.find_unlinked(name, column, self._formulas)
        if any(self._formulas.values()):
            yield from lint_formulas(name, column, self._formulas)

    def _tell_of(self, name: str, evidence: Evidence, column: ArrayColumn) -> Iterator[Finding | RowChange]:
        """Yield findings about the name and the header of an array that has a snapshot."""
        self._met.add(evidence.name)
        if evidence.name != name:
            yield self._note_other_name(name, evidence.name, is_there=evidence.name in self._snapshots.names_present)
        yield RowChange(is_told=True)
        if is_edited(evidence, column.header):
            reason = "its shape, strides, offset or order was edited in the header since it was written"
            yield Finding("error", name, reason, TAKE_OR_UNDO, array=name)
        column.pieces = ()  # nobody asks for the cells any more

    def _compare_rows(self, name: str, buffer: Buffer, column: ArrayColumn) -> Iterator[Finding | RowChange]:
        """Yield that rows were added to an array or deleted from it, and the finding that the others were rounded.

        Rows at the end are known as such where the elements before them are those that were written.
        """
        written = column.written
        record, rows = self._checksums.record_of(name, column.group[0].title or ""), count_rows(written)
        if record is None or rows is None:
            self.unknown += [name] if record is None else []
        elif record.dtype != written.dtype.name or record.count != written.capacity:
            yield from compare_with_checksums(record, written, buffer, name, column.element_address)
        elif len(buffer) < record.count:
            yield RowChange()
        else:
            is_exact = exact_checksum(buffer[: record.count], written.dtype) == record.exact
            digits = 0 if is_exact else find_changed(record, written, buffer)[0]
            yield RowChange(is_appended=is_exact or bool(digits), is_exact=is_exact)
            if digits:
                yield describe_rounding(name, written, digits)

    def _compare_with_checksums(self, name: str, buffer: Buffer, column: ArrayColumn) -> Iterator[Finding]:
        """Yield the findings about an array by its checksums, or by those of another array with its elements."""
        header, address = column.header, column.element_address
        record = self._checksums.record_of(name, column.group[0].title or "")
        findings = [] if record is None else list(compare_with_checksums(record, header, buffer, name, address))
        if record is not None and (not findings or findings[-1].severity == "warning"):
            yield from findings
            return
        if (other := self._checksums.find_other_name(name, header, buffer)) is not None:
            finding = self._note_other_name(name, other, is_there=True)
            findings = [finding] if record is not None else []
        elif record is None:
            self.unknown.append(name)
        yield from findings

    def _note_other_name(self, name: str, other: str, *, is_there: bool) -> Finding:
        """Return the finding that the elements of an array were written under another name.

        `is_there`: whether there is an array of the other name too.
        """
        if is_there:
            self._others[name] = other
            reason = f"has the elements that were written as {other!r:.80}"
            return Finding("error", name, reason, "restore it from a copy of the file, or write the arrays again")
        self._met.add(other)
        reason = f"was written under the name {other!r:.80}, and renamed since"
        return Finding("warning", name, reason, _RENAMED_HINT, array=name)

    def compare(self) -> Iterator[Finding]:
        """Yield findings about all arrays with snapshots: their rows, then their elements."""
        changes = self._written.compare()
        if changes.comparisons:
            labels = None if self._array_labels is None else parse_label_column(self._array_labels, _ignore, _ignore)
            places = _SheetPlaces(self._written.standing, labels)
            for finding in describe_changes(changes.comparisons, changes.grouped, changes.pairs, places):
                self.changes.append(finding)
                yield finding

    def simplify_exchange(self, finding: Finding) -> Finding:
        """Return a finding, put more simply where two arrays have exchanged their elements."""
        name = finding.location
        other = self._others.get(name) if name is not None else None
        if other is None or self._others.get(other) != name or "were written as" not in finding.message:
            return finding
        return replace(finding, message=f"exchanged with {other!r:.80}: has the elements that were written there")

    def describe_unknown(self) -> Finding:
        """Return the finding that some arrays, or all, have no checksums."""
        if not self._checksums.of_sheets:
            reason = "the workbook has no record of its arrays: rounded, edited and moved elements cannot be found"
            hint = (
                "pandas, exceljs and LibreOffice's .xls leave the record out when they save; arrays that sheetarray "
                "writes to .xlsx have one"
            )
            return Finding("warning", None, reason, hint)
        names = ", ".join(f"{name!r:.80}" for name in self.unknown[:_MOST_NAMED])
        more = len(self.unknown) - _MOST_NAMED
        names += f" and {more} more" if more > 0 else ""
        place = self.unknown[0] if len(self.unknown) == 1 else None
        reason = f"the workbook has no record of {names}, only of other arrays: edited elements cannot be found"
        hint = "the array was renamed, or another program wrote it; write it again"
        return Finding("warning", place, reason, hint, array=place)

    def find_missing(self, titles: Set[str]) -> Iterator[Finding]:
        """Yield a warning for each array that has checksums, but is no longer in the workbook under its name.

        `titles`: those of the sheets whose arrays are looked for.
        """
        renamed = {other: name for name, other in self._others.items() if other not in self._met}
        for title, arrays in self._checksums.of_sheets.items():
            for name in arrays if title in titles else ():
                if name in renamed:
                    reason = f"was written under the name {name!r:.80}, and renamed since"
                    yield Finding("warning", renamed[name], reason, _RENAMED_HINT, array=renamed[name])
                elif name not in self._met:
                    reason = f"is gone: it was written to the sheet {title!r:.80}, and was deleted or renamed since"
                    hint = "a renamed array is not compared with what was written"
                    yield Finding("warning", name, reason, hint, array=name)


def _ignore(_: object) -> None:
    """Ignore damage of the labels, which other findings tell of."""


class _SheetPlaces:
    """Where elements and rows of arrays stand in the sheets of a workbook, and how people call them."""

    def __init__(self, arrays: Mapping[str, PresentArray], labels: DatasetLabels | None) -> None:
        self._arrays, self._labels = arrays, labels

    @cached_property
    def _levels(self) -> dict[str, Array]:
        return {name: view_of(array.header, array.buffer) for name, array in self._arrays.items() if name != LABELS}

    def find_cell(self, name: str, index: Sequence[int]) -> str | None:
        """Return the address of the cell of an element."""
        array = self._arrays[name]
        if array.is_odd:
            return array.column.element_address(index[0])
        steps = zip(index, array.header.strides, strict=False)
        return array.column.element_address(array.header.offset + sum(step * stride for step, stride in steps))

    def name_element(self, name: str, index: Sequence[int]) -> str:
        """Return an element as messages call it, such as `t[2, 0]`."""
        header = self._arrays[name].header
        position = index[0] if self._arrays[name].is_odd else None
        if position is None:
            return f"{name}[{', '.join(map(str, index))}]" if index else name
        return header.describe_element(name, position)

    def find_index(self, name: str, index: Sequence[int]) -> tuple[int, ...] | None:
        """Return the index of an element in its array; None where the array skips it."""
        array = self._arrays[name]
        return array.header.index_at(index[0]) if array.is_odd else tuple(index)

    def find_labels(self, name: str, index: Sequence[int]) -> Sequence[str]:
        """Return the labels of an element."""
        if self._labels is None or self._arrays[name].is_odd:
            return ()
        return [f"{text:.40}" for text in find_labels(self._labels, self._levels, name, index).values()]

    def find_row(self, names: Sequence[str], row: int) -> int | None:
        """Return the row of the sheet in which a row of arrays stands; None unless it is one row for all of them."""
        rows = set()
        for name in names:
            column = self._arrays[name].column
            is_single = len(column.header.shape) == 1 and len(column.group) == 1 and column.cells_per_element == 1
            anchor = column.group[0]
            rows.add(anchor.data_cell[1] + row + 1 if is_single and anchor.orient == "columns" else None)
        return rows.pop() if len(rows) == 1 else None

    def has_other_header(self, name: str) -> bool:
        """Return whether the header of an array does not have the length that its cells have."""
        column = self._arrays[name].column
        return column.header != column.written
