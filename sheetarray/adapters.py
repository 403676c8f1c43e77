"""What an adapter is: its functions, and what it must, may and must never do.

An adapter is a module with these functions, in this package or in another one. A row of the registry names it. It moves
cells or bytes in and out. The layout of headers, the look of values and the columns of arrays are decided elsewhere.
Adapters of other packages import what they need from here, as docs/adapters.md shows.

    write(target, arrays, **options)            must; names and options of its own, keyword-only and typed
    read(source, names=None, **options)         must; decodes only the arrays named
    scan(source, **options)                     must; reads no more than the headers need
    check(source, **options)                    must; yields every `Finding`; content never raises an error
    read_columns(source, columns=None, **o)     may; ordinary tables: `table=` is a `tables.TableOptions`, or None
    iter_elements(source, names, **options)     may; yields (name, next elements of its buffer), memory bounded
    write_table(target, table, **options)       may; plain columns, without headers of the format
    write_sheets(target, tables, plain=, **o)   may; each table to a sheet, as `write_table` does if `plain`
    describe_table(source, table=, sheet=)      may; the description that was stored with a table
    adopt(source, target=None, **options)       may; corrects headers, all else stays
    restore(source, target, **options)          may; writes arrays again from the snapshots in a file
    revise(source, target, arrays)              may; writes the file with other elements in its cells, all else stays
    keeps                                       must; a `Keeps`: what the format keeps

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

from .arrays import default_name, linear_arrays, plain_arrays, select
from .dtypes import DTYPES
from .errors import locating, quote_names
from .files import Readable, Sink, Source, Writable, replacing
from .header import parse_header
from .linear import LinearArray, is_column_major
from .values import DEFAULT_NAME

__all__ = [
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
"""A function that is called with the number of cells done and the number in all. An adapter of a service also calls the
attribute `waiting` of this function, if it has one, before it waits: with the seconds and the reason."""


def ignore_progress(done: int, total: int) -> None:
    """Ignore progress: the default for `progress=None`."""


CELL_CHARACTERS = 32_767
"""The longest text that a cell of Excel holds, in UTF-16 code units. Files of text keep to it too, since people open
them in Excel.
"""

EVERYTHING = frozenset(DTYPES) | {"datetime64", "timedelta64"}
NUMERIC = frozenset(DTYPES) - {"string", "generic"}


@dataclass(frozen=True, slots=True)
class Keeps:
    """The dtypes, orders and names that a format keeps; arrays of other dtypes are refused.

    Attributes:
        dtypes: the names of its dtypes; "datetime64" and "timedelta64" mean every unit.
        order: whether an array in Fortran order comes back in Fortran order.
        names: whether the names of arrays are stored; otherwise an array is named after its file.
        several: whether one file holds several arrays.
        buffers: whether the strides and the offset of a `LinearArray` come back.
        nested: whether awkward arrays come back as such.
        labels: whether dimension names, coordinates, attributes and indexes come back.
        table: whether a file holds one table, whose arrays lie along the same dimensions.
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
        """The missing values that come back as they were written: those of NaN, NaT and None whose dtype it holds."""
        words = {"float64": "NaN", "datetime64": "NaT", "generic": "None"}
        return [word for dtype, word in words.items() if dtype in self.dtypes]

    def changes(self, arrays: Mapping[str, Any], file_name: str | None, *, labelled: bool = False) -> Iterator[str]:
        """Yield a sentence for each thing that the format loses of some arrays, although it holds their elements.

        Args:
            arrays: by name, as `sheetarray.arrays.values_by_name` gives them.
            file_name: the name that a single array without one gets from its file; None for a folder, which
                keeps names, and for an open file.
            labelled: whether they came with dimension names, coordinates, attributes or an index.
        """
        if labelled and not self.labels:
            yield "keeps no labels: dimension names, coordinates, attributes or an index are not in the file"
        turned = [] if self.order else [name for name, array in arrays.items() if _is_column_major(array)]
        if turned:
            yield f"keeps no column-major order: {quote_names(turned)} will be read as row-major, with the same values"
        if not self.names and file_name is not None and not {file_name, DEFAULT_NAME} & set(arrays):
            yield f"keeps no name: {quote_names(list(arrays))} will be read as {file_name!r}"


def _is_column_major(array: Any) -> bool:
    """Return whether an array's order differs from row-major order where it matters: along two axes or more."""
    if isinstance(array, LinearArray):
        return array.order == "column-major" and _has_order(array.shape)
    if not isinstance(array, np.ndarray):
        return False
    return is_column_major(array) and _has_order(array.shape)


def _has_order(shape: Sequence[int]) -> bool:
    return 0 not in shape and sum(size > 1 for size in shape) > 1
