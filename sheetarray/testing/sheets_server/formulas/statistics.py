"""Functions that order, count and combine numbers: LARGE, RANK, PERCENTILE, GCD and their kin."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable

from .mathematics import ANY, Function, average
from .operands import Arguments, FormulaError, Operand, fail, number, numbers, rank, truth, values, whole

_LARGEST = 170  # whose factorial a double can hold


def _pick_in_order(function: str, *, largest: bool) -> Function:
    def work(arguments: Arguments) -> Operand:
        ordered = sorted(numbers(arguments[:1]), reverse=largest)
        place = whole(arguments[1])
        if not 1 <= place <= len(ordered):
            fail("#NUM!", f"Function {function} parameter 2 value {place} is out of range.")
        return ordered[place - 1]

    return 2, 2, work


def _rank(arguments: Arguments) -> Operand:
    value, ordered = number(arguments[0]), numbers(arguments[1:2])
    if value not in ordered:
        fail("#N/A", f"Function RANK parameter 1 value {value:g} was not found.")
    ascending = len(arguments) > 2 and truth(arguments[2])
    return 1.0 + sum(other < value if ascending else other > value for other in ordered)


def _percentile(numeric: list[float], share: float, function: str) -> float:
    ordered = sorted(numeric)
    if not ordered or not 0 <= share <= 1:
        fail("#NUM!", f"Function {function} has no valid input data.")
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _mode(arguments: Arguments) -> Operand:
    counts = Counter(numbers(arguments))
    value, count = max(counts.items(), key=lambda entry: entry[1], default=(0.0, 0))
    return value if count > 1 else fail("#N/A", "MODE found no value that occurs more than once.")


def _spread(arguments: Arguments) -> float:
    """Return the variance of a whole population."""
    numeric = numbers(arguments)
    if not numeric:
        fail("#DIV/0!", "Evaluation of function VARP caused a divide by zero error.")
    mean = math.fsum(numeric) / len(numeric)
    return math.fsum((value - mean) ** 2 for value in numeric) / len(numeric)


def _count_unique(arguments: Arguments) -> Operand:
    distinct = set()
    for value in values(arguments):
        if isinstance(value, FormulaError):
            raise value
        distinct.add(rank(value))
    return float(len(distinct))


def _divisors(combine: Callable[..., int]) -> Callable[[Arguments], Operand]:
    return lambda given: float(combine(*(abs(int(value)) for value in numbers(given))))


def _factorial(arguments: Arguments) -> Operand:
    count = whole(arguments[0])
    return float(math.factorial(count)) if 0 <= count <= _LARGEST else fail("#NUM!")


def _combinations(arguments: Arguments) -> Operand:
    count, taken = whole(arguments[0]), whole(arguments[1])
    if not 0 <= taken <= count or count > 10_000:
        fail("#NUM!", "Function COMBIN parameter 2 must lie between 0 and parameter 1.")
    return float(math.comb(count, taken))


def _between(arguments: Arguments) -> Operand:
    low, high = whole(arguments[0]), whole(arguments[1])
    return float(random.randint(low, high)) if low <= high else fail("#NUM!")  # noqa: S311  (no secret is made of it)


def _to_multiple(arguments: Arguments) -> Operand:
    value, step = number(arguments[0]), number(arguments[1])
    if value * step < 0:
        fail("#NUM!", "Function MROUND parameters must have the same sign.")
    return math.floor(value / step + 0.5) * step if step else 0.0


def _to_parity(odd: int) -> Callable[[Arguments], Operand]:
    """Return the next even or odd number, away from zero."""

    def work(arguments: Arguments) -> Operand:
        value = number(arguments[0])
        size = math.ceil(abs(value))
        return math.copysign(size + (size % 2 != odd), value)

    return work


def _correlation(arguments: Arguments) -> Operand:
    first, second = numbers(arguments[:1]), numbers(arguments[1:])
    if len(first) != len(second) or not first:
        fail("#N/A", "CORREL has mismatched argument lengths.")
    means = [math.fsum(line) / len(line) for line in (first, second)]
    pairs = [(one - means[0], other - means[1]) for one, other in zip(first, second, strict=True)]
    size = math.sqrt(math.fsum(one**2 for one, _ in pairs) * math.fsum(other**2 for _, other in pairs))
    if not size:
        fail("#DIV/0!", "Evaluation of function CORREL caused a divide by zero error.")
    return math.fsum(one * other for one, other in pairs) / size


def _mean_rank(arguments: Arguments) -> Operand:
    alike = numbers(arguments[1:2]).count(number(arguments[0]))
    return float(number(_rank(arguments)) + (alike - 1) / 2)


def _with_text(arguments: Arguments) -> list[float]:
    """Return every number, 0 for each text, and 1 or 0 for booleans."""
    numeric = []
    for value in values(arguments):
        if isinstance(value, FormulaError):
            raise value
        if value is not None:
            numeric.append(0.0 if isinstance(value, str) else float(value))
    return numeric


def _positive(arguments: Arguments, function: str) -> list[float]:
    numeric = numbers(arguments)
    if not numeric or min(numeric) <= 0:
        fail("#NUM!", f"Function {function} takes positive numbers.")
    return numeric


def _line(first: Arguments, second: Arguments) -> tuple[float, float]:
    """Return the slope and the start of the line through points: the numbers down, and those across."""
    down, across = numbers(first), numbers(second)
    if len(down) != len(across) or not down:
        fail("#N/A", "SLOPE has mismatched argument lengths.")
    middle = [math.fsum(line) / len(line) for line in (down, across)]
    size = math.fsum((value - middle[1]) ** 2 for value in across)
    if not size:
        fail("#DIV/0!", "Evaluation of function SLOPE caused a divide by zero error.")
    slope = math.fsum((y - middle[0]) * (x - middle[1]) for y, x in zip(down, across, strict=True)) / size
    return slope, middle[0] - slope * middle[1]


def _forecast(arguments: Arguments) -> Operand:
    slope, start = _line(arguments[1:2], arguments[2:])
    return start + slope * number(arguments[0])


STATISTICS: dict[str, Function] = {
    "ACOS": (1, 1, lambda given: math.acos(number(given[0]))),
    "ASIN": (1, 1, lambda given: math.asin(number(given[0]))),
    "ATAN": (1, 1, lambda given: math.atan(number(given[0]))),
    "ATAN2": (2, 2, lambda given: math.atan2(number(given[1]), number(given[0]))),
    "AVERAGEA": (1, ANY, lambda given: average(_with_text(given))),
    "COSH": (1, 1, lambda given: math.cosh(number(given[0]))),
    "FORECAST": (3, 3, _forecast),
    "GEOMEAN": (1, ANY, lambda given: math.exp(average([math.log(value) for value in _positive(given, "GEOMEAN")]))),
    "HARMEAN": (1, ANY, lambda given: 1 / average([1 / value for value in _positive(given, "HARMEAN")])),
    "INTERCEPT": (2, 2, lambda given: _line(given[:1], given[1:])[1]),
    "MAXA": (1, ANY, lambda given: max(_with_text(given), default=0.0)),
    "MINA": (1, ANY, lambda given: min(_with_text(given), default=0.0)),
    "RANK.AVG": (2, 3, _mean_rank),
    "SINH": (1, 1, lambda given: math.sinh(number(given[0]))),
    "SLOPE": (2, 2, lambda given: _line(given[:1], given[1:])[0]),
    "TANH": (1, 1, lambda given: math.tanh(number(given[0]))),
    "COMBIN": (2, 2, _combinations),
    "CORREL": (2, 2, _correlation),
    "COS": (1, 1, lambda given: math.cos(number(given[0]))),
    "COUNTUNIQUE": (1, ANY, _count_unique),
    "DEGREES": (1, 1, lambda given: math.degrees(number(given[0]))),
    "EVEN": (1, 1, _to_parity(0)),
    "FACT": (1, 1, _factorial),
    "GCD": (1, ANY, _divisors(math.gcd)),
    "ISEVEN": (1, 1, lambda given: whole(given[0]) % 2 == 0),
    "ISODD": (1, 1, lambda given: whole(given[0]) % 2 == 1),
    "LARGE": _pick_in_order("LARGE", largest=True),
    "LCM": (1, ANY, _divisors(math.lcm)),
    "MODE": (1, ANY, _mode),
    "MROUND": (2, 2, _to_multiple),
    "ODD": (1, 1, _to_parity(1)),
    "PERCENTILE": (2, 2, lambda given: _percentile(numbers(given[:1]), number(given[1]), "PERCENTILE")),
    "QUARTILE": (2, 2, lambda given: _percentile(numbers(given[:1]), whole(given[1]) / 4, "QUARTILE")),
    "RADIANS": (1, 1, lambda given: math.radians(number(given[0]))),
    "RAND": (0, 0, lambda _: random.random()),  # noqa: S311  (no secret is made of it)
    "RANDBETWEEN": (2, 2, _between),
    "RANK": (2, 3, _rank),
    "SIN": (1, 1, lambda given: math.sin(number(given[0]))),
    "SMALL": _pick_in_order("SMALL", largest=False),
    "STDEVP": (1, ANY, lambda given: math.sqrt(_spread(given))),
    "SUMSQ": (1, ANY, lambda given: math.fsum(value**2 for value in numbers(given))),
    "TAN": (1, 1, lambda given: math.tan(number(given[0]))),
    "VARP": (1, ANY, _spread),
}
STATISTICS |= {  # older and newer names of one function
    "MODE.SNGL": STATISTICS["MODE"],
    "PERCENTILE.INC": STATISTICS["PERCENTILE"],
    "QUARTILE.INC": STATISTICS["QUARTILE"],
    "RANK.EQ": STATISTICS["RANK"],
    "STDEV.P": STATISTICS["STDEVP"],
    "VAR.P": STATISTICS["VARP"],
}
