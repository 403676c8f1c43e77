"""Parts that go with the sheets that a write replaces, and the calculation chain with their formulas."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import FormatError
from .open_workbook import BookSheet, OpenWorkbook
from .package.markup import read_tags
from .package.parts import Package
from .package.relations import parts_only_reached_through

_MOST_FORMULAS = 2**26  # bytes of the calculation chain


def drop_parts(book: OpenWorkbook, gone: Sequence[BookSheet]) -> set[str]:
    """Remove the parts that only the replaced sheets used, and the calculation chain if it mentions them."""
    dropped = parts_only_reached_through(book.package, [sheet.part for sheet in gone])
    chain = book.relations.present_target("calcChain")
    if gone and chain and _has_formulas(book.package, chain, {sheet.id for sheet in gone}):
        dropped.add(chain)
        book.relations.drop(chain)
    for part in dropped:
        book.types.drop(part)
    return dropped


def _has_formulas(package: Package, chain: str, sheets: set[str]) -> bool:
    """Return whether a formula on some sheets is in the calculation chain, or the chain is broken."""
    current = ""
    try:
        for name, attributes in read_tags(package.read(chain, limit=_MOST_FORMULAS), location=chain):
            if name == "c" and (current := attributes.get("i", current)) in sheets:
                return True
    except FormatError:
        return True
    return False
