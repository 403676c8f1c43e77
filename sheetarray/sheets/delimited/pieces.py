"""Reads the arrays of a sheet piece by piece, so that memory does not grow with the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...cells import buffer_from_text, buffer_from_texts, buffer_from_typed
from ...columns import Request, Texts, find_anchors
from ...columns.layout import find_stops, group_parts
from ...columns.reading import raise_error
from ...dtypes import Buffer, DType
from ...elements import Missing
from ...errors import Finding
from ...spool import NotInPiecesError
from .sheet import CsvSheet

_PIECE = 2**22  # bytes of text that are read at once


def iter_sheet(sheet: CsvSheet, names: Sequence[str] | None, missing: Missing) -> Iterator[tuple[str, Buffer]]:
    """Yield names of the arrays of a sheet, each with its next elements, a piece of the text at a time.

    Raises:
        FormatError: a header is damaged.
        NotInPiecesError: an array lies in a row or in parts, or a cell is to be looked at together with others.
    """
    anchors = find_anchors(sheet)
    groups = group_parts([sheet], anchors, None if names is None else frozenset(names), raise_error, _refuse)
    stops, whole = find_stops(anchors), dict[str, Request]()
    ends: list[int | None] = []
    for name in groups if names is None else names:
        if name not in groups or groups[name][0].orient != "columns":
            raise NotInPiecesError
        anchor, header = groups[name][0], groups[name][0].header
        if header is None or header.part is not None:
            raise NotInPiecesError
        column, row = anchor.data_cell
        whole[name] = Request(column, row, header.dtype, stop=row + header.capacity)
        ends.append(stops.get(id(anchor)))
    if not sheet.are_whole([*whole.values()], ends):
        raise NotInPiecesError
    last = max((request.stop or 0 for request in whole.values()), default=0)
    step = sheet.count_rows(_PIECE)
    for top in range(min((request.row for request in whole.values()), default=0), last, step):
        some = {
            name: Request(request.column, max(top, request.row), request.dtype, stop=min(top + step, request.stop or 0))
            for name, request in whole.items()
            if request.row < top + step and (request.stop or 0) > top
        }
        columns = sheet.columns([*some.values()], typed=True)
        if sheet.notes:
            raise NotInPiecesError
        for (name, request), (_, cells) in zip(some.items(), columns, strict=True):
            yield name, _decode(cells, request.dtype, sheet, missing)


def _refuse(_: Finding) -> None:
    raise NotInPiecesError


def _decode(cells: Any, dtype: DType, sheet: CsvSheet, missing: Missing) -> Buffer:
    """Return the elements in some cells.

    Raises:
        NotInPiecesError: a cell is wrong.
    """
    if isinstance(cells, Texts):
        buffer, problems = buffer_from_texts(cells, dtype, sheet.look, missing=missing)
    else:
        typed = buffer_from_typed(cells, dtype, missing=missing)
        if typed is not None:
            return typed
        if str(cells.dtype) != "String":
            raise NotInPiecesError
        buffer, problems = buffer_from_text(cells, dtype, sheet.look, missing=missing)
    if problems:
        raise NotInPiecesError
    return buffer
