"""The part of a workbook that lists its sheets, read without the names that are defined in it: there may be as many as
arrays, and no reader asks for them.
"""

from __future__ import annotations

import re

from ..package.markup import Element, Markup
from ..package.parts import Package

_MOST_BYTES = 2**26  # with the names of as many arrays as a workbook remembers; without them as much as any other part
_NAMES = re.compile(rb"<definedNames(?:\s[^<>]*)?>")
_NAMES_END = b"</definedNames>"


def read_without_names(package: Package, part: str) -> Element:
    """Return the root element of the part, without the list of defined names.

    Raises:
        FormatError: the part is missing, damaged, or too long.
    """
    return Markup(_without_names(package.read(part, limit=_MOST_BYTES)), location=part).root


def _without_names(content: bytes) -> bytes:
    """Return XML without that list; as it is, where comments or CDATA could look like it."""
    begin = _NAMES.search(content) if b"<!" not in content else None
    end = content.find(_NAMES_END, begin.end()) if begin is not None else -1
    return content if begin is None or end < 0 else content[: begin.start()] + content[end + len(_NAMES_END) :]
