"""The part of a workbook that lists its sheets (`xl/workbook.xml`), read without its defined names.

There are as many defined names as arrays, and no reader asks for them.
"""

from __future__ import annotations

import re

from ..package.markup import Element, Markup
from ..package.parts import Package

_MOST_BYTES = 2**26  # of the part with its names; without them, it may have as many as any part that `Markup` parses
_NAMES = re.compile(rb"<definedNames(?:\s[^<>]*)?>")
_NAMES_END = b"</definedNames>"


def read_without_names(package: Package, part: str) -> Element:
    """Return the root element of the part, without the list of defined names.

    Raises:
        FormatError: the part is missing, damaged, or too long.
    """
    return Markup(_without_names(package.read(part, limit=_MOST_BYTES)), location=part).root


def _without_names(content: bytes) -> bytes:
    """Return XML without its list of defined names; unchanged where comments or CDATA could look like that list."""
    begin = _NAMES.search(content) if b"<!" not in content else None
    end = content.find(_NAMES_END, begin.end()) if begin is not None else -1
    return content if begin is None or end < 0 else content[: begin.start()] + content[end + len(_NAMES_END) :]
