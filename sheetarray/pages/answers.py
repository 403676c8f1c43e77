"""The answers of a server besides boxes: statistics, searches and findings; each request takes them further."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from ..errors import LimitError, SheetArrayError
from .contents import Contents
from .matching import make_matcher
from .whole import Search, Summary

_MOST_SEARCHES = 8  # that are kept
_LONGEST_QUERY = 1000  # characters
_PATIENCE = 0.4  # seconds in which a check may end before a page is told to ask again


class Answers:
    """The answers to questions about whole arrays, as far as they have been worked out.

    Args:
        contents: what the page shows.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._lock = threading.Lock()
        self._summaries: dict[int, Summary] = {}
        self._searches: OrderedDict[tuple[int, str], Search | None] = OrderedDict()
        self._checking: _Checking | None = None

    def give(self, verb: str, options: dict[str, str]) -> dict[str, Any]:
        """Return the answer as far as it is known by now; `done` is less than `total` until it is all.

        Args:
            verb: summary, search or findings.
            options: what is asked: `entry`; of a search `query`, `start` and `back`.

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
            raise LimitError(f"a search of {len(query):,} characters, and {_LONGEST_QUERY:,} are the most")
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
            raise LimitError("findings are asked for without anything else")
        with self._lock:
            if self._checking is None:
                self._checking = _Checking(self._contents)
        return self._checking.give()

    def close(self) -> None:
        """Do nothing: a check that is running ends by itself, or with the program."""
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
