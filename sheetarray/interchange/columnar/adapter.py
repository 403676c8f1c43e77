"""`.parquet` and `.arrow` (`.feather`): arrays as the columns of one table, by polars.

Arrays of one dimension and one length are columns as they are. Arrays of more dimensions become a table with
coordinates: a row for each element, a column for each dimension, and shorter arrays repeated along the dimensions that
they do not have. What columns cannot say (shapes, dtypes that Arrow has not, labels) is one JSON text: in Parquet the
metadata `sheetarray`, in Arrow the first cell of a column `sheetarray.json`. It is left out where there is nothing to
say, and other programs see a plain table either way.

    {"dims": [["time", 31], ["lat", 2]], "axes": ["lat"], "labels": "..",
     "arrays": {"t": {"dtype": "float16", "dims": ["time", "lat"]}, ..}}
"""

from __future__ import annotations

import io
import math
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ...adapters import Keeps, Progress, ignore_progress
from ...arrays import values_by_name
from ...columns import ArrayInfo
from ...dtypes import Array
from ...errors import Finding, FormatError, LimitError, is_panic, locating, noting
from ...files import Readable, Source, Writable, max_inflated_size, refuse_empty, replacing
from ...header import warn_of_finding
from ...labels import DatasetLabels, parse_labels
from ...tables import TableOptions
from ...values import as_array
from .table import OpenTable, TableLayout, natural_dtype, to_table

if TYPE_CHECKING:
    import polars as pl

keeps_parquet = Keeps(order=False, labels=True, table=True)
keeps_arrow = keeps_parquet

_KEY = "sheetarray"  # of the metadata of Parquet
_COLUMN = "sheetarray.json"  # of an Arrow file


# Files ---------------------------------------------------------------------------------------------------------------


@contextmanager
def _damage_as_format_error(what: str) -> Iterator[None]:
    """Raise what polars says of a damaged file as a `FormatError`; some damage makes it panic."""
    import polars as pl

    known = (pl.exceptions.PolarsError, OSError, ValueError, OverflowError)
    try:
        yield
    except FormatError:
        raise
    except BaseException as error:
        if not is_panic(error) and not isinstance(error, known):
            raise
        raise FormatError(f"no {what} file, or a damaged one: {error!s:.200}") from error


def _open_parquet(source: Source, *, laid_out: bool = True) -> OpenTable:
    """Open a file, of which only the footer is read, and the columns that are loaded, if it is one of this machine."""
    import polars as pl

    refuse_empty(source.prefix(1), "byte 0")
    content = b"" if source.path is not None else bytes(source.own())
    size = len(content) if source.path is None else os.path.getsize(source.path)

    def open_again() -> Any:
        return source.path or io.BytesIO(content)

    with _damage_as_format_error("Parquet"):
        text = pl.read_parquet_metadata(open_again()).get(_KEY)
        scanned = pl.scan_parquet(open_again(), glob=False)
        schema = dict(scanned.collect_schema())
        rows = int(scanned.select(pl.len()).collect().item())
    _check_rows(rows, len(schema), size)

    def load(names: list[str]) -> pl.DataFrame:
        with _damage_as_format_error("Parquet"):
            return _check_text(pl.scan_parquet(open_again(), glob=False).select(names).collect(), rows, size)

    layout = TableLayout.from_text(text) if text is not None and laid_out else None
    return _check_layout(OpenTable(schema, rows, layout, load))


def _open_arrow(source: Source, *, laid_out: bool = True) -> OpenTable:
    import polars as pl

    refuse_empty(source.prefix(1), "byte 0")
    content = bytes(source.own())
    check_claims(content)
    with _damage_as_format_error("Arrow"):
        schema = dict(pl.read_ipc_schema(io.BytesIO(content)))
        rows = int(pl.scan_ipc(io.BytesIO(content)).select(pl.len()).collect().item())
    _check_rows(rows, len(schema), len(content))

    def load(names: list[str]) -> pl.DataFrame:
        with _damage_as_format_error("Arrow"):
            frame = pl.read_ipc(io.BytesIO(content), columns=names)
            return _check_text(frame, rows, len(content))

    layout = None
    if schema.get(_COLUMN) == pl.String() and rows:
        text = load([_COLUMN])[_COLUMN][0]
        layout = TableLayout.from_text(text or "") if laid_out else None
        del schema[_COLUMN]
    return _check_layout(OpenTable(schema, rows, layout, load))


def _check_rows(rows: int, columns: int, size: int) -> None:
    """Refuse more cells than any use of the file's bytes: a count of rows may be a claim."""
    if rows * max(columns, 1) * 8 > max_inflated_size(size):
        raise FormatError(f"{rows:,} rows of {columns:,} columns in {size:,} bytes: more than is read at once")


def _check_text(frame: pl.DataFrame, rows: int, size: int) -> pl.DataFrame:
    if frame.height != rows and frame.width:
        raise FormatError(f"{frame.height:,} rows, and {rows:,} by its metadata")
    if frame.estimated_size() > max_inflated_size(size):
        raise FormatError(f"inflates to {frame.estimated_size():,} bytes: more than is read at once")
    return frame


def _check_layout(table: OpenTable) -> OpenTable:
    """Refuse a layout that contradicts the columns; one of other columns says nothing of them."""
    layout = table.layout
    if layout is None:
        return table
    missing = [name for name in [*layout.axes, *layout.arrays] if name not in table.columns]
    if layout.dims is not None:
        uncounted = [dim for dim, _ in layout.dims if layout.arrays.get(dim, ("", ()))[1] != (dim,)]
        if missing or len(uncounted) != len(layout.axes) or math.prod(size for _, size in layout.dims) != table.rows:
            raise FormatError(
                "the rows or columns are no longer those that were written", hint="read_columns reads the table"
            )
    for name in missing:
        layout.arrays.pop(name, None)
    return table


def _read(source: Readable, names: Sequence[str] | None, open_table: Any) -> dict[str, Array]:
    with Source(source) as opened, locating(source=opened.name):
        table = open_table(opened)
        _parse_labels(table)
        return table.read(names)  # type: ignore[no-any-return]


def _parse_labels(table: OpenTable, note: Any = warn_of_finding) -> DatasetLabels | None:
    if table.layout is None or not table.layout.labels:
        return None

    def locate(error: FormatError) -> None:
        error.location = "the labels"

    return parse_labels(np.array([table.layout.labels]), note, locate)


def _scan(source: Readable, open_table: Any) -> dict[str, ArrayInfo]:
    with Source(source) as opened, locating(source=opened.name):
        table = open_table(opened)
        labels = _parse_labels(table)
        known = labels.variables if labels is not None else {}
        return table.infos({name: said.dims for name, said in known.items()})  # type: ignore[no-any-return]


def _check(source: Readable, open_table: Any) -> Iterator[Finding]:
    findings: list[Finding] = []
    with noting(findings), Source(source) as opened:
        table = open_table(opened)
        _parse_labels(table, findings.append)
        for name in table.names:
            with noting(findings, array=name):
                table.read([name])
    yield from findings


def _read_columns(
    source: Readable, columns: Sequence[str] | None, table: TableOptions | None, open_table: Any
) -> dict[str, Array]:
    options = table or TableOptions()
    if options != TableOptions(dtype=options.dtype, shape=options.shape, order=options.order, missing=options.missing):
        raise LimitError(
            "the columns of this format have names and dtypes of their own: leave out header, comment, decimal .."
        )
    with Source(source) as opened, locating(source=opened.name):
        content = open_table(opened, laid_out=False)
        arrays: dict[str, Array] = content.read(columns)
    return {name: _shape_column(name, array, options) for name, array in arrays.items()}


def _shape_column(name: str, array: Array, options: TableOptions) -> Array:
    dtype = options.dtype.get(name) if isinstance(options.dtype, Mapping) else options.dtype
    shape = options.shape.get(name) if isinstance(options.shape, Mapping) else options.shape
    try:
        if dtype is not None and dtype != array.dtype:
            array = (
                as_array([str(v) for v in array.tolist()]) if dtype in (str, "string", "str") else array.astype(dtype)
            )
        if shape is not None:
            array = array.reshape(shape, order="F" if options.order == "column-major" else "C")
    except (ValueError, TypeError) as error:
        raise FormatError(f"{error!s:.200}", location=f"column {name!r:.80}", array=name) from error
    if (
        options.missing == "error"
        and array.dtype.kind in "fmMO"
        and any(v is None or v != v for v in array.ravel().tolist())
    ):
        raise FormatError("a missing value", location=f"column {name!r:.80}", array=name)
    return array


def read_parquet(source: Readable, names: Sequence[str] | None = None) -> dict[str, Array]:
    """Read the columns of a Parquet file as arrays, in the shapes and dtypes that they were written with.

    Args:
        source: a path or an open file.
        names: only these columns are read; None for all.

    Raises:
        FormatError: no such file, a damaged one, or a column that no array holds; names it.
        NotFoundError: no array of a name asked for.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> write_parquet(file, {"t": np.array([[1.5, 2.5]])})
        >>> read_parquet(io.BytesIO(file.getvalue()))
        {'t': array([[1.5, 2.5]])}
    """
    return _read(source, names, _open_parquet)


def read_arrow(source: Readable, names: Sequence[str] | None = None) -> dict[str, Array]:
    """Read the columns of an Arrow file (Feather) as arrays, as `read_parquet` does.

    Args:
        source: a path or an open file.
        names: only these arrays are read; None for all.

    Raises:
        FormatError: no such file, or a damaged one; names the column or variable.
        NotFoundError: nothing of a name asked for.
    """
    return _read(source, names, _open_arrow)


def scan_parquet(source: Readable) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays from the file's metadata alone; the location is the column.

    Args:
        source: a path or an open file.

    Raises:
        FormatError: no such file, or a damaged one; names the column or variable.
        NotFoundError: nothing of a name asked for.
    """
    return _scan(source, _open_parquet)


def scan_arrow(source: Readable) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays from the file's metadata alone; the location is the column.

    Args:
        source: a path or an open file.

    Raises:
        FormatError: no such file, or a damaged one; names the column or variable.
        NotFoundError: nothing of a name asked for.
    """
    return _scan(source, _open_arrow)


def check_parquet(source: Readable) -> Iterator[Finding]:
    """Yield every finding: at most one for each column; nothing for an intact file.

    Args:
        source: a path or an open file.

    Raises:
        OSError: no such file, or it cannot be read; never for its content.
    """
    return _check(source, _open_parquet)


def check_arrow(source: Readable) -> Iterator[Finding]:
    """Yield every finding: at most one for each column; nothing for an intact file.

    Args:
        source: a path or an open file.

    Raises:
        OSError: no such file, or it cannot be read; never for its content.
    """
    return _check(source, _open_arrow)


def read_columns_parquet(
    source: Readable, columns: Sequence[str] | None = None, *, table: TableOptions | None = None
) -> dict[str, Array]:
    """Return the columns of a Parquet file as they are, one array each; a layout of arrays is passed over.

    Args:
        source: a path or an open file.
        columns: names of the columns wanted; None for all.
        table: the options of the caller; None for none.

    Raises:
        FormatError: no such file, or a damaged one; names the column or variable.
        NotFoundError: nothing of a name asked for.
    """
    return _read_columns(source, columns, table, _open_parquet)


def read_columns_arrow(
    source: Readable, columns: Sequence[str] | None = None, *, table: TableOptions | None = None
) -> dict[str, Array]:
    """Return the columns of an Arrow file as they are, one array each; a layout of arrays is passed over.

    Args:
        source: a path or an open file.
        columns: names of the columns wanted; None for all.
        table: the options of the caller; None for none.

    Raises:
        FormatError: no such file, or a damaged one; names the column or variable.
        NotFoundError: nothing of a name asked for.
    """
    return _read_columns(source, columns, table, _open_arrow)


def write_parquet(
    target: Writable, arrays: Any, *, compression: str = "zstd", progress: Progress | None = None
) -> None:
    """Write arrays as a Parquet file: columns of one length, or a table with coordinates.

    Args:
        target: a path, replaced as a whole, or a file opened for bytes.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        compression: "zstd", "snappy", "lz4", "gzip" or "uncompressed".
        progress: called with the elements written and the elements in all.

    Raises:
        DTypeError: names the array that no column holds.
        LimitError: arrays of several lengths or dimensions; names two.
        OSError: the system refuses; the old file is whole.

    Example:
        >>> import io
        >>> import polars as pl
        >>> file = io.BytesIO()
        >>> write_parquet(file, {"n": np.array([1, 2]), "t": np.array([0.5, 1.5])})
        >>> pl.read_parquet(file.getvalue()).columns
        ['n', 't']
    """
    if compression not in ("zstd", "snappy", "lz4", "gzip", "uncompressed"):
        raise LimitError(f"compression is 'zstd', 'snappy', 'lz4', 'gzip' or 'uncompressed', not {compression!r:.80}")
    frame, layout = to_table(arrays)
    _save_parquet(target, frame, None if _is_plain(frame, layout) else layout, compression, progress)


def _save_parquet(
    target: Writable, frame: pl.DataFrame, layout: TableLayout | None, compression: Any, progress: Progress | None
) -> None:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression=compression, metadata=None if layout is None else {_KEY: layout.to_text()})
    _put(target, buffer, frame, progress)


def write_arrow(target: Writable, arrays: Any, *, progress: Progress | None = None) -> None:
    """Write arrays as an Arrow file (Feather): columns of one length, or a table with coordinates.

    Args:
        target: a path, replaced as a whole, or a file opened for bytes.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        progress: called with the elements written and the elements in all.

    Raises:
        DTypeError: names the array that no column holds.
        LimitError: arrays of several lengths or dimensions; names two. Or no rows, where shapes stand nowhere.
        OSError: the system refuses; the old file is whole.
    """
    import polars as pl

    frame, layout = to_table(arrays)
    if not _is_plain(frame, layout):
        if not frame.height:
            raise LimitError(
                f"{frame.columns[0]!r:.80} has no elements, and Arrow files without rows keep no shapes: write .parquet"
            )
        if _COLUMN in frame.columns:
            raise LimitError(f"the name {_COLUMN!r} is that of the layout: rename the array")
        text = pl.Series(_COLUMN, [layout.to_text(), *[None] * (frame.height - 1)], dtype=pl.String)
        frame = frame.with_columns(text)
    buffer = io.BytesIO()
    frame.write_ipc(buffer)
    _put(target, buffer, frame, progress)


def _is_plain(frame: pl.DataFrame, layout: TableLayout) -> bool:
    """Return whether the columns alone say everything."""
    natural = all(natural_dtype(frame[name].dtype) == dtype for name, (dtype, _) in layout.arrays.items())
    return layout.dims is None and not layout.labels and natural


def _put(target: Writable, content: io.BytesIO, frame: pl.DataFrame, progress: Progress | None) -> None:
    total, report = frame.height * frame.width, progress or ignore_progress
    report(0, total)
    with replacing(target, binary=True) as sink:
        sink.write(content.getbuffer())
    report(total, total)


def write_table_parquet(target: Writable, table: Any, *, progress: Progress | None = None) -> None:
    """Write the columns of a table as a Parquet file, without a layout of arrays.

    Args:
        target: a path, replaced as a whole, or a file opened for bytes.
        table: a mapping of names to 1-D arrays of one length, or a DataFrame.
        progress: called with the elements written and the elements in all.

    Raises:
        DTypeError: a column that no array holds; names it.
        LimitError: columns of several lengths; before anything is written.
        OSError: the system refuses; the old file is whole.
    """
    _save_parquet(target, _to_columns(table), None, "zstd", progress)


def write_table_arrow(target: Writable, table: Any, *, progress: Progress | None = None) -> None:
    """Write the columns of a table as an Arrow file, without a layout of arrays.

    Args:
        target: a path, replaced as a whole, or a file opened for bytes.
        table: a mapping of names to 1-D arrays of one length, or a DataFrame.
        progress: called with the elements written and the elements in all.

    Raises:
        DTypeError: a column that no array holds; names it.
        LimitError: columns of several lengths; before anything is written.
        OSError: the system refuses; the old file is whole.
    """
    buffer, frame = io.BytesIO(), _to_columns(table)
    frame.write_ipc(buffer)
    _put(target, buffer, frame, progress)


def _to_columns(table: Any) -> pl.DataFrame:
    frame, layout = to_table(values_by_name(table))
    if layout.dims is not None:
        raise LimitError(
            "the columns of a table have one dimension and are equally long: sheetarray.write takes arrays"
        )
    return frame


# Sizes that an Arrow file claims, compared with its bytes before polars takes memory for them.
_MAGIC = b"ARROW1"
_BATCH, _DICTIONARY = 3, 2  # kinds of messages


class _Flat:
    """A table of FlatBuffers in some bytes: its fields by number."""

    def __init__(self, content: bytes, place: int) -> None:
        self.content, self.place = content, place
        self._names = place - self.read("<i", place)
        self._end = self.read("<H", self._names)

    def read(self, mark: str, place: int) -> int:
        if place < 0:
            raise struct.error("before the first byte")
        value: int = struct.unpack_from(mark, self.content, place)[0]
        return value

    def find(self, number: int) -> int:
        """Return the position of a field; 0 if it is not there."""
        at = 4 + 2 * number
        offset = self.read("<H", self._names + at) if at + 2 <= self._end else 0
        return self.place + offset if offset else 0

    def table(self, number: int) -> _Flat | None:
        """Return a field that is a table; None if it is not there."""
        place = self.find(number)
        return _Flat(self.content, place + self.read("<I", place)) if place else None

    def items(self, number: int, mark: str) -> Iterator[tuple[int, ...]]:
        """Yield the numbers of each item of a list."""
        place = self.find(number)
        if place:
            start = place + self.read("<I", place)
            for index in range(self.read("<I", start)):
                yield struct.unpack_from(mark, self.content, start + 4 + index * struct.calcsize(mark))


def check_claims(content: bytes) -> None:
    """Refuse an Arrow file whose batches claim more bytes than there are.

    Raises:
        FormatError: says what it claims.
    """
    if content[:6] != _MAGIC or content[-6:] != _MAGIC or len(content) < 24:
        raise FormatError("no Arrow file: it does not begin and end with ARROW1", location="byte 0")
    try:
        footer = len(content) - 10 - struct.unpack_from("<i", content, len(content) - 10)[0]
        if not 8 <= footer <= len(content) - 10:
            raise FormatError("the footer lies outside of the file")
        root = _Flat(content, footer + struct.unpack_from("<I", content, footer)[0])
        for number in (2, 3):
            for start, head, body in root.items(number, "<qi4xq"):
                _check_batch(content, start, head, body)
    except (struct.error, OverflowError) as error:
        raise FormatError(f"no Arrow file, or a damaged one: {error}") from error


def _check_batch(content: bytes, start: int, head: int, body: int) -> None:
    if min(start, head, body) < 0 or start + head + body > len(content):
        raise FormatError(f"a batch of {head + body:,} bytes from byte {start:,}, in a file of {len(content):,} bytes")
    marked = struct.unpack_from("<I", content, start)[0] == 0xFFFFFFFF
    begin = start + (8 if marked else 4)
    message = _Flat(content, begin + struct.unpack_from("<I", content, begin)[0])
    batch = message.table(2)
    kind = message.read("<B", message.find(1))
    if batch is not None and kind == _DICTIONARY:
        batch = batch.table(1)
    if batch is None or kind not in (_BATCH, _DICTIONARY):
        raise FormatError("a batch that is none")
    most, inflated = max_inflated_size(len(content)), 0
    compressed, buffers = batch.find(3) != 0, 0
    for offset, size in batch.items(2, "<qq"):
        buffers += 1
        if min(offset, size) < 0 or offset + size > body:
            raise FormatError(f"a buffer of {size:,} bytes in a batch of {body:,}")
        if compressed and size >= 8:
            inflated += max(0, struct.unpack_from("<q", content, start + head + offset)[0])
    lengths = [length for length, _ in batch.items(1, "<qq")] + [
        batch.read("<q", place) for place in [batch.find(0)] if place
    ]
    if inflated > most or any(not 0 <= length <= most for length in lengths):
        raise FormatError(f"a batch claims {max([inflated, *lengths]):,} bytes or rows: more than is read at once")
    if sum(abs(count) for (count,) in batch.items(4, "<q")) > buffers:
        raise FormatError("a batch claims more buffers than it has")
