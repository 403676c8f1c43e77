"""NumPy's own files: `.npy` holds one array, `.npz` several in a zip archive.

The format is that of https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1.0 to 3.0; a
file written is, byte for byte, what `numpy.save` or `numpy.savez` writes. Order in memory is kept; elements come in
native byte order. Pickles are neither read nor written (`allow_pickle=False`), and a header is not evaluated. What the
package has no dtype for (bytes, structures, extended precision) is refused; opaque bytes (`V5`) are held.
"""

from __future__ import annotations

from .adapter import (
    check_npy,
    check_npz,
    keeps_npy,
    keeps_npz,
    read,
    read_npy,
    read_npz,
    scan_npy,
    scan_npz,
    write,
    write_npy,
    write_npz,
)

__all__ = [
    "check_npy",
    "check_npz",
    "keeps_npy",
    "keeps_npz",
    "read",
    "read_npy",
    "read_npz",
    "scan_npy",
    "scan_npz",
    "write",
    "write_npy",
    "write_npz",
]
