"""Excel workbooks: names in row 1, one array a column, exact to the last bit; other workbooks are read as well.

The cells are those of the exchange format of https://github.com/stdlib-js/stdlib/issues/1140, in a worksheet of
ECMA-376. Numbers are written with the shortest text that reads back to the same double, and what a double cannot hold
is text. Checksums of each array go into the document's properties, so that `check` knows what became of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypedDict, Unpack, overload

from ...columns import ArrayInfo
from ...dtypes import Array
from ...elements import MissingOption, NaValues, missing_of
from ...errors import Finding, FormatError, locating
from ...files import Readable, Source, Writable, locate
from ...formats.contract import CELL_CHARACTERS, Keeps, Progress, ignore_progress
from ...labels import lay_out_labels
from ...linear.named import pick_array
from ..arrays_of_sheets import scan_sheets
from ..content import (
    Formats,
    IfSheetExists,
    SheetContent,
    WriteOptions,
    choose_formats_of,
    lay_out_arrays,
    lay_out_columns,
    lay_out_each,
    take_arrays,
)
from ..recorded_tables import scan_with_tables
from ..sheet_choice import SheetChoice
from ..views.description import View, select_views
from ..workbooks import check_choices, check_is_text, check_title
from .checking.large import find_in_large
from .checking.workbook import find_all, limit_search, select_sheets
from .guard.snapshots import Snapshots
from .reading import read_book
from .sheet_writes import sheet_room, write
from .tables.recorded import find_tables
from .workbook import Workbook

keeps_excel = Keeps(buffers=True, nested=True, labels=True)


def write_excel(
    target: Writable,
    arrays: Any,
    *,
    sheet: str = "arrays",
    mode: Literal["w", "a"] = "w",
    if_sheet_exists: IfSheetExists = "error",
    layout: Literal["arrays", "table"] = "arrays",
    cells: Literal["numeric", "text"] = "numeric",
    dates: Literal["real", "text"] = "real",
    guard: bool | Literal["auto"] = "auto",
    views: bool | str | Sequence[str] | Mapping[str, View] = False,
    formats: Formats = None,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Write arrays to a sheet of a workbook, one column each. The elements of each array get a defined name.

    Args:
        target: a path, or an open file (only with mode "w"). A file is replaced whole or not at all.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        sheet: the title of the sheet. More than 16,384 columns continue in `arrays (2)` and so on. An array in several
            sheets has a defined name in each: `t_1`, `t_2`.
        mode: "w" makes a new workbook. "a" adds the sheet to an existing workbook, and leaves everything else in it as
            it is.
        if_sheet_exists: "replace" replaces a sheet of the same title, if sheetarray wrote that sheet.
        layout: "arrays" writes the exchange format; "table" an ordinary table, as `sheetarray.write_table` does.
        cells: "text" writes every element as text, so that no program rounds it.
        dates: "real" writes datetime64 as dates that people can edit, from 1900-03-01 to the end of 9999, down to
            milliseconds. All other dates are ISO text. "text" writes all dates as ISO text.
        guard: keep an exact snapshot of every array in a very hidden sheet. `read` then restores numbers that a program
            rounded, and `check` names every edit. "auto" keeps one if the arrays of the workbook have at most 100,000
            elements together, or if the workbook has one already.
        views: True, names of arrays, or a `View` for each name. A view is a sheet `<name> view` that shows one slice of
            an array of two dimensions or more as a table of formulas, with choosers, colours and a chart.
        formats: the number format of all floats, such as `"0.00"`, or those of arrays of floats or integers by name,
            such as `{"t": "0.0"}`. A format changes what people see; the cells hold the exact numbers. By default,
            numbers have the format General. Views show as many decimals as floats need, at most 6.
        progress: a function, called with the number of cells written and the total.
        storage_options: options of the file system of a URL, such as `anon`, or `key` and `secret`.

    Raises:
        DTypeError: the format has no dtype for an array.
        FormatError: the file is not a workbook, with mode "a".
        LimitError: Excel cannot hold a name, a title or a text; or the workbook is protected, or another program saves
            it at the same time. The file stays as it was.
        ValueError: a view is impossible.
        NotFoundError: `views` or `formats` names an array that you do not write.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file = io.BytesIO()
        >>> write_excel(file, {"t": np.array([[0.1, np.nan]])})
        >>> _ = file.seek(0)
        >>> read_excel(file)
        {'t': array([[0.1, nan]])}
    """
    target = locate(target, storage_options)
    check_choices(cells=(cells, "numeric", "text"), layout=(layout, "arrays", "table"))
    options = WriteOptions(cells, dates, guard, mode, if_sheet_exists, progress or ignore_progress)
    check_is_text(sheet)
    if layout == "table":
        if views is not False or options.as_text:
            raise ValueError('layout="table" has no views, and no cells="text"')
        labelled = lay_out_labels(arrays, north_up=True)
        table = lay_out_columns(labelled, sheet_room(), title=sheet, serials=options.serials)
        write(target, choose_formats_of([table], formats), options)
        return
    linear = take_arrays(arrays, CELL_CHARACTERS)
    content = lay_out_arrays(linear, sheet_room(), title=sheet, serials=options.serials)
    if views is not False:
        content = replace(content, views=select_views(views, linear))
    write(target, [content] if formats is None else choose_formats_of([content], formats), options)


def write_sheets_excel(
    target: Writable,
    tables: Mapping[str, Any],
    *,
    plain: bool,
    mode: Literal["w", "a"] = "w",
    if_sheet_exists: IfSheetExists = "error",
    cells: Literal["numeric", "text"] = "numeric",
    dates: Literal["real", "text"] = "real",
    guard: bool | Literal["auto"] = "auto",
    views: Any = False,
    formats: Formats = None,
    na_rep: str = "",
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write each table of a mapping to a sheet of a workbook: all tables, or none.

    Args:
        target: as for `write_excel`, and so are the other options.
        tables: frames by the titles of their sheets.
        plain: write plain columns, as `write_table_excel` does.
        mode: "a" adds the sheets to the workbook that is there.
        if_sheet_exists: as for `write_excel`.
        cells: as for `write_excel`.
        dates: as for `write_excel`.
        guard: as for `write_excel`; one very hidden sheet has the snapshots of all tables.
        views: refused, as a view belongs to one sheet of arrays.
        formats: of columns of these names, in whichever tables have them.
        na_rep: the text of NaN and NaT in plain columns; "" leaves their cells blank.
        progress: a function, called with the number of cells written and the total.
        storage_options: as for `write_excel`.

    Returns:
        The source from which each table can be read, by title.

    Raises:
        DTypeError: cells cannot hold an array. The message names the sheet and the array.
        FormatError: with mode "a", the file is not a workbook.
        LimitError: a sheet cannot have a title, or hold a table. The file stays as it was.
        NotFoundError: `formats` names a column that no table has.
    """
    target = locate(target, storage_options)
    check_choices(cells=(cells, "numeric", "text"))
    options = WriteOptions(cells, dates, guard, mode, if_sheet_exists, progress or ignore_progress)
    if views is not False:
        raise ValueError('views= is for the arrays of one sheet: write each with sheet=, views= and mode="a"')

    def lay_out(title: str, table: Any) -> SheetContent:
        check_title(title)
        if plain:
            return lay_out_columns(table, sheet_room(), title=title, serials=options.serials, na_rep=na_rep)
        linear = take_arrays(table, CELL_CHARACTERS)
        return lay_out_arrays(linear, sheet_room(), title=title, serials=options.serials)

    write(target, choose_formats_of(lay_out_each(tables, lay_out), formats), options)
    return dict.fromkeys(tables, target)


class _ExcelOptions(TypedDict, total=False):
    """The options of `read_excel`."""

    sheet: SheetChoice
    missing: MissingOption
    na_values: NaValues
    strict: bool
    resize: bool
    guard: bool
    progress: Progress | None
    storage_options: Mapping[str, Any] | None


@overload
def read_excel(  # type: ignore[overload-overlap]  # a text is a sequence of texts, too
    source: Readable, names: str, **options: Unpack[_ExcelOptions]
) -> Array: ...


@overload
def read_excel(
    source: Readable, names: Sequence[str] | None = ..., **options: Unpack[_ExcelOptions]
) -> dict[str, Array]: ...


def read_excel(
    source: Readable,
    names: str | Sequence[str] | None = None,
    *,
    sheet: SheetChoice = None,
    missing: MissingOption = "error",
    na_values: NaValues = (),
    strict: bool = False,
    resize: bool = False,
    guard: bool = True,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array | dict[str, Array]:
    """Read the arrays of a workbook. They may stand anywhere in it, as columns or as rows.

    Args:
        source: a path or an open file: .xlsx, .xlsm, .xlsb, .xls, .ods.
        names: the arrays to read; one name as text gives that array alone. None reads all.
        sheet: the title of the only sheet to read, or its index from 0; None reads all sheets.
        missing: "nan" reads blanks, and words such as `n/a`, in float and complex arrays as NaN; a warning counts
            the words.
        na_values: texts or numbers that mean a missing value, besides those; a warning counts them.
        strict: refuse flat lists without a version, an older form.
        resize: read arrays at their new length where people added or deleted rows.
        guard: if the workbook has a guard, restore numbers that a program rounded. False reads the cells as they are.
        progress: a function, called with the number of cells read and the total.
        storage_options: options of the file system of a URL, such as `anon`, or `key` and `secret`.

    Returns:
        The arrays by name, in the order in which they were written; or one array. You can change them. They have the
            strides and offsets of their headers.

    Raises:
        FormatError: the content is wrong; `.location`, such as arrays!C17, is the first wrong cell.
        NotFoundError: an array in `names`, or the sheet, does not exist.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file = io.BytesIO()
        >>> write_excel(file, {"a": np.arange(2), "b": np.array(["007"])}, sheet="run 1")
        >>> _ = file.seek(0)
        >>> read_excel(file, ["b"], sheet="run 1")
        {'b': array(['007'], dtype='<U3')}
    """
    as_missing = missing_of(missing, na_values)
    with (
        Source(source, storage_options=storage_options) as opened,
        locating(source=opened.name),
        Workbook(opened, reads_numbers=True) as book,
    ):
        how: dict[str, Any] = {"strict": strict, "resize": resize, "guard": guard, "progress": progress}
        return pick_array(read_book(book, names, sheet=sheet, missing=as_missing, **how), names)


def scan_excel(
    source: Readable,
    *,
    sheet: SheetChoice = None,
    strict: bool = False,
    resize: bool = False,
    thorough: bool = False,
) -> dict[str, ArrayInfo]:
    """Return an `ArrayInfo` for each array, from headers alone. With `resize`, all cells are read for the new shapes.

    Args:
        source: a path or an open file.
        sheet: the title of the only sheet to read, or its index from 0; None reads all sheets.
        strict: refuse flat lists without a version, an older form.
        resize: as for `read_excel`.
        thorough: search all cells of all sheets, as `read_excel` and `check_excel` do; otherwise the workbook is
            believed where it says of a sheet, which is as it was, that headers stand in its first rows only, or none.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file = io.BytesIO()
        >>> write_excel(file, {"t": np.zeros((2, 3))})
        >>> scan_excel(io.BytesIO(file.getvalue()))["t"].shape
        (2, 3)
    """
    with Source(source) as opened, locating(source=opened.name), Workbook(opened) as book:
        sheets = select_sheets(book, sheet)
        places = find_tables(book, sheets)
        sheets = sheets if thorough or resize else limit_search(book, sheets)
        if not places:
            return scan_sheets(sheets, strict=strict, resize=resize)
        scan_arrays = partial(scan_sheets, sheets, strict=strict, resize=resize)
        return scan_with_tables(places, scan_arrays, Snapshots(book))


def check_excel(
    source: Readable,
    *,
    sheet: SheetChoice = None,
    missing: MissingOption = "error",
    na_values: NaValues = (),
    guard: bool = True,
) -> Iterator[Finding]:
    """Yield a finding for each problem or edit in a workbook. A workbook that nobody changed has none.

    Args:
        source: a path or an open file.
        sheet: the title of the only sheet to read, or its index from 0; None reads all sheets.
        missing: as for `read_excel`.
        guard: compare the elements with the snapshot of a guard; False judges the cells by their checksums alone.

    Besides what `read_excel` would refuse: formulas in the place of elements, arrays that are gone, numbers that were
    rounded when a program saved the file again, and edits. A snapshot names each edited element, rows that moved and
    numbers that were scaled. Without one, checksums say which arrays were edited, and in long ones between which cells.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file = io.BytesIO()
        >>> write_excel(file, {"t": np.array([0.1, 2.5])})
        >>> list(check_excel(io.BytesIO(file.getvalue())))
        []
    """
    as_missing = missing_of(missing, na_values)
    try:
        with Source(source) as opened, Workbook(opened, reads_numbers=True) as book:
            in_large = find_in_large(book, sheet, as_missing, guard=guard)
            findings = find_all(book, sheet, as_missing, guard=guard) if in_large is None else in_large
    except FormatError as error:
        findings = [Finding.from_error(error)]
    yield from findings
