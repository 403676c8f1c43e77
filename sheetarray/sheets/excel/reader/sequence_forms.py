"""The forms that a cell or a shared string may have in XML: sequences of tags, found for thousands of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ....dtypes import Positions
from .tags import Tags


@dataclass(frozen=True)
class SequenceForm:
    """A sequence of tags that a cell or a shared string may consist of.

    Attributes:
        after: the kinds of the tags after the first one, as `tags` numbers them.
        value: the number of the tag that the value follows, counted from 0; 0 for a form without a value.
        closed: the numbers of the tags that close themselves (`<v/>`).
    """

    after: tuple[int, ...]
    value: int
    closed: tuple[int, ...] = ()


def match_sequences(
    tags: Tags, firsts: Positions, spans: Positions, forms: Sequence[SequenceForm]
) -> Iterator[tuple[SequenceForm, Positions]]:
    """Yield each form with the indices of the cells or strings that have it, until a form is known for all of them.

    Args:
        tags: the tags of a block.
        firsts: the index of the first tag of each cell or string.
        spans: the number of tags of each.
        forms: the forms to try, the most usual ones first.
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
