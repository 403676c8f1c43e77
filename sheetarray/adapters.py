"""What an adapter is: the functions it offers, and what it must, may and must never do.

An adapter is a module, of this package or of another one, named in one row of the registry, with these functions. It
moves cells, or bytes, in and out; the header's layout, the look of a value and the column of an array are decided
beneath it. What an adapter of another package needs is imported from here, as docs/adapters.md shows.

    write(target, arrays, **options)            must; names and options of its own, keyword-only and typed
    read(source, names=None, **options)         must; decodes only the arrays named
    scan(source, **options)                     must; reads no more than the headers need
    check(source, **options)                    must; yields every `Finding`, raises for no content whatever
    read_columns(source, columns=None, **o)     may; ordinary tables: `table=` is a `tables.TableOptions`, or None
    iter_elements(source, names, **options)     may; yields (name, next elements of its buffer), memory bounded
    write_table(target, table, **options)       may; plain columns, without headers of the format
    write_sheets(target, tables, plain=, **o)   may; each table to a sheet, by title, with `write_table` if `plain`
    describe_table(source, table=, sheet=)      may; what it keeps of a table besides the cells, as `describe()` gave it
    adopt(source, target=None, **options)       may; makes headers true to the cells, all else stays
    restore(source, target, **options)          may; writes arrays anew from what the file keeps of them
    revise(source, target, arrays)              may; writes the file with other elements in its cells, all else stays
    keeps                                       must; a `Keeps`: what comes back as it was written

Each name ends in the stem that the registry's row names: `write_csv`, `keeps_csv`.

It must: take a path or an open file (a URL, where it is a service); leave a path as it was when a write fails, and no
temporary file; raise `FormatError` with a location for whatever is in a file, `LimitError` before the first cell is
written; call `progress(done, total)`, in cells, where one is given. It may import its own library, inside the function
that needs it, and says with `MissingDependencyError` which extra brings it. It must never: print; change a global
setting; close a file that the caller opened; import another adapter, the registry or the api; test a dtype to choose
what a cell looks like.
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
    """The part of an array that comes back from a format as it was written; other dtypes are refused on writing.

    Attributes:
        dtypes: names of the dtypes that it holds; "datetime64" and "timedelta64" stand for every unit.
        order: whether an array in Fortran order comes back in Fortran order.
        names: whether the names of arrays are stored; otherwise the file's stem is the name.
        several: whether one file holds several arrays.
        buffers: whether strides and offset come back, of a `LinearArray` that has them.
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
