"""The encoding of a text: by its byte order mark, or by the name that the caller gives."""

from __future__ import annotations

import codecs

from ...errors import NotFoundError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PROBE = "version,1.0.0\r\n"


def canonical_encoding(name: str) -> str:
    """Return the canonical name of a text encoding.

    Raises:
        NotFoundError: Python knows none of that name (base64 and its like encode no text).
    """
    try:
        known = codecs.lookup(name).name
        if known not in ("idna", "punycode") and _PROBE.encode(name).decode(name) == _PROBE:
            return known
    except (LookupError, UnicodeError):
        pass
    raise NotFoundError(f"no text encoding {name!r}")


def find_encoding(start: bytes) -> tuple[str, int]:
    """Return the encoding that a byte order mark names, else UTF-8, and the length of the mark in bytes."""
    for mark, name in _BOMS:
        if start.startswith(mark):
            return name, len(mark)
    return "utf-8", 0
