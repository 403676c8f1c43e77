"""Finds the encoding, the delimiter and the decimal mark of a CSV.

In the exchange format no statistics are needed: the row with the first cells of the arrays holds nothing but `version`,
the next but one nothing but `ndarray`, so that the character between them is the delimiter. Ordinary tables have no
such rows; their delimiter is the one that gives every row the same number of cells.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import islice

from ...columns import Zone, find_anchors
from ...elements import Cell
from ...elements.scalars import DecimalMark
from ...errors import FormatError, NotFoundError, check_kinds
from ...files import BytesLike
from ...tables import reads_as_value
from .records import Records, split_records

DELIMITERS = (",", ";", "\t", "|", ":", "^", "~")
_TABLE_DELIMITERS = DELIMITERS[:4]  # a column of times is full of colons
SINGLE_COLUMN = ""  # the delimiter of a file of one column

WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?(?:[+-].*[ij])?\s*")
_WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?(?:[+-].*[ij])?\s*")
_MOST_TABLE_ROWS = 200  # rows in which the delimiter of a table is looked for
_MOST_VALUES = 2000  # cells that are tried as numbers, dates and booleans
_TOP = 2**20  # bytes at the beginning that tell the delimiter, as a rule
_BEGINNING, _MOST_BESIDE = 2**16, 64  # bytes and words that are looked at for unusual delimiters
_MARKS = [mark.encode() for mark in DELIMITERS]
_ANY_MARK = re.compile(b"[" + re.escape(b"".join(_MARKS)) + b"]")
_VERSION, _NDARRAY = b"version", b"ndarray"
_KEYS = re.compile(rb"ndarray|shape", re.IGNORECASE)  # one of them stands in every header, also of the older form
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
    if is_sound or len(top) == len(content) - start or _KEYS.search(content, start) is None:
        return delimiter
    found, is_sound = _compare_delimiters(content, start, DELIMITERS)
    return found if is_sound or delimiter is None else delimiter


def _find_in_first_lines(text: bytes) -> str | None:
    """Return the delimiter between the words that fill whole lines at the top of a text, as they are written; else
    None.
    """
    lines = text.split(b"\n", 4)[:4]
    for first, last in ((1, 3), (0, 2)):
        if len(lines) > last:
            words, others = lines[first].rstrip(b"\r"), lines[last].rstrip(b"\r")
            mark, count = words[len(_VERSION) :][:1], (len(words) + 1) // (len(_VERSION) + 1)
            if words == mark.join([_VERSION] * count) and others == mark.join([_NDARRAY] * count) and words:
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


def find_table_delimiter(
    text: str, *, ended: bool, skip_rows: int | Collection[int] = 0, comment: str | None = None
) -> str:
    """Return the delimiter of an ordinary table: the one that gives every row the same number of cells, two at least.

    Of several such delimiters it is the one under which most cells are numbers, dates or booleans. If rows differ in
    their number of cells under all of them, it is the one that stands in most rows, at least in half of them. If the
    first rows have no delimiter at all, it is the first one in any row below, else the comma.

    `text`: the beginning of the table. `ended`: whether the text is the whole table. `skip_rows`: the number of rows
    above the table, or the rows that are passed over, counted from 0. `comment`: rows that begin with this text are
    passed over.
    """
    if not skip_rows:
        blank = len(text) - len(text.lstrip(" \t\r\n"))
        text = text[text.rfind("\n", 0, blank) + 1 :].lstrip("\r")
    regular: list[tuple[float, int, str]] = []
    common, most = SINGLE_COLUMN, 0.5
    standing = False
    later: list[str] = []
    for delimiter in _TABLE_DELIMITERS:
        if delimiter not in text:
            continue
        rows = _table_rows(text, delimiter, ended, skip_rows, comment)
        if not rows:
            return delimiter  # whatever else there is, it is no cell
        widths = set(map(len, rows))
        if len(widths) == 1 and (width := max(widths)) > 1:
            regular.append((_share_of_values(rows), width, delimiter))
        share = sum(len(cells) > 1 for cells in rows) / len(rows)
        standing = standing or share > 0
        if not share:
            later.append(delimiter)
        if share > most or (share == most == 0.5 and common == SINGLE_COLUMN):
            common, most = delimiter, share
    if regular:
        return max(regular, key=lambda candidate: candidate[:2])[2]
    if common == SINGLE_COLUMN and _are_decimals(_table_rows(text, " ", ended, skip_rows, comment)):
        return " "
    return common if standing else (*later, ",")[0]


def _table_rows(
    text: str, delimiter: str, ended: bool, skip_rows: int | Collection[int], comment: str | None
) -> list[list[str]]:
    """Return the first rows of a table that hold something, but the last, which may be cut short."""
    skipped = range(skip_rows) if isinstance(skip_rows, int) else skip_rows
    rows = (
        cells
        for row, (cells, is_last) in enumerate(split_records(text, delimiter))
        if (any(cells) if len(cells) > 1 else cells[0].strip())
        and row not in skipped
        and not (comment and cells[0].lstrip().startswith(comment))
        and (ended or not is_last or row == 0)
    )
    return list(islice(rows, _MOST_TABLE_ROWS))


def _share_of_values(rows: Sequence[Sequence[str]]) -> float:
    cells = [cell for row in rows for cell in row if cell.strip()][:_MOST_VALUES]
    return sum(map(reads_as_value, cells)) / max(len(cells), 1)


def _are_decimals(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows of one length hold nothing but numbers with a point, as NumPy's `savetxt` writes them."""
    if len(set(map(len, rows))) != 1 or len(rows[0]) < 2:
        return False  # none, one column, or no table
    return all("." in cell and reads_as_value(cell) for row in rows for cell in row)


def find_decimal(cells: Sequence[Cell]) -> DecimalMark | None:
    """Return the decimal mark in cells that should hold numbers; None if no cell has one, or both occur."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    comma = any("," in text and WITH_COMMA.fullmatch(text) for text in texts)
    point = any(map(_WITH_POINT.fullmatch, texts))
    if comma == point:
        return None
    return "," if comma else "."


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


# The encoding: by the byte order mark, or by the name that the caller gives.

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
    check_kinds(str, 'the name of one, such as "utf-8"', encoding=name)
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
