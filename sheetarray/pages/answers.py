"""The answers of a server besides boxes: statistics, histograms, searches, findings; each request takes them further.

Nothing runs for a page that has been closed. No more of an array is in memory than one block.
"""

from __future__ import annotations

import math
import re
import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from ..comparing import cover_with_blocks
from ..dtypes import Array, Mask
from ..errors import LimitError, SheetArrayError
from .contents import Contents
from .served import Boxes, count_bars, find_missing, is_numeric, list_texts, to_numbers

# Finds the elements that somebody searches for, whole blocks at once, by the same rules as the search of a page.

_INFINITE = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)
_NUMERAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_RELATIONS: dict[str, Callable[[Any, float], Any]] = {
    "<": np.less,
    ">": np.greater,
    "<=": np.less_equal,
    ">=": np.greater_equal,
}

Matcher = Callable[[Array], Mask]


def make_matcher(dtype: np.dtype[Any], query: str) -> Matcher | None:
    """Return a function that masks the elements somebody looks for, as the page itself would; None for no query.

    `query`: a number, `> 30`, NaN, a part of a text, a date.
    """
    text = query.strip()
    if not text:
        return None
    if re.fullmatch("nan|nat|none", text, re.IGNORECASE) and (is_numeric(dtype) or dtype.kind == "O"):
        return find_missing
    if not is_numeric(dtype):
        wanted = text.lower()
        return lambda elements: _mask(wanted in shown.lower() for shown in list_texts(elements))
    if dtype.kind == "b" and text.lower() in ("true", "false"):
        return lambda elements: elements == (text.lower() == "true")
    match = re.fullmatch(r"(<=|>=|<|>|=)?\s*(.*)", text)
    relation, numeral = (match[1], match[2]) if match else (None, text)
    limit = _parse_number(numeral)
    if (dtype.kind == "c" and relation in (None, "=")) or limit is None:
        return _match_complex(numeral) if dtype.kind == "c" else None
    if relation in _RELATIONS:
        compare = _RELATIONS[relation]
        return lambda elements: compare(to_numbers(elements), limit)
    if (dtype.kind in "iu" and dtype.itemsize == 8) or dtype.kind == "m":
        return _match_whole(numeral, dtype)
    with np.errstate(over="ignore"):
        value = dtype.type(limit) if dtype.kind == "f" else np.float64(limit)  # a numeral means the nearest element
    return lambda elements: elements == value


def _mask(values: Any) -> Mask:
    return np.fromiter(values, np.bool_)


def _parse_number(numeral: str) -> float | None:
    if infinite := _INFINITE.fullmatch(numeral):
        return float(f"{infinite[1]}inf")
    return float(numeral) if _NUMERAL.fullmatch(numeral) else None


def _match_whole(numeral: str, dtype: np.dtype[Any]) -> Matcher:
    """Return a function that compares integers of 64 bits with all their digits."""
    exact = int(numeral) if re.fullmatch(r"[+-]?[0-9]{1,20}", numeral) else None
    limits = np.iinfo(np.int64 if dtype.kind == "m" else dtype)
    if exact is None or not limits.min <= exact <= limits.max:
        return lambda elements: np.zeros(len(elements), np.bool_)
    if dtype.kind == "m":
        return lambda elements: (elements.view(np.int64) == exact) & ~np.isnat(elements)
    return lambda elements: elements == dtype.type(exact)


def _match_complex(numeral: str) -> Matcher | None:
    try:
        value = complex(re.sub("[ij]$", "j", numeral.replace(" ", "")))
    except ValueError:
        return None
    return lambda elements: elements == elements.dtype.type(value)


# Statistics, histograms and searches of a whole array that a server has, worked out block by block.

_SECONDS_A_PASS = 0.4  # seconds of one request
_BLOCK = 2**20  # elements
_TEXT_BLOCK = 2**16  # elements that are no numbers, and take Python
_MOST_SAMPLED = 200_000  # elements of a sample, from which the 2nd and the 98th percentile are estimated


class FlatBlocks:
    """An array cut into blocks of elements that follow one another in row-major order; it has at least one element.

    Attributes:
        starts: the index of the first element of each block in row-major order, and after them the number of all
            elements.
    """

    def __init__(self, array: Boxes) -> None:
        self.array = array
        self._boxes = list(cover_with_blocks(array.shape, _BLOCK if is_numeric(array.dtype) else _TEXT_BLOCK))
        sizes = [math.prod(part.stop - part.start for part in box) for box in self._boxes]
        self.starts = np.append(0, np.cumsum(sizes))
        self.count = int(self.starts[-1])

    def __len__(self) -> int:
        return len(self._boxes)

    def take(self, number: int) -> Array:
        """Return the elements of a block, in one dimension."""
        return self.array.take(self._boxes[number]).reshape(-1)

    def block_of(self, index: int) -> int:
        """Return the number of the block that holds an element, by its index in row-major order."""
        return int(np.searchsorted(self.starts, index, side="right")) - 1


class Pass(ABC):
    """One pass, or several, over all blocks of an array, which goes on as long as somebody asks."""

    passes = 1

    def __init__(self, array: Boxes) -> None:
        self.blocks = FlatBlocks(array)
        self._next, self._lock = 0, threading.Lock()

    def advance(self) -> dict[str, Any]:
        """Go on for a while, at least by one block; return how far it is, and the outcome once it is done."""
        until = time.monotonic() + _SECONDS_A_PASS
        with self._lock:
            total = self.passes * len(self.blocks)
            while self._next < total:
                number = self._next % len(self.blocks)
                self.look(self._next // len(self.blocks), number, self.blocks.take(number))
                self._next += 1
                if time.monotonic() > until:
                    break
            state = {"done": self._next, "total": total}
            return state if self._next < total else state | self.result()

    @abstractmethod
    def look(self, turn: int, number: int, elements: Array) -> None:
        """Take in the elements of a block."""

    @abstractmethod
    def result(self) -> dict[str, Any]:
        """Return the outcome."""


class Summary(Pass):
    """Statistics of an array, the ranges of its colours, and a histogram for each of them."""

    def __init__(self, array: Boxes) -> None:
        super().__init__(array)
        self._is_numeric = is_numeric(array.dtype)
        self.passes = 2 if self._is_numeric else 1
        self._missing = self._infinite = self._finite = 0
        self._mean = self._squares = 0.0
        self._ends: dict[str, tuple[Any, int]] = {}  # of the least and the greatest element: its value, its index
        self._stride = max(1, math.ceil(self.blocks.count / _MOST_SAMPLED))
        self._sample: list[Array] = []
        self._scales: dict[str, tuple[float, float]] = {}
        self._bars: dict[str, Array] = {}

    def look(self, turn: int, number: int, elements: Array) -> None:
        """Take in the elements of a block: in the first turn for the statistics, in the second for the histograms."""
        missing = find_missing(elements)
        if not self._is_numeric:
            self._missing += int(missing.sum())
            return
        numbers = to_numbers(elements)
        finite = np.isfinite(numbers) & ~missing
        if turn == 0:
            self._describe(number, elements, numbers, missing, finite)
            return
        if not self._scales:
            self._scales = self._find_scales()
        for name, (low, high) in self._scales.items():
            counts = count_bars(numbers[~missing], low, high)
            self._bars[name] = self._bars.get(name, np.zeros_like(counts)) + counts

    def _describe(self, number: int, elements: Array, numbers: Array, missing: Mask, finite: Mask) -> None:
        self._missing += int(missing.sum())
        self._infinite += int((~finite & ~missing).sum())
        indices = np.flatnonzero(finite)
        if not len(indices):
            return
        start = int(self.blocks.starts[number])
        some = numbers[indices]
        whole = elements.view(np.int64) if elements.dtype.kind == "m" else elements
        exact = whole[indices] if whole.dtype.kind in "iu" else some
        for name, at, sign in (("least", int(exact.argmin()), -1), ("greatest", int(exact.argmax()), 1)):
            value = exact[at].item()
            known = self._ends.get(name)
            if known is None or (value < known[0] if sign < 0 else value > known[0]):
                self._ends[name] = value, start + int(indices[at])
        first = -start % self._stride
        sampled = np.arange(first, len(numbers), self._stride)
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

    def result(self) -> dict[str, Any]:
        """Return the statistics, and the indices of the least and the greatest element in row-major order."""
        if not self._is_numeric:
            return {"count": self.blocks.count, "missing": self._missing}
        deviation = math.sqrt(self._squares / self._finite) if self._finite else 0.0
        return {
            "count": self.blocks.count,
            "missing": self._missing,
            "infinite": self._infinite,
            "mean": self._mean,
            "deviation": deviation if math.isfinite(deviation) else None,
            **{name: self._ends[name][1] if self._ends else None for name in ("least", "greatest")},
            "scales": {name: {"low": low, "high": high} for name, (low, high) in self._scales.items()},
            "bars": {name: counts.tolist() for name, counts in self._bars.items()},
        }


class Search(Pass):
    """All elements of an array that are what somebody looks for: how many of them each block has."""

    def __init__(self, array: Boxes, matcher: Matcher) -> None:
        super().__init__(array)
        self._matcher = matcher
        self._counts = np.zeros(len(self.blocks), np.int64)

    def look(self, turn: int, number: int, elements: Array) -> None:  # noqa: ARG002  (there is one turn)
        """Count the matches in a block."""
        self._counts[number] = np.count_nonzero(self._matcher(elements))

    def result(self) -> dict[str, Any]:
        """Return the number of matches."""
        return {"count": int(self._counts.sum())}

    def find(self, start: int, *, is_back: bool) -> int:
        """Return the index in row-major order of the next match after an element, or of the last one before it; after
        the end the search goes on at the beginning. -1 if nothing matches.
        """
        filled = np.flatnonzero(self._counts)
        if not len(filled):
            return -1
        own = self.blocks.block_of(min(max(start, 0), self.blocks.count - 1))
        order = filled[::-1] if is_back else filled
        away = own - order if is_back else order - own
        for number in (*order[away >= 0][:2].tolist(), int(order[0])):
            matches = self.blocks.starts[number] + np.flatnonzero(self._matcher(self.blocks.take(number)))
            beyond = matches[matches < start] if is_back else matches[matches > start]
            if len(beyond):
                return int(beyond[-1 if is_back else 0])
        # There is no other match: the search has come around to the one it began at, in the block looked at last.
        return int(matches[-1 if is_back else 0])


# The questions of a page, and what is kept between them.

_MOST_SEARCHES = 8  # that are kept
_LONGEST_QUERY = 1000  # characters
_PATIENCE = 0.4  # seconds in which a check may end before a page is told to ask again


class Answers:
    """The answers to questions about whole arrays, as far as they have been worked out."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._lock = threading.Lock()
        self._summaries: dict[int, Summary] = {}
        self._searches: OrderedDict[tuple[int, str], Search | None] = OrderedDict()
        self._checking: _Checking | None = None

    def give(self, verb: str, options: dict[str, str]) -> dict[str, Any]:
        """Return the answer as far as it is known by now; `done` is less than `total` until it is all.

        `options`: what is asked: `entry`; of a search `query`, `start` and `back`.

        Raises:
            KeyError: there is no such array.
            FormatError: the file has changed, or cannot be read.
            LimitError: the query is too long, or malformed.
        """
        if verb == "findings":
            return self._find(options)
        number = _parse_whole(options.get("entry", ""))
        served = self._contents.served[number]
        if verb == "summary":
            with self._lock:
                summary = self._summaries.setdefault(number, Summary(served))
            return summary.advance()
        query, start = options.get("query", ""), _parse_whole(options.get("start", "0"))
        if len(query) > _LONGEST_QUERY:
            raise LimitError(f"the search has {len(query):,} characters; at most {_LONGEST_QUERY:,} are possible")
        with self._lock:
            search = self._take_search(number, query)
        if search is None:
            return {"done": 1, "total": 1, "count": 0, "place": -1}
        state = search.advance()
        if "count" in state:
            state["place"] = search.find(start, is_back=options.get("back") == "1")
        return state

    def _take_search(self, number: int, query: str) -> Search | None:
        served = self._contents.served[number]
        key = number, query.strip()
        if key not in self._searches:
            matcher = make_matcher(served.dtype, query)
            self._searches[key] = None if matcher is None else Search(served, matcher)
        self._searches.move_to_end(key)
        while len(self._searches) > _MOST_SEARCHES:
            self._searches.popitem(last=False)
        return self._searches[key]

    def _find(self, options: dict[str, str]) -> dict[str, Any]:
        if options:
            raise LimitError("a request for findings takes no parameters")
        with self._lock:
            if self._checking is None:
                self._checking = _Checking(self._contents)
        return self._checking.give()

    def close(self) -> None:
        """Forget all answers; a check that is running ends by itself, or with the program."""
        self._searches.clear()
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


def _parse_whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise LimitError("entry and start are whole numbers")
    return int(text)
