"""Refuses JSON texts that would take too much memory, counted before they are parsed, and finds repeated keys."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import FormatError

_ALL_BUT_STRUCTURE = bytes(sorted(set(range(256)) - set(b'"[{,')))


def check_structure(text: str | bytes, most_nested: int, most_values: int | None = None) -> None:
    """Refuse a JSON text of more lists and objects, or of more values, than a reader takes.

    `text`: JSON, which may be none at all. `most_nested`: the largest number of lists and objects. `most_values`: the
    largest number of values, keys not counted; None for any number.
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    for is_bare in (False, True):  # as a rule, there are few enough with those in strings
        marks = _without_strings(raw) if is_bare else raw
        nested = marks.count(b"[") + marks.count(b"{")
        values = nested + 1 + (marks.count(b",") if most_values is not None else 0)
        if nested <= most_nested and (most_values is None or values <= most_values):
            return
    if nested > most_nested:
        raise FormatError(f"lists and objects are nested {nested:,} deep; at most {most_nested:,} levels are read")
    raise FormatError(f"{values:,} values; at most {most_values:,} are read, besides the elements of arrays")


def _without_strings(text: bytes) -> bytes:
    """Return the brackets and commas of a text that stand in no string."""
    marks = text.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _ALL_BUT_STRUCTURE)
    return b"".join(marks.replace(b'""', b"").split(b'"')[::2])


def repeated_key(pairs: Iterable[tuple[str, object]]) -> str | None:
    """Return the first key that stands twice among the pairs of an object; None where each stands once.

    Example:
        >>> repeated_key([("a", 1), ("b", 2), ("a", 3), ("b", 4)])
        'a'
    """
    keys: set[str] = set()
    for key, _ in pairs:
        if key in keys:
            return key
        keys.add(key)
    return None
