"""`.avro` files: an object container of ndarray records with their names, or one bare datum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ...adapters import NUMERIC, Keeps, Progress, ignore_progress
from ...arrays import check_unicode, default_name, select, values_by_name
from ...columns import ArrayInfo, column_letters
from ...errors import DTypeError, Finding, FormatError, LimitError, locating
from ...file_array import FileArray
from ...files import Readable, Source, Writable, refuse_empty, replacing
from ...linear import LinearArray
from ...values import as_array
from .container import MAGIC, MOST_RECORDS, NAMES, AvroFile, Block, ContainerWriter
from .datum import check_holdable, read_array, skip_array
from .wire import Wire

Codec = Literal["null", "deflate"]

keeps_avro = Keeps(NUMERIC, order=False)


def write_avro(target: Writable, arrays: Any, *, codec: Codec = "null", progress: Progress | None = None) -> None:
    """Write arrays as an Avro object container, a record and a block each, in C order and their own byte order.

    The names are a JSON list in the metadata `sheetarray.names`. No extra package is needed.

    Args:
        target: a path, replaced as a whole, or an open binary file.
        arrays: a mapping of names, one array, a DataFrame, an Arrow table or an xarray Dataset.
        codec: "deflate" compresses.
        progress: called with the elements written and the elements in all.

    Raises:
        DTypeError: an array that is neither bool, int, float nor complex, or wider than 16 bytes; names it.
        LimitError: a dimension of more than 2^31 - 1 elements, or more than 100,000 arrays.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> write_avro(file, {"t": np.array([1.5, 2.5])})
        >>> read_avro(io.BytesIO(file.getvalue()))
        {'t': array([1.5, 2.5])}
    """
    if codec not in ("null", "deflate"):
        raise ValueError(f"codec is 'null' or 'deflate', not {codec!r}")
    held = {name: _to_holdable(name, value) for name, value in values_by_name(arrays).items()}
    if len(held) > MOST_RECORDS:
        raise LimitError(f"{len(held):,} arrays, and an Avro file is read up to {MOST_RECORDS:,}: write several files")
    check_unicode(held)
    total = sum(array.size for array in held.values())
    done, report = 0, progress or ignore_progress
    report(0, total)
    with replacing(target, binary=True) as sink:
        writer = ContainerWriter(sink, list(held), codec)
        for array in held.values():
            for written in writer.write(array):
                report(done + written, total)
            done += array.size
    report(total, total)


def _to_holdable(name: str, value: Any) -> np.ndarray[Any, Any]:
    try:
        array = value.to_numpy() if isinstance(value, LinearArray) else as_array(value)
        check_holdable(array)
    except DTypeError as error:
        raise DTypeError(f"{name}: {error}") from error
    except LimitError as error:
        raise LimitError(f"{name}: {error}") from error
    return array


# Reading -----------------------------------------------------------------------------------------------------


def read_avro(
    source: Readable, names: Sequence[str] | None = None, *, progress: Progress | None = None
) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays of an Avro object container, or of one bare datum.

    Blocks may be compressed by deflate, bzip2, xz, zstandard or, with the extra `avro`, Snappy.

    Args:
        source: a path or an open binary file; gzip and Zstandard are recognised.
        names: only these arrays are decoded; None for all.
        progress: called with the elements read and the elements in all.

    Returns:
        Arrays by name, each in the byte order that it was written with; a single one without a name has the file's
        stem, several are named A, B, ..

    Raises:
        FormatError: with `.location`, such as `byte 16`, of what is wrong.
        MissingDependencyError: Snappy blocks, and what decompresses them is not installed.
        NotFoundError: no array of a name asked for.

    Example:
        >>> import io
        >>> from .datum import pack
        >>> read_avro(io.BytesIO(pack(np.array([1, 2], dtype=">i2"))))
        {'array': array([1, 2], dtype='>i2')}
    """
    with Source(source) as opened, locating(source=opened.name):
        file = _AvroSource(opened)
        wanted = select(file.records, names)
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        total = sum(stored.element_count for name, stored in file.iter_heads() if name in wanted) if progress else 0
        done, report = 0, progress or ignore_progress
        report(0, total)
        for block, members in file.iter_blocks(set(wanted)):
            wire = file.wire_of(block)
            for name in members:
                if name in wanted:
                    arrays[name] = read_array(wire)
                    report(done := done + arrays[name].size, total)
                else:
                    skip_array(wire)
            file.check_finished(wire)
        return {name: arrays[name] for name in wanted}


def scan_avro(source: Readable) -> dict[str, ArrayInfo]:
    """Return the infos of all arrays, whose elements are passed over (`location` is the record's number).

    Args:
        source: a path or an open binary file; gzip and Zstandard are recognised.

    Raises:
        FormatError: no array, or a broken one.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> write_avro(file, {"t": np.zeros((2, 3))})
        >>> scan_avro(io.BytesIO(file.getvalue()))["t"].shape
        (2, 3)
    """
    with Source(source) as opened, locating(source=opened.name):
        return {
            name: replace(stored.to_info(), location=f"record {index}")
            for index, (name, stored) in enumerate(_AvroSource(opened).iter_heads())
        }


def check_avro(source: Readable) -> Iterator[Finding]:
    """Yield every finding in an Avro file: at most one for each block; nothing for an intact one.

    Args:
        source: a path or an open binary file; gzip and Zstandard are recognised.

    Raises:
        OSError: no such file; nothing is raised for its content.

    Example:
        >>> import io
        >>> [finding.message for finding in check_avro(io.BytesIO(b""))]
        ['the file is empty: 0 bytes']
    """
    findings: list[Finding] = []
    with Source(source) as opened:
        try:
            file = _AvroSource(opened)
        except FormatError as error:
            findings.append(Finding.from_error(error))
        else:
            for block, members in file.iter_blocks(None):
                try:
                    with locating(array=members[0] if len(members) == 1 else None):
                        wire = file.wire_of(block)
                        for name in members:
                            with locating(array=name):
                                read_array(wire)
                        file.check_finished(wire)
                except FormatError as error:
                    findings.append(Finding.from_error(error))
    yield from findings


class _AvroSource:
    """The records of a file by their names; a bare datum is a file of one.

    Attributes:
        records: the number of each record, by its name.

    Raises:
        FormatError: no container and no datum, or one that holds nothing.
    """

    def __init__(self, source: Source) -> None:
        self._data = memoryview(source.whole(text=False))
        refuse_empty(bytes(self._data[:1]), "byte 0")
        self._inflated = 0  # bytes, of the blocks read so far
        self._wire = Wire(self._data)
        self._container = AvroFile(self._data) if self._data[: len(MAGIC)] == MAGIC else None
        if self._container:
            self._blocks = list(self._container.iter_blocks())
        else:
            self._blocks = [Block(0, 1, 0, len(self._data))]
        count = sum(block.count for block in self._blocks)
        names = self._container.names if self._container else None
        if names is not None and len(names) != count:
            raise FormatError(f"{NAMES} has {len(names)} names for {count} records", location="byte 4")
        if not count:
            raise FormatError("no array here (an Avro file without records)")
        self._names = names or (
            [default_name(source.name)] if count == 1 else [column_letters(index) for index in range(count)]
        )
        self.records = {name: index for index, name in enumerate(self._names)}

    def iter_blocks(self, wanted: set[str] | None) -> Iterator[tuple[Block, list[str]]]:
        """Yield blocks with the names of their records: all, or those that hold something wanted."""
        self._inflated = 0
        for block in self._blocks:
            members = self._names[block.first : block.first + block.count]
            if wanted is None or not wanted.isdisjoint(members):
                self._wire = Wire(self._data)
                yield block, members
                self._inflated += self._wire.inflated

    def wire_of(self, block: Block) -> Wire:
        """Return the records of a block."""
        self._wire = self._container.wire_of(block, self._inflated) if self._container else Wire(self._data)
        return self._wire

    def iter_heads(self) -> Iterator[tuple[str, FileArray]]:
        """Yield the name of each array, and its dtype, shape and position in the file."""
        for block, members in self.iter_blocks(None):
            wire = self.wire_of(block)
            for name in members:
                yield name, skip_array(wire)
            self.check_finished(wire)

    def check_finished(self, wire: Wire) -> None:
        """Refuse bytes after the last record of a block.

        Raises:
            FormatError: there are some.
        """
        if not wire.is_at_end():
            raise FormatError("bytes after the end of the array", location=wire.location())
