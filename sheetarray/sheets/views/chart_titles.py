"""What the chart of a view shows, said by a formula: `temperature (degC) at Zürich`, with every label that is chosen.

The text is the name of the chart's line, and the legend above the chart shows it: programs that keep the title of a
chart as it was written follow the name of a line. Dates are put together from numbers, because the letters of a date
format depend on the language of the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...elements.serials import DATE_CODES, shown_unit
from .geometry import Axis, Labels

_LONGEST_DIM = 80  # characters of the name of a dimension; a text in a formula has at most 255


def make_chart_title(caption: str, cell: str, choices: Sequence[tuple[Axis, str]]) -> tuple[str, str]:
    """Return the formula of the title of a chart, and its value at first.

    `caption`: of the view. `cell`: the address of the caption. `choices`: the dimensions that are chosen, each with the
    cell, or the formula, of its label, or of its index if it has none.
    """
    formulas, texts = [cell], [caption]
    for number, (axis, label) in enumerate(choices):
        start = ", " if number else " at "
        if _needs_name(axis.labels):
            start += f"{axis.dim:.{_LONGEST_DIM}} "
        unit = _date_unit(axis.labels)
        formulas += [_quote(start), label if unit is None else _date_formula(label, unit)]
        texts += [start, _first_text(axis.labels, unit)]
    return "&".join(formulas), "".join(texts)


def _needs_name(labels: Labels | None) -> bool:
    """Return whether a label says nothing without the name of its dimension: numbers and indices."""
    return labels is None or labels.array.dtype_entry.kind not in ("string", "datetime")


def _date_unit(labels: Labels | None) -> str | None:
    """Return the unit in which labels are shown that are serial dates; None for all others."""
    if labels is None or labels.style is None or labels.array.dtype_entry.kind != "datetime":
        return None
    return shown_unit(labels.array.buffer)


def _date_formula(cell: str, unit: str) -> str:
    """Return the formula of a date as text, in the form of `DATE_CODES`, without parts of seconds.

    Example:
        >>> _date_formula("A1", "D")
        'YEAR(A1)&IF(MONTH(A1)<10,"-0","-")&MONTH(A1)&IF(DAY(A1)<10,"-0","-")&DAY(A1)'
    """
    code = DATE_CODES[unit]
    parts = [f"YEAR({cell})", *(_two_digits("-", name, cell) for name in ("MONTH", "DAY"))]
    if "hh" in code:
        parts += [_two_digits(" ", "HOUR", cell), _two_digits(":", "MINUTE", cell)]
    if "ss" in code:
        parts.append(_two_digits(":", "SECOND", cell))
    return "&".join(parts)


def _two_digits(mark: str, name: str, cell: str) -> str:
    """Return the formula of a mark and a number of two digits."""
    return f'IF({name}({cell})<10,"{mark}0","{mark}")&{name}({cell})'


def _first_text(labels: Labels | None, unit: str | None) -> str:
    """Return the text of the first label, or of the first index without labels."""
    if labels is None:
        return "0"
    value: Any = labels.array.to_numpy()[0]
    if unit is not None:
        text = str(np.datetime_as_string(value, "s" if "ss" in DATE_CODES[unit] else "m" if unit != "D" else "D"))
        return text.replace("T", " ")
    if labels.array.dtype_entry.kind in ("float", "int"):
        return f"{float(value):.15g}".upper()
    return str(value)


def _quote(text: str) -> str:
    """Return a text as formulas write it."""
    return '"' + text.replace('"', '""') + '"'
