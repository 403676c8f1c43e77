"""Finds the encoding, the delimiter and the decimal mark of a CSV.

In the exchange format no statistics are needed: the row with the first cells of the arrays holds nothing but `version`,
the next but one nothing but `ndarray`, so that the character between them is the delimiter. Ordinary tables have no
such rows; their delimiter is the one that gives every row the same number of cells.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from ...columns import anchors_of_grid
from ...columns.words import LONGEST_WORD, SEMVER, WORDS, Anchor
from ...elements import Cell
from ...elements.scalars import DecimalMark
from ...errors import FormatError, LimitError, NotFoundError, check_kinds
from ...files import BytesLike, release_pages
from ...header import MAX_HEADER_CELLS
from ...tables import reads_as_value
from .records import split_records

DELIMITERS = (",", ";", "\t", "|", ":", "^", "~")
_TABLE_DELIMITERS = DELIMITERS[:4]  # a column of times is full of colons
SINGLE_COLUMN = ""  # the delimiter of a file of one column
_RARE = "\x1f\x1e\x1d\x1c\x06\x05\x04\x03\x02\x01"  # for a text of one column: readers need some delimiter
_UNUSED = _RARE + "".join(mark for mark in map(chr, range(1, 128)) if mark not in _RARE + '\t\n\r"')

WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?(?:[+-].*[ij])?\s*")
_WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?(?:[+-].*[ij])?\s*")
_MOST_TABLE_ROWS = 200  # rows in which the delimiter of a table is looked for
_MOST_VALUES = 2000  # cells that are tried as numbers, dates and booleans
_WINDOW = 2**20  # bytes before and after a word that are looked at for the delimiter
_LINES_BEFORE = (4, 3)  # where four begin within a name of several lines, three begin with `version`
_LINES_AFTER = 4  # from a name to `ndarray`
_MOST_WINDOWS = 24
_MOST_SEEN = 2**22  # characters of windows without an array, after which no more are looked at
_MOST_NEIGHBOURS = 64
_NEAR = 64  # bytes
_QUOTE = ord('"')
_MARKS = [mark.encode() for mark in DELIMITERS]
_ANY_MARK = re.compile(b"[" + re.escape(b"".join(_MARKS)) + b"]")
_VERSION, _NDARRAY = b"version", b"ndarray"
_KEYS = re.compile(rb"ndarray|shape")  # one of them stands in every header, also of a list without a version
_KEY_BESIDE = re.compile(rb'[%b]"?(?:ndarray|shape)' % re.escape(b"".join(_MARKS)), re.IGNORECASE)
_ANY_WORD = re.compile("|".join(WORDS).encode())
_NO_DELIMITERS = "\"'\r\n\0+-"


def find_delimiter(content: BytesLike | bytearray, start: int) -> str | None:
    """Return the delimiter under which most arrays begin in the text; None if no array does under any.

    For a file of one column, which has no delimiter, it is `SINGLE_COLUMN`; `find_delimiter_beside` says whether arrays
    begin beside that column.

    `content`: the text in UTF-8; its pages leave memory once they have been looked at. `start`: the position at which
    it begins.
    """
    top = bytes(content[start : start + _WINDOW])
    delimiter = _find_in_first_lines(top)
    if delimiter == SINGLE_COLUMN:
        header = top[: top.find(b"\ndata")]
        if _ANY_MARK.search(header):
            delimiter = _of_uneven_rows(header.decode("utf-8", "replace") + "\ndata\n", DELIMITERS) or delimiter
    if delimiter is not None:
        return delimiter
    after, windows, seen = start, 0, 0
    for position in _find_keys(content, start):
        if position < after:
            continue
        marks = (*DELIMITERS, *_neighbours(content, position, start))
        last = None
        for lines in _LINES_BEFORE:
            text, after = _window(content, start, position, lines, _LINES_AFTER)
            if delimiter is None and text != last:
                delimiter, last, seen = _delimiter_by_anchors(text, marks), text, seen + len(text)
        if delimiter == SINGLE_COLUMN:
            text, _ = _window(content, start, position, 4, MAX_HEADER_CELLS)
            delimiter = _of_uneven_rows(text, marks) or delimiter
        windows += 1
        if delimiter is not None or windows == _MOST_WINDOWS or seen > _MOST_SEEN:
            return delimiter
    return None


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


def _find_keys(content: BytesLike | bytearray, start: int) -> Iterator[int]:
    """Yield the positions of `ndarray` and `shape` in the bytes of a text, from one on, in any case of letters."""
    for first in range(start, len(content), _WINDOW):
        block = bytes(content[first : first + _WINDOW + LONGEST_WORD])
        if b"a" in block or b"A" in block:  # most numbers have neither
            block = block.lower()
            if _NDARRAY in block or b"shape" in block:
                positions = (first + match.start() for match in _KEYS.finditer(block))
                yield from (position for position in positions if position < first + _WINDOW)
        release_pages(content, first, min(first + _WINDOW, len(content)))


def find_delimiter_beside(content: BytesLike | bytearray, start: int) -> str | None:
    """Return the delimiter between a column and an array that begins beside it, further down; None if no array does.

    Above that array lines have one cell if the blanks at their ends were left out. Its header has to be whole, since
    lines of text, too, may hold a word of headers after a comma.

    `content`: the text in UTF-8. `start`: the position at which it begins.
    """
    if _KEY_BESIDE.search(content) is None:
        return None
    after, windows, seen = start, 0, 0
    for position in _find_keys(content, start):
        before = position - 1 - (content[position - 1] == _QUOTE)
        if position < after or bytes(content[before : before + 1]) not in _MARKS:
            continue
        text, after = _window(content, start, position, _LINES_BEFORE[0], MAX_HEADER_CELLS)
        for delimiter in DELIMITERS:
            if delimiter in text and _has_array_beside(text, delimiter):
                return delimiter
        windows, seen = windows + 1, seen + len(text)
        if windows == _MOST_WINDOWS or seen > _MOST_SEEN:
            return None
    return None


def _has_array_beside(text: str, delimiter: str) -> bool:
    """Return whether an array with a whole header begins in a line, but not as its first cell."""
    anchors = anchors_of_grid([cells for cells, _ in split_records(text, delimiter)])
    return any(anchor.column and anchor.header is not None for anchor in anchors)


def _window(content: BytesLike | bytearray, start: int, position: int, lines: int, below: int) -> tuple[str, int]:
    """Return the lines around a position in the text, `lines` before it and `below` after it, and the end of them."""
    before = bytes(content[max(start, position - _WINDOW) : position])
    first = len(before)
    for _ in range(lines):
        first = before.rfind(b"\n", 0, max(first, 0))
        if first < 0:
            break
    before = before[first + 1 :]
    after = bytes(content[position : position + _WINDOW])
    last = 0
    for _ in range(below):
        if last == len(after):
            break
        last = after.find(b"\n", last) + 1 or len(after)
    if b"\r" in after[:last] and b"\n" not in before + after[:last]:
        last = len(after)
    return (before + after[:last]).decode("utf-8", "replace"), position + last


def _neighbours(content: BytesLike | bytearray, position: int, start: int) -> list[str]:
    """Return characters beside the first words that may be delimiters; the quotes of a quoted word are passed over."""
    first = max(start, position - _NEAR)
    text = bytes(content[first : first + _WINDOW]).lower()
    units = set[int]()
    for match in islice(_ANY_WORD.finditer(text), _MOST_NEIGHBOURS):
        before, after = match.start() - 1, match.end()
        before -= before > 0 and text[before] == _QUOTE
        after += after < len(text) - 1 and text[after] == _QUOTE
        units.update(text[before : before + 1] if before >= 0 else b"", text[after : after + 1])
    marks = [chr(unit) for unit in sorted(units) if unit < 128]
    return [mark for mark in marks if not mark.isalnum() and mark not in _NO_DELIMITERS and mark not in DELIMITERS]


def _delimiter_by_anchors(text: str, delimiters: Sequence[str]) -> str | None:
    """Return the delimiter under which most arrays begin; those with a version count more. None if none begins."""
    best, most = None, (0, 0)
    for delimiter in delimiters:
        if delimiter not in text and best is not None:
            continue
        rows = [cells for cells, _ in split_records(text, delimiter)]
        anchors = anchors_of_grid(rows)
        count = sum(_has_version(rows, anchor) for anchor in anchors), len(anchors)
        if count > most:
            first = anchors[0].row
            alone = all(len(rows[row]) == 1 for row in range(first, min(first + 3, len(rows))))
            best, most = SINGLE_COLUMN if alone and anchors[0].orient == "columns" else delimiter, count
        elif best == SINGLE_COLUMN and count == most and len(rows[anchors[0].row]) > 1:
            padded = delimiter.isspace() and delimiter != "\t" and len(set(map(len, rows))) > 1
            best = best if padded else delimiter
    return best


def _has_version(rows: Sequence[Sequence[str]], anchor: Anchor) -> bool:
    """Return whether the cell after an array's first one holds a version, and nothing else."""
    row, column = (anchor.row + 1, anchor.column) if anchor.orient == "columns" else (anchor.row, anchor.column + 1)
    return row < len(rows) and column < len(rows[row]) and bool(SEMVER.fullmatch(rows[row][column]))


def _of_uneven_rows(text: str, delimiters: Sequence[str]) -> str | None:
    """Return the delimiter, if some rows are only one cell because blanks at their ends were left out; otherwise None.

    Delimiters are tried only if the header is broken as one column; the result is one under which it is sound.
    """
    (one, *_) = anchors_of_grid([cells for cells, _ in split_records(text, find_unused_delimiter(text))]) or (None,)
    if one is None or one.header is not None:
        return None
    for delimiter in delimiters:
        if delimiter in text:
            anchors = anchors_of_grid([cells for cells, _ in split_records(text, delimiter)])
            if any(anchor.header is not None for anchor in anchors):
                return delimiter
    return None


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


def find_unused_delimiter(text: str | BytesLike | bytearray) -> str:
    """Return a delimiter that does not stand in a text of one column."""
    for mark in _UNUSED:
        if (mark not in text) if isinstance(text, str) else (text.find(mark.encode()) < 0):
            return mark
    raise FormatError(
        "every character that may be a delimiter stands in the text",
        hint="name the delimiter, for example delimiter=';'",
    )


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
        LimitError: they would; the message says what to take instead.
    """
    check_kinds(str, "one character", delimiter=delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter.isalnum() or delimiter in _NO_DELIMITERS:
        raise LimitError(
            f"the delimiter {delimiter!r} cannot be told from a cell's content; take one such as , ; | or a tab"
        )
    if decimal not in (".", ","):
        raise LimitError(f"the decimal mark is '.' or ',', not {decimal!r}")
    if delimiter == decimal:
        raise LimitError(f"delimiter and decimal mark are both {decimal!r}: take delimiter=';'")


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
