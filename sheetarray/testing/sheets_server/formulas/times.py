"""Functions of dates and times of day, which are numbers: days since 30 December 1899."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta

from ..moments import EPOCH, serial
from .mathematics import Function
from .operands import Arguments, Operand, fail, number, whole


def _moment(arguments: Arguments) -> datetime:
    try:
        return EPOCH + timedelta(seconds=round(number(arguments[0]) * 86_400))
    except OverflowError:
        fail("#NUM!", "The number is no date.")


def _date(arguments: Arguments) -> Operand:
    """Months and days may lie outside their year and month, as they do in the service."""
    year, month, day = (whole(argument) for argument in arguments)
    year, month = year + (1900 if 0 <= year < 1900 else 0) + (month - 1) // 12, (month - 1) % 12 + 1
    try:
        return serial(date(year, month, 1) + timedelta(days=day - 1))
    except (ValueError, OverflowError):
        fail("#NUM!", "There is no such date.")


def _time(arguments: Arguments) -> Operand:
    hours, minutes, seconds = (whole(argument) for argument in arguments)
    return ((hours * 3600 + minutes * 60 + seconds) % 86_400) / 86_400


def _part(select: Callable[[datetime], int]) -> Function:
    return 1, 1, lambda given: float(select(_moment(given)))


TIMES: dict[str, Function] = {
    "DATE": (3, 3, _date),
    "DAY": _part(lambda moment: moment.day),
    "HOUR": _part(lambda moment: moment.hour),
    "MINUTE": _part(lambda moment: moment.minute),
    "MONTH": _part(lambda moment: moment.month),
    "SECOND": _part(lambda moment: moment.second),
    "TIME": (3, 3, _time),
    "WEEKDAY": _part(lambda moment: moment.isoweekday() % 7 + 1),
    "YEAR": _part(lambda moment: moment.year),
}
