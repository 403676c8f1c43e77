"""Headers of flat lists in a JSON text made true: a few integers are replaced, every other character stays."""

from __future__ import annotations

import json
import os
from typing import Any

from ...arrays import default_name
from ...columns import ArrayInfo, check_adopt_target
from ...elements import Missing
from ...errors import locating
from ...files import Readable, Source, Writable, replacing
from ...header import count_blanks_before, parse_header
from ...linear import resize_to_cells
from ...resizing import changed_header_cells
from .adapter import find_fixed_lists, infos_of_lists, read_json, read_lists
from .headers import find_header_spans
from .text import to_utf8


def adopt_json(source: Readable, target: Writable | None = None, *, missing: Missing = "error") -> dict[str, ArrayInfo]:
    """Make the headers of the flat lists in a JSON text true to the items behind them; all else stays.

    Args:
        source: a path, or an open file (then with a target).
        target: another file to write to; None for the source itself, which is replaced as a whole.
        missing: as for `read_json`.

    Returns:
        The infos of the lists that had other lengths, as their headers say them now.

    Raises:
        FormatError: as `read_json`; the file is as it was.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from .adapter import write_json
        >>> file, adopted = io.StringIO(), io.BytesIO()
        >>> write_json(file, {"t": np.array([1.5, 2.5])})
        >>> adopt_json(io.StringIO(file.getvalue().replace("2.5]", "2.5, 3.5]")), adopted)["t"].shape
        (3,)
    """
    check_adopt_target(source, target)
    with Source(source) as opened, locating(source=opened.name):
        raw = bytes(opened.whole())
        lists = read_lists(opened)
        fixed = find_fixed_lists(lists, False)
        text = bytes(to_utf8(raw))
        spans = find_header_spans(text, default_name(opened.name))
        pieces: list[bytes] = []
        at, changed = 0, []
        for name, cells in lists.items():
            changes = {} if name in fixed else _changes_of(cells, missing)
            changed += [name] if changes else []
            for index, value in sorted(changes.items()):
                start, end = spans[name][index]
                pieces += [text[at:start], str(value).encode()]
                at = end
        content = b"".join([*pieces, text[at:]])
        encoding = json.detect_encoding(raw[:4])
        if content != text and not encoding.startswith("utf-8"):
            content = content.decode().encode(encoding)
        infos = infos_of_lists({name: lists[name] for name in changed}, False, fixed=frozenset())
        read_json(source if isinstance(source, (str, os.PathLike)) else _again(raw), missing=missing, resize=True)
    if changed or target is not None:
        with replacing(source if target is None else target) as sink:
            sink.write(content if changed else raw)
    return infos


def _changes_of(cells: Any, missing: Missing) -> dict[int, int]:
    """Return the integers that have to change in the header of a flat list, by the index of their item."""
    first = count_blanks_before(cells)
    header, start = parse_header(cells[first:], note=lambda _: None)
    changes = changed_header_cells(cells[first:], resize_to_cells(header, cells[first + start :], missing))
    return {first + index: value for index, value in changes.items()}


def _again(raw: bytes) -> Any:
    import io

    return io.BytesIO(raw)
