"""StringArray -> strings in UTF-8, and bytes.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/awkward0/array/objects.py. Text in another encoding is
transcoded; an encoding of null makes bytes. Encodings come from a list: a file cannot choose any codec of Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes import Array
from ...errors import DTypeError, FormatError
from .blobs import StoredBlob
from .builder import Builder, describe_value
from .layouts import check_utf8
from .lists import (
    Bounds,
    bounds_from_counts,
    bounds_from_offsets,
    bounds_from_parents,
    bounds_from_starts,
    bounds_from_uniques,
    build_lists,
    gather_elements,
    to_bytes_array,
)
from .packages import AwkwardLayout
from .texts import bytes_in, encode_utf8

UTF8 = "utf-8"
ENCODINGS = {
    "utf8": UTF8,
    "u8": UTF8,
    "utf": UTF8,
    "cp65001": UTF8,
    "ascii": "ascii",
    "usascii": "ascii",
    "646": "ascii",
    "latin1": "latin-1",
    "latin": "latin-1",
    "l1": "latin-1",
    "iso88591": "latin-1",
    "8859": "latin-1",
    "iso885915": "iso-8859-15",
    "latin9": "iso-8859-15",
    "cp1252": "cp1252",
    "windows1252": "cp1252",
    "utf16": "utf-16",
    "utf16le": "utf-16-le",
    "utf16be": "utf-16-be",
    "utf32": "utf-32",
    "utf32le": "utf-32-le",
    "utf32be": "utf-32-be",
}
_PARAMETERS = {"string": "char", "bytestring": "byte"}
_MOST_TIMES = 3  # UTF-8 takes so many times the bytes of any other encoding, or of what was replaced


def string_array(build: Builder, starts: Any, stops: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray(starts, stops, content, encoding)`."""
    inner = to_bytes_array(build, content)
    return _strings(build, bounds_from_starts(build, starts, stops, len(inner)), inner, encoding)


def string_array_from_counts(build: Builder, counts: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromcounts(counts, content, encoding)`."""
    inner = to_bytes_array(build, content)
    return _strings(build, bounds_from_counts(build, counts, len(inner)), inner, encoding)


def string_array_from_offsets(build: Builder, offsets: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromoffsets(offsets, content, encoding)`."""
    inner = to_bytes_array(build, content)
    return _strings(build, bounds_from_offsets(build, offsets, len(inner)), inner, encoding)


def string_array_from_parents(build: Builder, parents: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromparents(parents, content, encoding)`."""
    inner = to_bytes_array(build, content)
    return _strings(build, bounds_from_parents(build, parents, len(inner)), inner, encoding)


def string_array_from_uniques(build: Builder, uniques: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromuniques(uniques, content, encoding)`."""
    inner = to_bytes_array(build, content)
    return _strings(build, bounds_from_uniques(build, uniques, len(inner)), inner, encoding)


def string_array_from_numpy(build: Builder, array: Any) -> AwkwardLayout:
    """`StringArray.fromnumpy(array)`: text, or bytes, without the NULs at their ends."""
    if isinstance(array, StoredBlob) and array.packed is None:
        array = array.content
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "SUT":
        raise FormatError(f"array is {describe_value(array)}, not an array of text of one dimension")
    build.budget.take(2 * array.nbytes + 16 * len(array), "strings")
    offsets, content = encode_utf8(array) if array.dtype.kind != "S" else bytes_in(array)
    bounds = Bounds(offsets[:-1], offsets[1:], array.shape, offsets)
    return _strings(build, bounds, content, UTF8 if array.dtype.kind != "S" else None)


def _strings(build: Builder, bounds: Bounds, content: Array, encoding: Any) -> AwkwardLayout:
    codec = _codec(encoding)
    characters, offsets = gather_elements(build, bounds, content)
    if codec == UTF8:
        try:
            check_utf8(offsets, characters)
        except DTypeError as error:
            if build.errors == "strict":
                raise FormatError(str(error), hint="errors='replace' reads them, with U+FFFD") from error
            characters, offsets = _transcode(build, characters, offsets, codec)
    elif codec is not None:
        characters, offsets = _transcode(build, characters, offsets, codec)
    kind = "bytestring" if codec is None else "string"
    inner = build.ak.contents.NumpyArray(np.ascontiguousarray(characters), parameters={"__array__": _PARAMETERS[kind]})
    return build_lists(build, Bounds(offsets[:-1], offsets[1:], bounds.shape, offsets), inner, {"__array__": kind})


def _codec(encoding: Any) -> str | None:
    if encoding is None:
        return None
    if isinstance(encoding, str):
        codec = ENCODINGS.get(encoding.lower().replace("-", "").replace("_", "").replace(" ", ""))
        if codec is not None:
            return codec
    raise FormatError(
        f"the encoding {describe_value(encoding)}, which is not read",
        hint=f"known: {', '.join(sorted(set(ENCODINGS.values())))}",
    )


def _transcode(build: Builder, characters: Array, offsets: Array, codec: str) -> tuple[Array, Array]:
    """Return the same strings in UTF-8."""
    build.budget.take(_MOST_TIMES * 2 * len(characters) + 100 * len(offsets), "strings")
    data = characters.tobytes()
    texts = []
    for index, (start, stop) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        try:
            texts.append(data[start:stop].decode(codec, build.errors).encode("utf-8"))
        except UnicodeError as error:
            raise FormatError(
                f"string {index} is no valid {codec} ({getattr(error, 'reason', error)})",
                hint="errors='replace' reads it, with U+FFFD",
            ) from error
    numbers = np.zeros(len(offsets), np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=numbers[1:])
    return np.frombuffer(b"".join(texts), np.uint8), numbers
