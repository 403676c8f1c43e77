"""A delimited text as a sheet of cells: its bytes, its encoding, its marks, and its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ... import loops
from ...columns import Block, ColumnCells, Request, Texts, Words, Zone, cell_address, find_anchors, find_side_by_side
from ...columns.beside import OtherCells, list_cell_texts, mark_beside
from ...columns.pieced_arrays import NotInPiecesError
from ...dtypes import DType, Positions
from ...elements import Cell, FormulaMode, TextLook
from ...elements.spelling import DecimalMark
from ...errors import Finding, FormatError
from ...files import BytesLike, Source, refuse_empty
from ...linear.header import MAX_HEADER_CELLS
from .dialect import (
    DELIMITERS,
    SINGLE_COLUMN,
    check_marks,
    could_part_thousands,
    find_decimal,
    find_delimiter,
    find_delimiter_beside,
    holds_decimal_comma,
    is_cut_integer,
    shows_decimal_point,
)
from .encodings import canonical_encoding, find_encoding
from .joined_texts import JoinedTexts
from .plain_records import Run, decode_text
from .records import BLANK, ENDLESS, MOMENTS, UNCLOSED, Records

# A delimited text as a sheet of cells: a few of them one by one, its columns in bulk.

_BYTES_A_CELL = 12  # about so many bytes of the file are looked at for each cell that is asked for
EVERY_HEADER = b"ndarray", b"version"
"""Texts one of which stands in every header, in lower case."""

BLOCK = 2**22  # bytes of text that are read at once
_ZIP = b"PK\3\4"
_MOST_LISTED, _MOST_OTHERS = 1200, 2**18  # rows and cells, the first ones, in which remarks are looked for
_FIRST_CELLS = 4_000  # as a rule, all that headers need
_FIRST_SAMPLED = 8  # data cells, which tell it as a rule
_MOST_SAMPLED, _SAMPLED = 1000, 20_000  # data cells of an array, and of all, that may tell the decimal mark
_ROWS_ABOVE = 24
_KINDS = {"float64": "d", "float32": "f", "uint64": "u", "bool": "b"}
_KINDS |= dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"), "i")
_KINDS |= {f"datetime64[{unit}]": kind for kind, unit in MOMENTS.items()} | {"string": "x", "timedelta": "i"}
_WITH_DECIMALS = ("float", "complex")
MOST_SHORT = 200  # cells; columns with no more are lists, which Python splits
_CUT_HINT = "a spreadsheet saves what it shows: give the column the format 0 before you save it as text"
_POINTS = "every point of these numbers could part thousands; they are read as decimal marks"
_CUT_END = "the last row has no line end"
_CUT_END_HINT = (
    "is the last cell complete? some programs write no last line end, but it is also missing if the file is cut"
)


class CsvSheet:
    """The one sheet of a delimited text; `columns.Sheet` says what each method is for.

    The text is taken into memory only where more than its first cells are needed; a plain file is mapped, not read.

    `encoding`: None is the byte order mark's, else strict UTF-8. `report`: is called with the kind of work, "words" or
    "columns", and the share of the text, from 0 to 1, for which it has been done.

    Attributes:
        delimiter: the text between cells; `SINGLE_COLUMN` if each line is one cell.
        file_encoding: the encoding of the file, and the length of its byte order mark in bytes.

    Raises:
        FormatError: no text, or text in another encoding.
    """

    title: str | None = None
    max_rows: int | None = None
    keeps_blanks = True

    def __init__(
        self,
        source: Source,
        delimiter: str | None,
        decimal: DecimalMark | None,
        encoding: str | None,
        formulas: FormulaMode,
        *,
        report: Callable[[str, float], None] | None = None,
    ) -> None:
        if formulas not in ("escape", "keep"):
            raise ValueError(f'formulas is "escape" or "keep", not {formulas!r}')
        if delimiter is not None or decimal is not None:
            check_marks(delimiter or "\t", decimal or ".")
        start = source.prefix(4)
        refuse_empty(start)
        if start == _ZIP:
            raise FormatError("a zip package, not text", hint="a workbook? then rename it, or name format='xlsx'")
        by_mark, mark = find_encoding(start)
        name = by_mark if encoding is None else canonical_encoding(encoding)
        self.file_encoding = name, mark if name == by_mark else 0
        self.notes: list[Finding] = []
        self._source, self._report = source, report
        self._words: Words | None = None
        likely = delimiter or find_delimiter(*self._content)
        self.delimiter = "," if likely is None else likely
        self._single = self.delimiter == SINGLE_COLUMN
        self.knows_decimal = True if decimal else None  # the caller has named it, or cells have shown it
        self.look = TextLook(decimal or ".", formulas)
        self._may_part_thousands = False  # whether the points in the first elements of all arrays could
        self._is_settled = decimal is not None  # else the decimal mark is looked for when it matters

    # The text ------------------------------------------------------------------------------------------------

    @cached_property
    def _content(self) -> tuple[BytesLike, int]:
        """The text in UTF-8, and the length of a byte order mark at its beginning."""
        raw, (encoding, mark) = self._source.whole(), self.file_encoding
        if encoding == "utf-8":
            return raw, mark
        return decode_text(bytes(raw)[mark:], encoding).encode("utf-8", "surrogatepass"), 0

    @cached_property
    def records(self) -> Records:
        """The records of the text."""
        return Records(*self._content, self.delimiter, self._report)

    # The dialect ---------------------------------------------------------------------------------------------

    def _settle_decimal(self) -> None:
        """Find the decimal mark in the first elements of each array, unless it is known."""
        if not self._is_settled:
            decimal = self._find_decimal()
            self.knows_decimal, self._is_settled = decimal is not None, True
            self.look = TextLook(decimal or ".", self.look.formulas)

    def _find_decimal(self) -> DecimalMark | None:
        anchors = [a for a in find_anchors(self) if a.header and a.header.dtype.kind in _WITH_DECIMALS]
        most = max(1, min(_MOST_SAMPLED, _SAMPLED // max(len(anchors), 1)))
        data_cells = [(anchor.data_cell, anchor.orient) for anchor in anchors[:_SAMPLED]]
        zones = [Zone(row, column, most, orient) for (column, row), orient in data_cells]
        sample = [cell for cells in self.zones(zones) for cell in cells]
        self._may_part_thousands = could_part_thousands(sample)
        return find_decimal(sample)

    def try_other_decimal(self) -> bool:
        """Read with a decimal comma from now on, and return True, unless a cell has shown that the mark is a point."""
        if self.delimiter == "," or self.look.decimal == ",":
            return False
        if self.knows_decimal is None:
            self.knows_decimal = self._find_decimal() is not None
        if self.knows_decimal or not holds_decimal_comma(self._content[0]):
            return False
        self.knows_decimal = True
        self.look = TextLook(",", self.look.formulas)
        return True

    def find_hint(self, location: str | None) -> str | None:
        """Return a hint for a wrong cell that holds a whole line with a delimiter; None for any other cell."""
        if not self._single or location is None or not location.removeprefix("A").isdecimal():
            return None
        cells = self.zones([Zone(int(location[1:]) - 1, 0, 1, "columns")])[0]
        texts = [text for text in map(str, cells) if text.count(":") != 2]  # two colons are those of a time of day
        mark = next((mark for mark in DELIMITERS for text in texts if mark in text), None)
        return mark and f"every line was read as one cell: are these two? then name the delimiter, delimiter={mark!r}"

    def find_cut_end(self) -> list[Finding]:
        """Return a finding if the last row has no line end, as in a text that was cut short within a cell."""
        if bytes(self._content[0][-1:]) in (b"\n", b"\r", b"\x1a"):  # the last one ends a text of DOS
            return []
        try:
            rows = self.records.count
        except FormatError as error:
            if error.reason != UNCLOSED or self._may_hold_header():
                raise
            line = bytes(self._content[0]).count(b"\n") + 1
            return [Finding("warning", f"line {line}", _CUT_END, _CUT_END_HINT)]
        cells = self.zones([Zone(rows - 1, 0, ENDLESS, "rows")])[0]
        return [Finding("warning", cell_address(rows - 1, len(cells) - 1), _CUT_END, _CUT_END_HINT)]

    def list_other_cells(self) -> OtherCells:
        """Return the texts of cells of the first rows that belong to no array; no sheet is without arrays."""
        anchors = find_anchors(self)
        records = self.records.rows(0, _MOST_LISTED) if anchors else []
        widths = np.array([len(cells) for cells in records], np.int64)
        rows = np.repeat(np.arange(len(records)), widths)[:_MOST_OTHERS]
        columns = np.arange(len(rows)) - (np.cumsum(widths) - widths)[rows]
        beside = mark_beside(anchors, rows, columns)
        places = zip(rows[beside].tolist(), columns[beside].tolist(), strict=True)
        return list_cell_texts(((row, column, records[row][column]) for row, column in places), None), set()

    # Cells, for `columns` ------------------------------------------------------------------------------------

    def words(self) -> Words:
        """Return the words of headers, wherever in the text they are.

        Raises:
            FormatError: a quote is never closed, in a text that has such words.
        """
        if self._words is None:
            records, top = self.records, None
            try:
                while top is None and not records.is_ended and records.count_indexed <= MAX_HEADER_CELLS:
                    records.index_more()
                    words = records.indexed_words()
                    if (anchors := find_side_by_side(self, words)) is not None:
                        top = words  # the headers of arrays that all begin in one row
                        top.searches.update(dict.fromkeys((True, False), anchors))
            except FormatError as error:
                if error.reason != UNCLOSED or self._may_hold_header():
                    raise
                return Words.from_cells([])  # a table, whose rows with odd quotes are cut anew
            if top is not None and not records.is_ended and not records.may_have_headers_below():
                self._words = top
            elif self._single and self._take_delimiter_beside():
                return self.words()
            else:
                words = top if top is not None and records.is_ended else records.words()
                self._words = words if top is None or len(words) > len(top) else top
        return self._words

    def _may_hold_header(self) -> bool:
        """Return whether words that stand together in headers are anywhere in the text, one of them damaged perhaps."""
        lowered = bytes(self._content[0]).lower()
        return b"ndarray" in lowered or (b"version" in lowered and b"dtype" in lowered)

    def _take_delimiter_beside(self) -> bool:
        """Read with a delimiter from now on, and return True, if an array begins beside a single column."""
        mark = find_delimiter_beside(*self._content)
        if mark is not None:
            self.delimiter, self._single = mark, False
            del self.records
        return mark is not None

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return the cells of a few short zones."""
        return self.records.zones(zones)

    def rows(self, requests: Sequence[Request]) -> Iterator[ColumnCells]:
        """Yield rows, one by one, from a column on."""
        import polars as pl

        self._settle_decimal()
        row, record = -1, list[str]()
        for request in requests:
            if request.row != row:
                row, record = request.row, self.records.record(request.row)
            cells = record[request.column : request.stop]
            if request.dtype.kind == "int":
                self._note_cut_integer(cells, request.row, request.column, is_row=True)
            elif self._are_points_open and request.dtype.kind in _WITH_DECIMALS:
                self._note_points(cells[:_MOST_SAMPLED], request)
            yield [], Texts(cells) if len(cells) <= MOST_SHORT else pl.Series(cells, dtype=pl.String)

    def blocks(
        self, requests: Sequence[Request], counts: Sequence[int] | None = None, *, typed: bool
    ) -> Iterator[Block]:
        """Yield the cells of columns; those of a piece of the text at a time, if nothing is to be said of it."""
        if counts is not None:
            yield from self._pieces(requests, counts, typed=typed)
            return
        results = self._read_runs(self.records, _runs_of(requests, typed=typed))
        self._remark(requests, results)
        for place, cells in enumerate(results):
            yield Block(place, ((), cells))

    def _pieces(self, requests: Sequence[Request], counts: Sequence[int], *, typed: bool) -> Iterator[Block]:
        ends = [request.stop for request in requests]
        requests = [replace(request, stop=request.row + count) for request, count in zip(requests, counts, strict=True)]
        if not self._are_whole(requests, ends):
            raise NotInPiecesError
        last = max((request.stop or 0 for request in requests), default=0)
        step = max(1, self.records.estimate_count(BLOCK))
        for top in range(min((request.row for request in requests), default=0), last, step):
            pieces = {
                place: replace(request, row=max(top, request.row), stop=min(top + step, request.stop or 0))
                for place, request in enumerate(requests)
                if request.row < top + step and (request.stop or 0) > top
            }
            results = self._read_runs(self.records, _runs_of([*pieces.values()], typed=typed))
            self._remark([*pieces.values()], results, min(top + step, last) / last)
            if self.notes:
                raise NotInPiecesError
            for (place, piece), cells in zip(pieces.items(), results, strict=True):
                yield Block(place, ((), cells), (piece.stop or 0) - piece.row)

    def _remark(self, requests: Sequence[Request], results: Sequence[Any], share: float = 1.0) -> None:
        """Remark on marks in columns, and on cells beside them. `share`: of the text, that is reported as done."""
        texts = [pair for pair in zip(requests, results, strict=True) if not isinstance(pair[1], np.ndarray)]
        if not self._is_settled and any(request.dtype.kind in _WITH_DECIMALS for request, _ in texts):
            self._settle_decimal()
        if not self._single and requests:
            width = max(request.column for request in requests) + 1
            if len(words := self.words().columns):
                width = max(width, 1 + int(words.max()))  # arrays may stand to the right of these, further down
            if width < self.records.width:
                self._look_beside(requests, width)
        for request, cells in texts:
            if request.dtype.kind == "int":
                self._note_cut_integer(cells, request.row, request.column, is_row=False)
        if self._are_points_open:
            self._note_open_points(requests)
        if self._report is not None:
            self._report("columns", share)

    def _note_open_points(self, requests: Sequence[Request]) -> None:
        """Remark on columns in which each point could part thousands."""
        for request in requests:
            if request.dtype.kind in _WITH_DECIMALS:
                end = request.stop or request.row + _MOST_SAMPLED
                count = min(end - request.row, _MOST_SAMPLED)
                cells = self.zones([Zone(request.row, request.column, min(count, _FIRST_SAMPLED), "columns")])[0]
                if shows_decimal_point(cells):
                    continue
                self._note_points(self.zones([Zone(request.row, request.column, count, "columns")])[0], request)

    @property
    def _are_points_open(self) -> bool:
        """Whether points could part thousands."""
        is_open = self.delimiter != "," and self.look.decimal == "."
        return is_open and (self.knows_decimal is not True or self._may_part_thousands)

    def _note_cut_integer(self, cells: Sequence[Any], row: int, column: int, *, is_row: bool) -> None:
        cut = [index for index, cell in enumerate(cells) if is_cut_integer(cell)]
        if cut:
            more = f" (and {len(cut) - 1} more)" if len(cut) > 1 else ""
            address = cell_address(row, column + cut[0]) if is_row else cell_address(row + cut[0], column)
            message = f"a program has cut this integer to {cells[cut[0]]!s:.40}{more}: digits are missing"
            self.notes.append(Finding("warning", address, message, _CUT_HINT))

    def _note_points(self, cells: Sequence[Cell], request: Request) -> None:
        if could_part_thousands(cells):
            address = cell_address(request.row, request.column)
            self.notes.append(Finding("warning", address, _POINTS, "decimal= says which"))

    def _read_runs(self, records: Records, runs: Sequence[Run]) -> list[Any]:
        """Return runs of cells: few cells of text as lists, and as text what is not all plain numbers."""
        if self.look.decimal == ",":
            runs = [(c, first, end, kind.upper() if kind in "df" else kind) for c, first, end, kind in runs]
        results: list[Any] = [None] * len(runs)
        height = records.estimate_count()
        first = [
            index
            for index, (_, row, end, kind) in enumerate(runs)
            if kind not in "tx" or min(end, height) - row > MOST_SHORT
        ]
        for index, cells in zip(first, records.read([runs[index] for index in first]), strict=True):
            if isinstance(cells, JoinedTexts):
                is_endless = runs[index][2] == ENDLESS
                cells = cells.to_elements(escaped=self.look.formulas == "escape", is_endless=is_endless)
            elif isinstance(cells, tuple):  # moments, and blanks below them
                moments = cells[0][: len(cells[0]) - cells[1]]
                cells = moments if not cells[1] or (moments != BLANK).all() else None
            results[index] = cells
        left = [index for index, cells in enumerate(results) if cells is None]
        if not left:
            return results
        if not self._is_settled and any(runs[index][3] in "df" for index in left):
            self._settle_decimal()
            if self.look.decimal == ",":
                return self._read_runs(records, runs)
        height = records.count
        texts = [index for index in left if min(runs[index][2], height) - runs[index][1] > MOST_SHORT]
        for index, cells in zip(texts, records.read([(*runs[index][:3], "t") for index in texts]), strict=True):
            results[index] = cells
        few = [index for index in left if results[index] is None]
        zones = [
            Zone(row, column, max(min(end, height) - row, 0), "columns")
            for column, row, end, _ in map(runs.__getitem__, few)
        ]
        for index, listed in zip(few, records.zones(zones), strict=True):
            results[index] = Texts(listed)
        return results

    def _are_whole(self, requests: Sequence[Request], ends: Sequence[int | None]) -> bool:
        """Return whether columns have as many cells as their requests say, and nothing but blanks below them.

        `ends`: the row before which the blanks end; None for the sheet's end.
        """
        count = self.records.count
        if any((request.stop or 0) > count for request in requests):
            return False
        below = [
            (request.column, request.stop or 0, count if end is None else end, "s")
            for request, end in zip(requests, ends, strict=True)
            if (request.stop or 0) < (count if end is None else end)
        ]
        return not any(text.strip() for _, texts in self.records.read(below) for text in texts)

    def read_column(self, records: Records, column: int, dtype: DType | None) -> Any:
        """Return a column of some rows of this text; the texts that are not blank if no dtype is given."""
        if dtype is None:
            return records.read([(column, 0, ENDLESS, "s")])[0][1]
        return self._read_runs(records, _runs_of([Request(column, 0, dtype)]))[0]

    def _look_beside(self, requests: Sequence[Request], width: int) -> None:
        """Remark on rows with cells to the right of all columns, below their headers. `width`: of these columns."""
        begins = [
            anchor.row + anchor.start
            for anchor in find_anchors(self)
            if anchor.orient == "columns" and anchor.header is not None and anchor.header.capacity
        ]
        row = max(begins, default=max(request.row for request in requests))  # whichever of the arrays are read
        if row >= self.records.count:
            return
        rows = sorted({0, *range(max(0, row - _ROWS_ABOVE), row)})  # the widest of them is as wide as the sheet
        width = max([width, *map(len, self.zones([Zone(above, 0, ENDLESS, "rows") for above in rows]))])
        if width < self.records.width:
            self._warn_of_wide_row(self.records.read([(width, row, self.records.count, "s")])[0][0], width)

    def _warn_of_wide_row(self, rows: Positions, column: int) -> None:
        """Remark on a row that is wider than the sheet: a decimal comma that somebody typed has moved its cells."""
        lying = {anchor.row for anchor in find_anchors(self) if anchor.orient == "rows"}  # they have cells there
        filled = [row for row in rows.tolist() if row not in lying]
        if filled:
            more = f" (and {len(filled) - 1} more)" if len(filled) > 1 else ""
            hint = "did a decimal comma, or a delimiter in text, move the cells of this row?"
            address = cell_address(filled[0], column)
            finding = Finding("warning", address, f"a cell to the right of all columns{more}", hint)
            self.notes += [finding] if finding not in self.notes else []


def _runs_of(requests: Sequence[Request], *, typed: bool = True) -> list[Run]:
    """Return the runs of cells that are columns: as text, unless all of their cells may be plain numbers."""
    if not typed or not loops.COMPILED:
        return [(request.column, request.row, request.stop or ENDLESS, "t") for request in requests]
    kinds = [_KINDS.get(request.dtype.name, _KINDS.get(request.dtype.kind, "t")) for request in requests]
    return [(r.column, r.row, r.stop or ENDLESS, kind) for r, kind in zip(requests, kinds, strict=True)]
