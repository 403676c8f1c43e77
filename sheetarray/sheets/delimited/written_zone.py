"""The rows of headers of a text as `write_csv` writes it: one array a column from the first cell on.

Any difference raises `UnusualError`: then `CsvSheet` reads the text, which knows all cases and says what is wrong.
"""

from __future__ import annotations

from functools import cached_property
from itertools import repeat

from ...cells import FormulaMode
from ...columns import ArrayInfo, DataCells, cell_address
from ...columns.words import NONE, code_of
from ...elements import unescape_formula
from ...errors import Finding, FormatError
from ...files import BytesLike
from ...header import MAX_HEADER_CELLS, AddressOf, Header, parse_header
from .dialect import DELIMITERS
from .records import Records
from .search import has_words

_VERSION, _NUMBER, _NDARRAY, _DATA = b"version", b"1.0.0", b"ndarray", b"data"
_LONGEST_ROW = 2**16  # bytes of a row beside the headers that goes on in other lines
UNUSED = "\x1f"  # the delimiter of a text of one column: the engine needs one


class UnusualError(Exception):
    """The text is to be read cell by cell."""


def check_usual(holds: object) -> None:
    """Raise `UnusualError` unless `holds` is true: something that holds of every text as `write_csv` writes it."""
    if not holds:
        raise UnusualError


class WrittenZone:
    """The names and headers of such a text, and the elements that stand beside longer headers.

    `start`: the position at which it begins, after a byte order mark. `delimiter`: between cells; None finds it.

    Attributes:
        width: the number of columns.
        columns: the column of each array, by name.
        mark: the delimiter; empty where there is one column.
        lines: the number of lines of the text that the zone takes.
        end: the position at which the body begins in the text.
        wants_many: whether the headers of most columns will be asked for.

    Raises:
        UnusualError: it is no such text.
    """

    def __init__(self, content: BytesLike, start: int, delimiter: str | None, formulas: FormulaMode) -> None:
        self._content, self.end, self.lines = content, start, 0
        self.wants_many = True
        self._headers: dict[tuple[str, ...], tuple[Header, int]] = {}
        first, second, third, fourth = (self._take_line() for _ in range(4))
        check_usual(second.startswith(_VERSION))
        self.mark = second[len(_VERSION) : len(_VERSION) + 1]
        self.width = (len(second) + 1) // (len(_VERSION) + 1)
        for line, word in ((second, _VERSION), (third, _NUMBER), (fourth, _NDARRAY)):
            check_usual(line == self.mark.join(repeat(word, self.width)))
        text = self.mark.decode("ascii", "replace")
        check_usual(text in DELIMITERS if self.width > 1 else delimiter is None)
        check_usual(delimiter in (None, text))
        self.columns = self._parse_names(first, formulas)
        self._rows, self._ends = self._take_rows()

    def header(self, column: int) -> Header:
        """Return the header of a column.

        Raises:
            UnusualError: it is broken.
        """
        end = self._ends[column]
        cells = self._cells_of_columns[column][:end] if self.wants_many else tuple(r[column] for r in self._rows[:end])
        known = self._headers.get(cells)
        if known is None:
            try:
                known = parse_header(cells, note=_refuse)
            except FormatError:
                raise UnusualError from None
            check_usual(known[0].part is None and known[1] == len(cells))
            self._headers[cells] = known
        return known[0]

    def cells_below(self, column: int) -> list[str]:
        """Return the cells below the header of a column that stand beside longer headers."""
        return [row[column] for row in self._rows[self._ends[column] :]]

    @property
    def height(self) -> int:
        """The number of its rows."""
        return len(self._rows)

    def addresses_in(self, column: int) -> AddressOf:
        """Return a function that gives the address of a data cell of a column, by its index."""
        return lambda index: cell_address(self._ends[column] + 1 + index, column)

    def describe(self, name: str) -> ArrayInfo:
        """Return the info of an array, as `scan` gives it.

        Raises:
            UnusualError: its header is broken.
        """
        column = self.columns[name]
        data = self._find_data_cells(column)
        return ArrayInfo.from_header(self.header(column), cell_address(1, column), self._ends[column], data=data)

    def _find_data_cells(self, column: int) -> tuple[DataCells, ...]:
        """Return the ranges of a column's data cells; none for complex numbers that may take two cells each."""
        header, beside = self.header(column), self._rows[self._ends[column] :]
        if header.dtype.kind == "complex" and header.capacity:
            line = bytes(self._content[self.end : self._content.find(b"\n", self.end)])
            text = line.decode("utf-8", "replace")
            cells = text.split(self.mark.decode()) if self.width > 1 else [text]
            first = beside[0] if beside else [] if b'"' in line else cells
            if column >= len(first) or not first[column].strip().endswith(("i", "j")):
                return ()
        return (DataCells(None, self._ends[column] + 1, column, "columns"),)

    # Lines and rows ------------------------------------------------------------------------------------------

    def _take_line(self) -> bytes:
        """Take the next line of the text."""
        end = self._content.find(b"\n", self.end)
        check_usual(end >= 0)
        line = self._content[self.end : end]
        self.end, self.lines = end + 1, self.lines + 1
        if line[-1:] == b"\r":
            line = line[:-1]
        check_usual(b"\r" not in line)
        return line

    def _parse_names(self, line: bytes, formulas: FormulaMode) -> dict[str, int]:
        """Return the columns of the names in the first row."""
        check_usual(b'"' not in line)
        names = self._split(line)
        check_usual(not has_words(line, 0) or all(code_of(name) == NONE for name in names))
        if formulas == "escape" and b"'" in line:
            names = list(map(unescape_formula, names))
        check_usual(all(map(str.strip, names)))
        columns = dict(zip(names, range(self.width), strict=True))
        check_usual(len(columns) == self.width)
        return columns

    def _split(self, line: bytes) -> list[str]:
        """Split a line into as many cells as there are columns; cells that are all equal are not even split."""
        first = line.partition(self.mark)[0] if self.width > 1 else line
        is_even = self.width > 1 and line == self.mark.join(repeat(first, self.width))
        try:
            text = first.decode("utf-8") if is_even else line.decode("utf-8")
        except UnicodeDecodeError:
            raise UnusualError from None
        if is_even:
            return [text] * self.width
        cells = text.split(self.mark.decode()) if self.width > 1 else [text]
        check_usual(len(cells) == self.width)
        return cells

    def _split_quoted(self, start: int) -> list[str]:
        """Split a row whose first line has been taken, and which may go on in others."""
        quotes = bytes(self._content[start : self.end]).count(b'"')
        while quotes % 2:
            check_usual(self.end - start < _LONGEST_ROW)
            quotes += self._take_line().count(b'"')
        row = bytes(self._content[start : self.end])
        try:
            records = list(Records(row, 0, self.mark.decode()).rows_from(0, self.width + 1))
        except (UnicodeDecodeError, FormatError):
            raise UnusualError from None
        check_usual(len(records) == 1 and len(records[0]) == self.width)
        return records[0]

    def _take_rows(self) -> tuple[list[list[str]], list[int]]:
        """Return the rows down to the last key `data`, and the number of cells of each column that its header takes."""
        rows = [[word.decode()] * self.width for word in (_VERSION, _NUMBER, _NDARRAY)]
        ends = [0] * self.width
        last = self.mark.join(repeat(_DATA, self.width))
        while not all(ends):
            check_usual(len(rows) < MAX_HEADER_CELLS)
            start = self.end
            line = self._take_line()
            row = self._split(line) if b'"' not in line else self._split_quoted(start)
            rows.append(row)
            if line == last:
                check_usual(not any(ends))
                return rows, [len(rows)] * self.width
            for column, cell in enumerate(row) if "data" in row else ():
                if cell == "data":
                    check_usual(not ends[column])
                    ends[column] = len(rows)
        for column, end in enumerate(ends):
            check_usual(all(code_of(row[column]) == NONE for row in rows[end:]))
        return rows, ends

    @cached_property
    def _cells_of_columns(self) -> list[tuple[str, ...]]:
        """The cells of the zone, by column."""
        return list(zip(*self._rows, strict=True))


def _refuse(_: Finding) -> None:
    raise UnusualError
