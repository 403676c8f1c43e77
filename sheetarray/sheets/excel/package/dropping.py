"""Removes the parts that nobody needs any more when sheets are replaced, and the calculation chain if it lists them."""

from __future__ import annotations

from collections.abc import Sequence

from ....errors import FormatError
from ..workbook_part import BookSheet, WorkbookPart
from .markup import read_tags
from .package import Package
from .relations import parts_only_reached_through

_MOST_CHAIN = 2**26  # bytes of the calculation chain


def drop_parts(book: WorkbookPart, gone: Sequence[BookSheet]) -> set[str]:
    """Take the parts that only the replaced sheets use off the lists of a workbook, and return their names.

    The calculation chain is one of them if it lists formulas of these sheets.
    """
    dropped = parts_only_reached_through(book.package, [sheet.part for sheet in gone])
    chain = book.relations.present_target("calcChain")
    if gone and chain and _has_formulas(book.package, chain, {sheet.id for sheet in gone}):
        dropped |= book.drop_chain()
    for part in dropped:
        book.types.drop(part)
    return dropped


def _has_formulas(package: Package, chain: str, sheets: set[str]) -> bool:
    """Return whether the calculation chain lists a formula of some sheets (by their ids), or is damaged."""
    current = ""
    try:
        for name, attributes in read_tags(package.read(chain, limit=_MOST_CHAIN), location=chain):
            if name == "c" and (current := attributes.get("i", current)) in sheets:
                return True
    except FormatError:
        return True
    return False
