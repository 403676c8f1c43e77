"""Restates a large text that another program has saved: writes it anew, as `write_csv` does, to a file without a name.

Programs put every cell in quotes, or write decimal commas between semicolons, but the arrays stand where they stood.
The text is restated piece by piece, and then it can be read in pieces like one that nobody has touched.
"""

from __future__ import annotations

import codecs
import io
import mmap
import tempfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...cells import FormulaMode
from ...columns import find_anchors
from ...elements.spelling import DecimalMark
from ...errors import FormatError, LimitError
from ...files import BytesLike, Source, release_pages
from .blocks import UnsoundError, end_of_rows, has_lone_returns
from .bulk import parse_texts
from .dialect import SINGLE_COLUMN, WITH_COMMA
from .encodings import find_encoding
from .sheet import CsvSheet
from .written import Text
from .written_zone import UnusualError, check_usual

if TYPE_CHECKING:
    import polars as pl

LARGE_TEXT = 2**24  # bytes; a smaller one is read at once
_PIECE = 2**22  # bytes that are written anew at once
_HEAD = 2**21  # bytes in which the headers stand, and cells that tell the decimal mark
_TEXTUAL = frozenset({"string", "generic"})


@dataclass(frozen=True)
class _Dialect:
    """The dialect of a text.

    Attributes:
        delimiter: between cells.
        width: the number of columns, each of which is an array.
        decimals: the columns with decimal commas, each with the first row in which one may stand.
        textual: the columns whose cells may be any text.
    """

    delimiter: str
    width: int
    decimals: Mapping[int, int]
    textual: Collection[int]


def find_restated(
    kind: type[Text],
    source: Source,
    delimiter: str | None,
    decimal: DecimalMark | None,
    encoding: str | None,
    formulas: FormulaMode,
) -> Text | None:
    """Return the large text of a source, restated, as an object of the class `kind`; None unless the text differs from
    what `write_csv` writes in its dialect alone.

    The arguments are those of `find_written`, which takes texts of the usual dialect.
    """
    content = source.whole()
    name, start = find_encoding(source.prefix(4))
    if encoding is not None or formulas not in ("escape", "keep") or name != "utf-8" or len(content) < LARGE_TEXT:
        return None
    with suppress(UnusualError, UnsoundError, FormatError, LimitError, OSError):  # there may be no room for the file
        dialect = _find_dialect(content, start, delimiter, decimal, formulas)
        return kind(None, _restate(content, start, dialect), 0, None, formulas)
    return None


def _find_dialect(
    content: BytesLike, start: int, delimiter: str | None, decimal: DecimalMark | None, formulas: FormulaMode
) -> _Dialect:
    """Return the dialect of a text, which is known from its first rows.

    Raises:
        UnusualError: it is not known from them, or is the usual one, or they hold something else than columns of
            arrays.
    """
    head = bytes(content[: content.rfind(b"\n", start, _HEAD) + 1])
    sheet = CsvSheet(Source(io.BytesIO(head)), delimiter, decimal, None, formulas)
    anchors = find_anchors(sheet)
    headers = [anchor.header for anchor in anchors if anchor.header is not None]
    check_usual(sheet.delimiter != SINGLE_COLUMN and len(headers) == len(anchors))
    check_usual([(anchor.row, anchor.column) for anchor in anchors] == [(1, number) for number in range(len(anchors))])
    kinds = [header.dtype.kind for header in headers]
    commas = sheet.look.decimal == ","
    check_usual(commas or b'"version"' in head)
    check_usual(not commas or "complex" not in kinds)
    check_usual(sheet.knows_decimal or not {"float", "complex"} & {*kinds})
    return _Dialect(
        sheet.delimiter,
        len(anchors),
        {number: anchors[number].data_cell[1] for number, kind in enumerate(kinds) if commas and kind == "float"},
        [number for number, kind in enumerate(kinds) if kind in _TEXTUAL],
    )


def _restate(content: BytesLike, start: int, dialect: _Dialect) -> mmap.mmap:
    """Return the same cells in the usual dialect, mapped.

    Raises:
        UnsoundError: readers would differ on where records end.
        UnusualError: the text is to be read cell by cell.
    """
    import polars as pl

    with tempfile.TemporaryFile(prefix=".sheetarray-") as file:
        position = start
        while position < len(content):
            end = end_of_rows(content, position, _PIECE, dialect.delimiter)
            text = bytes(content[position:end])
            check_usual(text[:3] != codecs.BOM_UTF8 and not has_lone_returns(np.frombuffer(text, np.uint8), 0))
            columns = parse_texts(text, dialect.width, delimiter=dialect.delimiter)
            check_usual(columns is not None)
            cells = {
                str(number): _restate_cells(column, number, dialect, is_first=position == start)
                for number, column in enumerate(columns or [])
            }
            pl.DataFrame(cells).write_csv(file, include_header=False)
            release_pages(content, position, end)
            position = end
        file.flush()
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _restate_cells(column: pl.Series, number: int, dialect: _Dialect, *, is_first: bool) -> pl.Series:
    """Return the cells of a column as `write_csv` writes them; the header, in the first piece, is left as it is.

    Raises:
        UnusualError: a decimal point among decimal commas.
    """
    if number in dialect.textual:
        return column
    if number in dialect.decimals:
        first = dialect.decimals[number] if is_first else 0
        cells = column[first:]
        check_usual(not cells.str.contains(".", literal=True).any())
        points = cells.str.replace(",", ".", literal=True)
        are_decimals = cells.str.contains(f"^(?:{WITH_COMMA.pattern})$")
        column = column[:first].append(points.zip_with(are_decimals.fill_null(value=False), cells))
    return column.replace("", None)
