"""Two arrays of which one has more rows than the other: rows that were added or deleted, and those that are the same.

Rows are those along the one axis whose length changed; `aligning` knows them again. A row that stands elsewhere now was
deleted, and inserted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import aligning, dtypes
from ..dtypes import Array, Positions


@dataclass(frozen=True, slots=True)
class Alignment:
    """The rows of two arrays that belong together.

    Attributes:
        axis: along which the rows lie.
        pairs: the rows of A, and of B, that are compared with one another; both ascend.
        deleted: the rows of A that B lacks.
        inserted: the rows of B that A lacks.
    """

    axis: int
    pairs: tuple[Positions, Positions]
    deleted: list[int]
    inserted: list[int]


def align_rows(a: Array, b: Array) -> Alignment | None:
    """Return the pairs of rows that belong together; None if several axes changed, or no row of A is in B.

    Example:
        >>> aligned = align_rows(np.array([1, 2, 3]), np.array([1, 7, 2, 3]))
        >>> aligned.inserted, aligned.deleted
        ([1], [])
    """
    axes = [axis for axis, sizes in enumerate(zip(a.shape, b.shape, strict=False)) if sizes[0] != sizes[1]]
    if a.ndim != b.ndim or len(axes) != 1 or a.dtype.kind + b.dtype.kind in ("UO", "OU"):
        return None
    axis = axes[0]
    rows = [np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1) for array in (a, b)]
    if not rows[0].size or not rows[1].size:
        return None
    name, (written, cells) = _to_one_dtype(*(array.reshape(-1) for array in rows))
    origins = aligning.align_rows(written, cells, dtypes.from_name(name), rows[0].shape[1])
    second = np.flatnonzero((origins.sources >= 0) & ~origins.moved)
    first = origins.sources[second]
    if not len(first):
        return None
    deleted = np.setdiff1d(np.arange(a.shape[axis]), first).tolist()
    inserted = np.setdiff1d(np.arange(b.shape[axis]), second).tolist()
    return Alignment(axis, (first, second), deleted, inserted)


def _to_one_dtype(a: Array, b: Array) -> tuple[str, list[Any]]:
    """Return the name of a dtype that holds the elements of two arrays, and both arrays in it."""
    kinds = a.dtype.kind + b.dtype.kind
    if set(kinds) <= set("biu"):
        return "int64", [array.astype(np.int64) for array in (a, b)]
    if set(kinds) <= set("biufc"):
        if kinds == "ff":
            coarser = min(a.dtype, b.dtype, key=lambda dtype: dtype.itemsize)
            with np.errstate(over="ignore"):
                a, b = a.astype(coarser), b.astype(coarser)
        wide = np.complex128 if "c" in kinds else np.float64
        return np.dtype(wide).name, [array.astype(wide) for array in (a, b)]
    if kinds in ("MM", "mm"):
        unit = np.promote_types(a.dtype, b.dtype)
        return "int64", [array.astype(unit).view(np.int64) for array in (a, b)]
    return "string", [np.array([repr(cell) for cell in array.tolist()], object) for array in (a, b)]


def format_element(name: str, index: Sequence[int]) -> str:
    """Return the name that messages use for an element, such as `t[2, 0, 5]`; for a 0-d array its own name."""
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def format_rows(rows: list[int]) -> str:
    """Return rows as people say them: `row 30`, `rows 31 to 33`, or their number and the first if there are gaps."""
    if len(rows) == 1:
        return f"row {rows[0]}"
    if rows[-1] - rows[0] == len(rows) - 1:
        return f"rows {rows[0]} to {rows[-1]}"
    return f"{len(rows):,} rows from {rows[0]} to {rows[-1]}"
