"""Reading arrays, headers, findings and ordinary tables from delimited text."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypedDict, Unpack, overload

import numpy as np

from ...columns import ArrayInfo, SheetArrays
from ...columns.beside import note_other_cells
from ...columns.blocks.reading import iter_elements
from ...columns.pieced_arrays import NotInPiecesError
from ...dtypes import Array, Buffer
from ...elements import FormulaMode, Missing, MissingOption, NaValues, missing_of
from ...elements.spelling import DecimalMark
from ...errors import Finding, FormatError, locating, may_be_table
from ...files import Readable, Source
from ...formats.contract import Progress
from ...linear.named import pick_array
from ...tables import TableOptions, read_table
from ..arrays_of_sheets import check_sheets, count_named, open_sheets, read_composites, scan_sheets
from ..checking_blocks import check_passing
from .remote_heads import scan_head
from .sheet import CsvSheet
from .table import CsvTable

_SMALL = 2**24  # bytes of a text that is checked at once


class _CsvOptions(TypedDict, total=False):
    """The options of `read_csv`."""

    delimiter: str | None
    decimal: DecimalMark | None
    encoding: str | None
    strict: bool
    missing: MissingOption
    na_values: NaValues
    formulas: FormulaMode
    resize: bool
    progress: Progress | None
    storage_options: Mapping[str, Any] | None


@overload
def read_csv(  # type: ignore[overload-overlap]  # a text is a sequence of texts, too
    source: Readable, names: str, **options: Unpack[_CsvOptions]
) -> Array: ...


@overload
def read_csv(
    source: Readable, names: Sequence[str] | None = ..., **options: Unpack[_CsvOptions]
) -> dict[str, Array]: ...


def read_csv(
    source: Readable,
    names: str | Sequence[str] | None = None,
    *,
    delimiter: str | None = None,
    decimal: DecimalMark | None = None,
    encoding: str | None = None,
    strict: bool = False,
    missing: MissingOption = "error",
    na_values: NaValues = (),
    formulas: FormulaMode = "escape",
    resize: bool = False,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array | dict[str, Array]:
    """Read the arrays of a delimited text. They may stand anywhere in it, as columns or as rows.

    Args:
        source: a path or an open file; gzip and Zstandard are recognised.
        names: the arrays to read; one name as text gives that array alone. None reads all.
        delimiter: the character between cells; None finds it.
        decimal: the decimal mark; None finds it.
        encoding: the encoding of the text. None takes the encoding of the byte order mark, or UTF-8 without one.
        strict: refuse flat lists without a version, an older form.
        missing: "nan" reads blanks, and words such as `n/a`, in float and complex arrays as NaN; a warning counts
            the words.
        na_values: texts or numbers that mean a missing value, besides those; a warning counts them.
        formulas: "escape" removes the apostrophe that `write_csv` put before text; "keep" keeps it.
        resize: read arrays at their new length where people added or deleted rows.
        progress: a function, called with the number of cells read and the total.
        storage_options: options of the file system of a URL, such as `anon`, or `key` and `secret`.

    Returns:
        The arrays by name, in the order in which they were written; or one array. You can change them. They have the
            strides and offsets of their headers.

    Raises:
        FormatError: the content is wrong; `.location`, such as C17, is the first wrong cell.
        NotFoundError: an array in `names` does not exist.

    Example:
        >>> import io
        >>> text = "t\\nversion\\n1.0.0\\nndarray\\nshape\\n2\\nstrides\\n1\\noffset\\n0\\norder\\nrow-major\\n"
        >>> read_csv(io.StringIO(text + "dtype\\nint8\\nlength\\n2\\ncapacity\\n2\\ndata\\n1\\n2\\n"))
        {'t': array([1, 2], dtype=int8)}
    """
    as_missing = missing_of(missing, na_values)
    with Source(source, storage_options=storage_options) as opened, locating(source=opened.name):
        bar = _WorkReport(progress, 0) if progress else None
        sheet = CsvSheet(opened, delimiter, decimal, encoding, formulas, report=bar)
        sheet.words()  # of the headers, which all else needs
        arrays = open_sheets([sheet], strict=strict, missing=as_missing, resize=resize)
        if bar is not None:
            bar.total = count_named(arrays.read, arrays.scan, names)
            bar("words", 0.0)
        try:
            by_name = read_composites(arrays.read, arrays.scan, names, arrays.peek)
        except FormatError as error:
            by_name = _read_with_comma(sheet, arrays, names, error)
        note_other_cells(sheet.list_other_cells)
        if bar is not None:
            bar("columns", 1.0, is_end=True)
        return pick_array(by_name, names)


def _read_with_comma(
    sheet: CsvSheet, arrays: SheetArrays, names: str | Sequence[str] | None, error: FormatError
) -> dict[str, Array]:
    """Read arrays with the other decimal mark, after an error that may be due to it; else raise the error again."""
    error.hint = error.hint or sheet.find_hint(error.location)
    if not sheet.try_other_decimal():
        raise error
    try:
        return read_composites(arrays.read, arrays.scan, names, arrays.peek)
    except FormatError:
        raise error from None


class _WorkReport:
    """The progress of reading a text, as a share of all its cells: each kind of work takes a known part of the time.

    `progress`: is called with the cells read and the cells in all. `total`: the number of all cells; 0 until it is
    known, and nothing is reported.
    """

    _PARTS: ClassVar = {"words": (0.0, 0.4), "columns": (0.4, 0.7)}  # then they are decoded

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self.total = progress, total
        self._done = -1

    def __call__(self, work: str, share: float, *, is_end: bool = False) -> None:
        """Report that a share of some work is done; at the end, that all cells have been read."""
        if is_end:
            self._progress(self.total, self.total)
            return
        first, last = self._PARTS[work]
        done = int((first + (last - first) * share) * self.total)
        if self.total and self._done < 0:
            self._progress(0, self.total)
        if self.total and done > max(self._done, 0):
            self._progress(done, self.total)
        self._done = max(self._done, done if self.total else -1)


def scan_csv(
    source: Readable,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    strict: bool = False,
    formulas: FormulaMode = "escape",
    resize: bool = False,
) -> dict[str, ArrayInfo]:
    """Return an `ArrayInfo` for each array, from headers alone. Arrays in rows are read to the end.

    Arrays that begin below others are searched for; not if the text is remote, and stands as it was written.

    Args:
        strict: refuse flat lists without a version, an older form.
        resize: return the shapes that `read_csv` gives with `resize=True`; all cells are read for this.

    Other arguments are those of `read_csv`.
    """
    with Source(source) as opened, locating(source=opened.name):
        if opened.is_remote and not resize and encoding is None:
            infos = scan_head(opened, delimiter, formulas)
            if infos is not None:
                return infos
        sheet = CsvSheet(opened, delimiter, None if resize else ".", encoding, formulas)
        return scan_sheets([sheet], strict=strict, resize=resize)


def check_csv(
    source: Readable,
    *,
    delimiter: str | None = None,
    decimal: DecimalMark | None = None,
    encoding: str | None = None,
    missing: MissingOption = "error",
    na_values: NaValues = (),
    formulas: FormulaMode = "escape",
) -> Iterator[Finding]:
    """Yield a finding for each problem in a delimited text. An intact text has none.

    Arguments are those of `read_csv`.
    """
    as_missing = missing_of(missing, na_values)
    try:
        with Source(source) as opened:
            sheet = CsvSheet(opened, delimiter, decimal, encoding, formulas)
            findings = _check_large(sheet, as_missing) if len(opened.whole()) > _SMALL else None
            if findings is None:
                findings = list(check_sheets([sheet], missing=as_missing))
            if findings and sheet.try_other_decimal():
                of_dialect = list(check_sheets([sheet], missing=as_missing))
                findings = of_dialect if len(of_dialect) < len(findings) else findings
            findings = [
                replace(finding, hint=finding.hint or sheet.find_hint(finding.location) or "") for finding in findings
            ]
            if not any(may_be_table(finding.message) for finding in findings):  # the end of a table tells nothing
                findings += sheet.find_cut_end()
    except FormatError as error:
        findings = [Finding.from_error(error)]
    yield from findings


def _check_large(sheet: CsvSheet, missing: Missing) -> list[Finding] | None:
    """Return every finding in a text, without keeping arrays; None if it cannot be checked block by block."""
    try:
        return check_passing(sheet, missing)
    except (NotInPiecesError, FormatError):
        return None


def iter_elements_csv(
    source: Readable, names: Sequence[str], *, missing: MissingOption = "error", na_values: NaValues = ()
) -> Iterator[tuple[str, Buffer]]:
    """Yield the name of an array and the next elements of its buffer, again and again.

    A text in which a cell is wrong, or whose arrays lie in rows or in parts, is read whole.

    Arguments are those of `read_csv`.

    Raises:
        FormatError: as `read_csv`, when the first wrong cell is reached.
        NotFoundError: an array does not exist.
    """
    as_missing = missing_of(missing, na_values)
    with Source(source) as opened, locating(source=opened.name):

        def read_whole(names: Sequence[str]) -> dict[str, np.ndarray[Any, Any]]:
            return read_csv(
                opened.path or io.BytesIO(bytes(opened.whole())), names, missing=missing, na_values=na_values
            )

        yield from iter_elements([CsvSheet(opened, None, None, None, "escape")], names, as_missing, read_whole)


def read_columns_csv(
    source: Readable,
    columns: Sequence[str] | None = None,
    *,
    table: TableOptions | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    quotechar: str | None = None,
    escapechar: str | None = None,
    formulas: FormulaMode = "escape",
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the columns of an ordinary table as arrays; see `sheetarray.read_columns`.

    `table`: the other options that the caller passed to it.

    Raises:
        FormatError: there is no table, a cell does not fit the dtype, or a column does not fill its shape.
        NotFoundError: a column does not exist.
    """
    table = table or TableOptions()
    with Source(source) as opened, locating(source=opened.name):
        sheet = CsvTable(opened, table, delimiter, encoding, quotechar, escapechar, formulas)
        return read_table(sheet, columns, table)
