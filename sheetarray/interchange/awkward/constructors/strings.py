"""StringArray -> strings in UTF-8, or bytes.

Source: https://github.com/scikit-hep/awkward-0.x/blob/master/awkward0/array/objects.py. Text in another encoding than
UTF-8 is transcoded; an encoding of null makes bytes. Encodings come from a list: a file cannot choose any codec of
Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dtypes import Array
from ....errors import DTypeError, FormatError
from ..blobs import StoredBlob
from ..builder import Builder, describe_plain_value
from ..package import AwkwardLayout
from ..utf8_texts import check_utf8, encode_utf8, offsets_of, text_layout
from .byte_lists import bytes_layout, gather_bytes
from .lists import Shape, in_shape, lists_by_counts, lists_by_offsets, lists_by_starts
from .lists_beside import begin_runs, integers_beside, lists_alone, starts_by_parents

UTF8 = "utf-8"
_ENCODINGS = {
    UTF8: "utf8 u8 utf cp65001",
    "ascii": "ascii usascii 646",
    "latin-1": "latin1 latin l1 iso88591 8859",
    "iso-8859-15": "iso885915 latin9",
    "cp1252": "cp1252 windows1252",
    "utf-16": "utf16",
    "utf-16-le": "utf16le",
    "utf-16-be": "utf16be",
    "utf-32": "utf32",
    "utf-32-le": "utf32le",
    "utf-32-be": "utf32be",
}
_CODECS = {alias: codec for codec, aliases in _ENCODINGS.items() for alias in aliases.split()}
_MOST_TIMES = 3  # UTF-8 takes so many times the bytes of any other encoding, or of what was replaced


def string_array(build: Builder, starts: Any, stops: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray(starts, stops, content, encoding)`."""
    return _strings(build, *lists_by_starts(build, starts, stops, bytes_layout(build, content)), encoding)


def string_array_from_counts(build: Builder, counts: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromcounts(counts, content, encoding)`."""
    return _strings(build, *lists_by_counts(build, counts, bytes_layout(build, content)), encoding)


def string_array_from_offsets(build: Builder, offsets: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromoffsets(offsets, content, encoding)`."""
    return _strings(build, *lists_by_offsets(build, offsets, bytes_layout(build, content)), encoding)


def string_array_from_parents(build: Builder, parents: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromparents(parents, content, encoding)`: for each byte the number of its string."""
    inner = bytes_layout(build, content)
    starts, stops = starts_by_parents(build, parents, inner.length)
    return _strings(build, *lists_by_starts(build, starts, stops, inner), encoding)


def string_array_from_uniques(build: Builder, uniques: Any, content: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromuniques(uniques, content, encoding)`: a string for each run of equal values."""
    inner = bytes_layout(build, content)
    runs = begin_runs(integers_beside(build, uniques, "uniques", inner.length))
    return _strings(build, *lists_by_offsets(build, runs, inner), encoding)


def string_array_from_jagged(build: Builder, jagged: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromjagged(jagged, encoding)`: strings of lists of bytes."""
    lists = lists_alone(build, jagged, "jagged")
    content = bytes_layout(build, np.asarray(lists.content.data))
    if lists.content.data.dtype.itemsize != 1:
        raise FormatError(f"jagged has elements of {lists.content.data.dtype}, not bytes")
    return _strings(build, *lists_by_starts(build, lists.starts.data, lists.stops.data, content), encoding)


def string_array_from_iter(build: Builder, iterable: Any, encoding: Any = UTF8) -> AwkwardLayout:
    """`StringArray.fromiter(iterable, encoding)`: text of JSON."""
    words = build.to_sequence(iterable, "iterable")
    if not all(isinstance(word, str) for word in words) or _find_codec(encoding) is None:
        raise FormatError("iterable has something else than text")
    build.budget.take(32 * len(words) + 8 * sum(map(len, words)), "strings")
    try:
        encoded = [word.encode("utf-8") for word in words]
    except UnicodeEncodeError as error:
        raise FormatError("iterable has a text that UTF-8 does not have: half of a surrogate pair") from error
    offsets = offsets_of(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    return build.check_measured(text_layout(offsets, np.frombuffer(b"".join(encoded), np.uint8), "string"))


def string_array_from_numpy(build: Builder, array: Any) -> AwkwardLayout:
    """`StringArray.fromnumpy(array)`: text, or bytes, without the NULs at their ends."""
    if isinstance(array, StoredBlob) and array.packed is None:
        array = array.content
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "SUT":
        raise FormatError(f"array is {describe_plain_value(array)}, not an array of text of one dimension")
    if array.dtype.kind == "S":
        return build.to_layout(array, "array")
    build.budget.take(2 * array.nbytes + 16 * len(array), "strings")
    offsets, content = encode_utf8(array)
    return build.check_measured(text_layout(offsets, content, "string"))


def _strings(build: Builder, lists: AwkwardLayout, shape: Shape, encoding: Any) -> AwkwardLayout:
    codec = _find_codec(encoding)
    characters, offsets = gather_bytes(build, lists)
    if codec == UTF8:
        try:
            check_utf8(offsets, characters)
        except DTypeError as error:
            if build.errors == "strict":
                raise FormatError(str(error), hint="errors='replace' reads them, with U+FFFD") from error
            characters, offsets = _transcode(build, characters, offsets, codec)
    elif codec is not None:
        characters, offsets = _transcode(build, characters, offsets, codec)
    text = "bytestring" if codec is None else "string"
    return in_shape(build, text_layout(offsets, np.ascontiguousarray(characters), text), shape)


def _find_codec(encoding: Any) -> str | None:
    if encoding is None:
        return None
    if isinstance(encoding, str):
        codec = _CODECS.get(encoding.lower().replace("-", "").replace("_", "").replace(" ", ""))
        if codec is not None:
            return codec
    raise FormatError(
        f"the encoding {describe_plain_value(encoding)}, which is not read",
        hint=f"known: {', '.join(sorted(_ENCODINGS))}",
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
                f"string {index} is not valid {codec} ({getattr(error, 'reason', error)})",
                hint="errors='replace' reads it, with U+FFFD",
            ) from error
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return np.frombuffer(b"".join(texts), np.uint8), offsets_of(lengths)
