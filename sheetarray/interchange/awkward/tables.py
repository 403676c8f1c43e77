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


def named_record(build: Builder, layout: Content, name: str | None) -> Content:
    """The same records under a name; called "tuple", they have no field names if those are numbers from 0 on."""
    if not (layout.is_record and name):
        return build.measured(layout)
    fields, parameters = layout.fields, {**layout.parameters, "__record__": field_name(name)}
    if name == "tuple" and fields == [str(nth) for nth in range(len(fields))]:
        fields, parameters = None, layout.parameters
    record = build.ak.contents.RecordArray(layout.contents, fields, length=layout.length, parameters=parameters)
    return build.measured(record)
