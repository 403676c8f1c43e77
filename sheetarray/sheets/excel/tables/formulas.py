"""The formulas of a worksheet, each as it says what it says of the cells around it.

Source: ECMA-376 part 1, 18.3.1.40 (f), 18.18.6 (ST_CellFormulaType).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from html import unescape

from ....changes.formulas import Formula
from ....columns.grid import column_number, parse_area
from ....errors import locating, warn_caller
from ....files import Readable, Source
from ...formula_texts import TRUTHS, SheetFormula, from_open_formula, text_in_cell, to_formula
from ...sheet_choice import SheetChoice
from ..checking.workbook import select_sheets
from ..workbook import Workbook

_FORMULA = re.compile(rb"(?:<f|<[A-Za-z_][\w.-]*:f)((?:\s[^<>]*)?)(?:/>|>([^<]*)</)")
_ADDRESS = re.compile(rb"""\sr\s*=\s*["']([A-Z]{1,3})([0-9]{1,7})["']""")
_ATTRIBUTE = re.compile(r"""(?<!\w)(\w++)\s*+=\s*+["']([^"']*+)["']""")
_MOST_BYTES = 2**28  # of a worksheet whose formulas are looked for
_MOST_CELLS = 10**6  # of array formulas
_LONGEST = 2**13  # characters of a formula: Excel takes no more
_MOST_WORK, _WORK_OF_CELL = 2**24, 64  # characters of all formulas; a cell counts as so many besides

Formulas = dict[tuple[int, int], Formula]


def list_formulas_excel(source: Readable, *, sheet: SheetChoice = 0) -> Formulas | None:
    """Return the formulas of a sheet by their row and column, counted from 0; None where nobody knows them.

    Args:
        source: a path or an open file.
        sheet: the title of the sheet, or its index from 0.
    """
    with Source(source) as opened, locating(source=opened.name), Workbook(opened) as book:
        title = select_sheets(book, sheet, of_table=True)[0].title or ""
        if book.package is None:
            formulas = book.list_formulas(title)
            return None if formulas is None else _of_open_document(formulas)
        part = book.parts.get(title)
        if part is None or book.package.member(part).size > _MOST_BYTES:
            return None
        of_part = find_in_worksheet(book.package.read(part))
        if of_part is None:
            where = f"{opened.name or 'a workbook'}, sheet {title}"
            warn_caller(f"{where}: its formulas are very long or broken: their results are compared")
        return of_part


def find_in_worksheet(content: bytes) -> Formulas | None:
    """Return the formulas in the XML of a worksheet.

    None if a cell lacks its address or what it shares, and of more characters than can be compared in seconds.
    """
    formulas: Formulas = {}
    shared: dict[str, Formula] = {}
    left, left_work = _MOST_CELLS, _MOST_WORK
    for match in _FORMULA.finditer(content, 0, max(content.find(b"sheetData>"), content.rfind(b"sheetData>"))):
        address = _ADDRESS.search(content, content.rfind(b"<", 0, match.start()), match.start())
        if address is None:
            return None
        cell = int(address[2]) - 1, column_number(address[1].decode())
        text = unescape((match[2] or b"").decode("utf-8", "replace"))
        attributes = dict(_ATTRIBUTE.findall(match[1].decode("utf-8", "replace"))) if match[1] else {}
        group = attributes.get("si", "") if attributes.get("t") == "shared" else None
        if group is not None and not text:
            if group not in shared:
                return None
            master = shared[group]
            left_work -= _WORK_OF_CELL + len(master.relative)
            if left_work < 0:
                return None
            formulas[cell] = SheetFormula(partial(text_in_cell, master, *cell), cell, master.relative)
            continue
        if text in TRUTHS and attributes.keys() <= {"aca"}:
            continue
        left_work -= _WORK_OF_CELL + len(text)
        if left_work < 0 or len(text) > _LONGEST:
            return None
        formula = SheetFormula(f"={text}", cell, None, has_followers=group is not None)
        if group is not None:
            shared[group] = formula
        if attributes.get("t") in ("array", "dataTable") and (area := parse_area(attributes.get("ref", ""))):
            options = sorted(f"{name}={value}" for name, value in attributes.items() if name != "ref")
            formula = SheetFormula(f"{{={text}}}", cell, f"{{{formula.relative}}}{options}")
            rows, columns = range(area[1].top, area[1].bottom), range(area[1].left, area[1].right)
            if len(rows) * len(columns) <= left:
                left -= len(rows) * len(columns)
                formulas |= {(row, column): formula for row in rows for column in columns}
        formulas[cell] = formula
    return formulas


def _of_open_document(cells: Iterator[tuple[int, int, str]]) -> Formulas | None:
    formulas: Formulas = {}
    for row, column, formula in cells:
        if not formula:  # it is long
            return None
        text = from_open_formula(formula)
        if text in TRUTHS:
            continue
        formulas[row, column] = to_formula(f"={text}", row, column)
    return formulas
