"""Table -> records."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....errors import FormatError
from ..builder import (
    Builder,
    describe_plain_value,
)
from ..layouts import field_name
from ..package import AwkwardLayout


def table_from_pairs(build: Builder, pairs: Any, rowstart: Any = 0) -> AwkwardLayout:
    """`Table.frompairs(pairs, rowstart)`, as long as its shortest column; the first row's number is not kept."""
    build.to_integer(rowstart, "rowstart")
    columns: dict[str, AwkwardLayout] = {}
    for pair in build.to_sequence(pairs, "pairs"):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise FormatError(f"pairs has {describe_plain_value(pair)}, not a name and a column")
        name = field_name(pair[0])
        if name in columns:
            raise FormatError(f"two columns are named {name!r:.80}")
        columns[name] = build.to_layout(pair[1], f"the column {name!r:.80}")
    length = min((column.length for column in columns.values()), default=0)
    return build.check_measured(build.ak.contents.RecordArray(list(columns.values()), list(columns), length=length))


def table(build: Builder, columns1: Any = None, *columns2: Any, **columns3: Any) -> AwkwardLayout:
    """`Table(columns1, *columns2, **columns3)`: a dict of columns, or columns that are numbered; and others by name."""
    first = {} if columns1 is None else columns1
    if not isinstance(first, dict):
        first, columns2 = {str(number): column for number, column in enumerate((first, *columns2))}, ()
    if columns2:
        raise FormatError("a dict of columns, and more columns without names")
    return table_from_pairs(build, [*first.items(), *columns3.items()])


def table_named(build: Builder, rowname: Any, columns1: Any = None, *columns2: Any, **columns3: Any) -> AwkwardLayout:
    """`Table.named(rowname, columns1, *columns2, **columns3)`: a table whose rows have a name, which is not kept."""
    if not isinstance(rowname, str):
        raise FormatError(f"rowname is {describe_plain_value(rowname)}, not text")
    return table(build, columns1, *columns2, **columns3)


def table_from_rec(build: Builder, recarray: Any) -> AwkwardLayout:
    """`Table.fromrec(recarray)`: the fields of a structured array."""
    array = build.to_array(recarray, "recarray")
    if array.dtype.names is None:
        raise FormatError(f"recarray has the dtype {array.dtype}, without fields")
    return build.to_layout(array, "recarray")


def table_from_view(build: Builder, view: Any, base: Any) -> AwkwardLayout:
    """`Table.fromview(view, base)`: a slice (start, step, length) or an index of the columns, also of a view's."""
    table = build.to_layout(base, "base")
    if view is None:
        return table
    if table.is_indexed and not table.is_option:
        table = table.content
    if not table.is_record:
        raise FormatError(f"base is {describe_plain_value(base)}, not a table")
    if not isinstance(view, tuple):
        index = build.to_integers(view, "view", table.length, dimensions=1)
        return build.check_measured(build.ak.contents.IndexedArray(build.to_index(index), table))
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
