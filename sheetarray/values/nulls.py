"""The one rule for values that are missing: NaN among floats, NaT among dates, None in a generic array elsewhere.

A null and a NaN in one column would become the same, so that such a column is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dtypes import Array, Mask
from ..elements import check_texts, text_array
from ..errors import DTypeError
from .everyday import to_objects, to_plain
from .kinds import LISTS, RaggedError

_NOT_A_TIME = np.iinfo(np.int64).min


def texts_or_objects(values: Sequence[Any]) -> Array:
    """Return the 1-D array of values: text where each is one, dates where each is one, and so on, else of objects."""
    if all(isinstance(value, str) for value in values):
        return text_array(check_texts(values))
    if any(isinstance(value, (list, tuple, np.ndarray)) for value in values):
        raise RaggedError(LISTS)
    plain = to_plain(values)
    return to_objects(values) if plain is None else plain


def to_floats(values: Array, missing: Mask) -> Array:
    """Return floats, NaN where one is missing.

    `values`: the floats; what stands where one is missing does not matter.

    Raises:
        DTypeError: there are both a missing value and a NaN.
    """
    if not missing.any():
        return values
    if np.isnan(values[~missing]).any():
        raise DTypeError("has nulls and NaN, which would both become NaN: fill either first, with a number or null")
    values = values.copy()
    values[missing] = np.nan
    return values


def fill_masked(array: Any) -> Array:
    """Return a masked array as a plain one: NaN or NaT where an element is masked, else None among objects.

    Raises:
        DTypeError: there are both masked elements and NaN.
    """
    mask, plain = np.ma.getmaskarray(array), np.array(array.data)
    if not mask.any():
        return plain
    if plain.dtype.kind in "fc":
        if np.isnan(plain[~mask]).any():
            raise DTypeError("has masked elements and NaN, which would both become NaN: write value.filled(np.nan)")
        plain[mask] = np.nan
        return plain
    if plain.dtype.kind in "mM":
        plain[mask] = np.array("NaT", plain.dtype)
        return plain
    filled = plain.astype(object)
    filled[mask] = None
    return filled


def missing_texts_as_none(array: Array) -> Array:
    """Return a `StringDType` array as it is; one of objects, None where a text is missing, if one is."""
    objects = array.astype(object)
    missing = np.array([not isinstance(text, str) for text in objects.ravel().tolist()], dtype=bool)
    if not missing.any():
        return array
    objects[missing.reshape(array.shape)] = None
    return objects


def to_times(counts: Array, missing: Mask, dtype: str) -> Array:
    """Return dates or durations, NaT where one is missing.

    `counts`: int64, the number of units, for dates since 1970; what stands where one is missing does not matter.
    `dtype`: such as "datetime64[us]".
    """
    counts = np.array(counts, dtype=np.int64)
    if (counts[~missing] == _NOT_A_TIME).any():
        raise DTypeError(f"has the least count of int64, which is NaT under {dtype}: make it null")
    counts[missing] = _NOT_A_TIME
    return counts.view(dtype)
