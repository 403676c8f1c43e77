"""xarray -> ndarrays: the variables of a Dataset, DataArrays and Variables. Coordinates are variables too."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import Array
from .everyday import to_plain
from .from_pandas import column_array
from .kinds import is_of
from .nulls import missing_texts_as_none


def variable_array(variable: Any) -> Array:
    """Return the array of a DataArray or a Variable."""
    data = variable.data
    if is_of(data, "pandas", "ExtensionArray"):
        return column_array(data)
    if is_of(data, "pint"):
        data = np.asarray(data.magnitude)
    array = data if isinstance(data, np.ndarray) else np.asarray(variable.to_numpy())
    if array.dtype.kind == "T":
        return missing_texts_as_none(array)
    if array.dtype.kind == "O":  # xarray itself puts NaN in the place of None
        array = array.copy()
        array[np.asarray(variable.isnull().to_numpy())] = None
        plain = to_plain(array.ravel().tolist())
        return array if plain is None else plain.reshape(array.shape)
    return array
