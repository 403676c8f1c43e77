"""The table of shared strings of a workbook.

Source: ECMA-376 part 1, 18.4.9 (sst), 18.4.8 (si).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ....columns import cell_address
from ....dtypes import Mask, Positions
from ....loops import COMPILED, scan, to_series
from ..package.parts import Package
from .blocks import inflate_blocks, run_ahead, to_utf8
from .cells import LONGEST_EXACT
from .cutting import Scope, read_elements
from .events import MOST_IN_STRINGS, NO_END, MarkupBudget, StringReader, parse_elements
from .raw import RawCells
from .shared_texts import SharedTexts, missing_text_error

if TYPE_CHECKING:
    import polars as pl

_SHORT = 2**15  # bytes of a part for which no second thread is started


class SharedStrings(SharedTexts):
    """The strings to which cells refer by number.

    `part`: the name of the part with the strings; None if the workbook has no shared strings.

    Raises:
        FormatError: the part is missing or damaged.
    """

    def __init__(self, package: Package, part: str | None) -> None:
        import polars as pl

        runs = [pl.Series([], dtype=pl.String)]
        if part is not None:
            blocks = to_utf8(inflate_blocks(package, part), part)
            if package.member(part).size > _SHORT:
                blocks = run_ahead(blocks)
            budget = MarkupBudget(MOST_IN_STRINGS if COMPILED else NO_END)

            def parse(text: bytes, scope: Scope) -> tuple[pl.Series, int, bool]:
                reader = StringReader()
                end, has_ended = parse_elements(text, scope, reader, tag="si", name=part, budget=budget)
                return pl.Series(reader.texts[: reader.whole], dtype=pl.String), end, has_ended

            runs += read_elements(blocks, part, around="sst", tag="si", scan=_scan, parse=parse)
        super().__init__(pl.concat(runs))

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def numbers(self) -> pl.Series:
        """The strings as Float64; null for those that are no numerals."""
        import polars as pl

        return self.texts.cast(pl.Float64, strict=False)

    @cached_property
    def lengths(self) -> Positions:
        """The bytes of each string."""
        return self.texts.str.len_bytes().to_numpy().astype(np.int64)

    def words(self, wanted: Sequence[str]) -> Mask:
        """Return a mask of the strings that are one of some texts, in any case and between spaces."""
        return self.texts.str.strip_chars().str.to_lowercase().is_in(list(wanted)).to_numpy()

    def look_up_cells(self, raw: RawCells, shared: Positions, numeric: bool) -> tuple[pl.Series, Positions]:
        """Return the strings to which some cells refer, and the indices of the cells with long ones.

        Long are strings of more than `LONGEST_EXACT` bytes; they are only found if `numeric`.

        `shared`: the indices of those cells that refer to shared strings. `numeric`: give strings that are numerals as
        Float64, and null for all others.

        Raises:
            FormatError: a cell refers to a string that is not in the table.
        """
        indices = raw.numbers[shared]
        wrongs = ~raw.numeral[shared] | (indices < 0) | (indices >= len(self)) | (indices != np.floor(indices))
        if wrongs.any():
            place = shared[np.flatnonzero(wrongs)[:1]]
            location = cell_address(int(raw.rows[place[0]]), int(raw.columns[place[0]]))
            raise missing_text_error(raw.texts(place)[0], len(self), location)
        places = indices.astype(np.int64)
        if not numeric:
            return self.look_up(places), shared[:0]
        return self.numbers[places], shared[(self.lengths[places] > LONGEST_EXACT)]


def _scan(text: bytes, scope: Scope) -> tuple[pl.Series, int]:
    """Return the strings of whole items by the compiled loop, and the byte after the last one."""
    end, texts = scan.scan_strings(text, 0, *scope.known)
    return to_series(texts), end
