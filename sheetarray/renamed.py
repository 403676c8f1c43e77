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
    "view": "it is called sheetarray.page",
}
"""Public names of the package."""

OPTIONS = {
    "worksheet": "it is called sheet",
}
"""Options of functions."""

COMMANDS = {
    "adopt": "sheetarray accept",
    "view": "sheetarray page",
}
"""Commands of the command line."""


def refusing_old_options(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function whose error for an option of 1.0 names the new one."""
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for option in kwargs:
            if option in OPTIONS and option not in known:
                raise TypeError(f"{function.__name__} has no option {option!r} any more: {OPTIONS[option]}")
        return function(*args, **kwargs)

    return call
