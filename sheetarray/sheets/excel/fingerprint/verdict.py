"""The findings of `check` about an array whose fingerprint the workbook has: what has become of it.

An array that is unchanged bit for bit has no finding. Rounding by a program that has saved the file is a warning, which
says how far numbers were rounded. Anything else is an error: elements edited, reordered, moved, lost, or multiplied by
a power of ten; `edits` finds out which.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ....dtypes import Buffer
from ....errors import Finding
from ....header import Header
from .decimal15 import EXPONENT, digits_from_text
from .edits import FingerprintComparison, Moved
from .maker import exact_checksum
from .moments import find_hidden_edit
from .record import Fingerprint, header_checksum
from .sums import WIDTH

# Finds numbers that a program rounded to 20 decimals, as LibreOffice does in .ods: small ones lose digits by that.
#
# If an element was y and is x now, a multiple of 10^-20, then y was no further from x than half of 10^-20. The
# fingerprint tells by how much the element's code has changed: so every decimal of 15 digits that near is tried.
# Where there are too many, as below 10^-11, nothing can be proved, and nothing disproved.
#
# The mathematics is explained in docs/fingerprint.md.

_UNITS = 1e20  # units of the 20th decimal in 1, exactly
_SMALL = 1e-5  # from here on, 20 decimals hold 15 digits
_WITH_EXPONENT = 1e-14  # numbers below are written with an exponent, and lose nothing
_MOST_TRIED = 2**17  # decimals that are tried for one element
_MOST_DECIMALS_TRIED = 2**22
_PLAIN = 1e-5  # the largest edit that may stay unseen for rounding to be believed where no element proves it


class Cut(NamedTuple):
    """Elements that seem to have changed, and small numbers among them.

    Attributes:
        edited: the indices of elements that were not rounded, but edited.
        others: the stretches with changed elements whose indices are unknown, and with no small number.
        doubtful: the stretches with changed elements whose indices are unknown, and which may only have been rounded.
    """

    edited: list[int]
    others: list[int]
    doubtful: list[int]


def cut_at_20(case: FingerprintComparison) -> Cut | None:
    """Return the edits besides a rounding to 20 decimals; None if there is no sign of such a rounding."""
    view, record = case.view, case.record
    if case.dtype.numpy != np.float64 or record.sixteen is None or view.digits != 15 or view.grown:
        return None
    numbers: np.ndarray[Any, np.dtype[np.float64]] = case.buffer
    with np.errstate(invalid="ignore"):
        small = (np.abs(numbers) < _SMALL) & (np.abs(numbers) >= _WITH_EXPONENT)
    if not small.any() or (np.rint(numbers[small] * _UNITS) / _UNITS != numbers[small]).any():
        return None
    edited, others = view.edited_elements
    results = _compare_rounding(case, [index for index in edited if small[index]])
    hidden = None
    if record.moments is not None and case.moments is not None:
        hidden = find_hidden_edit(record.moments, case.moments, numbers)
    if not any(results.values()) and not (hidden is not None and hidden < _PLAIN):
        return None
    size = view.partition.stretch
    doubtful = [stretch for stretch in others if small[stretch * size : (stretch + 1) * size].any()]
    left = [index for index in edited if not small[index] or results.get(index) is False]
    if len(left) == len(edited) and not doubtful:
        return None
    return Cut(left, [stretch for stretch in others if stretch not in doubtful], doubtful)


def _compare_rounding(case: FingerprintComparison, edited: list[int]) -> dict[int, bool]:
    """Return, by their indices, whether elements were only rounded to 20 decimals; those not known are left out."""
    results: dict[int, bool] = {}
    left = _MOST_DECIMALS_TRIED
    for index in edited:
        count = _count_candidates(float(case.buffer[index]))
        if count <= min(_MOST_TRIED, left):
            left -= count
            if (result := _is_rounded(case, index)) is not None:
                results[index] = result
    return results


def _count_candidates(number: float) -> int:
    """Return the number of decimals of 15 digits that, rounded to 20 decimals, may have become a given number."""
    _, exponent, _ = digits_from_text(abs(number))
    return int(10 ** max(0, -6 - (exponent - EXPONENT))) + 3


def _is_rounded(case: FingerprintComparison, index: int) -> bool | None:
    """Return whether an element was only rounded to 20 decimals; None where that cannot be told."""
    number = float(case.buffer[index])
    count = _count_candidates(number)
    digits, exponent, _ = digits_from_text(abs(number))
    if digits - count // 2 < 10**14:  # the numbers below have another exponent: 15 digits of these are finer
        return None
    near = np.arange(digits - count // 2 - 1, digits + count // 2 + 2)
    candidates = np.array([float(f"{unit}e{exponent - EXPONENT - 14}") for unit in near.tolist()])
    codes = case.view.codes(np.copysign(np.append(candidates, abs(number)), number))
    step = np.uint64(case.view.difference.steps[index])
    return bool((((codes[-1] - codes[:-1] - step) & np.uint64(2**WIDTH - 1)) == 0).any())


# Finds integers beyond 2^53 that a program rounded, because it kept them as doubles or wrote 15 to 17 digits.
#
# Such integers are written as text. If somebody has turned that text into numbers, they are rounded: if an integer
# was y and is x now, then y was no further from x than half a unit of its last digit. The fingerprint tells by how
# much the integer's code has changed, so every integer that near is tried. Where several elements of a stretch have
# changed, none can be tried by itself; but if all large ones among them are doubles or short decimals, they count
# as rounded.
#
# The mathematics is explained in docs/fingerprint.md.

_EXACT = 2**53  # integers up to here are doubles
_DIGITS = (15, 16, 17)  # with which programs write a double
_MOST_TRIED_IN_ALL = 2**22

Magnitudes = np.ndarray[tuple[int], np.dtype[np.uint64]]


class RoundedIntegers(NamedTuple):
    """The changes in an array of integers.

    Attributes:
        rounded: the indices of elements that may only have been rounded.
        edited: the indices of elements that were not rounded, but edited.
        others: the stretches with changed elements whose indices are unknown, and which were not all rounded.
        doubtful: the stretches with changed elements whose indices are unknown, and which may all have been rounded.
    """

    rounded: list[int]
    edited: list[int]
    others: list[int]
    doubtful: list[int]


def find_rounded_integers(case: FingerprintComparison) -> RoundedIntegers | None:
    """Return the edits besides a rounding to doubles; None if there is no sign of such a rounding."""
    view = case.view
    if case.dtype.numpy not in (np.dtype(np.int64), np.dtype(np.uint64)) or view.grown:
        return None
    magnitudes = _magnitudes(case.buffer)
    units = _find_units(magnitudes)
    large = (magnitudes >= _EXACT) | (units > 0)  # rounded to 15 digits, 2^53 + 1 is less than 2^53
    short = large & (_are_doubles(magnitudes) | (units > 0))
    if not short.any():
        return None
    edited, others = view.edited_elements
    left = _MOST_TRIED_IN_ALL
    rounded = []
    for index in edited:
        if short[index]:
            half = 2 ** max(int(magnitudes[index]).bit_length() - 54, 0)  # of the distance to the next double
            unit = int(units[index]) or _unit_of_double(int(magnitudes[index]))
            left -= 2 * half + unit
            if left < 0 or _was_near(case, index, half, unit):
                rounded.append(index)
    size = view.partition.stretch
    doubtful = [
        stretch
        for stretch in others
        if (within := large[stretch * size : (stretch + 1) * size]).any()
        and short[stretch * size : (stretch + 1) * size][within].all()
    ]
    if not rounded and not doubtful:
        return None
    return RoundedIntegers(
        rounded,
        [index for index in edited if index not in set(rounded)],
        [stretch for stretch in others if stretch not in set(doubtful)],
        doubtful,
    )


def _magnitudes(buffer: np.ndarray[tuple[int], Any]) -> Magnitudes:
    """Return the integers without their signs, as unsigned ones, so that -2^63 has a magnitude too."""
    unsigned = buffer.astype(np.uint64)  # two's complement
    magnitudes: Magnitudes = np.where(buffer < 0, ~unsigned + np.uint64(1), unsigned)
    return magnitudes


def _are_doubles(magnitudes: Magnitudes) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return a mask of the integers that are doubles."""
    lowest = np.maximum(magnitudes & (~magnitudes + np.uint64(1)), 1)
    double: np.ndarray[Any, np.dtype[np.bool_]] = magnitudes // lowest <= _EXACT
    return double


def _find_units(magnitudes: Magnitudes) -> Magnitudes:
    """Return, for each integer, the unit of its 15th to 17th digit if all digits after that are zeros; else 0."""
    units = np.zeros(len(magnitudes), np.uint64)
    for length in range(16, 21):
        of_length = (magnitudes >= 10 ** (length - 1)) & ((magnitudes < 10**length) if length < 20 else True)
        for digits in sorted(_DIGITS, reverse=True):
            if digits < length:
                unit = np.uint64(10 ** (length - digits))
                units[of_length & (magnitudes % unit == 0)] = unit
    return units


def _unit_of_double(magnitude: int) -> int:
    """Return the unit of the last digit with which an integer may have been printed, before it became a double again.

    0 if no such printing gives it.
    """
    for digits in _DIGITS[:2]:
        more = len(str(magnitude)) - digits
        if more > 0 and int(float(f"{float(magnitude):.{digits - 1}e}")) == magnitude:
            return int(f"1{'0' * more}")
    return 0


def _was_near(case: FingerprintComparison, index: int, half: int, unit: int) -> bool:
    """Return whether an element may have been an integer that a program rounded to its present value.

    `half`: half of the distance between doubles at the element. `unit`: of the last digit with which the element may
    have been printed; 0 if it was not, so that an integer that is a double was not rounded to another one.
    """
    limits = np.iinfo(case.dtype.numpy)
    now = int(case.buffer[index])
    span = half + unit // 2 if unit else half
    low, high = max(now - span, int(limits.min)), min(now + span, int(limits.max))
    near = np.arange(high - low + 1, dtype=np.uint64) + np.array([low % 2**64], dtype=np.uint64)
    candidates = np.append(near, np.array([now % 2**64], dtype=np.uint64)).view(case.dtype.numpy)
    if not unit:
        candidates = np.append(candidates[:-1][~_are_doubles(_magnitudes(candidates[:-1]))], candidates[-1])
    codes = case.view.codes(candidates)
    step = np.uint64(case.view.difference.steps[index])
    return bool((((codes[-1] - codes[:-1] - step) & np.uint64(2**WIDTH - 1)) == 0).any())


# The findings of `check` about an array whose fingerprint the workbook has: what has become of it.
#
# An array that is unchanged bit for bit has no finding. Rounding by a program that has saved the file is a warning,
# which says how far numbers were rounded. Anything else is an error: elements edited, reordered, moved, lost, or
# multiplied by a power of ten; `edits` finds out which.
#
# The mathematics is explained in docs/fingerprint.md.

_RESTORE = "restore it from a copy of the file; if the change was meant, sheetarray adopt accepts it"
_KEEP_DIGITS = 'write with cells="text" to keep every digit in any program'
_SIXTEEN = 6.2e-16  # relative: half a unit of the 16th digit of 1.000, and the rounding to a double
_KEEP_TEXT = (
    "integers of more than 15 digits stand as text: restore them from a copy of the file, and do not turn the text "
    "into numbers"
)
_MOST_RANGES = 5
_FEW = 3  # edits that need no other explanation


def compare_with_fingerprint(
    record: object, header: Header, buffer: Buffer, name: str, address: Callable[[int], str], *, most: int = 20
) -> Iterator[Finding]:
    """Yield findings about what has become of an array since it was written; nothing if it is unchanged.

    `record`: the fingerprint, as it was stored; nothing is yielded if it is no fingerprint. `header`: of the array, as
    it stands in the sheet now. `buffer`: the elements that are there now, of the header's dtype: fewer, or more, than
    were written are accepted. `address`: of the cell of an element, by its index in the buffer. `most`: how many
    edited elements are named one by one.
    """
    stored = Fingerprint.from_json(record)
    if stored is None:
        return
    if stored.dtype != header.dtype.name:
        reason = f"written as {stored.dtype}, and its header says {header.dtype.name} now"
        yield Finding("error", name, reason, f"type {stored.dtype:.40} into the cell below dtype")
        return
    if stored.header is not None and stored.header != header_checksum(header):
        reason = "its shape, strides, offset or order was edited in the header since it was written"
        yield Finding("error", name, reason, _RESTORE)
    if len(buffer) == stored.count and exact_checksum(buffer, header.dtype) == stored.exact:
        return
    yield from _Verdict(FingerprintComparison(stored, buffer, header.dtype), header, name, address).findings(most)


def find_rounding(
    case: FingerprintComparison, header: Header, name: str, address: Callable[[int], str], *, lost: int
) -> Iterator[Finding]:
    """Yield the finding that numbers of an array were rounded which has lost elements, if that is certain.

    `address`: of the cell of an element, by its index in the buffer. `lost`: the number of elements that are gone.
    """
    yield from _Verdict(case, header, name, address)._rounded_too("every other number", lost=lost)


class _Verdict:
    """The findings about one array, by the simplest explanation of what has changed.

    `address`: returns the address of an element's cell, by its index in the buffer.
    """

    def __init__(self, case: FingerprintComparison, header: Header, name: str, address: Callable[[int], str]) -> None:
        self.case, self.view, self.partition = case, case.view, case.view.partition
        self.header, self.name, self.address = header, name, address

    def findings(self, most: int) -> Iterator[Finding]:
        case, view = self.case, self.view
        if view.grown:
            yield from self._length_findings(most)
        elif view.is_same:
            yield self._resaved_finding()
        elif case.power_of_ten and np.count_nonzero(case.buffer) > 1:
            yield self._scaled_finding(case.power_of_ten)
        elif view.is_reordered:
            yield from self._rounded_too("every number")
            yield self._reordered_finding(most)
        elif (cut := cut_at_20(case)) is not None:
            yield self._cut(cut)
            yield from self._edited_findings(cut.edited, cut.others, most)
        elif (integers := find_rounded_integers(case)) is not None:
            yield self._kept_as_doubles(integers)
            yield from self._edited_findings(integers.edited, integers.others, most)
        elif case.last_digits and not view.edited_elements[1]:
            yield from self._edited_and_rounded(most)
        elif case.power_of_ten == 0 and case.sixteen is not None and (view.digits == 15 or view.edited_elements[1]):
            yield self._last_digits()
        elif (moved := self._find_move()) is not None:
            yield from self._rounded_too("every other number", lost=self.partition.count // 2)
            yield self._moved_finding(moved)
        else:
            edited, others = view.edited_elements
            alike = {"lost": self.partition.count // 2} if others else {"edited": len(edited)}
            if len(others) < self.partition.stretches:  # there are others
                yield from self._rounded_too("every other number", **alike)
            yield from self._edited_findings(edited, others, most)

    # Rounded -------------------------------------------------------------------------------------------------

    def _resaved_finding(self) -> Finding:
        case = self.case
        if case.dtype.kind == "float" and not case.record.longer and not case.buffer.all():
            return self._warning("re-saved by a program that knows no -0.0: it has become 0; all else is as written")
        if case.sixteen is not None and case.sixteen.is_same:
            return self._keeps_sixteen_digits("every number")
        if case.longer:
            return self._warning(
                "re-saved by a program that rounds: numbers differ from what was written, "
                "but in none of their first 15 digits"
            )
        return self._keeps_fifteen_digits("every number")

    def _edited_and_rounded(self, most: int) -> Iterator[Finding]:
        """Yield findings about elements, some of them edited, others only rounded by a unit of their last digit."""
        rounded = set(self.case.last_digits)
        yield self._last_digits()
        yield from self._edited_findings(
            [index for index in self.view.edited_elements[0] if index not in rounded], [], most
        )

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

        `which`: the words for the numbers, such as "every other number". `edited`: see
        `FingerprintComparison.was_rounded`. `lost`: see `FingerprintComparison.was_rounded`.
        """
        if self.view.digits == 16 or (self.view.way == "twice" and self.case.longer > edited + lost):
            yield self._keeps_sixteen_digits(which)
        elif self.case.was_rounded(edited=edited, lost=lost):
            yield self._keeps_fifteen_digits(which)

    def _warning(self, message: str) -> Finding:
        return Finding("warning", self.name, message, _KEEP_DIGITS)

    # Changed -------------------------------------------------------------------------------------------------

    def _scaled_finding(self, power: int) -> Finding:
        size = f"{10 ** abs(power)}" if abs(power) < 7 else f"10^{abs(power)}"
        how = f"multiplied by {size}" if power > 0 else f"divided by {size}"
        hint = "a decimal mark that was taken for a thousands separator does this"
        return self._error(f"all numbers were {how} since they were written", hint)

    def _error(self, message: str, hint: str = "") -> Finding:
        return Finding("error", self.name, message, f"{hint}; {_RESTORE}" if hint else _RESTORE)

    def _reordered_finding(self, most: int) -> Finding:
        edited, others = self.view.edited_elements
        if direction := _sort_direction(self.case.buffer):
            message = f"sorted: the elements are those that were written, but in {direction} order"
        elif not others and 0 < len(edited) <= most:
            message = "reordered: these elements are those that were written, but each in another's place: "
            message += ", ".join(map(self._element, edited))
        else:
            message = "reordered: the elements are those that were written, but in another order"
            if len(self.view.changed) < self.partition.stretches:
                message += f" {self._range_text(self.view.changed[0], self.view.changed[-1])}"
        return Finding("error", self.name, message, _RESTORE)

    def _length_findings(self, most: int) -> Iterator[Finding]:
        view, count = self.view, self.partition.count
        more, lost = max(view.grown, 0), max(-view.grown, 0)
        if moved := view.move:
            yield from self._rounded_too("every other number", edited=more, lost=lost)
            yield self._moved_finding(moved)
            edited, others = view.edited_elements
            before = [index for index in edited if index < moved.first * self.partition.stretch]
            yield from self._edited_findings(before, [stretch for stretch in others if stretch < moved.first], most)
            return
        changed = bool(view.changed)
        yield from self._rounded_too("every number", edited=more, lost=count // 2 if changed else lost)
        if more:
            message = f"{_count_elements(more)} more than the {count} that were written"
            message += "" if changed else ", added at the end"
        else:
            left = len(view.buffer)
            message = f"truncated: {left} of {_count_elements(count)} {'is' if left == 1 else 'are'} left"
            sure = min(view.whole * self.partition.stretch, left)
            if not changed and sure:
                message += ", and all as written" if sure == left else f", the first {sure} of them as written"
                message += f", to {view.digits} digits" if self.case.sixteen is not None else ""
        yield Finding("error", self.name, message, _RESTORE)
        yield from self._edited_findings(*view.edited_elements, most)

    def _find_move(self) -> Moved | None:
        """Return the move that explains the changes in an array of the same length; None if a few edits do."""
        edited, others = self.view.edited_elements
        return self.view.move if others or len(edited) > _FEW else None

    def _moved_finding(self, moved: Moved) -> Finding:
        size = abs(moved.step)
        rows = self._describe_rows(size)
        what, way = ("inserted", "down") if moved.step > 0 else ("deleted", "up")
        if moved.first == moved.start:
            where = f"before {self._stretch_ends(moved.start)[0]}"
        else:
            where = self._range_text(moved.first, moved.start - 1)
        message = f"{_count_elements(size)} {rows}{'was' if size == 1 else 'were'} {what} {where}; "
        upto = "" if moved.stop == self.partition.stretches else f", up to {self._stretch_ends(moved.stop - 1)[1]},"
        return Finding("error", self.name, f"{message}what follows{upto} has moved {way} by {size}", _RESTORE)

    def _describe_rows(self, size: int) -> str:
        """Return the words for a number of elements as rows; empty if they are no whole rows, or the array is 1-D."""
        along = self.header.shape[1:] if self.header.order == "row-major" else self.header.shape[:-1]
        row = math.prod(along)
        if len(self.header.shape) < 2 or row < 2 or size % row:
            return ""
        return f"({size // row} row{'' if size == row else 's'} of {row}) "

    def _edited_findings(self, edited: list[int], others: list[int], most: int) -> Iterator[Finding]:
        for index in edited[:most]:
            message = f"{self._element(index)} was edited since it was written"
            yield Finding("error", self.address(index), message, _RESTORE, index=self.header.index_at(index))
        if more := edited[most:]:
            last = f"{self._element(more[-1])} ({self._cell(more[-1])})"
            yield Finding(
                "error", self.name, f"{_count_elements(len(more))} more edited, the last of them {last}", _RESTORE
            )
        if others:
            yield self._other_findings(others, more=bool(edited))

    def _other_findings(self, stretches: list[int], *, more: bool) -> Finding:
        what = "more elements were" if more else "elements were"
        if self.partition.stretches == 1:
            message = f"{what} edited: more than one, and a workbook of so many arrays does not remember which"
            message += self._or_rounded
        elif len(stretches) == self.partition.stretches:
            message = f"{what} edited throughout the array: some in each run of {self.partition.stretch}"
            message += self._or_rounded
        else:
            ends = [0, *(k for k in range(1, len(stretches)) if stretches[k] != stretches[k - 1] + 1), len(stretches)]
            runs = [(stretches[a], stretches[b - 1]) for a, b in pairwise(ends)]
            message = f"{what} edited " + ", ".join(self._range_text(*run) for run in runs[:_MOST_RANGES])
            if len(runs) > _MOST_RANGES:
                message += f", and at {len(runs) - _MOST_RANGES} more places"
            message += self._or_rounded
        return Finding("error", self.name, message, _RESTORE)

    @property
    def _or_rounded(self) -> str:
        return ", or rounded in a way that is not known" if self.case.dtype.kind in ("float", "complex") else ""

    # Elements ------------------------------------------------------------------------------------------------

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


def _count_elements(count: int) -> str:
    return "1 element" if count == 1 else f"{count} elements"


def _sort_direction(buffer: Buffer) -> str | None:
    """Return the word `ascending` or `descending` for sorted elements, NaN last; None if they are not sorted."""
    if buffer.dtype.kind in "cO":
        return None
    missing = np.isnan(buffer) if buffer.dtype.kind == "f" else np.isnat(buffer) if buffer.dtype.kind in "mM" else None
    present = buffer if missing is None else buffer[: len(buffer) - int(missing.sum())]
    if missing is not None and missing[: len(present)].any():
        return None
    if bool((present[1:] >= present[:-1]).all()):
        return "ascending"
    return "descending" if bool((present[1:] <= present[:-1]).all()) else None
