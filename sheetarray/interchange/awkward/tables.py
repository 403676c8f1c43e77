"""Table, whole and viewed -> records.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/awkward0/array/table.py. A table is as long as its
shortest column. A view is a slice (start, step, length), or an index, of the columns, also where it is one of a view.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import FormatError
from .builder import Builder, describe_value, field_name
from .packages import AwkwardLayout


def table_from_pairs(build: Builder, pairs: Any, rowstart: Any = 0) -> AwkwardLayout:
    """`Table.frompairs(pairs, rowstart)`; the number of the first row has no counterpart."""
    build.to_integer(rowstart, "rowstart")
    columns: dict[str, AwkwardLayout] = {}
    for pair in build.to_sequence(pairs, "pairs"):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise FormatError(f"pairs has {describe_value(pair)}, not a name and a column")
        name = field_name(pair[0])
        if name in columns:
            raise FormatError(f"two columns are named {name!r:.80}")
        columns[name] = build.to_layout(pair[1], f"the column {name!r:.80}")
    length = min((column.length for column in columns.values()), default=0)
    return build.check_measured(build.ak.contents.RecordArray(list(columns.values()), list(columns), length=length))


def table(build: Builder, columns1: Any = None, *columns2: Any, **columns3: Any) -> AwkwardLayout:
    """`Table(columns1, *columns2, **columns3)`: a dict of columns, or columns that are called 0, 1, ..; then others."""
    if isinstance(columns1, dict) or columns1 is None:
        if columns2:
            raise FormatError("columns after a dict of columns")
        return table_from_pairs(build, [*(columns1 or {}).items(), *columns3.items()])
    pairs = [(str(index), column) for index, column in enumerate((columns1, *columns2))]
    records = table_from_pairs(build, [*pairs, *columns3.items()])
    return records if columns3 else build.ak.contents.RecordArray(records.contents, None, length=records.length)


def named_table(build: Builder, rowname: Any, columns1: Any = None, *columns2: Any, **columns3: Any) -> AwkwardLayout:
    """`Table.named(rowname, columns1, *columns2, **columns3)`."""
    records = table(build, columns1, *columns2, **columns3)
    return build.check_measured(records.copy(parameters={"__record__": field_name(rowname)}))


def table_from_rec(build: Builder, recarray: Any) -> AwkwardLayout:
    """`Table.fromrec(recarray)`: the fields of a structured array."""
    layout = build.to_layout(recarray, "recarray")
    if not layout.is_record:
        raise FormatError(f"recarray is {describe_value(recarray)}, not an array of structures")
    return layout


def table_from_view(build: Builder, view: Any, base: Any) -> AwkwardLayout:
    """`Table.fromview(view, base)`."""
    table = build.to_layout(base, "base")
    if view is None:
        return table
    if table.is_indexed and not table.is_option:
        table = table.content
    if not table.is_record:
        raise FormatError(f"base is {describe_value(base)}, not a table")
    if isinstance(view, tuple):
        return _slice_table(build, view, table)
    index = build.to_integers(view, "view", table.length, dimensions=1)
    return build.check_measured(build.ak.contents.IndexedArray(build.to_index(index), table))


def _slice_table(build: Builder, view: tuple[Any, ...], table: AwkwardLayout) -> AwkwardLayout:
    if len(view) != 3:
        raise FormatError(f"a view of {len(view)} numbers; a slice has a start, a step and a length")
    start, step, length = (build.to_integer(number, "view") for number in view)
    last = start + step * (length - 1)
    if length < 0 or (length and not (0 <= start < table.length and 0 <= last < table.length)):
        raise FormatError(f"the view {view!r:.80} leaves the table of {table.length} rows")
    if not length or step == 1:
        return build.check_measured(table[start if length else 0 : start + length if length else 0])
    build.budget.take(8 * length, "a view")
    index = start + step * np.arange(length, dtype=np.int64)
    return build.check_measured(build.ak.contents.IndexedArray(build.to_index(index), table))
