"""Names, options and commands that do not exist: what 1.0 called otherwise, and what somebody may have meant."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

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


def nearest(text: str, known: Iterable[str]) -> str | None:
    """Return the text that differs by one typing error: two letters exchanged, or one left out, added or replaced.

    Example:
        >>> nearest(".cvs", [".json", ".csv"]), nearest(".md", [".csv"])
        ('.csv', None)
    """
    slips = [other for other in known if sorted(other) == sorted(text) or _is_one_letter_away(text, other)]
    return min(slips, key=lambda other: sorted(other) != sorted(text), default=None)


def _is_one_letter_away(text: str, other: str) -> bool:
    if abs(len(text) - len(other)) > 1 or min(len(text), len(other)) < 3:
        return False
    pairs = enumerate(zip(text, other, strict=False))
    same = next((at for at, (letter, another) in pairs if letter != another), min(len(text), len(other)))
    rests = text[same:], other[same:]
    return any(rests[0][drop:] == rests[1][add:] for drop, add in ((1, 1), (0, 1), (1, 0)))


def option_error(verb: str, option: str, names: Sequence[str], *, of: str = "", instead: str = "") -> TypeError:
    """Return the error for an option that does not exist: it names the new one, the one that may be meant, or all.

    `of`: the formats whose options these are. `instead`: what to do instead, if that is known.
    """
    meant = nearest(option, names)
    renamed = OPTIONS.get(option, "") if of or "sheet" in names or option != "worksheet" else ""
    has = f"it has {', '.join(names)}" if meant is None else f"did you mean {meant}?"
    what = f" for {of}" if of else ""
    return TypeError(f"{verb} has no option {option!r:.80}{what}; {renamed or instead or has}")


def naming_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose error for an option that does not exist names those that do.

    One that passes options on to a format is returned as it is: they are refused where the format is known.
    """
    parameters = inspect.signature(function).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    if not names or any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return function
    accepted = {parameter.name for parameter in parameters}

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for option in kwargs:
            if option not in accepted:
                raise option_error(function.__name__, option, names, instead=_pass_on(option, names))
        return function(*args, **kwargs)

    call.__module__ = __package__ or ""  # so that it can be pickled: the function of this name stands there
    return call


def _pass_on(option: str, names: Sequence[str]) -> str:
    """Return what to do with an option of a format in a function that takes them as `reading` and `writing`."""
    if "reading" not in names or nearest(option, names):
        return ""
    option = "sheet" if option == "worksheet" else option
    return f"it has {', '.join(names)}; options of the formats go into reading={{{option!r}: ..}} and writing={{..}}"
