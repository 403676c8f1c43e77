"""The findings about an array whose elements a program rounded when it saved the workbook.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ....errors import Finding
from ....header import Header
from .decimals20 import Cut
from .edits import FingerprintComparison
from .integers import RoundedIntegers

_KEEP_DIGITS = 'write with cells="text" to keep every digit in any program'
_SIXTEEN = 6.2e-16  # relative: half a unit of the 16th digit of 1.000, and the rounding to a double
_KEEP_TEXT = (
    "integers of more than 15 digits stand as text: restore them from a copy of the file, and do not turn the text "
    "into numbers"
)


class RoundingFindings:
    """Findings about one array that was rounded, and the words for its elements.

    Args:
        case: the array and its fingerprint.
        header: as the array has it now.
        name: of the array.
        address: returns the address of an element's cell, by its index in the buffer.
    """

    def __init__(self, case: FingerprintComparison, header: Header, name: str, address: Callable[[int], str]) -> None:
        self.case, self.view, self.partition = case, case.view, case.view.partition
        self.header, self.name, self.address = header, name, address

    def _keeps_fifteen_digits(self, which: str) -> Finding:
        error = self.case.record.error
        how_far = f": {which} is within {error:.2g} of what was written, relatively" if error is not None else ""
        way = {"even": ", rounding as %.15g does", "twice": ", after one that keeps 16"}.get(self.view.way, "")
        return self._warning(f"re-saved by a program that keeps 15 digits{way}{how_far}")

    def _keeps_sixteen_digits(self, which: str) -> Finding:
        return self._warning(
            f"re-saved by a program that keeps 16 digits: {which} is within {_SIXTEEN} of what was written, relatively"
        )

    def _last_digits(self) -> Finding:
        return self._warning(
            "re-saved by a program that rounds in its own way: numbers differ from what was written "
            "by a unit or two of their 15th digit, so that a smaller edit could not be told"
        )

    def _cut(self, cut: Cut) -> Finding:
        message = (
            "re-saved by a program that keeps 20 decimals: numbers below 1e-5 were rounded, and a small edit of them"
        )
        if cut.doubtful:
            message += f", or any {self._range_text(cut.doubtful[0], cut.doubtful[-1])},"
        message += " could not be told"
        return self._warning(message)

    def _kept_as_doubles(self, integers: RoundedIntegers) -> Finding:
        rounded, doubtful = integers.rounded, integers.doubtful
        message = "re-saved by a program that keeps integers as doubles: "
        if len(rounded) == 1 and not doubtful:
            message += f"{self._element(rounded[0])} ({self._cell(rounded[0])}), beyond 2^53, was rounded"
        else:
            size = self.partition.stretch
            ends = [*rounded, *(stretch * size for stretch in doubtful)]
            last = [*rounded, *(min((stretch + 1) * size, self.partition.count) - 1 for stretch in doubtful)]
            message += f"those beyond 2^53 were rounded, from {self._element(min(ends))} to {self._element(max(last))}"
        if doubtful:
            message += "; whether others near them were edited could not be told"
        return Finding("warning", self.name, message, _KEEP_TEXT)

    def _rounded_too(self, which: str, *, edited: int = 0, lost: int = 0) -> Iterator[Finding]:
        """Yield the finding that numbers were rounded besides what else happened, if that is certain.

        Args:
            which: the words for the numbers, such as "every other number".
            edited: see `FingerprintComparison.was_rounded`.
            lost: see `FingerprintComparison.was_rounded`.
        """
        if self.view.digits == 16 or (self.view.way == "twice" and self.case.longer > edited + lost):
            yield self._keeps_sixteen_digits(which)
        elif self.case.was_rounded(edited=edited, lost=lost):
            yield self._keeps_fifteen_digits(which)

    def _warning(self, message: str) -> Finding:
        return Finding("warning", self.name, message, _KEEP_DIGITS)

    def _element(self, index: int) -> str:
        return self.header.describe_element(self.name, index)

    def _cell(self, index: int) -> str:
        return self.address(index).rpartition("!")[2]

    def _stretch_ends(self, stretch: int) -> tuple[str, str]:
        ends = stretch * self.partition.stretch, min((stretch + 1) * self.partition.stretch, self.partition.count) - 1
        first, last = (f"{self._element(index)} ({self._cell(index)})" for index in ends)
        return first, last

    def _range_text(self, first: int, last: int) -> str:
        begin, end = self._stretch_ends(first)[0], self._stretch_ends(last)[1]
        return f"at {begin}" if begin == end else f"between {begin} and {end}"
