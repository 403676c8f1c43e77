"""The formats of other packages, as each package declares them in its `sheetarray_formats.json`; nothing is imported.

A package has an entry point for each of its formats, in the group `sheetarray.formats`. Its name is the name of the
format, and its object a `Format`. Beside the module of the entry point, the package has the file:

    [{"name": "inks", "suffixes": [".inks", ".json"], "magic": [{"offset": 0, "bytes": "%INK"}],
      "objects": ["inklib.Picture"], "prefixes": ["inks://"], "compressible": false}]

Only `name` has to be there, and one of `suffixes`, `prefixes` and `objects`. Each character of `bytes` is one byte,
`\\u0000` to `\\u00ff`. They stand at the offset; without an offset, anywhere in the first 4 KiB. One of them is enough.
An object is a class, as for `Format`, or a top-level package for all of its classes.

The files are looked for when a name, a suffix, an object or an open file is not one of sheetarray's own formats, and
for a suffix that formats may share. A file that is wrong is an error of its own package, when somebody asks for its
format by name; it is mentioned if no format fits. Other formats work as before.
"""

from __future__ import annotations

import csv
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingDependencyError
from .inside import INSIDE, SHARED
from .row import HEAD, Format, broken_package_error, check_row, check_unclaimed

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

GROUP = "sheetarray.formats"
FILE = "sheetarray_formats.json"

_MOST_BYTES, _MOST_ITEMS, _LONGEST = 100_000, 100, 200  # of a file; of a list; of a text
_KEYS = ("name", "suffixes", "prefixes", "objects", "magic", "compressible")
_DAMAGED = (OSError, ValueError, TypeError, KeyError, AttributeError, csv.Error)  # of the metadata of a package


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry point of a package: the name of its format, and what the package declares of it, or what is wrong.

    What is wrong with a package as a whole has a name that is none of a format.
    """

    name: str
    package: str
    point: EntryPoint | None = None
    row: Format | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Declared:
    """What the installed packages declare.

    Attributes:
        rows: the formats by name, as far as they are declared: what finds them, and no more. A row that shares a suffix
            comes after the one that owns it.
        points: the entry points of these formats.
        problems: by name, what is wrong with the other formats.
    """

    rows: dict[str, Format]
    points: dict[str, EntryPoint]
    problems: dict[str, str]


@cache
def find_declared() -> Declared:
    """Look for the packages that give formats, once in a process, and return what they declare."""
    entries: dict[str, _Entry] = {}
    for name, group in groupby(sorted(_find_entries(), key=attrgetter("name", "package")), key=attrgetter("name")):
        first, *more = group
        if packages := ", ".join(dict.fromkeys(entry.package for entry in [first, *more] if more)):
            problem = f"several packages give a format {name!r}: {packages}; uninstall all but one"
            first = replace(first, row=None, problem=problem)
        entries[name] = first
    declared = Declared({}, {}, {name: entry.problem for name, entry in entries.items() if entry.problem})
    rows = [(entry.row, entry.point) for entry in entries.values() if entry.row and entry.point]
    for row, point in sorted(rows, key=lambda pair: pair[0].magic is not None):  # owners of suffixes first
        try:
            check_unclaimed(row, INSIDE.values(), shared=SHARED)
            check_unclaimed(row, declared.rows.values())
        except ValueError as error:
            declared.problems[row.name] = str(broken_package_error(row.name, str(row.package), str(error)))
        else:
            declared.rows[row.name], declared.points[row.name] = row, point
    return declared


@cache
def load_row(name: str) -> Format:
    """Import the package of a format, and return its row.

    Raises:
        MissingDependencyError: the package cannot be imported, or its row is not what the package declares.
    """
    declared = find_declared()
    if name in declared.problems:
        raise MissingDependencyError(declared.problems[name])
    row = declared.rows[name]
    package = str(row.package)
    try:
        given = declared.points[name].load()
    except Exception as error:  # the module of another package may raise anything
        raise broken_package_error(name, package, error) from error
    try:
        whole = _join(given, row)
        check_row(whole)
    except ValueError as error:
        raise broken_package_error(name, package, str(error)) from error
    return whole


def _join(given: Any, row: Format) -> Format:
    """Return the object of an entry point with what its package declares; refuse one that says something else."""
    if not isinstance(given, Format):
        raise ValueError(f"the entry point gives a {type(given).__name__}, no sheetarray.registry.Format")
    if given.name != row.name:
        raise ValueError(f"the entry point's name is {row.name!r}, and its format's {given.name!r}")
    for field in ("suffixes", "prefixes"):
        if getattr(given, field) not in ((), getattr(row, field)):
            raise ValueError(f"the {field} are {getattr(row, field)} in {FILE}, and {getattr(given, field)} in its row")
    if given.compressible is not row.compressible:
        raise ValueError(f"compressible is {row.compressible} in {FILE}, and {given.compressible} in its row")
    if absent := [kind for kind in given.objects if not {kind, kind.partition(".")[0]} & {*row.objects}]:
        raise ValueError(f"{FILE} has no object {absent[0]!r}")
    objects = given.objects or row.objects
    return replace(
        given, suffixes=row.suffixes, prefixes=row.prefixes, objects=objects, magic=row.magic, package=row.package
    )


def _find_entries() -> Iterator[_Entry]:
    """Yield the formats of all installed packages. If a package is installed twice, the first one counts."""
    from importlib.metadata import distributions  # takes as long as the rest of `import sheetarray`

    packages: set[str] = set()
    for distribution in distributions():
        package, problem = "?", None
        try:
            if GROUP not in (distribution.read_text("entry_points.txt") or ""):
                continue
            package = str((distribution.metadata.get_all("Name") or "?")[0])
            points = {point.name: point for point in distribution.entry_points if point.group == GROUP}
        except _DAMAGED as error:
            problem = f"the package {package} has damaged metadata ({error})"
        if (normal := re.sub(r"[-_.]+", "-", package).lower()) in packages:
            continue
        packages.add(normal)
        if problem is not None:
            yield _Entry(f"package {package}", package, problem=problem)
        else:
            yield from _declare(package, [*points.values()], distribution)


def _declare(package: str, points: Sequence[EntryPoint], distribution: Distribution) -> Iterator[_Entry]:
    """Yield the formats of a package."""
    rows: dict[str, Format] = {}
    wrong = None
    try:
        for path in _find_files(points, distribution):
            rows |= {row.name: replace(row, package=package) for row in _read_rows(path)}
        if not rows:
            wrong = f"it has no {FILE}"
    except (*_DAMAGED, ImportError, RecursionError) as error:
        wrong = f"its {FILE} is wrong: {error}"
    for name in {*rows} - {point.name for point in points}:
        problem = str(broken_package_error(name, package, f"it has no entry point {name!r}"))
        yield _Entry(f"package {package}: {name}", package, problem=problem)  # the name may be another package's
    for point in points:
        row = rows.get(point.name)
        if row is None:
            what = wrong or f"its {FILE} has no format {point.name!r}"
            yield _Entry(point.name, package, problem=str(broken_package_error(point.name, package, what)))
        else:
            yield _Entry(point.name, package, point, replace(row, module=point.value.partition(":")[0]))


def _find_files(points: Iterable[EntryPoint], distribution: Distribution) -> list[Path]:
    """Return the paths of the files of a package: those that were installed, or of a project that is edited in place
    those beside the modules of its entry points.
    """
    installed = [Path(str(distribution.locate_file(file))) for file in distribution.files or () if file.name == FILE]
    if installed:
        return installed
    from importlib.util import find_spec

    paths = []
    for module in dict.fromkeys(point.value.partition(":")[0].strip() for point in points):
        top, *rest = module.split(".")
        spec = find_spec(top)  # imports nothing, since it is no part of another package
        if spec is None:
            continue
        folders = spec.submodule_search_locations or [os.path.dirname(spec.origin or "")]
        places = [Path(folder, *rest[:depth], FILE) for folder in folders for depth in range(len(rest) + 1)]
        paths += [path for path in places if path.exists()]
    return list(dict.fromkeys(paths))


def _read_rows(path: Path) -> list[Format]:
    """Return the formats that a file declares."""
    state = os.stat(path)
    if not stat.S_ISREG(state.st_mode) or state.st_size > _MOST_BYTES:
        raise ValueError(f"it is no file of at most {_MOST_BYTES:,} bytes")
    items = json.loads(path.read_bytes())
    if not isinstance(items, list) or len(items) > _MOST_ITEMS:
        raise ValueError(f"it is no list of at most {_MOST_ITEMS} formats")
    rows = [_parse_row(item) for item in items]
    if len({row.name for row in rows}) < len(rows):
        raise ValueError("it has a format twice")
    return rows


def _parse_row(item: Any) -> Format:
    if not isinstance(item, dict) or "name" not in item:
        raise ValueError("a format is an object with a name")
    name = item["name"]
    if unknown := [key for key in item if key not in _KEYS]:
        raise ValueError(f"{name!r:.80} has the key {unknown[0]!r:.80}; known are {', '.join(_KEYS)}")
    if not isinstance(item.get("compressible", True), bool):
        raise ValueError(f"compressible of {name!r:.80} is neither true nor false")
    suffixes, prefixes, objects = (_parse_texts(item, key) for key in ("suffixes", "prefixes", "objects"))
    row = Format(
        name,
        suffixes,
        *("", "", ""),  # module, stem and title are in the row of the entry point
        prefixes=prefixes,
        objects=objects,
        compressible=item.get("compressible", True),
        magic=_parse_magic(item["magic"]) if "magic" in item else None,
    )
    check_row(row)
    return row


def _parse_texts(item: dict[str, Any], key: str) -> tuple[str, ...]:
    texts = item.get(key, [])
    if not isinstance(texts, list) or len(texts) > _MOST_ITEMS:
        raise ValueError(f"{key} is no list of at most {_MOST_ITEMS} texts")
    if not all(isinstance(text, str) and 0 < len(text) <= _LONGEST for text in texts):
        raise ValueError(f"{key} has something other than texts of at most {_LONGEST} characters")
    return tuple(texts)


def _parse_magic(items: Any) -> re.Pattern[bytes]:
    """Return an expression that is found in the beginning of a file if one of some texts stands where it should."""
    if not isinstance(items, list) or not 0 < len(items) <= _MOST_ITEMS:
        raise ValueError(f"magic is no list of one to {_MOST_ITEMS} objects")
    patterns = []
    for item in items:
        text, offset = (item.get("bytes"), item.get("offset")) if isinstance(item, dict) else (None, None)
        if not isinstance(text, str) or not 2 <= len(text) <= _LONGEST or item.keys() - {"bytes", "offset"}:
            raise ValueError(f"magic is bytes, 2 to {_LONGEST} characters, and maybe an offset; found {item!r:.80}")
        if not text.isascii() and max(text) > "\xff":
            raise ValueError(f"a character of magic is a byte, \\u0000 to \\u00ff; found {max(text)!r}")
        if "offset" in item and (type(offset) is not int or not 0 <= offset <= HEAD - len(text)):
            raise ValueError(f"magic stands in the first {HEAD} bytes; found the offset {offset!r:.80}")
        pattern = re.escape(text.encode("latin-1"))
        patterns.append(pattern if offset is None else rb"\A.{%d}%b" % (offset, pattern))
    return re.compile(rb"|".join(patterns), re.DOTALL)
