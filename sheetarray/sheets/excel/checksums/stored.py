"""The checksums that a workbook's record has of its arrays, in which each array finds its own.

A record is `{"sheets": {title: {"arrays": {name: checksums}, "many": .., "of": title, ...}}}`; `relations` keeps it,
and `many` are the checksums of very many arrays in columns. The arrays of one write stand with its first sheet, which
the others name under "of". People rename sheets, so an array that is nowhere else is found by its name alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from functools import cached_property
from typing import Any

import numpy as np

from ....dtypes import Buffer
from ....errors import Finding, FormatError
from ....linear.header import Header
from ...guard_texts import guard_title
from ..worksheet import ExcelSheet
from .record import Checksums, exact_checksum, read_checksums, rounded_checksums

_LEAST = 2  # elements of an array that is looked for under other names


class StoredChecksums:
    """The checksums that a workbook keeps of its arrays.

    `record`: of the workbook. `error`: that it is damaged; None if it is not.

    Attributes:
        findings: about a damaged record.
        of_sheets: those of the arrays of each write, by the title of its first sheet and the names of the arrays; None
            for an array whose checksums are damaged.
    """

    def __init__(self, record: Mapping[str, Any], error: FormatError | None) -> None:
        self.findings: list[Finding] = []
        self._groups: dict[str, str] = {}
        self.of_sheets: dict[str, dict[str, Checksums | None]] = {}
        self._emptied: set[str] = set()
        try:
            if error is not None:
                raise error
            for title, sheet in record.get("sheets", {}).items():
                self._groups[title] = str(sheet.get("of", title))
                if sheet.get("emptied") is True:
                    self._emptied.add(title)
                if "many" in sheet or isinstance(sheet.get("arrays"), Mapping):
                    self.of_sheets[title] = read_checksums(sheet)
        except FormatError as damage:
            hint = damage.hint or "whether numbers were rounded or edited cannot be told"
            self.findings.append(Finding("warning", damage.location, damage.reason, hint))

    def split_by_write(self, sheets: Sequence[ExcelSheet]) -> list[tuple[Set[str], list[ExcelSheet]]]:
        """Return sheets, and the titles under which the record has their arrays, that are to be checked together.

        These are all sheets; or those of each write, where several have written arrays of one name. Sheets of which the
        record knows nothing are checked with those of the first write. Writes of which no sheet is left come last.
        """
        names = [name for arrays in self.of_sheets.values() for name in arrays]
        groups = [self._groups.get(sheet.title or "", "") for sheet in sheets]
        writes = [title for title in self.of_sheets if title in groups]
        if not writes or len(set(names)) == len(names):
            return [(set(self.of_sheets), list(sheets))]
        groups = [group if group in writes else writes[0] for group in groups]
        split = [
            ({title}, [sheet for sheet, group in zip(sheets, groups, strict=True) if group == title])
            for title in writes
        ]
        return [*split, (self.of_sheets.keys() - set(writes), [])]

    def choose_write(self, sheets: Sequence[ExcelSheet], title: str) -> tuple[Set[str], list[ExcelSheet]]:
        """Return the same as `split_by_write` for the write that filled a sheet; of an unknown sheet, that one."""
        group = self._groups.get(title, title)
        if group not in self.of_sheets:
            return {title}, [sheet for sheet in sheets if sheet.title == title]
        return {group}, [sheet for sheet in sheets if self._groups.get(sheet.title or "") == group]

    def is_own(
        self, name: str, title: str, header: Header, buffer: Buffer, ask_names: Callable[[], Collection[str]]
    ) -> bool | None:
        """Return whether the elements of a snapshot have the checksums that an array was written with.

        None where the workbook has no checksums to compare with: no record, as some programs leave it out, or no record
        of an array that stands in it.

        `header`: as it was written, by the snapshot. `ask_names`: returns the names of all arrays that stand in the
        workbook.
        """
        if not self.of_sheets:
            return None
        record = self.record_of(name, title)
        if record is None:
            is_known = any(name in arrays for arrays in self.of_sheets.values())
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

    def record_of(self, name: str, title: str) -> Checksums | None:
        """Return the checksums of an array, or None."""
        for group in (title, self._groups.get(title, title)):
            if name in self.of_sheets.get(group, {}):
                return self.of_sheets[group][name]
        records = [arrays[name] for arrays in self.of_sheets.values() if name in arrays]
        return records[0] if len(records) == 1 else None

    def find_other_name(self, name: str, header: Header, buffer: Buffer) -> str | None:
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
        for arrays in self.of_sheets.values():
            for name, record in arrays.items():
                if record is not None:
                    blocks, names = by_size.setdefault((record.dtype, record.count), (set(), {}))
                    blocks.add(record.blocks)
                    for content in (record.exact, (record.blocks, record.fifteen.tobytes())):
                        names.setdefault(content, []).append(name)
        return by_size
