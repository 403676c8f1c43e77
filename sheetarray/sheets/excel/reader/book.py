"""A workbook whose sheets are XML: cells as XML says them become runs, with the values that their kinds ask for.

`XmlBook` is what .xlsx and .ods share; `OoxmlBook` is a workbook of Office Open XML, and `opendocument` has the other.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ....dtypes import Positions
from ....errors import FormatError
from ....loops import Doubles
from ...workbooks import without_escapes
from ..package.markup import children_named, local_name, parse_tree
from ..package.parts import Package
from ..package.relations import RELATION_SPACES, Relations
from .cells import (
    ALL_ROWS,
    BOOLEAN,
    DURATION,
    ELAPSED,
    ERROR,
    FAULT,
    INLINE,
    ISO,
    LOGICAL,
    LONG,
    LONGEST_EXACT,
    MOMENT,
    NUMBER,
    PENDING,
    PLAIN,
    RESULT,
    SERIAL,
    SHARED,
    TEXT,
    CellRun,
    Kinds,
    RawCells,
    Titles,
    WorkbookReader,
    mark_plain_doubles,
    row_width,
)
from .formulas import parse_reference
from .worksheet import Room, SharedStrings, SheetRows

if TYPE_CHECKING:
    import polars as pl


_KINDS = np.zeros(8, dtype=np.uint8)  # the kind of a cell (`cells`) by its type in XML (`raw`)
_KINDS[[PLAIN, SHARED, RESULT, INLINE]] = NUMBER, TEXT, TEXT, TEXT
_KINDS[[LOGICAL, ERROR, ISO, ELAPSED]] = BOOLEAN, FAULT, MOMENT, DURATION
ALL_CELLS = slice(None)
MOST_REFERENCES = 2**20  # of a sheet that are followed


class XmlBook(WorkbookReader):
    """A workbook whose sheets are XML; `cells.WorkbookReader` says what each method is for.

    Attributes:
        reads_numbers: whether all numbers will be wanted after a search for words, which then keeps them.
    """

    package: Package
    reads_numbers = False

    @abstractmethod
    def blocks(
        self, title: str, *, texts: Sequence[tuple[int, int]] = ALL_ROWS, numbers_alone: bool = False
    ) -> Iterator[RawCells]:
        """Yield the cells of a sheet, block by block.

        `texts`: spans of rows whose numbers may be asked for as texts; other rows of numbers alone may have no texts.
        `numbers_alone`: keep nothing but numbers of rows of numbers.
        """

    @property
    @abstractmethod
    def strings(self) -> SharedStrings:
        """The strings to which cells refer by number."""

    @abstractmethod
    def parse_formula(self, formula: str) -> tuple[str, int, int] | None:
        """Return the sheet, the row and the column of the cell that a formula repeats; None for any other formula."""

    @property
    def formats(self) -> Formats | None:
        """What the styles of cells show numbers as; None where they say nothing."""
        return None

    def cells(self, title: str, *, numeric: bool, first: int = 0) -> Generator[CellRun]:
        """Yield the cells of a worksheet.

        Cells above the first row that is wanted are left out where that saves work: in blocks of numbers without
        formulas, which somebody may count.
        """
        for raw in self.blocks(title, texts=() if numeric else ALL_ROWS):
            cells = raw
            if numeric and raw.formulas is None and int(raw.rows[0]) < first:
                cells = raw.select(np.flatnonzero(raw.rows >= first))
            if len(cells):
                yield self._numbers(cells) if numeric else self._texts(cells, np.arange(len(cells)))

    def cells_of_table(self, title: str) -> Generator[CellRun]:
        """Yield the cells of a worksheet for an ordinary table.

        Numbers, dates and truth values are Float64 if doubles hold them for certain; the rest is text.
        """
        for raw in self.blocks(title, texts=()):
            plain = raw.numeral & ~raw.pending & ((raw.types == PLAIN) | (raw.types == LOGICAL))
            plain &= mark_plain_doubles(raw.numbers)
            plain &= (raw.types == PLAIN) | (raw.numbers == 0) | (raw.numbers == 1)
            if plain.all():
                yield CellRun(raw.rows, raw.columns, self._kinds(raw), _series(raw.numbers), raw.width)
                continue
            yield replace(self._texts(raw, np.flatnonzero(~plain)), formulas=None)
            if (places := np.flatnonzero(plain)).size:
                rows, columns, kinds = raw.rows[places], raw.columns[places], self._kinds(raw, places)
                yield CellRun(rows, columns, kinds, _series(raw.numbers[places]), row_width(rows, columns))

    def cells_of_rows(self, title: str, spans: Sequence[tuple[int, int]]) -> Generator[CellRun]:
        """Yield the cells of some rows, until rows begin below the last of them."""
        starts, ends = np.array(spans, np.int64).T
        for raw in self.blocks(title, texts=spans):
            if int(raw.rows.min()) >= ends[-1]:
                return
            index = np.searchsorted(starts, raw.rows, side="right") - 1
            wanted = np.flatnonzero((index >= 0) & (raw.rows < ends[index]))
            if len(wanted):
                yield self._texts(raw, wanted)

    def cells_with(self, title: str, texts: Sequence[str]) -> Generator[CellRun]:
        """Yield the cells that may hold one of some texts, in any case and between spaces, and perhaps others."""
        words = None
        for raw in self.blocks(title, texts=(), numbers_alone=self.reads_numbers):
            literal = (raw.types == RESULT) | (raw.types == INLINE)
            shared = np.flatnonzero((raw.types == SHARED) & raw.numeral)
            if len(shared):
                words = self.strings.words(texts) if words is None else words
                numbers = raw.numbers[shared]
                numbers = np.where((numbers >= 0) & (numbers < len(words)), numbers, len(words)).astype(np.int64)
                literal[shared[np.append(words, False)[numbers]]] = True
            if literal.any():
                yield self._texts(raw, np.flatnonzero(literal))

    def references(self, title: str) -> Iterator[tuple[int, int, str, int, int]]:
        """Yield the formulas of a worksheet that repeat a cell, at most `MOST_REFERENCES`.

        Each by its row and column, the title of the other cell's sheet in lower case (empty for the formula's own), and
        the row and column of that cell.
        """
        count = 0
        for block in self.blocks(title):
            for index, formula in block.find_formulas() if block.formulas is not None else ():
                if (reference := self.parse_formula(formula)) is not None:
                    count += 1
                    if count > MOST_REFERENCES:
                        return
                    yield int(block.rows[index]), int(block.columns[index]), *reference

    def _kinds(self, raw: RawCells, places: Positions | slice = ALL_CELLS) -> Kinds:
        """Return the kinds of some cells, by their types and styles."""
        kinds, styles = _KINDS[raw.types[places]], raw.styles[places]
        may_be_dates = (kinds == NUMBER) & (styles != 0)  # next to no styles are read for names and headers
        if may_be_dates.any() and (formats := self.formats) is not None:
            kinds = formats.kinds_as_shown(kinds, styles)
        if raw.pending.any():
            kinds[raw.pending[places]] = PENDING
        return kinds

    def _numbers(self, raw: RawCells) -> CellRun:
        """Return cells whose types, styles and shared strings are looked up, with values of Float64."""
        import polars as pl

        kinds, values = self._kinds(raw), _series(raw.numbers)
        shared = np.flatnonzero((raw.types == SHARED) & ~raw.pending)
        if len(shared):
            numbers, long = self.strings.look_up_cells(raw, shared, numeric=True)
            values = values.scatter(shared, numbers)
            kinds[long] = LONG
        others = np.flatnonzero(~raw.numeral & (raw.types != SHARED) | raw.pending)
        if len(others):
            texts = raw.texts(others)
            values = values.scatter(others, texts.cast(pl.Float64, strict=False))
            types, is_long = raw.types[others], texts.str.len_bytes().fill_null(0).to_numpy() > LONGEST_EXACT
            kinds[others[is_long & ((types == RESULT) | (types == INLINE))]] = LONG
        return CellRun(raw.rows, raw.columns, kinds, values, raw.width, raw.formulas)

    def _texts(self, raw: RawCells, places: Positions) -> CellRun:
        """Return some cells, by their indices, with values of text."""
        whole = len(places) == len(raw)
        rows, columns = (raw.rows, raw.columns) if whole else (raw.rows[places], raw.columns[places])
        is_shared = (raw.types[places] == SHARED) & ~raw.pending[places]
        shared = np.flatnonzero(is_shared)
        strings = self.strings.look_up_cells(raw, places[shared], numeric=False)[0] if len(shared) else None
        if strings is not None and len(shared) == len(places):
            values = strings
        else:
            values = raw.texts(places)  # of shared strings their numbers, for the moment
            values = values if strings is None else values.scatter(shared, strings)
        kinds = self._kinds(raw, places)
        formulas = None if raw.formulas is None else raw.formulas[places]
        width = raw.width if whole else row_width(rows, columns)
        return CellRun(rows, columns, kinds, values, width, formulas)


def _series(numbers: Doubles) -> pl.Series:
    import polars as pl

    return pl.Series(numbers)


# Number formats: which styles show a number as a date, and which as a duration.
#
# Source: ECMA-376 part 1, 18.8.30 (numFmt), 18.8.45 (xf), 18.8.31 (format codes). Binary workbooks number their formats
# and styles in the same way.

_DATES = frozenset((*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)))  # built in; from 27 on East Asian
_DURATIONS = frozenset((46,))
_LITERAL = re.compile(r'"[^"]*"?|\\.|_.|\*.', re.DOTALL)
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_BRACKETS = re.compile(r"\[[^\]]*\]?")
_MARKS = re.compile("[ymdhs]|a/p")  # what dates and times of day are shown with
_FORMAT_NUMBER = re.compile("[0-9]{1,6}")
_MOST_STYLES, _MOST_ELEMENTS, _MOST_OF_STYLES = 2**17, 2**20, 2**25  # of the part with the styles


def kind_of_format(code: str) -> int:
    """Return the kind of number that a format code shows: NUMBER, SERIAL or DURATION.

    Example:
        >>> kind_of_format("yyyy-mm-dd") == SERIAL, kind_of_format('0.00E+00" days"') == NUMBER
        (True, True)
    """
    first = _LITERAL.sub("", code).split(";")[0]
    if _ELAPSED.search(first):
        return DURATION
    marks = _BRACKETS.sub("", first).lower()
    return SERIAL if "general" not in marks and _MARKS.search(marks) else NUMBER


class Formats:
    """The kinds of numbers that the styles of a workbook show.

    `used`: the number of the format that each style has. `codes`: the codes of formats that are not built in, such as
    `yyyy-mm-dd`, by their numbers.
    """

    def __init__(self, used: Sequence[int], codes: Mapping[int, str]) -> None:
        self._used, self._codes = used, codes
        self._kinds = np.zeros(len(used) + 1, np.uint8)  # of each style that was met; 0 of the others
        self._kinds[-1] = NUMBER

    def kinds_as_shown(self, kinds: Kinds, styles: Positions) -> Kinds:
        """Return kinds in which numbers that are shown as dates or durations have become SERIAL or DURATION.

        `styles`: of each cell, its index; a style that the workbook does not have shows numbers as numbers.
        """
        known = np.minimum(styles, len(self._used))
        met = np.flatnonzero(np.bincount(known))
        for style in met[self._kinds[met] == 0].tolist():
            number = self._used[style]
            built_in = SERIAL if number in _DATES else DURATION if number in _DURATIONS else NUMBER
            self._kinds[style] = kind_of_format(self._codes[number]) if number in self._codes else built_in
        if (self._kinds[met] == NUMBER).all():
            return kinds
        format_kinds = self._kinds[known]
        return np.where((kinds == NUMBER) & (format_kinds != NUMBER), format_kinds, kinds)


# Workbooks of Office Open XML (.xlsx, .xlsm, and templates).
#
# Source: ECMA-376 part 1, 18.2 (workbook), in transitional or strict OOXML.

_MOST_BYTES = 2**26  # of the part that lists the sheets, with its names
_NAMES = re.compile(rb"<definedNames(?:\s[^<>]*)?>")
_NAMES_END = b"</definedNames>"


class OoxmlBook(XmlBook):
    """A workbook in a zip package; `cells.WorkbookReader` says what each method is for.

    Attributes:
        parts: of the worksheets, by their titles.

    Raises:
        FormatError: the part is not a workbook, or a damaged one.
    """

    def __init__(self, package: Package, part: str) -> None:
        self.package = package
        self._room = Room()
        self._sheets: dict[str, SheetRows] = {}
        root = parse_tree(_without_names(package.read(part, limit=_MOST_BYTES)), location=part)
        lists = children_named(root, "sheets") if local_name(root) == "workbook" else []
        if not lists:
            raise FormatError("the part is not a workbook: it lists no sheets", location=part)
        self._relations = Relations(package, part)
        targets = {relation.id: relation for relation in self._relations.entries}
        titles = Titles(part)
        for sheet in children_named(lists[0], "sheet"):
            ids = [sheet.get(f"{{{space}}}id") for space in RELATION_SPACES]
            titles.add_related(without_escapes(sheet.get("name", "")), next(filter(None, ids), None), targets)
        self.parts = titles.places
        self.titles = list(self.parts)
        settings = children_named(root, "workbookPr")
        self.from_1904 = bool(settings) and settings[0].get("date1904") in ("1", "true")

    @property
    def sheet_bytes(self) -> int:
        """The bytes of all worksheets when inflated, as the package's directory says."""
        return sum(self.package.member(part).size for part in self.parts.values() if part in self.package)

    @property
    def strings_part(self) -> str | None:
        """The name of the part with the shared strings; None if the workbook names no such part."""
        return self._relations.target("sharedStrings")

    @cached_property
    def strings(self) -> SharedStrings:
        """The strings to which cells refer by number."""
        return SharedStrings(self.package, self.strings_part)

    @cached_property
    def formats(self) -> Formats:
        """The formats in the styles of the workbook, which may be damaged."""
        part = self._relations.present_target("styles")
        if part is None:
            return Formats([], {})
        content = self.package.read(part, limit=_MOST_OF_STYLES)
        root = parse_tree(content, location=part, most=_MOST_ELEMENTS)
        if local_name(root) != "styleSheet":
            return Formats([], {})
        space = root.tag.removesuffix("styleSheet")
        formats = root.findall(f"{space}numFmts/{space}numFmt")
        styles = root.findall(f"{space}cellXfs/{space}xf")
        if max(len(styles), len(formats)) > _MOST_STYLES:
            raise FormatError(f"more than {_MOST_STYLES} styles")
        used = [style.get("numFmtId", "") for style in styles]
        numbers = {text: int(text) if _FORMAT_NUMBER.fullmatch(text) else 0 for text in set(used)}
        known = [(entry.get("numFmtId"), entry.get("formatCode", "")) for entry in formats]
        codes = {numbers[number]: code for number, code in known if number in numbers}
        return Formats([numbers[text] for text in used], codes)

    def blocks(
        self, title: str, *, texts: Sequence[tuple[int, int]] = ALL_ROWS, numbers_alone: bool = False
    ) -> Iterator[RawCells]:
        """Yield the cells of a worksheet, block by block."""
        if title not in self._sheets:
            self._sheets[title] = SheetRows(self.package, self.parts[title], self._room)
        return self._sheets[title].blocks(texts=texts, numbers_alone=numbers_alone)

    def parse_formula(self, formula: str) -> tuple[str, int, int] | None:
        """Return the sheet, the row and the column of the cell that a formula repeats; None for any other formula."""
        return parse_reference(formula)


def _without_names(content: bytes) -> bytes:
    """Return XML without its list of defined names; unchanged where comments or CDATA could look like that list."""
    begin = _NAMES.search(content) if b"<!" not in content else None
    end = content.find(_NAMES_END, begin.end()) if begin is not None else -1
    return content if begin is None or end < 0 else content[: begin.start()] + content[end + len(_NAMES_END) :]
