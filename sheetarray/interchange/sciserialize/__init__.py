"""SciSerialize: nested data with arrays, times and DataFrames, as JSON or MessagePack.

- `dumps` and `loads` are for JSON, `packb` and `unpackb` for MessagePack. `encode_types` and `decode_types` make and
  take plain scalars, lists and dicts.
- Data may hold None, bool, int, float, str, bytes, lists, dicts, datetime, timedelta, ndarrays of bool, int, float or
  complex, and pandas DataFrames of one such dtype. Elements are row-major and little-endian.
- `extensions=True` also writes arrays of text, objects, datetime64 and timedelta64, masked arrays, sets, and DataFrames
  of several dtypes. Readers take all of these without an option. They never read pickles.
- `read_sciserialize`, `write_sciserialize`, `scan_sciserialize` and `check_sciserialize` are for files of named arrays.

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
