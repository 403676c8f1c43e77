"""The snapshots of a workbook as evidence of what its arrays were, and the findings about those of no use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, partial

from ....changes.evidence import Evidence, EvidenceSearch, OwnEvidence
from ....changes.rounding import is_beyond
from ....columns import ArrayColumn, SheetArrays
from ....dtypes import Array, Buffer
from ....errors import Finding, FormatError, quote_names, warn_caller
from ....linear.buffers import view_of
from ....linear.header import Header
from ....linear.parsing import warn_of_finding
from ...snapshot import SnapshotHeader, decode_snapshot
from ..checksums.record import Checksums, exact_checksum, read_checksums
from ..checksums.stored import StoredChecksums
from ..workbook import Workbook
from .guard_sheet import read_guard

_HINT = "this guard is ignored; write the arrays again, or accept the file, to get a new guard"
_MOST_WARNINGS = 5  # about guards that cannot be used


@dataclass(eq=False, kw_only=True)
class Snapshot(Evidence):
    """A snapshot as the evidence of its array, or of its column of a recorded table."""

    said: SnapshotHeader  # what its header says
    texts: Sequence[str]
    guard: str  # the title of the sheet in which it stands


class Snapshots:
    """The snapshots of a workbook, which are read when the first array asks for its own; it may have none.

    `are_used`: whether the caller wants any.

    Attributes:
        sheets: those of its guards.
    """

    def __init__(self, book: Workbook, *, are_used: bool = True) -> None:
        self._book = book
        self.sheets = book.guards() if are_used else []
        self._checksums = book.checksums if self.sheets else StoredChecksums({}, None)  # of the same arrays
        self._damage: list[Finding] = []
        self._foreign: list[str] = []

    @cached_property
    def names_present(self) -> set[str]:
        """The names of all arrays of the workbook."""
        return set(SheetArrays(self._book.plain_sheets()).scan())

    @cached_property
    def _stored(self) -> list[Snapshot]:
        """All snapshots that can be parsed."""
        stored: list[Snapshot] = []
        for sheet in self.sheets:
            for said, texts in read_guard(sheet, self._damage):
                snapshot = Snapshot(said.name, said.header, said.sheet, said=said, texts=texts, guard=sheet.title or "")
                snapshot.load = partial(self._decode, snapshot, partial(self._is_own, said))
                stored.append(snapshot)
        return stored

    @cached_property
    def of_arrays(self) -> list[Snapshot]:
        """The snapshots that are not of columns of recorded tables."""
        return [snapshot for snapshot in self._stored if not self.is_column(snapshot.said)]

    @cached_property
    def search(self) -> EvidenceSearch:
        """The evidence of all arrays, in which each of today finds its own."""
        return EvidenceSearch(self.of_arrays, lambda: self.names_present)

    def is_column(self, header: SnapshotHeader) -> bool:
        """Return whether a snapshot is of a column of a recorded table."""
        return header.name in self._columns_of_tables.get(header.sheet, ())

    @cached_property
    def _columns_of_tables(self) -> dict[str, Set[str]]:
        """The names of the columns of recorded tables, by the titles that their sheets had when they were written."""
        sheets = self._book.record.get("sheets", {})
        notes = {title: more["table"] for title, more in sheets.items() if isinstance(more.get("table"), dict)}
        dtypes = {title: note.get("dtypes") for title, note in notes.items()}
        return {title: set(columns) for title, columns in dtypes.items() if isinstance(columns, dict)}

    @cached_property
    def _of_columns(self) -> dict[str, list[Snapshot]]:
        """The snapshots of the columns of recorded tables, by the titles that their sheets had."""
        columns: dict[str, list[Snapshot]] = {}
        for snapshot in self._stored:
            if self.is_column(snapshot.said):
                columns.setdefault(snapshot.said.sheet, []).append(snapshot)
        return columns

    def read_columns(self, title: str, names: Collection[str] | None = None) -> dict[str, Array]:
        """Return the columns of a recorded table as they were written; none without a snapshot that can be used.

        `title`: of its sheet when it was written. `names`: of the columns; None for all.
        """
        try:
            sums = read_checksums(self._book.record.get("sheets", {}).get(title, {}).get("columns"))
        except FormatError:
            return {}
        columns: dict[str, Array] = {}
        for snapshot in self._of_columns.get(title, ()):
            if names is None or snapshot.name in names:
                said = snapshot.said
                buffer = self._decode(snapshot, partial(_may_have_checksums, sums, said))
                columns |= {} if buffer is None else {said.name: view_of(said.header, buffer)}
        return columns

    def _decode(self, snapshot: Snapshot, is_own: Callable[[Buffer], bool], nbytes: int = 0) -> Buffer | None:
        """Return the elements of a snapshot; None if it is damaged or of another workbook, which becomes a finding."""
        try:
            buffer = decode_snapshot(snapshot.said, snapshot.texts, nbytes)
        except (FormatError, MemoryError) as error:
            reason = error.reason if isinstance(error, FormatError) else "it takes more memory than there is"
            message = f"{snapshot.name and f'{snapshot.name}: '}the guard cannot be used: {reason}"
            self._damage.append(Finding("warning", snapshot.guard, message, _HINT, array=snapshot.name))
            return None
        if not is_own(buffer):
            self._foreign.append(snapshot.name)
            return None
        return buffer

    def _is_own(self, header: SnapshotHeader, buffer: Buffer) -> bool:
        """Return whether nothing speaks against it that a snapshot is of an array of this workbook."""
        stored, name, title = self._checksums, header.name, header.sheet
        return stored.is_own(name, title, header.header, buffer, lambda: self.names_present) is not False

    def find(self, name: str, column: ArrayColumn, buffer: Buffer) -> OwnEvidence | None:
        """Return the evidence of an array of today; None if none is surely its own."""
        return self.search.find(name, column.group[0].title, column.header, buffer) if self.sheets else None

    def find_as_recorded(self, name: str, title: str, header: Header) -> tuple[SnapshotHeader, Buffer] | None:
        """Return the snapshot of an array whose header is as it was written, and its elements; None without one.

        `title`: of the sheet in which the array stands.
        """
        named = [snapshot for snapshot in self._stored if snapshot.name == name]
        for snapshot in named:
            if snapshot.header == header and (len(named) == 1 or snapshot.title == title):
                buffer = self._decode(snapshot, partial(self._is_recorded, snapshot.said))
                return None if buffer is None else (snapshot.said, buffer)
        return None

    def _is_recorded(self, header: SnapshotHeader, buffer: Buffer) -> bool:
        """Return whether the checksums in the record confirm that a snapshot belongs to an array of this workbook."""
        return self._checksums.is_own(header.name, header.sheet, header.header, buffer, set) is True

    def restore(self, name: str, buffer: Buffer, column: ArrayColumn) -> Buffer:
        """Return the elements of an array, in which those that were only rounded have their exact bits again."""
        if self._checksums.is_as_written(name, column.group[0].title or "", column.header, buffer):
            return buffer
        own = self.find(name, column, buffer)
        if own is None:
            return buffer
        restored = own.unchanged.restore(buffer)
        own.evidence.release()  # the elements are the caller's now
        return restored

    def repair(self, name: str, buffer: Buffer, column: ArrayColumn, unreadable: Mapping[int, object]) -> set[int]:
        """Put elements of the snapshot into a buffer where a cell was rounded beyond the dtype; return their indices.

        `unreadable` are the cells that could not be read, by the indices of their elements.
        """
        if column.header.dtype.kind not in ("float", "int"):
            return set()
        own = self.find(name, column, buffer)
        written = None if own is None else own.evidence.elements(buffer.nbytes)
        if written is None or len(written) != len(buffer):
            return set()
        repaired = {index for index, cell in unreadable.items() if is_beyond(written[index].item(), cell)}
        buffer[list(repaired)] = written[list(repaired)]
        return repaired

    def check(self) -> list[Finding]:
        """Return the findings about all snapshots, also about those that no array has asked for."""
        for snapshot in self.of_arrays:
            snapshot.elements()
        return self.findings

    @property
    def findings(self) -> list[Finding]:
        """The findings about snapshots that cannot be used, as far as they were read."""
        findings = list(self._damage)
        if self._foreign:
            what = f"the checksums in the workbook do not fit its elements of {quote_names(self._foreign)}"
            findings.append(self._warn(f"the guard belongs to another file: {what}", _HINT, self._foreign))
        was_asked = "search" in vars(self)  # no array that is as it was written asks: then the guard is not read
        if self.sheets and was_asked and (unpaired := [*self.search.unpaired]):
            left = [evidence.name for evidence in self.search.lost]
            what = f"fits {quote_names(unpaired)}"
            what += f", and those of {quote_names(left)} fit no array" if left else ""
            reason = f"no snapshot of the guard {what}: cells are read as they are"
            hint = "a renamed array with many edits is not recognised: give it its old name"
            findings.append(self._warn(reason, hint, unpaired))
        return findings

    def _warn(self, reason: str, hint: str, names: Sequence[str]) -> Finding:
        return Finding("warning", self.sheets[0].title, reason, hint, array=names[0] if len(names) == 1 else None)


def _may_have_checksums(sums: Mapping[str, Checksums | None], header: SnapshotHeader, buffer: Buffer) -> bool:
    """Return whether the checksums of a column may be those of a snapshot's elements.

    A table that was put into a workbook in memory has none: then nothing speaks against its snapshot.
    """
    if header.name not in sums:
        return not sums
    own = sums[header.name]
    return own is not None and own.exact == exact_checksum(buffer, header.header.dtype)


def warn_of_guard(findings: Sequence[Finding]) -> None:
    """Warn of all that kept a guard from being used for the arrays that were read."""
    for finding in findings[:_MOST_WARNINGS]:
        warn_of_finding(finding)
    if len(findings) > _MOST_WARNINGS:
        warn_caller(f"the guard cannot be used for {len(findings) - _MOST_WARNINGS} more arrays, which check names")
