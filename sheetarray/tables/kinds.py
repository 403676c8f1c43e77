"""The kind of a cell, by its text: a number, a date, a word, a sentence. Detection compares the kinds in a column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ..elements import MISSING_WORDS, Cell
from .numerals import WHITE

BLANK = "blank"
NUMBER, DATE, TIME, MONEY, TRUTH = "number", "date", "time", "money", "truth"
CODE, PLACE, WORD, SENTENCE = "code", "place", "word", "sentence"
LIST, ITEMS, OTHER = "list", "items", "other"

TYPED = frozenset((NUMBER, DATE, TIME, MONEY, TRUTH, LIST))
"""Kinds of values, which a name is not."""

WEIGHTS = {
    NUMBER: 1.0, DATE: 1.0, TIME: 1.0, MONEY: 1.0, TRUTH: 1.0, PLACE: 1.0,
    CODE: 0.9, WORD: 0.85, SENTENCE: 0.6, LIST: 0.5, ITEMS: 0.5, OTHER: 0.2, BLANK: 0.5,
}  # fmt: skip
"""How much cells of a kind speak for the marks that cut the text into them."""

YEARS = range(1800, 2201)
"""Whole numbers that may be years."""

_LONGEST = 400  # characters of a cell that are looked at
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?"
_CLOCK = r"""[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?:\ ?[ap]\.?m\.?)?
  (?:\ ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?"""
_DAY = rf"""(?:[0-9]{{4}}(?P<s>[-/.])[0-9]{{1,2}}(?P=s)[0-9]{{1,2}}
  |[0-9]{{1,2}}(?P<t>[-/.])[0-9]{{1,2}}(?P=t)[0-9]{{2,4}}
  |[0-9]{{1,2}}[-/.\ ]{_MONTH}(?:[-/.\ ]\ ?[0-9]{{2,4}})?
  |{_MONTH}[-/.\ ][0-9]{{1,2}},?[-/\ ][0-9]{{4}}|{_MONTH}[-/\ ][0-9]{{2,4}}|[0-9]{{4}}-[0-9]{{2}})"""
_FIGURE = r"""(?:[0-9]{1,3}(?:(?P<g>[,.'\ \u00a0\u2009\u202f\u2019])[0-9]{3})(?:(?P=g)[0-9]{3})*(?:[.,][0-9]*)?
  |[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)"""
_IN_PARENTHESES = _FIGURE.replace("<g>", "<h>").replace("=g", "=h")
_DOUBLE = r"(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:e[-+]?[0-9]++)?+|nan|inf"
_COMPLEX = rf"\([-+]?(?:{_DOUBLE})\ ?[-+]{{1,2}}\ ?(?:{_DOUBLE})[ij]\)|[-+]?(?:{_DOUBLE})[-+](?:{_DOUBLE})[ij]"
_COIN = r"(?:[$€£¥₹]|usd|eur|gbp|chf)"
_KINDS = re.compile(
    rf"""(?:
    (?P<number>(?:[<>~≈±]=?\ ?)?[-+\u2212]?{_FIGURE}(?:[eEdD][-+]?[0-9]{{1,3}})?\ ?[%‰]?
      |\({_IN_PARENTHESES}\)|[-+]?(?:nan|inf(?:inity)?)|{_COMPLEX})
    |(?P<time>{_CLOCK})
    |(?P<date>{_DAY}(?:[T\ ,]\ ?{_CLOCK})?)
    |(?P<truth>true|false|yes|no)
    |(?P<money>[-+(]?{_COIN}\ ?[-+]?[0-9][0-9,.'\ \u00a0]*\)?|[-+]?[0-9][0-9,.'\ \u00a0]*\ ?{_COIN})
    |(?P<place>[a-z][a-z0-9+.-]*://\S+|www\.\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+
      |(?:[0-9]{{1,3}}\.){{3}}[0-9]{{1,3}}(?::[0-9]+)?)
    |(?P<code>\w++(?:[-./:]\w++)*+)
    |(?P<word>[\w(&][\w\ .'\u2019()&/+°%²³µ$€£\[\]-]*)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_LIST = re.compile(r"[0-9.]+(?:,[0-9.]+){2,}")
_ITEMS = re.compile(r"[^;|,]+(?:\|[^;|,]+){2,}|[^;|,]+(?:;[^;|,]+){2,}")
_PLAIN = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?")  # most numbers
_WORD_ONLY = re.compile(r"[^\W\d_]+")
_SENTENCE = re.compile(r"(?=.*[^\W\d_])(?:[^\t\"|;,]|[,;](?:\s|\Z))*", re.DOTALL)
_FIGURES = re.compile(r"[-+.0-9]\S*(?:\s+(?:[-+.0-9]\S*|nan|-?inf))+", re.IGNORECASE)


@lru_cache(maxsize=2**12)
def kind_of(text: str) -> str:
    """Return the kind of a text.

    Example:
        >>> [kind_of(text) for text in ("1,5", "28/02/2024", "$3.50", "MG-8769", "Wooden chair", "n/a", "5\\t6")]
        ['number', 'date', 'money', 'code', 'word', 'blank', 'other']
    """
    if _PLAIN.fullmatch(text):
        return NUMBER
    bare = text[:_LONGEST].strip(WHITE)
    if not bare or bare.lower() in MISSING_WORDS:
        return BLANK
    if "\t" in text:  # a tab is hardly part of a cell
        return OTHER
    if _PLAIN.fullmatch(bare):
        return NUMBER
    match = _KINDS.fullmatch(bare)
    if _FIGURES.fullmatch(bare) and (match is None or match.lastgroup == "word"):
        return OTHER
    if match is None:
        looks = ((LIST, _LIST), (SENTENCE, _SENTENCE), (ITEMS, _ITEMS))
        return next((kind for kind, pattern in looks if pattern.fullmatch(bare)), OTHER)
    kind = match.lastgroup or OTHER
    if kind in ("g", "h"):
        return NUMBER
    if kind == "code":
        return WORD if _WORD_ONLY.fullmatch(bare) else CODE
    return kind


def kind_of_cell(cell: Cell) -> str:
    """Return the kind of a cell of a workbook, whose numbers are numbers, or of a text."""
    if type(cell) is float:  # as a rule
        return NUMBER
    if cell is None:
        return BLANK
    if isinstance(cell, str):
        return kind_of(cell)
    if isinstance(cell, bool):
        return TRUTH
    return NUMBER if isinstance(cell, (int, float)) else OTHER


def share_of_kind(kinds: Sequence[str]) -> tuple[str, float]:
    """Return the kind that most cells of a column have, besides blanks, and the share of these cells."""
    if kinds and kinds[0] != BLANK and kinds.count(kinds[0]) == len(kinds):
        return kinds[0], 1.0
    counts: dict[str, int] = {}
    for kind in kinds:
        if kind != BLANK:
            counts[kind] = counts.get(kind, 0) + 1
    if not counts:
        return BLANK, 1.0
    kind = max(counts, key=counts.__getitem__)
    return kind, counts[kind] / sum(counts.values())


def read_whole(cell: Cell) -> int | None:
    """Return the whole number that a cell holds; None if it holds anything else."""
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return int(cell) if float(cell).is_integer() else None
    text = cell.strip() if isinstance(cell, str) else ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
