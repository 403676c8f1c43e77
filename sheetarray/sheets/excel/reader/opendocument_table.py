"""Reads the cells of one OpenDocument table, segment by segment: plain rows in bulk, all else by the XML parser.

Source: OASIS OpenDocument 1.3 part 3, 9.1 (tables), 6.1 (text), 19.385 (values).
"""

from __future__ import annotations

import re
from collections.abc import Generator

import numpy as np

from ....columns import cell_address
from ....errors import FormatError
from ...workbooks import MOST_COLUMNS, MOST_ROWS
from .cells import LONGEST_TEXT, CellRun, FormulaArea, row_width
from .events import MarkupBudget
from .opendocument_parser import CONTENT, ContentParser
from .opendocument_rows import PlainRows, read_plain_rows
from .opendocument_runs import (
    CELLS_A_RUN,
    FORMULA,
    LONG_TEXT,
    OFFICE_SPACE,
    TABLE_SPACE,
    TEXT_SPACE,
    TRUTHS,
    count_of,
    expand_space,
    find_formula_area,
    make_run,
    merge_runs,
    parse_value,
    repeat_row,
)
from .opendocument_segments import Segment, may_pass_by
from .references import PlainReference, parse_open_reference

_NO_FORMULAS = ("", *TRUTHS)
_CELLS = (f"{TABLE_SPACE}table-cell", f"{TABLE_SPACE}covered-table-cell")
_WHITE = re.compile("[\t\n\r ]{2,}|[\t\n\r]")
_REPEATED_ALWAYS, _REPEATED_TIMES = 6_000_000, 64  # cells that repetition may make in all, and more for each row
_DEEPEST = 256  # elements, one within another


class TableReader:
    """Reads the cells of one table from the segments of a document, which are given in their order.

    `budget`: the elements of the table that the XML parser may read. `around`: the elements before the table that it
    may read. `keeps_references`: whether formulas that are one plain reference are kept, until `take_references` is
    called. `numeric`: give plain rows of numbers that doubles hold for certain as Float64.

    Attributes:
        over: whether the table has ended.
    """

    def __init__(
        self,
        title: str,
        budget: MarkupBudget,
        around: MarkupBudget,
        *,
        keeps_references: bool = False,
        numeric: bool = False,
    ) -> None:
        self._budget, self._around = budget, around
        self._title, self.over, self._numeric = title, False, numeric
        self._references: list[PlainReference] | None = [] if keeps_references else None
        self._open: list[str] = []
        self._depth = 0  # the number of open elements down to the table, while the table is open; otherwise 0
        self._row, self._column = -1, 0
        self._row_repeats = 1
        self._cell: dict[str, str] | None = None
        self._text: list[str] | None = None  # of the cell's paragraphs
        self._length = 0  # characters of the text
        self._aside = 0  # the depth of an annotation, a drawing or a pronunciation, which is left out; otherwise 0
        self._in_a_row = False
        self._in_row: list[tuple[int, int, str]] = []  # column, kind, value
        self._rows: list[int] = []
        self._cells: list[tuple[int, int, str]] = []
        self._areas: list[FormulaArea] = []
        self._runs: list[tuple[CellRun, int]] = []  # and how often the rows of each stand
        self._written = self._made = 0  # rows with cells, and the cells that repetition makes of them
        self._parser = ContentParser(self._begin, self._end, self._characters)

    def read_ahead(self, segment: Segment) -> tuple[bool, PlainRows | None]:
        """Return whether an attempt was made to read the rows of a segment in bulk, and the rows if they are plain.

        Called in other threads while this one is at earlier segments; it tries only if the table seems to be open.
        """
        tried = bool(self._depth) and self._references is None and segment.rows != b""
        return tried, read_plain_rows(segment.rows, numeric=self._numeric) if tried else None

    def read(self, segment: Segment, ahead: tuple[bool, PlainRows | None], *, last: bool) -> Generator[CellRun]:
        """Read the next segment, and yield the cells of rows that have ended.

        `ahead`: what `read_ahead` returned for the segment. `last`: whether it is the last segment.

        Raises:
            FormatError: the document is no well-formed XML, or repetition makes far more cells than are written.
        """
        self._parse(segment.before, last=last)
        if segment.rows:
            rest = segment.rows
            if not self._depth and not self.over and may_pass_by(rest, self._title):
                self._parser.pass_by(rest)
                return
            if self._is_between_rows() and self._references is None and self._parser.knows_prefixes(rest):
                tried, plain = ahead
                plain = plain if tried else read_plain_rows(rest, numeric=self._numeric)
                if plain is not None:
                    yield from self._complete_runs(last=True)
                    yield from self._add_plain(plain, rest)
                    rest = rest[plain.size :]
            self._parse(rest)
        yield from self._complete_runs(last=last)

    def _parse(self, text: bytes, *, last: bool = False) -> None:
        self._parser.hand_over(text, self._budget if self._depth else self._around, last=last)

    def _complete_runs(self, *, last: bool) -> Generator[CellRun]:
        """Yield the runs so far with their repetitions; of the cells after these, only if they are many or the last."""
        if self._rows and (last or self.over or len(self._rows) >= CELLS_A_RUN):
            self._flush()
        runs, self._runs = self._runs, []
        for run, repeats in runs:
            yield run
            yield from repeat_row(run, repeats)

    def take_references(self) -> list[PlainReference]:
        """Return the plain references that were found since the last call."""
        kept = self._references or []
        self._references = None if self._references is None else []
        return kept

    # Rows in bulk --------------------------------------------------------------------------------------------

    def _is_between_rows(self) -> bool:
        """Return whether the table is open, and neither a row of it nor anything left out."""
        return bool(self._depth) and not self._aside and not self._in_a_row and self._cell is None

    def _add_plain(self, plain: PlainRows, text: bytes) -> Generator[CellRun]:
        """Yield the cells of rows that were read in bulk, and of the odd rows among them, which the parser reads now.

        `text`: in which they stand.
        """
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
            yield merge_runs([run, *odd] if run is not None else odd)

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
            whole = name == f"{TABLE_SPACE}table" and self._open[-2:-1] == [f"{OFFICE_SPACE}spreadsheet"]
            if whole and not self.over and attributes.get(f"{TABLE_SPACE}name") == self._title:
                self._depth = len(self._open)
        elif name == f"{TABLE_SPACE}shapes":
            self._aside = len(self._open)
        elif name == f"{TABLE_SPACE}table-row":
            self._row, self._in_a_row = self._row + 1, True
            self._row_repeats = count_of(attributes.get(f"{TABLE_SPACE}number-rows-repeated"))
            self._column = 0
        elif name in _CELLS:
            self._cell, self._text, self._length = attributes, None, 0

    def _begin_within(self, name: str, attributes: dict[str, str]) -> None:
        if name == f"{TEXT_SPACE}p":
            if self._text is None:
                self._text = []
            else:
                self._text.append("\n")
        elif name == f"{TEXT_SPACE}s":
            self._add_text(" " * min(count_of(attributes.get(f"{TEXT_SPACE}c")), LONGEST_TEXT + 1))
        elif name == f"{TEXT_SPACE}tab":
            self._add_text("\t")
        elif name == f"{TEXT_SPACE}line-break":
            self._add_text("\n")
        elif not name.startswith(TEXT_SPACE) or name == f"{TEXT_SPACE}ruby-text":  # how the text is pronounced
            self._aside = len(self._open)

    def _characters(self, text: str) -> None:
        if self._text is not None and not self._aside and self._open[-1] not in _CELLS:
            self._add_text(_WHITE.sub(expand_space, text))

    def _add_text(self, text: str) -> None:
        """Add some characters to the text of the cell."""
        self._length += len(text)
        if self._length > LONGEST_TEXT:
            raise FormatError(
                f"a text of more than {LONGEST_TEXT} characters", location=cell_address(self._row, self._column)
            )
        if self._text is not None:
            self._text.append(text)

    def _end(self, name: str) -> None:
        if self._aside == len(self._open):
            self._aside = 0
        elif self._cell is not None and name in _CELLS and not self._aside:
            self._end_cell(self._cell)
        elif self._cell is None and self._depth and name == f"{TABLE_SPACE}table-row":
            self._end_row()
        elif self._depth == len(self._open):
            self._depth, self.over = 0, True
        self._open.pop()

    # Cells and rows ------------------------------------------------------------------------------------------

    def _end_cell(self, attributes: dict[str, str]) -> None:
        repeats = count_of(attributes.get(f"{TABLE_SPACE}number-columns-repeated"))
        kind, value = parse_value(attributes, None if self._text is None else "".join(self._text))
        if kind:
            if attributes.get(f"{TABLE_SPACE}formula", "") not in _NO_FORMULAS:
                kind |= FORMULA
                self._areas += (area := find_formula_area(attributes, self._row, self._column))
                if self._references is not None and not area and repeats == self._row_repeats == 1:
                    target = parse_open_reference(attributes[f"{TABLE_SPACE}formula"])
                    self._references += [] if target is None else [PlainReference(self._row, self._column, *target)]
            if self._column + repeats > MOST_COLUMNS:
                raise FormatError(
                    f"a cell beyond the {MOST_COLUMNS} columns that a sheet has",
                    location=cell_address(self._row, MOST_COLUMNS),
                )
            self._made += (repeats * self._row_repeats - 1) * (len(value) // LONG_TEXT)
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
            reason = f"{self._written} rows, which repetition makes {self._made} cells (a long text counts as several)"
            raise FormatError(reason, location=CONTENT)

    def _flush(self, repeats: int = 1) -> None:
        """Make a run of the cells collected so far, whose row stands `repeats` times."""
        if self._rows:
            self._runs.append((make_run(np.array(self._rows, dtype=np.int64), self._cells, self._areas), repeats))
        self._rows, self._cells, self._areas = [], [], []
