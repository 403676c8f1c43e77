"""The results of scan and check, which show themselves as tables: of text in a terminal, of HTML in a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..columns import ArrayInfo
from ..errors import Finding, escape_controls

if TYPE_CHECKING:
    from ..tables import Dialect

# The results of scan and check, which show themselves as tables: of text in a terminal, of HTML in a notebook.
MOST_ROWS = 200  # of a table; the last line says how many more there are
_LONGEST_TEXT = 160  # characters of a cell of text
ListedRows = list[Sequence[str]]


class ArrayInfos(dict[str, ArrayInfo]):
    """The infos of arrays by their names; its `repr` is a table.

    Attributes:
        dialect: what was assumed of an ordinary table; None for arrays of the exchange format.

    Example:
        >>> ArrayInfos(t=ArrayInfo((2, 3), "float64", "row-major", (3, 1), "A2", 27))
        name  dtype    shape  order      location  cells
        t     float64  2 x 3  row-major  A2        27
    """

    dialect: Dialect | None = None

    def _rows(self) -> ListedRows:
        names_dims = any(info.dims is not None for info in self.values())
        rows: ListedRows = [
            ("name", "dtype", "shape", *(("dims",) if names_dims else ()), "order", "location", "cells")
        ]
        for name, info in self.items():
            dims = (", ".join(info.dims or ()),) if names_dims else ()
            facts = (info.dtype, format_shape(info.shape), *dims, info.order, info.location, f"{info.cells:,}")
            rows.append((name, *facts))
        return rows

    def __repr__(self) -> str:
        told = "" if self.dialect is None else f"\n{self.dialect}\n{self.dialect.call}"
        return format_table(self._rows()) + told if self else "{}"

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


def format_table(rows: ListedRows, *, more: int = 0) -> str:
    """Return rows as lines of text in columns; the first row is their titles.

    `more`: how many rows were left out already.

    Example:
        >>> print(format_table([("a", "b"), ("1", "x")]))
        a  b
        1  x
    """
    shown, rest = _cut(rows, more)
    cells = [[shorten(text, _LONGEST_TEXT) for text in row] for row in shown]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([*lines, *([f"and {rest:,} more"] if rest else [])])


def format_html(rows: ListedRows, *, more: int = 0) -> str:
    """Return rows as a table of HTML; texts stay texts whatever is in them."""
    shown, rest = _cut(rows, more)

    def line(row: Sequence[str], tag: str) -> str:
        texts = (html.escape(escape_controls(text)) for text in row)
        cells = "".join(f'<{tag} dir="auto" style="text-align:left">{text}</{tag}>' for text in texts)
        return f"<tr>{cells}</tr>"

    body = "".join(line(row, "td") for row in shown[1:])
    left_out = f"<p>and {rest:,} more</p>" if rest else ""
    return f"<table><thead>{line(shown[0], 'th')}</thead><tbody>{body}</tbody></table>{left_out}"


def _cut(rows: ListedRows, more: int) -> tuple[ListedRows, int]:
    return rows[: MOST_ROWS + 1], max(0, len(rows) - MOST_ROWS - 1) + more


def format_shape(shape: Sequence[int]) -> str:
    """Return a shape as people write it.

    Example:
        >>> format_shape((128, 96))
        '128 x 96'
    """
    return " x ".join(map(str, shape)) if len(shape) else "0-d"


def shorten(text: str, most: int) -> str:
    """Return text from a file as a terminal can show it, in at most so many characters.

    Example:
        >>> shorten("temperature", 5)
        'temp…'
    """
    plain = escape_controls(text)
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"
