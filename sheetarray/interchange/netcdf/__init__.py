"""NetCDF-4 files and Zarr folders: dimensions, coordinates and attributes are their own, by xarray."""

from __future__ import annotations

from .adapter import (
    check_netcdf,
    check_zarr,
    keeps_netcdf,
    keeps_zarr,
    read_netcdf,
    read_zarr,
    scan_netcdf,
    scan_zarr,
    write_netcdf,
    write_zarr,
)

__all__ = [
    "check_netcdf",
    "check_zarr",
    "keeps_netcdf",
    "keeps_zarr",
    "read_netcdf",
    "read_zarr",
    "scan_netcdf",
    "scan_zarr",
    "write_netcdf",
    "write_zarr",
]
