"""The answers of a server besides boxes: statistics, histograms and findings; each request takes them further.

Nothing runs for a page that has been closed. No more of an array is in memory than one block.
"""

from __future__ import annotations

import math
import threading
import time
from typing import Any

import numpy as np

from ..comparing import cover_with_blocks
from ..dtypes import Array, Mask
from ..errors import LimitError, SheetArrayError
from .contents import Contents
from .served import Boxes, count_bars, find_missing, is_numeric, to_numbers

_SECONDS_A_PASS = 0.4  # seconds of one request
_BLOCK = 2**20  # elements
_TEXT_BLOCK = 2**16  # elements that are no numbers, and take Python
_MOST_SAMPLED = 200_000  # elements of a sample, from which the 2nd and the 98th percentile are estimated


class Summary:
    """Statistics of an array, the ranges of its colours, and a histogram for each of them.

    They take two passes over the blocks of the array: one for the statistics, one for the histograms. An array that
    holds no numbers takes one.
    """

    def __init__(self, array: Boxes) -> None:
        self._array, self._is_numeric = array, is_numeric(array.dtype)
        self._boxes = list(cover_with_blocks(array.shape, _BLOCK if self._is_numeric else _TEXT_BLOCK))
        sizes = [math.prod(part.stop - part.start for part in box) for box in self._boxes]
        self._starts = np.append(0, np.cumsum(sizes)).tolist()  # of the blocks, in row-major order
        self._count = math.prod(array.shape)
        self._next, self._lock = 0, threading.Lock()
        self._missing = self._infinite = self._finite = 0
        self._mean = self._squares = 0.0
        self._ends: dict[str, tuple[Any, int]] = {}  # of the least and the greatest element: its value, its index
        self._stride = max(1, math.ceil(self._count / _MOST_SAMPLED))
        self._sample: list[Array] = []
        self._scales: dict[str, tuple[float, float]] = {}
        self._bars: dict[str, Array] = {}

    def advance(self) -> dict[str, Any]:
        """Go on for a while, at least by one block; return how far it is, and the outcome once it is done."""
        until = time.monotonic() + _SECONDS_A_PASS
        with self._lock:
            total = (1 + self._is_numeric) * len(self._boxes)
            while self._next < total:
                turn, number = divmod(self._next, len(self._boxes))
                elements = self._array.take(self._boxes[number]).reshape(-1)
                self._count_bars(elements) if turn else self._describe(self._starts[number], elements)
                self._next += 1
                if time.monotonic() > until:
                    break
            state = {"done": self._next, "total": total}
            return state if self._next < total else state | self._result()

    def _describe(self, start: int, elements: Array) -> None:
        """Take the elements of a block, which begins at an index in row-major order, into the statistics."""
        missing = find_missing(elements)
        self._missing += int(missing.sum())
        if not self._is_numeric:
            return
        numbers = to_numbers(elements)
        finite: Mask = np.isfinite(numbers) & ~missing
        self._infinite += int((~finite & ~missing).sum())
        indices = np.flatnonzero(finite)
        if not len(indices):
            return
        some = numbers[indices]
        whole = elements.view(np.int64) if elements.dtype.kind == "m" else elements
        exact = whole[indices] if whole.dtype.kind in "iu" else some
        for name, at, sign in (("least", int(exact.argmin()), -1), ("greatest", int(exact.argmax()), 1)):
            value = exact[at].item()
            known = self._ends.get(name)
            if known is None or (value < known[0] if sign < 0 else value > known[0]):
                self._ends[name] = value, start + int(indices[at])
        sampled = np.arange(-start % self._stride, len(numbers), self._stride)
        self._sample.append(numbers[sampled[finite[sampled]]])
        self._add_moments(some)

    def _add_moments(self, numbers: Array) -> None:
        """Take numbers into the mean and the sum of squares: of blocks, as Chan, Golub and LeVeque do."""
        unit = float(np.abs(numbers).max()) or 1.0  # so that no sum overflows
        mean = float((numbers / unit).mean()) * unit
        count = self._finite + len(numbers)
        with np.errstate(over="ignore"):
            squares = np.square(numbers - mean).sum()
            if self._finite:
                squares += np.square(mean - self._mean) * (self._finite * len(numbers) / count)
        self._squares += float(squares)
        self._mean = self._mean * (self._finite / count) + mean * (len(numbers) / count)
        self._finite = count

    def _count_bars(self, elements: Array) -> None:
        """Take the elements of a block into the histograms."""
        if not self._scales:
            self._scales = self._find_scales()
        numbers = to_numbers(elements)[~find_missing(elements)]
        for name, (low, high) in self._scales.items():
            counts = count_bars(numbers, low, high)
            self._bars[name] = self._bars.get(name, np.zeros_like(counts)) + counts

    def _find_scales(self) -> dict[str, tuple[float, float]]:
        """Return the ends of each scale of colours: of the full range, and of the 2nd to the 98th percentile."""
        if not self._ends:
            return {"full": (0.0, 0.0), "2": (0.0, 0.0)}
        full = float(self._ends["least"][0]), float(self._ends["greatest"][0])
        sample = np.sort(np.concatenate(self._sample))
        scales = {"full": full, "2": full}
        if len(sample):
            low, high = (float(sample[math.floor(share * (len(sample) - 1) + 0.5)]) for share in (0.02, 0.98))
            if high > low:
                scales["2"] = low, high
        return scales

    def _result(self) -> dict[str, Any]:
        """Return the statistics, and the indices of the least and the greatest element in row-major order."""
        if not self._is_numeric:
            return {"count": self._count, "missing": self._missing}
        deviation = math.sqrt(self._squares / self._finite) if self._finite else 0.0
        return {
            "count": self._count,
            "missing": self._missing,
            "infinite": self._infinite,
            "mean": self._mean,
            "deviation": deviation if math.isfinite(deviation) else None,
            **{name: self._ends[name][1] if self._ends else None for name in ("least", "greatest")},
            "scales": {name: {"low": low, "high": high} for name, (low, high) in self._scales.items()},
            "bars": {name: counts.tolist() for name, counts in self._bars.items()},
        }


_PATIENCE = 0.4  # seconds in which a check may end before a page is told to ask again


class Answers:
    """The answers to questions about whole arrays, as far as they have been worked out."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._lock = threading.Lock()
        self._summaries: dict[int, Summary] = {}
        self._checking: _Checking | None = None

    def give(self, verb: str, options: dict[str, str]) -> dict[str, Any]:
        """Return the answer as far as it is known by now; `done` is less than `total` until it is all.

        `verb`: "summary" or "findings". `options`: what is asked: of a summary, the number of an `entry`.

        Raises:
            KeyError: there is no such array.
            FormatError: the file has changed, or cannot be read.
            LimitError: the options are others.
        """
        if options.keys() != ({"entry"} if verb == "summary" else set()):
            raise LimitError("a summary is asked for as entry=0, findings without anything else")
        if verb == "findings":
            with self._lock:
                self._checking = self._checking or _Checking(self._contents)
            return self._checking.give()
        text = options["entry"]
        if not (text.isascii() and text.isdigit() and len(text) <= 15):
            raise LimitError("an entry is a whole number")
        number = int(text)
        with self._lock:
            if number not in self._summaries:
                self._summaries[number] = Summary(self._contents.served[number])
        return self._summaries[number].advance()

    def close(self) -> None:
        """Forget all answers; a check that is running ends by itself, or with the program."""
        self._summaries.clear()


class _Checking:
    """The `check` of all files of a page, in a thread of its own, begun when somebody asks."""

    def __init__(self, contents: Contents) -> None:
        self._contents, self._findings = contents, list[dict[str, Any]]()
        self._unlisted, self._files, self._problem = 0, 0, ""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        for file, source, numbers in self._contents.checked:
            try:
                listed, unlisted = self._contents.describe_findings(source.check(), file, numbers)
            except (SheetArrayError, OSError, MemoryError) as error:
                self._problem = str(error) or type(error).__name__
                continue
            self._findings += listed
            self._unlisted += unlisted
            self._files += 1

    def give(self) -> dict[str, Any]:
        """Return the number of files that are checked, and the findings once all are."""
        self._thread.join(_PATIENCE)
        total = len(self._contents.checked)
        if self._thread.is_alive():
            return {"done": min(self._files, total - 1), "total": total}
        answer = {"findings": self._findings, "unlisted": self._unlisted, "problem": self._problem}
        return {"done": total, "total": total, **answer}
