"""The forms that a piece of XML may have, a cell or a shared string, as sequences of tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ....dtypes import Positions
from .tags import Tags


@dataclass(frozen=True)
class PieceForm:
    """A sequence of tags that a piece may consist of.

    Attributes:
        after: the kinds of the tags after the first one.
        value: which tag the value follows, counted from the first one; 0 where the form has no value.
        closed: which tags close themselves (`<v/>`), counted likewise.
    """

    after: tuple[int, ...]
    value: int
    closed: tuple[int, ...] = ()


def match_forms(
    tags: Tags, firsts: Positions, spans: Positions, forms: Sequence[PieceForm]
) -> Iterator[tuple[PieceForm, Positions]]:
    """Yield each form with the indices of the pieces that have it, until all pieces have one.

    Args:
        tags: of a block.
        firsts: the first tag of each piece.
        spans: how many tags each piece has.
        forms: the most usual ones first.
    """
    left = np.arange(len(firsts))
    for form in forms:
        if not len(left):
            return
        first = firsts[left]
        same = spans[left] == len(form.after) + 1
        for index, kind in enumerate(form.after, 1):
            same &= tags.kinds[first + index] == kind
        for index in form.closed:
            same[same] = tags.are_closed(first[same] + index)
        yield form, left[same]
        left = left[~same]
