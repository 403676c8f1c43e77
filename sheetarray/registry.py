"""Which adapter a suffix or a URL means: one table, and nothing is imported before it is needed.

A row names a module and the stem of its functions: `read_csv`, `write_csv`, `scan_csv`, `check_csv`, `read_columns_csv`
for the stem `csv`. A format that lacks a verb leaves the function out. To add a format, add its module and a row.
Where two formats share a suffix, one of them has a signature: what is read decides, and on writing the other is meant.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any

from .errors import FormatError, MissingDependencyError, NotFoundError
from .files import COMPRESSIONS, Source

_CELL = 32_767  # characters: what Excel holds, where files of text may end up too
_HEAD = 4096  # bytes in which a signature is looked for


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
        instead: the suffix to write instead, where the format is only read.
        cell: how many characters a cell holds, where arrays are cells; awkward arrays are then spread over columns.
        compressible: whether `.gz` and `.zst` may follow the suffix.
        signature: found in the first 4 KiB (inflated) of a file of this format, and in none of the other format that
            its suffixes belong to; a regular expression.
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    stem: str
    title: str
    prefixes: tuple[str, ...] = ()
    writing: Mapping[str, Any] = field(default_factory=dict)
    extra: str | None = None
    instead: str | None = None
    cell: int | None = None
    compressible: bool = True
    signature: re.Pattern[bytes] | None = None

    def function(self, verb: str) -> Callable[..., Any]:
        """The adapter's function for a verb: read, write, scan, check or read_columns.

        Raises:
            NotFoundError: the format has no such verb, or is only read.
            MissingDependencyError: the adapter needs a package that is not installed.
        """
        if verb == "write" and self.instead is not None:
            raise NotFoundError(f"{self.title}: these are only read; write {self.instead} instead")
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


def _own_suffixes(row: Format) -> tuple[str, ...]:
    """The suffixes that mean a format; none where its signature does."""
    return () if row.signature else row.suffixes


def _table(*rows: Format) -> Mapping[str, Format]:
    table: dict[str, Format] = {}
    taken: dict[str, str] = {}
    for row in rows:
        for key in (row.name, *_own_suffixes(row), *row.prefixes):
            if key in taken:
                raise ValueError(f"{key!r} belongs to {taken[key]} already")
            taken[key] = row.name
        table[row.name] = row
    return MappingProxyType(dict(sorted(table.items())))


FORMATS = _table(
    Format("avro", (".avro",), "interchange.avro", "avro", "Avro, YEP-113", extra="avro"),
    Format(
        "awkd",
        (".awkd",),
        "interchange.awkward",
        "awkd",
        "Awkward Array, awkward0",
        extra="awkward",
        compressible=False,
    ),
    Format("csv", (".csv",), "sheets.delimited", "csv", "comma-separated values", cell=_CELL),
    Format(
        "gsheet",
        (),
        "sheets.google",
        "gsheet",
        "Google Sheets",
        prefixes=(
            "https://docs.google.com/spreadsheets/",
            "gsheets://",
            "https://docs.google.com/a/",
            "https://spreadsheets.google.com/",
        ),
        cell=50_000,
    ),
    Format("json", (".json",), "sheets.json", "json", "JSON, flat lists", cell=_CELL),
    Format("npy", (".npy",), "interchange.npy", "npy", "NumPy, one array"),
    Format("npz", (".npz",), "interchange.npy", "npz", "NumPy, archive of arrays", compressible=False),
    Format(
        "ods",
        (".ods", ".xls", ".xlsb"),
        "sheets.excel",
        "excel",
        "other workbooks",
        cell=_CELL,
        instead=".xlsx",
        compressible=False,
    ),
    Format("ra", (".ra",), "interchange.rawarray", "ra", "RawArray"),
    Format(
        "sciserialize",
        (".msgpack",),
        "interchange.sciserialize",
        "sciserialize",
        "SciSerialize, MessagePack",
        extra="sciserialize",
    ),
    Format(
        "sciserialize-json",
        (".json",),
        "interchange.sciserialize",
        "sciserialize",
        "SciSerialize, JSON",
        writing={"form": "json"},
        signature=re.compile(  # the first value is an object, never a list; or a key of SciSerialize with a text
            rb'\A[\s\xef\xbb\xbf]*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{|"(?:__|~#)(?:type|base64)(?:__)?"\s*:\s*"'
        ),
    ),
    Format(
        "tsv",
        (".tsv", ".tab"),
        "sheets.delimited",
        "csv",
        "tab-separated values",
        cell=_CELL,
        writing={"delimiter": "\t"},
    ),
    Format("txt", (".txt",), "sheets.delimited", "csv", "delimited text", cell=_CELL, writing={"delimiter": "\t"}),
    Format("xlsx", (".xlsx", ".xlsm"), "sheets.excel", "excel", "Excel workbook", cell=_CELL, compressible=False),
)


def format_of(source: Any, name: str | None = None, *, reading: bool = False) -> Format:
    """The format of a path, URL or open file, unless `name` says it.

    Args:
        source: the path, URL or file.
        name: the format.
        reading: tell formats of one suffix apart by what is read, from a path or a file that can be sought in.

    Raises:
        NotFoundError: nothing says which format; the message lists those that there are.
        OSError: reading, and there is no such file.
    """
    row = _named(name) if name is not None else _by_place(source)
    if not reading or row.signature:
        return row
    rivals = [other for other in FORMATS.values() if other.signature and set(other.suffixes) & set(row.suffixes)]
    head = _head(source) if rivals else b""
    return next((other for other in rivals if other.signature and other.signature.search(head)), row)


def _named(name: str) -> Format:
    if name in FORMATS:
        return FORMATS[name]
    raise NotFoundError(f"no format {name!r}; there is {', '.join(FORMATS)}")


def _by_place(source: Any) -> Format:
    text = os.fspath(source) if isinstance(source, (str, os.PathLike)) else getattr(source, "name", None)
    if not isinstance(text, str):
        raise NotFoundError(f"a file without a name: say which format, for example format='csv' ({', '.join(FORMATS)})")
    for row in FORMATS.values():
        if row.prefixes and text.startswith(row.prefixes):
            return row
    lowered = text.lower().rstrip("/\\")  # a folder as the shell completes its name
    bare = next((lowered.removesuffix(c) for c in COMPRESSIONS if lowered.endswith(c)), None)
    for row in FORMATS.values():
        own = _own_suffixes(row)
        if lowered.endswith(own) or (bare is not None and row.compressible and bare.endswith(own)):
            return row
    suffixes = " ".join(suffix for row in FORMATS.values() for suffix in _own_suffixes(row))
    raise NotFoundError(
        f"{text}: no format has this suffix; known are {suffixes} (also with .gz and .zst), or name one with format="
    )


def _head(source: Any) -> bytes:
    """The first bytes of what is to be read; none of what could not be read again."""
    try:
        if isinstance(source, (str, os.PathLike)):
            if not stat.S_ISREG(os.stat(source).st_mode):
                return b""
            with Source(source) as opened:
                return opened.prefix(_HEAD)
        if not source.seekable():
            return b""
        at = source.tell()
        try:
            with Source(source) as opened:
                return opened.prefix(_HEAD)
        finally:
            source.seek(at)
    except (FormatError, AttributeError, io.UnsupportedOperation):  # the adapter says it better
        return b""
