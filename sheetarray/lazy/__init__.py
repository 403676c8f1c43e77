"""Arrays that are read when they are asked for: the engine of this package for `xarray.open_dataset`."""

from __future__ import annotations

from .engine import SheetArrayBackend

__all__ = ["SheetArrayBackend"]
