"""xarray -> ndarrays: the variables of a Dataset, DataArrays and Variables. Coordinates are variables too."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import Array
from .everyday import to_plain
from .frames import column_array
from .kinds import is_of, name_of


def dataset_columns(dataset: Any) -> list[tuple[str, Any]]:
    """Return the variables of a Dataset.

    Raises:
        DTypeError: a label that is no name.
    """
    return [(name_of(label), variable) for label, variable in dataset.variables.items()]


def variable_array(variable: Any) -> Array:
    """Return the array of a DataArray or a Variable.

    Raises:
        DTypeError: no array of the format holds it.
    """
    data = variable.data
    if is_of(data, "pandas", "ExtensionArray"):
        return column_array(data)
    if is_of(data, "pint"):
        data = np.asarray(data.magnitude)
    array = data if isinstance(data, np.ndarray) else np.asarray(variable.to_numpy())
    if array.dtype.kind == "O":  # xarray itself puts NaN in the place of None
        array = array.copy()
        array[np.asarray(variable.isnull().to_numpy())] = None
        plain = to_plain(array.ravel().tolist())
        return array if plain is None else plain.reshape(array.shape)
    return array
