"""What people hand over -> ndarrays, exactly: values of Python and NumPy, tables of pandas, polars, Arrow and xarray.

Nothing is rounded, dropped or made another kind in silence: what no array of the format can hold is a `DTypeError` that
says what to do. `taking` has Python and NumPy, `frames` pandas, `series` polars, `arrow` Arrow, `datasets` xarray;
`nulls` is the one rule of all of them for values that are missing. No package is imported to know its objects.
"""

from __future__ import annotations

from .kinds import is_of, name_of, naming
from .taking import DEFAULT_NAME, as_array, split_columns

__all__ = ["DEFAULT_NAME", "as_array", "is_of", "name_of", "naming", "split_columns"]
