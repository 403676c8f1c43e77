"""Old workbooks: `.xls` of Excel 5 to 2003, read by xlrd, and `.xlsb`, read by calamine: containers.

Both libraries trust what a file claims. So no byte reaches them before its records were walked here: each is within its
part and as long as its kind, cells, texts and styles are counted, no two sheets share bytes. Records that hold neither
a value nor its format never reach them. Whatever a library raises all the same is a `FormatError`. docs/formats.md says
what each of the two keeps.

Sources: MS-XLS 2.1.4 (records), 2.4 (each of them); MS-XLSB 2.1.4, 2.4.
"""

from __future__ import annotations

import io
import struct
import zipfile
from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from ....columns import cell_address
from ....errors import FormatError, MissingDependencyError, SheetArrayError, is_panic
from ...workbooks import MOST_COLUMNS, MOST_ROWS
from ..package.parts import Package
from ..package.relations import Relations
from .book import Formats, kind_of_format
from .cells import (
    BOOLEAN,
    FAULT,
    LARGE,
    NUMBER,
    SERIAL,
    TEXT,
    CellRun,
    Kinds,
    Titles,
    WorkbookReader,
    are_exact_doubles,
    encrypted_error,
    missing_text_error,
    row_width,
)

_SAVE_ANEW = "open it in a spreadsheet program, and save it as .xlsx"
_MOST_RECORDS, _MOST_CELLS = 3_000_000, 2_000_000  # of a workbook
_MOST_STRINGS, _MOST_TEXT = 1_000_000, 2**26  # shared strings; bytes of text in cells
_MOST_RUNS = 2_000_000  # changes of the font within shared strings
_MOST_STYLES, _MOST_FORMATS, _LONGEST_FORMAT = 2**14, 2**12, 2**11  # of a workbook; bytes
_MOST_AREA = 2**24  # rows times columns of the range of a sheet in .xlsb that has cells
_MOST_BYTES = 2**27  # of a part, and of all worksheets
_ROWS = 2**12  # of a sheet that make a run
_NONE = 0  # the kind of a blank
_ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}
_U16, _U32, _HEAD, _PLACE = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<2H"), struct.Struct("<2I")
Row = tuple[int, int, Kinds, Sequence[Any]]  # its number, its first column, and the kinds and values of its cells


class _LegacyBook(WorkbookReader):
    """A workbook that a library reads; `cells.WorkbookReader` says what each method is for."""

    def __init__(self) -> None:
        self._known: tuple[str, list[CellRun]] | None = None  # of the sheet that was last read to its end

    @abstractmethod
    def _read_rows(self, title: str) -> Iterator[Row]:
        """Yield the rows of a worksheet."""

    def cells(self, title: str, *, numeric: bool, first: int = 0) -> Generator[CellRun]:  # noqa: ARG002  (all come as text)
        """Yield the cells of a worksheet."""
        if self._known is not None and self._known[0] == title:
            yield from self._known[1]
            return
        runs, rows = [], self._read_rows(title)
        while some := list(islice(rows, _ROWS)):
            if len(run := _make_run(some)):
                runs.append(run)
                yield run
        self._known = title, runs


def _make_run(lines: Sequence[Row]) -> CellRun:
    """Return the cells of some rows that are no blanks, as a run; the value of an error is its code."""
    import polars as pl

    widths = [len(kinds) for _, _, kinds, _ in lines]
    rows = np.repeat(np.array([row for row, _, _, _ in lines], np.int64), widths)
    columns = np.concatenate([np.arange(first, first + len(kinds)) for _, first, kinds, _ in lines])
    kinds: Kinds = np.concatenate([kinds for _, _, kinds, _ in lines])
    kept = np.flatnonzero(kinds != _NONE)
    rows, columns, kinds = rows[kept], columns[kept], kinds[kept]
    every = [value for _, _, _, values in lines for value in values]
    values = [every[place] for place in kept.tolist()]
    textual = np.isin(kinds, (TEXT, BOOLEAN, FAULT))
    places = np.flatnonzero(textual).tolist()
    texts = [_text_of(kind, values[place]) for place, kind in zip(places, kinds[textual].tolist(), strict=True)]
    for place in places:
        values[place] = 0.0
    numbers = np.array(values, np.float64)
    exact = are_exact_doubles(numbers)
    kinds[~exact & (kinds == NUMBER)] = LARGE
    shortest = pl.Series(numbers).cast(pl.String)
    made = shortest.str.strip_suffix(".0").zip_with(pl.Series(exact), shortest)
    if places:
        made = made.scatter(places, pl.Series(texts, dtype=pl.String))
    return CellRun(rows, columns, kinds, made, row_width(rows, columns) if len(rows) else 0)


def _text_of(kind: int, value: Any) -> str:
    number = 0 if kind == TEXT else int(value)
    return str(value) if kind == TEXT else str(number) if kind == BOOLEAN else _ERRORS.get(number, f"of code {number}")


@contextmanager
def _reading(library: str, location: str) -> Iterator[None]:
    """Make a FormatError of whatever a library raises while it reads, panics of Rust among them."""
    try:
        yield
    except SheetArrayError:
        raise
    except ImportError as error:
        raise MissingDependencyError(
            f"old workbooks (.xls, .xlsb) need {library}: pip install 'sheetarray[legacy]'", name=error.name
        ) from error
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        reason = f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")
        message = f"the workbook is damaged: {library} cannot read it ({reason:.200})"
        raise FormatError(message, location=location, hint=_SAVE_ANEW) from error


@dataclass
class _Tally:
    """What a workbook holds, counted while its records are walked.

    Attributes:
        lengths: the bytes of each shared string in UTF-8, or some more.
    """

    lengths: Sequence[int] = ()
    _records: int = 0
    _cells: int = 0
    _text: int = 0

    def add(self, records: int, cells: int, location: str) -> None:
        """Count records, and the cells in them; too many of them are refused."""
        self._records += records
        self._cells += cells
        if self._cells > _MOST_CELLS or self._records > _MOST_RECORDS:
            reason = f"more than {_MOST_CELLS:,} cells or {_MOST_RECORDS:,} records in a workbook of this kind"
            raise FormatError(reason, location=location, hint=_SAVE_ANEW)

    def refer(self, number: int, row: int, column: int) -> None:
        """Count the bytes of the shared string to which a cell refers; there must be one."""
        if not 0 <= number < len(self.lengths):
            raise missing_text_error(number, len(self.lengths), cell_address(row, column))
        self.hold(self.lengths[number])

    def hold(self, count: int) -> None:
        """Count bytes of text that cells hold; too many of them are refused."""
        self._text += count
        if self._text > _MOST_TEXT:
            raise FormatError(
                f"cells hold more than {_MOST_TEXT:,} bytes of text",
                hint="let a few cells hold the long texts, and the others short ones",
            )


def _short(location: str) -> FormatError:
    return FormatError("a record is too short for its kind", location=location)


# .xls: one stream of records --------------------------------------------------------------------------------------

_BEGINS = frozenset((0x0809, 0x0409, 0x0209, 0x0009))
_END, _CONTINUE, _ENCRYPTED, _CODE_PAGE, _DATE_MODE = 0x000A, 0x003C, 0x002F, 0x0042, 0x0022
_SHEET97, _FORMAT97, _STYLE97, _STRINGS = 0x0085, 0x041E, 0x00E0, 0x00FC
_SHARED, _PACKED_ROW, _RESULT = 0x00FD, 0x00BD, 0x0207
_LABELS = (0x0204, 0x00D6)  # texts that stand in the cell
_CELLS = {0x0203: 14, 0x027E: 10, _PACKED_ROW: 6, _SHARED: 10, 0x0204: 8, 0x00D6: 8, 0x0205: 8, 0x0006: 14}
_OF_FORMULAS = {_RESULT: 2, 0x04BC: 0, 0x0221: 0, 0x0236: 0}  # the text of a result; formulas of several cells
_OF_SHEETS = _CELLS | _OF_FORMULAS  # the records of a sheet that are read, and the bytes that each has at least
_OF_GLOBALS = {_CODE_PAGE: 2, _DATE_MODE: 2, _SHEET97: 7, _FORMAT97: 2, _STYLE97: 16, _STRINGS: 8}
_MOST_OF = {_SHEET97: _MOST_STYLES, _STYLE97: _MOST_STYLES, _FORMAT97: _MOST_FORMATS}
_NO_KIND = 0xFF  # both bytes of the kind of a record that is dropped
_WORKSHEET = 0
_WIDE, _EXTENDED, _RICH = 0x01, 0x04, 0x08  # flags of a text
_KINDS97 = np.array([_NONE, TEXT, NUMBER, SERIAL, BOOLEAN, FAULT, _NONE], np.uint8)  # by the kinds of xlrd


class Excel97Book(_LegacyBook):
    """A workbook of Excel 5 to 2003, read by xlrd.

    `stream`: the bytes of the stream `Workbook` or `Book` in the compound file.

    Raises:
        FormatError: the workbook is of another version, encrypted or damaged, or holds too much.
        MissingDependencyError: xlrd is not installed.
    """

    def __init__(self, stream: bytes) -> None:
        super().__init__()
        looked = _Stream97(stream)
        self.max_rows = 65_536 if looked.version == 0x0600 else 16_384
        self._shown: dict[int, int] = {}  # the kinds of styles that xlrd takes for those of dates
        with _reading("xlrd", "Workbook"):
            import xlrd  # type: ignore[import-untyped]

            # With the formats, since without them a duration is a date; rows end with their last cell
            how = {"formatting_info": True, "on_demand": True, "ragged_rows": True, "logfile": io.StringIO()}
            self._book = xlrd.open_workbook(file_contents=looked.content(), **how)
            names = self._book.sheet_names()
        listed = Titles()
        for number, title in enumerate(names):
            listed.add(title, str(number))
        self._counts = dict(zip(listed.places, looked.counts, strict=True))
        self.titles = list(listed.places)
        self.from_1904 = self._book.datemode == 1

    def _read_rows(self, title: str) -> Iterator[Row]:
        number, found = self.titles.index(title), 0
        with _reading("xlrd", f"sheet {title}"):
            sheet = self._book.sheet_by_index(number)
            self._book.unload_sheet(number)
        for row in range(sheet.nrows):
            kinds: Kinds = _KINDS97[np.frombuffer(sheet.row_types(row), np.uint8)]
            for column in np.flatnonzero(kinds == SERIAL).tolist():
                kinds[column] = self._kind_of_style(sheet.cell_xf_index(row, column))
            found += int(np.count_nonzero(kinds))
            yield row, 0, kinds, sheet.row_values(row)
        if found != self._counts[title]:
            reason = f"a cell occurs twice: {self._counts[title]} cells of the sheet stand at {found} places"
            raise FormatError(reason, location=f"sheet {title}")

    def _kind_of_style(self, style: int) -> int:
        """Return what a style that xlrd takes for one of dates shows: SERIAL or DURATION."""
        if style not in self._shown:
            code = self._book.format_map[self._book.xf_list[style].format_key].format_str
            self._shown[style] = max(kind_of_format(code or ""), SERIAL)  # East Asian dates have no code
        return self._shown[style]


class _Stream97:
    """The stream of a workbook of Excel 5 to 2003, bounded.

    Attributes:
        version: 0x0500 for Excel 5 and 95, 0x0600 since Excel 97.
        counts: the number of cells of each worksheet, in the order of their tabs.

    Raises:
        FormatError: the workbook is encrypted, damaged, of another version, or holds too much.
    """

    def __init__(self, stream: bytes) -> None:
        self._stream, self._tally = stream, _Tally()
        self._dropped: list[int] = []  # bytes at which records begin
        kind, size = _HEAD.unpack_from(stream) if len(stream) >= 6 else (0, 0)
        self.version = _U16.unpack_from(stream, 4)[0] if kind in _BEGINS and size >= 2 else 0
        if self.version not in (0x0500, 0x0600):
            raise FormatError("a workbook of a version before Excel 5, or a damaged one", hint="save it as .xlsx first")
        end, starts = self._walk_globals()
        counts = {}
        for start in sorted(starts):
            if start < end:
                raise FormatError("two sheets of the workbook overlap")
            end, counts[start] = self._walk_sheet(start)
        self.counts = [counts[start] for start in starts]

    def content(self) -> bytes:
        """Return the same bytes, in which records that are not read have a kind that no program knows."""
        data = np.frombuffer(bytearray(self._stream), np.uint8)
        dropped = np.array(self._dropped, np.int64)
        data[dropped] = data[dropped + 1] = _NO_KIND
        return data.tobytes()

    def _records(self, at: int) -> Iterator[tuple[int, int, int]]:
        """Yield the kind, the first byte and the size of each record, up to the one that ends what begins at a byte."""
        stream, end, depth, count = self._stream, len(self._stream), 0, 0
        while at + 4 <= end:
            kind, size = _HEAD.unpack_from(stream, at)
            after = at + 4 + size
            if after > end:
                raise FormatError(f"the workbook breaks off within a record at byte {at + 4}")
            count += 1  # of those that the tally does not have yet
            if kind in _BEGINS:
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
        counts = dict.fromkeys(_MOST_OF, 0)
        last = after = 0
        for kind, at, size in self._records(0):
            after = at + 4 + size
            if kind == _ENCRYPTED:
                raise encrypted_error()
            if kind == _CONTINUE and last == _STRINGS:
                segments.append((at + 4, after))
                continue
            last = kind
            if kind not in _OF_GLOBALS:
                self._dropped += [at] if at and kind != _END else []
                continue
            if size < _OF_GLOBALS[kind]:
                raise _short("Workbook")
            if kind in counts:
                counts[kind] += 1
                if counts[kind] > _MOST_OF[kind] or (kind == _FORMAT97 and size > _LONGEST_FORMAT):
                    raise FormatError("too many styles, formats or sheets, or too long ones", hint=_SAVE_ANEW)
            if kind == _STRINGS:
                if segments:
                    raise FormatError("the workbook has two tables of shared strings")
                segments = [(at + 12, after)]
            elif kind == _SHEET97 and self._stream[at + 9] == _WORKSHEET:
                self._check_text(at + 10, after, "Workbook", short=True)
                starts.append(_U32.unpack_from(self._stream, at + 4)[0])
        if segments:
            claimed = _U32.unpack_from(self._stream, segments[0][0] - 4)[0]
            self._tally.lengths = _string_lengths(self._stream, segments, claimed)
        return after, starts

    def _check_text(self, at: int, after: int, location: str, *, short: bool = False) -> None:
        """Refuse a text that is longer than its record, which xlrd would cut; it begins at `at` with its length.

        `after`: the byte after the record. `short`: whether the length has one byte; otherwise it has two.
        """
        count = self._stream[at] if short else _U16.unpack_from(self._stream, at)[0]
        start = at + (1 if short else 2)
        if self.version == 0x0600 and count:
            count, start = count << (start < after and self._stream[start] & _WIDE), start + 1
        if start + count > after:
            raise FormatError(
                f"a text claims {count} bytes, but the record has only {after - start}", location=location
            )

    def _walk_sheet(self, start: int) -> tuple[int, int]:
        """Return the byte after a sheet, and the number of its cells that hold a value."""
        stream, cells, last, after = self._stream, 0, -1, start
        for kind, at, size in self._records(start):
            after = at + 4 + size
            if at == start:
                if kind not in _BEGINS:
                    raise FormatError(f"no sheet begins at byte {start}")
                continue
            if kind not in _OF_SHEETS:
                if kind != _END and not (kind == _CONTINUE and last == _RESULT):
                    self._dropped.append(at)
                continue
            last = kind
            if size < _OF_SHEETS[kind]:
                raise _short("Workbook")
            if kind in _CELLS:
                cells += (size - 6) // 6 if kind == _PACKED_ROW else 1
            if kind in _LABELS:
                self._check_text(at + 10, after, cell_address(*_HEAD.unpack_from(stream, at + 4)))
            elif kind == _SHARED:
                self._tally.refer(_U32.unpack_from(stream, at + 10)[0], *_HEAD.unpack_from(stream, at + 4))
        self._tally.add(0, cells, "Workbook")
        return after, cells


def _string_lengths(stream: bytes, segments: Sequence[tuple[int, int]], claimed: int) -> list[int]:
    """Return the bytes of each shared string of an .xls in UTF-8, at most (MS-XLS 2.4.265, 2.5.293).

    `segments`: the first byte of the strings in each record, and the byte after the record. `claimed`: the number of
    strings that the table says it has.
    """
    if claimed > _MOST_STRINGS:
        raise FormatError(
            f"the table claims {claimed:,} shared strings; at most {_MOST_STRINGS:,} are read", hint=_SAVE_ANEW
        )
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
        raise FormatError(f"more than {_MOST_RUNS:,} changes of the font in shared strings", hint=_SAVE_ANEW)
    return lengths


# .xlsb: parts of records ------------------------------------------------------------------------------------------

_ROW, _END_OF_CELLS, _ITEM = 0, 146, 19
_SETTINGS, _SHEET, _FORMAT, _STYLE, _BEGIN_STYLES, _END_STYLES = 153, 156, 44, 47, 617, 618
_ERROR, _DOUBLE, _STRING, _SHARED_TEXT, _STRING_RESULT, _ERROR_RESULT, _RICH_TEXT = 3, 5, 6, 7, 8, 11, 62
_NUMBERS = (2, _DOUBLE, 9)  # packed, double, double of a formula
_LEAST_OF = {2: 12, 3: 9, 4: 9, 5: 16, 6: 12, 7: 12, 8: 12, 9: 16, 10: 9, 11: 9, _RICH_TEXT: 13}
_BLANK, _SHORT, _SHORTER = 1, range(12, 19), 11  # SheetJS writes cells without a column, whose kinds are 11 more
_NO_TEXT = 0xFFFFFFFF  # in the place of the count of characters
_KINDS = {float: NUMBER, int: NUMBER, bool: BOOLEAN, str: TEXT}
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


class XlsbBook(_LegacyBook):
    """A binary workbook in a zip package, read by calamine.

    Raises:
        FormatError: the part is not a workbook, or a damaged one.
    """

    package: Package

    def __init__(self, package: Package, part: str) -> None:
        super().__init__()
        self.package, self._part = package, part
        self._tally = _Tally()
        self._relations = Relations(package, part)
        targets = {relation.id: relation for relation in self._relations.entries}
        titles = Titles(part)
        for kind, content in self._records(part):
            if kind == _SETTINGS and content:
                self.from_1904 = bool(content[0] & 1)
            elif kind == _SHEET:
                id_, named = _text_at(content, 8, part)
                titles.add_related(_text_at(content, named, part)[0], id_, targets)
        self._parts = titles.places
        self.titles = list(self._parts)

    def _records(self, part: str | None) -> Iterator[tuple[int, bytes]]:
        """Yield the records of a part; nothing if the part does not exist."""
        if part is not None:
            yield from _iter_records(self.package.read(part, limit=_MOST_BYTES), part, self._tally)

    def _read_kinds_of_styles(self) -> list[int]:
        """Return what each style shows numbers as; the last one stands for all others."""
        codes: dict[int, str] = {}
        used: list[int] = []
        part = self._relations.present_target("styles")
        among_styles = False
        for kind, content in self._records(part):
            if kind in (_BEGIN_STYLES, _END_STYLES):
                among_styles = kind == _BEGIN_STYLES
            elif kind == _FORMAT or (kind == _STYLE and among_styles):
                if len(content) < 4:
                    raise _short(part or "")
                if kind == _STYLE:
                    used.append(_U16.unpack_from(content, 2)[0])
                else:
                    codes[_U16.unpack_from(content)[0]] = _text_at(content, 2, part or "")[0]
        styles = np.arange(len(used) + 1)
        return Formats(used, codes).kinds_as_shown(np.full(len(styles), NUMBER, np.uint8), styles).tolist()

    @cached_property
    def _opened(self) -> tuple[Any, dict[str, tuple[bytes, dict[int, dict[int, int]]]]]:
        """The workbook as calamine has it, and what `_look_at_sheet` returns for each sheet."""
        strings = self._look_at_strings()
        kinds, looked, total = self._read_kinds_of_styles(), {}, 0
        for title, part in self._parts.items():
            total += self.package.member(part).size if part in self.package else 0
            if total > _MOST_BYTES:
                raise FormatError(f"more than {_MOST_BYTES:,} bytes of cells", location=part, hint=_SAVE_ANEW)
            looked[title] = _look_at_sheet(self._records(part), part, kinds, self._tally)
        with _reading("python-calamine", self._part):
            import python_calamine

            made = _bare_package([content for content, _ in looked.values()], strings)
            return python_calamine.load_workbook(io.BytesIO(made)), looked

    def _look_at_strings(self) -> bytes:
        """Return a part with the shared strings, whose lengths are noted in the tally."""
        lengths: list[int] = []
        items: list[bytes] = []
        part = self._relations.present_target("sharedStrings")
        for kind, content in self._records(part):
            if kind == _ITEM:
                text, end = _text_at(content, 1, part or "")
                lengths.append(len(text.encode()))
                items.append(_make_record(_ITEM, bytes(1) + _U32.pack((end - 5) // 2) + content[5:end]))
                if len(lengths) > _MOST_STRINGS:
                    raise FormatError(f"more than {_MOST_STRINGS:,} shared strings", location=part, hint=_SAVE_ANEW)
        self._tally.lengths = lengths
        return _make_record(159, _PLACE.pack(len(items), len(items))) + b"".join(items) + _make_record(160)

    def _read_rows(self, title: str) -> Iterator[Row]:
        book, sheets = self._opened
        content, marked = sheets[title]
        if not content:
            return
        with _reading("python-calamine", self._parts[title]):
            sheet = book.get_sheet_by_index(self.titles.index(title))
            top, left = sheet.start
            rows = sheet.to_python(skip_empty_area=True)
            del sheet
        for row, values in enumerate(rows, top):
            kinds = np.array([_NONE if value == "" else _KINDS[type(value)] for value in values], np.uint8)
            for column, kind in marked.get(row, {}).items():
                kinds[column - left] = kind
            yield row, left, kinds, values


def _text_at(record: bytes, at: int, location: str) -> tuple[str, int]:
    """Return the text that begins at a byte of a record, and the byte after it; it must end within the record."""
    if at + 4 > len(record):
        raise _short(location)
    count = _U32.unpack_from(record, at)[0]
    end = at + 4 + (0 if count == _NO_TEXT else 2 * count)
    if end > len(record):
        raise FormatError(f"a text claims {count} characters, more than its record has", location=location)
    return record[at + 4 : end].decode("utf-16-le", "replace"), end


def _make_record(kind: int, content: bytes = b"") -> bytes:
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size, length = b"", len(content)
    while length >= 128:
        size, length = size + bytes([length & 0x7F | 0x80]), length >> 7
    return head + size + bytes([length]) + content


def _iter_records(part: bytes, location: str, tally: _Tally) -> Iterator[tuple[int, bytes]]:
    """Yield the kind and the content of each record of a part."""
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
            if at + size > end:
                raise FormatError(f"the part breaks off within a record of {size} bytes", location=location)
            count += 1
            if not count & 0xFFFF:
                tally.add(count, 0, location)
                count = 0
            yield kind, part[at : at + size]
            at += size
    except IndexError:
        raise FormatError("the part breaks off within a record", location=location) from None
    tally.add(count, 0, location)


def _look_at_sheet(
    records: Iterator[tuple[int, bytes]], location: str, kinds_of_styles: Sequence[int], tally: _Tally
) -> tuple[bytes, dict[int, dict[int, int]]]:
    """Return a part with the cells of a sheet and nothing else, and the kinds of errors, dates and durations.

    The part is empty where the sheet has no cells; the kinds stand by rows and columns. Every cell is written anew in a
    way that calamine reads: it passes over cells without a column and over text with fonts, and it gives errors as
    blanks; so these are numbers there. The last of `kinds_of_styles` stands for all styles that follow.
    """
    pieces, kinds, last_style = list[bytes](), dict[int, dict[int, int]](), len(kinds_of_styles) - 1
    row, column, cells = 0, -1, 0
    top, left, right, last = -1, MOST_COLUMNS, -1, (-1, -1)
    for kind, content in records:
        if kind == _END_OF_CELLS:
            break
        if kind == _ROW:
            if len(content) < 4:
                raise _short(location)
            row, column = _U32.unpack_from(content)[0], -1
            pieces.append(_make_record(_ROW, content))
            continue
        if kind in _SHORT:  # the cell stands to the right of the one before, blank or not
            kind, content = kind - _SHORTER, _U32.pack(column + 1) + content
        if kind not in _LEAST_OF:
            column = _U32.unpack_from(content)[0] if kind == _BLANK and len(content) >= 4 else column
            continue
        if len(content) < _LEAST_OF[kind]:
            raise _short(location)
        column, style = _PLACE.unpack_from(content)
        if column >= MOST_COLUMNS or row >= MOST_ROWS:
            reason = f"a cell beyond the {MOST_ROWS} rows and {MOST_COLUMNS} columns that a sheet has"
            raise FormatError(reason, location=cell_address(row, column))
        if (row, column) <= last:
            reason = "the cell occurs twice in the sheet, or after a later one"
            raise FormatError(reason, location=cell_address(row, column))
        last, cells, top = (row, column), cells + 1, row if top < 0 else top
        left, right = min(left, column), max(right, column)
        shown = NUMBER
        if kind == _SHARED_TEXT:
            tally.refer(_U32.unpack_from(content, 8)[0], row, column)
        elif kind in _NUMBERS:
            shown = kinds_of_styles[min(style & 0xFFFFFF, last_style)]
        elif kind in (_ERROR, _ERROR_RESULT):
            kind, shown, content = _DOUBLE, FAULT, content[:8] + struct.pack("<d", content[8])
        elif kind in (_STRING, _STRING_RESULT, _RICH_TEXT):
            start = 9 if kind == _RICH_TEXT else 8
            end = _text_at(content, start, cell_address(row, column))[1]
            tally.hold(3 * (end - start - 4) // 2)
            kind, content = _STRING, content[:8] + content[start:end]
        if shown != NUMBER:
            kinds.setdefault(row, {})[column] = shown
        pieces.append(_make_record(kind, content))
    tally.add(0, cells, location)
    if not cells:
        return b"", kinds
    height, width = last[0] + 1 - top, right + 1 - left
    if height * width > _MOST_AREA:
        reason = f"cells in a range of {height:,} rows and {width:,} columns"
        raise FormatError(reason, location=location, hint=_SAVE_ANEW)
    head = _make_record(129) + _make_record(148, struct.pack("<4I", top, last[0], left, right)) + _make_record(145)
    return b"".join([head, *pieces, _make_record(146), _make_record(130)]), kinds


def _bare_package(sheets: Sequence[bytes], strings: bytes) -> bytes:
    """Return a workbook of nothing but sheets, titled by their numbers, and shared strings."""
    listed, relations = b"", ""
    for number, _ in enumerate(sheets):
        id_ = f"r{number}"
        texts = b"".join(_U32.pack(len(text)) + text.encode("utf-16-le") for text in (id_, str(number)))
        listed += _make_record(_SHEET, _PLACE.pack(0, number + 1) + texts)
        relations += f'<Relationship Id="{id_}" Type="{_RELATION}/worksheet" Target="worksheets/{number}.bin"/>'
    members: Mapping[str, str | bytes] = {
        "xl/workbook.bin": b"".join([*map(_make_record, (131, 143)), listed, *map(_make_record, (144, 132))]),
        "xl/_rels/workbook.bin.rels": "<Relationships "
        f'xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{relations}</Relationships>',
        "xl/sharedStrings.bin": strings,
        **{f"xl/worksheets/{number}.bin": sheet for number, sheet in enumerate(sheets)},
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()
