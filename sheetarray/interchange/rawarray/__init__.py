"""RawArray (`.ra`): one array in one file, a short header before the bytes that it takes in memory.

The format is that of https://lib.rs/crates/rawarray and https://github.com/davidssmith/ra. A file is column-major, its
first dimension the fastest. By the specification NumPy sees the dimensions reversed, without a copy; code of the
format for Julia, Matlab and Python keeps them, hence the option `axes` of every function:

    dims in the file    axes="reversed" (the default)    axes="same"
    3 x 4               shape (4, 3), row-major          shape (3, 4), column-major

A file has no name for its array: that of the file, without suffixes, is read. Several arrays are a folder `x.ra` with a
file each. `single` knows the header and the data of one file; `adapter` has folders, and the functions that the
package's own `read` and `write` call.
"""

from __future__ import annotations

from .adapter import check_ra, keeps_ra, read_ra, scan_ra, write_ra
from .single import read, read_metadata, write

__all__ = ["check_ra", "keeps_ra", "read", "read_metadata", "read_ra", "scan_ra", "write", "write_ra"]
