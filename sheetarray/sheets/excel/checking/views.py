"""The findings of `check` about views in which people have typed over formulas, and about columns that lost theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from ....columns import ArrayColumn, ResizedArray
from ....errors import Finding, FormatError, SheetArrayError
from ....linear.array import LinearArray
from ...arrays_of_sheets import read_resized_arrays
from ...looks import number_formats
from ...views.description import View
from ...views.geometry import ViewedColumns
from ...views.plans import ViewPlan, plan_views
from ...views.typed_over import TypedOver, ViewCells, describe_typed_over, find_typed_over
from ..reader.formulas import FormulaCells
from ..reader.scalars import scalars
from ..styles.cell_styles import CellStyles
from ..styles.own import make_styles
from ..views.editable_grid import EditableGrid
from ..workbook import Workbook

_MOST_CELLS = 2**20  # of the sheet of a view that are looked at


class ViewFindings:
    """The findings about the views of one workbook; its arrays are read when there is something to say."""

    def __init__(self, book: Workbook) -> None:
        self._book = book

    def find_typed_over(self) -> Iterator[Finding]:
        """Yield a finding for each formula of a view that people have typed over."""
        for title in typed_over_views(self._book):
            array = self._book.views.shown[title]
            typed = read_typed_over(self._book, title)
            column = self._arrays[array].column if typed and array in self._arrays else None
            plan = self._plan_of(title) if typed else None
            address = str if column is None else column.element_address
            yield from describe_typed_over(typed, title, array, plan, address)

    def find_unlinked(self, name: str, column: ArrayColumn, formulas: Mapping[str, FormulaCells]) -> Iterator[Finding]:
        """Yield a finding for each column whose cells no longer refer to its view for editing.

        `formulas`: those of each sheet that look into no such view, by its title: other findings name them.
        """
        views = self._book.views
        if column.cells_per_element != 1:
            return
        lost, last = list[int](), 0
        for anchor, start, count in column.spans():
            across, down = anchor.data_cell
            is_linked = (
                None
                if anchor.orient == "rows"
                else self._book.find_links(anchor.title or "", np.arange(down, down + count), across)
            )
            if is_linked is None:
                return
            last = max(last, start + int(np.flatnonzero(is_linked)[-1]) + 1) if is_linked.any() else last
            other_formulas = formulas[anchor.title or ""]
            for place in np.flatnonzero(~is_linked).tolist():
                if not other_formulas or other_formulas.find_among(down + place, across, 1, lying=False) is None:
                    lost.append(start + place)
        end = views.counts.get(name, last)
        lost = [index for index in lost if index < end and column.header.index_at(index) is not None]
        if not lost or not (last or name in views.linked):
            return
        header, first = column.header, lost[0]
        title = next((title for title in views.editable if views.shown[title] == name), "")
        plan = self._plan_of(title) if title else None
        target = ""
        if plan is not None and plan.array.capacity == header.capacity:
            target = str(EditableGrid(plan, str, CellStyles()).column_formulas()[first]).replace("&amp;", "&")
        many = f" and {len(lost) - 1} more elements hold values" if len(lost) > 1 else " holds a value"
        reason = f"{header.describe_element(name, first)}{many} instead of formulas that refer to the view for editing"
        index = header.index_at(first) if len(lost) == 1 else None
        hint = f"type the formula ={target} into it again" if target and len(lost) == 1 else "write the view again"
        yield Finding(
            "warning",
            column.address(first),
            f"{reason}: values typed into the view are not read there",
            hint,
            array=name,
            index=index,
        )

    @cached_property
    def _arrays(self) -> Mapping[str, ResizedArray]:
        """The arrays of the workbook; empty if they cannot be read, which other findings say."""
        try:
            return read_resized_arrays(self._book.plain_sheets(), missing="nan")
        except SheetArrayError:
            return {}

    @cached_property
    def _linear(self) -> dict[str, LinearArray]:
        return {name: array.linear for name, array in self._arrays.items()}

    def _plan_of(self, title: str) -> ViewPlan | None:
        """Return the layout of the view that an array of today would have; None if it can no longer have a view."""
        name, views = self._book.views.shown[title], self._book.views
        if name not in self._linear or not self._linear[name].length or self._linear[name].ndim < 2:
            return None

        columns = ViewedColumns.of_resized(
            self._arrays,
            lambda piece: make_styles().styles.of_formats(number_formats([piece], formats={}, decimals=True))[0],
            as_text=False,
        )
        try:
            asked = {name: views.asked.get(name, View())}
            north_up = title in views.north_up or title not in views.recorded
            plans = plan_views(asked, self._linear, columns, taken=(), text_chooser=True, north_up=north_up)
        except SheetArrayError:
            return None
        return plans[0] if plans else None


def typed_over_views(book: Workbook) -> list[str]:
    """Return the titles of views in which people may have typed over formulas: all views that are not as written."""
    views = book.views
    return [title for title in book.titles if title in views.shown and title not in views.intact | views.editable]


def read_typed_over(book: Workbook, title: str) -> TypedOver:
    """Return the cells of a view at the places where formulas stood."""
    sheet = book.sheet(title)
    rows, columns, formulas, values = [], [], [], []
    try:
        with sheet.runs() as runs:
            for run in runs:
                rows.append(run.rows)
                columns.append(run.columns)
                formulas.append(np.zeros(len(run), np.bool_) if run.formulas is None else run.formulas.copy())
                values += scalars(run, from_1904=sheet.from_1904)
                if len(values) > _MOST_CELLS:
                    return TypedOver()  # somebody's own sheet
    except FormatError:  # which reading reports, if it is about arrays
        return TypedOver()
    if not rows:
        return TypedOver(is_gone=title in book.views.recorded)
    cells = ViewCells(np.concatenate(rows), np.concatenate(columns), np.concatenate(formulas), values)
    return find_typed_over(cells, book.views.corners.get(title))
