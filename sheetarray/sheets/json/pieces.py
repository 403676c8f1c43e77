"""Reads the arrays of a JSON text piece by piece, so that memory does not grow with the text."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from ...arrays import default_name
from ...data import decode_data
from ...dtypes import Buffer
from ...elements import Missing, check_missing, is_blank
from ...errors import FormatError, locating
from ...files import BytesLike, Readable, Source
from ...header import Header, NoteFinding, warn_of_finding
from ...linear import iter_rest
from ...spool import NotInPiecesError
from .adapter import read_json
from .headers import FlatList, find_lists
from .skipping import cut_items
from .text import parse_text, to_utf8

_PIECE = 2**20  # bytes of text that are parsed at once
_MOST_BLANKS = 4096  # bytes of white space between the word "data" and the comma after it, or after the last list


def iter_elements_json(
    source: Readable, names: Sequence[str], *, missing: Missing = "error"
) -> Iterator[tuple[str, Buffer]]:
    """Yield names of arrays, each with the next elements of its buffer, one array after the other.

    Lists that are not asked for are passed over. If a cell, or the number of cells, is wrong, the text is read at once.

    Args:
        source: a path, or an open file.
        names: of the arrays.
        missing: as for `read_json`.

    Raises:
        FormatError: as `read_json`, when the first cell that is wrong is reached.
        NotFoundError: no such array.

    Example:
        >>> import numpy as np
        >>> from .adapter import write_json
        >>> file = io.BytesIO()
        >>> write_json(file, {"t": np.arange(3)})
        >>> [(name, some.tolist()) for name, some in iter_elements_json(io.BytesIO(file.getvalue()), ["t"])]
        [('t', [0, 1, 2])]
    """
    check_missing(missing)
    done = dict.fromkeys(names, 0)
    left = list(done)
    with Source(source) as opened, locating(source=opened.name):
        try:
            text = to_utf8(opened.whole())
            lists = find_sound_lists(text, default_name(opened.name))
            if not all(name in lists for name in left):
                raise NotInPiecesError
            while left:
                for elements in iter_list(text, lists[left[0]], missing):
                    yield left[0], elements
                    done[left[0]] += len(elements)
                left.pop(0)
        except (NotInPiecesError, FormatError):
            content = opened.path or io.BytesIO(bytes(opened.whole()))
            arrays = read_json(content, left, missing=missing)
        else:
            return
    yield from iter_rest(arrays, {name: done[name] for name in left})


def find_sound_lists(text: BytesLike, alone: str, note: NoteFinding = warn_of_finding) -> dict[str, FlatList]:
    """Return the header and the position of each list, if all text around their data cells is JSON.

    Raises:
        FormatError: it is not, or a header is broken.
    """
    lists = find_lists(text, alone, note)
    start, pieces = 0, []
    for one in sorted(lists.values(), key=lambda one: one.at):
        pieces.append(bytes(text[start : one.at]))
        start = one.end
    if len(text) - start > _MOST_BLANKS:
        raise NotInPiecesError  # so much text after the last list can only be wrong
    parse_text(b"".join([*pieces, bytes(text[start:])]))
    return lists


def iter_list(text: BytesLike, one: FlatList, missing: Missing) -> Iterator[Buffer]:
    """Yield the elements of a list, a piece of the text at a time.

    Raises:
        NotInPiecesError: cells are to be looked at one by one.
    """
    if one.header.part is not None or one.start != len(one.cells):
        raise NotInPiecesError
    header, left = one.header, one.header.capacity
    for piece in cut_items(text, *_find_items(text, one), _PIECE):
        cells = parse_text(b"[%b]" % piece)
        if not cells or (header.dtype.kind == "complex" and not all(isinstance(cell, str) for cell in cells)):
            raise NotInPiecesError
        count = min(left, len(cells))
        if not all(map(is_blank, cells[count:])):
            raise NotInPiecesError
        if count:
            some = Header(header.dtype, (count,), (1,), 0, "row-major", count)
            buffer, problems = decode_data(cells[:count], some, missing=missing)
            if problems:
                raise NotInPiecesError
            yield buffer
        left -= count
    if left:
        raise NotInPiecesError


def _find_items(text: BytesLike, one: FlatList) -> tuple[int, int]:
    """Return the positions at which the data cells of a list begin, after the comma of its header, and end.

    Raises:
        NotInPiecesError: something else stands there.
    """
    between = bytes(text[one.at : min(one.at + _MOST_BLANKS, one.end)])
    rest = between.lstrip(b" \t\r\n")
    if rest.startswith(b","):
        return one.at + len(between) - len(rest) + 1, one.end
    if rest or len(between) == _MOST_BLANKS:
        raise NotInPiecesError
    return one.end, one.end
