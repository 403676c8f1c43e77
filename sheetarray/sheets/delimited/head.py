"""The head of a remote text that stands as it was written: the bytes that are enough to know its arrays.

In a file of this machine `scan` searches the whole text for arrays that begin further down, which costs no more than a
search for bytes. A remote file would have to be transferred for that: there `scan` returns what the headers at the top
say. `read` and `check`, which see the whole text, find all other arrays too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ...cells import FormulaMode
from ...files import Source
from .encodings import find_encoding
from .written import WrittenText
from .written_zone import UnusualError

_SIZES = (4096, 65_536, 1_048_576)  # bytes of the head; the next size is tried if one is too small

_Result = TypeVar("_Result")
_Head = TypeVar("_Head", bound="WrittenHead")


def scan_head(
    source: Source,
    delimiter: str | None,
    encoding: str | None,
    formulas: FormulaMode,
    scan: Callable[[WrittenText], _Result],
) -> _Result | None:
    """Return the result of a function on the head of a remote text; None if the whole text must be looked at.

    `formulas`: "escape" or "keep". `scan`: a function of the text down to some row, which raises `UnusualError` if
    that is not enough.
    """
    if not source.is_remote or encoding is not None or formulas not in ("escape", "keep"):
        return None
    return find_head(WrittenHead, source, delimiter, formulas, scan)


def find_head(
    kind: type[_Head],
    source: Source,
    delimiter: str | None,
    formulas: FormulaMode,
    look: Callable[[_Head], _Result],
) -> _Result | None:
    """Return the result of a function on the head of a text; None if the head does not tell enough.

    `formulas`: "escape" or "keep". `look`: a function of the text down to some row, which raises `UnusualError` if
    that is not enough.
    """
    for size in _SIZES:
        content = source.prefix(size)
        name, start = find_encoding(content[:4])
        if len(content) < size or name != "utf-8":
            return None  # the head is the whole text
        whole_rows = bytes(content[: content.rfind(b"\n") + 1])
        try:
            return look(kind(source.path, whole_rows, start, delimiter, formulas))
        except UnusualError:
            continue
    return None


class WrittenHead(WrittenText):
    """The first rows of a text, below which there are others."""

    def search_body(self, *, quotes: bool = False) -> None:
        """Do nothing: the rows below the headers are not there to be searched."""
