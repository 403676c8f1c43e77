"""The rows that a basic filter hides: those in which some cell does not meet the criteria of its column.

Filter views hide rows only from the people who use them, so the API says nothing of these rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import rendered
from .conditions import Condition
from .errors import Json
from .formulas import evaluator_of
from .grid import Formula
from .ranges import Span
from .spreadsheet import ServedSheet, Spreadsheet


def find_hidden_rows(spreadsheet: Spreadsheet, sheet: ServedSheet) -> set[int]:
    """Return the rows of a sheet that its basic filter hides."""
    wanted = sheet.basic_filter or {}
    criteria = dict(_criteria_of(wanted))
    if not criteria:
        return set()
    grid = sheet.grid
    area = Span.from_json(wanted.get("range") or {}).on(grid.rows, grid.columns)
    renderer = rendered.Renderer(evaluator_of(spreadsheet))
    hidden: set[int] = set()
    first = area.top + 1  # the first row of a filter holds the names of its columns
    for column, rule in criteria.items():
        if not area.left <= column < area.right:
            continue
        excluded = set(map(str, rule.get("hiddenValues") or []))
        condition = rule.get("condition")
        test = Condition(renderer.evaluator, sheet, condition, first, column) if condition else None
        for row in range(first, area.bottom):
            cell = renderer.evaluator.grid(sheet).cell(row, column)
            text = str(renderer.render_cell(sheet, row, column, cell))
            value = renderer.evaluator.result(sheet, row, column, cell) if isinstance(cell, Formula) else cell
            if text in excluded or (test is not None and not test.is_met(row, column, value, text)):
                hidden.add(row)
    return hidden


def _criteria_of(wanted: Json) -> Iterator[tuple[int, Json]]:
    """Yield the columns of a filter with their FilterCriteria: from `criteria`, its older form, and `filterSpecs`."""
    for column, rule in (wanted.get("criteria") or {}).items():
        if str(column).isdigit():
            yield int(column), rule or {}
    for spec in wanted.get("filterSpecs") or []:
        yield int(spec.get("columnIndex") or 0), spec.get("filterCriteria") or {}
