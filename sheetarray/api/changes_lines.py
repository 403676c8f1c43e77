"""The lines that say what became of arrays: a summary, then each array with its rows and elements below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..changes.compare import Comparison, DifferingElement
from ..changes.findings import describe_row
from ..changes.row_groups import describe_rows
from ..changes.wording import MOST_NAMED, count_noun, format_value, join_names
from ..columns import ArrayInfo
from ..dtypes import Array
from ..elements import label_text
from ..errors import FormatError
from ..labels import DatasetLabels
from ..labels.places import find_row
from ..linear.header import name_element
from .differences import Differences
from .shown import format_shape

MOST_SHOWN = 10  # elements and rows of an array in lines


class ChangeLine(NamedTuple):
    """A line of details, and the names of the arrays that it is about; without names it belongs to the line above."""

    text: str
    names: Sequence[str] = ()
    dim: bool = False

    @property
    def head(self) -> str:
        """The beginning of the line: the names of its arrays; empty if it is about no array."""
        return f"{join_names(self.names)}: " if self.names else ""

    def to_text(self) -> str:
        """Return the whole line."""
        return self.head + self.text


def list_lines(
    differences: Differences, *, everything: bool, most: int | None = None
) -> tuple[list[ChangeLine], int, int]:
    """Return lines that describe the differences, the number of arrays that differ, and the number of arrays that do
    not.

    `everything`: whether elements are named although one change explains all of them. `most`: the number of lines that
    will be shown, so that those of further elements need no text.
    """
    first, second = (side.label for side in differences.sides)
    blocks = [([name], f"only in {first}", list[ChangeLine]()) for name in differences.deleted]
    blocks += [([name], f"only in {second}", list[ChangeLine]()) for name in differences.added]
    blocks += [
        ([name], f"renamed; it was {before}", list[ChangeLine]()) for before, name in differences.renamed.items()
    ]
    alike: dict[str, list[str]] = {}  # the names of arrays of which the same is to be said, such as a new row
    compared = differences.comparisons
    silent = {
        comparison.name
        for comparison in compared
        if comparison.same and not comparison.recalculated and not _format_layouts(comparison)
    }
    rows = _describe_rows(differences)
    for comparison in compared:
        if comparison.name in silent:
            continue
        text, own = _format_comparison(comparison), rows.get(comparison.name, [])
        below = (
            _describe_elements(differences, comparison, most) if comparison.explanation is None or everything else []
        )
        if not own and not below and text in alike:
            alike[text].append(comparison.name)
            continue
        blocks.append(([comparison.name], text, [*own, *below]))
        if not below:
            alike[text] = blocks[-1][0]
    lines = [line for names, text, below in blocks for line in (ChangeLine(text, names), *below)]
    lines += [ChangeLine(text) for text in (*differences.title_texts, *differences.label_texts)]
    lines += [
        ChangeLine(f"{remark.cell}, beside the arrays: {remark.text or 'blank now'}") for remark in differences.remarks
    ]
    return lines, len(blocks), len(silent)


def summarise(differences: Differences) -> str:
    """Return a line of what differs: rows first, then elements, then all else; each with the names of its arrays."""
    compared = differences.comparisons
    parts = []
    for describe in (_format_changed_rows, _list_explanation):
        names_of: dict[str, list[str]] = {}
        for array in compared:
            for what in describe(array):
                names_of.setdefault(what, []).append(array.name)
        parts += [f"{what} in {join_names(names)}" for what, names in names_of.items()]
    edited = {array.name: array.differing - array.noise for array in compared if array.explanation is None}
    unreadable = {array.name: len(array.unreadable) for array in compared}
    for counts, noun, what in ((edited, "element", "changed"), (unreadable, "cell", "unreadable")):
        if names := [name for name, count in counts.items() if count]:
            parts.append(f"{count_noun(sum(counts.values()), noun)} {what} in {join_names(names)}")
    for names, what in (
        ([array.name for array in compared if array.noise], "rounded"),
        ([array.name for array in compared if array.recalculated], "recalculated"),
        ([array.name for array in compared if not array.compared], "different as a whole"),
        (
            [array.name for array in compared if _format_layouts(array) or array.is_reshaped],
            "of another shape, dtype or order",
        ),
        ([*differences.deleted, *differences.added], "in one file only"),
        ([*differences.renamed.values()], "renamed"),
    ):
        parts += [f"{join_names(names)} {what}"] if names else []
    for texts, noun, what in (
        (differences.title_texts, "sheet", "renamed"),
        (differences.label_texts, "label", "changed"),
        (differences.remarks, "cell", "changed beside the arrays"),
    ):
        parts += [f"{count_noun(len(texts), noun)} {what}"] if texts else []
    return "; ".join(parts)


def _list_explanation(comparison: Comparison) -> list[str]:
    return [comparison.explanation] if comparison.explanation else []


def _format_comparison(comparison: Comparison) -> str:
    """Return the sentences on the differences of two arrays as wholes."""
    parts = _format_layouts(comparison)
    if comparison.shapes[0] != comparison.shapes[1]:
        parts.append(f"shape {' -> '.join(format_shape(shape) for shape in comparison.shapes)}")
    if comparison.shapes[0] != comparison.shapes[1] or comparison.has_other_rows:
        parts += _format_rows(comparison)
        parts += [comparison.explanation] if comparison.explanation is not None else []
    elif not comparison.compared:
        parts.append("the elements cannot be compared" if len(parts) else "the elements differ")
    elif comparison.explanation is not None:
        parts.append(f"{comparison.explanation} ({_format_difference(comparison)})")
    elif comparison.differing:
        parts.append(_format_difference(comparison))
    else:
        rest = "other " * bool(comparison.unreadable)
        parts.append(f"all {rest}elements equal" + (" within the tolerance" if comparison.tolerant else ""))
    if comparison.unreadable:
        parts.append(f"{count_noun(len(comparison.unreadable), 'cell')} cannot be read")
    return "; ".join(parts)


def _describe_elements(differences: Differences, comparison: Comparison, most: int | None) -> list[ChangeLine]:
    """Return a line for each element that is named, and for those that are only counted."""
    name = comparison.name
    shown = comparison.first[:most]
    lines = [ChangeLine(f"  {_name_place(differences, name, element)}: {_format_pair(element)}") for element in shown]
    lines += [ChangeLine("")] * (len(comparison.first) - len(shown))  # nobody sees them, but they are counted
    lines += [
        ChangeLine(f"  {_name_place(differences, name, element, cell=False)}: {_format_pair(element)}")
        for element in comparison.unreadable[:MOST_SHOWN]
    ]
    if (left := len(comparison.unreadable) - MOST_SHOWN) > 0:
        lines.append(ChangeLine(f"  and {left:,} more cells that cannot be read", dim=True))
    if comparison.first and (left := comparison.differing - comparison.noise - len(comparison.first)):
        lines.append(ChangeLine(f"  and {left:,} more", dim=True))
    if comparison.recalculated:
        count = count_noun(comparison.recalculated, "formula")
        lines.append(ChangeLine(f"  {count} as before, with another result"))
    if comparison.noise:
        what = "element differs" if comparison.noise == 1 else "elements differ"
        rounding = f"  {comparison.noise:,} {what} by rounding alone: within 1 ulp, or the same to 15 or 16 digits"
        lines.append(ChangeLine(rounding))
    return lines


def _format_layouts(comparison: Comparison) -> list[str]:
    """Return the dtypes and the orders of two arrays, as far as they differ."""
    parts = (
        []
        if comparison.dtypes[0] == comparison.dtypes[1]
        else [f"dtype {comparison.dtypes[0]} -> {comparison.dtypes[1]}"]
    )
    alike = comparison.orders[0] == comparison.orders[1] or comparison.shapes[0] != comparison.shapes[1]
    return parts if alike else [*parts, f"order {comparison.orders[0]} -> {comparison.orders[1]}"]


def _name_place(differences: Differences, name: str, element: DifferingElement, *, cell: bool = True) -> str:
    """Return an element as people know it: `t[0, 6] (Zürich, 2021), cell A78`."""
    labels = ", ".join(differences.label(name, element).values())
    address = differences.find_cells(name, element)[1] if cell else None
    text = name_element(name, element.index) + (f" ({labels})" if labels else "")
    text += f" (was {list(element.index_in_a)})" if element.index_in_a != element.index else ""
    return f"{text}, cell {address}" if address is not None else text


def _describe_rows(differences: Differences) -> dict[str, list[ChangeLine]]:
    """Return a line for each of the first rows that were deleted or added: where it stood, its labels and its values.

    Arrays whose rows have changed alike share the lines, which stand below the first of them.
    """
    sides, compared = differences.sides, differences.comparisons
    groups: dict[tuple[int, tuple[int, ...], tuple[int, ...]], list[Comparison]] = {}
    for comparison in compared:
        for number, row_map in enumerate(comparison.row_maps):
            groups.setdefault((number, tuple(row_map.deleted), tuple(row_map.added)), []).append(comparison)
    lines_of: dict[str, list[ChangeLine]] = {}
    for (number, *changed), group in groups.items():
        lines = []
        for side, (all_rows, verb, what) in enumerate(zip(changed, ("was", "is"), ("deleted", "added"), strict=True)):
            rows_of = {
                comparison.name: (comparison.rows_come if side else comparison.rows_gone)[number]
                for comparison in group
            }
            labels = _labels_of_rows(sides[side].labels, group, side)
            infos = [sides[side].infos[name] for name in rows_of if name in sides[side].infos]
            shown = rows_of[group[0].name]
            lines += [ChangeLine(_format_row(row, rows_of, labels, infos, verb)) for row in shown]
            if more := len(all_rows) - len(shown):
                lines.append(ChangeLine(f"  and {count_noun(more, 'more row')} {what}", dim=True))
        lines_of.setdefault(group[0].name, []).extend(lines)
    return lines_of


def _format_row(
    row: int, rows_of: Mapping[str, Mapping[int, Array]], labels: Sequence[str], infos: Sequence[ArrayInfo], verb: str
) -> str:
    """Return a row as a line shows it: `  row 3 (row 28 of the sheet, 2026-03-01) was t 1.5, n 'a'`.

    `rows_of`: the elements of rows by array. `labels`: the arrays that label rows.
    """
    where = _find_sheet_row(infos, row)
    known_by = [f"row {where} of the sheet"] if where is not None else []
    known_by += [label_text(rows_of[name][row][0]) for name in labels]
    place = f" ({', '.join(known_by)})" if known_by else ""
    cells = [f"{name} {describe_row(rows[row])}" for name, rows in rows_of.items() if name not in labels]
    more = len(cells) - MOST_NAMED
    beside = f" and {count_noun(more, 'more array')}" if more > 0 else ""
    values = f" {verb} {', '.join(cells[:MOST_NAMED])}{beside}" if cells else ""
    return f"  row {row}{place}{values}"


def _labels_of_rows(labels: DatasetLabels | None, group: Sequence[Comparison], side: int) -> list[str]:
    """Return the arrays of a group that label its rows: coordinates of one dimension, and levels of an index."""
    if labels is None:
        return []
    levels = {level for levels in labels.frame.index.values() for level in levels}
    return [
        comparison.name
        for comparison in group
        if len(comparison.shapes[side]) == 1 and (comparison.name in labels.coords or comparison.name in levels)
    ]


def _find_sheet_row(infos: Sequence[ArrayInfo], row: int) -> int | None:
    """Return the row of a sheet in which a row of arrays stands; None unless it is one row, and the same for all."""
    places = {place for info in infos if (place := find_row(info, row)) is not None}
    return places.pop() if len(places) == 1 else None


def _format_rows(comparison: Comparison) -> list[str]:
    """Return sentences on the rows that were inserted or deleted, and on the differences in the others."""
    if not comparison.row_maps:
        return []
    parts = _format_changed_rows(comparison)
    return [*parts, _format_difference(comparison) if comparison.differing else "all other elements equal"]


def _format_changed_rows(comparison: Comparison) -> list[str]:
    """Return the rows that were deleted, inserted, or appended after the last one."""
    parts = []
    for rows in comparison.row_maps:
        count = comparison.shapes[1][rows.axis]
        is_end = bool(rows.added) and rows.added == list(range(count - len(rows.added), count))
        changed = ((rows.deleted, "deleted"), (rows.added, "appended" if is_end else "inserted"))
        across = f" along axis {rows.axis}" if len(comparison.row_maps) > 1 else ""
        parts += [f"{describe_rows(numbers)} {what}{across}" for numbers, what in changed if numbers]
    return parts


def _format_pair(element: DifferingElement) -> str:
    """Return the values of an element in both files; for a cell that cannot be read, its address and the reason."""
    return " -> ".join(
        format_value(value)
        if not isinstance(value, FormatError)
        else f"{value.location}: {value.reason}"
        if value.location
        else value.reason
        for value in (
            (element.b,) if element.a is None and isinstance(element.b, FormatError) else (element.a, element.b)
        )
    )


def _format_difference(comparison: Comparison) -> str:
    share = 100 * comparison.differing / comparison.elements
    ending = "s" if comparison.differing == 1 else ""
    text = f"{comparison.differing:,} of {count_noun(comparison.elements, 'element')} differ{ending}"
    text += f" ({share:.2g} %)" if share < 99.5 else ""
    if comparison.signs == comparison.differing:
        return f"{text}, only in the sign of zero"
    if comparison.absolute is not None:
        largest = comparison.absolute if isinstance(comparison.absolute, int) else f"{comparison.absolute:.3g}"
        text += f", by at most {largest}"
        text += f" (relative {comparison.relative:.3g})" if comparison.relative is not None else ""
    if comparison.signs:
        text += f"; {comparison.signs:,} of them only in the sign of zero"
    return text
