"""Finds texts that differ from those written only by a change that spreadsheet programs make to all texts alike.

Programs change these things when they save a workbook:

    line ends              \\r\\n becomes \\n; a lone \\r becomes \\n, or a blank
    control characters     are left out, or stand as their escapes, _x000d_
    escapes                text that only looks like one, _x0041_, becomes the character, A
    blanks                 those at both ends are left out; text of blanks alone is empty; a run of blanks becomes one

As a program changes all texts alike, a change is taken for one of a program's only if no text of the array would still
be changed by it.
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


# Every change that a program may make: a function from a text to the changed text; in the order in which they are made
_CHANGES: tuple[Callable[[str], str], ...] = (
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
    """Return a mask of the texts that are as written, or differ only by changes that a program makes to all texts.

    Example:
        >>> mark_texts(["a\\r\\nb", "c"], ["a\\nb", "d"]).tolist()
        [True, False]
    """
    marks: Mask = np.fromiter((a == b for a, b in zip(written, cells, strict=True)), np.bool_, len(cells))
    others = np.flatnonzero(~marks).tolist()
    if not others:
        return marks
    changes = [change for change in _CHANGES if all(change(text) == text for text in cells)]
    changes = [change for change in changes if any(change(written[index]) != written[index] for index in others)]
    for wanted in sorted(product((False, True), repeat=len(changes)), key=sum)[1:]:
        changed = [index for index in others if _change(written[index], changes, wanted) == cells[index]]
        marks[changed] = True
        others = [index for index in others if not marks[index]]
        if not others:
            break
    return marks


def _change(text: str, changes: Sequence[Callable[[str], str]], wanted: Sequence[bool]) -> str:
    """Return a text with those changes made to it that are wanted."""
    for change, wants in zip(changes, wanted, strict=True):
        text = change(text) if wants else text
    return text
