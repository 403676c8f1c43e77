"""The findings of `check` about an array whose fingerprint the workbook has: what has become of it.

An array that is unchanged bit for bit has no finding. Rounding by a program that has saved the file is a warning, which
says how far numbers were rounded. Anything else is an error: elements edited, reordered, moved or lost. A change of
all elements that was the same for all is explained where there is a guard (`comparing`).

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from ....dtypes import Buffer, DType, Mask
from ....errors import Finding
from ....header import Header
from ....loops import digits_of_doubles
from .codes import MOST, Codes, code_elements, to_native
from .record import Fingerprint, exact_checksum, header_checksum, partitions_for, take_fingerprint
from .sums import KEPT, Difference, Pair, Partition, find_hidden_edit, stretch_matches

_RESTORE = "restore it from a copy of the file; if the change was meant, sheetarray adopt accepts it"
_COMPARE = (
    "sheetarray diff tells with a copy of the file whether one change was made to all of them; if it was meant, "
    "sheetarray adopt accepts it"
)
_KEEP_DIGITS = 'write with cells="text" to keep every digit in any program'
_KEEP_TEXT = (
    "integers of more than 15 digits stand as text: restore them from a copy of the file, and do not turn the text "
    "into numbers"
)
_WITHIN = {15: 5e-15, 16: 6.2e-16}  # relative: half a unit of the last digit of 1.00, and the rounding to a double
_MOST_RANGES = 5
_FEW = 3  # edits that need no other explanation
_NEARBY = 8  # places by which somebody may have moved a part of a column without changing its length
_MOST_STEPS = 16
_LEAST_MOVED = 3  # stretches: fewer may fit by chance where an array repeats itself


class Moved(NamedTuple):
    """Elements that moved together.

    Attributes:
        step: the number of places by which they moved down; negative if they moved up.
        first: the first of the stretches before `start` in which something was inserted or deleted; `start` itself if
            that happened right before it.
        start: the first stretch that moved as a whole.
        stop: the stretch after the last one that moved as a whole.
    """

    step: int
    first: int
    start: int
    stop: int


class SumsView:
    """The changes of an array, as seen by its sums at 15 or 16 digits.

    `then`: the sums when the array was written. `now`: those of today. `buffer`: the elements that are there now.
    `codes`: returns the codes of elements at that number of digits.

    Attributes:
        grown: the number of elements that are there now, minus the number written.
        whole: the number of stretches of which all elements are there.
        changed: those of these stretches whose sums have changed.
    """

    def __init__(
        self,
        digits: Literal[15, 16],
        partition: Partition,
        then: Pair,
        now: Pair,
        buffer: Buffer,
        codes: Callable[[Buffer], Codes],
    ) -> None:
        self.digits, self.partition, self.buffer, self.then, self.codes = digits, partition, buffer, then, codes
        self.difference = Difference(partition, then, now)
        self.grown = len(buffer) - partition.count
        self.whole = partition.stretches if self.grown >= 0 else len(buffer) // partition.stretch
        self.changed = [stretch for stretch in range(self.whole) if self.difference.stretches[stretch]]

    @property
    def is_same(self) -> bool:
        """Whether all elements are what they were."""
        return not self.grown and self.difference.is_empty

    @property
    def is_reordered(self) -> bool:
        """Whether the array holds the same elements in another order."""
        return not self.grown and self.difference.is_reordered

    @cached_property
    def edited_elements(self) -> tuple[list[int], list[int]]:
        """The indices of the edited elements that can be found, and the stretches that hold edited ones besides."""
        if self.grown >= 0:
            return self.difference.changed_elements
        alone = {stretch: self.difference.single_element_in(stretch) for stretch in self.changed}
        known = [index for index in alone.values() if index is not None]
        return known, [stretch for stretch, index in alone.items() if index is None]

    @property
    def edit_amount(self) -> tuple[float, int]:
        """The extent of edits, to be compared: the share of stretches with unknown ones, then the number of others."""
        elements, others = self.edited_elements
        return len(others) / max(self.whole, 1), len(elements)

    @cached_property
    def move(self) -> Moved | None:
        """The elements that moved together, because something was inserted or deleted before them; None if none did."""
        last = self.partition.stretches - 1
        if self.grown:
            return self._find_move(self.grown, last) if self._is_changed(last) else None
        if not self.changed:
            return None
        tried = [
            (step, self.changed[0] + 1 - min(step, 0) // self.partition.stretch)
            for size in range(1, _NEARBY + 1)
            for step in (-size, size)
        ]
        some = dict.fromkeys((self.changed[len(self.changed) // 2], self.changed[-1]))
        tried += [(step, known) for known in some for step in self._steps_of(known)]
        moves = (self._find_move(step, known) for step, known in tried if known <= last)
        return next((moved for moved in moves if moved is not None and self._explains_all(moved)), None)

    def _explains_all(self, moved: Moved) -> bool:
        size = self.partition.stretch
        if moved.stop - moved.start < _LEAST_MOVED:
            return False
        pushed_out = min((moved.stop + 1) * size, self.partition.count) + moved.step > len(self.buffer)
        return pushed_out or self.changed[-1] <= moved.stop + abs(moved.step) // size

    def _steps_of(self, stretch: int) -> list[int]:
        """Return the numbers of places by which a stretch may have moved, the smallest first: its sum fits there."""
        size, begin = self.partition.stretch, stretch * self.partition.stretch
        if len(self.buffer) < size or begin + size > self.partition.count:
            return []
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(self.codes(self.buffer), dtype=np.uint64)])
        steps = np.flatnonzero((sums[size:] - sums[:-size]) & np.uint64(KEPT) == self.then[0][stretch]) - begin
        return sorted((step for step in steps.tolist() if step), key=abs)[:_MOST_STEPS]

    def _is_changed(self, stretch: int) -> bool:
        return stretch >= 0 and (stretch >= self.whole or self.difference.stretches[stretch])

    def _find_move(self, step: int, known: int) -> Moved | None:
        """Return the move by `step` of the stretch `known` and of those around it; None if `known` did not move so."""
        if not self._has_moved(step, known):
            return None
        start, stop, size = known, known + 1, self.partition.stretch
        while self._is_changed(start - 1) and self._has_moved(step, start - 1):
            start -= 1
        while stop < self.partition.stretches and self._has_moved(step, stop):
            stop += 1
        first, lowest = start, max(0, ((start - 1) * size + 1 + min(step, 0)) // size)
        while first > lowest and self._is_changed(first - 1):
            first -= 1
        return Moved(step, first, start, stop)

    def _has_moved(self, step: int, stretch: int) -> bool:
        begin = stretch * self.partition.stretch
        end = min(begin + self.partition.stretch, self.partition.count)
        if begin + step < 0 or end + step > len(self.buffer):
            return False
        return stretch_matches(self.codes(self.buffer[begin + step : end + step]), stretch, self.partition, self.then)

    @property
    def is_explained(self) -> bool:
        """Whether the move alone explains all changes of an array whose length changed."""
        return not self.changed or (self.move is not None and self.move.first <= self.changed[0])


class FingerprintComparison:
    """The comparison of an array with the fingerprint that it had when it was written; `buffer`: of today."""

    def __init__(self, record: Fingerprint, buffer: Buffer, dtype: DType) -> None:
        self.record, self.buffer, self.dtype = record, buffer, dtype
        self.now, (fine, coarse) = self._take(buffer), partitions_for(record.count, record.blocks)
        self.fifteen = SumsView(15, fine, record.fifteen, self.now.fifteen, buffer, self._codes(15))
        self.sixteen: SumsView | None = None
        if record.sixteen is not None and self.now.sixteen is not None:
            self.sixteen = SumsView(16, coarse, record.sixteen, self.now.sixteen, buffer, self._codes(16))

    def _take(self, buffer: Buffer) -> Fingerprint:
        record = self.record
        return take_fingerprint(buffer, self.dtype, record.count, blocks=record.blocks, is_old=record.is_old)

    def _codes(self, digits: int) -> Callable[[Buffer], Codes]:
        def codes(buffer: Buffer) -> Codes:
            pieces = [to_native(buffer[start : start + MOST]) for start in range(0, len(buffer), MOST)]
            coded = [code_elements(piece, self.dtype, is_old=self.record.is_old) for piece in pieces]
            runs = [one.sixteen if digits == 16 and one.sixteen is not None else one.fifteen for one in coded]
            return np.concatenate([np.empty(0, np.uint64), *runs])

        return codes

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
        return coarse if coarse.is_explained and compared and not fine.is_explained else fine

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


# Other ways of rounding --------------------------------------------------------------------------------------
#
# A program may round in a way that neither 15 nor 16 digits explain: `%.15g` takes a tie to the even digit, two
# programs round one after the other, LibreOffice's `.ods` keeps 20 decimals, and whoever turns text into numbers makes
# doubles of integers. Of an element that was y and is x, the fingerprint tells by how much its code has changed: so
# every y is tried from which such a program may have come to x. Where elements are too many for that, moments tell.

_UNITS = 1e20  # units of the 20th decimal in 1, exactly
_SMALL, _WITH_EXPONENT = 1e-5, 1e-14  # numbers between them lose digits by 20 decimals
_LAST_DIGITS = 2  # units of the 15th digit by which a number differs, at most, if it was rounded in another way
_EXACT = 2**53  # integers up to here are doubles
_MOST_TRIED = 2**22  # numbers that are tried for all elements of an array
_MOST_TRIED_OF_ONE = 2**17
_TYPICAL = 1e-6  # relative to a number of typical size: the largest edit that may stay unseen beside rounding


class Rounded(NamedTuple):
    """What was only rounded, in a way of its own, and what is edited besides.

    Attributes:
        rounded: the indices of elements that were only rounded; of an array that was rounded as a whole, none.
        edited: the indices of elements that were edited.
        others: the stretches with changed elements whose indices are unknown, and which were not all rounded.
        doubtful: the stretches with changed elements whose indices are unknown, and which may all have been rounded.
        hidden: the largest edit that would not be seen; None where it is one of the last digit.
    """

    rounded: list[int]
    edited: list[int]
    others: list[int]
    doubtful: list[int]
    hidden: float | None = None


def find_rounded(case: FingerprintComparison) -> Rounded | None:
    """Return what was rounded in a way of its own; None if there is no sign of that."""
    view = case.view
    if view.grown or view.digits != 15 or case.dtype.numpy not in map(np.dtype, ("f8", "i8", "u8")):
        return None
    edited, others = view.edited_elements
    candidates = _candidates_of_integer if case.dtype.kind == "int" else _candidates_of_double
    rounded, unknown, left = list[int](), list[int](), _MOST_TRIED
    for index in edited:
        tried = candidates(case.buffer, index, left)
        if tried is None:
            unknown.append(index)
            continue
        left -= len(tried)
        codes = view.codes(np.append(tried, case.buffer[index]).astype(case.dtype.numpy))
        step = np.uint64(view.difference.steps[index])
        if (((codes[-1] - codes[:-1] - step) & np.uint64(KEPT)) == 0).any():
            rounded.append(index)
    size = view.partition.stretch
    doubtful = list[int]()
    if others and case.dtype.kind == "int":
        large, short = _mark_rounded_integers(case.buffer)
        parts = [(stretch, np.s_[stretch * size : (stretch + 1) * size]) for stretch in others]
        doubtful = [stretch for stretch, some in parts if large[some].any() and short[some][large[some]].all()]
    elif others and case.record.moments is not None and case.now.moments is not None:
        hidden = find_hidden_edit(case.record.moments, case.now.moments, case.buffer)
        sizes = np.abs(case.buffer[np.isfinite(case.buffer) & (case.buffer != 0)])
        if hidden is not None and len(sizes) and hidden < _TYPICAL * float(np.median(sizes)):
            return Rounded([], [], [], list(range(view.partition.stretches)), hidden)
    if not rounded and not doubtful:
        return None
    rounded = sorted([*rounded, *unknown])
    remaining = [index for index in edited if index not in set(rounded)]
    return Rounded(rounded, remaining, [stretch for stretch in others if stretch not in set(doubtful)], doubtful)


def _candidates_of_double(buffer: Buffer, index: int, most: int) -> Buffer | None:
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


def _candidates_of_integer(buffer: Buffer, index: int, most: int) -> Buffer | None:
    """Return the integers that a program may have rounded to an element, since it kept them as doubles.

    None if they are too many.
    """
    now, limits = int(buffer[index]), np.iinfo(buffer.dtype)
    (large,), (short,) = (mask.tolist() for mask in _mark_rounded_integers(buffer[index : index + 1]))
    if not large or not short:
        return buffer[:0]
    half = 2 ** max(abs(now).bit_length() - 54, 0)  # of the distance to the next double
    unit = _unit_of(abs(now))
    span = half + unit // 2
    if 2 * span > most:
        return None
    low, high = max(now - span, int(limits.min)), min(now + span, int(limits.max))
    near = np.arange(high - low + 1, dtype=np.uint64) + np.array([low % 2**64], dtype=np.uint64)
    near = near.view(buffer.dtype)
    return near if unit else near[~_are_doubles(near)]  # a double was not rounded to another one


def _unit_of(magnitude: int) -> int:
    """Return the unit of the 15th to 17th digit of an integer whose digits end there; 0 if they end nowhere there.

    It may also be a double that was printed with 15 or 16 digits.
    """
    for digits in (17, 16, 15):
        if (more := len(str(magnitude)) - digits) > 0 and magnitude % 10**more == 0:
            return int(10**more)
    for digits in (15, 16):
        more = len(str(magnitude)) - digits
        if more > 0 and int(float(f"{float(magnitude):.{digits - 1}e}")) == magnitude:
            return int(10**more)
    return 0


def _mark_rounded_integers(buffer: Buffer) -> tuple[Mask, Mask]:
    """Return a mask of the integers that may have been beyond 2^53, and one of doubles and of decimals of 17 digits."""
    magnitudes = _magnitudes(buffer)
    ends = np.zeros(len(buffer), np.bool_)  # rounded to 15 digits, 2^53 + 1 is less than 2^53
    for length in range(16, 21):
        of_length = (magnitudes >= 10 ** (length - 1)) & ((magnitudes < 10**length) if length < 20 else True)
        ends |= of_length & (magnitudes % np.uint64(10 ** max(length - 17, 1)) == 0)
    return (magnitudes >= _EXACT) | ends, _are_doubles(buffer) | ends


def _are_doubles(buffer: Buffer) -> Mask:
    magnitudes = _magnitudes(buffer)
    lowest = np.maximum(magnitudes & (~magnitudes + np.uint64(1)), 1)
    double: Mask = magnitudes // lowest <= _EXACT
    return double


def _magnitudes(buffer: Buffer) -> Codes:
    """Return the integers without their signs, as unsigned ones, so that -2^63 has a magnitude too."""
    unsigned = buffer.astype(np.uint64)  # two's complement
    magnitudes: Codes = np.where(buffer < 0, ~unsigned + np.uint64(1), unsigned)
    return magnitudes


# Findings ----------------------------------------------------------------------------------------------------


def compare_with_fingerprint(
    record: object,
    header: Header,
    buffer: Buffer,
    name: str,
    address: Callable[[int], str],
    *,
    most: int = 20,
    at: Callable[[int], int] = int,
) -> Iterator[Finding]:
    """Yield findings about what has become of an array since it was written; nothing if it is unchanged.

    `record`: the fingerprint, as it was stored; nothing is yielded if it is no fingerprint. `header`: of the array, as
    it stands in the sheet now. `buffer`: the elements that are there now, of the header's dtype: fewer, or more, than
    were written are accepted. `address`: of the cell of an element, by its index in the buffer. `most`: how many edited
    elements are named one by one. `at`: returns the index by which an element is named and has its address, where rows
    of the buffer were put back in the order in which they were written.
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
    yield from _Verdict(FingerprintComparison(stored, buffer, header.dtype), header, name, address, at).findings(most)


def find_rounding(
    case: FingerprintComparison, header: Header, name: str, address: Callable[[int], str], *, lost: int
) -> Iterator[Finding]:
    """Yield the finding that numbers of an array were rounded which has lost elements, if that is certain.

    `lost`: the number of elements that are gone.
    """
    yield from _Verdict(case, header, name, address)._rounded_too("every other number", lost=lost)


class _Verdict:
    """The findings about one array, by the simplest explanation of what has changed.

    `address`: returns the address of an element's cell, by its index in the buffer. `at`: as for
    `compare_with_fingerprint`.
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

    def findings(self, most: int) -> Iterator[Finding]:
        case, view = self.case, self.view
        edited, others = view.edited_elements
        if view.grown:
            yield from self._length_findings(most)
        elif view.is_same:
            yield self._resaved_finding()
        elif view.is_reordered:
            yield from self._rounded_too("every number")
            yield self._reordered_finding(most)
        elif (rounded := find_rounded(case)) is not None:
            yield self._rounded_finding(rounded)
            yield from self._edited_findings(rounded.edited, rounded.others, most)
        elif (others or len(edited) > _FEW) and (moved := view.move) is not None:
            yield from self._rounded_too("every other number", lost=self.partition.count // 2)
            yield self._moved_finding(moved)
        else:
            alike = {"lost": self.partition.count // 2} if others else {"edited": len(edited)}
            if len(others) < self.partition.stretches:  # there are others
                yield from self._rounded_too("every other number", **alike)
            yield from self._edited_findings(edited, others, most)

    # Rounded -------------------------------------------------------------------------------------------------

    def _resaved_finding(self) -> Finding:
        case = self.case
        if case.dtype.kind == "float" and not case.record.longer and not case.buffer.all():
            return self._warning("re-saved by a program that knows no -0.0: it has become 0; all else is as written")
        is_sixteen = case.sixteen is not None and case.sixteen.is_same
        return self._keeps_digits(16 if is_sixteen else 15, "every number")

    def _keeps_digits(self, digits: int, which: str) -> Finding:
        how_far = f": {which} is within {_WITHIN[digits]} of what was written, relatively"
        return self._warning(
            f"re-saved by a program that keeps {digits} digits{how_far if self.case.dtype.kind == 'float' else ''}"
        )

    def _rounded_finding(self, found: Rounded) -> Finding:
        size, count = self.partition.stretch, self.partition.count
        first = [*found.rounded, *(stretch * size for stretch in found.doubtful)]
        last = [*found.rounded, *(min((stretch + 1) * size, count) - 1 for stretch in found.doubtful)]
        message = f"re-saved by a program that rounds in its own way: {self._between(min(first), max(last))}"
        if found.hidden is not None:
            message += (
                f", numbers were rounded, and an edit of one by less than {1.05 * found.hidden:.2g} could not be told"
            )
        elif found.doubtful:
            message += ", elements were rounded; whether others among them were edited could not be told"
        else:
            were = "was" if len(found.rounded) == 1 else "were"
            message += f", {_count_elements(len(found.rounded))} {were} rounded, and an edit as small could not be told"
        hint = _KEEP_TEXT if self.case.dtype.kind == "int" else _KEEP_DIGITS
        return Finding("warning", self.name, message, hint)

    def _rounded_too(self, which: str, *, edited: int = 0, lost: int = 0) -> Iterator[Finding]:
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

    def _reordered_finding(self, most: int) -> Finding:
        edited, others = self.view.edited_elements
        if not others and 0 < len(edited) <= most:
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

    def _moved_finding(self, moved: Moved) -> Finding:
        size = abs(moved.step)
        what, way = ("inserted", "down") if moved.step > 0 else ("deleted", "up")
        if moved.first == moved.start:
            where = f"before {self._named(moved.start * self.partition.stretch)}"
        else:
            where = self._range_text(moved.first, moved.start - 1)
        message = f"{_count_elements(size)} {self._describe_rows(size)}{'was' if size == 1 else 'were'} {what} {where}"
        end = self._last_of(moved.stop - 1)
        upto = "" if moved.stop == self.partition.stretches else f", up to {self._named(end)},"
        return Finding("error", self.name, f"{message}; what follows{upto} has moved {way} by {size}", _RESTORE)

    def _describe_rows(self, size: int) -> str:
        """Return the words for a number of elements as rows; empty if they are no whole rows, or the array is 1-D."""
        along = self.header.shape[1:] if self.header.order == "row-major" else self.header.shape[:-1]
        row = math.prod(along)
        if len(self.header.shape) < 2 or row < 2 or size % row:
            return ""
        return f"({size // row} row{'' if size == row else 's'} of {row}) "

    def _edited_findings(self, edited: list[int], others: list[int], most: int) -> Iterator[Finding]:
        count = self.partition.count
        if _FEW < len(edited) == count or (len(edited) > most and 2 * len(edited) > count):
            between = self._between(edited[0], edited[-1])
            message = f"{len(edited)} of {_count_elements(count)} were edited, {between}"
            yield Finding("error", self.name, message, _COMPARE)
            return
        for index in edited[:most]:
            message = f"{self._element(index)} was edited since it was written"
            yield Finding("error", self._address(index), message, _RESTORE, index=self.header.index_at(self.at(index)))
        if more := edited[most:]:
            message = f"{_count_elements(len(more))} more edited, the last of them {self._named(more[-1])}"
            yield Finding("error", self.name, message, _RESTORE)
        if others:
            yield Finding("error", self.name, self._describe_others(others, more=bool(edited)), _RESTORE)

    def _describe_others(self, stretches: list[int], *, more: bool) -> str:
        message = "more elements were edited" if more else "elements were edited"
        if self.partition.stretches == 1:
            message += ": more than one, and a workbook of so many arrays does not remember which"
        elif len(stretches) == self.partition.stretches:
            message += f" throughout the array: some in each run of {self.partition.stretch}"
        else:
            runs = list(_runs_of(stretches))
            message += " " + ", ".join(self._range_text(*run) for run in runs[:_MOST_RANGES])
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

    def _last_of(self, stretch: int) -> int:
        return min((stretch + 1) * self.partition.stretch, self.partition.count) - 1

    def _range_text(self, first: int, last: int) -> str:
        return self._between(first * self.partition.stretch, self._last_of(last))

    def _between(self, begin: int, end: int) -> str:
        return f"at {self._named(begin)}" if begin == end else f"between {self._named(begin)} and {self._named(end)}"


def _count_elements(count: int) -> str:
    return "1 element" if count == 1 else f"{count} elements"


def _runs_of(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each run of successive numbers."""
    known = list(numbers)
    breaks = [0, *(place for place, (a, b) in enumerate(pairwise(known), 1) if b != a + 1), len(known)]
    yield from ((known[a], known[b - 1]) for a, b in pairwise(breaks))
