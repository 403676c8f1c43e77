"""How a cell of each kind is written into worksheet XML after its reference, for whole columns at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...cells import TypedCells
from .xml_text import needs_space, xml_texts

if TYPE_CHECKING:
    import polars as pl

NUMBER = "><v>{}</v></c>"
BOOLEAN = ' t="b"><v>{}</v></c>'
TEXT = ' t="inlineStr"><is><t>{}</t></is></c>'
SPACED_TEXT = ' t="inlineStr"><is><t xml:space="preserve">{}</t></is></c>'


def split_kinds(cells: TypedCells, style: int | None) -> list[tuple[str, pl.Series]]:
    """Return the kinds of cells in a column: how each is written after its reference, and its values."""
    kinds: list[tuple[str, Any]] = []
    if cells.numbers is not None:
        kinds.append((NUMBER if style is None else f' s="{style}"{NUMBER}', cells.numbers))
    if cells.texts is not None:
        kinds.append((SPACED_TEXT if needs_space(cells.texts) else TEXT, xml_texts(cells.texts)))
    if cells.booleans is not None:
        kinds.append((BOOLEAN if style is None else f' s="{style}"{BOOLEAN}', cells.booleans.cast(_byte_text())))
    return kinds


def _byte_text() -> Any:
    import polars as pl

    return pl.UInt8
