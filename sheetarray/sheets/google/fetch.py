"""Values of ranges, as columns: in one request where the address of it stays short enough, in few where it does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from ...elements import Cell
from ...errors import RemoteError
from .address import Rect, range_on_sheet
from .requests import Answer, SheetsApi

FetchedColumns = list[list[Cell]]

_LONGEST_QUERY = 6000  # bytes of a URL that every server takes


def fetch_values(
    service: SheetsApi, ranges: Sequence[tuple[str, Rect]], *, formulas: bool = False
) -> Iterator[tuple[int, FetchedColumns]]:
    """Yield the columns of each range, without what is blank at the ends.

    Args:
        service: the spreadsheet.
        ranges: titles of worksheets, and cells.
        formulas: give formulas instead of what they result in, so that no cell with one seems blank.

    Yields:
        The number of the request, from 0, and the columns of the next range: what has the same number is of one moment.

    Raises:
        RefusedError: there is no such worksheet, or the range begins beyond its end.
    """
    for index, some in enumerate(_group_ranges([range_on_sheet(title, rect) for title, rect in ranges])):
        answer = service.get(
            "/values:batchGet",
            ranges=some,
            majorDimension="COLUMNS",
            valueRenderOption="FORMULA" if formulas else "UNFORMATTED_VALUE",
            dateTimeRenderOption="SERIAL_NUMBER",
        )
        for columns in _parse_columns(answer, len(some)):
            yield index, columns


def _group_ranges(ranges: list[str]) -> Iterator[list[str]]:
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


def _parse_columns(answer: Answer, count: int) -> list[FetchedColumns]:
    ranges = answer.get("valueRanges")
    if isinstance(ranges, list) and len(ranges) == count:
        columns = [range_.get("values", []) if isinstance(range_, dict) else None for range_ in ranges]
        if all(isinstance(range_, list) and all(isinstance(column, list) for column in range_) for range_ in columns):
            return [list(range_) for range_ in columns if range_ is not None]
    raise RemoteError("the answer is none of the Sheets API")


def count_requests(ranges: Sequence[tuple[str, Rect]]) -> int:
    """Return how many requests `values` makes of so many ranges."""
    return len(list(_group_ranges([range_on_sheet(title, rect) for title, rect in ranges])))
