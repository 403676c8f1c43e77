"""read, write, scan and check: arrays of the exchange format in any container; how their results show themselves."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Literal, overload

from ..dtypes import Array
from ..elements import describe_object
from ..errors import (
    DTypeError,
    Finding,
    FormatError,
    NotFoundError,
    may_be_table,
    warn_caller,
    while_few,
)
from ..files import name_part
from ..formats import Format, find_format, format_of, locate_place
from ..labels import LabelledArrays, has_labels, reading_labels
from ..linear.named import default_name, hold_stream, list_names, pick_array, values_by_name
from ..linear.parsing import warn_of_finding
from ..renamed import OPTIONS
from .ordinary import OrdinaryTable, find_place, find_table, scan_or_find_table, without_table_options
from .shown import ArrayInfos, Findings
from .targets import SourceOrTarget, first_url, folder_beside, is_path, split_tables


@overload
def read(
    source: SourceOrTarget,
    names: str,
    *,
    format: str | None = ...,
    storage_options: Mapping[str, Any] | None = ...,
    **options: Any,
) -> Array: ...


@overload
def read(
    source: SourceOrTarget,
    names: Sequence[str] | None = ...,
    *,
    format: str | None = ...,
    storage_options: Mapping[str, Any] | None = ...,
    **options: Any,
) -> dict[str, Array]: ...


def read(
    source: SourceOrTarget,
    names: str | Sequence[str] | None = None,
    *,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Array | dict[str, Array]:
    """Read arrays from a file, a URL or a spreadsheet, with the dtype, shape, strides and order that were written.

    Args:
        source: a path, a URL, an open file, a workbook of openpyxl, or an object of gspread.
        names: the arrays to read; one name as text gives that array alone. None reads all.
        format: the name of a format, as `sheetarray.registry.FORMATS` lists them; None chooses it by the suffix.
        storage_options: options of the file system of a URL, such as `anon`, or `key` and `secret`.
        **options: options of the format. `help(sheetarray.read_csv)` says what each of its options does.

            - csv tsv txt, `read_csv`: delimiter, decimal, encoding, strict, missing, na_values, formulas, resize,
              progress
            - json, `read_json`: strict, missing, na_values, resize, progress
            - xlsx ods, `read_excel`: sheet, missing, na_values, strict, resize, guard, progress
            - workbook, an object of openpyxl: sheet, missing, na_values, strict, resize, progress
            - gsheet, `read_gsheet`: slices, sheet, client, credentials, timeout, strict, resize, missing, na_values,
              progress
            - awkd: functions, whitelist, errors, max_bytes
            - avro npz sciserialize sciserialize-json: progress
            - ra: axes, mmap
            - npy: mmap
            - netcdf zarr: group
            - arrow parquet: none

    Returns:
        The arrays by name, in the order in which they were written; or one array. An awkward array comes back as an
            `awkward.Array`. An array in a format without names is called like the file without its suffix, or `array`.

    Raises:
        FormatError: the content is wrong; `.location` is the first wrong cell.
        NotFoundError: an array in `names`, or the format, does not exist.
        OSError: the file does not exist, or cannot be read.

    Example:
        >>> import tempfile, pathlib
        >>> import numpy as np
        >>> path = pathlib.Path(tempfile.mkdtemp(), "t.csv")
        >>> write(path, {"t": np.array([[1.5, 2.5]])})
        >>> read(path)
        {'t': array([[1.5, 2.5]])}
        >>> read(path, "t")
        array([[1.5, 2.5]])
    """
    selected = None if names is None else list_names(names)
    source = locate_place(source, storage_options, format, options.get("client"))
    arrays: dict[str, Any] = find_format("read", source, format, options).function("read")(source, selected, **options)
    return pick_array(arrays, names)


def write(
    target: SourceOrTarget,
    arrays: Any,
    *,
    format: str | None = None,
    layout: Literal["arrays", "table"] = "arrays",
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> str | None:
    """Write arrays to a file, a URL or a spreadsheet. If the write fails, the target stays as it was.

    Args:
        target: a path, a URL, an open file (then with `format`), a Workbook or Worksheet of openpyxl or XlsxWriter, a
            pandas.ExcelWriter, or a Spreadsheet or Worksheet of gspread.
        arrays: a mapping of names to arrays, one array (named "array"), a DataFrame, an Arrow table, or a Dataset or
            DataArray of xarray. A mapping of frames, such as `{"north": df1, "south": df2}`, writes a sheet for each,
            if the format has sheets. An `awkward.Array` takes several columns. Formats with cells also keep the labels
            of a Dataset and the index of a DataFrame.
        format: the name of a format; None chooses it by the suffix.
        layout: "arrays" writes the exchange format, from which `read` gives back what you wrote; "table" an ordinary
            table, with the options of `write_table`.
        storage_options: options of the file system of a URL, such as `anon`, or `key` and `secret`.
        **options: options of the format. `help(sheetarray.write_csv)` says what each of its options does.

            - csv tsv txt, `write_csv`: delimiter, decimal, encoding, bom, names, orient, formulas, max_rows, progress
            - json, `write_json`: complex, progress
            - xlsx, `write_excel`: sheet, mode, if_sheet_exists, layout, cells, dates, guard, views, formats, progress
            - workbook, an object of openpyxl, XlsxWriter or pandas: sheet, at, cells, dates, guard, formats, progress
            - gsheet, `write_gsheet`: sheet, at, dates, views, client, credentials, timeout, progress
            - awkd: compression, pack, progress
            - avro: codec, progress
            - npz: compress, progress
            - npy: progress
            - arrow parquet: form, compression, progress
            - netcdf zarr: form, progress
            - ra: axes, metadata, bool_as, progress
            - sciserialize sciserialize-json: form, extensions, progress

    Returns:
        The URL of the worksheet, if the target is in Google Sheets; otherwise None.

    Raises:
        DTypeError: the format cannot hold an array.
        LimitError: the arrays are too large for the format, or it cannot hold a name. Nothing was written.
        OSError: the file cannot be written.

    Warns:
        SheetArrayWarning: the format loses the order, the names or the labels of what you write.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file = io.StringIO()
        >>> write(file, {"t": np.array(1.5)}, format="csv", delimiter=";")
        >>> file.getvalue().split()[-2:]
        ['data', '1.5']
    """
    target = locate_place(target, storage_options, format, options.get("client"))
    if layout not in ("arrays", "table"):
        if str(layout) == "grid":
            raise TypeError(OPTIONS["layout"])
        raise ValueError(f'layout is "arrays" or "table", not {layout!r:.80}')
    if layout == "table":
        from .tables import write_table

        return write_table(target, arrays, format=format, **options)
    arrays = hold_stream(arrays)
    row = find_format("write", target, format, options)
    if (tables := split_tables(arrays)) is not None:
        return first_url(write_each_sheet(row, target, tables, options, plain=False))
    url = row.function("write")(target, arrays, **{**row.writing, **options})
    keeps = row.keeps
    if keeps is not None and not (keeps.order and keeps.names and keeps.labels):
        path = name_part(target) if isinstance(target, (str, os.PathLike)) else None
        name = default_name(path) if path is not None and not os.path.isdir(path) else None
        labelled = not keeps.labels and has_labels(arrays)
        for change in keeps.changes(values_by_name(arrays), name, labelled=labelled):
            warn_caller(f"{row.title} {change}")
    return url if isinstance(url, str) else None  # an adapter from outside may return anything


def check_readable(source: SourceOrTarget, format: str | None, options: Mapping[str, Any]) -> None:
    """Refuse options that `read` would refuse before it looks at the arrays; `storage_options` are no such option.

    Raises:
        NotFoundError: no such format.
        TypeError: it has no such option.
    """
    find_format("read", source, format, {key: options[key] for key in options if key != "storage_options"})


def check_writable(target: SourceOrTarget, format: str | None, options: Mapping[str, Any]) -> None:
    """Refuse a target, or options, that `write` would refuse before it looks at the arrays.

    Raises:
        NotFoundError: no such format.
        TypeError: it has no such option.
        FileNotFoundError: there is no such folder.
        IsADirectoryError: it is a folder, and the format has none.
    """
    row = find_format("write", target, format, options)
    folder = folder_beside(target)
    if folder is None or not is_path(target):
        return
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), target)
    if row.folders != "write" and (os.path.isdir(target) or os.fspath(target).endswith(os.sep)):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)


def write_releasing(
    target: SourceOrTarget,
    arrays: Any,
    release: Callable[[], None],
    format: str | None,
    options: Mapping[str, Any],
) -> str | None:
    """Write arrays that are mapped; `release` is called as they are written, so that their pages leave the memory."""
    report = options.get("progress")

    def progress(done: int, total: int) -> None:
        release()
        if report is not None:
            report(done, total)

    takes = "progress" in format_of(target, format).options("write")
    return write(target, arrays, format=format, **{**options, **({"progress": progress} if takes else {})})


def scan(
    source: SourceOrTarget,
    *,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> ArrayInfos:
    """Return the shape, dtype, order, strides, location and number of cells of each array, from headers alone.

    Args:
        source: a path, a URL, an open file, a workbook of openpyxl, or an object of gspread.
        format: the name of a format; None chooses it by the suffix.
        storage_options: options of the file system of a URL, such as `anon`, or `key` and `secret`.
        **options: options of the format, such as `strict`, `sheet`, `client`.

    Returns:
        A dict with an `ArrayInfo` for each name. A terminal or a notebook shows it as a table. Of a source that holds
            an ordinary table, and no array, it has the columns, and `dialect` says what was assumed.

    Raises:
        FormatError: the source holds no array, or a header is broken.
        NotFoundError: the format does not exist.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file = io.BytesIO()
        >>> write(file, {"t": np.zeros((2, 3))}, format="csv")
        >>> _ = file.seek(0)
        >>> scan(file, format="csv")["t"].shape
        (2, 3)
    """
    source = locate_place(source, storage_options, format, options.get("client"))
    return scan_or_find_table(source, format, options)[0]


def check(
    source: SourceOrTarget,
    *,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Iterator[Finding]:
    """Yield a finding for each problem in a file or spreadsheet. An intact one has none.

    Args:
        source: a path, a URL, an open file, a workbook of openpyxl, or an object of gspread.
        format: the name of a format; None chooses it by the suffix.
        storage_options: options of the file system of a URL, such as `anon`, or `key` and `secret`.
        **options: options of the format, such as `missing`, `sheet`, `client`; of an ordinary table also those of
            `read_columns`.

    Yields:
        A `Finding` for each problem. A terminal or a notebook shows the iterator as a table.

    Raises:
        OSError: the file does not exist. Wrong content never raises an error.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file = io.StringIO()
        >>> write(file, {"t": np.array([1.5, 2.5])}, format="csv")
        >>> edited = io.StringIO(file.getvalue().replace("2.5", "2.5 m"))
        >>> [str(finding) for finding in check(edited, format="csv")]
        ["error: cell A21: t[1]: expected a number, found '2.5 m'"]
    """
    source = locate_place(source, storage_options, format, options.get("client"))
    place = find_place(source)
    of_arrays, asks_for_table = without_table_options("check", source, format, options)
    findings = find_format("check", source, format, of_arrays).function("check")(source, **of_arrays)
    if asks_for_table:
        try:
            first = next(findings, None)
        except FormatError as error:
            first = Finding.from_error(error)
        if first is None or not may_be_table(first.message):
            find_format("check", source, format, options)  # refuses them
        findings = chain([first] if first else [], findings)
    return Findings(_of_table(findings, partial(find_table, source, place, format, options, is_checked=True)))


def _of_table(findings: Iterator[Finding], read_table: Callable[[], OrdinaryTable | None]) -> Iterator[Finding]:
    """Yield findings; of a source that holds an ordinary table, and no array, what is doubtful in the table.

    If the source cannot be opened because of its content, that is a finding, too.
    """
    try:
        for finding in findings:
            yield from _find_in_table(finding, read_table)
    except FormatError as error:
        yield from _find_in_table(Finding.from_error(error), read_table)


def _find_in_table(finding: Finding, read_table: Callable[[], OrdinaryTable | None]) -> list[Finding]:
    """Return a finding; for the one that a source holds no arrays, what is doubtful in the table that it holds instead.

    Cells that cannot be read are findings, too: one for all formulas of a column that have no value.
    """
    try:
        table = read_table() if may_be_table(finding.message) else None
    except FormatError as error:
        return [Finding.from_error(error)]
    if table is None:
        return [finding]
    errors: list[Finding] = []
    errors += while_few(table.list_errors(), errors)
    return [*errors, *table.findings]


def read_labelled(
    source: SourceOrTarget,
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> LabelledArrays:
    """Read arrays as `read` does, together with what a description says of them; `write` takes both.

    Raises:
        FormatError: as `read`, or the description contradicts the arrays.

    Warns:
        SheetArrayWarning: the description is damaged: it stays an array of text.
    """
    source, selected = locate_place(source, storage_options, format, options.get("client")), list_names(names)
    with reading_labels() as description:
        arrays = find_format("read", source, format, options).function("read")(source, selected, **options)
    if description.error is not None:
        warn_of_finding(Finding.from_error(description.error))
    return LabelledArrays(arrays, description.labels)


def write_each_sheet(
    row: Format, target: SourceOrTarget, tables: Mapping[str, Any], options: Mapping[str, Any], *, plain: bool
) -> Mapping[str, Any]:
    """Write each table to a sheet of its own; return the source of each sheet, by title.

    `row`: the format of the target. `options`: of its `write`, or with `plain` of its `write_table`.

    Raises:
        DTypeError: the format has no sheets, or a table has a column that no array holds.
        ValueError: an option says the title. Nothing is written.
        LimitError: a title or a table that no sheet can have. Nothing is written.
    """
    if options.get("sheet") is not None:
        raise ValueError("sheet= is the title of one sheet, and these tables have theirs: leave it out")
    options = {name: value for name, value in options.items() if name != "sheet"}
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
