"""Values of ranges, as columns: in one request where the address of it stays short enough, in few where it does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from ...elements import Cell
from ...errors import RemoteError
from .address import Rect, on_sheet
from .requests import Answer, Service

Columns = list[list[Cell]]

_LONGEST_QUERY = 6000  # bytes of a URL that every server takes


def values(
    service: Service, ranges: Sequence[tuple[str, Rect]], *, formulas: bool = False
) -> Iterator[tuple[int, Columns]]:
    """The columns of each range, without what is blank at the ends.

    Args:
        service: the spreadsheet.
        ranges: titles of worksheets, and cells.
        formulas: give formulas instead of what they result in, so that no cell with one seems blank.

    Yields:
        The number of the request, from 0, and the columns of the next range: what has the same number is of one moment.

    Raises:
        RefusedError: there is no such worksheet, or the range begins beyond its end.
    """
    for nth, some in enumerate(_in_requests([on_sheet(title, rect) for title, rect in ranges])):
        answer = service.get(
            "/values:batchGet",
            ranges=some,
            majorDimension="COLUMNS",
            valueRenderOption="FORMULA" if formulas else "UNFORMATTED_VALUE",
            dateTimeRenderOption="SERIAL_NUMBER",
        )
        for columns in _columns(answer, len(some)):
            yield nth, columns


def _in_requests(ranges: list[str]) -> Iterator[list[str]]:
    some: list[str] = []
    length = 0
    for cells in ranges:
        added = len(quote(cells, safe="")) + 8
        if some and length + added > _LONGEST_QUERY:
            yield some
            some, length = [], 0
        some.append(cells)
        length += added
    if some:
        yield some


def _columns(answer: Answer, count: int) -> list[Columns]:
    found = answer.get("valueRanges")
    if isinstance(found, list) and len(found) == count:
        columns = [each.get("values", []) if isinstance(each, dict) else None for each in found]
        if all(isinstance(each, list) and all(isinstance(column, list) for column in each) for each in columns):
            return [list(each) for each in columns if each is not None]
    raise RemoteError("the answer is none of the Sheets API")


def requests_needed(ranges: Sequence[tuple[str, Rect]]) -> int:
    """How many requests `values` makes of so many ranges."""
    return len(list(_in_requests([on_sheet(title, rect) for title, rect in ranges])))
