"""One of the files of a merge: its arrays, the cells that cannot be read, and arrays that got another name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import cached_property
from typing import Any

import numpy as np

from ..changes.conflicts import Remark, UnreadableElement
from ..changes.elements import are_alike, cast_exactly, find_changes
from ..changes.formulas import Formula, mark_objects, put_formulas
from ..changes.merged_groups import row_axis
from ..changes.row_groups import dtype_name
from ..columns import keeping_unreadable
from ..columns.beside import OtherCells, noting_other_cells
from ..dtypes import Array, Mask, find_missing_value, from_name
from ..elements.equality import find_unequal
from ..errors import FormatError, LimitError, NotFoundError, locating, may_be_table, warn_caller
from ..files import RemoteFile
from ..formats import format_of, known_options, locate_place
from ..labels import LabelledArrays, lay_out_labels, passing_over_tables
from ..labels.places import find_cell, find_labels, label_at
from .arrays import read_labelled
from .ordinary import (
    OrdinaryTable,
    SheetColumns,
    describe_columns,
    find_remarks_on_sheets,
    find_remarks_on_tables,
    find_table,
    has_table_option,
    list_other_cells,
    scan_or_find_table,
    to_common_dtype,
    unify_columns,
    warn_of_table,
)
from .shown import ArrayInfos
from .tables import write_table
from .targets import SourceOrTarget, list_written_sheets

_BLANK = ", found a blank cell"  # how the reason of an error ends


class MergeSource:
    """One of the files of a merge.

    Attributes:
        given: the place as the caller gave it.
        place: where it is.
        given_options: the options of the caller, for any format.
        sheet: where its arrays stand, as `read` takes it; None for all sheets.
        name: by which conflicts call it.
        row: its format.
        arrays: its arrays, with their labels.
        unreadable: for some arrays masks of the elements whose cells cannot be read.
        unreadable_elements: these elements, one by one.
        renamed: the name now of arrays that have another one in the base, by the name there.
        table: the ordinary table that stands there; None if there are arrays.
        keys: the arrays whose values identify rows, as the caller named them.
        coordinates: the columns of a recorded table that label its rows.
        absent: columns of the base that its table lacks.
        dtypes: of the columns that hold formulas; these stand as objects in `arrays`.
        findings: what is doubtful in its table, by cells and sentences.
        told: those of the base, which are told once.
        is_split: whether each of several recorded tables in one sheet is a table by itself.
        is_part: whether its table is one of these.
        recorded: the dtypes of the columns of a recorded table, which are those of the base.
        takes_recorded: whether a recorded table is read as the arrays that it is, where no others stand beside it: of
            the base, if its format can only be read, so that the merge writes another file anew.
        is_recorded: whether it was read so.
    """

    def __init__(
        self,
        given: SourceOrTarget,
        storage_options: Mapping[str, Any] | None,
        client: Any,
        options: Mapping[str, Any],
        sheet: str | None = None,
    ) -> None:
        if not isinstance(given, (str, os.PathLike)):
            raise TypeError("merge takes paths and URLs: conflicts are told by the names of files")
        self.given = given
        self.place = locate_place(given, storage_options, None, client)
        self.name = os.fspath(self.place if isinstance(self.place, RemoteFile) else given)
        self.row = format_of(self.place, None, reading=True)
        self.given_options = options if client is None else {**options, "client": client}
        if sheet is not None:
            self.given_options = {**self.given_options, "sheet": sheet}
        self.sheet = self.given_options.get("sheet")
        self._given_storage, self._given_client, self._given_options = storage_options, client, options
        self.arrays = LabelledArrays({}, None)
        self.unreadable: dict[str, Mask] = {}
        self.unreadable_elements: list[UnreadableElement] = []
        self.renamed: dict[str, str] = {}
        self.table: OrdinaryTable | None = None
        self.keys: Sequence[str] = ()
        self.coordinates: Sequence[str] = ()
        self.absent: list[str] = []
        self.dtypes: dict[str, np.dtype[Any]] = {}
        self.findings, self.told = set[tuple[str | None, str]](), set[tuple[str | None, str]]()
        self.is_split, self.is_part = True, False
        self.takes_recorded, self.is_recorded = False, False
        self.recorded: dict[str, str] = {}
        self._noted: list[OtherCells] = []  # by the reader

    def of_sheet(self, title: str) -> MergeSource:
        """Return a source of the merge that consists of one sheet of this file."""
        return MergeSource(self.given, self._given_storage, self._given_client, self._given_options, title)

    def of_table(self, sheet: SheetColumns, *, is_part: bool) -> MergeSource:
        """Return a source of the merge that consists of one table of this file; `is_part`: of several in one sheet."""
        title = sheet.columns.title
        file = self if title is None or not self.has_option("sheet") else self.of_sheet(title)
        file.is_split, file.is_part, file.table = self.is_split, is_part, OrdinaryTable([sheet])
        file.arrays = LabelledArrays(dict(file.table.columns), None)
        return file

    def list_sheets(self, *, alone: bool = False) -> list[str]:
        """Return the titles of the sheets, if each was written on its own; none if one write filled several.

        `alone`: whether one sheet of arrays may stand alone.
        """
        if "sheet" in self._given_options:
            return []
        titles = list_written_sheets(self.place, self.row)
        if titles or not alone:
            return titles
        with suppress(FormatError):
            standing = (info.data[0].title for info in self.infos.values() if info.data)
            return [title for title in dict.fromkeys(standing) if title is not None]
        return []

    def list_names_in(self, title: str) -> list[str]:
        """Return the names of the arrays of a sheet."""
        return [*self.of_sheet(title).infos]

    def read_if_there(self) -> None:
        """Read as `read`; a file without the sheet has no arrays."""
        with suppress(NotFoundError):
            self.read()

    def find_remarks(self, base: MergeSource) -> list[Remark]:
        """Return a remark on each cell outside the arrays, in the first rows of sheets, that differs from the base."""
        if self.table is not None and base.table is not None:
            return find_remarks_on_tables(base.table, self.table)
        if self.table is not None or base.table is not None or not self.arrays:
            return []
        same = self.row.name == base.row.name
        return find_remarks_on_sheets(base._other_cells, self._other_cells, "in the base", is_one_format=same)

    @cached_property
    def _other_cells(self) -> OtherCells:
        """The texts of the cells that belong to no array, by their addresses, and the titles of other sheets."""
        with locating(source=self.name):
            return self._noted[-1] if self._noted else list_other_cells(self.place, None, self.given_options)

    def options(self, verb: str) -> dict[str, Any]:
        """Return the options that a verb of this format takes."""
        return known_options(self.place, None, self.given_options, verb)

    def has_option(self, option: str) -> bool:
        """Return whether this format has an option of reading, for arrays or for an ordinary table."""
        return option in {*self.row.options("read")} or has_table_option(self.place, option)

    def is_recorded_alone(self) -> bool:
        """Return whether the file is one recorded table, all of whose cells can be read, and was read as its arrays."""
        titles = {info.location.rpartition("!")[0] for info in self.infos.values()} if self.is_recorded else set()
        if len(titles) == 1 and self.sheet is None:  # other sheets may stand before it
            self.given_options = {**self.given_options, "sheet": min(titles)}
        return len(titles) == 1 and not self.unreadable_elements

    def read_as_table(self) -> None:
        """Read a recorded table as an ordinary one."""
        self.takes_recorded = self.is_recorded = False
        self.unreadable, self.unreadable_elements = {}, []
        self.read()

    def write_recorded(self, place: Any, arrays: LabelledArrays, options: Mapping[str, Any]) -> Any:
        """Write merged arrays as the table that this source records, into another file."""
        note = self.row.function("describe_table")(self.place, **self.options("describe_table"))
        beside = (note.get("beside") or {}).get("dim")
        table = arrays if note.get("labels") else dict(arrays)
        return write_table(place, table, columns=beside, verify=not format_of(place).records_tables, **options)

    def read(self) -> None:
        """Read the arrays and their labels. Rows that people have added or deleted count as they stand.

        A blank in an array whose dtype has a missing value is that value. Other cells that cannot be read are listed.
        """
        resize: dict[str, Any] = {"resize": True} if "resize" in self.row.options("read") else {}

        def read_arrays() -> None:
            with locating(source=self.name), keeping_unreadable() as unreadable, noting_other_cells(self._noted):
                self.arrays = read_labelled(self.place, **resize, **self.options("read"))
            for name, errors in unreadable.items():
                if isinstance(array := self.arrays.get(name), np.ndarray):
                    self._note_unreadable(name, array.copy(order="K"), errors)

        try:
            with passing_over_tables():
                read_arrays()
        except FormatError as error:
            if self.takes_recorded and may_be_table(error.reason):
                with suppress(FormatError):
                    read_arrays()
                    self.is_recorded = True
                    return
            table = None
            if may_be_table(error.reason):
                table = self._find_table()
            if table is None:
                raise
            self._take_table(table)

    def join_tables(self) -> None:
        """Read several recorded tables in one sheet as one table, as those files have them that keep no record."""
        self.is_split = False
        if (table := self._find_table()) is not None:
            self._take_table(table)

    def _find_table(self) -> OrdinaryTable | None:
        how: dict[str, Any] = {"keeps_errors": True, "is_split": self.is_split}
        return find_table(self.place, None, None, self.given_options, **how)

    def _take_table(self, table: OrdinaryTable) -> None:
        """Take the columns of an ordinary table, in the dtypes of a record where cells do not tell these."""
        title = table.sheets[0].columns.title if len(table.sheets) == 1 else None
        if title is not None and self.sheet is None and self.has_option("sheet"):  # blank sheets may stand before it
            self.given_options = {**self.given_options, "sheet": title}
        if unsure := self._find_unsure(table):
            self.given_options = {**self.given_options, "dtype": unsure}
            table = self._find_table() or table
        self.table = table
        self.findings = {(finding.location, finding.message) for finding in table.findings}
        table.findings = [f for f in table.findings if (f.location, f.message) not in self.told]
        warn_of_table(table, self.name)
        self.arrays = LabelledArrays(dict(table.columns), None)

    def _find_unsure(self, table: OrdinaryTable) -> dict[str, str]:
        """Return the recorded dtypes of the columns whose cells do not all fit them.

        Text is text also if all of it is blank. Integers and truth values stay such, whatever somebody typed: other
        cells cannot be read.
        """
        if len(table.sheets) != 1 or "dtype" in self.given_options:
            return {}
        if not self.recorded:
            with suppress(NotFoundError):
                note = self.row.function("describe_table")(self.place, **self.options("describe_table"))
                dtypes: dict[str, str] = dict(note.get("dtypes", {}))
                held = {name: array for name, array in table.columns.items() if name in dtypes}
                self.recorded = {
                    name: dtypes[name]
                    for name, array in held.items()
                    if dtypes[name] == "string" or _may_hold(dtypes[name], array)
                }
        return {
            name: recorded
            for name, recorded in self.recorded.items()
            if name in table.columns and not _may_hold(recorded, table.columns[name])
        }

    def list_recorded_coordinates(self) -> list[str]:
        """Return the columns that hold the coordinates of the recorded table that this is; none of another table."""
        try:
            note = self.row.function("describe_table")(self.place, **self.options("describe_table"))
        except NotFoundError:
            return []
        names = [str(name) for name in dict(note.get("axes", {})).values()]
        return names if all(names) else []

    def is_labelled_by(self, names: Sequence[str], base: MergeSource) -> bool:
        """Return whether the table has some columns, all of whose cells can be read, and no two rows alike in them.

        `base`: has no two such rows either; or is this file.
        """
        if any(name not in self.arrays or name in self.absent or name in self.unreadable for name in names):
            return False
        if self is not base and all(np.array_equal(self.arrays[name], base.arrays[name]) for name in names):
            return True
        codes = np.zeros(len(self.arrays[names[0]]), np.int64)
        for name in names:
            column = np.asarray(self.arrays[name])
            column = column.astype(np.str_) if column.dtype.kind in "OT" else column
            numbers = np.unique(column, return_inverse=True)[1]
            codes = np.unique(codes * (1 + numbers.max(initial=0)) + numbers, return_inverse=True)[1]
        return len(np.unique(codes)) == len(codes)

    def take_layout(self, base: MergeSource) -> None:
        """Take arrays as the columns of the recorded table that the base is, where they are laid out as these are."""
        from ..tables import TableColumns

        if self.unreadable_elements or any(not isinstance(array, np.ndarray) for array in self.arrays.values()):
            return
        try:
            note = base.row.function("describe_table")(base.place, **base.options("describe_table"))
            beside = (note.get("beside") or {}).get("dim")
            are_columns = {*self.arrays} == {*note.get("dtypes", ())} and {a.ndim for a in self.arrays.values()} == {1}
            are_columns &= not note.get("by_value")
            laid_out = self.arrays if are_columns else lay_out_labels(self.arrays, beside, north_up=True)
        except (NotFoundError, LimitError):
            return
        columns = {name: np.asarray(laid_out[name]) for name in laid_out}
        if note and {*columns} == {*note["dtypes"]} and len({*map(len, columns.values())}) == 1:
            table = TableColumns(columns, places={name: number for number, name in enumerate(columns)})
            self.table = OrdinaryTable([SheetColumns(table, {}, lambda _: table)])
            self.arrays = LabelledArrays(columns, None)

    def take_columns(self, columns: Mapping[str, Any], unreadable: Mapping[str, Array]) -> None:
        """Use columns of its table that were read with other dtypes, and the errors of cells that do not fit these."""
        self.arrays = LabelledArrays(dict(columns), None)
        for name, errors in unreadable.items():
            self._note_unreadable(name, self.arrays[name].copy(), errors)

    def put_formulas(self, name: str, formulas: Array) -> None:
        """Put formulas in the place of their results, which need not be read."""
        column = self.arrays[name]
        errors = self.unreadable.get(name)
        lost = None if errors is None else np.where(errors, np.array(True, object), np.array(None))
        self.dtypes[name] = column.dtype
        self.arrays[name] = put_formulas(column, formulas, lost)
        marks = mark_objects(formulas)
        if errors is not None:
            self.unreadable[name] = errors & ~marks
            self.unreadable_elements = [
                entry for entry in self.unreadable_elements if entry.array != name or not marks[entry.index[0]]
            ]

    def take_formulas(self, name: str, formulas: Array, base: Array) -> None:
        """Let the base's formulas stand where this file, which keeps none, has their results.

        `formulas`: of the base. `base`: its column, with the results that they have there.

        Warns:
            SheetArrayWarning: results are others; nobody knows whether somebody typed them.
        """
        column = self.arrays[name]
        marks = mark_objects(formulas)
        alike = {formula and formula.relative for formula in formulas.tolist()}
        filled = formulas
        if len(marks) != len(column):  # rows were added or deleted, so that only a column of one formula is known
            filled = np.full(len(column), formulas[0] if len(alike) == 1 else None, object)
        self.put_formulas(name, filled)
        results = [element.result if isinstance(element, Formula) else None for element in base.tolist()]
        theirs = [element.result for element in self.arrays[name].tolist() if isinstance(element, Formula)]
        ours = [result for result, mark in zip(results, marks.tolist(), strict=True) if mark]
        if theirs and (len(ours) != len(theirs) or find_changes(_to_objects(ours), _to_objects(theirs)).any()):
            reason = "are others, and the file keeps no formulas: those of the base stand"
            warn_caller(f"{self.name}: results of formulas in {name!r:.80} {reason}")

    def fill_absent(self, columns: Mapping[str, Array]) -> None:
        """Give the table the columns that only the base has: the base's values stand, and rows of its own are blank."""
        height = max(map(len, self.arrays.values()), default=0)
        self.absent = [name for name in columns if name not in self.arrays]
        for name in self.absent:
            dtype = columns[name].dtype
            missing = find_missing_value(dtype)
            self.arrays[name] = np.full(height, None if dtype.kind == "O" else missing, dtype)
            self.unreadable[name] = np.ones(height, np.bool_)

    def _note_unreadable(self, name: str, array: Array, errors: Array) -> None:
        missing, mask = find_missing_value(array.dtype), np.zeros(array.shape, np.bool_)
        self.arrays[name] = array
        for place in np.argwhere(errors != np.array(None)).tolist():
            index, error = tuple(place), errors[tuple(place)]
            if missing is not None and error.reason.endswith(_BLANK):
                array[index] = None if array.dtype.kind == "O" else missing
                continue
            mask[index] = True
            element = UnreadableElement(self.name, name, index, error.location, error.reason)
            self.unreadable_elements.append(element)
        if mask.any():
            self.unreadable[name] = mask

    def refuse_unreadable(self) -> None:
        """Refuse a base with cells that cannot be read: nobody knows what copies have changed in them."""
        if not self.unreadable_elements:
            return
        first, *further = self.unreadable_elements
        more = f" (and {len(further):,} more cells)" if further else ""
        raise FormatError(
            f"{first.text}{more}", location=first.cell, source=self.name, array=first.array, index=first.index
        )

    @cached_property
    def infos(self) -> ArrayInfos:
        """Where the arrays stand, or the columns of a table."""
        if self.table is not None:
            return ArrayInfos(describe_columns(self.table))
        with locating(source=self.name), nullcontext() if self.is_recorded else passing_over_tables():
            return scan_or_find_table(self.place, None, self.options("scan"), self.given_options)[0]

    def find_renamed(self, base: MergeSource) -> None:
        """Rename arrays as in the base, if their elements or their place show that only the name was changed."""
        gone = [name for name in base.arrays if name not in self.arrays]
        come = [name for name in self.arrays if name not in base.arrays]
        pairs: dict[str, list[str]] = {before: [] for before in gone}
        for before in gone:
            for now in come:
                if self._may_be(base.arrays[before], self.arrays[now]) and (
                    are_alike(base.arrays[before], self.arrays[now]) or self._stands_there(base, before, now)
                ):
                    pairs[before].append(now)
        names = [now for candidates in pairs.values() for now in candidates]
        renamed = {before: now[0] for before, now in pairs.items() if len(now) == 1 and names.count(now[0]) == 1}
        if not renamed:
            return
        self.renamed = renamed
        old = {now: before for before, now in renamed.items()}
        arrays = {old.get(name, name): array for name, array in self.arrays.items()}
        self.unreadable = {old.get(name, name): mask for name, mask in self.unreadable.items()}
        self.arrays = LabelledArrays(arrays, self.arrays.labels)

    @staticmethod
    def _may_be(before: Any, now: Any) -> bool:
        if not isinstance(before, np.ndarray) or not isinstance(now, np.ndarray) or not before.size:
            return False
        return before.ndim == now.ndim and dtype_name(before) == dtype_name(now)

    def _stands_there(self, base: MergeSource, before: str, now: str) -> bool:
        """Return whether an array stands where the one of the base stood, and has most of its elements."""
        if self.row.name != base.row.name or self.infos[now].location != base.infos[before].location:
            return False
        a, b = base.arrays[before], self.arrays[now]
        sizes = tuple(slice(min(pair)) for pair in zip(a.shape, b.shape, strict=True))
        if not (size := a[sizes].size):
            return False
        return bool(2 * np.count_nonzero(find_changes(a[sizes], b[sizes])) < size)

    def address(self, name: str, index: tuple[int, ...] | None) -> str | None:
        """Return the address of the cell that holds an element; None where nobody knows."""
        info = self.infos.get(self.renamed.get(name, name))
        if index is None:
            return info.location if info is not None else None
        return find_cell(info, index)

    def find_row_cell(self, name: str, row: int) -> str | None:
        """Return the address of the cell of an array of one dimension; None where nobody knows."""
        return self.address(name, (row,))

    def label(self, name: str, index: tuple[int, ...] | None) -> dict[str, str]:
        """Return the labels of an element, by dimension or by the levels of its index."""
        if index is None:
            return {}
        array = self.arrays.get(name)
        keys = self.keys or [column for column in self.coordinates if column != name]
        if not keys or not isinstance(array, np.ndarray) or not array.ndim:
            return find_labels(self.arrays.labels, self.arrays, name, index)
        row = index[row_axis(array)]
        columns = {key: self.arrays[key] for key in keys}
        return {key: label_at(column, row) for key, column in columns.items() if row < len(column)}


def _may_hold(recorded: str, column: Array) -> bool:
    """Return whether the cells of a column fit its recorded dtype; only text, integers and truth values are checked."""
    dtype, kind = from_name(recorded), column.dtype.kind
    if dtype is None or dtype.kind not in ("string", "int", "bool"):
        return True
    if dtype.kind == "string":
        return kind in "OTU"
    return kind in "biu" and cast_exactly(column, dtype.numpy) is not None


def unify_tables(files: Sequence[MergeSource]) -> bool:
    """Give the columns of ordinary tables dtypes in which they can be compared, and return whether the files are some.

    Cells that cannot be read are those that differ from the cell of the base.

    Raises:
        FormatError: some files are tables, and others hold arrays.
    """
    base, *copies = files
    if base.table is None and all(copy.table is None for copy in copies):
        return False
    for copy in copies:
        if copy.table is None or base.table is None:
            kinds = ["arrays" if file.table is None else "an ordinary table" for file in (copy, base)]
            if kinds[0] != kinds[1]:
                reason = f"{kinds[0]}, and {base.name} holds {kinds[1]}: they are not merged"
                raise FormatError(reason, source=copy.name)
    tables = [file.table for file in files if file.table is not None]
    texts = _find_texts(tables)
    columns, _ = tables[0].read_keeping(dict.fromkeys(texts & {*tables[0].columns}, "string"))
    unified = [unify_columns(tables[0], table, texts) for table in tables[1:]]
    for (ours, _), _ in unified:
        columns = {name: to_common_dtype(column, ours[name])[0] for name, column in columns.items()}
    for copy, ((_, errors), (theirs, unreadable)) in zip(copies, unified, strict=True):
        copy.take_columns(theirs, {name: _drop_same(wrong, errors.get(name)) for name, wrong in unreadable.items()})
    base.arrays = LabelledArrays(columns, None)
    _put_formulas(files)
    return True


def _put_formulas(files: Sequence[MergeSource]) -> None:
    """Put the formulas of all tables in the place of their results, in all columns in which one of them has some.

    Where nobody knows the formulas of the base, results are compared.
    """
    formulas_of_files = [None if file.table is None else file.table.list_formulas() for file in files]
    names = {name: None for formulas in formulas_of_files for name in formulas or ()}
    of_base = formulas_of_files[0]
    if of_base is None:
        return
    for name in names:
        for file, formulas in zip(files, formulas_of_files, strict=True):
            if name not in file.arrays:
                continue
            if formulas is None and name in of_base and file is not files[0]:
                file.take_formulas(name, of_base[name], files[0].arrays[name])
            else:
                column = (formulas or {}).get(name)
                blanks = np.full(len(file.arrays[name]), None, object)
                file.put_formulas(name, blanks if column is None else column)


def _to_objects(values: Sequence[Any]) -> Array:
    objects = np.empty(len(values), object)
    objects[:] = values
    return objects


def fill_absent_columns(files: Sequence[MergeSource]) -> None:
    """Give each table the columns of the base that it lacks, in dtypes that have a missing value."""
    base, *copies = files
    lacking = [name for name in base.arrays if any(name not in copy.arrays for copy in copies)]
    for name in lacking:
        base.arrays[name] = _with_missing(base.arrays[name])
        for copy in copies:
            if name in copy.arrays:
                copy.arrays[name] = to_common_dtype(copy.arrays[name], base.arrays[name])[0]
    for copy in copies:
        copy.fill_absent(base.arrays)


def _find_texts(tables: Sequence[OrdinaryTable]) -> set[str]:
    """Return the columns that have to be compared as text, since tables have cells of other kinds in them."""
    base, *copies = tables
    texts: set[str] = set()
    for copy in copies:
        (ours, _), (theirs, _) = unify_columns(base, copy)
        for name in ours.keys() & theirs.keys():
            if dtype_name(ours[name]) != dtype_name(theirs[name]) or (
                ours[name].dtype.kind in "UT" and base.columns[name].dtype.kind not in "UT"
            ):
                texts.add(name)
    return texts


def _with_missing(column: Array) -> Array:
    """Return a column in a dtype that has a missing value."""
    if find_missing_value(column.dtype) is not None:
        return column
    if column.dtype.kind in "iu" and not find_unequal(column, column.astype(np.float64), 0, 0).any():
        return column.astype(np.float64)
    return column.astype(object)


def _drop_same(errors: Array, before: Array | None) -> Array:
    """Return the errors of cells without those that the base has in the same row, for the same reason."""
    left = errors.copy()
    if before is None:
        return left
    for row in np.flatnonzero(errors != np.array(None)).tolist():
        if row < len(before) and before[row] is not None and before[row].reason == errors[row].reason:
            left[row] = None
    return left


def choose_names(files: Sequence[MergeSource]) -> dict[str, str]:
    """Return the new names of arrays by those of the base: of each array the name on which all agree that renamed it.

    Arrays with labels keep their names, and so do those that would get the name of another array.
    """
    base, *copies = files
    names: dict[str, set[str]] = {}
    for copy in copies if base.arrays.labels is None else ():
        for before, now in copy.renamed.items():
            names.setdefault(before, set()).add(now)
    taken = {name for file in files for name in file.arrays}
    renamed: dict[str, str] = {}
    for before, candidates in names.items():
        now = next(iter(candidates))
        if len(candidates) == 1 and now not in taken | {*renamed.values()}:
            renamed[before] = now
    return renamed
