"""Reads arrays piece by piece, so that memory does not grow with the text, which has to stand as it was written."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ...dtypes import Buffer
from ...elements import Missing, check_missing
from ...errors import locating
from ...files import Readable, Source
from ...linear import iter_rest
from .reading import read_csv
from .reported import ReportingText
from .written import find_written
from .written_zone import UnusualError, check_usual

_PIECE = 2**22  # bytes of text that are parsed at once


def iter_elements_csv(
    source: Readable, names: Sequence[str], *, missing: Missing = "error"
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with the next elements of its buffer; those of one array in their order.

    A text to which people have given other rows, headers or arrays is read whole.

    Args:
        source: a path, or an open file.
        names: of the arrays.
        missing: as for `read_csv`.

    Raises:
        FormatError: as `read_csv`, when the first cell that is wrong is reached.
        NotFoundError: no such array.

    Example:
        >>> import numpy as np
        >>> from .writing import write_csv
        >>> file = io.BytesIO()
        >>> write_csv(file, {"t": np.arange(3)})
        >>> [(name, some.tolist()) for name, some in iter_elements_csv(io.BytesIO(file.getvalue()), ["t"])]
        [('t', [0, 1, 2])]
    """
    check_missing(missing)
    done = dict.fromkeys(names, 0)
    with Source(source) as opened, locating(source=opened.name):
        written = find_written(TextInPieces, opened, None, None, None, "escape")
        with suppress(UnusualError):
            for name, elements in written.elements(list(done), missing) if written is not None else ():
                done[name] += len(elements)
                yield name, elements
            if written is not None:
                return
        arrays = read_csv(opened.path or io.BytesIO(bytes(opened.whole())), list(done), missing=missing)
    yield from iter_rest(arrays, done)


class TextInPieces(ReportingText):
    """A text as `write_csv` writes it, of which pages leave memory once they have been parsed."""

    def elements(self, names: Sequence[str], missing: Missing) -> Iterator[tuple[str, Buffer]]:
        """Yield names of arrays, each with its next elements, a piece of the text at a time.

        Raises:
            UnusualError: no such array, a broken header, or a piece that is to be read cell by cell.
        """
        zone = self._zone
        check_usual(all(name in zone.columns for name in names))
        by_column = {zone.columns[name]: name for name in names}
        zone.wants_many = len(by_column) > 1
        headers = {column: zone.header(column) for column in by_column}
        self._search_unless_decoded(headers, quotes=True)
        filled = {}
        for column, name in by_column.items():
            beside = self._body.decode_beside(column, missing)
            filled[column] = len(beside)
            if len(beside):
                yield name, beside
        for column, elements in self._pieces(headers, filled, missing, size=_PIECE, note=self._refuse_first(headers)):
            yield by_column[column], elements
