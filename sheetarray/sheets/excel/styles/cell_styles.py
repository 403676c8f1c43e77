"""The styles of cells that a write uses: those of a new workbook, and what looks the same in another program's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

FILTER_INDENT = 2  # of a name at the right end, which the button of a filter would cover
MOST_BYTES = 2**24  # of the part that holds styles


@dataclass(frozen=True)
class CellStyles:
    """The indices of a workbook's styles of cells, by what they are for; None for a style that the workbook lacks."""

    bold: int | None = None  # for bold cells
    bold_right: int | None = None  # for bold cells above numbers, whose text is at the right end as numbers are
    # for numbers, dates and booleans, by the codes of their formats without marks that quote
    formats: Mapping[str, int] = field(default_factory=dict)
    # for the choosers of views: by the unit of datetime64 for dates, by "@" for text, by "" for anything else; empty
    # for workbooks of other programs
    choosers: Mapping[str, int] = field(default_factory=dict, repr=False)
    # for cells that people may change in a protected sheet, by the style that they have else, None for the usual one;
    # empty for workbooks of other programs, and for those without views
    unlocked: Mapping[int | None, int] = field(default_factory=dict, repr=False)
    bold_filtered: int | None = None  # as `bold_right`, with room for the button of a filter

    def of_formats(self, codes: Iterable[str | None]) -> list[int | None]:
        """Return the style for each of some formats; None for the general one, and where the workbook lacks it."""
        return [None if code is None else self.formats.get(plain_code(code)) for code in codes]

    def code_of(self, style: int | None) -> str | None:
        """Return the code of the format of a style for numbers, without marks that quote; None for any other style."""
        return None if style is None else self._codes.get(style)

    @cached_property
    def _codes(self) -> dict[int, str]:
        return {index: code for code, index in reversed([*self.formats.items()])}


_UNUSED = re.compile(r'\[\$-[0-9A-Fa-f]+\]|[\\"]|;@$')


@lru_cache(maxsize=64)
def plain_code(code: str) -> str:
    """Return the code of a format as codes are compared.

    Its language is left out, and the marks that quote characters, and a last section that shows texts as they are.
    """
    return _UNUSED.sub("", code).lower()
