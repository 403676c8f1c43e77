"""Compares a fingerprint with the elements of today: which were edited, moved or rounded, and were all multiplied?

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ....dtypes import Buffer, DType
from .codes import Coded, Codes, coder_for, scale_weights, to_native
from .decimal15 import EXPONENT, MOST, digits_from_text
from .maker import Fingerprinter
from .record import Fingerprint, partitions_for
from .sums import WIDTH, Difference, Pair, Partition, stretch_matches

_NEARBY = 8  # places by which somebody may have moved a part of a column without changing its length
_MOST_STEPS = 16
_LEAST_MOVED = 3  # stretches: fewer may fit by chance where an array repeats itself
_MOST_LOOKED_AT = 1000  # edited elements that are tried as rounded in another way
_LARGEST_POWER = 30  # of ten
_LAST_DIGITS = 2  # units of the 15th digit by which a number differs, at most, if it was rounded in another way


Way = Literal["fifteen", "even", "twice", "sixteen"]


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
    """The changes of an array, as seen by its sums at one number of digits.

    `way`: how numbers were rounded: to "fifteen" digits as spreadsheet programs do it, "even" as `%.15g` does it,
    "twice" (to 16 digits, then to 15), or to "sixteen". `now`: the sums of the elements that are there now. `codes`:
    returns the codes of elements at that number of digits.

    Attributes:
        grown: the number of elements that are there now, minus the number written.
        whole: the number of stretches of which all elements are there.
        changed: those of these stretches whose sums have changed.
    """

    def __init__(
        self, way: Way, partition: Partition, then: Pair, now: Pair, buffer: Buffer, codes: Callable[[Buffer], Codes]
    ) -> None:
        self.way, self.digits, self.partition, self.buffer = way, 16 if way == "sixteen" else 15, partition, buffer
        self.then, self.codes = then, codes
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

    @cached_property
    def move(self) -> Moved | None:
        """The elements that moved together, because something was inserted or deleted before them; None if none did."""
        last = self.partition.stretches - 1
        if self.grown:
            return self._find_move(self.grown, last) if self._is_changed(last) else None
        if self.changed:
            near = [step for size in range(1, _NEARBY + 1) for step in (-size, size)]
            for step in near:
                known = self.changed[0] + 1 - min(step, 0) // self.partition.stretch
                if known <= last and (moved := self._require_far(self._find_move(step, known))):
                    return moved
            for known in dict.fromkeys((self.changed[len(self.changed) // 2], self.changed[-1])):
                for step in self.steps_of(known):
                    if moved := self._require_far(self._find_move(step, known)):
                        return moved
        return None

    def _require_far(self, moved: Moved | None) -> Moved | None:
        """Return a move if it explains all that changed; otherwise None."""
        if moved is None or moved.stop - moved.start < _LEAST_MOVED:
            return None
        size = self.partition.stretch
        pushed_out = min((moved.stop + 1) * size, self.partition.count) + moved.step > len(self.buffer)
        return moved if pushed_out or self.changed[-1] <= moved.stop + abs(moved.step) // size else None

    def steps_of(self, stretch: int) -> list[int]:
        """Return the numbers of places by which a stretch may have moved, the smallest first: its sum fits there."""
        size, begin = self.partition.stretch, stretch * self.partition.stretch
        if len(self.buffer) < size or begin + size > self.partition.count:
            return []
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(self.codes(self.buffer), dtype=np.uint64)])
        alike = (sums[size:] - sums[:-size]) & np.uint64(2**WIDTH - 1) == self.then[0][stretch]
        steps = np.flatnonzero(alike) - begin
        return sorted((step for step in steps.tolist() if step), key=abs)[:_MOST_STEPS]

    def _is_changed(self, stretch: int) -> bool:
        return stretch >= 0 and (stretch >= self.whole or self.difference.stretches[stretch])

    def _find_move(self, step: int, known: int) -> Moved | None:
        """Return the move by `step` of the stretch `known` and of those around it; None if `known` did not move so."""
        if not self._moved_stretch(step, known):
            return None
        start, stop, size = known, known + 1, self.partition.stretch
        while self._is_changed(start - 1) and self._moved_stretch(step, start - 1):
            start -= 1
        while stop < self.partition.stretches and self._moved_stretch(step, stop):
            stop += 1
        first, lowest = start, max(0, ((start - 1) * size + 1 + min(step, 0)) // size)
        while first > lowest and self._is_changed(first - 1):
            first -= 1
        return Moved(step, first, start, stop)

    def _moved_stretch(self, step: int, stretch: int) -> bool:
        begin = stretch * self.partition.stretch
        end = min(begin + self.partition.stretch, self.partition.count)
        if begin + step < 0 or end + step > len(self.buffer):
            return False
        return stretch_matches(self.codes(self.buffer[begin + step : end + step]), stretch, self.partition, self.then)

    @property
    def is_explained(self) -> bool:
        """Whether the move alone explains all changes of an array whose length changed."""
        return not self.changed or (self.move is not None and self.move.first <= self.changed[0])

    @property
    def edit_amount(self) -> tuple[float, int]:
        """The extent of edits, to be compared: the share of stretches with unknown ones, then the number of others."""
        elements, others = self.edited_elements
        return len(others) / max(self.whole, 1), len(elements)


class FingerprintComparison:
    """The comparison of an array with the fingerprint that it had when it was written.

    `buffer`: the elements that are there now, of the dtype of the record.
    """

    def __init__(self, record: Fingerprint, buffer: Buffer, dtype: DType) -> None:
        self.record, self.buffer, self.dtype = record, buffer, dtype
        taker = Fingerprinter(dtype, record.count, blocks=record.blocks)
        taker.add(buffer[: record.count])
        self.longer, self._scale = int(taker.longer[0]), taker.scale
        now, (fine, coarse) = taker.to_fingerprint(), partitions_for(record.count, record.blocks)
        self.moments = now.moments
        self.fifteen = SumsView("fifteen", fine, record.fifteen, now.fifteen, buffer, self._digits15)
        ways: list[tuple[Way, Pair | None]] = [("even", record.even), ("twice", record.twice)]
        self.others = [
            SumsView(way, fine, then, now.fifteen, buffer, self._digits15) for way, then in ways if then is not None
        ]
        self.sixteen: SumsView | None = None
        if record.sixteen is not None and now.sixteen is not None:
            self.sixteen = SumsView("sixteen", coarse, record.sixteen, now.sixteen, buffer, self._digits16)

    @cached_property
    def view(self) -> SumsView:
        """The view at that number of digits at which least has changed: an array kept to 16 may look edited at 15."""
        fine, coarse = self.fifteen, self.sixteen
        if fine.is_same or fine.is_reordered:
            return fine
        views = [fine, *self.others, *([coarse] if coarse is not None else [])]
        if not fine.grown:
            plain = next((view for view in reversed(views) if view.is_same), None)
            plain = plain or next((view for view in reversed(views) if view.is_reordered), None)
            return plain or min(views, key=lambda view: view.edit_amount)
        if coarse is None:
            return fine
        compared = coarse.whole * coarse.partition.stretch > (fine.changed or [0])[0] * fine.partition.stretch
        return coarse if coarse.is_explained and compared and not fine.is_explained else fine

    def was(self, buffer: Buffer) -> bool:
        """Return whether some elements are those that were written, or what a program that rounds leaves of them."""
        taker = Fingerprinter(self.dtype, self.record.count, blocks=self.record.blocks)
        taker.add(buffer)
        then, now = self.record, taker.to_fingerprint()
        if now.exact == then.exact:
            return True
        pairs = [
            (then.fifteen, now.fifteen),
            (then.even, now.fifteen),
            (then.twice, now.fifteen),
            (then.sixteen, now.sixteen),
        ]
        return self.dtype.kind in ("float", "generic") and any(
            np.array_equal(before, after) for before, after in pairs if before is not None and after is not None
        )

    @cached_property
    def last_digits(self) -> list[int]:
        """The indices of elements that seem edited, but may only have been rounded otherwise, by a unit or two."""
        view = self.view
        if self.dtype.kind != "float" or self.record.sixteen is None or view.digits != 15 or view.grown < 0:
            return []
        edited, _ = view.edited_elements
        return [index for index in edited[:_MOST_LOOKED_AT] if self._is_last_digit(index)]

    def _is_last_digit(self, index: int) -> bool:
        number = float(self.buffer[index])
        if not np.isfinite(number) or not number:
            return False
        digits, exponent, _ = digits_from_text(abs(number))
        units = [unit for unit in range(-_LAST_DIGITS, _LAST_DIGITS + 1) if unit]
        near = [float(f"{digits + unit}e{exponent - EXPONENT - 14}") for unit in units]
        codes = self._digits15(np.copysign(np.array([number, *near]), number)).tolist()
        step = self.view.difference.steps[index]
        return any((codes[0] - code - step) % 2**WIDTH == 0 for code in codes[1:])

    def was_rounded(self, *, edited: int, lost: int) -> bool:
        """Return whether it is certain that numbers which had more than 15 digits have no more now.

        `edited`: the number of elements that may have got more than 15 digits by an edit. `lost`: the number of
        elements that may have had more than 15 digits, and are gone or edited now.
        """
        left = self.record.longer - self.longer
        return self.longer <= edited and left > edited + lost and len(self.buffer) > 0

    @cached_property
    def power_of_ten(self) -> int | None:
        """The power of ten by which all numbers were multiplied; 0 if they only differ in their last digits."""
        if self.record.scale is None or self._scale is None or self.fifteen.grown or not self._scale.weight:
            return None
        weight = self._scale.weight
        digits, exponents = (_to_signed(now - then) for now, then in zip(self._scale, self.record.scale, strict=False))
        powers = range(-_LARGEST_POWER, _LARGEST_POWER + 1)
        power = next((s for s in powers if _to_signed(s * weight) == exponents), None)
        return power if abs(digits) <= (self._tolerance(weight) if power == 0 else _LAST_DIGITS * weight) else None

    def _tolerance(self, weight: int) -> int:
        """Return the distance by which another way of rounding may move the sum of digits times weights."""
        edited, others = self.fifteen.edited_elements
        if others:
            return weight // 8
        return _LAST_DIGITS * int(scale_weights()[[index % MOST for index in edited]].sum())

    def _digits15(self, buffer: Buffer) -> Codes:
        return self._codes(buffer, lambda coded: coded.rounded)

    def _digits16(self, buffer: Buffer) -> Codes:
        return self._codes(buffer, lambda coded: coded.sixteen)

    def _codes(self, buffer: Buffer, which: Callable[[Coded], Codes | None]) -> Codes:
        code, code_runs = coder_for(self.dtype), [np.empty(0, np.uint64)]
        for start in range(0, len(buffer), MOST):
            codes = which(code(to_native(buffer[start : start + MOST])))
            code_runs += [] if codes is None else [codes.copy()]
        return np.concatenate(code_runs)


def _to_signed(number: int) -> int:
    """Return an integer modulo 2^64, between -2^63 and 2^63 - 1."""
    return (number + 2**63) % 2**64 - 2**63
