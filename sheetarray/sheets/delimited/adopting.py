"""Headers of a delimited text made true: the integers in a few cells are replaced, every other character stays."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator, Mapping

from ...cells import FormulaMode
from ...columns import ArrayInfo, check_adopt_target, find_header_edits, info_of_resized
from ...composite import read_resized_arrays
from ...elements import Missing
from ...elements.scalars import DecimalMark
from ...errors import FormatError, locating
from ...files import Readable, Source, Writable, replacing
from .dialect import SINGLE_COLUMN
from .sheet import CsvSheet
from .splitting import field_pattern

_INTEGER = re.compile(r"[+-]?[0-9]+(?:[.,]0*)?")
_HINT = "write the arrays to a new file: read them with resize=True"


def adopt_csv(
    source: Readable,
    target: Writable | None = None,
    *,
    delimiter: str | None = None,
    decimal: DecimalMark | None = None,
    encoding: str | None = None,
    missing: Missing = "error",
    formulas: FormulaMode = "escape",
) -> dict[str, ArrayInfo]:
    """Make the headers of a delimited text true to the cells below them; all other bytes stay.

    Args:
        source: a path, or an open file (then with a target).
        target: another file to write to; None for the source itself, which is replaced as a whole.
        delimiter: as for `read_csv`.
        decimal: as for `read_csv`.
        encoding: as for `read_csv`.
        missing: as for `read_csv`.
        formulas: as for `read_csv`.

    Returns:
        The infos of the arrays that had other lengths, as their headers say them now.

    Raises:
        FormatError: as `read_csv`; the file is as it was.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from .writing import write_csv
        >>> file, adopted = io.StringIO(), io.BytesIO()
        >>> write_csv(file, {"t": np.array([1.5, 2.5])})
        >>> adopt_csv(io.StringIO(file.getvalue() + "3.5\\r\\n"), adopted)["t"].shape
        (3,)
    """
    check_adopt_target(source, target)
    with Source(source) as opened, locating(source=opened.name):
        sheet = CsvSheet(opened, delimiter, decimal, encoding, formulas)
        try:
            arrays = read_resized_arrays([sheet], missing=missing)
        except FormatError:
            if not sheet.try_other_decimal():
                raise
            arrays = read_resized_arrays([sheet], missing=missing)
        changes = {(edit.row, edit.column): edit.value for edit in find_header_edits([sheet], arrays)}
        infos = {name: info_of_resized(array) for name, array in arrays.items() if array.is_changed}
        del arrays  # the text is about to be read again
        name, mark = sheet.file_encoding
        raw = bytes(opened.whole())
        content = raw[:mark] + _change_cells(raw[mark:], name, sheet.delimiter, changes) if changes else raw
        if changes:
            with Source(io.BytesIO(content)) as again:
                adopted = CsvSheet(again, delimiter, decimal, encoding, formulas)
                adopted.look = sheet.look
                if any(array.is_changed for array in read_resized_arrays([adopted], missing=missing).values()):
                    raise FormatError("the headers of this text cannot be changed in place", hint=_HINT)
    if content != raw or target is not None:
        with replacing(source if target is None else target) as sink:
            sink.write(content)
    return infos


def _change_cells(raw: bytes, encoding: str, delimiter: str, changes: Mapping[tuple[int, int], int]) -> bytes:
    """Return a text in which some cells hold other integers.

    Raises:
        FormatError: the text is not of its encoding, or would not come back from it as it is.
    """
    try:
        text = codecs.decode(raw, encoding)
        whole = codecs.encode(text, encoding) == raw
    except UnicodeError:
        whole = False
    if not whole:
        raise FormatError(f"a text in {encoding} whose bytes are not kept when it is written again", hint=_HINT)
    pieces, at = [], 0
    for cell, start, end in _spans_of(text, delimiter, max(row for row, _ in changes)):
        if cell in changes:
            match = _INTEGER.search(text, start, end)
            if match is None:
                raise FormatError("the headers of this text cannot be changed in place", hint=_HINT)
            pieces += [text[at : match.start()], str(changes[cell])]
            at = match.end()
    return codecs.encode("".join([*pieces, text[at:]]), encoding)


def _spans_of(text: str, delimiter: str, last_row: int) -> Iterator[tuple[tuple[int, int], int, int]]:
    """Yield the row and column of each cell down to a row, and where it begins and ends, its quotes included."""
    field, row, column, at = field_pattern("\x1f" if delimiter == SINGLE_COLUMN else delimiter), 0, 0, 0
    while row <= last_row and at < len(text):
        match = field.match(text, at)
        assert match is not None  # an empty cell matches anywhere
        yield (row, column), match.start(), match.start(4)
        at, stop = match.end(), match[4]
        row, column = (row, column + 1) if stop == delimiter else (row + 1, 0)
