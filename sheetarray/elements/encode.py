"""A buffer of elements -> a list of cells, as Python scalars that JSON keeps."""

from __future__ import annotations

import math
from itertools import repeat
from typing import Literal

import numpy as np

from ..dtypes import Buffer, DType
from ..errors import DTypeError
from .dates import dates_to_iso, find_date_problem
from .objects import describe_object, suggest_instead, to_scalar
from .scalars import Cell, describe_cell
from .spelling import INFINITY, NAN, NEGATIVE_INFINITY, NO_TIME, shows_minus
from .texts import find_surrogate

ComplexForm = Literal["text", "interleaved"]

_HELD = {str, bool, type(None)}
_PLAIN = {*_HELD, int, float}  # what a generic array holds
MOST_GENERIC = 2**53  # the largest integer of a generic array in JSON: a reader that has only doubles keeps it
EXACT_IN_JSON = MOST_GENERIC - 1  # larger integers are text: as a double, 2^53 may be the rounding of 2^53 + 1


def encode(buffer: Buffer, dtype: DType, *, complex: ComplexForm = "text", exact: int = EXACT_IN_JSON) -> list[Cell]:
    """Return the cells of a 1-D buffer, one for each element (two for complex="interleaved").

    `buffer`: 1-D, of `dtype.numpy` up to byte order. `complex`: `3+4i` as text, or real and imaginary part as two
    numbers. `exact`: integers beyond this magnitude become decimal text; those of generic arrays are refused, beyond
    2^53.

    Raises:
        DTypeError: a generic element that no cell can hold exactly.

    Example:
        >>> from sheetarray import dtypes
        >>> encode(np.array([1.5, np.nan, -np.inf]), dtypes.from_name("float64"))
        [1.5, 'NaN', '-Infinity']
    """
    match dtype.kind:
        case "float":
            return _encode_floats(buffer)
        case "int":
            return _encode_integers(buffer, exact)
        case "complex" if complex == "interleaved":
            return _encode_floats(_complex_parts(buffer))
        case "complex":
            return complexes_to_text(buffer)
        case "datetime":
            return dates_to_iso(buffer)
        case "timedelta":
            return _encode_timedeltas(buffer, exact)
        case "generic":
            return encode_generic(buffer, max(exact, MOST_GENERIC))
        case _:
            return list(buffer.tolist())


def _encode_floats(buffer: Buffer) -> list[Cell]:
    finite = np.isfinite(buffer)
    if finite.all():
        return list(buffer.tolist())
    cells = buffer.astype(object)
    _spell_nonfinite(buffer, cells)
    return list(cells.tolist())


def _spell_nonfinite(values: Buffer, texts: Buffer) -> None:
    texts[np.isnan(values)] = NAN
    texts[np.isposinf(values)] = INFINITY
    texts[np.isneginf(values)] = NEGATIVE_INFINITY


def _encode_integers(buffer: Buffer, exact: int) -> list[Cell]:
    if buffer.size == 0 or (int(buffer.min()) >= -exact and int(buffer.max()) <= exact):
        return list(buffer.tolist())
    cells = buffer.astype(object)
    beyond = (buffer > exact) if buffer.dtype.kind == "u" else (buffer > exact) | (buffer < -exact)
    cells[beyond] = buffer[beyond].astype(str)
    return list(cells.tolist())


def _encode_timedeltas(buffer: Buffer, exact: int) -> list[Cell]:
    counts = _encode_integers(buffer.astype(buffer.dtype.newbyteorder("=")).view(np.int64), exact)
    missing = np.flatnonzero(np.isnat(buffer))
    for index in missing.tolist():
        counts[index] = NO_TIME
    return counts


def complexes_to_text(buffer: Buffer) -> list[str]:
    """Return the texts `3+4i` of a complex buffer: the shortest that read back the same."""
    parts = _complex_parts(buffer)
    texts = np.array(parts_to_text(parts), object)
    _spell_nonfinite(parts, texts)
    shown = "\n".join([*texts, ""]).replace(".0\n", "\n").split("\n")
    plus = np.where(shows_minus(parts[1::2]), "", "+").tolist()
    return list(map("".join, zip(shown[0:-1:2], plus, shown[1::2], repeat("i"), strict=False)))


def parts_to_text(parts: Buffer) -> list[str]:
    """Return the shortest texts of parts of complex numbers, exponents as Python has them: `1e-05`, `1e+16`."""
    if parts.dtype.itemsize < 8:  # the digits are NumPy's, which changes its mind about exponents
        return [repr(float(str(part))) for part in parts]
    return list(map(repr, parts.tolist()))


def _complex_parts(buffer: Buffer) -> Buffer:
    native = np.ascontiguousarray(buffer, dtype=buffer.dtype.newbyteorder("="))
    return native.view(np.dtype(f"f{native.dtype.itemsize // 2}"))


def find_element_problem(buffer: Buffer, dtype: DType, exact: int | None = None) -> tuple[int, str] | None:
    """Return the first element of a buffer that no cell holds: its index, and why not; None if each has its cell.

    `buffer`: 1-D, of `dtype.numpy` up to byte order. `exact`: the largest integer of a generic array that the
    container keeps; None for any.
    """
    match dtype.kind:
        case "generic":
            return find_unholdable_generic(buffer, exact)
        case "datetime":
            return find_date_problem(buffer)
        case "string":
            return find_surrogate(buffer)
        case _:
            return None


def encode_generic(buffer: Buffer, exact: int | None = MOST_GENERIC) -> list[Cell]:
    """Return the elements of an object buffer as None, bool, int, float or str; NumPy scalars are unwrapped."""
    if problem := find_unholdable_generic(buffer, exact):
        raise DTypeError(f"generic element {problem[0]} {problem[1]}")
    cells = buffer.tolist()
    return cells if set(map(type, cells)) <= _PLAIN else [to_scalar(cell) for cell in cells]


def _are_held(cells: list[Cell], exact: int | None) -> bool:
    """Return whether all numbers among Python's own scalars are finite, and integers of few digits."""
    if not all(map(math.isfinite, (cell for cell in cells if type(cell) is float))):
        return False
    integers = [cell for cell in cells if type(cell) is int]
    most = 10**300 - 1 if exact is None else min(exact, 10**300 - 1)
    return not integers or -most <= min(integers) <= max(integers) <= most


def find_unholdable_generic(buffer: Buffer, exact: int | None = None) -> tuple[int, str] | None:
    """Return the first element of an object buffer that no cell holds: its index, and why not."""
    if problem := find_surrogate(buffer):
        return problem
    kinds = set(map(type, buffer.tolist()))
    if kinds <= _HELD or (kinds <= _PLAIN and _are_held(buffer.tolist(), exact)):
        return None
    for index, value in enumerate(buffer.tolist()):
        cell = to_scalar(value)
        if cell is None or isinstance(cell, (str, bool)):
            continue
        if isinstance(cell, float):
            if not np.isfinite(cell):
                return index, f"is {cell}: use None for a missing value, or float64"
        elif not isinstance(cell, int):
            reason = f"is {describe_object(cell)}: {suggest_instead(cell)}"
            return index, f"{reason} (a generic array holds None, bool, int, float and str)"
        elif exact is not None and abs(cell) > exact:
            return index, f"({describe_cell(cell)}) is beyond 2^53: use int64, uint64 or text"
        elif abs(cell) >= 10**300:
            return index, "has more than 300 digits: use text"
    return None
