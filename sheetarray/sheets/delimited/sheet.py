"""A delimited text as a sheet of cells: a few of them one by one, its columns in bulk.

The columnar engine parses the body straight from the file. It takes every quote for the beginning or the end of a
quoted cell, so a text whose quotes stand otherwise (`5" pipe`) is made sound first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...cells import FormulaMode, TextLook, engine_dtype
from ...columns import ColumnCells, Request, Texts, Words, Zone, cell_address, find_anchors
from ...dtypes import from_name
from ...elements import Cell
from ...elements.spelling import DecimalMark
from ...errors import Finding, LimitError
from ...files import Source
from .blocks import has_lone_returns
from .bulk import parse_columns, parse_numbers
from .dialect import (
    DELIMITERS,
    SINGLE_COLUMN,
    check_marks,
    find_decimal,
    find_delimiter,
    find_table_delimiter,
    find_unused_delimiter,
)
from .records import Records
from .slicing import MOST_SHORT, ColumnSlices, cut_at_stop, group_requests
from .source_text import SourceText
from .splitting import MOST_ROWS, read_first_records

if TYPE_CHECKING:
    import polars as pl

_BUDGETS = (20_000, 1_000_000, 1_000_000_000)  # cells that are looked at; the next number is tried if all are blank
_FIRST_CELLS = 4_000  # as a rule, all that headers need
_MOST_SAMPLED, _SAMPLED = 1000, 20_000  # data cells of an array, and of all, that may tell the decimal mark
_ROWS_ABOVE = 24
_ENDLESS = 2**40
_TEXT = from_name("string")
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
        self.look = TextLook(".", formulas)
        self._text = SourceText(source, encoding)
        self._text.report = report
        self._table = table
        if table:
            mark = delimiter or self._find_table_delimiter(skip_rows, comment)
        else:
            self._text.take()
            likely = delimiter or find_delimiter(self._text.units, self._text.start)
            mark = "," if likely is None else likely
        self._single = mark == SINGLE_COLUMN
        if self._single:
            self._text.take()
            mark = find_unused_delimiter(self._text.content)
        self._text.delimiter = mark
        delimiter_used = decimal or self._find_decimal()
        self.knows_decimal = delimiter_used is not None  # the caller has named it, or cells have shown it
        self.look = TextLook(delimiter_used or ".", formulas)

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

    def _find_decimal(self) -> DecimalMark | None:
        if self._table:
            return "."  # decided column by column
        anchors = [a for a in find_anchors(self) if a.header and a.header.dtype.kind in ("float", "complex")]
        most = max(1, min(_MOST_SAMPLED, _SAMPLED // max(len(anchors), 1)))
        data_cells = [(anchor.data_cell, anchor.orient) for anchor in anchors[:_SAMPLED]]
        zones = [Zone(row, column, most, orient) for (column, row), orient in data_cells]
        return find_decimal([cell for cells in self.zones(zones) for cell in cells])

    def try_other_decimal(self) -> bool:
        """Read with a decimal comma from now on, and return True, unless a cell has shown that the mark is a point."""
        if self.knows_decimal or self._text.delimiter == ",":
            return False
        self.knows_decimal = True
        self.look = TextLook(",", self.look.formulas)
        return True

    @property
    def delimiter(self) -> str:
        """The text between cells; `SINGLE_COLUMN` if each line is one cell."""
        return SINGLE_COLUMN if self._single else self._text.delimiter

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
        self._text.check_sound()
        rows, _ = self._text.with_records(lambda records: records.size())
        cells = self.zones([Zone(rows - 1, 0, _ENDLESS, "rows")])[0]
        return [Finding("warning", cell_address(rows - 1, len(cells) - 1), _CUT_END, _CUT_END_HINT)]

    @property
    def file_encoding(self) -> tuple[str, int]:
        """The encoding of the file, and the length of its byte order mark in bytes."""
        return self._text.of_source

    # Cells, for `columns` ------------------------------------------------------------------------------------

    def words(self) -> Words:
        """Return the words of headers, wherever in the text they are."""
        return self._text.words()

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return a few cells here and there."""
        return self._text.zones(zones)

    def head(self, budget: int) -> tuple[Sequence[Sequence[Cell]], bool]:
        """Return the first rows."""
        for cells in (min(budget, _FIRST_CELLS), budget):
            text, ended = self._text.decode_cells(cells)
            rows = read_first_records(text, self._text.delimiter, ended=ended, most=MOST_ROWS)
            if ended or len(rows) == MOST_ROWS:
                break
        return [row for row, _ in rows], ended and (not rows or rows[-1][1] == len(text))

    def rows(self, requests: Sequence[Request]) -> Iterator[ColumnCells]:
        """Yield rows, one by one, from a column on."""
        import polars as pl

        self._text.check_sound()
        known: tuple[int, list[Any]] = -1, []
        ahead: Iterator[tuple[int, list[str]]] = iter(())
        for index, request in enumerate(requests):
            if request.row < known[0] or index == 0:  # as a rule they come from above to below
                known = -1, []
                ahead = self._read_rows(requests, index)
            while known[0] < request.row:
                row, cells = next(ahead, (request.row, []))
                known = row, self._text.put_quotes_back(cells)
            cells = known[1][request.column : request.stop]
            yield [], Texts(cells) if len(cells) <= MOST_SHORT else pl.Series(cells, dtype=pl.String)

    def _read_rows(self, requests: Sequence[Request], start: int) -> Iterator[tuple[int, list[str]]]:
        """Return the rows of requests from one on, as long as they come from above to below, with their cells."""
        assert self._text.records is not None
        rows = [requests[start].row]
        for request in requests[start + 1 :]:
            if request.row < rows[-1]:
                break
            if request.row > rows[-1]:
                rows.append(request.row)
        return self._text.records.records_of(rows)

    def columns(self, requests: Sequence[Request], *, typed: bool) -> list[ColumnCells]:
        """Return columns in bulk."""
        results: dict[int, ColumnCells] = {}
        for group, alone in group_requests(requests):
            if self._text.report is not None:
                self._text.report("columns", len(results) / len(requests))
            some = [requests[index] for index in group]
            cells = self._parse_together(some, typed=typed) if alone else self._slices(some)
            results.update(zip(group, cells, strict=True))
        if self._text.report is not None:
            self._text.report("columns", 1.0)
        return [results[index] for index in range(len(requests))]

    def _slices(self, requests: Sequence[Request]) -> list[ColumnCells]:
        """Return the cells of requests of many rows: their columns are parsed once, as text, and cut."""
        first = min(request.row for request in requests)
        columns = sorted({request.column for request in requests})
        whole = self._parse_together([Request(column, first, _TEXT) for column in columns], typed=False)
        slices = {column: ColumnSlices(rest) for column, (_, rest) in zip(columns, whole, strict=True)}
        return [
            ([], slices[column].cut(row - first, None if stop is None else stop - first))
            for column, row, stop in ((request.column, request.row, request.stop) for request in requests)
        ]

    def _parse_together(self, requests: Sequence[Request], *, typed: bool) -> list[ColumnCells]:
        """Return the cells of columns that begin in about the same row: those above their body, and the body.

        The body comes from the engine; of text that readers would split differently, after it is made sound.
        """
        row = max(request.row for request in requests)
        bodies = self._parse_number_body(requests, row) if typed else None
        if bodies is None:
            self._text.check_sound()
            width = max(request.column for request in requests) + 1
            wanted = list(requests)
            if not self._single:
                rows = sorted({0, *range(max(0, row - _ROWS_ABOVE), row)})  # the widest of them is as wide as the sheet
                width = max([width, *map(len, self.zones([Zone(above, 0, _ENDLESS, "rows") for above in rows]))])
                if len(words := self.words().columns):
                    width = max(width, 1 + int(words.max()))  # arrays may stand to the right of these, further down
                wanted.append(Request(width, row, _TEXT))
            bodies = self._parse_body(wanted, row, typed)
            if not self._single:
                self._warn_of_wide_row(bodies.pop(), row, width)
        heads = self.zones([Zone(request.row, request.column, row - request.row, "columns") for request in requests])
        return [cut_at_stop(head, body, request) for request, head, body in zip(requests, heads, bodies, strict=True)]

    def _warn_of_wide_row(self, beyond: pl.Series, row: int, column: int) -> None:
        """Remark on a row that is wider than the sheet: a decimal comma that somebody typed has moved its cells."""
        if beyond.null_count() == len(beyond):
            return
        lying = {anchor.row for anchor in find_anchors(self) if anchor.orient == "rows"}  # they have cells there
        filled = [index for index in (beyond != "").arg_true().to_list() if row + index not in lying]
        if filled:
            more = f" (and {len(filled) - 1} more)" if len(filled) > 1 else ""
            hint = "a decimal comma or a delimiter in text, which has moved the cells of its row?"
            address = cell_address(row + filled[0], column)
            self.notes = [Finding("warning", address, f"a cell to the right of all columns{more}", hint)]

    def _parse_number_body(self, requests: Sequence[Request], row: int) -> list[pl.Series] | None:
        """Return the body of a sheet whose columns are all numbers and all asked for; None if it may hold anything
        else.
        """
        columns = {request.column: engine_dtype(request.dtype) for request in requests}
        if self.look.decimal == "," or set(columns) != set(range(len(columns))) or self._text.stand_in:
            return None
        offset, lines = self._text.find_body(row)
        if offset is None or has_lone_returns(self._text.units, offset):
            return None
        text, lines = self._text.engine_source(offset, lines)
        columns_parsed = parse_numbers(text, columns, delimiter=self._text.delimiter, skip_lines=lines)
        return None if columns_parsed is None else [columns_parsed[request.column] for request in requests]

    def _parse_body(self, requests: Sequence[Request], row: int, typed: bool) -> list[pl.Series]:
        """Return the body parsed by the engine, under the dtypes of the requests or else as text."""
        import polars as pl

        offset, lines = self._text.find_body(row)
        if typed and (self._text.stand_in or (self.look.decimal == "," and self._text.delimiter == ",")):
            typed = False
        if typed and self.look.decimal == "," and offset is not None and self._text.content.find(b".", offset) >= 0:
            typed = False
        wanted = {request.column: engine_dtype(request.dtype) if typed else pl.String for request in requests}
        if offset is None:
            return [pl.Series([], dtype=wanted[request.column]) for request in requests]
        text, lines = self._text.engine_source(offset, lines)
        decimal_comma = typed and self.look.decimal == ","
        columns_parsed = parse_columns(
            text, wanted, delimiter=self._text.delimiter, skip_lines=lines, decimal_comma=decimal_comma
        )
        if columns_parsed is None:
            return self._parse_body(requests, row, typed=False) if typed else self._cell_by_cell(requests, row)
        columns = [columns_parsed[request.column] for request in requests]
        if self._text.stand_in:
            columns = [column.str.replace_all(self._text.stand_in, '"', literal=True) for column in columns]
        return columns

    def _cell_by_cell(self, requests: Sequence[Request], row: int) -> list[pl.Series]:
        """Return the body by splitting record after record: the engine has refused the text."""
        import polars as pl

        def columns(records: Records) -> list[list[str | None]]:
            results: list[list[str | None]] = [[] for _ in requests]
            for cells in records.rows_from(row, max(request.column for request in requests) + 1):
                for column, request in zip(results, requests, strict=True):
                    column.append(cells[request.column] if request.column < len(cells) else None)
            return results

        return [
            pl.Series(self._text.put_quotes_back(column), dtype=pl.String)
            for column in self._text.with_records(columns)
        ]
