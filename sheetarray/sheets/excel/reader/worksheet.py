"""Parses blocks of rows of worksheet XML into cells, by vectorised rules for the forms that programs write.

Short blocks, and those whose rows are all alike, have faster ways of their own (`short`, `regular`). In all others
every cell must be one of a few sequences of tags, and begin with its reference. A cell of another form goes through an
XML parser by itself (`row_events`), and so does a whole block if these rules are not sure of it.

Source: ECMA-376 part 1, 18.3.1.4 (c), 18.3.1.73 (row), 18.18.11 (ST_CellType).
"""

from __future__ import annotations

import re
from concurrent.futures import Executor
from typing import TYPE_CHECKING

import numpy as np

from ....dtypes import Mask, Positions
from .cells import LONGEST_EXACT, Kinds
from .decoding import PRESERVED, decode_texts
from .events import MarkupBudget
from .formulas import FALSE, TRUE, find_areas
from .raw import INLINE, LOGICAL, LONG_TEXT, PLAIN, RESULT, TYPES, RawCells, concatenate
from .regular import ANY, VALUES, RegularRows, regular_rows
from .row_events import parse_rows
from .short import LONGEST, short_rows
from .tag_sequences import TagSequences, parse_quoted_numbers, read_references, read_tag_sequences
from .tags import TEXT, Tags

if TYPE_CHECKING:
    import polars as pl

_SHORTEST_REGULAR = 2**13  # bytes; less is read by `short` as quickly
_LONGEST_BLOCK = 2**23  # bytes; a longer one is a single row
_LONGEST_ATTRIBUTE = 64  # bytes
_MOST_ATTRIBUTES = 64  # attributes with different values in a block, not counting styles
_STYLE = b' s="'
_ATTRIBUTE = re.compile(rb'\s+(?:t="([a-zA-Z]{1,9})"|(?:cm|vm|ph)="[^"]*"|(?=/?>))')


def try_regular(block: bytes, *, numeric: bool) -> RegularRows | None:
    """Return the rows of a block, if it is regular and so long that finding that out is worth it.

    Args:
        block: from the tag of a row on.
        numeric: give values as Float64.

    Raises:
        FormatError: an inline string with an entity that XML does not have.
    """
    if not (numeric or len(block) > _SHORTEST_REGULAR) or len(block) > _LONGEST_BLOCK:
        return None
    return regular_rows(block, numeric=numeric, types=VALUES if numeric else ANY)


def parse_block(
    block: bytes, *, after: int, numeric: bool, name: str, thread: Executor, budget: MarkupBudget | None = None
) -> RawCells:
    """Return the cells of a block of rows that is not regular, or was not tried.

    Args:
        block: from the tag of a row on.
        after: the number of the row below the block before, from 0, for rows that do not say their own.
        numeric: give values as Float64.
        name: of the part, for messages.
        thread: where the columnar engine works meanwhile.
        budget: the elements that the XML parser may still read of the part.

    Raises:
        FormatError: the block is no well-formed XML, has a reference or a type that cells do not have, or too much of
            unusual XML.
    """
    if len(block) <= LONGEST and not numeric and (cells := short_rows(block)) is not None:
        return cells
    cells = None
    if block[:1] == b"<" and len(block) <= _LONGEST_BLOCK:
        tags = Tags(block, numeric=numeric, thread=thread)
        cells = _Block(tags, numeric=numeric, name=name, budget=budget).result(after)
    return parse_rows(block, after=after, numeric=numeric, name=name, budget=budget) if cells is None else cells.check()


def _are_bits(values: pl.Series) -> Mask:
    """Return a mask of the values that are 1 or 0: a number of a truth value's formula counts as one only then."""
    bits = ((values == 0) | (values == 1)) if values.dtype.is_numeric() else values.is_in(["0", "1"])
    mask: Mask = bits.fill_null(value=False).to_numpy()
    return mask


class _Block:
    """A block of rows that is taken apart by its tags."""

    def __init__(self, tags: Tags, *, numeric: bool, name: str, budget: MarkupBudget | None = None) -> None:
        self._tags, self._numeric, self._name, self._budget = tags, numeric, name, budget

    def result(self, after: int = 0) -> RawCells | None:
        """Return the cells; None if the rules cannot be sure of them.

        Args:
            after: the number of the first row, from 0, if rows do not say their own.
        """
        forms = read_tag_sequences(self._tags)
        references = forms and read_references(self._tags, forms, after)
        if not forms or not references:
            return None
        rows, columns, places, after = references
        kinds = self._attributes(places)
        return kinds and self._cells(forms, rows, columns, *kinds, after=after)

    def _attributes(self, places: Positions) -> tuple[Kinds, Positions] | None:
        """Return the type and the style of each cell; None if a tag has an attribute that the rules do not know.

        Args:
            places: the byte in each cell's tag at which the attributes after its reference begin.
        """
        types = np.zeros(len(places), dtype=np.uint8)
        styles = np.zeros(len(places), dtype=np.int64)
        rest = np.arange(len(places))  # the cells with further attributes, which begin at `places`
        for _ in range(_MOST_ATTRIBUTES):
            first = self._tags.bytes[places]
            more = (first != ord(">")) & (first != ord("/"))
            if not more.any():
                return types, styles
            if not more.all():
                rest, places = rest[more], places[more]
            which = self._tags.starting_with(places, _STYLE)
            if which.any():
                numbers = parse_quoted_numbers(self._tags.words(places[which] + len(_STYLE)))
                if numbers is None:
                    return None
                styles[rest[which]], digits = numbers
                places = places.copy()
                places[which] += digits + (len(_STYLE) + 1)
                continue
            place = int(places[0])
            attribute = _ATTRIBUTE.match(self._tags.text, place, place + _LONGEST_ATTRIBUTE)
            if not attribute or (type_ := (attribute[1] or b"").decode()) not in TYPES:
                return None
            which = self._tags.starting_with(places, attribute[0])
            if attribute[1]:
                types[rest[which]] = TYPES[type_]
            places = np.where(which, places + len(attribute[0]), places)
        return None

    def _cells(
        self, forms: TagSequences, rows: Positions, columns: Positions, types: Kinds, styles: Positions, *, after: int
    ) -> RawCells | None:
        """Return the cells that have a value or a formula; None if the rules cannot be sure of a value.

        Cells of no known sequence of tags go through an XML parser.
        """
        texts = self._tags.texts()
        places, odd = forms.values, forms.odd
        has = places != forms.cells
        if texts is None or ((types == INLINE) != (self._tags.kinds[places] == TEXT))[has].any():
            return None
        values = texts.gather(places)
        blank = ~has
        if values.null_count():
            texts_too = (types == RESULT) | (types == INLINE)
            blank |= values.is_null().to_numpy() & self._tags.are_empty(places) & ~texts_too
        keep = (~blank | forms.formulas) & ~odd
        if not self._numeric:
            inline = np.flatnonzero(types == INLINE)
            plain = decode_texts(self._tags, values.fill_null(""), inline, places[inline])
            if plain is None:
                return None
            values = plain
        elif types.any():
            types = np.where(self._long(types, places) & values.is_not_null().to_numpy(), np.uint8(LONG_TEXT), types)
        marks = forms.formulas if forms.formulas.any() else None
        areas = () if marks is None else find_areas(self._tags.text)
        if marks is not None and (truths := marks & self._constants(forms)).any():
            marks = marks & ~(truths & ((types == LOGICAL) | ((types == PLAIN) & _are_bits(values))))
        pending = blank & forms.formulas
        if marks is not None and pending.any() and (lost := pending & self._constants(forms)).any():
            types, values = self._restore_truths(forms, lost, types, values)
            pending, marks = pending & ~lost, marks & ~lost
        run = RawCells(rows, columns, types, styles, pending, values, after, forms.width, marks, areas)
        if keep.all():
            return run
        return concatenate([run.select(keep), *self._parse_odd_cells(forms, rows[odd], after)], after)

    def _constants(self, forms: TagSequences) -> Mask:
        """Return a mask of the cells whose formula is TRUE() or FALSE(), as LibreOffice writes truth values."""
        ends = np.maximum(self._tags.ends(forms.cells + 1), len(FALSE))
        return self._tags.starting_with(ends - len(TRUE), TRUE) | self._tags.starting_with(ends - len(FALSE), FALSE)

    def _restore_truths(
        self, forms: TagSequences, lost: Mask, types: Kinds, values: pl.Series
    ) -> tuple[Kinds, pl.Series]:
        """Return types and values in which the formulas TRUE() and FALSE() under the mask `lost` have their value."""
        import polars as pl

        cells = np.flatnonzero(lost)
        ends = self._tags.ends(forms.cells[cells] + 1)
        truths = pl.Series(self._tags.starting_with(ends - len(TRUE), TRUE).astype(np.uint8)).cast(values.dtype)
        return np.where(lost, np.uint8(LOGICAL), types), values.scatter(cells, truths)

    def _long(self, types: Kinds, places: Positions) -> Mask:
        """Return a mask of the cells that are, or may be, text of more than `LONGEST_EXACT` characters."""
        starts = self._tags.starts[places]
        tag = np.where(self._tags.starting_with(starts, PRESERVED), len(PRESERVED), len("<v>"))
        marks: Mask = (types == RESULT) | (types == INLINE)
        marks &= self._tags.ends(places) - starts - tag > LONGEST_EXACT
        return marks

    def _parse_odd_cells(self, forms: TagSequences, rows: Positions, after: int) -> list[RawCells]:
        """Return the cells of no known sequence of tags, read by the XML parser; `rows` are their rows."""
        if not len(rows):
            return []
        cells, spans = forms.cells[forms.odd], forms.spans[forms.odd]
        starts, ends = self._tags.starts[cells].tolist(), self._tags.ends(cells + spans - 1).tolist()
        pieces = [
            b'<row r="%d">%s</row>' % (row + 1, self._tags.text[start:end])
            for row, start, end in zip(rows.tolist(), starts, ends, strict=True)
        ]
        return [parse_rows(b"".join(pieces), after=after, numeric=self._numeric, name=self._name, budget=self._budget)]
