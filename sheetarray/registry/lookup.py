"""From a name, a path, a URL or an open file to its format."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import cache
from inspect import iscoroutinefunction
from itertools import groupby
from operator import itemgetter
from pathlib import PurePath
from typing import Any

from ..errors import FormatError, MissingDependencyError, NotFoundError, check_kinds
from ..files import COMPRESSIONS, RemoteFile, Source, is_url, locate, name_part, takes_options
from ..renamed import OPTIONS
from .inside import INSIDE
from .refusals import name_problem, nearest, place_problem, source_problem
from .row import Format, broken, check_free, check_row

# The formats that installed packages give: entry points of the group `sheetarray.formats`.
#
# An entry point's name is the name of its format, and its object a `Format`:
#
#     [project.entry-points."sheetarray.formats"]     colors = "my_package:COLORS"
#
# No package is looked for until somebody asks for a name or a suffix that no format of sheetarray has, or for the list
# of all formats; then all of them are loaded. One that cannot be loaded, or that claims a name, suffix or prefix of
# another format, is an error when its own format is asked for by name, and is mentioned in the message if no format
# fits. Other formats work as before.

GROUP = "sheetarray.formats"


@cache
def entries() -> tuple[tuple[str, str, Any], ...]:
    """Return the name, the package and the entry point of every format from outside, sorted."""
    from importlib.metadata import entry_points  # takes as long as the rest of `import sheetarray`

    points = entry_points(group=GROUP)
    return tuple(
        sorted(
            ((point.name, point.dist.name if point.dist else "?", point) for point in points),
            key=lambda entry: entry[:2],
        )
    )


@cache
def _load_entries() -> tuple[dict[str, Format], dict[str, str]]:
    """Load all packages that give formats; return the formats that work by name, and what is wrong with the others."""
    rows: dict[str, Format] = {}
    problems: dict[str, str] = {}
    for name, group in groupby(entries(), key=itemgetter(0)):
        packages = [(package, point) for _, package, point in group]
        try:
            if len(packages) > 1:
                listed = ", ".join(package for package, _ in packages)
                raise MissingDependencyError(
                    f"several packages give a format {name!r}: {listed}; uninstall all but one"
                )
            rows[name] = _load(name, *packages[0], [*known_rows(), *rows.values()])
        except MissingDependencyError as error:
            problems[name] = str(error)
    return rows, problems


def _load(name: str, package: str, point: Any, others: Sequence[Format]) -> Format:
    try:
        given = point.load()
    except Exception as error:  # the module of another package may raise anything
        raise broken(name, package, error) from error
    try:
        if not isinstance(given, Format):
            raise ValueError(f"the entry point gives a {type(given).__name__}, no sheetarray.registry.Format")
        if given.name != name:
            raise ValueError(f"the entry point's name is {name!r}, and its format's {given.name!r}")
        check_row(given)
        check_free(given, others, signatures=False)
    except ValueError as error:
        raise broken(name, package, str(error)) from error
    return replace(given, package=package)


# From a name, a path, a URL or an open file to its format.

_HEAD = 4096  # bytes in which a signature is looked for

_registered: dict[str, Format] = {}


class _Formats(Mapping[str, Format]):
    """A read-only mapping of names to formats, in alphabetical order.

    Other packages with formats are loaded when you list all formats, or ask for a name that sheetarray does not have.
    """

    def __getitem__(self, name: str) -> Format:
        row = INSIDE.get(name) or _registered.get(name)
        if row is None and name in self:
            rows, problems = _load_entries()
            if name in problems:
                raise MissingDependencyError(problems[name])
            row = rows[name]
        if row is None:
            raise KeyError(name)
        return row

    def __contains__(self, name: object) -> bool:
        return name in INSIDE or name in _registered or any(name == known for known, _, _ in entries())

    def __iter__(self) -> Iterator[str]:
        return iter(sorted([*INSIDE, *_registered, *_load_entries()[0]]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<formats: {', '.join(self)}>"

    @property
    def problems(self) -> list[str]:
        """The problems with formats of installed packages that cannot be used."""
        return [*_load_entries()[1].values()]


FORMATS = _Formats()


def known_rows() -> list[Format]:
    """Return the formats of this package and those that were registered: no other package has to be loaded for them."""
    return [*INSIDE.values(), *_registered.values()]


def find_composite() -> str | None:
    """Return the module that spreads awkward arrays over columns; None if their adapter was deleted."""
    return next((row.composite for row in INSIDE.values() if row.composite is not None), None)


def register_format(row: Format) -> None:
    """Add a format, until this process ends. A package can declare its formats by entry points instead.

    Args:
        row: the format. Its module may be `__main__`. You can register the same row again.

    Raises:
        ValueError: another format has this name, suffix or prefix, or a field of the row is malformed.

    Example:
        >>> register_format(Format(name="mine", suffixes=(".csv",), module="__main__", stem="mine", title="my own"))
        Traceback (most recent call last):
        ValueError: '.csv' belongs to csv already
    """
    check_row(row)
    if _registered.get(row.name) == row:
        return
    check_free(row, [*known_rows(), *_load_entries()[0].values()])
    _registered[row.name] = row


def format_of(source: Any, name: str | None = None, *, reading: bool = False) -> Format:
    """Return the row of the format that a path, a URL or an open file has, or of the format called `name`.

    Args:
        source: the path, the URL or the open file.
        name: the name of the format; None finds it.
        reading: if formats share a suffix, read the beginning of the file to tell them apart.

    Raises:
        NotFoundError: the format cannot be found. The message lists the formats that exist.
        MissingDependencyError: the package of the format cannot be loaded.
        OSError: with `reading`, the file does not exist.
    """
    if (row := _format_by_object(source)) is not None:
        if name not in (None, row.name):
            raise TypeError(f"format={name!r} is for files: a {type(source).__name__} is a {row.title}")
        return row
    row = _by_name(name) if name is not None else _format_by_suffix(source, reading)
    head = None
    for other in known_rows() if reading and not row.signature else ():
        if other.signature and not set(row.suffixes).isdisjoint(other.suffixes):
            head = (read_head(source) or b"") if head is None else head
            if other.signature.search(head):
                return other
    return row


def find_format(verb: str, place: Any, format: str | None, options: Mapping[str, Any]) -> Format:
    """Return the format of a place, once the options are known to be its adapter's.

    Raises:
        NotFoundError: no such format, or it has no such verb.
        TypeError: it has no such option, or takes no file that was opened for text.
        ValueError: the file is closed.
    """
    writes = verb in ("write", "write_table")
    if iscoroutinefunction(getattr(place, "read", None)):
        raise TypeError(
            f"a file whose methods are coroutines: give the file in it, such as {type(place).__name__}.file"
        )
    row = format_of(place, format, reading=not writes)
    if not row.text and isinstance(place, io.TextIOBase):
        raise TypeError(f"a file opened for text: open it with mode {'wb' if writes else 'rb'!r} for {row.title}")
    if getattr(place, "closed", False):
        raise ValueError(f"{getattr(place, 'name', 'the file')}: the file is closed: open it again, or give its path")
    known = row.options(verb)
    check_kinds(Callable | None, "a function of the cells done and the cells in all", progress=options.get("progress"))
    for option in options:
        if option not in known:
            if "table" in known:
                from ..tables import TableOptions

                known = [*(name for name in known if name != "table"), *(one.name for one in fields(TableOptions))]
            meant = nearest(option, known)
            has = f"it has {', '.join(known)}" if meant is None else f"did you mean {meant}?"
            has = OPTIONS.get(option) or row.instead_of(option).format(verb=verb) or has
            raise TypeError(f"{verb} has no option {option!r} for {row.title}; {has}")
    return row


def known_options(source: Any, format: str | None, options: Mapping[str, Any], verb: str) -> dict[str, Any]:
    """Return those of the options for `read` that another verb has too."""
    known = format_of(source, format, reading=True).options(verb)
    return {name: value for name, value in options.items() if name in known}


def locate_place(place: Any, storage_options: Mapping[str, Any] | None = None, format: str | None = None) -> Any:
    """Return a path, or a `RemoteFile` with its storage options; the URL of a service, an object of another library and
    an open file as they are.

    Args:
        place: a path, a URL or an open file.
        storage_options: options of the file system of a URL.
        format: as for `format_of`; one without prefixes is a file's, whatever the URL begins with.
    """
    if not _is_service(place, format):
        return locate(place, storage_options)
    if storage_options:
        raise ValueError("storage_options are for files under a URL, and this is not a URL")
    return place


def locate_places(
    places: Sequence[tuple[Any, str | None]], storage_options: Mapping[str, Any] | None = None
) -> list[Any]:
    """Return places as `locate_place` does; storage options go to each that takes them.

    Args:
        places: paths, URLs and open files, each with its format.
        storage_options: options of the file systems of URLs.
    """
    taking = [takes_options(place) and not _is_service(place, name) for place, name in places]
    if storage_options and not any(taking):
        taking[0] = True  # says what is wrong with them
    return [
        locate_place(place, storage_options if takes else None, name)
        for (place, name), takes in zip(places, taking, strict=True)
    ]


def _is_service(place: Any, format: str | None) -> bool:
    """Return whether a place is no file: the URL of a service, or an object such as a workbook."""
    if not isinstance(place, str):
        return _format_by_object(place) is not None
    return is_url(place) and place.startswith(format_of(place, format).prefixes or "\0")


def is_place(value: Any) -> bool:
    """Return whether a value is what `read` takes, a path, an open file or such an object; arrays are not."""
    is_file = isinstance(value, (str, os.PathLike)) or hasattr(value, "read") or hasattr(value, "read_bytes")
    return is_file or _format_by_object(value) is not None


def _format_by_object(place: Any) -> Format | None:
    """Return the format of an object of another library, such as a workbook of openpyxl; None for any other place."""
    if isinstance(place, (str, PurePath, RemoteFile, io.IOBase)):
        return None
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(place).__mro__}
    return next((row for row in known_rows() if not kinds.isdisjoint(row.objects)), None)


def _by_name(name: str) -> Format:
    if not isinstance(name, str):
        raise TypeError(f"format is a name such as 'csv', not {name!r:.80}")
    try:
        return FORMATS[name]
    except KeyError:
        raise NotFoundError(f"{name_problem(name, list(FORMATS.values()))}{_warn_of_problem()}") from None


def _format_by_suffix(source: Any, reading: bool) -> Format:
    is_path = isinstance(source, (str, os.PathLike))
    if not is_path and not any(hasattr(source, verb) for verb in ("read", "write", "open")):
        raise TypeError(source_problem(source))
    text = os.fspath(source) if is_path else getattr(source, "name", None)
    row = None
    if isinstance(text, str):
        place = source if isinstance(source, RemoteFile) else text
        row = _match(place, known_rows()) or _match(place, [*_load_entries()[0].values()])
    if row is None and reading and not is_path:
        row = _format_by_content(source)
    if row is not None:
        return row
    if not isinstance(text, str):
        names = ", ".join(FORMATS)
        if reading and not read_head(source) and _position(source):
            raise NotFoundError("the open file is at its end: file.seek(0) goes to its start")
        raise NotFoundError(f"a file without a name: say which format, for example format='csv' ({names})")
    raise NotFoundError(f"{place_problem(text, list(FORMATS.values()))}{_advice(text)}{_warn_of_problem()}")


def _position(file: Any) -> int:
    """Return where an open file is read next; 0 if it cannot say."""
    try:
        return int(file.tell())
    except (AttributeError, OSError, ValueError, TypeError):
        return 0


def _format_by_content(file: Any) -> Format | None:
    """Return the format of an open file by what it begins with; None if nobody knows, as of a pipe."""
    head = read_head(file)
    if head is None:
        return None
    if head.startswith(b"PK\x03\x04"):
        head = b"PK\n" + b"".join(f"{name}\n".encode("utf-8", "replace") for name in _read_members(file))
    return next((row for row in known_rows() if row.magic is not None and row.magic.match(head)), None)


def _read_members(file: Any) -> list[str]:
    """Return the names of the members of a zip archive; none if it is damaged, as its adapter will say."""
    import zipfile

    try:
        with rewinding(file), Source(file) as opened, opened.open_again() as again, zipfile.ZipFile(again) as archive:
            return archive.namelist()
    except (FormatError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return []


def _advice(text: str) -> str:
    return "" if "\n" in text or "://" in text or os.path.isdir(text) else " (or name the format with format=)"


def _match(place: str | RemoteFile, rows: Sequence[Format]) -> Format | None:
    """Return the format that a path or a URL means; one by its prefix before one by its suffix."""
    for row in rows:
        if row.prefixes and os.fspath(place).startswith(row.prefixes):
            return row
    lowered = name_part(place).lower().rstrip("/\\")  # a folder as the shell completes its name
    bare = os.path.splitext(lowered)[0] if lowered.endswith(COMPRESSIONS) else None
    for row in rows:
        suffixes = () if row.signature else row.suffixes  # with a signature, the suffix alone is not enough
        if lowered.endswith(suffixes) or (bare is not None and row.compressible and bare.endswith(suffixes)):
            return row
    return None


def _warn_of_problem() -> str:
    return "".join(f"; {problem}" for problem in FORMATS.problems)


def read_head(source: Any) -> bytes | None:
    """Return the first 4 KiB of a source, inflated; None if they can be read only once, as those of a pipe."""
    try:
        if isinstance(source, (str, os.PathLike)):
            source = locate(source)
            if not isinstance(source, RemoteFile) and not stat.S_ISREG(os.stat(source).st_mode):
                return None
        with rewinding(source), Source(source) as opened:
            return opened.prefix(_HEAD)
    except (FormatError, AttributeError, io.UnsupportedOperation):  # the adapter's error says more
        return None


@contextmanager
def rewinding(source: Any) -> Iterator[None]:
    """Set an open file back to where it stands now."""
    if not hasattr(source, "read"):
        yield
        return
    if hasattr(source, "seekable") and not source.seekable():
        raise io.UnsupportedOperation
    at = source.tell()
    try:
        yield
    finally:
        source.seek(at)
