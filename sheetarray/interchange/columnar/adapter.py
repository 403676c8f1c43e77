"""`.parquet` and `.arrow` (`.feather`): arrays of one dimension and one length are the columns of a table, by polars.

What such a table does not keep is refused by name when it is written: other shapes, labels, and dtypes that Arrow does
not have. Which of the two formats a file is, its first bytes say. A Parquet file of this machine is read no further
than is asked for.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...columns import ArrayInfo
from ...dtypes import Array
from ...errors import DTypeError, Finding, FormatError, LimitError, locating, noting, while_few
from ...files import Readable, Source, Writable, refuse_empty, replacing, room_of
from ...formats.contract import EVERYTHING, Keeps, Progress, ignore_progress
from ...labels import DatasetLabels, describe_arrays, give_labels
from ...linear.array import LinearArray
from ...linear.header import NoteFinding
from ...linear.named import check_unicode, linear_arrays, refuse_lists, select, values_by_name
from ...linear.parsing import warn_of_finding
from ...linear.resizing import contiguous_strides
from ...tables import TableOptions, cast_column
from ...tables.arrow import to_series
from ...values import Note, RaggedError, as_array
from ..untrusted import damage_as_format_error
from .arrow_claims import check_claims
from .parquet_claims import MAGIC, PageClaims

if TYPE_CHECKING:
    import polars as pl

Form = Literal["parquet", "arrow"]

# Labels that do not come back are refused, so that `write` need not warn of them
keeps_columnar = Keeps(EVERYTHING - {"complex64", "complex128"}, order=False, labels=True, table=True)

_COMPRESSIONS = {"parquet": ("zstd", "snappy", "lz4", "gzip", "uncompressed"), "arrow": ("uncompressed", "zstd", "lz4")}
_UNITS = {"datetime64": ("D", "ms", "us", "ns"), "timedelta64": ("ms", "us", "ns")}  # that Arrow counts in
_CASTS = {"Y": "D", "M": "D", "W": "D", "D": "ms", "h": "ms", "m": "ms", "s": "ms"}  # to such a unit, without a loss
# What labels say of a column whose values and missing values a table keeps
_KEPT = re.compile(
    r"object|boolean|bool|(U?Int|Float|u?int|float)\d+|(str|string|StringDType|<U|datetime64|timedelta64)\W.*|str|string|<U\d+"
)
_OLD_KEY, _OLD_COLUMN = "sheetarray", "sheetarray.json"  # of version 1.0: what the columns did not say of the arrays
_OLD = "an earlier version wrote shapes, dtypes or labels here, which are not read: the columns are read as they are"
_LONGEST_LIST = 300  # characters of a list of columns in a hint
_COUNTED = 2**26  # bytes of columns in which `scan` counts the nulls
_NARROW = {"Null": 1, "Boolean": 1, "Int8": 1, "UInt8": 1, "Int16": 2, "UInt16": 2, "Float16": 2}  # bytes of an element
_NARROW |= {"Int32": 4, "UInt32": 4, "Float32": 4, "Date": 4, "String": 16}


@dataclass(slots=True)
class _File:
    """A file of columns, which are loaded by name."""

    lazy: pl.LazyFrame
    columns: dict[str, Any]  # the names of its columns and their dtypes, which are those of polars
    rows: int
    room: int  # bytes that its arrays may take
    choosing: str  # the option of the caller that names columns
    claims: PageClaims | None  # of a Parquet file

    def load(self, names: Sequence[str] | None) -> dict[str, Array]:
        """Return columns as arrays."""
        chosen = list(select(dict.fromkeys(self.columns), names))
        for name in chosen:
            with self._naming_column(name):
                _empty_array(self.columns[name])  # refuses a dtype that no array has
        self._check_room(self._least_bytes(chosen), len(chosen))
        with damage_as_format_error("damaged"):
            frame = self.lazy.select(chosen).collect()
        if frame.width and frame.height != self.rows:
            raise FormatError(f"{frame.height:,} rows, and {self.rows:,} by its metadata")
        self._check_room(sum(map(_array_bytes, frame.iter_columns())), len(chosen))
        arrays = {}
        for name in chosen:
            with self._naming_column(name):
                array = as_array(frame.drop_in_place(name))
                arrays[name] = array if array.flags.writeable else array.copy()
        return arrays

    def find_generic(self) -> set[str]:
        """Return the names of columns that become generic arrays, because they hold nulls; of a small file alone."""
        import polars as pl

        names = [name for name, dtype in self.columns.items() if _is_whole(dtype) or dtype == pl.String()]
        if self._least_bytes(names) > _COUNTED:
            return set()
        with damage_as_format_error("damaged"):
            counts = self.lazy.select(pl.col(name).null_count() for name in names).collect()
        return {name for name in names if counts[name][0]}

    def _least_bytes(self, names: Sequence[str]) -> int:
        """Return the bytes that columns take in polars, at least."""
        rows = self.rows * sum(_row_bytes(self.columns[name]) for name in names)
        return rows if self.claims is None else max(rows, self.claims.add(names))

    def _check_room(self, count: int, width: int) -> None:
        if count > self.room:
            reason = f"{self.rows:,} rows of {width:,} columns take {count:,} bytes: more than is read at once"
            raise FormatError(f"{reason} of this file", hint=f"{self.choosing}= chooses columns")

    @contextlib.contextmanager
    def _naming_column(self, name: str) -> Iterator[None]:
        """Add the name of the column to an error, and a hint with the line that reads the other columns."""
        location = f"column {name!r:.80}"
        try:
            yield
        except FormatError as error:
            error.location, error.array = location, error.array or name
            raise
        except DTypeError as error:
            lists = isinstance(error, RaggedError)
            reason = "a column of lists cannot be read as an array" if lists else str(error)
            raise FormatError(reason, location=location, hint=self._others_hint(name), array=name) from error

    def _others_hint(self, lost: str) -> str:
        refused = [lost]
        for name, dtype in self.columns.items():
            with contextlib.suppress(FormatError):
                try:
                    _empty_array(dtype)
                except DTypeError:
                    refused += [name] if name != lost else []
        names = [name for name in self.columns if name not in refused]
        if len(text := repr(names)) > _LONGEST_LIST:
            text = f"[name for name in sheetarray.scan(source) if name not in {refused!r}]"
        return f"{self.choosing}={text} reads the others" if names and len(text) <= _LONGEST_LIST else ""


def _empty_array(dtype: Any) -> Array:
    import polars as pl

    return as_array(pl.Series([], dtype=dtype))


def _is_whole(dtype: Any) -> bool:
    """Return whether a column holds integers, booleans or nothing, so that a null makes a generic array of it."""
    return type(dtype).__name__ in ("Null", "Boolean") or bool(dtype.is_integer())


def _row_bytes(dtype: Any) -> int:
    """Return the bytes that an element of a column takes in polars, at least."""
    if type(dtype).__name__ == "Array":
        return int(dtype.size) * _row_bytes(dtype.inner)
    return _NARROW.get(type(dtype).__name__, 8)


def _array_bytes(series: pl.Series) -> int:
    """Return the bytes that a column takes while an array is made of it: text and missing values become objects."""
    kind = type(series.dtype).__name__
    if kind in ("String", "Categorical", "Enum"):
        lengths = series.str.len_bytes() if kind == "String" else series.cat.len_bytes()
        return 80 * len(series) + 3 * int(lengths.sum() or 0)
    if kind in ("Decimal", "Time"):
        return 600 * len(series)
    return len(series) * (40 if _is_whole(series.dtype) and series.null_count() else 2 * _row_bytes(series.dtype))


@contextlib.contextmanager
def _open(source: Readable, note: NoteFinding, choosing: str = "names") -> Iterator[_File]:
    """Open a file; `note` is called with a finding if an earlier version wrote more than columns into it."""
    import polars as pl

    with Source(source) as opened, locating(source=opened.name):
        refuse_empty(opened.prefix(1), "byte 0")
        is_arrow = opened.prefix(4) != MAGIC
        file: Any = opened.path
        if is_arrow or file is None:  # polars would map an Arrow file
            with opened.open_again() as stream:
                file = io.BytesIO(stream.read())
        size = file.getbuffer().nbytes if isinstance(file, io.BytesIO) else os.path.getsize(file)
        room = room_of(size)
        claims = None
        if is_arrow:
            check_claims(memoryview(file.getvalue()), room)  # no export of the file, which an error would keep open
        else:
            claims = PageClaims(opened.open_again)
        with damage_as_format_error(f"not {'an Arrow' if is_arrow else 'a Parquet'} file, or damaged"):
            lazy = pl.scan_ipc(file, glob=False) if is_arrow else pl.scan_parquet(file, glob=False)
            columns = dict(lazy.collect_schema())
            rows = int(lazy.select(pl.len()).collect().item())
            said = {} if is_arrow else pl.read_parquet_metadata(file)
            if is_arrow and rows and columns.get(_OLD_COLUMN) == pl.String():
                with contextlib.suppress(ValueError, TypeError, RecursionError):
                    tree = json.loads(lazy.select(_OLD_COLUMN).head(1).collect().item())
                    said = {_OLD_KEY: ""} if isinstance(tree, dict) and "arrays" in tree else said
        if _OLD_KEY in said:
            note(Finding("warning", "the metadata", _OLD))
            columns.pop(_OLD_COLUMN, None)
        if not columns:
            raise FormatError("no columns")
        yield _File(lazy, columns, rows, room, choosing, claims)


def _take_labels(file: _File) -> DatasetLabels | None:
    """Return what the dtypes of columns say beyond those of arrays, such as zones; whoever asks for labels gets it."""
    import polars as pl

    dtypes = {
        name: dtype for name, dtype in file.columns.items() if type(dtype).__name__ in ("Datetime", "Decimal", "Time")
    }
    described = describe_arrays(pl.DataFrame(schema=dtypes)) if dtypes else None
    labels = described[1] if described is not None else None
    if labels is not None:
        give_labels(labels)
    return labels


def read_columnar(source: Readable, names: Sequence[str] | None = None) -> dict[str, Array]:
    """Return the columns of a Parquet or Arrow file as arrays of one dimension.

    A null is NaN in floats and NaT in dates; other columns with nulls become generic arrays, in which it is None.
    """
    with _open(source, warn_of_finding) as file:
        _take_labels(file)
        return file.load(names)


def scan_columnar(source: Readable) -> dict[str, ArrayInfo]:
    """Return an `ArrayInfo` for each column, from the file's metadata alone. `location` is the column."""
    with _open(source, warn_of_finding) as file:
        _take_labels(file)
        infos, generic = {}, file.find_generic()
        for name, dtype in file.columns.items():
            shape = (file.rows, *getattr(dtype, "shape", ()))
            strides, size = contiguous_strides(shape, "row-major"), math.prod(shape)
            where = f"column {name!r:.80}"
            named = "generic" if name in generic else _dtype_name(dtype)
            infos[name] = ArrayInfo(shape, named, "row-major", strides, where, size, capacity=size)
        return infos


def _dtype_name(dtype: Any) -> str:
    """Return the name of the dtype of the array that a column without nulls becomes; of others, what polars says."""
    try:
        return LinearArray.from_numpy(_empty_array(dtype)).dtype
    except (FormatError, DTypeError):
        return type(dtype).__name__.lower()


def check_columnar(source: Readable) -> Iterator[Finding]:
    """Yield a finding for each column that cannot be read. An intact file has none."""
    findings: list[Finding] = []
    with noting(findings), _open(source, findings.append) as file:
        for name in while_few(file.columns, findings):
            with noting(findings, array=name):
                file.load([name])
    yield from findings


def read_columns_columnar(
    source: Readable, columns: Sequence[str] | None = None, *, table: TableOptions | None = None
) -> dict[str, Array]:
    """Return the columns of a file as arrays, in dtypes and shapes that are given."""
    options = table or TableOptions()
    if options != TableOptions(dtype=options.dtype, shape=options.shape, order=options.order, missing=options.missing):
        raise LimitError(
            "the columns of this format have names and dtypes of their own: leave out header, comment, decimal .."
        )
    with _open(source, warn_of_finding, "columns") as file:
        for option in (options.dtype, options.shape):
            select(dict.fromkeys(file.columns), list(option) if isinstance(option, Mapping) else None)
        return {name: _shape_column(name, array, options) for name, array in file.load(columns).items()}


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


def write_columnar(
    target: Writable,
    arrays: Any,
    *,
    form: Form = "parquet",
    compression: str | None = None,
    progress: Progress | None = None,
) -> None:
    """Write arrays of one dimension and one length as the columns of a Parquet or Arrow file.

    `form`: "parquet" writes Parquet, "arrow" writes Arrow (Feather). `compression`: "zstd" (the default of Parquet),
    "uncompressed" (the default of Arrow) or "lz4"; for Parquet also "snappy" or "gzip".
    """
    by_name, labels = describe_arrays(arrays) or (values_by_name(arrays), None)
    if labels is not None:
        _refuse_labels(labels)
    _save(target, _to_frame(arrays, by_name, labels), form, compression, progress)


def write_table_columnar(
    target: Writable,
    table: Any,
    *,
    form: Form = "parquet",
    compression: str | None = None,
    progress: Progress | None = None,
) -> None:
    """Write the columns of a table as a Parquet or Arrow file; an index and coordinates are columns like the others."""
    by_name, labels = describe_arrays(table) or (values_by_name(table), None)
    _save(target, _to_frame(table, by_name, labels), form, compression, progress)


def _refuse_labels(labels: DatasetLabels) -> None:
    """Refuse what a table of columns does not keep: coordinates, an index, attributes, categories."""
    for lost in _list_lost(labels):
        raise LimitError(
            f"{lost}, and a file of columns keeps no labels: write_table writes the columns alone, and .nc, .xlsx and "
            ".csv keep the labels too"
        )


def _list_lost(labels: DatasetLabels) -> Iterator[str]:
    """Yield a phrase for each label that would be lost."""
    if labels.attrs:
        yield f"there are attributes ({', '.join(labels.attrs):.80})"
    for name, said in labels.variables.items():
        dims = [dim for dim in said.dims if dim not in ("index", f"{name}_0")]
        if name in labels.coords:
            yield f"{name!r:.80} is an index or a coordinate"
        elif said.attrs:
            yield f"{name!r:.80} has attributes ({', '.join(said.attrs):.80})"
        elif dims:
            yield f"{name!r:.80} has the dimension {dims[0]!r:.80}"
        elif name in labels.frame.labels:
            yield f"the label of {name!r:.80} is no text"
        elif not _KEPT.fullmatch(said.dtype):
            yield f"{name!r:.80} is a column of {said.dtype:.80}"


def _to_frame(arrays: Any, by_name: Mapping[str, Any], labels: DatasetLabels | None) -> pl.DataFrame:
    """Return arrays as the columns of a table; what does not come back as it is, is refused by its name."""
    import polars as pl

    refuse_lists(arrays, by_name)
    check_unicode(by_name)
    if "" in by_name:
        raise LimitError("a column cannot have the name '': rename it")
    plain = {name: array.to_numpy() for name, array in linear_arrays(by_name).items()}
    first, length = next((name, array.shape) for name, array in plain.items())
    for name, array in plain.items():
        if array.ndim != 1:
            raise LimitError(
                f"{name!r:.80} has the shape {array.shape}, and a column has one dimension: write .nc, .zarr or .npz"
            )
        if array.shape != length:
            raise LimitError(
                f"{first!r:.80} has {length[0]:,} elements, and {name!r:.80} {len(array):,}: the columns of one file "
                "have one length, so write a file for each, or .npz, .nc or .xlsx"
            )
    return pl.DataFrame([_set_zone(_to_column(name, array), labels) for name, array in plain.items()])


def _to_column(name: str, array: Array) -> pl.Series:
    """Return an array as a column that becomes the same array again."""
    kind, dtype = array.dtype.kind, LinearArray.from_numpy(array).dtype
    if kind == "c":
        raise DTypeError(f"{name}: no column of Arrow holds complex numbers: write .real and .imag, or .npz or .nc")
    if kind in "mM":
        unit, step = np.datetime_data(array.dtype)
        units = _UNITS[dtype.partition("[")[0]]
        if unit not in units or step != 1:
            cast = _CASTS.get(unit, "") if step == 1 and (kind == "M" or unit not in "YM") else ""
            cast = cast if cast in units else cast and "ms"
            advice = f"array.astype({dtype.partition('[')[0] + '[' + cast + ']'!r}), or " if cast else ""
            raise DTypeError(f"{name}: no column of Arrow counts in the unit of {dtype}: {advice}write .npz or .nc")
    try:
        column = to_series(name, array)
    except DTypeError as error:
        reason = str(error).partition(": dtype= names")[0]
        raise DTypeError(f"{reason}: write .csv, .json or .xlsx") from error
    if kind == "O":
        again = as_array(column)
        if again.dtype != array.dtype or any(type(x) is not type(y) for x, y in zip(again, array, strict=True)):
            raise DTypeError(
                f"{name}: a generic array that would come back as {LinearArray.from_numpy(again).dtype}: "
                "array.astype(..) says its dtype, and .csv, .json and .xlsx keep it generic"
            )
    return column


def _set_zone(column: pl.Series, labels: DatasetLabels | None) -> pl.Series:
    """Return a column of times with the zone that labels give them."""
    said = labels.find(column.name) if labels is not None else None
    zone = Note(said.dtype).zone if said is not None else ""
    if not zone or type(column.dtype).__name__ != "Datetime":
        return column
    return column.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)


def _save(target: Writable, frame: pl.DataFrame, form: Form, compression: Any, progress: Progress | None) -> None:
    if form not in list(_COMPRESSIONS):
        raise LimitError(f"form is 'parquet' or 'arrow', not {form!r:.80}")
    compressions = _COMPRESSIONS[form]
    if compression is not None and compression not in compressions:
        raise LimitError(f"compression is {', '.join(map(repr, compressions))}, not {compression!r:.80}")
    packed: Any = compression or compressions[0]
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression=packed) if form == "parquet" else frame.write_ipc(
        buffer, compression=packed
    )
    total, report = frame.height * frame.width, progress or ignore_progress
    report(0, total)
    with replacing(target, binary=True) as sink:
        sink.write(buffer.getbuffer())
    report(total, total)
