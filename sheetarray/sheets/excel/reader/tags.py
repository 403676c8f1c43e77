"""XML cut into its tags, all at once: the place and the kind of each tag, and the text that follows it.

The XML is cut at every `<`, and each piece at its `>`. The columnar engine does that by reading a table of two columns,
whose lines end with `<`. Meanwhile NumPy finds the kind of each tag by its first bytes.
"""

from __future__ import annotations

from concurrent.futures import Executor, Future
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import Mask, Positions
from .cells import Kinds

if TYPE_CHECKING:
    import polars as pl

TagWords = np.ndarray[tuple[int], np.dtype[np.uint64]]

(
    OTHER,
    VALUE,
    TEXT,
    FORMULA,
    INLINE,
    END_CELL,
    END_VALUE,
    END_TEXT,
    END_FORMULA,
    END_INLINE,
    END_ITEM,
    CELL,
    ROW,
    END_ROW,
    ITEM,
) = range(15)
BOUND = CELL  # from here on: what begins a cell, begins or ends a row, or begins a string item
_BEGINNINGS = {
    CELL: (b"c ", b"c>"),
    VALUE: (b"v>", b"v ", b"v/"),
    TEXT: (b"t>", b"t ", b"t/"),
    FORMULA: (b"f>", b"f ", b"f/"),
    INLINE: (b"is",),
    ROW: (b"ro",),
    ITEM: (b"si",),
    END_CELL: (b"/c",),
    END_VALUE: (b"/v",),
    END_TEXT: (b"/t",),
    END_FORMULA: (b"/f",),
    END_INLINE: (b"/i",),
    END_ROW: (b"/r",),
    END_ITEM: (b"/s",),
}
_TABLE = np.zeros(2**16, dtype=np.uint8)
for _kind, _firsts in _BEGINNINGS.items():
    for _first in _firsts:
        _TABLE[int.from_bytes(_first, "little")] = _kind
_THIRD = {ROW: b"w", END_ROW: b"o", END_ITEM: b"i", INLINE: b"> /", ITEM: b"> /"}  # one of these follows those two
_ONE_OF = {thirds: np.isin(np.arange(256), list(thirds)) for thirds in _THIRD.values()}
_AHEAD = 8  # tags after the last one at which a comparison may look
_LESS, _GREATER, _SLASH = 0x3C, 0x3E, 0x2F
_LINE_END = 1  # no character of XML
_WIDEST_LINE = 48  # bytes: no program writes longer numbers


class Tags:
    """The tags of XML that begins with one.

    Args:
        text: the XML in UTF-8, with at least 64 spaces at its end.
        numeric: read the text after each tag as Float64.
        thread: where the engine works meanwhile.

    Attributes:
        text: the XML.
        bytes: of the XML, as an array.
        starts: the byte at which each tag begins.
        kinds: of each tag, one of the constants of this module, and some zeros after the last tag.
    """

    def __init__(self, text: bytes, *, numeric: bool, thread: Executor) -> None:
        self.text = text
        self._texts: Future[pl.Series | None] = thread.submit(texts_after_tags, text, numeric)
        self.bytes = np.frombuffer(text, dtype=np.uint8)
        self._words: TagWords = np.ndarray((len(text) - 7,), np.dtype("<u8"), self.bytes, 0, (1,))
        self.starts: Positions = np.flatnonzero(self.bytes == _LESS)
        second = self.bytes[2:][self.starts].astype(np.uint16)
        second <<= 8
        second |= self.bytes[1:][self.starts]
        self.kinds: Kinds = np.zeros(len(self.starts) + _AHEAD, dtype=np.uint8)
        _TABLE.take(second, out=self.kinds[: len(self.starts)])
        for kind, thirds in _THIRD.items():
            places = np.flatnonzero(self.kinds == kind)
            if len(places):
                self.kinds[places[~_ONE_OF[thirds][self.bytes[3:][self.starts[places]]]]] = OTHER

    def __len__(self) -> int:
        return len(self.starts)

    def texts(self) -> pl.Series | None:
        """Return the text after each tag, null for no text; None if a `>` stands in text, or the engine refuses it."""
        series = self._texts.result()
        if series is not None and len(series) == len(self) + 1:
            series = series[1:]  # without the field before the first tag
        if series is None or len(series) != len(self) or np.count_nonzero(self.bytes == _GREATER) != len(self):
            return None
        return series

    def words(self, places: Positions) -> TagWords:
        """Return eight bytes from each place on as a word, with the first byte as its lowest."""
        return self._words[places]

    def starting_with(self, places: Positions, text: bytes) -> Mask:
        """Return a mask of the places at which a text stands."""
        same = np.ones(len(places), dtype=np.bool_)
        places = np.minimum(places, len(self._words) - len(text))  # nothing but spaces stands at the end
        for start in range(0, len(text), 8):
            piece = text[start : start + 8]
            mask = np.uint64(2 ** (8 * len(piece)) - 1)
            same &= (self._words[start:][places] & mask) == np.uint64(int.from_bytes(piece, "little"))
        return same

    def are_empty(self, tags: Positions) -> Mask:
        """Return a mask of the tags that the next tag follows at once."""
        mask: Mask = self.last_bytes(tags) == _GREATER
        return mask

    def are_closed(self, tags: Positions) -> Mask:
        """Return a mask of the tags that close themselves, and that the next tag follows at once."""
        mask: Mask = self.are_empty(tags) & (self.bytes[self.ends(tags) - 2] == _SLASH)
        return mask

    def last_bytes(self, tags: Positions) -> Kinds:
        """Return, for each of some tags, the byte just before the next tag."""
        return self.bytes[self.ends(tags) - 1]

    def ends(self, tags: Positions) -> Positions:
        """Return, for each of some tags, the place at which the next tag begins, or the XML ends."""
        return np.append(self.starts, len(self.text))[tags + 1]


def texts_after_tags(text: bytes, numeric: bool) -> pl.Series | None:
    """Return the second column of a text as a table: what stands after each tag, null for no text.

    A field for the bytes before the first tag may come first. None if the engine refuses the text.
    """
    import polars as pl

    kind: Any = pl.Float64 if numeric else pl.String
    try:
        return pl.read_csv(
            text,
            has_header=False,
            separator=">",
            eol_char="<",
            quote_char=None,
            columns=["column_2"],
            schema={"column_1": pl.String, "column_2": kind},
            ignore_errors=numeric,
            truncate_ragged_lines=True,
            missing_columns="insert",
            raise_if_empty=False,
            glob=False,
        )["column_2"]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None


def texts_at(text: bytes, places: Positions, *, numeric: bool = False) -> pl.Series | None:
    """Return the text from each place up to the next tag; None if one is empty, no number, or has a control code.

    The engine reads each of them as the first field of a line that ends where the next one begins: half the work of
    `texts_after_tags`.

    Args:
        text: UTF-8.
        places: ascending; the byte before each of them belongs to no text.
        numeric: read the texts as Float64.
    """
    copy = BytesIO(text)  # which gives its bytes without another copy
    with copy.getbuffer() as units:
        np.frombuffer(units, np.uint8)[places - 1] = _LINE_END
    return _first_fields(copy.getvalue(), numeric, 1, len(places))  # before the first place no text is asked for


def numbers_at(text: bytes, places: Positions, ends: Positions) -> pl.Series | None:
    """Return the number from each place up to the next tag as Float64; None if one is no number.

    The engine gets the bytes of numbers alone, each a line, which takes it half the time.

    Args:
        text: UTF-8, with at least 64 spaces at its end.
        places: the byte at which each number begins, ascending.
        ends: the byte at which the tag after each number begins.
    """
    width = int((ends - places).max()) + 2  # the tag that follows, and the end of a line
    if width > _WIDEST_LINE:
        return texts_at(text, places, numeric=True)
    lines = np.ndarray((len(text) - width + 1,), f"V{width}", text, 0, (1,))[places]
    lines.view(np.uint8)[width - 1 :: width] = _LINE_END
    return _first_fields(lines.tobytes(), True, 0, len(places))


def _first_fields(lines: bytes, numeric: bool, start: int, count: int) -> pl.Series | None:
    """Return the text of each line up to its first tag; None if one is empty or no number.

    Args:
        lines: the text, whose lines end with `_LINE_END`.
        numeric: read the texts as Float64.
        start: the number of the first line that counts.
        count: the number of lines from there on.
    """
    import polars as pl

    kind: Any = pl.Float64 if numeric else pl.String
    try:
        values = pl.read_csv(
            lines,
            has_header=False,
            separator="<",
            eol_char=chr(_LINE_END),
            quote_char=None,
            columns=["column_1"],
            schema={"column_1": kind},
            ignore_errors=numeric,
            truncate_ragged_lines=True,
            extra_columns="ignore",
            glob=False,
        )["column_1"]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    values = values[start:]
    return values if len(values) == count and not values.null_count() else None
