"""The cells of arrays that cannot be read: kept for a caller, and the errors and findings that tell of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import numpy as np

from ..elements import Cell, Problem, Unreadable, is_missing_word
from ..errors import Finding, FormatError
from ..linear.buffers import view_of
from ..linear.data_cells import error_for_problem
from ..linear.header import AddressOf, Header
from .row_edits import shorten_list

MAX_FINDINGS_PER_ARRAY = 20  # of cells that cannot be read; one more finding counts the others

_Unreadable = dict[str, np.ndarray[Any, Any]]
Keeping = Literal["all", "missing", "padded", "no errors"]
_OF_MISSING: tuple[Keeping, ...] = ("missing", "padded")
_unreadable: ContextVar[tuple[Keeping, _Unreadable] | None] = ContextVar("_unreadable", default=None)


@contextmanager
def keeping_unreadable(keeps: Keeping = "all") -> Iterator[_Unreadable]:
    """Keep the cells that cannot be read, for as long as the context lasts, instead of raising their errors.

    `keeps`: all of them; those that stand for a missing value: blanks, errors such as `#DIV/0!`, words such as `n/a`;
    "padded": those, and blanks at the end of columns that are shorter than others; or of ordinary tables all but errors
    such as `#DIV/0!`, which stay missing values.

    Yields:
        For each array that has such cells an array of objects of its shape: the error of each of them, None for all
        other elements. What the array holds in their place says nothing. A context around this one gets them, too.
    """
    unreadable: _Unreadable = {}
    token = _unreadable.set((keeps, unreadable))
    try:
        yield unreadable
    finally:
        _unreadable.reset(token)
    if (outer := _unreadable.get()) is not None:
        outer[1].update(unreadable)


def keeps_all() -> bool:
    """Return whether a context around the call keeps all cells that cannot be read."""
    return keeping_now() == "all"


def pads_columns() -> bool:
    """Return whether a context around the call takes columns that end before others for ones that end with blanks."""
    return keeping_now() in ("all", "padded")


def keeping_now() -> Keeping | None:
    """Return what the context around the call keeps; None without one."""
    kept_here = _unreadable.get()
    return None if kept_here is None else kept_here[0]


def keeps_none() -> bool:
    """Return whether no context around the call keeps cells that cannot be read: their errors are raised."""
    return _unreadable.get() is None


def keep_unreadable(
    name: str,
    header: Header,
    problems: Sequence[Problem],
    cell: Callable[[int], Cell],
    address: AddressOf,
    *,
    cells_each: int = 1,
) -> list[FormatError] | None:
    """Keep the errors of the cells of an array that cannot be read, if a context around the call asks for them.

    `cell`: returns a data cell, by its index. `address`: of a data cell, by its index. `cells_each`: the cells of an
    element.

    It returns the errors that are to be raised nevertheless; None where nobody asks, or so many cells cannot be read
    that others were not looked at.
    """
    keeps, unreadable = _unreadable.get() or ("", None)
    if unreadable is None or not problems or any(problem.rest for problem in problems):
        return None
    errors, raised = np.full(header.capacity, None, object), []
    for problem in problems:
        wrong = error_for_problem(problem, header, name, address, cells_each=cells_each)
        errors[problem.index // cells_each] = wrong
        if keeps in _OF_MISSING and not _stands_for_missing(cell(problem.index)):
            raised.append(wrong)
    unreadable[name] = view_of(header, errors)
    return raised


def keep_errors(name: str, count: int, errors: Mapping[int, FormatError], *, are_missing: bool = False) -> bool:
    """Keep the errors of cells of a column of a table, by index, and return True; False if no context asks for them.

    `count`: of the cells of the column. `are_missing`: whether the cells hold errors such as `#DIV/0!`.
    """
    keeps, unreadable = _unreadable.get() or ("missing", None)
    if unreadable is None or keeps in _OF_MISSING or (are_missing and keeps == "no errors"):
        return False
    if errors:
        column = unreadable.setdefault(name, np.full(count, None, object))
        for index, error in errors.items():
            column[index] = error
    return True


def keep_elements(name: str, errors: np.ndarray[Any, Any]) -> None:
    """Keep the errors of elements of an array, None for all others, for the context around the call."""
    _, unreadable = _unreadable.get() or ("", None)
    if unreadable is not None:
        unreadable[name] = errors


def _stands_for_missing(cell: Cell) -> bool:
    if isinstance(cell, Unreadable):
        return cell.is_error
    if isinstance(cell, (bool, int, float)):
        return False
    return cell is None or not str(cell).strip() or is_missing_word(str(cell))


def errors_of_problems(
    problems: Sequence[Problem], header: Header, name: str, address: AddressOf, *, cells_each: int = 1
) -> Iterator[FormatError]:
    """Yield an error for each of the first cells of an array that cannot be read, and one for all others."""
    for problem in problems[:MAX_FINDINGS_PER_ARRAY]:
        yield error_for_problem(problem, header, name, address, cells_each=cells_each)
    if (more := len(problems) - MAX_FINDINGS_PER_ARRAY) > 0:
        is_cut = any(problem.rest for problem in problems)
        wrong, rest = (more - 1, ", and the cells after them were not checked") if is_cut else (more, "")
        reason = f"{name}: {wrong} more cells cannot be read as {header.dtype.name}{rest}"
        yield FormatError(reason, array=name)


_IN_ROWS = {
    "a blank cell": "row {row} of the sheet is blank in {count} arrays: {elements}",
    "another": "row {row} of the sheet stands below {names}: {expected} in each",
}
"""What is said of a row in which the cells of several arrays are wrong alike, by what was found there."""
_ROW = re.compile(r"(?P<title>.*?)(?<![A-Z])[A-Z]*+(?<![0-9])(?P<row>[0-9]*+)", re.DOTALL)  # in the address of a cell


def join_rows(errors: Sequence[FormatError]) -> Iterator[Finding]:
    """Yield a finding for each error; one for a row of a sheet that is blank, or stands below, in several arrays.

    In arrays of other widths one row of the sheet is part of other rows, so that it is no row of theirs.
    """
    rows: dict[tuple[str, ...], list[FormatError]] = {}
    for place, error in enumerate(errors):
        expected, _, content = error.reason.rpartition(", found ")
        where = _ROW.fullmatch(error.location or "")
        if content in _IN_ROWS and error.array is not None and where is not None and where["row"]:
            index = error.index or ()
            alike_in = expected if content == "another" else str(min(index, index[::-1]))
            rows.setdefault((content, where["row"], where["title"], alike_in), []).append(error)
        else:
            rows[(str(place),)] = [error]
    for (content, *key), alike in rows.items():
        names = [error.array or "" for error in alike]
        if len(alike) == 1 or len({*names}) < len(names):
            yield from map(Finding.from_error, alike)
            continue
        hints = {error.hint or "" for error in alike}
        message = _IN_ROWS[content].format(
            row=key[0],
            count=len(alike),
            elements=shorten_list(error.element or "" for error in alike),
            names=shorten_list(map("{!r:.60}".format, names)),
            expected=key[-1],
        )
        yield Finding("error", alike[0].location, message, hints.pop() if len(hints) == 1 else "")
