"""Functions of dates and times of day, which are numbers: days since 30 December 1899."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from datetime import date, datetime, timedelta

from ..moments import EPOCH, serial
from ..typed_dates import typed_date, typed_moment, typed_time
from .mathematics import Function
from .operands import Arguments, FormulaError, Operand, fail, number, text, values, whole


def _moment(arguments: Arguments) -> datetime:
    return _moment_of(arguments[0])


def _moment_of(operand: Operand) -> datetime:
    try:
        return EPOCH + timedelta(seconds=round(number(operand) * 86_400))
    except OverflowError:
        fail("#NUM!", "The number is no date.")


def _date(arguments: Arguments) -> Operand:
    """Return a date; months and days may lie outside their year and month, as they do in the service."""
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


def _weekday(arguments: Arguments) -> Operand:
    """Return the day of the week: Sunday is 1; of the second type Monday is, of the third it is 0."""
    kind = whole(arguments[1]) if len(arguments) > 1 else 1
    day = _moment(arguments).isoweekday()
    days = {1: day % 7 + 1, 2: day, 3: day - 1}
    return float(days[kind]) if kind in days else fail("#NUM!", f"Function WEEKDAY parameter 2 value is {kind}.")


def _later_month(*, at_end: bool) -> Callable[[Arguments], Operand]:
    def work(arguments: Arguments) -> Operand:
        start = _moment(arguments)
        months = start.year * 12 + start.month - 1 + whole(arguments[1])
        year, month = months // 12, months % 12 + 1
        if not 1 <= year <= 9999:
            fail("#NUM!", "There is no such date.")
        last = monthrange(year, month)[1]
        return serial(date(year, month, last if at_end else min(start.day, last)))

    return work


def _difference(arguments: Arguments) -> Operand:
    start, end = _moment_of(arguments[0]), _moment_of(arguments[1])
    unit = text(arguments[2]).upper()
    if end < start:
        fail("#NUM!", "Function DATEDIF parameter 1 must not be after parameter 2.")
    months = (end.year - start.year) * 12 + end.month - start.month - (end.day < start.day)
    days = {"D": (end - start).days, "M": months, "Y": months // 12, "YM": months % 12}
    if unit in days:
        return float(days[unit])
    if unit in ("MD", "YD"):
        since = _later_month(at_end=False)([serial(start), float(months if unit == "MD" else months // 12 * 12)])
        return float((end - _moment_of(since)).days)
    return fail("#NUM!", f"Function DATEDIF parameter 3 value '{unit}' is unknown.")


def _holidays(arguments: Arguments) -> set[date]:
    days = set()
    for value in values(arguments[2:3]):
        if isinstance(value, FormulaError):
            raise value
        days.add(_moment_of(value).date())
    return days


def _working_days(arguments: Arguments) -> Operand:
    start, end = _moment_of(arguments[0]).date(), _moment_of(arguments[1]).date()
    sign, (first, last) = (1, (start, end)) if start <= end else (-1, (end, start))
    weeks, left = divmod((last - first).days + 1, 7)
    count = weeks * 5 + sum((first.weekday() + day) % 7 < 5 for day in range(left))
    count -= sum(first <= day <= last and day.weekday() < 5 for day in _holidays(arguments))
    return float(sign * count)


def _after_working_days(arguments: Arguments) -> Operand:
    day, count, holidays = _moment_of(arguments[0]).date(), whole(arguments[1]), _holidays(arguments)
    if abs(count) > 100_000:
        fail("#NUM!", "There is no such date.")
    step = timedelta(days=1 if count > 0 else -1)
    left = abs(count)
    while left:
        day += step
        left -= day.weekday() < 5 and day not in holidays
    return serial(day)


def _value_of(function: str, *readings: Callable[[str], object], day: bool) -> Function:
    """Return a function that reads a text as a date (`day`), or as a time of day."""

    def work(arguments: Arguments) -> Operand:
        shown = text(arguments[0]).strip()
        for reading in readings:
            typed = reading(shown)
            if isinstance(typed, tuple):
                return float(typed[0] // 1 if day else typed[0] % 1)
        return fail("#VALUE!", f"{function} parameter '{shown}' cannot be parsed to {'date' if day else 'time'}.")

    return 1, 1, work


def _week(arguments: Arguments) -> Operand:
    """Return the number of a week; the first of January lies in the first, which begins on Sunday, or on Monday."""
    kind = whole(arguments[1]) if len(arguments) > 1 else 1
    if kind not in (1, 2):
        fail("#NUM!", f"Function WEEKNUM parameter 2 value is {kind}.")
    day = _moment(arguments)
    shift = datetime(day.year, 1, 1).isoweekday() % 7 if kind == 1 else datetime(day.year, 1, 1).weekday()
    return float((day.timetuple().tm_yday - 1 + shift) // 7 + 1)


TIMES: dict[str, Function] = {
    "DATE": (3, 3, _date),
    "DATEDIF": (3, 3, _difference),
    "DATEVALUE": _value_of("DATEVALUE", typed_date, typed_moment, day=True),
    "DAY": _part(lambda moment: moment.day),
    "DAYS": (2, 2, lambda given: float((_moment_of(given[0]).date() - _moment_of(given[1]).date()).days)),
    "EDATE": (2, 2, _later_month(at_end=False)),
    "EOMONTH": (2, 2, _later_month(at_end=True)),
    "HOUR": _part(lambda moment: moment.hour),
    "ISOWEEKNUM": _part(lambda moment: moment.isocalendar()[1]),
    "MINUTE": _part(lambda moment: moment.minute),
    "MONTH": _part(lambda moment: moment.month),
    "NETWORKDAYS": (2, 3, _working_days),
    "NOW": (0, 0, lambda _: serial(datetime.now())),
    "SECOND": _part(lambda moment: moment.second),
    "TIME": (3, 3, _time),
    "TIMEVALUE": _value_of("TIMEVALUE", typed_time, typed_moment, day=False),
    "TODAY": (0, 0, lambda _: serial(date.today())),
    "TO_DATE": (1, 1, lambda given: number(given[0])),
    "WEEKDAY": (1, 2, _weekday),
    "WEEKNUM": (1, 2, _week),
    "WORKDAY": (2, 3, _after_working_days),
    "YEAR": _part(lambda moment: moment.year),
}
