"""From a name, a path, a URL or an open file to its format."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from inspect import iscoroutinefunction
from operator import attrgetter
from pathlib import PurePath
from typing import Any

from ..errors import FormatError, NotFoundError, check_kinds
from ..files import COMPRESSIONS, RemoteFile, Source, is_url, locate, name_part, takes_options
from ..renamed import option_error
from .inside import INSIDE, SHARED
from .outside import find_declared, load_row
from .refusals import name_problem, place_problem, source_problem
from .row import HEAD, Format, check_row, check_unclaimed, options_of

_FILES = (str, PurePath, RemoteFile, io.IOBase)  # no objects of other libraries
_WRITING = ("write", "write_table")
_OF_VALUES = sys.stdlib_module_names | {"numpy", "pandas", "polars", "pyarrow", "xarray", "awkward", "sheetarray"}

_rows: dict[str, Format] = {**INSIDE}  # of this package and registered: no other package has to be found for them


class _Formats(Mapping[str, Format]):
    """A read-only mapping of names to formats, in alphabetical order. The package of a format is imported when you ask
    for the format, not when you list the names.
    """

    def __getitem__(self, name: str) -> Format:
        if (row := _rows.get(name)) is not None:
            return row
        declared = find_declared()
        if name in declared.rows or name in declared.problems:
            return load_row(name)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in _rows or name in find_declared().rows

    def __iter__(self) -> Iterator[str]:
        return iter(sorted([*_rows, *find_declared().rows]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<formats: {', '.join(self)}>"

    @property
    def problems(self) -> list[str]:
        """The problems with formats of installed packages that cannot be used."""
        return [*find_declared().problems.values()]


FORMATS = _Formats()


def list_rows() -> list[Format]:
    """Return all formats by name. Those of other packages are given as declared, without importing a package."""
    return sorted([*_rows.values(), *find_declared().rows.values()], key=attrgetter("name"))


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
    if row.name not in INSIDE and _rows.get(row.name) == row:
        return
    check_unclaimed(row, [*_rows.values(), *find_declared().rows.values()])
    _rows[row.name] = row


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
    if not isinstance(source, _FILES) and (row := _format_by_object(source)) is not None:
        if name not in (None, row.name):
            raise TypeError(f"format={name!r} is for files: a {type(source).__name__} is a {row.title}")
        return row
    if name is not None:
        return _by_name(name, source, reading)
    place = os.fspath(source) if isinstance(source, PurePath) else source
    place = place if isinstance(place, (str, RemoteFile)) else _path_of(source)
    rows = [] if place is None else _match(place, _rows.values())
    if len(rows) == 1 and (not reading or SHARED.isdisjoint(rows[0].suffixes)):
        return rows[0]  # as a rule
    return _format_of_claims(source, place, rows, reading)


def find_format(verb: str, place: Any, format: str | None, options: Mapping[str, Any]) -> Format:
    """Return the format of a place, once the options are known to be its adapter's.

    Raises:
        NotFoundError: no such format, or it has no such verb.
        TypeError: it has no such option, or takes no file that was opened for text.
        ValueError: the file is closed.
    """
    if iscoroutinefunction(getattr(place, "read", None)):
        raise TypeError(
            f"a file whose methods are coroutines: give the file in it, such as {type(place).__name__}.file"
        )
    row = format_of(place, format, reading=verb not in _WRITING)
    if not isinstance(place, (str, os.PathLike)):
        _check_open(place, row, verb)
    names = options_of(row.function(verb))
    for option in options:
        if option not in names:
            raise _option_error(row, verb, option, names)
    if "progress" in options:
        check_kinds(Callable | None, "a function of the cells done and the cells in all", progress=options["progress"])
    return row


def _check_open(file: Any, row: Format, verb: str) -> None:
    """Refuse an open file that is closed, or that was opened for text where the format has bytes."""
    if not row.text and isinstance(file, io.TextIOBase):
        mode = "wb" if verb in _WRITING else "rb"
        raise TypeError(f"a file opened for text: open it with mode {mode!r} for {row.title}")
    if getattr(file, "closed", False):
        raise ValueError(f"{getattr(file, 'name', 'the file')}: the file is closed: open it again, or give its path")


def _option_error(row: Format, verb: str, option: str, names: Sequence[str]) -> TypeError:
    """Return the error for an option that a format does not have, with the name that may be meant."""
    if "table" in names:
        from ..tables import TableOptions

        names = [*(name for name in names if name != "table"), *(field.name for field in fields(TableOptions))]
    return option_error(verb, option, names, of=row.title, instead=row.instead_of(option).format(verb=verb))


def known_options(source: Any, format: str | None, options: Mapping[str, Any], verb: str) -> dict[str, Any]:
    """Return those of the options for `read` that another verb has too."""
    names = format_of(source, format, reading=True).options(verb)
    return {name: value for name, value in options.items() if name in names}


def locate_place(
    place: Any, storage_options: Mapping[str, Any] | None = None, format: str | None = None, client: Any = None
) -> Any:
    """Return a path, or a `RemoteFile` with its storage options; the URL of a service, an object of another library and
    an open file as they are.

    `format`: as for `format_of`; one without prefixes is a file's, whatever the URL begins with. `client`: of a
    service, if there is one: then a bare key, such as that of a spreadsheet, is a URL.
    """
    if isinstance(place, str) and client is not None and format is None and not is_url(place):
        place = _url_of_key(place)
    if isinstance(place, PurePath) or (isinstance(place, str) and "://" not in place) or not is_service(place, format):
        return locate(place, storage_options)
    if storage_options:
        raise ValueError("storage_options are for files under a URL, and this is not a URL")
    return place


def _url_of_key(text: str) -> str:
    """Return the URL that a bare key means to a service; the text as it is, if it is no key of any."""
    for row in INSIDE.values():
        if row.prefixes:
            with suppress(NotFoundError):
                return str(row.function("url_of_key")(text))
    return text


def locate_places(
    places: Sequence[tuple[Any, str | None]], storage_options: Mapping[str, Any] | None = None, client: Any = None
) -> list[Any]:
    """Return places as `locate_place` does; storage options go to each that takes them.

    Args:
        places: paths, URLs and open files, each with its format.
        storage_options: options of the file systems of URLs.
        client: as for `locate_place`.
    """
    taking = [takes_options(place) and not is_service(place, name) for place, name in places]
    if storage_options and not any(taking):
        taking[0] = True  # says what is wrong with them
    return [
        locate_place(place, storage_options if takes else None, name, client)
        for (place, name), takes in zip(places, taking, strict=True)
    ]


def is_service(place: Any, format: str | None = None) -> bool:
    """Return whether a place is no file: the URL of a service, or an object such as a workbook."""
    if not isinstance(place, str):
        return not isinstance(place, _FILES) and _format_by_object(place) is not None
    return is_url(place) and place.startswith(format_of(place, format).prefixes or "\0")


def is_service_url(text: str) -> bool:
    """Return whether a text is the URL of a service, and no file."""
    return any(text.startswith(row.prefixes) for row in _rows.values() if row.prefixes)


def is_place(value: Any) -> bool:
    """Return whether a value is what `read` takes, a path, an open file or such an object; arrays are not."""
    is_file = isinstance(value, (str, os.PathLike)) or hasattr(value, "read") or hasattr(value, "read_bytes")
    return is_file or _format_by_object(value) is not None


def _format_by_object(place: Any) -> Format | None:
    """Return the format of an object of another library, such as a workbook of openpyxl; None for any other place."""
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(place).__mro__}
    names = {f"{package}.{name}" for package, name in kinds}
    if (row := next((row for row in _rows.values() if not names.isdisjoint(row.objects)), None)) is not None:
        return row
    if _OF_VALUES.issuperset(package for package, _ in kinds):
        return None  # and no package has to be found
    names |= {package for package, _ in kinds}
    for row in find_declared().rows.values():
        if not names.isdisjoint(row.objects) and not names.isdisjoint((whole := load_row(row.name)).objects):
            return whole
    return None


def _by_name(name: str, source: Any, reading: bool) -> Format:
    """Return the format of that name; of those of JSON, which all are called "json", the one that is recognised."""
    if not isinstance(name, str):
        raise TypeError(f"format is a name such as 'csv', not {name!r:.80}")
    try:
        row = FORMATS[name]
    except KeyError:
        raise NotFoundError(f"{name_problem(name, list_rows())}{_warn_of_problem()}") from None
    rows = [other for other in _rows.values() if not set(row.suffixes).isdisjoint(other.suffixes)]
    return _choose(source, rows) if reading and rows[:1] == [row] else row


def _format_of_claims(source: Any, place: str | RemoteFile | None, rows: list[Format], reading: bool) -> Format:
    """Return the format of a source whose suffix none of our formats has alone; `rows`: those of ours that have it."""
    if place is not None and (not rows or (reading and any(not SHARED.isdisjoint(row.suffixes) for row in rows))):
        rows += _match(place, find_declared().rows.values())
    if rows:
        return _whole(_choose(source, rows) if reading else _find_owner(source, rows))
    if reading and not isinstance(source, (str, os.PathLike)) and (row := _format_by_content(source)) is not None:
        return _whole(row)
    if place is None:
        names = ", ".join(FORMATS)
        if reading and not read_head(source) and _position(source):
            raise NotFoundError("the open file is at its end: file.seek(0) goes to its start")
        raise NotFoundError(f"a file without a name: say which format, for example format='csv' ({names})")
    text = os.fspath(place)
    raise NotFoundError(f"{place_problem(text, list_rows())}{_advice(text)}{_warn_of_problem()}")


def _path_of(source: Any) -> str | None:
    """Return the path that an object stands for, or the name of an open file; None if it is no text.

    Raises:
        TypeError: the source is neither.
    """
    is_path = isinstance(source, os.PathLike)
    if not is_path and not any(hasattr(source, verb) for verb in ("read", "write", "open")):
        raise TypeError(source_problem(source))
    text = os.fspath(source) if is_path else getattr(source, "name", None)
    return text if isinstance(text, str) else None


def _position(file: Any) -> int:
    """Return where an open file is read next; 0 if it cannot say."""
    try:
        return int(file.tell())
    except (AttributeError, OSError, ValueError, TypeError):
        return 0


def _whole(row: Format) -> Format:
    """Return a row with all that its package gives, if it is one that another package has declared."""
    return row if row.package is None or row.name in _rows else load_row(row.name)


def _choose(source: Any, rows: Sequence[Format]) -> Format:
    """Return the format of a source that has the suffix of several: the last that is recognised, or the owner."""
    head = (read_head(source) or b"") if len(rows) > 1 else b""
    return _recognise(head, rows) or _find_owner(source, rows)


def _find_owner(source: Any, rows: Sequence[Format]) -> Format:
    """Return the format that owns a suffix: the only one, sheetarray's, or the first without magic."""
    owner = rows[0]
    if len(rows) > 1 and owner.magic is not None and owner.name not in INSIDE:
        text = os.fspath(source if isinstance(source, (str, os.PathLike)) else source.name)
        raise NotFoundError(f"{place_problem(text, rows)}{_advice(text)}")
    return owner


def _recognise(head: bytes, rows: Sequence[Format]) -> Format | None:
    """Return the format that the first bytes of a source show; sheetarray's own come last."""
    return next((row for row in reversed(rows) if row.magic is not None and row.magic.search(head)), None)


def _format_by_content(file: Any) -> Format | None:
    """Return the format of an open file by what it begins with; None if nobody knows, as of a pipe."""
    head = read_head(file)
    if head is None:
        return None
    if (row := _recognise(head, [*find_declared().rows.values()])) is not None:
        return row
    if head.startswith(b"PK\x03\x04"):
        head = b"PK\n" + b"".join(f"{name}\n".encode("utf-8", "replace") for name in _read_members(file))
    return _recognise(head, [*_rows.values()])


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


def _match(place: str | RemoteFile, rows: Iterable[Format]) -> list[Format]:
    """Return the formats that a path or a URL may have: one by its prefix before all by its suffix."""
    rows, text = list(rows), os.fspath(place)
    if "://" in text:
        text = name_part(place)
        for row in rows:
            if row.prefixes and os.fspath(place).startswith(row.prefixes):
                return [row]
    lowered = text.lower().rstrip("/\\")  # a folder as the shell completes its name
    bare = os.path.splitext(lowered)[0] if lowered.endswith(COMPRESSIONS) else "\0"
    return [row for row in rows if lowered.endswith(row.suffixes) or (row.compressible and bare.endswith(row.suffixes))]


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
            return opened.prefix(HEAD)
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
