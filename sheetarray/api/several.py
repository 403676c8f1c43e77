"""Several tables in one call, `{"north": df1, "south": df2}`: a sheet each, in whatever has sheets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..elements import describe_object
from ..errors import DTypeError, LimitError, NotFoundError
from ..files import is_url
from ..labels import LabelledArrays
from ..registry import Format
from ..values import is_of, is_table, name_of
from .doors import SourceOrTarget


def split_tables(arrays: Any) -> dict[str, Any] | None:
    """Return the tables of a mapping by their titles; None for anything else that is written.

    Raises:
        DTypeError: a title that is not text, or arrays beside tables.
        LimitError: two titles that differ in upper and lower case alone.
    """
    if type(arrays) is not dict and (
        not isinstance(arrays, Mapping) or isinstance(arrays, LabelledArrays) or is_of(arrays, "xarray")
    ):
        return None
    tables = {key: table for key, table in arrays.items() if is_table(table)}
    if not tables:
        return None
    first = next(iter(tables))
    if others := [key for key in arrays if key not in tables]:
        raise DTypeError(
            f"{first!r:.60} is a table, which gets a sheet of its own, and {others[0]!r:.60} is an array: write the "
            'tables first, then the arrays, to a workbook with mode="a"'
        )
    titles = list(map(name_of, tables))
    folded = [title.casefold() for title in titles]
    if twice := [title for title in titles if folded.count(title.casefold()) > 1]:
        raise LimitError(f"two sheets would have the same title, {twice[0]!r:.60} and {twice[1]!r:.60}: rename one")
    return dict(zip(titles, tables.values(), strict=True))


def write_sheets(
    row: Format, target: SourceOrTarget, tables: Mapping[str, Any], options: Mapping[str, Any], *, plain: bool
) -> Mapping[str, Any]:
    """Write each table to a sheet of its own; return the source of each sheet, by title.

    `row`: the format of the target. `options`: of its `write`, or with `plain` of its `write_table`.

    Raises:
        DTypeError: the format has no sheets, or a table has a column that no array holds.
        LimitError: an option says the title, or a title or a table that no sheet can have; nothing is written.
    """
    for option in ("sheet", "worksheet"):
        if options.get(option) is not None:
            raise LimitError(f"{option}= is the title of one sheet, and these tables have theirs: leave it out")
    options = {name: value for name, value in options.items() if name not in ("sheet", "worksheet")}
    try:
        write = row.function("write_sheets")
    except NotFoundError:
        verb, suffix = "write_table" if plain else "write", (row.suffixes or (".csv",))[0]
        name, table = next(iter(tables.items()))
        raise DTypeError(
            f"{name}: {describe_object(table)} has columns of its own, and {row.title} has no sheets: write .xlsx, or "
            "an entry for each column, or a file for each, for name, table in tables.items(): "
            f"sa.{verb}(f'{{name}}{suffix}', table)"
        ) from None
    written: Mapping[str, Any] = write(target, tables, plain=plain, **{**row.writing, **options})
    return written


def first_url(places: Mapping[str, Any]) -> str | None:
    """Return the URL of the first sheet in a service; None for sheets of anything else."""
    first = next(iter(places.values()), None)
    return first if isinstance(first, str) and is_url(first) else None
