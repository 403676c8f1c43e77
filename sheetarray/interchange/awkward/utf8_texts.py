"""Lists of bytes in UTF-8 <-> arrays of text."""

from __future__ import annotations

import codecs
import itertools

import numpy as np

from ...dtypes import Array
from ...elements import is_mostly_padding
from ...errors import DTypeError, FormatError
from .package import AwkwardLayout, awkward_module

# the parameter `__array__` of lists that are texts: their encoding on the wire, and the parameter of what is in them.
TEXTS = {"string": "utf-8", "bytestring": None}
CHARACTERS = {"string": "char", "bytestring": "byte"}

WIDE = 4  # bytes of a character in `<U`
_BLOCK = 2**24  # bytes that are worked on at once
_TEXTS_AT_ONCE = 2**16
_FIRST_OF_PAIR = 0xF0  # bytes from here on begin a character that is two units of UTF-16


def offsets_of(counts: Array) -> Array:
    """Return where each of some lists begins in their content, and at last where the last one ends.

    Example:
        >>> offsets_of(np.array([2, 0, 1])).tolist()
        [0, 2, 2, 3]
    """
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def text_lengths(offsets: Array, content: Array) -> Array:
    """Return the number of characters in each string of a content in UTF-8."""
    lengths: Array = np.diff(offsets_of(content & 0xC0 != 0x80)[offsets])
    return lengths


def is_cell_text(offsets: Array, content: Array, longest: int) -> bool:
    """Return whether strings fit into cells of `longest` UTF-16 units, and an array of text keeps them.

    NumPy drops NULs at the end of a text: strings that end in one have no such array.

    Example:
        >>> is_cell_text(np.array([0, 2]), np.array([97, 0], "u1"), 100)
        False
    """
    sizes = np.diff(offsets)
    if not content[offsets[1:][sizes > 0] - 1].all():
        return False
    if int(sizes.max(initial=0)) <= longest:  # bytes are no fewer than units
        return True
    pairs = np.diff(offsets_of(content >= _FIRST_OF_PAIR)[offsets])
    return bool((text_lengths(offsets, content) + pairs).max() <= longest)


def decode_utf8(offsets: Array, content: Array, *, padded: bool = True) -> Array:
    """Return strings as an array of text: of `<U` if `padded` and not out of proportion, else of `StringDType`.

    Example:
        >>> decode_utf8(np.array([0, 1, 1, 4]), np.frombuffer("a€".encode(), "u1")).tolist()
        ['a', '', '€']
    """
    lengths = text_lengths(offsets, content)
    width = max(int(lengths.max(initial=1)), 1)
    fixed = padded and not is_mostly_padding(len(lengths), width, int(offsets[-1] - offsets[0]))
    array: Array = np.zeros(len(lengths), f"U{width}" if fixed else np.dtypes.StringDType())
    step = max(min(_TEXTS_AT_ONCE, _BLOCK // width), 1)
    for first in range(0, len(lengths), step):
        here = lengths[first : first + step]
        text = content[offsets[first] : offsets[first + len(here)]].tobytes().decode("utf-8")
        if fixed:
            points = array[first : first + step].view(np.uint32).reshape(len(here), width)
            points[np.arange(width) < here[:, None]] = np.frombuffer(text.encode("utf-32-le"), "<u4")
        else:
            array[first : first + step] = [text[a:b] for a, b in itertools.pairwise(offsets_of(here).tolist())]
    return array


def encode_utf8(array: Array) -> tuple[Array, Array]:
    """Return the offsets and the content of the strings in an array of text; inverse of `decode_utf8`.

    Example:
        >>> offsets, content = encode_utf8(np.array(["a", "", "€"]))
        >>> offsets.tolist(), content.tobytes()
        ([0, 1, 1, 4], b'a\\xe2\\x82\\xac')
    """
    sizes = np.zeros(len(array), np.int64)
    pieces: list[bytes] = []
    for first in range(0, len(array), _TEXTS_AT_ONCE):
        texts = array[first : first + _TEXTS_AT_ONCE].tolist()
        if not all(isinstance(text, str) for text in texts):
            raise FormatError("the array of text has missing values")
        try:
            encoded = [text.encode("utf-8") for text in texts]
        except UnicodeEncodeError as error:
            raise FormatError("text that is not Unicode") from error
        sizes[first : first + len(encoded)] = list(map(len, encoded))
        pieces.append(b"".join(encoded))
    return offsets_of(sizes), np.frombuffer(b"".join(pieces), np.uint8)


def check_utf8(offsets: Array, content: Array) -> None:
    """Refuse strings that are not valid UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), _BLOCK):
            decoder.decode(content[start : start + _BLOCK].tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise DTypeError(f"strings that are not valid UTF-8 ({error.reason})") from error
    starts = offsets[:-1][offsets[:-1] < offsets[1:]]
    if (content[starts] & 0xC0 == 0x80).any():
        raise DTypeError("strings that are not valid UTF-8 (one begins within a character)")


def text_layout(offsets: Array, content: Array, text: str) -> AwkwardLayout:
    """Return the layout of strings or bytestrings."""
    contents, index = awkward_module().contents, awkward_module().index
    inner = contents.NumpyArray(content, parameters={"__array__": CHARACTERS[text]})
    return contents.ListOffsetArray(index.Index64(offsets), inner, parameters={"__array__": text})
