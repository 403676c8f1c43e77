"""`.npz`: a zip archive with one `.npy` member for each array.

An archive may claim to hold anything: sizes are compared with each other and with what its bytes can inflate to, before
memory is taken.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from ...adapters import EVERYTHING, Keeps, Progress, ignore_progress
from ...arrays import plain_arrays, select
from ...columns import ArrayInfo
from ...dtypes import Array
from ...errors import Finding, FormatError, LimitError, locating
from ...file_array import FileArray, in_member, write_elements
from ...files import Readable, Sink, Source, Writable, max_inflated_size, refuse_empty, replacing
from ..zip_members import check_member, damage_as_format_error, name_problem, size_of, zip_stream
from .header import header_for, parse

keeps_npz = Keeps(EVERYTHING - {"generic"})

_SUFFIX = ".npy"
MOST_MEMBERS = 100_000  # of an archive; each takes some 80 microseconds to open
_BLOCK = 2**20


def write_npz(target: Writable, arrays: Any, *, compress: bool = False, progress: Progress | None = None) -> None:
    """Write arrays as a `.npz` archive, as `numpy.savez` does.

    Args:
        target: a path, replaced as a whole, or a file opened for bytes.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        compress: deflate the members, as `numpy.savez_compressed` does.
        progress: called with the elements written and the elements in all.

    Raises:
        DTypeError: names the array that the package has no dtype for, or that is of objects.
        LimitError: a name that no archive should have (absolute, with `..` or a backslash), or over 100,000 arrays;
            before anything is written.
        OSError: the system refuses; the old file is whole.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> write_npz(file, {"t": np.array([1.5]), "p": np.array([2, 3])})
        >>> _ = file.seek(0)
        >>> np.load(file)["p"]
        array([2, 3])
    """
    plain = plain_arrays(arrays)
    for name in plain:
        if problem := name_problem(name):
            raise LimitError(f"the name {name!r:.80} {problem}, and each array is a file of the archive: rename it")
    if len(plain) > MOST_MEMBERS:
        raise LimitError(f"{len(plain):,} arrays, and an archive is read up to {MOST_MEMBERS:,}: write several files")
    total = sum(array.size for array in plain.values())
    done, report = 0, progress or ignore_progress
    report(0, total)
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with replacing(target, binary=True) as sink, zipfile.ZipFile(zip_stream(sink), "w", method) as archive:
        for name, array in plain.items():
            with archive.open(f"{name}{_SUFFIX}", "w", force_zip64=True) as member:
                member.write(header_for(array))
                for written in write_elements(array, cast("Sink", member)):
                    report(done + written, total)
            done += array.size
    report(total, total)


def read_npz(
    source: Readable, names: Sequence[str] | None = None, *, progress: Progress | None = None
) -> dict[str, Array]:
    """Read the arrays of a `.npz` archive.

    Args:
        source: a path or an open file.
        names: only these arrays are read; None for all.
        progress: called with the elements read and the elements in all.

    Returns:
        Arrays by name, in the order of the archive.

    Raises:
        FormatError: with `.location`, such as `t.npy, byte 8`; also where the arrays take more than 1 GiB and 100 times
            the archive's bytes, as a bomb does.
        NotFoundError: no array of a name asked for.
        OSError: no such file, or it cannot be read.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> np.savez(file, t=np.array([1.5]))
        >>> read_npz(io.BytesIO(file.getvalue()))
        {'t': array([1.5])}
    """
    with Source(source) as opened, locating(source=opened.name), _opening_archive(opened) as archive:
        wanted = select(_members_by_name(archive), names)
        _check_total(archive, wanted.values())
        headers = {name: _read_header(archive, member) for name, member in wanted.items()}
        total = sum(stored.element_count for stored in headers.values())
        done, report = 0, progress or ignore_progress
        report(0, total)
        arrays = {}
        for name, member in wanted.items():
            arrays[name] = _read_array(archive, member, headers[name])
            report(done := done + arrays[name].size, total)
        report(total, total)
        return arrays


def scan_npz(source: Readable) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays from their headers alone; the location is a member and the first byte in it.

    Args:
        source: a path or an open file.

    Raises:
        FormatError: no archive, or a broken header.
        OSError: no such file, or it cannot be read.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> np.savez(file, t=np.zeros((2, 3)))
        >>> scan_npz(io.BytesIO(file.getvalue()))["t"].shape
        (2, 3)
    """
    with Source(source) as opened, locating(source=opened.name), _opening_archive(opened) as archive:
        return {
            name: _read_header(archive, member).to_info(member=member.filename)
            for name, member in _members_by_name(archive).items()
        }


def check_npz(source: Readable) -> Iterator[Finding]:
    """Yield every finding: at most one for each array; nothing for an intact archive.

    Args:
        source: a path or an open file.

    Raises:
        OSError: no such file, or it cannot be read; never for its content.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> np.savez(file, t=np.zeros((2, 3)))
        >>> list(check_npz(io.BytesIO(file.getvalue())))
        []
    """
    findings = []
    try:
        with Source(source) as opened, _opening_archive(opened) as archive:
            members = _members_by_name(archive)
            _check_total(archive, members.values())
            for name, member in members.items():
                try:
                    with locating(array=name):
                        _read_array(archive, member, _read_header(archive, member))
                except FormatError as error:
                    findings.append(Finding.from_error(error))
    except FormatError as error:
        findings.append(Finding.from_error(error))
    yield from findings


# Members -----------------------------------------------------------------------------------------------------


@contextmanager
def _opening_archive(source: Source) -> Iterator[zipfile.ZipFile]:
    refuse_empty(source.prefix(1))
    with source.open_again() as file:
        with damage_as_format_error("no .npz file"):
            archive = zipfile.ZipFile(file)
        with archive:
            yield archive


def _members_by_name(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members by the names of their arrays.

    Raises:
        FormatError: two of one name, or one that no archive should have.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    if (count := len(archive.infolist())) > MOST_MEMBERS:
        raise FormatError(f"{count:,} members; at most {MOST_MEMBERS:,} are read")
    for member in archive.infolist():
        if member.filename.endswith("/"):
            continue
        name = member.filename.removesuffix(_SUFFIX)
        if problem := name_problem(name):
            raise FormatError(f"the name of the member {member.filename!r:.80} {problem}")
        if name in members:
            raise FormatError(f"two members are the array {name!r}: {members[name].filename} and {member.filename}")
        members[name] = member
    if not members:
        raise FormatError("an archive without any array")
    return members


def _check_total(archive: zipfile.ZipFile, members: Iterable[zipfile.ZipInfo]) -> None:
    """Refuse what is more than any use of the archive's bytes, each member by itself being possible."""
    total, limit = sum(member.file_size for member in members), max_inflated_size(size_of(archive.fp))
    if total > limit:
        raise FormatError(
            f"inflates to {total} bytes, of which {limit} are read at once",
            hint="if that is meant, read fewer arrays at a time with names=, or use numpy.load",
        )


def _read_header(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> FileArray:
    with in_member(member.filename), damage_as_format_error("damaged member"):
        check_member(archive, member)
        head = bytearray()

        def prefix(count: int) -> bytes:
            head.extend(stream.read(max(0, count - len(head))))
            return bytes(head[:count])

        with archive.open(member) as stream:
            stored = parse(prefix)
        if stored.end_position != member.file_size:
            raise FormatError(
                f"the array takes {stored.end_position} bytes with its header, but the member has {member.file_size}"
            )
        return stored


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, stored: FileArray) -> Array:
    with in_member(member.filename), damage_as_format_error("damaged member"), archive.open(member) as stream:
        content = np.empty(member.file_size, np.uint8).data
        filled = 0
        while chunk := stream.read(_BLOCK):
            content[filled : filled + len(chunk)] = chunk
            filled += len(chunk)
        return stored.to_array(content[:filled])
