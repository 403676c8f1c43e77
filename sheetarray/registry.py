"""Which adapter a suffix or a URL means: one table, and nothing is imported before it is needed.

A row names a module and the stem of its functions: `read_csv`, `write_csv`, `scan_csv`, `check_csv`, `read_columns_csv`
for the stem `csv`. A format that lacks a verb leaves the function out. To add a format, add its module and a row.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any

from .errors import MissingDependencyError, NotFoundError

COMPRESSIONS = (".gz", ".zst")


@dataclass(frozen=True, slots=True)
class Format:
    """One row of the table.

    Attributes:
        name: what `format=` calls it.
        suffixes: of file names, in lower case; a compression may follow them.
        module: where the adapter is, under `sheetarray`.
        stem: of its functions.
        title: what it is, in a few words.
        prefixes: of URLs that belong to it.
        writing: options that writing begins with.
        extra: what to install for it, beyond the package itself.
        compressible: whether `.gz` and `.zst` may follow the suffix.
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    stem: str
    title: str
    prefixes: tuple[str, ...] = ()
    writing: Mapping[str, Any] = field(default_factory=dict)
    extra: str | None = None
    compressible: bool = True

    def function(self, verb: str) -> Callable[..., Any]:
        """The adapter's function for a verb: read, write, scan, check or read_columns.

        Raises:
            NotFoundError: the format has no such verb.
            MissingDependencyError: the adapter needs a package that is not installed.
        """
        try:
            module = import_module(f"sheetarray.{self.module}")
        except ImportError as error:
            if self.extra is None:
                raise
            raise MissingDependencyError(
                f"{self.title} needs {error.name}: pip install 'sheetarray[{self.extra}]'", name=error.name
            ) from error
        found: Callable[..., Any] | None = getattr(module, f"{verb}_{self.stem}", None)
        if found is None:
            raise NotFoundError(f"{self.title}: there is no {verb} for it")
        return found


def _table(*rows: Format) -> Mapping[str, Format]:
    table: dict[str, Format] = {}
    taken: dict[str, str] = {}
    for row in rows:
        for key in (row.name, *row.suffixes, *row.prefixes):
            if key in taken:
                raise ValueError(f"{key!r} belongs to {taken[key]} already")
            taken[key] = row.name
        table[row.name] = row
    return MappingProxyType(dict(sorted(table.items())))


FORMATS = _table(
    Format("csv", (".csv",), "sheets.delimited", "csv", "comma-separated values"),
    Format("json", (".json",), "sheets.linear_json", "json", "JSON, flat lists"),
    Format("npy", (".npy",), "interchange.npy", "npy", "NumPy, one array"),
    Format("npz", (".npz",), "interchange.npy", "npz", "NumPy, archive of arrays", compressible=False),
    Format("ra", (".ra",), "interchange.rawarray", "ra", "RawArray"),
    Format(
        "tsv",
        (".tsv", ".tab"),
        "sheets.delimited",
        "csv",
        "tab-separated values",
        writing={"delimiter": "\t"},
    ),
    Format("txt", (".txt",), "sheets.delimited", "csv", "delimited text", writing={"delimiter": "\t"}),
)


def format_of(source: Any, name: str | None = None) -> Format:
    """The format of a path, URL or open file, unless `name` says it.

    Raises:
        NotFoundError: nothing says which format; the message lists those that there are.
    """
    if name is not None:
        if name in FORMATS:
            return FORMATS[name]
        raise NotFoundError(f"no format {name!r}; there is {', '.join(FORMATS)}")
    text = os.fspath(source) if isinstance(source, (str, os.PathLike)) else getattr(source, "name", None)
    if not isinstance(text, str):
        raise NotFoundError(f"a file without a name: say which format, for example format='csv' ({', '.join(FORMATS)})")
    for row in FORMATS.values():
        if row.prefixes and text.startswith(row.prefixes):
            return row
    lowered = text.lower()
    bare = next((lowered.removesuffix(c) for c in COMPRESSIONS if lowered.endswith(c)), None)
    for row in FORMATS.values():
        if lowered.endswith(row.suffixes) or (bare is not None and row.compressible and bare.endswith(row.suffixes)):
            return row
    suffixes = " ".join(suffix for row in FORMATS.values() for suffix in row.suffixes)
    raise NotFoundError(
        f"{text}: no format has this suffix; known are {suffixes} (also with .gz and .zst), or name one with format="
    )
