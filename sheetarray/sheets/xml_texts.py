"""Texts in the XML of a workbook: escapes, attributes and character data.

A character that XML does not have is held as `_xHHHH_`. In text that only looks like such an escape, the first
underscore is escaped. A carriage return is escaped too, as an XML parser would make it a line feed.
"""

from __future__ import annotations

import re

_UNHELD = re.compile("_(?=x[0-9A-Fa-f]{4}_)|[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_ESCAPES = re.compile("(?:_x[0-9A-Fa-f]{4}_)+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def with_escapes(text: str) -> str:
    """Return a text with a `_xHHHH_` escape for each character that XML does not have.

    Example:
        >>> with_escapes("a\\r_x000D_")
        'a_x000D__x005F_x000D_'
    """
    return _UNHELD.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def without_escapes(text: str) -> str:
    """Return a text without `_xHHHH_` escapes; half of a surrogate pair, which is no character, stays one.

    Example:
        >>> without_escapes("a_x000D__x005F_x000D_")
        'a\\r_x000D_'
    """
    return _ESCAPES.sub(_characters, text) if "_x" in text else text


def _characters(match: re.Match[str]) -> str:
    units = bytes.fromhex("".join(match[0].split("_")[1::2]).replace("x", ""))
    text = units.decode("utf-16-be", "surrogatepass")
    return _SURROGATE.sub(lambda half: f"_x{ord(half[0]):04X}_", text)


def quote_attribute(value: str) -> str:
    """Return a value escaped and in quotes, for an XML attribute.

    Example:
        >>> quote_attribute('a "b" & c')
        '"a &quot;b&quot; &amp; c"'
    """
    text = escape_text(value).replace('"', "&quot;")
    return '"' + text.replace("\t", "&#9;").replace("\n", "&#10;").replace("\r", "&#13;") + '"'


def escape_text(text: str) -> str:
    """Return text as character data, with its special characters escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
