"""The functions that `read`, `write`, `scan` and `check` call for `.ra`: a file, or a folder with a file for each
array, which is replaced whole or not at all.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from ...columns import ArrayInfo
from ...dtypes import Array
from ...errors import Finding, FormatError, LimitError, locating, naming_array, noting, system_error, while_few
from ...files import (
    PathLike,
    Readable,
    ReadFolder,
    Sink,
    Source,
    Writable,
    is_url,
    name_part,
    replacing,
    replacing_folder,
)
from ...formats.contract import NUMERIC, Keeps, Progress, ignore_progress
from ...linear.named import default_name, plain_arrays, select
from ..file_array import in_member, write_elements
from .file_names import SUFFIX, check_file_names
from .header import Axes, BoolAs, RawHeader, check_options, parse_raw_header
from .single import as_bytes, decode_array, prepare


def _check_replaceable(target: PathLike) -> None:
    """Refuse to replace anything but a file, or a folder of `.ra` files."""
    path = Path(target)
    if path.exists() and not path.is_dir() and not path.is_file():
        raise system_error(errno.ENOTDIR, target)
    for old in sorted(path.iterdir()) if path.is_dir() else ():
        if old.suffix.lower() != SUFFIX or old.is_symlink() or not old.is_file():
            raise LimitError(f"{path.name} is a folder that would be replaced, but it holds {old.name}: move that away")


_Prepared = tuple[RawHeader, Array]

keeps_ra = Keeps(NUMERIC - {"bool"}, order=False, names=False)


def write_ra(
    target: Writable,
    arrays: Any,
    *,
    axes: Axes = "reversed",
    metadata: bytes | str = b"",
    bool_as: BoolAs | None = None,
    progress: Progress | None = None,
) -> None:
    """Write one array as a RawArray file, or several arrays as a folder of RawArray files.

    In a folder, each file is named `<name>.ra`. A single file does not store the name of its array. If the target is a
    folder already, it stays a folder and is replaced whole. A folder that holds other files than `.ra` is refused. The
    options are those of `write`.
    """
    check_options(axes, bool_as)
    prepared = {}
    for name, array in plain_arrays(arrays).items():
        with naming_array(name):
            prepared[name] = prepare(array, axes, bool_as)
    if len(prepared) > 1 or _is_folder(target):
        _write_folder(target, prepared, metadata, progress or ignore_progress)
        return
    (single,) = prepared.values()
    after = as_bytes(metadata)
    with replacing(target, binary=True) as sink:
        _write_one(single, sink, progress or ignore_progress, 0, single[1].size)
        sink.write(after)


def _write_folder(target: Writable, prepared: Mapping[str, _Prepared], metadata: bytes | str, report: Progress) -> None:
    compressed = isinstance(target, (str, os.PathLike)) and name_part(target).lower().endswith((".gz", ".zst"))
    if not isinstance(target, (str, os.PathLike)) or compressed or is_url(target):
        raise LimitError(
            f"a RawArray file holds one array, not {len(prepared)}: give a path that ends in .ra, for a folder with a "
            "file for each, or write .npz"
        )
    if metadata:
        raise ValueError("metadata belong to one array: write each to a file of its own")
    check_file_names(prepared)
    total = sum(elements.size for _, elements in prepared.values())
    done = 0
    _check_replaceable(target)
    with replacing_folder(target) as folder:
        for name, entry in prepared.items():
            with open(folder / f"{name}{SUFFIX}", "xb") as file:
                _write_one(entry, file, report, done, total)
                file.flush()
                os.fsync(file.fileno())
            done += entry[1].size


def _write_one(one: _Prepared, sink: Sink, report: Progress, done: int, total: int) -> None:
    header, elements = one
    report(done, total)
    sink.write(header.to_bytes())
    for written in write_elements(elements, sink):
        report(done + written, total)
    report(done + elements.size, total)


def read_ra(
    source: Readable, names: Sequence[str] | None = None, *, axes: Axes = "reversed", mmap: bool = False
) -> dict[str, Array]:
    """Return the array of a RawArray file, or the arrays of a folder in alphabetical order, by file name.

    Args:
        source: a path, a URL or an open file; or a folder.
        names: the arrays to read; None reads all.
        axes: "reversed" reads the dimensions as the specification says, "same" as they stand in the file.
        mmap: map files of this machine instead of reading them. An array then hangs on its file: if somebody saves the
            file in place, the array changes, and if the file is cut short, this process ends.
    """
    check_options(axes)
    arrays = {}
    with locating(source=_file_label(source)), _open_folder(source) as folder:
        for name, member in select(_array_files(source, folder), names).items():
            with in_member(member), _open_array(source, folder, member) as opened:
                arrays[name] = decode_array(parse_raw_header(opened), opened.own(mapped=mmap), axes)[0]
    return arrays


def scan_ra(source: Readable, *, axes: Axes = "reversed") -> dict[str, ArrayInfo]:
    """Return an `ArrayInfo` for each array, from headers alone. `location` is the first byte of the elements."""
    check_options(axes)
    infos = {}
    with locating(source=_file_label(source)), _open_folder(source) as folder:
        for name, member in _array_files(source, folder).items():
            with in_member(member), _open_array(source, folder, member) as opened:
                header = parse_raw_header(opened)
                infos[name] = header.to_file_array(axes).to_info(header.dtype, member=member)
    return infos


def check_ra(source: Readable, *, axes: Axes = "reversed") -> Iterator[Finding]:
    """Yield a finding for each file that cannot be read. Intact files have none."""
    check_options(axes)
    findings: list[Finding] = []
    with noting(findings), _open_folder(source) as folder:
        for name, member in while_few(_array_files(source, folder).items(), findings):
            with noting(findings, array=name), in_member(member), _open_array(source, folder, member) as opened:
                decode_array(parse_raw_header(opened), opened.own(), axes)
    yield from findings


@contextmanager
def _open_folder(source: Readable) -> Iterator[ReadFolder | None]:
    """Open a folder of arrays; None for a file."""
    if not isinstance(source, (str, os.PathLike)) or not _is_folder(source):
        yield None
        return
    with ReadFolder(source) as folder:
        yield folder


@contextmanager
def _open_array(source: Readable, folder: ReadFolder | None, member: str | None) -> Iterator[Source]:
    """Open the file of an array: the source itself, or a file in the folder."""
    file: Any = nullcontext(source) if folder is None or member is None else folder.open(member)
    with file as readable, Source(readable, plain=member is not None) as opened:
        yield opened


def _array_files(source: Readable, folder: ReadFolder | None) -> dict[str, str | None]:
    """Return the names of arrays, each with the name of its file if it lies in a folder."""
    if folder is None:
        return {default_name(_file_label(source)): None}
    files = [path for path in folder.sizes if "/" not in path and path[0] != "." and path.lower().endswith(SUFFIX)]
    if not files:
        raise FormatError("a folder without any .ra file")
    files_by_name: dict[str, str | None] = {path[: -len(SUFFIX)]: path for path in files}
    if len(files_by_name) < len(files):
        raise FormatError("two files of the folder differ only in the case of their suffix")
    return files_by_name


def _is_folder(place: Readable | Writable) -> bool:
    return isinstance(place, (str, os.PathLike)) and os.path.isdir(place)


def _file_label(source: Readable) -> str | None:
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else getattr(source, "name", None)
    return name if isinstance(name, str) else None
