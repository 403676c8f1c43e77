"""What Excel takes in a workbook, whoever writes it: titles of sheets, defined names, texts and number formats.

Source: ECMA-376 part 1, 18.2.5 (defined names), 18.17.2.5 and 22.9.2.19 (ST_Xstring), and Excel's own rules, which are
stricter. The rules of LibreOffice are kept as well: each defined name made here is one in both programs.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ..columns import quote_title
from ..columns.grid import column_number
from ..dtypes import DType
from ..errors import LimitError, NotFoundError, quote_names

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # of a sheet
EXACT_INTEGER = 10**15 - 1  # integers of more digits are text: spreadsheets keep fifteen
TRUTH_CODE = '"TRUE";"TRUE";"FALSE"'
"""The number format of booleans, for LibreOffice; Excel shows booleans as TRUE and FALSE without one."""
GENERAL = "General"  # the code of the format of cells without one

LONGEST_TITLE = 31  # UTF-16 code units
PRINT_AREA = "_xlnm.Print_Area"  # the defined name, one for each sheet, of the ranges that are printed
_LONGEST_NAME = 255  # characters
_LONGEST_FORMULA = 8192  # characters
_WRONG_IN_TITLE = re.compile("[\\[\\]:*?/\\\\\x00-\x1f\ufffe\uffff\ud800-\udfff]")
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


_LONGEST, _MOST_TITLES = 6, 40  # digits of an index, and titles in a message


def check_is_text(title: object) -> None:
    """Refuse a title that is not text."""
    if not isinstance(title, str):
        raise TypeError(f"sheet must be the title of a sheet, as text, not {title!r:.80}")


class TitleOrIndex(str):
    """The text of a command line that means a sheet: its title; if no sheet has it, its index."""

    __slots__ = ()


SheetChoice: TypeAlias = str | int | None
"""What `sheet=` of readers takes: a title, an index from 0, or None."""


def find_title(sheet: str | int, titles: Sequence[str]) -> str:
    """Return the title of the sheet that `sheet=` means, of those that may be meant.

    `sheet`: a title, compared without case as Excel does, or an index from 0.

    Raises:
        NotFoundError: there is no such sheet.
        TypeError: it is neither a title nor an index.

    Example:
        >>> find_title("NORTH", ["North", "South"]), find_title(1, ["North", "South"])
        ('North', 'South')
    """
    if isinstance(sheet, str):
        for title in titles:
            if title.casefold() == sheet.casefold():
                return title
        is_index = isinstance(sheet, TitleOrIndex) and sheet.isascii() and sheet.isdigit() and len(sheet) < _LONGEST
        which, index = f"{str(sheet)!r:.80}", int(sheet) if is_index else -1
    else:
        index = parse_index(sheet)
        which = f"{index}, counted from 0"
    if 0 <= index < len(titles):
        return titles[index]
    raise NotFoundError(f"no sheet {which}; there is {quote_names(titles, _MOST_TITLES)}")


def parse_index(sheet: object) -> int:
    """Return the index of a sheet that `sheet=` is, which is no title.

    Raises:
        TypeError: it is no index either.
    """
    try:
        if not isinstance(sheet, bool):
            return operator.index(sheet)  # type: ignore[arg-type]  # of another kind it raises the error
    except TypeError:
        pass
    raise TypeError(f"sheet is the title of a sheet or its index, counted from 0, not {sheet!r:.80}") from None


def is_first(sheet: SheetChoice) -> bool:
    """Return whether `sheet=` is the default of `read_columns`, the first sheet, which a range may name otherwise."""
    return type(sheet) is int and sheet == 0


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

    `places`: for each column the name of an array, the title of a sheet, and an absolute range of cells.

    It returns the references by array and sheet, in the order of `places`. Arrays are left out that have a reference
    longer than a formula may be.

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


def defined_names_xml(names: Mapping[str, str], print_areas: Mapping[int, str], prefix: str = "") -> str:
    """Return the XML of defined names with their references, and of the printed ranges of sheets.

    `print_areas`: by the numbers of their sheets' tabs, counted from 0. `prefix`: of elements, with the colon.
    """
    tag = f"{prefix}definedName"
    texts = [f"<{tag} name={quote_attribute(name)}>{escape_text(refers)}</{tag}>" for name, refers in names.items()]
    texts += [
        f'<{tag} name="{PRINT_AREA}" localSheetId="{tab}">{escape_text(refers)}</{tag}>'
        for tab, refers in print_areas.items()
    ]
    return "".join(texts)


def make_defined_names(areas: Iterable[ArrayArea], taken: Iterable[str] = ()) -> dict[ArrayArea, str]:
    """Return a defined name for each array: its own name if Excel takes that and it is free, otherwise a similar one.

    An array that goes on in other sheets gets a defined name for each of them, `t_1`, `t_2` and so on, and none for the
    whole array: to Excel a reference to several sheets is an error, and a name for the first sheet alone would give a
    wrong sum.

    `areas`: arrays, and the sheets where they stand. `taken`: the defined names and the names of tables that the
    workbook has already.

    It returns the defined names by area; no two are the same, compared without case.

    Example:
        >>> areas = [ArrayArea("temperature", "a"), ArrayArea("x1", "a")]
        >>> areas += [ArrayArea("long", "a"), ArrayArea("long", "b")]
        >>> list(make_defined_names(areas, taken=["Temperature"]).values())
        ['temperature_2', '_x1', 'long_1', 'long_2']
    """
    areas = list(areas)
    preferred = _preferred_names(areas)
    used = {_fold_case(name) for name in taken}
    names: dict[ArrayArea, str] = {}
    for area, name in preferred.items():
        if area.array == name and (folded := _fold_case(name)) not in used:
            names[area] = name
            used.add(folded)
    tried: dict[str, int] = {}
    for area, base in preferred.items():
        if area in names:
            continue
        name = base
        while (folded := _fold_case(name)) in used:
            tried[base] = index = tried.get(base, 1) + 1
            name = _number_name(base, index)
        names[area] = name
        used.add(folded)
    return {area: names[area] for area in areas}


def _preferred_names(areas: Sequence[ArrayArea]) -> dict[ArrayArea, str]:
    """Return the defined name that each area would have if there were no other areas."""
    sheets, seen = Counter([area.array for area in areas]), Counter[str]()
    preferred = {}
    for area in areas:
        name = _sanitize(area.array)
        seen[area.array] += 1
        preferred[area] = name if sheets[area.array] == 1 else _number_name(name, seen[area.array])
    return preferred


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


# Characters that XML does not have, which texts hold as `_xHHHH_`. In text that only looks like such an escape, the
# first underscore is escaped. A carriage return is escaped too, as an XML parser would make it a line feed.

_UNHELD = re.compile("_(?=x[0-9A-Fa-f]{4}_)|[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_ESCAPES = re.compile("(?:_x[0-9A-Fa-f]{4}_)+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def with_escapes(text: str) -> str:
    """Return a text with a `_xHHHH_` escape for each character that XML does not have.

    Example:
        >>> with_escapes("a\\r_x000D_")
        'a_x000D__x005F_x000D_'
    """
    return _UNHELD.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def without_escapes(text: str) -> str:
    """Return a text without `_xHHHH_` escapes; half of a surrogate pair, which is no character, stays one.

    Example:
        >>> without_escapes("a_x000D__x005F_x000D_")
        'a\\r_x000D_'
    """
    return _ESCAPES.sub(_characters, text) if "_x" in text else text


def _characters(match: re.Match[str]) -> str:
    units = bytes.fromhex("".join(match[0].split("_")[1::2]).replace("x", ""))
    text = units.decode("utf-16-be", "surrogatepass")
    return _SURROGATE.sub(lambda half: f"_x{ord(half[0]):04X}_", text)


_IN_ATTRIBUTES = {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


def quote_attribute(value: str) -> str:
    """Return a value as that of an attribute, escaped and in quotes.

    Example:
        >>> quote_attribute('a "b" & c')
        '"a &quot;b&quot; &amp; c"'
    """
    from xml.sax.saxutils import escape  # it brings modules of the network, which texts do without

    return f'"{escape(value, _IN_ATTRIBUTES)}"'


def escape_text(text: str) -> str:
    """Return text as character data, with its special characters escaped."""
    from xml.sax.saxutils import escape

    return escape(text)


# Formats that a caller chooses -------------------------------------------------------------------------------------

_LONGEST_CODE = 255  # characters
_LITERAL = r'(?:[ $€£¥()+\-]|"[^"\x00-\x1f]*"|\\[^\x00-\x1f])*'
_NUMERAL = r"(?:(?:[0#?,]*[0#?],*(?:\.[0#?]+)?|\.[0#?]+)(?:E[+-]0+)?%?)"
_COLOUR = r"(?:\[(?:Black|Blue|Cyan|Green|Magenta|Red|White|Yellow)\])?"
_SECTION = f"{_COLOUR}{_LITERAL}{_NUMERAL}{_LITERAL}"
_CODE = re.compile(f"{_SECTION}(?:;(?:{_SECTION}|{_COLOUR}{_LITERAL}|@)){{0,3}}")


def check_formats(formats: str | Mapping[str, str] | None, dtypes: Mapping[str, DType]) -> dict[str, str]:
    """Return the formats that a caller has chosen for numbers, by the names of arrays.

    `formats`: one code for all arrays of floats, or codes by names. `dtypes`: of all arrays, by their names.

    Raises:
        ValueError: an array that is no numbers, or a code that spreadsheet programs would not take for numbers.
        NotFoundError: no array of that name.
    """
    if formats is None:
        return {}
    if isinstance(formats, str):
        if not _is_code(formats):
            raise ValueError(f'formats is a code for numbers, such as "0.00", or codes by names, not {formats!r:.80}')
        return {name: formats for name, dtype in dtypes.items() if dtype.kind == "float"}
    if not isinstance(formats, Mapping):
        raise ValueError(f'formats is a code such as "0.00", or codes by names such as {{"t": "0.0"}}: {formats!r:.80}')
    for name, code in formats.items():
        if name not in dtypes:
            raise NotFoundError(f"no array {name!r:.80} to format; there is {', '.join(map(repr, dtypes)):.400}")
        if dtypes[name].kind not in ("float", "int"):
            raise ValueError(f"{name!r:.80} has the dtype {dtypes[name].name}, and formats are for floats and integers")
        if not _is_code(code):
            raise ValueError(f'the format of {name!r:.80} is a code for numbers, such as "0.00", not {code!r:.80}')
    return dict(formats)


def _is_code(code: object) -> bool:
    """Return whether spreadsheet programs take a code as the format of numbers."""
    return isinstance(code, str) and len(code) <= _LONGEST_CODE and bool(_CODE.fullmatch(code) or code == GENERAL)


# The first cell that a caller chooses ------------------------------------------------------------------------------

_CHOSEN_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})")


def parse_cell(address: str) -> tuple[int, int]:
    """Return row and column, counted from 0, of the address of a cell.

    Example:
        >>> parse_cell("D5"), parse_cell("$A$1")
        ((4, 3), (0, 0))
    """
    match = _CHOSEN_CELL.fullmatch(address) if isinstance(address, str) else None
    row, column = (int(match[2]) - 1, column_number(match[1])) if match else (MOST_ROWS, 0)
    if row >= MOST_ROWS or column >= MOST_COLUMNS:
        raise ValueError(f"at is the address of a cell, such as 'D5', not {address!r:.80}")
    return row, column
