"""Makes the guards of a workbook true to its cells, when `accept` takes what people have changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ....changes.evidence import Evidence, OwnEvidence
from ....columns import ResizedArray
from ...guard_texts import keep_snapshots
from ...snapshot import SnapshotHeader, encode_snapshot
from ..guard.guard_sheet import make_part, read_texts
from ..guard.snapshots import Snapshots
from ..workbook_part import WorkbookPart


def renew_guards(
    book: WorkbookPart,
    snapshots: Snapshots,
    writes: Sequence[tuple[Mapping[str, OwnEvidence | None], Mapping[str, ResizedArray]]],
    of_tables: Mapping[str, Sequence[list[str]]],
    chosen: Collection[str] | None = None,
) -> dict[str, bytes]:
    """Return the new content of the worksheets that hold snapshots, by their parts.

    A snapshot of another file becomes one of the cells; an array that has no snapshot, or a damaged one, has none
    afterwards.

    `writes`: for each write the evidence of the arrays that may not be as they were written, those of others are looked
    for; and the arrays whose elements are known. `of_tables`: the snapshots of recorded tables, by the titles of
    guards. `chosen`: the titles of the sheets whose snapshots change; None for all.
    """
    if not snapshots.sheets:
        return {}
    standing: dict[Evidence, tuple[str, ResizedArray]] = {}
    stale = {evidence.name: evidence for evidence in snapshots.of_arrays}
    stale_there = {(evidence.name, evidence.title): evidence for evidence in snapshots.of_arrays}
    for evidence_of, exact in writes:
        for name, array in exact.items():
            own = evidence_of[name] if name in evidence_of else snapshots.find(name, array.column, array.buffer)
            last = stale_there.get((name, array.column.group[0].title)) or stale.get(name)
            evidence = last if own is None else own.evidence
            if evidence is not None and (own is not None or evidence not in standing):
                standing[evidence] = name, array
    texts = {guard.title or "": [*of_tables.get(guard.title or "", [])] for guard in snapshots.sheets}

    def is_other(header: SnapshotHeader) -> bool:
        return chosen is not None and header.sheet not in chosen

    for guard in snapshots.sheets:
        stay = keep_snapshots(
            read_texts(guard), lambda header: is_other(header) and not (of_tables and snapshots.is_column(header))
        )
        texts[guard.title or ""] += stay
    for snapshot in snapshots.of_arrays:
        header = snapshot.said
        if snapshot in standing and not is_other(header):
            name, array = standing[snapshot]
            how = {"sheet": header.sheet, "cells": header.cells, "dates": header.dates}
            texts[snapshot.guard].append(encode_snapshot(name, array.linear, **how))
    parts = {sheet.title: sheet for sheet in book.sheets}
    return {parts[title].part: make_part(book, parts[title], snapshots_of) for title, snapshots_of in texts.items()}
