"""What an adapter is: its functions, and what it must, may and must never do.

An adapter is a module with the functions below, in this package or in another one. A row of the registry names the
module. An adapter moves cells or bytes in and out. Other modules decide how headers, values and columns look. Adapters
of other packages import what they need from this module, as docs/adapters.md shows.

    write(target, arrays, **options)            must: writes arrays; options are keyword-only and typed
    read(source, names=None, **options)         must: returns arrays; decodes only those named
    scan(source, **options)                     must: reads headers, and no more than they need
    check(source, **options)                    must: yields every `Finding`; raises no error for bad content
    read_columns(source, columns=None, **o)     may: reads an ordinary table; `table=` is a `TableOptions` or None
    iter_elements(source, names, **options)     may: yields a name and the next elements of its buffer
    write_table(target, table, **options)       may: writes plain columns, without headers of the exchange format
    write_sheets(target, tables, plain=, **o)   may: writes each table to a sheet; with `plain`, as `write_table` does
    describe_table(source, table=, sheet=)      may: returns the description that was stored with a table
    accept(source, target=None, **options)       may: corrects headers, and leaves everything else as it is
    restore(source, target, **options)          may: writes arrays again from the snapshots in a file
    revise(source, target, arrays, renamed=)    may: writes new elements and names, and leaves everything else as it is
    revise_sheets(source, target, revisions)    may: does so for several sheets, whose arrays may have the same names
    list_writes(source)                         may: returns the sheets whose arrays were written by themselves
    list_formulas(source, sheet=)               may: returns the formulas of an ordinary sheet, by row and column
    list_other_cells(source, **options)         may: returns the texts of cells that belong to no array
    append(target, arrays, **options)           may: appends rows to arrays
    append_table(target, columns, **options)    may: appends rows to an ordinary table
    revise_table(source, target, columns, sources, table=, **o)  may: writes other cells and rows of a table, likewise
    revise_tables(source, target, revisions, **o)  may: does so for tables of several sheets together (a service)
    keeps                                       must: a `Keeps` that says what the format keeps

Each name ends in the stem of the registry's row: `write_csv`, `keeps_csv`.

An adapter must

- take a path or an open file (a service takes a URL);
- leave the old file as it was when a write fails, and leave no temporary file;
- raise `FormatError` with a location for bad content, and `LimitError` before the first cell is written;
- call `progress(done, total)`, in cells, if it has that option.

It may import its own library, inside the function that needs it. `MissingDependencyError` then names the extra.

It must never print, change a global setting, close a file that the caller opened, import another adapter, the registry
or the api, or test a dtype to choose how a cell looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..dtypes import DTYPES
from ..errors import locating, quote_names
from ..files import Readable, Sink, Source, Writable, replacing
from ..linear.array import LinearArray
from ..linear.buffers import is_column_major
from ..linear.named import default_name, linear_arrays, plain_arrays, select
from ..linear.parsing import parse_header
from ..values import DEFAULT_NAME

__all__ = [
    "CELL_CHARACTERS",
    "EVERYTHING",
    "NUMERIC",
    "Keeps",
    "LinearArray",
    "Progress",
    "Readable",
    "Sink",
    "Source",
    "Writable",
    "default_name",
    "ignore_progress",
    "linear_arrays",
    "locating",
    "parse_header",
    "plain_arrays",
    "replacing",
    "select",
]

Progress = Callable[[int, int], None]
"""A function of the caller that takes two numbers: the cells that are done, and all cells. If the function has an
attribute `waiting`, an adapter of a service calls it before each pause, with the seconds and the reason."""


def ignore_progress(done: int, total: int) -> None:
    """Do nothing. Adapters call it if the caller passed no `progress` function."""


CELL_CHARACTERS = 32_767
"""The longest text that a cell of Excel holds, in UTF-16 code units. Text files keep to this limit, too, because people
open them in Excel.
"""

EVERYTHING = frozenset(DTYPES) | {"datetime64", "timedelta64"}
NUMERIC = frozenset(DTYPES) - {"string", "generic"}


@dataclass(frozen=True, slots=True)
class Keeps:
    """A declaration of what a format keeps: dtypes, order, names, strides, labels.

    An adapter must refuse arrays of other dtypes.

    Attributes:
        dtypes: the names of the dtypes; "datetime64" and "timedelta64" mean every unit.
        order: whether an array in Fortran order comes back in Fortran order.
        names: whether the file stores the names of arrays. If not, an array is named after its file.
        several: whether one file can hold several arrays.
        buffers: whether the strides and the offset of a `LinearArray` come back.
        nested: whether awkward arrays come back as awkward arrays.
        labels: whether dimension names, coordinates, attributes and indexes come back.
        table: whether all arrays of a file must have the same dimensions, like the columns of a table.
    """

    dtypes: frozenset[str] = field(default=EVERYTHING)
    order: bool = True
    names: bool = True
    several: bool = True
    buffers: bool = False
    nested: bool = False
    labels: bool = False
    table: bool = False

    @property
    def missing(self) -> list[str]:
        """The missing values that the format keeps, of "NaN", "NaT" and "None"."""
        words = {"float64": "NaN", "datetime64": "NaT", "generic": "None"}
        return [word for dtype, word in words.items() if dtype in self.dtypes]

    def changes(self, arrays: Mapping[str, Any], file_name: str | None, *, labelled: bool = False) -> Iterator[str]:
        """Yield a sentence for each property of some arrays that the format does not keep: labels, order, a name.

        Args:
            arrays: a mapping of names to arrays.
            file_name: the name that a single array takes from its file. None for an open file, or a folder that
                keeps names.
            labelled: whether the arrays have dimension names, coordinates, attributes or an index.
        """
        if labelled and not self.labels:
            yield "keeps no labels: dimension names, coordinates, attributes or an index are not in the file"
        turned = [] if self.order else [name for name, array in arrays.items() if _is_column_major(array)]
        if turned:
            yield f"keeps no column-major order: {quote_names(turned)} will be read as row-major, with the same values"
        if not self.names and file_name is not None and not {file_name, DEFAULT_NAME} & set(arrays):
            yield f"keeps no name: {quote_names(list(arrays))} will be read as {file_name!r}"


def _is_column_major(array: Any) -> bool:
    """Return whether an array is in column-major order, and has two axes along which that makes a difference."""
    if isinstance(array, LinearArray):
        return array.order == "column-major" and _has_order(array.shape)
    if not isinstance(array, np.ndarray):
        return False
    return is_column_major(array) and _has_order(array.shape)


def _has_order(shape: Sequence[int]) -> bool:
    return 0 not in shape and sum(size > 1 for size in shape) > 1
