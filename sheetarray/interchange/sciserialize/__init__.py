"""SciSerialize: nested data with arrays, times and DataFrames, as JSON or MessagePack.

`dumps`, `loads` (JSON), `packb`, `unpackb` (MessagePack), `encode_types` and `decode_types` (neither: plain scalars,
lists and dicts) hold None, bool, int, float, str, bytes, lists, dicts, datetime, timedelta, ndarray (bool, int, float,
complex; row-major, little-endian) and pandas DataFrames of one such dtype. With `extensions=True` also arrays of text,
of objects, of datetime64 and timedelta64, masked arrays, sets, and DataFrames of several dtypes. All of that is read;
pickles never.
`read_sciserialize`, `write_sciserialize`, `scan_sciserialize` and `check_sciserialize` are for files of named arrays.
Source: https://github.com/SciSerialize/Definition.
"""

from __future__ import annotations

from .adapter import check_sciserialize, keeps_sciserialize, read_sciserialize, scan_sciserialize, write_sciserialize
from .nested import decode_types, encode_types
from .serializers import dumps, loads, packb, unpackb

__all__ = [
    "check_sciserialize",
    "decode_types",
    "dumps",
    "encode_types",
    "keeps_sciserialize",
    "loads",
    "packb",
    "read_sciserialize",
    "scan_sciserialize",
    "unpackb",
    "write_sciserialize",
]
