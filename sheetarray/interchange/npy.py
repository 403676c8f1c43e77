"""NumPy's own files: `.npy` holds one array, `.npz` several in a zip archive with one `.npy` member for each.

The format is that of https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1.0 to 3.0; a
file written is, byte for byte, what `numpy.save` or `numpy.savez` writes. Order in memory is kept; elements come in
native byte order. Pickles are neither read nor written (`allow_pickle=False`). NumPy's own function reads the header of
an array, a Python dictionary as text of 10,000 bytes at most:

    \\x93NUMPY 1 0 <length> {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }

What the package has no dtype for (bytes, structures, extended precision) is refused; opaque bytes (`V5`) are held. An
archive may claim to hold anything: sizes are compared with each other and with what its bytes can inflate to, before
memory is taken.
"""

from __future__ import annotations

import contextlib
import io
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
from numpy.lib import format as numpy_format

from .. import dtypes
from ..columns import ArrayInfo
from ..dtypes import Array
from ..errors import DTypeError, Finding, FormatError, LimitError, locating, noting, while_few
from ..files import Readable, Sink, Source, Writable, max_inflated_size, refuse_empty, replacing
from ..formats.contract import EVERYTHING, Keeps, Progress, ignore_progress
from ..linear.named import default_name, plain_arrays, select
from .file_array import FileArray, in_member, write_elements
from .untrusted import damage_as_format_error
from .zip_members import check_member, file_name_problem, members_of, open_file_size, read_member, zip_stream

__all__ = [
    "check_npy",
    "check_npz",
    "keeps_npy",
    "keeps_npz",
    "read_npy",
    "read_npz",
    "scan_npy",
    "scan_npz",
    "write_npy",
    "write_npz",
]

_LONGEST = 10_000  # bytes of a header, as numpy.load has it
_READ_IT = "read it with numpy.load"
_REFUSED = {  # by the kind of a dtype
    "O": ("Python objects, which the file holds as a pickle; pickles are never read", ""),
    "S": ("bytes", f"{_READ_IT} and decode it: np.char.decode(a, 'utf-8')"),
    "V": ("structures", f"{_READ_IT} and write one array per field"),
    "f": ("floats of another precision", f"{_READ_IT} and cast it: a.astype('float64')"),
    "c": ("complex numbers of another precision", f"{_READ_IT} and cast it: a.astype('complex128')"),
    "m": ("times without a unit", f"{_READ_IT} and cast it: a.astype('timedelta64[ns]')"),
    "M": ("times without a unit", f"{_READ_IT} and cast it: a.astype('datetime64[ns]')"),
}


def parse_npy(prefix: Callable[[int], bytes]) -> FileArray:
    """Read a header."""
    start = prefix(8)
    refuse_empty(start, "byte 0")
    if start[:6] != b"\x93NUMPY":
        hint = "a zip archive: read it as .npz" if start.startswith(b"PK") else None
        hint = "a pickle, which is never read" if start[:1] == b"\x80" else hint
        raise FormatError("not a .npy file: it does not begin with '\\x93NUMPY'", location="byte 0", hint=hint)
    version = tuple(start[6:])
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise FormatError(
            f"version {'.'.join(map(str, version))} of the format; 1.0 to 3.0 are known", location="byte 6"
        )
    read = numpy_format.read_array_header_1_0 if version == (1, 0) else numpy_format.read_array_header_2_0
    begin = 10 if version == (1, 0) else 12
    file = io.BytesIO(prefix(begin + _LONGEST))
    file.seek(8)
    with locating(location=f"byte {begin}"):
        with damage_as_format_error("no header of an array"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numbers of Python 2
            shape, is_column_major, dtype = read(file, max_header_size=_LONGEST)
        if min(shape, default=0) < 0:
            raise FormatError(f"the shape {shape!r:.80} has a size below 0")
        _check_dtype(dtype)
        return FileArray(dtype, shape, "column-major" if is_column_major else "row-major", file.tell())


def _check_dtype(dtype: np.dtype[Any]) -> None:
    """Refuse elements that the package has no dtype for; opaque bytes are held."""
    if dtype.kind == "V" and dtype.names is None and dtype.subdtype is None:
        return
    with contextlib.suppress(DTypeError):
        if dtype.kind not in _REFUSED.keys() - set("fcmM"):
            dtypes.from_name(dtypes.from_numpy(dtype).name)
            return
    what, hint = _REFUSED.get(dtype.kind, ("elements of an unknown kind", ""))
    raise FormatError(f"holds {what}, for which sheetarray has no dtype", hint=hint or None)


def npy_header(array: np.ndarray[Any, Any]) -> bytes:
    """Return the header of an array, as NumPy writes it."""
    header = io.BytesIO()
    numpy_format.write_array_header_1_0(header, numpy_format.header_data_from_array_1_0(array))
    return header.getvalue()


keeps_npy = Keeps(EVERYTHING - {"generic"}, names=False, several=False)


def write_npy(target: Writable, arrays: Any, *, progress: Progress | None = None) -> None:
    """Write one array as a `.npy` file, as `numpy.save` does. The file does not store its name."""
    plain = plain_arrays(arrays)
    if len(plain) > 1:
        raise LimitError(f"a .npy file holds one array, not {len(plain)}: write .npz")
    (array,) = plain.values()
    report = progress or ignore_progress
    report(0, array.size)
    with replacing(target, binary=True) as sink:
        sink.write(npy_header(array))
        for done in write_elements(array, sink):
            report(done, array.size)
    report(array.size, array.size)


def read_npy(source: Readable, names: Sequence[str] | None = None, *, mmap: bool = False) -> dict[str, Array]:
    """Return the array of a `.npy` file by the name of the file. You can change it, and the file stays as it is.

    Args:
        source: a path, a URL or an open file.
        names: the name of the array, or None.
        mmap: map a file of this machine instead of reading it. The array then hangs on the file: if somebody saves
            the file in place, the array changes, and if the file is cut short, this process ends.
    """
    with Source(source) as opened, locating(source=opened.name):
        sources = select({default_name(opened.name): opened}, names)
        return {name: _decode(file, mapped=mmap) for name, file in sources.items()}


def scan_npy(source: Readable) -> dict[str, ArrayInfo]:
    """Return an `ArrayInfo` of the array, from the header alone. `location` is the first byte of the elements."""
    with Source(source) as opened, locating(source=opened.name):
        return {default_name(opened.name): parse_npy(opened.prefix).to_info()}


def check_npy(source: Readable) -> Iterator[Finding]:
    """Yield a finding if the file cannot be read. An intact file has none."""
    findings: list[Finding] = []
    with noting(findings), Source(source) as opened, locating(array=default_name(opened.name)):
        _decode(opened)
    yield from findings


def _decode(source: Source, *, mapped: bool = False) -> Array:
    stored, content = parse_npy(source.prefix), source.own(mapped=mapped)
    array = stored.to_array(content)
    if len(content) > stored.end_position:
        raise FormatError(
            f"{len(content) - stored.end_position} bytes after the array",
            location=f"byte {stored.end_position}",
            hint="several arrays in one .npy file: read them one after another with numpy.load",
        )
    return array


keeps_npz = Keeps(EVERYTHING - {"generic"})

_SUFFIX = ".npy"
MOST_MEMBERS = 50_000  # of an archive; each takes some 100 microseconds to open


def write_npz(target: Writable, arrays: Any, *, compress: bool = False, progress: Progress | None = None) -> None:
    """Write arrays as a `.npz` archive, as `numpy.savez` does. `compress` deflates them, as `savez_compressed` does."""
    plain = plain_arrays(arrays)
    for name in plain:
        if problem := file_name_problem(name):
            raise LimitError(
                f"the name {name!r:.80} {problem}: rename it, because each array becomes a file of this name"
            )
    if len(plain) > MOST_MEMBERS:
        raise LimitError(
            f"{len(plain):,} arrays, but at most {MOST_MEMBERS:,} can be read from an archive: write several files"
        )
    total = sum(array.size for array in plain.values())
    done, report = 0, progress or ignore_progress
    report(0, total)
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with replacing(target, binary=True) as sink, zipfile.ZipFile(zip_stream(sink), "w", method) as archive:
        for name, array in plain.items():
            with archive.open(f"{name}{_SUFFIX}", "w", force_zip64=True) as member:
                member.write(npy_header(array))
                for written in write_elements(array, cast("Sink", member)):
                    report(done + written, total)
            done += array.size
    report(total, total)


def read_npz(
    source: Readable, names: Sequence[str] | None = None, *, progress: Progress | None = None
) -> dict[str, Array]:
    """Return the arrays of a `.npz` archive by name, in the order of the archive."""
    with Source(source) as opened, locating(source=opened.name), _opening_archive(opened) as archive:
        selected = select(_members_by_name(archive), names)
        _check_total(archive, selected.values())
        headers = {name: _read_header(archive, member) for name, member in selected.items()}
        total = sum(stored.element_count for stored in headers.values())
        done, report = 0, progress or ignore_progress
        report(0, total)
        arrays = {}
        for name, member in selected.items():
            arrays[name] = _read_array(archive, member, headers[name])
            report(done := done + arrays[name].size, total)
        report(total, total)
        return arrays


def scan_npz(source: Readable) -> dict[str, ArrayInfo]:
    """Return an `ArrayInfo` for each array, from headers alone. `location` is the member, and the first byte there."""
    with Source(source) as opened, locating(source=opened.name), _opening_archive(opened) as archive:
        return {
            name: _read_header(archive, member).to_info(member=member.filename)
            for name, member in _members_by_name(archive).items()
        }


def check_npz(source: Readable) -> Iterator[Finding]:
    """Yield a finding for each array that cannot be read. An intact archive has none."""
    findings: list[Finding] = []
    with noting(findings), Source(source) as opened, _opening_archive(opened) as archive:
        members = _members_by_name(archive)
        _check_total(archive, members.values())
        for name, member in while_few(members.items(), findings):
            with noting(findings, array=name):
                _read_array(archive, member, _read_header(archive, member))
    yield from findings


@contextmanager
def _opening_archive(source: Source) -> Iterator[zipfile.ZipFile]:
    refuse_empty(source.prefix(1))
    with source.open_again() as file:
        with damage_as_format_error("not a .npz file"):
            archive = zipfile.ZipFile(file)
        with archive:
            yield archive


def _members_by_name(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members by the names of their arrays."""
    if (count := len(archive.infolist())) > MOST_MEMBERS:
        raise FormatError(f"{count:,} members; at most {MOST_MEMBERS:,} are read")
    members: dict[str, zipfile.ZipInfo] = {}
    for filename, member in members_of(archive).items():
        name = filename.removesuffix(_SUFFIX)
        if file_name_problem(name) or name in members:
            reason = file_name_problem(name) or f"is that of the array {name!r:.80} too, as two members have it"
            raise FormatError(f"the name of the member {filename!r:.80} {reason}")
        members[name] = member
    if not members:
        raise FormatError("an archive without any array")
    return members


def _check_total(archive: zipfile.ZipFile, members: Iterable[zipfile.ZipInfo]) -> None:
    """Refuse members that together are larger than the archive's bytes can hold, although each alone could be."""
    total, limit = sum(member.file_size for member in members), max_inflated_size(open_file_size(archive.fp))
    if total > limit:
        raise FormatError(
            f"inflates to {total} bytes; at most {limit} are read at once",
            hint="if this is intended, read fewer arrays at a time with names=, or use numpy.load",
        )


def _read_header(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> FileArray:
    with in_member(member.filename), damage_as_format_error("damaged member"):
        check_member(archive, member)
        head = bytearray()

        def prefix(count: int) -> bytes:
            head.extend(stream.read(max(0, count - len(head))))
            return bytes(head[:count])

        with archive.open(member) as stream:
            stored = parse_npy(prefix)
        if stored.end_position != member.file_size:
            raise FormatError(
                f"the array takes {stored.end_position} bytes with its header, but the member has {member.file_size}"
            )
        return stored


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, stored: FileArray) -> Array:
    with in_member(member.filename), damage_as_format_error("damaged member"):
        return stored.to_array(read_member(archive, member))
