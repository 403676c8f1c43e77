"""Arrays that are read when they are asked for, and written as they come: the engine for `xarray.open_dataset`,
`open_many` for thousands of files, and `open_writer`.
"""

from __future__ import annotations

from typing import Any

from .many_files import open_many
from .writer import ArrayWriter, open_writer

__all__ = ["ArrayWriter", "SheetArrayBackend", "open_many", "open_writer"]


def __getattr__(name: str) -> Any:
    if name == "SheetArrayBackend":  # which needs xarray
        from .engine import SheetArrayBackend

        return SheetArrayBackend
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
