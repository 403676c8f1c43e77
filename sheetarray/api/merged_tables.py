"""The result of a merge of ordinary tables: which columns it has, and how it gets into a copy of the base."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..changes.merge import MergedArrays
from ..errors import FormatError, NotFoundError, warn_caller
from ..formats import Format, format_of, locate_places
from .merge_sources import MergeSource
from .ordinary import table_options
from .tables import write_table
from .targets import SourceOrTarget

if TYPE_CHECKING:
    from .sheet_merges import SheetMerge


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
        owner = next(file.name for file in files if name in file.arrays)
        warn_caller(f"{owner}: the new column {name!r:.80} is not merged, since rows were added, deleted or sorted")


def write_merged_table(
    sheet_merge: SheetMerge,
    target: SourceOrTarget,
    storage_options: Mapping[str, Any] | None,
    client: Any,
) -> str | None:
    """Write the merged table. In the format of the base, the target is a copy of the base with other cells."""
    base, merged, renamed = sheet_merge.files[0], sheet_merge.merged, sheet_merge.new_names or {}
    assert merged is not None
    _, place = locate_places([(base.given, None), (target, None)], storage_options, client)
    row = format_of(place)
    if row.name == base.row.name:
        with suppress(NotFoundError):
            revise = row.function("revise_table")
            options = table_options(base.place, None, base.given_options)
            sources = next((rows.sources for rows in merged.row_maps.values()), np.zeros(0, np.int64))
            _revise(row, base, place, partial(revise, renamed=renamed, **options), merged.arrays, sources.tolist())
            return None
    options = {"client": client} if client is not None and "client" in row.options("write_table") else {}
    columns = {renamed.get(name, name): array for name, array in merged.arrays.items()}
    return write_table(place, columns, **options)


def _revise(
    row: Format,
    base: MergeSource,
    target: SourceOrTarget,
    revise: Callable[..., None],
    columns: Mapping[str, Any],
    sources: list[int],
) -> None:
    """Write a copy of the base with other cells; a record that says which arrays the table is becomes true."""
    described: Mapping[str, Any] = {}
    with suppress(NotFoundError):
        described = row.function("describe_table")(base.place, sheet=base.given_options.get("sheet"))
    if described:
        revised = io.BytesIO()
        revise(base.place, revised, columns, sources)
        try:
            row.function("accept")(io.BytesIO(revised.getvalue()), target)
        except FormatError as error:
            warn_caller(f"the merged table does not hold the arrays of its record any more: {error}")
        else:
            return
    revise(base.place, target, columns, sources)
