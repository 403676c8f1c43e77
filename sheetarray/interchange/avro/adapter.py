"""`.avro` files: an object container of ndarray records with their names, or one bare datum.

Source: https://avro.apache.org/docs/1.12.0/specification/#object-container-files. The frame is a few numbers around
the records, so it is written and read here: the elements of an array go from where they lie straight into the file, and
on reading nothing that a file says of its sizes is believed. A compressed block does not say how large its content is,
so that it is inflated as far as its arrays are read; only Snappy has its size in front, which is compared with the most
that so many bytes can stand for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ...columns import ArrayInfo, column_letters
from ...errors import Finding, FormatError, LimitError, locating, naming_array, noting, while_few
from ...files import Readable, Sink, Source, Writable, fast_zlib, max_inflated_size, refuse_empty, replacing
from ...formats.contract import NUMERIC, Keeps, Progress, ignore_progress
from ...linear.array import LinearArray
from ...linear.named import check_unicode, default_name, select, values_by_name
from ...values import as_array
from ..file_array import FileArray
from .codecs import CODECS, STEP, PackedWire
from .datum import SCHEMA, check_record_holdable, encode_parts, read_datum, skip_array
from .wire import Wire, encode_varint

MAGIC = b"Obj\x01"
NAMES = "sheetarray.names"  # the key of the metadata that holds the names, a JSON list
_SYNC = 16
MOST_RECORDS = 100_000  # of a file; each takes some 20 microseconds to read
_MOST_BLOCKS = 2 * MOST_RECORDS  # a block may be empty
_SHORTEST = 8  # bytes of a record: no dimension, a typestr of three letters, one byte of data, the version
_TIMES = {"null": 1, "deflate": 1032}  # what a codec makes of a byte at most; others may make more
_MOST_KEYS = 10_000

Codec = Literal["null", "deflate"]

keeps_avro = Keeps(NUMERIC, order=False)


def write_avro(target: Writable, arrays: Any, *, codec: Codec = "null", progress: Progress | None = None) -> None:
    """Write arrays as an Avro object container: a block with one record for each array.

    The names are a JSON list in the metadata `sheetarray.names`. `codec`: "deflate" compresses blocks.
    """
    if codec not in ("null", "deflate"):
        raise ValueError(f"codec is 'null' or 'deflate', not {codec!r}")
    held = {}
    for name, value in values_by_name(arrays).items():
        with naming_array(name):
            held[name] = value.to_numpy() if isinstance(value, LinearArray) else as_array(value)
            check_record_holdable(held[name])
    if len(held) > MOST_RECORDS:
        raise LimitError(
            f"{len(held):,} arrays, but at most {MOST_RECORDS:,} can be read from an Avro file: write several files"
        )
    check_unicode(held)
    total = sum(array.size for array in held.values())
    done, report = 0, progress or ignore_progress
    report(0, total)
    with replacing(target, binary=True) as sink:
        sync = os.urandom(_SYNC)
        metadata = {"avro.codec": codec, "avro.schema": json.dumps(SCHEMA), NAMES: json.dumps(list(held))}
        entries = b"".join(_with_size(key.encode()) + _with_size(value.encode()) for key, value in metadata.items())
        sink.write(MAGIC + encode_varint(len(metadata)) + entries + encode_varint(0) + sync)
        for array in held.values():
            for written in _write_record(sink, array, codec):
                report(done + written, total)
            sink.write(sync)
            done += array.size
    report(total, total)


def _with_size(content: bytes) -> bytes:
    return encode_varint(len(content)) + content


def _write_record(sink: Sink, array: np.ndarray[Any, Any], codec: Codec) -> Iterator[int]:
    """Write a block of one record. After each piece, yield the number of elements written so far."""
    head, data, tail = encode_parts(array)
    pieces = [(data[start : start + STEP], start + STEP) for start in range(0, len(data), STEP)]
    if codec == "null":
        sink.write(encode_varint(1) + encode_varint(len(head) + len(data) + len(tail)) + head)
        for piece, end in pieces:
            sink.write(piece)
            yield min(end, len(data)) // array.dtype.itemsize
        sink.write(tail)
        return
    packer = fast_zlib.compressor(fast_zlib.RAW)
    packed = [packer.compress(head)]
    for piece, end in pieces:
        packed.append(packer.compress(piece))
        yield min(end, len(data)) // array.dtype.itemsize
    packed += [packer.compress(tail), packer.flush()]
    sink.write(encode_varint(1) + encode_varint(sum(map(len, packed))))
    for content in packed:
        sink.write(content)


def read_avro(
    source: Readable, names: Sequence[str] | None = None, *, progress: Progress | None = None
) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of an Avro object container, or of one bare datum, each in the byte order it was written with.

    If the file has no names, a single array takes the file's name without its suffix, and several are named A, B, ..
    """
    with Source(source) as opened, locating(source=opened.name):
        file = _AvroSource(opened)
        selected = select(file.records, names)
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        total = sum(stored.element_count for name, stored in file.iter_heads() if name in selected) if progress else 0
        done, report = 0, progress or ignore_progress
        report(0, total)
        for members, wire in file.iter_blocks(set(selected)):
            for name in members:
                if name in selected:
                    arrays[name] = read_datum(wire)
                    report(done := done + arrays[name].size, total)
                else:
                    skip_array(wire)
            wire.check_finished()
        return {name: arrays[name] for name in selected}


def scan_avro(source: Readable) -> dict[str, ArrayInfo]:
    """Return an `ArrayInfo` for each array, without reading elements. `location` is the number of the record."""
    with Source(source) as opened, locating(source=opened.name):
        return {
            name: replace(stored.to_info(), location=f"record {index}")
            for index, (name, stored) in enumerate(_AvroSource(opened).iter_heads())
        }


def check_avro(source: Readable) -> Iterator[Finding]:
    """Yield a finding for each block that cannot be read. An intact file has none."""
    findings: list[Finding] = []
    with Source(source) as opened, noting(findings):
        file = _AvroSource(opened)
        for members, wire in while_few(file.iter_blocks(), findings):
            with noting(findings, array=members[0] if len(members) == 1 else None):
                for name in members:
                    with locating(array=name):
                        read_datum(wire)
                wire.check_finished()
    yield from findings


class _AvroSource:
    """The records of a file by their names; a bare datum is a file of one."""

    def __init__(self, source: Source) -> None:
        self._data = memoryview(source.whole(text=False))
        refuse_empty(bytes(self._data[:1]), "byte 0")
        self._codec = "null"
        self._blocks, names = [(1, 0, len(self._data))], None  # of each the number of its records, its start and end
        if self._data[: len(MAGIC)] == MAGIC:
            wire = Wire(self._data, len(MAGIC))
            names, sync = self._read_header(wire)
            self._blocks = list(self._read_blocks(wire, sync))
        count = sum(records for records, _, _ in self._blocks)
        if names is not None and len(names) != count:
            raise FormatError(f"{NAMES} has {len(names)} names for {count} records", location="byte 4")
        if not count:
            raise FormatError("no array here (an Avro file without records)")
        self._names = names or (
            [default_name(source.name)] if count == 1 else [column_letters(index) for index in range(count)]
        )
        self.records = {name: index for index, name in enumerate(self._names)}

    def _read_header(self, wire: Wire) -> tuple[list[str] | None, bytes]:
        """Return the names of the records, if the file has names, and its sync marker; note the codec."""
        metadata: dict[str, bytes] = {}

        def read_entry() -> None:
            location = wire.location()
            key = wire.read_text("a key of the metadata", 2**16)
            if key in metadata:
                raise FormatError(f"the metadata have the key {key!r:.80} twice", location=location)
            metadata[key] = bytes(wire.read(wire.read_long("the length of a value"), f"the value of {key!r:.80}"))

        wire.read_blocks("the metadata", read_entry, _MOST_KEYS)
        sync = bytes(wire.read(_SYNC, "the sync marker"))
        with locating(location="byte 4"):
            self._codec = metadata.get("avro.codec", b"null").decode("utf-8", "replace")
            if self._codec not in ("null", *CODECS):
                hint = f"null, {', '.join(CODECS)} are read: write it again with one of them"
                raise FormatError(f"the codec is {self._codec!r:.80}", hint=hint)
            if _fields_of(_parse_json(metadata.get("avro.schema", b""), "the schema")) != _fields_of(SCHEMA):
                reason = "the records are not an ndarray of YEP-113 (shape, typestr, data, version)"
                raise FormatError(reason, hint="fastavro reads other records")
            return _parse_names(metadata[NAMES]) if NAMES in metadata else None, sync

    def _read_blocks(self, wire: Wire, sync: bytes) -> Iterator[tuple[int, int, int]]:
        """Yield every block, in order; their bytes are passed over."""
        total = 0
        for _ in range(_MOST_BLOCKS):
            if wire.is_at_end():
                return
            location = wire.location()
            count = wire.read_long("the number of records")
            size = wire.read_long("the size of a block")
            start = wire.at
            wire.skip(size, "a block")
            if count < 0 or _SHORTEST * count > size * _TIMES.get(self._codec, 2**20):
                raise FormatError(f"a block of {size} bytes cannot hold {count} records", location=location)
            if (total := total + count) > MOST_RECORDS:
                raise FormatError(
                    f"the file has more than {MOST_RECORDS:,} records, the most that can be read", location=location
                )
            marker = wire.location()
            if bytes(wire.read(_SYNC, "the sync marker")) != sync:
                raise FormatError("no sync marker after the block: cut off or damaged", location=marker)
            yield count, start, start + size
        if not wire.is_at_end():
            raise FormatError(
                f"the file has more than {_MOST_BLOCKS:,} blocks, the most that can be read", location=wire.location()
            )

    def iter_blocks(self, wanted: set[str] | None = None) -> Iterator[tuple[list[str], Wire]]:
        """Yield the names of the records of each block, and their bytes: of all, or of those with something wanted."""
        first, limit = 0, max_inflated_size(len(self._data))
        for count, start, end in self._blocks:
            members = self._names[first : first + count]
            first += count
            if wanted is not None and wanted.isdisjoint(members):
                continue
            if self._codec == "null":
                yield members, Wire(self._data, start, end)
            else:
                wire = PackedWire(self._data[start:end], start, self._codec, max(0, limit))
                yield members, wire
                limit -= wire.inflated

    def iter_heads(self) -> Iterator[tuple[str, FileArray]]:
        """Yield the name of each array, and its dtype, shape and position in the file."""
        for members, wire in self.iter_blocks():
            for name in members:
                yield name, skip_array(wire)
            wire.check_finished()


def _parse_json(text: bytes, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{what} is not JSON") from error


def _parse_names(text: bytes) -> list[str]:
    names = _parse_json(text, NAMES)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FormatError(f"{NAMES} is not a list of texts")
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        if name in seen:
            raise FormatError(f"two arrays have the name {name!r:.80}, records {seen[name]} and {index}")
        seen[name] = index
    return names


def _fields_of(schema: Any) -> Any:
    """Return the names and types of a record's fields, equal where the bytes of records are."""
    fields = schema.get("fields") if isinstance(schema, dict) and schema.get("type") == "record" else None
    if not isinstance(fields, list) or not all(isinstance(field, dict) for field in fields):
        return None
    return [(field.get("name"), _type_name(field.get("type"))) for field in fields[:8]]


def _type_name(type_: Any, deepest: int = 4) -> Any:
    if isinstance(type_, str):
        return "int" if type_ == "long" else type_
    if not isinstance(type_, dict) or not deepest:
        return None
    if type_.get("type") == "array":
        return "items", _type_name(type_.get("items"), deepest - 1)
    return _type_name(type_.get("type"), deepest - 1)
