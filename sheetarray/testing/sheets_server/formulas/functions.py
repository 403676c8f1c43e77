"""The functions that formulas may use, by name: the least and the most arguments of each, and its work.

The functions of `EAGER` are given their arguments worked out; those of `LAZY` work them out as they need them.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from .conditional import CONDITIONAL
from .finance import FINANCE
from .lambdas import CALLING, LAMBDAS
from .logic import DECIDING, LOGIC
from .lookups import LOOKUPS
from .mathematics import ANY, MATHEMATICS
from .numerals import NUMERALS
from .operands import Arguments, Operand
from .patterns import PATTERNS
from .referring import REFERRING
from .spreading import SPREADING
from .statistics import STATISTICS
from .texts import TEXTS
from .times import TIMES

__all__ = ["ARRAYS", "EAGER", "LAZY", "Arguments", "Operand", "may_spread", "takes_whole"]

LAZY = DECIDING | REFERRING
EAGER = (
    MATHEMATICS
    | LOGIC
    | LOOKUPS
    | PATTERNS
    | STATISTICS
    | TEXTS
    | TIMES
    | CONDITIONAL
    | SPREADING
    | CALLING
    | NUMERALS
    | FINANCE
)

ARRAYS = SPREADING.keys() - {"SPLIT"} | {
    "INDEX",
    "SUMPRODUCT",
}  # within their arguments, functions of single values take arrays
_SPREADS = re.compile(
    rf"\{{|\b(?:{'|'.join(sorted(SPREADING.keys() | LAMBDAS | {'INDEX', 'INDIRECT', 'OFFSET'}))})\s*\(", re.IGNORECASE
)
_WHOLE: dict[str, Collection[int]] = {  # indices of the arguments that are taken as whole ranges, not value by value
    name: places
    for places, names in (
        (range(ANY), SPREADING.keys() | CALLING),
        (
            range(ANY),
            "AND AVERAGE CONCATENATE COLUMNS CORREL COUNT COUNTA COUNTBLANK COUNTUNIQUE GCD INDEX JOIN LCM MAX",
        ),
        (range(ANY), "AVERAGEA GEOMEAN HARMEAN IRR MAXA MINA MODE.SNGL NPV STDEV.P STDEV.S VAR.P VAR.S"),
        (range(ANY), "FORECAST INTERCEPT SLOPE"),
        (range(ANY), "MEDIAN MIN MODE OR PRODUCT ROWS STDEV STDEVP SUM SUMPRODUCT SUMSQ TEXTJOIN VAR VARP XOR"),
        ({0}, "COUNTIF LARGE PERCENTILE PERCENTILE.INC QUARTILE QUARTILE.INC SMALL"),
        ({1}, "HLOOKUP MATCH RANK RANK.AVG RANK.EQ VLOOKUP XMATCH"),
        ({2}, "NETWORKDAYS WORKDAY"),
        ({0, 2}, "AVERAGEIF SUMIF"),
        ({1, 2}, "LOOKUP XLOOKUP"),
        (range(0, ANY, 2), "COUNTIFS"),
        ({0, *range(1, ANY, 2)}, "AVERAGEIFS MAXIFS MINIFS SUMIFS"),
    )
    for name in (names.split() if isinstance(names, str) else names)
}


def may_spread(formula: str) -> bool:
    """Return whether a formula may come to an array, which fills other cells too."""
    return _SPREADS.search(formula) is not None


def takes_whole(function: str) -> Collection[int]:
    """Return the indices of the arguments that a function takes as whole ranges."""
    return _WHOLE.get(function, ())
