"""The workbook of what a caller writes to: a workbook or worksheet of openpyxl or XlsxWriter, or a writer of pandas."""

from __future__ import annotations

from typing import Any, TypeAlias

from ...errors import DTypeError
from .openpyxl_book import OpenpyxlBook
from .xlsxwriter_book import XlsxWriterBook

Book: TypeAlias = OpenpyxlBook | XlsxWriterBook


def open_book(target: Any, *, rounds: bool) -> Book:
    """Return the workbook of an object.

    `rounds`: whether a number of 17 digits is rounded where the library has only 16 for it, and not text.

    Raises:
        DTypeError: an object that cannot be written to.
    """
    if (engine := getattr(target, "engine", None)) is not None:  # a pandas.ExcelWriter
        if getattr(getattr(getattr(target, "_handles", None), "handle", None), "closed", False):
            raise DTypeError("the ExcelWriter is closed: mode='a' and the path of its file add a sheet")
        target = target.book
    packages = {kind.__module__.partition(".")[0] for kind in type(target).__mro__}
    if "openpyxl" in packages:
        return OpenpyxlBook(target)
    if "xlsxwriter" in packages:
        return XlsxWriterBook(target, rounds)
    raise DTypeError(f"a pandas.ExcelWriter of the engine {engine!r}: take engine='openpyxl' or 'xlsxwriter'")
