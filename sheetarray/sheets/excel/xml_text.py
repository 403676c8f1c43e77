"""Escapes text for the XML of a workbook.

ECMA-376 part 1, 22.4.2.4 (ST_Xstring): a character that XML cannot hold is written `_xHHHH_`. In text that only looks
like such an escape, the first underscore is escaped. A carriage return is escaped too, as an XML parser would make it a
line feed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# Characters that XML cannot hold, and a carriage return; as the engine's regular expressions write them
_UNHELD = "\\x00-\\x08\\x0b-\\x1f\\x{fffe}\\x{ffff}"
_SPECIAL = f"[&<>{_UNHELD}]|_x[0-9A-Fa-f]{{4}}_"
_SPACED = r"^\s|\s$|[\t\n]|\s\s"
_ESCAPE = re.compile("_(?=x[0-9A-Fa-f]{4}_)|[\x00-\x08\x0b-\x1f\ufffe\uffff]")


def xml_text(text: str) -> str:
    """Return a text, escaped, as the content of an element.

    Example:
        >>> xml_text("a<b\\r_x000D_")
        'a&lt;b_x000D__x005F_x000D_'
    """
    if text.isalnum():  # as most names are
        return text
    escaped = _ESCAPE.sub(lambda match: f"_x{ord(match[0]):04X}_", text)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def xml_texts(texts: pl.Series) -> pl.Series:
    """Return a Series of texts, each escaped as by `xml_text`; null stays null."""
    import polars as pl

    special = texts.str.contains(_SPECIAL).fill_null(value=False)
    if not special.any():
        return texts
    places = special.arg_true()
    return texts.clone().scatter(places, pl.Series(list(map(xml_text, texts.gather(places).to_list()))))


def needs_space(texts: pl.Series) -> bool:
    """Return whether any text has white space that a reader may change without `xml:space="preserve"`.

    That is white space at an end, a tab, a line feed, or two white-space characters in a row.
    """
    return bool(texts.str.contains(_SPACED).any())
