"""Names of columns in a line that begins with `# `, as `numpy.savetxt(header="x y z")` writes them above numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...files import BytesLike
from ...tables import COMMON, TYPED, WHITESPACE, Marks, cut_row, kind_of, unquote
from .mending import spell_cell

_HEAD = 2**16  # bytes at the beginning in which the line is looked for
_MARK = re.compile(r"[ \t]*#[ \t]+(?!of\b)(?=\S)")  # as in `# of items`, it is part of a name
_MOST_NAMES = 1000  # in such a line


@dataclass
class Uncommented:
    """A text whose names stand in a row without a mark of comments, and that row, counted from 0.

    Comments above it are blank rows.
    """

    content: bytes
    row: int


def uncomment_names(content: BytesLike, marks: Marks) -> Uncommented | None:
    """Return a text with the names of its columns as a row of cells; None if no comment right above numbers has them.

    There are as many names as the row below has cells, nearly all of which are numbers or dates. The marks of the text
    stand between the names, or other ones, or blanks.
    """
    head = bytes(content[:_HEAD])
    place = 0
    lines: list[tuple[int, bytes]] = []
    for raw in head.splitlines(keepends=True):
        lines.append((place, raw))
        if not raw.lstrip(b" \t").startswith(b"#") or not raw.endswith(b"\n"):
            break
        place += len(raw)
    else:
        return None
    if len(lines) < 2:
        return None
    (begin, line), (_, below) = lines[-2:]
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    mark = _MARK.match(text)
    cells = cut_row(below.decode("utf-8", "replace"), 0, marks)[0]
    typed = sum(kind_of(cell) in TYPED for cell in cells)
    if mark is None or 2 * typed <= len(cells) or len(cells) > _MOST_NAMES:
        return None
    readings = (names for names in _list_ways(text[mark.end() :], marks) if _are_names(names, len(cells)))
    names = next(readings, None)
    if names is None:
        return None
    between = "\t" if marks.delimiter == WHITESPACE else marks.delimiter
    if marks.delimiter == WHITESPACE and any(re.search(r"\s", name) for name in names):
        return None
    spelled = between.join(spell_cell(name, marks.delimiter) for name in names) + line[len(line.rstrip()) :].decode()
    row = len(lines) - 2
    return Uncommented(b"".join([b"\n" * row, spelled.encode(), bytes(content[begin + len(line) :])]), row)


def _list_ways(text: str, marks: Marks) -> Iterator[list[str]]:
    """Yield the ways to cut a line into names: by the marks of the text first."""
    own = [(unquote(cell.strip(), marks) or "").strip() for cell in cut_row(text, 0, marks)[0]]
    if not any("," in name for name in own) or marks.delimiter not in (" ", WHITESPACE):
        yield own
    for mark in COMMON:
        yield [name.strip() for name in text.split(mark)]
    yield text.split()


def _are_names(names: list[str], count: int) -> bool:
    if len(names) != count or len({*names}) < count or (count == 1 and " " in names[0]):
        return False
    return all(names) and not any(kind_of(name) in TYPED for name in names)
