"""Makes the guards of a workbook true to its cells, when `accept` takes what people have changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ....changes.evidence import OwnEvidence
from ....columns import ResizedArray
from ....dtypes import Array, Buffer
from ....linear.array import LinearArray
from ....linear.buffers import view_of
from ...snapshot import encode_snapshot
from ..guard.guard_sheet import make_part
from ..guard.snapshots import Snapshots
from ..workbook_part import WorkbookPart


def renew_guards(
    book: WorkbookPart,
    snapshots: Snapshots,
    evidence_of: Mapping[str, OwnEvidence | None],
    arrays: Mapping[str, ResizedArray],
    unreadable: Mapping[str, Array],
    revised: Mapping[str, LinearArray],
) -> tuple[dict[str, bytes], dict[str, ResizedArray]]:
    """Return the new content of the worksheets that hold snapshots, by their parts, and the arrays that these hold.

    Elements that were only rounded keep their exact bits in the snapshot, and so do elements whose cells cannot be read
    now. A snapshot of another file becomes one of the cells; an array that has no snapshot, or a damaged one, has none
    afterwards, and an array that has none is left out of those that are returned if some of its cells cannot be read.

    `evidence_of`: of the arrays that may not be as they were written; those of others are looked for. `unreadable`: for
    some arrays, objects that are not None for elements whose cells cannot be read. `revised`: arrays whose elements are
    known to the bit.
    """
    renewed = dict[str, bytes]()
    exact = {name: array for name, array in arrays.items() if name not in unreadable}
    if not snapshots.exist:
        return {}, exact
    own = {
        name: evidence_of[name] if name in evidence_of else snapshots.find(name, array.column, array.buffer)
        for name, array in arrays.items()
    }
    names = {found.evidence: name for name, found in own.items() if found is not None}
    stale = {one.name: one for one in snapshots.search.evidence if one.name in own and own[one.name] is None}
    names |= {evidence: name for name, evidence in stale.items()}
    texts: dict[str, list[list[str]]] = {guard.title or "": [] for guard in snapshots.sheets}
    for evidence in snapshots.search.evidence:
        if (name := names.get(evidence)) is None:
            continue
        array, found = arrays[name], own[name]
        buffer = array.buffer
        if name in revised and len(revised[name].buffer) == len(buffer):
            buffer = revised[name].buffer
        elif found is not None:
            buffer = found.kept.restore(buffer)
            if name in unreadable:
                places = view_of(array.column.header, np.arange(len(buffer)))[unreadable[name].astype(bool)]
                buffer = _take_texts_of_any_width(buffer)
                buffer[places] = found.kept.written[places]
        elif name in unreadable:
            continue
        exact[name] = replace(array, buffer=buffer)
        header = snapshots.headers[evidence]
        how = {"sheet": header.sheet, "cells": header.cells, "dates": header.dates}
        texts[snapshots.guards[evidence]].append(encode_snapshot(name, exact[name].linear, **how))
    parts = {sheet.title: sheet for sheet in book.sheets}
    for title, made in texts.items():
        renewed[parts[title].part] = make_part(book, parts[title], made)
    return renewed, exact


def _take_texts_of_any_width(buffer: Buffer) -> Buffer:
    """Return a copy of a buffer; of texts, one that holds longer ones too."""
    return buffer.astype(np.dtypes.StringDType()) if buffer.dtype.kind == "U" else buffer.copy()
