"""Text in the XML of a workbook: characters that XML lacks, and text that looks like their escapes.

ECMA-376 part 1, 22.4.2.4 (ST_Xstring): a character that XML cannot hold is written `_xHHHH_`, so text that reads like
that has its first underscore escaped. A carriage return is escaped as well: an XML parser would make it a line feed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_UNHELD = "\\x00-\\x08\\x0b-\\x1f\\x{fffe}\\x{ffff}"  # in the engine's regular expressions
_SPECIAL = f"[&<>{_UNHELD}]|_x[0-9A-Fa-f]{{4}}_"
_SPACED = r"^\s|\s$|[\t\n]|\s\s"
_ESCAPE = re.compile("_(?=x[0-9A-Fa-f]{4}_)|[\x00-\x08\x0b-\x1f\ufffe\uffff]")


def xml_text(text: str) -> str:
    """Return one text as the content of an element.

    Example:
        >>> xml_text("a<b\\r_x000D_")
        'a&lt;b_x000D__x005F_x000D_'
    """
    if text.isalnum():  # as most names are
        return text
    escaped = _ESCAPE.sub(lambda match: f"_x{ord(match[0]):04X}_", text)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def xml_texts(texts: pl.Series) -> pl.Series:
    """Return a column of texts as XML has them, as `xml_text` does; null stays null."""
    import polars as pl

    special = texts.str.contains(_SPECIAL).fill_null(value=False)
    if not special.any():
        return texts
    places = special.arg_true()
    return texts.clone().scatter(places, pl.Series(list(map(xml_text, texts.gather(places).to_list()))))


def needs_space(texts: pl.Series) -> bool:
    """Return whether a text begins or ends with white space, or has some that a reader may normalise."""
    return bool(texts.str.contains(_SPACED).any())
