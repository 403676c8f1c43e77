"""Makes the fingerprints of many short arrays together: those of one dtype and length lie in the rows of a matrix.

They are the same as those of `maker`. The two dozen calls of NumPy that one array of ten elements takes do for
thousands of arrays.

The mathematics is explained in docs/fingerprint.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....dtypes import Buffer, DType
from ....header import Header
from .coded import Coded, Codes, make_noise
from .codes import coder_for, exact_codes, scale_weights, to_native
from .decimal15 import MOST, SHORT
from .maker import exact_checksum, round_error_up
from .moments import moments_of_rows
from .record import Fingerprint, header_checksum, partitions_for
from .sums import KEPT, MOST_BLOCKS, Partition, Weights, weight

_ALL = 2**64 - 1
_Matrix = np.ndarray[tuple[int, int], np.dtype[Any]]


class Written(NamedTuple):
    """An array as it is written: its elements, their dtype, and its header."""

    buffer: Buffer
    dtype: DType
    header: Header


class RowSums(NamedTuple):
    """The sums of arrays of one length, an item for each array.

    Attributes:
        exact: the checksum of its elements.
        errors: the largest relative error of rounding them to 15 digits; 0 for all dtypes but float64.
        longer: the number of elements that certainly have more than 15 digits.
    """

    exact: Codes
    errors: Buffer
    longer: Buffer


def iter_coded_rows(arrays: Sequence[Written]) -> Iterator[tuple[list[int], Coded, RowSums]]:
    """Yield the codes and the sums of arrays of one dtype and length, as many at a time as a coder takes elements.

    Args:
        arrays: of 1 to MOST elements each.

    Yields:
        The indices of these arrays, the codes of all their elements one after the other, and the sums of each array.
    """
    for count, places in _group_alike([(buffer, dtype) for buffer, dtype, _ in arrays]):
        code, step = coder_for(arrays[places[0]].dtype), MOST // count
        for first in range(0, len(places), step):
            some = places[first : first + step]
            coded = code(np.concatenate([to_native(arrays[place].buffer) for place in some]), 0)
            yield some, coded, _sum_rows(coded, count)


def _group_alike(arrays: Sequence[tuple[Buffer, DType]]) -> list[tuple[int, list[int]]]:
    """Return the indices of arrays in groups of one dtype and length, after that length."""
    groups: dict[tuple[str, Any, int], list[int]] = {}
    for place, (buffer, dtype) in enumerate(arrays):
        groups.setdefault((dtype.name, buffer.dtype, len(buffer)), []).append(place)
    return [(count, places) for (_, _, count), places in groups.items()]


def _sum_rows(coded: Coded, count: int) -> RowSums:
    """Return the sums of arrays of `count` elements each, by the codes of all of them."""
    exact = _checksums_of_rows(coded.exact, count)
    errors: _Matrix = np.zeros((len(exact), 1)) if coded.errors is None else coded.errors.reshape(-1, count)
    return RowSums(
        exact,
        errors.max(axis=1),
        np.count_nonzero(errors > SHORT, axis=1),
    )


def exact_checksums(arrays: Sequence[tuple[Buffer, DType]]) -> list[int]:
    """Return the checksum of each array, as `maker.exact_checksum` gives it.

    Args:
        arrays: buffers, and the dtypes of their elements.
    """
    checksums = [0] * len(arrays)
    for count, places in _group_alike(arrays):
        if len(places) == 1 or not 0 < count <= MOST:
            for place in places:
                checksums[place] = exact_checksum(*arrays[place])
            continue
        dtype, step = arrays[places[0]][1], MOST // count
        for first in range(0, len(places), step):
            some = places[first : first + step]
            codes = exact_codes(np.concatenate([to_native(arrays[place][0]) for place in some]), dtype)
            for place, checksum in zip(some, _checksums_of_rows(codes, count).tolist(), strict=True):
                checksums[place] = checksum
    return checksums


def _checksums_of_rows(codes: Codes, count: int) -> Codes:
    """Return the checksums of arrays of `count` elements each, by the codes of all of them."""
    sums: Codes = (codes.reshape(-1, count) * make_noise(MOST)[:count]).sum(axis=1, dtype=np.uint64)
    return sums * np.uint64(weight(0) | 1)


def sum_pairs(codes: Codes, partition: Partition) -> tuple[_Matrix, _Matrix]:
    """Return, in a row for each array, its sums of codes, and its sums of codes times weights, as `Sums.totals` does.

    Args:
        codes: of all arrays, one after the other.
        partition: the groups of each array.
    """
    rows = codes.reshape(-1, partition.count)
    weights = Weights().weights_of(0, partition.count)
    first, second = (_sum_groups(values, partition) & np.uint64(KEPT) for values in (rows, rows * weights))
    return first, second


def _sum_groups(rows: _Matrix, partition: Partition) -> _Matrix:
    cuts = np.arange(partition.stretches) * partition.stretch
    sums = [np.add.reduceat(rows, cuts, axis=1)]
    for prime in partition.primes:
        times = -(-partition.count // prime)
        dealt = np.zeros((len(rows), times * prime), np.uint64)
        dealt[:, : partition.count] = rows
        sums.append(dealt.reshape(-1, times, prime).sum(axis=1))
    return np.concatenate(sums, axis=1)


def make_together(arrays: Sequence[Written], *, blocks: int) -> list[dict[str, Any]]:
    """Return the fingerprint of each array, ready to be stored as JSON.

    Args:
        arrays: of 1 to 2,048 elements each.
        blocks: see `maker.Fingerprinter`; from 0 to 63, since the finest records have sums that are not made here.
    """
    assert blocks < MOST_BLOCKS
    records: dict[int, dict[str, Any]] = {}
    for places, coded, sums in iter_coded_rows(arrays):
        for place, fingerprint in zip(
            places, _fingerprints([arrays[place] for place in places], coded, sums, blocks), strict=True
        ):
            records[place] = fingerprint.to_json()
    return [records[place] for place in range(len(arrays))]


def _fingerprints(arrays: list[Written], coded: Coded, sums: RowSums, blocks: int) -> Iterator[Fingerprint]:
    """Yield the fingerprints of arrays of one dtype and length."""
    dtype, count = arrays[0].dtype, len(arrays[0].buffer)
    fine, coarse = partitions_for(count, blocks)
    has_error = dtype.numpy == np.float64
    fifteen = sum_pairs(coded.rounded, fine)
    sixteen = None if coded.sixteen is None else sum_pairs(coded.sixteen, coarse)
    scale: list[list[int]] | None = None
    if coded.parts is not None:
        scale = [(part.reshape(-1, count) @ scale_weights()[:count]).tolist() for part in coded.parts]
    moments = None
    if coded.numbers is not None:
        numbers: _Matrix = coded.numbers.reshape(-1, count)
        moments = moments_of_rows(numbers)
        has_moments = np.isfinite(moments).all(axis=1).tolist()
    exact, errors, longer = sums.exact.tolist(), sums.errors.tolist(), sums.longer.tolist()
    for row, array in enumerate(arrays):
        yield Fingerprint(
            dtype.name,
            count,
            blocks,
            exact[row],
            (fifteen[0][row], fifteen[1][row]),
            None if sixteen is None else (sixteen[0][row], sixteen[1][row]),
            round_error_up(errors[row]) if has_error else None,
            longer[row],
            None if scale is None else (scale[0][row] & _ALL, scale[1][row] & _ALL),
            header_checksum(array.header),
            moments=moments[row] if moments is not None and has_moments[row] else None,
        )
