"""The formats of this package: one row each. To add a format here, add its module and a row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from .row import Format, check_row, check_unclaimed

SHARED = frozenset({".json"})  # suffixes that say little: formats of other packages may have them, too

_WHOLE: dict[str, Any] = {"text": False, "compressible": False}  # of files that are never compressed as a whole
_BYTES: dict[str, Any] = {"text": False}
_GOOGLE = (
    "https://docs.google.com/spreadsheets/",
    "gsheets://",
    "https://docs.google.com/a/",
    "https://spreadsheets.google.com/",
)
_IN_MEMORY = (
    *("openpyxl.Workbook", "openpyxl.Worksheet", "openpyxl.ReadOnlyWorksheet", "openpyxl.WriteOnlyWorksheet"),
    *("openpyxl.Chartsheet", "xlsxwriter.Chartsheet", "xlsxwriter.Workbook", "xlsxwriter.Worksheet"),
    "pandas.ExcelWriter",
)

# The first of two rows with the same suffix owns it: its format is written, and read where no other one is recognised.
# fmt: off
_ROWS = (
    Format("arrow", (".arrow", ".feather"), "sheetarray.interchange.columnar", "columnar", "Arrow, Feather",
           **_WHOLE, writing={"form": "arrow"}),
    Format("avro", (".avro",), "sheetarray.interchange.avro", "avro", "Avro, YEP-113", **_BYTES),
    Format("awkd", (".awkd",), "sheetarray.interchange.awkward", "awkd", "Awkward Array, awkward0",
           **_WHOLE, extra="awkward", folders="read", composite="sheetarray.interchange.awkward.columns"),
    Format("csv", (".csv",), "sheetarray.sheets.delimited", "csv", "comma-separated values"),
    Format("gsheet", (), "sheetarray.sheets.google", "gsheet", "Google Sheets",
           prefixes=_GOOGLE, objects=("gspread.Spreadsheet", "gspread.Worksheet")),
    Format("json", (".json",), "sheetarray.sheets.json", "json", "JSON, flat lists"),
    Format("netcdf", (".nc",), "sheetarray.interchange.netcdf", "netcdf", "NetCDF-4", **_WHOLE, extra="netcdf"),
    Format("npy", (".npy",), "sheetarray.interchange.npy", "npy", "NumPy, one array", **_BYTES),
    Format("npz", (".npz",), "sheetarray.interchange.npy", "npz", "NumPy, archive of arrays", **_WHOLE),
    Format("ods", (".ods", ".xls", ".xlsb"), "sheetarray.sheets.excel", "excel", "other workbooks",
           **_WHOLE, instead=".xlsx"),
    Format("parquet", (".parquet",), "sheetarray.interchange.columnar", "columnar", "Parquet", **_WHOLE),
    Format("ra", (".ra",), "sheetarray.interchange.rawarray", "ra", "RawArray", **_BYTES, folders="write"),
    Format("sciserialize", (".msgpack",), "sheetarray.interchange.sciserialize", "sciserialize",
           "SciSerialize, MessagePack", extra="sciserialize"),
    Format("sciserialize-json", (".json",), "sheetarray.interchange.sciserialize", "sciserialize",
           "SciSerialize, JSON", writing={"form": "json"}),
    Format("tsv", (".tsv", ".tab"), "sheetarray.sheets.delimited", "csv", "tab-separated values",
           writing={"delimiter": "\t"}),
    Format("txt", (".txt",), "sheetarray.sheets.delimited", "csv", "delimited text", writing={"delimiter": "\t"}),
    Format("workbook", (), "sheetarray.sheets.objects", "workbook", "workbook in memory",
           **_BYTES, objects=_IN_MEMORY),
    Format("xlsx", (".xlsx", ".xlsm", ".xltx", ".xltm"), "sheetarray.sheets.excel", "excel", "Excel workbook",
           **_WHOLE),
    Format("zarr", (".zarr",), "sheetarray.interchange.netcdf", "netcdf", "Zarr",
           **_WHOLE, writing={"form": "zarr"}, extra="zarr", folders="write"),
)
# fmt: on

_JSON = rb"\A(?:\xef\xbb\xbf)?\s*[\[{]"  # begins JSON
_FIRST_OBJECT = rb'\A[\s\xef\xbb\xbf]*\{\s*"(?:[^"\\]++|\\.)*+"\s*:\s*\{'  # its first value is an object, no list
_TYPE_KEY = rb'"(?:__|~#)(?:type|base64)(?:__)?"\s*:\s*"'  # a key of SciSerialize, with a text

# What recognises each format: expressions that are found in the first 4 KiB (inflated). `PK`, and a line for each
# member, stands for a zip archive.
_MAGIC = {
    "arrow": rb"\AARROW1\0",
    "avro": rb"\AObj\x01",
    "awkd": rb"\APK\n(?!(?:[^\n]*\n)*(?:xl/|content\.xml\n))(?:[^\n]*\n)*[^\n]*\.json\n",
    "csv": rb"\A(?!PK\n|Obj\x01|[\x80-\x8f\x93\xdf]|(?:\xef\xbb\xbf)?\s*[\[{])(?:\xff\xfe|\xfe\xff|[^\0]*\Z)",
    "json": _JSON,
    "netcdf": rb"\A\x89HDF\r\n\x1a\n",
    "npy": rb"\A\x93NUMPY",
    "npz": rb"\APK\n(?:[^\n]*\.npy\n)+\Z",
    "ods": rb"\A(?:\xd0\xcf\x11\xe0|PK\n(?:[^\n]*\n)*content\.xml\n)",
    "parquet": rb"\APAR1",
    "ra": rb"\Arawarray",
    "sciserialize": rb"\A(?!\x89(?:HDF|PNG))[\x80-\x8f\xde\xdf]",
    "sciserialize-json": _FIRST_OBJECT + rb"|" + _JSON + rb"[\s\S]*?" + _TYPE_KEY,
    "xlsx": rb"\APK\n(?:[^\n]*\n)*xl/",
}


def _table(*rows: Format) -> Mapping[str, Format]:
    for number, row in enumerate(rows):
        check_row(row)
        check_unclaimed(row, rows[:number])
    return MappingProxyType({row.name: row for row in rows})


INSIDE = _table(*(replace(row, magic=re.compile(_MAGIC[row.name])) if row.name in _MAGIC else row for row in _ROWS))
