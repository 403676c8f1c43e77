"""The fingerprints of very many short arrays: computed together, and stored as columns of numbers.

A workbook of thousands of arrays keeps lean fingerprints (`maker`): a checksum, two sums of 6 bytes and an error for
each. Those of arrays of one dtype and length are computed at once. They are stored as one JSON object:

    {"v": 1, "names": [name, ..], "kinds": [[dtype, count, header], ..], "errors": [4.5e-15, null, ..],
     "kind": .., "error": .., "longer": .., "exact": .., "fifteen": ..}

The last five are base64 of little-endian numbers, for each array: its place in `kinds`, its place in `errors`, and the
number of elements with more than 15 digits, in 4 bytes each; the checksum in 8 bytes; and two sums of 6 bytes each.
Whatever is read is untrusted.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ....errors import FormatError
from .maker import Tools, Written, iter_fingerprinters, make_fingerprint, max_blocks, round_error_up
from .record import MOST_ELEMENTS, MOST_ERROR, Fingerprint, header_checksum, is_size
from .sums import MOST_BLOCKS, WIDTH

__all__ = ["MOST_TOGETHER", "Written", "make_fingerprints", "read_many"]

MOST_IN_FULL = 1000  # arrays of a workbook; if it has more, their fingerprints are lean
MOST_TOGETHER = 2048  # elements of an array whose fingerprint is computed together with others
_VERSION = 1
_SIZE = WIDTH // 8


def make_fingerprints(arrays: Mapping[str, Written], *, of: int | None = None) -> dict[str, Any]:
    """Return the fingerprints of the arrays of one write, as JSON: `arrays` one by one, very many short ones as `many`.

    `arrays`: by their names. `of`: the number of arrays in the whole workbook; None if these are all.
    """
    count = len(arrays) if of is None else of
    blocks, lean = max_blocks(count), count > MOST_IN_FULL
    short = {
        name: array for name, array in arrays.items() if blocks < MOST_BLOCKS and 0 < len(array.buffer) <= MOST_TOGETHER
    }
    tools = Tools()
    single = {
        name: make_fingerprint(array.buffer, array.dtype, blocks=blocks, header=array.header, lean=lean, tools=tools)
        for name, array in arrays.items()
        if name not in short
    }
    if short and lean:
        return {"arrays": single, "many": _encode(short, tools)}
    names, listed = list(short), list(short.values())
    for places, taker in iter_fingerprinters(listed, blocks=blocks, lean=False, tools=tools):
        made = taker.to_fingerprints([listed[place].header for place in places])
        single |= {names[place]: fingerprint.to_json() for place, fingerprint in zip(places, made, strict=True)}
    return {"arrays": {name: single[name] for name in arrays}}


class _Columns:
    """The numbers in the fingerprints of some arrays, a row for each array."""

    def __init__(self, count: int) -> None:
        self.exact = np.zeros(count, np.uint64)
        self.fifteen = np.zeros((count, 2), np.uint64)
        self.error = np.zeros(count)
        self.longer = np.zeros(count, np.uint32)


def _encode(arrays: Mapping[str, Written], tools: Tools) -> dict[str, Any]:
    columns = _Columns(len(arrays))
    kinds: dict[tuple[str, int, str], int] = {}
    kind = np.zeros(len(arrays), np.uint32)
    listed = list(arrays.values())
    for place, (buffer, dtype, header) in enumerate(listed):
        kind[place] = kinds.setdefault((dtype.name, len(buffer), header_checksum(header)), len(kinds))
    for places, taker in iter_fingerprinters(listed, blocks=0, lean=True, tools=tools):
        columns.fifteen[places] = np.concatenate(taker.fifteen.totals, axis=1)
        columns.exact[places] = taker.exact
        columns.error[places], columns.longer[places] = taker.errors, taker.longer
    has_error = [dtype.numpy == np.float64 for _, dtype, _ in listed]
    errors: dict[float | None, int] = {}
    error = [
        errors.setdefault(round_error_up(largest) if known else None, len(errors))
        for largest, known in zip(columns.error.tolist(), has_error, strict=True)
    ]
    return {
        "v": _VERSION,
        "names": list(arrays),
        "kinds": [list(entry) for entry in kinds],
        "errors": list(errors),
        "kind": _to_base64(kind.astype("<u4")),
        "error": _to_base64(np.array(error, "<u4")),
        "longer": _to_base64(columns.longer.astype("<u4")),
        "exact": _to_base64(columns.exact.astype("<u8")),
        "fifteen": _to_base64(columns.fifteen.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :_SIZE]),
    }


# Reading -----------------------------------------------------------------------------------------------------


def read_many(stored: object) -> dict[str, Fingerprint]:
    """Return the fingerprints in the JSON object `many`, by the names of arrays.

    Raises:
        FormatError: the object is not one that `make_fingerprints` has made.
    """
    try:
        return _decode(stored)
    except (ValueError, KeyError, TypeError, IndexError, binascii.Error):
        reason = "the record of many arrays is damaged"
        raise FormatError(reason, location="custom properties") from None


def _decode(stored: Any) -> dict[str, Fingerprint]:
    _require(isinstance(stored, dict) and stored["v"] == _VERSION)
    names, kinds, errors = stored["names"], stored["kinds"], stored["errors"]
    _require(all(isinstance(entries, list) for entries in (names, kinds, errors)))
    _require(all(isinstance(name, str) for name in names) and len(set(names)) == len(names))
    for dtype, count, header in kinds:
        _require(isinstance(dtype, str) and isinstance(header, str) and is_size(count, MOST_ELEMENTS) and count > 0)
    known = [error if isinstance(error, float) and 0 <= error < MOST_ERROR else None for error in errors]
    kind, error, longer = (_from_base64(stored[key], len(names), 4).tolist() for key in ("kind", "error", "longer"))
    exact = _from_base64(stored["exact"], len(names), 8).tolist()
    fifteen = _from_base64(stored["fifteen"], 2 * len(names), _SIZE)
    first, second = (fifteen[side::2].reshape(-1, 1) for side in (0, 1))
    fingerprints = {}
    for place, name in enumerate(names):
        dtype, count, header = kinds[kind[place]]
        fingerprints[name] = Fingerprint(
            dtype,
            count,
            0,
            exact[place],
            (first[place], second[place]),
            error=known[error[place]],
            longer=longer[place],
            header=header,
        )
    return fingerprints


def _require(holds: object) -> None:
    if not holds:
        raise ValueError("no record of ours")


def _to_base64(numbers: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(numbers.tobytes()).decode()


def _from_base64(text: object, count: int, size: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return `count` numbers of `size` bytes each; a ValueError if the text is not as long as that."""
    _require(isinstance(text, str) and len(text) == -(-count * size // 3) * 4)
    decode: Callable[..., bytes] = base64.b64decode
    packed = decode(text, validate=True)
    _require(len(packed) == count * size)
    wide = np.zeros((count, 8), np.uint8)
    wide[:, :size] = np.frombuffer(packed, np.uint8).reshape(-1, size)
    return wide.reshape(-1).view("<u8").astype(np.uint64)
