"""Finds the stored checksums of each array of a workbook, and compares the array with them.

A record is `{"sheets": {title: {"arrays": {name: checksums}, "many": .., "of": title, ...}}}`; `relations` keeps it,
and `many` are the checksums of very many arrays in columns. The arrays of one write stand with its first sheet, which
the others name under "of". People rename sheets, so an array that is nowhere else is found by its name alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property

import numpy as np

from ....columns import RowChange
from ....dtypes import Buffer
from ....errors import Finding, FormatError
from ....linear.header import Header
from ....linear.resizing import count_rows
from ...guard_texts import guard_title
from ..workbook import Workbook
from ..worksheet import ExcelSheet
from .record import Checksums, exact_checksum, read_checksums, rounded_checksums
from .verdict import compare_with_checksums, describe_rounding, find_changed

_LEAST = 2  # elements of an array that is looked for under other names
_RENAMED_HINT = "write the array again to store its checksums under the new name"
_MOST_NAMED = 5  # arrays without a record that are named


class StoredChecksums:
    """The checksums that a workbook keeps of its arrays, read when they are asked for.

    Attributes:
        findings: about a damaged record.
    """

    def __init__(self, book: Workbook) -> None:
        self.findings: list[Finding] = []
        self._asked: set[str] = set()
        self._unknown: list[str] = []
        self._others: dict[str, str] = {}  # names under which the elements of arrays were written
        self._groups: dict[str, str] = {}
        self._arrays: dict[str, dict[str, Checksums | None]] = {}  # None where a record is damaged
        self._emptied: set[str] = set()
        try:
            sheets = book.record.get("sheets", {})
            if book.record_error is not None:
                raise book.record_error
            for title, sheet in sheets.items():
                self._groups[title] = str(sheet.get("of", title))
                if sheet.get("emptied") is True:
                    self._emptied.add(title)
                if "many" in sheet or isinstance(sheet.get("arrays"), Mapping):
                    self._arrays[title] = read_checksums(sheet)
        except FormatError as error:
            hint = error.hint or "whether numbers were rounded or edited cannot be told"
            self.findings.append(Finding("warning", error.location, error.reason, hint))

    def split_by_write(self, sheets: Sequence[ExcelSheet]) -> list[tuple[Set[str], list[ExcelSheet]]]:
        """Return sheets, and the titles under which the record has their arrays, that are to be checked together.

        These are all sheets; or those of each write, where several have written arrays of one name. Sheets of which the
        record knows nothing are checked with those of the first write. Writes of which no sheet is left come last.
        """
        names = [name for arrays in self._arrays.values() for name in arrays]
        groups = [self._groups.get(sheet.title or "", "") for sheet in sheets]
        writes = [title for title in self._arrays if title in groups]
        if not writes or len(set(names)) == len(names):
            return [(set(self._arrays), list(sheets))]
        groups = [group if group in writes else writes[0] for group in groups]
        split = [
            ({title}, [sheet for sheet, group in zip(sheets, groups, strict=True) if group == title])
            for title in writes
        ]
        return [*split, (self._arrays.keys() - set(writes), [])]

    def choose_write(self, sheets: Sequence[ExcelSheet], title: str) -> tuple[Set[str], list[ExcelSheet]]:
        """Return the same as `split_by_write` for the write that filled a sheet; of an unknown sheet, that one."""
        group = self._groups.get(title, title)
        if group not in self._arrays:
            return {title}, [sheet for sheet in sheets if sheet.title == title]
        return {group}, [sheet for sheet in sheets if self._groups.get(sheet.title or "") == group]

    def findings_of(
        self, name: str, title: str, header: Header, buffer: Buffer, address: Callable[[int], str]
    ) -> list[Finding]:
        """Return the findings about an array by its checksums, or by those of another array with its elements.

        `header`: of the array, as it stands in the sheet. `address`: returns the address of an element's cell, by its
        index in the buffer.
        """
        self._asked.add(name)
        record = self.record_of(name, title)
        findings = [] if record is None else list(compare_with_checksums(record, header, buffer, name, address))
        if record is not None and (not findings or findings[-1].severity == "warning"):
            return findings
        other = self._find_other_name(name, header, buffer)
        if other is not None:
            finding = self.note_other_name(name, other, is_there=True)
            return [finding] if record is not None else []
        if record is None:
            self._unknown.append(name)
        return findings

    def is_own(
        self, name: str, title: str, header: Header, buffer: Buffer, ask_names: Callable[[], Collection[str]]
    ) -> bool | None:
        """Return whether the elements of a snapshot have the checksums that an array was written with.

        None where the workbook has no checksums to compare with: no record, as some programs leave it out, or no record
        of an array that stands in it.

        `header`: as it was written, by the snapshot. `ask_names`: returns the names of all arrays that stand in the
        workbook.
        """
        if not self._arrays:
            return None
        record = self.record_of(name, title)
        if record is None:
            is_known = any(name in arrays for arrays in self._arrays.values())
            return None if is_known or (title not in self._groups and name in ask_names()) else False
        return (
            record.fits(header) and record.count == len(buffer) and record.exact == exact_checksum(buffer, header.dtype)
        )

    def is_as_written(self, name: str, title: str, header: Header, buffer: Buffer) -> bool:
        """Return whether an array has the exact checksum that it was written with; False where that proves too little.

        All NaNs have one checksum, and so have 2 and 2.0 as generic elements.

        `header`: of the array, as it stands in the sheet.
        """
        record, kind = self.record_of(name, title), header.dtype.kind
        if record is None or kind == "generic" or record.count != len(buffer) or not record.fits(header):
            return False
        has_nan = kind in ("float", "complex") and bool(np.isnan(buffer).any())
        return not has_nan and record.exact == exact_checksum(buffer, header.dtype)

    def guard_titles(self) -> set[str]:
        """Return the titles of the sheets that the record knows as those of guards."""
        return {title for title, group in self._groups.items() if title == guard_title(group)} - self._emptied

    def pass_over(self, name: str) -> None:
        """Count an array as compared: its guard has been, which knows more than its checksums."""
        self._asked.add(name)

    def note_other_name(self, name: str, other: str, *, is_there: bool) -> Finding:
        """Return the finding that the elements of an array were written under another name.

        `is_there`: whether there is an array of the other name too.
        """
        if is_there:
            self._others[name] = other
            reason = f"has the elements that were written as {other!r:.80}"
            return Finding("error", name, reason, "restore it from a copy of the file, or write the arrays again")
        self._asked.add(other)
        reason = f"was written under the name {other!r:.80}, and renamed since"
        return Finding("warning", name, reason, _RENAMED_HINT, array=name)

    def compare_rows(
        self, name: str, title: str, written: Header, buffer: Buffer, address: Callable[[int], str]
    ) -> Iterator[Finding | RowChange]:
        """Yield that rows were added to an array or deleted from it, and the finding that the others were rounded.

        Rows at the end are known as such where the elements before them are those that were written.

        `address`: of the cell of an element, by its index in the buffer.
        """
        self._asked.add(name)
        record, rows = self.record_of(name, title), count_rows(written)
        if record is None or rows is None:
            self._unknown += [name] if record is None else []
            return
        if record.dtype != written.dtype.name or record.count != written.capacity:
            yield from compare_with_checksums(record, written, buffer, name, address)
        elif len(buffer) < record.count:
            yield RowChange()
        else:
            is_exact = exact_checksum(buffer[: record.count], written.dtype) == record.exact
            digits = 0 if is_exact else find_changed(record, written, buffer)[0]
            yield RowChange(is_appended=is_exact or bool(digits), is_exact=is_exact)
            if digits:
                yield describe_rounding(name, written, digits)

    def record_of(self, name: str, title: str) -> Checksums | None:
        """Return the checksums of an array, or None."""
        for group in (title, self._groups.get(title, title)):
            if name in self._arrays.get(group, {}):
                return self._arrays[group][name]
        records = [arrays[name] for arrays in self._arrays.values() if name in arrays]
        return records[0] if len(records) == 1 else None

    def _find_other_name(self, name: str, header: Header, buffer: Buffer) -> str | None:
        """Return another name under which these elements were written, exact or at 15 digits; None without one."""
        size = header.dtype.name, len(buffer)
        if len(buffer) < _LEAST or size not in self._by_content:
            return None
        blocks, names = self._by_content[size]
        contents: list[object] = [exact_checksum(buffer, header.dtype)]
        contents += [
            (digits, rounded_checksums(buffer, header.dtype, len(buffer), digits).tobytes()) for digits in blocks
        ]
        other_names = (other for content in contents for other in names.get(content, ()) if other != name)
        return next(other_names, None)

    @cached_property
    def _by_content(self) -> dict[tuple[str, int], tuple[set[int], dict[object, list[str]]]]:
        """For each dtype and count, the numbers of blocks, and the names of arrays by their checksums."""
        by_size: dict[tuple[str, int], tuple[set[int], dict[object, list[str]]]] = {}
        for arrays in self._arrays.values():
            for name, record in arrays.items():
                if record is not None:
                    blocks, names = by_size.setdefault((record.dtype, record.count), (set(), {}))
                    blocks.add(record.blocks)
                    for content in (record.exact, (record.blocks, record.fifteen.tobytes())):
                        names.setdefault(content, []).append(name)
        return by_size

    def simplify_exchange(self, finding: Finding) -> Finding:
        """Return a finding, put more simply where two arrays have exchanged their elements."""
        name = finding.location
        other = self._others.get(name) if name is not None else None
        if other is None or self._others.get(other) != name or "were written as" not in finding.message:
            return finding
        return replace(finding, message=f"exchanged with {other!r:.80}: has the elements that were written there")

    def find_unknown(self) -> Iterator[Finding]:
        """Yield the finding that some arrays, or all, have no checksums."""
        if not self._unknown or self.findings:
            return
        if not self._arrays:
            reason = "the workbook has no record of its arrays: rounded, edited and moved elements cannot be found"
            hint = (
                "pandas, exceljs and LibreOffice's .xls leave the record out when they save; arrays that sheetarray "
                "writes to .xlsx have one"
            )
            yield Finding("warning", None, reason, hint)
            return
        names = ", ".join(f"{name!r:.80}" for name in self._unknown[:_MOST_NAMED])
        more = len(self._unknown) - _MOST_NAMED
        names += f" and {more} more" if more > 0 else ""
        place = self._unknown[0] if len(self._unknown) == 1 else None
        reason = f"the workbook has no record of {names}, only of other arrays: edited elements cannot be found"
        hint = "the array was renamed, or another program wrote it; write it again"
        yield Finding("warning", place, reason, hint, array=place)

    def find_missing(self, titles: Set[str]) -> Iterator[Finding]:
        """Yield a warning for each array that has checksums, but is no longer in the workbook under its name.

        `titles`: those of the sheets whose arrays are looked for.
        """
        renamed = {other: name for name, other in self._others.items() if other not in self._asked}
        for title, arrays in self._arrays.items():
            for name in arrays if title in titles else ():
                if name in renamed:
                    reason = f"was written under the name {name!r:.80}, and renamed since"
                    yield Finding("warning", renamed[name], reason, _RENAMED_HINT, array=renamed[name])
                elif name not in self._asked:
                    reason = f"is gone: it was written to the sheet {title!r:.80}, and was deleted or renamed since"
                    hint = "a renamed array is not compared with what was written"
                    yield Finding("warning", name, reason, hint, array=name)
