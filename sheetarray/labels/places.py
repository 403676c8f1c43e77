"""Finds the address of an element's cell, and its labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..columns import ArrayInfo
from ..dtypes import Array
from ..elements import label_text, to_scalar
from .description import DatasetLabels


def find_cell(info: ArrayInfo | None, index: Sequence[int]) -> str | None:
    """Return the address of the cell that holds an element; None where nobody knows."""
    if info is None or len(index) != len(info.strides):
        return None
    if not info.data:
        return None if info.find_cell is None else info.find_cell(index)
    at = info.offset + sum(step * stride for step, stride in zip(index, info.strides, strict=True))
    run = next((run for run in reversed(info.data) if run.first <= at), info.data[0])
    return run.address(at)


def find_labels(
    labels: DatasetLabels | None, arrays: Mapping[str, Any], name: str, index: Sequence[int]
) -> dict[str, str]:
    """Return the labels of an element, by dimension or by the levels of its index.

    `arrays`: those that hold the labels, by name.
    """
    variable = labels.find(name) if labels is not None else None
    if variable is None or len(variable.dims) != len(index):
        return {}
    texts: dict[str, str] = {}
    for dim, place in zip(variable.dims, index, strict=True):
        for level in list_levels(labels, dim):
            array = arrays.get(level)
            if isinstance(array, np.ndarray) and array.ndim == 1 and place < len(array) and level != name:
                texts[level] = label_at(array, place)
    return texts


def label_at(array: Array, place: int) -> str:
    """Return the text of an element that labels others."""
    return label_text(array[place] if array.dtype.kind in "mM" else to_scalar(array[place]))


def find_row(info: ArrayInfo, row: int) -> int | None:
    """Return the row of the sheet, counted from 1, in which an element of a column stands; None where nobody knows."""
    if len(info.shape) != 1 or not info.data or any(run.orient != "columns" for run in info.data):
        return None
    at = info.offset + row * info.strides[0]
    run = next((run for run in reversed(info.data) if run.first <= at), info.data[0])
    return run.row + at - run.first + 1


def list_levels(labels: DatasetLabels | None, dim: str) -> Sequence[str]:
    """Return the names of the arrays that label a dimension."""
    if labels is None:
        return ()
    return labels.frame.index.get(dim) or (dim,)
