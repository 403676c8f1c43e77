"""Arrays <-> one table of polars, and the layout: what the columns do not say of the arrays.

Rows that somebody has sorted or changed no longer make the arrays: reading compares the coordinates, and refuses them.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import dtypes
from ...arrays import linear_arrays, refuse_lists, select, values_by_name
from ...columns import ArrayInfo
from ...dtypes import Array
from ...elements import text_array, to_scalar
from ...errors import DTypeError, FormatError, LimitError
from ...header import check_size, contiguous_strides
from ...json_text import parse_json
from ...labels import DatasetLabels, describe_arrays
from ...tables import repeat
from ...tables.arrow import to_series
from ...values import Note, as_array, to_objects
from ..untrusted import parse_values

if TYPE_CHECKING:
    import polars as pl

_LONGEST_LIST = 300  # characters of a list of columns in a hint
_MOST = {"most_bytes": 2**25, "most_values": 1_000_000, "deepest": 100}  # of a layout


@dataclass(slots=True)
class TableLayout:
    """What the columns of a table do not say of the arrays in them."""

    # names and sizes of the dimensions whose product the rows are; None for a table of columns of one length
    dims: list[tuple[str, int]] | None = None
    axes: list[str] = field(default_factory=list)  # the columns that only count along a dimension
    # the dtype of each array, and the names of its dimensions
    arrays: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    labels: str = ""  # the text of the labels; "" for none

    def to_text(self) -> str:
        """Return the layout as JSON."""
        arrays = {name: {"dtype": dtype, "dims": dims} for name, (dtype, dims) in self.arrays.items()}
        return json.dumps({"dims": self.dims, "axes": self.axes, "labels": self.labels, "arrays": arrays})

    @classmethod
    def from_text(cls, text: str) -> TableLayout:
        """Return the layout that a JSON text says."""
        tree = parse_json(text.encode("utf-8", "surrogatepass"), "a layout", **_MOST)
        try:
            dims = tree["dims"] if tree["dims"] is None else [(str(name), int(size)) for name, size in tree["dims"]]
            arrays = {str(n): (str(a["dtype"]), tuple(map(str, a["dims"]))) for n, a in dict(tree["arrays"]).items()}
            layout = cls(dims, list(map(str, tree["axes"])), arrays, str(tree["labels"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(f"not a layout of arrays: {error!r:.200}") from error
        names = [name for name, _ in layout.dims or ()]
        if any(size < 0 for _, size in layout.dims or ()) or len({*names}) < len(names):
            raise FormatError("not a layout of arrays: sizes below 0, or a dimension twice")
        for name, (_, own) in layout.arrays.items():
            if layout.dims is not None and (not {*own} <= {*names} or len({*own}) < len(own)):
                raise FormatError(f"not a layout of arrays: {name!r:.80} has other dimensions than the table")
        return layout

    @property
    def counted(self) -> dict[str, int]:
        """The dimensions that have no array of their name, so that a column counts along each; and their places."""
        dims = [dim for dim, _ in self.dims or ()]
        return {dim: place for place, dim in enumerate(dims) if self.arrays.get(dim, ("", ()))[1] != (dim,)}

    def check(self, columns: Iterable[str], rows: int) -> None:
        """Refuse columns that contradict the layout, and forget the arrays of a plain table that are not there."""
        missing = {*self.axes, *self.arrays} - {*columns}
        if self.dims is not None:
            expected = math.prod(size for _, size in self.dims)
            if missing or len(self.counted) != len(self.axes) or expected != rows:
                raise FormatError(
                    "rows or columns were changed since the file was written", hint="read_columns reads the table"
                )
        for name in missing:
            self.arrays.pop(name, None)


# Arrays to a table ---------------------------------------------------------------------------------------------------


def to_table(arrays: Any) -> tuple[pl.DataFrame, TableLayout]:
    """Return the table of some arrays, and what it does not say of them."""
    import polars as pl

    described = describe_arrays(arrays)
    by_name, labels = (values_by_name(arrays), None) if described is None else described
    refuse_lists(arrays, by_name)
    if "" in by_name:
        raise LimitError("a column cannot have the name '': rename it")
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
    layout.dims = list(grid.items())
    layout.arrays = {name: (dtype, dims[name]) for name, (dtype, _) in layout.arrays.items()}
    for dim, place in layout.counted.items():
        name = dim
        while name in arrays:
            name += "_"
        layout.axes.append(name)
        columns[name] = repeat(np.arange(grid[dim]), (place,), shape)
    for name, array in arrays.items():
        columns[name] = repeat(array, [list(grid).index(dim) for dim in dims[name]], shape)
    return columns


def _dims_of(name: str, array: Array, labels: DatasetLabels | None) -> tuple[str, ...]:
    known = labels.find(name) if labels is not None else None
    if known is not None and len(known.dims) == array.ndim and labels is not None and labels.has_array(name):
        return known.dims
    return tuple(f"axis_{axis}" for axis in range(array.ndim))


def _to_series(name: str, array: Array) -> pl.Series:
    """Return a 1-D array as a column, from which `_to_array` makes it again."""
    import polars as pl

    array = np.ascontiguousarray(array, np.float32 if array.dtype == np.float16 else None)
    values = array.tolist() if array.dtype.kind == "O" else []
    if values and all(value is None for value in values):
        return pl.Series(name, values, dtype=pl.String)
    with contextlib.suppress(DTypeError):
        return to_series(name, array)
    if array.dtype.kind == "c":
        parts = {"real": pl.Series(array.real.copy()), "imag": pl.Series(array.imag.copy())}
        return pl.DataFrame(parts).to_struct(name)
    if array.dtype.kind in "mM":
        counts = pl.Series(name, array.view(np.int64))
        return counts.set(pl.Series(np.isnat(array)), None) if np.isnat(array).any() else counts
    texts = [None if value is None else json.dumps(to_scalar(value)) for value in values]
    return pl.DataFrame({"json": pl.Series(texts, dtype=pl.String)}).to_struct(name)


def natural_dtype(dtype: Any) -> str:
    """Return the name of the dtype of the array that a column of polars is without a layout; "" if it depends."""
    name, unit = type(dtype).__name__, getattr(dtype, "time_unit", "")
    if name in ("Datetime", "Duration") and not getattr(dtype, "time_zone", None):
        return f"{'datetime' if name == 'Datetime' else 'timedelta'}64[{unit}]"
    return {"Boolean": "bool", "String": "string", "Date": "datetime64[D]"}.get(name, name.lower())


# A table to arrays ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class OpenTable:
    """A file of columns that was opened."""

    columns: dict[str, Any]  # the names and dtypes of its columns, without what is only for this package
    rows: int  # their number
    layout: TableLayout  # of arrays; an empty one if the file says none
    load: Callable[[list[str]], pl.DataFrame]  # returns columns of given names
    choosing: str = "names"  # the option of the caller that names arrays

    @property
    def names(self) -> list[str]:
        """The names of the arrays."""
        return [name for name in self.columns if name not in self.layout.axes]

    def read(self, names: Sequence[str] | None) -> dict[str, Array]:
        """Return arrays by name; the columns that count along dimensions are read with them, and compared."""
        wanted = list(select(dict.fromkeys(self.names), names))
        axes = dict(zip(self.layout.axes, self.layout.counted.values(), strict=False)) if wanted else {}
        frame = self.load([*axes, *wanted])
        for name, place in axes.items():
            with self._naming_column(name):
                counts = _fold(_to_array(frame[name], ""), (place,), self.layout)
                if not np.array_equal(counts, np.arange(len(counts))):
                    raise _changed_rows()
        arrays = {}
        for name in wanted:
            with self._naming_column(name):
                if type(self.columns[name]).__name__ == "List":
                    raise DTypeError("a column of lists cannot be read as an array")
                dtype, own = self.layout.arrays.get(name, ("", None))
                array = _to_array(frame[name], dtype)
                if self.layout.dims is not None and own is not None:
                    dims = [dim for dim, _ in self.layout.dims]
                    array = _fold(array, [dims.index(dim) for dim in own], self.layout)
                arrays[name] = array if array.flags.writeable else array.copy()
        return arrays

    @contextlib.contextmanager
    def _naming_column(self, name: str) -> Iterator[None]:
        """Give an error of reading the column that it comes from."""
        location = f"column {name!r:.80}"
        try:
            yield
        except FormatError as error:
            error.location, error.array = location, error.array or name
            raise
        except DTypeError as error:
            others = self._list_others(name)
            hint = f"{self.choosing}={others} reads the others" if others else ""
            raise FormatError(str(error), location=location, hint=hint, array=name) from error

    def _list_others(self, name: str) -> str:
        """Return an expression for the columns of which arrays are made, as this one is not; "" if there are none."""
        import polars as pl

        lost = [name]
        for other, dtype in self.columns.items():
            try:
                _to_array(pl.Series([], dtype=dtype), self.layout.arrays.get(other, ("",))[0])
            except (FormatError, DTypeError):
                lost += [other] if other != name else []
        kept = [other for other in self.names if other not in lost]
        if len(text := repr(kept)) > _LONGEST_LIST:
            text = f"[name for name in sheetarray.scan(source) if name not in {lost!r}]"
        return text if kept and len(text) <= _LONGEST_LIST else ""

    def infos(self, dims: Mapping[str, tuple[str, ...]]) -> dict[str, ArrayInfo]:
        """Return the infos of all arrays. `dims`: the names of their dimensions, where they are known."""
        infos, sizes = {}, dict(self.layout.dims or ())
        for name in self.names:
            shape: tuple[int, ...] = (self.rows, *getattr(self.columns[name], "shape", ()))
            dtype, own = self.layout.arrays.get(name, (natural_dtype(self.columns[name]), ()))
            if name in self.layout.arrays:
                shape = tuple(sizes[dim] for dim in own) if self.layout.dims is not None else (self.rows,)
            known = dims.get(name)
            infos[name] = ArrayInfo(
                shape,
                dtype,
                "row-major",
                contiguous_strides(shape, "row-major"),
                f"column {name!r:.80}",
                self.rows,
                capacity=math.prod(shape),
                dims=known if known is not None and len(known) == len(shape) else None,
            )
        return infos


def _to_array(series: pl.Series, dtype: str) -> Array:
    """Return the array that a column is; `dtype` is that of the layout, "" for the column's own."""
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
    raise FormatError(
        f"holds {series.dtype}, but was written as {dtype}", hint="read_columns reads the column as it is"
    )


def _to_objects(series: pl.Series) -> Array:
    values = series.to_list()
    if type(series.dtype).__name__ == "Struct":
        return as_array(parse_values(value and value.get("json") for value in values))
    if not {*map(type, values)} <= {type(None), bool, int, float, str}:
        raise FormatError("a value that no generic array holds")
    return as_array(to_objects(values))


def _fold(column: Array, places: Sequence[int], layout: TableLayout) -> Array:
    """Return an array of its own dimensions from its column, in which it is repeated along all others."""
    shape = tuple(size for _, size in layout.dims or ())
    if 0 in shape:
        return np.empty([shape[place] for place in places], column.dtype)
    first = column.reshape(shape)[(*(slice(None) if place in places else 0 for place in range(len(shape))), ...)]
    order = sorted(places)
    array = np.array(first.transpose([order.index(place) for place in places]))
    if not np.array_equal(repeat(array, places, shape), column, equal_nan=column.dtype.kind in "fcmM"):
        raise _changed_rows()
    return array


def _changed_rows() -> FormatError:
    return FormatError("rows were changed or sorted since the file was written", hint="read_columns reads the table")
