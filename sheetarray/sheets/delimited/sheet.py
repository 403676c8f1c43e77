"""A delimited text as a sheet of cells: its first rows one by one, its columns in bulk.

The columnar engine parses the body straight from the file. It takes every quote for the beginning or the end of a
quoted cell, so a text whose quotes stand otherwise (`5" pipe`) is read cell by cell instead.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...cells import Formulas, TextLook, engine_dtype
from ...columns import Cells, Request, a1, find_anchors
from ...dtypes import named
from ...elements import Cell
from ...errors import Finding, FormatError, LimitError
from ...files import Bytes, Source
from .bulk import parse, parse_numbers, well_quoted
from .dialect import (
    SINGLE_COLUMN,
    Decimal,
    check_marks,
    find_decimal,
    find_delimiter,
    find_encoding,
    find_table_delimiter,
    first_records,
    records,
    text_encoding,
    unused_delimiter,
)

if TYPE_CHECKING:
    import polars as pl

_BUDGETS = (20_000, 1_000_000, 1_000_000_000)  # cells that are looked at next
_FIRST_LOOK = 4_000  # cells; as a rule, all that headers need
_BYTES_A_CELL = 12  # about; how much of the file is looked at for so many cells
_MOST_ROWS = 1200
_TEXT = named("string")
_ZIP = b"PK\3\4"
_LONE_RETURN = re.compile(r"\r(?=[^\n])")


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
        decimal: Decimal | None,
        encoding: str | None,
        formulas: Formulas,
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
        if source.prefix(4) == _ZIP:
            raise FormatError("a zip package, not text", hint="a workbook? then rename it, or name format='xlsx'")
        self._source = source
        self._encoding, self._mark = find_encoding(source.prefix(4))
        if encoding is not None:
            self._encoding = text_encoding(encoding)
            self._mark = 0 if find_encoding(source.prefix(4))[0] != self._encoding else self._mark
        self._utf8: bytes | None = None
        self._records: list[tuple[list[str], int]] = []
        self._head_text = ""
        self._whole_rows: list[list[str]] | None = None
        self._table, self._skip_rows, self._comment = table, skip_rows, comment
        text, ended = self._text(_FIRST_LOOK)
        found = delimiter or self._find_delimiter(text, ended)
        self._single = found == SINGLE_COLUMN
        self._delimiter = unused_delimiter(text) if self._single else found
        mark = decimal or self._find_decimal()
        self._undecided = mark is None
        self.look = TextLook(mark or ".", formulas)

    # The dialect ---------------------------------------------------------------------------------------------

    def _find_delimiter(self, text: str, ended: bool) -> str:
        if self._table:
            for budget in _BUDGETS:
                if ended or text.strip("\n\r\t ,;|"):
                    break
                text, ended = self._text(budget)  # nothing but blanks so far
            if not text.strip("\n\r\t ,;|"):
                return next((mark for mark in ",;\t|" if mark in text), ",")
            return find_table_delimiter(text, ended=ended, skip_rows=self._skip_rows, comment=self._comment)
        found = find_delimiter(text, ended=ended)
        for budget in _BUDGETS[:2]:
            if found is not None or ended:
                break
            text, ended = self._text(budget)
            found = find_delimiter(text, ended=ended)
        return "," if found is None else found

    def _find_decimal(self) -> Decimal | None:
        grid, ended = self.head(20_000)
        if self._table:
            return "."  # decided column by column
        cells: list[Cell] = []
        for anchor in find_anchors(grid, ended=ended):
            if anchor.header is None or anchor.header.dtype.kind not in ("float", "complex"):
                continue
            if anchor.orient == "rows":
                cells += grid[anchor.row][anchor.column + anchor.start :]
            else:
                cells += [row[anchor.column] for row in grid[anchor.row + anchor.start :] if len(row) > anchor.column]
        return find_decimal(cells)

    def try_other_decimal(self) -> bool:
        """Read with a decimal comma from now on, where nothing has spoken for the point; False where something has."""
        if not self._undecided or self._delimiter == ",":
            return False
        self._undecided = False
        self.look = TextLook(",", self.look.formulas)
        return True

    # The text ------------------------------------------------------------------------------------------------

    def _text(self, cells: int) -> tuple[str, bool]:
        count = cells * _BYTES_A_CELL * (2 if self._encoding.startswith("utf-16") else 1)
        raw = self._source.prefix(count)
        ended = len(raw) < count
        decoder = codecs.getincrementaldecoder(self._encoding)("strict")
        try:
            return decoder.decode(raw[self._mark :], final=ended), ended
        except UnicodeDecodeError as error:
            raise self._undecodable(raw[self._mark :], error) from error

    def _undecodable(self, raw: bytes, error: UnicodeDecodeError) -> FormatError:
        line = raw.count(b"\n", 0, error.start) + 1
        return FormatError(
            f"no text in {self._encoding}: byte {raw[error.start]:#04x}", location=f"line {line}",
            hint="name the encoding, for example encoding='cp1252'",
        )  # fmt: skip

    def _whole(self) -> Bytes:
        """All of the text as UTF-8, records ending in a line feed."""
        if self._utf8 is not None:
            return self._utf8
        raw = self._source.whole()
        plain = self._encoding == "utf-8" and not self._only_returns()
        if plain:
            return raw
        try:
            text = codecs.decode(bytes(raw)[self._mark :], self._encoding)
        except UnicodeDecodeError as error:
            raise self._undecodable(bytes(raw)[self._mark :], error) from error
        if self._only_returns():
            text = text.replace("\r", "\n")
        self._utf8, self._mark = text.encode("utf-8", "surrogatepass"), 0
        self._encoding = "utf-8"
        return self._utf8

    def _only_returns(self) -> bool:
        return "\r" in self._head_text and "\n" not in self._head_text

    def _whole_text(self) -> str:
        whole = bytes(self._whole())[self._mark :]
        try:
            return whole.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._undecodable(whole, error) from error

    # Cells, for `columns` ------------------------------------------------------------------------------------

    def head(self, budget: int) -> tuple[Sequence[Sequence[Cell]], bool]:
        """The first rows."""
        for cells in (min(budget, _FIRST_LOOK), budget):
            text, ended = self._text(cells)
            if text != self._head_text or not self._records:
                self._head_text = text
                self._records = first_records(text, self._delimiter, ended=ended, most=_MOST_ROWS)
            if ended or len(self._records) == _MOST_ROWS:
                break
        whole = ended and (not self._records or self._records[-1][1] == len(text))
        return [cells for cells, _ in self._records], whole

    def beginnings(self, width: int) -> Sequence[Sequence[Cell]]:
        """The first cells of every row."""
        return [cells[:width] for cells in self._rows(width)]

    def row(self, row: int, column: int) -> Cells:
        """One row, from a column on."""
        import polars as pl

        if self._whole_rows is None:
            self._whole_rows = self._rows(None)
        return [], pl.Series(self._whole_rows[row][column:], dtype=pl.String)

    def _rows(self, width: int | None) -> list[list[str]]:
        text = self._whole_text()
        if '"' in text:
            return [cells for cells, _ in islice(records(text, self._delimiter), _MOST_ROWS)]
        lines = text.replace("\r\n", "\n").split("\n", _MOST_ROWS)[:_MOST_ROWS]
        return [line.split(self._delimiter, -1 if width is None else width) for line in lines]

    def columns(self, requests: Sequence[Request], *, typed: bool) -> list[Cells]:
        """Columns in bulk: what stands above the common body from the first rows, the body from the engine."""
        body_row = max(request.row for request in requests)
        width = max((len(cells) for cells, _ in self._records[:body_row]), default=0)
        if typed and (bodies := self._numbers(requests, body_row, width)) is not None:
            return self._with_heads(requests, body_row, bodies)
        if self._single:
            self._delimiter = unused_delimiter(self._whole())
        wanted = list(requests)
        if not self._single:
            wanted.append(Request(max(width, 1 + max(r.column for r in requests)), body_row, _TEXT))
        frame = self._parsed(wanted, body_row, typed) or self._cell_by_cell(wanted, body_row)
        if not self._single:
            self._note_beyond(frame.pop(), body_row, wanted[-1].column)
        return self._with_heads(requests, body_row, frame)

    def _with_heads(self, requests: Sequence[Request], body_row: int, bodies: Sequence[pl.Series]) -> list[Cells]:
        heads = [
            [
                cells[request.column] if request.column < len(cells) else None
                for cells, _ in self._records[request.row : body_row]
            ]
            for request in requests
        ]
        return list(zip(heads, bodies, strict=True))

    def _note_beyond(self, beyond: pl.Series, row: int, column: int) -> None:
        """Remark on a row that is wider than the sheet: a decimal comma that somebody typed has moved its cells."""
        if beyond.null_count() == len(beyond):
            return
        filled = (beyond != "").arg_true()
        if len(filled):
            more = f" (and {len(filled) - 1} more)" if len(filled) > 1 else ""
            hint = "a decimal comma or a delimiter in text, which has moved the cells of its row?"
            place = a1(row + int(filled[0]), column)
            self.notes = [Finding("warning", place, f"a cell to the right of all columns{more}", hint)]

    def _numbers(self, requests: Sequence[Request], body_row: int, width: int) -> list[pl.Series] | None:
        """The body of a sheet that holds nothing but numbers, all of them asked for; None where it may hold more."""
        columns = {request.column: engine_dtype(request.dtype) for request in requests}
        if self.look.decimal == "," or set(columns) != set(range(width)) or self._has_lone_returns():
            return None
        whole, offset = self._body(body_row)
        if offset >= len(whole):
            return None
        lines = whole[:offset].count(b"\n")
        found = parse_numbers(self._parsable(whole), columns, delimiter=self._delimiter, skip_lines=lines)
        return None if found is None else [found[request.column] for request in requests]

    def _body(self, body_row: int) -> tuple[Bytes, int]:
        """The text, and where the body begins in it, in bytes."""
        whole = self._whole()
        skipped = self._records[body_row - 1][1] if 0 < body_row <= len(self._records) else 0
        return whole, self._mark + len(self._head_text[:skipped].encode("utf-8", "surrogatepass"))

    def _has_lone_returns(self) -> bool:
        return _LONE_RETURN.search(self._head_text) is not None and not self._only_returns()

    def _parsable(self, whole: Bytes) -> Any:
        """What the engine is given: the file itself, if its text is as it lies there."""
        return self._source.path if self._utf8 is None and self._source.path is not None else bytes(whole)

    def _parsed(self, requests: Sequence[Request], body_row: int, typed: bool) -> list[pl.Series] | None:
        """The body parsed by the engine; None where it cannot be trusted with it."""
        import polars as pl

        whole, offset = self._body(body_row)
        if self._has_lone_returns():
            return None
        if not well_quoted(whole, offset, self._delimiter):
            return None
        if typed and self.look.decimal == "," and (self._delimiter == "," or whole.find(b".", offset) >= 0):
            typed = False
        wanted = {request.column: engine_dtype(request.dtype) if typed else pl.String for request in requests}
        if offset >= len(whole):
            return [pl.Series([], dtype=wanted[request.column]) for request in requests]
        found = parse(
            self._parsable(whole), wanted, delimiter=self._delimiter, skip_lines=whole[:offset].count(b"\n"),
            decimal_comma=typed and self.look.decimal == ",",
        )  # fmt: skip
        if found is None:
            return self._parsed(requests, body_row, typed=False) if typed else None
        return [found[request.column] for request in requests]

    def _cell_by_cell(self, requests: Sequence[Request], body_row: int) -> list[pl.Series]:
        import polars as pl

        found: list[list[str | None]] = [[] for _ in requests]
        for cells, _ in islice(records(self._whole_text(), self._delimiter), body_row, None):
            for column, request in zip(found, requests, strict=True):
                column.append(cells[request.column] if request.column < len(cells) else None)
        return [pl.Series(column, dtype=pl.String) for column in found]
