"""The functions that `read`, `write`, `scan` and `check` call for `.ra`: a file holds one array, and not its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...adapters import NUMERIC, Keeps, Progress, ignore_progress
from ...arrays import default_name, plain_arrays, select
from ...columns import ArrayInfo
from ...dtypes import Array
from ...errors import Finding, LimitError, locating, naming_array, noting
from ...files import Readable, Source, Writable, replacing
from ..file_array import write_elements
from .single import Axes, BoolAs, as_bytes, check_options, decode, parse, prepare

keeps_ra = Keeps(NUMERIC - {"bool"}, order=False, names=False, several=False)


def write_ra(
    target: Writable,
    arrays: Any,
    *,
    axes: Axes = "reversed",
    metadata: bytes | str = b"",
    bool_as: BoolAs | None = None,
    progress: Progress | None = None,
) -> None:
    """Write one array as a RawArray file; its name is not stored. The options are those of `write`."""
    plain = plain_arrays(arrays)
    if len(plain) > 1:
        raise LimitError(f"a RawArray file holds one array, not {len(plain)}: write .npz")
    ((name, array),) = plain.items()
    with naming_array(name):
        header, elements = prepare(array, axes, bool_as)
    after, report = as_bytes(metadata), progress or ignore_progress
    report(0, elements.size)
    with replacing(target, binary=True) as sink:
        sink.write(header.to_bytes())
        for done in write_elements(elements, sink):
            report(done, elements.size)
        sink.write(after)
    report(elements.size, elements.size)


def read_ra(source: Readable, names: Sequence[str] | None = None, *, axes: Axes = "reversed") -> dict[str, Array]:
    """Return the array of a RawArray file by the file's own name; a large plain file is mapped, not copied."""
    check_options(axes)
    with Source(source) as opened, locating(source=opened.name):
        sources = select({default_name(opened.name): opened}, names)
        return {name: decode(parse(file), file.own(), axes)[0] for name, file in sources.items()}


def scan_ra(source: Readable, *, axes: Axes = "reversed") -> dict[str, ArrayInfo]:
    """Return the info of the array from its header alone; the location is that of the first byte of the data."""
    check_options(axes)
    with Source(source) as opened, locating(source=opened.name):
        header = parse(opened)
        return {default_name(opened.name): header.to_file_array(axes).to_info(header.dtype)}


def check_ra(source: Readable, *, axes: Axes = "reversed") -> Iterator[Finding]:
    """Yield the finding that says why `read` refuses the file; nothing for an intact one."""
    check_options(axes)
    findings: list[Finding] = []
    with noting(findings), Source(source) as opened, locating(array=default_name(opened.name)):
        decode(parse(opened), opened.own(), axes)
    yield from findings
