"""Decodes the texts that follow tags: replaces entities and escapes, and strips white space that XML does not keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....dtypes import Positions
from .tags import Tags
from .texts import WHITE, all_without_entities, all_without_escapes

if TYPE_CHECKING:
    import polars as pl

_PLAIN, PRESERVED = b"<t>", b'<t xml:space="preserve">'
_SPACE = 0x20


def decode_texts(tags: Tags, values: pl.Series, trimmed: Positions, texts: Positions) -> pl.Series | None:
    """Return texts decoded; None if an attribute of a `t` element, which the rules do not know, may have a say.

    Args:
        tags: of the block.
        values: the texts that follow some of the tags.
        trimmed: the indices of the values that stand in `t` elements.
        texts: the indices of the tags of these elements.
    """
    if b"&" in tags.text:
        values = all_without_entities(values)
    spaced = _find_spaced(tags, texts)
    if spaced is None:
        return None
    if len(spaced):
        places = trimmed[spaced]
        values = values.scatter(places, values.gather(places).str.strip_chars(WHITE))
    return all_without_escapes(values) if b"_x" in tags.text else values


def _find_spaced(tags: Tags, texts: Positions) -> Positions | None:
    """Return the tags of `texts` whose text has white space around it that XML does not keep, by their places there.

    None if an attribute other than `xml:space` may have a say.
    """
    starts = tags.starts[texts]
    plain = tags.starting_with(starts, _PLAIN)
    if not (plain | tags.starting_with(starts, PRESERVED) | tags.are_closed(texts)).all():
        return None
    if b"&#" in tags.text:
        return np.flatnonzero(plain)
    around = np.minimum(tags.bytes[starts + len(_PLAIN)], tags.last_bytes(texts))
    return np.flatnonzero(plain & (around <= _SPACE))
