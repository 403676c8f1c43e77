"""How many examples hypothesis tries: a third of those that a property is worth, or as many times more as is asked for.

    EXAMPLES=1 make test   # all of them; EXAMPLES=10 on a night when nobody waits

Without EXAMPLES the same ones are tried in every run, so that none fails by luck; with it they are drawn anew. What a
property once failed at is kept as an `@example` or as a test of its own, and is tried in every run.
"""

from __future__ import annotations

import os

ANEW = "EXAMPLES" in os.environ
_SHARE = float(os.environ.get("EXAMPLES", "0.33"))


def examples(count: int) -> int:
    """Return how many examples to try where all of them would be so many."""
    return max(1, round(count * _SHARE))
