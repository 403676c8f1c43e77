"""Makes the checksums of arrays, which a workbook keeps to tell later whether the elements are those that were written.

They are stored as a small JSON object for each array, with numbers in base64:

    {"v": 5, "dtype": "float64", "count": 1000, "blocks": 15, "exact": .., "fifteen": .., "header": ..}

`exact` is a checksum of 8 bytes of the elements as they are. `fifteen` is one of 6 bytes of the elements at 15 digits,
for each stretch of neighbouring elements: one for a short array, up to 64 for a long one. All numbers are
little-endian.

A workbook of very many arrays keeps them in columns of one object:

    {"v": 3, "names": [name, ..], "kinds": [[dtype, count, header], ..], "kind": .., "exact": .., "fifteen": ..}

The last three are base64 of numbers, for each array: its place in `kinds` in 4 bytes, and the two checksums.

Records of earlier versions (2 to 4, and 1 and 2 of very many arrays) have more sums than these, of which the same
checksums are taken, and for doubles those at 16 digits. Whatever is read is untrusted.
"""

from __future__ import annotations

import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeGuard

import numpy as np

from ....dtypes import Buffer, DType
from ....errors import NEWER, FormatError
from ....linear.header import Header
from .hashes import MOST, Hashes, exact_hashes, make_noise, rounded_hashes, sixteen_hashes, to_native

_VERSION, _VERSIONS = 5, (2, 3, 4, 5)
_MANY_VERSION, _MANY_VERSIONS = 3, (1, 2, 3)
MOST_IN_FULL = 1000  # arrays of a workbook; if it has more, they are kept in columns
MOST_TOGETHER = 2048  # elements of an array whose checksums are computed together with others
MOST_STRETCHES, SHORTEST_STRETCH = 64, 64  # of an array, and elements of each
_MOST_ELEMENTS = 1 << 44
_MOST_CHARACTERS = 2**14  # of sums in base64
_BUDGET = 2**16  # characters for all arrays of a workbook
_PLAIN, _PER_STRETCH = 160, 8  # characters of the shortest record, and of each stretch
_SIZE = 6  # bytes of a checksum at 15 digits
_KEPT = np.uint64((1 << 8 * _SIZE) - 1)
_ALL = 2**64 - 1
_GOLDEN, _FIVE = np.uint64(0x9E3779B97F4A7C15), np.uint64(5)


class Written(NamedTuple):
    """An array as it is written: its elements, their dtype, and its header."""

    buffer: Buffer
    dtype: DType
    header: Header


def count_blocks(arrays: int, count: int) -> int:
    """Return about how many stretches an array of `count` elements is cut into; 0 if it stays one stretch.

    All records of a workbook together take about 65,000 characters at most.

    Example:
        >>> [count_blocks(1, count) for count in (100, 128, 1000, 4096, 10**6)]
        [0, 2, 15, 64, 64]
        >>> [count_blocks(arrays, 10**6) for arrays in (1, 100, 200, 500)]
        [64, 61, 20, 0]
    """
    most = min(MOST_STRETCHES, (_BUDGET // max(arrays, 1) - _PLAIN) // _PER_STRETCH, count // SHORTEST_STRETCH)
    return most if most > 1 else 0


@dataclass(slots=True)  # nobody changes one; a frozen one takes three times as long to make
class Checksums:
    """The checksums of one array: they tell whether its elements have changed since the write.

    Attributes:
        dtype: the name of the dtype.
        count: the number of elements.
        blocks: the number of stretches, about.
        exact: the checksum of the elements.
        fifteen: the checksum of each stretch at 15 digits.
        header: the checksum of shape, strides, offset and order.
        sixteen: those of a quarter of the stretches at 16 digits, in records of earlier versions.
        is_old: whether those at 16 digits are of version 2 or 3.
    """

    dtype: str
    count: int
    blocks: int
    exact: int
    fifteen: Hashes
    header: str | None = None
    sixteen: Hashes | None = None
    is_old: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the checksums as a JSON object of ASCII text."""
        record: dict[str, Any] = {"v": _VERSION, "dtype": self.dtype, "count": self.count, "blocks": self.blocks}
        record |= {"exact": _encode(self.exact.to_bytes(8, "little")), "fifteen": _encode_sums(self.fifteen)}
        return record if self.header is None else {**record, "header": self.header}

    @classmethod
    def from_json(cls, stored: object) -> Checksums | None:
        """Return the checksums in a JSON object; None for any other object.

        Raises:
            FormatError: a newer version of this package has made it.
        """
        if not isinstance(stored, Mapping) or not _is_known(version := stored.get("v"), _VERSIONS):
            return None
        dtype, count, blocks = stored.get("dtype"), stored.get("count"), stored.get("blocks")
        if not isinstance(dtype, str) or not _is_size(count, _MOST_ELEMENTS) or not _is_size(blocks, MOST_STRETCHES):
            return None
        exact, header, sixteen = _decode_numbers(stored.get("exact"), 1, 8), stored.get("header"), None
        stretches, text = count_stretches(count, blocks), stored.get("fifteen")
        if version == _VERSION:
            fifteen = _decode_numbers(text, stretches, _SIZE)
        else:
            fifteen = _decode_doubled(text, stretches)
            sixteen = _decode_doubled(stored.get("sixteen"), count_stretches(count, blocks // 4))
        if exact is None or fifteen is None:
            return None
        layout = header if isinstance(header, str) else None
        return cls(dtype, count, blocks, int(exact[0]), fifteen, layout, sixteen, is_old=version in (2, 3))

    def fits(self, header: Header) -> bool:
        """Return whether a header has the dtype and the layout that the array was written with."""
        return self.dtype == header.dtype.name and self.header in (None, header_checksum(header))


def stretch_of(count: int, blocks: int) -> int:
    """Return the number of elements in a stretch of an array of `count`; the last stretch may have fewer."""
    return 1 if count <= 3 * blocks else max(1, -(-count // max(blocks, 1)))


def count_stretches(count: int, blocks: int) -> int:
    """Return the number of stretches of an array of `count` elements."""
    return -(-count // stretch_of(count, blocks))


def header_checksum(header: Header) -> str:
    """Return a checksum of what a header says of the layout: shape, strides, offset, order."""
    return _layout_checksum(header.shape, header.strides, header.offset, header.order)


@lru_cache(maxsize=1024)  # very many arrays have few shapes
def _layout_checksum(*layout: object) -> str:
    return _encode(hashlib.blake2b(repr(layout).encode(), digest_size=6).digest())


def _is_known(version: object, versions: tuple[int, ...]) -> bool:
    """Return whether records of a version can be read."""
    if isinstance(version, int) and version > versions[-1]:
        reason = f"the checksums are of version {version!s:.20}; this reader knows versions up to {versions[-1]}"
        raise FormatError(reason, location="custom properties", hint=NEWER)
    return version in versions


def _is_size(value: object, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _encode_sums(sums: Hashes) -> str:
    return _encode(sums.astype("<u8", copy=False).view(np.uint8).reshape(-1, 8)[:, :_SIZE].tobytes())


def _decode_doubled(text: object, count: int) -> Hashes | None:
    """Decode `count` checksums from a text of an earlier version; None if the text has no such form.

    It has plain sums first and, after as many, the checksums, and perhaps those of groups besides the stretches.
    """
    if not isinstance(text, str) or len(text) > _MOST_CHARACTERS:
        return None
    size = len(text.rstrip("=")) * 3 // 4 // _SIZE
    numbers = _decode_numbers(text, size, _SIZE)
    if numbers is None or size % 2 or size // 2 + count > size:
        return None
    return numbers[size // 2 : size // 2 + count]


def _decode_numbers(text: Any, count: int, size: int) -> Hashes | None:
    """Decode `count` integers of `size` bytes each from base64; None if the text holds anything else."""
    try:
        packed = binascii.a2b_base64(text.rstrip("=") + "=" * (-count * size % 3), strict_mode=True)
    except (AttributeError, ValueError):  # no text, or not base64
        return None
    if len(packed) != count * size:
        return None
    numbers: Hashes = np.ndarray(count, "<u8", packed + bytes(8 - size), strides=(size,))
    return numbers & np.uint64((1 << 8 * size) - 1)


def _encode(content: bytes) -> str:
    return binascii.b2a_base64(content, newline=False).decode("ascii").rstrip("=")


def make_checksums(arrays: Mapping[str, Written], *, of: int | None = None) -> dict[str, Any]:
    """Return the checksums of the arrays of one write, as JSON: `arrays` one by one, very many as `many`.

    `of`: the number of arrays in the whole workbook; None if these are all.
    """
    number = len(arrays) if of is None else of
    taken: dict[str, Checksums] = {}
    together: dict[tuple[str, Any, int], list[str]] = {}
    for name, (buffer, dtype, header) in arrays.items():
        if 0 < len(buffer) <= MOST_TOGETHER:
            together.setdefault((dtype.name, buffer.dtype, len(buffer)), []).append(name)
        else:
            taken[name] = take_checksums(buffer, dtype, blocks=count_blocks(number, len(buffer)), header=header)
    for (_, _, size), alike in together.items():
        step, blocks = MOST // size, count_blocks(number, size)
        for names in (alike[first : first + step] for first in range(0, len(alike), step)):
            elements = np.concatenate([to_native(arrays[name].buffer) for name in names])
            headers = [arrays[name].header for name in names]
            taken |= zip(names, _take_together(elements, arrays[names[0]].dtype, size, headers, blocks), strict=True)
    if number > MOST_IN_FULL:
        return {"arrays": {}, "many": _encode_many({name: taken[name] for name in arrays})}
    return {"arrays": {name: taken[name].to_json() for name in arrays}}


def take_checksums(buffer: Buffer, dtype: DType, *, blocks: int, header: Header | None = None) -> Checksums:
    """Return the checksums of an array. `blocks`: see `count_blocks`."""
    return _take_together(buffer, dtype, len(buffer), [header], blocks)[0]


def _take_together(
    buffer: Buffer, dtype: DType, count: int, headers: Sequence[Header | None], blocks: int
) -> list[Checksums]:
    """Return the checksums of arrays whose elements follow one another, `count` of each.

    `headers`: those of the arrays, or None. Several arrays have no more than MOST elements in all.
    """
    rows = len(headers)
    exact, fifteen = np.zeros(rows, np.uint64), np.zeros((rows, count_stretches(count, blocks)), np.uint64)
    for start in range(0, len(buffer), MOST):
        piece = to_native(buffer[start : start + MOST])
        hashes, shape = exact_hashes(piece, dtype), (rows, len(piece) // rows)
        exact += _checksums(hashes.reshape(shape), start)
        _add_stretches(fifteen, rounded_hashes(piece, dtype, hashes).reshape(shape), start, stretch_of(count, blocks))
    checksums = [None if header is None else header_checksum(header) for header in headers]
    rows_of = zip(exact.tolist(), fifteen & _KEPT, checksums, strict=True)
    return [Checksums(dtype.name, count, blocks, exact_sum, sums, header) for exact_sum, sums, header in rows_of]


def exact_checksum(buffer: Buffer, dtype: DType) -> int:
    """Return the checksum `Checksums.exact` of a buffer."""
    checksum = 0
    for start in range(0, len(buffer), MOST):
        hashes = exact_hashes(to_native(buffer[start : start + MOST]), dtype)
        checksum += int(_checksums(hashes.reshape(1, -1), start)[0])
    return checksum & _ALL


def rounded_checksums(
    buffer: Buffer, dtype: DType, count: int, blocks: int, *, digits: Literal[15, 16] = 15, is_old: bool = False
) -> Hashes:
    """Return the checksum of each stretch of a buffer, after rounding to some digits.

    `digits`: 16 for float64 only. `is_old`: see `Checksums`.
    """
    sums, stretch = np.zeros((1, count_stretches(count, blocks)), np.uint64), stretch_of(count, blocks)
    for start in range(0, min(len(buffer), count), MOST):
        piece = to_native(buffer[start : min(start + MOST, count)])
        if digits == 16:
            hashes = sixteen_hashes(piece, is_old=is_old)
        else:
            hashes = rounded_hashes(piece, dtype, exact_hashes(piece, dtype))
        _add_stretches(sums, hashes.reshape(1, -1), start, stretch)
    checksums: Hashes = (sums & _KEPT)[0]
    return checksums


def _checksums(hashes: np.ndarray[Any, np.dtype[np.uint64]], index: int) -> Hashes:
    """Return a checksum for each row: the sum of its hashes, each times a weight that belongs to its index.

    In a plain sum of hashes, edits of a mask that undo each other would not be seen; nor always in one of hashes times
    indices.

    `hashes`: of successive elements in each row, all within one run of MOST. `index`: of the first of them.
    """
    run, start = divmod(index, MOST)
    sums: Hashes = hashes @ make_noise(MOST)[start : start + hashes.shape[1]]
    sums *= _weight_of_run(run)
    return sums


@lru_cache(maxsize=64)
def _weight_of_run(run: int) -> np.uint64:
    """Return the weight of a run of `MOST` elements; an array of up to that many elements is one run."""
    weight: np.uint64 = _weights_of(run, 1)[0] | np.uint64(1)
    return weight


def _add_stretches(
    sums: np.ndarray[Any, np.dtype[np.uint64]],
    hashes: np.ndarray[Any, np.dtype[np.uint64]],
    index: int,
    stretch: int,
) -> None:
    """Add weighted hashes to the checksums of stretches. Both have one row for each array.

    `index`: of the first of the hashes. `stretch`: the number of elements in a stretch.
    """
    count = hashes.shape[1]
    first, last = index // stretch, (index + count - 1) // stretch
    cuts = np.maximum(np.arange(first, last + 1) * stretch - index, 0)
    sums[:, first : last + 1] += np.add.reduceat(hashes * _weights_of(index, count), cuts, axis=1)


def _weights_of(index: int, count: int) -> Hashes:
    """Return the weights of successive indices: random numbers, so that two edits do not cancel out."""
    numbers = np.arange(index + 1, index + count + 1, dtype=np.uint64)
    numbers *= _GOLDEN
    for _ in range(2):
        numbers += numbers * numbers | _FIVE
    return numbers


def _encode_many(checksums: Mapping[str, Checksums]) -> dict[str, Any]:
    kinds: dict[tuple[str, int, str | None], int] = {}
    kind = [kinds.setdefault((each.dtype, each.count, each.header), len(kinds)) for each in checksums.values()]
    sums = [int(each.fifteen.sum(dtype=np.uint64) & _KEPT) for each in checksums.values()]
    return {
        "v": _MANY_VERSION,
        "names": list(checksums),
        "kinds": [list(entry) for entry in kinds],
        "kind": _encode(np.array(kind, "<u4").tobytes()),
        "exact": _encode(np.array([each.exact for each in checksums.values()], "<u8").tobytes()),
        "fifteen": _encode_sums(np.array(sums, np.uint64)),
    }


def read_checksums(stored: object) -> dict[str, Checksums | None]:
    """Read the checksums that `make_checksums` wrote, by the names of arrays; None for an array whose checksums are
    damaged.

    Raises:
        FormatError: those of very many arrays are damaged, or a newer version of this package has made them.
    """
    if not isinstance(stored, Mapping):
        return {}
    sums: dict[str, Checksums | None] = dict(read_many(stored["many"])) if "many" in stored else {}
    if isinstance(arrays := stored.get("arrays"), Mapping):  # also those of many that were written anew since
        sums |= {name: Checksums.from_json(each) for name, each in arrays.items()}
    return sums


def read_many(stored: object) -> dict[str, Checksums]:
    """Return the checksums in the JSON object `many`, by the names of arrays.

    Raises:
        FormatError: the object is not one that `make_checksums` has made, or a newer version of this package has.
    """
    try:
        checksums = _decode_many(stored)
    except FormatError:
        raise
    except (ValueError, KeyError, TypeError, IndexError):
        checksums = None
    if checksums is None:
        raise FormatError("the record of many arrays is damaged", location="custom properties")
    return checksums


def _decode_many(stored: Any) -> dict[str, Checksums] | None:
    names, kinds, version = stored["names"], stored["kinds"], stored["v"]
    if not _is_known(version, _MANY_VERSIONS) or not isinstance(names, list) or not isinstance(kinds, list):
        return None
    for dtype, count, header in kinds:
        if not (isinstance(dtype, str) and isinstance(header, str) and _is_size(count, _MOST_ELEMENTS)):
            return None
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        return None
    each = 1 if version == _MANY_VERSION else 2  # a plain sum of each array too, before its checksum
    places, exact = (_decode_numbers(stored[key], len(names), size) for key, size in (("kind", 4), ("exact", 8)))
    sums = _decode_numbers(stored["fifteen"], each * len(names), _SIZE)
    if places is None or exact is None or sums is None:
        return None
    checksums = {}
    rows = zip(names, places.tolist(), exact.tolist(), sums[each - 1 :: each], strict=True)
    for name, place, exact_sum, fifteen in rows:
        dtype, count, header = kinds[place]
        checksums[name] = Checksums(dtype, count, 0, exact_sum, np.full(min(count, 1), fifteen, np.uint64), header)
    return checksums
