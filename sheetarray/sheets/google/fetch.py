"""Fetches the values of ranges, as columns: in one request, or in several if its URL would become too long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from ...elements import Cell
from .address import Rect, range_on_sheet
from .requests import Answer, SheetsApi

FetchedColumns = list[list[Cell]]

_LONGEST_QUERY = 6000  # bytes of a URL that every server takes


def fetch_values(
    service: SheetsApi, ranges: Sequence[tuple[str, Rect]], *, formulas: bool = False, dates: bool = False
) -> Iterator[tuple[int, FetchedColumns]]:
    """Yield the columns of each range, without what is blank at the ends.

    Args:
        service: the spreadsheet.
        ranges: titles of worksheets, and cells.
        formulas: give formulas instead of what they result in, so that no cell with one seems blank.
        dates: give dates and durations as text, as they are shown, instead of serial numbers.

    Yields:
        The number of the request, counted from 0, and the columns of the next range. Ranges with the same number show
            the worksheet at one moment.

    Raises:
        RefusedError: there is no such worksheet, or the range begins beyond its end.
    """
    for index, some in enumerate(_group_ranges([range_on_sheet(title, rect) for title, rect in ranges])):
        answer = service.get(
            "/values:batchGet",
            lambda answer, some=some: len(_parse_columns(answer, some)) == len(some),  # type: ignore[misc]
            ranges=some,
            majorDimension="COLUMNS",
            valueRenderOption="FORMULA" if formulas else "UNFORMATTED_VALUE",
            dateTimeRenderOption="FORMATTED_STRING" if dates else "SERIAL_NUMBER",
        )
        for columns in _parse_columns(answer, some):
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


def _parse_columns(answer: Answer, wanted: Sequence[str]) -> list[FetchedColumns]:
    """Return the columns of each range of an answer.

    Raises:
        ValueError: it answers a request for other ranges; other errors if it is no answer at all.
    """
    ranges = answer["valueRanges"]
    if len(ranges) != len(wanted):
        raise ValueError("not as many ranges as were asked for")
    fetched = [list(block.get("values", [])) for block in ranges]
    if not all(isinstance(column, list) for columns in fetched for column in columns):
        raise ValueError("no columns")
    if not all(is_same_range(block.get("range"), name) for block, name in zip(ranges, wanted, strict=True)):
        raise ValueError("other ranges than were asked for")
    return fetched


def is_same_range(answered: object, wanted: str) -> bool:
    """Return whether the range that an answer names may be the one that was asked for: its worksheet and first cell.

    Example:
        >>> is_same_range("Sheet1!A1:Z9", "'sheet1'!1:9"), is_same_range("Sheet1!B1:B2", "'Sheet1'!A1:A2")
        (True, False)
    """
    if not isinstance(answered, str):
        return answered is None
    title, _, cells = answered.rpartition("!")
    wanted_title, _, wanted_cells = wanted.rpartition("!")
    if _unquote(title) != _unquote(wanted_title):
        return False
    first = wanted_cells.partition(":")[0]
    return cells.partition(":")[0] in (first, f"A{first}")


def _unquote(title: str) -> str:
    return (title[1:-1].replace("''", "'") if title[:1] == "'" else title).casefold()


def count_requests(ranges: Sequence[tuple[str, Rect]]) -> int:
    """Return the number of requests that `fetch_values` makes for some ranges."""
    return len(list(_group_ranges([range_on_sheet(title, rect) for title, rect in ranges])))
