"""The table of shared strings of a workbook.

Source: ECMA-376 part 1, 18.4.9 (sst), 18.4.8 (si).
"""

from __future__ import annotations

import re
from concurrent.futures import Executor
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ....columns import cell_address
from ....dtypes import Positions
from ..package.parts import Package
from . import tags as t
from .blocks import helper, inflate_blocks, run_ahead, to_utf8
from .cells import LONGEST_EXACT
from .cutting import split_elements
from .decoding import decode_texts
from .events import MOST_IN_STRINGS, MarkupBudget, parse_strings
from .raw import RawCells
from .sequence_forms import SequenceForm, match_sequences
from .shared_texts import SharedTexts, missing_text_error
from .tags import Tags

if TYPE_CHECKING:
    import polars as pl

_FORMS = [  # of items
    SequenceForm((t.TEXT, t.END_TEXT, t.END_ITEM), 1),
    SequenceForm((t.TEXT, t.END_ITEM), 1, closed=(1,)),
    SequenceForm((t.END_ITEM,), 0),
    SequenceForm((), 0, closed=(0,)),
]
_SHORT = 2**15  # bytes of a block that is split by plain Python, since the engine would take longer
_OPENING, _CLOSING = b"<si><t>", b"</t></si>"
_PLAIN = re.compile(rb"(?:<si><t>[^<&\x00-\x08\x0b-\x1f]*+</t></si>)++ *+")
_LONGEST_BLOCK = 2**23  # bytes; a longer one is a single item


class SharedStrings(SharedTexts):
    """The strings to which cells refer by number.

    Args:
        package: of the workbook.
        part: the name of the part with the strings; None if the workbook has no shared strings.

    Raises:
        FormatError: the part is missing or damaged.
    """

    def __init__(self, package: Package, part: str | None) -> None:
        import polars as pl

        runs = [pl.Series([], dtype=pl.String)]
        if part is not None:
            blocks = split_elements(to_utf8(inflate_blocks(package, part), part), part, around=b"sst", tag=b"si")
            if package.member(part).size > _SHORT:  # each call of the engine, and each thread, takes a while to begin
                blocks = run_ahead(blocks)
            budget = MarkupBudget(MOST_IN_STRINGS)
            with helper("text") as thread:
                runs += [_read_block(block, part, thread, budget) for block in blocks]
        super().__init__(pl.concat(runs))

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def numbers(self) -> pl.Series:
        """The strings as Float64; null for those that are no numerals."""
        import polars as pl

        return self.texts.cast(pl.Float64, strict=False)

    def look_up_cells(self, raw: RawCells, shared: Positions, numeric: bool) -> tuple[pl.Series, Positions]:
        """Return the values of cells with shared strings in place of their numbers, and the indices of long strings.

        Long are strings of more than `LONGEST_EXACT` bytes; they are only found if `numeric`.

        Args:
            raw: the cells.
            shared: the indices of those cells that refer to shared strings.
            numeric: give strings that are numerals as Float64, and null for all others.

        Raises:
            FormatError: a cell refers to a string that is not in the table.
        """
        import polars as pl

        everyone = len(shared) == len(raw)
        indices = raw.values if everyone else raw.values.gather(shared)
        places = indices.cast(pl.UInt32, strict=False)
        wrongs = places.is_null() | (places >= len(self))
        if indices.dtype.is_numeric():
            wrongs |= indices != places
        if wrongs.any():
            wrong = int(wrongs.arg_true()[0])
            place = shared[wrong]
            location = cell_address(int(raw.rows[place]), int(raw.columns[place]))
            raise missing_text_error(indices[wrong], len(self), location)
        strings = self.numbers.gather(places) if numeric else self.look_up(places)
        long = self.texts.gather(places).str.len_bytes() > LONGEST_EXACT if numeric else None
        values = strings if everyone else raw.values.scatter(shared, strings)
        return values, shared[:0] if long is None else shared[long.to_numpy()]


def _read_block(block: bytes, name: str, thread: Executor, budget: MarkupBudget) -> pl.Series:
    """Return the strings of a block of string items, by the first way that is sure of them."""
    import polars as pl

    strings = _split_plain(block) if len(block) <= _SHORT else None
    if strings is None and block[:1] == b"<" and len(block) <= _LONGEST_BLOCK:
        strings = _read_regular(block, name, thread, budget)
    return pl.Series(parse_strings(block, name=name, budget=budget), dtype=pl.String) if strings is None else strings


def _split_plain(block: bytes) -> pl.Series | None:
    """Return the strings of a block of `<si><t>..</t></si>` alone, without entities and escapes; None for any other."""
    import polars as pl

    if b"_x" in block or not _PLAIN.fullmatch(block):
        return None
    inner = block.rstrip(b" ")[len(_OPENING) : -len(_CLOSING)]
    try:
        texts = inner.decode().split((_CLOSING + _OPENING).decode())
    except UnicodeDecodeError:
        return None
    has_blanks = any(text != text.strip(" \t\n") for text in texts)  # which count only where an attribute says so
    return None if has_blanks else pl.Series(texts, dtype=pl.String)


def _read_regular(block: bytes, name: str, thread: Executor, budget: MarkupBudget) -> pl.Series | None:
    """Return the strings of a block; items of unknown forms go through the XML parser. None if a text is in doubt."""
    import polars as pl

    tags = Tags(block, numeric=False, thread=thread)
    items = np.flatnonzero(tags.kinds == t.ITEM)
    spans = np.diff(items, append=len(tags))
    texts = tags.texts()
    if texts is None or not len(items) or items[0] != 0:
        return None
    has, unmatched = np.zeros(len(items), dtype=np.bool_), np.ones(len(items), dtype=np.bool_)
    for form, of_form in match_sequences(tags, items, spans, _FORMS):
        has[of_form] = form.value
        unmatched[of_form] = False
    left = np.flatnonzero(unmatched)
    places = items + has
    values = decode_texts(tags, texts.gather(places).fill_null(""), np.flatnonzero(has), places[has])
    if values is None or not len(left):
        return values
    starts, ends = tags.starts[items[left]].tolist(), tags.ends(items[left] + spans[left] - 1).tolist()
    pieces = b"".join(block[start:end] for start, end in zip(starts, ends, strict=True))
    odd = parse_strings(pieces, name=name, budget=budget)
    return values.scatter(left, pl.Series(odd, dtype=pl.String))
