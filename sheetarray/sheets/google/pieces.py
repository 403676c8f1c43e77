"""The elements of an array in a spreadsheet piece by piece: no more of them than one request holds are in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...dtypes import Buffer
from ...errors import FormatError
from ...files import PathLike
from ...linear import ravel_in_order
from .batches import CELLS_A_REQUEST
from .consistent import open_sheets
from .reading import read_gsheet
from .retries import TIMEOUT
from .slices import fetch_elements, find_array, lies_in_rows


def iter_elements_gsheet(
    source: Any,
    names: Sequence[str],
    *,
    worksheet: str | None = None,
    client: Any = None,
    credentials: PathLike | None = None,
    timeout: float = TIMEOUT,
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with 100,000 elements of its buffer, in their order: two requests each time.

    Args:
        source: as for `read_gsheet`.
        names: of the arrays.
        worksheet: as for `read_gsheet`.
        client: as for `read_gsheet`.
        credentials: as for `read_gsheet`.
        timeout: as for `read_gsheet`.

    Raises:
        FormatError: as `read_gsheet`, when the first cell that is wrong is reached, or the worksheet has changed since.
        NotFoundError: no such array.
        RemoteError: as `read_gsheet`.

    Example:
        >>> import numpy as np
        >>> from sheetarray.sheets.google import write_gsheet
        >>> from sheets_emulator import SheetsServer
        >>> with SheetsServer() as server:
        ...     key, client = server.create(), server.client()
        ...     url = write_gsheet(key, {"t": np.array([1.5, 2.5])}, client=client)
        ...     [(name, elements.tolist()) for name, elements in iter_elements_gsheet(key, ["t"], client=client)]
        [('t', [1.5, 2.5])]
    """
    where: dict[str, Any] = {"worksheet": worksheet, "client": client, "credentials": credentials, "timeout": timeout}
    whole = []
    with open_sheets(source, **where) as sheets:
        for name in dict.fromkeys(names):
            view, anchor = find_array(sheets, name)
            if not lies_in_rows(anchor):
                whole.append(name)
                continue
            seen = view.generation()
            assert anchor.header is not None
            for start in range(0, anchor.header.capacity, CELLS_A_REQUEST):
                stop = min(start + CELLS_A_REQUEST, anchor.header.capacity)
                elements = fetch_elements(view, anchor, start, stop, "error")
                if view.generation() != seen:
                    raise FormatError("it has changed since its first rows were read", hint="read it again")
                yield name, elements
    for name, array in read_gsheet(source, whole, **where).items() if whole else ():
        yield name, ravel_in_order(array)
