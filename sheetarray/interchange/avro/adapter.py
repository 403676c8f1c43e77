"""`.avro` files: an object container of ndarray records with their names, or one bare datum.

Source: https://avro.apache.org/docs/1.12.0/specification/#object-container-files. The frame is a few numbers around
the records, so it is written and read here: the elements of an array go from where they lie straight into the file, and
on reading nothing that a file says of its sizes is believed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ...adapters import NUMERIC, Keeps, Progress, ignore_progress
from ...arrays import check_unicode, default_name, select, values_by_name
from ...columns import ArrayInfo, column_letters
from ...errors import DTypeError, Finding, FormatError, LimitError, locating
from ...file_array import FileArray
from ...files import Readable, Sink, Source, Writable, fast_zlib, max_inflated_size, refuse_empty, replacing
from ...linear import LinearArray
from ...values import as_array
from .datum import SCHEMA, check_holdable, encode_parts, read_array, skip_array
from .wire import CODECS, PackedWire, Wire, encode_varint

# Object containers ----------------------------------------------------------------------------------------------------

MAGIC = b"Obj\x01"
NAMES = "sheetarray.names"  # the key of the metadata that holds the names, a JSON list
_SYNC = 16
MOST_RECORDS = 100_000  # of a file; each takes some 20 microseconds to read
_MOST_BLOCKS = 2 * MOST_RECORDS  # a block may be empty
_SHORTEST = 8  # bytes of a record: no dimension, a typestr of three letters, one byte of data, the version
_TIMES = {"null": 1, "deflate": 1032}  # what a codec makes of a byte at most; others may make more
_MOST_KEYS = 10_000
_STEP = 2**20  # bytes of elements that are written, or compressed, at once


@dataclass(frozen=True, slots=True)
class Block:
    """The location of a block in a file.

    Attributes:
        first: the number of its first record, from 0.
        count: of its records.
        start: the offset of its bytes.
        end: the offset after them.
    """

    first: int
    count: int
    start: int
    end: int


class AvroFile:
    """The header of a file, and its blocks.

    Attributes:
        names: of the records; None if the file has no names.
    """

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._wire = Wire(data, len(MAGIC))
        metadata: dict[str, bytes] = {}

        def entry() -> None:
            location = self._wire.location()
            key = self._wire.read_text("a key of the metadata", 2**16)
            if key in metadata:
                raise FormatError(f"the metadata have the key {key!r:.80} twice", location=location)
            metadata[key] = bytes(
                self._wire.read(self._wire.read_long("the length of a value"), f"the value of {key!r:.80}")
            )

        self._wire.read_blocks("the metadata", entry, _MOST_KEYS)
        self._sync = bytes(self._wire.read(_SYNC, "the sync marker"))
        codec = metadata.get("avro.codec", b"null")
        self._codec = codec.decode("utf-8", "replace")
        if self._codec not in ("null", *CODECS):
            raise FormatError(
                f"the codec is {self._codec!r:.80}",
                location="byte 4",
                hint=f"null, {', '.join(CODECS)} are read: write it again with one of them",
            )
        if not _is_ndarray(_parse_json(metadata.get("avro.schema", b""), "the schema")):
            raise FormatError(
                "the records are no ndarray of YEP-113 (shape, typestr, data, version)",
                location="byte 4",
                hint="fastavro reads other records",
            )
        self.names = _parse_names(metadata[NAMES]) if NAMES in metadata else None

    def iter_blocks(self) -> Iterator[Block]:
        """Yield every block, in order; their bytes are passed over."""
        wire, first = self._wire, 0
        for _ in range(_MOST_BLOCKS):
            if wire.is_at_end():
                return
            location = wire.location()
            count = wire.read_long("the number of records")
            size = wire.read_long("the size of a block")
            start = wire.at
            wire.skip(size, "a block")
            if count < 0 or _SHORTEST * count > size * _TIMES.get(self._codec, 2**20):
                raise FormatError(f"a block of {size} bytes with {count} records", location=location)
            if first + count > MOST_RECORDS:
                raise FormatError(f"more than {MOST_RECORDS:,} records; so many are read", location=location)
            marker = wire.location()
            if bytes(wire.read(_SYNC, "the sync marker")) != self._sync:
                raise FormatError("no sync marker after the block: cut off or damaged", location=marker)
            yield Block(first, count, start, start + size)
            first += count
        if not wire.is_at_end():
            raise FormatError(f"more than {_MOST_BLOCKS:,} blocks; so many are read", location=wire.location())

    def wire_of(self, block: Block, inflated: int = 0) -> Wire:
        """Return the records of a block."""
        if self._codec == "null":
            return Wire(self._data, block.start, block.end)
        most = max(0, max_inflated_size(len(self._data)) - inflated)
        return PackedWire(self._data[block.start : block.end], block.start, self._codec, most)


def _parse_json(text: bytes, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{what} is no JSON", location="byte 4") from error


def _parse_names(text: bytes) -> list[str]:
    names = _parse_json(text, NAMES)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FormatError(f"{NAMES} is no list of texts", location="byte 4")
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        if name in seen:
            raise FormatError(
                f"two arrays have the name {name!r:.80}, records {seen[name]} and {index}", location="byte 4"
            )
        seen[name] = index
    return names


def _is_ndarray(schema: Any) -> bool:
    """Return whether records of this schema have the same bytes as YEP-113's."""
    return bool(_parse_fields(schema) == _parse_fields(SCHEMA))


def _parse_fields(schema: Any) -> Any:
    fields = schema.get("fields") if isinstance(schema, dict) and schema.get("type") == "record" else None
    if not isinstance(fields, list) or not all(isinstance(field, dict) for field in fields):
        return None
    return [(field.get("name"), _type_name(field.get("type"))) for field in fields[:8]]


def _type_name(type_: Any, deepest: int = 4) -> Any:
    if isinstance(type_, str):
        return "int" if type_ == "long" else type_
    if not isinstance(type_, dict) or not deepest:
        return None
    inner = "items" if type_.get("type") == "array" else "type"
    return (
        (inner, _type_name(type_.get(inner), deepest - 1))
        if inner == "items"
        else _type_name(type_.get(inner), deepest - 1)
    )


# Writing -----------------------------------------------------------------------------------------------------


class ContainerWriter:
    """An object container on its way into a sink."""

    def __init__(self, sink: Sink, names: Sequence[str], codec: str) -> None:
        self._sink, self._deflates = sink, codec == "deflate"
        self._sync = os.urandom(_SYNC)
        metadata = {"avro.codec": codec, "avro.schema": json.dumps(SCHEMA), NAMES: json.dumps(list(names))}
        entries = b"".join(_with_size(key.encode()) + _with_size(value.encode()) for key, value in metadata.items())
        sink.write(MAGIC + encode_varint(len(metadata)) + entries + encode_varint(0) + self._sync)

    def write(self, array: np.ndarray[Any, Any]) -> Iterator[int]:
        """Write an array as a record in a block of its own.

        Yields:
            The number of its elements that have been written, or compressed, after each piece of them.
        """
        head, data, tail = encode_parts(array)
        size = array.dtype.itemsize
        if self._deflates:
            packer = fast_zlib.compressor(fast_zlib.RAW)
            packed = [packer.compress(head)]
            for start in range(0, len(data), _STEP):
                packed.append(packer.compress(data[start : start + _STEP]))
                yield min(start + _STEP, len(data)) // size
            packed += [packer.compress(tail), packer.flush()]
            self._sink.write(encode_varint(1) + encode_varint(sum(map(len, packed))))
            for piece in packed:
                self._sink.write(piece)
        else:
            self._sink.write(encode_varint(1) + encode_varint(len(head) + len(data) + len(tail)) + head)
            for start in range(0, len(data), _STEP):
                self._sink.write(data[start : start + _STEP])
                yield min(start + _STEP, len(data)) // size
            self._sink.write(tail)
        self._sink.write(self._sync)


def _with_size(content: bytes) -> bytes:
    return encode_varint(len(content)) + content


# Files of named arrays ------------------------------------------------------------------------------------------------

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
        """Refuse bytes after the last record of a block."""
        if not wire.is_at_end():
            raise FormatError("bytes after the end of the array", location=wire.location())
