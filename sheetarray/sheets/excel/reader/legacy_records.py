"""Looks at the records of old workbooks before a library reads them: bounds what they hold, drops what nobody reads.

xlrd and calamine trust what a file claims. So no byte reaches them before the records were walked here: each is within
its part and as long as its kind, cells, texts and styles are counted, no two sheets share bytes. Records that hold
neither a value nor its format never reach them. Formulas are noted here, since both libraries give results alone.

Sources: MS-XLS 2.1.4 (records), 2.4 (each of them); MS-XLSB 2.1.4, 2.4.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ....columns import cell_address
from ....errors import FormatError
from ...workbooks import MOST_COLUMNS, MOST_ROWS
from .cells import NUMBER, encrypted_error
from .strings import missing_text_error

SAVE_ANEW = "open it in a spreadsheet program, and save it as .xlsx"
_MOST_RECORDS, _MOST_CELLS = 3_000_000, 2_000_000  # of a workbook
_MOST_STRINGS, _MOST_TEXT = 1_000_000, 2**26  # shared strings; bytes of text in cells
_MOST_RUNS = 2_000_000  # changes of the font within shared strings
_MOST_STYLES, _MOST_FORMATS, _LONGEST_FORMAT = 2**14, 2**12, 2**11  # of a workbook; bytes
_MOST_AREA = 2**24  # rows times columns of the range of a sheet in .xlsb that has cells
_SHORT_FORMULA = 4  # bytes of a formula that refers to nothing, as TRUE() does

_U16, _U32, _HEAD, _PLACE = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<2H"), struct.Struct("<2I")


def place_of(row: int, column: int) -> int:
    """Return the number of a cell among all cells of a sheet, row by row."""
    return row * MOST_COLUMNS + column


@dataclass
class Tally:
    """What a workbook holds, counted while its records are walked.

    Attributes:
        lengths: the bytes of each shared string in UTF-8, or some more.
    """

    lengths: Sequence[int] = ()
    _records: int = 0
    _cells: int = 0
    _text: int = 0

    def add(self, records: int, cells: int, location: str) -> None:
        """Count records, and the cells in them.

        Raises:
            FormatError: the workbook has too many of them.
        """
        self._records += records
        self._cells += cells
        for count, most, what in (
            (self._cells, _MOST_CELLS, "cells"),
            (self._records, _MOST_RECORDS, "records"),
        ):
            if count > most:
                raise FormatError(
                    f"more than {most:,} {what} in a workbook of this kind", location=location, hint=SAVE_ANEW
                )

    def refer(self, number: int, row: int, column: int) -> None:
        """Count the bytes of the shared string to which a cell refers.

        Raises:
            FormatError: the workbook has no such string, or its cells refer to too many bytes of them.
        """
        if not 0 <= number < len(self.lengths):
            raise missing_text_error(number, len(self.lengths), cell_address(row, column))
        self.hold(self.lengths[number])

    def hold(self, count: int) -> None:
        """Count bytes of text that cells hold.

        Raises:
            FormatError: they are too many.
        """
        self._text += count
        if self._text > _MOST_TEXT:
            raise FormatError(
                f"cells hold more than {_MOST_TEXT:,} bytes of text",
                hint="let a few cells hold the long texts, and the others short ones",
            )


# .xls: one stream of records --------------------------------------------------------------------------------------

BEGINS = frozenset((0x0809, 0x0409, 0x0209, 0x0009))
_END, _CONTINUE, _ENCRYPTED, _CODE_PAGE, _DATE_MODE = 0x000A, 0x003C, 0x002F, 0x0042, 0x0022
_SHEET, _FORMAT, _STYLE, _STRINGS = 0x0085, 0x041E, 0x00E0, 0x00FC
_SHARED, _PACKED_ROW, _FORMULA, _RESULT, _SHARED_FORMULA = 0x00FD, 0x00BD, 0x0006, 0x0207, 0x04BC
_LABELS = (0x0204, 0x00D6)  # texts that stand in the cell
_CELLS = {0x0203: 14, 0x027E: 10, _PACKED_ROW: 6, _SHARED: 10, 0x0204: 8, 0x00D6: 8, 0x0205: 8, _FORMULA: 14}
_OF_FORMULAS = {_RESULT: 2, _SHARED_FORMULA: 0, 0x0221: 0, 0x0236: 0}  # the text of a result; formulas of several cells
_LEAST = {**_CELLS, **_OF_FORMULAS}  # bytes of the records that hold cells
_GLOBALS = frozenset((_CODE_PAGE, _DATE_MODE, _SHEET, _FORMAT, _STYLE, _STRINGS))
_NO_KIND = 0xFF  # both bytes of the kind of a record that is dropped
_WORKSHEET = 0
# Results that are shown as TRUE and FALSE: a boolean, or 0 and 1 as doubles
_TRUTH = re.compile(rb"\x01.{5}\xff\xff|\0{6}(?:\xf0\x3f|\0\0)", re.DOTALL)
_WIDE, _EXTENDED, _RICH = 0x01, 0x04, 0x08  # flags of a text


@dataclass
class Sheet97:
    """What the records of a sheet tell.

    Attributes:
        cells: the number of its cells that hold a value.
        formulas: the places of those that are formulas.
    """

    cells: int = 0
    formulas: list[int] = field(default_factory=list)


class Stream97:
    """The stream of a workbook of Excel 5 to 2003, bounded.

    `stream`: all bytes of the stream `Workbook` or `Book`.

    Attributes:
        content: the same bytes, in which records that are not read have a kind that no program knows.
        version: 0x0500 for Excel 5 and 95, 0x0600 since Excel 97.
        sheets: what the records of each worksheet tell, in the order of their tabs.

    Raises:
        FormatError: the workbook is encrypted, damaged, of another version, or holds too much.
    """

    def __init__(self, stream: bytes) -> None:
        self._stream = stream
        self._dropped: list[int] = []  # bytes at which records begin
        self._tally = Tally()
        kind, size = _HEAD.unpack_from(stream) if len(stream) >= 6 else (0, 0)
        self.version = _U16.unpack_from(stream, 4)[0] if kind in BEGINS and size >= 2 else 0
        if self.version not in (0x0500, 0x0600):
            raise FormatError("a workbook of a version before Excel 5, or a damaged one", hint="save it as .xlsx first")
        end, self._starts = self._walk_globals()
        found = {}
        for start in sorted(self._starts):
            if start < end:
                raise FormatError("two sheets of the workbook overlap")
            end, found[start] = self._walk_sheet(start)
        self.sheets = [found[start] for start in self._starts]
        data = np.frombuffer(bytearray(stream), np.uint8)
        dropped = np.array(self._dropped, np.int64)
        data[dropped] = data[dropped + 1] = _NO_KIND
        self.content = data.tobytes()

    def find_repeated(self, number: int) -> str | None:
        """Return the address of the first cell that a sheet holds twice, by the number of its tab; None if none is."""
        seen: set[int] = set()
        for kind, at, size in self._records(self._starts[number]):
            if kind in _CELLS:
                row, first = _HEAD.unpack_from(self._stream, at + 4)
                for column in range(first, first + ((size - 6) // 6 if kind == _PACKED_ROW else 1)):
                    if (place := place_of(row, column)) in seen:
                        return cell_address(row, column)
                    seen.add(place)
        return None

    def _records(self, at: int) -> Iterator[tuple[int, int, int]]:
        """Yield the kind, the first byte and the size of each record, up to the one that ends what begins at a byte.

        Raises:
            FormatError: the stream ends before, or there are too many records.
        """
        stream, end, depth, count = self._stream, len(self._stream), 0, 0
        while at + 4 <= end:
            kind, size = _HEAD.unpack_from(stream, at)
            after = at + 4 + size
            if after > end:
                raise FormatError(f"the workbook breaks off within a record at byte {at + 4}")
            count += 1  # of those that the tally does not have yet
            if kind in BEGINS:
                depth += 1
            elif kind == _END:
                depth -= 1
            if depth > 1 or (depth == 1 and kind == _END):  # a chart within a sheet
                self._dropped.append(at)
            else:
                yield kind, at, size
            if depth <= 0:
                self._tally.add(count, 0, "Workbook")
                return
            if not count & 0xFFFF:
                self._tally.add(count, 0, "Workbook")
                count = 0
            at = after
        raise FormatError("the workbook breaks off")

    def _walk_globals(self) -> tuple[int, list[int]]:
        """Return the byte after what the sheets share, and the byte at which each worksheet begins."""
        starts: list[int] = []
        segments: list[tuple[int, int]] = []
        counts = dict.fromkeys((_SHEET, _FORMAT, _STYLE), 0)
        last = after = 0
        for kind, at, size in self._records(0):
            after = at + 4 + size
            if kind == _ENCRYPTED:
                raise encrypted_error()
            if kind == _STRINGS and not segments and size >= 8:
                segments = [(at + 12, after)]
            elif kind == _CONTINUE and last == _STRINGS:
                segments.append((at + 4, after))
                continue
            elif kind == _STRINGS:
                raise FormatError("the workbook has two tables of shared strings, or one that breaks off")
            elif kind in _GLOBALS:
                if size < 2:
                    raise _short("Workbook")
            elif at and kind != _END:
                self._dropped.append(at)
            last = kind
            if kind not in counts:
                continue
            counts[kind] += 1
            if size < {_SHEET: 7, _STYLE: 16}.get(kind, 2):
                raise _short("Workbook")
            if (kind == _FORMAT and size > _LONGEST_FORMAT) or counts[_FORMAT] > _MOST_FORMATS:
                raise FormatError(f"more than {_MOST_FORMATS} formats, or one of {size} bytes", hint=SAVE_ANEW)
            if counts[_STYLE] > _MOST_STYLES or counts[_SHEET] > _MOST_STYLES:
                raise FormatError(f"more than {_MOST_STYLES} styles or sheets", hint=SAVE_ANEW)
            if kind == _SHEET and self._stream[at + 9] == _WORKSHEET:
                self._check_text(at + 10, after, "Workbook", short=True)
                starts.append(_U32.unpack_from(self._stream, at + 4)[0])
        if segments:
            claimed = _U32.unpack_from(self._stream, segments[0][0] - 4)[0]
            self._tally.lengths = _string_lengths(self._stream, segments, claimed)
        return after, starts

    def _check_text(self, at: int, after: int, location: str, *, short: bool = False) -> None:
        """Refuse a text that is longer than its record, which xlrd would cut.

        `at`: the byte where the number of its characters stands. `after`: the byte after the record. `short`: whether
        the number has one byte; otherwise it has two.
        """
        count = self._stream[at] if short else _U16.unpack_from(self._stream, at)[0]
        start = at + (1 if short else 2)
        if self.version == 0x0600 and count:
            count, start = count << (start < after and self._stream[start] & _WIDE), start + 1
        if start + count > after:
            raise FormatError(f"a text of {count} bytes, of which the record has {after - start}", location=location)

    def _walk_sheet(self, start: int) -> tuple[int, Sheet97]:
        """Return the byte after a sheet, and what its records tell."""
        sheet, stream, refer = Sheet97(), self._stream, self._tally.refer
        constants: set[int] = set()
        shared: list[tuple[int, int]] = []  # cells that say no more than which other cell holds their formula
        place = last = -1
        cells, after = 0, start
        for kind, at, size in self._records(start):
            after = at + 4 + size
            if kind not in _LEAST:
                if at == start:
                    if kind not in BEGINS:
                        raise FormatError(f"no sheet begins at byte {start}")
                elif kind != _END and not (kind == _CONTINUE and last == _RESULT):
                    self._dropped.append(at)
                continue
            last = kind
            if size < _LEAST[kind]:
                raise _short("Workbook")
            if kind == _PACKED_ROW:
                cells += (size - 6) // 6
            elif kind in _CELLS:
                cells += 1
            if kind in _LABELS:
                self._check_text(at + 10, after, cell_address(*_HEAD.unpack_from(stream, at + 4)))
            elif kind == _SHARED:
                refer(_U32.unpack_from(stream, at + 10)[0], *_HEAD.unpack_from(stream, at + 4))
            elif kind == _FORMULA:
                place = place_of(*_HEAD.unpack_from(stream, at + 4))
                length = _U16.unpack_from(stream, at + 24)[0] if size >= 22 else 0
                if not _TRUTH.fullmatch(stream, at + 10, at + 18):
                    sheet.formulas.append(place)
                elif length == 5 and size >= 27 and stream[at + 26] == 1:
                    shared.append((place, place_of(*_HEAD.unpack_from(stream, at + 27))))
                elif length > _SHORT_FORMULA:
                    sheet.formulas.append(place)
            elif kind == _SHARED_FORMULA and size >= 10 and _U16.unpack_from(stream, at + 12)[0] <= _SHORT_FORMULA:
                constants.add(place)
            elif kind == _RESULT and place < 0:
                raise FormatError("the text of a formula stands before all formulas")
        self._tally.add(0, cells, "Workbook")
        sheet.cells = cells
        sheet.formulas += [cell for cell, of in shared if of not in constants]
        return after, sheet


def _string_lengths(stream: bytes, segments: Sequence[tuple[int, int]], claimed: int) -> list[int]:
    """Return the bytes of each shared string of an .xls in UTF-8, at most (MS-XLS 2.4.265, 2.5.293).

    `segments`: the first byte of the strings in each record, and the byte after the record. `claimed`: the number of
    strings that the table says it has.

    Raises:
        FormatError: the table has too many strings, or fewer than it says.
    """
    if claimed > _MOST_STRINGS:
        raise FormatError(f"a table of {claimed:,} shared strings", hint=SAVE_ANEW)
    lengths: list[int] = []
    index, runs = 0, 0
    at, end = segments[0]
    try:
        while len(lengths) < claimed:
            count, flags = _U16.unpack_from(stream, at)[0], stream[at + 2]
            if at + 3 > end:
                raise IndexError
            at += 3
            after = 0  # bytes of fonts and phonetics after the characters
            if flags & _RICH:
                fonts = _U16.unpack_from(stream, at)[0]
                runs, after, at = runs + fonts, 4 * fonts, at + 2
            if flags & _EXTENDED:
                after, at = after + _U32.unpack_from(stream, at)[0], at + 4
            left, long = count, 2
            while left:
                width, long = (2, 3) if flags & _WIDE else (1, long)
                got = min(left, max(end - at, 0) // width)
                left, at = left - got, at + got * width
                if left:
                    index += 1
                    at, end = segments[index]
                    flags, at = stream[at], at + 1
            while after > end - at:
                after -= end - at
                index += 1
                at, end = segments[index]
            at += after
            lengths.append(count * long)
            if at == end and index + 1 < len(segments):
                index += 1
                at, end = segments[index]
    except (IndexError, struct.error):
        reason = f"the table of {claimed} shared strings breaks off after {len(lengths)} of them"
        raise FormatError(reason, location="Workbook") from None
    if runs > _MOST_RUNS:
        raise FormatError(f"more than {_MOST_RUNS:,} changes of the font in shared strings", hint=SAVE_ANEW)
    return lengths


def _short(location: str) -> FormatError:
    return FormatError("a record is shorter than its kind", location=location)


# .xlsb: parts of records ------------------------------------------------------------------------------------------

_ROW, _END_OF_CELLS, _ITEM = 0, 146, 19
_ERROR, _STRING, _SHARED_TEXT, _STRING_RESULT, _ERROR_RESULT, _RICH_TEXT = 3, 6, 7, 8, 11, 62
_NUMBERS = (2, 5, 9)  # packed, double, double of a formula
_LEAST_OF = {2: 12, 3: 9, 4: 9, 5: 16, 6: 12, 7: 12, 8: 12, 9: 16, 10: 9, 11: 9, _RICH_TEXT: 13}
_BOOLEAN_RESULT = 10
_BLANK, _SHORT, _SHORTER = 1, range(12, 19), 11  # SheetJS writes cells without a column, whose kinds are 11 more
NO_TEXT = 0xFFFFFFFF  # in the place of the count of characters


def make_record(kind: int, content: bytes = b"") -> bytes:
    """Return a record of .xlsb."""
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size, length = b"", len(content)
    while length >= 128:
        size, length = size + bytes([length & 0x7F | 0x80]), length >> 7
    return head + size + bytes([length]) + content


def iter_records(part: bytes, location: str, tally: Tally) -> Iterator[tuple[int, int, int]]:
    """Yield the kind, the first byte of the content and the byte after it, of each record of a part.

    Raises:
        FormatError: the part breaks off within a record, or there are too many records.
    """
    at, end, count = 0, len(part), 0
    try:
        while at < end:
            kind, at = part[at], at + 1
            if kind & 0x80:
                kind, at = kind & 0x7F | (part[at] & 0x7F) << 7, at + 1
            size = part[at]
            at += 1
            if size & 0x80:
                size &= 0x7F
                for shift in (7, 14, 21):
                    more, at = part[at], at + 1
                    size |= (more & 0x7F) << shift
                    if not more & 0x80:
                        break
            after = at + size
            if after > end:
                raise FormatError(f"the part breaks off within a record of {size} bytes", location=location)
            count += 1
            if not count & 0xFFFF:
                tally.add(count, 0, location)
                count = 0
            yield kind, at, after
            at = after
    except IndexError:
        raise FormatError("the part breaks off within a record", location=location) from None
    tally.add(count, 0, location)


def text_end(part: bytes, at: int, after: int, location: str) -> int:
    """Return the byte after the text that begins at a byte of a record.

    Raises:
        FormatError: the text goes on beyond the record, whose last byte stands before `after`.
    """
    if at + 4 > after:
        raise _short(location)
    count = _U32.unpack_from(part, at)[0]
    end = at + 4 + (0 if count == NO_TEXT else 2 * count)
    if end > after:
        raise FormatError(f"a text of {count} characters in {after - at} bytes of a record", location=location)
    return end


@dataclass
class LegacySheet:
    """What the records of a sheet of .xlsb tell.

    Attributes:
        content: of a part with the same cells and nothing else; empty where the sheet has no cells.
        faults: the codes of errors, by their places.
        formulas: the places of cells that are formulas.
        shown: the kinds that formats give numbers, where they show dates or durations, by their places.
    """

    content: bytes = b""
    faults: dict[int, int] = field(default_factory=dict)
    formulas: list[int] = field(default_factory=list)
    shown: dict[int, int] = field(default_factory=dict)


def look_at_strings(part: bytes, location: str, tally: Tally) -> bytes:
    """Return a part with the shared strings of another one, whose lengths are noted in the tally.

    Raises:
        FormatError: the part is damaged, or has too many strings.
    """
    lengths: list[int] = []
    items: list[bytes] = []
    for kind, at, after in iter_records(part, location, tally):
        if kind == _ITEM:
            end = text_end(part, at + 1, after, location)
            text = part[at + 5 : end]
            lengths.append(len(text.decode("utf-16-le", "replace").encode()))
            items.append(make_record(_ITEM, bytes(1) + _U32.pack(len(text) // 2) + text))
            if len(lengths) > _MOST_STRINGS:
                raise FormatError(f"more than {_MOST_STRINGS:,} shared strings", location=location, hint=SAVE_ANEW)
    tally.lengths = lengths
    return make_record(159, _PLACE.pack(len(items), len(items))) + b"".join(items) + make_record(160)


def look_at_sheet(part: bytes, location: str, kinds_of_styles: Sequence[int], tally: Tally) -> LegacySheet:
    """Return what the records of a sheet tell.

    `kinds_of_styles`: what each style shows numbers as; the last one stands for all styles that follow.

    Raises:
        FormatError: a record is damaged, a cell stands twice, beyond the sheet or before another one, or there are too
            many cells.
    """
    sheet = LegacySheet()
    row, last, cells, last_style = 0, -1, 0, len(kinds_of_styles) - 1
    column = -1
    copied, ended, end = -1, 0, 0  # bytes: from which on to copy, after the last record, after the last cell
    top, bottom, left, right = -1, 0, MOST_COLUMNS, -1
    pieces: list[bytes] = []
    for kind, at, after in iter_records(part, location, tally):
        head, ended = ended, after
        if kind == _END_OF_CELLS:
            break
        if kind == _ROW:
            if after - at < 4:
                raise _short(location)
            row, column = _U32.unpack_from(part, at)[0], -1
            copied = head if copied < 0 else copied
            continue
        cell, start, stop, is_short = part, at, after, kind in _SHORT
        if is_short:  # the cell stands to the right of the one before, blank or not
            cell, start, kind = _U32.pack(column + 1) + part[at:after], 0, kind - _SHORTER
            stop = len(cell)
        least = _LEAST_OF.get(kind)
        if least is None:
            column = _U32.unpack_from(cell, start)[0] if kind == _BLANK and stop - start >= 4 else column
            continue
        if stop - start < least:
            raise _short(location)
        column, style = _PLACE.unpack_from(cell, start)
        if column >= MOST_COLUMNS or row >= MOST_ROWS:
            raise FormatError(
                f"a cell beyond the {MOST_ROWS} rows and {MOST_COLUMNS} columns that a sheet has",
                location=cell_address(row, column),
            )
        place = place_of(row, column)
        if place <= last:
            reason = "the cell comes twice in the sheet, or after a later one"
            raise FormatError(reason, location=cell_address(row, column))
        last, cells, end, bottom = place, cells + 1, after, row
        copied, top = head if copied < 0 else copied, row if top < 0 else top
        left, right = min(left, column), max(right, column)
        if kind == _SHARED_TEXT:
            tally.refer(_U32.unpack_from(cell, start + 8)[0], row, column)
        elif kind in _NUMBERS:
            shown = kinds_of_styles[min(style & 0xFFFFFF, last_style)]
            if shown != NUMBER:
                sheet.shown[place] = shown
        elif kind in (_ERROR, _ERROR_RESULT):
            sheet.faults[place] = cell[start + 8]
        elif kind in (_STRING, _STRING_RESULT):
            tally.hold(3 * (text_end(cell, start + 8, stop, cell_address(row, column)) - start - 12) // 2)
        elif kind == _RICH_TEXT:  # which calamine passes over: here it loses its fonts
            done = text_end(part, at + 9, after, cell_address(row, column))
            tally.hold(3 * (done - at - 13) // 2)
            pieces += [part[copied:head], make_record(_STRING, part[at : at + 8] + part[at + 9 : done])]
            copied = after
        if is_short:  # which calamine passes over, too
            pieces += [part[copied:head], make_record(kind, cell)]
            copied = after
        if _STRING_RESULT <= kind <= _ERROR_RESULT and not _is_constant(part, kind, at, after):
            sheet.formulas.append(place)
    tally.add(0, cells, location)
    if cells:
        if (bottom + 1 - top) * (right + 1 - left) > _MOST_AREA:
            reason = f"cells in a range of {bottom + 1 - top:,} rows and {right + 1 - left:,} columns"
            raise FormatError(reason, location=location, hint=SAVE_ANEW)
        head_of = make_record(129) + make_record(148, struct.pack("<4I", top, bottom, left, right)) + make_record(145)
        sheet.content = b"".join([head_of, *pieces, part[copied:end], make_record(146), make_record(130)])
    return sheet


def _is_constant(part: bytes, kind: int, at: int, after: int) -> bool:
    """Return whether a formula is as short as TRUE() and FALSE(), shorter than any reference."""
    short = after - at < 15 or _U32.unpack_from(part, at + 11)[0] <= _SHORT_FORMULA
    return kind == _BOOLEAN_RESULT and short
