"""Finds what people have done to the rows of a table, so that `check` says it once, and not of each array.

Arrays of one sheet that have as many rows are a *table*. Its rows are aligned with those that were written: by a guard;
or by fingerprints, where these have the code of each element, as those of short arrays do. Where they do not, an order
is found only if the rows are sorted by one of the arrays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...aligning import RowOrigins, is_ascending
from ...columns import ArrayColumn, RowChange, find_first_row
from ...columns.row_edits import format_labels, shorten_list
from ...comparing import SortedRows, find_row_sources, find_sorted
from ...dtypes import Array, Buffer, DType, Positions, from_name
from ...errors import Finding, quote_names
from ...header import count_rows
from .fingerprint.record import Fingerprint, partitions_for
from .fingerprint.verdict import RESTORE, FingerprintComparison, Verdict, compare_with_fingerprint
from .guard.guarded import Guarded, describe_row_changes, find_edits, place_rows

_MOST_ELEMENTS = 2**22  # of the arrays of a workbook that are kept until all have been judged
_UNSURE = "; only a guard can tell whether each row stayed together"


@dataclass(frozen=True)
class _Judged:
    """An array of which the elements were compared with those that were written."""

    name: str
    column: ArrayColumn
    buffer: Buffer
    row: int  # the number of elements in a row
    guarded: Guarded | None  # the array beside its snapshot; None without one
    record: Fingerprint | None  # the fingerprint; None without one
    findings: Sequence[Finding]  # what was found of this array by itself
    change: RowChange | None  # the rows that were added or deleted, as far as this array tells

    @property
    def is_changed(self) -> bool:
        """Whether more has happened than that rows were added or deleted."""
        is_unclear = self.change is not None and not self.change.firsts and not self.change.rest_is_exact
        return is_unclear or any(finding.severity == "error" for finding in self.findings)

    @property
    def rows(self) -> Array:
        return self.buffer.reshape(-1, self.row)

    @property
    def count_written(self) -> int:
        """The number of rows that were written."""
        return self.column.written.capacity // self.row

    @cached_property
    def keys(self) -> tuple[Array, Array, DType] | None:
        """What tells rows from each other, as they were written and as they are now; None where nothing does."""
        if self.guarded is not None:
            return self.guarded.original.reshape(-1, self.row), self.rows, self.column.header.dtype
        record = self.record
        if record is None or partitions_for(record.count, record.blocks)[0].stretch > 1:  # seen without the elements
            return None
        codes = None if self.case is None else self.case.element_codes
        if codes is None:
            return None
        then, now = (some.astype(np.int64).reshape(-1, self.row) for some in codes)
        return then, now, from_name("int64")

    @cached_property
    def case(self) -> FingerprintComparison | None:
        """The comparison with the fingerprint, if that is of the array as its header was written."""
        record, dtype = self.record, self.column.header.dtype
        if record is None or record.dtype != dtype.name or record.count != self.column.written.capacity:
            return None
        return FingerprintComparison(record, self.buffer, dtype)

    @property
    def is_moved(self) -> bool:
        """Whether rows may stand elsewhere now."""
        if self.guarded is None:
            return self.keys is not None and not np.array_equal(*self.keys[:2])
        alignment = self.guarded.alignment
        return alignment is not None and bool(alignment.moved.any() or self.guarded.added.any())

    @property
    def is_mostly_kept(self) -> bool:
        """Whether most of the elements are known, wherever they stand now."""
        if self.keys is None:
            return False
        kept = np.isin(self.keys[1], self.keys[0]) if self.guarded is None else self.guarded.kept
        return 2 * int(np.count_nonzero(kept)) >= len(self.buffer)

    def is_kept(self, sources: Positions | None) -> bool:
        """Return whether each row is the same that its source was."""
        if sources is None:
            return bool(self.rows.tolist() == np.broadcast_to(self.rows[:1], self.rows.shape).tolist())
        if self.keys is None and len(self.rows) != self.count_written:
            return False
        then, now = (self.rows, self.rows) if self.keys is None else self.keys[:2]
        return bool(now[sources >= 0].tolist() == then[sources[sources >= 0]].tolist())

    def place(self, sources: Positions) -> Guarded:
        """Return the array beside its snapshot, given for each row its number as written, or -1."""
        assert self.guarded is not None
        unmoved = RowOrigins(sources, np.zeros(len(sources), np.bool_))  # the order is told of besides
        return place_rows(self.guarded.original, self.column.header, self.buffer, self.row, unmoved)

    def find_edits(self, sources: Positions) -> list[Finding]:
        """Return the findings of what was edited besides the order and the number of the rows."""
        column, header, at = self.column, self.column.header, self.column.element_address
        if self.guarded is not None:
            return list(find_edits(self.place(sources), self.buffer, header, self.name, at, tells_rows=False))
        kept = np.flatnonzero(sources >= 0)
        if header == column.written and len(kept) == self.count_written:
            places = np.arange(len(self.buffer)).reshape(-1, self.row)[np.argsort(sources)].reshape(-1)
            arguments = self.record, header, self.buffer[places], self.name, at
            return list(compare_with_fingerprint(*arguments, at=lambda index: int(places[index])))
        if self.keys is None or self.case is None:
            return []
        differ = np.zeros(self.rows.shape, np.bool_)
        differ[kept] = self.keys[0][sources[kept]] != self.keys[1][kept]
        lost = (self.count_written - len(kept)) * self.row
        verdict = Verdict(self.case, header, self.name, at)
        rounding = verdict.find_rounding("every other number", lost=lost)
        return [*rounding, *verdict.find_edits(np.flatnonzero(differ).tolist())]

    def tell_rows(self, sources: Positions) -> RowChange | None:
        """Return the rows that were added or deleted; None if there are both."""
        is_moved = not is_ascending(sources)
        if self.guarded is not None:
            change = self.place(sources).row_change
            return None if change is None else replace(change, is_moved=is_moved)
        inserted = np.flatnonzero(sources < 0).tolist()
        deleted = np.setdiff1d(np.arange(self.count_written), sources).tolist()
        tells_edits = self.keys is not None or bool(self.change and self.change.firsts)
        return RowChange.of_rows(inserted, deleted, tells_edits=tells_edits, is_moved=is_moved)


class TableRows:
    """The tables of a workbook, and what became of their rows, found when all arrays have been compared."""

    def __init__(self) -> None:
        self._tables: dict[tuple[str, str, int, int], list[_Judged]] = {}
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
        change: RowChange | None = None,
    ) -> None:
        """Take note of an array whose cells are whole rows, and of the findings about it."""
        rows, self._size = count_rows(column.header), self._size + len(buffer)
        if self._size > _MOST_ELEMENTS:
            self._tables.clear()  # each array is told of by itself
        elif rows is not None and rows[0] > 1 and rows[0] * rows[1] == len(buffer) and len(column.group) == 1:
            known, anchor = _Judged(name, column, buffer, rows[1], guarded, record, findings, change), column.group[0]
            key = anchor.title or "", anchor.orient, rows[0], known.count_written
            self._tables.setdefault(key, []).append(known)

    def settle(self, changes: Mapping[str, RowChange]) -> Mapping[str, RowChange]:
        """Return the rows that were added to arrays or deleted from them, the same in all arrays of a table.

        `changes`: what each array tells by itself. Where rows are alike, that may be other rows in each.
        """
        settled = dict(changes)
        for table in self._tables.values():
            if len(table) < 2 or len(table[0].rows) == table[0].count_written:
                continue
            found = {known.name: changes[known.name] for known in table if known.name in changes}
            if all(change.firsts for change in found.values()) and _find_first(table, found.values()) is not None:
                continue
            if (sources := _find_sources(table, table)) is None:
                continue
            told = {known.name: change for known in table if (change := known.tell_rows(sources)) is not None}
            are_alike = _find_first(table, [*found.values(), *told.values()]) is not None and is_ascending(sources)
            for name, change in told.items():
                alone = found.get(name)
                settled[name] = replace(alone, tells_edits=change.tells_edits) if are_alike and alone else change
        return settled

    def explain(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """Yield findings, those of the arrays of a changed table replaced by one, and by what was edited besides."""
        told: dict[str, list[Finding]] = {}  # by the names of arrays
        for table in self._tables.values():
            told |= _explain_table(table)
        own = {known.name: known.findings for table in self._tables.values() for known in table if known.name in told}
        yield from (one for name, some in told.items() if not own[name] for one in some)
        for finding in findings:
            name = finding.array
            if name is None or name not in own or finding not in own[name]:
                yield finding
            else:
                yield from told.pop(name, ())


def _explain_table(table: Sequence[_Judged]) -> dict[str, list[Finding]]:
    """Return what is to be said of each array instead of what was found; nothing if its rows stand as written."""
    changed = [known for known in table if known.is_changed]
    if not changed or len(table) < 2:
        return {}
    sources, sure = _find_sources(table, changed), True
    if sources is None and not any(known.guarded for known in changed):
        sources, sure = _find_sorted_sources(changed)
    if sources is None:
        if sure:
            return {}
        besides = {known.name: [one for one in known.findings if one.severity == "warning"] for known in changed}
        return _tell(table, changed, besides, None)
    besides = {known.name: known.find_edits(sources) for known in changed}
    if not is_ascending(sources) or _are_both(changed[0], sources):
        changed = [known for known in changed if len(besides[known.name]) < len(known.buffer) // 2] or changed
        return _tell(table, changed, besides, sources)
    return {name: [replace(one, array=name) for one in found] for name, found in besides.items()}


def _find_sources(table: Sequence[_Judged], changed: Sequence[_Judged]) -> Positions | None:
    """Return for each row its number as written, or -1; None if each row stands where it was written, or if it cannot
    be told.

    Arrays of which most elements are known tell where those of the others stand.
    """
    alike = len(table[0].rows) == table[0].count_written
    known = [one for one in (changed if alike else table) if one.is_mostly_kept]
    known = known or [one for one in table if one.is_mostly_kept]
    if not known or (alike and (len(known) < 2 or not any(one.is_moved for one in known))):
        return None
    keys = [one.keys for one in known if one.keys is not None]
    return find_row_sources([(then, dtype) for then, _, dtype in keys], [(now, dtype) for _, now, dtype in keys])


def _find_first(table: Sequence[_Judged], changes: Collection[RowChange]) -> int | None:
    """Return the first row that was added to the arrays of a table or deleted from them, if they agree on one."""
    return find_first_row([*changes], table[0].count_written, len(table[0].rows))


def _are_both(known: _Judged, sources: Positions) -> bool:
    """Return whether rows were added, and others deleted."""
    kept = int(np.count_nonzero(sources >= 0))
    return kept < min(len(sources), known.count_written)


def _tell(
    table: Sequence[_Judged],
    changed: Sequence[_Judged],
    besides: Mapping[str, Sequence[Finding]],
    sources: Positions | None,
) -> dict[str, list[Finding]]:
    """Return the findings of a sorted table by array name. The finding about the order comes first.

    `sources`: for each row its number as written, or -1; None if it is unknown.
    """
    kept = np.ones(len(table[0].rows), np.bool_) if sources is None else sources >= 0
    others = [known for known in table if not known.is_changed]
    names = {known.name for known in changed} | {known.name for known in others if known.is_kept(sources)}
    if len(names) < 2:
        return {}  # each array tells of itself
    told = []
    if sources is None or not is_ascending(sources):
        by = find_sorted({known.name: known.rows[kept] for known in changed})
        told.append(SortedRows(sorted(names), by, np.flatnonzero(kept)).to_text())
    if sources is not None and _are_both(changed[0], sources):
        both = f"{', '.join(_describe_both(changed[0], sources))} in {len(names)} arrays"
        told.append(both + _describe_places(table, sources))
    message = "; ".join(told)
    if left := [known.name for known in others if known.name not in names]:
        message += f"; {quote_names(left)} {'has' if len(left) == 1 else 'have'} as many rows, and did not move"
    first = changed[0]
    hint = next((finding.hint for finding in first.findings if finding.severity == "error"), RESTORE)
    where = first.column.element_address(0)
    summary = Finding("error", where, message + _UNSURE * (sources is None), hint)
    found = {name: [replace(one, array=name) for one in some] for name, some in besides.items()}
    found[first.name].insert(0, summary)
    return found


def _describe_both(known: _Judged, sources: Positions) -> list[str]:
    """Return sentences on the rows that were added, and on those that were deleted."""
    if known.guarded is not None:
        return describe_row_changes(known.place(sources))
    unmoved = RowOrigins(sources, np.zeros(len(sources), np.bool_))
    deleted = unmoved.find_deleted(known.count_written).tolist()
    return describe_row_changes(Guarded(known.buffer, np.zeros(0, np.bool_), known.buffer, unmoved, deleted))


def _describe_places(table: Sequence[_Judged], sources: Positions) -> str:
    """Return where added rows stand in the sheet, and the labels of the first rows: dates, or else texts."""
    anchor = table[0].column.group[0]
    added = np.flatnonzero(sources < 0)
    deleted = np.setdiff1d(np.arange(table[0].count_written), sources)
    if anchor.orient != "columns" or any(known.row > 1 for known in table):
        return ""
    rows = [str(anchor.data_cell[1] + 1 + row) for row in added.tolist()]
    told = f"{shorten_list(rows)} of the sheet {'is' if len(rows) == 1 else 'are'} new"
    labels = [known for kind in ("M", "UT") for known in table if known.buffer.dtype.kind in kind]
    for known in labels[:1]:
        if label := format_labels(known.buffer[added[[0, -1]]]):
            told += f" ({label})"
        if known.guarded is not None and (label := format_labels(known.guarded.original[deleted[[0, -1]]])):
            told += f", {label} {'is' if len(deleted) == 1 else 'are'} gone"
    return f": row{'' if len(rows) == 1 else 's'} {told}"


# The order of rows, by fingerprints of long arrays ------------------------------------------------------------------


def _find_sorted_sources(changed: Sequence[_Judged]) -> tuple[Positions | None, bool]:
    """Return for each row its number as written, or -1, and whether it is sure whether the rows were moved.

    The order is found if the rows were sorted by one of the arrays when they were written, apart from rows that were
    added since.
    """
    rows, count = len(changed[0].rows), changed[0].count_written
    first = _find_first(changed, [known.change for known in changed if known.change is not None])
    if rows < count or (rows > count and first is None):
        return None, True
    rest = np.arange(rows) if first is None else np.delete(np.arange(rows), np.s_[first : first + rows - count])
    whole = [(known, case) for known in changed if (case := _compare(known, rest)) and case.view.is_reordered]
    if len(whole) < 2:
        return None, True
    for known, _ in whole:
        if known.row == 1 and known.buffer.dtype.kind in "iufmMUT":
            rising = rest[np.argsort(known.buffer[rest], kind="stable")]
            for order in (rising, rising[::-1]):
                if all(case.was(one.rows[order].reshape(-1)) for one, case in whole):
                    sources = np.full(rows, -1)
                    sources[order] = np.arange(count)
                    return sources, True
    sorted_by = [find_sorted({known.name: known.rows[rest]}) for known, _ in whole]
    return None, not any(sorted_by) or len(whole) < len(changed) or all(sorted_by)


def _compare(known: _Judged, rest: Positions) -> FingerprintComparison | None:
    """Return the comparison of some rows of an array with its fingerprint, if that is of the array."""
    if known.case is None:
        return None
    return FingerprintComparison(known.case.record, known.rows[rest].reshape(-1), known.case.dtype)
