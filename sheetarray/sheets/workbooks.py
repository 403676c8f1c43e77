"""What Excel takes in a workbook, whoever writes it: how many cells, which numbers, and the titles of sheets.

Source: ECMA-376 part 1, 22.9.2.19 (ST_Xstring), and Excel's own rules, which are stricter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import LimitError

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # of a sheet
EXACT_INTEGER = 10**15 - 1  # integers of more digits are text: spreadsheets keep fifteen
TRUTH_CODE = '"TRUE";"TRUE";"FALSE"'
"""The number format of booleans, for LibreOffice; Excel shows booleans as TRUE and FALSE without one."""
GENERAL = "General"  # the code of the format of cells without one

LONGEST_TITLE = 31  # UTF-16 code units
_WRONG_IN_TITLE = re.compile("[\\[\\]:*?/\\\\\x00-\x1f\ufffe\uffff\ud800-\udfff]")
_ESCAPE = re.compile("_x(?=[0-9A-Fa-f]{4}_)")


def check_is_text(title: object) -> None:
    """Refuse a title that is not text."""
    if not isinstance(title, str):
        raise TypeError(f"sheet must be the title of a sheet, as text, not {title!r:.80}")


def check_choices(**options: Sequence[object]) -> None:
    """Refuse an option's value that is not one of the words after it.

    Example:
        >>> check_choices(dates=("iso", "real", "text"))
        Traceback (most recent call last):
        ValueError: dates is "real" or "text", not 'iso'
    """
    for name, (value, *choices) in options.items():
        if value not in choices:
            *first_choices, last = (f'"{choice}"' if isinstance(choice, str) else repr(choice) for choice in choices)
            raise ValueError(f"{name} is {', '.join(first_choices)} or {last}, not {value!r:.80}")


def check_title(title: str) -> None:
    """Refuse a title that no sheet can have, with a LimitError that says why.

    Example:
        >>> check_title("run 1/2")
        Traceback (most recent call last):
        sheetarray.errors.LimitError: no sheet can be titled 'run 1/2': it has '/' in it
    """
    length = len(title.encode("utf-16-le", "surrogatepass")) // 2
    wrong = _WRONG_IN_TITLE.search(title)
    if not title.strip():
        reason = "it is blank"
    elif length > LONGEST_TITLE:
        reason = f"it has {length} characters, and Excel takes {LONGEST_TITLE}"
    elif wrong:
        reason = f"it has {wrong[0]!r} in it"
    elif title[0] == "'" or title[-1] == "'":
        reason = "it begins or ends with an apostrophe"
    elif title.lower() == "history":
        reason = "Excel keeps that one for itself"
    elif _ESCAPE.search(title):
        reason = "Excel would read a part of it as an escaped character"
    else:
        return
    raise LimitError(f"no sheet can be titled {title!r:.80}: {reason}")


def sheet_titles(title: str, count: int) -> list[str]:
    """Return the titles of as many sheets as arrays take: `arrays`, `arrays (2)`, ..."""
    ends = [f" ({number})" for number in range(2, count + 1)]
    return [title, *(title[: LONGEST_TITLE - len(end)] + end for end in ends)]
