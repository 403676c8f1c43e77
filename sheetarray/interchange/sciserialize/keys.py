"""The words of the format, and how a place in nested data is called."""

from __future__ import annotations

TYPE, BASE64 = "__type__", "__base64__"
OLD_TYPE, OLD_BASE64 = "~#type", "~#base64"  # until December 2014; read only
RESERVED = frozenset((TYPE, BASE64, OLD_TYPE, OLD_BASE64))
DEEPEST = 100  # dicts and lists within each other


def inside(path: str, key: str | int) -> str:
    """The place of an item: `x.shape[1]`; "" is the whole.

    Example:
        >>> inside(inside("x", "shape"), 1)
        'x.shape[1]'
    """
    if isinstance(key, int):
        return f"{path}[{key}]"
    shown = key if len(key) <= 60 else f"{key[:57]}..."
    return f"{path}.{shown}" if path else shown


def type_of(value: object) -> str | None:
    """What a dict says that it is; None for a plain one, and for everything else."""
    if not isinstance(value, dict):
        return None
    found = value.get(TYPE, value.get(OLD_TYPE))
    return found if isinstance(found, str) else None


def base64_of(value: object) -> str | None:
    """The text of a dict that stands for bytes; None for everything else."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    found = value.get(BASE64, value.get(OLD_BASE64))
    return found if isinstance(found, str) else None
