"""Quotes of an ordinary table that stand wrong: only the rows that have them are cut anew, all others stay as they are.

A row is odd if something stands behind a closing quote, or if it has several lines and another width than the others.
Its first line is cut into as many cells as the other rows have, with as few odd quotes as can be.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...dtypes import Mask, Positions
from ...errors import FormatError
from ...files import BytesLike
from ...tables import Marks, cut_row, unquote
from .records import Records

_QUOTE, _FEED, _RETURN = b'"\n\r'
_MOST_PIECES = 400  # of a line that are put together in the best way
ODD_HINT = 'write a quote inside a cell as two; quotechar="" reads quotes as text'
MOST_ODD = 2**17  # rows that are cut anew, each of which takes some 30 microseconds
_WINDOW, _MOST_OF_ROW = 2**16, 2**22  # bytes of a row that are looked at first, and at most
_MOST_LINES = 8  # that an odd row may have, if its first line alone has too few cells
_WRONG_WIDTH, _ODD, _JOINED = 2.0, 1.0, 5.0  # how much speaks against a way to cut a line


@dataclass
class Mended:
    """A text in which each odd row has been cut anew.

    Attributes:
        content: the text in UTF-8, with quotes as RFC 4180 has them.
        first: the first row in which a quote stands beside no delimiter, counted from 0; -1 if there is none.
        count: the number of such rows.
    """

    content: bytes
    first: int
    count: int


def mend_rows(content: BytesLike, delimiter: str, width: int) -> Mended | None:
    """Return a text with its odd rows cut anew; None if it has no odd row.

    `content`: the text in UTF-8; its rows end with LF or CRLF. `width`: the number of cells that most rows have.

    Raises:
        FormatError: very many rows are odd.
    """
    raw, edge = bytes(content), _compile_edge(delimiter)
    start = _skip_inner_quotes(raw, 0, edge)
    if start == len(raw):
        return None
    quotes = _Quotes(content, delimiter, width)
    pieces: list[bytes] = []
    copied, first, count, odd, marks = 0, -1, 0, 0, Marks(delimiter)
    while (begin := quotes.find_odd_row(start)) is not None:
        start = _skip_inner_quotes(raw, begin, edge)
        if start > begin:
            continue
        if odd == MOST_ODD:
            reason = f"quotes stand beside no delimiter in more than {MOST_ODD:,} rows"
            raise FormatError(reason, hint=ODD_HINT)
        odd += 1
        end, cost, cells = _cut_anew(raw, begin, marks, width)
        if cost >= _ODD:  # a quote inside a cell, as in 5" pipe, is no doubt
            first = Records(b"".join([*pieces, raw[copied:begin]]), 0, delimiter).count if first < 0 else first
            count += 1
        pieces += [raw[copied:begin], _spell(cells, delimiter)]
        start = copied = end
    if not pieces:
        return None
    return Mended(b"".join([*pieces, raw[copied:]]), first, count)


def _compile_edge(delimiter: str) -> re.Pattern[bytes]:
    """Return what matches a quote at the beginning or the end of a cell, blanks aside, and two quotes."""
    mark = re.escape(delimiter.encode())
    ends = rb"[\r\n]|\Z" + (b"|" + mark if mark else b"")
    begins = rb"\A|\n" + (b"|" + mark if mark else b"")
    return re.compile(rb'(?:%s)[ \t]*"|"(?:"|[ \t]*(?:%s))' % (begins, ends))


def _skip_inner_quotes(raw: bytes, begin: int, edge: re.Pattern[bytes]) -> int:
    """Return the place of the first row with a quote at an edge of a cell; all quotes above are mere characters.

    There may be millions of such rows, which are read as they are.
    """
    match = edge.search(raw, max(begin - 1, 0))  # the line end before the row is part of the edge
    return len(raw) if match is None else max(raw.rfind(b"\n", begin, raw.find(b'"', match.start())) + 1, begin)


class _Quotes:
    """The places of the quotes of a text, and of those that stand wrong.

    Whether a quote opens or closes a cell depends on the row from which they are counted: `_wrong` has both answers.
    """

    def __init__(self, content: BytesLike, delimiter: str, width: int) -> None:
        signs = np.frombuffer(content, np.uint8)
        self._content, self._delimiter, self._width = content, delimiter, width
        self.places: Positions = np.flatnonzero(signs == _QUOTE)
        is_edge = np.zeros(256, np.bool_)
        is_edge[[ord(delimiter[0]) if delimiter else _FEED, _FEED, _RETURN, _QUOTE]] = True
        before, after = np.ones(len(self.places), np.bool_), np.ones(len(self.places), np.bool_)
        inner = self.places > 0
        before[inner] = is_edge[signs[self.places[inner] - 1]]
        inner = self.places < len(signs) - 1
        after[inner] = is_edge[signs[self.places[inner] + 1]]
        self._even = np.arange(len(self.places)) % 2 == 0
        self._wrong = [np.flatnonzero(self._are_wrong(before, after, parity)) for parity in (0, 1)]
        self._feeds: Positions = np.flatnonzero(signs == _FEED)
        self._index_of_feeds = np.searchsorted(self.places, self._feeds)  # the number of quotes before each line end
        self._inner: list[Positions] = [
            self._feeds[self._index_of_feeds % 2 == 1 - parity] for parity in (0, 1)
        ]  # line ends in quotes

    def _are_wrong(self, before: Mask, after: Mask, parity: int) -> Mask:
        opens = self._even if parity == 0 else ~self._even
        return np.where(opens, ~before, ~after)

    def find_odd_row(self, start: int) -> int | None:
        """Return the place at which the first odd row begins, from the beginning of a row on; None if no row is odd."""
        first = int(np.searchsorted(self.places, start))
        if first == len(self.places):
            return None
        parity = first % 2
        wrong = self._wrong[parity]
        at = int(np.searchsorted(wrong, first))
        index = int(wrong[at]) if at < len(wrong) else None
        if index is None and (len(self.places) - first) % 2:
            index = len(self.places) - 1  # the last one opens a cell, and nothing closes it
        odd = None if index is None else self._row_of(index - (index - first) % 2, first, start)
        inner = self._inner[parity]
        at = int(np.searchsorted(inner, start))
        while at < len(inner) and (odd is None or inner[at] < odd):
            opening = int(np.searchsorted(self.places, inner[at])) - 1
            begin = self._row_of(opening - (opening - first) % 2, first, start)
            count, end = self._cut_row(begin)
            if count != self._width:
                return begin
            at = max(at + 1, int(np.searchsorted(inner, end)))
        return odd

    def _row_of(self, index: int, first: int, start: int) -> int:
        """Return the byte at which the row begins in which a quote opens."""
        while index >= first:
            low = int(self.places[index - 1]) if index > first else start
            at = bisect_left(self._feeds, int(self.places[index])) - 1
            if at >= 0 and self._feeds[at] >= low:
                return int(self._feeds[at]) + 1
            index -= 2
        return start

    def _cut_row(self, begin: int) -> tuple[int, int]:
        """Return the number of cells of the row that begins at a place, and the place after it."""
        size = _WINDOW
        while True:
            raw = bytes(self._content[begin : begin + size])
            text = raw.decode("utf-8", "surrogateescape")
            cells, end = cut_row(text, 0, Marks(self._delimiter))
            if end < len(text) or size >= _MOST_OF_ROW or begin + len(raw) == len(self._content):
                return len(cells), begin + len(text[:end].encode("utf-8", "surrogateescape"))
            size *= 8  # the row goes on


def _cut_anew(raw: bytes, begin: int, marks: Marks, width: int) -> tuple[int, float, list[str]]:
    """Return the place after an odd row, how odd it is, and its cells."""
    end, best = begin, None
    for _ in range(_MOST_LINES):
        if end >= len(raw):
            break
        end = raw.find(b"\n", end) + 1 or len(raw)
        line = raw[begin:end].rstrip(b"\r\n").decode("utf-8", "surrogateescape")
        cost, cells = cut_line(line, marks, width)
        if best is None:
            best = end, cost, cells
        if len(cells) == width and cost < _JOINED:
            return end, cost, cells
    assert best is not None  # a row has one line at least
    return best


def cut_line(line: str, marks: Marks, width: int) -> tuple[float, list[str]]:
    """Return how odd a line is, and its cells: as many as `width`, if that can be, with the fewest odd quotes.

    Example:
        >>> cut_line('9,"CC-9,"Pillow, large"', Marks(), 3)
        (1.0, ['9', '"CC-9', 'Pillow, large'])
    """
    delimiter, quote = marks.delimiter, marks.quotechar
    pieces = line.split(delimiter) if delimiter else [line]
    if len(pieces) > _MOST_PIECES:
        return _ODD, [_bare(piece, marks) for piece in pieces]
    best: list[dict[int, tuple[float, int]]] = [{0: (0.0, 0)}, *({} for _ in pieces)]
    for first, piece in enumerate(pieces):
        spans = [(first + 1, _oddity(piece, marks))]
        opens_inside = quote == '"' and piece.count(quote) % 2 and piece.rstrip()[-1:] != quote
        if piece.lstrip()[:1] == quote or opens_inside:
            spans += [
                (after, _oddity(delimiter.join(pieces[first:after]), marks))
                for after in range(first + 2, len(pieces) + 1)
                if pieces[after - 1].rstrip()[-1:] == quote
            ]
        for count, (cost, _) in best[first].items():
            for after, more in spans:
                total = cost + more
                if total < best[after].get(count + 1, (1e9, 0))[0]:
                    best[after][count + 1] = total, first
    count = min(best[-1], key=lambda each: best[-1][each][0] + _WRONG_WIDTH * abs(each - width))
    cost = best[-1][count][0] + _WRONG_WIDTH * abs(count - width)
    cells, after = [], len(pieces)
    while after:
        first = best[after][count][1]
        cells.append(_bare(delimiter.join(pieces[first:after]), marks))
        after, count = first, count - 1
    return cost, cells[::-1]


def _oddity(text: str, marks: Marks) -> float:
    bare, quote = text.strip(), marks.quotechar
    is_quoted = len(bare) > 1 and bare[0] == quote and bare[-1] == quote
    if "\n" in bare:
        first, _, rest = bare[1:].replace(quote * 2, "").partition("\n")
        if not is_quoted or quote + marks.delimiter in first or marks.delimiter + quote in rest:
            return _JOINED  # a line end outside of quotes ends a row
    if quote not in text:
        return 0.0
    if is_quoted:
        return 0.0 if quote not in bare[1:-1].replace(quote * 2, "") else _ODD
    return _ODD if bare[0] == quote or bare[-1] == quote else 0.1


def _bare(text: str, marks: Marks) -> str:
    bare, quote = text.strip(), marks.quotechar
    if len(bare) > 1 and bare[0] == quote and bare[-1] == quote:
        return bare[1:-1].replace(quote * 2, quote)
    return text


def _spell(cells: Sequence[str], delimiter: str) -> bytes:
    return (delimiter.join(spell_cell(cell, delimiter) for cell in cells) + "\r\n").encode("utf-8", "surrogateescape")


def spell_cell(cell: str, delimiter: str) -> str:
    """Return a cell as RFC 4180 has it: in quotes if it holds a delimiter, a quote or a line end."""
    if '"' in cell or "\n" in cell or "\r" in cell or (delimiter and delimiter in cell):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def spell_rows(text: str, marks: Marks, delimiter: str, width: int) -> tuple[bytes, list[int]]:
    """Return a text with other marks as RFC 4180 has it, and its odd rows.

    `delimiter`: between the cells of what is returned. `width`: the number of cells that most rows have.
    """
    rows: list[str] = []
    odd: list[int] = []
    place = 0
    while place < len(text):
        cells, end = cut_row(text, place, marks)
        values = [unquote(cell, marks) for cell in cells]
        if any(value is None for value in values) or (len(cells) != width and "\n" in text[place : end - 1].rstrip()):
            line = re.compile(r"[^\r\n]*").match(text, place)
            assert line is not None  # a line may be blank
            if len(marks.delimiter) == 1 and marks.quotechar:
                values = [*cut_line(line[0], marks, width)[1]]
            else:
                cells, _ = cut_row(line[0], 0, marks)
                values = [cell if (value := unquote(cell, marks)) is None else value for cell in cells]
            end = line.end() + (2 if text.startswith("\r\n", line.end()) else 1)
            odd.append(len(rows))
        rows.append(delimiter.join(spell_cell(value or "", delimiter) for value in values))
        place = end
    return ("\r\n".join(rows) + "\r\n").encode("utf-8", "surrogatepass"), odd
