"""Arrays <-> one table of polars, and the layout: what the columns do not say of the arrays.

Rows that somebody has sorted or changed no longer make the arrays: reading compares the coordinates, and refuses them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import dtypes
from ...arrays import linear_arrays, select, values_by_name
from ...columns import ArrayInfo
from ...dtypes import Array
from ...elements import text_array
from ...errors import DTypeError, FormatError, LimitError, locating
from ...header import check_size, contiguous_strides
from ...json_text import parse_json
from ...labels import DatasetLabels, describe_arrays
from ...tables import repeat
from ...values import Note, as_array

if TYPE_CHECKING:
    import polars as pl

_MOST_BYTES, _MOST_VALUES, _DEEPEST = 2**25, 1_000_000, 100


@dataclass(slots=True)
class TableLayout:
    """What the columns of a table do not say of the arrays in them.

    Attributes:
        dims: names and sizes of the dimensions whose product the rows are; None for a table of columns of one length.
        axes: the columns that only count along a dimension.
        arrays: the dtype of each array, and the names of its dimensions.
        labels: the text of the labels; "" for none.
    """

    dims: list[tuple[str, int]] | None = None
    axes: list[str] = field(default_factory=list)
    arrays: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    labels: str = ""

    def to_text(self) -> str:
        """Return the JSON text."""
        arrays = {name: {"dtype": dtype, "dims": dims} for name, (dtype, dims) in self.arrays.items()}
        return json.dumps({"dims": self.dims, "axes": self.axes, "labels": self.labels, "arrays": arrays})

    @classmethod
    def from_text(cls, text: str) -> TableLayout:
        """Return the layout that a JSON text says.

        Raises:
            FormatError: it says none.
        """
        tree = parse_json(
            text.encode("utf-8", "surrogatepass"),
            "a layout",
            most_bytes=_MOST_BYTES,
            most_values=_MOST_VALUES,
            deepest=_DEEPEST,
        )
        try:
            dims = tree["dims"] if tree["dims"] is None else [(str(name), int(size)) for name, size in tree["dims"]]
            arrays = {str(n): (str(a["dtype"]), tuple(map(str, a["dims"]))) for n, a in dict(tree["arrays"]).items()}
            layout = cls(dims, list(map(str, tree["axes"])), arrays, str(tree["labels"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(f"no layout of arrays: {error!r:.200}") from error
        names = [name for name, _ in layout.dims or ()]
        if any(size < 0 for _, size in layout.dims or ()) or len({*names}) < len(names):
            raise FormatError("no layout of arrays: sizes below 0, or a dimension twice")
        for name, (_, own) in layout.arrays.items():
            if layout.dims is not None and (not {*own} <= {*names} or len({*own}) < len(own)):
                raise FormatError(f"no layout of arrays: {name!r:.80} has other dimensions than the table")
        return layout

    def shape_of(self, name: str, rows: int) -> tuple[int, ...]:
        """Return the shape of an array in a table of so many rows."""
        sizes = dict(self.dims or ())
        return tuple(sizes[dim] for dim in self.arrays[name][1]) if self.dims is not None else (rows,)


# Arrays to a table ---------------------------------------------------------------------------------------------------


def to_table(arrays: Any) -> tuple[pl.DataFrame, TableLayout]:
    """Return the table of some arrays, and what it does not say of them.

    Raises:
        DTypeError: an awkward array.
        LimitError: arrays that are not columns of one table; names two.
    """
    import polars as pl

    described = describe_arrays(arrays)
    by_name, labels = (values_by_name(arrays), None) if described is None else described
    linear = linear_arrays(by_name)
    layout = TableLayout(arrays={name: (array.dtype, ()) for name, array in linear.items()})
    if labels is not None:
        layout.labels = "".join(labels.to_pieces(2**24).tolist())
    plain = {name: array.to_numpy() for name, array in linear.items()}
    if not all(array.ndim == 1 for array in plain.values()) or len({array.shape for array in plain.values()}) > 1:
        plain = _lay_out_grid(plain, layout, labels)
    return pl.DataFrame([_set_zone(_to_series(name, array), labels) for name, array in plain.items()]), layout


def _set_zone(column: pl.Series, labels: DatasetLabels | None) -> pl.Series:
    """Return a column of times with the zone that labels give them, which other programs then know."""
    known = labels.find(column.name) if labels is not None else None
    zone = Note(known.dtype).zone if known is not None else ""
    if not zone or type(column.dtype).__name__ != "Datetime" or zone.startswith("UTC"):
        return column.dt.replace_time_zone("UTC") if zone == "UTC" else column
    return column.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)


def _lay_out_grid(arrays: Mapping[str, Array], layout: TableLayout, labels: DatasetLabels | None) -> dict[str, Array]:
    """Return the columns of a table with a row for each element of the largest array."""
    dims = {name: _dims_of(name, array, labels) for name, array in arrays.items()}
    largest = max(arrays, key=lambda name: arrays[name].ndim)
    grid = dict(zip(dims[largest], arrays[largest].shape, strict=True))
    for name, array in arrays.items():
        if any(grid.get(dim) != size for dim, size in zip(dims[name], array.shape, strict=True)):
            raise LimitError(
                f"{largest!r:.80} has the shape {arrays[largest].shape}, and {name!r:.80} {array.shape}, which do not "
                "lie along the same dimensions: one table has one length, so write a file for each"
            )
    check_size(tuple(grid.values()), 8)
    columns: dict[str, Array] = {}
    shape = tuple(grid.values())
    for place, dim in enumerate(grid):
        if dims.get(dim) != (dim,):
            name = dim
            while name in arrays:
                name += "_"
            layout.axes.append(name)
            columns[name] = repeat(np.arange(grid[dim]), (place,), shape)
    for name, array in arrays.items():
        columns[name] = repeat(array, [list(grid).index(dim) for dim in dims[name]], shape)
    layout.dims = list(grid.items())
    layout.arrays = {name: (dtype, dims[name]) for name, (dtype, _) in layout.arrays.items()}
    return columns


def _dims_of(name: str, array: Array, labels: DatasetLabels | None) -> tuple[str, ...]:
    known = labels.find(name) if labels is not None else None
    if known is not None and len(known.dims) == array.ndim and labels is not None and labels.has_array(name):
        return known.dims
    return tuple(f"axis_{axis}" for axis in range(array.ndim))


def _to_series(name: str, array: Array) -> pl.Series:
    """Return a 1-D array as a column, from which `_to_array` makes it again."""
    import polars as pl

    array = np.ascontiguousarray(array)
    kind = array.dtype.kind
    if kind == "c":
        parts = {"real": pl.Series(array.real.copy()), "imag": pl.Series(array.imag.copy())}
        return pl.DataFrame(parts).to_struct(name)
    if kind in "mM":
        counts = pl.Series(name, array.view(np.int64))
        counts = counts.set(pl.Series(np.isnat(array)), None) if np.isnat(array).any() else counts
        unit = np.datetime_data(array.dtype)
        if unit == ("D", 1) and kind == "M" and _fits_days(array):
            return counts.cast(pl.Int32).cast(pl.Date)
        if unit[1] == 1 and unit[0] in ("ms", "us", "ns"):
            return counts.cast(pl.Datetime(unit[0]) if kind == "M" else pl.Duration(unit[0]))  # type: ignore[arg-type]
        return counts
    if kind in "UT":
        return pl.Series(name, array.tolist(), dtype=pl.String)
    if kind == "O":
        return _generic_series(name, array.tolist())
    return pl.Series(name, array.astype(np.float32) if array.dtype == np.float16 else array)


def _fits_days(array: Array) -> bool:
    days = array.view(np.int64)[~np.isnat(array)]
    return not len(days) or (int(days.min()) >= -(2**31) and int(days.max()) < 2**31)


def _generic_series(name: str, values: list[Any]) -> pl.Series:
    """Return values of one kind as such, None as null; of several kinds as JSON."""
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if kinds == {str}:
        return pl.Series(name, values, dtype=pl.String)
    if kinds == {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds == {int} and all(value is None or -(2**63) <= value < 2**63 for value in values):
        return pl.Series(name, values, dtype=pl.Int64)
    texts = pl.Series("json", [None if value is None else json.dumps(value) for value in values], dtype=pl.String)
    return texts.to_frame().to_struct(name) if kinds else texts.alias(name)


def natural_dtype(dtype: Any) -> str:
    """Return the name of the dtype of the array that a column of polars is without a layout; "" if it depends."""
    name, unit = type(dtype).__name__, getattr(dtype, "time_unit", "")
    if name in ("Datetime", "Duration") and not getattr(dtype, "time_zone", None):
        return f"{'datetime' if name == 'Datetime' else 'timedelta'}64[{unit}]"
    return {"Boolean": "bool", "String": "string", "Date": "datetime64[D]"}.get(name, name.lower())


# A table to arrays ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class OpenTable:
    """A file of columns that was opened: its columns, and what it says besides.

    Attributes:
        columns: the names and dtypes of its columns, without what is only for this package.
        rows: their number.
        layout: of arrays; None if the file says none.
        load: returns columns of given names.
    """

    columns: dict[str, Any]
    rows: int
    layout: TableLayout | None
    load: Any

    @property
    def names(self) -> list[str]:
        """The names of the arrays."""
        return [name for name in self.columns if self.layout is None or name not in self.layout.axes]

    def read(self, names: Sequence[str] | None) -> dict[str, Array]:
        """Return arrays by name.

        Raises:
            FormatError: a column that no array holds, or rows that no longer make the arrays; `.array` is the name.
            NotFoundError: no such array.
        """
        wanted = list(select(dict.fromkeys(self.names), names))
        layout = self.layout
        axes = layout.axes if layout is not None and wanted else []
        frame = self.load([*axes, *wanted])
        arrays: dict[str, Array] = {}
        for name in [*axes, *wanted]:
            with _naming_column(name):
                dtype = layout.arrays[name][0] if layout is not None and name in layout.arrays else ""
                arrays[name] = _to_array(frame[name], dtype)
                if layout is not None and layout.dims is not None and (name in layout.arrays or name in axes):
                    arrays[name] = _fold(name, arrays[name], layout)
        return {name: _own(arrays[name]) for name in wanted}

    def infos(self, dims: Mapping[str, tuple[str, ...]]) -> dict[str, ArrayInfo]:
        """Return the infos of all arrays. `dims`: the names of their dimensions, where they are known."""
        infos = {}
        for name in self.names:
            known = self.layout is not None and name in self.layout.arrays
            shape = self.layout.shape_of(name, self.rows) if self.layout is not None and known else (self.rows,)
            dtype = (
                self.layout.arrays[name][0] if self.layout is not None and known else natural_dtype(self.columns[name])
            )
            shape += tuple(getattr(self.columns[name], "shape", ())) if not known else ()
            count, own = math.prod(shape), dims.get(name)
            own = own if own is not None and len(own) == len(shape) else None
            strides = contiguous_strides(shape, "row-major")
            location = f"column {name!r:.80}"
            infos[name] = ArrayInfo(shape, dtype, "row-major", strides, location, self.rows, capacity=count, dims=own)
        return infos


def _own(array: Array) -> Array:
    return array if array.flags.writeable else array.copy()


@contextmanager
def _naming_column(name: str) -> Iterator[None]:
    """Give an error of reading the column that it comes from."""
    with locating(array=name):
        try:
            yield
        except FormatError as error:
            error.location = f"column {name!r:.80}"
            raise
        except DTypeError as error:
            hint = "names= chooses other columns"
            raise FormatError(str(error), location=f"column {name!r:.80}", hint=hint, array=name) from error


def _to_array(series: pl.Series, dtype: str) -> Array:
    """Return the array that a column is; `dtype` is that of the layout, "" for the column's own.

    Raises:
        FormatError: the column holds something else than its layout says.
        DTypeError: a column that no array holds.
    """
    if not dtype or (dtype == natural_dtype(series.dtype) and not series.null_count()):
        return as_array(series)
    entry = dtypes.from_name(dtype)
    wanted, kind, stored = entry.numpy, entry.kind, type(series.dtype).__name__
    if kind == "generic":
        return _to_objects(series)
    if kind == "string" and stored == "String" and not series.null_count():
        return text_array(series.to_list())
    if kind == "complex" and stored == "Struct" and not series.null_count():
        parts = series.struct.unnest()
        if parts.columns == ["real", "imag"] and all(part.dtype.is_float() for part in parts.iter_columns()):
            array = np.empty(len(series), wanted)
            array.real, array.imag = parts["real"].to_numpy(), parts["imag"].to_numpy()
            return array
    if wanted.kind in "mM" and stored == "Int64":
        missing = series.is_null().to_numpy()
        counts = np.array(series.fill_null(0).to_numpy(), np.int64)
        counts[missing] = np.iinfo(np.int64).min
        return counts.view(wanted)
    array = as_array(series)
    if array.dtype.kind == wanted.kind and wanted.kind in "mMf":
        with np.errstate(over="ignore"):
            same = array.astype(wanted)
        if np.array_equal(same.astype(array.dtype), array, equal_nan=True):
            return same
    raise FormatError(f"holds {series.dtype}, and was written as {dtype}", hint="read_columns reads it as it is")


def _to_objects(series: pl.Series) -> Array:
    array = np.empty(len(series), dtype=object)
    values = series.to_list()
    if type(series.dtype).__name__ == "Struct":
        texts = [value and value.get("json") for value in values]
        try:
            values = [None if text is None else json.loads(text) for text in texts]
        except (ValueError, TypeError, RecursionError) as error:
            raise FormatError(f"a value that is not JSON: {error!s:.80}") from error
    if not {*map(type, values)} <= {type(None), bool, int, float, str}:
        raise FormatError("a value that no generic array holds")
    array[:] = values
    return as_array(array)


def _fold(name: str, column: Array, layout: TableLayout) -> Array:
    """Return an array of its own dimensions from its column, in which it is repeated along all others.

    Raises:
        FormatError: the rows are others than were written, or in another order.
    """
    assert layout.dims is not None
    dims, shape = [dim for dim, _ in layout.dims], tuple(size for _, size in layout.dims)
    own = layout.arrays[name][1] if name in layout.arrays else (dims[_axis_of(name, layout)],)
    places = [dims.index(dim) for dim in own]
    grid = column.reshape(shape)
    if 0 in shape:
        return np.empty([shape[place] for place in places], column.dtype)
    first = grid[(*(slice(None) if place in places else 0 for place in range(len(shape))), ...)]
    order = sorted(places)
    array = np.array(first.transpose([order.index(place) for place in places]))
    again = repeat(array, places, shape)
    counts = name in layout.axes and not np.array_equal(array, np.arange(len(array)))
    if counts or not _is_same(again, column):
        raise FormatError(
            "the rows are no longer those that were written, or in another order", hint="read_columns reads the table"
        )
    return array


def _axis_of(name: str, layout: TableLayout) -> int:
    """Return the place of the dimension along which an added column counts."""
    uncounted = [
        place for place, (dim, _) in enumerate(layout.dims or ()) if layout.arrays.get(dim, ("", ()))[1] != (dim,)
    ]
    return uncounted[layout.axes.index(name)]


def _is_same(one: Array, other: Array) -> bool:
    if one.dtype.kind in "fc":
        return bool(
            np.array_equal(np.nan_to_num(one, nan=0.0), np.nan_to_num(other, nan=0.0))
            and np.array_equal(np.isnan(one), np.isnan(other))
        )
    if one.dtype.kind in "mM":
        return bool(np.array_equal(one.view(np.int64), other.view(np.int64)))
    return bool(np.array_equal(one, other))
