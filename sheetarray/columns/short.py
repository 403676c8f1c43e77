"""Very many short arrays of numbers: the cells of one after another are decoded at once.

A sheet may hold hundreds of thousands of arrays of two elements; decoding each for itself takes longer than anything
else that is done with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TypeVar

from ..cells import buffer_from_texts
from ..dtypes import Buffer
from ..elements import Cell, Missing
from .column import ArrayColumn

_AT_ONCE = 2**10  # columns
_KINDS = ("float", "int")
_FEW_COLUMNS = 8  # which are as quickly decoded one by one
Key = TypeVar("Key")


def decode_short(
    columns: Iterable[tuple[Key, ArrayColumn]], missing: Missing
) -> Iterator[tuple[Key, ArrayColumn, Buffer | None]]:
    """Yield columns in their order, each with its buffer; None where that has to be decoded by itself.

    `columns`: any, with a key of the caller's.
    """
    batch: list[tuple[Key, ArrayColumn, list[Cell] | None]] = []
    for key, column in columns:
        cells = column.short_cells if column.header.dtype.kind in _KINDS else None
        if cells is None and not batch:
            yield key, column, None
            continue
        batch.append((key, column, cells))
        if len(batch) >= _AT_ONCE:
            yield from _decode_batch(batch, missing)
            batch = []
    yield from _decode_batch(batch, missing)


def _decode_batch(
    batch: list[tuple[Key, ArrayColumn, list[Cell] | None]], missing: Missing
) -> Iterator[tuple[Key, ArrayColumn, Buffer | None]]:
    for (_, decodable), group in groupby(batch, lambda item: (item[1].header.dtype.name, item[2] is not None)):
        items = list(group)
        texts = [cell for _, _, cells in items for cell in cells or ()] if len(items) >= _FEW_COLUMNS else []
        if not decodable or not texts:
            yield from ((key, column, None) for key, column, _ in items)
            continue
        header, look = items[0][1].header, items[0][1].sheet.look
        whole, problems = buffer_from_texts(texts, header.dtype, look, missing=missing)
        wrong = {problem.index for problem in problems}
        wrong.update(*(range(problem.index, len(texts)) for problem in problems if problem.rest))
        first = 0
        for key, column, cells in items:
            end = first + len(cells or ())
            sound = not wrong or wrong.isdisjoint(range(first, end))
            yield key, column, whole[first:end].copy() if sound else None  # a view would keep the others in memory
            first = end
