"""Formulas in other cells: what they refer to moves with them, as when a person fills a column down."""

from __future__ import annotations

import re
from functools import lru_cache, partial

from ..changes.formulas import Formula, Grows, MovesOfSheets
from ..columns import column_letters
from ..columns.grid import column_number

TRUTHS = ("TRUE()", "FALSE()")
"""Formulas that are booleans: LibreOffice writes those so that people have typed."""

# texts, quoted titles of sheets and structured references hold no addresses of cells
_TOKEN = re.compile(
    r"\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'|\[(?:[^\[\]]|\[[^\[\]]*\])*\]"
    r"|(?<![\w.$])(\$?[A-Z]{1,3})(\$?)([1-9][0-9]{0,6})(?![\w.(])"
)
_MOVED = re.compile(
    r"\"(?:[^\"]|\"\")*+\"|'(?:[^']|'')*+'(?!!)|\[(?:[^\[\]]|\[[^\[\]]*+\])*+\]"
    r"|(?<![\w.$!\]])(?:('(?:[^']|'')*+'|[^\W\d][\w.]*+)!)?"
    r"(?:(\$?[A-Z]{1,3}\$?)([1-9][0-9]{0,6})(?::(\$?[A-Z]{1,3}\$?)([1-9][0-9]{0,6}))?"
    r"|(\$?[A-Z]{1,3}):(\$?[A-Z]{1,3}))(?![\w.(!:])"
)
_PLAIN_TITLE = re.compile(r"[^\W\d]\w*")
_LONGEST = 2**13  # characters of a formula, as in Excel
_MOST_SPELLED = 256  # pieces of formulas
_OTHERS = re.compile(r"\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'|\[(?:[^\[\]]|\[[^\[\]]*\])*\]|([^\"'\[]+)")
_DIGITS = re.compile("([0-9]+)")
_TRUTH = re.compile(r"(TRUE|FALSE)\(\)")
_SPACE = re.compile(r"\s+")
_SIMPLE_TITLE = re.compile(r"'([A-Za-z_][A-Za-z0-9_]*)'")
_DECIMALS = re.compile(r"(?<![\w.$])([0-9]{1,20}\.[0-9]{0,20}?)0{1,20}(?![\w.])")
_PREFIX = re.compile(r"_xlfn\.|_xlws\.|com\.microsoft\.|org\.libreoffice\.|org\.openoffice\.|legacy\.", re.IGNORECASE)
_OPEN_REFERENCE = re.compile(
    r"\[\$?('(?:[^']|'')*'|[^\[\].:']{1,200})?\.(\$?[A-Z]{1,3}\$?[0-9]{1,7})"
    r"(?::\$?(?:'(?:[^']|'')*'|[^\[\].:']{1,200})?\.(\$?[A-Z]{1,3}\$?[0-9]{1,7}))?\]"
)
_OPEN_TOKEN = re.compile(rf"\"(?:[^\"]|\"\")*\"|{_OPEN_REFERENCE.pattern}|;")
_RANGE = re.compile(r"(?<![\w.$!])(\$?[A-Z]{1,3}\$?[0-9]{1,7}:\$?[A-Z]{1,3}\$?)([0-9]{1,7})(?![\w.(])")


def move_rows(formula: str, by: int) -> str:
    """Return a formula as it reads some rows further down: rows without a `$` move with it.

    Example:
        >>> move_rows('B2*C$1+SUM(Sales[[#This Row],[t]])&"B2"', 3)
        'B5*C$1+SUM(Sales[[#This Row],[t]])&"B2"'
    """

    def move(match: re.Match[str]) -> str:
        if match[1] is None or match[2]:
            return match[0]
        return f"{match[1]}{int(match[3]) + by}"

    return _TOKEN.sub(move, formula)


def move_formula(formula: str, rows: int, columns: int) -> str:
    """Return a formula as it reads in another cell: what it says without a `$` moves with it.

    Example:
        >>> move_formula("B2*$C$1+A$1", 3, 1)
        'C5*$C$1+B$1'
    """

    def move(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        column = match[1] if match[1].startswith("$") else column_letters(max(column_number(match[1]) + columns, 0))
        return f"{column}{match[2]}{match[3] if match[2] else max(int(match[3]) + rows, 1)}"

    return _TOKEN.sub(move, formula) if len(formula) <= _LONGEST else formula


class SheetFormula(Formula):
    """A formula of a worksheet, whose references follow the rows and columns to which they refer."""

    __slots__ = ()

    @property
    def relative(self) -> str:
        """The formula with references that count from its cell; it is spelled out when it is first asked for."""
        if self._relative is None:
            self._relative = to_relative(self.text.removeprefix("="), *self.cell)
        return self._relative

    def fill(self, cell: tuple[int, int]) -> Formula:
        """Return the formula as it says the same of the cells around another cell."""
        return SheetFormula(partial(text_in_cell, self, *cell), cell, self.relative, self.result)

    def move(self, moves: MovesOfSheets, cell: tuple[int, int], grows: Grows) -> Formula | None:
        """Return the formula as it reads in a cell after rows or columns have moved; None if it has no text."""
        text = self.text
        if not text.startswith("="):
            return None
        moved = follow_moves(text[1:], moves, grows)
        return SheetFormula(f"={moved}", cell, None, self.result)


def follow_moves(formula: str, moves: MovesOfSheets, grows: Grows) -> str:
    """Return a formula with the references that it has after rows or columns were added, deleted or moved.

    Arguments are those of `Formula.move`.
    """

    def follow(match: re.Match[str]) -> str:
        ends = [end for end in (match[2] or match[6], match[4] or match[7]) if end]
        title = None if match[1] is None else match[1].removeprefix("'").removesuffix("'").replace("''", "'")
        of_sheet = moves(title) if ends else None
        if of_sheet is None:
            return match[0]
        rows: tuple[int, int] | None = (0, 0)
        if match[3]:
            rows = of_sheet.find_rows(
                int(match[3]) - 1, int(match[5] or match[3]) - 1, grows if match[5] else (False,) * 2
            )
        if rows is None:
            return match[0]
        mark = ""
        if title is not None:
            now = of_sheet.title
            is_plain = title.casefold() == now.casefold() or _PLAIN_TITLE.fullmatch(now)
            mark = f"{match[1] if title.casefold() == now.casefold() else now}!"
            mark = mark if is_plain else "'{}'!".format(now.replace("'", "''"))
        columns = of_sheet.find_columns(*(column_number(end.strip("$")) for end in (ends[0], ends[-1])))
        if columns is None:
            return f"{mark}#REF!"
        spelled = zip(ends, columns, rows, strict=False)
        return mark + ":".join(
            end.replace(end.strip("$"), column_letters(column)) + (str(row + 1) if match[3] else "")
            for end, column, row in spelled
        )

    return _MOVED.sub(follow, formula) if len(formula) <= _LONGEST else formula


def to_relative(formula: str, row: int, column: int) -> str:
    """Return a formula with references that count from its cell, as two programs would write it alike.

    Example:
        >>> to_relative("sum( B2:B$9 )*1.50", 1, 3) == to_relative("SUM(B7:B$9)*1.5", 6, 3)
        True
    """

    texts = _DIGITS.split(formula)
    rows = texts[1::2]
    pattern = _find_pattern(tuple(texts[::2]), column)
    if pattern is not None and all(len(text) < 8 and text[0] != "0" for text in rows):
        literals, are_fixed = pattern
        numbers = [int(text) - 1 - (0 if fixed else row) for text, fixed in zip(rows, are_fixed, strict=True)]
        return "".join([literals[0], *(f"{n}{after}" for n, after in zip(numbers, literals[1:], strict=True))])
    if len(formula) > _LONGEST:
        return formula
    if formula != formula.upper():
        formula = _OTHERS.sub(lambda match: match[0].upper() if match[1] else match[0], formula)
    pieces, at = [], 0
    for match in _TOKEN.finditer(formula):
        pieces.append(_spell(formula[at : match.start()]))
        if match[1] is None:
            pieces.append(_SIMPLE_TITLE.sub(r"\1", match[0]).upper() if match[0].startswith("'") else match[0])
        else:
            number = int(match[3]) - 1
            pieces.append((f"R{number}" if match[2] else f"R[{number - row}]") + _count_columns(match[1], column))
        at = match.end()
    return _TRUTH.sub(r"\1", "".join([*pieces, _spell(formula[at:])]))


def _count_columns(letters: str, column: int) -> str:
    number = column_number(letters.lstrip("$"))
    return f"C{number}" if letters.startswith("$") else f"C[{number - column}]"


@lru_cache(_MOST_SPELLED)
def _find_pattern(texts: tuple[str, ...], column: int) -> tuple[list[str], list[bool]] | None:
    """Return the texts between the row numbers of a relative formula, and for each number whether it is fixed.

    None if other numbers, or texts in quotes, stand in the formula. Most formulas of a column differ by rows alone.

    `texts`: what stands around the numbers of the formula. `column`: of its cell.
    """
    sample = "1".join(texts)
    tokens = [*_TOKEN.finditer(sample)] if sample == sample.upper() and len(sample) <= _LONGEST else []
    if len(tokens) != len(texts) - 1 or any(token[1] is None for token in tokens):
        return None
    literals, at = [""], 0
    for token in tokens:
        literals[-1] += _TRUTH.sub(r"\1", _spell(sample[at : token.start()])) + ("R" if token[2] else "R[")
        literals.append(("" if token[2] else "]") + _count_columns(token[1], column))
        at = token.end()
    literals[-1] += _TRUTH.sub(r"\1", _spell(sample[at:]))
    return literals, [bool(token[2]) for token in tokens]


@lru_cache(_MOST_SPELLED)  # the same few pieces stand between the references of most formulas
def _spell(text: str) -> str:
    """Return what stands between references, without spaces, in capitals and without needless zeros."""
    text = _SPACE.sub("", _PREFIX.sub("", text)).upper()
    return _DECIMALS.sub(lambda match: match[1].rstrip("."), text)


def to_formula(text: str, row: int, column: int) -> Formula:
    """Return the formula of a cell, given its text, such as `=B2*C2`."""
    return SheetFormula(text, (row, column), None)


def text_in_cell(formula: Formula, row: int, column: int) -> str:
    """Return the text of a formula as it reads in another cell.

    Example:
        >>> text_in_cell(to_formula("=B2*$C$1", 1, 3), 4, 3)
        '=B5*$C$1'
    """
    text = formula.text.removeprefix("=")
    return f"={move_formula(text, row - formula.cell[0], column - formula.cell[1])}"


def from_open_formula(formula: str) -> str:
    """Return a formula of OpenDocument as .xlsx has it.

    Example:
        >>> from_open_formula("of:=SUM([.B2:.B$9];['my sheet'.A1])")
        "SUM(B2:B$9,'my sheet'!A1)"
    """

    def replace(match: re.Match[str]) -> str:
        if match[0] == ";":
            return ","
        if match[2] is None:
            return match[0]
        title = f"{match[1]}!" if match[1] else ""
        return f"{title}{match[2]}" + (f":{match[3]}" if match[3] else "")

    head, _, body = formula.partition("=")
    return _OPEN_TOKEN.sub(replace, body if head.isalpha() or head.endswith(":") or not head else formula)


def extend_ranges(formula: str, last: int, by: int) -> str:
    """Return a formula in which ranges of its own sheet that end in a row, counted from 1, take in some rows more.

    Example:
        >>> extend_ranges("SUBTOTAL(109,B2:B9)+SUM(B2:B8)", 9, 2)
        'SUBTOTAL(109,B2:B11)+SUM(B2:B8)'
    """
    return _RANGE.sub(lambda match: f"{match[1]}{last + by}" if int(match[2]) == last else match[0], formula)


def refers_to(formula: str, row: int) -> bool:
    """Return whether a formula names a cell of a row, counted from 1.

    Example:
        >>> refers_to("A4/2", 4), refers_to("A4/2", 5)
        (True, False)
    """
    return any(match[3] is not None and int(match[3]) == row for match in _TOKEN.finditer(formula))
