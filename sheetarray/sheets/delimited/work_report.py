"""Reports the progress of reading a delimited text that is searched, made sound and parsed as a whole."""

from __future__ import annotations

from typing import ClassVar

from ...adapters import Progress


class WorkReport:
    """The progress of reading a text, as a share of all its cells: each kind of work takes a known part of the time.

    Args:
        progress: is called with the cells read and the cells in all.
        total: the number of all cells; 0 until it is known, and nothing is reported.
    """

    _PARTS: ClassVar = {"words": (0.0, 0.3), "quotes": (0.3, 0.5), "columns": (0.5, 0.7)}  # then they are decoded

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self.total = progress, total
        self._done = -1

    def __call__(self, work: str, share: float) -> None:
        """Report that a share of some work is done."""
        first, last = self._PARTS[work]
        done = int((first + (last - first) * share) * self.total)
        if self.total and self._done < 0:
            self._progress(0, self.total)
        if self.total and done > max(self._done, 0):
            self._progress(done, self.total)
        self._done = max(self._done, done if self.total else -1)
