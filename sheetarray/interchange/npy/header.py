"""The header of a `.npy` file: magic bytes, a version, a length, and a Python dictionary as text.

    \\x93NUMPY 1 0 <length> {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }

The text is taken apart by a pattern and never evaluated.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib import format as numpy_format

from ... import dtypes
from ...errors import FormatError
from ...file_array import FileArray
from ...files import refuse_empty

_MAGIC = b"\x93NUMPY"
_LENGTHS = {(1, 0): "<H", (2, 0): "<I", (3, 0): "<I"}
_LONGEST = 10_000  # bytes of a header, as numpy.load has it
_WIDEST = {"U": (2**31 - 1) // 4, "V": 2**31 - 1}  # characters, bytes of an element

_ENTRY = re.compile(
    r"""\s*(?P<q>['"])(?P<key>\w+)(?P=q)\s*:\s*
    (?: (?P<r>['"])(?P<text>[^'"\\]*)(?P=r)
      | (?P<bool>True|False)
      | \((?P<sizes>(?:\s*\d{1,20}L?\s*,)*\s*(?:\d{1,20}L?\s*)?)\) )
    \s*(?:,|(?=\}))""",
    re.VERBOSE | re.ASCII,
)
_DESCR = re.compile(r"(?P<mark>[<>=|]?)(?P<kind>[A-Za-z])(?P<size>\d{0,10})(?P<unit>\[\w+\])?", re.ASCII)
_END = re.compile(r"\s*\}\s*")
_STRUCTURED = re.compile(r"""['"]descr['"]\s*:\s*[\[(]""")
_READ_IT = "read it with numpy.load"
_REFUSED = {
    "O": ("Python objects, which the file holds as a pickle; pickles are never read", ""),
    "S": ("bytes", f"{_READ_IT} and decode it: np.char.decode(a, 'utf-8')"),
    "a": ("bytes", f"{_READ_IT} and decode it: np.char.decode(a, 'utf-8')"),
    "f": ("floats of another precision", f"{_READ_IT} and cast it: a.astype('float64')"),
    "c": ("complex numbers of another precision", f"{_READ_IT} and cast it: a.astype('complex128')"),
    "m": ("times without a unit", f"{_READ_IT} and cast it: a.astype('timedelta64[ns]')"),
    "M": ("times without a unit", f"{_READ_IT} and cast it: a.astype('datetime64[ns]')"),
}


def parse(prefix: Callable[[int], bytes]) -> FileArray:
    """Read a header.

    Args:
        prefix: gives the first bytes of the file, as many as asked for, or all that there are.

    Raises:
        FormatError: with the byte that is wrong; also for elements that the package has no dtype for.
    """
    start = prefix(8)
    refuse_empty(start, "byte 0")
    if start[:6] != _MAGIC:
        raise FormatError(
            "no .npy file: it does not begin with '\\x93NUMPY'", location="byte 0", hint=_refusal_hint(start)
        )
    version = tuple(start[6:])
    if len(version) < 2 or version not in _LENGTHS:
        raise FormatError(
            f"version {'.'.join(map(str, version))} of the format; 1.0 to 3.0 are known", location="byte 6"
        )
    layout = _LENGTHS[version[0], version[1]]
    begin = 8 + struct.calcsize(layout)
    if len(start := prefix(begin)) < begin:
        raise FormatError("the header ends before its length", location=f"byte {len(start)}")
    (length,) = struct.unpack(layout, start[8:])
    if length > _LONGEST:
        raise FormatError(f"a header of {length} bytes; at most {_LONGEST} are read", location="byte 8")
    if len(start := prefix(begin + length)) < begin + length:
        raise FormatError("the header breaks off", location=f"byte {len(start)}")
    fields = _fields(start[begin:].decode("latin-1"), f"byte {begin}")
    try:
        dtype = _dtype(fields["descr"])
        sizes = tuple(int(size.strip().rstrip("L")) for size in fields["shape"].split(",") if size.strip())
        order: Any = "column-major" if fields["fortran_order"] == "True" else "row-major"
        return FileArray(dtype, sizes, order, begin + length)
    except FormatError as error:
        error.location = f"byte {begin}"
        raise


def header_for(array: np.ndarray[Any, Any]) -> bytes:
    """Return the header of an array, as NumPy writes it."""
    header = io.BytesIO()
    numpy_format.write_array_header_1_0(header, numpy_format.header_data_from_array_1_0(array))
    return header.getvalue()


def _fields(text: str, location: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    kinds = {"descr": "text", "fortran_order": "bool", "shape": "sizes"}
    brace = re.match(r"\s*\{", text)
    position = brace.end() if brace else 0
    while brace and (entry := _ENTRY.match(text, position)):
        key = entry["key"]
        value = entry[kinds[key]] if key in kinds and key not in fields else None
        if value is None or (key == "shape" and value.strip() and "," not in value):
            break
        fields[key], position = value, entry.end()
    if not brace or len(fields) < len(kinds) or not _END.fullmatch(text, position):
        if _STRUCTURED.search(text):
            raise FormatError(
                "holds structures, for which the package has no dtype",
                location=location,
                hint=f"{_READ_IT} and write one array per field",
            )
        raise FormatError("the header is no dictionary of descr, fortran_order and shape", location=location)
    return fields


def _dtype(descr: str) -> np.dtype[Any]:
    match = _DESCR.fullmatch(descr)
    kind, size, unit = (match["kind"], match["size"], match["unit"]) if match else ("", "", None)
    dtype: np.dtype[Any] | None = None
    if kind in ("m", "M") and size == "8" and unit:
        dtype = dtypes.from_name(f"{'timedelta64' if kind == 'm' else 'datetime64'}{unit}").numpy
    elif unit is None and descr.lstrip("<>=|") in _PLAIN:
        dtype = _PLAIN[kind + size]
    elif unit is None and kind in _WIDEST and size and (kind == "U" or int(size)) and int(size) <= _WIDEST[kind]:
        dtype = np.dtype(f"{kind}{int(size)}")
    if dtype is None or match is None:
        what, hint = _REFUSED.get(kind, ("elements of an unknown kind", ""))
        raise FormatError(f"descr is {descr!r:.60}: {what}, for which the package has no dtype", hint=hint or None)
    return dtype.newbyteorder(">" if match["mark"] == ">" else "<" if match["mark"] == "<" else "=")


_PLAIN = {dtype.numpy.str[1:]: dtype.numpy for dtype in dtypes.DTYPES.values() if dtype.numpy.kind in "biufc"}


def _refusal_hint(start: bytes) -> str | None:
    if start.startswith(b"PK"):
        return "a zip archive: read it as .npz"
    return "a pickle, which is never read" if start[:1] == b"\x80" else None
