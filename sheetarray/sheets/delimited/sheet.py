"""A delimited text as a sheet of cells: a few of them one by one, its columns in bulk.

The columnar engine parses the body straight from the file. It takes every quote for the beginning or the end of a
quoted cell, so a text whose quotes stand otherwise (`5" pipe`) is made sound first.
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...cells import FormulaMode, TextLook, engine_dtype
from ...columns import ColumnCells, Request, Texts, Words, Zone, cell_address, find_anchors
from ...dtypes import from_name
from ...elements import Cell
from ...elements.spelling import DecimalMark
from ...errors import Finding, FormatError, LimitError
from ...files import BytesLike, Source, refuse_empty
from .bulk import parse_columns, parse_numbers
from .dialect import (
    SINGLE_COLUMN,
    canonical_encoding,
    check_marks,
    find_decimal,
    find_delimiter,
    find_encoding,
    find_table_delimiter,
    find_unused_delimiter,
    read_first_records,
)
from .records import BLOCK, Records, UnsoundError, has_lone_returns
from .sound import make_sound

if TYPE_CHECKING:
    import polars as pl

_BUDGETS = (20_000, 1_000_000, 1_000_000_000)  # cells that are looked at next
FIRST_BYTES = 4_000  # cells; as a rule, all that headers need
_BYTES_A_CELL = 12  # about; how much of the file is looked at for so many cells
_MOST_ROWS = 1200
_MOST_SAMPLED, _SAMPLED = 1000, 20_000  # data cells of an array, and of all, that may tell the decimal mark
_MOST_ABOVE = 256  # rows between the first cells of columns that are parsed together
_ROWS_ABOVE = 24
_MOST_GROUPS = 16  # of such columns
_ENDLESS = 2**40
_MOST_SHORT = 2000  # cells of a column that plain Python is fast enough with
_CELLS_AT_ONCE = 2**16
_FEED = ord("\n")
_TEXT = from_name("string")
_ZIP = b"PK\3\4"
Result = TypeVar("Result")


class CsvSheet:
    """The one sheet of a delimited text; `columns.Sheet` says what each method is for.

    Raises:
        FormatError: text in another encoding, or no array in it (and it is not meant as an ordinary table).
    """

    title: str | None = None
    max_rows: int | None = None

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
    ) -> None:
        if formulas not in ("escape", "keep"):
            raise LimitError(f'formulas is "escape" or "keep", not {formulas!r}')
        if delimiter is not None or decimal is not None:
            check_marks(delimiter or "\t", decimal or ".")
        self.notes: list[Finding] = []
        self.look = TextLook(".", formulas)
        refuse_empty(source.prefix(4))
        if source.prefix(4) == _ZIP:
            raise FormatError("a zip package, not text", hint="a workbook? then rename it, or name format='xlsx'")
        self._source = source
        self._encoding, self._mark = find_encoding(source.prefix(4))
        if encoding is not None:
            self._encoding = canonical_encoding(encoding)
            self._mark = 0 if find_encoding(source.prefix(4))[0] != self._encoding else self._mark
        self._of_source = self._encoding, self._mark  # which the text in memory may no longer have
        self._content: BytesLike | bytearray = b""
        self._changed = False  # whether it is another text than the file's own
        self._stand_in = ""  # for quotes that are no more than characters
        self._table = table
        self._known_words: Words | None = None
        if table:
            mark = delimiter or self._find_table_delimiter(skip_rows, comment)
        else:
            self._take_content()
            likely = delimiter or find_delimiter(self._units, self._mark)
            mark = "," if likely is None else likely
        self._single = mark == SINGLE_COLUMN
        if self._single:
            self._take_content()
            mark = find_unused_delimiter(self._content)
        self._delimiter = mark
        self._records: Records | None = None
        delimiter_used = decimal or self._find_decimal()
        self._undecided = delimiter_used is None
        self.look = TextLook(delimiter_used or ".", formulas)

    # The dialect ---------------------------------------------------------------------------------------------

    def _find_table_delimiter(self, skip_rows: int | Collection[int], comment: str | None) -> str:
        text, ended = self._decode_cells(FIRST_BYTES)
        for budget in _BUDGETS:
            if ended or text.strip("\n\r\t ,;|"):
                break
            text, ended = self._decode_cells(budget)  # nothing but blanks so far
        if not text.strip("\n\r\t ,;|"):
            return next((mark for mark in ",;\t|" if mark in text), ",")
        return find_table_delimiter(text, ended=ended, skip_rows=skip_rows, comment=comment)

    def _find_decimal(self) -> DecimalMark | None:
        if self._table:
            return "."  # decided column by column
        anchors = [a for a in find_anchors(self) if a.header and a.header.dtype.kind in ("float", "complex")]
        most = max(1, min(_MOST_SAMPLED, _SAMPLED // max(len(anchors), 1)))
        places = [(anchor.data_cell, anchor.orient) for anchor in anchors[:_SAMPLED]]
        zones = [Zone(row, column, most, orient) for (column, row), orient in places]
        return find_decimal([cell for cells in self.zones(zones) for cell in cells])

    def try_other_decimal(self) -> bool:
        """Read with a decimal comma from now on, where nothing has spoken for the point; False where something has."""
        if not self._undecided or self._delimiter == ",":
            return False
        self._undecided = False
        self.look = TextLook(",", self.look.formulas)
        return True

    @property
    def delimiter(self) -> str:
        """What stands between cells; `SINGLE_COLUMN` where each line is one."""
        return SINGLE_COLUMN if self._single else self._delimiter

    @property
    def file_encoding(self) -> tuple[str, int]:
        """The encoding of the file, and the bytes of its byte order mark."""
        return self._of_source

    # The text ------------------------------------------------------------------------------------------------

    def _decode_cells(self, cells: int) -> tuple[str, bool]:
        encoding, mark = self._of_source
        count = cells * _BYTES_A_CELL * (2 if encoding.startswith("utf-16") else 1)
        raw = self._source.prefix(count)
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

    def _take_content(self) -> None:
        """Have all of the text in UTF-8; a plain file is mapped, not read."""
        if len(self._content):
            return
        raw = self._source.whole()
        if self._encoding == "utf-8":
            self._content = raw
            return
        try:
            text = codecs.decode(bytes(raw)[self._mark :], self._encoding)
        except UnicodeDecodeError as error:
            raise self._decoding_error(bytes(raw)[self._mark :], error) from error
        self._content, self._mark, self._changed = text.encode("utf-8", "surrogatepass"), 0, True
        self._encoding = "utf-8"

    @property
    def _units(self) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        return np.frombuffer(self._content, np.uint8)

    def _with_records(self, work: Callable[[Records], Result]) -> Result:
        """Return what comes of the records of the text; where readers would differ on them, the text is made sound
        first.

        Raises:
            FormatError: the text is not of its encoding.
        """
        self._take_content()
        self._records = self._records or Records(self._units, self._mark, self._delimiter)
        try:
            try:
                return work(self._records)
            except UnsoundError:
                self._content, self._stand_in = make_sound(self._units, self._mark, self._delimiter)
                self._changed, self._known_words = True, None
                self._records = Records(self._units, self._mark, self._delimiter)
                return work(self._records)
        except UnicodeDecodeError:
            whole = bytes(self._content)[self._mark :]
            try:
                whole.decode("utf-8")
            except UnicodeDecodeError as error:
                raise self._decoding_error(whole, error) from error
            raise

    def _plain(self, cells: list[Any]) -> list[Any]:
        """Return the same cells, with the quotes that something else stands for in the text."""
        if not self._stand_in:
            return cells
        return [cell.replace(self._stand_in, '"') if cell else cell for cell in cells]

    # Cells, for `columns` ------------------------------------------------------------------------------------

    def words(self) -> Words:
        """Return the words of headers, wherever in the text they are."""
        if self._known_words is None:
            self._known_words = self._with_records(Records.words)
        return self._known_words

    def zones(self, zones: Sequence[Zone]) -> list[list[Cell]]:
        """Return a few cells here and there."""
        return [self._plain(cells) for cells in self._with_records(lambda records: records.zones(zones))]

    def head(self, budget: int) -> tuple[Sequence[Sequence[Cell]], bool]:
        """Return the first rows."""
        for cells in (min(budget, FIRST_BYTES), budget):
            text, ended = self._decode_cells(cells)
            rows = read_first_records(text, self._delimiter, ended=ended, most=_MOST_ROWS)
            if ended or len(rows) == _MOST_ROWS:
                break
        return [row for row, _ in rows], ended and (not rows or rows[-1][1] == len(text))

    def rows(self, requests: Sequence[Request]) -> Iterator[ColumnCells]:
        """Rows, one by one, from a column on."""
        import polars as pl

        self._with_records(Records.check_sound)
        known: tuple[int, list[Any]] = -1, []
        ahead: Iterator[tuple[int, list[str]]] = iter(())
        for index, request in enumerate(requests):
            if request.row < known[0] or index == 0:  # as a rule they come from above to below
                known = -1, []
                ahead = self._read_rows(requests, index)
            while known[0] < request.row:
                row, cells = next(ahead, (request.row, []))
                known = row, self._plain(cells)
            cells = known[1][request.column : request.stop]
            yield [], Texts(cells) if len(cells) <= _MOST_SHORT else pl.Series(cells, dtype=pl.String)

    def _read_rows(self, requests: Sequence[Request], start: int) -> Iterator[tuple[int, list[str]]]:
        """Return the rows of requests from one on, as long as they come from above to below, with their cells."""
        assert self._records is not None
        rows = [requests[start].row]
        for request in requests[start + 1 :]:
            if request.row < rows[-1]:
                break
            if request.row > rows[-1]:
                rows.append(request.row)
        return self._records.records_of(rows)

    def columns(self, requests: Sequence[Request], *, typed: bool) -> list[ColumnCells]:
        """Columns in bulk."""
        results: dict[int, ColumnCells] = {}
        for group, alone in _groups(requests):
            some = [requests[index] for index in group]
            cells = self._parse_together(some, typed=typed) if alone else self._slices(some)
            results.update(zip(group, cells, strict=True))
        return [results[index] for index in range(len(requests))]

    def _slices(self, requests: Sequence[Request]) -> list[ColumnCells]:
        """Requests of many rows: their columns are parsed once, as text, and cut."""
        first = min(request.row for request in requests)
        columns = sorted({request.column for request in requests})
        whole = self._parse_together([Request(column, first, _TEXT) for column in columns], typed=False)
        slices = {column: _Slices(rest) for column, (_, rest) in zip(columns, whole, strict=True)}
        return [
            ([], slices[column].cut(row - first, None if stop is None else stop - first))
            for column, row, stop in ((request.column, request.row, request.stop) for request in requests)
        ]

    def _parse_together(self, requests: Sequence[Request], *, typed: bool) -> list[ColumnCells]:
        """Requests of different columns that begin in about the same row: what stands above their common body, and it.

        The body comes from the engine; of text that readers would split differently, after it is made sound.
        """
        row = max(request.row for request in requests)
        bodies = self._parse_number_body(requests, row) if typed else None
        if bodies is None:
            self._with_records(Records.check_sound)
            width = max(request.column for request in requests) + 1
            wanted = list(requests)
            if not self._single:
                rows = sorted({0, *range(max(0, row - _ROWS_ABOVE), row)})  # which tell how wide the sheet is
                width = max([width, *map(len, self.zones([Zone(above, 0, _ENDLESS, "rows") for above in rows]))])
                if len(words := self.words().columns):
                    width = max(width, 1 + int(words.max()))  # arrays may stand to the right of these, further down
                wanted.append(Request(width, row, _TEXT))
            bodies = self._parse_body(wanted, row, typed)
            if not self._single:
                self._warn_of_wide_row(bodies.pop(), row, width)
        heads = self.zones([Zone(request.row, request.column, row - request.row, "columns") for request in requests])
        return [_cut_at_stop(head, body, request) for request, head, body in zip(requests, heads, bodies, strict=True)]

    def _warn_of_wide_row(self, beyond: pl.Series, row: int, column: int) -> None:
        """Remark on a row that is wider than the sheet: a decimal comma that somebody typed has moved its cells."""
        if beyond.null_count() == len(beyond):
            return
        filled = (beyond != "").arg_true()
        if len(filled):
            more = f" (and {len(filled) - 1} more)" if len(filled) > 1 else ""
            hint = "a decimal comma or a delimiter in text, which has moved the cells of its row?"
            place = cell_address(row + int(filled[0]), column)
            self.notes = [Finding("warning", place, f"a cell to the right of all columns{more}", hint)]

    def _parse_number_body(self, requests: Sequence[Request], row: int) -> list[pl.Series] | None:
        """Return the body of a sheet that holds nothing but numbers, all of them asked for; None where it may hold
        more.
        """
        columns = {request.column: engine_dtype(request.dtype) for request in requests}
        if self.look.decimal == "," or set(columns) != set(range(len(columns))) or self._stand_in:
            return None
        offset, lines = self._find_body(row)
        if offset is None or has_lone_returns(self._units, offset):
            return None
        text, lines = self._engine_source(offset, lines)
        columns_parsed = parse_numbers(text, columns, delimiter=self._delimiter, skip_lines=lines)
        return None if columns_parsed is None else [columns_parsed[request.column] for request in requests]

    def _find_body(self, row: int) -> tuple[int | None, int]:
        """Return where a row begins in the text, and how many line feeds come before; None where the text has ended."""
        offset = self._with_records(lambda records: records.place_of(row))
        if offset is None:
            return None, 0
        units = self._units
        return offset, sum(
            int(np.count_nonzero(units[first : min(first + BLOCK, offset)] == _FEED))
            for first in range(0, offset, BLOCK)
        )

    def _engine_source(self, offset: int, lines: int) -> tuple[Any, int]:
        """Return what the engine is given, and how many line feeds it is to skip: the file itself, if its text lies
        there.

        The engine takes a byte order mark away that comes first in the text, or first after the lines that it skips:
        a text or a body that begins with U+FEFF of its own is given without what comes before, after one more of them.

        Args:
            offset: where the rows begin that it is to parse.
            lines: how many line feeds come before.
        """
        if bytes(self._content[offset : offset + len(codecs.BOM_UTF8)]) == codecs.BOM_UTF8:
            return codecs.BOM_UTF8 + bytes(self._content[offset:]), 0
        path = self._source.path
        return path if not self._changed and path is not None else bytes(self._content), lines

    def _parse_body(self, requests: Sequence[Request], row: int, typed: bool) -> list[pl.Series]:
        """Return the body parsed by the engine, under the dtypes of the requests or else as text."""
        import polars as pl

        offset, lines = self._find_body(row)
        if typed and (self._stand_in or (self.look.decimal == "," and self._delimiter == ",")):
            typed = False
        if typed and self.look.decimal == "," and offset is not None and self._content.find(b".", offset) >= 0:
            typed = False
        wanted = {request.column: engine_dtype(request.dtype) if typed else pl.String for request in requests}
        if offset is None:
            return [pl.Series([], dtype=wanted[request.column]) for request in requests]
        text, lines = self._engine_source(offset, lines)
        decimal_comma = typed and self.look.decimal == ","
        columns_parsed = parse_columns(
            text, wanted, delimiter=self._delimiter, skip_lines=lines, decimal_comma=decimal_comma
        )
        if columns_parsed is None:
            return self._parse_body(requests, row, typed=False) if typed else self._cell_by_cell(requests, row)
        columns = [columns_parsed[request.column] for request in requests]
        if self._stand_in:
            columns = [column.str.replace_all(self._stand_in, '"', literal=True) for column in columns]
        return columns

    def _cell_by_cell(self, requests: Sequence[Request], row: int) -> list[pl.Series]:
        """Return the body where the engine refuses the text."""
        import polars as pl

        def columns(records: Records) -> list[list[str | None]]:
            results: list[list[str | None]] = [[] for _ in requests]
            for cells in records.rows_from(row, max(request.column for request in requests) + 1):
                for column, request in zip(results, requests, strict=True):
                    column.append(cells[request.column] if request.column < len(cells) else None)
            return results

        return [pl.Series(self._plain(column), dtype=pl.String) for column in self._with_records(columns)]


def _groups(requests: Sequence[Request]) -> Iterator[tuple[list[int], bool]]:
    """Yield the indices of requests that are parsed together, and whether each column among them is asked for once.

    Together are those that begin in about the same row. Columns with several arrays are one group, and so is
    everything where arrays begin in very many rows.
    """
    times = Counter(request.column for request in requests)
    alone = [index for index, request in enumerate(requests) if times[request.column] == 1]
    others = [index for index, request in enumerate(requests) if times[request.column] > 1]
    alone.sort(key=lambda index: requests[index].row)
    groups: list[list[int]] = []
    for index in alone:
        if groups and requests[index].row - requests[groups[-1][0]].row <= _MOST_ABOVE:
            groups[-1].append(index)
        else:
            groups.append([index])
    if len(groups) > _MOST_GROUPS:
        others, groups = others + alone, []
    yield from ((group, True) for group in groups)
    if others:
        yield others, False


class _Slices:
    """Parts of a long column of text: those of a few cells as lists, of which many are made at once."""

    def __init__(self, column: Any) -> None:
        self._column = column
        self._first, self._cells = 0, column[:_CELLS_AT_ONCE].to_list()

    def cut(self, first: int, end: int | None) -> pl.Series | Texts:
        """Return the cells from the first one to the one before the end."""
        end = len(self._column) if end is None else end
        if end - first > _MOST_SHORT:
            part: pl.Series = self._column[first:end]
            return part
        if not self._first <= first <= end <= self._first + len(self._cells):
            self._first, self._cells = first, self._column[first : max(end, first + _CELLS_AT_ONCE)].to_list()
        return Texts(self._cells[first - self._first : end - self._first])


def _cut_at_stop(head: list[Cell], body: pl.Series, request: Request) -> ColumnCells:
    """Return the cells of a request: those before the common body, and those in it, as far as the request goes."""
    if request.stop is None:
        return head, body
    count = request.stop - request.row
    return head[:count], body[: max(0, count - len(head))]
