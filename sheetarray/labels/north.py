"""Which end of a latitude lies in the north, so that maps are shown with north up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dtypes import Array
from .description import LATITUDE, is_coordinate


def find_north(values: Array, name: str, attrs: Mapping[Any, Any]) -> str:
    """Return the end of a coordinate that lies in the north, `first` or `last`; "" where it is no latitude.

    Example:
        >>> import numpy as np
        >>> find_north(np.array([-45.0, 0.0, 45.0]), "y", {"units": "degrees_north"})
        'last'
    """
    is_axis = values.ndim == 1 and len(values) > 1 and values.dtype.kind in "iuf"
    if not (is_axis and is_coordinate(name, attrs, LATITUDE)):
        return ""
    if (values[1:] > values[:-1]).all():
        return "last"
    return "first" if (values[1:] < values[:-1]).all() else ""
