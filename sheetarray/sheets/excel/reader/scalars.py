"""Cells as Python scalars, and those among them that hold a word of a header."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....columns.words import CODES, NONE, WordCodes, code_of
from ....dtypes import Positions
from ....elements import Cell
from ....elements.serials import serials_to_dates

if TYPE_CHECKING:
    import polars as pl
from .cells import BOOLEAN, DURATION, LARGE, MOMENT, NUMBER, PENDING, ROUNDED, SERIAL, TEXT, CellRun, are_exact_doubles

_FEW = 2**11  # cells of which plain Python is faster than the engine
_LONGEST_NUMBER = 1000  # characters
_DIGITS = re.compile("-?[0-9]{1,20}")
_DAY_ZERO = "1899-12-30"  # the date that stands for the number 0, where cells hold dates as such
_DAY = re.compile("([0-9]{4,5}-[0-9]{2}-[0-9]{2})(?:T00:00:00(?:[.,]0{1,9})?)?")


def words_of(run: CellRun) -> tuple[Positions, Positions, WordCodes]:
    """Return the rows and the columns of the cells that hold words of headers, and the codes of these words."""
    texts = run.written()
    if texts is None:
        codes = np.full(len(run), NONE, np.uint8)
    elif len(run) <= _FEW:
        kinds, values = run.kinds.tolist(), texts.to_list()
        codes = np.array(
            [  # most words are written as they are in `WORDS`
                (code_of(value) if (code := CODES.get(value)) is None else code) if kind == TEXT else NONE
                for kind, value in zip(kinds, values, strict=True)
            ],
            np.uint8,
        )
    else:
        coded = _codes_of_many(texts)
        codes = np.where(run.kinds == TEXT, coded, NONE).astype(np.uint8)
    which = np.flatnonzero(codes != NONE)
    return run.rows[which], run.columns[which], codes[which]


def _codes_of_many(texts: pl.Series) -> WordCodes:
    """Return the code of each text; a text that stands many times is looked at once."""
    import polars as pl

    distinct = texts.unique()
    if 2 * len(distinct) > len(texts):
        bare = texts.str.strip_chars().str.to_lowercase()
        return bare.replace_strict(CODES, default=NONE, return_dtype=pl.UInt8).fill_null(NONE).to_numpy()
    codes = [NONE if text is None else code_of(text) for text in distinct.to_list()]
    if all(code == NONE for code in codes):
        return np.full(len(texts), NONE, np.uint8)
    return texts.replace_strict(distinct, codes, return_dtype=pl.UInt8).to_numpy()


def codes_of_words(texts: list[pl.Series]) -> list[int]:
    """Return the codes of the words of headers among some texts; a word that stands several times may come once."""
    import polars as pl

    distinct = pl.concat(texts) if texts else pl.Series([], dtype=pl.String)
    if len(distinct) > _FEW:
        distinct = distinct.unique()  # most texts of tables come again and again
    kinds, places = np.full(len(distinct), TEXT, np.uint8), np.arange(len(distinct))
    return words_of(CellRun(places, places, kinds, np.full(len(places), np.nan), distinct))[2].tolist()


def scalars(run: CellRun, *, from_1904: bool) -> list[Cell]:
    """Return cells as Python scalars: numbers, text and booleans; dates as ISO text, errors as their names.

    A number that a format shows as a date, and that is not a date, such as a time of day, stays a number.
    """
    is_number = ((run.kinds == NUMBER) | (run.kinds == LARGE)) & are_exact_doubles(run.numbers)
    if not is_number.any():
        return _parse_texts(run, from_1904=from_1904)
    cells, numbers = np.empty(len(run), object), run.numbers[is_number]
    cells[is_number] = numbers
    is_whole = numbers == np.floor(numbers)
    cells[np.flatnonzero(is_number)[is_whole]] = numbers[is_whole].astype(np.int64)
    if not is_number.all():
        cells[~is_number] = _parse_texts(run.select(~is_number), from_1904=from_1904)
    return cells.tolist()


def _parse_texts(run: CellRun, *, from_1904: bool) -> list[Cell]:
    """Return cells, of which each text says all, as Python scalars."""
    texts: list[Any] = run.texts().to_list()
    serials = np.flatnonzero(run.kinds == SERIAL)
    if len(serials):
        _put_dates(texts, serials.tolist(), from_1904=from_1904)
    not_text = np.flatnonzero((run.kinds != TEXT) & (run.kinds != SERIAL))
    values: dict[tuple[int, str], Cell] = {}  # headers of very many arrays say the same
    for index, kind in zip(not_text.tolist(), run.kinds[not_text].tolist(), strict=True):
        text = texts[index]
        if (kind, text) not in values:
            value: Cell = None if kind == PENDING else text
            if kind in (NUMBER, LARGE):
                value = _parse_number(text)
            elif kind == BOOLEAN:
                value = text.strip() in ("1", "true")
            values[kind, text] = value
        texts[index] = values[kind, text]
    return texts


def _put_dates(texts: list[Any], serials: Sequence[int], *, from_1904: bool) -> None:
    """Put dates in the place of the numbers that formats show as dates, given the indices of these."""
    shown = [_parse_number(texts[index]) for index in serials]
    counts = [math.nan if isinstance(number, str) else number for number in shown]  # a damaged cell may hold text
    dates = serials_to_dates(np.array(counts, float), from_1904=from_1904)
    for index, date, number in zip(serials, dates, shown, strict=True):
        texts[index] = number if date is None else date  # a time of day is no blank


def number_shown(kind: int, text: str) -> int | float | None:
    """Return the number that a cell's format shows as a date or as a duration; None if it is unknown."""
    if kind in (SERIAL, DURATION):
        number = _parse_number(text)
        return number if isinstance(number, int | float) else None
    match = _DAY.fullmatch(text) if kind == MOMENT else None
    if match is None:
        return None
    try:
        day = np.datetime64(match[1] if len(match[1]) == len(_DAY_ZERO) else f"+{match[1]}", "D")
        return int((day - np.datetime64(_DAY_ZERO, "D")).astype(np.int64))
    except ValueError:
        return None  # no calendar has such a day


def _parse_number(text: str) -> Cell:
    if _DIGITS.fullmatch(text):
        return int(text)
    try:
        value = float(text[:_LONGEST_NUMBER])
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) <= ROUNDED else value
