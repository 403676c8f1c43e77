"""The XML of cells after their references, for each kind of cell, and the values that go into it."""

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
    """Return the kinds of cells in a column: for each the XML after the reference, with `{}` for the value, and values.

    `style`: the number of the style of its numbers and booleans; None for the usual one.
    """
    import polars as pl

    kinds: list[tuple[str, Any]] = []
    if cells.numbers is not None:
        kinds.append((NUMBER if style is None else f' s="{style}"{NUMBER}', cells.numbers))
    if cells.texts is not None:
        kinds.append((SPACED_TEXT if needs_space(cells.texts) else TEXT, xml_texts(cells.texts)))
    if cells.booleans is not None:
        kinds.append((BOOLEAN if style is None else f' s="{style}"{BOOLEAN}', cells.booleans.cast(pl.UInt8)))
    return kinds
