"""A list of cells -> a buffer of elements, under the dtype that the header names.

Whole lists are converted at once where every cell looks as it should; only the others are read one by one
with the rules of `scalars`. What a cell cannot mean becomes a `Problem`, never a wrapped or clamped value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..dtypes import Buffer, DType
from . import scalars as scalar_text
from .floats import are_whole, decode_floats, find_ties, have_numeral_letters, round_to
from .generics import as_double, generic_from_typed
from .missing import Missing
from .moments import decode_datetimes, decode_timedeltas
from .problems import Problem, decode_each, fill_blanks
from .scalars import Cell, Unreadable, describe_cell, is_blank
from .texts import text_array


def decode(
    cells: Sequence[Cell], dtype: DType, *, missing: Missing = "error", decimal: str = ".", typed: bool = False
) -> tuple[Buffer, list[Problem]]:
    """Return the buffer that data cells hold, one element for each cell, and every cell that could not be read.

    `cells`: Python scalars or text; None is a blank. `missing`: "nan" reads a blank as NaN where the dtype is float or
    complex. `typed`: the cells are from a container that has text and doubles, but no integers of their own; some may
    be `Unreadable`.

    Example:
        >>> from sheetarray import dtypes
        >>> decode([1, "2.0", 300], dtypes.from_name("uint8"))
        (array([1, 2, 0], dtype=uint8), [Problem(index=2, reason='300 is beyond the range of uint8', hint='')])
    """
    if typed and any(isinstance(cell, Unreadable) for cell in cells):
        return _decode_readable(cells, dtype, missing, decimal)
    if typed and dtype.kind in ("int", "timedelta"):
        cells = list(map(as_double, cells))
    match dtype.kind:
        case "float":
            return decode_floats(cells, dtype, missing, decimal)
        case "complex":
            return _decode_complexes(cells, dtype, missing, decimal)
        case "int":
            return _decode_integers(cells, dtype, decimal)
        case "bool":
            return _decode_booleans(cells)
        case "datetime":
            return decode_datetimes(cells, dtype, missing)
        case "timedelta":
            return decode_timedeltas(cells, dtype, missing)
        case "string":
            return _decode_strings(cells)
        case "generic":
            return _decode_generic([generic_from_typed(cell) for cell in cells] if typed else cells)


def _decode_readable(
    cells: Sequence[Cell], dtype: DType, missing: Missing, decimal: str
) -> tuple[Buffer, list[Problem]]:
    """Decode the readable cells only; the elements of unreadable ones are whatever a new buffer holds."""
    readable = [index for index, cell in enumerate(cells) if not isinstance(cell, Unreadable)]
    decoded, problems = decode(
        [cells[index] for index in readable], dtype, missing=missing, decimal=decimal, typed=True
    )
    out = np.zeros(len(cells), dtype=decoded.dtype)
    if len(decoded) == len(readable):
        out[readable] = decoded
    problems = [replace(p, index=readable[p.index]) for p in problems]
    problems += [
        Problem(i, cell.reason, cell.hint, is_word=cell.is_error)
        for i, cell in enumerate(cells)
        if isinstance(cell, Unreadable)
    ]
    return out, sorted(problems, key=lambda problem: problem.index)


def _decode_complexes(
    cells: Sequence[Cell], dtype: DType, missing: Missing, decimal: str
) -> tuple[Buffer, list[Problem]]:
    if (whole := _decode_complexes_at_once(cells, dtype, decimal)) is not None:
        return whole, []
    wide = np.zeros(len(cells), dtype=np.complex128)
    wide, problems = decode_each(cells, wide, lambda cell: scalar_text.parse_complex(cell, decimal), missing=missing)
    problems = [replace(p, reason=p.reason.replace("complex128", dtype.name)) for p in problems]
    problems = fill_blanks(wide, problems, cells, missing)
    if dtype.numpy.itemsize == 16 or any(problem.rest for problem in problems):
        return wide.astype(dtype.numpy, copy=False), problems
    unread = {problem.index for problem in problems}
    texts = {i for i, cell in enumerate(cells) if isinstance(cell, str) and not is_blank(cell)} - unread
    parts: list[Cell] = []
    for index, cell in enumerate(cells):
        parts += scalar_text.split_complex(cell, decimal) if index in texts else (0.0, 0.0)
    out, beyond = round_to(wide.view(np.float64), np.dtype(np.float32), parts)
    named = {p.index // 2: f"{describe_cell(cells[p.index // 2])} is beyond the range of {dtype.name}" for p in beyond}
    problems += [Problem(index, reason) for index, reason in named.items()]
    return out.view(np.complex64), sorted(problems, key=lambda problem: problem.index)


def _decode_complexes_at_once(cells: Sequence[Cell], dtype: DType, decimal: str) -> Buffer | None:
    """Return the buffer, converted all at once; None unless Python itself reads each cell as a finite complex number of
    this precision.
    """
    if set(map(type, cells)) != {str} or decimal != "." or not have_numeral_letters(cells, "ijIJ()"):
        return None
    marked = "\n".join([*cells, ""]).replace("i\n", "j\n").replace("i)\n", "j)\n").split("\n")
    try:
        wide = np.fromiter(map(complex, marked[:-1]), np.complex128, len(cells))
    except ValueError:
        return None  # some cell is written in another way: look at each
    with np.errstate(over="ignore", under="ignore"):
        out = wide.astype(dtype.numpy)
    parts = wide.view(np.float64)
    certain = not np.isinf(parts).any() and not (out.itemsize == 8 and len(find_ties(parts, out.view(np.float32))))
    return out if certain and np.isfinite(out).sum() == np.isfinite(wide).sum() else None


def _decode_integers(cells: Sequence[Cell], dtype: DType, decimal: str) -> tuple[Buffer, list[Problem]]:
    if set(map(type, cells)) <= {int, str} and are_whole(cells):
        try:
            return np.fromiter(map(int, cells), dtype.numpy, len(cells)), []
        except (ValueError, OverflowError):
            pass  # some integer is too large: the loop below says which
    out = np.zeros(len(cells), dtype=dtype.numpy)
    out, problems = decode_each(cells, out, lambda cell: scalar_text.parse_int(cell, decimal))
    return out, problems


def _decode_booleans(cells: Sequence[Cell]) -> tuple[Buffer, list[Problem]]:
    if set(map(type, cells)) <= {bool}:
        return np.fromiter(cells, bool, len(cells)), []
    return decode_each(cells, np.zeros(len(cells), dtype=bool), scalar_text.parse_bool)


def _decode_strings(cells: Sequence[Cell]) -> tuple[Buffer, list[Problem]]:
    problems: list[Problem] = []
    texts: list[str] = []
    for index, cell in enumerate(cells):
        try:
            texts.append(scalar_text.parse_string(cell))
        except ValueError as error:
            texts.append("")
            problems.append(Problem(index, str(error)))
    return text_array(texts), problems


def _decode_generic(cells: Sequence[Cell]) -> tuple[Buffer, list[Problem]]:
    out = np.empty(len(cells), dtype=object)
    problems: list[Problem] = []
    plain = {str, int, float, bool, type(None)}
    for index, cell in enumerate(cells):
        if type(cell) in plain:
            out[index] = cell
            continue
        try:
            out[index] = scalar_text.parse_float(cell)
        except ValueError:
            problems.append(Problem(index, f"expected a scalar, found {describe_cell(cell)}"))
    return out, problems
