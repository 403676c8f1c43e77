"""The records of a text, split by Python: whole blocks where there is no compiled loop, and the few that headers need.

Lines are split, or a regular expression is matched where there are quotes.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ...columns.words import NONE, WORDS, code_of
from ...dtypes import Positions
from ...errors import FormatError

FIRST_LISTED = 2**12
"""Bytes of records that are listed at first."""
_NEAR = 2**12  # bytes between the records whose places are kept
_LONGEST_LINE = 2**12  # bytes of a line that is cut at its delimiters
WINDOW = 2**24
"""Bytes that are searched for quotes, or for one line end, at once."""
MOST_LISTED = 2**12
"""Records that are listed at once."""
BLOCK = 2**20
"""Bytes of records that are gone over at once."""
_ANY_WORD = re.compile("|".join(WORDS).encode())

# A column, its first row, the row after the last, and the kind of its cells: t for text, x for text as the loop has it;
# s for the texts that are not blank, with their rows; d, f, i, u for doubles, floats, integers and unsigned ones, D and
# F with a decimal comma; b for booleans; n for numbers that doubles keep with all digits; y for days, 0, 3, 6, 9 for
# moments with so many digits of a second
Run = tuple[int, int, int, str]
Scanned = tuple[int, int, int, Any, Any, Any, list[Any]]  # what a loop returns for a block


def decode_text(raw: bytes, encoding: str, *, ended: bool = True) -> str:
    """Return the text of some bytes; what may be the beginning of a character is left out unless they have `ended`.

    Raises:
        FormatError: they are not of that encoding.
    """
    try:
        return codecs.getincrementaldecoder(encoding)("strict").decode(raw, final=ended)
    except UnicodeError as error:
        # of UTF-16 and UTF-32, whose names ask for a byte order mark; from Python 3.13 on, a UnicodeDecodeError too
        if not isinstance(error, UnicodeDecodeError) or error.reason.endswith("not start with BOM"):
            hint = f"name the byte order, encoding='{encoding}-le', or another encoding"
            reason = f"not text in {encoding}: it has no byte order mark"
            raise FormatError(reason, location="line 1", hint=hint) from error
        line = raw.count(b"\n", 0, error.start) + 1
        if error.start >= len(raw):
            raise FormatError(f"not text in {encoding}: {error.reason}", location=f"line {line}") from error
        raise FormatError(
            f"not text in {encoding}: byte {raw[error.start]:#04x}",
            location=f"line {line}",
            hint="name the encoding, for example encoding='cp1252' or encoding='mac_roman'",
        ) from error


def split_records(text: str, delimiter: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the records of a text, each with whether the text ends with it.

    A quote that is never closed runs to the end of the text.
    """
    content, place, mark = text.encode("utf-8", "surrogatepass"), 0, ord(delimiter) if delimiter else -1
    size = FIRST_LISTED
    while place < len(content):
        block = RecordBlock(content, place, mark, size)
        place, size = int(block.ends[-1]), min(4 * size, BLOCK)
        last = len(block.ends) - 1
        yield from ((cells, place == len(content) and index == last) for index, cells in enumerate(block.rows()))


@lru_cache(maxsize=16)
def field_pattern(delimiter: str) -> re.Pattern[str]:
    """Return the pattern of a field; its groups are the quoted text, its end, text after that, text of a field without
    quotes, and the delimiter or line end.
    """
    mark = re.escape(delimiter)
    plain = rf"[^{mark}\r\n]*+"
    body = r'[^"]*+(?:""[^"]*+)*+'  # possessive: nothing to go back to, and no memory for it
    stop = rf"{mark}|\r\n|\n|\r|\Z" if delimiter else r"\r\n|\n|\r|\Z"
    return re.compile(rf'(?:"({body})("|\Z)({plain})|({plain}))({stop})')


@lru_cache(maxsize=16)
def _byte_pattern(mark: int) -> re.Pattern[bytes]:
    return re.compile(field_pattern(chr(mark) if mark >= 0 else "").pattern.encode())


class RecordBlock:
    """Whole records of a text from a place on, until `size` bytes are behind it.

    Attributes:
        ends: the place after each record.
        opened: the place of a quote that is never closed; -1 if there is none.
    """

    def __init__(self, content: Any, place: int, mark: int, size: int) -> None:
        self._delimiter = chr(mark) if mark >= 0 else None
        self._lines: list[str] = []  # of a text without quotes, in which each line is a record
        self._records: list[list[str]] | None = None
        self.ends: Positions = np.zeros(0, np.int64)
        self.opened = -1
        last = max(place, place + size - 1)
        end = content.find(b"\n", last, last + WINDOW) + 1 if last < len(content) else len(content)
        if not end:  # a long record, if nothing unusual stands in it
            end = content.find(b"\n", last + WINDOW) + 1 or len(content)
            end = 0 if any(content.find(mark, place, end) >= 0 for mark in (b"\r", b'"')) else end
        text = bytes(content[place:end]) if end else b'"'
        feeds = place + np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
        returns = text.count(b"\r")
        lines: list[str] = []
        if b'"' not in text and returns in (0, len(feeds)):
            with suppress(UnicodeDecodeError):  # it may stand below the records that are wanted
                lines = text.decode("utf-8").split("\r\n" if returns else "\n")
        if len(lines) != len(feeds) + 1:  # also where line ends are of several kinds
            self._match_fields(content, place, mark, size)
            return
        self.ends = feeds if text.endswith(b"\n") else np.append(feeds, end)
        self._lines = lines[: len(self.ends)]

    def _match_fields(self, content: Any, place: int, mark: int, size: int) -> None:
        match, end = _byte_pattern(mark).match, place
        delimiter = bytes([mark]) if mark >= 0 else None
        self._records, ends = [], []
        while end < len(content) and end < place + size:
            if (line := self._cut_line(content, end)) is not None:
                self._records.append(line.split(self._delimiter))
                end = content.find(b"\n", end) + 1
                ends.append(end)
                continue
            fields: list[str] = []
            stop = delimiter
            while not fields or stop == delimiter:
                field_match = match(content, end)
                assert field_match is not None  # an empty field matches anywhere
                quoted, closed, rest, plain, stop = field_match.groups()
                text = plain if quoted is None else quoted.replace(b'""', b'"') + rest
                try:
                    fields.append(text.decode("utf-8"))
                except UnicodeDecodeError:
                    decode_text(bytes(content), "utf-8")
                    raise
                self.opened = end if closed == b"" else self.opened
                end = field_match.end()
                if delimiter is None:
                    break
            self._records.append(fields)
            ends.append(end)
        self.ends = np.array(ends, np.int64)

    def _cut_line(self, content: Any, place: int) -> str | None:
        """Return the line that begins at a place if it is short, a whole record and without quotes; otherwise None."""
        end = content.find(b"\n", place, place + _LONGEST_LINE)
        if end < 0 or self._delimiter is None or content.find(b'"', place, end) >= 0:
            return None
        line = bytes(content[place:end]).removesuffix(b"\r")
        if b"\r" in line:
            return None
        with suppress(UnicodeDecodeError):  # the fields say where
            return line.decode("utf-8")
        return None

    def rows(self, first: int = 0, stop: int | None = None, most: int = -1) -> list[list[str]]:
        """Return some of the records, cut after `most` cells if that is not -1."""
        if self._records is not None:
            return self._records[first:stop] if most < 0 else [cells[:most] for cells in self._records[first:stop]]
        if self._delimiter is None:
            return [[line] for line in self._lines[first:stop]]
        if most >= 0:
            return [line.split(self._delimiter, most)[:most] for line in self._lines[first:stop]]
        records = [line.split(self._delimiter) for line in self._lines[first:stop]]
        if first == 0 and stop is None:
            self._records = records
        return records

    def column(self, column: int, first: int, stop: int) -> Sequence[str]:
        """Return the cells of a column in some of the records, "" where a record is shorter."""
        if self._columns is not None:
            return self._columns[column][first:stop] if column < self.width else [""] * max(stop - first, 0)
        return [cells[column] if column < len(cells) else "" for cells in self.rows()[first:stop]]

    @cached_property
    def _columns(self) -> list[Sequence[str]] | None:
        """The cells of each column; None if not all records have as many."""
        if self._records is None and self._delimiter is None:
            return [self._lines]
        records = self.rows()
        return [*zip(*records, strict=True)] if records and min(map(len, records)) == self.width else None

    @cached_property
    def width(self) -> int:
        """The number of cells in the widest record."""
        if self._records is None and self._delimiter is None:
            return min(len(self._lines), 1)
        return max(map(len, self.rows()), default=0)

    def find_blank(self) -> list[int]:
        """Return the records of one cell, which is blank."""
        if self._columns is not None:
            lines = self._columns[0] if self.width == 1 else []
            return [at for at, line in enumerate(lines) if not line or line.isspace()]
        return [at for at, cells in enumerate(self.rows()) if len(cells) == 1 and not cells[0].strip()]


def scan_plainly(
    content: Any, place: int, mark: int, size: int, row: int, words: list[str], runs: Sequence[Run]
) -> Scanned:
    """Return what the compiled loop does of a block, but no numbers, so that their cells are looked at as text."""
    block = RecordBlock(content, place, mark, size)
    count, end = len(block.ends), int(block.ends[-1]) if len(block.ends) else place
    word_places: list[int] = []
    if words and _ANY_WORD.search(bytes(content[place:end]).lower()):
        for at, cells in enumerate(block.rows(), row):
            for column, cell in enumerate(cells):
                if (code := code_of(cell)) != NONE:
                    word_places += [at, column, code]
    marks: list[int] = []
    while (marks[-1] if marks else place) < end:
        at = min(int(np.searchsorted(block.ends, (marks[-1] if marks else place) + _NEAR)), count - 1)
        marks += [row + at + 1, int(block.ends[at])]
    pieces: list[Any] = []
    for column, first, stop, kind in runs:
        first, stop = min(max(first - row, 0), count), min(max(stop - row, 0), count)
        texts = block.column(column, first, stop) if kind in "ts" else []
        if kind == "s":
            held = [at for at, text in enumerate(texts, row + first) if text]
            pieces.append((np.array(held, np.int64), [text for text in texts if text]))
        else:
            pieces.append(list(texts) if kind == "t" else None)
    arrays = [np.array(numbers, np.int64) for numbers in (marks, word_places, block.find_blank())]
    return end, block.width, block.opened, arrays[0], arrays[1], arrays[2] + row, pieces
