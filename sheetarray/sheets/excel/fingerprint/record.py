"""Makes the fingerprint of an array, which a workbook keeps to tell later what has become of the elements.

It is stored as a small JSON object with sums in base64:

    {"v": 4, "dtype": "float64", "count": 1000, "blocks": 64, "exact": .., "fifteen": .., "sixteen": .., "longer": 990,
     "header": .., "moments": ..}

`exact` is a checksum of 8 bytes; `fifteen` and `sixteen` are two sums of 6 bytes for each group of a `Partition`, of
the elements at that many digits; `sixteen`, `longer` and `moments` (four doubles) are for float64 only. All numbers are
little-endian. Records of versions 2 and 3 have sums at 16 digits of another kind (`code_elements`), and sums that
nobody reads any more.

A workbook of very many arrays keeps a checksum and two sums of each, in columns of one object:

    {"v": 2, "names": [name, ..], "kinds": [[dtype, count, header], ..], "kind": .., "longer": .., "exact": ..,
     "fifteen": ..}

The last four are base64 of numbers, for each array: its place in `kinds` and `longer`, in 4 bytes each; the checksum in
8 bytes; and two sums of 6 bytes each. Version 1 had errors besides. Whatever is read is untrusted.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from ....dtypes import Buffer, DType
from ....errors import NEWER, FormatError
from ....header import Header
from .codes import MOST, Codes, code_elements, exact_codes, make_noise, to_native
from .sums import EQUATIONS, MOST_BLOCKS, WIDTH, Moments, Pair, Partition, Sums, moments_of, weight, weights_of

_VERSION, _VERSIONS = 4, (2, 3, 4)
_MANY_VERSION, _MANY_VERSIONS = 2, (1, 2)
MOST_IN_FULL = 1000  # arrays of a workbook; if it has more, each has a checksum and two sums
MOST_TOGETHER = 2048  # elements of an array whose fingerprint is computed together with others
_MOST_ELEMENTS = 1 << 44
_BUDGET = 2**16  # characters for all arrays of a workbook
_PLAIN, _PER_BLOCK = 310, 60  # characters of the shortest record, and of each block: 3 groups, and a quarter of that
_SIZE = WIDTH // 8
_ALL = 2**64 - 1


class Written(NamedTuple):
    """An array as it is written: its elements, their dtype, and its header."""

    buffer: Buffer
    dtype: DType
    header: Header


def max_blocks(arrays: int) -> int:
    """Return the number of blocks of each fingerprint, about as many as its stretches, by the number of arrays.

    All records of a workbook together take about 65,000 characters at most. Up to 15 arrays have the finest records;
    beyond 200 arrays all have the shortest, of 0 blocks and 100 to 300 characters. Those still tell whether an array is
    unchanged, and which element was edited if it was a single one.

    Example:
        >>> [max_blocks(arrays) for arrays in (1, 15, 16, 40, 100, 1000)]
        [64, 64, 63, 22, 5, 0]
    """
    return max(0, min(MOST_BLOCKS, (_BUDGET // max(arrays, 1) - _PLAIN) // _PER_BLOCK))


def partitions_for(count: int, blocks: int) -> tuple[Partition, Partition]:
    """Return the partitions used for the sums at 15 digits and at 16 digits."""
    return Partition(count, blocks), Partition(count, blocks // 4)


@dataclass(slots=True)  # nobody changes one; a frozen one takes three times as long to make
class Fingerprint:
    """A few numbers that tell what has happened to an array since it was written, without the array itself.

    Attributes:
        dtype: the name of the dtype.
        count: the number of elements.
        blocks: the number of stretches, about; see `sums.Partition`.
        exact: the checksum of the elements.
        fifteen: the sums of the elements at 15 digits.
        sixteen: the sums of the elements at 16 digits.
        longer: the number of elements that have more than 15 digits.
        header: the checksum of shape, strides, offset and order.
        moments: four sums of the numbers themselves.
        is_old: whether the sums at 16 digits are those of records up to version 3.
    """

    dtype: str
    count: int
    blocks: int
    exact: int
    fifteen: Pair
    sixteen: Pair | None = None
    longer: int = 0
    header: str | None = None
    moments: Moments | None = None
    is_old: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the fingerprint as a JSON object of ASCII text."""
        record: dict[str, Any] = {"v": _VERSION, "dtype": self.dtype, "count": self.count, "blocks": self.blocks}
        record |= {"exact": _encode(self.exact.to_bytes(8, "little")), "fifteen": _encode_pair(self.fifteen)}
        if self.sixteen is not None:
            record["sixteen"] = _encode_pair(self.sixteen)
        if self.longer:
            record["longer"] = self.longer
        if self.header is not None:
            record["header"] = self.header
        if self.moments is not None:
            record["moments"] = _encode(self.moments.astype("<f8").tobytes())
        return record

    @classmethod
    def from_json(cls, stored: object) -> Fingerprint | None:
        """Return the fingerprint in a JSON object; a `Fingerprint` unchanged; None for any other object.

        Raises:
            FormatError: a newer version of this package has made it.
        """
        if isinstance(stored, Fingerprint):
            return stored
        if not isinstance(stored, Mapping) or not _is_known(stored.get("v"), _VERSIONS):
            return None
        dtype, count, blocks = stored.get("dtype"), stored.get("count"), stored.get("blocks")
        if not isinstance(dtype, str) or not _is_size(count, _MOST_ELEMENTS) or not _is_size(blocks, MOST_BLOCKS):
            return None
        fine, coarse = partitions_for(count, blocks)
        exact, fifteen = _decode(stored.get("exact"), 8), _decode_pair(stored.get("fifteen"), fine)
        longer, header = stored.get("longer", 0), stored.get("header")
        if exact is None or fifteen is None or not _is_size(longer, _MOST_ELEMENTS):
            return None
        packed = _decode(stored.get("moments"), 8 * EQUATIONS)
        moments = None if packed is None else np.frombuffer(packed, "<f8").astype(np.float64)
        return cls(
            dtype,
            count,
            blocks,
            int.from_bytes(exact, "little"),
            fifteen,
            _decode_pair(stored.get("sixteen"), coarse),
            longer,
            header if isinstance(header, str) else None,
            moments if moments is not None and np.isfinite(moments).all() else None,
            is_old=stored.get("v") != _VERSION,
        )

    def fits(self, header: Header) -> bool:
        """Return whether a header has the dtype and the layout that the array was written with."""
        return self.dtype == header.dtype.name and self.header in (None, header_checksum(header))


def header_checksum(header: Header) -> str:
    """Return a checksum of what a header says of the layout: shape, strides, offset, order."""
    return _layout_checksum(header.shape, header.strides, header.offset, header.order)


@lru_cache(maxsize=1024)  # very many arrays have few shapes
def _layout_checksum(*layout: object) -> str:
    return _encode(hashlib.blake2b(repr(layout).encode(), digest_size=6).digest())


def _is_known(version: object, versions: tuple[int, ...]) -> bool:
    """Return whether records of a version can be read."""
    if isinstance(version, int) and version > versions[-1]:
        reason = f"the fingerprints are of version {version!s:.20}; this reader knows versions up to {versions[-1]}"
        raise FormatError(reason, location="custom properties", hint=NEWER)
    return version in versions


def _is_size(value: object, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _encode_pair(pair: Pair) -> str:
    return _encode(np.concatenate(pair).astype("<u8", copy=False).view(np.uint8).reshape(-1, 8)[:, :_SIZE].tobytes())


def _decode_pair(text: object, partition: Partition) -> Pair | None:
    numbers = _decode_numbers(text, 2 * partition.groups, _SIZE)
    return None if numbers is None else (numbers[: partition.groups], numbers[partition.groups :])


def _decode_numbers(text: object, count: int, size: int) -> Codes | None:
    """Return `count` numbers of `size` bytes each; None if a text is not base64 of exactly so many."""
    packed = _decode(text, count * size)
    if packed is None:
        return None
    wide = np.zeros((count, 8), np.uint8)
    wide[:, :size] = np.frombuffer(packed, np.uint8).reshape(-1, size)
    return wide.reshape(-1).view("<u8").astype(np.uint64)


def _encode(content: bytes) -> str:
    return binascii.b2a_base64(content, newline=False).decode("ascii").rstrip("=")


def _decode(text: object, size: int) -> bytes | None:
    """Return the `size` bytes that a text stands for; None if it is not base64 of exactly so many."""
    if not isinstance(text, str) or not text.isascii() or len(text.rstrip("=")) != -(-size * 4 // 3):
        return None
    try:
        content = base64.b64decode(text.rstrip("=") + "=" * (-size % 3), validate=True)
    except binascii.Error:
        return None
    return content if len(content) == size else None


# Making ------------------------------------------------------------------------------------------------------


def take_fingerprint(
    buffer: Buffer,
    dtype: DType,
    count: int,
    *,
    blocks: int,
    header: Header | None = None,
    lean: bool = False,
    is_old: bool = False,
) -> Fingerprint:
    """Return the fingerprint of an array of `count` elements, of which some may be missing at the end.

    `blocks`: see `max_blocks`. `lean`: keep only what tells that the array is unchanged or rounded, or which single
    element was edited. `is_old`: see `Fingerprint`.
    """
    return _take_together(buffer[:count], dtype, count, [header], blocks=blocks, lean=lean, is_old=is_old)[0]


def _take_together(
    buffer: Buffer,
    dtype: DType,
    count: int,
    headers: Sequence[Header | None],
    *,
    blocks: int,
    lean: bool,
    is_old: bool = False,
) -> list[Fingerprint]:
    """Return the fingerprints of arrays whose elements follow one another, `count` of each.

    `headers`: those of the arrays, or None. Several arrays have no more than MOST elements in all.
    """
    rows = len(headers)
    fine, coarse = (Sums(partition, rows) for partition in partitions_for(count, blocks))
    exact, longer, moments = np.zeros(rows, np.uint64), np.zeros(rows, np.int64), np.zeros((rows, EQUATIONS))
    for start in range(0, len(buffer), MOST):
        piece = to_native(buffer[start : start + MOST])
        shape = rows, len(piece) // rows
        coded, weights = code_elements(piece, dtype, is_old=is_old), weights_of(start, shape[1])
        exact += _checksums(coded.exact.reshape(shape), start)
        fine.add(coded.fifteen.reshape(shape), weights, start)
        if coded.longer is not None:
            longer += np.count_nonzero(coded.longer.reshape(shape), axis=1)
        if coded.sixteen is not None and not lean:
            coarse.add(coded.sixteen.reshape(shape), weights, start)
            with np.errstate(invalid="ignore"):  # the numbers may be too large to be added up
                moments += moments_of(piece.reshape(shape), start)
    fifteen, sixteen = fine.totals, coarse.totals
    has_sixteen = dtype.numpy == np.float64 and not lean and len(buffer) > 0
    return [
        Fingerprint(
            dtype.name,
            count,
            blocks,
            int(exact[row]),
            (fifteen[0][row], fifteen[1][row]),
            (sixteen[0][row], sixteen[1][row]) if has_sixteen else None,
            int(longer[row]),
            header_checksum(header) if header is not None else None,
            moments[row] if has_sixteen and np.isfinite(moments[row]).all() else None,
            is_old,
        )
        for row, header in enumerate(headers)
    ]


def make_fingerprints(arrays: Mapping[str, Written], *, of: int | None = None) -> dict[str, Any]:
    """Return the fingerprints of the arrays of one write, as JSON: `arrays` one by one, very many short ones as `many`.

    `of`: the number of arrays in the whole workbook; None if these are all.
    """
    count = len(arrays) if of is None else of
    blocks, lean = max_blocks(count), count > MOST_IN_FULL
    made: dict[str, Fingerprint] = {}
    together: dict[tuple[str, Any, int], list[str]] = {}
    for name, (buffer, dtype, header) in arrays.items():
        if 0 < len(buffer) <= MOST_TOGETHER:
            together.setdefault((dtype.name, buffer.dtype, len(buffer)), []).append(name)
        else:
            made[name] = take_fingerprint(buffer, dtype, len(buffer), blocks=blocks, header=header, lean=lean)
    for (_, _, size), alike in together.items():
        step = MOST // size
        for names in (alike[first : first + step] for first in range(0, len(alike), step)):
            elements = np.concatenate([to_native(arrays[name].buffer) for name in names])
            headers = [arrays[name].header for name in names]
            taken = _take_together(elements, arrays[names[0]].dtype, size, headers, blocks=blocks, lean=lean)
            made |= zip(names, taken, strict=True)
    single = {name: made[name] for name in arrays if not lean or not 0 < made[name].count <= MOST_TOGETHER}
    stored: dict[str, Any] = {"arrays": {name: fingerprint.to_json() for name, fingerprint in single.items()}}
    many = {name: made[name] for name in arrays if name not in single}
    return stored | ({"many": _encode_many(many)} if many else {})


def exact_checksum(buffer: Buffer, dtype: DType) -> int:
    """Return the checksum `Fingerprint.exact` of a buffer, without the rest: in a tenth of the time."""
    checksum = 0
    for start in range(0, len(buffer), MOST):
        codes = exact_codes(to_native(buffer[start : start + MOST]), dtype)
        checksum += int(_checksums(codes.reshape(1, -1), start)[0])
    return checksum & _ALL


def _checksums(codes: np.ndarray[Any, np.dtype[np.uint64]], index: int) -> Codes:
    """Return, for each row, the sum of codes times noise that belongs to their indices.

    In a plain sum of codes, edits of a mask that undo each other would not be seen; nor always in one of codes times
    indices.

    `codes`: of successive elements in each row, all within one run of MOST. `index`: of the first of them.
    """
    run, start = divmod(index, MOST)
    sums: Codes = codes @ make_noise(MOST)[start : start + codes.shape[1]]
    return sums * np.uint64(weight(run) | 1)


# Very many arrays --------------------------------------------------------------------------------------------


def _encode_many(fingerprints: Mapping[str, Fingerprint]) -> dict[str, Any]:
    kinds: dict[tuple[str, int, str | None], int] = {}
    kind = [kinds.setdefault((one.dtype, one.count, one.header), len(kinds)) for one in fingerprints.values()]
    listed = list(fingerprints.values())
    sums = np.array([[one.fifteen[0][0], one.fifteen[1][0]] for one in listed], "<u8")
    return {
        "v": _MANY_VERSION,
        "names": list(fingerprints),
        "kinds": [list(entry) for entry in kinds],
        "kind": _encode(np.array(kind, "<u4").tobytes()),
        "longer": _encode(np.array([one.longer for one in listed], "<u4").tobytes()),
        "exact": _encode(np.array([one.exact for one in listed], "<u8").tobytes()),
        "fifteen": _encode(sums.view(np.uint8).reshape(-1, 8)[:, :_SIZE].tobytes()),
    }


def read_many(stored: object) -> dict[str, Fingerprint]:
    """Return the fingerprints in the JSON object `many`, by the names of arrays.

    Raises:
        FormatError: the object is not one that `make_fingerprints` has made, or a newer version of this package has.
    """
    try:
        fingerprints = _decode_many(stored)
    except FormatError:
        raise
    except (ValueError, KeyError, TypeError, IndexError):
        fingerprints = None
    if fingerprints is None:
        raise FormatError("the record of many arrays is damaged", location="custom properties")
    return fingerprints


def _decode_many(stored: Any) -> dict[str, Fingerprint] | None:
    names, kinds = stored["names"], stored["kinds"]
    if not _is_known(stored["v"], _MANY_VERSIONS) or not isinstance(names, list) or not isinstance(kinds, list):
        return None
    for dtype, count, header in kinds:
        if not (isinstance(dtype, str) and isinstance(header, str) and _is_size(count, _MOST_ELEMENTS) and count):
            return None
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        return None
    sizes = {"kind": 4, "longer": 4, "exact": 8}
    columns = [_decode_numbers(stored[key], len(names), size) for key, size in sizes.items()]
    sums = _decode_numbers(stored["fifteen"], 2 * len(names), _SIZE)
    if sums is None or any(column is None for column in columns):
        return None
    rows = zip(names, *(column.tolist() for column in columns if column is not None), strict=True)
    fingerprints = {}
    for place, (name, kind, longer, exact) in enumerate(rows):
        dtype, count, header = kinds[kind]
        first, second = sums[2 * place : 2 * place + 1], sums[2 * place + 1 : 2 * place + 2]
        fingerprints[name] = Fingerprint(dtype, count, 0, exact, (first, second), longer=longer, header=header)
    return fingerprints
