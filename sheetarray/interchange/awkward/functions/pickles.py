"""`python` expressions: plain values read from a pickle, of which nothing is imported or called."""

from __future__ import annotations

import base64
import binascii
import pickle
import pickletools
from typing import Any

from ....errors import FormatError
from .whitelists import TOPYTHON

_MOST_CHARACTERS = 2000  # of base64, for one plain value
_SILENT = ("PROTO", "FRAME", "MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT", "STOP")
_FIXED = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_LITERAL = ["INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "FLOAT", "BINFLOAT", "UNICODE", "BINUNICODE"]
_LITERAL += ["SHORT_BINUNICODE", "BINBYTES", "SHORT_BINBYTES"]


def read_pickle(text: object, *, allowed: bool) -> Any:
    """Return the None, bool, number, text or bytes that a pickle holds; if allowed whatever it holds.

    Any other pickle may execute anything when it is read.

    Example:
        >>> read_pickle(base64.b64encode(pickle.dumps(float("nan"))).decode(), allowed=False)
        nan
    """
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True) if isinstance(text, str) else None
    except (binascii.Error, UnicodeEncodeError):
        data = None
    if data is None:
        raise FormatError("a python expression that is not base64")
    values: list[Any] = []
    try:
        for opcode, argument, _ in pickletools.genops(data if len(data) <= _MOST_CHARACTERS else b""):
            if opcode.name in _FIXED or opcode.name in _LITERAL:
                values.append(_FIXED.get(opcode.name, argument))
            elif opcode.name not in _SILENT:
                values = []
                break
    except (ValueError, OverflowError):
        values = []
    if len(values) == 1:
        return values[0]
    if not allowed:
        raise FormatError(
            "a pickled Python object, which could execute anything when it is read",
            hint=f"whitelist=[*WHITELIST, {list(TOPYTHON)}] reads it, if you trust the file",
        )
    try:
        return pickle.loads(data)  # noqa: S301  (the caller's whitelist names it)
    except Exception as error:
        raise FormatError(f"a pickle that cannot be read ({type(error).__name__}: {error!s:.100})") from error
