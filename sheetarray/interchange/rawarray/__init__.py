"""RawArray (`.ra`): one array in one file, a short header before the bytes that it takes in memory.

Sources: https://lib.rs/crates/rawarray and https://github.com/davidssmith/ra. A file is column-major: its first
dimension varies fastest. The specification says that NumPy sees the dimensions reversed, without a copy. The format's
code for Julia, Matlab and Python keeps their order. The option `axes` of every function chooses one of the two:

    dims in the file    axes="reversed" (the default)    axes="same"
    3 x 4               shape (4, 3), row-major          shape (3, 4), column-major

A file does not store the name of its array, so the array takes the name of the file. Several arrays are a folder `x.ra`
with a file for each. `single` reads and writes one file. `adapter` handles folders, and has the functions that
`sheetarray.read` and `sheetarray.write` call.
"""

from __future__ import annotations

from .adapter import check_ra, keeps_ra, read_ra, scan_ra, write_ra
from .single import read, read_metadata, write

__all__ = ["check_ra", "keeps_ra", "read", "read_metadata", "read_ra", "scan_ra", "write", "write_ra"]
