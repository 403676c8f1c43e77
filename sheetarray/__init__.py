"""n-dimensional arrays in spreadsheets and CSV, bit for bit: one ndarray per column, with dtype, shape and order."""

from __future__ import annotations

from importlib import import_module
from inspect import isfunction
from typing import TYPE_CHECKING, Any

from .errors import (
    DTypeError,
    Finding,
    FormatError,
    LimitError,
    MissingDependencyError,
    NotFoundError,
    RemoteError,
    SheetArrayError,
    SheetArrayWarning,
)
from .renamed import NAMES, naming_options

if TYPE_CHECKING:
    from .api import Merged, accept, check, iter_blocks, merge, read, read_columns, restore, scan, write, write_table
    from .api.appending import append
    from .api.changes import Changes
    from .api.datasets import read_dataset, read_frame
    from .api.differing import diff
    from .columns import ArrayInfo
    from .linear.array import LinearArray, from_linear, to_linear
    from .pages import Page, page
    from .scale import open_many, open_writer
    from .scale.conversions import convert
    from .sheets.delimited import read_csv, write_csv
    from .sheets.excel import read_excel, write_excel
    from .sheets.google import read_gsheet, write_gsheet
    from .sheets.json import read_json, write_json
    from .sheets.views.description import View

__version__ = "2.0.0"

__all__ = [
    "ArrayInfo",
    "Changes",
    "DTypeError",
    "Finding",
    "FormatError",
    "LimitError",
    "LinearArray",
    "Merged",
    "MissingDependencyError",
    "NotFoundError",
    "Page",
    "RemoteError",
    "SheetArrayError",
    "SheetArrayWarning",
    "View",
    "__version__",
    "accept",
    "append",
    "check",
    "convert",
    "diff",
    "from_linear",
    "iter_blocks",
    "merge",
    "open_many",
    "open_writer",
    "page",
    "read",
    "read_columns",
    "read_csv",
    "read_dataset",
    "read_excel",
    "read_frame",
    "read_gsheet",
    "read_json",
    "restore",
    "scan",
    "to_linear",
    "write",
    "write_csv",
    "write_excel",
    "write_gsheet",
    "write_json",
    "write_table",
]

_LAZY = {  # imported when somebody asks for the name: `import sheetarray` costs less than `import numpy`
    "ArrayInfo": "columns",
    "Changes": "api.changes",
    "LinearArray": "linear.array",
    "Merged": "api",
    "Page": "pages",
    "View": "sheets.views.description",
    "accept": "api",
    "append": "api.appending",
    "check": "api",
    "convert": "scale.conversions",
    "diff": "api.differing",
    "from_linear": "linear.array",
    "iter_blocks": "api",
    "merge": "api",
    "open_many": "scale",
    "open_writer": "scale",
    "page": "pages",
    "read": "api",
    "read_columns": "api",
    "read_csv": "sheets.delimited",
    "read_dataset": "api.datasets",
    "read_excel": "sheets.excel",
    "read_frame": "api.datasets",
    "read_gsheet": "sheets.google",
    "read_json": "sheets.json",
    "restore": "api",
    "scan": "api",
    "to_linear": "linear.array",
    "write": "api",
    "write_csv": "sheets.delimited",
    "write_excel": "sheets.excel",
    "write_gsheet": "sheets.google",
    "write_json": "sheets.json",
    "write_table": "api",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(import_module(f".{_LAZY[name]}", __name__), name)
        globals()[name] = value = naming_options(value) if isfunction(value) else value
        return value
    if name == "registry":
        return import_module(".registry", __name__)
    if name in NAMES:
        raise AttributeError(f"sheetarray.{name} is gone since 2.0: {NAMES[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
