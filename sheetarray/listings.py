"""The results of `scan` and `check`, which show themselves as tables: of text in a terminal, of HTML in a notebook.

Beside that they are plain objects of Python: a dict of infos by name, and an iterator of findings.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Any

from .columns import ArrayInfo
from .errors import Finding

MOST_ROWS = 200  # of a table; the last line says how many more there are
_LONGEST_TEXT = 160  # characters of a cell of text
ListedRows = list[Sequence[str]]


class ArrayInfos(dict[str, ArrayInfo]):
    """The infos of arrays by their names; its `repr` is a table.

    Example:
        >>> ArrayInfos(t=ArrayInfo((2, 3), "float64", "row-major", (3, 1), "A2", 27))
        name  dtype    shape  order      location  cells
        t     float64  2 x 3  row-major  A2        27
    """

    def _rows(self) -> ListedRows:
        names_dims = any(info.dims is not None for info in self.values())
        rows: ListedRows = [
            ("name", "dtype", "shape", *(("dims",) if names_dims else ()), "order", "location", "cells")
        ]
        for name, info in self.items():
            shape = " x ".join(map(str, info.shape)) or "0-d"
            dims = (", ".join(info.dims or ()),) if names_dims else ()
            rows.append((name, info.dtype, shape, *dims, info.order, info.location, f"{info.cells:,}"))
        return rows

    def __repr__(self) -> str:
        return format_table(self._rows()) if self else "{}"

    def _repr_html_(self) -> str:
        return format_html(self._rows())


class Findings(Iterator[Finding]):
    """Findings, one by one as they are found; its `repr` is a table of all of them, and takes none away.

    `findings`: yields them.

    Example:
        >>> findings = Findings(iter([Finding("error", "A21", "expected a number, found 'x'", array="t")]))
        >>> findings
        severity  location  array  message                       hint
        error     A21       t      expected a number, found 'x'
        >>> [finding.location for finding in findings]
        ['A21']
    """

    def __init__(self, findings: Iterator[Finding]) -> None:
        self._findings, self._known, self._next = findings, list[Finding](), 0

    def __iter__(self) -> Findings:
        return self

    def __next__(self) -> Finding:
        if self._next == len(self._known):
            self._known.append(next(self._findings))
        self._next += 1
        return self._known[self._next - 1]

    def _rows(self) -> ListedRows:
        self._known += self._findings
        rows: ListedRows = [("severity", "location", "array", "message", "hint")]
        for finding in self._known:
            rows.append((finding.severity, finding.location or "", finding.array or "", finding.message, finding.hint))
        return rows

    def __repr__(self) -> str:
        rows = self._rows()
        return format_table(rows) if len(rows) > 1 else "no findings"

    def _repr_html_(self) -> str:
        rows = self._rows()
        return format_html(rows) if len(rows) > 1 else "<p>no findings</p>"


def format_table(rows: ListedRows) -> str:
    """Return rows as lines of text in columns; the first row is their titles.

    Example:
        >>> print(format_table([("a", "b"), ("1", "x")]))
        a  b
        1  x
    """
    kept, rest = _cut(rows)
    cells = [[_escape(text) for text in row] for row in kept]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([*lines, *([f"and {rest:,} more"] if rest else [])])


def format_html(rows: ListedRows) -> str:
    """Return rows as a table of HTML; texts stay texts whatever is in them."""
    kept, rest = _cut(rows)

    def line(row: Sequence[str], tag: str) -> str:
        cells = "".join(f'<{tag} dir="auto" style="text-align:left">{html.escape(text)}</{tag}>' for text in row)
        return f"<tr>{cells}</tr>"

    body = "".join(line(row, "td") for row in kept[1:])
    more = f"<p>and {rest:,} more</p>" if rest else ""
    return f"<table><thead>{line(kept[0], 'th')}</thead><tbody>{body}</tbody></table>{more}"


def _cut(rows: ListedRows) -> tuple[ListedRows, int]:
    return rows[: MOST_ROWS + 1], max(0, len(rows) - MOST_ROWS - 1)


def _escape(text: Any) -> str:
    """Return a text as a terminal can show it in one line."""
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return plain if len(plain) <= _LONGEST_TEXT else f"{plain[: _LONGEST_TEXT - 1]}…"
