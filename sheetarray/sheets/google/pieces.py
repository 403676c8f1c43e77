"""The elements of an array in a spreadsheet piece by piece: no more of them than one request holds are in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...dtypes import Buffer
from ...errors import FormatError
from ...files import PathLike
from .batches import CELLS_A_REQUEST
from .reading import open_sheets, read_gsheet
from .retries import TIMEOUT
from .slices import fetch_elements, find_array, lies_in_rows


def iter_elements_gsheet(
    source: Any,
    name: str,
    *,
    worksheet: str | None = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
) -> Iterator[Buffer]:
    """Yield the elements of an array's buffer, 100,000 at a time, in their order: two requests each.

    Args:
        source: as for `read_gsheet`.
        name: the array's.
        worksheet: as for `read_gsheet`.
        client: as for `read_gsheet`.
        credentials: as for `read_gsheet`.
        timeout: as for `read_gsheet`.

    Raises:
        FormatError: as `read_gsheet`, when the first cell that is wrong is reached, or the worksheet has changed since.
        NotFoundError: no such array.
        RemoteError: as `read_gsheet`.
    """
    where: dict[str, Any] = {"worksheet": worksheet, "client": client, "credentials": credentials, "timeout": timeout}
    with open_sheets(source, **where) as sheets:
        view, anchor = find_array(sheets, name)
        if lies_in_rows(anchor):
            seen = view.generation()
            assert anchor.header is not None
            for start in range(0, anchor.header.capacity, CELLS_A_REQUEST):
                stop = min(start + CELLS_A_REQUEST, anchor.header.capacity)
                elements = fetch_elements(view, anchor, start, stop, "error")
                if view.generation() != seen:
                    raise FormatError("it has changed since its first rows were read", hint="read it again")
                yield elements
            return
    yield read_gsheet(source, [name], **where)[name].ravel()
