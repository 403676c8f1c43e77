"""`.parquet` and `.arrow` (`.feather`): arrays as the columns of one table, by polars.

Arrays of one dimension and one length are columns as they are. Arrays of more dimensions become a table with
coordinates: a row for each element, a column for each dimension, and shorter arrays repeated along the dimensions that
they do not have. What columns cannot say (shapes, dtypes that Arrow has not, labels) is one JSON text: in Parquet the
metadata `sheetarray`, in Arrow the first cell of a column `sheetarray.json`. It is left out where there is nothing to
say, and other programs see a plain table either way.

    {"dims": [["time", 31], ["lat", 2]], "axes": ["lat"], "labels": "..",
     "arrays": {"t": {"dtype": "float16", "dims": ["time", "lat"]}, ..}}

Which of the two formats a file is, its first bytes say. A file of this machine is read no further than is asked for.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...adapters import Keeps, Progress, ignore_progress
from ...arrays import select, values_by_name
from ...columns import ArrayInfo
from ...dtypes import Array
from ...errors import Finding, FormatError, LimitError, locating, noting
from ...files import BytesLike, Readable, Source, Writable, max_inflated_size, refuse_empty, replacing
from ...header import NoteFinding, warn_of_finding
from ...labels import DatasetLabels, parse_labels
from ...tables import TableOptions, cast_column
from ..untrusted import damage_as_format_error
from .table import OpenTable, TableLayout, natural_dtype, to_table

if TYPE_CHECKING:
    import polars as pl

Form = Literal["parquet", "arrow"]

keeps_columnar = Keeps(order=False, labels=True, table=True)

_KEY = "sheetarray"  # of the metadata of Parquet
_COLUMN = "sheetarray.json"  # of an Arrow file
_NARROW = {"Boolean": 1, "Int8": 1, "UInt8": 1, "Int16": 2, "UInt16": 2, "Int32": 4, "UInt32": 4, "Float32": 4}  # bytes
_COMPRESSIONS = {"parquet": ("zstd", "snappy", "lz4", "gzip", "uncompressed"), "arrow": ("uncompressed", "zstd", "lz4")}


# Reading -------------------------------------------------------------------------------------------------------------


def read_columnar(source: Readable, names: Sequence[str] | None = None) -> dict[str, Array]:
    """Return the columns of a Parquet or Arrow file as arrays, in the shapes and dtypes that they were written with."""
    with Source(source) as opened, locating(source=opened.name):
        table = _open(opened)
        _take_labels(table, warn_of_finding)
        return table.read(names)


def scan_columnar(source: Readable) -> dict[str, ArrayInfo]:
    """Return an `ArrayInfo` for each array, from the file's metadata alone. `location` is the column."""
    with Source(source) as opened, locating(source=opened.name):
        table = _open(opened)
        labels = _take_labels(table, warn_of_finding)
        known = labels.variables if labels is not None else {}
        return table.infos({name: said.dims for name, said in known.items()})


def check_columnar(source: Readable) -> Iterator[Finding]:
    """Yield a finding for each column that cannot be read. An intact file has none."""
    findings: list[Finding] = []
    with noting(findings), Source(source) as opened:
        table = _open(opened)
        _take_labels(table, findings.append)
        for name in table.names:
            with noting(findings, array=name):
                table.read([name])
    yield from findings


def read_columns_columnar(
    source: Readable, columns: Sequence[str] | None = None, *, table: TableOptions | None = None
) -> dict[str, Array]:
    """Return each column of a file as a 1-D array. Shapes that `write` stored in the file are ignored."""
    options = table or TableOptions()
    if options != TableOptions(dtype=options.dtype, shape=options.shape, order=options.order, missing=options.missing):
        raise LimitError(
            "the columns of this format have names and dtypes of their own: leave out header, comment, decimal .."
        )
    with Source(source) as opened, locating(source=opened.name):
        opened_table = _open(opened, laid_out=False)
        for option in (options.dtype, options.shape):
            select(dict.fromkeys(opened_table.names), list(option) if isinstance(option, Mapping) else None)
        arrays = opened_table.read(columns)
        return {name: _shape_column(name, array, options) for name, array in arrays.items()}


def _shape_column(name: str, array: Array, options: TableOptions) -> Array:
    dtype = options.dtype.get(name) if isinstance(options.dtype, Mapping) else options.dtype
    shape = options.shape.get(name) if isinstance(options.shape, Mapping) else options.shape
    if dtype is not None:
        array, problems = cast_column(array, dtype, options.missing)
        for problem in problems:
            raise FormatError(problem.reason, location=f"{name}[{problem.index}]", array=name, hint=problem.hint)
    try:
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


def _open(source: Source, *, laid_out: bool = True) -> OpenTable:
    """Open a file; without `laid_out` its columns are arrays as they are."""
    import polars as pl

    refuse_empty(source.prefix(1), "byte 0")
    is_arrow = source.prefix(4) != b"PAR1"
    path, content = source.path, b""
    if is_arrow:
        check_claims(source.whole(text=False))
    if path is None:
        content = bytes(source.whole(text=False))
    size = len(content) if path is None else os.path.getsize(path)
    choosing = "names" if laid_out else "columns"
    damage = "not an Arrow file, or damaged" if is_arrow else "not a Parquet file, or damaged"

    def scan() -> pl.LazyFrame:
        file = path or io.BytesIO(content)
        return pl.scan_ipc(file, glob=False) if is_arrow else pl.scan_parquet(file, glob=False)

    def load(names: list[str]) -> pl.DataFrame:
        row_size = sum(_NARROW.get(type(columns[name]).__name__, 8) for name in names)
        if rows * row_size > max_inflated_size(size):  # a count of rows may be a claim
            reason = f"{rows:,} rows of {len(names):,} columns in {size:,} bytes: more than is read at once"
            raise FormatError(reason, hint=f"{choosing}= chooses columns")
        with damage_as_format_error(damage):
            frame = scan().select(names).collect()
        if frame.height != rows and frame.width:
            raise FormatError(f"{frame.height:,} rows, and {rows:,} by its metadata")
        if frame.estimated_size() > max_inflated_size(size):
            raise FormatError(f"inflates to {frame.estimated_size():,} bytes: more than is read at once")
        return frame

    with damage_as_format_error(damage):
        text = None if is_arrow else pl.read_parquet_metadata(path or io.BytesIO(content)).get(_KEY)
        columns = dict(scan().collect_schema())
        rows = int(scan().select(pl.len()).collect().item())
    if not columns:
        raise FormatError("no columns")
    if is_arrow and rows and columns.get(_COLUMN) == pl.String():
        text = load([_COLUMN])[_COLUMN][0] or ""
        del columns[_COLUMN]
    layout = TableLayout.from_text(text) if text is not None and laid_out else TableLayout()
    layout.check(columns, rows)
    return OpenTable(columns, rows, layout, load, choosing)


def _take_labels(table: OpenTable, note: NoteFinding) -> DatasetLabels | None:
    """Return the labels that the layout has, which are given to whoever asks for them."""

    def locate(error: FormatError) -> None:
        error.location = "the labels"

    return parse_labels(np.array([table.layout.labels]), note, locate) if table.layout.labels else None


# Writing -------------------------------------------------------------------------------------------------------------


def write_columnar(
    target: Writable,
    arrays: Any,
    *,
    form: Form = "parquet",
    compression: str | None = None,
    progress: Progress | None = None,
) -> None:
    """Write arrays as a Parquet or Arrow file: columns of one length, or a table with coordinates.

    `form`: "parquet" writes Parquet, "arrow" writes Arrow (Feather). `compression`: "zstd" (the default of Parquet),
    "uncompressed" (the default of Arrow) or "lz4"; for Parquet also "snappy" or "gzip".
    """
    frame, layout = to_table(arrays)
    natural = all(natural_dtype(frame[name].dtype) == dtype for name, (dtype, _) in layout.arrays.items())
    is_plain = natural and layout.dims is None and not layout.labels
    _save(target, frame, None if is_plain else layout.to_text(), form, compression, progress)


def write_table_columnar(
    target: Writable,
    table: Any,
    *,
    form: Form = "parquet",
    compression: str | None = None,
    progress: Progress | None = None,
) -> None:
    """Write the columns of a table as a Parquet or Arrow file, without shapes and labels."""
    frame, layout = to_table(values_by_name(table))
    if layout.dims is not None:
        raise LimitError(
            "the columns of a table must have one dimension and the same length: sheetarray.write takes other arrays"
        )
    _save(target, frame, None, form, compression, progress)


def _save(
    target: Writable,
    frame: pl.DataFrame,
    layout: str | None,
    form: Form,
    compression: Any,
    progress: Progress | None,
) -> None:
    import polars as pl

    if form not in list(_COMPRESSIONS):
        raise LimitError(f"form is 'parquet' or 'arrow', not {form!r:.80}")
    known = _COMPRESSIONS[form]
    packed: Any = compression or known[0]
    if compression is not None and compression not in known:
        raise LimitError(f"compression is {', '.join(map(repr, known))}, not {compression!r:.80}")
    buffer = io.BytesIO()
    if form == "parquet":
        metadata = None if layout is None else {_KEY: layout}
        frame.write_parquet(buffer, compression=packed, metadata=metadata)
    else:
        if layout is not None:
            if not frame.height:
                name = f"{frame.columns[0]!r:.80}"
                raise LimitError(f"{name} has no elements, and Arrow files without rows keep no shapes: write .parquet")
            if _COLUMN in frame.columns:
                raise LimitError(f"the name {_COLUMN!r} is that of the layout: rename the array")
            frame = frame.with_columns(pl.Series(_COLUMN, [layout, *[None] * (frame.height - 1)], dtype=pl.String))
        frame.write_ipc(buffer, compression=packed)
    total, report = frame.height * frame.width, progress or ignore_progress
    report(0, total)
    with replacing(target, binary=True) as sink:
        sink.write(buffer.getbuffer())
    report(total, total)


# Sizes that an Arrow file claims, compared with its bytes before polars takes memory for them.
_MAGIC = b"ARROW1"
_BATCH, _DICTIONARY = 3, 2  # kinds of messages


class _Flat:
    """A table of FlatBuffers in some bytes: its fields by number."""

    def __init__(self, content: BytesLike, place: int) -> None:
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


def check_claims(content: BytesLike) -> None:
    """Refuse an Arrow file whose batches claim more bytes than there are."""
    if content[:6] != _MAGIC or content[-6:] != _MAGIC or len(content) < 24:
        raise FormatError("not an Arrow file: it does not begin and end with ARROW1", location="byte 0")
    try:
        footer = len(content) - 10 - struct.unpack_from("<i", content, len(content) - 10)[0]
        if not 8 <= footer <= len(content) - 10:
            raise FormatError("the footer lies outside of the file")
        root = _Flat(content, footer + struct.unpack_from("<I", content, footer)[0])
        for number in (2, 3):
            for start, head, body in root.items(number, "<qi4xq"):
                _check_batch(content, start, head, body)
    except (struct.error, OverflowError) as error:
        raise FormatError(f"not an Arrow file, or damaged: {error}") from error


def _check_batch(content: BytesLike, start: int, head: int, body: int) -> None:
    if min(start, head, body) < 0 or start + head + body > len(content):
        raise FormatError(
            f"a batch of {head + body:,} bytes at byte {start:,} does not fit into the file of {len(content):,} bytes"
        )
    marked = struct.unpack_from("<I", content, start)[0] == 0xFFFFFFFF
    begin = start + (8 if marked else 4)
    message = _Flat(content, begin + struct.unpack_from("<I", content, begin)[0])
    batch = message.table(2)
    kind = message.read("<B", message.find(1))
    if batch is not None and kind == _DICTIONARY:
        batch = batch.table(1)
    if batch is None or kind not in (_BATCH, _DICTIONARY):
        raise FormatError("not a record batch")
    most, inflated = max_inflated_size(len(content)), 0
    compressed, buffers = batch.find(3) != 0, 0
    for offset, size in batch.items(2, "<qq"):
        buffers += 1
        if min(offset, size) < 0 or offset + size > body:
            raise FormatError(f"a buffer of {size:,} bytes does not fit into its batch of {body:,}")
        if compressed and size >= 8:
            inflated += max(0, struct.unpack_from("<q", content, start + head + offset)[0])
    lengths = [length for length, _ in batch.items(1, "<qq")] + [
        batch.read("<q", place) for place in [batch.find(0)] if place
    ]
    if inflated > most or any(not 0 <= length <= most for length in lengths):
        raise FormatError(f"a batch claims {max([inflated, *lengths]):,} bytes or rows: more than is read at once")
    if sum(abs(count) for (count,) in batch.items(4, "<q")) > buffers:
        raise FormatError("a batch claims more buffers than it has")
