"""Functions of payments: PMT, PV, FV, NPV, IRR."""

from __future__ import annotations

import math

from .mathematics import ANY, Function, number_at
from .operands import Arguments, Operand, fail, number, numbers


def _grown(rate: float, periods: float, due: float) -> tuple[float, float]:
    """Return the sums to which a payment of 1 now, and payments of 1 in each period, grow.

    `due` is other than 0 if each is paid at the beginning of its period.
    """
    growth = (1 + rate) ** periods
    return growth, ((growth - 1) / rate * (1 + rate * bool(due)) if rate else periods)


def _payment(arguments: Arguments) -> Operand:
    rate, periods, present = (number(argument) for argument in arguments[:3])
    growth, paid = _grown(rate, periods, number_at(arguments, 4))
    return -(present * growth + number_at(arguments, 3)) / paid if paid else fail("#NUM!")


def _present(arguments: Arguments) -> Operand:
    rate, periods, payment = (number(argument) for argument in arguments[:3])
    growth, paid = _grown(rate, periods, number_at(arguments, 4))
    return -(payment * paid + number_at(arguments, 3)) / growth


def _future(arguments: Arguments) -> Operand:
    rate, periods, payment = (number(argument) for argument in arguments[:3])
    growth, paid = _grown(rate, periods, number_at(arguments, 4))
    return -(number_at(arguments, 3) * growth + payment * paid)


def _value_now(rate: float, flows: list[float]) -> float:
    return math.fsum(flow / (1 + rate) ** period for period, flow in enumerate(flows))


def _net_present(arguments: Arguments) -> Operand:
    rate = number(arguments[0])
    return _value_now(rate, [0.0, *numbers(arguments[1:])])


def _return_rate(arguments: Arguments) -> Operand:
    """Return the rate at which flows are worth 0 now, found by halving an interval in which that sign changes."""
    flows = numbers(arguments[:1])
    low, high = -0.999999, 10.0
    if not flows or (_value_now(low, flows) > 0) == (_value_now(high, flows) > 0):
        fail("#NUM!", "Function IRR has no valid input data.")
    rising = _value_now(low, flows) < 0
    for _ in range(200):
        middle = (low + high) / 2
        if (_value_now(middle, flows) < 0) == rising:
            low = middle
        else:
            high = middle
    return (low + high) / 2


FINANCE: dict[str, Function] = {
    "FV": (3, 5, _future),
    "IRR": (1, 2, _return_rate),
    "NPV": (2, ANY, _net_present),
    "PMT": (3, 5, _payment),
    "PV": (3, 5, _present),
}
