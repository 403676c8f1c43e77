"""Headers of a delimited text made true: the integers in a few cells are replaced, every other character stays."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from ...columns import (
    ElementEdits,
    ResizedArray,
    cell_address,
    check_accept_target,
    find_element_edits,
    find_header_edits,
    find_name_cells,
)
from ...columns.layout import format_name
from ...dtypes import Buffer, DType
from ...elements import FormulaMode, MissingOption, NaValues, TextLook, buffer_to_text, missing_of, texts_of_cells
from ...elements.spelling import DecimalMark
from ...errors import FormatError, LimitError, locating
from ...files import Readable, Source, Writable, replacing
from ...formats.contract import CELL_CHARACTERS
from ...linear.array import LinearArray
from ..accepted import AcceptedArrays, read_accepted
from ..arrays_of_sheets import read_resized_arrays
from ..content import take_arrays
from .dialect import SINGLE_COLUMN
from .encodings import find_encoding
from .plain_records import field_pattern
from .sheet import CsvSheet

_INTEGER = re.compile(r"[+-]?[0-9]+(?:[.,]0*)?")
_MOST_ROWS, _MOST_CELLS = 1200, 2**18  # the first ones, in which remarks are looked for
_START = 2**20  # bytes of a long text that hold these rows, unless they are long
_HINT = "write the arrays to a new file: read them with resize=True"


def accept_csv(
    source: Readable,
    target: Writable | None = None,
    *,
    delimiter: str | None = None,
    decimal: DecimalMark | None = None,
    encoding: str | None = None,
    missing: MissingOption = "error",
    na_values: NaValues = (),
    formulas: FormulaMode = "escape",
) -> AcceptedArrays:
    """Correct the headers of a delimited text, so that they fit the cells below them. All other bytes stay.

    Args:
        target: the file to write; None replaces the source whole.

    Other arguments are those of `read_csv`.
    """
    as_missing = missing_of(missing, na_values)
    check_accept_target(source, target)
    with Source(source) as opened, locating(source=opened.name):
        sheet = CsvSheet(opened, delimiter, decimal, encoding, formulas)
        try:
            accepted, arrays = read_accepted([sheet], missing=as_missing)
        except FormatError:
            if not sheet.try_other_decimal():
                raise
            accepted, arrays = read_accepted([sheet], missing=as_missing)
        changes = {(edit.row, edit.column): edit.value for edit in find_header_edits([sheet], arrays)}
        del arrays  # the text is about to be read again
        name, mark = sheet.file_encoding
        raw = bytes(opened.whole())
        content = raw[:mark] + _change_cells(raw[mark:], name, sheet.delimiter, changes) if changes else raw
        if changes:
            with Source(io.BytesIO(content)) as again:
                again_sheet = CsvSheet(again, delimiter, decimal, encoding, formulas)
                again_sheet.look = sheet.look
                _, again_read = read_accepted([again_sheet], missing=as_missing)
                if any(array.is_changed for array in again_read.values()):
                    raise FormatError("the headers of this text cannot be changed in place", hint=_HINT)
    if content != raw or target is not None:
        with replacing(source if target is None else target) as sink:
            sink.write(content)
    return accepted


def _change_cells(raw: bytes, encoding: str, delimiter: str, changes: Mapping[tuple[int, int], int | str]) -> bytes:
    """Return a text in which some cells hold other integers, or other text; rows and cells that it lacks are added.

    An integer takes the place of the one that is there, within quotes too.
    """
    try:
        text = codecs.decode(raw, encoding)
        whole = codecs.encode(text, encoding) == raw
    except UnicodeError:
        whole = False
    if not whole:
        raise FormatError(f"a text in {encoding} whose bytes are not kept when it is written again", hint=_HINT)
    rows: dict[int, dict[int, int | str]] = {}
    for (row, column), value in changes.items():
        rows.setdefault(row, {})[column] = value
    line_end = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
    pieces: list[str] = []
    at = last = 0
    columns = column = 0
    for (row, column), start, end in _spans_of(text, delimiter, max(rows, default=-1)):
        if row != last:
            pieces += _added(rows.get(last, {}), columns, delimiter) if last in rows else []
            last = row
        if row in rows:
            if column == 0:
                pieces.append(text[at:start])
                at = start
            if column in rows[row]:
                pieces += [text[at:start], _changed(text[start:end], rows[row][column], delimiter)]
                at = end
            columns = column + 1
            pieces.append(text[at:end])
            at = end
    if last in rows:
        pieces += _added(rows[last], columns, delimiter)
    pieces.append(text[at:])
    ended = not text or text.endswith(("\r", "\n"))
    for row in range(last + 1 if text else 0, max(rows, default=-1) + 1):
        line = "".join(_added({column: ""} | rows.get(row, {}), 0, delimiter)).removeprefix(delimiter)
        pieces += ["" if ended else line_end, line, line_end if ended else ""]
    return codecs.encode("".join(pieces), encoding)


def _changed(cell: str, value: int | str, delimiter: str) -> str:
    if isinstance(value, str):
        return _quote(value, delimiter)
    match = _INTEGER.search(cell)
    if match is None:
        raise FormatError("the headers of this text cannot be changed in place", hint=_HINT)
    return f"{cell[: match.start()]}{value}{cell[match.end() :]}"


def _added(cells: Mapping[int, int | str], columns: int, delimiter: str) -> list[str]:
    """Return the cells of a row from a column on, each behind a delimiter."""
    return [
        delimiter + _quote(str(cells.get(column, "")), delimiter)
        for column in range(columns, max(cells, default=-1) + 1)
    ]


def _quote(text: str, delimiter: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in (delimiter, '"', "\r", "\n")) else text


def _spans_of(text: str, delimiter: str, last_row: int) -> Iterator[tuple[tuple[int, int], int, int]]:
    """Yield the row and column of each cell down to a row, and where it begins and ends, its quotes included."""
    field, row, column, at = field_pattern("\x1f" if delimiter == SINGLE_COLUMN else delimiter), 0, 0, 0
    while row <= last_row and at < len(text):
        match = field.match(text, at)
        assert match is not None  # an empty cell matches anywhere
        yield (row, column), match.start(), match.start(5)
        at, stop = match.end(), match[5]
        row, column = (row, column + 1) if stop == delimiter else (row + 1, 0)


def _cut_start(source: Source, encoding: str | None) -> bytes | None:
    """Return the first rows of a long text in UTF-8, more of them than are looked at; None where they may not do."""
    start = source.prefix(_START)
    if encoding is not None or find_encoding(start[:4])[0] != "utf-8" or len(start) < _START or b'"' in start:
        return None
    *lines, rest = start.split(b"\n", _MOST_ROWS + 1)
    return b"\n".join([*lines, b""]) if b"\n" in rest else None


def list_other_cells_csv(
    source: Readable,
    *,
    delimiter: str | None = None,
    decimal: DecimalMark | None = None,
    encoding: str | None = None,
) -> tuple[dict[str, str], set[str]]:
    """Return the texts of cells that belong to no array, by their addresses; no sheet is without arrays.

    The arguments are those of `read_csv`.
    """
    with ExitStack() as stack:
        opened = stack.enter_context(Source(source))
        stack.enter_context(locating(source=opened.name))
        if (start := _cut_start(opened, encoding)) is not None:
            opened = stack.enter_context(Source(io.BytesIO(start)))
        sheet = CsvSheet(opened, delimiter, decimal, encoding, "escape")
        return sheet.list_other_cells()


def revise_csv(
    source: Readable,
    target: Writable,
    arrays: Any,
    *,
    renamed: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    decimal: DecimalMark | None = None,
    encoding: str | None = None,
    missing: MissingOption = "error",
    na_values: NaValues = (),
) -> None:
    """Write a copy of a delimited text in which arrays hold new elements. All other cells stay as they are.

    New arrays go to the right of all other cells.

    Args:
        target: a path, which may be the source, or an open file. A file is replaced whole or not at all.
        arrays: the new elements, as for `write_csv`. Other arrays stay.
        renamed: the new names of arrays, by those that they have in the source.

    Other arguments are those of `read_csv`.

    Raises:
        FormatError: as `read_csv`, or the cells cannot be changed in place.
        LimitError: there is no room for rows.
    """
    as_missing = missing_of(missing, na_values)
    columns = take_arrays(arrays, CELL_CHARACTERS)
    with Source(source) as opened, locating(source=opened.name):
        sheet = CsvSheet(opened, delimiter, decimal, encoding, "escape")
        present = read_resized_arrays([sheet], missing=as_missing)
        cells: dict[tuple[int, int], int | str] = {}
        added: list[tuple[int, int]] = []
        for before, now in (renamed or {}).items():
            present[now] = present.pop(before)
            for _, row, column_number in find_name_cells(present[now]):
                cells[row, column_number] = format_name(now, sheet.look)
        for name, column in columns.items():
            change = find_element_edits(name, present[name], column) if name in present else None
            if change is not None:
                added += _collect(change, sheet, cells)
        resized = {name: present[name] for name in columns if name in present}
        cells |= {(edit.row, edit.column): edit.value for edit in find_header_edits([sheet], resized)}
        fresh = {name: column for name, column in columns.items() if name not in present}
        name, mark = sheet.file_encoding
        raw = bytes(opened.whole())
        _check_room(codecs.decode(raw[mark:], name), sheet.delimiter, added)
        if fresh:
            _add_columns(fresh, present, codecs.decode(raw[mark:], name), sheet, cells)
        mark_between = "," if sheet.delimiter == SINGLE_COLUMN else sheet.delimiter
        content = raw[:mark] + _change_cells(raw[mark:], name, mark_between, cells) if cells else raw
        with Source(io.BytesIO(content)) as again:
            look = mark_between if fresh else sheet.delimiter, sheet.look.decimal, encoding
            revised = read_resized_arrays([CsvSheet(again, *look, "escape")], missing=as_missing)
        for name, column in columns.items():
            if name not in revised or not column.has_elements(revised[name].column.header, revised[name].buffer):
                raise FormatError(f"{name}: the cells of this text cannot be changed in place", hint=_HINT)
    with replacing(target) as sink:
        sink.write(content)


def _collect(change: ElementEdits, sheet: CsvSheet, cells: dict[tuple[int, int], int | str]) -> list[tuple[int, int]]:
    """Put the new cells of an array among those of the sheet, and return those that have to be blank until now."""
    added = []
    texts = _texts_of(change.buffer[change.changed], change.dtype, sheet.look)
    for index, text in zip(change.changed.tolist(), texts, strict=True):
        _, row, column = change.place(index)
        cells[row, column] = text
        if index >= change.before and not change.head:
            added.append((row, column))
    for index in change.removed:
        _, row, column = change.place(index)
        cells[row, column] = ""
    for index, word in enumerate(change.head):
        _, row, column = change.place_head(index)
        cells[row, column] = str(word)
    return added


def _texts_of(buffer: Buffer, dtype: DType, look: TextLook) -> list[str]:
    return [text or "" for text in texts_of_cells(buffer_to_text(buffer, dtype, look), look)]


def _check_room(text: str, delimiter: str, added: Sequence[tuple[int, int]]) -> None:
    """Refuse rows for which there is no room, since cells hold something else."""
    new_cells = set(added)
    for cell, start, end in _spans_of(text, delimiter, max((row for row, _ in added), default=-1)):
        if cell in new_cells and text[start:end].strip(' \t"'):
            where = cell_address(*cell)
            raise LimitError(f"{where}: a new row needs this cell, which is not empty: move its content")


def _add_columns(
    fresh: Mapping[str, LinearArray],
    present: Mapping[str, ResizedArray],
    text: str,
    sheet: CsvSheet,
    cells: dict[tuple[int, int], int | str],
) -> None:
    """Put new arrays to the right of everything, their names in the row of the first name."""
    column = max((place[1] for place, _, _ in _spans_of(text, sheet.delimiter, text.count("\n") + 1)), default=-1)
    column = max(column, max((place[1] for place in cells), default=-1))
    anchors = [array.column.group[0] for array in present.values()]
    top = min((anchor.name_cell or (anchor.row - 1, 0))[0] for anchor in anchors)
    for name, array in fresh.items():
        column += 1
        head = array.to_cells()[: -array.capacity or None]
        row = max(top, 0)
        words = [format_name(name, sheet.look), *map(str, head)]
        words += _texts_of(array.buffer, array.dtype_entry, sheet.look)
        cells |= {(row + step, column): word for step, word in enumerate(words)}
