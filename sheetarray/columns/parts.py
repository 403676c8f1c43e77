"""Groups anchors by array, sorts the parts of each array, and finds the row where its cells have to end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ..elements import unescape_formula
from ..errors import SAME_NAME, FormatError
from ..linear.header import Header, NoteFinding
from .anchors import MOST_BEFORE_DAMAGED
from .sheet import Sheet
from .words import Anchor

ReportError = Callable[[FormatError], None]
MOST_ADDRESSES = 5  # of arrays that have the same name: so many are listed in a message


class AnchorsByName:
    """Finds the anchors of a few arrays among very many, in the order in which they stand.

    Those whose name is not sure are found by each name that they may have.
    """

    def __init__(self, sheets: Sequence[Sheet], anchors: Sequence[Anchor]) -> None:
        self._anchors = anchors
        self._indices: dict[str, list[int]] = {}
        self._nameless: list[int] = []
        escaped = sheets[0].look.formulas == "escape"
        for index, anchor in enumerate(anchors):
            self._indices.setdefault(_name_of(anchor, escaped), []).append(index)
            if anchor.error is not None or anchor.notes:
                aliases = anchor.aliases
                if aliases is None:
                    self._nameless.append(index)
                for alias in aliases or ():
                    self._indices.setdefault(alias, []).append(index)

    def of(self, names: Iterable[str]) -> list[Anchor]:
        """Return the anchors that may be those of some arrays."""
        indices = {*self._nameless}.union(*(self._indices.get(name, ()) for name in names))
        return [self._anchors[index] for index in sorted(indices)]


def _name_of(anchor: Anchor, escaped: bool) -> str:
    return unescape_formula(anchor.name) if escaped and anchor.name[:1] == "'" else anchor.name


def group_parts(
    sheets: Sequence[Sheet],
    anchors: Sequence[Anchor],
    names: frozenset[str] | None,
    report: ReportError,
    note: NoteFinding,
) -> dict[str, list[Anchor]]:
    """Group anchors by array name and sort parts; report and skip groups whose parts do not fit together.

    Arrays that are not among `names` are left out, and never reported: they are not the caller's business.
    """
    groups: dict[str, list[Anchor]] = {}
    escaped = sheets[0].look.formulas == "escape"
    for anchor in anchors:
        name = _name_of(anchor, escaped)
        if anchor.error is None and (names is None or name in names):
            groups.setdefault(name, []).append(anchor)
        if anchor.error is not None or anchor.notes:  # of hundreds of thousands there may be few
            _tell_of(anchor, name, names, report, note)
    for name in [
        name for name, group in groups.items() if len(group) > 1 or (group[0].header and group[0].header.part)
    ]:
        try:
            groups[name] = _sort_parts(name, groups[name])
        except FormatError as error:
            error.array = name
            report(error)
            del groups[name]
    return groups


def _tell_of(anchor: Anchor, name: str, names: frozenset[str] | None, report: ReportError, note: NoteFinding) -> None:
    """Report what is wrong with the header of an array, unless it can be none of those that are wanted."""
    aliases = anchor.aliases
    if names is None or name in names or aliases is None or any(alias in names for alias in aliases):
        if anchor.error is not None:
            anchor.error.array = name if anchor.named or aliases == () else None
            report(anchor.error)
        for finding in anchor.notes:
            note(replace(finding, array=name))


def _sort_parts(name: str, group: list[Anchor]) -> list[Anchor]:
    first = group[0]
    assert first.header is not None
    if first.header.part is None:
        if len(group) > 1:
            more = f" and {len(group) - MOST_ADDRESSES:,} more" if len(group) > MOST_ADDRESSES else ""
            addresses = " and ".join(anchor.address(0) for anchor in group[:MOST_ADDRESSES]) + more
            titles = list(dict.fromkeys(anchor.title for anchor in group))[:MOST_ADDRESSES]
            choices = " or ".join(f"sheet={title!r:.60}" for title in titles)
            hint = f"read one sheet at a time, {choices}, or rename one of them" if titles[1:] else "rename one of them"
            raise FormatError(f"{SAME_NAME} {name!r}, at {addresses}", location=group[1].address(0), hint=hint)
        return group
    parts: dict[int, Anchor] = {}
    for anchor in group:
        header = anchor.header
        assert header is not None
        if header.part is None or _join_part_headers(header) != _join_part_headers(first.header):
            raise FormatError(
                f"{name}: this part does not belong to the one at {first.address(0)}", location=anchor.address(0)
            )
        k, count = header.part
        if count != first.header.part[1]:
            raise FormatError(
                f"{name}: part {k} of {count}, but of {first.header.part[1]} at {first.address(0)}",
                location=anchor.address(0),
            )
        if k in parts:
            raise FormatError(f"{name}: part {k} is at {parts[k].address(0)} already", location=anchor.address(0))
        parts[k] = anchor
    count = first.header.part[1]
    if len(parts) < count:
        absent = next(k for k in range(1, count + 1) if k not in parts)
        raise FormatError(f"{name}: part {absent} of {count} is missing", location=first.address(0))
    return [parts[k] for k in sorted(parts)]


def _join_part_headers(header: Header) -> tuple[Any, ...]:
    return (header.dtype, header.shape, header.strides, header.offset, header.order, header.capacity)


def find_stops(anchors: Sequence[Anchor]) -> dict[int, int]:
    """Return the row (of a list in a row the column) before which the cells of an anchor end, by the anchor's `id()`,
    where another one follows in its line.
    """
    keys = [(anchor.title, anchor.orient, anchor.line) for anchor in anchors]
    return {} if len(set(keys)) == len(keys) else _find_stops_in(keys, anchors)  # as a rule, each has its own line


def _find_stops_in(keys: Sequence[tuple[str | None, str, int]], anchors: Sequence[Anchor]) -> dict[int, int]:
    stops: dict[int, int] = {}
    lines: dict[tuple[str | None, str, int], list[Anchor]] = {}
    for key, anchor in zip(keys, anchors, strict=True):
        lines.setdefault(key, []).append(anchor)
    for line in lines.values():
        line.sort(key=lambda anchor: anchor.first)
        for anchor, other in pairwise(line):
            if other.aliases == ():
                stops[id(anchor)] = other.first - other.named - other.blanks
            elif anchor.header is not None:  # of a damaged header nobody knows where it begins
                end = anchor.first + anchor.start + anchor.header.capacity
                stops[id(anchor)] = max(end, other.first - MOST_BEFORE_DAMAGED)
    return stops


def raise_error(error: FormatError) -> None:
    """Raise a copy of an error. An anchor keeps the error; with a traceback, it would keep the whole sheet, too."""
    raise copy(error)
