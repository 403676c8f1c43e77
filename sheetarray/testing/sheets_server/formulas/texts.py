"""Functions of text: joined, cut, searched, and numbers written by a pattern."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..entered import CHARACTERS_LIMIT
from ..formats import format_pattern
from .matching import wildcard_pattern
from .mathematics import ANY, Function
from .operands import Arguments, FormulaError, Operand, fail, is_block, number, single_value, text, truth, values, whole


def _join_texts(arguments: Arguments, between: str, *, blanks: bool = False) -> str:
    parts = []
    for argument in arguments:
        if not is_block(argument):
            parts.append(text(argument))
            continue
        for value in values([argument]):
            if isinstance(value, FormulaError):
                raise value
            parts.append(text(value))
    joined = between.join(part for part in parts if part or not blanks)
    return joined if len(joined) <= CHARACTERS_LIMIT else fail("#VALUE!", "Text result is too long.")


def _count(arguments: Arguments, place: int, default: int) -> int:
    count = whole(arguments[place]) if len(arguments) > place else default
    return count if count >= 0 else fail("#VALUE!", f"The value {count} should be at least 0.")


def _right(arguments: Arguments) -> Operand:
    count = _count(arguments, 1, 1)
    return text(arguments[0])[-count:] if count else ""


def _middle(arguments: Arguments) -> Operand:
    start = whole(arguments[1])
    if start < 1:
        fail("#VALUE!", f"Function MID parameter 2 value is {start}. It should be at least 1.")
    return text(arguments[0])[start - 1 : start - 1 + _count(arguments, 2, 0)]


def _searching(function: str) -> Callable[[Arguments], Operand]:
    def work(arguments: Arguments) -> Operand:
        wanted, searched = text(arguments[0]), text(arguments[1])
        start = whole(arguments[2]) - 1 if len(arguments) > 2 else 0
        if start < 0:
            fail("#VALUE!", f"Function {function} parameter 3 should be at least 1.")
        if function == "FIND":
            place = searched.find(wanted, start)
        else:
            match = wildcard_pattern(wanted).search(searched, start)
            place = match.start() if match else -1
        if place < 0:
            fail("#VALUE!", f"In {function} evaluation, cannot find '{wanted}' within '{searched}'.")
        return float(place + 1)

    return work


def _substitute(arguments: Arguments) -> Operand:
    searched, old, new = (text(argument) for argument in arguments[:3])
    if not old:
        return searched
    if len(arguments) < 4:
        return _short(searched.count(old) * len(new) + len(searched)) and searched.replace(old, new)
    parts = searched.split(old)
    index = whole(arguments[3])
    if not 1 <= index < len(parts):
        return searched
    return old.join(parts[:index]) + new + old.join(parts[index:])


def _replace(arguments: Arguments) -> Operand:
    searched, start, count = text(arguments[0]), whole(arguments[1]) - 1, whole(arguments[2])
    if start < 0 or count < 0:
        fail("#VALUE!", "Function REPLACE parameters 2 and 3 must not be negative.")
    return searched[:start] + text(arguments[3]) + searched[start + count :]


def _repeat(arguments: Arguments) -> Operand:
    repeated, count = text(arguments[0]), _count(arguments, 1, 0)
    return _short(len(repeated) * count) and repeated * count


def _short(length: int) -> bool:
    return length <= CHARACTERS_LIMIT or fail("#VALUE!", "Text result is too long.")


def _trim(arguments: Arguments) -> Operand:
    return re.sub(" +", " ", text(arguments[0]).strip(" "))


def _text(arguments: Arguments) -> Operand:
    value = single_value(arguments[0])
    if isinstance(value, (str, bool)):
        return text(value)
    return format_pattern(value or 0.0, text(arguments[1]))


def _join(arguments: Arguments) -> Operand:
    return _join_texts(arguments[1:], text(arguments[0]))


def _text_join(arguments: Arguments) -> Operand:
    return _join_texts(arguments[2:], text(arguments[0]), blanks=truth(arguments[1]))


def _character(arguments: Arguments) -> Operand:
    code = whole(arguments[0])
    if not 1 <= code < 0x110000 or 0xD800 <= code < 0xE000:
        fail("#NUM!", f"Function CHAR parameter 1 value {code} is out of range.")
    return chr(code)


def _code(arguments: Arguments) -> Operand:
    letters = text(arguments[0])
    return float(ord(letters[0])) if letters else fail("#VALUE!", "Function CODE parameter 1 must not be empty.")


def _decimal_pattern(start: str, arguments: Arguments) -> str:
    decimals = _count(arguments, 1, 2)
    return start + (f".{'0' * min(decimals, 30)}" if decimals else "")


def _link(arguments: Arguments) -> Operand:
    return single_value(arguments[1]) if len(arguments) > 1 else text(arguments[0])


TEXTS: dict[str, Function] = {
    "CHAR": (1, 1, _character),
    "CLEAN": (1, 1, lambda given: re.sub(r"[\x00-\x1f]", "", text(given[0]))),
    "CODE": (1, 1, _code),
    "CONCAT": (2, 2, lambda given: _join_texts([single_value(operand) for operand in given], "")),
    "CONCATENATE": (1, ANY, lambda given: _join_texts(given, "")),
    "EXACT": (2, 2, lambda given: text(given[0]) == text(given[1])),
    "FIND": (2, 3, _searching("FIND")),
    "DOLLAR": (1, 2, lambda given: format_pattern(number(given[0]), _decimal_pattern("$#,##0", given))),
    "FIXED": (1, 2, lambda given: format_pattern(number(given[0]), _decimal_pattern("#,##0", given))),
    "HYPERLINK": (1, 2, _link),
    "JOIN": (2, ANY, _join),
    "LEFT": (1, 2, lambda given: text(given[0])[: _count(given, 1, 1)]),
    "LEN": (1, 1, lambda given: float(len(text(given[0]).encode("utf-16-le")) // 2)),
    "LOWER": (1, 1, lambda given: text(given[0]).lower()),
    "MID": (3, 3, _middle),
    "PROPER": (1, 1, lambda given: re.sub(r"[^\W\d_]+", lambda word: word[0].capitalize(), text(given[0]))),
    "REPLACE": (4, 4, _replace),
    "REPT": (2, 2, _repeat),
    "RIGHT": (1, 2, _right),
    "SEARCH": (2, 3, _searching("SEARCH")),
    "SUBSTITUTE": (3, 4, _substitute),
    "T": (1, 1, lambda given: value if isinstance(value := single_value(given[0]), str) else ""),
    "TEXT": (2, 2, _text),
    "TEXTJOIN": (3, ANY, _text_join),
    "TRIM": (1, 1, _trim),
    "UNICHAR": (1, 1, _character),
    "UNICODE": (1, 1, _code),
    "UPPER": (1, 1, lambda given: text(given[0]).upper()),
    "VALUE": (1, 1, lambda given: number(given[0])),
}
