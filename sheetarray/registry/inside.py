"""The formats of this package: one row each. To add a format here, add its module and a row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from .row import Format, check_free, check_row

_JSON = rb"(?:\xef\xbb\xbf)?\s*[\[{]"  # begins JSON

_ROWS = (
    Format(
        "arrow",
        (".arrow", ".feather"),
        "sheetarray.interchange.columnar",
        "columnar",
        "Arrow, Feather",
        writing={"form": "arrow"},
        compressible=False,
        text=False,
        magic=re.compile(rb"\AARROW1\0"),
    ),
    Format(
        "avro",
        (".avro",),
        "sheetarray.interchange.avro",
        "avro",
        "Avro, YEP-113",
        text=False,
        magic=re.compile(rb"\AObj\x01"),
    ),
    Format(
        "awkd",
        (".awkd",),
        "sheetarray.interchange.awkward",
        "awkd",
        "Awkward Array, awkward0",
        extra="awkward",
        compressible=False,
        text=False,
        folders="read",
        composite="sheetarray.interchange.awkward.columns",
        magic=re.compile(rb"\APK\n(?!(?:[^\n]*\n)*(?:xl/|content\.xml\n))(?:[^\n]*\n)*[^\n]*\.json\n"),
    ),
    Format(
        "csv",
        (".csv",),
        "sheetarray.sheets.delimited",
        "csv",
        "comma-separated values",
        magic=re.compile(rb"\A(?!PK\n|Obj\x01|[\x80-\x8f\x93\xdf]|%b)(?:\xff\xfe|\xfe\xff|[^\0]*\Z)" % _JSON),
    ),
    Format(
        "gsheet",
        (),
        "sheetarray.sheets.google",
        "gsheet",
        "Google Sheets",
        prefixes=(
            "https://docs.google.com/spreadsheets/",
            "gsheets://",
            "https://docs.google.com/a/",
            "https://spreadsheets.google.com/",
        ),
        objects=("gspread.Spreadsheet", "gspread.Worksheet"),
    ),
    Format("json", (".json",), "sheetarray.sheets.json", "json", "JSON, flat lists", magic=re.compile(rb"\A" + _JSON)),
    Format(
        "netcdf",
        (".nc",),
        "sheetarray.interchange.netcdf",
        "netcdf",
        "NetCDF-4",
        extra="netcdf",
        compressible=False,
        text=False,
        magic=re.compile(rb"\A\x89HDF\r\n\x1a\n"),
    ),
    Format(
        "npy",
        (".npy",),
        "sheetarray.interchange.npy",
        "npy",
        "NumPy, one array",
        text=False,
        magic=re.compile(rb"\A\x93NUMPY"),
    ),
    Format(
        "npz",
        (".npz",),
        "sheetarray.interchange.npy",
        "npz",
        "NumPy, archive of arrays",
        compressible=False,
        text=False,
        magic=re.compile(rb"\APK\n(?:[^\n]*\.npy\n)+\Z"),
    ),
    Format(
        "ods",
        (".ods", ".xls", ".xlsb"),
        "sheetarray.sheets.excel",
        "excel",
        "other workbooks",
        instead=".xlsx",
        compressible=False,
        text=False,
        magic=re.compile(rb"\A(?:\xd0\xcf\x11\xe0|PK\n(?:[^\n]*\n)*content\.xml\n)"),
    ),
    Format(
        "parquet",
        (".parquet",),
        "sheetarray.interchange.columnar",
        "columnar",
        "Parquet",
        compressible=False,
        text=False,
        magic=re.compile(rb"\APAR1"),
    ),
    Format(
        "ra",
        (".ra",),
        "sheetarray.interchange.rawarray",
        "ra",
        "RawArray",
        text=False,
        folders="write",
        magic=re.compile(rb"\Arawarray"),
    ),
    Format(
        "sciserialize",
        (".msgpack",),
        "sheetarray.interchange.sciserialize",
        "sciserialize",
        "SciSerialize, MessagePack",
        extra="sciserialize",
        magic=re.compile(rb"\A(?!\x89(?:HDF|PNG))[\x80-\x8f\xde\xdf]"),
    ),
    Format(
        "sciserialize-json",
        (".json",),
        "sheetarray.interchange.sciserialize",
        "sciserialize",
        "SciSerialize, JSON",
        writing={"form": "json"},
        signature=re.compile(  # the first value is an object, never a list; or a key of SciSerialize with a text
            rb'\A[\s\xef\xbb\xbf]*\{\s*"(?:[^"\\]++|\\.)*+"\s*:\s*\{|"(?:__|~#)(?:type|base64)(?:__)?"\s*:\s*"'
        ),
    ),
    Format(
        "tsv",
        (".tsv", ".tab"),
        "sheetarray.sheets.delimited",
        "csv",
        "tab-separated values",
        writing={"delimiter": "\t"},
    ),
    Format(
        "txt",
        (".txt",),
        "sheetarray.sheets.delimited",
        "csv",
        "delimited text",
        writing={"delimiter": "\t"},
    ),
    Format(
        "workbook",
        (),
        "sheetarray.sheets.objects",
        "workbook",
        "workbook in memory",
        objects=(
            *(f"openpyxl.{kind}" for kind in ("Workbook", "Worksheet", "ReadOnlyWorksheet", "WriteOnlyWorksheet")),
            *(f"{package}.Chartsheet" for package in ("openpyxl", "xlsxwriter")),
            "xlsxwriter.Workbook",
            "xlsxwriter.Worksheet",
            "pandas.ExcelWriter",
        ),
        text=False,
    ),
    Format(
        "xlsx",
        (".xlsx", ".xlsm", ".xltx", ".xltm"),
        "sheetarray.sheets.excel",
        "excel",
        "Excel workbook",
        compressible=False,
        text=False,
        magic=re.compile(rb"\APK\n(?:[^\n]*\n)*xl/"),
    ),
    Format(
        "zarr",
        (".zarr",),
        "sheetarray.interchange.netcdf",
        "netcdf",
        "Zarr",
        writing={"form": "zarr"},
        extra="zarr",
        compressible=False,
        text=False,
        folders="write",
    ),
)


def _table(*rows: Format) -> Mapping[str, Format]:
    for number, row in enumerate(rows):
        check_row(row)
        check_free(row, rows[:number])
    return MappingProxyType({row.name: row for row in rows})


INSIDE = _table(*_ROWS)
