"""Table, whole and viewed -> records.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/awkward0/array/table.py. A table is as long as its
shortest column. A view is a slice (start, step, length), or an index, of the columns, also where it is one of a view.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import FormatError
from .builder import Builder, Content, field_name, said


def table_from_pairs(build: Builder, pairs: Any, rowstart: Any = 0) -> Content:
    """`Table.frompairs(pairs, rowstart)`; the number of the first row has no counterpart."""
    build.integer(rowstart, "rowstart")
    columns: dict[str, Content] = {}
    for pair in build.sequence(pairs, "pairs"):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise FormatError(f"pairs has {said(pair)}, not a name and a column")
        name = field_name(pair[0])
        if name in columns:
            raise FormatError(f"two columns are named {name!r:.80}")
        columns[name] = build.layout(pair[1], f"the column {name!r:.80}")
    length = min((column.length for column in columns.values()), default=0)
    return build.measured(build.ak.contents.RecordArray(list(columns.values()), list(columns), length=length))


def table(build: Builder, columns1: Any = None, *columns2: Any, **columns3: Any) -> Content:
    """`Table(columns1, *columns2, **columns3)`: a dict of columns, or columns that are called 0, 1, ..; then others."""
    if isinstance(columns1, dict) or columns1 is None:
        if columns2:
            raise FormatError("columns after a dict of columns")
        return table_from_pairs(build, [*(columns1 or {}).items(), *columns3.items()])
    pairs = [(str(nth), column) for nth, column in enumerate((columns1, *columns2))]
    found = table_from_pairs(build, [*pairs, *columns3.items()])
    return found if columns3 else build.ak.contents.RecordArray(found.contents, None, length=found.length)


def named_table(build: Builder, rowname: Any, columns1: Any = None, *columns2: Any, **columns3: Any) -> Content:
    """`Table.named(rowname, columns1, *columns2, **columns3)`."""
    found = table(build, columns1, *columns2, **columns3)
    return build.measured(found.copy(parameters={"__record__": field_name(rowname)}))


def table_from_rec(build: Builder, recarray: Any) -> Content:
    """`Table.fromrec(recarray)`: the fields of a structured array."""
    found = build.layout(recarray, "recarray")
    if not found.is_record:
        raise FormatError(f"recarray is {said(recarray)}, not an array of structures")
    return found


def table_from_view(build: Builder, view: Any, base: Any) -> Content:
    """`Table.fromview(view, base)`."""
    table = build.layout(base, "base")
    if view is None:
        return table
    if table.is_indexed and not table.is_option:
        table = table.content
    if not table.is_record:
        raise FormatError(f"base is {said(base)}, not a table")
    if isinstance(view, tuple):
        return _sliced(build, view, table)
    index = build.integers(view, "view", table.length, dimensions=1)
    return build.measured(build.ak.contents.IndexedArray(build.index(index), table))


def _sliced(build: Builder, view: tuple[Any, ...], table: Content) -> Content:
    if len(view) != 3:
        raise FormatError(f"a view of {len(view)} numbers; a slice has a start, a step and a length")
    start, step, length = (build.integer(number, "view") for number in view)
    last = start + step * (length - 1)
    if length < 0 or (length and not (0 <= start < table.length and 0 <= last < table.length)):
        raise FormatError(f"the view {view!r:.80} leaves the table of {table.length} rows")
    if not length or step == 1:
        return build.measured(table[start if length else 0 : start + length if length else 0])
    build.budget.take(8 * length, "a view")
    index = start + step * np.arange(length, dtype=np.int64)
    return build.measured(build.ak.contents.IndexedArray(build.index(index), table))
