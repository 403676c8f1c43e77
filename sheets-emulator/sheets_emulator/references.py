"""The tokens of a formula, its references to cells, and its text after those cells have moved."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from .ranges import COLUMNS_LIMIT, Span, column_letters, column_number, quote_title

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?) (?![A-Za-z0-9_.:!])
      | (?P<text>"(?:[^"]|"")*")
      | (?P<error>\#(?:REF!|N/A|DIV/0!|VALUE!|NAME\?|NUM!|NULL!|ERROR!))
      | (?P<call>[A-Za-z][A-Za-z0-9_.]*) \s* \(
      | (?P<name>(?:(?:'(?:[^']|'')+'|[^\W\d][\w.]*)!)? \$?[\w$]+ (?::\$?[A-Za-z0-9$]+)?)
      | (?P<mark><=|>=|<>|[-+*/^&%(),;=<>{}])
    )""",
    re.VERBOSE,
)
_TITLE = r"(?P<title>'(?:[^']|'')+'|[^\W\d][\w.]*)!"
_COLUMN, _ROW = r"\$?[A-Za-z]{1,3}", r"\$?[1-9]\d{0,8}"
_REFERENCE = re.compile(rf"(?:{_TITLE})?({_COLUMN})?({_ROW})?(?:(:)({_COLUMN})?({_ROW})?)?")
_R1C1 = re.compile(r"[Rr]([1-9]\d{0,8})[Cc]([1-9]\d{0,4})(?::[Rr]([1-9]\d{0,8})[Cc]([1-9]\d{0,4}))?")
_ROWS_LIMIT = 10_000_000


class Token(NamedTuple):
    """A word of a formula: its kind, its text, and the characters of the formula from `start` up to `stop`."""

    kind: str
    text: str
    start: int
    stop: int


@lru_cache(maxsize=16_384)
def tokenize(formula: str) -> tuple[Token, ...] | None:
    """Return the tokens after the equals sign; None where the text is no formula."""
    tokens = []
    text = formula.rstrip()
    at = 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            return None
        tokens.append(Token(match.lastgroup, match[match.lastgroup], *match.span(match.lastgroup)))
        at = match.end()
    return tuple(tokens)


@dataclass(frozen=True, slots=True)
class CellReference:
    """A reference to cells, such as `'my data'!$A1:B`."""

    title: str | None  # of the sheet; None for that of the formula
    span: Span  # the cells
    fixed: tuple[bool, bool, bool, bool]  # whether its top, bottom, left and right have a dollar sign
    single: bool  # whether it is written as one cell, such as A1, not as a range

    def __str__(self) -> str:
        """Return the text of the reference in a formula."""
        span, marks = self.span, ["$" if fixed else "" for fixed in self.fixed]
        title = "" if self.title is None else f"{quote_title(self.title)}!"
        first = (f"{marks[2]}{column_letters(span.left)}" if span.left is not None else "") + (
            f"{marks[0]}{span.top + 1}" if span.top is not None else ""
        )
        if self.single:
            return title + first
        last = (f"{marks[3]}{column_letters(span.right - 1)}" if span.right is not None else "") + (
            f"{marks[1]}{span.bottom}" if span.bottom is not None else ""
        )
        return f"{title}{first}:{last}"

    def at(self, span: Span) -> CellReference:
        """Return a reference to other cells, with the same title and dollar signs."""
        return replace(self, span=span)

    def translate(self, down: int, right: int) -> CellReference | None:
        """Return the reference after its formula was copied so far down and right; None if it leaves every grid."""
        ends: list[int | None] = []
        for end, fixed, distance, limit in zip(
            (self.span.top, self.span.bottom, self.span.left, self.span.right),
            self.fixed,
            (down, down, right, right),
            (_ROWS_LIMIT, _ROWS_LIMIT, COLUMNS_LIMIT, COLUMNS_LIMIT),
            strict=True,
        ):
            moved = end if end is None or fixed else end + distance
            if moved is not None and not 0 <= moved <= limit:
                return None
            ends.append(moved)
        top, bottom, left, right_end = ends
        if (bottom is not None and bottom <= (top or 0)) or (right_end is not None and right_end <= (left or 0)):
            if 0 in (bottom, right_end):
                return None
            top, bottom = _in_order(top, bottom)
            left, right_end = _in_order(left, right_end)
        return self.at(Span(top, bottom, left, right_end))


def _in_order(start: int | None, stop: int | None) -> tuple[int | None, int | None]:
    """Return the two ends of a range in their order, after one of them was moved past the other."""
    return (stop - 1, start + 1) if start is not None and stop is not None and stop <= start else (start, stop)


@lru_cache(maxsize=16_384)
def parse_reference(text: str) -> CellReference | None:
    """Return the reference that a name token is; None for the name of a range."""
    match = _REFERENCE.fullmatch(text)
    if match is None:
        return None
    title, column, row, colon, last_column, last_row = match.groups()
    if not (column or row) or (not colon and not (column and row)) or (colon and not (last_column or last_row)):
        return None
    if title is not None and title.startswith("'"):
        title = title[1:-1].replace("''", "'")
    tops = _ends(row, last_row if colon else row, lambda name: int(name) - 1)
    lefts = _ends(column, last_column if colon else column, column_number)
    span = Span(tops[0], tops[1], lefts[0], lefts[1])
    return CellReference(title, span, (tops[2], tops[3], lefts[2], lefts[3]), not colon)


def _ends(
    first: str | None, last: str | None, place: Callable[[str], int]
) -> tuple[int | None, int | None, bool, bool]:
    """Return the first and last row or column in order, the latter plus 1, and whether each has a dollar sign."""
    start = place(first.lstrip("$")) if first else None
    stop = place(last.lstrip("$")) if last else None
    start_fixed, stop_fixed = bool(first and first[0] == "$"), bool(last and last[0] == "$")
    if start is not None and stop is not None and stop < start:
        start, stop, start_fixed, stop_fixed = stop, start, stop_fixed, start_fixed
    return start, None if stop is None else stop + 1, start_fixed, stop_fixed


def rewrite(formula: str, change: Callable[[CellReference], CellReference | None]) -> str:
    """Return a formula with its references replaced by what `change` returns for them; None becomes #REF!.

    All else, and references that do not change, are left as they were written.
    """
    parts: list[str] = []
    at = 0
    for token in tokenize(formula) or ():
        if token.kind != "name" or (reference := parse_reference(token.text)) is None:
            continue
        changed = change(reference)
        if changed != reference:
            parts += [formula[at : token.start], "#REF!" if changed is None else str(changed)]
            at = token.stop
    return "".join(parts) + formula[at:] if parts else formula


def translate(formula: str, down: int, right: int) -> str:
    """Return a formula as it is after a copy to a cell so far below and to the right."""
    return rewrite(formula, lambda reference: reference.translate(down, right)) if down or right else formula


def cells_span(text: str) -> Span | None:
    """Return the span that A1 or R1C1 notation means; None where the text is neither."""
    if match := _R1C1.fullmatch(text):
        tops, lefts = (_ends(match[at], match[at + 2] or match[at], lambda name: int(name) - 1) for at in (1, 2))
        return Span(*tops[:2], *lefts[:2])
    reference = parse_reference(text)
    return None if reference is None or reference.title is not None else reference.span
