"""A delimited text as a sheet of cells: its bytes, its encoding, its marks, and its columns."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np

from ... import loops
from ...cells import FormulaMode, TextLook
from ...columns import ColumnCells, Request, Texts, Words, Zone, cell_address, find_anchors, find_side_by_side
from ...dtypes import DType, Positions
from ...elements import Cell
from ...elements.scalars import DecimalMark
from ...errors import Finding, FormatError, LimitError
from ...files import BytesLike, Source, refuse_empty
from ...header import MAX_HEADER_CELLS
from .dialect import (
    DELIMITERS,
    SINGLE_COLUMN,
    check_marks,
    find_decimal,
    find_delimiter,
    find_delimiter_beside,
    find_table_delimiter,
    find_unused_delimiter,
)
from .encodings import canonical_encoding, find_encoding
from .records import ENDLESS, Records, Run, split_records

# The text of a delimited file: its bytes in UTF-8, and its records.

_BYTES_A_CELL = 12  # about so many bytes of the file are looked at for each cell that is asked for
_ZIP = b"PK\3\4"


class SourceText:
    """The text of a delimited file, taken into memory only where more than its first cells are needed.

    `encoding`: None is the byte order mark's, else strict UTF-8.

    Attributes:
        source: the file.
        of_source: the encoding of the file, and the length of its byte order mark in bytes.
        content: the text in UTF-8; empty until it is asked for.
        start: the length of a byte order mark at the beginning of the content, in bytes.
        delimiter: the text between cells; "" where each line is one cell.
        report: is called with the kind of work, "words" or "columns", and the share of the text, from 0 to 1, for which
            it has been done; None for no call.

    Raises:
        FormatError: the file is not text.
    """

    def __init__(self, source: Source, encoding: str | None) -> None:
        refuse_empty(source.prefix(4))
        if source.prefix(4) == _ZIP:
            raise FormatError("a zip package, not text", hint="a workbook? then rename it, or name format='xlsx'")
        self.source = source
        self._encoding, self.start = find_encoding(source.prefix(4))
        if encoding is not None:
            self._encoding = canonical_encoding(encoding)
            self.start = 0 if find_encoding(source.prefix(4))[0] != self._encoding else self.start
        self.of_source = self._encoding, self.start
        self.content: BytesLike | bytearray = b""
        self.delimiter = ","
        self.report: Callable[[str, float], None] | None = None
        self._records: Records | None = None

    def decode_cells(self, cells: int) -> tuple[str, bool]:
        """Return the beginning of the text, about `cells` cells of it, and whether that is the whole text.

        Raises:
            FormatError: it is not of its encoding.
        """
        encoding, mark = self.of_source
        count = cells * _BYTES_A_CELL * (2 if encoding.startswith("utf-16") else 1)
        raw = self.source.prefix(count)
        ended = len(raw) < count
        decoder = codecs.getincrementaldecoder(encoding)("strict")
        try:
            return decoder.decode(raw[mark:], final=ended), ended
        except UnicodeDecodeError as error:
            raise self._decoding_error(raw[mark:], error) from error

    def _decoding_error(self, raw: bytes, error: UnicodeDecodeError) -> FormatError:
        line = raw.count(b"\n", 0, error.start) + 1
        return FormatError(
            f"no text in {self._encoding}: byte {raw[error.start]:#04x}",
            location=f"line {line}",
            hint="name the encoding, for example encoding='cp1252'",
        )

    def take(self) -> None:
        """Make `content` the whole text in UTF-8; a plain file is mapped, not read."""
        if len(self.content):
            return
        raw = self.source.whole()
        if self._encoding == "utf-8":
            self.content = raw
            return
        try:
            text = codecs.decode(bytes(raw)[self.start :], self._encoding)
        except UnicodeDecodeError as error:
            raise self._decoding_error(bytes(raw)[self.start :], error) from error
        self.content, self.start = text.encode("utf-8", "surrogatepass"), 0
        self._encoding = "utf-8"

    @contextmanager
    def records(self) -> Iterator[Records]:
        """Return the text's records.

        Raises:
            FormatError: the text is not of its encoding.
        """
        self.take()
        if self._records is None or self._records.delimiter != self.delimiter:
            self._records = Records(self.content, self.start, self.delimiter)
            self._records.report = self.report
        try:
            yield self._records
        except UnicodeDecodeError:
            whole = bytes(self.content)[self.start :]
            try:
                whole.decode("utf-8")
            except UnicodeDecodeError as error:
                raise self._decoding_error(whole, error) from error
            raise


# A delimited text as a sheet of cells: a few of them one by one, its columns in bulk.

_MOST_ROWS = 1200  # records that `head` returns at most
_BUDGETS = (20_000, 1_000_000, 1_000_000_000)  # cells that are looked at; the next number is tried if all are blank
_FIRST_CELLS = 4_000  # as a rule, all that headers need
_MOST_SAMPLED, _SAMPLED = 1000, 20_000  # data cells of an array, and of all, that may tell the decimal mark
_ROWS_ABOVE = 24
_KINDS = {"float64": "d", "float32": "f", "uint64": "u", "bool": "b"}
_KINDS |= dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"), "i")
_WITH_DECIMALS = ("float", "complex")
MOST_SHORT = 2000  # cells; columns with no more are lists
_CUT_END = "the last row has no line end"
_CUT_END_HINT = "is the last cell whole? some programs leave out the last line end, but a text cut short ends so, too"


class CsvSheet:
    """The one sheet of a delimited text; `columns.Sheet` says what each method is for.

    Raises:
        FormatError: text in another encoding, or no array in it, unless `table` says that it is an ordinary table.
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
        table: bool = False,
        skip_rows: int | Collection[int] = 0,
        comment: str | None = None,
        report: Callable[[str, float], None] | None = None,
    ) -> None:
        if formulas not in ("escape", "keep"):
            raise LimitError(f'formulas is "escape" or "keep", not {formulas!r}')
        if delimiter is not None or decimal is not None:
            check_marks(delimiter or "\t", decimal or ".")
        self.notes: list[Finding] = []
        self._text = SourceText(source, encoding)
        self._text.report = report
        self._table = table
        if table:
            mark = delimiter or self._find_table_delimiter(skip_rows, comment)
        else:
            self._text.take()
            likely = delimiter or find_delimiter(self._text.content, self._text.start)
            mark = "," if likely is None else likely
        self._words: Words | None = None
        self._single = mark == SINGLE_COLUMN and not table and delimiter is None
        self._text.delimiter = mark
        self.knows_decimal = True if decimal else None  # the caller has named it, or cells have shown it
        self.look = TextLook(decimal or ".", formulas)
        self._is_settled = table or decimal is not None  # else the decimal mark is looked for when it matters

    # The dialect ---------------------------------------------------------------------------------------------

    def _find_table_delimiter(self, skip_rows: int | Collection[int], comment: str | None) -> str:
        text, ended = self._text.decode_cells(_FIRST_CELLS)
        for budget in _BUDGETS:
            if ended or text.strip("\n\r\t ,;|"):
                break
            text, ended = self._text.decode_cells(budget)  # all cells of the smaller budget were blank
        if not text.strip("\n\r\t ,;|"):
            return next((mark for mark in ",;\t|" if mark in text), ",")
        return find_table_delimiter(text, ended=ended, skip_rows=skip_rows, comment=comment)

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
        return find_decimal([cell for cells in self.zones(zones) for cell in cells])

    def try_other_decimal(self) -> bool:
        """Read with a decimal comma from now on, and return True, unless a cell has shown that the mark is a point."""
        if self._text.delimiter == "," or self.look.decimal == ",":
            return False
        if self.knows_decimal is None:
            self.knows_decimal = self._find_decimal() is not None
        if self.knows_decimal:
            return False
        self.knows_decimal = True
        self.look = TextLook(",", self.look.formulas)
        return True

    @property
    def delimiter(self) -> str:
        """The text between cells; `SINGLE_COLUMN` if each line is one cell."""
        return self._text.delimiter

    def find_hint(self, location: str | None) -> str | None:
        """Return a hint for a wrong cell that is a whole line, and holds a delimiter; None for any other."""
        if not self._single or location is None or not location.removeprefix("A").isdecimal():
            return None
        cells = self.zones([Zone(int(location[1:]) - 1, 0, 1, "columns")])[0]
        texts = [text for text in map(str, cells) if text.count(":") != 2]  # two colons are those of a time of day
        mark = next((mark for mark in DELIMITERS for text in texts if mark in text), None)
        return mark and f"every line was read as one cell: are these two? then name the delimiter, delimiter={mark!r}"

    def find_cut_end(self) -> list[Finding]:
        """Return a finding if the last row has no line end, as in a text that was cut short within a cell."""
        if bytes(self._text.content[-1:]) in (b"\n", b"\r"):
            return []
        with self._text.records() as records:
            rows = records.count
        cells = self.zones([Zone(rows - 1, 0, ENDLESS, "rows")])[0]
        return [Finding("warning", cell_address(rows - 1, len(cells) - 1), _CUT_END, _CUT_END_HINT)]

    @property
    def file_encoding(self) -> tuple[str, int]:
        """The encoding of the file, and the length of its byte order mark in bytes."""
        return self._text.of_source

    # Cells, for `columns` ------------------------------------------------------------------------------------

    def words(self) -> Words:
        """Return the words of headers, wherever in the text they are."""
        while self._words is None:
            with self._text.records() as records:
                top = self._find_words_at_top(records)
                if top is not None and not records.is_ended and not records.may_have_headers_below():
                    self._words = top
                elif not (self._single and self._take_delimiter_beside()):
                    records.index()
                    words = records.words()
                    self._words = words if top is None or len(words) > len(top) else top
        return self._words

    def _find_words_at_top(self, records: Records) -> Words | None:
        """Return the words in the first rows, if these are the headers of arrays that all begin in one row."""
        while not records.is_ended and records.count_indexed <= MAX_HEADER_CELLS:
            records.index(records.count_indexed)
            words = records.words()
            if (anchors := find_side_by_side(self, words)) is not None:
                words.searches.update(dict.fromkeys((True, False), anchors))
                return words
        return None

    def _take_delimiter_beside(self) -> bool:
        """Read with a delimiter from now on, and return True, if an array begins beside a single column."""
        mark = find_delimiter_beside(self._text.content, self._text.start)
        if mark is not None:
            self._text.delimiter, self._single = mark, False
        return mark is not None

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return a few cells here and there."""
        with self._text.records() as records:
            return records.zones(zones)

    def head(self, budget: int) -> tuple[Sequence[Sequence[Cell]], bool]:
        """Return the first rows."""
        for cells in (min(budget, _FIRST_CELLS), budget):
            text, ended = self._text.decode_cells(cells)
            delimiter = self._text.delimiter or find_unused_delimiter(text)
            rows = list(islice(split_records(text, delimiter), _MOST_ROWS))
            if ended or len(rows) == _MOST_ROWS:
                break
        is_whole = ended and (not rows or rows[-1][1])
        if not ended and rows and rows[-1][1]:
            rows[-1] = rows[-1][0][:-1], True  # its last cell may be cut
        return [row for row, _ in rows if row], is_whole

    def rows(self, requests: Sequence[Request]) -> Iterator[ColumnCells]:
        """Yield rows, one by one, from a column on."""
        import polars as pl

        self._settle_decimal()
        known: tuple[int, list[str]] = -1, []
        with self._text.records() as records:
            records.index()
            ahead: Iterator[tuple[int, list[str]]] = iter(())
            for index, request in enumerate(requests):
                if request.row < known[0] or index == 0:  # as a rule they come from above to below
                    known, ahead = (-1, []), records.records_of(_find_ascending(requests, index))
                while known[0] < request.row:
                    known = next(ahead, (request.row, []))
                cells = known[1][request.column : request.stop]
                yield [], Texts(cells) if len(cells) <= MOST_SHORT else pl.Series(cells, dtype=pl.String)

    def columns(self, requests: Sequence[Request], *, typed: bool) -> list[ColumnCells]:
        """Return columns in bulk: numbers, and long ones of text; few cells of text as lists."""
        with self._text.records() as records:
            runs = [(r.column, r.row, r.stop or ENDLESS, _kind_of(r.dtype, typed)) for r in requests]
            results = self._read_runs(records, runs)
            texts = (r for r, cells in zip(requests, results, strict=True) if not isinstance(cells, np.ndarray))
            if any(request.dtype.kind in _WITH_DECIMALS for request in texts):
                self._settle_decimal()
            for run in self._run_beside(requests):
                self._warn_of_wide_row(records.read([run])[0][0], run[0])
        if self._text.report is not None:
            self._text.report("columns", 1.0)
        return [((), cells) for cells in results]

    def _read_runs(self, records: Records, runs: Sequence[Run]) -> list[Any]:
        """Return runs of cells: few cells of text as lists, and as text what is not all plain numbers."""
        results: list[Any] = [None] * len(runs)
        height = records.estimate_count()
        self._read_into(results, records, [run if run[3] != "t" or _is_long(run, height) else None for run in runs])
        if not self._is_settled and any(
            run[3] in "df" and cells is None for run, cells in zip(runs, results, strict=True)
        ):
            self._settle_decimal()
            if self.look.decimal == ",":
                self._read_into(results, records, [run if run[3] in "df" else None for run in runs])
        texts: list[Run] = [(column, first, end, "t") for column, first, end, _ in runs]
        height = records.count
        self._read_into(results, records, [run if _is_long(run, height) else None for run in texts])
        few = [index for index, cells in enumerate(results) if cells is None]
        zones = [
            Zone(texts[index][1], texts[index][0], max(min(texts[index][2], height) - texts[index][1], 0), "columns")
            for index in few
        ]
        for index, cells in zip(few, records.zones(zones), strict=True):
            results[index] = Texts(cells)
        return results

    def _read_into(self, results: list[Any], records: Records, runs: Sequence[Run | None]) -> None:
        """Read those runs of cells that are not None and have no result yet."""
        wanted = [(index, run) for index, run in enumerate(runs) if run and results[index] is None]
        cells = records.read([run for _, run in wanted], comma=self.look.decimal == ",")
        for (index, _), some in zip(wanted, cells, strict=True):
            results[index] = some

    def are_whole(self, requests: Sequence[Request], ends: Sequence[int | None]) -> bool:
        """Return whether columns have as many cells as their requests say, and nothing but blanks below them.

        `ends`: the row before which the blanks end; None for the sheet's end.
        """
        with self._text.records() as records:
            if any((request.stop or 0) > records.count for request in requests):
                return False
            below = [
                (request.column, request.stop or 0, records.count if end is None else end, "s")
                for request, end in zip(requests, ends, strict=True)
                if (request.stop or 0) < (records.count if end is None else end)
            ]
            return not any(text.strip() for _, texts in records.read(below) for text in texts)

    @property
    def count(self) -> int:
        """The number of rows."""
        with self._text.records() as records:
            return records.count

    def place_of(self, row: int) -> int:
        """Return the byte at which a row begins."""
        with self._text.records() as records:
            return records.places_of([row])[0]

    def read_column(self, records: Records, column: int, dtype: DType | None) -> Any:
        """Return a column of some rows of this text; the texts that are not blank if no dtype is given."""
        if dtype is None:
            return records.read([(column, 0, ENDLESS, "s")])[0][1]
        return self._read_runs(records, [(column, 0, ENDLESS, _kind_of(dtype))])[0]

    def count_rows(self, size: int) -> int:
        """Return the number of rows in so many bytes, on an average."""
        with self._text.records() as records:
            return max(1, records.estimate_count(size))

    def _run_beside(self, requests: Sequence[Request]) -> list[Run]:
        """Return the run of cells to the right of all columns, below their headers."""
        if self._single or not requests:
            return []
        row = max(request.row for request in requests)
        width = max(request.column for request in requests) + 1
        if len(words := self.words().columns):
            width = max(width, 1 + int(words.max()))  # arrays may stand to the right of these, further down
        with self._text.records() as records:
            if width >= records.width or row >= records.count:
                return []
        rows = sorted({0, *range(max(0, row - _ROWS_ABOVE), row)})  # the widest of them is as wide as the sheet
        width = max([width, *map(len, self.zones([Zone(above, 0, ENDLESS, "rows") for above in rows]))])
        return [(width, row, records.count, "s")] if width < records.width else []

    def _warn_of_wide_row(self, rows: Positions, column: int) -> None:
        """Remark on a row that is wider than the sheet: a decimal comma that somebody typed has moved its cells."""
        lying = {anchor.row for anchor in find_anchors(self) if anchor.orient == "rows"}  # they have cells there
        filled = [row for row in rows.tolist() if row not in lying]
        if filled:
            more = f" (and {len(filled) - 1} more)" if len(filled) > 1 else ""
            hint = "a decimal comma or a delimiter in text, which has moved the cells of its row?"
            address = cell_address(filled[0], column)
            self.notes = [Finding("warning", address, f"a cell to the right of all columns{more}", hint)]


def _kind_of(dtype: DType, typed: bool = True) -> str:
    """Return the kind of cells under which a column is read; "t" unless all of its cells may be plain numbers."""
    if not typed or not loops.COMPILED:
        return "t"
    return "i" if dtype.kind == "timedelta" else _KINDS.get(dtype.name, "t")


def _is_long(run: Run, height: int) -> bool:
    """Return whether a run has more cells than a list should, in a text of so many rows."""
    return min(run[2], height) - run[1] > MOST_SHORT


def _find_ascending(requests: Sequence[Request], start: int) -> list[int]:
    """Return the rows of requests from one on, as long as they come from above to below."""
    rows = [requests[start].row]
    for request in requests[start + 1 :]:
        if request.row < rows[-1]:
            break
        if request.row > rows[-1]:
            rows.append(request.row)
    return rows
