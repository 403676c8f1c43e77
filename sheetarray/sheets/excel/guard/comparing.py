"""The rules by which an element counts as written, or as only rounded by a program, for each kind of dtype.

An element gets the bits of its snapshot where one of these holds, and in no other case; a tolerance would take small
edits for rounding.

    dtype                  the cell may be
    ---------------------  ------------------------------------------------------------------------------------------
    every                  equal, to the bit
    float64                the element rounded to 15, 16 or 17 digits, half up on the shortest text or half to even;
                           0 for -0.0; any NaN for a NaN; 16 digits first, then 15, only where no element went
                           straight to other 15 digits, and three of it show it, or of all arrays; below
                           1e-5 rounded to 20 decimals, as in LibreOffice's .ods, only where no element of the
                           array has more
    float32, float16       0 for -0.0; any NaN for a NaN (9 digits give every one back, so rounding changes none)
    complex                each part as a float of its size
    integers               the element as a double, or that double rounded as a float64: a program that took text of
                           more than 15 digits for a number
    bool                   equal
    datetime64             the element at whole milliseconds or hundredths of a second (down, or to the nearest): text
    timedelta64            made a date, or LibreOffice's .ods; only where no element of the array is finer than that
    string                 the text with line ends, blanks or control characters that a program does not keep, each way
                           only where no text of the array stands otherwise (`text_changes` has the table)
    generic                each element as the dtype that it would have by itself; an integer for a whole float, and a
                           blank for text of blanks

What a program does, it does to every element of an array: so a rule that an edit by hand could look like (dates,
blanks) counts only where all elements bear it out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from ....dtypes import Buffer, DType, Mask
from ....elements import Unreadable, to_scalar
from .rounding import decimals_of, find_chains, mark_chains, mark_roundings, mark_twenty_decimals, roundings_of
from .text_changes import mark_texts

_EXACT = 2**53  # integers up to here are doubles
_NEAR = 1e-14  # relatively; no rounding of an integer leads further
_NUMERAL = re.compile(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?")
_ENDLESS = re.compile("[+-]?inf(inity)?", re.IGNORECASE)
_COARSE = {"ms": 10**3, "10 ms": 10**2}  # steps of a second that programs keep


def mark_kept(written: Buffer, cells: Buffer, dtype: DType, chains: Callable[[], bool] | None = None) -> Mask:
    """Return a mask of the elements that stand as they were written, or only rounded.

    `chains`: tells whether all arrays together show that two programs rounded in turn.

    Example:
        >>> from sheetarray.dtypes import from_name
        >>> mark_kept(np.array([0.1 + 0.2, 1.0]), np.array([0.3, 1.00000000000001]), from_name("float64")).tolist()
        [True, False]
    """
    match dtype.kind:
        case "float":
            return _mark_floats(written, cells, chains)
        case "complex":
            parts = _mark_floats(_parts_of(written), _parts_of(cells), chains)
            return np.asarray(parts.reshape(-1, 2).all(axis=1))
        case "int":
            return _mark_integers(written, cells)
        case "datetime" | "timedelta":
            return _mark_moments(written, cells)
        case "string":
            return mark_texts(list(map(str, written.tolist())), list(map(str, cells.tolist())))
        case "generic":
            return _mark_objects(written, cells)
        case "bool":
            return np.asarray(written == cells)


def count_chains(written: Buffer, cells: Buffer) -> int | None:
    """Return the number of elements that show two programs rounding in turn; None if one shows that none did."""
    if written.dtype.name not in ("float64", "complex128"):
        return 0
    chains = find_chains(_parts_of(written), _parts_of(cells))
    return None if chains is None else len(chains)


def _parts_of(buffer: Buffer) -> Buffer:
    """Return floats as they are, and complex numbers as the floats that they are made of."""
    buffer = np.ascontiguousarray(buffer)
    return buffer.view(f"f{buffer.dtype.itemsize // 2}") if buffer.dtype.kind == "c" else buffer


def _mark_floats(written: Buffer, cells: Buffer, chains: Callable[[], bool] | None) -> Mask:
    if written.dtype.itemsize == 8:
        written, cells = np.ascontiguousarray(written), np.ascontiguousarray(cells)
        marks = mark_chains(written, cells, mark_roundings(written, cells), chains)
        return mark_twenty_decimals(written, cells, marks)
    return np.asarray((written == cells) | (np.isnan(written) & np.isnan(cells)))


def _mark_integers(written: Buffer, cells: Buffer) -> Mask:
    marks: Mask = np.asarray(written == cells)
    if written.dtype.itemsize < 8:
        return marks
    places = np.flatnonzero(~marks & ((written > _EXACT // 10) | (written < -(_EXACT // 10))))
    near = (
        np.abs(cells[places].astype(np.float64) - written[places].astype(np.float64))
        <= _NEAR * np.abs(written[places].astype(np.float64)) + 1024
    )
    for place in places[near].tolist():
        marks[place] = is_rounded_integer(int(written[place]), int(cells[place]))
    return marks


def is_rounded_integer(written: int, cell: float) -> bool:
    """Return whether a number is what a program that keeps integers as doubles leaves of an integer."""
    if abs(written) >= 2**1023:
        return False
    return any(cell == int(number) for number in roundings_of(float(written)) if np.isfinite(number))


def is_beyond(written: float, cell: object) -> bool:
    """Return whether the cell of an element is that element rounded to a number beyond its dtype.

    Where one program rounds the largest doubles to what no double is, the next one makes number cells of them that hold
    INF, as nobody can type; or blanks, which stay errors, as anybody may have emptied them.
    """
    if isinstance(cell, Unreadable):
        endless = isinstance(written, float) and np.isfinite(written) and _ENDLESS.fullmatch(cell.numeral)
        return bool(endless) and float(cell.numeral) in roundings_of(written)
    text = str(cell).strip()
    if not isinstance(cell, (str, int, float)) or isinstance(cell, bool) or not _NUMERAL.fullmatch(text):
        return False
    number = Decimal(text)
    if isinstance(written, int):
        return number == number.to_integral_value() and is_rounded_integer(written, int(number))
    return bool(np.isfinite(written)) and number in decimals_of(written)


# Dates -------------------------------------------------------------------------------------------------------


def _mark_moments(written: Buffer, cells: Buffer) -> Mask:
    """Return a mask of the dates or durations that are equal, or that a program rounded to milliseconds or 10 ms."""
    before, now = written.view(np.int64), cells.view(np.int64)
    marks: Mask = before == now
    missing = np.isnat(written) | np.isnat(cells)
    if marks.all() or (second := _units_of(written)) is None:
        return marks
    for steps in _COARSE.values():
        if second % steps or second == steps:
            continue
        step = second // steps
        fine = ~missing & (now % step != 0)
        if fine.any():  # the program did not round to this
            continue
        down = before // step * step
        left = before - down
        near = [down + step * (left > step // 2), down + step * (left >= (step + 1) // 2)]
        for rounded in (down, *near):
            marks |= ~missing & (rounded == now)
        up_to_zero = down + step * ((before < 0) & (left != 0))
        marks |= ~missing & (up_to_zero == now)
    return marks


def _units_of(moments: Buffer) -> int | None:
    """Return the number of units in a second; None if it is no whole number."""
    unit, count = np.datetime_data(moments.dtype)
    powers = {"s": 0, "ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15, "as": 18}
    return 10 ** powers[unit] // count if unit in powers and not 10 ** powers[unit] % count else None


# Objects -----------------------------------------------------------------------------------------------------


def _mark_objects(written: Buffer, cells: Buffer) -> Mask:
    pairs = zip(map(to_scalar, written.tolist()), map(to_scalar, cells.tolist()), strict=True)
    marks: Mask = np.fromiter((_is_kept(before, now) for before, now in pairs), np.bool_, len(cells))
    texts = [index for index in np.flatnonzero(~marks).tolist() if isinstance(to_scalar(written[index]), str)]
    texts = [index for index in texts if cells[index] is None or isinstance(to_scalar(cells[index]), str)]
    if texts:
        others = [index for index in np.flatnonzero(marks).tolist() if isinstance(to_scalar(cells[index]), str)]
        places = [*texts, *others]
        before = [str(written[index]) for index in places]
        now = ["" if cells[index] is None else str(cells[index]) for index in places]
        marks[places] = mark_texts(before, now)
    return marks


def _is_kept(before: Any, now: Any) -> bool:
    if isinstance(before, bool) or isinstance(now, bool) or before is None or isinstance(before, str):
        return type(before) is type(now) and bool(before == now)
    if not isinstance(now, (int, float)):
        return False
    if isinstance(before, int):
        return before == now or (abs(before) > _EXACT // 10 and is_rounded_integer(before, now))
    if before != before or now != now:
        return before != before and now != now
    return now in roundings_of(before) if np.isfinite(before) else now == before
