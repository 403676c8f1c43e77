"""The body of a delimited text, parsed by the columnar engine: columns of numbers, or of numbers and text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

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

    Args:
        source: the text, or its file.
        columns: the engine's dtype of each column, by its number from 0 on without a gap.
        delimiter: between cells.
        skip_lines: the number of line feeds before the first row.
        wanted: the columns to return; None for all.
    """
    schema = {_column_name(column): columns[column] for column in sorted(columns)}
    options = {"quote_char": None, "extra_columns": "raise"}
    returned = columns if wanted is None else wanted
    return _parse_with_engine(source, schema, returned, separator=delimiter, skip_lines=skip_lines, **options)


def parse_columns(
    source: Path | bytes, columns: Mapping[int, Any], *, delimiter: str, skip_lines: int, decimal_comma: bool
) -> ParsedColumns | None:
    """Return some columns of a text whose quotes only open and close cells; None where the engine refuses it.

    Args:
        source: the text, or its file.
        columns: the engine's dtype of each column that is wanted, by its number from 0.
        delimiter: between cells.
        skip_lines: the number of line feeds before the first row.
        decimal_comma: whether the decimal mark of numbers is a comma.
    """
    import polars as pl

    schema = {_column_name(column): columns.get(column, pl.String) for column in range(max(columns) + 1)}
    options = {"truncate_ragged_lines": True, "extra_columns": "ignore", "decimal_comma": decimal_comma}
    return _parse_with_engine(source, schema, columns, separator=delimiter, skip_lines=skip_lines, **options)


def parse_texts(source: Path | bytes, width: int, *, delimiter: str, quotes: bool = True) -> list[pl.Series] | None:
    """Return all columns of a text as text; None where a row has more cells than there are columns, or the engine
    refuses.

    Args:
        source: the text, or its file.
        width: the number of columns.
        delimiter: between cells.
        quotes: whether a quote may begin a cell that ends with one.
    """
    import polars as pl

    options: dict[str, Any] = {} if quotes else {"quote_char": None}
    columns = dict.fromkeys(range(width), pl.String)
    schema = {_column_name(column): pl.String for column in range(width)}
    parsed = _parse_with_engine(source, schema, columns, separator=delimiter, extra_columns="raise", **options)
    return None if parsed is None else [parsed[column] for column in range(width)]


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
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    return dict(zip(wanted, frame.get_columns(), strict=True))


def _column_name(column: int) -> str:
    return f"column_{column + 1}"
