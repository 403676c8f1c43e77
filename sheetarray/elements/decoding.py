"""A list of cells -> a buffer of elements, under the dtype that the header names.

Whole lists are converted at once where every cell looks as it should; only the others are read one by one
with the rules of `scalar_text`. What a cell cannot mean becomes a `Problem`, never a wrapped or clamped value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import compress, repeat
from typing import Any, Literal

import numpy as np

from ..dtypes import Buffer, DType
from . import scalars as scalar_text
from .dates import known_dates_to_iso
from .scalars import ANY_MOMENT, NO_TIME, Cell, Unreadable, describe_cell, is_blank
from .texts import text_array

# A cell that its dtype cannot mean, and decoding one cell after another, with a problem for each such cell.

MOST_EXPLAINED = 2**12
"""The number of wrong cells of a column that get a problem each; after so many, no further cell is looked at."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A cell that its dtype cannot mean."""

    index: int  # of the cell among the data cells
    reason: str  # why it has no value
    hint: str = ""  # what to do
    # whether it stands for this cell and all later ones: they were not looked at, and have no value
    rest: bool = field(default=False, repr=False)


def decode_each(
    cells: Sequence[Cell], out: Buffer, read: Callable[[Cell], Any], indices: Sequence[int] | None = None
) -> tuple[Buffer, list[Problem]]:
    """Fill a buffer with the values of cells, and return it with a problem for each cell that has none.

    Once very many cells have none, one problem stands for all later cells: a file of wrong ones takes no minutes.

    `read`: gives the value of a cell; a ValueError or an OverflowError says that it has none. `indices`: of the cells
    to read; None for all of them.
    """
    problems: list[Problem] = []
    explained = 0
    remaining = iter(range(len(cells)) if indices is None else indices)
    for index in remaining:
        cell = cells[index]
        if is_blank(cell):
            problems.append(_blank_problem(index, out.dtype))
            continue
        try:
            out[index] = read(cell)
            continue
        except OverflowError:
            problems.append(Problem(index, f"{describe_cell(cell)} is beyond the range of {out.dtype.name}"))
        except ValueError as error:
            problems.append(Problem(index, str(error)))
        explained += 1
        if explained == MOST_EXPLAINED and (later := next(remaining, None)) is not None:
            problems.append(Problem(later, f"not checked, after {explained} cells that cannot be read", rest=True))
            break
    return out, problems


def _blank_problem(index: int, dtype: np.dtype[Any]) -> Problem:
    hint = "missing='nan' reads blanks as NaN" if dtype.kind in "fc" else ""
    return Problem(index, f"expected {dtype.name}, found a blank cell", hint)


# Cells as dates and durations, each by itself: ISO 8601 texts, and what else reads as a moment.

_ISO = re.compile(rf"{ANY_MOMENT}|{NO_TIME}", re.ASCII | re.IGNORECASE)
_ISO_LINES = re.compile(rf"(?:(?:{ANY_MOMENT}|{NO_TIME})\n)*+", re.ASCII | re.IGNORECASE)
_NOTHING_MORE = re.compile(r"(?:-01){0,2}(?:T?00)?(?::00){0,2}\.?0*")


def decode_datetimes(cells: Sequence[Cell], dtype: DType) -> tuple[Buffer, list[Problem]]:
    """Return cells as datetime64, in the unit of the dtype, with a problem for each cell that is no such moment."""
    count = len(cells)
    if set(map(type, cells)) == {str} and _ISO_LINES.fullmatch("\n".join([*cells, ""])):
        try:
            out = np.array(cells, dtype=dtype.numpy)
        except (ValueError, OverflowError):
            pass  # a month 13, or a unit too fine: the loop below says which
        else:
            if known_dates_to_iso(out) == list(cells):
                return out, []
    out = np.full(count, "NaT", dtype=dtype.numpy)

    years = np.datetime_data(dtype.numpy)[0] == "Y"  # elsewhere 20200101 is a date without its dashes

    def read(cell: Cell) -> Any:
        text = cell.strip().replace(" ", "T") if isinstance(cell, str) else ""
        if not _ISO.fullmatch(text) or (text.isdigit() and len(text) > 4 and not years):
            raise ValueError(f"expected a date as ISO text, found {describe_cell(cell)}")
        try:
            value = np.array([text], dtype=dtype.numpy)
        except (ValueError, OverflowError):
            raise ValueError(f"{describe_cell(cell)} is not a date, or finer than {dtype.name}") from None
        if not _is_same_date(text, known_dates_to_iso(value)[0]):
            raise ValueError(f"{describe_cell(cell)} is beyond the range of {dtype.name}, or finer than its unit")
        return value[0]

    return decode_each(cells, out, read)


def _is_same_date(text: str, canonical: str) -> bool:
    if not canonical:
        return False  # a moment that NumPy cannot print, so that what it made of the text is anybody's guess
    longer, shorter = sorted((text.removeprefix("+").upper(), canonical.upper()), key=len, reverse=True)
    return longer.startswith(shorter) and _NOTHING_MORE.fullmatch(longer[len(shorter) :]) is not None


def decode_timedeltas(cells: Sequence[Cell], dtype: DType) -> tuple[Buffer, list[Problem]]:
    """Return cells as timedelta64: integers that count units of the dtype, with a problem for each other cell."""
    not_a_time = np.iinfo(np.int64).min

    def read(cell: Cell) -> int:
        return (
            not_a_time
            if isinstance(cell, str) and cell.strip().casefold() == NO_TIME.casefold()
            else scalar_text.parse_int(cell)
        )

    counts, problems = decode_each(cells, np.zeros(len(cells), dtype=np.int64), read)
    return counts.view(dtype.numpy), problems


Missing = Literal["error", "nan"]


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
        cells = list(map(scalar_text.as_double, cells))
    match dtype.kind:
        case "float":
            return _decode_floats(cells, dtype, missing, decimal)
        case "complex":
            return _decode_complexes(cells, dtype, missing, decimal)
        case "int":
            return _decode_integers(cells, dtype, decimal)
        case "bool":
            return _decode_booleans(cells)
        case "datetime":
            return decode_datetimes(cells, dtype)
        case "timedelta":
            return decode_timedeltas(cells, dtype)
        case "string":
            return _decode_strings(cells)
        case "generic":
            return _decode_generic([scalar_text.generic_from_typed(cell) for cell in cells] if typed else cells)


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
    problems = [Problem(readable[p.index], p.reason, p.hint, p.rest) for p in problems]
    problems += [Problem(i, cell.reason, cell.hint) for i, cell in enumerate(cells) if isinstance(cell, Unreadable)]
    return out, sorted(problems, key=lambda problem: problem.index)


def _fill_blanks(out: Buffer, problems: list[Problem], cells: Sequence[Cell], missing: Missing) -> list[Problem]:
    if missing == "error" or not problems:
        return problems
    blank = [problem.index for problem in problems if is_blank(cells[problem.index])]
    out[blank] = np.nan
    return [problem for problem in problems if problem.rest or not is_blank(cells[problem.index])]


# Floats ------------------------------------------------------------------------------------------------------


def _decode_floats(cells: Sequence[Cell], dtype: DType, missing: Missing, decimal: str) -> tuple[Buffer, list[Problem]]:
    count = len(cells)
    kinds = set(map(type, cells))
    try:
        if kinds <= {float, int}:
            wide = np.fromiter(cells, np.float64, count)
            return _round_to(wide, dtype.numpy, cells)
        if kinds == {str} and decimal == "." and _are_numerals(cells):
            wide = np.fromiter(map(float, cells), np.float64, count)
            if not np.isinf(wide).any():
                return _round_to(wide, dtype.numpy, cells)
    except (ValueError, OverflowError):
        pass  # some cell is no number: look at each
    wide = np.zeros(count, dtype=np.float64)
    is_float = np.fromiter(map(isinstance, cells, repeat(float)), bool, count)
    wide[is_float] = list(compress(cells, is_float))
    others = np.flatnonzero(~is_float).tolist()
    wide, problems = decode_each(cells, wide, lambda cell: scalar_text.parse_float(cell, decimal), others)
    problems = [Problem(p.index, p.reason.replace("float64", dtype.name), p.hint, p.rest) for p in problems]
    problems = _fill_blanks(wide, problems, cells, missing)
    out, beyond = _round_to(wide, dtype.numpy, cells)
    return out, sorted(problems + beyond, key=lambda problem: problem.index)


def _are_numerals(texts: Sequence[str], more: str = "") -> bool:
    # float() also takes underscores and other scripts' digits; a numeral of ours has neither
    letters = "".join(texts).encode("utf-8", "replace")
    return not letters.translate(None, f"0123456789+-.eE naiftyNI{more}".encode())


def _are_whole(cells: Sequence[Cell]) -> bool:
    texts = [cell for cell in cells if type(cell) is str]
    return not "".join(texts).encode("utf-8", "replace").translate(None, b"0123456789-")


def _round_to(wide: Buffer, dtype: np.dtype[Any], cells: Sequence[Cell]) -> tuple[Buffer, list[Problem]]:
    """Return doubles as `dtype`, text rounded once: a double in between would round some numerals twice."""
    if dtype.itemsize == 8:
        return wide, []
    with np.errstate(over="ignore", under="ignore"):
        out = wide.astype(dtype)
    beyond = np.flatnonzero(np.isinf(out) & np.isfinite(wide)).tolist()
    problems = []
    for index in beyond:
        if _is_below(cells[index], half_beyond(dtype)):
            out[index] = np.copysign(np.finfo(dtype).max, wide[index])
        else:
            problems.append(Problem(index, f"{describe_cell(cells[index])} is beyond the range of {dtype.name}"))
    for index in find_ties(wide, out).tolist():
        if isinstance(cells[index], (str, int)):
            out[index] = round_tie(str(cells[index]), wide[index], out[index])
    return out, problems


def half_beyond(dtype: np.dtype[Any]) -> float:
    """Return the double half a step beyond the greatest value of a narrower dtype: from there on it is infinite."""
    greatest = np.finfo(dtype).max
    return float(greatest) + float(greatest - np.nextafter(greatest, dtype.type(0))) / 2


def _is_below(cell: Cell, limit: float) -> bool:
    """Return whether a numeral is nearer to zero than a limit that its double is at, or beyond."""
    return isinstance(cell, (str, int)) and Decimal(str(cell).strip().replace(",", ".")).copy_abs() < Decimal(limit)


def find_ties(wide: Buffer, narrow: Buffer) -> Buffer:
    """Return the indices where a double lies exactly between two neighbours of the narrower dtype."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        toward = np.where(wide > narrow, np.inf, -np.inf).astype(narrow.dtype)
        other = np.nextafter(narrow, toward).astype(np.float64)
        near = narrow.astype(np.float64)
        return np.flatnonzero((wide != near) & (np.abs(wide - near) == np.abs(other - wide)))


def round_tie(text: str, wide: float, narrow: Any) -> Any:
    """Return the neighbour of `wide`, a tie, on whose side the numeral itself lies; `narrow` where it is a true tie."""
    exact, middle = Decimal(text.strip().replace(",", ".")), Decimal(float(wide))
    if exact == middle:
        return narrow
    upward = exact > middle
    if (float(narrow) > wide) == upward:
        return narrow
    return np.nextafter(narrow, np.array(np.inf if upward else -np.inf, dtype=narrow.dtype))


# Complex -----------------------------------------------------------------------------------------------------


def _decode_complexes(
    cells: Sequence[Cell], dtype: DType, missing: Missing, decimal: str
) -> tuple[Buffer, list[Problem]]:
    if (whole := _decode_complexes_at_once(cells, dtype, decimal)) is not None:
        return whole, []
    wide = np.zeros(len(cells), dtype=np.complex128)
    wide, problems = decode_each(cells, wide, lambda cell: scalar_text.parse_complex(cell, decimal))
    problems = [Problem(p.index, p.reason.replace("complex128", dtype.name), p.hint, p.rest) for p in problems]
    problems = _fill_blanks(wide, problems, cells, missing)
    if dtype.numpy.itemsize == 16 or any(problem.rest for problem in problems):
        return wide.astype(dtype.numpy, copy=False), problems
    unread = {problem.index for problem in problems}
    texts = {i for i, cell in enumerate(cells) if isinstance(cell, str) and not is_blank(cell)} - unread
    parts: list[Cell] = []
    for index, cell in enumerate(cells):
        parts += scalar_text.split_complex(cell, decimal) if index in texts else (0.0, 0.0)
    out, beyond = _round_to(wide.view(np.float64), np.dtype(np.float32), parts)
    named = {p.index // 2: f"{describe_cell(cells[p.index // 2])} is beyond the range of {dtype.name}" for p in beyond}
    problems += [Problem(index, reason) for index, reason in named.items()]
    return out.view(np.complex64), sorted(problems, key=lambda problem: problem.index)


def _decode_complexes_at_once(cells: Sequence[Cell], dtype: DType, decimal: str) -> Buffer | None:
    """Return the buffer, converted all at once; None unless Python itself reads each cell as a finite complex number of
    this precision.
    """
    if set(map(type, cells)) != {str} or decimal != "." or not _are_numerals(cells, "ijIJ()"):
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


# Integers, booleans ------------------------------------------------------------------------------------------


def _decode_integers(cells: Sequence[Cell], dtype: DType, decimal: str) -> tuple[Buffer, list[Problem]]:
    if set(map(type, cells)) <= {int, str} and _are_whole(cells):
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


# Text and anything -------------------------------------------------------------------------------------------


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
