"""Workbooks of OpenDocument (.ods): a container.

Source: OASIS OpenDocument 1.3 part 3, 9.1 (tables), 6.1 (text), 19.385 (values).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ....columns import cell_address
from ....dtypes import Positions
from ....errors import FormatError
from ....loops import scan
from ...workbooks import MOST_COLUMNS, MOST_ROWS
from ..package.package import Package
from .book import XmlBook
from .cells import (
    ALL_ROWS,
    BOOLEAN,
    DURATION,
    FAULT,
    LONGEST_TEXT,
    MOMENT,
    NUMBER,
    TEXT,
    CellRun,
    as_series,
    encrypted_error,
    row_width,
)
from .number_formats import Formats
from .parsing import part_blocks
from .raw_cells import (
    ParsedCell,
    cells_of_loop,
    cells_of_parser,
    too_many_cells_error,
)
from .references import parse_open_reference
from .shared_strings import SharedStrings
from .titles import MOST_TABLES, place_sheets
from .worksheet import SHORT
from .xml_elements import PartParser

CONTENT, MANIFEST = "content.xml", "META-INF/manifest.xml"

SPACE = "urn:oasis:names:tc:opendocument:xmlns:"
TABLE_SPACE, OFFICE_SPACE, TEXT_SPACE = f"{SPACE}table:1.0 ", f"{SPACE}office:1.0 ", f"{SPACE}text:1.0 "
_EXTENSIONS = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0 "
_USUAL = {"table": TABLE_SPACE, "office": OFFICE_SPACE, "text": TEXT_SPACE, "calcext": _EXTENSIONS}
_TABLE, _ROW = f"{TABLE_SPACE}table", f"{TABLE_SPACE}table-row"
_CELLS = (f"{TABLE_SPACE}table-cell", f"{TABLE_SPACE}covered-table-cell")
_TRUTH_VALUES = {"true": "1", "false": "0"}  # of boolean cells
_VALUES = {
    "float": (NUMBER, f"{OFFICE_SPACE}value"),
    "percentage": (NUMBER, f"{OFFICE_SPACE}value"),
    "currency": (NUMBER, f"{OFFICE_SPACE}value"),
    "boolean": (BOOLEAN, f"{OFFICE_SPACE}boolean-value"),
    "date": (MOMENT, f"{OFFICE_SPACE}date-value"),
    "time": (DURATION, f"{OFFICE_SPACE}time-value"),
    "string": (TEXT, f"{OFFICE_SPACE}string-value"),
}
_FAULT = re.compile(r"#(?:DIV/0!|N/A|NAME\?|NULL!|NUM!|REF!|VALUE!)|Err:[0-9]{3}")
_ELAPSED = re.compile(r"(-?)P(?:([0-9]+)D)?T?(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:[.,][0-9]+)?)S)?")
_COUNT = re.compile("[0-9]+")
_SPACES = "\t\n\r "
_WHITE = re.compile("[\t\n\r ]{2,}|[\t\n\r]")
_EXTERNAL = re.compile(r"'.*'#\$")  # titles of tables in which programs keep what they have read of other files
_MOST_KEPT = 2**26  # bytes of the content that are kept, and read once for all tables
_MOST_PARSED = 1_500_000  # elements that the XML parser reads beside the loop
_REPEATED_ALWAYS, _REPEATED_TIMES = 6_000_000, 64  # cells that repetition may make in all, and more for each row
_LONG_TEXT = 32  # bytes of text that count as one cell where they are repeated
_CELLS_A_RUN = 2**17  # that repetition makes at a time


class TableCells(NamedTuple):
    """Cells of a table, before they are repeated.

    Attributes:
        across: how often each cell stands in its row.
        repeats: the rows that stand several times, and how often, as pairs.
    """

    title: str
    cells: CellRun
    across: Positions
    repeats: Positions


class OdsBook(XmlBook):
    """An OpenDocument spreadsheet in a zip package; `cells.WorkbookReader` says what each method is for.

    Raises:
        FormatError: the package is no such document, or a damaged or encrypted one.
    """

    def __init__(self, package: Package) -> None:
        self.package = package
        self.strings, self.formats = SharedStrings(package, None), Formats([], {})  # each cell has its own
        self._known: dict[str, list[TableCells]] = {}  # of all tables by their titles, if they are kept
        if MANIFEST in package and b"encryption-data" in package.read(MANIFEST, limit=2**24):
            raise encrypted_error()
        self._is_kept = package.member(CONTENT).size <= _MOST_KEPT
        rows = self._rows()
        for table in self._read_tables(rows):
            if self._is_kept:
                self._known.setdefault(table.title, []).append(table)
        titles = (title for title in rows.titles if not _EXTERNAL.match(title))
        self.titles = list(place_sheets(((title, title) for title in titles), CONTENT))

    def parse_formula(self, formula: str) -> tuple[str, int, int] | None:
        """Return the sheet, row and column of a formula that is one reference, such as `=Sheet1.A1`; otherwise None."""
        return parse_open_reference(formula)

    def blocks(
        self,
        title: str,
        *,
        spans: Sequence[tuple[int, int]] = ALL_ROWS,  # noqa: ARG002  (every block has texts)
        numbers_alone: bool = False,  # noqa: ARG002  (the XML is kept)
    ) -> Generator[CellRun]:
        """Yield the cells of a table, block by block."""
        for table in self._tables(title):
            yield from _repeat_cells(table.cells, table.across, table.repeats)

    def _tables(self, title: str) -> Iterator[TableCells]:
        """Yield the cells of a table."""
        if self._is_kept:
            yield from self._known.get(title, ())
        else:
            yield from (table for table in self._read_tables(self._rows()) if table.title == title)

    def _rows(self) -> _Rows:
        return _Rows(self.package.most_cells)

    def _read_tables(self, rows: _Rows) -> Iterator[TableCells]:
        """Yield the cells of all tables, some rows at a time."""
        for batch in rows.read(part_blocks(self.package, CONTENT, SHORT), CONTENT, most=_MOST_PARSED):
            yield from batch


class _Rows(PartParser["list[TableCells]"]):
    """Takes the rows of all tables from the XML parser.

    `most_cells`: of all tables, as they are once they are repeated; text counts as two.
    """

    tag = "table:table-row"

    def __init__(self, most_cells: int) -> None:
        super().__init__()
        self._left = most_cells
        self.titles: list[str] = []  # of all tables
        self._title = ""
        self._depth = 0  # the number of open elements down to the table, while one is open; otherwise 0
        self._row, self._column, self._times = -1, 0, 1
        self._in_row = False
        self._cell: dict[str, str] | None = None
        self._text: list[str] | None = None  # of the cell's paragraphs
        self._length = 0  # characters of the text
        self._white = ""  # at its end, which may go on: the parser hands over one text in several pieces
        self._written = self._made = 0  # rows with cells of the table, and the cells that repetition makes of them
        self._batch: list[TableCells] = []
        self._cells: list[ParsedCell] = []
        self._formulas: list[tuple[int, str]] = []
        self._repeats: list[int] = []

    def prefix(self) -> str | None:
        """Return the prefix of tags: none, where the namespaces have their usual prefixes and no others."""
        for prefix, space in _USUAL.items():
            prefixes_declared = [other for other, declared in self._spaces.items() if f"{declared} " == space]
            if prefixes_declared != [prefix] and (prefixes_declared or prefix != "calcext" or prefix in self._spaces):
                return None
        return ""

    def are_between(self) -> bool:
        return self._depth > 0 and not self._in_row

    def scan(self, text: bytes, start: int, prefix: bytes, prefixes: bytes) -> tuple[list[TableCells], int]:
        """Return the cells of whole rows by the compiled loop, and the byte after the last row."""
        end, after, cells, texts, formulas, repeats = scan.scan_table_rows(
            text, start, prefix, prefixes, self._row + 1, MOST_ROWS
        )
        self._row = after - 1
        raw = _without_elapsed(cells_of_loop(cells, texts, formulas, end - start, has_escapes=False))
        return self._accept(raw, np.frombuffer(repeats, np.int64)), end

    def _accept(self, cells: CellRun, repeats: Positions) -> list[TableCells]:
        """Return cells of the open table, after counting how many cells repetition makes."""
        if not len(cells):
            return []
        across = np.ones(len(cells), np.int64) if cells.styles is None else cells.styles
        times = across * _times_of(cells.rows, repeats)
        repeated = np.flatnonzero(times > 1)
        self._made += int(times.sum())
        if len(repeated):
            lengths = as_series(cells.written(repeated)).str.len_bytes().fill_null(0).to_numpy()
            self._made += int(((times[repeated] - 1) * (lengths // _LONG_TEXT)).sum())
        self._written += int(np.count_nonzero(np.diff(cells.rows, prepend=-1)))
        if self._made > _REPEATED_ALWAYS + _REPEATED_TIMES * self._written:
            message = (
                f"{self._written} rows repeat to {self._made} cells, too many to read (a long text counts as several)"
            )
            raise FormatError(message, location=CONTENT)
        self._left -= cells.weigh(times)
        if self._left < 0:
            raise too_many_cells_error(CONTENT)
        return [TableCells(self._title, replace(cells, styles=None), across, repeats)]

    def take(self) -> list[TableCells] | None:
        if not self._in_row:
            self._flush()
        batch, self._batch = self._batch, []
        return batch or None

    def _flush(self) -> None:
        if self._cells:
            cells = cells_of_parser(self._cells, self._formulas)
            self._batch += self._accept(cells, np.array(self._repeats, np.int64))
        self._cells, self._formulas, self._repeats = [], [], []

    def begin(self, name: str, attributes: dict[str, str]) -> bool:
        if self._cell is not None:
            self._end_white()
            return self._begin_within(name, attributes)
        if not self._depth:
            if name == _TABLE and self.open[-2:-1] == [f"{OFFICE_SPACE}spreadsheet"]:
                self._title, self._depth, self._row = attributes.get(f"{TABLE_SPACE}name", ""), len(self.open), -1
                self._written = self._made = 0
                self.titles.append(self._title)
            if len(self.titles) > MOST_TABLES:
                raise FormatError(f"more than {MOST_TABLES:,} sheets, the most that are read", location=CONTENT)
        elif name == _ROW:
            self._row, self._column, self._in_row = self._row + 1, 0, True
            self._times = _count_of(attributes.get(f"{TABLE_SPACE}number-rows-repeated"))
            self._first = len(self._cells)
        elif name in _CELLS:
            self._cell, self._text, self._length = attributes, None, 0
        return name != f"{TABLE_SPACE}shapes"

    def _begin_within(self, name: str, attributes: dict[str, str]) -> bool:
        if name == f"{TEXT_SPACE}p":
            if self._text is None:
                self._text = []
            else:
                self._text.append("\n")
        elif name == f"{TEXT_SPACE}s":
            self._add_text(" " * min(_count_of(attributes.get(f"{TEXT_SPACE}c")), LONGEST_TEXT + 1))
        elif name == f"{TEXT_SPACE}tab":
            self._add_text("\t")
        elif name == f"{TEXT_SPACE}line-break":
            self._add_text("\n")
        return name.startswith(TEXT_SPACE) and name != f"{TEXT_SPACE}ruby-text"  # how the text is pronounced

    def characters(self, text: str) -> None:
        if self._text is not None and self.open[-1] not in _CELLS:
            text = self._white + text
            ends = len(text.rstrip(_SPACES))
            self._add_text(_WHITE.sub(_expand_space, text[:ends]))
            self._white = text[ends:]
            if self._white.strip(" "):
                self._white = "\n"  # which makes a single space of all that is around it
            self._check_length(len(self._white))

    def _end_white(self) -> None:
        if self._white:
            white, self._white = self._white, ""
            self._add_text(_WHITE.sub(_expand_space, white))

    def _check_length(self, more: int) -> None:
        if self._length + more > LONGEST_TEXT:
            raise self._error(f"a text has more than {LONGEST_TEXT} characters", self._row, self._column)

    def _add_text(self, text: str) -> None:
        self._check_length(len(text))
        self._length += len(text)
        if self._text is not None:
            self._text.append(text)

    def end(self, name: str) -> None:
        if self._cell is not None:
            self._end_white()
            if name in _CELLS:
                self._end_cell(self._cell)
        elif name == _ROW and self._depth:
            self._end_row()
        elif self._depth > len(self.open):
            self._flush()
            self._depth = 0

    def _end_cell(self, attributes: dict[str, str]) -> None:
        times = _count_of(attributes.get(f"{TABLE_SPACE}number-columns-repeated"))
        value_and_kind = _parse_value(attributes, None if self._text is None else "".join(self._text))
        if value_and_kind is not None:
            formula = attributes.get(f"{TABLE_SPACE}formula", "")
            if formula:
                self._formulas.append((len(self._cells), formula))
            if self._column + times > MOST_COLUMNS:
                reason = f"a cell beyond the {MOST_COLUMNS} columns that a sheet has"
                raise self._error(reason, self._row, MOST_COLUMNS)
            self._cells.append((self._row, self._column, value_and_kind[0], times, value_and_kind[1]))
        self._column += times
        self._cell = self._text = None

    def _end_row(self) -> None:
        if len(self._cells) > self._first:
            if self._row + self._times > MOST_ROWS:
                reason = f"a cell beyond the {MOST_ROWS} rows that a sheet has"
                raise self._error(reason, MOST_ROWS, self._cells[self._first][1])
            self._repeats += [self._row, self._times] if self._times > 1 else []
        self._row += self._times - 1
        self._in_row = False

    def _error(self, reason: str, row: int, column: int) -> FormatError:
        return FormatError(reason, location=f"{self._title}!{cell_address(row, column)}")


def _count_of(text: str | None) -> int:
    """Return the number of times that a cell or row stands, as an attribute says; 1 if it says no integer."""
    return max(1, int(text[:20])) if text is not None and _COUNT.fullmatch(text) else 1


def _expand_space(match: re.Match[str]) -> str:
    """Return white space as it counts in text: spaces as they are, since LibreOffice writes them so between spans."""
    return " " if match[0].strip(" ") else match[0]


def _parse_value(attributes: dict[str, str], text: str | None) -> tuple[int, str | None] | None:
    """Return the type and the value of a cell; None instead of the value of a formula without one, and for a blank.

    `text`: of the cell's paragraphs; None if it has no paragraph.
    """
    formula = attributes.get(f"{TABLE_SPACE}formula", "")
    pending = (NUMBER, None) if formula else None
    type_, key = _VALUES.get(attributes.get(f"{OFFICE_SPACE}value-type", ""), (None, ""))
    if attributes.get(f"{_EXTENSIONS}value-type") == "error" or (formula and text and _FAULT.fullmatch(text)):
        return FAULT, text or "#N/A"
    if type_ is None:  # LibreOffice writes empty text as a paragraph of no type
        return (TEXT, text) if text or (formula and text is not None) else pending
    value = attributes.get(key, text if type_ == TEXT else None)
    if value is None:
        return (TEXT, "") if type_ == TEXT else pending
    if type_ == BOOLEAN:
        value = _TRUTH_VALUES.get(value, value)
    return type_, _parse_duration(value) if type_ == DURATION else value


def _parse_duration(text: str) -> str:
    """Return a duration in days, as a numeral; the text itself if it is no duration."""
    match = _ELAPSED.fullmatch(text)
    if match is None:
        return text
    days, hours, minutes, seconds = (float((part or "0").replace(",", ".")) for part in match.groups()[1:])
    return f"{match[1]}{days + hours / 24 + minutes / 1440 + seconds / 86400!r}"


def _without_elapsed(cells: CellRun) -> CellRun:
    """Return the same cells, with durations as numbers of days."""
    import polars as pl

    places = np.flatnonzero(cells.kinds == DURATION)
    if not len(places) or (texts := cells.written()) is None:
        return cells
    days = pl.Series(list(map(_parse_duration, texts.gather(places).to_list())), dtype=pl.String)
    return replace(cells, values=texts.scatter(places, days))


def _times_of(rows: Positions, repeats: Positions) -> Positions:
    """Return how often the row of each cell stands; `repeats` says it of those rows that stand several times."""
    times = np.ones(len(rows), np.int64)
    if len(repeats):
        index = np.minimum(np.searchsorted(repeats[::2], rows), len(repeats) // 2 - 1)
        is_repeated = repeats[::2][index] == rows
        times[is_repeated] = repeats[1::2][index[is_repeated]]
    return times


def _repeat_each(places: Positions, times: Positions) -> tuple[Positions, Positions]:
    """Return each place as often as `times` says, and for each time its number, from 0."""
    which = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    return np.repeat(places, times), which


def _repeat_cells(cells: CellRun, across: Positions, repeats: Positions) -> Iterator[CellRun]:
    """Yield the cells of a table with repeated cells and rows written out, in runs of a bounded size."""
    if not len(repeats) and (across == 1).all():
        yield cells
        return
    cells = replace(cells, values=cells.written())  # once for all runs
    of_rows = _times_of(cells.rows, repeats)
    begins = np.flatnonzero(np.diff(cells.rows, prepend=-1))  # the first cell of each row
    cells_so_far = np.cumsum(np.add.reduceat(across * of_rows, begins))
    cuts = np.flatnonzero(np.diff(cells_so_far // _CELLS_A_RUN)) + 1
    bounds = [0, *begins[cuts].tolist(), len(cells)]
    for first, end in pairwise(bounds):
        indices = np.arange(first, end)
        index, right = _repeat_each(indices, across[indices])
        rows, columns, times = cells.rows[index], cells.columns[index] + right, of_rows[index]
        if (times == 1).all():
            yield _take(cells, index, rows, columns)
            continue
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        counts = np.diff(np.append(starts, len(rows)))
        most = max(1, _CELLS_A_RUN // int(counts.max()))  # rows at a time
        lines, down = _repeat_each(np.arange(len(starts)), times[starts])
        for at in range(0, len(lines), most):
            some_lines, some_down = lines[at : at + most], down[at : at + most]
            places, along = _repeat_each(starts[some_lines], counts[some_lines])
            below = np.repeat(some_down, counts[some_lines])
            places += along
            yield _take(cells, index[places], rows[places] + below, columns[places])


def _take(cells: CellRun, places: Positions, rows: Positions, columns: Positions) -> CellRun:
    """Return some cells, by their indices, put into other rows and columns, each perhaps several times.

    The formula of a cell that is taken several times has no text any more.
    """
    import polars as pl

    sources = None
    if cells.formulas is not None and cells.sources is not None:
        index = (np.cumsum(cells.formulas) - 1)[places[cells.formulas[places]]]
        is_repeated = (np.bincount(index, minlength=len(cells.sources)) > 1)[index]
        sources = cells.sources.gather(index).zip_with(pl.Series(~is_repeated), pl.Series([""]))
    taken = cells.gather(places)
    return replace(taken, rows=rows, columns=columns, width=row_width(rows, columns), sources=sources)
