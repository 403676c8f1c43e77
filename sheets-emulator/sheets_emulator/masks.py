"""Field masks, which say what parts of an answer are wanted, or what properties a request changes.

A mask is a tree of dicts by the names of fields. An empty dict stands for everything below a field, and for a mask that
was not given. The text of a mask may be `sheets.properties(title,index)`, `sheets/properties/title` or `*`.
"""

from __future__ import annotations

import re
from typing import Any

from .errors import invalid

FieldMask = dict[str, Any]  # by the names of fields: the FieldMask below each

_TOKENS = re.compile(r"[A-Za-z0-9_]+|[*.,/()]")
_DEPTH = 40  # parentheses within each other that a mask may have


def parse(text: str) -> FieldMask:
    """Return the tree that the text of a mask means."""
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
    """Take fields between commas off the end of the tokens, which are in reverse, and return their tree."""
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
    """Return the part of a mask below a field: {} if all of the field is wanted, None if nothing is."""
    if not mask or "*" in mask:
        return {}
    return mask.get(name)


def wants(mask: FieldMask, name: str) -> bool:
    """Return whether a mask wants a field, or anything below it."""
    return mask_below(mask, name) is not None


def select(value: Any, mask: FieldMask) -> Any:
    """Return the parts of a JSON value that a mask wants; in a list, of each of its items."""
    if not mask or "*" in mask:
        return value
    if isinstance(value, list):
        return [select(item, mask) for item in value]
    if isinstance(value, dict):
        return {name: select(value[name], mask[name]) for name in value if name in mask}
    return value


def merge(old: Any, new: Any, mask: FieldMask) -> Any:
    """Return a JSON value with those of its fields that a mask names as they are in `new`, or removed if not there."""
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
