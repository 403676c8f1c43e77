"""The findings of `check` about an array whose fingerprint the workbook has: what has become of it.

An array that is unchanged bit for bit has no finding. Rounding by a program that has saved the file is a warning, which
says how far numbers were rounded. Anything else is an error: elements edited, reordered, moved or lost. A change of
all elements that was the same for all is explained where there is a guard (`comparing`).

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from ....dtypes import Buffer, DType
from ....errors import Finding
from ....header import Header
from ....loops import digits_of_doubles
from .codes import MOST, Codes, code_elements, to_native
from .record import Fingerprint, exact_checksum, header_checksum, partitions_for, take_fingerprint
from .sums import KEPT, Pair, Partition, find_hidden_edit, single_change, weight

RESTORE = "restore it from a copy of the file; if the change was meant, sheetarray accept takes it"
_COMPARE = (
    "compare with a copy of the file: sheetarray diff says whether all changed alike; if the change was meant, "
    "sheetarray accept takes it"
)
_KEEP_DIGITS = 'write with cells="text" to keep every digit in any program'
_WITHIN = {15: 5e-15, 16: 6.2e-16}  # relative: half a unit of the last digit of 1.00, and the rounding to a double
_MOST_NAMED = 20  # edited elements that are named one by one
_MOST_RANGES = 5
_FEW = 3  # edits that need no other explanation
_OWN_WAY = "re-saved by a program that rounds in its own way"
_TYPICAL = 1e-6  # relative to a number of typical size: the largest edit that may stay unseen beside rounding


class SumsView:
    """The changes of an array, as seen by its sums at 15 or 16 digits.

    `then`: the sums when the array was written. `now`: those of today.

    Attributes:
        grown: the number of elements that are there now, minus the number written.
        steps: by how much the code of each element in `edited_elements` has changed.
        whole: the number of stretches of which all elements are there.
        changed: those of these stretches whose sums have changed.
    """

    def __init__(
        self, case: FingerprintComparison, digits: Literal[15, 16], partition: Partition, then: Pair, now: Pair
    ) -> None:
        self._case, self.digits, self.partition, self.then = case, digits, partition, then
        first, second = ((after - before) & np.uint64(KEPT) for before, after in zip(then, now, strict=True))
        self._first: list[int] = first.tolist()
        self._second: list[int] = second.tolist()
        self.steps: dict[int, int] = {}
        count = len(case.buffer)
        self.grown = count - partition.count
        self.whole = partition.stretches if self.grown >= 0 else count // partition.stretch
        self.changed: list[int] = np.flatnonzero((first | second)[: self.whole]).tolist()

    def codes(self, buffer: Buffer) -> Codes:
        """Return the codes of elements at that number of digits."""
        runs = [np.empty(0, np.uint64)]
        for start in range(0, len(buffer), MOST):
            piece = to_native(buffer[start : start + MOST])
            coded = code_elements(piece, self._case.dtype, is_old=self._case.record.is_old)
            runs.append(coded.sixteen if self.digits == 16 and coded.sixteen is not None else coded.fifteen)
        return np.concatenate(runs)

    @property
    def is_same(self) -> bool:
        """Whether all elements are what they were."""
        return not self.grown and not any(self._first) and not any(self._second)

    @property
    def is_reordered(self) -> bool:
        """Whether only the weighted sums differ: the same elements in another order."""
        plain = sum(self._first[: self.partition.stretches]) & KEPT
        return not self.grown and not plain and not self.is_same

    @cached_property
    def edited_elements(self) -> tuple[list[int], list[int]]:
        """The indices of the edited elements that can be found, and the stretches that hold edited ones besides."""
        if self.grown < 0:
            return [], self.changed
        first, second, elements = list(self._first), list(self._second), set[int]()
        waiting = [group for group in range(self.partition.groups) if first[group]]
        while waiting:
            group = waiting.pop()
            index = single_change(first[group], second[group], self.partition.count)
            if index is None or index in elements or group not in (groups := self.partition.groups_of(index)):
                continue
            elements.add(index)
            step = self.steps[index] = first[group]
            for other in groups:
                first[other] = (first[other] - step) & KEPT
                second[other] = (second[other] - step * weight(index)) & KEPT
            waiting += [other for other in groups if first[other]]
        stretches = range(self.partition.stretches)
        return sorted(elements), [stretch for stretch in stretches if first[stretch] or second[stretch]]

    @property
    def edit_amount(self) -> tuple[float, int]:
        """The extent of edits, to be compared: the share of stretches with unknown ones, then the number of others."""
        elements, others = self.edited_elements
        return len(others) / max(self.whole, 1), len(elements)


class FingerprintComparison:
    """The comparison of an array with the fingerprint that it had when it was written; `buffer`: of today."""

    def __init__(self, record: Fingerprint, buffer: Buffer, dtype: DType) -> None:
        self.record, self.buffer, self.dtype = record, buffer, dtype
        self.now, (fine, coarse) = self._take(buffer), partitions_for(record.count, record.blocks)
        self.fifteen = SumsView(self, 15, fine, record.fifteen, self.now.fifteen)
        self.sixteen: SumsView | None = None
        if record.sixteen is not None and self.now.sixteen is not None:
            self.sixteen = SumsView(self, 16, coarse, record.sixteen, self.now.sixteen)

    def _take(self, buffer: Buffer) -> Fingerprint:
        record = self.record
        return take_fingerprint(buffer, self.dtype, record.count, blocks=record.blocks, is_old=record.is_old)

    @cached_property
    def element_codes(self) -> tuple[Codes, Codes] | None:
        """The code of each element as it was written, and as it is now; None unless the fingerprint has one of each.

        A double that a program has rounded in a way of its own has another last digit than one that was rounded to 15
        digits at once; both count as the same.
        """
        if self.fifteen.partition.stretch > 1:
            return None
        then, now = self.fifteen.then[0], self.fifteen.codes(self.buffer) & np.uint64(KEPT)
        others = np.flatnonzero(~np.isin(now, then)).tolist() if self.dtype.numpy == np.float64 else []
        for index in others:
            tried = _candidates_of(self.buffer, index, _MOST_NEAR)
            near = self.fifteen.codes(tried) & np.uint64(KEPT) if tried is not None else now[:0]
            now[index] = next(iter(near[np.isin(near, then)]), now[index])
        return then, now

    @cached_property
    def view(self) -> SumsView:
        """The view at that number of digits at which least has changed: an array kept to 16 may look edited at 15."""
        fine, coarse = self.fifteen, self.sixteen
        if coarse is None or fine.is_same or fine.is_reordered:
            return fine
        if not fine.grown:
            if coarse.is_same or coarse.is_reordered:
                return coarse
            return min(fine, coarse, key=lambda view: view.edit_amount)
        compared = coarse.whole * coarse.partition.stretch > (fine.changed or [0])[0] * fine.partition.stretch
        return coarse if fine.changed and not coarse.changed and compared else fine

    def was(self, buffer: Buffer) -> bool:
        """Return whether some elements are those that were written, or what a program that rounds leaves of them."""
        then, now = self.record, self._take(buffer)
        if now.exact == then.exact:
            return True
        pairs = [(then.fifteen, now.fifteen), (then.sixteen, now.sixteen)]
        return self.dtype.kind in ("float", "generic") and any(
            np.array_equal(before, after) for before, after in pairs if before is not None and after is not None
        )

    def was_rounded(self, *, edited: int, lost: int) -> bool:
        """Return whether it is certain that numbers which had more than 15 digits have no more now.

        `edited`: the number of elements that may have got more than 15 digits by an edit. `lost`: the number of
        elements that may have had more than 15 digits, and are gone or edited now.
        """
        left = self.record.longer - self.now.longer
        return self.now.longer <= edited and left > edited + lost and len(self.buffer) > 0

    # A program may round in a way that neither 15 nor 16 digits explain: `%.15g` takes a tie to the even digit, two
    # programs round one after the other, LibreOffice's `.ods` keeps 20 decimals. By how much the code of a double has
    # changed is known: so every number is tried from which such a program may have come to it. Where doubles are too
    # many for that, moments tell.

    def find_rounded(self) -> list[int]:
        """Return those of the edited elements that were only rounded, in some way of its own."""
        if self.view.grown or self.view.digits != 15 or self.dtype.numpy != np.float64:
            return []
        rounded, unknown, left = list[int](), list[int](), _MOST_TRIED
        for index in self.view.edited_elements[0]:
            tried = _candidates_of(self.buffer, index, left)
            if tried is None:
                unknown.append(index)
                continue
            left -= len(tried)
            codes = self.view.codes(np.append(tried, self.buffer[index]))
            if (((codes[-1] - codes[:-1] - np.uint64(self.view.steps[index])) & np.uint64(KEPT)) == 0).any():
                rounded.append(index)
        return sorted([*rounded, *unknown]) if rounded else []

    @property
    def hidden_edit(self) -> float | None:
        """The largest edit of one double that would not be seen beside rounding; None if more has happened."""
        then, now = self.record.moments, self.now.moments
        if then is None or now is None or self.view.grown or not self.view.edited_elements[1]:
            return None
        hidden = find_hidden_edit(then, now, self.buffer)
        sizes = np.abs(self.buffer[np.isfinite(self.buffer) & (self.buffer != 0)])
        is_small = hidden is not None and len(sizes) > 0 and hidden < _TYPICAL * float(np.median(sizes))
        return hidden if is_small else None


_UNITS = 1e20  # units of the 20th decimal in 1, exactly
_SMALL, _WITH_EXPONENT = 1e-5, 1e-14  # numbers between them lose digits by 20 decimals
_LAST_DIGITS = 2  # units of the 15th digit by which a number differs, at most, if it was rounded in another way
_MOST_TRIED, _MOST_TRIED_OF_ONE = 2**22, 2**17  # numbers that are tried for an array, and for an element
_MOST_NEAR = 100  # of one element among others that may have moved


def _candidates_of(buffer: Buffer, index: int, most: int) -> Buffer | None:
    """Return the numbers of 15 digits from which a program may have come to an element; None if they are too many."""
    number = float(buffer[index])
    if not math.isfinite(number) or not number:
        return buffer[:0]
    (digits,), (exponent,) = (part.tolist() for part in digits_of_doubles(buffer[index : index + 1], 15, half_up=True))
    near = _LAST_DIGITS
    if _WITH_EXPONENT <= abs(number) < _SMALL and round(abs(number) * _UNITS) / _UNITS == abs(number):
        near += 10 ** max(0, -6 - exponent) // 2
        if 2 * near > min(most, _MOST_TRIED_OF_ONE) or digits - near < 10**14:
            return None
    units = (unit for unit in range(digits - near, digits + near + 1) if unit != digits or near > _LAST_DIGITS)
    candidates: Buffer = np.copysign(np.array([float(f"{unit}e{exponent - 14}") for unit in units]), number)
    return candidates


# Findings ----------------------------------------------------------------------------------------------------


def compare_with_fingerprint(
    record: object,
    header: Header,
    buffer: Buffer,
    name: str,
    address: Callable[[int], str],
    at: Callable[[int], int] = int,
) -> Iterator[Finding]:
    """Yield findings about what has become of an array since it was written; nothing if it is unchanged.

    `record`: the fingerprint, as it was stored; nothing is yielded if it is no fingerprint. `header`: of the array, as
    it stands in the sheet now. `buffer`: the elements that are there now, of the header's dtype: fewer, or more, than
    were written are accepted. `address` and `at`: as for `Verdict`.
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
        yield Finding("error", name, reason, RESTORE)
    if len(buffer) == stored.count and exact_checksum(buffer, header.dtype) == stored.exact:
        return
    yield from Verdict(FingerprintComparison(stored, buffer, header.dtype), header, name, address, at).findings()


class Verdict:
    """The findings about one array, by the simplest explanation of what has changed.

    `address`: returns the address of an element's cell, by its index in the buffer. `at`: returns the index by which an
    element is named and has its address, where rows of the buffer were put back in the order in which they were
    written.
    """

    def __init__(
        self,
        case: FingerprintComparison,
        header: Header,
        name: str,
        address: Callable[[int], str],
        at: Callable[[int], int] = int,
    ) -> None:
        self.case, self.view, self.partition = case, case.view, case.view.partition
        self.header, self.name, self.at = header, name, at
        self._cell = address

    def findings(self) -> Iterator[Finding]:
        """Yield the findings about an array that is not as it was."""
        view = self.view
        edited, others = view.edited_elements
        if view.grown:
            yield self._length_finding()
        elif view.is_same:
            yield self._resaved_finding()
        elif view.is_reordered:
            yield from self.find_rounding("every number")
            yield self._reordered_finding()
        elif (hidden := self.case.hidden_edit) is not None:
            message = f"{_OWN_WAY}: numbers were rounded, and an edit by less than {1.05 * hidden:.2g}"
            yield self._warning(f"{message} would not be noticed")
        elif rounded := self.case.find_rounded():
            were = f"{_count_elements(len(rounded))} {'was' if len(rounded) == 1 else 'were'} rounded"
            where = self._between(rounded[0], rounded[-1])
            yield self._warning(f"{_OWN_WAY}: {where}, {were}, and an edit as small would not be noticed")
            yield from self.find_edits([index for index in edited if index not in set(rounded)], others)
        else:
            alike = {"lost": self.partition.count // 2} if others else {"edited": len(edited)}
            if len(others) < self.partition.stretches:  # there are others
                yield from self.find_rounding("every other number", **alike)
            yield from self.find_edits(edited, others)

    # Rounded -------------------------------------------------------------------------------------------------

    def _resaved_finding(self) -> Finding:
        case = self.case
        if case.dtype.kind == "float" and not case.record.longer and not case.buffer.all():
            return self._warning(
                "re-saved by a program that does not know -0.0, which became 0; everything else is as written"
            )
        is_sixteen = case.sixteen is not None and case.sixteen.is_same
        return self._keeps_digits(16 if is_sixteen else 15, "every number")

    def _keeps_digits(self, digits: int, which: str) -> Finding:
        how_far = f": {which} differs by at most {_WITHIN[digits]}, relatively"
        return self._warning(
            f"re-saved by a program that keeps {digits} digits{how_far if self.case.dtype.kind == 'float' else ''}"
        )

    def find_rounding(self, which: str, *, edited: int = 0, lost: int = 0) -> Iterator[Finding]:
        """Yield the finding that numbers were rounded besides what else happened, if that is certain.

        `which`: the words for the numbers, such as "every other number". `edited` and `lost`: those of `was_rounded`.
        """
        if self.view.digits == 16:
            yield self._keeps_digits(16, which)
        elif self.case.was_rounded(edited=edited, lost=lost):
            yield self._keeps_digits(15, which)

    def _warning(self, message: str) -> Finding:
        return Finding("warning", self.name, message, _KEEP_DIGITS)

    # Changed -------------------------------------------------------------------------------------------------

    def _reordered_finding(self) -> Finding:
        edited, others = self.view.edited_elements
        if not others and 0 < len(edited) <= _MOST_NAMED:
            message = "reordered: these elements are those that were written, but at other places: "
            message += ", ".join(map(self._element, edited))
        else:
            message = "reordered: the elements are those that were written, but in another order"
            if len(self.view.changed) < self.partition.stretches:
                message += f" {self._range_text(self.view.changed[0], self.view.changed[-1])}"
        return Finding("error", self.name, message, RESTORE)

    def _length_finding(self) -> Finding:
        more, count, left = self.view.grown, self.partition.count, len(self.case.buffer)
        if more > 0:
            message = f"{_count_elements(more)} more than the {count} that were written"
        else:
            message = f"truncated: {left} of {_count_elements(count)} {'is' if left == 1 else 'are'} left"
        if changed := self.view.changed:
            message += f"; from {self._named(changed[0] * self.partition.stretch)} on elements moved or were edited"
        return Finding("error", self.name, message, RESTORE)

    def find_edits(self, edited: Sequence[int], others: Sequence[int] = ()) -> Iterator[Finding]:
        """Yield the findings that elements were edited.

        `edited`: their indices. `others`: the stretches in which there are more.
        """
        count = self.partition.count
        if _FEW < len(edited) == count or (len(edited) > _MOST_NAMED and 2 * len(edited) > count):
            between = self._between(edited[0], edited[-1])
            message = f"{len(edited)} of {_count_elements(count)} were edited, {between}"
            yield Finding("error", self.name, message, _COMPARE)
            return
        for index in edited[:_MOST_NAMED]:
            message = f"{self._element(index)} was edited since it was written"
            yield Finding("error", self._address(index), message, RESTORE, index=self.header.index_at(self.at(index)))
        if more := edited[_MOST_NAMED:]:
            message = f"{_count_elements(len(more))} more were edited, the last is {self._named(more[-1])}"
            yield Finding("error", self.name, message, RESTORE)
        if others:
            yield Finding("error", self.name, self._describe_others(others, more=bool(edited)), RESTORE)

    def _describe_others(self, stretches: Sequence[int], *, more: bool) -> str:
        message = "more elements were edited" if more else "elements were edited"
        if self.partition.stretches == 1:
            message += ": more than one, and a workbook of so many arrays does not store which"
        elif len(stretches) == self.partition.stretches:
            message += f" throughout the array: some in each run of {self.partition.stretch}"
        else:
            runs = np.split(stretches, np.flatnonzero(np.diff(stretches) > 1) + 1)
            ranges = [self._range_text(int(run[0]), int(run[-1])) for run in runs[:_MOST_RANGES]]
            message += " " + ", ".join(ranges)
            message += f", and at {len(runs) - _MOST_RANGES} more places" if len(runs) > _MOST_RANGES else ""
        return message + (
            ", or rounded in a way that is not known" if self.case.dtype.kind in ("float", "complex") else ""
        )

    # Elements ------------------------------------------------------------------------------------------------

    def _address(self, index: int) -> str:
        return self._cell(self.at(index))

    def _element(self, index: int) -> str:
        return self.header.describe_element(self.name, self.at(index))

    def _named(self, index: int) -> str:
        return f"{self._element(index)} ({self._address(index).rpartition('!')[2]})"

    def _range_text(self, first: int, last: int) -> str:
        stretch, count = self.partition.stretch, self.partition.count
        return self._between(first * stretch, min((last + 1) * stretch, count) - 1)

    def _between(self, begin: int, end: int) -> str:
        return f"at {self._named(begin)}" if begin == end else f"between {self._named(begin)} and {self._named(end)}"


def _count_elements(count: int) -> str:
    return "1 element" if count == 1 else f"{count} elements"
