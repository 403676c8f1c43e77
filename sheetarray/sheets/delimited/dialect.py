"""Finds the encoding, the delimiter and the decimal mark of a CSV.

In the exchange format no statistics are needed: the row with the first cells of the arrays holds nothing but `version`,
the next but one nothing but `ndarray`, so that the character between them is the delimiter. Those of ordinary tables
are found by `tables.find_marks`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice

from ...columns import Zone, find_anchors
from ...elements import Cell
from ...elements.spelling import DecimalMark
from ...errors import FormatError, check_kinds
from ...files import BytesLike
from .records import Records

DELIMITERS = (",", ";", "\t", "|", ":", "^", "~")
SINGLE_COLUMN = ""  # the delimiter of a file of one column

WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?(?:[+-].*[ij])?\s*")
_WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?(?:[+-].*[ij])?\s*")
_PARTS = re.compile(r"(?<=[0-9])[+-]|[ij]")  # between the parts of a complex number
_GROUPED_BY_COMMA = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+")
_GROUPED_BY_POINT = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+")
_PROOF = re.compile(
    rb"""(?:\A|[\n;\t|"])[ ]*[+-]?(?:0,[0-9]+|[0-9]{4,},[0-9]+|[0-9]*,(?:[0-9]{1,2}|[0-9]{4,}))"""
    rb"""(?:[eE][+-]?[0-9]+)?(?:[+-][0-9,eE+-]*[ij])?[ ]*(?=[\r\n;\t|"]|\Z)"""
)
_EXPONENT = re.compile(r"[+-]?[0-9][.,]([0-9]+)[eE]\+?([0-9]{1,3})")
_TOP = 2**20  # bytes at the beginning that tell the delimiter, as a rule
_BEGINNING, _MOST_BESIDE = 2**16, 64  # bytes and words that are looked at for unusual delimiters
_MARKS = [mark.encode() for mark in DELIMITERS]
_ANY_MARK = re.compile(b"[" + re.escape(b"".join(_MARKS)) + b"]")
_VERSION, _NDARRAY = b"version", b"ndarray"
_KEYS = (b"ndarray", b"shape")  # one of them stands in every header, also of the older form
_BLOCK = 2**20  # bytes that are searched at once
_KEY_BESIDE = re.compile(rb'[%b]"?(?:ndarray|shape)' % re.escape(b"".join(_MARKS)), re.IGNORECASE)
_BESIDE = re.compile(rb'([^"])?"?(?:version|ndarray)"?([^"])?', re.IGNORECASE)
_MOST_BROKEN = 100  # headers under one delimiter; below them nothing is counted
_NO_DELIMITERS = "\"'\r\n\0+-"


def find_delimiter(content: BytesLike | bytearray, start: int) -> str | None:
    """Return the delimiter under which most arrays begin in the text; None if no array does under any.

    For a file of one column, which has no delimiter, it is `SINGLE_COLUMN`; `find_delimiter_beside` says whether arrays
    begin beside that column.

    `content`: the text in UTF-8. `start`: the position at which it begins.
    """
    top = bytes(content[start : start + _TOP])
    delimiter = _find_in_first_lines(top)
    if delimiter or (delimiter is not None and not _ANY_MARK.search(top[: top.find(b"\ndata")])):
        return delimiter
    if start + _TOP < len(content):
        top = top[: top.rfind(b"\n") + 1] or top
    delimiter, is_sound = _compare_delimiters(top, 0, (*DELIMITERS, *_find_unusual(top[:_BEGINNING])))
    if is_sound or len(top) == len(content) - start or not _holds_key(content, start):
        return delimiter
    likeliest, is_sound = _compare_delimiters(content, start, DELIMITERS)
    return likeliest if is_sound or delimiter is None else delimiter


def _holds_key(content: BytesLike | bytearray, start: int) -> bool:
    """Return whether a word of a header stands anywhere in a text, in any case.

    Blocks in lower case are searched in a tenth of the time of a pattern that ignores case.
    """
    overlap = max(map(len, _KEYS)) - 1
    for begin in range(start, len(content), _BLOCK):
        block = bytes(content[begin : begin + _BLOCK + overlap]).lower()
        if any(key in block for key in _KEYS):
            return True
    return False


def _find_in_first_lines(text: bytes) -> str | None:
    """Return the delimiter between the words that fill whole lines at the top of a text, as they are written; else
    None.
    """
    lines = text.split(b"\n", 4)[:4]
    for first, last in ((1, 3), (0, 2)):
        if len(lines) > last:
            words, second_words = lines[first].rstrip(b"\r"), lines[last].rstrip(b"\r")
            mark, count = words[len(_VERSION) :][:1], (len(words) + 1) // (len(_VERSION) + 1)
            if words == mark.join([_VERSION] * count) and second_words == mark.join([_NDARRAY] * count) and words:
                return mark.decode() if mark in (b"", *_MARKS) else None
    return None


def find_delimiter_beside(content: BytesLike | bytearray, start: int) -> str | None:
    """Return the delimiter between a column and an array that begins beside it, further down; None if no array does.

    Above that array lines have one cell if the blanks at their ends were left out.

    `content`: the text in UTF-8. `start`: the position at which it begins.
    """
    if _KEY_BESIDE.search(content, start) is None:
        return None
    return _compare_delimiters(content, start, DELIMITERS)[0] or None


def _find_unusual(text: bytes) -> list[str]:
    """Return characters beside the first words that may be delimiters."""
    beside = {mark for match in islice(_BESIDE.finditer(text), _MOST_BESIDE) for mark in match.groups() if mark}
    marks = [mark.decode() for mark in sorted(beside) if mark.isascii()]
    return [mark for mark in marks if not mark.isalnum() and mark not in _NO_DELIMITERS and mark not in DELIMITERS]


def _compare_delimiters(
    content: BytesLike | bytearray, start: int, delimiters: Sequence[str]
) -> tuple[str | None, bool]:
    """Return the delimiter under which most headers are whole, and whether one is; None if no array begins under any.

    Of several it is one that stands in the row in which the first array begins, else `SINGLE_COLUMN`.
    """
    best, most = None, (0, 0, False)
    for delimiter in (SINGLE_COLUMN, *delimiters):
        if delimiter and content.find(delimiter.encode(), start) < 0:
            continue
        records = Records(content, start, delimiter)
        with suppress(FormatError):  # quotes that do not end under this delimiter
            anchors = find_anchors(records, most_broken=_MOST_BROKEN)
            whole = sum(anchor.header is not None for anchor in anchors)
            row = Zone(anchors[0].row, 0, 2, "rows") if anchors else None
            parts = row is not None and delimiter != " " and len(records.zones([row])[0]) > 1
            if (count := (whole, 0 if whole else len(anchors), parts)) > most:
                best, most = delimiter, count
    return best, most[0] > 0


def find_decimal(cells: Sequence[Cell]) -> DecimalMark | None:
    """Return the decimal mark in cells that should hold numbers; None if no cell has one, or both occur.

    A comma that could part thousands, as in `1,234`, shows nothing.
    """
    texts = [cell for cell in cells if isinstance(cell, str)]
    comma = any("," in text and WITH_COMMA.fullmatch(text) and _is_decimal_comma(text) for text in texts)
    point = any(map(_WITH_POINT.fullmatch, texts))
    if comma == point:
        return None
    return "," if comma else "."


def _is_decimal_comma(text: str) -> bool:
    """Return whether a comma in a number can be nothing but a decimal mark."""
    parts = _PARTS.split(text.strip())
    return any("," in part and not _GROUPED_BY_COMMA.fullmatch(part) for part in parts)


def holds_decimal_comma(content: BytesLike | bytearray) -> bool:
    """Return whether a cell of a text is a number with a comma that can be nothing but a decimal mark."""
    return _PROOF.search(content) is not None


def shows_decimal_point(cells: Sequence[Cell]) -> bool:
    """Return whether a cell has a point that cannot part thousands."""
    return any(
        isinstance(cell, str) and "." in cell and not _GROUPED_BY_POINT.fullmatch(cell.strip()) for cell in cells
    )


def could_part_thousands(cells: Sequence[Cell]) -> bool:
    """Return whether the points of all numbers in some cells could part thousands, as in 1.234."""
    texts = [cell.strip() for cell in cells if isinstance(cell, str) and "." in cell]
    return bool(texts) and all(map(_GROUPED_BY_POINT.fullmatch, texts))


def is_cut_integer(cell: Cell) -> bool:
    """Return whether a whole number has fewer digits than its exponent asks for, such as 3.90898E+16.

    Example:
        >>> [is_cut_integer(cell) for cell in ("3.90898E+16", "1E+05", "1.5E+1")]
        [True, False, False]
    """
    match = _EXPONENT.fullmatch(cell.strip()) if isinstance(cell, str) else None
    return match is not None and len(match[1]) < int(match[2])


def check_marks(delimiter: str, decimal: str) -> None:
    """Refuse a delimiter or a decimal mark that would leave the cells ambiguous.

    Raises:
        ValueError: they would; the message says what to take instead.
    """
    check_kinds(str, "one character", delimiter=delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter.isalnum() or delimiter in _NO_DELIMITERS:
        raise ValueError(
            f"the delimiter {delimiter!r} cannot be told from a cell's content; take one such as , ; | or a tab"
        )
    if decimal not in (".", ","):
        raise ValueError(f"the decimal mark is '.' or ',', not {decimal!r}")
    if delimiter == decimal:
        raise ValueError(f"delimiter and decimal mark are both {decimal!r}: take delimiter=';'")
