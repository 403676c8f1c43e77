"""Arrays as blocks of text that people read: each slice a table with its labels, one under the other.

Nothing reads them again, since dtypes and shapes are not written. A coordinate stands as the labels of its dimension;
it has a block of its own only if no array has that dimension.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ...cells import TextLook, buffer_to_text
from ...columns.layout import format_name
from ...dtypes import DType
from ...elements import Cell
from ...labels.description import NAME, DatasetLabels, parse_labels
from ...linear import LinearArray

if TYPE_CHECKING:
    import polars as pl

RowCells = list[Cell]  # one row; of many there is a frame


def iter_grids(arrays: Mapping[str, LinearArray], look: TextLook) -> Iterator[tuple[RowCells | pl.DataFrame, int]]:
    """Yield rows and tables of cells in their order, each with the number of elements in it.

    `arrays`: by name, the description of their labels among them.
    """
    described = parse_labels(arrays)
    shown = [name for name in arrays if described is None or name != NAME]
    dims = {name: _dims_of(name, array, described) for name, array in arrays.items()}
    used = {dim for name in shown for dim in dims[name] if name != dim}
    for name in shown:
        if name in used and dims[name] == (name,):
            continue
        labels = [_labels_of(dim, size, arrays, dims, look) for dim, size in _sizes(dims[name], arrays[name])]
        yield from _iter_blocks(_caption(name, described, look), arrays[name], dims[name], labels, look)


def _iter_blocks(
    caption: str, array: LinearArray, dims: Sequence[str], labels: list[pl.Series], look: TextLook
) -> Iterator[tuple[RowCells | pl.DataFrame, int]]:
    import polars as pl

    values, dtype = array.to_numpy(), array.dtype_entry
    names = [format_name(dim, look) for dim in dims]
    if values.ndim == 0:
        yield [caption, _to_cells(values.reshape(1), dtype, look)[0]], 1
    elif values.ndim == 1:
        yield [names[0], caption], 0
        yield pl.DataFrame({"": labels[0], "0": _to_series(values, dtype, look)}), len(values)
    else:
        for index in product(*map(range, values.shape[:-2])):
            which = [f"{dim} = {some[index]}" for dim, some, index in zip(dims, labels, index, strict=False)]
            yield [caption, *(format_name(text, look) for text in which)], 0
            yield [format_name(f"{dims[-2]} \\ {dims[-1]}", look), *labels[-1].to_list()], 0
            table = values[index]
            columns = {str(column): _to_series(table[:, column], dtype, look) for column in range(table.shape[1])}
            yield pl.DataFrame({"": labels[-2], **columns}), table.size
            yield [], 0
        return
    yield [], 0


def _sizes(dims: Sequence[str], array: LinearArray) -> Iterator[tuple[str, int]]:
    return zip(dims, array.shape, strict=True)


def _dims_of(name: str, array: LinearArray, described: DatasetLabels | None) -> tuple[str, ...]:
    """Return the names of an array's dimensions; `name_0`, `name_1`, .. if the description does not name them."""
    variable = described.find(name) if described is not None else None
    if variable is not None and len(variable.dims) == array.ndim:
        return tuple(variable.dims)
    return tuple(f"{name}_{axis}" for axis in range(array.ndim))


def _caption(name: str, described: DatasetLabels | None, look: TextLook) -> str:
    variable = described.find(name) if described is not None else None
    units = variable.attrs.get("units") if variable is not None else None
    return format_name(f"{name} ({units})" if isinstance(units, str) and units else name, look)


def _labels_of(
    dim: str, size: int, arrays: Mapping[str, LinearArray], dims: Mapping[str, tuple[str, ...]], look: TextLook
) -> pl.Series:
    """Return the labels of a dimension as text: its coordinate, or its indices."""
    import polars as pl

    if dim in arrays and dims[dim] == (dim,) and arrays[dim].shape == (size,):
        return pl.Series(_to_cells(arrays[dim].to_numpy(), arrays[dim].dtype_entry, look), dtype=pl.String)
    return pl.Series(map(str, range(size)), dtype=pl.String)


def _to_series(elements: np.ndarray[Any, Any], dtype: DType, look: TextLook) -> pl.Series:
    return buffer_to_text(np.ascontiguousarray(elements), dtype, look)


def _to_cells(elements: np.ndarray[Any, Any], dtype: DType, look: TextLook) -> list[Cell]:
    """Return a few elements as text, looking as the engine writes them."""
    import polars as pl

    texts = _to_series(elements, dtype, look).cast(pl.String)
    if dtype.kind == "float" and look.decimal == ",":
        texts = texts.str.replace(".", ",", literal=True)
    return texts.to_list()
