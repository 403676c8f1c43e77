"""Functions of regular expressions: Python's, which mean the same as RE2's but for those that look ahead or back."""

from __future__ import annotations

import re
from collections.abc import Callable

from .mathematics import Function
from .operands import Arguments, Operand, fail, text

_NESTED = re.compile(r"\([^()]*[*+}][^()]*\)[*+{]")  # the time that it takes may double with each character
_SHORT = 200  # characters of an expression
_LONG = 2_000  # of the text that it is held against


def _matching(function: str, work: Callable[[re.Pattern[str], str, Arguments], Operand], count: int) -> Function:
    """Return a function of a text, an expression and further arguments."""

    def match_text(arguments: Arguments) -> Operand:
        searched, expression = text(arguments[0]), text(arguments[1])
        try:
            pattern = re.compile(expression)
        except (re.error, RecursionError, OverflowError):
            fail("#REF!", f"Function {function} parameter 2 value '{expression}' is not a valid regular expression.")
        if len(expression) > _SHORT or len(searched) > _LONG or _NESTED.search(expression):
            fail("#ERROR!", "The emulator does not take expressions in which repeated groups repeat, nor long ones.")
        return work(pattern, searched, arguments)

    return count, count, match_text


def _extract(pattern: re.Pattern[str], searched: str, _: Arguments) -> Operand:
    match = pattern.search(searched)
    if match is None:
        fail("#N/A", f"Function REGEXEXTRACT parameter 2 value '{pattern.pattern}' does not match text.")
    return (match[1] or "") if pattern.groups else match[0]


def _replace(pattern: re.Pattern[str], searched: str, arguments: Arguments) -> Operand:
    parts = re.split(r"\$(\d)", text(arguments[2]).replace("\\$", "\0"))

    def write_replacement(match: re.Match[str]) -> str:
        return "".join(
            part.replace("\0", "$")
            if index % 2 == 0
            else (match[int(part)] or "")
            if int(part) <= pattern.groups
            else ""
            for index, part in enumerate(parts)
        )

    return pattern.sub(write_replacement, searched)


PATTERNS: dict[str, Function] = {
    "REGEXEXTRACT": _matching("REGEXEXTRACT", _extract, 2),
    "REGEXMATCH": _matching("REGEXMATCH", lambda pattern, searched, _: pattern.search(searched) is not None, 2),
    "REGEXREPLACE": _matching("REGEXREPLACE", _replace, 3),
}
