"""n-dimensional arrays in spreadsheets and CSV, bit for bit: one ndarray per column, with dtype, shape and order."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .api import adopt, check, convert, iter_blocks, read, read_columns, restore, scan, write, write_table
from .columns import ArrayInfo
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
from .labelled import read_dataset, read_frame
from .linear import LinearArray, from_linear, to_linear

if TYPE_CHECKING:
    from .conversions import convert_many
    from .lazy import open_many, open_writer
    from .pages import view
    from .sheets.delimited import read_csv, write_csv
    from .sheets.excel import read_excel, write_excel
    from .sheets.frame import from_frame, to_frame
    from .sheets.google import append_gsheet, create_gsheet, read_gsheet, write_gsheet
    from .sheets.json import read_json, write_json
    from .views.description import View

__version__ = "0.1.0"

__all__ = [
    "ArrayInfo",
    "DTypeError",
    "Finding",
    "FormatError",
    "LimitError",
    "LinearArray",
    "MissingDependencyError",
    "NotFoundError",
    "RemoteError",
    "SheetArrayError",
    "SheetArrayWarning",
    "View",
    "__version__",
    "adopt",
    "append_gsheet",
    "check",
    "convert",
    "convert_many",
    "create_gsheet",
    "from_frame",
    "from_linear",
    "iter_blocks",
    "open_many",
    "open_writer",
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
    "to_frame",
    "to_linear",
    "view",
    "write",
    "write_csv",
    "write_excel",
    "write_gsheet",
    "write_json",
    "write_table",
]

_LAZY = {
    "View": "views.description",
    "convert_many": "conversions",
    "create_gsheet": "sheets.google",
    "from_frame": "sheets.frame",
    "open_many": "lazy",
    "open_writer": "lazy",
    "read_csv": "sheets.delimited",
    "read_excel": "sheets.excel",
    "read_gsheet": "sheets.google",
    "read_json": "sheets.json",
    "to_frame": "sheets.frame",
    "view": "pages",
    "write_csv": "sheets.delimited",
    "write_excel": "sheets.excel",
    "append_gsheet": "sheets.google",
    "write_gsheet": "sheets.google",
    "write_json": "sheets.json",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    if name == "registry":
        return import_module(".registry", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
