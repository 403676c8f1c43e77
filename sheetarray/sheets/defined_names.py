"""The defined names of arrays in a workbook, and the references that they stand for.

Source: ECMA-376 part 1, 18.2.5 (defined names) and 18.17.2.5. The rules of LibreOffice are kept as well: each defined
name made here is one in both programs.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ..columns import quote_title

PRINT_AREA = "_xlnm.Print_Area"  # the defined name, one for each sheet, of the ranges that are printed
_LONGEST_NAME = 255  # characters
_LONGEST_FORMULA = 8192  # characters
_ESCAPE = re.compile("_x(?=[0-9A-Fa-f]{4}_)")

# What Excel reads as a cell, a row or a column, and so never as a name: A1, R1C1, R, C
_CELL = re.compile(r"[A-Z]{1,3}[0-9]+|R[0-9]*(C[0-9]*)?|C[0-9]*", re.IGNORECASE)
_RANGE = re.compile(
    r"(?:'((?:[^']++|'')++)'|([^'!,()\[\]]+))!(?:#REF!|\$?[A-Z]{1,3}\$?[0-9]+(?::\$?[A-Z]{1,3}\$?[0-9]+)?)(?=,|\Z)"
)
_SHEET_AND_CELL = re.compile(r"\.(?=[A-Z]{1,3}[0-9]+$)", re.IGNORECASE)  # LibreOffice reads Sheet1.A1 as a cell
_RESERVED = {  # names of constants, and names that Excel keeps for its own use
    "true",
    "false",
    "print_area",
    "print_titles",
    "criteria",
    "database",
    "extract",
    "consolidate_area",
    "sheet_title",
    "recorder",
    "data_form",
    "filterdatabase",
    "_filterdatabase",
    "auto_open",
    "auto_close",
    "auto_activate",
    "auto_deactivate",
}


def parse_titles(reference: str) -> list[str]:
    """Return the titles of the sheets in the reference of a defined name; empty if it is anything but a list of ranges.

    Example:
        >>> parse_titles("'arrays'!$A$20:$A$99,Sheet2!$B$2")
        ['arrays', 'Sheet2']
    """
    titles, at = [], 0
    while len(reference) <= _LONGEST_FORMULA and (part := _RANGE.match(reference, at)):
        titles.append(part[1].replace("''", "'") if part[1] else part[2])
        if part.end() == len(reference):
            return titles
        at = part.end() + 1
    return []


class ArrayArea(NamedTuple):
    """The cells of an array in one sheet, for which one defined name stands."""

    array: str  # the name of the array
    title: str  # of the sheet


def build_references(places: Iterable[tuple[str, str, str]]) -> dict[ArrayArea, str]:
    """Return the reference of the defined name of each array: the ranges of all columns of a sheet with its elements.

    Arrays are left out that have a reference longer than a formula may be.

    `places`: for each column the name of an array, the title of a sheet, and an absolute range of cells.

    Example:
        >>> list(build_references([("t", "arrays", "$A$20:$A$1048576"), ("t", "arrays", "$B$20:$B$99")]).values())
        ["'arrays'!$A$20:$A$1048576,'arrays'!$B$20:$B$99"]
    """
    ranges: dict[ArrayArea, list[str]] = {}
    for array, title, cells in places:
        ranges.setdefault(ArrayArea(array, title), []).append(f"{quote_title(title)}!{cells}")
    joined = {area: ",".join(parts) for area, parts in ranges.items()}
    too_long = {area.array for area, text in joined.items() if len(text) > _LONGEST_FORMULA}
    return {area: text for area, text in joined.items() if area.array not in too_long}


def make_defined_names(areas: Iterable[ArrayArea], taken: Iterable[str] = ()) -> dict[ArrayArea, str]:
    """Return a defined name for each array: its own name if Excel takes that and it is free, otherwise a similar one.

    An array that goes on in other sheets gets a defined name for each of them, `t_1`, `t_2` and so on, and none for the
    whole array: to Excel a reference to several sheets is an error, and a name for the first sheet alone would give a
    wrong sum.

    No two are the same, compared without case, nor one as in `taken`: the defined names, and the names of tables, that
    the workbook has already.

    Example:
        >>> areas = [ArrayArea("temperature", "a"), ArrayArea("x1", "a")]
        >>> areas += [ArrayArea("long", "a"), ArrayArea("long", "b")]
        >>> list(make_defined_names(areas, taken=["Temperature"]).values())
        ['temperature_2', '_x1', 'long_1', 'long_2']
    """
    areas = list(areas)
    sheets, seen = Counter([area.array for area in areas]), Counter[str]()
    used, names, unusual = set(map(_fold_case, taken)), dict.fromkeys(areas, ""), dict[ArrayArea, str]()
    for area in areas:
        name = _sanitize(area.array)
        if sheets[area.array] > 1:
            seen[area.array] += 1
            name = _number_name(name, seen[area.array])
        if area.array == name and (folded := _fold_case(name)) not in used:
            names[area] = name
            used.add(folded)
        else:
            unusual[area] = name
    tried: dict[str, int] = {}
    for area, base in unusual.items():
        name = base
        while (folded := _fold_case(name)) in used:
            tried[base] = index = tried.get(base, 1) + 1
            name = _number_name(base, index)
        names[area] = name
        used.add(folded)
    return names


def _number_name(name: str, index: int) -> str:
    """Return a name with a number at its end, cut to the length that Excel takes."""
    end = f"_{index}"
    return name[: _LONGEST_NAME - len(end)] + end


def _sanitize(array: str) -> str:
    """Return the name of an array, changed as far as needed for Excel and LibreOffice to take it as a defined name."""
    name = array
    if not (array.isascii() and array.isalnum()):
        name = "".join(mark if _keeps_character(mark) else "_" for mark in unicodedata.normalize("NFC", array))
    name = _SHEET_AND_CELL.sub("_", _ESCAPE.sub("_", name))[:_LONGEST_NAME]
    is_one = name[:1].isalpha() or name[:1] == "_"
    if not is_one or _CELL.fullmatch(name) or _fold_case(name) in _RESERVED or name.lower().startswith("_xl"):
        name = f"_{name}"[:_LONGEST_NAME]
    return name


def _keeps_character(mark: str) -> bool:
    """Return whether a defined name may have a character in it."""
    return mark in "._" or ((mark.isalpha() if mark > "\x7f" else mark.isalnum()) and mark <= "\uffff")


def _fold_case(name: str) -> str:
    """Return the same text for all names that Excel takes for one: in upper or lower case, of any width."""
    return name.lower() if name.isascii() else unicodedata.normalize("NFKC", name).casefold()
