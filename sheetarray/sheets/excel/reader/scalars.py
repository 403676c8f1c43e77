"""Cells of a workbook as Python scalars, and those among them that hold a word of a header."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ....cells.serials import serials_to_dates
from ....columns.words import CODES, NONE, WORDS, code_of
from ....dtypes import Positions
from ....elements import Cell
from . import cells as c

if TYPE_CHECKING:
    import polars as pl

_FEW = 2000  # cells of which plain Python is faster than the engine
_LONGEST_NUMBER = 1000  # characters
_DIGITS = re.compile("-?[0-9]{1,20}")
_DAY = re.compile("([0-9]{4,5}-[0-9]{2}-[0-9]{2})(?:T00:00:00(?:[.,]0{1,9})?)?")


def words_of(run: c.CellRun) -> tuple[Positions, list[int]]:
    """Return the indices of the cells that hold words of headers, and the codes of these words."""
    if len(run) <= _FEW:
        kinds, values = run.kinds.tolist(), run.values.to_list()
        codes = [  # most words are written as they are in `WORDS`
            (code_of(value) if (code := CODES.get(value)) is None else code) if kind == c.TEXT else NONE
            for kind, value in zip(kinds, values, strict=True)
        ]
        which = np.array([index for index, code in enumerate(codes) if code != NONE], np.int64)
        return which, [code for code in codes if code != NONE]
    texts = run.values.str.strip_chars().str.to_lowercase()
    is_word = texts.is_in(list(WORDS)).fill_null(value=False).to_numpy() & (run.kinds == c.TEXT)
    which = np.flatnonzero(is_word)
    return which, [CODES[text] for text in texts.gather(which).to_list()]


def codes_of_words(texts: list[pl.Series]) -> list[int]:
    """Return the codes of the words of headers among some texts; a word that stands several times may come once."""
    import polars as pl

    some = pl.concat(texts) if texts else pl.Series([], dtype=pl.String)
    if len(some) > _FEW:
        some = some.unique()  # most texts of tables come again and again
    kinds, places = np.full(len(some), c.TEXT, np.uint8), np.arange(len(some))
    return words_of(c.CellRun(places, places, kinds, some))[1]


def scalars(run: c.CellRun, *, from_1904: bool) -> list[Cell]:
    """Return cells as Python scalars: numbers, text and booleans; dates as ISO text, errors as their names.

    A number that a format shows as a date, and that is no date, such as a time of day, stays a number.
    """
    numeric = run.values.dtype.is_numeric()
    if numeric and ((run.kinds == c.NUMBER) | (run.kinds == c.LARGE)).all():
        return [int(value) if value.is_integer() and abs(value) <= 2.0**53 else value for value in run.values.to_list()]
    texts: list[Any] = (run.values.cast(str).str.strip_suffix(".0") if numeric else run.values).to_list()
    serials = np.flatnonzero(run.kinds == c.SERIAL)
    if len(serials):
        numbers = [_parse_number(texts[index]) for index in serials.tolist()]
        counts = [math.nan if isinstance(number, str) else number for number in numbers]  # a damaged cell may hold text
        dates = serials_to_dates(np.array(counts, float), from_1904=from_1904)
        for index, date, number in zip(serials.tolist(), dates, numbers, strict=True):
            texts[index] = number if date is None else date  # a time of day is no blank
    others = np.flatnonzero((run.kinds != c.TEXT) & (run.kinds != c.SERIAL))
    values: dict[tuple[int, str], Cell] = {}  # headers of very many arrays say the same
    for index, kind in zip(others.tolist(), run.kinds[others].tolist(), strict=True):
        cell = kind, texts[index]
        if cell not in values:
            values[cell] = scalar_of(*cell)
        texts[index] = values[cell]
    return texts


def scalar_of(kind: int, text: str) -> Cell:
    """Return a cell that is no date as a Python scalar."""
    if kind in (c.NUMBER, c.LARGE):
        return _parse_number(text)
    if kind == c.BOOLEAN:
        return text.strip() in ("1", "true")
    return None if kind == c.PENDING else text


def number_shown(kind: int, text: str, day_zero: str | None) -> int | float | None:
    """Return the number that a cell's format shows as a date or as a duration; None if it is unknown.

    `day_zero`: the date that stands for the number 0, in a workbook whose cells hold dates as such; otherwise None.
    """
    if kind in (c.SERIAL, c.DURATION):
        number = _parse_number(text)
        return number if isinstance(number, int | float) else None
    match = _DAY.fullmatch(text) if kind == c.MOMENT and day_zero is not None else None
    if match is None:
        return None
    try:
        day = np.datetime64(match[1] if len(match[1]) == len("1899-12-30") else f"+{match[1]}", "D")
        return int((day - np.datetime64(day_zero, "D")).astype(np.int64))
    except ValueError:
        return None  # no calendar has such a day


def _parse_number(text: str) -> Cell:
    if _DIGITS.fullmatch(text):
        return int(text)
    try:
        value = float(text[:_LONGEST_NUMBER])
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) <= 2.0**53 else value
