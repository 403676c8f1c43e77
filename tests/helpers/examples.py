"""How many examples are tried: an eighth of those that a property is worth, or as many times more as is asked for.

    EXAMPLES=1 make test   # all of them; EXAMPLES=10 on a night when nobody waits

Without EXAMPLES the same ones are tried in every run, so that none fails by luck; with it they are drawn anew. What a
property once failed at is kept as an `@example` or as a test of its own, and is tried in every run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

ANEW = "EXAMPLES" in os.environ
_SHARE = float(os.environ.get("EXAMPLES", "0.125"))
STRIDE = max(1, round(1 / _SHARE))  # one in so many is tried where each is as good as the next
PART = 1 if _SHARE >= 1 else 16  # floods of 32 MB are so many times smaller, and have so many times less time


def examples(count: int) -> int:
    """Return how many examples to try where all of them would be so many."""
    return max(1, round(count * _SHARE))


def cross(rows: Iterable[str], columns: Sequence[str], *whole: str) -> list[tuple[str, str]]:
    """Return pairs of rows and columns: all pairs if all examples are asked for, otherwise representative ones.

    Args:
        rows: what matters most.
        columns: where, or how, each of them is tried.
        whole: rows and columns whose pairs are all tried; of the others one in STRIDE is, at least one of each row,
            with other columns than the next row's.
    """
    stride = min(STRIDE, len(columns))
    return [
        (row, column)
        for number, row in enumerate(rows)
        for other, column in enumerate(columns)
        if row in whole or column in whole or (number + other) % stride == 0
    ]
