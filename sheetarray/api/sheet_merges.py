"""The arrays of a merge: all those of the files together, or sheet by sheet where several have arrays of one name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np

from ..changes.compare import Comparison, compare
from ..changes.conflicts import Choices, Conflict, Conflicts, ConflictsOfArray, FileChanges, Place
from ..changes.elements import are_alike
from ..changes.formulas import (
    ColumnMoves,
    Formula,
    Grows,
    RowMoves,
    find_formulas,
    follow_columns,
    follow_rows,
    hide_formulas,
    index_moves,
    put_elements,
    show_formula,
    take_results,
)
from ..changes.merge import AlignedFiles, MergedArrays
from ..changes.merged_groups import row_axis
from ..changes.rows import check_key, missing_key_error
from ..changes.sheet_pairs import pair_sheets
from ..columns import ArrayInfo
from ..dtypes import Array
from ..errors import FormatError, has_same_names, quote_names, warn_caller
from ..labels import NAME, DatasetLabels, LabelledArrays, VariableLabels
from ..labels.places import list_levels
from .changes import Changes
from .differences import Differences, SideFacts
from .merge_sources import MergeSource, choose_names, fill_absent_columns, unify_tables
from .merged_tables import drop_unaligned
from .ordinary import SheetColumns, map_columns


@dataclass
class SheetMerge:
    """Arrays that are merged together: of all sheets, or of one.

    Attributes:
        files: the base, then those that came back.
        title: of the sheet; None for all.
        is_table: whether the files are ordinary tables.
        names: how the merge calls arrays, by the names that they have in the base or else in copies.
        aligned: the arrays of all files with their rows paired.
        merged: the merged arrays, by the names that they have in the base.
        new_names: the new names of arrays, by those of the base.
        arrays: the merged arrays, by their new names.
        followed: formulas of the base that only followed their rows in a copy, by array and row, with what their ranges
            took in.
    """

    files: Sequence[MergeSource]
    title: str | None = None
    is_table: bool = False
    names: Mapping[str, str] | None = None
    aligned: AlignedFiles | None = None
    merged: MergedArrays | None = None
    new_names: Mapping[str, str] | None = None
    arrays: LabelledArrays | None = None
    followed: dict[tuple[str, int], Grows] = field(default_factory=dict)

    def prepare(self) -> None:
        """Give the arrays of all files the names and the dtypes in which they can be compared."""
        base, *copies = self.files
        self.is_table = unify_tables(self.files)
        base.refuse_unreadable()
        for file in copies:
            if base.arrays.labels is not None:  # they hold, also where somebody has deleted their description
                file.arrays.pop(NAME, None)
            file.find_renamed(base)
        if self.is_table:
            fill_absent_columns(self.files)

    def align(self, keys: Sequence[str]) -> None:
        """Pair the rows of all copies with those of the base.

        `keys`: the arrays whose values tell which rows belong together; the table of a sheet may lack them.
        """
        base, *copies = self.files
        if self.title is not None and self.is_table and not {*keys} <= {*base.arrays}:
            keys = ()
        groups, labels = _find_key_groups(self.files, keys) if keys else _find_groups(base)
        coordinates = base.list_recorded_coordinates() if self.is_table and not keys else []
        if coordinates and all(file.is_labelled_by(coordinates, base) for file in self.files):
            labels = dict.fromkeys(groups.values(), coordinates)
            for file in self.files:
                file.coordinates = coordinates
        self.aligned = AlignedFiles(
            (base.name, base.arrays),
            [(file.name, file.arrays) for file in copies],
            groups=groups,
            labels=labels,
            is_key=bool(keys),
            unreadable=[file.unreadable for file in copies],
        )

    def merge(self, prefer: Sequence[str], choices: Choices) -> None:
        """Merge the arrays of the sheet; the arguments are those of `AlignedFiles.merge`."""
        base, *copies = self.files
        named = {now: before for before, now in (self.names or {}).items()}
        chosen = {
            replace(place, array=named[place.array]): file for place, file in choices.items() if place.array in named
        }
        assert self.aligned is not None
        self.merged = merged = self.aligned.merge(prefer=prefer, choices=chosen)
        merged.conflicts.complete = _completing({file.name: file for file in self.files}, self.names or {})
        for file, changes in zip(copies, merged.changes, strict=True):
            changes.absent += file.absent
            changes.renamed, changes.unreadable = file.renamed, file.unreadable_elements
            changes.remarks = file.find_remarks(base)
        self.new_names = choose_names(self.files)

    @property
    def sheet(self) -> SheetColumns:
        """The sheet of the base, of tables."""
        table = self.files[0].table
        assert table is not None
        return table.sheets[0]

    def map_rows(self, number: int) -> tuple[str, RowMoves] | None:
        """Return the title of the sheet of the base, and where its rows stand in a copy, by the number of its file.

        It is None where nobody knows.
        """
        table = self.files[number].table
        assert self.aligned is not None
        rows = next(iter(self.aligned.copy_maps[number - 1].values()), None)
        if table is None or rows is None or self.sheet.columns.title is None:
            return None
        before, now = self.sheet.columns.list_rows(), table.sheets[0].columns.list_rows()
        if len(rows.sources) != len(now) or rows.count != len(before):
            return None
        return self.sheet.columns.title, RowMoves(before, now, rows.sources, str(table.sheets[0].columns.title))

    def map_merged_rows(self) -> tuple[str, RowMoves] | None:
        """Return the title of the sheet of the base, and where its rows stand in a target that is a copy of it."""
        rows = next(iter(self.merged.row_maps.values()), None) if self.merged is not None else None
        title, before = self.sheet.columns.title, self.sheet.columns.list_rows()
        if rows is None or title is None or rows.count != len(before) or not before:
            return None
        now = self.list_merged_rows(len(rows.sources))
        return title, RowMoves(before, now, rows.sources, title, below=False)

    def list_merged_rows(self, count: int) -> list[int]:
        """Return the rows of the sheet in which so many rows of data stand in a target that is a copy of the base."""
        rows = self.sheet.columns.list_rows()
        return [*rows[:count], *range(rows[-1] + 1, rows[-1] + 1 + count - len(rows))]

    def follow_columns(
        self, number: int, moves: Sequence[Mapping[str, ColumnMoves]], places: Mapping[str, int]
    ) -> None:
        """Rewrite the formulas of a copy: they name columns by their places after the merge.

        `number`: of its file. `moves`: from the sheets of the base to those of this copy, and back. `places`: of the
        columns after the merge.
        """
        file = self.files[number]
        assert file.table is not None
        columns = file.table.sheets[0].columns
        titles = str(self.sheet.columns.title), str(columns.title)
        forth, back = (index_moves(way, title) for way, title in zip(moves, titles, strict=True))
        for name in self._dtypes.keys() & file.arrays.keys() & places.keys():
            if (now := file.renamed.get(name, name)) in columns:
                pair = self.files[0].arrays.get(name), file.arrays[name]
                file.arrays[name] = follow_columns(*pair, (places[name], columns.column_of(now)), (forth, back))

    def follow(self, number: int, moves: Mapping[str, RowMoves]) -> None:
        """Replace the formulas of a copy that only followed rows by those of the base.

        `number`: of its file. `moves`: the rows of the sheets in this copy, by their titles in the base.
        """
        assert self.aligned is not None
        file, of_sheet = self.files[number], index_moves(moves, str(self.sheet.columns.title))
        maps = self.aligned.copy_maps[number - 1]
        for name in self._dtypes.keys() & file.arrays.keys() & maps.keys():
            column, sources = file.arrays[name], maps[name].sources
            if followed := follow_rows(self.files[0].arrays[name], column, sources, of_sheet):
                formulas = {row: formula for row, (formula, _) in followed.items()}
                file.arrays[name] = put_elements(column, formulas)
                self.aligned.replace(number - 1, name, formulas)
            for row, (_, grows) in followed.items():
                self.followed.setdefault((name, int(sources[row])), grows)

    def _move_followed(self, moves: Mapping[str, RowMoves]) -> None:
        """Give the formulas of the base that only followed rows the references that they have after the merge."""
        assert self.merged is not None
        of_sheet = index_moves(moves, str(self.sheet.columns.title))
        of_column: dict[str, dict[int, Grows]] = {}
        for (name, source), grows in self.followed.items():
            of_column.setdefault(name, {})[source] = grows
        for name, growths in of_column.items():
            column, base = self.merged.arrays[name], self.files[0].arrays[name]
            places = self.list_merged_rows(len(column))
            for row, source in enumerate(self.merged.row_maps[name].sources.tolist()):
                formula = base[source] if source in growths else None
                if formula is not None and isinstance(column[row], Formula) and column[row] == formula:
                    moved = formula.move(of_sheet, (places[row], formula.cell[1]), growths[source])
                    column[row] = moved or formula

    def settle(self, editors: Collection[str], moves: Mapping[str, RowMoves]) -> None:
        """Give formulas their references and the results that are known.

        `editors`: the files in which anything was changed. `moves`: where the rows of the sheets of the base stand.
        """
        assert self.merged is not None
        if self.is_table:
            drop_unaligned(self.merged, self.files)
            self._move_followed(moves)
        for name, column in self.merged.arrays.items():
            if find_formulas(column) is not None:
                self._settle_results(name, column, editors)
        arrays = {
            (self.new_names or {}).get(name, name): array if name not in self._dtypes else take_results(array, dtype)
            for name, array in self.merged.arrays.items()
            for dtype in [self._dtypes.get(name, np.dtype(object))]
        }
        self.arrays = LabelledArrays(arrays, _merge_labels([file.arrays for file in self.files], arrays))

    @property
    def has_formulas(self) -> bool:
        """Whether columns hold formulas."""
        return bool(self._dtypes)

    @property
    def _dtypes(self) -> dict[str, np.dtype[Any]]:
        """The dtypes of the columns that hold formulas."""
        return {name: dtype for file in reversed(self.files) for name, dtype in file.dtypes.items()}

    def _settle_results(self, name: str, column: Array, editors: Collection[str]) -> None:
        """Give the formulas of a merged column results: of the only file that was edited, or else of all alike.

        A result on which the files do not agree is none: its cells were merged, and nobody has computed it yet.
        """
        assert self.merged is not None
        rows = self.merged.row_maps.get(name)
        sources = np.arange(len(column)) if rows is None else rows.sources
        moved = any(name in changes.moved for changes in self.merged.changes)
        sides = [file.arrays[name] for file in self.files if name in file.arrays]
        if len(editors) == 1:  # its rows are those of the merge
            sides = [file.arrays[name] for file in self.files if file.name in editors and name in file.arrays]
            sides, sources = sides or [self.files[0].arrays[name]], np.arange(len(column))
            moved |= len(sides[0]) != len(column)
        for row, element in enumerate(column.tolist()):
            if isinstance(element, Formula):
                column[row] = element.with_result(
                    None if moved else _find_agreed(element, [_at(side, int(sources[row]), sides[0]) for side in sides])
                )

    def compare(self) -> list[Comparison]:
        """Return what became of the arrays of the base."""
        merged, base = self.merged, self.files[0].arrays
        assert merged is not None
        comparisons = []
        for name, before in base.items():
            now, rows = merged.arrays[name], merged.row_maps.get(name)
            row_maps = [] if rows is None or rows.is_same else [rows]
            title = (self.names or {}).get(name, name)
            hidden = [hide_formulas(column, None) for column in (before, now)] if name in self._dtypes else (None, None)
            if name in self._dtypes:
                before, now = (take_results(column, self._dtypes[name]) for column in (before, now))
            comparisons.append(compare(title, before, now, most=MOST_COMPARED, row_maps=row_maps, errors=hidden))
        return comparisons


def _at(side: Array, row: int, first: Array) -> Any:
    """Return an element of a column that has as many rows as the first one; None where it has none."""
    return side[row] if len(side) == len(first) and 0 <= row < len(side) else None


def _find_agreed(formula: Formula, elements: Sequence[Any]) -> Any:
    """Return the result of a formula if every file has that formula and the same known result; else None."""
    results = [element.result if element == formula else None for element in elements]
    if not results or any(result is None for result in results):
        return None
    first = np.asarray([results[0]])
    return results[0] if all(are_alike(first, np.asarray([result])) for result in results[1:]) else None


MOST_COMPARED = 100_000  # edited elements of an array that the changes of a merge list


def read_sheet_merges(files: Sequence[MergeSource]) -> list[SheetMerge]:
    """Read all files, and return the arrays that are merged together.

    Warns:
        SheetArrayWarning: a sheet that only a copy has is left out.
    """
    base, *copies = files
    titles: list[str] = []
    base.takes_recorded = base.row.instead is not None
    try:
        base.read()
    except FormatError as error:
        titles = base.list_sheets() if has_same_names(error.reason) else []
        if not titles:
            raise
    if not titles:
        for file in copies:
            file.takes_recorded, file.told, file.recorded = base.table is None, base.findings, base.recorded
            file.read()
        if base.is_recorded and not (base.is_recorded_alone() and all(file.table is None for file in copies)):
            for file in files:
                file.read_as_table()
        for file in copies:
            if base.table is not None and len(base.table.sheets) == 1 and file.table is None:
                file.take_layout(base)
        if _are_joined([() if file.table is None else file.table.sheets for file in files]):
            for file in files:
                if file.table is not None:
                    file.join_tables()
        is_several = any(file.table is not None and len(file.table.sheets) > 1 for file in files)
        is_several &= base.table is not None
        merges = _split_tables(files) if is_several else [SheetMerge(files)]
    else:
        for file in copies:
            if not file.has_option("sheet"):
                reason = (
                    f"{base.name} has arrays of one name in several sheets, and a file of this format has no sheets"
                )
                raise FormatError(reason, source=file.name, hint=f"merge one sheet at a time, sheet={titles[0]!r:.60}")
        names = {title: base.list_names_in(title) for title in titles}
        titles_of = []
        for file in copies:
            theirs = {title: file.list_names_in(title) for title in file.list_sheets(alone=True)}
            titles_of.append(pair_sheets(names, theirs))
            ours, of_theirs = ([(title,) for title in of_file] for of_file in (names, theirs))
            _warn_of_titles(file, ours, of_theirs, {(title,): (now,) for title, now in titles_of[-1].items()})
        merges = [
            SheetMerge(
                [base.of_sheet(title)]
                + [file.of_sheet(pairs.get(title, title)) for file, pairs in zip(copies, titles_of, strict=True)],
                title,
            )
            for title in titles
        ]
        for each in merges:
            each.files[0].read()
            for file in each.files[1:]:
                file.read_if_there()
    for each in merges:
        each.prepare()
    counts = Counter(name for each in merges for name in list_names_of(each))
    for each in merges:
        each.names = {
            name: name if each.title is None or counts[name] == 1 else f"{each.title}!{name}"
            for name in list_names_of(each)
        }
    return merges


def _are_joined(files: Sequence[Sequence[SheetColumns]]) -> bool:
    """Return whether a table of one file has most columns of several tables that stand in one sheet of another file.

    The file was saved in a format that keeps no record, or by a program that lost it.
    """
    several = [_find_titles_of_several([sheets]) for sheets in files]
    parts, whole = (
        {
            frozenset(sheet.columns)
            for titles, sheets in zip(several, files, strict=True)
            for sheet in sheets
            if (sheet.columns.title in titles) is is_part
        }
        for is_part in (True, False)
    )
    return any(sum(2 * len(part & columns) > len(part) for part in parts) > 1 for columns in whole)


TableKey = tuple[str, ...]
"""By what the table of a sheet is found in other files: its title, and its columns too where several stand there."""


def _split_tables(files: Sequence[MergeSource]) -> list[SheetMerge]:
    """Return a merge for each table of the base, of the files that have that table.

    A sheet with another title is the same one if it has most of its columns. Of a file that lacks a sheet, the base's
    stays as it is; a file without sheets is the first sheet that has its columns. The second table of a sheet has the
    title `Sheet1 (2)`.

    Warns:
        SheetArrayWarning: a table that only a copy has is left out; or a sheet has another title, or is gone, there.
    """
    base, *copies = files
    assert base.table is not None
    several = _find_titles_of_several([file.table.sheets for file in files if file.table is not None])
    sheets = _key_tables(base.table.sheets, several)
    partners = {key: [base.of_table(sheet, is_part=len(key) > 1)] for key, sheet in sheets.items()}
    for file in copies:
        if file.table is None:
            raise FormatError(f"arrays, and {base.name} is an ordinary table: they are not merged", source=file.name)
        theirs = _key_tables(file.table.sheets, several)
        ours, of_theirs = ({key: [*sheet.columns] for key, sheet in of_file.items()} for of_file in (sheets, theirs))
        pairs = pair_sheets(ours, of_theirs)
        if not file.has_option("sheet") or not base.has_option("sheet"):  # one of them has a single table
            pairs = dict([*pairs.items()][:1]) or {next(iter(ours)): next(iter(of_theirs))}
            if left := [_name_table(key) for key in of_theirs if key not in pairs.values()]:
                warn_caller(f"{file.name}: sheet {quote_names(left)} is not merged, as {base.name} has no sheets")
        else:
            _warn_of_titles(file, ours, of_theirs, pairs)
        for key, now in pairs.items():
            partners[key].append(file.of_table(theirs[now], is_part=len(now) > 1))
    if len(partners) == 1:
        return [SheetMerge(of_table) for of_table in partners.values()]
    merges: dict[str, SheetMerge] = {}
    titles = {title for title, *_ in partners}
    for (title, *_), of_table in partners.items():
        numbered = (f"{title} ({number})" for number in count(2))
        name = title if title not in merges else next(name for name in numbered if name not in titles | {*merges})
        merges[name] = SheetMerge(of_table, name)
    return [*merges.values()]


def _find_titles_of_several(files: Iterable[Sequence[SheetColumns]]) -> set[str | None]:
    """Return the titles of sheets in which one of the files has several tables."""
    counts = [Counter(sheet.columns.title for sheet in sheets) for sheets in files]
    return {title for of_file in counts for title, number in of_file.items() if number > 1}


def _key_tables(sheets: Sequence[SheetColumns], several: Collection[str | None]) -> dict[TableKey, SheetColumns]:
    """Return the tables of a file; "" is the title where the file has no sheets.

    `several`: the titles of sheets in which one of the files has several tables.
    """
    keyed: dict[TableKey, SheetColumns] = {}
    for sheet in sheets:
        title = sheet.columns.title
        keyed[title or "", *(sheet.columns if title in several else ())] = sheet
    return keyed


def _warn_of_titles(
    file: MergeSource, ours: Collection[TableKey], theirs: Collection[TableKey], pairs: Mapping[TableKey, TableKey]
) -> None:
    """Warn of sheets of a copy that the base lacks, of those that it lacks, and of those with another title there.

    The only sheet of a file that calls it otherwise is no copy of the workbook, but of one sheet.
    """
    if len(theirs) == 1 and not {*theirs} & {*ours} and pairs:
        return
    for title, now in dict.fromkeys((key[0], other[0]) for key, other in pairs.items()):
        if title != now:
            warn_caller(f"{file.name}: the sheet {title!r:.60} is called {now!r:.60} there, and keeps its title")
    for what, columns in (("sheet", False), ("table", True)):
        gone = [_name_table(key) for key in ours if bool(key[1:]) is columns and key not in pairs]
        come = [_name_table(key) for key in theirs if bool(key[1:]) is columns and key not in pairs.values()]
        if gone:
            warn_caller(f"{file.name}: there is no {what} {quote_names(gone)}, and the base's stays as it is")
        if come:
            warn_caller(f"{file.name}: the base has no {what} {quote_names(come)}, and it is not merged")


def _name_table(key: TableKey) -> str:
    """Return how messages call a table: by the title of its sheet, and its columns where several stand there."""
    title, *columns = key
    return f"{title} ({', '.join(columns)})" if columns else title


def merge_sheets(merges: Sequence[SheetMerge], keys: Sequence[str], prefer: Sequence[str], choices: Choices) -> None:
    """Merge the arrays of all sheets. Formulas of a copy that only followed rows of any sheet are no edits.

    `keys`: as for `SheetMerge.align`. `prefer`, `choices`: as for `SheetMerge.merge`.
    """
    tables = [each for each in merges if each.is_table]
    if any(each.has_formulas for each in tables):
        _follow_columns(tables)
    for each in merges:
        each.align(keys)
    titles = Counter(each.sheet.columns.title for each in tables)
    tables = [each for each in tables if titles[each.sheet.columns.title] == 1]  # rows of several in a sheet depend
    moves: dict[str, dict[str, RowMoves]] = {}  # by file
    for each in tables if any(each.has_formulas for each in tables) else ():
        for number, file in enumerate(each.files[1:], 1):
            if (of_sheet := each.map_rows(number)) is not None:
                moves.setdefault(file.name, {}).update([of_sheet])
    for each in tables:
        for number, file in enumerate(each.files[1:], 1):
            if any(not rows.is_none or rows.title != title for title, rows in moves.get(file.name, {}).items()):
                each.follow(number, moves[file.name])
    for each in merges:
        each.merge(prefer, choices)


def _follow_columns(tables: Sequence[SheetMerge]) -> None:
    """Let formulas of all copies name columns by the places that these have after the merge."""
    sheets_of: dict[str, list[tuple[SheetMerge, int]]] = {}  # by the file of a copy
    for each in tables:
        for number, file in enumerate(each.files[1:], 1):
            sheets_of.setdefault(file.name, []).append((each, number))
    for sheets in sheets_of.values():
        pairs = [
            (each.sheet, file.table.sheets[0], file.renamed, list_names_of(each))
            for each, number in sheets
            if (file := each.files[number]).table is not None
        ]
        moves = map_columns(pairs)
        for (each, number), (ours, _, _, names) in zip(sheets, pairs, strict=True) if moves is not None else ():
            if moves is not None:
                fresh = [name for name in names if name not in ours.columns and ours.columns.name_row >= 0]
                each.follow_columns(number, moves, ours.columns.place_columns(fresh))


def settle_formulas(merges: Sequence[SheetMerge]) -> None:
    """Give the formulas of all sheets the results that are known after the merge, and the merges their arrays."""
    editors = {
        changes.file
        for each in merges
        for changes in (each.merged.changes if each.merged is not None else ())
        if changes.elements or changes.added or changes.deleted or changes.moved or changes.new or changes.other
    }
    is_any = any(each.followed for each in merges)
    moves = dict(filter(None, (each.map_merged_rows() for each in merges))) if is_any else {}
    for each in merges:
        each.settle(editors, moves)


def list_names_of(sheet_merge: SheetMerge) -> list[str]:
    """Return the names of all arrays of the files, those of the base first."""
    return list(dict.fromkeys(name for file in sheet_merge.files for name in file.arrays))


@dataclass(frozen=True)
class _ConflictsOfSheet:
    """The conflicts of an array, which are completed as all those of its sheet are."""

    conflicts: ConflictsOfArray
    complete: Callable[[Conflict], Conflict]

    @property
    def chosen(self) -> Any:
        return self.conflicts.chosen

    def __len__(self) -> int:
        return len(self.conflicts)

    def build(self, number: int) -> Conflict:
        """Return one of the conflicts."""
        return self.complete(self.conflicts.build(number))


def join_conflicts(merges: Sequence[SheetMerge]) -> Conflicts:
    """Return the conflicts of all sheets."""
    merged = [each.merged for each in merges if each.merged is not None]
    if len(merged) == 1:
        return merged[0].conflicts
    return Conflicts(
        [
            _ConflictsOfSheet(of_array, each.conflicts.complete)  # type: ignore[misc]
            for each in merged
            for of_array in each.conflicts.arrays
        ]
    )


def join_changes(merges: Sequence[SheetMerge]) -> list[FileChanges]:
    """Return what each person has changed, in all sheets."""
    files: dict[str, FileChanges] = {}
    for each in merges:
        names = each.names or {}
        for changes in each.merged.changes if each.merged is not None else ():
            files.setdefault(changes.file, FileChanges(changes.file)).add(changes, names)
    return list(files.values())


def join_arrays(merges: Sequence[SheetMerge]) -> LabelledArrays:
    """Return the merged arrays of all sheets; those of one merge with their labels."""
    if len(merges) == 1:
        assert merges[0].arrays is not None
        return merges[0].arrays
    arrays: dict[str, Any] = {}
    for each in merges:
        arrays |= {(each.names or {}).get(name, name): array for name, array in (each.arrays or {}).items()}
    return LabelledArrays(arrays, None)


def comparing(merges: Sequence[SheetMerge], base: str) -> Callable[[], Changes]:
    """Return a function that tells what became of the arrays of the base."""

    def compare_all() -> Changes:
        comparisons = [comparison for each in merges for comparison in each.compare()]
        infos: dict[str, ArrayInfo] = {}
        for each in merges:
            infos |= {(each.names or {}).get(name, name): info for name, info in each.files[0].infos.items()}
        merged = join_arrays(merges)
        labels = merges[0].files[0].arrays.labels if len(merges) == 1 else None
        sides = SideFacts(base, lambda: infos, labels), SideFacts("merged", dict, labels)
        sides[0].levels, sides[1].levels = dict(merges[0].files[0].arrays), dict(merged)
        renamed = {before: now for each in merges for before, now in (each.new_names or {}).items()}
        before = {comparison.name for comparison in comparisons}
        added = [name for name in merged if name not in before and name not in renamed.values()]
        return Changes(Differences(sides, comparisons, [], added, [], renamed, []))

    return compare_all


def _find_key_groups(
    files: Sequence[MergeSource], keys: Sequence[str]
) -> tuple[dict[tuple[str, int], Hashable], dict[Hashable, Sequence[str]]]:
    """Return the arrays of as many rows as the key as one group, which the key labels, and all others by themselves."""
    for file in files:
        file.keys = keys
        for name in keys:
            if name not in file.arrays or name in file.absent:
                raise missing_key_error(file.name, name, file.arrays)
            if getattr(file.arrays[name], "ndim", 0) != 1:
                raise FormatError(f"{name}: the key needs an array of one dimension", source=file.name)
        columns = {name: file.arrays[name] for name in keys}
        check_key(columns, file.name, file.find_row_cell)
    groups: dict[tuple[str, int], Hashable] = {}
    height = len(files[0].arrays[keys[0]])
    for name, array in files[0].arrays.items():
        if isinstance(array, np.ndarray) and array.ndim:
            axis = row_axis(array)
            groups[name, axis] = "key" if array.shape[axis] == height else ("alone", name)
    return groups, {"key": list(keys)}


def _find_groups(base: MergeSource) -> tuple[dict[tuple[str, int], Hashable], dict[Hashable, Sequence[str]]]:
    """Return the group of arrays to which the rows of each array along an axis belong, and the arrays that label them.

    Where nothing names dimensions, the arrays of as many rows in one sheet belong together, along the axis of rows.
    """
    groups: dict[tuple[str, int], Hashable] = {}
    labels: dict[Hashable, Sequence[str]] = {}
    said = base.arrays.labels
    for name, array in base.arrays.items():
        if not isinstance(array, np.ndarray) or not array.ndim:
            continue
        variable = said.find(name) if said is not None else None
        dims = list(variable.dims) if variable is not None and len(variable.dims) == array.ndim else []
        if said is not None and array.ndim == 1:
            dims = [dim for dim in said.frame.index if name in said.frame.index[dim]][:1] or dims
        for axis, dim in enumerate(dims):
            groups[name, axis] = "dim", dim
            levels = [level for level in list_levels(said, dim) if getattr(base.arrays.get(level), "ndim", 0) == 1]
            labels["dim", dim] = [level for level in levels if isinstance(base.arrays.get(level), np.ndarray)]
        if not dims:
            info, axis = base.infos.get(name), row_axis(array)
            title = info.data[0].title if info is not None and info.data else None
            groups[name, axis] = "rows", title, array.shape[axis]
    return groups, labels


def _completing(files: Mapping[str, MergeSource], names: Mapping[str, str]) -> Callable[[Conflict], Conflict]:
    """Return a function that puts the labels of an element, and the addresses of its cells, into a conflict.

    `names`: how the merge calls arrays.
    """

    def rename(at: Place) -> Place:
        return replace(at, array=names.get(at.array, at.array))

    def complete(conflict: Conflict) -> Conflict:
        place = conflict.place
        cells = {name: files[name].address(at.array, at.index) for name, at in conflict.places.items()}
        labels = files[place.file].label(place.array, place.index)
        return replace(
            conflict,
            base=show_formula(conflict.base),
            values={name: show_formula(value) for name, value in conflict.values.items()},
            place=rename(place),
            places={name: rename(at) for name, at in conflict.places.items()},
            labels=labels,
            cells={name: address for name, address in cells.items() if address is not None},
        )

    return complete


def _merge_labels(files: Sequence[LabelledArrays], arrays: Mapping[str, Any]) -> DatasetLabels | None:
    """Return the labels of the base, with those of new arrays, and the shapes that arrays have now."""
    labels = files[0].labels
    if labels is None:
        return None
    data_vars = dict(labels.data_vars)
    for file in files[1:]:
        theirs = file.labels.data_vars if file.labels is not None else {}
        for name, variable in theirs.items():
            if name not in files[0] and name in arrays and {*variable.dims} <= {*labels.sizes()}:
                data_vars.setdefault(name, variable)

    def resized(variables: Mapping[str, VariableLabels]) -> dict[str, VariableLabels]:
        return {
            name: replace(variable, shape=np.shape(arrays[name]))
            if isinstance(arrays.get(name), np.ndarray)
            else variable
            for name, variable in variables.items()
        }

    return replace(labels, coords=resized(labels.coords), data_vars=resized(data_vars))
