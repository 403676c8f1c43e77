"""Workbooks of OpenDocument (.ods): a container.

Source: OASIS OpenDocument 1.3 part 3, 9.1 (tables), 6.1 (text), 19.385 (values).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from xml.parsers import expat

import numpy as np

from ....columns import cell_address
from ....dtypes import Positions
from ....errors import FormatError
from ..package.parts import Package
from .binary import row_width
from .blocks import inflate_blocks, run_ahead, to_utf8
from .cells import (
    BOOLEAN,
    DURATION,
    FAULT,
    MOMENT,
    MOST_COLUMNS,
    MOST_ROWS,
    NUMBER,
    PENDING,
    TEXT,
    CellRun,
    FormulaArea,
    join_masks,
)
from .kept_runs import KeptRuns
from .opendocument_rows import END_OF_ROW, ROW_TAG, PlainRows, read_plain_rows
from .texts import without_entities
from .titles import Titles

CONTENT, MANIFEST = "content.xml", "META-INF/manifest.xml"

_SPACE = "urn:oasis:names:tc:opendocument:xmlns:"
_TABLE, _OFFICE, _TEXT = f"{_SPACE}table:1.0 ", f"{_SPACE}office:1.0 ", f"{_SPACE}text:1.0 "
_USUAL_PREFIXES = {"table": _TABLE, "office": _OFFICE, "text": _TEXT}
_ERROR_TYPE = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0 value-type"
_CONSTANTS = {"of:=TRUE()": "1", "of:=FALSE()": "0"}  # LibreOffice's booleans of an .xlsx, whose value is a float
_NO_FORMULAS = ("", *_CONSTANTS)
_VALUES = {
    "float": (NUMBER, f"{_OFFICE}value"),
    "percentage": (NUMBER, f"{_OFFICE}value"),
    "currency": (NUMBER, f"{_OFFICE}value"),
    "boolean": (BOOLEAN, f"{_OFFICE}boolean-value"),
    "date": (MOMENT, f"{_OFFICE}date-value"),
    "time": (DURATION, f"{_OFFICE}time-value"),
    "string": (TEXT, f"{_OFFICE}string-value"),
}
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_FAULT = re.compile(r"#(?:DIV/0!|N/A|NAME\?|NULL!|NUM!|REF!|VALUE!)|Err:[0-9]{3}")
_EXTERNAL = re.compile(r"'.*'#\$")  # what a program remembers of a sheet in another file
_ELAPSED = re.compile(r"(-?)P(?:([0-9]+)D)?T?(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:[.,][0-9]+)?)S)?")
_COUNT = re.compile("[0-9]+")
_WHITE = re.compile("[\t\n\r ]{2,}|[\t\n\r]")
_CELLS_A_RUN = 2**16
_REPEATED_ALWAYS, _REPEATED_TIMES = 6_000_000, 64  # cells that repetition may make, in all, and of each that is written
_LONGEST_TEXT = 2**20
_DEEPEST = 256
_FORMULA = 0x80  # is added to the kind of a cell that is one


class OdsBook:
    """An OpenDocument spreadsheet in a zip package; `cells.WorkbookReader` says what each method is for.

    Raises:
        FormatError: no such document, or a damaged or encrypted one.
    """

    max_rows = MOST_ROWS
    from_1904 = False  # dates are written out

    def __init__(self, package: Package) -> None:
        self._package, self._kept = package, KeptRuns()
        if MANIFEST in package and b"encryption-data" in package.read(MANIFEST, limit=2**24):
            raise FormatError("the workbook is encrypted with a password", hint="save it without one first")
        titles = Titles(CONTENT)
        for title in _titles(package):
            titles.add(title, title)
        self.titles = list(titles.places)

    def close(self) -> None:
        """Nothing is held: the package's bytes are the caller's."""

    def cells(self, title: str, *, numeric: bool) -> Generator[CellRun]:  # noqa: ARG002  (text serves for both)
        """Yield the cells of a table."""
        return self._kept.read(title, lambda: self._read_table(title), "text")

    def _read_table(self, title: str) -> Iterator[CellRun]:
        reader = _TableReader(title)
        for block in run_ahead(_content(self._package)):
            yield from reader.read(block, last=False)
            if reader.over:
                return
        yield from reader.read(b"", last=True)

    def cells_of_table(self, title: str) -> Generator[CellRun]:
        """Yield the cells of a table, all values as text."""
        return self.cells(title, numeric=False)


def _content(package: Package) -> Iterator[bytes]:
    return to_utf8(inflate_blocks(package, CONTENT), CONTENT)


def _titles(package: Package) -> Generator[str]:
    """Yield the titles of the tables; only tags are looked at, so that this takes little longer than inflating."""
    waiting, tag = b"", None
    for block in run_ahead(_content(package)):
        waiting += block
        if tag is None:
            declared = re.search(rb"""xmlns:([\w.\-]+)\s*=\s*["']%s["']""" % _TABLE.strip().encode(), waiting)
            if declared is None and len(waiting) < _LONGEST_TEXT:
                continue
            if declared is None:
                raise FormatError("the part has no tables: it is no spreadsheet", location=CONTENT)
            tag = re.compile(rb"<%s:table\s([^<>]*)>" % declared[1])
            name = re.compile(rb"""(?:\A|\s)%s:name\s*=\s*(?:"([^"]*)"|'([^']*)')""" % declared[1])
        ended = waiting.rfind(b">") + 1
        for match in tag.finditer(waiting, 0, ended):
            title = name.search(match[1])
            if title is not None:
                text = without_entities((title[1] or title[2] or b"").decode("utf-8", "replace"))
                if not _EXTERNAL.match(text):
                    yield text
        waiting = waiting[ended:]
        if len(waiting) > _LONGEST_TEXT * 64:
            raise FormatError("the part has more text than a cell holds", location=CONTENT)


class _TableReader:
    """The cells of one table, while the document goes by.

    Attributes:
        over: whether its end has gone by.
    """

    def __init__(self, title: str) -> None:
        self._title, self.over = title, False
        self._open: list[str] = []
        self._depth = 0  # of the table's element, while it goes by
        self._row, self._column = -1, 0
        self._row_repeats = 1
        self._cell: dict[str, str] | None = None
        self._text: list[str] | None = None  # of the cell's paragraphs
        self._length = 0  # of the text
        self._aside = 0  # depth of an annotation, a drawing or a pronunciation
        self._in_a_row = False
        self._in_row: list[tuple[int, int, str]] = []  # column, kind, value
        self._rows: list[int] = []
        self._cells: list[tuple[int, int, str]] = []
        self._areas: list[FormulaArea] = []
        self._runs: list[tuple[CellRun, int]] = []  # and how often the rows of each come
        self._written = self._made = 0
        self._waiting = b""  # the beginning of a row
        self._prefixes: dict[str, str] = {}
        self._parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        self._parser.StartNamespaceDeclHandler = self._declaration
        self._parser.buffer_text = True
        self._parser.StartElementHandler, self._parser.EndElementHandler = self._begin, self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._definition

    def read(self, block: bytes, *, last: bool) -> Generator[CellRun]:
        """Go on, and give the cells that are complete.

        Raises:
            FormatError: no well-formed XML, or repetition beyond measure.
        """
        text, self._waiting = self._waiting + block, b""
        begin, end = text.find(ROW_TAG), text.rfind(END_OF_ROW) + len(END_OF_ROW)
        if not last and 0 <= begin < end:
            self._parse(text[:begin])
            if self._is_between_rows():
                plain = self._read_plain(text[begin:end])
                if plain is not None:
                    yield from self._complete_runs(last=True)
                    yield from self._add_plain(plain, text[begin:])
                    begin += plain.size
                self._parse(text[begin:end])
                self._waiting, text, begin = text[end:], b"", 0
            text = text[begin:]
        self._parse(text, last=last)
        yield from self._complete_runs(last=last)

    def _parse(self, text: bytes, *, last: bool = False) -> None:
        try:
            self._parser.Parse(text, last)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise FormatError(f"the part is no well-formed XML ({reason})", location=CONTENT) from error

    def _complete_runs(self, *, last: bool) -> Generator[CellRun]:
        if self._rows and (last or self.over or len(self._rows) >= _CELLS_A_RUN):
            self._flush()
        runs, self._runs = self._runs, []
        for run, repeats in runs:
            yield run
            yield from _repeat_row(run, repeats)

    # Rows in bulk --------------------------------------------------------------------------------------------

    def _declaration(self, prefix: str | None, space: str) -> None:
        if prefix in self._prefixes and self._prefixes[prefix] != space:
            space = ""  # it is not the same everywhere
        self._prefixes[prefix or ""] = space

    def _is_between_rows(self) -> bool:
        """Return whether what comes next is a row of the table, or goes around rows."""
        return bool(self._depth) and not self._aside and not self._in_a_row and self._cell is None

    def _read_plain(self, text: bytes) -> PlainRows | None:
        """Return the rows of a text that are plain; None where the parser has to see all of them."""
        known = all(f"{self._prefixes.get(prefix)} " == space for prefix, space in _USUAL_PREFIXES.items())
        extended = self._prefixes.get("calcext")
        if not known or (b"calcext:" in text and f"{extended} value-type" != _ERROR_TYPE):
            return None
        return read_plain_rows(text)

    def _add_plain(self, plain: PlainRows, text: bytes) -> Generator[CellRun]:
        """Yield the cells of all rows in order: plain rows are read in bulk, the odd ones among them by the parser."""
        first = self._row + 1
        for row, begin, end in plain.odd:
            self._row = first + row - 1
            self._parse(text[begin:end])
        self._row = first + plain.height - 1
        self._written, self._made = self._written + len(plain.counts), self._made + int(plain.counts.sum())
        self._check_repetition()
        rows, run = plain.rows + first, None
        if len(rows):
            if int(rows[-1]) >= MOST_ROWS:
                raise FormatError(
                    f"a cell beyond the {MOST_ROWS} rows that a sheet has",
                    location=cell_address(MOST_ROWS, int(plain.columns[-1])),
                )
            formulas = plain.formulas if plain.formulas.any() else None
            run = CellRun(rows, plain.columns, plain.kinds, plain.values, row_width(rows, plain.columns), formulas)
        self._flush()
        odd, self._runs = [run for run, _ in self._runs], []
        if odd or run is not None:
            yield _merge([run, *odd] if run is not None else odd)

    def _definition(self, *_: object) -> None:
        raise FormatError("the part has a document type definition, which no workbook has", location=CONTENT)

    # Elements ------------------------------------------------------------------------------------------------

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._open.append(name)
        if len(self._open) > _DEEPEST:
            raise FormatError("elements within elements, more than a spreadsheet has", location=CONTENT)
        if self._aside:
            return
        if self._cell is not None:
            self._begin_within(name, attributes)
        elif not self._depth:
            whole = name == f"{_TABLE}table" and self._open[-2:-1] == [f"{_OFFICE}spreadsheet"]
            if whole and not self.over and attributes.get(f"{_TABLE}name") == self._title:
                self._depth = len(self._open)
        elif name == f"{_TABLE}shapes":
            self._aside = len(self._open)
        elif name == f"{_TABLE}table-row":
            self._row, self._in_a_row = self._row + 1, True
            self._row_repeats = _count(attributes.get(f"{_TABLE}number-rows-repeated"))
            self._column = 0
        elif name in _CELLS:
            self._cell, self._text, self._length = attributes, None, 0

    def _begin_within(self, name: str, attributes: dict[str, str]) -> None:
        if name == f"{_TEXT}p":
            if self._text is None:
                self._text = []
            else:
                self._text.append("\n")
        elif name == f"{_TEXT}s":
            self._add_text(" " * min(_count(attributes.get(f"{_TEXT}c")), _LONGEST_TEXT + 1))
        elif name == f"{_TEXT}tab":
            self._add_text("\t")
        elif name == f"{_TEXT}line-break":
            self._add_text("\n")
        elif not name.startswith(_TEXT) or name == f"{_TEXT}ruby-text":  # how the text is pronounced
            self._aside = len(self._open)

    def _characters(self, text: str) -> None:
        if self._text is not None and not self._aside and self._open[-1] not in _CELLS:
            self._add_text(_WHITE.sub(_expand_space, text))

    def _add_text(self, text: str) -> None:
        """Add to the text of the cell."""
        self._length += len(text)
        if self._length > _LONGEST_TEXT:
            raise FormatError(
                f"a text of more than {_LONGEST_TEXT} characters", location=cell_address(self._row, self._column)
            )
        if self._text is not None:
            self._text.append(text)

    def _end(self, name: str) -> None:
        if self._aside == len(self._open):
            self._aside = 0
        elif self._cell is not None and name in _CELLS and not self._aside:
            self._end_cell(self._cell)
        elif self._cell is None and self._depth and name == f"{_TABLE}table-row":
            self._end_row()
        elif self._depth == len(self._open):
            self._depth, self.over = 0, True
        self._open.pop()

    # Cells and rows ------------------------------------------------------------------------------------------

    def _end_cell(self, attributes: dict[str, str]) -> None:
        repeats = _count(attributes.get(f"{_TABLE}number-columns-repeated"))
        kind, value = _parse_value(attributes, None if self._text is None else "".join(self._text))
        if kind:
            if attributes.get(f"{_TABLE}formula", "") not in _NO_FORMULAS:
                kind |= _FORMULA
                self._areas += _area(attributes, self._row, self._column)
            if self._column + repeats > MOST_COLUMNS:
                raise FormatError(
                    f"a cell beyond the {MOST_COLUMNS} columns that a sheet has",
                    location=cell_address(self._row, MOST_COLUMNS),
                )
            self._in_row += [(self._column + index, kind, value) for index in range(repeats)]
        self._column += repeats
        self._cell = self._text = None

    def _end_row(self) -> None:
        repeats, count = self._row_repeats, len(self._in_row)
        if count:
            if self._row + repeats > MOST_ROWS:
                raise FormatError(
                    f"a cell beyond the {MOST_ROWS} rows that a sheet has",
                    location=cell_address(MOST_ROWS, self._in_row[0][0]),
                )
            self._written, self._made = self._written + 1, self._made + count * repeats
            self._check_repetition()
            if repeats > 1:
                self._flush()
            self._rows += [self._row] * count
            self._cells += self._in_row
            if repeats > 1:
                self._flush(repeats)
        self._row += repeats - 1
        self._in_row, self._in_a_row = [], False

    def _check_repetition(self) -> None:
        if self._made > _REPEATED_ALWAYS + _REPEATED_TIMES * self._written:
            raise FormatError(f"{self._written} rows, which repetition makes {self._made} cells", location=CONTENT)

    def _flush(self, repeats: int = 1) -> None:
        """Make a run of the cells so far."""
        if self._rows:
            self._runs.append((_make_run(np.array(self._rows, dtype=np.int64), self._cells, self._areas), repeats))
        self._rows, self._cells, self._areas = [], [], []


def _merge(runs: list[CellRun]) -> CellRun:
    """Return the cells of some runs, row by row."""
    import polars as pl

    if len(runs) == 1:
        return runs[0]
    rows = np.concatenate([run.rows for run in runs])
    order = np.argsort(rows, kind="stable")
    columns = np.concatenate([run.columns for run in runs])[order]
    formulas = join_masks([run.formulas for run in runs], [len(run) for run in runs])
    return CellRun(
        rows[order],
        columns,
        np.concatenate([run.kinds for run in runs])[order],
        pl.concat([run.values for run in runs]).gather(order),
        row_width(rows[order], columns),
        None if formulas is None else formulas[order],
        tuple(area for run in runs for area in run.areas),
    )


def _repeat_row(once: CellRun, repeats: int) -> Generator[CellRun]:
    """Yield the cells of a row, once more for each row that follows as its repetition."""
    rows_per_run = max(1, _CELLS_A_RUN // len(once))
    for first in range(1, repeats, rows_per_run):
        times = min(rows_per_run, repeats - first)
        places = np.tile(np.arange(len(once)), times)
        rows = np.repeat(np.arange(first, first + times), len(once)) + once.rows[0]
        formulas = None if once.formulas is None else once.formulas[places]
        yield CellRun(rows, once.columns[places], once.kinds[places], once.values.gather(places), 0, formulas)


def _make_run(rows: Positions, cells: list[tuple[int, int, str]], areas: list[FormulaArea]) -> CellRun:
    import polars as pl

    columns, kinds, values = zip(*cells, strict=True)
    given = np.array(kinds, dtype=np.uint8)
    formulas = given >= _FORMULA
    return CellRun(
        rows,
        np.array(columns, dtype=np.int64),
        given & np.uint8(_FORMULA - 1),
        pl.Series(values, dtype=pl.String),
        0,
        formulas if formulas.any() else None,
        tuple(areas),
    )


def _area(attributes: dict[str, str], row: int, column: int) -> list[FormulaArea]:
    """Return the cells of an array formula that begins in a cell; nothing where it is the only one."""
    rows = _count(attributes.get(f"{_TABLE}number-matrix-rows-spanned"))
    columns = _count(attributes.get(f"{_TABLE}number-matrix-columns-spanned"))
    if rows == columns == 1 or row + rows > MOST_ROWS or column + columns > MOST_COLUMNS:
        return []
    return [(row, column, row + rows - 1, column + columns - 1)]


def _expand_space(match: re.Match[str]) -> str:
    """White space in text: LibreOffice writes spaces between spans, and reads any, as they are."""
    return " " if match[0].strip(" ") else match[0]


def _count(text: str | None) -> int:
    return max(1, int(text[:20])) if text is not None and _COUNT.fullmatch(text) else 1


def _parse_value(attributes: dict[str, str], text: str | None) -> tuple[int, str]:
    """Return what kind of cell it is, and its value; 0 for a blank one."""
    formula = attributes.get(f"{_TABLE}formula", "")
    if formula in _CONSTANTS:
        return BOOLEAN, _CONSTANTS[formula]
    calculated = bool(formula)
    kind, key = _VALUES.get(attributes.get(f"{_OFFICE}value-type", ""), (0, ""))
    if attributes.get(_ERROR_TYPE) == "error" or (calculated and text is not None and _FAULT.fullmatch(text)):
        return FAULT, text or "#N/A"
    if not kind:
        if text or (calculated and text is not None):  # LibreOffice writes empty text as a paragraph of no type
            return TEXT, text
        return (PENDING, "") if calculated else (0, "")
    value = attributes.get(key, text if kind == TEXT else None)
    if value is None:
        return (TEXT, "") if kind == TEXT else (PENDING, "") if calculated else (0, "")
    if kind == BOOLEAN:
        value = {"true": "1", "false": "0"}.get(value, value)
    return kind, _parse_duration(value) if kind == DURATION else value


def _parse_duration(text: str) -> str:
    """Return a duration in days, as a numeral; the text itself where it is none."""
    match = _ELAPSED.fullmatch(text)
    if match is None:
        return text
    days, hours, minutes, seconds = (float((part or "0").replace(",", ".")) for part in match.groups()[1:])
    return f"{match[1]}{days + hours / 24 + minutes / 1440 + seconds / 86400!r}"
