"""What a workbook remembers of the arrays that were written into it: the fingerprint of each, found again.

A record is `{"sheets": {title: {"arrays": {name: fingerprint}, "of": title, ...}}}`; `properties` keeps it. The arrays
of one write stand with its first sheet, which the others name under "of". People rename sheets, so an array that is
nowhere else is found by its name alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import Finding, FormatError
from ...files import Source
from .package.parts import Package
from .package.properties import read_record

_ZIP = b"PK\3\4"


class Memory:
    """The fingerprints in a workbook.

    Attributes:
        findings: what is wrong with what it remembers.
    """

    def __init__(self, source: Source) -> None:
        self.findings: list[Finding] = []
        self._asked: set[str] = set()
        record: Mapping[str, Any] | None = None
        try:
            record = read_record(Package(source.whole())) if source.prefix(4) == _ZIP else None
        except FormatError as error:
            hint = "whether numbers were rounded or edited cannot be told"
            self.findings.append(Finding("warning", error.location, error.reason, hint))
        sheets = (record or {}).get("sheets", {})
        self._groups: dict[str, str] = {title: str(sheet.get("of", title)) for title, sheet in sheets.items()}
        self._arrays: dict[str, Mapping[str, Any]] = {
            title: arrays for title, sheet in sheets.items() if isinstance(arrays := sheet.get("arrays"), Mapping)
        }

    def of(self, name: str, title: str) -> object:
        """The fingerprint of an array that stands in a sheet; None where there is none."""
        self._asked.add(name)
        for group in (title, self._groups.get(title, title)):
            if name in self._arrays.get(group, {}):
                return self._arrays[group][name]
        found = [arrays[name] for arrays in self._arrays.values() if name in arrays]
        return found[0] if len(found) == 1 else None

    def lost(self) -> Iterator[Finding]:
        """Arrays of which nobody asked, though they were written: the workbook does not hold them any more."""
        for title, arrays in self._arrays.items():
            for name in arrays:
                if name not in self._asked:
                    reason = f"is gone: it was written to the sheet {title!r:.80}, and was deleted or renamed since"
                    yield Finding("warning", name, reason, "a renamed array is not compared with what was written")
