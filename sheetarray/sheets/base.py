"""What a spreadsheet adapter is: the functions it offers, and what it must, may and must never do.

An adapter is a module of this folder, named in one row of the registry's table, with these functions. It moves cells,
or bytes, in and out; the header's layout, the look of a value and the place of a column are decided above it.

    write(target, arrays, **options)            must; names and options of its own, keyword-only and typed
    read(source, names=None, **options)         must; decodes only the arrays named
    scan(source, **options)                     must; reads no more than the headers need
    check(source, **options)                    must; yields every `Finding`, raises for no content whatever
    read_columns(source, columns=None, **o)     may; ordinary tables

It must: take a path or an open file (a URL, where it is a service); leave a path as it was when a write fails, and no
temporary file; raise `FormatError` with a location for whatever is in a file, `LimitError` before the first cell is
written; call `progress(done, total)`, in cells, where one is given. It may import its own library, inside the function
that needs it. It must never: print; change a global setting; close a file that the caller opened; import another
adapter, the registry or the api; test a dtype to choose what a cell looks like.
"""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """A progress callback that says nothing."""
