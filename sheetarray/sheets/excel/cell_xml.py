"""Escapes text for the XML of a workbook.

ECMA-376 part 1, 22.4.2.4 (ST_Xstring): a character that XML cannot hold is written `_xHHHH_`. In text that only
looks like such an escape, the first underscore is escaped. A carriage return is escaped too, as an XML parser would
make it a line feed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..xml_texts import escape_text, with_escapes

if TYPE_CHECKING:
    import polars as pl

# Characters that XML cannot hold, and a carriage return; as the engine's regular expressions write them
_UNHELD = "\\x00-\\x08\\x0b-\\x1f\\x{fffe}\\x{ffff}"
_SPECIAL = f"[&<>{_UNHELD}]|_x[0-9A-Fa-f]{{4}}_"
# White space that programs might change without `xml:space="preserve"`, for Python and for the engine
_SPACED = "^ | $|  |[\t-\r\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"

_FEW = 100  # texts that Python goes over before the engine has begun


def xml_text(text: str) -> str:
    """Return a text, escaped, as the content of an element.

    Example:
        >>> xml_text("a<b\\r_x000D_")
        'a&lt;b_x000D__x005F_x000D_'
    """
    return text if text.isalnum() else escape_text(with_escapes(text))  # most names need none


def xml_texts(texts: pl.Series) -> pl.Series:
    """Return a Series of texts, each escaped as by `xml_text`; null stays null."""
    import polars as pl

    if len(texts) <= _FEW:
        return pl.Series([None if text is None else xml_text(text) for text in texts.to_list()], dtype=pl.String)
    special = texts.str.contains(_SPECIAL).fill_null(value=False)
    if not special.any():
        return texts
    places = special.arg_true()
    return texts.clone().scatter(places, pl.Series(list(map(xml_text, texts.gather(places).to_list()))))


def is_spaced(text: str) -> bool:
    """Return whether a text has white space that a reader may change without `xml:space="preserve"`.

    That is a space at an end, two spaces in a row, and any other white space.
    """
    return re.search(_SPACED, text) is not None


def mark_spaced(texts: pl.Series) -> pl.Series:
    """Return a mask of the texts for which `is_spaced` is true."""
    import polars as pl

    if len(texts) <= _FEW:
        return pl.Series([text is not None and is_spaced(text) for text in texts.to_list()], dtype=pl.Boolean)
    return texts.str.contains(_SPACED).fill_null(value=False)
