"""Names and attributes that netCDF, Zarr and xarray keep for themselves, or that say what the values mean."""

from __future__ import annotations

DTYPE = "sheetarray_dtype"
NAMES = "sheetarray_names"  # of the arrays of a Zarr folder, in the order written
SINCE = {"D": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds"}
SINCE["ns"] = "nanoseconds"
# attributes that change values
CODED = {"_FillValue", "missing_value", "scale_factor", "add_offset", "units", "dtype"}
MEANING = CODED | {"calendar", "coordinates", DTYPE}
NETCDF_MARKS, ZARR_MARKS = "/\0", "/\\\0"  # that no name may have
STORE = {".zgroup", ".zmetadata", "zarr.json"}  # files that a Zarr folder has
FILES = STORE | {".zarray", ".zattrs"}  # of Zarr, so that no folder of an array may have the name
LONGEST_FOLDER = 255  # bytes of the name of a folder, which an array of a Zarr folder is
# attributes that h5netcdf and xarray keep for themselves
RESERVED = {"CLASS", "DIMENSION_LIST", "NAME", "REFERENCE_LIST", "_NCProperties", "_Netcdf4Coordinates"}
RESERVED |= {"_Netcdf4Dimid", "_nc3_strict", "_ARRAY_DIMENSIONS"}
