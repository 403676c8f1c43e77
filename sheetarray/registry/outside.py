"""The formats that installed packages give: entry points of the group `sheetarray.formats`.

An entry point's name is the name of its format, and its object a `Format`:

    [project.entry-points."sheetarray.formats"]
    colors = "my_package:COLORS"

No package is loaded, nor even looked for, until somebody asks for a name or a suffix that no format of sheetarray has,
or for the list of all formats. A package that cannot be loaded, or that claims a name, suffix or prefix of another
format, is an error when its own format is asked for by name, and is mentioned in the message if no format fits. Other
formats work as before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from ..errors import MissingDependencyError
from .row import Format, broken, check_free, check_row

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


def find_row(name: str, inside: Iterable[Format]) -> Format | None:
    """Return the format of a name from the package that gives it, or None if no package does.

    Raises:
        MissingDependencyError: the package cannot be loaded, or its format cannot be used.
    """
    matching = [(package, point) for known, package, point in entries() if known == name]
    if not matching:
        return None
    if len(matching) > 1:
        packages = ", ".join(package for package, _ in matching)
        raise MissingDependencyError(f"several packages give a format {name!r}: {packages}; uninstall all but one")
    ((package, point),) = matching
    return _load(name, package, point, inside)


def all_rows(inside: Iterable[Format]) -> tuple[list[Format], list[str]]:
    """Return the formats of all packages that work, and sentences on those that do not."""
    rows: list[Format] = []
    problems: list[str] = []
    inside = list(inside)
    for name in dict.fromkeys(known for known, _, _ in entries()):
        try:
            row = find_row(name, inside)
            assert row is not None
            _claim(row, rows)
        except MissingDependencyError as error:
            problems.append(str(error))
        else:
            rows.append(row)
    return rows, problems


def _load(name: str, package: str, point: Any, inside: Iterable[Format]) -> Format:
    try:
        given = _object_of(point)
    except Exception as error:  # the module of another package may raise anything
        raise broken(name, package, error) from error
    if not isinstance(given, Format):
        raise broken(name, package, f"the entry point gives a {type(given).__name__}, no sheetarray.registry.Format")
    row = replace(given, package=package)
    if row.name != name:
        raise broken(name, package, f"the entry point's name is {name!r}, and its format's {row.name!r}")
    try:
        check_row(row)
    except ValueError as error:
        raise broken(name, package, str(error)) from error
    _claim(row, inside)
    return row


@cache
def _object_of(point: Any) -> Any:
    return point.load()


def _claim(row: Format, others: Iterable[Format]) -> None:
    try:
        check_free(row, others, signatures=False)
    except ValueError as error:
        raise broken(row.name, row.package or "?", str(error)) from error
