"""What is doubtful in a table: assumptions that a row contradicts, and what was left out. Each is told once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..columns import cell_address
from ..errors import Finding, warn_caller

_OF_CELLS = ("cut", "dates", "digits", "errors", "mixed marks")  # kinds of doubts about one cell of a column
_OF_COLUMNS = ("both marks", "marks", "repeated")


@dataclass(frozen=True)
class Doubt:
    """Something that was assumed.

    Attributes:
        kind: of the doubt; of each kind the first is told, with the count of the others.
        message: what was assumed, and what speaks against it.
        row: of the sheet, counted from 0; None for the whole file.
        column: of the sheet, counted from 0.
        hint: the option that says otherwise.
    """

    kind: str
    message: str
    row: int | None = None
    column: int = 0
    hint: str = ""

    @property
    def address(self) -> str | None:
        """The address of the cell; None for the whole file."""
        return None if self.row is None else cell_address(self.row, self.column)


def list_findings(
    doubts: Sequence[Doubt],
    title: str | None,
    names: Mapping[int, str],
    index_of: Callable[[int], int | None],
) -> list[Finding]:
    """Return a finding for each kind of doubt.

    `title`: of the sheet, for addresses; None where there is only one. `names`: of the columns, by their numbers.
    `index_of`: returns the index of the cells of a row, or None.
    """
    by_kind: dict[str, list[Doubt]] = {}
    for doubt in doubts:
        by_kind.setdefault(doubt.kind, []).append(doubt)
    findings = []
    for alike in by_kind.values():
        first = alike[0]
        where = first.address if title is None or first.address is None else f"{title}!{first.address}"
        more = f" (and {len(alike) - 1} more)" if len(alike) > 1 else ""
        array = names.get(first.column) if first.kind in _OF_CELLS + _OF_COLUMNS else None
        index = index_of(first.row) if first.kind in _OF_CELLS and array is not None and first.row is not None else None
        at = None if index is None else (index,)
        findings.append(Finding("warning", where, f"{first.message}{more}", first.hint, array=array, index=at))
    return findings


def warn_of(findings: Sequence[Finding], source: str = "") -> None:
    """Issue a warning for each finding, at the line of the caller; it begins with the name of the source, if given."""
    for finding in findings:
        where = f"{finding.location}: " if finding.location else ""
        hint = f"; {finding.hint}" if finding.hint else ""
        warn_caller(f"{source + ', ' if source else ''}{where}{finding.message}{hint}")
