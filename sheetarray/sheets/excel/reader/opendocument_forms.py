"""Forms of tags of OpenDocument: tags that differ in nothing but the value of one attribute are read together.

A document has a few forms. Each is learnt from the first tag that has it, with which all other tags are compared, eight
bytes at a time. Tags of no form are left to `opendocument_cells` and `opendocument_rows`.

Source: OASIS OpenDocument 1.3 part 3, 9.1 (tables), 19.385 (values).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ....dtypes import Positions
from .cells import BOOLEAN, MOMENT, NUMBER, TEXT, Kinds
from .opendocument_runs import TRUTH_VALUES, TRUTHS
from .opendocument_tags import LONGEST_TAG, WINDOW, RowTags, TagWindows

ROWS_REPEATED, CELLS_REPEATED = "table:number-rows-repeated", "table:number-columns-repeated"
OF_ROWS = {"table:style-name", "table:default-cell-style-name", "table:visibility", ROWS_REPEATED}
TYPES = {
    "float": (NUMBER, "office:value"),
    "percentage": (NUMBER, "office:value"),
    "currency": (NUMBER, "office:value"),
    "boolean": (BOOLEAN, "office:boolean-value"),
    "date": (MOMENT, "office:date-value"),
    "string": (TEXT, ""),
    "none": (0, ""),
}
OF_CELLS = {
    *("table:style-name", "table:content-validation-name", "table:formula", CELLS_REPEATED),
    *("office:value-type", "office:currency", "calcext:value-type"),
}
LONGEST_COUNT = 7  # digits

NOWHERE, IN_ATTRIBUTE, IN_PARAGRAPH, IN_FORM = range(4)  # where the value of a cell is
_TAG = re.compile(r'<table:table-(?:cell|row)((?: [a-z]+:[a-z-]+="[^"<>&]*")*) ?/?>')
_ATTRIBUTE = re.compile(r' ([a-z]+:[a-z-]+)="([^"]*)"')
_COUNT = re.compile(f"[0-9]{{1,{LONGEST_COUNT}}}")
_FORMULA = b' table:formula="'
_FORMULA_TOLD = len(_FORMULA) + len("of:=[")  # bytes by which formulas are told from TRUE() and FALSE()
_MOST_FORMS, _MOST_UNKNOWN = 64, 16


@dataclass(frozen=True)
class TagForm:
    """The bytes that many tags have in common, and what these bytes say of a cell or a row.

    Attributes:
        head: the bytes up to the value; if the tags have no value, all bytes but the `>`.
        tail: the bytes after the value.
        kind: of the cells.
        place: where their value is: `NOWHERE`, `IN_ATTRIBUTE`, `IN_PARAGRAPH` or `IN_FORM`.
        value: of all these cells, if it is in the form.
        repeats: how often each cell or row stands, one after the other.
    """

    head: bytes
    tail: bytes
    kind: int = 0
    place: int = NOWHERE
    value: str = ""
    repeats: int = 1


@dataclass(frozen=True)
class TagsOfForms:
    """Tags and the forms that they have.

    Attributes:
        form: the index of each tag's form; -1 for a tag of no form.
        forms: the forms.
    """

    form: Positions
    forms: list[TagForm]

    def kinds(self) -> Kinds:
        """Return the kind of each tag's cell; 0 for a tag of no form."""
        return np.array([*(form.kind for form in self.forms), 0], np.uint8)[self.form]

    def places(self) -> Kinds:
        """Return the place of the value of each tag's cell: `NOWHERE`, `IN_ATTRIBUTE` and so on."""
        return np.array([*(form.place for form in self.forms), NOWHERE], np.uint8)[self.form]

    def repeats(self) -> Positions:
        """Return the number of times that the cell or row of each tag stands; 1 for a tag of no form."""
        return np.array([*(form.repeats for form in self.forms), 1], np.int64)[self.form]

    def lengths(self, part: str) -> Positions:
        """Return the bytes of each tag's `head` or `tail`, whichever `part` names; 0 for a tag of no form."""
        lengths: Positions = np.array([*(len(getattr(form, part)) for form in self.forms), 0])[self.form]
        return lengths


def match_forms(tags: RowTags, which: Positions, learn: Callable[[str], TagForm | None]) -> TagsOfForms:
    """Return the forms of some tags.

    `which`: the indices of these tags. `learn`: returns the form of a tag; None if it is not sure what the tag says.
    """
    forms: list[TagForm] = []
    windows, form_of = TagWindows(tags, which), np.full(len(which), -1, np.int64)
    left, unknown = np.arange(len(which)), 0
    while len(left) and len(forms) < _MOST_FORMS and unknown < _MOST_UNKNOWN:
        start = int(tags.starts[which[left[0]]])
        tag = tags.text[start : start + min(int(windows.lengths[left[0]]), LONGEST_TAG)]
        form = learn(tag.decode("utf-8", "replace"))
        if form is None or len(form.tail) > WINDOW:
            formula = tag.find(_FORMULA)
            same = windows.starting_with(left, tag[: formula + _FORMULA_TOLD]) if formula > 0 else left[:1]
            unknown += 1
        else:
            has_value, size = form.place == IN_ATTRIBUTE, len(form.head) + len(form.tail)
            same = windows.of_length(left, size + has_value, exactly=not has_value)
            same = windows.starting_with(windows.ending_with(same, form.tail), form.head)
            form_of[same] = len(forms)
            forms.append(form)
        rest = np.ones(len(left), np.bool_)
        rest[np.searchsorted(left, same)] = False
        rest[0] = False
        left = left[rest]
    return TagsOfForms(form_of, forms)


def learn_row(tag: str) -> TagForm | None:
    """Return the form of the tag of a row; None if these rules are not sure what the tag says."""
    names = _attributes_of(tag)
    repeats = None if names is None or not set(names) <= OF_ROWS else _repeats_of(names, ROWS_REPEATED)
    return None if repeats is None else TagForm(tag[:-1].encode(), b">", repeats=repeats)


def learn_cell(tag: str) -> TagForm | None:
    """Return the form of the tag of a cell; None if these rules are not sure what the tag says."""
    names = _attributes_of(tag)
    if names is None or '"error"' in tag:
        return None
    kind, attribute = TYPES.get(names.get("office:value-type", "none"), (-1, ""))
    repeats, formula = _repeats_of(names, CELLS_REPEATED), names.get("table:formula")
    if (
        kind < 0
        or repeats is None
        or not set(names) <= OF_CELLS | {attribute}
        or (attribute and attribute not in names)
    ):
        return None
    head, tail, place, value = tag[:-1].encode(), b">", NOWHERE, ""
    if formula is not None:
        if formula not in TRUTHS:
            return None
        kind, place, value = BOOLEAN, IN_FORM, TRUTHS[formula]
    elif kind == BOOLEAN:
        if names[attribute] not in TRUTH_VALUES:
            return None
        place, value = IN_FORM, TRUTH_VALUES[names[attribute]]
    elif attribute:
        start = tag.index(f' {attribute}="') + len(f' {attribute}="')
        head, tail = tag[:start].encode(), tag[start + len(names[attribute]) :].encode()
        place = IN_ATTRIBUTE
    elif kind == TEXT:
        place = IN_PARAGRAPH
    elif not tag.endswith("/>"):
        return None  # text without a type is text
    return TagForm(head, tail, kind, place, value, repeats)


def _attributes_of(tag: str) -> dict[str, str] | None:
    """Return the attributes of a tag; None if one comes twice, or the tag is not written as programs do."""
    match = _TAG.fullmatch(tag)
    attributes = [] if match is None else _ATTRIBUTE.findall(match[1])
    values = dict(attributes)
    return None if match is None or len(values) < len(attributes) else values


def _repeats_of(names: dict[str, str], name: str) -> int | None:
    """Return how often a tag's cell or row stands; None if the tag does not say it by a short integer."""
    text = names.get(name, "1")
    return max(int(text), 1) if _COUNT.fullmatch(text) else None
