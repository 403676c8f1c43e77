"""The frame of an Avro object container file: its header, and the positions of its blocks.

Source: https://avro.apache.org/docs/1.12.0/specification/#object-container-files. The frame is a few numbers around
the records, so it is written and read here: the elements of an array go from where they lie straight into the file, and
on reading nothing that a file says of its sizes is believed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import FormatError
from ...files import Sink, fast_zlib, max_inflated_size
from .codecs import CODECS
from .datum import SCHEMA, encode_parts
from .wire import PackedWire, Wire, encode_varint

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

    Raises:
        FormatError: from the constructor and `blocks`, with the byte as location.
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
        """Return the records of a block.

        Args:
            block: one of `blocks`.
            inflated: bytes that the blocks before it have inflated to; all of them together may not inflate to more
                than a compressed file of this size may.
        """
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
    """An object container on its way into a sink.

    Args:
        sink: takes the file's bytes, the header's first.
        names: of the records, in their order.
        codec: "null", or "deflate" to compress.
    """

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
