"""What programs do to text that they do not keep as it is, each way of them by itself.

    line ends              \\r\\n becomes \\n; a lone \\r becomes \\n, or a blank
    control characters     are left out, or stand as their escapes, _x000d_
    escapes                text that only looks like one, _x0041_, becomes the character, A
    blanks                 those at both ends are left out; text of blanks alone is empty; a run of blanks becomes one

A program does so to all texts alike: a way counts for an array only where none of its texts stands otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from ....dtypes import Mask

_BLANKS = re.compile("[ \t\n\r]+")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f]")
_CONTROL_BUT_RETURN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def _with_characters(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n")


def _with_returns_as_line_feeds(text: str) -> str:
    return text.replace("\r", "\n")


def _with_returns_as_blanks(text: str) -> str:
    return text.replace("\r", " ")


def _without_controls(text: str) -> str:
    return _CONTROL_BUT_RETURN.sub("", text)


def _without_delete(text: str) -> str:
    return text.replace("\x7f", "")


def _with_escapes(text: str) -> str:
    return _CONTROL.sub(lambda match: f"_x{ord(match[0]):04x}_", text)


def _without_blanks_around(text: str) -> str:
    return text.strip(" \t\n\r")


def _without_blanks_alone(text: str) -> str:
    return text if text.strip(" \t\n") else ""


def _with_single_blanks(text: str) -> str:
    return _BLANKS.sub(" ", text)


_WAYS: tuple[Callable[[str], str], ...] = (
    _with_characters,
    _with_line_feeds,
    _with_returns_as_line_feeds,
    _with_returns_as_blanks,
    _with_escapes,
    _without_controls,
    _without_delete,
    _without_blanks_around,
    _without_blanks_alone,
    _with_single_blanks,
)


def mark_texts(written: Sequence[str], cells: Sequence[str]) -> Mask:
    """Return a mask of the texts that stand as written, or as a program leaves them that changes all alike.

    Example:
        >>> mark_texts(["a\\r\\nb", "c"], ["a\\nb", "d"]).tolist()
        [True, False]
    """
    marks: Mask = np.fromiter((a == b for a, b in zip(written, cells, strict=True)), np.bool_, len(cells))
    others = np.flatnonzero(~marks).tolist()
    if not others:
        return marks
    ways = [way for way in _WAYS if all(way(text) == text for text in cells)]
    ways = [way for way in ways if any(way(written[index]) != written[index] for index in others)]
    for wanted in sorted(product((False, True), repeat=len(ways)), key=sum)[1:]:
        changed = [index for index in others if _change(written[index], ways, wanted) == cells[index]]
        marks[changed] = True
        others = [index for index in others if not marks[index]]
        if not others:
            break
    return marks


def _change(text: str, ways: Sequence[Callable[[str], str]], wanted: Sequence[bool]) -> str:
    for way, wants in zip(ways, wanted, strict=True):
        text = way(text) if wants else text
    return text
