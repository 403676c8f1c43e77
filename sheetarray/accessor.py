"""`df.sheetarray.write(path)`: the accessor of frames of pandas and polars, and of Datasets and DataArrays of xarray.

`import sheetarray` gives it to the libraries that are imported already, as looking takes no time. `import
sheetarray.accessors` imports those that are installed, and gives it to all of them, whatever is imported first.
"""

from __future__ import annotations

import sys
from typing import Any

_NAME = "sheetarray"


class TableAccessor:
    """Writes a table, or arrays with labels.

    Example:
        >>> import io, pandas as pd, sheetarray.accessors
        >>> file = io.StringIO()
        >>> pd.DataFrame({"a": [1, 2]}).sheetarray.to_table(file, format="csv")
        >>> file.getvalue().splitlines()
        ['a', '1', '2']
    """

    def __init__(self, table: Any) -> None:
        self._table = table

    def write(self, target: Any, **options: Any) -> None:
        """Write it as `sheetarray.write` does: dtypes, index and labels come back.

        Args:
            target: as for `sheetarray.write`.
            **options: as for `sheetarray.write`.
        """
        from .api import write

        write(target, self._table, **options)

    def to_table(self, target: Any, **options: Any) -> None:
        """Write plain columns under one row of names, as `sheetarray.write_table` does.

        Args:
            target: as for `sheetarray.write_table`.
            **options: as for `sheetarray.write_table`.
        """
        from .api import write_table

        write_table(target, self._table, **options)


def register_loaded() -> None:
    """Give the accessor to those of pandas, polars and xarray that are imported; nothing happens a second time."""
    pandas: Any
    polars: Any
    xarray: Any
    pandas, polars, xarray = (sys.modules.get(name) for name in ("pandas", "polars", "xarray"))
    if _lacks(pandas, "DataFrame"):
        pandas.api.extensions.register_dataframe_accessor(_NAME)(TableAccessor)
    if _lacks(polars, "DataFrame"):
        polars.api.register_dataframe_namespace(_NAME)(TableAccessor)
    for kind in ("Dataset", "DataArray"):
        if _lacks(xarray, kind):
            getattr(xarray, f"register_{kind.lower()}_accessor")(_NAME)(TableAccessor)


def _lacks(library: Any, kind: str) -> bool:
    """Return whether a library is imported, down to a class, and that has no accessor yet."""
    known = getattr(library, kind, None)
    return known is not None and not hasattr(known, _NAME)
