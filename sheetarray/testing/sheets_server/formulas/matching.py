"""Criteria such as ">5" and "a*", as functions of formulas, conditional formats and filters have them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from .. import entered
from .operands import COMPARISONS, Scalar, compare, rank


def has_wildcards(text: str) -> bool:
    """Return whether a text has wildcards, `*` or `?`, or a `~`, which takes their meaning from them."""
    return any(mark in text for mark in "*?~")


@lru_cache(maxsize=1024)
def wildcard_pattern(text: str) -> re.Pattern[str]:
    """Return a pattern for a text with wildcards: `*` any text, `?` one character, `~?` a `?`."""
    parts = []
    characters = iter(re.sub(r"\*+", "*", text))
    for character in characters:
        if character == "~":
            parts.append(re.escape(next(characters, "~")))
        else:
            parts.append({"*": ".*", "?": "."}.get(character) or re.escape(character))
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL)


def make_criterion(wanted: Scalar) -> Callable[[Scalar], bool]:
    """Return a function that says whether a value meets a criterion: a value, or text that begins with a comparison.

    Example:
        >>> make_criterion(">=2")(2.0), make_criterion("a*")("Apple"), make_criterion("<>")(None)
        (True, True, False)
    """
    if not isinstance(wanted, str):
        return lambda value: value is not None and rank(value) == rank(wanted)
    mark = next((mark for mark in COMPARISONS if wanted.startswith(mark)), None)
    operand_text = wanted[len(mark) :] if mark else wanted
    operand = entered.cell_from_entry(operand_text)[0] if not operand_text.startswith(("=", "'")) else operand_text
    target: Scalar = operand if isinstance(operand, (bool, float, str)) else None
    decide = COMPARISONS[mark or "="]
    if mark in (None, "=", "<>") and isinstance(target, str) and has_wildcards(target):
        pattern = wildcard_pattern(target)
        return lambda value: (isinstance(value, str) and bool(pattern.fullmatch(value))) == (mark != "<>")
    if target is None:
        return lambda value: (value is None or (value == "" and mark is None)) == (mark != "<>")
    kind = rank(target)[0]
    if mark == "<>":
        return lambda value: value is None or rank(value) != rank(target)
    return lambda value: value is not None and rank(value)[0] == kind and decide(compare(value, target))
