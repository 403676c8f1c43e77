"""Makes batches of cells out of the records of a sheet of Excel 5 to 2003, by NumPy for thousands of records at once.

Source: MS-XLS 2.4 (each record), 2.5.133 (the value of a formula), 2.5.198.58 (the formula of another cell).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from ....columns import cell_address
from ....dtypes import Mask, Positions
from ....errors import FormatError
from . import records97 as r
from .binary import (
    EMPTY,
    FIRST_ERROR,
    FIRST_SHARED,
    SHORT_FORMULA,
    RawBatch,
    RecordBytes,
    WordTable,
    check_sizes,
    decode_spans,
    read_fields,
    unpack_numbers,
)
from .cells import BOOLEAN, FAULT, TEXT
from .strings97 import WIDE, StringReader

_LEAST = {
    r.RESULT: 2,
    r.SHARED_FORMULA: 0,
    r.REAL: 14,
    r.PACKED: 10,
    r.PACKED_ROW: 6,
    r.SHARED: 10,
    r.LABEL: 8,
    r.RICH_LABEL: 8,
    r.BOOLEAN_OR_ERROR: 8,
    r.FORMULA: 14,
}  # bytes of the records of cells
_LEAST_BYTES = np.zeros(2**16, np.int64)
_LEAST_BYTES[list(_LEAST)] = list(_LEAST.values())
_OF_CELLS = np.isin(np.arange(2**16), list(_LEAST))
_DEEPER = np.zeros(2**16, np.int64)
_DEEPER[list(r.BEGINS)], _DEEPER[r.END] = 1, -1
_IN_RECORD = r.HEAD + 6  # bytes before the value of a cell: the head of its record, then its row, column and style
_SHARE = 5  # bytes of a formula that says no more than which other cell holds the formula
_COLUMNS = 2**16

_U16 = struct.Struct("<H")


class SheetDecoder:
    """Decodes the cells of one sheet.

    Args:
        stream: the stream of the workbook, all its bytes.
        words: the texts of the workbook to which cells refer by number.
        code_page: the codec of text before Excel 97; None since then, when text is Latin-1 or UTF-16.
    """

    def __init__(self, stream: bytes, words: WordTable, code_page: str | None) -> None:
        self._stream, self._words, self._code_page = stream, words, code_page
        self._data = np.frombuffer(stream, np.uint8)
        # the places (row times `_COLUMNS`, plus column) of cells whose formula is as short as TRUE() and shared
        self._constants = np.zeros(0, np.int64)

    def batches(self, start: int) -> Iterator[RawBatch]:
        """Yield the cells of the sheet, thousands of records at a time.

        Args:
            start: the byte of the stream where the sheet's first record begins.

        Raises:
            FormatError: the sheet breaks off, or one of its records is damaged.
        """
        depth, formula = 0, -1
        held = np.zeros(0, np.int64)
        for starts in r.walk_records(self._stream, start):
            kinds = read_fields(self._data, starts, "<u2").astype(np.int64)
            depths = depth + np.cumsum(_DEEPER[kinds])
            ends = np.flatnonzero(depths <= 0)
            last = int(ends[0]) if len(ends) else len(starts)
            inside = (depths == 1)[:last] & _OF_CELLS[kinds[:last]]  # what lies deeper is a chart within the sheet
            cells = np.append(held, starts[:last][inside])
            kinds = read_fields(self._data, cells, "<u2").astype(np.int64)
            held = cells[:0]
            if not len(ends) and len(kinds) and kinds[-1] == r.FORMULA:  # its text or its shared formula may follow
                held, cells, kinds = cells[-1:], cells[:-1], kinds[:-1]
            formulas = np.maximum.accumulate(np.append(formula, np.where(kinds == r.FORMULA, cells, -1)))
            formula = int(formulas[-1])
            of_formula = (kinds == r.RESULT) | (kinds == r.SHARED_FORMULA)
            yield self._batch(cells, kinds, np.where(of_formula, formulas[1:], cells))
            if len(ends):
                return
            depth = int(depths[-1]) if len(depths) else depth
        if depth:
            raise FormatError("the sheet breaks off")

    def _batch(self, starts: Positions, kinds: Positions, owners: Positions) -> RawBatch:
        """Return the cells of some records.

        Args:
            starts: the byte of the stream where each record begins.
            kinds: of the records, by their numbers in `records97`.
            owners: where the record begins that says the address of each cell: for the text of a formula, and for a
                formula that cells share, the record of the formula; for all others the record itself.
        """
        data = self._data
        sizes = read_fields(data, starts + 2, "<u2").astype(np.int64)
        check_sizes(kinds, sizes, _LEAST_BYTES)
        if len(owners) and int(owners.min()) < 0:
            raise FormatError("the text of a formula stands before all formulas")
        if (kinds == r.SHARED_FORMULA).any():
            self._note_shared(starts, kinds, sizes, owners)
            cells = kinds != r.SHARED_FORMULA
            starts, kinds, sizes, owners = starts[cells], kinds[cells], sizes[cells], owners[cells]
        counts = np.where(kinds == r.PACKED_ROW, (sizes - 6) // 6, 1)
        records = np.repeat(np.arange(len(starts)), counts)
        across = np.arange(len(records)) - np.repeat(np.cumsum(counts) - counts, counts)
        kinds, at, place = kinds[records], starts[records] + _IN_RECORD + 6 * across, owners[records] + r.HEAD
        columns = read_fields(data, place + 2, "<u2") + across
        styles = read_fields(data, place + 4 + 6 * across, "<u2")
        batch = RawBatch.from_addresses(read_fields(data, place, "<u2"), columns, styles)
        doubles = np.flatnonzero(kinds == r.REAL)
        batch.put_numbers(doubles, read_fields(data, at[doubles], "<f8"))
        packed = np.flatnonzero((kinds == r.PACKED) | (kinds == r.PACKED_ROW))
        batch.put_numbers(packed, unpack_numbers(read_fields(data, at[packed], "<u4")))
        shared = np.flatnonzero(kinds == r.SHARED)
        numbers = read_fields(data, at[shared], "<u4").astype(np.int64)
        self._words.check(numbers, batch.rows[shared], batch.columns[shared])
        batch.put_words(shared, TEXT, FIRST_SHARED + numbers)
        either = np.flatnonzero(kinds == r.BOOLEAN_OR_ERROR)
        _put_states(batch, either, data[at[either]], data[at[either] + 1] != 0)
        formulas = np.flatnonzero(kinds == r.FORMULA)
        if len(formulas):
            self._put_formulas(batch, formulas, at[formulas], sizes[records[formulas]])
        labels = np.flatnonzero((kinds == r.LABEL) | (kinds == r.RICH_LABEL))
        self._put_texts(batch, labels, at[labels], at[labels] - 6 + sizes[records[labels]])
        results = np.flatnonzero(kinds == r.RESULT)
        if len(results):
            batch.formulas[results] = True
            self._put_results(batch, results, starts[records[results]], sizes[records[results]])
        return batch

    # Formulas ------------------------------------------------------------------------------------------------

    def _put_formulas(self, batch: RawBatch, formulas: Positions, at: Positions, sizes: Positions) -> None:
        """Give formulas their values, except texts, each of which follows in a record of its own.

        Args:
            batch: of the cells.
            formulas: the indices of the formulas in it.
            at: the byte where the value of each begins.
            sizes: the bytes of their records.
        """
        data = self._data
        batch.formulas[formulas] = True
        other = read_fields(data, at + 6, "<u2") == 0xFFFF
        numbers = read_fields(data, at[~other], "<f8")
        batch.put_numbers(formulas[~other], numbers)
        truths = np.flatnonzero(~other)[(numbers == 0) | (numbers == 1)]  # shown as TRUE and FALSE by their format
        batch.formulas[formulas[truths]] = ~self._are_constant(at[truths], sizes[truths])
        formulas, at, sizes = formulas[other], at[other], sizes[other]
        states = data[at]
        known = (states == 1) | (states == 2)
        _put_states(batch, formulas[known], data[at[known] + 2], states[known] == 2)
        batch.put_words(formulas[states == 3], TEXT, EMPTY)
        booleans = states == 1
        batch.formulas[formulas[booleans]] = ~self._are_constant(at[booleans], sizes[booleans])

    def _are_constant(self, at: Positions, sizes: Positions) -> Mask:
        """Return a mask of the formulas that are as short as TRUE() and FALSE(), shorter than any reference.

        Args:
            at: the byte where the value of each begins.
            sizes: the bytes of their records.
        """
        lengths = np.zeros(len(at), np.int64)
        whole = sizes >= 22
        lengths[whole] = read_fields(self._data, at[whole] + 14, "<u2")
        constant = lengths <= SHORT_FORMULA
        shares = np.flatnonzero((lengths == _SHARE) & (sizes >= 22 + _SHARE))
        shares = shares[self._data[at[shares] + 16] == 1]
        rows = read_fields(self._data, at[shares] + 17, "<u2").astype(np.int64)
        columns = read_fields(self._data, at[shares] + 19, "<u2")
        constant[shares] = np.isin(rows * _COLUMNS + columns, self._constants)
        return constant

    def _note_shared(self, starts: Positions, kinds: Positions, sizes: Positions, owners: Positions) -> None:
        """Remember the cells whose formulas are constants that others share."""
        places = np.flatnonzero((kinds == r.SHARED_FORMULA) & (sizes >= 10))
        short = read_fields(self._data, starts[places] + r.HEAD + 8, "<u2") <= SHORT_FORMULA
        of = owners[places[short]] + r.HEAD
        rows = read_fields(self._data, of, "<u2").astype(np.int64)
        cells = rows * _COLUMNS + read_fields(self._data, of + 2, "<u2")
        self._constants = np.union1d(self._constants, cells)

    # Text ----------------------------------------------------------------------------------------------------

    def _put_results(self, batch: RawBatch, places: Positions, starts: Positions, sizes: Positions) -> None:
        """Give formulas their texts, which stand in records of their own and may go on in further ones.

        Args:
            batch: of the cells.
            places: the indices of the formulas in it.
            starts: the byte where the record of each text begins.
            sizes: the bytes of these records.
        """
        after = starts + r.HEAD + sizes
        goes_on = np.zeros(len(places), np.bool_)
        if self._code_page is None:
            inside = after + r.HEAD <= len(self._stream)
            goes_on[inside] = read_fields(self._data, after[inside], "<u2") == r.CONTINUE
        self._put_texts(batch, places[~goes_on], starts[~goes_on] + r.HEAD, after[~goes_on])
        texts = []
        for start in starts[goes_on].tolist():
            _, record, continued = next(r.iter_records(self._stream, start))
            count = _U16.unpack_from(record)[0]
            wide = bool(count and record[2] & WIDE)
            texts.append(StringReader([record[3:], *continued]).characters(count, wide=wide))
        batch.put_texts(places[goes_on], texts)

    def _put_texts(self, batch: RawBatch, places: Positions, at: Positions, ends: Positions) -> None:
        """Give cells the texts in their records.

        Args:
            batch: of the cells.
            places: the indices of the cells with these texts.
            at: the byte where the number of each text's characters stands, just before them.
            ends: the byte after each record.

        Raises:
            FormatError: a text is longer than its record.
        """
        if not len(places):
            return
        counts = read_fields(self._data, at, "<u2").astype(np.int64)
        starts, wide = at + 2, np.zeros(len(at), np.bool_)
        if self._code_page is None:
            flagged = (counts > 0) & (starts < ends)
            wide[flagged] = self._data[starts[flagged]] & WIDE != 0
            starts = starts + (counts > 0)
        sizes = counts << wide
        beyond = np.flatnonzero(starts + sizes > ends)
        if len(beyond):
            place = places[beyond[0]]
            raise FormatError(
                f"a text of {counts[beyond[0]]} characters in a record of {sizes[beyond[0]]} bytes or less",
                location=cell_address(int(batch.rows[place]), int(batch.columns[place])),
            )
        for mask, codec in ((~wide, self._code_page or "latin-1"), (wide, "utf-16-le")):
            if mask.any():
                batch.put_texts(places[mask], decode_spans(self._stream, starts[mask], sizes[mask], codec))


def _put_states(batch: RawBatch, places: Positions, codes: RecordBytes, wrong: Mask) -> None:
    """Give some cells errors or booleans as values: errors where `wrong`, by codes that MS-XLS lists."""
    batch.put_words(places[wrong], FAULT, FIRST_ERROR + codes[wrong].astype(np.int64))
    batch.put_words(places[~wrong], BOOLEAN, codes[~wrong] != 0)
