"""JSON text, parsed and written by orjson where its result is the same as that of `json`, else by `json`.

orjson accepts a key that stands twice, makes a double of an integer beyond 64 bits, and refuses NaN, lone surrogates
and UTF-16. Texts that may have one of these are left to `json`, whose results and errors count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ...columns import MOST_ADDRESSES
from ...dtypes import Buffer, DType
from ...elements import Cell, ComplexForm, encode
from ...errors import DTypeError, FormatError
from ...files import BytesLike, repeated_key
from ...linear.json_text import faults_as_format_errors

_LONGEST_EXACT = 18  # digits that an integer of 64 bits always has room for
_OUTLINES = bytes.maketrans(b"123456789[: \t\r\n", b"0" * 9 + b"," * 6)  # makes zeros after a comma of each numeral
_LONG_INTEGER = b"," + b"0" * (_LONGEST_EXACT + 1)
_KEY_ENDS = re.compile(rb'"[ \t\r\n]*:')


def dump_elements(buffer: Buffer, dtype: DType, *, complex: ComplexForm = "text") -> bytes:
    """Return the elements of a 1-D buffer as JSON values with commas between them.

    Raises:
        DTypeError: text that is not valid Unicode.
    """
    import orjson

    if dtype.name == "float64" and buffer.flags.c_contiguous:
        numbers = orjson.dumps(buffer, option=orjson.OPT_SERIALIZE_NUMPY)
        if b"n" not in numbers:  # NaN and infinities are null
            return numbers[1:-1]
    return dump_cells(encode(buffer, dtype, complex=complex))


def dump_cells(cells: Sequence[Cell]) -> bytes:
    """Return cells as JSON values with commas between them.

    Raises:
        DTypeError: text that is not valid Unicode.

    Example:
        >>> dump_cells([1.5, "NaN", True])
        b'1.5,"NaN",true'
    """
    import orjson

    try:
        return orjson.dumps(cells)[1:-1]
    except orjson.JSONEncodeError:  # an integer beyond 64 bits, or half a character
        pass
    try:
        return json.dumps(cells, ensure_ascii=False, allow_nan=False, separators=(",", ":"))[1:-1].encode()
    except UnicodeEncodeError as error:
        raise DTypeError(f"text that is not valid Unicode, and no file can hold: {error.reason}") from error


def parse_text(text: bytes) -> Any:
    """Return the content of a JSON text.

    Raises:
        FormatError: it is not JSON, or a key stands twice in one object.
    """
    import orjson

    if _LONG_INTEGER not in text.translate(_OUTLINES, b"-"):
        with suppress(orjson.JSONDecodeError):  # `json` may read it, or says what is wrong
            content = orjson.loads(text)
            keys = len(content) if isinstance(content, dict) else 0
            # A key that stands twice gives one name, but two colons: as many colons as names mean that none does
            if text.count(b":") == keys or sum(1 for _ in _KEY_ENDS.finditer(text)) == keys:
                return content
    with faults_as_format_errors():
        return json.loads(text, object_pairs_hook=_reject_duplicates, parse_int=_parse_integer)


def text_to_utf8(text: BytesLike) -> BytesLike:
    """Return the text in UTF-8, whichever encoding of Unicode it is in.

    Raises:
        FormatError: it is not in the encoding that its first bytes show.
    """
    encoding = json.detect_encoding(bytes(text[:4]))  # as `json.loads` finds it
    if encoding.startswith("utf-8"):
        return text
    try:
        return bytes(text).decode(encoding).encode()
    except UnicodeError as error:
        raise FormatError(f"not JSON: the text is not {encoding}") from error


def _parse_integer(numeral: str) -> int | str:
    """Return an integer; the numeral itself if no dtype has room for it, so that an error can name its cell."""
    return int(numeral) if len(numeral) <= 400 else numeral


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if (name := repeated_key(pairs)) is not None:
        keys = [f"key {index + 1}" for index, (other, _) in enumerate(pairs) if other == name]
        more = [f"{len(keys) - MOST_ADDRESSES:,} more"] if len(keys) > MOST_ADDRESSES else []
        listed = " and ".join(keys[:MOST_ADDRESSES] + more)
        raise FormatError(f"two arrays have the name {name!r}, {listed}", location=name)
    return mapping
