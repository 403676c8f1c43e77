"""Avro (YEP-113): an ndarray as one Avro datum, and files of them.

`pack` and `unpack` are the bare datum that yaq sends; `read_avro`, `write_avro`, `scan_avro` and `check_avro` are for
files: an Avro object container of such records (codecs null and deflate; bzip2, xz, zstandard and Snappy are read
too), or a bare datum. Stored are bool, int, float and complex arrays in C order, each in its own byte order.
Source: https://yeps.yaq.fyi/113/ and https://avro.apache.org/docs/1.12.0/specification/.
"""

from __future__ import annotations

from .adapter import check_avro, keeps_avro, read_avro, scan_avro, write_avro
from .datum import SCHEMA, pack, unpack

__all__ = ["SCHEMA", "check_avro", "keeps_avro", "pack", "read_avro", "scan_avro", "unpack", "write_avro"]
