"""An array written into a file as one value of JSON or MessagePack, block by block."""

from __future__ import annotations

import base64
from typing import Any

from ...files import Sink
from .msgpack_bounds import LARGE
from .serializers import dump_plain, msgpack_module, pack_plain
from .words import BASE64

_BASE64_BLOCK = 3 * 2**18  # bytes of which base64 is made at once


def write_msgpack_value(sink: Sink, plain: Any) -> None:
    """Write a value as MessagePack; the bytes of a large array are written as they lie, and not copied by a packer."""
    if not isinstance(plain, dict) or not any(map(_is_large, plain.values())):
        sink.write(pack_plain(plain))
        return
    sink.write(msgpack_module().Packer().pack_map_header(len(plain)))
    for key, value in plain.items():
        sink.write(pack_plain(key))
        if _is_large(value):
            sink.write(b"\xc6" + value.nbytes.to_bytes(4, "big"))
            sink.write(value)
        else:
            sink.write(pack_plain(value))


def _is_large(value: Any) -> bool:
    return isinstance(value, memoryview) and value.nbytes >= LARGE


def write_json_value(sink: Sink, plain: dict[str, Any]) -> None:
    """Write the dict of an array as JSON; the base64 of its bytes is made and written block by block."""
    data = plain["bytes"]
    if not isinstance(data, memoryview):
        sink.write(dump_plain(plain).encode("ascii"))
        return
    before, after = dump_plain({**plain, "bytes": {BASE64: ""}}).encode("ascii").split(b'""', 1)
    sink.write(before + b'"')
    for start in range(0, len(data), _BASE64_BLOCK):
        sink.write(base64.b64encode(data[start : start + _BASE64_BLOCK]))
    sink.write(b'"' + after)
