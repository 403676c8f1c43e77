"""Decodes text in the XML of a workbook: entities, and the `_xHHHH_` escapes of characters that XML does not have.

Source: ECMA-376 part 1, 22.9.2.19 (ST_Xstring).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ....errors import FormatError
from ...workbooks import without_escapes

if TYPE_CHECKING:
    import polars as pl

_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
_ENTITY = "&(?:lt|gt|quot|apos|amp);"
_REFERENCE = re.compile("&(?:#x([0-9A-Fa-f]{1,8})|#([0-9]{1,8})|[^;&]{0,20});?")
WHITE = " \t\n\r"  # the white space of XML
ESCAPE = b"_x"  # begins an escape
NO_TEXT = b"]]>"  # stands in no text of well-formed XML


def without_entities(text: str) -> str:
    """Return a text without entities and references to characters.

    Raises:
        FormatError: the text has an entity that XML itself does not have, or a reference to no character.
    """
    return _REFERENCE.sub(_expand_reference, text) if "&" in text else text


def _expand_reference(match: re.Match[str]) -> str:
    if match[0] in _ENTITIES:
        return _ENTITIES[match[0]]
    code = int(match[1], 16) if match[1] else int(match[2] or 0)
    if not match[0].endswith(";") or not 0 < code < 0x110000 or 0xD800 <= code < 0xE000:
        raise FormatError(f"text with an entity that XML does not have, {match[0]!r:.40}")
    return chr(code)


def all_without_escapes(texts: pl.Series) -> pl.Series:
    """Undo the escapes in a column of texts, as `without_escapes` does in one."""
    return _change_some(texts, texts.str.contains("_x[0-9A-Fa-f]{4}_"), without_escapes)


def all_without_entities(texts: pl.Series) -> pl.Series:
    """Replace the entities in a column of texts, as `without_entities` does in one.

    Raises:
        FormatError: a text has an entity that XML itself does not have, or a reference to no character.
    """
    marked = texts.str.contains("&", literal=True)
    if not marked.any():
        return texts
    some = texts.filter(marked)
    if some.str.replace_all(_ENTITY, "").str.contains("&", literal=True).any():
        return _change_some(texts, marked, without_entities)
    plain = some.str.replace_many(list(_ENTITIES), list(_ENTITIES.values()))
    return texts.scatter(marked.arg_true(), plain)


def _change_some(texts: pl.Series, mask: pl.Series, change: Callable[[str], str]) -> pl.Series:
    """Return the same texts, those under a mask changed one by one."""
    import polars as pl

    places = mask.fill_null(value=False).arg_true()
    if not len(places):
        return texts
    return texts.scatter(places, pl.Series(list(map(change, texts.gather(places).to_list())), dtype=pl.String))
