"""Finds everything that is wrong with a JSON text of flat lists; a large one is checked piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...arrays import default_name, select
from ...columns import MOST_BROKEN
from ...composite import check_composites
from ...elements import Missing
from ...errors import Finding, FormatError, locating
from ...files import Readable, Source
from ...linear import view_of
from ...spool import NotInPiecesError
from .adapter import infos_of_lists, read_array, read_lists
from .headers import walk_headers
from .pieces import find_sound_lists, iter_list
from .text import to_utf8

LARGE_TEXT = 2**26  # bytes; of a smaller one all arrays are read together


def check_json(source: Readable, *, missing: Missing = "error") -> Iterator[Finding]:
    """Yield every finding in a JSON text: at most one for each array; nothing for an intact one.

    Args:
        source: as for `read_json`.
        missing: as for `read_json`.

    Raises:
        OSError: no such file; nothing is raised for its content.

    Example:
        >>> import io
        >>> text = '["version", "1.0.0", "ndarray", "shape", 1, "strides", 1, "offset", 0, "order", "row-major", '
        >>> text += '"dtype", "uint8", "length", 1, "capacity", 1, "data", 300]'
        >>> [finding.message for finding in check_json(io.StringIO(text))]
        ['array[0]: 300 is beyond the range of uint8']
    """
    findings: list[Finding] = []
    broken = 0
    with Source(source) as opened:
        if len(opened.whole()) >= LARGE_TEXT and (remarks := _check_in_pieces(opened, missing)) is not None:
            yield from remarks
            return
        try:
            lists = read_lists(opened)
        except FormatError as error:
            lists = {}
            findings.append(Finding.from_error(error))
    for name, cells in lists.items():
        notes: list[Finding] = []
        try:
            with locating(array=name):
                read_array(name, cells, False, missing, notes.append)
        except FormatError as error:
            findings.append(Finding.from_error(error))
            broken += 1
            if broken == MOST_BROKEN:
                reason = f"{MOST_BROKEN} arrays are broken: those after this one were not looked at"
                yield from findings
                yield Finding("error", name, reason)
                return
        findings += [replace(note, array=name) for note in notes]

    def read(columns: Sequence[str] | None) -> dict[str, Any]:
        wanted = select(lists, columns)
        return {name: read_array(name, cells, False, missing) for name, cells in wanted.items()}

    yield from findings
    yield from check_composites(read, lambda: infos_of_lists(lists, False))


def _check_in_pieces(source: Source, missing: Missing) -> Iterable[Finding] | None:
    """Return the findings of a text all of whose lists are sound, of which no list is kept; None for any other text."""
    try:
        text, alone = to_utf8(source.whole()), default_name(source.name)
        lists = find_sound_lists(text, alone, _refuse)
        for name in lists:
            for _ in iter_list(text, lists[name], missing):
                pass
    except (NotInPiecesError, FormatError):
        return None

    def read(columns: Sequence[str] | None) -> dict[str, Any]:
        wanted = select(lists, columns)
        arrays = {}
        for name, one in wanted.items():
            pieces = list(iter_list(text, one, missing)) or [np.zeros(0, one.header.dtype.numpy)]
            arrays[name] = view_of(one.header, np.concatenate(pieces))
        return arrays

    return check_composites(read, lambda: walk_headers(text, alone))


def _refuse(_: Finding) -> None:
    raise NotInPiecesError
