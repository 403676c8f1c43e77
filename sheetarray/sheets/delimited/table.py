"""A delimited text as an ordinary table: all of its columns, and the rows that hold something."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import loops
from ...columns import cell_address
from ...dtypes import Mask, Positions
from ...elements import Cell, FormulaMode
from ...errors import FormatError, OtherContentError
from ...files import BytesLike, Source, refuse_empty
from ...tables import (
    COMMON,
    ROWS_OF_ANCHOR,
    SHORT,
    SPACED,
    TOP_ROWS,
    WHITESPACE,
    Choice,
    Doubt,
    Marks,
    Table,
    TableOptions,
    TextColumn,
    delimiter_pattern,
    find_marks,
    stands_between_values,
)
from .commented import uncomment_names
from .dialect import find_delimiter
from .joined_texts import JoinedTexts
from .mending import ODD_HINT, mend_rows, spell_rows
from .number_columns import Kept, NumberColumns, Plan, asks_for_texts, plan_values
from .plain_records import RecordBlock, Run, split_records
from .records import ENDLESS, Records
from .sheet import EVERY_HEADER
from .text_columns import JoinedColumn
from .tidying import TidyText, check_table_marks, iter_signs, take_sample, tell_control_characters, tidy_text

if TYPE_CHECKING:
    import polars as pl

_MOST_COLUMNS = 2**17
_SMALL = 2**18  # bytes of a text that is cut into cells at once
_LOW = 2**16  # rows of a column that is a list
MOST_BLANK = 2**24  # cells of a table that has more cells than its text has characters: nearly all of them are blank
MOST_BLANK_LINES = 12 * 2**20
_ZIP = b"PK\3\4"
_BEGINNING = 256  # bytes that tell what else a text is
_OTHER_TEXTS = {  # what begins so is no table; and what to do
    r"<!doctype html|<html": ("a page of HTML", "was a page saved that asks to sign in? open the file in a browser"),
    r"<\?xml": ("XML", "open it in a spreadsheet program, and save it as .xlsx or .csv"),
    r"version https://git-lfs": ("a pointer of Git LFS", "`git lfs pull` fetches the file that it stands for"),
    r'\{\s*"[^"]*"\s*:|\[\s*\{\s*"': ("JSON", "read it by json.load or pandas.read_json"),
}
_HEAD = 2**18  # bytes at the beginning in which an array of the exchange format is looked for
_WIDE_HEAD = 2**21  # bytes that are looked at instead, if the rows of an anchor end there: of very many columns
_BETWEEN = "\x1f"  # stands between cells whose delimiter has several characters
_ODD_QUOTES = "a quote stands beside no delimiter: row {} was cut anew, as its neighbours are"


class CsvTable:
    """The one sheet of a delimited text that is meant as a table; see `tables.TableSheet`.

    `options`: of the caller. `delimiter`, `quotechar`, `escapechar`: None finds them. `encoding`: None finds it.
    `formulas`: "escape" removes the apostrophe before text that a spreadsheet would evaluate.

    Raises:
        FormatError: no text, or text in another encoding.
    """

    title: str | None = None

    def __init__(
        self,
        source: Source,
        options: TableOptions,
        delimiter: str | None = None,
        encoding: str | None = None,
        quotechar: str | None = None,
        escapechar: str | None = None,
        formulas: FormulaMode = "escape",
    ) -> None:
        if formulas not in ("escape", "keep"):
            raise ValueError(f'formulas is "escape" or "keep", not {formulas!r}')
        start = source.prefix(4)
        refuse_empty(start)
        if start == _ZIP:
            raise OtherContentError("a zip package, not text", hint="a workbook? then rename it, or name format='xlsx'")
        _refuse_other_text(bytes(source.prefix(_BEGINNING)))
        given = {"delimiter": delimiter, "quotechar": quotechar, "escapechar": escapechar}
        self._known = frozenset(name for name, mark in given.items() if mark is not None)
        self._given = Marks(**{name: mark for name, mark in given.items() if mark is not None})
        if self._known:
            check_table_marks(self._given, options.decimal if "delimiter" in self._known else None)
        self._options, self._formulas = options, formulas
        self._text: TidyText = tidy_text(source.whole(), encoding)
        if "delimiter" not in self._known and self._text.delimiter is not None:
            self._given = Marks(self._text.delimiter, self._given.quotechar, self._given.escapechar)
            self._known |= {"delimiter"}
        self._doubts = self._text.doubts

    def first_rows(self) -> list[list[Cell]]:
        """Return the first rows, as those of a sheet with arrays; none if no array can be there."""
        content, end = self._text.content, 0
        for _ in range(ROWS_OF_ANCHOR):
            end = content.find(b"\n", end, _WIDE_HEAD) + 1 or _WIDE_HEAD
        top = bytes(content[: max(end, _HEAD)])
        lowered = np.bitwise_or(np.frombuffer(top, np.uint8), 0x20).tobytes()  # the letters, in an eighth of the time
        if not any(_holds_word(lowered, word) for word in EVERY_HEADER):
            return []
        delimiter = self._given.delimiter if "delimiter" in self._known else find_delimiter(self._text.content, 0)
        if delimiter is None or len(delimiter) > 1:
            return []
        rows = islice(split_records(top.decode("utf-8", "replace"), delimiter), TOP_ROWS)
        return [[*row] for row, _ in rows if row]

    @cached_property
    def _choice(self) -> Choice:
        """The marks of the text."""
        choice = find_marks(take_sample(self._text, self._options), self._given, known=self._known)
        marks = choice.marks
        if "delimiter" not in self._known and (not marks.delimiter or choice.is_spaced):
            delimiter = self._add_blank(marks) if marks.delimiter else self._find_below()
            marks = replace(marks, delimiter=delimiter)
        tell_control_characters(self._text, marks.delimiter.encode())
        if choice.rival is not None and not self._known:
            rival = repr(choice.rival) if choice.rival else "one column"
            taken = f"delimiter {marks.delimiter!r}" if marks.delimiter else "no delimiter"
            message = f"{taken} was taken, {rival} explains the rows nearly as well"
            self._doubts.append(Doubt("delimiter", message, 0, 0, "delimiter= decides it"))
        if marks != Marks(marks.delimiter) or marks.delimiter in SPACED:
            self._tell_unusual(marks)
        return replace(choice, marks=marks)

    def _add_blank(self, marks: Marks) -> str:
        """Return the delimiter with a blank behind it, if each one in the text has it; else without."""
        comma, content = marks.delimiter, bytes(self._text.content)
        spaced = comma + " "
        if marks.quotechar.encode() in content:
            count = content.count(spaced.encode())
        else:
            count = len(re.findall(delimiter_pattern(spaced).encode(), content))
        return spaced if count == content.count(comma.encode()) else comma

    def _tell_unusual(self, marks: Marks) -> None:
        """Note quotes, an escape and a blank behind delimiters that most texts do not have, and nobody has named."""
        messages = {}
        if marks.quotechar != '"':
            messages["quotechar"] = f"quotes {marks.quotechar!r} were assumed"
        if marks.escapechar:
            messages["escapechar"] = f"an escape before quotes, {marks.escapechar!r}, was assumed"
        if marks.delimiter in SPACED:
            messages["delimiter"] = f"a blank behind each delimiter, {marks.delimiter!r}, was assumed"
        for option, message in messages.items():
            if option not in self._known:
                self._doubts.append(Doubt(option, message, 0, 0, f"{option}= decides it"))

    def _find_below(self) -> str:
        """Return the delimiter between values further down than the first rows, which hold none; "" without one."""
        content = self._text.content
        for mark in COMMON:
            if (place := content.find(mark.encode())) >= 0:
                begin = content.rfind(b"\n", 0, place) + 1
                end = content.find(b"\n", place)
                line = bytes(content[begin : end if end >= 0 else len(content)]).decode("utf-8", "replace")
                if stands_between_values([line.rstrip("\r")], mark):
                    return mark
        return ""

    @cached_property
    def _plain(self) -> tuple[BytesLike, str]:
        """The text as RFC 4180 has it, and the delimiter between its cells."""
        marks, content = self._choice.marks, self._text.content
        if content.find(b"#", 0, max(content.find(b"\n", 0, _HEAD), 0)) >= 0:
            content = self._uncomment(marks)
        if len(marks.delimiter.encode()) > 1 or marks != Marks(marks.delimiter):
            return self._spell(content, marks)
        if content.find(b'"') >= 0 and (mended := mend_rows(content, marks.delimiter, self._choice.width)) is not None:
            if mended.count:
                self._tell_odd_rows(mended.first, mended.count)
            content = mended.content
        return content, marks.delimiter

    def _spell(self, content: BytesLike, marks: Marks) -> tuple[BytesLike, str]:
        """Return a text with other marks as RFC 4180 has it, and the delimiter between its cells."""
        if marks.delimiter == WHITESPACE and (not marks.quotechar or content.find(marks.quotechar.encode()) < 0):
            lines = bytes(content).split(b"\n")
            return b"\n".join([b"\t".join(line.split()) for line in lines]), "\t"
        delimiter = marks.delimiter if len(marks.delimiter.encode()) == 1 else _BETWEEN
        if delimiter != marks.delimiter and not any(content.find(mark) >= 0 for mark in (b'"', _BETWEEN.encode())):
            is_bare = not any(mark and content.find(mark.encode()) >= 0 for mark in (marks.quotechar, marks.escapechar))
            if is_bare:
                if marks.delimiter in SPACED:
                    pattern = delimiter_pattern(marks.delimiter).encode()
                    return re.sub(pattern, _BETWEEN.encode(), bytes(content)), _BETWEEN
                return bytes(content).replace(marks.delimiter.encode(), _BETWEEN.encode()), _BETWEEN
        plain, odd = spell_rows(bytes(content).decode("utf-8", "surrogatepass"), marks, delimiter, self._choice.width)
        if odd:
            self._tell_odd_rows(odd[0], len(odd))
        return plain, delimiter

    def _uncomment(self, marks: Marks) -> BytesLike:
        """Return the text; names in a comment above numbers are a row of it."""
        options = self._options
        if self._text.first or options.comment is not None or options.header not in (None, 1) or options.skipped_rows:
            return self._text.content
        uncommented = uncomment_names(self._text.content, marks)
        if uncommented is None or uncommented.row < options.skipped_above:
            return self._text.content
        if options.header is not None:
            return uncommented.content
        above = "; comments above it are left out" if uncommented.row else ""
        message = f"row {uncommented.row + 1} begins with '#', and is read as names{above}"
        self._doubts.append(Doubt("names", message, uncommented.row, 0, 'comment="#" leaves it out'))
        return uncommented.content

    def _tell_odd_rows(self, first: int, count: int) -> None:
        more = f" (and {count - 1:,} more)" if count > 1 else ""
        self._doubts.append(Doubt("quotes", _ODD_QUOTES.format(first + 1) + more, first, 0, ODD_HINT))

    def _read_sparse(self, first: int, end: int, width: int, rows: Positions) -> dict[int, Any]:
        """Return the cells that hold something: of thousands of columns with few, or beside millions of blank lines."""
        runs: list[Run] = [(column, first, end, "s") for column in range(width)]
        texts = self._records.read(runs)
        return {number: TextColumn(_spread(at, held, rows)) for number, (at, held) in enumerate(texts)}

    @cached_property
    def _records(self) -> Records:
        content, delimiter = self._plain
        return Records(content, 0, delimiter, find_words=False)

    def table(self) -> Table:
        """Return all cells. Lines without a cell are no rows where there are several columns.

        Raises:
            FormatError: very many columns, or nearly all cells are blank; the delimiter is then a wrong one.
        """
        marks, (content, delimiter) = self._choice.marks, self._plain
        lines = bytes(content).count(b"\n")
        blank: Positions | list[int]
        listed, values = None, {}
        if lines <= SHORT and len(content) <= _SMALL:
            block = RecordBlock(content, 0, ord(delimiter) if delimiter else -1, len(content) + 1)
            height, width, blank, listed = len(block.ends), block.width, block.find_blank(), block.rows()
        else:
            if lines > MOST_BLANK_LINES:
                _refuse_blank_lines(content)
            values = self._read_values(lines) if lines > SHORT and loops.COMPILED else {}  # this indexes the text, too
            height, width, blank = self._records.count, self._records.width, self._records.list_blank_lines()
        rows = _find_rows(height, width, blank) if len(blank) else np.arange(height)
        first, end = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
        is_sparse = width > 1 and len(rows) * width > len(content) - len(blank)
        if is_sparse or width > _MOST_COLUMNS:
            _refuse_wide(first, len(rows), width)
        columns: dict[int, Any] = {}
        is_full = False
        if end - first <= SHORT:
            listed = self._records.rows(first, end - first) if listed is None else listed[first:end]
            if len(rows) < len(listed):
                listed = [listed[row - first] for row in rows.tolist()]
            least = min(map(len, listed), default=0)  # blank columns count as far as every row has them
            is_full = len(listed) == height > 0 and width == least and all(map(_is_full, listed))
            listed = listed if is_full else [_leave_out_blanks(cells, least) for cells in listed]
            columns = {number: TextColumn(list(texts)) for number, texts in enumerate(zip_longest(*listed))}
        elif not is_sparse and len(rows) == end - first and 2 * len(blank) < len(rows):
            columns = self._read_columns(first, end, values)
        else:
            columns = self._read_sparse(first, end, width, rows)
        return Table(
            len(rows),
            columns,
            rows if first or len(rows) < end - first else None,
            self._are_quoted,
            first=int(np.searchsorted(rows, self._text.first)),
            end=height,
            count_cells=lambda: self._counts[rows],
            count_cells_of=lambda row: len(self._records.record(int(rows[row]))),
            marks=marks,
            formulas=self._formulas,
            encoding=self._text.encoding,
            is_ended=bytes(self._text.content[-1:]) in (b"\n", b"\r", b""),
            doubts=self._doubts,
            is_full=is_full and not self._text.first,
        )

    def _read_columns(self, first: int, end: int, values: Mapping[int, tuple[Plan | None, Any]]) -> dict[int, Any]:
        """Return the columns of many rows, which stand one below the other.

        `values`: where each column seems to have values, and what was read of it.
        """
        columns: dict[int, Any] = {}
        is_open = self._options.dtype is None and not asks_for_texts(self._options)
        of_numbers = NumberColumns(self._records, first, end, self._options)
        texts_of = []
        for column in range(self._records.width):
            plan, read = values.get(column, (None, None))
            if isinstance(read, JoinedTexts):
                columns[column] = JoinedColumn(read.slice(first, end), is_open=is_open)
            elif read is not None and plan is not None and len(read.values) >= end - plan.first:
                columns[column] = of_numbers.column(column, plan, read)
            else:
                texts_of.append(column)
        runs: list[Run] = [(column, first, end, "x" if loops.COMPILED else "t") for column in texts_of]
        for column, texts in zip(texts_of, self._records.read(runs), strict=True):
            is_joined = isinstance(texts, JoinedTexts)
            columns[column] = JoinedColumn(texts, is_open=is_open) if is_joined else TextColumn(texts)
        return columns

    def _read_values(self, lines: int) -> dict[int, tuple[Plan | None, Kept | JoinedTexts | None]]:
        """Return where each column seems to have values, and what was read of it: values, texts, or None if they are
        others; nothing of a text whose rows are mostly short.
        """
        planned = plan_values(self._records, self._options)
        if lines * len(planned) > len(self._plain[0]):
            return {}
        runs: list[Run] = []
        for column, plan in planned.items():
            first, kind = (0, "x") if plan is None else plan
            runs.append((column, first, ENDLESS, kind))
        read: dict[int, tuple[Plan | None, Kept | JoinedTexts | None]] = {}
        for (column, _, _, kind), cells in zip(runs, self._records.read(runs), strict=True):
            values = Kept(cells, 0, 0) if kind == "b" and cells is not None else cells
            read[column] = planned[column], Kept(*values) if isinstance(values, tuple) else values
        return read

    @cached_property
    def _counts(self) -> Positions:
        """The number of cells of each row as it is written."""
        content, delimiter = self._plain
        signs = np.frombuffer(content, np.uint8)
        ends, marks = np.flatnonzero(signs == ord("\n")), np.flatnonzero(signs == ord(delimiter or "\0"))
        quotes = np.flatnonzero(signs == ord('"'))
        if len(quotes):  # of cells in quotes, each of which has an edge or a quote beside it; others are characters
            is_edge = np.zeros(256, np.bool_)
            is_edge[[ord(delimiter or "\n"), *b'\r\n"']] = True
            before = is_edge[signs[np.maximum(quotes - 1, 0)]]
            after = is_edge[signs[np.minimum(quotes + 1, len(signs) - 1)]]
            quotes = quotes[before | after]
            ends, marks = (places[np.searchsorted(quotes, places) % 2 == 0] for places in (ends, marks))
        if len(signs) and (not len(ends) or ends[-1] != len(signs) - 1):
            ends = np.append(ends, len(signs))
        counts: Positions = np.diff(np.searchsorted(marks, ends), prepend=0) + 1
        return counts

    def _are_quoted(self, rows: list[int], mark: str) -> Mask:
        """Return a mask of the rows whose first text stands in quotes; nothing is looked at if no quoted text begins
        with the mark.
        """
        quoted = np.zeros(len(rows), dtype=np.bool_)
        content, delimiter = self._plain
        if re.search(rb'"\s*' + re.escape(mark.encode()), content):
            begins = re.compile(rb'[\s%s]*"' % re.escape(delimiter.encode()))
            starts = self._records.places_of(rows)
            quoted[: len(starts)] = [begins.match(content, start) is not None for start in starts]
        return quoted


def _is_full(cells: list[str]) -> bool:
    return all(map(str.strip, cells))


def _leave_out_blanks(cells: list[str], least: int) -> list[str]:
    """Return the cells of a row without blanks at its end, but so many cells at least."""
    width = len(cells)
    while width > least and not cells[width - 1]:
        width -= 1
    return cells[:width]


def _find_rows(height: int, width: int, blank: Positions | list[int]) -> Positions:
    """Return the rows from the first to the last that hold something. In a table of several columns, blank lines are no
    rows.
    """
    is_held = np.ones(height, np.bool_)
    is_held[blank] = False
    if width > 1 or not is_held.any():
        return np.flatnonzero(is_held)
    return np.arange(int(is_held.argmax()), height - int(is_held[::-1].argmax()))


def _refuse_wide(first: int, height: int, width: int) -> None:
    """Refuse a table of very many columns, or of very many cells, nearly all of which are blank."""
    if width > _MOST_COLUMNS:
        hint = "name the delimiter, for example delimiter=';'"
        raise FormatError(f"more than {_MOST_COLUMNS:,} columns", hint=hint)
    if height * width > MOST_BLANK:
        raise FormatError(
            f"{height:,} rows of {width:,} columns, most of their cells blank",
            location=cell_address(first, 0),
            hint="name the delimiter if it is another one (delimiter=), or delete lines that are not of the table",
        )


def _refuse_blank_lines(content: BytesLike) -> None:
    """Refuse a text of very many blank lines, each of which would be a cell."""
    count = 0
    for signs in iter_signs(content, len(content)):
        ends = signs == ord("\n")
        count += int(np.count_nonzero(ends[1:] & ends[:-1]))
        count += int(np.count_nonzero(ends[2:] & (signs[1:-1] == ord("\r")) & ends[:-2]))
    if count > MOST_BLANK_LINES:
        raise FormatError(f"more than {MOST_BLANK_LINES:,} blank lines", hint="delete those that are not of the table")


def _refuse_other_text(start: bytes) -> None:
    """Refuse a text that begins as one of another kind does, such as a page of HTML that was saved for a table."""
    text = start.decode("utf-8", "ignore").lstrip("\ufeff \t\r\n").lower()
    for pattern, (what, hint) in _OTHER_TEXTS.items():
        if re.match(pattern, text):
            raise OtherContentError(f"{what}, not delimited text", hint=hint)


def _holds_word(text: bytes, word: bytes) -> bool:
    """Return whether a word stands in a text; only between its least usual letters, which numbers do not hold."""
    letter = b"v" if b"v" in word else b"y"
    first, last = text.find(letter), text.rfind(letter)
    return first >= 0 and text.find(word, max(first - len(word), 0), last + len(word)) >= 0


def _spread(at: Positions, texts: list[str], rows: Positions) -> pl.Series | list[str | None]:
    """Return a column by its texts that are not blank, and the records in which these stand; a list if it is low.

    `rows`: the records that are rows of the table.
    """
    import polars as pl

    places = np.searchsorted(rows, at)
    held = np.append(rows, -1)[places] == at
    if len(rows) <= _LOW:
        listed: list[str | None] = [None] * len(rows)
        for index in np.flatnonzero(held).tolist():
            listed[places[index]] = texts[index]
        return listed
    column = pl.Series([None], dtype=pl.String).new_from_index(0, len(rows))
    held_texts = [texts[index] for index in np.flatnonzero(held).tolist()]
    return column.scatter(places[held], held_texts) if held_texts else column
