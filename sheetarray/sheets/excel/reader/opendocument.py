"""Workbooks of OpenDocument (.ods): a container.

Source: OASIS OpenDocument 1.3 part 3, 9.1 (tables), 6.1 (text), 19.385 (values).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from itertools import chain, islice

from ....errors import FormatError
from ...workbooks import MOST_ROWS
from ..package.parts import Package
from .blocks import inflate_blocks, map_ahead, run_ahead, to_utf8
from .cells import LONGEST_TEXT, CellRun, encrypted_error
from .events import MarkupBudget
from .kept_runs import KeptRuns
from .opendocument_parser import CONTENT
from .opendocument_runs import TABLE_SPACE
from .opendocument_segments import Segment, may_hold_tables, split_segments
from .opendocument_table import TableReader
from .references import MOST_REFERENCES, PlainReference
from .texts import without_entities
from .titles import Titles
from .worksheet import SHORT

MANIFEST = "META-INF/manifest.xml"

_EXTERNAL = re.compile(r"'.*'#\$")  # titles of tables in which programs keep what they have read of other files
_DAY_ZERO = re.compile(rb"""null-date\s[^<>]{,1000}?date-value\s*=\s*["']([0-9]{4}-[0-9]{2}-[0-9]{2})["'T]""")
_FIRST_CELL = re.compile(rb"<[\w.\-]{,100}:table-cell[\s/>]")
_LONGEST_TAG = 2000  # bytes of the one that says from which day dates count
_MOST_KEPT = 2**25  # bytes of the content that are kept
# Elements that the XML parser may read: of tables (those of a large one are read twice), and of what stands before a
# table, which takes less time for each
_MOST_PARSED = 1_500_000
_MOST_AROUND = 4_000_000


class OdsBook:
    """An OpenDocument spreadsheet in a zip package; `cells.WorkbookReader` says what each method is for.

    Raises:
        FormatError: the package is no such document, or a damaged or encrypted one.
    """

    max_rows = MOST_ROWS
    from_1904 = False  # dates are written out

    def __init__(self, package: Package) -> None:
        self.package, self._kept = package, KeptRuns()
        self._budgets: dict[str, MarkupBudget] = {}  # of the latest pass over each table
        self._blocks: list[bytes] | None = None  # of the content, where there is room for all of them
        if MANIFEST in package and b"encryption-data" in package.read(MANIFEST, limit=2**24):
            raise encrypted_error()
        self._is_long = CONTENT in package and package.member(CONTENT).size > SHORT
        titles = Titles(CONTENT)
        for title in _titles(self._content()):
            titles.add(title, title)
        self.titles = list(titles.places)

    def find_day_zero(self) -> str:
        """Return the date, in ISO form, from which numbers count days; that of Excel if the document names none."""
        waiting = b""
        for block in self._content():
            waiting = waiting[-_LONGEST_TAG:] + block
            if match := _DAY_ZERO.search(waiting):
                return match[1].decode("ascii")
            if _FIRST_CELL.search(waiting):
                break  # the date would stand before all tables
        return "1899-12-30"

    def close(self) -> None:
        """Do nothing: the package's bytes are the caller's."""

    def cells(self, title: str, *, numeric: bool) -> Generator[CellRun]:  # noqa: ARG002  (text serves for both)
        """Yield the cells of a table."""
        return self._kept.read(title, lambda: self._read_with(self._open_table(title)), "text")

    def references(self, title: str) -> Iterator[PlainReference]:
        """Yield the formulas of a table that are one plain reference, at most `MOST_REFERENCES`."""
        reader = self._open_table(title, keeps_references=True)
        batches = (reader.take_references() for _ in chain(self._read_with(reader), [None]))
        return islice(chain.from_iterable(batches), MOST_REFERENCES)

    def _open_table(self, title: str, *, keeps_references: bool = False, numeric: bool = False) -> TableReader:
        """Return a reader of a table, whose budget is what the passes over other tables have left.

        `keeps_references`: see `TableReader`. `numeric`: see `TableReader`.
        """
        self._budgets.pop(title, None)
        spent = sum(budget.spent for budget in self._budgets.values())
        self._budgets[title] = MarkupBudget(_MOST_PARSED - spent)
        budgets = self._budgets[title], MarkupBudget(_MOST_AROUND)
        return TableReader(title, *budgets, keeps_references=keeps_references, numeric=numeric)

    def _read_with(self, reader: TableReader) -> Iterator[CellRun]:
        """Yield the cells that a reader of one table finds, until the table ends."""
        segments = split_segments(self._content())
        for segment, ahead in map_ahead(reader.read_ahead, segments, ahead=self._is_long):
            yield from reader.read(segment, ahead, last=False)
            if reader.over:
                return
        yield from reader.read(Segment(b"", b""), (False, None), last=True)

    def _content(self) -> Iterator[bytes]:
        """Yield the blocks of `content.xml`, which are kept for later passes if there is room for all of them."""
        if self._blocks is not None:
            yield from self._blocks
            return
        blocks, room = list[bytes](), _MOST_KEPT
        for block in run_ahead(to_utf8(inflate_blocks(self.package, CONTENT), CONTENT)):
            room -= len(block)
            if room >= 0:
                blocks.append(block)
            else:
                blocks.clear()
            yield block
        self._blocks = blocks if room >= 0 else None

    def cells_of_table(self, title: str) -> Generator[CellRun]:
        """Yield the cells of a table, numbers of which no digit counts as Float64, all other values as text."""
        return self._kept.read(title, lambda: self._read_with(self._open_table(title, numeric=True)), "table")


def _titles(content: Iterator[bytes]) -> Generator[str]:
    """Yield the titles of the tables, by a search for their tags, which takes little longer than inflating."""
    waiting, tag = b"", None
    for block in content:
        waiting += block
        if tag is None:
            declared = re.search(rb"""xmlns:([\w.\-]+)\s*=\s*["']%s["']""" % TABLE_SPACE.strip().encode(), waiting)
            if declared is None and len(waiting) < LONGEST_TEXT:
                continue
            if declared is None:
                raise FormatError("the part has no tables: it is no spreadsheet", location=CONTENT)
            tag = re.compile(rb"<%s:table\s([^<>]*)>" % declared[1])
            name = re.compile(rb"""(?:\A|\s)%s:name\s*=\s*(?:"([^"]*)"|'([^']*)')""" % declared[1])
        ended = waiting.rfind(b">") + 1
        for match in tag.finditer(waiting, 0, ended) if may_hold_tables(waiting) else ():
            title = name.search(match[1])
            if title is not None:
                text = without_entities((title[1] or title[2] or b"").decode("utf-8", "replace"))
                if not _EXTERNAL.match(text):
                    yield text
        waiting = waiting[ended:]
        if len(waiting) > LONGEST_TEXT * 64:
            raise FormatError("the part has more text than a cell holds", location=CONTENT)
