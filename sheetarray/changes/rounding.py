"""Finds the elements that are as they were written, or only rounded by a program that saved the file.

An element counts as kept where one of these holds, and in no other case; a tolerance would take small edits for
rounding.

    dtype                  the cell may be
    ---------------------  ------------------------------------------------------------------------------------------
    every                  equal, to the bit
    float64                the element rounded to 15, 16 or 17 digits, half up on the shortest text or half to even;
                           0 for -0.0; any NaN for a NaN; 16 digits first, then 15, only where no element of the array
                           went straight to other 15 digits; below 1e-5 rounded to 20 decimals, as in LibreOffice's
                           .ods, only where no element of the array has more
    float32, float16       0 for -0.0; any NaN for a NaN (9 digits give every one back, so rounding changes none)
    complex                each part as a float of its size
    integers               the element as a double, or that double rounded as a float64: a program that took text of
                           more than 15 digits for a number
    bool                   equal
    datetime64             the element at whole milliseconds or hundredths of a second (down, or to the nearest): text
    timedelta64            made a date, or LibreOffice's .ods; only where no element of the array is finer than that
    string                 the text after changes that a program makes to all texts alike (`_TEXT_CHANGES`), each only
                           where no text of the array would still be changed by it
    generic                each element as the dtype that it would have by itself; an integer for a whole float, and a
                           blank for text of blanks

What a program does, it does to every element of an array: so a rule that an edit by hand could look like (dates,
blanks) counts only where all elements bear it out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import product
from typing import Any

import numpy as np

from ..dtypes import Buffer, DType, Mask
from ..elements import Unreadable, to_scalar
from ..loops import Doubles, round_doubles
from .formulas import Formula

_EXACT = 2**53  # integers up to here are doubles
_NUMERAL = re.compile(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?")
_ENDLESS = re.compile("[+-]?inf(inity)?", re.IGNORECASE)
_COARSE = (10**3, 10**2)  # steps of a second that programs keep


def mark_kept(written: Buffer, cells: Buffer, dtype: DType) -> Mask:
    """Return a mask of the elements that are as they were written, or only rounded.

    Example:
        >>> from sheetarray.dtypes import from_name
        >>> mark_kept(np.array([0.1 + 0.2, 1.0]), np.array([0.3, 1.00000000000001]), from_name("float64")).tolist()
        [True, False]
    """
    match dtype.kind:
        case "float":
            return _mark_floats(written, cells)
        case "complex":
            part = f"f{dtype.numpy.itemsize // 2}"
            parts = _mark_floats(np.ascontiguousarray(written).view(part), np.ascontiguousarray(cells).view(part))
            return np.asarray(parts.reshape(-1, 2).all(axis=1))
        case "int":
            return _mark_integers(written, cells)
        case "datetime" | "timedelta":
            return _mark_moments(written, cells)
        case "string":
            return _mark_texts(list(map(str, written.tolist())), list(map(str, cells.tolist())))
        case "generic":
            return _mark_objects(written, cells)
        case "bool":
            return np.asarray(written == cells)


NEAR = 1.2e-14
"""The greatest relative distance between a number and any rounding of it to 15 digits or more, also once and again"""
_SMALL, _WITH_EXPONENT = 1e-5, 1e-14  # numbers between them LibreOffice writes into .ods with 20 decimals
_UNIT = Decimal("1e-20")
_LEAST = 1e-300  # smaller doubles have fewer digits, so that their relative distance says nothing
WAYS = ((15, True), (15, False), (16, False), (16, True))  # digits, and whether a tie goes up; the likeliest first
_HALF_UP = {digits: Context(prec=digits, rounding=ROUND_HALF_UP) for digits in (15, 16)}


def decimals_of(number: float) -> set[Decimal]:
    """Return a finite double as programs round it, to 15 or 16 digits; the result may be too large for a double."""
    exact = Decimal(repr(number))
    even = {Decimal(f"{number:.14e}"), Decimal(f"{number:.15e}")}
    return even | {context.plus(exact) for context in _HALF_UP.values()}


def roundings_of(number: float) -> set[float]:
    """Return the doubles that programs make of a finite double when they round it to 15, 16 or 17 digits.

    Example:
        >>> sorted(roundings_of(0.1 + 0.2))
        [0.3, 0.30000000000000004]
    """
    return {number, *map(float, decimals_of(number))}


def _mark_floats(numbers: Doubles, cells: Doubles) -> Mask:
    numbers, cells = np.ascontiguousarray(numbers), np.ascontiguousarray(cells)
    marks: Mask = (numbers == cells) | (np.isnan(numbers) & np.isnan(cells))
    if numbers.dtype.itemsize < 8:
        return marks
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(cells - numbers) <= NEAR * np.abs(numbers)
        near |= np.isfinite(numbers) & ((np.abs(numbers) < _LEAST) | np.isinf(cells))
    places = np.flatnonzero(near & ~marks)
    for digits, half_up in WAYS:
        if len(places):
            is_so = round_doubles(numbers[places], digits, half_up=half_up) == cells[places]
            marks[places[is_so]] = True
            places = places[~is_so]
    if len(places):
        _mark_rounded_twice(numbers, cells, marks)
    _mark_twenty_decimals(numbers, cells, marks)
    return marks


def _mark_rounded_twice(numbers: Doubles, cells: Doubles, marks: Mask) -> None:
    """Mark the cells whose numbers two programs have rounded, one to 16 digits and the next to 15.

    For a few numbers in a hundred, that comes to another last digit than rounding to 15 digits at once. The programs
    have rounded all numbers: so cells are marked only if no cell shows that it was rounded at once.
    """
    places = np.flatnonzero((numbers != cells) & np.isfinite(numbers))
    straight = round_doubles(numbers[places], 15, half_up=True)
    twice = round_doubles(round_doubles(numbers[places], 16, half_up=False), 15, half_up=True)
    if not ((straight != twice) & (straight == cells[places])).any():
        marks[places[twice == cells[places]]] = True


def _mark_twenty_decimals(numbers: Doubles, cells: Doubles, marks: Mask) -> None:
    """Mark small cells that are their numbers rounded to 20 decimals, unless any small cell has more decimals."""
    with np.errstate(invalid="ignore"):
        small = (np.abs(cells) < _SMALL) & ((np.abs(cells) >= _WITH_EXPONENT) | (cells == 0))
        places = np.flatnonzero(small & ~marks & (np.abs(numbers) < _SMALL))
    if len(places) and all(float(f"{round(number * 1e20)}e-20") == number for number in cells[small].tolist()):
        for place in places.tolist():
            exact = Decimal(repr(float(numbers[place])))
            rounded = (digits.quantize(_UNIT, ROUND_HALF_UP) for digits in (exact, _HALF_UP[15].plus(exact)))
            marks[place] = float(cells[place]) in map(float, rounded)


def _mark_integers(written: Buffer, cells: Buffer) -> Mask:
    marks: Mask = np.asarray(written == cells)
    if written.dtype.itemsize == 8:
        large = (written > _EXACT // 10) | (written < -(_EXACT // 10))
        before, now = written.astype(np.float64), cells.astype(np.float64)
        near = np.abs(now - before) <= NEAR * np.abs(before) + 1024
        for place in np.flatnonzero(~marks & large & near).tolist():
            marks[place] = _is_rounded_integer(int(written[place]), int(cells[place]))
    return marks


def _is_rounded_integer(written: int, cell: float) -> bool:
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
        return number == number.to_integral_value() and _is_rounded_integer(written, int(number))
    return bool(np.isfinite(written)) and number in decimals_of(written)


def _mark_moments(written: Buffer, cells: Buffer) -> Mask:
    """Return a mask of the dates or durations that are equal, or that a program rounded to milliseconds or 10 ms."""
    before, now = written.view(np.int64), cells.view(np.int64)
    marks: Mask = before == now
    missing = np.isnat(written) | np.isnat(cells)
    unit, count = np.datetime_data(written.dtype)
    powers = {"s": 0, "ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15, "as": 18}
    if marks.all() or unit not in powers or 10 ** powers[unit] % count:
        return marks
    second = 10 ** powers[unit] // count
    for steps in _COARSE:
        step = second // steps
        if second % steps or second == steps or (~missing & (now % step != 0)).any():  # the program did not round so
            continue
        down = before // step * step
        left = before - down
        up_to_zero = down + step * ((before < 0) & (left != 0))
        for rounded in (down, down + step * (left > step // 2), down + step * (left >= (step + 1) // 2), up_to_zero):
            marks |= ~missing & (rounded == now)
    return marks


_BLANKS = re.compile("[ \t\n\r]+")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_CHANGEABLE = re.compile("[\x00-\x1f\x7f]|^ |  | $|_x[0-9A-Fa-f]{4}_")  # texts without this stay as they are
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f]")
_CONTROL_BUT_RETURN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")

_TEXT_CHANGES: tuple[Callable[[str], str], ...] = (
    lambda text: _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text),  # what looks like an escape is its character
    lambda text: text.replace("\r\n", "\n"),
    lambda text: text.replace("\r", "\n"),
    lambda text: text.replace("\r", " "),
    lambda text: _CONTROL.sub(lambda match: f"_x{ord(match[0]):04x}_", text),
    lambda text: _CONTROL_BUT_RETURN.sub("", text),
    lambda text: text.replace("\x7f", ""),
    lambda text: text.strip(" \t\n\r"),
    lambda text: text if text.strip(" \t\n") else "",  # blanks alone are left out
    lambda text: _BLANKS.sub(" ", text),
)
"""What programs do to texts, in the order in which they do it"""


def _mark_texts(written: Sequence[str], cells: Sequence[str]) -> Mask:
    """Return a mask of the texts that are as written, or differ only by changes that a program makes to all texts."""
    marks: Mask = np.fromiter((a == b for a, b in zip(written, cells, strict=True)), np.bool_, len(cells))
    differing = np.flatnonzero(~marks).tolist()
    if not any(_CHANGEABLE.search(written[index]) for index in differing):
        return marks
    changes = [change for change in _TEXT_CHANGES if all(change(text) == text for text in cells)]
    changes = [change for change in changes if any(change(written[index]) != written[index] for index in differing)]
    for choice in sorted(product((False, True), repeat=len(changes)), key=sum)[1:]:
        chosen = [change for change, wants in zip(changes, choice, strict=True) if wants]
        for index in differing:
            text = written[index]
            for change in chosen:
                text = change(text)
            marks[index] = text == cells[index]
        differing = [index for index in differing if not marks[index]]
        if not differing:
            break
    return marks


def _mark_objects(written: Buffer, cells: Buffer) -> Mask:
    before, now = (list(map(to_scalar, buffer.tolist())) for buffer in (written, cells))
    marks: Mask = np.fromiter(map(_is_kept, before, now), np.bool_, len(cells))
    texts = [index for index in np.flatnonzero(~marks).tolist() if isinstance(before[index], str)]
    texts = [index for index in texts if now[index] is None or isinstance(now[index], str)]
    if texts:
        places = [*texts, *(index for index in np.flatnonzero(marks).tolist() if isinstance(now[index], str))]
        marks[places] = _mark_texts([str(before[i]) for i in places], [str(now[i] or "") for i in places])
    return marks


def _is_kept(before: Any, now: Any) -> bool:
    if isinstance(before, Formula) or isinstance(now, Formula):
        return bool(before == now)
    if isinstance(before, bool) or isinstance(now, bool) or before is None or isinstance(before, str):
        return type(before) is type(now) and bool(before == now)
    if not isinstance(now, (int, float)):
        return False
    if isinstance(before, int):
        return before == now or (abs(before) > _EXACT // 10 and _is_rounded_integer(before, now))
    if before != before or now != now:
        return before != before and now != now
    return now in roundings_of(before) if np.isfinite(before) else now == before
