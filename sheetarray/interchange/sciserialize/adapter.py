"""Files of named arrays: `.msgpack`, and `.json` whose values are objects of SciSerialize."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ...columns import ArrayInfo
from ...dtypes import Array
from ...errors import DTypeError, Finding, FormatError, LimitError, locating, naming_array, noting, while_few
from ...files import Readable, Source, Writable, replacing
from ...formats.contract import NUMERIC, Keeps, Progress, ignore_progress
from ...linear.array import LinearArray
from ...linear.named import check_unicode, default_name, linear_arrays, select
from .array_dicts import check_holdable, parse_array_dict
from .nested import check_array_name, check_map_keys, decode_at, encode_views
from .serializers import MOST_BYTES, check_value_count, msgpack_module, pack_plain, parse_msgpack, parse_packed_json
from .words import base64_text, count_plain_values, type_name
from .written_values import write_json_value, write_msgpack_value

Encoding = Literal["msgpack", "json"]

_ARRAYS = ("ndarray", "maskedarray")
_HINT = "loads and unpackb of sheetarray.interchange.sciserialize read it"
_VALUES_OF_ARRAY = 1 + 2 * 4 + 2  # its dict, the four keys with their values, the base64 of JSON

keeps_sciserialize = Keeps(NUMERIC, order=False)


def write_sciserialize(
    target: Writable,
    arrays: Any,
    *,
    form: Encoding = "msgpack",
    extensions: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write named arrays as MessagePack or JSON. Elements are row-major and little-endian.

    `form`: "json" writes JSON, with elements as base64; "msgpack" writes MessagePack. `extensions`: also write arrays
    of text, objects, datetime64 and timedelta64, which readers in other languages may not know.
    """
    if form not in ("msgpack", "json"):
        raise ValueError(f"form is 'msgpack' or 'json', not {form!r}")
    held, values = {}, 1
    for name, linear in linear_arrays(arrays, stored_as="bytes").items():
        check_array_name(name)
        held[name] = linear.to_numpy()
        values += _check(name, held[name], extensions, MOST_BYTES if form == "msgpack" else None)
        check_value_count(values)
    if form == "msgpack":
        msgpack_module()
    total = sum(array.size for array in held.values())
    done, report = 0, progress or ignore_progress
    report(0, total)
    with replacing(target, binary=form == "msgpack") as sink:
        sink.write(b"{" if form == "json" else msgpack_module().Packer().pack_map_header(len(held)))
        for index, (name, array) in enumerate(held.items()):
            plain = encode_views({name: array}, extensions=extensions)[name]
            if form == "json":
                sink.write(f"{', ' if index else ''}{json.dumps(name)}: ".encode("ascii"))
                write_json_value(sink, plain)
            else:
                sink.write(pack_plain(name))
                write_msgpack_value(sink, plain)
            report(done := done + array.size, total)
        sink.write(b"}" if form == "json" else b"")
    report(total, total)


def _check(name: str, array: Array, extensions: bool, most: int | None) -> int:
    """Refuse an array that cannot be written; return the number of values that it makes, its name among them."""
    with naming_array(name):
        check_holdable(array, extensions=extensions)
    check_unicode([name])
    if most is not None and array.nbytes > most:
        raise LimitError(
            f"{name}: {array.nbytes} bytes, but MessagePack holds at most {most} in one value: split it, or write JSON"
        )
    if array.dtype.kind == "O":
        return count_plain_values(encode_views({name: array}, extensions=True))
    return 1 + _VALUES_OF_ARRAY + array.ndim


def read_sciserialize(
    source: Readable, names: Sequence[str] | None = None, *, progress: Progress | None = None
) -> dict[str, Array]:
    """Return the arrays of a SciSerialize file, in JSON or MessagePack, by name.

    If the file is one array without a name, it takes the file's name without its suffix. Each column of a DataFrame is
    an array, named `frame.column`. A number or a text is a 0-d array.
    """
    with Source(source) as opened, locating(source=opened.name):
        selected = select(_read_entries(opened), names)
        total = sum(_count_elements(name, entry) for name, entry in selected.items())
        done, report = 0, progress or ignore_progress
        report(0, total)
        arrays = {}
        for name, entry in selected.items():
            arrays[name] = _to_array(name, entry)
            report(done := done + arrays[name].size, max(done, total))
        return arrays


def scan_sciserialize(source: Readable) -> dict[str, ArrayInfo]:
    """Return an `ArrayInfo` for each array, without decoding elements."""
    with Source(source) as opened, locating(source=opened.name):
        return {name: _info(name, entry) for name, entry in _read_entries(opened).items()}


def check_sciserialize(source: Readable) -> Iterator[Finding]:
    """Yield a finding for each array that cannot be read. An intact file has none."""
    findings: list[Finding] = []
    with Source(source) as opened, noting(findings):
        for name, entry in while_few(_read_entries(opened).items(), findings):
            with noting(findings, array=name):
                _to_array(name, entry)
    yield from findings


def _read_entries(source: Source) -> dict[str, Any]:
    """Return the value of each name: an array already, or plain data from which one is to be made."""
    content = source.whole(text=_is_json(source.prefix(64)))
    if not content:
        raise FormatError("the file is empty: 0 bytes")
    tree = parse_packed_json(content) if _is_json(content[:64]) else parse_msgpack(memoryview(content))
    if not isinstance(tree, dict) or base64_text(tree) is not None:
        raise FormatError(f"a {type(tree).__name__}, no mapping of names to arrays", hint=_HINT)
    check_map_keys(tree, "")
    lone = type_name(tree) is not None
    entries: dict[str, Any] = {}
    for name, value in ({default_name(source.name): tree} if lone else tree).items():
        new = {name: value}
        if type_name(value) == "dataframe":
            columns = _columns(value, "" if lone else name)
            new = {column if lone else f"{name}.{column}": array for column, array in columns.items()}
        for key in new:
            if key in entries:
                raise FormatError(f"two arrays have the name {key!r:.80}", location=name)
        entries.update(new)
    if not entries:
        raise FormatError("no array here (an empty mapping)")
    return entries


def _columns(value: Any, path: str) -> dict[str, Array]:
    frame = decode_at(value, path)
    try:
        return {column: array.to_numpy() for column, array in linear_arrays(frame, stored_as="bytes").items()}
    except (DTypeError, LimitError) as error:
        raise FormatError(f"not a DataFrame of arrays: {error}", location=path or None, hint=_HINT) from error


def _is_json(head: bytes) -> bool:
    """Return whether a file is JSON: its first byte is no map of MessagePack."""
    bare = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n\0\xfe\xff")
    return bare[:1] in (b"{", b"[", b'"')


def _to_array(name: str, entry: Any) -> Array:
    if isinstance(entry, np.ndarray):
        return entry
    if isinstance(entry, int) and not -(2**63) <= entry < 2**64:
        raise FormatError("an integer of more than 64 bits", location=name)
    if isinstance(entry, (int, float, str)):
        return np.array(entry)
    if type_name(entry) not in _ARRAYS:
        what = type_name(entry) or ("dict" if isinstance(entry, dict) else type(entry).__name__)
        hint = f"{_HINT}; names= chooses the arrays"
        raise FormatError(f"expected an array, found a {what:.40}", location=name, hint=hint)
    array: Array = decode_at(entry, name)
    return array


def _info(name: str, entry: Any) -> ArrayInfo:
    if type_name(entry) in _ARRAYS:
        check_map_keys(entry, name)
        return replace(parse_array_dict(entry, name).stored.to_info(), location=name)
    linear = LinearArray.from_numpy(_to_array(name, entry))
    return ArrayInfo(
        linear.shape, linear.dtype, linear.order, linear.strides, name, cells=linear.length, capacity=linear.length
    )


def _count_elements(name: str, entry: Any) -> int:
    is_dict = type_name(entry) in _ARRAYS
    return parse_array_dict(entry, name).stored.element_count if is_dict else _to_array(name, entry).size
