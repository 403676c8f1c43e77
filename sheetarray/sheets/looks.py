"""Looks of the columns of arrays in workbooks, whoever writes them: number formats, widths, and what is printed.

Only the layout and a few elements of each column are looked at, so that this takes next to no time beside the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from ..columns import Layout, LayoutColumn, cell_address, column_letters
from ..dtypes import Positions
from ..elements import buffer_to_typed
from ..elements.serials import DATE_CODES, shown_unit
from ..errors import quote_names, warn_caller
from .cells_together import ColumnSpan, make_cells_together
from .workbooks import EXACT_INTEGER, GENERAL, TRUTH_CODE

if TYPE_CHECKING:
    import polars as pl

MOST_DECIMALS = 6  # of numbers in a column, unless a caller chooses their format
_PLAIN_CODES = ("0", *(f"0.{'0' * count}" for count in range(1, MOST_DECIMALS + 1)))
FLOAT_CODES = (*_PLAIN_CODES, *(f"{code}E+00" for code in _PLAIN_CODES))
"""The codes of the formats of floats: with up to six decimals, and with a power of ten besides."""
GENERAL_DIGITS = 10**11  # from here on a number without a format is shown as 1.23E+11

# Elements from which the width of a column is found: the first ones, and others evenly from the whole column
_SAMPLE, _SPREAD = 20, 60
_NARROWEST, _WIDEST = 14.0, 60.0  # characters; the widest word of a header, column-major, fits into the narrowest
_BOLD = 1.15  # how many times as wide as other text bold text is
_BUTTON = 5.0  # characters beside a name that a button for a filter takes
TALLEST_PRINTED = 1000  # rows of a column that is printed: some twenty pages
SHORTENED = 50  # elements of each column that are printed if all columns are taller than `TALLEST_PRINTED`
_LONGEST_COLUMN = 255  # characters of the name of a column of an Excel Table
_MOST_RANGES = 40  # that are printed, as the reference to them may have 8,192 characters


def number_formats(pieces: Sequence[LayoutColumn], *, formats: Mapping[str, str], decimals: bool) -> list[str | None]:
    """Return the code of the number format of each column's numbers or booleans; None for the general one.

    `formats`: codes that a caller has chosen for floats and integers, by the names of arrays. `decimals`: whether other
    floats have as many decimals as they need, see `choose_formats`, as in tables and views. In the columns of arrays
    they have the general format, since a program that saves the sheet as CSV may write what is shown.
    """
    codes = [_usual_format(piece) for piece in pieces]
    floats = [place for place, piece in enumerate(pieces) if piece.dtype.kind == "float" and len(piece.buffer)]
    if floats and decimals:
        for place, code in zip(floats, choose_formats([pieces[place].buffer for place in floats]), strict=True):
            codes[place] = code
    for place, piece in enumerate(pieces if formats else ()):
        if piece.name in formats and piece.dtype.kind in ("float", "int"):
            codes[place] = None if formats[piece.name] == GENERAL else formats[piece.name]
    return codes


def _usual_format(piece: LayoutColumn) -> str | None:
    """Return the code of the format of numbers or booleans that are no floats."""
    if piece.dtype.kind == "datetime":
        unit = shown_unit(piece.buffer) if piece.serials else None
        return None if unit is None else DATE_CODES[unit]
    if piece.dtype.kind == "bool":
        return TRUTH_CODE
    if piece.dtype.kind not in ("int", "timedelta") or piece.buffer.dtype.itemsize < 8 or not len(piece.buffer):
        return None
    counts = piece.buffer if piece.dtype.kind == "int" else piece.buffer.view(np.int64)
    return "0" if max(int(counts.max()), -int(counts.min())) >= GENERAL_DIGITS else None


# Decimals of floats ------------------------------------------------------------------------------------------------

_FEWEST_SAMPLED, _MOST_SAMPLED = 16, 2**15  # elements of a column, and of all columns, from which decimals are counted
_FEWEST_DECIMALS = 2  # of floats that have more than `MOST_DECIMALS`
_SHOWN_DIGITS = 15  # that spreadsheet programs show of a number
_SMALLEST = 10.0**-3  # where no number is larger, 1.23E-05 says more than six decimals
_NOISE = {2: 2.0**-11, 4: 2.0**-24, 8: 1e-15}  # of the largest number, by the bytes of an element: what rounding leaves

Rows = np.ndarray[Any, np.dtype[np.float64]]


def choose_formats(columns: Sequence[np.ndarray[Any, Any]]) -> list[str | None]:
    """Return the code of the format of each of some columns of floats; None for the general one.

    A column is shown with as many decimals as its numbers have, if that is at most six; else with as many as tell its
    numbers from each other and from zero. Where that takes more than six, and for numbers of more than 11 digits that
    have decimals, there is a power of ten, with as many decimals before it by the same rule. Whole numbers of up to 11
    digits have the general format.

    Example:
        >>> choose_formats([np.array([0.1, 2.25]), np.array([1 / 3, 1000 / 3]), np.array([1.0, 1e-9 / 3])])
        ['0.00', '0.00', '0.00E+00']
    """
    if not columns:
        return []
    most = max(_FEWEST_SAMPLED, _MOST_SAMPLED // len(columns))
    samples = [column[:: max(1, -(-len(column) // most))] for column in columns]
    values = np.zeros((len(columns), max(map(len, samples)) + 1))  # zeros have no decimals: each row has one at least
    for row, sample in zip(values, samples, strict=True):
        row[: len(sample)] = sample
    values[~np.isfinite(values)] = 0
    values.sort(axis=1)
    largest = np.maximum(-values[:, 0], values[:, -1])
    for place, column in enumerate(columns):
        if len(column) > most:
            largest[place] = _find_largest(column)
    precision = np.array([[_NOISE[column.dtype.itemsize]] for column in columns])
    noise, fits = largest[:, None] * precision, largest < 10.0**_SHOWN_DIGITS
    plain = np.where(fits[:, None] & (np.abs(values) > noise), values, 0)
    exact, told = _count_decimals(plain, np.ones(1), noise)
    digits = np.floor(np.log10(np.maximum(largest, 1))).astype(np.int64) + 1
    is_exact = (exact <= MOST_DECIMALS) & ((exact == 0) | (digits + exact < _SHOWN_DIGITS))
    decimals = np.where(is_exact, exact, told)
    fits &= is_exact | ((largest >= _SMALLEST) & (largest < GENERAL_DIGITS))
    fits &= ~((plain != 0) & (np.rint(plain * 10.0 ** decimals[:, None]) == 0)).any(axis=1)
    is_long = (largest >= GENERAL_DIGITS) & (values == np.rint(values)).all(axis=1)
    is_general = fits & (decimals == 0) & ~is_long
    misfits = np.flatnonzero(~fits)
    if len(misfits):
        rest = values[misfits]
        powers = np.floor(np.log10(np.abs(np.where(rest == 0, 1, rest))))
        exact, told = _count_decimals(rest, 10.0 ** np.maximum(powers, -300), np.abs(rest) * precision[misfits])
        decimals[misfits] = np.where(exact <= MOST_DECIMALS, exact, told) + len(_PLAIN_CODES)
    pairs = zip(decimals.tolist(), is_general.tolist(), strict=True)
    return [None if general else FLOAT_CODES[count] for count, general in pairs]


def _count_decimals(values: Rows, units: Rows, noise: Rows) -> tuple[Positions, Positions]:
    """Return for each row of ascending numbers how many decimals they have, and how many tell them from each other.

    The first is one more than `MOST_DECIMALS` for numbers with more. `units`: of which the decimals are counted.
    `noise`: what rounding leaves of the numbers.
    """
    exact, told = (np.full(len(values), most) for most in (MOST_DECIMALS + 1, MOST_DECIMALS))
    beside = np.broadcast_to(noise, values.shape)[:, 1:]
    differ = np.diff(values, axis=1) > beside
    for count in range(MOST_DECIMALS, -1, -1):
        with np.errstate(over="ignore", invalid="ignore"):  # the largest doubles become infinite, two of them alike
            rounded = np.rint(values / units * 10.0**count) / 10.0**count * units
            is_told = ~(differ & ~(np.diff(rounded, axis=1) > beside / 2)).any(axis=1)
        is_exact = ~(np.abs(rounded - values) > noise).any(axis=1)
        exact[is_exact] = count
        told[is_told] = max(count, _FEWEST_DECIMALS)
        if not (is_exact | is_told).any():
            break
    return exact, told


def _find_largest(numbers: np.ndarray[Any, Any]) -> float:
    """Return the largest finite magnitude among some numbers; 0 if there is none."""
    with np.errstate(invalid="ignore"):
        largest = max(-float(np.fmin.reduce(numbers, initial=0)), float(np.fmax.reduce(numbers, initial=0)))
    return largest if np.isfinite(largest) else float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0))


def count_shown(code: str, numbers: np.ndarray[Any, Any]) -> int:
    """Return the number of characters that the largest of some numbers takes in a format, with a sign.

    Example:
        >>> count_shown("0.00", np.array([1.5, 123.25])), count_shown("#,##0", np.array([-1234.0]))
        (7, 6)
    """
    largest = _find_largest(numbers)
    code, power, _ = code.partition(";")[0].upper().partition("E+")
    whole, point, decimals = code.partition(".")
    digits = len(f"{largest * (100 if '%' in code else 1):.0f}") if not power else 1
    digits = max(digits, sum(map(whole.count, "0#?")) if power else whole.count("0"))
    commas = (digits - 1) // 3 if "," in whole else 0
    exponent = len("E+000") if power else 0
    return digits + commas + sum([mark not in "0#?," for mark in whole]) + len(point + decimals) + exponent + 1


# Widths --------------------------------------------------------------------------------------------------------------


def column_widths(
    pieces: Sequence[LayoutColumn], codes: Sequence[str | None], *, as_text: bool, filtered: bool = False
) -> list[float]:
    """Return the width of each column, in characters, so that its name, its header and the sampled elements fit in.

    `codes`: of the number formats of columns; None also for dates that are texts. `filtered`: whether a button for a
    filter stands beside each name.
    """
    widest = np.zeros(len(pieces), np.int64)
    first: list[ColumnSpan] = []
    spread: list[ColumnSpan] = []
    for place, (piece, code) in enumerate(zip(pieces, codes, strict=True)):
        count = len(piece.buffer)
        if code is not None and piece.dtype.kind == "datetime":
            sample = np.ascontiguousarray(piece.buffer[:_SAMPLE])
            texts = buffer_to_typed(sample, piece.dtype, exact=EXACT_INTEGER, as_text=as_text, serials=True).texts
            lengths = [] if texts is None else _count_characters(texts).tolist()
            widest[place] = max([len(code), *lengths])  # some moments are no serial dates
        elif code is not None and piece.dtype.kind in ("float", "int"):
            widest[place] = count_shown(code, piece.buffer)
        else:
            first.append(ColumnSpan(place, piece, None, 0, min(count, _SAMPLE)))
            if count > _SAMPLE and piece.dtype.kind in ("string", "generic"):  # texts differ most in length
                spread_piece = piece.every(-(-count // _SPREAD))
                spread.append(ColumnSpan(place, spread_piece, None, 0, len(spread_piece.buffer)))
    for spans in filter(None, (first, spread)):
        for cells, _, members in make_cells_together(spans, as_text=as_text):
            starts = np.cumsum([0, *(span.size for span in members[:-1])])
            places = [span.place for span in members]
            for kind in cells.kinds:
                widest[places] = np.maximum(widest[places], np.maximum.reduceat(_count_characters(kind), starts))
    return [
        min(
            max(_NARROWEST, float(round(len(piece.name) * _BOLD)) + (_BUTTON if filtered else 2.0), length + 2.0),
            _WIDEST,
        )
        for piece, length in zip(pieces, widest.tolist(), strict=True)
    ]


def _count_characters(cells: pl.Series) -> Positions:
    """Return the number of characters of each cell, written as text."""
    import polars as pl

    characters: Positions = cells.cast(pl.String).str.len_chars().fill_null(0).to_numpy().astype(np.int64)
    return characters


# Printing ------------------------------------------------------------------------------------------------------


def printed_ranges(layout: Layout) -> list[str]:
    """Return the absolute ranges that are printed of a sheet taller than `TALLEST_PRINTED` rows.

    Columns taller than `TALLEST_PRINTED` rows are not printed, as nobody needs thousands of pages. If all columns are
    that tall, their first rows are printed.
    """
    ranges = []
    heights = [layout.named + piece.height for piece in layout.pieces]
    for printed, run in groupby(enumerate(heights), key=lambda column: column[1] <= TALLEST_PRINTED):
        columns = list(run)
        if printed:
            ranges.append(_absolute_range(columns[0][0], columns[-1][0], max(height for _, height in columns)))
    if not ranges:
        ranges = [_absolute_range(0, len(heights) - 1, min(layout.zone_height + SHORTENED, layout.height))]
    return ranges[:_MOST_RANGES]


def _absolute_range(first: int, last: int, height: int) -> str:
    """Return the range of some columns, counted from 0, down to a row, counted from 1."""
    return f"${column_letters(first)}$1:${column_letters(last)}${height}"


def filtered_columns(layout: Layout) -> tuple[str, ...]:
    """Return the names of the columns of an Excel Table; no names for a table without rows, which Excel has not.

    Warns:
        SheetArrayWarning: names that no Excel Table can have.
    """
    names = [piece.name for piece in layout.pieces]
    counts = Counter(map(str.casefold, names))
    alike = [name for name in names if counts[name.casefold()] > 1 or len(name) > _LONGEST_COLUMN]
    if alike:
        warn_caller(
            f"{quote_names(alike)}: written as cells without an Excel Table, whose columns have names of at most "
            f"{_LONGEST_COLUMN} characters that differ in more than upper and lower case"
        )
    return tuple(names) if layout.height > 1 and not alike else ()


def cells_of(layout: Layout, corner: tuple[int, int]) -> str:
    """Return the range of a layout from a corner on."""
    last = cell_address(corner[0] + layout.height - 1, corner[1] + len(layout.pieces) - 1)
    return f"{cell_address(*corner)}:{last}"
