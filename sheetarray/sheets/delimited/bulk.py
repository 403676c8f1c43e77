"""Rows without quotes, parsed by the columnar engine: columns of numbers, or of numbers and text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .search import Units

if TYPE_CHECKING:
    import polars as pl

_LOOKED_AT = 2**17  # bytes that are looked at for returns: they and what is made of them stay in the processor's cache
_RETURN, _FEED = ord("\r"), ord("\n")

ParsedColumns = dict[int, "pl.Series"]


def parse_numbers(
    source: Path | bytes,
    columns: Mapping[int, Any],
    *,
    delimiter: str,
    skip_lines: int,
    wanted: Iterable[int] | None = None,
) -> ParsedColumns | None:
    """Return the columns of a text that has no others, all of numbers; None if one is text, or if the engine refuses.

    Quotes and rows with too many cells need not be looked for before: the engine takes neither for a number. The
    arguments are those of `parse_unquoted`.
    """
    if not all(dtype.is_numeric() for dtype in columns.values()):
        return None
    return parse_unquoted(source, columns, delimiter=delimiter, skip_lines=skip_lines, wanted=wanted)


def parse_unquoted(
    source: Path | bytes,
    columns: Mapping[int, Any],
    *,
    delimiter: str,
    skip_lines: int,
    wanted: Iterable[int] | None = None,
) -> ParsedColumns | None:
    """Return the columns of a text that has no others and no quotes; None if the engine refuses, or a row has more
    cells.

    `columns`: the engine's dtype of each column, by its number from 0 on without a gap. `skip_lines`: the number of
    line feeds before the first row. `wanted`: the columns to return; None for all.
    """
    schema = {_column_name(column): columns[column] for column in sorted(columns)}
    options = {"quote_char": None, "extra_columns": "raise"}
    returned = columns if wanted is None else wanted
    return _parse_with_engine(source, schema, returned, separator=delimiter, skip_lines=skip_lines, **options)


def _parse_with_engine(
    source: Path | bytes, schema: Mapping[str, Any], columns: Iterable[int], **options: Any
) -> ParsedColumns | None:
    import polars as pl

    wanted = sorted(columns)
    try:
        frame = pl.read_csv(
            source,
            has_header=False,
            schema=schema,
            columns=[_column_name(column) for column in wanted],
            missing_columns="insert",
            raise_if_empty=False,
            glob=False,
            **options,
        )
    except pl.exceptions.PolarsError:
        return None
    return dict(zip(wanted, frame.get_columns(), strict=True))


def _column_name(column: int) -> str:
    return f"column_{column + 1}"


def has_lone_returns(content: Units, start: int) -> bool:
    """Return whether a carriage return stands without a line feed after it."""
    returns, others = np.empty(_LOOKED_AT, np.bool_), np.empty(_LOOKED_AT, np.bool_)
    for first in range(start, len(content) - 1, _LOOKED_AT):
        units = content[first : first + _LOOKED_AT + 1]
        count = len(units) - 1
        np.equal(units[:-1], _RETURN, out=returns[:count])
        np.not_equal(units[1:], _FEED, out=others[:count])
        if np.logical_and(returns[:count], others[:count], out=returns[:count]).any():
            return True
    return len(content) > start and int(content[-1]) == _RETURN
