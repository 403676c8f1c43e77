"""The table of shared strings of a workbook.

Source: ECMA-376 part 1, 18.4.9 (sst), 18.4.8 (si).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ....columns import cell_address
from ....columns.words import WORDS
from ....dtypes import Mask, Positions
from ....errors import FormatError
from ....loops import scan, texts_to_series
from ..package.package import Package
from .cells import CellRun, missing_text_error, unescape
from .parsing import part_blocks
from .xml_elements import PartParser, StringItem

if TYPE_CHECKING:
    import polars as pl


SHORT_STRINGS = 2**15  # bytes of a part for which no second thread is started
MOST_IN_STRINGS = 2_000_000  # elements of a part that the XML parser reads beside the loop
_SHORT_TEXT = 128  # bytes of a text that every cell of a sheet may refer to
_REPEATED_ALWAYS, _REPEATED_TIMES = 2**27, 8  # bytes of long texts that may be looked up: in all, and more for each


MOST_STRINGS = 2**24  # of a workbook: each takes some 30 bytes of memory, however short it is


class SharedStrings:
    """The strings to which cells refer by number.

    A reference takes a few bytes of a file, compressed even less, but in an array of strings each cell takes the memory
    of its whole text. So the bytes of long texts that are looked up are counted, and limited.

    `part`: the name of the part with the strings; None if the workbook has no shared strings.

    Attributes:
        texts: a String Series; the number of a text is its index.

    Raises:
        FormatError: the part is missing or damaged.
    """

    def __init__(self, package: Package, part: str | None) -> None:
        import polars as pl

        runs, count = [pl.Series([], dtype=pl.String)], 0
        if part is not None:
            blocks = part_blocks(package, part, SHORT_STRINGS)
            for run in _Items().read(blocks, part, most=MOST_IN_STRINGS):
                count += len(run)
                if count > MOST_STRINGS:  # empty ones take no byte of a compressed part
                    raise FormatError(f"more than {MOST_STRINGS:,} shared strings", location=part)
                runs.append(run)
        self.texts = pl.concat(runs)
        self._repeated = 0  # bytes of long texts that were looked up

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def words(self) -> Mask:
        """A mask of the strings that are words of headers, in any case and between spaces."""
        return self.texts.str.strip_chars().str.to_lowercase().is_in(list(WORDS)).to_numpy()

    def look_up(self, cells: CellRun, shared: Positions) -> pl.Series:
        """Return the strings to which some cells refer.

        `shared`: the indices of those cells that refer to shared strings.

        Raises:
            FormatError: a cell refers to a string that is not in the table, or cells refer again and again to long
                ones.
        """
        indices = cells.numbers[shared]
        wrongs = ~((indices >= 0) & (indices < len(self)) & (indices == np.floor(indices)))  # NaN too
        if wrongs.any():
            place = shared[np.flatnonzero(wrongs)[:1]]
            location = cell_address(int(cells.rows[place[0]]), int(cells.columns[place[0]]))
            written: Any = cells.written(place)
            raise missing_text_error(written[0], len(self), location)
        numbers = indices.astype(np.int64)
        if (lengths := self._long_lengths) is not None:
            self._repeated += int(lengths[numbers].sum())
            if self._repeated > _REPEATED_ALWAYS + _REPEATED_TIMES * int(lengths.sum()):
                reason = f"cells refer again and again to long shared strings, of {self._repeated:,} bytes so far"
                raise FormatError(reason, hint="let a few cells hold the long texts, and the others short ones")
        return self.texts[numbers]

    @cached_property
    def _long_lengths(self) -> pl.Series | None:
        """The bytes of each text beyond `_SHORT_TEXT`; None if no text has more."""
        import polars as pl

        lengths = self.texts.str.len_bytes().cast(pl.Int64) - _SHORT_TEXT
        return lengths.clip(lower_bound=0) if (lengths > 0).any() else None


class _Items(PartParser["pl.Series"]):
    """Takes the string items from the XML parser."""

    tag = "si"

    def __init__(self) -> None:
        super().__init__()
        self._texts: list[str] = []
        self._item = StringItem()

    def are_between(self) -> bool:
        return len(self.open) == 1

    def scan(self, text: bytes, start: int, prefix: bytes, prefixes: bytes) -> tuple[pl.Series, int]:
        """Return the strings that the compiled loop reads, and the place of the byte after the last of them."""
        end, _, _, texts, *_ = scan.scan_strings(text, start, prefix, prefixes, 0, 0)
        return unescape(texts_to_series(texts)), end

    def begin(self, name: str, attributes: dict[str, str]) -> bool:
        space, _, local = name.rpartition(" ")
        if len(self.open) == 1:
            if local != "sst":
                raise FormatError("the part has no sst")
            self.space = space
            return True
        if space != self.space:
            return False
        if len(self.open) == 2:
            self._item = StringItem()
            return local == "si"
        return self._item.begin(self.open[-2].rpartition(" ")[2], local, attributes)

    def characters(self, text: str) -> None:
        if len(self.open) > 2:
            self._item.characters(self.open[-1].rpartition(" ")[2], text)

    def end(self, name: str) -> None:
        self._item.end(name.rpartition(" ")[2])
        if len(self.open) == 1:
            self._texts.append(self._item.text())

    def take(self) -> pl.Series | None:
        import polars as pl

        texts, self._texts = self._texts, []
        return pl.Series(texts, dtype=pl.String) if texts else None
