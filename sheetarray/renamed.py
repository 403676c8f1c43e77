"""What 1.0 called otherwise: names, options and commands that are gone, each with what to use instead."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

NAMES = {
    "adopt": "it is called sheetarray.accept",
    "append_gsheet": "sheetarray.append(url, {'t': rows}) adds rows",
    "convert_many": "sheetarray.convert takes a pattern or a list of sources, and a template",
    "create_gsheet": "sheetarray.write('gsheets://new?title=..&share=..', arrays) makes a spreadsheet",
    "from_frame": "sheetarray.from_linear takes the cells of a column, frame['t'].dropna().tolist()",
    "to_frame": "sheetarray.to_linear gives the cells of a column, pd.Series(sheetarray.to_linear(array))",
    "view": "it is called sheetarray.page",
}
"""Public names of the package."""

OPTIONS = {
    "append_axis": "sheetarray.open_writer(target, append_axis=0) takes blocks, by append and extend",
    "layout": "layout='grid' is gone; sheetarray.write_table writes a table for people",
    "serve": "the page server is gone; slice= shows a part of a large array",
    "worksheet": "it is called sheet",
}
"""Options of functions."""

COMMANDS = {
    "adopt": "sheetarray accept",
    "gsheets": "sheetarray convert FILE 'gsheets://new?title=..' makes a spreadsheet",
    "view": "sheetarray page",
}
"""Commands of the command line."""


def name_new_option(option: str) -> str:
    """Return what to use instead of an option of 1.0, to stand after an error; an empty text for any other option."""
    return f"; {OPTIONS[option]}" if option in OPTIONS else ""


def refusing_old_options(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function whose error for an option of 1.0 names the new one."""
    parameters = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for option in kwargs:
            if option in OPTIONS and option not in parameters:
                raise TypeError(f"{function.__name__} has no option {option!r} any more: {OPTIONS[option]}")
        return function(*args, **kwargs)

    return call
