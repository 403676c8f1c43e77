"""The result of a merge of ordinary tables: which columns it has, and how it gets into a copy of the base."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..changes.elements import cast_exactly
from ..changes.formulas import find_formulas
from ..changes.merge import MergedArrays
from ..dtypes import Array, from_name
from ..errors import FormatError, LimitError, NotFoundError, warn_caller
from ..formats import Format, format_of, locate_places
from ..labels import LabelledArrays, TableNote, stack_labels
from ..sheets.content import TableRevision
from .arrays import write_each_sheet
from .merge_sources import MergeSource
from .ordinary import table_options
from .tables import write_table
from .targets import SourceOrTarget, first_url

if TYPE_CHECKING:
    from .sheet_merges import SheetMerge


_MOST_CELLS = 3  # of a column that is left out, which are named


def drop_unaligned(merged: MergedArrays, files: Sequence[MergeSource]) -> None:
    """Leave out new columns of copies unless all tables have the rows of the base: nobody knows their rows otherwise.

    Warns:
        SheetArrayWarning: a column is left out.
    """
    count = max(map(len, files[0].arrays.values()), default=0)
    is_same = all(
        len(rows.sources) == count and bool((rows.sources == np.arange(count)).all())
        for rows in merged.row_maps.values()
    ) and not any(change.moved or change.added or change.deleted for change in merged.changes)
    for name in [name for name in merged.arrays if name not in files[0].arrays]:
        if is_same and len(merged.arrays[name]) == count:
            continue
        del merged.arrays[name]
        owner = next(file for file in files if name in file.arrays)
        values = enumerate(owner.arrays[name].tolist())
        cells = [f"{owner.address(name, (row,))} {value!r:.60}" for row, value in values if value not in (None, "")]
        listed = ", ".join(cells[:_MOST_CELLS]) + (
            f" and {len(cells) - _MOST_CELLS:,} more" if len(cells) > _MOST_CELLS else ""
        )
        reason = f"since rows were added, deleted or sorted: {listed}"
        warn_caller(f"{owner.name}: the new column {name!r:.80} is not merged, {reason}")


def write_merged_tables(
    merges: Sequence[SheetMerge],
    target: SourceOrTarget,
    storage_options: Mapping[str, Any] | None,
    client: Any,
) -> str | None:
    """Write the merged tables. In the format of the base, the target is a copy of the base with other cells.

    Raises:
        LimitError: there are tables of several sheets, and the target takes one.
    """
    base = merges[0].files[0]
    _, place = locate_places([(base.given, None), (target, None)], storage_options, client)
    row = format_of(place)
    if row.name == base.row.name:
        with suppress(NotFoundError):
            revise_tables = row.function("revise_tables")
            revisions = [_to_revision(each) for each in merges]
            return str(revise_tables(base.place, place, revisions, **base.options("revise_tables")))
        with suppress(NotFoundError):
            _revise_sheets(row, merges, place, row.function("revise_table"))
            return None
    options = {"client": client} if client is not None and "client" in row.options("write_table") else {}
    tables = {str(each.title): _list_columns(each) for each in merges}
    if len(tables) == 1:
        (table,) = tables.values()
        labelled, beside = _label_again(base, table) if row.records_tables else (None, None)
        return write_table(place, table if labelled is None else labelled, columns=beside, **options)
    try:
        row.function("write_sheets")
    except NotFoundError:
        hint = f"name a workbook as the target, or merge one sheet at a time, sheet={merges[0].title!r:.60}"
        reason = f"the base has tables in several sheets, and {row.title} has no sheets: {hint}"
        raise LimitError(reason) from None
    return first_url(write_each_sheet(row, place, tables, options, plain=True))


def _list_columns(sheet_merge: SheetMerge) -> dict[str, Any]:
    """Return the merged columns of a table, by the names that they have now."""
    assert sheet_merge.merged is not None
    columns = [column for column in map(find_formulas, sheet_merge.merged.arrays.values()) if column is not None]
    unknown = sum(formula is not None and formula.result is None for column in columns for formula in column)
    if unknown:
        base = sheet_merge.files[0].name
        reason = "nobody has computed them after the merge: a target in the format of the base keeps the formulas"
        warn_caller(f"{base}: {unknown:,} results of formulas are blank in the target, as {reason}")
    return dict(sheet_merge.arrays or {})


def _label_again(base: MergeSource, table: Mapping[str, Array]) -> tuple[LabelledArrays | None, str | None]:
    """Return the arrays of a merged table with the labels of the base's record, and the dimension that lies across
    columns.

    They are None without a record, or where the table does not hold such arrays any more.
    """
    try:
        note = TableNote.from_json(base.row.function("describe_table")(base.place, **base.options("describe_table")))
    except NotFoundError:
        note = None
    if note is None or not {*note.dtypes} <= {*table}:
        return None, None
    columns = {name: _cast(array, note.dtypes.get(name)) for name, array in table.items()}
    if any(column is None for column in columns.values()):
        return None, None
    try:
        arrays, labels = stack_labels({n: a for n, a in columns.items() if a is not None}, None, None, note, np.array)
    except FormatError:
        return None, None
    return LabelledArrays(note.as_written(arrays), labels if note.is_labelled else None), note.beside or None


def _cast(column: Array, name: str | None) -> Array | None:
    """Return a column in the dtype that a record names; None if that loses something, or marks tell texts apart."""
    dtype = None if name is None else from_name(name)
    if dtype is None:
        return column
    return None if dtype.kind == "generic" else cast_exactly(column, dtype.numpy)


def _to_revision(sheet_merge: SheetMerge) -> TableRevision:
    """Return the merged table of a sheet as other cells of the base's table."""
    from ..tables import SearchOptions, SplitOptions

    base, merged = sheet_merge.files[0], sheet_merge.merged
    assert merged is not None
    assert base.table is not None
    assert sheet_merge.arrays is not None
    options = table_options(base.place, None, base.given_options)["table"]
    options = (SplitOptions if base.is_part else SearchOptions).of(options)
    renamed = sheet_merge.new_names or {}
    columns = {name: sheet_merge.arrays[renamed.get(name, name)] for name in merged.arrays}
    return TableRevision(columns, base.table.sheets[0].columns, renamed, options, _list_formulas(sheet_merge))


def _list_formulas(sheet_merge: SheetMerge) -> dict[str, Array]:
    """Return the merged columns that are to hold formulas, or that held some: each formula, None for other elements."""
    assert sheet_merge.merged is not None
    formulas: dict[str, Array] = {}
    for name, column in sheet_merge.merged.arrays.items():
        held = find_formulas(column)
        if held is not None or name in sheet_merge.files[0].dtypes:
            formulas[name] = np.full(len(column), None, object) if held is None else held
    return formulas


def _revise_sheets(row: Format, merges: Sequence[SheetMerge], target: Any, revise: Callable[..., None]) -> None:
    """Write a copy of the base with other cells, one sheet after the other."""
    source: Any = None
    for number, each in enumerate(merges, 1):
        base, merged = each.files[0], each.merged
        assert merged is not None
        options = table_options(base.place, None, base.given_options)
        sources = next((rows.sources for rows in merged.row_maps.values()), np.zeros(0, np.int64))
        formulas = _list_formulas(each)
        more = {"formulas": formulas} if formulas else {}
        of_sheet = partial(revise, renamed=each.new_names or {}, **more, **options)
        renamed = each.new_names or {}
        assert each.arrays is not None
        columns = {name: each.arrays[renamed.get(name, name)] for name in merged.arrays}
        place = target if number == len(merges) else io.BytesIO()
        _revise(row, base, source or base.place, place, of_sheet, columns, sources.tolist())
        if number < len(merges):
            source = place.getvalue()


def _revise(
    row: Format,
    base: MergeSource,
    source: Any,
    target: SourceOrTarget,
    revise: Callable[..., None],
    columns: Mapping[str, Any],
    sources: list[int],
) -> None:
    """Write a copy of the base with other cells; a record that says which arrays the table is becomes true."""

    def rewound() -> Any:
        return io.BytesIO(source) if isinstance(source, bytes) else source

    described: Mapping[str, Any] = {}
    with suppress(NotFoundError):
        described = row.function("describe_table")(rewound(), sheet=base.given_options.get("sheet"))
    if described:
        revised = io.BytesIO()
        revise(rewound(), revised, columns, sources)
        try:
            row.function("accept")(io.BytesIO(revised.getvalue()), target)
        except FormatError as error:
            warn_caller(f"the merged table does not hold the arrays of its record any more: {error}")
        else:
            return
    revise(rewound(), target, columns, sources)
