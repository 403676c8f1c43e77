"""What people hand over -> ndarrays, exactly: values of Python and NumPy, tables of pandas, polars, Arrow and xarray.

Nothing is rounded, dropped or made another kind in silence: what no array of the format can hold is a `DTypeError` that
says what to do. `taking` finds the rules for an object: those of `from_python`, `everyday` (dates, Decimals and the
like), `from_pandas` and `extensions` (its zones, periods and intervals), `from_polars`, `arrow`, `from_xarray`. `nulls`
is the one rule of all of them for values that are missing. A `Note` says what an array does not say of its value, such
as the zone of times; labels keep it. No package is imported to know its objects.
"""

from __future__ import annotations

from .everyday import OBJECTS, restore_objects, to_objects
from .extensions import EXTENSIONS, is_whole, level_values, restore_extension
from .kinds import RaggedError, is_of, name_of, name_of_variable, naming
from .taking import DEFAULT_NAME, Note, as_array, is_plain_array, is_table, note_of, split_columns, split_fields

__all__ = [
    "DEFAULT_NAME",
    "EXTENSIONS",
    "OBJECTS",
    "Note",
    "RaggedError",
    "as_array",
    "is_of",
    "is_plain_array",
    "is_table",
    "is_whole",
    "level_values",
    "name_of",
    "name_of_variable",
    "naming",
    "note_of",
    "restore_extension",
    "restore_objects",
    "split_columns",
    "split_fields",
    "to_objects",
]
