"""`Format`, the row of the registry for one format, and the checks of a row by itself and against other rows."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal

from ..errors import MissingDependencyError, NotFoundError
from ..files import COMPRESSIONS
from .contract import Keeps

_INSTEAD = {
    "read_columns": "; read, read_frame and read_dataset give its arrays",
    "write_table": "; write takes the same table, and read_frame gives it back",
}
HEAD = 4096  # bytes at the beginning of a file, in which a format is recognised
_NAME = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Format:
    """A row of the registry, which describes one format: its name, its suffixes and its adapter.

    Attributes:
        name: the name for `format=`: lower-case letters and digits, with `-`, `_` or `.` between them.
        suffixes: the suffixes of its files, in lower case with a dot, without a compression such as `.gz`.
        module: the module of the adapter, such as `my_package.adapter`.
        stem: the end of the names of the adapter's functions: `read_<stem>`, `write_<stem>`, ..
        title: a short description.
        prefixes: the beginnings of its URLs.
        objects: the classes of other libraries that the adapter takes, such as `openpyxl.Workbook`: the top-level
            package and the name of the class.
        writing: default options for writing.
        extra: the extra of sheetarray that installs the packages of the format, or None.
        instead: for a format that can only be read, the suffix to write instead; None for all others.
        composite: the module that spreads values of this format over several columns of cells. Awkward arrays have it;
            in other rows it has no effect.
        compressible: whether `.gz` and `.zst` may follow the suffix.
        magic: a regular expression that is found in the first 4 KiB (inflated) of each file of this format. It
            recognises open files without a name, and tells the formats of one suffix apart. In an open file that is a
            zip archive, it is looked for in `PK` and the names of the members, one a line.
        package: the installed package whose entry point has the format; None if it is one of sheetarray's, or was
            registered.
        text: whether the adapter takes a file that was opened for text.
        folders: "read" if the adapter reads folders with this suffix, "write" if it also writes them, None if neither.

    Example:
        >>> Format(name="inks", suffixes=(".inks",), module="my_inks.adapter", stem="inks", title="my inks").suffixes
        ('.inks',)
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    stem: str
    title: str
    prefixes: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    writing: Mapping[str, Any] = field(default_factory=dict)
    extra: str | None = None
    instead: str | None = None
    composite: str | None = None
    compressible: bool = True
    magic: re.Pattern[bytes] | None = None
    package: str | None = None
    text: bool = True
    folders: Literal["read", "write"] | None = None

    def function(self, verb: str) -> Callable[..., Any]:
        """Return the adapter's function for a verb, such as `read`, `write`, `scan`, `check` or `write_table`.

        Raises:
            NotFoundError: the adapter has no function for the verb, or the format can only be read.
            MissingDependencyError: a package that the adapter needs is missing, or the adapter's package is broken.
        """
        if verb in ("write", "write_table") and self.instead is not None:
            raise NotFoundError(f"{self.title}: sheetarray can only read this format; write {self.instead} instead")
        function: Callable[..., Any] | None = getattr(self._load(), f"{verb}_{self.stem}", None)
        if function is None:
            raise NotFoundError(f"{self.title}: there is no {verb} for it{_INSTEAD.get(verb, '')}")
        return function

    def options(self, verb: str) -> list[str]:
        """Return the names of the options that the adapter has for a verb.

        Raises:
            NotFoundError: the format has no such verb, or is only read.
            MissingDependencyError: as for `function`.
        """
        return options_of(self.function(verb))

    def instead_of(self, option: str) -> str:
        """Return a sentence that says what to use instead of an option that the format lacks, or an empty text."""
        return str(getattr(self._load(), f"instead_{self.stem}", {}).get(option, ""))

    @property
    def records_tables(self) -> bool:
        """Whether `write_table` puts a table into a sheet of a container, which records the arrays that it is."""
        return "sheet" in self.options("write_table")

    @property
    def keeps(self) -> Keeps | None:
        """The adapter's `Keeps`, which declares what the format keeps; None if the adapter has none."""
        declared = getattr(self._load(), f"keeps_{self.stem}", None)
        return declared if isinstance(declared, Keeps) else None

    def _load(self) -> Any:
        try:
            return import_module(self.module)
        except Exception as error:
            if self.package is not None:
                raise broken_package_error(self.name, self.package, error) from error
            if self.extra is None or not isinstance(error, ImportError):
                raise
            raise MissingDependencyError(
                f"{self.title} needs {error.name}: pip install 'sheetarray[{self.extra}]'", name=error.name
            ) from error


@lru_cache(maxsize=256)
def options_of(function: Callable[..., Any]) -> list[str]:
    """Return the names of the options of an adapter's function."""
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]


def broken_package_error(name: str, package: str, reason: object) -> MissingDependencyError:
    """Return the error for a format whose package cannot be used, which names both."""
    what = f"{type(reason).__name__}: {reason}" if isinstance(reason, Exception) else reason
    return MissingDependencyError(f"the format {name!r} comes from the package {package}, which does not work ({what})")


def check_row(row: Format) -> None:
    """Refuse a row whose name, suffixes or prefixes are malformed."""
    if not isinstance(row.name, str) or not _NAME.fullmatch(row.name):
        raise ValueError(
            f"{row.name!r} is not the name of a format: lower-case letters and digits, with - _ . between them"
        )
    for what, texts in (("suffixes", row.suffixes), ("prefixes", row.prefixes), ("objects", row.objects)):
        if not isinstance(texts, tuple) or not all(isinstance(text, str) and text for text in texts):
            raise ValueError(f"{what} of the format {row.name!r} are not a tuple of texts: {texts!r}")
    for suffix in row.suffixes:
        if not suffix.startswith(".") or suffix != suffix.lower() or "/" in suffix or suffix.endswith(COMPRESSIONS):
            raise ValueError(f"{suffix!r} is not a suffix: a dot, lower-case letters, and no compression at its end")
    if not row.suffixes and not row.prefixes and not row.objects:
        raise ValueError(f"the format {row.name!r} has neither suffixes nor prefixes nor objects")


def check_unclaimed(row: Format, others: Iterable[Format], *, shared: Set[str] | None = None) -> None:
    """Refuse a row that claims what belongs to another one.

    `shared`: the suffixes that a row may share if it has magic; None for any.
    """
    if len(set(row.suffixes)) < len(row.suffixes):
        raise ValueError(f"{row.suffixes!r}: a suffix belongs to {row.name} already")
    for other in others:
        keys = [row.name] if row.name == other.name else []
        keys += [prefix for prefix in row.prefixes if other.prefixes and prefix.startswith(other.prefixes)]
        keys += [claim for claim in row.objects if claim in other.objects]
        for suffix in row.suffixes:
            claimed = [claim for claim in other.suffixes if suffix.endswith(claim)]
            if row.magic is None or (shared is not None and not shared >= {*claimed}):
                keys += [suffix] if claimed else []
        if keys:
            raise ValueError(f"{keys[0]!r} belongs to {other.name} already")
