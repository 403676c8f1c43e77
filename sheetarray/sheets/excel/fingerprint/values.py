"""Finds a change that was the same for all numbers of an array: another sign, a factor, a constant, fewer digits.

A change that can be undone exactly (a sign, whole numbers, dates) is undone, and the fingerprint proves it. For other
changes of floats there are the moments: four equations that a factor and a constant, or small errors, have to satisfy.
They do not show an edit of a single number that is smaller than these errors, and the finding says how small.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ....dtypes import Buffer
from .decimal15 import MOST, Decimals
from .edits import FingerprintComparison
from .moments import EQUATIONS, Moments, decimals_of, moments_of, sizes_of

_ERRORS = {8: 5e-15, 4: 6.1e-8, 2: 5e-4}  # relative errors of numbers rounded once more; by the bytes of an element
_SUMMING = 16 * 2.0**-53  # the error of a sum, relative to the sum of sizes
_SIGMAS = 6.0  # standard deviations by which a moment may differ
_LEAST_WEIGHT = 0.5  # the smallest weight of a number in a moment, without its sign
_LONGEST = 12  # digits of a factor or a constant that somebody typed
_LARGEST_SHARE = 0.2  # of the numbers: with larger errors, any other change would fit as well


class Change(NamedTuple):
    """A change that all elements have undergone.

    Attributes:
        message: the sentence that says it.
        hint: the smallest edit that would have been seen beside it; may be empty.
    """

    message: str
    hint: str = ""


def find_change_of_values(case: FingerprintComparison) -> Change | None:
    """Return the change that all elements of an array have undergone; None if no single one explains all."""
    if len(case.buffer) != case.record.count or case.record.count < 2:
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # products of large numbers; what is not finite proves nothing
        return next((change for change in _find_changes(case) if change is not None), None)


def limit_hidden_edit(case: FingerprintComparison) -> float | None:
    """Return the largest edit of a single element that would not be seen beside rounding.

    None if more than rounding has happened, or if the numbers are too large for their sums.
    """
    if case.record.moments is None or case.moments is None or case.dtype.kind != "float":
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        return _FloatChanges(case).find_hidden()


def _find_changes(case: FingerprintComparison) -> Iterator[Change | None]:
    """Yield what each way of finding a change has found, the simplest change first; None for nothing."""
    yield _find_negation(case)
    yield _find_fill(case)
    if case.record.moments is None or case.moments is None:
        return
    if case.dtype.kind in ("int", "datetime", "timedelta"):
        yield from _find_whole_changes(case)
    elif case.dtype.kind == "float":
        yield from _FloatChanges(case).find_changes()


# Proved ------------------------------------------------------------------------------------------------------


def _find_negation(case: FingerprintComparison) -> Change | None:
    """Return the change of all elements to the other sign or the other truth value, if that has happened, or None."""
    kind, buffer = case.dtype.kind, case.buffer
    if kind == "bool":
        return Change("every truth value became its opposite") if case.was(~buffer) else None
    if kind == "complex":
        if case.was(-buffer):
            return Change("every number has the opposite sign")
        return Change("every number became its complex conjugate") if case.was(np.conj(buffer)) else None
    signed = kind == "float" or (kind == "int" and buffer.dtype.kind == "i")
    return Change("every number has the opposite sign") if signed and case.was(-buffer) else None


def _find_fill(case: FingerprintComparison) -> Change | None:
    """Return the change of all elements to one value; None if they differ, or if a few edits explain it."""
    buffer = case.buffer
    few = not case.view.edited_elements[1] and len(case.view.edited_elements[0]) < len(buffer)
    if few or not bool(np.all((buffer == buffer[0]) | ((buffer != buffer) & (buffer[0] != buffer[0])))):
        return None
    return Change(f"filled with one value: all {len(buffer)} elements are {_format_number(buffer[0])} now")


def _format_number(element: Any) -> str:
    value = element.item() if isinstance(element, np.generic) and element.dtype.kind not in "mM" else element
    return f"{value!r:.60}" if isinstance(value, str) else f"{value!s:.60}"


def _find_whole_changes(case: FingerprintComparison) -> Iterator[Change | None]:
    """Yield changes of whole numbers, or dates and times, that a constant was added to, or that were multiplied."""
    then, now = _moments_of(case)
    present = ~np.isnat(case.buffer) if case.dtype.kind != "int" else np.ones(len(case.buffer), bool)
    weights = moments_of(present.astype(np.float64), 0)
    constant = round(float(np.dot(now - then, weights) / max(np.dot(weights, weights), 0.5)))
    if constant and abs(constant) < 2**63 and case.was(_subtract(case.buffer, constant, present)):
        yield Change(_say_added(case, constant))
    if case.dtype.kind == "int":
        factor = float(np.dot(now, then) / max(float(np.dot(then, then)), 1e-300))
        for over, under in ((round(factor), 1), (1, round(1 / factor) if factor else 0)):
            size = max(abs(over), abs(under))
            if 1 < size < 2**31 and over and under and not (case.buffer % over).any():
                before = case.buffer // over * case.buffer.dtype.type(under) if over > 0 else None
                if before is not None and case.was(before):
                    yield Change(_say_multiplied(over / under))


def _subtract(buffer: Buffer, constant: int, present: Buffer) -> Buffer:
    """Return the elements that are present minus a constant, modulo the range of the dtype; others unchanged."""
    unsigned: Buffer = buffer.view(f"u{buffer.dtype.itemsize}")
    step = np.array(constant % 2 ** (8 * buffer.dtype.itemsize), dtype=unsigned.dtype)
    smaller: Buffer = np.where(present, unsigned - step, unsigned).view(buffer.dtype)
    return smaller


def _say_added(case: FingerprintComparison, constant: int) -> str:
    if case.dtype.kind == "int":
        return f"{abs(constant)} was {'added to' if constant > 0 else 'taken from'} every number"
    unit, step = np.datetime_data(case.buffer.dtype)
    size = str(np.timedelta64(abs(constant) * step, unit))  # type: ignore[call-overload]
    if case.dtype.kind == "datetime":
        return f"every date is {size} {'later' if constant > 0 else 'earlier'}"
    return f"every duration is {size} {'longer' if constant > 0 else 'shorter'}"


def _say_multiplied(factor: float) -> str:
    multiplier, divisor = f"{factor:.12g}", f"{1 / factor:.12g}"
    if abs(factor) < 1 and len(divisor.lstrip("-0.")) < len(multiplier.lstrip("-0.")):
        return f"every number was divided by {divisor}"
    return f"every number was multiplied by {multiplier}"


# By moments --------------------------------------------------------------------------------------------------


def _moments_of(case: FingerprintComparison) -> tuple[Moments, Moments]:
    """Return the moments when the array was written, and those of today; only called where both are known."""
    assert case.record.moments is not None
    assert case.moments is not None
    return case.record.moments, case.moments


class _FloatChanges:
    """Finds changes of floats by their moments; NaN and infinities count as 0."""

    def __init__(self, case: FingerprintComparison) -> None:
        self.case = case
        self.then, self.now = _moments_of(case)
        with np.errstate(invalid="ignore"):
            numbers = case.buffer.astype(np.float64)
        self.present = np.isfinite(numbers)
        self.numbers = np.where(self.present, numbers, 0.0)
        self.error = _ERRORS[case.dtype.numpy.itemsize]
        self.sizes, self.squares = sizes_of(self.numbers)

    def find_hidden(self) -> float | None:
        largest = float(self._slack().max()) / _LEAST_WEIGHT
        return largest if np.isfinite(largest) and self._unchanged else None

    def find_changes(self) -> Iterator[Change | None]:
        if not (np.isfinite(self.sizes).all() and np.isfinite(self.squares).all()):
            return
        if np.count_nonzero(self.numbers) > 1:
            yield self._find_factor()
        yield self._find_constant()
        yield self._find_factor_and_constant()
        if self.case.record.longer and self.case.dtype.numpy.itemsize == 8:
            yield self._find_single_precision()
        yield self._find_fewer_decimals()
        if self.case.record.longer and not self.case.longer:
            yield self._find_fewer_digits()

    def _slack(self, more: float = 0.0) -> Moments:
        """Return the distance by which rounding may have moved each moment, after `more` was added to every number."""
        around = more * np.sqrt(len(self.numbers))
        sizes = self.sizes + abs(more) * len(self.numbers)
        tolerance: Moments = _SUMMING * sizes + _SIGMAS * self.error * (self.squares + abs(around))
        return tolerance

    def _explains(self, factor: float, constant: float, weights: Moments | None = None) -> bool:
        """Return whether a factor, then a constant (with `weights`), make today's moments of those written."""
        shift = 0.0 if weights is None else constant * weights
        slack = self._slack(constant)
        return bool(np.isfinite(slack).all() and (np.abs(self.now - factor * self.then - shift) <= slack).all())

    @property
    def _unchanged(self) -> bool:
        """Whether the moments are what rounding may have made of them."""
        return self._explains(1.0, 0.0)

    def _find_factor(self) -> Change | None:
        if self._unchanged or not self.then.any():
            return None
        for factor in _to_typed(float(np.dot(self.now, self.then) / np.dot(self.then, self.then))):
            if factor and self._explains(factor, 0.0):
                return _limit_change(_say_multiplied(factor), self._slack())
        return None

    def _find_constant(self) -> Change | None:
        if not self.then.any() and not self.present.all():
            return None  # where nothing was a number, or all were zeros, numbers may have been typed over NaN
        weights = self._weights
        for constant in _to_typed(float(np.dot(self.now - self.then, weights) / max(np.dot(weights, weights), 0.5))):
            if constant and not self._unchanged and self._explains(1.0, constant, weights):
                how = "added to" if constant > 0 else "taken from"
                return _limit_change(f"{abs(constant):.12g} was {how} every number", self._slack(constant))
        return None

    @property
    def _weights(self) -> Moments:
        return moments_of(self.present.astype(np.float64), 0)

    def _find_factor_and_constant(self) -> Change | None:
        """Return the change by a factor and then a constant, such as 9/5 and 32; None if that is not it."""
        weights = self._weights
        matrix = np.stack([self.then, weights], axis=1)
        if len(self.numbers) <= EQUATIONS or self._unchanged or np.linalg.matrix_rank(matrix) < 2:
            return None
        for a in _to_typed(float(np.linalg.lstsq(matrix, self.now, rcond=None)[0][0])):
            left = self.now - a * self.then
            for b in _to_typed(float(np.dot(left, weights) / np.dot(weights, weights))):
                if a and b and self._explains(a, b, weights):
                    how = f"{abs(b):.12g} {'added' if b > 0 else 'taken away'}"
                    return _limit_change(f"{_say_multiplied(a)}, and {how}", self._slack(b))
        return None

    # Fewer digits --------------------------------------------------------------------------------------------

    def _find_rounding(self, errors: Buffer, message: str) -> Change | None:
        """Return a change to fewer digits that may move each number by its item in `errors`; None if more moved."""
        sizes, squares = sizes_of(errors)
        slack = self._slack() + _SIGMAS * squares
        slack[0] = self._slack()[0] + sizes[0]
        too_much = (slack[1:] > _LARGEST_SHARE * self.squares[1:]).any() or (np.abs(self.now - self.then) > slack).any()
        return None if too_much else _limit_change(message, slack[1:])

    def _find_fewer_decimals(self) -> Change | None:
        before, numbers = self.case.record.decimals, self.numbers
        after = decimals_of(numbers, 0, self.case.dtype)
        if before is None or after >= before or self.case.longer:
            return None
        unit = 10.0**-after
        many = f"{after} decimal{'' if after == 1 else 's'}" if after else "whole numbers"
        # numbers that had no more decimals have no error, but it is unknown which these are
        return self._find_rounding(np.full(len(numbers), unit), f"all numbers were rounded or cut to {many}")

    def _find_fewer_digits(self) -> Change | None:
        decimals, digits = Decimals(), 1
        units = np.zeros(len(self.numbers))
        for start in range(0, len(self.numbers), MOST):
            piece = self.numbers[start : start + MOST]
            fifteen = decimals.take_apart(piece).digits15.copy()
            while digits < 15 and (fifteen % 10 ** (15 - digits)).any():
                digits += 1
        if digits >= 15:
            return None
        with np.errstate(divide="ignore"):
            exponent = np.floor(np.log10(np.abs(self.numbers), where=self.numbers != 0, out=units))
        errors = np.where(self.numbers != 0, 10.0 ** (exponent - digits + 1), 0.0)
        return self._find_rounding(errors, f"all numbers were rounded or cut to {digits} digits")

    def _find_single_precision(self) -> Change | None:
        with np.errstate(over="ignore"):
            if not np.array_equal(self.numbers.astype(np.float32).astype(np.float64), self.numbers):
                return None
        return self._find_rounding(
            np.abs(self.numbers) * 2.0**-24, "all numbers were cut to single precision (float32)"
        )


def _limit_change(message: str, slack: Moments) -> Change:
    """Return a change with a hint that says how large an edit it may hide, if moments may differ by `slack`."""
    hidden = float(slack.max()) / _LEAST_WEIGHT
    return Change(message, f"an edit of less than {hidden:.1g} in a single element beside it would not be seen")


def _to_typed(number: float) -> Iterator[float]:
    """Yield numbers of few digits near a number, and such whose inverse has few, as somebody may have typed them."""
    if not np.isfinite(number) or not number:
        return
    for digits in range(1, _LONGEST + 1):
        near = float(f"{number:.{digits}g}")
        if near and abs(near - number) < 1e-4 * abs(number):
            yield near
        inverse = float(f"{1 / number:.{digits}g}")
        if inverse and np.isfinite(inverse) and abs(1 / inverse - number) < 1e-4 * abs(number):
            yield 1 / inverse
