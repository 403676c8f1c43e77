"""Words of the format, limits, and paths to values in nested data."""

from __future__ import annotations

TYPE, BASE64 = "__type__", "__base64__"
OLD_TYPE, OLD_BASE64 = "~#type", "~#base64"  # until December 2014; read only
RESERVED = frozenset((TYPE, BASE64, OLD_TYPE, OLD_BASE64))
DEEPEST = 100  # dicts and lists within each other
MOST_VALUES = 3_000_000  # of one text, keys too; the elements of an array are one, those of an object array each


def count_plain_values(plain: object) -> int:
    """Return the number of values in plain data: scalars, bytes, lists, dicts and the keys of those.

    Example:
        >>> count_plain_values({"a": [1, 2]})
        5
    """
    total, waiting = 1, [plain]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            total += 2 * len(value)
            waiting.extend(inner for inner in value.values() if isinstance(inner, (dict, list)))
        elif isinstance(value, list):
            total += len(value)
            waiting.extend(inner for inner in value if isinstance(inner, (dict, list)))
    return total


def path_inside(path: str, key: str | int) -> str:
    """Return the path to an item, such as `x.shape[1]`; "" means the whole.

    Example:
        >>> path_inside(path_inside("x", "shape"), 1)
        'x.shape[1]'
    """
    if isinstance(key, int):
        return f"{path}[{key}]"
    shown = key if len(key) <= 60 else f"{key[:57]}..."
    return f"{path}.{shown}" if path else shown


def type_name(value: object) -> str | None:
    """Return the name of the type that a dict holds under `__type__`; None if there is none."""
    if not isinstance(value, dict):
        return None
    name = value.get(TYPE, value.get(OLD_TYPE))
    return name if isinstance(name, str) else None


def base64_text(value: object) -> str | None:
    """Return the text of a dict that stands for bytes; None for everything else."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    text = value.get(BASE64, value.get(OLD_BASE64))
    return text if isinstance(text, str) else None
