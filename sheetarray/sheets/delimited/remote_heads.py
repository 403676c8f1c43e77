"""The first bytes of a text, which say all of arrays that begin in one row: no more of a remote file is fetched."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from ...columns import ArrayInfo, SheetArrays, find_side_by_side
from ...columns.pieced_arrays import NotInPiecesError
from ...elements import FormulaMode
from ...errors import FormatError
from ...files import Source
from ..arrays_of_sheets import scan_composites
from .encodings import find_encoding
from .sheet import CsvSheet

_HEADS = (4096, 65_536, 1_048_576)  # bytes of the head of a text; the next size is tried if one is too small


def iter_heads(source: Source, delimiter: str | None, formulas: FormulaMode) -> Iterator[CsvSheet]:
    """Yield the sheet of a text cut to its first rows, each time of more of them; none that is the whole text."""
    for size in _HEADS:
        content = source.prefix(size)
        if len(content) < size or find_encoding(content[:4])[0] != "utf-8":
            return
        with suppress(FormatError), Source(io.BytesIO(content[: content.rfind(b"\n") + 1])) as head:
            sheet = CsvSheet(head, delimiter, ".", None, formulas)
            if find_side_by_side(sheet, sheet.words()) is not None:
                yield sheet


def scan_head(source: Source, delimiter: str | None, formulas: FormulaMode) -> dict[str, ArrayInfo] | None:
    """Return the infos of the arrays of a remote text that stand at its top; None if the whole text must be looked at.

    In a file of this machine `scan` searches the whole text for arrays that begin further down. A remote file would
    have to be transferred for that. `read` and `check`, which see the whole text, find all other arrays too.
    """
    for sheet in iter_heads(source, delimiter, formulas):
        arrays, height = SheetArrays([sheet], missing="nan"), sheet.records.count
        infos = arrays.scan_all()

        def read(
            names: Sequence[str] | None,
            arrays: SheetArrays = arrays,
            infos: dict[str, ArrayInfo] = infos,
            height: int = height,
        ) -> dict[str, Any]:
            for name in infos if names is None else names:
                if not infos[name].data or infos[name].data[0].row + infos[name].capacity > height:
                    raise NotInPiecesError
            return arrays.read(names)

        with suppress(NotInPiecesError):
            return scan_composites(read, lambda infos=infos: infos)  # type: ignore[misc]
    return None
