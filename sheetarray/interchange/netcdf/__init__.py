"""NetCDF-4 files and Zarr folders: arrays as the variables of a dataset, by xarray."""

from __future__ import annotations

from .adapter import check_netcdf, keeps_netcdf, read_netcdf, scan_netcdf, write_netcdf

__all__ = ["check_netcdf", "keeps_netcdf", "read_netcdf", "scan_netcdf", "write_netcdf"]
