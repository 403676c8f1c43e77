"""The encoding of a text: by the byte order mark, or by the name that the caller gives."""

from __future__ import annotations

import codecs

from ...errors import DTypeError, NotFoundError, check_kinds

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NULS = (
    ("utf-32-le", 4, (0,)),
    ("utf-32-be", 4, (3,)),
    ("utf-16-le", 2, (0,)),
    ("utf-16-be", 2, (1,)),
)  # the bytes of a character, and those of an ASCII character that are no NULs
_FEW, _MANY = 0.05, 0.7  # shares of NULs
_PROBE = "version,1.0.0\r\n"


def canonical_encoding(name: str) -> str:
    """Return the canonical name of a text encoding.

    Raises:
        NotFoundError: Python knows none of that name (base64 and its like encode no text).
    """
    check_kinds(str, 'the name of one, such as "utf-8"', encoding=name)
    try:
        canonical = codecs.lookup(name).name
        if canonical not in ("idna", "punycode") and _PROBE.encode(name).decode(name) == _PROBE:
            return canonical
    except (LookupError, UnicodeError):
        pass
    raise NotFoundError(f"no text encoding {name!r}")


def encode_text(text: str, encoding: str) -> bytes:
    """Return text for a table that keeps its encoding, as bytes.

    Raises:
        DTypeError: the encoding lacks a character.
    """
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        lacking = error.object[error.start : error.end]
        raise DTypeError(f"the table is in {encoding}, which has no {lacking!r:.20}: save it as UTF-8 first") from error


def error_of_encoding(error: UnicodeEncodeError) -> DTypeError:
    """Return the error that names the character which an encoding lacks."""
    lacking = error.object[error.start : error.end]
    return DTypeError(f"the encoding has no {lacking!r:.20}: write with encoding='utf-8'")


def find_encoding(start: bytes) -> tuple[str, int]:
    """Return the encoding that a byte order mark names, else UTF-8, and the length of the mark in bytes."""
    for mark, name in _BOMS:
        if start.startswith(mark):
            return name, len(mark)
    return "utf-8", 0


def find_encoding_by_nuls(start: bytes) -> str | None:
    """Return the encoding of a text without a byte order mark whose characters have NULs in known places, else None."""
    if b"\0" not in start:
        return None
    size = len(start) - len(start) % 4
    for name, width, texts in _NULS:
        places = [start[place : size or len(start) : width] for place in range(width)]
        if not places[0] or any(len(place) != len(places[0]) for place in places):
            continue
        shares = [place.count(0) / len(place) for place in places]
        if all(share <= _FEW if place in texts else share >= _MANY for place, share in enumerate(shares)):
            return name
    return None


def make_encoder(encoding: str, bom: bool) -> codecs.IncrementalEncoder | None:
    """Return an encoder; None for plain UTF-8, which the engine writes by itself."""
    name = encoding if encoding == "utf-8" else canonical_encoding(encoding)
    if name == "utf-8" and not bom:
        return None
    if name in ("utf-8", "utf-8-sig"):
        return codecs.getincrementalencoder("utf-8-sig")()
    encoder = codecs.getincrementalencoder(name)()
    if bom and name.startswith(("utf-16-", "utf-32-")):
        return _ByteOrderMarkEncoder(name)
    return encoder


class _ByteOrderMarkEncoder(codecs.IncrementalEncoder):
    """An encoder of an encoding whose name has the byte order, so that Python writes no mark; this one does."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.inner, self.mark = codecs.getincrementalencoder(name)(), "\ufeff"

    def encode(self, text: str, final: bool = False) -> bytes:
        mark, self.mark = self.mark, ""
        return self.inner.encode(mark + text, final)
