"""How many examples hypothesis tries: a third of those that a property is worth, or as many times more as is asked for.

    EXAMPLES=1 make test   # all of them; EXAMPLES=10 on a night when nobody waits

What a property once failed at is kept as an `@example` or as a test of its own, and is tried in every run.
"""

from __future__ import annotations

import os

_SHARE = float(os.environ.get("EXAMPLES", "0.33"))


def examples(count: int) -> int:
    """Return how many examples to try where all of them would be so many."""
    return max(1, round(count * _SHARE))
