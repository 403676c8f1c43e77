"""Gives `.sheetarray` to frames of pandas and polars and to Datasets of xarray, as far as these are installed."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module

from .accessor import register_loaded

for _library in ("pandas", "polars", "xarray"):
    with suppress(ImportError):
        import_module(_library)
register_loaded()
