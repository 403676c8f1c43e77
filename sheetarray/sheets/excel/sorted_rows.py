"""Finds tables of which people have sorted the rows, so that `check` says so once, and not of each array.

With a guard, the rows as written tell where each stands now. A fingerprint of few elements tells it too: it has the
code of each. Of more elements, an order is guessed: one of the arrays rose or fell when it was written. The
fingerprints of the others tell whether that is right. Where no guess is right, rows may have been torn apart, and the
finding says so.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...columns import ArrayColumn
from ...comparing import SortedRows, find_row_order, find_sorted
from ...dtypes import Array, Buffer, Positions
from ...errors import Finding, quote_names
from ...header import count_rows
from ...resaving import mark_kept
from .fingerprint.record import Fingerprint
from .fingerprint.sums import KEPT
from .fingerprint.verdict import FingerprintComparison, compare_with_fingerprint
from .guard.guarded import Guarded, find_edits

_MOST_ELEMENTS = 2**22  # of the arrays of a workbook that are kept until all have been judged
_UNSURE = "; whether each row stayed together cannot be told without a guard"


@dataclass(frozen=True, slots=True)
class _Judged:
    """An array of which the elements were compared with those that were written.

    Attributes:
        written: the elements as written, by the guard; None without one, or where their number has changed.
        is_moved: whether the guard shows rows that stand elsewhere now.
        record: the fingerprint; None without one.
        findings: what was found of this array by itself.
    """

    name: str
    column: ArrayColumn
    buffer: Buffer
    row: int
    written: Buffer | None
    is_moved: bool
    record: Fingerprint | None
    findings: Sequence[Finding]

    @property
    def is_changed(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)

    @property
    def rows(self) -> Array:
        return self.buffer.reshape(-1, self.row)

    def compare(self) -> FingerprintComparison | None:
        """Return the comparison with the fingerprint, if that has as many elements of the same dtype."""
        record, dtype = self.record, self.column.header.dtype
        if record is None or record.dtype != dtype.name or record.count != len(self.buffer):
            return None
        return FingerprintComparison(record, self.buffer, dtype)

    def has_order(self, order: Positions) -> bool:
        """Return whether the rows are those that were written, each at another place, by the fingerprint."""
        case = self.compare()
        return case is not None and case.was(self.rows[order].reshape(-1))

    def find_edits(self, order: Positions) -> list[Finding]:
        """Return the findings of what was edited besides the order of the rows."""
        column, header = self.column, self.column.header
        if self.written is not None:
            written = self.written.reshape(-1, self.row)[np.argsort(order)].reshape(-1)
            guarded = Guarded(written, mark_kept(written, self.buffer, header.dtype))
            return list(find_edits(guarded, self.buffer, header, self.name, column.element_address))
        places = np.arange(len(self.buffer)).reshape(-1, self.row)[order].reshape(-1)
        assert self.record is not None
        return list(
            compare_with_fingerprint(
                self.record,
                header,
                self.buffer[places],
                self.name,
                column.element_address,
                at=lambda index: int(places[index]),
            )
        )


class SortedTables:
    """The tables of a workbook of which the rows were sorted, found when all arrays have been compared."""

    def __init__(self) -> None:
        self._tables: dict[tuple[str, str, int], list[_Judged]] = {}
        self._size = 0

    def note(
        self,
        name: str,
        column: ArrayColumn,
        buffer: Buffer,
        findings: Sequence[Finding],
        *,
        guarded: Guarded | None = None,
        record: Fingerprint | None = None,
    ) -> None:
        """Take note of an array that has as many elements as its header says, and of the findings about it."""
        rows, self._size = count_rows(column.header), self._size + len(buffer)
        if self._size > _MOST_ELEMENTS:
            self._tables.clear()  # each array is told of by itself
        elif rows is not None and rows[0] > 1 and rows[0] * rows[1] == len(buffer) and len(column.group) == 1:
            written = None if guarded is None else guarded.original
            alignment = None if guarded is None else guarded.alignment
            is_moved = alignment is not None and bool(alignment.moved.any())
            known = _Judged(name, column, buffer, rows[1], written, is_moved, record, findings)
            anchor = column.group[0]
            self._tables.setdefault((anchor.title or "", anchor.orient, rows[0]), []).append(known)

    def explain(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """Yield findings, those of the arrays of a sorted table replaced by one, and by what was edited besides."""
        told: dict[str, list[Finding]] = {}  # by the names of arrays
        for table in self._tables.values():
            told |= _explain_table(table)
        own = {known.name: known.findings for table in self._tables.values() for known in table if known.name in told}
        for finding in findings:
            name = finding.array
            if name is None or name not in own or finding not in own[name]:
                yield finding
            else:
                yield from told.pop(name, ())


def _explain_table(table: Sequence[_Judged]) -> dict[str, list[Finding]]:
    """Return what is to be said of each array instead of what was found; nothing if the table was not sorted."""
    changed = [known for known in table if known.is_changed]
    if len(changed) < 2:
        return {}
    if all(known.written is not None for known in changed):
        before = [(_rows_of(known.written, known), known.column.header.dtype) for known in changed]
        now = [(known.rows, known.column.header.dtype) for known in changed]
        order, sure = find_row_order(before, now) if any(known.is_moved for known in changed) else None, True
    else:
        order, sure = _find_order(changed)
    if order is None and sure:
        return {}
    besides = {known.name: known.findings if order is None else known.find_edits(order) for known in changed}
    if order is None:
        besides = {name: [one for one in found if one.severity == "warning"] for name, found in besides.items()}
    else:
        changed = [known for known in changed if len(besides[known.name]) < known.row * len(order) // 2]
    return _tell(table, changed, besides, order)


def _rows_of(elements: Buffer | None, known: _Judged) -> Array:
    assert elements is not None
    return elements.reshape(-1, known.row)


def _tell(
    table: Sequence[_Judged],
    changed: Sequence[_Judged],
    besides: Mapping[str, Sequence[Finding]],
    order: Positions | None,
) -> dict[str, list[Finding]]:
    """Return the findings of a table that was sorted, by the names of arrays: the one of the order stands first."""
    by = find_sorted({known.name: known.rows for known in changed})
    names, count = {known.name for known in changed}, len(table[0].rows)
    others = [known for known in table if not known.is_changed]
    alike = [known for known in others if _is_kept(known, order)]
    names |= {known.name for known in alike}
    told = SortedRows(sorted(names), by, np.arange(count) if order is None else order).to_text()
    if left := [known.name for known in others if known.name not in names]:
        told += f"; {quote_names(left)} {'has' if len(left) == 1 else 'have'} as many rows, and did not move"
    first = changed[0]
    hint = next(finding.hint for finding in first.findings if finding.severity == "error")
    where = first.column.element_address(0)
    summary = Finding("error", where, told + _UNSURE * (order is None), hint)
    found = {known.name: [replace(one, array=known.name) for one in besides[known.name]] for known in changed}
    found[first.name].insert(0, summary)
    return found


def _is_kept(known: _Judged, order: Positions | None) -> bool:
    """Return whether the rows of an array are the same in the other order too."""
    rows = known.rows
    moved = rows[order] if order is not None else np.broadcast_to(rows[:1], rows.shape)
    return bool(rows.tolist() == moved.tolist())


# The order of rows, by fingerprints ----------------------------------------------------------------------------------


def _find_order(changed: Sequence[_Judged]) -> tuple[Positions | None, bool]:
    """Return for each row as written its number now, or None, and whether it is sure that this is so."""
    cases = [(known, case) for known in changed if (case := known.compare()) is not None]
    whole = [(known, case) for known, case in cases if case.view.is_reordered]
    if len(whole) < 2:
        return None, True
    single = [(known, case) for known, case in whole if case.view.partition.stretch == 1]
    if len(single) > 1:
        return _match_codes(single), True
    for known, _ in whole:
        if known.row == 1 and known.buffer.dtype.kind in "iufmMUT":
            rising = np.argsort(known.buffer, kind="stable")
            for order in (rising, rising[::-1]):
                if all(one.has_order(order) for one, _ in whole):
                    return order, True
    by = find_sorted({known.name: known.rows for known, _ in whole})
    return None, by is None or len(whole) < len(changed) or all(_is_sorted(known) for known, _ in whole)


def _is_sorted(known: _Judged) -> bool:
    return find_sorted({known.name: known.rows}) is not None


def _match_codes(arrays: Sequence[tuple[_Judged, FingerprintComparison]]) -> Positions | None:
    """Return for each row as written its number now, by the codes of single elements; None where rows do not fit."""
    before, now = (
        np.hstack([codes.reshape(-1, known.row) for (known, _), codes in zip(arrays, some, strict=True)])
        for some in (
            [case.view.then[0][: len(known.buffer)] for known, case in arrays],
            [case.view.codes(known.buffer) & np.uint64(KEPT) for known, case in arrays],
        )
    )
    places: defaultdict[bytes, deque[int]] = defaultdict(deque)
    for place, row in enumerate(now):
        places[row.tobytes()].append(place)
    order = [places[row.tobytes()].popleft() if places[row.tobytes()] else -1 for row in before]
    return None if -1 in order else np.array(order)
