"""Field masks: which parts of an answer are wanted, which properties a request changes.

A mask is a tree of names; an empty tree stands for everything below it. `sheets.properties(title,index)`,
`sheets/properties/title` and `*` are all understood.
"""

from __future__ import annotations

import re
from typing import Any

from .errors import invalid

FieldMask = dict[str, Any]  # name -> Mask

_TOKENS = re.compile(r"[A-Za-z0-9_]+|[*.,/()]")
_DEPTH = 40


def parse(text: str) -> FieldMask:
    """Return the tree of a mask.

    Example:
        >>> parse("sheets(properties/title,data),namedRanges")
        {'sheets': {'properties': {'title': {}}, 'data': {}}, 'namedRanges': {}}
    """
    compact = "".join(text.split())
    tokens = _TOKENS.findall(compact)
    if not tokens or "".join(tokens) != compact:
        raise invalid(f"Error parsing fields: {text!r}")
    tokens.reverse()
    tree = _several(tokens, text, 0)
    if tokens:
        raise invalid(f"Error parsing fields: {text!r}")
    return {} if "*" in tree else tree


def _several(tokens: list[str], text: str, depth: int) -> FieldMask:
    if depth > _DEPTH:
        raise invalid("Error parsing fields: nested too deeply")
    tree: FieldMask = {}
    while True:
        names = []
        branch: FieldMask = {}
        while True:
            if not tokens or tokens[-1] in ".,/()":
                raise invalid(f"Error parsing fields: {text!r}")
            names.append(tokens.pop())
            if not tokens or tokens[-1] not in "./":
                break
            tokens.pop()
        if tokens and tokens[-1] == "(":
            tokens.pop()
            branch = _several(tokens, text, depth + 1)
            if not tokens or tokens.pop() != ")":
                raise invalid(f"Error parsing fields: {text!r}")
        for name in reversed(names):
            branch = {name: branch}
        _join(tree, branch)
        if not tokens or tokens[-1] != ",":
            return tree
        tokens.pop()


def _join(tree: FieldMask, other: FieldMask) -> None:
    for name, branch in other.items():
        if name not in tree:
            tree[name] = branch
        elif not tree[name] or not branch or "*" in tree[name] or "*" in branch:
            tree[name] = {}  # one of the two wants everything below
        else:
            _join(tree[name], branch)


def mask_below(mask: FieldMask, name: str) -> FieldMask | None:
    """Return the mask that holds below a name; None if nothing of it is wanted."""
    if not mask or "*" in mask:
        return {}
    return mask.get(name)


def wants(mask: FieldMask, *names: str) -> bool:
    """Return whether something at or below a path of names is wanted."""
    part: FieldMask | None = mask
    for name in names:
        part = mask_below(part or {}, name) if part is not None else None
    return part is not None


def select(value: Any, mask: FieldMask) -> Any:
    """Return the wanted parts of a JSON value; lists are looked through."""
    if not mask or "*" in mask:
        return value
    if isinstance(value, list):
        return [select(item, mask) for item in value]
    if isinstance(value, dict):
        return {name: select(value[name], mask[name]) for name in value if name in mask}
    return value


def merge(old: Any, new: Any, mask: FieldMask) -> Any:
    """`old` with the parts that a mask names taken from `new`; a part that `new` lacks goes away."""
    if not mask or "*" in mask or not isinstance(new, dict):
        return new
    result = dict(old) if isinstance(old, dict) else {}
    for name, branch in mask.items():
        part = merge(result.get(name), new.get(name), branch)
        if part is None or part == {}:
            result.pop(name, None)
        else:
            result[name] = part
    return result
