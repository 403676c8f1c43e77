"""The cells of sheets -> arrays: anchors wherever they are, then each column under the dtype that its header names.

A container implements `Sheet`; of several sheets, those without an array are passed over. Columns come typed by the
container's own bulk parser first; where that leaves the slightest doubt they are asked for again as text, and each
cell is judged by its look. Arrays have the lengths that their headers say, or that people gave them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ..dtypes import Array, Buffer, Positions
from ..elements import Missing, NamedMissing, check_missing, leave_words
from ..errors import NO_ARRAY, Finding, FormatError
from ..linear.buffers import view_of
from ..linear.data_cells import TakenWords, complex_part_dtype, describe_missing_cells
from ..linear.header import Header, NoteFinding
from ..linear.named import select
from ..linear.parsing import warn_of_finding
from ..linear.resizing import NO_RESIZE_HINT, RESIZE_HINT, contiguous_strides, count_rows
from .accepting import ResizedArray
from .anchors import find_anchors
from .blocks.mapping import are_mapped, map_large
from .blocks.parts import ColumnPart, column_of_parts, split_groups
from .blocks.reading import iter_arrays
from .column import ArrayColumn, DecodedColumn, leave_out_blanks
from .infos import Infos
from .parts import AnchorsByName, ReportError, find_stops, group_parts, raise_error
from .refusals import MOST_ARRAYS, too_many_arrays
from .row_edits import RowChange, RowEdit, find_row_edits, resize_columns
from .sheet import ArrayInfo, ColumnCells, Request, Sheet, Zone
from .unreadable import errors_of_problems, join_rows, keep_unreadable, keeps_none, pads_columns
from .words import DESCRIPTION, Anchor

_FIXED_HINT = (
    "this column belongs to several whose lengths depend on each other, such as those of an awkward array: undo the "
    "edit, or write the array again"
)


class ElementRestorer(Protocol):
    """The exact elements that a container keeps of its arrays beside their cells, which programs may have rounded."""

    def restore(self, name: str, buffer: Buffer, column: ArrayColumn) -> Buffer:
        """Return the elements, each that a program has only rounded with the bits that it was written with."""

    def repair(self, name: str, buffer: Buffer, column: ArrayColumn, unreadable: Mapping[int, object]) -> set[int]:
        """Put elements into a buffer whose cells a program has rounded to what no element can be.

        It returns the indices of those, of the unreadable cells given by the index of their elements.
        """


# the name of an array, its elements, its column, and the places of the elements whose cells cannot be read
JudgeArray = Callable[[str, Buffer | None, ArrayColumn, Positions], Iterable[Finding | RowChange]]


class SheetArrays:
    """The arrays of one sheet or several of a container, by the anchors that are found once.

    `sheets`: where the cells are; titles differ. `strict`: refuse lists without a version. `missing`: "nan" reads
    blanks in float and complex arrays as NaN. `resize`: the axis that varies slowest takes its length from the cells
    that stand in the column. `restore`: gives elements the bits that they were written with.

    Attributes:
        fixed: arrays that are not resized, since others depend on them.

    Raises:
        FormatError: there is no array.
    """

    def __init__(
        self,
        sheets: Sequence[Sheet],
        *,
        strict: bool = False,
        missing: Missing = "error",
        resize: bool = False,
        restore: ElementRestorer | None = None,
    ) -> None:
        check_missing(missing)
        self.sheets, self.missing, self.resize, self.restore = sheets, missing, resize, restore
        self._by_title = {sheet.title: sheet for sheet in sheets}
        self.fixed: Collection[str] = ()
        self._anchors: list[Anchor] = []
        for sheet in sheets:
            self._anchors += find_anchors(sheet, strict=strict)
            if len(self._anchors) > MOST_ARRAYS:
                raise too_many_arrays()
        if not self._anchors:
            raise FormatError(
                NO_ARRAY,
                hint="read_columns reads ordinary tables, and sheetarray table -o out.xlsx converts them",
            )
        self.stops = find_stops(self._anchors)
        self._infos: Mapping[str, ArrayInfo] | None = None
        self._by_name: AnchorsByName | None = None

    def read(self, names: Sequence[str] | None = None, reports: Reports | None = None) -> dict[str, Any]:
        """Return arrays in the order written, all of them for None.

        `reports`: takes errors and findings of every cell; arrays that could not be read are None then. Without it, the
        first error is raised, and findings are warnings.
        """
        is_usual, reports = reports is None, reports or Reports(raise_error, warn_of_finding)
        groups = self._group_all(reports) if names is None else self._group_named(names, reports)
        maps = is_usual and are_mapped() and not self.resize and not isinstance(self.missing, NamedMissing)
        mapped = self._map_large(groups) if maps else {}  # but words for missing values are counted
        unmapped = {name: group for name, group in groups.items() if name not in mapped} if mapped else groups
        measured = self._find_alike(groups) if is_usual and self.resize else {}  # and not decoded
        every = {**unmapped, **measured}
        lying = {name: group for name, group in every.items() if group[0].orient == "rows"}
        standing = {name: group for name, group in every.items() if name not in lying} if lying else every
        results = self._read_rows(lying, unmapped, reports) if lying else {}
        columns = dict(self._fetch(standing))
        edits = self._take_lengths(columns, reports) if self.resize or reports.finds_edits else []
        for name in measured:
            columns.pop(name, None)
        results |= self._decode(standing, columns, reports)
        reports.note_edits(edits)
        if reports.words.counts:
            reports.note(reports.words.to_finding())
        for sheet in self.sheets:
            for finding in sheet.notes:
                reports.note(finding)
        return {name: mapped[name] if name in mapped else results[name] for name in groups} if mapped else results

    def _map_large(self, groups: Mapping[str, list[Anchor]]) -> dict[str, Array]:
        """Return arrays that go block by block into a file, by name; none if all arrays are to be read at once."""
        headers = {name: group[0].header for name, group in groups.items() if group[0].header is not None}
        notes = [list(sheet.notes) for sheet in self.sheets]
        parts: dict[str, list[ColumnPart]] = {}

        def iterate(names: Collection[str]) -> Iterator[tuple[str, Buffer]]:
            parts.update(split_groups(self.sheets, {name: groups[name] for name in names}, self.stops))
            yield from iter_arrays(self.sheets, parts, self.missing)

        def restore(name: str, buffer: Buffer) -> Buffer:
            assert self.restore is not None
            return self.restore.restore(name, buffer, column_of_parts(self.sheets, parts[name]))

        buffers = map_large(headers, iterate, None if self.restore is None else restore)
        if not buffers:
            for sheet, before in zip(self.sheets, notes, strict=True):
                sheet.notes = before
        return {name: view_of(headers[name], buffer) for name, buffer in buffers.items()}

    def columns(self) -> dict[str, ArrayColumn]:
        """Return where every array stands, by name; no cells are read."""
        groups = self._group_all(Reports(raise_error, warn_of_finding))
        return {name: ArrayColumn(group, (), self._by_title[group[0].title]) for name, group in groups.items()}

    def read_resized(self) -> dict[str, ResizedArray]:
        """Return every array with the length that its cells have, and its buffer, by name.

        Raises:
            FormatError: at the first cell that is wrong.
        """
        arrays: dict[str, ResizedArray] = {}

        def keep(name: str, buffer: Buffer | None, column: ArrayColumn, _: Positions) -> Iterator[Finding]:
            assert buffer is not None, "the first error is raised"
            arrays[name] = ResizedArray(column, buffer)
            yield from ()

        names = self.read(None, Reports(raise_error, warn_of_finding, keep))
        return {name: arrays[name] for name in names}

    def check(self, judge: JudgeArray | None = None) -> Iterator[Finding]:
        """Yield every finding in reading order; nothing where the sheets are intact.

        Rows that people added to, or deleted from, all arrays of a sheet alike are one finding.

        `judge`: yields further findings about the elements of an array, such as that they are not those that were
        written; its elements are None where hardly any can be read. They are as the cells have them.
        """
        errors: list[FormatError] = []
        findings: list[Finding] = []
        try:
            self.read(None, Reports(errors.append, findings.append, judge, finds_edits=True))
        except FormatError as error:
            errors.append(error)
        yield from findings
        yield from join_rows(errors) if errors else ()

    def scan(self) -> Mapping[str, ArrayInfo]:
        """Return the infos of all arrays whose headers are not damaged, each made only when it is asked for."""
        if self._infos is None:  # very many headers take a while
            self._infos = Infos(self.sheets, group_parts(self.sheets, self._anchors, None, _ignore, _ignore), {})
        return self._infos

    def scan_all(self) -> dict[str, ArrayInfo]:
        """Return the infos of all arrays. Lengths come from the headers; with `resize`, from the cells."""
        reports = Reports(raise_error, warn_of_finding)
        groups, resized = self._group_all(reports), dict[str, Header]()
        if self.resize:
            lying = {name: group for name, group in groups.items() if group[0].orient == "rows"}
            standing = {name: group for name, group in groups.items() if name not in lying}
            columns = dict(self._fetch(lying, are_rows=True)) | dict(self._fetch(standing))
            self._take_lengths(columns, reports)
            resized = {name: column.header for name, column in columns.items()}
        return dict(Infos(self.sheets, groups, resized).items())

    def peek(self, info: ArrayInfo) -> str | None:
        """Return the text in the data cells of an array, in their order; None if not all of them are at hand."""
        if len(info.data) != 1 or info.strides != contiguous_strides(info.shape, info.order):
            return None
        data = info.data[0]
        cells = self._by_title[data.title].zones([Zone(data.row, data.column, info.capacity, data.orient)])[0]
        return "".join(map(str, cells)) if len(cells) == info.capacity else None

    def _group_all(self, reports: Reports) -> dict[str, list[Anchor]]:
        """Return the anchors of the parts of each array."""
        return group_parts(self.sheets, self._anchors, None, reports.report, reports.note)

    def _group_named(self, names: Sequence[str], reports: Reports) -> dict[str, list[Anchor]]:
        """Return the anchors of the parts of each array that is wanted, in the order wanted."""
        names = [names] if isinstance(names, str) else names
        if self._by_name is None:  # one array after the other may be asked for
            self._by_name = AnchorsByName(self.sheets, self._anchors)
        anchors = self._by_name.of(names)
        groups = group_parts(self.sheets, anchors, frozenset(names), reports.report, reports.note)
        if not groups.keys() >= frozenset(names):  # the message lists all that there are
            groups = group_parts(self.sheets, self._anchors, None, _ignore, _ignore)
        return select(groups, names)

    def _find_alike(self, wanted: Mapping[str, list[Anchor]]) -> dict[str, list[Anchor]]:
        """Return the other arrays of the same length. If they grew alike, the new length of a wanted array is meant."""
        groups = group_parts(self.sheets, self._anchors, None, _ignore, _ignore)

        def extent(group: list[Anchor]) -> tuple[Any, ...] | None:
            rows = count_rows(group[0].header) if group[0].header else None
            return rows and (group[0].title, group[0].orient, rows[0])

        alike = {extent(group) for group in wanted.values()} - {None}
        return {name: group for name, group in groups.items() if name not in wanted and extent(group) in alike}

    def _read_rows(
        self, lying: Mapping[str, list[Anchor]], wanted: Container[str], reports: Reports
    ) -> dict[str, Array | None]:
        """Return the arrays of rows, which are taken one by one unless all of them have to be measured first."""
        rows: Iterable[tuple[str, ArrayColumn]] = self._fetch(lying, are_rows=True)
        edits: list[RowEdit] = []
        if self.resize or reports.finds_edits:
            measured = dict(rows)
            edits, rows = self._take_lengths(measured, reports), measured.items()
        results = {name: self._decode_checked(row, name, reports) for name, row in rows if name in wanted}
        reports.note_edits(edits)
        return results

    # What is asked of the sheets -----------------------------------------------------------------------------

    def _fetch(
        self, groups: Mapping[str, list[Anchor]], *, typed: bool = True, are_rows: bool = False
    ) -> Iterator[tuple[str, ArrayColumn]]:
        """Yield the names of arrays and their columns, or rows. Every sheet is asked once; rows come one by one."""
        plan: dict[str | None, list[Request]] = {}
        for group in groups.values():
            for anchor in group:
                assert anchor.header is not None
                column, row = anchor.data_cell
                request = Request(column, row, anchor.header.dtype, self.stops.get(id(anchor)))
                plan.setdefault(anchor.title, []).append(request)
        cells: dict[str | None, Iterator[ColumnCells]] = {}
        for title, requests in plan.items():
            columns: list[ColumnCells] = [((), ())] * len(requests)
            for block in () if are_rows else self._by_title[title].blocks(requests, typed=typed):
                columns[block.place] = block.cells
            cells[title] = iter(self._by_title[title].rows(requests) if are_rows else columns)
        for name, group in groups.items():
            pieces = [next(cells[anchor.title]) for anchor in group]
            header = group[0].header
            if name == DESCRIPTION and len(pieces) == 1 and header is not None:  # people sort whole rows
                pieces = [leave_out_blanks(pieces[0], header.capacity)]
            yield name, ArrayColumn(group, pieces, self._by_title[group[0].title])

    def _take_lengths(self, columns: Mapping[str, ArrayColumn], reports: Reports) -> list[RowEdit]:
        """Give columns the lengths that their cells have, if arrays are resized; return the edits that are found."""
        if self.resize:
            resize_columns(columns, self.missing, self.fixed, reports.note, pads=pads_columns())
            return []
        return find_row_edits(columns, self.missing, self.fixed)

    # The arrays of columns -----------------------------------------------------------------------------------

    def _decode(
        self, groups: Mapping[str, list[Anchor]], columns: dict[str, ArrayColumn], reports: Reports
    ) -> dict[str, Array | None]:
        """Return the arrays of columns. Each column is released as soon as it is decoded."""
        results = dict[str, Array | None].fromkeys(columns)
        doubtful: dict[str, ArrayColumn] = {}  # and columns of text after them: errors come in the order of columns
        for name in results:
            column = columns.pop(name)
            buffer = column.decode_typed(self.missing)
            if buffer is not None:
                if isinstance(self.missing, NamedMissing):
                    buffer = reports.words.take_elements(name, buffer, self.missing, column.element_address)
                results[name] = self._build_array(column, name, buffer, reports)
            elif doubtful or column.came_typed:
                doubtful[name] = column
            else:
                results[name] = self._decode_checked(column, name, reports)
        if doubtful:
            unsure = {name: groups[name] for name, column in doubtful.items() if column.came_typed}
            again = dict(self._fetch(unsure, typed=False))
            for name, column in doubtful.items():
                if name in again:
                    again[name].header = column.header
                results[name] = self._decode_checked(again.pop(name, column), name, reports)
        return results

    def _decode_checked(self, column: ArrayColumn, name: str, reports: Reports) -> Array | None:
        """Decode a column cell by cell and report each problem. Return the array, or None if there was any problem."""
        try:
            decoded = column.decode_checked(self.missing, pads=self.resize and pads_columns())
        except FormatError as error:
            error.array = name
            reports.report(error)
            return None
        buffer = decoded.buffer
        if isinstance(self.missing, NamedMissing):
            buffer = reports.words.take_elements(name, buffer, self.missing, column.element_address)
        if decoded.problems or decoded.count_error or decoded.missing_count:
            return self._take_doubtful(replace(decoded, buffer=buffer), column, name, reports)
        return self._build_array(column, name, buffer, reports)

    def _take_doubtful(self, decoded: DecodedColumn, column: ArrayColumn, name: str, reports: Reports) -> Array | None:
        """Report what is wrong with a column that was decoded; return the array, if it can be had all the same."""
        header, cells_each, restorer = column.header, decoded.cells_per_element, self.restore
        if decoded.problems and not decoded.is_cut and restorer and cells_each == 1 and not decoded.count_error:
            unreadable = {problem.index: decoded.cell(problem.index) for problem in decoded.problems}
            repaired = restorer.repair(name, decoded.buffer, column, unreadable)  # what a program has made by rounding
            decoded.problems[:] = [problem for problem in decoded.problems if problem.index not in repaired]
        if decoded.problems:
            missing = self.missing if keeps_none() else leave_words(self.missing)
            floats = decoded.buffer if cells_each == 1 else decoded.buffer.view(complex_part_dtype(header.dtype).numpy)
            how: dict[str, Any] = {"missing": missing, "cell": decoded.cell, "address": column.address}
            decoded.problems[:] = reports.words.take(name, floats, decoded.problems, **how)
        if decoded.count_error:
            decoded.count_error.array = name
            if name in self.fixed:
                decoded.count_error.hint = _FIXED_HINT
            elif decoded.count_error.hint == RESIZE_HINT and column.is_mostly_blank_below():
                decoded.count_error.hint = NO_RESIZE_HINT  # what stands there are no rows
            reports.report(decoded.count_error)
        elif decoded.missing_count and column.sheet.keeps_blanks and not decoded.problems:
            last, orient = column.address(len(decoded.cells) - 1), column.group[0].orient
            reports.note(describe_missing_cells(name, decoded.missing_count, last, orient=orient))
        if decoded.problems and not decoded.count_error:
            raised = keep_unreadable(
                name, header, decoded.problems, decoded.cell, column.address, cells_each=cells_each
            )
            if raised is not None:
                for wrong in raised:
                    reports.report(wrong)
                return self._build_array(column, name, decoded.buffer, reports)
        if not decoded.problems and not decoded.count_error:
            return self._build_array(column, name, decoded.buffer, reports)
        for wrong in errors_of_problems(decoded.problems, header, name, column.address, cells_each=cells_each):
            reports.report(wrong)
        if reports.judge is not None:
            reports.take_judged(name, *_take_readable(decoded, header.capacity), column)
        return None

    def _build_array(self, column: ArrayColumn, name: str, buffer: Buffer, reports: Reports) -> Array:
        if reports.judge is not None:
            reports.take_judged(name, buffer, np.empty(0, np.int64), column)
        elif self.restore is not None:
            buffer = self.restore.restore(name, buffer, column)
        return view_of(column.header, buffer)


class Reports:
    """What is said of arrays while their cells are read.

    `report`: is called with each error. `note`: is called with each finding about something that was accepted although
    it is not as `write` writes it. `judge`: as for `SheetArrays.check`. `finds_edits`: whether rows that were added or
    deleted alike are one finding.
    """

    def __init__(
        self, report: ReportError, note: NoteFinding, judge: JudgeArray | None = None, *, finds_edits: bool = False
    ) -> None:
        self.report, self.note, self.judge, self.finds_edits = report, note, judge, finds_edits
        self.words = TakenWords()
        self._changes: dict[str, RowChange] = {}

    def note_edits(self, edits: Iterable[RowEdit]) -> None:
        """Note the rows that were added or deleted, now that the elements have been compared."""
        for edit in edits:
            if (finding := edit.to_finding(self._changes)) is not None:
                self.note(finding)

    def take_judged(self, name: str, buffer: Buffer | None, unreadable: Positions, column: ArrayColumn) -> None:
        """Note what the judge says of an array; `unreadable`: the places of elements whose cells cannot be read."""
        for finding in self.judge(name, buffer, column, unreadable) if self.judge is not None else ():
            if isinstance(finding, RowChange):
                self._changes[name] = finding
            else:
                self.note(replace(finding, array=name))


def _take_readable(decoded: DecodedColumn, capacity: int) -> tuple[Buffer | None, Positions]:
    """Return the elements of a column with wrong cells, and the places of those that cannot be read, or are not there.

    The elements are None where so many cells are wrong that others were not looked at.
    """
    buffer, size = decoded.buffer, decoded.cells_per_element
    if decoded.is_cut or (decoded.count_error and size > 1):
        return None, np.empty(0, np.int64)
    unreadable = {problem.index // size for problem in decoded.problems} | {*range(len(buffer), capacity)}
    if len(buffer) < capacity:
        longer = np.zeros(capacity, buffer.dtype)
        longer[: len(buffer)] = buffer
        buffer = longer
    return buffer, np.array(sorted(unreadable), np.int64)


def _ignore(_: object) -> None:
    """Ignore an error that another pass reports."""
