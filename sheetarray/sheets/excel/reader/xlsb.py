"""Binary workbooks of Office Open XML (.xlsb): a container.

Source: MS-XLSB 2.1.4 (records), 2.4 (each of them), 2.5.* (the structures in them).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from ....columns import cell_address
from ....dtypes import Mask, Positions
from ....errors import FormatError
from ..package.parts import Package
from ..package.relations import Relations
from .binary import (
    FIRST_ERROR,
    FIRST_SHARED,
    SHORT_FORMULA,
    BatchReader,
    RawBatch,
    RecordBytes,
    Wanted,
    WordTable,
    check_sizes,
    checking_complete,
    decode_spans,
    read_fields,
    unpack_numbers,
)
from .cells import BOOLEAN, FAULT, MOST_COLUMNS, MOST_ROWS, TEXT, CellRun
from .formats import Formats
from .record_book import RecordBook
from .records_xlsb import NO_TEXT, RecordBlock, iter_part_records, read_text, walk_part
from .titles import Titles

_ROW, _END_OF_CELLS = 0, 146
_BLANK, _PACKED, _ERROR, _BOOLEAN, _REAL, _STRING, _SHARED = range(1, 8)
_STRING_RESULT, _NUMBER_RESULT, _BOOLEAN_RESULT, _ERROR_RESULT, _RICH = 8, 9, 10, 11, 62
_ITEM, _FORMAT, _STYLE, _BEGIN_STYLES, _END_STYLES = 19, 44, 47, 617, 618
_SETTINGS, _SHEET = 153, 156
_MOST_OTHERS = 4_000_000  # records of a sheet that hold no value: blank cells, styles of rows and the like

_U16 = struct.Struct("<H")
_LEAST = {
    _ROW: 4,
    _PACKED: 12,
    _ERROR: 9,
    _BOOLEAN: 9,
    _REAL: 16,
    _STRING: 12,
    _SHARED: 12,
    _STRING_RESULT: 12,
    _NUMBER_RESULT: 16,
    _BOOLEAN_RESULT: 9,
    _ERROR_RESULT: 9,
    _RICH: 13,
}  # bytes of the records of cells
_LEAST_BYTES = np.zeros(2**14, np.int64)
_LEAST_BYTES[list(_LEAST)] = list(_LEAST.values())


class XlsbBook(RecordBook):
    """A binary workbook in a zip package; `cells.WorkbookReader` says what each method is for.

    Raises:
        FormatError: the part is no workbook, or a damaged one.
    """

    max_rows = MOST_ROWS

    def __init__(self, package: Package, part: str) -> None:
        super().__init__()
        self._package = package
        self._relations = Relations(package, part)
        self.from_1904 = False
        targets = {relation.id: relation for relation in self._relations.entries}
        titles = Titles(part)
        with checking_complete(part):
            for kind, record in iter_part_records(package, part):
                if kind == _SETTINGS:
                    self.from_1904 = bool(record[0] & 1)
                elif kind == _SHEET:
                    id_, after = read_text(record, 8)
                    title, _ = read_text(record, after)
                    titles.add_related(title, id_, targets)
        self._parts = titles.places
        self.titles = list(self._parts)

    @cached_property
    def _words(self) -> WordTable:
        part = self._relations.present_target("sharedStrings")
        records = iter_part_records(self._package, part) if part is not None else ()
        return WordTable([read_text(record, 1)[0] for kind, record in records if kind == _ITEM])

    @cached_property
    def _formats(self) -> Formats:
        codes: dict[int, str] = {}
        used: list[int] = []
        part = self._relations.present_target("styles")
        among_styles = False
        with checking_complete(part or ""):
            for kind, record in iter_part_records(self._package, part) if part is not None else ():
                if kind == _FORMAT:
                    codes[_U16.unpack_from(record)[0]] = read_text(record, 2)[0]
                elif kind in (_BEGIN_STYLES, _END_STYLES):
                    among_styles = kind == _BEGIN_STYLES
                elif kind == _STYLE and among_styles:
                    used.append(_U16.unpack_from(record, 2)[0])
        return Formats(used, codes)

    def _read_sheet(self, title: str, wanted: Wanted) -> Iterator[CellRun]:
        part = self._parts[title]
        row = across = others = 0
        with checking_complete(part):
            reader = BatchReader(self._formats, self._words, rows=MOST_ROWS, columns=MOST_COLUMNS, wanted=wanted)
            for records in walk_part(self._package, part):
                ends = np.flatnonzero(records.kinds == _END_OF_CELLS)
                kinds = records.kinds[: ends[0] if len(ends) else None]
                kept = records.select(np.flatnonzero(_LEAST_BYTES[kinds]))
                others += len(kinds) - len(kept.kinds)
                if others > _MOST_OTHERS:
                    raise FormatError(f"more than {_MOST_OTHERS} records that hold no cells", location=part)
                check_sizes(kept.kinds, kept.sizes, _LEAST_BYTES)
                data = np.frombuffer(kept.block, np.uint8)
                lines = np.flatnonzero(kept.kinds == _ROW)
                rows = np.append(row, read_fields(data, kept.starts[lines], "<u4").astype(np.int64))
                cells = np.flatnonzero(kept.kinds != _ROW)
                of_line = np.searchsorted(lines, cells)
                across = _check_widths(np.bincount(of_line, minlength=len(rows)), across, rows)
                row = int(rows[-1])
                yield from reader.runs_of(self._batch(kept.select(cells), data, rows[of_line]))
                if len(ends):
                    return

    def _batch(self, records: RecordBlock, data: RecordBytes, rows: Positions) -> RawBatch:
        """Return the cells of some records.

        Args:
            records: those that hold a value.
            data: the bytes of their block.
            rows: of each record.
        """
        kinds, starts = records.kinds, records.starts
        styles = read_fields(data, starts + 4, "<u4") & 0xFFFFFF
        batch = RawBatch.from_addresses(rows, read_fields(data, starts, "<u4"), styles)
        at = starts + 8
        packed = np.flatnonzero(kinds == _PACKED)
        batch.put_numbers(packed, unpack_numbers(read_fields(data, at[packed], "<u4")))
        doubles = np.flatnonzero((kinds == _REAL) | (kinds == _NUMBER_RESULT))
        batch.put_numbers(doubles, read_fields(data, at[doubles], "<f8"))
        shared = np.flatnonzero(kinds == _SHARED)
        numbers = read_fields(data, at[shared], "<u4").astype(np.int64)
        self._words.check(numbers, rows[shared], batch.columns[shared])
        batch.put_words(shared, TEXT, FIRST_SHARED + numbers)
        logical = np.flatnonzero((kinds == _BOOLEAN) | (kinds == _BOOLEAN_RESULT))
        batch.put_words(logical, BOOLEAN, data[at[logical]] != 0)
        wrong = np.flatnonzero((kinds == _ERROR) | (kinds == _ERROR_RESULT))
        batch.put_words(wrong, FAULT, FIRST_ERROR + data[at[wrong]].astype(np.int64))
        _put_texts(batch, records, data)
        batch.formulas[(kinds >= _STRING_RESULT) & (kinds <= _ERROR_RESULT)] = True
        booleans = np.flatnonzero(kinds == _BOOLEAN_RESULT)
        batch.formulas[booleans[_are_constant(data, starts[booleans], records.sizes[booleans])]] = False
        return batch


def _check_widths(counts: Positions, across: int, rows: Positions) -> int:
    """Return the number of cells so far in the last row of a block, which may go on in the next block.

    Args:
        counts: the number of cells in each row of the block; the first of these rows began in the block before.
        across: the number of cells that this row has in the blocks before.
        rows: the numbers of these rows, from 0.

    Raises:
        FormatError: a row has more cells than there are columns.
    """
    counts[0] += across
    long = np.flatnonzero(counts > MOST_COLUMNS)
    if len(long):
        place = cell_address(int(rows[long[0]]), 0)
        raise FormatError(f"a row of more than {MOST_COLUMNS} cells", location=place)
    return int(counts[-1])


def _put_texts(batch: RawBatch, records: RecordBlock, data: RecordBytes) -> None:
    """Give cells the texts in their records.

    Raises:
        FormatError: a text is longer than its record.
    """
    kinds = records.kinds
    places = np.flatnonzero((kinds == _STRING) | (kinds == _STRING_RESULT) | (kinds == _RICH))
    if not len(places):
        return
    at = records.starts[places] + np.where(kinds[places] == _RICH, 9, 8)
    counts = read_fields(data, at, "<u4").astype(np.int64)
    counts[counts == NO_TEXT] = 0
    sizes = records.sizes[places]
    beyond = np.flatnonzero(at + 4 + 2 * counts > records.starts[places] + sizes)
    if len(beyond):
        place = places[beyond[0]]
        raise FormatError(
            f"a text of {counts[beyond[0]]} characters in a record of {sizes[beyond[0]]} bytes",
            location=cell_address(int(batch.rows[place]), int(batch.columns[place])),
        )
    batch.put_texts(places, decode_spans(records.block, at + 4, 2 * counts, "utf-16-le"))


def _are_constant(data: RecordBytes, starts: Positions, sizes: Positions) -> Mask:
    """Return a mask of the formulas that are as short as TRUE() and FALSE(), shorter than any reference.

    Args:
        data: the bytes of the block.
        starts: the byte at which the record of each formula begins; its value is a boolean.
        sizes: the bytes of each record.
    """
    constant = sizes < 15
    whole = np.flatnonzero(~constant)
    constant[whole] = read_fields(data, starts[whole] + 11, "<u4") <= SHORT_FORMULA
    return constant
