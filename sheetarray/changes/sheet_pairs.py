"""Pairs the sheets of two files: by their titles, else by the names of what stands in them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

Title = TypeVar("Title", bound=Hashable)


def pair_sheets(before: Mapping[Title, Collection[str]], now: Mapping[Title, Collection[str]]) -> dict[Title, Title]:
    """Return the titles now of sheets, by their titles before; sheets that one file alone has are left out.

    A sheet with another title is the same one if at least half of all names in the two are in both. Of several such
    sheets those with the most names in common belong together, and of equal ones those in the same order.

    `before`, `now`: the names of the arrays or columns of each sheet, by its title.

    Example:
        >>> before = {"Budget": ["id", "qty"], "Staff": ["name", "hours"]}
        >>> pair_sheets(before, {"People": ["name", "hours", "note"], "Budget": ["id", "qty"]})
        {'Budget': 'Budget', 'Staff': 'People'}
    """
    pairs: dict[Title, Title] = {title: title for title in before if title in now}
    gone = [title for title in before if title not in pairs]
    come = [title for title in now if title not in pairs]
    ranked = sorted(
        (-_count_common(before[title], now[other]), abs(number - other_number), number, other_number)
        for number, title in enumerate(gone)
        for other_number, other in enumerate(come)
        if _is_alike(before[title], now[other])
    )
    taken: set[Title] = set()
    for _, _, number, other_number in ranked:
        title, other = gone[number], come[other_number]
        if title not in pairs and other not in taken:
            pairs[title] = other
            taken.add(other)
    return {title: pairs[title] for title in before if title in pairs}


def _count_common(before: Collection[str], now: Collection[str]) -> int:
    return len({*before} & {*now})


def _is_alike(before: Collection[str], now: Collection[str]) -> bool:
    return bool(before) and 2 * _count_common(before, now) >= len({*before} | {*now})
