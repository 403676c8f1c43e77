"""The functions that formulas may use, by name: how few and how many arguments they take, and what they do."""

from __future__ import annotations

from .conditional import CONDITIONAL
from .logic import DECIDING, LOGIC
from .lookups import LOOKUPS
from .mathematics import MATHEMATICS
from .operands import Arguments, Operand
from .patterns import PATTERNS
from .referring import REFERRING
from .statistics import STATISTICS
from .texts import TEXTS
from .times import TIMES

__all__ = ["EAGER", "LAZY", "Arguments", "Operand"]

LAZY = DECIDING | REFERRING
EAGER = MATHEMATICS | LOGIC | LOOKUPS | PATTERNS | STATISTICS | TEXTS | TIMES | CONDITIONAL
