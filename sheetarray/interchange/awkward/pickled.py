"""`python` expressions: base64 of a pickle, read without executing it where it holds one plain value.

awkward0 pickles what JSON does not hold, such as the default NaN of a SparseArray. The opcodes of such a pickle are
looked through here; nothing is imported and nothing called. Any other pickle needs the caller's leave.
Source: https://docs.python.org/3/library/pickletools.html.
"""

from __future__ import annotations

import base64
import binascii
import pickle
import pickletools
from typing import Any

from ...errors import FormatError

_MOST_CHARACTERS = 2000  # of base64, for one plain value
_SILENT = ("PROTO", "FRAME", "MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT", "STOP")
_FIXED = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_LITERAL = (
    "INT",
    "BININT",
    "BININT1",
    "BININT2",
    "LONG",
    "LONG1",
    "FLOAT",
    "BINFLOAT",
    "UNICODE",
    "BINUNICODE",
    "SHORT_BINUNICODE",
    "BINBYTES",
    "SHORT_BINBYTES",
)


class NotPlainError(ValueError):
    """A pickle of something else than one plain value."""


def plain_value(text: object) -> Any:
    """Return the None, bool, number, text or bytes that a pickle holds.

    Args:
        text: base64 of the pickle.

    Raises:
        FormatError: no base64.
        NotPlainError: it holds something else, or is no pickle.

    Example:
        >>> plain_value(base64.b64encode(pickle.dumps(float("nan"))).decode())
        nan
    """
    data = _decode_base64(text)
    if len(data) > _MOST_CHARACTERS:
        raise NotPlainError
    values: list[Any] = []
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name in _FIXED:
                values.append(_FIXED[opcode.name])
            elif opcode.name in _LITERAL:
                values.append(argument)
            elif opcode.name not in _SILENT:
                raise NotPlainError
    except (ValueError, OverflowError) as error:  # NotPlainError too
        raise NotPlainError from error
    if len(values) != 1:
        raise NotPlainError
    return values[0]


def unpickle(text: object) -> Any:
    """Return the objects that a pickle holds; it may execute anything, which the caller has allowed.

    Raises:
        FormatError: no base64, or no pickle.
    """
    data = _decode_base64(text)
    try:
        return pickle.loads(data)  # noqa: S301  (the caller's whitelist names it)
    except Exception as error:
        raise FormatError(f"a pickle that cannot be read ({type(error).__name__}: {error!s:.100})") from error


def _decode_base64(text: object) -> bytes:
    try:
        if isinstance(text, str):
            return base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        pass
    raise FormatError("a python expression that is no base64")
