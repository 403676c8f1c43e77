"""xarray -> ndarrays: the variables of a Dataset, DataArrays and Variables. Coordinates are variables too."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import Array
from ..errors import DTypeError
from .frames import column_array
from .kinds import is_of, name_of, naming


def dataset_columns(dataset: Any) -> list[tuple[str, Array]]:
    """Return the variables of a Dataset.

    Raises:
        DTypeError: names the variable that no array of the format holds.
    """
    variables = []
    for label, variable in dataset.variables.items():
        name = name_of(label)
        with naming(name):
            variables.append((name, variable_array(variable)))
    return variables


def variable_array(variable: Any) -> Array:
    """Return the array of a DataArray or a Variable.

    Raises:
        DTypeError: no array of the format holds it.
    """
    data = variable.data
    if is_of(data, "pandas", "ExtensionArray"):
        return column_array(data)
    if is_of(data, "pint"):
        raise DTypeError("quantities, whose unit no array has room for: .pint.dequantify() first")
    array = data if isinstance(data, np.ndarray) else np.asarray(variable.to_numpy())
    if array.dtype.kind == "O":  # xarray itself puts NaN in the place of None
        array = array.copy()
        array[np.asarray(variable.isnull().to_numpy())] = None
    return array
