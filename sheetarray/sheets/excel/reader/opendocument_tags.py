"""The tags in rows of OpenDocument, found all at once: the place and the kind of each, and the texts between them.

To be sure that each tag has one `>` and that no other stands in text, they are only counted. A tag that is known by all
of its bytes has its `>`; one that the next tag follows at once ends with it; so if there are as many `>` as tags, there
is no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import Mask, Positions
from .cells import Kinds

if TYPE_CHECKING:
    import polars as pl

WordRows = np.ndarray[tuple[int, int], np.dtype[np.uint64]]

OTHER, ROW, END_ROW, OPEN, CLOSED, END_CELL, P, END_P = range(8)

_FOLLOWS = np.zeros((8, 8), np.bool_)  # which tag may come after which
for _first, _next in (
    (ROW, (OPEN, CLOSED)),
    (OPEN, (P,)),
    (P, (END_P,)),
    (END_P, (END_CELL,)),
    (END_CELL, (OPEN, CLOSED, END_ROW)),
    (CLOSED, (OPEN, CLOSED, END_ROW)),
    (END_ROW, (ROW,)),
):
    _FOLLOWS[_first, list(_next)] = True
_LENGTHS = np.zeros(8, np.int64)
_LENGTHS[[END_ROW, END_CELL, END_P]] = [len(tag) for tag in ("</table:table-row>", "</table:table-cell>", "</text:p>")]
PARAGRAPH = len("<text:p>")
_LESS, _GREATER, _SLASH = b"<>/"
_SPACE, _NO_CHARACTER = 0x20, 0xEF  # the byte with which U+FFFE, U+FFFF and some characters of XML begin
_LINE_ENDS, _INSTRUCTIONS = list(b"\t\n\r"), list(b"!?")
_WORD, _SHORT = 8, 32  # bytes of a word, and of pieces that are copied by words
_NAMED = 16  # bytes with which all tags of rows begin, and all tags of cells
WINDOW = 64  # bytes that are copied together, to be compared as words
LONGEST_TAG = 1024  # bytes of a tag of which a form is learnt


class RowTags:
    """The tags of a text from the beginning of a row to the end of one.

    Attributes:
        text: the text.
        starts: the byte at which each tag begins.
        nexts: for each tag, the byte at which the next tag begins, or the text ends.
        kinds: of each tag, one of the constants of this module.
        controls: the bytes that are tabs or line ends.
    """

    def __init__(self, text: bytes, data: Any, controls: Positions) -> None:
        self.text, self.controls, self._data = text, controls, data
        self._padded = b"".join((bytes(WINDOW), text, bytes(LONGEST_TAG + WINDOW)))
        self.starts: Positions = np.flatnonzero(data == _LESS)
        self.nexts: Positions = np.append(self.starts[1:], len(text))
        self.kinds = self._kinds()

    def words(self, places: Positions, size: int = _WORD) -> WordRows:
        """Return `size` bytes from each place on as a row of 64-bit words.

        A place may lie up to `WINDOW` bytes before the text.
        """
        windows = np.ndarray((len(self._padded) - size + 1,), f"V{size}", self._padded, 0, (1,))
        words: WordRows = windows[places + WINDOW].view("<u8").reshape(-1, size // _WORD)
        return words

    def _kinds(self) -> Kinds:
        """Return the kind of each tag, by its name."""
        first = self.words(self.starts)[:, 0]
        kinds: Kinds = (first == _word(b"<text:p>")).view(np.uint8) * np.uint8(P)
        is_end = first == _word(b"</table:")
        ends = np.flatnonzero(first == _word(b"</text:p"))
        words = self.words(self.starts[ends] + 8, 24)  # most often the end of the cell follows
        kinds[ends[words[:, 0] & np.uint64(0xFF) == np.uint64(_GREATER)]] = END_P
        same = (words[:, 0] == _word(b"></table")) & (words[:, 1] == _word(b":table-c"))
        after = ends[same & (words[:, 2] & np.uint64(0xFFFFFFFF) == _word(b"ell>"))] + 1
        kinds[after], is_end[after] = END_CELL, False
        ends = np.flatnonzero(is_end)
        second, third = self.words(self.starts[ends] + 8, 16).T
        kinds[ends[(second == _word(b"table-ro")) & (third & np.uint64(0xFFFF) == _word(b"w>"))]] = END_ROW
        kinds[ends[(second == _word(b"table-ce")) & (third & np.uint64(0xFFFFFF) == _word(b"ll>"))]] = END_CELL
        self._begins = begins = np.flatnonzero(first == _word(b"<table:t"))
        self._heads = self.words(self.starts[begins], WINDOW)
        self._tails = self.words(self.nexts[begins] - WINDOW, WINDOW)
        second, third, last = self._heads[:, 1], self._heads[:, 2], self._tails[:, -1]
        space, greater, slash = (np.uint64(code) for code in b" >/")
        ended, closed = last >> np.uint64(56) == greater, last >> np.uint64(48) & np.uint64(0xFF) == slash
        after = third & np.uint64(0xFF)
        kinds[begins[(second == _word(b"able-row")) & ((after == space) | (after == greater)) & ended & ~closed]] = ROW
        name, after = third & np.uint64(0xFF), third >> np.uint64(8) & np.uint64(0xFF)
        cell = (second == _word(b"able-cel")) & (name == np.uint64(ord("l"))) & ended
        cell &= (after == space) | (after == greater) | (after == slash)
        kinds[begins[cell]] = np.where(closed[cell], np.uint8(CLOSED), np.uint8(OPEN))
        return kinds

    @property
    def follow(self) -> Mask:
        """A mask of the tags after which, in a plain row, the next tag may come; text stands in paragraphs alone."""
        pairs = self.kinds[:-1] * np.uint8(8) + self.kinds[1:]
        mask: Mask = np.append(_FOLLOWS.ravel()[pairs], True)
        lengths = _LENGTHS[self.kinds]
        mask &= (lengths == 0) | (self.nexts - self.starts == lengths)
        return mask

    def are_sound(self) -> bool:
        """Return whether every `<` begins a tag, every `>` ends one, and none is a comment or an instruction."""
        if np.count_nonzero(self._data == _GREATER) != len(self.starts):
            return False
        others = np.flatnonzero(self.kinds == OTHER)
        if not len(others):
            return True
        if np.isin(self._data[np.minimum(self.starts[others] + 1, len(self._data) - 1)], _INSTRUCTIONS).any():
            return False
        ends = np.flatnonzero(self._data == _GREATER)
        return bool((self.starts < ends).all() and (ends[:-1] < self.starts[1:]).all())

    def join(self, starts: Positions, lengths: Positions) -> tuple[bytes, Positions]:
        """Return some pieces of the text joined, with a `<` after each, and the places of these `<`.

        `starts`: the byte at which each piece begins. `lengths`: the bytes of each piece, at least one byte before the
        end of the text.
        """
        sizes = lengths + 1
        ends = np.cumsum(sizes)
        if not len(sizes) or int(sizes.max()) > _SHORT:
            places = np.arange(int(sizes.sum())) + np.repeat(starts - (ends - sizes), sizes)
            units = self._data[places]
        else:
            windows = self.words(starts, _SHORT).view(np.uint8)
            units = windows[np.arange(_SHORT, dtype=np.uint8) < sizes.astype(np.uint8)[:, None]]
        units[ends - 1] = _LESS
        return units.tobytes(), ends - 1

    def texts(self, starts: Positions, lengths: Positions) -> pl.Series | None:
        """Return some pieces of the text as a Series; None if the engine refuses them."""
        import polars as pl

        long = np.flatnonzero(lengths)
        series = read_joined(self.join(starts[long], lengths[long])[0], len(long), pl.String)
        if series is None or len(long) == len(lengths):
            return series
        return pl.repeat("", len(lengths), dtype=pl.String, eager=True).scatter(long, series)


class TagWindows:
    """The first and the last bytes of some tags of rows and cells, to be compared with a text word by word.

    `which`: the indices of these tags.

    Attributes:
        lengths: the bytes of each tag and of the text after it.
    """

    def __init__(self, tags: RowTags, which: Positions) -> None:
        index = np.searchsorted(tags._begins, which)
        self._tags, self._starts = tags, tags.starts[which]
        self._heads, self._tails = [tags._heads[index]], tags._tails[index]
        self.lengths: Positions = tags.nexts[which] - self._starts

    def starting_with(self, places: Positions, text: bytes) -> Positions:
        """Return those of some tags, by their indices, that begin with a text and are longer than it.

        The first 16 bytes are not compared: all tags of rows begin alike, and so do all tags of cells.
        """
        places = self.of_length(places, len(text) + 1)
        for offset in range(_NAMED, len(text), _WORD):
            window, column = divmod(offset, WINDOW)
            if window == len(self._heads):
                self._heads.append(self._tags.words(self._starts + offset, WINDOW))
            piece = text[offset : offset + _WORD]
            unused = np.uint64(8 * (_WORD - len(piece)))
            words = self._of(self._heads[window][:, column // _WORD], places)
            places = _those(places, words << unused == _word(piece) << unused)
        return places

    def ending_with(self, places: Positions, text: bytes) -> Positions:
        """Return those of some tags that end with a text, which has at most `WINDOW` bytes."""
        for column, end in enumerate(range(len(text), 0, -_WORD), 1):
            piece = text[max(end - _WORD, 0) : end]
            words = self._of(self._tails[:, -column], places)
            places = _those(places, words >> np.uint64(8 * (_WORD - len(piece))) == _word(piece))
        return places

    def of_length(self, places: Positions, size: int, *, exactly: bool = False) -> Positions:
        """Return those of some tags that have so many bytes at least, or exactly."""
        lengths = self._of(self.lengths, places)
        return _those(places, lengths == size if exactly else lengths >= size)

    def _of(self, values: Any, places: Positions) -> Any:
        """Return the values of some tags; without a copy if those are all tags."""
        return values if len(places) == len(self.lengths) else values[places]


def _those(places: Positions, mask: Mask) -> Positions:
    """Return the places under a mask; without a copy if those are all places."""
    return places if mask.all() else places[mask]


def find_tags(text: bytes) -> RowTags | None:
    """Return the tags of a text; None if it may be no XML, or has more than tags and text, such as comments."""
    data = np.frombuffer(text, np.uint8)
    controls = np.zeros(0, np.int64)
    if data.min() < _SPACE:
        controls = np.flatnonzero(data < _SPACE)
        if not np.isin(data[controls], _LINE_ENDS).all():
            return None
    if not text.isascii() and not _is_utf8(text, data):
        return None
    tags = RowTags(text, data, controls)
    return tags if tags.are_sound() else None


def _is_utf8(text: bytes, data: Any) -> bool:
    """Return whether a text is UTF-8, without U+FFFE and U+FFFF, which XML does not have."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    places = np.flatnonzero(data[:-2] == _NO_CHARACTER)
    return not ((data[places + 1] == 0xBF) & (data[places + 2] >= 0xBE)).any()


def read_joined(text: bytes, count: int, dtype: Any) -> pl.Series | None:
    """Return pieces that `RowTags.join` has joined as a Series of a dtype; None if the engine refuses one."""
    import polars as pl

    if not count:
        return pl.Series([], dtype=dtype)
    try:
        series = pl.read_csv(
            text,
            has_header=False,
            separator=">",
            eol_char="<",
            quote_char=None,
            schema={"text": dtype},
            glob=False,
        )["text"]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    return series if len(series) == count and not series.null_count() else None


def _word(text: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(text, "little"))
