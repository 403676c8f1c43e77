"""Puts other cells, and other rows, into an ordinary table of a delimited text; every other character stays."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...dtypes import Array
from ...elements import FormulaMode, escape_formula, label_text, parse_string, unescape_formula
from ...elements.equality import index_changes
from ...errors import FormatError, locating
from ...files import Readable, Source, Writable, replacing
from ...tables import (
    SPACED,
    WHITESPACE,
    Marks,
    TableColumns,
    TableOptions,
    given_dtypes,
    is_same_column,
    read_table,
    sample_field_pattern,
)
from .encodings import encode_text
from .table import CsvTable

_HINT = "name a target with another suffix, or none"
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class _Line:
    """A row of a text: the places of its cells, quotes included, and where the next row begins."""

    start: int
    cells: list[tuple[int, int]]
    end: int


def revise_table_csv(
    source: Readable,
    target: Writable,
    columns: Mapping[str, Array],
    sources: Sequence[int],
    *,
    renamed: Mapping[str, str] | None = None,
    table: TableOptions | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    quotechar: str | None = None,
    escapechar: str | None = None,
    formulas: FormulaMode = "escape",
) -> None:
    """Write a copy of a delimited text in which its table holds other cells and rows. All other characters stay.

    Args:
        source: a path or an open file.
        target: a path, which may be the source, or an open file. A file is replaced whole or not at all.
        columns: the new columns, by the names that `read_columns` gives; columns that are not named stay, and those
            that the text lacks go to the right.
        sources: for each new row its row in the source, ascending, or -1 for one that the source lacks. Rows of the
            source that are not named are deleted.
        renamed: the new names of columns.
        table: the options of `read_columns`.

    Other arguments are those of `read_columns_csv`.

    Raises:
        DTypeError: the encoding of the text lacks a character.
        FormatError: the text cannot be changed in place.
    """
    options = table or TableOptions()
    marks: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding, "quotechar": quotechar}
    marks |= {"escapechar": escapechar, "formulas": formulas}
    with Source(source) as opened, locating(source=opened.name):
        raw = bytes(opened.whole())
        present = read_table(CsvTable(opened, options, **marks), None, options)
    names = {name: (renamed or {}).get(name, name) for name in columns}
    content = _revise(raw, present, columns, sources, options, names, formulas)
    asked = replace(options, dtype=given_dtypes({names[name]: column for name, column in columns.items()}))
    with Source(io.BytesIO(content)) as again:
        revised = read_table(CsvTable(again, asked, **marks), [*names.values()], asked)
    for name, column in columns.items():
        if not is_same_column(revised[names[name]], column):
            raise FormatError(f"the column {name!r:.80} of this text cannot be changed in place", hint=_HINT)
    with replacing(target) as sink:
        sink.write(content)


def _revise(
    raw: bytes,
    present: TableColumns,
    columns: Mapping[str, Array],
    sources: Sequence[int],
    options: TableOptions,
    names: Mapping[str, str],
    formulas: FormulaMode,
) -> bytes:
    dialect = present.dialect
    marks = dialect.marks if dialect is not None else None
    if dialect is None or marks is None or marks.delimiter == WHITESPACE or marks.quotechar != '"' or marks.escapechar:
        raise FormatError("a text with these marks cannot be changed in place", hint=_HINT)
    encoding = dialect.encoding or "utf-8"
    begin = next((mark for mark in _MARKS if raw.startswith(mark)), b"")
    try:
        text = codecs.decode(raw[len(begin) :], encoding)
        is_kept = codecs.encode(text, encoding) == raw[len(begin) :]
    except UnicodeError:
        is_kept = False
    if not is_kept:
        raise FormatError(f"a text in {encoding} whose bytes are not kept when it is written again", hint=_HINT)
    lines = list(_split(text, marks))
    page = _Page(text, lines, present, marks.delimiter, dialect.decimal, options.date_format, formulas)
    return begin + encode_text(_join(page, columns, np.asarray(sources, np.int64), names), encoding)


def _split(text: str, marks: Marks) -> Iterator[_Line]:
    """Yield the rows of a text."""
    field, at, start = sample_field_pattern(marks), 0, 0
    cells: list[tuple[int, int]] = []
    while at < len(text):
        match = field.match(text, at)
        assert match is not None  # an empty cell matches anywhere
        cells.append((match.start(), match.start(5)))
        at, stop = match.end(), match[5]
        if not stop or stop[-1] in "\r\n" or not marks.delimiter:
            yield _Line(start, cells, at)
            start, cells = at, []
    if cells:  # the text ends in a delimiter
        yield _Line(start, [*cells, (at, at)], at)


def _join(page: _Page, columns: Mapping[str, Array], sources: Array, names: Mapping[str, str]) -> str:
    """Return the text with its new cells and rows; `names` are those that columns get."""
    rows, text = page.rows, page.text
    places = page.present.place_columns([*columns])
    spelled = {places[name]: page.spell_changes(name, column, sources) for name, column in columns.items()}
    new_names = {
        places[name]: page.quote(escape_formula(now))
        for name, now in names.items()
        if name != now or name not in page.present
    }
    after = np.maximum.accumulate(sources) if len(sources) else sources
    fresh: dict[int, list[str]] = {}  # rows that the source lacks, by the row of data after which they stand
    for at in np.flatnonzero(sources < 0).tolist():
        cells = {number: texts[at] for number, texts in spelled.items()}
        fresh.setdefault(int(after[at]), []).append(page.make_row(cells))
    new_of = {int(source): at for at, source in enumerate(sources.tolist()) if source >= 0}
    first = rows[0] if rows else page.present.name_row + 1
    numbers = {row: number for number, row in enumerate(rows)}
    pieces: list[str] = []
    for number, line in enumerate(page.lines):
        if number == first:
            pieces += fresh.pop(-1, [])
        index = numbers.get(number)
        if index is None:
            is_names = number == page.present.name_row and new_names
            pieces.append(page.change_row(line, new_names) if is_names else text[line.start : line.end])
        elif index in new_of:
            at = new_of[index]
            pieces.append(page.change_row(line, {c: texts[at] for c, texts in spelled.items() if at in texts}))
        if index is not None:
            if fresh.get(index) and line.end == len(text) and not text.endswith(("\r", "\n")):
                pieces += [page.line_end, *fresh.pop(index)]
                pieces[-1] = pieces[-1].removesuffix(page.line_end)
            pieces += fresh.pop(index, [])
    if -1 in fresh:  # the text ends in the row of names
        pieces += ["" if text.endswith(("\r", "\n")) else page.line_end, *fresh.pop(-1)]
    return "".join(pieces)


class _Page:
    """The text of a table, which spells new cells as it spells those that it has.

    Attributes:
        lines: its rows.
        present: the columns of its table.
        rows: the rows of the text that hold data.
        line_end: what ends a row.
    """

    def __init__(
        self,
        text: str,
        lines: Sequence[_Line],
        present: TableColumns,
        delimiter: str,
        decimal: str,
        date_format: str | None,
        formulas: FormulaMode,
    ) -> None:
        self.text, self.lines, self.present, self.rows = text, lines, present, present.list_rows()
        self._delimiter, self._decimal, self._date_format = delimiter, decimal, date_format
        self._formulas = formulas
        self.line_end = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"

    def spell_changes(self, name: str, column: Array, sources: Array) -> dict[int, str]:
        """Return the cells of a new column that differ from those in their rows in the source, or have none there."""
        staying = np.flatnonzero(sources >= 0)
        changed = staying
        if name in self.present:
            changed = staying[index_changes(self.present[name][sources[staying]], column[staying])]
        places = np.concatenate([changed, np.flatnonzero(sources < 0)])
        return dict(zip(places.tolist(), self._spell(name, column[places]), strict=True))

    def make_row(self, cells: Mapping[int, str]) -> str:
        """Return a row of a text, given some of its cells by their columns."""
        width = max(cells, default=0) + 1
        model = self.lines[self.rows[-1]] if self.rows else None
        row = [self._quote_alike(cells.get(number, ""), model, number) for number in range(width)]
        return self._delimiter.join(row) + self.line_end

    def change_row(self, line: _Line, cells: Mapping[int, str]) -> str:
        """Return a row with some new cells; cells that it lacks are added."""
        pieces, at = [], line.start
        for number, (start, end) in enumerate(line.cells):
            if number in cells:
                left_out = " " if number and self._delimiter in SPACED and self.text[start - 1] != " " else ""
                pieces += [self.text[at:start], left_out, self._quote_alike(cells[number], line, number)]
                at = end
        last = line.cells[-1][1]
        pieces.append(self.text[at:last])
        for number in range(len(line.cells), max(cells, default=-1) + 1):
            pieces.append(self._delimiter + cells.get(number, ""))
        return "".join([*pieces, self.text[last : line.end]])

    def _spell(self, name: str, values: Array) -> list[str]:
        spell = self._find_spelling(name, values.dtype.kind)
        return [self.quote(spell(value)) for value in (values if values.dtype.kind in "mM" else values.tolist())]

    def _find_spelling(self, name: str, kind: str) -> Callable[[Any], str]:
        if name in self.present and self.present[name].dtype.kind in "iu" and kind == "f":
            return lambda value: self._spell_plainly(int(value) if value.is_integer() else value)
        if kind == "b":
            words = self._find_words(name)
            return lambda value: words[bool(value)]
        if kind == "M":
            return self._find_date_spelling(name)
        if kind in "OUT" and self._formulas == "escape":
            spell_text = self._find_text_spelling(name)
            return lambda value: spell_text(value) if isinstance(value, str) else self._spell_plainly(value)
        return self._spell_plainly

    def _find_text_spelling(self, name: str) -> Callable[[str], str]:
        """Return a function that spells texts: with an apostrophe before those that a spreadsheet would evaluate.

        A column that has such texts without one gets no more apostrophes than reading needs.
        """
        column = self.present.get(name)
        texts: list[str] = column.tolist() if column is not None and column.dtype.kind in "UT" else []
        first = next((index for index, text in enumerate(texts) if escape_formula(text) != text), None)
        if first is None or self._cell(name, first) != texts[first]:
            return escape_formula
        return lambda text: escape_formula(text) if unescape_formula(text) != text else text

    def _spell_plainly(self, value: Any) -> str:
        if value is None or value != value:  # NaN and NaT are blank
            return ""
        text = label_text(value) if isinstance(value, np.timedelta64) else parse_string(value)
        return text.replace(".", self._decimal) if isinstance(value, (float, complex)) else text

    def _find_words(self, name: str) -> tuple[str, str]:
        """Return the words for False and True in a column."""
        column, words = self.present.get(name), ["false", "true"]
        for value in range(2) if column is not None and column.dtype.kind == "b" else ():
            rows = np.flatnonzero(column == bool(value))
            words[value] = self._cell(name, int(rows[0])) if len(rows) else words[value]
        if any(word.isupper() for word in words):
            words = [word.upper() for word in words]
        return words[0], words[1]

    def _find_date_spelling(self, name: str) -> Callable[[Any], str]:
        """Return a function that spells dates: in the format that the caller names, else as ISO 8601."""
        column, pattern = self.present.get(name), self._date_format
        rows: list[int] = []
        if column is not None and column.dtype.kind == "M":
            rows = np.flatnonzero(~np.isnat(column)).tolist()
        sample = self._cell(name, rows[0]) if rows else ""
        if pattern == "dayfirst":
            signs = re.sub(r"[0-9]", "", sample)
            pattern = f"%d{signs[:1] or '/'}%m{signs[1:2] or '/'}%Y"
        separator = " " if " " in sample else "T"

        def spell(value: Any) -> str:
            if np.isnat(value):
                return ""
            if pattern is not None:
                return str(value.astype("M8[us]").item().strftime(pattern))
            return str(np.datetime_as_string(value)).replace("T", separator)

        return spell

    def _cell(self, name: str, index: int) -> str:
        """Return the text of a cell of the table, without its quotes."""
        line, column = self.lines[self.rows[index]], self.present.column_of(name)
        if column >= len(line.cells):
            return ""
        start, end = line.cells[column]
        return self.text[start:end].strip().removeprefix('"').removesuffix('"')

    def _quote_alike(self, cell: str, line: _Line | None, number: int) -> str:
        """Return a cell, in quotes if a row quotes its own cell of this column although it need not."""
        if line is None or number >= len(line.cells) or not cell or cell.startswith('"'):
            return cell
        start, end = line.cells[number]
        model = self.text[start:end].strip()
        return f'"{cell}"' if model.startswith('"') and model[1:-1] == self.quote(model[1:-1]) else cell

    def quote(self, cell: str) -> str:
        """Return a cell as the file has to hold it, in quotes if needed."""
        needs = cell != cell.strip(" \t") or any(
            mark in cell for mark in (self._delimiter[:1] or "\0", '"', "\r", "\n")
        )
        return '"' + cell.replace('"', '""') + '"' if needs else cell
