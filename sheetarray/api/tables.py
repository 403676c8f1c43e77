"""read_columns and write_table: ordinary tables, without headers of the exchange format."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ..columns.grid import Area, parse_area
from ..errors import DTypeError, SheetArrayError, SheetArrayWarning, check_kinds, naming_sheet, quote_names, warn_caller
from ..files import is_url
from ..formats import find_format, locate_place
from ..labels import build_dataset, build_frame, check_lengths, lay_out_labels
from ..linear.named import hold_stream, note_values, values_by_name

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import xarray as xr

    from ..elements import MissingOption, NaValues
    from ..elements.spelling import DecimalMark
    from ..linear.header import Order
    from ..tables import DTypes, Rows, Shapes

from .arrays import write_each_sheet
from .targets import SourceOrTarget, first_url, split_tables

MOST_NAMED = 100  # columns, in one warning


@overload
def read_columns(
    source: SourceOrTarget, columns: Sequence[str] | None = None, *, as_: Literal["arrow", "polars"], **options: Any
) -> pl.DataFrame: ...


@overload
def read_columns(
    source: SourceOrTarget, columns: Sequence[str] | None = None, *, as_: Literal["pandas"], **options: Any
) -> pd.DataFrame: ...


@overload
def read_columns(
    source: SourceOrTarget, columns: Sequence[str] | None = None, *, as_: Literal["dataset"], **options: Any
) -> xr.Dataset: ...


@overload
def read_columns(
    source: SourceOrTarget, columns: Sequence[str] | None = None, *, as_: Literal["numpy"] = "numpy", **options: Any
) -> dict[str, np.ndarray[Any, Any]]: ...


def read_columns(
    source: SourceOrTarget,
    columns: Sequence[str] | None = None,
    *,
    dtype: DTypes = None,
    shape: Shapes = None,
    order: Order = "row-major",
    missing: MissingOption = "nan",
    header: bool | int | None = None,
    skip_rows: Rows = 0,
    skip_footer: int = 0,
    nrows: int | None = None,
    comment: str | None = None,
    na_values: NaValues = (),
    decimal: DecimalMark | None = None,
    thousands: str | None = None,
    date_format: str | None = None,
    range: str | None = None,
    table: str | None = None,
    as_: Literal["numpy", "pandas", "polars", "arrow", "dataset"] = "numpy",
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, np.ndarray[Any, Any]] | pl.DataFrame | pd.DataFrame | xr.Dataset:
    """Return the columns of an ordinary table as arrays. The table needs no header of the exchange format.

    Args:
        source: a path, a URL, an open file, a workbook of openpyxl, or an object of gspread.
        columns: the names (or letters) of the columns to read; None reads all.
        dtype: the dtype of every column, or a mapping by name. `str` keeps text as it is. None infers dtypes that lose
            nothing: leading zeros stay text, ids beyond 2^53 stay exact, ISO dates become datetime64, and a decimal
            becomes a float if the float gives the same digits.
        shape: the shape of every column's array, or a mapping by name. One size may be -1; it is computed.
        order: "row-major" or "column-major": the order in which cells fill the shape.
        missing: "nan" reads blanks and error cells as NaN, NaT, "" or None, as it fits the dtype of the column; "error"
            refuses blanks and error cells.
        header: the number of rows that hold names; the names of several rows are joined by a blank. True is 1, False is
            0. None finds it from the kinds of the columns.
        skip_rows: how many rows above the table to skip, or a list of the rows to skip, counted from 0.
        skip_footer: how many rows at the end to skip, blank ones among them.
        nrows: how many rows of data to read at most; None reads all.
        comment: rows that begin with this text are skipped.
        na_values: texts or numbers that mean a missing value, besides blanks.
        decimal: the decimal mark; None finds it for the file.
        thousands: the mark between thousands in numbers; None for no mark.
        date_format: how dates are written, as for `datetime.strptime`, or "dayfirst" for dates such as 28/02/2024.
        range: read only these cells, such as "A1:C5" or "Sheet2!A:C". In .xlsx, openpyxl and Google Sheets, you can
            also pass the name of cells: a defined name or a named range.
        table: the name of an Excel Table, which has its own range, names and total row.
        as_: "numpy" gives a dict of arrays, "pandas" a DataFrame, "dataset" an xarray Dataset along dimension `row`.
            "polars" and "arrow" give a polars DataFrame, which DuckDB and pyarrow read without a copy; NaT and None are
            nulls in it.
        format: the name of a format; None chooses it by the suffix.
        storage_options: options of the file system of a URL, such as `anon`, or `key` and `secret`.
        **options: options of the format: `delimiter`, `encoding`, `quotechar`, `escapechar`, `formulas`; `client`,
            `credentials`, `timeout`; and `sheet`, a title or an index from 0. By default, the first sheet is read.
            `sheet=None` gives the columns of all sheets by their titles, none of a blank sheet. Views and guards do not
            count.

    Raises:
        DTypeError: Arrow cannot hold a column exactly, or a DataFrame cannot hold a column of several dimensions.
        FormatError: a cell does not fit the dtype, or a column does not fill its shape.
        NotFoundError: a column does not exist.

    Warns:
        SheetArrayWarning: something that was assumed is doubtful; the warning names the row and the option.

    Example:
        >>> import io
        >>> read_columns(io.StringIO("id,t\\n007,1.5\\n008,\\n"), format="csv")
        {'id': array(['007', '008'], dtype='<U3'), 't': array([1.5, nan])}
    """
    if as_ not in ("numpy", "pandas", "polars", "arrow", "dataset"):
        raise ValueError(f'as_ is "numpy", "pandas", "polars", "arrow" or "dataset", not {as_!r:.80}')
    source = locate_place(source, storage_options, format, options.get("client"))
    row = find_format("read_columns", source, format, options)
    from ..tables import TableOptions

    described = TableOptions(
        dtype=dtype,
        shape=shape,
        order=order,
        missing=missing,
        header=header,
        skip_rows=skip_rows,
        skip_footer=skip_footer,
        nrows=nrows,
        comment=comment,
        na_values=na_values,
        decimal=decimal,
        thousands=thousands,
        date_format=date_format,
        range=range,
        table=table,
        nullable=as_ == "pandas",
    )
    result: dict[str, Any] = row.function("read_columns")(source, columns, table=described, **options)
    if "sheet" in options and options["sheet"] is None:
        return {title: _give_columns(columns, as_) for title, columns in result.items()}
    given: dict[str, np.ndarray[Any, Any]] = _give_columns(result, as_)
    return given


def _give_columns(columns_read: dict[str, Any], as_: str) -> Any:
    """Return the columns of one table as what `as_` of `read_columns` names, and warn of what is doubtful."""
    from ..tables import TableColumns, warn_of

    if isinstance(columns_read, TableColumns):
        warn_of(columns_read.findings)
        columns_read = dict(columns_read)
    if as_ == "numpy":
        return columns_read
    if as_ == "pandas":
        return _to_pandas(columns_read)
    if as_ == "dataset":
        dims = {
            name: ("row", *(f"{name}_{axis}" for axis, _ in enumerate(array.shape[1:], 1)))
            for name, array in columns_read.items()
        }
        check_lengths(columns_read, None)
        return build_dataset(columns_read, None, dims)
    from ..tables.arrow import to_arrow

    return to_arrow(columns_read)


def _to_pandas(columns: dict[str, np.ndarray[Any, Any]]) -> pd.DataFrame:
    """Return columns of one dimension as a DataFrame."""
    deep = [name for name, array in columns.items() if array.ndim != 1]
    if deep:
        raise DTypeError(f"{quote_names(deep)}: a DataFrame holds columns of one dimension; as_='dataset' keeps shapes")
    check_lengths(columns, None)
    frame = build_frame(columns, None)
    for name, array in columns.items():
        if array.dtype == object and {*map(type, array.tolist())} == {int, type(None)}:
            frame[name] = frame[name].astype("Int64" if max(map(_or_zero, array.tolist())) < 2**63 else "UInt64")
    return frame


def _or_zero(number: int | None) -> int:
    return number or 0


def write_table(
    target: SourceOrTarget,
    table: Any,
    *,
    columns: str | None = None,
    format: str | None = None,
    verify: bool = True,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> str | None:
    """Write plain columns under one row of names, for other programs; `read_columns` reads them.

    The table has no header of the exchange format. Numbers have all their digits, and dates are dates. Times with a
    zone are written in UTC.

    The first columns are the index of a pandas DataFrame, unless it only counts rows, or the coordinates of a Dataset
    or DataArray. A Dataset gets a row for each combination of labels; a latitude begins in the north where the order is
    stored too. In .xlsx you get an Excel Table, named like its
    sheet. Workbooks, in files and in memory, and Google Sheets also store dtypes and labels, so `read`, `read_dataset`
    and `read_frame` return what you wrote.

    Args:
        target: a path, a URL, an open file (then with `format`), a Workbook or Worksheet of openpyxl or XlsxWriter, a
            pandas.ExcelWriter, or a Spreadsheet or Worksheet of gspread.
        table: a mapping of names to 1-D arrays of the same length, a DataFrame of pandas or polars, an Arrow table, a
            list of dictionaries, or a Dataset or DataArray of xarray. A mapping of titles to such tables writes a sheet
            for each, if the format has sheets.
        columns: the dimension of a Dataset or DataArray whose labels become the names of columns; None writes a row for
            each element.
        format: the name of a format; None chooses it by the suffix.
        verify: read the table back, and warn about each column that `read_columns` would read as other values or
            another kind.
        storage_options: options of the file system of a URL, such as `anon`, or `key` and `secret`.
        **options: options of the format: `na_rep`, the text of NaN and NaT, whose cells are blank by default;
            `delimiter`, `decimal`, `encoding`, `bom`, `formulas`; `sheet`, `at`, `mode`, `dates`, `guard`, `formats`,
            `if_sheet_exists`; `client`.

    Returns:
        The URL of the worksheet, if the target is in Google Sheets; otherwise None.

    Raises:
        DTypeError: an array is not 1-D, or cells cannot hold it.
        LimitError: the columns have different lengths, or there are too many columns. Nothing was written.
        TypeError: `columns` is not the name of one dimension.
        NotFoundError: the format does not exist, or cannot hold an ordinary table.

    Warns:
        SheetArrayWarning: columns will not come back the same, such as text of digits or times with a zone.

    Example:
        >>> import io
        >>> file = io.StringIO()
        >>> write_table(file, {"id": np.array(["007", "008"]), "t": np.array([1.5, 2.5])}, format="csv")
        >>> file.getvalue().splitlines()
        ['id,t', '007,1.5', '008,2.5']
    """
    check_kinds(str | None, "the name of a dimension", columns=columns)
    target = locate_place(target, storage_options, format, options.get("client"))
    table = hold_stream(table)
    row = find_format("write_table", target, format, options)
    merged = {**row.writing, **options}
    alike = ("encoding", "sheet", "client", "credentials", "timeout")
    reading: dict[str, Any] = {name: merged[name] for name in alike if name in merged}
    if row.prefixes and not isinstance(target, str):  # an object of a service has a client
        reading.setdefault("client", target.client)
    has_sheets = row.records_tables and not row.prefixes  # the URL of a service says the sheet
    is_place = isinstance(target, (str, os.PathLike)) and not _is_special(target)
    can_be_read = is_place or bool(row.prefixes or row.objects)
    if (tables := split_tables(table)) is not None:
        for title, each in tables.items():
            with naming_sheet(title):
                _warn_of_zones(each)
                tables[title] = lay_out_labels(each, columns, north_up=row.records_tables)
        places = write_each_sheet(row, target, tables, options, plain=True)
        if verify and not can_be_read:
            places = write_each_sheet(row, io.BytesIO(), tables, options, plain=True)
        for title, place in places.items() if verify else ():
            where = {"sheet": title} if has_sheets else _range_from(options.get("at"), tables[title])
            _warn_of_changes(place, tables[title], row.name, reading | where)
        return first_url(places)
    _warn_of_zones(table)
    table = lay_out_labels(table, columns, north_up=row.records_tables)
    other = None
    if can_be_read:
        other = row.function("write_table")(target, table, **merged)
        written: SourceOrTarget = target if other is None else other
    else:
        written = io.BytesIO()
        row.function("write_table")(written if verify else target, table, **merged)
        if verify:
            row.function("write_table")(target, table, **merged)
    if verify:
        if has_sheets:
            reading.setdefault("sheet", "table")
        elif isinstance(other, str):
            reading |= _range_from(options.get("at"), table)
        _warn_of_changes(written, table, row.name, reading)
    return other if isinstance(other, str) else None


def _warn_of_zones(table: Any) -> None:
    """Warn for each column of times with a time zone: a table has no place for the zone."""
    zones: dict[str, list[str]] = {}
    for name, note in note_values(table).items():
        if zone := note.zone:
            zones.setdefault(zone, []).append(name)
    for zone, names in zones.items():
        if zone != "UTC":
            warn_caller(
                f"{quote_names(names, MOST_NAMED)}: times of {zone} are written in UTC, as a table has no zones"
            )


def _range_from(at: str | None, table: Any) -> dict[str, Area]:
    """Return the range of a table that stands from a cell on, as an option of reading; nothing without a cell."""
    parsed, columns = parse_area(at or ""), values_by_name(table)
    if parsed is None:
        return {}
    top, left, height = parsed[1].top, parsed[1].left, max(map(len, columns.values()))
    return {"range": Area(top, left, top + 1 + height, left + len(columns))}


def _is_special(target: Any) -> bool:
    """Return whether a path leads to a pipe or a device, from which nothing is read back."""
    return not is_url(target) and os.path.exists(target) and not os.path.isfile(target) and not os.path.isdir(target)


def _warn_of_changes(source: SourceOrTarget, table: Any, format: str, options: Mapping[str, Any]) -> None:
    """Warn of each column of a table that has come back as something else."""
    from ..tables import find_changed_columns

    if isinstance(source, io.BytesIO):
        source.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SheetArrayWarning)
            columns = read_columns(source, format=format, **options)
    except SheetArrayError as error:
        warn_caller(
            f"{quote_names(list(values_by_name(table)), MOST_NAMED)} cannot be read back by read_columns: {error}"
        )
        return
    names_by_change: dict[str, list[str]] = {}
    for name, change in find_changed_columns(table, columns):
        names_by_change.setdefault(change, []).append(name)
    for change, names in names_by_change.items():
        if len(names) == 1:
            warn_caller(f"{quote_names(names, MOST_NAMED)} does not come back by read_columns as it was: it {change}")
        else:
            warn_caller(
                f"{quote_names(names, MOST_NAMED)} do not come back by read_columns as they were: each {change}"
            )
